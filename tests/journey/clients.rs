//! MCP clients by other authors, in both protocol eras, with the built command.

use std::{ffi::OsStr, fs, path::Path, process::Output};

use serde_json::{Value, json};

use crate::{
    dashboard::shop::Shop,
    engram::Engram,
    machine::{clean, npm, ok, python, run, workspace},
};

#[test]
fn the_official_python_client_uses_every_tool() {
    for mode in ["legacy", "2026-07-28"] {
        let shop = Shop::empty().noted();
        let script = workspace().join("tests/clients/python_client.py");
        let mut client = clean(python(), &shop.dir);
        println!(
            "{}",
            ok(client.arg(script).arg(mode).args(shop.engram().server()))
        );
    }
}

/// Both read what `engram connect` wrote, and start the server.
#[test]
fn gemini_cli_and_opencode_start_the_connected_server() {
    let shop = Shop::empty().noted();
    let engram = shop.engram();
    // Gemini CLI starts no server in a folder that its user does not trust.
    let trusted = json!({ shop.root.canonicalize().unwrap().to_str().unwrap(): "TRUST_FOLDER" });
    fs::create_dir(shop.dir.join(".gemini")).unwrap();
    let trusted_folders = shop.dir.join(".gemini/trustedFolders.json");
    fs::write(trusted_folders, trusted.to_string()).unwrap();
    for client in ["gemini", "opencode"] {
        let servers = || {
            let mut list = clean(npm(client), &shop.dir);
            list.env("OPENCODE_DISABLE_MODELS_FETCH", "1");
            list.env("OPENCODE_DISABLE_AUTOUPDATE", "1");
            let listed = run(list.current_dir(&shop.root).args(["mcp", "list"]));
            [listed.stdout, listed.stderr]
                .map(|it| String::from_utf8_lossy(&it).into_owned())
                .concat()
        };
        engram.json(&["connect", client, "--yes"]);
        let connected = servers();
        assert!(connected.contains("✓ engram"), "{client}: {connected}");
        engram.json(&["connect", client, "--undo", "--yes"]);
        let undone = servers();
        assert!(!undone.contains("engram mcp"), "{client}: {undone}");
        assert!(!undone.contains("✓"), "{client}: {undone}");
    }
}

/// The Inspector's exit code when a tool returns `isError`.
const TOOL_ERROR: i32 = 5;

#[test]
fn the_inspector_uses_every_tool() {
    for era in ["legacy", "modern"] {
        let shop = Shop::empty().noted();
        let inspector = Inspector::new(&shop.engram(), &shop.dir, era);

        let listed = inspector.ok(&["--method", "tools/list", "--strict"]);
        let names: Vec<&str> = listed["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        let mut stored = Value::Null;
        for (tool, mut input) in tools() {
            if tool == "engram_promote" {
                input["fact_id"] = stored.clone();
            }
            assert!(names.contains(&tool), "{era}: {tool} is listed: {names:?}");
            let reply = inspector.ok(&call(tool, &input));
            assert!(
                reply["structuredContent"].is_object(),
                "{era}: {tool} answers with data: {reply}"
            );
            if tool == "engram_commit" {
                stored = reply["structuredContent"]["id"].clone();
            }
        }
        let unpinned = json!({"content": "No pin.", "scope": "a", "confidence": 0.5, "pointers": ["repo:NOTES.md"]});
        let refused = inspector.run(&call("engram_commit", &unpinned));
        let said = String::from_utf8_lossy(&refused.stdout);
        assert_eq!(refused.status.code(), Some(TOOL_ERROR), "{era}: {said}");
        assert!(
            said.contains("POINTER_UNPINNED") && said.contains("@HEAD"),
            "{era}: code and hint: {said}"
        );

        let resources = inspector.ok(&["--method", "resources/list"]);
        let uri = resources["resources"][0]["uri"]
            .as_str()
            .expect("the engram is a resource");
        let read = inspector.ok(&["--method", "resources/read", "--uri", uri]);
        assert!(read.to_string().contains(CLAIM), "{era}: {read}");
    }
}

const CLAIM: &str = "The notes are one line.";

/// Returns every tool with a valid input, ordered so that each finds something.
fn tools() -> [(&'static str, Value); 5] {
    [
        ("engram_status", json!({})),
        (
            "engram_commit",
            json!({"content": CLAIM, "scope": "notes", "confidence": 0.8, "pointers": ["repo:NOTES.md#L1@HEAD"]}),
        ),
        ("engram_query", json!({"topic": "how long are the notes"})),
        ("engram_deref", json!({"pointer": "repo:NOTES.md#L1@HEAD"})),
        // The claim that was committed is added to the input.
        ("engram_promote", json!({})),
    ]
}

fn call(tool: &str, input: &Value) -> [String; 6] {
    [
        "--method",
        "tools/call",
        "--tool-name",
        tool,
        "--tool-args-json",
        &input.to_string(),
    ]
    .map(str::to_owned)
}

/// The Inspector's command line, with our server in its settings.
struct Inspector<'a> {
    home: &'a Path,
    era: &'a str,
}

impl<'a> Inspector<'a> {
    fn new(engram: &Engram, home: &'a Path, era: &'a str) -> Self {
        let server = engram.server();
        let settings = json!({"mcpServers": {"engram": {"type": "stdio", "command": server[0], "args": server[1..]}}});
        fs::write(home.join("inspector.json"), settings.to_string()).unwrap();
        Self { home, era }
    }

    fn run(&self, args: &[impl AsRef<OsStr>]) -> Output {
        let mut inspector = clean(npm("mcp-inspector"), self.home);
        inspector
            .args(["--cli", "--config"])
            .arg(self.home.join("inspector.json"));
        inspector
            .args(["--server", "engram", "--protocol-era", self.era])
            .args(args);
        run(&mut inspector)
    }

    fn ok(&self, args: &[impl AsRef<OsStr>]) -> Value {
        let output = self.run(args);
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}{complained}", self.era);
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}
