//! Hidden things: what somebody may not see is not revealed to them, in conflicts and their
//! reports, in events and in counts.

use engram_model::{
    AgentId, Allow, Caller, Change, Code, Commit, ConflictStatus, Draft, FactType, Feed, FeedPage,
    Gate, Hook, HookEvent, HookReply, Kind, Listed, OWN_EVENT, Opening, Query, Refusal, SamRead,
    Scope, Settle, Severity, ask,
};

use crate::fixture::{
    Asked, LONG, SHORT, Sandbox, USER,
    conflicts::{
        conflict_seen_by, count_risks, count_risks_seen_by, draft_of_user_alone, list_conflicts,
        open_conflicts, page_of_conflicts,
    },
    handle_of, on_topic, other_evidence, query, refused,
};

/// Repeating a claim that lost gets the same reply and finds the conflict open, whatever is hidden.
#[test]
fn what_is_said_again_is_told_alike_whatever_is_hidden() {
    for how in [Settle::Newer, Settle::Dismiss] {
        let told = |is_hidden: bool| {
            let at = Sandbox::open_new();
            let [judge, eve] = ["judge", "eve"].map(|name| at.agent(name));
            if is_hidden {
                at.put(&USER, draft_of_user_alone(SHORT)).unwrap();
            }
            at.put(&judge, on_topic("wallet", SHORT)).unwrap();
            at.put(&judge, on_topic("wallet", LONG)).unwrap();
            let id = open_conflicts(&at)[0].id;
            at.settle(&judge, id, how.clone()).unwrap();
            at.settle(&judge, id, Settle::Undo).unwrap();
            let undone = conflict_seen_by(&at, &judge, id);
            assert_eq!(undone.status, ConflictStatus::Open);
            let undone = (undone.settled, undone.risk.is_some());
            at.settle(&judge, id, how.clone()).unwrap();
            let again = Draft {
                pointers: other_evidence(),
                ..on_topic("wallet", SHORT)
            };
            let said = at.put(&eve, again).unwrap();
            let notes: Vec<String> = said
                .findings
                .into_iter()
                .filter(|it| it.conflict.is_some())
                .map(|it| it.note)
                .collect();
            let seen = [&judge, &eve].map(|who| {
                let conflict = conflict_seen_by(&at, who, id);
                let record = at.get(who, said.id).unwrap();
                (conflict.status, conflict.risk.is_some(), record.conflicts)
            });
            (said.conflicts, said.due, notes, seen, undone)
        };
        assert_eq!(told(true), told(false), "{how:?}");
    }
}

/// A conflict is raised by the versions that the most readers can see, so that everybody who sees
/// both sides gets its report.
#[test]
fn a_conflict_is_reported_to_all_who_see_both_sides() {
    let told = |is_hidden: bool| {
        let at = Sandbox::open_new();
        let [ada, eve] = ["ada", "eve"].map(|name| at.agent(name));
        at.put(&ada, on_topic("wallet", SHORT)).unwrap();
        if is_hidden {
            at.put(&eve, draft_of_user_alone(SHORT)).unwrap();
        }
        at.put(&USER, on_topic("wallet", LONG)).unwrap();
        let seen = list_conflicts(&at, &ada, Listed::Open);
        assert_eq!(seen.len(), 1);
        (seen[0].severity, seen[0].risk.is_some())
    };
    assert_eq!(told(true), told(false));
}

/// The report of a conflict lasts as long as the claims in it.
#[test]
fn a_report_does_not_end_before_its_conflict() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
    at.put(&bob, on_topic("wallet", LONG)).unwrap();
    let short = Draft {
        ttl: Some("PT60S".parse().unwrap()),
        ..on_topic("wallet", SHORT)
    };
    at.put(&ada, short).unwrap();
    let again = Draft {
        pointers: other_evidence(),
        ..on_topic("wallet", SHORT)
    };
    at.put(&bob, again).unwrap();
    assert_eq!(count_risks(&at), 1);
    sandbox.clock.turn(120);
    assert_eq!((open_conflicts(&at).len(), count_risks(&at)), (1, 1));
}

