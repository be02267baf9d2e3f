//! What the person did, newest first, according to the journal: what can be undone, and what
//! overtook the rest.

use std::collections::{HashMap, HashSet};

use engram_model::{Change, ConflictId, Did, Engram, EngramId, Entry, How};
use jiff::Timestamp;

use crate::{
    feed::is_own,
    words::{self, say},
};

/// The author of what the engine itself says.
const ENGINE: &str = "engram";

/// What undoes a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Reversal {
    /// This version is restored.
    Restore(EngramId),
    /// This claim or to-do is forgotten.
    Forget(EngramId),
    /// The last verdict on this conflict is undone, or the word that made it one.
    Reopen(ConflictId),
    /// This conflict blocks the gate again.
    Disallow(ConflictId),
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepState {
    /// It stands, so it can be undone.
    Stands(Reversal),
    /// It was undone.
    Undone,
    /// Something came after it: what, and by whom.
    Overtaken(String),
}

/// What a step was done to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSubject {
    /// A version of a claim.
    Claim(EngramId),
    /// A conflict.
    Conflict(ConflictId),
}

/// One step of the person.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its place in the journal.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What was done.
    pub did: &'static str,
    /// The agent in whose name, as `engram put --agent` has it; none for the person's own.
    pub in_name_of: Option<String>,
    /// To what.
    pub of: StepSubject,
    /// The claim; empty if these entries do not have it.
    pub words: String,
    /// What became of it.
    pub state: StepState,
}

/// What later entries did to claims and conflicts.
#[derive(Default)]
struct Later {
    /// Versions that were restored, each with the last version that does so.
    restored: HashMap<EngramId, EngramId>,
    /// What ended each version.
    ended: HashMap<EngramId, StepState>,
    /// What became of the last verdict on each conflict.
    settled: HashMap<ConflictId, StepState>,
    /// How many undos of each conflict belong to steps before the entry.
    undos: HashMap<ConflictId, u32>,
    /// What became of the word that made each pair a conflict, if it was not undone.
    confirmed: HashMap<ConflictId, StepState>,
    /// What became of the allowance of each conflict.
    allowed: HashMap<ConflictId, StepState>,
    /// What verdicts closed and stored.
    by_verdict: HashSet<EngramId>,
    /// The times of the person's claims: what ended at the same time ended with them.
    stored_at: HashSet<Timestamp>,
}

/// Returns the person's steps in entries of the journal, which are newest first.
pub fn steps_of(entries: &[Entry]) -> Vec<Step> {
    let stored = entries.iter().filter_map(|it| it.change.stored());
    let all: HashMap<EngramId, &Engram> = stored.map(|it| (it.id, it)).collect();
    let mut later = Later::default();
    let persons = entries.iter().filter(|it| is_persons(it));
    let stores = persons.filter(|it| it.change.stored().is_some());
    later.stored_at = stores.map(|it| it.at).collect();
    let mut steps = Vec::new();
    for entry in entries {
        steps.extend(step_of(entry, &all, &later));
        later.note(entry, &all);
    }
    steps
}

fn step_of(entry: &Entry, all: &HashMap<EngramId, &Engram>, later: &Later) -> Option<Step> {
    if !is_persons(entry) || entry.change.stored().is_some_and(Engram::is_sample) {
        return None;
    }
    let step = |did, of, words: String, state| Step {
        seq: entry.seq,
        at: entry.at,
        did,
        in_name_of: (!is_in_own_name(entry)).then(|| words::person(&entry.by)),
        of,
        words,
        state,
    };
    let state = |known: Option<&StepState>, undo| known.cloned().unwrap_or(StepState::Stands(undo));
    Some(match &entry.change {
        Change::Resolved {
            id, how: Some(how), ..
        } => {
            let did = match how {
                How::Merge => say::steps::MERGED,
                How::Dismissed => say::steps::DISMISSED,
                _ => say::steps::SETTLED,
            };
            let state = state(later.settled.get(id), Reversal::Reopen(*id));
            step(did, StepSubject::Conflict(*id), String::new(), state)
        }
        Change::Conflict { id, tier, .. } if tier.is_word() => {
            let state = if later.undos.contains_key(id) {
                StepState::Undone
            } else {
                state(later.confirmed.get(id), Reversal::Reopen(*id))
            };
            step(
                say::steps::CONTRADICTED,
                StepSubject::Conflict(*id),
                String::new(),
                state,
            )
        }
        Change::Allowed(id) => {
            let state = state(later.allowed.get(id), Reversal::Disallow(*id));
            step(
                say::steps::ALLOWED,
                StepSubject::Conflict(*id),
                String::new(),
                state,
            )
        }
        Change::Forgotten(id) => {
            let known = all.get(id);
            let is_part = later.by_verdict.contains(id)
                || later.stored_at.contains(&entry.at)
                || known.is_some_and(|it| ends_with_another_step(it, all));
            if is_part {
                return None;
            }
            let state = if later.restored.contains_key(id) {
                StepState::Undone
            } else {
                StepState::Stands(Reversal::Restore(*id))
            };
            let words = known.map(|it| words::claim(it)).unwrap_or_default();
            step(say::steps::FORGOT, StepSubject::Claim(*id), words, state)
        }
        Change::Stored(engram) if !later.by_verdict.contains(&engram.id) && !engram.redacted => {
            let (did, state) = storing(&entry.change, engram, all, later)?;
            step(
                did,
                StepSubject::Claim(engram.id),
                words::claim(engram),
                state,
            )
        }
        _ => return None,
    })
}

