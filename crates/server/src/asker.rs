//! Who asks over HTTP, as the guard found and as a request brings along.

use engram_engine::Engine;
use engram_model::{Caller, Refusal};

use crate::turns::TurnPermit;

/// Who asks on the bus.
#[derive(Clone)]
pub(crate) enum Asker {
    User,
    /// Whom this token proves: looked up with each request, since a newer token of the same agent ends this one.
    Agent {
        token: String,
        turn: TurnPermit,
    },
}

impl Asker {
    /// Who it is now; blocks while it looks.
    ///
    /// # Errors
    /// `SCOPE_DENIED` for a token that proves nobody any more.
    pub(crate) fn prove(&self, engine: &Engine) -> Result<Caller, Refusal> {
        match self {
            Self::User => Ok(Caller::User),
            Self::Agent { token, .. } => engine.agent_of(token).map(Caller::Agent),
        }
    }

    /// What lasts as long as the request of an agent does.
    pub(crate) fn turn(&self) -> Option<TurnPermit> {
        match self {
            Self::User => None,
            Self::Agent { turn, .. } => Some(turn.clone()),
        }
    }
}
