//! The texts that bytes can be read as. All credentials are ASCII, so one byte for each character
//! is enough.

use memchr::memchr;

use super::{SecretMatch, merge_overlaps, rules};

/// Not ASCII, and not part of a word.
const OTHER: u8 = 0xFF;

/// Finds matches in all of these texts, with their positions in the bytes.
pub(crate) fn search_views(bytes: &[u8]) -> Vec<SecretMatch> {
    let mut found = rules::search_rules(bytes);
    if memchr(0, bytes).is_none() {
        return found;
    }
    for width in [2, 4] {
        for low in [0, width - 1] {
            let text = narrowed(bytes, width, low);
            found.extend(
                rules::search_rules(&text)
                    .into_iter()
                    .map(|it| SecretMatch {
                        range: it.range.start * width..it.range.end * width,
                        ..it
                    }),
            );
        }
    }
    // Finds text at any offset, such as UTF-16 that starts at an odd position.
    let text: Vec<u8> = bytes.iter().copied().filter(|b| *b != 0).collect();
    found.extend(positions_in_bytes(bytes, rules::search_rules(&text)));
    merge_overlaps(found)
}

/// Reads UTF-16 or UTF-32, with the low byte of each unit first or last.
fn narrowed(bytes: &[u8], width: usize, low: usize) -> Vec<u8> {
    let units = bytes.chunks_exact(width);
    let ascii = units.map(|unit| {
        let high = unit.iter().enumerate().filter(|(at, _)| *at != low);
        if high.into_iter().all(|(_, b)| *b == 0) && unit[low].is_ascii() {
            unit[low]
        } else {
            OTHER
        }
    });
    ascii.collect()
}

/// Converts positions in a text without its zeros to positions in the bytes.
fn positions_in_bytes(bytes: &[u8], mut found: Vec<SecretMatch>) -> Vec<SecretMatch> {
    let mut places = bytes.iter().enumerate().filter(|it| *it.1 != 0).enumerate();
    let mut place = |wanted: usize| places.by_ref().find(|it| it.0 == wanted).map(|it| it.1.0);
    for secret in &mut found {
        let last = secret.range.end - 1;
        let start = place(secret.range.start).unwrap_or_default();
        let end = if last > secret.range.start {
            place(last).unwrap_or(start)
        } else {
            start
        };
        secret.range = start..end + 1;
    }
    found
}
