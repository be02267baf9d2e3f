//! Masks secrets in what a reader sees.

use std::{collections::HashMap, ops::Range};

use super::{MARK, find_secrets, rules::bare_name};

/// A text with a mark in place of each secret, such as `[masked: GitHub token]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// The text to show. It reveals only where each secret was and what it looked like.
    pub text: String,
    /// The number of secrets it hides, wholly or in part.
    pub masked: usize,
}

/// Masks a whole text. Masking a masked text changes nothing.
pub fn mask(text: &str) -> Masked {
    // Secrets start and end between characters, so nothing is lost.
    mask_span(text.as_bytes(), 0..text.len(), |part| {
        String::from_utf8_lossy(part).into_owned()
    })
}

/// Masks a span of a file, even if the span cuts a secret in two, which is why the whole file is
/// needed. `decode` turns the bytes between secrets into text.
pub fn mask_span(file: &[u8], span: Range<usize>, decode: impl Fn(&[u8]) -> String) -> Masked {
    let end = span.end.min(file.len());
    let mut start = span.start.min(end);
    let mut shown = Masked {
        text: String::new(),
        masked: 0,
    };
    for secret in find_secrets(file) {
        if secret.range.end <= start || secret.range.start >= end {
            continue;
        }
        let before = file.get(start..secret.range.start).unwrap_or_default();
        shown.text.push_str(&decode(before));
        shown.text.push_str(&mark(secret.rule));
        shown.masked += 1;
        start = secret.range.end.min(end);
    }
    shown.text.push_str(&decode(&file[start..end]));
    shown
}

/// Masks the lines of a diff that belong to a multi-line credential in one of its files. Such a
/// line may be recognisable only by other lines of the file, such as a key's header.
pub fn mask_diff(diff: Masked, files: &[Vec<u8>]) -> Masked {
    let mut hidden = HashMap::new();
    for file in files {
        for secret in find_secrets(file) {
            for line in credential_lines(file, &secret.range) {
                hidden.insert(line, secret.rule);
            }
        }
    }
    if hidden.is_empty() {
        return diff;
    }
    let mut shown = Masked {
        text: String::with_capacity(diff.text.len()),
        masked: diff.masked,
    };
    for line in diff.text.split_inclusive('\n') {
        let words = line.trim_end_matches(['\n', '\r']);
        let side = words.get(..1).filter(|it| matches!(*it, " " | "+" | "-"));
        match side.and_then(|side| Some((side, hidden.get(words.get(side.len()..)?.as_bytes())?))) {
            Some((side, rule)) => {
                shown.text.push_str(side);
                shown.text.push_str(&mark(rule));
                shown.text.push_str(&line[words.len()..]);
                shown.masked += 1;
            }
            None => shown.text.push_str(line),
        }
    }
    shown
}

/// The lines of a multi-line credential, each without its line end.
fn credential_lines<'f>(file: &'f [u8], range: &Range<usize>) -> impl Iterator<Item = &'f [u8]> {
    let secret = file.get(range.clone()).unwrap_or_default();
    let is_long = memchr::memchr(b'\n', secret).is_some();
    let lines = if is_long { secret } else { &[] };
    let lines = lines.split(|it| *it == b'\n');
    lines
        .map(|it| it.strip_suffix(b"\r").unwrap_or(it))
        .filter(|it| !it.trim_ascii().is_empty())
}

fn mark(rule: &'static str) -> String {
    format!("{MARK}{}]", bare_name(rule))
}
