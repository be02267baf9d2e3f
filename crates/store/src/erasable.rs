//! What an erasure has to reach beside the words themselves.

use engram_model::{EngramId, Granted, Operation, OperationKind, ProjectId};
use rusqlite::params;

use crate::{
    Reader, Result,
    journal::{ENTRY, journalled},
};

impl Reader<'_> {
    /// The places of entries, besides those of the versions and events themselves, that name what is
    /// erased with these versions: files of these digests, what became of their evidence, and readings
    /// of addresses that no other claim points at.
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
                    let names = free.iter().any(|it| entry.holds(it));
                    if names
                        && let Some(Operation::Stored(other)) = entry.known()
                        && !ids.contains(&other.id)
                    {
                        free.retain(|it| other.pointers.iter().all(|of| of.address() != *it));
                    }
                }
                Some(
                    OperationKind::Dereferenced | OperationKind::Requested | OperationKind::Granted,
                ) => {
                    if free.iter().any(|it| entry.holds(it))
                        && let Some(pointer) = entry.known().as_ref().and_then(read_by)
                        && let Ok(pointer) = pointer.parse::<engram_model::Pointer>()
                    {
                        read.push((entry.seq, pointer.address()));
                    }
                }
                _ if ids.iter().any(|it| entry.holds(&it.to_string())) => entries.push(entry.seq),
                _ => {}
            }
        }
        for address in &free {
            entries.extend(self.messages_with(project, address)?);
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

    /// The places of messages that point at an address.
    fn messages_with(&self, project: ProjectId, address: &str) -> Result<Vec<u64>> {
        let mut found = self.0.prepare_cached(
            "SELECT seq FROM message JOIN said USING (seq) WHERE project = ?1 AND instr(text, ?2) > 0",
        )?;
        let rows = found.query_map(params![project.to_string(), address], |row| {
            row.get::<_, i64>(0)
        })?;
        rows.map(|seq| Ok(seq? as u64)).collect()
    }
}

/// The pointer of a reading, of one that was asked for, and of one that was granted.
fn read_by(operation: &Operation) -> Option<&str> {
    match operation {
        Operation::Dereferenced(it) => Some(&it.pointer),
        Operation::Requested(it) => Some(&it.pointer),
        Operation::Granted(it) => match &it.grant.what {
            Granted::Read { pointer, .. } => Some(pointer),
            Granted::Code { .. } => None,
        },
        _ => None,
    }
}
