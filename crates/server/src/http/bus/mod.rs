//! The bus over HTTP (docs/design.md#the-bus-and-its-tools). An orchestrator and its agents call
//! it, each with a token of its own; the user calls it with the server's token.

mod calls;
mod conflicts;
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

use super::{Api, Guard, RefusalResponse, guard, invalid, not_this_way};

/// The maximum length of a parameter's name that a refusal repeats, in characters.
const LONGEST_NAME: usize = 40;

/// Generates the schema of what a call takes or answers.
type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// One call of the bus: its handler and its entry in the OpenAPI description.
struct BusRoute {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    query: &'static [QueryParameter],
    body: Option<SchemaFn>,
    needs_body: bool,
    answers: (StatusCode, SchemaFn),
    media: &'static str,
    handler: MethodRouter<Api>,
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

/// The schema of a message in either direction, alone or together with its recipient.
fn any_message(schemas: &mut SchemaGenerator) -> Schema {
    let child = schemas.subschema_for::<ChildMessage>();
    let parent = schemas.subschema_for::<ParentMessage>();
    // A parent's message has at least one key besides the role.
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
fn agent_message<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
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
    json_schema!({ "type": "string", "pattern": engram_engine::CONFLICT_PLACE })
}

/// Returns an optional parameter.
const fn optional(name: &'static str, says: &'static str, shape: SchemaFn) -> QueryParameter {
    QueryParameter {
        name,
        says,
        is_needed: false,
        shape,
    }
}

const KEYS: QueryParameter = QueryParameter {
    is_needed: true,
    ..optional("keys", "Words to look for, with commas between them.", keys)
};
const K: QueryParameter = optional("k", "Maximum number of engrams.", how_many);
const ALL: QueryParameter = optional("all", "true: include answered requests.", shape::<bool>);
const TOPIC: QueryParameter = optional(
    "topic",
    "Only with a side in this topic or below it.",
    shape::<String>,
);
const STATUS: QueryParameter = optional(
    "status",
    "Only conflicts with this status; by default `open`.",
    shape::<Listed>,
);
const SEVERITY: QueryParameter = optional(
    "severity",
    "Only conflicts of this severity or worse.",
    shape::<Severity>,
);
const AFTER: QueryParameter =
    optional("after", "Continue after `next` of the previous page.", next);
const LIMIT: QueryParameter = optional("limit", "Page size; 50 if absent.", page);
const EMBEDDING: QueryParameter = optional("embedding_ref", "An embedding.", keys);

impl BusRoute {
    fn new(
        method: &'static str,
        path: &'static str,
        handler: MethodRouter<Api>,
        answers: SchemaFn,
        summary: &'static str,
    ) -> Self {
        Self {
            method,
            path,
            summary,
            query: &[],
            body: None,
            needs_body: true,
            answers: (StatusCode::OK, answers),
            media: "application/json",
            handler,
        }
    }

    fn body(self, body: SchemaFn) -> Self {
        let body = Some(body);
        Self { body, ..self }
    }

    /// Makes the body of a call optional.
    fn optional_body(self, body: SchemaFn) -> Self {
        Self {
            needs_body: false,
            ..self.body(body)
        }
    }

