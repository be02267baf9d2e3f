//! Finds the claim that an update without a lineage replaces: the nearest claim about the same
//! attribute of the same subject (docs/design.md#what-a-version-may-replace).

use crate::{
    asking::query,
    claims::close,
    context::{Context, visibility::Visibility},
};
use engram_consistency::{
    claim::Claim,
    tier::{Said, same_matter},
};
use engram_model::{Durability, Engram, Kind, NewEngram, ProjectId, Refusal};
use engram_store::Reader;
use jiff::Timestamp;

/// Finds, among the claims that hold on its topic and that the caller may see and close, the
/// nearest in meaning; among equals, the newest. `None` if no claim is known to be about the same
/// attribute.
pub(crate) fn find_outdated(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    visibility: &Visibility,
    new: &NewEngram,
) -> Result<Option<Engram>, Refusal> {
    let read = Claim::read(&new.claim);
    let said = Said {
        claim: &read,
        topic: &new.topic,
        fact_type: new.fact_type,
        confidence: new.confidence,
        valid_from: Timestamp::UNIX_EPOCH,
        valid_until: None,
    };
    let mut nearest: Option<(f64, Engram)> = None;
    for held in query::similar_claims(cx, tx, project, visibility, &new.claim, &new.topic)? {
        if !is_replaceable(&held, new) || close::refuse_close(cx, &held).is_err() {
            continue;
        }
        let read = Claim::read(&held.claim);
        let other = Said {
            claim: &read,
            topic: &held.topic,
            fact_type: held.fact_type,
            confidence: held.confidence,
            ..said
        };
        let Some(score) = same_matter(&said, &other) else {
            continue;
        };
        let is_nearer = nearest
            .as_ref()
            .is_none_or(|it| (score, held.seq) > (it.0, it.1.seq));
        if is_nearer {
            nearest = Some((score, held));
        }
    }
    Ok(nearest.map(|it| it.1))
}

/// Whether a claim may be replaced by another. An ephemeral claim does not replace a durable one,
/// and scopes must be equal. Only a to-do replaces a to-do, and only a risk a risk, because these
/// quote what they are about.
fn is_replaceable(held: &Engram, new: &NewEngram) -> bool {
    let quotes = |kind| matches!(kind, Kind::Todo | Kind::Risk);
    let of_one_kind = held.kind == new.kind || !(quotes(held.kind) || quotes(new.kind));
    let lasts = new.durability == Durability::Durable || held.durability == Durability::Ephemeral;
    of_one_kind && lasts && held.scope == new.scope && !held.is_question() && !held.is_sample()
}
