//! What agents and people say of claims that are near each other: who may say it, and what follows.

use engram_model::{
    Caller, Code, Conflict, ConflictFilter, ConflictId, ConflictStatus, Gate, How, Listed,
    PairVerdict, Refusal, Resolve, ResolveReply, Settle, Severity, Tier, ask,
};

use crate::fixture::{
    Asked, Sandbox, USER,
    agents::{agent_named, open_agent},
    conflicts::list_conflicts,
    draft, on_topic, refused,
};

const PORT: &str = "The relay service listens on port 8080 behind the proxy.";
/// Contradicts it in other words, which no rule decides.
const SOCKET: &str = "The relay service, behind its proxy, listens on a Unix socket.";

fn judge(
    at: &Asked,
    who: &Caller,
    conflict: ConflictId,
    verdict: PairVerdict,
) -> Result<ResolveReply, Refusal> {
    at.settle(who, conflict, Settle::Judge { verdict, key: None })
}

fn judge_by_key(at: &Asked, who: &Caller, key: &str) -> Result<ResolveReply, Refusal> {
    let resolve = Resolve {
        conflict: ConflictId::default(),
        how: Settle::Judge {
            verdict: PairVerdict::Contradicts,
            key: Some(key.to_owned()),
        },
        why: None,
    };
    at.0.ask(who, ask::Resolve(Box::new(resolve)))
}

/// `ada` stored one claim, `bob` another one near it; returns the possible conflict.
fn proposed(at: &Asked) -> ConflictId {
    for name in ["ada", "bob", "eve"] {
        open_agent(at, &USER, name, None).unwrap();
    }
    at.put(&agent_named("ada"), draft(PORT)).unwrap();
    let stored = at.put(&agent_named("bob"), draft(SOCKET)).unwrap();
    assert_eq!((stored.conflicts, stored.near.len()), (0, 1), "{stored:?}");
    stored.near[0].conflict
}

/// `kid` stored one claim, `lead`, its parent, another one near it; returns the possible conflict.
fn proposed_to_parent(at: &Asked) -> ConflictId {
    open_agent(at, &USER, "lead", None).unwrap();
    open_agent(at, &USER, "kid", Some("lead")).unwrap();
    at.put(&agent_named("kid"), draft(PORT)).unwrap();
    let stored = at.put(&agent_named("lead"), draft(SOCKET)).unwrap();
    stored.near[0].conflict
}

fn listed(at: &Asked, status: Listed) -> Vec<Conflict> {
    list_conflicts(at, &USER, status)
}

fn shown(at: &Asked, id: ConflictId) -> Conflict {
    *at.0.ask(&USER, ask::Conflict(id)).unwrap()
}

fn has_report(at: &Asked, id: ConflictId) -> bool {
    shown(at, id).risk.is_some()
}

#[test]
fn a_near_pair_is_possible_and_shuts_nothing() {
    let at = Sandbox::open_new();
    let id = proposed(&at);
    assert!(listed(&at, Listed::Open).is_empty() && listed(&at, Listed::All).is_empty());
    let possible = listed(&at, Listed::Possible);
    let told: Vec<_> = possible.iter().map(|it| (it.id, it.status)).collect();
    assert_eq!(told, [(id, ConflictStatus::Possible)]);
    assert_eq!(
        (&*possible[0].a.claim, &*possible[0].b.claim),
        (PORT, SOCKET)
    );
    assert_eq!(
        (at.gate(Severity::Low).gate, has_report(&at, id)),
        (Gate::Open, false)
    );
    // It is proposed once: bob's same words on the same topic propose nothing again.
    at.forget(&agent_named("bob"), possible[0].b.id).unwrap();
    assert!(
        listed(&at, Listed::Possible).is_empty(),
        "it ended with a side"
    );
    let again = at.put(&agent_named("bob"), draft(SOCKET)).unwrap();
    assert_eq!(again.near, []);
    assert_eq!(listed(&at, Listed::Possible).len(), 1);
    let a = possible[0].a.id;
    at.forget(&agent_named("ada"), a).unwrap();
    let rest = listed(&at, Listed::Possible);
    assert!(rest.iter().all(|it| it.id != id), "{rest:?}");
    assert_eq!(shown(&at, id).status, ConflictStatus::Closed);
}

