//! Arranges agents as a tree: in the order of a list, each below its parent.

use std::collections::{HashMap, HashSet};

use engram_model::AgentId;

/// Deepest indent that is drawn.
pub const DEEPEST: usize = 4;

/// Returns the same agents with their depth, children below their parents. An agent whose parent is
/// not listed has depth 0. Each agent appears once, whatever its parent is said to be.
pub fn tree_of(order: &[AgentId], parents: &HashMap<AgentId, AgentId>) -> Vec<(AgentId, usize)> {
    let listed: HashSet<&AgentId> = order.iter().collect();
    let parent = |it: &AgentId| parents.get(it).filter(|it| listed.contains(it));
    let mut tree = Vec::with_capacity(order.len());
    let mut seen = HashSet::new();
    // Agents in a cycle have no top: they come last, at depth 0.
    let tops = order.iter().filter(|it| parent(it).is_none());
    for top in tops.chain(order) {
        let mut next = vec![(top, 0)];
        while let Some((agent, depth)) = next.pop() {
            if !seen.insert(agent) {
                continue;
            }
            tree.push((agent.clone(), depth.min(DEEPEST)));
            let children = order.iter().rev();
            let children = children.filter(|child| parent(child) == Some(agent));
            next.extend(children.map(|child| (child, depth + 1)));
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(all: &[&str]) -> Vec<AgentId> {
        all.iter().map(|it| AgentId((*it).to_owned())).collect()
    }

    #[test]
    fn children_stand_below_their_parents() {
        for (order, parents, want) in [
            ("a b c", "", "a0 b0 c0"),
            ("c b a", "c<a b<a", "a0 c1 b1"),
            ("d c b a", "d<c c<a b<a", "a0 c1 d2 b1"),
            // A parent that is not listed, the agent itself, and a cycle.
            ("a b", "a<gone b<b", "a0 b0"),
            ("a b c", "a<b b<a", "c0 a0 b1"),
            ("a b c d e f", "b<a c<b d<c e<d f<e", "a0 b1 c2 d3 e4 f4"),
        ] {
            let order = ids(&order.split(' ').collect::<Vec<_>>());
            let pairs = parents.split(' ').filter_map(|it| it.split_once('<'));
            let id = |it: &str| AgentId(it.to_owned());
            let parents = pairs
                .map(|(child, parent)| (id(child), id(parent)))
                .collect();
            let found = tree_of(&order, &parents);
            let told: Vec<String> = found
                .iter()
                .map(|(it, deep)| format!("{}{deep}", it.0))
                .collect();
            assert_eq!(told.join(" "), want);
        }
    }
}