/// What the person did by storing a version, and what became of it.
fn storing(
    change: &Change,
    engram: &Engram,
    all: &HashMap<EngramId, &Engram>,
    later: &Later,
) -> Option<(&'static str, StepState)> {
    let did = match Did::of(change, |id| all.get(&id).copied())? {
        Did::Stored => say::steps::ADDED,
        Did::Asked => say::steps::ASKED,
        Did::Confirmed => words::ending::confirmed(engram, |id| all.get(&id).copied()),
        Did::Corrected => say::steps::CORRECTED,
        _ => return None,
    };
    // If it was replaced and that was undone, it holds as another version.
    let now = later.holder(engram.id);
    let undo = match engram.supersedes.filter(|_| engram.asks.is_none()) {
        Some(before) => Reversal::Restore(before),
        None => Reversal::Forget(now),
    };
    let has_ended = all.get(&now).is_some_and(|it| it.valid_until.is_some());
    let state = match later.ended.get(&now) {
        Some(known) => known.clone(),
        None if has_ended => StepState::Overtaken(say::steps::ENDED.to_owned()),
        None => StepState::Stands(undo),
    };
    Some((did, state))
}

/// Whether the person did it, perhaps in the name of an agent; what the engine itself does has no
/// agent either.
pub(crate) fn is_persons(entry: &Entry) -> bool {
    entry.agent.is_none() && entry.by != ENGINE
}

/// Whether an entry of the person names no agent.
pub(crate) fn is_in_own_name(entry: &Entry) -> bool {
    ["", "user"].contains(&entry.by.as_str())
}

/// Whether the end of a claim is part of another step. A sample is removed as a whole, and made
/// anew.
fn ends_with_another_step(engram: &Engram, all: &HashMap<EngramId, &Engram>) -> bool {
    engram.lost.is_some()
        || engram.asks.is_some()
        || engram.is_sample()
        || is_new_of_person(engram, all)
}

/// Whether a version is a claim or a to-do that the person added, or restores one: forgetting it
/// undoes that.
fn is_new_of_person(engram: &Engram, all: &HashMap<EngramId, &Engram>) -> bool {
    let mut first = engram;
    // A version restores an older one; the bound is for a damaged journal.
    for _ in 0..all.len() {
        match first.restores.and_then(|it| all.get(&it)) {
            Some(older) => first = older,
            None => break,
        }
    }
    is_own(first) && first.supersedes.is_none() && first.restores.is_none()
}