/// When the visible version of a side is deleted, the report ends for readers who see no other
/// version of that side, but not for the rest.
#[test]
fn a_report_ends_for_whoever_sees_a_side_of_it_no_more() {
    let told = |is_hidden: bool, is_narrowed: bool| {
        let at = Sandbox::open_new();
        let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
        at.put(&bob, on_topic("wallet", LONG)).unwrap();
        let said = at.put(&ada, on_topic("wallet", SHORT)).unwrap();
        if is_hidden {
            at.put(&USER, draft_of_user_alone(SHORT)).unwrap();
        }
        assert_eq!(count_risks_seen_by(&at, &bob), 1);
        if is_narrowed {
            let own = Draft {
                scope: Some(Scope::Run),
                corrects_lineage: Some(said.id.to_string()),
                ..on_topic("wallet", SHORT)
            };
            at.put(&ada, own).unwrap();
        } else {
            at.forget(&ada, said.id).unwrap();
        }
        at.0.leave_in_order().unwrap();
        let told = |who: &Caller| {
            (
                list_conflicts(&at, who, Listed::Open).len(),
                count_risks_seen_by(&at, who),
            )
        };
        let due = page_of_conflicts(&at, &bob, Listed::Open).due;
        ((told(&bob), due), told(&ada), told(&USER).0)
    };
    for is_narrowed in [false, true] {
        let (with, without) = (told(true, is_narrowed), told(false, is_narrowed));
        assert_eq!((with.0, with.1), (without.0, without.1), "{is_narrowed}");
        // One is for the user alone, and one for ada's run, if its version still holds.
        assert_eq!(with.2, 1 + usize::from(is_narrowed));
        assert_eq!(with.0, ((0, 0), 0), "{is_narrowed}");
        let own = usize::from(is_narrowed);
        assert_eq!(with.1, (own, own), "{is_narrowed}");
    }
}

/// What is hidden from an author takes no place in the reply, is not counted in it, and does not
/// count for any page.
#[test]
fn what_is_hidden_takes_no_place_from_what_is_seen() {
    let told = |is_hidden: bool| {
        let at = Sandbox::open_new();
        let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
        if is_hidden {
            for number in 0..6 {
                let claim = format!("The wallet lock lasts {} minutes.", 40 + number);
                at.put(&USER, draft_of_user_alone(&claim)).unwrap();
                at.0.leave_in_order().unwrap();
            }
        }
        at.put(&bob, on_topic("wallet", LONG)).unwrap();
        let said = at.put(&ada, on_topic("wallet", SHORT)).unwrap();
        at.0.leave_in_order().unwrap();
        let pages = [Listed::Open, Listed::All, Listed::Closed, Listed::Resolved].map(|status| {
            let page = page_of_conflicts(&at, &ada, status);
            (page.conflicts.len(), page.omitted, page.open, page.due)
        });
        (said.conflicts, said.due, said.findings.len(), pages)
    };
    assert_eq!(told(true), told(false));
}

fn open_reader(at: &Asked, topics: &[&str]) -> Caller {
    let opening = Opening {
        name: "reader".to_owned(),
        read: topics.iter().map(|&topic| topic.to_owned()).collect(),
        ..Opening::default()
    };
    Caller::Agent(at.0.ask(&USER, ask::OpenAgent(opening)).unwrap().agent)
}

