//! Finds where blocks of source end, without parsing it: by brackets, strings and comments only.

use super::languages::{Extent, Lexis};

/// What the scanner is inside of. Ordinary strings end with their line, since an unclosed one would
/// swallow the rest of the file.
#[derive(Clone, Copy, PartialEq)]
enum ScanState {
    Code,
    /// A string that ends at this character, on this line (or a template, on any).
    Quoted(char),
    /// A string that ends at three of this character.
    Triple(char),
    /// A raw string that ends at a quote and this many `#`.
    Raw(usize),
    /// Block comments nest in some languages; counting is right for those and harmless in others.
    Comment(usize),
}

/// The state at the end of a line.
pub(crate) struct LineEnd {
    /// Whether the line ends inside a string or block comment.
    pub(crate) inside: bool,
    /// The number of open brackets of any kind, counted from the beginning of the text.
    pub(crate) depth: i32,
    /// Whether the line holds code, or the text of a string.
    code: bool,
}

/// What a scan finds, in order.
enum ScanToken {
    Open(char),
    Close(char),
    Semicolon,
    Other,
}

/// Walks `text`, calling `on` for every token of code with its offset.
fn scan(text: &str, lexis: Lexis, mut on: impl FnMut(usize, ScanToken) -> bool) {
    let mut scanner = Scanner {
        text,
        lexis,
        state: ScanState::Code,
        at: 0,
    };
    while let Some((at, c)) = scanner.next_char() {
        let token = match c {
            '(' | '[' | '{' => ScanToken::Open(c),
            ')' | ']' | '}' => ScanToken::Close(c),
            ';' => ScanToken::Semicolon,
            _ => ScanToken::Other,
        };
        if !on(at, token) {
            return;
        }
    }
}

struct Scanner<'t> {
    text: &'t str,
    lexis: Lexis,
    state: ScanState,
    at: usize,
}

