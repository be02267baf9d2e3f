//! Only the user can read a home, whichever command creates it, whatever the umask, and even if
//! others could read it before.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::fixture::{POINTER, Sandbox, mount, output_of, with_mounts};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns everything below a folder, except the contents of its index.
fn paths_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir()
            && !path
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("index-")
        {
            all.extend(paths_below(&path));
        }
        all.push(path);
    }
    all
}

/// Returns the files that others have any access to, by their name in the folder.
fn files_open_to_others(folder: &Path) -> Vec<String> {
    let mut all = paths_below(folder);
    all.retain(|it| mode(it) & 0o077 != 0);
    let name = |it: &PathBuf| {
        it.strip_prefix(folder)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    let mut names: Vec<String> = all.iter().map(name).collect();
    names.sort();
    names
}

fn put_args(claim: &str) -> [&str; 5] {
    ["put", "--claim", claim, "--pointer", POINTER]
}

#[test]
fn a_home_is_private_whoever_makes_it_first_and_whatever_the_umask_is() {
    let firsts = [
        &["status"][..],
        &["connect", "claude", "--yes"],
        &["connect", "codex", "--yes"],
        &put_args("Retries use full jitter."),
    ];
    // The last umask takes permissions from the owner too.
    for (umask, is_there) in [
        ("000", false),
        ("000", true),
        ("022", false),
        ("0133", false),
    ] {
        for first in firsts {
            let sandbox = Sandbox::new();
            if is_there {
                fs::create_dir(sandbox.home()).unwrap();
                set_mode(&sandbox.home(), 0o777);
            }
            for args in [
                first,
                &["connect", "codex", "--yes"],
                &put_args("One."),
                &["query", "one"],
            ] {
                let first_does = format!("umask {umask}");
                let ran = output_of(sandbox.after(&first_does, args).output().unwrap());
                assert_eq!(ran.code, Some(0), "{umask} {args:?}: {ran:?}");
                assert_eq!(mode(&sandbox.home()), 0o700, "{umask} {is_there} {args:?}");
                assert_eq!(
                    files_open_to_others(&sandbox.home()),
                    [""; 0],
                    "{umask} {is_there} {args:?}"
                );
            }
            for file in ["engram.db", "write.lock", "doorbell"] {
                assert_eq!(mode(&sandbox.home().join(file)), 0o600, "{umask} {file}");
            }
        }
    }
}

/// The log is as private as its database, even in a folder that stays open because of other files
/// in it.
#[test]
fn what_lies_beside_an_open_database_is_private_too() {
    let sandbox = Sandbox::new();
    sandbox.write("home/notes.txt", "of the user");
    set_mode(&sandbox.home(), 0o755);
    set_mode(&sandbox.home().join("notes.txt"), 0o644);
    let mut child = sandbox
        .after("umask 000", &["put", "--jsonl", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let line = json!({ "claim": "In the log.", "pointers": [POINTER] });
    writeln!(child.stdin.as_mut().unwrap(), "{line}").unwrap();
    let mut answer = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut answer).unwrap();
    let (home, names) = (sandbox.home(), paths_below(&sandbox.home()));
    assert!(names.contains(&home.join("engram.db-wal")), "{names:?}");
    assert!(names.contains(&home.join("engram.db-shm")), "{names:?}");
    assert_eq!(files_open_to_others(&home), ["notes.txt"], "{answer}");
    assert_eq!(
        mode(&home),
        0o755,
        "others may have to reach what else is in it"
    );
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

/// Opens a home to others, as earlier builds left it.
fn open_to_others(sandbox: &Sandbox) {
    sandbox.put("Retries use full jitter.");
    sandbox.json(&["doctor", "--reindex"]);
    for (file, text) in [
        ("config.toml", "urls = false\n"),
        ("window.toml", "theme = \"dark\"\n"),
        ("recent.json", "[]"),
        ("logs/window.2026-01-08.log", "started"),
        ("connect/_x.json", "{\"after\":\"token\"}"),
    ] {
        sandbox.write(&format!("home/{file}"), text);
    }
    for path in paths_below(&sandbox.home()) {
        set_mode(&path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    set_mode(&sandbox.home(), 0o755);
}

#[test]
fn an_open_home_of_before_is_closed_again() {
    for args in [
        &["status"][..],
        &["feed"],
        &["connect", "codex", "--yes"],
        &["mcp"],
    ] {
        let sandbox = Sandbox::new();
        open_to_others(&sandbox);
        assert_eq!(sandbox.run(args).code, Some(0), "{args:?}");
        assert_eq!(mode(&sandbox.home()), 0o700, "{args:?}");
        assert_eq!(files_open_to_others(&sandbox.home()), [""; 0], "{args:?}");
    }
    // Only the folder, or only the database, is open to others.
    for (folder, database) in [(0o755, 0o600), (0o700, 0o644), (0o711, 0o600)] {
        let sandbox = Sandbox::new();
        sandbox.put("Retries use full jitter.");
        set_mode(&sandbox.home().join("engram.db"), database);
        set_mode(&sandbox.home(), folder);
        sandbox.json(&["status"]);
        assert_eq!(mode(&sandbox.home()), 0o700, "{folder:o} {database:o}");
        assert_eq!(
            files_open_to_others(&sandbox.home()),
            [""; 0],
            "{folder:o} {database:o}"
        );
    }
    // The home is a link to its folder.
    let sandbox = Sandbox::new();
    open_to_others(&sandbox);
    fs::rename(sandbox.home(), sandbox.path("real")).unwrap();
    symlink(sandbox.path("real"), sandbox.home()).unwrap();
    sandbox.json(&["status"]);
    assert_eq!(mode(&sandbox.path("real")), 0o700);
}

/// `--home ~/code`: others may need access to the user's own files.
#[test]
fn in_a_folder_that_holds_other_things_only_ours_is_closed() {
    for strangers in [&["notes.txt", "site/index.html"][..], &["logs/server.log"]] {
        let sandbox = Sandbox::new();
        open_to_others(&sandbox);
        for name in strangers {
            let path = sandbox.write(&format!("home/{name}"), "of the user");
            set_mode(&path, 0o644);
            set_mode(path.parent().unwrap(), 0o755);
        }
        let mut want: Vec<String> = strangers.iter().map(|it| (*it).to_owned()).collect();
        want.extend(
            strangers
                .iter()
                .filter_map(|it| Some(it.split_once('/')?.0.to_owned())),
        );
        want.sort();
        for _ in 0..2 {
            sandbox.json(&["status"]);
            assert_eq!(files_open_to_others(&sandbox.home()), want);
            assert_eq!(mode(&sandbox.home()), 0o755);
        }
        let doctor = sandbox.json(&["doctor"]);
        assert_eq!(doctor["ok"], true, "{doctor}");
    }
}

#[test]
fn a_home_that_cannot_be_closed_is_used_and_doctor_says_so() {
    with_mounts(
        "private::a_home_that_cannot_be_closed_is_used_and_doctor_says_so",
        || {
            let privacy = |sandbox: &Sandbox| -> Value {
                let doctor: Value =
                    serde_json::from_str(&sandbox.run(&["doctor", "--json"]).out).unwrap();
                let all = doctor["findings"].as_array().unwrap().clone();
                all.into_iter().find(|it| it["what"] == "privacy").unwrap()
            };
            let sandbox = Sandbox::new();
            let id = sandbox.put("Retries use full jitter.");
            assert_eq!(privacy(&sandbox)["ok"], true);
            open_to_others(&sandbox);
            let home = sandbox.home();
            let home = home.to_str().unwrap();
            mount(&["--bind", home, home]);
            mount(&["-o", "remount,bind,ro", home]);
            assert_eq!(sandbox.json(&["get", &id])["id"], id.as_str());
            let found = privacy(&sandbox);
            assert_eq!(found["ok"], false, "{found}");
            let says = found["found"].as_str().unwrap();
            for name in ["engram.db", "connect/_x.json", home] {
                assert!(says.contains(name), "{name}: {says}");
            }
            mount(&["-o", "remount,bind,rw", home]);
            assert_eq!(privacy(&sandbox)["ok"], true);
        },
    );
}

/// A configuration may hold tokens: the copy for undo is no more readable than the file.
#[test]
fn the_copy_that_connect_keeps_is_private() {
    let sandbox = Sandbox::new();
    let file = sandbox.write(
        "repo/.mcp.json",
        "{\"mcpServers\":{\"a\":{\"env\":{\"TOKEN\":\"t\"}}}}",
    );
    set_mode(&file, 0o600);
    // An earlier build left the folder open, with a copy in it.
    sandbox.write("home/connect/old.json", "{\"after\":\"token\"}");
    set_mode(&sandbox.home().join("connect/old.json"), 0o644);
    set_mode(&sandbox.home().join("connect"), 0o755);
    set_mode(&sandbox.home(), 0o755);
    let output = sandbox
        .after("umask 000", &["connect", "claude", "--yes"])
        .output();
    assert_eq!(output_of(output.unwrap()).code, Some(0));
    let copies: Vec<_> = paths_below(&sandbox.home().join("connect"));
    // The copies of the configuration, of AGENTS.md and of CLAUDE.md, and the old one.
    assert_eq!(copies.len(), 4, "{copies:?}");
    assert_eq!(
        (mode(&sandbox.home()), files_open_to_others(&sandbox.home())),
        (0o700, vec![])
    );
    assert_eq!(mode(&file), 0o600);
}

/// A replaced configuration keeps its owner and permissions; a new one gets those of any new file.
#[test]
fn a_configuration_keeps_its_rights_and_its_owner() {
    let sandbox = Sandbox::new();
    for (client, file, before) in [
        ("claude", "repo/.mcp.json", "{}\n"),
        ("codex", "codex/config.toml", "a = 1\n"),
    ] {
        for is in [0o600, 0o640, 0o644, 0o664, 0o400] {
            let path = sandbox.write(file, before);
            set_mode(&path, is);
            // Only root may change a file's owner; for anyone else the file stays their own.
            let _ = Command::new("chown").arg("4711:4712").arg(&path).output();
            let owner = |path: &Path| {
                let metadata = fs::metadata(path).unwrap();
                (metadata.uid(), metadata.gid())
            };
            let was = owner(&path);
            for args in [
                &["connect", client, "--yes"][..],
                &["connect", client, "--yes", "--undo"],
            ] {
                sandbox.json(args);
                assert_eq!((mode(&path), owner(&path)), (is, was), "{args:?}");
            }
            fs::remove_file(path).unwrap();
        }
        let output = sandbox
            .after("umask 027", &["connect", client, "--yes"])
            .output();
        assert_eq!(output_of(output.unwrap()).code, Some(0));
        assert_eq!(mode(&sandbox.path(file)), 0o640, "{client}");
    }
}
