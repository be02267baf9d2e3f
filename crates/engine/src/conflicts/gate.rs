//! The gate: whether the open conflicts of a project block CI.

use std::cmp::Reverse;

use crate::{
    conflicts::{lifecycle::allowance, list::listed_conflicts, risks::is_unconfirmed},
    context::Context,
};
use engram_model::{Code, ConflictFilter, ConflictId, Gate, GateCheck, GateReply, Refusal};
use engram_store::Reader;

/// Refuses a job about a repository that the home knows nothing about. CI must not pass because it
/// reads an empty home, or a clone without claims.
pub(crate) fn refuse_unknown_repository(cx: &Context<'_>, otherwise: &str) -> Result<(), Refusal> {
    cx.require_repo()?;
    let known = cx.known_project()?;
    let holds = |tx: &Reader<'_>| known.map_or(Ok(false), |project| tx.has_claims(project));
    if cx.engine.store.read::<_, Refusal>(|tx| Ok(holds(tx)?))? {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::NotFound,
            format!("this home has no claims for this repository, so {otherwise}"),
            "Check --home and --repo. A clone is a project of its own: run this in a worktree of the clone that agents use, or copy that clone's home and .git/engram-project here.",
        ))
    }
}

/// Whether the gate is open, and the conflicts that keep it shut.
pub(crate) fn check_gate(cx: &Context<'_>, check: GateCheck) -> Result<GateReply, Refusal> {
    refuse_unknown_repository(cx, "the gate fails")?;
    let (project, visibility) = (cx.project()?, cx.visibility()?);
    let clock = cx.engine.world.now();
    let open = ConflictFilter {
        severity: Some(check.severity),
        ..ConflictFilter::default()
    };
    cx.engine.store.read::<_, Refusal>(|tx| {
        let mut bars = Vec::new();
        for bar in listed_conflicts(tx, project, &open, &visibility, clock)? {
            let Some(pair) = tx.conflict(bar.id)? else {
                continue;
            };
            let is_allowed = bar.is_allowed && allowance(tx, &pair)?.is_some();
            if !is_allowed && !is_unconfirmed(tx, &pair)? {
                bars.push(bar);
            }
        }
        bars.sort_by_key(|bar| (Reverse(bar.severity), bar.first, bar.id));
        let blocking: Vec<ConflictId> = bars.iter().map(|bar| bar.id).collect();
        // Every due comparison counts, because the severity of what it will find is not known yet.
        let due = tx.count_due(project, None)?;
        let is_open = blocking.is_empty() && due == 0;
        Ok(GateReply {
            gate: if is_open { Gate::Open } else { Gate::Shut },
            blocking,
            due,
        })
    })
}
