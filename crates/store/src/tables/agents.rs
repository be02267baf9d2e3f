//! Tables `agent`, `token`, `spend` and `spend_below`: the issued handles, the tokens that prove
//! them, their turns, and what those turns cost.

use std::collections::{BTreeSet, HashMap};

use engram_model::{AgentId, AgentRecord, OperationKind, ProjectId, Spend, operation::Agent};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use crate::{
    Reader, Result, StoreError,
    conflicts::RISKS,
    journal::{parse_id, timestamp},
    tables::agent_records::{ConflictCount, conflicts_by_agent, record_of},
};

/// The columns of an agent, for [`agent_row`].
const AGENT: &str =
    "handle, label, role, parent, run, project, topics, turn, last_call, hidden, closed";

type AgentColumns = (
    String,
    String,
    Option<String>,
    Option<String>,
    String,
    String,
    Option<String>,
    String,
    i64,
    bool,
    bool,
);

fn agent_row(row: &Row<'_>) -> rusqlite::Result<AgentColumns> {
    <AgentColumns>::try_from(row)
}

fn agent(
    (handle, label, role, parent, run, project, topics, turn, last_call, is_hidden, is_closed): AgentColumns,
) -> Result<Agent> {
    let topics = topics.as_deref().map(serde_json::from_str).transpose();
    Ok(Agent {
        handle: AgentId(handle),
        label,
        client: None,
        role,
        parent: parent.map(AgentId),
        run: parse_id(&run)?,
        project: parse_id(&project)?,
        topics: topics
            .map_err(|error| StoreError::Record(format!("topics of an agent: {error}")))?
            .unwrap_or_default(),
        turn,
        last_call: timestamp(last_call)?,
        is_hidden,
        is_closed,
    })
}

/// SQL: somebody opened or changed an agent, or it did more than call and get answers.
const DID: &str = "(given OR hidden OR closed OR handle IN (SELECT agent FROM token)
     OR EXISTS (SELECT 1 FROM journal INDEXED BY journal_agent
                WHERE journal.agent = handle AND kind NOT IN ('joined', 'reached', 'served')))";

/// SQL: nobody opened the agent, and its handle is one that the engine made for a connection.
const IS_CONNECTION: &str = "(length(handle) = 26 AND parent IS NULL AND role IS NULL)";

/// SQL: what the client of a connection calls itself. The suffix that tells two clients of the same
/// name apart is not part of the name.
const CLIENT: &str = "replace(coalesce(json_extract(earlier, '$[0]'), label),
     ' (' || substr(handle, 21) || ')', '')";

/// SQL: the agents of project ?1 that the user neither hid nor closed, each with its client and with
/// the times of its first and last call. An opened agent is its own client.
fn connected(last_call: &str) -> String {
    format!(
        "SELECT handle, since, until, CASE WHEN {IS_CONNECTION}
           THEN 'client ' || {CLIENT} ELSE 'agent ' || handle END AS client
         FROM (SELECT *, {last_call} AS until, coalesce(
                 (SELECT min(recorded_at) FROM journal INDEXED BY journal_agent
                  WHERE journal.agent = agent.handle AND kind = 'joined'), last_call) AS since
               FROM agent)
         WHERE project = ?1 AND NOT hidden AND NOT closed"
    )
}

/// What one agent has spent in its current turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spender {
    /// Its handle.
    pub handle: AgentId,
    /// What it calls itself, or what a person or its parent named it; display only.
    pub label: String,
    /// Its turn.
    pub turn: String,
    /// When it last called.
    pub last_call: Timestamp,
    /// What it has spent.
    pub spend: Spend,
}

/// An agent whose name others must not use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameOwner {
    /// Its handle.
    pub handle: AgentId,
    /// What it is called.
    pub label: String,
    /// Whether a person, not an agent, gave it that name.
    pub is_given: bool,
}

