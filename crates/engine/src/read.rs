//! What can be looked at without changing anything.

use engram_gateway::budget;
use engram_model::{
    Blame, Caller, Code, Engram, EngramId, Evidence, Facets, Feed, FeedPage, Filter, LineReply,
    LineView, Pointer, PointerInput, ProjectId, ProjectStatus, Refusal, RunId, Scope, SourceReply,
    SourceView, Spending, Standing, StatusReply, Target, Voice,
};
use engram_pointers::{Repo, Shelf, View};
use engram_store::{Agent, Reader};
use jiff::{SignedDuration, Timestamp};

use crate::{Engine, HomeShelf, agents::spend_of, not_found, project};

/// Most agents in a turn that are compared for what they spent.
const SPENDERS: usize = 100;

impl Engine {
    pub(crate) fn get(&self, caller: &Caller, id: EngramId) -> Result<Engram, Refusal> {
        let found = self.store.read::<_, Refusal>(|it| Ok(it.engram(id)?))?;
        let mut engram = found.ok_or_else(|| not_found(id))?;
        engram.derive_keys();
        match self.eyes(caller)?.may_see(&engram) {
            true => {
                self.tell_health_now(std::slice::from_mut(&mut engram));
                Ok(engram)
            }
            // What may not be seen is not told from what is not there.
            false => Err(not_found(id)),
        }
    }

    pub(crate) fn history(&self, caller: &Caller, id: EngramId) -> Result<Vec<Engram>, Refusal> {
        let engram = self.get(caller, id)?;
        let eyes = self.eyes(caller)?;
        let mut versions = self
            .store
            .read::<_, Refusal>(|it| Ok(it.lineage(engram.lineage_id)?))?;
        versions.retain(|version| eyes.may_see(version));
        versions.iter_mut().for_each(Engram::derive_keys);
        self.tell_health(versions.iter_mut());
        Ok(versions)
    }

    pub(crate) fn feed(&self, caller: &Caller, feed: &Feed) -> Result<FeedPage, Refusal> {
        let project = self.project_of(caller)?;
        let eyes = self.eyes(caller)?;
        let now = self.now_here()?;
        let worktree = self.worktree()?;
        let mut page = self.store.read::<_, Refusal>(|it| {
            let (mut entries, next) = it.feed(project, &worktree, feed)?;
            entries.retain(|entry| match &entry.change {
                engram_model::Change::Stored(engram) => eyes.may_see(engram),
                // How evidence stands in another working tree is no news in this one.
                engram_model::Change::Anchored { worktree: of, .. } => *of == worktree,
                _ => true,
            });
            let mut replaced = Vec::new();
            for entry in &entries {
                if let engram_model::Change::Stored(old) = &entry.change
                    && old.valid_until.is_some()
                    && let Some(newer) = it.successor(old.lineage_id, old.seq)?
                {
                    replaced.push((old.id, newer));
                }
            }
            Ok(FeedPage {
                entries,
                next,
                head: it.head()?,
                engrams: it.count_engrams(project, now)?.holding,
                replaced,
            })
        })?;
        self.tell_health(
            page.entries
                .iter_mut()
                .filter_map(|it| match &mut it.change {
                    engram_model::Change::Stored(engram) => Some(&mut **engram),
                    _ => None,
                }),
        );
        Ok(page)
    }

    pub(crate) fn facets(&self, caller: &Caller, filter: &Filter) -> Result<Facets, Refusal> {
        // Counts tell of what an agent may not see.
        if !matches!(self.eyes(caller)?, Eyes::All) {
            return Err(Refusal::new(
                Code::ScopeDenied,
                "only the user counts the feed",
                "Ask with engram_query.",
            ));
        }
        let project = self.project_of(caller)?;
        let worktree = self.worktree()?;
        self.store
            .read(|it| Ok(it.facets(project, &worktree, filter)?))
    }

    pub(crate) fn voices(&self, caller: &Caller, id: EngramId) -> Result<Vec<Voice>, Refusal> {
        let engram = self.get(caller, id)?;
        self.store.read(|it| Ok(it.voices(engram.id)?))
    }

    /// The window's view; only the user has a window, so nothing is metered.
    pub(crate) fn source(&self, view: SourceView) -> Result<SourceReply, Refusal> {
        let how = View {
            context: view.context,
            soon: view.soon,
        };
        self.view(view.pointer, |repo, shelf, pointer| {
            engram_pointers::source(repo, shelf, pointer, how)
        })
    }

    pub(crate) fn line(&self, view: LineView) -> Result<LineReply, Refusal> {
        self.view(view.pointer, |repo, shelf, pointer| {
            engram_pointers::line(repo, shelf, pointer, view.number, view.from)
        })
    }

    pub(crate) fn standing(&self, pointer: PointerInput) -> Result<Standing, Refusal> {
        self.view(pointer, engram_pointers::standing)
    }

    pub(crate) fn blame(&self, pointer: PointerInput) -> Result<Blame, Refusal> {
        self.view(pointer, engram_pointers::blame)
    }

    fn view<T>(
        &self,
        pointer: PointerInput,
        ask: impl FnOnce(Option<&Repo>, &dyn Shelf, &Pointer) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let pointer = Pointer::try_from(pointer)?;
        let repo = match self.repo() {
            Err(error) if !matches!(pointer.target, Target::Sam { .. } | Target::Url { .. }) => {
                return Err(error);
            }
            found => found.unwrap_or(None),
        };
        let shelf = HomeShelf {
            store: &self.store,
            project: project::find(&self.store, repo.as_ref())?,
            urls: self.config.urls,
        };
        ask(repo.as_ref(), &shelf, &pointer)
    }

