//! The operation of a commit: an update that finds its target by itself, and one that has nothing
//! to say.

use engram_model::{
    Code, Draft, Durability, FactType, Finding, Kind, MemoryOp, Noticed, PutReply, Scope,
};

use crate::fixture::{
    Asked, REINDEX, Sandbox, USER, correction_of, draft, on_topic, refused, scoped_draft,
};

fn update_on(topic: &str, claim: &str) -> Draft {
    Draft {
        operation: Some(MemoryOp::Update),
        ..on_topic(topic, claim)
    }
}

#[track_caller]
fn assert_replaces(at: &Asked, reply: &PutReply, old: &PutReply) {
    assert_eq!(reply.memory_op, MemoryOp::Update, "{reply:?}");
    assert_eq!(reply.supersedes, Some(old.id));
    assert_eq!(reply.lineage_id, old.lineage_id);
    let told = reply.findings.iter().filter(|it| it.id == old.id);
    let told: Vec<Noticed> = told.map(|it| it.what).collect();
    assert_eq!(told, [Noticed::Superseded]);
    let closed = at.get(&USER, old.id).unwrap();
    let now = at.get(&USER, reply.id).unwrap();
    assert_eq!(closed.valid_until, Some(now.valid_from));
    assert_eq!(now.memory_op, MemoryOp::Update);
    assert_eq!(now.supersedes, Some(old.id));
}

#[track_caller]
fn assert_adds(at: &Asked, reply: &PutReply) {
    assert_eq!(
        (reply.memory_op, reply.supersedes),
        (MemoryOp::Add, None),
        "{reply:?}"
    );
    assert_eq!(reply.lineage_id.0, reply.id.0);
    let replaced = |it: &Finding| it.what == Noticed::Superseded;
    assert!(!reply.findings.iter().any(replaced), "{reply:?}");
    assert_eq!(at.get(&USER, reply.id).unwrap().memory_op, MemoryOp::Add);
}

/// Each case: a held claim, and an update that replaces it. Same topic, subject and attribute.
#[test]
fn an_update_finds_what_it_replaces() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let agent = at.agent("claude");
    for (topic, old, new) in [
        (
            "wallet",
            "The wallet lock is released after 3 minutes.",
            "The wallet lock is released after half an hour.",
        ),
        (
            "deps",
            "The parser depends on serde 1.0.190.",
            "The parser depends on serde 1.0.203.",
        ),
        ("cfg", "max_upload_size_mb is 20", "maxUploadSizeMb is 64"),
        (
            "http",
            "The gateway listens on port 8080.",
            "The gateway listens on port 9090.",
        ),
        (
            "",
            "The nightly export runs with 8 workers.",
            "The nightly export runs with 3 workers.",
        ),
    ] {
        sandbox.clock.turn(60);
        // Claims about something else, before and after it.
        at.put(&agent, on_topic(topic, "The billing cron starts at 4:00."))
            .unwrap();
        let first = at.put(&agent, on_topic(topic, old)).unwrap();
        at.put(&agent, on_topic("elsewhere", new)).unwrap();
        at.put(&agent, on_topic(topic, "Uploads are checked for viruses."))
            .unwrap();
        let second = at.put(&agent, update_on(topic, new)).unwrap();
        assert_replaces(&at, &second, &first);
        // From another process, before and after the index has read it.
        let other = sandbox.open_at("repo", 7);
        let third = other.put(&USER, update_on(topic, old)).unwrap();
        assert_replaces(&other, &third, &second);
        assert!(at.0.doctor(REINDEX).unwrap().ok);
        let fourth = at.put(&USER, update_on(topic, new)).unwrap();
        assert_replaces(&at, &fourth, &third);
    }
}

/// Among several, the nearest in meaning is replaced; among equals, the newest.
#[test]
fn it_is_the_nearest_that_is_replaced() {
    let at = Sandbox::open_new();
    let agent = at.agent("claude");
    let put = |claim: &str| at.put(&agent, on_topic("api", claim)).unwrap();
    let read = put("The HTTP read timeout is 30 s.");
    let write = put("The HTTP write timeout is 60 s.");
    let first = put("The HTTP idle timeout is 90 s.");
    let newest = put("The HTTP idle timeout is 120 s.");
    let said = update_on("api", "The HTTP idle timeout is 45 s.");
    assert_replaces(&at, &at.put(&agent, said).unwrap(), &newest);
    for untouched in [read, write, first] {
        let held = at.get(&USER, untouched.id).unwrap();
        assert_eq!(held.valid_until, None, "{}", held.claim);
    }
}

