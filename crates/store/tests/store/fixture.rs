//! One way to open a store, to put something into it, to damage it, and to check that it is sound.

use std::{path::Path, time::Duration};

use engram_model::{
    AgentChange, AgentEdit, AgentId, Code, ConflictId, ConflictStatus, Durability, EngramId,
    EventId, GrantKind, GrantRecord, How, JournalTime, LineageId, Operation, PairVerdict,
    ProjectId, Provenance, Record, Refusal, RunId, Severity, Source, Spend, Tier, Ttl,
    operation::{
        Admitted, Agent, Anchoring, BriefPin, Carried, Contradiction, Denied, Event, Located,
        LostEntries, NewGrant, Opened, PairJudgment, Permit, Promotion, Read, ReadBelow, Redaction,
        Refused, Requested, Ruling, Sent, Served, Snapshot, Topics, Unsent,
    },
};
use engram_store::{NewEntry, Replayed, Result, Store, StoreError, Writer};
use jiff::Timestamp;
use rusqlite::Connection;
use ulid::Ulid;

macro_rules! undo_14 {
    () => {
        "DROP TRIGGER engram_stored; DROP TRIGGER engram_replaced; DROP TRIGGER engram_erased;
         ALTER TABLE engram DROP COLUMN role;
         CREATE TABLE counted AS SELECT project, kind, scope, fact_type, verified, by, topic,
            sum(versions) AS versions FROM tally GROUP BY 1, 2, 3, 4, 5, 6, 7;
         DROP TABLE tally; ALTER TABLE counted RENAME TO tally;
         CREATE TRIGGER engram_stored AFTER INSERT ON engram BEGIN SELECT 1; END;
         CREATE TRIGGER engram_replaced AFTER UPDATE OF stands ON engram BEGIN SELECT 1; END;
         CREATE TRIGGER engram_erased AFTER UPDATE OF topic ON engram BEGIN SELECT 1; END;"
    };
}

macro_rules! undo_since_19 {
    () => {
        "DROP TABLE reached; DROP INDEX engram_todo; DROP TABLE series; DROP TABLE report; ALTER TABLE conflict ADD COLUMN risk TEXT;
         CREATE INDEX conflict_risk ON conflict (risk) WHERE risk IS NOT NULL;
         DROP INDEX agent_parent; ALTER TABLE due DROP COLUMN of_runs; ALTER TABLE conflict DROP COLUMN run;
         DROP INDEX journal_named; DROP INDEX journal_lately; ALTER TABLE agent DROP COLUMN given;
         ALTER TABLE agent DROP COLUMN hidden; ALTER TABLE agent DROP COLUMN closed;
         ALTER TABLE agent DROP COLUMN earlier; ALTER TABLE grant DROP COLUMN replaced_by;
         DROP TABLE vector; DROP TABLE embedding_model; DROP INDEX conflict_possible;"
    };
}

macro_rules! undo_17_and_18 {
    () => {
        "DROP TABLE spend_below;
         UPDATE journal SET body = json_remove(body, '$.above') WHERE kind = 'dereferenced';
         DROP TABLE due; ALTER TABLE conflict DROP COLUMN severity; ALTER TABLE conflict DROP COLUMN newer;
         ALTER TABLE conflict DROP COLUMN older; ALTER TABLE conflict DROP COLUMN ruled;"
    };
}

/// SQL that removes what the nineteenth and later steps added.
pub(crate) const UNDO_SINCE_19: &str = undo_since_19!();

/// SQL that removes what the fourteenth step added, before an older home is made.
pub(crate) const UNDO_14: &str = undo_14!();

/// SQL that removes what the steps after the fourteenth added.
pub(crate) const UNDO_SINCE_15: &str = concat!(
    undo_since_19!(),
    undo_17_and_18!(),
    "DROP INDEX delivery_uncounted; ALTER TABLE delivery DROP COLUMN tokens;
     DROP TABLE served;
     CREATE TABLE served (seq INTEGER PRIMARY KEY, agent TEXT NOT NULL, prints BLOB NOT NULL) STRICT;
     CREATE INDEX served_agent ON served (agent, seq);"
);

