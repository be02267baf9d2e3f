//! How many engrams of the list each value of a filter would leave: from the table `tally`, or from
//! the newest versions if the filter asks for something that `tally` does not count.

use std::collections::HashMap;

use engram_model::{Evidence, Facets, Filter, ProjectId, is_on_topic};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params_from_iter};

use super::filter::Where;
use crate::{Reader, Result};

/// The most authors, roles and topics that are counted.
const MAX_VALUES: usize = 40;

/// What the versions of a row of `tally` have in common, and how many versions there are.
struct TallyRow {
    /// The values, in the order of [`LISTS`].
    values: [String; LISTS],
    versions: u64,
}

/// Kind, scope, fact type, verified, author, topic, role.
const LISTS: usize = 7;
const ROLE: usize = 6;
const COLUMNS: &str = "kind, scope, fact_type, CAST(verified AS TEXT), by, topic, role";

impl TallyRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let mut values: [String; LISTS] = Default::default();
        for (at, value) in values.iter_mut().enumerate() {
            *value = row.get(at)?;
        }
        values[ROLE].make_ascii_lowercase();
        Ok(Self {
            values,
            versions: row.get::<_, i64>(LISTS)? as u64,
        })
    }

    /// The lists of the filter that exclude this row.
    fn against<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = usize> + 'a {
        let [kind, scope, fact_type, verified, by, topic, role] = &self.values;
        let any = |is_empty: bool, found: bool| is_empty || found;
        let admitted = [
            any(
                filter.kinds.is_empty(),
                filter.kinds.iter().any(|it| it.as_str() == kind),
            ),
            any(
                filter.scopes.is_empty(),
                filter.scopes.iter().any(|it| it.as_str() == scope),
            ),
            any(
                filter.fact_types.is_empty(),
                filter.fact_types.iter().any(|it| it.as_str() == fact_type),
            ),
            filter.verified.is_none_or(|it| it == (verified == "1")),
            any(filter.authors.is_empty(), filter.authors.contains(by)),
            is_on_topic(topic, &filter.topic),
            filter.has_role(role),
        ];
        (0..LISTS).filter(move |list| !admitted[*list])
    }
}

/// The counts of each list, by value.
#[derive(Default)]
struct FacetCounts {
    total: u64,
    by_value: [HashMap<String, u64>; LISTS],
}

impl FacetCounts {
    /// Counts a version in a list if all other lists admit it.
    fn add(&mut self, row: &TallyRow, filter: &Filter) {
        let mut against = row.against(filter);
        match (against.next(), against.next()) {
            (None, _) => {
                self.total += row.versions;
                (0..LISTS).for_each(|list| self.count(list, row));
            }
            (Some(list), None) => self.count(list, row),
            _ => {}
        }
    }

    fn count(&mut self, list: usize, row: &TallyRow) {
        let counts = &mut self.by_value[list];
        match counts.get_mut(&row.values[list]) {
            Some(count) => *count += row.versions,
            None => {
                counts.insert(row.values[list].clone(), row.versions);
            }
        }
    }

    /// Sorts by count, the largest first, then by word.
    fn sorted(&mut self, list: usize) -> Vec<(String, u64)> {
        let mut all: Vec<_> = std::mem::take(&mut self.by_value[list])
            .into_iter()
            .collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all
    }
}

/// Parses the words into values; skips words that this build does not know.
fn parse_counts<T: std::str::FromStr>(counts: Vec<(String, u64)>) -> Vec<(T, u64)> {
    let known = counts
        .into_iter()
        .filter_map(|(word, n)| Some((word.parse().ok()?, n)));
    known.collect()
}

