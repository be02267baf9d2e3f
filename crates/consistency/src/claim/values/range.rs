//! Ranges: two numbers with one unit between them, as `10-20 ms` and "between 1 and 5 minutes".

use super::{
    number::{self, Ratio},
    quantity::{FoundValue, Words, read_number, value_of_words},
    unit::{self, Dimension, Unit},
    value::ValueKind,
};

/// `10-20 ms`, `8 to 12 minutes`, `between 1 and 5`.
pub(crate) fn read_range(words: &Words<'_>, at: usize) -> Option<FoundValue> {
    let text = words.get(at)?.text.as_str();
    for sign in ["–", "..", "-"] {
        if let Some((low, high)) = text.split_once(sign)
            && let (Some((low, low_taken)), Some(_)) = (
                number::leading_number(low).map(|it| (it.0, it.1 == low.len())),
                number::leading_number(high),
            )
            && low_taken
        {
            let high = read_end(words, at, high, 1)?;
            return range_value(words, at, low.number, high);
        }
    }
    let first = read_number(words, at)?;
    let between = at.checked_sub(1).map_or("", |it| words.lower(it));
    let (mut next, mut own) = (at + first.1, None);
    if let Some(unit) = unit::unit(&words.get(next)?.text) {
        (next, own) = (next + 1, Some(unit));
    }
    let joined = match words.lower(next) {
        "to" => between != "from",
        "and" => between == "between",
        _ => false,
    };
    let text = words.get(next + 1).filter(|_| joined)?.text.as_str();
    let high = read_end(words, next + 1, text, next + 2 - at)?;
    let low = match (own, high.unit) {
        (Some(own), Some(unit)) => first.0.number.times(own.worth)?.divided_by(unit.worth)?,
        _ => first.0.number,
    };
    range_value(words, at, low, high)
}

/// The upper end of a range: its number, its unit and all words that the range takes.
struct End {
    number: Ratio,
    unit: Option<Unit>,
    words: usize,
}

fn read_end(words: &Words<'_>, at: usize, text: &str, taken: usize) -> Option<End> {
    let (written, length) = match number::leading_number(text) {
        Some(found) => found,
        None => {
            let (written, _) = read_number(words, at)?;
            (written, text.len())
        }
    };
    let rest = text.get(length..)?;
    let (times, unit, more) = match rest {
        "" => match words.get(at + 1).and_then(|it| unit::unit(&it.text)) {
            Some(unit) => (Ratio::whole(1), Some(unit), 1),
            None => (Ratio::whole(1), None, 0),
        },
        rest => match (unit::unit(rest), number::suffix_factor(rest)) {
            (Some(unit), _) => (Ratio::whole(1), Some(unit), 0),
            (None, Some(times)) => (times, None, 0),
            _ => return None,
        },
    };
    Some(End {
        number: written.number.times(times)?,
        unit,
        words: taken + more,
    })
}

fn range_value(words: &Words<'_>, at: usize, low: Ratio, high: End) -> Option<FoundValue> {
    let worth = high.unit.map_or(Ratio::whole(1), |it| it.worth);
    let dimension = high.unit.map_or(Dimension::Count, |it| it.dimension);
    let (low, high_end) = (low.times(worth)?, high.number.times(worth)?);
    if low.compare(high_end).is_gt() {
        return None;
    }
    value_of_words(
        words,
        at,
        high.words,
        ValueKind::Quantity {
            low,
            high: high_end,
            or: None,
            dimension,
        },
    )
}
