//! The time axis of a list of claims: the stretch of time on the screen, where a claim's bar lies
//! in it, and at which times the axis is labeled. Times are seconds since 1970.

use std::{cmp::Reverse, collections::HashMap, ops::Range, sync::Arc};

use engram_model::{Engram, LineageId};
use jiff::{Timestamp, civil::Date};

use crate::words::Clock;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// The average month.
const MONTH: i64 = 30 * DAY + 10 * HOUR + 29 * MINUTE;
const YEAR: i64 = 12 * MONTH;
/// The lengths that a stretch may have.
const LENGTHS: (i64, i64) = (2 * MINUTE, 200 * YEAR);
/// The times in which a stretch may lie, so that each has a date.
const TIMES: (i64, i64) = (-60 * 365 * DAY, 400 * 365 * DAY);

/// When a version of a claim held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// When these words were first stored: a confirmed version continues the bar of the one before.
    pub from: i64,
    /// When it ended, or will by its ttl; none if no end is known.
    pub to: Option<i64>,
}

impl Bar {
    /// Returns the bar of a version.
    pub fn of(engram: &Engram) -> Self {
        let ends = engram.valid_until.into_iter().chain(engram.expires_at);
        let from = engram.list_time().as_second();
        Self {
            from,
            to: ends.min().map(|it| it.as_second().max(from)),
        }
    }
}

/// The stretch of time on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    from: i64,
    to: i64,
}

/// A labeled time of the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The time.
    pub at: i64,
    /// The time, as short as the step allows.
    pub label: String,
}

/// A distance between two labels.
#[derive(Clone, Copy)]
enum AxisStep {
    Seconds(i64),
    Days(i64),
    Months(i64),
    Years(i64),
}

/// The distances, shortest first.
const STEPS: &[AxisStep] = &[
    AxisStep::Seconds(MINUTE),
    AxisStep::Seconds(2 * MINUTE),
    AxisStep::Seconds(5 * MINUTE),
    AxisStep::Seconds(10 * MINUTE),
    AxisStep::Seconds(15 * MINUTE),
    AxisStep::Seconds(30 * MINUTE),
    AxisStep::Seconds(HOUR),
    AxisStep::Seconds(3 * HOUR),
    AxisStep::Seconds(6 * HOUR),
    AxisStep::Seconds(12 * HOUR),
    AxisStep::Days(1),
    AxisStep::Days(2),
    AxisStep::Days(7),
    AxisStep::Days(14),
    AxisStep::Months(1),
    AxisStep::Months(3),
    AxisStep::Months(6),
    AxisStep::Years(1),
    AxisStep::Years(2),
    AxisStep::Years(5),
    AxisStep::Years(10),
    AxisStep::Years(25),
    AxisStep::Years(50),
    AxisStep::Years(100),
];

impl AxisStep {
    fn length(self) -> i64 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::Days(days) => days * DAY,
            Self::Months(months) => months * MONTH,
            Self::Years(years) => years * YEAR,
        }
    }
}

impl Stretch {
    /// Returns the stretch between two times, not shorter or longer than one may be.
    pub fn between(from: i64, to: i64) -> Self {
        let length = to.saturating_sub(from).clamp(LENGTHS.0, LENGTHS.1);
        let from = from.clamp(TIMES.0, TIMES.1 - length);
        Self {
            from,
            to: from + length,
        }
    }

    /// Returns the stretch that shows all claims. It looks ahead no further than it looks back: one
    /// ttl of a year must not squeeze what was stored today.
    pub fn of_all(claims: &[Arc<Engram>], now: Timestamp) -> Self {
        let now = now.as_second();
        let bars = claims.iter().map(|it| Bar::of(it));
        let first = bars.clone().map(|it| it.from).min();
        let first = first.unwrap_or(now - HOUR).min(now);
        let last = bars.filter_map(|it| it.to).max().unwrap_or(now);
        let back = (now - first).max(LENGTHS.0 / 2);
        // Room for a bar without an end to fade in.
        let last = last.clamp(now + back / 8, now + back);
        let beside = (last - first) / 32;
        Self::between(first - beside, last + beside)
    }

    /// Its first second.
    pub fn from(self) -> Timestamp {
        Timestamp::from_second(self.from).unwrap_or_default()
    }

    /// The second at which it ends.
    pub fn to(self) -> Timestamp {
        Timestamp::from_second(self.to).unwrap_or_default()
    }

    fn length(self) -> i64 {
        self.to - self.from
    }

