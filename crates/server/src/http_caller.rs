//! Who asks over HTTP, as the guard found and as a request brings along.

use engram_engine::Engine;
use engram_model::{Caller, Refusal};

use crate::permits::RequestPermit;

/// Who asks on the bus.
#[derive(Clone)]
pub(crate) enum HttpCaller {
    User,
    /// Whom this token proves: looked up with each request, since a newer token of the same agent ends this one.
    Agent {
        token: String,
        permit: RequestPermit,
    },
}

impl HttpCaller {
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
    pub(crate) fn permit(&self) -> Option<RequestPermit> {
        match self {
            Self::User => None,
            Self::Agent { permit, .. } => Some(permit.clone()),
        }
    }
}
