//! The table of requests, as a person types it.

use engram_model::{Effect, Request};

use crate::fixture::{POINTER, Place};

/// What asks for it; none for what the window alone asks.
fn typed<'a>(name: &str, id: &'a str, message: &'a str) -> Option<Vec<&'a str>> {
    Some(match name {
        "put" => vec!["put", "--claim", "A new claim.", "--pointer", POINTER],
        "get" | "forget" | "redact" => vec![verb(name), id],
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
        "validate_message" => vec!["message", "validate", message],
        "commit" | "history" | "facets" | "voices" | "source" | "line" | "reverify"
        | "standing" | "blame" => return None,
        other => panic!("the walk does not know {other:?}: say how it is typed"),
    })
}

fn verb(name: &str) -> &'static str {
    match name {
        "get" => "get",
        "forget" => "forget",
        _ => "redact",
    }
}

#[test]
fn each_request_is_a_verb_or_the_windows_alone() {
    for terms in Request::TABLE {
        let place = Place::new();
        let id = place.put("The first claim.");
        let message = place.write("message.json", r#"{"role":"programmer","instructions":[]}"#);
        let Some(args) = typed(terms.name, &id, message.to_str().unwrap()) else {
            continue;
        };
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

/// The one verb that an agent stands behind: it pays, where the user does not.
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
