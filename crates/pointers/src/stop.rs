//! When work is to end, whatever it is at: its request was cancelled, or has taken its time.

use std::{fmt, sync::Arc};

use engram_model::Refusal;

use crate::refuse;

/// Polled by everything that could take long.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    /// Work ends when this says so. It is asked often, so it must be quick.
    pub fn when(is_due: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_due)))
    }

    /// Whether work is to end.
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|is_due| is_due())
    }

    /// Refuses to continue once work is to stop.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.is_due() {
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
