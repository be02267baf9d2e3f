//! A client that sends raw JSON-RPC lines, and a repository to serve.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use engram_engine::{Engine, Options, World};
use engram_kit::{Folder, Repository};
use engram_model::{Refusal, Secret};
use engram_server::{Toolset, mcp_over};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};

/// Twelve lines, so that spans differ.
pub(crate) const LEDGER: &str = "\
fn post(entry: Entry) {
    // Vendors retry for 30 days.
    store(entry);
}

fn store(entry: Entry) {
    let key = entry.id;
    table().insert(key, entry);
}

const RETRY_DAYS: u32 = 30;
// the end
";

/// A repository with one commit, a home beside it, and an engine on both.
pub(crate) struct Sandbox {
    pub(crate) engine: Arc<Engine>,
    folder: Arc<Folder>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// Creates the sandbox with this text in the home's `config.toml`.
    pub(crate) fn with(config: &str) -> Self {
        Self::within(config, World::system())
    }

    /// Does the same with the clock and the randomness of this world.
    pub(crate) fn within(config: &str, world: World) -> Self {
        let folder = Folder::temporary();
        let files = [("src/ledger.rs", LEDGER.as_bytes())];
        engram_kit::write(&folder.path("home/config.toml"), config);
        let options = Options {
            home: folder.path("home"),
            repo: None,
            from: Repository::with(folder.path("repo"), &files).root,
        };
        let engine = Engine::open_in(options, world);
        Self {
            engine: Arc::new(engine.unwrap()),
            folder: Arc::new(folder),
        }
    }

    /// Returns the path of this file in the home.
    pub(crate) fn path_in_home(&self, name: &str) -> PathBuf {
        self.folder.path("home").join(name)
    }

    /// Changes the ledger without committing it.
    pub(crate) fn edit(&self, text: &str) {
        engram_kit::write(&self.folder.path("repo/src/ledger.rs"), text);
    }
}

/// Compiles a schema; panics if the schema itself is invalid.
pub(crate) fn compile(schema: &Value) -> (boon::Schemas, boon::SchemaIndex) {
    let (mut all, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("tool.json", schema.clone()).unwrap();
    let one = compiler.compile("tool.json", &mut all).unwrap();
    (all, one)
}

/// The two protocol eras that clients use today.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Era {
    /// 2025-11-25: a session that begins with `initialize`.
    Legacy,
    /// 2026-07-28: every request carries its version.
    Modern,
}

pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// The `_meta` of every request in the modern era.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
    })
}

pub(crate) struct Client {
    era: Era,
    write: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: JoinHandle<Result<(), Refusal>>,
    last_id: u64,
    early: HashMap<u64, Value>,
    _folder: Arc<Folder>,
}

impl Client {
    /// A connection on which nothing was sent yet.
    pub(crate) fn raw(sandbox: &Sandbox, era: Era) -> Self {
        Self::connect(sandbox, era, &[Toolset::Core], None)
    }

    /// A connection to these tools, for the agent that the token proves.
    pub(crate) fn with(
        sandbox: &Sandbox,
        tools: &'static [Toolset],
        token: Option<Secret>,
    ) -> Self {
        Self::connect(sandbox, Era::Modern, tools, token)
    }

