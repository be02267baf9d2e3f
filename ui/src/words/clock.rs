//! Times as a person says them.

use engram_model::Engram;
use jiff::{Timestamp, tz::Offset};

use super::State;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

fn month(number: i8) -> &'static str {
    MONTHS[usize::from(number.unsigned_abs().saturating_sub(1)).min(11)]
}

/// The person's clock: the time now and how far local time is from UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Now.
    pub now: Timestamp,
    /// Local time minus UTC.
    pub offset: Offset,
}

impl Clock {
    /// Makes a clock from milliseconds since 1970 and the minutes that local time is ahead of UTC.
    pub fn new(millis: f64, ahead_minutes: f64) -> Self {
        Self {
            now: Timestamp::from_millisecond(millis as i64).unwrap_or(Timestamp::UNIX_EPOCH),
            offset: Offset::from_seconds((ahead_minutes * 60.0) as i32).unwrap_or(Offset::UTC),
        }
    }

    /// How long ago, for a row: `now`, `4 min`, `3 h`, then the day, then the month. After ten
    /// minutes, it advances in steps of five: each change draws a frame, and an idle window should
    /// draw little.
    pub fn ago(&self, at: Timestamp) -> String {
        match self.now.as_second().saturating_sub(at.as_second()) {
            ..60 => "now".to_owned(),
            seconds @ 60..600 => format!("{} min", seconds / 60),
            seconds @ 600..3_600 => format!("{} min", seconds / 300 * 5),
            seconds @ 3_600..86_400 => format!("{} h", seconds / 3_600),
            _ if self.same_year(at) => self.day(at),
            _ => {
                let date = self.offset.to_datetime(at);
                format!("{} {}", month(date.month()), date.year())
            }
        }
    }

    /// How long ago, in a sentence about something that has just happened: `5 s ago`, `4 min ago`,
    /// `on 27 Nov`.
    pub fn exactly_ago(&self, at: Timestamp) -> String {
        match self.now.as_second().saturating_sub(at.as_second()) {
            seconds @ ..60 => format!("{} s ago", seconds.max(0)),
            60..86_400 => format!("{} ago", self.ago(at)),
            _ => format!("on {}", self.day(at)),
        }
    }

    /// The day: `27 Nov`, with the year if it is not the current one.
    pub fn day(&self, at: Timestamp) -> String {
        let date = self.offset.to_datetime(at);
        let month = month(date.month());
        if self.same_year(at) {
            format!("{} {month}", date.day())
        } else {
            format!("{} {month} {}", date.day(), date.year())
        }
    }

    fn same_year(&self, at: Timestamp) -> bool {
        self.offset.to_datetime(at).year() == self.offset.to_datetime(self.now).year()
    }

    /// Day and time to the minute: `27 Nov, 14:03`.
    pub fn moment(&self, at: Timestamp) -> String {
        let time = self.offset.to_datetime(at);
        format!("{}, {:02}:{:02}", self.day(at), time.hour(), time.minute())
    }

    /// The time to the minute, `14:03`; for midnight, the day that begins.
    pub fn time_or_day(&self, at: Timestamp) -> String {
        let time = self.offset.to_datetime(at);
        match (time.hour(), time.minute()) {
            (0, 0) => self.day(at),
            (hour, minute) => format!("{hour:02}:{minute:02}"),
        }
    }

    /// The month, `Nov`; for January, the year that begins.
    pub fn month_or_year(&self, at: Timestamp) -> String {
        let date = self.offset.to_datetime(at);
        match date.month() {
            1 => date.year().to_string(),
            number => month(number).to_owned(),
        }
    }

    /// How long until a time that is ahead, rounded down: `5 min`, `3 h`, `2 days`.
    pub fn until(&self, at: Timestamp) -> String {
        match at.as_second().saturating_sub(self.now.as_second()) {
            ..60 => "less than 1 min".to_owned(),
            seconds @ 60..3_600 => format!("{} min", seconds / 60),
            seconds @ 3_600..172_800 => format!("{} h", seconds / 3_600),
            seconds => format!("{} days", seconds / 86_400),
        }
    }

    /// Day and time to the second, with the year.
    pub fn exactly(&self, at: Timestamp) -> String {
        let time = self.offset.to_datetime(at);
        let (day, month, year) = (time.day(), month(time.month()), time.year());
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        format!("{day} {month} {year}, {hour:02}:{minute:02}:{second:02}")
    }

    /// The time if that was today (`14:03`), else with its day.
    pub fn lately(&self, at: Timestamp) -> String {
        let moment = self.moment(at);
        if self.day(at) == self.day(self.now) {
            moment.rsplit(' ').next().unwrap_or_default().to_owned()
        } else {
            moment
        }
    }

    /// The day of a time that is ahead; within two days, with the time.
    fn day_or_moment(&self, at: Timestamp) -> String {
        if at.as_second() - self.now.as_second() < 172_800 {
            self.moment(at)
        } else {
            self.day(at)
        }
    }

    /// The label and the value of the window in which a claim holds.
    pub fn window(&self, engram: &Engram, state: State) -> (&'static str, String) {
        match (state, engram.valid_until, engram.expires_at) {
            (State::Held, Some(until), _) => ("held until", self.moment(until)),
            (State::Holds | State::Held, _, Some(end)) => ("holds until", self.day_or_moment(end)),
            (State::Holds | State::Held, _, None) => ("holds", "until replaced".to_owned()),
            (State::Expired, _, Some(end)) => ("held until", self.moment(end)),
            (_, Some(until), _) => ("held until", self.moment(until)),
            _ => ("no longer", "holds".to_owned()),
        }
    }

    /// The label and the value of what is known about the end of a claim.
    pub fn validity(&self, until: Option<Timestamp>) -> (&'static str, String) {
        match until {
            None => ("holds", "until replaced".to_owned()),
            Some(end) if end > self.now => ("holds until", self.day_or_moment(end)),
            Some(end) => ("held until", self.moment(end)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times_are_said_shortly() {
        let clock = Clock::new(1_800_000_000_000.0, 120.0); // 2027-01-15 08:00 UTC, 10:00 local
        for (seconds, want) in [
            (-30, "now"),
            (0, "now"),
            (59, "now"),
            (60, "1 min"),
            (599, "9 min"),
            (600, "10 min"),
            (899, "10 min"),
            (900, "15 min"),
            (3_599, "55 min"),
            (3_600, "1 h"),
            (86_399, "23 h"),
            (86_400, "14 Jan"),
            (20 * 86_400, "Dec 2026"),
        ] {
            let at = Timestamp::from_second(1_800_000_000 - seconds).unwrap();
            assert_eq!(clock.ago(at), want, "{seconds} s ago");
        }
        for (seconds, want) in [
            (-30, "0 s ago"),
            (5, "5 s ago"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (7_200, "2 h ago"),
            (86_400, "on 14 Jan"),
        ] {
            let at = Timestamp::from_second(1_800_000_000 - seconds).unwrap();
            assert_eq!(clock.exactly_ago(at), want, "{seconds} s ago");
        }
        let midnight: Timestamp = "2027-01-14T23:30:00Z".parse().unwrap();
        assert_eq!(clock.moment(midnight), "15 Jan, 01:30");
        assert_eq!(clock.lately(midnight), "01:30");
        assert_eq!(
            clock.lately(midnight - jiff::SignedDuration::from_hours(2)),
            "14 Jan, 23:30"
        );
        assert_eq!(
            Clock::new(f64::NAN, f64::INFINITY).ago(Timestamp::UNIX_EPOCH),
            "now"
        );
    }
}
