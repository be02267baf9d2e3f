//! What a person types and reads: names where a request takes a handle, and hints that address the
//! person.

use crate::fixture::{POINTER, Sandbox, make_repository};

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
