//! Which conflicts are listed and counted: those that no other conflict of the same sides makes
//! redundant. The engine decides the same for one conflict in `conflicts/lifecycle.rs`; both must
//! agree.

use engram_model::{ConflictId, ConflictStatus, ProjectId, RunId, Severity};
use jiff::Timestamp;
use rusqlite::params;

use super::severity;
use crate::{Reader, Result, journal::parse_id, tables::NOT_OVER};

/// The values by which a list of conflicts is sorted and counted.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedConflict {
    /// The conflict.
    pub id: ConflictId,
    /// How severe it is.
    pub severity: Severity,
    /// The entry that first found it.
    pub first: u64,
    /// The topics of its sides, the newer side's first.
    pub topics: [String; 2],
    /// Whether the user let it pass the gate, at the severity that it had then.
    pub is_allowed: bool,
    /// Of a possible conflict: how near its sides are; 0 for the others.
    pub score: f64,
    /// Of a possible conflict: whether somebody said that both sides can hold.
    pub is_called_compatible: bool,
}

/// SQL: how near the sides of a possible conflict are, and whether somebody called them compatible;
/// a person may take that back.
const NEARNESS: &str = "CASE WHEN conflict.status = 'possible' THEN
     (SELECT body ->> '$.score' FROM journal WHERE seq = conflict.last) END,
   conflict.status = 'possible' AND EXISTS (SELECT 1 FROM journal INDEXED BY journal_subject
     WHERE subject = conflict.id AND kind = 'judged' AND body ->> '$.verdict' IN ('compatible', 'same')
       AND (agent IS NOT NULL OR body ->> '$.model' IS NOT NULL OR NOT EXISTS
         (SELECT 1 FROM journal AS later INDEXED BY journal_subject
          WHERE later.subject = conflict.id AND later.kind = 'judged' AND later.seq > journal.seq
            AND later.agent IS NULL AND later.body ->> '$.model' IS NULL
            AND later.body ->> '$.verdict' = 'unclear')))";

/// SQL: a version that satisfies `seen` holds on this side of the conflict `of`.
fn holds(of: &str, side: &str, seen: &str) -> String {
    format!(
        // Starts from the side: a plan that walks all holding versions takes a second.
        "EXISTS (SELECT 1 FROM content INDEXED BY content_side
           CROSS JOIN engram ON engram.id = content.engram
         WHERE content.side = {of}.{side} AND engram.project = ?1 AND engram.valid_until IS NULL
           AND {NOT_OVER} AND {seen})"
    )
}

/// SQL: on both sides of a conflict, a version that it is about holds. A conflict of a run needs a
/// version of that run on one side.
fn both_hold(of: &str) -> String {
    let own = &format!(
        "engram.scope = 'run' AND coalesce(engram.run, '00000000000000000000000000') = {of}.run"
    );
    let seen = &format!("(engram.scope <> 'run' OR {own})");
    let (a, b) = (holds(of, "a", seen), holds(of, "b", seen));
    let (own_a, own_b) = (holds(of, "a", own), holds(of, "b", own));
    format!("{a} AND {b} AND ({of}.run IS NULL OR {own_a} OR {own_b})")
}

/// SQL: a person dismissed the conflict.
fn is_final(of: &str) -> String {
    format!(
        "({of}.status = 'dismissed' AND EXISTS
           (SELECT 1 FROM journal WHERE journal.seq = {of}.verdict AND journal.agent IS NULL))"
    )
}

/// SQL: a conflict for everybody that is settled or closed is hidden behind a conflict of the same
/// sides that is open for a run, if an agent of run `?3` may see that one. The open one is listed
/// instead.
fn stands_behind() -> String {
    format!(
        "(conflict.run IS NULL AND NOT (conflict.status = 'open' AND {}) AND NOT {} AND EXISTS
           (SELECT 1 FROM conflict AS narrow
            WHERE narrow.a = conflict.a AND narrow.b = conflict.b AND narrow.project = ?1
              AND narrow.run IS NOT NULL AND (?3 IS NULL OR narrow.run = ?3)
              AND narrow.status = 'open' AND {}))",
        both_hold("conflict"),
        is_final("conflict"),
        both_hold("narrow")
    )
}

