//! Promotes claims that other agents got as answers. These are noted in memory, so this follower
//! does not read the journal.

use std::sync::{Arc, mpsc::Sender};

use engram_model::Refusal;

use crate::{
    Engine,
    claims::promote::promote_answered,
    follow::{Follower, Woken},
};

/// The follower that promotes these claims in the background of a long-lived process.
pub(crate) struct PromoteFollower;

impl Follower for PromoteFollower {
    const NAME: &'static str = "promote";
    const READS_JOURNAL: bool = false;
    type Patience = ();

    fn begin(engine: &Arc<Engine>, _: &Sender<Woken>) -> Result<Option<Self>, Refusal> {
        promote_answered(engine);
        Ok(Some(Self))
    }

    fn wake(&mut self, engine: &Engine, _: Vec<Woken>) -> Result<(), Refusal> {
        promote_answered(engine);
        Ok(())
    }
}