/// An agent, with what the journal records about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentActivity {
    /// The agent at its last call.
    pub agent: Agent,
    /// The name of its parent.
    pub parent: Option<String>,
    /// The names that it had before the user renamed it.
    pub earlier: Vec<String>,
    /// Its first entry; unknown for some agents of an earlier schema.
    pub first: Option<Timestamp>,
    /// Its last operation that readers can see, other than that it was sent a line of the brief.
    pub did: Option<OperationKind>,
    /// How many versions it stored.
    pub stored: u64,
    /// How its claims and answers fared.
    pub record: AgentRecord,
    /// What it has spent in its turn.
    pub spend: Spend,
}

/// Which agents [`Reader::family`] lists.
#[derive(Clone, Copy, Debug)]
pub enum FamilyOf<'a> {
    /// All agents of the project.
    Everybody,
    /// Those of the project that did something.
    Active,
    /// The children of this agent.
    Parent(&'a AgentId),
}

/// Which agents [`Reader::count_agent_rows`] counts.
#[derive(Clone, Copy, Debug)]
pub enum RowsOf<'a> {
    /// Those that did something.
    Active,
    /// These.
    Handles(&'a BTreeSet<AgentId>),
}

/// Whose names.
#[derive(Clone, Copy, Debug)]
pub enum NamesOf<'a> {
    /// Those that a person gave with claims and notes, and those that the engine uses for itself
    /// and for people.
    NoAgent,
    /// Those that this agent has or had.
    Agent(&'a AgentId),
    /// Those that any other agent has or had.
    OthersThan(&'a AgentId),
    /// The one that the user gave to the last connection of this client, unless they closed it.
    GivenTo(&'a String),
}

/// SQL: the names without an agent in project ?1.
const NAMES_OF_NO_AGENT: &str = "WITH RECURSIVE named (name) AS (
        SELECT min(by) FROM journal WHERE project = ?1 AND agent IS NULL AND by <> ''
        UNION ALL
        SELECT (SELECT min(by) FROM journal
                WHERE project = ?1 AND agent IS NULL AND by <> '' AND by > name)
        FROM named WHERE name IS NOT NULL)
    SELECT name FROM named WHERE name IS NOT NULL";

/// SQL: the names that agents of project ?1 have or had, of those that meet a condition.
fn names_sql(condition: &str) -> String {
    format!(
        "SELECT label FROM agent WHERE project = ?1 AND {condition} UNION
         SELECT value FROM agent, json_each(earlier) WHERE project = ?1 AND {condition}"
    )
}

/// SQL: the name that the user gave to the last connection of client ?2 in project ?1.
fn given_name_sql() -> String {
    format!(
        "SELECT label FROM
           (SELECT label, closed, earlier FROM agent
            WHERE project = ?1 AND {IS_CONNECTION} AND {CLIENT} = ?2
            ORDER BY last_call DESC, handle DESC LIMIT 1)
         WHERE NOT closed AND earlier <> '[]'"
    )
}

/// One end of an agent's operations of one kind.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// The topics as the table stores them; `None` if every topic is allowed.
pub(crate) fn topics_json(agent: &Agent) -> Option<String> {
    let topics = &agent.topics;
    (!topics.are_all()).then(|| serde_json::json!(topics).to_string())
}

impl Reader<'_> {
    /// The agent behind a handle.
    pub fn agent(&self, handle: &AgentId) -> Result<Option<Agent>> {
        self.0
            .prepare_cached(&format!("SELECT {AGENT} FROM agent WHERE handle = ?1"))?
            .query_row([&handle.0], agent_row)
            .optional()?
            .map(agent)
            .transpose()
    }

    /// The handle of the agent whose token has this digest.
    pub fn agent_of_token(&self, digest: &str) -> Result<Option<AgentId>> {
        Ok(self
            .0
            .prepare_cached("SELECT agent FROM token WHERE digest = ?1")?
            .query_row([digest], |row| row.get(0).map(AgentId))
            .optional()?)
    }

    /// Whether a token proves this agent: somebody opened it, rather than it joining by itself.
    pub fn is_opened(&self, handle: &AgentId) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached("SELECT 1 FROM token WHERE agent = ?1")?
            .exists([&handle.0])?)
    }

    /// The agents of a project that were opened, even if they have been closed since, or that a
    /// person named. A connection that named itself owns no name, because its client connects again
    /// under the same name. Such a handle has 26 characters, and the agent neither a parent nor a
    /// role.
    pub fn name_owners(&self, project: ProjectId) -> Result<Vec<NameOwner>> {
        self.0
            .prepare_cached(
                "SELECT handle, label, given OR earlier <> '[]' FROM agent
                 WHERE project = ?1 AND (given OR earlier <> '[]' OR handle IN (SELECT agent FROM token)
                   OR (closed AND NOT (length(handle) = 26 AND parent IS NULL AND role IS NULL)))",
            )?
            .query_and_then([project.to_string()], |row| {
                Ok(NameOwner {
                    handle: AgentId(row.get(0)?),
                    label: row.get(1)?,
                    is_given: row.get(2)?,
                })
            })?
            .collect()
    }

    /// Whether an agent ever stored a claim in a project.
    pub fn has_claim_of_agent(&self, project: ProjectId) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM journal INDEXED BY journal_lately
                 WHERE project = ?1 AND kind = 'stored' AND agent IS NOT NULL LIMIT 1",
            )?
            .exists([project.to_string()])?)
    }

    /// Names that are or were in use in a project. For names without an agent, takes one step in
    /// the index per name, however often the name appears.
    pub fn names(&self, project: ProjectId, of: NamesOf<'_>) -> Result<Vec<String>> {
        let project = project.to_string();
        let (sql, bound) = match of {
            NamesOf::NoAgent => (NAMES_OF_NO_AGENT.to_owned(), vec![&project]),
            NamesOf::Agent(handle) => (names_sql("handle = ?2"), vec![&project, &handle.0]),
            NamesOf::OthersThan(handle) => (names_sql("handle <> ?2"), vec![&project, &handle.0]),
            NamesOf::GivenTo(client) => (given_name_sql(), vec![&project, client]),
        };
        self.0
            .prepare_cached(&sql)?
            .query_and_then(params_from_iter(bound), |row| Ok(row.get(0)?))?
            .collect()
    }

    /// At most `most` agents of a project, without their activity; most recent call first.
    pub fn family(&self, project: ProjectId, of: FamilyOf<'_>, most: usize) -> Result<Vec<Agent>> {
        let (parent, condition) = match of {
            FamilyOf::Everybody => (None, "TRUE"),
            FamilyOf::Active => (None, DID),
            FamilyOf::Parent(handle) => (Some(&handle.0), "parent = ?2"),
        };
        let most = most.min(i64::MAX as usize) as i64;
        self.0
            .prepare_cached(&format!(
                "SELECT {AGENT} FROM agent WHERE project = ?1 AND {condition}
                 ORDER BY last_call DESC, handle LIMIT ?3"
            ))?
            .query_map(params![project.to_string(), parent, most], agent_row)?
            .map(|row| agent(row?))
            .collect()
    }

    /// How many agents [`Self::agents_of`] finds without its limit.
    pub fn count_agents(&self, project: ProjectId) -> Result<u64> {
        let count: i64 = self
            .0
            .prepare_cached(&format!(
                "SELECT count(*) FROM agent WHERE project = ?1 AND {DID}"
            ))?
            .query_row([project.to_string()], |row| row.get(0))?;
        Ok(count as u64)
    }

    /// How many rows a list of these agents has, without those that the user hid or closed:
    /// successive connections of one client are one row, simultaneous ones have a row each.
    /// `calls` has last calls that no table has.
    pub fn count_agent_rows(
        &self,
        project: ProjectId,
        of: RowsOf<'_>,
        calls: &HashMap<String, Timestamp>,
    ) -> Result<u64> {
        let at = |it: (&String, &Timestamp)| (it.0.clone(), it.1.as_microsecond().into());
        let calls: serde_json::Map<_, _> = calls.iter().map(at).collect();
        let calls = serde_json::Value::from(calls).to_string();
        let (condition, handles) = match of {
            RowsOf::Active => (DID.to_owned() + " AND ?2 IS NULL", None),
            RowsOf::Handles(handles) => (
                "handle IN (SELECT value FROM json_each(?2))".to_owned(),
                Some(serde_json::json!(handles).to_string()),
            ),
        };
        let count: i64 = self
            .0
            .prepare_cached(&format!(
                "WITH connected AS ({} AND {condition}),
                   change AS (SELECT client, since AS at, 1 AS step FROM connected
                     UNION ALL SELECT client, until, -1 FROM connected),
                   simultaneous AS (SELECT client, sum(step) OVER (PARTITION BY client
                     ORDER BY at, step DESC ROWS UNBOUNDED PRECEDING) AS count FROM change)
                 SELECT coalesce(sum(most), 0)
                 FROM (SELECT max(count) AS most FROM simultaneous GROUP BY client)",
                connected(
                    "max(last_call, coalesce((SELECT value FROM json_each(?3) WHERE key = handle), 0))"
                )
            ))?
            .query_row(params![project.to_string(), handles, calls], |row| row.get(0))?;
        Ok(count as u64)
    }

    /// At most `most` agents of a project that did something, most recent call first; agents that
    /// the user hid or closed come last.
    pub fn agents_of(&self, project: ProjectId, most: usize) -> Result<Vec<AgentActivity>> {
        let conflicts = conflicts_by_agent(self.0, project)?;
        self.0
            .prepare_cached(&format!(
                "SELECT {AGENT} FROM agent WHERE project = ?1 AND {DID}
                 ORDER BY hidden OR closed, last_call DESC, handle LIMIT ?2"
            ))?
            .query_map(params![project.to_string(), most as i64], agent_row)?
            .map(|row| activity(self, agent(row?)?, &conflicts))
            .collect()
    }

    /// The agents of a project that called at `since` or later and have spent something in their
    /// turn, unless their client has connected again since; at most `most`, latest first.
    pub fn spenders(
        &self,
        project: ProjectId,
        since: Timestamp,
        most: usize,
    ) -> Result<Vec<Spender>> {
        let mut found = self.0.prepare_cached(&format!(
            "WITH connected AS ({} AND last_call >= ?2)
             SELECT label, agent.turn, last_call, repo_spans, artifact_sections, sam_items, tokens, agent.handle
             FROM connected JOIN agent USING (handle)
               JOIN spend ON spend.agent = agent.handle AND spend.turn = agent.turn
             WHERE NOT EXISTS (SELECT 1 FROM connected AS later
                               WHERE later.client = connected.client AND later.since > connected.until)
             ORDER BY last_call DESC LIMIT ?3",
            connected("last_call")
        ))?;
        let rows = found.query_map(
            params![project.to_string(), since.as_microsecond(), most as i64],
            |row| {
                let spend = Spend {
                    repo_spans: row.get(3)?,
                    artifact_sections: row.get(4)?,
                    sam_items: row.get(5)?,
                    tokens: row.get(6)?,
                };
                let handle = AgentId(row.get(7)?);
                Ok((
                    handle,
                    row.get(0)?,
                    row.get(1)?,
                    row.get::<_, i64>(2)?,
                    spend,
                ))
            },
        )?;
        rows.map(|row| {
            let (handle, label, turn, last_call, spend) = row?;
            Ok(Spender {
                handle,
                label,
                turn,
                last_call: timestamp(last_call)?,
                spend,
            })
        })
        .collect()
    }

    /// What an agent spent in a turn.
    pub fn spend(&self, agent: &AgentId, turn: &str) -> Result<Spend> {
        sum(self.0, "spend", agent, turn)
    }

    /// What all descendants of an agent have read in its turn.
    pub fn spend_below(&self, agent: &AgentId, turn: &str) -> Result<Spend> {
        sum(self.0, "spend_below", agent, turn)
    }
}

