//! Connecting agents: existing text stays, and undo restores a file byte for byte.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use engram_kit::Repository;

use crate::fixture::Sandbox;

/// A client with its configuration file.
struct ClientFile {
    name: &'static str,
    path: PathBuf,
    /// The name of the object around the servers; none in TOML.
    key: Option<&'static str>,
}

impl ClientFile {
    /// A text for this client, from that for Claude Code or that for Codex.
    fn text(&self, claude: &str, codex: &str) -> String {
        match self.key {
            Some(key) => claude.replace("mcpServers", key),
            None => codex.to_owned(),
        }
    }
}

fn clients(sandbox: &Sandbox) -> [ClientFile; 8] {
    let of = |name, path, key| ClientFile { name, path, key };
    let repo = |file| sandbox.repo().join(file);
    [
        of("claude", repo(".mcp.json"), Some("mcpServers")),
        of("codex", sandbox.path("codex/config.toml"), None),
        of("cursor", repo(".cursor/mcp.json"), Some("mcpServers")),
        of("vscode", repo(".vscode/mcp.json"), Some("servers")),
        of("gemini", repo(".gemini/settings.json"), Some("mcpServers")),
        of("opencode", repo("opencode.json"), Some("mcp")),
        of("zed", repo(".zed/settings.json"), Some("context_servers")),
        of(
            "windsurf",
            sandbox.path("person/.codeium/windsurf/mcp_config.json"),
            Some("mcpServers"),
        ),
    ]
}

fn read(path: &PathBuf) -> Option<String> {
    fs::read_to_string(path).ok()
}

const CLAUDE: &str = "{\n  // my servers\n  \"mcpServers\": {\n    \"zeta\": { \"command\": \"zeta\" }, /* last */\n    \"alpha\": { \"command\": \"alpha\", \"args\": [ ] }\n  },\n  \"other\":   [1,2]\n}\n";
const CODEX: &str = "# mine\nmodel = \"o\"   # keep\n\n[mcp_servers.zeta]\ncommand = 'zeta' # z\n\n[tui]\nb = 1\na = 2\n# the end\n";

/// Contents that a client's file may have had before.
fn configurations_before(client: &ClientFile) -> Vec<Option<String>> {
    let texts = [
        ("", ""),
        ("{}", "a = 1"),
        (
            "{\"a\":1}",
            "mcp_servers = { zeta = { command = \"z\" } }\n",
        ),
        ("{ \"mcpServers\": {} }\r\n", "[mcp_servers]\n"),
        (CLAUDE, CODEX),
    ];
    let texts = texts.map(|(claude, codex)| Some(client.text(claude, codex)));
    [None].into_iter().chain(texts).collect()
}

#[test]
fn connecting_shows_then_writes_then_takes_back_to_the_byte() {
    let sandbox = Sandbox::new();
    for file in clients(&sandbox) {
        let (client, path) = (file.name, &file.path);
        for before in configurations_before(&file) {
            let before = before.as_deref();
            let _ = fs::remove_file(path);
            if let Some(before) = before {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, before).unwrap();
            }
            let shown = sandbox.json(&["connect", client]);
            assert_eq!(
                (&shown["changed"], &shown["written"]),
                (&json!(true), &json!(false))
            );
            assert_eq!(shown["path"], path.to_str().unwrap());
            let diff = shown["diff"].as_str().unwrap();
            assert!(diff.contains("engram") && diff.contains("mcp"), "{diff}");
            assert_eq!(read(path).as_deref(), before, "shown, not written");
            let plain = sandbox.run(&["connect", client]);
            assert!(
                plain.out.contains("+") && plain.out.contains("--yes") && plain.code == Some(0),
                "{plain:?}"
            );
            assert_eq!(
                read(path).as_deref(),
                before,
                "nothing is written without consent"
            );

            let written = sandbox.json(&["connect", client, "--yes"]);
            assert_eq!(
                (&written["changed"], &written["written"]),
                (&json!(true), &json!(true))
            );
            let after = read(path).unwrap();
            check_entry(&file, &after, &sandbox);
            assert_kept(before.unwrap_or_default(), &after);
            let again = sandbox.json(&["connect", client, "--yes"]);
            assert_eq!(
                (&again["changed"], &again["written"]),
                (&json!(false), &json!(false))
            );
            assert_eq!(read(path).unwrap(), after);

            let undone = sandbox.json(&["connect", client, "--undo", "--yes"]);
            assert_eq!(undone["written"], true);
            assert_eq!(read(path).as_deref(), before, "{client} undone");
            let again = sandbox.json(&["connect", client, "--undo", "--yes"]);
            assert_eq!(again["changed"], false, "{client}: nothing left to undo");
        }
    }
}

