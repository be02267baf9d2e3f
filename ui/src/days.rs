//! Days and times as a person types them, in the offset of the machine.

use jiff::{
    SignedDuration, Timestamp,
    civil::{Date, DateTime},
    tz::Offset,
};

/// Formats a time for a field of a form, to the second: `2026-11-21T14:03:00`.
pub fn local_time(at: Timestamp, offset: Offset) -> String {
    let at = offset.to_datetime(at);
    format!(
        "{}T{:02}:{:02}:{:02}",
        at.date(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

/// Parses the time in such a field; a year has four digits.
pub fn parse_local_time(text: &str, offset: Offset) -> Option<Timestamp> {
    let at: DateTime = text.parse().ok()?;
    offset.to_timestamp(at).ok().filter(|_| at.year() >= 1_000)
}

/// Returns the midnight at the start of the day `days` before today.
pub fn days_ago(now: Timestamp, days: i64, offset: Offset) -> Option<Timestamp> {
    let today = offset.to_datetime(now).date();
    let date = today
        .checked_sub(jiff::Span::new().try_days(days).ok()?)
        .ok()?;
    offset.to_timestamp(date.at(0, 0, 0, 0)).ok()
}

/// Returns the midnight at the start of a day such as `2026-11-21`; a year has four digits.
pub fn midnight(text: &str, offset: Offset) -> Option<Timestamp> {
    let date: Date = text.parse().ok()?;
    if date.year() < 1_000 {
        return None;
    }
    offset.to_timestamp(date.at(0, 0, 0, 0)).ok()
}

/// Returns the midnight at the end of a day: “until” includes the day.
pub fn end_of_day(text: &str, offset: Offset) -> Option<Timestamp> {
    midnight(text, offset)?.checked_add(DAY).ok()
}

/// Returns the day that ends at this midnight.
pub fn last_day(end: Timestamp, offset: Offset) -> String {
    date_of(end.checked_sub(DAY).unwrap_or(end), offset)
}

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The day of a time.
pub fn date_of(at: Timestamp, offset: Offset) -> String {
    offset.to_datetime(at).date().to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HERE: Offset = Offset::constant(2);

    #[test]
    fn a_field_of_a_time_leads_there_and_back() {
        for (text, want) in [
            ("2026-11-20T10:00:07", Some("2026-11-20T10:00:07")),
            ("2026-11-20T10:00", Some("2026-11-20T10:00:00")),
            ("2026-11-20T10:00:07.25", Some("2026-11-20T10:00:07")),
            ("0002-11-20T10:00", None),
            ("2026-11-20", Some("2026-11-20T00:00:00")),
            ("2026-13-20T10:00", None),
            ("yesterday", None),
            ("", None),
        ] {
            let told = parse_local_time(text, HERE).map(|at| local_time(at, HERE));
            assert_eq!(told.as_deref(), want, "{text}");
        }
        let at: Timestamp = "2026-11-20T23:30:00Z".parse().unwrap();
        assert_eq!(parse_local_time(&local_time(at, HERE), HERE), Some(at));
    }

    #[test]
    fn until_a_day_includes_the_day() {
        let end: Timestamp = "2026-11-21T22:00:00Z".parse().unwrap();
        assert_eq!(end_of_day("2026-11-21", HERE), Some(end));
        assert_eq!(last_day(end, HERE), "2026-11-21");
        let now: Timestamp = "2026-11-20T23:30:00Z".parse().unwrap();
        assert_eq!(date_of(days_ago(now, 0, HERE).unwrap(), HERE), "2026-11-21");
        assert_eq!(days_ago(now, i64::MAX, HERE), None);
    }
}
