//! A correction that can be read off a changed line: `4093 → 4096`.

use std::ops::Range;

use engram_model::{DiffSide, SourceLine};

use crate::compare::{ComparisonRow, comparison_rows};

/// Longest value that is suggested, in bytes.
const MAX_VALUE: usize = 60;
/// Units that a claim may write directly after a number.
const UNITS: &[&str] = &[
    "ns", "us", "µs", "ms", "s", "m", "h", "d", "b", "k", "kb", "mb", "gb", "kib", "mib", "gib",
    "x", "px",
];

/// A claim with one value replaced by what the line says now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The value that the claim gives.
    pub old: String,
    /// The value that the line gives now.
    pub new: String,
    /// The claim with the new value.
    pub claim: String,
    /// Whether the rest of the claim may depend on the value, so that a person must read it again.
    pub says_more: bool,
}

/// Words that give a number, or begin what follows from it.
const MORE: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "twenty", "thirty", "forty", "fifty", "sixty", "hundred", "thousand",
    "million", "dozen", "half", "once", "twice", "double", "triple", "so", "because",
];

/// Whether a part of a claim beside the value has another number, or says what follows from it.
fn says_more(part: &str) -> bool {
    let is_more = |word: &str| MORE.contains(&word.to_lowercase().as_str());
    part.contains(|it: char| it.is_numeric() || it == ';')
        || part.split(|it: char| !it.is_alphanumeric()).any(is_more)
}

/// Returns the correction that the changes suggest: on the pinned lines one number, version or
/// quoted word changed, and the claim contains the old one exactly once. If several such values
/// changed, none is suggested.
pub fn suggestion_for(claim: &str, changes: &[SourceLine]) -> Option<Suggestion> {
    let mut values: Vec<(&str, &str, Range<usize>)> = Vec::new();
    for row in comparison_rows(changes) {
        let ComparisonRow::Pair(pair) = row else {
            continue;
        };
        let (Some(then), Some(now)) = (pair.then, pair.now) else {
            continue;
        };
        if then.side != DiffSide::Removed || !then.marked {
            continue;
        }
        let Some((old, new)) = changed_value(&then.text, &now.text) else {
            continue;
        };
        let Some(place) = only_place(claim, old) else {
            continue;
        };
        if !values.iter().any(|it| (it.0, it.1) == (old, new)) {
            values.push((old, new, place));
        }
    }
    let [(old, new, place)] = values.as_slice() else {
        return None;
    };
    let (before, after) = (&claim[..place.start], &claim[place.end..]);
    Some(Suggestion {
        old: (*old).to_owned(),
        new: (*new).to_owned(),
        claim: format!("{before}{new}{after}"),
        says_more: says_more(before) || says_more(after),
    })
}

/// Returns the one correction that the changes of all edited sources suggest. A correction pins each
/// of these sources as it is now, so each must show the new value.
pub fn common_suggestion(claim: &str, sources: &[&[SourceLine]]) -> Option<Suggestion> {
    let suggested = sources.iter().filter_map(|it| suggestion_for(claim, it));
    let mut found: Vec<Suggestion> = suggested.collect();
    found.dedup();
    let one = found.pop().filter(|_| found.is_empty())?;
    sources.iter().all(|it| shows(it, &one.new)).then_some(one)
}

/// Whether a line contains this value now, as a whole word.
fn shows(changes: &[SourceLine], value: &str) -> bool {
    let now = changes.iter().filter(|it| it.side != DiffSide::Removed);
    now.flat_map(|line| line.text.match_indices(value).map(move |it| (line, it.0)))
        .any(|(line, at)| is_whole(&line.text, &(at..at + value.len())))
}

