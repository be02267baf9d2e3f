//! The feed: journal entries as a reader sees them. The one place where an entry becomes a change.

use engram_model::{Change, EngramId, Entry, Evidence, Facets, Feed, Filter, ProjectId, Voice};
use rusqlite::{ToSql, params, params_from_iter};
use serde_json::Value;

use crate::{
    Reader, Result, StoreError,
    journal::{Journalled, journalled, parse_id, raw_entry, timestamp},
};

/// Entries of a page that names no limit, and the most that a page holds.
const PAGE: usize = 100;
const MOST: usize = 1_000;

/// Most authors and topics that are counted.
const MOST_VALUES: usize = 40;

/// All that words are looked for in, as [`Filter::admits`] puts it together.
const TEXT: &str = "(coalesce(content.claim, '') || char(10) || engram.topic || char(10) || engram.by || char(10) ||
    engram.kind || char(10) ||
    coalesce((SELECT group_concat(value, char(10)) FROM json_each(content.tags)), '') || char(10) ||
    coalesce((SELECT group_concat(json_extract(value, '$.ref'), char(10)) FROM json_each(journal.body, '$.pointers')), ''))";

/// A filter as SQL: every value is a parameter.
struct Where {
    sql: String,
    tables: &'static str,
    values: Vec<Box<dyn ToSql>>,
}

impl Where {
    /// Without what the filter says of one column, where its values are to be counted.
    fn of(project: ProjectId, worktree: &str, filter: &Filter, without: Option<&str>) -> Self {
        let mut it = Self {
            sql: String::new(),
            tables: "engram INDEXED BY engram_facets",
            values: Vec::new(),
        };
        let project = it.value(project.to_string());
        it.sql = format!("engram.project = {project}");
        let words = |all: &mut dyn Iterator<Item = &'static str>| -> Vec<String> {
            all.map(str::to_owned).collect()
        };
        let lists = [
            (
                "kind",
                words(&mut filter.kinds.iter().map(|it| it.as_str())),
            ),
            (
                "scope",
                words(&mut filter.scopes.iter().map(|it| it.as_str())),
            ),
            (
                "fact_type",
                words(&mut filter.fact_types.iter().map(|it| it.as_str())),
            ),
            ("by", filter.authors.clone()),
        ];
        for (column, wanted) in lists {
            if !wanted.is_empty() && without != Some(column) {
                let values: Vec<String> = wanted.into_iter().map(|word| it.value(word)).collect();
                it.and(&format!("engram.{column} IN ({})", values.join(", ")));
            }
        }
        if let (Some(verified), true) = (filter.verified, without != Some("verified")) {
            let verified = it.value(verified);
            it.and(&format!("engram.verified = {verified}"));
        }
        if !filter.topic().is_empty() && without != Some("topic") {
            let (topic, below) = (filter.topic(), format!("{}/", filter.topic()));
            let (topic, length) = (
                it.value(topic.to_owned()),
                it.value(below.chars().count() as i64),
            );
            let below = it.value(below);
            it.and(&format!(
                "(engram.topic = {topic} OR substr(engram.topic, 1, {length}) = {below})"
            ));
        }
        if !filter.health.is_empty() && without != Some("health") {
            let standing = it.standing(worktree, &filter.health);
            it.and(&standing);
        }
        for (at, sign) in [(filter.since, ">="), (filter.until, "<")] {
            if let Some(at) = at {
                let at = it.value(at.as_microsecond());
                it.and(&format!("engram.recorded_at {sign} {at}"));
            }
        }
        for word in filter.words() {
            it.tables = "engram JOIN journal ON journal.seq = engram.seq LEFT JOIN content ON content.engram = engram.id";
            let literal = word
                .replace('!', "!!")
                .replace('%', "!%")
                .replace('_', "!_");
            let like = it.value(format!("%{literal}%"));
            it.and(&format!("{TEXT} LIKE {like} ESCAPE '!'"));
        }
        it
    }

    /// That the evidence of a claim stands in one of these ways. What resolved and has no row holds,
    /// in a tree that was looked at.
    fn standing(&mut self, worktree: &str, wanted: &[Evidence]) -> String {
        let tree = self.value(worktree.to_owned());
        let row =
            format!("FROM health WHERE health.engram = engram.id AND health.worktree = {tree}");
        let words: Vec<String> = wanted.iter().map(|it| self.value(it.as_str())).collect();
        let mut any = format!(
            "EXISTS (SELECT 1 {row} AND standing IN ({}))",
            words.join(", ")
        );
        if wanted.contains(&Evidence::Holds) {
            any.push_str(&format!(
                " OR (engram.verified = 1 AND NOT EXISTS (SELECT 1 {row}) AND EXISTS
                 (SELECT 1 FROM look WHERE look.project = engram.project AND look.worktree = {tree}))"
            ));
        }
        format!("engram.valid_until IS NULL AND ({any})")
    }

    /// Keeps a value; what stands for it in the SQL.
    fn value(&mut self, value: impl ToSql + 'static) -> String {
        self.values.push(Box::new(value));
        format!("?{}", self.values.len())
    }

    fn and(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }
}

