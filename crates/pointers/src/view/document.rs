//! Shows a Markdown section as parts of a document: text only, without markup, and nothing is
//! fetched or run.

use engram_model::{Block, Inline, SourceLine};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::paint::Grammar;

/// The most characters of a section that are rendered.
pub(crate) const MAX_CHARS: usize = 100_000;
/// The longest line of code in it.
const MAX_LINE: usize = 1000;
/// The deepest nesting that is kept; deeper parts are shown flat.
const MAX_DEPTH: usize = 16;
/// The most parts and words; the rest is shown only in the source.
const MAX_EVENTS: usize = 10_000;
const MAX_ADDRESS: usize = 300;

/// The rendered parts of a text.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) blocks: Vec<Block>,
    /// Whether the text continues.
    pub(crate) is_cut: bool,
}

/// Returns the parts of a document; none if it is not Markdown.
pub(crate) fn read(name: &str, text: &str) -> Parts {
    let extension = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    if !matches!(extension.as_str(), "md" | "markdown" | "mdx" | "mkd") {
        return Parts::default();
    }
    parse(text, false)
}

/// Returns the parts of a note: Markdown that keeps its line breaks.
pub(crate) fn event(text: &str) -> Parts {
    parse(text, true)
}

fn parse(text: &str, keeps_lines: bool) -> Parts {
    let end = text.char_indices().nth(MAX_CHARS).map(|it| it.0);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reader = Reader::default();
    let text = &text[..end.unwrap_or(text.len())];
    let mut events = Parser::new_ext(text, options);
    events
        .by_ref()
        .take(MAX_EVENTS)
        .map(|event| match event {
            Event::SoftBreak if keeps_lines => Event::HardBreak,
            event => event,
        })
        .for_each(|event| reader.take(event));
    Parts {
        is_cut: end.is_some() || events.next().is_some(),
        blocks: reader.finish(),
    }
}

/// A part that was begun and not yet closed.
enum OpenPart {
    Blocks(Vec<Block>, BlockKind),
    Words(Vec<Inline>, SpanKind),
    Code(String, String),
}

enum BlockKind {
    Root,
    Quote,
    List(Option<u64>, Vec<Vec<Block>>),
    Table(Vec<Vec<Vec<Inline>>>),
    /// Nested too deep: its parts go to the part around it.
    Flat,
}

enum SpanKind {
    Paragraph,
    /// The words of a tight list item, which have no paragraph of their own.
    Loose,
    Heading(u8),
    Strong,
    Emphasis,
    Struck,
    Link(String),
    Picture(String),
    Cell,
    /// Nested too deep.
    Flat,
}

struct Reader(Vec<OpenPart>);

impl Default for Reader {
    fn default() -> Self {
        Self(vec![OpenPart::Blocks(Vec::new(), BlockKind::Root)])
    }
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => self.word(Inline::Code {
                text: text.into_string(),
            }),
            // Markup is shown as text, never rendered.
            Event::Html(text) | Event::InlineHtml(text) => {
                self.word(Inline::Code {
                    text: text.trim_end().to_owned(),
                });
            }
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.word(Inline::Break),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(text) => self.text(&format!("[{text}]")),
            Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.word(Inline::Code {
                    text: text.into_string(),
                });
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let span = match tag {
            Tag::Paragraph | Tag::DefinitionListTitle => SpanKind::Paragraph,
            Tag::Heading { level, .. } => SpanKind::Heading(level_of(level)),
            Tag::Strong => SpanKind::Strong,
            Tag::Emphasis => SpanKind::Emphasis,
            Tag::Strikethrough => SpanKind::Struck,
            Tag::Link { dest_url, .. } => SpanKind::Link(cut(&dest_url)),
            Tag::Image { dest_url, .. } => SpanKind::Picture(cut(&dest_url)),
            Tag::TableCell => SpanKind::Cell,
            Tag::CodeBlock(kind) => {
                let word = match kind {
                    CodeBlockKind::Fenced(word) => word.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                return self.0.push(OpenPart::Code(word, String::new()));
            }
            Tag::MetadataBlock(_) => {
                return self.0.push(OpenPart::Code("yaml".into(), String::new()));
            }
            Tag::HtmlBlock => return self.0.push(OpenPart::Code("html".into(), String::new())),
            Tag::BlockQuote(_) => return self.open(BlockKind::Quote),
            Tag::List(first) => return self.open(BlockKind::List(first, Vec::new())),
            Tag::Table(_) => return self.open(BlockKind::Table(Vec::new())),
            Tag::TableHead | Tag::TableRow => {
                if let Some(OpenPart::Blocks(_, BlockKind::Table(rows))) = self.0.last_mut() {
                    rows.push(Vec::new());
                }
                return;
            }
            Tag::Item
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListDefinition => return self.open(BlockKind::Flat),
            Tag::Superscript | Tag::Subscript => SpanKind::Emphasis,
        };
        let deep = self.0.len() > MAX_DEPTH;
        let span = match span {
            SpanKind::Strong
            | SpanKind::Emphasis
            | SpanKind::Struck
            | SpanKind::Link(_)
            | SpanKind::Picture(_)
                if deep =>
            {
                SpanKind::Flat
            }
            span => span,
        };
        self.0.push(OpenPart::Words(Vec::new(), span));
    }

