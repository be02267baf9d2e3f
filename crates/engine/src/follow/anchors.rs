//! The follower that maintains pointer health: one process per working tree, elected by a lock,
//! woken by changes of the tree and of the journal. It journals its findings.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::File,
    sync::{
        Arc, Weak,
        mpsc::{Receiver, Sender},
    },
    time::Duration,
};

use engram_model::{Anchored, Engram, EngramId, Health, Operation, Refusal, operation::Anchoring};
use engram_pointers::{Anchors, Repo, SpanStanding, TreeEvent, Watch};
use engram_store::{Reader, WorktreeState};

use crate::{
    Engine,
    conflicts::risks::is_report,
    context::{Context, Tree},
    decide,
    evidence::{
        health::lock_path,
        pins::{FollowedPointer, check_pins, health_of, pointers_to_follow},
    },
    follow::{Follower, Woken, lock::take_lock, pause_for},
};

/// The pause before the first change of the tree is checked, together with others that arrive
/// meanwhile.
const SOON: Duration = Duration::from_millis(20);
/// The pause for new claims, which were checked when they were stored and can wait for each other.
const LATER: Duration = Duration::from_millis(250);
/// The longest wait for a git process that changes the checkout, in multiples of `SOON`.
const WAITS: u32 = 500;
/// The most claims that are followed: the newest ones. Each takes a few hundred bytes of memory.
const FOLLOWED: usize = 50_000;
/// The most claims in one entry of the journal.
const ENTRY: usize = 200;
/// How many entries are read at once.
const PAGE: usize = 1_000;

/// Waits for git to finish a checkout, during which the evidence cannot be judged. Waits only once
/// for a lock that a killed git left behind.
fn wait_for_git(engine: &Weak<Engine>, waits: &mut u32) {
    let is_busy = || {
        let repo = engine.upgrade().and_then(|it| it.repo().ok().flatten());
        repo.is_some_and(|it| it.is_busy())
    };
    let already = *waits;
    while is_busy() {
        if *waits >= WAITS {
            return;
        }
        pause_for(SOON);
        *waits += 1;
    }
    if *waits > already {
        // Git updates HEAD after the index.
        pause_for(SOON);
    }
    *waits = 0;
}

/// The follower that maintains the health of a working tree.
pub(crate) struct AnchorFollower {
    _lock: File,
    tree: Tree,
    watch: Option<Watch>,
    anchors: Anchors,
    /// The pinned pointers of each holding claim, for the newest [`FOLLOWED`].
    followed: BTreeMap<EngramId, Box<[FollowedPointer]>>,
    /// The stored health of claims that are not simply unchanged.
    known: HashMap<EngramId, Health>,
    looked: WorktreeState,
    /// The newest entry of the journal that was taken into account.
    cursor: u64,
    /// Whether the working tree is gone, so that nothing can be checked.
    is_gone: bool,
    /// The branch or commit that was last reported as checked out.
    checkout: Head,
}

/// The branch, or the commit of a detached head.
#[derive(PartialEq)]
enum Head {
    Branch(String),
    Commit(Option<String>),
}

impl Head {
    fn of(repo: &Repo) -> Self {
        match repo.head() {
            (Some(branch), _) => Self::Branch(branch),
            (None, commit) => Self::Commit(commit),
        }
    }
}

impl Follower for AnchorFollower {
    const NAME: &'static str = "anchors";
    /// How often it waited for a git process that changes the checkout.
    type Patience = u32;

    fn begin(engine: &Arc<Engine>, sender: &Sender<Woken>) -> Result<Option<Self>, Refusal> {
        let context = Context::for_engine(engine);
        let Some(tree) = context.tree()? else {
            return Ok(None);
        };
        let lock = take_lock::<Self>(engine, &lock_path(engine, &tree), sender);
        let lock = lock.inspect_err(
            |error| tracing::warn!(%error, "cannot take the lock of the working tree's follower"),
        );
        let Ok(Some(lock)) = lock else {
            return Ok(None);
        };
        let repo = context.require_repo()?;
        let tell = sender.clone();
        let most = engine.config.limits.watched_folders;
        let watch = Watch::start(repo, most, move |event| {
            let _ = tell.send(Woken::Tree(event));
        });
        let mut follower = Self {
            _lock: lock,
            tree,
            watch: watch
                .inspect_err(|error| tracing::warn!(%error, "the working tree is not watched"))
                .ok(),
            anchors: Anchors::default(),
            followed: BTreeMap::new(),
            known: HashMap::new(),
            looked: WorktreeState::default(),
            cursor: 0,
            is_gone: false,
            checkout: Head::of(repo),
        };
        follower.load(engine, repo)?;
        follower.check_claims(engine, repo, None)?;
        follower.record_health(engine, &[], &[])?;
        Ok(Some(follower))
    }

