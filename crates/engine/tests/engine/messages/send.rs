//! Messages between a parent and its children are stored, completely or not at all, in one commit,
//! and linked to messages that were refused before.

use engram_model::{
    Caller, Code, ConflictFilter, Deref, Draft, Hook, HookEvent, Outcome, PointerInput,
    PointerState, ask,
};
use serde_json::{Value, json};

use crate::fixture::{
    POINTER, REINDEX, USER, draft, git, handle_of,
    messages::{engram, open_team, order, report},
    refused,
};

#[test]
fn a_childs_message_is_stored_whole_in_one_commit() {
    let (_sandbox, engine, [_, ada, _]) = open_team();
    let many = (0..12).map(|at| engram(&format!("Retry {at} uses full jitter.")));
    let reply = engine
        .send(&ada, report(many.collect(), "Twelve findings."))
        .unwrap();
    let Outcome::Reported { engrams, requests } = &reply.outcome else {
        panic!("{reply:?}");
    };
    assert_eq!((engrams.len(), requests.len()), (12, 0));
    assert!(reply.tokens > 300 && reply.resend_of.is_none() && reply.stale.is_empty());
    for (at, put) in engrams.iter().enumerate() {
        let record = engine.get(&USER, put.id).unwrap();
        assert_eq!(record.claim, format!("Retry {at} uses full jitter."));
        assert_eq!((record.seq, record.verified), (put.seq, true));
        assert_eq!(record.agent, Some(handle_of(&ada)));
    }
    assert!(engine.0.doctor(REINDEX).unwrap().ok);
}

#[test]
fn a_message_with_one_flaw_stores_nothing() {
    let (_sandbox, engine, [_, ada, _]) = open_team();
    let good = || engram("Retries use full jitter.");
    let pointing = |pointer: &str| {
        let mut bad = engram("The port is 80.");
        bad["pointers"] = json!([pointer]);
        bad
    };
    for (bad, code) in [
        (pointing("repo:src/none.rs@HEAD"), Code::PointerNotFound),
        (pointing("repo:src/lib.rs"), Code::PointerUnpinned),
        (
            engram("The key is AKIAIOSFODNN7EXAMPLQ."),
            Code::SecretDetected,
        ),
        (engram(&"long ".repeat(120)), Code::ClaimTooLong),
    ] {
        let refusal = refused(engine.send(&ada, report(vec![good(), bad], "Two.")), code);
        assert!(
            refusal.message.contains("engrams[1]") || code == Code::SecretDetected,
            "{refusal}"
        );
        let remedy = refusal.remedy.unwrap();
        assert!(remedy.refusal.is_some());
        assert!(
            engine.query(&USER, "jitter").engrams.is_empty(),
            "no part of it is stored"
        );
        if code != Code::SecretDetected {
            let resend = engine.send(&ada, remedy.skeleton.unwrap()).unwrap();
            assert_eq!(resend.resend_of, remedy.refusal);
            let id = engine.query(&USER, "jitter").engrams[0].id;
            engine.forget(&USER, id).unwrap();
        }
    }
    let missing = json!({ "pointer": "repo:src/none.rs@HEAD", "reason": "To confirm." });
    let mut message = report(vec![good()], "One.");
    message["pointer_pack"] = json!(["repo:src/none.rs@HEAD"]);
    let refusal = refused(engine.send(&ada, message), Code::PointerNotFound);
    assert!(refusal.message.contains("pointer_pack[0]"), "{refusal}");
    let mut message = report(vec![good()], "One.");
    message["deref_requests"] = json!([missing]);
    refused(engine.send(&ada, message), Code::PointerNotFound);
    assert!(engine.query(&USER, "jitter").engrams.is_empty());
}

/// Oversized messages are rejected, and resent in a form that passes
/// (docs/design.md#messages-stay-small).
#[test]
fn a_refused_message_is_answered_by_the_next_of_its_sender() {
    let (_sandbox, engine, [_, ada, bob]) = open_team();
    let long = report(
        vec![engram("Retries use full jitter.")],
        &"word ".repeat(1_200),
    );
    let refusal = refused(engine.send(&ada, long), Code::BudgetExceeded);
    let remedy = refusal.remedy.unwrap();
    assert_eq!(remedy.figures["inline_tokens"].limit, 800);
    let other = engine.send(&bob, report(vec![], "Nothing new.")).unwrap();
    assert_eq!(other.resend_of, None, "it was another agent's");
    let resend = engine.send(&ada, remedy.skeleton.unwrap()).unwrap();
    assert!(remedy.refusal.is_some() && resend.resend_of == remedy.refusal);
    let next = engine.send(&ada, report(vec![], "Nothing new.")).unwrap();
    assert_eq!(next.resend_of, None, "a message replaced it");
}

