//! Brings the parts of Engram together: every surface sends one [`Request`](engram_model::Request)
//! and gets one [`Reply`](engram_model::Reply).
//!
//! A request is parsed (by `engram-model`), its inputs are gathered (resolved pointers, nearest
//! claims, spending), it is decided (by `engram-gateway` and `engram-consistency`), committed once
//! (by `engram-store`) and answered. Followers do the rest in the background.
//!
//! ```no_run
//! use engram_engine::{Engine, Options};
//! use engram_model::{Caller, Query, ask};
//!
//! let engine = Engine::open(Options {
//!     home: "/tmp/home".into(),
//!     repo: None,
//!     from: ".".into(),
//! })?;
//! let query = Query { text: "vendor retries".into(), ..Query::default() };
//! let found = engine.ask(&Caller::User, ask::Query(query))?;
//! println!("{:?}: {} engrams", found.verdict, found.engrams.len());
//! # Ok::<(), engram_model::Refusal>(())
//! ```
//!
//! **Never:** no protocol (MCP, HTTP, argv, IPC), no SQL, no clock or randomness except
//! [`World`]'s.

mod agents;
mod answers;
mod asking;
mod claims;
mod conflicts;
mod context;
mod decide;
mod evidence;
mod follow;
mod home;
mod memory;
mod messages;
mod status;
mod verdicts;
mod world;

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Weak, atomic::AtomicBool},
};

use engram_model::{AgentId, Code, EngramId, Limits, ProjectId, Refusal};
use engram_pointers::Repo;
use engram_store::{Doorbell, Index, NamesOf, Store, StoreError};
use parking_lot::{Mutex, MutexGuard, RwLock};

pub use conflicts::detect::{ClaimPair, Detection, detect};
pub use conflicts::list::CONFLICT_PLACE;
pub use conflicts::shown_near::{NEAR_KEY, NEAR_QUESTION, claims_that_fit, near_key, near_line};
pub use context::caller::is_token;
pub use context::repository::{repository_around, track, working_tree};
pub use engram_gateway::MESSAGE_BYTES;
pub use engram_meaning::{ModelSource, sources as model_sources};
pub use engram_pointers::track::{Anchor, RepoState, Span, SpanState};
pub use engram_store::Recovered;
pub use engram_store::{Links, make_private_folder, open_file, read_file, read_text, sync_folder};
pub use follow::Subscription;
pub use home::files::{
    Moved, default_home, is_home_there, look_at_home, move_home, write_home_file,
    write_known_home_file,
};
pub use home::models::{ModelChoice, address_of_claims, choose_model, fetch_model, list_models};
pub use status::doctor::{Checkup, Diagnosis, Treatment};
pub use status::everywhere::RepositoryWaiting;
pub use status::recover::recover;
pub use world::World;

use context::{caller::Agents, shelf::HomeShelf};
use home::config::Config;

/// Where to work.
#[derive(Clone, Debug)]
pub struct Options {
    /// The home.
    pub home: PathBuf,
    /// A working tree, a bare repository or a git folder; if absent, the search goes upward from
    /// `from`.
    pub repo: Option<PathBuf>,
    /// The current folder.
    pub from: PathBuf,
}

/// The engine of one process, over one home and at most one repository. Share it in an `Arc`; calls
/// block and may come from any thread.
pub struct Engine {
    store: Store,
    caches: Caches,
    bell: RwLock<Option<Doorbell>>,
    config: Config,
    world: World,
    agents: Agents,
    place: RepositoryPlace,
    /// Open repositories that no request is using.
    repos: Mutex<Vec<Repo>>,
    /// The log of agents' calls.
    calls: home::calls::Calls,
    following: Mutex<Option<follow::Followers>>,
    /// The engine itself, if its followers wait until the home is writable.
    waiting: Mutex<Weak<Engine>>,
    /// Whether this process may load models.
    has_models: AtomicBool,
    /// The followers of other processes for whose end a thread is waiting.
    succeeding: follow::lock::Awaited,
    /// The store's count of reopenings when the caches and followers were last reset.
    renewed: Mutex<u64>,
}

