//! Tables `grant`, `request` and `refused`: what agents may read beyond their budgets, what they
//! requested, and how often a budget refused them.

use engram_model::{AgentId, GrantKind, GrantRecord, OperationKind, ProjectId, RequestState};
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Deserialize;

use crate::{
    Attribution, Reader, Result, StoreError,
    journal::{AHEAD, ENTRY, Journalled, journalled, timestamp},
};

/// The columns of a grant, for [`grant_row`].
const GRANT: &str =
    "id, agent, by, pointer, most, issued_at, expires_at, spent, revoked, replaced_by";

type GrantRow = (
    String,
    String,
    Option<String>,
    Option<String>,
    u32,
    i64,
    i64,
    Option<i64>,
    Option<i64>,
    Option<String>,
);

fn grant_row(row: &Row<'_>) -> rusqlite::Result<GrantRow> {
    <GrantRow>::try_from(row)
}

fn grant(
    (id, to, by, pointer, most, issued_at, expires_at, spent, revoked, replaced_by): GrantRow,
) -> Result<GrantRecord> {
    Ok(GrantRecord {
        id,
        to: AgentId(to),
        by: by.map(AgentId),
        what: match pointer {
            Some(pointer) => GrantKind::Read {
                pointer,
                cap_tokens: most,
            },
            None => GrantKind::Code { chars: most },
        },
        issued_at: timestamp(issued_at)?,
        expires_at: timestamp(expires_at)?,
        spent: spent.is_some(),
        revoked: revoked.is_some(),
        replaced_by,
    })
}

/// A request as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRequest {
    /// Its id.
    pub id: String,
    /// Who asks.
    pub agent: AgentId,
    /// What it wants to read, with its full pin; empty if the pointer was erased.
    pub pointer: String,
    /// Tokens of the full span.
    pub tokens: u32,
    /// The reason; empty if it was erased.
    pub reason: String,
    /// The intended use.
    pub intended_use: String,
    /// Its state.
    pub state: RequestState,
    /// Why it was denied.
    pub why: Option<String>,
    /// When it was made.
    pub asked_at: Timestamp,
    /// Who answered it, and when; without the reason.
    pub answer: Option<Attribution>,
    /// The entry of the answer.
    pub answered: Option<u64>,
}

/// The words of a request, as stored beside the journal.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Words {
    reason: String,
    intended_use: String,
}

const REQUEST: &str = "SELECT request.id, request.agent, request.pointer, tokens, state, said.text,
    (SELECT told.text FROM journal JOIN said AS told USING (seq)
     WHERE journal.subject = request.id AND journal.kind = 'denied' LIMIT 1),
    asked.recorded_at, answer.by, answer.recorded_at, answer.agent, answer.seq
    FROM request JOIN journal AS asked USING (seq) LEFT JOIN said USING (seq)
    LEFT JOIN journal AS answer ON answer.subject = request.id AND answer.kind IN ('denied', 'granted')";

fn request(row: &Row<'_>) -> Result<ReadRequest> {
    let (state, words): (String, Option<String>) = (row.get(4)?, row.get(5)?);
    let words: Words = words
        .and_then(|it| serde_json::from_str(&it).ok())
        .unwrap_or_default();
    Ok(ReadRequest {
        id: row.get(0)?,
        agent: AgentId(row.get(1)?),
        pointer: row.get(2)?,
        tokens: row.get(3)?,
        reason: words.reason,
        intended_use: words.intended_use,
        state: state
            .parse()
            .map_err(|_| StoreError::Record(format!("state {state:?} of a request")))?,
        why: row.get(6)?,
        asked_at: timestamp(row.get(7)?)?,
        answer: match (row.get(8)?, row.get::<_, Option<i64>>(9)?) {
            (Some(by), Some(at)) => Some(Attribution {
                agent: row.get::<_, Option<String>>(10)?.map(AgentId),
                by,
                at: timestamp(at)?,
                why: None,
            }),
            _ => None,
        },
        answered: row.get::<_, Option<i64>>(11)?.map(|it| it as u64),
    })
}

