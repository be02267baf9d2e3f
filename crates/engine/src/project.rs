//! Which repository this is: a ULID, minted once, in the repository's common git folder.
//!
//! Worktrees share it, a moved repository keeps it, a clone gets its own.

use std::{fs, io::Write, path::PathBuf, sync::Mutex};

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
    if let Some(id) = read(repo) {
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
    located: &Known,
) -> Result<Ground, Refusal> {
    let settled = |project| Ground {
        project,
        located: None,
    };
    let Some(repo) = repo else {
        return Ok(settled(of_home(store)));
    };
    let written = read(repo);
    let mut last = located.0.lock().unwrap_or_else(|it| it.into_inner());
    if let (Some((place, id)), Some(written)) = (&*last, written)
        && *id == written
        && place == repo.common_dir()
    {
        return Ok(settled(written));
    }
    let known = store.read::<_, Refusal>(|it| Ok(it.project_at(&place(repo))?))?;
    let id = match (written, known) {
        (Some(written), _) => written,
        (None, known) => {
            let id = known.unwrap_or_else(|| ProjectId(world.id()));
            match in_repository {
                true => write(repo, id),
                false => id,
            }
        }
    };
    if known == Some(id) {
        *last = Some((repo.common_dir().to_owned(), id));
        return Ok(settled(id));
    }
    Ok(Ground {
        project: id,
        located: Some(Located {
            common_dir: place(repo),
            name: repo.name(),
        }),
    })
}

/// The repository last found to be recorded in the home: its common git folder and project id.
#[derive(Default)]
pub(crate) struct Known(Mutex<Option<(PathBuf, ProjectId)>>);

fn place(repo: &Repo) -> String {
    repo.common_dir().to_string_lossy().into_owned()
}

fn read(repo: &Repo) -> Option<ProjectId> {
    repo.own_file(FILE)?.trim().parse().ok()
}

/// Writes the id whole or not at all; where another process was first, its id counts.
fn write(repo: &Repo, id: ProjectId) -> ProjectId {
    let common_dir = repo.common_dir();
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
            read(repo).unwrap_or(id)
        }
    }
}
