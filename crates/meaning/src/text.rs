//! Makes foreign text safe to show.

use engram_model::is_hidden;

/// The printable characters of a text, at most `most` of them. Line breaks and tabs become spaces;
/// other control characters, and those that reorder or hide text, disappear.
pub(crate) fn printable(text: &str, most: usize) -> String {
    text.chars()
        .map(|it| {
            if matches!(it, '\n' | '\r' | '\t') {
                ' '
            } else {
                it
            }
        })
        .filter(|it| !is_hidden(*it))
        .take(most)
        .collect::<String>()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_screen_is_left_out() {
        for (text, expected) in [
            ("plain", "plain"),
            ("  two\nlines\t", "two lines"),
            ("\u{1b}[31mred\u{7}", "[31mred"),
            ("ab\u{202e}cd\u{200b}", "abcd"),
            ("naïve 🦀", "naïve 🦀"),
        ] {
            assert_eq!(printable(text, 20), expected, "{text:?}");
        }
        assert_eq!(printable("abcdef", 3), "abc");
    }
}
