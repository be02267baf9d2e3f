//! Gathers evidence: resolves, pins and screens what a claim points to. The evidence can be found
//! again: it is in a commit that a ref keeps, or a copy is stored. Nothing else is written.

use crate::{
    Engine,
    context::{Context, purse, rates, screen::screen_snapshot, shelf::HomeShelf},
};
use engram_gateway::{admit_by_ancestors, admit_by_budget};
use engram_model::{
    Code, Operation, Pointer, PointerType, ProjectId, Refusal, Target,
    operation::{Event, Snapshot},
};
use engram_pointers::{Repo, pinned_to_copy, resolve};
use engram_store::Reader;

/// The evidence of a claim, as found.
pub(crate) struct GatheredEvidence {
    pub(crate) pointers: Vec<Pointer>,
    pub(crate) snapshots: Vec<Snapshot>,
    pub(crate) verified: bool,
    /// Labels of evidence that differs from what its sender claims to have read.
    pub(crate) phantoms: Vec<String>,
}

/// Resolves every pointer; if one does not resolve, the claim is refused. A `url:` is stored as a
/// bare address: it is not fetched here, and proves nothing. `own` is an event that will be
/// recorded with the claim.
pub(crate) fn gather_evidence(
    cx: &Context<'_>,
    pointers: &[Pointer],
    own: Option<&Event>,
) -> Result<GatheredEvidence, Refusal> {
    let repo = cx.repo()?;
    let shelf = HomeShelf {
        urls: false,
        ..cx.shelf(cx.known_project()?)?
    };
    let mut found = GatheredEvidence {
        pointers: Vec::with_capacity(pointers.len()),
        snapshots: Vec::new(),
        verified: false,
        phantoms: Vec::new(),
    };
    for pointer in pointers {
        let is_own = own.is_some_and(|it| it.pointer == pointer.to_string());
        if pointer.kind() == PointerType::Url || is_own {
            found.pointers.push(Pointer {
                digest: own
                    .filter(|_| is_own)
                    .map(|it| format!("sha256:{}", it.digest)),
                ..pointer.clone()
            });
            continue;
        }
        gather_pointer(cx, pointer, repo, &shelf, &mut found)?;
    }
    let pinned = std::mem::take(&mut found.pointers);
    for pointer in pinned {
        let (pointer, copy) = keep_commits(cx, pointer)?;
        found.snapshots.extend(copy);
        if !found.pointers.contains(&pointer) {
            found.pointers.push(pointer);
        }
    }
    Ok(found)
}

fn gather_pointer(
    cx: &Context<'_>,
    pointer: &Pointer,
    repo: Option<&Repo>,
    shelf: &HomeShelf<'_>,
    found: &mut GatheredEvidence,
) -> Result<(), Refusal> {
    let mut resolved = match resolve(repo, shelf, pointer) {
        Ok(resolved) => resolved,
        Err(refusal) => return Err(without_hints(cx, pointer, refusal)?),
    };
    // The sender's digest stays on record, so that every reader sees the difference.
    if pointer.digest.is_some() && pointer.digest != resolved.pointer.digest {
        if !has_spent_budget(cx, pointer.kind())? {
            found.phantoms.push(pointer.label());
        }
        resolved.pointer.digest = pointer.digest.clone();
    }
    check_length(cx.engine, &resolved.pointer)?;
    if let Some(snapshot) = resolved.snapshot {
        screen_snapshot(&snapshot)?;
        found.snapshots.push(snapshot);
    }
    found.verified |= pointer.kind() != PointerType::Sam;
    found.pointers.push(resolved.pointer);
    Ok(())
}

