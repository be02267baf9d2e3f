//! A client that sends more requests than it reads answers, and one that cancels its requests.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use engram_server::{Toolset, mcp_over};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::yield_now,
};

use crate::client::{Client, ERAS, Era, Sandbox, meta};

/// An input that repeats one request, and counts how many were read.
struct Asks {
    line: Vec<u8>,
    at: usize,
    left: usize,
    read: Arc<AtomicUsize>,
}

impl Asks {
    fn new(line: Value, count: usize) -> (Self, Arc<AtomicUsize>) {
        let read = Arc::new(AtomicUsize::new(0));
        let asks = Self {
            line: format!("{line}\n").into_bytes(),
            at: 0,
            left: count,
            read: Arc::clone(&read),
        };
        (asks, read)
    }
}

impl AsyncRead for Asks {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        while self.left > 0 && buffer.remaining() > 0 {
            let piece = buffer.remaining().min(self.line.len() - self.at);
            buffer.put_slice(&self.line[self.at..self.at + piece]);
            self.at += piece;
            if self.at == self.line.len() {
                (self.at, self.left) = (0, self.left - 1);
                self.read.fetch_add(1, Ordering::Relaxed);
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// An output that accepts nothing and never fails.
struct Unread;

impl AsyncWrite for Unread {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Poll::Pending
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Pending
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Pending
    }
}

/// Lines of every kind: those that have an answer, and those that have none.
fn sorts() -> Vec<Value> {
    let call = |tool: &str| json!({ "name": tool, "arguments": {}, "_meta": meta() });
    let request = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    vec![
        request("tools/list", json!({ "_meta": meta() })),
        request("tools/call", call("engram_status")),
        request("tools/call", call("no such tool")),
        request("ping", json!({})),
        json!("no request"),
    ]
}

#[tokio::test]
async fn a_client_that_reads_no_answer_is_read_no_further() {
    const ASKED: usize = 200_000;
    for line in sorts() {
        let sandbox = Sandbox::new();
        let (asks, read) = Asks::new(line.clone(), ASKED);
        let server = tokio::spawn(mcp_over(
            Arc::clone(&sandbox.engine),
            &[Toolset::Core],
            None,
            asks,
            Unread,
        ));
        // All tasks share one thread: what made no progress while the others ran waits for the
        // client.
        let mut before = usize::MAX;
        while before != read.load(Ordering::Relaxed) {
            before = read.load(Ordering::Relaxed);
            for _ in 0..1_000 {
                yield_now().await;
            }
        }
        assert!(before > 0 && before < 2_000, "{before} of {line}");
        server.abort();
    }
}

#[tokio::test]
async fn who_asks_a_thousand_times_before_it_reads_gets_every_answer() {
    for era in ERAS {
        let mut client = Client::open(&Sandbox::new(), era).await;
        let mut asked = BTreeSet::new();
        for at in 0..1_000 {
            asked.insert(match at % 3 {
                0 => client.send("tools/list", json!({})).await,
                1 => client.send("resources/templates/list", json!({})).await,
                _ => client.send("none/such", json!({})).await,
            });
        }
        for id in &asked {
            client.answer(*id).await;
        }
        let (rest, ended) = client.end().await;
        assert!(rest.is_empty(), "{rest:?}");
        ended.unwrap();
    }
}

/// The longest line takes all permits, and is answered like the others.
#[tokio::test]
async fn long_requests_wait_for_each_other() {
    let mut client = Client::open(&Sandbox::new(), Era::Modern).await;
    let long = |length: usize| {
        let pointer = format!("repo:{}@HEAD", "x".repeat(length));
        json!({ "name": "engram_deref", "arguments": { "pointer": pointer } })
    };
    let mut asked = Vec::new();
    for length in [10, 4_000_000, 10, 1_000_000, 100_000, 10] {
        asked.push(client.send("tools/call", long(length)).await);
    }
    for id in asked {
        let answer = client.answer(id).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
}

#[tokio::test]
async fn an_input_that_ends_ends_the_server_though_nobody_reads() {
    let ends = sorts().into_iter().map(|line| async {
        let sandbox = Sandbox::new();
        let (asks, read) = Asks::new(line, 1_000);
        let ended = mcp_over(
            Arc::clone(&sandbox.engine),
            &[Toolset::Core],
            None,
            asks,
            Unread,
        )
        .await;
        ended.unwrap();
        assert_eq!(
            read.load(Ordering::Relaxed),
            1_000,
            "the server noticed the end"
        );
    });
    futures_util::future::join_all(ends).await;
}

#[tokio::test]
async fn what_was_asked_a_thousand_times_before_the_end_is_answered() {
    let mut client = Client::open(&Sandbox::new(), Era::Legacy).await;
    for _ in 0..1_000 {
        client.send("ping", json!({})).await;
    }
    let (rest, ended) = client.end().await;
    assert_eq!(rest.len(), 1_000);
    ended.unwrap();
}

#[tokio::test]
async fn an_id_is_used_once_at_a_time() {
    let mut client = Client::open(&Sandbox::new(), Era::Modern).await;
    let ask = json!({ "jsonrpc": "2.0", "id": "twice", "method": "tools/list", "params": { "_meta": meta() } });
    for _ in 0..3 {
        client.line(ask.to_string().as_bytes()).await;
    }
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(client.next().await.unwrap());
    }
    assert!(answers.iter().all(|it| it["id"] == "twice"), "{answers:?}");
    let refused = answers.iter().filter(|it| it["error"]["code"] == -32600);
    assert_eq!(refused.count(), 2, "{answers:?}");
    // Once the request is answered, its id is free again.
    client.line(ask.to_string().as_bytes()).await;
    assert!(client.next().await.unwrap()["result"].is_object());
}

fn cancel(id: u64) -> String {
    let params = json!({ "requestId": id, "reason": "thought better of it" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string()
}

/// Of requests that arrive at once, some are under way and the rest wait.
#[tokio::test]
async fn what_is_cancelled_before_it_begins_is_never_begun() {
    for era in ERAS {
        let sandbox = Sandbox::with("[limits.rate]\nper_minute = 1000\nper_hour = 1000\n");
        let mut client = Client::open(&sandbox, era).await;
        let (mut kept, mut lines) = (Vec::new(), Vec::new());
        let mut cancels = Vec::new();
        for at in 0..100 {
            let commit = json!({
                "content": format!("Thought number {at}."), "scope": format!("a/{at}"), "confidence": 1,
            });
            let params = json!({ "name": "engram_commit", "arguments": commit });
            let (id, line) = client.request_line("tools/call", params);
            lines.push(line);
            match at % 2 {
                0 => kept.push(id),
                _ => cancels.push(cancel(id)),
            }
        }
        lines.extend(cancels);
        client.line(lines.join("\n").as_bytes()).await;
        for id in &kept {
            let answer = client.answer(*id).await;
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
        let status = client.ok("engram_status", json!({})).await;
        assert_eq!(status["engrams"], kept.len(), "{era:?}: {status}");
        let (rest, ended) = client.end().await;
        assert!(rest.is_empty(), "{rest:?}");
        ended.unwrap();
    }
}

/// Reads that may be large wait for a thread. Cancelled reads spend nothing and release their
/// permits.
#[tokio::test]
async fn a_cancelled_read_spends_nothing() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, Era::Legacy).await;
    let read = json!({ "pointer": "repo:src/ledger.rs#L2@HEAD" });
    let params = json!({ "name": "engram_deref", "arguments": read });
    for _ in 0..1_000 {
        let (id, line) = client.request_line("tools/call", params.clone());
        client
            .line(format!("{line}\n{}", cancel(id)).as_bytes())
            .await;
    }
    let status = client.ok("engram_status", json!({})).await;
    assert_eq!(status["budget"]["tokens"], 1_200, "{status}");
    let excerpt = client.ok("engram_deref", read).await["excerpt"].clone();
    assert_eq!(excerpt, "    // Vendors retry for 30 days.\n");
}

/// An agent has at most two requests under way at once. A request that waits for a permit delays no
/// other message.
#[tokio::test]
async fn a_third_request_waits_for_the_first_two() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, Era::Legacy).await;
    client.ok("engram_status", json!({})).await;
    let writing = std::fs::File::open(sandbox.path_in_home("write.lock")).unwrap();
    writing.lock().unwrap();
    let mut commits = Vec::new();
    for at in 0..2 {
        let claim = json!({ "content": format!("Thought {at}."), "scope": "a", "confidence": 1 });
        let params = json!({ "name": "engram_commit", "arguments": claim });
        commits.push(client.send("tools/call", params).await);
    }
    let params = json!({ "name": "engram_query", "arguments": { "topic": "thought" } });
    let third = client.send("tools/call", params).await;
    let ping = client.send("ping", json!({})).await;
    assert_eq!(client.next().await.unwrap()["id"], ping);
    drop(writing);
    assert_ne!(client.next().await.unwrap()["id"], third);
    let answers = [client.next().await.unwrap(), client.next().await.unwrap()];
    assert!(answers.iter().any(|it| it["id"] == third), "{answers:?}");
}
