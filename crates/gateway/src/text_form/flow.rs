//! Parses values in one piece: plain and quoted scalars, and mappings and lists in brackets.

use serde_json::{Map, Number, Value};

use super::{Flaw, MAX_DEPTH, block::is_name};

/// Parses a value in quotes or brackets that takes the whole text.
pub(super) fn value(text: &str, line: usize) -> Result<Value, Flaw> {
    let mut cursor = Cursor { rest: text, line };
    let value = cursor.value(1)?;
    cursor.blanks();
    if cursor.rest.is_empty() {
        Ok(value)
    } else {
        Err(Flaw::new(line, "text follows the end of a value"))
    }
}

/// Parses a plain scalar that ends with its line.
pub(super) fn plain_scalar(text: &str, line: usize) -> Result<Value, Flaw> {
    if let Some(what) = not_plain(text) {
        return Err(Flaw::new(line, what));
    }
    Ok(typed(text))
}

/// Explains why a text needs quotes.
fn not_plain(text: &str) -> Option<&'static str> {
    let first = text.chars().next()?;
    let second = text.chars().nth(1);
    match first {
        '#' => Some("comments are not supported; quote text that starts with #"),
        '&' | '*' => {
            Some("anchors and aliases are not supported; quote text that starts with & or *")
        }
        '!' => Some("tags are not supported; quote text that starts with !"),
        '%' | '@' | '`' | ',' | ']' | '}' | '|' | '>' | '"' | '\'' => {
            Some("quote text that starts with this character")
        }
        '?' | '-' | ':' if second.is_none_or(|it| it == ' ') => {
            Some("quote text that starts with this character")
        }
        _ if text.starts_with("---") || text.starts_with("...") => {
            Some("a message is one document; drop the document markers")
        }
        _ if text.contains(" #") || text.contains("\t#") => {
            Some("comments are not supported; quote text that contains #")
        }
        _ if text.contains(": ") || text.contains(":\t") || text.ends_with(':') => {
            Some("quote text that contains a colon")
        }
        _ => None,
    }
}

/// Types a plain scalar: null, a boolean, a number, or else its text.
fn typed(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let numeric = text
        .bytes()
        .all(|it| it.is_ascii_digit() || matches!(it, b'.' | b'-' | b'+' | b'e' | b'E'));
    if !numeric {
        return None;
    }
    match text.strip_prefix('.') {
        // YAML allows a fraction without a leading zero, JSON does not.
        Some(fraction) => serde_json::from_str(&format!("0.{fraction}")).ok(),
        None => serde_json::from_str(text).ok(),
    }
}

struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl Cursor<'_> {
    fn flaw(&self, what: &str) -> Flaw {
        Flaw::new(self.line, what)
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n']);
    }

    fn next(&mut self, open: &str) -> Result<char, Flaw> {
        let mut chars = self.rest.chars();
        let c = chars.next().ok_or_else(|| Flaw::open(self.line, open))?;
        self.rest = chars.as_str();
        Ok(c)
    }

    fn takes(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Flaw> {
        if depth > MAX_DEPTH {
            return Err(self.flaw(&format!("it nests deeper than {MAX_DEPTH} levels")));
        }
        self.blanks();
        match self.rest.chars().next() {
            Some('{') => self.mapping(depth),
            Some('[') => self.list(depth),
            Some('"') => self.double().map(Value::String),
            Some('\'') => self.single().map(Value::String),
            _ => self.plain_scalar(),
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, Flaw> {
        self.takes('{');
        let mut fields = Map::new();
        loop {
            self.blanks();
            if self.takes('}') {
                return Ok(Value::Object(fields));
            }
            let key = self.key()?;
            let value = self.value(depth + 1)?;
            if fields.insert(key.clone(), value).is_some() {
                return Err(self.flaw(&format!("`{key}` appears twice")));
            }
            self.blanks();
            if !self.takes(',') && !self.rest.starts_with('}') {
                return Err(self.missing_comma("a mapping in braces is not closed"));
            }
        }
    }

    fn key(&mut self) -> Result<String, Flaw> {
        let (key, is_quoted) = match self.rest.chars().next() {
            Some('"') => (self.double()?, true),
            Some('\'') => (self.single()?, true),
            _ => {
                let end = self
                    .rest
                    .find([':', ',', '}', '{', '[', ']', '\n'])
                    .unwrap_or(self.rest.len());
                let (key, rest) = self.rest.split_at(end);
                self.rest = rest;
                (key.trim().to_owned(), false)
            }
        };
        self.blanks();
        if self.rest.is_empty() {
            return Err(Flaw::open(self.line, "a mapping in braces is not closed"));
        }
        let spaced = |rest: &str| is_quoted || rest.starts_with([' ', '\t', '\n']);
        if self.takes(':') && is_name(&key) && spaced(self.rest) {
            Ok(key)
        } else {
            Err(self.flaw("a mapping in braces contains something other than `key: value`"))
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Flaw> {
        self.takes('[');
        let mut items = Vec::new();
        loop {
            self.blanks();
            if self.takes(']') {
                return Ok(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.blanks();
            if !self.takes(',') && !self.rest.starts_with(']') {
                return Err(self.missing_comma("a list in brackets is not closed"));
            }
        }
    }

    fn missing_comma(&self, open: &str) -> Flaw {
        if self.rest.is_empty() {
            Flaw::open(self.line, open)
        } else {
            self.flaw("a comma is missing between values")
        }
    }

    /// Parses a plain scalar within brackets, which ends with its line, at a comma or at a bracket.
    fn plain_scalar(&mut self) -> Result<Value, Flaw> {
        let end = self
            .rest
            .find([',', ']', '}', '[', '{', '\n'])
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        let text = text.trim();
        if text.is_empty() {
            return Err(if rest.is_empty() {
                Flaw::open(self.line, "a value in brackets is not closed")
            } else {
                self.flaw("a value is missing between the brackets")
            });
        }
        if let Some(what) = not_plain(text) {
            return Err(self.flaw(what));
        }
        self.rest = rest;
        Ok(typed(text))
    }

    fn single(&mut self) -> Result<String, Flaw> {
        self.takes('\'');
        let mut text = String::new();
        loop {
            match self.next("a quote is not closed")? {
                '\'' if self.takes('\'') => text.push('\''),
                '\'' => return Ok(text),
                '\n' => self.fold(&mut text),
                c => text.push(c),
            }
        }
    }

    fn double(&mut self) -> Result<String, Flaw> {
        self.takes('"');
        let mut text = String::new();
        loop {
            match self.next("a quote is not closed")? {
                '"' => return Ok(text),
                '\n' => self.fold(&mut text),
                '\\' => self.escaped(&mut text)?,
                c => text.push(c),
            }
        }
    }

    /// Folds a line end within quotes into a space, and a blank line into a line end.
    fn fold(&mut self, text: &mut String) {
        text.truncate(text.trim_end_matches([' ', '\t']).len());
        let rest = self.rest.trim_start_matches([' ', '\t', '\n']);
        let blank = &self.rest[..self.rest.len() - rest.len()];
        match blank.matches('\n').count() {
            0 => text.push(' '),
            lines => text.push_str(&"\n".repeat(lines)),
        }
        self.rest = rest;
    }

    fn escaped(&mut self, text: &mut String) -> Result<(), Flaw> {
        let c = match self.next("a quote is not closed")? {
            '0' => '\0',
            'a' => '\u{7}',
            'b' => '\u{8}',
            't' | '\t' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'e' => '\u{1b}',
            c @ (' ' | '"' | '/' | '\\') => c,
            'N' => '\u{85}',
            '_' => '\u{a0}',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            // The line continues without a space.
            '\n' => {
                self.rest = self.rest.trim_start_matches([' ', '\t']);
                return Ok(());
            }
            'x' => self.code_point(2)?,
            'u' => self.code_point(4)?,
            'U' => self.code_point(8)?,
            _ => return Err(self.flaw("unknown escape")),
        };
        text.push(c);
        Ok(())
    }

    fn hex(&mut self, digits: usize) -> Result<u32, Flaw> {
        let hex = self.rest.get(..digits).unwrap_or_default();
        match u32::from_str_radix(hex, 16) {
            Ok(code) if hex.bytes().all(|it| it.is_ascii_hexdigit()) => {
                self.rest = &self.rest[digits..];
                Ok(code)
            }
            _ => Err(self.flaw("an escape lacks its hex digits")),
        }
    }

    /// Reads a character by its code point; JSON writes high ones as a surrogate pair.
    fn code_point(&mut self, digits: usize) -> Result<char, Flaw> {
        let high = self.hex(digits)?;
        let code = match (high, self.rest.strip_prefix("\\u")) {
            (0xD800..=0xDBFF, Some(rest)) => {
                self.rest = rest;
                let low = self.hex(4)?.wrapping_sub(0xDC00);
                if low < 0x400 {
                    0x10000 + ((high - 0xD800) << 10) + low
                } else {
                    high
                }
            }
            _ => high,
        };
        char::from_u32(code).ok_or_else(|| self.flaw("an escape is not a character"))
    }
}
