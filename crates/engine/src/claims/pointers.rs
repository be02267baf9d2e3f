//! The pointers of claims: checking them, moving them to where their lines are now, and asking
//! whether a claim still holds.

use engram_model::{
    Check, CheckReply, CheckedEngram, CheckedPointer, Code, Draft, Engram, EngramId, Evidence,
    Health, Kind, Lines, Pin, Pointer, PointerInput, PutReply, REVERIFY, Refusal, Target,
};
use engram_pointers::{Anchors, SpanStanding, track::SpanState};
use engram_store::Reader;

use crate::{
    claims::{
        put::{self, Occasion},
        read,
    },
    conflicts::{
        gate,
        risks::{is_report, may_see_version},
    },
    context::Context,
    evidence::pins::{
        FollowedPointer, check_pins, check_pins_since, checked_pointer, pointers_to_follow,
    },
};

/// The most claims checked for one answer: the newest ones.
const MAX_ENGRAMS: usize = 100_000;

/// Finds where the evidence of the holding claims is now; with `since`, only for claims that the
/// work since that commit touches.
pub(crate) fn check(cx: &Context<'_>, check: &Check) -> Result<CheckReply, Refusal> {
    if check.gate {
        gate::refuse_unknown_repository(cx, "there is nothing to check")?;
    }
    let since = check.since.as_deref();
    let repo = cx.require_repo()?;
    let engrams = visible_claims(cx)?;
    let shelf = cx.shelf(cx.known_project()?)?;
    let followed: Vec<Box<[FollowedPointer]>> = engrams
        .iter()
        .map(|it| pointers_to_follow(repo, &shelf, it, None))
        .collect();
    let all = followed.iter().flatten();
    let found = match since {
        Some(rev) => check_pins_since(rev, repo, &shelf, all)?,
        None => check_pins(&mut Anchors::default(), repo, &shelf, all)?.1,
    };
    let mut found = found.into_iter();
    let mut engrams: Vec<CheckedEngram> = engrams
        .iter()
        .zip(&followed)
        .filter(|(_, followed)| !followed.is_empty())
        .map(|(engram, followed)| {
            let pointers: Vec<_> = followed
                .iter()
                .zip(found.by_ref())
                .map(|(followed, found)| {
                    let found = found.and_then(|stand| {
                        // A pointer to the result of that work was already reviewed.
                        let here = stand.here.as_ref().map(|anchor| anchor.state);
                        if since.is_none() || here.is_ok_and(|state| state == SpanState::Unchanged)
                        {
                            stand.here
                        } else {
                            stand.since_head
                        }
                    });
                    let told = checked_pointer(followed, found);
                    CheckedPointer {
                        // That work did not cause a mismatch that existed before.
                        phantom: told.phantom && since.is_none(),
                        ..told
                    }
                })
                .collect();
            CheckedEngram {
                id: engram.id,
                claim: engram.claim.clone(),
                standing: Health::of(pointers.clone()).standing,
                pointers,
            }
        })
        .collect();
    let count = engrams.len() as u64;
    let is_unknown = |it: &CheckedEngram| it.standing == Evidence::Unknown;
    if check.gate && count > 0 && engrams.iter().all(is_unknown) {
        return Err(Refusal::new(
            Code::RepoUnavailable,
            "the evidence of no claim could be checked",
            "Fetch the whole history: claims are pinned to commits that a shallow clone lacks.",
        ));
    }
    if since.is_some() {
        engrams.retain(|it| !matches!(it.standing, Evidence::Holds | Evidence::Unknown));
    }
    Ok(CheckReply {
        checked: count,
        engrams,
    })
}

/// Stores a new version in the lineage, with pointers to where their lines are now.
pub(crate) fn repin_claim(cx: &Context<'_>, id: EngramId) -> Result<PutReply, Refusal> {
    let engram = read::find_version(cx, id)?;
    let pointers = repin_pointers(cx, &engram)?
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let draft = Draft {
        pointers: pointer_inputs(&pointers),
        ..engram.draft()
    };
    put::put_claim(cx, draft, None, Occasion::Confirmed(&engram))
}

