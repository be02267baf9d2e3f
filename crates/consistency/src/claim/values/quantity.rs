//! Finds the values of a claim among its words: numbers with their units, ranges, versions, dates.

use crate::claim::words::{
    lexicon::{self, Form},
    token::Token,
};

use super::{
    date::{self, Days},
    number::{self, Ratio, WrittenNumber},
    range,
    unit::{self, Dimension, Unit},
    value::{Value, ValueKind},
};

/// A value that starts at a word, and the number of words it takes.
pub(crate) struct FoundValue {
    pub(crate) value: Value,
    /// How many words it takes.
    pub(crate) words: usize,
    /// Later words that are part of it: `requests [per second]`.
    pub(crate) apart: Vec<usize>,
    /// A counted thing written in the same word: `req` of `req/s`.
    pub(crate) thing: Option<String>,
    /// Whether the number stands alone: it may be a version or a label.
    pub(crate) bare: bool,
    /// Whether it is a frequency: "once an hour".
    pub(crate) period: bool,
}

/// The words of a clause, by position.
pub(crate) struct Words<'a>(pub(crate) &'a [Token]);

impl<'a> Words<'a> {
    pub(crate) fn get(&self, at: usize) -> Option<&'a Token> {
        self.0.get(at)
    }

    pub(crate) fn lower(&self, at: usize) -> &'a str {
        self.0.get(at).map_or("", |it| it.lower.as_str())
    }
}

/// The value that starts at this word, if any.
pub(crate) fn value_at(words: &Words<'_>, at: usize) -> Option<FoundValue> {
    read_days(words, at)
        .or_else(|| read_clock(words, at))
        .or_else(|| read_version(words, at))
        .or_else(|| range::read_range(words, at))
        .or_else(|| read_measured(words, at))
}

pub(crate) fn value_of_words(
    words: &Words<'_>,
    at: usize,
    taken: usize,
    kind: ValueKind,
) -> Option<FoundValue> {
    let last = words.get(at + taken.checked_sub(1)?)?;
    Some(FoundValue {
        value: Value::exact(kind, words.get(at)?.from, last.to),
        words: taken,
        apart: Vec::new(),
        thing: None,
        bare: false,
        period: false,
    })
}

/// `2026-03-01`, `12 December 2025`, `December 12, 2025`, `March 2025`, `Q1 2024`, `in 2023`.
fn read_days(words: &Words<'_>, at: usize) -> Option<FoundValue> {
    let text = words.get(at).filter(|it| !it.mark)?.text.as_str();
    if let Some(days) = date::parse_iso_days(text) {
        return value_of_words(words, at, 1, ValueKind::Days(days));
    }
    let day = |at: usize| {
        let word = words.lower(at);
        let digits = ["st", "nd", "rd", "th"]
            .iter()
            .find_map(|it| word.strip_suffix(it))
            .unwrap_or(word);
        digits.parse::<i8>().ok().filter(|_| digits.len() <= 2)
    };
    let month = |at: usize| {
        let word = words.get(at)?;
        let named = word.text.starts_with(char::is_uppercase);
        named.then(|| date::parse_month(&word.text))?
    };
    let year = |at: usize| date::parse_year(words.lower(at));
    let of =
        |days: Option<Days>, taken: usize| value_of_words(words, at, taken, ValueKind::Days(days?));
    if let (Some(day), Some(month), Some(year)) = (day(at), month(at + 1), year(at + 2)) {
        return of(date::one_day(year, month, day), 3);
    }
    if let Some(month) = month(at) {
        let comma = usize::from(words.get(at + 2).is_some_and(|it| it.is(",")));
        if let (Some(day), Some(year)) = (day(at + 1), year(at + 2 + comma)) {
            return of(date::one_day(year, month, day), 3 + comma);
        }
        return of(date::of_months(year(at + 1)?, month, 1), 2);
    }
    if let Some(quarter) = date::parse_quarter(text) {
        return of(date::of_months(year(at + 1)?, quarter * 3 - 2, 3), 2);
    }
    let before = at.checked_sub(1).map_or("", |it| words.lower(it));
    let dated = ["in", "since", "until", "by", "of"].contains(&before)
        && unit::unit(words.lower(at + 1)).is_none();
    of(date::of_months(year(at).filter(|_| dated)?, 1, 12), 1)
}

