//! The tags of what a page reads, and the one table of which change makes which of them stale.

use engram_model::{Change, EngramId};

/// Something that was read, and is read again once it is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// The numbers of engrams and agents, and what is in doubt.
    Status,
    /// How many engrams each value of a filter leaves.
    Facets,
    /// Lists by evidence or by what has ended, which no entry reports by itself.
    Doubts,
    /// What a search finds.
    Found,
    /// The conflicts, and the status of each.
    Conflicts,
    /// The sides of conflicts: a conflict may end with a side, which no entry reports by itself.
    Sides,
    /// What agents asked to read, and what became of it.
    Requests,
    /// The shared brief.
    Brief,
    /// The lines that pointers lead to, and the working tree there.
    Sources,
    /// One engram, with its versions and who else made the claim.
    Engram(EngramId),
}

impl Tag {
    /// Whether it is a sum over the whole home, which is read once for all changes of a moment.
    pub fn is_sum(self) -> bool {
        matches!(
            self,
            Self::Status | Self::Facets | Self::Found | Self::Sides | Self::Brief
        )
    }
}

/// Returns the tags that a change makes stale. Each change counts for an agent, so each touches the
/// status.
pub fn tags_of(change: &Change) -> Vec<Tag> {
    use Tag::{Brief, Conflicts, Doubts, Facets, Found, Requests, Sides, Sources, Status};
    let (tags, ids): (&[Tag], Vec<EngramId>) = match change {
        Change::Stored(engram) => (
            &[Status, Facets, Found, Doubts, Sides, Brief],
            Vec::from_iter(engram.supersedes),
        ),
        Change::Corroborated(id) => (&[Status, Sides], vec![*id]),
        Change::Promoted { id, .. } => (&[Status, Sides, Brief], vec![*id]),
        Change::Forgotten(id) => (&[Status, Facets, Found, Doubts, Sides, Brief], vec![*id]),
        Change::Redacted(id) => (
            &[Status, Facets, Found, Doubts, Sides, Brief, Requests],
            vec![*id],
        ),
        Change::Conflict { engrams, .. } => (&[Status, Conflicts, Brief], engrams.to_vec()),
        Change::Resolved { closed, stored, .. } => (
            &[Status, Facets, Found, Doubts, Conflicts, Brief],
            closed.iter().chain(stored).copied().collect(),
        ),
        Change::Allowed(_) | Change::Disallowed(_) => (&[Status, Conflicts], Vec::new()),
        Change::Unlisted(_) => (&[Status, Facets, Found], Vec::new()),
        // A read may spend a grant.
        Change::Dereferenced { .. } => (&[Status, Requests, Brief], Vec::new()),
        Change::Noted { .. } => (&[Status], Vec::new()),
        Change::Between { .. } => (&[Status, Requests, Brief], Vec::new()),
        Change::Anchored { engrams, .. } => (
            &[Status, Facets, Found, Doubts, Sources, Brief],
            engrams.iter().map(|it| it.id).collect(),
        ),
    };
    let engrams = ids.into_iter().map(Tag::Engram);
    tags.iter().copied().chain(engrams).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use engram_model::{ConflictStatus, How, OperationKind};

    use super::*;

    #[test]
    fn a_change_touches_what_shows_it_and_no_more() {
        let id: EngramId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let read = Change::Dereferenced {
            pointer: String::new(),
            digest: String::new(),
            tokens: 1,
        };
        assert_eq!(tags_of(&read), [Tag::Status, Tag::Requests, Tag::Brief]);
        let asked = Change::Between {
            what: OperationKind::Requested,
            about: Vec::new(),
        };
        assert_eq!(tags_of(&asked), tags_of(&read));
        assert!(!Tag::Requests.is_sum(), "a new request is shown at once");
        assert_eq!(
            tags_of(&Change::Corroborated(id)),
            [Tag::Status, Tag::Sides, Tag::Engram(id)]
        );
        let resolved = Change::Resolved {
            id: "01K0000000000000000000000C".parse().unwrap(),
            status: ConflictStatus::Resolved,
            how: Some(How::Winner),
            closed: vec![id],
            stored: Vec::new(),
        };
        let touched_by = tags_of(&resolved);
        assert!(!Tag::Conflicts.is_sum(), "a new conflict is shown at once");
        assert!(touched_by.contains(&Tag::Conflicts) && touched_by.contains(&Tag::Engram(id)));
        let anchored = Change::Anchored {
            worktree: String::new(),
            head: None,
            engrams: Vec::new(),
        };
        assert!(tags_of(&anchored).contains(&Tag::Sources));
        assert!(!tags_of(&Change::Forgotten(id)).contains(&Tag::Sources));
    }
}
