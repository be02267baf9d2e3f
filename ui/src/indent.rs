//! The indent of lines: what all have in common, and each line's own.

use std::ops::Range;

use engram_model::{DiffSide, Piece, SourceLine};

/// Columns between tab stops (`5-drift.css` has the same).
const TAB: usize = 4;

/// Returns the lines without their common indent of blanks and tabs.
pub fn without_indent(lines: &[SourceLine]) -> Vec<SourceLine> {
    let full = lines
        .iter()
        .filter(|it| it.side != DiffSide::Hunk && !it.text.trim().is_empty());
    let common = full
        .map(|it| indent(&it.text))
        .reduce(|a, b| &a[..a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()]);
    let common = common.map_or(0, str::len);
    let cut = |line: &SourceLine| {
        let cut = common.min(indent(&line.text).len());
        SourceLine {
            text: line.text[cut..].to_owned(),
            pieces: pieces_after(&line.pieces, cut),
            ..line.clone()
        }
    };
    lines.iter().map(cut).collect()
}

/// Returns the line without its own indent, the indent, and how many columns that takes; an indent
/// in which the line differs from its pair stays with the line.
pub fn split_indent<'a>(
    line: &'a SourceLine,
    differs: &[Range<usize>],
) -> (&'a str, usize, SourceLine) {
    let full = indent(&line.text);
    let taken = match differs.first() {
        Some(first) if first.start < full.len() => "",
        _ => full,
    };
    let columns = taken.chars().fold(0, |at, sign| match sign {
        '\t' => at + TAB - at % TAB,
        _ => at + 1,
    });
    let rest = SourceLine {
        text: line.text[taken.len()..].to_owned(),
        pieces: pieces_after(&line.pieces, taken.len()),
        ..line.clone()
    };
    (taken, columns, rest)
}

fn indent(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
}

fn pieces_after(pieces: &[Piece], cut: usize) -> Vec<Piece> {
    let mut left = u32::try_from(cut).unwrap_or(u32::MAX);
    let rest = pieces.iter().map(|piece| {
        let taken = left.min(piece.1);
        left -= taken;
        Piece(piece.0, piece.1 - taken)
    });
    rest.filter(|it| it.1 > 0).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::single_range_in_vec_init)]
    use engram_model::Class;

    use super::*;

    /// Lines as a comparison has them: ` same`, `-removed`, `+added`, `~` for what was not sent.
    fn lines(texts: &[&str]) -> Vec<SourceLine> {
        let line = |text: &&str| SourceLine {
            side: match text.chars().next() {
                Some('-') => DiffSide::Removed,
                Some('+') => DiffSide::Added,
                Some('~') => DiffSide::Hunk,
                _ => DiffSide::Both,
            },
            text: text[1..].to_owned(),
            ..SourceLine::default()
        };
        texts.iter().map(line).collect()
    }

    #[test]
    fn a_wrapped_line_keeps_its_own_indent() {
        for (text, differs, want) in [
            ("    deep(x)", &[][..], ("    ", 4, "deep(x)")),
            ("\t  deep(x)", &[8..9], ("\t  ", 6, "deep(x)")),
            ("  \tdeep(x)", &[], ("  \t", 4, "deep(x)")),
            ("    deep(x)", &[0..2], ("", 0, "    deep(x)")),
            ("flat", &[0..1], ("", 0, "flat")),
            ("   ", &[], ("   ", 3, "")),
            ("", &[], ("", 0, "")),
        ] {
            let line = SourceLine {
                text: text.to_owned(),
                pieces: vec![Piece(Class::Plain, 4), Piece(Class::Function, 4)],
                ..SourceLine::default()
            };
            let (taken, columns, rest) = split_indent(&line, differs);
            assert_eq!((taken, columns, &*rest.text), want, "{text:?}");
        }
    }

    #[test]
    fn the_indent_that_all_have_is_taken_off() {
        for (given, want) in [
            (&["     a", "       b", " "][..], &["a", "  b", ""][..]),
            (&[" \t\ta", "-\tb"], &["\ta", "b"]),
            (&[" \t  a", "-\t\tb"], &["  a", "\tb"]),
            (&["   a", "+\tb"], &["  a", "\tb"]),
            (&["   a", "+   ", "~"], &["a", " ", ""]),
            (&[], &[]),
        ] {
            let lines = without_indent(&lines(given));
            let texts: Vec<&str> = lines.iter().map(|it| it.text.as_str()).collect();
            assert_eq!(texts, want, "{given:?}");
        }
        let painted = SourceLine {
            text: "    let a".to_owned(),
            pieces: vec![
                Piece(Class::Plain, 2),
                Piece(Class::Plain, 2),
                Piece(Class::Keyword, 3),
            ],
            ..SourceLine::default()
        };
        let bare = without_indent(&[painted]);
        assert_eq!(bare[0].pieces, [Piece(Class::Keyword, 3)]);
    }
}
