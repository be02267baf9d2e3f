//! Verdicts and reports of conflicts with a side that somebody may not see: what is hidden stays as it is, is
//! open to whoever sees it, and is told to nobody else.

use engram_model::{
    Allow, Caller, Code, Commit, Conflict, ConflictFilter, ConflictId, ConflictStatus,
    ConflictsReply, Draft, EngramId, FactType, Feed, Gate, Hook, HookEvent, HookReply, Kind,
    Listed, OWN_EVENT, Opening, PointerInput, Query, Refusal, Resolve, SamRead, Scope, Settle,
    Severity, ask,
};
use engram_store::Store;

use crate::{
    conflicts::{LONG, SHORT, USER, conflict, evidence, listed, on, open},
    fixture::{Asked, Ground, query, refused},
};

fn elsewhere() -> Vec<PointerInput> {
    vec![evidence("repo:README.md@HEAD")]
}

fn of_user_alone(claim: &str) -> Draft {
    Draft {
        scope: Some(Scope::Run),
        pointers: elsewhere(),
        ..on("wallet", claim)
    }
}

fn seen_by(at: &Asked, who: &Caller, id: ConflictId) -> Conflict {
    *at.0.ask(who, ask::Conflict(id)).unwrap()
}

/// The judge says one thing and another; the user said the first too, which the judge cannot know.
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
            let ground = Ground::new();
            let at = ground.open();
            let judge = at.agent("judge");
            let hidden = is_hidden.then(|| at.put(&USER, of_user_alone(SHORT)).unwrap().id);
            at.put(&judge, on("wallet", SHORT)).unwrap();
            let winner = at.put(&judge, on("wallet", LONG)).unwrap();
            let [known] = &listed(&at, &judge, Listed::Open)[..] else {
                panic!("one conflict");
            };
            let reply = at.settle(&judge, known.id, how(winner.id)).unwrap();
            assert_eq!(reply.status, status);
            assert!(hidden.is_none_or(|id| !reply.closed.contains(&id)));
            // To the judge the conflict is settled, whatever else holds.
            let told = seen_by(&at, &judge, known.id);
            assert_eq!((told.status, told.settled.is_some()), (status, true));
            assert!(told.risk.is_some());
            assert_eq!(listed(&at, &judge, Listed::Open), []);
            let all = listed(&at, &judge, Listed::All);
            assert_eq!((all.len(), all[0].status), (1, status));
            assert_eq!(page_of(&at, &judge, Listed::Resolved).omitted, None);
            let record = at.get(&judge, winner.id).unwrap();
            assert_eq!((record.conflicts.len(), record.figures.conflicts), (0, 0));
            let again = at.settle(&judge, known.id, how(winner.id)).unwrap();
            assert_eq!((&again.closed, again.status), (&reply.closed, status));
            // The user and the gate know better, once what the judge may not see is compared.
            assert!(!is_hidden || at.gate(Severity::High).gate == Gate::Shut);
            at.0.help_index().unwrap();
            let expected = if is_hidden {
                ConflictStatus::Open
            } else {
                status
            };
            assert_eq!(conflict(&at, known.id).status, expected);
            let held = if is_hidden { Gate::Shut } else { Gate::Open };
            assert_eq!(
                (open(&at).len(), at.gate(Severity::High).gate),
                (usize::from(is_hidden), held)
            );
            if let Some(id) = hidden {
                assert!(at.get(&USER, id).unwrap().valid_until.is_none());
                // A person's dismissal is final.
                at.settle(&USER, known.id, Settle::Dismiss).unwrap();
                assert_eq!(
                    (open(&at), at.gate(Severity::High).gate),
                    (Vec::new(), Gate::Open)
                );
                assert_eq!(risks(&at), 0, "nothing reports it any more");
                at.put(&USER, on("wallet", LONG)).unwrap();
                assert_eq!(open(&at), []);
            }
            let store = Store::open_only(&ground.home(), ulid::Ulid::nil()).unwrap();
            assert_eq!(store.replay().unwrap().differences, Vec::<String>::new());
            replies.push((reply.status, reply.closed.len(), reply.stored.len()));
        }
        assert_eq!(replies[0], replies[1], "{status}");
    }
}