#[test]
fn an_agents_word_raises_a_conflict_without_report_until_somebody_agrees() {
    for who in [USER, agent_named("eve")] {
        let at = Sandbox::open_new();
        let id = proposed(&at);
        let bob = agent_named("bob");
        let said = judge(&at, &bob, id, PairVerdict::Contradicts).unwrap();
        assert_eq!(said.status, ConflictStatus::Open);
        let open = listed(&at, Listed::Open);
        let told: Vec<_> = open.iter().map(|it| (it.tier, it.severity)).collect();
        assert_eq!(told, [(Tier::Agent, Severity::Medium)]);
        assert_eq!(
            open[0].why,
            r#""The relay service listens on port 8080 behind the proxy" and "The relay service, behind its proxy, listens on a Unix socket" cannot both hold, says "bob"."#
        );
        assert_eq!(open[0].judged[0].verdict, PairVerdict::Contradicts);
        assert_eq!(
            (at.gate(Severity::Low).gate, has_report(&at, id)),
            (Gate::Open, false)
        );
        // Whoever raised it, no agent settles it alone.
        for (name, how) in [("bob", Settle::Newer), ("eve", Settle::Dismiss)] {
            refused(at.settle(&agent_named(name), id, how), Code::ScopeDenied);
        }
        // Said twice, it is recorded once; and its author cannot confirm it.
        let head = at.head();
        judge(&at, &bob, id, PairVerdict::Contradicts).unwrap();
        assert_eq!(at.head(), head);
        judge(&at, &who, id, PairVerdict::Contradicts).unwrap();
        assert_eq!(
            (at.gate(Severity::Low).gate, has_report(&at, id)),
            (Gate::Shut, true)
        );
        assert_eq!(at.gate(Severity::High).gate, Gate::Open);
        assert_eq!(shown(&at, id).judged.len(), 2);
        let settled = at.settle(&USER, id, Settle::Newer).unwrap();
        assert_eq!(settled.status, ConflictStatus::Resolved);
        assert_eq!(at.gate(Severity::Low).gate, Gate::Open);
        replays(&at);
    }
}

#[test]
fn an_agent_answers_only_for_what_it_was_shown() {
    let at = Sandbox::open_new();
    let id = proposed(&at);
    let key = id.to_string()[22..].to_owned();
    for name in ["ada", "eve"] {
        let who = agent_named(name);
        refused(
            judge(&at, &who, id, PairVerdict::Contradicts),
            Code::NotFound,
        );
        refused(judge_by_key(&at, &who, &key), Code::NotFound);
    }
    let bob = agent_named("bob");
    for wrong in ["", "0000", "%", &id.to_string()[20..24]] {
        refused(judge_by_key(&at, &bob, wrong), Code::NotFound);
    }
    // No verdict fits a pair that nobody judged.
    for how in [Settle::Newer, Settle::Dismiss] {
        let hint = refused(at.settle(&bob, id, how.clone()), Code::NotFound).hint;
        assert!(hint.contains("`compatible`"), "{hint}");
        let hint = refused(at.settle(&agent_named("eve"), id, how), Code::NotFound).hint;
        assert_eq!(hint, "Take ids from a list of conflicts.");
    }
    let said = judge_by_key(&at, &bob, &key.to_lowercase()).unwrap();
    assert_eq!((said.conflict, said.status), (id, ConflictStatus::Open));
    // The agents of the pair cannot agree in the place of a person.
    refused(
        judge(&at, &agent_named("ada"), id, PairVerdict::Contradicts),
        Code::NotFound,
    );
}

