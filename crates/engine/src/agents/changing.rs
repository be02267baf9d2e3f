//! What the user changes about an agent: its name, whether lists show it, and whether it may still
//! call.

use engram_model::{
    AgentChange, AgentEdit, AgentId, Answered, GrantState, Operation, ProjectId, Refusal,
    handles_of_row,
    operation::{Agent, Denied},
};
use engram_store::Reader;

use crate::{
    agents::opening::{list_agents, unknown_agent, validated_agent_name},
    context::{
        Context, author,
        caller::agent_in_project,
        names::TakenNames,
        plan::{Plan, Planned},
    },
    decide,
};

/// Renames, hides, shows or closes an agent of this project. The connections that lists show as one
/// row are hidden, shown and closed together; the name of a row is that of its newest connection.
pub(crate) fn change_agent(cx: &Context<'_>, ask: AgentChange) -> Result<Answered, Refusal> {
    let what = match ask.what {
        AgentEdit::Rename(name) => AgentEdit::Rename(validated_agent_name(&name)?),
        other => other,
    };
    let active = cx.active_project(true)?;
    let by = author::author_of(cx, None)?;
    let row = handles_of_row(list_agents(cx)?.agents, &ask.agent);
    let handles = match what {
        AgentEdit::Rename(_) => std::slice::from_ref(&ask.agent),
        _ => &row,
    };
    decide::plan_and_commit(cx, &active, |tx, _| {
        let mut changes = Vec::new();
        for handle in handles {
            changes.extend(change_of(cx, tx, active.project, handle, &row, &what)?);
        }
        let entries = changes.into_iter().map(|it| Planned::private(it, &by));
        Ok(Plan::of(entries.collect(), ()))
    })?;
    Ok(Answered {
        id: ask.agent.0,
        state: what.state().to_owned(),
    })
}

/// The operations that change one agent of a row; none if it is so already.
fn change_of(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    handle: &AgentId,
    row: &[AgentId],
    what: &AgentEdit,
) -> Result<Vec<Operation>, Refusal> {
    let found = agent_in_project(tx, project, handle)?;
    let agent = found.ok_or_else(|| unknown_agent(handle))?;
    if is_already(&agent, what) {
        return Ok(Vec::new());
    }
    if let AgentEdit::Rename(name) = what {
        TakenNames::of(tx, project)?.refuse_taken(tx, &agent, row, name)?;
    }
    let mut operations = match what {
        AgentEdit::Close => what_closing_ends(cx, tx, &agent)?,
        _ => Vec::new(),
    };
    operations.push(Operation::AgentChanged(Box::new(AgentChange {
        agent: agent.handle,
        what: what.clone(),
    })));
    Ok(operations)
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
