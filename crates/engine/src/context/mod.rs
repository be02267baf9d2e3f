//! The context of one request: the caller, the repository, the project and the time. Each is found
//! once, and only if it is needed. The submodules hold what every feature needs to know about its
//! caller: names, authors, visibility, what it may still read, how often it may write, and the
//! secret screen.

pub(crate) mod author;
pub(crate) mod caller;
pub(crate) mod names;
pub(crate) mod plan;
pub(crate) mod project;
pub(crate) mod purse;
pub(crate) mod rates;
pub(crate) mod repository;
pub(crate) mod screen;
pub(crate) mod servings;
pub(crate) mod shelf;
pub(crate) mod visibility;

use std::{cell::OnceCell, time::Duration};

use crate::{
    Engine,
    context::{
        caller::{CallingAgent, agent_and_ancestors, kin_of, other_project_refusal, token_digest},
        project::Seat,
        screen::screen_text,
        shelf::HomeShelf,
        visibility::Visibility,
    },
    world::Gone,
};
use engram_gateway::narrowed_limits;
use engram_model::{
    AgentId, Caller, Code, JournalTime, Limits, ProjectId, Refusal,
    operation::{Admitted, Agent, Located},
};
use engram_pointers::Repo;
use engram_store::{Reader, read_until};

/// The time limit for a request's work in a repository, and for an agent's reads of the store. The
/// second value is for a request about all claims, and for a follower.
const TIME_FOR_ONE: Duration = Duration::from_secs(5);
const TIME_FOR_MANY: Duration = Duration::from_secs(60);

/// A request that is being answered.
pub(crate) struct Context<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) caller: &'e Caller,
    /// Whether the engine acts by itself.
    is_own: bool,
    /// How long work in a repository may take.
    patience: Duration,
    /// Ends the work earlier if nobody waits for it any more.
    gone: Option<Gone>,
    repo: OnceCell<Option<Repo>>,
    project: OnceCell<Option<ProjectId>>,
    /// The calling agent as stored when the request began.
    stored: OnceCell<Option<Agent>>,
    agent: OnceCell<Option<CallingAgent>>,
    /// The agent in the turn that the request names.
    in_turn: OnceCell<CallingAgent>,
    limits: OnceCell<Limits>,
}

/// A working tree and its project; health is reported for one tree.
pub(crate) struct Tree {
    pub(crate) project: ProjectId,
    /// Empty for the main working tree.
    pub(crate) worktree: String,
}

/// The project in which an operation happens.
pub(crate) struct ActiveProject {
    pub(crate) project: ProjectId,
    /// The location of the project, if the home does not know it yet. It is recorded with the first
    /// operation.
    pub(crate) located: Option<Located>,
    /// The working tree, if its git folder does not name it. From now on it is bound to that
    /// folder.
    pub(crate) admitted: Option<Admitted>,
}

impl ActiveProject {
    /// A project that the home already knows completely.
    pub(crate) fn of(project: ProjectId) -> Self {
        Self {
            project,
            located: None,
            admitted: None,
        }
    }
}

impl Tree {
    /// The name of the cursor of this tree's follower.
    pub(crate) fn follower(&self) -> String {
        format!("anchors/{}/{}", self.project, self.worktree)
    }
}

impl<'e> Context<'e> {
    /// A context for a caller that may leave before the answer comes, as `gone` reports. A request
    /// about `many` claims has more time.
    pub(crate) fn for_request(
        engine: &'e Engine,
        caller: &'e Caller,
        gone: Option<Gone>,
        is_of_many: bool,
    ) -> Self {
        Self {
            engine,
            caller,
            is_own: false,
            patience: if is_of_many {
                TIME_FOR_MANY
            } else {
                TIME_FOR_ONE
            },
            gone,
            repo: OnceCell::new(),
            project: OnceCell::new(),
            stored: OnceCell::new(),
            agent: OnceCell::new(),
            in_turn: OnceCell::new(),
            limits: OnceCell::new(),
        }
    }

    /// Runs `look` on the store within this caller's remaining time; `None` if the time is over or
    /// nobody waits any more.
    pub(crate) fn in_time<T>(&self, look: impl FnOnce() -> T) -> Option<T> {
        let patience = match self.caller {
            Caller::User => Duration::MAX,
            Caller::Agent(_) => self.patience,
        };
        let stop = self.engine.world.stop_after(patience, self.gone.clone());
        read_until(move || stop.is_over(), look)
    }

