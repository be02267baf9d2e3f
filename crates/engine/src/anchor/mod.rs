//! Anchors: where the evidence of claims is now, and a new version of a claim that points there.
//!
//! While a process that stays follows a working tree (`follower`), what it found is kept in the
//! store; where none does, it is looked up when somebody asks.

mod follower;
mod pins;

use engram_model::{
    Check, CheckReply, CheckedEngram, CheckedPointer, Code, Draft, Engram, EngramId, Evidence,
    Health, Kind, Lines, Pin, Pointer, PointerInput, PutReply, REVERIFY, Refusal, Target,
};
use engram_pointers::{Anchors, Repo, Resolved, Stand, View, resolve, track::State};

use pins::{Held, checked, health, held, look, look_at, look_since};

use crate::{
    HomeShelf,
    claims::{
        put::{self, Occasion},
        read,
    },
    conflicts::{list, risks::may_see},
    context::{Context, Tree},
};
pub(crate) use follower::AnchorFollower;

/// Most claims checked for one answer, the newest.
const MOST: usize = 100_000;

/// Where the evidence of the claims that hold is now; with `since`, only of those that the work
/// since that commit touches.
pub(crate) fn check(cx: &Context<'_>, check: &Check) -> Result<CheckReply, Refusal> {
    if check.gate {
        list::knows_the_repository(cx, "nothing was checked")?;
    }
    let since = check.since.as_deref();
    let repo = cx.repository()?;
    let engrams = holding(cx)?;
    let shelf = cx.shelf(cx.known_project()?);
    let held: Vec<Box<[Held]>> = engrams
        .iter()
        .map(|it| held(repo, &shelf, it, None))
        .collect();
    let all = held.iter().flatten();
    let found = match since {
        Some(rev) => look_since(rev, repo, &shelf, all)?,
        None => look(&mut Anchors::default(), repo, &shelf, all)?.1,
    };
    let mut found = found.into_iter();
    let mut engrams: Vec<CheckedEngram> = engrams
        .iter()
        .zip(&held)
        .filter(|(_, held)| !held.is_empty())
        .map(|(engram, held)| {
            let pointers: Vec<_> = held
                .iter()
                .zip(found.by_ref())
                .map(|(held, found)| {
                    let found = found.and_then(|stand| {
                        // What was pointed at what that work left has been reviewed.
                        let here = stand.here.as_ref().map(|anchor| anchor.state);
                        if since.is_none() || here.is_ok_and(|state| state == State::Unchanged) {
                            stand.here
                        } else {
                            stand.since_head
                        }
                    });
                    let told = checked(held, found);
                    CheckedPointer {
                        // What was read before that work is none of its doing.
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

/// A new version in the lineage whose pointers are where their lines are now.
pub(crate) fn point_at_now(cx: &Context<'_>, id: EngramId) -> Result<PutReply, Refusal> {
    let engram = read::find(cx, id)?;
    let pointers = repinned(cx, &engram)?
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let draft = Draft {
        pointers: inputs(&pointers),
        ..engram.draft()
    };
    put::put_claim(cx, draft, None, Occasion::Confirmed(&engram))
}

/// Asks whoever works next to find out; the todo points at what is left of the evidence.
pub(crate) fn ask_again(cx: &Context<'_>, id: EngramId) -> Result<PutReply, Refusal> {
    const ASK: &str = "Is this still true? Its evidence changed: ";
    let engram = read::find(cx, id)?;
    let found = repinned(cx, &engram)?.into_iter().zip(&engram.pointers);
    // What is gone is shown as it was.
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
        pointers: inputs(&pointers),
        kind: Some(Kind::Todo),
        scope: Some(engram.scope),
        topic: Some(engram.topic.clone()),
        tags: vec![REVERIFY.to_owned()],
        ..Draft::default()
    };
    put::put_claim(cx, draft, None, Occasion::Asks(&engram))
}

/// Each pointer where its lines are now; those that are in no tree as they are.
fn repinned(cx: &Context<'_>, engram: &Engram) -> Result<Vec<Result<Pointer, Refusal>>, Refusal> {
    let repo = cx.repository()?;
    let head = repo.head().1.ok_or_else(|| {
        Refusal::new(
            Code::PointerNotFound,
            "the repository has no commit to pin to",
            "Commit something, then confirm the claim again.",
        )
    })?;
    let shelf = cx.shelf(Some(engram.project));
    let held = held(repo, &shelf, engram, None);
    let (_, found) = look(&mut Anchors::default(), repo, &shelf, held.iter())?;
    let mut pointers: Vec<Result<Pointer, Refusal>> =
        engram.pointers.iter().cloned().map(Ok).collect();
    for (held, found) in held.iter().zip(found) {
        let pinned = &engram.pointers[held.index];
        pointers[held.index] = found.and_then(|stand| repinned_one(pinned, stand, &head));
    }
    Ok(pointers)
}

fn holding(cx: &Context<'_>) -> Result<Vec<Engram>, Refusal> {
    let (project, eyes, now) = (cx.project()?, cx.eyes()?, cx.engine.world.now());
    let store = &cx.engine.store;
    let engrams =
        store.read::<_, Refusal>(|tx| Ok(tx.newest_holding(project, now, None, MOST)?))?;
    let mut seen = Vec::with_capacity(engrams.len());
    for engram in engrams {
        if store.read(|tx| may_see(tx, &eyes, &engram))? {
            seen.push(engram);
        }
    }
    Ok(seen)
}

/// Why not all of the working tree is watched, by who follows it; or why this process is not told of what
/// others write.
pub(crate) fn watching(cx: &Context<'_>) -> Result<Option<String>, Refusal> {
    let of_tree = match cx.tree()? {
        Some(tree) if cx.engine.is_followed(&tree) => {
            let store = &cx.engine.store;
            store.read(|tx| tx.looked(tree.project, &tree.worktree))?
        }
        _ => None,
    };
    let note = of_tree.and_then(|looked| looked.note);
    Ok(note.or_else(|| cx.engine.unwatched()))
}

/// Says of each claim how its evidence stands, as it was last looked at. What cannot be said is
/// left out: it never fails the reading of a claim.
pub(crate) fn tell_health<'e>(cx: &Context<'_>, engrams: impl Iterator<Item = &'e mut Engram>) {
    let told = cx.tree().and_then(|tree| match tree {
        Some(tree) => tell_kept(cx, &tree, engrams),
        None => Ok(()),
    });
    if let Err(error) = told {
        tracing::info!(%error, "pointer health cannot be determined");
    }
}

fn tell_kept<'e>(
    cx: &Context<'_>,
    tree: &Tree,
    engrams: impl Iterator<Item = &'e mut Engram>,
) -> Result<(), Refusal> {
    cx.engine.store.read(|tx| {
        let is_known = tx.looked(tree.project, &tree.worktree)?.is_some();
        for engram in engrams.filter(|it| it.project == tree.project && it.valid_until.is_none()) {
            engram.health = match tx.health(engram.id, &tree.worktree)? {
                // It resolved when it was stored, and nothing else was seen since.
                None if engram.verified && is_known => Some(Health::unchanged()),
                found => found,
            };
        }
        Ok(())
    })
}

/// The same of a few claims that are asked for: looked up now where no process follows the tree.
pub(crate) fn tell_health_now(cx: &Context<'_>, engrams: &mut [Engram]) {
    let told = (|| {
        let Some(tree) = cx.tree()? else {
            return Ok(());
        };
        if cx.engine.is_followed(&tree) {
            tell_kept(cx, &tree, engrams.iter_mut())
        } else {
            look_now(cx, &tree, engrams)
        }
    })();
    if let Err(error) = told {
        let error: Refusal = error;
        tracing::info!(%error, "pointer health cannot be determined");
    }
}

/// What became of a pointer that was just resolved; none where nothing did.
pub(crate) fn became(
    repo: &Repo,
    shelf: &HomeShelf<'_>,
    asked: &Pointer,
    resolved: &Resolved,
) -> Option<CheckedPointer> {
    let held = pins::of_resolved(repo, shelf, asked, resolved)?;
    let checked = checked(&held, look_at(repo, shelf, &held, resolved));
    (!checked.is_unchanged()).then_some(checked)
}

/// Where a pointer's lines are on disk now, for the person's editor.
pub(crate) fn track_pointer(
    cx: &Context<'_>,
    pointer: PointerInput,
) -> Result<CheckedPointer, Refusal> {
    let pointer = Pointer::try_from(pointer)?;
    let repo = cx.repository()?;
    let shelf = cx.shelf(cx.known_project()?);
    let resolved = resolve(Some(repo), &shelf, &pointer)?;
    if let Some(held) = pins::of_resolved(repo, &shelf, &pointer, &resolved) {
        return Ok(checked(&held, look_at(repo, &shelf, &held, &resolved)));
    }
    // In no tree, such as a comparison: its file, where that is there.
    let view = engram_pointers::source(Some(repo), &shelf, &pointer, View::default())?;
    Ok(CheckedPointer {
        pointer: pointer.to_string(),
        state: None,
        start: view.open_path.as_ref().map(|_| view.open_line),
        path: view.open_path,
        end: None,
        change: None,
        confidence: None,
        phantom: false,
        error: None,
    })
}

fn look_now(cx: &Context<'_>, tree: &Tree, engrams: &mut [Engram]) -> Result<(), Refusal> {
    let repo = cx.repository()?;
    let shelf = cx.shelf(Some(tree.project));
    let (mut which, mut all) = (Vec::new(), Vec::new());
    for (at, engram) in engrams.iter().enumerate() {
        if engram.project != tree.project || engram.valid_until.is_some() || engram.redacted {
            continue;
        }
        let held = held(repo, &shelf, engram, None);
        if !held.is_empty() {
            which.push(at);
            all.push(held);
        }
    }
    let (_, found) = look(&mut Anchors::default(), repo, &shelf, all.iter().flatten())?;
    let mut rest = found.as_slice();
    for (at, held) in which.into_iter().zip(&all) {
        let (own, others) = rest.split_at(held.len().min(rest.len()));
        rest = others;
        engrams[at].health = Some(health(held, own));
    }
    Ok(())
}

fn inputs(pointers: &[Pointer]) -> Vec<PointerInput> {
    let texts = pointers.iter().map(ToString::to_string);
    texts.map(PointerInput::Text).collect()
}

/// The same address where its lines are now: at the commit that is checked out, or, where the work
/// since then changed them, in the working tree.
fn repinned_one(pointer: &Pointer, stand: Stand, head: &str) -> Result<Pointer, Refusal> {
    let committed = stand.at_head?.place;
    let is_edited = !matches!(
        stand.since_head.map(|it| it.state),
        Ok(State::Unchanged | State::Moved | State::Renamed)
    );
    let here = stand.here?.place;
    let (place, pin) = match (here, committed) {
        (None, _) => {
            return Err(Refusal::new(
                Code::PointerNotFound,
                format!("{} is gone", pointer.label()),
                "Retire the claim with `engram forget`, or correct it with evidence that still exists.",
            ));
        }
        (Some(_), Some(committed)) if !is_edited => (committed, Pin::Rev(head.to_owned())),
        (Some(here), _) => (here, Pin::Worktree),
    };
    let mut target = pointer.target.clone();
    match &mut target {
        Target::Repo {
            path,
            lines,
            pin: it,
        } => {
            *path = place.path;
            if lines.is_some() {
                *lines = Some(Lines {
                    start: place.start,
                    end: place.end,
                });
            }
            *it = pin;
        }
        Target::Artifact {
            name: path,
            pin: it,
            ..
        }
        | Target::Test { path, pin: it, .. } => {
            *path = place.path;
            *it = pin;
        }
        _ => {}
    }
    Ok(Pointer {
        target,
        digest: None,
    })
}
