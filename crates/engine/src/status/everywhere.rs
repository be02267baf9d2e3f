//! Which repository of the home something belongs to, and the refusal to change it from another.

use std::path::{Path, PathBuf};

use engram_model::{
    Caller, Clues, Code, Linkable, LocateReply, OperationKind, PinInstead, Pinnable, Pinning,
    ProjectId, Refusal, Request, Whereabouts, shell_quoted,
};
use engram_pointers::Repo;
use engram_store::ProjectWaiting;

use crate::{
    Engine,
    context::{Context, project},
};

/// What waits for the user in a repository of the home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryWaiting {
    /// Its project.
    pub project: ProjectId,
    /// Its working tree, or its git folder; none for what is stored outside of any repository.
    pub path: Option<PathBuf>,
    /// Conflicts that wait for a verdict.
    pub conflicts: u64,
    /// Requests that wait for an answer.
    pub requests: u64,
}

/// The most repositories that are opened to look for a remote or a commit.
const OPENED: usize = 300;

/// Finds the repository that a clue leads to. Names nothing that the home does not know.
pub(crate) fn locate_repository(cx: &Context<'_>, clues: &Clues) -> Result<LocateReply, Refusal> {
    let origin = match &clues.id {
        Some(id) => origin_of_id(cx, id)?,
        None => None,
    };
    if let Some((project, kind)) = origin {
        return Ok(LocateReply {
            found: Some(whereabouts_of(cx, project)?),
            names: kind.and_then(linkable),
        });
    }
    if clues.remote.is_none() && clues.commit.is_none() {
        return Ok(LocateReply::default());
    }
    let is_it = |repo: &Repo| {
        let remote = clues.remote.as_ref();
        let is_clone = |of: &String| remote_of(repo).is_some_and(|it| it.eq_ignore_ascii_case(of));
        remote.is_some_and(is_clone) || clues.commit.as_ref().is_some_and(|it| repo.has_commit(it))
    };
    if let Ok(Some(repo)) = cx.repo()
        && is_it(repo)
    {
        let found = Some(Whereabouts {
            name: repo.name(),
            path: Some(root_of(repo).display().to_string()),
            is_here: true,
            is_gone: false,
        });
        return Ok(LocateReply { found, names: None });
    }
    let known = cx
        .engine
        .store
        .read::<_, Refusal>(|tx| Ok(tx.located_projects(OPENED)?))?;
    let found = known.into_iter().find_map(|(_, located)| {
        let repo = Repo::open(Path::new(&located.common_dir)).ok()?;
        is_it(&repo).then(|| Whereabouts {
            name: located.name,
            path: Some(root_of(&repo).display().to_string()),
            is_here: false,
            is_gone: false,
        })
    });
    Ok(LocateReply { found, names: None })
}

/// What an entry of this kind made, if a link can open it.
fn linkable(kind: OperationKind) -> Option<Linkable> {
    match kind {
        OperationKind::Stored => Some(Linkable::Claim),
        OperationKind::Conflicted | OperationKind::Proposed => Some(Linkable::Conflict),
        OperationKind::Requested => Some(Linkable::Request),
        _ => None,
    }
}

/// The address of a repository's remote; `None` if it seems to hold a credential.
pub(crate) fn remote_of(repo: &Repo) -> Option<String> {
    let address = repo.remote()?;
    (engram_consistency::mask(&address).text == address).then_some(address)
}

fn root_of(repo: &Repo) -> &Path {
    repo.workdir().unwrap_or(repo.common_dir())
}

/// The project of what has this id, and the kind of the entry that made it.
fn origin_of_id(
    cx: &Context<'_>,
    id: &str,
) -> Result<Option<(ProjectId, Option<OperationKind>)>, Refusal> {
    let id = id.trim();
    // Ids may be typed in lower case.
    let id = id
        .parse::<ulid::Ulid>()
        .map_or_else(|_| id.to_owned(), |it| it.to_string());
    cx.engine.store.read(|tx| Ok(tx.origin_of_id(&id)?))
}

/// Where a project of this home was last seen.
pub(crate) fn whereabouts_of(cx: &Context<'_>, project: ProjectId) -> Result<Whereabouts, Refusal> {
    let is_here = is_this_project(cx, project);
    let located = cx
        .engine
        .store
        .read::<_, Refusal>(|tx| Ok(tx.projects().located(project)?))?;
    let Some(located) = located else {
        return Ok(Whereabouts {
            name: String::new(),
            path: None,
            is_here,
            is_gone: false,
        });
    };
    let path = project::tree_of(PathBuf::from(located.common_dir));
    Ok(Whereabouts {
        name: located.name,
        is_gone: !is_here && !path.exists(),
        path: Some(path.display().to_string()),
        is_here,
    })
}

