//! What is new in all repositories of the home, by repository, agent and kind.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap, hash_map::Entry},
};

use engram_model::{
    ConflictId, ConflictStatus, Engram, EngramId, Evidence, NewsKind, NewsReply, NewsRow,
    NewsSince, Operation, OperationKind, ProjectId, Refusal, RequestState, Whereabouts,
    operation::{Contradiction, Ruling},
};
use engram_store::{Attribution, Journalled, Reader};
use jiff::Timestamp;

use crate::{
    conflicts::lifecycle::both_hold,
    context::{Context, author::USER, names},
    status::everywhere::whereabouts_of,
};

/// The most entries that are read.
const MAX_NEWS: usize = 2_000;
const KINDS: &[OperationKind] = &[
    OperationKind::Stored,
    OperationKind::Conflicted,
    OperationKind::Resolved,
    OperationKind::Requested,
    OperationKind::Anchored,
];
/// The most characters of an agent's words.
const TEXT: usize = 300;

/// One row while it is counted.
struct CountedRow {
    newest: Journalled,
    id: String,
    text: String,
    count: u64,
    /// The conflicts that were counted: one that is found again is no other.
    conflicts: BTreeSet<ConflictId>,
    /// The claims whose evidence changed.
    drifted: BTreeSet<EngramId>,
}

type RowKey = (ProjectId, NewsKind, String);

/// Lists the news in one read, whose length does not depend on the size of the home.
pub(crate) fn list_news(cx: &Context<'_>, since: NewsSince) -> Result<NewsReply, Refusal> {
    let now = cx.engine.world.now();
    let (head, is_cut, counted) = cx.engine.store.read::<_, Refusal>(|tx| {
        let news = tx.news(since.seq, since.at, KINDS, MAX_NEWS)?;
        let mut rows: HashMap<RowKey, CountedRow> = HashMap::new();
        for entry in news.entries {
            add_entry(tx, &mut rows, entry, now)?;
        }
        for (key, row) in &mut rows {
            if key.1 == NewsKind::Drifted {
                row.drifted = still_drifted(tx, &row.drifted, now)?;
                row.count = row.drifted.len() as u64;
                if let Some(id) = row.drifted.last() {
                    let claim = tx.engram(*id)?.map(|it| it.claim).unwrap_or_default();
                    row.text = engram_model::shorten(&claim, TEXT);
                    row.id = id.to_string();
                }
            }
        }
        Ok((tx.head()?, news.is_cut, rows))
    })?;
    let mut places: HashMap<ProjectId, Whereabouts> = HashMap::new();
    let mut rows = Vec::new();
    for ((project, what, by), row) in counted {
        if row.count == 0 {
            continue;
        }
        let place = match places.entry(project) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(whereabouts_of(cx, project)?),
        };
        rows.push(NewsRow {
            project,
            repository: place.name.clone(),
            path: place.path.clone(),
            is_here: place.is_here,
            what,
            by,
            count: row.count,
            at: row.newest.at,
            seq: row.newest.seq,
            id: row.id,
            text: row.text,
        });
    }
    sort_rows(&mut rows);
    Ok(NewsReply { head, is_cut, rows })
}

/// Counts an entry, if it is still news. Entries come newest first.
fn add_entry(
    tx: &Reader<'_>,
    rows: &mut HashMap<RowKey, CountedRow>,
    entry: Journalled,
    now: Timestamp,
) -> Result<(), Refusal> {
    let by = names::author_of_entry(&Attribution {
        agent: entry.agent.clone(),
        by: entry.by.clone(),
        at: entry.at,
        why: None,
    });
    let Some(news) = news_of(tx, &entry, by, now)? else {
        return Ok(());
    };
    let row = rows
        .entry((entry.project, news.what, news.by))
        .or_insert_with(|| CountedRow {
            newest: entry,
            id: news.id,
            text: engram_model::shorten(&news.text, TEXT).to_string(),
            count: 0,
            conflicts: BTreeSet::new(),
            drifted: BTreeSet::new(),
        });
    if news.conflict.is_none_or(|id| row.conflicts.insert(id)) {
        row.count += 1;
    }
    row.drifted.extend(news.drifted);
    Ok(())
}

/// What in an entry is still news.
struct EntryNews {
    what: NewsKind,
    by: String,
    id: String,
    text: String,
    conflict: Option<ConflictId>,
    drifted: Vec<EngramId>,
}

impl EntryNews {
    fn new(what: NewsKind, by: String, id: impl ToString, text: String) -> Self {
        Self {
            what,
            by,
            id: id.to_string(),
            text,
            conflict: None,
            drifted: Vec::new(),
        }
    }
}

