//! Table `conflict`: pairs of sides that cannot both hold. A row names the entries that found, settled or
//! allowed the pair; whether a side still holds follows from table `engram`.

use engram_model::{
    AgentId, ConflictId, ConflictStatus, Engram, EngramId, LineageId, Lost, Operation,
    OperationKind, ProjectId, RunId, Scope, Severity,
    operation::{Contradiction, Ruling},
};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use crate::{
    Reader, Result, StoreError,
    engrams::NOT_OVER,
    journal::{ENTRY, Journalled, journalled, parse_id},
};

/// Most voices (engrams) of one side that are read, newest first.
const VOICES: usize = 64;

/// The versions of the engrams of kind risk that tell of conflicts, each with its conflict. They are not
/// counted as claims: nobody said them.
pub(crate) const RISKS: &str = "report JOIN conflict ON conflict.id = report.conflict
     JOIN engram ON engram.seq IN (
     SELECT seq FROM engram WHERE id = report.risk UNION ALL
     SELECT seq FROM engram WHERE lineage = report.risk AND lineage <> id)";

/// The run that a version is for; none where it is for everybody. One that names no run is for the user alone: the
/// run 0.
pub fn audience(engram: &Engram) -> Option<RunId> {
    let run = engram.run.unwrap_or(RunId(ulid::Ulid::nil()));
    (engram.scope == Scope::Run).then_some(run)
}

/// A pair of sides, and the entries about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Its id.
    pub id: ConflictId,
    /// Where it belongs.
    pub project: ProjectId,
    /// The digests of its sides, the lesser first.
    pub sides: [String; 2],
    /// Its status by verdict alone: never [`ConflictStatus::Closed`], which follows from the sides.
    pub status: ConflictStatus,
    /// The entry that found it first.
    pub first: u64,
    /// The entry that found it last.
    pub last: u64,
    /// The last verdict, or what undid it.
    pub verdict: Option<u64>,
    /// The entry that let it pass the gate; none once that was taken back, and while the conflict is more severe
    /// than when it was allowed.
    pub allowed: Option<u64>,
    /// The last verdict, if it was not undone: `status` is open again where the pair was found after it.
    pub ruled: Option<ConflictStatus>,
    /// The run that it is for; none where it is for everybody in the project.
    pub run: Option<RunId>,
    /// How severe it was found last.
    pub severity: Severity,
}

impl Pair {
    /// One of which nothing is recorded yet.
    pub fn new(id: ConflictId, project: ProjectId, run: Option<RunId>, sides: [String; 2]) -> Self {
        Self {
            id,
            project,
            sides,
            status: ConflictStatus::Open,
            first: 0,
            last: 0,
            verdict: None,
            allowed: None,
            ruled: None,
            run,
            severity: Severity::Low,
        }
    }

    /// Whether a version is one of those that the conflict is about: all whom it is for may see it.
    pub fn is_about(&self, engram: &Engram) -> bool {
        let audience = audience(engram);
        audience.is_none() || audience == self.run
    }
}

/// An engram of kind risk that reports a conflict, or did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Which conflict.
    pub conflict: ConflictId,
    /// The lineage of the engram.
    pub risk: LineageId,
    /// The versions by which the conflict was found then.
    pub found: [EngramId; 2],
}

/// What a list of conflicts is sorted and counted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Which conflict.
    pub id: ConflictId,
    /// How severe it is.
    pub severity: Severity,
    /// The entry that found it first.
    pub first: u64,
    /// The topics of its sides, the newer side's first.
    pub topics: [String; 2],
    /// Whether the user let it pass the gate.
    pub is_allowed: bool,
}

/// Who did something, when, and the reason given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// By handle; none for the user.
    pub agent: Option<AgentId>,
    /// By name.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The reason; none if none was given, or once it was erased.
    pub why: Option<String>,
}