    pub(crate) fn new(engine: &'e Engine, caller: &'e Caller) -> Self {
        Self::for_request(engine, caller, None, false)
    }

    /// A context that shows somebody the last state of an agent. The agent itself does not call.
    pub(crate) fn as_seen(engine: &'e Engine, caller: &'e Caller, agent: Agent) -> Self {
        let context = Self::new(engine, caller);
        context.in_turn.set(CallingAgent::new(agent, None)).ok();
        context
    }

    /// A context for this request in the name of another caller.
    pub(crate) fn for_caller<'a>(&'a self, caller: &'a Caller) -> Context<'a> {
        Context::for_request(self.engine, caller, self.gone.clone(), false)
    }

    /// A context for what the engine does by itself.
    pub(crate) fn for_engine(engine: &'e Engine) -> Self {
        let mut context = Self::for_request(engine, &Caller::User, None, true);
        context.is_own = true;
        context
    }

    /// Whether the engine acts by itself.
    pub(crate) fn is_of_engine(&self) -> bool {
        self.is_own
    }

    /// The repository, if there is one. Each request checks this, because the repository may have
    /// been moved or deleted since the last one.
    pub(crate) fn repo(&self) -> Result<Option<&Repo>, Refusal> {
        let repo = get_or_try(&self.repo, || {
            let repo = self.engine.repo()?;
            if let Some(repo) = &repo {
                let stop = self
                    .engine
                    .world
                    .stop_after(self.patience, self.gone.clone());
                repo.until(stop);
            }
            Ok(repo)
        })?;
        Ok(repo.as_ref())
    }

    /// Runs `look` on the repository with a separate time limit.
    pub(crate) fn with_repo_within<T>(
        &self,
        patience: Duration,
        look: impl FnOnce(&Repo) -> T,
    ) -> Result<T, Refusal> {
        let repo = self.require_repo()?;
        let stop = |patience| self.engine.world.stop_after(patience, self.gone.clone());
        repo.until(stop(patience));
        let found = look(repo);
        repo.until(stop(self.patience));
        Ok(found)
    }

    /// Returns the repository.
    ///
    /// # Errors
    /// `REPO_UNAVAILABLE` if there is none.
    pub(crate) fn require_repo(&self) -> Result<&Repo, Refusal> {
        self.repo()?.ok_or_else(|| {
            Refusal::new(
                Code::RepoUnavailable,
                "there is no git repository here",
                "Start Engram in your clone.",
            )
        })
    }

    /// The project of the repository (or of the home, without one), if it already has an id.
    pub(crate) fn known_project(&self) -> Result<Option<ProjectId>, Refusal> {
        get_or_try(&self.project, || match self.repo() {
            Ok(repo) => project::project_of(self.engine, repo),
            Err(gone) => Ok(Some(self.last_known_repository(gone)?.project)),
        })
        .copied()
    }

    /// The last repository here before it was moved, deleted or unmounted. Its user can still read
    /// what the home knows about it.
    pub(crate) fn last_known_repository(&self, gone: Refusal) -> Result<Seat, Refusal> {
        let seat = match (self.caller, gone.code) {
            (Caller::User, Code::RepoUnavailable) => self.engine.caches.located.last(),
            _ => None,
        };
        seat.ok_or(gone)
    }

    /// The project, if it was already looked up and exists.
    pub(crate) fn cached_project(&self) -> Option<ProjectId> {
        self.project.get().copied().flatten()
    }

    /// The project of what the home knows without claims, such as its agents: the home's own if the
    /// repository has no id yet.
    pub(crate) fn project_or_home(&self) -> Result<ProjectId, Refusal> {
        let known = self.known_project()?;
        Ok(known.unwrap_or_else(|| project::home_project(&self.engine.store)))
    }

    /// The project of a query. A repository without an id has no claims, so a query does not mint
    /// an id.
    pub(crate) fn project(&self) -> Result<ProjectId, Refusal> {
        let nothing = ProjectId(ulid::Ulid::nil());
        Ok(self.known_project()?.unwrap_or(nothing))
    }