/// SQL that removes what the steps after the tenth added.
pub(crate) const UNDO_SINCE_11: &str = concat!(
    undo_since_19!(),
    undo_17_and_18!(),
    undo_14!(),
    "DROP TABLE served; DROP TABLE reading; DROP TABLE pin;
     DROP TABLE message; DROP TABLE delivery; DROP TABLE delivered; DROP TABLE unsent;
     DROP TABLE narrowed; DROP TABLE inline;
     DROP INDEX engram_lasting;"
);

pub(crate) const PROJECT: ProjectId = ProjectId(Ulid(7));

pub(crate) fn open(home: &Path) -> Store {
    Store::open(home, Ulid(1)).unwrap()
}

/// A store whose writers give up soon.
pub(crate) fn open_impatiently(home: &Path) -> Result<Store> {
    Store::open_patiently(home, Ulid(1), Duration::from_millis(150))
}

pub(crate) fn now() -> Timestamp {
    engram_kit::BEGIN.parse().unwrap()
}

/// Stores a claim; returns its place.
pub(crate) fn put(store: &Store, number: u128, claim: &str) -> Result<u64> {
    store.write::<_, StoreError>(now(), |it| add(it, engram(number, claim)))
}

/// Stores a version; returns its place.
pub(crate) fn add(writer: &Writer<'_>, version: Record) -> Result<u64> {
    record(writer, Operation::Stored(Box::new(version)))
}

/// Records an operation of the user.
pub(crate) fn record(writer: &Writer<'_>, operation: Operation) -> Result<u64> {
    writer.record(&NewEntry {
        project: PROJECT,
        shareable: true,
        agent: None,
        by: "user",
        operation: &operation,
    })
}

/// Erases a claim as the engine does.
pub(crate) fn redact(store: &Store, number: u128, claim: &str) -> u64 {
    let engram = engram(number, claim);
    store
        .write::<_, StoreError>(now(), |writer| {
            let versions = writer.versions_saying(PROJECT, &engram.content_hash)?;
            let redaction = Redaction {
                id: engram.id,
                content_hash: engram.content_hash.clone(),
                ids: versions.iter().map(|it| it.id).collect(),
                seqs: versions.iter().map(|it| it.seq).collect(),
                ..Redaction::default()
            };
            record(writer, Operation::Redacted(redaction))
        })
        .unwrap()
}

pub(crate) fn engram(number: u128, claim: &str) -> Record {
    let provenance = Provenance {
        created_at: now(),
        created_by: "user".to_owned(),
        source: Source::Tool,
    };
    let hash = format!("sha256:{claim}");
    let id = EngramId(Ulid(number));
    Record {
        verified: true,
        ..Record::new(
            id,
            PROJECT,
            claim.to_owned(),
            hash,
            provenance,
            JournalTime(now()),
        )
    }
}

pub(crate) fn head(store: &Store) -> u64 {
    store.read::<_, StoreError>(|it| it.head()).unwrap()
}

/// The code that a caller of Engram sees.
pub(crate) fn code(error: StoreError) -> String {
    let refusal = Refusal::from(error);
    assert!(!refusal.hint.is_empty() && !refusal.message.is_empty());
    refusal.code.as_str().to_owned()
}

pub(crate) const CONFLICT: ConflictId = ConflictId(Ulid(7));

/// Records one operation of each kind, with its consequences. Tests name entries by their places.
pub(crate) fn record_everything(store: &Store) {
    let agent = agent_reading("a1", "ledger");
    let operations = [
        operations_on_claims(&agent),
        operations_on_conflicts(),
        operations_on_messages(),
        operations_on_agents(),
    ];
    for operation in operations.into_iter().flatten() {
        store
            .write::<_, StoreError>(now(), |it| {
                it.record(&NewEntry {
                    project: PROJECT,
                    shareable: true,
                    agent: Some(&agent.handle),
                    by: "one",
                    operation: &operation,
                })
            })
            .unwrap();
    }
}

fn agent_reading(handle: &str, topic: &str) -> Agent {
    Agent {
        handle: AgentId(handle.to_owned()),
        label: "one".to_owned(),
        client: None,
        role: Some("programmer".to_owned()),
        parent: None,
        run: RunId(Ulid(3)),
        project: PROJECT,
        topics: Topics {
            read: vec![topic.to_owned()],
            write: Vec::new(),
        },
        turn: "t1".to_owned(),
        last_call: now(),
        is_hidden: false,
        is_closed: false,
    }
}

