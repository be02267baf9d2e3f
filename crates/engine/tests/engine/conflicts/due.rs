//! Due comparisons: those that a write left, that were cut short, or that could not be read. No
//! version counts as compared before it was.

use engram_model::{
    Code, ConflictFilter, ConflictStatus, Draft, Gate, Kind, MemoryOp, Query, Severity, ask,
};
use serde_json::json;

use crate::fixture::{
    Asked, LONG, POINTER, REINDEX, SHORT, Sandbox, USER,
    conflicts::{count_due, open_conflicts},
    messages::{engram, report},
    on_topic, query, refused,
};

fn gate(at: &Asked) -> (Gate, u64) {
    let gate = at.gate(Severity::High);
    (gate.gate, gate.due)
}

/// One of many claims that each contradict [`SHORT`] but not one another.
fn lasting_draft(number: usize) -> Draft {
    let claim = format!("The wallet lock lasts {} minutes.", 10 + number);
    on_topic("wallet", &claim)
}

#[test]
fn a_write_raises_five_conflicts_and_the_others_are_due() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    for number in 0..8 {
        at.put(&at.agent(&format!("agent-{number}")), lasting_draft(number))
            .unwrap();
        at.0.leave_in_order().unwrap();
    }
    let users = at.put(&USER, lasting_draft(8)).unwrap();
    at.0.leave_in_order().unwrap();
    let before = open_conflicts(&at).len();
    let ada = at.agent("ada");
    let said = at.put(&ada, on_topic("wallet", SHORT)).unwrap();
    assert_eq!((said.conflicts, said.due), (5, 4));
    let first = said.findings.iter().find(|it| it.conflict.is_some());
    assert_eq!(
        first.map(|it| it.id),
        Some(users.id),
        "the user's come first"
    );
    assert_eq!((count_due(&at, &USER), count_due(&at, &ada)), (4, 4));
    assert_eq!(
        count_due(&at, &at.agent("eve")),
        0,
        "other agents' claims are not reported"
    );
    assert_eq!(gate(&at), (Gate::Shut, 4));
    // They survive the process, and another process makes them in the background.
    let at = sandbox.open_at("repo", 9);
    assert_eq!(count_due(&at, &USER), 4);
    at.0.leave_in_order().unwrap();
    assert_eq!(
        (count_due(&at, &USER), open_conflicts(&at).len()),
        (0, before + 9)
    );
}

/// The user's contradiction is older than many versions that ended, and than many that hold.
#[test]
fn nothing_is_pushed_out_of_the_comparison() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let users = at.put(&USER, on_topic("wallet", SHORT)).unwrap();
    at.0.leave_in_order().unwrap();
    let flood = at.agent("flood");
    let mut last = None;
    for number in 0..200 {
        sandbox.clock.turn(120);
        let draft = Draft {
            operation: last.map(|_| MemoryOp::Update),
            corrects_lineage: last.map(|id: engram_model::EngramId| id.to_string()),
            ..on_topic(
                "wallet",
                &format!("The wallet lock is kept in table {number}."),
            )
        };
        let said = at.put(&flood, draft).unwrap();
        last = last.or(Some(said.id));
    }
    at.0.doctor(REINDEX).unwrap();
    let said = at.put(&at.agent("ada"), on_topic("wallet", LONG)).unwrap();
    assert!(said.findings.iter().any(|it| it.id == users.id), "{said:?}");
}

/// The contradiction is older than more holding claims than one write examines. If it is an
/// agent's, it is found in the background.
#[test]
fn what_lies_under_many_that_hold_is_compared_in_the_end() {
    for is_users in [true, false] {
        let sandbox = Sandbox::new();
        let at = sandbox.open();
        let first = if is_users { USER } else { at.agent("first") };
        let old = at.put(&first, on_topic("wallet", SHORT)).unwrap();
        let flood = at.agent("flood");
        for number in 0..150 {
            sandbox.clock.turn(120);
            let claim = format!("The wallet lock in service S{number} is named lock_{number}_of.");
            at.put(&flood, on_topic("wallet", &claim)).unwrap();
        }
        at.0.doctor(REINDEX).unwrap();
        while count_due(&at, &USER) > 0 {
            at.0.leave_in_order().unwrap();
        }
        let ada = at.agent("ada");
        let said = at.put(&ada, on_topic("wallet", LONG)).unwrap();
        let is_told = said.findings.iter().any(|it| it.id == old.id);
        assert!(is_told || count_due(&at, &USER) > 0, "{said:?}");
        assert!(is_told || !is_users, "the user's are compared first");
        at.0.leave_in_order().unwrap();
        let known = open_conflicts(&at);
        let is_found = known
            .iter()
            .any(|it| it.a.id == old.id && it.b.id == said.id);
        assert!(is_found, "{known:?}");
    }
}

