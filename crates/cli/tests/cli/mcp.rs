//! `engram mcp` as a process: it ends when its input ends, and leaves nothing behind.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::fixture::{POINTER, Sandbox, output_of};

/// A connection after its handshake.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Client {
    fn start(sandbox: &Sandbox) -> Self {
        Self::start_as(sandbox, "")
    }

    /// Connects as the agent that a token proves, or without one as a new agent.
    fn start_as(sandbox: &Sandbox, token: &str) -> Self {
        let mut command = sandbox.command();
        command.arg("mcp").env("ENGRAM_AGENT", token);
        Self::start_by(command)
    }

    fn start_by(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut client = Self {
            stdin: child.stdin.take(),
            child,
            lines,
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        client.ask(1, "initialize", hello);
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line: Value = serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap();
            if line["id"] == id {
                return line["result"].clone();
            }
        }
    }

    fn commit(&mut self, id: u64, content: &str) -> Value {
        let arguments = json!({"content": content, "scope": "gateway", "confidence": 0.9, "pointers": [POINTER]});
        let result = self.ask(
            id,
            "tools/call",
            json!({"name": "engram_commit", "arguments": arguments}),
        );
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    fn call(&mut self, id: u64, tool: &str, arguments: Value) -> Value {
        self.ask(
            id,
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Closes the input. The process ends with exit code 0 and prints nothing on standard error.
    fn end(mut self) {
        drop(self.stdin.take());
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn it_ends_with_its_input() {
    let sandbox = Sandbox::new();
    // Before any message, after half a line, after blank lines.
    for input in [&b""[..], b"{\"jsonrpc\"", b"\n\n"] {
        let ended = sandbox.feed(&["mcp"], input);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{input:?}");
    }
    let mut client = Client::start(&sandbox);
    client.commit(2, "The gateway retries with full jitter.");
    client.end();
}

/// The input is longer than what is read ahead but fits into the pipe, and nobody reads the
/// answers.
#[test]
fn it_ends_with_its_input_though_nobody_reads_and_not_all_was_read() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    let input = client.stdin.as_mut().unwrap();
    input.write_all(&b"garbage\n".repeat(6_000)).unwrap();
    drop(client.stdin.take());
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
    let answered = client.lines.count();
    assert!(answered > 0 && answered < 6_000, "{answered}");
}

#[test]
fn bad_requests_are_answered_and_nothing_is_said_of_them_where_nobody_reads() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    for id in 2..1_002 {
        client.ask(id, "tools/call", json!({"name": "none", "arguments": {}}));
    }
    client.end();
}

#[test]
fn twenty_at_once_leave_nothing_behind() {
    let sandbox = Sandbox::new();
    let mut clients: Vec<Client> = (0..20).map(|_| Client::start(&sandbox)).collect();
    for (at, client) in clients.iter_mut().enumerate() {
        client.commit(2, &format!("The gateway_{at} retries with full jitter."));
    }
    clients.into_iter().for_each(Client::end);
    // If two processes end at the same moment, each may leave the log to the other; the next
    // command takes it in.
    sandbox.json(&["status"]);
    let home = sandbox.home();
    let mut log = home.join("engram.db").into_os_string();
    log.push("-wal");
    assert!(
        !std::path::Path::new(&log).exists(),
        "the last process to end takes the log in"
    );
    assert_eq!(processes_of(home.to_str().unwrap()), Vec::<String>::new());
    // No lock is held: the index can be deleted, rebuilt and written at once.
    assert_eq!(sandbox.json(&["doctor", "--reindex"])["ok"], true);
    let status = sandbox.json(&["status"]);
    assert_eq!(status["indexed"], status["head"]);
    assert_eq!(status["engrams"], 20);
    assert_eq!(
        sandbox.json(&["query", "gateway_7"])["engrams"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// Returns the command lines of processes that name this home.
fn processes_of(home: &str) -> Vec<String> {
    let folders = std::fs::read_dir("/proc").unwrap();
    let lines = folders.filter_map(|it| std::fs::read(it.ok()?.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(home))
        .collect()
}

/// The index is deleted and rebuilt while servers have it open: they continue to answer.
#[test]
fn servers_outlive_a_reindex() {
    let sandbox = Sandbox::new();
    let mut clients: Vec<Client> = (0..3).map(|_| Client::start(&sandbox)).collect();
    let mut id = 10;
    for round in 0..5 {
        for at in 0..clients.len() {
            id += 1;
            clients[at].commit(id, &format!("Setting_{round}_{at} is {id} ms."));
            for client in &mut clients {
                id += 1;
                let arguments = json!({"topic": format!("setting_{round}_{at}")});
                let found = client.ask(
                    id,
                    "tools/call",
                    json!({"name": "engram_query", "arguments": arguments}),
                );
                let text = found.to_string();
                assert!(text.contains(&format!("Setting_{round}_{at} ")), "{text}");
            }
        }
        assert_eq!(sandbox.json(&["doctor", "--reindex"])["ok"], true);
        if round == 3 {
            std::fs::remove_dir_all(sandbox.home().join("index-10")).unwrap();
        }
    }
    clients.into_iter().for_each(Client::end);
}

/// A server is killed with its client, and another one takes over. It must not have to wait, or it
/// would be refused.
#[test]
fn a_killed_server_blocks_nobody() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    client.commit(2, "The gateway retries with full jitter.");
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    sandbox.put("The gateway retries three times.");
    assert_eq!(sandbox.json(&["doctor", "--reindex"])["ok"], true);
}

#[test]
fn a_home_that_cannot_be_opened_is_said_at_the_start() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "home/engram.db",
        "this is no database, but it is long enough to be taken for one".repeat(20),
    );
    let mut command = sandbox.command();
    let ended = output_of(command.args(["--json", "mcp"]).output().unwrap());
    ended.refused("STORE_CORRUPT");
}

/// The SDK would log a malformed request as a whole, with the credential in it.
#[test]
fn a_log_that_is_asked_for_holds_nothing_of_a_bad_request() {
    let sandbox = Sandbox::new();
    let token = format!("ghp_{}", "aZ3kQ9wB7xLmN2cV5tRyU8iOpEsDfGhJ1407");
    let lines: String = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"key": token}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": 7, "arguments": token}}),
        json!({"jsonrpc": "2.0", "method": "notifications/unheard_of", "params": token}),
        json!({"jsonrpc": "2.0", "id": {}, "method": token}),
    ]
    .map(|it| format!("{it}\n"))
    .concat();
    for log in ["info", "debug", "engram=trace,info"] {
        let mut server = sandbox
            .command()
            .env("ENGRAM_LOG", log)
            .arg("mcp")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        server
            .stdin
            .take()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
        let ended = server.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!said.contains(&token[4..]), "{log}: {said}");
    }
}

