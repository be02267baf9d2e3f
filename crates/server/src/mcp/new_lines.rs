//! Adds new pins, to-dos and answers to requests, once each, to the next result of any tool.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use engram_model::Caller;
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::{PermittedCaller, Server, defect_refusal};

/// The field of any result with lines of the brief that the agent was not sent before.
const FIELD: &str = "new_in_brief";

/// The most tokens of new lines in a result.
const MAX_NEW_LINES: usize = 150;

/// The most tokens of new lines in a result of this tool. A status has the brief itself.
pub(super) fn most_tokens(tool: &str) -> usize {
    if tool == "engram_status" {
        0
    } else {
        MAX_NEW_LINES
    }
}

impl Server {
    /// Adds to a result the lines that its reader was not sent yet. A result never fails because
    /// they cannot be read.
    pub(super) async fn with_new_lines(
        &self,
        mut result: Value,
        by: Option<&PermittedCaller>,
        most: usize,
    ) -> Value {
        let Some(Caller::Agent(agent)) = by.map(|it| it.caller.clone()) else {
            return result;
        };
        let engine = Arc::clone(&self.engine);
        let take = move || engine.take_new_lines(&agent, most);
        // As with a request that reads, this thread answers it on standard streams.
        let taken = if self.permits.is_some() {
            catch_unwind(AssertUnwindSafe(take)).unwrap_or_else(|_| Err(defect_refusal()))
        } else {
            let taken = spawn_blocking(take).await;
            taken.unwrap_or_else(|_| Err(defect_refusal()))
        };
        match taken {
            Ok(lines) if lines.is_empty() => {}
            Ok(lines) => result[FIELD] = lines.into(),
            Err(refusal) => tracing::debug!(%refusal, "cannot read what is new for an agent"),
        }
        result
    }
}
