//! What each operation does to the tables. Only this code writes them: it applies an operation when
//! it is recorded, and again, in the same way, when the journal is replayed.
//!
//! Exceptions: the tables beside the journal (`beside.rs`); those of followers
//! (`tables/followers.rs`), of due comparisons (`tables/due.rs`) and of sides
//! (`conflicts/sides.rs`), which can be rebuilt; what a migration carries over (`carry.rs`); and
//! `held` and `tally`, which triggers maintain when a row of `engram` changes (`schema/014.sql`). A
//! change that the triggers do not see updates them here.

use engram_model::{
    AgentId, EngramId, GrantKind, JournalTime, LineageId, Operation, Pointer, ProjectId, Record,
    RequestState, Spend, Target,
    operation::{
        Carried, ERASED, Event, Located, NewGrant, Promotion, Read, Redaction, Refused, Requested,
        Sent, Served, Snapshot,
    },
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::beside;
use crate::{Result, StoreError};

/// Where and when an operation happened, both for the first time and in a replay.
pub(crate) struct Applied<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) seq: i64,
    pub(crate) at: JournalTime,
    /// What the clock showed then. Unlike this, `at` is never before earlier entries.
    pub(crate) clock: Timestamp,
    pub(crate) project: ProjectId,
    pub(crate) agent: Option<&'a AgentId>,
}

/// SQL: takes the versions of a lineage off the list. The `+` signs keep SQLite from using the
/// project's index, by which it would read everything that stands there.
const UNLIST: &str = "UPDATE engram SET stands = 0 WHERE +stands = 1 AND +project = ?2 AND seq IN
       (SELECT seq FROM engram WHERE id = ?1 UNION ALL
        SELECT seq FROM engram WHERE lineage = ?1 AND lineage <> id)";

