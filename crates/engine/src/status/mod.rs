//! The state of the home and the project: for the user everything, for an agent what it may see.

pub(crate) mod adopt;
pub(crate) mod doctor;
pub(crate) mod everywhere;
pub(crate) mod news;
pub(crate) mod recover;

use std::collections::HashMap;

use crate::{
    Engine,
    context::{Context, Tree, names, visibility::Visibility},
    evidence::health::is_followed,
    follow::Subscription,
    messages::reached,
    status::{
        doctor::{Checkup, Treatment},
        everywhere::RepositoryWaiting,
    },
};
use engram_gateway::budget_of;
use engram_model::{
    AgentId, ConflictStatus, Evidence, ProjectId, ProjectStatus, Refusal, Spending, StatusReply,
    shorten, visible,
};
use engram_pointers::Repo;
use engram_store::{INDEX_FOLLOWER, Reader, RowsOf};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// The most agents in a turn whose spending is compared.
const SPENDERS: usize = 100;
/// The most claims that are counted for an agent.
const COUNTED: usize = 1000;

impl Engine {
    /// Checks the database, the journal, the index, who can read them, and the repository, and does
    /// what `treatment` asks for along the way.
    pub fn doctor(&self, treatment: Treatment) -> Result<Checkup, Refusal> {
        self.ensure_open()?;
        doctor::checkup(self, treatment)
    }

    /// Calls `each` on a separate thread with what waits for the user in all repositories of the
    /// home: at once, and again whenever that changed.
    pub fn follow_waiting(
        self: &Arc<Self>,
        mut each: impl FnMut(Vec<RepositoryWaiting>) + Send + 'static,
    ) -> Result<Subscription, Refusal> {
        let mut before = None;
        self.look_at_changes(move |engine| {
            let all = everywhere::list_waiting(engine)?;
            if before.as_ref() != Some(&all) {
                before = Some(all.clone());
                each(all);
            }
            Ok(())
        })
    }

    /// The project that this engine was last asked about, how many of its claims hold, and how many
    /// of them need review. Reads only the store, no repository. `None` until the project is known.
    pub fn count_holding(&self) -> Result<Option<(ProjectId, u64, u64)>, Refusal> {
        self.ensure_open()?;
        let Some(seat) = self.caches.located.last() else {
            return Ok(None);
        };
        let (project, now) = (seat.project, self.world.now());
        self.store.read(|tx| {
            let holding = tx.count_engrams(project, now)?.holding;
            let drifted = tx.count_standing(project, &seat.worktree, &Evidence::DRIFTED)?;
            Ok(Some((project, holding, drifted)))
        })
    }
}

