//! The dashboard's server: the engine's requests as JSON, the journal as server-sent events, and
//! the files of the window. On the loopback interface only, for who holds the token: the user.

mod files;
mod guard;
#[cfg(test)]
mod tests;

use std::{convert::Infallible, net::Ipv4Addr, path::PathBuf, sync::Arc};

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
use engram_model::{Caller, Code, Entry, Refusal, Reply, Request};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use tokio::{net::TcpListener, sync::mpsc};

use guard::Guard;

/// Longest request, in bytes.
const MAX_BODY: usize = 1024 * 1024;

/// Batches of entries that wait for a slow reader.
const QUEUE: usize = 16;

/// What to serve.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The port to listen on; any free one when 0.
    pub port: u16,
    /// The folder of the built window; without it, only the API is served.
    pub ui_dir: Option<PathBuf>,
}

/// A server that listens and does not yet answer.
pub struct HttpServer {
    /// The address to open, with the token in its fragment, which no browser sends.
    pub url: String,
    listener: TcpListener,
    router: Router,
}

impl HttpServer {
    /// Answers until the process ends.
    pub async fn run(self) -> Result<(), Refusal> {
        axum::serve(self.listener, self.router)
            .await
            .map_err(|error| {
                Refusal::new(
                    Code::Internal,
                    format!("the server stopped: {error}"),
                    "Start engram serve again.",
                )
            })
    }
}

/// Listens on 127.0.0.1 with a fresh token.
pub async fn http(engine: Arc<Engine>, options: HttpOptions) -> Result<HttpServer, Refusal> {
    let unavailable = |error: std::io::Error| {
        Refusal::new(
            Code::Internal,
            format!("port {} cannot be had: {error}", options.port),
            "Choose another port, or 0 for any free one.",
        )
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
        .await
        .map_err(unavailable)?;
    let port = listener.local_addr().map_err(unavailable)?.port();
    let token = token();
    let guard = Arc::new(Guard::new(port, &token));
    let api = Router::new()
        .route("/api/read", post(read))
        .route("/api/change", post(change))
        .route("/api/events", get(events))
        .route("/api/{*rest}", any(nothing_here))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&guard),
            guard::token,
        ))
        .with_state(engine);
    let router = Router::new()
        .fallback(files::serve)
        .with_state(options.ui_dir)
        .merge(api)
        .layer(middleware::from_fn_with_state(guard, guard::origin));
    Ok(HttpServer {
        url: format!("http://127.0.0.1:{port}/#token={token}"),
        listener,
        router,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a secret must not follow from a seed"
)]
fn token() -> String {
    hex::encode(rand::random::<[u8; 32]>())
}

/// A refusal as a response.
struct Refused(Refusal);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (status(self.0.code), Json(json!({ "error": self.0 }))).into_response()
    }
}

fn status(code: Code) -> StatusCode {
    match code {
        Code::NotFound | Code::PointerNotFound => StatusCode::NOT_FOUND,
        Code::DerefDenied | Code::BudgetExceeded | Code::ScopeDenied => StatusCode::FORBIDDEN,
        Code::Expired => StatusCode::GONE,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::RepoUnavailable | Code::StoreLocked => StatusCode::SERVICE_UNAVAILABLE,
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
        "Use POST /api/read, POST /api/change or GET /api/events.",
    ))
}

async fn read(
    State(engine): State<Arc<Engine>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Reply>, Refused> {
    let request = parse(&headers, body)?;
    match request.changes() {
        false => answer(engine, request).await,
        true => Err(invalid(
            "this request changes something",
            "Send it to /api/change.",
        )),
    }
}

async fn change(
    State(engine): State<Arc<Engine>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Reply>, Refused> {
    let request = parse(&headers, body)?;
    match request.changes() {
        true => answer(engine, request).await,
        false => Err(invalid(
            "this request changes nothing",
            "Send it to /api/read.",
        )),
    }
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
