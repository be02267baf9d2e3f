//! Units: what a number counts, and the factor for comparing it with another unit of
//! the same dimension. 1 MiB is not 1 MB, and a byte is eight bits.

use super::number::{Ratio, ten_to};

/// What a quantity measures. Only quantities of one dimension are ever compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    /// A bare number, or things that are counted.
    Count,
    /// Seconds.
    Time,
    /// Bits.
    Data,
    /// Things per second.
    Rate,
    /// Bits per second.
    DataRate,
    /// Parts of one: percent.
    Share,
    /// Pixels.
    Pixels,
    /// Hertz.
    Frequency,
    /// Money, by its currency sign.
    Money(char),
}

impl Dimension {
    /// The name of the base unit, as in the record's `unit`; its `value` is counted in this unit.
    pub fn base(self) -> Option<&'static str> {
        match self {
            Self::Count | Self::Share => None,
            Self::Time => Some("s"),
            Self::Data => Some("bit"),
            Self::Rate => Some("1/s"),
            Self::DataRate => Some("bit/s"),
            Self::Pixels => Some("px"),
            Self::Frequency => Some("Hz"),
            Self::Money('$') => Some("USD"),
            Self::Money('£') => Some("GBP"),
            Self::Money(_) => Some("EUR"),
        }
    }

    /// The dimension of such a quantity per second, if it has one.
    pub(crate) fn per_second(self) -> Option<Self> {
        match self {
            Self::Count => Some(Self::Rate),
            Self::Data => Some(Self::DataRate),
            _ => None,
        }
    }
}

/// The value of one unit in the base unit of its dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// How many base units it is worth.
    pub worth: Ratio,
}

impl Unit {
    /// The period of a rate in seconds: 60 for `rpm`.
    pub(crate) fn window(self) -> Option<Ratio> {
        match self.dimension {
            Dimension::Rate => Ratio::whole(1).divided_by(self.worth),
            Dimension::DataRate => Some(Ratio::whole(1)),
            _ => None,
        }
    }

    /// Whether it is a month or a year, which differ in length: 30 days are about a month.
    pub(crate) fn is_calendar(self) -> bool {
        const MONTH: i64 = 2_600_000;
        self.dimension == Dimension::Time && self.worth.compare(Ratio::whole(MONTH)).is_gt()
    }
}

/// Times with all their spellings: (spellings, seconds over, seconds under).
const TIMES: &[(&[&str], i128, i128)] = &[
    (&["ns", "nanosecond", "nanoseconds"], 1, 1_000_000_000),
    (
        &["us", "µs", "μs", "microsecond", "microseconds"],
        1,
        1_000_000,
    ),
    (
        &[
            "ms",
            "msec",
            "msecs",
            "millis",
            "millisecond",
            "milliseconds",
        ],
        1,
        1000,
    ),
    (&["s", "sec", "secs", "second", "seconds"], 1, 1),
    (&["min", "mins", "minute", "minutes"], 60, 1),
    (&["h", "hr", "hrs", "hour", "hours"], 3600, 1),
    (&["d", "day", "days"], 86_400, 1),
    (&["w", "wk", "week", "weeks"], 604_800, 1),
    (&["fortnight", "fortnights"], 1_209_600, 1),
];

/// Months and years differ in length; here a year has 365.2425 days, a month a twelfth of them.
const CALENDAR: &[(&[&str], i128)] = &[
    (&["month", "months"], 2_629_746),
    (&["quarter-year"], 7_889_238),
    (&["year", "years", "yr", "yrs"], 31_556_952),
];

/// The unit with this name. `MB` is not `Mb`, but `mb` means megabytes, since nobody means
/// millibits.
pub fn unit(name: &str) -> Option<Unit> {
    let lower = name.to_lowercase();
    let of = |dimension, worth| Some(Unit { dimension, worth });
    if let Some((_, over, under)) = TIMES.iter().find(|it| it.0.contains(&lower.as_str())) {
        return of(Dimension::Time, Ratio::new(*over, *under)?);
    }
    if let Some((_, seconds)) = CALENDAR.iter().find(|it| it.0.contains(&lower.as_str())) {
        return of(Dimension::Time, Ratio::new(*seconds, 1)?);
    }
    match lower.as_str() {
        "m" if name == "m" => of(Dimension::Time, Ratio::whole(60)),
        "%" | "percent" | "per-cent" => of(Dimension::Share, Ratio::new(1, 100)?),
        "px" | "pixel" | "pixels" => of(Dimension::Pixels, Ratio::whole(1)),
        "hz" | "hertz" => of(Dimension::Frequency, Ratio::whole(1)),
        "khz" => of(Dimension::Frequency, ten_to(3)?),
        "mhz" => of(Dimension::Frequency, ten_to(6)?),
        "ghz" => of(Dimension::Frequency, ten_to(9)?),
        "rps" | "qps" | "tps" | "ops" => of(Dimension::Rate, Ratio::whole(1)),
        "rpm" => of(Dimension::Rate, Ratio::new(1, 60)?),
        "usd" | "dollar" | "dollars" => of(Dimension::Money('$'), Ratio::whole(1)),
        "eur" | "euro" | "euros" => of(Dimension::Money('€'), Ratio::whole(1)),
        "gbp" => of(Dimension::Money('£'), Ratio::whole(1)),
        _ => data_unit(name, &lower),
    }
}