/// What a verdict uncovers is found again and reported once, however many versions the verdict ends.
#[test]
fn what_a_verdict_uncovers_is_reported_once() {
    let at = Ground::opened();
    let [judge, ada, bob] = ["judge", "ada", "bob"].map(|name| at.agent(name));
    at.put(&USER, of_user_alone(SHORT)).unwrap();
    at.put(&ada, on("wallet", SHORT)).unwrap();
    let again = Draft {
        pointers: elsewhere(),
        ..on("wallet", SHORT)
    };
    at.put(&bob, again).unwrap();
    at.put(&judge, on("wallet", LONG)).unwrap();
    at.0.help_index().unwrap();
    let [known] = &open(&at)[..] else {
        panic!("one, which covers the other: {:?}", open(&at));
    };
    let before = at.journal().head;
    let reply = at.settle(&judge, known.id, Settle::Newer).unwrap();
    assert_eq!(reply.closed.len(), 2);
    assert_eq!((open(&at).len(), risks(&at)), (1, 1));
    // Two versions end, a report ends; a conflict is found again and reported; the verdict.
    assert_eq!(at.journal().head - before, 6);
}

/// The user takes back what an agent decided about what it could see, though the conflict is open to the user.
#[test]
fn the_user_undoes_a_verdict_that_left_what_its_judge_could_not_see() {
    let at = Ground::opened();
    let judge = at.agent("judge");
    at.put(&USER, of_user_alone(SHORT)).unwrap();
    let short = at.put(&judge, on("wallet", SHORT)).unwrap();
    let long = at.put(&judge, on("wallet", LONG)).unwrap();
    let id = open(&at)[0].id;
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
    assert_eq!(seen_by(&at, &judge, id).status, ConflictStatus::Open);
}

/// Whoever says again what lost is told the same, and finds the conflict as open, whatever is hidden.
#[test]
fn what_is_said_again_is_told_alike_whatever_is_hidden() {
    for how in [Settle::Newer, Settle::Dismiss] {
        let told = |is_hidden: bool| {
            let at = Ground::opened();
            let [judge, eve] = ["judge", "eve"].map(|name| at.agent(name));
            if is_hidden {
                at.put(&USER, of_user_alone(SHORT)).unwrap();
            }
            at.put(&judge, on("wallet", SHORT)).unwrap();
            at.put(&judge, on("wallet", LONG)).unwrap();
            let id = open(&at)[0].id;
            at.settle(&judge, id, how.clone()).unwrap();
            at.settle(&judge, id, Settle::Undo).unwrap();
            let undone = seen_by(&at, &judge, id);
            assert_eq!(undone.status, ConflictStatus::Open);
            let undone = (undone.settled, undone.risk.is_some());
            at.settle(&judge, id, how.clone()).unwrap();
            let again = Draft {
                pointers: elsewhere(),
                ..on("wallet", SHORT)
            };
            let said = at.put(&eve, again).unwrap();
            let notes: Vec<String> = said
                .findings
                .into_iter()
                .filter(|it| it.conflict.is_some())
                .map(|it| it.note)
                .collect();
            let seen = [&judge, &eve].map(|who| {
                let conflict = seen_by(&at, who, id);
                let record = at.get(who, said.id).unwrap();
                (conflict.status, conflict.risk.is_some(), record.conflicts)
            });
            (said.conflicts, said.due, notes, seen, undone)
        };
        assert_eq!(told(true), told(false), "{how:?}");
    }
}

/// What the user decided about a claim that nobody else sees, and why, is told to nobody else.
#[test]
fn a_reason_given_about_what_is_hidden_is_told_to_nobody_else() {
    for how in [Settle::Newer, Settle::Dismiss] {
        let at = Ground::opened();
        let [ada, eve] = ["ada", "eve"].map(|name| at.agent(name));
        at.put(&USER, of_user_alone(SHORT)).unwrap();
        at.put(&ada, on("wallet", LONG)).unwrap();
        at.0.help_index().unwrap();
        let resolve = Resolve {
            conflict: open(&at)[0].id,
            how,
            why: Some("The board said so.".to_owned()),
        };
        at.0.ask(&USER, ask::Resolve(Box::new(resolve))).unwrap();
        let said = at.put(&eve, on("wallet", SHORT)).unwrap();
        let told = format!("{said:?} {:?}", listed(&at, &eve, Listed::All));
        assert!(!told.contains("board"), "{told}");
    }
}

