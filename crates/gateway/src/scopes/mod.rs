//! The reach of a claim: which scopes and topics a caller may write and read, and who may promote a
//! claim (docs/design.md#scopes-and-runs).

use engram_model::{AgentId, Caller, Code, Refusal, Scope, Scopes, fold, is_on_topic, shorten};

use crate::tree::{AgentNode, descends};

/// Refuses a scope that the home's configuration closes to the caller. The user may write to every
/// scope. A scope that the user did not turn on is closed to agents, whatever else the
/// configuration says.
pub fn refuse_scope(caller: &Caller, scope: Scope, scopes: &Scopes) -> Result<(), Refusal> {
    let open = scopes.agents_write.iter();
    let open = open.filter(|it| scopes.is_open(**it));
    let allowed: Vec<&str> = open.map(|it| it.as_str()).collect();
    if *caller == Caller::User || allowed.contains(&scope.as_str()) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::ScopeDenied,
        format!("an agent may not write to scope {scope}"),
        if allowed.is_empty() {
            "Report it in a message: only the user writes in this home.".to_owned()
        } else {
            format!(
                "Commit with scope {}; your parent or the user can promote it from there.",
                allowed.join(" or ")
            )
        },
    ))
}

/// Refuses a topic that is neither one of an agent's own nor below one. An agent without topics of
/// its own may write to all.
pub fn refuse_topic(node: &AgentNode, topic: &str) -> Result<(), Refusal> {
    if covers(&node.writes, topic) {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::ScopeDenied,
            match topic {
                "" => "the claim has no topic, and this agent may write only to its own".to_owned(),
                topic => format!("this agent may not write to topic {:?}", shorten(topic, 80)),
            },
            format!(
                "Set the claim's topic (`scope` of engram_commit) to {} or one below, or ask your parent or the user.",
                shorten(&node.writes.join(", "), 200)
            ),
        ))
    }
}

/// Whether an agent may read a topic. A claim without a topic is for everyone.
pub fn may_read_topic(node: &AgentNode, topic: &str) -> bool {
    topic.is_empty() || covers(&node.reads, topic)
}

fn covers(topics: &[String], topic: &str) -> bool {
    // Compares like the sides of conflicts: an agent that may read one spelling of a topic may read
    // all.
    let topic = fold(topic);
    topics.is_empty() || topics.iter().any(|it| is_on_topic(&topic, &fold(it)))
}

/// The properties of a claim that a promotion depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct PromotedClaim<'a> {
    /// Its scope.
    pub scope: Scope,
    /// 0 to 1.
    pub confidence: f64,
    /// Its author; `None` means the user.
    pub author: Option<&'a AgentId>,
}

/// Refuses a caller who may not promote a claim to a wider scope. An agent may promote its
/// descendants' claims that have enough confidence; the user may promote any claim. Agents cannot
/// promote to `org` or `global` until the user turns those scopes on.
pub fn refuse_promotion(
    caller: &Caller,
    claim: &PromotedClaim<'_>,
    to: Scope,
    scopes: &Scopes,
    known: impl Fn(&AgentId) -> Result<Option<AgentNode>, Refusal>,
) -> Result<(), Refusal> {
    if to <= claim.scope {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("the claim is in scope {}; {to} is not wider", claim.scope),
            "Promote from run to project, org or global; forget a claim whose scope is too wide.",
        ));
    }
    let Caller::Agent(agent) = caller else {
        return Ok(());
    };
    let is_ancestor = match claim.author {
        Some(author) if author != agent => descends(author, agent, known)?,
        _ => false,
    };
    if !is_ancestor {
        return Err(Refusal::new(
            Code::ScopeDenied,
            "only a parent may promote its children's claims",
            "Ask your parent or the user to promote it.",
        ));
    }
    if !scopes.is_open(to) {
        return Err(Refusal::new(
            Code::ScopeDenied,
            format!("scope {to} is off for agents in this home"),
            format!(
                "Promote it to project; the user can turn {to} on in config.toml under [scopes]."
            ),
        ));
    }
    if claim.confidence >= scopes.promote_confidence {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "the claim has confidence {}; promotion needs {}",
                claim.confidence, scopes.promote_confidence
            ),
            "Have its author verify it and commit a new version with the resulting confidence.",
        ))
    }
}

#[cfg(test)]
mod tests;
