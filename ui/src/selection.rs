//! The selected rows, and the actions on them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use engram_model::{Conflict, ConflictId, Engram, EngramId, shorten};
use jiff::Timestamp;

use crate::{
    feed::EngramList,
    words::{self, State, ending},
};

/// An action on one claim or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimAction {
    /// Still true: repoints each claim at its evidence as it is now.
    Confirm,
    /// No longer true: forgets those whose evidence changed.
    Deny,
    /// Unknown: asks agents.
    Ask,
    /// Lets those that have a ttl hold for it again.
    Renew,
    /// Forgets all.
    Forget,
}

impl ClaimAction {
    /// Whether it applies to this engram, which still holds.
    pub fn fits(self, engram: &Engram) -> bool {
        // The report of a conflict ends with a verdict on the conflict.
        let is_report = words::reported_conflict(engram).is_some();
        let is_drifted = words::is_drifted(engram) && !is_report;
        match self {
            Self::Confirm => is_drifted && words::can_repin(engram),
            Self::Deny => is_drifted,
            Self::Ask => is_drifted && engram.asked.is_none(),
            Self::Renew => ending::is_renewable(engram) && !is_report,
            Self::Forget => true,
        }
    }

    /// Whether it asks for confirmation first.
    pub fn asks(self) -> bool {
        matches!(self, Self::Deny | Self::Forget)
    }
}

/// An item of a list that can be selected.
pub trait Selectable {
    /// The type of its id.
    type Id: Copy + Ord;

    /// Its id.
    fn id(&self) -> Self::Id;
}

impl Selectable for Engram {
    type Id = EngramId;

    fn id(&self) -> EngramId {
        self.id
    }
}

impl Selectable for Conflict {
    type Id = ConflictId;

    fn id(&self) -> ConflictId {
        self.id
    }
}

/// The selected rows with their content, because the list drops rows that are scrolled far away.
#[derive(Clone, Debug)]
pub struct Selection<R: Selectable = Engram> {
    all: BTreeMap<R::Id, Arc<R>>,
    /// Rows that were acted on but do not show it yet; they must not be acted on again.
    settling: BTreeSet<R::Id>,
    /// Start and end of the last extension.
    range: Option<(R::Id, R::Id)>,
}

impl<R: Selectable> Default for Selection<R> {
    fn default() -> Self {
        Self {
            all: BTreeMap::new(),
            settling: BTreeSet::new(),
            range: None,
        }
    }
}

impl<R: Selectable> Selection<R> {
    /// The number of selected rows.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether no row is selected.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether this row is selected.
    pub fn has(&self, id: R::Id) -> bool {
        self.all.contains_key(&id)
    }

    /// Whether an action on it is not shown in the list yet.
    pub fn is_settling(&self, id: R::Id) -> bool {
        self.settling.contains(&id)
    }

