//! The system below Engram fails. Each failure is reported, loses nothing acknowledged, and ends
//! with its cause.

use std::{
    fs,
    io::{Read, Write},
    path::PathBuf,
    process::Command,
    sync::{Arc, mpsc::channel},
    time::Duration,
};

use engram_engine::{Engine, Options};
use engram_model::{Caller, EngramId, ask, shell_quoted};
use serde_json::{Value, json};

use crate::fixture::{POINTER, Sandbox, mount, with_mounts};

fn database(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join("engram.db")
}

#[test]
fn a_database_that_is_none_is_refused_and_left_alone() {
    let sandbox = Sandbox::new();
    let id = sandbox.put("Retries use full jitter.");
    let sound = fs::read(database(&sandbox)).unwrap();
    let mut header = sound.clone();
    header[..64].fill(b'x');
    let newer = {
        let mut bytes = sound.clone();
        bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
        bytes
    };
    for (bytes, code) in [
        (header, "STORE_CORRUPT"),
        (sound[..sound.len() / 2].to_vec(), "STORE_CORRUPT"),
        (vec![b'x'; 100_000], "STORE_CORRUPT"),
        (newer, "STORE_NEWER"),
    ] {
        fs::write(database(&sandbox), &bytes).unwrap();
        for args in [
            &["get", &id][..],
            &["query", "retries"],
            &["put", "--claim", "More.", "--pointer", POINTER],
            &["doctor"],
        ] {
            let ran = sandbox.run(&[args, &["--json"]].concat());
            match args[0] {
                "doctor" if ran.code == Some(1) && ran.err.is_empty() => {
                    assert!(ran.out.contains("damaged"), "{ran:?}");
                }
                _ => assert_eq!(ran.error()["code"], code, "{args:?}"),
            }
        }
        assert_eq!(
            fs::read(database(&sandbox)).unwrap(),
            bytes,
            "{code}: no byte changed"
        );
    }
    fs::write(database(&sandbox), &sound).unwrap();
    assert_eq!(
        sandbox.json(&["get", &id])["id"],
        id.as_str(),
        "once restored, the home can be read again"
    );
}

/// Overwrites a page in the middle of the database: every command answers or fails, and none
/// crashes.
#[test]
fn damaged_pages_never_crash() {
    let sandbox = Sandbox::new();
    let lines: String = (0..300)
        .map(|at| {
            json!({"claim": format!("Setting_{at} is {at} ms."), "pointers": [POINTER]}).to_string()
                + "\n"
        })
        .collect();
    sandbox
        .feed(&["put", "--jsonl", "-"], lines.as_bytes())
        .lines();
    let id = sandbox.put("Retries use full jitter.");
    let sound = fs::read(database(&sandbox)).unwrap();
    let pages = sound.len() / 4096;
    let mut noticed = 0;
    for at in 1..25 {
        let mut bytes = sound.clone();
        let start = (at * 7 % pages.max(2)) * 4096;
        let end = (start + 4096).min(bytes.len());
        for (offset, byte) in bytes[start..end].iter_mut().enumerate() {
            *byte = (offset * 31 + at * 17) as u8;
        }
        fs::write(database(&sandbox), &bytes).unwrap();
        for args in [
            &["get", &id][..],
            &["query", "setting_17 ms"],
            &["feed"],
            &["doctor"],
        ] {
            let ran = sandbox.run(&[args, &["--json"]].concat());
            assert!(
                matches!(ran.code, Some(0 | 1)),
                "page {start}: {args:?}: {ran:?}"
            );
            if ran.code == Some(1) && ran.out.is_empty() {
                assert_eq!(
                    ran.error()["code"],
                    "STORE_CORRUPT",
                    "page at {start}: {args:?}"
                );
                noticed += 1;
            }
        }
        fs::write(database(&sandbox), &sound).unwrap();
    }
    assert!(noticed > 10, "{noticed}");
    assert_eq!(sandbox.json(&["doctor"])["ok"], true);
}

