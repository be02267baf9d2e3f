//! What a person types and reads: names where a request takes a handle, and hints that address the
//! person.

use crate::fixture::{POINTER, Sandbox, make_repository, output_of};

#[test]
fn a_name_stands_for_the_handle_of_this_project() {
    let sandbox = Sandbox::new();
    let other = sandbox.path("other");
    make_repository(&other);
    sandbox.open_family(&["ada"]);
    let there = |args: &[&str]| sandbox.run_in(&other, &[args, &["--json"]].concat());
    let opened = there(&["agents", "open", "ada", "--role", "programmer"]).json();
    let handle = opened["agent"].as_str().unwrap();
    assert_ne!(handle, "ada", "that handle is taken");
    let issued = there(&["grant", "issue", "--to", "ada", "--pointer", POINTER]).json();
    assert_eq!(issued["to"], handle);
    let budget = there(&["budget", "--agent", "ada"]).json();
    assert_eq!(budget["agents"][0]["agent"], handle);
    let here = sandbox.json(&["budget", "--agent", "ada"]);
    assert_eq!(here["agents"][0]["agent"], "ada");
    // A closed agent gives up its name, not its handle.
    there(&["agents", "close", "ada"]).json();
    let by_name = there(&["budget", "--agent", "ada"]);
    assert!(by_name.err.contains("NOT_FOUND"), "{by_name:?}");
    assert_eq!(
        there(&["budget", "--agent", handle]).json()["agents"][0]["agent"],
        handle
    );
}

#[test]
fn a_transferred_grant_ends() {
    let sandbox = Sandbox::new();
    sandbox.open_family(&["ada", "bob"]);
    let issue = ["grant", "issue", "--pointer", POINTER, "--to"];
    let first = sandbox.json(&[&issue[..], &["ada"]].concat());
    let id = first["id"].as_str().unwrap();
    let second = sandbox.json(&[&issue[..], &["bob", "--replaces", id]].concat());
    let listed = sandbox.json(&["grant", "list"]);
    let state_of = |id: &serde_json::Value| {
        let grants = listed["grants"].as_array().unwrap();
        grants.iter().find(|it| it["id"] == *id).unwrap()["state"].clone()
    };
    assert_ne!(state_of(&first["id"]), "open");
    assert_eq!(state_of(&second["id"]), "open");
}

#[test]
fn the_user_is_addressed_directly() {
    let sandbox = Sandbox::new();
    sandbox.open_family(&["ada"]);
    let outside = sandbox.path("");
    // The hint of a refusal to the agent whose name the user takes.
    let read = ["deref", POINTER, "--agent", "ada"];
    let hint = |flag: &[&str]| sandbox.run_in(&outside, &[&read, flag].concat()).err;
    assert!(
        hint(&["--json"]).contains("Tell the user: "),
        "{}",
        hint(&[])
    );
    assert!(!hint(&[]).contains("Tell the user"), "{}", hint(&[]));
    // An empty list outside a repository is not an answer about one.
    let nothing = sandbox.run_in(&outside, &["query", "jitter"]);
    assert!(nothing.err.contains("--repo"), "{nothing:?}");
    let nothing = sandbox.run(&["query", "jitter"]);
    assert_eq!(nothing.err, "", "{nothing:?}");
}

#[test]
fn what_waits_and_what_passes_is_said() {
    let sandbox = Sandbox::new();
    assert!(!sandbox.run(&["status"]).out.contains("conflict"));
    sandbox.put("The wallet lock lasts 3 minutes.");
    sandbox.put("The wallet lock lasts 30 minutes.");
    let status = sandbox.run(&["status"]);
    assert!(status.out.contains("\n1 open conflict\n"), "{status:?}");
    let claim = ["put", "--claim", "The build is red.", "--pointer", POINTER];
    let stored = sandbox.json(&[&claim[..], &["--durability", "ephemeral"]].concat());
    let shown = sandbox.run(&["get", stored["id"].as_str().unwrap()]);
    assert!(shown.out.contains(", ephemeral"), "{shown:?}");
}

