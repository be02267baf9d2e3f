//! Conflicts over the bus: listed, shown, settled, and verdicts taken back.

use axum::extract::{Path, Query, Request as Asked, rejection::QueryRejection};
use engram_model::{ConflictFilter, EngramId, Request, Resolve, Settle};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize,
    de::{IntoDeserializer, value::Error},
};

use super::{
    bus::{Answer, By},
    invalid,
};
use crate::way::Way;

/// What takes a verdict back. MCP has no word for it: an agent gives its verdict once.
const UNDO: &str = "undo";

const TAKES: &str = "{resolution_type: winner, merge, dismissed, last_writer, higher_confidence or undo, resolution?, winning_claim_id?, content?}";

pub(super) async fn list(by: By, asked: Result<Query<ConflictFilter>, QueryRejection>) -> Answer {
    let Query(asked) = asked.map_err(|error| {
        invalid(
            error.body_text(),
            "Ask for ?topic=wallet&status=open; status is open, resolved, dismissed, closed or all; severity is low, medium or high.",
        )
    })?;
    by.tell(Request::Conflicts(asked)).await
}

pub(super) async fn show(by: By, Path(id): Path<String>) -> Answer {
    let id = id.parse()?;
    by.tell(Request::Conflict(id)).await
}

/// A verdict on a conflict, as `engram_resolve` takes it.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Resolution")]
#[serde(deny_unknown_fields)]
pub(super) struct Verdict {
    /// `undo` takes the verdict back that stands.
    #[schemars(schema_with = "ways")]
    resolution_type: String,
    /// Why, for the record.
    resolution: Option<String>,
    /// Of a winner or a merge: the claim that holds.
    winning_claim_id: Option<EngramId>,
    /// Of a merge: the one claim.
    content: Option<String>,
}

fn ways(schemas: &mut SchemaGenerator) -> Schema {
    let way = schemas.subschema_for::<Way>();
    json_schema!({ "anyOf": [way, { "const": UNDO }] })
}

pub(super) async fn settle(by: By, Path(id): Path<String>, asked: Asked) -> Answer {
    let conflict = id.parse()?;
    let it: Verdict = by.body(asked, TAKES).await?;
    let how = match it.resolution_type.as_str() {
        UNDO => Settle::Undo,
        word => {
            let way = Way::deserialize(word.into_deserializer());
            let way = way.map_err(|error: Error| {
                invalid(
                    format!("resolution_type: {error}"),
                    &format!("Send {TAKES} as JSON."),
                )
            })?;
            way.settle(it.winning_claim_id, it.content)?
        }
    };
    let verdict = Resolve {
        conflict,
        how,
        why: it.resolution,
    };
    by.tell(Request::Resolve(Box::new(verdict))).await
}