/// The new claim counts as a value of a series, because so many other claims give other values. A
/// claim older than those is found in the end, and the gate is shut until then.
#[test]
fn a_series_of_strangers_hides_no_claim() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let value = |number: usize| {
        on_topic(
            "net/http",
            &format!("The retry limit is {number} attempts."),
        )
    };
    let old = at.put(&at.agent("ada"), value(3)).unwrap();
    for number in 0..34 {
        sandbox.clock.turn(120);
        let stranger = at.agent(["one", "two"][number % 2]);
        at.put(&stranger, value(100 + number)).unwrap();
        at.0.leave_in_order().unwrap();
    }
    while count_due(&at, &USER) > 0 {
        at.0.leave_in_order().unwrap();
    }
    let said = at.put(&USER, value(5)).unwrap();
    let is_told = said.findings.iter().any(|it| it.id == old.id);
    assert!(is_told || said.due > 0, "{said:?}");
    while count_due(&at, &USER) > 0 {
        at.0.leave_in_order().unwrap();
    }
    let known = open_conflicts(&at);
    let is_found = known
        .iter()
        .any(|it| it.a.id == old.id && it.b.id == said.id);
    assert!(is_found, "{known:?}");
}

/// A version to compare with cannot be read: the claim is stored, and its comparison is due until
/// that version can be read.
#[test]
fn an_error_is_not_taken_for_nothing_found() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    at.put(&at.agent("ada"), on_topic("wallet", SHORT)).unwrap();
    at.0.leave_in_order().unwrap();
    drop(at);
    sandbox.damage("\"confidence\"", "\"confidenze\"");
    let at = sandbox.open_at("repo", 5);
    let said = at.put(&at.agent("bob"), on_topic("wallet", LONG)).unwrap();
    assert_eq!((said.conflicts, count_due(&at, &USER)), (0, 1));
    at.0.leave_in_order().unwrap();
    assert_eq!((count_due(&at, &USER), gate(&at)), (1, (Gate::Shut, 1)));
    drop(at);
    sandbox.damage("\"confidenze\"", "\"confidence\"");
    let at = sandbox.open_at("repo", 6);
    at.0.leave_in_order().unwrap();
    assert_eq!((count_due(&at, &USER), open_conflicts(&at).len()), (0, 1));
}

#[test]
fn a_list_is_read_in_pages() {
    let at = Sandbox::open_new();
    for number in 0..6 {
        let topic = format!("area-{}", number % 3);
        at.put(
            &USER,
            on_topic(&topic, &format!("PORT is {}.", 8000 + number)),
        )
        .unwrap();
        at.0.leave_in_order().unwrap();
    }
    let all = open_conflicts(&at);
    assert!(all.len() > 2, "{all:?}");
    let page = |after: Option<String>| {
        let filter = ConflictFilter {
            limit: Some(2),
            after,
            ..ConflictFilter::default()
        };
        at.0.ask(&USER, ask::Conflicts(filter))
    };
    let mut read = Vec::new();
    let mut next = None;
    loop {
        let found = page(next).unwrap();
        assert_eq!(found.open, all.len() as u64);
        read.extend(found.conflicts);
        let left = (all.len() - read.len()) as u64;
        assert_eq!(found.omitted, Some(left).filter(|left| *left > 0));
        next = found.next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(read, all);
    assert!(all.iter().all(|one| one.status == ConflictStatus::Open));
    for limit in [0, 201] {
        let filter = ConflictFilter {
            limit: Some(limit),
            ..ConflictFilter::default()
        };
        refused(at.0.ask(&USER, ask::Conflicts(filter)), Code::SchemaInvalid);
    }
    for wrong in ["", "x", "high", "high.high.1", "high.high.x.y.z", "ä.."] {
        refused(page(Some(wrong.to_owned())), Code::SchemaInvalid);
    }
}

/// A message is one write: it raises five conflicts and reports each once, however often it repeats
/// a claim.
#[test]
fn a_message_raises_five_conflicts_and_reports_each_once() {
    let engine = Sandbox::open_new();
    let lead = engine.agent_in_role("lead", "architect", None);
    let ada = engine.agent_in_role("ada", "programmer", Some(&lead));
    for number in 0..4 {
        let claim = format!("The wallet lock lasts {} minutes.", 10 + number);
        engine.put(&USER, on_topic("wallet", &claim)).unwrap();
        engine.0.leave_in_order().unwrap();
    }
    let before = open_conflicts(&engine).len();
    let about = |claim: &str, pointer: &str| {
        let mut engram = engram(claim);
        engram["topic"] = json!("wallet");
        engram["pointers"] = json!([pointer]);
        engram
    };
    let twins = [
        about(SHORT, POINTER),
        about(SHORT, "repo:README.md@HEAD"),
        about("The wallet lock lasts 50 minutes.", POINTER),
        about("The wallet lock lasts 60 minutes.", POINTER),
    ];
    engine.send(&ada, report(twins.to_vec(), "Four.")).unwrap();
    let known = open_conflicts(&engine);
    assert_eq!(known.len(), before + 5, "one write raises five");
    assert!(count_due(&engine, &USER) > 0);
    engine.0.leave_in_order().unwrap();
    let known = open_conflicts(&engine);
    assert_eq!(count_due(&engine, &USER), 0);
    let asked = Query {
        kind: Some(Kind::Risk),
        k: Some(50),
        ..query("claims contradict each other")
    };
    let risks = engine.ask(&USER, asked).unwrap().engrams;
    assert_eq!(risks.len(), known.len(), "each is reported once");
}