#[test]
fn roles_and_parentage_are_respected() {
    let (_sandbox, engine, [lead, ada, bob]) = open_team();
    let mut alien = report(vec![], "Nothing new.");
    alien["role"] = json!("architect");
    refused(engine.send(&ada, alien), Code::ScopeDenied);
    refused(
        engine.send(&USER, report(vec![], "Nothing new.")),
        Code::ScopeDenied,
    );
    refused(
        engine.send_to(&ada, report(vec![], "None."), Some(&bob)),
        Code::ScopeDenied,
    );
    refused(
        engine.send_to(&ada, order(json!({})), Some(&bob)),
        Code::NotFound,
    );
    refused(
        engine.send_to(&bob, order(json!({})), Some(&lead)),
        Code::NotFound,
    );
    refused(engine.send(&ada, order(json!({}))), Code::NotFound);
    let nobody = Caller::Agent(engram_model::AgentId("nobody".to_owned()));
    refused(
        engine.send(&nobody, report(vec![], "None.")),
        Code::NotFound,
    );
    refused(
        engine.send_to(&lead, order(json!({})), Some(&nobody)),
        Code::NotFound,
    );
    let mut managers = order(json!({}));
    managers["role"] = json!("manager");
    refused(engine.send(&lead, managers.clone()), Code::NotFound);
    refused(
        engine.send_to(&lead, managers, Some(&ada)),
        Code::ScopeDenied,
    );
    for (who, to, got) in [(&lead, None, 2), (&USER, None, 2), (&lead, Some(&ada), 1)] {
        let Outcome::Told { sent } = engine.send_to(who, order(json!({})), to).unwrap().outcome
        else {
            panic!("a parent's message");
        };
        assert_eq!(sent.len(), got);
        let pinned = sent[0].message["target_pointer_pack"][0].as_str().unwrap();
        assert!(
            pinned.starts_with("repo:src/lib.rs#L5-L9@") && !pinned.ends_with("HEAD"),
            "{pinned}"
        );
    }
}

/// A message that is short with `@HEAD` is long with full pins, and a child reads the full pins.
#[test]
fn a_message_is_within_its_budget_as_its_recipients_get_it() {
    let (_sandbox, engine, [lead, _, _]) = open_team();
    let pointers = |count: usize| -> Value {
        let lines = (1..=count).map(|at| format!("repo:src/lib.rs#L{at}@HEAD"));
        lines.collect()
    };
    let message = |count: usize, grants: Value| {
        let mut message = order(json!({}));
        message["target_pointer_pack"] = pointers(count);
        message["grants"] = grants;
        message
    };
    let grant = json!({ "budget_token": "", "pointer": POINTER, "cap_tokens": 100 });
    for wide in [
        message(40, json!([])),
        message(3, json!(vec![grant.clone(); 8])),
    ] {
        assert!(engine.validates(&wide), "it fits as sent");
        let refusal = refused(engine.send(&lead, wide), Code::BudgetExceeded);
        let remedy = refusal.remedy.unwrap();
        let figure = remedy.figures["inline_tokens"];
        assert!(figure.used > figure.limit && figure.limit == 800);
        assert!(!remedy.cut.is_empty());
        let reply = engine.send(&lead, remedy.skeleton.unwrap()).unwrap();
        assert_eq!(reply.resend_of, remedy.refusal);
        let Outcome::Told { sent } = reply.outcome else {
            panic!("a parent's message");
        };
        for delivery in &sent {
            assert!(engine.validates(&delivery.message), "{delivery:?}");
        }
    }
    engine.send(&lead, message(8, json!([grant]))).unwrap();
}

