//! Kills writers again and again. Everything acknowledged is still there, and a rebuilt index
//! answers the same. `ENGRAM_KILLS` sets the number of kills.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::fixture::{POINTER, Sandbox};

/// Writes lines until `answers` of them were answered, then kills the process; returns the answered
/// ids.
fn write_and_kill(sandbox: &Sandbox, round: usize, answers: usize, lines: usize) -> Vec<String> {
    let mut child = sandbox
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
        // The kill may cut the last line: it acknowledges nothing.
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
    // Answers written before the kill count too.
    out.for_each(read);
    writer.join().unwrap();
    ids
}

/// Returns the ids in the home, newest first.
fn ids_in_home(sandbox: &Sandbox) -> Vec<String> {
    let mut ids = Vec::new();
    let mut before = u64::MAX >> 1;
    loop {
        let page = sandbox.json(&["feed", "--limit", "1000", "--before", &before.to_string()]);
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

fn count_of_kills() -> usize {
    std::env::var("ENGRAM_KILLS").map_or(15, |it| it.parse().expect("ENGRAM_KILLS is a number"))
}

#[test]
fn killed_while_writing() {
    let kills = count_of_kills();
    let sandbox = Sandbox::new();
    let mut acknowledged = Vec::new();
    for round in 0..kills {
        // Every fifth process is killed after its batch, while the index reads the new entries.
        let (answers, lines) = match round % 5 {
            4 => (300, 300),
            _ => (1 + (round * 7919) % 40, 400),
        };
        acknowledged.extend(write_and_kill(&sandbox, round, answers, lines));
        let held = ids_in_home(&sandbox);
        for id in &acknowledged {
            assert!(
                held.contains(id),
                "round {round}: {id} was acknowledged and is gone"
            );
        }
        let doctor = sandbox.json(&["doctor"]);
        assert_eq!(doctor["ok"], true, "round {round}: {doctor}");
    }
    let questions: Vec<String> = (0..30)
        .map(|at| format!("value_{}_{} in build", at % kills, at))
        .collect();
    let ask = || -> Vec<Value> {
        questions
            .iter()
            .map(|it| sandbox.json(&["query", it]))
            .collect()
    };
    let before = ask();
    sandbox.json(&["doctor", "--reindex"]);
    assert_eq!(ask(), before);
}

/// Returns what a process printed before it was killed: a whole answer, or none.
fn kill_after(mut child: Child, wait: Duration) -> Option<Value> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the kill comes at any moment, after no event"
    )]
    std::thread::sleep(wait);
    child.kill().unwrap();
    let said = child.wait_with_output().unwrap().stdout;
    let said: Value = serde_json::from_slice(&said).ok()?;
    assert!(said.get("error").is_none(), "{said}");
    Some(said)
}

/// Children report, their parent grants and gives orders, and the user judges, in processes that
/// are killed at any moment. Everything acknowledged is still there.
#[test]
fn killed_while_agents_talk() {
    let kills = count_of_kills();
    let sandbox = Sandbox::new();
    sandbox.open_family(&["ada", "bob"]);
    let rates = "[limits.rate]\nper_minute = 1000000\nper_hour = 1000000\n";
    sandbox.write("home/config.toml", rates);
    let mut kept = AcknowledgedIds::default();
    let rounds = kills.div_ceil(ACTS.len());
    let undisturbed = time_of_a_round(&sandbox, rounds);
    for round in 0..rounds {
        let about = store_conflict(&sandbox, round);
        let running = start_all(&sandbox, round, &about);
        // The first is killed at once, well after a whole round, or in between; the others soon
        // after it.
        let first = undisturbed * ((round * 7919) % 150) as u32 / 100;
        for (at, child) in running.into_iter().enumerate() {
            let wait = if at == 0 { first } else { undisturbed / 20 };
            if let Some(said) = kill_after(child, wait) {
                kept.take(at, &about, &said);
            }
        }
        if round % 20 == 19 {
            kept.check(&sandbox);
        }
    }
    kept.check(&sandbox);
    assert!(
        kept.acknowledged > 0 && kept.acknowledged < kills,
        "{kept:?}"
    );
    // If there are few rounds, nothing of one kind may have been acknowledged.
    for some in [&kept.messages, &kept.grants, &kept.settled] {
        assert!(kills < 100 || !some.is_empty(), "{kept:?}");
    }
    assert_eq!(sandbox.json(&["doctor", "--replay"])["ok"], true);
    println!(
        "of {kills}, {} were acknowledged: {} messages, {} grants, {} verdicts",
        kept.acknowledged,
        kept.messages.len(),
        kept.grants.len(),
        kept.settled.len()
    );
}