fn news_of(
    tx: &Reader<'_>,
    entry: &Journalled,
    by: String,
    now: Timestamp,
) -> Result<Option<EntryNews>, Refusal> {
    if entry.kind() == Some(OperationKind::Stored) {
        // What the user said is not news to them, and a conflict is reported by its own entry.
        if is_users(&by) || entry.by == names::ENGINE {
            return Ok(None);
        }
        let Some(engram) = tx.engram_at(entry.seq)? else {
            return Ok(None);
        };
        // The user stored the sample, and what was forgotten is no longer news.
        let is_forgotten =
            engram.valid_until.is_some() && tx.successor(engram.lineage_id, engram.seq)?.is_none();
        if is_forgotten || engram.is_sample() {
            return Ok(None);
        }
        let news = EntryNews::new(NewsKind::Learned, by, engram.id, engram.claim);
        return Ok(Some(news));
    }
    Ok(match entry.readable_operation() {
        Some(Operation::Conflicted(found)) => contradiction_news(tx, &found, now)?,
        Some(Operation::Resolved(ruling)) => verdict_news(tx, entry, &ruling, by)?,
        Some(Operation::Requested(asked)) => {
            let request = tx.grants().request(entry.project, &asked.id)?;
            let waiting = request.filter(|it| it.state == RequestState::Waiting);
            waiting.map(|request| {
                // Once erased, the reason is empty.
                let unpinned = asked.pointer.rsplit_once('@').map_or("", |it| it.0);
                let text = match request.reason.trim() {
                    "" => asked.pointer.clone(),
                    reason => format!("{reason} ({unpinned})"),
                };
                EntryNews::new(NewsKind::Asked, by, &asked.id, text)
            })
        }
        // Drift in other working trees does not count.
        Some(Operation::Anchored(anchored)) if anchored.worktree.is_empty() => {
            let is_off = |it: &engram_model::Health| Evidence::DRIFTED.contains(&it.standing);
            let off = anchored.engrams.iter().filter(|it| is_off(&it.health));
            let drifted: Vec<EngramId> = off.map(|it| it.id).collect();
            (!drifted.is_empty()).then(|| EntryNews {
                drifted,
                ..EntryNews::new(NewsKind::Drifted, String::new(), "", String::new())
            })
        }
        _ => None,
    })
}

/// A conflict that waits, as long as both sides hold: a side also ends by expiring, which makes no
/// entry.
fn contradiction_news(
    tx: &Reader<'_>,
    found: &Contradiction,
    now: Timestamp,
) -> Result<Option<EntryNews>, Refusal> {
    let pair = tx.conflict(found.id)?;
    let Some(pair) = pair.filter(|it| it.status == ConflictStatus::Open) else {
        return Ok(None);
    };
    if !both_hold(tx, &pair, now)? {
        return Ok(None);
    }
    let why = tx.contradiction(pair.last)?.map(|it| it.why);
    let sides = [tx.engram(found.engrams[0])?, tx.engram(found.engrams[1])?];
    let sides = sides.into_iter().flatten();
    // Undoing a verdict finds its conflict again, which is no act of the claim's author.
    let last = sides.clone().max_by_key(|it| it.seq);
    if last.is_some_and(|it| it.restores.is_some()) {
        return Ok(None);
    }
    let newer = sides.max_by_key(Engram::list_place);
    let by = newer.as_ref().map(names::author_of).unwrap_or_default();
    // Once erased, nothing says what differed.
    let why = why.filter(|it| !it.is_empty());
    let text = why.or(newer.map(|it| it.claim)).unwrap_or_default();
    Ok(Some(EntryNews {
        conflict: Some(found.id),
        ..EntryNews::new(NewsKind::Contradicted, by, found.id, text)
    }))
}

/// A verdict of an agent that ended a claim of somebody else, while it is in force.
fn verdict_news(
    tx: &Reader<'_>,
    entry: &Journalled,
    ruling: &Ruling,
    by: String,
) -> Result<Option<EntryNews>, Refusal> {
    let verdict = tx.conflict(ruling.id)?.and_then(|it| it.verdict);
    if entry.agent.is_none() || ruling.how.is_none() || verdict != Some(entry.seq) {
        return Ok(None);
    }
    for id in &ruling.closed {
        if let Some(ended) = tx.engram(*id)?.filter(|it| it.agent != entry.agent) {
            let news = EntryNews::new(NewsKind::Settled, by, ruling.id, ended.claim);
            return Ok(Some(news));
        }
    }
    Ok(None)
}

fn is_users(by: &str) -> bool {
    by.is_empty() || by == USER
}

/// Those claims that hold and whose evidence is still in doubt.
fn still_drifted(
    tx: &Reader<'_>,
    all: &BTreeSet<EngramId>,
    now: Timestamp,
) -> Result<BTreeSet<EngramId>, Refusal> {
    let mut drifted = BTreeSet::new();
    for id in all {
        let holds = tx.engram(*id)?.is_some_and(|it| it.holds_now(now));
        let health = tx.health(*id, "")?;
        if holds && health.is_some_and(|it| Evidence::DRIFTED.contains(&it.standing)) {
            drifted.insert(*id);
        }
    }
    Ok(drifted)
}

/// What asks for a person first, repositories and rows; then what is newer.
fn sort_rows(rows: &mut [NewsRow]) {
    let mut places: HashMap<ProjectId, (NewsKind, Reverse<u64>)> = HashMap::new();
    for row in rows.iter() {
        let here = (row.what, Reverse(row.seq));
        let known = places.entry(row.project).or_insert(here);
        *known = (known.0.min(here.0), known.1.min(here.1));
    }
    rows.sort_by_key(|row| {
        let of_repository = places.get(&row.project).copied();
        (of_repository, row.project, row.what, Reverse(row.seq))
    });
}
