//! Verdicts on conflicts with a side that somebody may not see: what is hidden stays as it is and
//! is not revealed.

use engram_model::{
    Code, ConflictStatus, Draft, EngramId, Gate, Listed, Resolve, Scope, Settle, Severity, ask,
};
use engram_store::Store;

use crate::fixture::{
    LONG, SHORT, Sandbox, USER,
    conflicts::{
        conflict, conflict_seen_by, count_risks, draft_of_user_alone, list_conflicts,
        open_conflicts, page_of_conflicts,
    },
    on_topic, other_evidence, refused,
};

/// The judge says two contradicting things. The user also said the first, which the judge cannot
/// know.
#[test]
fn a_verdict_settles_only_what_its_judge_may_close() {
    type How = fn(EngramId) -> Settle;
    let verdicts: [(How, ConflictStatus); 3] = [
        (|winner| Settle::Winner(winner), ConflictStatus::Resolved),
        (|_| Settle::Newer, ConflictStatus::Resolved),
        (|_| Settle::Dismiss, ConflictStatus::Dismissed),
    ];
    for (how, status) in verdicts {
        let mut replies = Vec::new();
        for is_hidden in [false, true] {
            let sandbox = Sandbox::new();
            let at = sandbox.open();
            let judge = at.agent("judge");
            let hidden = is_hidden.then(|| at.put(&USER, draft_of_user_alone(SHORT)).unwrap().id);
            at.put(&judge, on_topic("wallet", SHORT)).unwrap();
            let winner = at.put(&judge, on_topic("wallet", LONG)).unwrap();
            let [known] = &list_conflicts(&at, &judge, Listed::Open)[..] else {
                panic!("one conflict");
            };
            let reply = at.settle(&judge, known.id, how(winner.id)).unwrap();
            assert_eq!(reply.status, status);
            assert!(hidden.is_none_or(|id| !reply.closed.contains(&id)));
            // For the judge, the conflict is settled, whatever else holds.
            let told = conflict_seen_by(&at, &judge, known.id);
            assert_eq!((told.status, told.settled.is_some()), (status, true));
            assert!(told.risk.is_some());
            assert_eq!(list_conflicts(&at, &judge, Listed::Open), []);
            let all = list_conflicts(&at, &judge, Listed::All);
            assert_eq!((all.len(), all[0].status), (1, status));
            assert_eq!(
                page_of_conflicts(&at, &judge, Listed::Resolved).omitted,
                None
            );
            let record = at.get(&judge, winner.id).unwrap();
            assert_eq!((record.conflicts.len(), record.figures.conflicts), (0, 0));
            let again = at.settle(&judge, known.id, how(winner.id)).unwrap();
            assert_eq!((&again.closed, again.status), (&reply.closed, status));
            // For the user and the gate it is open, once the hidden version was compared.
            assert!(!is_hidden || at.gate(Severity::High).gate == Gate::Shut);
            at.0.leave_in_order().unwrap();
            let expected = if is_hidden {
                ConflictStatus::Open
            } else {
                status
            };
            assert_eq!(conflict(&at, known.id).status, expected);
            let held = if is_hidden { Gate::Shut } else { Gate::Open };
            assert_eq!(
                (open_conflicts(&at).len(), at.gate(Severity::High).gate),
                (usize::from(is_hidden), held)
            );
            if let Some(id) = hidden {
                assert!(at.get(&USER, id).unwrap().valid_until.is_none());
                // A person's dismissal is final.
                at.settle(&USER, known.id, Settle::Dismiss).unwrap();
                assert_eq!(
                    (open_conflicts(&at), at.gate(Severity::High).gate),
                    (Vec::new(), Gate::Open)
                );
                assert_eq!(count_risks(&at), 0, "nothing reports it any more");
                at.put(&USER, on_topic("wallet", LONG)).unwrap();
                assert_eq!(open_conflicts(&at), []);
            }
            let store = Store::open_only(&sandbox.home(), ulid::Ulid::nil()).unwrap();
            assert_eq!(store.replay().unwrap().differences, Vec::<String>::new());
            replies.push((reply.status, reply.closed.len(), reply.stored.len()));
        }
        assert_eq!(replies[0], replies[1], "{status}");
    }
}

