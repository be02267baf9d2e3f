//! What strangers are refused, and the headers of every answer.

use serde_json::json;

use super::*;

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
async fn pages_come_only_by_the_methods_that_read() {
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
    }
    for (method, path, status, code) in [
        ("GET", "/api/read", 405, "NOT_FOUND"),
        ("GET", "/api/change", 405, "NOT_FOUND"),
        ("POST", "/api/subscribe", 405, "NOT_FOUND"),
        ("DELETE", "/api/read", 405, "NOT_FOUND"),
        ("POST", "/", 405, "NOT_FOUND"),
        ("POST", "/openapi.json", 405, "NOT_FOUND"),
        ("GET", "/openapi.json?x=1", 400, "SCHEMA_INVALID"),
        ("GET", "/enrgams", 404, "NOT_FOUND"),
        ("GET", "/../engrams", 404, "NOT_FOUND"),
    ] {
        let head = format!("{method} {path} HTTP/1.1\r\n{OWN}\r\n{JSON}");
        let (got, _, body) = served.ask(&head, b"").await;
        assert_eq!(got, status, "{method} {path}");
        let told: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
        let told = &told["error"];
        assert_eq!(told["code"], code, "{method} {path}: {body}");
        assert!(told["hint"].is_string(), "{method} {path}: {body}");
    }
}

/// Every answer has these headers: answers to the user and to strangers, and errors.
#[tokio::test]
async fn no_answer_is_kept_guessed_at_or_framed() {
    let served = Served::new().await;
    let long = format!("content-length: {}\r\n{JSON}", 2 << 20);
    for (head, status) in [
        ("GET / HTTP/1.1\r\nhost: HOST".to_owned(), 200),
        ("GET /ui.wasm HTTP/1.1\r\nhost: HOST".to_owned(), 200),
        ("GET /none HTTP/1.1\r\nhost: HOST".to_owned(), 404),
        ("PUT / HTTP/1.1\r\nhost: HOST".to_owned(), 405),
        ("GET / HTTP/1.1\r\nhost: evil.example".to_owned(), 403),
        ("POST /api/read HTTP/1.1\r\nhost: HOST".to_owned(), 401),
        (format!("POST /api/read HTTP/1.1\r\n{OWN}"), 400),
        (format!("POST /api/connect_hint HTTP/1.1\r\n{OWN}"), 200),
        (format!("POST /api/read HTTP/1.1\r\n{OWN}\r\n{long}"), 400),
        (format!("GET /api/read HTTP/1.1\r\n{OWN}"), 405),
        (format!("GET /api/none HTTP/1.1\r\n{OWN}"), 404),
        (format!("GET /api/subscribe?after=x HTTP/1.1\r\n{OWN}"), 400),
        (
            format!("POST / HTTP/1.1\r\n{OWN}\r\ntransfer-encoding: chunked"),
            411,
        ),
        (format!("GET /api/subscribe HTTP/1.1\r\n{OWN}"), 200),
    ] {
        let said = format!("{head}\r\nconnection: close\r\n\r\n");
        let mut stream = served.say(&said).await;
        let got = head_of(&mut stream).await;
        assert!(
            got.starts_with(&format!("http/1.1 {status} ")),
            "{head}: {got}"
        );
        for wanted in [
            "cache-control: no-store\r\n",
            "x-content-type-options: nosniff\r\n",
            "referrer-policy: no-referrer\r\n",
            "cross-origin-resource-policy: same-origin\r\n",
            "cross-origin-opener-policy: same-origin\r\n",
            "x-frame-options: deny\r\n",
            "content-security-policy: default-src 'none'; ",
            "frame-ancestors 'none'\r\n",
        ] {
            assert!(got.contains(wanted), "{head}: no {wanted:?} in {got}");
        }
        assert!(!got.contains("unsafe-inline"), "{got}");
        assert_eq!(got.matches("cache-control").count(), 1, "{got}");
    }
}

/// Reads the head of an answer, since an event stream's body never ends.
async fn head_of(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n") {
        text.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(text).unwrap().to_lowercase()
}