/// `02:00`.
fn read_clock(words: &Words<'_>, at: usize) -> Option<FoundValue> {
    let (hour, minute) = words.get(at)?.text.split_once(':')?;
    let part = |it: &str, below: u16| it.parse::<u16>().ok().filter(|n| *n < below);
    let digits = |it: &str| it.len() <= 2 && it.bytes().all(|it| it.is_ascii_digit());
    let (hour, minute) = (
        part(hour, 24).filter(|_| digits(hour))?,
        part(minute, 60).filter(|_| minute.len() == 2)?,
    );
    value_of_words(words, at, 1, ValueKind::Clock(hour * 60 + minute))
}

/// `1.2.3`, `v2`, `v1.4`, `1.x`; the clause reader handles a number after a technology.
fn read_version(words: &Words<'_>, at: usize) -> Option<FoundValue> {
    let text = words.get(at)?.text.as_str();
    let (plain, form) = match text.strip_suffix('+') {
        Some(plain) => (plain, Form::AtLeast),
        None => (text, Form::Exact),
    };
    let marked = plain
        .strip_prefix(['v', 'V'])
        .filter(|it| it.starts_with(|it: char| it.is_ascii_digit()));
    let numbers = version_of(marked.unwrap_or(plain))?;
    let long = numbers.len() > 2 && !number::is_grouped(plain);
    let sure = marked.is_some() || long || plain.ends_with(".x");
    let mut found = value_of_words(words, at, 1, ValueKind::Version(numbers)).filter(|_| sure)?;
    found.value.form = form;
    Some(found)
}

/// The numbers of a version, up to a hyphen.
pub(crate) fn version_of(text: &str) -> Option<Vec<u64>> {
    let numbers = text.split(['-', '+']).next()?.trim_end_matches(".x");
    let parts: Option<Vec<u64>> = numbers.split('.').map(|it| it.parse().ok()).collect();
    parts.filter(|it| it.len() <= 5)
}

/// A bare number, in digits or words, and how many words it takes: "2 million", "one hundred and
/// fifty".
pub(crate) fn read_number(words: &Words<'_>, at: usize) -> Option<(WrittenNumber, usize)> {
    let token = words.get(at).filter(|it| !it.mark)?;
    let (written, in_digits) = match number::leading_number(&token.text) {
        Some((written, length)) if length == token.text.len() => (written, true),
        Some(_) => return None,
        None => (in_words(words, at)?, false),
    };
    let mut taken = 1;
    let joins = at
        .checked_sub(1)
        .is_none_or(|it| words.lower(it) != "between");
    let thousand = Ratio::whole(1000);
    // The total of the complete parts from a thousand up, and the part below that is still growing.
    let (mut total, mut group) = (Ratio::whole(0), written.number);
    loop {
        if let Some(times) = number::scale_factor(words.lower(at + taken)) {
            group = group.times(times)?;
            if times.compare(thousand).is_ge() {
                (total, group) = (total.plus(group)?, Ratio::whole(0));
            }
            taken += 1;
            continue;
        }
        let and = usize::from(taken > 1 && joins && words.lower(at + taken) == "and");
        let Some(more) = number::small_number(words.lower(at + taken + and))
            .filter(|it| (taken > 1 || !in_digits) && number::may_follow(group, *it, taken > 1))
        else {
            break;
        };
        group = group.plus(Ratio::whole(more))?;
        taken += 1 + and;
    }
    let or = written.or.filter(|_| taken == 1);
    let number = total.plus(group)?;
    Some((WrittenNumber { number, or }, taken))
}

