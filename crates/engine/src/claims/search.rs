//! The window's search: the claims that answer a question best first, as a query finds them, and
//! those that contain its text as typed. The rest of the list's filter holds for all of them.

use std::{collections::HashSet, ops::Range};

use engram_model::{
    AnswerQuality, Code, Engram, Facets, Filter, Query, Refusal, Search, SearchReply,
    literal_marks, marks, merge_marks,
};

use crate::{
    asking::query::{self, RankedEngrams},
    claims::read,
    context::Context,
};

/// The most engrams that a search lists.
const MAX_RESULTS: usize = 200;
/// The most versions that contain the text and are counted.
const COUNTED: usize = 1_000;

pub(crate) fn search_list(cx: &Context<'_>, search: &Search) -> Result<SearchReply, Refusal> {
    let filter = &search.filter;
    let limit = search.limit.unwrap_or(MAX_RESULTS);
    if limit == 0 || limit > MAX_RESULTS || filter.search_words().is_empty() {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("a search needs words, and returns 1 to {MAX_RESULTS} engrams"),
            "Give words in the filter's text, and ask for fewer engrams.",
        ));
    }
    let (project, worktree) = (cx.project()?, cx.worktree()?);
    let now = cx.engine.world.now();
    let conditions = filter.without_text();
    let ranking = query::rank_versions(cx, &query_of(filter), limit, |tx, seqs| {
        Ok(tx.admitted_versions(project, &worktree, &conditions, now, seqs)?)
    })?;
    let is_past = filter.held_at.is_some();
    let (containing, order, mut page) = cx.engine.store.read::<_, Refusal>(|tx| {
        let containing = tx.versions_containing(project, &worktree, filter, now, COUNTED)?;
        let order = order_found(&ranking, &containing);
        let entries = tx.stored_entries(order.get(..limit).unwrap_or(&order))?;
        let page = read::page_of(cx, tx, entries, is_past)?;
        Ok((containing, order, page))
    })?;
    read::fill_health(cx, &mut page, is_past);
    let verdict = match (containing.is_empty(), ranking.ranked.first()) {
        (false, _) => AnswerQuality::Strong,
        (true, Some(best)) if best.is_strong => AnswerQuality::Strong,
        (true, Some(_)) => AnswerQuality::Weak,
        (true, None) => AnswerQuality::None,
    };
    let as_typed: HashSet<u64> = containing.into_iter().collect();
    let found = page.entries.iter().filter_map(|it| it.change.stored());
    let marks = found.map(|engram| {
        let is_as_typed = as_typed.contains(&engram.seq);
        (engram.id, marks_of(engram, &ranking, filter, is_as_typed))
    });
    Ok(SearchReply {
        verdict,
        omitted: Some(order.len().saturating_sub(limit) as u64).filter(|it| *it > 0),
        unread: ranking.unread,
        marks: marks.filter(|(_, marks)| !marks.is_empty()).collect(),
        page,
    })
}

/// How many engrams each value of a filter would leave; of a filter with words, among those that a
/// search finds.
pub(crate) fn count_facets(cx: &Context<'_>, filter: &Filter) -> Result<Facets, Refusal> {
    if filter.search_words().is_empty() {
        return read::count_unsearched_facets(cx, filter);
    }
    let (project, worktree) = (cx.project()?, cx.worktree()?);
    let now = cx.engine.world.now();
    let words = Filter {
        text: filter.text.clone(),
        held_at: filter.held_at,
        ..Filter::default()
    };
    let conditions = filter.without_text();
    let ranking = query::rank_versions(cx, &query_of(filter), 0, |_, seqs| {
        Ok(seqs.iter().copied().collect())
    })?;
    cx.engine.store.read::<_, Refusal>(|tx| {
        let containing = tx.versions_containing(project, &worktree, &words, now, COUNTED)?;
        let is_partial = ranking.is_partial || containing.len() == COUNTED;
        let found = order_found(&ranking, &containing);
        let counts = tx.facets_among(project, &worktree, &conditions, now, &found)?;
        Ok(Facets {
            partial: is_partial,
            ..counts
        })
    })
}

fn query_of(filter: &Filter) -> Query {
    Query {
        text: filter.text.clone(),
        as_of: filter.held_at,
        include_ephemeral: true,
        ..Query::default()
    }
}

/// The order of what was found: as a query ranks it, then what only contains the text. If nothing
/// has every word of the question, the text may be a part of a name, so what contains it comes
/// first.
fn order_found(ranking: &RankedEngrams, containing: &[u64]) -> Vec<u64> {
    let ranked = ranking.ranked.iter().map(|it| it.seq);
    let is_complete = ranking.ranked.iter().any(|it| it.complete);
    let as_typed: HashSet<u64> = containing.iter().copied().collect();
    let (first, others): (Vec<u64>, Vec<u64>) =
        ranked.partition(|seq| is_complete || as_typed.contains(seq));
    let mut seen = HashSet::new();
    let all = first.iter().chain(containing).chain(&others).copied();
    all.filter(|seq| seen.insert(*seq)).collect()
}

/// Where the claim contains what was searched for.
fn marks_of(
    engram: &Engram,
    ranking: &RankedEngrams,
    filter: &Filter,
    is_as_typed: bool,
) -> Vec<Range<usize>> {
    let terms = &ranking.terms;
    let exact = [&*terms.exact, &*terms.numbers].concat();
    let mut all = marks(&engram.claim, &terms.words, &exact);
    if is_as_typed {
        all.extend(literal_marks(&engram.claim, &filter.search_words()));
    }
    merge_marks(all)
}
