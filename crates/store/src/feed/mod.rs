//! The feed: journal entries as a reader sees them, in their order or in that of the list. Only
//! this module turns an entry into a change.

mod facets;
mod filter;
mod search;

use engram_model::{
    Change, Engram, Entry, Feed, GrantKind, How, LineageId, Operation, OperationKind, Place,
    ProjectId,
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use filter::{Reach, Where, find_reach};

use crate::{
    Reader, Result,
    conflicts::REPORTED,
    journal::{ENTRY, Journalled, journalled, timestamp},
};

/// The default number of entries of a page, and the maximum.
const PAGE: usize = 100;
const MAX_PAGE: usize = 1_000;
/// The most entries of a merge after the version that it stored.
const PLANNED: u64 = 100;

impl Reader<'_> {
    /// Returns one page, newest first, or oldest first with `after`; and the place at which the
    /// next page continues, `None` at the end.
    ///
    /// A filtered page examines a limited number of versions. It may be short or empty although
    /// more matches follow.
    pub fn feed(
        &self,
        project: ProjectId,
        worktree: &str,
        feed: &Feed,
        now: Timestamp,
    ) -> Result<(Vec<Entry>, Option<u64>)> {
        let limit = feed.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
        let is_list = feed.listed || !feed.filter.is_empty();
        let is_past = feed.filter.held_at.is_some();
        let (rows, edge) = if is_list {
            list_page(self, project, worktree, feed, limit, now)?
        } else {
            (unfiltered_page(self.0, project, feed, limit)?, None)
        };
        let next = match rows.last().filter(|_| rows.len() == limit) {
            Some(last) if is_list && !is_past => place_of(self.0, last.seq)?.map(|it| it.seq),
            Some(last) => Some(last.seq),
            None => edge,
        };
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let mut entry = entry(self, row)?;
            let stored = entry.as_mut().and_then(|it| it.change.stored_mut());
            if let Some(engram) = stored.filter(|_| is_past) {
                engram.place = None;
            }
            entries.extend(entry);
        }
        Ok((entries, next))
    }

    /// What was done to the versions of a claim and to the to-dos that ask about it, newest first.
    pub fn log(&self, lineage: LineageId) -> Result<Vec<Entry>> {
        let rows: Vec<Journalled> = self
            .0
            .prepare_cached(&format!(
                "SELECT {ENTRY} FROM journal WHERE kind IN ({}) AND subject IN
                   (SELECT id FROM engram WHERE id = ?1 OR lineage = ?1 OR asks = ?1)
                 ORDER BY seq DESC LIMIT 1000",
                kinds_sql(false)
            ))?
            .query_map([lineage.to_string()], |row| Ok(journalled(row)))?
            .collect::<rusqlite::Result<_>>()?;
        let rows = rows.into_iter();
        let mut entries: Vec<Entry> = rows
            .filter_map(|row| entry(self, row).transpose())
            .collect::<Result<_>>()?;
        // The merge that stored a claim came right after its first version.
        let first = entries.iter().rposition(|it| it.change.stored().is_some());
        if let Some(at) = first
            && let Some(merge) = merge_after(self, &entries[at])?
        {
            entries.insert(at, merge);
        }
        Ok(entries)
    }
}

/// The verdict that stored the version of this entry: a merge, whose entry closes its plan.
fn merge_after(reader: &Reader<'_>, stored: &Entry) -> Result<Option<Entry>> {
    let Some(engram) = stored.change.stored() else {
        return Ok(None);
    };
    let row = reader
        .0
        .prepare_cached(&format!(
            "SELECT {ENTRY} FROM journal WHERE project = ?1 AND seq BETWEEN ?2 AND ?3
               AND kind = 'resolved' ORDER BY seq LIMIT 1"
        ))?
        .query_row(
            params![
                engram.project.to_string(),
                stored.seq as i64,
                (stored.seq + PLANNED) as i64
            ],
            |row| Ok(journalled(row)),
        )
        .optional()?;
    let found = row.map_or(Ok(None), |row| entry(reader, row))?;
    Ok(found.filter(|it| match &it.change {
        Change::Resolved { how, stored, .. } => {
            *how == Some(How::Merge) && stored.contains(&engram.id)
        }
        _ => false,
    }))
}

