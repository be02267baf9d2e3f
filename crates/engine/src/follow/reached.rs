//! Records which lines of the brief agents were sent. These are noted in memory, so this follower
//! does not read the journal.

use std::sync::{Arc, mpsc::Sender};

use engram_model::Refusal;

use crate::{
    Engine,
    follow::{Follower, Woken},
    messages::reached::record_reached,
};

/// The follower that records these lines in the background of a long-lived process.
pub(crate) struct ReachedFollower;

impl Follower for ReachedFollower {
    const NAME: &'static str = "reached";
    const READS_JOURNAL: bool = false;
    type Patience = ();

    fn begin(engine: &Arc<Engine>, _: &Sender<Woken>) -> Result<Option<Self>, Refusal> {
        record_reached(engine);
        Ok(Some(Self))
    }

    fn wake(&mut self, engine: &Engine, _: Vec<Woken>) -> Result<(), Refusal> {
        record_reached(engine);
        Ok(())
    }
}
