//! Decides who may call: pages and programs that reached the server by one of its own names and
//! hold the token.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engram_engine::{Engine, is_token};
use engram_model::{Call, Code, Refusal};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use super::{
    Api, RefusalResponse,
    connection_places::{ConnectionPlace, Digest, ProvenAgent, TokenHolder},
};
use crate::http_caller::HttpCaller;

/// The content security policy: a page runs and loads only its own files.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The headers of every answer.
const HEADERS: [(HeaderName, &str); 8] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=()",
    ),
];

/// What a caller must show.
pub(super) struct Guard {
    scheme: &'static str,
    port: u16,
    /// The server's names and addresses, in lower case.
    names: Vec<String>,
    /// When the server listens on every interface, any address may be its own, but not any name: a
    /// foreign page can have its own name resolve to this server, but cannot make a browser send an
    /// address for it.
    any_address: bool,
    /// The token's digest, so that the time of a comparison reveals nothing about the token.
    token: Digest,
}

impl Guard {
    pub(super) fn new(at: SocketAddr, is_tls: bool, hosts: &[String], token: &str) -> Self {
        let mut names: Vec<_> = hosts.iter().map(|it| it.to_ascii_lowercase()).collect();
        if at.ip().is_loopback() || at.ip().is_unspecified() {
            names.extend(["127.0.0.1", "localhost", "[::1]"].map(str::to_owned));
        }
        names.push(url_host(at.ip()));
        Self {
            scheme: if is_tls { "https" } else { "http" },
            port: at.port(),
            names,
            any_address: at.ip().is_unspecified(),
            token: Sha256::digest(token).into(),
        }
    }

    /// Whether an authority is the server's own: `host` or `host:port`. The port may be left out if
    /// it is the usual one.
    fn is_own(&self, authority: &str) -> bool {
        let usual = if self.scheme == "https" { 443 } else { 80 };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, parse_port(port)),
            _ => (authority, Some(usual)),
        };
        let host = host.to_ascii_lowercase();
        port == Some(self.port)
            && (self.names.contains(&host) || (self.any_address && is_address(&host)))
    }

    /// Whether the target of a request names this server, or names none.
    fn is_own_target(&self, target: &Uri) -> bool {
        target.scheme_str().is_none_or(|it| it == self.scheme)
            && target.authority().is_none_or(|it| self.is_own(it.as_str()))
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        origin
            .strip_prefix(self.scheme)
            .and_then(|it| it.strip_prefix("://"))
            .is_some_and(|it| self.is_own(it))
    }

    fn is_user_token(&self, token: &str) -> bool {
        self.token.ct_eq(&Sha256::digest(token)).into()
    }
}

/// Parses a port without a sign.
fn parse_port(digits: &str) -> Option<u16> {
    let plain = digits.bytes().all(|it| it.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// Whether a host is an address in the form that URLs use.
fn is_address(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => host.parse::<Ipv4Addr>().is_ok(),
    }
}

/// Returns an address in the form that URLs use.
pub(super) fn url_host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Adds the headers of every answer: no caching, no content sniffing, no framing.
pub(super) async fn add_security_headers(mut answer: Response) -> Response {
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        answer.headers_mut().insert(name, value);
    }
    answer
}

/// Refuses requests under other names of this machine (a foreign page may have its name resolve to
/// 127.0.0.1), requests from pages of other origins, and bodies without a length, which two servers
/// in a row may parse as two requests.
pub(super) async fn require_own_origin(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let own_host = guard.is_own_target(request.uri())
        && single_header(headers, header::HOST).is_some_and(|host| guard.is_own(host));
    let own_origin = if headers.contains_key(header::ORIGIN) {
        single_header(headers, header::ORIGIN).is_some_and(|it| guard.is_own_origin(it))
    } else {
        true
    };
    if !own_host || !own_origin {
        return access_refusal(
            StatusCode::FORBIDDEN,
            "this server answers only its own pages",
            "Open the address that engram serve printed; --host NAME adds a name it answers to.",
        )
        .into_response();
    }
    if headers.contains_key(header::TRANSFER_ENCODING) {
        let refused = access_refusal(
            StatusCode::LENGTH_REQUIRED,
            "the request body has no length",
            "Send content-length instead of transfer-encoding.",
        );
        return ([(header::CONNECTION, "close")], refused).into_response();
    }
    next.run(request).await
}

