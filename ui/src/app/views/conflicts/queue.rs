//! The conflicts that wait for a verdict: their order, and the part of a claim that is shown in
//! little room.

use std::{collections::BTreeSet, sync::Arc};

use engram_model::{
    Conflict, ConflictId, ConflictSide, ConflictStatus, ConflictsReply, PairVerdict,
};

use super::verdict_kind::ConflictVerdict;
use crate::app::components::inbox::stepped;

/// Whether a person is still to say something of it.
pub(super) fn waits(conflict: &Conflict) -> bool {
    matches!(
        conflict.status,
        ConflictStatus::Open | ConflictStatus::Possible
    )
}

/// Returns the claim that a conflict's verdict chose; without one, the newer claim.
pub(crate) fn claim_after(conflict: &Conflict) -> String {
    let side = conflict.winner().unwrap_or(&conflict.b);
    side.claim.clone()
}

/// What the conflicts of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupName {
    /// The topic of the newer side.
    Topic(String),
    /// Possible conflicts, whatever their topics: the nearest is the likeliest.
    Near,
    /// Possible conflicts of which an agent said that both claims can hold.
    Compatible,
}

impl GroupName {
    fn of(conflict: &Conflict) -> Self {
        match conflict.status {
            ConflictStatus::Possible if is_called_compatible(conflict) => Self::Compatible,
            ConflictStatus::Possible => Self::Near,
            _ => Self::Topic(conflict.b.topic.clone()),
        }
    }
}

/// A group of conflicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What they have in common.
    pub name: GroupName,
    /// The conflicts: of a topic, the worst first; of possible ones, the nearest.
    pub rows: Vec<Arc<Conflict>>,
}

/// Whether somebody said of a pair that both claims can hold, or say the same.
fn is_called_compatible(conflict: &Conflict) -> bool {
    let mut judged = conflict.judged.iter();
    judged.any(|it| matches!(it.verdict, PairVerdict::Compatible | PairVerdict::Same))
}

/// Puts possible conflicts in order: the nearest first, and those called compatible last. Others
/// come in the order in which they are listed.
fn in_order(mut rows: Vec<Arc<Conflict>>) -> Vec<Arc<Conflict>> {
    if (rows.iter()).all(|it| it.status == ConflictStatus::Possible) {
        let nearness = |it: &Conflict| it.score.unwrap_or_default();
        rows.sort_by(|a, b| {
            let by_nearness = nearness(b).total_cmp(&nearness(a));
            let by_word = is_called_compatible(a).cmp(&is_called_compatible(b));
            by_word.then(by_nearness)
        });
    }
    rows
}

/// The listed conflicts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    rows: Vec<Arc<Conflict>>,
    omitted: u64,
    due: u64,
    possible: u64,
    /// What arrived while the pointer was on the rows.
    held: Option<(Vec<Arc<Conflict>>, u64)>,
}

impl Queue {
    /// Lists a reply as it was read.
    #[cfg(any(test, feature = "gallery"))]
    pub fn of(reply: ConflictsReply) -> Self {
        let mut queue = Self::default();
        queue.load(reply, false);
        queue
    }

    /// Lists what was read. If `holds`, no row moves, comes or goes until [`Queue::release`].
    pub fn load(&mut self, reply: ConflictsReply, holds: bool) {
        let omitted = reply.omitted.unwrap_or(0);
        self.due = reply.due;
        self.possible = reply.possible;
        let rows = in_order(reply.conflicts.into_iter().map(Arc::new).collect());
        if !holds {
            (self.rows, self.omitted, self.held) = (rows, omitted, None);
            return;
        }
        for row in &mut self.rows {
            if let Some(now) = rows.iter().find(|it| it.id == row.id) {
                *row = Arc::clone(now);
            }
        }
        self.held = Some((rows, omitted));
    }

    /// Lists what was held back; returns whether anything was.
    pub fn release(&mut self) -> bool {
        let held = self.held.take();
        if let Some((rows, omitted)) = held {
            (self.rows, self.omitted) = (rows, omitted);
            return true;
        }
        false
    }

    /// How many of those held back are not listed.
    pub fn waiting(&self) -> usize {
        let listed: BTreeSet<ConflictId> = self.rows.iter().map(|it| it.id).collect();
        let held = self.held.iter().flat_map(|(rows, _)| rows);
        held.filter(|it| !listed.contains(&it.id)).count()
    }

    /// All rows, in their order.
    pub fn rows(&self) -> &[Arc<Conflict>] {
        &self.rows
    }

