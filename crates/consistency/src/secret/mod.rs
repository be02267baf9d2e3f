//! The secret screen: finds the parts of a text that are credentials.
//!
//! Most texts contain no rule's keyword and take one pass. The time is linear in the length.

mod bare;
mod mask;
mod own;
mod readings;
mod rules;
mod value;

use std::ops::Range;

use memchr::memmem;

use bare::random_string;
use rules::is_bare_name;

pub use mask::{Masked, mask, mask_diff, mask_span};

/// A part of a text that looks like a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMatch {
    /// What it looks like, with its article: `a GitHub token`. Never the secret itself.
    pub rule: &'static str,
    /// Its range in bytes.
    pub range: Range<usize>,
}

/// Finds the first credential in a text; of two at one place, the one with the more specific rule.
/// A random string that stands alone counts, unlike in a file.
pub fn screen(text: &str) -> Option<SecretMatch> {
    let bytes = text.as_bytes();
    screen_bytes(bytes).or_else(|| random_string(bytes))
}

/// Finds the first credential in bytes that need not be text, such as the snapshot of a file.
/// Examines every byte, as UTF-8, UTF-16, UTF-32 and any other encoding that contains ASCII.
pub fn screen_bytes(bytes: &[u8]) -> Option<SecretMatch> {
    unmasked_parts(bytes).find_map(|piece| search_piece(bytes, &piece).into_iter().next())
}

/// Finds every credential in a text or in the bytes of a file, in order and without overlaps.
///
/// The rest contains none: a part that was hidden by a credential is searched again.
pub fn find_secrets(bytes: &[u8]) -> Vec<SecretMatch> {
    let mut open: Vec<_> = unmasked_parts(bytes).map(|piece| (piece, 0)).collect();
    let mut all = Vec::new();
    while let Some((piece, depth)) = open.pop() {
        let found = search_piece(bytes, &piece);
        let Some(first) = found.first() else { continue };
        if depth == DEEPEST {
            let rule = first.rule;
            all.push(SecretMatch { rule, range: piece });
            continue;
        }
        let mut start = piece.start;
        for secret in &found {
            open.push((start..secret.range.start, depth + 1));
            start = secret.range.end;
        }
        open.push((start..piece.end, depth + 1));
        all.extend(found);
    }
    all.sort_by_key(|secret| secret.range.start);
    all
}

/// The number of times that a secret may hide in another before the rest counts as one secret. Only
/// crafted text gets this far, and the time stays linear.
const DEEPEST: u32 = 4;

/// A mark starts like this and ends with a bracket.
pub(crate) const MARK: &str = "[masked: ";
const MAX_MARK: usize = 100;

/// The parts of a text between existing marks, which contain only the name of a rule. No match
/// extends across a mark, so that masking twice changes nothing.
fn unmasked_parts(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let mut marks = memmem::find_iter(bytes, MARK);
    let mut done = false;
    std::iter::from_fn(move || {
        for mark in marks.by_ref() {
            let name = mark + MARK.len();
            let rest = &bytes[name..bytes.len().min(name + MAX_MARK)];
            let end = rest.iter().position(|b| b"[]\n".contains(b));
            let is_mark = |end: &usize| rest[*end] == b']' && is_bare_name(&rest[..*end]);
            if let Some(end) = end.filter(is_mark) {
                let piece = start..mark;
                start = name + end + 1;
                return Some(piece);
            }
        }
        (!std::mem::replace(&mut done, true)).then_some(start..bytes.len())
    })
}

/// Searches one piece once. A match never cuts a character in two.
fn search_piece(bytes: &[u8], piece: &Range<usize>) -> Vec<SecretMatch> {
    let mut found = readings::search_views(&bytes[piece.clone()]);
    for secret in &mut found {
        let Range { start, end } = &mut secret.range;
        *start += piece.start;
        *end += piece.start;
        while *start > piece.start && is_continuation(bytes, *start) {
            *start -= 1;
        }
        while *end < piece.end && is_continuation(bytes, *end) {
            *end += 1;
        }
    }
    merge_overlaps(found)
}

/// Whether there is a UTF-8 continuation byte here.
fn is_continuation(bytes: &[u8], at: usize) -> bool {
    let is = |at: usize| bytes.get(at).is_some_and(|b| (0x80..0xC0).contains(b));
    // No character has more than three; a longer run is not UTF-8.
    is(at) && !(at >= 3 && is(at - 1) && is(at - 2) && is(at - 3))
}

/// Overlapping secrets count as one, named after the first.
pub(crate) fn merge_overlaps(mut found: Vec<SecretMatch>) -> Vec<SecretMatch> {
    found.sort_by_key(|secret| secret.range.start);
    found.dedup_by(|next, last| {
        let overlap = next.range.start < last.range.end;
        if overlap {
            last.range.end = last.range.end.max(next.range.end);
        }
        overlap
    });
    found
}

#[cfg(test)]
mod tests;