    fn collect_messages(
        begun: Option<&Self>,
        engine: &Weak<Engine>,
        first: Woken,
        woken: &Receiver<Woken>,
        waits: &mut u32,
    ) -> Vec<Woken> {
        let pause = match first {
            Woken::Bell if begun.is_some() => LATER,
            _ => SOON,
        };
        pause_for(pause);
        let mut heard = vec![first];
        heard.extend(woken.try_iter());
        if heard.iter().any(|it| matches!(it, Woken::Tree(_))) {
            wait_for_git(engine, waits);
            heard.extend(woken.try_iter());
        }
        heard
    }

    fn wake(&mut self, engine: &Engine, heard: Vec<Woken>) -> Result<(), Refusal> {
        let context = Context::for_engine(engine);
        let repo = match context.require_repo() {
            Ok(repo) => repo,
            Err(gone) => {
                return if self.is_gone {
                    Err(gone)
                } else {
                    self.is_gone = true;
                    self.record_tree_change(engine, None)
                };
            }
        };
        if self.is_gone {
            self.is_gone = false;
            self.record_tree_change(engine, None)?;
            if let Some(watch) = &mut self.watch {
                watch.renew()?;
            }
        }
        let new = self.read_new_claims(engine, repo)?;
        let mut is_tree = false;
        if let Some(watch) = &mut self.watch {
            watch.rearm();
        }
        for woken in heard {
            match woken {
                Woken::Bell | Woken::Gone => {}
                Woken::Tree(event) => {
                    is_tree = true;
                    self.widen_watch(event)?;
                }
            }
        }
        if is_tree {
            self.record_checkout(engine, repo)?;
            self.check_claims(engine, repo, None)
        } else if new.is_empty() {
            Ok(())
        } else {
            self.check_claims(engine, repo, Some(new))
        }
    }
}

impl AnchorFollower {
    /// Records the checkout of another branch at once.
    fn record_checkout(&mut self, engine: &Engine, repo: &Repo) -> Result<(), Refusal> {
        let now = Head::of(repo);
        if now == self.checkout {
            return Ok(());
        }
        self.record_tree_change(engine, repo.head().1)?;
        self.checkout = now;
        Ok(())
    }

    /// Records changes of the working tree itself: it became unreachable, came back, or has another
    /// checkout.
    fn record_tree_change(&self, engine: &Engine, head: Option<String>) -> Result<(), Refusal> {
        let tree = &self.tree;
        let anchored = Operation::Anchored(Anchoring {
            worktree: tree.worktree.clone(),
            head,
            engrams: Vec::new(),
        });
        decide::record_unplanned(engine, tree.project, None, |_| Ok(vec![anchored]))
    }

    /// Reads the holding claims and their last known health, one page at a time, because claims are
    /// far larger than what is kept of them.
    fn load(&mut self, engine: &Engine, repo: &Repo) -> Result<(), Refusal> {
        let now = engine.world.now();
        let (project, worktree) = (self.tree.project, self.tree.worktree.clone());
        let name = self.tree.follower();
        let (looked, cursor, head) = engine.store.read::<_, Refusal>(|tx| {
            Ok((
                tx.worktree_state(project, &worktree)?,
                tx.cursor(&name)?,
                tx.head()?,
            ))
        })?;
        let mut before = Some(head + 1);
        for _ in 0..FOLLOWED / PAGE {
            let page = engine.store.read::<_, Refusal>(|tx| {
                let engrams = tx.newest_holding(project, now, before, PAGE)?;
                let kept = engrams.into_iter().map(|engram| {
                    let kept = tx.health(engram.id, &worktree)?;
                    Ok((is_report(tx, &engram)?, engram, kept))
                });
                kept.collect::<Result<Vec<_>, Refusal>>()
            })?;
            let Some((_, last, _)) = page.last() else {
                break;
            };
            before = Some(last.seq);
            for (is_report, engram, kept) in page {
                let known = match kept {
                    None if engram.seq <= cursor => Some(Health::unchanged()),
                    kept => kept,
                };
                // The claims that a report is about are followed themselves.
                if !is_report {
                    self.follow_claim(engine, repo, &engram, known.as_ref());
                }
                self.known.extend(
                    known
                        .filter(|it| *it != Health::unchanged())
                        .map(|it| (engram.id, it)),
                );
            }
        }
        self.looked = looked.unwrap_or_default();
        self.cursor = head;
        Ok(())
    }

    fn follow_claim(
        &mut self,
        engine: &Engine,
        repo: &Repo,
        engram: &Engram,
        before: Option<&Health>,
    ) {
        let shelf = engine.shelf(Some(self.tree.project));
        let followed = pointers_to_follow(repo, &shelf, engram, before);
        if !followed.is_empty() {
            self.followed.insert(engram.id, followed);
        }
        if self.followed.len() > FOLLOWED
            && let Some((oldest, _)) = self.followed.pop_first()
        {
            // Its stored health stays as it is.
            self.known.remove(&oldest);
        }
    }

    fn widen_watch(&mut self, event: TreeEvent) -> Result<(), Refusal> {
        match (&mut self.watch, event) {
            (Some(watch), TreeEvent::Folder(folder)) => watch.extend(&folder),
            (Some(watch), TreeEvent::Lost) => watch.renew(),
            _ => Ok(()),
        }
    }

