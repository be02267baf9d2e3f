//! What a caller may see (seed 001, 13.3).

use engram_model::{Engram, ProjectId, RunId, Scope};

/// What a caller may see.
#[derive(Clone, Copy)]
pub(crate) enum Eyes {
    /// The user.
    All,
    /// An agent: its own run, its own project.
    Agent { project: ProjectId, run: RunId },
}

impl Eyes {
    pub(crate) fn may_see(&self, engram: &Engram) -> bool {
        self.may_see_of(engram.project, engram.scope, engram.run)
    }

    /// Whether a version of this project, scope and run may be seen.
    pub(crate) fn may_see_of(&self, of: ProjectId, scope: Scope, said_in: Option<RunId>) -> bool {
        match self {
            Self::All => true,
            Self::Agent { project, run } => {
                of == *project && (scope != Scope::Run || said_in == Some(*run))
            }
        }
    }

    /// The caller's own run.
    pub(crate) fn run(&self) -> Option<RunId> {
        match self {
            Self::All => None,
            Self::Agent { run, .. } => Some(*run),
        }
    }
}