impl Applied<'_> {
    pub(crate) fn apply(&self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Stored(record) => self.store(record)?,
            Operation::Corroborated(id) => self.add_figure("corroborations", *id, 1)?,
            Operation::Forgotten(id) => self.close(*id)?,
            Operation::Unlisted(all) => self.unlist(all)?,
            Operation::Redacted(redaction) => self.redact(redaction)?,
            Operation::Promoted(promotion) => self.promote(promotion)?,
            Operation::Dereferenced(read) => self.charge(read)?,
            Operation::Noted(event) => self.note(event)?,
            Operation::Located(located) => self.locate(self.project, located)?,
            Operation::Admitted(admitted) => self.run(
                "INSERT OR REPLACE INTO admitted (place, project) VALUES (?1, ?2)",
                params![admitted.place, self.project.to_string()],
            )?,
            Operation::Joined(agent) => self.join(agent)?,
            Operation::Opened(opened) => self.open(opened)?,
            Operation::AgentChanged(change) => self.change_agent(change)?,
            Operation::Requested(requested) => self.request(requested)?,
            Operation::Denied(denied) => self.answer(&denied.id, RequestState::Denied)?,
            Operation::Granted(new_grant) => self.grant(new_grant)?,
            Operation::Revoked(id) => self.run(
                "UPDATE grant SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL",
                params![id, self.seq],
            )?,
            Operation::Refused(refused) => self.refuse(refused)?,
            Operation::Kept(snapshot) => self.keep_snapshot(&self.project.to_string(), snapshot)?,
            Operation::Counted(hits) => self.count(hits)?,
            Operation::Served(served) => self.serve(served)?,
            Operation::Pinned(pin) => self.run(
                "INSERT INTO pin (seq, project, agent, lineage) VALUES (?1, ?2, ?3, ?4)",
                params![
                    self.seq,
                    self.project.to_string(),
                    self.agent.map(|it| &it.0),
                    pin.lineage.map(|it| it.to_string()),
                ],
            )?,
            Operation::Sent(sent) => self.send(sent)?,
            Operation::Unsent(unsent) => self.run(
                "INSERT OR REPLACE INTO unsent (project, agent, id) VALUES (?1, ?2, ?3)",
                params![self.project.to_string(), self.sender(), unsent.id],
            )?,
            Operation::Unpinned(seq) => {
                self.run("DELETE FROM pin WHERE seq = ?1", [*seq as i64])?
            }
            Operation::Carried(carried) => self.carry(carried)?,
            Operation::Conflicted(contradiction) => self.raise(contradiction)?,
            Operation::Proposed(pair) => self.propose(pair)?,
            Operation::Resolved(ruling) => self.settle(ruling)?,
            Operation::Allowed(permit) => self.run(
                "UPDATE conflict SET allowed = ?2 WHERE id = ?1",
                params![permit.id.to_string(), (!permit.undone).then_some(self.seq)],
            )?,
            Operation::Reached(lines) => self.reach(lines)?,
            Operation::Anchored(_) | Operation::Judged(_) | Operation::Recovered(_) => {}
        }
        match self.agent {
            // By the clock, as for turns. With journal time, an agent whose clock was set back
            // would seem to have called in the future.
            Some(agent) => self.run(
                "UPDATE agent SET last_call = ?2 WHERE handle = ?1",
                params![agent.0, self.clock.as_microsecond()],
            ),
            None => Ok(()),
        }
    }

    pub(super) fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<()> {
        self.connection.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    fn store(&self, record: &Record) -> Result<()> {
        let (place, placed_at) = self.place_of(record)?;
        self.run(
            "INSERT INTO engram (seq, id, lineage, project, run, scope, kind, fact_type, topic,
               durability, content_hash, valid_from, valid_until, expires_at, recorded_at, by, verified,
               asks, place, placed_at, role)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, NULL, ?13, ?14, ?15, ?16, ?17,
               ?18, ?19, coalesce((SELECT role FROM agent WHERE handle = ?20), ''))",
            params![
                self.seq,
                record.id.to_string(),
                record.lineage_id.to_string(),
                record.project.to_string(),
                record.run.map(|run| run.to_string()),
                record.scope.as_str(),
                record.kind.as_str(),
                record.fact_type.as_str(),
                record.topic,
                record.durability.as_str(),
                record.content_hash,
                record.valid_from.as_microsecond(),
                record.expires_at.map(|at| at.as_microsecond()),
                record.recorded_at.as_microsecond(),
                record.provenance.created_by,
                record.verified,
                record.asks.map(|it| it.to_string()),
                place,
                placed_at,
                record.agent.as_ref().map(|it| &it.0),
            ],
        )?;
        // The list has the conflict, not the engram that reports it.
        self.run(
            "UPDATE engram SET stands = 0 WHERE seq = ?1 AND lineage IN (SELECT risk FROM report)",
            [self.seq],
        )?;
        for digest in record.pointers.iter().filter_map(Pointer::snapshot_digest) {
            self.run(
                "INSERT OR IGNORE INTO pinned (digest, engram) VALUES (?1, ?2)",
                params![digest, record.id.to_string()],
            )?;
        }
        match record.supersedes {
            Some(old) => self.close(old),
            None => Ok(()),
        }
    }

    /// A version's place in lists, and the time of that place. A version that repeats the words of
    /// the version that it confirms or restores takes over that place; any other has its own.
    fn place_of(&self, record: &Record) -> Result<(i64, i64)> {
        let own = (self.seq, record.valid_from.as_microsecond());
        let Some(before) = record.restores.or(record.supersedes) else {
            return Ok(own);
        };
        let project = record.project.to_string();
        let taken: Option<(i64, i64)> = self
            .connection
            .prepare_cached(
                "SELECT place, placed_at FROM engram
                 WHERE id = ?1 AND content_hash = ?2 AND project = ?3",
            )?
            .query_row(
                params![before.to_string(), record.content_hash, project],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        if let Some((place, _)) = taken {
            self.run(
                "UPDATE engram SET stands = 0 WHERE project = ?1 AND place = ?2 AND stands = 1",
                params![project, place],
            )?;
        }
        Ok(taken.unwrap_or(own))
    }

    /// A window that is already closed stays as it is. No window ends before it began.
    fn close(&self, id: EngramId) -> Result<()> {
        self.run(
            "UPDATE engram SET valid_until = max(?2, valid_from) WHERE id = ?1 AND valid_until IS NULL",
            params![id.to_string(), self.at.0.as_microsecond()],
        )
    }

    /// Takes all versions of these lineages off the list and out of its counts.
    pub(super) fn unlist(&self, all: &[LineageId]) -> Result<()> {
        for lineage in all {
            self.run(
                UNLIST,
                params![lineage.to_string(), self.project.to_string()],
            )?;
        }
        Ok(())
    }

    /// A version that was closed meanwhile stays as it is. A version that no longer expires moves
    /// to the counts of those without an end, as the triggers do when a version is stored.
    fn promote(&self, promotion: &Promotion) -> Result<()> {
        const TERM: &str =
            "FROM engram WHERE id = ?1 AND valid_until IS NULL AND expires_at IS NOT NULL";
        let id = promotion.id.to_string();
        if promotion.ends_term {
            self.run(
                &format!(
                    "UPDATE held SET ever = ever - 1, open = open - 1
                     WHERE (project, hour) = (SELECT project, expires_at / 3600000000 {TERM})"
                ),
                [&id],
            )?;
            self.run(
                &format!(
                    "INSERT INTO held SELECT project, 9223372036854775807, 1, 1 {TERM}
                     ON CONFLICT DO UPDATE SET ever = ever + 1, open = open + 1"
                ),
                [&id],
            )?;
            self.run(
                "UPDATE engram SET expires_at = NULL WHERE id = ?1 AND valid_until IS NULL",
                [&id],
            )?;
        }
        self.run(
            "UPDATE engram SET durability = 'durable' WHERE id = ?1 AND valid_until IS NULL",
            [&id],
        )
    }

    fn redact(&self, redaction: &Redaction) -> Result<()> {
        for id in &redaction.ids {
            self.close(*id)?;
            let id = id.to_string();
            self.run(
                "UPDATE engram SET topic = '', by = '', role = '' WHERE id = ?1",
                [&id],
            )?;
            self.run("DELETE FROM pinned WHERE engram = ?1", [&id])?;
            self.run("DELETE FROM health WHERE engram = ?1", [&id])?;
            self.run(
                "DELETE FROM reading WHERE project = ?1 AND engram = ?2",
                params![self.project.to_string(), id],
            )?;
        }
        for seq in &redaction.events {
            self.run(
                "UPDATE event SET kind = ?2, slug = lower(id) WHERE seq = ?1",
                params![*seq as i64, ERASED],
            )?;
        }
        for seq in &redaction.entries {
            let seq = *seq as i64;
            self.run("UPDATE request SET pointer = '' WHERE seq = ?1", [seq])?;
            self.run(
                "UPDATE grant SET pointer = '' WHERE seq = ?1 AND pointer IS NOT NULL",
                [seq],
            )?;
        }
        for digest in &redaction.digests {
            self.run("DELETE FROM snapshot WHERE digest = ?1", [digest])?;
        }
        beside::erase(self.connection, redaction)
    }

    fn request(&self, requested: &Requested) -> Result<()> {
        self.run(
            "INSERT INTO request (seq, id, project, agent, pointer, tokens, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                self.seq,
                requested.id,
                self.project.to_string(),
                self.agent.map_or("", |it| &it.0),
                requested.pointer,
                requested.tokens,
                RequestState::Waiting.as_str()
            ],
        )
    }

    fn answer(&self, id: &str, state: RequestState) -> Result<()> {
        self.run(
            "UPDATE request SET state = ?2 WHERE id = ?1",
            params![id, state.as_str()],
        )
    }

    fn grant(&self, new_grant: &NewGrant) -> Result<()> {
        let grant = &new_grant.grant;
        let (pointer, most) = match &grant.what {
            GrantKind::Read {
                pointer,
                cap_tokens,
            } => (Some(pointer), cap_tokens),
            GrantKind::Code { chars } => (None, chars),
        };
        self.run(
            "INSERT INTO grant (seq, id, project, digest, agent, by, pointer, most, issued_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                self.seq,
                grant.id,
                self.project.to_string(),
                new_grant.token,
                grant.to.0,
                grant.by.as_ref().map(|it| &it.0),
                pointer,
                most,
                grant.issued_at.as_microsecond(),
                grant.expires_at.as_microsecond(),
            ],
        )?;
        if let Some(replaced) = &new_grant.replaces {
            self.run(
                "UPDATE grant SET revoked = ?2, replaced_by = ?3 WHERE id = ?1 AND revoked IS NULL",
                params![replaced, self.seq, grant.id],
            )?;
        }
        match &new_grant.request {
            Some(id) => self.answer(id, RequestState::Granted),
            None => Ok(()),
        }
    }

    fn refuse(&self, refused: &Refused) -> Result<()> {
        self.run(
            "INSERT INTO refused (agent, turn, times) VALUES (?1, ?2, 1)
             ON CONFLICT (agent, turn) DO UPDATE SET times = times + 1",
            params![self.agent.map_or("", |it| &it.0), refused.turn],
        )
    }

    fn charge(&self, read: &Read) -> Result<()> {
        if let Some(grant) = &read.grant {
            self.run(
                "UPDATE grant SET spent = ?2 WHERE id = ?1 AND spent IS NULL",
                params![grant, self.seq],
            )?;
        }
        for below in &read.above {
            self.spend("spend_below", &below.agent, &below.turn, &below.spent)?;
        }
        match (self.agent, &read.turn, &read.spent) {
            (Some(agent), Some(turn), Some(spent)) => self.spend("spend", agent, turn, spent),
            _ => Ok(()),
        }
    }

    fn spend(&self, table: &str, agent: &AgentId, turn: &str, spent: &Spend) -> Result<()> {
        self.run(
            // Updates in place: replacing the row would write to the table and to its index.
            &format!(
                "INSERT INTO {table} (agent, turn, repo_spans, artifact_sections, sam_items, tokens)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (agent, turn) DO UPDATE SET repo_spans = ?3, artifact_sections = ?4,
                   sam_items = ?5, tokens = ?6"
            ),
            params![
                agent.0,
                turn,
                spent.repo_spans,
                spent.artifact_sections,
                spent.sam_items,
                spent.tokens
            ],
        )
    }

    fn note(&self, event: &Event) -> Result<()> {
        let pointer = event.pointer.parse::<Pointer>();
        let Ok(Target::Sam { kind, slug, date }) = pointer.map(|it| it.target) else {
            return Err(StoreError::Record(format!(
                "entry {}: {:?} addresses no event",
                self.seq, event.pointer
            )));
        };
        self.run(
            "INSERT INTO event (seq, id, project, kind, slug, day, digest, recorded_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                self.seq,
                event.id.to_string(),
                self.project.to_string(),
                kind,
                slug,
                date.to_string(),
                event.digest,
                self.at.0.as_microsecond(),
            ],
        )
    }

    fn locate(&self, project: ProjectId, located: &Located) -> Result<()> {
        self.run(
            "INSERT INTO project (id, common_dir, name) VALUES (?1, ?2, ?3)
             ON CONFLICT (id) DO UPDATE SET common_dir = ?2, name = ?3",
            params![project.to_string(), located.common_dir, located.name],
        )
    }

    /// A snapshot without a path was erased.
    fn keep_snapshot(&self, project: &str, snapshot: &Snapshot) -> Result<()> {
        if snapshot.path.is_empty() {
            return Ok(());
        }
        self.run(
            "INSERT OR IGNORE INTO snapshot (project, digest, path, base, blob, seq)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                project,
                snapshot.digest_hex,
                snapshot.path,
                snapshot.base,
                snapshot.blob,
                self.seq
            ],
        )
    }

    fn count(&self, hits: &[(EngramId, u64)]) -> Result<()> {
        hits.iter()
            .try_for_each(|(id, count)| self.add_figure("query_hits", *id, *count))
    }

    fn serve(&self, served: &Served) -> Result<()> {
        let (project, run) = (self.project.to_string(), served.run.to_string());
        for (id, count) in &served.engrams {
            self.run(
                "INSERT INTO reading (project, engram, reads, run, own) VALUES (?1, ?2, ?3, ?4, ?3)
                 ON CONFLICT (project, engram) DO UPDATE SET reads = reads + ?3, run = ?4,
                   own = ?3 + CASE run WHEN ?4 THEN own ELSE 0 END",
                params![project, id.to_string(), *count as i64, run],
            )?;
        }
        self.count(&served.engrams)
    }

    /// The sender, as the tables of messages name it.
    fn sender(&self) -> &str {
        self.agent.map_or("", |it| &it.0)
    }

    fn send(&self, sent: &Sent) -> Result<()> {
        let project = self.project.to_string();
        self.run(
            "INSERT INTO message (seq, id, project, agent, tokens, resend_of)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                self.seq,
                sent.id,
                project,
                self.agent.map(|it| &it.0),
                sent.tokens as i64,
                sent.resend_of,
            ],
        )?;
        self.run(
            "DELETE FROM unsent WHERE project = ?1 AND agent = ?2",
            [&project, self.sender()],
        )?;
        if let Some(grant) = &sent.grant {
            self.run(
                "UPDATE grant SET spent = ?2 WHERE id = ?1 AND spent IS NULL",
                params![grant, self.seq],
            )?;
        }
        if let (Some(agent), Some(turn)) = (self.agent, &sent.turn) {
            self.run(
                "INSERT INTO inline (agent, turn, tokens) VALUES (?1, ?2, ?3)
                 ON CONFLICT (agent, turn) DO UPDATE SET tokens = tokens + ?3",
                params![agent.0, turn, sent.tokens as i64],
            )?;
        }
        let to: Vec<&str> = if sent.to.is_empty() {
            vec![""]
        } else {
            sent.to.iter().map(|it| it.0.as_str()).collect()
        };
        for recipient in &to {
            if !sent.budgets.is_empty() {
                self.run(
                    "INSERT INTO narrowed (agent, budgets) VALUES (?1, ?2)
                     ON CONFLICT (agent) DO UPDATE SET budgets = json_patch(budgets, ?2)",
                    params![recipient, serde_json::json!(sent.budgets).to_string()],
                )?;
            }
        }
        let tokens = sent.tokens.saturating_mul(to.len() as u64);
        self.run(
            "INSERT INTO delivered (project, messages, resends, tokens) VALUES (?1, 1, ?2, ?3)
             ON CONFLICT (project) DO UPDATE SET messages = messages + 1, resends = resends + ?2,
               tokens = tokens + ?3",
            params![project, sent.resend_of.is_some(), tokens as i64],
        )
    }

    fn add_figure(&self, column: &str, id: EngramId, count: u64) -> Result<()> {
        self.run(
            &format!(
                "INSERT INTO figure (engram, {column}) VALUES (?1, ?2)
                 ON CONFLICT (engram) DO UPDATE SET {column} = {column} + ?2"
            ),
            params![id.to_string(), count as i64],
        )
    }

    fn carry(&self, carried: &Carried) -> Result<()> {
        for (project, place) in &carried.projects {
            self.locate(*project, place)?;
        }
        for agent in &carried.agents {
            self.join(agent)?;
        }
        for (agent, turn, spent) in &carried.spent {
            self.spend("spend", agent, turn, spent)?;
        }
        for snapshot in &carried.snapshots {
            // An earlier schema did not record the project.
            self.keep_snapshot("", snapshot)?;
        }
        self.count(&carried.hits)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Store, home::DATABASE};

    /// Each conflict takes its report off the list.
    #[test]
    fn a_lineage_is_unlisted_without_reading_the_project() {
        let home = tempfile::tempdir().unwrap();
        let _store = Store::open(home.path(), ulid::Ulid(1)).unwrap();
        let connection = Connection::open(home.path().join(DATABASE)).unwrap();
        let mut plan = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {UNLIST}"))
            .unwrap();
        let how: String = plan.query_row(["a", "b"], |row| row.get("detail")).unwrap();
        assert_eq!(how, "SEARCH engram USING INTEGER PRIMARY KEY (rowid=?)");
    }
}
