//! The server over real sockets, as browsers, programs and strangers would call it.

use std::{path::Path, sync::Arc};

use engram_engine::{Engine, Options};
use engram_model::Entry;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use super::{HttpOptions, http};

const PAGE: &str = "<!doctype html><title>Engram</title>";

/// A running server with a small window, and the folder that it lives in.
struct Served {
    host: String,
    token: String,
    _folder: tempfile::TempDir,
}

impl Served {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ui = folder.path().join("ui");
        std::fs::create_dir(&ui).unwrap();
        std::fs::write(ui.join("index.html"), PAGE).unwrap();
        std::fs::write(ui.join("ui.wasm"), b"\0asm").unwrap();
        std::fs::write(folder.path().join("secret"), "not yours").unwrap();
        let engine = Arc::new(engine(folder.path()));
        let options = HttpOptions {
            port: 0,
            ui_dir: Some(ui),
        };
        let server = http(engine, options).await.unwrap();
        let (address, token) = server.url.split_once("/#token=").unwrap();
        let served = Self {
            host: address.strip_prefix("http://").unwrap().to_owned(),
            token: token.to_owned(),
            _folder: folder,
        };
        tokio::spawn(server.run());
        served
    }

    async fn connect(&self, head: &str, body: &[u8]) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.host).await.unwrap();
        let head = head
            .replace("HOST", &self.host)
            .replace("TOKEN", &self.token);
        let head = format!(
            "{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        BufReader::new(stream)
    }

    /// The status line's number, the head, and the body.
    async fn ask(&self, head: &str, body: &[u8]) -> (u16, String, String) {
        let mut text = Vec::new();
        let mut stream = self.connect(head, body).await;
        stream.read_to_end(&mut text).await.unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), body.to_owned())
    }

    /// A request as the window sends it.
    async fn post(&self, path: &str, request: Value) -> (u16, Value) {
        let head = format!("POST {path} HTTP/1.1\r\n{OWN}\r\n{JSON}");
        let (status, _, body) = self.ask(&head, request.to_string().as_bytes()).await;
        (status, serde_json::from_str(&body).unwrap())
    }
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

#[tokio::test]
async fn the_window_reads_and_changes() {
    let served = Served::new().await;
    let (status, reply) = served.post("/api/read", json!({ "do": "status" })).await;
    assert_eq!((status, &reply["is"]), (200, &json!("status")), "{reply}");
    let (status, reply) = served.post("/api/change", note("Hello.")).await;
    assert_eq!((status, &reply["is"]), (200, &json!("note")), "{reply}");
    let pointer = reply["with"]["pointer"].clone();
    let deref = json!({ "do": "deref", "with": { "pointer": pointer } });
    let (status, reply) = served.post("/api/change", deref).await;
    assert_eq!(status, 200, "{reply}");
    assert_eq!(reply["with"]["excerpt"], "Hello.");
    assert!(
        reply["with"].get("budget").is_none(),
        "the user is not metered"
    );
}

#[tokio::test]
async fn refusals_have_a_fitting_status() {
    let served = Served::new().await;
    let missing = json!({ "do": "get", "with": "01M7XR6QC30000000000000000" });
    for (path, request, status, code) in [
        ("/api/read", missing, 404, "NOT_FOUND"),
        (
            "/api/read",
            json!({ "do": "explode" }),
            400,
            "SCHEMA_INVALID",
        ),
        ("/api/read", note("x"), 400, "SCHEMA_INVALID"),
        (
            "/api/change",
            json!({ "do": "status" }),
            400,
            "SCHEMA_INVALID",
        ),
        ("/api/change", json!([1]), 400, "SCHEMA_INVALID"),
        (
            "/api/change",
            json!("x".repeat(2 << 20)),
            400,
            "SCHEMA_INVALID",
        ),
        ("/api/explode", json!({}), 404, "NOT_FOUND"),
    ] {
        let (got, reply) = served.post(path, request).await;
        assert_eq!(
            (got, &reply["error"]["code"]),
            (status, &json!(code)),
            "{path}: {reply}"
        );
        assert!(reply["error"]["hint"].is_string(), "{reply}");
    }
}