/// Stores a batch; returns the ids of the lines acknowledged and the codes of the others.
fn batch(sandbox: &Sandbox, from: usize, count: usize) -> (Vec<String>, Vec<String>) {
    let lines: String = (from..from + count)
        .map(|at| json!({"claim": format!("Setting_{at} {}", "is long ".repeat(55)), "pointers": [POINTER]}).to_string() + "\n")
        .collect();
    let mut ids = Vec::new();
    let mut codes = Vec::new();
    for answer in sandbox
        .feed(&["--json", "put", "--jsonl", "-"], lines.as_bytes())
        .lines()
    {
        match answer.get("error") {
            None => ids.push(answer["id"].as_str().unwrap().to_owned()),
            Some(error) => codes.push(error["code"].as_str().unwrap().to_owned()),
        }
    }
    (ids, codes)
}

#[test]
fn a_full_disk_loses_nothing() {
    with_mounts("failures::a_full_disk_loses_nothing", || {
        let sandbox = Sandbox::new();
        let home = sandbox.home();
        fs::create_dir(&home).unwrap();
        mount(&[
            "-t",
            "tmpfs",
            "-o",
            "size=4m",
            "tmpfs",
            home.to_str().unwrap(),
        ]);
        fs::write(home.join("ballast"), vec![0; 2_000_000]).unwrap();
        let (mut ids, mut codes) = (Vec::new(), Vec::new());
        for round in 0.. {
            assert!(round < 20, "2 MB were never full");
            let (stored, refused) = batch(&sandbox, round * 200, 200);
            ids.extend(stored);
            codes.extend(refused);
            if !codes.is_empty() {
                break;
            }
        }
        assert!(ids.len() > 20, "{}", ids.len());
        assert!(
            codes.iter().all(|code| code == "STORE_FULL"),
            "{:?}",
            codes[0]
        );
        // The disk is full: what only reads answers, and what writes says why it cannot.
        fill(&home.join("filler"));
        let known = ids[3].clone();
        for args in [
            &["status"][..],
            &["query", "setting_3"],
            &["get", &known],
            &["put", "--claim", "One more.", "--pointer", POINTER],
            &["doctor", "--reindex"],
        ] {
            let ran = sandbox.run(&[args, &["--json"]].concat());
            match ran.code {
                // SQLite may reuse space in its log; what was acknowledged is kept.
                Some(0) if args[0] == "put" => {
                    ids.push(ran.json()["id"].as_str().unwrap().to_owned());
                }
                Some(0) => {}
                _ if ["status", "query", "get"].contains(&args[0]) => panic!("{args:?} {ran:?}"),
                Some(1) if args[0] == "doctor" && ran.err.is_empty() => {
                    assert!(ran.out.contains("could not be rebuilt"), "{ran:?}");
                }
                _ => assert_eq!(ran.error()["code"], "STORE_FULL", "{args:?} {ran:?}"),
            }
        }
        // After a restart of the machine, SQLite has no index of its log, and no room for one.
        let _ = fs::remove_file(home.join("engram.db-shm"));
        fill(&home.join("filler of its place"));
        sandbox.json(&["get", &known]);
        fs::remove_file(home.join("filler of its place")).unwrap();
        fs::remove_file(home.join("filler")).unwrap();
        fs::remove_file(home.join("ballast")).unwrap();
        let (stored, refused) = batch(&sandbox, 900_000, 5);
        assert_eq!(
            (stored.len(), refused.len()),
            (5, 0),
            "with room again, writes succeed"
        );
        for id in ids.iter().chain(&stored) {
            assert_eq!(sandbox.json(&["get", id])["id"], id.as_str());
        }
        let doctor = sandbox.json(&["doctor"]);
        assert_eq!(doctor["ok"], true, "{doctor}");
    });
}