    /// Iterates over the selected rows, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<R>> {
        self.all.values()
    }

    /// Selects or deselects a row.
    pub fn toggle(&mut self, row: Arc<R>) {
        let id = row.id();
        self.range = Some((id, id));
        if self.all.remove(&id).is_none() && !self.is_settling(id) {
            self.all.insert(id, row);
        }
    }

    /// Selects from one row to another; `can` says which rows can be selected. An extension from
    /// the end of the last one grows or shrinks that one.
    pub fn extend(
        &mut self,
        rows: &[Arc<R>],
        at: Option<R::Id>,
        to: R::Id,
        can: impl Fn(&R) -> bool,
    ) {
        let place = |id: R::Id| rows.iter().position(|it| it.id() == id);
        let between = |a: R::Id, b: R::Id| {
            let (a, b) = (place(a)?, place(b)?);
            rows.get(a.min(b)..=a.max(b))
        };
        let at = at.filter(|&it| place(it).is_some()).unwrap_or(to);
        let last = self
            .range
            .filter(|&(from, end)| end == at && place(from).is_some());
        let from = last.map_or(at, |(from, _)| from);
        for row in last
            .and_then(|(from, end)| between(from, end))
            .unwrap_or_default()
        {
            self.all.remove(&row.id());
        }
        self.add(between(from, to).unwrap_or_default(), can);
        self.range = Some((from, to));
    }

    /// Also selects these rows, if they can be selected.
    pub fn add(&mut self, rows: &[Arc<R>], can: impl Fn(&R) -> bool) {
        let rows = rows
            .iter()
            .filter(|it| can(it) && !self.settling.contains(&it.id()));
        self.all.extend(rows.map(|it| (it.id(), it.clone())));
    }

    /// Deselects rows that were acted on.
    pub fn settle(&mut self, done: impl Iterator<Item = R::Id>) {
        for id in done {
            self.all.remove(&id);
            self.settling.insert(id);
        }
    }

    /// Keeps the rows that are still listed, as they are now; returns whether anything changed.
    pub fn keep(&mut self, listed: &[Arc<R>]) -> bool {
        if self.all.is_empty() && self.settling.is_empty() {
            return false;
        }
        let listed: BTreeMap<R::Id, &Arc<R>> = listed.iter().map(|it| (it.id(), it)).collect();
        self.settling.retain(|id| listed.contains_key(id));
        let mut is_other = false;
        self.all.retain(|id, selected| {
            let row = listed.get(id).copied();
            is_other |= row.is_none_or(|row| !Arc::ptr_eq(selected, row));
            row.map(|row| *selected = Arc::clone(row)).is_some()
        });
        is_other
    }

    /// Deselects a row.
    pub fn remove(&mut self, id: R::Id) {
        self.all.remove(&id);
    }

    /// Clears the selection.
    pub fn clear(&mut self) {
        self.all.clear();
        self.range = None;
    }
}

impl Selection<Engram> {
    /// Returns the selected rows, newest first.
    pub fn rows(&self) -> Vec<Arc<Engram>> {
        let mut rows: Vec<_> = self.all.values().cloned().collect();
        rows.sort_by_key(|it| std::cmp::Reverse(it.list_place()));
        rows
    }

    /// Returns the selected rows that an action applies to, newest first.
    pub fn fitting(&self, action: ClaimAction) -> Vec<Arc<Engram>> {
        let mut rows = self.rows();
        rows.retain(|it| action.fits(it));
        rows
    }

    /// The number of selected rows that an action applies to.
    pub fn count(&self, action: ClaimAction) -> usize {
        self.all.values().filter(|it| action.fits(it)).count()
    }

    /// Drops rows that no longer hold or left the list, and updates the others; returns whether
    /// anything changed. Rows that were only scrolled out of memory stay.
    pub fn follow(&mut self, feed: &EngramList, now: Timestamp) -> bool {
        if self.is_empty() && self.settling.is_empty() {
            return false;
        }
        let listed: HashMap<EngramId, &Arc<Engram>> = feed.iter().map(|it| (it.id, it)).collect();
        let newest = feed.newer_page().unwrap_or(u64::MAX);
        let oldest = feed.next_page().unwrap_or(0);
        self.settling.retain(|id| {
            let row = listed.get(id);
            row.is_some_and(|it| it.asked.is_none() && feed.state(it, now) == State::Holds)
        });
        let mut is_other = false;
        self.all.retain(|id, selected| match listed.get(id) {
            Some(row) => {
                let holds = feed.state(row, now) == State::Holds;
                is_other |= !holds || !Arc::ptr_eq(selected, row);
                *selected = Arc::clone(row);
                holds
            }
            None => {
                let is_gone =
                    feed.newer(*id).is_some() || (oldest..=newest).contains(&selected.list_place());
                is_other |= is_gone;
                !is_gone
            }
        });
        is_other
    }

