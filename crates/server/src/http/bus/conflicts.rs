//! Conflicts over the bus: lists, shows and settles them, and takes verdicts back.

use axum::extract::{Path, Query, Request as Asked, rejection::QueryRejection};
use engram_model::{ConflictFilter, EngramId, Request, Resolve, Settle};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize,
    de::{IntoDeserializer, value::Error},
};

use super::{
    calls::{BusCaller, BusResponse},
    schema_invalid,
};
use crate::resolution_type::ResolutionType;

/// The resolution type that takes a verdict back. MCP has none: an agent gives its verdict once.
const UNDO: &str = "undo";

const TAKES: &str = "{resolution_type: winner, merge, dismissed, last_writer, higher_confidence, undo, contradicts, replaces, same or compatible, resolution?, winning_claim_id?, content?}";

pub(super) async fn list(
    by: BusCaller,
    asked: Result<Query<ConflictFilter>, QueryRejection>,
) -> BusResponse {
    let Query(asked) = asked.map_err(|error| {
        schema_invalid(
            error.body_text(),
            "Ask for ?topic=wallet&status=open; status is open, resolved, dismissed, closed, possible or all; severity is low, medium or high.",
        )
    })?;
    by.answer(Request::Conflicts(asked)).await
}

pub(super) async fn show(by: BusCaller, Path(id): Path<String>) -> BusResponse {
    let id = id.parse()?;
    by.answer(Request::Conflict(id)).await
}

/// A verdict on a conflict, as `engram_resolve` takes it.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Resolution")]
#[serde(deny_unknown_fields)]
pub(super) struct ResolutionBody {
    /// `undo` takes back the current verdict.
    #[schemars(schema_with = "resolution_types")]
    resolution_type: String,
    /// Why, for the record.
    resolution: Option<String>,
    /// Of a winner or a merge: the claim that holds.
    winning_claim_id: Option<EngramId>,
    /// Of a merge: the one claim.
    content: Option<String>,
}

fn resolution_types(schemas: &mut SchemaGenerator) -> Schema {
    let way = schemas.subschema_for::<ResolutionType>();
    json_schema!({ "anyOf": [way, { "const": UNDO }] })
}

pub(super) async fn settle(by: BusCaller, Path(id): Path<String>, asked: Asked) -> BusResponse {
    let conflict = id.parse()?;
    let verdict: ResolutionBody = by.parse_body(asked, TAKES).await?;
    let how = match verdict.resolution_type.as_str() {
        UNDO => Settle::Undo,
        word => {
            let way = ResolutionType::deserialize(word.into_deserializer());
            let way = way.map_err(|error: Error| {
                schema_invalid(
                    format!("resolution_type: {error}"),
                    &format!("Send {TAKES} as JSON."),
                )
            })?;
            way.into_settle(verdict.winning_claim_id, verdict.content)?
        }
    };
    let resolve = Resolve {
        conflict,
        how,
        why: verdict.resolution,
    };
    by.answer(Request::Resolve(Box::new(resolve))).await
}
