//! What was done to a claim, as a person reads it: who, when, and what changed.

use std::collections::HashMap;

use engram_model::{Change, ConflictId, Did, Engram, EngramId, Entry, How};
use jiff::Timestamp;

use crate::words::{self, author_name, say};

/// One entry of a claim's history.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    /// Who did it.
    pub by: String,
    /// What they did.
    pub did: &'static str,
    /// When.
    pub at: Timestamp,
    /// The version that resulted, with its claim.
    pub version: Option<(EngramId, String)>,
    /// The words that it replaced, if they differ.
    pub before: Option<String>,
    /// Where the evidence of that version differs from the previous version's: from, to.
    pub moved: Option<(String, String)>,
    /// Whether that version ended and can be restored.
    pub can_restore: bool,
    /// Whether somebody else said the same.
    pub is_repetition: bool,
    /// The conflict whose verdict this entry reports.
    pub conflict: Option<ConflictId>,
}

/// Returns the history in the entries of a claim's log, in their order.
pub fn history(entries: &[Entry]) -> Vec<HistoryEntry> {
    let stored = entries.iter().filter_map(|it| it.change.stored());
    let all: HashMap<EngramId, &Engram> = stored.map(|it| (it.id, it)).collect();
    entries
        .iter()
        .filter_map(|it| history_entry(it, &all))
        .collect()
}

fn history_entry(entry: &Entry, all: &HashMap<EngramId, &Engram>) -> Option<HistoryEntry> {
    let plain = |did| HistoryEntry {
        by: match (entry.by.as_str(), &entry.agent) {
            ("" | "user", None) => say::engram::YOU.to_owned(),
            (by, _) => words::visible(author_name(by)),
        },
        did,
        at: entry.at,
        version: None,
        before: None,
        moved: None,
        can_restore: false,
        is_repetition: false,
        conflict: None,
    };
    if let Change::Resolved { id, .. } = entry.change {
        return Some(HistoryEntry {
            conflict: Some(id),
            ..plain(say::acts::MERGED_INTO)
        });
    }
    let it_did = Did::of(&entry.change, |id| all.get(&id).copied())?;
    Some(match &entry.change {
        Change::Stored(engram) if it_did != Did::Asked => {
            let before = engram.supersedes.and_then(|id| all.get(&id).copied());
            HistoryEntry {
                version: Some((engram.id, words::claim(engram))),
                before: before
                    .filter(|before| before.claim != engram.claim && !before.redacted)
                    .map(words::claim),
                moved: before.and_then(|before| moved_evidence(before, engram)),
                can_restore: engram.valid_until.is_some()
                    && !engram.redacted
                    && !all.values().any(|it| restores(it, engram.id)),
                ..plain(act_in_words(it_did))
            }
        }
        _ => HistoryEntry {
            is_repetition: it_did == Did::Repeated,
            conflict: match it_did {
                Did::Lost(lost) => Some(lost.conflict),
                _ => None,
            },
            ..plain(act_in_words(it_did))
        },
    })
}

/// Whether a version holds that repeats this one.
fn restores(now: &Engram, id: EngramId) -> bool {
    now.restores == Some(id) && now.valid_until.is_none()
}

fn act_in_words(did: Did) -> &'static str {
    match did {
        Did::Stored => say::acts::STORED,
        Did::Confirmed => say::acts::CONFIRMED,
        Did::Corrected => say::acts::CORRECTED,
        Did::Restored => say::acts::RESTORED,
        Did::Repeated => say::acts::SAID,
        Did::Asked => say::acts::ASKED,
        Did::Answered => say::acts::ANSWERED,
        Did::Forgot => say::acts::FORGOT,
        Did::Lost(lost) if lost.how == How::Merge => say::acts::MERGED,
        Did::Lost(_) => say::acts::LOST,
        Did::Redacted => say::acts::REDACTED,
        Did::Promoted => say::acts::PROMOTED,
        Did::Widened => say::acts::WIDENED,
    }
}