/// A conflict that a verdict uncovers is found again and reported once, however many versions the
/// verdict ends.
#[test]
fn what_a_verdict_uncovers_is_reported_once() {
    let at = Sandbox::open_new();
    let [judge, ada, bob] = ["judge", "ada", "bob"].map(|name| at.agent(name));
    at.put(&USER, draft_of_user_alone(SHORT)).unwrap();
    at.put(&ada, on_topic("wallet", SHORT)).unwrap();
    let again = Draft {
        pointers: other_evidence(),
        ..on_topic("wallet", SHORT)
    };
    at.put(&bob, again).unwrap();
    at.put(&judge, on_topic("wallet", LONG)).unwrap();
    at.0.leave_in_order().unwrap();
    let [known] = &open_conflicts(&at)[..] else {
        panic!("one, which covers the other: {:?}", open_conflicts(&at));
    };
    let before = at.journal().head;
    let reply = at.settle(&judge, known.id, Settle::Newer).unwrap();
    assert_eq!(reply.closed.len(), 2);
    assert_eq!((open_conflicts(&at).len(), count_risks(&at)), (1, 1));
    // Two versions and a report end; a conflict is found again and reported; then the verdict.
    assert_eq!(at.journal().head - before, 6);
}

/// The user undoes an agent's decision, which covered only what the agent could see, although the
/// conflict is open for the user.
#[test]
fn the_user_undoes_a_verdict_that_left_what_its_judge_could_not_see() {
    let at = Sandbox::open_new();
    let judge = at.agent("judge");
    at.put(&USER, draft_of_user_alone(SHORT)).unwrap();
    let short = at.put(&judge, on_topic("wallet", SHORT)).unwrap();
    let long = at.put(&judge, on_topic("wallet", LONG)).unwrap();
    let id = open_conflicts(&at)[0].id;
    let reply = at.settle(&judge, id, Settle::Newer).unwrap();
    assert_eq!(reply.closed, [short.id]);
    let undone = at.settle(&USER, id, Settle::Undo).unwrap();
    assert_eq!(undone.stored.len(), 1);
    assert!(
        at.get(&USER, undone.stored[0])
            .unwrap()
            .valid_until
            .is_none()
    );
    assert!(at.get(&USER, long.id).unwrap().valid_until.is_none());
    assert_eq!(
        conflict_seen_by(&at, &judge, id).status,
        ConflictStatus::Open
    );
}

/// The user's decision about a claim that nobody else sees, and its reason, are not revealed.
#[test]
fn a_reason_given_about_what_is_hidden_is_told_to_nobody_else() {
    for how in [Settle::Newer, Settle::Dismiss] {
        let at = Sandbox::open_new();
        let [ada, eve] = ["ada", "eve"].map(|name| at.agent(name));
        at.put(&USER, draft_of_user_alone(SHORT)).unwrap();
        at.put(&ada, on_topic("wallet", LONG)).unwrap();
        at.0.leave_in_order().unwrap();
        let resolve = Resolve {
            conflict: open_conflicts(&at)[0].id,
            how,
            why: Some("The board said so.".to_owned()),
        };
        at.0.ask(&USER, ask::Resolve(Box::new(resolve))).unwrap();
        let said = at.put(&eve, on_topic("wallet", SHORT)).unwrap();
        let told = format!("{said:?} {:?}", list_conflicts(&at, &eve, Listed::All));
        assert!(!told.contains("board"), "{told}");
    }
}

/// The agent repeats the user's words with other evidence, so its claim represents the side, but
/// the user's claim still holds.
#[test]
fn an_agent_dismisses_no_conflict_with_the_user_by_repeating_their_words() {
    let at = Sandbox::open_new();
    let judge = at.agent("judge");
    at.put(&USER, on_topic("wallet", SHORT)).unwrap();
    at.put(&judge, on_topic("wallet", LONG)).unwrap();
    let id = open_conflicts(&at)[0].id;
    let repeated = Draft {
        pointers: other_evidence(),
        ..on_topic("wallet", SHORT)
    };
    at.put(&judge, repeated).unwrap();
    refused(at.settle(&judge, id, Settle::Dismiss), Code::ScopeDenied);
    assert_eq!(at.gate(Severity::High).gate, Gate::Shut);
}

/// An agent's dismissal between its own claims does not apply to what the user says later.
#[test]
fn an_agents_dismissal_ends_where_the_user_says_the_same() {
    let at = Sandbox::open_new();
    let judge = at.agent("judge");
    at.put(&judge, on_topic("wallet", SHORT)).unwrap();
    at.put(&judge, on_topic("wallet", LONG)).unwrap();
    let id = open_conflicts(&at)[0].id;
    at.settle(&judge, id, Settle::Dismiss).unwrap();
    assert_eq!(at.gate(Severity::High).gate, Gate::Open);
    let said = Draft {
        pointers: other_evidence(),
        ..on_topic("wallet", SHORT)
    };
    at.put(&USER, said).unwrap();
    assert_eq!(
        (open_conflicts(&at).len(), at.gate(Severity::High).gate),
        (1, Gate::Shut)
    );
}

