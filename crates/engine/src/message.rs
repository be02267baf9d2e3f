//! Messages between parent and child agents: read and checked.

use engram_gateway::{Checked, check_message, read_message};
use engram_model::Refusal;
use serde_json::Value;

use crate::context::Context;

impl Context<'_> {
    /// A message that keeps its contract; a string is one as it was written, in either form.
    pub(crate) fn checked(&self, message: &Value) -> Result<Checked, Refusal> {
        let limits = &self.engine.config.limits;
        match message {
            Value::String(text) => read_message(text.as_bytes(), limits)?.check(limits),
            message => check_message(message, limits),
        }
    }
}