/// A conflict is raised by the versions that most can see, so that everybody who sees both sides learns of it.
#[test]
fn a_conflict_is_reported_to_all_who_see_both_sides() {
    let told = |is_hidden: bool| {
        let at = Ground::opened();
        let [ada, eve] = ["ada", "eve"].map(|name| at.agent(name));
        at.put(&ada, on("wallet", SHORT)).unwrap();
        if is_hidden {
            at.put(&eve, of_user_alone(SHORT)).unwrap();
        }
        at.put(&USER, on("wallet", LONG)).unwrap();
        let seen = listed(&at, &ada, Listed::Open);
        assert_eq!(seen.len(), 1);
        (seen[0].severity, seen[0].risk.is_some())
    };
    assert_eq!(told(true), told(false));
}

/// What reports a conflict lasts as long as the claims that are in it.
#[test]
fn a_report_does_not_end_before_its_conflict() {
    let ground = Ground::new();
    let at = ground.open();
    let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
    at.put(&bob, on("wallet", LONG)).unwrap();
    let short = Draft {
        ttl: Some("PT60S".parse().unwrap()),
        ..on("wallet", SHORT)
    };
    at.put(&ada, short).unwrap();
    let again = Draft {
        pointers: elsewhere(),
        ..on("wallet", SHORT)
    };
    at.put(&bob, again).unwrap();
    assert_eq!(risks(&at), 1);
    ground.clock.turn(120);
    assert_eq!((open(&at).len(), risks(&at)), (1, 1));
}

/// A side whose visible version is deleted ends for whoever sees no other of it; the rest are told still.
#[test]
fn a_report_ends_for_whoever_sees_a_side_of_it_no_more() {
    let told = |is_hidden: bool, is_narrowed: bool| {
        let at = Ground::opened();
        let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
        at.put(&bob, on("wallet", LONG)).unwrap();
        let said = at.put(&ada, on("wallet", SHORT)).unwrap();
        if is_hidden {
            at.put(&USER, of_user_alone(SHORT)).unwrap();
        }
        assert_eq!(risks_to(&at, &bob), 1);
        if is_narrowed {
            let own = Draft {
                scope: Some(Scope::Run),
                corrects_lineage: Some(said.id.to_string()),
                ..on("wallet", SHORT)
            };
            at.put(&ada, own).unwrap();
        } else {
            at.forget(&ada, said.id).unwrap();
        }
        at.0.help_index().unwrap();
        let told = |who: &Caller| (listed(&at, who, Listed::Open).len(), risks_to(&at, who));
        let due = page_of(&at, &bob, Listed::Open).due;
        ((told(&bob), due), told(&ada), told(&USER).0)
    };
    for is_narrowed in [false, true] {
        let (with, without) = (told(true, is_narrowed), told(false, is_narrowed));
        assert_eq!((with.0, with.1), (without.0, without.1), "{is_narrowed}");
        // One for the user alone; and one for the run of ada, where it says so still.
        assert_eq!(with.2, 1 + usize::from(is_narrowed));
        assert_eq!(with.0, ((0, 0), 0), "{is_narrowed}");
        let own = usize::from(is_narrowed);
        assert_eq!(with.1, (own, own), "{is_narrowed}");
    }
}

/// What is hidden from an author neither takes a place in the reply nor is counted in it, and counts for no page.
#[test]
fn what_is_hidden_takes_no_place_from_what_is_seen() {
    let told = |is_hidden: bool| {
        let at = Ground::opened();
        let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
        if is_hidden {
            for number in 0..6 {
                let claim = format!("The wallet lock lasts {} minutes.", 40 + number);
                at.put(&USER, of_user_alone(&claim)).unwrap();
                at.0.help_index().unwrap();
            }
        }
        at.put(&bob, on("wallet", LONG)).unwrap();
        let said = at.put(&ada, on("wallet", SHORT)).unwrap();
        at.0.help_index().unwrap();
        let pages = [Listed::Open, Listed::All, Listed::Closed, Listed::Resolved].map(|status| {
            let page = page_of(&at, &ada, status);
            (page.conflicts.len(), page.omitted, page.open, page.due)
        });
        (said.conflicts, said.due, said.findings.len(), pages)
    };
    assert_eq!(told(true), told(false));
}

