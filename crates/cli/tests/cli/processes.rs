//! Many processes on one home: nothing is lost, no lock fails, and each process sees what was
//! acknowledged.

use std::{collections::HashSet, process::Child};

use serde_json::{Value, json};

use crate::fixture::{POINTER, Sandbox, output_of};

const PROCESSES: usize = 8;
const LINES: usize = 200;

fn lines_of(writer: usize) -> String {
    (0..LINES)
        .map(|line| {
            let claim = format!("Writer {writer} found that setting_{writer}_{line} is {line} ms.");
            json!({"claim": claim, "pointers": [POINTER], "agent": format!("writer-{writer}")})
                .to_string()
                + "\n"
        })
        .collect()
}

#[test]
fn eight_processes_write_at_once() {
    let sandbox = Sandbox::new();
    let started: Vec<Child> = (0..PROCESSES)
        .map(|writer| {
            let file = sandbox.write(&format!("{writer}.jsonl"), lines_of(writer));
            sandbox
                .command()
                .args(["--json", "put", "--jsonl"])
                .arg(file)
                .spawn()
                .unwrap()
        })
        .collect();
    let mut ids = HashSet::new();
    let mut seqs = HashSet::new();
    for child in started {
        let ran = output_of(child.wait_with_output().unwrap());
        assert_eq!(ran.err, "");
        let answers = ran.lines();
        assert_eq!(answers.len(), LINES);
        for answer in answers {
            assert!(answer.get("error").is_none(), "{answer}");
            assert!(ids.insert(answer["id"].to_string()), "twice: {answer}");
            assert!(
                seqs.insert(answer["seq"].as_u64().unwrap()),
                "twice: {answer}"
            );
        }
    }
    assert_eq!(ids.len(), PROCESSES * LINES);
    assert_eq!(sandbox.json(&["status"])["engrams"], PROCESSES * LINES);
    assert_eq!(sandbox.json(&["doctor"])["ok"], true);
    check_journal(&sandbox, PROCESSES * LINES);
    for writer in 0..PROCESSES {
        let found = sandbox.json(&["query", &format!("setting_{writer}_199"), "--k", "1"]);
        assert_eq!(
            found["engrams"][0]["provenance"]["created_by"],
            format!("writer-{writer}")
        );
    }
}

/// Checks the journal: no gap and no step back in the order of this home, in that of its origin, or
/// in time.
fn check_journal(sandbox: &Sandbox, entries: usize) {
    let database = rusqlite::Connection::open(sandbox.home().join("engram.db")).unwrap();
    let rows: Vec<(u64, String, u64, i64, i64)> = database
        .prepare("SELECT seq, origin, origin_seq, hlc, recorded_at FROM journal ORDER BY seq")
        .unwrap()
        .query_map([], |row| {
            Ok((
                row.get::<_, i64>(0)? as u64,
                row.get(1)?,
                row.get::<_, i64>(2)? as u64,
                row.get(3)?,
                row.get(4)?,
            ))
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    // One further entry stores the repository's path.
    assert_eq!(rows.len(), entries + 1);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!((row.0, row.2), (at as u64 + 1, at as u64 + 1));
        assert_eq!(row.1, rows[0].1, "one origin");
        if at > 0 {
            assert!(
                row.3 > rows[at - 1].3 && row.4 >= rows[at - 1].4,
                "time goes on"
            );
        }
    }
}

/// One process writes and the next one asks, before and after the index has read the entry.
#[test]
fn what_was_put_is_seen_by_the_next_process() {
    let sandbox = Sandbox::new();
    for at in 0..5 {
        let id = sandbox.put(&format!("The limit_{at} is {at} requests."));
        let found = sandbox.json(&["query", &format!("limit_{at}")]);
        assert_eq!(found["engrams"][0]["id"], id.as_str());
        sandbox.json(&["forget", &id]);
        let found = sandbox.json(&["query", &format!("limit_{at}")]);
        assert_eq!(found["engrams"], json!([]), "forgotten");
        if at == 2 {
            sandbox.json(&["doctor", "--reindex"]);
        }
    }
}

#[test]
fn the_feed_is_followed_as_others_write() {
    use std::io::{BufRead, BufReader};
    let sandbox = Sandbox::new();
    sandbox.put("Long before.");
    sandbox.put("Before.");
    let mut following = sandbox
        .command()
        .args(["--json", "feed", "--follow", "--limit", "1"])
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["change"]["with"]["claim"], "Before.");
    for claim in ["One.", "Two.", "Three."] {
        sandbox.put(claim);
        let entry = next();
        assert_eq!(
            (&entry["change"]["kind"], &entry["change"]["with"]["claim"]),
            (&json!("stored"), &json!(claim))
        );
    }
    following.kill().unwrap();
    following.wait().unwrap();
}

/// A process that follows the feed of a home that disappears reports this and fails.
#[test]
fn the_feed_ends_with_its_home() {
    use std::io::{BufRead, BufReader, Read};
    for is_replaced in [false, true] {
        let sandbox = Sandbox::new();
        sandbox.put("Before.");
        let mut following = sandbox
            .command()
            .args(["--json", "feed", "--follow"])
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        std::fs::rename(sandbox.home(), sandbox.path("away")).unwrap();
        if is_replaced {
            sandbox.put("Of another home.");
        }
        assert!(lines.next().is_none());
        let mut said = String::new();
        let mut errors = following.stderr.take().unwrap();
        errors.read_to_string(&mut said).unwrap();
        assert_eq!(following.wait().unwrap().code(), Some(1));
        let error: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(error["error"]["code"], "STORE_GONE", "{said}");
    }
}
