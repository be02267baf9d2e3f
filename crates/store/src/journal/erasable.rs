//! What an erasure must reach besides the words themselves.

use engram_model::{EngramId, GrantKind, Operation, OperationKind, ProjectId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ENTRY, journalled};
use crate::{Reader, Result};

/// The words of claims, with their tags.
const CLAIMS: &str = "SELECT engram.seq, 'stored', content.claim || ' ' || content.tags
     FROM engram JOIN content ON content.engram = engram.id
     WHERE engram.project = ?1 AND engram.seq > ?2";
/// All other words beside the journal.
const OTHERS: &str = "SELECT said.seq, journal.kind, said.text
     FROM said JOIN journal USING (seq) WHERE journal.project = ?1 AND said.seq > ?2";

/// A text that can be erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erasable<'a> {
    /// The place of its entry.
    pub seq: u64,
    /// The kind of that entry.
    pub kind: OperationKind,
    /// Its words as stored.
    pub text: &'a str,
}

impl<'a> Erasable<'a> {
    /// `None` for an entry of a newer build, and for one that cannot be read.
    fn of(row: &'a Row<'_>) -> Option<Self> {
        let text = |at: usize| row.get_ref(at).ok()?.as_str().ok();
        Some(Self {
            seq: row.get::<_, i64>(0).ok()? as u64,
            kind: text(1)?.parse().ok()?,
            text: text(2)?,
        })
    }
}

impl Reader<'_> {
    /// Passes every erasable text of a project after this place to `look`, one at a time, however
    /// many there are.
    pub fn erasable_after(
        &self,
        project: ProjectId,
        after: u64,
        mut look: impl FnMut(Erasable<'_>),
    ) -> Result<()> {
        for sql in [CLAIMS, OTHERS] {
            let mut found = self.0.prepare_cached(sql)?;
            let mut rows = found.query(params![project.to_string(), after as i64])?;
            while let Some(row) = rows.next()? {
                if let Some(text) = Erasable::of(row) {
                    look(text);
                }
            }
        }
        Ok(())
    }

    /// The id of the entry's subject; `None` after its words were erased.
    pub fn still_said(&self, seq: u64) -> Result<Option<String>> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT subject FROM journal WHERE seq = ?1 AND subject IS NOT NULL
                   AND (EXISTS (SELECT 1 FROM said WHERE said.seq = journal.seq)
                     OR EXISTS (SELECT 1 FROM content WHERE content.engram = journal.subject))",
            )?
            .query_row([seq as i64], |row| row.get(0))
            .optional()?)
    }

    /// The places of entries, other than the versions and events themselves, that name what is
    /// erased with these versions: files of these digests, the state of their evidence, and reads
    /// of addresses to which no other claim points.
    pub fn naming(
        &self,
        project: ProjectId,
        ids: &[EngramId],
        addresses: &[String],
        digests: &[String],
    ) -> Result<Vec<u64>> {
        let mut entries = Vec::new();
        let mut free: Vec<String> = addresses.to_vec();
        let mut read: Vec<(u64, String)> = Vec::new();
        let mut all = self.0.prepare_cached(&format!(
            "SELECT {ENTRY} FROM journal WHERE project = ?1
               AND kind IN ('stored', 'dereferenced', 'requested', 'granted', 'anchored')"
        ))?;
        let rows = all.query_map(params![project.to_string()], |row| Ok(journalled(row)))?;
        for entry in rows {
            let entry = entry?;
            match entry.kind() {
                Some(OperationKind::Stored) => {
                    let names = free.iter().any(|it| entry.contains(it));
                    if names
                        && let Some(Operation::Stored(other)) = entry.readable_operation()
                        && !ids.contains(&other.id)
                    {
                        free.retain(|it| other.pointers.iter().all(|of| of.address() != *it));
                    }
                }
                Some(
                    OperationKind::Dereferenced | OperationKind::Requested | OperationKind::Granted,
                ) => {
                    if free.iter().any(|it| entry.contains(it))
                        && let Some(pointer) = entry.readable_operation().as_ref().and_then(read_by)
                        && let Ok(pointer) = pointer.parse::<engram_model::Pointer>()
                    {
                        read.push((entry.seq, pointer.address()));
                    }
                }
                _ if ids.iter().any(|it| entry.contains(&it.to_string())) => {
                    entries.push(entry.seq)
                }
                _ => {}
            }
        }
        for address in &free {
            entries.extend(messages_with(self.0, project, address)?);
        }
        let unneeded = read.into_iter().filter(|(_, it)| free.contains(it));
        entries.extend(unneeded.map(|(seq, _)| seq));
        let mut kept = self
            .0
            .prepare_cached("SELECT DISTINCT seq FROM snapshot WHERE digest = ?1")?;
        for digest in digests {
            for seq in kept.query_map([digest], |row| row.get::<_, i64>(0))? {
                entries.push(seq? as u64);
            }
        }
        entries.sort_unstable();
        entries.dedup();
        Ok(entries)
    }
}

/// The pointer of a read, of a request to read, or of a grant to read.
fn read_by(operation: &Operation) -> Option<&str> {
    match operation {
        Operation::Dereferenced(read) => Some(&read.pointer),
        Operation::Requested(requested) => Some(&requested.pointer),
        Operation::Granted(new_grant) => match &new_grant.grant.what {
            GrantKind::Read { pointer, .. } => Some(pointer),
            GrantKind::Code { .. } => None,
        },
        _ => None,
    }
}

/// The places of messages that contain an address.
fn messages_with(connection: &Connection, project: ProjectId, address: &str) -> Result<Vec<u64>> {
    let mut found = connection.prepare_cached(
        "SELECT seq FROM message JOIN said USING (seq) WHERE project = ?1 AND instr(text, ?2) > 0",
    )?;
    let rows = found.query_map(params![project.to_string(), address], |row| {
        row.get::<_, i64>(0)
    })?;
    rows.map(|seq| Ok(seq? as u64)).collect()
}