/// Even on the same evidence, the user's claim is separate, and no agent may dismiss or end it
/// afterwards.
#[test]
fn what_the_user_repeats_is_the_users() {
    let at = Sandbox::open_new();
    let judge = at.agent("judge");
    let short = at.put(&judge, on_topic("wallet", SHORT)).unwrap();
    let long = at.put(&judge, on_topic("wallet", LONG)).unwrap();
    let id = open_conflicts(&at)[0].id;
    at.settle(&judge, id, Settle::Dismiss).unwrap();
    let again = at.put(&USER, on_topic("wallet", SHORT)).unwrap();
    assert!(again.id != short.id && again.conflicts == 1);
    assert_eq!(
        (open_conflicts(&at).len(), at.gate(Severity::High).gate),
        (1, Gate::Shut)
    );
    for how in [Settle::Dismiss, Settle::Winner(long.id)] {
        refused(at.settle(&judge, id, how), Code::ScopeDenied);
    }
    refused(at.forget(&judge, again.id), Code::ScopeDenied);
    at.settle(&USER, id, Settle::Dismiss).unwrap();
    at.put(&USER, on_topic("wallet", SHORT)).unwrap();
    assert_eq!(
        (open_conflicts(&at), at.gate(Severity::High).gate),
        (Vec::new(), Gate::Open)
    );
}

/// When the user merges claims that everybody sees, the merged claim is for everybody, although one
/// of them was also said in a run.
#[test]
fn a_merge_is_as_visible_as_what_it_replaces() {
    let at = Sandbox::open_new();
    let [ada, bob, hid] = ["ada", "bob", "hid"].map(|name| at.agent(name));
    at.put(&ada, on_topic("wallet", SHORT)).unwrap();
    at.put(&bob, on_topic("wallet", LONG)).unwrap();
    at.put(&hid, draft_of_user_alone(LONG)).unwrap();
    at.0.leave_in_order().unwrap();
    let [found] = &open_conflicts(&at)[..] else {
        panic!("what covers is told alone: {:?}", open_conflicts(&at));
    };
    let merge = Settle::Merge("The wallet lock lasts 3 minutes, 30 under load.".to_owned());
    let reply = at.settle(&USER, found.id, merge).unwrap();
    assert_eq!((reply.closed.len(), open_conflicts(&at)), (3, Vec::new()));
    assert_eq!(at.get(&bob, reply.stored[0]).unwrap().scope, Scope::Project);
}

/// A verdict names each side by an engram that its judge sees.
#[test]
fn no_verdict_names_what_its_judge_may_not_see() {
    let at = Sandbox::open_new();
    let [ada, hid] = ["ada", "hid"].map(|name| at.agent(name));
    at.put(&ada, on_topic("wallet", SHORT)).unwrap();
    at.put(&ada, on_topic("wallet", LONG)).unwrap();
    let hidden = at.put(&hid, draft_of_user_alone(LONG)).unwrap();
    let id = list_conflicts(&at, &ada, Listed::Open)[0].id;
    let named = at.settle(&ada, id, Settle::Winner(hidden.id));
    refused(named, Code::SchemaInvalid);
    at.settle(&hid, id, Settle::Winner(hidden.id)).unwrap();
}

/// An undone dismissal hides nothing any more: neither what was dismissed with it nor what came
/// meanwhile.
#[test]
fn no_dismissal_outlasts_its_undo() {
    for is_said_before in [true, false] {
        let at = Sandbox::open_new();
        let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
        let seen = at.put(&ada, on_topic("wallet", SHORT)).unwrap();
        at.put(&bob, on_topic("wallet", LONG)).unwrap();
        if is_said_before {
            at.put(&USER, draft_of_user_alone(SHORT)).unwrap();
            at.0.leave_in_order().unwrap();
        }
        let id = open_conflicts(&at)[0].id;
        at.settle(&USER, id, Settle::Dismiss).unwrap();
        if !is_said_before {
            at.put(&USER, draft_of_user_alone(SHORT)).unwrap();
        }
        assert_eq!(
            (open_conflicts(&at), at.gate(Severity::High).gate),
            (Vec::new(), Gate::Open)
        );
        at.settle(&USER, id, Settle::Undo).unwrap();
        at.forget(&ada, seen.id).unwrap();
        at.0.leave_in_order().unwrap();
        let told = (
            open_conflicts(&at).len(),
            count_risks(&at),
            at.gate(Severity::High).gate,
        );
        assert_eq!(told, (1, 1, Gate::Shut), "said before: {is_said_before}");
    }
}
