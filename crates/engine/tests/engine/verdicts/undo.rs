//! Undone verdicts: restored claims are compared, claims that ended otherwise meanwhile are not
//! restored, and no agent evades a person's decision.

use engram_model::{
    AgentId, Caller, Code, ConflictId, ConflictStatus, Draft, Durability, EngramId, Gate, Listed,
    Opening, Scope, Settle, Severity, ask,
};

use crate::fixture::{
    Asked, LONG, SHORT, Sandbox, USER,
    conflicts::{conflict, contradict, list_conflicts, open_conflicts},
    on_topic, refused, with_other_evidence,
};

fn gate(at: &Asked) -> Gate {
    at.0.leave_in_order().unwrap();
    at.gate(Severity::Low).gate
}

fn wallet_draft(scope: Scope, claim: &str) -> Draft {
    Draft {
        scope: Some(scope),
        ..on_topic("wallet", claim)
    }
}

fn open_child(at: &Asked, parent: &Caller, name: &str) -> Caller {
    let opening = Opening {
        name: name.to_owned(),
        ..Opening::default()
    };
    Caller::Agent(at.0.ask(parent, ask::OpenAgent(opening)).unwrap().agent)
}

fn only_conflict(at: &Asked, who: &Caller) -> ConflictId {
    let [known] = &list_conflicts(at, who, Listed::Open)[..] else {
        panic!("one conflict: {:#?}", open_conflicts(at));
    };
    known.id
}

/// The verdict was about a claim of one run; since then the user made it for everybody.
#[test]
fn what_an_undo_brings_back_is_compared_with_what_was_said_since() {
    for undoes_user in [false, true] {
        let at = Sandbox::open_new();
        let mal = at.agent("mal");
        at.put(&mal, on_topic("wallet", SHORT)).unwrap();
        let own = at.put(&mal, wallet_draft(Scope::Run, LONG)).unwrap();
        let known = only_conflict(&at, &mal);
        at.settle(&mal, known, Settle::Winner(own.id)).unwrap();
        let users = at
            .put(&USER, with_other_evidence(on_topic("wallet", LONG)))
            .unwrap();
        assert_eq!(users.conflicts, 0);
        let judge = if undoes_user { &USER } else { &mal };
        at.settle(judge, known, Settle::Undo).unwrap();
        at.forget(&mal, own.id).unwrap();
        assert_eq!(gate(&at), Gate::Shut);
    }
}

/// The user forgot what the verdict had closed, after it was restored.
#[test]
fn an_undo_brings_nothing_back_that_ended_since() {
    let at = Sandbox::open_new();
    let (known, first, _) = contradict(&at);
    let ada = at.agent("ada");
    let reply = at.settle(&USER, known, Settle::Newer).unwrap();
    assert_eq!(reply.closed, [first]);
    let restored = at.0.ask(&USER, ask::Restore(first)).unwrap();
    at.forget(&USER, restored.id).unwrap();
    let undone = at.settle(&USER, known, Settle::Undo).unwrap();
    assert_eq!(undone.stored, []);
    // The reply does not report the conflict as open.
    assert_eq!(undone.status, ConflictStatus::Closed);
    assert_eq!(conflict(&at, known).status, ConflictStatus::Closed);
    assert_eq!(at.query(&ada, "wallet lock").engrams.len(), 1);
}

#[test]
fn no_agent_dismisses_what_a_person_reopened_in_other_clothes() {
    let at = Sandbox::open_new();
    let [yan, mal] = ["yan", "mal"].map(|name| at.agent(name));
    at.put(&yan, on_topic("wallet", SHORT)).unwrap();
    at.put(&mal, wallet_draft(Scope::Run, LONG)).unwrap();
    let narrow = only_conflict(&at, &mal);
    at.settle(&mal, narrow, Settle::Dismiss).unwrap();
    at.settle(&USER, narrow, Settle::Undo).unwrap();
    refused(at.settle(&mal, narrow, Settle::Dismiss), Code::ScopeDenied);
    at.put(&mal, with_other_evidence(on_topic("wallet", LONG)))
        .unwrap();
    let wide = only_conflict(&at, &yan);
    assert_ne!(wide, narrow);
    refused(at.settle(&mal, wide, Settle::Dismiss), Code::ScopeDenied);
    assert_eq!(gate(&at), Gate::Shut);
}