/// It repeats the user's words with other evidence, and so stands for the side; the user's claim holds still.
#[test]
fn an_agent_dismisses_no_conflict_with_the_user_by_repeating_their_words() {
    let at = Ground::opened();
    let judge = at.agent("judge");
    at.put(&USER, on("wallet", SHORT)).unwrap();
    at.put(&judge, on("wallet", LONG)).unwrap();
    let id = open(&at)[0].id;
    let repeated = Draft {
        pointers: elsewhere(),
        ..on("wallet", SHORT)
    };
    at.put(&judge, repeated).unwrap();
    refused(at.settle(&judge, id, Settle::Dismiss), Code::ScopeDenied);
    assert_eq!(at.gate(Severity::High).gate, Gate::Shut);
}

/// What an agent dismissed between its own claims is no verdict on what the user says later.
#[test]
fn an_agents_dismissal_ends_where_the_user_says_the_same() {
    let at = Ground::opened();
    let judge = at.agent("judge");
    at.put(&judge, on("wallet", SHORT)).unwrap();
    at.put(&judge, on("wallet", LONG)).unwrap();
    let id = open(&at)[0].id;
    at.settle(&judge, id, Settle::Dismiss).unwrap();
    assert_eq!(at.gate(Severity::High).gate, Gate::Open);
    let said = Draft {
        pointers: elsewhere(),
        ..on("wallet", SHORT)
    };
    at.put(&USER, said).unwrap();
    assert_eq!(
        (open(&at).len(), at.gate(Severity::High).gate),
        (1, Gate::Shut)
    );
}

/// On the same evidence too: it is a claim of their own, and no agent dismisses it or ends it from then on.
#[test]
fn what_the_user_repeats_is_the_users() {
    let at = Ground::opened();
    let judge = at.agent("judge");
    let short = at.put(&judge, on("wallet", SHORT)).unwrap();
    let long = at.put(&judge, on("wallet", LONG)).unwrap();
    let id = open(&at)[0].id;
    at.settle(&judge, id, Settle::Dismiss).unwrap();
    let again = at.put(&USER, on("wallet", SHORT)).unwrap();
    assert!(again.id != short.id && again.conflicts == 1);
    assert_eq!(
        (open(&at).len(), at.gate(Severity::High).gate),
        (1, Gate::Shut)
    );
    for how in [Settle::Dismiss, Settle::Winner(long.id)] {
        refused(at.settle(&judge, id, how), Code::ScopeDenied);
    }
    refused(at.forget(&judge, again.id), Code::ScopeDenied);
    at.settle(&USER, id, Settle::Dismiss).unwrap();
    at.put(&USER, on("wallet", SHORT)).unwrap();
    assert_eq!(
        (open(&at), at.gate(Severity::High).gate),
        (Vec::new(), Gate::Open)
    );
}

fn page_of(at: &Asked, who: &Caller, status: Listed) -> ConflictsReply {
    let filter = ConflictFilter {
        status,
        limit: Some(1),
        ..ConflictFilter::default()
    };
    at.0.ask(who, ask::Conflicts(filter)).unwrap()
}

/// How many engrams report conflicts.
fn risks(at: &Asked) -> usize {
    risks_to(at, &USER)
}

fn risks_to(at: &Asked, who: &Caller) -> usize {
    let asked = Query {
        kind: Some(Kind::Risk),
        k: Some(50),
        ..query("claims contradict each other")
    };
    at.ask(who, asked).unwrap().engrams.len()
}

fn reader(at: &Asked, topics: &[&str]) -> Caller {
    let opening = Opening {
        name: "reader".to_owned(),
        read: topics.iter().map(|&topic| topic.to_owned()).collect(),
        ..Opening::default()
    };
    Caller::Agent(at.0.ask(&USER, ask::OpenAgent(opening)).unwrap().agent)
}

