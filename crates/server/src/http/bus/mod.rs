//! The bus over HTTP (docs/design.md#the-bus-and-its-tools). An orchestrator and its agents call
//! it, each with a token of its own; the user calls it with the server's token.

mod calls;
mod mcp;
mod metrics;
mod openapi;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Query, Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::Response,
    routing::{MethodRouter, delete, get, post},
};
use engram_model::{
    AgentOpened, Answered, BriefReply, BudgetsReply, ChildMessage, Conflict, ConflictsReply, Deref,
    DerefRequest, Dereferenced, Draft, EngramV01, ForgetReply, GrantIssued, Listed, Opening,
    ParentMessage, PutReply, RagReply, RequestsReply, ResolveReply, SamReply, SentReply, Severity,
    Turned, shorten, visible,
};
use percent_encoding::percent_decode_str;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{Api, Guard, RefusalResponse, conflicts, guard, invalid, not_this_way};
pub(super) use calls::{BusCaller, BusResponse};

/// The maximum length of a parameter's name that a refusal repeats, in characters.
const LONGEST_NAME: usize = 40;

/// Generates the schema of what a call takes or answers.
type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// One call of the bus: its handler and its entry in the OpenAPI description.
struct Door {
    method: &'static str,
    path: &'static str,
    says: &'static str,
    asks: &'static [QueryParameter],
    takes: Option<SchemaFn>,
    needs_body: bool,
    answers: (StatusCode, SchemaFn),
    media: &'static str,
    by: MethodRouter<Api>,
}

/// A parameter in a call's query string.
struct QueryParameter {
    name: &'static str,
    says: &'static str,
    is_needed: bool,
    shape: SchemaFn,
}

fn shape<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    schemas.subschema_for::<T>()
}

/// The schema of a message in either direction, or of one with its recipient beside it.
fn any_message(schemas: &mut SchemaGenerator) -> Schema {
    let child = schemas.subschema_for::<ChildMessage>();
    let parent = schemas.subschema_for::<ParentMessage>();
    // Besides the role, one key tells whose message it is.
    let parent = json_schema!({ "allOf": [parent], "minProperties": 2 });
    json_schema!({
        "anyOf": [child, parent, {
            "type": "object",
            "properties": {
                "message": { "anyOf": [child, parent] },
                "to": { "type": ["string", "null"], "description": "The child that a parent's message is for; all of its role without it." },
            },
            "required": ["message"],
            "additionalProperties": false,
        }]
    })
}

/// The schema of a message from an agent.
fn told<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    let message = schemas.subschema_for::<T>();
    json_schema!({
        "type": "object",
        "properties": {
            "agent": { "type": ["string", "null"], "description": "The sender; by default the caller." },
            "message": message,
        },
        "required": ["message"],
        "additionalProperties": false,
    })
}

fn keys(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "minLength": 1 })
}

fn how_many(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 1, "maximum": calls::MOST })
}

fn page(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 1, "maximum": 200 })
}

/// The schema of a position in the list of conflicts, as returned in `next`.
fn next(_: &mut SchemaGenerator) -> Schema {
    let severity = "(low|medium|high)";
    let pattern =
        format!(r"^{severity}\.{severity}\.[0-9]{{1,18}}\.[0-7][0-9A-HJKMNP-TV-Z]{{25}}\.");
    json_schema!({ "type": "string", "pattern": pattern })
}

/// Returns an optional parameter.
const fn asks(name: &'static str, says: &'static str, shape: SchemaFn) -> QueryParameter {
    QueryParameter {
        name,
        says,
        is_needed: false,
        shape,
    }
}