    fn open(&mut self, kind: BlockKind) {
        self.close_loose();
        let deep = self.0.len() > MAX_DEPTH;
        let kind = match kind {
            BlockKind::Quote | BlockKind::List(..) if deep => BlockKind::Flat,
            kind => kind,
        };
        self.0.push(OpenPart::Blocks(Vec::new(), kind));
    }

    fn end(&mut self, tag: TagEnd) {
        if matches!(tag, TagEnd::TableHead | TagEnd::TableRow) {
            return;
        }
        if matches!(
            tag,
            TagEnd::Item | TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition
        ) {
            self.close_loose();
        }
        let is_item = matches!(tag, TagEnd::Item);
        if self.0.len() < 2 {
            return;
        }
        match self.0.pop() {
            Some(OpenPart::Code(word, text)) => self.block(code(&word, &text)),
            Some(OpenPart::Words(text, span)) => self.close(text, span),
            Some(OpenPart::Blocks(blocks, kind)) => match kind {
                BlockKind::Root => {}
                BlockKind::Quote => self.block(Block::Quote { blocks }),
                BlockKind::List(first, items) => self.block(Block::List { first, items }),
                BlockKind::Table(rows) => self.block(Block::Table { rows }),
                BlockKind::Flat => match self.0.last_mut() {
                    Some(OpenPart::Blocks(_, BlockKind::List(_, items))) if is_item => {
                        items.push(blocks)
                    }
                    _ => blocks.into_iter().for_each(|it| self.block(it)),
                },
            },
            None => {}
        }
    }

    fn close(&mut self, text: Vec<Inline>, span: SpanKind) {
        match span {
            SpanKind::Paragraph | SpanKind::Loose => self.block(Block::Paragraph { text }),
            SpanKind::Heading(level) => self.block(Block::Heading { level, text }),
            SpanKind::Strong => self.word(Inline::Strong { text }),
            SpanKind::Emphasis => self.word(Inline::Emphasis { text }),
            SpanKind::Struck => self.word(Inline::Struck { text }),
            SpanKind::Link(to) => self.word(Inline::Link { text, to }),
            SpanKind::Picture(to) => self.word(Inline::Picture { text, to }),
            SpanKind::Flat => text.into_iter().for_each(|it| self.word(it)),
            SpanKind::Cell => {
                if let Some(OpenPart::Blocks(_, BlockKind::Table(rows))) = self.0.last_mut()
                    && let Some(row) = rows.last_mut()
                {
                    row.push(text);
                }
            }
        }
    }

