//! Promotes claims that were returned to agents other than their authors.

use std::sync::{Arc, mpsc::Sender};

use engram_model::Refusal;

use crate::{
    Engine,
    follow::{Follower, Woken},
};

/// The follower that promotes such claims in the background of a long-lived process.
pub(crate) struct PromoteFollower;

impl Follower for PromoteFollower {
    const NAME: &'static str = "promote";
    type Patience = ();

    fn begin(engine: &Arc<Engine>, _: &Sender<Woken>) -> Result<Option<Self>, Refusal> {
        engine.promote_answered();
        Ok(Some(Self))
    }

    fn wake(&mut self, engine: &Engine, _: Vec<Woken>) -> Result<(), Refusal> {
        engine.promote_answered();
        Ok(())
    }
}