    /// Returns the stretch of another length, where `around` keeps its place on the screen.
    pub fn zoomed(self, factor: f64, around: i64) -> Self {
        let share = self.share(around).clamp(0.0, 1.0);
        let length = (self.length() as f64 * factor) as i64;
        let length = length.clamp(LENGTHS.0, LENGTHS.1);
        let around = self.at(share);
        let from = around - (length as f64 * share) as i64;
        Self::between(from, from + length)
    }

    /// Returns the stretch that many lengths later; earlier, if negative.
    pub fn panned(self, lengths: f64) -> Self {
        let by = (self.length() as f64 * lengths) as i64;
        Self::between(self.from + by, self.to + by)
    }

    /// Returns the stretch moved so that a bar is on the screen; the same, if it is.
    pub fn showing(self, bar: Bar) -> Self {
        let edge = self.length() / 50;
        let middle = match bar.to {
            Some(to) if to < self.from + edge => to,
            _ if bar.from > self.to - edge => bar.from,
            _ => return self,
        };
        let from = middle - self.length() / 2;
        Self::between(from, from + self.length())
    }

    /// Where a time lies: 0 at the beginning, 1 at the end, beyond these if it is not on the
    /// screen.
    pub fn share(self, at: i64) -> f64 {
        (at.saturating_sub(self.from)) as f64 / self.length() as f64
    }

    /// The time at a place.
    pub fn at(self, share: f64) -> i64 {
        self.from + (self.length() as f64 * share) as i64
    }

    /// Whether a time is on the screen.
    pub fn has(self, at: i64) -> bool {
        (self.from..=self.to).contains(&at)
    }

    /// Returns the times to label, at most `most`.
    pub fn ticks(self, most: usize, clock: Clock) -> Vec<Tick> {
        let most = most.max(1);
        let room = i64::try_from(most).unwrap_or(i64::MAX);
        // The count depends on where the steps lie; a step far too short has too many to list.
        let fits = |it: &&AxisStep| {
            self.length() / it.length() <= room && self.times(**it, clock).len() <= most
        };
        let Some(step) = STEPS.iter().find(fits).or(STEPS.last()) else {
            return Vec::new();
        };
        let label = |at: Timestamp| match step {
            AxisStep::Seconds(_) => clock.time_or_day(at),
            AxisStep::Days(_) => clock.day(at),
            AxisStep::Months(_) | AxisStep::Years(_) => clock.month_or_year(at),
        };
        let tick = |at: i64| {
            let label = label(Timestamp::from_second(at).ok()?);
            Some(Tick { at, label })
        };
        let times = self.times(*step, clock).into_iter();
        times.filter_map(tick).collect()
    }

    /// The times of a step, by the local clock.
    fn times(self, step: AxisStep, clock: Clock) -> Vec<i64> {
        match step {
            AxisStep::Seconds(every) => self.every(every, 0, clock),
            // Weeks begin on a Monday; 1 January 1970 was a Thursday.
            AxisStep::Days(days) => self.every(days * DAY, 4 * DAY, clock),
            AxisStep::Months(months) => self.months(months, clock),
            AxisStep::Years(years) => self.months(12 * years, clock),
        }
    }

    /// The times that are multiples of `every` after `origin`, by the local clock.
    fn every(self, every: i64, origin: i64, clock: Clock) -> Vec<i64> {
        let shift = origin - i64::from(clock.offset.seconds());
        let first = (self.from - shift + every - 1).div_euclid(every) * every + shift;
        let times = std::iter::successors(Some(first), |it| Some(it + every));
        times.take_while(|it| *it <= self.to).collect()
    }

    /// The beginnings of every so many months, by the local clock.
    fn months(self, every: i64, clock: Clock) -> Vec<i64> {
        let date = clock.offset.to_datetime(self.from()).date();
        let month = i64::from(date.year()) * 12 + i64::from(date.month()) - 1;
        let first = month.div_euclid(every) * every;
        let begin = |month: i64| {
            let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
            let date = Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, 1).ok()?;
            let at = clock.offset.to_timestamp(date.at(0, 0, 0, 0)).ok()?;
            Some(at.as_second())
        };
        let months = std::iter::successors(Some(first), |it| Some(it + every));
        let times = months.map_while(begin).take_while(|it| *it <= self.to);
        times.filter(|it| *it >= self.from).collect()
    }
}