/// Requires the token, as a bearer or in the address of the event stream, since a browser's event
/// source sends no headers.
pub(super) async fn require_user_token(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let token = match bearer_token(request.headers()) {
        None if request.uri().path().strip_prefix("/api/") == Some(Call::Subscribe.name()) => {
            token_in_query(request.uri())
        }
        bearer => bearer,
    };
    if !token.is_some_and(|token| guard.is_user_token(token)) {
        return access_refusal(
            StatusCode::UNAUTHORIZED,
            "the token is missing or not valid for this server",
            "Open the address that engram serve printed when it last started.",
        )
        .into_response();
    }
    match assign_place(request.extensions().get(), TokenHolder::User) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

/// Requires a token on the bus: the server's, which is the user's, or that of an opened agent.
/// Adds the caller to the request; for an agent, with its permit.
pub(super) async fn require_caller(
    State((guard, api)): State<(Arc<Guard>, Api)>,
    request: Request,
    next: Next,
) -> Response {
    let place = request.extensions().get::<Arc<ConnectionPlace>>();
    let proven_agent = match bearer_token(request.headers()) {
        Some(token) if guard.is_user_token(token) => {
            assign_place(place, TokenHolder::User).map(|()| None)
        }
        // Only well-formed tokens are looked up in the home.
        Some(token) if is_token(token) => admit_agent(token, place, &api)
            .await
            .map(|agent| Some((token.to_owned(), agent))),
        _ => Err(bad_token_refusal()),
    };
    let known = match proven_agent {
        Ok(None) => Ok((HttpCaller::User, request)),
        Ok(Some((token, agent))) => read_and_permit(token, &agent, request, &api).await,
        Err(refused) => Err(with_connection_close(refused.into_response())),
    };
    let (who, mut request) = match known {
        Ok(known) => known,
        Err(refused) => return refused,
    };
    request.extensions_mut().insert(who);
    let answer = next.run(request).await;
    match answer.status() {
        StatusCode::UNAUTHORIZED => with_connection_close(answer),
        _ => answer,
    }
}

/// Returns an agent with its permit, and its request with the whole body. A permit is for work: a
/// body that arrives slowly, or never, must not hold one.
async fn read_and_permit(
    token: String,
    agent: &ProvenAgent,
    request: Request,
    api: &Api,
) -> Result<(HttpCaller, Request), Response> {
    let (head, body) = request.into_parts();
    let body = api.read_body(body).await;
    let body = body.map_err(IntoResponse::into_response)?;
    let permit = api
        .permits
        .wait_for_permit(&agent.handle, &agent.root)
        .await;
    let permit = permit
        .map_err(|refusal| with_connection_close(RefusalResponse::from(refusal).into_response()))?;
    let request = Request::from_parts(head, body.into());
    Ok((HttpCaller::Agent { token, permit }, request))
}

/// Closes the connection of a stranger, or of a caller over its limit, so that it keeps no place.
fn with_connection_close(mut answer: Response) -> Response {
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(header::CONNECTION, close);
    answer
}

/// Returns the agent of a token, whose connection gets a place. If the token proved its agent on
/// this connection before, the lookup is left to the request itself, which saves a handover to
/// another thread.
async fn admit_agent(
    token: &str,
    place: Option<&Arc<ConnectionPlace>>,
    api: &Api,
) -> Result<ProvenAgent, RefusalResponse> {
    let digest = Sha256::digest(token).into();
    let agent = match place.and_then(|it| it.proven_agent(&digest)) {
        Some(agent) => agent,
        None => {
            let agent = look_up_agent(token.to_owned(), digest, Arc::clone(&api.engine)).await?;
            place.inspect(|it| it.remember_proven(agent.clone()));
            agent
        }
    };
    assign_place(place, TokenHolder::Agent(digest, agent.root.clone()))?;
    Ok(agent)
}

async fn look_up_agent(
    token: String,
    digest: Digest,
    engine: Arc<Engine>,
) -> Result<ProvenAgent, RefusalResponse> {
    let looked = tokio::task::spawn_blocking(move || {
        let handle = engine.agent_by_token(&token)?;
        let root = engine.root_of(&handle)?;
        Ok(ProvenAgent {
            digest,
            handle,
            root,
        })
    });
    looked
        .await
        .map_err(|_| bad_token_refusal())?
        .map_err(proof_refusal)
}

/// Explains why no caller was proved: the token is bad, or the home failed.
pub(super) fn proof_refusal(why: Refusal) -> RefusalResponse {
    match why.code {
        Code::ScopeDenied => bad_token_refusal(),
        _ => why.into(),
    }
}

fn bad_token_refusal() -> RefusalResponse {
    access_refusal(
        StatusCode::UNAUTHORIZED,
        "the token is missing, or is neither the server's nor an agent's",
        "Send Authorization: Bearer with a token that `engram agents open NAME` printed.",
    )
}

/// Gives the connection of a request a place among the known ones.
fn assign_place(
    place: Option<&Arc<ConnectionPlace>>,
    holder: TokenHolder,
) -> Result<(), RefusalResponse> {
    let is_kept = place.is_some_and(|it| it.assign_to(holder));
    is_kept.then_some(()).ok_or_else(|| {
        access_refusal(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many connections are open",
            "Close some, or try again in a moment.",
        )
    })
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    single_header(headers, header::AUTHORIZATION)?.strip_prefix("Bearer ")
}

fn token_in_query(uri: &Uri) -> Option<&str> {
    uri.query()?
        .split('&')
        .find_map(|pair| pair.strip_prefix("token="))
}

/// Returns the value of a header that occurs exactly once.
fn single_header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(one), None) => one.to_str().ok(),
        _ => None,
    }
}

