//! What a reader sees of a text that holds secrets.

use std::ops::Range;

use crate::secret::{MARK, secrets};

/// A text with a mark in the place of each secret, such as `[masked: GitHub token]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// What may be shown. Nothing in it depends on a secret but where it stood and what it looked like.
    pub text: String,
    /// How many secrets it leaves out, wholly or in part.
    pub masked: usize,
}

/// A whole text without its secrets. Masking what is masked changes nothing.
pub fn mask(text: &str) -> Masked {
    // Secrets begin and end between characters: nothing is lost.
    mask_span(text.as_bytes(), 0..text.len(), |part| {
        String::from_utf8_lossy(part).into_owned()
    })
}

/// A span of a file without the secrets that lie in it, even where it cuts one in two: that is why the
/// whole file is needed. `decode` makes text of the bytes between them.
pub fn mask_span(file: &[u8], span: Range<usize>, decode: impl Fn(&[u8]) -> String) -> Masked {
    let end = span.end.min(file.len());
    let mut start = span.start.min(end);
    let mut shown = Masked {
        text: String::new(),
        masked: 0,
    };
    for secret in secrets(file) {
        if secret.range.end <= start || secret.range.start >= end {
            continue;
        }
        let before = file.get(start..secret.range.start).unwrap_or_default();
        shown.text.push_str(&decode(before));
        shown.text.push_str(MARK);
        let name = secret.rule.split_once(' ').map_or(secret.rule, |it| it.1);
        shown.text.push_str(name);
        shown.text.push(']');
        shown.masked += 1;
        start = secret.range.end.min(end);
    }
    shown.text.push_str(&decode(&file[start..end]));
    shown
}
