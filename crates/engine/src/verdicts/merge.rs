//! Replaces both sides of a conflict with one claim.

use crate::{
    conflicts::{conflict_view::ShownConflict, risks::pointers_of_both},
    context::{Context, plan::content_hash},
    verdicts::settle::{ProposedVerdict, validated_text},
};
use engram_model::{
    Code, Durability, Engram, EngramId, Provenance, Record, Refusal, Scope, Source,
};
use engram_store::{Reader, side};

/// Checks the text of a merge.
pub(super) fn validated_merge_claim(cx: &Context<'_>, text: String) -> Result<String, Refusal> {
    let words = validated_text(cx, "the merged claim", Some(text))?;
    words.ok_or_else(|| {
        Refusal::new(
            Code::SchemaInvalid,
            "the merged claim is empty",
            "State in one to three sentences what replaces both claims.",
        )
    })
}

/// The claim that replaces both, with the evidence of both. It has the newer claim's kind, a scope
/// no wider than either's, and the later end.
pub(super) fn merged_version(
    cx: &Context<'_>,
    found: &ShownConflict,
    text: &str,
    asked: &ProposedVerdict,
) -> Result<Engram, Refusal> {
    let [a, b] = &found.voices;
    let agent = cx.agent()?;
    let clock = cx.engine.world.now();
    let id = EngramId(cx.engine.world.new_id());
    let narrow = if a.scope < b.scope { a } else { b };
    // If one of the claims has no end, the merged claim has none either.
    let lasting = match (a.expires_at, b.expires_at) {
        (Some(one), Some(two)) if one < two => b,
        (Some(_), Some(_)) | (None, _) => a,
        _ => b,
    };
    let durable = a.durability == Durability::Durable;
    let provenance = Provenance {
        created_at: clock,
        created_by: asked.by.clone(),
        source: match agent {
            Some(_) => Source::Agent,
            None => Source::Tool,
        },
    };
    let hash = content_hash(text);
    let record = Record {
        // A claim for everybody belongs to the run of the merging agent, not to that of a merged
        // claim.
        run: if narrow.scope == Scope::Run {
            narrow.run
        } else {
            agent.map(|it| it.run)
        },
        kind: b.kind,
        fact_type: b.fact_type,
        scope: narrow.scope,
        topic: b.topic.clone(),
        tags: b.tags.clone(),
        engineer: b.engineer.clone(),
        ttl: lasting.ttl.clone(),
        expires_at: lasting.expires_at,
        durability: if durable { a } else { b }.durability,
        pointers: pointers_of_both(b, a),
        confidence: match agent {
            // An agent's merge is no more confident than either claim.
            Some(_) => a.confidence.min(b.confidence),
            None => a.confidence.max(b.confidence),
        },
        agent: agent.map(|it| it.handle.clone()),
        verified: a.verified && b.verified,
        ..Record::new(id, b.project, text.to_owned(), hash, provenance, asked.now)
    };
    Ok(record.into())
}

/// Checks that an existing claim may replace both sides.
pub(super) fn check_merged(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    id: EngramId,
) -> Result<(), Refusal> {
    let not = |why: &str, hint: &str| {
        Err(Refusal::new(
            Code::SchemaInvalid,
            format!("engram {id} {why}"),
            hint,
        ))
    };
    let (visibility, clock) = (cx.visibility()?, cx.engine.world.now());
    let engram = tx.engram(id)?.filter(|it| visibility.may_see(it));
    let Some(engram) = engram.filter(|it| it.project == found.pair.project) else {
        return Err(crate::no_engram(id));
    };
    if !engram.holds_now(clock) {
        return not("no longer holds", "Commit the merged claim first.");
    }
    if !found.pair.is_about(&engram) {
        return not(
            "is not visible to everyone who sees the conflict",
            "Name a claim that everyone who sees the conflict can see.",
        );
    }
    if found.sides.contains(&side(&engram.topic, &engram.claim)) {
        not(
            "is one of the two sides",
            "Choose it as the winner, or name a claim that replaces both.",
        )
    } else {
        Ok(())
    }
}
