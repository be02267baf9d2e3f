//! Lines that are not messages, and the end of the input.

use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, Sandbox, meta};

/// Lines that are answered without ending the server, with the code and the id of the answer.
fn bad_lines() -> Vec<(Vec<u8>, i64, Value)> {
    let no_id = Value::Null;
    vec![
        (b"garbage".to_vec(), -32700, no_id.clone()),
        (b"{\"jsonrpc\":\"2.0\",".to_vec(), -32700, no_id.clone()),
        (b"\xff\xfe\x00".to_vec(), -32700, no_id.clone()),
        (b"[".repeat(100_000), -32700, no_id.clone()),
        (vec![b'x'; 4 * 1024 * 1024 + 1], -32700, no_id.clone()),
        (
            [b"[0".to_vec(), b",0".repeat(100_000), b"]".to_vec()].concat(),
            -32700,
            no_id.clone(),
        ),
        (b"[1,2]".to_vec(), -32600, no_id.clone()),
        (b"5".to_vec(), -32600, no_id.clone()),
        (b"{}".to_vec(), -32600, no_id.clone()),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}".to_vec(),
            -32600,
            no_id,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":71}".to_vec(),
            -32600,
            json!(71),
        ),
        (
            b"{\"id\":72,\"method\":\"tools/list\"}".to_vec(),
            -32600,
            json!(72),
        ),
    ]
}

/// Lines that get no answer.
const SILENT: [&[u8]; 6] = [
    b"",
    b"  \t ",
    b"\r",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard\"}",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}",
];

async fn annoy(client: &mut Client) {
    for line in SILENT {
        client.line(line).await;
    }
    for (line, code, id) in bad_lines() {
        client.line(&line).await;
        let answer = client.next().await.expect("the server lives");
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert_eq!(answer["id"], id, "{shown}: {answer}");
    }
}

#[tokio::test]
async fn no_line_ends_the_server() {
    for era in ERAS {
        let sandbox = Sandbox::new();
        let mut client = Client::raw(&sandbox, era);
        annoy(&mut client).await;
        if era == Era::Legacy {
            client.initialize().await;
        }
        client.ok("engram_status", json!({})).await;
        annoy(&mut client).await;
        client.ok("engram_status", json!({})).await;
        let (rest, ended) = client.end().await;
        assert!(rest.is_empty(), "{rest:?}");
        ended.unwrap();
    }
}

#[tokio::test]
async fn a_line_of_almost_the_limit_passes() {
    let mut client = Client::open(&Sandbox::new(), Era::Modern).await;
    // One value that contains the punctuation of many.
    let long = "[x],\\\\\"".repeat((4 * 1024 * 1024 - 1_000) / 10);
    let error = client
        .refused(
            "engram_deref",
            json!({ "pointer": format!("repo:{long}@HEAD") }),
        )
        .await;
    assert_eq!(error["code"], "POINTER_INVALID");
}

#[tokio::test]
async fn the_end_of_the_input_ends_the_server() {
    for era in ERAS {
        let (rest, ended) = Client::raw(&Sandbox::new(), era).end().await;
        assert!(rest.is_empty());
        ended.unwrap();
        let (rest, ended) = Client::open(&Sandbox::new(), era).await.end().await;
        assert!(rest.is_empty());
        ended.unwrap();
    }
}

#[tokio::test]
async fn what_was_asked_before_the_end_is_answered() {
    let sandbox = Sandbox::new();
    let mut client = Client::raw(&sandbox, Era::Modern);
    client.line(b"garbage").await;
    let (rest, ended) = client.end().await;
    assert_eq!(rest[0]["error"]["code"], -32700, "{rest:?}");
    ended.unwrap();

    let mut client = Client::open(&sandbox, Era::Legacy).await;
    for n in 0..5 {
        let commit = json!({
            "content": format!("Last words, number {n}."), "scope": "a", "confidence": 1,
            "pointers": ["repo:src/ledger.rs@HEAD"],
        });
        let params = json!({ "name": "engram_commit", "arguments": commit });
        client.send("tools/call", params).await;
    }
    let (rest, ended) = client.end().await;
    assert_eq!(rest.len(), 5);
    assert!(
        rest.iter()
            .all(|answer| answer["result"]["isError"] == false),
        "{rest:?}"
    );
    ended.unwrap();
}

#[tokio::test]
async fn a_request_without_its_version_is_told_what_is_missing() {
    let sandbox = Sandbox::new();
    let mut client = Client::raw(&sandbox, Era::Legacy);
    let answer = client.request("tools/list", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");

    let mut params = json!({ "_meta": meta() });
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let answer = client.request("tools/list", params).await;
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert!(answer["error"]["data"]["supported"].is_array(), "{answer}");
    client.line(SILENT[4]).await;
    assert_eq!(client.initialize().await["protocolVersion"], "2025-11-25");
}
