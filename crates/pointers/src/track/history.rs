//! The commits between two commits: small steps map better than one large one.

use std::collections::HashMap;

use git2::{Oid, Sort};

use crate::Repo;

/// Longer histories are crossed in one step.
const MOST_COMMITS: usize = 20_000;

/// The commits from one to the other, both included: back to where their histories meet, then on.
/// `None` where they do not meet within reach, as in a shallow clone.
pub(super) fn route(repo: &Repo, from: Oid, to: Oid) -> Option<Vec<Oid>> {
    let base = match from == to {
        true => from,
        false => repo.git.merge_base(from, to).ok()?,
    };
    let mut commits = chain(repo, base, from)?;
    commits.reverse();
    commits.extend(chain(repo, base, to)?.into_iter().skip(1));
    Some(commits)
}

/// From an ancestor to its descendant, through as many commits as there are: each step is then as
/// small as it can be.
fn chain(repo: &Repo, ancestor: Oid, descendant: Oid) -> Option<Vec<Oid>> {
    if ancestor == descendant {
        return Some(vec![ancestor]);
    }
    let mut walk = repo.git.revwalk().ok()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE).ok()?;
    walk.push(descendant).ok()?;
    walk.hide(ancestor).ok()?;
    // For each commit that descends from the ancestor: how far it is, and by which parent.
    let mut reached: HashMap<Oid, (usize, Oid)> = HashMap::new();
    for (count, id) in walk.enumerate() {
        if count > MOST_COMMITS {
            return None;
        }
        let id = id.ok()?;
        let commit = repo.git.find_commit(id).ok()?;
        let steps = |parent: Oid| match parent == ancestor {
            true => Some((1, parent)),
            false => reached.get(&parent).map(|it| (it.0 + 1, parent)),
        };
        // The first parent, where it is as far.
        let best = commit
            .parent_ids()
            .filter_map(steps)
            .reduce(|best, it| match it.0 > best.0 {
                true => it,
                false => best,
            });
        if let Some(best) = best {
            reached.insert(id, best);
        }
    }
    let mut commits = vec![descendant];
    let mut at = descendant;
    while at != ancestor {
        at = reached.get(&at)?.1;
        commits.push(at);
    }
    commits.reverse();
    Some(commits)
}
