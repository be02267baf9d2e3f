//! Parses times as people write them, and defines the time of the journal.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

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
