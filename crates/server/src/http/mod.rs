//! The dashboard's server. The user, who holds the token, gets the engine's requests as JSON, the
//! journal as server-sent events, and the files of the window. Agents, with tokens of their own,
//! get the bus (docs/design.md#the-bus-and-its-tools). Beyond the loopback interface everything is
//! encrypted.

mod bus;
mod connection_places;
mod connections;
mod files;
mod guard;
#[cfg(test)]
mod tests;
mod tls;
mod token;

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Json, Router,
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::{Query, Request as Asked, State},
    http::{HeaderMap, StatusCode, header},
    middleware,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::{any, get, post},
};
use engram_engine::{Engine, Subscription};
use engram_model::{Call, Code, ConnectHint, Entry, Refusal, Reply, Request};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use tokio::{
    net::TcpListener,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use connection_places::ConnectionPlaces;
use connections::Bounds;
pub use files::Pages;
use guard::{Guard, proof_refusal};
pub use tls::Certificate;

use crate::{http_caller::HttpCaller, permits::RequestPermits};

/// The longest body of a request, in bytes.
const MAX_BODY: usize = 1024 * 1024;

/// How many batches of entries wait for a slow reader. One batch may hold 500 claims.
const QUEUE: usize = 1;

/// What to serve, and where.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address to listen on; port 0 picks any free port.
    pub listen: SocketAddr,
    /// Host names that the server answers to, besides its address.
    pub hosts: Vec<String>,
    /// The certificate to encrypt with; required except on the loopback interface.
    pub certificate: Option<Certificate>,
    /// The file that keeps the token from one start to the next.
    pub token_file: Option<PathBuf>,
    /// The built window.
    pub pages: Pages,
    /// The command lines that connect an agent to this home.
    pub connect: Vec<ConnectHint>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            hosts: Vec::new(),
            certificate: None,
            token_file: None,
            pages: Pages::None,
            connect: Vec::new(),
        }
    }
}

/// A server that listens but does not answer yet.
pub struct HttpServer {
    /// The address to open, with the token in its fragment, which browsers do not send.
    pub url: String,
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    guard: Arc<Guard>,
    places: Arc<ConnectionPlaces>,
    api: Api,
    pages: Pages,
    connect: Vec<ConnectHint>,
}

impl HttpServer {
    /// Answers until the process ends.
    pub async fn run(self) -> Infallible {
        let router = router(self.api, self.pages, self.connect, self.guard);
        connections::serve(self.listener, self.acceptor, router, self.places).await
    }
}

/// Starts to listen, with a token.
pub async fn listen_http(engine: Arc<Engine>, options: HttpOptions) -> Result<HttpServer, Refusal> {
    listen_with_bounds(Bounds::default(), engine, options).await
}

async fn listen_with_bounds(
    bounds: Bounds,
    engine: Arc<Engine>,
    options: HttpOptions,
) -> Result<HttpServer, Refusal> {
    let at = options.listen;
    if !at.ip().is_loopback() && options.certificate.is_none() {
        return Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "other machines can reach {}, and nothing would be encrypted",
                at.ip()
            ),
            "Pass --tls-cert FILE and --tls-key FILE, or listen on 127.0.0.1 and connect through ssh -L.",
        ));
    }
    let unavailable = |error: std::io::Error| {
        Refusal::new(
            Code::Internal,
            format!("cannot listen on {at}: {error}"),
            "Choose another address or port; port 0 picks a free one.",
        )
    };
    let acceptor = options.certificate.as_ref();
    let acceptor = acceptor.map(Certificate::read).transpose()?;
    let token = token::load_or_create_token(options.token_file.as_deref())?;
    let listener = TcpListener::bind(at).await.map_err(unavailable)?;
    let at = listener.local_addr().map_err(unavailable)?;
    let guard = Guard::new(at, acceptor.is_some(), &options.hosts, &token);
    Ok(HttpServer {
        url: page_url(at, acceptor.is_some(), options.hosts.first(), &token),
        listener,
        acceptor,
        guard: Arc::new(guard),
        places: ConnectionPlaces::new(bounds),
        api: Api::new(bounds, engine),
        pages: options.pages,
        connect: options.connect,
    })
}

fn page_url(at: SocketAddr, is_tls: bool, host: Option<&String>, token: &str) -> String {
    let scheme = if is_tls { "https" } else { "http" };
    let host = match host {
        Some(host) => host.clone(),
        None if at.ip().is_unspecified() => "localhost".to_owned(),
        None => guard::url_host(at.ip()),
    };
    format!("{scheme}://{host}:{}/#token={token}", at.port())
}

/// The state that answers the page's calls.
#[derive(Clone)]
struct Api {
    engine: Arc<Engine>,
    bounds: Bounds,
    requests: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    permits: Arc<RequestPermits>,
}