/// Each case: a held claim, and an update that does not replace it but is added.
#[test]
fn an_update_of_nothing_adds() {
    let old = "The wallet lock is released after 3 minutes.";
    let new = "The wallet lock is released after half an hour.";
    let here = |claim| on_topic("wallet", claim);
    let said = update_on("wallet", new);
    let todo = Draft {
        kind: Some(Kind::Todo),
        ..here(old)
    };
    let short = Draft {
        durability: Some(Durability::Ephemeral),
        ..said.clone()
    };
    for (held, said) in [
        // Another topic: above, below, beside.
        (draft(old), said.clone()),
        (on_topic("wallet/lock", old), said.clone()),
        (on_topic("vault", old), said.clone()),
        // Another subject, another attribute, another environment.
        (
            here("The session lock is released after 3 minutes."),
            said.clone(),
        ),
        (
            here("The wallet lock is taken 3 times a day."),
            said.clone(),
        ),
        (
            here("In production the wallet lock is released after 3 minutes."),
            said.clone(),
        ),
        // A claim that quotes, one that fewer see, one that is ephemeral.
        (todo, said.clone()),
        (
            here(old),
            Draft {
                scope: Some(Scope::Run),
                ..said.clone()
            },
        ),
        (here(old), short),
        // An addition replaces nothing.
        (here(old), here(new)),
    ] {
        let at = Sandbox::open_new();
        let agent = at.agent("claude");
        let first = at.put(&agent, held.clone()).unwrap();
        let second = at.put(&agent, said).unwrap();
        assert_adds(&at, &second);
        assert_eq!(at.get(&USER, first.id).unwrap().valid_until, None);
    }
}

#[test]
fn an_agents_update_closes_no_claim_of_the_user() {
    let at = Sandbox::open_new();
    let agent = at.agent("claude");
    let first = at
        .put(
            &USER,
            on_topic("wallet", "The wallet lock is released after 3 minutes."),
        )
        .unwrap();
    let said = update_on("wallet", "The wallet lock is released after 30 minutes.");
    let own = at.put(&agent, said.clone()).unwrap();
    assert_adds(&at, &own);
    assert_eq!(at.get(&USER, first.id).unwrap().valid_until, None);
    // Its next update replaces its own claim, however near the user's is.
    let next = update_on("wallet", "The wallet lock is released after 40 minutes.");
    assert_replaces(&at, &at.put(&agent, next).unwrap(), &own);
    // Naming the user's claim is refused, as before.
    let named = Draft {
        operation: Some(MemoryOp::Update),
        ..correction_of(
            first.lineage_id,
            "The wallet lock is released after 50 minutes.",
        )
    };
    refused(at.put(&agent, named), Code::ScopeDenied);
    // The user replaces either.
    let users = at.put(&USER, said).unwrap();
    assert_eq!(users.memory_op, MemoryOp::Update);
}

#[test]
fn an_update_replaces_nothing_that_its_agent_may_not_see() {
    let at = Sandbox::open_new();
    let (ada, bob) = (at.agent("claude"), at.agent("codex"));
    let hidden = at
        .put(
            &ada,
            scoped_draft("The wallet lock is released after 3 minutes.", Scope::Run),
        )
        .unwrap();
    let said = Draft {
        operation: Some(MemoryOp::Update),
        ..scoped_draft("The wallet lock is released after 30 minutes.", Scope::Run)
    };
    let added = at.put(&bob, said.clone()).unwrap();
    assert_adds(&at, &added);
    assert_eq!(at.get(&USER, hidden.id).unwrap().valid_until, None);
    assert_replaces(&at, &at.put(&ada, said).unwrap(), &hidden);
}

