//! What the window shows of a pointed source: lines with syntax classes but no colors, how the
//! working tree compares now, who wrote the lines, and a document as parts without markup.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Lines, Pointer, PointerInput};

/// Asks for the window's view of a pointed source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceView {
    /// The pointer to show.
    pub pointer: PointerInput,
    /// How many lines of context to show on each side.
    pub context: u32,
    /// Whether to leave out the pieces of the lines if finding them takes long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub soon: bool,
}

/// The syntax class of a piece of a line. The window gives it a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Anything else.
    Plain,
    /// A keyword of the language.
    Keyword,
    /// A string literal.
    Text,
    /// A number, `true`, `null`.
    Value,
    /// A comment.
    Comment,
    /// The name of a function, where it is called or defined.
    Function,
    /// A type or a tag.
    Type,
    /// An attribute, a key or a decorator.
    Name,
    /// A heading of a document.
    Heading,
}

/// Consecutive bytes of a line that have one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece(
    /// The class.
    pub Class,
    /// The length in bytes of the UTF-8 text.
    pub u32,
);

/// In which of two texts a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffSide {
    /// In both, or there is only one text.
    #[default]
    Both,
    /// Only in the later text.
    Added,
    /// Only in the earlier text.
    Removed,
    /// In neither: the line marks where a hunk of the change begins.
    Hunk,
}

/// One line of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLine {
    /// Its 1-based number in the file; 0 if it is not in the file now.
    pub number: u32,
    /// In a comparison: its number in the earlier text; 0 if it is not there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before: u32,
    /// The text without its terminator, cut if it is too long to read.
    pub text: String,
    /// How many characters were cut off its end. [`crate::Request::Line`] returns them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: u32,
    /// Whether the pointer marks it.
    pub marked: bool,
    /// In which text it is.
    #[serde(default, skip_serializing_if = "is_both")]
    pub side: DiffSide,
    /// The pieces of its text from the beginning; empty if the language is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_both(side: &DiffSide) -> bool {
    *side == DiffSide::Both
}

/// A pointed source with its context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceReply {
    /// The exact pointer, pinned.
    pub pointer: Pointer,
    /// Path, section or name.
    pub label: String,
    /// `sha256:HEX` of the bytes of the full span.
    pub content_digest: String,
    /// Whether that is the digest of what was read when the engram was made; `None` if it was not
    /// read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_matches: Option<bool>,
    /// The lines to show.
    pub lines: Vec<SourceLine>,
    /// How many lines the whole file has.
    pub total_lines: u32,
    /// Whether the lines have pieces that were left out to save time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpainted: bool,
    /// The language of the code, as people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What kind of file it is, if it is not, or not only, read line by line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
    /// Where the lines were found by their digest, if they could not be read at their pin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_in: Option<FoundIn>,
    /// How many lines of the span, or of the comparison, are not sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u32,
    /// Who recorded the event that is shown, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// The section as a document, if it is one; also the text of an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub document: Vec<Block>,
    /// Whether the document continues after these parts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub document_cut: bool,
    /// The path of the file in the working tree, if it can be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_path: Option<String>,
    /// The line at which to open it.
    pub open_line: u32,
}

/// A file that is not, or not only, read line by line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The kind of file.
    pub kind: MediaKind,
    /// The name of its format, such as `PNG`; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// Width and height in pixels, if the file states them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<(u32, u32)>,
    /// The `sha256:HEX` of the file that a stand-in represents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// The kind of a file that is not, or not only, read line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// A picture made of pixels.
    Picture,
    /// A picture written as text, so its lines are shown.
    Drawing,
    /// The lines that Git LFS commits in place of a large file; they are shown.
    StandIn,
    /// Any other binary file.
    Binary,
}

impl MediaKind {
    /// Whether there are lines to show.
    pub fn has_lines(self) -> bool {
        matches!(self, Self::Drawing | Self::StandIn)
    }
}

/// Who recorded an event, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Their name.
    pub by: String,
    /// The time.
    pub at: Timestamp,
}

/// Where lines were found that could not be read at their pin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundIn {
    /// Why they could not be read at their pin.
    pub because: String,
    /// A full commit id; `None` for the files on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Asks for a part of one long line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineView {
    /// The source.
    pub pointer: PointerInput,
    /// The 1-based number of the line in the pinned text.
    pub number: u32,
    /// How many of its characters precede the part.
    pub from: u64,
}

/// The answer to [`LineView`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineReply {
    /// The part.
    pub text: String,
    /// How many characters the whole line has.
    pub total: u64,
}

/// How the working tree compares with the pinned bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The same bytes at the same lines.
    Same,
    /// The same bytes at other lines.
    Moved,
    /// The same bytes in another file.
    Renamed,
    /// The file has the lines, but with other bytes.
    Edited,
    /// The lines, or the file, are not there.
    Gone,
}

/// Where the span of a pointer is in the current working tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpanNow {
    /// The comparison in one word.
    pub reading: Reading,
    /// The file that has the span now, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The lines of the span now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Lines>,
    /// The digest of the span now, if it was edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What changed in the span, the pinned text first; empty unless it was edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<SourceLine>,
    /// How many lines of the change are not sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u32,
    /// What kind of file it is now, if it is binary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
}

/// Who wrote the lines of a span.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Blame {
    /// The parts, in the order of the lines.
    pub parts: Vec<BlamePart>,
    /// How many lines at the end of a long span have no history here, because it was not followed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u32,
}

/// Consecutive lines that one commit wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlamePart {
    /// The lines in the pinned file.
    pub lines: Lines,
    /// The full commit id.
    pub commit: String,
    /// The author's name.
    pub author: String,
    /// When it was written.
    pub at: Timestamp,
    /// The first line of the commit message.
    pub summary: String,
    /// Whether the history was followed only to this commit: it or an older one wrote the lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_before: bool,
}

/// A part of a document. It holds text only: no markup, nothing that is fetched or executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Block {
    /// A title.
    Heading {
        /// From 1 to 6.
        level: u8,
        /// Its words.
        text: Vec<Inline>,
    },
    /// Running text.
    Paragraph {
        /// Its words.
        text: Vec<Inline>,
    },
    /// Preformatted text: code, or markup that is not rendered.
    Code {
        /// Its lines.
        lines: Vec<SourceLine>,
    },
    /// A list of items.
    List {
        /// The number of the first item, if the list is numbered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<u64>,
        /// Each item is a document of its own.
        items: Vec<Vec<Block>>,
    },
    /// A quotation.
    Quote {
        /// Its parts.
        blocks: Vec<Block>,
    },
    /// Rows of cells, the first row their titles.
    Table {
        /// Every row.
        rows: Vec<Vec<Vec<Inline>>>,
    },
    /// A horizontal rule.
    Rule,
}

/// A run of text in a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Inline {
    /// Plain text.
    Text {
        /// The words.
        text: String,
    },
    /// Code, or markup that is not rendered.
    Code {
        /// The words.
        text: String,
    },
    /// Bold text.
    Strong {
        /// The words.
        text: Vec<Inline>,
    },
    /// Italic text.
    Emphasis {
        /// The words.
        text: Vec<Inline>,
    },
    /// Struck-through text.
    Struck {
        /// The words.
        text: Vec<Inline>,
    },
    /// A link, whose address is shown but not followed.
    Link {
        /// The words.
        text: Vec<Inline>,
        /// The address, cut at 300 characters.
        to: String,
    },
    /// A picture, which is described but not shown.
    Picture {
        /// The description.
        text: Vec<Inline>,
        /// The address, cut at 300 characters.
        to: String,
    },
    /// A line break.
    Break,
}
