//! Pairs of near claims: to whom they were shown, and what was said of them.

use engram_model::{
    AgentId, ConflictId, Operation, PairVerdict, ProjectId, operation::PairJudgment,
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Attribution, entries::entry_with_text};
use crate::{Reader, Result, journal::parse_id, tables::NOT_OVER};

/// A possible conflict that a model has not judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairToJudge {
    /// The place of the entry that proposed it.
    pub seq: u64,
    /// Its id.
    pub id: ConflictId,
    /// Its project.
    pub project: ProjectId,
    /// The claims of its sides.
    pub claims: [String; 2],
}

/// Queries about pairs of near claims.
pub struct NearPairs<'a>(&'a Connection);

impl<'a> NearPairs<'a> {
    /// The queries at this reader's snapshot.
    pub fn of(reader: &'a Reader<'_>) -> Self {
        Self(reader.0)
    }

    /// What was said of a pair of near claims, and by whom, oldest first.
    pub fn judgments(&self, id: ConflictId) -> Result<Vec<(Attribution, PairJudgment)>> {
        let places = self
            .0
            .prepare_cached(
                "SELECT seq FROM journal WHERE subject = ?1 AND kind = 'judged' ORDER BY seq",
            )?
            .query_and_then([id.to_string()], |row| Ok(row.get::<_, i64>(0)? as u64))?
            .collect::<Result<Vec<u64>>>()?;
        let mut found = Vec::new();
        for seq in places {
            let Some((entry, why)) = entry_with_text(self.0, seq)? else {
                continue;
            };
            if let Some(Operation::Judged(judgment)) = entry.operation()? {
                let by = Attribution {
                    agent: entry.agent,
                    by: entry.by,
                    at: entry.at,
                    why,
                };
                found.push((by, judgment));
            }
        }
        Ok(found)
    }

    /// What people said of a pair, oldest first, each with the place of its entry.
    pub fn words_of_person(&self, id: ConflictId) -> Result<Vec<(u64, PairVerdict)>> {
        self.0
            .prepare_cached(
                "SELECT seq, body ->> '$.verdict' FROM journal INDEXED BY journal_subject
                 WHERE subject = ?1 AND kind = 'judged' AND agent IS NULL
                   AND body ->> '$.model' IS NULL ORDER BY seq",
            )?
            .query_and_then([id.to_string()], |row| {
                Ok((
                    row.get::<_, i64>(0)? as u64,
                    parse_id(&row.get::<_, String>(1)?)?,
                ))
            })?
            .collect()
    }

    /// The entry in which a person last took back a word on a pair.
    pub fn taken_back(&self, id: ConflictId) -> Result<Option<u64>> {
        let mut words = self.words_of_person(id)?.into_iter().rev();
        Ok(words.find(|it| it.1 == PairVerdict::Unclear).map(|it| it.0))
    }

    /// The newest pair that was proposed to an agent and whose id ends with these four characters.
    pub fn proposed_to(&self, agent: &AgentId, key: &str) -> Result<Option<ConflictId>> {
        let id: Option<String> = self
            .0
            .prepare_cached(
                "SELECT subject FROM journal WHERE agent = ?1 AND kind = 'proposed'
                   AND length(?2) = 4 AND substr(subject, -4) = upper(?2) ORDER BY seq DESC LIMIT 1",
            )?
            .query_row([&agent.0, key], |row| row.get(0))
            .optional()?;
        id.map(|it| parse_id(&it)).transpose()
    }

