//! Table `journal`: the source of truth. Every change of a home goes through [`Writer::record`],
//! which appends an operation and applies it to the tables, in one transaction.

mod agents;
mod apply;
mod beside;
mod carry;
mod conflicts;
mod erasable;
mod reach;
mod replay;

use std::sync::LazyLock;

use engram_model::{
    AgentId, JournalTime, OWN_EVENT, Operation, OperationKind, ProjectId, Refusal, SCHEMA_VERSION,
};
use jiff::{SignedDuration, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use apply::Applied;
pub(crate) use beside::SHOWN;
pub(crate) use carry::carry;
pub use erasable::Erasable;
pub use replay::Replayed;
pub(crate) use replay::apply_all;

use crate::{Reader, Result, StoreError, Writer};

/// A stored time further ahead than this was written by a wrong clock. Journal time ignores it
/// (docs/design.md#time).
pub(crate) const AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// An operation to record. Its time, origin and place are those of the transaction.
pub struct NewEntry<'a> {
    /// The project.
    pub project: ProjectId,
    /// Whether it may ever leave this machine.
    pub shareable: bool,
    /// The handle of the agent that did it; `None` for the user.
    pub agent: Option<&'a AgentId>,
    /// Who did it, as a person would name them; empty for the user.
    pub by: &'a str,
    /// What happened.
    pub operation: &'a Operation,
}

/// An entry as stored.
#[derive(Debug, Clone)]
pub struct Journalled {
    /// Its place in this home.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// What the clock showed then.
    pub(crate) clock: Timestamp,
    /// The project.
    pub project: ProjectId,
    /// The handle of the agent that did it; `None` for the user.
    pub agent: Option<AgentId>,
    /// The name of the person or agent that did it.
    pub by: String,
    kind: Option<OperationKind>,
    subject: Option<String>,
    body: String,
}

impl Journalled {
    /// Its kind of operation; `None` for a kind that only a newer build knows. Such an entry is
    /// kept and skipped.
    pub fn kind(&self) -> Option<OperationKind> {
        self.kind
    }

    /// Whether its body may contain a word. A word that JSON escapes is not found.
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.body.contains(word)
    }

    /// Its operation, without the words beside the journal; `None` for an entry of a newer build.
    pub fn operation(&self) -> Result<Option<Operation>> {
        let read = self
            .kind
            .map(|kind| Operation::read(kind, self.subject.as_deref(), &self.body));
        read.transpose()
            .map_err(|refusal| StoreError::Record(format!("entry {}: {refusal}", self.seq)))
    }

    /// Like [`Self::operation`], for callers that read on in any case: an unreadable entry is
    /// logged and skipped.
    pub fn readable_operation(&self) -> Option<Operation> {
        self.operation()
            .inspect_err(|error| tracing::warn!(%error, "skipped an entry"))
            .ok()
            .flatten()
    }
}

impl Writer<'_> {
    /// Appends an operation and applies it. Returns its place.
    pub fn record(&self, entry: &NewEntry<'_>) -> Result<u64> {
        let body = entry.operation.body().map_err(StoreError::Unwritable)?;
        self.0
            .prepare_cached(
                "INSERT INTO journal (origin, origin_seq, hlc, schema, project, kind, shareable, recorded_at, agent, by, subject, body, clock)
                 VALUES (?1,
                         (SELECT coalesce(max(origin_seq), 0) + 1 FROM journal WHERE origin = ?1),
                         max(?2, (SELECT coalesce(max(hlc), 0) + 1 FROM journal WHERE seq = (SELECT max(seq) FROM journal))),
                         ?3, ?4, ?5, ?6, ?2, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
                self.origin.to_string(),
                self.now.0.as_microsecond(),
                SCHEMA_VERSION,
                entry.project.to_string(),
                entry.operation.kind().as_str(),
                entry.shareable,
                entry.agent.map(|agent| &agent.0),
                entry.by,
                entry.operation.subject(),
                body,
                (self.clock != self.now.0).then(|| self.clock.as_microsecond()),
            ])?;
        let seq = self.0.last_insert_rowid();
        beside::store_words(self.0, seq, entry)?;
        Applied {
            connection: self.0,
            seq,
            at: self.now,
            clock: self.clock,
            project: entry.project,
            agent: entry.agent,
        }
        .apply(entry.operation)?;
        Ok(seq as u64)
    }
}

