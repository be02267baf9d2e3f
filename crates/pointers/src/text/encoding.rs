//! Decodes bytes as text, recognises binaries, and finds where lines begin and end.

use engram_model::{Lines, Refusal};
use memchr::memchr_iter;

use crate::refuse;

/// The number of bytes examined to recognise a binary file, as in git.
const SNIFF: usize = 8000;

/// The encoding of a file's characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or bytes that are shown as if they were UTF-8.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// UTF-32, low byte first.
    Utf32Le,
    /// UTF-32, high byte first.
    Utf32Be,
}

impl Encoding {
    /// Recognises the encoding by its byte order mark; `None` for a binary, which has no such mark
    /// but a NUL early in the file.
    pub(crate) fn of_file(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xFF, 0xFE, 0, 0, ..] => Some(Self::Utf32Le),
            [0, 0, 0xFE, 0xFF, ..] => Some(Self::Utf32Be),
            [0xFF, 0xFE, ..] => Some(Self::Utf16Le),
            [0xFE, 0xFF, ..] => Some(Self::Utf16Be),
            _ => {
                let head = &bytes[..bytes.len().min(SNIFF)];
                memchr::memchr(0, head).is_none().then_some(Self::Utf8)
            }
        }
    }

    /// Returns the whole text, with U+FFFD for what cannot be decoded, and without the byte order
    /// mark.
    pub fn decode(self, bytes: &[u8]) -> String {
        let text = match self {
            Self::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            wide => wide.chars(bytes).collect(),
        };
        match text.strip_prefix('\u{FEFF}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }
    }

    /// Returns the characters, one after the other.
    fn chars(self, bytes: &[u8]) -> Box<dyn Iterator<Item = char> + '_> {
        match self {
            Self::Utf8 => Box::new(bytes.utf8_chunks().flat_map(|chunk| {
                let broken = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
                chunk.valid().chars().chain(broken)
            })),
            Self::Utf16Le => Box::new(utf16(bytes, u16::from_le_bytes)),
            Self::Utf16Be => Box::new(utf16(bytes, u16::from_be_bytes)),
            Self::Utf32Le => Box::new(utf32(bytes, u32::from_le_bytes)),
            Self::Utf32Be => Box::new(utf32(bytes, u32::from_be_bytes)),
        }
    }

    /// Returns the number of characters of a line without its terminator, and some of those
    /// characters: a line can be as long as a file.
    pub(crate) fn part(self, line: &[u8], from: usize, count: usize) -> (usize, String) {
        let (width, low) = self.unit();
        let mut line = line;
        for end in *b"\n\r" {
            let unit = line.len().checked_sub(width).map(|at| line.split_at(at));
            if let Some((rest, unit)) = unit
                && unit
                    .iter()
                    .enumerate()
                    .all(|(i, it)| *it == if i == low { end } else { 0 })
            {
                line = rest;
            }
        }
        let chars = || {
            let mark = self.chars(line).next().filter(|it| *it == '\u{FEFF}');
            self.chars(line).skip(usize::from(mark.is_some()))
        };
        (chars().count(), chars().skip(from).take(count).collect())
    }

    /// Returns the first `max_chars` characters, without decoding the rest.
    pub(crate) fn decode_up_to(self, bytes: &[u8], max_chars: usize) -> String {
        // No character takes more than four bytes; one extra character for the byte order mark.
        let enough = max_chars.saturating_add(1).saturating_mul(4);
        let mut text = self.decode(&bytes[..bytes.len().min(enough)]);
        if let Some((at, _)) = text.char_indices().nth(max_chars) {
            text.truncate(at);
        }
        text
    }

    /// Returns one line for a reader: without its terminator, at most `max_chars` characters.
    pub(crate) fn show(self, line: &[u8], max_chars: usize) -> String {
        let mut text = self.decode_up_to(line, max_chars);
        let end = text.strip_suffix('\n').unwrap_or(&text);
        let end = end.strip_suffix('\r').unwrap_or(end).len();
        text.truncate(end);
        text
    }

    /// Returns the bytes per unit, and the position in a line feed's unit of the byte `\n`.
    fn unit(self) -> (usize, usize) {
        match self {
            Self::Utf8 => (1, 0),
            Self::Utf16Le => (2, 0),
            Self::Utf16Be => (2, 1),
            Self::Utf32Le => (4, 0),
            Self::Utf32Be => (4, 3),
        }
    }

    /// Returns the offset after each line feed, lazily.
    fn line_ends(self, bytes: &[u8]) -> impl Iterator<Item = usize> {
        let (width, low) = self.unit();
        memchr_iter(b'\n', bytes).filter_map(move |at| {
            let start = at - at % width;
            let unit = bytes.get(start..start + width)?;
            let alone = unit.iter().enumerate().all(|(i, b)| i == low || *b == 0);
            (at % width == low && alone).then_some(start + width)
        })
    }

    /// Returns the number of lines; the last one may lack its line feed.
    pub(crate) fn count_lines(self, bytes: &[u8]) -> u64 {
        let mut ends = 0;
        let mut last = 0;
        for end in self.line_ends(bytes) {
            ends += 1;
            last = end;
        }
        ends + u64::from(last < bytes.len())
    }

    /// Returns the byte range of `lines` with their terminators, or as the error the number of
    /// lines in the file.
    pub(crate) fn span(self, bytes: &[u8], lines: Lines) -> Result<std::ops::Range<usize>, u64> {
        let first = u64::from(lines.start.max(1));
        let last = u64::from(lines.end.max(lines.start).max(1));
        let mut from = (first == 1).then_some(0);
        let mut count = 0;
        let mut line_start = 0;
        for end in self.line_ends(bytes) {
            count += 1;
            if count == last {
                return Ok(from.unwrap_or(line_start)..end);
            }
            line_start = end;
            if count + 1 == first {
                from = Some(end);
            }
        }
        if line_start < bytes.len() {
            count += 1;
        }
        match from {
            Some(from) if count == last => Ok(from..bytes.len()),
            _ => Err(count),
        }
    }

    /// Returns the lines of `bytes`, each without its terminator.
    pub(crate) fn lines(self, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        let mut ends = self.line_ends(bytes);
        std::iter::from_fn(move || {
            if start >= bytes.len() {
                return None;
            }
            let end = ends.next().unwrap_or(bytes.len());
            let line = &bytes[start..end];
            start = end;
            Some(line)
        })
    }
}

