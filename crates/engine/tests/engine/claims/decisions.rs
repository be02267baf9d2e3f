//! A person's decisions about a claim: recorded as theirs, undone at will, and never by reopening a
//! window.

use engram_model::{Change, Code, Draft, Engram, EngramId, Entry, Feed, PutReply, Query, ask};

use crate::fixture::{
    Asked, Sandbox, USER, claims_in, correction_of, draft, git, query, refused, scoped_draft,
};

fn entries_of(at: &Asked, id: EngramId) -> Vec<Entry> {
    at.0.ask(&USER, ask::Log(id)).unwrap()
}

/// Each entry of a log, newest first, in the words of a history.
fn history_of(at: &Asked, id: EngramId) -> Vec<String> {
    let tell = |entry: Entry| {
        let what = match entry.change {
            Change::Stored(engram) if engram.restores.is_some() => "restored".to_owned(),
            Change::Stored(engram) => {
                format!("{} by {}", engram.kind, engram.provenance.created_by)
            }
            Change::Corroborated(_) => "same".to_owned(),
            Change::Forgotten(_) => "ended".to_owned(),
            Change::Redacted(_) => "erased".to_owned(),
            Change::Promoted { .. } => "promoted".to_owned(),
            other => format!("{other:?}"),
        };
        format!("{}: {what}", entry.by)
    };
    entries_of(at, id).into_iter().map(tell).collect()
}

fn restore(at: &Asked, id: EngramId) -> Result<PutReply, engram_model::Refusal> {
    at.0.ask(&USER, ask::Restore(id))
}

fn ask_again(at: &Asked, id: EngramId) -> Engram {
    let asked = at.0.ask(&USER, ask::Reverify(id)).unwrap();
    *at.get(&USER, asked.id).unwrap()
}

/// Moves the lines that are evidence for claims of the fixture.
fn push_lines_down(sandbox: &Sandbox) {
    let path = sandbox.path("repo/src/lib.rs");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("// one\n{text}")).unwrap();
    git(&sandbox.path("repo"), &["commit", "-qam", "more"]);
}

#[test]
fn a_verdict_is_the_persons_and_the_claim_its_authors() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let ada = at.agent("ada");
    let first = at.put(&ada, draft("The parser is slow.")).unwrap();
    push_lines_down(&sandbox);
    let confirmed = at.0.ask(&USER, ask::Repin(first.id)).unwrap();
    let now = at.get(&USER, confirmed.id).unwrap();
    let then = at.get(&USER, first.id).unwrap();
    assert_eq!(now.provenance, then.provenance);
    assert_eq!(now.agent, then.agent);
    at.forget(&USER, confirmed.id).unwrap();
    assert_eq!(
        history_of(&at, first.id),
        ["user: ended", "user: fact by ada", "ada: fact by ada"]
    );
    let by_hand: Vec<bool> = entries_of(&at, first.id)
        .iter()
        .map(|it| it.agent.is_none())
        .collect();
    assert_eq!(by_hand, [true, true, false]);
}

#[test]
fn what_was_done_is_undone_by_a_new_version() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let ada = at.agent("ada");
    let first = at.put(&ada, draft("The parser is slow.")).unwrap();
    let then = *at.get(&USER, first.id).unwrap();
    let lineage = first.lineage_id;

    // Forgotten and restored, even for the agent that made it.
    at.forget(&USER, first.id).unwrap();
    assert!(at.query(&ada, "parser").engrams.is_empty());
    sandbox.clock.turn(60);
    let back = restore(&at, first.id).unwrap();
    assert_eq!(back.lineage_id, lineage);
    let now = *at.get(&USER, back.id).unwrap();
    assert_eq!(now.restores, Some(first.id));
    assert_eq!((&now.claim, &now.pointers), (&then.claim, &then.pointers));
    assert_eq!(
        (&now.provenance, &now.agent),
        (&then.provenance, &then.agent)
    );
    assert_eq!(at.query(&ada, "parser").engrams.len(), 1);
    // It did not hold while it was forgotten: no window reopened.
    let meanwhile = Query {
        as_of: Some(now.valid_from - jiff::SignedDuration::from_secs(30)),
        ..query("parser")
    };
    assert!(at.ask(&USER, meanwhile).unwrap().engrams.is_empty());

    // Corrected and restored: the correction ends.
    let other = at
        .put(&USER, correction_of(lineage, "The parser is fast."))
        .unwrap();
    let back = restore(&at, back.id).unwrap();
    assert!(at.get(&USER, other.id).unwrap().valid_until.is_some());
    assert_eq!(at.claims_found("parser"), ["The parser is slow."]);

    // Confirmed and restored: it points where it did.
    push_lines_down(&sandbox);
    at.0.ask(&USER, ask::Repin(back.id)).unwrap();
    let back = restore(&at, back.id).unwrap();
    assert_eq!(at.get(&USER, back.id).unwrap().pointers, then.pointers);
    assert_eq!(
        history_of(&at, first.id),
        [
            "user: restored",
            "user: fact by ada",
            "user: restored",
            "user: fact by user",
            "user: restored",
            "user: ended",
            "ada: fact by ada",
        ]
    );
}

