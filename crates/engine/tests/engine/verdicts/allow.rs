//! Conflicts that the user lets pass the gate.

use engram_model::{
    Allow, Change, Code, Conflict, ConflictId, ConflictStatus, Draft, FactType, GateCheck, Refusal,
    Settle, Severity, ask,
};

use crate::fixture::{
    Asked, LONG, SHORT, Sandbox, USER,
    conflicts::{conflict, contradict, open_conflicts},
    on_topic, other_evidence, refused,
};

fn allow(at: &Asked, conflict: ConflictId, undo: bool) -> Result<Box<Conflict>, Refusal> {
    let why = if undo {
        String::new()
    } else {
        "It is known.".to_owned()
    };
    let allow = Allow {
        conflict,
        why,
        undo,
    };
    at.0.ask(&USER, ask::Allow(allow))
}

#[test]
fn an_allowance_is_taken_back_and_no_older_verdict_with_it() {
    let at = Sandbox::open_new();
    let (id, ..) = contradict(&at);
    at.settle(&USER, id, Settle::Dismiss).unwrap();
    at.settle(&USER, id, Settle::Undo).unwrap();
    let gate = || at.0.ask(&USER, ask::Gate(GateCheck::default())).unwrap();
    assert_eq!(gate().blocking, [id]);
    assert!(allow(&at, id, false).unwrap().allowed.is_some());
    assert_eq!(gate().blocking, []);
    // This does not undo an older undo.
    let said = refused(at.settle(&USER, id, Settle::Undo), Code::NotFound);
    assert!(
        said.hint.contains("make it block the gate again"),
        "{said:?}"
    );

    let before = at.journal().entries.len();
    let told = allow(&at, id, true).unwrap();
    assert_eq!((told.status, told.allowed), (ConflictStatus::Open, None));
    assert_eq!(gate().blocking, [id]);
    // Withdrawing twice is the same as once.
    assert_eq!(allow(&at, id, true).unwrap().allowed, None);
    let entries = at.journal().entries;
    assert_eq!(entries.len(), before + 1);
    assert!(
        entries.iter().any(|it| it.change == Change::Disallowed(id)),
        "{entries:?}"
    );
    assert!(allow(&at, id, false).unwrap().allowed.is_some());
}

/// Two inferences disagree and are allowed; then one of them is observed.
#[test]
fn an_allowance_holds_for_the_severity_that_was_known() {
    let at = Sandbox::open_new();
    let inferred = |claim| Draft {
        fact_type: Some(FactType::Inference),
        ..on_topic("wallet", claim)
    };
    at.put(&at.agent("ada"), inferred(SHORT)).unwrap();
    at.put(&at.agent("bob"), inferred(LONG)).unwrap();
    let gate = |severity| {
        let check = GateCheck { severity };
        at.0.ask(&USER, ask::Gate(check)).unwrap().blocking
    };
    let [found] = &open_conflicts(&at)[..] else {
        panic!("they contradict each other");
    };
    let id = found.id;
    assert_eq!(found.severity, Severity::Medium);
    assert!(allow(&at, id, false).unwrap().allowed.is_some());
    assert_eq!(gate(Severity::Low), []);

    let seen = Draft {
        pointers: other_evidence(),
        ..on_topic("wallet", LONG)
    };
    at.put(&at.agent("eve"), seen).unwrap();
    let worse = conflict(&at, id);
    assert_eq!((worse.severity, worse.allowed), (Severity::High, None));
    assert_eq!(gate(Severity::High), [id]);
    // It is allowed again, with its current severity.
    assert!(allow(&at, id, false).unwrap().allowed.is_some());
    assert_eq!(gate(Severity::Low), []);
}
