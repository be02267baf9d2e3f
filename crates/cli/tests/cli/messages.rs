//! Messages and the brief as a person types them. Other tools rely on the printed output.

use serde_json::{Value, json};

use crate::fixture::{POINTER, Sandbox, keys};

fn report(claims: &[&str], summary: &str) -> Value {
    let engram = |claim: &&str| json!({"claim": claim, "pointers": [POINTER], "kind": "fact", "confidence": 0.7, "ttl": "P7D", "scope": "project"});
    let engrams: Vec<Value> = claims.iter().map(engram).collect();
    json!({"role": "programmer", "task_status": "done", "engrams": engrams, "output": {"summary": summary, "next": ""}})
}

#[test]
fn a_task_runs_through_messages() {
    let sandbox = Sandbox::new();
    sandbox.open_family(&["ada", "bob"]);
    let order = "ROLE: programmer\nSHARED_BRIEF_MICRO:\n  - \"Goal: bounded retries.\"\nBUDGETS:\n  max_repo_spans: 1\nINSTRUCTIONS:\n  - \"Confirm the retries.\"\n";
    let send = |args: &[&str], message: &str| {
        let args = [&["--json", "message", "send", "-"], args].concat();
        sandbox.feed(&args, message.as_bytes())
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
    sandbox.json(&["deref", POINTER, "--agent", "ada"]);
    sandbox
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
    send(&["--agent", "ada", "--to", "bob"], order).refused("NOT_FOUND");
    send(&[], &report(&[], "None.").to_string()).refused("SCOPE_DENIED");
    send(&["--agent", "nobody"], &report(&[], "None.").to_string()).refused("NOT_FOUND");
    let echo = report(&["RETRIES are bounded!"], "One.").to_string();
    // A person who looks at an agent's brief leaves it unread.
    let looked = sandbox.json(&["brief", "--of", "bob"]);
    let seen = looked["lines"].as_array().unwrap().iter();
    let seen = seen.map(|it| &it["sent"]).collect::<Vec<_>>();
    assert!(
        seen.iter().all(|it| it.is_null() || **it == json!([])),
        "{looked}"
    );
    // The words of a claim are data in the brief.
    let brief = sandbox.json(&["brief", "--agent", "bob"]);
    assert_eq!(
        looked["lines"].as_array().map(Vec::len),
        brief["lines"].as_array().map(Vec::len)
    );
    let lines = brief["lines"].as_array().unwrap();
    let claim = lines.iter().find(|it| it["part"] == "matter").unwrap();
    assert_eq!(claim["text"], "fact by ada: \"Retries are bounded.\"");
    assert_eq!(claim["engram"], reported["engrams"][0]["id"]);
    send(&["--agent", "bob"], &echo).refused("ECHO");
}

/// The sender sees whom a message reached, the tokens, which are shown only once, and what each id
/// names.
#[test]
fn a_sender_reads_what_became_of_a_message() {
    let sandbox = Sandbox::new();
    sandbox.open_family(&["ada", "bob"]);
    let send = |agent: &str, message: &Value| {
        let args = ["message", "send", "-", "--agent", agent];
        sandbox.feed(&args, message.to_string().as_bytes()).out
    };
    let order = json!({"role": "programmer", "instructions": ["Confirm the retries."],
        "grants": [{"budget_token": "", "pointer": POINTER, "cap_tokens": 100}]});
    let told = send("lead", &order);
    for says in [
        "\n  to ada\n",
        "\n  to bob\n",
        "grant for repo:",
        "shown only once",
    ] {
        assert!(told.contains(says), "{told}");
    }
    let lines = told.lines().map(str::trim);
    let tokens: Vec<&str> = lines.filter_map(|it| it.strip_prefix("token ")).collect();
    assert_eq!(tokens.len(), 2, "{told}");
    let read = [
        "deref",
        POINTER,
        "--agent",
        "ada",
        "--budget-token",
        tokens[0],
    ];
    assert_eq!(sandbox.json(&read)["budget"]["repo_spans"]["used"], 0);
    let mut report = report(&["Retries are bounded."], "One.");
    report["deref_requests"] =
        json!([{"pointer": POINTER, "reason": "To be sure.", "intended_use": "A test."}]);
    let reported = send("ada", &report);
    for says in ["message ", "\n  engram ", "\n  request "] {
        assert!(reported.contains(says), "{reported}");
    }
    let asked = sandbox.run(&["requests"]).out;
    for says in [
        "\n  reason: \"To be sure.\"",
        "\n  intended use: \"A test.\"",
    ] {
        assert!(asked.contains(says), "{asked}");
    }
    let id = sandbox.json(&["requests"])["requests"][0]["id"].clone();
    let id = id.as_str().unwrap();
    sandbox.json(&["requests", "deny", id, "--why", "Read \"ours\" first."]);
    let asked = sandbox.run(&["requests", "--all"]).out;
    let answer = "\n  answer by user: \"Read 'ours' first.\"";
    assert!(asked.contains(answer), "{asked}");
    let feed = sandbox.run(&["feed", "--all"]).out;
    for says in [
        "sent       to ada, bob",
        "granted    to ada, repo:",
        "requested  repo:",
        "opened     bob",
    ] {
        assert!(feed.contains(says), "{says}: {feed}");
    }
}

/// Twelve processes send a message each: all are stored, and none twice.
#[test]
fn messages_of_many_processes_are_stored_whole() {
    let sandbox = Sandbox::new();
    sandbox.open_family(&["ada", "bob"]);
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
            let sandbox = &sandbox;
            scope.spawn(move || {
                let args = ["--json", "message", "send", "-", "--agent", agent];
                sandbox.feed(&args, message.as_bytes()).json()
            });
        }
    });
    assert_eq!(sandbox.json(&["status"])["engrams"], 24);
    assert_eq!(sandbox.json(&["doctor", "--replay"])["ok"], true);
}

