//! Changes of the person that the list of steps does not have: of the brief, of agents, of permissions.

use engram_model::{Change, Entry, OperationKind};

use crate::steps::{is_in_own_name, is_persons};

/// The place of the person's last change that no step lists, in entries that are newest first.
pub fn last_unlisted_change(entries: &[Entry]) -> Option<u64> {
    use OperationKind::{AgentChanged, Denied, Granted, Opened, Pinned, Revoked, Sent, Unpinned};
    let is_unlisted = |entry: &&Entry| match entry.change {
        Change::Between { what, .. } => {
            let unlisted = [
                AgentChanged,
                Denied,
                Granted,
                Opened,
                Pinned,
                Revoked,
                Sent,
                Unpinned,
            ];
            is_persons(entry) && is_in_own_name(entry) && unlisted.contains(&what)
        }
        _ => false,
    };
    entries.iter().find(is_unlisted).map(|it| it.seq)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn only_the_persons_own_changes_count() {
        let entry = |seq: u64, by: &str, agent: Option<&str>, what: &str| -> Entry {
            let change = json!({"kind": "between", "with": {"what": what, "about": []}});
            let entry = json!({
                "seq": seq, "at": "2026-01-08T10:00:00Z", "by": by, "agent": agent, "change": change,
            });
            from_value(entry).unwrap()
        };
        let entries = [
            entry(9, "user", None, "requested"),
            entry(8, "ada", Some("ada"), "pinned"),
            entry(7, "engram", None, "revoked"),
            entry(6, "user", None, "unpinned"),
            entry(5, "user", None, "pinned"),
        ];
        assert_eq!(last_unlisted_change(&entries), Some(6));
        assert_eq!(last_unlisted_change(&entries[..3]), None);
    }
}