/// A token identifies the agent: its spending and its claims belong to that agent, over every
/// connection.
#[test]
fn a_token_is_the_agent_over_every_connection() {
    let sandbox = Sandbox::new();
    let opened = &sandbox.open_family(&["ada"])[0];
    let token = opened["token"].as_str().unwrap();
    let mut left = Vec::new();
    for at in 0..2 {
        let mut client = Client::start_as(&sandbox, token);
        let claim = client.commit(2, &format!("The gateway retries {at} times."));
        let record = sandbox.json(&["get", claim["id"].as_str().unwrap()]);
        assert_eq!(
            (&record["agent"], &record["run"]),
            (&json!("ada"), &opened["run"])
        );
        assert_eq!(record["provenance"]["created_by"], "ada");
        let read = client.call(3, "engram_deref", json!({ "pointer": POINTER }));
        left.push(read["structuredContent"]["budget"]["repo_spans"].clone());
        client.end();
    }
    assert_eq!(left, [2, 1]);
    // A connection without a token is another agent.
    let mut stranger = Client::start(&sandbox);
    let read = stranger.call(2, "engram_deref", json!({ "pointer": POINTER }));
    assert_eq!(read["structuredContent"]["budget"]["repo_spans"], 2);
    stranger.end();
    let listed = sandbox.json(&["agents"]);
    let rows = listed["agents"].as_array().unwrap();
    let ada = rows.iter().find(|it| it["agent"] == "ada").unwrap();
    assert_eq!(
        (&ada["parent"], &ada["role"]),
        (&json!("lead"), &json!("programmer"))
    );
    // A forged token and a replaced token are refused, with a hint.
    let again = sandbox.json(&["agents", "open", "ada", "--parent", "lead"]);
    assert_ne!(again["token"], opened["token"]);
    for token in [token, "forged", &"0".repeat(64)] {
        let mut client = Client::start_as(&sandbox, token);
        for tool in ["engram_status", "engram_deref"] {
            let refused = client.call(2, tool, json!({ "pointer": POINTER }));
            assert_eq!(refused["isError"], true);
            let error = &refused["structuredContent"]["error"];
            assert_eq!(error["code"], "SCOPE_DENIED", "{refused}");
            assert!(
                error["hint"]
                    .as_str()
                    .unwrap()
                    .contains("engram agents open")
            );
        }
        client.end();
    }
}

