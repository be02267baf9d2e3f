//! Series: one author gives many values for one thing. Leaving some out hides no contradiction.

use engram_model::{
    Caller, Draft, EngramId, FactType, Gate, PutReply, Scope, Settle, Severity, ask,
};

use crate::fixture::{
    Asked, LONG, SHORT, Sandbox, USER,
    conflicts::{count_due, open_conflicts},
    on_topic, other_evidence, with_other_evidence,
};

fn value_draft(number: usize) -> Draft {
    let claim = format!("The payment timeout is {number} seconds.");
    on_topic("payments", &claim)
}

fn value_in_run(number: usize) -> Draft {
    Draft {
        scope: Some(Scope::Run),
        ..value_draft(number)
    }
}

/// Stores each of these, some time after the previous one.
fn say(sandbox: &Sandbox, at: &Asked, who: &Caller, drafts: Vec<Draft>) -> Vec<EngramId> {
    let said = drafts.into_iter().map(|draft| {
        sandbox.clock.turn(120);
        let reply = at.put(who, draft).unwrap();
        at.0.leave_in_order().unwrap();
        reply.id
    });
    said.collect()
}

fn forget(sandbox: &Sandbox, at: &Asked, who: &Caller, all: &[EngramId]) {
    for id in all {
        sandbox.clock.turn(120);
        at.forget(who, *id).unwrap();
    }
    compare_all(at);
}

fn compare_all(at: &Asked) {
    for _ in 0..100 {
        if count_due(at, &USER) == 0 {
            return;
        }
        at.0.leave_in_order().unwrap();
    }
    panic!("{} are due for ever", count_due(at, &USER));
}

fn gate(at: &Asked) -> Gate {
    at.gate(Severity::Low).gate
}

/// Whether these two are the sides of an open conflict.
fn is_open(at: &Asked, one: EngramId, other: EngramId) -> bool {
    let sides = |it: &engram_model::Conflict| [it.a.id, it.b.id];
    open_conflicts(at)
        .iter()
        .any(|it| sides(it).contains(&one) && sides(it).contains(&other))
}

/// More claims of runs contradict the user's than one step raises; a claim that everybody sees is
/// older.
#[test]
fn claims_of_a_run_hide_no_contradiction_that_everybody_sees() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let ada = at.agent("ada");
    let shared = say(&sandbox, &at, &ada, vec![value_draft(5)])[0];
    let children: Vec<Caller> = (0..42).map(|n| at.agent(&format!("child-{n}"))).collect();
    // Each is alone in its run.
    for (number, child) in children.iter().enumerate() {
        say(&sandbox, &at, child, vec![value_in_run(100 + number)]);
    }
    let users = at.put(&USER, value_draft(9)).unwrap();
    compare_all(&at);
    assert!(
        is_open(&at, shared, users.id),
        "{:#?}",
        open_conflicts(&at).len()
    );
    assert_eq!(gate(&at), Gate::Shut);
}

/// An agent repeats the user's words, with a higher severity, before it gives other values.
#[test]
fn a_repetition_takes_no_side_from_the_user() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
    let inferred = |draft| Draft {
        fact_type: Some(FactType::Inference),
        ..draft
    };
    let users = say(&sandbox, &at, &USER, vec![inferred(value_draft(9))])[0];
    let observed = Draft {
        fact_type: Some(FactType::Observation),
        ..with_other_evidence(value_draft(9))
    };
    let mut said = say(&sandbox, &at, &ada, vec![observed]);
    said.extend(say(
        &sandbox,
        &at,
        &ada,
        (20..37).map(value_draft).collect(),
    ));
    let bobs = at.put(&bob, inferred(value_draft(7))).unwrap().id;
    compare_all(&at);
    forget(&sandbox, &at, &ada, &said);
    assert!(is_open(&at, users, bobs));
    assert_eq!(gate(&at), Gate::Shut);
}

/// The last value of a series represents the others as long as it holds.
#[test]
fn what_a_value_stood_for_is_compared_once_that_ends() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let ada = at.agent("ada");
    let said = say(
        &sandbox,
        &at,
        &ada,
        (0..20).map(|n| value_draft(10 + n)).collect(),
    );
    let users = at.put(&USER, value_draft(9)).unwrap();
    compare_all(&at);
    assert!(is_open(&at, said[19], users.id));
    assert!(
        !is_open(&at, said[0], users.id),
        "the claim counts as a value of a series"
    );
    for left in (0..20).rev() {
        forget(&sandbox, &at, &ada, &said[left..=left]);
        assert_eq!(gate(&at) == Gate::Shut, left > 0, "{left} are left");
    }
}

/// A value with a ttl does not represent one that holds longer.
#[test]
fn a_value_that_ends_by_itself_hides_none_that_lasts() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let ada = at.agent("ada");
    let said = say(
        &sandbox,
        &at,
        &ada,
        (0..18).map(|n| value_draft(10 + n)).collect(),
    );
    let short = Draft {
        ttl: Some("PT2H".parse().unwrap()),
        ..value_draft(100)
    };
    say(&sandbox, &at, &ada, vec![short]);
    let users = at.put(&USER, value_draft(9)).unwrap();
    compare_all(&at);
    sandbox.clock.turn(3 * 3_600);
    assert!(
        is_open(&at, said[17], users.id),
        "{:#?}",
        open_conflicts(&at)
    );
    assert_eq!(gate(&at), Gate::Shut);
}

