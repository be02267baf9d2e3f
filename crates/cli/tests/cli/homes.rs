//! The place of the home, files that are not ours, and homes that move.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::{Path, PathBuf},
    process::Stdio,
};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::fixture::{CommandOutput, POINTER, Sandbox, files, keys, mount, output_of, with_mounts};

/// Runs the command without `--home`; `data` sets the data folder by its variable.
fn run_without_home(sandbox: &Sandbox, data: Option<&str>, args: &[&str]) -> CommandOutput {
    let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.repo());
    command.envs(data.map(|it| ("XDG_DATA_HOME", it)));
    output_of(command.args(args).arg("--json").output().unwrap())
}

/// Runs the command with one home.
fn run_over(sandbox: &Sandbox, home: &Path, args: &[&str]) -> CommandOutput {
    run_without_home(
        sandbox,
        None,
        &[&["--home", home.to_str().unwrap()], args].concat(),
    )
}

fn put_args(claim: &str) -> [&str; 5] {
    ["put", "--claim", claim, "--pointer", POINTER]
}

fn former_home(sandbox: &Sandbox) -> PathBuf {
    sandbox.path("person/.engram")
}

fn own_home(sandbox: &Sandbox) -> PathBuf {
    sandbox.path("person/.local/share/engram")
}

/// Creates a machine on which an earlier build was used; returns the id of a claim.
fn make_used_machine() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let stored = run_over(
        &sandbox,
        &former_home(&sandbox),
        &put_args("Retries use full jitter."),
    )
    .json();
    let id = stored["id"].as_str().unwrap().to_owned();
    (sandbox, id)
}

/// Returns the files of a home whose log is empty, without its lock and doorbell.
fn files_at_rest(home: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = files(home);
    all.retain(|it, _| !it.ends_with("write.lock"));
    all
}

