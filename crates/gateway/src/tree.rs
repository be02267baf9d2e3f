//! The tree of agents (docs/design.md#agents-parents-and-turns): who may open whom, who answers a
//! request, and who may send what to whom. The engine knows a project's agents, and passes in a
//! function to look them up.

use engram_model::{AgentId, Caller, Code, Refusal, RunId};

use crate::same_role;

/// An agent's place in the tree, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentNode {
    /// Its handle.
    pub agent: AgentId,
    /// Its parent; `None` for a root, whose parent is the user.
    pub parent: Option<AgentId>,
    /// The run that it belongs to.
    pub run: RunId,
    /// Its role, one word; empty if it has none.
    pub role: String,
    /// Topics that it may read; empty means all.
    pub reads: Vec<String>,
    /// Topics that it may write; empty means all.
    pub writes: Vec<String>,
}

/// The most generations examined; a longer chain is a cycle or an attempt to slow the check down.
pub const GENERATIONS: usize = 32;

/// Refuses to open an agent below a parent that it may not have: an agent's parent never changes,
/// and is never its descendant. `known` returns agents of this project only.
pub fn refuse_opening(
    child: &AgentId,
    parent: Option<&AgentId>,
    known: impl Fn(&AgentId) -> Result<Option<AgentNode>, Refusal>,
) -> Result<(), Refusal> {
    let before = known(child)?;
    let Some(parent) = parent else {
        return match before.and_then(|it| it.parent) {
            None => Ok(()),
            Some(_) => Err(tree_refusal(format!("{child} already has a parent"))),
        };
    };
    let mut next = Some(known(parent)?.ok_or_else(|| unknown_agent(parent))?);
    if parent == child {
        return Err(tree_refusal(format!("{child} cannot be its own parent")));
    }
    if before.is_some_and(|it| it.parent.as_ref() != Some(parent)) {
        return Err(tree_refusal(format!(
            "{child} has another parent, or is a root"
        )));
    }
    for _ in 0..GENERATIONS {
        let Some(node) = next else { return Ok(()) };
        if node.parent.as_ref() == Some(child) {
            return Err(tree_refusal(format!("{parent} descends from {child}")));
        }
        next = node.parent.as_ref().map(&known).transpose()?.flatten();
    }
    Err(tree_refusal(format!(
        "{parent} has more than {GENERATIONS} ancestors"
    )))
}

/// Refuses a caller who may not decide for a child: grant, deny, revoke, advance its turn, set its
/// budgets. The child's parent and the user may; no agent may decide for itself.
pub fn refuse_decision(caller: &Caller, child: &AgentNode) -> Result<(), Refusal> {
    match caller {
        Caller::User => Ok(()),
        Caller::Agent(agent) if *agent == child.agent => Err(Refusal::new(
            Code::ScopeDenied,
            "an agent cannot grant itself anything",
            "Send a dereference request; your parent or the user answers it.",
        )),
        Caller::Agent(agent) if child.parent.as_ref() == Some(agent) => Ok(()),
        Caller::Agent(_) => Err(Refusal::new(
            Code::ScopeDenied,
            format!("{} is not your child", child.agent),
            "Only an agent's parent or the user may decide for it.",
        )),
    }
}

/// Refuses a message that a child sends in a role other than its own.
pub fn refuse_role(sender: &AgentNode, role: &str) -> Result<(), Refusal> {
    if sender.role.is_empty() || same_role(&sender.role, role) {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "you may not send a message as {}",
                engram_model::shorten(role, 40)
            ),
            format!("Your role is {}: send it in that role.", sender.role),
        ))
    }
}

/// Returns the recipients of a parent's message: the named child, which must have the addressed
/// role, or all its children with that role, in the order of their handles.
pub fn recipients(
    sender: &Caller,
    role: &str,
    to: Option<&AgentId>,
    known: &[AgentNode],
) -> Result<Vec<AgentId>, Refusal> {
    if let Some(to) = to {
        let child = known
            .iter()
            .find(|it| it.agent == *to)
            .ok_or_else(|| unknown_agent(to))?;
        refuse_decision(sender, child)?;
        return if child.role.is_empty() || same_role(&child.role, role) {
            Ok(vec![to.clone()])
        } else {
            Err(Refusal::new(
                Code::ScopeDenied,
                format!(
                    "{to} does not have the role {}",
                    engram_model::shorten(role, 40)
                ),
                format!("Address it as {}.", child.role),
            ))
        };
    }
    let mut found: Vec<AgentId> = known
        .iter()
        .filter(|it| same_role(&it.role, role) && refuse_decision(sender, it).is_ok())
        .map(|it| it.agent.clone())
        .collect();
    found.sort();
    found.dedup();
    if found.is_empty() {
        Err(Refusal::new(
            Code::NotFound,
            format!(
                "you have no child with the role {}",
                engram_model::shorten(role, 40)
            ),
            "Open one with that role, or name the child you mean.",
        ))
    } else {
        Ok(found)
    }
}

/// Returns the refusal for an agent that does not exist in this project.
pub fn unknown_agent(agent: &AgentId) -> Refusal {
    Refusal::new(
        Code::NotFound,
        format!(
            "{:?} is not an agent of this project",
            engram_model::shorten(&agent.0, 40)
        ),
        "Use a handle that `engram agents` lists.",
    )
}

fn tree_refusal(message: String) -> Refusal {
    Refusal::new(
        Code::ScopeDenied,
        message,
        "Open a new agent instead: you cannot choose another parent for an existing agent.",
    )
}