    /// The first possible conflict that was proposed after this place, with a version that holds now on
    /// each side, and of which neither this model nor any agent or person has said anything; pairs of
    /// one run only `with_runs`.
    pub fn next_to_judge(
        &self,
        model: &str,
        after: u64,
        with_runs: bool,
        now: Timestamp,
    ) -> Result<Option<PairToJudge>> {
        let claim_of = |side: &str| {
            format!(
                "(SELECT content.claim FROM content INDEXED BY content_side
                  CROSS JOIN engram ON engram.id = content.engram
                  WHERE content.side = conflict.{side} AND engram.project = conflict.project
                    AND engram.valid_until IS NULL AND {NOT_OVER} LIMIT 1)"
            )
        };
        let (a, b) = (claim_of("a"), claim_of("b"));
        self.0
            .prepare_cached(&format!(
                "SELECT first, id, project, claim_a, claim_b FROM
                   (SELECT conflict.*, {a} AS claim_a, {b} AS claim_b FROM conflict
                    WHERE status = 'possible' AND verdict IS NULL AND first > ?1
                      AND (?3 OR run IS NULL)
                      AND NOT EXISTS (SELECT 1 FROM journal INDEXED BY journal_subject
                        WHERE subject = conflict.id AND kind = 'judged'
                          AND coalesce(body ->> '$.model', ?4) = ?4))
                 WHERE claim_a IS NOT NULL AND claim_b IS NOT NULL ORDER BY first LIMIT 1"
            ))?
            .query_and_then(
                params![after as i64, now.as_microsecond(), with_runs, model],
                |row| {
                    let text = |at: usize| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
                    Ok(PairToJudge {
                        seq: row.get::<_, i64>(0)? as u64,
                        id: parse_id(text(1)?)?,
                        project: parse_id(text(2)?)?,
                        claims: [row.get(3)?, row.get(4)?],
                    })
                },
            )?
            .next()
            .transpose()
    }

    /// Of the pairs that nearness proposed and of which a person's word stands: whether that is that
    /// both claims can hold. In the order of those words, over all projects of the home.
    pub fn dismissals_by_person(&self) -> Result<Vec<bool>> {
        self.0
            .prepare_cached(
                "SELECT ruled_by_person AND ruled = 'dismissed' FROM
                   (SELECT conflict.ruled, conflict.ruled IS NOT NULL AND EXISTS
                      (SELECT 1 FROM journal WHERE seq = conflict.verdict AND agent IS NULL)
                        AS ruled_by_person,
                      conflict.verdict, (SELECT max(seq) FROM journal INDEXED BY journal_subject
                        WHERE subject = conflict.id AND kind = 'judged' AND agent IS NULL
                          AND body ->> '$.model' IS NULL) AS word
                    FROM conflict JOIN journal AS found ON found.seq = conflict.first
                    WHERE conflict.status <> 'possible' AND found.kind = 'proposed')
                 WHERE ruled_by_person OR (SELECT body ->> '$.verdict' FROM journal
                   WHERE seq = word) IN ('contradicts', 'replaces')
                 ORDER BY max(coalesce(word, 0), iif(ruled_by_person, verdict, 0))",
            )?
            .query_and_then([], |row| Ok(row.get(0)?))?
            .collect()
    }

    /// Whether an entry after this one answered for a pair, or settled one.
    pub fn is_answered_after(&self, seq: u64) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM journal WHERE seq > ?1 AND kind IN ('judged', 'resolved') LIMIT 1",
            )?
            .exists([seq as i64])?)
    }

    /// Whether a pair was found to be a conflict, and not only proposed, since it was last only
    /// possible.
    pub fn is_raised(&self, id: ConflictId) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM journal WHERE subject = ?1 AND kind = 'conflict' AND seq > coalesce(
                   (SELECT max(seq) FROM journal WHERE subject = ?1 AND kind = 'resolved'
                      AND body ->> '$.status' = 'possible'), 0) LIMIT 1",
            )?
            .exists([id.to_string()])?)
    }

    /// Whether this pair was proposed to an agent.
    pub fn is_proposed_to(&self, agent: &AgentId, id: ConflictId) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM journal INDEXED BY journal_subject
                 WHERE subject = ?1 AND kind = 'proposed' AND agent = ?2",
            )?
            .exists([&id.to_string(), &agent.0])?)
    }

    /// How many pairs an agent judged after `since` and up to `now`, by the clock.
    pub fn count_judged(&self, agent: &AgentId, since: Timestamp, now: Timestamp) -> Result<u32> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT count(*) FROM journal WHERE agent = ?1 AND kind = 'judged'
                   AND coalesce(clock, recorded_at) > ?2 AND coalesce(clock, recorded_at) <= ?3",
            )?
            .query_row(
                params![agent.0, since.as_microsecond(), now.as_microsecond()],
                |row| row.get(0),
            )?)
    }

    /// How often a side was shown to an agent, or to the user, without any of them saying anything of
    /// the pair; at most `most`.
    pub fn count_unanswered(
        &self,
        project: ProjectId,
        agent: Option<&AgentId>,
        side: &str,
        most: usize,
    ) -> Result<usize> {
        let count: i64 = self
            .0
            .prepare_cached(
                "SELECT count(*) FROM (SELECT 1 FROM conflict
                   WHERE id IN (SELECT id FROM conflict WHERE a = ?2 UNION ALL
                                SELECT id FROM conflict WHERE b = ?2)
                     AND project = ?1 AND status = 'possible'
                     AND EXISTS (SELECT 1 FROM journal WHERE seq = conflict.first AND agent IS ?4
                       AND NOT coalesce(body ->> '$.left_out', 0))
                     AND NOT EXISTS (SELECT 1 FROM journal INDEXED BY journal_subject
                       WHERE subject = conflict.id AND kind = 'judged'
                         AND body ->> '$.model' IS NULL) LIMIT ?3)",
            )?
            .query_row(
                params![
                    project.to_string(),
                    side,
                    most as i64,
                    agent.map(|it| &it.0)
                ],
                |row| row.get(0),
            )?;
        Ok(count as usize)
    }
}