fn unfiltered_page(
    connection: &Connection,
    project: ProjectId,
    feed: &Feed,
    limit: usize,
) -> Result<Vec<Journalled>> {
    let kinds = kinds_sql(feed.all);
    let (bound, order, place) = direction(feed);
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {ENTRY} FROM journal
             WHERE project = ?1 AND seq {bound} ?2 AND kind IN ({kinds}) AND NOT ({REPORTED})
             ORDER BY seq {order} LIMIT ?3"
        ))?
        .query_map(params![project.to_string(), place, limit as i64], |row| {
            Ok(journalled(row))
        })?
        .collect::<rusqlite::Result<_>>()?)
}

/// A filtered page of the list, and where the search stopped; `None` if it reached the end.
fn list_page(
    reader: &Reader<'_>,
    project: ProjectId,
    worktree: &str,
    feed: &Feed,
    limit: usize,
    now: Timestamp,
) -> Result<(Vec<Journalled>, Option<u64>)> {
    let (bound, order, place) = direction(feed);
    let mut wanted = Where::rows(project, worktree, &feed.filter, now);
    // Without a filter, every examined row is listed.
    let reach = if wanted.is_listed || feed.filter.is_empty() {
        Reach {
            place,
            last: None,
            next: None,
        }
    } else {
        find_reach(reader, project, &feed.filter, place, feed.after.is_some())?
    };
    let (place, column) = (wanted.value(reach.place), wanted.order);
    wanted.and(&format!("{column} {bound} {place}"));
    if let Some(last) = reach.last {
        let last = wanted.value(last);
        let within = if bound == "<" { ">=" } else { "<=" };
        wanted.and(&format!("{column} {within} {last}"));
    }
    let limit = wanted.value(limit as i64);
    let sql = format!(
        "SELECT {ENTRY} FROM {} WHERE {} ORDER BY {column} {order} LIMIT {limit}",
        wanted.tables, wanted.sql
    );
    let rows = reader
        .0
        .prepare_cached(&sql)?
        .query_map(params_from_iter(wanted.values), |row| Ok(journalled(row)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok((rows, reach.next))
}

/// The place of the version that this entry stored, and the time of that place.
fn place_of(connection: &Connection, seq: u64) -> Result<Option<Place>> {
    let found: Option<(i64, i64)> = connection
        .prepare_cached("SELECT place, placed_at FROM engram WHERE seq = ?1")?
        .query_row([seq as i64], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let place = |(place, at)| {
        Ok(Place {
            seq: place as u64,
            at: timestamp(at)?,
        })
    };
    found.map(place).transpose()
}

/// Adds to a version its place in the list, if that is not its own `seq`.
pub(crate) fn with_place(connection: &Connection, mut engram: Engram) -> Result<Engram> {
    let place = place_of(connection, engram.seq)?;
    engram.place = place.filter(|it| it.seq != engram.seq);
    Ok(engram)
}

/// An entry as a reader sees it; `None` if readers do not see it, or this build does not know it or
/// cannot read it.
fn entry(reader: &Reader<'_>, row: Journalled) -> Result<Option<Entry>> {
    let change = match row.kind() {
        Some(OperationKind::Stored) => match reader.engram_at(row.seq) {
            Ok(Some(engram)) => {
                let lost = reader.lost(&engram)?;
                let engram = with_place(reader.0, engram)?;
                Some(Change::Stored(Box::new(Engram { lost, ..engram })))
            }
            Ok(None) => None,
            Err(error) if error.is_of_one_record() => {
                tracing::warn!(%error, seq = row.seq, "skipped a version");
                None
            }
            Err(error) => return Err(error),
        },
        _ => row.readable_operation().and_then(change_of),
    };
    Ok(change.map(|change| Entry {
        seq: row.seq,
        at: row.at,
        agent: row.agent,
        by: row.by,
        change,
    }))
}

/// What a reader sees of an operation, except for the version that it stored.
fn change_of(operation: Operation) -> Option<Change> {
    Some(match operation {
        Operation::Corroborated(id) => Change::Corroborated(id),
        Operation::Forgotten(id) => Change::Forgotten(id),
        Operation::Unlisted(all) => Change::Unlisted(all),
        Operation::Redacted(redaction) => Change::Redacted(redaction.id),
        Operation::Promoted(promotion) => Change::Promoted {
            id: promotion.id,
            ends_term: promotion.ends_term,
        },
        Operation::Dereferenced(read) => Change::Dereferenced {
            pointer: read.pointer,
            digest: read.digest,
            tokens: read.tokens,
        },
        Operation::Noted(event) => Change::Noted {
            id: event.id,
            pointer: event.pointer,
        },
        Operation::Anchored(anchored) => Change::Anchored {
            worktree: anchored.worktree,
            head: anchored.head,
            engrams: anchored.engrams,
        },
        Operation::Conflicted(contradiction) => Change::Conflict {
            id: contradiction.id,
            engrams: contradiction.engrams,
            tier: contradiction.tier,
            severity: contradiction.severity,
            risk: contradiction.risk,
        },
        Operation::Resolved(ruling) => Change::Resolved {
            id: ruling.id,
            status: ruling.status,
            how: ruling.how,
            closed: ruling.closed,
            stored: ruling.stored,
        },
        Operation::Allowed(permit) => {
            if permit.undone {
                Change::Disallowed(permit.id)
            } else {
                Change::Allowed(permit.id)
            }
        }
        between if between.kind().is_between() => Change::Between {
            what: between.kind(),
            about: subjects_of(between),
        },
        _ => return None,
    })
}

/// The other party and the subject of something between agents. Erased values are empty.
fn subjects_of(operation: Operation) -> Vec<String> {
    let mut about: Vec<String> = match operation {
        Operation::Opened(opened) => vec![opened.agent.handle.0],
        Operation::AgentChanged(change) => {
            vec![change.agent.0, change.what.state().to_owned()]
        }
        Operation::Requested(requested) => vec![requested.pointer],
        Operation::Granted(new_grant) => match new_grant.grant.what {
            GrantKind::Read { pointer, .. } => vec![new_grant.grant.to.0, pointer],
            GrantKind::Code { .. } => vec![new_grant.grant.to.0],
        },
        Operation::Denied(denied) => vec![denied.id],
        Operation::Revoked(id) => vec![id],
        Operation::Refused(refused) => [refused.code.as_str().to_owned()]
            .into_iter()
            .chain(refused.figures.into_keys())
            .collect(),
        Operation::Sent(sent) => sent.to.into_iter().map(|it| it.0).collect(),
        _ => Vec::new(),
    };
    about.retain(|it| !it.is_empty());
    about
}

/// The kinds of entries that a page shows, as SQL. The words are our own, never a caller's.
fn kinds_sql(all: bool) -> String {
    let kinds = OperationKind::ALL.iter();
    let shown = kinds.filter(|it| if all { it.is_told() } else { it.is_news() });
    let words: Vec<String> = shown.map(|it| format!("'{it}'")).collect();
    words.join(", ")
}

/// How a page is read: the comparison, the order, and the starting place.
fn direction(feed: &Feed) -> (&'static str, &'static str, i64) {
    let (bound, order, place) = match (feed.after, feed.before) {
        (Some(after), _) => (">", "ASC", after),
        (None, before) => ("<", "DESC", before.unwrap_or(u64::MAX)),
    };
    (bound, order, i64::try_from(place).unwrap_or(i64::MAX))
}
