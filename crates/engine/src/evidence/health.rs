//! Health: where the evidence of claims is now.
//!
//! If a process follows a working tree (`follow/anchors.rs`), it stores what it finds. Otherwise
//! the evidence is checked on request.

use engram_model::{CheckedPointer, Engram, Health, Pointer, PointerInput, Refusal};
use engram_pointers::{Anchors, Repo, Resolved, View, resolve};
use engram_store::{Links, Reader, open_file};
use sha2::{Digest, Sha256};
use std::{fs::TryLockError, path::PathBuf};

use crate::{
    Engine,
    conflicts::risks::is_report,
    context::{Context, Tree, shelf::HomeShelf},
    evidence::pins::{
        self, check_pins, check_resolved, checked_pointer, health_of, pointers_to_follow,
    },
};

/// Whether a process follows this tree.
pub(crate) fn is_followed(engine: &Engine, tree: &Tree) -> bool {
    match open_file(&lock_path(engine, tree), Links::Refused) {
        Ok(lock) => matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

pub(crate) fn lock_path(engine: &Engine, tree: &Tree) -> PathBuf {
    let worktree = hex::encode(&Sha256::digest(&tree.worktree)[..4]);
    let name = format!("anchor-{}-{worktree}.lock", tree.project);
    engine.store.home().join(name)
}

/// Adds to each claim the health of its evidence at the last check. Leaves it out if it is unknown;
/// this never fails the read of a claim.
pub(crate) fn tell_health<'e>(cx: &Context<'_>, engrams: impl Iterator<Item = &'e mut Engram>) {
    let told = cx.tree().and_then(|tree| match tree {
        Some(tree) => tell_stored_health(cx, &tree, engrams),
        None => Ok(()),
    });
    if let Err(error) = told {
        tracing::info!(%error, "pointer health cannot be determined");
    }
}

fn tell_stored_health<'e>(
    cx: &Context<'_>,
    tree: &Tree,
    engrams: impl Iterator<Item = &'e mut Engram>,
) -> Result<(), Refusal> {
    cx.engine.store.read(|tx| {
        let is_known = tx.worktree_state(tree.project, &tree.worktree)?.is_some();
        for engram in engrams.filter(|it| it.project == tree.project && it.valid_until.is_none()) {
            engram.health = stored_health(tx, engram, &tree.worktree, is_known)?;
        }
        Ok(())
    })
}

/// The health of a claim at the last check of a tree; `is_known` says whether there was one. The
/// report of a conflict has none: the claims that it is about have theirs.
pub(crate) fn stored_health(
    tx: &Reader<'_>,
    engram: &Engram,
    worktree: &str,
    is_known: bool,
) -> Result<Option<Health>, Refusal> {
    if is_report(tx, engram)? {
        return Ok(None);
    }
    Ok(match tx.health(engram.id, worktree)? {
        // It resolved when it was stored, and no change was found since.
        None if engram.verified && is_known => Some(Health::unchanged()),
        found => found,
    })
}

/// Like [`tell_health`], for a few requested claims: checks them now if no process follows the
/// tree.
pub(crate) fn tell_health_now(cx: &Context<'_>, engrams: &mut [Engram]) {
    let told = (|| {
        let Some(tree) = cx.tree()? else {
            return Ok(());
        };
        if is_followed(cx.engine, &tree) {
            tell_stored_health(cx, &tree, engrams.iter_mut())
        } else {
            check_health_now(cx, &tree, engrams)
        }
    })();
    if let Err(error) = told {
        let error: Refusal = error;
        tracing::info!(%error, "pointer health cannot be determined");
    }
}

/// The change of a pointer that was just resolved; `None` if there is none.
pub(crate) fn change_of_pointer(
    repo: &Repo,
    shelf: &HomeShelf<'_>,
    asked: &Pointer,
    resolved: &Resolved,
) -> Option<CheckedPointer> {
    let followed = pins::pointer_to_follow(repo, shelf, asked, resolved)?;
    let checked = checked_pointer(&followed, check_resolved(repo, shelf, &followed, resolved));
    (!checked.is_unchanged()).then_some(checked)
}

/// Where a pointer's lines are on disk now, for the person's editor.
pub(crate) fn track_pointer(
    cx: &Context<'_>,
    pointer: PointerInput,
) -> Result<CheckedPointer, Refusal> {
    let pointer = Pointer::try_from(pointer)?;
    let repo = cx.require_repo()?;
    let shelf = cx.shelf(cx.known_project()?)?;
    let resolved = resolve(Some(repo), &shelf, &pointer)?;
    if let Some(followed) = pins::pointer_to_follow(repo, &shelf, &pointer, &resolved) {
        return Ok(checked_pointer(
            &followed,
            check_resolved(repo, &shelf, &followed, &resolved),
        ));
    }
    // A pointer that is in no tree, such as a comparison: returns its file, if it exists.
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

fn check_health_now(cx: &Context<'_>, tree: &Tree, engrams: &mut [Engram]) -> Result<(), Refusal> {
    let repo = cx.require_repo()?;
    let shelf = cx.shelf(Some(tree.project))?;
    let (mut which, mut all) = (Vec::new(), Vec::new());
    for (at, engram) in engrams.iter().enumerate() {
        let is_over = engram.valid_until.is_some() || engram.redacted;
        if engram.project != tree.project
            || is_over
            || cx.engine.store.read(|tx| is_report(tx, engram))?
        {
            continue;
        }
        let followed = pointers_to_follow(repo, &shelf, engram, None);
        if !followed.is_empty() {
            which.push(at);
            all.push(followed);
        }
    }
    let (_, found) = check_pins(&mut Anchors::default(), repo, &shelf, all.iter().flatten())?;
    let mut rest = found.as_slice();
    for (at, followed) in which.into_iter().zip(&all) {
        let (own, others) = rest.split_at(followed.len().min(rest.len()));
        rest = others;
        engrams[at].health = Some(health_of(followed, own));
    }
    Ok(())
}