/// Brings the versions of each lineage together, at the place of the first: the one that holds, then
/// the others, the newest first. A version that an undo restored is the newest, whatever its place.
pub fn in_lanes(rows: Vec<Arc<Engram>>) -> Vec<Arc<Engram>> {
    let mut lanes: Vec<Vec<Arc<Engram>>> = Vec::new();
    let mut places: HashMap<LineageId, usize> = HashMap::new();
    for row in rows {
        let place = *places.entry(row.lineage_id).or_insert(lanes.len());
        match lanes.get_mut(place) {
            Some(lane) => lane.push(row),
            None => lanes.push(vec![row]),
        }
    }
    for lane in &mut lanes {
        lane.sort_by_key(|it| Reverse((it.valid_until.is_none(), it.seq)));
    }
    lanes.into_iter().flatten().collect()
}

/// Returns the rows of each lineage, given rows that [`in_lanes`] ordered.
pub fn lanes(rows: &[Arc<Engram>]) -> Vec<Range<usize>> {
    let mut first = 0;
    let of_one = rows.chunk_by(|a, b| a.lineage_id == b.lineage_id);
    let lane = of_one.map(|versions| {
        let lane = first..first + versions.len();
        first = lane.end;
        lane
    });
    lane.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    /// 2027-01-15 08:00 UTC, 10:00 local.
    const NOW: i64 = 1_800_000_000;

    fn clock() -> Clock {
        Clock::new(NOW as f64 * 1000.0, 120.0)
    }

    fn time(at: i64) -> Timestamp {
        Timestamp::from_second(at).unwrap()
    }

    fn engram(number: u64, lineage: u64, from: i64, to: Option<i64>) -> Arc<Engram> {
        let id = format!("{number:026}");
        let mut engram: Engram = serde_json::from_value(json!({
            "id": id, "seq": number, "lineage_id": format!("{lineage:026}"), "project": id, "claim": "It holds.",
            "kind": "fact", "fact_type": "observation", "scope": "project", "topic": "", "pointers": [],
            "confidence": 0.7, "durability": "durable", "tags": [], "hash_keys": [], "entities": [],
            "provenance": {"created_at": time(from), "created_by": "ada", "source": "agent"},
            "content_hash": format!("sha256:{number}"), "valid_from": time(from),
            "recorded_at": time(from), "memory_op": "add", "verified": true
        }))
        .unwrap();
        engram.valid_until = to.map(time);
        Arc::new(engram)
    }

    #[test]
    fn a_bar_ends_with_what_ends_first() {
        let mut held = Engram::clone(&engram(1, 1, NOW - 100, None));
        assert_eq!((Bar::of(&held).from, Bar::of(&held).to), (NOW - 100, None));
        held.expires_at = Some(time(NOW + 50));
        assert_eq!(Bar::of(&held).to, Some(NOW + 50));
        held.valid_until = Some(time(NOW - 20));
        assert_eq!(Bar::of(&held).to, Some(NOW - 20));
        // A confirmed version continues the bar of the version whose place it has.
        held.place = Some(engram_model::Place {
            seq: 0,
            at: time(NOW - 900),
        });
        assert_eq!(Bar::of(&held).from, NOW - 900);
    }

    #[test]
    fn all_claims_are_on_the_screen_and_no_far_end_squeezes_them() {
        let all = [
            engram(1, 1, NOW - 4 * HOUR, Some(NOW - HOUR)),
            engram(2, 2, NOW - 2 * HOUR, None),
            engram(3, 3, NOW - HOUR, Some(NOW + 365 * DAY)),
        ];
        let shown = Stretch::of_all(&all[..2], time(NOW));
        assert!(shown.has(NOW - 4 * HOUR) && shown.has(NOW + HOUR / 4));
        assert!(!shown.has(NOW + 2 * HOUR), "{shown:?}");
        let shown = Stretch::of_all(&all, time(NOW));
        assert!(shown.has(NOW + 4 * HOUR) && !shown.has(NOW + 5 * HOUR));
        // Nothing at all, and only what has just been stored, still have an axis.
        for few in [&[][..], &[engram(4, 4, NOW, None)]] {
            let shown = Stretch::of_all(few, time(NOW));
            assert!(shown.has(NOW) && shown.length() >= LENGTHS.0);
        }
    }

    #[test]
    fn zooming_keeps_the_time_that_is_looked_at_in_its_place() {
        let shown = Stretch::between(NOW - HOUR, NOW + HOUR);
        let close = shown.zoomed(0.5, NOW - HOUR / 2);
        assert_eq!(close.length(), HOUR);
        assert!((close.share(NOW - HOUR / 2) - 0.25).abs() < 0.001);
        assert_eq!(close.zoomed(2.0, NOW - HOUR / 2), shown);
        // It ends at the shortest and the longest length.
        let mut nearest = shown;
        let mut farthest = shown;
        for _ in 0..99 {
            nearest = nearest.zoomed(0.5, NOW);
            farthest = farthest.zoomed(2.0, NOW);
        }
        assert_eq!(nearest.length(), LENGTHS.0);
        assert!(nearest.has(NOW));
        assert_eq!(farthest.length(), LENGTHS.1);
        assert!(!farthest.ticks(6, clock()).is_empty());
    }

    #[test]
    fn panning_moves_and_the_selected_bar_is_shown() {
        let shown = Stretch::between(NOW - HOUR, NOW + HOUR);
        assert_eq!(shown.panned(0.25).panned(-0.25), shown);
        assert_eq!(shown.panned(0.25).from, NOW - HOUR / 2);
        let bar = |from, to| Bar { from, to };
        for (is_shown, one) in [
            (true, bar(NOW - 9 * HOUR, None)),
            (true, bar(NOW - 9 * HOUR, Some(NOW))),
            (true, bar(NOW, Some(NOW + 9 * HOUR))),
            (false, bar(NOW - 9 * HOUR, Some(NOW - 8 * HOUR))),
            (false, bar(NOW + 8 * HOUR, None)),
        ] {
            let moved = shown.showing(one);
            assert_eq!(moved == shown, is_shown, "{one:?}");
            assert_eq!(moved.length(), shown.length());
            assert!(moved.has(one.from) || moved.has(one.to.unwrap_or(NOW)));
        }
        // However far somebody pans, each time has a date.
        let mut far = Stretch::between(NOW, NOW + 150 * YEAR);
        for _ in 0..50 {
            far = far.panned(1.0);
        }
        assert!(far.to() < Timestamp::MAX && !far.ticks(5, clock()).is_empty());
    }

    #[test]
    fn the_axis_is_labeled_in_steps_that_people_use() {
        let labels = |from: i64, to: i64, most| -> Vec<String> {
            let ticks = Stretch::between(from, to).ticks(most, clock());
            assert!(ticks.len() <= most, "{ticks:?}");
            ticks.into_iter().map(|it| it.label).collect()
        };
        for (back, most, want) in [
            (
                20 * MINUTE,
                6,
                &["09:40", "09:45", "09:50", "09:55", "10:00"][..],
            ),
            (8 * MINUTE, 4, &["09:55", "10:00"]),
            (4 * MINUTE, 4, &["09:56", "09:58", "10:00"]),
            (2 * MINUTE, 4, &["09:58", "09:59", "10:00"]),
            (
                5 * HOUR,
                6,
                &["05:00", "06:00", "07:00", "08:00", "09:00", "10:00"],
            ),
            (DAY, 5, &["12:00", "18:00", "15 Jan", "06:00"]),
            (3 * DAY, 4, &["13 Jan", "14 Jan", "15 Jan"]),
            (
                30 * DAY,
                6,
                &["21 Dec 2026", "28 Dec 2026", "4 Jan", "11 Jan"],
            ),
            (
                200 * DAY,
                8,
                &["Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "2027"],
            ),
            (4 * YEAR, 5, &["2024", "2025", "2026", "2027"]),
        ] {
            // Weeks begin on Mondays: 21 December 2026 is one.
            assert_eq!(labels(NOW - back, NOW, most), want, "{back}");
        }
    }

    #[test]
    fn versions_of_a_lineage_are_one_lane() {
        let rows = [(9, 1), (8, 2), (7, 1), (6, 3), (5, 2)];
        let rows = rows.map(|(number, lineage)| engram(number, lineage, NOW, None));
        let rows = in_lanes(rows.to_vec());
        let order: Vec<u64> = rows.iter().map(|it| it.seq).collect();
        assert_eq!(order, [9, 7, 8, 5, 6]);
        assert_eq!(lanes(&rows), [0..2, 2..4, 4..5]);
        // The words that an undo restored have the place of their first version, and hold.
        let first = engram(1, 1, NOW - 900, Some(NOW - 600));
        let undone = engram(2, 1, NOW - 600, Some(NOW - 300));
        let restored = engram(3, 1, NOW - 300, None);
        let rows = in_lanes(vec![undone, restored, first]);
        let order: Vec<u64> = rows.iter().map(|it| it.seq).collect();
        assert_eq!(order, [3, 2, 1]);
        assert!(lanes(&[]).is_empty());
    }
}
