//! Query: recalls candidates by their keys, scans what the index has not read, ranks, and rates the
//! result.

use std::{cmp::Reverse, collections::HashSet, sync::Arc};

use crate::{
    agents::served,
    asking::{
        by_embedding::{self, nearest_claims},
        candidates::CandidateRules,
        keys::{VersionKeys, hash_of_key},
        meaning::{AskedMeaning, MeaningCompared},
        rank::{
            self, FLOOR, RankedEngram, TermWeights, count_terms, respelled_terms, unknown_spellings,
        },
        track_record::{self, TrackRecord},
    },
    conflicts::{list, risks::may_see_all},
    context::{Context, visibility::Visibility},
    evidence::health,
};
use engram_model::{
    AnswerQuality, Code, Durability, Engram, HashKeys, Kind, ProjectId, Query, QueryReply, Refusal,
    Sign, Spelling, hash_keys, is_on_topic, spellings,
};
use engram_store::{IndexQuery, Reader, SearchTerms, StoreError, Traits};
use jiff::Timestamp;

/// The longest accepted query, in characters; claims have at most 500.
const MAX_QUESTION: usize = 2_000;
/// The most entries after the index's cursor that a query reads.
const TAIL: usize = 20_000;
/// The most candidates for a list.
const MAX_CANDIDATES: usize = 1_000;
/// The floor for similar claims: they may share little more than their subject, whose words may be
/// common.
const ALIKE: f64 = 0.02;

/// Answers a question with the claims that match best; without words, with the newest claims.
pub(crate) fn search(cx: &Context<'_>, query: &Query) -> Result<QueryReply, Refusal> {
    let limit = result_limit(cx, query)?;
    let project = cx.project()?;
    let filter = QueryFilter {
        visibility: cx.visibility()?,
        now: cx.engine.world.now(),
        query,
        asked: AskedMeaning::of(cx, project, &query.text),
        with_below: true,
        with_ended: false,
        floor: FLOOR,
        candidates: cx.engine.config.limits.recall_candidates,
    };
    if let Some(reference) = &query.embedding_ref {
        return nearest_claims(cx, reference, &filter);
    }
    let keys = hash_keys(&query.text, &[], "", &[]);
    if keys == HashKeys::default() {
        return newest_claims(cx, project, &filter, limit);
    }
    let terms = terms_of(&keys);
    let look = look_into_index(cx, project, &terms);
    let mut recalled = cx
        .engine
        .store
        .read::<_, Refusal>(|tx| recall(cx, tx, project, &look, &terms, &query.text, &filter))?;
    order_first(cx, &filter, &keys, &mut recalled.ranked, limit)?;
    rank::thin_out(&mut recalled.ranked, limit);
    let mut reply = query_reply(recalled, limit);
    reply.embedded_by = filter.asked.model().map(str::to_owned);
    let engrams = &mut reply.engrams;
    cx.engine.store.read::<_, Refusal>(|tx| {
        if query.as_of.is_none() {
            list::tell_conflicts(cx, tx, engrams.iter_mut())?;
        }
        by_embedding::fill_references(tx, engrams)
    })?;
    served::note_found(cx, &reply.engrams)?;
    Ok(reply)
}

/// Ranks the versions that `narrow` leaves, for a list: those that hold and those that have ended.
/// The first `limit` (at most as many as a query returns) are in the order of a query's answer;
/// those that have ended come last.
pub(crate) fn rank_versions(
    cx: &Context<'_>,
    query: &Query,
    limit: usize,
    narrow: impl Fn(&Reader<'_>, &[u64]) -> Result<HashSet<u64>, Refusal>,
) -> Result<RankedEngrams, Refusal> {
    refuse_long(query)?;
    let project = cx.project()?;
    let filter = QueryFilter {
        visibility: cx.visibility()?,
        now: cx.engine.world.now(),
        query,
        asked: AskedMeaning::of(cx, project, &query.text),
        with_below: true,
        with_ended: query.as_of.is_none(),
        floor: FLOOR,
        candidates: MAX_CANDIDATES,
    };
    let keys = hash_keys(&query.text, &[], "", &[]);
    if keys == HashKeys::default() {
        return Ok(RankedEngrams::default());
    }
    let terms = terms_of(&keys);
    let look = look_into_index(cx, project, &terms);
    let mut recalled = cx.engine.store.read::<_, Refusal>(|tx| {
        let mut recalled = recall(cx, tx, project, &look, &terms, &query.text, &filter)?;
        let seqs: Vec<u64> = recalled.ranked.iter().map(|it| it.seq).collect();
        let left = narrow(tx, &seqs)?;
        recalled.ranked.retain(|it| left.contains(&it.seq));
        Ok(recalled)
    })?;
    let ranked = std::mem::take(&mut recalled.ranked);
    let (mut ranked, mut ended): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|it| it.holds);
    let limit = limit.min(cx.engine.config.limits.query_max);
    order_first(cx, &filter, &keys, &mut ranked, limit)?;
    let room = limit.saturating_sub(ranked.len());
    order_first(cx, &filter, &keys, &mut ended, room)?;
    ranked.extend(ended);
    Ok(RankedEngrams { ranked, ..recalled })
}

