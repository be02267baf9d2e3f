//! How the evidence of a claim stands, in words, and where it is now.

use engram_model::{
    ConflictId, Engram, Evidence, Kind, Lines, Pointer, PointerState, REVERIFY, Reading, SpanNow,
    visible,
};

use super::say;

/// Whether the evidence resolved when it was stored, and the CSS class of the word.
pub fn as_stored(engram: &Engram) -> (&'static str, &'static str) {
    if engram.verified {
        (say::state::VERIFIED, "word quiet")
    } else {
        (say::state::UNVERIFIED, "word warn")
    }
}

/// How the working tree reads where a span was pinned, in words, and their CSS class.
pub fn reading(standing: &SpanNow, then: Option<Lines>) -> (String, &'static str) {
    match standing.reading {
        Reading::Same => (say::state::UNCHANGED.to_owned(), "word ok"),
        Reading::Moved => {
            let by = then.zip(standing.lines).map(|(then, now)| {
                let by = i64::from(now.start) - i64::from(then.start);
                if by < 0 {
                    format!("{} −{}", say::state::MOVED, -by)
                } else {
                    format!("{} +{by}", say::state::MOVED)
                }
            });
            let word = by.unwrap_or_else(|| say::state::MOVED.to_owned());
            (word, "word moved")
        }
        Reading::Renamed => match &standing.path {
            Some(path) => (
                format!("{} {}", say::state::MOVED_TO, visible(path)),
                "word moved",
            ),
            None => (say::state::MOVED.to_owned(), "word moved"),
        },
        Reading::Edited => (say::state::EDITED.to_owned(), "word warn"),
        Reading::Gone => (say::state::GONE.to_owned(), "word bad"),
    }
}

/// How the evidence of a claim stands, in a word with its CSS class; `is_unavailable` says whether
/// the repository is. If all is well, the class is `word well`, for callers that say less about
/// that.
pub fn evidence(engram: &Engram, is_unavailable: bool) -> (&'static str, &'static str) {
    // A question shows evidence in doubt: never call it well.
    if is_question(engram) {
        return (say::state::ASKED, "word quiet");
    }
    let Some(health) = engram.health.as_ref().filter(|_| !is_unavailable) else {
        return match (engram.verified, is_unavailable) {
            (true, true) => (say::state::UNKNOWN, "word quiet"),
            // It resolved when it was stored, and nothing else was seen since.
            (true, false) => (say::state::UNCHANGED, "word well"),
            (false, _) => (say::state::UNVERIFIED, "word warn"),
        };
    };
    if engram.asked.is_some() && is_drifted(engram) {
        return (say::state::ASKED, "word moved");
    }
    if engram.answer.is_some() && is_drifted(engram) {
        return (say::state::ANSWERED, "word ok");
    }
    let class = match health.standing {
        Evidence::NeedsReverification => "word warn",
        Evidence::EvidenceGone => "word bad",
        Evidence::Unknown => "word quiet",
        Evidence::Holds => match health.worst().and_then(|it| it.state) {
            // The same lines in another file, which is not always a renamed one.
            Some(PointerState::Renamed | PointerState::Moved) => {
                return (say::state::MOVED, "word moved");
            }
            Some(PointerState::Edited) => return (say::state::REFORMATTED, "word moved"),
            _ => "word well",
        },
    };
    (standing(health.standing), class)
}

/// Whether it asks agents if another claim is still true.
fn is_question(engram: &Engram) -> bool {
    engram.kind == Kind::Todo && engram.tags.iter().any(|it| it == REVERIFY)
}

/// Returns the one word for how evidence stands.
pub fn standing(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Holds => say::state::UNCHANGED,
        Evidence::NeedsReverification => say::state::EDITED,
        Evidence::EvidenceGone => say::state::GONE,
        Evidence::Unknown => say::state::UNKNOWN,
    }
}

