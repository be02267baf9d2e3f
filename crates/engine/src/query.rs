//! Query: recall by keys, look at what the index has not read, rank, and say how good it is.

use std::collections::HashSet;

use engram_model::{
    Caller, Code, Durability, Engram, HashKeys, ProjectId, Query, QueryReply, Refusal, Verdict,
    hash_keys, is_on_topic,
};
use engram_store::{Frequencies, Look, StoreError, Terms};
use jiff::Timestamp;

use crate::{
    context::Context,
    eyes::Eyes,
    rank::{Ranked, Weights, count_terms, rank, reorder},
};

/// Longest question that is looked at, in characters; claims are 500.
const LONGEST: usize = 2_000;
/// Most entries that a query reads behind the index.
const TAIL: usize = 20_000;

impl Context<'_> {
    pub(crate) fn search(&self, query: &Query) -> Result<QueryReply, Refusal> {
        let limit = self.most(query)?;
        let project = self.project()?;
        let filter = Filter {
            eyes: self.eyes()?,
            at: match query.as_of {
                Some(at) => at,
                None => self.now()?,
            },
            query,
        };
        let keys = hash_keys(&query.text, &[], "", &[]);
        if keys == HashKeys::default() {
            return self.newest(project, &filter, limit);
        }
        let terms = Terms {
            exact: keys.exact().cloned().collect(),
            words: keys.words.clone(),
            grams: keys.grams.clone(),
        };
        let recalled = self.recall(project, terms, &filter)?;
        let mut ranked = rank(
            recalled.engrams,
            &keys,
            &recalled.weights,
            filter.eyes.run(),
            &self.engine.keys,
        );
        if query.as_of.is_none() {
            self.weigh_health(&mut ranked, limit);
        }
        let mut reply = QueryReply {
            unread: recalled.unread,
            ..answer(ranked, limit)
        };
        reply.engrams.iter_mut().for_each(Engram::derive_keys);
        if *self.caller != Caller::User {
            self.engine.count_hits(reply.engrams.iter().map(|it| it.id));
        }
        Ok(reply)
    }

    /// Claims whose evidence changed rank lower than others like them: among those that would be
    /// returned, and as many behind them.
    fn weigh_health(&self, ranked: &mut [Ranked], limit: usize) {
        let near = ranked.len().min(limit.saturating_mul(2));
        let mut engrams: Vec<Engram> = ranked[..near].iter().map(|it| it.engram.clone()).collect();
        self.tell_health_now(&mut engrams);
        for (ranked, engram) in ranked.iter_mut().zip(engrams) {
            ranked.weigh(engram.health);
        }
        reorder(ranked);
    }

    /// How many engrams to return.
    fn most(&self, query: &Query) -> Result<usize, Refusal> {
        let limits = &self.engine.config.limits;
        let limit = query.k.unwrap_or(limits.query_limit);
        if limit == 0 || limit > limits.query_max {
            return Err(Refusal::new(
                Code::SchemaInvalid,
                format!(
                    "a query returns 1 to {} engrams, not {limit}",
                    limits.query_max
                ),
                "Ask for fewer, or narrow the question by topic or kind.",
            ));
        }
        if query.text.chars().count() > LONGEST {
            return Err(Refusal::new(
                Code::SchemaInvalid,
                format!("the question is longer than {LONGEST} characters"),
                "Ask in one sentence, with the names that matter.",
            ));
        }
        Ok(limit)
    }

    /// What each term weighs, and the versions that may answer: candidates of the index, widened
    /// until enough pass the filter, and all that it has not read.
    ///
    /// A version counts the same on either side of the index's cursor, so that the answer does not
    /// depend on how far the index has read.
    fn recall(
        &self,
        project: ProjectId,
        terms: Terms,
        filter: &Filter<'_>,
    ) -> Result<Recalled, Refusal> {
        let (look, mut frequencies) = self.look(project, &terms)?;
        let indexed = look.as_ref().map_or(0, Look::indexed);
        let (tail, older) = self
            .engine
            .store
            .read::<_, StoreError>(|it| it.engrams_after(project, indexed, TAIL))?;
        count_terms(&tail, &terms, &mut frequencies, &self.engine.keys);
        let weights = Weights::new(&terms, &frequencies);
        let worth = weights.worth();
        let wanted = self.engine.config.limits.recall_candidates;
        let mut limit = wanted;
        loop {
            let seqs = match &look {
                Some(look) => look.search(&terms, &worth, limit)?,
                None => Vec::new(),
            };
            let unread: HashSet<u64> = tail.iter().map(|engram| engram.seq).collect();
            let mut engrams = self.engine.store.read::<_, StoreError>(|it| {
                it.engrams_at(seqs.iter().copied().filter(|seq| !unread.contains(seq)))
            })?;
            engrams.extend(tail.iter().cloned());
            engrams.retain(|engram| filter.passes(engram));
            if seqs.len() < limit || engrams.len() >= wanted || limit > 100_000 {
                return Ok(Recalled {
                    weights,
                    engrams,
                    unread: Some(older).filter(|it| *it > 0),
                });
            }
            limit *= 8;
        }
    }

    /// The index as it is now. One that fails is opened anew next time; meanwhile all is read by
    /// scan.
    fn look(
        &self,
        project: ProjectId,
        terms: &Terms,
    ) -> Result<(Option<Look>, Frequencies), Refusal> {
        let Some(index) = self.engine.index() else {
            return Ok((None, Frequencies::default()));
        };
        let looked = index.look(project).and_then(|look| {
            let frequencies = look.frequencies(terms)?;
            Ok((Some(look), frequencies))
        });
        Ok(looked.unwrap_or_else(|error| {
            self.engine.close_index(&error);
            (None, Frequencies::default())
        }))
    }

    /// A question without words: what is newest.
    fn newest(
        &self,
        project: ProjectId,
        filter: &Filter<'_>,
        limit: usize,
    ) -> Result<QueryReply, Refusal> {
        let mut engrams = self
            .engine
            .store
            .read::<_, Refusal>(|it| Ok(it.newest_holding(project, filter.at, None, TAIL)?))?;
        engrams.retain(|engram| filter.passes(engram));
        engrams.truncate(limit);
        engrams.iter_mut().for_each(Engram::derive_keys);
        if filter.query.as_of.is_none() {
            self.tell_health_now(&mut engrams);
        }
        Ok(QueryReply {
            verdict: match engrams.is_empty() {
                true => Verdict::None,
                false => Verdict::Weak,
            },
            relaxed: true,
            unread: None,
            engrams,
        })
    }
}

