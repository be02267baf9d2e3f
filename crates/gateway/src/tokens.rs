//! Counts tokens as the model sees them: `o200k_base`, in time linear in the text read.
//!
//! Text is encoded in blocks that end where the vocabulary's own splitting rule certainly begins a
//! new piece, so the sum is exact. Only text without such a place in [`BLOCK_MAX`] bytes (a base64
//! blob, a screen of blanks) is cut anyway, and its count may be a few tokens high. Without that
//! limit, one long run would exceed the splitter's backtracking limit, and panic.

use tiktoken_rs::o200k_base_singleton;

/// A block ends at the first place after this many bytes where a piece certainly begins.
const BLOCK_MIN: usize = 1024;
/// The most bytes of a block.
const BLOCK_MAX: usize = 4096;

/// No token of `o200k_base` is longer than this many bytes (128 blanks); a test checks all of them.
pub(crate) const TOKEN_BYTES: usize = 128;

/// The beginning of a text, within a number of tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// A prefix of the text, cut between characters.
    pub text: String,
    /// The number of tokens of [`Excerpt::text`].
    pub tokens: u32,
    /// Whether anything was left out.
    pub truncated: bool,
}

/// Counts the tokens (`o200k_base`) of a text. Special tokens such as `<|endoftext|>` count as
/// plain text.
///
/// The time is linear in the length; to find out only whether a text is too long, compare bytes
/// first.
pub fn count_tokens(text: &str) -> usize {
    blocks(text).map(encoded).sum()
}

/// Returns the longest beginning of `text` within `max_tokens`.
///
/// Reads at most 128 bytes for each allowed token, since no token is longer. A cut inside a line
/// moves back to the last line end, if there is one in the last quarter of what fits.
pub fn fit(text: &str, max_tokens: u32) -> Excerpt {
    let max = max_tokens as usize;
    let (mut end, mut tokens) = (0, 0);
    for block in blocks(head(text, max.saturating_mul(TOKEN_BYTES))) {
        let cost = encoded(block);
        if tokens + cost > max {
            end += prefix_within(block, max - tokens);
            break;
        }
        tokens += cost;
        end += block.len();
    }
    if end == text.len() {
        return Excerpt {
            text: text.to_owned(),
            tokens: clamp(tokens),
            truncated: false,
        };
    }
    let mut kept = at_line_end(text, end);
    let mut tokens = count_tokens(kept);
    while tokens > max {
        // A cut can split the rest of a piece into more tokens; one character less is enough.
        kept = head(kept, kept.len() - 1);
        tokens = count_tokens(kept);
    }
    Excerpt {
        text: kept.to_owned(),
        tokens: clamp(tokens),
        truncated: true,
    }
}

fn clamp(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

fn encoded(block: &str) -> usize {
    match block.len() {
        0 => 0,
        _ => o200k_base_singleton().encode_ordinary(block).len(),
    }
}

/// Returns at most `max` bytes of the text, cut between characters.
fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// Returns how many bytes of a block fit into `max` tokens.
fn prefix_within(block: &str, max: usize) -> usize {
    let bpe = o200k_base_singleton();
    let tokens = bpe.encode_ordinary(block);
    let kept = tokens.get(..max).unwrap_or(&tokens);
    let bytes = bpe.decode_bytes(kept).map_or(0, |bytes| bytes.len());
    block.floor_char_boundary(bytes)
}

/// Returns `text[..end]`, or less if the cut is inside a line and a line ends in its last quarter.
fn at_line_end(text: &str, end: usize) -> &str {
    let kept = &text[..end];
    if kept.ends_with('\n') || text[end..].starts_with(['\n', '\r']) {
        return kept;
    }
    match kept.rfind('\n') {
        Some(at) if at + 1 >= end - end / 4 => &kept[..=at],
        _ => kept,
    }
}

/// Splits a text into blocks, which together are the text.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (block, after) = rest.split_at(block_end(rest));
        rest = after;
        Some(block)
    })
}

fn block_end(text: &str) -> usize {
    if text.len() <= BLOCK_MIN {
        return text.len();
    }
    let window = head(text, BLOCK_MAX);
    let start = window.floor_char_boundary(BLOCK_MIN);
    let mut chars = window[start..].char_indices().peekable();
    let mut before = None;
    while let Some((at, c)) = chars.next() {
        if let Some(before) = before
            && starts_piece(before, c, chars.peek().map(|(_, next)| *next))
        {
            return start + at;
        }
        before = Some(c);
    }
    window.len()
}