fn in_words(words: &Words<'_>, at: usize) -> Option<WrittenNumber> {
    let of = |number| Some(WrittenNumber { number, or: None });
    match words.lower(at) {
        "a" | "an" => {
            number::scale_factor(words.lower(at + 1))?;
            of(Ratio::whole(1))
        }
        "once" => of(Ratio::whole(1)),
        "twice" => of(Ratio::whole(2)),
        word => match number::small_number(word) {
            Some(number) => of(Ratio::whole(number)),
            None => of(
                number::scale_factor(word).filter(|_| word.ends_with('d') || word == "dozen")?
            ),
        },
    }
}

/// Reads `half an hour`, `a quarter`, `an hour`: the amount, its unit, and the number of words.
fn read_part(words: &Words<'_>, at: usize) -> Option<(Ratio, Option<Unit>, usize)> {
    let skipped = usize::from(["a", "an", "one"].contains(&words.lower(at)));
    let part = match words.lower(at + skipped) {
        "half" => Some(Ratio::new(1, 2)?),
        "quarter" => Some(Ratio::new(1, 4)?),
        _ => None,
    };
    let Some(part) = part else {
        // "an hour", unless it means "per hour"
        let article = ["a", "an"].contains(&words.lower(at));
        // ... and not a second replica
        let noun = words.lower(at + 1) == "second"
            && words
                .get(at + 2)
                .is_some_and(|it| !it.mark && lexicon::meaning_of(&it.lower).is_none());
        let unit = unit::unit(words.lower(at + 1))
            .filter(|it| article && !noun && it.dimension == Dimension::Time)?;
        return Some((Ratio::whole(1), Some(unit), 2));
    };
    let mut next = at + skipped + 1;
    next += usize::from(words.lower(next) == "of");
    next += usize::from(["a", "an"].contains(&words.lower(next)));
    match unit::unit(words.lower(next)) {
        Some(unit) => Some((part, Some(unit), next + 1 - at)),
        None => Some((part, None, skipped + 1)),
    }
}

/// Reads a number with its unit and denominator. For a time, also reads the rest in smaller units:
/// "1 hour and 30 minutes", "an hour and a half".
fn read_measured(words: &Words<'_>, at: usize) -> Option<FoundValue> {
    if let Some(time) = words
        .get(at)
        .and_then(|it| unit::read_compound_time(&it.text))
    {
        return value_of_words(words, at, 1, ValueKind::amount(time, Dimension::Time));
    }
    let mut whole = one_measured(words, at)?;
    let before = at.checked_sub(1).map_or("", |it| words.lower(it));
    while let Some((more, taken)) = rest_of(words, at, &whole).filter(|_| before != "between") {
        let last = words.get(at + whole.words + taken - 1)?;
        let ValueKind::Quantity { low, high, or, .. } = &mut whole.value.kind else {
            break;
        };
        (*low, *high, *or) = (low.plus(more)?, low.plus(more)?, None);
        (whole.value.to, whole.words) = (last.to, whole.words + taken);
    }
    Some(whole)
}

/// Returns what the words after a time add to it, and how many words that takes.
fn rest_of(words: &Words<'_>, at: usize, whole: &FoundValue) -> Option<(Ratio, usize)> {
    let last = words.get(at + whole.words.checked_sub(1)?)?;
    let unit = unit::unit(&last.lower).or_else(|| unit_at_end(&last.text))?;
    if unit.dimension != Dimension::Time
        || !whole.apart.is_empty()
        || whole.value.dimension() != Some(Dimension::Time)
    {
        return None;
    }
    let next = at + whole.words;
    let and = usize::from(words.lower(next) == "and");
    let part = match (and, words.lower(next + 1), words.lower(next + 2)) {
        (1, "a", "half") => Some(Ratio::new(1, 2)?),
        (1, "a", "quarter") => Some(Ratio::new(1, 4)?),
        _ => None,
    };
    if let Some(part) = part.filter(|_| unit::unit(words.lower(next + 3)).is_none()) {
        return Some((part.times(unit.worth)?, 3));
    }
    let more = one_measured(words, next + and)?;
    let (low, high, _, dimension) = more.value.quantity_parts()?;
    let smaller = dimension == Dimension::Time && low == high && low.compare(unit.worth).is_lt();
    (smaller && more.apart.is_empty()).then_some((low, more.words + and))
}