#[test]
fn a_parents_budgets_narrow_its_childs_turn_and_only_narrow() {
    let (sandbox, engine, [lead, ada, bob]) = open_team();
    let wide = order(json!({ "max_repo_spans": 4 }));
    refused(engine.send(&lead, wide), Code::BudgetExceeded);
    let narrow = order(json!({ "max_repo_spans": 1, "max_engrams": 2, "max_engram_chars": 30 }));
    engine.send_to(&lead, narrow, Some(&ada)).unwrap();
    // The limit holds in every process, at the next call.
    let other = sandbox.open_at("repo", 2);
    other.deref(&ada, POINTER).unwrap();
    let refusal = refused(engine.deref(&ada, POINTER), Code::DerefDenied);
    assert_eq!(refusal.remedy.unwrap().figures["repo_spans"].limit, 1);
    let shown = engine.status(&ada).unwrap().budget.unwrap();
    assert_eq!((shown.repo_spans.used, shown.repo_spans.limit), (1, 1));
    let claims = |count: usize| {
        (0..count)
            .map(|at| engram(&format!("Port {at} is open.")))
            .collect()
    };
    let refusal = refused(
        engine.send(&ada, report(claims(3), "Three.")),
        Code::BudgetExceeded,
    );
    assert_eq!(refusal.remedy.unwrap().figures["engrams"].limit, 2);
    engine.send(&ada, report(claims(2), "Two.")).unwrap();
    refused(
        engine.put(
            &ada,
            draft("This claim has many more than thirty characters."),
        ),
        Code::ClaimTooLong,
    );
    // Her brother has the home's limits; an agent with less cannot give more.
    for _ in 0..3 {
        engine.deref(&bob, POINTER).unwrap();
    }
    let child = engine.agent_in_role("child", "programmer", Some(&ada));
    refused(
        engine.send_to(&ada, order(json!({ "max_repo_spans": 2 })), Some(&child)),
        Code::BudgetExceeded,
    );
    // Its child cannot read more on its own, either.
    engine.deref(&child, POINTER).unwrap();
    refused(engine.deref(&child, POINTER), Code::DerefDenied);
    // A broadcast without budgets changes none.
    let bare = json!({ "role": "programmer", "instructions": ["Go on."] });
    let hook = Hook {
        agent: None,
        event: HookEvent::ParentBroadcast(bare),
    };
    engine.0.ask(&lead, ask::Hook(Box::new(hook))).unwrap();
    refused(engine.deref(&ada, POINTER), Code::DerefDenied);
    // A later message sets the budgets that it names and leaves the rest.
    engine
        .send_to(&lead, order(json!({ "max_repo_spans": 2 })), Some(&ada))
        .unwrap();
    engine.deref(&ada, POINTER).unwrap();
    refused(
        engine.send(&ada, report(claims(3), "Three.")),
        Code::BudgetExceeded,
    );
}

#[test]
fn what_a_message_told_is_no_finding() {
    let (_sandbox, engine, [lead, ada, bob]) = open_team();
    let words = "Retries of the ledger are bounded by 3.";
    let mut message = order(json!({}));
    message["instructions"] = json!([words]);
    engine.send_to(&lead, message, Some(&ada)).unwrap();
    let read = ask::Deref(Deref {
        pointer: PointerInput::Text("repo:src/lib.rs#L5-L9@HEAD".to_owned()),
        max_tokens: None,
        turn: None,
        budget_token: None,
        reason: None,
    });
    let mut echo = engram(words);
    echo["pointers"] = json!(["repo:src/lib.rs#L5-L9@HEAD"]);
    let refusal = refused(
        engine.send(&ada, report(vec![echo.clone()], "One.")),
        Code::Echo,
    );
    assert!(refusal.message.contains("engrams[0]"), "{refusal}");
    let mut said = report(vec![], words);
    said["pointer_pack"] = json!([]);
    refused(engine.send(&ada, said.clone()), Code::Echo);
    engine.send(&bob, said).unwrap();
    // An agent that read what the pack points to has evidence.
    engine.0.ask(&ada, read).unwrap();
    engine.send(&ada, report(vec![echo], "One.")).unwrap();
    // By then the parent was shown it.
    let relayed = Draft {
        pointers: vec![PointerInput::Text("repo:src/lib.rs#L5-L9@HEAD".to_owned())],
        ..draft(words)
    };
    refused(engine.put(&lead, relayed), Code::Echo);
}

#[test]
fn rates_hold_for_messages() {
    let (_sandbox, engine, [_, ada, _]) = open_team();
    let many = |from: usize, count: usize| {
        (from..from + count)
            .map(|at| engram(&format!("Port {at} is open.")))
            .collect()
    };
    engine.send(&ada, report(many(0, 12), "Twelve.")).unwrap();
    let before = engine.head();
    refused(
        engine.send(&ada, report(many(12, 12), "Twelve more.")),
        Code::RateLimited,
    );
    assert_eq!(engine.head(), before, "nothing is stored, not even a part");
    engine
        .send(&ada, report(many(12, 5), "Five more."))
        .unwrap();
    let mut refusals = 0;
    while refusals < 30 {
        match engine.send(&ada, json!({ "role": "programmer" })) {
            Err(refusal) if refusal.code == Code::RateLimited => break,
            _ => refusals += 1,
        }
    }
    assert!(refusals < 20, "refused messages count too");
}

