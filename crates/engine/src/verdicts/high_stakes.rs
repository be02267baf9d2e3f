//! Topics of high stakes: a possible conflict on one is also put to an agent that wrote neither side,
//! with the answer to its next query that returns a claim of either. Once for each pair and agent,
//! until one of them answers.

use engram_gateway::count_tokens;
use engram_model::{AskedPair, ConflictStatus, Engram, Refusal, operation::Agent};
use engram_store::{NearPairs, Pair, Reader, side};

use crate::{
    agents::served,
    conflicts::{
        conflict_view::{ShownConflict, visible_conflict},
        findings::author_in_words,
        near_threshold::is_of_high_stakes,
        rights,
    },
    context::Context,
};

/// The most tokens of both claims with their authors, so that they fit into a reply beside the
/// question.
const MAX_TOKENS: usize = 64;

/// The pair to ask the calling agent about, of those with one of these claims on a side. It counts
/// as asked from now on.
pub(crate) fn pair_to_ask(
    cx: &Context<'_>,
    engrams: &[Engram],
) -> Result<Option<AskedPair>, Refusal> {
    if cx.engine.config.consistency.high_stakes.is_empty() {
        return Ok(None);
    }
    let Some(agent) = cx.agent()? else {
        return Ok(None);
    };
    let found = cx.engine.store.read::<_, Refusal>(|tx| {
        for engram in engrams {
            let own = side(&engram.topic, &engram.claim);
            for pair in tx.conflicts_of(engram.project, &own)? {
                if let Some(found) = pair_if_due(cx, tx, agent, pair)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    })?;
    let Some(ShownConflict { pair, voices, .. }) = found else {
        return Ok(None);
    };
    served::note_asked(cx, pair.id, &voices)?;
    Ok(Some(AskedPair {
        conflict: pair.id,
        by: voices.each_ref().map(author_in_words),
        claims: voices.map(|it| it.claim),
    }))
}

/// The pair, if this agent is to be asked about it.
fn pair_if_due(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    agent: &Agent,
    pair: Pair,
) -> Result<Option<ShownConflict>, Refusal> {
    let (visibility, clock) = (cx.visibility()?, cx.engine.world.now());
    if pair.status != ConflictStatus::Possible {
        return Ok(None);
    }
    let found = visible_conflict(tx, pair, &visibility, clock)?;
    let is_possible = |it: &ShownConflict| it.conflict.status == ConflictStatus::Possible;
    let Some(found) = found.filter(is_possible) else {
        return Ok(None);
    };
    let is_at_stake = |it: &Engram| is_of_high_stakes(cx, &it.topic);
    let tokens = |it: &Engram| count_tokens(&it.claim) + count_tokens(&author_in_words(it));
    let [a, b] = &found.voices;
    if !(is_at_stake(a) || is_at_stake(b)) || tokens(a) + tokens(b) > MAX_TOKENS {
        return Ok(None);
    }
    // A word of an author, or of a model, does not take the place of a third one's.
    let said = NearPairs::of(tx).judgments(found.pair.id)?;
    let is_answered = said.iter().any(|(by, judgment)| {
        let is_author = by.agent.is_some() && [a, b].iter().any(|it| it.agent == by.agent);
        judgment.model.is_none() && !is_author
    });
    let is_due = !is_answered
        && !served::was_asked(cx, tx, found.pair.id)?
        && rights::is_neutral(tx, agent, &found.pair)?;
    Ok(Some(found).filter(|_| is_due))
}
