//! The feed's filter as SQL. It must admit exactly what [`Filter::admits`] admits.

use engram_model::{Evidence, Filter, LEAST_ID, ProjectId};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, ToSql, params};

use crate::{Reader, Result, tables::NOT_OVER};

/// The most versions that one page or one count examines; fewer if the filter has words, which are
/// searched for in each version.
const LOOK: usize = 50_000;
const LOOK_FOR_WORDS: usize = 10_000;

/// The tables. This index is in the order of the list, so that a page is found without reading
/// older rows.
const BY_PLACE: &str = "engram INDEXED BY engram_place JOIN journal ON journal.seq = engram.seq
     LEFT JOIN content ON content.engram = engram.id";
/// All versions, in the order of the journal.
const BY_SEQ: &str = "engram INDEXED BY engram_project JOIN journal ON journal.seq = engram.seq
     LEFT JOIN content ON content.engram = engram.id";
/// Versions that are known by their number.
const BY_NUMBER: &str = "engram NOT INDEXED JOIN journal ON journal.seq = engram.seq
     LEFT JOIN content ON content.engram = engram.id";
/// Starts from the few claims whose evidence changed in a working tree.
const BY_STANDING: &str = "health CROSS JOIN engram ON engram.id = health.engram
     JOIN journal ON journal.seq = engram.seq LEFT JOIN content ON content.engram = engram.id";

/// A filter as SQL; every value is a parameter.
pub(super) struct Where {
    pub(super) sql: String,
    pub(super) tables: &'static str,
    /// The column by which the list is ordered.
    pub(super) order: &'static str,
    pub(super) values: Vec<Box<dyn ToSql>>,
    /// Whether a separate table lists the matching versions, so that no version is examined
    /// needlessly.
    pub(super) is_listed: bool,
}

