//! `connect` writes what it shows. Links, pipes and large files of a repository make it change
//! nothing else.

use std::{
    fs,
    io::{Read, Write},
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::json;

use crate::fixture::{Pipe, Sandbox, Use, files, make_repository, output_of};

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Returns all files outside our home.
fn files_outside_home(sandbox: &Sandbox) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut all = files(&sandbox.path(""));
    all.retain(|it, _| !it.starts_with(sandbox.home()));
    all
}

#[test]
fn a_link_of_a_repository_is_followed_within_it_and_no_further() {
    let sandbox = Sandbox::new();
    sandbox.write("person/settings.json", "{}");
    sandbox.write("repo/.git/theirs.json", "{}");
    sandbox.write("repo/packages/a/.git/theirs.json", "{}");
    sandbox.write("repo-of-another/a.json", "{}");
    symlink(sandbox.path("person"), sandbox.path("repo/out")).unwrap();
    let link = sandbox.repo().join(".mcp.json");
    let absolute = sandbox.path("person/settings.json");
    for target in [
        absolute.to_str().unwrap(),
        "../person/settings.json",
        "../person/none.json",
        "../none/none.json",
        "out/settings.json",
        "out/none.json",
        "none.json",
        "../repo-of-another/a.json",
        ".git/theirs.json",
        ".GIT/theirs.json",
        ".git/hooks/pre-commit",
        "packages/a/.git/theirs.json",
        ".mcp.json",
        "/dev/null",
    ] {
        symlink(target, &link).unwrap();
        let before = files_outside_home(&sandbox);
        for args in [
            &["connect", "claude", "--yes"][..],
            &["connect", "claude", "--undo", "--yes"],
        ] {
            let error = sandbox.run(&[args, &["--json"]].concat()).error();
            assert_eq!(error["code"], "SCOPE_DENIED", "{target}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(".mcp.json"), "{target}: {error}");
            assert!(
                error["hint"]
                    .as_str()
                    .unwrap()
                    .contains("Nothing was changed")
            );
            assert_eq!(files_outside_home(&sandbox), before, "{target}");
        }
        fs::remove_file(&link).unwrap();
    }
    // A link that stays within the repository is followed, and the output shows it.
    let inside = sandbox.write("repo/conf/mcp.json", "{}");
    symlink("conf/mcp.json", &link).unwrap();
    let shown = sandbox.json(&["connect", "claude"]);
    assert_eq!(shown["path"], inside.to_str().unwrap());
    assert!(shown["diff"].as_str().unwrap().contains("conf/mcp.json"));
    let said = sandbox.run(&["connect", "claude"]).out;
    assert!(
        said.contains(".mcp.json links to") && said.contains("+++"),
        "{said}"
    );
    sandbox.json(&["connect", "claude", "--yes"]);
    assert!(link.is_symlink() && read(&inside).unwrap().contains("engram"));
    sandbox.json(&["connect", "claude", "--undo", "--yes"]);
    assert!(link.is_symlink() && read(&inside).as_deref() == Some("{}"));
}

/// The user's own link, into a repository of dotfiles: the command shows its target and writes
/// there.
#[test]
fn a_link_of_the_user_stays_a_link() {
    for is_there in [true, false] {
        for links in [1, 2] {
            let sandbox = Sandbox::new();
            let target = sandbox.path("dotfiles/codex.toml");
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::create_dir_all(sandbox.path("codex")).unwrap();
            if is_there {
                fs::write(&target, "a = 1\n").unwrap();
            }
            let named = sandbox.path("codex/config.toml");
            match links {
                1 => symlink("../dotfiles/codex.toml", &named).unwrap(),
                _ => {
                    symlink(&target, sandbox.path("dotfiles/other")).unwrap();
                    symlink("../dotfiles/other", &named).unwrap();
                }
            }
            let before = read(&target);
            let shown = sandbox.run(&["connect", "codex"]).out;
            let header = format!("+++ {}", target.display());
            assert!(
                shown.contains(&header) && shown.contains("links to"),
                "{shown}"
            );
            assert_eq!(read(&target), before);
            let written = sandbox.json(&["connect", "codex", "--yes"]);
            assert_eq!(written["path"], target.to_str().unwrap());
            assert!(named.is_symlink() && read(&target).unwrap().contains("engram"));
            sandbox.json(&["connect", "codex", "--undo", "--yes"]);
            assert!(named.is_symlink(), "target there: {is_there}, undone");
            assert_eq!(read(&target), before);
        }
    }
    // The link leads into a folder that does not exist, or to itself.
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("codex")).unwrap();
    for target in ["../none/x.toml", "../none/../x.toml", "config.toml"] {
        symlink(target, sandbox.path("codex/config.toml")).unwrap();
        let before = files_outside_home(&sandbox);
        let ran = sandbox.run(&["connect", "codex", "--yes", "--json"]);
        ran.refused("SCHEMA_INVALID");
        assert_eq!(files_outside_home(&sandbox), before, "{target}");
        fs::remove_file(sandbox.path("codex/config.toml")).unwrap();
    }
}

