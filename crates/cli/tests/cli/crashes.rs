//! Killed while writing, again and again: what was acknowledged is there, and the index answers
//! the same once it is rebuilt. `ENGRAM_KILLS` sets how often.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    fixture::{POINTER, Place},
    grants::family,
};

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

fn times() -> usize {
    std::env::var("ENGRAM_KILLS").map_or(15, |it| it.parse().expect("ENGRAM_KILLS is a number"))
}

#[test]
fn killed_while_writing() {
    let kills = times();
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

/// What one process says before it dies: whole, or nobody was told.
fn killed_after(mut child: Child, wait: Duration) -> Option<Value> {
    #[expect(
        clippy::disallowed_methods,
        reason = "killed at any moment, not after a wait"
    )]
    std::thread::sleep(wait);
    child.kill().unwrap();
    let said = child.wait_with_output().unwrap().stdout;
    let said: Value = serde_json::from_slice(&said).ok()?;
    assert!(said.get("error").is_none(), "{said}");
    Some(said)
}

/// Children report, their parent grants and orders, the user judges, in processes that are killed at any moment:
/// what was acknowledged is there.
#[test]
fn killed_while_agents_talk() {
    let kills = times();
    let place = Place::new();
    family(&place, &["ada", "bob"]);
    let rates = "[limits.rate]\nper_minute = 1000000\nper_hour = 1000000\n";
    place.write("home/config.toml", rates);
    let mut kept = AcknowledgedIds::default();
    for round in 0..kills.div_ceil(ACTS.len()) {
        let about = disputed(&place, round);
        let running: Vec<Child> = ACTS.iter().map(|act| act(&place, round, &about)).collect();
        for (at, child) in running.into_iter().enumerate() {
            // As long as a command takes while others run, and shorter.
            let wait = Duration::from_millis(((round * 7919 + at * 104_729) % 240) as u64);
            if let Some(said) = killed_after(child, wait) {
                kept.take(at, &about, &said);
            }
        }
        if round % 20 == 19 {
            kept.look(&place);
        }
    }
    kept.look(&place);
    assert!(
        kept.acknowledged > 0 && kept.acknowledged < kills,
        "{kept:?}"
    );
    assert_eq!(place.json(&["doctor", "--replay"])["ok"], true);
    println!(
        "of {kills}, {} were acknowledged: {} messages, {} grants, {} verdicts",
        kept.acknowledged,
        kept.messages.len(),
        kept.grants.len(),
        kept.settled.len()
    );
}

/// A conflict about something that only this round is about.
fn disputed(place: &Place, round: usize) -> String {
    let topic = format!("wallet/{round}");
    let put = |minutes: u32| {
        let claim = format!("The lock of wallet {round} lasts {minutes} minutes.");
        place.json(&[
            "put",
            "--claim",
            &claim,
            "--pointer",
            POINTER,
            "--topic",
            &topic,
        ])
    };
    put(3);
    let found = put(30)["findings"].clone();
    let conflict = found
        .as_array()
        .unwrap()
        .iter()
        .find_map(|it| it["conflict"].as_str());
    conflict.unwrap().to_owned()
}

type Act = fn(&Place, usize, &str) -> Child;

/// What is done in each round, at once.
const ACTS: [Act; 4] = [
    |place, round, _| {
        let claim = json!({"claim": format!("Port {round} is open."), "pointers": [POINTER],
            "kind": "fact", "confidence": 0.7, "ttl": "P7D", "scope": "project"});
        let report = json!({"role": "programmer", "task_status": "done", "engrams": [claim],
            "output": {"summary": "One.", "next": ""}});
        fed(place, &["message", "send", "-", "--agent", "ada"], &report)
    },
    |place, round, _| {
        let order = json!({"role": "programmer", "instructions": [format!("Confirm port {round}.")],
            "grants": [{"budget_token": "", "pointer": POINTER, "cap_tokens": 100}]});
        fed(place, &["message", "send", "-", "--agent", "lead"], &order)
    },
    |place, _, _| {
        let to = [
            "grant",
            "issue",
            "--to",
            "ada",
            "--pointer",
            POINTER,
            "--by",
            "lead",
        ];
        fed(place, &to, &Value::Null)
    },
    |place, round, conflict| {
        let how = if round % 2 == 0 {
            "--dismiss"
        } else {
            "--winner=newer"
        };
        fed(
            place,
            &["resolve", conflict, how, "--why", "Read again."],
            &Value::Null,
        )
    },
];

/// The command, with this to read.
fn fed(place: &Place, args: &[&str], input: &Value) -> Child {
    let mut command = place.command();
    command.arg("--json").args(args).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may be dead already.
    let _ = child
        .stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes());
    child
}

/// What was acknowledged.
#[derive(Debug, Default)]
struct AcknowledgedIds {
    acknowledged: usize,
    claims: Vec<String>,
    messages: Vec<String>,
    grants: Vec<String>,
    settled: Vec<String>,
}

impl AcknowledgedIds {
    fn take(&mut self, act: usize, conflict: &str, said: &Value) {
        self.acknowledged += 1;
        let id = |it: &Value| it["id"].as_str().unwrap().to_owned();
        match act {
            0 | 1 => {
                self.messages.push(id(said));
                self.claims
                    .extend(said["engrams"].as_array().into_iter().flatten().map(id));
                self.grants
                    .extend(said["grants"].as_array().into_iter().flatten().map(id));
            }
            2 => self.grants.push(id(said)),
            _ => self.settled.push(conflict.to_owned()),
        }
    }

    /// Looks everything up.
    fn look(&self, place: &Place) {
        for claim in &self.claims {
            assert_eq!(place.json(&["get", claim])["id"], claim.as_str());
        }
        let database = rusqlite::Connection::open(place.home().join("engram.db")).unwrap();
        let held = |table: &str, id: &str| {
            let sql = format!("SELECT count(*) FROM {table} WHERE id = ?1");
            let held: i64 = database.query_row(&sql, [id], |row| row.get(0)).unwrap();
            assert_eq!(held, 1, "{table} {id} was acknowledged and is gone");
        };
        self.messages.iter().for_each(|id| held("message", id));
        self.grants.iter().for_each(|id| held("\"grant\"", id));
        for conflict in &self.settled {
            let shown = place.json(&["conflicts", "show", conflict]);
            assert_ne!(shown["status"], "open", "{shown}");
        }
    }
}