impl Later {
    /// Notes what an entry means for those before it.
    fn note(&mut self, entry: &Entry, all: &HashMap<EngramId, &Engram>) {
        let is_person = is_persons(entry);
        let by = if is_person && is_in_own_name(entry) {
            say::engram::YOU.to_owned()
        } else {
            words::person(&entry.by)
        };
        let overtaken = |did: &str| StepState::Overtaken(say::steps::overtaken_by(did, &by));
        match &entry.change {
            Change::Resolved {
                id,
                how,
                closed,
                stored,
                ..
            } => {
                let state = match how {
                    None => StepState::Undone,
                    Some(_) => overtaken(say::steps::SETTLED_AGAIN),
                };
                self.settled.insert(*id, state);
                if how.is_none() {
                    *self.undos.entry(*id).or_default() += 1;
                } else if !self.takes_undo(*id) {
                    self.confirmed
                        .insert(*id, overtaken(say::steps::BY_VERDICT));
                }
                self.allowed.insert(*id, overtaken(say::steps::BY_VERDICT));
                self.by_verdict.extend(closed.iter().chain(stored));
                for id in closed {
                    self.ended.insert(*id, overtaken(say::steps::BY_VERDICT));
                }
            }
            Change::Conflict { id, tier, .. } => {
                if !(is_person && tier.is_word() && self.takes_undo(*id)) {
                    self.confirmed
                        .insert(*id, overtaken(say::steps::SAID_AGAIN));
                }
                self.settled.insert(*id, overtaken(say::steps::SAID_AGAIN));
            }
            Change::Disallowed(id) => {
                self.allowed.insert(*id, StepState::Undone);
            }
            Change::Allowed(id) => {
                self.allowed
                    .insert(*id, overtaken(say::steps::ALLOWED_AGAIN));
            }
            Change::Forgotten(id) => {
                let known = all.get(id);
                let undoes = is_person && known.is_some_and(|it| is_new_of_person(it, all));
                let state = if undoes {
                    StepState::Undone
                } else {
                    overtaken(say::steps::FORGOTTEN)
                };
                if !self.restored.contains_key(id) {
                    self.ended.entry(*id).or_insert(state);
                }
            }
            Change::Redacted(id) => {
                self.ended.insert(*id, overtaken(say::steps::REDACTED));
            }
            Change::Stored(engram) => {
                if let Some(old) = engram.restores {
                    self.restored.entry(old).or_insert(engram.id);
                }
                if let Some(before) = engram.supersedes.filter(|it| engram.restores != Some(*it)) {
                    let state = match engram.restores {
                        Some(_) if is_person => StepState::Undone,
                        _ => {
                            let did = Did::of(&entry.change, |id| all.get(&id).copied());
                            overtaken(say::steps::replaced(did))
                        }
                    };
                    self.ended.insert(before, state);
                }
            }
            _ => {}
        }
    }

    /// The version as which this one holds, if it was restored, or its own id.
    fn holder(&self, id: EngramId) -> EngramId {
        let mut holder = id;
        // A version is restored by a newer one; the bound is for a damaged journal.
        for _ in 0..self.restored.len() {
            match self.restored.get(&holder) {
                Some(newer) => holder = *newer,
                None => break,
            }
        }
        holder
    }

