//! What claims are pinned to, and what a look at it comes to.

use engram_model::{
    CheckedPointer, Engram, Health, Kind, Lines, Pin, Pointer, REVERIFY, Refusal, Target,
};
use engram_pointers::{
    Anchors, Found, Origin, Pinned, Repo, Resolved, Shelf, Stand, Stands, resolve,
    track::{Anchor, Span, State},
};

use crate::HomeShelf;

/// A pointer of a claim that addresses lines of a file in git. Many lie in memory: no room is spare.
#[derive(Clone)]
pub(crate) struct FollowedPointer {
    /// Which of the claim's pointers.
    pub(crate) index: usize,
    /// The pointer as it is stored.
    pub(crate) pointer: Box<str>,
    /// What to follow, or why it cannot be found where it was pinned.
    pub(crate) pinned: Result<Pinned, Box<Refusal>>,
    /// Whether something else was read than what is pinned.
    pub(crate) phantom: bool,
}

/// What a claim holds on to. Sections and tests are found where they are pinned first. What is
/// pinned is compared with what was read once, and not again where it is known how it stood `before`.
pub(crate) fn followed(
    repo: &Repo,
    shelf: &HomeShelf<'_>,
    engram: &Engram,
    before: Option<&Health>,
) -> Box<[FollowedPointer]> {
    // A question shows evidence that is in doubt; it does not rest on it.
    if engram.kind == Kind::Todo && engram.tags.iter().any(|it| it == REVERIFY) {
        return Box::default();
    }
    let pointers = engram.pointers.iter().enumerate();
    pointers
        .filter_map(|(index, pointer)| {
            let (path, origin) = address(shelf, pointer)?;
            let text = pointer.to_string();
            let known = before.map(|it| {
                it.pointers
                    .iter()
                    .any(|it| it.phantom && it.pointer == text)
            });
            let (pinned, phantom) = match lines(repo, shelf, pointer, known) {
                Ok((lines, phantom)) => {
                    let (start, end) = (lines.start, lines.end);
                    let span = Span { path, start, end };
                    (Ok(Pinned { origin, span }), phantom)
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

/// What became of one pointer that was just resolved; none where it is in no tree.
pub(crate) fn of_resolved(
    repo: &Repo,
    shelf: &HomeShelf<'_>,
    asked: &Pointer,
    resolved: &Resolved,
) -> Option<FollowedPointer> {
    let (path, origin) = address(shelf, &resolved.pointer)?;
    let lines = resolved.lines.unwrap_or(Lines {
        start: 1,
        end: count_lines(&resolved.bytes),
    });
    Some(FollowedPointer {
        index: 0,
        pointer: resolved.pointer.to_string().into(),
        pinned: Ok(Pinned {
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

/// The path and what pins it; none for what is in no tree.
fn address(shelf: &HomeShelf<'_>, pointer: &Pointer) -> Option<(String, Origin)> {
    let (Target::Repo { path, pin, .. }
    | Target::Artifact {
        name: path, pin, ..
    }
    | Target::Test { path, pin, .. }) = &pointer.target
    else {
        return None;
    };
    let origin = match pin {
        Pin::Rev(commit) => Origin::Commit(commit.clone()),
        Pin::Digest(digest) => Origin::Kept {
            digest_hex: digest.clone(),
            base: shelf.base(path, digest),
        },
        Pin::Worktree => return None,
    };
    Some((path.clone(), origin))
}

/// The lines that a pointer addresses where it is pinned, and whether something else was read.
fn lines(
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

/// What a look found for one pointer.
pub(crate) type StandResult = Result<Stand, Refusal>;

/// One look at all that these claims hold on to. None for a pointer that is not there to follow.
pub(crate) fn look<'h>(
    anchors: &mut Anchors,
    repo: &Repo,
    shelf: &dyn Shelf,
    followed: impl Iterator<Item = &'h FollowedPointer> + Clone,
) -> Result<(Option<String>, Vec<StandResult>), Refusal> {
    let pinned = pinned(followed.clone());
    let Stands { head, stands } = anchors.look(repo, shelf, &pinned)?;
    Ok((head, answers(followed, stands)))
}

/// The same by way of a revision: what the work since then did.
pub(crate) fn look_since<'h>(
    rev: &str,
    repo: &Repo,
    shelf: &dyn Shelf,
    followed: impl Iterator<Item = &'h FollowedPointer> + Clone,
) -> Result<Vec<StandResult>, Refusal> {
    let pinned = pinned(followed.clone());
    let stands = Anchors::default().since(repo, shelf, rev, &pinned)?;
    Ok(answers(followed, stands))
}

/// Where one pointer that was just resolved is now. What was read in the working tree is there, and no copy of
/// it is stored yet.
pub(crate) fn look_at(
    repo: &Repo,
    shelf: &dyn Shelf,
    followed: &FollowedPointer,
    resolved: &Resolved,
) -> Found {
    if let (Some(_), Ok(pinned)) = (&resolved.snapshot, &followed.pinned) {
        return Ok(Anchor {
            state: State::Unchanged,
            place: Some(pinned.span.clone()),
            confidence: 1.0,
        });
    }
    let (_, mut found) = look(
        &mut Anchors::default(),
        repo,
        shelf,
        std::iter::once(followed),
    )?;
    found.pop().unwrap_or_else(|| Err(not_answered()))?.here
}

fn pinned<'h>(followed: impl Iterator<Item = &'h FollowedPointer>) -> Vec<Pinned> {
    followed.filter_map(|it| it.pinned.clone().ok()).collect()
}

fn answers<'h>(
    followed: impl Iterator<Item = &'h FollowedPointer>,
    stands: Vec<Stand>,
) -> Vec<StandResult> {
    let mut stands = stands.into_iter();
    let found = followed.map(|it| match &it.pinned {
        Ok(_) => stands.next().ok_or_else(not_answered),
        Err(refusal) => Err(Refusal::clone(refusal)),
    });
    found.collect()
}

fn not_answered() -> Refusal {
    Refusal::new(
        engram_model::Code::Internal,
        "a pointer got no answer",
        "Please report this.",
    )
}

/// How a claim stands by what was found.
pub(crate) fn health(followed: &[FollowedPointer], found: &[StandResult]) -> Health {
    let here = found.iter().map(|it| match it {
        Ok(stand) => stand.here.clone(),
        Err(refusal) => Err(refusal.clone()),
    });
    Health::of(
        followed
            .iter()
            .zip(here)
            .map(|(it, found)| checked(it, found))
            .collect(),
    )
}

pub(crate) fn checked(followed: &FollowedPointer, found: Found) -> CheckedPointer {
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
            checked.state = Some(anchor.state.as_str().to_owned());
            if let State::Edited(edit) = anchor.state {
                checked.change = Some(edit.as_str().to_owned());
            }
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
