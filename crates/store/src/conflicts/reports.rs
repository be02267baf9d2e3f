//! Table `report`: the risk engrams that report conflicts.

use engram_model::{ConflictId, EngramId, LineageId};
use rusqlite::Connection;

use crate::{Reader, Result, journal::parse_id};

/// The versions of the risk engrams that report conflicts, each with its conflict. They do not
/// count as claims, because nobody made them.
pub(crate) const RISKS: &str = "report JOIN conflict ON conflict.id = report.conflict
     JOIN engram ON engram.seq IN (
     SELECT seq FROM engram WHERE id = report.risk UNION ALL
     SELECT seq FROM engram WHERE lineage = report.risk AND lineage <> id)";

/// SQL: an entry of the journal stored or closed a version of such a risk engram.
pub(crate) const REPORTED: &str = "journal.kind IN ('stored', 'forgotten') AND EXISTS
     (SELECT 1 FROM engram JOIN report ON report.risk = engram.lineage WHERE engram.id = journal.subject)";

/// A risk engram that reports a conflict now or did so before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The conflict.
    pub conflict: ConflictId,
    /// The lineage of the engram.
    pub risk: LineageId,
    /// The two versions whose comparison found the conflict at that time.
    pub found: [EngramId; 2],
}

impl Reader<'_> {
    /// The current and former reports of a conflict; the newest last.
    pub fn reports(&self, conflict: ConflictId) -> Result<Vec<Report>> {
        let tail =
            "conflict = ?1 ORDER BY (SELECT min(seq) FROM engram WHERE lineage = report.risk)";
        reports_where(self.0, tail, conflict.to_string())
    }

    /// The report of a risk engram, found by its lineage.
    pub fn reported_by(&self, risk: LineageId) -> Result<Option<Report>> {
        Ok(reports_where(self.0, "risk = ?1", risk.to_string())?.pop())
    }

    /// The report made by the version that this entry stored.
    pub fn reported_at(&self, seq: u64) -> Result<Option<Report>> {
        let risk = "risk = (SELECT lineage FROM engram WHERE seq = ?1)";
        Ok(reports_where(self.0, risk, seq as i64)?.pop())
    }
}

fn reports_where(
    connection: &Connection,
    tail: &str,
    value: impl rusqlite::ToSql,
) -> Result<Vec<Report>> {
    let sql = format!("SELECT risk, conflict, one, other FROM report WHERE {tail}");
    connection
        .prepare_cached(&sql)?
        .query_and_then([value], |row| {
            let text = |at: usize| row.get::<_, String>(at);
            Ok(Report {
                risk: parse_id(&text(0)?)?,
                conflict: parse_id(&text(1)?)?,
                found: [parse_id(&text(2)?)?, parse_id(&text(3)?)?],
            })
        })?
        .collect()
}