/// Times say their offset, seconds are enough, and nothing is printed as it is stored.
#[test]
fn times_and_kinds_are_printed_for_people() {
    let sandbox = Sandbox::new();
    sandbox.open_family(&["ada"]);
    let claim = ["put", "--claim", "The build is red.", "--pointer", POINTER];
    let id = sandbox.json(&[&claim[..], &["--ttl", "7d"]].concat())["id"].clone();
    let id = id.as_str().unwrap();
    sandbox.put("The wallet lock lasts 3 minutes.");
    sandbox.put("The wallet lock lasts 30 minutes.");
    let conflict = sandbox.json(&["conflicts"])["conflicts"][0]["id"].clone();
    let conflict = conflict.as_str().unwrap();
    sandbox.json(&["deref", POINTER, "--agent", "ada"]);
    for (args, says) in [
        (&["get", id][..], "expires 20"),
        (&["log", id], "stored"),
        (
            &["conflicts", "show", conflict],
            "quantities differ, found 20",
        ),
        (&["feed"], "conflict"),
        (&["agents"], "last: read a source"),
        (&["budget"], "[limits.deref]"),
    ] {
        let told = sandbox.run(args).out;
        assert!(
            told.contains(says) && told.contains(" UTC"),
            "{args:?}: {told}"
        );
        assert!(!told.contains("tier"), "{args:?}: {told}");
        // `20:15:30.123456789Z`
        let times = told.split(':').skip(2);
        assert!(
            times
                .clone()
                .all(|it| it.get(2..3).is_none_or(|it| it != ".")),
            "{told}"
        );
    }
    let newest = sandbox.run(&["query", ""]).out;
    assert!(newest.starts_with("newest claims\n"), "{newest}");
    let settled = ["resolve", conflict, "--winner", "higher_confidence"];
    assert!(
        sandbox.run(&settled).err.contains("confidence"),
        "both are as sure"
    );
}

/// A list names an agent as other lists do, and goes on in the direction in which the window does.
#[test]
fn lists_are_as_in_the_window() {
    let sandbox = Sandbox::new();
    let handle = sandbox.open_family(&["ada"])[0]["agent"].clone();
    sandbox.json(&["agents", "rename", "ada", "Ada on retries"]);
    let issue = ["grant", "issue", "--to", "Ada on retries", "--code", "40"];
    sandbox.json(&[&issue[..], &["--ttl", "30m"]].concat());
    let grants = sandbox.run(&["grant", "list"]).out;
    let name = format!(
        "for Ada on retries (handle {}), by you",
        handle.as_str().unwrap()
    );
    assert!(grants.contains(&name), "{grants}");
    for _ in 0..3 {
        sandbox.json(&["deref", POINTER, "--agent", "ada"]);
    }
    for line in ["L1", "L2"] {
        let pointer = format!("repo:src/retry.rs#{line}@HEAD");
        let ask = ["deref", &pointer, "--agent", "ada", "--reason", "Is it so?"];
        assert_eq!(sandbox.run(&ask).code, Some(1));
    }
    let requests = sandbox.run(&["requests"]).out;
    assert!(requests.find("#L1@") < requests.find("#L2@"), "{requests}");
}

/// A command that lacks something names what it needs, and nothing that it has.
#[test]
fn what_is_missing_or_too_short_is_said() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.repo());
    command.arg("put").env("ENGRAM_HOME", sandbox.home());
    let bare = output_of(command.output().unwrap());
    assert_eq!(bare.code, Some(2));
    assert!(
        bare.err.contains("--jsonl") && !bare.err.contains("--home"),
        "{bare:?}"
    );
    let short = sandbox.run(&["resolve", "7VGA", "--dismiss"]).err;
    assert!(short.contains("all 26 characters"), "{short}");
    let none = sandbox.run(&["query", "x", "--k", "0"]).err;
    assert!(none.contains("--k") && !none.contains("fewer"), "{none}");
}