/// Whether `ancestor` is an ancestor of an agent.
pub(crate) fn descends(
    agent: &AgentId,
    ancestor: &AgentId,
    known: impl Fn(&AgentId) -> Result<Option<AgentNode>, Refusal>,
) -> Result<bool, Refusal> {
    let mut next = known(agent)?.and_then(|it| it.parent);
    for _ in 0..GENERATIONS {
        match next {
            None => return Ok(false),
            Some(parent) if parent == *ancestor => return Ok(true),
            Some(parent) => next = known(&parent)?.and_then(|it| it.parent),
        }
    }
    Ok(false)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Parses words of the form `child<parent:role`.
    pub(crate) fn family(text: &str) -> Vec<AgentNode> {
        let node = |word: &str| {
            let (names, role) = word.split_once(':').unwrap_or((word, ""));
            let (agent, parent) = names.split_once('<').unwrap_or((names, ""));
            AgentNode {
                agent: id(agent),
                parent: Some(parent).filter(|it| !it.is_empty()).map(id),
                run: run(),
                role: role.to_owned(),
                reads: Vec::new(),
                writes: Vec::new(),
            }
        };
        text.split_whitespace().map(node).collect()
    }

    fn run() -> RunId {
        let parsed = "01J9Z3N8M6W0X4V5Y7K2QHPRTA".parse();
        parsed.unwrap_or_else(|_| unreachable!())
    }

    pub(crate) fn id(name: &str) -> AgentId {
        AgentId(name.to_owned())
    }

    pub(crate) fn find(all: &[AgentNode], agent: &AgentId) -> Option<AgentNode> {
        all.iter().find(|it| it.agent == *agent).cloned()
    }

    #[test]
    fn an_agent_has_one_parent_and_no_cycle() {
        // No request can create a cycle, but even a cycle in the data must not hang a search.
        let all = family("root a<root b<a c<b x<y y<x");
        for (child, parent, code) in [
            ("new", None, None),
            ("new", Some("root"), None),
            ("new", Some("c"), None),
            ("c", Some("b"), None),
            ("root", None, None),
            ("new", Some("ghost"), Some(Code::NotFound)),
            ("new", Some("new"), Some(Code::NotFound)),
            ("root", Some("root"), Some(Code::ScopeDenied)),
            ("root", Some("c"), Some(Code::ScopeDenied)),
            ("a", Some("c"), Some(Code::ScopeDenied)),
            ("a", Some("b"), Some(Code::ScopeDenied)),
            ("c", Some("root"), Some(Code::ScopeDenied)),
            ("c", None, Some(Code::ScopeDenied)),
            ("new", Some("x"), Some(Code::ScopeDenied)),
        ] {
            let parent = parent.map(id);
            let refusal =
                refuse_opening(&id(child), parent.as_ref(), |it| Ok(find(&all, it))).err();
            assert_eq!(refusal.map(|it| it.code), code, "{child} below {parent:?}");
        }
        assert_eq!(
            descends(&id("c"), &id("root"), |it| Ok(find(&all, it))),
            Ok(true)
        );
        assert_eq!(
            descends(&id("root"), &id("c"), |it| Ok(find(&all, it))),
            Ok(false)
        );
        assert_eq!(
            descends(&id("x"), &id("root"), |it| Ok(find(&all, it))),
            Ok(false)
        );
    }

    #[test]
    fn the_parent_or_the_user_decides_and_nobody_for_itself() {
        let all = family("root a<root b<a");
        for (caller, child, ok) in [
            (Caller::User, "root", true),
            (Caller::User, "b", true),
            (Caller::Agent(id("root")), "a", true),
            (Caller::Agent(id("a")), "b", true),
            (Caller::Agent(id("root")), "b", false),
            (Caller::Agent(id("b")), "a", false),
            (Caller::Agent(id("a")), "a", false),
            (Caller::Agent(id("root")), "root", false),
        ] {
            let child = find(&all, &id(child)).unwrap_or_else(|| unreachable!());
            let decided = refuse_decision(&caller, &child);
            assert_eq!(decided.is_ok(), ok, "{caller:?} for {}", child.agent);
            assert!(
                decided
                    .err()
                    .is_none_or(|it| it.code == Code::ScopeDenied && !it.hint.is_empty())
            );
        }
    }

    #[test]
    fn messages_keep_to_roles_and_parentage() {
        let all = family(
            "root:architect p1<root:programmer p2<root:Programmer m<root:manager q<m:programmer",
        );
        let root = Caller::Agent(id("root"));
        for (sender, role, to, want) in [
            (&root, "PROGRAMMER", None, Ok(vec!["p1", "p2"])),
            (&root, "programmer", Some("p1"), Ok(vec!["p1"])),
            (&Caller::User, "programmer", None, Ok(vec!["p1", "p2", "q"])),
            (&root, "manager", Some("p1"), Err(Code::ScopeDenied)),
            (&root, "programmer", Some("q"), Err(Code::ScopeDenied)),
            (&root, "programmer", Some("ghost"), Err(Code::NotFound)),
            (&root, "director", None, Err(Code::NotFound)),
            (
                &Caller::Agent(id("p1")),
                "programmer",
                Some("p1"),
                Err(Code::ScopeDenied),
            ),
            (
                &Caller::Agent(id("p1")),
                "programmer",
                None,
                Err(Code::NotFound),
            ),
        ] {
            let to = to.map(id);
            let found = recipients(sender, role, to.as_ref(), &all).map_err(|it| it.code);
            assert_eq!(
                found,
                want.map(|it| it.into_iter().map(id).collect()),
                "{role} {to:?}"
            );
        }
        let programmer = &all[1];
        assert!(refuse_role(programmer, " Programmer").is_ok());
        let refused = refuse_role(programmer, "architect").err().map(|it| it.code);
        assert_eq!(refused, Some(Code::ScopeDenied));
    }
}
