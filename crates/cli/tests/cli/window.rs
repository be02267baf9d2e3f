//! The window that the command starts, and the one that it serves.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::Child,
};

use serde_json::Value;

use crate::fixture::{CommandOutput, Sandbox, output_of};

#[test]
fn the_window_is_started_with_the_same_place() {
    let sandbox = Sandbox::new();
    let beside = sandbox.path("bin");
    std::fs::create_dir(&beside).unwrap();
    let engram = beside.join("engram");
    // A file that this process wrote could still be open in a child that another test starts.
    let mut copy = std::process::Command::new("cp");
    copy.arg(env!("CARGO_BIN_EXE_engram")).arg(&engram);
    assert!(copy.status().unwrap().success());
    let app = |sandbox: &Sandbox| {
        let mut command = sandbox.plain(&engram, &sandbox.repo());
        command
            .env("PATH", "/nonexistent")
            .env("DISPLAY", ":1")
            .args(["--home", "h", "--repo", "r", "--json", "app"]);
        command
    };
    output_of(app(&sandbox).output().unwrap()).refused("NOT_FOUND");
    let script = sandbox.write(
        "bin/engram-desktop",
        "#!/bin/sh\necho \"$@\" > \"${0%/*}/said\"\n",
    );
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // This waits for the window too, which holds the pipes until it ends.
    let CommandOutput { code, .. } = output_of(app(&sandbox).output().unwrap());
    assert_eq!(code, Some(0));
    assert_eq!(
        std::fs::read_to_string(beside.join("said")).unwrap(),
        "--home h --repo r\n"
    );
    // Without a display there is no window, and the command says what to use instead.
    let mut blind = app(&sandbox);
    let blind = blind.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let said = output_of(blind.output().unwrap());
    said.refused("NOT_FOUND");
    let hint = said.error()["hint"].to_string();
    assert!(hint.contains("engram serve"), "{hint}");
}

/// Starts a server; returns it with the host and token of its printed address, and its log.
fn serve(sandbox: &Sandbox) -> (Child, String, String, PathBuf) {
    let log = sandbox.path("log");
    let mut server = sandbox.command();
    server.args(["--json", "serve"]).env("ENGRAM_LOG", "trace");
    let errors = std::fs::File::create(&log).unwrap();
    let mut server = server.stderr(errors).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    let url = said["url"].as_str().unwrap();
    let (host, token) = url.split_once("/#token=").unwrap();
    let host = host.strip_prefix("http://").unwrap().to_owned();
    (server, host, token.to_owned(), log)
}

#[test]
fn serving_says_where_and_the_token_to_nobody_else() {
    let sandbox = Sandbox::new();
    let (mut server, host, token, log) = serve(&sandbox);
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    for (head, status) in [
        (format!("GET /api/subscribe?after=x&token={token}"), "400"),
        (format!("GET /?token={token}"), "200"),
        (format!("GET /api/{token}"), "401"),
        // An unreadable request is logged.
        (format!("GET\0 /{token}"), "400"),
    ] {
        let mut stream = TcpStream::connect(&host).unwrap();
        let head = format!(
            "{head} HTTP/1.1\r\nhost: {host}\r\nreferer: /{token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert!(!answer.contains(&token), "{answer}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(!log.is_empty() && !log.contains(&token), "{log}");
}
