//! Decides who may close, replace or retire a claim.

use engram_model::{AgentId, Caller, Code, Durability, Kind, NewEngram, Refusal, Scope, Scopes};

use crate::{code_chars, refuse_scope};

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

/// A version that a claim is to replace.
#[derive(Clone, Copy, Debug)]
pub struct ReplacedVersion<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Who may see it.
    pub scope: Scope,
    /// Its author; `None` means the user.
    pub author: Option<&'a AgentId>,
    /// Whether it answers a to-do of the user.
    pub is_answer: bool,
}

/// Refuses a caller who may not replace a version with this claim: like [`refuse_close`], but an
/// agent may end a to-do of the user by answering it for good, and narrows no claim of others
/// (docs/design.md#what-a-version-may-replace).
pub fn refuse_replace(
    caller: &Caller,
    old: ReplacedVersion<'_>,
    new: &NewEngram,
    scopes: &Scopes,
) -> Result<(), Refusal> {
    let Caller::Agent(agent) = caller else {
        return refuse_close(caller, old.scope, old.author, scopes);
    };
    let is_todo = old.author.is_none() && old.kind == Kind::Todo;
    if is_todo || old.is_answer {
        refuse_lost_answer(old, new)?;
    } else if new.scope < old.scope && old.author != Some(agent) {
        return Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "a claim of another agent may not be narrowed from scope {} to {}",
                old.scope, new.scope
            ),
            "Leave the scope out, or commit a claim of your own.",
        ));
    }
    if is_todo {
        refuse_scope(caller, old.scope, scopes)
    } else {
        refuse_close(caller, old.scope, old.author, scopes)
    }
}

/// Refuses an answer to a to-do of the user that the user would not see, or not for long.
fn refuse_lost_answer(old: ReplacedVersion<'_>, new: &NewEngram) -> Result<(), Refusal> {
    if new.kind == Kind::Todo {
        return Err(Refusal::new(
            Code::ScopeDenied,
            "an agent may answer a to-do of the user, but not replace it with another to-do",
            "State what you found, with another kind, such as fact.",
        ));
    }
    let refuse = |why: &str, hint: &str| Err(Refusal::new(Code::SchemaInvalid, why, hint));
    if new.durability != Durability::Durable || new.ttl.is_some() {
        return refuse(
            "an answer to one of the user's to-dos must last: it may not be ephemeral or have a ttl",
            "Leave durability and ttl out.",
        );
    }
    if new.scope < old.scope {
        return refuse(
            "an answer to one of the user's to-dos may not be for one run only",
            "Leave the scope out, or set it to project.",
        );
    }
    if code_chars(&new.claim) > 0 {
        return refuse(
            "an answer to one of the user's to-dos may not contain code: the brief shows none",
            "Say what you found, and point to the code.",
        );
    }
    Ok(())
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
