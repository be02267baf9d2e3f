//! Metrics of a project's agents, counted on request (docs/design.md#what-messages-save).

use crate::context::Context;
use engram_model::{MetricsReply, Refusal};

/// The metrics of the caller's project; without one, of the home.
pub(crate) fn project_metrics(cx: &Context<'_>) -> Result<MetricsReply, Refusal> {
    let project = cx.project_or_home()?;
    let (counts, sums) = cx
        .engine
        .store
        .read::<_, Refusal>(|tx| Ok((tx.counts(project)?, tx.messages().totals(project)?)))?;
    let engrams: u64 = counts.kinds.values().sum();
    Ok(MetricsReply {
        engram_put: counts.stored,
        engram_query: cx.engine.calls.queries(project),
        deref_request: counts.requests,
        deref_grant: counts.grants,
        budget_reject: counts.refusals,
        inline_tokens_per_turn: counts.inline_tokens,
        derefs_per_turn: counts.derefs,
        engrams: counts.kinds,
        contradiction_rate: share(counts.risks, engrams),
        resend_rate: share(sums.resends, sums.messages),
    })
}

pub(crate) fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}
