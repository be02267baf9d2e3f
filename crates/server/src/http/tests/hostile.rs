//! Hostile input. Each body takes bytes, so that a fuzzer can run it unchanged.

use proptest::{
    prelude::*,
    sample::select,
    test_runner::{TestCaseResult, TestRunner},
};
use tokio::runtime::Runtime;

use super::*;

/// Sends any bytes on a connection: it ends or becomes a stream of events, and the next request is
/// answered.
async fn any_connection(served: &Served, bytes: &[u8]) {
    let mut stream = TcpStream::connect(&served.host).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let (mut heard, mut part) = (Vec::new(), [0; 4096]);
    // A stream lasts as long as a client reads it.
    while !String::from_utf8_lossy(&heard).contains("text/event-stream") {
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => break,
            Ok(count) => heard.extend(&part[..count]),
        }
    }
    drop(stream);
    let (status, reply) = served.post("/api/read", json!({ "do": "status" })).await;
    assert_eq!(status, 200, "{reply}");
}

/// Sends any bytes as the body of a call: the answer is JSON and reports no internal error.
async fn any_body(served: &Served, bytes: &[u8]) {
    for path in ["/api/read", "/api/change"] {
        let head = format!("POST {path} HTTP/1.1\r\n{OWN}\r\n{JSON}");
        let (status, _, body) = served.ask(&head, bytes).await;
        let reply: Value = serde_json::from_str(&body).unwrap();
        assert_ne!(status, 500, "{reply}");
        let is_refused = reply["error"]["code"].is_string() && reply["error"]["hint"].is_string();
        assert_eq!(status != 200, is_refused, "{status}: {reply}");
    }
}

/// Parts that pass the first check.
const PARTS: &[&str] = &[
    "GET / HTTP/1.1\r\n",
    "POST /api/read HTTP/1.1\r\n",
    "GET /api/subscribe?token=TOKEN HTTP/1.1\r\n",
    "host: HOST\r\n",
    "authorization: Bearer TOKEN\r\n",
    "content-type: application/json\r\n",
    "content-length: 15\r\n",
    "content-length: 0\r\n",
    "transfer-encoding: chunked\r\n",
    "expect: 100-continue\r\n",
    "connection: keep-alive\r\n",
    "upgrade: h2c\r\n",
    "\r\n",
    "0\r\n\r\n",
    "{\"do\":\"status\"}",
    "{",
    "\0",
];

const WORDS: &[&str] = &[
    "do",
    "with",
    "status",
    "get",
    "put",
    "query",
    "feed",
    "note",
    "deref",
    "source",
    "claim",
    "pointers",
    "pointer",
    "text",
    "kind",
    "slug",
    "limit",
    "after",
    "all",
    "id",
    "repo:a@HEAD",
    "repo:src/lib.rs#L2@HEAD",
    "01M7XR6QC30000000000000000",
    "",
    "\0",
    "../..",
];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..200)
}

/// JSON made of the words in requests.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => select(WORDS).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    let value = leaf.prop_recursive(4, 32, 6, |inner| {
        let fields = proptest::collection::btree_map(select(WORDS), inner.clone(), 0..6);
        let object = |it: std::collections::BTreeMap<&str, Value>| {
            it.into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()
        };
        prop_oneof![
            proptest::collection::vec(inner, 0..6).prop_map(Value::from),
            fields.prop_map(move |it| Value::Object(object(it))),
        ]
    });
    (select(WORDS), value).prop_map(|(name, with)| json!({ "do": name, "with": with }))
}

fn held<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, holds: impl Fn(T)) {
    let config = ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let checked = |value: T| -> TestCaseResult {
        holds(value);
        Ok(())
    };
    TestRunner::new(config).run(&strategy, checked).unwrap();
}

fn served() -> (Runtime, Served) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let served = runtime.block_on(Served::new());
    (runtime, served)
}

#[test]
fn no_bytes_on_a_connection_end_the_server() {
    let (runtime, served) = served();
    let own = |text: String| {
        let text = text.replace("HOST", &served.host);
        text.replace("TOKEN", &served.token).into_bytes()
    };
    let parts = proptest::collection::vec(select(PARTS), 0..12).prop_map(|it| own(it.concat()));
    held(prop_oneof![3 => parts, 1 => bytes()], |bytes| {
        runtime.block_on(any_connection(&served, &bytes));
    });
}

#[test]
fn no_body_is_a_defect_of_ours() {
    let (runtime, served) = served();
    for deep in ["[", "{\"do\":", "{\"do\":\"put\",\"with\":[", "\""] {
        let bytes = deep.repeat(100_000).into_bytes();
        runtime.block_on(any_body(&served, &bytes));
    }
    let json = json().prop_map(|it| it.to_string().into_bytes());
    held(prop_oneof![3 => json, 1 => bytes()], |bytes| {
        runtime.block_on(any_body(&served, &bytes));
    });
}