#[test]
fn messages_are_validated_and_not_stored() {
    let sandbox = Sandbox::new();
    let many: Vec<Value> = (0..13).map(|at| json!({"claim": format!("Claim {at}."), "pointers": [POINTER], "kind": "fact", "confidence": 0.7, "ttl": "P7D", "scope": "project"})).collect();
    let child = |engrams: Value, summary: &str| {
        json!({"role": "r", "task_status": "done", "engrams": engrams, "output": {"summary": summary, "next": ""}}).to_string()
    };
    for (message, code) in [
        (child(json!([]), "Done."), None),
        (child(json!(many[..2]), "Done."), None),
        (r#"{"role":"r","shared_brief_micro":[],"budgets":{},"grants":[],"target_pointer_pack":[],"instructions":["Look."]}"#.to_owned(), None),
        (child(json!(many), "Done."), Some("BUDGET_EXCEEDED")),
        (child(json!([]), &"word ".repeat(2_000)), Some("BUDGET_EXCEEDED")),
        (child(json!([]), "```rust\nfn main() { println!(\"x\"); }\n```"), Some("BUDGET_EXCEEDED")),
        (child(json!([{"claim": "No pointers.", "pointers": [], "kind": "fact", "confidence": 0.7, "ttl": "P7D", "scope": "project"}]), "Done."), Some("UNANCHORED")),
        ("[]".to_owned(), Some("SCHEMA_INVALID")),
        ("{".to_owned(), Some("SCHEMA_INVALID")),
        ("{}".to_owned(), Some("SCHEMA_INVALID")),
        (format!("{}{}", "[".repeat(50_000), "]".repeat(50_000)), Some("SCHEMA_INVALID")),
        (format!("{}{}", "[".repeat(200_000), "]".repeat(200_000)), Some("BUDGET_EXCEEDED")),
        (text_form("\"Done.\""), None),
        (text_form(&format!("\"{}\"", "word ".repeat(1_200))), Some("BUDGET_EXCEEDED")),
        (text_form("|\n    def reserve(n):\n        return self.left - n"), Some("BUDGET_EXCEEDED")),
        (text_form("*bomb"), Some("SCHEMA_INVALID")),
        (format!("ROLE: &a [x, x]\nTASK_STATUS: &b [*a, *a, *a]\n{}", text_form("[*b, *b]")), Some("SCHEMA_INVALID")),
        ("Dear parent, all is done.".to_owned(), Some("SCHEMA_INVALID")),
        (String::new(), Some("SCHEMA_INVALID")),
    ] {
        let ran = sandbox.feed(&["--json", "message", "validate", "-"], message.as_bytes());
        let shown: String = message.chars().take(100).collect();
        match code {
            None => {
                let answer = ran.json();
                assert_eq!(answer["ok"], true, "{shown}");
                assert!(answer["tokens"].as_u64().unwrap() > 10, "{shown}");
            }
            Some(code) => assert_eq!(ran.error()["code"], code, "{shown}"),
        }
    }
    assert_eq!(sandbox.json(&["status"])["head"], 0);
    let bytes = sandbox.feed(
        &["--json", "message", "validate", "-"],
        b"{\"role\":\"\xff\"}",
    );
    bytes.refused("SCHEMA_INVALID");
}

/// Returns a child's message in the text form (docs/design.md#messages).
fn text_form(summary: &str) -> String {
    format!(
        "ROLE: programmer\nTASK_STATUS: done\nENGRAMS:\n  - kind: risk\n    claim: \"Two callers reserve at once.\"\n    confidence: 0.72\n    ttl: \"P7D\"\n    scope: \"project\"\n    pointers:\n      - {{ type: \"repo\", ref: \"{POINTER}\" }}\nOUTPUT:\n  summary: {summary}\n"
    )
}

#[test]
fn a_refused_message_says_what_to_cut_and_shows_one_that_passes() {
    let sandbox = Sandbox::new();
    let validate = |message: &str| {
        let args = ["--json", "message", "validate", "-"];
        sandbox.feed(&args, message.as_bytes())
    };
    let long = "word ".repeat(1_200);
    let json = json!({"role": "programmer", "task_status": "done", "engrams": [], "output": {"summary": long, "next": ""}});
    let written = text_form(&format!("\"{long}\""));
    for message in [json.to_string(), written] {
        let error = validate(&message).error();
        assert_eq!(error["figures"]["inline_tokens"]["limit"], 800, "{error}");
        assert!(error["figures"]["inline_tokens"]["used"].as_u64().unwrap() > 1_200);
        assert_eq!(error["cut"][0]["at"], "/output/summary");
        assert!(error["cut"][0]["tokens"].as_u64().unwrap() > 1_000);
        assert_eq!(validate(&error["skeleton"].to_string()).json()["ok"], true);
        let plain = sandbox.feed(&["message", "validate", "-"], message.as_bytes());
        assert!(plain.err.contains("cut /output/summary: "), "{plain:?}");
    }
    // Only as much of a message is read as is needed to refuse it.
    let huge = "x".repeat(50_000_000);
    let error = validate(&huge).error();
    assert_eq!(error["code"], "BUDGET_EXCEEDED");
    assert_eq!(validate(&error["skeleton"].to_string()).json()["ok"], true);
    assert!(error.to_string().len() < 2_000, "nothing of it is repeated");
}