const PAIR: &str =
    "conflict.id, conflict.project, conflict.a, conflict.b, conflict.status, conflict.first,
     conflict.last, conflict.verdict, conflict.allowed, conflict.ruled, conflict.run,
     conflict.severity FROM conflict";

fn pair(row: &Row<'_>) -> Result<Pair> {
    let text = |at: usize| row.get::<_, String>(at);
    let place = |at: usize| Ok::<_, StoreError>(row.get::<_, Option<i64>>(at)?.map(|it| it as u64));
    Ok(Pair {
        id: parse_id(&text(0)?)?,
        project: parse_id(&text(1)?)?,
        sides: [text(2)?, text(3)?],
        status: parse_id(&text(4)?)?,
        first: place(5)?.unwrap_or_default(),
        last: place(6)?.unwrap_or_default(),
        verdict: place(7)?,
        allowed: place(8)?,
        ruled: row
            .get::<_, Option<String>>(9)?
            .map(|it| parse_id(&it))
            .transpose()?,
        run: row
            .get::<_, Option<String>>(10)?
            .map(|it| parse_id(&it))
            .transpose()?,
        severity: severity(row.get(11)?),
    })
}

/// A side of the conflict `of` holds, by a version that is `seen`.
fn holds(of: &str, side: &str, seen: &str) -> String {
    format!(
        // From the side: a plan that goes through all that holds takes a second.
        "EXISTS (SELECT 1 FROM content INDEXED BY content_side
           CROSS JOIN engram ON engram.id = content.engram
         WHERE content.side = {of}.{side} AND engram.project = ?1 AND engram.valid_until IS NULL
           AND {NOT_OVER} AND {seen})"
    )
}

/// Both sides of a conflict hold by versions that it is about: one that is for a run by one of that run.
fn both_hold(of: &str) -> String {
    let own = &format!(
        "engram.scope = 'run' AND coalesce(engram.run, '00000000000000000000000000') = {of}.run"
    );
    let seen = &format!("(engram.scope <> 'run' OR {own})");
    let (a, b) = (holds(of, "a", seen), holds(of, "b", seen));
    let (own_a, own_b) = (holds(of, "a", own), holds(of, "b", own));
    format!("{a} AND {b} AND ({of}.run IS NULL OR {own_a} OR {own_b})")
}

/// A person dismissed a conflict.
fn is_final(of: &str) -> String {
    format!(
        "({of}.status = 'dismissed' AND EXISTS
           (SELECT 1 FROM journal WHERE journal.seq = {of}.verdict AND journal.agent IS NULL))"
    )
}

/// A conflict that is settled or closed for everybody stands behind one of the same sides that is open for a run which whoever is
/// of the run `?3` may know of: that one is told instead.
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

/// A conflict of a run is covered while the same sides contradict each other for everybody, as severely at least: what is said of it is
/// said of that one. A person's dismissal covers it too.
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

fn severity(stored: i64) -> Severity {
    let known = Severity::ALL.iter().copied();
    known
        .clone()
        .find(|it| *it as i64 == stored)
        .unwrap_or(Severity::High)
}