/// The same words on the same evidence are a repeat; on other evidence a new version.
#[test]
fn an_update_in_the_same_words() {
    let at = Sandbox::open_new();
    let agent = at.agent("claude");
    let claim = "The wallet lock is released after 3 minutes.";
    let first = at.put(&agent, on_topic("wallet", claim)).unwrap();
    let again = at.put(&agent, update_on("wallet", claim)).unwrap();
    assert_eq!((again.id, again.memory_op), (first.id, MemoryOp::None));
    assert_eq!(again.findings[0].what, Noticed::Duplicate);
    let elsewhere = Draft {
        pointers: vec![engram_model::PointerInput::Text(
            "repo:src/lib.rs#L9@HEAD".to_owned(),
        )],
        fact_type: Some(FactType::Inference),
        ..update_on("wallet", claim)
    };
    assert_replaces(&at, &at.put(&agent, elsewhere).unwrap(), &first);
}

#[test]
fn a_commit_says_what_it_did_and_when() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let first = at.claim("The limit is 10.");
    assert_eq!((first.memory_op, first.supersedes), (MemoryOp::Add, None));
    assert_eq!(
        first.committed_at,
        at.get(&USER, first.id).unwrap().recorded_at
    );
    sandbox.clock.turn(60);
    let again = at.claim("The limit is 10.");
    assert_eq!(again.memory_op, MemoryOp::None);
    assert_eq!(again.committed_at, first.committed_at);
    let second = at
        .put(&USER, correction_of(first.id, "The limit is 20."))
        .unwrap();
    assert_eq!(
        (second.memory_op, second.supersedes),
        (MemoryOp::Update, Some(first.id))
    );
    assert!(second.committed_at > first.committed_at);
    // The draft names what ends; its other fields are ignored.
    let retire = Draft {
        operation: Some(MemoryOp::Delete),
        confidence: Some(7.0),
        ttl: Some("soon".to_owned()),
        ..correction_of(first.lineage_id, "")
    };
    let retired = at.put(&USER, retire).unwrap();
    assert_eq!(
        (retired.memory_op, retired.id),
        (MemoryOp::Delete, second.id)
    );
}

#[test]
fn nothing_new_stores_nothing() {
    let at = Sandbox::open_new();
    let agent = at.agent("claude");
    for (who, said) in [(&USER, draft("A claim.")), (&agent, Draft::default())] {
        let none = Draft {
            operation: Some(MemoryOp::None),
            ..said
        };
        let reply = at.put(who, none.clone()).unwrap();
        assert_eq!((reply.memory_op, reply.seq), (MemoryOp::None, 0));
        assert!(!reply.is_of_version() && reply.findings.is_empty());
        let shown = serde_json::to_value(&reply).unwrap();
        assert!(shown.get("id").is_none() && shown.get("lineage_id").is_none());
        let read: PutReply = serde_json::from_value(shown).unwrap();
        assert_eq!(read, reply);
        let commit = engram_model::Commit {
            draft: none,
            words: Some("seen".to_owned()),
            ..engram_model::Commit::default()
        };
        let reply = at.0.ask(who, engram_model::ask::Commit(Box::new(commit)));
        assert!(!reply.unwrap().is_of_version());
    }
    assert!(at.journal().entries.is_empty());
    assert_eq!(at.status(&USER).unwrap().head, 0);
}

/// Others would lose the claim, and a conflict with it, without seeing what replaced it.
#[test]
fn an_agent_does_not_narrow_the_claim_of_another() {
    let at = Sandbox::open_new();
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    let first = at.put(&ada, draft("The cart lasts 45 minutes.")).unwrap();
    let narrowed = || Draft {
        corrects_lineage: Some(first.lineage_id.to_string()),
        ..scoped_draft("The tramway has tickets.", Scope::Run)
    };
    refused(at.put(&bob, narrowed()), Code::ScopeDenied);
    assert_eq!(at.get(&USER, first.id).unwrap().valid_until, None);
    // Its own it may.
    at.put(&ada, narrowed()).unwrap();
}

/// Whoever ends a version that was replaced is told which one holds.
#[test]
fn the_end_of_an_old_version_names_the_new_one() {
    let at = Sandbox::open_new();
    let old = at.claim("The cache has 4 shards.");
    let new = correction_of(old.lineage_id, "The cache has 8 shards.");
    let new = at.put(&USER, new).unwrap();
    let refusal = refused(at.forget(&USER, old.id), Code::NotFound);
    assert!(refusal.hint.contains(&new.id.to_string()), "{refusal}");
}
