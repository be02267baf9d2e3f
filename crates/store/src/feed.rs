//! The feed: journal entries as a reader sees them. The one place where an entry becomes a change.

use engram_model::{Change, EngramId, Entry, Feed, ProjectId, Voice};
use rusqlite::{params, params_from_iter};
use serde_json::Value;

use crate::{
    Reader, Result, StoreError,
    filter::{Reach, Where},
    journal::{Journalled, RawEntry, journalled, parse_id, raw_entry, timestamp},
};

/// Entries of a page that names no limit, and the most that a page holds.
const PAGE: usize = 100;
const MOST: usize = 1_000;

impl Reader<'_> {
    /// One page, newest first; or, with `after`, oldest first. And the place after which (or before
    /// which) the next page begins; none at the end.
    ///
    /// A page of what a filter leaves looks at so many versions and no more: it may hold fewer than
    /// were asked for, or none, and others may follow all the same.
    pub fn feed(
        &self,
        project: ProjectId,
        worktree: &str,
        feed: &Feed,
    ) -> Result<(Vec<Entry>, Option<u64>)> {
        let limit = feed.limit.unwrap_or(PAGE).clamp(1, MOST);
        let (rows, edge) = match feed.filter.is_empty() {
            true => (self.unfiltered(project, feed, limit)?, None),
            false => self.filtered(project, worktree, feed, limit)?,
        };
        let next = match rows.last() {
            Some(last) if rows.len() == limit => Some(last.0 as u64),
            _ => edge,
        };
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            entries.extend(self.entry(journalled(row)?)?);
        }
        Ok((entries, next))
    }

    fn unfiltered(&self, project: ProjectId, feed: &Feed, limit: usize) -> Result<Vec<RawEntry>> {
        let kinds = match feed.all {
            true => "",
            false => "AND kind NOT IN ('dereferenced', 'noted', 'anchored')",
        };
        let (bound, order, place) = direction(feed);
        Ok(self
            .0
            .prepare_cached(&format!(
                "SELECT seq, recorded_at, project, kind, by, subject, body FROM journal
                 WHERE project = ?1 AND seq {bound} ?2 {kinds} ORDER BY seq {order} LIMIT ?3"
            ))?
            .query_map(params![project.to_string(), place, limit as i64], raw_entry)?
            .collect::<rusqlite::Result<_>>()?)
    }

    /// A page of the engrams that a filter leaves, and how far it looked, unless to the end.
    fn filtered(
        &self,
        project: ProjectId,
        worktree: &str,
        feed: &Feed,
        limit: usize,
    ) -> Result<(Vec<RawEntry>, Option<u64>)> {
        let (bound, order, place) = direction(feed);
        let mut wanted = Where::rows(project, worktree, &feed.filter);
        let reach = match wanted.is_listed {
            true => Reach {
                place,
                last: None,
                next: None,
            },
            false => self.reach(project, &feed.filter, place, feed.after.is_some())?,
        };
        let place = wanted.value(reach.place);
        wanted.and(&format!("engram.seq {bound} {place}"));
        if let Some(last) = reach.last {
            let last = wanted.value(last);
            let within = if bound == "<" { ">=" } else { "<=" };
            wanted.and(&format!("engram.seq {within} {last}"));
        }
        let limit = wanted.value(limit as i64);
        let sql = format!(
            "SELECT journal.seq, journal.recorded_at, journal.project, journal.kind, journal.by,
                    journal.subject, journal.body
             FROM {} WHERE {} ORDER BY engram.seq {order} LIMIT {limit}",
            wanted.tables, wanted.sql
        );
        let rows = self
            .0
            .prepare_cached(&sql)?
            .query_map(params_from_iter(wanted.values), raw_entry)?
            .collect::<rusqlite::Result<_>>()?;
        Ok((rows, reach.next))
    }

    /// Who said the same as a version, oldest first.
    pub fn voices(&self, id: EngramId) -> Result<Vec<Voice>> {
        self.0
            .prepare_cached(
                "SELECT by, recorded_at FROM journal WHERE subject = ?1 AND kind = 'corroborated'
                 ORDER BY seq LIMIT 200",
            )?
            .query_map([id.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))?
            .map(|row| {
                let (by, at) = row?;
                Ok(Voice {
                    by,
                    at: timestamp(at)?,
                })
            })
            .collect()
    }

    /// None for a kind that only a newer build knows.
    fn entry(&self, row: Journalled) -> Result<Option<Entry>> {
        let subject = || {
            let text = row.subject.as_deref().unwrap_or_default();
            parse_id(text)
        };
        let text = |key: &str| -> String {
            row.body
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let change = match row.kind.as_str() {
            "stored" => {
                let engram = self
                    .engram_at(row.seq)?
                    .ok_or_else(|| StoreError::Record(format!("no engram at {}", row.seq)))?;
                Change::Stored(Box::new(engram))
            }
            "corroborated" => Change::Corroborated(subject()?),
            "forgotten" => Change::Forgotten(subject()?),
            "redacted" => Change::Redacted(subject()?),
            "dereferenced" => Change::Dereferenced {
                pointer: text("pointer"),
                digest: text("digest"),
                tokens: row.body.get("tokens").and_then(Value::as_u64).unwrap_or(0) as u32,
            },
            "anchored" => Change::Anchored {
                worktree: text("worktree"),
                head: Some(text("head")).filter(|it| !it.is_empty()),
                engrams: serde_json::from_value(
                    row.body.get("engrams").cloned().unwrap_or_default(),
                )
                .map_err(|e| StoreError::Record(format!("entry {}: {e}", row.seq)))?,
            },
            "noted" => Change::Noted {
                id: parse_id(row.subject.as_deref().unwrap_or_default())?,
                pointer: text("pointer"),
            },
            _ => return Ok(None),
        };
        Ok(Some(Entry {
            seq: row.seq,
            at: row.at,
            by: row.by,
            change,
        }))
    }
}

/// How a page is read: the bound, the order, and the place that it begins at.
fn direction(feed: &Feed) -> (&'static str, &'static str, i64) {
    let (bound, order, place) = match (feed.after, feed.before) {
        (Some(after), _) => (">", "ASC", after),
        (None, before) => ("<", "DESC", before.unwrap_or(u64::MAX)),
    };
    (bound, order, i64::try_from(place).unwrap_or(i64::MAX))
}
