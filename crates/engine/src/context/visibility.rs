//! What a caller may see (docs/design.md#scopes-and-runs).

use engram_gateway::{AgentNode, may_read_topic};
use engram_model::{Engram, ProjectId, RunId, Scope};

/// What a caller may see.
#[derive(Clone)]
pub(crate) enum Visibility {
    /// The user.
    All,
    /// An agent: its own run, its own project, its topics.
    Agent { project: ProjectId, kin: AgentNode },
}

impl Visibility {
    /// Whether the caller may see a version. For the report of a conflict, see `may_see_version`.
    pub(crate) fn may_see(&self, engram: &Engram) -> bool {
        let is_erased = match self {
            Self::All => false,
            // Whether the agent could read its topic is no longer known.
            Self::Agent { kin, .. } => engram.redacted && !kin.reads.is_empty(),
        };
        !is_erased && self.may_see_of(engram.project, engram.scope, engram.run, &engram.topic)
    }

    /// Whether the caller may see claims of a topic.
    pub(crate) fn may_read(&self, topic: &str) -> bool {
        match self {
            Self::All => true,
            Self::Agent { kin, .. } => may_read_topic(kin, topic),
        }
    }

    /// Whether the caller may see a version of this project, scope, run and topic.
    pub(crate) fn may_see_of(
        &self,
        of: ProjectId,
        scope: Scope,
        said_in: Option<RunId>,
        topic: &str,
    ) -> bool {
        match self {
            Self::All => true,
            Self::Agent { project, kin } => {
                of == *project
                    && (scope != Scope::Run || said_in == Some(kin.run))
                    && may_read_topic(kin, topic)
            }
        }
    }

    /// Whether something for this run (for everybody, if `None`) concerns the caller.
    pub(crate) fn may_know_of(&self, run: Option<RunId>) -> bool {
        match self {
            Self::All => true,
            Self::Agent { kin, .. } => run.is_none_or(|run| run == kin.run),
        }
    }

    /// The caller's own run.
    pub(crate) fn run(&self) -> Option<RunId> {
        match self {
            Self::All => None,
            Self::Agent { kin, .. } => Some(kin.run),
        }
    }
}