    /// Counts one of the later undos of a conflict as that of the current entry; returns whether
    /// there was one.
    fn takes_undo(&mut self, id: ConflictId) -> bool {
        let Some(count) = self.undos.get_mut(&id) else {
            return false;
        };
        *count -= 1;
        if *count == 0 {
            self.undos.remove(&id);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;

    const AT: &str = "2026-01-08T09:00:00Z";

    fn id(number: u32) -> String {
        format!("01ARZ3NDEKTSV4RRFFQ69G5F{number:02}")
    }

    fn stored_change(number: u32, agent: Option<&str>, more: Value) -> Value {
        let by = if agent.is_some() { "ada" } else { "user" };
        let mut engram = json!({
            "id": id(number), "seq": number, "lineage_id": id(1), "project": id(0),
            "claim": format!("Claim {number}."), "kind": "fact", "fact_type": "observation",
            "scope": "project", "topic": "",
            "pointers": [{"type": "repo", "ref": "repo:a.rs#L1@abc1234"}],
            "confidence": 0.7, "durability": "durable", "tags": [], "hash_keys": [], "entities": [],
            "provenance": {"created_at": AT, "created_by": by, "source": "agent"},
            "agent": agent, "content_hash": number.to_string(), "valid_from": AT,
            "recorded_at": AT, "memory_op": "add", "verified": true
        });
        for (key, value) in more.as_object().unwrap() {
            engram[key] = value.clone();
        }
        json!({"kind": "stored", "with": engram})
    }

    /// Entries, newest first; each at its own time.
    fn entries(all: Vec<(Option<&str>, Value)>) -> Vec<Entry> {
        let count = all.len();
        let entry = |(at, (agent, change)): (usize, (Option<&str>, Value))| {
            let by = if agent.is_some() { "ada" } else { "user" };
            let mut entry = json!({
                "seq": count - at, "at": format!("2026-01-08T10:{:02}:00Z", count - at), "by": by,
                "change": change,
            });
            if let Some(agent) = agent {
                entry["agent"] = json!(agent);
            }
            serde_json::from_value(entry).unwrap()
        };
        all.into_iter().enumerate().map(entry).collect()
    }

    fn states_of(all: Vec<(Option<&str>, Value)>) -> Vec<(&'static str, String)> {
        let state = |state| match state {
            StepState::Stands(_) => "stands".to_owned(),
            StepState::Undone => "undone".to_owned(),
            StepState::Overtaken(by) => by,
        };
        let steps = steps_of(&entries(all)).into_iter();
        steps.map(|it| (it.did, state(it.state))).collect()
    }

    fn verdict_change(how: Value, closed: u32) -> Value {
        json!({"kind": "resolved", "with": {
            "id": id(90), "status": "resolved", "how": how, "closed": [id(closed)], "stored": [],
        }})
    }

    #[test]
    fn steps_are_the_persons_and_say_what_became_of_them() {
        let ended = json!({"valid_until": "2026-01-09T09:00:00Z"});
        let steps = states_of(vec![
            // An agent corrects what the person added.
            (
                Some("h1"),
                stored_change(6, Some("h1"), json!({"supersedes": id(5)})),
            ),
            (None, stored_change(5, None, ended)),
            (None, json!({"kind": "forgotten", "with": id(4)})),
            (None, verdict_change(json!("winner"), 3)),
            // What a verdict ends is not a step of its own.
            (None, json!({"kind": "forgotten", "with": id(3)})),
            (Some("h1"), stored_change(3, Some("h1"), json!({}))),
        ]);
        assert_eq!(
            steps,
            [
                (
                    say::steps::ADDED,
                    say::steps::overtaken_by(say::steps::REPLACED, "ada")
                ),
                (say::steps::FORGOT, "stands".to_owned()),
                (say::steps::SETTLED, "stands".to_owned()),
            ]
        );
    }

    #[test]
    fn an_answered_to_do_was_not_replaced() {
        let asked = json!({"kind": "todo", "valid_until": "2026-01-09T09:00:00Z"});
        let asked = stored_change(5, None, asked);
        let answer = stored_change(6, Some("h1"), json!({"supersedes": id(5)}));
        let steps = states_of(vec![(Some("h1"), answer), (None, asked)]);
        assert_eq!(steps[0].1, say::steps::overtaken_by("answered", "ada"));
    }

    /// An addition whose correction was undone stands, and is undone next.
    #[test]
    fn an_undone_correction_leaves_the_addition_to_undo() {
        let ended = json!({"valid_until": "2026-01-09T09:00:00Z"});
        let with = |more: Value| {
            let mut all = ended.clone();
            let more = more.as_object().unwrap().clone();
            all.as_object_mut().unwrap().extend(more);
            all
        };
        let restored = json!({"supersedes": id(6), "restores": id(5)});
        let before = vec![
            (
                None,
                stored_change(6, None, with(json!({"supersedes": id(5)}))),
            ),
            (None, stored_change(5, None, ended.clone())),
        ];
        let mut all = vec![(None, stored_change(7, None, restored.clone()))];
        all.extend(before.clone());
        let stands = |it: &Step| matches!(it.state, StepState::Stands(_));
        let next = steps_of(&entries(all)).into_iter().find(stands).unwrap();
        assert_eq!(next.did, say::steps::ADDED);
        let holds: EngramId = id(7).parse().unwrap();
        assert_eq!(next.state, StepState::Stands(Reversal::Forget(holds)));

        let mut all = vec![
            (None, json!({"kind": "forgotten", "with": id(7)})),
            (None, stored_change(7, None, with(restored))),
        ];
        all.extend(before);
        assert_eq!(
            states_of(all),
            [
                (say::steps::CORRECTED, "undone".to_owned()),
                (say::steps::ADDED, "undone".to_owned())
            ]
        );
    }

    #[test]
    fn what_the_person_did_in_the_name_of_an_agent_is_listed_with_that_name() {
        let provenance = json!({"created_at": AT, "created_by": "codex", "source": "agent"});
        let named = json!({"provenance": provenance});
        let mut all = entries(vec![
            (None, json!({"kind": "forgotten", "with": id(2)})),
            (None, stored_change(2, None, named)),
            (None, stored_change(1, None, json!({"kind": "risk"}))),
        ]);
        all[1].by = "codex".to_owned();
        all[2].by = "engram".to_owned();
        let steps = steps_of(&all[1..]);
        assert_eq!(steps.len(), 1, "what the engine says is no step");
        assert_eq!(steps[0].did, say::steps::ADDED);
        assert_eq!(steps[0].in_name_of.as_deref(), Some("codex"));
        let undo = Reversal::Forget(id(2).parse().unwrap());
        assert_eq!(steps[0].state, StepState::Stands(undo));
        // To forget it is a step of its own, as with any claim of an agent.
        let steps = steps_of(&all);
        assert_eq!((steps.len(), steps[0].did), (2, say::steps::FORGOT));
        let overtaken = say::steps::overtaken_by(say::steps::FORGOTTEN, say::engram::YOU);
        assert_eq!(steps[1].state, StepState::Overtaken(overtaken));
    }

    #[test]
    fn to_load_or_remove_a_sample_is_no_step() {
        let sample = json!({
            "tags": ["sample"], "topic": "sample/retry", "scope": "run",
            "valid_until": "2026-01-09T09:00:00Z",
        });
        for agent in [Some("h1"), None] {
            let steps = states_of(vec![
                (None, json!({"kind": "forgotten", "with": id(3)})),
                (agent, stored_change(3, agent, sample.clone())),
            ]);
            assert_eq!(steps, [], "{agent:?}");
        }
    }

    #[test]
    fn an_undo_is_no_step_and_marks_the_one_that_it_undoes() {
        let steps = states_of(vec![
            (
                None,
                stored_change(5, None, json!({"restores": id(4), "supersedes": id(4)})),
            ),
            (None, verdict_change(Value::Null, 3)),
            (None, verdict_change(json!("winner"), 3)),
            (None, json!({"kind": "forgotten", "with": id(4)})),
            (None, json!({"kind": "disallowed", "with": id(90)})),
            (None, json!({"kind": "allowed", "with": id(90)})),
        ]);
        assert_eq!(
            steps,
            [
                (say::steps::SETTLED, "undone".to_owned()),
                (say::steps::FORGOT, "undone".to_owned()),
                (say::steps::ALLOWED, "undone".to_owned()),
            ]
        );
    }

    #[test]
    fn a_verdict_on_what_was_said_again_is_overtaken() {
        let again = json!({"kind": "conflict", "with": {
            "id": id(90), "engrams": [id(1), id(2)], "tier": "tier0_entity", "severity": "high",
        }});
        let steps = states_of(vec![
            (Some("h1"), again),
            (None, verdict_change(json!("winner"), 3)),
        ]);
        let overtaken = say::steps::overtaken_by(say::steps::SAID_AGAIN, "ada");
        assert_eq!(steps, [(say::steps::SETTLED, overtaken)]);
    }

    #[test]
    fn a_word_that_made_a_conflict_is_a_step_below_the_verdicts_on_it() {
        let word = json!({"kind": "conflict", "with": {
            "id": id(90), "engrams": [id(1), id(2)], "tier": "agent", "severity": "medium",
        }});
        let undo = || (None, verdict_change(Value::Null, 3));
        let verdict = || (None, verdict_change(json!("winner"), 3));
        let word = || (None, word.clone());
        let by_you = |did| say::steps::overtaken_by(did, say::engram::YOU);
        for (entries, of_word) in [
            (vec![word()], "stands".to_owned()),
            (vec![undo(), word()], "undone".to_owned()),
            (vec![verdict(), word()], by_you(say::steps::BY_VERDICT)),
            (vec![undo(), verdict(), word()], "stands".to_owned()),
            (vec![undo(), undo(), verdict(), word()], "undone".to_owned()),
            (vec![word(), undo(), word()], "undone".to_owned()),
        ] {
            let steps = states_of(entries);
            let last = steps.last().unwrap();
            assert_eq!(last, &(say::steps::CONTRADICTED, of_word), "{steps:?}");
        }
        // What a rule found in the person's claim is no step.
        let found = json!({"kind": "conflict", "with": {
            "id": id(90), "engrams": [id(1), id(2)], "tier": "tier0_entity", "severity": "high",
        }});
        assert_eq!(states_of(vec![(None, found)]), []);
    }
}
