//! MCP over HTTP, without sessions: each request counts as its own connection, by the agent or user
//! that its token proves.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Request, Response, header},
};
use engram_engine::Engine;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use super::{Server, Toolset};

/// The media types that the transport demands in `accept`; the answer is always the first.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The tools at one address. The guard has already checked the caller, the address and the length
/// of the body.
#[derive(Clone)]
pub(crate) struct OverHttp(StreamableHttpService<Server, NeverSessionManager>);

impl OverHttp {
    pub(crate) fn new(engine: &Arc<Engine>, toolsets: &[Toolset]) -> Self {
        let server = Server::new(Arc::clone(engine), toolsets, None, None);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts();
        Self(StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::default(),
            config,
        ))
    }

    pub(crate) async fn answer(&self, mut request: Request<Body>) -> Response<Body> {
        // A client that accepts anything accepts both types.
        if accepts_anything(request.headers()) {
            request.headers_mut().insert(header::ACCEPT, BOTH);
        }
        self.0.handle(request).await.map(Body::new)
    }
}

fn accepts_anything(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter().peekable();
    accepted.peek().is_none() || accepted.any(|it| it == "*/*")
}
