//! Recovers what is still readable of a damaged database.

use crate::world::World;
use engram_model::{Code, Refusal};
use engram_store::{Recovered, Store, StoreError};
use std::path::Path;

/// Sets a damaged database aside, and saves what can still be read of it into a new one.
///
/// # Errors
/// If the database is sound or not ours, or if nothing of it can be read. Then nothing is changed.
pub fn recover(home: &Path) -> Result<Recovered, Refusal> {
    let world = World::system();
    if is_sound(home, world.new_id()) {
        return Err(Refusal::new(
            Code::NotFound,
            format!(
                "there is nothing to recover: the database in {} is sound",
                home.display()
            ),
            "Nothing was changed. `engram doctor --replay` compares its tables with the journal.",
        ));
    }
    Ok(engram_store::recover(home, world.new_id(), world.now())?)
}

fn is_sound(home: &Path, id: ulid::Ulid) -> bool {
    if !engram_store::is_home(home) {
        return false;
    }
    let Ok(store) = Store::open(home, id) else {
        return false;
    };
    let faults = store.read::<_, StoreError>(|tx| tx.journal_faults(1));
    store.integrity().is_ok_and(|it| it.is_empty()) && faults.is_ok_and(|it| it.is_empty())
}
