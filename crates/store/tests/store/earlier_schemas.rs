//! Homes of earlier schemas are migrated without loss.

use std::path::Path;

use engram_model::{
    AgentId, EngramId, EventId, LineageId, Operation, Record, RunId, Scope, Severity, Tier,
    operation::{Contradiction, Event, Read},
};
use engram_store::{Store, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{
    CONFLICT, PROJECT, UNDO_SINCE_11, UNDO_SINCE_19, add, assert_sound, damage, engram, now, open,
    put, record, record_everything,
};

/// Claims that say the same on the same topic are found, even in a home from before there were
/// sides.
#[test]
fn sides_are_filled_in_when_a_home_is_brought_up_to_date() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    put(&store, 1, "Retries are capped.").unwrap();
    put(&store, 2, " RETRIES  are capped.").unwrap();
    put(&store, 3, "Retries are not capped.").unwrap();
    let side = engram_store::side("", "retries are capped.");
    let voices = |store: &Store| {
        let read = |reader: &engram_store::Reader<'_>| {
            let held = reader.holding_on_side(PROJECT, &side, now())?;
            let all = reader.versions_on_side(PROJECT, &side, None)?;
            Ok((
                held.len(),
                all.iter().map(|it| it.id.0.0).collect::<Vec<_>>(),
            ))
        };
        store.read::<_, StoreError>(read).unwrap()
    };
    assert_eq!(voices(&store), (2, vec![2, 1]));
    drop(store);
    damage(home.path(), UNDO_SINCE_11);
    damage(
        home.path(),
        "DROP TABLE token; DROP TABLE grant; DROP TABLE request; DROP TABLE refused;
         DROP TABLE conflict; DROP INDEX content_side; ALTER TABLE content DROP COLUMN side;
         PRAGMA user_version = 10",
    );
    assert_eq!(voices(&open(home.path())), (2, vec![2, 1]));
}

/// Later steps change indexes, and tables that the journal rebuilds; their queries still find the
/// same.
#[test]
fn a_home_of_the_sixth_step_is_brought_up_to_date() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    record_everything(&store);
    let lineages = |store: &Store| {
        store
            .read::<_, StoreError>(|reader| {
                let engrams = reader.engrams_at(1..=reader.head()?)?;
                let of = engrams
                    .iter()
                    .map(|engram| reader.lineage(engram.lineage_id));
                of.collect::<Result<Vec<_>, _>>()
            })
            .unwrap()
    };
    let before = lineages(&store);
    assert!(before.iter().any(|it| it.len() > 1), "{before:?}");
    drop(store);
    damage(home.path(), UNDO_SINCE_11);
    damage(
        home.path(),
        "DROP TABLE token; DROP TABLE grant; DROP TABLE request; DROP TABLE refused;
         DROP INDEX engram_open; DROP INDEX engram_lineage;
         CREATE INDEX engram_open ON engram (project, expires_at) WHERE valid_until IS NULL;
         CREATE INDEX engram_lineage ON engram (lineage, seq);
         CREATE INDEX agent_called ON agent (project, last_call);
         DELETE FROM journal WHERE seq >= (SELECT seq FROM journal WHERE kind = 'admitted');
         DELETE FROM figure WHERE query_hits = 5;
         DELETE FROM spend WHERE turn = 't0';
         DELETE FROM agent WHERE handle = 'a2';
         DELETE FROM said WHERE seq NOT IN (SELECT seq FROM journal);
         DROP TABLE conflict; DROP INDEX content_side; ALTER TABLE content DROP COLUMN side;
         ALTER TABLE journal DROP COLUMN clock;
         DROP INDEX engram_place; DROP TRIGGER engram_replaced; DROP TRIGGER engram_erased;
         ALTER TABLE engram DROP COLUMN place; ALTER TABLE engram DROP COLUMN placed_at;
         ALTER TABLE engram DROP COLUMN stands;
         DROP INDEX engram_asks; ALTER TABLE engram DROP COLUMN asks;
         DROP TABLE admitted; DROP TABLE pinned;
         ALTER TABLE snapshot RENAME TO newer;
         CREATE TABLE snapshot (digest TEXT NOT NULL, path TEXT NOT NULL, base TEXT, blob TEXT NOT NULL,
            PRIMARY KEY (digest, path)) STRICT, WITHOUT ROWID;
         INSERT INTO snapshot SELECT digest, path, base, blob FROM newer;
         DROP TABLE newer;
         PRAGMA user_version = 6",
    );
    let store = open(home.path());
    assert_eq!(assert_sound(&store).passed_over, 0);
    assert_eq!(lineages(&store), before);
}

/// A home of each earlier step of the schema: what its tables hold and its journal lacks is carried
/// into the journal.
#[test]
fn a_home_of_an_earlier_schema_is_carried_into_its_journal() {
    for version in 1..=5 {
        let home = TempDir::new().unwrap();
        old_home(home.path(), version);
        let store = open(home.path());
        assert_sound(&store);
        let carried = store
            .read::<_, StoreError>(|reader| {
                let agent = reader.agent(&AgentId("a9".to_owned()))?.unwrap();
                let figures = reader.engram(EngramId(Ulid(1)))?.unwrap().figures;
                let spent = reader.spend(&agent.handle, "t9")?;
                Ok((
                    agent.turn,
                    figures.query_hits,
                    figures.corroborations,
                    spent.tokens,
                ))
            })
            .unwrap();
        assert_eq!(carried, ("t9".to_owned(), 7, 1, 40), "schema {version}");
        put(&store, 50, "A new one.").unwrap();
        store.rebuild(now()).unwrap();
        assert_sound(&store);
    }
}