/// Returns the unit of `30min`.
fn unit_at_end(text: &str) -> Option<Unit> {
    let (_, length) = number::leading_number(text)?;
    unit::unit(text.get(length..)?)
}

/// Reads a number with its unit and denominator, in one unit only.
fn one_measured(words: &Words<'_>, at: usize) -> Option<FoundValue> {
    if let Some((part, unit, taken)) = read_part(words, at) {
        let (worth, dimension) = worth_and_dimension(unit);
        let kind = ValueKind::amount(part.times(worth)?, dimension);
        let mut found = value_of_words(words, at, taken, kind)?;
        found.value.about = unit.is_some_and(Unit::is_calendar);
        return Some(found);
    }
    let mut amount = in_one_word(words, at)?;
    if amount.unit.is_none() && amount.bare {
        amount.read_unit(words, at)?;
    }
    let (mut apart, mut times) = (Vec::new(), false);
    if amount.every.is_none() {
        (amount.every, apart, times) = read_per(words, at, amount.taken);
    }
    let (mut worth, mut dimension) = worth_and_dimension(amount.unit);
    if let Some(every) = amount.every {
        (worth, dimension) = (worth.divided_by(every)?, dimension.per_second()?);
        amount.bare = false;
        // "Three times an hour" is a period of twenty minutes.
        if times && amount.thing.is_none() {
            let kind = ValueKind::amount(every.divided_by(amount.number.number)?, Dimension::Time);
            let mut found = value_of_words(words, at, amount.taken, kind)?;
            (found.apart, found.period) = (apart, true);
            return Some(found);
        }
    }
    let compared = ["as", "the"].contains(&words.lower(at + 1));
    if words.lower(at) == "once" || (words.lower(at) == "twice" && compared) {
        return None;
    }
    let low = amount.number.number.times(worth)?;
    let kind = ValueKind::Quantity {
        low,
        high: low,
        or: amount.number.or.and_then(|it| it.times(worth)),
        dimension,
    };
    let mut found = value_of_words(words, at, amount.taken, kind)?;
    let before = at.checked_sub(1).map_or("", |it| words.lower(it));
    found.period = ["every", "each"].contains(&before) && dimension == Dimension::Time;
    found.value.form = amount.form;
    found.value.about = amount.unit.is_some_and(Unit::is_calendar);
    found.value.window = amount.every.or_else(|| amount.unit.and_then(Unit::window));
    (found.apart, found.thing, found.bare) = (apart, amount.thing, amount.bare);
    Some(found)
}

/// Returns what one of a unit is worth, and what it measures; without a unit, things are counted.
fn worth_and_dimension(unit: Option<Unit>) -> (Ratio, Dimension) {
    unit.map_or((Ratio::whole(1), Dimension::Count), |it| {
        (it.worth, it.dimension)
    })
}

/// A number with its unit, as read so far.
struct Amount {
    number: WrittenNumber,
    unit: Option<Unit>,
    taken: usize,
    thing: Option<String>,
    every: Option<Ratio>,
    form: Form,
    bare: bool,
}

impl Amount {
    /// Reads what may follow a bare number: one [and a half] [hours].
    fn read_unit(&mut self, words: &Words<'_>, at: usize) -> Option<()> {
        let after = [0, 1, 2].map(|it| words.lower(at + self.taken + it));
        if after == ["and", "a", "half"] {
            self.number = WrittenNumber {
                number: self.number.number.plus(Ratio::new(1, 2)?)?,
                or: None,
            };
            self.taken += 3;
        }
        if let Some(next) = words.get(at + self.taken) {
            (self.unit, self.every, self.thing) = spelled(next);
            self.bare = self.unit.is_none() && self.every.is_none();
            self.taken += usize::from(!self.bare);
        }
        Some(())
    }
}