    /// The project of an operation; mints an id if there is none. `in_repository` allows writing
    /// the id to the git folder.
    pub(crate) fn active_project(&self, in_repository: bool) -> Result<ActiveProject, Refusal> {
        let found = self.cached_project();
        project::active_project_of(self.engine, self.repo()?, found, in_repository)
    }

    /// The calling agent in its current turn; `None` for the user.
    pub(crate) fn agent(&self) -> Result<Option<&Agent>, Refusal> {
        Ok(self.calling_agent()?.map(|it| &it.agent))
    }

    /// The calling agent with its turn in the store; `None` for the user.
    pub(crate) fn calling_agent(&self) -> Result<Option<&CallingAgent>, Refusal> {
        let Caller::Agent(handle) = self.caller else {
            return Ok(None);
        };
        if let Some(agent) = self.in_turn.get() {
            return Ok(Some(agent));
        }
        let agent = get_or_try(&self.agent, || {
            let project = match self.known_project() {
                Ok(Some(project)) => project,
                _ => project::home_project(&self.engine.store),
            };
            let stored = self.stored_agent(handle)?.cloned();
            self.engine
                .record_call_of(handle, stored, project)
                .map(Some)
        })?;
        Ok(agent.as_ref())
    }

    /// The calling agent as stored when the request began.
    fn stored_agent(&self, handle: &AgentId) -> Result<Option<&Agent>, Refusal> {
        let stored = get_or_try(&self.stored, || {
            let store = &self.engine.store;
            store.read::<_, Refusal>(|tx| Ok(tx.agent(handle)?))
        })?;
        Ok(stored.as_ref())
    }

    /// Moves the calling agent to a turn that the request names.
    pub(crate) fn move_to_turn(&self, turn: Option<String>) -> Result<(), Refusal> {
        screen_text("the turn", turn.as_deref().unwrap_or_default())?;
        if let (Some(turn), Some(called)) = (turn, self.calling_agent()?) {
            let mut called = called.clone();
            called.agent.turn = turn;
            called.is_named = true;
            self.in_turn.set(called).ok();
        }
        Ok(())
    }

    /// The limits of the caller: those of the home, narrowed for an agent by its parent's messages.
    pub(crate) fn limits(&self) -> Result<&Limits, Refusal> {
        match self.agent()? {
            None => Ok(&self.engine.config.limits),
            Some(_) => get_or_try(&self.limits, || {
                self.engine.store.read(|tx| self.limits_in(tx))
            }),
        }
    }

    /// The limits of the caller by the current state of the store.
    pub(crate) fn limits_in(&self, tx: &Reader<'_>) -> Result<Limits, Refusal> {
        match self.agent()? {
            None => Ok(self.engine.config.limits.clone()),
            Some(agent) => limits_for(tx, &self.engine.config.limits, Some(agent)),
        }
    }

    /// What the caller may see.
    pub(crate) fn visibility(&self) -> Result<Visibility, Refusal> {
        match self.agent()? {
            // The user needs no repository to read a claim.
            None => Ok(Visibility::All),
            Some(_) => self.visibility_in(self.project()?),
        }
    }

    /// What the caller may see of a project.
    pub(crate) fn visibility_in(&self, project: ProjectId) -> Result<Visibility, Refusal> {
        Ok(match self.agent()? {
            None => Visibility::All,
            Some(agent) => Visibility::Agent {
                project,
                kin: kin_of(agent.clone()),
            },
        })
    }

    /// The name of the working tree; empty for the main one, and outside of a repository.
    pub(crate) fn worktree(&self) -> Result<String, Refusal> {
        match self.repo() {
            Ok(repo) => Ok(repo.map_or_else(String::new, Repo::worktree)),
            Err(gone) => Ok(self.last_known_repository(gone)?.worktree),
        }
    }