impl Reader<'_> {
    /// How many engrams each value of a filter would leave.
    pub fn facets(
        &self,
        project: ProjectId,
        worktree: &str,
        filter: &Filter,
        now: Timestamp,
    ) -> Result<Facets> {
        self.count_facets(project, worktree, filter, now, None)
    }

    /// Like [`Self::facets`], among these versions alone.
    pub fn facets_among(
        &self,
        project: ProjectId,
        worktree: &str,
        filter: &Filter,
        now: Timestamp,
        seqs: &[u64],
    ) -> Result<Facets> {
        self.count_facets(project, worktree, filter, now, Some(seqs))
    }

    fn count_facets(
        &self,
        project: ProjectId,
        worktree: &str,
        filter: &Filter,
        now: Timestamp,
        among: Option<&[u64]>,
    ) -> Result<Facets> {
        let mut counts = FacetCounts::default();
        let is_tallied = among.is_none()
            && filter.search_words().is_empty()
            && filter.health.is_empty()
            && filter.ended.is_none()
            && filter.held_at.is_none()
            && filter.since.is_none()
            && filter.until.is_none();
        let partial = if is_tallied {
            tally(self.0, project, filter, &mut counts)?;
            false
        } else {
            let mut wanted = Where::beyond_tally(project, worktree, filter, now);
            let partial = match among {
                Some(seqs) => {
                    wanted.among(seqs);
                    false
                }
                None => wanted.limit_to_newest(self, project, filter)?,
            };
            count_each(self, wanted, filter, &mut counts)?;
            partial
        };
        let mut topics = counts.sorted(5);
        topics.retain(|(topic, _)| !topic.is_empty());
        topics.truncate(MAX_VALUES);
        let mut authors = counts.sorted(4);
        let mut roles = counts.sorted(ROLE);
        roles.retain(|(role, _)| !role.is_empty());
        roles.truncate(MAX_VALUES);
        authors.truncate(MAX_VALUES);
        let verified = counts.sorted(3).into_iter();
        Ok(Facets {
            total: counts.total,
            kinds: parse_counts(counts.sorted(0)),
            scopes: parse_counts(counts.sorted(1)),
            fact_types: parse_counts(counts.sorted(2)),
            verified: verified.map(|(word, n)| (word == "1", n)).collect(),
            roles,
            authors,
            topics,
            health: match filter.held_at {
                // The state of evidence is known only for now.
                Some(_) => Vec::new(),
                None => standings(self.0, project, worktree, filter, now, among)?,
            },
            partial,
        })
    }
}

fn tally(
    connection: &Connection,
    project: ProjectId,
    filter: &Filter,
    counts: &mut FacetCounts,
) -> Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, versions FROM tally WHERE project = ?1"
    ))?;
    let mut rows = statement.query([project.to_string()])?;
    while let Some(row) = rows.next()? {
        counts.add(&TallyRow::read(row)?, filter);
    }
    Ok(())
}

/// Counts version by version.
fn count_each(
    reader: &Reader<'_>,
    wanted: Where,
    filter: &Filter,
    counts: &mut FacetCounts,
) -> Result<()> {
    let sql = format!(
        "SELECT engram.kind, engram.scope, engram.fact_type, CAST(engram.verified AS TEXT),
                engram.by, engram.topic, engram.role, 1
         FROM {} WHERE {}",
        wanted.tables, wanted.sql
    );
    let mut statement = reader.0.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(wanted.values))?;
    while let Some(row) = rows.next()? {
        counts.add(&TallyRow::read(row)?, filter);
    }
    Ok(())
}

/// How many claims there are in each state of evidence that table `health` stores.
fn standings(
    connection: &Connection,
    project: ProjectId,
    worktree: &str,
    filter: &Filter,
    now: Timestamp,
    among: Option<&[u64]>,
) -> Result<Vec<(Evidence, u64)>> {
    let any = Filter {
        health: Evidence::ALL
            .iter()
            .copied()
            .filter(|it| *it != Evidence::Holds)
            .collect(),
        ..filter.clone()
    };
    let mut wanted = Where::rows(project, worktree, &any, now);
    if let Some(seqs) = among {
        wanted.among(seqs);
    }
    let sql = format!(
        "SELECT health.standing, count(*) FROM {} WHERE {} GROUP BY 1 ORDER BY 2 DESC, 1",
        wanted.tables, wanted.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(wanted.values))?;
    let mut counts = Vec::new();
    while let Some(row) = rows.next()? {
        let word: String = row.get(0)?;
        let count = row.get::<_, i64>(1)? as u64;
        counts.extend(word.parse().ok().map(|it| (it, count)));
    }
    Ok(counts)
}