/// Whether somebody should review a claim.
pub fn is_drifted(engram: &Engram) -> bool {
    let standing = engram.health.as_ref().map(|it| it.standing);
    engram.valid_until.is_none() && standing.is_some_and(|it| Evidence::DRIFTED.contains(&it))
}

/// That an open conflict is about the claim; of a drifted one, which of the two to decide first.
pub fn dispute(engram: &Engram) -> Option<&'static str> {
    let told = if is_drifted(engram) {
        say::review::IN_CONFLICT
    } else {
        say::engram::IN_CONFLICT
    };
    (!engram.conflicts.is_empty()).then_some(told)
}

/// Whether the evidence of a drifted claim is still there, so that the claim can be repointed at
/// it.
pub fn can_repin(engram: &Engram) -> bool {
    let standing = engram.health.as_ref().map(|it| it.standing);
    is_drifted(engram) && standing == Some(Evidence::NeedsReverification)
}

/// Which evidence of a claim was deleted, as a sentence without its full stop.
pub fn gone_evidence(engram: &Engram) -> String {
    let health = engram.health.as_ref();
    let checked = health.into_iter().flat_map(|it| &it.pointers);
    let mut gone = checked.filter(|it| it.state == Some(PointerState::Deleted));
    let pointer = gone.next().and_then(|gone| {
        let mut all = engram.pointers.iter();
        all.find(|it| it.to_string() == gone.pointer)
    });
    let Some(pointer) = pointer else {
        return say::review::GONE.to_owned();
    };
    match pointer.lines() {
        Some(lines) => {
            say::review::was_deleted(&visible(pointer.name()), Some((lines.start, lines.end)))
        }
        None => say::review::was_deleted(&visible(&pointer.label()), None),
    }
}

/// The conflict that an engram reports: such a report comes from Engram itself or from the user.
pub fn reported_conflict(engram: &Engram) -> Option<ConflictId> {
    let is_report = engram.kind == Kind::Risk
        && engram.agent.is_none()
        && engram.tags.iter().any(|it| it == "conflict");
    let (_, id) = engram.claim.rsplit_once("(conflict ")?;
    id.strip_suffix(')')?.parse().ok().filter(|_| is_report)
}

/// Where a pointer leads now, if not where it was pinned: `src/core.rs#L3-L9`.
pub fn place_now(engram: &Engram, pointer: &str) -> Option<String> {
    let health = engram.health.as_ref()?;
    let found = health.pointers.iter().find(|it| it.pointer == pointer)?;
    let (path, start, end) = (found.path.as_ref()?, found.start?, found.end?);
    let pinned = engram
        .pointers
        .iter()
        .find(|it| it.to_string() == pointer)?;
    let is_there = pinned.name() == path
        && pinned
            .lines()
            .is_none_or(|it| (it.start, it.end) == (start, end));
    (!is_there).then(|| path_with_lines(path, Lines { start, end }))
}

/// Where a pointer leads in the working tree as just read, if not where it was pinned.
pub fn place_read(pointer: &Pointer, standing: &SpanNow) -> Option<String> {
    let path = standing.path.as_deref().unwrap_or(pointer.name());
    let lines = standing.lines.filter(|_| pointer.lines().is_some());
    let is_there = path == pointer.name() && (lines.is_none() || lines == pointer.lines());
    (!is_there).then(|| match lines {
        Some(lines) => path_with_lines(path, lines),
        None => path.to_owned(),
    })
}

fn path_with_lines(path: &str, lines: Lines) -> String {
    if lines.start == lines.end {
        format!("{path}#L{}", lines.start)
    } else {
        format!("{path}#L{}-L{}", lines.start, lines.end)
    }
}