impl Where {
    /// All conditions of a filter.
    pub(super) fn rows(
        project: ProjectId,
        worktree: &str,
        filter: &Filter,
        now: Timestamp,
    ) -> Self {
        let mut conditions = Self::beyond_tally(project, worktree, filter, now);
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
            ("role COLLATE NOCASE", filter.roles.clone()),
        ];
        for (column, wanted) in lists {
            if !wanted.is_empty() {
                let values: Vec<String> = wanted
                    .into_iter()
                    .map(|word| conditions.value(word))
                    .collect();
                conditions.and(&format!("engram.{column} IN ({})", values.join(", ")));
            }
        }
        if let Some(verified) = filter.verified {
            let verified = conditions.value(verified);
            conditions.and(&format!("engram.verified = {verified}"));
        }
        if !filter.topic().is_empty() {
            let (topic, below) = (filter.topic(), format!("{}/", filter.topic()));
            let topic = conditions.value(topic.to_owned());
            let length = conditions.value(below.chars().count() as i64);
            let below = conditions.value(below);
            conditions.and(&format!(
                "(engram.topic = {topic} OR substr(engram.topic, 1, {length}) = {below})"
            ));
        }
        conditions
    }

    /// The conditions that the table `tally` does not count by.
    pub(super) fn beyond_tally(
        project: ProjectId,
        worktree: &str,
        filter: &Filter,
        now: Timestamp,
    ) -> Self {
        let is_listed = !filter.health.is_empty() && !filter.health.contains(&Evidence::Holds);
        let mut conditions = Self {
            sql: String::new(),
            tables: match filter.held_at {
                _ if is_listed => BY_STANDING,
                Some(_) => BY_SEQ,
                None => BY_PLACE,
            },
            order: order_of(filter).0,
            values: Vec::new(),
            is_listed,
        };
        let project = conditions.value(project.to_string());
        conditions.sql = format!("engram.project = {project}");
        match filter.held_at {
            Some(at) => {
                let at = conditions.value(at.as_microsecond());
                conditions.and(&format!(
                    "engram.valid_from <= {at} AND (engram.valid_until IS NULL OR engram.valid_until > {at})
                     AND (engram.expires_at IS NULL OR engram.expires_at > {at})
                     AND NOT (engram.kind = 'risk' AND EXISTS (SELECT 1 FROM report WHERE risk = engram.lineage))"
                ));
            }
            None => conditions.and("engram.stands = 1"),
        }
        if !filter.health.is_empty() {
            let standing = conditions.evidence_sql(worktree, &filter.health);
            conditions.and(&standing);
        }
        if let Some(ended) = filter.ended {
            let now = conditions.value(now.as_microsecond());
            let not_over = NOT_OVER.replace("?2", &now);
            let holds = format!("engram.valid_until IS NULL AND {not_over}");
            conditions.and(&if ended {
                format!("NOT ({holds})")
            } else {
                holds
            });
        }
        for (at, sign) in [(filter.since, ">="), (filter.until, "<")] {
            if let Some(at) = at {
                let at = conditions.value(at.as_microsecond());
                conditions.and(&format!("engram.placed_at {sign} {at}"));
            }
        }
        for word in filter.search_words() {
            let somewhere = conditions.occurs_sql(&word);
            conditions.and(&somewhere);
        }
        conditions
    }

    /// SQL: the claim's evidence has one of these states. In a tree that was checked, a claim whose
    /// evidence resolved and that has no row counts as `holds`.
    fn evidence_sql(&mut self, worktree: &str, wanted: &[Evidence]) -> String {
        let tree = self.value(worktree.to_owned());
        let words: Vec<String> = wanted.iter().map(|it| self.value(it.as_str())).collect();
        let words = words.join(", ");
        if self.is_listed {
            return format!(
                "health.worktree = {tree} AND health.standing IN ({words}) AND engram.valid_until IS NULL"
            );
        }
        let row = format!("FROM health AS it WHERE it.engram = engram.id AND it.worktree = {tree}");
        format!(
            "engram.valid_until IS NULL AND (EXISTS (SELECT 1 {row} AND it.standing IN ({words}))
             OR (engram.verified = 1 AND NOT EXISTS (SELECT 1 {row}) AND EXISTS
             (SELECT 1 FROM look WHERE look.project = engram.project AND look.worktree = {tree})))"
        )
    }

    /// SQL: the word occurs in one of the searched columns. A JSON list is parsed only if its text
    /// contains the word, or if JSON would escape the word.
    fn occurs_sql(&mut self, word: &str) -> String {
        let literal = like_literal(word);
        let like = self.value(format!("%{literal}%"));
        let has = |what: &str| format!("{what} LIKE {like} ESCAPE '!'");
        let in_list = |json: &str, list: &str, item: &str| {
            let item = has(item);
            let exact = format!("EXISTS (SELECT 1 FROM {list} WHERE {item})");
            if is_escaped_in_json(word) {
                exact
            } else {
                format!("({} AND {exact})", has(json))
            }
        };
        let id = (word.len() >= LEAST_ID).then(|| {
            let begins = self.value(format!("{literal}%"));
            format!("engram.id LIKE {begins} ESCAPE '!'")
        });
        let places = [
            has("content.claim"),
            has("engram.topic"),
            has("engram.by"),
            has("engram.kind"),
            in_list("content.tags", "json_each(content.tags)", "value"),
            in_list(
                "journal.body",
                "json_each(journal.body, '$.pointers')",
                "json_extract(value, '$.ref')",
            ),
        ];
        let places = places.into_iter().chain(id);
        format!("({})", places.collect::<Vec<_>>().join(" OR "))
    }

    /// Leaves only the newest versions. Returns whether some are left out.
    pub(super) fn limit_to_newest(
        &mut self,
        reader: &Reader<'_>,
        project: ProjectId,
        filter: &Filter,
    ) -> Result<bool> {
        if self.is_listed {
            return Ok(false);
        }
        let reach = find_reach(reader, project, filter, i64::MAX, false)?;
        let (place, last) = (self.value(reach.place), self.value(reach.last.unwrap_or(0)));
        let order = self.order;
        self.and(&format!("{order} < {place} AND {order} >= {last}"));
        Ok(reach.next.is_some())
    }

    /// Leaves only these versions.
    pub(super) fn among(&mut self, seqs: &[u64]) {
        let seqs = self.value(serde_json::json!(seqs).to_string());
        if !self.is_listed {
            self.tables = BY_NUMBER;
        }
        self.and(&format!(
            "engram.seq IN (SELECT value FROM json_each({seqs}))"
        ));
    }

    /// Starts from the versions that have the longest word anywhere. Three short scans find them
    /// sooner than the other conditions, which join the tables for each version.
    pub(super) fn start_from_longest_word(&mut self, project: ProjectId, filter: &Filter) {
        let mut words = filter.search_words();
        words.retain(|it| !is_escaped_in_json(it));
        words.sort_by_key(|it| it.len());
        let Some(word) = words.pop().filter(|_| !self.is_listed) else {
            return;
        };
        self.tables = BY_NUMBER;
        let project = self.value(project.to_string());
        let like = self.value(format!("%{}%", like_literal(&word)));
        let has = |what: &str| format!("{what} LIKE {like} ESCAPE '!'");
        let (claim, tags, body) = (has("claim"), has("tags"), has("body"));
        let (topic, by, kind, id) = (has("topic"), has("by"), has("kind"), has("id"));
        self.and(&format!(
            "engram.seq IN (
               SELECT it.seq FROM content JOIN engram AS it ON it.id = content.engram
                 WHERE {claim} OR {tags}
               UNION SELECT seq FROM engram NOT INDEXED
                 WHERE project = {project} AND ({topic} OR {by} OR {kind} OR {id})
               UNION SELECT seq FROM journal NOT INDEXED
                 WHERE project = {project} AND kind = 'stored' AND {body})"
        ));
    }

    /// Adds a parameter; returns its placeholder.
    pub(super) fn value(&mut self, value: impl ToSql + 'static) -> String {
        self.values.push(Box::new(value));
        format!("?{}", self.values.len())
    }

    pub(super) fn and(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }
}

