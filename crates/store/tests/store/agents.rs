//! Agents, their tokens and their permissions: a replay of the journal rebuilds all of them.

use engram_model::{
    AgentId, Code, EventId, GrantKind, GrantRecord, GrantState, Operation, RequestState, RunId,
    operation::{Agent, Denied, Event, NewGrant, Opened, Read, Refused, Requested, Topics},
};
use engram_store::{NamesOf, NewEntry, Reader, Store, StoreError, Writer};
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{
    PROJECT, UNDO_SINCE_11, UNDO_SINCE_19, assert_sound, damage, now, open, record,
};

pub(crate) fn agent(handle: &str) -> Agent {
    Agent {
        handle: AgentId(handle.to_owned()),
        label: handle.to_owned(),
        client: None,
        role: Some("programmer".to_owned()),
        parent: None,
        run: RunId(Ulid(3)),
        project: PROJECT,
        topics: Topics::default(),
        turn: "t1".to_owned(),
        last_call: now(),
        is_hidden: false,
        is_closed: false,
    }
}

fn opened_operation(handle: &str, token: &str, write: &[&str]) -> Operation {
    let mut agent = agent(handle);
    agent.topics.write = write.iter().map(|it| (*it).to_owned()).collect();
    Operation::Opened(Box::new(Opened {
        agent,
        token: token.to_owned(),
    }))
}

fn tell(store: &Store, operations: impl IntoIterator<Item = Operation>) {
    for operation in operations {
        store
            .write::<_, StoreError>(now(), |it| record(it, operation))
            .unwrap();
    }
}

fn ask<T>(store: &Store, f: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>) -> T {
    store.read(f).unwrap()
}

#[test]
fn an_agent_has_its_last_token_and_the_topics_given_with_it() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let operations = [
        opened_operation("a", "01", &["payments"]),
        opened_operation("b", "02", &[]),
        opened_operation("a", "03", &["auth"]),
    ];
    tell(&store, operations);
    let whose = |digest: &str| {
        let found = ask(&store, |it| it.agent_of_token(digest))?;
        let agent = ask(&store, |it| it.agent(&found)).unwrap();
        Some((agent.handle.0, agent.topics.write))
    };
    assert_eq!(whose("01"), None);
    assert_eq!(whose("02"), Some(("b".to_owned(), Vec::new())));
    assert_eq!(whose("03"), Some(("a".to_owned(), vec!["auth".to_owned()])));
    assert!(ask(&store, |it| it.is_opened(&AgentId("b".to_owned()))));
    assert!(!ask(&store, |it| it.is_opened(&AgentId("c".to_owned()))));
    assert_sound(&store);
    damage(
        home.path(),
        "DELETE FROM token; UPDATE agent SET topics = NULL",
    );
    store.rebuild(now()).unwrap();
    assert_sound(&store);
    assert_eq!(whose("03"), Some(("a".to_owned(), vec!["auth".to_owned()])));
}

/// A home that had agents but no tokens.
#[test]
fn a_home_of_the_step_before_has_its_agents() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    tell(&store, [Operation::Joined(Box::new(agent("a")))]);
    drop(store);
    let steps = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schema");
    let before = std::fs::read_dir(steps)
        .unwrap()
        .filter(|it| it.as_ref().unwrap().file_name() < *"012.sql")
        .count();
    damage(
        home.path(),
        &format!(
            "{UNDO_SINCE_11}DROP TABLE token; DROP TABLE grant; DROP TABLE request; DROP TABLE refused;
             PRAGMA user_version = {before}"
        ),
    );
    let store = open(home.path());
    assert_eq!(
        ask(&store, |it| it.agent(&AgentId("a".to_owned()))),
        Some(agent("a"))
    );
    assert_sound(&store);
}

fn record_by(store: &Store, agent: &str, operation: Operation) -> u64 {
    let agent = AgentId(agent.to_owned());
    store
        .write::<_, StoreError>(now(), |it| {
            it.record(&NewEntry {
                project: PROJECT,
                shareable: false,
                agent: Some(&agent),
                by: "",
                operation: &operation,
            })
        })
        .unwrap()
}

