//! The caller over HTTP, as the guard proved it, passed along with the request.

use engram_engine::Engine;
use engram_model::{Caller, Refusal};

use crate::permits::RequestPermit;

/// The caller on the bus.
#[derive(Clone)]
pub(crate) enum HttpCaller {
    User,
    /// The agent that this token proves. Each request looks it up, since a newer token of the same
    /// agent ends this one.
    Agent {
        token: String,
        permit: RequestPermit,
    },
}

impl HttpCaller {
    /// Returns the caller as it is now; blocks during the lookup.
    ///
    /// # Errors
    /// `SCOPE_DENIED` for a token that no longer proves any agent.
    pub(crate) fn prove(&self, engine: &Engine) -> Result<Caller, Refusal> {
        match self {
            Self::User => Ok(Caller::User),
            Self::Agent { token, .. } => engine.agent_by_token(token).map(Caller::Agent),
        }
    }

    /// Returns the permit that an agent holds until its request ends.
    pub(crate) fn permit(&self) -> Option<RequestPermit> {
        match self {
            Self::User => None,
            Self::Agent { permit, .. } => Some(permit.clone()),
        }
    }
}