/// Returns the first evidence that moved or was replaced.
fn moved_evidence(before: &Engram, now: &Engram) -> Option<(String, String)> {
    let pairs = before.pointers.iter().zip(&now.pointers);
    let (from, to) = pairs
        .map(|(from, to)| (from.label(), to.label()))
        .find(|(from, to)| from != to)?;
    Some((words::visible(&from), words::visible(&to)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn id(number: u32) -> String {
        format!("01ARZ3NDEKTSV4RRFFQ69G5F{number:02}")
    }

    fn stored(number: u32, claim: &str, line: u32, more: serde_json::Value) -> serde_json::Value {
        let mut engram = json!({
            "id": id(number), "seq": number, "lineage_id": id(1), "project": id(0), "claim": claim,
            "kind": "fact", "fact_type": "observation", "scope": "project", "topic": "",
            "pointers": [{"type": "repo", "ref": format!("repo:a.rs#L{line}@abc1234")}],
            "confidence": 0.7, "durability": "durable", "tags": [], "hash_keys": [], "entities": [],
            "provenance": {"created_at": "2026-01-08T09:00:00Z", "created_by": "ada", "source": "agent"},
            "agent": "h1", "content_hash": claim, "valid_from": "2026-01-08T09:00:00Z",
            "recorded_at": "2026-01-08T09:00:00Z", "memory_op": "add", "verified": true
        });
        for (key, value) in more.as_object().unwrap() {
            engram[key] = value.clone();
        }
        json!({"kind": "stored", "with": engram})
    }

    fn entry(seq: u64, by: &str, agent: Option<&str>, change: serde_json::Value) -> Entry {
        let mut entry =
            json!({"seq": seq, "at": "2026-01-08T09:00:00Z", "by": by, "change": change});
        if let Some(agent) = agent {
            entry["agent"] = json!(agent);
        }
        serde_json::from_value(entry).unwrap()
    }

    #[test]
    fn an_act_is_of_who_did_it_and_says_what_changed() {
        let ended = "2026-01-08T10:00:00Z";
        let entries = [
            entry(
                8,
                "user",
                None,
                stored(
                    6,
                    "It is slow.",
                    5,
                    json!({"restores": id(4), "supersedes": id(5)}),
                ),
            ),
            entry(
                7,
                "bob",
                Some("h2"),
                stored(
                    5,
                    "It is fast.",
                    5,
                    json!({"supersedes": id(4), "valid_until": ended}),
                ),
            ),
            entry(6, "user", None, json!({"kind": "forgotten", "with": id(3)})),
            entry(
                5,
                "user",
                None,
                stored(
                    4,
                    "It is slow.",
                    5,
                    json!({"supersedes": id(1), "valid_until": ended}),
                ),
            ),
            entry(
                4,
                "",
                None,
                stored(
                    3,
                    "Is it?",
                    2,
                    json!({"asks": id(1), "lineage_id": id(3), "kind": "todo"}),
                ),
            ),
            entry(
                3,
                "bob",
                Some("h2"),
                json!({"kind": "corroborated", "with": id(1)}),
            ),
            entry(
                1,
                "ada",
                Some("h1"),
                stored(1, "It is slow.", 2, json!({"valid_until": ended})),
            ),
        ];
        let told: Vec<String> = history(&entries)
            .into_iter()
            .map(|entry| {
                let moved = entry.moved.map(|(from, to)| format!(", {from} to {to}"));
                let before = entry.before.map(|before| format!(", was {before}"));
                let restore = if entry.can_restore { " *" } else { "" };
                let more = [before, moved].into_iter().flatten().collect::<String>();
                format!("{} {}{more}{restore}", entry.by, entry.did)
            })
            .collect();
        assert_eq!(
            told,
            [
                "you restored it, was It is fast.",
                "bob corrected it, was It is slow. *",
                "you ended the to-do about it",
                "you confirmed it, a.rs#L2 to a.rs#L5",
                "you asked agents to check it",
                "bob said the same",
                "ada stored it *",
            ]
        );
    }

    #[test]
    fn a_wider_scope_is_no_confirmation() {
        let wider = json!({"supersedes": id(1), "scope": "org"});
        let entries = [
            entry(2, "user", None, stored(2, "It is slow.", 2, wider)),
            entry(1, "ada", Some("h1"), stored(1, "It is slow.", 2, json!({}))),
        ];
        assert_eq!(history(&entries)[0].did, "gave it a wider scope");
    }

    #[test]
    fn a_claim_that_a_merge_stored_names_the_conflict() {
        let conflict = "01K0000000000000000000000C";
        let merge = json!({"kind": "resolved", "with": {
            "id": conflict, "status": "resolved", "how": "merge", "closed": [], "stored": [id(1)],
        }});
        let entries = [
            entry(2, "user", None, merge),
            entry(1, "user", None, stored(1, "It is slow.", 2, json!({}))),
        ];
        let history = history(&entries);
        let told = history.iter().map(|it| (it.did, it.conflict));
        let named = Some(conflict.parse().unwrap());
        let want = [("merged two claims into it", named), ("stored it", None)];
        assert_eq!(told.collect::<Vec<_>>(), want);
    }

    #[test]
    fn what_a_verdict_ended_was_not_forgotten() {
        let conflict = "01K0000000000000000000000C";
        for (how, did) in [
            ("winner", "chose the other claim in a conflict"),
            ("merge", "merged it with another claim in a conflict"),
        ] {
            let lost = json!({
                "valid_until": "2026-01-08T10:00:00Z",
                "lost": { "conflict": conflict, "how": how }
            });
            let entries = [
                entry(2, "user", None, json!({"kind": "forgotten", "with": id(1)})),
                entry(1, "ada", Some("h1"), stored(1, "It is slow.", 2, lost)),
            ];
            let history = history(&entries);
            assert_eq!((history[0].by.as_str(), history[0].did), ("you", did));
            assert_eq!(history[0].conflict, Some(conflict.parse().unwrap()));
            assert_eq!(history[1].conflict, None);
        }
    }
}