/// A name counts as a person's if a person opened its agent, or used it in a command or under a
/// claim. An earlier home and a replay show this too.
#[test]
fn who_gave_a_name_is_known_of_every_home() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let named = |handle: &str, label: &str, parent: Option<&str>| Agent {
        label: label.to_owned(),
        parent: parent.map(|it| AgentId(it.to_owned())),
        ..agent(handle)
    };
    let joined = |it: Agent| Operation::Joined(Box::new(it));
    let open_one = |agent: Agent| {
        Operation::Opened(Box::new(Opened {
            token: format!("token of {}", agent.handle.0),
            agent,
        }))
    };
    let child = |handle: &str| named(handle, handle, Some("lead"));
    tell(
        &store,
        [
            open_one(named("lead", "lead", None)),
            joined(named("typed", "typed", None)),
            joined(named("01k9", "client", None)),
        ],
    );
    record_by(&store, "lead", open_one(child("chosen")));
    record_by(&store, "lead", open_one(child("both")));
    tell(&store, [open_one(child("both"))]);
    record_by(&store, "lead", open_one(child("both")));
    let write = |number: u128, name: &str, by: Option<&str>| {
        let by = by.map(|it| AgentId(it.to_owned()));
        let noted = Operation::Noted(Event {
            id: EventId(Ulid(number)),
            pointer: format!("sam:decision:n{number}@2026-01-08"),
            digest: String::new(),
            text: String::new(),
        });
        let entry = |it: &Writer<'_>| {
            it.record(&NewEntry {
                project: PROJECT,
                shareable: false,
                agent: by.as_ref(),
                by: name,
                operation: &noted,
            })
        };
        store.write::<_, StoreError>(now(), entry).unwrap();
    };
    for (number, name, by) in [
        (1, "user", None),
        (2, "written", None),
        (3, "written", None),
        (4, "said of itself", Some("01k9")),
    ] {
        write(number, name, by);
    }
    let known = |store: &Store| {
        let mut holders = ask(store, |it| it.name_owners(PROJECT));
        holders.sort_by(|a, b| a.handle.cmp(&b.handle));
        let holders: Vec<(String, bool)> = holders
            .into_iter()
            .map(|it| (it.handle.0, it.is_given))
            .collect();
        (
            holders,
            ask(store, |it| it.names(PROJECT, NamesOf::NoAgent)),
        )
    };
    let expected = (
        [
            ("both", true),
            ("chosen", false),
            ("lead", true),
            ("typed", true),
        ]
        .map(|(handle, is_given)| (handle.to_owned(), is_given))
        .to_vec(),
        vec!["user".to_owned(), "written".to_owned()],
    );
    assert_eq!(known(&store), expected);
    assert_sound(&store);
    drop(store);
    damage(
        home.path(),
        &format!("{UNDO_SINCE_19} PRAGMA user_version = 18"),
    );
    let store = open(home.path());
    assert_eq!(known(&store), expected);
    assert_sound(&store);
}

/// The operations of agents that nobody opened are counted together, whichever called last. Those
/// of an opened agent, of other projects and of earlier times are not.
#[test]
fn strangers_are_counted_together() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    tell(&store, [opened_operation("opened", "00", &[])]);
    for stranger in ["x", "y", "z"] {
        record_by(
            &store,
            stranger,
            Operation::Joined(Box::new(agent(stranger))),
        );
        record_by(
            &store,
            stranger,
            requested_operation(&format!("r-{stranger}")),
        );
        record_by(&store, stranger, Operation::Dereferenced(Read::default()));
    }
    record_by(&store, "opened", requested_operation("r-opened"));
    let after = |seconds: i64| now() + jiff::SignedDuration::from_secs(seconds);
    for (project, since, count) in [
        (PROJECT, -1, 3),
        (PROJECT, 0, 0),
        (engram_model::ProjectId(Ulid(8)), -1, 0),
    ] {
        let counted = ask(&store, |it| {
            it.count_by_strangers(project, after(since), after(0))
        });
        assert_eq!(counted, count, "{project} since {since}");
    }
}