const KEYS: QueryParameter = QueryParameter {
    is_needed: true,
    ..asks("keys", "Words to look for, with commas between them.", keys)
};
const K: QueryParameter = asks("k", "Maximum number of engrams.", how_many);
const ALL: QueryParameter = asks("all", "true: include answered requests.", shape::<bool>);
const TOPIC: QueryParameter = asks(
    "topic",
    "Only with a side in this topic or below it.",
    shape::<String>,
);
const STATUS: QueryParameter = asks(
    "status",
    "Only conflicts with this status; by default `open`.",
    shape::<Listed>,
);
const SEVERITY: QueryParameter = asks(
    "severity",
    "Only conflicts of this severity or worse.",
    shape::<Severity>,
);
const AFTER: QueryParameter = asks("after", "Continue after `next` of the previous page.", next);
const LIMIT: QueryParameter = asks("limit", "Page size; 50 if absent.", page);
const EMBEDDING: QueryParameter = asks("embedding_ref", "An embedding.", keys);

impl Door {
    fn new(
        method: &'static str,
        path: &'static str,
        by: MethodRouter<Api>,
        answers: SchemaFn,
        says: &'static str,
    ) -> Self {
        Self {
            method,
            path,
            says,
            asks: &[],
            takes: None,
            needs_body: true,
            answers: (StatusCode::OK, answers),
            media: "application/json",
            by,
        }
    }

    fn takes(self, takes: SchemaFn) -> Self {
        let takes = Some(takes);
        Self { takes, ..self }
    }

    /// Makes the body of a call optional.
    fn may_take(self, takes: SchemaFn) -> Self {
        Self {
            needs_body: false,
            ..self.takes(takes)
        }
    }

    fn asks(self, asks: &'static [QueryParameter]) -> Self {
        Self { asks, ..self }
    }

    fn in_text(self) -> Self {
        let media = "text/plain";
        Self { media, ..self }
    }

    fn creates(self) -> Self {
        let answers = (StatusCode::CREATED, self.answers.1);
        Self { answers, ..self }
    }
}

/// Returns every call.
#[rustfmt::skip]
fn doors() -> Vec<Door> {
    vec![
        Door::new("post", "/engram", post(calls::put), shape::<PutReply>, "Store an engram.")
            .takes(shape::<Draft>).creates(),
        Door::new("delete", "/engram/{id}", delete(calls::forget), shape::<ForgetReply>, "Close an engram; its history stays."),
        Door::new("get", "/engram/query", get(calls::query), shape::<Vec<EngramV01>>, "Find engrams by keys.")
            .asks(&[KEYS, K]),
        Door::new("get", "/engram/query_by_embedding", get(calls::by_embedding), shape::<Vec<EngramV01>>,
            "Refused: engrams have no embeddings in this version.").asks(&[EMBEDDING, K]),
        Door::new("post", "/pointer/deref", post(calls::deref), shape::<Dereferenced>, "Read what a pointer addresses.")
            .takes(shape::<Deref>),
        Door::new("post", "/message", post(calls::message), shape::<SentReply>,
            "Send a message, as JSON or in the text form: a child's to its parent, a parent's to its children.")
            .takes(any_message),
        Door::new("get", "/brief", get(calls::brief), shape::<BriefReply>, "The shared brief."),
        Door::new("get", "/budget", get(calls::budget), shape::<BudgetsReply>,
            "What the caller and its children have spent."),
        Door::new("get", "/metrics", get(calls::metrics), shape::<String>, "Counts for Prometheus; for the user.")
            .in_text(),
        Door::new("post", "/grant", post(calls::grant), shape::<GrantIssued>,
            "Permit a child one thing beyond its budget; the token is shown this once.").takes(shape::<calls::GrantBody>),
        Door::new("delete", "/grant/{id}", delete(calls::revoke), shape::<Answered>, "Revoke a grant."),
        Door::new("get", "/request", get(calls::requests), shape::<RequestsReply>,
            "Requests of the caller and its children.").asks(&[ALL]),
        Door::new("post", "/request", post(calls::ask_for), shape::<Answered>, "Ask to read beyond the budget.")
            .takes(shape::<DerefRequest>),
        Door::new("post", "/request/{id}", post(calls::answer_request), answer, "Grant or deny a request.")
            .takes(shape::<calls::RequestVerdict>),
        Door::new("post", "/agent", post(calls::open), shape::<AgentOpened>,
            "Open a child of the caller; its token is shown this once.").takes(shape::<Opening>),
        Door::new("post", "/agent/{id}/turn", post(calls::next_turn), shape::<Turned>, "Begin another turn of a child.")
            .may_take(shape::<calls::TurnBody>),
        Door::new("get", "/conflicts", get(conflicts::list), shape::<ConflictsReply>,
            "Claims that cannot both hold; the worst first.").asks(&[TOPIC, STATUS, SEVERITY, AFTER, LIMIT]),
        Door::new("get", "/conflicts/{id}", get(conflicts::show), shape::<Conflict>, "One conflict, with both sides."),
        Door::new("post", "/conflicts/{id}", post(conflicts::settle), shape::<ResolveReply>,
            "Settle a conflict, or take its verdict back.").takes(shape::<conflicts::ConflictVerdict>),
        Door::new("post", "/hook/on_child_response", post(calls::on_child_response), shape::<SentReply>,
            "A child responded: its message is sent to its parent.").takes(told::<ChildMessage>),
        Door::new("post", "/hook/on_parent_broadcast", post(calls::on_parent_broadcast), shape::<SentReply>,
            "A parent tells its children: its message is sent, with what the brief adds.").takes(told::<ParentMessage>),
        Door::new("post", "/hook/on_rag_result", post(calls::on_rag_result), shape::<RagReply>,
            "Retrieval found something: pointers first, excerpts within the budget.").takes(shape::<calls::RagResultBody>),
        Door::new("post", "/hook/on_sam_read", post(calls::on_sam_read), shape::<SamReply>,
            "An event is read: its pointer and how it begins.").takes(shape::<calls::SamReadBody>),
    ]
}