/// All agents, ordered by handle.
pub(crate) fn all_agents(connection: &Connection) -> Result<Vec<Agent>> {
    connection
        .prepare_cached(&format!("SELECT {AGENT} FROM agent ORDER BY handle"))?
        .query_map([], agent_row)?
        .map(|row| agent(row?))
        .collect()
}

fn activity(
    reader: &Reader<'_>,
    agent: Agent,
    conflicts: &HashMap<AgentId, ConflictCount>,
) -> Result<AgentActivity> {
    let parent = match &agent.parent {
        Some(handle) => reader.agent(handle)?.map(|it| it.label),
        None => None,
    };
    let joined = entry_by(reader.0, &agent.handle, OperationKind::Joined, End::First)?;
    let first = match joined {
        Some((_, at)) => Some(at),
        None => opened_at(reader.0, &agent.handle)?,
    };
    let mut last = None;
    // A line of the brief reaches an agent without its doing anything.
    let is_act = |it: &&OperationKind| it.is_told() && **it != OperationKind::Reached;
    for kind in OperationKind::ALL.iter().filter(is_act) {
        let newest = entry_by(reader.0, &agent.handle, *kind, End::Last)?;
        last = last.max(newest.map(|(seq, _)| (seq, *kind)));
    }
    Ok(AgentActivity {
        parent,
        earlier: earlier_names(reader.0, &agent.handle)?,
        first: first.map(timestamp).transpose()?,
        did: last.map(|it| it.1),
        stored: count_stored(reader.0, &agent)?,
        record: record_of(reader.0, &agent.handle, conflicts.get(&agent.handle))?,
        spend: reader.spend(&agent.handle, &agent.turn)?,
        agent,
    })
}

