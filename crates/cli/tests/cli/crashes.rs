//! Killed while writing, again and again: what was acknowledged is there, and the index answers
//! the same once it is rebuilt. `ENGRAM_KILLS` sets how often.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::fixture::{POINTER, Place};

/// Writes lines until so many were answered, then kills; the ids that were answered.
fn write_and_kill(place: &Place, round: usize, answers: usize, lines: usize) -> Vec<String> {
    let mut child = place
        .command()
        .args(["--json", "put", "--jsonl", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        for line in 0..lines {
            let claim = format!("Round {round} saw value_{round}_{line} in build {line}.");
            let text = json!({"claim": claim, "pointers": [POINTER]}).to_string();
            if writeln!(stdin, "{text}").is_err() {
                return;
            }
        }
    });
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ids = Vec::new();
    let mut read = |line: std::io::Result<String>| {
        // The last line may be cut by the kill: nobody was told.
        let Ok(answer) = serde_json::from_str::<Value>(&line.unwrap_or_default()) else {
            return;
        };
        assert!(answer.get("error").is_none(), "{answer}");
        ids.push(answer["id"].as_str().unwrap().to_owned());
    };
    for line in out.by_ref().take(answers) {
        read(line);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What it had said before it died counts too.
    out.for_each(read);
    writer.join().unwrap();
    ids
}

/// The ids that the home holds, newest first.
fn held(place: &Place) -> Vec<String> {
    let mut ids = Vec::new();
    let mut before = u64::MAX >> 1;
    loop {
        let page = place.json(&["feed", "--limit", "1000", "--before", &before.to_string()]);
        let entries = page["entries"].as_array().unwrap().clone();
        let Some(last) = entries.last() else {
            return ids;
        };
        before = last["seq"].as_u64().unwrap();
        ids.extend(
            entries
                .iter()
                .map(|it| it["change"]["with"]["id"].as_str().unwrap().to_owned()),
        );
    }
}

#[test]
fn killed_while_writing() {
    let kills: usize = std::env::var("ENGRAM_KILLS")
        .map_or(15, |it| it.parse().expect("ENGRAM_KILLS is a number"));
    let place = Place::new();
    let mut acknowledged = Vec::new();
    for round in 0..kills {
        // Every fifth is killed after the batch, while the index reads it.
        let (answers, lines) = match round % 5 {
            4 => (300, 300),
            _ => (1 + (round * 7919) % 40, 400),
        };
        acknowledged.extend(write_and_kill(&place, round, answers, lines));
        let held = held(&place);
        for id in &acknowledged {
            assert!(
                held.contains(id),
                "round {round}: {id} was acknowledged and is gone"
            );
        }
        let doctor = place.json(&["doctor"]);
        assert_eq!(doctor["ok"], true, "round {round}: {doctor}");
    }
    let questions: Vec<String> = (0..30)
        .map(|at| format!("value_{}_{} in build", at % kills, at))
        .collect();
    let ask = || -> Vec<Value> {
        questions
            .iter()
            .map(|it| place.json(&["query", it]))
            .collect()
    };
    let before = ask();
    place.json(&["doctor", "--reindex"]);
    assert_eq!(ask(), before);
}