    pub(crate) fn status(&self, caller: &Caller) -> Result<StatusReply, Refusal> {
        let repo = self.repo()?;
        let id = project::find(&self.store, repo.as_ref())?;
        let project = id.unwrap_or_else(|| project::of_home(&self.store));
        let now = self.now_here()?;
        let idle = self.config.limits.deref.turn_idle_seconds;
        let agent = self
            .agents
            .call(&self.store, &self.world, caller, project, idle)?;
        let user = agent.is_none();
        let indexed = match self.index() {
            Some(index) => index.cursor().unwrap_or(0),
            None => 0,
        };
        let tree = self.tree()?;
        let watching = self.watching()?;
        self.store.read(|it| {
            let count = match id {
                Some(id) => it.count_engrams(id, now)?,
                None => engram_store::CommitCount {
                    holding: 0,
                    ever: 0,
                },
            };
            let budget = match &agent {
                Some(agent) => Some(budget(
                    &self.config.limits.deref,
                    &spend_of(it.spend(&agent.handle, &agent.turn)?),
                    &agent.turn,
                )),
                None => None,
            };
            Ok(StatusReply {
                status: if count.ever == 0 { "empty" } else { "ready" }.to_owned(),
                next: next_step(user, count.ever),
                project: repo.as_ref().map(|repo| {
                    let (branch, head) = repo.head();
                    ProjectStatus {
                        id,
                        name: repo.name(),
                        branch,
                        head,
                        root: user.then(|| {
                            repo.workdir()
                                .unwrap_or(repo.common_dir())
                                .display()
                                .to_string()
                        }),
                    }
                }),
                engrams: count.holding,
                head: it.head()?,
                indexed,
                drifted: match &tree {
                    Some(tree) => {
                        it.count_standing(tree.project, &tree.worktree, &Evidence::DRIFTED)?
                    }
                    None => 0,
                },
                watching: watching.clone(),
                agents: it.count_agents(project)?,
                budget,
                spending: match id {
                    Some(id) if user => self.spending(it, id)?,
                    _ => None,
                },
                home: user.then(|| self.store.home().display().to_string()),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            })
        })
    }

    /// Of the agents that are in a turn, the one that is nearest to a limit.
    fn spending(&self, it: &Reader<'_>, project: ProjectId) -> Result<Option<Spending>, Refusal> {
        let limits = &self.config.limits.deref;
        let idle = SignedDuration::from_secs(limits.turn_idle_seconds);
        // A turn may be set to end never.
        let since = self.now().checked_sub(idle).unwrap_or(Timestamp::MIN);
        let spenders = it.spenders(project, since, SPENDERS)?;
        let all = spenders.into_iter().rev().map(|it| Spending {
            agent: it.label,
            budget: budget(limits, &spend_of(it.spend), &it.turn),
            until: it.last_call.checked_add(idle).unwrap_or(Timestamp::MAX),
        });
        // Of two that are as near, the later caller.
        Ok(all.max_by(|a, b| a.budget.fullest().total_cmp(&b.budget.fullest())))
    }

    /// The project that a caller works on; the home itself where there is no repository.
    pub(crate) fn project_of(&self, _caller: &Caller) -> Result<ProjectId, Refusal> {
        let repo = self.repo()?;
        let found = project::find(&self.store, repo.as_ref())?;
        // A repository without an id holds nothing: no id is minted for asking.
        Ok(found.unwrap_or(ProjectId(ulid::Ulid::nil())))
    }

    fn worktree(&self) -> Result<String, Refusal> {
        Ok(self.repo()?.map_or_else(String::new, |it| it.worktree()))
    }

    pub(crate) fn eyes(&self, caller: &Caller) -> Result<Eyes, Refusal> {
        match caller {
            Caller::User => Ok(Eyes::All),
            Caller::Agent(_) => {
                let project = self.project_of(caller)?;
                let idle = self.config.limits.deref.turn_idle_seconds;
                let agent = self
                    .agents
                    .call(&self.store, &self.world, caller, project, idle)?;
                Ok(Eyes::of(project, agent.as_ref()))
            }
        }
    }
}

/// What a caller may see (seed 001, 13.3).
pub(crate) enum Eyes {
    /// The user.
    All,
    /// An agent: its own run, its own project.
    Agent {
        project: ProjectId,
        run: Option<RunId>,
    },
}

impl Eyes {
    /// Those of an agent in a project, or of the user.
    pub(crate) fn of(project: ProjectId, agent: Option<&Agent>) -> Self {
        match agent {
            None => Self::All,
            Some(agent) => Self::Agent {
                project,
                run: Some(agent.run),
            },
        }
    }

    pub(crate) fn may_see(&self, engram: &Engram) -> bool {
        match self {
            Self::All => true,
            Self::Agent { project, run } => {
                engram.project == *project
                    && (engram.scope != Scope::Run || (engram.run.is_some() && engram.run == *run))
            }
        }
    }

    /// The caller's own run.
    pub(crate) fn run(&self) -> Option<RunId> {
        match self {
            Self::All => None,
            Self::Agent { run, .. } => *run,
        }
    }
}

fn next_step(user: bool, ever: u64) -> String {
    match (user, ever) {
        (true, 0) => "Connect an agent: run `engram connect claude` or `engram connect codex`.",
        (true, _) => "Ask with `engram query TEXT`, or watch with `engram feed --follow`.",
        (false, 0) => {
            "Nothing is known here yet: commit what you learn with engram_commit, with a pointer to its evidence."
        }
        (false, _) => "Call engram_query before you work on an area; commit what you learn with engram_commit.",
    }
    .to_owned()
}
