//! Decides whether a text quotes another, since an erased text must also be erased wherever it was
//! repeated.
//!
//! Words are those of the echo check: case, punctuation, spaces and zero-width characters are
//! ignored.

use std::collections::BTreeSet;

use crate::echo::words_of;

/// The words in a row that form a quotation; fewer would match independent texts on the same
/// subject.
const RUN: usize = 8;

/// A text that others may quote.
#[derive(Debug, Clone, Default)]
pub struct Quotable {
    /// The number of words of each run.
    length: usize,
    runs: BTreeSet<Vec<String>>,
}

impl Quotable {
    /// Prepares a text. A text of fewer than eight words must be quoted as a whole; a text without
    /// words is never quoted.
    pub fn new(text: &str) -> Self {
        let words = words_of(text);
        let length = words.len().min(RUN);
        let runs = words.windows(length.max(1)).map(<[String]>::to_vec);
        Self {
            length,
            runs: runs.collect(),
        }
    }

    /// Whether it has no words; nothing can then quote it.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether a text quotes it: all its words, or eight of them in a row.
    pub fn is_quoted_in(&self, text: &str) -> bool {
        let words = words_of(text);
        let mut runs = words.windows(self.length.max(1));
        runs.any(|it| self.runs.contains(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "Retries of the ledger are bounded by 3, with full jitter.";

    #[test]
    fn a_quotation_is_known_by_its_words() {
        for (said, text, want) in [
            (LONG, LONG, true),
            (
                LONG,
                "RETRIES, of the\tledger are «bounded» by (3)\nwith full-jitter",
                true,
            ),
            (
                LONG,
                "As agreed: retries of the ledger are bounded by 3, with full jitter. Yes.",
                true,
            ),
            (
                LONG,
                "Re\u{200b}tries of the ledger are bounded by 3.",
                true,
            ),
            (LONG, "of the ledger are bounded by 3 with", true),
            (LONG, "of the ledger are bounded by 3", false),
            (
                LONG,
                "Retries of the ledger are not bounded by 3, with full jitter.",
                false,
            ),
            (LONG, "", false),
            ("Use SQLite.", "We use sqlite here.", true),
            ("Use SQLite.", "We use it: SQLite.", false),
            ("Use SQLite.", "SQLite", false),
            ("It isn't so.", "it isn’t so", true),
            ("予約は原子的です。", "「予約は原子的です」と言った", true),
            ("...", "...", false),
            ("", "anything", false),
        ] {
            assert_eq!(
                Quotable::new(said).is_quoted_in(text),
                want,
                "{said}: {text}"
            );
        }
    }

    #[test]
    fn what_has_no_words_is_quoted_nowhere() {
        assert!(Quotable::new(" \u{200b}!").is_empty() && Quotable::default().is_empty());
        assert!(!Quotable::new("a").is_empty());
    }
}
