//! Ends work whose request was cancelled or ran out of time.

use std::{fmt, sync::Arc};

use engram_model::Refusal;

use crate::refuse;

/// A condition that long work polls.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    /// Ends work once `is_over` returns true. It is called often, so it must be quick.
    pub fn when(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_over)))
    }

    /// Returns whether work must end.
    pub fn is_over(&self) -> bool {
        self.0.as_ref().is_some_and(|is_over| is_over())
    }

    /// Refuses once work must end.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.is_over() {
            Err(refuse::unavailable(
                "reading the repository took longer than one request may",
                "Ask for fewer or smaller files, and pin to a commit id.",
            ))
        } else {
            Ok(())
        }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stop")
    }
}