/// Returns the one value in which two lines differ, as it was and as it is.
fn changed_value<'a>(then: &'a str, now: &'a str) -> Option<(&'a str, &'a str)> {
    let alike = |(a, b): &(char, char)| a == b;
    let start = then.chars().zip(now.chars()).take_while(alike);
    let start: usize = start.map(|(it, _)| it.len_utf8()).sum();
    let rest = then[start..].chars().rev().zip(now[start..].chars().rev());
    let end: usize = rest.take_while(alike).map(|(it, _)| it.len_utf8()).sum();
    let (before, after) = (&then[..start], &then[then.len() - end..]);
    let widened = |left: usize, right: usize| {
        let (from, until) = (start - left, end - right);
        (
            &then[from..then.len() - until],
            &now[from..now.len() - until],
        )
    };
    for joins in ["._-", "._", ""] {
        let is_part = |it: &char| it.is_alphanumeric() || joins.contains(*it);
        let left: usize = before
            .chars()
            .rev()
            .take_while(is_part)
            .map(char::len_utf8)
            .sum();
        let right: usize = after.chars().take_while(is_part).map(char::len_utf8).sum();
        let (old, new) = trim_both(widened(left, right));
        if is_number(old) && is_number(new) {
            return Some((old, new));
        }
    }
    let left = before.rfind(['"', '\'', '`'])?;
    let quote = before[left..].chars().next()?;
    let right = after.find(quote)?;
    let (old, new) = widened(before.len() - left - quote.len_utf8(), right);
    (is_word(old) && is_word(new)).then_some((old, new))
}

/// Removes the signs that both values begin or end with.
fn trim_both<'a>((mut old, mut new): (&'a str, &'a str)) -> (&'a str, &'a str) {
    for sign in ['.', '_', '-'] {
        while let (Some(a), Some(b)) = (old.strip_prefix(sign), new.strip_prefix(sign)) {
            (old, new) = (a, b);
        }
        while let (Some(a), Some(b)) = (old.strip_suffix(sign), new.strip_suffix(sign)) {
            (old, new) = (a, b);
        }
    }
    (old, new)
}

/// Whether a text is a number or a version: `4096`, `1_000`, `15.3.1`, `v2`, `0x1f`, `2026-12-01`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('v').unwrap_or(text);
    text.len() <= MAX_VALUE
        && digits.starts_with(|it: char| it.is_ascii_digit())
        && digits.ends_with(|it: char| it.is_ascii_alphanumeric())
}

/// Whether a quoted text is one word.
fn is_word(text: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || "._-/:+".contains(it);
    (1..=MAX_VALUE).contains(&text.len()) && text.chars().all(is_part)
}

/// Returns where a claim contains a value as a whole word, if it does exactly once.
fn only_place(claim: &str, value: &str) -> Option<Range<usize>> {
    let places = claim
        .match_indices(value)
        .map(|(at, _)| at..at + value.len());
    let mut whole = places.filter(|it| is_whole(claim, it));
    let first = whole.next()?;
    whole.next().is_none().then_some(first)
}