#[test]
fn the_same_claim_twice_in_a_message_is_one() {
    let (_sandbox, engine, [_, ada, _]) = open_team();
    let twice = vec![engram("Retries use full jitter."); 2];
    let Outcome::Reported { engrams, .. } =
        engine.send(&ada, report(twice, "One.")).unwrap().outcome
    else {
        panic!("a child's message");
    };
    assert_eq!(
        (engrams[0].id, engrams[0].seq),
        (engrams[1].id, engrams[1].seq)
    );
    assert_eq!(engrams[1].findings[0].what.as_str(), "duplicate");
    let correct = |claim: &str| {
        let mut correction = engram(claim);
        correction["corrects_lineage"] = json!(engrams[0].lineage_id);
        correction
    };
    let both = vec![
        correct("Retries use no jitter."),
        correct("Retries use half jitter."),
    ];
    refused(engine.send(&ada, report(both, "Two.")), Code::SchemaInvalid);
    let one = vec![correct("Retries use no jitter.")];
    engine.send(&ada, report(one, "One.")).unwrap();
    assert_eq!(engine.claims_found("jitter"), ["Retries use no jitter."]);
}

#[test]
fn claims_of_one_message_that_contradict_each_other_are_found() {
    let (_sandbox, engine, [_, ada, _]) = open_team();
    let both = [3, 5].map(|it| engram(&format!("The retry limit of the gateway is {it}.")));
    let reply = engine.send(&ada, report(both.to_vec(), "Two.")).unwrap();
    let Outcome::Reported { engrams, .. } = reply.outcome else {
        panic!("a child's message");
    };
    let told: Vec<u64> = engrams.iter().map(|it| it.conflicts).collect();
    assert_eq!(told, [0, 1]);
    let open = engine
        .0
        .ask(&USER, ask::Conflicts(ConflictFilter::default()));
    let open = open.unwrap().conflicts;
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!([open[0].a.id, open[0].b.id], [engrams[0].id, engrams[1].id]);
}

#[test]
fn a_stale_pack_is_told_to_its_sender() {
    let (sandbox, engine, [lead, ada, _]) = open_team();
    let repo = sandbox.path("repo");
    let commit = git(&repo, &["rev-parse", "HEAD"]);
    let file = repo.join("src/lib.rs");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("value_6 =", "other_6 =")).unwrap();
    let mut message = order(json!({}));
    message["target_pointer_pack"] = json!([
        format!("repo:src/lib.rs#L5-L9@{commit}"),
        "repo:README.md@HEAD"
    ]);
    let stale = engine.send(&lead, message).unwrap().stale;
    assert_eq!(stale.len(), 1, "{stale:?}");
    assert_eq!(stale[0].state, Some(PointerState::Edited));
    let reply = engine.send(&ada, report(vec![], "Nothing new.")).unwrap();
    assert_eq!(reply.stale.len(), 1);
}

#[test]
fn an_erased_claim_is_in_no_message() {
    let (sandbox, engine, [lead, ada, _]) = open_team();
    let reply = engine
        .send(
            &ada,
            report(vec![engram("The secret plan is zebra.")], "One."),
        )
        .unwrap();
    let Outcome::Reported { engrams, .. } = reply.outcome else {
        panic!("a child's message");
    };
    // Somebody else's message with these words stays, is listed, and is erased by its own id.
    let order = json!({
        "role": "programmer", "shared_brief_micro": ["The secret plan is: ZEBRA!"], "budgets": {},
        "target_pointer_pack": [], "instructions": ["Follow it."],
    });
    let order = engine.send(&lead, order).unwrap().id;
    let other = json!({
        "role": "programmer", "shared_brief_micro": ["Ship on Friday."], "budgets": {},
        "target_pointer_pack": [], "instructions": ["Follow it."],
    });
    engine.send(&lead, other).unwrap();
    let erased = engine.redact(&USER, engrams[0].id).unwrap();
    let [named] = &erased.pending[..] else {
        panic!("one message quotes it: {:?}", erased.pending);
    };
    assert!(named.starts_with(&format!("message {order}, which quotes it")));
    refused(
        engine.redact(&lead, order.parse().unwrap()),
        Code::ScopeDenied,
    );
    let erased = engine.redact(&USER, order.parse().unwrap()).unwrap();
    assert_eq!(erased.pending, Vec::<String>::new());
    let database = std::fs::read(sandbox.home().join("engram.db")).unwrap();
    let stays = database.windows(15).any(|it| it == b"Ship on Friday.");
    assert!(stays, "another message was erased too");
    for name in ["engram.db", "engram.db-wal"] {
        let bytes = std::fs::read(sandbox.home().join(name)).unwrap_or_default();
        assert!(!bytes.windows(5).any(|it| it == b"zebra"), "{name}");
    }
}
