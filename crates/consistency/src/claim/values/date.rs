//! Dates as claims write them: a day, a month, a quarter or a year, each a span of days. A date
//! that does not exist is not read as a date.

use jiff::{ToSpan, civil::Date};

/// A span of days, both ends inclusive: one day, or all of March 2026.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Days {
    /// The first.
    pub first: Date,
    /// The last.
    pub last: Date,
}

impl Days {
    /// Whether one span is within the other: "March 2026" and "2026-03-15" may be the same day.
    pub fn may_be(self, other: Self) -> bool {
        let within = |it: Self, by: Self| by.first <= it.first && it.last <= by.last;
        within(self, other) || within(other, self)
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The month with this name, or with its first three letters unless those are another word.
pub(crate) fn parse_month(word: &str) -> Option<i8> {
    let word = word.to_lowercase();
    let at = MONTHS.iter().position(|it| {
        *it == word
            || (word.len() == 3 && it.starts_with(&word))
            || (word == "sept" && it.starts_with(&word))
    })?;
    i8::try_from(at + 1).ok()
}

/// `2026-03-01`, `2026/03/01` or `2026-03`.
pub(crate) fn parse_iso_days(word: &str) -> Option<Days> {
    let digits =
        |it: &str, length: usize| it.len() == length && it.bytes().all(|it| it.is_ascii_digit());
    let parts: Vec<&str> = word.split(['-', '/']).collect();
    match parts.as_slice() {
        [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2) => {
            one_day(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
        }
        [year, month] if digits(year, 4) && digits(month, 2) => {
            of_months(year.parse().ok()?, month.parse().ok()?, 1)
        }
        _ => None,
    }
}

/// One day.
pub(crate) fn one_day(year: i16, month: i8, day: i8) -> Option<Days> {
    let day = Date::new(year, month, day).ok()?;
    Some(Days {
        first: day,
        last: day,
    })
}

/// A span of `months` months, from the first day of the given month.
pub(crate) fn of_months(year: i16, month: i8, months: i32) -> Option<Days> {
    let first = Date::new(year, month, 1).ok()?;
    let next = first.checked_add(months.months()).ok()?;
    let last = next.yesterday().ok()?;
    Some(Days { first, last })
}

/// Reads a year that a claim about software may mention; other four-digit numbers are plain
/// numbers.
pub(crate) fn parse_year(word: &str) -> Option<i16> {
    let year: i16 = word.parse().ok()?;
    (word.len() == 4 && (1970..=2099).contains(&year)).then_some(year)
}

/// The number of a quarter: `Q3`.
pub(crate) fn parse_quarter(word: &str) -> Option<i8> {
    let number: i8 = word.strip_prefix(['Q', 'q'])?.parse().ok()?;
    (1..=4).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_may_be_of_a_month() {
        let march = of_months(2026, 3, 1).unwrap();
        assert!(march.may_be(parse_iso_days("2026-03-31").unwrap()));
        assert!(!march.may_be(parse_iso_days("2026-04-01").unwrap()));
        assert!(of_months(2026, 1, 3).unwrap().may_be(march));
    }

    #[test]
    fn dates_that_are_none() {
        for text in [
            "2026-02-30",
            "2026-13-01",
            "2026-3-1",
            "26-03-01",
            "2026-00",
            "abc",
            "",
        ] {
            assert_eq!(parse_iso_days(text), None, "{text}");
        }
        assert_eq!(parse_month("mayhem"), None);
        assert_eq!(parse_quarter("Q5"), None);
    }
}