/// The report of a conflict repeats both sides, so it is only as visible as both, everywhere.
#[test]
fn what_reports_a_conflict_is_told_to_nobody_who_may_not_see_both_sides() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let stranger = open_reader(&at, &["wallet"]);
    let ada = at.agent("ada");
    let hidden = at
        .put(
            &ada,
            on_topic("vault", "The wallet service listens on port 4711."),
        )
        .unwrap();
    let seen = at
        .put(
            &ada,
            on_topic("wallet", "The wallet service listens on port 4712."),
        )
        .unwrap();
    let [known] = &open_conflicts(&at)[..] else {
        panic!("the two contradict each other: {:?}", open_conflicts(&at));
    };
    let risk = known.risk.unwrap();
    assert_eq!(at.get(&ada, risk).unwrap().kind, Kind::Risk);
    let is_told = |when: &str| {
        refused(at.get(&stranger, risk), Code::NotFound);
        refused(at.get(&stranger, hidden.id), Code::NotFound);
        refused(at.0.ask(&stranger, ask::Conflict(known.id)), Code::NotFound);
        assert_eq!(list_conflicts(&at, &stranger, Listed::All), [], "{when}");
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
    // An earlier report has the same visibility, even after another one replaces it.
    let then = at.0.now();
    sandbox.clock.turn(60);
    at.settle(&USER, known.id, Settle::Newer).unwrap();
    let hidden = at
        .put(
            &at.agent("eve"),
            on_topic("vault", "The wallet service listens on port 4711."),
        )
        .unwrap();
    assert_ne!(open_conflicts(&at)[0].risk, Some(risk));
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

/// Names are compared by how they look, wherever an agent gets one.
#[test]
fn nobody_passes_for_the_user_or_for_an_agent_that_was_opened() {
    let at = Sandbox::open_new();
    open_reader(&at, &[]);
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
            .put(&client, on_topic("wallet", &format!("{name} says so.")))
            .unwrap();
        let named = Draft {
            agent: Some(name.to_owned()),
            ..on_topic("wallet", &format!("{name} says so by name."))
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
            .put(
                &client,
                on_topic("wallet", &format!("Page {number} is read.")),
            )
            .unwrap();
        let by = at.get(&USER, said.id).unwrap().provenance.created_by;
        assert!(by.starts_with(&format!("{name} (")), "{name}: {by}");
    }
}

fn read_event(at: &Asked, who: &Caller, slug: &str) -> Result<HookReply, Refusal> {
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

/// Says this without evidence, so that the claim rests on the event of making it. Returns the slug
/// of that event.
fn say_alone(at: &Asked, who: &Caller, claim: &str, scope: Scope) -> String {
    let draft = Draft {
        claim: claim.to_owned(),
        scope: Some(scope),
        ..Draft::default()
    };
    let said = at.0.ask(
        who,
        ask::Commit(Box::new(Commit {
            draft,
            ..Commit::default()
        })),
    );
    let id = said.unwrap().id;
    let pointer = at.get(&USER, id).unwrap().pointers[0].to_string();
    let slug = pointer.split(':').nth(2).unwrap();
    slug.split('@').next().unwrap().to_owned()
}

/// An agent that may not see a claim gets the same reply for its event as for a missing one. Its
/// own event with the same words still works.
#[test]
fn an_event_that_is_hidden_is_not_told_from_none() {
    let at = Sandbox::open_new();
    let ada = at.agent("ada");
    let say = |who: &Caller, claim: &str, scope| say_alone(&at, who, claim, scope);
    let hidden = say(&USER, "The vault opens at nine.", Scope::Run);
    assert!(read_event(&at, &ada, &hidden).is_err());
    let [there, none] = [&*hidden, "nothing"].map(|slug| read_event(&at, &ada, slug).unwrap_err());
    assert_eq!(there, none);
    // Both made this claim, and each sees it.
    let own = say(&ada, "The ledger closes at ten.", Scope::Project);
    let before = read_event(&at, &ada, &own).unwrap();
    assert_eq!(say(&USER, "The ledger closes at ten.", Scope::Run), own);
    assert_eq!(read_event(&at, &ada, &own).unwrap(), before);
}

/// Two authors who say the same share an address, but each entry of the feed is as visible as the
/// claim that its own event repeats: the next entry.
#[test]
fn the_feed_shows_the_event_of_a_claim_to_whoever_sees_that_claim() {
    let words = "The ledger closes at ten.";
    for is_hidden_first in [true, false] {
        let at = Sandbox::open_new();
        let ada = at.agent("ada");
        let mut said = [(&USER, Scope::Run), (&ada, Scope::Project)];
        if !is_hidden_first {
            said.reverse();
        }
        let [one, two] = said.map(|(who, scope)| say_alone(&at, who, words, scope));
        assert_eq!(one, two);
        let all = Feed {
            all: true,
            ..Feed::default()
        };
        let seen = at.0.ask(&ada, ask::Feed(all)).unwrap();
        let authors = |page: &FeedPage| -> Vec<Option<AgentId>> {
            let noted = page.entries.iter();
            let noted = noted.filter(|it| matches!(it.change, Change::Noted { .. }));
            noted.map(|it| it.agent.clone()).collect()
        };
        assert_eq!(authors(&seen), [Some(handle_of(&ada))], "{is_hidden_first}");
        let journal = at.journal();
        assert_eq!(authors(&journal).len(), 2);
        for pair in journal.entries.windows(2) {
            let Change::Noted { pointer, .. } = &pair[0].change else {
                continue;
            };
            let Change::Stored(claim) = &pair[1].change else {
                panic!("not the claim: {:?}", pair[1]);
            };
            assert_eq!(pair[1].seq, pair[0].seq + 1);
            assert!(claim.pointers[0].to_string().starts_with(pointer));
        }
    }
}

/// An agent gets the same status, whatever is hidden from it.
#[test]
fn a_status_counts_what_its_caller_may_see() {
    let told = |is_hidden: bool| {
        let at = Sandbox::open_new();
        let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
        let empty = at.status(&ada).unwrap();
        if is_hidden {
            at.put(&USER, draft_of_user_alone(SHORT)).unwrap();
            at.put(&bob, draft_of_user_alone(LONG)).unwrap();
            at.put(&bob, draft_of_user_alone(SHORT)).unwrap();
        }
        let hidden = at.status(&ada).unwrap();
        assert_eq!((&hidden.status, &hidden.next), (&empty.status, &empty.next));
        at.put(&ada, on_topic("wallet", SHORT)).unwrap();
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

/// The covering conflict is at least as severe, and an id leads to the conflict that it allows and
/// undoes.
#[test]
fn what_covers_is_as_severe_and_is_what_an_id_leads_to() {
    let at = Sandbox::open_new();
    let [ada, bob] = ["ada", "bob"].map(|name| at.agent(name));
    let guess = |claim: &str| Draft {
        fact_type: Some(FactType::Inference),
        ..on_topic("wallet", claim)
    };
    at.put(&ada, guess(SHORT)).unwrap();
    at.put(&bob, guess(LONG)).unwrap();
    let wide = open_conflicts(&at)[0].id;
    let allow = |id| {
        let allow = Allow {
            conflict: id,
            why: "Known.".to_owned(),
            undo: false,
        };
        at.0.ask(&USER, ask::Allow(allow)).unwrap()
    };
    assert!(allow(wide).allowed.is_some());
    at.put(&USER, draft_of_user_alone(LONG)).unwrap();
    let narrow: Vec<_> = open_conflicts(&at)
        .into_iter()
        .filter(|one| one.id != wide)
        .collect();
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

/// A topic is the same in any spelling, both for sides and for reading rights.
#[test]
fn who_may_read_a_topic_reads_it_in_any_case() {
    let at = Sandbox::open_new();
    let reader = open_reader(&at, &["net"]);
    let ada = at.agent("ada");
    at.put(&ada, on_topic("NET", SHORT)).unwrap();
    at.put(&ada, on_topic("net", LONG)).unwrap();
    assert_eq!(list_conflicts(&at, &reader, Listed::Open).len(), 1);
}

/// The conflict of a run is as severe as the worst of its versions, including those of the run.
#[test]
fn the_conflict_of_a_run_is_as_severe_as_its_worst_version() {
    let at = Sandbox::open_new();
    let [ada, hid] = ["ada", "hid"].map(|name| at.agent(name));
    let guess = |draft: Draft| Draft {
        fact_type: Some(FactType::Inference),
        ..draft
    };
    at.put(&ada, guess(on_topic("wallet", LONG))).unwrap();
    at.put(&hid, draft_of_user_alone(LONG)).unwrap();
    at.put(&hid, guess(draft_of_user_alone(SHORT))).unwrap();
    let severities: Vec<Severity> = open_conflicts(&at).iter().map(|one| one.severity).collect();
    assert_eq!(severities, [Severity::High]);
}