fn start_all(sandbox: &Sandbox, round: usize, conflict: &str) -> Vec<Child> {
    let start = |act: &Act| act(sandbox, round, conflict);
    ACTS.iter().map(start).collect()
}

/// How long the actions of a round take if nothing kills them.
fn time_of_a_round(sandbox: &Sandbox, round: usize) -> Duration {
    let conflict = store_conflict(sandbox, round);
    let begun = Instant::now();
    for child in start_all(sandbox, round, &conflict) {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    begun.elapsed()
}

/// Stores a conflict on a topic of this round alone.
fn store_conflict(sandbox: &Sandbox, round: usize) -> String {
    let topic = format!("wallet/{round}");
    let put = |minutes: u32| {
        let claim = format!("The lock of wallet {round} lasts {minutes} minutes.");
        sandbox.json(&[
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

type Act = fn(&Sandbox, usize, &str) -> Child;

/// The actions of each round, which run at the same time.
const ACTS: [Act; 4] = [
    |sandbox, round, _| {
        let claim = json!({"claim": format!("Port {round} is open."), "pointers": [POINTER],
            "kind": "fact", "confidence": 0.7, "ttl": "P7D", "scope": "project"});
        let report = json!({"role": "programmer", "task_status": "done", "engrams": [claim],
            "output": {"summary": "One.", "next": ""}});
        start_with_input(
            sandbox,
            &["message", "send", "-", "--agent", "ada"],
            &report,
        )
    },
    |sandbox, round, _| {
        let order = json!({"role": "programmer", "instructions": [format!("Confirm port {round}.")],
            "grants": [{"budget_token": "", "pointer": POINTER, "cap_tokens": 100}]});
        start_with_input(
            sandbox,
            &["message", "send", "-", "--agent", "lead"],
            &order,
        )
    },
    |sandbox, _, _| {
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
        start_with_input(sandbox, &to, &Value::Null)
    },
    |sandbox, round, conflict| {
        let how = if round % 2 == 0 {
            "--dismiss"
        } else {
            "--winner=newer"
        };
        start_with_input(
            sandbox,
            &["resolve", conflict, how, "--why", "Read again."],
            &Value::Null,
        )
    },
];

/// Starts the command with this input.
fn start_with_input(sandbox: &Sandbox, args: &[&str], input: &Value) -> Child {
    let mut command = sandbox.command();
    command.arg("--json").args(args).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The process may already be dead.
    let _ = child
        .stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes());
    child
}

/// The ids that were acknowledged.
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

    /// Checks that everything acknowledged is still there.
    fn check(&self, sandbox: &Sandbox) {
        for claim in &self.claims {
            assert_eq!(sandbox.json(&["get", claim])["id"], claim.as_str());
        }
        let database = rusqlite::Connection::open(sandbox.home().join("engram.db")).unwrap();
        let check = |table: &str, id: &str| {
            let sql = format!("SELECT count(*) FROM {table} WHERE id = ?1");
            let count: i64 = database.query_row(&sql, [id], |row| row.get(0)).unwrap();
            assert_eq!(count, 1, "{table} {id} was acknowledged and is gone");
        };
        self.messages.iter().for_each(|id| check("message", id));
        self.grants.iter().for_each(|id| check("\"grant\"", id));
        for conflict in &self.settled {
            let shown = sandbox.json(&["conflicts", "show", conflict]);
            assert_ne!(shown["status"], "open", "{shown}");
        }
    }
}