#[test]
fn both_can_hold() {
    let at = Sandbox::open_new();
    let id = proposed(&at);
    let said = judge(&at, &agent_named("bob"), id, PairVerdict::Compatible).unwrap();
    assert_eq!(said.status, ConflictStatus::Possible);
    let possible = listed(&at, Listed::Possible);
    assert_eq!(possible[0].judged[0].by, "bob", "a person still sees it");
    let said = judge(&at, &USER, id, PairVerdict::Compatible).unwrap();
    assert_eq!(said.status, ConflictStatus::Dismissed);
    assert!(listed(&at, Listed::Possible).is_empty());
    refused(
        judge(&at, &agent_named("bob"), id, PairVerdict::Contradicts),
        Code::AlreadySettled,
    );
    // Undone, it is possible again, not open; and it can be said again.
    at.settle(&USER, id, Settle::Undo).unwrap();
    judge(&at, &USER, id, PairVerdict::Compatible).unwrap();
    assert!(listed(&at, Listed::Possible).is_empty());
    at.settle(&USER, id, Settle::Undo).unwrap();
    assert_eq!(listed(&at, Listed::Possible).len(), 1);
    assert!(listed(&at, Listed::Open).is_empty());
}

/// The nearest come first, whatever their topics, and those called compatible last, over all pages.
#[test]
fn possible_conflicts_are_listed_by_nearness_over_all_pages() {
    let at = Sandbox::open_new();
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    for (topic, one, other) in [
        (
            "a",
            "The mailer keeps a queue of letters in memory.",
            "Letters of the mailer are in a file.",
        ),
        ("b", PORT, SOCKET),
        (
            "c",
            "The cache of the parser holds whole trees.",
            "The parser has a cache of tokens, never of trees.",
        ),
        (
            "d",
            "Backups of the ledger are made at night.",
            "The ledger has backups, made on each deploy.",
        ),
    ] {
        at.put(&ada, on_topic(topic, one)).unwrap();
        at.put(&bob, on_topic(topic, other)).unwrap();
    }
    let listed = || {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let filter = ConflictFilter {
                status: Listed::Possible,
                limit: Some(1),
                after,
                ..ConflictFilter::default()
            };
            let page = at.0.ask(&USER, ask::Conflicts(filter)).unwrap();
            found.extend(page.conflicts);
            match page.next {
                Some(next) => after = Some(next),
                None => return found,
            }
        }
    };
    let all = listed();
    assert!(all.len() >= 3, "{all:?}");
    assert!(
        all.is_sorted_by(|one, other| one.score >= other.score),
        "{all:?}"
    );
    judge(&at, &bob, all[0].id, PairVerdict::Compatible).unwrap();
    let mut ids: Vec<ConflictId> = all.iter().map(|it| it.id).collect();
    ids.rotate_left(1);
    let now: Vec<ConflictId> = listed().iter().map(|it| it.id).collect();
    assert_eq!(now, ids);
    let wrong = ConflictFilter {
        after: at
            .0
            .ask(
                &USER,
                ask::Conflicts(ConflictFilter {
                    status: Listed::Possible,
                    limit: Some(1),
                    ..ConflictFilter::default()
                }),
            )
            .unwrap()
            .next,
        ..ConflictFilter::default()
    };
    refused(at.0.ask(&USER, ask::Conflicts(wrong)), Code::SchemaInvalid);
}

#[test]
fn the_same_counts_and_a_replacement_ends_only_what_its_author_may_end() {
    let at = Sandbox::open_new();
    let id = proposed(&at);
    let bob = agent_named("bob");
    let older = shown(&at, id).a.id;
    let said = judge(&at, &bob, id, PairVerdict::Same).unwrap();
    assert_eq!(said.status, ConflictStatus::Possible);
    let record = at.0.ask(&USER, ask::Get(older)).unwrap();
    assert_eq!(record.figures.corroborations, 1);
    // The other claim is not bob's to end.
    let said = judge(&at, &bob, id, PairVerdict::Replaces).unwrap();
    assert_eq!((said.status, said.closed.len()), (ConflictStatus::Open, 0));
    // A person says the same, and it ends.
    let said = judge(&at, &USER, id, PairVerdict::Replaces).unwrap();
    assert_eq!(
        (said.status, said.closed),
        (ConflictStatus::Resolved, vec![older])
    );
    let told = shown(&at, id);
    assert_eq!(told.settled.unwrap().how, How::Winner);
    assert_eq!(told.risk, None, "it was settled at once");
}

