//! One way to open a store and to write to it.

use std::{path::Path, time::Duration};

use engram_model::{
    EngramId, JournalTime, Operation, ProjectId, Provenance, Record, Refusal, Source,
    operation::Redaction,
};
use engram_store::{NewEntry, Result, Store, StoreError, Writer};
use jiff::Timestamp;
use ulid::Ulid;

macro_rules! fourteenth {
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

macro_rules! nineteenth {
    () => {
        "DROP TABLE series; DROP TABLE report; ALTER TABLE conflict ADD COLUMN risk TEXT;
         CREATE INDEX conflict_risk ON conflict (risk) WHERE risk IS NOT NULL;
         DROP INDEX agent_parent; ALTER TABLE due DROP COLUMN of_runs; ALTER TABLE conflict DROP COLUMN run;
         DROP INDEX journal_named; DROP INDEX journal_lately; ALTER TABLE agent DROP COLUMN given;"
    };
}

macro_rules! since_seventeenth {
    () => {
        "DROP TABLE spend_below;
         UPDATE journal SET body = json_remove(body, '$.above') WHERE kind = 'dereferenced';
         DROP TABLE due; ALTER TABLE conflict DROP COLUMN severity; ALTER TABLE conflict DROP COLUMN newer;
         ALTER TABLE conflict DROP COLUMN older; ALTER TABLE conflict DROP COLUMN ruled;"
    };
}

/// SQL that removes what the nineteenth and later steps added.
pub(crate) const NINETEENTH: &str = nineteenth!();

/// SQL that removes what the fourteenth step added, before an older home is made.
pub(crate) const FOURTEENTH: &str = fourteenth!();

/// SQL that removes what the steps after the fourteenth added.
pub(crate) const LAST: &str = concat!(
    nineteenth!(),
    since_seventeenth!(),
    "DROP INDEX delivery_uncounted; ALTER TABLE delivery DROP COLUMN tokens;
     DROP TABLE served;
     CREATE TABLE served (seq INTEGER PRIMARY KEY, agent TEXT NOT NULL, prints BLOB NOT NULL) STRICT;
     CREATE INDEX served_agent ON served (agent, seq);"
);

/// SQL that removes what the steps after the tenth added.
pub(crate) const LATER: &str = concat!(
    nineteenth!(),
    since_seventeenth!(),
    fourteenth!(),
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
pub(crate) fn impatient(home: &Path) -> Result<Store> {
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

/// Erases a claim in the way of the engine.
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