/// Whether a value stands alone: it is not a part of a longer word, number or version.
fn is_whole(claim: &str, place: &Range<usize>) -> bool {
    let (before, after) = (&claim[..place.start], &claim[place.end..]);
    let goes_on = |mut chars: Box<dyn Iterator<Item = char> + '_>| match chars.next() {
        Some(next) if next.is_alphanumeric() || next == '_' => true,
        Some('.' | '-' | ',') => chars.next().is_some_and(|it| it.is_ascii_digit()),
        _ => false,
    };
    let unit = after.split(|it: char| !it.is_alphanumeric()).next();
    let is_number = claim[place.clone()].ends_with(|it: char| it.is_ascii_digit());
    let has_unit = is_number && unit.is_some_and(|it| UNITS.contains(&it.to_lowercase().as_str()));
    !goes_on(Box::new(before.chars().rev())) && (has_unit || !goes_on(Box::new(after.chars())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as a comparison has them: ` same`, `-removed` (pinned), `+added`.
    fn lines(texts: &[&str]) -> Vec<SourceLine> {
        let line = |text: &&str| SourceLine {
            side: match text.chars().next() {
                Some('-') => DiffSide::Removed,
                Some('+') => DiffSide::Added,
                _ => DiffSide::Both,
            },
            marked: !text.starts_with('+'),
            text: text[1..].to_owned(),
            ..SourceLine::default()
        };
        texts.iter().map(line).collect()
    }

    #[test]
    fn a_value_that_changed_on_the_line_is_suggested() {
        for (claim, changes, want) in [
            (
                "A cookie has at most 4093 bytes.",
                &["-    MAX_COOKIE_SIZE = 4093", "+    MAX_COOKIE_SIZE = 4096"][..],
                Some(("4093", "4096", "A cookie has at most 4096 bytes.")),
            ),
            (
                "We use PostgreSQL 15.3.",
                &["-image: postgres:15.3", "+image: postgres:15.4"],
                Some(("15.3", "15.4", "We use PostgreSQL 15.4.")),
            ),
            (
                "The pause is 30s, then it retries.",
                &["-pause = 30", "+pause = 45"],
                Some(("30", "45", "The pause is 45s, then it retries.")),
            ),
            (
                "Passwords are hashed with argon2.",
                &["-hash = \"argon2\"", "+hash = \"bcrypt\""],
                Some(("argon2", "bcrypt", "Passwords are hashed with bcrypt.")),
            ),
            (
                "Retries are 3, as the größe says.",
                &[
                    " fn größe() {",
                    "-    größe(3)",
                    "+    größe(12)",
                    "+    more()",
                ],
                Some(("3", "12", "Retries are 12, as the größe says.")),
            ),
            (
                "The release is on 2026-12-01.",
                &["-release = 2026-12-01", "+release = 2026-12-15"],
                Some(("2026-12-01", "2026-12-15", "The release is on 2026-12-15.")),
            ),
            // Another value changed too, but the claim says nothing about it.
            (
                "The port is 8080.",
                &[
                    "-port = 8080",
                    "-year = 2025",
                    "+port = 9090",
                    "+year = 2026",
                ],
                Some(("8080", "9090", "The port is 9090.")),
            ),
        ] {
            let found = suggestion_for(claim, &lines(changes));
            let found = found.as_ref().map(|it| (&*it.old, &*it.new, &*it.claim));
            assert_eq!(found, want, "{claim}");
        }
    }

    #[test]
    fn what_may_follow_from_the_value_is_noticed() {
        let changes = lines(&["-limit = 50", "+limit = 60"]);
        for (claim, want) in [
            ("A batch has at most 50 lines.", false),
            ("Also the sofa holds 50s.", false),
            ("A batch has at most 50 lines; the rest waits.", true),
            ("At most 50 lines, and the 51st add raises.", true),
            ("It is 50, so the app syncs twice a minute.", true),
            ("Because of memory, it is 50.", true),
            ("Two workers share 50 lines.", true),
        ] {
            let found = suggestion_for(claim, &changes).map(|it| it.says_more);
            assert_eq!(found, Some(want), "{claim}");
        }
    }

    #[test]
    fn each_edited_source_must_show_the_value_that_is_suggested() {
        let code = lines(&["-MAX = 4093", "+MAX = 4096"]);
        for (other, want) in [
            (&["-at most 4093 bytes", "+at most 4096 bytes"][..], true),
            (&["-at most 4093 bytes", "+no limit"], false),
            (&["-at most 4093 bytes", "+at most 14096 bytes"], false),
            (&["-at most 4093 bytes", "+at most 5000 bytes"], false),
            (&[" MAX = 4096", "-# old", "+# new"], true),
        ] {
            let other = lines(other);
            let found = common_suggestion("It has at most 4093 bytes.", &[&code, &other]);
            assert_eq!(found.is_some(), want, "{other:?}");
        }
        assert!(common_suggestion("It has at most 4093 bytes.", &[&code]).is_some());
    }

    #[test]
    fn what_cannot_be_read_off_is_not_suggested() {
        for (claim, changes) in [
            // The old value is not in the claim, or more than once, or within a longer one.
            ("It waits.", &["-pause = 30", "+pause = 45"][..]),
            ("30 tries, 30 seconds.", &["-pause = 30", "+pause = 45"]),
            ("Version 1.30 waits.", &["-pause = 30", "+pause = 45"]),
            ("The limit is 30,000.", &["-pause = 30", "+pause = 45"]),
            ("Item x30y waits.", &["-pause = 30", "+pause = 45"]),
            // More than a value changed.
            ("The pause is 30.", &["-pause = 30", "+delay = 45"]),
            ("The pause is 30.", &["-pause = 30"]),
            ("The pause is 30.", &["+pause = 45"]),
            ("It is the first.", &["-use first", "+use second"]),
            (
                "It is two words.",
                &["-a = \"two words\"", "+a = \"three words\""],
            ),
            // Two values changed, and the claim has both.
            ("From 1 to 9.", &["-a = 1", "-b = 9", "+a = 2", "+b = 8"]),
            ("", &["-a = 1", "+a = 2"]),
            ("é", &["-é", "+è"]),
        ] {
            assert_eq!(suggestion_for(claim, &lines(changes)), None, "{claim}");
        }
        // Only pinned lines count.
        let mut beside = lines(&["-pause = 30", "+pause = 45"]);
        beside[0].marked = false;
        assert_eq!(suggestion_for("The pause is 30.", &beside), None);
    }
}
