//! The dashboard's server: the engine's requests as JSON, the journal as server-sent events, and
//! the files of the window, for who holds the token: the user. Off the loopback only encrypted.

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
    sync::Arc,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Query, State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode, header},
    middleware,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::{any, get, post},
};
use engram_engine::{Engine, Subscription};
use engram_model::{Call, Caller, Code, ConnectHint, Entry, Refusal, Reply, Request};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use tokio::{net::TcpListener, sync::mpsc};
use tokio_rustls::TlsAcceptor;

pub use files::Pages;
use guard::Guard;
pub use tls::Certificate;

/// Longest request, in bytes.
const MAX_BODY: usize = 1024 * 1024;

/// Batches of entries that wait for a slow reader.
const QUEUE: usize = 16;

/// What to serve, and where.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where to listen; on any free port when that is 0.
    pub listen: SocketAddr,
    /// Names by which others reach it, beside its address.
    pub hosts: Vec<String>,
    /// What to encrypt with; demanded anywhere but on the loopback.
    pub certificate: Option<Certificate>,
    /// Keeps the token from one start to the next.
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

/// A server that listens and does not yet answer.
pub struct HttpServer {
    /// The address to open, with the token in its fragment, which no browser sends.
    pub url: String,
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    router: Router,
}

impl HttpServer {
    /// Answers until the process ends.
    pub async fn run(self) -> Result<(), Refusal> {
        let served = match self.acceptor {
            None => axum::serve(self.listener, self.router).await,
            Some(acceptor) => match tls::Encrypted::new(self.listener, acceptor) {
                Ok(listener) => axum::serve(listener, self.router).await,
                Err(error) => Err(error),
            },
        };
        served.map_err(|error| {
            Refusal::new(
                Code::Internal,
                format!("the server stopped: {error}"),
                "Start engram serve again.",
            )
        })
    }
}

/// Listens, with a token.
pub async fn http(engine: Arc<Engine>, options: HttpOptions) -> Result<HttpServer, Refusal> {
    let at = options.listen;
    if !at.ip().is_loopback() && options.certificate.is_none() {
        return Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "{} can be reached from other machines, and nothing would be encrypted",
                at.ip()
            ),
            "Give --tls-cert FILE and --tls-key FILE; or listen on 127.0.0.1 and reach it through ssh -L.",
        ));
    }
    let unavailable = |error: std::io::Error| {
        Refusal::new(
            Code::Internal,
            format!("{at} cannot be listened on: {error}"),
            "Choose another address or port; port 0 is any free one.",
        )
    };
    let acceptor = options.certificate.as_ref();
    let acceptor = acceptor.map(Certificate::read).transpose()?;
    let token = token::token(options.token_file.as_deref())?;
    let listener = TcpListener::bind(at).await.map_err(unavailable)?;
    let at = listener.local_addr().map_err(unavailable)?;
    let guard = Guard::new(at, acceptor.is_some(), &options.hosts, &token);
    Ok(HttpServer {
        url: url(at, acceptor.is_some(), options.hosts.first(), &token),
        listener,
        acceptor,
        router: router(engine, options.pages, options.connect, Arc::new(guard)),
    })
}

fn url(at: SocketAddr, is_tls: bool, host: Option<&String>, token: &str) -> String {
    let scheme = if is_tls { "https" } else { "http" };
    let host = match host {
        Some(host) => host.clone(),
        None if at.ip().is_unspecified() => "localhost".to_owned(),
        None => guard::literal(at.ip()),
    };
    format!("{scheme}://{host}:{}/#token={token}", at.port())
}

fn router(
    engine: Arc<Engine>,
    pages: Pages,
    connect: Vec<ConnectHint>,
    guard: Arc<Guard>,
) -> Router {
    let mut api = Router::new();
    for call in Call::ALL.iter().filter(|it| it.is_over_http()) {
        let answers = match call {
            Call::Read => post(read),
            Call::Change => post(change),
            Call::Subscribe => get(events),
            Call::ConnectHint => {
                let connect = connect.clone();
                post(|| async { Json(connect) })
            }
            _ => any(nothing_here),
        };
        api = api.route(&format!("/api/{}", call.name()), answers);
    }
    let api = api
        .route("/api/{*rest}", any(nothing_here))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&guard),
            guard::token,
        ))
        .with_state(engine);
    Router::new()
        .fallback(files::serve)
        .with_state(pages)
        .merge(api)
        .layer(middleware::from_fn_with_state(guard, guard::origin))
}

