//! Names of agents: none may pass for the user, and a name that an agent chose is distinguished
//! from one that a person gave.

use std::sync::atomic::{AtomicU32, Ordering};

use engram_model::{
    AgentId, BudgetOf, Caller, Code, ConflictId, ConflictStatus, Draft, EngramId, Feed, Gate, Hook,
    HookEvent, How, Note, Opening, Operation, Refusal, SamRead, Sending, Severity, ask,
    operation::{Agent, Permit, Ruling},
};
use engram_store::{Due, NewEntry, Store, StoreError};

use crate::{
    fixture::{
        Asked, Ground, LONG, POINTER, SHORT, USER, conflict, contradicted, draft, evidence, handle,
        on, refused, told,
    },
    handles::{called, open},
};

/// Spellings of the names of the user and of Engram.
const OURS: [&str; 13] = [
    "the user",
    "The User",
    "ｕｓｅｒ",
    "usеr",
    "ꓴꓢꓰꓣ",
    "øwner",
    "μser",
    "you.",
    "Engram",
    "еngrаm",
    "The user!",
    "us|er",
    "@you",
];

/// The result for a name: the claim that was stored under it.
type Came = Result<EngramId, Refusal>;

/// Stores a claim that nobody made before.
fn put(at: &Asked, who: &Caller, agent: Option<&str>) -> Came {
    static SAID: AtomicU32 = AtomicU32::new(0);
    let number = SAID.fetch_add(1, Ordering::Relaxed);
    let said = Draft {
        agent: agent.map(str::to_owned),
        ..draft(&format!("Part {number} is read."))
    };
    at.put(who, said).map(|it| it.id)
}

fn note(at: &Asked, who: &Caller, agent: Option<&str>) -> Result<(), Refusal> {
    let note = Note {
        kind: "decision".to_owned(),
        slug: "domain".to_owned(),
        text: "We publish.".to_owned(),
        agent: agent.map(str::to_owned),
    };
    at.0.ask(who, ask::Note(note)).map(drop)
}

fn send(at: &Asked, who: &Caller) -> Result<(), Refusal> {
    let sending = Sending {
        message: serde_json::json!({ "status": "ok" }),
        to: None,
    };
    at.0.ask(who, ask::Send(sending)).map(drop)
}

fn recall(at: &Asked, agent: &str) -> Result<(), Refusal> {
    let read = SamRead {
        kind: "decision".to_owned(),
        slug: "domain".to_owned(),
    };
    let hook = Hook {
        agent: Some(AgentId(agent.to_owned())),
        event: HookEvent::SamRead(read),
    };
    at.0.ask(&USER, ask::Hook(Box::new(hook))).map(drop)
}

fn budget(at: &Asked, agent: &str) -> Result<(), Refusal> {
    let of = BudgetOf {
        costs: false,
        agent: Some(AgentId(agent.to_owned())),
    };
    at.0.ask(&USER, ask::Budget(of)).map(drop)
}