impl Scanner<'_> {
    /// The next character of code, outside strings and comments; line feeds always count.
    fn next_char(&mut self) -> Option<(usize, char)> {
        loop {
            let at = self.at;
            let rest = &self.text[at..];
            let c = rest.chars().next()?;
            self.at += c.len_utf8();
            if self.state != ScanState::Code {
                self.leaves(rest, c);
            } else if !self.enters(rest, c) {
                return Some((at, c));
            }
            if c == '\n' {
                return Some((at, c));
            }
        }
    }

    /// Consumes the opening of a string or comment if one begins here, and returns whether it did.
    fn enters(&mut self, rest: &str, c: char) -> bool {
        let lexis = self.lexis;
        if lexis
            .line_comments
            .iter()
            .any(|mark| rest.starts_with(mark))
            && self.comment_here(c)
        {
            self.at += rest.find('\n').unwrap_or(rest.len()) - c.len_utf8();
            return true;
        }
        if lexis.block_comments && rest.starts_with("/*") {
            self.at += 1;
            self.state = ScanState::Comment(1);
            return true;
        }
        if lexis.rust && self.enters_rust(rest, c) {
            return true;
        }
        if !lexis.quotes.contains(c) {
            return false;
        }
        let tripled =
            lexis.triple_quotes && rest.chars().take(3).all(|q| q == c) && rest.len() >= 3;
        if tripled {
            self.at += 2;
            self.state = ScanState::Triple(c);
        } else {
            self.state = ScanState::Quoted(c);
        }
        true
    }

    /// In shells and Ruby, `$#` and `#{` do not start comments.
    fn comment_here(&self, c: char) -> bool {
        let before = self.text[..self.at - c.len_utf8()].chars().next_back();
        c != '#'
            || before
                .is_none_or(|b| b.is_whitespace() || matches!(b, ';' | ')' | ']' | ',' | ':' | '('))
    }

    fn enters_rust(&mut self, rest: &str, c: char) -> bool {
        if c == 'r' && !self.follows_word() {
            let hashes = rest[1..].bytes().take_while(|b| *b == b'#').count();
            if rest.as_bytes().get(1 + hashes) == Some(&b'"') {
                self.at += hashes + 1;
                self.state = ScanState::Raw(hashes);
                return true;
            }
        }
        // A character literal, such as '{'; a lifetime has no second tick.
        if c == '\'' {
            let inner = rest[1..].chars().next();
            let length = match inner {
                Some('\\') => rest[2..]
                    .char_indices()
                    .skip(1)
                    .find(|(_, c)| *c == '\'')
                    .filter(|(at, _)| *at <= 10)
                    .map(|(at, _)| at + 3),
                Some(inner) if rest[1 + inner.len_utf8()..].starts_with('\'') => {
                    Some(inner.len_utf8() + 2)
                }
                _ => None,
            };
            if let Some(length) = length {
                self.at += length - 1;
                return true;
            }
        }
        false
    }

    fn follows_word(&self) -> bool {
        let before = self.text[..self.at - 1].chars().next_back();
        before.is_some_and(|b| (b.is_alphanumeric() && b != 'b') || b == '_')
    }

    fn leaves(&mut self, rest: &str, c: char) {
        match self.state {
            ScanState::Code => {}
            ScanState::Quoted(quote) if c == quote => self.state = ScanState::Code,
            ScanState::Quoted(quote) => {
                if c == '\\' {
                    self.skip_escaped(rest);
                } else if c == '\n' && quote != '`' && !self.lexis.rust {
                    self.state = ScanState::Code;
                }
            }
            ScanState::Triple(quote) => {
                if c == '\\' {
                    self.skip_escaped(rest);
                } else if rest.len() >= 3 && rest.chars().take(3).all(|q| q == quote) {
                    self.at += 2;
                    self.state = ScanState::Code;
                }
            }
            ScanState::Raw(hashes) => {
                let closes =
                    c == '"' && rest[1..].bytes().take_while(|b| *b == b'#').count() >= hashes;
                if closes {
                    self.at += hashes;
                    self.state = ScanState::Code;
                }
            }
            ScanState::Comment(depth) => {
                if rest.starts_with("*/") {
                    self.at += 1;
                    self.state = match depth {
                        1 => ScanState::Code,
                        n => ScanState::Comment(n - 1),
                    };
                } else if self.lexis.rust && rest.starts_with("/*") {
                    self.at += 1;
                    self.state = ScanState::Comment(depth + 1);
                }
            }
        }
    }

    /// Skips the escaped character, except a line feed, which must be counted.
    fn skip_escaped(&mut self, rest: &str) {
        if let Some(next) = rest[1..].chars().next().filter(|c| *c != '\n') {
            self.at += next.len_utf8();
        }
    }
}

/// Returns the last line (0-based, within `lines`) of the definition that begins at line `start`
/// and whose name ends `named` bytes after the beginning of that line.
pub(crate) fn end_of(
    lines: &[&str],
    start: usize,
    named: usize,
    extent: Extent,
    lexis: Lexis,
    newline_ends: bool,
) -> usize {
    let text = lines[start..].concat();
    let offset = match extent {
        Extent::Braces => brace_end(&text, named, lexis, newline_ends),
        Extent::Call => call_end(&text, named, lexis),
        Extent::Indentation => return start + last_indented(&lines[start..], lexis),
        Extent::End => return start + line_of_end(&lines[start..], &text, named, lexis),
    };
    // Sliced by bytes, since a line may end in a letter of several.
    let before = offset.and_then(|it| text.as_bytes().get(..it));
    start + before.map_or(0, |it| it.iter().filter(|it| **it == b'\n').count())
}

/// Returns the offset of the brace that closes the body.
fn brace_end(text: &str, named: usize, lexis: Lexis, newline_ends: bool) -> Option<usize> {
    let mut depth = 0i32;
    let mut end = None;
    let mut body = false;
    scan(text, lexis, |at, token| {
        match token {
            ScanToken::Open(c) => {
                body |= c == '{' && depth == 0 && at >= named;
                depth += 1;
            }
            ScanToken::Close(c) => {
                depth -= 1;
                let closes = body && depth == 0 && c == '}' && !is_type(&text[at + 1..]);
                if depth < 0 || closes {
                    end = (depth >= 0).then_some(at);
                    return false;
                }
            }
            ScanToken::Semicolon if depth == 0 && at >= named => {
                end = Some(at);
                return false;
            }
            _ => {}
        }
        let newline = text.as_bytes()[at] == b'\n';
        if newline_ends && newline && depth == 0 && !body && at >= named && !continues(text, at) {
            end = Some(at - 1);
            return false;
        }
        true
    });
    end
}

