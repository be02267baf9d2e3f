//! Reads that change nothing.

use crate::{
    agents::served,
    conflicts::{list, risks::may_see_version},
    context::{Context, names, project, shelf::claim_of_event, visibility::Visibility},
    evidence::{gather, health},
    no_engram,
};
use engram_model::{
    Change, Code, Engram, EngramId, Entry, Facets, Feed, FeedPage, Figures, Filter, LineReply,
    LineView, OWN_EVENT, Pointer, PointerInput, ProjectId, Refusal, SourceReply, SourceView,
    Target, TodoAnswer,
};
use engram_pointers::{Repo, Shelf, View};
use engram_store::Reader;

/// A version that the caller may see, as stored.
pub(crate) fn find_version(cx: &Context<'_>, id: EngramId) -> Result<Engram, Refusal> {
    let visibility = cx.visibility()?;
    let found = cx.engine.store.read::<_, Refusal>(|tx| {
        let found = tx.engram(id)?;
        Ok(match found {
            Some(engram) if may_see_version(tx, &visibility, &engram)? => Some(engram),
            _ => None,
        })
    })?;
    // The caller must not be able to tell a hidden version from a missing one.
    found.ok_or_else(|| no_engram(id))
}

/// Like [`find_version`], with the health of the evidence.
pub(crate) fn read_record(cx: &Context<'_>, id: EngramId) -> Result<Engram, Refusal> {
    let mut engram = find_version(cx, id)?;
    health::tell_health_now(cx, std::slice::from_mut(&mut engram));
    let store = &cx.engine.store;
    engram.lost = store.read::<_, Refusal>(|tx| Ok(tx.lost(&engram)?))?;
    if engram.valid_until.is_none() {
        let visibility = cx.visibility()?;
        store.read::<_, Refusal>(|tx| fill_question(tx, &visibility, &mut engram))?;
        let told = std::slice::from_mut(&mut engram);
        store.read::<_, Refusal>(|tx| list::tell_conflicts(cx, tx, told.iter_mut()))?;
    }
    served::note_shown(cx, std::slice::from_ref(&engram))?;
    Ok(engram)
}

/// Adds the to-do that asks about a claim, or the answer that it got since it has held in this form.
fn fill_question(
    tx: &Reader<'_>,
    visibility: &Visibility,
    engram: &mut Engram,
) -> Result<(), Refusal> {
    engram.asked = tx.open_todo_about(engram.lineage_id)?;
    if engram.asked.is_some() {
        return Ok(());
    }
    let answer = tx.answer_about(engram.lineage_id, first_held(tx, engram)?)?;
    if let Some(answer) = answer
        && !answer.redacted
        && may_see_version(tx, visibility, &answer)?
    {
        engram.answer = Some(Box::new(TodoAnswer {
            id: answer.id,
            by: names::author_of(&answer),
            at: answer.recorded_at,
            claim: answer.claim,
        }));
    }
    Ok(())
}

/// The place of a version; of one that an undo brought back, the place of the version that it
/// restores, so that what was said of that one still counts.
fn first_held(tx: &Reader<'_>, engram: &Engram) -> Result<u64, Refusal> {
    let (mut seq, mut restores) = (engram.seq, engram.restores);
    while let Some(old) = restores.map_or(Ok(None), |id| tx.engram(id))? {
        (seq, restores) = (old.seq, old.restores);
    }
    Ok(seq)
}

/// The history of a claim, as far as the caller may see it.
pub(crate) fn visible_history(cx: &Context<'_>, id: EngramId) -> Result<Vec<Entry>, Refusal> {
    let (lineage, visibility) = (find_version(cx, id)?.lineage_id, cx.visibility()?);
    let mut entries = cx
        .engine
        .store
        .read::<_, Refusal>(|tx| Ok(tx.log(lineage)?))?;
    let stored = entries.iter().filter_map(|it| it.change.stored());
    let unseen: Vec<EngramId> = stored
        .filter(|it| !visibility.may_see(it))
        .map(|it| it.id)
        .collect();
    entries.retain(|entry| {
        let about = entry.change.engram();
        about.is_none_or(|id| !unseen.contains(&id))
    });
    // A verdict may be about a claim that the caller may not see.
    if !matches!(visibility, Visibility::All) {
        entries.retain(|it| it.change.conflict().is_none());
    }
    health::tell_health(
        cx,
        entries.iter_mut().filter_map(|it| it.change.stored_mut()),
    );
    entries.iter_mut().for_each(names::fill_shown_names);
    served::note_shown(cx, entries.iter().filter_map(|it| it.change.stored()))?;
    Ok(entries)
}

/// A page of the feed, without entries that reveal what the caller may not see.
pub(crate) fn feed_page(cx: &Context<'_>, feed: &Feed) -> Result<FeedPage, Refusal> {
    if feed.limit == Some(0) {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            "a page of the feed has 1 to 1,000 entries, not 0",
            "Ask for at least one entry.",
        ));
    }
    let (project, visibility, worktree) = (cx.project()?, cx.visibility()?, cx.worktree()?);
    let now = cx.engine.world.now();
    let is_past = feed.filter.held_at.is_some();
    let mut page = cx.engine.store.read::<_, Refusal>(|tx| {
        let (entries, next) = tx.feed(project, &worktree, feed, now)?;
        let mut seen = Vec::with_capacity(entries.len());
        for entry in entries {
            let is_seen = match entry.change.conflict() {
                Some(id) => list::may_see_conflict(cx, tx, id, &visibility, entry.seq)?,
                None => may_see_entry(tx, project, &visibility, &worktree, &entry)?,
            };
            if is_seen {
                seen.push(entry);
            }
        }
        Ok(FeedPage {
            next,
            ..page_of(cx, tx, seen, is_past)?
        })
    })?;
    fill_health(cx, &mut page, is_past);
    let stored = page.entries.iter();
    served::note_shown(cx, stored.filter_map(|it| it.change.stored()))?;
    Ok(page)
}

