//! Budgets and grants among many processes, some of which are killed: limits hold after every entry
//! of the journal. `ENGRAM_SEED` repeats a run, and `ENGRAM_STEPS` sets its length.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::Value;

use crate::fixture::{POINTER, Sandbox};

fn start(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command = sandbox.command();
    command.args(["--json"]).args(args);
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn permissions_as_the_command_prints_them() {
    let sandbox = Sandbox::new();
    sandbox.open_family(&["ada"]);
    let keys = |it: &Value| -> Vec<String> { it.as_object().unwrap().keys().cloned().collect() };
    let sorted = |words: &str| -> Vec<String> {
        let mut words: Vec<_> = words.split(' ').map(str::to_owned).collect();
        words.sort();
        words
    };
    let issued = sandbox.json(&[
        "grant",
        "issue",
        "--to",
        "ada",
        "--pointer",
        POINTER,
        "--by",
        "lead",
    ]);
    let mut found = keys(&issued);
    found.sort();
    assert_eq!(
        found,
        sorted("id budget_token to pointer cap_tokens expires_at by")
    );
    assert_eq!(
        (&issued["by"], &issued["cap_tokens"]),
        (&"lead".into(), &500.into())
    );
    let code = sandbox.json(&[
        "grant", "issue", "--to", "ada", "--code", "200", "--ttl", "PT1H",
    ]);
    let token = issued["budget_token"].as_str().unwrap();
    let read = sandbox.json(&["deref", POINTER, "--agent", "ada", "--budget-token", token]);
    assert_eq!(
        (&read["grant"], &read["budget"]["repo_spans"]["used"]),
        (&issued["id"], &0.into())
    );
    sandbox.json(&["grant", "revoke", code["id"].as_str().unwrap()]);
    let listed = sandbox.json(&["grant", "list"]);
    let states: Vec<&Value> = listed["grants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["state"])
        .collect();
    assert_eq!(states, ["revoked", "spent"]);
    assert!(!listed.to_string().contains("token\":"), "{listed}");
    for _ in 0..3 {
        sandbox.json(&["deref", POINTER, "--agent", "ada"]);
    }
    let refused = sandbox.run(&["--json", "deref", POINTER, "--agent", "ada"]);
    assert_eq!(refused.code, Some(1));
    let error: Value = serde_json::from_str(&refused.err).unwrap();
    assert_eq!(error["error"]["figures"]["repo_spans"]["limit"], 3);
    let budget = sandbox.json(&["budget", "--agent", "ada"]);
    let told = sandbox.run(&["budget", "--agent", "ada"]).out;
    assert!(told.contains("; turn until 20"), "{told}");
    let ada = &budget["agents"][0];
    let mut found = keys(ada);
    found.sort();
    let all = "agent label role parent turn inline_tokens repo_spans artifact_sections sam_items tokens grants refusals";
    assert_eq!(found, sorted(all));
    assert_eq!(
        (&ada["grants"]["spent"], &ada["refusals"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        sandbox.json(&["requests"])["requests"],
        Value::Array(Vec::new())
    );
    // The output for people shows the same.
    for args in [
        &["budget"][..],
        &["grant", "list"],
        &["requests", "--all"],
        &["agents"],
    ] {
        let ran = sandbox.run(args);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
        assert!(!ran.out.trim().is_empty(), "{args:?}");
    }
    let why = "Is the lock held?";
    let asked = sandbox.run(&[
        "--json", "deref", POINTER, "--agent", "ada", "--reason", why,
    ]);
    let error: Value = serde_json::from_str(&asked.err).unwrap();
    let waiting = sandbox.json(&["requests"]);
    assert_eq!(waiting["requests"][0]["id"], error["error"]["request"]);
    assert_eq!(waiting["requests"][0]["reason"], why);
    let id = waiting["requests"][0]["id"].as_str().unwrap();
    sandbox.json(&["requests", "grant", id]);
    let told = || sandbox.run(&["requests", "--all"]).out;
    assert!(told().contains(", granted"), "{}", told());
    sandbox.json(&["grant", "revoke", id]);
    assert!(told().contains(", revoked"), "{}", told());
}

#[test]
fn a_hundred_processes_spend_a_grant_once() {
    let sandbox = Sandbox::new();
    sandbox.open_family(&["ada"]);
    for _ in 0..3 {
        sandbox.json(&["deref", POINTER, "--agent", "ada", "--turn", "t"]);
    }
    let issued = sandbox.json(&["grant", "issue", "--to", "ada", "--pointer", POINTER]);
    let token = issued["budget_token"].as_str().unwrap();
    let named = [
        "deref",
        POINTER,
        "--agent",
        "ada",
        "--turn",
        "t",
        "--budget-token",
        token,
    ];
    let all: Vec<Child> = (0..100)
        .map(|at| match at % 2 {
            0 => start(&sandbox, &named),
            _ => start(&sandbox, &named[..6]),
        })
        .collect();
    let read = all
        .into_iter()
        .filter_map(|mut it| it.wait().unwrap().code().filter(|code| *code == 0))
        .count();
    assert_eq!(read, 1);
    let budget = sandbox.json(&["budget", "--agent", "ada"]);
    let grants = &budget["agents"][0]["grants"];
    assert_eq!((&grants["open"], &grants["spent"]), (&0.into(), &1.into()));
    check_limits(&sandbox);
}

/// Random numbers that a seed repeats.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Children read, with and without grants, in processes that are killed at any moment; their parent
/// grants, revokes and begins turns.
#[test]
fn limits_hold_at_every_place_of_the_journal_though_processes_are_killed() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |it| it.parse().expect("a number"))
    };
    let mut dice = Dice(number("ENGRAM_SEED", 1));
    let sandbox = Sandbox::new();
    let children = ["ada", "bob", "cid"];
    sandbox.open_family(&children);
    let mut tokens: Vec<(usize, String)> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let other = "repo:src/retry.rs#L1@HEAD";
    for step in 0..number("ENGRAM_STEPS", 40) {
        let turn = format!("t{}", step / 8);
        let mut running: Vec<Child> = Vec::new();
        for _ in 0..6 {
            let at = dice.throw(3) as usize;
            let pointer = if dice.throw(3) == 0 { other } else { POINTER };
            let mut args = vec!["deref", pointer, "--agent", children[at], "--turn", &turn];
            let named = tokens.get(dice.throw(tokens.len() as u64 + 2) as usize);
            if let Some((_, token)) = named {
                args.extend(["--budget-token", token]);
            }
            running.push(start(&sandbox, &args));
        }
        if dice.throw(2) == 0 {
            let at = dice.throw(3) as usize;
            let issued = sandbox.json(&[
                "grant",
                "issue",
                "--to",
                children[at],
                "--pointer",
                POINTER,
                "--by",
                "lead",
            ]);
            tokens.push((at, issued["budget_token"].as_str().unwrap().to_owned()));
            ids.push(issued["id"].as_str().unwrap().to_owned());
        }
        if dice.throw(4) == 0 && !ids.is_empty() {
            let at = dice.throw(ids.len() as u64) as usize;
            sandbox.run(&["grant", "revoke", &ids[at]]);
        }
        for mut child in running {
            if dice.throw(3) == 0 {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "the kill comes at any moment, after no event"
                )]
                std::thread::sleep(Duration::from_micros(dice.throw(20_000)));
                child.kill().unwrap();
            }
            child.wait().unwrap();
        }
        if step % 10 == 9 {
            check_limits(&sandbox);
        }
    }
    check_limits(&sandbox);
    assert_eq!(sandbox.json(&["doctor", "--replay"])["ok"], true);
}

