//! Each call of a tool as one request to the engine.

use engram_model::{Code, Promote as Durable, Refusal, ask};
use rmcp::{
    RoleServer,
    model::{JsonObject, Tool},
    service::RequestContext,
};
use serde::Serialize;
use serde_json::Value;

use super::{
    Asking, Server,
    arguments::{self, Ask, Commit, Disputes, Promote, Read, Settle, Status},
    results::{Committed, Disputed, Excerpt, Found, Overview, Promoted, Settled},
};

pub(super) fn defect(what: impl Into<String>) -> Refusal {
    Refusal::new(Code::Internal, what, "Please report this bug.")
}

pub(super) fn value(result: impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(result).map_err(|error| defect(error.to_string()))
}

impl Server {
    /// One call of a known tool.
    pub(super) async fn call(
        &self,
        context: &RequestContext<RoleServer>,
        asking: &Asking,
        tool: &Tool,
        arguments: JsonObject,
    ) -> Result<Value, Refusal> {
        match tool.name.as_ref() {
            "engram_status" => {
                let Status {} = arguments::parse(tool, arguments)?;
                value(Overview::from(
                    *self.ask(context, asking, ask::Status).await?,
                ))
            }
            "engram_query" => {
                let asked: Ask = arguments::parse(tool, arguments)?;
                let query = ask::Query(asked.try_into()?);
                value(Found::from(self.ask(context, asking, query).await?))
            }
            "engram_deref" => {
                let read: Read = arguments::parse(tool, arguments)?;
                let read = ask::Deref(read.into());
                value(Excerpt::from(*self.ask_apart(context, asking, read).await?))
            }
            "engram_conflicts" => {
                let asked: Disputes = arguments::parse(tool, arguments)?;
                let asked = ask::Conflicts(asked.into());
                value(Disputed::from(self.ask(context, asking, asked).await?))
            }
            "engram_resolve" => {
                let settle: Settle = arguments::parse(tool, arguments)?;
                let resolution_type = settle.resolution_type;
                let settle = ask::Resolve(Box::new(settle.try_into()?));
                let settled = self.change(context, asking, settle).await?;
                value(Settled {
                    resolved: true,
                    conflict_id: settled.conflict,
                    resolution_type,
                    closed: settled.closed,
                    stored: settled.stored,
                    due: settled.due,
                })
            }
            "engram_promote" => {
                let promoted: Promote = arguments::parse(tool, arguments)?;
                let promoted = ask::Promote(Durable {
                    id: promoted.fact_id,
                    scope: None,
                });
                let promoted = self.change(context, asking, promoted).await?;
                value(Promoted::from(promoted))
            }
            "engram_commit" => {
                let commit: Commit = arguments::parse(tool, arguments)?;
                let commit = ask::Commit(Box::new(commit.try_into()?));
                let stored = self.change(context, asking, commit).await?;
                value(Committed::from(stored))
            }
            other => Err(defect(format!("{other} is listed but not implemented"))),
        }
    }
}
