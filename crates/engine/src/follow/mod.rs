//! The followers of a long-lived process: they update the index (`indexing`), check evidence
//! (`anchors`), make due comparisons (`due`), promote claims that other agents got as answers
//! (`promotion`), record which lines of the brief agents were sent (`reached`), ask models (`models`)
//! and embed claims (`vectors`). Subscriptions deliver new entries to readers. The doorbell wakes
//! those that read the journal; an idle process runs nothing.

mod anchors;
pub(crate) mod due;
pub(crate) mod indexing;
pub(crate) mod lock;
mod models;
pub(crate) mod promotion;
pub(crate) mod reached;
pub(crate) mod vectors;

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Weak,
        atomic::Ordering,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use crate::{
    Engine,
    claims::read,
    context::Context,
    follow::{
        anchors::AnchorFollower, due::DueFollower, indexing::IndexFollower, models::ModelFollower,
        promotion::PromoteFollower, reached::ReachedFollower, vectors::VectorFollower,
    },
};
use engram_model::{Code, Entry, Feed, Refusal};
use engram_pointers::TreeEvent;
use engram_store::Listener;
use jiff::Timestamp;
use parking_lot::MutexGuard;

/// Starts a follower.
type StartFollower = fn(&Arc<Engine>) -> Result<Following, Refusal>;

/// The followers of a long-lived process.
const FOLLOWERS: &[StartFollower] = &[
    Engine::start::<IndexFollower>,
    Engine::start::<AnchorFollower>,
    Engine::start::<DueFollower>,
    Engine::start::<PromoteFollower>,
    Engine::start::<ReachedFollower>,
];

/// The first change is delivered at once; later changes are batched for this long.
pub(crate) const BATCH: Duration = Duration::from_millis(50);
/// The batching time during a flood, since each delivery redraws the list.
const FLOOD: Duration = Duration::from_millis(500);
/// How many writes in one delivery make a flood, which lasts until fewer arrive in that time. A
/// write may record several entries: a claim, the conflict that it raises, and its report.
const MANY: usize = 3;

/// The followers that run in this process.
pub(crate) struct Followers {
    listener: Listener,
    all: Vec<Following>,
}

/// A follower that runs until this is dropped.
pub(crate) struct Following {
    name: &'static str,
    reads_journal: bool,
    sender: Sender<Woken>,
}

impl Drop for Following {
    fn drop(&mut self) {
        // A follower that already ended does not receive this.
        let _ = self.sender.send(Woken::Gone);
    }
}

/// Why a follower woke up.
pub(crate) enum Woken {
    /// The journal moved, or there is work for this follower.
    Bell,
    /// The working tree changed.
    Tree(TreeEvent),
    /// The engine is gone.
    Gone,
}

/// Reads the journal in the background. The table `follower` stores how far it has read; everything
/// else that it keeps can be rebuilt from the journal and from git. `promotion` and `reached` read
/// notes in memory instead of the journal.
pub(crate) trait Follower: Sized {
    /// The name of its thread.
    const NAME: &'static str;
    /// Whether each entry of the journal wakes it; otherwise, it is woken when there is work for
    /// it.
    const READS_JOURNAL: bool = true;
    /// State that lasts from one waking to the next, even before the follower begins.
    type Patience: Default;

    /// Begins; `None` if there is nothing to follow yet, or another process follows.
    fn begin(engine: &Arc<Engine>, own: &Sender<Woken>) -> Result<Option<Self>, Refusal>;

    /// Collects further messages after the first, by default without a pause. Returns all of them.
    fn collect_messages(
        _begun: Option<&Self>,
        _engine: &Weak<Engine>,
        first: Woken,
        woken: &Receiver<Woken>,
        _patience: &mut Self::Patience,
    ) -> Vec<Woken> {
        std::iter::once(first).chain(woken.try_iter()).collect()
    }

    /// Processes what happened since.
    fn wake(&mut self, engine: &Engine, heard: Vec<Woken>) -> Result<(), Refusal>;
}

fn run<F: Follower>(engine: &Weak<Engine>, own: &Sender<Woken>, woken: &Receiver<Woken>) {
    let mut follower: Option<F> = None;
    let mut patience = F::Patience::default();
    let mut renewed = 0;
    while let Ok(first) = woken.recv() {
        if matches!(first, Woken::Gone) {
            return;
        }
        let heard = F::collect_messages(follower.as_ref(), engine, first, woken, &mut patience);
        if heard.iter().any(|woken| matches!(woken, Woken::Gone)) {
            return;
        }
        let Some(engine) = engine.upgrade() else {
            return;
        };
        let result = engine.ensure_open().and_then(|()| {
            let now = engine.store.renewed();
            if renewed != now {
                // Its state belongs to another home.
                (renewed, follower) = (now, None);
            }
            match &mut follower {
                Some(follower) => follower.wake(&engine, heard),
                None => F::begin(&engine, own).map(|begun| follower = begun),
            }
        });
        if let Err(error) = result {
            // The repository was moved, or the disk is full: the next change tries again.
            tracing::info!(%error, follower = F::NAME, "could not follow");
        }
    }
}

