//! What claims are pinned to, and the results of checking it.

use engram_model::{
    CheckedPointer, Engram, Health, Kind, Lines, Pin, Pointer, REVERIFY, Refusal, Target,
};
use engram_pointers::{
    Anchors, FoundAnchor, PinnedSpan, Repo, Resolved, Shelf, SpanOrigin, SpanStanding,
    SpanStandings, resolve,
    track::{Anchor, Span, SpanState},
};

use crate::context::shelf::HomeShelf;

/// A pointer of a claim to lines of a file in git. It is kept small, because there are many in
/// memory.
#[derive(Clone)]
pub(crate) struct FollowedPointer {
    /// Its index among the claim's pointers.
    pub(crate) index: usize,
    /// The pointer as stored.
    pub(crate) pointer: Box<str>,
    /// The lines to follow, or why they cannot be found at the pin.
    pub(crate) pinned: Result<PinnedSpan, Box<Refusal>>,
    /// Whether the sender read something other than what is pinned.
    pub(crate) phantom: bool,
}

/// The pointers of a claim that can be followed. Sections and tests are first located at their pin.
/// The pinned content is compared with what the sender read only once, and not at all if its health
/// `before` is known.
pub(crate) fn pointers_to_follow(
    repo: &Repo,
    shelf: &HomeShelf<'_>,
    engram: &Engram,
    before: Option<&Health>,
) -> Box<[FollowedPointer]> {
    // A to-do that asks whether a claim holds shows the evidence in doubt, but is not based on it.
    if engram.kind == Kind::Todo && engram.tags.iter().any(|it| it == REVERIFY) {
        return Box::default();
    }
    let pointers = engram.pointers.iter().enumerate();
    pointers
        .filter_map(|(index, pointer)| {
            let (path, origin) = path_and_pin(shelf, pointer)?;
            let text = pointer.to_string();
            let known = before.map(|it| {
                it.pointers
                    .iter()
                    .any(|it| it.phantom && it.pointer == text)
            });
            let (pinned, phantom) = match pinned_lines(repo, shelf, pointer, known) {
                Ok((lines, phantom)) => {
                    let (start, end) = (lines.start, lines.end);
                    let span = Span { path, start, end };
                    (Ok(PinnedSpan { origin, span }), phantom)
                }
                Err(refusal) => (Err(Box::new(refusal)), false),
            };
            Some(FollowedPointer {
                index,
                pointer: text.into(),
                pinned,
                phantom,
            })
        })
        .collect()
}

/// The pointer to follow for one that was just resolved; `None` if it is in no tree.
pub(crate) fn pointer_to_follow(
    repo: &Repo,
    shelf: &HomeShelf<'_>,
    asked: &Pointer,
    resolved: &Resolved,
) -> Option<FollowedPointer> {
    let (path, origin) = path_and_pin(shelf, &resolved.pointer)?;
    let lines = resolved.lines.unwrap_or(Lines {
        start: 1,
        end: count_lines(&resolved.bytes),
    });
    Some(FollowedPointer {
        index: 0,
        pointer: resolved.pointer.to_string().into(),
        pinned: Ok(PinnedSpan {
            origin,
            span: Span {
                path,
                start: lines.start,
                end: lines.end,
            },
        }),
        phantom: asked.digest.is_some() && asked.digest != resolved.pointer.digest,
    })
    .filter(|_| repo.head().1.is_some())
}

/// The path and its pin; `None` for an address that is in no tree.
fn path_and_pin(shelf: &HomeShelf<'_>, pointer: &Pointer) -> Option<(String, SpanOrigin)> {
    let (Target::Repo { path, pin, .. }
    | Target::Artifact {
        name: path, pin, ..
    }
    | Target::Test { path, pin, .. }) = &pointer.target
    else {
        return None;
    };
    let origin = match pin {
        Pin::Rev(commit) => SpanOrigin::Commit(commit.clone()),
        Pin::Digest(digest) => SpanOrigin::Kept {
            digest_hex: digest.clone(),
            base: shelf.base(path, digest),
        },
        Pin::Worktree => return None,
    };
    Some((path.clone(), origin))
}

/// The lines that a pointer addresses at its pin, and whether the sender read something else.
fn pinned_lines(
    repo: &Repo,
    shelf: &HomeShelf<'_>,
    pointer: &Pointer,
    known: Option<bool>,
) -> Result<(Lines, bool), Refusal> {
    if let (Some(lines), Some(phantom)) = (pointer.lines(), known) {
        return Ok((lines, phantom));
    }
    let found = resolve(Some(repo), shelf, pointer)?;
    let phantom = pointer.digest.is_some() && pointer.digest != found.pointer.digest;
    let lines = found.lines.unwrap_or(Lines {
        start: 1,
        end: count_lines(&found.bytes),
    });
    Ok((lines, phantom))
}

