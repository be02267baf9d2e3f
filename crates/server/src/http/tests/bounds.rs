//! The server's limits: clients that send nothing, clients that read nothing, and crowds.

use std::time::Duration;

use engram_model::{Caller, Request};
use tokio::net::TcpSocket;

use super::{
    tls::{certificate, encrypted},
    *,
};
use crate::http::Certificate;

/// Bounds that no wait in a test reaches.
pub(super) fn patient() -> Bounds {
    let hour = Duration::from_secs(3600);
    Bounds {
        head: hour,
        body: hour,
        taken: hour,
        permit_wait: hour,
        ..Bounds::default()
    }
}

/// A limit short enough for a test to wait for.
const SOON: Duration = Duration::from_millis(100);

const STATUS: &[u8] = br#"{"do":"status"}"#;

/// The beginning of a request, and of a TLS handshake.
const HALF: [&str; 3] = ["", "GET / HTTP/1.1\r\nhost", "\u{16}\u{3}\u{1}\u{1}"];

async fn over(bounds: Bounds, certificate: Option<Certificate>) -> Served {
    let folder = tempfile::tempdir().unwrap();
    let options = HttpOptions {
        pages: Pages::Built(BUILT),
        certificate,
        ..HttpOptions::default()
    };
    let engine = Arc::new(engine(folder.path()));
    Served::run(
        listen_with_bounds(bounds, engine, options).await.unwrap(),
        folder,
    )
}

#[tokio::test]
async fn half_open_connections_keep_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, roots) = certificate(folder.path());
    for certificate in [None, Some(certificate)] {
        let is_tls = certificate.is_some();
        let bounds = Bounds {
            strangers: 4,
            ..patient()
        };
        let served = over(bounds, certificate).await;
        for half in HALF {
            let mut crowd = Vec::new();
            for _ in 0..12 {
                crowd.push(served.say(half).await);
            }
            let answer = if is_tls {
                encrypted(&served.host, &served.host, &roots).await
            } else {
                served.ask("GET / HTTP/1.1\r\nhost: HOST", b"").await.2
            };
            assert!(answer.contains(PAGE), "{half:?}: {answer}");
            // The oldest connections made room: the server closed them.
            for stream in &mut crowd[..8] {
                super::answer(stream).await;
            }
        }
    }
}

#[tokio::test]
async fn half_open_and_idle_connections_end() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, _) = certificate(folder.path());
    for certificate in [None, Some(certificate)] {
        let bounds = Bounds {
            head: SOON,
            ..patient()
        };
        let served = over(bounds, certificate).await;
        let after_a_page = "GET / HTTP/1.1\r\nhost: HOST\r\n\r\n";
        for said in HALF.iter().chain([&after_a_page]) {
            answer(&mut served.say(said).await).await;
        }
        served.until_open(0).await;
    }
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_waited_for_no_longer() {
    let bounds = Bounds {
        body: SOON,
        ..patient()
    };
    let served = Served::within(bounds).await;
    let half = format!(
        "POST /api/read HTTP/1.1\r\n{OWN}\r\n{JSON}\r\ncontent-length: 100\r\n\r\n{{\"do\""
    );
    let (status, _, body) = answer(&mut served.say(&half).await).await;
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("arrived too slowly"), "{body}");
    served.until_open(0).await;
}

/// Sends a request on a kept connection; returns the status of its answer.
async fn again(served: &Served, stream: &mut TcpStream) -> u16 {
    let length = STATUS.len();
    let head =
        format!("POST /api/read HTTP/1.1\r\n{OWN}\r\n{JSON}\r\ncontent-length: {length}\r\n\r\n");
    let head = head.replace("HOST", &served.host);
    let head = head.replace("TOKEN", &served.token);
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(STATUS).await.unwrap();
    let mut text = Vec::new();
    loop {
        assert_ne!(
            stream.read_buf(&mut text).await.unwrap(),
            0,
            "the connection ended"
        );
        let text = String::from_utf8_lossy(&text);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let mut lengths = head
            .lines()
            .filter_map(|it| it.strip_prefix("content-length: "));
        if lengths.next().unwrap().parse() == Ok(body.len()) {
            return head.split(' ').nth(1).unwrap().parse().unwrap();
        }
    }
}