/// Puts the first `limit` into their final order.
fn order_first(
    cx: &Context<'_>,
    filter: &QueryFilter<'_>,
    keys: &HashKeys,
    ranked: &mut Vec<RankedEngram>,
    limit: usize,
) -> Result<(), Refusal> {
    let (store, project) = (&cx.engine.store, cx.project()?);
    let is_past = filter.query.as_of.is_some();
    // Some candidates beyond the limit may move up.
    let near = match filter.query.as_of {
        Some(_) => limit,
        None => limit.saturating_mul(2),
    };
    store.read::<_, Refusal>(|tx| sort_first(tx, ranked, keys, near))?;
    // Lowering some lets others move up, so this repeats until everything that is returned was
    // weighed.
    let has_unweighed =
        |ranked: &[RankedEngram]| ranked.iter().take(limit).any(|it| !it.is_weighed);
    while !is_past && has_unweighed(ranked) {
        let lost = store.read::<_, Refusal>(|tx| track_record::track_records(cx, tx, project))?;
        weigh_down(cx, ranked, near, &lost);
        store.read::<_, Refusal>(|tx| sort_first(tx, ranked, keys, limit))?;
    }
    Ok(())
}

/// The claims that hold on this exact topic and share words with `claim`, most similar first.
pub(crate) fn similar_claims(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    visibility: &Visibility,
    claim: &str,
    topic: &str,
) -> Result<Vec<Engram>, Refusal> {
    let query = Query {
        topic: Some(topic.to_owned()),
        include_ephemeral: true,
        ..Query::default()
    };
    let filter = QueryFilter {
        visibility: visibility.clone(),
        now: cx.engine.world.now(),
        query: &query,
        asked: AskedMeaning::in_words(claim),
        with_below: false,
        with_ended: false,
        floor: ALIKE,
        candidates: cx.engine.config.limits.recall_candidates,
    };
    let terms = terms_of(&hash_keys(claim, &[], "", &[]));
    let look = look_into_index(cx, project, &terms);
    let mut ranked = recall(cx, tx, project, &look, &terms, "", &filter)?.ranked;
    ranked.sort_by(RankedEngram::cmp_roughly);
    ranked.truncate(cx.engine.config.limits.recall_candidates);
    Ok(tx.engrams_at(ranked.iter().map(|it| it.seq))?)
}

/// Ranks claims lower if their evidence changed, or if their agent lost in conflicts. Covers the
/// first `near` candidates.
fn weigh_down(cx: &Context<'_>, ranked: &mut [RankedEngram], near: usize, lost: &TrackRecord) {
    let mut fresh: Vec<&mut RankedEngram> = ranked
        .iter_mut()
        .take(near)
        .filter(|it| !it.is_weighed && it.engram.is_some())
        .collect();
    let read = fresh.iter_mut().filter_map(|it| it.engram.take());
    let mut engrams: Vec<Engram> = read.collect();
    health::tell_health_now(cx, &mut engrams);
    for (ranked, engram) in fresh.into_iter().zip(engrams) {
        let trust = lost.weight(&engram);
        ranked.weigh(engram, trust);
    }
}

/// How many engrams to return.
pub(crate) fn result_limit(cx: &Context<'_>, query: &Query) -> Result<usize, Refusal> {
    let limits = &cx.engine.config.limits;
    let limit = query.k.unwrap_or(limits.query_limit);
    if limit == 0 || limit > limits.query_max {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!(
                "a query returns 1 to {} engrams, not {limit}",
                limits.query_max
            ),
            if limit == 0 {
                "Ask for at least one, or leave the number out."
            } else {
                "Ask for fewer, or narrow the query by topic or kind."
            },
        ));
    }
    refuse_long(query)?;
    Ok(limit)
}