fn count_lines(bytes: &[u8]) -> u32 {
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    let open = usize::from(bytes.last().is_some_and(|byte| *byte != b'\n'));
    u32::try_from((ends + open).max(1)).unwrap_or(u32::MAX)
}

/// The result of checking one pointer.
pub(crate) type StandResult = Result<SpanStanding, Refusal>;

/// Checks all pointers of these claims at once. A pointer that cannot be followed gets an error.
pub(crate) fn check_pins<'h>(
    anchors: &mut Anchors,
    repo: &Repo,
    shelf: &dyn Shelf,
    followed: impl Iterator<Item = &'h FollowedPointer> + Clone,
) -> Result<(Option<String>, Vec<StandResult>), Refusal> {
    let pinned = pins_of(followed.clone());
    let SpanStandings { head, standings } = anchors.standings(repo, shelf, &pinned)?;
    Ok((head, results_of(followed, standings)))
}

/// Like [`check_pins`], across the work since a revision.
pub(crate) fn check_pins_since<'h>(
    rev: &str,
    repo: &Repo,
    shelf: &dyn Shelf,
    followed: impl Iterator<Item = &'h FollowedPointer> + Clone,
) -> Result<Vec<StandResult>, Refusal> {
    let pinned = pins_of(followed.clone());
    let standings = Anchors::default().since(repo, shelf, rev, &pinned)?;
    Ok(results_of(followed, standings))
}

/// Where one pointer that was just resolved is now. A pointer read from the working tree is still
/// there, and no copy of it is stored yet.
pub(crate) fn check_resolved(
    repo: &Repo,
    shelf: &dyn Shelf,
    followed: &FollowedPointer,
    resolved: &Resolved,
) -> FoundAnchor {
    if let (Some(_), Ok(pinned)) = (&resolved.snapshot, &followed.pinned) {
        return Ok(Anchor {
            state: SpanState::Unchanged,
            place: Some(pinned.span.clone()),
            confidence: 1.0,
        });
    }
    let (_, mut found) = check_pins(
        &mut Anchors::default(),
        repo,
        shelf,
        std::iter::once(followed),
    )?;
    found.pop().unwrap_or_else(|| Err(not_answered()))?.here
}

fn pins_of<'h>(followed: impl Iterator<Item = &'h FollowedPointer>) -> Vec<PinnedSpan> {
    followed.filter_map(|it| it.pinned.clone().ok()).collect()
}

fn results_of<'h>(
    followed: impl Iterator<Item = &'h FollowedPointer>,
    standings: Vec<SpanStanding>,
) -> Vec<StandResult> {
    let mut standings = standings.into_iter();
    let found = followed.map(|it| match &it.pinned {
        Ok(_) => standings.next().ok_or_else(not_answered),
        Err(refusal) => Err(Refusal::clone(refusal)),
    });
    found.collect()
}

fn not_answered() -> Refusal {
    Refusal::bug("a pointer got no answer")
}

/// The health of a claim, from the results for its pointers.
pub(crate) fn health_of(followed: &[FollowedPointer], found: &[StandResult]) -> Health {
    let here = found.iter().map(|it| match it {
        Ok(stand) => stand.here.clone(),
        Err(refusal) => Err(refusal.clone()),
    });
    Health::of(
        followed
            .iter()
            .zip(here)
            .map(|(it, found)| checked_pointer(it, found))
            .collect(),
    )
}

pub(crate) fn checked_pointer(followed: &FollowedPointer, found: FoundAnchor) -> CheckedPointer {
    let mut checked = CheckedPointer {
        pointer: followed.pointer.to_string(),
        state: None,
        path: None,
        start: None,
        end: None,
        change: None,
        confidence: None,
        phantom: followed.phantom,
        error: None,
    };
    match found {
        Err(error) => checked.error = Some(error),
        Ok(anchor) => {
            let (state, change) = anchor.state.written();
            checked.state = Some(state);
            checked.change = change;
            checked.confidence = Some(anchor.confidence);
            if let Some(place) = anchor.place {
                checked.path = Some(place.path);
                checked.start = Some(place.start);
                checked.end = Some(place.end);
            }
        }
    }
    checked
}