/// A person may merge them; an agent answers first. The undo makes the pair possible again.
#[test]
fn a_person_merges_what_is_only_near() {
    let at = Sandbox::open_new();
    let id = proposed(&at);
    let merge = || Settle::Merge("The relay listens on port 8080 and on a socket.".to_owned());
    refused(at.settle(&agent_named("bob"), id, merge()), Code::NotFound);
    let said = at.settle(&USER, id, merge()).unwrap();
    assert_eq!(
        (said.status, said.closed.len()),
        (ConflictStatus::Resolved, 2)
    );
    assert_eq!(shown(&at, id).settled.unwrap().merged, Some(said.stored[0]));
    let undone = at.settle(&USER, id, Settle::Undo).unwrap();
    assert_eq!(
        (undone.status, undone.stored.len()),
        (ConflictStatus::Possible, 2)
    );
}

/// A parent may end what its child said.
#[test]
fn a_parents_claim_replaces_its_childs() {
    let at = Sandbox::open_new();
    let id = proposed_to_parent(&at);
    let said = judge(&at, &agent_named("lead"), id, PairVerdict::Replaces).unwrap();
    assert_eq!(
        (said.status, said.closed.len()),
        (ConflictStatus::Resolved, 1)
    );
}

#[test]
fn judging_has_a_rate_and_an_unanswered_claim_yields() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    at.put(&at.agent("ada"), draft(PORT)).unwrap();
    let bob = open_agent(&at, &USER, "bob", None)
        .map(|it| Caller::Agent(it.agent))
        .unwrap();
    let mut judged = Vec::new();
    let mut shown = 0;
    for n in 0..24 {
        sandbox.clock.turn(90);
        let claim = format!("The relay service, behind its proxy, has lamp number {n}.");
        let stored = at.put(&bob, draft(&claim)).unwrap();
        shown += stored.near.len();
        if let Some(near) = stored.near.first()
            && n < 2
        {
            judge(&at, &bob, near.conflict, PairVerdict::Compatible).unwrap();
            judged.push(near.conflict);
        }
    }
    assert_eq!(
        (judged.len(), shown),
        (2, 22),
        "it yields after 20 without an answer"
    );
    // Changing one's mind counts too.
    let change = |n: usize| {
        let verdict = [PairVerdict::Same, PairVerdict::Compatible][n % 2];
        judge(&at, &bob, judged[0], verdict)
    };
    sandbox.clock.turn(3_700);
    for n in 0..60 {
        change(n).unwrap();
    }
    refused(change(60), Code::RateLimited);
    sandbox.clock.turn(3_700);
    change(60).unwrap();
}

/// A claim that never fitted into a reply was not left unanswered.
#[test]
fn what_a_reply_has_no_room_for_does_not_yield() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let long = |what: &str| {
        format!(
            "The relay service {what} {}.",
            "behind its proxy and ".repeat(20)
        )
    };
    at.put(&at.agent("ada"), draft(&long("listens on a Unix socket")))
        .unwrap();
    let bob = at.agent("bob");
    for n in 0..24 {
        sandbox.clock.turn(90);
        let claim =
            format!("The relay service, behind its proxy, has lamp number {n} on its socket.");
        let stored = at.put(&bob, draft(&claim)).unwrap();
        assert_eq!(stored.near.len(), 1, "{n}");
    }
}

