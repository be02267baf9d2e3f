//! `engram models`: choosing models, and what is printed of them.

use serde_json::json;

use crate::fixture::{POINTER, Sandbox};

/// The choice of a language model on this machine.
const NEAR: [&str; 6] = [
    "models",
    "use",
    "llm",
    "http://localhost:9/v1",
    "--model",
    "small",
];

#[test]
fn a_language_model_is_chosen_listed_and_turned_off() {
    let sandbox = Sandbox::new();
    let off = json!({ "models": [
        {
            "task": "embed", "name": null, "version": null, "state": "off", "why": null,
            "how": "engram models use embed FOLDER",
        },
        {
            "task": "nli", "name": null, "version": null, "state": "off", "why": null,
            "how": "engram models use nli FOLDER --runtime LIBRARY",
        },
        {
            "task": "llm", "name": null, "version": null, "state": "off", "why": null,
            "how": "engram models use llm URL --model NAME",
        },
    ] });
    assert_eq!(sandbox.json(&["models"]), off);
    let far = "https://api.example.com/v1";
    let choice = ["models", "use", "llm", far, "--model", "large"];
    let unasked = sandbox.run(&choice);
    let would = "this would send pairs of near claims to https://api.example.com/v1";
    assert!(unasked.err.contains(would), "{unasked:?}");
    assert_eq!(sandbox.json(&["models"]), off);
    let chosen = sandbox.json(&[&choice[..], &["--yes"]].concat());
    assert_eq!(
        chosen["models"][2],
        json!({
            "task": "llm", "name": "large", "version": null, "state": "on",
            "why": "sends pairs of near claims to https://api.example.com/v1",
            "how": "engram models off llm",
        })
    );
    for (args, code) in [
        (&["models", "use", "llm", far][..], "SCHEMA_INVALID"),
        (&["models", "use", "nli", "/nowhere"], "MODEL_INVALID"),
        (
            &["models", "use", "embed", far, "--model", "m"],
            "SCHEMA_INVALID",
        ),
        (&["models", "use", "embed", "/nowhere"], "MODEL_INVALID"),
        (&["models", "fetch", "gpt"], "NOT_FOUND"),
        (&["models", "fetch", "all-MiniLM-L6-v2"], "SCHEMA_INVALID"),
        (
            &["models", "use", "nli", "/nowhere", "--runtime", "/nowhere"],
            "MODEL_INVALID",
        ),
        (
            &[
                "models",
                "use",
                "llm",
                "http://api.example.com",
                "--model",
                "large",
            ],
            "MODEL_INVALID",
        ),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.code == Some(1) && ran.err.contains(code), "{ran:?}");
        assert_eq!(sandbox.json(&["models", "list"]), chosen);
    }
    let text = sandbox.run(&["models"]).out;
    assert!(text.contains("nli   off"), "{text}");
    assert!(text.contains("llm   on      large; sends pairs"), "{text}");
    let near = sandbox.json(&NEAR);
    assert_eq!(
        near["models"][2]["why"],
        "asks http://localhost:9/v1, on this machine"
    );
    assert_eq!(sandbox.json(&["models", "off", "llm"]), off);
}

#[test]
fn no_choice_of_several_at_once_is_lost() {
    let sandbox = Sandbox::new();
    std::thread::scope(|scope| {
        for task in ["embed", "nli", "llm"] {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for _ in 0..4 {
                    let ran = match task {
                        "llm" => sandbox.run(&NEAR),
                        _ => sandbox.run(&["models", "off", task]),
                    };
                    assert_eq!(ran.code, Some(0), "{ran:?}");
                    if task == "llm" {
                        let now = sandbox.json(&["models"]);
                        assert_eq!(now["models"][2]["state"], "on", "{now}");
                    }
                }
            });
        }
    });
}

#[test]
fn without_a_language_model_a_question_about_a_conflict_says_how_to_choose_one() {
    let sandbox = Sandbox::new();
    let put = |claim: &str| {
        sandbox.json(&[
            "put",
            "--claim",
            claim,
            "--pointer",
            POINTER,
            "--topic",
            "wallet",
        ])
    };
    put("The wallet lock lasts 3 minutes.");
    let stored = put("The wallet lock lasts 30 minutes.");
    let id = stored["findings"][0]["conflict"].as_str().unwrap();
    let error = sandbox.run(&["--json", "conflicts", "explain", id]).error();
    assert_eq!(error["code"], "MODEL_INVALID");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("engram models use llm"), "{hint}");
}
