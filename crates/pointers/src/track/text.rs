//! A file as lines, with the data that alignment needs for each.

use std::{cell::OnceCell, collections::HashMap, hash::Hasher, ops::Range};

use fnv::FnvHasher;

use crate::Encoding;

/// The highest weight of one line, however long.
const MAX_TELLING: u16 = 40;
/// Lines with a lower weight are brackets, blanks and bare keywords, which can stand anywhere.
const TELLING: u16 = 7;

/// The most bytes compared to find out whether lines occur elsewhere.
pub(super) const MAX_COMPARED: usize = 64 << 20;

/// The lines of one file.
pub(super) struct Text {
    bytes: Vec<u8>,
    /// The end of each line, its terminator included.
    ends: Vec<usize>,
    /// The hash of each line without its whitespace.
    squeezed: Vec<u64>,
    /// The number of letters, digits and non-ASCII bytes of each line, up to a limit.
    telling: Vec<u16>,
    /// The lines by their hash without whitespace; made on first use.
    alike: OnceCell<HashMap<u64, Vec<u32>>>,
}

impl Text {
    /// `None` for a binary.
    pub(super) fn of(bytes: Vec<u8>) -> Option<Self> {
        let encoding = Encoding::of_file(&bytes)?;
        let mut ends = Vec::new();
        let mut squeezed = Vec::new();
        let mut telling = Vec::new();
        let mut end = 0;
        for line in encoding.lines(&bytes) {
            end += line.len();
            ends.push(end);
            let (hash, says) = read(line);
            squeezed.push(hash);
            telling.push(says);
        }
        Some(Self {
            bytes,
            ends,
            squeezed,
            telling,
            alike: OnceCell::new(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Its size in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.len() * (2 * size_of::<u64>() + size_of::<u16>())
    }

    fn start_of(&self, line: usize) -> usize {
        match line {
            0 => 0,
            _ => self.ends.get(line - 1).copied().unwrap_or(self.bytes.len()),
        }
    }

    /// Returns the bytes of one line; empty past the end.
    pub(super) fn line(&self, line: usize) -> &[u8] {
        self.span(line..line + 1)
    }

    /// Returns the bytes of these lines with their terminators, without anything past the end.
    pub(super) fn span(&self, lines: Range<usize>) -> &[u8] {
        let from = self.start_of(lines.start);
        let to = self.start_of(lines.end.min(self.len()));
        self.bytes.get(from..to).unwrap_or_default()
    }

    pub(super) fn squeezed(&self, line: usize) -> u64 {
        self.squeezed.get(line).copied().unwrap_or_default()
    }

    /// Returns the lines with this hash, that is, equal but for whitespace.
    fn lines_with_hash(&self, hash: u64) -> &[u32] {
        let made = self.alike.get_or_init(|| {
            let mut made: HashMap<u64, Vec<u32>> = HashMap::new();
            for (line, hash) in self.squeezed.iter().enumerate() {
                made.entry(*hash).or_default().push(line as u32);
            }
            made
        });
        made.get(&hash).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns whether these lines occur in this text once more.
    pub(super) fn has_twin(&self, lines: Range<usize>) -> bool {
        // Compares only the places of the rarest line.
        let others = |line: usize| self.lines_with_hash(self.squeezed(line));
        let Some(rare) = lines.clone().min_by_key(|it| others(*it).len()) else {
            return false;
        };
        let bytes = self.span(lines.clone());
        let most = MAX_COMPARED / bytes.len().max(1);
        others(rare).iter().take(most.max(1)).any(|twin| {
            let start = (*twin as usize + lines.start).checked_sub(rare);
            start.is_some_and(|start| {
                start != lines.start && self.span(start..start + lines.len()) == bytes
            })
        })
    }

    /// Returns how significant a line is.
    pub(super) fn telling(&self, line: usize) -> u16 {
        self.telling.get(line).copied().unwrap_or_default()
    }

    pub(super) fn is_telling(&self, line: usize) -> bool {
        self.telling(line) >= TELLING
    }

    /// Returns how significant these lines are together.
    pub(super) fn all_telling(&self, lines: Range<usize>) -> u32 {
        lines.map(|it| u32::from(self.telling(it))).sum()
    }

    /// Returns the weight of a line in a share of a span; even a bracket has some.
    pub(super) fn weight(&self, line: usize) -> f32 {
        f32::from(self.telling(line)).max(0.5)
    }

    pub(super) fn all_weight(&self, lines: Range<usize>) -> f32 {
        lines.map(|it| self.weight(it)).sum()
    }
}

/// The classes of bytes.
const BLANK: u8 = 0;
const SOLID: u8 = 1;
const TELLS: u8 = 2;
const CLASSES: [u8; 256] = classes();

/// NUL is blank: it is half of each plain character in UTF-16.
const fn classes() -> [u8; 256] {
    let mut classes = [SOLID; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        if byte.is_ascii_whitespace() || byte == 0 || byte == 0x0b {
            classes[at] = BLANK;
        } else if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            classes[at] = TELLS;
        }
        at += 1;
    }
    classes
}

pub(super) fn is_blank(byte: u8) -> bool {
    CLASSES[usize::from(byte)] == BLANK
}

/// Returns whether two spans differ in whitespace only.
pub(super) fn same_but_for_blanks(a: &[u8], b: &[u8]) -> bool {
    let solid = |it: &&u8| !is_blank(**it);
    a.iter().filter(solid).eq(b.iter().filter(solid))
}

/// Returns the FNV-1a hash of a line.
pub(super) fn hash(line: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(line);
    hasher.finish()
}

/// Returns the FNV-1a hash of a line without its blanks, the same on every machine, and how
/// significant the line is. Where equality matters, the bytes are compared too.
fn read(line: &[u8]) -> (u64, u16) {
    let mut hasher = FnvHasher::default();
    let mut says = 0u16;
    for byte in line {
        let class = CLASSES[usize::from(*byte)];
        if class != BLANK {
            hasher.write(&[*byte]);
            if class == TELLS && says < MAX_TELLING {
                says += 1;
            }
        }
    }
    (hasher.finish(), says)
}