fn check_entry(client: &ClientFile, text: &str, sandbox: &Sandbox) {
    let engram = env!("CARGO_BIN_EXE_engram");
    let Some(key) = client.key else {
        let document: toml_edit::DocumentMut = text.parse().unwrap();
        let entry = &document["mcp_servers"]["engram"];
        assert_eq!(entry["command"].as_str(), Some(engram));
        assert_eq!(entry["args"].as_array().unwrap().len(), 3);
        return;
    };
    let plain: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap().replace("/* last */", ""))
        .collect();
    let value: Value = serde_json::from_str(&plain).unwrap();
    let entry = &value[key]["engram"];
    let mut words: Vec<&str> = match &entry["command"] {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        command => command.as_str().into_iter().collect(),
    };
    words.extend(
        entry["args"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str),
    );
    let repo = match client.name {
        "cursor" | "vscode" => Some("${workspaceFolder}".to_owned()),
        "windsurf" => Some(sandbox.repo().to_str().unwrap().to_owned()),
        _ => None,
    };
    let home = sandbox.home();
    let mut want = vec![engram, "--home", home.to_str().unwrap()];
    want.extend(repo.iter().flat_map(|it| ["--repo", it]));
    want.push("mcp");
    assert_eq!(words, want, "{}", client.name);
}

/// Checks that every line of `before` is still there, in its order. A comma may have been added.
#[track_caller]
fn assert_kept(before: &str, after: &str) {
    let mut lines = after.lines();
    for line in before
        .lines()
        .filter(|line| line.len() > 30 || line.contains("//") || line.contains('#'))
    {
        assert!(
            lines.any(|it| it == line
                || it.strip_suffix(',') == Some(line)
                || it.starts_with(line.trim_end_matches(" }"))),
            "{line:?} is gone or moved:\n{after}"
        );
    }
}

#[test]
fn what_was_edited_since_loses_only_our_entry() {
    let sandbox = Sandbox::new();
    for file in clients(&sandbox) {
        let (client, path) = (file.name, &file.path);
        let before = &*file.text(CLAUDE, CODEX);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, before).unwrap();
        sandbox.json(&["connect", client, "--yes"]);
        let edited = read(path)
            .unwrap()
            .replace("alpha", "omega")
            .replace("model = \"o\"", "model = \"p\"");
        fs::write(path, &edited).unwrap();
        sandbox.json(&["connect", client, "--undo", "--yes"]);
        let left = read(path).unwrap();
        let expected = before
            .replace("alpha", "omega")
            .replace("model = \"o\"", "model = \"p\"");
        assert!(!left.contains("engram"), "{left}");
        assert_kept(&expected, &left);
    }
}

#[test]
fn a_file_that_we_made_and_the_user_extended_stays() {
    let sandbox = Sandbox::new();
    for file in clients(&sandbox) {
        let (client, path) = (file.name, &file.path);
        sandbox.json(&["connect", client, "--yes"]);
        let more = match file.key {
            Some(_) => read(path).unwrap().replacen(
                "\"engram\"",
                "\"mine\": {\"command\": \"m\"}, \"engram\"",
                1,
            ),
            None => read(path).unwrap() + "\n[mine]\na = 1\n",
        };
        fs::write(path, more).unwrap();
        sandbox.json(&["connect", client, "--undo", "--yes"]);
        let left = read(path).unwrap();
        assert!(left.contains("mine") && !left.contains("engram"), "{left}");
    }
}

