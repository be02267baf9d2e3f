//! Followers of a process that stays: the index reads on, evidence is followed (`anchor`), and
//! readers are told what is new.
//! Woken by the doorbell; nothing runs at rest.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use engram_model::{Code, Entry, Feed, Refusal};
use engram_store::Listener;

use crate::{Engine, context::Context};

/// The first change goes out at once; those after it wait this long for company.
const BATCH: Duration = Duration::from_millis(50);
/// The same where more come than anybody reads: each delivery redraws the list.
const FLOOD: Duration = Duration::from_millis(500);
/// Entries of one delivery that make a flood, until fewer come in all that time.
const MANY: usize = 3;
/// The index reads on once nothing came for so long, or when it has waited [`INDEX_WAITS`] times, or
/// when so many rings were heard: a commit of it syncs a dozen files, beside the commits of claims.
const INDEX_PAUSE: Duration = Duration::from_millis(200);
const INDEX_WAITS: u32 = 10;
const INDEX_RINGS: usize = 256;

/// Keeps the index of this process's home up to date until the process ends.
pub(crate) struct Follower {
    _listener: Listener,
    _anchors: crate::anchor::Following,
}

/// Delivers entries until it is dropped.
pub struct Subscription {
    _listener: Listener,
}

impl Engine {
    /// Starts to keep the index up to date, in the background; calling it again changes nothing.
    pub fn follow(self: &Arc<Self>) -> Result<(), Refusal> {
        if self.following.get().is_some() || !self.store.is_writable() {
            return Ok(());
        }
        let (listener, rings) = self.listen()?;
        let engine = Arc::downgrade(self);
        spawn("index", move || {
            while heard(&rings) {
                gather_rings(&rings);
                let Some(engine) = engine.upgrade() else {
                    return;
                };
                if let Some(index) = engine.index()
                    && let Err(error) = index.catch_up(&engine.store)
                {
                    engine.close_index(&error);
                }
            }
        })?;
        let _ = self.following.set(Follower {
            _listener: listener,
            _anchors: self.follow_anchors()?,
        });
        Ok(())
    }

    /// Calls `each` on a thread of its own with the entries after `after` in this project, in
    /// order: what is there at once, what comes when it comes, from every process of the home.
    pub fn subscribe(
        self: &Arc<Self>,
        after: u64,
        mut each: impl FnMut(Vec<Entry>) + Send + 'static,
    ) -> Result<Subscription, Refusal> {
        let (listener, rings) = self.listen()?;
        let engine = Arc::downgrade(self);
        let mut seen = after;
        spawn("subscription", move || {
            while heard(&rings) {
                let mut pause = BATCH;
                loop {
                    let Some(engine) = engine.upgrade() else {
                        return;
                    };
                    let page = Context::own(&engine).page(&Feed {
                        after: Some(seen),
                        limit: Some(500),
                        all: true,
                        ..Feed::default()
                    });
                    drop(engine);
                    match page {
                        Ok(page) => match page.entries.last() {
                            Some(last) => {
                                seen = last.seq;
                                if page.entries.len() >= MANY {
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
                gather(pause);
            }
        })?;
        Ok(Subscription {
            _listener: listener,
        })
    }

    /// Rings of the doorbell as messages; one is there from the start.
    fn listen(&self) -> Result<(Listener, Receiver<()>), Refusal> {
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
        let bell = self.bell.as_ref().ok_or_else(|| {
            Refusal::new(
                Code::StoreReadOnly,
                "a home that cannot be written has no doorbell to listen to",
                "Make the home writable, or read it without --follow.",
            )
        })?;
        Ok(bell.listen(heard)?)
    }
}

/// Lets rings gather until it is quiet, or there are many, or it took long.
fn gather_rings(rings: &Receiver<()>) {
    let mut all = 0;
    for _ in 0..INDEX_WAITS {
        gather(INDEX_PAUSE);
        let new = rings.try_iter().count();
        all += new;
        if new == 0 || all >= INDEX_RINGS {
            return;
        }
    }
}

/// Waits for a ring and takes all that came with it; false when there will be no more.
fn heard(rings: &Receiver<()>) -> bool {
    let heard = rings.recv().is_ok();
    while rings.try_recv().is_ok() {}
    heard
}

/// Lets changes gather after one was served. Only ever after a ring: nothing runs at rest.
#[expect(
    clippy::disallowed_methods,
    reason = "the pause is the point; rings wait in the channel"
)]
pub(crate) fn gather(pause: Duration) {
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
                format!("no thread to be had: {error}"),
                "Close something that uses many threads and try again.",
            )
        })
}