/// What this process remembers of the open home.
#[derive(Default)]
struct Caches {
    /// Opened on first use, so that a `put` alone does not pay for it. Reopened after a failure,
    /// because another process may have deleted it.
    index: Mutex<Option<Arc<Index>>>,
    located: context::project::KnownSeat,
    keys: asking::keys::KeptKeys,
    claims: conflicts::parsed::KeptClaims,
    near_threshold: conflicts::near_threshold::KeptThreshold,
    track_record: asking::track_record::KeptTrackRecord,
    /// What agents were shown since the last write; the next write stores it.
    served: context::servings::Servings,
    /// Which lines of the brief agents were sent through this process.
    reached: messages::reached::ReachedLines,
    /// Ephemeral claims that were returned to agents and may become durable.
    answered: claims::promote::AnsweredClaims,
    /// The tokens of whole files behind what agents read.
    file_tokens: agents::timeline::FileTokens,
}

impl Caches {
    /// Clears all caches, because in another home the same places belong to other entries. Each
    /// cache is named here, so that leaving one out is a compile error.
    fn forget(&self) {
        let Self {
            index,
            located,
            keys,
            claims,
            near_threshold,
            track_record,
            served,
            reached,
            answered,
            file_tokens,
        } = self;
        *index.lock() = None;
        located.forget();
        keys.forget();
        claims.forget();
        near_threshold.forget();
        track_record.forget();
        served.take();
        reached.forget();
        answered.take();
        file_tokens.forget();
    }
}

/// Why the index could not be updated.
enum IndexBehind {
    Unopened,
    Busy,
    Failed(StoreError),
}

