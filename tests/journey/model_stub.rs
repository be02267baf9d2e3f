//! A scripted model on a loopback port, in the two dialects that agents speak. It answers with the
//! tool calls of its script and records every request, which is all that a real model would see.

use std::{
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

/// Decides the model's next reply from the results of its tool calls so far.
pub type Step = Box<dyn Fn(&[Value]) -> Reply + Send>;

/// One reply of the model.
pub enum Reply {
    /// Calls a tool of our MCP server.
    Call(&'static str, Value),
    /// Returns text and ends its turn.
    Say(String),
}

/// A step that calls `tool` with the input that `input` builds from the results so far.
pub fn call(tool: &'static str, input: impl Fn(&[Value]) -> Value + Send + 'static) -> Step {
    Box::new(move |results| Reply::Call(tool, input(results)))
}

/// The model, while it listens.
pub struct ModelStub {
    server: Arc<Server>,
    requests: Arc<Mutex<Vec<Value>>>,
    answering: Option<JoinHandle<()>>,
}

impl ModelStub {
    /// Listens on a free port; after the last step the model says `done`.
    pub fn start(script: Vec<Step>) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").expect("a loopback port"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (heard, kept) = (server.clone(), requests.clone());
        let answering = thread::spawn(move || {
            for request in heard.incoming_requests() {
                answer(request, &script, &kept);
            }
        });
        Self {
            server,
            requests,
            answering: Some(answering),
        }
    }

    /// Returns the address for agents.
    pub fn address(&self) -> String {
        format!("http://{}", self.server.server_addr())
    }

    /// The requests in the conversation, oldest first.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for ModelStub {
    fn drop(&mut self) {
        self.server.unblock();
        let ended = self.answering.take().map(JoinHandle::join);
        assert!(
            !matches!(ended, Some(Err(_))) || thread::panicking(),
            "the model stub panicked"
        );
    }
}

fn answer(mut request: Request, script: &[Step], kept: &Mutex<Vec<Value>>) {
    let mut text = String::new();
    let _ = request.as_reader().read_to_string(&mut text);
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    let path = request
        .url()
        .split('?')
        .next()
        .unwrap_or_default()
        .to_owned();
    let reply = match (request.method(), path.as_str()) {
        (Method::Post, "/v1/messages") => messages(&body, script),
        (Method::Post, "/v1/responses") => responses(&body, script),
        _ => return drop(request.respond(Response::empty(404))),
    };
    kept.lock().unwrap().push(body);
    let kind = Header::from_bytes("content-type", "text/event-stream").expect("a header");
    let _ = request.respond(Response::from_string(reply).with_header(kind)); // an agent may hang up
}

/// Returns the reply to a conversation with these results.
fn next(script: &[Step], results: &[Value]) -> Reply {
    match script.get(results.len()) {
        Some(step) => step(results),
        None => Reply::Say("done".to_owned()),
    }
}

/// Builds server-sent events; each is named by its own `type`.
fn stream(events: &[Value]) -> String {
    let line = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap_or_default()
        )
    };
    events.iter().map(line).collect()
}

/// Returns the results of tool calls in a request of either dialect, oldest first, parsed if they
/// are JSON.
pub fn results(body: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let claude = list(&body["messages"])
        .into_iter()
        .flat_map(|it| list(&it["content"]));
    let claude = claude
        .filter(|it| it["type"] == "tool_result")
        .map(|it| parse(&it["content"]));
    let codex = list(&body["input"])
        .into_iter()
        .filter(|it| it["type"] == "function_call_output");
    claude.chain(codex.map(|it| parse(&it["output"]))).collect()
}

fn parse(content: &Value) -> Value {
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = match content.as_str() {
        Some(text) => text.to_owned(),
        None => parts.iter().filter_map(|it| it["text"].as_str()).collect(),
    };
    // Codex puts a line or two with the duration of a call before its result.
    let start = text.find('{').unwrap_or(0);
    serde_json::from_str(&text[start..]).unwrap_or(Value::String(text))
}

/// The Messages dialect of Claude Code.
fn messages(body: &Value, script: &[Step]) -> String {
    // Side jobs (a title, a topic) come without tools and get a short answer.
    let conversation = body["tools"].as_array().is_some_and(|it| !it.is_empty());
    let reply = if conversation {
        next(script, &results(body))
    } else {
        Reply::Say("ok".to_owned())
    };
    let (block, delta, stop) = match reply {
        Reply::Call(tool, input) => (
            json!({"type": "tool_use", "id": format!("toolu_{}", results(body).len()), "name": format!("mcp__engram__{tool}"), "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            "tool_use",
        ),
        Reply::Say(text) => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
    };
    stream(&[
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
            "model": body["model"], "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ])
}

/// The Responses dialect of Codex.
fn responses(body: &Value, script: &[Step]) -> String {
    let results = results(body);
    let item = match next(script, &results) {
        Reply::Call(tool, input) => {
            json!({"type": "function_call", "call_id": format!("call_{}", results.len()),
            "namespace": "mcp__engram", "name": tool, "arguments": input.to_string()})
        }
        Reply::Say(text) => json!({"type": "message", "role": "assistant", "id": "msg_1",
            "content": [{"type": "output_text", "text": text}]}),
    };
    stream(&[
        json!({"type": "response.created", "response": {"id": "resp_1"}}),
        json!({"type": "response.output_item.done", "item": item}),
        json!({"type": "response.completed", "response": {"id": "resp_1", "usage": {"input_tokens": 1,
            "input_tokens_details": null, "output_tokens": 1, "output_tokens_details": null, "total_tokens": 2}}}),
    ])
}
