//! The caller over HTTP, as the guard proved it, passed along with the request.

use engram_engine::Engine;
use engram_model::{Caller, Refusal};

use crate::turns::TurnPermit;

/// The caller on the bus.
#[derive(Clone)]
pub(crate) enum Asker {
    User,
    /// The agent that this token proves. Each request looks it up, since a newer token of the same
    /// agent ends this one.
    Agent {
        token: String,
        turn: TurnPermit,
    },
}

impl Asker {
    /// Returns the caller as it is now; blocks during the look-up.
    ///
    /// # Errors
    /// `SCOPE_DENIED` for a token that no longer proves any agent.
    pub(crate) fn prove(&self, engine: &Engine) -> Result<Caller, Refusal> {
        match self {
            Self::User => Ok(Caller::User),
            Self::Agent { token, .. } => engine.agent_of(token).map(Caller::Agent),
        }
    }

    /// The turn that an agent holds until its request ends.
    pub(crate) fn turn(&self) -> Option<TurnPermit> {
        match self {
            Self::User => None,
            Self::Agent { turn, .. } => Some(turn.clone()),
        }
    }
}