/// SQL: a conflict of a run is covered while the same sides contradict each other for everybody, at
/// least as severely; then only the wider conflict is listed. A person's dismissal covers it too.
fn is_covered() -> String {
    let shared = "engram.scope <> 'run'";
    format!(
        "(conflict.run IS NOT NULL AND EXISTS (SELECT 1 FROM conflict AS wide
           WHERE wide.a = conflict.a AND wide.b = conflict.b AND wide.project = ?1 AND wide.run IS NULL
             AND ((wide.status = 'open' AND wide.severity >= conflict.severity) OR {}) AND {} AND {}))",
        is_final("wide"),
        holds("wide", "a", shared),
        holds("wide", "b", shared)
    )
}

impl Reader<'_> {
    /// The conflicts of a project as an agent of this run may see them (without a run: all),
    /// unordered and not composed. Skips those that another conflict of the same sides covers.
    /// `status` selects by verdict; `None` selects all. `holds` selects by whether both sides hold
    /// now: `Some(true)` those that do, `Some(false)` the others.
    pub fn conflicts_listed(
        &self,
        project: ProjectId,
        status: Option<ConflictStatus>,
        holds: Option<bool>,
        run: Option<RunId>,
        now: Timestamp,
    ) -> Result<Vec<ListedConflict>> {
        let holds = match holds {
            None => String::new(),
            Some(true) => format!("AND {}", both_hold("conflict")),
            Some(false) => format!("AND NOT ({})", both_hold("conflict")),
        };
        let (covered, behind) = (is_covered(), stands_behind());
        self.0
            .prepare_cached(&format!(
                "SELECT conflict.id, conflict.severity, conflict.first, newer.topic, older.topic,
                   conflict.allowed IS NOT NULL, {NEARNESS}
                 FROM conflict LEFT JOIN engram AS newer ON newer.id = conflict.newer
                   LEFT JOIN engram AS older ON older.id = conflict.older
                 WHERE conflict.project = ?1
                   AND CASE WHEN ?4 IS NULL THEN conflict.status <> 'possible' ELSE conflict.status = ?4 END
                   AND ?2 IS ?2 AND (?3 IS NULL OR conflict.run IS NULL OR conflict.run = ?3)
                   AND NOT {covered} AND NOT {behind} {holds}"
            ))?
            .query_and_then(
                params![
                    project.to_string(),
                    now.as_microsecond(),
                    run.map(|run| run.to_string()),
                    status.map(ConflictStatus::as_str),
                ],
                |row| {
                    let topic = |at: usize| row.get::<_, Option<String>>(at);
                    Ok(ListedConflict {
                        id: parse_id(&row.get::<_, String>(0)?)?,
                        severity: severity(row.get(1)?),
                        first: row.get::<_, i64>(2)? as u64,
                        topics: [topic(3)?.unwrap_or_default(), topic(4)?.unwrap_or_default()],
                        is_allowed: row.get(5)?,
                        score: row.get::<_, Option<f64>>(6)?.unwrap_or_default(),
                        is_called_compatible: row.get(7)?,
                    })
                },
            )?
            .collect()
    }

    /// How many conflicts of a project wait for a verdict, or for an answer if they are only
    /// possible: those of this status whose sides both hold now.
    pub fn count_conflicts(
        &self,
        project: ProjectId,
        status: ConflictStatus,
        now: Timestamp,
    ) -> Result<u64> {
        let count: i64 = self
            .0
            .prepare_cached(&format!(
                "SELECT COUNT(*) FROM conflict
                 WHERE project = ?1 AND status = ?3 AND {} AND NOT {}",
                both_hold("conflict"),
                is_covered()
            ))?
            .query_row(
                params![project.to_string(), now.as_microsecond(), status.as_str()],
                |row| row.get(0),
            )?;
        Ok(count as u64)
    }
}