impl Reader<'_> {
    /// The newest place in the journal; 0 if the journal is empty.
    pub fn head(&self) -> Result<u64> {
        let head: Option<i64> = self
            .0
            .prepare_cached("SELECT max(seq) FROM journal")?
            .query_row([], |row| row.get(0))?;
        Ok(head.unwrap_or(0) as u64)
    }

    /// The journal time for this clock. If the clock was set back, it is the time of the newest
    /// entry, so that time never goes back. An entry more than a day ahead does not count. What
    /// ends by itself (a ttl, a rate, a turn) is measured by the clock alone.
    pub fn time(&self, clock: Timestamp) -> Result<JournalTime> {
        let last: Option<i64> = self
            .0
            .prepare_cached("SELECT recorded_at FROM journal ORDER BY seq DESC LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        let last = last.map(timestamp).transpose()?;
        let last = last.filter(|last| last.duration_since(clock) <= AHEAD);
        Ok(JournalTime(last.map_or(clock, |last| last.max(clock))))
    }

    /// Entries of every project after `after`, oldest first; this is what a follower reads.
    pub fn journal_after(&self, after: u64, limit: usize) -> Result<Vec<Journalled>> {
        self.0
            .prepare_cached(&format!(
                "SELECT {ENTRY} FROM journal WHERE seq > ?1 ORDER BY seq LIMIT ?2"
            ))?
            .query_map(params![after as i64, limit as i64], |row| {
                Ok(journalled(row))
            })?
            .map(|row| Ok(row?))
            .collect()
    }

    /// How many rated operations ([`OperationKind::is_rated`]) this agent caused after `since` and
    /// up to `now`, by the clock. Its own turns do not count, only those that it began for others.
    /// A claim, its own event, and the conflicts that are found with it or that
    /// end with it count as one operation.
    pub fn count_by_agent(&self, agent: &AgentId, since: Timestamp, now: Timestamp) -> Result<u32> {
        Ok(self.0.prepare_cached(&COUNT_RATED)?.query_row(
            params![
                agent.0,
                since.as_microsecond(),
                now.as_microsecond(),
                OWN_EVENT
            ],
            |row| row.get(0),
        )?)
    }

    /// How many rated operations all agents of a project that nobody opened caused together,
    /// counted in the same way.
    pub fn count_by_strangers(
        &self,
        project: ProjectId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<u32> {
        Ok(self.0.prepare_cached(&COUNT_STRANGERS)?.query_row(
            params![
                project.to_string(),
                since.as_microsecond(),
                now.as_microsecond(),
                OWN_EVENT
            ],
            |row| row.get(0),
        )?)
    }

    /// How many rated operations an agent and all its descendants caused together, counted in the
    /// same way.
    pub fn count_by_tree(
        &self,
        project: ProjectId,
        root: &AgentId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<u32> {
        Ok(self.0.prepare_cached(&COUNT_TREE)?.query_row(
            params![
                project.to_string(),
                since.as_microsecond(),
                now.as_microsecond(),
                OWN_EVENT,
                root.0
            ],
            |row| row.get(0),
        )?)
    }

    /// The faults of the journal: missing places, then unreadable entries; at most `most` in all.
    pub fn journal_faults(&self, most: usize) -> Result<Vec<String>> {
        let (mut faults, mut holes, mut lost) = (Vec::new(), Vec::new(), Vec::new());
        let mut after = 0;
        loop {
            let page = self.journal_after(after, 1_000)?;
            for entry in &page {
                if entry.seq != after + 1 {
                    holes.push((after + 1, entry.seq - 1));
                }
                after = entry.seq;
                match entry.operation() {
                    Ok(Some(Operation::Recovered(recovered))) => lost.extend(recovered.places),
                    Ok(_) => {}
                    Err(error) => faults.push(error.to_string()),
                }
            }
            if page.is_empty() {
                break;
            }
        }
        // Holes that a recovery left are known.
        holes.retain(|hole| !lost.contains(hole));
        let missing = holes.into_iter().map(|(from, to)| {
            if from == to {
                format!("entry {from} is missing")
            } else {
                format!("entries {from} to {to} are missing")
            }
        });
        Ok(missing.chain(faults).take(most).collect())
    }
}

/// Counts the rated operations of agent ?1.
static COUNT_RATED: LazyLock<String> = LazyLock::new(|| count_rated("journal_agent", "agent = ?1"));

/// Counts the rated operations of all agents of project ?1 that nobody opened.
static COUNT_STRANGERS: LazyLock<String> = LazyLock::new(|| {
    let strangers = "project = ?1 AND agent IS NOT NULL AND agent NOT IN (SELECT agent FROM token)";
    count_rated("journal_lately", strangers)
});

/// Counts the rated operations of agent ?5 of project ?1 and of all its descendants.
static COUNT_TREE: LazyLock<String> = LazyLock::new(|| {
    let tree = "project = ?1 AND agent IN (WITH RECURSIVE tree (handle) AS
        (SELECT ?5 UNION SELECT agent.handle FROM tree JOIN agent ON agent.parent = tree.handle)
        SELECT handle FROM tree)";
    count_rated("journal_lately", tree)
});

fn count_rated(index: &str, whose: &str) -> String {
    let rated = OperationKind::ALL.iter().filter(|kind| kind.is_rated());
    let rated: Vec<String> = rated.map(|kind| format!("'{kind}'")).collect();
    format!(
        "SELECT count(*) FROM journal INDEXED BY {index}
         WHERE {whose} AND kind IN ({})
           AND (kind <> 'joined' OR body ->> '$.handle' <> agent)
           AND recorded_at > ?2
           AND coalesce(clock, recorded_at) > ?2 AND coalesce(clock, recorded_at) <= ?3
           AND NOT (kind = 'noted' AND EXISTS
               (SELECT 1 FROM event WHERE event.seq = journal.seq AND event.kind = ?4))
           AND NOT (kind IN ('stored', 'forgotten') AND EXISTS
               (SELECT 1 FROM engram JOIN report ON report.risk = engram.lineage
                WHERE engram.id = journal.subject))",
        rated.join(", ")
    )
}

/// The columns of an entry, for [`journalled`].
pub(crate) const ENTRY: &str = "journal.seq, journal.recorded_at, journal.project, journal.agent,
     journal.by, journal.kind, journal.subject, journal.body, journal.schema, journal.clock";

/// Reads an entry from a row. If a value has the wrong type, the entry counts as unreadable and is
/// skipped, so that the others can be read.
pub(crate) fn journalled(row: &Row<'_>) -> Journalled {
    let text = |at: usize| row.get::<_, String>(at).unwrap_or_default();
    let at: Option<Timestamp> = row.get(1).ok().and_then(|it| timestamp(it).ok());
    let project: Option<ProjectId> = text(2).parse().ok();
    let clock: Option<i64> = row.get(9).ok().flatten();
    let clock = clock.and_then(|it| timestamp(it).ok()).or(at);
    let schema: u32 = row.get(8).unwrap_or(SCHEMA_VERSION);
    let body: rusqlite::Result<String> = row.get(7);
    Journalled {
        seq: row.get::<_, i64>(0).unwrap_or_default() as u64,
        at: at.unwrap_or(Timestamp::UNIX_EPOCH),
        clock: clock.unwrap_or(Timestamp::UNIX_EPOCH),
        project: project.unwrap_or(ProjectId(ulid::Ulid::nil())),
        agent: row.get::<_, Option<String>>(3).ok().flatten().map(AgentId),
        by: text(4),
        kind: text(5).parse().ok().filter(|_| schema <= SCHEMA_VERSION),
        subject: row.get(6).ok().flatten(),
        body: match (at, project, body) {
            (Some(_), Some(_), Ok(body)) => body,
            // Not JSON, so that reading it fails.
            _ => String::new(),
        },
    }
}

/// Reads microseconds from a row.
pub(crate) fn timestamp(micros: i64) -> Result<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|_| StoreError::Record(format!("time {micros}")))
}

/// Reads an id from a row.
pub(crate) fn parse_id<T: std::str::FromStr<Err = Refusal>>(text: &str) -> Result<T> {
    text.parse()
        .map_err(|_| StoreError::Record(format!("id {text:?}")))
}