#[test]
fn the_default_is_the_data_folder() {
    let sandbox = Sandbox::new();
    let data = sandbox.path("data");
    let data = data.to_str().unwrap();
    for (variable, want) in [
        (None, own_home(&sandbox)),
        (Some(data), sandbox.path("data/engram")),
        // Neither value is an absolute path, so both are ignored.
        (Some(""), own_home(&sandbox)),
        (Some("data"), own_home(&sandbox)),
    ] {
        let status = run_without_home(&sandbox, variable, &["status"]).json();
        assert_eq!(status["home"], want.to_str().unwrap(), "{variable:?}");
        assert!(want.join("engram.db").exists());
        let mode = fs::metadata(&want).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    assert!(!former_home(&sandbox).exists() && !sandbox.repo().join("data").exists());
}

#[test]
fn a_home_of_ours_at_the_former_place_goes_on_being_used() {
    let (sandbox, id) = make_used_machine();
    let home = |it: &Path| json!(it.to_str().unwrap());
    assert_eq!(
        run_without_home(&sandbox, None, &["status"]).json()["home"],
        home(&former_home(&sandbox))
    );
    assert_eq!(
        run_without_home(&sandbox, None, &["get", &id]).json()["id"],
        id.as_str()
    );
    let doctor = run_without_home(&sandbox, None, &["doctor"]).json();
    let found = doctor["findings"][0]["found"].as_str().unwrap();
    assert!(
        found.contains("--move-home") && found.contains(".local/share"),
        "{found}"
    );
    assert!(!own_home(&sandbox).exists());
    // A home in the data folder takes precedence, and `doctor` mentions the other one.
    run_over(&sandbox, &own_home(&sandbox), &["status"]).json();
    assert_eq!(
        run_without_home(&sandbox, None, &["status"]).json()["home"],
        home(&own_home(&sandbox))
    );
    let doctor = run_without_home(&sandbox, None, &["doctor"]).json();
    let found = doctor["findings"][0]["found"].as_str().unwrap();
    assert!(found.contains("unused home"), "{found}");
}

/// Another program owns the former place: its files stay unchanged, and Engram still works.
#[test]
fn two_programs_of_one_name_keep_apart() {
    let sandbox = Sandbox::new();
    let theirs = former_home(&sandbox);
    fs::create_dir_all(&theirs).unwrap();
    fs::write(theirs.join("cloud.json"), "theirs").unwrap();
    let database = Connection::open(theirs.join("engram.db")).unwrap();
    let tables = "CREATE TABLE observations (a); INSERT INTO observations VALUES ('theirs');";
    database.execute_batch(tables).unwrap();
    drop(database);
    let before = files(&theirs);
    let changed = || {
        fs::metadata(theirs.join("engram.db"))
            .unwrap()
            .modified()
            .unwrap()
    };
    let at = changed();
    run_without_home(&sandbox, None, &put_args("Retries use full jitter.")).json();
    let status = run_without_home(&sandbox, None, &["status"]).json();
    assert_eq!(status["home"], own_home(&sandbox).to_str().unwrap());
    for args in [
        &["status"][..],
        &["doctor"],
        &["doctor", "--reindex"],
        &["query", "retries"],
        &["feed"],
        &["mcp"],
        &["serve"],
        &put_args("More."),
    ] {
        let error = run_over(&sandbox, &theirs, args).error();
        assert_eq!(error["code"], "STORE_CORRUPT", "{args:?}");
        let message = error["message"].as_str().unwrap();
        let names = theirs.join("engram.db");
        assert!(message.contains(names.to_str().unwrap()), "{message}");
        assert!(
            error["hint"].as_str().unwrap().contains("ENGRAM_HOME"),
            "{error}"
        );
        assert_eq!(files(&theirs), before, "{args:?}");
    }
    run_without_home(&sandbox, None, &["doctor", "--move-home"]).refused("NOT_FOUND");
    assert_eq!((files(&theirs), changed()), (before, at));
}

/// A pipe must not block the command.
#[test]
fn what_is_no_file_is_refused_at_once() {
    let sandbox = Sandbox::new();
    let at = sandbox.home().join("engram.db");
    type Make<'a> = &'a dyn Fn();
    let cases: [Make<'_>; 3] = [
        &|| fs::create_dir(&at).unwrap(),
        &|| drop(UnixListener::bind(&at).unwrap()),
        &|| {
            let made = std::process::Command::new("mkfifo").arg(&at).status();
            assert!(made.unwrap().success());
        },
    ];
    for make in cases {
        fs::create_dir(sandbox.home()).unwrap();
        make();
        sandbox.run(&["status", "--json"]).refused("STORE_CORRUPT");
        sandbox.run(&["mcp", "--json"]).refused("STORE_CORRUPT");
        let names = fs::read_dir(sandbox.home()).unwrap().count();
        assert_eq!(names, 1, "nothing is created beside it");
        fs::remove_dir_all(sandbox.home()).unwrap();
    }
}

/// Files of ours in a home after some use, and files that others put there.
const OURS: &[&str] = &[
    "config.toml",
    "window.toml",
    "window-place.json",
    "recent.json",
    "opened.json",
    "queries.json",
    "connect/_x.json",
    "logs/window.2026-01-08.log",
    "anchor-a-b.lock",
    "embed.lock",
    "failed-embed",
    "models/tiny/config.json",
];
const STRANGE: &[&str] = &["cloud.json", "logs/server.log", "index-of-theirs/a"];

fn write(home: &Path, names: &[&str]) {
    for name in names {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        let text = if *name == "config.toml" {
            "urls = false\n"
        } else {
            *name
        };
        fs::write(home.join(name), text).unwrap();
    }
}

/// Moves the home of `sandbox` and checks both places afterwards.
fn check_move(sandbox: &Sandbox, id: &str, strange: &[&str], data: Option<&str>) {
    let (from, own) = (former_home(sandbox), own_home(sandbox));
    let to = data.map_or(own, |it| Path::new(it).join("engram"));
    write(&from, OURS);
    write(&from, strange);
    // The sockets of processes that were killed.
    for socket in ["window.sock", "questions.sock"] {
        drop(UnixListener::bind(from.join(socket)).unwrap());
    }
    let before = run_without_home(sandbox, data, &["query", "retries"]).json();
    let moved = run_without_home(sandbox, data, &["doctor", "--move-home"]).json();
    assert_eq!(keys(&moved), ["from", "moved", "reconnect", "stayed", "to"]);
    let paths = (json!(from.to_str().unwrap()), json!(to.to_str().unwrap()));
    assert_eq!((&moved["from"], &moved["to"]), (&paths.0, &paths.1));
    let names = |of: &Value| -> Vec<String> { serde_json::from_value(of.clone()).unwrap() };
    for name in OURS.iter().chain(&["engram.db", "doorbell"]) {
        assert!(
            names(&moved["moved"])
                .iter()
                .any(|it| Path::new(name).starts_with(it)),
            "{name}: {moved}"
        );
        assert!(
            to.join(name).exists() && !from.join(name).exists(),
            "{name}"
        );
    }
    for name in strange {
        assert_eq!(fs::read_to_string(from.join(name)).unwrap(), *name);
        assert!(!to.join(name).exists(), "{name}");
    }
    assert_eq!(
        from.exists(),
        !strange.is_empty(),
        "{:?}",
        files(sandbox.path("person").as_path())
    );
    assert_eq!(names(&moved["stayed"]).len(), strange.len(), "{moved}");
    assert_eq!(
        run_without_home(sandbox, data, &["get", id]).json()["id"],
        id
    );
    assert_eq!(
        run_without_home(sandbox, data, &["query", "retries"]).json(),
        before
    );
    run_without_home(sandbox, data, &put_args("At the new place.")).json();
    assert_eq!(
        run_without_home(sandbox, data, &["status"]).json()["home"],
        paths.1
    );
    assert_eq!(
        run_without_home(sandbox, data, &["doctor"]).json()["ok"],
        true
    );
    run_without_home(sandbox, data, &["doctor", "--move-home"]).refused("NOT_FOUND");
    // A command that still names the former place is refused, and creates no home there.
    let named = [&["--home", from.to_str().unwrap()][..], &put_args("Where?")].concat();
    run_without_home(sandbox, data, &named).refused("NOT_FOUND");
    assert!(!from.join("engram.db").exists());
}

#[test]
fn a_home_is_moved_with_all_that_is_ours() {
    for strange in [&[][..], STRANGE] {
        let (sandbox, id) = make_used_machine();
        check_move(&sandbox, &id, strange, None);
    }
    // The same as text, with a target folder that already exists.
    let (sandbox, _) = make_used_machine();
    fs::create_dir_all(own_home(&sandbox)).unwrap();
    write(&former_home(&sandbox), &["cloud.json"]);
    let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.repo());
    let said = output_of(command.args(["doctor", "--move-home"]).output().unwrap());
    assert_eq!(said.code, Some(0), "{said:?}");
    for word in ["moved from", "engram.db", "left in", "cloud.json"] {
        assert!(said.out.contains(word), "{word}: {said:?}");
    }
}