fn unsent(id: &str) -> Unsent {
    Unsent {
        id: id.to_owned(),
        code: Code::BudgetExceeded,
        figures: Default::default(),
    }
}

/// An agent joins; claims are stored, read, noted and closed.
fn operations_on_claims(agent: &Agent) -> Vec<Operation> {
    let first = Record {
        durability: Durability::Ephemeral,
        ttl: Ttl::days(1).ok(),
        expires_at: Ttl::days(1).ok().map(|it| it.expires_at(now())),
        ..engram(1, "one")
    };
    let second = engram(2, "two");
    let newer = Record {
        supersedes: Some(second.id),
        lineage_id: second.lineage_id,
        ..engram(3, "three")
    };
    vec![
        Operation::Located(Located {
            common_dir: "/x/.git".to_owned(),
            name: "x".to_owned(),
        }),
        Operation::Joined(Box::new(agent.clone())),
        Operation::Stored(Box::new(first)),
        Operation::Stored(Box::new(second)),
        Operation::Stored(Box::new(newer)),
        Operation::Corroborated(EngramId(Ulid(1))),
        Operation::Counted(vec![(EngramId(Ulid(1)), 3)]),
        Operation::Noted(Event {
            id: EventId(Ulid(4)),
            pointer: "sam:decision:domain@2026-01-08".to_owned(),
            digest: "00".to_owned(),
            text: "We publish.".to_owned(),
        }),
        Operation::Kept(Snapshot {
            digest_hex: "ab".to_owned(),
            path: "src/a.rs".to_owned(),
            base: None,
            blob: "cd".to_owned(),
            bytes: b"fn main() {}".to_vec(),
        }),
        Operation::Dereferenced(Read {
            tokens: 5,
            turn: Some("t1".to_owned()),
            spent: Some(Spend {
                repo_spans: 1,
                tokens: 5,
                ..Spend::default()
            }),
            above: vec![ReadBelow {
                agent: AgentId("lead".to_owned()),
                turn: "t0".to_owned(),
                spent: Spend {
                    repo_spans: 4,
                    tokens: 50,
                    ..Spend::default()
                },
            }],
            ..Read::default()
        }),
        Operation::Promoted(Promotion {
            id: EngramId(Ulid(1)),
            ends_term: true,
        }),
        Operation::Forgotten(EngramId(Ulid(1))),
        Operation::Redacted(Redaction {
            id: EngramId(Ulid(3)),
            ids: vec![EngramId(Ulid(3))],
            seqs: vec![5],
            events: vec![8],
            ..Redaction::default()
        }),
        Operation::Admitted(Admitted {
            place: "/y/.git".to_owned(),
        }),
    ]
}

/// A conflict is found, allowed and settled.
fn operations_on_conflicts() -> Vec<Operation> {
    let found = Contradiction {
        id: CONFLICT,
        sides: ["aa".to_owned(), "bb".to_owned()],
        engrams: [EngramId(Ulid(1)), EngramId(Ulid(2))],
        tier: Tier::Numeric,
        severity: Severity::High,
        score: Some(0.9),
        differs: [vec![(0, 3)], Vec::new()],
        risk: Some(EngramId(Ulid(9))),
        left_out: false,
        why: "1 is not 2.".to_owned(),
    };
    vec![
        Operation::Proposed(Box::new(Contradiction {
            tier: Tier::Agent,
            severity: Severity::Medium,
            risk: None,
            why: String::new(),
            ..found.clone()
        })),
        Operation::Judged(PairJudgment {
            id: CONFLICT,
            verdict: PairVerdict::Contradicts,
            model: Some("small".into()),
            sure: None,
            why: Some("1 is not 2.".to_owned()),
        }),
        Operation::Conflicted(Box::new(found)),
        Operation::Allowed(Permit {
            id: CONFLICT,
            why: "Known.".to_owned(),
            undone: false,
        }),
        Operation::Resolved(Box::new(Ruling {
            id: CONFLICT,
            status: ConflictStatus::Resolved,
            how: Some(How::Winner),
            winner: Some("aa".to_owned()),
            merged: None,
            closed: vec![EngramId(Ulid(2))],
            stored: Vec::new(),
            why: None,
        })),
    ]
}

