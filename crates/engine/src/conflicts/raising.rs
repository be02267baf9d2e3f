//! Raising: which contradictions get an entry, and what the reply reports to the author.

use engram_gateway::quoted;
use engram_model::{
    ConflictId, ConflictStatus, Engram, Finding, Noticed, Operation, Refusal,
    operation::Contradiction,
};
use engram_store::{Pair, Reader};

use crate::{
    conflicts::{
        findings::{CompareOptions, author_in_words, name_in_words},
        judging::OpposingVersion,
        risks,
        sides::ContradictedSide,
    },
    context::{Context, names, plan::Planned},
};

/// Whether a contradiction needs an entry: the pair is new, no longer open, or worse than before,
/// or no report of it lasts as long as these versions. Conflicts that this write has already raised
/// count as known.
pub(super) fn needs_entry(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    one: &ContradictedSide,
    present: [&Engram; 2],
    voice: &OpposingVersion,
    options: &CompareOptions<'_>,
) -> Result<bool, Refusal> {
    let mut before = options.before.iter().filter_map(contradiction_in);
    if before.any(|known| known.id == one.pair.id) {
        return Ok(false);
    }
    if !one.is_known || one.pair.status != ConflictStatus::Open {
        return Ok(true);
    }
    let known = tx.contradiction(one.pair.last)?;
    if known.is_none_or(|known| known.severity < voice.found.severity) {
        return Ok(true);
    }
    // The wider conflict is reported instead.
    if one.covered_by.is_some() {
        return Ok(false);
    }
    let reporting = risks::remaining_reports(cx, tx, &one.pair, present[0], options.ending)?;
    Ok(!reporting
        .iter()
        .any(|report| report.lasts_as_long_as(present)))
}

/// The conflict that an entry raises.
pub(super) fn contradiction_in(entry: &Planned) -> Option<&Contradiction> {
    match &entry.operation {
        Operation::Conflicted(contradiction) => Some(contradiction),
        _ => None,
    }
}

/// What a reply reports about a conflict with another version, and how it was settled before.
pub(super) fn conflict_finding(
    tx: &Reader<'_>,
    id: ConflictId,
    against: &OpposingVersion,
    pair: Option<&Pair>,
) -> Result<Finding, Refusal> {
    let OpposingVersion { engram, found } = against;
    let mut note = found.why.clone();
    if let Some(pair) = pair
        && pair.status == ConflictStatus::Resolved
        && let Some(seq) = pair.verdict
        && let (Some(ruling), Some(attribution)) = (tx.ruling(seq)?, tx.attribution(seq)?)
    {
        let how = ruling.how.map_or("", engram_model::How::as_str);
        let by = quoted(name_in_words(&names::author_of_entry(&attribution)));
        note.push_str(&format!(
            " It was settled before ({how}, by {by}) and is open again."
        ));
        if let Some(why) = ruling.why {
            note.push_str(&format!(" {by} gave this reason: {}.", quoted(&why)));
        }
    }
    Ok(Finding {
        conflict: Some(id),
        severity: Some(found.severity),
        tier: Some(found.tier),
        claim: Some(engram.claim.clone()),
        by: Some(author_in_words(engram).to_owned()),
        ..Finding::new(Noticed::Conflict, engram.id, note)
    })
}