/// SQLite would read a log left by another home into the one moved beside it.
#[test]
fn a_log_that_was_left_is_not_taken_in() {
    for left in ["engram.db-wal", "engram.db-shm", "engram.db-journal"] {
        let (sandbox, id) = make_used_machine();
        fs::create_dir_all(own_home(&sandbox)).unwrap();
        write(&own_home(&sandbox), &[left]);
        run_without_home(&sandbox, None, &["doctor", "--move-home"]).refused("STORE_READ_ONLY");
        assert_eq!(
            run_without_home(&sandbox, None, &["get", &id]).json()["id"],
            id.as_str()
        );
    }
}

#[test]
fn a_home_is_moved_to_another_disk() {
    with_mounts("homes::a_home_is_moved_to_another_disk", || {
        for strange in [&[][..], STRANGE] {
            let (sandbox, id) = make_used_machine();
            let disk = sandbox.path("disk");
            fs::create_dir(&disk).unwrap();
            let disk = disk.to_str().unwrap();
            mount(&["-t", "tmpfs", "-o", "size=64m", "tmpfs", disk]);
            check_move(&sandbox, &id, strange, Some(disk));
        }
        // The disk is too small: everything is restored.
        let (sandbox, id) = make_used_machine();
        let disk = sandbox.path("small");
        fs::create_dir(&disk).unwrap();
        let disk = disk.to_str().unwrap();
        mount(&["-t", "tmpfs", "-o", "size=128k", "tmpfs", disk]);
        write(&former_home(&sandbox), OURS);
        let names = |it: &Path| files(it).into_keys().collect::<Vec<_>>();
        let before = names(&former_home(&sandbox));
        run_without_home(&sandbox, Some(disk), &["doctor", "--move-home"]).refused("STORE_FULL");
        assert_eq!(names(&former_home(&sandbox)), before);
        assert_eq!(names(Path::new(disk)), Vec::<PathBuf>::new());
        assert_eq!(
            run_without_home(&sandbox, Some(disk), &["get", &id]).json()["id"],
            id.as_str()
        );
    });
}