/// No pipe blocks the command, and no endless file fills its memory.
#[test]
fn what_is_no_file_is_refused_at_once() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("codex")).unwrap();
    let read = [
        (
            ".mcp.json",
            vec!["connect", "claude", "--yes"],
            "SCHEMA_INVALID",
        ),
        (
            "../codex/config.toml",
            vec!["connect", "codex", "--yes"],
            "SCHEMA_INVALID",
        ),
        ("../home/config.toml", vec!["status"], "SCHEMA_INVALID"),
        (
            "token",
            vec!["serve", "--token-file", "token"],
            "SCHEMA_INVALID",
        ),
        (
            "c.pem",
            vec!["serve", "--tls-cert", "c.pem", "--tls-key", "k.pem"],
            "SCHEMA_INVALID",
        ),
    ];
    sandbox.put("Retries use full jitter.");
    sandbox.json(&["connect", "codex"]);
    for (name, args, code) in &read {
        let path = sandbox.repo().join(name);
        let refused = |what: &str| {
            let error = sandbox.run(&[&args[..], &["--json"]].concat()).error();
            assert_eq!(error["code"], *code, "{what} {name}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(
                message.contains("it is not a file"),
                "{what} {name}: {error}"
            );
        };
        let pipe = Pipe::at(&path, Use::Read);
        refused("pipe");
        drop(pipe);
        let socket = UnixListener::bind(&path).unwrap();
        refused("socket");
        drop(socket);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        refused("folder");
        fs::remove_dir(&path).unwrap();
        if *name != ".mcp.json" {
            symlink("/dev/zero", &path).unwrap();
            refused("device");
            fs::remove_file(&path).unwrap();
        }
        let large = fs::File::create(&path).unwrap();
        large.set_len(1 << 33).unwrap();
        let error = sandbox.run(&[&args[..], &["--json"]].concat()).error();
        assert!(
            error["message"].as_str().unwrap().contains(match *name {
                "token" => "an Engram token",
                _ => "it is longer than",
            }),
            "{name}: {error}"
        );
        fs::remove_file(&path).unwrap();
    }
    for name in ["write.lock", "doorbell"] {
        let path = sandbox.home().join(name);
        fs::remove_file(&path).unwrap();
        let pipe = Pipe::at(&path, Use::Write);
        let error = sandbox.run(&["status", "--json"]).error();
        assert_eq!(error["code"], "STORE_CORRUPT", "{name}: {error}");
        drop(pipe);
        // Nor is the target of a link written.
        let other = sandbox.write("person/notes", "of the user");
        symlink(&other, &path).unwrap();
        sandbox.run(&["status", "--json"]).refused("STORE_CORRUPT");
        assert_eq!(fs::read_to_string(other).unwrap(), "of the user");
        fs::remove_file(&path).unwrap();
        sandbox.json(&["status"]);
    }
    let journal = sandbox.home().join("engram.db-journal");
    let pipe = Pipe::at(&journal, Use::Read);
    sandbox.run(&["status", "--json"]).refused("STORE_CORRUPT");
    drop(pipe);
    // Engram works without the index.
    for (name, used) in [
        ("meta.json", Use::Read),
        (".tantivy-meta.lock", Use::Write),
        (".tantivy-writer.lock", Use::Write),
    ] {
        sandbox.json(&["doctor", "--reindex"]);
        let path = sandbox.home().join("index-10").join(name);
        let _ = fs::remove_file(&path);
        let pipe = Pipe::at(&path, used);
        assert_eq!(sandbox.json(&["query", "full jitter"])["verdict"], "strong");
        assert_eq!(sandbox.json(&["doctor", "--reindex"])["ok"], true);
        drop(pipe);
    }
    // An unusable record counts as missing.
    sandbox.json(&["connect", "codex", "--yes"]);
    let records = fs::read_dir(sandbox.home().join("connect")).unwrap();
    let record = records.map(|it| it.unwrap().path()).next().unwrap();
    fs::remove_file(&record).unwrap();
    let pipe = Pipe::at(&record, Use::Read);
    sandbox.json(&["connect", "codex", "--undo", "--yes"]);
    drop(pipe);
}

