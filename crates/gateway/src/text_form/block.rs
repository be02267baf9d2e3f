//! Parses the line-based syntax: mappings and lists by indentation, and block scalars.

use serde_json::{Map, Value};

use super::{Flaw, MAX_DEPTH, flow};

/// The most lines of one value in quotes or brackets; it is parsed again for each line.
const FLOW_LINES: usize = 100;

/// One line, without its indentation.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    indent: usize,
    /// The text without trailing spaces and tabs.
    text: &'a str,
    /// The whole line, for block scalars.
    whole: &'a str,
}

/// The headings of a text and what is below each, in order.
pub(super) fn document(text: &str) -> Result<Vec<(String, Value)>, Flaw> {
    let mut reader = Reader {
        lines: lines(text)?,
        at: 0,
    };
    let Some(first) = reader.peek() else {
        return Err(Flaw::new(0, "it is empty"));
    };
    if first.indent > 0 || key_of(first.text).is_none() {
        return Err(Flaw::new(first.number, "there is no heading at column 0"));
    }
    reader.entries(0, 1)
}

/// Splits a text into lines at `\n`, `\r\n` or `\r`, as in YAML.
fn lines(text: &str) -> Result<Vec<Line<'_>>, Flaw> {
    let mut lines = Vec::new();
    for (at, ended) in text.split('\n').enumerate() {
        let ended = ended.strip_suffix('\r').unwrap_or(ended);
        for whole in ended.split('\r') {
            let number = at + 1;
            if let Some(c) = whole.chars().find(|it| it.is_control() && *it != '\t') {
                let what = format!("it contains the control character U+{:04X}", u32::from(c));
                return Err(Flaw::new(number, what));
            }
            let text = whole.trim_start_matches(' ');
            lines.push(Line {
                number,
                indent: whole.len() - text.len(),
                text: text.trim_end_matches([' ', '\t']),
                whole,
            });
        }
    }
    Ok(lines)
}

struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next line that is not blank.
    fn peek(&mut self) -> Option<Line<'a>> {
        while self.lines.get(self.at)?.text.is_empty() {
            self.at += 1;
        }
        self.lines.get(self.at).copied()
    }

    /// A list, a mapping or a scalar that starts at the next line.
    fn node(&mut self, line: Line<'a>, depth: usize) -> Result<Value, Flaw> {
        if depth > MAX_DEPTH {
            let what = format!("it nests deeper than {MAX_DEPTH} levels");
            return Err(Flaw::new(line.number, what));
        }
        if line.text.starts_with('\t') {
            return Err(Flaw::new(line.number, "it is indented with a tab"));
        }
        if is_item(line.text) {
            return self.items(line.indent, depth).map(Value::Array);
        }
        if key_of(line.text).is_some() {
            let fields: Map<_, _> = self.entries(line.indent, depth)?.into_iter().collect();
            return Ok(Value::Object(fields));
        }
        self.at += 1;
        // The lines of the scalar are indented at least as deep as its first.
        self.scalar(line.text, line, line.indent.saturating_sub(1))
    }

    fn items(&mut self, indent: usize, depth: usize) -> Result<Vec<Value>, Flaw> {
        let mut items = Vec::new();
        while let Some(line) = self.peek() {
            if line.indent < indent || (line.indent == indent && !is_item(line.text)) {
                break;
            }
            self.same_column(line, indent)?;
            let rest = line.text[1..].trim_start_matches(' ');
            if rest.is_empty() {
                self.at += 1;
                items.push(self.below(indent, false, depth)?);
                continue;
            }
            // The text after the dash counts as a line of its own, indented by its column.
            let within = Line {
                indent: line.indent + line.text.len() - rest.len(),
                text: rest,
                ..line
            };
            if let Some(place) = self.lines.get_mut(self.at) {
                *place = within;
            }
            items.push(if is_item(rest) || key_of(rest).is_some() {
                self.node(within, depth + 1)?
            } else {
                self.at += 1;
                self.scalar(rest, line, indent)?
            });
        }
        Ok(items)
    }

    fn entries(&mut self, indent: usize, depth: usize) -> Result<Vec<(String, Value)>, Flaw> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        while let Some(line) = self.peek() {
            if line.indent < indent || (line.indent == indent && is_item(line.text) && indent > 0) {
                break;
            }
            self.same_column(line, indent)?;
            let Some((key, rest)) = key_of(line.text) else {
                return Err(Flaw::new(
                    line.number,
                    "it is not `key: value`; put multi-line text in quotes or after `|`",
                ));
            };
            if entries.iter().any(|(it, _)| *it == key) {
                return Err(Flaw::new(line.number, format!("`{key}` appears twice")));
            }
            self.at += 1;
            let value = if rest.is_empty() {
                self.below(indent, true, depth)?
            } else {
                self.scalar(rest, line, indent)?
            };
            entries.push((key, value));
        }
        Ok(entries)
    }

    /// Parses what is below a key or a dash: deeper lines, or for a key a list at its own column.
    fn below(&mut self, indent: usize, is_key: bool, depth: usize) -> Result<Value, Flaw> {
        match self.peek() {
            Some(next)
                if next.indent > indent
                    || (is_key && next.indent == indent && is_item(next.text)) =>
            {
                self.node(next, depth + 1)
            }
            _ => Ok(Value::Null),
        }
    }

    fn same_column(&self, line: Line<'_>, indent: usize) -> Result<(), Flaw> {
        if line.indent == indent && !line.text.starts_with('\t') {
            Ok(())
        } else {
            Err(Flaw::new(
                line.number,
                "it is indented deeper than its parent; put multi-line text in quotes or after `|`",
            ))
        }
    }

    /// Parses a value that starts in a line already taken; `indent` is that of its key or dash.
    fn scalar(&mut self, text: &'a str, line: Line<'a>, indent: usize) -> Result<Value, Flaw> {
        match text.as_bytes().first() {
            Some(b'|' | b'>') => self.block(text, line, indent).map(Value::String),
            Some(b'"' | b'\'' | b'{' | b'[') => self.flow(text, line, indent),
            _ => flow::plain_scalar(text, line.number),
        }
    }

    /// Parses a value in quotes or brackets, over as many lines as it takes.
    fn flow(&mut self, text: &'a str, line: Line<'a>, indent: usize) -> Result<Value, Flaw> {
        let mut read = text.to_owned();
        for _ in 0..FLOW_LINES {
            let open = match flow::value(&read, line.number) {
                Err(flaw) if flaw.is_open => flaw,
                other => return other,
            };
            match self.lines.get(self.at) {
                Some(next) if next.text.is_empty() || next.indent > indent => {
                    read.push('\n');
                    read.push_str(next.text);
                    self.at += 1;
                }
                _ => return Err(open),
            }
        }
        let what = format!("a value in quotes or brackets has more than {FLOW_LINES} lines");
        Err(Flaw::new(line.number, what))
    }

    /// Parses a block scalar: `|` keeps line ends, `>` folds them; `-` and `+` decide the last one.
    fn block(&mut self, header: &str, line: Line<'_>, indent: usize) -> Result<String, Flaw> {
        let (mut chomp, mut given) = (None, None);
        for mark in header[1..].chars() {
            match mark {
                '-' | '+' if chomp.is_none() => chomp = Some(mark),
                '1'..='9' if given.is_none() => given = mark.to_digit(10),
                _ => {
                    return Err(Flaw::new(
                        line.number,
                        "text follows `|` or `>` on the same line",
                    ));
                }
            }
        }
        let mut column = given.map(|it| indent + it as usize);
        let mut kept: Vec<&str> = Vec::new();
        while let Some(next) = self.lines.get(self.at) {
            if !next.text.is_empty() {
                let begins = *column.get_or_insert(next.indent);
                if next.indent <= indent {
                    break;
                }
                if next.indent < begins {
                    return Err(Flaw::new(next.number, "it is indented less than its block"));
                }
            }
            let cut = column.unwrap_or(0).min(next.indent);
            kept.push(next.whole.get(cut..).unwrap_or_default());
            self.at += 1;
        }
        let mut blank = 0;
        while kept.last().is_some_and(|it| it.trim().is_empty()) {
            kept.pop();
            blank += 1;
        }
        let mut text = if header.starts_with('>') {
            folded(&kept)
        } else {
            kept.join("\n")
        };
        match chomp {
            Some('-') => {}
            Some(_) => text.push_str(&"\n".repeat(blank + usize::from(!kept.is_empty()))),
            None if kept.is_empty() => {}
            None => text.push('\n'),
        }
        Ok(text)
    }
}

/// Folds the lines of a `>` block: neighbours become one line, a blank line becomes a line end, and
/// deeper lines stay as they are.
fn folded(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut last_joins = false;
    for (at, line) in lines.iter().enumerate() {
        let joins = !line.is_empty() && !line.starts_with([' ', '\t']);
        let after_blank = at > 0 && lines[at - 1].is_empty();
        match (at, last_joins && joins) {
            (0, _) => {}
            (_, true) if !after_blank => text.push(' '),
            _ if line.is_empty() && last_joins && !after_blank => {}
            _ => text.push('\n'),
        }
        text.push_str(line);
        last_joins = joins || (line.is_empty() && last_joins);
    }
    text
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// The key at the start of a line, plain or quoted, and the text after its colon.
fn key_of(text: &str) -> Option<(String, &str)> {
    if let Some(quote @ ('"' | '\'')) = text.chars().next() {
        let end = text[1..].find(quote)? + 1;
        let rest = text[end + 1..].trim_start_matches(' ').strip_prefix(':')?;
        let is_key = rest.is_empty() || rest.starts_with(' ');
        return (is_key && is_name(&text[1..end]))
            .then(|| (text[1..end].to_owned(), rest.trim_start_matches(' ')));
    }
    let (key, rest) = text.split_once(':')?;
    let is_key = rest.is_empty() || rest.starts_with(' ');
    (is_key && is_name(key)).then(|| (key.to_owned(), rest.trim_start_matches(' ')))
}

/// Whether a key is a word, as all keys of the contract are.
pub(super) fn is_name(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= 60
        && key
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
}