/// The status of the project as the caller may see it. A missing repository is described from what
/// is known of it.
pub(crate) fn compose_status(cx: &Context<'_>) -> Result<StatusReply, Refusal> {
    let id = cx.known_project()?;
    let project = cx.project_or_home()?;
    let (agent, tree) = (cx.agent()?, cx.tree()?);
    let user = agent.is_none();
    let here = match cx.repo() {
        Ok(repo) => repo.map(|repo| project_status(repo, id, user)),
        Err(gone) => Some(cx.last_known_repository(gone.clone())?.status(&gone)),
    };
    let git_folder = cx.repo().ok().flatten().map(|it| it.common_dir());
    let watching = watch_warning(cx)?;
    let limits = &cx.limits()?.deref;
    let now = cx.engine.world.now();
    let visibility = cx.visibility_in(project)?;
    let (brief, has_todo) = match agent {
        Some(_) => reached::lines_of_status(cx, project)?,
        None => (Vec::new(), false),
    };
    cx.engine.store.read(|tx| {
        let count = count_visible(
            cx,
            tx,
            &visibility,
            agent.map(|it| &it.handle),
            project,
            tree.as_ref(),
            now,
        )?;
        let budget = match agent {
            Some(agent) => {
                let spent = tx.spend(&agent.handle, &agent.turn)?;
                Some(budget_of(limits, &spent, &agent.turn))
            }
            None => None,
        };
        Ok(StatusReply {
            status: if count.is_empty { "empty" } else { "ready" }.to_owned(),
            next: if has_todo {
                ANSWER_TODOS_FIRST.to_owned()
            } else {
                next_step(user, here.is_some(), count.is_empty)
            },
            project: here.clone(),
            engrams: count.holding,
            head: tx.head()?,
            indexed: tx.cursor(INDEX_FOLLOWER)?,
            drifted: count.drifted,
            due: tx.count_due(project, cx.agent()?.map(|agent| &agent.handle))?,
            conflicts: if user {
                Some(tx.count_conflicts(project, ConflictStatus::Open, now)?)
            } else {
                None
            },
            requests: if user {
                Some(tx.grants().count_requests(project, None, false)?)
            } else {
                None
            },
            sign_of_life: match git_folder {
                Some(folder) if user && !tx.has_claim_of_agent(project)? => {
                    cx.engine.calls.last_caller(folder)
                }
                _ => None,
            },
            watching: watching.clone(),
            agents: count.agents,
            budget,
            brief: brief.clone(),
            spending: match id {
                Some(id) if user => nearest_to_limit(cx, tx, id)?,
                _ => None,
            },
            home: user.then(|| cx.engine.store.home().display().to_string()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    })
}

/// The agent in a turn that is nearest to a limit.
fn nearest_to_limit(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
) -> Result<Option<Spending>, Refusal> {
    let idle = cx.engine.config.limits.deref.turn_idle_seconds;
    let idle = SignedDuration::from_secs(idle);
    // A turn may be configured never to end.
    let since = cx.engine.now().checked_sub(idle).unwrap_or(Timestamp::MIN);
    let mut all = Vec::new();
    for spender in tx.spenders(project, since, SPENDERS)?.into_iter().rev() {
        let limits = cx.engine.limits_of(tx, &spender.handle)?.deref;
        let last = spender.last_call;
        all.push(Spending {
            budget: budget_of(&limits, &spender.spend, &spender.turn),
            agent: names::recorded_name(&spender.label),
            until: last.checked_add(idle).unwrap_or(Timestamp::MAX),
        });
    }
    // Of two that are equally near, the later caller.
    Ok(all
        .into_iter()
        .max_by(|a, b| a.budget.fullest().total_cmp(&b.budget.fullest())))
}

/// The counts of a project's status.
struct ProjectCounts {
    holding: u64,
    drifted: u64,
    agents: u64,
    /// Whether there never was a claim; for an agent, whether it sees none that holds.
    is_empty: bool,
}

/// Counts everything for the user. For an agent, counts the claims that it may see, up to
/// [`COUNTED`], and the agents that said them.
fn count_visible(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    visibility: &Visibility,
    caller: Option<&AgentId>,
    project: ProjectId,
    tree: Option<&Tree>,
    now: Timestamp,
) -> Result<ProjectCounts, Refusal> {
    if matches!(visibility, Visibility::All) {
        let count = tx.count_engrams(project, now)?;
        let drifted =
            tree.map(|tree| tx.count_standing(tree.project, &tree.worktree, &Evidence::DRIFTED));
        return Ok(ProjectCounts {
            holding: count.holding,
            drifted: drifted.transpose()?.unwrap_or_default(),
            agents: tx.count_agent_rows(
                project,
                RowsOf::Active,
                &cx.engine.calls.last_calls(project, now),
            )?,
            is_empty: count.ever == 0,
        });
    }
    let sees = |scope, run, topic: &str| visibility.may_see_of(project, scope, run, topic);
    let (holding, mut agents) = tx.count_seen(project, now, COUNTED, &sees)?;
    agents.extend(caller.cloned());
    let drifted = tree.map(|tree| {
        let standing = &Evidence::DRIFTED;
        tx.count_standing_seen(tree.project, &tree.worktree, standing, COUNTED, &sees)
    });
    Ok(ProjectCounts {
        holding,
        drifted: drifted.transpose()?.unwrap_or_default(),
        agents: tx.count_agent_rows(project, RowsOf::Handles(&agents), &HashMap::new())?,
        is_empty: holding == 0,
    })
}

/// The most characters of a branch that a status shows.
const MAX_BRANCH: usize = 80;

fn project_status(repo: &Repo, id: Option<ProjectId>, user: bool) -> ProjectStatus {
    let (branch, head) = repo.head();
    // A hostile clone names its branch.
    let branch = branch.map(|it| visible(&shorten(&it, MAX_BRANCH)));
    let root = repo.workdir().unwrap_or(repo.common_dir());
    ProjectStatus {
        id,
        name: repo.name(),
        branch,
        head,
        root: user.then(|| root.display().to_string()),
        remote: everywhere::remote_of(repo).filter(|_| user),
        unavailable: None,
    }
}

/// The next step of an agent whose brief has something to do.
const ANSWER_TODOS_FIRST: &str = "Answer each to-do in the brief with engram_commit, passing its id as corrects_lineage. Call engram_query before you work on an area; commit what you learn with engram_commit.";

fn next_step(user: bool, is_in_repository: bool, is_empty: bool) -> String {
    match (user, is_empty) {
        (true, true) if !is_in_repository => {
            "Change to a git repository, or name one with --repo; then connect an agent there: `engram connect` lists the supported agents."
        }
        (true, true) => "Connect an agent: `engram connect` lists the supported agents.",
        (true, false) => "Ask with `engram query TEXT`, or watch the feed with `engram feed --follow`.",
        (false, true) => {
            "No claims here yet: commit what you learn with engram_commit, with a pointer to its evidence."
        }
        (false, false) => "Call engram_query before you work on an area; commit what you learn with engram_commit.",
    }
    .to_owned()
}

/// Why only part of the working tree is watched, according to its follower, or why this process
/// polls for changes by others.
pub(crate) fn watch_warning(cx: &Context<'_>) -> Result<Option<String>, Refusal> {
    let of_tree = match cx.tree()? {
        Some(tree) if is_followed(cx.engine, &tree) => {
            let store = &cx.engine.store;
            store.read(|tx| tx.worktree_state(tree.project, &tree.worktree))?
        }
        _ => None,
    };
    let note = of_tree.and_then(|looked| looked.note);
    Ok(note.or_else(|| cx.engine.why_unwatched()))
}
