//! What the user changes about an agent: its name, whether lists show it, and whether it may still
//! call.

use engram_model::{
    AgentChange, AgentEdit, Answered, GrantState, Operation, Refusal,
    operation::{Agent, Denied},
};
use engram_store::Reader;

use crate::{
    agents::opening::{unknown_agent, validated_agent_name},
    context::{
        Context, author,
        caller::agent_in_project,
        names::TakenNames,
        plan::{Plan, Planned},
    },
    decide,
};

/// Renames, hides, shows or closes an agent of this project.
pub(crate) fn change_agent(cx: &Context<'_>, ask: AgentChange) -> Result<Answered, Refusal> {
    let what = match ask.what {
        AgentEdit::Rename(name) => AgentEdit::Rename(validated_agent_name(&name)?),
        other => other,
    };
    let active = cx.active_project(true)?;
    let by = author::author_of(cx, None)?;
    decide::plan_and_commit(cx, &active, |tx, _| {
        let found = agent_in_project(tx, active.project, &ask.agent)?;
        let agent = found.ok_or_else(|| unknown_agent(&ask.agent))?;
        if is_already(&agent, &what) {
            return Ok(Plan::of(Vec::new(), ()));
        }
        if let AgentEdit::Rename(name) = &what {
            TakenNames::of(tx, active.project)?.refuse_taken(tx, &agent, name)?;
        }
        let mut ended = match what {
            AgentEdit::Close => what_closing_ends(cx, tx, &agent)?,
            _ => Vec::new(),
        };
        ended.push(Operation::AgentChanged(Box::new(AgentChange {
            agent: agent.handle,
            what: what.clone(),
        })));
        let entries = ended.into_iter().map(|it| Planned::private(it, &by));
        Ok(Plan::of(entries.collect(), ()))
    })?;
    Ok(Answered {
        id: ask.agent.0,
        state: what.state().to_owned(),
    })
}

fn is_already(agent: &Agent, what: &AgentEdit) -> bool {
    match what {
        AgentEdit::Rename(name) => agent.label == *name,
        AgentEdit::Hide => agent.is_hidden,
        AgentEdit::Show => !agent.is_hidden,
        AgentEdit::Close => agent.is_closed,
    }
}

/// The operations that end the open grants and waiting requests of an agent.
fn what_closing_ends(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    agent: &Agent,
) -> Result<Vec<Operation>, Refusal> {
    let now = cx.engine.world.now();
    let mut grants = tx.grants().unspent(&agent.handle)?;
    grants.retain(|it| it.state(now) == GrantState::Open);
    let requests = tx.grants().waiting_of(&agent.handle)?;
    let denied = |id| {
        Operation::Denied(Denied {
            id,
            ..Denied::default()
        })
    };
    let revoked = grants.into_iter().map(|it| Operation::Revoked(it.id));
    Ok(revoked.chain(requests.into_iter().map(denied)).collect())
}