/// Returns text for a reader from the bytes of a span; refuses binaries.
///
/// A span from the middle of a UTF-16 file has no byte order mark, so it is recognised by its NULs
/// where possible. [`crate::Resolved::text`] knows the encoding for certain.
pub fn text_of(bytes: &[u8]) -> Result<String, Refusal> {
    let known = Encoding::of_file(bytes).map(|encoding| encoding.decode(bytes));
    known
        .or_else(|| {
            [Encoding::Utf16Le, Encoding::Utf16Be]
                .into_iter()
                .map(|guess| guess.decode(bytes))
                .find(|text| !text.contains(|c: char| c == '\u{FFFD}' || unprintable(c)))
        })
        .ok_or_else(|| refuse::binary("what it addresses"))
}

fn unprintable(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{C}')
        || matches!(c, '\u{0A00}' | '\u{0D00}')
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> impl Iterator<Item = char> + '_ {
    let (units, rest) = bytes.as_chunks::<2>();
    char::decode_utf16(units.iter().map(move |unit| read(*unit)))
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .chain((!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER))
}

fn utf32(bytes: &[u8], read: fn([u8; 4]) -> u32) -> impl Iterator<Item = char> + '_ {
    let (units, rest) = bytes.as_chunks::<4>();
    units
        .iter()
        .map(move |unit| char::from_u32(read(*unit)).unwrap_or(char::REPLACEMENT_CHARACTER))
        .chain((!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER))
}
