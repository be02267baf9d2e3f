//! MCP over HTTP: the same tools, called with the tokens of the bus, in both versions of the
//! protocol.

use engram_kit::requests::POINTER;

use super::{bus::Bus, *};

/// The first version puts everything into each request, the second only the version.
pub(super) const ERAS: [&str; 2] = ["2026-07-28", "2025-11-25"];

impl Bus {
    async fn mcp(&self, token: &str, query: &str, era: &str, body: &Value) -> (u16, Value) {
        let name = body["params"]["name"].as_str();
        let name = name
            .map(|it| format!("\r\nmcp-name: {it}"))
            .unwrap_or_default();
        let head = format!(
            "POST /mcp{query} HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer {token}\r\n{JSON}\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: {era}\r\n\
             mcp-method: {}{name}",
            body["method"].as_str().unwrap()
        );
        let (status, _, body) = self.served.ask(&head, body.to_string().as_bytes()).await;
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    async fn rpc(
        &self,
        token: &str,
        query: &str,
        era: &str,
        method: &str,
        mut params: Value,
    ) -> (u16, Value) {
        if era == ERAS[0] {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": era,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
            });
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.mcp(token, query, era, &body).await
    }

    pub(super) async fn tool(
        &self,
        token: &str,
        query: &str,
        era: &str,
        tool: &str,
        arguments: Value,
    ) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let (status, reply) = self.rpc(token, query, era, "tools/call", params).await;
        assert_eq!(status, 200, "{reply}");
        reply["result"]["structuredContent"].clone()
    }
}

/// Reads over MCP and over the bus share one budget. Claims over MCP are the agent's own.
#[tokio::test]
async fn an_agent_calls_tools_over_http_by_its_token() {
    for era in ERAS {
        let bus = Bus::new().await;
        let (lead, ada) = bus.family().await;
        for (query, count) in [("", 7), ("?toolsets=less", 6), ("?toolsets=core,less", 13)] {
            let (status, listed) = bus.rpc(&ada, query, era, "tools/list", json!({})).await;
            assert_eq!(status, 200, "{listed}");
            let tools = listed["result"]["tools"].as_array().unwrap();
            assert_eq!(tools.len(), count, "{query}");
        }
        let read = json!({ "pointer": POINTER });
        bus.tool(&ada, "", era, "engram_deref", read.clone()).await;
        let less = "?toolsets=less";
        bus.tool(&ada, less, era, "less_deref_pointer", read.clone())
            .await;
        bus.ok(&ada, "POST /pointer/deref", read.clone()).await;
        let denied = bus.tool(&ada, less, era, "less_deref_pointer", read).await;
        assert_eq!(denied["error"]["code"], "LESS_DEREF_DENIED");
        let budget = bus.ok(&lead, "GET /budget", Value::Null).await;
        let all = budget["agents"].as_array().unwrap();
        let spent = all.iter().find(|it| it["agent"] == "ada").unwrap();
        assert_eq!(spent["repo_spans"]["used"], 3, "{spent}");
        let claim = json!({
            "content": "The gateway retries.", "scope": "gateway", "confidence": 0.9,
        });
        bus.tool(&ada, "", era, "engram_commit", claim).await;
        let found = bus
            .ok(&ada, "GET /engram/query?keys=gateway", Value::Null)
            .await;
        assert_eq!(found[0]["provenance"]["created_by"], "ada");
        let status = bus.tool("TOKEN", "", era, "engram_status", json!({})).await;
        assert!(status["error"].is_null(), "{status}");
    }
}

/// A client of the older era begins with a handshake, which opens no session.
#[tokio::test]
async fn a_handshake_is_answered_and_not_needed() {
    let bus = Bus::new().await;
    let (_, ada) = bus.family().await;
    let hello = json!({
        "protocolVersion": ERAS[1], "capabilities": {}, "clientInfo": { "name": "tester", "version": "1" },
    });
    let (status, reply) = bus.rpc(&ada, "", ERAS[1], "initialize", hello).await;
    assert_eq!(
        (status, &reply["result"]["protocolVersion"]),
        (200, &json!(ERAS[1])),
        "{reply}"
    );
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let (status, reply) = bus.mcp(&ada, "", ERAS[1], &told).await;
    assert_eq!((status, reply), (202, Value::Null));
}

