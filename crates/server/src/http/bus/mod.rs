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
    DerefRequest, Dereferenced, Draft, EngramV01, ForgetReply, GrantReply, Listed, Opening,
    ParentMessage, PutReply, RagReply, RequestsReply, ResolveReply, SamReply, SentReply, Severity,
    Turned, shorten, visible,
};
use percent_encoding::percent_decode_str;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{Api, Guard, RefusalResponse, guard, method_not_allowed, schema_invalid};

/// The maximum length of a parameter's name that a refusal repeats, in characters.
const MAX_NAME: usize = 40;

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

fn schema_of<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    schemas.subschema_for::<T>()
}

/// The schema of a message in either direction, alone or together with its recipient.
fn message_schema(schemas: &mut SchemaGenerator) -> Schema {
    let child = schemas.subschema_for::<ChildMessage>();
    let parent = schemas.subschema_for::<ParentMessage>();
    // A parent's message has at least one key besides the role.
    let parent = json_schema!({ "allOf": [parent], "minProperties": 2 });
    json_schema!({
        "anyOf": [child, parent, {
            "type": "object",
            "properties": {
                "message": { "anyOf": [child, parent] },
                "to": { "type": ["string", "null"], "description": "The child that gets a parent's message; if absent, all children with the message's role." },
            },
            "required": ["message"],
            "additionalProperties": false,
        }]
    })
}

/// The schema of a message from an agent.
fn agent_message_schema<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
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

fn keys_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "minLength": 1 })
}

fn k_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 1, "maximum": crate::MAX_ENGRAMS })
}

fn page_size_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 1, "maximum": engram_model::MAX_CONFLICTS_ON_PAGE })
}

/// The schema of a position in the list of conflicts, as returned in `next`.
fn cursor_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": engram_engine::CONFLICT_PLACE })
}

/// Returns an optional parameter.
const fn optional_parameter(
    name: &'static str,
    says: &'static str,
    shape: SchemaFn,
) -> QueryParameter {
    QueryParameter {
        name,
        says,
        is_needed: false,
        shape,
    }
}

const KEYS: QueryParameter = QueryParameter {
    is_needed: true,
    ..optional_parameter(
        "keys",
        "Words to look for, with commas between them.",
        keys_schema,
    )
};
const K: QueryParameter = optional_parameter("k", "Maximum number of engrams.", k_schema);
const ALL: QueryParameter =
    optional_parameter("all", "true: include answered requests.", schema_of::<bool>);
const TOPIC: QueryParameter = optional_parameter(
    "topic",
    "Only conflicts with a claim on this topic or below it.",
    schema_of::<String>,
);
const STATUS: QueryParameter = optional_parameter(
    "status",
    "Only conflicts with this status; by default `open`.",
    schema_of::<Listed>,
);
const SEVERITY: QueryParameter = optional_parameter(
    "severity",
    "Only conflicts of this severity or worse.",
    schema_of::<Severity>,
);
const AFTER: QueryParameter = optional_parameter(
    "after",
    "Continue after `next` of the previous page.",
    cursor_schema,
);
const LIMIT: QueryParameter =
    optional_parameter("limit", "Page size; 50 if absent.", page_size_schema);