/// A page of these entries, with what is known now about the engrams that they stored.
pub(crate) fn page_of(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    mut entries: Vec<Entry>,
    is_past: bool,
) -> Result<FeedPage, Refusal> {
    entries.iter_mut().for_each(names::fill_shown_names);
    let visibility = cx.visibility()?;
    let (mut replaced, mut undone) = (Vec::new(), Vec::new());
    for told in entries.iter_mut().filter_map(|it| it.change.stored_mut()) {
        if is_past {
            // Later corroborations were not known at that time.
            told.figures = Figures::default();
        } else if told.valid_until.is_none() {
            fill_question(tx, &visibility, told)?;
        } else if let Some(newer) = tx.successor(told.lineage_id, told.seq)? {
            let restores = tx.engram(newer)?.and_then(|it| it.restores);
            if restores.is_some() && restores == told.supersedes {
                undone.push(told.id);
            } else {
                replaced.push((told.id, newer));
            }
        }
    }
    if !is_past {
        let stored = entries.iter_mut();
        list::tell_conflicts(cx, tx, stored.filter_map(|it| it.change.stored_mut()))?;
    }
    let (project, now) = (cx.project()?, cx.engine.world.now());
    Ok(FeedPage {
        entries,
        next: None,
        head: tx.head()?,
        engrams: tx.count_engrams(project, now)?.holding,
        replaced,
        undone,
    })
}

/// Adds the state of the evidence, which is known only for now.
pub(crate) fn fill_health(cx: &Context<'_>, page: &mut FeedPage, is_past: bool) {
    if !is_past {
        let stored = page.entries.iter_mut();
        health::tell_health(cx, stored.filter_map(|it| it.change.stored_mut()));
    }
}

/// How many engrams each value of a filter would leave.
pub(crate) fn count_unsearched_facets(
    cx: &Context<'_>,
    filter: &Filter,
) -> Result<Facets, Refusal> {
    let (project, worktree) = (cx.project()?, cx.worktree()?);
    let (store, now) = (&cx.engine.store, cx.engine.world.now());
    store.read(|tx| Ok(tx.facets(project, &worktree, filter, now)?))
}

/// The window's view. Only the user has a window, so nothing is metered.
pub(crate) fn view_source(cx: &Context<'_>, asked: SourceView) -> Result<SourceReply, Refusal> {
    let how = View {
        context: asked.context,
        soon: asked.soon,
    };
    view_pointer(cx, asked.pointer, |repo, shelf, pointer| {
        engram_pointers::source(repo, shelf, pointer, how)
    })
}

pub(crate) fn view_line(cx: &Context<'_>, asked: LineView) -> Result<LineReply, Refusal> {
    view_pointer(cx, asked.pointer, |repo, shelf, pointer| {
        engram_pointers::line(repo, shelf, pointer, asked.number, asked.from)
    })
}

/// Answers a question of the window about a pointer.
pub(crate) fn view_pointer<T>(
    cx: &Context<'_>,
    pointer: PointerInput,
    ask: impl FnOnce(Option<&Repo>, &dyn Shelf, &Pointer) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let pointer = Pointer::try_from(pointer)?;
    let repo = gather::repo_for(cx, &pointer)?;
    let project = match repo {
        Some(_) => cx.known_project()?,
        None => Some(project::home_project(&cx.engine.store)),
    };
    ask(repo, &cx.shelf(project)?, &pointer)
}

/// Whether the caller may see an entry. An entry that reveals a hidden claim is hidden too.
fn may_see_entry(
    tx: &Reader<'_>,
    project: ProjectId,
    visibility: &Visibility,
    worktree: &str,
    entry: &Entry,
) -> Result<bool, Refusal> {
    let about = match &entry.change {
        Change::Stored(engram) => return may_see_version(tx, visibility, engram),
        // The state of evidence in another working tree does not matter in this one.
        Change::Anchored { worktree: of, .. } if of != worktree => return Ok(false),
        _ if matches!(visibility, Visibility::All) => return Ok(true),
        Change::Between { .. } => return Ok(false),
        Change::Anchored { engrams, .. } => {
            for of in engrams {
                if tx.engram(of.id)?.is_some_and(|it| !visibility.may_see(&it)) {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        Change::Noted { pointer, .. } => {
            return may_see_event(tx, project, visibility, pointer, Some(entry.seq));
        }
        Change::Dereferenced { pointer, .. } => {
            return may_see_event(tx, project, visibility, pointer, None);
        }
        other => match other.engram() {
            Some(id) => tx.engram(id)?,
            None => None,
        },
    };
    about.map_or(Ok(true), |engram| may_see_version(tx, visibility, &engram))
}

/// Whether the caller may see an event of making a claim at this address: the one at `place`, or
/// any. The event repeats the claim, and authors who say the same share an address. True for every
/// other pointer.
fn may_see_event(
    tx: &Reader<'_>,
    project: ProjectId,
    visibility: &Visibility,
    pointer: &str,
    place: Option<u64>,
) -> Result<bool, Refusal> {
    let events = match pointer.parse::<Pointer>().map(|it| it.target) {
        Ok(Target::Sam { kind, slug, date }) if kind == OWN_EVENT => match place {
            Some(place) => vec![place],
            None => tx.events().at_address(project, &kind, &slug, date)?,
        },
        _ => return Ok(true),
    };
    for event in events {
        let said = claim_of_event(tx, event)?;
        if let Some(engram) = said
            && may_see_version(tx, visibility, &engram)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