/// The report of a conflict repeats both sides: it is as visible as both, on every way.
#[test]
fn what_reports_a_conflict_is_told_to_nobody_who_may_not_see_both_sides() {
    let ground = Ground::new();
    let at = ground.open();
    let stranger = reader(&at, &["wallet"]);
    let ada = at.agent("ada");
    let hidden = at
        .put(
            &ada,
            on("vault", "The wallet service listens on port 4711."),
        )
        .unwrap();
    let seen = at
        .put(
            &ada,
            on("wallet", "The wallet service listens on port 4712."),
        )
        .unwrap();
    let [known] = &open(&at)[..] else {
        panic!("the two contradict each other: {:?}", open(&at));
    };
    let risk = known.risk.unwrap();
    assert_eq!(at.get(&ada, risk).unwrap().kind, Kind::Risk);
    let is_told = |when: &str| {
        refused(at.get(&stranger, risk), Code::NotFound);
        refused(at.get(&stranger, hidden.id), Code::NotFound);
        refused(at.0.ask(&stranger, ask::Conflict(known.id)), Code::NotFound);
        assert_eq!(listed(&at, &stranger, Listed::All), [], "{when}");
        let asked = Query {
            kind: Some(Kind::Risk),
            ..query("wallet service port contradict")
        };
        assert_eq!(at.ask(&stranger, asked).unwrap().engrams, [], "{when}");
        let record = at.get(&stranger, seen.id).unwrap();
        assert_eq!((record.conflicts.len(), record.figures.conflicts), (0, 0));
        let feed = Feed {
            all: true,
            ..Feed::default()
        };
        let page = at.0.ask(&stranger, ask::Feed(feed)).unwrap();
        let brief = at.0.ask(&stranger, ask::Brief).unwrap();
        let told = format!("{page:?} {brief:?}");
        assert!(!told.contains("4711"), "{when}: {told}");
    };
    is_told("while both hold");
    // What reported it once is as visible, though another reports it now.
    let then = at.0.now();
    ground.clock.turn(60);
    at.settle(&USER, known.id, Settle::Newer).unwrap();
    let hidden = at
        .put(
            &at.agent("eve"),
            on("vault", "The wallet service listens on port 4711."),
        )
        .unwrap();
    assert_ne!(open(&at)[0].risk, Some(risk));
    is_told("once another reports it");
    let asked = Query {
        kind: Some(Kind::Risk),
        as_of: Some(then),
        ..query("wallet service port contradict")
    };
    assert_eq!(at.ask(&stranger, asked).unwrap().engrams, []);
    at.redact(&USER, hidden.id).unwrap();
    is_told("once the hidden side is erased");
}

/// Names are compared as they look, on every way by which an agent gets one.
#[test]
fn nobody_passes_for_the_user_or_for_an_agent_that_was_opened() {
    let at = Ground::opened();
    reader(&at, &[]);
    for name in ["The User", "ｕｓｅｒ", "usеr", "you.", "Engram", "the user"] {
        let opening = Opening {
            name: name.to_owned(),
            ..Opening::default()
        };
        refused(
            at.0.ask(&USER, ask::OpenAgent(opening)),
            Code::SchemaInvalid,
        );
        let in_that_role = Opening {
            name: "clerk".to_owned(),
            role: Some(name.to_owned()),
            ..Opening::default()
        };
        refused(
            at.0.ask(&USER, ask::OpenAgent(in_that_role)),
            Code::SchemaInvalid,
        );
        let client = at.agent(name);
        let as_itself = at
            .put(&client, on("wallet", &format!("{name} says so.")))
            .unwrap();
        let named = Draft {
            agent: Some(name.to_owned()),
            ..on("wallet", &format!("{name} says so by name."))
        };
        let by_name = at.put(&at.agent("other"), named).unwrap();
        for id in [as_itself.id, by_name.id] {
            let by = at.get(&USER, id).unwrap().provenance.created_by;
            assert!(by.ends_with(" (agent)"), "{name}: {by}");
        }
    }
    let names = ["reader", "Reader", "rеader", "ｒeader", "rea-der"];
    for (number, name) in names.into_iter().enumerate() {
        let client = at.agent(name);
        let said = at
            .put(&client, on("wallet", &format!("Page {number} is read.")))
            .unwrap();
        let by = at.get(&USER, said.id).unwrap().provenance.created_by;
        assert!(by.starts_with(&format!("{name} (")), "{name}: {by}");
    }
}

fn reads_event(at: &Asked, who: &Caller, slug: &str) -> Result<HookReply, Refusal> {
    let read = SamRead {
        kind: OWN_EVENT.to_owned(),
        slug: slug.to_owned(),
    };
    let hook = Hook {
        agent: None,
        event: HookEvent::SamRead(read),
    };
    at.0.ask(who, ask::Hook(Box::new(hook))).map(|reply| *reply)
}