fn refuse_long(query: &Query) -> Result<(), Refusal> {
    if query.text.chars().count() > MAX_QUESTION {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("the query is longer than {MAX_QUESTION} characters"),
            "Ask in one sentence, using the names that matter.",
        ));
    }
    Ok(())
}

/// Returns the weight of each term and the versions that may answer: candidates from the index,
/// more and more until enough pass the filter, and everything that the index has not read.
///
/// A version counts the same on either side of the index's cursor, so the answer does not depend on
/// how far the index has read.
fn recall(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    found_by: &Option<IndexQuery>,
    terms: &SearchTerms,
    text: &str,
    filter: &QueryFilter<'_>,
) -> Result<RankedEngrams, Refusal> {
    let indexed = found_by.as_ref().map_or(0, IndexQuery::indexed);
    let (tail, older) = tx.traits_after(project, indexed, TAIL)?;
    let tail = tail_keys(cx, tx, tail)?;
    let mut found = found_by
        .as_ref()
        .map(IndexQuery::frequencies)
        .unwrap_or_default();
    for (_, keys) in &tail {
        count_terms(keys, terms, &mut found);
    }
    let spellings = if found.words.contains(&0) {
        spellings(text)
    } else {
        Vec::new()
    };
    let unknown = unknown_spellings(terms, &found, &spellings);
    if !unknown.is_empty() {
        let signs = count_signs(cx, project, &unknown, &tail);
        if let Some(terms) = respelled_terms(terms, &unknown, &signs) {
            let again = look_into_index(cx, project, &terms);
            return recall(cx, tx, project, &again, &terms, "", filter);
        }
    }
    let meaning = MeaningCompared::new(tx, &filter.asked)?;
    let weights = TermWeights::new(terms, &found, filter.floor, meaning.most());
    let rules = CandidateRules {
        tx,
        filter,
        weights,
        meaning,
    };
    let mut unread = Vec::new();
    for (traits, keys) in &tail {
        let found = rules.weights.match_version(traits.seq, keys);
        unread.extend(rules.by_words(&found, traits)?);
    }
    let wanted = filter.candidates;
    let mut limit = wanted;
    loop {
        let found = match found_by {
            None => Vec::new(),
            Some(look) => match look.search(rules.weights.worth(), limit) {
                Ok(found) => found,
                // Without the index, everything is scanned; the next process that opens it rebuilds
                // it.
                Err(error) => {
                    cx.engine.delete_failed_index(&error);
                    return recall(cx, tx, project, &None, terms, "", filter);
                }
            },
        };
        // Noise takes up room among the `wanted`. If there is room for all, it need not be read.
        let is_few = found.len() < limit && found.len() + unread.len() <= wanted;
        // The tail covers versions stored after the index's cursor.
        let known = found.iter().filter(|it| it.seq <= indexed);
        let mut ranked = rules.of_index(known, is_few)?;
        if found.len() < limit || ranked.len() >= wanted || limit > 100_000 {
            ranked.extend(unread);
            ranked.sort_by_key(|it| Reverse(it.place));
            ranked.truncate(wanted);
            rules.add_nearest(&mut ranked)?;
            return Ok(RankedEngrams {
                ranked: ranked.into_iter().filter_map(|it| it.ranked).collect(),
                terms: terms.clone(),
                unread: Some(older).filter(|it| *it > 0),
                is_partial: found.len() >= limit,
            });
        }
        limit *= 8;
    }
}

/// How many versions contain each of these spellings.
fn count_signs(
    cx: &Context<'_>,
    project: ProjectId,
    spellings: &[&Spelling],
    tail: &[(Traits, Arc<VersionKeys>)],
) -> Vec<u64> {
    let mut signs = SearchTerms::default();
    for spelling in spellings {
        match &spelling.sign {
            Sign::Word(word) => signs.words.push(word.clone()),
            Sign::Gram(gram) => signs.grams.push(gram.clone()),
        }
    }
    let look = look_into_index(cx, project, &signs);
    let found = look.map(|it| it.frequencies()).unwrap_or_default();
    let (mut words, mut grams) = (found.words.into_iter(), found.grams.into_iter());
    let count = |spelling: &&Spelling| match &spelling.sign {
        Sign::Word(word) => {
            let has = |(_, keys): &&(Traits, Arc<VersionKeys>)| keys.has_word(hash_of_key(word));
            words.next().unwrap_or(0) + tail.iter().filter(has).count() as u64
        }
        Sign::Gram(gram) => {
            let has = |(_, keys): &&(Traits, Arc<VersionKeys>)| keys.has_gram(hash_of_key(gram));
            grams.next().unwrap_or(0) + tail.iter().filter(has).count() as u64
        }
    };
    spellings.iter().map(count).collect()
}

