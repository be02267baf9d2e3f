//! How the claims and answers of agents fared, from the journal and the tables `engram` and
//! `conflict`.

use std::collections::HashMap;

use engram_model::{AgentId, AgentRecord, ProjectId};
use rusqlite::{Connection, params};

use crate::Result;

/// The conflicts with an agent's claim on a side.
#[derive(Clone, Copy, Default)]
pub(super) struct ConflictCount {
    all: u64,
    /// Those with a verdict.
    settled: u64,
}

/// The conflicts of a project's agents. Starts from the conflicts, which are far fewer than the
/// claims.
pub(super) fn conflicts_by_agent(
    connection: &Connection,
    project: ProjectId,
) -> Result<HashMap<AgentId, ConflictCount>> {
    connection
        .prepare_cached(
            "SELECT journal.agent, count(DISTINCT conflict.id),
               count(DISTINCT CASE WHEN conflict.ruled IS NOT NULL THEN conflict.id END)
             FROM conflict CROSS JOIN content INDEXED BY content_side
                 ON content.side IN (conflict.a, conflict.b)
               CROSS JOIN engram ON engram.id = content.engram
               CROSS JOIN journal ON journal.seq = engram.seq
             WHERE conflict.project = ?1 AND conflict.status <> 'possible'
               AND engram.project = ?1 AND journal.agent IS NOT NULL
             GROUP BY journal.agent",
        )?
        .query_and_then([project.to_string()], |row| {
            let count = ConflictCount {
                all: row.get::<_, i64>(1)? as u64,
                settled: row.get::<_, i64>(2)? as u64,
            };
            Ok((AgentId(row.get(0)?), count))
        })?
        .collect()
}

/// How the claims and answers of one agent fared.
pub(super) fn record_of(
    connection: &Connection,
    agent: &AgentId,
    conflicts: Option<&ConflictCount>,
) -> Result<AgentRecord> {
    let conflicts = conflicts.copied().unwrap_or_default();
    let (claims, verified) = count_verified(connection, agent)?;
    let fate = count_upheld(connection, agent)?;
    Ok(AgentRecord {
        claims,
        verified,
        conflicts: conflicts.all,
        settled: conflicts.settled,
        ..fate
    })
}

/// How many of an agent's newest versions there are, and how many are verified. Reports of
/// conflicts are the engine's.
fn count_verified(connection: &Connection, agent: &AgentId) -> Result<(u64, u64)> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*), coalesce(sum(verified), 0) FROM
               (SELECT engram.verified FROM journal INDEXED BY journal_agent
                  CROSS JOIN engram ON engram.seq = journal.seq
                WHERE journal.agent = ?1 AND journal.kind = 'stored'
                  AND NOT EXISTS (SELECT 1 FROM report WHERE report.risk = engram.lineage)
                ORDER BY journal.recorded_at DESC LIMIT ?2)",
        )?
        .query_row(params![agent.0, AgentRecord::MAX_CLAIMS as i64], |row| {
            Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64))
        })?)
}

/// The pairs that an agent called a contradiction, and what became of them. What it settled itself
/// upholds nothing.
fn count_upheld(connection: &Connection, agent: &AgentId) -> Result<AgentRecord> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*), coalesce(sum(upheld AND NOT dismissed), 0), coalesce(sum(dismissed), 0)
             FROM (SELECT ruled IS 'dismissed' AND judge IS NOT ?1 AS dismissed,
                 (ruled IS 'resolved' AND judge IS NOT ?1)
                   OR coalesce(person, '') IN ('contradicts', 'replaces') AS upheld
               FROM (SELECT conflict.ruled,
                   (SELECT agent FROM journal WHERE seq = conflict.verdict) AS judge,
                   (SELECT body ->> '$.verdict' FROM journal INDEXED BY journal_subject
                    WHERE subject = conflict.id AND kind = 'judged' AND agent IS NULL
                      AND body ->> '$.model' IS NULL ORDER BY seq DESC LIMIT 1) AS person
                 FROM (SELECT subject, body ->> '$.verdict' AS verdict, max(seq)
                       FROM journal INDEXED BY journal_agent
                       WHERE agent = ?1 AND kind = 'judged' GROUP BY subject) AS word
                   JOIN conflict ON conflict.id = word.subject
                 WHERE word.verdict IN ('contradicts', 'replaces')))",
        )?
        .query_row([&agent.0], |row| {
            Ok(AgentRecord {
                reported: row.get::<_, i64>(0)? as u64,
                upheld: row.get::<_, i64>(1)? as u64,
                dismissed: row.get::<_, i64>(2)? as u64,
                ..AgentRecord::default()
            })
        })?)
}