    fn close_loose(&mut self) {
        if matches!(self.0.last(), Some(OpenPart::Words(_, SpanKind::Loose)))
            && let Some(OpenPart::Words(text, _)) = self.0.pop()
        {
            self.block(Block::Paragraph { text });
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(OpenPart::Code(_, code)) = self.0.last_mut() {
            code.push_str(text);
            return;
        }
        if let Some(OpenPart::Words(words, _)) = self.0.last_mut()
            && let Some(Inline::Text { text: last }) = words.last_mut()
        {
            last.push_str(text);
            return;
        }
        self.word(Inline::Text {
            text: text.to_owned(),
        });
    }

    fn word(&mut self, word: Inline) {
        match (self.0.last_mut(), word) {
            (Some(OpenPart::Words(words, _)), word) => words.push(word),
            (Some(OpenPart::Code(_, code)), Inline::Code { text }) => {
                code.push_str(&text);
                code.push('\n');
            }
            (Some(OpenPart::Code(..)), _) | (None, _) => {}
            (Some(OpenPart::Blocks(..)), word) => {
                self.0.push(OpenPart::Words(vec![word], SpanKind::Loose))
            }
        }
    }

    fn block(&mut self, block: Block) {
        self.close_loose();
        // Words cannot hold blocks: a block inside them goes to the part around them.
        let around = self.0.iter_mut().rev().find_map(|it| match it {
            OpenPart::Blocks(blocks, _) => Some(blocks),
            _ => None,
        });
        if let Some(blocks) = around {
            blocks.push(block);
        }
    }

    /// Closes what the limits left open.
    fn finish(mut self) -> Vec<Block> {
        while self.0.len() > 1 {
            self.end(TagEnd::Paragraph);
        }
        match self.0.pop() {
            Some(OpenPart::Blocks(blocks, _)) => blocks,
            _ => Vec::new(),
        }
    }
}

fn code(word: &str, text: &str) -> Block {
    let mut painter = Grammar::for_fence(word).map(|it| it.painter());
    let lines = text.lines().zip(1..).map(|(text, number)| {
        let end = text.char_indices().nth(MAX_LINE).map(|it| it.0);
        let mut line = SourceLine {
            number,
            cut: end.map_or(0, |end| text[end..].chars().count() as u32),
            text: text[..end.unwrap_or(text.len())].to_owned(),
            ..SourceLine::default()
        };
        crate::view::paint_one(painter.as_mut(), &mut line);
        line
    });
    Block::Code {
        lines: lines.collect(),
    }
}

fn level_of(level: HeadingLevel) -> u8 {
    level as u8
}

fn cut(address: &str) -> String {
    address.chars().take(MAX_ADDRESS).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn plain(text: &str) -> Inline {
        Inline::Text {
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_document_becomes_parts() {
        let text = "## Rules\n\nOne *budget* for **all**,\nsee `x` and [this](https://a.example).\n\n\
            1. first\n2. second\n   - inner\n\n> said\n\n| a | b |\n|---|---|\n| 1 | `2` |\n\n```rust\nfn a() {}\n```\n\n---\n";
        let blocks = read("SPEC.md", text).blocks;
        assert_eq!(
            blocks[0],
            Block::Heading {
                level: 2,
                text: vec![plain("Rules")]
            }
        );
        let Block::Paragraph { text } = &blocks[1] else {
            panic!("{blocks:#?}")
        };
        assert_eq!(
            text[1],
            Inline::Emphasis {
                text: vec![plain("budget")]
            }
        );
        assert!(text.contains(&Inline::Link {
            text: vec![plain("this")],
            to: "https://a.example".into()
        }));
        let Block::List {
            first: Some(1),
            items,
        } = &blocks[2]
        else {
            panic!("{blocks:#?}")
        };
        assert_eq!(
            items[0],
            [Block::Paragraph {
                text: vec![plain("first")]
            }]
        );
        assert!(
            matches!(
                &items[1][..],
                [Block::Paragraph { .. }, Block::List { first: None, .. }]
            ),
            "{items:#?}"
        );
        assert!(matches!(&blocks[3], Block::Quote { blocks } if blocks.len() == 1));
        let Block::Table { rows } = &blocks[4] else {
            panic!("{blocks:#?}")
        };
        assert_eq!(rows[1][1], [Inline::Code { text: "2".into() }]);
        let Block::Code { lines } = &blocks[5] else {
            panic!("{blocks:#?}")
        };
        assert!(!lines[0].pieces.is_empty(), "code in a document is painted");
        assert_eq!(blocks[6], Block::Rule);
    }

    #[test]
    fn markup_is_text() {
        let text = "<script>alert(1)</script>\n\nHi <b onclick=x>there</b>.\n\n![p](https://a.example/p.png)\n";
        let blocks = read("a.md", text).blocks;
        let Block::Code { lines } = &blocks[0] else {
            panic!("{blocks:#?}")
        };
        assert_eq!(lines[0].text, "<script>alert(1)</script>");
        let Block::Paragraph { text } = &blocks[1] else {
            panic!("{blocks:#?}")
        };
        assert_eq!(
            text[1],
            Inline::Code {
                text: "<b onclick=x>".into()
            }
        );
        assert!(
            matches!(&blocks[2], Block::Paragraph { text } if matches!(&text[..], [Inline::Picture { .. }]))
        );
        assert!(read("a.rs", "# no document").blocks.is_empty());
    }

    #[test]
    fn an_event_keeps_its_lines() {
        let text = "We keep it:\nit is cheap.\n";
        let paragraph = |break_: Inline| Block::Paragraph {
            text: vec![plain("We keep it:"), break_, plain("it is cheap.")],
        };
        assert_eq!(event(text).blocks, [paragraph(Inline::Break)]);
        let joined = vec![plain("We keep it: it is cheap.")];
        assert_eq!(
            read("a.md", text).blocks,
            [Block::Paragraph { text: joined }]
        );
    }

    #[test]
    fn hostile_nesting_ends() {
        for text in [
            ">".repeat(5_000),
            "- ".repeat(5_000) + "x",
            "*".repeat(9_999),
            "[".repeat(9_999),
            "# a\n".repeat(50_000),
        ] {
            let read = read("a.md", &text);
            let json = serde_json::to_string(&read.blocks).unwrap();
            let again: Vec<Block> = serde_json::from_str(&json).unwrap();
            assert!(again.len() <= MAX_EVENTS);
            assert!(read.is_cut || text.len() <= MAX_CHARS, "a cut is reported");
        }
    }
}
