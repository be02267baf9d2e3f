//! The table of word vectors (`table/README.md`): read where it lies, without a copy.

/// How many numbers a vector has.
pub(super) const COLUMNS: usize = 64;

static BYTES: &[u8] = include_bytes!("../../table/words.bin");
/// The counts of rows and columns.
const FRONT: usize = 8;
/// What the table says of a row before its vector: the end of its piece, its rank and its scale.
const HEAD: usize = 10;
/// Longer strings (in bytes) are not looked up: they are not words.
const MAX_WORD: usize = 40;

/// A row of the table: a word, or a piece of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row(u32);

impl Row {
    fn head(self) -> &'static [u8] {
        let at = FRONT + self.0 as usize * HEAD;
        BYTES.get(at..at + HEAD).unwrap_or(&[0; HEAD])
    }

    fn end_of_piece(self) -> usize {
        let head = self.head();
        u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize
    }

    fn piece(self) -> &'static [u8] {
        let begin = self
            .0
            .checked_sub(1)
            .map_or(0, |it| Self(it).end_of_piece());
        let text = &BYTES[FRONT + rows() * (HEAD + COLUMNS)..];
        text.get(begin..self.end_of_piece()).unwrap_or_default()
    }

    /// Its place among all pieces, the most frequent first.
    pub(super) fn rank(self) -> u16 {
        let head = self.head();
        u16::from_le_bytes([head[4], head[5]])
    }

    /// Adds its vector, times a weight.
    pub(super) fn add_to(self, sum: &mut [f32; COLUMNS], weight: f32) {
        let head = self.head();
        let scale = weight * f32::from_le_bytes([head[6], head[7], head[8], head[9]]);
        let at = FRONT + rows() * HEAD + self.0 as usize * COLUMNS;
        let vector = BYTES.get(at..at + COLUMNS).unwrap_or_default();
        for (number, byte) in sum.iter_mut().zip(vector) {
            *number += scale * f32::from(byte.cast_signed());
        }
    }
}

fn rows() -> usize {
    u32::from_le_bytes([BYTES[0], BYTES[1], BYTES[2], BYTES[3]]) as usize
}

fn find(piece: &[u8]) -> Option<Row> {
    let (mut low, mut high) = (0, rows() as u32);
    while low < high {
        let middle = low.midpoint(high);
        match Row(middle).piece().cmp(piece) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return Some(Row(middle)),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// Returns the rows of a word in lower case: its longest pieces from the left (WordPiece); none if
/// the table lacks one of them, or only has its letters.
pub(super) fn rows_of(word: &str) -> Vec<Row> {
    let (mut found, mut rest) = (Vec::new(), word);
    while !rest.is_empty() && word.len() <= MAX_WORD {
        let mut ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
        let longest = ends.find_map(|end| {
            let piece = &rest.as_bytes()[..end];
            let row = if found.is_empty() {
                find(piece)
            } else {
                find(&[b"##", piece].concat())
            };
            row.map(|row| (row, end))
        });
        let Some((row, end)) = longest else {
            return Vec::new();
        };
        found.push(row);
        rest = &rest[end..];
    }
    // In a script that the table does not know, all words would consist of the same few letters.
    if found.len() > 1 && found.len() == word.chars().count() {
        return Vec::new();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let mut last: &[u8] = b"";
        for row in (0..rows() as u32).map(Row) {
            assert!(row.piece() > last, "sorted, each once");
            last = row.piece();
            let mut sum = [0.0; COLUMNS];
            row.add_to(&mut sum, 1.0);
            assert!(sum.iter().all(|it| it.is_finite()));
            assert_eq!(find(row.piece()), Some(row));
        }
        let text: usize = (0..rows() as u32).map(|it| Row(it).piece().len()).sum();
        assert_eq!(BYTES.len(), FRONT + rows() * (HEAD + COLUMNS) + text);
    }

    #[test]
    fn a_word_is_cut_into_its_longest_pieces() {
        let pieces =
            |word: &str| -> Vec<&[u8]> { rows_of(word).into_iter().map(Row::piece).collect() };
        assert_eq!(pieces("server"), [b"server"]);
        assert_eq!(pieces("hostname"), [&b"host"[..], b"##name"]);
        assert_eq!(pieces("jitter"), [&b"ji"[..], b"##tter"]);
        for nothing in ["", "\u{1F980}", &"x".repeat(41)] {
            assert_eq!(pieces(nothing), [b""; 0], "{nothing}");
        }
    }
}