fn granted_operation(id: &str, digest: &str, what: GrantKind, request: Option<&str>) -> Operation {
    Operation::Granted(Box::new(NewGrant {
        grant: GrantRecord {
            id: id.to_owned(),
            to: AgentId("a".to_owned()),
            by: None,
            what,
            issued_at: now(),
            expires_at: now() + jiff::SignedDuration::from_mins(10),
            spent: false,
            revoked: false,
            replaced_by: None,
        },
        token: digest.to_owned(),
        request: request.map(str::to_owned),
        replaces: None,
    }))
}

const LINE: &str = "repo:src/lib.rs#L2@0123456789012345678901234567890123456789";

fn line() -> GrantKind {
    GrantKind::Read {
        pointer: LINE.to_owned(),
        cap_tokens: 500,
    }
}

fn requested_operation(id: &str) -> Operation {
    Operation::Requested(Box::new(Requested {
        id: id.to_owned(),
        pointer: LINE.to_owned(),
        tokens: 40,
        reason: "why".to_owned(),
        intended_use: "what for".to_owned(),
        digest: String::new(),
    }))
}

/// Requests, grants, spending and refusals, and their state after a replay.
#[test]
fn permissions_are_made_again_from_the_journal() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    tell(&store, [opened_operation("a", "00", &[])]);
    for id in ["r1", "r2", "r3"] {
        record_by(&store, "a", requested_operation(id));
    }
    let answers = [
        granted_operation("g1", "01", line(), Some("r1")),
        granted_operation("g2", "02", line(), None),
        granted_operation("g3", "03", GrantKind::Code { chars: 90 }, None),
        Operation::Revoked("g2".to_owned()),
        Operation::Denied(Denied {
            id: "r2".to_owned(),
            why: "no".to_owned(),
            digest: String::new(),
        }),
    ];
    tell(&store, answers);
    let mut replacing = granted_operation("g4", "04", line(), None);
    if let Operation::Granted(new_grant) = &mut replacing {
        new_grant.replaces = Some("g3".to_owned());
    }
    tell(&store, [replacing]);
    for grant in [Some("g1"), None] {
        let read = Read {
            turn: Some("t1".to_owned()),
            grant: grant.map(str::to_owned),
            ..Read::default()
        };
        record_by(&store, "a", Operation::Dereferenced(read));
    }
    for turn in ["t1", "t1", "t2"] {
        let refused = Refused {
            turn: turn.to_owned(),
            code: Code::DerefDenied,
            figures: Default::default(),
        };
        record_by(&store, "a", Operation::Refused(refused));
    }
    let a = AgentId("a".to_owned());
    let stand = || {
        ask(&store, |reader| {
            let grants = reader.grants().list(PROJECT, None, 10)?;
            let state = |it: &GrantRecord| (it.state(now()), it.replaced_by.is_some());
            let states: Vec<_> = grants.iter().map(state).collect();
            let requests = reader.grants().requests(PROJECT, None, true, 10)?;
            let requests: Vec<_> = requests
                .into_iter()
                .map(|it| (it.id, it.state, it.reason, it.why))
                .collect();
            Ok((
                states,
                reader.grants().unspent(&a)?.len(),
                reader.grants().count_spent(&a)?,
                reader.grants().of_token("03")?.map(|it| it.what),
                reader.grants().waiting(&a, LINE)?,
                requests,
                [reader.refusals(&a, "t1")?, reader.refusals(&a, "t2")?],
            ))
        })
    };
    let why = "why".to_owned();
    let expected = (
        vec![
            (GrantState::Open, false),
            (GrantState::Revoked, true),
            (GrantState::Revoked, false),
            (GrantState::Spent, false),
        ],
        1,
        1,
        Some(GrantKind::Code { chars: 90 }),
        Some("r3".to_owned()),
        vec![
            ("r3".to_owned(), RequestState::Waiting, why.clone(), None),
            (
                "r2".to_owned(),
                RequestState::Denied,
                why.clone(),
                Some("no".to_owned()),
            ),
            ("r1".to_owned(), RequestState::Granted, why, None),
        ],
        [2, 1],
    );
    assert_eq!(stand(), expected);
    assert_sound(&store);
    damage(
        home.path(),
        "DELETE FROM grant; DELETE FROM refused; UPDATE request SET state = 'waiting'",
    );
    assert_eq!(store.replay().unwrap().differences.len(), 3);
    store.rebuild(now()).unwrap();
    assert_sound(&store);
    assert_eq!(stand(), expected);
}