/// Keeps git from collecting the commits of a pointer that is about to be stored, whatever happens
/// to the history. If no ref can be written, the pointer is pinned to a copy of its file instead,
/// which is stored with it. A comparison, and a file that cannot be copied, keep only the commit.
pub(crate) fn keep_commits(
    cx: &Context<'_>,
    pointer: Pointer,
) -> Result<(Pointer, Option<Snapshot>), Refusal> {
    let Some(repo) = repo_for(cx, &pointer)? else {
        return Ok((pointer, None));
    };
    for commit in pointer.commits() {
        if repo.keeps_commit(commit) {
            continue;
        }
        // An agent that may store nothing writes no refs either.
        cx.engine.store.read(|tx| rates::admit_write(cx, tx))?;
        let Err(error) = repo.keep_commit(commit) else {
            continue;
        };
        tracing::info!(%error, "a pinned commit cannot be kept; its file is copied");
        let fits = |(pointer, copy): &(Pointer, Snapshot)| {
            screen_snapshot(copy).is_ok() && check_length(cx.engine, pointer).is_ok()
        };
        return Ok(match pinned_to_copy(repo, &pointer)?.filter(fits) {
            Some((pointer, copy)) => (pointer, Some(copy)),
            None => (pointer, None),
        });
    }
    Ok((pointer, None))
}

/// Whether the calling agent has no budget left for this kind of pointer in its turn.
fn has_spent_budget(cx: &Context<'_>, kind: PointerType) -> Result<bool, Refusal> {
    let Some(called) = cx.calling_agent()? else {
        return Ok(false);
    };
    let purse = cx.engine.store.read(|tx| purse::purse_of(cx, tx, called))?;
    let own = admit_by_budget(&purse.limits, &purse.spent, kind);
    Ok(own.and(admit_by_ancestors(&purse.ancestors, kind)).is_err())
}

/// Removes hints from a refusal for an agent without remaining budget: the reason why a pointer
/// does not resolve lists what exists instead, such as headings or the entries of a folder.
pub(crate) fn without_hints(
    cx: &Context<'_>,
    pointer: &Pointer,
    refusal: Refusal,
) -> Result<Refusal, Refusal> {
    Ok(if has_spent_budget(cx, pointer.kind())? {
        Refusal::new(
            refusal.code,
            format!("{} does not resolve", pointer.label()),
            "Check its path, span and pin. Suggestions come only while your turn has budget left.",
        )
    } else {
        refusal
    })
}

/// The repository for a pointer. Events and stored artifacts can be read without one.
pub(crate) fn repo_for<'c>(
    cx: &'c Context<'_>,
    pointer: &Pointer,
) -> Result<Option<&'c Repo>, Refusal> {
    let needs = !matches!(pointer.target, Target::Sam { .. } | Target::Url { .. });
    match cx.repo() {
        Err(error) if needs => Err(error),
        Err(_) => Ok(None),
        found => found,
    }
}

/// Checks the length after pinning, which makes an address longer: a stored address must fit
/// the published schema.
fn check_length(engine: &Engine, pointer: &Pointer) -> Result<(), Refusal> {
    let length = pointer.to_string().chars().count();
    if length <= engine.config.limits.ref_chars {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::PointerInvalid,
            format!(
                "a pointer has {length} characters once pinned; the limit is {}",
                engine.config.limits.ref_chars
            ),
            "Point at a file with a shorter path, or record the finding with `engram note` and point at the note.",
        ))
    }
}

/// The entries that store copies of files, each once. Refuses a pointer to a missing copy, which
/// may have been erased since it was read.
pub(crate) fn entries_of_copies<'a>(
    tx: &Reader<'_>,
    project: ProjectId,
    pointers: impl IntoIterator<Item = &'a Pointer>,
    snapshots: &[Snapshot],
) -> Result<Vec<Operation>, Refusal> {
    let mut entries = Vec::new();
    for snapshot in snapshots {
        if !tx
            .snapshots()
            .has(project, &snapshot.digest_hex, &snapshot.path)?
        {
            entries.push(Operation::Kept(snapshot.clone()));
        }
    }
    for pointer in pointers {
        let Some(digest) = pointer.snapshot_digest() else {
            continue;
        };
        let path = pointer.name();
        let is_new = |it: &Snapshot| it.digest_hex == digest && it.path == path;
        if !snapshots.iter().any(is_new)
            && !tx.snapshots().has(project, digest, path)?
            && tx.snapshots().bytes(project, digest, path)?.is_none()
        {
            return Err(Refusal::new(
                Code::PointerNotFound,
                format!("{} was erased while it was read", pointer.label()),
                "Pin to a commit, or to @worktree for a new copy.",
            ));
        }
    }
    Ok(entries)
}
