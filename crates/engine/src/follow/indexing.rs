//! The follower that updates the index, in whichever process holds tantivy's lock.

use std::{
    sync::{
        Arc, Weak,
        mpsc::{Receiver, Sender},
    },
    time::Duration,
};

use engram_model::Refusal;
use engram_store::Index;

use crate::{
    Engine,
    follow::{Follower, Woken, pause_for},
};

/// The index is updated after this long without a ring, after [`INDEX_WAITS`] such waits, or after
/// this many rings. Updates are batched because a commit of the index syncs a dozen files, in
/// addition to the commits of claims.
const INDEX_PAUSE: Duration = Duration::from_millis(200);
const INDEX_WAITS: u32 = 10;
const INDEX_RINGS: usize = 256;

/// Keeps the index of this process's home up to date.
pub(crate) struct IndexFollower;

impl Follower for IndexFollower {
    const NAME: &'static str = "index";
    type Patience = ();

    fn begin(engine: &Arc<Engine>, _: &Sender<Woken>) -> Result<Option<Self>, Refusal> {
        let mut follower = Self;
        follower.wake(engine, Vec::new())?;
        Ok(Some(follower))
    }

    fn collect_messages(
        _: Option<&Self>,
        _: &Weak<Engine>,
        first: Woken,
        woken: &Receiver<Woken>,
        (): &mut (),
    ) -> Vec<Woken> {
        let mut heard = vec![first];
        for _ in 0..INDEX_WAITS {
            pause_for(INDEX_PAUSE);
            let before = heard.len();
            heard.extend(woken.try_iter());
            if heard.len() == before || heard.len() >= INDEX_RINGS {
                break;
            }
        }
        heard
    }

    fn wake(&mut self, engine: &Engine, _: Vec<Woken>) -> Result<(), Refusal> {
        // A process does not open the index if there is nothing to read.
        if !Index::is_behind(&engine.store)? {
            return Ok(());
        }
        if let Some(index) = engine.index()
            && let Err(error) = index.catch_up(&engine.store)
        {
            engine.close_index(&error);
        }
        Ok(())
    }
}
