//! How the claims and answers of agents fared.

use engram_model::{AgentRecord, Caller, Commit, ConflictId, Draft, PairVerdict, Settle, ask};

use crate::fixture::{
    Asked, LONG, SHORT, Sandbox, USER,
    agents::{agent_named, open_agent},
    draft,
};

const PORT: &str = "The relay service listens on port 8080 behind the proxy.";
const SOCKET: &str = "The relay service, behind its proxy, listens on a Unix socket.";

fn record_of(at: &Asked, name: &str) -> AgentRecord {
    let all = at.0.ask(&USER, ask::Agents).unwrap().agents;
    all.into_iter()
        .find(|it| it.handle.0 == name)
        .unwrap()
        .record
}

fn judge(at: &Asked, who: &Caller, id: ConflictId, verdict: PairVerdict) {
    at.settle(who, id, Settle::judge(verdict)).unwrap();
}

/// What follows after `bob` called two claims a contradiction, and what it means for his record.
#[test]
fn a_report_is_upheld_or_dismissed() {
    type Then = fn(&Asked, ConflictId);
    let cases: [(&str, Then, [u64; 3]); 9] = [
        ("nothing", |_, _| {}, [1, 0, 0]),
        (
            "a person says the same",
            |at, id| judge(at, &USER, id, PairVerdict::Contradicts),
            [1, 1, 0],
        ),
        (
            "a person settles it",
            |at, id| drop(at.settle(&USER, id, Settle::Newer).unwrap()),
            [1, 1, 0],
        ),
        (
            "a person undoes that",
            |at, id| {
                at.settle(&USER, id, Settle::Newer).unwrap();
                at.settle(&USER, id, Settle::Undo).unwrap();
            },
            [1, 0, 0],
        ),
        (
            "a person dismisses it",
            |at, id| drop(at.settle(&USER, id, Settle::Dismiss).unwrap()),
            [1, 0, 1],
        ),
        (
            "a person agrees first, and then dismisses it",
            |at, id| {
                judge(at, &USER, id, PairVerdict::Contradicts);
                at.settle(&USER, id, Settle::Dismiss).unwrap();
            },
            [1, 0, 1],
        ),
        (
            "bob says it again",
            |at, id| judge(at, &agent_named("bob"), id, PairVerdict::Replaces),
            [1, 0, 0],
        ),
        (
            "bob takes it back",
            |at, id| judge(at, &agent_named("bob"), id, PairVerdict::Compatible),
            [0, 0, 0],
        ),
        (
            "another agent agrees",
            |at, id| judge(at, &agent_named("eve"), id, PairVerdict::Contradicts),
            [1, 0, 0],
        ),
    ];
    for (what, then, expected) in cases {
        let at = Sandbox::open_new();
        for name in ["ada", "bob", "eve"] {
            open_agent(&at, &USER, name, None).unwrap();
        }
        at.put(&agent_named("ada"), draft(PORT)).unwrap();
        let stored = at.put(&agent_named("bob"), draft(SOCKET)).unwrap();
        let id = stored.near[0].conflict;
        assert_eq!(record_of(&at, "bob").conflicts, 0, "it is only possible");
        judge(&at, &agent_named("bob"), id, PairVerdict::Contradicts);
        then(&at, id);
        let record = record_of(&at, "bob");
        let told = [record.reported, record.upheld, record.dismissed];
        assert_eq!(told, expected, "{what}");
        assert_eq!(record_of(&at, "ada").reported, 0, "{what}");
    }
}

/// The engine's reports, which an agent's write causes, are none of its claims.
#[test]
fn claims_are_verified_and_on_sides_of_conflicts() {
    let at = Sandbox::open_new();
    for name in ["ada", "bob"] {
        open_agent(&at, &USER, name, None).unwrap();
    }
    let (ada, bob) = (agent_named("ada"), agent_named("bob"));
    at.put(&ada, draft(SHORT)).unwrap();
    let bare = Commit {
        draft: Draft {
            pointers: Vec::new(),
            ..draft("Retries use full jitter.")
        },
        ..Commit::default()
    };
    at.0.ask(&ada, ask::Commit(Box::new(bare))).unwrap();
    let stored = at.put(&bob, draft(LONG)).unwrap();
    let told = |name| {
        let record = record_of(&at, name);
        [
            record.claims,
            record.verified,
            record.conflicts,
            record.settled,
        ]
    };
    assert_eq!([told("ada"), told("bob")], [[2, 1, 1, 0], [1, 1, 1, 0]]);
    let id = stored.findings[0].conflict.unwrap();
    at.settle(&USER, id, Settle::Newer).unwrap();
    assert_eq!([told("ada"), told("bob")], [[2, 1, 1, 1], [1, 1, 1, 1]]);
    assert_eq!(record_of(&at, "bob").reported, 0, "a rule found it");
}