/// Requests that two servers in a row may parse differently, requests addressed to another server,
/// and malformed requests, with the status of each answer.
#[tokio::test]
async fn what_is_not_plainly_a_request_to_us_is_refused() {
    let served = Served::new().await;
    let many = "a: b\r\n".repeat(200);
    let long = "x".repeat(100_000);
    let read = format!("POST /api/read HTTP/1.1\r\n{OWN}\r\n{JSON}\r\n");
    for (said, status) in [
        ("GET / HTTP/1.1\r\n\r\n", 403),
        ("GET / HTTP/1.0\r\n\r\n", 403),
        ("GET / HTTP/1.0\r\nhost: HOST\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\nhost:\r\n\r\n", 403),
        ("GET / HTTP/1.1\r\nhost: me@HOST\r\n\r\n", 403),
        ("GET / HTTP/1.1\r\nhost: HOST, HOST\r\n\r\n", 403),
        ("GET / HTTP/1.1\r\nhost: HOST\r\nhost: HOST\r\n\r\n", 403),
        (
            "GET / HTTP/1.1\r\nhost: HOST\r\nhost: evil.example\r\n\r\n",
            403,
        ),
        ("GET http://HOST/ HTTP/1.1\r\nhost: HOST\r\n\r\n", 200),
        ("GET https://HOST/ HTTP/1.1\r\nhost: HOST\r\n\r\n", 403),
        (
            "GET http://evil.example/ HTTP/1.1\r\nhost: HOST\r\n\r\n",
            403,
        ),
        ("GET http://me@HOST/ HTTP/1.1\r\nhost: HOST\r\n\r\n", 403),
        (
            "CONNECT evil.example:443 HTTP/1.1\r\nhost: HOST\r\n\r\n",
            403,
        ),
        ("CONNECT HOST HTTP/1.1\r\nhost: HOST\r\n\r\n", 405),
        ("OPTIONS * HTTP/1.1\r\nhost: HOST\r\n\r\n", 405),
        ("get / HTTP/1.1\r\nhost: HOST\r\n\r\n", 405),
        ("GET / HTTP/1.1\r\nhost: HOST\r\norigin: null\r\n\r\n", 403),
        (
            "GET / HTTP/1.1\r\nhost: HOST\r\norigin: http://HOST\r\norigin: null\r\n\r\n",
            403,
        ),
        ("GET / HTTP/1.1\r\nhost : HOST\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nhost: HOST\r\n folded: x\r\n\r\n", 400),
        ("GET / HTTP/7\r\nhost: HOST\r\n\r\n", 400),
        ("GET /\0 HTTP/1.1\r\nhost: HOST\r\n\r\n", 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}", 400),
        (&format!("GET / HTTP/1.1\r\nhost: HOST\r\n{many}\r\n"), 431),
        (
            &format!("GET / HTTP/1.1\r\nhost: HOST\r\nx: {long}\r\n\r\n"),
            431,
        ),
        (&format!("GET /{long} HTTP/1.1\r\nhost: HOST\r\n\r\n"), 431),
        (
            &format!("{read}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
            411,
        ),
        (
            &format!("{read}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n"),
            411,
        ),
        (
            &format!("{read}transfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
            411,
        ),
        (&format!("{read}transfer-encoding: identity\r\n\r\n"), 400),
        (
            &format!("{read}content-length: 1\r\ncontent-length: 2\r\n\r\n{{}}"),
            400,
        ),
        (&format!("{read}content-length: -1\r\n\r\n"), 400),
        (&format!("{read}content-length: +1\r\n\r\nx"), 400),
        (
            &format!("{read}content-length: 99999999999999999999\r\n\r\n"),
            400,
        ),
        (
            &format!("{read}content-length: 9999999999\r\nexpect: 100-continue\r\n\r\n"),
            400,
        ),
    ] {
        let once = said.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1);
        let (got, _, body) = answer(&mut served.say(&once).await).await;
        let shown: String = said.chars().take(120).collect();
        assert_eq!(got, status, "{shown:?}: {body}");
        let (status, _) = served.post("/api/read", json!({ "do": "status" })).await;
        assert_eq!(status, 200, "after {shown:?}");
    }
}

/// A head without an end is read only up to the limit.
#[tokio::test]
async fn a_head_of_megabytes_is_cut_short() {
    let served = Served::new().await;
    let mut stream = served.say("GET / HTTP/1.1\r\nhost: HOST\r\nx: ").await;
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        if stream.write_all(&piece).await.is_err() {
            break;
        }
    }
    assert_eq!(answer(&mut stream).await.0, 431);
}