/// A word as a pattern of SQL that matches it alone.
fn like_literal(word: &str) -> String {
    let word = word.replace('!', "!!");
    word.replace('%', "!%").replace('_', "!_")
}

/// Whether a word is written differently in JSON.
fn is_escaped_in_json(word: &str) -> bool {
    word.contains(['"', '\\']) || word.contains(char::is_control)
}

/// The column by which a list is ordered, and the project's versions in that order, as SQL. A list
/// of a past time is ordered by version, because another version may now have the place.
fn order_of(filter: &Filter) -> (&'static str, &'static str) {
    match filter.held_at {
        Some(_) => (
            "engram.seq",
            "engram INDEXED BY engram_project WHERE project = ?1",
        ),
        None => (
            "engram.place",
            "engram INDEXED BY engram_place WHERE project = ?1 AND stands = 1",
        ),
    }
}

/// A stretch of the list.
pub(super) struct Reach {
    /// The position after which it starts.
    pub(super) place: i64,
    /// The last position; the end of the list if `None`.
    pub(super) last: Option<i64>,
    /// Where the next page continues; `None` if nothing further can match.
    pub(super) next: Option<u64>,
}

/// The stretch of the list that a filtered page examines.
pub(super) fn find_reach(
    reader: &Reader<'_>,
    project: ProjectId,
    filter: &Filter,
    place: i64,
    is_newer: bool,
) -> Result<Reach> {
    // Journal time never goes back, so everything recorded from then on comes after one position.
    let first = |at: i64| first_at(reader, project, at);
    let since = filter.since.map(|at| first(at.as_microsecond()));
    let since = since.transpose()?;
    // A version that held then was recorded by then, but a version of a later time may have an
    // earlier place.
    let until = match filter.held_at {
        Some(at) => Some(first(at.as_microsecond().saturating_add(1))),
        None => filter.until.map(|at| first(at.as_microsecond())),
    };
    let until = until.transpose()?;
    let place = if is_newer {
        place.max(since.map_or(0, |it| it - 1))
    } else {
        place.min(until.unwrap_or(i64::MAX))
    };
    let (bound, direction) = if is_newer {
        (">", "ASC")
    } else {
        ("<", "DESC")
    };
    let (column, versions) = order_of(filter);
    let look = if filter.search_words().is_empty() {
        LOOK
    } else {
        LOOK_FOR_WORDS
    };
    let edge: Option<i64> = reader
        .0
        .prepare_cached(&format!(
            "SELECT {column} FROM {versions} AND {column} {bound} ?2
             ORDER BY {column} {direction} LIMIT 1 OFFSET ?3"
        ))?
        .query_row(
            params![project.to_string(), place, look as i64 - 1],
            |row| row.get(0),
        )
        .optional()?;
    let last = if is_newer {
        until.map(|it| it - 1)
    } else {
        since
    };
    let is_nearer = |edge: &i64| {
        if is_newer {
            last.is_none_or(|last| *edge < last)
        } else {
            last.is_none_or(|last| *edge > last)
        }
    };
    let edge = edge.filter(is_nearer);
    Ok(Reach {
        place,
        last: edge.or(last),
        next: edge.map(|it| it as u64),
    })
}

/// The position of the first version recorded at this time (in microseconds) or later; one past the
/// last version if there is none. Skips versions dated after the newest one, which a fast clock
/// wrote.
fn first_at(reader: &Reader<'_>, project: ProjectId, at: i64) -> Result<i64> {
    let newest: Option<i64> = reader
        .0
        .prepare_cached(
            "SELECT valid_from FROM engram INDEXED BY engram_project
             WHERE project = ?1 ORDER BY seq DESC LIMIT 1",
        )?
        .query_row([project.to_string()], |row| row.get(0))
        .optional()?;
    let (mut low, mut high) = (0, reader.head()? as i64 + 1);
    let mut next = reader.0.prepare_cached(
        "SELECT seq, valid_from FROM engram INDEXED BY engram_project
         WHERE project = ?1 AND seq >= ?2 AND valid_from <= ?3 ORDER BY seq LIMIT 1",
    )?;
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, i64)> = next
            .query_row(params![project.to_string(), middle, newest], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        match found {
            Some((seq, from)) if from < at => low = seq + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}