/// Every way in which a name can enter. A name that a person types is refused; a client's own name
/// is shown as an agent's.
#[test]
fn no_way_in_makes_anybody_the_user() {
    type Way = (&'static str, bool, fn(&Asked, &str) -> Came);
    let ways: [Way; 13] = [
        ("put --agent", true, |at, it| put(at, &USER, Some(it))),
        ("note --agent", true, |at, it| {
            none(note(at, &USER, Some(it)))
        }),
        ("deref --agent", true, |at, it| {
            none(at.deref(&called(it), POINTER).map(drop))
        }),
        ("message send --agent", true, |at, it| {
            none(send(at, &called(it)))
        }),
        ("brief --agent", true, |at, it| {
            none(at.0.ask(&called(it), ask::Brief).map(drop))
        }),
        ("budget --agent", true, |at, it| none(budget(at, it))),
        ("a call under that handle", true, |at, it| {
            put(at, &called(it), None)
        }),
        ("a note under that handle", true, |at, it| {
            none(note(at, &called(it), None))
        }),
        ("POST /hook/sam", true, |at, it| none(recall(at, it))),
        ("agents open, POST /agent", true, |at, it| {
            none(open(at, &USER, it, None).map(drop))
        }),
        ("POST /agent with an agent's token", true, |at, it| {
            none(open(at, &called("lead"), it, None).map(drop))
        }),
        ("clientInfo", false, |at, it| put(at, &at.agent(it), None)),
        ("agent_id", false, |at, it| {
            put(at, &called("lead"), Some(it))
        }),
    ];
    for (way, is_refused, come) in ways {
        let at = Ground::opened();
        open(&at, &USER, "lead", None).unwrap();
        for name in OURS {
            let came = come(&at, name);
            assert_eq!(came.is_err(), is_refused, "{way}, {name}: {came:?}");
            let shown = came.map(|it| at.get(&USER, it).unwrap().provenance.created_by);
            assert!(
                shown.is_err() || shown.as_ref().is_ok_and(|it| it.ends_with(" (agent)")),
                "{way}, {name}: {shown:?}"
            );
            let listed = at.0.ask(&USER, ask::Agents).unwrap().agents;
            let names: Vec<&str> = listed.iter().map(|it| it.name.as_str()).collect();
            assert!(
                names
                    .iter()
                    .all(|it| *it == "lead" || it.ends_with(" (agent)")),
                "{way}, {name}: {names:?}"
            );
        }
    }
}

fn none(came: Result<(), Refusal>) -> Came {
    came.map(|()| EngramId(ulid::Ulid::nil()))
}

fn dismissal_of(id: ConflictId) -> Ruling {
    Ruling {
        id,
        status: ConflictStatus::Dismissed,
        how: Some(How::Dismissed),
        winner: None,
        merged: None,
        closed: Vec::new(),
        stored: Vec::new(),
        why: Some("I said so.".to_owned()),
    }
}

/// A verdict of an agent that an earlier build allowed to call itself the user, with its
/// consequences.
fn as_before(ground: &Ground, at: &Asked, id: ConflictId, closed: EngramId) {
    let project = at.get(&USER, closed).unwrap().project;
    let impostor = AgentId("the user".to_owned());
    let ruling = Ruling {
        status: ConflictStatus::Resolved,
        ..dismissal_of(id)
    };
    let permit = Permit {
        id,
        why: "It may pass.".to_owned(),
        undone: false,
    };
    let joined = Agent {
        handle: impostor.clone(),
        label: impostor.0.clone(),
        role: None,
        parent: None,
        run: engram_model::RunId(ulid::Ulid(3)),
        project,
        topics: Default::default(),
        turn: "t1".to_owned(),
        last_call: ground.clock.now(),
    };
    let before = [
        Operation::Joined(Box::new(joined)),
        Operation::Resolved(Box::new(ruling)),
        Operation::Allowed(permit),
    ];
    let store = Store::open_only(&ground.home(), ulid::Ulid::nil()).unwrap();
    store
        .write::<_, StoreError>(ground.clock.now(), |tx| {
            before.iter().try_for_each(|operation| {
                let entry = NewEntry {
                    project,
                    shareable: false,
                    agent: Some(&impostor),
                    by: &impostor.0,
                    operation,
                };
                tx.record(&entry).map(drop)
            })
        })
        .unwrap();
}

/// A home of an earlier build has names that this build refuses. Readers see that they belong to an
/// agent.
#[test]
fn what_an_earlier_build_recorded_is_shown_as_an_agents() {
    let ground = Ground::new();
    let at = ground.open();
    let (id, first, _) = contradicted(&at);
    as_before(&ground, &at, id, first);
    let at = ground.open_at("repo", 2);
    let told = conflict(&at, id);
    let agent = "the user (agent)";
    assert_eq!(told.settled.map(|it| it.by).as_deref(), Some(agent));
    assert_eq!(told.allowed.map(|it| it.by).as_deref(), Some(agent));
    let feed = Feed {
        all: true,
        ..Feed::default()
    };
    let entries = at.0.ask(&USER, ask::Feed(feed)).unwrap().entries;
    assert!(entries.iter().all(|it| it.by != "the user"), "{entries:?}");
    assert!(entries.iter().any(|it| it.by == agent), "{entries:?}");
    let listed = at.0.ask(&USER, ask::Agents).unwrap().agents;
    assert!(listed.iter().any(|it| it.name == agent), "{listed:?}");
    // The conflict is found again, and the finder is told about the verdict.
    let elsewhere = Draft {
        pointers: vec![evidence("repo:README.md@HEAD")],
        ..on("wallet", SHORT)
    };
    let again = at.put(&at.agent("eve"), elsewhere).unwrap();
    let notes: Vec<&str> = again.findings.iter().map(|it| it.note.as_str()).collect();
    assert!(
        notes
            .iter()
            .any(|it| it.contains("by \"the user (agent)\"")),
        "{notes:?}"
    );
    // Its agent continues under its handle, and says nothing as the user.
    let said = put(&at, &called("the user"), None).unwrap();
    assert_eq!(at.get(&USER, said).unwrap().provenance.created_by, agent);
    at.forget(&called("the user"), said).unwrap();
}

/// An earlier build let an agent dismiss a conflict with a claim of the user. When the home is brought
/// up to date, both versions are compared again.
#[test]
fn a_dismissal_that_an_earlier_build_let_an_agent_make_hides_no_contradiction() {
    let ground = Ground::new();
    let at = ground.open();
    let bob = at.agent("bob");
    let kept = at.put(&USER, on("wallet", SHORT)).unwrap();
    let other = at.put(&bob, on("wallet", LONG)).unwrap();
    let [id] = told(&other)[..] else {
        panic!("{other:?}");
    };
    let project = at.get(&USER, kept.id).unwrap().project;
    let places = [kept.id, other.id].map(|id| at.get(&USER, id).unwrap().seq);
    let dismissal = NewEntry {
        project,
        shareable: false,
        agent: Some(&AgentId("bob".to_owned())),
        by: "bob",
        operation: &Operation::Resolved(Box::new(dismissal_of(id))),
    };
    drop(at);
    let store = Store::open_only(&ground.home(), ulid::Ulid::nil()).unwrap();
    store
        .write::<_, StoreError>(ground.clock.now(), |tx| {
            tx.record(&dismissal)?;
            places
                .iter()
                .try_for_each(|seq| tx.keep_due(project, *seq, Due::ALL))
        })
        .unwrap();
    drop(store);
    let at = ground.open_at("repo", 2);
    assert_eq!(at.gate(Severity::High).gate, Gate::Shut, "it is due");
    at.0.leave_in_order().unwrap();
    assert_eq!(conflict(&at, id).status, ConflictStatus::Open);
    assert_eq!(at.gate(Severity::High).blocking, [id]);
}

/// A person gives a name by opening an agent, or in a command: as a handle, or as the author of a
/// claim or a note. An agent that chose a similar name, for itself or for its child, is marked.
#[test]
fn a_chosen_name_is_told_from_a_given_one() {
    type Way = (&'static str, fn(&Asked, &str) -> Came);
    let given: [Way; 4] = [
        ("agents open", |at, name| {
            open(at, &USER, name, None)?;
            put(at, &called(name), None)
        }),
        ("put --agent", |at, name| put(at, &USER, Some(name))),
        ("note --agent", |at, name| {
            note(at, &USER, Some(name))?;
            put(at, &USER, Some(name))
        }),
        ("deref --agent", |at, name| {
            at.deref(&called(name), POINTER)?;
            put(at, &called(name), None)
        }),
    ];
    let chosen: [Way; 4] = [
        ("clientInfo", |at, name| put(at, &at.agent(name), None)),
        ("agent_id", |at, name| {
            put(at, &at.agent("other"), Some(name))
        }),
        ("agent_id of an agent with a token", |at, name| {
            put(at, &called("lead"), Some(name))
        }),
        ("a child's name", |at, name| {
            let child = open(at, &called("lead"), name, None)?;
            put(at, &Caller::Agent(child.agent), None)
        }),
    ];
    let looks = ["Reader 1", "rеader-1", "ｒｅａｄｅｒ-1", "reader‐l"];
    for (gift, give) in given {
        for (choice, choose) in chosen {
            let at = Ground::opened();
            open(&at, &USER, "lead", None).unwrap();
            let by = |id: Came| at.get(&USER, id.unwrap()).unwrap().provenance.created_by;
            assert_eq!(by(give(&at, "reader-1")), "reader-1", "{gift}");
            for name in looks {
                let case = format!("{gift}, {choice}, {name}");
                let shown = by(choose(&at, name));
                assert!(shown.starts_with(&format!("{name} (")), "{case}: {shown}");
            }
            let case = format!("{gift}, after {choice}");
            assert_eq!(by(give(&at, "reader-1")), "reader-1", "{case}");
        }
    }
}

/// A mark that an agent's name alone caused says so. A person's name is never marked because of an
/// agent.
#[test]
fn a_child_cannot_mark_the_name_that_a_person_gave() {
    let at = Ground::opened();
    open(&at, &USER, "lead", None).unwrap();
    let child = open(&at, &called("lead"), "Ada", None).unwrap();
    let child = Caller::Agent(child.agent);
    let by = |who: &Caller, claim: &str| {
        let stored = at.put(who, draft(claim)).unwrap();
        at.get(&USER, stored.id).unwrap().provenance.created_by
    };
    assert_eq!(by(&child, "Said before."), "Ada");
    open(&at, &USER, "ada", None).unwrap();
    assert_eq!(by(&called("ada"), "Said by the given."), "ada");
    assert_eq!(by(&child, "Said by the child."), "Ada (named by an agent)");
    let listed = at.0.ask(&USER, ask::Agents).unwrap().agents;
    let name = |who: &Caller| {
        let found = listed.iter().find(|it| it.handle == handle(who));
        found.map(|it| it.name.as_str()).unwrap()
    };
    assert_eq!(name(&child), "Ada (named by an agent)");
    assert_eq!(name(&called("ada")), "ada");
    // The user opens it again: from then on the name is one that a person gave.
    let opening = Opening {
        name: "Ada".to_owned(),
        parent: Some(AgentId("lead".to_owned())),
        ..Opening::default()
    };
    at.0.ask(&USER, ask::OpenAgent(opening)).unwrap();
    assert_eq!(by(&child, "Said by the child that the user opened."), "Ada");
    refused(put(&at, &USER, Some("you")), Code::SchemaInvalid);
    for own in ["user", ""] {
        let said = put(&at, &USER, Some(own)).unwrap();
        assert_eq!(at.get(&USER, said).unwrap().provenance.created_by, "user");
    }
}
