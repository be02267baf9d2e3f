//! The server over real sockets, as browsers, programs and strangers would call it.

use std::{any::Any, path::Path, sync::Arc};

use engram_engine::{Engine, Options};
use engram_model::{Call, Caller, Code, Effect, Entry, Request};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use tokio_rustls::rustls::{
    self,
    pki_types::{CertificateDer, pem::PemObject},
};

use super::{Certificate, HttpOptions, Pages, http};

const PAGE: &str = "<!doctype html><title>Engram</title>";

const BUILT: &[(&str, &[u8])] = &[("index.html", PAGE.as_bytes())];

/// A running server with a small window, and the folder that it lives in.
struct Served {
    host: String,
    token: String,
    _kept: Box<dyn Any>,
}

impl Served {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ui = folder.path().join("ui");
        std::fs::create_dir(&ui).unwrap();
        std::fs::write(ui.join("index.html"), PAGE).unwrap();
        std::fs::write(ui.join("ui.wasm"), b"\0asm").unwrap();
        std::fs::write(folder.path().join("secret"), "not yours").unwrap();
        Self::over(engine(folder.path()), Pages::Folder(ui), folder).await
    }

    /// What this engine answers; `kept` lives as long.
    async fn over(engine: Engine, pages: Pages, kept: impl Any) -> Self {
        let options = HttpOptions {
            pages,
            ..HttpOptions::default()
        };
        let server = http(Arc::new(engine), options).await.unwrap();
        let (address, token) = server.url.split_once("/#token=").unwrap();
        let served = Self {
            host: address.strip_prefix("http://").unwrap().to_owned(),
            token: token.to_owned(),
            _kept: Box::new(kept),
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
            format!("GET /api/subscribe?token=x HTTP/1.1\r\nhost: HOST\r\n{JSON}"),
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
            "GET /api/subscribe?after=0&token=TOKEN HTTP/1.1\r\nhost: HOST",
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
        format!("GET /api/subscribe?token=TOKEN HTTP/1.1\r\nhost: HOST\r\nlast-event-id: {first}");
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

#[tokio::test]
async fn pages_come_with_headers_and_only_by_the_methods_that_read() {
    let served = Served::new().await;
    for (method, status) in [
        ("GET", 200),
        ("HEAD", 200),
        ("POST", 405),
        ("PUT", 405),
        ("DELETE", 405),
        ("OPTIONS", 405),
        ("TRACE", 405),
    ] {
        let (got, head, _) = served
            .ask(&format!("{method} / HTTP/1.1\r\nhost: HOST"), b"")
            .await;
        assert_eq!(got, status, "{method}: {head}");
        let wanted = [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
        ];
        for header in wanted.iter().filter(|_| status == 200) {
            assert!(head.contains(header), "{method}: no {header} in {head}");
        }
        assert!(!head.contains("unsafe-inline"), "{head}");
    }
    for (method, path) in [
        ("GET", "/api/read"),
        ("GET", "/api/change"),
        ("POST", "/api/subscribe"),
        ("DELETE", "/api/read"),
    ] {
        let head = format!("{method} {path} HTTP/1.1\r\n{OWN}\r\n{JSON}");
        let (got, ..) = served.ask(&head, b"").await;
        assert_eq!(got, 405, "{method} {path}");
    }
}

/// The table of requests, as a browser sends it: by its own call, with the token of the user, and not
/// by anybody else.
#[tokio::test]
async fn each_request_is_taken_by_its_own_call_from_the_user_alone() {
    for terms in Request::TABLE {
        let place = engram_kit::Site::new();
        let engine = Engine::open(Options {
            home: place.home(),
            repo: Some(place.repo()),
            from: place.repo(),
        });
        let engine = engine.unwrap();
        let id = place.claim(|draft| {
            let put = Request::Put(serde_json::from_value(draft).unwrap());
            json!(engine.handle(&Caller::User, put).unwrap())
        });
        let served = Served::over(engine, Pages::Built(BUILT), place).await;
        let request = engram_kit::requests::good(terms.name, &id);
        let (right, wrong) = match terms.effect {
            Effect::Reads => ("/api/read", "/api/change"),
            Effect::Changes | Effect::Spends => ("/api/change", "/api/read"),
        };
        let body = request.to_string();
        let stranger = format!("POST {right} HTTP/1.1\r\nhost: HOST\r\n{JSON}");
        let (status, ..) = served.ask(&stranger, body.as_bytes()).await;
        assert_eq!(status, 401, "{}", terms.name);
        let (status, reply) = served.post(wrong, request.clone()).await;
        assert_eq!(status, 400, "{}: {reply}", terms.name);
        let (status, reply) = served.post(right, request).await;
        assert_eq!(status, 200, "{}: {reply}", terms.name);
    }
}

#[tokio::test]
async fn a_call_of_the_window_alone_is_nowhere_on_http() {
    let served = Served::new().await;
    for call in Call::ALL {
        let path = format!("/api/{}", call.name());
        let (status, _) = match call {
            Call::Subscribe => continue,
            _ => served.post(&path, json!({ "do": "explode" })).await,
        };
        let wanted = match call {
            Call::ConnectHint => 200, // asks nothing
            it if it.is_over_http() => 400,
            _ => 404,
        };
        assert_eq!(status, wanted, "{path}");
    }
}

/// A certificate for this machine's own names, in two files.
fn certificate(folder: &Path) -> (Certificate, rustls::RootCertStore) {
    let chain = include_bytes!("../../../../tests/localhost/cert.pem");
    let key = include_bytes!("../../../../tests/localhost/key.pem");
    let certificate = Certificate {
        chain: folder.join("cert.pem"),
        key: folder.join("key.pem"),
    };
    std::fs::write(&certificate.chain, chain).unwrap();
    std::fs::write(&certificate.key, key).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(chain).unwrap();
    roots.add(root).unwrap();
    (certificate, roots)
}

#[tokio::test]
async fn off_the_loopback_it_is_encrypted_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(engine(folder.path()));
    let (good, _) = certificate(folder.path());
    std::fs::write(folder.path().join("empty.pem"), "").unwrap();
    let with = |chain: &str, key: &str| {
        Some(Certificate {
            chain: folder.path().join(chain),
            key: folder.path().join(key),
        })
    };
    for (listen, certificate, code, hint) in [
        ("0.0.0.0:0", None, Code::ScopeDenied, "--tls-cert"),
        ("[::]:0", None, Code::ScopeDenied, "--tls-cert"),
        ("192.0.2.1:0", None, Code::ScopeDenied, "--tls-cert"),
        ("192.0.2.1:0", Some(good), Code::Internal, "another address"),
        (
            "0.0.0.0:0",
            with("none.pem", "key.pem"),
            Code::SchemaInvalid,
            "PEM",
        ),
        (
            "0.0.0.0:0",
            with("cert.pem", "cert.pem"),
            Code::SchemaInvalid,
            "PEM",
        ),
        (
            "127.0.0.1:0",
            with("empty.pem", "key.pem"),
            Code::SchemaInvalid,
            "PEM",
        ),
    ] {
        let options = HttpOptions {
            listen: listen.parse().unwrap(),
            certificate: certificate.clone(),
            ..HttpOptions::default()
        };
        let Err(refusal) = http(Arc::clone(&engine), options).await else {
            panic!("{listen} with {certificate:?} is served");
        };
        assert_eq!(refusal.code, code, "{refusal}");
        assert!(refusal.hint.contains(hint), "{refusal:?}");
    }
}

#[tokio::test]
async fn an_encrypted_page_is_read_past_strangers_that_say_no_hello() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, roots) = certificate(folder.path());
    let options = HttpOptions {
        listen: "0.0.0.0:0".parse().unwrap(),
        certificate: Some(certificate),
        pages: Pages::Built(BUILT),
        ..HttpOptions::default()
    };
    let server = http(Arc::new(engine(folder.path())), options)
        .await
        .unwrap();
    let (address, _) = server.url.split_once("/#token=").unwrap();
    let host = address.strip_prefix("https://").unwrap().to_owned();
    let port = host.rsplit_once(':').unwrap().1.to_owned();
    tokio::spawn(server.run());
    let _silent = TcpStream::connect(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    let mut plain = TcpStream::connect(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();

    let config = rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    for (name, status) in [(host.as_str(), "200"), ("evil.example", "403")] {
        let stream = TcpStream::connect(format!("127.0.0.1:{port}"))
            .await
            .unwrap();
        let server = "localhost".try_into().unwrap();
        let mut stream = connector.connect(server, stream).await.unwrap();
        let head = format!("GET / HTTP/1.1\r\nhost: {name}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert_eq!(answer.contains(PAGE), status == "200");
    }
}

#[tokio::test]
async fn a_kept_token_outlives_a_restart_and_only_the_owners_file_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(engine(folder.path()));
    let file = folder.path().join("token");
    let start = || {
        let options = HttpOptions {
            token_file: Some(file.clone()),
            ..HttpOptions::default()
        };
        http(Arc::clone(&engine), options)
    };
    let token = |url: &str| url.split_once("#token=").unwrap().1.to_owned();
    let first = token(&start().await.unwrap().url);
    assert_eq!(first.len(), 64);
    assert_eq!(token(&start().await.unwrap().url), first);
    for bad in ["", "short", &"x".repeat(64), &"a".repeat(65)] {
        std::fs::write(&file, bad).unwrap();
        assert!(start().await.is_err(), "{bad:?}");
    }
    std::fs::write(&file, &first).unwrap();
    assert!(start().await.is_ok());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(start().await.is_err(), "others may read it");
    }
}
