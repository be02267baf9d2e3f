//! Query: recall by keys, look at what the index has not read, rank, and say how good it is.

use std::collections::HashSet;

use engram_model::{
    Caller, Code, Durability, Engram, EngramId, HashKeys, Query, QueryReply, Refusal, Verdict,
    hash_keys,
};
use engram_store::{Candidates, StoreError, Terms, Writer};
use jiff::Timestamp;

use crate::{
    Engine,
    rank::{Ranked, Weights, rank},
    read::Eyes,
};

/// Longest question that is looked at, in characters; claims are 500.
const LONGEST: usize = 2_000;
/// Most entries that a query reads behind the index.
const TAIL: usize = 20_000;

impl Engine {
    pub(crate) fn query(&self, caller: &Caller, query: &Query) -> Result<QueryReply, Refusal> {
        let limit = self.check(query)?;
        let project = self.project_of(caller)?;
        let filter = Filter {
            eyes: self.eyes(caller)?,
            at: query.as_of.unwrap_or_else(|| self.world.now()),
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
        let (found, engrams) = self.recall(project, &terms, &filter)?;
        let weights = Weights::new(&terms, &found);
        let ranked = rank(engrams, &keys, &weights, filter.eyes.run());
        let reply = answer(ranked, limit);
        if *caller != Caller::User {
            self.count_hits(reply.engrams.iter().map(|it| it.id));
        }
        Ok(reply)
    }

    fn check(&self, query: &Query) -> Result<usize, Refusal> {
        let limits = &self.config.limits;
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

    /// Candidates of the index, widened until enough pass the filter, and all that it has not read.
    fn recall(
        &self,
        project: engram_model::ProjectId,
        terms: &Terms,
        filter: &Filter<'_>,
    ) -> Result<(Candidates, Vec<Engram>), Refusal> {
        let wanted = self.config.limits.recall_candidates;
        let mut limit = wanted;
        loop {
            let found = match self.index() {
                Some(index) => index.search(project, terms, limit)?,
                None => Candidates::default(),
            };
            let engrams = self.store.read::<_, StoreError>(|it| {
                let mut engrams = it.engrams_after(project, found.indexed, TAIL)?;
                let unread: HashSet<u64> = engrams.iter().map(|engram| engram.seq).collect();
                for seq in found.seqs.iter().filter(|seq| !unread.contains(seq)) {
                    engrams.extend(it.engram_at(*seq)?);
                }
                engrams.retain(|engram| filter.passes(engram));
                Ok(engrams)
            })?;
            let exhausted = found.seqs.len() < limit;
            if exhausted || engrams.len() >= wanted || limit > 100_000 {
                return Ok((found, engrams));
            }
            limit *= 8;
        }
    }

    /// A question without words: what is newest.
    fn newest(
        &self,
        project: engram_model::ProjectId,
        filter: &Filter<'_>,
        limit: usize,
    ) -> Result<QueryReply, Refusal> {
        let mut engrams = self
            .store
            .read::<_, Refusal>(|it| Ok(it.newest_holding(project, filter.at, TAIL)?))?;
        engrams.retain(|engram| filter.passes(engram));
        engrams.truncate(limit);
        Ok(QueryReply {
            verdict: match engrams.is_empty() {
                true => Verdict::None,
                false => Verdict::Weak,
            },
            relaxed: true,
            engrams,
        })
    }

    fn count_hits(&self, ids: impl Iterator<Item = EngramId>) {
        let mut hits = self.hits.lock().unwrap_or_else(|it| it.into_inner());
        hits.extend(ids);
    }

    /// Hits ride on a write that happens anyway: asking never waits for the disk.
    pub(crate) fn flush_hits(&self, it: &Writer<'_>) -> Result<(), Refusal> {
        let mut hits = self.hits.lock().unwrap_or_else(|it| it.into_inner());
        it.add_hits(&hits)?;
        hits.clear();
        Ok(())
    }
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
                .is_none_or(|topic| below(&engram.topic, topic))
    }
}

/// Whether `topic` is `prefix` or lies below it.
fn below(topic: &str, prefix: &str) -> bool {
    let prefix = prefix.trim().trim_matches('/');
    prefix.is_empty()
        || topic
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
        engrams: ranked.into_iter().take(limit).map(|it| it.engram).collect(),
    }
}