/// A refusal as a response.
struct Refused(Refusal);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let headers = [(header::CACHE_CONTROL, "no-store")];
        (
            status(self.0.code),
            headers,
            Json(json!({ "error": self.0 })),
        )
            .into_response()
    }
}

fn status(code: Code) -> StatusCode {
    match code {
        Code::NotFound | Code::PointerNotFound => StatusCode::NOT_FOUND,
        Code::DerefDenied | Code::BudgetExceeded | Code::ScopeDenied => StatusCode::FORBIDDEN,
        Code::Expired => StatusCode::GONE,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::RepoUnavailable | Code::StoreLocked | Code::StoreGone => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Code::StoreFull => StatusCode::INSUFFICIENT_STORAGE,
        Code::StoreReadOnly | Code::StoreCorrupt | Code::StoreNewer | Code::Internal => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        _ => StatusCode::BAD_REQUEST,
    }
}

fn invalid(message: impl Into<String>, hint: &str) -> Refused {
    Refused(Refusal::new(Code::SchemaInvalid, message, hint))
}

async fn nothing_here() -> Refused {
    Refused(Refusal::new(
        Code::NotFound,
        "there is nothing at this address",
        "Use POST /api/read, POST /api/change or GET /api/subscribe.",
    ))
}

async fn read(
    State(engine): State<Arc<Engine>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Reply>, Refused> {
    take(Call::Read, engine, &headers, body).await
}

async fn change(
    State(engine): State<Arc<Engine>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Reply>, Refused> {
    take(Call::Change, engine, &headers, body).await
}

async fn take(
    call: Call,
    engine: Arc<Engine>,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Reply>, Refused> {
    let request = parse(headers, body)?;
    request.sent_by(call).map_err(Refused)?;
    answer(engine, request).await
}

fn parse(headers: &HeaderMap, body: Result<Bytes, BytesRejection>) -> Result<Request, Refused> {
    let json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|it| it.to_str().ok())
        .is_some_and(|it| it.split(';').next() == Some("application/json"));
    if !json {
        return Err(invalid(
            "the body is not declared as JSON",
            "Send content-type: application/json.",
        ));
    }
    let body = body.map_err(|error| {
        invalid(
            format!("the body cannot be read: {error}"),
            "Send at most 1 MiB of JSON.",
        )
    })?;
    serde_json::from_slice(&body).map_err(|error| {
        invalid(
            format!("not a request: {error}"),
            "Send {\"do\": .., \"with\": ..}, for example {\"do\":\"status\"}.",
        )
    })
}

async fn answer(engine: Arc<Engine>, request: Request) -> Result<Json<Reply>, Refused> {
    tokio::task::spawn_blocking(move || engine.handle(&Caller::User, request))
        .await
        .unwrap_or_else(|error| {
            Err(Refusal::new(
                Code::Internal,
                format!("the request failed: {error}"),
                "Try again, and report this as a defect.",
            ))
        })
        .map(Json)
        .map_err(Refused)
}

#[derive(Deserialize)]
struct Since {
    after: Option<u64>,
}

/// The receiver goes first, so that a subscription that waits to send is set free.
struct Live {
    batches: mpsc::Receiver<Vec<Entry>>,
    _subscription: Subscription,
}

/// Every entry after a place in the journal, in batches; the id of an event is its last place, so
/// that a browser that connects again goes on from there.
async fn events(
    State(engine): State<Arc<Engine>>,
    headers: HeaderMap,
    since: Result<Query<Since>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Refused> {
    let Query(since) =
        since.map_err(|_| invalid("after is not a place in the journal", "Send ?after=0."))?;
    let last = headers
        .get("last-event-id")
        .and_then(|it| it.to_str().ok()?.parse().ok());
    let after = last.or(since.after).unwrap_or_default();
    let (sender, batches) = mpsc::channel(QUEUE);
    let subscription = engine
        .subscribe(after, move |entries| {
            // Nobody reads any more; the subscription is about to be dropped.
            let _ = sender.blocking_send(entries);
        })
        .map_err(Refused)?;
    let live = Live {
        batches,
        _subscription: subscription,
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
