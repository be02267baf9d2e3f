//! Decides who may close, replace or retire a claim.

use engram_model::{AgentId, Caller, Code, Durability, Kind, NewEngram, Refusal, Scope, Scopes};

use crate::refuse_scope;

/// Refuses a caller who may not close or replace a version by `author` (`None` means the user).
/// Agents may close each other's claims, since that can be undone, but never the user's.
pub fn refuse_close(
    caller: &Caller,
    scope: Scope,
    author: Option<&AgentId>,
    scopes: &Scopes,
) -> Result<(), Refusal> {
    match (caller, author) {
        (Caller::Agent(_), None) => Err(Refusal::new(
            Code::ScopeDenied,
            "an agent may not retire a claim made by the user",
            "Commit your finding as a separate claim with its evidence; the user sees both.",
        )),
        _ => refuse_scope(caller, scope, scopes),
    }
}

/// Refuses a caller who may not replace a version of this kind by `author` with this claim: like
/// [`refuse_close`], but an agent may end a to-do of the user by answering it for good
/// (docs/design.md#what-a-version-may-replace).
pub fn refuse_replace(
    caller: &Caller,
    (old, new): (Kind, &NewEngram),
    scope: Scope,
    author: Option<&AgentId>,
    scopes: &Scopes,
) -> Result<(), Refusal> {
    let lasts = new.durability == Durability::Durable && new.ttl.is_none();
    match (caller, author, old, new.kind) {
        (Caller::Agent(_), None, Kind::Todo, Kind::Todo) => Err(Refusal::new(
            Code::ScopeDenied,
            "an agent may answer a to-do of the user, but not replace it with another to-do",
            "State what you found, with another kind, such as fact.",
        )),
        (Caller::Agent(_), None, Kind::Todo, _) if !lasts => Err(Refusal::new(
            Code::SchemaInvalid,
            "an answer to one of the user's to-dos must last: it may not be ephemeral or have a ttl",
            "Leave durability and ttl out.",
        )),
        (Caller::Agent(_), None, Kind::Todo, _) => refuse_scope(caller, scope, scopes),
        _ => refuse_close(caller, scope, author, scopes),
    }
}

/// Refuses a caller who may not retire a claim by `author` without replacing it; `parent` is the
/// author's parent. An agent may retire its own claims and its children's
/// (docs/design.md#what-a-version-may-replace).
pub fn refuse_retire(
    caller: &Caller,
    author: Option<&AgentId>,
    parent: Option<&AgentId>,
) -> Result<(), Refusal> {
    match caller {
        Caller::Agent(agent) if author != Some(agent) && parent != Some(agent) => {
            Err(Refusal::new(
                Code::ScopeDenied,
                "an agent may retire only its own claims and its children's",
                "Commit your finding with its evidence; where the two contradict each other, settle the conflict.",
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An agent may close only claims of agents, and only in scopes that it may write.
    #[test]
    fn an_agent_closes_what_agents_said_within_its_scopes() {
        let agent = AgentId("a1".to_owned());
        let caller = Caller::Agent(agent.clone());
        let close = |caller, scope, author| {
            refuse_close(caller, scope, author, &Scopes::default()).map_err(|it| it.code)
        };
        for scope in Scope::ALL {
            assert_eq!(close(&Caller::User, *scope, None), Ok(()));
            assert_eq!(close(&caller, *scope, None), Err(Code::ScopeDenied));
            let narrow = matches!(scope, Scope::Run | Scope::Project);
            assert_eq!(close(&caller, *scope, Some(&agent)).is_ok(), narrow);
        }
    }
}