/// Versions that the index has not read, with their keys; without erased ones.
fn tail_keys(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    tail: Vec<Traits>,
) -> Result<Vec<(Traits, Arc<VersionKeys>)>, Refusal> {
    let mut found = Vec::with_capacity(tail.len());
    for traits in tail.into_iter().filter(|it| !it.redacted) {
        let keys = cx.engine.caches.keys.keys_at(traits.seq, || {
            Ok::<_, StoreError>(tx.engrams_at([traits.seq])?.pop())
        })?;
        found.extend(keys.map(|keys| (traits, keys)));
    }
    Ok(found)
}

/// The current index. If it fails, it is rebuilt; until then everything is scanned.
fn look_into_index(
    cx: &Context<'_>,
    project: ProjectId,
    terms: &SearchTerms,
) -> Option<IndexQuery> {
    let index = cx.engine.index()?;
    index
        .query(project, terms)
        .inspect_err(|error| cx.engine.delete_failed_index(error))
        .ok()
}

/// Answers a question without words: returns the newest engrams.
fn newest_claims(
    cx: &Context<'_>,
    project: ProjectId,
    filter: &QueryFilter<'_>,
    limit: usize,
) -> Result<QueryReply, Refusal> {
    let store = &cx.engine.store;
    let mut engrams = store.read::<_, Refusal>(|tx| {
        let mut engrams = match filter.query.as_of {
            Some(at) => tx.newest_held_at(project, at, TAIL)?,
            None => tx.newest_holding(project, filter.now, None, TAIL)?,
        };
        engrams.retain(|engram| filter.admits(tx, &Traits::from(engram)));
        Ok(engrams)
    })?;
    let omitted = count_beyond(limit, engrams.len());
    engrams.truncate(limit);
    if filter.query.as_of.is_none() {
        health::tell_health_now(cx, &mut engrams);
        store.read::<_, Refusal>(|tx| list::tell_conflicts(cx, tx, engrams.iter_mut()))?;
    }
    served::note_shown(cx, &engrams)?;
    Ok(QueryReply {
        verdict: if engrams.is_empty() {
            AnswerQuality::None
        } else {
            AnswerQuality::Weak
        },
        relaxed: true,
        unread: None,
        omitted,
        embedded_by: None,
        engrams,
        near: None,
    })
}

fn terms_of(keys: &HashKeys) -> SearchTerms {
    SearchTerms {
        exact: keys.names().cloned().collect(),
        words: keys.words.clone(),
        numbers: keys.numbers.clone(),
        grams: keys.grams.clone(),
    }
}

/// Puts the first `count` into their final order. Some places depend on the records, so this reads
/// the records of the first `count` and of those that tie with the last.
fn sort_first(
    tx: &Reader<'_>,
    ranked: &mut Vec<RankedEngram>,
    keys: &HashKeys,
    count: usize,
) -> Result<(), Refusal> {
    ranked.sort_by(RankedEngram::cmp_roughly);
    let is_tied = |at: usize| ranked[at].cmp_roughly(&ranked[at - 1]).is_eq();
    let mut end = count.min(ranked.len());
    while (1..ranked.len()).contains(&end) && is_tied(end) {
        end += 1;
    }
    let rest = ranked.split_off(end);
    for ranked in ranked.iter_mut().filter(|it| it.engram.is_none()) {
        if let Some(engram) = tx.engrams_at([ranked.seq])?.pop() {
            ranked.add_record(engram, keys);
        }
    }
    // Drops unreadable versions, so that they do not hide the others.
    ranked.retain(|it| it.engram.is_some());
    ranked.sort_by(RankedEngram::cmp_exactly);
    ranked.extend(rest);
    Ok(())
}