/// What waits for the user in all repositories, from the store alone.
pub(crate) fn list_waiting(engine: &Engine) -> Result<Vec<RepositoryWaiting>, Refusal> {
    let now = engine.world.now();
    engine.store.read(|tx| {
        let waiting = tx.waiting_projects(now)?.into_iter();
        let in_place = |waiting: ProjectWaiting| {
            let located = tx.projects().located(waiting.project)?;
            Ok(RepositoryWaiting {
                project: waiting.project,
                path: located.map(|it| project::tree_of(PathBuf::from(it.common_dir))),
                conflicts: waiting.conflicts,
                requests: waiting.requests,
            })
        };
        waiting.map(in_place).collect()
    })
}

/// Whether requests are about this project. An unavailable repository has no project.
pub(crate) fn is_this_project(cx: &Context<'_>, project: ProjectId) -> bool {
    matches!(cx.known_project(), Ok(Some(here)) if here == project)
}

/// Refuses a change of the user to what belongs to another repository of the home: an id says
/// nothing about its repository, so the user may not know which it is. Agents see no other project
/// anyway. What belongs to no repository, or to one that is gone, can be changed from anywhere.
pub(crate) fn refuse_elsewhere(cx: &Context<'_>, request: &Request) -> Result<(), Refusal> {
    let Some(id) = changed_by(request).filter(|_| *cx.caller == Caller::User) else {
        return Ok(());
    };
    let Some((project, _)) = origin_of_id(cx, &id)? else {
        return Ok(());
    };
    let found = whereabouts_of(cx, project)?;
    match found.path.filter(|_| !found.is_here && !found.is_gone) {
        None => Ok(()),
        Some(path) => Err(Refusal::new(
            Code::NotFound,
            format!(
                "{id} belongs to another repository: {} ({path})",
                found.name
            ),
            format!(
                "Pass --repo {}, if you mean to change it there.",
                shell_quoted(&path)
            ),
        )),
    }
}

/// The id of what a request changes, if it names one.
fn changed_by(request: &Request) -> Option<String> {
    Some(match request {
        Request::Restore(id)
        | Request::Forget(id)
        | Request::Redact(id)
        | Request::Repin(id)
        | Request::Reverify(id)
        | Request::Pin(
            Pinning::Engram(id)
            | Pinning::Instead(PinInstead {
                what: Pinnable::Engram(id),
                ..
            }),
        ) => id.to_string(),
        Request::Promote(promote) => promote.id.to_string(),
        Request::Reword(rewording) => rewording.id.to_string(),
        Request::Put(draft) => draft.corrects_lineage.clone()?,
        Request::Commit(commit) => commit.draft.corrects_lineage.clone()?,
        Request::Resolve(resolve) => resolve.conflict.to_string(),
        Request::Allow(allow) => allow.conflict.to_string(),
        Request::Explain(conflict) => conflict.to_string(),
        Request::GrantRequest(answer) => answer.id.clone(),
        Request::DenyRequest(answer) => answer.id.clone(),
        Request::RevokeGrant(id) => id.clone(),
        Request::IssueGrant(wanted) => wanted.replaces.clone()?,
        // The rest of those that change something name nothing of the home.
        Request::Note(_)
        | Request::LoadSample
        | Request::RemoveSample
        | Request::Adopt(_)
        | Request::OpenAgent(_)
        | Request::ChangeAgent(_)
        | Request::NextTurn(_)
        | Request::RequestDeref(_)
        | Request::Pin(Pinning::Text(_) | Pinning::Instead(_))
        | Request::Unpin(_)
        | Request::Send(_)
        | Request::Hook(_) => return None,
        // These change nothing that anybody else stored.
        Request::Get(_)
        | Request::Log(_)
        | Request::Query(_)
        | Request::Deref(_)
        | Request::Feed(_)
        | Request::Facets(_)
        | Request::Search(_)
        | Request::Source(_)
        | Request::Line(_)
        | Request::CheckPointers(_)
        | Request::Standing(_)
        | Request::Track(_)
        | Request::Complete(_)
        | Request::Blame(_)
        | Request::Locate(_)
        | Request::News(_)
        | Request::Conflicts(_)
        | Request::Conflict(_)
        | Request::Gate(_)
        | Request::Status
        | Request::Agents
        | Request::Budget(_)
        | Request::Timeline(_)
        | Request::Metrics
        | Request::Models
        | Request::Grants
        | Request::Requests(_)
        | Request::Brief
        | Request::ShowBrief(_)
        | Request::ValidateMessage(_) => return None,
    })
}