impl Api {
    fn new(bounds: Bounds, engine: Arc<Engine>) -> Self {
        Self {
            engine,
            bounds,
            requests: Arc::new(Semaphore::new(bounds.requests)),
            streams: Arc::new(Semaphore::new(bounds.streams)),
            permits: Arc::new(RequestPermits::new(
                bounds.of_agents,
                bounds.of_tree,
                bounds.permit_wait,
            )),
        }
    }
}

fn router(api: Api, pages: Pages, connect: Vec<ConnectHint>, guard: Arc<Guard>) -> Router {
    let mut calls = Router::new();
    for call in Call::ALL.iter().filter(|it| it.is_over_http()) {
        let answers = match call {
            Call::Read => post(answer_read),
            Call::Change => post(answer_change),
            Call::Subscribe => get(stream_entries),
            Call::ConnectHint => {
                let connect = connect.clone();
                post(|| async { Json(connect) })
            }
            _ => any(no_such_call),
        };
        calls = calls.route(&format!("/api/{}", call.name()), answers);
    }
    let calls = calls
        .route("/api/{*rest}", any(no_such_call))
        .method_not_allowed_fallback(async || method_not_allowed(CALLS))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&guard),
            guard::require_user_token,
        ))
        .with_state(api.clone());
    let bus = bus::routes(api, Arc::clone(&guard));
    Router::new()
        .fallback(files::serve)
        .with_state(pages)
        .merge(calls)
        .merge(bus)
        .layer(middleware::from_fn_with_state(
            guard,
            guard::require_own_origin,
        ))
        .layer(middleware::map_response(guard::add_security_headers))
}

/// A refusal as a response.
struct RefusalResponse {
    status: StatusCode,
    refusal: Refusal,
}

impl From<Refusal> for RefusalResponse {
    fn from(refusal: Refusal) -> Self {
        let status = http_status(refusal.code);
        Self { status, refusal }
    }
}

impl IntoResponse for RefusalResponse {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.refusal }))).into_response()
    }
}

/// Returns the HTTP status of a refusal. Input of the wrong shape is a bad request (400); input of
/// the right shape that is refused for its content is forbidden (403), such as a claim that is too
/// long or a pointer that cannot be parsed.
fn http_status(code: Code) -> StatusCode {
    match code {
        Code::NotFound | Code::PointerNotFound => StatusCode::NOT_FOUND,
        Code::DerefDenied
        | Code::BudgetExceeded
        | Code::ScopeDenied
        | Code::Unanchored
        | Code::PointerInvalid
        | Code::PointerUnpinned
        | Code::ClaimTooLong
        | Code::SecretDetected
        | Code::Echo => StatusCode::FORBIDDEN,
        Code::Expired => StatusCode::GONE,
        Code::AlreadySettled => StatusCode::CONFLICT,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::RepoUnavailable | Code::StoreLocked | Code::StoreGone => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Code::StoreFull => StatusCode::INSUFFICIENT_STORAGE,
        Code::StoreReadOnly | Code::StoreCorrupt | Code::StoreNewer | Code::Internal => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        Code::SchemaInvalid | Code::ModelInvalid => StatusCode::BAD_REQUEST,
    }
}

fn schema_invalid(message: impl Into<String>, hint: &str) -> RefusalResponse {
    RefusalResponse::from(Refusal::new(Code::SchemaInvalid, message, hint))
}

/// Where the window's calls are.
const CALLS: &str = "Use POST /api/read, POST /api/change or GET /api/subscribe.";

fn method_not_allowed(hint: &str) -> RefusalResponse {
    let refusal = Refusal::new(
        Code::NotFound,
        "this address does not accept this method",
        hint,
    );
    let status = StatusCode::METHOD_NOT_ALLOWED;
    RefusalResponse { status, refusal }
}

async fn no_such_call() -> RefusalResponse {
    RefusalResponse::from(Refusal::new(
        Code::NotFound,
        "there is nothing at this address",
        CALLS,
    ))
}

async fn answer_read(State(api): State<Api>, asked: Asked) -> Result<Json<Reply>, RefusalResponse> {
    api.answer_call(Call::Read, asked).await
}

async fn answer_change(
    State(api): State<Api>,
    asked: Asked,
) -> Result<Json<Reply>, RefusalResponse> {
    api.answer_call(Call::Change, asked).await
}

impl Api {
    async fn answer_call(self, call: Call, asked: Asked) -> Result<Json<Reply>, RefusalResponse> {
        let request = self.parse(asked).await?;
        request.refuse_wrong_call(call)?;
        self.answer(HttpCaller::User, request).await
    }