#[test]
fn a_home_in_use_is_not_moved() {
    let (sandbox, id) = make_used_machine();
    let refused = |why: &str| {
        let error = run_without_home(&sandbox, None, &["doctor", "--move-home"]).error();
        assert_eq!(error["code"], "STORE_LOCKED", "{why}: {error}");
        assert!(
            error["message"].as_str().unwrap().contains(".engram"),
            "{error}"
        );
        assert!(!own_home(&sandbox).exists(), "{why}");
    };
    let lock = fs::File::open(former_home(&sandbox).join("write.lock")).unwrap();
    lock.lock().unwrap();
    refused("a writer has its turn");
    drop(lock);
    let window = UnixListener::bind(former_home(&sandbox).join("window.sock")).unwrap();
    refused("a window is open");
    drop(window);

    // A process that has the home open and does nothing.
    let mut other = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.repo());
    let mut other = other
        .args(["put", "--jsonl", "-", "--json"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answers = BufReader::new(other.stdout.take().unwrap()).lines();
    let mut say = |claim: &str| {
        let line = json!({ "claim": claim, "pointers": [POINTER] });
        writeln!(other.stdin.as_mut().unwrap(), "{line}").unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert!(answer["seq"].is_u64(), "{answer}");
    };
    say("Before.");
    refused("another process has it open");
    say("After.");
    drop(other.stdin.take());
    assert!(other.wait().unwrap().success());
    run_without_home(&sandbox, None, &["doctor", "--move-home"]).json();
    assert_eq!(
        run_without_home(&sandbox, None, &["status"]).json()["engrams"],
        3
    );
    assert_eq!(
        run_without_home(&sandbox, None, &["get", &id]).json()["id"],
        id.as_str()
    );
}

#[test]
fn what_is_at_the_new_place_is_not_written_over() {
    for there in ["engram.db", "config.toml", "write.lock"] {
        let (sandbox, id) = make_used_machine();
        write(&former_home(&sandbox), &["config.toml"]);
        write(&own_home(&sandbox), &[there]);
        let before = (
            files_at_rest(&former_home(&sandbox)),
            files(&own_home(&sandbox)),
        );
        let error = run_without_home(&sandbox, None, &["doctor", "--move-home"]).error();
        assert_eq!(error["code"], "STORE_READ_ONLY", "{error}");
        assert!(
            error["message"].as_str().unwrap().contains(there),
            "{error}"
        );
        let after = (
            files_at_rest(&former_home(&sandbox)),
            files(&own_home(&sandbox)),
        );
        assert_eq!(before.1, after.1);
        assert!(before.0.keys().eq(after.0.keys()));
        assert_eq!(
            run_without_home(&sandbox, None, &["get", &id]).json()["id"],
            id.as_str()
        );
    }
    // A home that the user chose with --home, or that another program uses too, is not moved
    // either.
    let (sandbox, _) = make_used_machine();
    run_over(&sandbox, &former_home(&sandbox), &["doctor", "--move-home"])
        .refused("SCHEMA_INVALID");
    let database = Connection::open(former_home(&sandbox).join("engram.db")).unwrap();
    database
        .execute_batch("CREATE TABLE observations (a)")
        .unwrap();
    drop(database);
    let error = run_without_home(&sandbox, None, &["doctor", "--move-home"]).error();
    assert_eq!(error["code"], "STORE_CORRUPT");
    assert!(
        error["message"].as_str().unwrap().contains("observations"),
        "{error}"
    );
    assert_eq!(
        run_without_home(&sandbox, None, &["status"]).json()["engrams"],
        1
    );
}

#[test]
fn agents_that_name_the_former_place_are_listed() {
    let (sandbox, _) = make_used_machine();
    let from = former_home(&sandbox);
    // The same home under a path that has to be named, and a configuration that follows the move by
    // itself.
    let other = from.join("../.engram");
    run_over(&sandbox, &other, &["connect", "codex", "--yes"]).json();
    run_without_home(&sandbox, None, &["connect", "claude", "--yes"]).json();
    let config = sandbox.path("codex/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("/../.engram", "")).unwrap();
    let moved = run_without_home(&sandbox, None, &["doctor", "--move-home"]).json();
    let want = json!([{ "path": config.to_str().unwrap(), "command": "engram connect codex" }]);
    assert_eq!(moved["reconnect"], want);
    run_without_home(&sandbox, None, &["connect", "codex", "--yes"]).json();
    assert!(!fs::read_to_string(&config).unwrap().contains("--home"));
}

#[test]
fn doctor_says_which_engram_a_shell_starts() {
    let sandbox = Sandbox::new();
    sandbox.put("Retries use full jitter.");
    let own = Path::new(env!("CARGO_BIN_EXE_engram"));
    let program = |name: &str, mode: u32| {
        let file = sandbox.write(name, "#!/bin/sh\n");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file.parent().unwrap().to_owned()
    };
    let other = program("other/engram", 0o755);
    let text = program("text/engram", 0o644);
    fs::create_dir_all(sandbox.path("link")).unwrap();
    std::os::unix::fs::symlink(own, sandbox.path("link/engram")).unwrap();
    let (link, own) = (sandbox.path("link"), own.parent().unwrap().to_owned());
    for (path, ok, says) in [
        (vec![&own], true, "this engram"),
        (vec![&link, &other], true, "this engram"),
        (vec![&text, &own], true, "this engram"),
        (vec![&other, &own], false, "another engram"),
        (vec![&text], true, "not on PATH"),
        (vec![], true, "not on PATH"),
    ] {
        let mut command = sandbox.command();
        command.env("PATH", std::env::join_paths(&path).unwrap());
        let doctor = output_of(command.args(["doctor", "--json"]).output().unwrap());
        let health: Value = serde_json::from_str(&doctor.out).unwrap();
        let found = health["findings"].as_array().unwrap().last().unwrap();
        assert_eq!(keys(found), ["found", "ok", "what"]);
        assert_eq!(
            (&found["what"], &found["ok"]),
            (&json!("command"), &json!(ok))
        );
        assert!(
            found["found"].as_str().unwrap().contains(says),
            "{path:?}: {found}"
        );
        assert_eq!((doctor.code == Some(0), &health["ok"]), (ok, &json!(ok)));
    }
}

/// `doctor` names a table that differs from a replay of the journal, and rebuilds it. It names a
/// journal with a gap, with its file, and rebuilds nothing from it.
#[test]
fn doctor_replays_the_journal_and_fills_the_tables_anew() {
    let sandbox = Sandbox::new();
    sandbox.put("Retries use full jitter.");
    let damage = |sql: &str| {
        let database = Connection::open(sandbox.home().join("engram.db")).unwrap();
        database.execute_batch("PRAGMA foreign_keys = off").unwrap();
        database.execute_batch(sql).unwrap();
    };
    let journal = |args: &[&str]| {
        let out = sandbox.run(&[&["doctor", "--json"], args].concat());
        let health: Value = serde_json::from_str(&out.out).unwrap();
        let all = health["findings"].as_array().unwrap().clone();
        let found = all.into_iter().find(|it| it["what"] == "journal").unwrap();
        (found["ok"] == true, found["found"].to_string())
    };
    assert!(journal(&["--replay"]).0);
    damage("UPDATE engram SET valid_until = 5");
    let (ok, found) = journal(&["--replay"]);
    assert!(
        !ok && found.contains("table engram") && found.contains("--rebuild"),
        "{found}"
    );
    assert!(journal(&["--rebuild"]).0);
    assert!(journal(&["--replay"]).0);
    sandbox.put("Another.");
    damage("DELETE FROM journal WHERE seq = 1");
    let (ok, found) = journal(&[]);
    assert!(
        !ok && found.contains("entry 1 is missing") && found.contains("engram.db"),
        "{found}"
    );
    let refused = sandbox.run(&["doctor", "--rebuild", "--json"]).error();
    assert_eq!(refused["code"], "STORE_CORRUPT");
    assert!(
        refused["message"].as_str().unwrap().contains("engram.db"),
        "{refused}"
    );
    assert_eq!(sandbox.json(&["query", "jitter"])["verdict"], "strong");
}