const EMBEDDING: QueryParameter = QueryParameter {
    is_needed: true,
    ..optional_parameter(
        "embedding_ref",
        "An embedding, as an engram's `embedding_ref` names it.",
        keys_schema,
    )
};

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
        BusRoute::new("post", "/engram", post(calls::put), schema_of::<PutReply>, "Store an engram.")
            .body(schema_of::<Draft>).creates(),
        BusRoute::new("delete", "/engram/{id}", delete(calls::forget), schema_of::<ForgetReply>, "Close an engram; its history stays."),
        BusRoute::new("get", "/engram/query", get(calls::query), schema_of::<Vec<EngramV01>>, "Find engrams by keys.")
            .query(&[KEYS, K]),
        BusRoute::new("get", "/engram/query_by_embedding", get(calls::query_by_embedding), schema_of::<Vec<EngramV01>>,
            "Find the engrams nearest to an embedding, if a model has embedded them.").query(&[EMBEDDING, K]),
        BusRoute::new("post", "/pointer/deref", post(calls::deref), schema_of::<Dereferenced>, "Read what a pointer addresses.")
            .body(schema_of::<Deref>),
        BusRoute::new("post", "/message", post(calls::send_message), schema_of::<SentReply>,
            "Send a message, as JSON or in the text form: a child's to its parent, a parent's to its children.")
            .body(message_schema),
        BusRoute::new("get", "/brief", get(calls::brief), schema_of::<BriefReply>, "The shared brief."),
        BusRoute::new("get", "/budget", get(calls::budget), schema_of::<BudgetsReply>,
            "What the caller and its children have spent."),
        BusRoute::new("get", "/metrics", get(calls::metrics), schema_of::<String>, "Counts for Prometheus; for the user.")
            .in_text(),
        BusRoute::new("post", "/grant", post(calls::grant_to_child), schema_of::<GrantReply>,
            "Permit a child one thing beyond its budget; the token is shown only once.").body(schema_of::<calls::GrantBody>),
        BusRoute::new("delete", "/grant/{id}", delete(calls::revoke_grant), schema_of::<Answered>, "Revoke a grant."),
        BusRoute::new("get", "/request", get(calls::list_requests), schema_of::<RequestsReply>,
            "Requests of the caller and its children.").query(&[ALL]),
        BusRoute::new("post", "/request", post(calls::request_deref), schema_of::<Answered>, "Ask to read beyond the budget.")
            .body(schema_of::<DerefRequest>),
        BusRoute::new("post", "/request/{id}", post(calls::answer_request), request_answer_schema, "Grant or deny a request.")
            .body(schema_of::<calls::RequestVerdict>),
        BusRoute::new("post", "/agent", post(calls::open_agent), schema_of::<AgentOpened>,
            "Open a child of the caller; its token is shown only once.").body(schema_of::<Opening>),
        BusRoute::new("post", "/agent/{id}/turn", post(calls::next_turn), schema_of::<Turned>, "Begin a child's next turn.")
            .optional_body(schema_of::<calls::TurnBody>),
        BusRoute::new("get", "/conflicts", get(conflicts::list), schema_of::<ConflictsReply>,
            "List conflicts, worst first.").query(&[TOPIC, STATUS, SEVERITY, AFTER, LIMIT]),
        BusRoute::new("get", "/conflicts/{id}", get(conflicts::show), schema_of::<Conflict>, "Read one conflict, with both sides."),
        BusRoute::new("post", "/conflicts/{id}", post(conflicts::settle), schema_of::<ResolveReply>,
            "Settle a conflict, or undo its verdict.").body(schema_of::<conflicts::ResolutionBody>),
        BusRoute::new("post", "/hook/on_child_response", post(calls::on_child_response), schema_of::<SentReply>,
            "Send the response of a child to its parent.").body(agent_message_schema::<ChildMessage>),
        BusRoute::new("post", "/hook/on_parent_broadcast", post(calls::on_parent_broadcast), schema_of::<SentReply>,
            "Send the message of a parent to its children, with the lines of the brief that they need.").body(agent_message_schema::<ParentMessage>),
        BusRoute::new("post", "/hook/on_rag_result", post(calls::on_rag_result), schema_of::<RagReply>,
            "Turn what retrieval found into pointers, with excerpts within the budget.").body(schema_of::<calls::RagResultBody>),
        BusRoute::new("post", "/hook/on_sam_read", post(calls::on_sam_read), schema_of::<SamReply>,
            "Get the pointer to an event, and the event's first sentence.").body(schema_of::<calls::SamReadBody>),
    ]
}

fn request_answer_schema(schemas: &mut SchemaGenerator) -> Schema {
    let granted = schemas.subschema_for::<GrantReply>();
    let denied = schemas.subschema_for::<Answered>();
    json_schema!({ "anyOf": [granted, denied] })
}

pub(super) fn routes(api: Api, guard: Arc<Guard>) -> Router {
    let known = (guard, api.clone());
    let bus_routes = bus_routes();
    let described = openapi::document(&bus_routes, api.engine.limits()).to_string();
    let mut calls = Router::new();
    for route in bus_routes {
        let known = middleware::from_fn_with_state(route.query, refuse_unknown_parameters);
        calls = calls.route(route.path, route.handler.layer(known));
    }
    let calls = calls
        .merge(mcp::routes(&api))
        .method_not_allowed_fallback(async || method_not_allowed(DESCRIBED))
        .layer(middleware::from_fn_with_state(known, guard::require_caller))
        .with_state(api);
    // Reading the description needs no token.
    let describe = move || {
        let described = described.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], described) }
    };
    let parameters: &[QueryParameter] = &[];
    let describe = get(describe).layer(middleware::from_fn_with_state(
        parameters,
        refuse_unknown_parameters,
    ));
    let described = Router::new().route("/openapi.json", describe);
    calls.merge(described.method_not_allowed_fallback(async || method_not_allowed(DESCRIBED)))
}

/// Where the calls of the bus are described.
const DESCRIBED: &str = "GET /openapi.json describes every call.";

/// Refuses parameters that a call does not take. Otherwise a misspelled parameter would have no
/// effect.
async fn refuse_unknown_parameters(
    State(parameters): State<&'static [QueryParameter]>,
    request: Request,
    next: Next,
) -> Result<Response, RefusalResponse> {
    // Otherwise the path extractor would refuse it without an error code.
    if percent_decode_str(request.uri().path())
        .decode_utf8()
        .is_err()
    {
        return Err(schema_invalid(
            "this address is not UTF-8",
            "Send ids exactly as you received them.",
        ));
    }
    let asked = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
    let Query(asked) = asked.map_err(|_| {
        schema_invalid(
            "the query of this address cannot be read",
            "Send ?name=value.",
        )
    })?;
    let is_known = |name: &String| parameters.iter().any(|it| it.name == name);
    if let Some((name, _)) = asked.iter().find(|(name, _)| !is_known(name)) {
        let name = visible(&shorten(name, MAX_NAME));
        let known: Vec<&str> = parameters.iter().map(|it| it.name).collect();
        let hint = if known.is_empty() {
            "Leave it out: this address takes no parameters.".to_owned()
        } else {
            format!("This address takes {}.", known.join(", "))
        };
        return Err(schema_invalid(
            format!("there is no parameter `{name}` here"),
            &hint,
        ));
    }
    Ok(next.run(request).await)
}