/// A second home replaces the entry of the first; undo then removes engram instead of going back
/// one step.
#[test]
fn connecting_twice_is_undone_at_once() {
    let sandbox = Sandbox::new();
    for file in clients(&sandbox) {
        let (client, path) = (file.name, &file.path);
        sandbox.json(&["connect", client, "--yes"]);
        let other = sandbox.path("other home");
        let other = other.to_str().unwrap();
        // The record is in the home that wrote last.
        fs::create_dir_all(other).unwrap();
        for args in [
            vec!["connect", client, "--yes"],
            vec!["connect", client, "--undo", "--yes"],
        ] {
            let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.repo());
            let output = command
                .args(["--home", other, "--json"])
                .args(&args)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            if args.len() == 3 {
                assert!(read(path).unwrap().contains("other home"));
            }
        }
        assert!(
            read(path).is_none_or(|text| !text.contains("command")),
            "{:?}",
            read(path)
        );
    }
    // In one home, after the program moved, the result is the same.
    let moved = sandbox.path("moved");
    fs::create_dir(&moved).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_engram"), moved.join("engram")).unwrap();
    for file in clients(&sandbox) {
        let (client, path) = (file.name, &file.path);
        let _ = fs::remove_file(path);
        sandbox.json(&["connect", client, "--yes"]);
        let mut command = sandbox.plain(moved.join("engram"), &sandbox.repo());
        let home = sandbox.home();
        let output = command
            .args(["--home", home.to_str().unwrap(), "connect", client, "--yes"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(read(path).unwrap().contains("moved"));
        sandbox.json(&["connect", client, "--undo", "--yes"]);
        assert_eq!(read(path), None, "{client}");
    }
}

#[test]
fn another_server_of_our_name_is_told_and_put_back() {
    let sandbox = Sandbox::new();
    for file in clients(&sandbox) {
        let (client, path) = (file.name, &file.path);
        let before = &*file.text(
            "{\"mcpServers\": {\"engram\": {\"url\": \"http://other\"}}}",
            "[mcp_servers.engram]\nurl = \"http://other\"\n",
        );
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, before).unwrap();
        let shown = sandbox.run(&["connect", client]).out;
        assert!(
            shown.contains("another server named engram") && shown.contains("-"),
            "{shown}"
        );
        let written = sandbox.json(&["connect", client, "--yes"]);
        assert_eq!(written["replaces"], true);
        check_entry(&file, &read(path).unwrap(), &sandbox);
        assert!(!read(path).unwrap().contains("other"));
        sandbox.json(&["connect", client, "--undo", "--yes"]);
        assert_eq!(read(path).as_deref(), Some(before), "{client}");
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_refused_unchanged() {
    let sandbox = Sandbox::new();
    for file in clients(&sandbox) {
        let (client, path) = (file.name, &file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let [number, list] =
            ["3", "[]"].map(|it| file.text(&format!("{{\"mcpServers\": {it}}}"), ""));
        let malformed: &[&[u8]] = match file.key {
            Some(_) => &[
                b"{",
                b"[]",
                number.as_bytes(),
                list.as_bytes(),
                b"\xff\xfe",
                b"nonsense",
            ],
            None => &[
                b"[",
                b"mcp_servers = 3\n",
                b"[[mcp_servers]]\n",
                b"mcp_servers.engram = 3\n",
                b"\xff\xfe",
                b"a = 1\na = 2\n",
            ],
        };
        for bytes in malformed {
            fs::write(path, bytes).unwrap();
            let error = sandbox.run(&["connect", client, "--yes", "--json"]).error();
            assert_eq!(error["code"], "SCHEMA_INVALID", "{client} {bytes:?}");
            assert!(
                error["hint"]
                    .as_str()
                    .unwrap()
                    .contains("Nothing was changed"),
                "{error}"
            );
            assert_eq!(fs::read(path).unwrap(), *bytes, "{client}");
        }
    }
}

#[test]
fn without_an_agent_the_agents_are_listed() {
    let sandbox = Sandbox::new();
    let listed = sandbox.run(&["connect"]).out;
    let agents = sandbox.json(&["connect"])["agents"].clone();
    for client in clients(&sandbox) {
        let command = format!("connect {}", client.name);
        assert!(listed.contains(&command), "{listed}");
        assert!(agents.to_string().contains(&command), "{agents}");
    }
    assert_eq!(agents.as_array().map(Vec::len), Some(8), "{agents}");
}

/// The refusal of an unknown name lists the known ones, in text and in JSON.
#[test]
fn an_unknown_agent_is_refused_with_the_known_ones() {
    let sandbox = Sandbox::new();
    let plain = sandbox.run(&["connect", "emacs"]);
    let error = sandbox.run(&["connect", "emacs", "--json"]).error();
    for client in clients(&sandbox) {
        assert!(plain.err.contains(client.name), "{plain:?}");
        assert!(
            error["hint"].as_str().unwrap().contains(client.name),
            "{error}"
        );
    }
}

/// The files of a change are listed, and `CLAUDE.md` is one of them.
#[test]
fn every_file_of_a_change_is_shown_and_listed() {
    let sandbox = Sandbox::new();
    let root = sandbox.repo();
    fs::write(root.join("CLAUDE.md"), "# Rules\n").unwrap();
    let shown = sandbox.json(&["connect", "claude"]);
    let files: Vec<_> = shown["files"].as_array().unwrap().iter().collect();
    let names = [".mcp.json", "AGENTS.md", "CLAUDE.md"];
    assert_eq!(files.len(), names.len(), "{shown}");
    for (file, name) in files.iter().zip(names) {
        assert_eq!(file["path"], root.join(name).to_str().unwrap());
        assert!(shown["diff"].as_str().unwrap().contains(name), "{shown}");
    }
    assert_eq!(shown["agents_md"]["changed"], true);
    let written = sandbox.run(&["connect", "claude", "--yes"]).out;
    assert!(written.contains("Approve it"), "{written}");
    let text = fs::read_to_string(root.join("CLAUDE.md")).unwrap();
    assert!(
        text.starts_with("# Rules\n") && text.contains("\n@AGENTS.md\n"),
        "{text}"
    );
    sandbox.run(&["connect", "claude", "--undo", "--yes"]);
    assert_eq!(
        fs::read_to_string(root.join("CLAUDE.md")).unwrap(),
        "# Rules\n"
    );
    assert!(!root.join("AGENTS.md").exists() && !root.join(".mcp.json").exists());
}

/// Codex has one configuration for all repositories, so in a second one only the advice is missing.
#[test]
fn a_second_repository_gets_the_advice_of_an_agent_that_is_connected_already() {
    let sandbox = Sandbox::new();
    let other = sandbox.path("other");
    Repository::init(&other);
    let other = other.to_str().unwrap();
    assert_eq!(sandbox.run(&["connect", "codex", "--yes"]).code, Some(0));
    let configured = read(&sandbox.path("codex/config.toml"));
    let state = |text| {
        sandbox
            .run(&["connect", "--repo", other])
            .out
            .contains(text)
    };
    assert!(state("connected; this repository's AGENTS.md"));
    let ran = sandbox.run(&["connect", "codex", "--yes", "--repo", other]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let advice = read(&sandbox.path("other/AGENTS.md")).unwrap();
    assert!(advice.contains("engram_status"), "{advice}");
    assert_eq!(read(&sandbox.path("codex/config.toml")), configured);
    assert!(!state("connected; this repository's AGENTS.md"));
}