/// The kernel limits the watches of a user. Here the limit is 0 until the test raises it.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_gets_no_watch_says_so_and_looks_again() {
    const NONE: &str = "echo 0 > /proc/sys/user/max_inotify_instances";
    let may_have_its_own = Command::new("unshare").args(["-Ur", "true"]).output();
    if !may_have_its_own.is_ok_and(|it| it.status.success()) {
        eprintln!("not tested: this machine lets nobody make a user namespace");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.put("The gateway retries with full jitter.");
    let without = |first: &str, args: &[&str]| {
        let inner = sandbox.after(&format!("{NONE}\n{first}"), args);
        let mut command = sandbox.plain("timeout", &sandbox.repo());
        command
            .args(["60", "unshare", "-Ur"])
            .arg(inner.get_program())
            .args(inner.get_args())
            .env("ENGRAM_LOG", "engram_store=info");
        command
    };
    let doctor = output_of(without("", &["doctor", "--json"]).output().unwrap());
    let doctor: Value = serde_json::from_str(&doctor.out).unwrap();
    let findings = doctor["findings"].as_array().unwrap();
    let watches = findings.iter().find(|it| it["what"] == "watches").unwrap();
    assert_eq!(watches["ok"], false, "{watches}");
    let hint = "raise fs.inotify.max_user_instances";
    assert!(
        watches["found"].as_str().unwrap().contains(hint),
        "{watches}"
    );

    let more = sandbox.path("more");
    assert!(
        Command::new("mkfifo")
            .arg(&more)
            .status()
            .unwrap()
            .success()
    );
    let raise =
        "{ read more < ../more; echo 99 > /proc/sys/user/max_inotify_instances; } <&- >&- 2>&- &";
    let mut client = Client::start_by(without(raise, &["mcp"]));
    let until = |is_watched: bool| {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(60) {
            let status = sandbox.json(&["status"]);
            let watching = status["watching"].as_str().map(str::to_owned);
            if watching.is_none() == is_watched {
                return watching.unwrap_or_default();
            }
        }
        panic!("watched: {}", !is_watched);
    };
    let told = until(false);
    assert!(told.contains(hint), "{told}");
    std::fs::write(&more, "\n").unwrap();
    until(true);
    let log = BufReader::new(client.child.stderr.take().unwrap());
    let mut log = log.lines().map_while(Result::ok);
    assert!(log.any(|line| line.contains("changes are watched again")));
    drop(client.stdin.take());
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
}
