//! Follows all doubtful spans through the commits between two states, in one pass.

use std::collections::HashSet;

use git2::Oid;

use crate::Repo;

use super::{
    cache::Cache,
    history,
    repo_state::{self, FoundState},
    step::{Fate, Spot, Step},
};

/// Returns the states between two sides, both included; `None` if there is no route of more than
/// one step.
pub(super) fn route(
    repo: &Repo,
    from: (FoundState, Option<Oid>),
    to: (FoundState, Option<Oid>),
) -> Option<Vec<FoundState>> {
    let commits = history::route(repo, from.1?, to.1?)?;
    let mut route = Vec::with_capacity(commits.len() + 2);
    if !matches!(from.0, FoundState::Tree(_)) {
        route.push(from.0);
    }
    for commit in commits {
        let tree = repo.commit_of_id(commit).ok()?.tree_id();
        route.push(FoundState::Tree(tree));
    }
    if !matches!(to.0, FoundState::Tree(_)) {
        route.push(to.0);
    }
    route.dedup();
    (route.len() > 2).then_some(route)
}

/// Returns where each spot ends up along a route; `None` for all if a step fails.
pub(super) fn along(
    cache: &mut Cache<'_>,
    route: &[FoundState],
    spots: Vec<Spot>,
) -> Vec<Option<Fate>> {
    let mut fates: Vec<Fate> = spots.into_iter().map(fate_at_start).collect();
    for pair in route.windows(2) {
        let [old, new] = *pair else { continue };
        let paths: HashSet<&str> = fates
            .iter()
            .filter_map(|it| match it {
                Fate::At { spot, .. } => Some(spot.file.path.as_str()),
                _ => None,
            })
            .collect();
        if paths.is_empty() {
            break;
        }
        let changes = match repo_state::changes(cache.repo, old, new, &|path| paths.contains(path))
        {
            Ok(changes) => changes,
            Err(error) => {
                tracing::info!(%error, "cannot read a commit between the two states");
                return vec![None; fates.len()];
            }
        };
        drop(paths);
        let mut step = Step::new(old, new, &changes);
        for fate in &mut fates {
            let next = match fate {
                Fate::At { spot, .. } if step.touches(&spot.file.path) => step.follow(cache, spot),
                _ => continue,
            };
            *fate = compose_fates(fate, next);
        }
    }
    fates.into_iter().map(Some).collect()
}

fn fate_at_start(spot: Spot) -> Fate {
    Fate::At {
        spot,
        kept: 1.0,
        same: true,
        whole_file: true,
        ambiguous: false,
        anchored: true,
        away: None,
    }
}

/// Combines two consecutive fates.
fn compose_fates(before: &Fate, after: Fate) -> Fate {
    match (before, after) {
        (
            Fate::At {
                kept: a,
                same: b,
                whole_file: c,
                ambiguous: d,
                anchored: e,
                away: f,
                ..
            },
            Fate::At {
                spot,
                kept,
                same,
                whole_file,
                ambiguous,
                anchored,
                away,
            },
        ) => Fate::At {
            spot,
            kept: a * kept,
            same: *b && same,
            whole_file: *c && whole_file,
            ambiguous: *d || ambiguous,
            anchored: *e && anchored,
            // Also counts what was kept before or after the span left its file.
            away: match (f, away) {
                (Some(before), away) => Some(before * away.unwrap_or(kept)),
                (None, away) => away.map(|it| it * a),
            },
        },
        (_, after) => after,
    }
}