/// The candidates for an answer.
#[derive(Default)]
pub(crate) struct RankedEngrams {
    pub(crate) ranked: Vec<RankedEngram>,
    /// The terms by which they were found.
    pub(crate) terms: SearchTerms,
    /// Versions that were not searched.
    pub(crate) unread: Option<u64>,
    /// Whether there may be more.
    pub(crate) is_partial: bool,
}

/// The conditions of a query.
pub(crate) struct QueryFilter<'a> {
    pub(crate) visibility: Visibility,
    /// The clock.
    pub(crate) now: Timestamp,
    pub(crate) query: &'a Query,
    /// What the question means.
    asked: AskedMeaning,
    /// Whether topics below the given one pass too.
    with_below: bool,
    /// Whether versions that no longer hold pass too.
    with_ended: bool,
    /// The least share of the question's weight that passes.
    floor: f64,
    /// How many candidates are enough.
    candidates: usize,
}

impl QueryFilter<'_> {
    /// Whether a version passes. Reports of conflicts pass only if the query asks for risks,
    /// because each claim already lists its conflicts. A risk that may be an unreadable report
    /// passes only for callers who may see everything.
    pub(crate) fn admits(&self, tx: &Reader<'_>, traits: &Traits) -> bool {
        if !self.passes(traits) {
            return false;
        }
        if traits.kind != Kind::Risk {
            return true;
        }
        // A report needs both sides visible to the caller, and a query for risks.
        let report = tx.reported_at(traits.seq).map_err(Refusal::from);
        let admitted = report.and_then(|report| match report {
            Some(report) if self.query.kind.is_some() => {
                may_see_all(tx, &self.visibility, &report.found)
            }
            report => Ok(report.is_none()),
        });
        admitted.unwrap_or_else(|refusal| {
            let seq = traits.seq;
            tracing::warn!(seq, %refusal, "cannot read whether a risk reports a conflict");
            matches!(self.visibility, Visibility::All)
        })
    }

    /// Whether the caller may see it.
    pub(crate) fn shows(&self, traits: &Traits) -> bool {
        self.visibility
            .may_see_of(traits.project, traits.scope, traits.run, &traits.topic)
    }

    fn passes(&self, traits: &Traits) -> bool {
        let query = self.query;
        let topic = query.topic.as_deref();
        !traits.redacted
            && self.shows(traits)
            && match query.as_of {
                Some(at) => traits.holds_at(at),
                None => self.with_ended || traits.holds_now(self.now),
            }
            && query.scope.is_none_or(|scope| traits.scope == scope)
            && query.kind.is_none_or(|kind| traits.kind == kind)
            && query
                .fact_type
                .is_none_or(|known| traits.fact_type == known)
            && (query.include_ephemeral || traits.durability == Durability::Durable)
            && topic.is_none_or(|topic| {
                if self.with_below {
                    is_on_topic(&traits.topic, topic)
                } else {
                    traits.topic == topic
                }
            })
    }
}

/// Adds scores. An engram with more of the requested names ranks before one with more of the words,
/// so each score is capped at that of the engram before it.
fn with_scores(ranked: impl Iterator<Item = RankedEngram>) -> Vec<Engram> {
    let mut least = 1.0_f64;
    let scored = ranked.filter_map(|answer| {
        least = least.min(answer.score());
        let score = Some(least);
        answer.engram.map(|it| Engram { score, ..it })
    });
    scored.collect()
}

/// How many matches are beyond the limit; `None` if none.
fn count_beyond(limit: usize, matched: usize) -> Option<u64> {
    matched
        .checked_sub(limit)
        .filter(|it| *it > 0)
        .map(|it| it as u64)
}

fn query_reply(recalled: RankedEngrams, limit: usize) -> QueryReply {
    let ranked = recalled.ranked;
    // A to-do asks a question; it does not answer one.
    let answers = |it: &&RankedEngram| it.engram.as_ref().is_none_or(|it| it.kind != Kind::Todo);
    let verdict = match ranked.iter().find(answers) {
        Some(best) if best.is_strong => AnswerQuality::Strong,
        _ if ranked.is_empty() => AnswerQuality::None,
        _ => AnswerQuality::Weak,
    };
    QueryReply {
        verdict,
        relaxed: !ranked.iter().any(|it| it.complete),
        unread: recalled.unread,
        omitted: count_beyond(limit, ranked.len()),
        embedded_by: None,
        engrams: with_scores(ranked.into_iter().take(limit)),
        near: None,
    }
}