/// What the window sends: the same claim in other words.
fn rewording_of(at: &Asked, id: EngramId, claim: &str) -> Draft {
    Draft {
        claim: claim.to_owned(),
        ..at.get(&USER, id).unwrap().draft()
    }
}

#[test]
fn what_a_person_corrects_is_the_persons_until_it_is_undone() {
    let at = Sandbox::open_new();
    let ada = at.agent("ada");
    let said = Draft {
        topic: Some("speed".to_owned()),
        tags: vec!["parser".to_owned()],
        ttl: Some("P30D".to_owned()),
        ..draft("The parser is slow.")
    };
    let first = at.put(&ada, said).unwrap();
    let then = *at.get(&USER, first.id).unwrap();
    let words = rewording_of(&at, first.id, "The parser is slow on long lines.");
    let corrected = at.put(&USER, words).unwrap();
    let now = *at.get(&USER, corrected.id).unwrap();
    assert_eq!(now.lineage_id, then.lineage_id);
    assert_eq!(now.supersedes, Some(first.id));
    assert_eq!(now.provenance.created_by, "user");
    assert_eq!(now.agent, None);
    assert_eq!(
        now.pointers, then.pointers,
        "pinned and digested as they were"
    );
    assert!(corrected.findings.iter().all(|it| it.id == first.id));
    assert_eq!(
        (now.kind, now.scope, &now.topic, &now.tags, &now.ttl),
        (then.kind, then.scope, &then.topic, &then.tags, &then.ttl)
    );

    // No agent may end or replace it, not even its author.
    let again = correction_of(first.lineage_id, "The parser is fast.");
    refused(at.put(&ada, again), Code::ScopeDenied);
    refused(at.forget(&ada, corrected.id), Code::ScopeDenied);
    assert_eq!(
        at.claims_found("parser"),
        ["The parser is slow on long lines."]
    );

    // After the undo, it is the agent's again.
    let back = restore(&at, first.id).unwrap();
    let back = *at.get(&USER, back.id).unwrap();
    assert_eq!((&back.claim, &back.agent), (&then.claim, &then.agent));
    assert_eq!(
        history_of(&at, first.id),
        ["user: restored", "user: fact by user", "ada: fact by ada"]
    );
    let again = correction_of(first.lineage_id, "The parser is fast.");
    at.put(&ada, again).unwrap();
}

#[test]
fn a_correction_that_is_refused_changes_nothing() {
    let at = Sandbox::open_new();
    let ada = at.agent("ada");
    let id = at.put(&ada, draft("The parser is slow.")).unwrap().id;
    let token = format!("ghp_{}", "aZ3kQ9wB7xLmN2cV5tRyU8iOpEsDfGhJ1407");
    let long = "x".repeat(501);
    for (claim, code) in [
        ("", Code::SchemaInvalid),
        (long.as_str(), Code::ClaimTooLong),
        (token.as_str(), Code::SecretDetected),
    ] {
        refused(at.put(&USER, rewording_of(&at, id, claim)), code);
        assert_eq!(entries_of(&at, id).len(), 1);
    }
    let words = rewording_of(&at, id, "The parser is fast.");
    at.forget(&USER, id).unwrap();
    refused(at.put(&USER, words), Code::NotFound);
}

