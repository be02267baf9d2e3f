//! The journal says all that the tables hold: replayed, it makes the same tables again.

use std::path::Path;

use engram_model::{
    AgentId, Code, ConflictId, ConflictStatus, Durability, EngramId, EventId, Feed, How, LineageId,
    Operation, OperationKind, Record, RunId, Severity, Spend, Tier, Ttl,
    operation::{
        Admitted, Agent, BriefPin, Contradiction, Event, Located, Permit, Promotion, Read,
        ReadBelow, Redaction, Ruling, Sent, Served, Snapshot, Topics, Unsent,
    },
};
use engram_store::{Journalled, NewEntry, Replayed, Store, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{PROJECT, code, engram, head, now, open, put, record};

fn unsent(id: &str) -> Unsent {
    Unsent {
        id: id.to_owned(),
        code: Code::BudgetExceeded,
        figures: Default::default(),
    }
}

pub(crate) const CONFLICT: ConflictId = ConflictId(Ulid(7));

/// One of each that a home can be told, and what follows from it.
pub(crate) fn everything(store: &Store) {
    let agent = Agent {
        handle: AgentId("a1".to_owned()),
        label: "one".to_owned(),
        role: Some("programmer".to_owned()),
        parent: None,
        run: RunId(Ulid(3)),
        project: PROJECT,
        topics: Topics {
            read: vec!["ledger".to_owned()],
            write: Vec::new(),
        },
        turn: "t1".to_owned(),
        last_call: now(),
    };
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
    let operations = [
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
        Operation::Conflicted(Box::new(Contradiction {
            id: CONFLICT,
            sides: ["aa".to_owned(), "bb".to_owned()],
            engrams: [EngramId(Ulid(1)), EngramId(Ulid(2))],
            tier: Tier::Numeric,
            severity: Severity::High,
            score: Some(0.9),
            differs: [vec![(0, 3)], Vec::new()],
            risk: Some(EngramId(Ulid(9))),
            why: "1 is not 2.".to_owned(),
        })),
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
        }),
        Operation::Pinned(BriefPin {
            lineage: Some(LineageId(Ulid(2))),
            ..BriefPin::default()
        }),
        Operation::Unpinned(19),
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
    ];
    for operation in operations {
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

pub(crate) fn sound(store: &Store) -> Replayed {
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

#[test]
fn every_operation_is_the_same_when_it_is_replayed() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    everything(&store);
    assert_eq!(sound(&store).applied, 25);
    let read = |reader: &engram_store::Reader<'_>| {
        let agent = reader.agent(&AgentId("a1".to_owned()))?.unwrap();
        let first = reader.engram(EngramId(Ulid(1)))?.unwrap();
        assert_eq!(first.durability, Durability::Durable, "promoted");
        assert_eq!((first.ttl, first.expires_at), (None, None));
        Ok((
            agent.topics,
            reader.engram(EngramId(Ulid(2)))?.unwrap().valid_until,
        ))
    };
    let (topics, until) = store.read::<_, StoreError>(read).unwrap();
    assert_eq!(
        (topics.read, until),
        (vec!["ledger".to_owned()], Some(now()))
    );
}

/// An operation that the table lets others read of is told, and no other.
#[test]
fn what_may_be_read_of_is_told() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    everything(&store);
    let feed = Feed {
        after: Some(0),
        all: true,
        ..Feed::default()
    };
    let read = |reader: &engram_store::Reader<'_>| {
        let all = reader.journal_after(0, 100)?;
        let told = |it: &&Journalled| it.kind().is_some_and(OperationKind::is_told);
        let want: Vec<u64> = all.iter().filter(told).map(|it| it.seq).collect();
        let (found, _) = reader.feed(PROJECT, "", &feed, now())?;
        Ok((want, found.iter().map(|it| it.seq).collect::<Vec<_>>()))
    };
    let (want, found) = store.read::<_, StoreError>(read).unwrap();
    assert_eq!(found, want);
}

#[test]
fn what_is_said_of_a_conflict_is_read_back_with_its_words() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    everything(&store);
    store
        .read::<_, StoreError>(|reader| {
            let pair = reader.conflict(CONFLICT)?.unwrap();
            assert_eq!(pair.status, ConflictStatus::Resolved);
            assert_eq!(pair.sides, ["aa", "bb"]);
            let found = reader.contradiction(pair.last)?.unwrap();
            assert_eq!((found.id, found.why.as_str()), (CONFLICT, "1 is not 2."));
            let allowed = reader.attribution(pair.allowed.unwrap())?.unwrap();
            assert_eq!(
                (allowed.by.as_str(), allowed.why.as_deref()),
                ("one", Some("Known."))
            );
            let ruling = reader.ruling(pair.verdict.unwrap())?.unwrap();
            assert_eq!((ruling.id, ruling.why), (CONFLICT, None));
            assert_eq!(
                reader.conflicts_of(PROJECT, "bb")?,
                std::slice::from_ref(&pair)
            );
            let listed = |status| reader.conflicts_listed(PROJECT, status, None, None, now());
            assert_eq!(listed(Some(ConflictStatus::Open))?, []);
            let [all] = &*listed(None)? else {
                unreachable!("one conflict")
            };
            assert_eq!((all.id, all.first), (CONFLICT, pair.first));
            assert_eq!(reader.entries_about(CONFLICT)?.len(), 3);
            assert!(
                reader.reported_by(LineageId(Ulid(9)))?.is_some()
                    && reader.reported_by(LineageId(Ulid(1)))?.is_none()
            );
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_can_be_erased_is_shown_from_a_place_on() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    everything(&store);
    let shown = |after: u64| {
        let look = |reader: &engram_store::Reader<'_>| {
            let mut found = Vec::new();
            reader.erasable_after(PROJECT, after, |said| {
                found.push((said.seq, said.kind, said.text.to_owned()));
            })?;
            found.sort_by_key(|it| it.0);
            Ok::<_, StoreError>(found)
        };
        store.read(look).unwrap()
    };
    let all = shown(0);
    let texts: Vec<_> = all
        .iter()
        .map(|it| (it.1.as_str(), it.2.as_str()))
        .collect();
    let want = [
        ("stored", "one []"),
        ("stored", "two []"),
        ("conflict", "1 is not 2."),
        ("allowed", "Known."),
        ("sent", "{}"),
    ];
    assert_eq!(texts, want);
    assert_eq!(shown(all[2].0), all[3..]);
    // Words that go with an erasure are gone for good, and its replay makes the same.
    let allowed = all[3].0;
    let erased = Operation::Redacted(Redaction {
        id: EngramId(Ulid(2)),
        reasons: vec![allowed],
        ..Redaction::default()
    });
    store
        .write::<_, StoreError>(now(), |it| record(it, erased))
        .unwrap();
    assert!(shown(0).iter().all(|it| it.0 != allowed));
    let said = |seq| {
        store
            .read::<_, StoreError>(|it| it.still_said(seq))
            .unwrap()
    };
    assert_eq!(said(allowed), None);
    assert_eq!(said(all[0].0), Some(EngramId(Ulid(1)).to_string()));
    sound(&store);
}

