//! Matches added files with removed ones, to find renames: by equal bytes, or else by the share of
//! common lines.

use std::collections::{HashMap, HashSet};

use engram_model::Refusal;
use git2::Oid;

use crate::Repo;

use super::repo_state::{self, ChangedFile, FoundState};

/// The least share of the larger file that two versions of one file have in common.
const ALIKE: f32 = 0.5;
/// Among more files than this, only equal ones are matched.
const MAX_FILES: usize = 1000;
/// The most bytes of each side that are read to compare files, and the most lines that are
/// compared.
const MAX_READ: usize = 32 << 20;
const MAX_COMPARED: usize = 50_000_000;

/// The lines of a file without their indents, sorted: the hash of each line, and the total bytes of
/// its occurrences.
struct SortedLines {
    sums: Vec<(u64, usize)>,
    all: usize,
}

/// Returns the changes, joining the two halves of each rename if `wanted` names a removed file.
pub(super) fn join_renames(
    repo: &Repo,
    sides: (FoundState, FoundState),
    mut changes: Vec<ChangedFile>,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<ChangedFile>, Refusal> {
    let went = |it: &&ChangedFile| it.new.is_none();
    let is_wanted = |it: &ChangedFile| it.old.as_ref().is_some_and(|it| wanted(&it.path));
    if !changes.iter().filter(went).any(is_wanted) {
        return Ok(changes);
    }
    let at = |wanted: fn(&ChangedFile) -> bool| -> Vec<usize> {
        (0..changes.len())
            .filter(|it| wanted(&changes[*it]))
            .collect()
    };
    let mut went = at(|it| it.new.is_none() && it.old.is_some());
    let mut came = at(|it| it.old.is_none() && it.new.is_some());
    // The wanted files come first, since time is limited; so do added files with the same file
    // names.
    went.sort_by_key(|it| !is_wanted(&changes[*it]));
    let names: HashSet<String> = went
        .iter()
        .filter(|it| is_wanted(&changes[**it]))
        .filter_map(|it| name_of(&changes[*it].old))
        .collect();
    let is_namesake = |it: &usize| name_of(&changes[*it].new).is_some_and(|it| names.contains(&it));
    came.sort_by_key(|it| !is_namesake(it));
    name_blobs(repo, sides.1, &mut changes, &came);
    let mut pairs = pair_equal(&changes, &went, &came);
    if went.len().max(came.len()) <= MAX_FILES {
        let (old, new): (Vec<usize>, Vec<usize>) = pairs.iter().copied().unzip();
        went.retain(|it| !old.contains(it));
        came.retain(|it| !new.contains(it));
        pairs.extend(pair_alike(repo, sides, &changes, &went, &came)?);
    }
    let mut gone = Vec::new();
    for (old, new) in pairs {
        changes[new].old = changes[old].old.take();
        gone.push(old);
    }
    let mut at = 0..;
    changes.retain(|_| at.next().is_none_or(|it| !gone.contains(&it)));
    Ok(changes)
}

/// Returns the name in the second tree of a file that exists only in the first.
pub(crate) fn renamed(
    repo: &Repo,
    (old, new): (Oid, Oid),
    path: &str,
) -> Result<Option<String>, Refusal> {
    let sides = (FoundState::Tree(old), FoundState::Tree(new));
    let changes = repo_state::changes(repo, sides.0, sides.1, &|it| it == path)?;
    let mut changes = changes.into_iter();
    let found = changes.find(|it| it.old.as_ref().is_some_and(|it| it.path == path));
    Ok(found.and_then(|it| it.new).map(|it| it.path))
}

/// Reads files on disk whose blob id is not known yet.
fn name_blobs(repo: &Repo, side: FoundState, changes: &mut [ChangedFile], came: &[usize]) {
    let mut left = MAX_READ;
    for at in came.iter().take(MAX_FILES) {
        let unknown = |it: &&mut repo_state::StateFile| it.blob == Oid::ZERO_SHA1;
        let Some(file) = changes[*at].new.as_mut().filter(unknown) else {
            continue;
        };
        if left == 0 || repo.stop().is_over() {
            return;
        }
        if let Ok((blob, bytes)) = repo_state::read(repo, side, file) {
            left = left.saturating_sub(bytes.len());
            file.blob = blob;
        }
    }
}

/// Pairs files with equal bytes; among several, those with the same file name.
fn pair_equal(changes: &[ChangedFile], went: &[usize], came: &[usize]) -> Vec<(usize, usize)> {
    let mut by_blob: HashMap<Oid, Vec<usize>> = HashMap::new();
    for at in came {
        if let Some(file) = &changes[*at].new {
            by_blob.entry(file.blob).or_default().push(*at);
        }
    }
    let mut pairs = Vec::new();
    for old in went {
        let Some(file) = &changes[*old].old else {
            continue;
        };
        let Some(there) = by_blob.get_mut(&file.blob).filter(|it| !it.is_empty()) else {
            continue;
        };
        let same = there.iter().position(|it| same_name(changes, *old, *it));
        pairs.push((*old, there.remove(same.unwrap_or(0))));
    }
    pairs
}

/// Pairs files that have much in common, the most alike first.
fn pair_alike(
    repo: &Repo,
    sides: (FoundState, FoundState),
    changes: &[ChangedFile],
    went: &[usize],
    came: &[usize],
) -> Result<Vec<(usize, usize)>, Refusal> {
    let stop = repo.stop();
    let read = |side: FoundState,
                at: &[usize],
                file: fn(&ChangedFile) -> Option<&repo_state::StateFile>| {
        let (mut left, mut found) = (MAX_READ, Vec::new());
        for at in at {
            stop.check()?;
            let file = file(&changes[*at]).filter(|_| left > 0);
            if let Some((_, bytes)) = file.and_then(|it| repo_state::read(repo, side, it).ok()) {
                left = left.saturating_sub(bytes.len());
                found.push((*at, SortedLines::of(&bytes)));
            }
        }
        Ok::<_, Refusal>(found)
    };
    let old = read(sides.0, went, |it| it.old.as_ref())?;
    let new = read(sides.1, came, |it| it.new.as_ref())?;
    let mut compared = 0;
    let mut found = Vec::new();
    'all: for (a, before) in &old {
        stop.check()?;
        for (b, after) in &new {
            compared += before.sums.len() + after.sums.len();
            if compared > MAX_COMPARED {
                break 'all;
            }
            let share = before.likeness(after);
            if share >= ALIKE {
                found.push((share, same_name(changes, *a, *b), *a, *b));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, _, a, b) in found {
        if pairs.iter().all(|it| it.0 != a && it.1 != b) {
            pairs.push((a, b));
        }
    }
    Ok(pairs)
}

fn same_name(changes: &[ChangedFile], old: usize, new: usize) -> bool {
    name_of(&changes[old].old) == name_of(&changes[new].new)
}

fn name_of(file: &Option<repo_state::StateFile>) -> Option<String> {
    let path = &file.as_ref()?.path;
    path.rsplit('/').next().map(str::to_owned)
}

impl SortedLines {
    fn of(bytes: &[u8]) -> Self {
        let mut sums: Vec<(u64, usize)> = bytes
            .split_inclusive(|it| *it == b'\n')
            .map(<[u8]>::trim_ascii_start)
            .filter(|line| !line.is_empty())
            .map(|line| (super::text::hash(line), line.len()))
            .collect();
        sums.sort_unstable();
        sums.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let all = sums.iter().map(|it| it.1).sum();
        Self { sums, all }
    }

    /// Returns the share of the larger file that is in both.
    fn likeness(&self, other: &Self) -> f32 {
        let (less, more) = (self.all.min(other.all), self.all.max(other.all));
        if (less as f32) < more as f32 * ALIKE || more == 0 {
            return 0.0;
        }
        let (mut i, mut j, mut common) = (0, 0, 0);
        while let (Some(a), Some(b)) = (self.sums.get(i), other.sums.get(j)) {
            match a.0.cmp(&b.0) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    common += a.1.min(b.1);
                    i += 1;
                    j += 1;
                }
            }
        }
        common as f32 / more as f32
    }
}
