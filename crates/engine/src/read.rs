//! What can be read without changing anything.

use engram_gateway::budget;
use engram_model::{
    Change, Code, Engram, EngramId, Entry, Evidence, Facets, Feed, FeedPage, Figures, Filter,
    LineReply, LineView, OWN_EVENT, Pointer, PointerInput, ProjectId, ProjectStatus, Refusal,
    SourceReply, SourceView, Spending, StatusReply, Target,
};
use engram_pointers::{Repo, Shelf, View};
use engram_store::{CommitCount, INDEX_FOLLOWER, Reader};
use jiff::{SignedDuration, Timestamp};

use crate::{context::Context, eyes::Eyes, not_found, project, risks::may_see};

/// Most agents in a turn that are compared for what they spent.
const SPENDERS: usize = 100;

impl Context<'_> {
    /// A version that the caller may see, as it is stored.
    pub(crate) fn find(&self, id: EngramId) -> Result<Engram, Refusal> {
        let eyes = self.eyes()?;
        let found = self.engine.store.read::<_, Refusal>(|tx| {
            let found = tx.engram(id)?;
            Ok(match found {
                Some(engram) if may_see(tx, &eyes, &engram)? => Some(engram),
                _ => None,
            })
        })?;
        // What may not be seen is not told from what is not there.
        found.ok_or_else(|| not_found(id))
    }

    /// The same with how its evidence stands.
    pub(crate) fn record(&self, id: EngramId) -> Result<Engram, Refusal> {
        let mut engram = self.find(id)?;
        self.tell_health_now(std::slice::from_mut(&mut engram));
        let store = &self.engine.store;
        engram.lost = store.read::<_, Refusal>(|it| Ok(it.lost(&engram)?))?;
        if engram.valid_until.is_none() {
            engram.asked = store.read::<_, Refusal>(|it| Ok(it.asked(engram.lineage_id)?))?;
            let told = std::slice::from_mut(&mut engram);
            store.read::<_, Refusal>(|it| self.tell_conflicts(it, told.iter_mut()))?;
        }
        self.note_shown(std::slice::from_ref(&engram), false)?;
        Ok(engram)
    }

    /// What was done to a claim, of what the caller may see.
    pub(crate) fn log_of(&self, id: EngramId) -> Result<Vec<Entry>, Refusal> {
        let (lineage, eyes) = (self.find(id)?.lineage_id, self.eyes()?);
        let mut entries = self
            .engine
            .store
            .read::<_, Refusal>(|it| Ok(it.log(lineage)?))?;
        let stored = entries.iter().filter_map(|it| it.change.stored());
        let unseen: Vec<EngramId> = stored
            .filter(|it| !eyes.may_see(it))
            .map(|it| it.id)
            .collect();
        entries.retain(|it| {
            let about = it.change.engram();
            about.is_none_or(|id| !unseen.contains(&id))
        });
        self.tell_health(entries.iter_mut().filter_map(|it| it.change.stored_mut()));
        Ok(entries)
    }

    pub(crate) fn page(&self, feed: &Feed) -> Result<FeedPage, Refusal> {
        if feed.limit == Some(0) {
            return Err(Refusal::new(
                Code::SchemaInvalid,
                "a page of the feed has 1 to 1,000 entries, not 0",
                "Ask for at least one entry.",
            ));
        }
        let (project, eyes, worktree) = (self.project()?, self.eyes()?, self.worktree()?);
        let now = self.engine.world.now();
        let is_past = feed.filter.held_at.is_some();
        let mut page = self.engine.store.read::<_, Refusal>(|it| {
            let (entries, next) = it.feed(project, &worktree, feed, now)?;
            let mut seen = Vec::with_capacity(entries.len());
            for entry in entries {
                let is_seen = match entry.change.conflict() {
                    Some(id) => self.may_see_conflict(it, id, &eyes, entry.seq)?,
                    None => is_for(it, project, &eyes, &worktree, &entry)?,
                };
                if is_seen {
                    seen.push(entry);
                }
            }
            let mut entries = seen;
            let mut replaced = Vec::new();
            for told in entries.iter_mut().filter_map(|it| it.change.stored_mut()) {
                if is_past {
                    // How often it was said since, nobody knew then.
                    told.figures = Figures::default();
                } else if told.valid_until.is_none() {
                    told.asked = it.asked(told.lineage_id)?;
                } else if let Some(newer) = it.successor(told.lineage_id, told.seq)? {
                    replaced.push((told.id, newer));
                }
            }
            if !is_past {
                let stored = entries.iter_mut();
                self.tell_conflicts(it, stored.filter_map(|it| it.change.stored_mut()))?;
            }
            Ok(FeedPage {
                entries,
                next,
                head: it.head()?,
                engrams: it.count_engrams(project, now)?.holding,
                replaced,
            })
        })?;
        // How its evidence reads is known of now alone.
        if !is_past {
            let stored = page.entries.iter_mut();
            self.tell_health(stored.filter_map(|it| it.change.stored_mut()));
        }
        Ok(page)
    }

    pub(crate) fn count(&self, filter: &Filter) -> Result<Facets, Refusal> {
        let (project, worktree) = (self.project()?, self.worktree()?);
        let (store, now) = (&self.engine.store, self.engine.world.now());
        store.read(|it| Ok(it.facets(project, &worktree, filter, now)?))
    }

    /// The window's view; only the user has a window, so nothing is metered.
    pub(crate) fn view_source(&self, view: SourceView) -> Result<SourceReply, Refusal> {
        let how = View {
            context: view.context,
            soon: view.soon,
        };
        self.view(view.pointer, |repo, shelf, pointer| {
            engram_pointers::source(repo, shelf, pointer, how)
        })
    }

    pub(crate) fn view_line(&self, view: LineView) -> Result<LineReply, Refusal> {
        self.view(view.pointer, |repo, shelf, pointer| {
            engram_pointers::line(repo, shelf, pointer, view.number, view.from)
        })
    }

    /// What the window asks of a pointer.
    pub(crate) fn view<T>(
        &self,
        pointer: PointerInput,
        ask: impl FnOnce(Option<&Repo>, &dyn Shelf, &Pointer) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let pointer = Pointer::try_from(pointer)?;
        let repo = self.repo_for(&pointer)?;
        let project = match repo {
            Some(_) => self.known_project()?,
            None => Some(project::of_home(&self.engine.store)),
        };
        ask(repo, &self.shelf(project), &pointer)
    }

    pub(crate) fn where_things_stand(&self) -> Result<StatusReply, Refusal> {
        let id = self.known_project()?;
        let project = id.unwrap_or_else(|| project::of_home(&self.engine.store));
        let (agent, tree) = (self.agent()?, self.tree()?);
        let user = agent.is_none();
        let here = match self.repo() {
            Ok(repo) => repo.map(|repo| project_status(repo, id, user)),
            Err(gone) => Some(self.seat_of_gone(gone.clone())?.status(&gone)),
        };
        let watching = self.watching()?;
        let limits = &self.limits()?.deref;
        let now = self.engine.world.now();
        self.engine.store.read(|it| {
            let count = match id {
                Some(id) => it.count_engrams(id, now)?,
                None => CommitCount::default(),
            };
            let budget = match agent {
                Some(agent) => {
                    let spent = it.spend(&agent.handle, &agent.turn)?;
                    Some(budget(limits, &spent, &agent.turn))
                }
                None => None,
            };
            let drifted = match &tree {
                Some(tree) => {
                    it.count_standing(tree.project, &tree.worktree, &Evidence::DRIFTED)?
                }
                None => 0,
            };
            Ok(StatusReply {
                status: if count.ever == 0 { "empty" } else { "ready" }.to_owned(),
                next: next_step(user, here.is_some(), count.ever),
                project: here.clone(),
                engrams: count.holding,
                head: it.head()?,
                indexed: it.cursor(INDEX_FOLLOWER)?,
                drifted,
                due: it.count_due(project, self.agent()?.map(|agent| &agent.handle))?,
                conflicts: match user {
                    true => Some(it.count_conflicts(project, now)?),
                    false => None,
                },
                requests: match user {
                    true => Some(it.count_requests(project, None, false)?),
                    false => None,
                },
                watching: watching.clone(),
                agents: it.count_agents(project)?,
                budget,
                spending: match id {
                    Some(id) if user => self.spending(it, id)?,
                    _ => None,
                },
                home: user.then(|| self.engine.store.home().display().to_string()),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            })
        })
    }

    /// Of the agents that are in a turn, the one that is nearest to a limit.
    fn spending(&self, it: &Reader<'_>, project: ProjectId) -> Result<Option<Spending>, Refusal> {
        let idle = self.engine.config.limits.deref.turn_idle_seconds;
        let idle = SignedDuration::from_secs(idle);
        // A turn may be set to end never.
        let since = self
            .engine
            .now()
            .checked_sub(idle)
            .unwrap_or(Timestamp::MIN);
        let mut all = Vec::new();
        for spender in it.spenders(project, since, SPENDERS)?.into_iter().rev() {
            let limits = self.engine.limits_of(it, &spender.handle)?.deref;
            let last = spender.last_call;
            all.push(Spending {
                budget: budget(&limits, &spender.spend, &spender.turn),
                agent: spender.label,
                until: last.checked_add(idle).unwrap_or(Timestamp::MAX),
            });
        }
        // Of two that are as near, the later caller.
        Ok(all
            .into_iter()
            .max_by(|a, b| a.budget.fullest().total_cmp(&b.budget.fullest())))
    }
}