/// A home that was closed in order has no files of SQLite beside the database, and a full disk has
/// no room for them.
#[test]
fn a_home_on_a_full_disk_is_read() {
    with_mounts("failures::a_home_on_a_full_disk_is_read", || {
        let sandbox = Sandbox::new();
        let home = sandbox.home();
        fs::create_dir(&home).unwrap();
        let place = home.to_str().unwrap();
        mount(&["-t", "tmpfs", "-o", "size=4m", "tmpfs", place]);
        let put = |claim| sandbox.run(&["put", "--json", "--claim", claim, "--pointer", POINTER]);
        let known = put("The ledger is append-only.").json()["id"].clone();
        fill(&home.join("filler"));
        let known = known.as_str().unwrap();
        for args in [
            &["status"][..],
            &["query", "ledger"],
            &["get", known],
            &["feed"],
        ] {
            let ran = sandbox.run(args);
            assert_eq!(ran.code, Some(0), "{args:?} {ran:?}");
        }
        assert_eq!(put("One more.").error()["code"], "STORE_FULL");
        let doctor = sandbox.run(&["doctor"]).out;
        assert!(doctor.contains("is full: free some space"), "{doctor}");
        fs::remove_file(home.join("filler")).unwrap();
        assert_eq!(put("One more.").code, Some(0));
        assert_eq!(sandbox.json(&["doctor"])["ok"], true);
    });
}

fn fill(path: &std::path::Path) {
    let mut file = fs::File::create(path).unwrap();
    while file.write(&[0; 512]).is_ok_and(|it| it > 0) {}
}

#[test]
fn a_home_that_cannot_be_written_is_read() {
    with_mounts("failures::a_home_that_cannot_be_written_is_read", || {
        let sandbox = Sandbox::new();
        let id = sandbox.put("Retries use full jitter.");
        sandbox.json(&["doctor", "--reindex"]);
        let home = sandbox.home();
        let home = home.to_str().unwrap();
        mount(&["--bind", home, home]);
        mount(&["-o", "remount,bind,ro", home]);
        assert_eq!(sandbox.json(&["get", &id])["id"], id.as_str());
        assert_eq!(
            sandbox.json(&["query", "retries"])["engrams"][0]["id"],
            id.as_str()
        );
        assert_eq!(
            sandbox.json(&["feed"])["entries"].as_array().unwrap().len(),
            1
        );
        sandbox.json(&["status"]);
        for args in [
            &["put", "--claim", "More.", "--pointer", POINTER][..],
            &["forget", &id],
            &["redact", &id],
            &["note", "text"],
            &["deref", POINTER],
            &["feed", "--follow"],
            &["doctor", "--reindex"],
        ] {
            sandbox
                .run(&[args, &["--json"]].concat())
                .refused("STORE_READ_ONLY");
        }
        let doctor = sandbox.run(&["doctor", "--json"]);
        assert!(
            doctor.code == Some(1) && doctor.out.contains("is not writable"),
            "{doctor:?}"
        );
        mount(&["-o", "remount,bind,rw", home]);
        sandbox.put("Retries use no jitter at all.");
        assert_eq!(sandbox.json(&["status"])["engrams"], 2);
    });
}

/// The feed of a read-only home follows it once it is writable.
#[test]
fn a_home_that_can_be_written_again_is_followed() {
    with_mounts(
        "failures::a_home_that_can_be_written_again_is_followed",
        || {
            const LONG: Duration = Duration::from_secs(30);
            let sandbox = Sandbox::new();
            let id = sandbox.put("Retries use full jitter.");
            let other: EngramId = sandbox.put("Requests time out.").parse().unwrap();
            let home = sandbox.home();
            let at = home.to_str().unwrap();
            mount(&["--bind", at, at]);
            mount(&["-o", "remount,bind,ro", at]);
            let open = || {
                Engine::open(Options {
                    home: home.clone(),
                    repo: Some(sandbox.repo()),
                    from: sandbox.repo(),
                })
            };
            let (engine, writer) = (Arc::new(open().unwrap()), open().unwrap());
            engine.follow().unwrap();
            let id: EngramId = id.parse().unwrap();
            let refused = [
                engine.subscribe(0, |_| ()).err().unwrap(),
                engine.ask(&Caller::User, ask::Forget(id)).err().unwrap(),
            ];
            for refusal in refused {
                assert_eq!(refusal.code.as_str(), "STORE_READ_ONLY");
                assert!(refusal.message.contains(at), "{refusal}");
            }
            engine.ask(&Caller::User, ask::Get(id)).unwrap();
            mount(&["-o", "remount,bind,rw", at]);
            // A process that only writes also notices.
            writer.ask(&Caller::User, ask::Forget(other)).unwrap();
            let (tell, told) = channel();
            let subscription = engine.subscribe(0, move |it| tell.send(it.len()).unwrap_or(()));
            let _subscription = subscription.unwrap();
            told.recv_timeout(LONG).expect("the existing entries");
            sandbox.put("Retries use no jitter at all.");
            told.recv_timeout(LONG)
                .expect("the entry of another process");
            engine.ask(&Caller::User, ask::Forget(id)).unwrap();
        },
    );
}