/// Who wrote a side, judged the pair, or belongs to the tree of such an agent confirms nothing.
#[test]
fn no_agent_of_their_trees_confirms_a_word() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    open_agent(&at, &USER, "lead", None).unwrap();
    open_agent(&at, &USER, "bob", Some("lead")).unwrap();
    open_agent(&at, &USER, "ada", None).unwrap();
    open_agent(&at, &USER, "eve", None).unwrap();
    let first = at.put(&agent_named("ada"), draft(PORT)).unwrap();
    let stored = at.put(&agent_named("bob"), draft(SOCKET)).unwrap();
    let id = stored.near[0].conflict;
    let bob = agent_named("bob");
    // A word that raises nothing is not to be confirmed.
    judge(&at, &bob, id, PairVerdict::Compatible).unwrap();
    let eve = agent_named("eve");
    refused(
        judge(&at, &eve, id, PairVerdict::Contradicts),
        Code::NotFound,
    );
    judge(&at, &bob, id, PairVerdict::Contradicts).unwrap();
    let agree = |name: &str| judge(&at, &agent_named(name), id, PairVerdict::Contradicts);
    refused(agree("lead"), Code::NotFound);
    // Its author is on a side even after somebody else said the same.
    at.forget(&agent_named("ada"), first.id).unwrap();
    at.put(&at.agent("joe"), draft(PORT)).unwrap();
    refused(agree("ada"), Code::NotFound);
    // Nor does a child that became a root.
    let close = engram_model::AgentChange {
        agent: engram_model::AgentId("lead".to_owned()),
        what: engram_model::AgentEdit::Close,
    };
    at.0.ask(&USER, ask::ChangeAgent(close)).unwrap();
    assert_eq!(agree("bob").unwrap().status, ConflictStatus::Open);
    assert!(!has_report(&at, id));
    agree("eve").unwrap();
    assert!(has_report(&at, id));
}

/// What a person undid, an agent only notes.
#[test]
fn an_agent_overrules_no_person() {
    let at = Sandbox::open_new();
    let id = proposed_to_parent(&at);
    let lead = agent_named("lead");
    judge(&at, &lead, id, PairVerdict::Replaces).unwrap();
    at.settle(&USER, id, Settle::Undo).unwrap();
    for verdict in [PairVerdict::Contradicts, PairVerdict::Replaces] {
        let said = judge(&at, &lead, id, verdict).unwrap();
        assert_eq!((said.status, said.closed.len()), (ConflictStatus::Open, 0));
    }
    assert_eq!(shown(&at, id).judged.len(), 3);
}

/// The claim that its judge wrote replaces the other, whichever was stored last.
#[test]
fn a_replacement_never_ends_its_judges_own_claim() {
    let at = Sandbox::open_new();
    let id = proposed(&at);
    let first = shown(&at, id).a.id;
    at.forget(&agent_named("ada"), first).unwrap();
    at.put(&agent_named("ada"), draft(PORT)).unwrap();
    let said = judge(&at, &agent_named("bob"), id, PairVerdict::Replaces).unwrap();
    assert_eq!((said.status, said.closed.len()), (ConflictStatus::Open, 0));
}

fn undo(at: &Asked, id: ConflictId) -> Result<ResolveReply, Refusal> {
    at.settle(&USER, id, Settle::Undo)
}

/// A person takes back the word that raised a pair: it is possible again, as often as they like,
/// also below a verdict that was undone first.
#[test]
fn a_persons_word_can_be_taken_back() {
    let at = Sandbox::open_new();
    let id = proposed(&at);
    let before = shown(&at, id);
    for settles in [false, true] {
        judge(&at, &USER, id, PairVerdict::Contradicts).unwrap();
        assert_eq!(at.gate(Severity::Low).gate, Gate::Shut);
        if settles {
            at.settle(&USER, id, Settle::Newer).unwrap();
            assert_eq!(undo(&at, id).unwrap().status, ConflictStatus::Open);
        }
        let undone = undo(&at, id).unwrap();
        assert_eq!(undone.status, ConflictStatus::Possible);
        assert_eq!(at.gate(Severity::Low).gate, Gate::Open);
        let after = shown(&at, id);
        assert_eq!(
            (after.status, &after.why, after.judged.len()),
            (ConflictStatus::Possible, &before.why, 0)
        );
        assert_eq!(listed(&at, Listed::Possible).len(), 1);
        assert!(listed(&at, Listed::Open).is_empty());
        let report = at.0.ask(&USER, ask::Get(after.risk.unwrap())).unwrap();
        assert!(report.valid_until.is_some(), "the report ended with it");
        // Said again by mistake, it changes nothing.
        let head = at.head();
        undo(&at, id).unwrap();
        assert_eq!(at.head(), head);
    }
    // What a person took back, an agent only notes; and a dismissal leads back to where it was.
    let bob = agent_named("bob");
    let said = judge(&at, &bob, id, PairVerdict::Contradicts).unwrap();
    assert_eq!(said.status, ConflictStatus::Possible);
    judge(&at, &USER, id, PairVerdict::Compatible).unwrap();
    assert_eq!(undo(&at, id).unwrap().status, ConflictStatus::Possible);
    let after = shown(&at, id);
    let report = at.0.ask(&USER, ask::Get(after.risk.unwrap())).unwrap();
    assert!(
        report.valid_until.is_some(),
        "a possible conflict has no report"
    );
    let by: Vec<&str> = after.judged.iter().map(|it| it.by.as_str()).collect();
    assert_eq!(by, ["bob"], "the person's word was taken back");
    replays(&at);
}