    /// Returns the claims as shown, one per line.
    pub fn text(&self) -> String {
        let line = |engram: &Arc<Engram>| {
            let claim = words::claim(engram);
            claim.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let lines: Vec<String> = self.rows().iter().map(line).collect();
        lines.join("\n")
    }
}

/// How many claims a question quotes, and how many characters of each.
const NAMED: (usize, usize) = (3, 80);

/// A claim, cut to a length that tells it from others.
pub fn short_name(claim: &str) -> String {
    shorten(claim, NAMED.1)
}

/// The first of these claims, cut short, and how many more there are.
pub fn short_names(rows: &[Arc<Engram>]) -> (Vec<String>, usize) {
    let most = NAMED.0;
    let names: Vec<String> = rows
        .iter()
        .take(most)
        .map(|it| short_name(&words::claim(it)))
        .collect();
    (names, rows.len().saturating_sub(most))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use engram_model::{Change, Entry, FeedPage, Filter, Kind};

    use super::*;

    fn engram(number: u64, standing: &str) -> Engram {
        let id = format!("{number:026}");
        let mut engram = serde_json::json!({
            "id": id, "seq": number, "lineage_id": id, "project": id, "claim": format!("Claim\n{number}"),
            "kind": "fact", "fact_type": "observation", "scope": "project", "topic": "", "pointers": [],
            "confidence": 0.7, "durability": "durable", "tags": [], "hash_keys": [], "entities": [],
            "provenance": {"created_at": "2026-11-20T10:00:00Z", "created_by": "ada", "source": "agent"},
            "content_hash": format!("sha256:{number}"), "valid_from": "2026-11-20T10:00:00Z",
            "recorded_at": "2026-11-20T10:00:00Z", "memory_op": "add", "verified": true
        });
        if !standing.is_empty() {
            engram["health"] = serde_json::json!({"standing": standing, "pointers": []});
        }
        serde_json::from_value(engram).unwrap()
    }

    fn id(number: u64) -> EngramId {
        engram(number, "").id
    }

    fn entry(seq: u64, change: Change) -> Entry {
        Entry {
            seq,
            at: now(),
            agent: None,
            by: String::new(),
            change,
        }
    }

    fn now() -> Timestamp {
        "2026-11-20T11:00:00Z".parse().unwrap()
    }

    /// Engrams from the newest to the oldest, with what comes before and after them.
    fn feed(numbers: std::ops::RangeInclusive<u64>, older: Option<u64>) -> EngramList {
        let mut feed = EngramList::default();
        let head = *numbers.end();
        let stored = |it| entry(it, Change::Stored(Box::new(engram(it, ""))));
        let page = FeedPage {
            entries: numbers.rev().map(stored).collect(),
            next: older,
            head,
            ..FeedPage::default()
        };
        feed.load(page, Filter::default());
        feed
    }

    fn numbers(chosen: &Selection) -> Vec<u64> {
        chosen.rows().iter().map(|it| it.seq).collect()
    }

    #[test]
    fn an_extension_goes_on_from_where_it_ended() {
        let rows = feed(1..=9, None).rows();
        let can = |it: &Engram| it.seq != 6;
        let mut chosen = Selection::default();
        // Extends row by row, past a row that cannot be selected, and back.
        for (at, to, want) in [
            (9, 8, &[9, 8][..]),
            (8, 7, &[9, 8, 7]),
            (7, 6, &[9, 8, 7]),
            (6, 5, &[9, 8, 7, 5]),
            (5, 7, &[9, 8, 7]),
            // A new extension begins elsewhere; it turns around across its start.
            (3, 2, &[9, 8, 7, 3, 2]),
            (2, 4, &[9, 8, 7, 4, 3]),
            (4, 4, &[9, 8, 7, 4, 3]),
        ] {
            chosen.extend(&rows, Some(id(at)), id(to), can);
            assert_eq!(numbers(&chosen), want, "from {at} to {to}");
        }
        // If nothing is open, or the open engram is not listed, one row is selected.
        for at in [None, Some(id(99))] {
            let mut chosen = Selection::default();
            chosen.extend(&rows, at, id(5), can);
            assert_eq!(numbers(&chosen), [5]);
        }
        // It extends from a row that was selected alone.
        let mut chosen = Selection::default();
        chosen.toggle(rows[2].clone());
        chosen.extend(&rows, Some(id(7)), id(8), can);
        assert_eq!(numbers(&chosen), [8, 7]);
        chosen.toggle(rows[1].clone());
        assert_eq!(numbers(&chosen), [7]);
    }

    #[test]
    fn what_closes_or_leaves_the_list_is_chosen_no_more() {
        let mut feed = feed(10..=19, Some(10));
        let mut chosen = Selection::default();
        chosen.add(&feed.rows(), |_| true);
        assert!(!chosen.follow(&feed, now()), "nothing changed");
        let mut newer = engram(21, "");
        newer.supersedes = Some(id(12));
        let closed = vec![
            entry(20, Change::Forgotten(id(11))),
            entry(21, Change::Stored(Box::new(newer))),
            entry(22, Change::Redacted(id(13))),
            entry(23, Change::Forgotten(id(99))),
        ];
        feed.live(closed, false);
        assert!(chosen.follow(&feed, now()));
        assert_eq!(numbers(&chosen), [19, 18, 17, 16, 15, 14, 10]);
        // Rows scrolled out of memory stay; rows that left the list do not.
        let page = |numbers: &[u64], next| FeedPage {
            entries: numbers
                .iter()
                .map(|&it| entry(it, Change::Stored(Box::new(engram(it, "")))))
                .collect(),
            next,
            head: 23,
            ..FeedPage::default()
        };
        feed.load(page(&[19, 18, 16], Some(16)), Filter::default());
        assert!(chosen.follow(&feed, now()));
        assert_eq!(numbers(&chosen), [19, 18, 16, 15, 14, 10]);
        feed.load(page(&[19], None), Filter::default());
        assert!(chosen.follow(&feed, now()));
        assert_eq!(numbers(&chosen), [19]);
    }

    #[test]
    fn what_was_done_is_not_chosen_again_before_the_list_shows_it() {
        let mut feed = feed(1..=3, None);
        let mut chosen = Selection::default();
        chosen.add(&feed.rows(), |_| true);
        chosen.settle([id(1), id(2)].into_iter());
        assert_eq!(numbers(&chosen), [3]);
        chosen.add(&feed.rows(), |_| true);
        chosen.toggle(feed.get(id(2)).unwrap());
        assert_eq!(numbers(&chosen), [3]);
        chosen.follow(&feed, now());
        assert!(chosen.is_settling(id(1)) && chosen.is_settling(id(2)));
        let mut todo = engram(4, "");
        todo.asks = Some(engram(1, "").lineage_id);
        todo.kind = Kind::Todo;
        feed.live(
            vec![
                entry(4, Change::Stored(Box::new(todo))),
                entry(5, Change::Forgotten(id(2))),
            ],
            false,
        );
        chosen.follow(&feed, now());
        assert!(!chosen.is_settling(id(1)) && !chosen.is_settling(id(2)));
    }

    #[test]
    fn ten_thousand_are_chosen_and_followed() {
        let mut chosen = Selection::default();
        for from in (1..=10_000u64).step_by(2_000) {
            let feed = feed(from..=from + 1_999, Some(from));
            chosen.add(&feed.rows(), |_| true);
        }
        let mut newest = feed(8_001..=10_000, Some(8_001));
        newest.live(vec![entry(10_001, Change::Forgotten(id(9_000)))], false);
        assert!(chosen.follow(&newest, now()));
        assert_eq!(chosen.fitting(ClaimAction::Forget).len(), 9_999);
    }

    #[test]
    fn a_deed_is_done_to_those_that_it_is_for() {
        let mut asked = engram(4, "evidence_gone");
        asked.asked = Some(id(9));
        let all = [
            engram(1, ""),
            engram(2, "holds"),
            engram(3, "needs_reverification"),
            asked,
            engram(5, "evidence_gone"),
        ];
        let mut chosen = Selection::default();
        chosen.add(&all.map(Arc::new), |_| true);
        for (action, want) in [
            (ClaimAction::Confirm, &[3][..]),
            (ClaimAction::Deny, &[5, 4, 3]),
            (ClaimAction::Ask, &[5, 3]),
            (ClaimAction::Forget, &[5, 4, 3, 2, 1]),
        ] {
            let fitting = chosen.fitting(action);
            let numbers: Vec<u64> = fitting.iter().map(|it| it.seq).collect();
            assert_eq!(numbers, want, "{action:?}");
            assert_eq!(chosen.count(action), want.len(), "{action:?}");
        }
        assert_eq!(chosen.text(), "Claim 5\nClaim 4\nClaim 3\nClaim 2\nClaim 1");
        let (names, more) = short_names(&chosen.rows());
        assert_eq!((names[0].as_str(), names.len(), more), ("Claim 5", 3, 2));
    }
}