/// A number and the rest of its word.
fn in_one_word(words: &Words<'_>, at: usize) -> Option<Amount> {
    let token = words.get(at)?;
    let mut whole = Amount {
        number: WrittenNumber {
            number: Ratio::whole(0),
            or: None,
        },
        unit: None,
        taken: 1,
        thing: None,
        every: None,
        form: Form::Exact,
        bare: true,
    };
    if token.mark {
        // $5
        let sign = token.text.chars().next().filter(|it| "$€£".contains(*it))?;
        let (number, taken) = read_number(words, at + 1)?;
        let unit = Unit {
            dimension: Dimension::Money(sign),
            worth: Ratio::whole(1),
        };
        return Some(Amount {
            number,
            unit: Some(unit),
            taken: taken + 1,
            bare: false,
            ..whole
        });
    }
    if let Some((number, taken)) = read_number(words, at) {
        return Some(Amount {
            number,
            taken,
            ..whole
        });
    }
    let text = token.text.strip_prefix(':').unwrap_or(&token.text);
    let (number, length) = number::leading_number(text)?;
    whole.number = number;
    let rest = text.get(length..)?.trim_start_matches('-');
    match rest {
        "" => Some(whole),
        "+" => Some(Amount {
            form: Form::AtLeast,
            ..whole
        }),
        rest => {
            let (unit, every, thing) = spelled_as(rest);
            if unit.is_some() || every.is_some() {
                // 1k/s counts thousands, not things called "k".
                let factor = thing.as_deref().and_then(number::suffix_factor);
                let (number, thing) = match factor {
                    Some(factor) => {
                        let number = number.number.times(factor)?;
                        (WrittenNumber { number, or: None }, None)
                    }
                    None => (number, thing),
                };
                return Some(Amount {
                    number,
                    unit,
                    every,
                    thing,
                    bare: false,
                    ..whole
                });
            }
            let number = number.number.times(number::suffix_factor(rest)?)?;
            Some(Amount {
                number: WrittenNumber { number, or: None },
                ..whole
            })
        }
    }
}

/// The unit, denominator and counted thing in one word: `ms`, `MB/s`, `req/min`.
type SpelledUnit = (Option<Unit>, Option<Ratio>, Option<String>);

fn spelled(token: &Token) -> SpelledUnit {
    if token.is("%") {
        return (unit::unit("%"), None, None);
    }
    if token.mark {
        (None, None, None)
    } else {
        spelled_as(&token.text)
    }
}

fn spelled_as(text: &str) -> SpelledUnit {
    if let Some(unit) = unit::unit(text) {
        return (Some(unit), None, None);
    }
    let Some((counted, every)) = text.split_once('/') else {
        return (None, None, None);
    };
    let every = unit::unit(every)
        .filter(|it| it.dimension == Dimension::Time)
        .map(|it| it.worth);
    if every.is_none() {
        return (None, None, None);
    }
    match unit::unit(counted) {
        Some(unit) => (Some(unit), every, None),
        None => (
            None,
            every,
            Some(counted.to_owned()).filter(|it| it.chars().all(char::is_alphabetic)),
        ),
    }
}

/// Reads `per second`, `a minute`, `/ hour` after at most two words for what is counted. Returns
/// the seconds, the positions of these words, and whether the words are "times".
fn read_per(words: &Words<'_>, at: usize, taken: usize) -> (Option<Ratio>, Vec<usize>, bool) {
    for gap in 0..=2 {
        let place = at + taken + gap;
        let between = (at + taken..place).all(|it| words.get(it).is_some_and(|it| !it.mark));
        let joins = ["per", "a", "an", "each", "every", "/"].contains(&words.lower(place));
        let unit = unit::unit(words.lower(place + 1)).filter(|it| it.dimension == Dimension::Time);
        if between
            && joins
            && let Some(unit) = unit
        {
            let often = ["once", "twice"].contains(&words.lower(at));
            let counted = often || (gap == 1 && words.lower(place - 1) == "times");
            return (Some(unit.worth), vec![place, place + 1], counted);
        }
        if !between {
            break;
        }
    }
    (None, Vec::new(), false)
}
