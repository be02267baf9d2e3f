//! Lets the user name an agent as `engram agents` shows it, not only by its handle.

use engram_engine::Engine;
use engram_model::{AgentId, Caller, Refusal, Request, ask, newest_of_rows};

/// Replaces names of agents in a request and its caller by handles. Of several connections with one
/// name, the one that called last is meant. What names nobody stays, and is refused later.
pub(crate) fn resolve_names(
    engine: &Engine,
    caller: &mut Caller,
    request: &mut Request,
) -> Result<(), Refusal> {
    let named: Vec<&mut AgentId> = match (caller, request) {
        (
            Caller::Agent(agent),
            Request::Brief
            | Request::Pin(_)
            | Request::Unpin(_)
            | Request::Deref(_)
            | Request::ValidateMessage(_)
            | Request::Send(_),
        ) => vec![agent],
        (_, Request::ShowBrief(of)) => of.agent.iter_mut().collect(),
        (_, Request::Budget(of)) => of.agent.iter_mut().collect(),
        (_, Request::ChangeAgent(change)) => vec![&mut change.agent],
        (_, Request::IssueGrant(wanted)) => {
            let by = wanted.by.iter_mut();
            std::iter::once(&mut wanted.to).chain(by).collect()
        }
        _ => Vec::new(),
    };
    if named.is_empty() {
        return Ok(());
    }
    // Most recent call first.
    let agents = engine.ask(&Caller::User, ask::Agents)?.agents;
    let rows = newest_of_rows(agents.clone());
    for name in named {
        let is_handle = agents.iter().any(|it| it.handle == *name);
        let mut of_name = rows.iter().filter(|it| it.name == name.0 && !it.is_closed);
        if let Some(agent) = of_name.next().filter(|_| !is_handle) {
            name.clone_from(&agent.handle);
        }
    }
    Ok(())
}