/// Bits and bytes by their decimal and binary prefixes.
fn data_unit(name: &str, lower: &str) -> Option<Unit> {
    const WORDS: [(&str, i32, bool); 6] = [
        ("", 0, false),
        ("kilo", 1, false),
        ("mega", 2, false),
        ("giga", 3, false),
        ("tera", 4, false),
        ("peta", 5, false),
    ];
    let (stem, per_second) = match lower.strip_suffix("ps") {
        Some(stem) if stem.ends_with('b') => (stem, true),
        _ => (lower, false),
    };
    let words = [("bytes", 8), ("byte", 8), ("bits", 1), ("bit", 1)];
    let in_words = words
        .into_iter()
        .find_map(|(word, bits)| Some((stem.strip_suffix(word)?, bits)));
    let (prefix, bits) = if let Some(found) = in_words {
        found
    } else {
        let prefix = stem.strip_suffix('b')?;
        // A small b after a capital prefix is a bit: Mb; many write bytes as mb in lower case.
        let small = name.trim_end_matches("ps").ends_with('b');
        let capital = name.starts_with(|it: char| it.is_ascii_uppercase());
        (
            prefix,
            if small && (capital || per_second) {
                1
            } else {
                8
            },
        )
    };
    let word = WORDS
        .iter()
        .find(|it| it.0 == prefix)
        .map(|it| (it.1, it.2));
    let (power, of_two) = word.or_else(|| short_prefix(prefix))?;
    if prefix.is_empty() && name.len() == 1 && name == "b" {
        return None;
    }
    let worth = if of_two {
        Ratio::new(1024_i128.checked_pow(power.unsigned_abs())?, 1)?
    } else {
        ten_to(power * 3)?
    };
    Some(Unit {
        dimension: if per_second {
            Dimension::DataRate
        } else {
            Dimension::Data
        },
        worth: worth.times(Ratio::whole(bits))?,
    })
}

/// `k`, `Mi`: the power of the step, and whether the step is 1024.
fn short_prefix(prefix: &str) -> Option<(i32, bool)> {
    let of_two = prefix
        .strip_suffix("ibi")
        .or(prefix.strip_suffix("ebi"))
        .or(prefix.strip_suffix('i'));
    let (letter, of_two) = (of_two.unwrap_or(prefix), of_two.is_some());
    let power = match letter {
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    Some((power, of_two))
}

/// Reads a time in several units without a space: `1h30m`, `2m30s`, in seconds.
pub(crate) fn read_compound_time(text: &str) -> Option<Ratio> {
    let (mut rest, mut total, mut last) = (text, Ratio::whole(0), None::<Ratio>);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at_checked(digits)?;
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, after) = after.split_at_checked(letters)?;
        let unit = unit(name).filter(|it| it.dimension == Dimension::Time)?;
        if last.is_some_and(|it| !unit.worth.compare(it).is_lt()) {
            return None;
        }
        total = total.plus(unit.worth.times(Ratio::whole(number.parse().ok()?))?)?;
        // A single part is a number with its unit.
        if last.is_none() && after.is_empty() {
            return None;
        }
        (rest, last) = (after, Some(unit.worth));
    }
    last.map(|_| total)
}

/// Reads a frequency in one word, as the seconds between two times.
pub(crate) fn period(word: &str) -> Option<Ratio> {
    let seconds = match word {
        "hourly" => 3600,
        "daily" | "nightly" => 86_400,
        "weekly" => 604_800,
        _ => return None,
    };
    Some(Ratio::whole(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_worth_what_they_are() {
        let worth = |name: &str| unit(name).map(|it| it.worth.as_f64());
        assert_eq!(worth("MiB"), Some(8.0 * 1024.0 * 1024.0));
        assert_eq!(worth("MB"), Some(8e6));
        assert_eq!(worth("mb"), Some(8e6));
        assert_eq!(worth("Mbit"), Some(1e6));
        assert_eq!(worth("Gbps"), Some(1e9));
        assert_eq!(worth("gigabytes"), Some(8e9));
        assert_eq!(worth("kibibyte"), Some(8192.0));
        assert_eq!(worth("minutes"), Some(60.0));
        assert_eq!(worth("replicas"), None);
        assert_eq!(worth("b"), None);
    }
}