/// Whoever may not see the claim that an event says is told what he is told where there is none, and his own event
/// of the same words is his as before.
#[test]
fn an_event_that_is_hidden_is_not_told_from_none() {
    let at = Ground::opened();
    let ada = at.agent("ada");
    let say = |who: &Caller, claim: &str, scope: Scope| {
        let draft = Draft {
            claim: claim.to_owned(),
            scope: Some(scope),
            ..Draft::default()
        };
        let said =
            at.0.ask(who, ask::Commit(Box::new(Commit { draft, words: None })));
        let id = said.unwrap().id;
        let pointer = at.get(&Caller::User, id).unwrap().pointers[0].to_string();
        let slug = pointer.split(':').nth(2).unwrap();
        slug.split('@').next().unwrap().to_owned()
    };
    let hidden = say(&USER, "The vault opens at nine.", Scope::Run);
    assert!(reads_event(&at, &ada, &hidden).is_err());
    let [there, none] = [&*hidden, "nothing"].map(|slug| reads_event(&at, &ada, slug).unwrap_err());
    assert_eq!(there, none);
    // Said by both, seen by each.
    let own = say(&ada, "The ledger closes at ten.", Scope::Project);
    let before = reads_event(&at, &ada, &own).unwrap();
    assert_eq!(say(&USER, "The ledger closes at ten.", Scope::Run), own);
    assert_eq!(reads_event(&at, &ada, &own).unwrap(), before);
}

/// What an agent is told of a home is the same whatever is hidden from it.
#[test]
fn a_status_counts_what_its_caller_may_see() {
    let told = |is_hidden: bool| {
        let at = Ground::opened();
        let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
        let empty = at.status(&ada).unwrap();
        if is_hidden {
            at.put(&USER, of_user_alone(SHORT)).unwrap();
            at.put(&bob, of_user_alone(LONG)).unwrap();
            at.put(&bob, of_user_alone(SHORT)).unwrap();
        }
        let hidden = at.status(&ada).unwrap();
        assert_eq!((&hidden.status, &hidden.next), (&empty.status, &empty.next));
        at.put(&ada, on("wallet", SHORT)).unwrap();
        let status = at.status(&ada).unwrap();
        assert_eq!((status.engrams, &*status.status), (1, "ready"));
        (
            status.agents,
            status.drifted,
            status.due,
            status.engrams,
            status.next,
        )
    };
    assert_eq!(told(true), told(false));
}

/// What the user merges from claims that everybody sees is for everybody, though one of them is said in a run too.
#[test]
fn a_merge_is_as_visible_as_what_it_replaces() {
    let at = Ground::opened();
    let [ada, bob, hid] = ["ada", "bob", "hid"].map(|name| at.agent(name));
    at.put(&ada, on("wallet", SHORT)).unwrap();
    at.put(&bob, on("wallet", LONG)).unwrap();
    at.put(&hid, of_user_alone(LONG)).unwrap();
    at.0.help_index().unwrap();
    let [found] = &open(&at)[..] else {
        panic!("what covers is told alone: {:?}", open(&at));
    };
    let merge = Settle::Merge("The wallet lock lasts 3 minutes, 30 under load.".to_owned());
    let reply = at.settle(&USER, found.id, merge).unwrap();
    assert_eq!((reply.closed.len(), open(&at)), (3, Vec::new()));
    assert_eq!(at.get(&bob, reply.stored[0]).unwrap().scope, Scope::Project);
}

/// A side is named by an engram that its judge sees.
#[test]
fn no_verdict_names_what_its_judge_may_not_see() {
    let at = Ground::opened();
    let [ada, hid] = ["ada", "hid"].map(|name| at.agent(name));
    at.put(&ada, on("wallet", SHORT)).unwrap();
    at.put(&ada, on("wallet", LONG)).unwrap();
    let hidden = at.put(&hid, of_user_alone(LONG)).unwrap();
    let id = listed(&at, &ada, Listed::Open)[0].id;
    let named = at.settle(&ada, id, Settle::Winner(hidden.id));
    refused(named, Code::SchemaInvalid);
    at.settle(&hid, id, Settle::Winner(hidden.id)).unwrap();
}

