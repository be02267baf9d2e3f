//! What the author of a claim says, together with it, of claims that it was shown before.

use std::collections::BTreeMap;

use engram_model::{
    Caller, Code, Commit, ConflictStatus, Draft, EngramId, Listed, MemoryOp, PairVerdict, PutReply,
    Refusal, Scope, Tier, ask,
};

use crate::fixture::{
    Asked, Sandbox, USER,
    agents::{agent_named, open_agent},
    conflicts::list_conflicts,
    draft, refused, scoped_draft,
};

const PORT: &str = "The relay service listens on port 8080 behind the proxy.";
/// Contradicts it in other words, which no rule decides.
const SOCKET: &str = "The relay service, behind its proxy, listens on a Unix socket.";
/// Contradicts it too, but shares too few words to be near.
const FAR: &str = "Nothing but local files is opened for incoming traffic.";

fn commit(
    at: &Asked,
    who: &Caller,
    draft: Draft,
    beside: &[(&str, PairVerdict)],
) -> Result<PutReply, Refusal> {
    let beside = beside.iter().map(|it| (it.0.to_owned(), it.1));
    let commit = Commit {
        draft,
        beside: beside.collect::<BTreeMap<_, _>>(),
        ..Commit::default()
    };
    at.0.ask(who, ask::Commit(Box::new(commit)))
}

/// `ada` stored a claim, which `bob` read; returns its id.
fn read_by_bob(at: &Asked) -> EngramId {
    for name in ["ada", "bob", "eve"] {
        open_agent(at, &USER, name, None).unwrap();
    }
    let stored = at.put(&agent_named("ada"), draft(PORT)).unwrap();
    let found = at.query(&agent_named("bob"), "where does the relay listen");
    assert_eq!(found.engrams[0].id, stored.id);
    stored.id
}

fn is_sound(at: &Asked) -> bool {
    let replay = engram_engine::Treatment {
        replay: true,
        ..crate::fixture::REINDEX
    };
    at.0.doctor(replay).unwrap().ok
}

/// The same follows as from a second call, near or not.
#[test]
fn a_commit_answers_for_what_its_author_read() {
    use PairVerdict::{Contradicts, Replaces, Same};
    for (claim, verdict, open, repeated) in [
        (SOCKET, Contradicts, 1, 0),
        (FAR, Contradicts, 1, 0),
        // The other claim is not bob's to end.
        (SOCKET, Replaces, 1, 0),
        (SOCKET, Same, 0, 1),
    ] {
        let at = Sandbox::open_new();
        let id = read_by_bob(&at);
        let bob = agent_named("bob");
        let answers = [(&*id.to_string(), verdict)];
        let stored = commit(&at, &bob, draft(claim), &answers).unwrap();
        assert_eq!(
            (stored.conflicts, stored.near.len()),
            (open, 0),
            "{stored:?}"
        );
        let status = [Listed::Possible, Listed::Open][open as usize];
        let listed = list_conflicts(&at, &USER, status);
        let told: Vec<_> = listed
            .iter()
            .map(|it| (it.a.id, it.b.id, it.tier))
            .collect();
        assert_eq!(told, [(id, stored.id, Tier::Agent)], "{claim} {verdict}");
        let judged: Vec<_> = listed[0]
            .judged
            .iter()
            .map(|it| (&*it.by, it.verdict))
            .collect();
        assert_eq!(judged, [("bob", verdict)]);
        assert_eq!(listed[0].risk, None, "it rests on one agent's word");
        let record = at.get(&USER, id).unwrap();
        assert_eq!(record.figures.corroborations, repeated);
        assert!(is_sound(&at));
    }
}

/// By the key under which an earlier reply showed it, and for several at once.
#[test]
fn a_key_and_an_id_answer_in_one_commit() {
    let at = Sandbox::open_new();
    let id = read_by_bob(&at);
    let (bob, eve) = (agent_named("bob"), agent_named("eve"));
    let stored = commit(&at, &bob, draft(SOCKET), &[]).unwrap();
    let key = stored.near[0].conflict.to_string()[22..].to_lowercase();
    let other = at
        .put(&eve, draft("Retries use full jitter."))
        .unwrap()
        .id
        .to_string();
    at.query(&bob, "what do retries use");
    let answers = [
        (&*key, PairVerdict::Contradicts),
        (&*other, PairVerdict::Contradicts),
    ];
    let stored = commit(&at, &bob, draft(FAR), &answers).unwrap();
    assert_eq!(stored.conflicts, 2, "{stored:?}");
    let mut against: Vec<_> = list_conflicts(&at, &USER, Listed::Open)
        .iter()
        .map(|it| it.a.id)
        .collect();
    against.sort_unstable();
    let mut expected = [id, other.parse().unwrap()];
    expected.sort_unstable();
    assert_eq!(against, expected);
}

