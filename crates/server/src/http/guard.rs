//! Who may call: only pages and programs that reached us by our own name and hold the token.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engram_model::{Code, Refusal};
use serde_json::json;
use sha2::{Digest, Sha256};

/// What a caller must show.
pub(super) struct Guard {
    hosts: [String; 2],
    origins: [String; 2],
    /// Digests are compared, so that the time taken says nothing about the token.
    token: [u8; 32],
}

impl Guard {
    pub(super) fn new(port: u16, token: &str) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}"));
        Self {
            origins: hosts.clone().map(|host| format!("http://{host}")),
            hosts,
            token: Sha256::digest(token).into(),
        }
    }

    fn knows(&self, token: &str) -> bool {
        <[u8; 32]>::from(Sha256::digest(token)) == self.token
    }
}

/// Refuses other names of this machine (a page elsewhere may have its name resolve to 127.0.0.1)
/// and pages of other origins.
pub(super) async fn origin(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let own_host =
        text(headers, header::HOST).is_some_and(|host| guard.hosts.iter().any(|own| own == host));
    let own_origin = match headers.contains_key(header::ORIGIN) {
        true => text(headers, header::ORIGIN)
            .is_some_and(|origin| guard.origins.iter().any(|own| own == origin)),
        false => true,
    };
    match own_host && own_origin {
        true => next.run(request).await,
        false => denied(
            StatusCode::FORBIDDEN,
            "this server answers only its own page",
            "Open the address that engram serve printed.",
        ),
    }
}

/// Wants the token: as a bearer, or in the address of the event stream, since a browser's event
/// source sends no headers.
pub(super) async fn token(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let bearer = text(request.headers(), header::AUTHORIZATION)
        .and_then(|value| value.strip_prefix("Bearer "));
    let token = match bearer {
        None if request.uri().path() == "/api/events" => in_query(request.uri()),
        bearer => bearer,
    };
    match token.is_some_and(|token| guard.knows(token)) {
        true => next.run(request).await,
        false => denied(
            StatusCode::UNAUTHORIZED,
            "the token is missing or not of this server",
            "Open the address that engram serve printed; it changes with each start.",
        ),
    }
}

fn in_query(uri: &Uri) -> Option<&str> {
    uri.query()?
        .split('&')
        .find_map(|pair| pair.strip_prefix("token="))
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn denied(status: StatusCode, message: &str, hint: &str) -> Response {
    let refusal = Refusal::new(Code::ScopeDenied, message, hint);
    (status, axum::Json(json!({ "error": refusal }))).into_response()
}