/// SQL: the requests of project ?1; of agent ?2 and its children if ?2 is not null.
fn requests_sql(all: bool) -> String {
    let waiting = if all { "" } else { "AND state = 'waiting'" };
    format!(
        "request.project = ?1 {waiting} AND (?2 IS NULL OR request.agent = ?2
           OR request.agent IN (SELECT handle FROM agent WHERE parent = ?2))"
    )
}

/// Queries about grants and requests.
pub struct Grants<'a>(&'a Connection);

impl Reader<'_> {
    /// Returns the queries about grants and requests.
    pub fn grants(&self) -> Grants<'_> {
        Grants(self.0)
    }

    /// The last entries of these kinds by an agent, newest first, at most `most`.
    pub fn acts(
        &self,
        agent: &AgentId,
        kinds: &[OperationKind],
        most: usize,
    ) -> Result<Vec<Journalled>> {
        let mut found = self.0.prepare_cached(&format!(
            "SELECT {ENTRY} FROM journal INDEXED BY journal_agent
             WHERE agent = ?1 AND kind = ?2 ORDER BY recorded_at DESC, seq DESC LIMIT ?3"
        ))?;
        let mut all = Vec::new();
        for kind in kinds {
            let rows = found.query_map(params![agent.0, kind.as_str(), most as i64], |row| {
                Ok(journalled(row))
            })?;
            all.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        all.sort_by_key(|it| std::cmp::Reverse(it.seq));
        all.truncate(most);
        Ok(all)
    }

    /// How often a budget refused an agent in a turn.
    pub fn refusals(&self, agent: &AgentId, turn: &str) -> Result<u32> {
        Ok(self
            .0
            .prepare_cached("SELECT times FROM refused WHERE agent = ?1 AND turn = ?2")?
            .query_row(params![agent.0, turn], |row| row.get(0))
            .optional()?
            .unwrap_or_default())
    }
}