/// A process that only reads starts its followers, too: here the one that takes the lock of the tree.
#[test]
fn a_read_of_a_home_that_can_be_written_again_starts_the_followers() {
    with_mounts(
        "failures::a_read_of_a_home_that_can_be_written_again_starts_the_followers",
        || {
            let sandbox = Sandbox::new();
            let id: EngramId = sandbox.put("Retries use full jitter.").parse().unwrap();
            let home = sandbox.home();
            let at = home.to_str().unwrap();
            mount(&["--bind", at, at]);
            mount(&["-o", "remount,bind,ro", at]);
            let options = Options {
                home: home.clone(),
                repo: Some(sandbox.repo()),
                from: sandbox.repo(),
            };
            let engine = Arc::new(Engine::open(options).unwrap());
            engine.follow().unwrap();
            let read = || engine.ask(&Caller::User, ask::Get(id)).unwrap();
            let is_followed = || {
                let names = fs::read_dir(&home)
                    .unwrap()
                    .map(|it| it.unwrap().file_name());
                names
                    .into_iter()
                    .any(|it| it.to_string_lossy().starts_with("anchor-"))
            };
            read();
            assert!(!is_followed());
            mount(&["-o", "remount,bind,rw", at]);
            read();
            while !is_followed() {
                std::thread::yield_now();
            }
        },
    );
}

/// `doctor` does not create a home in place of one that was moved away, since an empty home would
/// look sound.
#[test]
fn a_home_that_is_not_there_is_not_made_by_a_checkup() {
    let sandbox = Sandbox::new();
    let error = sandbox.run(&["doctor", "--json"]).error();
    assert_eq!(error["code"], "NOT_FOUND");
    let home = sandbox.home();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(home.to_str().unwrap()), "{message}");
    assert!(!home.exists());
}

/// A failure names the file, and the command for this home.
#[test]
fn a_damaged_home_is_named_in_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.put("Retries use full jitter.");
    let sound = fs::read(database(&sandbox)).unwrap();
    fs::write(database(&sandbox), &sound[..sound.len() / 2]).unwrap();
    for args in [&["query", "retries", "--json"][..], &["doctor", "--json"]] {
        let ran = sandbox.run(args);
        if args[0] == "doctor" && ran.err.is_empty() {
            assert!(ran.out.contains("damaged"), "{ran:?}");
            continue;
        }
        let error = ran.error();
        let said = |what: &str| error[what].as_str().unwrap().to_owned();
        let (file, home) = (database(&sandbox), sandbox.home());
        assert!(said("message").contains(file.to_str().unwrap()), "{error}");
        let command = format!(
            "engram --home {} doctor --recover",
            shell_quoted(home.to_str().unwrap())
        );
        assert!(said("hint").contains(&command), "{error}");
    }
}

