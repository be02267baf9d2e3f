//! The limits of what an agent may say and see: its topics, and the scopes that the home opens to
//! agents.

use engram_model::{
    Caller, Code, Commit, Deref, Draft, Feed, MemoryOp, Opening, PointerInput, Scope, ask,
};

use crate::fixture::{
    Asked, REINDEX, Sandbox, USER,
    agents::{agent_named, open_agent},
    claims_in, correction_of, draft, handle_of, on_topic, query, refused, scoped_draft,
};

fn open_with_topics(engine: &Asked, name: &str, read: &[&str], write: &[&str]) -> Caller {
    let owned = |them: &[&str]| them.iter().map(|it| (*it).to_owned()).collect();
    let opening = Opening {
        name: name.to_owned(),
        read: owned(read),
        write: owned(write),
        ..Opening::default()
    };
    engine.0.ask(&USER, ask::OpenAgent(opening)).unwrap();
    agent_named(name)
}

#[test]
fn an_agent_reads_and_writes_its_topics() {
    let engine = Sandbox::open_new();
    let ada = open_with_topics(&engine, "ada", &["auth"], &["payments"]);
    let bob = open_with_topics(&engine, "bob", &[], &[]);
    for (topic, ok) in [
        ("payments", true),
        ("payments/webhooks", true),
        ("paymentsystem", false),
        ("auth", false),
        ("", false),
    ] {
        let claim = format!("The timeout of {topic:?} is 30 s.");
        let stored = engine.put(&ada, on_topic(topic, &claim));
        if ok {
            drop(stored.unwrap())
        } else {
            assert!(refused(stored, Code::ScopeDenied).hint.contains("payments"))
        }
    }
    // An agent may not end or change a claim of another on a topic that it may not write.
    let auth = engine
        .put(&bob, on_topic("auth", "Tokens live 15 minutes."))
        .unwrap();
    let pay = engine
        .put(&bob, on_topic("payments", "Ledger entries are final."))
        .unwrap();
    let none = engine
        .put(&bob, draft("The build takes a minute."))
        .unwrap();
    refused(engine.forget(&ada, auth.id), Code::ScopeDenied);
    let update = Draft {
        topic: Some("payments".to_owned()),
        ..correction_of(auth.lineage_id, "Tokens live an hour.")
    };
    refused(engine.put(&ada, update), Code::ScopeDenied);
    // A claim that it may not read does not exist for it.
    assert_eq!(engine.get(&ada, auth.id).unwrap().id, auth.id);
    assert_eq!(engine.get(&ada, none.id).unwrap().id, none.id);
    refused(engine.get(&ada, pay.id), Code::NotFound);
    refused(engine.0.ask(&ada, ask::Log(pay.id)), Code::NotFound);
    refused(engine.forget(&ada, pay.id), Code::NotFound);
    for indexed in [false, true] {
        let found = claims_in(&engine.query(&ada, "ledger tokens build"));
        assert!(
            !found.iter().any(|it| it.contains("Ledger")),
            "{found:?} {indexed}"
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(claims_in(&engine.query(&ada, "ledger entries")).is_empty());
        let all = whole_feed();
        let page = engine.0.ask(&ada, ask::Feed(all)).unwrap();
        let told = serde_json::to_string(&page.entries).unwrap();
        assert!(
            !told.contains("Ledger") && told.contains("Tokens live"),
            "{told}"
        );
        assert_eq!(engine.query(&bob, "ledger entries").engrams.len(), 1);
        assert!(engine.0.doctor(REINDEX).unwrap().ok);
    }
    assert_eq!(engine.ask(&ada, query("ledger")).unwrap().engrams.len(), 0);
}

fn whole_feed() -> Feed {
    Feed {
        all: true,
        after: Some(0),
        limit: Some(1_000),
        ..Feed::default()
    }
}

/// The event of making a claim repeats it, so it is hidden from those who may not see the claim.
#[test]
fn a_claim_that_may_not_be_seen_is_not_read_as_its_event() {
    let engine = Sandbox::open_new();
    let ada = open_with_topics(&engine, "ada", &["auth"], &[]);
    let bob = open_with_topics(&engine, "bob", &[], &[]);
    let commit = Commit {
        draft: Draft {
            pointers: Vec::new(),
            ..on_topic("payments", "The vendor pays in cents.")
        },
        words: Some("seen in a log".to_owned()),
        ..Commit::default()
    };
    let stored = engine.0.ask(&bob, ask::Commit(Box::new(commit))).unwrap();
    let event = engine.get(&USER, stored.id).unwrap().pointers[0].to_string();
    assert!(event.starts_with("sam:claim:"), "{event}");
    let read = |who: &Caller, pointer: &str| {
        let deref = Deref {
            pointer: PointerInput::Text(pointer.to_owned()),
            max_tokens: None,
            turn: None,
            budget_token: None,
            reason: None,
        };
        engine.0.ask(who, ask::Deref(deref))
    };
    assert!(read(&bob, &event).unwrap().excerpt.contains("cents"));
    assert!(read(&USER, &event).is_ok());
    let hidden = refused(read(&ada, &event), Code::PointerNotFound);
    let missing = event.replace("sam:claim:", "sam:claim:0");
    let absent = refused(read(&ada, &missing), Code::PointerNotFound);
    assert_eq!(hidden.hint.replace("--slug ", "--slug 0"), absent.hint);
    let page = engine.0.ask(&ada, ask::Feed(whole_feed())).unwrap();
    let told = serde_json::to_string(&page.entries).unwrap();
    assert!(!told.contains(&event), "{told}");
    let pinned = Draft {
        pointers: vec![PointerInput::Text(event)],
        ..on_topic("auth", "I saw what I may not see.")
    };
    refused(engine.put(&ada, pinned), Code::PointerNotFound);
}

/// `[scopes]` of the configuration limits where agents may write; the user writes anywhere.
#[test]
fn the_home_says_which_scopes_agents_write() {
    for (config, open, usual) in [
        ("", &[Scope::Run, Scope::Project][..], Scope::Project),
        ("agents_write = [\"run\"]", &[Scope::Run], Scope::Run),
        (
            "agents_write = [\"run\", \"org\", \"global\"]\norg = true",
            &[Scope::Run, Scope::Org],
            Scope::Run,
        ),
        (
            "org = true\nglobal = true",
            &[Scope::Run, Scope::Project],
            Scope::Project,
        ),
    ] {
        let sandbox = Sandbox::new();
        std::fs::create_dir_all(sandbox.home()).unwrap();
        let config = format!("[scopes]\n{config}\n");
        std::fs::write(sandbox.home().join("config.toml"), config.clone()).unwrap();
        let engine = sandbox.open();
        let ada = engine.agent("ada");
        for scope in Scope::ALL {
            let claim = format!("Written into {scope}.");
            engine
                .put(&USER, scoped_draft(&format!("{claim} By me."), *scope))
                .unwrap();
            let stored = engine.put(&ada, scoped_draft(&claim, *scope));
            if open.contains(scope) {
                drop(stored.unwrap())
            } else {
                drop(refused(stored, Code::ScopeDenied))
            }
        }
        let stored = engine.put(&ada, draft("Without a scope.")).unwrap();
        assert_eq!(
            engine.get(&ada, stored.id).unwrap().scope,
            usual,
            "{config}"
        );
        let delete = Draft {
            operation: Some(MemoryOp::Delete),
            ..correction_of(stored.lineage_id, "")
        };
        engine.put(&ada, delete).unwrap();
    }
}

/// A parent of its author, or the user, promotes a claim of a run to the project, once its
/// confidence is high enough.
#[test]
fn a_parent_promotes_what_its_children_said() {
    let engine = Sandbox::open_new();
    for (name, parent) in [("lead", None), ("ada", Some("lead")), ("kid", Some("ada"))] {
        open_agent(&engine, &USER, name, parent).unwrap();
    }
    open_agent(&engine, &USER, "other", None).unwrap();
    let (lead, ada, kid) = (agent_named("lead"), agent_named("ada"), agent_named("kid"));
    let other = agent_named("other");
    let said = |who: &Caller, claim: &str, confidence: f64| {
        let draft = Draft {
            confidence: Some(confidence),
            ..scoped_draft(claim, Scope::Run)
        };
        engine.put(who, draft).unwrap()
    };
    let promote = |who: &Caller, id, scope: Scope| {
        let scope = Some(scope);
        engine
            .0
            .ask(who, ask::Promote(engram_model::Promote { id, scope }))
    };
    let sure = said(&kid, "The retry has no jitter.", 0.9);
    let vague = said(&kid, "The retry may have no cap.", 0.6);
    let own = said(&lead, "The plan is to cap it.", 0.9);
    for (who, id, to, code) in [
        (&kid, sure.id, Scope::Project, Code::ScopeDenied),
        (&other, sure.id, Scope::Project, Code::NotFound),
        (&lead, own.id, Scope::Project, Code::ScopeDenied),
        (&lead, vague.id, Scope::Project, Code::ScopeDenied),
        (&lead, sure.id, Scope::Org, Code::ScopeDenied),
        (&lead, sure.id, Scope::Run, Code::SchemaInvalid),
    ] {
        refused(promote(who, id, to), code);
    }
    assert!(claims_in(&engine.query(&other, "retry jitter")).is_empty());
    let wider = promote(&ada, sure.id, Scope::Project).unwrap();
    assert_eq!(
        (wider.scope, wider.lineage_id),
        (Scope::Project, sure.lineage_id)
    );
    assert_eq!(claims_in(&engine.query(&other, "retry jitter")).len(), 1);
    let record = engine.get(&other, wider.id).unwrap();
    assert_eq!(record.agent, Some(handle_of(&kid)));
    assert_eq!((record.seq, record.supersedes), (wider.seq, Some(sure.id)));
    let before = engine.get(&USER, sure.id).unwrap();
    assert!(before.valid_until.is_some());
    // The user promotes anything, to any scope.
    for id in [vague.id, own.id] {
        promote(&USER, id, Scope::Global).unwrap();
    }
    assert!(engine.0.doctor(Default::default()).unwrap().ok);
}