/// A corrected claim stays in its run, and a to-do keeps the claim that it asks about.
#[test]
fn who_sees_a_claim_sees_its_correction() {
    let at = Sandbox::open_new();
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    let said = scoped_draft("The parser is slow.", engram_model::Scope::Run);
    let id = at.put(&ada, said).unwrap().id;
    let todo = ask_again(&at, id).id;
    let words = rewording_of(&at, todo, "Is the parser slow with the new lexer?");
    let todo = at.put(&USER, words).unwrap().id;
    assert_eq!(at.get(&USER, id).unwrap().asked, Some(todo));
    let words = rewording_of(&at, id, "The parser is slow on long lines.");
    at.put(&USER, words).unwrap();
    assert!(at.get(&USER, todo).unwrap().valid_until.is_some());
    assert_eq!(
        claims_in(&at.query(&ada, "parser long lines")),
        ["The parser is slow on long lines."]
    );
    assert!(at.query(&bob, "parser long lines").engrams.is_empty());
}

/// The engrams of the list, newest first, with their places.
fn list_with_places(at: &Asked) -> Vec<(String, u64)> {
    let feed = Feed {
        listed: true,
        ..Feed::default()
    };
    let page = at.0.ask(&USER, ask::Feed(feed)).unwrap();
    let stored = page.entries.iter().filter_map(|it| it.change.stored());
    stored
        .map(|it| (it.claim.clone(), it.list_place()))
        .collect()
}

#[test]
fn a_confirmation_moves_nothing_in_the_list() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let ada = at.agent("ada");
    let claims = [
        "The parser is slow.",
        "The lexer is slow.",
        "The printer is slow.",
    ];
    let ids: Vec<EngramId> = claims
        .iter()
        .map(|it| at.put(&ada, draft(it)).unwrap().id)
        .collect();
    let before = list_with_places(&at);
    assert_eq!(
        before.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(),
        [claims[2], claims[1], claims[0]]
    );
    // All of them are confirmed, the oldest last, and one twice.
    push_lines_down(&sandbox);
    let confirm = |id: EngramId| at.0.ask(&USER, ask::Repin(id)).unwrap().id;
    let now: Vec<EngramId> = ids.iter().rev().map(|it| confirm(*it)).collect();
    assert_eq!(list_with_places(&at), before);
    push_lines_down(&sandbox);
    let parser = confirm(now[2]);
    assert_eq!(list_with_places(&at), before);
    // The confirmation is still a new entry of the journal, and no other record has its place.
    let journal = at.journal().entries;
    let newest = journal.iter().rev().find_map(|it| it.change.engram());
    assert_eq!(newest, Some(parser));
    for who in [&USER, &ada] {
        assert_eq!(at.get(who, parser).unwrap().place, None);
    }
    // Undone, forgotten, and restored.
    let back = restore(&at, now[2]).unwrap().id;
    assert_eq!(list_with_places(&at), before);
    at.forget(&USER, back).unwrap();
    let back = restore(&at, back).unwrap().id;
    assert_eq!(list_with_places(&at), before);
    // A correction moves to the top; undoing it puts the claim back.
    at.put(&USER, correction_of(back, "The parser is fast."))
        .unwrap();
    let news = list_with_places(&at);
    assert_eq!(news[0].0, "The parser is fast.");
    assert_eq!(news[1..], before);
    restore(&at, back).unwrap();
    assert_eq!(list_with_places(&at), news);
}

#[test]
fn what_ended_meanwhile_is_neither_confirmed_nor_asked_about() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let first = at.claim("The parser is slow.");
    let newer = at
        .put(
            &USER,
            correction_of(first.lineage_id, "The parser is fast."),
        )
        .unwrap();
    push_lines_down(&sandbox);
    refused(at.0.ask(&USER, ask::Repin(first.id)), Code::NotFound);
    refused(at.0.ask(&USER, ask::Reverify(first.id)), Code::NotFound);
    assert_eq!(at.claims_found("parser"), ["The parser is fast."]);
    // Nor is the same version confirmed twice.
    at.0.ask(&USER, ask::Repin(newer.id)).unwrap();
    refused(at.0.ask(&USER, ask::Repin(newer.id)), Code::NotFound);
    at.forget(&USER, first.id).unwrap_err();
    assert_eq!(entries_of(&at, first.id).len(), 3);
}