/// A subscription that delivers entries until it is dropped.
pub struct Subscription {
    _listener: Listener,
    /// Its existence shows that somebody reads.
    _reader: Arc<()>,
}

impl Engine {
    /// Starts the followers in the background; those of a read-only home start at the first request
    /// after it became writable. A second call does nothing.
    pub fn follow(self: &Arc<Self>) -> Result<(), Refusal> {
        let mut following = self.lock_followers();
        if following.is_some() {
            return Ok(());
        }
        if !self.store.is_writable() {
            *self.waiting.lock() = Arc::downgrade(self);
            return Ok(());
        }
        let models: &[StartFollower] = if self.has_models.load(Ordering::Relaxed) {
            &[
                Engine::start::<ModelFollower>,
                Engine::start::<VectorFollower>,
            ]
        } else {
            &[]
        };
        let all = FOLLOWERS.iter().chain(models).map(|start| start(self));
        *following = Some(self.connect_followers(all.collect::<Result<_, _>>()?)?);
        Ok(())
    }

    /// Like [`Engine::follow`], in a process that may load the models that the user chose.
    pub fn follow_with_models(self: &Arc<Self>) -> Result<(), Refusal> {
        self.has_models.store(true, Ordering::Relaxed);
        self.follow()
    }

    /// Wakes a follower of this process, if it runs.
    pub(crate) fn wake_follower<F: Follower>(&self) {
        let following = self.lock_followers();
        let all = following.iter().flat_map(|it| &it.all);
        for following in all.filter(|it| it.name == F::NAME) {
            // A follower that ended does not receive this.
            let _ = following.sender.send(Woken::Bell);
        }
    }

    /// Whether this process has followers.
    pub(crate) fn is_following(&self) -> bool {
        self.lock_followers().is_some()
    }

    /// Why this process polls for changes by others instead of watching; `None` if it watches, or
    /// has no followers.
    pub(crate) fn why_unwatched(&self) -> Option<String> {
        let following = self.lock_followers();
        let why = following.as_ref()?.listener.unwatched()?;
        Some(describe_missing_watch(&why))
    }

