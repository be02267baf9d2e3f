//! The table of requests, as a person types it.

use engram_model::{Effect, Request};

use crate::fixture::{POINTER, Place};

/// The command line that sends it; none for a request without a verb.
fn typed<'a>(name: &str, id: &'a str, message: &'a str) -> Option<Vec<&'a str>> {
    Some(match name {
        "put" => vec!["put", "--claim", "A new claim.", "--pointer", POINTER],
        "get" => vec!["get", id],
        "log" => vec!["log", id],
        "forget" => vec!["forget", id],
        "restore" => vec!["restore", id],
        "redact" => vec!["redact", id],
        "promote" => vec!["promote", id],
        "query" => vec!["query", "claim"],
        "deref" => vec!["deref", POINTER],
        "note" => vec![
            "note",
            "--kind",
            "decision",
            "--slug",
            "domain",
            "We publish.",
        ],
        "feed" => vec!["feed"],
        "check_pointers" => vec!["pointers", "check"],
        "repin" => vec!["pointers", "repin", id],
        "load_sample" => vec!["sample"],
        "remove_sample" => vec!["sample", "--remove"],
        "status" => vec!["status"],
        "agents" => vec!["agents"],
        "adopt" => vec!["project", "share"],
        "validate_message" => vec!["message", "validate", message],
        "commit" | "facets" | "source" | "line" | "reverify" | "standing" | "track" | "blame" => {
            return None;
        }
        other => panic!("the walk does not know {other:?}: say how it is typed"),
    })
}

#[test]
fn each_verb_does_to_the_home_what_the_table_says() {
    for terms in Request::TABLE {
        let place = Place::new();
        let id = place.put("The first claim.");
        let message = place.write("message.json", r#"{"role":"programmer","instructions":[]}"#);
        let Some(args) = typed(terms.name, &id, message.to_str().unwrap()) else {
            continue;
        };
        if terms.name == "restore" {
            place.json(&["forget", &id]);
        }
        if terms.name == "promote" {
            let words = "The first claim, for a day.";
            let args = ["put", "--claim", words, "--pointer", POINTER];
            let more = ["--corrects", &id, "--durability", "ephemeral"];
            place.json(&[&args[..], &more].concat());
        }
        let head = |place: &Place| place.json(&["doctor"])["findings"][1]["found"].clone();
        let before = head(&place);
        let ran = place.run(&args);
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", terms.name);
        // There is no sample to remove.
        if terms.name != "remove_sample" {
            let is_changed = head(&place) != before;
            assert_eq!(is_changed, terms.effect != Effect::Reads, "{}", terms.name);
        }
    }
}

/// `deref --agent` spends the agent's budget; without it nothing is spent.
#[test]
fn an_agent_that_reads_by_the_command_pays() {
    let place = Place::new();
    let used = |args: &[&str]| {
        let reply = place.json(&[&["deref", POINTER], args].concat());
        reply["budget"]["repo_spans"]["used"].clone()
    };
    assert!(used(&[]).is_null());
    assert_eq!(used(&["--agent", "programmer-1", "--turn", "t1"]), 1);
}