/// A dismissal that is taken back hides nothing any more: neither what was dismissed with it nor what came meanwhile.
#[test]
fn no_dismissal_outlasts_its_undo() {
    for is_said_before in [true, false] {
        let at = Ground::opened();
        let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
        let seen = at.put(&ada, on("wallet", SHORT)).unwrap();
        at.put(&bob, on("wallet", LONG)).unwrap();
        if is_said_before {
            at.put(&USER, of_user_alone(SHORT)).unwrap();
            at.0.help_index().unwrap();
        }
        let id = open(&at)[0].id;
        at.settle(&USER, id, Settle::Dismiss).unwrap();
        if !is_said_before {
            at.put(&USER, of_user_alone(SHORT)).unwrap();
        }
        assert_eq!(
            (open(&at), at.gate(Severity::High).gate),
            (Vec::new(), Gate::Open)
        );
        at.settle(&USER, id, Settle::Undo).unwrap();
        at.forget(&ada, seen.id).unwrap();
        at.0.help_index().unwrap();
        let told = (open(&at).len(), risks(&at), at.gate(Severity::High).gate);
        assert_eq!(told, (1, 1, Gate::Shut), "said before: {is_said_before}");
    }
}

/// What covers a conflict is no less severe than it, and an id leads to the conflict that is allowed and undone by it.
#[test]
fn what_covers_is_as_severe_and_is_what_an_id_leads_to() {
    let at = Ground::opened();
    let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
    let guess = |claim: &str| Draft {
        fact_type: Some(FactType::Inference),
        ..on("wallet", claim)
    };
    at.put(&ada, guess(SHORT)).unwrap();
    at.put(&bob, guess(LONG)).unwrap();
    let wide = open(&at)[0].id;
    let allow = |id| {
        let allow = Allow {
            conflict: id,
            why: "Known.".to_owned(),
            undo: false,
        };
        at.0.ask(&USER, ask::Allow(allow)).unwrap()
    };
    assert!(allow(wide).allowed.is_some());
    at.put(&USER, of_user_alone(LONG)).unwrap();
    let narrow: Vec<_> = open(&at).into_iter().filter(|one| one.id != wide).collect();
    let [narrow] = &narrow[..] else {
        panic!("it is more severe: {narrow:?}");
    };
    assert_eq!(at.gate(Severity::High).gate, Gate::Shut);
    assert!(allow(narrow.id).allowed.is_some());
    assert_eq!(at.gate(Severity::High).gate, Gate::Open);
    // A verdict on one of them, by the id of the other.
    at.settle(&bob, wide, Settle::Dismiss).unwrap();
    let judged = at.settle(&USER, wide, Settle::Newer).unwrap();
    assert_eq!(judged.conflict, narrow.id);
    let undone = at.settle(&USER, wide, Settle::Undo).unwrap();
    assert_eq!(
        (undone.conflict, undone.stored.len()),
        (narrow.id, judged.closed.len())
    );
}

/// A topic is one in any spelling: for sides, and for whoever may read it.
#[test]
fn who_may_read_a_topic_reads_it_in_any_case() {
    let at = Ground::opened();
    let reader = reader(&at, &["net"]);
    let ada = at.agent("ada");
    at.put(&ada, on("NET", SHORT)).unwrap();
    at.put(&ada, on("net", LONG)).unwrap();
    assert_eq!(listed(&at, &reader, Listed::Open).len(), 1);
}

/// The conflict of a run is as severe as the worst of the versions that it is about, of the run too.
#[test]
fn the_conflict_of_a_run_is_as_severe_as_its_worst_version() {
    let at = Ground::opened();
    let [ada, hid] = ["ada", "hid"].map(|name| at.agent(name));
    let guess = |draft: Draft| Draft {
        fact_type: Some(FactType::Inference),
        ..draft
    };
    at.put(&ada, guess(on("wallet", LONG))).unwrap();
    at.put(&hid, of_user_alone(LONG)).unwrap();
    at.put(&hid, guess(of_user_alone(SHORT))).unwrap();
    let severities: Vec<Severity> = open(&at).iter().map(|one| one.severity).collect();
    assert_eq!(severities, [Severity::High]);
}