/// A parent may end what its child said, and then its claim is all that is left.
#[test]
fn a_parents_claim_replaces_its_childs_in_the_commit() {
    let at = Sandbox::open_new();
    open_agent(&at, &USER, "lead", None).unwrap();
    open_agent(&at, &USER, "kid", Some("lead")).unwrap();
    let lead = agent_named("lead");
    let old = at.put(&agent_named("kid"), draft(PORT)).unwrap().id;
    at.query(&lead, "where does the relay listen");
    let answers = [(&*old.to_string(), PairVerdict::Replaces)];
    let stored = commit(&at, &lead, draft(FAR), &answers).unwrap();
    assert_eq!(stored.conflicts, 0);
    assert!(at.get(&USER, old).unwrap().valid_until.is_some());
    let settled = list_conflicts(&at, &USER, Listed::Resolved);
    assert_eq!(settled[0].status, ConflictStatus::Resolved);
    assert!(is_sound(&at));
}

/// A word on what its author was not shown, or may not judge, stores nothing: not even the claim.
#[test]
fn what_cannot_be_judged_stores_nothing() {
    use PairVerdict::{Contradicts, Unclear};
    let at = Sandbox::open_new();
    let id = read_by_bob(&at);
    let (ada, bob, eve) = (agent_named("ada"), agent_named("bob"), agent_named("eve"));
    let own = at.put(&bob, draft("Retries use full jitter.")).unwrap().id;
    let unread = at
        .put(&ada, draft("Leases are renewed each minute."))
        .unwrap()
        .id;
    let hidden = scoped_draft("The lamp of this run is broken.", Scope::Run);
    let hidden = at.put(&ada, hidden).unwrap().id;
    let ended = at
        .put(&ada, draft("The spool is cleared at night."))
        .unwrap()
        .id;
    at.query(&bob, "when is the spool cleared");
    at.forget(&ada, ended).unwrap();
    let [id, own, unread, hidden, ended] =
        [id, own, unread, hidden, ended].map(|it| it.to_string());
    let delete = Draft {
        operation: Some(MemoryOp::Delete),
        corrects_lineage: Some(own.clone()),
        ..draft("It is gone.")
    };
    let ephemeral = Draft {
        durability: Some(engram_model::Durability::Ephemeral),
        ..draft(SOCKET)
    };
    for (who, draft, key, verdict, code) in [
        (&eve, draft(SOCKET), &*id, Contradicts, Code::NotFound),
        (&bob, draft(SOCKET), &*own, Contradicts, Code::NotFound),
        (&bob, draft(SOCKET), &*unread, Contradicts, Code::NotFound),
        (&bob, draft(SOCKET), &*hidden, Contradicts, Code::NotFound),
        (&bob, draft(SOCKET), &*ended, Contradicts, Code::NotFound),
        (&bob, draft(SOCKET), "", Contradicts, Code::NotFound),
        (&bob, draft(SOCKET), "0000", Contradicts, Code::NotFound),
        (&USER, draft(SOCKET), "0000", Contradicts, Code::NotFound),
        (&bob, draft(SOCKET), &*id, Unclear, Code::SchemaInvalid),
        (&bob, delete, &*id, Contradicts, Code::SchemaInvalid),
        (&bob, ephemeral, &*id, Contradicts, Code::SchemaInvalid),
        (&USER, draft(PORT), &*id, Contradicts, Code::SchemaInvalid),
    ] {
        let head = at.head();
        let refusal = refused(commit(&at, who, draft, &[(key, verdict)]), code);
        assert_eq!(at.head(), head, "{key} {verdict}: {refusal}");
    }
    // What is shown to an agent later counts as well.
    at.query(&eve, "where does the relay listen");
    commit(&at, &eve, draft(SOCKET), &[(&*id, Contradicts)]).unwrap();
    // The user sees everything, and is believed at once.
    commit(&at, &USER, draft(FAR), &[(&*id, Contradicts)]).unwrap();
    let listed = list_conflicts(&at, &USER, Listed::Open);
    let told = listed.iter().filter(|it| it.risk.is_some()).count();
    assert_eq!((listed.len(), told), (2, 1), "{listed:?}");
}

/// Answers in a commit count in the rate of answers, and what a person settled stays settled.
#[test]
fn a_commit_answers_at_the_rate_of_answers() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let id = read_by_bob(&at).to_string();
    let bob = agent_named("bob");
    let answers = [(&*id, PairVerdict::Same)];
    commit(&at, &bob, draft(SOCKET), &answers).unwrap();
    let pair = list_conflicts(&at, &USER, Listed::Possible)[0].id;
    let judge = |verdict| at.settle(&bob, pair, engram_model::Settle::judge(verdict));
    for n in 1..60 {
        judge([PairVerdict::Same, PairVerdict::Compatible][n % 2]).unwrap();
    }
    let far = || draft(FAR);
    refused(commit(&at, &bob, far(), &answers), Code::RateLimited);
    sandbox.clock.turn(3_700);
    // Its pair was settled while its words were gone: they are stored again without an answer.
    let own = commit(&at, &bob, far(), &answers).unwrap().id;
    for pair in list_conflicts(&at, &USER, Listed::Possible) {
        at.settle(
            &USER,
            pair.id,
            engram_model::Settle::judge(PairVerdict::Compatible),
        )
        .unwrap();
    }
    at.forget(&bob, own).unwrap();
    let head = at.head();
    let refusal = refused(commit(&at, &bob, far(), &answers), Code::AlreadySettled);
    assert!(refusal.hint.contains("`beside`"), "{refusal:?}");
    assert_eq!(at.head(), head);
    commit(&at, &bob, far(), &[]).unwrap();
}