#[test]
fn what_cannot_be_restored_is_refused() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let holds = at.claim("The parser is slow.").id;
    let erased = at.claim("The lexer is slow.").id;
    at.redact(&USER, erased).unwrap();
    let brief = Draft {
        ttl: Some("PT1H".to_owned()),
        ..draft("The build is red.")
    };
    let over = at.put(&USER, brief).unwrap().id;
    at.forget(&USER, over).unwrap();
    sandbox.clock.turn(3_600);
    let unknown = EngramId(ulid::Ulid(7));
    for (id, why) in [
        (holds, "still holds"),
        (erased, "redacted"),
        (over, "expired"),
        (unknown, ""),
    ] {
        let refusal = refused(restore(&at, id), Code::NotFound);
        assert!(refusal.message.contains(why), "{refusal}");
    }
    let ada = at.agent("ada");
    refused(at.0.ask(&ada, ask::Restore(holds)), Code::ScopeDenied);
}

#[test]
fn what_was_asked_shows_and_ends_with_its_claim() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let ada = at.agent("ada");
    let ends: [(&str, &dyn Fn(EngramId)); 5] = [
        ("forgotten", &|id| drop(at.forget(&USER, id).unwrap())),
        ("confirmed", &|id| {
            drop(at.0.ask(&USER, ask::Repin(id)).unwrap())
        }),
        ("corrected by an agent", &|id| {
            drop(at.put(&ada, correction_of(id, "It is fast.")).unwrap());
        }),
        ("retired by an agent", &|id| {
            let delete = Draft {
                operation: Some(engram_model::MemoryOp::Delete),
                corrects_lineage: Some(id.to_string()),
                ..Draft::default()
            };
            drop(at.put(&ada, delete).unwrap());
        }),
        ("erased", &|id| drop(at.redact(&USER, id).unwrap())),
    ];
    for (name, end) in ends {
        let said = at.put(&ada, draft(&format!("The parser of {name} is slow.")));
        let id = said.unwrap().id;
        assert_eq!(at.get(&USER, id).unwrap().asked, None, "{name}");
        let todo = ask_again(&at, id);
        assert_eq!(todo.asks.map(|it| it.0), Some(id.0), "{name}");
        assert_eq!(at.get(&USER, id).unwrap().asked, Some(todo.id), "{name}");
        let of_feed = at
            .journal()
            .entries
            .into_iter()
            .find_map(|it| match it.change {
                Change::Stored(engram) if engram.id == id => engram.asked,
                _ => None,
            });
        assert_eq!(of_feed, Some(todo.id), "{name}");
        assert!(
            entries_of(&at, id)
                .iter()
                .any(|it| it.change.engram() == Some(todo.id)),
            "{name}"
        );
        push_lines_down(&sandbox);
        end(id);
        let last = at.journal().entries[0].change.engram();
        assert_ne!(last, Some(todo.id), "{name}: the answer is what came last");
        let todo = at.get(&USER, todo.id).unwrap();
        assert!(todo.valid_until.is_some(), "{name}");
        assert_eq!(todo.redacted, name == "erased");
    }
    assert_eq!(
        engram_kit::files_holding(&sandbox.home(), "The parser of erased"),
        [""; 0].map(std::path::PathBuf::from)
    );
}

/// Everybody who sees a claim of a run sees the question about it.
#[test]
fn a_question_reaches_who_sees_the_claim() {
    let at = Sandbox::open_new();
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    let said = scoped_draft("The parser is slow.", engram_model::Scope::Run);
    let id = at.put(&ada, said).unwrap().id;
    ask_again(&at, id);
    assert_eq!(at.query(&ada, "parser still true").engrams.len(), 2);
    assert!(at.query(&bob, "parser still true").engrams.is_empty());
    refused(at.0.ask(&bob, ask::Log(id)), Code::NotFound);
    assert_eq!(at.0.ask(&ada, ask::Log(id)).unwrap().len(), 2);
}

/// A correction that was undone is told apart from one that a newer correction replaced.
#[test]
fn an_undone_correction_was_not_replaced() {
    let at = Sandbox::open_new();
    let first = at.put(&USER, draft("The port is 8080.")).unwrap();
    let wrong = at.put(&USER, correction_of(first.id, "The port is 9090."));
    let wrong = wrong.unwrap().id;
    let restored = restore(&at, first.id).unwrap();
    let page = at.journal();
    assert_eq!(page.undone, [wrong]);
    assert!(page.replaced.iter().all(|it| it.0 != wrong), "{page:?}");
    let better = at.put(&USER, correction_of(restored.id, "The port is 7070."));
    let page = at.journal();
    assert_eq!(page.undone, [wrong]);
    assert!(page.replaced.contains(&(restored.id, better.unwrap().id)));
}
