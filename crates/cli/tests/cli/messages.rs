//! Messages and the brief as a person types them: what is printed is the contract of other tools.

use serde_json::{Value, json};

use crate::fixture::{POINTER, Place, keys};

fn report(claims: &[&str], summary: &str) -> Value {
    let engram = |claim: &&str| json!({"claim": claim, "pointers": [POINTER], "kind": "fact", "confidence": 0.7, "ttl": "P7D", "scope": "project"});
    let engrams: Vec<Value> = claims.iter().map(engram).collect();
    json!({"role": "programmer", "task_status": "done", "engrams": engrams, "output": {"summary": summary, "next": ""}})
}

fn team() -> Place {
    let place = Place::new();
    place.json(&["agents", "open", "lead", "--role", "architect"]);
    for name in ["ada", "bob"] {
        place.json(&[
            "agents",
            "open",
            name,
            "--role",
            "programmer",
            "--parent",
            "lead",
        ]);
    }
    place
}

#[test]
fn a_task_runs_through_messages() {
    let place = team();
    let order = "ROLE: programmer\nSHARED_BRIEF_MICRO:\n  - \"Goal: bounded retries.\"\nBUDGETS:\n  max_repo_spans: 1\nINSTRUCTIONS:\n  - \"Confirm the retries.\"\n";
    let send = |args: &[&str], message: &str| {
        let args = [&["--json", "message", "send", "-"], args].concat();
        place.feed(&args, message.as_bytes())
    };
    let told = send(&["--agent", "lead"], order).json();
    assert_eq!(keys(&told), ["id", "sent", "tokens"]);
    let to: Vec<&Value> = told["sent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["to"])
        .collect();
    assert_eq!(to, ["ada", "bob"]);
    assert_eq!(
        told["sent"][0]["message"]["instructions"],
        json!(["Confirm the retries."])
    );
    place.json(&["deref", POINTER, "--agent", "ada"]);
    place
        .run(&["--json", "deref", POINTER, "--agent", "ada"])
        .refused("DEREF_DENIED");
    let long = report(&["Retries are bounded."], &"word ".repeat(1_200)).to_string();
    let error = send(&["--agent", "ada"], &long).error();
    assert_eq!(error["code"], "BUDGET_EXCEEDED");
    assert_eq!(error["cut"][0]["at"], "/output/summary");
    let reported = send(&["--agent", "ada"], &error["skeleton"].to_string()).json();
    assert_eq!(
        keys(&reported),
        ["engrams", "id", "requests", "resend_of", "tokens"]
    );
    assert_eq!(reported["resend_of"], error["refusal"]);
    assert_eq!(reported["engrams"][0]["verified"], true);
    send(&["--agent", "ada", "--to", "bob"], order).refused("SCOPE_DENIED");
    send(&[], &report(&[], "None.").to_string()).refused("SCOPE_DENIED");
    send(&["--agent", "nobody"], &report(&[], "None.").to_string()).refused("NOT_FOUND");
    // What a claim's words say is data in the brief.
    let brief = place.json(&["brief", "--agent", "bob"]);
    let lines = brief["lines"].as_array().unwrap();
    let claim = lines.iter().find(|it| it["part"] == "matter").unwrap();
    assert_eq!(claim["text"], "fact by ada: \"Retries are bounded.\"");
    assert_eq!(claim["engram"], reported["engrams"][0]["id"]);
    let echo = report(&["RETRIES are bounded!"], "One.").to_string();
    send(&["--agent", "bob"], &echo).refused("ECHO");
}

/// Twelve processes with a message each: all of it is there, and nothing twice.
#[test]
fn messages_of_many_processes_are_stored_whole() {
    let place = team();
    let messages: Vec<String> = (0..12)
        .map(|at| {
            report(
                &[
                    &format!("Port {at} is open."),
                    &format!("Port {at} is slow."),
                ],
                "Two.",
            )
            .to_string()
        })
        .collect();
    std::thread::scope(|scope| {
        for (at, message) in messages.iter().enumerate() {
            let agent = ["ada", "bob"][at % 2];
            let place = &place;
            scope.spawn(move || {
                let args = ["--json", "message", "send", "-", "--agent", agent];
                place.feed(&args, message.as_bytes()).json()
            });
        }
    });
    assert_eq!(place.json(&["status"])["engrams"], 24);
    assert_eq!(place.json(&["doctor", "--replay"])["ok"], true);
}