impl Reader<'_> {
    /// One page, newest first; or, with `after`, oldest first.
    pub fn feed(&self, project: ProjectId, worktree: &str, feed: &Feed) -> Result<Vec<Entry>> {
        if !feed.filter.is_empty() {
            return self.filtered(project, worktree, feed);
        }
        let limit = feed.limit.unwrap_or(PAGE).min(MOST) as i64;
        let kinds = match feed.all {
            true => "",
            false => "AND kind NOT IN ('dereferenced', 'noted', 'anchored')",
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

    /// A page of the engrams that a filter leaves.
    fn filtered(&self, project: ProjectId, worktree: &str, feed: &Feed) -> Result<Vec<Entry>> {
        let limit = feed.limit.unwrap_or(PAGE).min(MOST) as i64;
        let (bound, order, place) = match (feed.after, feed.before) {
            (Some(after), _) => (">", "ASC", after),
            (None, before) => ("<", "DESC", before.unwrap_or(i64::MAX as u64)),
        };
        let mut wanted = Where::of(project, worktree, &feed.filter, None);
        let place = wanted.value(place.min(i64::MAX as u64) as i64);
        let limit = wanted.value(limit);
        // Newest first is the order of this index: a page is found without looking at what is older.
        let sql = format!(
            "SELECT journal.seq, journal.recorded_at, journal.project, journal.kind, journal.by,
                    journal.subject, journal.body
             FROM engram INDEXED BY engram_project JOIN journal ON journal.seq = engram.seq
             LEFT JOIN content ON content.engram = engram.id
             WHERE {} AND engram.seq {bound} {place} ORDER BY engram.seq {order} LIMIT {limit}",
            wanted.sql
        );
        let rows: Vec<_> = self
            .0
            .prepare_cached(&sql)?
            .query_map(params_from_iter(wanted.values), raw_entry)?
            .collect::<rusqlite::Result<_>>()?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            entries.extend(self.entry(journalled(row)?)?);
        }
        Ok(entries)
    }

    /// How many engrams each value of a filter would leave.
    pub fn facets(&self, project: ProjectId, worktree: &str, filter: &Filter) -> Result<Facets> {
        let mut facets = Facets {
            total: self.count(project, worktree, filter)?,
            ..Facets::default()
        };
        self.each(project, worktree, filter, "kind", usize::MAX, |word, n| {
            facets.kinds.extend(word.parse().ok().map(|it| (it, n)));
        })?;
        self.each(project, worktree, filter, "scope", usize::MAX, |word, n| {
            facets.scopes.extend(word.parse().ok().map(|it| (it, n)));
        })?;
        self.each(
            project,
            worktree,
            filter,
            "fact_type",
            usize::MAX,
            |word, n| {
                facets
                    .fact_types
                    .extend(word.parse().ok().map(|it| (it, n)));
            },
        )?;
        self.each(
            project,
            worktree,
            filter,
            "verified",
            usize::MAX,
            |word, n| {
                facets.verified.push((word == "1", n));
            },
        )?;
        self.each(project, worktree, filter, "by", MOST_VALUES, |word, n| {
            facets.authors.push((word.to_owned(), n));
        })?;
        self.each(
            project,
            worktree,
            filter,
            "topic",
            MOST_VALUES,
            |word, n| {
                if !word.is_empty() {
                    facets.topics.push((word.to_owned(), n));
                }
            },
        )?;
        facets.health = self.standings(project, worktree, filter)?;
        Ok(facets)
    }

    /// How many claims stand in each way that has rows of its own.
    fn standings(
        &self,
        project: ProjectId,
        worktree: &str,
        filter: &Filter,
    ) -> Result<Vec<(Evidence, u64)>> {
        let mut wanted = Where::of(project, worktree, filter, Some("health"));
        let tree = wanted.value(worktree.to_owned());
        let sql = format!(
            "SELECT standing, count(*) FROM health CROSS JOIN engram ON engram.id = health.engram
             JOIN journal ON journal.seq = engram.seq LEFT JOIN content ON content.engram = engram.id
             WHERE {} AND health.worktree = {tree} AND standing <> 'holds' AND engram.valid_until IS NULL
             GROUP BY standing ORDER BY 2 DESC, 1",
            wanted.sql
        );
        let mut statement = self.0.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(wanted.values))?;
        let mut counts = Vec::new();
        while let Some(row) = rows.next()? {
            let word: String = row.get(0)?;
            let count = row.get::<_, i64>(1)? as u64;
            counts.extend(word.parse().ok().map(|it| (it, count)));
        }
        Ok(counts)
    }

    fn count(&self, project: ProjectId, worktree: &str, filter: &Filter) -> Result<u64> {
        let wanted = Where::of(project, worktree, filter, None);
        let sql = format!(
            "SELECT count(*) FROM {} WHERE {}",
            wanted.tables, wanted.sql
        );
        let count: i64 = self
            .0
            .prepare_cached(&sql)?
            .query_row(params_from_iter(wanted.values), |row| row.get(0))?;
        Ok(count as u64)
    }

    fn each(
        &self,
        project: ProjectId,
        worktree: &str,
        filter: &Filter,
        column: &'static str,
        most: usize,
        mut take: impl FnMut(&str, u64),
    ) -> Result<()> {
        let mut wanted = Where::of(project, worktree, filter, Some(column));
        let most = wanted.value(i64::try_from(most).unwrap_or(i64::MAX));
        let sql = format!(
            "SELECT CAST(engram.{column} AS TEXT), count(*) FROM {} WHERE {}
             GROUP BY engram.{column} ORDER BY 2 DESC, 1 LIMIT {most}",
            wanted.tables, wanted.sql
        );
        let mut statement = self.0.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(wanted.values))?;
        while let Some(row) = rows.next()? {
            let word: String = row.get(0)?;
            take(&word, row.get::<_, i64>(1)? as u64);
        }
        Ok(())
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
