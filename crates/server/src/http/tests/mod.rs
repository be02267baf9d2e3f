//! Tests the server over real sockets, as browsers, programs and strangers call it.

use std::{
    any::Any,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use engram_engine::{Engine, Options};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    sync::Semaphore,
    task::yield_now,
    time::timeout,
};

use super::{
    Bounds, ConnectionPlaces, HttpOptions, HttpServer, Pages, RequestPermits, listen_http,
    listen_with_bounds,
};

mod bounds;
mod bus;
mod bus_criteria;
mod bus_described;
mod bus_hooks;
mod bus_mcp;
mod bus_strangers;
mod bus_team;
mod calls;
mod conflicts;
mod crowds;
mod events;
mod hostile;
mod pages;
mod strangers;
mod tls;
mod token;

const PAGE: &str = "<!doctype html><title>Engram</title>";

const BUILT: &[(&str, &[u8])] = &[("index.html", PAGE.as_bytes())];

/// A running server with a small window, and its folder.
struct Served {
    host: String,
    token: String,
    places: Arc<ConnectionPlaces>,
    requests: Arc<Semaphore>,
    permits: Arc<RequestPermits>,
    _kept: Box<dyn Any>,
}

impl Served {
    async fn new() -> Self {
        Self::within(Bounds::default()).await
    }

    async fn within(bounds: Bounds) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ui = folder.path().join("ui");
        std::fs::create_dir(&ui).unwrap();
        std::fs::write(ui.join("index.html"), PAGE).unwrap();
        std::fs::write(ui.join("ui.wasm"), b"\0asm").unwrap();
        std::fs::write(folder.path().join("secret"), "not yours").unwrap();
        Self::over(engine(folder.path()), Pages::Folder(ui), bounds, folder).await
    }

    /// Serves this engine; `kept` lives as long as the server.
    async fn over(engine: Engine, pages: Pages, bounds: Bounds, kept: impl Any) -> Self {
        let options = HttpOptions {
            pages,
            ..HttpOptions::default()
        };
        let server = listen_with_bounds(bounds, Arc::new(engine), options)
            .await
            .unwrap();
        Self::run(server, kept)
    }

    fn run(server: HttpServer, kept: impl Any) -> Self {
        let (address, token) = server.url.split_once("/#token=").unwrap();
        let served = Self {
            host: address.split_once("://").unwrap().1.to_owned(),
            token: token.to_owned(),
            places: Arc::clone(&server.places),
            requests: Arc::clone(&server.api.requests),
            permits: Arc::clone(&server.api.permits),
            _kept: Box::new(kept),
        };
        tokio::spawn(server.run());
        served
    }

    /// Opens a connection and sends this text, with the server's own values for HOST and TOKEN.
    async fn say(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).await.unwrap();
        let text = text
            .replace("HOST", &self.host)
            .replace("TOKEN", &self.token);
        // The server may have answered before it read everything.
        let _ = stream.write_all(text.as_bytes()).await;
        stream
    }

    async fn connect(&self, head: &str, body: &[u8]) -> BufReader<TcpStream> {
        let length = body.len();
        let head = format!("{head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        let mut stream = self.say(&head).await;
        let _ = stream.write_all(body).await;
        BufReader::new(stream)
    }

    /// Returns the status, the head and the body of the answer.
    async fn ask(&self, head: &str, body: &[u8]) -> (u16, String, String) {
        answer(&mut self.connect(head, body).await).await
    }

    /// Sends a request as the window does.
    async fn post(&self, path: &str, request: Value) -> (u16, Value) {
        let head = format!("POST {path} HTTP/1.1\r\n{OWN}\r\n{JSON}");
        let (status, _, body) = self.ask(&head, request.to_string().as_bytes()).await;
        (status, serde_json::from_str(&body).unwrap())
    }

    /// Waits until exactly `count` connections are open.
    async fn until_open(&self, count: usize) {
        until("other connections are open", || {
            self.places.count() == count
        })
        .await;
    }
}

/// Waits until something holds; fails with this message after a minute.
async fn until(not_so: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), waiting)
        .await
        .unwrap_or_else(|_| panic!("{not_so}"));
}

/// Reads everything until the connection ends, and returns the status, the head and the body.
async fn answer(stream: &mut (impl AsyncReadExt + Unpin)) -> (u16, String, String) {
    let mut text = Vec::new();
    // Bytes that the server left unread reset the connection, after its answer.
    let _ = stream.read_to_end(&mut text).await;
    let text = String::from_utf8_lossy(&text).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    (
        status.unwrap_or_default(),
        head.to_lowercase(),
        body.to_owned(),
    )
}

fn engine(folder: &Path) -> Engine {
    Engine::open(Options {
        home: folder.join("home"),
        repo: None,
        from: folder.to_owned(),
    })
    .unwrap()
}

const OWN: &str = "host: HOST\r\norigin: http://HOST\r\nauthorization: Bearer TOKEN";
const JSON: &str = "content-type: application/json";

fn note(text: &str) -> Value {
    json!({ "do": "note", "with": { "kind": "note", "slug": "hello", "text": text } })
}
