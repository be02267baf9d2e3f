//! Finds the commits between two commits: several small steps map better than one large step.

use std::collections::{BinaryHeap, HashMap};

use git2::Oid;

use crate::Repo;

/// Longer histories are compared in one step.
const MAX_COMMITS: usize = 40_000;

/// The end from which a commit was reached.
const FROM: u8 = 1;
const TO: u8 = 2;
const BOTH: u8 = FROM | TO;
/// The commit is an ancestor of one that both ends share.
const BEHIND: u8 = 4;

/// Returns the commits from one to the other, both included: back to where their histories meet,
/// then forward. `None` if they do not meet within reach, as in a shallow clone.
pub(super) fn route(repo: &Repo, from: Oid, to: Oid) -> Option<Vec<Oid>> {
    if from == to {
        return Some(vec![from]);
    }
    let mut history = History::default();
    let base = history.meet(repo, from, to)?;
    let mut commits = history.chain(base, from, FROM)?;
    commits.reverse();
    commits.extend(history.chain(base, to, TO)?.into_iter().skip(1));
    Some(commits)
}

#[derive(Default)]
struct Node {
    reached: u8,
    /// Empty until the commit was visited.
    parents: Vec<Oid>,
    time: i64,
    is_waiting: bool,
}

/// The commits visited from both ends.
#[derive(Default)]
struct History {
    nodes: HashMap<Oid, Node>,
    /// The commits still to visit, the latest first.
    waiting: BinaryHeap<(i64, Oid)>,
    /// The number of waiting commits that are not behind a meeting point.
    open: usize,
}

impl History {
    /// Returns the latest commit where two histories meet. Like git, visits the newest commits
    /// first, until all waiting ones lie behind a meeting point.
    fn meet(&mut self, repo: &Repo, from: Oid, to: Oid) -> Option<Oid> {
        let stop = repo.stop();
        self.mark_reached(repo, from, FROM)?;
        self.mark_reached(repo, to, TO)?;
        let mut met = Vec::new();
        while self.open > 0 {
            if stop.is_over() {
                return None;
            }
            let (_, id) = self.waiting.pop()?;
            let node = self.nodes.get_mut(&id)?;
            if !std::mem::take(&mut node.is_waiting) {
                continue;
            }
            let mut reached = node.reached;
            let parents = node.parents.clone();
            self.open -= usize::from(reached & BEHIND == 0);
            if reached == BOTH {
                met.push(id);
                reached |= BEHIND;
            }
            for parent in parents {
                self.mark_reached(repo, parent, reached)?;
            }
        }
        let is_behind = |it: &Oid| {
            self.nodes
                .get(it)
                .is_some_and(|it| it.reached & BEHIND != 0)
        };
        met.into_iter().find(|it| !is_behind(it))
    }

    fn mark_reached(&mut self, repo: &Repo, id: Oid, by: u8) -> Option<()> {
        if !self.nodes.contains_key(&id) {
            if self.nodes.len() > MAX_COMMITS {
                return None;
            }
            // In a shallow clone, the history ends at a missing commit.
            let commit = repo.commit_of_id(id).ok();
            let node = Node {
                time: commit.as_ref().map_or(0, |it| it.time().seconds()),
                parents: commit
                    .map(|it| it.parent_ids().collect())
                    .unwrap_or_default(),
                ..Node::default()
            };
            self.nodes.insert(id, node);
        }
        let node = self.nodes.get_mut(&id)?;
        let before = node.reached;
        node.reached |= by;
        if node.reached == before {
            return Some(());
        }
        let was_open = node.is_waiting && before & BEHIND == 0;
        let is_open = node.reached & BEHIND == 0;
        self.open = self.open + usize::from(is_open) - usize::from(was_open);
        if !std::mem::replace(&mut node.is_waiting, true) {
            self.waiting.push((node.time, id));
        }
        Some(())
    }

    /// Returns the commits from an ancestor to its descendant by the longest way, which keeps each
    /// step as small as possible.
    fn chain(&self, ancestor: Oid, descendant: Oid, side: u8) -> Option<Vec<Oid>> {
        // For each commit that descends from the ancestor: its distance, and the parent that leads
        // there.
        let mut far: HashMap<Oid, Option<(usize, Oid)>> = HashMap::new();
        far.insert(ancestor, Some((0, ancestor)));
        let mut ahead = vec![descendant];
        while let Some(id) = ahead.last().copied() {
            let parents = match self.nodes.get(&id) {
                Some(node) if node.reached == side => node.parents.as_slice(),
                _ => &[],
            };
            let unknown = parents.iter().filter(|it| !far.contains_key(it));
            let before = ahead.len();
            if !far.contains_key(&id) {
                ahead.extend(unknown);
            }
            if ahead.len() > before {
                continue;
            }
            ahead.pop();
            // Prefers the first parent if it is equally far.
            let best = parents
                .iter()
                .filter_map(|it| Some(((*far.get(it)?)?.0 + 1, *it)))
                .reduce(|best, it| if it.0 > best.0 { it } else { best });
            far.entry(id).or_insert(best);
        }
        let mut commits = vec![descendant];
        let mut at = descendant;
        while at != ancestor {
            at = (*far.get(&at)?)?.1;
            commits.push(at);
        }
        commits.reverse();
        Some(commits)
    }
}