/// The log of a killed writer holds acknowledged data: the read-only home shows it or is refused.
#[test]
fn a_read_only_home_with_a_log_shows_all_or_nothing() {
    with_mounts(
        "failures::a_read_only_home_with_a_log_shows_all_or_nothing",
        || {
            for shared in [true, false] {
                let sandbox = Sandbox::new();
                let first = sandbox.put("Retries use full jitter.");
                let mut child = sandbox
                    .command()
                    .args(["put", "--jsonl", "-"])
                    .stdin(std::process::Stdio::piped())
                    .spawn()
                    .unwrap();
                let line = json!({"claim": "Left in the log.", "pointers": [POINTER]});
                writeln!(child.stdin.as_mut().unwrap(), "{line}").unwrap();
                let mut answer = [0; 1];
                child
                    .stdout
                    .as_mut()
                    .unwrap()
                    .read_exact(&mut answer)
                    .unwrap();
                child.kill().unwrap();
                child.wait().unwrap();
                let log = sandbox.home().join("engram.db-wal");
                assert!(
                    fs::metadata(log).unwrap().len() > 0,
                    "this case needs a write-ahead log"
                );
                if !shared {
                    fs::remove_file(sandbox.home().join("engram.db-shm")).unwrap();
                }
                let home = sandbox.home();
                let home = home.to_str().unwrap();
                mount(&["--bind", home, home]);
                mount(&["-o", "remount,bind,ro", home]);
                sandbox.run(&["get", &first, "--json"]);
                let asked = sandbox.run(&["query", "left in the log", "--json"]);
                match asked.code {
                    Some(0) => assert_eq!(asked.json()["engrams"][0]["claim"], "Left in the log."),
                    _ => assert_eq!(
                        asked.error()["code"],
                        "STORE_READ_ONLY",
                        "with shared memory: {shared}"
                    ),
                }
                mount(&["-o", "remount,bind,rw", home]);
                assert_eq!(
                    sandbox.json(&["query", "left in the log"])["engrams"][0]["claim"],
                    "Left in the log."
                );
            }
        },
    );
}

/// A reader succeeds, since it needs no writer's lock. A writer waits, then says why
/// it cannot write.
#[test]
fn a_held_lock_is_waited_for() {
    let sandbox = Sandbox::new();
    let id = sandbox.put("Retries use full jitter.");
    let lock = fs::File::open(sandbox.home().join("write.lock")).unwrap();
    lock.lock().unwrap();
    for args in [
        &["status"][..],
        &["get", &id],
        &["query", "retries"],
        &["feed"],
        &["doctor"],
    ] {
        sandbox.json(args);
    }
    let put = |claim: &str| {
        sandbox
            .command()
            .args(["--json", "put", "--claim", claim, "--pointer", POINTER])
            .spawn()
            .unwrap()
    };
    let mut given_up = put("Never.");
    let status = given_up.wait().unwrap();
    let mut said = String::new();
    given_up
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(status.code(), Some(1));
    let error: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(error["error"]["code"], "STORE_LOCKED");
    let waiting = put("At last.");
    // Nothing was printed, so it waits; now it may go on.
    lock.unlock().unwrap();
    let stored = crate::fixture::output_of(waiting.wait_with_output().unwrap()).json();
    // The entries are the repository's path, the first claim, and this one.
    assert_eq!(stored["seq"], 3);
}

/// Without git on the machine: the command never runs it.
#[test]
fn the_git_command_is_not_needed() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.env("PATH", "/nonexistent").args([
        "--json",
        "put",
        "--claim",
        "Retries use full jitter.",
        "--pointer",
        POINTER,
    ]);
    assert_eq!(
        crate::fixture::output_of(command.output().unwrap()).json()["verified"],
        true
    );
}

/// A home at an impossible path gives an error, not a crash.
#[test]
fn a_home_that_cannot_be_made_says_so() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("file", "x");
    for home in [
        file.clone(),
        file.join("below"),
        PathBuf::from("/proc/none"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        command
            .current_dir(sandbox.repo())
            .env("HOME", sandbox.path("person"))
            .arg("--home")
            .arg(&home)
            .args(["--json", "status"]);
        let error = crate::fixture::output_of(command.output().unwrap()).error();
        assert_eq!(error["code"], "STORE_READ_ONLY", "{home:?}: {error}");
    }
}
