//! Connecting agents: existing text stays, and undo restores a file byte for byte.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::fixture::Sandbox;

/// Returns each client with its configuration file.
fn clients(sandbox: &Sandbox) -> [(&'static str, PathBuf); 2] {
    [
        ("claude", sandbox.repo().join(".mcp.json")),
        ("codex", sandbox.path("codex/config.toml")),
    ]
}

fn read(path: &PathBuf) -> Option<String> {
    fs::read_to_string(path).ok()
}

const CLAUDE: &str = "{\n  // my servers\n  \"mcpServers\": {\n    \"zeta\": { \"command\": \"zeta\" }, /* last */\n    \"alpha\": { \"command\": \"alpha\", \"args\": [ ] }\n  },\n  \"other\":   [1,2]\n}\n";
const CODEX: &str = "# mine\nmodel = \"o\"   # keep\n\n[mcp_servers.zeta]\ncommand = 'zeta' # z\n\n[tui]\nb = 1\na = 2\n# the end\n";

/// Contents that each client's file may have had before.
fn configurations_before(client: &str) -> Vec<Option<&'static str>> {
    match client {
        "claude" => vec![
            None,
            Some(""),
            Some("{}"),
            Some("{\"a\":1}"),
            Some("{ \"mcpServers\": {} }\r\n"),
            Some(CLAUDE),
        ],
        _ => vec![
            None,
            Some(""),
            Some("a = 1"),
            Some("mcp_servers = { zeta = { command = \"z\" } }\n"),
            Some("[mcp_servers]\n"),
            Some(CODEX),
        ],
    }
}

#[test]
fn connecting_shows_then_writes_then_takes_back_to_the_byte() {
    let sandbox = Sandbox::new();
    for (client, path) in clients(&sandbox) {
        for before in configurations_before(client) {
            let _ = fs::remove_file(&path);
            if let Some(before) = before {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, before).unwrap();
            }
            let shown = sandbox.json(&["connect", client]);
            assert_eq!(
                (&shown["changed"], &shown["written"]),
                (&json!(true), &json!(false))
            );
            assert_eq!(shown["path"], path.to_str().unwrap());
            let diff = shown["diff"].as_str().unwrap();
            assert!(diff.contains("engram") && diff.contains("mcp"), "{diff}");
            assert_eq!(read(&path).as_deref(), before, "shown, not written");
            let plain = sandbox.run(&["connect", client]);
            assert!(
                plain.out.contains("+") && plain.out.contains("--yes") && plain.code == Some(0),
                "{plain:?}"
            );
            assert_eq!(
                read(&path).as_deref(),
                before,
                "nothing is written without consent"
            );

            let written = sandbox.json(&["connect", client, "--yes"]);
            assert_eq!(
                (&written["changed"], &written["written"]),
                (&json!(true), &json!(true))
            );
            let after = read(&path).unwrap();
            check_entry(client, &after, &sandbox);
            assert_kept(before.unwrap_or_default(), &after);
            let again = sandbox.json(&["connect", client, "--yes"]);
            assert_eq!(
                (&again["changed"], &again["written"]),
                (&json!(false), &json!(false))
            );
            assert_eq!(read(&path).unwrap(), after);

            let undone = sandbox.json(&["connect", client, "--undo", "--yes"]);
            assert_eq!(undone["written"], true);
            assert_eq!(read(&path).as_deref(), before, "{client} undone");
            let again = sandbox.json(&["connect", client, "--undo", "--yes"]);
            assert_eq!(again["changed"], false, "{client}: nothing left to undo");
        }
    }
}

