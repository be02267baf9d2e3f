//! Names of agents: none may pass for the user, and a name that an agent chose is distinguished
//! from one that a person gave.

use std::sync::atomic::{AtomicU32, Ordering};

use engram_model::{
    AgentId, BudgetOf, Caller, Code, ConflictId, ConflictStatus, Draft, EngramId, Feed, Gate, Hook,
    HookEvent, How, Note, Opening, Operation, Refusal, SamRead, Sending, Severity, ask,
    operation::{Agent, Permit, Ruling},
};
use engram_store::{Due, NewEntry, Store, StoreError};

use crate::fixture::{
    Asked, LONG, POINTER, SHORT, Sandbox, USER,
    agents::{agent_named, open_agent},
    conflicts::{conflict, conflicts_in, contradict},
    draft, handle_of, on_topic, other_evidence, refused,
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

fn recall_as(at: &Asked, agent: &str) -> Result<(), Refusal> {
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

fn ask_budget_of(at: &Asked, agent: &str) -> Result<(), Refusal> {
    let of = BudgetOf {
        agent: Some(AgentId(agent.to_owned())),
    };
    at.0.ask(&USER, ask::Budget(of)).map(drop)
}

/// Every way for a name to get in. A name that a person types is refused; a client's own name
/// is shown as an agent's.
#[test]
fn no_way_in_makes_anybody_the_user() {
    type Way = (&'static str, bool, fn(&Asked, &str) -> Came);
    let ways: [Way; 13] = [
        ("put --agent", true, |at, it| put(at, &USER, Some(it))),
        ("note --agent", true, |at, it| {
            without_id(note(at, &USER, Some(it)))
        }),
        ("deref --agent", true, |at, it| {
            without_id(at.deref(&agent_named(it), POINTER).map(drop))
        }),
        ("message send --agent", true, |at, it| {
            without_id(send(at, &agent_named(it)))
        }),
        ("brief --agent", true, |at, it| {
            without_id(at.0.ask(&agent_named(it), ask::Brief).map(drop))
        }),
        ("budget --agent", true, |at, it| {
            without_id(ask_budget_of(at, it))
        }),
        ("a call under that handle", true, |at, it| {
            put(at, &agent_named(it), None)
        }),
        ("a note under that handle", true, |at, it| {
            without_id(note(at, &agent_named(it), None))
        }),
        ("POST /hook/sam", true, |at, it| {
            without_id(recall_as(at, it))
        }),
        ("agents open, POST /agent", true, |at, it| {
            without_id(open_agent(at, &USER, it, None).map(drop))
        }),
        ("POST /agent with an agent's token", true, |at, it| {
            without_id(open_agent(at, &agent_named("lead"), it, None).map(drop))
        }),
        ("clientInfo", false, |at, it| put(at, &at.agent(it), None)),
        ("agent_id", false, |at, it| {
            put(at, &agent_named("lead"), Some(it))
        }),
    ];
    for (way, is_refused, come) in ways {
        let at = Sandbox::open_new();
        open_agent(&at, &USER, "lead", None).unwrap();
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

fn without_id(came: Result<(), Refusal>) -> Came {
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
fn record_verdict_of_impostor(sandbox: &Sandbox, at: &Asked, id: ConflictId, closed: EngramId) {
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
        client: None,
        role: None,
        parent: None,
        run: engram_model::RunId(ulid::Ulid(3)),
        project,
        topics: Default::default(),
        turn: "t1".to_owned(),
        last_call: sandbox.clock.now(),
        is_hidden: false,
        is_closed: false,
    };
    let before = [
        Operation::Joined(Box::new(joined)),
        Operation::Resolved(Box::new(ruling)),
        Operation::Allowed(permit),
    ];
    let store = Store::open_only(&sandbox.home(), ulid::Ulid::nil()).unwrap();
    store
        .write::<_, StoreError>(sandbox.clock.now(), |tx| {
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
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let (id, first, _) = contradict(&at);
    record_verdict_of_impostor(&sandbox, &at, id, first);
    let at = sandbox.open_at("repo", 2);
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
        pointers: other_evidence(),
        ..on_topic("wallet", SHORT)
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
    let said = put(&at, &agent_named("the user"), None).unwrap();
    assert_eq!(at.get(&USER, said).unwrap().provenance.created_by, agent);
    at.forget(&agent_named("the user"), said).unwrap();
}

/// An earlier build let an agent dismiss a conflict with a claim of the user. When the home is brought
/// up to date, both versions are compared again.
#[test]
fn a_dismissal_that_an_earlier_build_let_an_agent_make_hides_no_contradiction() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let bob = at.agent("bob");
    let kept = at.put(&USER, on_topic("wallet", SHORT)).unwrap();
    let other = at.put(&bob, on_topic("wallet", LONG)).unwrap();
    let [id] = conflicts_in(&other)[..] else {
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
    let store = Store::open_only(&sandbox.home(), ulid::Ulid::nil()).unwrap();
    store
        .write::<_, StoreError>(sandbox.clock.now(), |tx| {
            tx.record(&dismissal)?;
            places
                .iter()
                .try_for_each(|seq| tx.keep_due(project, *seq, Due::ALL))
        })
        .unwrap();
    drop(store);
    let at = sandbox.open_at("repo", 2);
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
            open_agent(at, &USER, name, None)?;
            put(at, &agent_named(name), None)
        }),
        ("put --agent", |at, name| put(at, &USER, Some(name))),
        ("note --agent", |at, name| {
            note(at, &USER, Some(name))?;
            put(at, &USER, Some(name))
        }),
        ("deref --agent", |at, name| {
            at.deref(&agent_named(name), POINTER)?;
            put(at, &agent_named(name), None)
        }),
    ];
    let chosen: [Way; 4] = [
        ("clientInfo", |at, name| put(at, &at.agent(name), None)),
        ("agent_id", |at, name| {
            put(at, &at.agent("other"), Some(name))
        }),
        ("agent_id of an agent with a token", |at, name| {
            put(at, &agent_named("lead"), Some(name))
        }),
        ("a child's name", |at, name| {
            let child = open_agent(at, &agent_named("lead"), name, None)?;
            put(at, &Caller::Agent(child.agent), None)
        }),
    ];
    let looks = ["Reader 1", "rеader-1", "ｒｅａｄｅｒ-1", "reader‐l"];
    for (gift, give) in given {
        for (choice, choose) in chosen {
            let at = Sandbox::open_new();
            open_agent(&at, &USER, "lead", None).unwrap();
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
    let at = Sandbox::open_new();
    open_agent(&at, &USER, "lead", None).unwrap();
    let child = open_agent(&at, &agent_named("lead"), "Ada", None).unwrap();
    let child = Caller::Agent(child.agent);
    let by = |who: &Caller, claim: &str| {
        let stored = at.put(who, draft(claim)).unwrap();
        at.get(&USER, stored.id).unwrap().provenance.created_by
    };
    assert_eq!(by(&child, "Said before."), "Ada");
    open_agent(&at, &USER, "ada", None).unwrap();
    assert_eq!(by(&agent_named("ada"), "Said by the given."), "ada");
    assert_eq!(by(&child, "Said by the child."), "Ada (named by an agent)");
    let listed = at.0.ask(&USER, ask::Agents).unwrap().agents;
    let name = |who: &Caller| {
        let found = listed.iter().find(|it| it.handle == handle_of(who));
        found.map(|it| it.name.as_str()).unwrap()
    };
    assert_eq!(name(&child), "Ada (named by an agent)");
    assert_eq!(name(&agent_named("ada")), "ada");
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

/// The mark is seen wherever the name is, however long the name, and nobody writes it themselves.
#[test]
fn a_name_that_begins_like_the_users_is_marked() {
    let engine = Sandbox::open_new();
    for name in [
        "the user of this repository",
        "The User (owner)",
        "you (the user)",
        "the user . . . . . . . . . . . . . . . . . . . . . . . . . . .",
    ] {
        let claim = format!("Ship on {}.", name.len());
        let said = engine.put(&engine.agent(name), draft(&claim)).unwrap();
        let by = engine.get(&USER, said.id).unwrap().provenance.created_by;
        assert!(by.ends_with(" (agent)") && by.chars().count() <= 40, "{by}");
        refused(open_agent(&engine, &USER, name, None), Code::SchemaInvalid);
    }
}
