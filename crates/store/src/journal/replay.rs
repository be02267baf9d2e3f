//! Replays the journal: every entry is applied again, in order, by the function that applied it
//! first. The target is either a temporary database, for a comparison, or the home's own tables, to
//! repair them.

use engram_model::{JournalTime, Operation};
use rusqlite::{Connection, params};

use super::{ENTRY, Journalled, apply::Applied, journalled};
use crate::{Reader, Result, Store, StoreError, home::create_tables};

/// The tables that operations write; a replay rebuilds each one exactly. The tables of followers
/// are not among them.
const TABLES: [&str; 26] = [
    "engram",
    "figure",
    "event",
    "project",
    "admitted",
    "agent",
    "token",
    "spend",
    "spend_below",
    "grant",
    "request",
    "refused",
    "snapshot",
    "pinned",
    "held",
    "tally",
    "reading",
    "pin",
    "message",
    "delivered",
    "unsent",
    "narrowed",
    "inline",
    "conflict",
    "report",
    "reached",
];
/// How many entries are read at once.
const PAGE: i64 = 5_000;
/// The most faults that are reported.
const FAULTS: usize = 20;

/// The result of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Entries that were applied.
    pub applied: u64,
    /// Entries of a newer build, which are kept and skipped.
    pub passed_over: u64,
    /// The first missing places and unreadable entries.
    pub faults: Vec<String>,
    /// Tables that differ from what the journal produces, and how.
    pub differences: Vec<String>,
}

impl Store {
    /// Replays the journal into a separate database and compares each table. Changes nothing in the
    /// home. The other database is a temporary file of SQLite and is deleted afterwards.
    pub fn replay(&self) -> Result<Replayed> {
        let mut scratch = Connection::open("")?;
        create_tables(&scratch)?;
        scratch.pragma_update(None, "foreign_keys", false)?;
        scratch.execute("ATTACH ?1 AS home", [self.database().to_string_lossy()])?;
        // From here on, one snapshot of the home.
        let transaction = scratch.transaction()?;
        let mut found = apply_all(&transaction, "home")?;
        for table in TABLES {
            found.differences.extend(difference(&transaction, table)?);
        }
        Ok(found)
    }

    /// Empties the tables and refills them from the journal, in one transaction.
    ///
    /// # Errors
    /// [`StoreError::JournalFault`] if the journal has a hole or an unreadable entry, and
    /// [`StoreError::NewerEntries`] if it has an entry of a newer build. Then nothing is changed,
    /// because the tables may hold data that the journal lacks.
    pub fn rebuild(&self, now: jiff::Timestamp) -> Result<Replayed> {
        self.write(now, |writer| {
            let faults = writer.journal_faults(1)?;
            if let Some(fault) = faults.into_iter().next() {
                return Err(StoreError::JournalFault(fault));
            }
            let newer = count_newer(writer)?;
            if newer > 0 {
                return Err(StoreError::NewerEntries(newer));
            }
            for table in TABLES {
                writer.0.execute(&format!("DELETE FROM {table}"), [])?;
            }
            apply_all(writer.0, "main")
        })
    }
}

/// How many entries only a newer build knows.
fn count_newer(reader: &Reader<'_>) -> Result<u64> {
    let (mut count, mut after) = (0, 0);
    loop {
        let page = reader.journal_after(after, 1_000)?;
        let Some(last) = page.last() else {
            return Ok(count);
        };
        after = last.seq;
        count += page.iter().filter(|it| it.kind().is_none()).count() as u64;
    }
}

pub(crate) fn apply_all(connection: &Connection, from: &str) -> Result<Replayed> {
    let mut found = Replayed::default();
    let (mut holes, mut lost) = (Vec::new(), Vec::new());
    let mut after = 0;
    loop {
        let page: Vec<Journalled> = connection
            .prepare_cached(&format!(
                "SELECT {ENTRY} FROM {from}.journal AS journal WHERE seq > ?1 ORDER BY seq LIMIT ?2"
            ))?
            .query_map(params![after as i64, PAGE], |row| Ok(journalled(row)))?
            .collect::<rusqlite::Result<_>>()?;
        if page.is_empty() {
            holes.retain(|hole| !lost.contains(hole));
            for (from, _) in holes {
                found.fault(format!("entry {from} is missing"));
            }
            return Ok(found);
        }
        for entry in page {
            if entry.seq != after + 1 {
                holes.push((after + 1, entry.seq - 1));
            }
            after = entry.seq;
            match entry.operation() {
                Ok(None) => found.passed_over += 1,
                Ok(Some(operation)) => {
                    if let Operation::Recovered(recovered) = &operation {
                        lost.extend(&recovered.places);
                    }
                    let applied = Applied {
                        connection,
                        seq: entry.seq as i64,
                        at: JournalTime(entry.at),
                        clock: entry.clock,
                        project: entry.project,
                        agent: entry.agent.as_ref(),
                    };
                    match applied.apply(&operation) {
                        Ok(()) => found.applied += 1,
                        Err(error) => found.fault(format!("entry {after}: {error}")),
                    }
                }
                Err(error) => found.fault(error.to_string()),
            }
        }
    }
}

impl Replayed {
    fn fault(&mut self, fault: String) {
        if self.faults.len() < FAULTS {
            self.faults.push(fault);
        }
    }
}

fn difference(connection: &Connection, table: &str) -> Result<Option<String>> {
    let count = |this: &str, other: &str| -> Result<i64> {
        let sql = format!(
            "SELECT count(*) FROM (SELECT * FROM {this}.{table} EXCEPT SELECT * FROM {other}.{table})"
        );
        Ok(connection.query_row(&sql, [], |row| row.get(0))?)
    };
    let (missing, extra) = (count("main", "home")?, count("home", "main")?);
    Ok(match (missing, extra) {
        (0, 0) => None,
        _ => Some(format!(
            "table {table}: rows missing: {missing}, rows not in the journal: {extra}"
        )),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;

    /// What lies beside the journal, or follows it (decision 10).
    const NOT_REPLAYED: [&str; 14] = [
        "blob",
        "content",
        "delivery",
        "due",
        "embedding_model",
        "follower",
        "health",
        "journal",
        "look",
        "meta",
        "said",
        "series",
        "served",
        "vector",
    ];

    #[test]
    fn every_table_is_replayed_or_known_not_to_be() {
        let connection = Connection::open_in_memory().unwrap();
        create_tables(&connection).unwrap();
        let named =
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
        let mut names = connection.prepare(named).unwrap();
        let there = names.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let there: BTreeSet<String> = there.map(|it| it.unwrap()).collect();
        let known = TABLES.iter().chain(&NOT_REPLAYED);
        assert_eq!(there, known.map(|it| (*it).to_owned()).collect());
    }
}