/// A contradicting claim in a topic that the author may not read is found in the background.
#[test]
fn what_a_topic_hides_from_its_author_is_compared_all_the_same() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let opening = engram_model::Opening {
        name: "writer".to_owned(),
        read: vec!["gateway".to_owned()],
        write: vec!["payments".to_owned()],
        ..Default::default()
    };
    let writer = at.0.ask(&USER, ask::OpenAgent(opening)).unwrap().agent;
    let users = say(&sandbox, &at, &USER, vec![value_draft(9)])[0];
    let reply: PutReply = at.put(&Caller::Agent(writer), value_draft(7)).unwrap();
    assert_eq!((reply.conflicts, reply.due), (0, 0));
    compare_all(&at);
    assert!(is_open(&at, users, reply.id));
}

/// A severe conflict stays severe, even if another says the same less firmly.
#[test]
fn a_conflict_becomes_no_milder_by_another_voice() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let ada = at.agent("ada");
    let lasting = |fact_type, draft| Draft {
        fact_type: Some(fact_type),
        ..draft
    };
    let users = Draft {
        ttl: Some("P7D".parse().unwrap()),
        ..lasting(FactType::Observation, value_draft(5))
    };
    say(&sandbox, &at, &USER, vec![users]);
    say(
        &sandbox,
        &at,
        &ada,
        vec![lasting(FactType::Inference, value_draft(9))],
    );
    let before = open_conflicts(&at)[0].severity;
    say(
        &sandbox,
        &at,
        &ada,
        vec![with_other_evidence(lasting(
            FactType::Inference,
            value_draft(5),
        ))],
    );
    assert_eq!(open_conflicts(&at)[0].severity, before);
    assert_eq!(at.gate(before).gate, Gate::Shut);
}

/// A person who dismissed a conflict for one run dismissed it for every later run. Undoing that
/// finds the conflicts again.
#[test]
fn what_a_person_dismissed_for_a_run_no_run_raises_again() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    say(&sandbox, &at, &USER, vec![value_draft(5)]);
    let one = at.agent("one");
    say(&sandbox, &at, &one, vec![value_in_run(9)]);
    let [known] = &open_conflicts(&at)[..] else {
        panic!("one conflict");
    };
    at.settle(&USER, known.id, Settle::Dismiss).unwrap();
    for name in ["two", "three"] {
        say(&sandbox, &at, &at.agent(name), vec![value_in_run(9)]);
    }
    assert_eq!((open_conflicts(&at), gate(&at)), (Vec::new(), Gate::Open));
    at.settle(&USER, known.id, Settle::Undo).unwrap();
    compare_all(&at);
    assert_eq!((open_conflicts(&at).len(), gate(&at)), (3, Gate::Shut));
}

/// Mild values after a severe one do not represent it.
#[test]
fn mild_values_hide_no_severe_one() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let [mal, zed] = ["mal", "zed"].map(|name| at.agent(name));
    let inferred = |number| Draft {
        fact_type: Some(FactType::Inference),
        ..value_draft(number)
    };
    let severe = say(&sandbox, &at, &mal, vec![value_draft(9)])[0];
    say(&sandbox, &at, &mal, (100..117).map(inferred).collect());
    compare_all(&at);
    for one in open_conflicts(&at) {
        sandbox.clock.turn(120);
        at.settle(&zed, one.id, Settle::Dismiss).unwrap();
    }
    let users = at.put(&USER, inferred(5_000)).unwrap().id;
    compare_all(&at);
    assert!(is_open(&at, severe, users));
    assert_eq!(at.gate(Severity::High).gate, Gate::Shut);
}

/// Up to seventeen values all contradict one another; beyond that, each new one contradicts only
/// the last.
#[test]
fn the_values_of_a_series_are_not_all_held_against_each_other() {
    let at = Sandbox::open_new();
    let value = |number: u32| on_topic("gateway", &format!("The retry limit is {number}."));
    let mut said = Vec::new();
    for number in 0..40_usize {
        let reply = at.put(&USER, value(number as u32)).unwrap();
        let expected = if number <= 16 { number } else { 1 };
        let told = (reply.conflicts, reply.conflicts + reply.due);
        let expected = expected as u64;
        // Beyond 32 values, older ones are read in the background.
        let left = u64::from(number > 32);
        assert_eq!(told, (expected.min(5), expected + left), "value {number}");
        at.0.leave_in_order().unwrap();
        if number > 16 {
            assert_eq!(
                reply.findings[0].id,
                said[number - 1],
                "with the last value"
            );
        }
        said.push(reply.id);
    }
    let found = 17 * 16 / 2 + 23;
    assert_eq!(open_conflicts(&at).len(), found);
    // Repeating one of them returns its known conflicts, and the one with the last value.
    let again = Draft {
        pointers: other_evidence(),
        ..value(20)
    };
    let again = at.put(&at.agent("bob"), again).unwrap();
    assert_eq!((again.conflicts, open_conflicts(&at).len()), (3, found + 1));
    // Another subject in the same words, in another topic, is not part of the series.
    at.put(&USER, on_topic("wallet", SHORT)).unwrap();
    let both = format!("{LONG} The retry limit is 99.");
    let reply = at.put(&at.agent("eve"), on_topic("wallet", &both)).unwrap();
    assert_eq!(reply.conflicts, 1, "{reply:?}");
    // Once few of them hold, all are compared again.
    for id in &said[8..] {
        at.forget(&USER, *id).unwrap();
    }
    let reply = at.put(&USER, value(100)).unwrap();
    assert_eq!(reply.conflicts + reply.due, 8 + 1);
}