    /// How many pairs of near claims wait for an answer.
    pub fn possible(&self) -> u64 {
        self.possible
    }

    /// How many comparisons are still due; the gate is shut until they are done.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// How many conflicts did not fit into the list.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns a listed conflict.
    pub fn get(&self, id: ConflictId) -> Option<Arc<Conflict>> {
        self.rows.iter().find(|it| it.id == id).cloned()
    }

    /// Returns the index of a conflict.
    pub fn place(&self, id: ConflictId) -> Option<usize> {
        self.rows.iter().position(|it| it.id == id)
    }

    /// Removes a conflict that was just settled, before the list is read again.
    pub fn remove(&mut self, id: ConflictId) {
        self.rows.retain(|it| it.id != id);
        if let Some((rows, _)) = &mut self.held {
            rows.retain(|it| it.id != id);
        }
    }

    /// Returns the groups of the rows, in the order of the rows.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for row in &self.rows {
            let name = GroupName::of(row);
            match groups.iter_mut().find(|it| it.name == name) {
                Some(group) => group.rows.push(Arc::clone(row)),
                None => groups.push(Group {
                    name,
                    rows: vec![Arc::clone(row)],
                }),
            }
        }
        groups
    }

    /// Returns the row that is `by` rows further, clamped at the ends. If `from` is none or not
    /// listed, returns the first row.
    pub fn step(&self, from: Option<ConflictId>, by: isize) -> Option<ConflictId> {
        let ids: Vec<ConflictId> = self.rows.iter().map(|it| it.id).collect();
        stepped(&ids, from.as_ref(), by)
    }

    /// Returns the conflict to open after this verdict: the next of the same severity, from the top
    /// again after the last; else the next, else the one before. Skips conflicts that the verdict
    /// closes.
    pub fn next(&self, id: ConflictId, verdict: ConflictVerdict) -> Option<ConflictId> {
        let at = self.place(id)?;
        let this = self.rows.get(at)?;
        let waits = |it: &&Arc<Conflict>| waits(it) && it.id != id && !verdict.closes(this, it);
        let later = || self.rows.iter().skip(at + 1).filter(waits);
        let earlier = || self.rows.iter().take(at).filter(waits);
        let as_severe = (later().chain(earlier())).find(|it| it.severity == this.severity);
        let next = as_severe.or_else(|| later().next());
        let next = next.or_else(|| earlier().next_back());
        next.map(|it| it.id)
    }

    /// Returns the topics of both sides of all conflicts.
    pub fn topics(&self) -> Vec<String> {
        let both = self.rows.iter().flat_map(|it| [&it.a.topic, &it.b.topic]);
        let topics: BTreeSet<&String> = both.filter(|it| !it.is_empty()).collect();
        topics.into_iter().cloned().collect()
    }
}

/// For each byte of a side's claim, whether the other side differs there.
pub fn differing_bytes(side: &ConflictSide) -> Vec<bool> {
    let differs = |at: usize| side.differs.iter().any(|it| (it.0..it.1).contains(&at));
    let chars = side.claim.chars().enumerate();
    chars
        .flat_map(|(at, it)| std::iter::repeat_n(differs(at), it.len_utf8()))
        .collect()
}

/// Characters of a claim that are shown before its first difference.
const BEFORE: usize = 26;