/// The command waits for a pipe that the user names: one program may pass lines to another through
/// it.
#[test]
fn a_pipe_that_is_named_is_read() {
    let sandbox = Sandbox::new();
    let line = json!({ "claim": "Through a pipe.", "pointers": [crate::fixture::POINTER] });
    let message = json!({ "role": "r", "instructions": [] });
    let span = json!({ "id": 1, "path": "src/retry.rs", "start": 1, "end": 1 });
    for (args, input) in [
        (vec!["put", "--jsonl"], line.to_string()),
        (
            vec![
                "pointers", "track", "--from", "HEAD", "--to", "HEAD", "--spans",
            ],
            span.to_string(),
        ),
        (vec!["message", "validate"], message.to_string()),
    ] {
        let path = sandbox.path("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let (at, line) = (path.clone(), format!("{input}\n"));
        let writer = std::thread::spawn(move || fs::write(at, line).unwrap());
        let ran = output_of(sandbox.command().args(&args).arg(&path).output().unwrap());
        // If nobody read the pipe, this releases the writer.
        let both = fs::OpenOptions::new().read(true).write(true).open(&path);
        writer.join().unwrap();
        drop(both);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        assert!(!ran.out.contains("error"), "{ran:?}");
        fs::remove_file(&path).unwrap();
        let ran = sandbox.feed(&[&args[..], &["/dev/stdin"]].concat(), input.as_bytes());
        assert!(
            ran.code == Some(0) && !ran.out.contains("error"),
            "{args:?}: {ran:?}"
        );
    }
}

/// An agent may write its configuration while the user reviews the change.
#[test]
fn what_changed_while_it_was_looked_at_is_not_written_over() {
    let sandbox = Sandbox::new();
    let path = sandbox.repo().join(".mcp.json");
    let outside = sandbox.write("person/.bashrc", "of the user");
    type Change<'a> = &'a dyn Fn();
    let changes: [(Option<&str>, Change<'_>); 4] = [
        (Some("{}"), &|| fs::write(&path, "{\"theirs\": 1}").unwrap()),
        (Some("{}"), &|| fs::remove_file(&path).unwrap()),
        (None, &|| fs::write(&path, "{\"theirs\": 1}").unwrap()),
        (None, &|| symlink(&outside, &path).unwrap()),
    ];
    for (at, (before, change)) in changes.into_iter().enumerate() {
        let _ = fs::remove_file(&path);
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
        // Run it in a terminal, so that it asks.
        let line = format!(
            "'{}' --home '{}' connect claude",
            env!("CARGO_BIN_EXE_engram"),
            sandbox.home().display()
        );
        let mut child = sandbox
            .plain("script", &sandbox.repo())
            .args(["-qec", &line, "/dev/null"])
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut out = child.stdout.take().unwrap();
        while !said.contains("[y/N]") {
            let mut byte = [0; 1];
            assert_eq!(out.read(&mut byte).unwrap(), 1, "it asks: {said}");
            said.push(char::from(byte[0]));
        }
        change();
        let after = files_outside_home(&sandbox);
        child.stdin.take().unwrap().write_all(b"y\n").unwrap();
        out.read_to_string(&mut said).unwrap();
        assert!(!child.wait().unwrap().success(), "{at}: {said}");
        assert!(said.contains("has just been changed"), "{at}: {said}");
        assert_eq!(files_outside_home(&sandbox), after, "{at}: {said}");
        assert!(
            !sandbox.home().join("connect").exists(),
            "{at}: no record was kept"
        );
    }
}

/// A path may be longer than a file name, and two paths may differ only in their separators.
#[test]
fn a_record_is_kept_for_any_path() {
    let sandbox = Sandbox::new();
    let deep = sandbox.path(&["long-name-of-a-folder"; 15].join("/"));
    for repo in [
        deep.as_path(),
        &sandbox.path("a/b"),
        &sandbox.path("a_b"),
        &sandbox.path("größe 🦀"),
    ] {
        make_repository(repo);
    }
    let before = ["{ \"mcpServers\": {} }\r\n", "{}", "", "{\"a\":1}"];
    let repos = [
        deep,
        sandbox.path("a/b"),
        sandbox.path("a_b"),
        sandbox.path("größe 🦀"),
    ];
    for (repo, before) in repos.iter().zip(before) {
        fs::write(repo.join(".mcp.json"), before).unwrap();
        let ran = sandbox.run_in(repo, &["connect", "claude", "--yes", "--json"]);
        assert_eq!(ran.json()["written"], true);
    }
    for (at, (repo, before)) in repos.iter().zip(before).enumerate() {
        sandbox
            .run_in(repo, &["connect", "claude", "--undo", "--yes", "--json"])
            .json();
        let now = fs::read_to_string(repo.join(".mcp.json")).unwrap();
        match at {
            // Earlier builds kept one record for the second and third repository, so this checks
            // only that our entry is gone.
            1 => assert!(!now.contains("engram"), "{now}"),
            _ => assert_eq!(now, before, "{}", repo.display()),
        }
    }
}

#[test]
fn a_home_that_no_text_can_name_is_not_connected() {
    let sandbox = Sandbox::new();
    let home = sandbox
        .path("")
        .join(std::ffi::OsStr::from_bytes(b"home\xff"));
    for client in ["claude", "codex"] {
        let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.repo());
        command
            .arg("--home")
            .arg(&home)
            .args(["connect", client, "--yes", "--json"]);
        let before = files_outside_home(&sandbox);
        output_of(command.output().unwrap()).refused("SCHEMA_INVALID");
        assert_eq!(files_outside_home(&sandbox), before);
    }
}

/// A reader sees the old configuration or the new one, and no draft stays beside it.
#[test]
fn nothing_is_left_beside_a_configuration() {
    let sandbox = Sandbox::new();
    let names = |folder: PathBuf| {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|it| it.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    sandbox.json(&["connect", "claude", "--yes"]);
    sandbox.json(&["connect", "codex", "--yes"]);
    assert_eq!(
        names(sandbox.repo()),
        [
            ".git",
            ".mcp.json",
            "AGENTS.md",
            "CLAUDE.md",
            "README.md",
            "src"
        ]
    );
    assert_eq!(names(sandbox.path("codex")), ["config.toml"]);
    sandbox.json(&["connect", "claude", "--undo", "--yes"]);
    // Codex still needs the section.
    assert_eq!(
        names(sandbox.repo()),
        [".git", "AGENTS.md", "README.md", "src"]
    );
    sandbox.json(&["connect", "codex", "--undo", "--yes"]);
    assert_eq!(names(sandbox.repo()), [".git", "README.md", "src"]);
}
