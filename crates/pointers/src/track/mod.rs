//! Finds spans of one state of a repository in another state.
//!
//! One comparison of the two states is enough for most spans: the blob is the same, or the lines
//! are in an equal block of a diff. The doubtful spans are also followed through the commits
//! between, all in one pass, and the two results are weighed. Either way, the bytes decide: only
//! spans that are equal byte for byte are called unchanged, moved or renamed.

mod between;
mod cache;
mod compare;
mod history;
mod likeness;
mod linemap;
mod moves;
mod place;
mod renames;
mod repo_state;
mod step;
mod text;
mod traces;
mod verdict;
mod walk;
mod whole;

use std::collections::HashSet;

use engram_model::Refusal;

use crate::{Repo, git::tree, refuse};

use cache::{Cache, ReadText};
use repo_state::FoundState;
use step::{Fate, Spot, Step};

pub use between::between;
pub(crate) use compare::compared;
pub(crate) use renames::renamed;
pub use repo_state::RepoState;
pub use traces::{Became, Trace, lately};
pub use verdict::{Anchor, SpanState};
pub use whole::whole;

/// Lines of a file, counted from 1, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The path from the root of the repository.
    pub path: String,
    /// The first line.
    pub start: u32,
    /// The last line.
    pub end: u32,
}

/// A span whose lines were found in the state that it comes from.
struct FoundSpan {
    spot: Spot,
    read: ReadText,
}

/// Returns where each span of `from` is at `to`, in the same order. A span that cannot be followed
/// has its own refusal; if a state does not exist, every span has one.
pub fn track(
    repo: &Repo,
    from: &RepoState,
    to: &RepoState,
    spans: &[Span],
) -> Vec<Result<Anchor, Refusal>> {
    if spans.is_empty() {
        return Vec::new();
    }
    let sides = from.find(repo).and_then(|from| Ok((from, to.find(repo)?)));
    let ((old, from_commit), (new, to_commit)) = match sides {
        Ok(sides) => sides,
        Err(refusal) => return vec![Err(refusal); spans.len()],
    };
    let mut cache = Cache::new(repo);
    let origins: Vec<Result<FoundSpan, Refusal>> = spans
        .iter()
        .map(|span| origin(&mut cache, from, old, span))
        .collect();
    let known: Vec<&FoundSpan> = origins.iter().flatten().collect();
    let direct = at_once(&mut cache, old, new, &known);
    let doubtful: Vec<usize> = (0..known.len())
        .filter(|it| verdict::is_doubtful(&known[*it].read.text, &known[*it].spot, &direct[*it]))
        .collect();
    let mut stepwise: Vec<Option<Fate>> = vec![None; known.len()];
    if !doubtful.is_empty()
        && let Some(route) = walk::route(repo, (old, from_commit), (new, to_commit))
    {
        let spots = doubtful.iter().map(|it| known[*it].spot.clone()).collect();
        let fates = walk::along(&mut cache, &route, spots);
        for (at, fate) in doubtful.into_iter().zip(fates) {
            stepwise[at] = fate;
        }
    }
    let fates: Vec<_> = direct.into_iter().zip(stepwise).collect();
    let mut fates = fates.into_iter();
    origins
        .into_iter()
        .map(|origin| {
            let origin = origin?;
            match fates.next() {
                Some((direct, stepwise)) => verdict::of(
                    &mut cache,
                    new,
                    &origin.read,
                    &origin.spot,
                    direct,
                    stepwise,
                ),
                None => Err(repo.gone()),
            }
        })
        .collect()
}

/// Finds the lines of a span in the state that it comes from.
fn origin(
    cache: &mut Cache<'_>,
    from: &RepoState,
    side: FoundState,
    span: &Span,
) -> Result<FoundSpan, Refusal> {
    let Some(file) = repo_state::find(cache.repo, side, &span.path)? else {
        return Err(not_a_file(cache.repo, from, &span.path));
    };
    if span.start == 0 || span.end < span.start {
        return Err(refuse::invalid(
            format!("lines {} to {} are not a span", span.start, span.end),
            "Count lines from 1; the last must not be before the first.",
        ));
    }
    let read = cache.read(side, &file)?;
    let total = read.text.len();
    if span.end as usize > total {
        return Err(refuse::past_end(&span.path, span.end, total as u64));
    }
    let spot = Spot {
        file: repo_state::StateFile {
            path: file.path,
            blob: read.blob,
        },
        lines: span.start as usize - 1..span.end as usize,
    };
    Ok(FoundSpan { spot, read })
}

/// Explains why there are no lines at a path.
fn not_a_file(repo: &Repo, from: &RepoState, path: &str) -> Refusal {
    match from {
        RepoState::Commit(rev) => {
            let commit = match repo.commit(rev) {
                Ok(commit) => commit,
                Err(refusal) => return refusal,
            };
            match tree::blob(repo, &commit, path) {
                Err(refusal) => refusal,
                // The path goes through a link, or is another spelling of the file's path.
                Ok(_) => refuse::invalid(
                    format!("{} is not the file's own path", refuse::quoted(path)),
                    "Use the file's own path from the repository root, with links resolved.",
                ),
            }
        }
        RepoState::Index | RepoState::Worktree => refuse::not_found(
            format!("{} is not a file at that revision", refuse::quoted(path)),
            "Write the path of a file from the repository root.",
        ),
    }
}

/// Compares the two states in one step.
fn at_once(
    cache: &mut Cache<'_>,
    old: FoundState,
    new: FoundState,
    origins: &[&FoundSpan],
) -> Vec<Fate> {
    let paths: HashSet<&str> = origins
        .iter()
        .map(|it| it.spot.file.path.as_str())
        .collect();
    match repo_state::changes(cache.repo, old, new, &|path| paths.contains(path)) {
        Ok(changes) => {
            let mut step = Step::new(old, new, &changes);
            let spots = origins.iter().map(|it| &it.spot);
            spots.map(|it| step.follow(cache, it)).collect()
        }
        Err(error) => {
            tracing::info!(%error, "cannot compare the two states as a whole; comparing each file");
            origins
                .iter()
                .map(|it| by_itself(cache, old, new, &it.spot))
                .collect()
        }
    }
}

/// Compares only the file at the same path, if a damaged repository cannot be compared as a whole.
fn by_itself(cache: &mut Cache<'_>, old: FoundState, new: FoundState, spot: &Spot) -> Fate {
    let found = match repo_state::find(cache.repo, new, &spot.file.path) {
        Ok(Some(file)) => file,
        Ok(None) => {
            return Fate::Unknown(refuse::unavailable(
                format!(
                    "cannot tell where {} went: objects of the repository are missing or damaged",
                    refuse::quoted(&spot.file.path)
                ),
                "Run git fsck; in a partial clone, fetch the missing objects with git fetch --refetch.",
            ));
        }
        Err(refusal) => return Fate::Unknown(refusal),
    };
    let change = [repo_state::ChangedFile {
        old: Some(spot.file.clone()),
        new: Some(found),
    }];
    Step::new(old, new, &change).follow(cache, spot)
}
