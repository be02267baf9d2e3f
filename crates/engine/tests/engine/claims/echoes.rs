//! An agent that repeats what it was shown adds nothing (`ECHO`).

use engram_model::{Caller, Code, Commit, Draft, Feed, PointerInput, Refusal, ask};

use crate::fixture::{Asked, LONG, POINTER, REINDEX, SHORT, Sandbox, draft, on_topic, refused};

const CLAIM: &str = "Retries of the ledger are bounded by 3, with full jitter.";
const OTHER: &str = "repo:src/lib.rs#L9@HEAD";

/// A claim with one pointer, or without any.
fn draft_with(words: &str, pointer: Option<&str>) -> Draft {
    let pointers = pointer.map(|it| PointerInput::Text(it.to_owned()));
    Draft {
        pointers: pointers.into_iter().collect(),
        ..draft(words)
    }
}

fn commit(engine: &Asked, who: &Caller, draft: Draft) -> Result<engram_model::PutReply, Refusal> {
    engine.0.ask(
        who,
        ask::Commit(Box::new(Commit {
            draft,
            ..Commit::default()
        })),
    )
}

#[test]
fn a_claim_that_a_query_returned_is_an_echo_without_evidence_of_ones_own() {
    let engine = Sandbox::open_new();
    let first = engine.claim(CLAIM).id;
    let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
    engine.query(&ada, "ledger retries");
    for words in [
        CLAIM,
        "retries of the LEDGER are \"bounded\" by (3) - with full jitter!",
        "As the brief says: retries of the ledger are bounded by 3, with full jitter.",
    ] {
        for pointer in [None, Some(POINTER)] {
            refused(
                commit(&engine, &ada, draft_with(words, pointer)),
                Code::Echo,
            );
        }
        refused(engine.put(&ada, draft(words)), Code::Echo);
    }
    // A claim that says something else is not an echo, nor is one with other evidence.
    let denied = "It is not true that retries of the ledger are bounded by 3, with full jitter.";
    commit(&engine, &ada, draft_with(denied, None)).unwrap();
    commit(&engine, &ada, draft_with(CLAIM, Some(OTHER))).unwrap();
    // An agent that was shown nothing says the same independently, and the user always may.
    let again = commit(&engine, &bob, draft_with(CLAIM, Some(POINTER))).unwrap();
    assert_eq!(again.id, first);
    engine.query(&Caller::User, "ledger retries");
    engine.claim(CLAIM);
    // An agent that read the evidence supports the claim with it.
    let carl = engine.agent("carl");
    engine.query(&carl, "ledger retries");
    refused(engine.put(&carl, draft(CLAIM)), Code::Echo);
    engine.deref(&carl, POINTER).unwrap();
    assert_eq!(engine.put(&carl, draft(CLAIM)).unwrap().id, first);
}

#[test]
fn what_the_feed_and_a_history_show_is_known_to_who_read_it() {
    let engine = Sandbox::open_new();
    let id = engine.claim(CLAIM).id;
    let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
    engine.0.ask(&ada, ask::Feed(Feed::default())).unwrap();
    engine.0.ask(&bob, ask::Log(id)).unwrap();
    for agent in [ada, bob] {
        let repeated = draft_with(CLAIM, Some(POINTER));
        refused(commit(&engine, &agent, repeated), Code::Echo);
    }
}

#[test]
fn what_a_conflict_shows_is_known_to_who_read_it() {
    let engine = Sandbox::open_new();
    let (ada, bob, carl) = (
        engine.agent("ada"),
        engine.agent("bob"),
        engine.agent("carl"),
    );
    engine.put(&ada, on_topic("wallet", SHORT)).unwrap();
    engine.put(&bob, on_topic("wallet", LONG)).unwrap();
    // The reply showed ada's claim to bob; a list shows both to carl.
    let bare = Draft {
        pointers: Vec::new(),
        ..on_topic("wallet", SHORT)
    };
    refused(commit(&engine, &bob, bare), Code::Echo);
    let all = engram_model::ConflictFilter::default();
    engine.0.ask(&carl, ask::Conflicts(all)).unwrap();
    refused(engine.put(&carl, on_topic("wallet", LONG)), Code::Echo);
}

#[test]
fn an_excerpt_is_an_echo_without_the_pointer_to_it() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let ada = engine.agent("ada");
    let excerpt = engine.deref(&ada, POINTER).unwrap().excerpt;
    let head = || engine.journal().head;
    let before = head();
    refused(
        commit(&engine, &ada, draft_with(&excerpt, None)),
        Code::Echo,
    );
    assert_eq!(head(), before, "nothing is stored");
    // Another process knows this too.
    let other = sandbox.open_at("repo", 2);
    refused(commit(&other, &ada, draft_with(&excerpt, None)), Code::Echo);
    commit(&other, &ada, draft_with(&excerpt, Some(POINTER))).unwrap();
}

#[test]
fn what_queries_returned_is_known_in_other_processes_after_a_write() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.claim(CLAIM);
    let ada = engine.agent("ada");
    engine.query(&ada, "ledger retries");
    let before = engine.journal().head;
    assert_eq!(engine.journal().head, before, "reading writes nothing");
    engine.note(&ada, "retry", "Looked at the retries.");
    let other = sandbox.open_at("repo", 2);
    refused(other.put(&ada, draft(CLAIM)), Code::Echo);
    assert!(other.0.doctor(REINDEX).unwrap().ok);
}

/// A process that only read stores what it showed when it ends.
#[test]
fn what_a_process_showed_is_known_after_it_ended() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.claim(CLAIM);
    let ada = engine.agent("ada");
    engine.query(&ada, "ledger retries");
    engine.0.store_before_exit().unwrap();
    let other = sandbox.open_at("repo", 2);
    refused(other.put(&ada, draft(CLAIM)), Code::Echo);
}

/// A claim that is sent again is a repeat, even if somebody looked it up meanwhile.
#[test]
fn ones_own_claim_is_nothing_that_one_was_told() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    let first = engine.put(&ada, draft(CLAIM)).unwrap();
    engine.query(&ada, "ledger retries");
    engine.get(&ada, first.id).unwrap();
    assert_eq!(engine.put(&ada, draft(CLAIM)).unwrap().id, first.id);
}