/// Strangers, other pages and malformed messages are refused as on the rest of the bus, and spend
/// nothing.
#[tokio::test]
async fn what_is_refused() {
    let bus = Bus::new().await;
    let (_, ada) = bus.family().await;
    let list =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    let long = "x".repeat(2 * 1024 * 1024);
    for (what, head, body, status, code) in [
        ("no token", "POST /mcp", list.as_str(), 401, "SCOPE_DENIED"),
        (
            "forged",
            "POST /mcp|authorization: Bearer forged",
            &list,
            401,
            "SCOPE_DENIED",
        ),
        (
            "other tools",
            "POST /mcp?toolsets=all|ADA",
            &list,
            400,
            "SCHEMA_INVALID",
        ),
        (
            "another name",
            "POST /mcp?tools=core|ADA",
            &list,
            400,
            "SCHEMA_INVALID",
        ),
        (
            "a page",
            "POST /mcp|ADA|origin: https://evil.example",
            &list,
            403,
            "SCOPE_DENIED",
        ),
        ("too long", "POST /mcp|ADA", &long, 400, "SCHEMA_INVALID"),
        (
            "no JSON",
            "POST /mcp|ADA|content-type: text/plain",
            &list,
            400,
            "SCHEMA_INVALID",
        ),
        (
            "no message",
            "POST /mcp|ADA|content-type: application/json",
            "[{]",
            400,
            "SCHEMA_INVALID",
        ),
        (
            "a number",
            "POST /mcp|ADA|content-type: application/json",
            "7",
            400,
            "SCHEMA_INVALID",
        ),
        (
            "a stream",
            "GET /mcp|ADA|accept: text/event-stream",
            "",
            405,
            "NOT_FOUND",
        ),
        ("an end", "DELETE /mcp|ADA", "", 405, "NOT_FOUND"),
    ] {
        let mut parts = head.split('|');
        let mut head = format!("{} HTTP/1.1\r\nhost: HOST", parts.next().unwrap());
        for line in parts {
            let line = line.replace("ADA", &format!("authorization: Bearer {ada}"));
            head = format!("{head}\r\n{line}");
        }
        let (answered, _, said) = bus.served.ask(&head, body.as_bytes()).await;
        let said: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{what}: {said}"));
        assert_eq!(Bus::code(&(answered, said)), (status, code), "{what}");
    }
}

/// The reads of all agents below an agent are limited per turn of that agent. No call of its own
/// may begin that turn again, since it could then read without limit through a child.
#[tokio::test]
async fn no_call_of_an_agent_begins_its_own_turn() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    let one = json!({ "role": "architect", "instructions": ["Read little."], "budgets": { "max_repo_spans": 1 } });
    let order = json!({ "message": one, "to": "lead" });
    bus.ok("TOKEN", "POST /message", order).await;
    let read = json!({ "pointer": POINTER });
    for _ in 0..10 {
        bus.ok("TOKEN", "POST /agent/ada/turn", Value::Null).await;
        bus.ok(&ada, "POST /pointer/deref", read.clone()).await;
    }
    let hello = json!({
        "protocolVersion": ERAS[1], "capabilities": {}, "clientInfo": { "name": "another", "version": "1" },
    });
    bus.rpc(&lead, "", ERAS[1], "initialize", hello).await;
    bus.tool(&lead, "", ERAS[1], "engram_deref", read.clone())
        .await;
    let said = json!({ "message": { "role": "programmer", "instructions": ["Go on."] } });
    let turned = json!({ "pointer": POINTER, "turn": "mine" });
    for (call, body, status) in [
        ("POST /hook/on_parent_broadcast", said, 200),
        ("POST /pointer/deref", turned, 403),
        ("POST /agent/lead/turn", json!({ "turn": "mine" }), 403),
        ("POST /agent", json!({ "name": "lead" }), 403),
        ("POST /agent/ada/turn", json!({ "turn": "mine" }), 200),
        ("GET /brief", Value::Null, 200),
    ] {
        let (answered, reply) = bus.call(&lead, call, body).await;
        assert_eq!(answered, status, "{call}: {reply}");
        bus.ok("TOKEN", "POST /agent/ada/turn", Value::Null).await;
        let denied = bus.call(&ada, "POST /pointer/deref", read.clone()).await;
        assert_eq!(Bus::code(&denied), (403, "DEREF_DENIED"), "{call}");
        let over_mcp = bus
            .tool(&ada, "", ERAS[0], "engram_deref", read.clone())
            .await;
        assert_eq!(over_mcp["error"]["code"], "DEREF_DENIED", "{call}");
        let figures = &denied.1["error"]["figures"]["repo_spans"];
        assert_eq!(figures, &json!({ "used": 10, "limit": 10 }), "{call}");
    }
    bus.ok("TOKEN", "POST /agent/lead/turn", Value::Null).await;
    bus.ok(&ada, "POST /pointer/deref", read).await;
}