/// Stores a to-do that asks the next agent whether a claim still holds. It points to what is left
/// of the evidence.
pub(crate) fn ask_to_reverify(cx: &Context<'_>, id: EngramId) -> Result<PutReply, Refusal> {
    const ASK: &str = "Is this still true? Its evidence changed: ";
    let engram = read::find_version(cx, id)?;
    let found = repin_pointers(cx, &engram)?
        .into_iter()
        .zip(&engram.pointers);
    // Missing evidence keeps its old pointer.
    let pointers: Vec<Pointer> = found
        .map(|(found, pinned)| found.unwrap_or_else(|_| pinned.clone()))
        .collect();
    let room = cx
        .engine
        .config
        .limits
        .claim_chars
        .saturating_sub(ASK.len());
    let claim = if engram.claim.chars().count() > room {
        engram
            .claim
            .chars()
            .take(room.saturating_sub(1))
            .chain(['…'])
            .collect()
    } else {
        engram.claim.clone()
    };
    let draft = Draft {
        claim: format!("{ASK}{claim}"),
        pointers: pointer_inputs(&pointers),
        kind: Some(Kind::Todo),
        scope: Some(engram.scope),
        topic: Some(engram.topic.clone()),
        tags: vec![REVERIFY.to_owned()],
        ..Draft::default()
    };
    put::put_claim(cx, draft, None, Occasion::Asks(&engram))
}

/// Moves each pointer to where its lines are now; an error for lines that no tree has.
pub(super) fn repin_pointers(
    cx: &Context<'_>,
    engram: &Engram,
) -> Result<Vec<Result<Pointer, Refusal>>, Refusal> {
    let repo = cx.require_repo()?;
    let head = repo.head().1.ok_or_else(|| {
        Refusal::new(
            Code::PointerNotFound,
            "the repository has no commit to pin to",
            "Commit something, then confirm the claim again.",
        )
    })?;
    let shelf = cx.shelf(Some(engram.project))?;
    let followed = pointers_to_follow(repo, &shelf, engram, None);
    let (_, found) = check_pins(&mut Anchors::default(), repo, &shelf, followed.iter())?;
    let mut pointers: Vec<Result<Pointer, Refusal>> =
        engram.pointers.iter().cloned().map(Ok).collect();
    for (followed, found) in followed.iter().zip(found) {
        let pinned = &engram.pointers[followed.index];
        pointers[followed.index] = found.and_then(|stand| repin_pointer(pinned, stand, &head));
    }
    Ok(pointers)
}

/// The holding claims that the caller may see, without the reports of conflicts: these cite the
/// evidence of claims that are checked themselves.
fn visible_claims(cx: &Context<'_>) -> Result<Vec<Engram>, Refusal> {
    let (project, visibility, now) = (cx.project()?, cx.visibility()?, cx.engine.world.now());
    let store = &cx.engine.store;
    let engrams =
        store.read::<_, Refusal>(|tx| Ok(tx.newest_holding(project, now, None, MAX_ENGRAMS)?))?;
    let mut seen = Vec::with_capacity(engrams.len());
    for engram in engrams {
        let is_checked = |tx: &Reader<'_>| {
            Ok(may_see_version(tx, &visibility, &engram)? && !is_report(tx, &engram)?)
        };
        if store.read::<_, Refusal>(is_checked)? {
            seen.push(engram);
        }
    }
    Ok(seen)
}

fn pointer_inputs(pointers: &[Pointer]) -> Vec<PointerInput> {
    let texts = pointers.iter().map(ToString::to_string);
    texts.map(PointerInput::Text).collect()
}

/// Returns the address of a pointer's lines as they are now: at the commit that is checked out, or
/// in the working tree if they changed since that commit.
fn repin_pointer(pointer: &Pointer, stand: SpanStanding, head: &str) -> Result<Pointer, Refusal> {
    let committed = stand.at_head?.place;
    let is_edited = !matches!(
        stand.since_head.map(|it| it.state),
        Ok(SpanState::Unchanged | SpanState::Moved | SpanState::Renamed)
    );
    let here = stand.here?.place;
    let (place, new_pin) = match (here, committed) {
        (None, _) => {
            return Err(Refusal::new(
                Code::PointerNotFound,
                format!("{} is gone", pointer.label()),
                "Forget the claim, or correct it with evidence that still exists.",
            ));
        }
        (Some(_), Some(committed)) if !is_edited => (committed, Pin::Rev(head.to_owned())),
        (Some(here), _) => (here, Pin::Worktree),
    };
    let mut target = pointer.target.clone();
    match &mut target {
        Target::Repo { path, lines, pin } => {
            *path = place.path;
            if lines.is_some() {
                *lines = Some(Lines {
                    start: place.start,
                    end: place.end,
                });
            }
            *pin = new_pin;
        }
        Target::Artifact {
            name: path, pin, ..
        }
        | Target::Test { path, pin, .. } => {
            *path = place.path;
            *pin = new_pin;
        }
        _ => {}
    }
    Ok(Pointer {
        target,
        digest: None,
    })
}