fn access_refusal(status: StatusCode, message: &str, hint: &str) -> RefusalResponse {
    let code = match status {
        StatusCode::LENGTH_REQUIRED => Code::SchemaInvalid,
        StatusCode::SERVICE_UNAVAILABLE => Code::RateLimited,
        _ => Code::ScopeDenied,
    };
    let refusal = Refusal::new(code, message, hint);
    RefusalResponse { status, refusal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_at_our_own_port_are_ours() {
        for (at, hosts, own, strange) in [
            (
                "127.0.0.1:4000",
                &[][..],
                &[
                    "127.0.0.1:4000",
                    "localhost:4000",
                    "LOCALHOST:4000",
                    "[::1]:4000",
                ][..],
                &[
                    "127.0.0.1",
                    "127.0.0.1:80",
                    "10.0.0.1:4000",
                    "evil.example:4000",
                    "",
                    ":4000",
                    "localhost:4000x",
                    "localhost:+4000",
                    "me@localhost:4000",
                    "localhost.:4000",
                    "localhost:4000:4000",
                ][..],
            ),
            (
                "10.1.2.3:443",
                &["Memory.Example".to_owned()][..],
                &[
                    "10.1.2.3",
                    "10.1.2.3:443",
                    "memory.example",
                    "memory.example:443",
                ][..],
                &[
                    "10.1.2.4",
                    "localhost",
                    "example",
                    "evil.memory.example",
                    "memory.example:80",
                ][..],
            ),
            (
                "[::]:8443",
                &[][..],
                &["10.0.0.1:8443", "[fe80::1]:8443", "localhost:8443"][..],
                &[
                    "evil.example:8443",
                    "10.0.0.1:443",
                    "10.0.0.1",
                    "10.0.0.1.evil.example:8443",
                    "[[10.0.0.1]:8443",
                    "[10.0.0.1]:8443",
                    "fe80::1:8443",
                    "me@10.0.0.1:8443",
                ][..],
            ),
        ] {
            let guard = Guard::new(at.parse().unwrap(), true, hosts, "t");
            for name in own {
                assert!(guard.is_own(name), "{at}: {name}");
                assert!(guard.is_own_origin(&format!("https://{name}")), "{name}");
                assert!(!guard.is_own_origin(&format!("http://{name}")), "{name}");
            }
            for name in strange {
                assert!(!guard.is_own(name), "{at}: {name}");
                assert!(!guard.is_own_origin(&format!("https://{name}")), "{name}");
            }
            assert!(!guard.is_own_origin("null"));
        }
    }
}