    async fn parse(&self, asked: Asked) -> Result<Request, RefusalResponse> {
        let json = asked
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|it| it.to_str().ok())
            .is_some_and(|it| it.split(';').next() == Some("application/json"));
        if !json {
            return Err(schema_invalid(
                "the content type is not JSON",
                "Send content-type: application/json.",
            ));
        }
        let body = self.read_body(asked.into_body()).await?;
        serde_json::from_slice(&body).map_err(|error| {
            schema_invalid(
                format!("the request is not valid: {error}"),
                "Send {\"do\": .., \"with\": ..}, for example {\"do\":\"status\"}.",
            )
        })
    }

    /// Reads a body, which must be short enough and arrive in time.
    async fn read_body(&self, body: Body) -> Result<Bytes, RefusalResponse> {
        if body.size_hint().lower() > MAX_BODY as u64 {
            return Err(schema_invalid(
                "the body is too long",
                "Send at most 1 MiB of JSON.",
            ));
        }
        match timeout(self.bounds.body, to_bytes(body, MAX_BODY)).await {
            Ok(Ok(body)) => Ok(body),
            Ok(Err(error)) => Err(schema_invalid(
                format!("cannot read the body: {error}"),
                "Send exactly as many bytes as content-length says.",
            )),
            Err(_) => Err(schema_invalid(
                "the body arrived too slowly",
                "Send it without pauses.",
            )),
        }
    }

    /// Waits for a permit, then sends the request to the engine. If the client leaves, a request
    /// that still waits never begins, and the lookups of one that has begun stop.
    async fn answer(
        self,
        who: HttpCaller,
        request: Request,
    ) -> Result<Json<Reply>, RefusalResponse> {
        let failed = |error: &dyn std::error::Error| {
            RefusalResponse::from(Refusal::new(
                Code::Internal,
                format!("the request failed: {error}"),
                "Try again; if it fails again, please report it.",
            ))
        };
        let permit = self.requests.acquire_owned().await;
        let permit = permit.map_err(|error| failed(&error))?;
        let gone = Arc::new(AtomicBool::new(false));
        let _going = GoneSignal(Arc::clone(&gone));
        let answered = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let is_gone = move || gone.load(Ordering::Relaxed);
            let caller = who.prove(&self.engine).map_err(proof_refusal)?;
            let answered = self.engine.handle_until(&caller, request, is_gone);
            answered.map(Json).map_err(RefusalResponse::from)
        });
        answered.await.map_err(|error| failed(&error))?
    }
}

/// Signals on drop that nobody waits for the answer any more.
struct GoneSignal(Arc<AtomicBool>);

impl Drop for GoneSignal {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SubscribeQuery {
    after: Option<u64>,
    /// The token, which the guard has already read: an event source cannot send it in a header.
    #[serde(rename = "token")]
    _token: Option<String>,
}

/// The receiver is dropped first, which frees a subscription that is blocked on sending.
struct EntryStream {
    batches: mpsc::Receiver<Vec<Entry>>,
    _subscription: Subscription,
    _place: OwnedSemaphorePermit,
}

/// Streams every entry after a position in the journal, in batches. The id of an event is its last
/// position, so that a browser that reconnects continues from there. The subscription waits for a
/// slow reader; the connection of a reader that takes nothing is closed.
async fn stream_entries(
    State(api): State<Api>,
    headers: HeaderMap,
    since: Result<Query<SubscribeQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, RefusalResponse> {
    let Query(since) = since.map_err(|_| {
        schema_invalid(
            "the query is not a position in the journal",
            "Send ?after=0, and no other parameter.",
        )
    })?;
    let last = headers
        .get("last-event-id")
        .and_then(|it| it.to_str().ok()?.parse().ok());
    let after = last.or(since.after).unwrap_or_default();
    let place = api.streams.try_acquire_owned().map_err(|_| {
        RefusalResponse::from(Refusal::new(
            Code::RateLimited,
            format!("{} pages already follow the journal", api.bounds.streams),
            "Close one, then reload this page.",
        ))
    })?;
    let (sender, batches) = mpsc::channel(QUEUE);
    let subscription = api.engine.subscribe(after, move |entries| {
        // The reader is gone; the subscription is about to be dropped.
        let _ = sender.blocking_send(entries);
    })?;
    let live = EntryStream {
        batches,
        _subscription: subscription,
        _place: place,
    };
    let stream = stream::unfold(live, |mut live| async {
        let batch = live.batches.recv().await?;
        let event = Event::default().id(batch.last()?.seq.to_string());
        let event = event.json_data(&batch).ok()?;
        Some((Ok::<_, Infallible>(event), live))
    });
    let sse = Sse::new(stream).keep_alive(KeepAlive::default());
    Ok(([("x-accel-buffering", "no")], sse).into_response())
}