/// An agent takes back the word on which alone a conflict rests: the pair is possible again, until
/// it says so again. Another agent's word, or a person's, keeps the conflict.
#[test]
fn an_agents_word_can_be_taken_back() {
    let at = Sandbox::open_new();
    let id = proposed(&at);
    let bob = agent_named("bob");
    for back in [PairVerdict::Same, PairVerdict::Compatible] {
        let said = judge(&at, &bob, id, PairVerdict::Contradicts).unwrap();
        assert_eq!(said.status, ConflictStatus::Open);
        let said = judge(&at, &bob, id, back).unwrap();
        assert_eq!(said.status, ConflictStatus::Possible);
        assert!(listed(&at, Listed::Open).is_empty());
        assert_eq!(listed(&at, Listed::Possible).len(), 1);
        replays(&at);
    }
    judge(&at, &bob, id, PairVerdict::Contradicts).unwrap();
    judge(&at, &USER, id, PairVerdict::Contradicts).unwrap();
    let said = judge(&at, &bob, id, PairVerdict::Same).unwrap();
    assert_eq!(said.status, ConflictStatus::Open);
    assert_eq!(at.gate(Severity::Low).gate, Gate::Shut);
}

/// A person takes back the word that confirmed an agent's: the conflict rests on the agent's word
/// alone again.
#[test]
fn a_persons_agreement_can_be_taken_back() {
    let at = Sandbox::open_new();
    let id = proposed(&at);
    judge(&at, &agent_named("bob"), id, PairVerdict::Contradicts).unwrap();
    for _ in 0..2 {
        judge(&at, &USER, id, PairVerdict::Contradicts).unwrap();
        assert_eq!(at.gate(Severity::Low).gate, Gate::Shut);
        assert_eq!(shown(&at, id).judged.len(), 2);
        assert_eq!(undo(&at, id).unwrap().status, ConflictStatus::Open);
        assert_eq!(at.gate(Severity::Low).gate, Gate::Open);
        assert_eq!(shown(&at, id).judged.len(), 1);
        assert_eq!(listed(&at, Listed::Open).len(), 1);
    }
    // Nor does a verdict that is undone bring the report back.
    at.settle(&USER, id, Settle::Dismiss).unwrap();
    assert_eq!(undo(&at, id).unwrap().status, ConflictStatus::Open);
    assert_eq!(at.gate(Severity::Low).blocking, []);
    let report =
        at.0.ask(&USER, ask::Get(shown(&at, id).risk.unwrap()))
            .unwrap();
    assert!(report.valid_until.is_some());
    refused(
        at.settle(&agent_named("eve"), id, Settle::Dismiss),
        Code::ScopeDenied,
    );
    replays(&at);
}

/// The journal leads to the same tables.
fn replays(at: &Asked) {
    let treatment = engram_engine::Treatment {
        replay: true,
        ..crate::fixture::REINDEX
    };
    assert!(at.0.doctor(treatment).unwrap().ok);
}