/// Reads the journal from its beginning. After each entry, no turn has exceeded its limits. Each
/// grant paid once, after it was issued and before it was revoked, for the agent and the pointer
/// that it names.
#[track_caller]
fn check_limits(sandbox: &Sandbox) {
    let database = rusqlite::Connection::open(sandbox.home().join("engram.db")).unwrap();
    let mut rows = database
        .prepare("SELECT kind, agent, subject, body FROM journal ORDER BY seq")
        .unwrap();
    let entries: Vec<(String, Option<String>, Option<String>, Value)> = rows
        .query_map([], |row| {
            let body: String = row.get(3)?;
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                serde_json::from_str(&body).unwrap(),
            ))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut spent: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    let mut open: BTreeMap<String, Value> = BTreeMap::new();
    let mut used = BTreeSet::new();
    for (kind, agent, subject, body) in entries {
        match kind.as_str() {
            "granted" => drop(open.insert(subject.unwrap(), body["grant"].clone())),
            "revoked" => drop(open.remove(&subject.unwrap())),
            "dereferenced" => {
                let Some(agent) = agent else { continue };
                let tokens = body["tokens"].as_u64().unwrap();
                if let Some(id) = body["grant"].as_str() {
                    let grant = open
                        .remove(id)
                        .unwrap_or_else(|| panic!("{id} is not open"));
                    assert_eq!(grant["to"], agent.as_str());
                    assert_eq!(grant["what"]["read"]["pointer"], body["pointer"]);
                    assert!(tokens <= grant["what"]["read"]["cap_tokens"].as_u64().unwrap());
                    assert!(used.insert(id.to_owned()), "{id} was spent twice");
                    continue;
                }
                let turn = body["turn"].as_str().unwrap().to_owned();
                let of = spent.entry((agent, turn)).or_default();
                *of = (of.0 + 1, of.1 + tokens);
                assert!(of.0 <= 3 && of.1 <= 1_200, "{of:?}");
                assert_eq!(body["spent"]["repo_spans"], of.0);
                assert_eq!(body["spent"]["tokens"], of.1);
            }
            _ => {}
        }
    }
    let held: u64 = database
        .query_row(
            "SELECT count(*) FROM grant WHERE spent IS NOT NULL",
            [],
            |row| row.get::<_, i64>(0),
        )
        .unwrap() as u64;
    assert_eq!(held, used.len() as u64);
}
