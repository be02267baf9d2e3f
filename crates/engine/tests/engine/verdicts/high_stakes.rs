//! Possible conflicts on topics of high stakes, and the agents that are asked about them.

use engram_model::{
    Caller, Code, ConflictId, ConflictStatus, Draft, Listed, PairVerdict, Settle, Tier,
};

use crate::fixture::{
    Asked, Sandbox, USER,
    agents::{agent_named, open_agent},
    conflicts::list_conflicts,
    on_topic, refused,
};

const PORT: &str = "The relay service listens on port 8080 behind the proxy.";
/// Contradicts it in other words, which no rule decides.
const SOCKET: &str = "The relay service, behind its proxy, listens on a Unix socket.";

fn on_net(claim: &str) -> Draft {
    on_topic("net/relay", claim)
}

/// A home where `ada` stored one claim, and `bob`, a child of `lead`, another one near it; returns
/// the possible conflict.
fn open_with(sandbox: &Sandbox, config: &str) -> (Asked, ConflictId) {
    std::fs::create_dir_all(sandbox.home()).unwrap();
    std::fs::write(sandbox.home().join("config.toml"), config).unwrap();
    let at = sandbox.open();
    for (name, parent) in [
        ("ada", None),
        ("lead", None),
        ("bob", Some("lead")),
        ("eve", None),
        ("max", None),
    ] {
        open_agent(&at, &USER, name, parent).unwrap();
    }
    at.put(&agent_named("ada"), on_net(PORT)).unwrap();
    let stored = at.put(&agent_named("bob"), on_net(SOCKET)).unwrap();
    (at, stored.near[0].conflict)
}

/// The pair about which a query asks its caller.
fn asked(at: &Asked, who: &Caller) -> Option<ConflictId> {
    let found = at.query(who, "where does the relay service listen");
    assert_eq!(found.engrams.len(), 2);
    let pair = found.near?;
    assert_eq!(pair.claims, [PORT, SOCKET]);
    assert_eq!(pair.by, ["ada", "bob"]);
    Some(pair.conflict)
}

#[test]
fn only_pairs_on_such_topics_are_asked_about() {
    for (config, is_asked) in [
        ("", false),
        ("[consistency]\nhigh_stakes = []\n", false),
        ("[consistency]\nhigh_stakes = [\"pay\", \"ne\"]\n", false),
        ("[consistency]\nhigh_stakes = [\"pay\", \"net\"]\n", true),
        ("[consistency]\nhigh_stakes = [\"/net/relay/\"]\n", true),
        ("[consistency]\nhigh_stakes = [\"\"]\n", true),
    ] {
        let sandbox = Sandbox::new();
        let (at, id) = open_with(&sandbox, config);
        let found = asked(&at, &agent_named("eve"));
        assert_eq!(found, Some(id).filter(|_| is_asked), "{config}");
    }
}

/// A pair that is a little too far apart for other topics.
#[test]
fn less_nearness_is_enough_on_such_topics() {
    for (config, is_proposed) in [("", false), (NET, true)] {
        let sandbox = Sandbox::new();
        let (at, _) = open_with(&sandbox, config);
        let ada = agent_named("ada");
        at.put(
            &ada,
            on_net("Leases of the janitor end after a minute of silence."),
        )
        .unwrap();
        let far = "When a worker is silent, its leases are taken over by another.";
        let near = at.put(&agent_named("eve"), on_net(far)).unwrap().near;
        assert_eq!(!near.is_empty(), is_proposed, "{config}");
    }
}

const NET: &str = "[consistency]\nhigh_stakes = [\"net\"]\n";

/// Each agent once, and nobody of a run that wrote a side.
#[test]
fn an_agent_that_wrote_neither_side_is_asked_once() {
    let sandbox = Sandbox::new();
    let (at, id) = open_with(&sandbox, NET);
    for name in ["ada", "bob", "lead"] {
        assert_eq!(asked(&at, &agent_named(name)), None, "{name}");
    }
    assert_eq!(asked(&at, &USER), None);
    let eve = agent_named("eve");
    let judge = |who: &Caller, verdict| at.settle(who, id, Settle::judge(verdict));
    refused(judge(&eve, PairVerdict::Same), Code::NotFound);
    for who in [eve.clone(), agent_named("max"), at.agent("joe")] {
        assert_eq!(asked(&at, &who), Some(id));
        assert_eq!(asked(&at, &who), None, "it was asked before");
    }
    // As a question is recorded with the next write, it is known in another process too.
    at.put(&eve, on_net("Retries use full jitter.")).unwrap();
    drop(at);
    let at = sandbox.open();
    assert_eq!(asked(&at, &eve), None);
    let judge = |who: &Caller, verdict| at.settle(who, id, Settle::judge(verdict));
    judge(&eve, PairVerdict::Compatible).unwrap();
    // It was answered.
    open_agent(&at, &USER, "kim", None).unwrap();
    assert_eq!(asked(&at, &agent_named("kim")), None);
    refused(
        judge(&agent_named("kim"), PairVerdict::Contradicts),
        Code::NotFound,
    );
}

/// Its word has the weight of an author's; after an author's, that of another agent.
#[test]
fn what_an_asked_agent_says_counts() {
    for (is_said, has_report) in [(false, false), (true, true)] {
        let sandbox = Sandbox::new();
        let (at, id) = open_with(&sandbox, NET);
        let (bob, eve) = (agent_named("bob"), agent_named("eve"));
        assert_eq!(asked(&at, &eve), Some(id));
        let judge = |who: &Caller| at.settle(who, id, Settle::judge(PairVerdict::Contradicts));
        if is_said {
            judge(&bob).unwrap();
        }
        assert_eq!(judge(&eve).unwrap().status, ConflictStatus::Open);
        let open = list_conflicts(&at, &USER, Listed::Open);
        assert_eq!((open.len(), open[0].tier), (1, Tier::Agent));
        assert_eq!(open[0].risk.is_some(), has_report);
        assert_eq!(asked(&at, &agent_named("max")), None, "it is a conflict");
    }
}

/// What would not fit beside the question is left to a person.
#[test]
fn long_claims_are_not_asked_about() {
    let sandbox = Sandbox::new();
    let (at, _) = open_with(&sandbox, NET);
    let long = |place: &str| {
        on_topic(
            "net",
            &format!(
                "The {place} turbine of the gateway keeps every message of a closed session in its spool until the janitor has read the journal, the list of its peers and the table of leases, and only then frees the disk of the gateway for the next session."
            ),
        )
    };
    at.put(&agent_named("ada"), long("northern")).unwrap();
    let stored = at.put(&agent_named("bob"), long("southern")).unwrap();
    assert_eq!(stored.near.len(), 1, "{stored:?}");
    let found = at.query(&agent_named("eve"), "what does the turbine keep");
    assert_eq!((found.engrams.len(), found.near), (2, None));
}
