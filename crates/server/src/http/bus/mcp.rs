//! MCP over HTTP: the tools of `engram mcp`, for agents that reach this server and hold a token of
//! the bus.
//!
//! `/openapi.json` does not describe it: MCP answers most failures with status 200 and a JSON-RPC
//! error, which OpenAPI cannot express. MCP itself lists its calls (`tools/list`).

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Query, Request, State, rejection::QueryRejection},
    http::{Response, header},
    response::IntoResponse,
    routing::post,
};
use serde::Deserialize;

use super::{
    super::{Api, MAX_BODY, schema_invalid},
    calls::BusResponse,
};
use crate::mcp::{OverHttp, Toolset};

/// The values of `?toolsets=`. The first is the default.
const SETS: [(&str, &[Toolset]); 3] = [
    ("core", &[Toolset::Core]),
    ("less", &[Toolset::Less]),
    ("core,less", &[Toolset::Core, Toolset::Less]),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct McpQuery {
    toolsets: Option<String>,
}

pub(super) fn routes(api: &Api) -> Router<Api> {
    let sets = SETS.map(|(name, sets)| (name, OverHttp::new(&api.engine, sets)));
    let offered = Arc::new(sets);
    Router::new().route(
        "/mcp",
        post(
            |State(api): State<Api>,
             asked: Result<Query<McpQuery>, QueryRejection>,
             request: Request| async move {
                let wanted = match asked {
                    Ok(Query(asked)) => asked.toolsets.unwrap_or_else(|| SETS[0].0.to_owned()),
                    Err(_) => String::new(),
                };
                let found = offered.iter().find(|it| it.0 == wanted);
                let (_, server) = found.ok_or_else(|| {
                    schema_invalid(
                        "there are no such tools",
                        "Ask for ?toolsets=core, less or core,less.",
                    )
                })?;
                answer(&api, server, request).await
            },
        ),
    )
}

/// Waits for a permit, as other calls of the bus do, then answers.
async fn answer(api: &Api, server: &OverHttp, request: Request) -> BusResponse {
    let (head, body) = request.into_parts();
    let body = Body::from(api.read_body(body).await?);
    let _permit = api.requests.acquire().await;
    let answer = server.answer(Request::from_parts(head, body)).await;
    if is_json(&answer) {
        return Ok(answer.into_response());
    }
    // An error of the transport, not the answer to a message.
    let said = to_bytes(answer.into_body(), MAX_BODY).await;
    Err(schema_invalid(
        String::from_utf8_lossy(&said.unwrap_or_default()),
        "Send one JSON-RPC message of MCP as application/json, with the headers of its transport.",
    ))
}

/// Whether an answer can be passed on as it is. The answer to a notification is empty.
fn is_json(answer: &Response<Body>) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    !answer.status().is_client_error() || kind.is_some_and(|it| it == "application/json")
}