/// How a pointer stood when it was last checked, if that is known.
pub fn last_seen(engram: &Engram, pointer: &Pointer) -> Option<String> {
    let text = pointer.to_string();
    let checked = engram.health.as_ref()?.pointers.iter();
    let found = checked.into_iter().find(|it| it.pointer == text)?;
    found.state.is_some().then(|| found.in_words())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_to_do_looks_well_only_where_its_evidence_is() {
        let todo = |tag: &str, standing: Option<&str>| -> Engram {
            let id = format!("{:026}", 1);
            let mut engram = serde_json::json!({
                "id": id, "seq": 1, "lineage_id": id, "project": id, "claim": "Look again.", "kind": "todo",
                "fact_type": "observation", "scope": "project", "topic": "",
                "pointers": [{"type": "repo", "ref": "src/a.rs@HEAD", "span": "L1-L2"}],
                "confidence": 0.7, "durability": "durable", "tags": [tag], "hash_keys": [], "entities": [],
                "provenance": {"created_at": "2026-11-20T10:00:00Z", "created_by": "Architect", "source": "agent"},
                "content_hash": "sha256:1", "valid_from": "2026-11-20T10:00:00Z",
                "recorded_at": "2026-11-20T10:00:00Z", "memory_op": "add", "verified": true
            });
            if let Some(standing) = standing {
                engram["health"] = serde_json::json!({"standing": standing, "pointers": []});
            }
            serde_json::from_value(engram).unwrap()
        };
        for (tag, standing, want) in [
            ("build", Some("holds"), "word well"),
            ("build", Some("evidence_gone"), "word bad"),
            ("build", Some("needs_reverification"), "word warn"),
            (REVERIFY, Some("holds"), "word quiet"),
            (REVERIFY, None, "word quiet"),
        ] {
            let (word, class) = evidence(&todo(tag, standing), false);
            assert_eq!(class, want, "{tag} {standing:?}: {word}");
            // A person does not decide twice: of a drifted claim, the conflict comes first.
            let mut engram = todo(tag, standing);
            assert_eq!(dispute(&engram), None);
            engram.conflicts = vec!["01K0000000000000000000000C".parse().unwrap()];
            let is_drifted = is_drifted(&engram);
            let told = dispute(&engram);
            assert_eq!(told == Some(say::review::IN_CONFLICT), is_drifted);
            assert!(told.is_some(), "{tag} {standing:?}");
        }
        // An agent answered: the person decides what that means for the claim.
        for (standing, want) in [("needs_reverification", "word ok"), ("holds", "word well")] {
            let mut claim = todo("build", Some(standing));
            claim.answer = serde_json::from_value(serde_json::json!({
                "id": format!("{:026}", 2), "claim": "It is.", "by": "ada", "at": "2026-11-20T10:00:00Z"
            }))
            .unwrap();
            assert_eq!(evidence(&claim, false).1, want, "{standing}");
        }
    }

    #[test]
    fn where_lines_are_now_is_what_was_read_last() {
        let at = |start, end| Some(Lines { start, end });
        for (pointer, path, lines, want) in [
            ("repo:src/a.rs#L5-L9@HEAD", None, at(5, 9), None),
            (
                "repo:src/a.rs#L5-L9@HEAD",
                None,
                at(8, 12),
                Some("src/a.rs#L8-L12"),
            ),
            ("repo:src/a.rs#L5@HEAD", None, at(8, 8), Some("src/a.rs#L8")),
            (
                "repo:src/a.rs#L5-L9@HEAD",
                Some("src/b.rs"),
                at(5, 9),
                Some("src/b.rs#L5-L9"),
            ),
            ("repo:src/a.rs#L5-L9@HEAD", None, None, None),
            (
                "repo:src/a.rs@HEAD",
                Some("src/b.rs"),
                at(1, 30),
                Some("src/b.rs"),
            ),
            ("repo:src/a.rs@HEAD", None, at(1, 30), None),
        ] {
            let standing = SpanNow {
                reading: Reading::Moved,
                path: path.map(str::to_owned),
                lines,
                digest: None,
                changes: Vec::new(),
                hidden: 0,
                media: None,
            };
            let pointer: Pointer = pointer.parse().unwrap();
            assert_eq!(
                place_read(&pointer, &standing).as_deref(),
                want,
                "{pointer}"
            );
        }
    }
}