#[test]
fn a_table_that_the_journal_does_not_make_is_named_and_made_again() {
    for (table, sql) in [
        (
            "engram",
            "UPDATE engram SET valid_until = 5 WHERE id = (SELECT min(id) FROM engram)",
        ),
        ("engram", "DELETE FROM engram"),
        ("figure", "UPDATE figure SET query_hits = 99"),
        ("spend", "DELETE FROM spend"),
        ("spend_below", "UPDATE spend_below SET tokens = 1"),
        ("agent", "UPDATE agent SET turn = 'mine'"),
        ("project", "UPDATE project SET common_dir = '/y'"),
        ("admitted", "DELETE FROM admitted"),
        ("snapshot", "DELETE FROM snapshot"),
        ("pinned", "INSERT INTO pinned VALUES ('ab', 'cd')"),
        ("event", "UPDATE event SET slug = 'other'"),
        ("held", "UPDATE held SET open = 7"),
        ("tally", "DELETE FROM tally"),
        ("conflict", "UPDATE conflict SET status = 'open'"),
        ("report", "DELETE FROM report"),
        ("reading", "UPDATE reading SET own = 9"),
        ("pin", "DELETE FROM pin"),
        ("message", "DELETE FROM message"),
        ("delivered", "UPDATE delivered SET tokens = 7"),
        ("unsent", "DELETE FROM unsent"),
        ("narrowed", "DELETE FROM narrowed"),
        ("inline", "DELETE FROM inline"),
    ] {
        let home = TempDir::new().unwrap();
        let store = open(home.path());
        everything(&store);
        damage(home.path(), sql);
        let differences = store.replay().unwrap().differences;
        assert!(
            differences
                .iter()
                .any(|it| it.contains(&format!("table {table}:"))),
            "{sql}: {differences:?}"
        );
        store.rebuild(now()).unwrap();
        sound(&store);
    }
}

/// A journal that lacks something is told of, and its tables are left as they are.
#[test]
fn a_hole_and_an_entry_that_cannot_be_read_are_named_and_the_rest_is_read() {
    for (fault, sql) in [
        ("entry 4 is missing", "DELETE FROM journal WHERE seq = 4"),
        (
            "entry 6",
            "UPDATE journal SET subject = 'nobody' WHERE seq = 6",
        ),
        (
            "entry 10",
            "UPDATE journal SET body = 'no json' WHERE seq = 10",
        ),
        ("entry 3", "UPDATE journal SET body = '{}' WHERE seq = 3"),
    ] {
        let home = TempDir::new().unwrap();
        let store = open(home.path());
        everything(&store);
        damage(home.path(), sql);
        let faults = store.replay().unwrap().faults;
        assert!(
            faults.iter().any(|it| it.contains(fault)),
            "{sql}: {faults:?}"
        );
        let before = std::fs::read(home.path().join("engram.db")).unwrap();
        assert_eq!(
            code(store.rebuild(now()).unwrap_err()),
            "STORE_CORRUPT",
            "{sql}"
        );
        assert_eq!(
            std::fs::read(home.path().join("engram.db")).unwrap(),
            before
        );
        let kept = store.read::<_, StoreError>(|it| it.newest_holding(PROJECT, now(), None, 10));
        kept.unwrap();
        put(&store, 99, "Another.").unwrap();
        assert_eq!(head(&store), 26, "{sql}");
    }
}

#[test]
fn an_entry_of_a_newer_build_is_kept_and_passed_over() {
    for sql in [
        "UPDATE journal SET kind = 'foretold' WHERE seq = 6",
        "UPDATE journal SET schema = 99, body = '?' WHERE seq = 6",
    ] {
        let home = TempDir::new().unwrap();
        let store = open(home.path());
        everything(&store);
        damage(
            home.path(),
            &format!("{sql}; UPDATE figure SET corroborations = 0"),
        );
        assert_eq!(sound(&store).passed_over, 1);
        // The tables may hold what only that build can make again.
        let refused = store.rebuild(now()).unwrap_err().to_string();
        assert!(refused.contains("from a newer Engram"), "{refused}");
        assert_eq!(head(&store), 25);
    }
}