    /// Reads the new entries of the journal; returns the new claims.
    fn read_new_claims(
        &mut self,
        engine: &Engine,
        repo: &Repo,
    ) -> Result<BTreeSet<EngramId>, Refusal> {
        let mut new = BTreeSet::new();
        loop {
            let cursor = self.cursor;
            let entries = engine
                .store
                .read::<_, Refusal>(|tx| Ok(tx.journal_after(cursor, PAGE)?))?;
            let Some(last) = entries.last() else {
                return Ok(new);
            };
            self.cursor = last.seq;
            let project = self.tree.project;
            for entry in entries.iter().filter(|it| it.project == project) {
                match entry.readable_operation() {
                    Some(Operation::Stored(stored)) => {
                        if let Some(old) = stored.supersedes {
                            self.followed.remove(&old);
                        }
                        let read = |tx: &Reader<'_>| match tx.engram(stored.id)? {
                            Some(engram) if is_report(tx, &engram)? => Ok(None),
                            engram => Ok(engram),
                        };
                        let engram = engine.store.read::<_, Refusal>(read)?;
                        if let Some(engram) = engram.filter(|it| it.valid_until.is_none()) {
                            self.follow_claim(engine, repo, &engram, None);
                            new.insert(engram.id);
                        }
                    }
                    Some(Operation::Forgotten(id)) => {
                        self.followed.remove(&id);
                    }
                    Some(Operation::Redacted(redaction)) => {
                        for id in redaction.ids {
                            self.followed.remove(&id);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Checks all claims, or some, and records the changes.
    fn check_claims(
        &mut self,
        engine: &Engine,
        repo: &Repo,
        only: Option<BTreeSet<EngramId>>,
    ) -> Result<(), Refusal> {
        let shelf = engine.shelf(Some(self.tree.project));
        let ids: Vec<EngramId> = match &only {
            Some(only) => only
                .iter()
                .copied()
                .filter(|it| self.followed.contains_key(it))
                .collect(),
            None => self.followed.keys().copied().collect(),
        };
        let all = ids.iter().flat_map(|id| &self.followed[id]);
        let (head, found) = check_pins(&mut self.anchors, repo, &shelf, all)?;
        let mut rest: &[Result<SpanStanding, Refusal>] = &found;
        let mut changed = Vec::new();
        for id in ids {
            let followed = &*self.followed[&id];
            let (own, others) = rest.split_at(followed.len().min(rest.len()));
            rest = others;
            let now = health_of(followed, own);
            let before = self
                .known
                .get(&id)
                .cloned()
                .unwrap_or_else(Health::unchanged);
            if now != before {
                changed.push((id, before, now));
            }
        }
        let gone: Vec<EngramId> = self
            .known
            .keys()
            .copied()
            .filter(|it| !self.followed.contains_key(it))
            .collect();
        let note = match &self.watch {
            Some(watch) => watch.coverage().sentence(),
            None => Some("the working tree cannot be watched".to_owned()),
        };
        let has_moved = (&head, &note) != (&self.looked.head, &self.looked.note) || only.is_some();
        (self.looked.head, self.looked.note) = (head, note);
        if has_moved || !changed.is_empty() || !gone.is_empty() {
            self.record_health(engine, &changed, &gone)?;
        }
        if let Some(watch) = &mut self.watch {
            let pinned = self
                .followed
                .values()
                .flatten()
                .filter_map(|it| it.pinned.as_ref().ok());
            let now = self.known.values().flat_map(|it| &it.pointers);
            let paths = pinned.map(|it| it.span.path.as_str());
            watch.watch_evidence(paths.chain(now.filter_map(|it| it.path.as_deref())))?;
        }
        Ok(())
    }

    fn record_health(
        &mut self,
        engine: &Engine,
        changed: &[(EngramId, Health, Health)],
        gone: &[EngramId],
    ) -> Result<(), Refusal> {
        let tree = &self.tree;
        let news: Vec<Anchored> = changed
            .iter()
            .filter(|(_, before, now)| now.is_news_after(before))
            .map(|(id, before, now)| Anchored {
                id: *id,
                before: before.standing,
                health: now.clone(),
            })
            .collect();
        let anchored = |news: &[Anchored]| {
            Operation::Anchored(Anchoring {
                worktree: tree.worktree.clone(),
                head: self.looked.head.clone(),
                engrams: news.to_vec(),
            })
        };
        decide::record_unplanned(engine, tree.project, None, |tx| {
            for (id, _, now) in changed {
                tx.keep_health(*id, &tree.worktree, now)?;
            }
            for id in gone {
                tx.drop_health(*id, &tree.worktree)?;
            }
            tx.keep_looked(tree.project, &tree.worktree, &self.looked)?;
            tx.keep_cursor(&tree.follower(), self.cursor)?;
            Ok(news.chunks(ENTRY).map(anchored).collect())
        })?;
        for (id, _, now) in changed {
            if *now == Health::unchanged() {
                self.known.remove(id)
            } else {
                self.known.insert(*id, now.clone())
            };
        }
        for id in gone {
            self.known.remove(id);
        }
        Ok(())
    }
}
