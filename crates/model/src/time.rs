//! Parses times as people write them, and defines the time of the journal.

use jiff::{Span, Timestamp, civil::Date, tz::TimeZone};

use crate::{Code, Refusal, text::shorten};

/// The time of a journal entry: that of the clock, but never before earlier entries. What begins or
/// ends with an entry uses this time. What ends by itself (a ttl, a rate, a turn) is measured by
/// the clock, a bare [`Timestamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalTime(pub Timestamp);

/// Reads a time with its offset, or a day, which begins at midnight in UTC.
pub fn parse_time(text: &str) -> Result<Timestamp, Refusal> {
    let day = || {
        let date: Date = text.parse().ok()?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    text.parse().ok().or_else(day).ok_or_else(|| {
        Refusal::new(
            Code::SchemaInvalid,
            format!("{:?} is not a time", shorten(text, 40)),
            "Write 2026-01-31 or 2026-01-31T12:00:00Z.",
        )
    })
}

/// Parses a time like [`parse_time`], or one that is relative to now: `yesterday` (a day ago),
/// `2 days ago`, `3h ago`.
pub fn parse_past_time(text: &str, now: Timestamp) -> Result<Timestamp, Refusal> {
    let span: Option<Span> = match text.trim() {
        "now" => Some(Span::new()),
        "yesterday" => "1 day ago".parse().ok(),
        text if text.ends_with("ago") => text.parse().ok(),
        _ => None,
    };
    let ago = |span: Span| {
        let then = now.to_zoned(TimeZone::UTC).checked_add(span).ok()?;
        Some(then.timestamp()).filter(|it| *it <= now)
    };
    match span.map(ago) {
        Some(Some(then)) => Ok(then),
        Some(None) | None => parse_time(text).map_err(|refusal| Refusal {
            hint: "Write yesterday, 2 days ago, 2026-01-31 or 2026-01-31T12:00:00Z.".to_owned(),
            ..refusal
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_a_day_an_instant_or_how_long_ago() {
        let now: Timestamp = "2026-03-02T12:30:00Z".parse().unwrap();
        for (text, want) in [
            ("now", "2026-03-02T12:30:00Z"),
            ("yesterday", "2026-03-01T12:30:00Z"),
            ("2 days ago", "2026-02-28T12:30:00Z"),
            ("3h ago", "2026-03-02T09:30:00Z"),
            (" 1 month ago", "2026-02-02T12:30:00Z"),
            ("2026-01-31", "2026-01-31T00:00:00Z"),
            ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ] {
            let then = parse_past_time(text, now).map(|it| it.to_string());
            assert_eq!(then.as_deref(), Ok(want), "{text}");
        }
        for text in [
            "",
            "ago",
            "some days ago",
            "-2 days ago",
            "tomorrow",
            "99999999 years ago",
        ] {
            assert!(parse_past_time(text, now).is_err(), "{text}");
        }
    }
}