/// Agents are shown something, pin it, and send each other messages.
fn operations_on_messages() -> Vec<Operation> {
    vec![
        Operation::Served(Served {
            to: AgentId("a1".to_owned()),
            run: RunId(Ulid(3)),
            engrams: vec![(EngramId(Ulid(9)), 1)],
            prints: vec![7, 5],
        }),
        Operation::Pinned(BriefPin {
            lineage: None,
            text: Some("Ship on Friday.".to_owned()),
            digest: "00".to_owned(),
            place: Some(3),
        }),
        Operation::Pinned(BriefPin {
            lineage: Some(LineageId(Ulid(2))),
            ..BriefPin::default()
        }),
        Operation::Unpinned(21),
        Operation::Unsent(unsent("r1")),
        Operation::Sent(Box::new(Sent {
            id: "m1".to_owned(),
            to: vec![AgentId("a2".to_owned()), AgentId("a3".to_owned())],
            tokens: 40,
            turn: Some("t1".to_owned()),
            grant: None,
            resend_of: Some("r1".to_owned()),
            files: vec!["repo:src/a.rs@HEAD".to_owned()],
            budgets: [("max_repo_spans".to_owned(), 1)].into(),
            text: "{}".to_owned(),
            digest: "00".to_owned(),
        })),
        Operation::Unsent(unsent("r2")),
        Operation::Unlisted(vec![LineageId(Ulid(1))]),
    ]
}

/// An agent is opened, asks for more and is granted it; then operations that no agent performs.
fn operations_on_agents() -> Vec<Operation> {
    let request = |id: &str| {
        Operation::Requested(Box::new(Requested {
            id: id.to_owned(),
            pointer: "repo:src/a.rs#L1@HEAD".to_owned(),
            reason: "It is long.".to_owned(),
            ..Requested::default()
        }))
    };
    vec![
        Operation::Opened(Box::new(Opened {
            agent: agent_reading("a2", "wallet"),
            token: "01".to_owned(),
        })),
        Operation::AgentChanged(Box::new(AgentChange {
            agent: AgentId("a2".to_owned()),
            what: AgentEdit::Rename("backend".to_owned()),
        })),
        Operation::AgentChanged(Box::new(AgentChange {
            agent: AgentId("a1".to_owned()),
            what: AgentEdit::Close,
        })),
        request("q1"),
        Operation::Denied(Denied {
            id: "q1".to_owned(),
            why: "Not now.".to_owned(),
            ..Denied::default()
        }),
        request("q2"),
        Operation::Granted(Box::new(NewGrant {
            grant: GrantRecord {
                id: "g1".to_owned(),
                to: AgentId("a1".to_owned()),
                by: None,
                what: GrantKind::Code { chars: 200 },
                issued_at: now(),
                expires_at: now(),
                spent: false,
                revoked: false,
                replaced_by: None,
            },
            token: "02".to_owned(),
            request: Some("q2".to_owned()),
            replaces: None,
        })),
        Operation::Revoked("g1".to_owned()),
        Operation::Refused(Refused {
            turn: "t1".to_owned(),
            code: Code::DerefDenied,
            figures: Default::default(),
        }),
        Operation::Anchored(Anchoring::default()),
        Operation::Carried(Box::new(Carried {
            hits: vec![(EngramId(Ulid(9)), 4)],
            spent: vec![(AgentId("a1".to_owned()), "t0".to_owned(), Spend::default())],
            ..Carried::default()
        })),
        Operation::Recovered(LostEntries::default()),
        Operation::Reached(vec![3]),
    ]
}

pub(crate) fn assert_sound(store: &Store) -> Replayed {
    let replayed = store.replay().unwrap();
    assert_eq!(replayed.faults, [""; 0]);
    assert_eq!(replayed.differences, [""; 0]);
    replayed
}

pub(crate) fn damage(home: &Path, sql: &str) {
    Connection::open(home.join("engram.db"))
        .unwrap()
        .execute_batch(&format!("PRAGMA foreign_keys = off; {sql}"))
        .unwrap();
}