#[tokio::test]
async fn who_has_shown_the_token_keeps_the_place() {
    let bounds = Bounds {
        strangers: 2,
        known: 2,
        ..patient()
    };
    let served = Served::within(bounds).await;
    let mut first = served.say("").await;
    assert_eq!(again(&served, &mut first).await, 200);
    let mut crowd = Vec::new();
    for _ in 0..8 {
        crowd.push(served.say("").await);
    }
    let mut second = served.say("").await;
    assert_eq!(again(&served, &mut second).await, 200);
    assert_eq!(again(&served, &mut first).await, 200);

    // Only another connection that showed the token takes a place: that of the one idle for
    // longest.
    let mut third = served.say("").await;
    assert_eq!(again(&served, &mut third).await, 200);
    answer(&mut second).await;
    assert_eq!(again(&served, &mut first).await, 200);
}

#[tokio::test]
async fn requests_wait_their_turn_and_those_of_who_left_are_not_begun() {
    let bounds = Bounds {
        requests: 1,
        ..patient()
    };
    let served = Served::within(bounds).await;
    let busy = served.requests.acquire().await.unwrap();
    let head = format!("POST /api/change HTTP/1.1\r\n{OWN}\r\n{JSON}");
    let note = |slug| {
        let with = json!({ "kind": "note", "slug": slug, "text": "Hello." });
        json!({ "do": "note", "with": with }).to_string()
    };
    let left = served.connect(&head, note("left").as_bytes()).await;
    let mut stays = served.connect(&head, note("stays").as_bytes()).await;
    // A page needs no permit: once some pages are answered, the two requests wait for theirs.
    for _ in 0..20 {
        let page = served.ask("GET / HTTP/1.1\r\nhost: HOST", b"").await;
        assert_eq!(page.0, 200);
    }
    served.until_open(2).await;
    drop(left);
    served.until_open(1).await;
    drop(busy);
    assert_eq!(answer(&mut stays).await.0, 200);
    let feed = json!({ "do": "feed", "with": { "all": true } });
    let feed = served.post("/api/read", feed).await.1.to_string();
    assert!(feed.contains("sam:note:stays"), "{feed}");
    assert!(!feed.contains("sam:note:left"), "{feed}");
}

#[tokio::test]
async fn streams_of_events_are_few_and_make_room_for_each_other() {
    let bounds = Bounds {
        streams: 1,
        ..patient()
    };
    let served = Served::within(bounds).await;
    let follow = "GET /api/subscribe?after=0&token=TOKEN HTTP/1.1\r\nhost: HOST";
    served.post("/api/change", note("Hello.")).await;
    let mut first = served.connect(follow, b"").await;
    events::event(&mut first).await;
    let (status, _, body) = served.ask(follow, b"").await;
    assert_eq!(status, 429, "{body}");
    assert!(
        body.contains("RATE_LIMITED") && body.contains("Close one"),
        "{body}"
    );
    // Streams have a limit of their own: requests are still answered.
    assert_eq!(
        served.post("/api/read", json!({ "do": "status" })).await.0,
        200
    );
    drop(first);
    served.until_open(0).await;
    let mut second = served.connect(follow, b"").await;
    events::event(&mut second).await;
}

/// A connection with so small a receive buffer that an answer soon waits to be sent.
pub(super) async fn reading_nothing(served: &Served, said: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(served.host.parse().unwrap()).await.unwrap();
    let said = said.replace("HOST", &served.host);
    let said = said.replace("TOKEN", &served.token);
    stream.write_all(said.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn who_reads_nothing_is_let_go() {
    let bounds = Bounds {
        taken: SOON,
        ..patient()
    };
    let folder = tempfile::tempdir().unwrap();
    let limits = "[limits]\nclaim_chars = 2000000\n";
    engram_kit::write(&folder.path().join("home/config.toml"), limits);
    let page = folder.path().join("index.html");
    let large = std::fs::File::create(page).unwrap();
    large.set_len(64 * 1024 * 1024).unwrap();
    let pages = Pages::Folder(folder.path().to_owned());
    let engine = engine(folder.path());
    for at in 0..80 {
        let claim = format!("{at} {}", "and so on ".repeat(9_000));
        let commit = json!({ "draft": { "claim": claim }, "words": "seen in a test" });
        let commit = Request::Commit(serde_json::from_value(commit).unwrap());
        engine.handle(&Caller::User, commit).unwrap();
    }
    let served = Served::over(engine, pages, bounds, folder).await;
    for said in [
        "GET / HTTP/1.1\r\nhost: HOST\r\n\r\n",
        "GET /api/subscribe?after=0&token=TOKEN HTTP/1.1\r\nhost: HOST\r\n\r\n",
    ] {
        let _open = reading_nothing(&served, said).await;
        served.until_open(1).await;
        served.until_open(0).await;
    }
}