/// What may answer a question.
struct Recalled {
    weights: Weights,
    engrams: Vec<Engram>,
    /// Versions that were not looked at.
    unread: Option<u64>,
}

/// What a query lets through.
struct Filter<'a> {
    eyes: Eyes,
    at: Timestamp,
    query: &'a Query,
}

impl Filter<'_> {
    fn passes(&self, engram: &Engram) -> bool {
        let query = self.query;
        !engram.redacted
            && self.eyes.may_see(engram)
            && engram.recorded_at <= self.at
            && engram.holds_at(self.at)
            && query.scope.is_none_or(|scope| engram.scope == scope)
            && query.kind.is_none_or(|kind| engram.kind == kind)
            && query.fact_type.is_none_or(|it| engram.fact_type == it)
            && (query.include_ephemeral || engram.durability == Durability::Durable)
            && query
                .topic
                .as_deref()
                .is_none_or(|topic| is_on_topic(&engram.topic, topic))
    }
}

fn answer(ranked: Vec<Ranked>, limit: usize) -> QueryReply {
    let relaxed = !ranked.iter().any(|it| it.complete);
    let verdict = match ranked.first() {
        None => Verdict::None,
        Some(best) if best.is_strong() => Verdict::Strong,
        Some(_) => Verdict::Weak,
    };
    QueryReply {
        verdict,
        relaxed,
        unread: None,
        engrams: ranked.into_iter().take(limit).map(|it| it.engram).collect(),
    }
}