/// Whether the caller is told of an entry: of nothing that it says of a claim that may not be seen.
fn is_for(
    it: &Reader<'_>,
    project: ProjectId,
    eyes: &Eyes,
    worktree: &str,
    entry: &Entry,
) -> Result<bool, Refusal> {
    let about = match &entry.change {
        Change::Stored(engram) => return may_see(it, eyes, engram),
        // How evidence stands in another working tree is no news in this one.
        Change::Anchored { worktree: of, .. } if of != worktree => return Ok(false),
        _ if matches!(eyes, Eyes::All) => return Ok(true),
        Change::Between { .. } => return Ok(false),
        Change::Anchored { engrams, .. } => {
            for of in engrams {
                if it.engram(of.id)?.is_some_and(|it| !eyes.may_see(&it)) {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        // The event of saying a claim repeats it, and stands before it.
        Change::Noted { pointer, .. } | Change::Dereferenced { pointer, .. } => {
            match said_at(it, project, pointer)? {
                Some(seq) => it.engram_at(seq + 1)?,
                None => None,
            }
        }
        other => match other.engram() {
            Some(id) => it.engram(id)?,
            None => None,
        },
    };
    about.map_or(Ok(true), |engram| may_see(it, eyes, &engram))
}

/// The place of the event of saying a claim that a pointer addresses; none for any other pointer.
fn said_at(it: &Reader<'_>, project: ProjectId, pointer: &str) -> Result<Option<u64>, Refusal> {
    match pointer.parse::<Pointer>().map(|it| it.target) {
        Ok(Target::Sam { kind, slug, date }) if kind == OWN_EVENT => {
            Ok(it.events_at(project, &kind, &slug, date)?.pop())
        }
        _ => Ok(None),
    }
}

fn project_status(repo: &Repo, id: Option<ProjectId>, user: bool) -> ProjectStatus {
    let (branch, head) = repo.head();
    let root = repo.workdir().unwrap_or(repo.common_dir());
    ProjectStatus {
        id,
        name: repo.name(),
        branch,
        head,
        root: user.then(|| root.display().to_string()),
        unavailable: None,
    }
}

fn next_step(user: bool, is_in_repository: bool, ever: u64) -> String {
    match (user, ever) {
        (true, 0) if !is_in_repository => {
            "Change to a git repository, or name one with --repo; then connect an agent there: run `engram connect claude` or `engram connect codex`."
        }
        (true, 0) => "Connect an agent: run `engram connect claude` or `engram connect codex`.",
        (true, _) => "Ask with `engram query TEXT`, or watch the feed with `engram feed --follow`.",
        (false, 0) => {
            "No claims here yet: commit what you learn with engram_commit, with a pointer to its evidence."
        }
        (false, _) => "Call engram_query before you work on an area; commit what you learn with engram_commit.",
    }
    .to_owned()
}