fn answer(schemas: &mut SchemaGenerator) -> Schema {
    let granted = schemas.subschema_for::<GrantIssued>();
    let denied = schemas.subschema_for::<Answered>();
    json_schema!({ "anyOf": [granted, denied] })
}

pub(super) fn routes(api: Api, guard: Arc<Guard>) -> Router {
    let known = (guard, api.clone());
    let doors = doors();
    let described = openapi::document(&doors, api.engine.limits()).to_string();
    let mut calls = Router::new();
    for door in doors {
        let known = middleware::from_fn_with_state(door.asks, only_known);
        calls = calls.route(door.path, door.by.layer(known));
    }
    let calls = calls
        .merge(mcp::routes(&api))
        .method_not_allowed_fallback(async || not_this_way())
        .layer(middleware::from_fn_with_state(known, guard::caller))
        .with_state(api);
    // Reading the description needs no token.
    let describe = move || {
        let described = described.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], described) }
    };
    let asks: &[QueryParameter] = &[];
    let describe = get(describe).layer(middleware::from_fn_with_state(asks, only_known));
    let described = Router::new().route("/openapi.json", describe);
    calls.merge(described.method_not_allowed_fallback(async || not_this_way()))
}

/// Refuses parameters that a call does not take. Otherwise a misspelled parameter would have no
/// effect.
async fn only_known(
    State(asks): State<&'static [QueryParameter]>,
    request: Request,
    next: Next,
) -> Result<Response, RefusalResponse> {
    // Otherwise the path extractor would refuse it without an error code.
    if percent_decode_str(request.uri().path())
        .decode_utf8()
        .is_err()
    {
        return Err(invalid(
            "this address is not UTF-8",
            "Send ids as they were answered.",
        ));
    }
    let asked = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
    let Query(asked) = asked.map_err(|_| {
        invalid(
            "the query of this address cannot be read",
            "Send ?name=value.",
        )
    })?;
    let is_known = |name: &String| asks.iter().any(|it| it.name == name);
    if let Some((name, _)) = asked.iter().find(|(name, _)| !is_known(name)) {
        let name = visible(&shorten(name, LONGEST_NAME));
        let known: Vec<&str> = asks.iter().map(|it| it.name).collect();
        let hint = if known.is_empty() {
            "Leave it out: this address takes no parameters.".to_owned()
        } else {
            format!("This address takes {}.", known.join(", "))
        };
        return Err(invalid(
            format!("there is no parameter `{name}` here"),
            &hint,
        ));
    }
    Ok(next.run(request).await)
}