/// Returns a claim as one line that begins where its first difference is visible, and which of its
/// bytes differ.
pub fn excerpt(side: &ConflictSide) -> (String, Vec<bool>) {
    let first = side.differs.iter().map(|it| it.0).min().unwrap_or(0);
    let from = match first.checked_sub(BEFORE) {
        None | Some(0) => 0,
        // From the next word on; within one long word, from its middle.
        Some(from) => {
            let rest = side.claim.chars().enumerate().skip(from - 1);
            let mut rest = rest.take(BEFORE / 2);
            let space = rest.find(|(_, it)| it.is_whitespace());
            space.map_or(from, |(at, _)| at + 1)
        }
    };
    let differs = |at: usize| side.differs.iter().any(|it| (it.0..it.1).contains(&at));
    let (mut text, mut marked) = (String::new(), Vec::new());
    if from > 0 {
        text.push('…');
        marked.resize(text.len(), false);
    }
    for (at, letter) in side.claim.chars().enumerate().skip(from) {
        text.push(if letter.is_whitespace() { ' ' } else { letter });
        marked.resize(text.len(), differs(at));
    }
    (text, marked)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use engram_model::Severity;
    use serde_json::{Value, json};

    use engram_model::{PairVerdict, Settle, Tier};

    use super::*;

    fn side(claim: &str, differs: &[(usize, usize)], topic: &str, confidence: f64) -> Value {
        json!({
            "id": "01K0000000000000000000000A", "lineage_id": "01K0000000000000000000000A",
            "claim": claim, "differs": differs, "topic": topic, "by": "programmer-1",
            "created_at": "2026-01-01T00:00:00Z", "confidence": confidence,
            "fact_type": "observation", "verified": true, "valid_until": null, "pointers": []
        })
    }

    fn conflict(number: u64, status: &str, a: Value, b: Value) -> Conflict {
        serde_json::from_value(json!({
            "id": format!("{number:026}"), "status": status, "severity": "high",
            "tier": "tier2_numeric", "score": null, "why": "It differs.",
            "found_at": "2026-01-01T00:00:00Z", "a": a, "b": b, "risk": null, "settled": null,
            "allowed": null
        }))
        .unwrap()
    }

    fn of(number: u64, topic: &str, status: &str) -> Conflict {
        let side = || side("The lock lasts.", &[], topic, 0.7);
        conflict(number, status, side(), side())
    }

    fn between(a: &str, at: &[(usize, usize)], b: &str, bt: &[(usize, usize)]) -> Conflict {
        conflict(1, "open", side(a, at, "", 0.7), side(b, bt, "", 0.9))
    }

    fn reply(all: &[Conflict]) -> ConflictsReply {
        ConflictsReply {
            open: all.len() as u64,
            conflicts: all.to_vec(),
            omitted: None,
            ..ConflictsReply::default()
        }
    }

    fn id(number: u64) -> ConflictId {
        format!("{number:026}").parse().unwrap()
    }

    fn numbers(queue: &Queue) -> Vec<ConflictId> {
        queue.rows().iter().map(|it| it.id).collect()
    }

    #[test]
    fn what_holds_after_a_verdict_is_the_winner_or_the_merge() {
        let both = between("It lasts 3 s.", &[], "It lasts 5 s.", &[]);
        for (verdict, words) in [
            (ConflictVerdict::First, Some("It lasts 3 s.")),
            (ConflictVerdict::Second, Some("It lasts 5 s.")),
            (ConflictVerdict::Newer, Some("It lasts 5 s.")),
            (ConflictVerdict::Surer, Some("It lasts 5 s.")),
            (ConflictVerdict::Merge, Some("It lasts 3 to 5 s.")),
            (ConflictVerdict::Dismiss, None),
            (ConflictVerdict::Allow, None),
        ] {
            let merged = (verdict == ConflictVerdict::Merge).then_some("It lasts 3 to 5 s.");
            assert_eq!(verdict.holds(&both, merged), words, "{verdict:?}");
        }
    }

    #[test]
    fn rows_are_grouped_in_their_order() {
        let all = [
            of(1, "wallet", "open"),
            of(2, "", "open"),
            of(3, "wallet", "open"),
        ];
        let queue = Queue::of(reply(&all));
        let groups = queue.groups();
        let told: Vec<_> = groups
            .iter()
            .map(|it| (it.name.clone(), it.rows.len()))
            .collect();
        let topic = |it: &str| GroupName::Topic(it.to_owned());
        assert_eq!(told, [(topic("wallet"), 2), (topic(""), 1)]);
        assert_eq!(queue.topics(), ["wallet"]);
    }

    #[test]
    fn the_nearest_possible_conflict_comes_first_and_a_compatible_pair_last() {
        let near = |number, topic, score, verdict: Option<&str>| {
            let mut conflict = of(number, topic, "possible");
            conflict.score = Some(score);
            let said = verdict.map(
                |it| json!({"by": "ada", "verdict": it, "at": "2026-01-01T00:00:00Z", "why": null}),
            );
            conflict.judged = said
                .map(|it| serde_json::from_value(it).unwrap())
                .into_iter()
                .collect();
            conflict
        };
        let all = [
            near(1, "a", 0.81, None),
            near(2, "a", 0.99, Some("compatible")),
            near(3, "b", 0.93, Some("replaces")),
            near(4, "a", 0.84, Some("compatible")),
            near(5, "c", 0.90, None),
        ];
        let mut queue = Queue::of(reply(&all));
        assert_eq!(numbers(&queue), [3, 5, 1, 2, 4].map(id));
        let names = |queue: &Queue| -> Vec<_> {
            let groups = queue.groups().into_iter();
            groups.map(|it| (it.name, it.rows.len())).collect()
        };
        assert_eq!(
            names(&queue),
            [(GroupName::Near, 3), (GroupName::Compatible, 2)]
        );
        assert_eq!(
            queue.step(Some(id(1)), 1),
            Some(id(2)),
            "rows are stepped as shown"
        );
        // What is held back is in order too.
        queue.load(reply(&all[..2]), true);
        queue.load(
            reply(&[near(1, "a", 0.81, None), near(6, "", 0.95, None)]),
            true,
        );
        queue.release();
        assert_eq!(numbers(&queue), [6, 1].map(id));
        // Conflicts stay in their own order.
        let mut open = [near(1, "a", 0.5, None), near(2, "a", 0.9, None)];
        open.iter_mut()
            .for_each(|it| it.status = ConflictStatus::Open);
        assert_eq!(numbers(&Queue::of(reply(&open))), [1, 2].map(id));
    }

    #[test]
    fn no_row_moves_while_rows_are_held() {
        let old = [of(1, "a", "open"), of(2, "b", "open")];
        let mut queue = Queue::of(reply(&old));
        let now = [of(3, "c", "open"), of(2, "b", "resolved")];
        queue.load(reply(&now), true);
        assert_eq!(numbers(&queue), [id(1), id(2)]);
        assert_eq!(queue.waiting(), 1);
        // A held row shows its new state in its old place.
        assert_eq!(queue.get(id(2)).unwrap().status, ConflictStatus::Resolved);
        assert!(queue.release());
        assert_eq!(numbers(&queue), [id(3), id(2)]);
        assert!(!queue.release());
        assert_eq!(queue.waiting(), 0);
        // A conflict that was judged meanwhile does not come back with the rows held back.
        queue.load(reply(&now), true);
        queue.remove(id(3));
        queue.release();
        assert_eq!(numbers(&queue), [id(2)]);
    }

    #[test]
    fn steps_hold_at_the_ends_and_a_verdict_leads_to_the_next_open_one() {
        let all = [
            of(1, "a", "open"),
            of(2, "a", "resolved"),
            of(3, "a", "open"),
            of(4, "a", "dismissed"),
        ];
        let queue = Queue::of(reply(&all));
        for (from, by, want) in [
            (None, 1, 1),
            (Some(9), 1, 1),
            (Some(1), 1, 2),
            (Some(4), 1, 4),
            (Some(4), isize::MIN, 1),
            (Some(1), isize::MAX, 4),
        ] {
            assert_eq!(
                queue.step(from.map(id), by),
                Some(id(want)),
                "{from:?} {by}"
            );
        }
        for (from, want) in [(1, Some(3)), (3, Some(1)), (4, Some(1)), (9, None)] {
            assert_eq!(
                queue.next(id(from), ConflictVerdict::Dismiss),
                want.map(id),
                "{from}"
            );
        }
        assert_eq!(Queue::default().step(None, 1), None);
        let alone = Queue::of(reply(&all[..1]));
        assert_eq!(alone.next(id(1), ConflictVerdict::Dismiss), None);
    }

    /// Not to one that the verdict closes, nor to a milder one, which moves down.
    #[test]
    fn a_verdict_leads_to_the_next_one_as_severe_that_stays_open() {
        let row = |number, a: &str, b: &str, severity| Conflict {
            id: id(number),
            severity,
            ..between(a, &[], b, &[])
        };
        let (high, medium) = (Severity::High, Severity::Medium);
        let queue = Queue::of(reply(&[
            row(1, "It holds 250 rows.", "It holds 500 rows.", high),
            row(2, "It holds 500 rows.", "It holds 1000 rows.", high),
            row(3, "It is new.", "It is old.", medium),
            row(4, "It is red.", "It is blue.", high),
        ]));
        for (from, verdict, want) in [
            (1, ConflictVerdict::First, 4),
            (1, ConflictVerdict::Second, 2),
            (1, ConflictVerdict::Merge, 4),
            (2, ConflictVerdict::Dismiss, 4),
            (3, ConflictVerdict::First, 4),
            // From the top again, before a milder one.
            (4, ConflictVerdict::First, 1),
        ] {
            assert_eq!(
                queue.next(id(from), verdict),
                Some(id(want)),
                "{from} {verdict:?}"
            );
        }
    }

    #[test]
    fn a_verdict_is_offered_where_it_can_be_said() {
        let same = of(1, "a", "open");
        let surer = between("a", &[], "b", &[]);
        let settled = of(1, "a", "resolved");
        let fitting = |it: &Conflict| ConflictVerdict::ALL.map(|verdict| verdict.fits(it));
        assert_eq!(
            fitting(&same),
            [true, true, true, false, true, false, true, true]
        );
        assert_eq!(
            fitting(&surer),
            [true, true, true, true, true, false, true, true]
        );
        assert_eq!(fitting(&settled), [false; 8]);
        // A possible one is merged, confirmed or dismissed; one that an agent raised can be confirmed too.
        let mut possible = Conflict {
            status: ConflictStatus::Possible,
            tier: Tier::Agent,
            ..surer.clone()
        };
        let only = [false, false, false, false, true, true, true, false];
        assert_eq!(fitting(&possible), only);
        let offered = ConflictVerdict::ALL.map(|verdict| verdict.is_offered(&possible));
        assert_eq!(offered, only);
        let judged = |verdict| Some(Settle::Judge { verdict, key: None });
        assert_eq!(
            [ConflictVerdict::Contradict, ConflictVerdict::Dismiss].map(|it| it.settle(&possible)),
            [
                judged(PairVerdict::Contradicts),
                judged(PairVerdict::Compatible)
            ]
        );
        possible.status = ConflictStatus::Open;
        // One that nobody confirmed blocks nothing, so nothing is to be allowed.
        let unconfirmed = [true, true, true, true, true, true, true, false];
        assert_eq!(fitting(&possible), unconfirmed);
        assert!(!ConflictVerdict::Allow.is_offered(&possible));
        possible.risk = Some(possible.a.id);
        assert!(!ConflictVerdict::Contradict.fits(&possible));
        assert!(ConflictVerdict::Allow.fits(&possible));
        let mut allowed = serde_json::to_value(&same).unwrap();
        allowed["allowed"] = json!({"by": "user", "at": "2026-01-01T00:00:00Z", "why": "Known."});
        let allowed: Conflict = serde_json::from_value(allowed).unwrap();
        assert!(!ConflictVerdict::Allow.fits(&allowed) && ConflictVerdict::First.fits(&allowed));
        let sent = ConflictVerdict::ALL.map(|it| it.settle(&same).is_some());
        assert_eq!(sent, [true, true, true, true, false, true, true, false]);
    }

    /// Puts the differing parts in brackets.
    fn drawn(text: &str, marked: &[bool]) -> String {
        assert_eq!(text.len(), marked.len());
        let mut drawn = String::new();
        let mut was = false;
        for (at, letter) in text.char_indices() {
            if marked[at] != was {
                drawn.push(if was { ']' } else { '[' });
                was = !was;
            }
            drawn.push(letter);
        }
        if was {
            drawn.push(']');
        }
        drawn
    }

    #[test]
    fn what_differs_is_marked_by_characters() {
        for (claim, differs, want) in [
            (
                "The lock lasts 3 minutes.",
                &[(15, 24)][..],
                "The lock lasts [3 minutes].",
            ),
            ("Größe: 4 µs", &[(7, 11)], "Größe: [4 µs]"),
            ("נעול 3 דקות", &[(5, 6)], "נעול [3] דקות"),
            // Whatever an answer says, nothing beyond the claim is marked.
            ("short", &[(3, 99), (50, 60), (4, 2)], "sho[rt]"),
            ("", &[(0, 1)], ""),
        ] {
            let side: ConflictSide = serde_json::from_value(side(claim, differs, "", 0.5)).unwrap();
            assert_eq!(drawn(claim, &differing_bytes(&side)), want);
        }
    }

    #[test]
    fn a_row_begins_where_the_difference_is_seen() {
        for (claim, differs, want) in [
            (
                "The lock lasts 3 minutes.",
                &[(15, 24)][..],
                "The lock lasts [3 minutes].",
            ),
            ("Two\nlines  here", &[], "Two lines  here"),
            (
                "After the third failed attempt within an hour a wallet stays locked for half an hour.",
                &[(72, 84)],
                "…a wallet stays locked for [half an hour].",
            ),
            (
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
                &[(56, 57)],
                "…aaaaaaaaaaaaaaaaaaaaaaaaaa[b]",
            ),
        ] {
            let side: ConflictSide = serde_json::from_value(side(claim, differs, "", 0.5)).unwrap();
            let (text, marked) = excerpt(&side);
            assert_eq!(drawn(&text, &marked), want);
        }
    }
}
