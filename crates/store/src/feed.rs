//! The feed: journal entries as a reader sees them. The one place where an entry becomes a change.

use engram_model::{Change, Entry, Feed, ProjectId};
use rusqlite::params;
use serde_json::Value;

use crate::{
    Reader, Result, StoreError,
    journal::{Journalled, journalled, parse_id, raw_entry},
};

/// Entries of a page that names no limit, and the most that a page holds.
const PAGE: usize = 100;
const MOST: usize = 1_000;

impl Reader<'_> {
    /// One page, newest first; or, with `after`, oldest first.
    pub fn feed(&self, project: ProjectId, feed: &Feed) -> Result<Vec<Entry>> {
        let limit = feed.limit.unwrap_or(PAGE).min(MOST) as i64;
        let kinds = match feed.all {
            true => "",
            false => "AND kind NOT IN ('dereferenced', 'noted')",
        };
        let (bound, order, place) = match (feed.after, feed.before) {
            (Some(after), _) => (">", "ASC", after),
            (None, before) => ("<", "DESC", before.unwrap_or(i64::MAX as u64)),
        };
        let rows: Vec<_> = self
            .0
            .prepare_cached(&format!(
                "SELECT seq, recorded_at, project, kind, by, subject, body FROM journal
                 WHERE project = ?1 AND seq {bound} ?2 {kinds} ORDER BY seq {order} LIMIT ?3"
            ))?
            .query_map(
                params![
                    project.to_string(),
                    place.min(i64::MAX as u64) as i64,
                    limit
                ],
                raw_entry,
            )?
            .collect::<rusqlite::Result<_>>()?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            entries.extend(self.entry(journalled(row)?)?);
        }
        Ok(entries)
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
                let mut engram = self
                    .engram_at(row.seq)?
                    .ok_or_else(|| StoreError::Record(format!("no engram at {}", row.seq)))?;
                engram.derive_keys();
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