    fn lock_followers(&self) -> MutexGuard<'_, Option<Followers>> {
        self.following.lock()
    }

    /// Connects followers to the doorbell, and wakes them once for what already happened.
    fn connect_followers(&self, all: Vec<Following>) -> Result<Followers, Refusal> {
        let readers = all.iter().filter(|it| it.reads_journal);
        let senders: Vec<_> = readers.map(|it| it.sender.clone()).collect();
        let ring = move || {
            for sender in &senders {
                let _ = sender.send(Woken::Bell);
            }
        };
        let listener = self.listen_with(ring.clone())?;
        ring();
        Ok(Followers { listener, all })
    }

    /// Reconnects the followers after the home was reopened, since it has another doorbell.
    pub(crate) fn reconnect_followers(&self) -> Result<(), Refusal> {
        let mut following = self.lock_followers();
        if let Some(Followers { all, .. }) = following.take() {
            *following = Some(self.connect_followers(all)?);
        }
        Ok(())
    }

    fn start<F: Follower>(self: &Arc<Self>) -> Result<Following, Refusal> {
        let (sender, woken) = channel();
        let (engine, own) = (Arc::downgrade(self), sender.clone());
        spawn(F::NAME, move || run::<F>(&engine, &own, &woken))?;
        Ok(Following {
            name: F::NAME,
            reads_journal: F::READS_JOURNAL,
            sender,
        })
    }

    /// Calls `each` on a separate thread with the entries of this project after `after`, in order:
    /// first the existing ones, then new ones from any process of the home. Ends when the home is
    /// gone or was reopened, because places in the journal may differ then.
    pub fn subscribe(
        self: &Arc<Self>,
        after: u64,
        mut each: impl FnMut(Vec<Entry>) + Send + 'static,
    ) -> Result<Subscription, Refusal> {
        self.retry_writing()?;
        self.ensure_open()?;
        let renewed = self.store.renewed();
        let (listener, rings) = self.ring_channel()?;
        let engine = Arc::downgrade(self);
        let reader = Arc::new(());
        let read = Arc::downgrade(&reader);
        let mut seen = after;
        spawn("subscription", move || {
            while wait_for_ring(&rings) {
                let mut pause = BATCH;
                loop {
                    let Some(engine) = engine.upgrade().filter(|_| read.strong_count() > 0) else {
                        return;
                    };
                    if let Err(error) = engine.ensure_open() {
                        tracing::warn!(%error, "ending the feed");
                        return;
                    }
                    if engine.store.renewed() != renewed {
                        return;
                    }
                    let page = read::feed_page(
                        &Context::for_engine(&engine),
                        &Feed {
                            after: Some(seen),
                            limit: Some(500),
                            all: true,
                            ..Feed::default()
                        },
                    );
                    drop(engine);
                    match page {
                        Ok(page) => match page.entries.last() {
                            Some(last) => {
                                seen = last.seq;
                                if is_flood(&page.entries) {
                                    pause = FLOOD;
                                }
                                each(page.entries);
                            }
                            None => break,
                        },
                        Err(error) => {
                            tracing::warn!(%error, "the feed cannot be read");
                            break;
                        }
                    }
                }
                pause_for(pause);
            }
        })?;
        Ok(Subscription {
            _listener: listener,
            _reader: reader,
        })
    }

    /// Calls `look` on a separate thread at once, and again after changes in the home, at most a
    /// few times a second. Ends when the subscription or the engine is dropped.
    pub(crate) fn look_at_changes(
        self: &Arc<Self>,
        mut look: impl FnMut(&Self) -> Result<(), Refusal> + Send + 'static,
    ) -> Result<Subscription, Refusal> {
        self.retry_writing()?;
        self.ensure_open()?;
        let (listener, rings) = self.ring_channel()?;
        let engine = Arc::downgrade(self);
        let reader = Arc::new(());
        let read = Arc::downgrade(&reader);
        spawn("changes", move || {
            while wait_for_ring(&rings) {
                let Some(engine) = engine.upgrade().filter(|_| read.strong_count() > 0) else {
                    return;
                };
                if let Err(error) = engine.ensure_open().and_then(|()| look(&engine)) {
                    tracing::warn!(%error, "cannot look at what changed");
                }
                drop(engine);
                pause_for(FLOOD);
            }
        })?;
        Ok(Subscription {
            _listener: listener,
            _reader: reader,
        })
    }

    /// Delivers the doorbell's rings as messages, the first one at once.
    fn ring_channel(&self) -> Result<(Listener, Receiver<()>), Refusal> {
        let (ring, rings): (Sender<()>, Receiver<()>) = channel();
        let _ = ring.send(());
        let listener = self.listen_with(move || {
            let _ = ring.send(());
        })?;
        Ok((listener, rings))
    }

    /// Calls `heard` after each ring.
    pub(crate) fn listen_with(
        &self,
        heard: impl Fn() + Send + Clone + 'static,
    ) -> Result<Listener, Refusal> {
        let bell = self.bell.read();
        let bell = bell.as_ref().ok_or_else(|| {
            Refusal::new(
                Code::StoreReadOnly,
                format!(
                    "cannot follow changes: the home at {} is not writable",
                    self.store.home().display()
                ),
                "You can still read what is stored. Make the home writable to follow changes.",
            )
        })?;
        Ok(bell.listen(heard)?)
    }
}

/// What a process without a file watch does instead, and how to fix it.
pub(crate) fn describe_missing_watch(why: &str) -> String {
    format!(
        "this system has no file watches left ({why}); until one is free, Engram checks for changes twice a second: close programs that watch files, or raise fs.inotify.max_user_instances"
    )
}

/// Waits for a ring and takes all that are queued; false if there will be no more.
fn wait_for_ring(rings: &Receiver<()>) -> bool {
    let heard = rings.recv().is_ok();
    while rings.try_recv().is_ok() {}
    heard
}

/// Waits for more changes after one was served. Called only after a ring, so nothing runs while
/// idle.
#[expect(
    clippy::disallowed_methods,
    reason = "the pause is the point; rings wait in the channel"
)]
pub(crate) fn pause_for(pause: Duration) {
    std::thread::sleep(pause);
}

pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Refusal> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(|_| ())
        .map_err(|error| {
            Refusal::new(
                Code::Internal,
                format!("cannot start a thread: {error}"),
                "Close programs that use many threads, then try again.",
            )
        })
}

/// Whether this is a flood of writes. All entries of one write have the same time.
fn is_flood(entries: &[Entry]) -> bool {
    let times: BTreeSet<Timestamp> = entries.iter().map(|it| it.at).collect();
    times.len() >= MANY
}

#[cfg(test)]
mod tests {
    use engram_model::{Change, ConflictId};

    use super::*;

    #[test]
    fn one_write_is_no_flood_however_much_it_records() {
        let entries = |times: &[i64]| -> Vec<Entry> {
            let entry = |(seq, at): (usize, &i64)| Entry {
                seq: seq as u64,
                at: Timestamp::from_second(*at).unwrap_or_default(),
                agent: None,
                by: String::new(),
                change: Change::Allowed(ConflictId(ulid::Ulid::nil())),
            };
            times.iter().enumerate().map(entry).collect()
        };
        assert!(!is_flood(&entries(&[1, 1, 1, 1])));
        assert!(!is_flood(&entries(&[1, 1, 2, 2])));
        assert!(is_flood(&entries(&[1, 2, 3])));
    }
}
