//! Which repository this is: a ULID, minted once, in the repository's common git folder.
//!
//! Worktrees share it, a moved repository keeps it, a clone gets its own.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use engram_model::{ProjectId, Refusal, operation::Located};
use engram_pointers::Repo;
use engram_store::Store;

use crate::{World, context::Ground};

/// The file in the common git folder.
const FILE: &str = "engram-project";

/// The project of this repository (or of the home, without one) if it has been given an id.
pub(crate) fn find(store: &Store, repo: Option<&Repo>) -> Result<Option<ProjectId>, Refusal> {
    let Some(repo) = repo else {
        return Ok(Some(of_home(store)));
    };
    if let Some(id) = read(repo.common_dir()) {
        return Ok(Some(id));
    }
    store.read(|it| Ok(it.project_at(&place(repo))?))
}

/// What belongs to no repository belongs to the home.
pub(crate) fn of_home(store: &Store) -> ProjectId {
    ProjectId(store.origin())
}

/// The project of this repository, with a new id if it has none. The id is kept in the home, and,
/// with `in_repository`, in the git folder where that can be written.
pub(crate) fn find_or_mint(
    store: &Store,
    world: &World,
    repo: Option<&Repo>,
    in_repository: bool,
) -> Result<Ground, Refusal> {
    let Some(repo) = repo else {
        return Ok(Ground {
            project: of_home(store),
            located: None,
        });
    };
    let written = read(repo.common_dir());
    let known = store.read::<_, Refusal>(|it| Ok(it.project_at(&place(repo))?))?;
    let id = match (written, known) {
        (Some(written), _) => written,
        (None, known) => {
            let id = known.unwrap_or_else(|| ProjectId(world.id()));
            match in_repository {
                true => write(repo.common_dir(), id),
                false => id,
            }
        }
    };
    let located = (known != Some(id)).then(|| Located {
        common_dir: place(repo),
        name: repo.name(),
    });
    Ok(Ground {
        project: id,
        located,
    })
}

fn place(repo: &Repo) -> String {
    repo.common_dir().to_string_lossy().into_owned()
}

fn read(common_dir: &Path) -> Option<ProjectId> {
    fs::read_to_string(common_dir.join(FILE))
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Writes the id whole or not at all; where another process was first, its id counts.
fn write(common_dir: &Path, id: ProjectId) -> ProjectId {
    let target = common_dir.join(FILE);
    let draft: PathBuf = common_dir.join(format!("{FILE}.{id}"));
    let written = fs::File::create_new(&draft)
        .and_then(|mut file| writeln!(file, "{id}").and_then(|()| file.sync_all()))
        .and_then(|()| fs::hard_link(&draft, &target));
    let _ = fs::remove_file(&draft);
    match written {
        Ok(()) => id,
        Err(error) => {
            tracing::debug!(%error, "the project's id stays in the home");
            read(common_dir).unwrap_or(id)
        }
    }
}