impl Grants<'_> {
    /// Returns a grant of a project by its id.
    pub fn find(&self, project: ProjectId, id: &str) -> Result<Option<GrantRecord>> {
        self.0
            .prepare_cached(&format!(
                "SELECT {GRANT} FROM grant WHERE project = ?1 AND id = ?2"
            ))?
            .query_row(params![project.to_string(), id], grant_row)
            .optional()?
            .map(grant)
            .transpose()
    }

    /// The grant whose token has this digest.
    pub fn of_token(&self, digest: &str) -> Result<Option<GrantRecord>> {
        self.0
            .prepare_cached(&format!("SELECT {GRANT} FROM grant WHERE digest = ?1"))?
            .query_row([digest], grant_row)
            .optional()?
            .map(grant)
            .transpose()
    }

    /// The unused grants of an agent, including those that may have expired.
    pub fn unspent(&self, agent: &AgentId) -> Result<Vec<GrantRecord>> {
        self.0
            .prepare_cached(&format!(
                "SELECT {GRANT} FROM grant WHERE agent = ?1 AND spent IS NULL AND revoked IS NULL"
            ))?
            .query_map([&agent.0], grant_row)?
            .map(|row| grant(row?))
            .collect()
    }

    /// How many grants an agent has used.
    pub fn count_spent(&self, agent: &AgentId) -> Result<u32> {
        Ok(self
            .0
            .prepare_cached("SELECT count(*) FROM grant WHERE agent = ?1 AND spent IS NOT NULL")?
            .query_row([&agent.0], |row| row.get(0))?)
    }

    /// The grants of a project; with `of`, those that this agent gave, or that it or its children
    /// have. Newest first, at most `most`.
    pub fn list(
        &self,
        project: ProjectId,
        of: Option<&AgentId>,
        most: usize,
    ) -> Result<Vec<GrantRecord>> {
        self.0
            .prepare_cached(&format!(
                "SELECT {GRANT} FROM grant WHERE project = ?1 AND (?2 IS NULL OR agent = ?2 OR by = ?2
                   OR agent IN (SELECT handle FROM agent WHERE parent = ?2)) ORDER BY seq DESC LIMIT ?3"
            ))?
            .query_map(
                params![project.to_string(), of.map(|it| &it.0), most as i64],
                grant_row,
            )?
            .map(|row| grant(row?))
            .collect()
    }

    /// The least possible age of a grant, since the clock may have been set back. Each entry since
    /// then adds the time by which the clock went forward; a step of more than a day does not
    /// count.
    pub fn age(&self, id: &str, clock: Timestamp) -> Result<SignedDuration> {
        let mut readings = self.0.prepare_cached(
            "SELECT coalesce(clock, recorded_at) FROM journal
             WHERE seq >= (SELECT seq FROM grant WHERE id = ?1)
             ORDER BY seq",
        )?;
        let rows = readings.query_map([id], |row| row.get::<_, i64>(0))?;
        let mut age = SignedDuration::ZERO;
        let mut last: Option<i64> = None;
        for at in rows.chain([Ok(clock.as_microsecond())]) {
            let at = at?;
            let step = SignedDuration::from_micros(at.saturating_sub(last.unwrap_or(at)));
            if step > SignedDuration::ZERO && step <= AHEAD {
                age = age.saturating_add(step);
            }
            last = Some(at);
        }
        Ok(age)
    }

    /// Returns a request of a project by its id.
    pub fn request(&self, project: ProjectId, id: &str) -> Result<Option<ReadRequest>> {
        let mut found = self.0.prepare_cached(&format!(
            "{REQUEST} WHERE request.project = ?1 AND request.id = ?2"
        ))?;
        let mut rows = found.query(params![project.to_string(), id])?;
        rows.next()?.map(request).transpose()
    }

    /// The requests of a project, or of an agent and its children; at most `most`, all or only
    /// those that wait. Those that wait come first, then the newest.
    pub fn requests(
        &self,
        project: ProjectId,
        of: Option<&AgentId>,
        all: bool,
        most: usize,
    ) -> Result<Vec<ReadRequest>> {
        let mut found = self.0.prepare_cached(&format!(
            "{REQUEST} WHERE {} ORDER BY state = 'waiting' DESC, request.seq DESC LIMIT ?3",
            requests_sql(all)
        ))?;
        let of = of.map(|it| &it.0);
        let mut rows = found.query(params![project.to_string(), of, most as i64])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(request(row)?);
        }
        Ok(all)
    }

    /// How many requests [`Self::requests`] finds without its limit.
    pub fn count_requests(
        &self,
        project: ProjectId,
        of: Option<&AgentId>,
        all: bool,
    ) -> Result<u64> {
        let count: i64 = self
            .0
            .prepare_cached(&format!(
                "SELECT count(*) FROM request WHERE {}",
                requests_sql(all)
            ))?
            .query_row(params![project.to_string(), of.map(|it| &it.0)], |row| {
                row.get(0)
            })?;
        Ok(count as u64)
    }

    /// The waiting requests of an agent itself.
    pub fn waiting_of(&self, agent: &AgentId) -> Result<Vec<String>> {
        let mut found = self
            .0
            .prepare_cached("SELECT id FROM request WHERE agent = ?1 AND state = 'waiting'")?;
        let all = found.query_map([&agent.0], |row| row.get(0))?;
        Ok(all.collect::<rusqlite::Result<_>>()?)
    }

    /// The last requests of an agent itself, newest first; at most `most`.
    pub fn last_requests_of(&self, agent: &AgentId, most: usize) -> Result<Vec<ReadRequest>> {
        self.0
            .prepare_cached(&format!(
                "{REQUEST} WHERE asked.agent = ?1 AND asked.kind = 'requested'
                 ORDER BY asked.recorded_at DESC, asked.seq DESC LIMIT ?2"
            ))?
            .query_and_then(params![agent.0, most as i64], request)?
            .collect()
    }

    /// The waiting request of an agent for this pointer.
    pub fn waiting(&self, agent: &AgentId, pointer: &str) -> Result<Option<String>> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT id FROM request WHERE agent = ?1 AND pointer = ?2 AND state = 'waiting'",
            )?
            .query_row(params![agent.0, pointer], |row| row.get(0))
            .optional()?)
    }
}