/// Whether `o200k_base` begins a piece at `c` in any context: a word after one blank that follows a
/// letter or digit, or a letter or digit that begins a line.
fn starts_piece(before: char, c: char, next: Option<char>) -> bool {
    match c {
        ' ' => before.is_alphanumeric() && next.is_some_and(char::is_alphabetic),
        _ => before == '\n' && c.is_alphanumeric(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn reference(text: &str) -> usize {
        o200k_base_singleton().encode_ordinary(text).len()
    }

    #[test]
    fn no_token_is_longer_than_we_say() {
        let bpe = o200k_base_singleton();
        let longest = (0..199_998).filter_map(|token| bpe.decode_bytes(&[token]).ok());
        assert_eq!(longest.map(|bytes| bytes.len()).max(), Some(TOKEN_BYTES));
    }

    #[test]
    fn known_texts_cost_what_the_vocabulary_says() {
        for (text, tokens) in [
            ("", 0),
            ("hello world", 2),
            ("<|endoftext|>", 7),
            ("tiktoken is great!", 6),
            ("お誕生日おめでとう", 8),
        ] {
            assert_eq!(count_tokens(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn long_prose_and_code_are_counted_exactly() {
        let prose = "The ledger's reserve() is atomic, isn't it? Retries: 3, then 200ms; ok.\n\n  - see X\n";
        let code =
            "    if (a != b) {\r\n\t\treturn foo::bar(\"x y\");\r\n    } // naïve 日本語 text\n";
        for text in [
            prose,
            code,
            "word ",
            "a1 b2 ",
            "x\n",
            "ÄÖ ü ",
            "\u{301}a e\u{301} ",
        ] {
            let text = text.repeat(20_000 / text.len());
            assert_eq!(count_tokens(&text), reference(&text), "{:?}", &text[..20]);
        }
    }

    /// At these lengths, quadratic work would never finish.
    #[test]
    fn hostile_runs_end_without_a_panic() {
        for unit in [
            "a", "A", " ", "\n", "\t ", "=", "9", "日", "\u{301}", "🦀", "'s", "aA",
        ] {
            let text = unit.repeat(2_000_000 / unit.len());
            assert!(count_tokens(&text) > 0);
            let excerpt = fit(&text, 1200);
            assert!(excerpt.truncated && excerpt.tokens <= 1200);
        }
    }

    #[test]
    fn a_huge_text_costs_what_fits_of_it() {
        // Reading all of it would take minutes.
        let text = "some words of a log line\n".repeat(4_000_000);
        let excerpt = fit(&text, 1200);
        assert!(excerpt.tokens > 1150 && excerpt.text.ends_with('\n'));
    }

    #[test]
    fn cuts_prefer_line_ends_in_the_last_quarter() {
        for (text, max, kept) in [
            ("one two three", 2, "one two"),
            (
                "one two\nthree four five six",
                7,
                "one two\nthree four five six",
            ),
            (
                "one two three four five six seven\neight nine",
                8,
                "one two three four five six seven\n",
            ),
            (
                "one\ntwo three four five six seven",
                5,
                "one\ntwo three four",
            ),
            ("one two", 0, ""),
            ("", 5, ""),
        ] {
            let excerpt = fit(text, max);
            assert_eq!(excerpt.text, kept, "{text:?} in {max}");
            assert_eq!(excerpt.truncated, kept != text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn an_excerpt_is_a_prefix_within_its_tokens(text in "(?s).{0,400}", max in 0u32..120) {
            let excerpt = fit(&text, max);
            prop_assert!(text.starts_with(&excerpt.text));
            prop_assert_eq!(excerpt.tokens as usize, count_tokens(&excerpt.text));
            prop_assert!(excerpt.tokens <= max);
            prop_assert_eq!(excerpt.truncated, excerpt.text != text);
            prop_assert!(!excerpt.truncated || count_tokens(&text) > max as usize);
        }

        #[test]
        fn blocks_change_no_count(words in prop::collection::vec("[ -~äß日🦀\n\r\t]{1,12}", 0..600)) {
            let text = words.join(" ");
            prop_assert_eq!(count_tokens(&text), reference(&text));
        }
    }
}