#[tokio::test]
async fn strangers_are_turned_away() {
    let served = Served::new().await;
    let own = "host: HOST\r\nauthorization: Bearer TOKEN";
    for (head, status) in [
        (format!("POST /api/read HTTP/1.1\r\n{OWN}\r\n{JSON}"), 200),
        (format!("POST /api/read HTTP/1.1\r\n{own}\r\n{JSON}"), 200),
        (
            format!("POST /api/read HTTP/1.1\r\nhost: HOST\r\n{JSON}"),
            401,
        ),
        (
            format!("POST /api/read HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer x\r\n{JSON}"),
            401,
        ),
        (
            format!("POST /api/read HTTP/1.1\r\nhost: HOST\r\nauthorization: TOKEN\r\n{JSON}"),
            401,
        ),
        (
            format!("POST /api/read?token=TOKEN HTTP/1.1\r\nhost: HOST\r\n{JSON}"),
            401,
        ),
        (
            format!("GET /api/events?token=x HTTP/1.1\r\nhost: HOST\r\n{JSON}"),
            401,
        ),
        (
            format!("GET /api/nothing HTTP/1.1\r\nhost: HOST\r\n{JSON}"),
            401,
        ),
        (
            format!("POST /api/read HTTP/1.1\r\n{own}\r\norigin: http://evil.example\r\n{JSON}"),
            403,
        ),
        (
            format!("POST /api/read HTTP/1.1\r\n{own}\r\norigin: null\r\n{JSON}"),
            403,
        ),
        (
            format!(
                "POST /api/read HTTP/1.1\r\nhost: evil.example\r\nauthorization: Bearer TOKEN\r\n{JSON}"
            ),
            403,
        ),
        ("GET / HTTP/1.1\r\nhost: evil.example".to_owned(), 403),
        (
            format!("POST /api/read HTTP/1.1\r\n{OWN}\r\ncontent-type: text/plain"),
            400,
        ),
    ] {
        let (got, _, body) = served.ask(&head, br#"{"do":"status"}"#).await;
        assert_eq!(got, status, "{head}: {body}");
    }
}

#[tokio::test]
async fn the_page_is_served_and_nothing_beside_it() {
    let served = Served::new().await;
    for (path, status, kind) in [
        ("/", 200, "text/html"),
        ("/index.html", 200, "text/html"),
        ("/ui.wasm", 200, "application/wasm"),
        ("/secret", 404, ""),
        ("/../secret", 404, ""),
        ("/%2e%2e/secret", 404, ""),
        ("//etc/passwd", 404, ""),
        ("/./../secret", 404, ""),
    ] {
        let head = format!("GET {path} HTTP/1.1\r\nhost: HOST");
        let (got, head, body) = served.ask(&head, b"").await;
        assert_eq!(got, status, "{path}: {body}");
        assert!(head.contains(kind), "{path}: {head}");
        if status == 200 {
            assert!(
                head.contains("content-security-policy: default-src 'none'"),
                "{head}"
            );
        }
        assert!(!body.contains("not yours"), "{path}");
    }
}

#[tokio::test]
async fn entries_arrive_as_they_are_written_and_after_a_place() {
    let served = Served::new().await;
    served.post("/api/change", note("One.")).await;
    let mut live = served
        .connect(
            "GET /api/events?after=0&token=TOKEN HTTP/1.1\r\nhost: HOST",
            b"",
        )
        .await;
    let (first, _) = event(&mut live).await;
    served.post("/api/change", note("Two.")).await;
    let (second, entries) = event(&mut live).await;
    assert!(second > first);
    assert_eq!(entries.len(), 1);
    drop(live);

    let head =
        format!("GET /api/events?token=TOKEN HTTP/1.1\r\nhost: HOST\r\nlast-event-id: {first}");
    let mut again = served.connect(&head, b"").await;
    let (seq, resumed) = event(&mut again).await;
    assert_eq!((seq, resumed), (second, entries));
}

/// The next event: its id, which is its last entry's place, and its entries.
async fn event(stream: &mut BufReader<TcpStream>) -> (u64, Vec<Entry>) {
    let (mut id, mut line) = (None, String::new());
    loop {
        line.clear();
        assert_ne!(
            stream.read_line(&mut line).await.unwrap(),
            0,
            "the stream ended"
        );
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.trim().parse().ok();
        }
        if let Some(text) = line.strip_prefix("data: ") {
            let entries: Vec<Entry> = serde_json::from_str(text).unwrap();
            assert_eq!(id, entries.last().map(|it| it.seq));
            return (id.unwrap(), entries);
        }
    }
}
