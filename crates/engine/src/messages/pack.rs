//! Packs of pointers. They are resolved before a message is sent, so that its sender learns which
//! are stale and the first reader does not wait for them.

use crate::{
    agents::grants::private_entries,
    context::{ActiveProject, Context, plan::Planned, screen::screen_snapshot, shelf::HomeShelf},
    evidence::{
        gather::{self, entries_of_copies},
        health,
    },
};
use engram_model::{
    CheckedPointer, Pointer, PointerInput, PointerType, Refusal, operation::Snapshot,
};
use engram_pointers::resolve;
use engram_store::Reader;

/// The pinned pointers of a message.
#[derive(Default)]
pub(crate) struct Pack {
    pub(crate) pointers: Vec<Pointer>,
    /// The pointers that no longer match their pins.
    pub(crate) stale: Vec<CheckedPointer>,
    /// Copies of the files to which they point, if needed.
    snapshots: Vec<Snapshot>,
}

/// Resolves pointers; if one does not resolve, all are refused. `place` names the list in the
/// refusal.
pub(crate) fn resolve_pack<'a>(
    cx: &Context<'_>,
    place: &str,
    inputs: impl IntoIterator<Item = &'a PointerInput>,
) -> Result<Pack, Refusal> {
    let mut pack = Pack::default();
    for (at, input) in inputs.into_iter().enumerate() {
        resolve_into(cx, &mut pack, input).map_err(|it| it.at(format_args!("{place}[{at}]")))?;
    }
    Ok(pack)
}

fn resolve_into(cx: &Context<'_>, pack: &mut Pack, input: &PointerInput) -> Result<(), Refusal> {
    let pointer = input.clone().check(cx.limits()?)?;
    if pointer.kind() == PointerType::Url {
        pack.pointers.push(pointer);
        return Ok(());
    }
    let repo = gather::repo_for(cx, &pointer)?;
    let shelf = HomeShelf {
        urls: false,
        ..cx.shelf(cx.known_project()?)?
    };
    let resolved = match resolve(repo, &shelf, &pointer) {
        Ok(resolved) => resolved,
        Err(refusal) => return Err(gather::without_hints(cx, &pointer, refusal)?),
    };
    if let Some(snapshot) = &resolved.snapshot {
        screen_snapshot(snapshot)?;
        pack.snapshots.push(snapshot.clone());
    }
    pack.stale
        .extend(repo.and_then(|repo| health::change_of_pointer(repo, &shelf, &pointer, &resolved)));
    let (pointer, copy) = gather::keep_commits(cx, resolved.pointer)?;
    pack.snapshots.extend(copy);
    pack.pointers.push(pointer);
    Ok(())
}

impl Pack {
    /// Whether none of the pointers addresses an uncommitted file.
    pub(crate) fn is_of_commits(&self) -> bool {
        self.snapshots.is_empty()
    }

    /// The entries that store a copy of each file that needs one.
    pub(crate) fn planned_copies(
        &self,
        tx: &Reader<'_>,
        active: &ActiveProject,
        by: &str,
    ) -> Result<Vec<Planned>, Refusal> {
        let copies = entries_of_copies(tx, active.project, &self.pointers, &self.snapshots)?;
        Ok(private_entries(copies, by))
    }
}