    /// The working tree of this process; `None` outside a repository with an id.
    pub(crate) fn tree(&self) -> Result<Option<Tree>, Refusal> {
        match self.repo() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(None),
            // A missing tree cannot be checked.
            Err(gone) => return self.last_known_repository(gone).map(|_| None),
        }
        let worktree = self.worktree()?;
        Ok(self
            .known_project()?
            .map(|project| Tree { project, worktree }))
    }

    /// Evidence that is not in git, for the pointers of a project.
    pub(crate) fn shelf(&self, project: Option<ProjectId>) -> Result<HomeShelf<'e>, Refusal> {
        Ok(HomeShelf {
            visibility: project.map(|it| self.visibility_in(it)).transpose()?,
            ..self.engine.shelf(project)
        })
    }

    /// Refuses an agent of another project of this home, whatever it asks.
    pub(crate) fn refuse_other_project(&self) -> Result<(), Refusal> {
        let Caller::Agent(handle) = self.caller else {
            return Ok(());
        };
        let Some(agent) = self.stored_agent(handle)? else {
            return Ok(());
        };
        let here = match self.known_project() {
            // Requests that need the repository are refused where they need it.
            Err(error) if matches!(error.code, Code::RepoUnavailable | Code::ScopeDenied) => None,
            known => known?,
        };
        let is_here = here.is_none_or(|it| it == agent.project);
        if is_here || agent.project == project::home_project(&self.engine.store) {
            Ok(())
        } else {
            Err(other_project_refusal(handle))
        }
    }

    /// The time of an entry recorded now.
    pub(crate) fn journal_time(&self) -> Result<JournalTime, Refusal> {
        let clock = self.engine.world.now();
        self.engine.store.read(|tx| Ok(tx.time(clock)?))
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        if let Some(repo) = self.repo.take().flatten() {
            self.engine.give_back_repo(repo);
        }
    }
}

impl Engine {
    /// The agent of this home that a token proves.
    ///
    /// # Errors
    /// `SCOPE_DENIED` for a token that proves nobody here.
    pub fn agent_by_token(&self, token: &str) -> Result<AgentId, Refusal> {
        self.ensure_open()?;
        let digest = token_digest(token);
        let store = &self.store;
        let found = store.read::<_, Refusal>(|tx| Ok(tx.agent_of_token(&digest)?))?;
        found.ok_or_else(|| {
            Refusal::new(
                Code::ScopeDenied,
                "no agent in this home has this token",
                "Ask the user to run `engram agents open NAME` and give you the new token; it replaces any earlier one.",
            )
        })
    }

    /// The root of an agent's tree: the agent that it descends from, or itself.
    ///
    /// # Errors
    /// If the home cannot be read.
    pub fn root_of(&self, agent: &AgentId) -> Result<AgentId, Refusal> {
        self.ensure_open()?;
        self.store.read(|tx| {
            let line = caller::agent_and_ancestors(tx, tx.agent(agent)?.as_ref())?;
            Ok(line.last().map_or(agent, |root| &root.handle).clone())
        })
    }

    /// The limits of an agent.
    pub(crate) fn limits_of(&self, tx: &Reader<'_>, agent: &AgentId) -> Result<Limits, Refusal> {
        limits_for(tx, &self.config.limits, tx.agent(agent)?.as_ref())
    }

    /// The agent of a handle, in its current turn.
    fn record_call_of(
        &self,
        handle: &AgentId,
        stored: Option<Agent>,
        project: ProjectId,
    ) -> Result<CallingAgent, Refusal> {
        let idle = self.config.limits.deref.turn_idle_seconds;
        self.agents
            .record_call(&self.store, &self.world, handle, stored, project, idle)
    }
}

/// The limits for an agent, as narrowed by the parents of the agent and of its ancestors. A child
/// never has more than its parent.
pub(crate) fn limits_for(
    tx: &Reader<'_>,
    limits: &Limits,
    agent: Option<&Agent>,
) -> Result<Limits, Refusal> {
    let mut limits = limits.clone();
    for one in agent_and_ancestors(tx, agent)? {
        limits = narrowed_limits(&limits, &tx.messages().budgets_of(&one.handle)?);
    }
    Ok(limits)
}

/// `OnceCell::get_or_try_init`, which the standard library does not yet offer.
fn get_or_try<T>(
    cell: &OnceCell<T>,
    find: impl FnOnce() -> Result<T, Refusal>,
) -> Result<&T, Refusal> {
    if cell.get().is_none() {
        let _ = cell.set(find()?);
    }
    cell.get()
        .ok_or_else(|| Refusal::bug("an internal lookup lost its result"))
}