/// The place and time of the first or last entry of one kind that an agent caused. Takes one step
/// in the index, however active the agent was.
fn entry_by(
    connection: &Connection,
    agent: &AgentId,
    kind: OperationKind,
    end: End,
) -> Result<Option<(i64, i64)>> {
    let order = match end {
        End::First => "recorded_at, seq",
        End::Last => "recorded_at DESC, seq DESC",
    };
    Ok(connection
        .prepare_cached(&format!(
            "SELECT seq, recorded_at FROM journal INDEXED BY journal_agent
             WHERE agent = ?1 AND kind = ?2 ORDER BY {order} LIMIT 1"
        ))?
        .query_row([&agent.0, kind.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?)
}

fn earlier_names(connection: &Connection, agent: &AgentId) -> Result<Vec<String>> {
    let names: String = connection
        .prepare_cached("SELECT earlier FROM agent WHERE handle = ?1")?
        .query_row([&agent.0], |row| row.get(0))?;
    serde_json::from_str(&names)
        .map_err(|error| StoreError::Record(format!("earlier names of an agent: {error}")))
}

fn opened_at(connection: &Connection, agent: &AgentId) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT min(recorded_at) FROM journal WHERE subject = ?1 AND kind = 'opened'",
        )?
        .query_row([&agent.0], |row| row.get(0))?)
}

/// How many claims an agent stored. The report of a conflict is nobody's claim.
fn count_stored(connection: &Connection, agent: &Agent) -> Result<u64> {
    let count: i64 = connection
        .prepare_cached(&format!(
            "SELECT (SELECT count(*) FROM journal INDEXED BY journal_agent
                     WHERE agent = ?1 AND kind = 'stored')
                  - (SELECT count(*) FROM {RISKS} JOIN journal ON journal.seq = engram.seq
                     WHERE conflict.project = ?2 AND journal.agent = ?1)"
        ))?
        .query_row(params![agent.handle.0, agent.project.to_string()], |row| {
            row.get(0)
        })?;
    Ok(count as u64)
}

fn sum(connection: &Connection, table: &str, agent: &AgentId, turn: &str) -> Result<Spend> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT repo_spans, artifact_sections, sam_items, tokens FROM {table} WHERE agent = ?1 AND turn = ?2"
        ))?
        .query_row(params![agent.0, turn], |row| {
            Ok(Spend {
                repo_spans: row.get(0)?,
                artifact_sections: row.get(1)?,
                sam_items: row.get(2)?,
                tokens: row.get(3)?,
            })
        })
        .optional()?
        .unwrap_or_default())
}