    fn query(self, query: &'static [QueryParameter]) -> Self {
        Self { query, ..self }
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
fn bus_routes() -> Vec<BusRoute> {
    vec![
        BusRoute::new("post", "/engram", post(calls::put), shape::<PutReply>, "Store an engram.")
            .body(shape::<Draft>).creates(),
        BusRoute::new("delete", "/engram/{id}", delete(calls::forget), shape::<ForgetReply>, "Close an engram; its history stays."),
        BusRoute::new("get", "/engram/query", get(calls::query), shape::<Vec<EngramV01>>, "Find engrams by keys.")
            .query(&[KEYS, K]),
        BusRoute::new("get", "/engram/query_by_embedding", get(calls::by_embedding), shape::<Vec<EngramV01>>,
            "Refused: engrams have no embeddings in this version.").query(&[EMBEDDING, K]),
        BusRoute::new("post", "/pointer/deref", post(calls::deref), shape::<Dereferenced>, "Read what a pointer addresses.")
            .body(shape::<Deref>),
        BusRoute::new("post", "/message", post(calls::message), shape::<SentReply>,
            "Send a message, as JSON or in the text form: a child's to its parent, a parent's to its children.")
            .body(any_message),
        BusRoute::new("get", "/brief", get(calls::brief), shape::<BriefReply>, "The shared brief."),
        BusRoute::new("get", "/budget", get(calls::budget), shape::<BudgetsReply>,
            "What the caller and its children have spent."),
        BusRoute::new("get", "/metrics", get(calls::metrics), shape::<String>, "Counts for Prometheus; for the user.")
            .in_text(),
        BusRoute::new("post", "/grant", post(calls::grant), shape::<GrantIssued>,
            "Permit a child one thing beyond its budget; the token is shown this once.").body(shape::<calls::GrantBody>),
        BusRoute::new("delete", "/grant/{id}", delete(calls::revoke), shape::<Answered>, "Revoke a grant."),
        BusRoute::new("get", "/request", get(calls::requests), shape::<RequestsReply>,
            "Requests of the caller and its children.").query(&[ALL]),
        BusRoute::new("post", "/request", post(calls::ask_for), shape::<Answered>, "Ask to read beyond the budget.")
            .body(shape::<DerefRequest>),
        BusRoute::new("post", "/request/{id}", post(calls::answer_request), answer, "Grant or deny a request.")
            .body(shape::<calls::RequestVerdict>),
        BusRoute::new("post", "/agent", post(calls::open), shape::<AgentOpened>,
            "Open a child of the caller; its token is shown this once.").body(shape::<Opening>),
        BusRoute::new("post", "/agent/{id}/turn", post(calls::next_turn), shape::<Turned>, "Begin another turn of a child.")
            .optional_body(shape::<calls::TurnBody>),
        BusRoute::new("get", "/conflicts", get(conflicts::list), shape::<ConflictsReply>,
            "Claims that cannot both hold; the worst first.").query(&[TOPIC, STATUS, SEVERITY, AFTER, LIMIT]),
        BusRoute::new("get", "/conflicts/{id}", get(conflicts::show), shape::<Conflict>, "One conflict, with both sides."),
        BusRoute::new("post", "/conflicts/{id}", post(conflicts::settle), shape::<ResolveReply>,
            "Settle a conflict, or take its verdict back.").body(shape::<conflicts::ResolutionBody>),
        BusRoute::new("post", "/hook/on_child_response", post(calls::on_child_response), shape::<SentReply>,
            "A child responded: its message is sent to its parent.").body(agent_message::<ChildMessage>),
        BusRoute::new("post", "/hook/on_parent_broadcast", post(calls::on_parent_broadcast), shape::<SentReply>,
            "A parent tells its children: its message is sent, with what the brief adds.").body(agent_message::<ParentMessage>),
        BusRoute::new("post", "/hook/on_rag_result", post(calls::on_rag_result), shape::<RagReply>,
            "Retrieval found something: pointers first, excerpts within the budget.").body(shape::<calls::RagResultBody>),
        BusRoute::new("post", "/hook/on_sam_read", post(calls::on_sam_read), shape::<SamReply>,
            "An event is read: its pointer and how it begins.").body(shape::<calls::SamReadBody>),
    ]
}

fn answer(schemas: &mut SchemaGenerator) -> Schema {
    let granted = schemas.subschema_for::<GrantIssued>();
    let denied = schemas.subschema_for::<Answered>();
    json_schema!({ "anyOf": [granted, denied] })
}

pub(super) fn routes(api: Api, guard: Arc<Guard>) -> Router {
    let known = (guard, api.clone());
    let bus_routes = bus_routes();
    let described = openapi::document(&bus_routes, api.engine.limits()).to_string();
    let mut calls = Router::new();
    for route in bus_routes {
        let known = middleware::from_fn_with_state(route.query, only_known);
        calls = calls.route(route.path, route.handler.layer(known));
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
    let parameters: &[QueryParameter] = &[];
    let describe = get(describe).layer(middleware::from_fn_with_state(parameters, only_known));
    let described = Router::new().route("/openapi.json", describe);
    calls.merge(described.method_not_allowed_fallback(async || not_this_way()))
}

/// Refuses parameters that a call does not take. Otherwise a misspelled parameter would have no
/// effect.
async fn only_known(
    State(parameters): State<&'static [QueryParameter]>,
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
    let is_known = |name: &String| parameters.iter().any(|it| it.name == name);
    if let Some((name, _)) = asked.iter().find(|(name, _)| !is_known(name)) {
        let name = visible(&shorten(name, LONGEST_NAME));
        let known: Vec<&str> = parameters.iter().map(|it| it.name).collect();
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