impl Reader<'_> {
    fn pairs(&self, tail: &str, values: impl rusqlite::Params) -> Result<Vec<Pair>> {
        let mut found: Vec<Pair> = self
            .0
            .prepare_cached(&format!("SELECT {PAIR} {tail}"))?
            .query_and_then(values, pair)?
            .collect::<Result<_>>()?;
        for pair in &mut found {
            if self.has_outgrown(pair)? {
                pair.allowed = None;
            }
        }
        Ok(found)
    }

    /// Whether a pair was found again since it was allowed, and is now more severe than it was then: whoever let
    /// it pass did not know.
    fn has_outgrown(&self, pair: &Pair) -> Result<bool> {
        let Some(allowed) = pair.allowed.filter(|it| *it < pair.last) else {
            return Ok(false);
        };
        let then: Option<i64> = self
            .0
            .prepare_cached(
                "SELECT max(seq) FROM journal WHERE subject = ?1 AND kind = 'conflict' AND seq < ?2",
            )?
            .query_row(params![pair.id.to_string(), allowed as i64], |row| {
                row.get(0)
            })?;
        let severity =
            |seq: u64| Ok::<_, StoreError>(self.contradiction(seq)?.map(|it| it.severity));
        let then = then.map_or(Ok(None), |it| severity(it as u64))?;
        Ok(severity(pair.last)? > then)
    }

    /// One conflict.
    pub fn conflict(&self, id: ConflictId) -> Result<Option<Pair>> {
        Ok(self.pairs("WHERE id = ?1", [id.to_string()])?.pop())
    }

    /// The conflicts of a project in no order, without composing any, as an agent of this run may see them (without
    /// a run, all), but for those that another of the same sides is told for: those with this status by verdict, or all. `holds` tells whether both sides hold now:
    /// `Some(true)` those alone, `Some(false)` the others.
    pub fn conflicts_listed(
        &self,
        project: ProjectId,
        status: Option<ConflictStatus>,
        holds: Option<bool>,
        run: Option<RunId>,
        now: Timestamp,
    ) -> Result<Vec<Listing>> {
        let holds = match holds {
            None => String::new(),
            Some(true) => format!("AND {}", both_hold("conflict")),
            Some(false) => format!("AND NOT ({})", both_hold("conflict")),
        };
        let (covered, behind) = (is_covered(), stands_behind());
        let found: Vec<(Listing, bool)> = self
            .0
            .prepare_cached(&format!(
                "SELECT conflict.id, conflict.severity, conflict.first, newer.topic, older.topic,
                   conflict.allowed IS NOT NULL, conflict.allowed < conflict.last
                 FROM conflict LEFT JOIN engram AS newer ON newer.id = conflict.newer
                   LEFT JOIN engram AS older ON older.id = conflict.older
                 WHERE conflict.project = ?1 AND (?4 IS NULL OR conflict.status = ?4)
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
                    let listing = Listing {
                        id: parse_id(&row.get::<_, String>(0)?)?,
                        severity: severity(row.get(1)?),
                        first: row.get::<_, i64>(2)? as u64,
                        topics: [topic(3)?.unwrap_or_default(), topic(4)?.unwrap_or_default()],
                        is_allowed: row.get(5)?,
                    };
                    Ok::<_, StoreError>((listing, row.get::<_, Option<bool>>(6)?.unwrap_or(false)))
                },
            )?
            .collect::<Result<_>>()?;
        let mut listed = Vec::with_capacity(found.len());
        for (mut listing, is_found_since) in found {
            if listing.is_allowed && is_found_since {
                let pair = self.conflict(listing.id)?;
                listing.is_allowed = pair.is_some_and(|pair| pair.allowed.is_some());
            }
            listed.push(listing);
        }
        Ok(listed)
    }

    /// Whether anything was ever claimed in a project.
    pub fn has_claims(&self, project: ProjectId) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM engram WHERE project = ?1)")?
            .query_row([project.to_string()], |row| row.get(0))?)
    }

    /// How many conflicts of a project wait for a verdict: those whose sides both hold now.
    pub fn count_conflicts(&self, project: ProjectId, now: Timestamp) -> Result<u64> {
        let count: i64 = self
            .0
            .prepare_cached(&format!(
                "SELECT COUNT(*) FROM conflict
                 WHERE project = ?1 AND status = 'open' AND {} AND NOT {}",
                both_hold("conflict"),
                is_covered()
            ))?
            .query_row(params![project.to_string(), now.as_microsecond()], |row| {
                row.get(0)
            })?;
        Ok(count as u64)
    }

    /// The newest verdicts of a project that stand and by which a side holds, and who gave each: at most
    /// `most`. Those on conflicts of a run are nothing to others.
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

    /// Whether an entry after this one gave or took back a verdict, or erased a claim.
    pub fn settled_after(&self, seq: u64) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM journal WHERE seq > ?1 AND kind IN ('resolved', 'redacted') LIMIT 1",
            )?
            .exists([seq as i64])?)
    }

    /// The conflicts that a side is part of.
    pub fn conflicts_of(&self, project: ProjectId, side: &str) -> Result<Vec<Pair>> {
        self.pairs(
            "WHERE project = ?1 AND ?2 IN (a, b) AND id IN
               (SELECT id FROM conflict WHERE a = ?2 UNION ALL SELECT id FROM conflict WHERE b = ?2)",
            params![project.to_string(), side],
        )
    }

    /// The conflicts of these two sides: for everybody, and for runs.
    pub fn conflicts_between(&self, project: ProjectId, sides: &[String; 2]) -> Result<Vec<Pair>> {
        self.pairs(
            "WHERE a = ?2 AND b = ?3 AND project = ?1",
            params![project.to_string(), sides[0], sides[1]],
        )
    }

    /// Whether both sides of a conflict hold, by versions that it is about.
    pub fn both_hold(&self, pair: &Pair, now: Timestamp) -> Result<bool> {
        let mut has_own = pair.run.is_none();
        for side in &pair.sides {
            let mut holding = self.holding(pair.project, side, now)?;
            holding.retain(|engram| pair.is_about(engram));
            has_own |= holding.iter().any(|engram| engram.scope == Scope::Run);
            if holding.is_empty() {
                return Ok(false);
            }
        }
        Ok(has_own)
    }

    /// The conflict that covers one of a run: the same sides contradict each other for everybody, or a person
    /// dismissed that.
    pub fn covering(&self, pair: &Pair, now: Timestamp) -> Result<Option<Pair>> {
        if pair.run.is_none() {
            return Ok(None);
        }
        let all = self.conflicts_between(pair.project, &pair.sides)?;
        let Some(wide) = all.into_iter().find(|wide| wide.run.is_none()) else {
            return Ok(None);
        };
        let covers = match wide.status {
            ConflictStatus::Open => wide.severity >= pair.severity,
            ConflictStatus::Dismissed => {
                let deed = wide.verdict.map_or(Ok(None), |seq| self.deed(seq))?;
                deed.is_some_and(|deed| deed.agent.is_none())
            }
            _ => false,
        };
        Ok((covers && self.both_hold(&wide, now)?).then_some(wide))
    }

    fn reports_where(&self, tail: &str, value: impl rusqlite::ToSql) -> Result<Vec<Report>> {
        let sql = format!("SELECT risk, conflict, one, other FROM report WHERE {tail}");
        self.0
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

    /// What reports a conflict, or did; the newest last.
    pub fn reports(&self, conflict: ConflictId) -> Result<Vec<Report>> {
        let tail =
            "conflict = ?1 ORDER BY (SELECT min(seq) FROM engram WHERE lineage = report.risk)";
        self.reports_where(tail, conflict.to_string())
    }

    /// What an engram of kind risk reports. Decided by its lineage.
    pub fn reported_by(&self, risk: LineageId) -> Result<Option<Report>> {
        Ok(self.reports_where("risk = ?1", risk.to_string())?.pop())
    }

    /// What the version stored by this entry reports.
    pub fn reported_at(&self, seq: u64) -> Result<Option<Report>> {
        let risk = "risk = (SELECT lineage FROM engram WHERE seq = ?1)";
        Ok(self.reports_where(risk, seq as i64)?.pop())
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

    /// The side of a version; none once its words were erased.
    pub fn side_of(&self, id: EngramId) -> Result<Option<String>> {
        let side: Option<Option<String>> = self
            .0
            .prepare_cached("SELECT side FROM content WHERE engram = ?1")?
            .query_row([id.to_string()], |row| row.get(0))
            .optional()?;
        Ok(side.flatten())
    }

    /// The versions on a side that everybody may see, and those of a run, newest first, including those that no
    /// longer hold.
    pub fn voices(
        &self,
        project: ProjectId,
        side: &str,
        run: Option<RunId>,
    ) -> Result<Vec<Engram>> {
        let voices = self.engrams_where(
            "WHERE engram.id IN (SELECT engram FROM content WHERE side = ?2) AND +engram.project = ?1
               AND (engram.scope <> 'run' OR coalesce(engram.run, '00000000000000000000000000') = ?4)
             ORDER BY engram.valid_until IS NOT NULL, engram.place DESC, engram.seq DESC LIMIT ?3",
            params![
                project.to_string(),
                side,
                VOICES as i64,
                run.map(|run| run.to_string())
            ],
        )?;
        voices.into_iter().map(|it| self.placed(it)).collect()
    }

    /// All versions on a side that hold now.
    pub fn holding(&self, project: ProjectId, side: &str, now: Timestamp) -> Result<Vec<Engram>> {
        self.engrams_where(
            &format!(
                "WHERE engram.id IN (SELECT engram FROM content WHERE side = ?3)
                   AND +engram.project = ?1 AND engram.valid_until IS NULL AND {NOT_OVER}
                 ORDER BY engram.place DESC, engram.seq DESC"
            ),
            params![project.to_string(), now.as_microsecond(), side],
        )
    }

    /// What an entry says about a conflict, with its text.
    fn told(&self, seq: u64) -> Result<Option<(Journalled, Option<String>)>> {
        let entry = self
            .0
            .prepare_cached(&format!(
                "SELECT {ENTRY}, said.text FROM journal LEFT JOIN said ON said.seq = journal.seq
                 WHERE journal.seq = ?1"
            ))?
            .query_row([seq as i64], |row| Ok((journalled(row), row.get(10)?)))
            .optional()?;
        Ok(entry)
    }

    /// Who made an entry, when, and why.
    pub fn deed(&self, seq: u64) -> Result<Option<Deed>> {
        Ok(self.told(seq)?.map(|(entry, why)| Deed {
            agent: entry.agent,
            by: entry.by,
            at: entry.at,
            why,
        }))
    }

    /// What was found of a conflict at this place.
    pub fn contradiction(&self, seq: u64) -> Result<Option<Contradiction>> {
        let Some((entry, why)) = self.told(seq)? else {
            return Ok(None);
        };
        Ok(match entry.operation()? {
            Some(Operation::Conflicted(contradiction)) => Some(Contradiction {
                why: why.unwrap_or_default(),
                ..*contradiction
            }),
            _ => None,
        })
    }

    /// The verdict at this place.
    pub fn ruling(&self, seq: u64) -> Result<Option<Ruling>> {
        let Some((entry, why)) = self.told(seq)? else {
            return Ok(None);
        };
        Ok(match entry.operation()? {
            Some(Operation::Resolved(ruling)) => Some(Ruling { why, ..*ruling }),
            _ => None,
        })
    }

    /// The newest entry of this kind about an engram or a conflict.
    pub fn last_about(&self, subject: &str, kind: OperationKind) -> Result<Option<Deed>> {
        let seq: Option<i64> = self
            .0
            .prepare_cached("SELECT max(seq) FROM journal WHERE subject = ?1 AND kind = ?2")?
            .query_row([subject, kind.as_str()], |row| row.get(0))?;
        seq.map_or(Ok(None), |seq| self.deed(seq as u64))
    }

    /// The places of all entries about a conflict.
    pub fn entries_about(&self, id: ConflictId) -> Result<Vec<u64>> {
        self.0
            .prepare_cached(
                "SELECT seq FROM journal WHERE subject = ?1
                   AND kind IN ('conflict', 'resolved', 'allowed') ORDER BY seq",
            )?
            .query_and_then([id.to_string()], |row| Ok(row.get::<_, i64>(0)? as u64))?
            .collect()
    }
}