/// A dismissal counted for everybody and for a run: another agent of the run undoes both.
#[test]
fn a_dismissal_of_another_agent_is_taken_back_whole() {
    let at = Sandbox::open_new();
    let [lead, yan] = ["lead", "yan"].map(|name| at.agent(name));
    let [mal, zed] = ["mal", "zed"].map(|name| open_child(&at, &lead, name));
    at.put(&yan, on_topic("wallet", SHORT)).unwrap();
    at.put(&mal, wallet_draft(Scope::Run, LONG)).unwrap();
    let shared = at
        .put(&yan, with_other_evidence(on_topic("wallet", LONG)))
        .unwrap();
    let known = only_conflict(&at, &mal);
    at.settle(&mal, known, Settle::Dismiss).unwrap();
    assert_eq!(gate(&at), Gate::Open);
    at.settle(&zed, known, Settle::Undo).unwrap();
    at.forget(&yan, shared.id).unwrap();
    assert_eq!((open_conflicts(&at).len(), gate(&at)), (1, Gate::Shut));
}

/// A merge repeated one side; it was undone, and the other side won.
#[test]
fn a_verdict_shows_what_it_closed() {
    let at = Sandbox::open_new();
    let (known, first, second) = contradict(&at);
    at.settle(&USER, known, Settle::Merge(SHORT.to_owned()))
        .unwrap();
    let back = at.settle(&USER, known, Settle::Undo).unwrap();
    let [one, two] = back.stored[..] else {
        panic!("{first} and {second} hold again: {back:?}");
    };
    let reply = at.settle(&USER, known, Settle::Winner(two)).unwrap();
    assert_eq!(reply.closed, [one]);
    let shown = conflict(&at, known);
    let sides: Vec<EngramId> = vec![shown.a.id, shown.b.id];
    assert!(sides.contains(&one) && sides.contains(&two), "{shown:#?}");
}

/// Claims of a run do not corroborate claims that others see.
#[test]
fn a_run_corroborates_nothing_for_others() {
    let at = Sandbox::open_new();
    let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
    let claim = at.put(&ada, on_topic("wallet", SHORT)).unwrap();
    let same = "The wallet lock lasts three minutes.";
    let counted = || {
        let engram = at.get(&USER, claim.id).unwrap();
        engram.figures.corroborations
    };
    let said = at.put(&bob, wallet_draft(Scope::Run, same)).unwrap();
    assert!(!said.findings.is_empty(), "it says the same: {said:?}");
    assert_eq!(counted(), 0);
    at.put(&bob, with_other_evidence(on_topic("wallet", same)))
        .unwrap();
    assert_eq!(counted(), 1);
}

/// Claims of other runs take no room in a brief.
#[test]
fn what_runs_say_pushes_nothing_out_of_a_brief() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let carol = at.agent("carol");
    at.put(&USER, on_topic("wallet", "Never log a card number."))
        .unwrap();
    for number in 0..110 {
        let bob = Caller::Agent(AgentId(format!("bob-{number}")));
        sandbox.clock.turn(60);
        let draft = wallet_draft(Scope::Run, &format!("Step {number} reads the table."));
        at.put(&bob, draft).unwrap();
    }
    for reader in [&carol, &USER] {
        let brief = at.0.ask(reader, ask::Brief).unwrap();
        let told = format!("{brief:?}");
        assert!(told.contains("card number"), "{told}");
    }
}

/// An update finds its target, however many claims that it cannot see use the same words.
#[test]
fn what_runs_say_turns_no_update_into_an_addition() {
    let at = Sandbox::open_new();
    let ada = at.agent("ada");
    let claim = at
        .put(
            &ada,
            on_topic("wallet", "The request timeout is 30 seconds."),
        )
        .unwrap();
    for number in 0..60 {
        let bob = Caller::Agent(AgentId(format!("bob-{number}")));
        let text = format!("The request timeout is {} seconds.", 100 + number);
        let draft = Draft {
            durability: Some(Durability::Durable),
            ..wallet_draft(Scope::Run, &text)
        };
        at.put(&bob, draft).unwrap();
    }
    let update = Draft {
        operation: Some(engram_model::MemoryOp::Update),
        ..on_topic("wallet", "The request timeout is 31 seconds.")
    };
    let reply = at.put(&ada, update).unwrap();
    assert_eq!(reply.supersedes, Some(claim.id), "{reply:?}");
}