fn check_entry(client: &str, text: &str, sandbox: &Sandbox) {
    let home = sandbox.home();
    let engram = env!("CARGO_BIN_EXE_engram");
    match client {
        "claude" => {
            let plain: String = text
                .lines()
                .map(|line| line.split("//").next().unwrap().replace("/* last */", ""))
                .collect();
            let value: Value = serde_json::from_str(&plain).unwrap();
            let entry = &value["mcpServers"]["engram"];
            assert_eq!(entry["command"], engram);
            assert_eq!(
                entry["args"],
                json!(["--home", home.to_str().unwrap(), "mcp"])
            );
        }
        _ => {
            let document: toml_edit::DocumentMut = text.parse().unwrap();
            let entry = &document["mcp_servers"]["engram"];
            assert_eq!(entry["command"].as_str(), Some(engram));
            assert_eq!(entry["args"].as_array().unwrap().len(), 3);
        }
    }
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
    for (client, path) in clients(&sandbox) {
        let before = match client {
            "claude" => CLAUDE,
            _ => CODEX,
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, before).unwrap();
        sandbox.json(&["connect", client, "--yes"]);
        let edited = read(&path)
            .unwrap()
            .replace("alpha", "omega")
            .replace("model = \"o\"", "model = \"p\"");
        fs::write(&path, &edited).unwrap();
        sandbox.json(&["connect", client, "--undo", "--yes"]);
        let left = read(&path).unwrap();
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
    for (client, path) in clients(&sandbox) {
        sandbox.json(&["connect", client, "--yes"]);
        let more = match client {
            "claude" => read(&path).unwrap().replacen(
                "\"engram\"",
                "\"mine\": {\"command\": \"m\"}, \"engram\"",
                1,
            ),
            _ => read(&path).unwrap() + "\n[mine]\na = 1\n",
        };
        fs::write(&path, more).unwrap();
        sandbox.json(&["connect", client, "--undo", "--yes"]);
        let left = read(&path).unwrap();
        assert!(left.contains("mine") && !left.contains("engram"), "{left}");
    }
}

/// A second home replaces the entry of the first; undo then removes engram instead of going back
/// one step.
#[test]
fn connecting_twice_is_undone_at_once() {
    let sandbox = Sandbox::new();
    for (client, path) in clients(&sandbox) {
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
                assert!(read(&path).unwrap().contains("other home"));
            }
        }
        assert!(
            read(&path).is_none_or(|text| !text.contains("command")),
            "{:?}",
            read(&path)
        );
    }
    // In one home, after the program moved, the result is the same.
    let moved = sandbox.path("moved");
    fs::create_dir(&moved).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_engram"), moved.join("engram")).unwrap();
    for (client, path) in clients(&sandbox) {
        let _ = fs::remove_file(&path);
        sandbox.json(&["connect", client, "--yes"]);
        let mut command = sandbox.plain(moved.join("engram"), &sandbox.repo());
        let home = sandbox.home();
        let output = command
            .args(["--home", home.to_str().unwrap(), "connect", client, "--yes"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(read(&path).unwrap().contains("moved"));
        sandbox.json(&["connect", client, "--undo", "--yes"]);
        assert_eq!(read(&path), None, "{client}");
    }
}

#[test]
fn another_server_of_our_name_is_told_and_put_back() {
    let sandbox = Sandbox::new();
    for (client, path) in clients(&sandbox) {
        let before = match client {
            "claude" => "{\"mcpServers\": {\"engram\": {\"url\": \"http://other\"}}}",
            _ => "[mcp_servers.engram]\nurl = \"http://other\"\n",
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, before).unwrap();
        let shown = sandbox.run(&["connect", client]).out;
        assert!(
            shown.contains("another server named engram") && shown.contains("-"),
            "{shown}"
        );
        let written = sandbox.json(&["connect", client, "--yes"]);
        assert_eq!(written["replaces"], true);
        check_entry(client, &read(&path).unwrap(), &sandbox);
        assert!(!read(&path).unwrap().contains("other"));
        sandbox.json(&["connect", client, "--undo", "--yes"]);
        assert_eq!(read(&path).as_deref(), Some(before), "{client}");
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_refused_unchanged() {
    let sandbox = Sandbox::new();
    for (client, path) in clients(&sandbox) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let malformed: &[&[u8]] = match client {
            "claude" => &[
                b"{",
                b"[]",
                b"{\"mcpServers\": 3}",
                b"{\"mcpServers\": []}",
                b"\xff\xfe",
                b"nonsense",
            ],
            _ => &[
                b"[",
                b"mcp_servers = 3\n",
                b"[[mcp_servers]]\n",
                b"mcp_servers.engram = 3\n",
                b"\xff\xfe",
                b"a = 1\na = 2\n",
            ],
        };
        for bytes in malformed {
            fs::write(&path, bytes).unwrap();
            let error = sandbox.run(&["connect", client, "--yes", "--json"]).error();
            assert_eq!(error["code"], "SCHEMA_INVALID", "{client} {bytes:?}");
            assert!(
                error["hint"]
                    .as_str()
                    .unwrap()
                    .contains("Nothing was changed"),
                "{error}"
            );
            assert_eq!(fs::read(&path).unwrap(), *bytes, "{client}");
        }
    }
}

#[test]
fn without_an_agent_the_agents_are_listed() {
    let sandbox = Sandbox::new();
    let listed = sandbox.run(&["connect"]).out;
    for agent in ["connect claude", "connect codex"] {
        assert!(listed.contains(agent), "{listed}");
    }
    let agents = sandbox.json(&["connect"])["agents"].clone();
    assert_eq!(agents.as_array().map(Vec::len), Some(2), "{agents}");
}