/// A home as a build with these steps left it.
fn old_home(home: &Path, version: i64) {
    const STEPS: [&str; 5] = [
        include_str!("../../src/schema/001.sql"),
        include_str!("../../src/schema/002.sql"),
        include_str!("../../src/schema/003.sql"),
        include_str!("../../src/schema/004.sql"),
        include_str!("../../src/schema/005.sql"),
    ];
    let database = Connection::open(home.join("engram.db")).unwrap();
    database.execute_batch("PRAGMA journal_mode = wal").unwrap();
    for step in &STEPS[..version as usize] {
        database.execute_batch(step).unwrap();
    }
    // This build writes the entries into a separate home, and they are copied.
    let beside = TempDir::new().unwrap();
    let store = open(beside.path());
    store
        .write::<_, StoreError>(now(), |writer| {
            add(writer, engram(1, "one"))?;
            record(writer, Operation::Corroborated(EngramId(Ulid(1))))?;
            record(
                writer,
                Operation::Noted(Event {
                    id: EventId(Ulid(4)),
                    pointer: "sam:decision:domain@2026-01-08".to_owned(),
                    digest: "00".to_owned(),
                    text: "We publish.".to_owned(),
                }),
            )?;
            record(writer, Operation::Dereferenced(Read::default()))
        })
        .unwrap();
    let columns = "seq, id, lineage, project, run, scope, kind, fact_type, topic, durability,
        content_hash, valid_from, valid_until, expires_at, recorded_at";
    database
        .execute("ATTACH ?1 AS new", [store.database().to_string_lossy()])
        .unwrap();
    database
        .execute_batch(&format!(
            "INSERT INTO journal SELECT seq, origin, origin_seq, hlc, schema, project, kind, shareable,
                recorded_at, agent, by, subject, body FROM new.journal;
             INSERT INTO content SELECT engram, claim, tags FROM new.content;
             INSERT INTO engram ({columns}) SELECT {columns} FROM new.engram;
             INSERT INTO event (seq, id, project, kind, slug, day, digest, text, recorded_at)
                SELECT event.seq, id, project, kind, slug, day, digest, said.text, recorded_at
                FROM new.event JOIN new.said USING (seq);
             INSERT INTO figure VALUES ('00000000000000000000000001', 7, 1);
             INSERT INTO project VALUES ('{PROJECT}', '/x/.git', 'x');
             INSERT INTO agent (handle, label, parent, run, project, turn, last_call)
                VALUES ('a9', 'nine', NULL, '00000000000000000000000003', '{PROJECT}', 't9', 5);
             INSERT INTO spend VALUES ('a9', 't9', 1, 0, 0, 40);
             INSERT INTO meta VALUES ('origin', '00000000000000000000000001');
             PRAGMA user_version = {version}; PRAGMA application_id = 1164855154;"
        ))
        .unwrap();
    if version >= 2 {
        database
            .execute_batch("UPDATE engram SET by = 'user', verified = 1")
            .unwrap();
    }
    if version >= 3 {
        database
            .execute_batch("INSERT INTO snapshot VALUES ('ab', 'src/a.rs', NULL, 'cd')")
            .unwrap();
    }
    if version >= 4 {
        database
            .execute_batch(
                "DELETE FROM held; DELETE FROM tally;
                 INSERT INTO held SELECT project, 9223372036854775807, 1, 1 FROM engram;
                 INSERT INTO tally SELECT project, kind, scope, fact_type, verified, by, topic, 1 FROM engram;",
            )
            .unwrap();
    }
}

/// A conflict that was found by a claim of one run belongs to that run, and claims of runs are
/// compared again.
#[test]
fn a_home_of_the_nineteenth_step_knows_whom_its_conflicts_are_for() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let run = RunId(Ulid(5));
    put(&store, 1, "Retries are capped at 3.").unwrap();
    let own = Record {
        scope: Scope::Run,
        run: Some(run),
        ..engram(2, "Retries are capped at 4.")
    };
    let found = Operation::Conflicted(Box::new(Contradiction {
        id: CONFLICT,
        sides: ["aa".to_owned(), "bb".to_owned()],
        engrams: [EngramId(Ulid(1)), EngramId(Ulid(2))],
        tier: Tier::Numeric,
        severity: Severity::High,
        score: Some(0.9),
        differs: [Vec::new(), Vec::new()],
        risk: Some(EngramId(Ulid(9))),
        left_out: false,
        why: "3 is not 4.".to_owned(),
    }));
    store
        .write::<_, StoreError>(now(), |writer| {
            add(writer, own)?;
            record(writer, found)
        })
        .unwrap();
    let known = |store: &Store| {
        let read = |reader: &engram_store::Reader<'_>| {
            let due = reader.next_due(0, 9)?;
            let due: Vec<_> = due
                .into_iter()
                .map(|(seq, due)| (seq, due.of_runs))
                .collect();
            let report = reader.reported_by(LineageId(Ulid(9)))?;
            let run = reader.conflict(CONFLICT)?.and_then(|pair| pair.run);
            Ok((run, due, report.is_some()))
        };
        store.read::<_, StoreError>(read).unwrap()
    };
    assert_eq!(known(&store), (Some(run), Vec::new(), true));
    drop(store);
    damage(
        home.path(),
        &format!("{UNDO_SINCE_19} PRAGMA user_version = 18"),
    );
    let store = open(home.path());
    assert_eq!(known(&store), (Some(run), vec![(2, true)], true));
    assert_sound(&store);
}