    fn connect(
        sandbox: &Sandbox,
        era: Era,
        tools: &'static [Toolset],
        token: Option<Secret>,
    ) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(far);
        let engine = Arc::clone(&sandbox.engine);
        let server = tokio::spawn(mcp_over(engine, tools, token, read, write));
        let (read, write) = tokio::io::split(near);
        Self {
            era,
            write,
            lines: BufReader::new(read).lines(),
            server,
            last_id: 0,
            early: HashMap::new(),
            _folder: Arc::clone(&sandbox.folder),
        }
    }

    /// A connection that is ready for calls.
    pub(crate) async fn open(sandbox: &Sandbox, era: Era) -> Self {
        let mut client = Self::raw(sandbox, era);
        if era == Era::Legacy {
            client.initialize().await;
        }
        client
    }

    pub(crate) async fn initialize(&mut self) -> Value {
        let answer = self
            .request(
                "initialize",
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": { "name": "tester", "version": "1" },
                }),
            )
            .await;
        self.line(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        answer["result"].clone()
    }

    /// Sends bytes and a newline.
    pub(crate) async fn line(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.unwrap();
        self.write.write_all(b"\n").await.unwrap();
    }

    /// Returns the id and the line of a request, without sending it.
    pub(crate) fn request_line(&mut self, method: &str, mut params: Value) -> (u64, String) {
        self.last_id += 1;
        if self.era == Era::Modern {
            params["_meta"] = meta();
        }
        let request =
            json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        (self.last_id, request.to_string())
    }

    /// Sends a request and returns its id, without waiting for the answer.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> u64 {
        let (id, line) = self.request_line(method, params);
        self.line(line.as_bytes()).await;
        id
    }

    /// Returns the next message of any kind; none once the server has closed its end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).expect("only JSON on the output"))
    }

    /// Returns the answer to a request that was sent.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.early.remove(&id) {
                return answer;
            }
            let answer = self.next().await.expect("an answer before the end");
            let got = answer["id"].as_u64().expect("an answer to a request");
            self.early.insert(got, answer);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool and checks the result against the tool's schema.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", params).await;
        let result = &answer["result"];
        assert!(result.is_object(), "{tool}: {answer}");
        self.check(tool, result).await;
        result.clone()
    }

    /// Makes a call that must succeed; returns the result that the model sees.
    pub(crate) async fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], json!(false), "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Makes a call that must be refused; returns the error that the model sees.
    pub(crate) async fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], json!(true), "{tool}: {result}");
        result["structuredContent"]["error"].clone()
    }

    async fn check(&mut self, tool: &str, result: &Value) {
        let seen = &result["structuredContent"];
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(&text, seen, "{tool}: text and structure differ");
        let schema = self.tool(tool).await["outputSchema"].clone();
        let (all, one) = compile(&schema);
        if let Err(error) = all.validate(seen, one) {
            panic!("{tool}: {seen} breaks its schema: {error}");
        }
        if result["isError"].as_bool().unwrap() {
            engram_kit::check_error(&seen["error"])
        } else {
            let untold = names_beyond(&schema, seen);
            assert!(untold.is_empty(), "{tool} does not describe {untold:?}");
        }
        let modern = self.era == Era::Modern;
        assert_eq!(result["resultType"] == "complete", modern, "{result}");
    }

    pub(crate) async fn tools(&mut self) -> Vec<Value> {
        let answer = self.request("tools/list", json!({})).await;
        answer["result"]["tools"].as_array().unwrap().clone()
    }

    pub(crate) async fn tool(&mut self, name: &str) -> Value {
        let tools = self.tools().await;
        let found = tools.into_iter().find(|tool| tool["name"] == name);
        found.expect("a listed tool")
    }

    /// Ends the input; returns the messages that still arrive, and how the server ended.
    pub(crate) async fn end(mut self) -> (Vec<Value>, Result<(), Refusal>) {
        self.write.shutdown().await.unwrap();
        let mut rest: Vec<Value> = self.early.drain().map(|(_, answer)| answer).collect();
        while let Some(answer) = self.next().await {
            rest.push(answer);
        }
        (rest, self.server.await.unwrap())
    }
}

/// Returns the names in a reply that its schema does not contain.
fn names_beyond(schema: &Value, value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| match schema_of(schema, name) {
                Some(schema) => names_beyond(schema, value),
                None => vec![name.clone()],
            })
            .collect(),
        Value::Array(items) => items
            .iter()
            .flat_map(|item| names_beyond(&schema["items"], item))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the schema of one name.
fn schema_of<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let grouped = || {
        let patterns = schema["patternProperties"].as_object()?;
        let of_name = |pattern: &(&String, &Value)| {
            let names = pattern.0.trim_start_matches("^(").trim_end_matches(")$");
            pattern.0.is_empty() || names.split('|').any(|it| it == name)
        };
        patterns.iter().find(of_name).map(|it| it.1)
    };
    schema["properties"].get(name).or_else(grouped)
}
