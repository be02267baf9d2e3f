//! What an agent may still read.

use engram_gateway::{Ancestor, narrowed_limits};
use engram_model::{DerefLimits, Refusal, Spend, operation::ReadBelow};
use engram_store::Reader;

use crate::context::{
    Context,
    caller::{CallingAgent, agent_and_ancestors},
};

/// What an agent may still read in its turn.
pub(crate) struct Purse {
    pub(crate) turn: String,
    pub(crate) limits: DerefLimits,
    pub(crate) spent: Spend,
    /// Its ancestors, its parent first.
    pub(crate) ancestors: Vec<Ancestor>,
}

/// What an agent may still read in its turn, within the limits of all agents above it.
pub(crate) fn purse_of(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    called: &CallingAgent,
) -> Result<Purse, Refusal> {
    let handle = &called.agent.handle;
    let mut limits = cx.engine.config.limits.clone();
    let mut ancestors = Vec::new();
    for one in agent_and_ancestors(tx, Some(&called.agent))?
        .into_iter()
        .rev()
    {
        limits = narrowed_limits(&limits, &tx.messages().budgets_of(&one.handle)?);
        if one.handle != *handle {
            // An ancestor's stored turn counts for its descendants until its own next call begins
            // another.
            ancestors.push(Ancestor {
                limits: limits.deref.clone(),
                below: ReadBelow {
                    spent: tx.spend_below(&one.handle, &one.turn)?,
                    agent: one.handle,
                    turn: one.turn,
                },
            });
        }
    }
    ancestors.reverse();
    let turn = called.current_turn(tx)?;
    Ok(Purse {
        spent: tx.spend(handle, &turn)?,
        limits: limits.deref,
        turn,
        ancestors,
    })
}