/// Returns whether the braces just closed were part of a type: `Promise<{ a: string }> {`.
fn is_type(after: &str) -> bool {
    let line = after.split('\n').next().unwrap_or_default();
    line.trim_start().starts_with(['>', '|', '&', '[', '{'])
}

/// Returns whether a definition continues after the line feed at `at`.
fn continues(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end();
    let after = text[at..].trim_start();
    before.ends_with(['=', ',', '>', ':', '(', '|', '&', '+', '{'])
        || after.starts_with(['{', '.', ')', ':', '=', '?', '|', '&'])
        || ["where", "throws", "->", "extends", "implements"]
            .iter()
            .any(|word| after.starts_with(word))
}

/// Returns the offset of the parenthesis that closes the call with the name.
fn call_end(text: &str, named: usize, lexis: Lexis) -> Option<usize> {
    let mut depth = 0i32;
    let mut end = None;
    scan(text, lexis, |at, token| {
        match token {
            ScanToken::Open(_) => depth += 1,
            ScanToken::Close(_) => depth -= 1,
            _ => return true,
        }
        if at >= named && depth <= 0 {
            end = Some(at);
            return false;
        }
        true
    });
    end
}

/// Returns the state at the end of each line of `text`.
pub(crate) fn line_ends(text: &str, lexis: Lexis) -> Vec<LineEnd> {
    let mut states = Vec::new();
    let mut scanner = Scanner {
        text,
        lexis,
        state: ScanState::Code,
        at: 0,
    };
    let (mut depth, mut code) = (0i32, false);
    let mut began_inside = false;
    while let Some((_, c)) = scanner.next_char() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if c == '\n' {
            let inside = scanner.state != ScanState::Code;
            states.push(LineEnd {
                inside,
                depth,
                code: code || began_inside || inside,
            });
            began_inside = inside;
            code = false;
        } else {
            code |= !c.is_whitespace();
        }
    }
    states.push(LineEnd {
        inside: scanner.state != ScanState::Code,
        depth,
        code: code || began_inside,
    });
    states
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the last line of an indented block, whose head may span several lines.
fn last_indented(lines: &[&str], lexis: Lexis) -> usize {
    let states = line_ends(&lines.concat(), lexis);
    let base = indent_of(lines[0]);
    let mut last = 0;
    for at in 1..lines.len() {
        let before = &states[at - 1];
        let goes_on = before.inside || before.depth > 0;
        let blank = lines[at].trim().is_empty();
        if goes_on || (!blank && indent_of(lines[at]) > base) {
            last = at;
        } else if states.get(at).is_some_and(|line| line.code) && !blank {
            break;
        }
    }
    last
}

/// Returns the line of the `end` with the indent of the first line; a block in braces ends with
/// those.
fn line_of_end(lines: &[&str], text: &str, named: usize, lexis: Lexis) -> usize {
    let first = lines[0].split(" #").next().unwrap_or_default().trim_end();
    let word = first.trim_start();
    let block = word.starts_with("def") || word.starts_with("class") || word.starts_with("module");
    let one_line = word.starts_with("def") && word.contains(" = ")
        || first.ends_with(" end")
        || word.contains(", do:");
    if one_line {
        return 0;
    }
    if !block && first.contains('{') && !first.ends_with(" do") {
        let offset = brace_end(text, named, lexis, false);
        return offset.map_or(0, |offset| text[..offset].matches('\n').count());
    }
    let indent = indent_of(lines[0]);
    let closes = |line: &&str| {
        let rest = line.trim_start().strip_prefix("end");
        indent_of(line) == indent
            && rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    lines.iter().skip(1).position(closes).map_or(0, |at| at + 1)
}
