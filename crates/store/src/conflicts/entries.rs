//! What journal entries record about a conflict: what was found, who decided what, and why.

use engram_model::{
    AgentId, ConflictId, Engram, Lost, Operation, OperationKind, ProjectId,
    operation::{Contradiction, Ruling},
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::Pair;
use crate::{
    Reader, Result, StoreError,
    journal::{ENTRY, Journalled, journalled},
};

/// Who did something, when, and for what reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    /// The handle; `None` for the user.
    pub agent: Option<AgentId>,
    /// The name.
    pub by: String,
    /// The time.
    pub at: Timestamp,
    /// The reason; `None` if none was given, or after it was erased.
    pub why: Option<String>,
}

impl Reader<'_> {
    /// The newest valid verdicts of a project that chose a side, each with the agent that gave it:
    /// at most `most`. Skips verdicts on conflicts of a run, which concern nobody else.
    pub fn winners(
        &self,
        project: ProjectId,
        most: usize,
    ) -> Result<Vec<(Ruling, Option<AgentId>)>> {
        let entries = self
            .0
            .prepare_cached(&format!(
                "SELECT {ENTRY} FROM conflict JOIN journal ON journal.seq = conflict.verdict
                 WHERE conflict.project = ?1 AND conflict.status = 'resolved' AND conflict.run IS NULL
                 ORDER BY conflict.verdict DESC LIMIT ?2"
            ))?
            .query_and_then(params![project.to_string(), most as i64], |row| {
                Ok::<_, StoreError>(journalled(row))
            })?
            .collect::<Result<Vec<_>>>()?;
        let mut found = Vec::new();
        for entry in entries {
            if let Some(Operation::Resolved(ruling)) = entry.operation()?
                && ruling.winner.is_some()
            {
                found.push((*ruling, entry.agent));
            }
        }
        Ok(found)
    }

    /// Whether an entry after this one gave or undid a verdict, or erased a claim.
    pub fn settled_after(&self, seq: u64) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM journal WHERE seq > ?1 AND kind IN ('resolved', 'redacted') LIMIT 1",
            )?
            .exists([seq as i64])?)
    }

    /// The verdict that ended a version.
    pub fn lost(&self, engram: &Engram) -> Result<Option<Lost>> {
        if engram.valid_until.is_none() || engram.redacted {
            return Ok(None);
        }
        let Some(side) = self.side_of(engram.id)? else {
            return Ok(None);
        };
        for Pair { id: conflict, .. } in self.conflicts_of(engram.project, &side)? {
            for place in self.entries_about(conflict)? {
                if let Some(ruling) = self.ruling(place)?
                    && let Some(how) = ruling.how
                    && ruling.closed.contains(&engram.id)
                {
                    return Ok(Some(Lost { conflict, how }));
                }
            }
        }
        Ok(None)
    }

    /// Who made an entry, when, and why.
    pub fn attribution(&self, seq: u64) -> Result<Option<Attribution>> {
        Ok(
            entry_with_text(self.0, seq)?.map(|(entry, why)| Attribution {
                agent: entry.agent,
                by: entry.by,
                at: entry.at,
                why,
            }),
        )
    }

    /// The contradiction that the entry at this place found, or the near pair that it proposed.
    pub fn contradiction(&self, seq: u64) -> Result<Option<Contradiction>> {
        let Some((entry, why)) = entry_with_text(self.0, seq)? else {
            return Ok(None);
        };
        Ok(match entry.operation()? {
            Some(Operation::Conflicted(found) | Operation::Proposed(found)) => {
                Some(Contradiction {
                    why: why.unwrap_or_default(),
                    ..*found
                })
            }
            _ => None,
        })
    }

    /// The verdict of the entry at this place.
    pub fn ruling(&self, seq: u64) -> Result<Option<Ruling>> {
        let Some((entry, why)) = entry_with_text(self.0, seq)? else {
            return Ok(None);
        };
        Ok(match entry.operation()? {
            Some(Operation::Resolved(ruling)) => Some(Ruling { why, ..*ruling }),
            _ => None,
        })
    }

    /// The newest entry of this kind about an engram or a conflict.
    pub fn last_about(&self, subject: &str, kind: OperationKind) -> Result<Option<Attribution>> {
        let seq: Option<i64> = self
            .0
            .prepare_cached("SELECT max(seq) FROM journal WHERE subject = ?1 AND kind = ?2")?
            .query_row([subject, kind.as_str()], |row| row.get(0))?;
        seq.map_or(Ok(None), |seq| self.attribution(seq as u64))
    }

    /// The places of all entries about a conflict.
    pub fn entries_about(&self, id: ConflictId) -> Result<Vec<u64>> {
        self.0
            .prepare_cached(
                "SELECT seq FROM journal WHERE subject = ?1
                   AND kind IN ('conflict', 'judged', 'resolved', 'allowed') ORDER BY seq",
            )?
            .query_and_then([id.to_string()], |row| Ok(row.get::<_, i64>(0)? as u64))?
            .collect()
    }
}

/// An entry about a conflict, with its text.
pub(super) fn entry_with_text(
    connection: &Connection,
    seq: u64,
) -> Result<Option<(Journalled, Option<String>)>> {
    let entry = connection
        .prepare_cached(&format!(
            "SELECT {ENTRY}, said.text FROM journal LEFT JOIN said ON said.seq = journal.seq
             WHERE journal.seq = ?1"
        ))?
        .query_row([seq as i64], |row| Ok((journalled(row), row.get(10)?)))
        .optional()?;
    Ok(entry)
}