impl fmt::Display for IndexBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unopened => f.write_str("it cannot be opened"),
            Self::Busy => f.write_str("another process has been writing to it for a long time"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// Where to find the repository.
enum RepositoryPlace {
    /// Named by the user, or found: it must exist whenever it is needed.
    At(PathBuf),
    /// None was found, but one may be created later.
    Below(PathBuf),
}

impl Engine {
    /// Opens a home (created if missing) with the clock and randomness of the machine.
    pub fn open(options: Options) -> Result<Self, Refusal> {
        Self::open_in(options, World::system()).inspect_err(log_cause)
    }

    /// Opens a home in a given world.
    pub fn open_in(options: Options, world: World) -> Result<Self, Refusal> {
        let store = home::files::open(&options.home, world.new_id())?;
        let place = match options.repo {
            Some(path) => RepositoryPlace::At(std::path::absolute(&path).unwrap_or(path)),
            // A broken repository is reported by the requests that need it.
            None => match repository_around(&options.from) {
                Some(path) => RepositoryPlace::At(path),
                None => RepositoryPlace::Below(options.from),
            },
        };
        Ok(Self {
            config: Config::read(&options.home)?,
            bell: RwLock::new(open_bell(&store)?),
            store,
            caches: Caches::default(),
            world,
            agents: Agents::default(),
            place,
            repos: Mutex::default(),
            calls: home::calls::Calls::of(&options.home),
            following: Mutex::default(),
            waiting: Mutex::default(),
            has_models: AtomicBool::new(false),
            succeeding: follow::lock::Awaited::default(),
            renewed: Mutex::new(0),
        })
    }

    /// Issues a handle to an agent without one: a root in its own run. `label` is its own name for
    /// itself, for display only; a name that the user gave its client's last connection replaces it.
    pub fn register_agent(&self, label: &str) -> Result<AgentId, Refusal> {
        self.ensure_open()?;
        let project = match self.repo() {
            Ok(repo) => context::project::project_of(self, repo.as_ref())?,
            Err(error) => {
                tracing::info!(%error, "registering an agent of the home, not of a repository");
                None
            }
        };
        let project = project.unwrap_or_else(|| context::project::home_project(&self.store));
        let client = context::caller::cleaned_label(label);
        let given = NamesOf::GivenTo(&client);
        let mut given = self
            .store
            .read::<_, Refusal>(|tx| Ok(tx.names(project, given)?))?;
        let given = given.pop();
        Ok(self.agents.register(&self.world, label, given, project))
    }

    /// The limits in force in this home.
    pub fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// Whether a write would start at once, as far as can be known: no other writer has the turn.
    pub fn is_free(&self) -> bool {
        self.store.is_free()
    }

    /// The time of this engine's world.
    pub fn now(&self) -> jiff::Timestamp {
        self.world.now()
    }

    /// Returns a repository that was kept open and is still valid, or opens it.
    fn repo(&self) -> Result<Option<Repo>, Refusal> {
        let path = match &self.place {
            RepositoryPlace::At(path) => path,
            RepositoryPlace::Below(from) => return Repo::discover(from),
        };
        let kept = self.idle_repos().pop();
        match kept.filter(Repo::is_as_opened) {
            Some(repo) => Ok(Some(repo)),
            None => Repo::open(path).map(Some),
        }
    }

    /// Keeps a repository open for the next request, because opening it takes longer than the rest
    /// of most requests.
    fn give_back_repo(&self, repo: Repo) {
        const KEPT: usize = 4;
        let mut idle = self.idle_repos();
        if idle.len() < KEPT && matches!(self.place, RepositoryPlace::At(_)) {
            idle.push(repo);
        }
    }

    fn idle_repos(&self) -> MutexGuard<'_, Vec<Repo>> {
        self.repos.lock()
    }

    fn index(&self) -> Option<Arc<Index>> {
        let mut index = self.caches.index.lock();
        if index.is_none() {
            match Index::open(&self.store, conflicts::parsed::derived) {
                Ok(opened) => *index = Some(Arc::new(opened)),
                Err(error) => {
                    tracing::info!(%error, "no index is available; searching by scan");
                }
            }
        }
        index.clone()
    }

    /// The index, if it is open. Never opens it, because opening or deleting it may write to the
    /// home, which must not happen within a transaction.
    fn opened_index(&self) -> Option<Arc<Index>> {
        let index = self.caches.index.lock();
        index.clone()
    }

    /// The repositories of this home at their last known places, newest first: working trees, or
    /// git folders without one.
    pub fn known_repositories(&self, most: usize) -> Result<Vec<PathBuf>, Refusal> {
        self.ensure_open()?;
        let places = self
            .store
            .read::<_, Refusal>(|tx| Ok(tx.projects().places(most)?))?;
        let tree = |it: String| context::project::tree_of(PathBuf::from(it));
        Ok(places.into_iter().map(tree).collect())
    }

    /// Adds the home's path to refusals that the home causes.
    pub(crate) fn name_home(&self, refusal: Refusal) -> Refusal {
        crate::home::files::name_home_in(self.store.home(), refusal)
    }

    /// Drops an index that failed, so that the next use reopens it.
    fn close_index(&self, error: &StoreError) {
        tracing::info!(%error, "the index failed; reopening it");
        *self.caches.index.lock() = None;
    }

    /// Deletes an index that failed a query; the next process that opens it rebuilds it. Does
    /// nothing if another process has just deleted it.
    fn delete_failed_index(&self, error: &StoreError) {
        self.close_index(error);
        if self.store.is_writable()
            && Index::is_there(self.store.home())
            && let Err(error) = Index::delete(self.store.home())
        {
            tracing::warn!(%error, "the index that failed cannot be deleted");
        }
    }

    /// Updates the index at least up to `seq`.
    fn update_index_to(&self, seq: u64) -> Result<(), IndexBehind> {
        let index = self.index().ok_or(IndexBehind::Unopened)?;
        match index.catch_up_to(&self.store, seq) {
            Ok(cursor) if cursor >= seq => Ok(()),
            Ok(_) => Err(IndexBehind::Busy),
            Err(error) => {
                self.close_index(&error);
                Err(IndexBehind::Failed(error))
            }
        }
    }

    fn shelf(&self, project: Option<ProjectId>) -> HomeShelf<'_> {
        HomeShelf {
            store: &self.store,
            project,
            visibility: Some(context::visibility::Visibility::All),
            urls: self.config.urls,
        }
    }

    fn ring(&self) {
        let bell = self.bell.read();
        if let Some(bell) = &*bell {
            bell.ring();
        }
    }

    /// Checks whether the open home is still in place, and otherwise opens the home that replaced
    /// it. Then caches are cleared and followers restart.
    ///
    /// # Errors
    /// `STORE_GONE` if there is no home any more.
    fn ensure_open(&self) -> Result<(), Refusal> {
        if !self.store.is_here() {
            let renewed = self.store.renew();
            renewed.map_err(|it| self.name_home(it.into()))?;
            tracing::info!(home = %self.store.home().display(), "reopened the home");
        }
        let mut known = self.renewed.lock();
        let renewed = self.store.renewed();
        if *known == renewed {
            return Ok(());
        }
        self.caches.forget();
        *self.bell.write() = open_bell(&self.store)?;
        self.reconnect_followers()?;
        *known = renewed;
        Ok(())
    }

    /// Opens a home for writing that was read-only until now, and starts the followers that waited
    /// for this.
    fn retry_writing(&self) -> Result<(), Refusal> {
        if self.store.is_writable() {
            return Ok(());
        }
        let retried = self.store.retry_writing();
        if !retried.map_err(|it| self.name_home(it.into()))? {
            return Ok(());
        }
        tracing::info!(home = %self.store.home().display(), "the home is now writable");
        self.ensure_open()?;
        let waiting = self.waiting.lock().upgrade();
        if let Some(Err(error)) = waiting.map(|it| it.follow()) {
            tracing::warn!(%error, "nothing follows this home");
        }
        Ok(())
    }

    /// Starts followers that wait until the home is writable, if it is now. A read goes on anyway. A
    /// full disk is left alone: there, each try would reopen the home.
    fn start_waiting_followers(&self) {
        let is_waiting = !self.store.is_writable() && self.waiting.lock().strong_count() > 0;
        if is_waiting
            && !self.store.is_full()
            && let Err(error) = self.retry_writing()
        {
            tracing::info!(%error, "the home is not writable yet");
        }
    }

    /// Returns the pins and to-dos that an agent has not been sent yet, each with its author, as
    /// many as fit into this many tokens. From then on they count as sent; this is recorded after
    /// the answer.
    pub fn take_new_lines(&self, agent: &AgentId, tokens: usize) -> Result<Vec<String>, Refusal> {
        let lines = messages::reached::send_new_lines(self, agent, tokens)?;
        if self.caches.reached.is_waiting(agent) {
            self.wake_follower::<follow::reached::ReachedFollower>();
        }
        Ok(lines)
    }

    /// Stores what agents were shown since the last write, records which lines of the brief they
    /// were sent, and promotes claims that were returned to them. Call it before the process ends.
    pub fn store_before_exit(&self) -> Result<(), Refusal> {
        messages::reached::record_reached(self);
        claims::promote::promote_answered(self);
        if !self.store.is_writable() {
            return Ok(());
        }
        let seat = self.caches.located.last();
        let project = seat.map_or_else(
            || context::project::home_project(&self.store),
            |it| it.project,
        );
        self.store_served_prints(project)
    }

    /// Leaves the home in order, for commands that run once: calls
    /// [`Self::store_before_exit`], makes some due comparisons, and updates the
    /// index if it is far behind. Long-lived processes call [`Engine::follow`] instead.
    pub fn leave_in_order(&self) -> Result<(), Refusal> {
        const LONG: u64 = 256;
        self.ensure_open()?;
        if !self.store.is_writable() || self.is_following() {
            return Ok(());
        }
        self.store_before_exit()?;
        follow::due::compare_before_exit(self)?;
        let head = self.store.read::<_, Refusal>(|tx| Ok(tx.head()?))?;
        if let Some(index) = self.index()
            && let Err(error) = index.cursor().and_then(|cursor| {
                if head > cursor + LONG {
                    index.catch_up(&self.store).map(|_| ())
                } else {
                    Ok(())
                }
            })
        {
            self.close_index(&error);
        }
        Ok(())
    }
}

/// The doorbell of a writable home.
fn open_bell(store: &Store) -> Result<Option<Doorbell>, Refusal> {
    let home = store.is_writable().then(|| store.home());
    Ok(home.map(Doorbell::open).transpose()?)
}

fn log_cause(refusal: &Refusal) {
    if let Some(cause) = refusal.cause() {
        tracing::debug!(%refusal, cause, "refused");
    }
}

fn no_engram(id: EngramId) -> Refusal {
    Refusal::new(
        Code::NotFound,
        format!("there is no engram {id}"),
        "Take ids from put, query or feed; each home has its own.",
    )
}
