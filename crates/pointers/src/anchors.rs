//! Follows pinned lines to where they are now, for callers that ask repeatedly. The first step,
//! from the pin to the commit that is checked out, is repeated only when another commit is checked
//! out. The second step, from that commit to the files on disk, covers only files that differ. The
//! results for recent commits are cached, so that switching back to one of them costs next to
//! nothing.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use engram_model::Refusal;
use git2::Oid;

use crate::{
    Encoding, Repo, Shelf,
    git::{tree, trees},
    refuse,
    track::{Anchor, RepoState, Span, SpanState, between, track, whole},
    worktree::checkout::Checkout,
};

/// The number of commits for which the places of lines are cached.
const MAX_COMMITS: usize = 8;
/// A larger file on disk counts as different from the committed one.
const MAX_READ: u64 = 64 << 20;

/// What a span is pinned to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SpanOrigin {
    /// A full commit id.
    Commit(String),
    /// A file of the working tree that was kept.
    Kept {
        /// The sha256 of its bytes, in lower-case hex.
        digest_hex: String,
        /// The commit that was checked out then.
        base: Option<String>,
    },
}

/// Lines to follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PinnedSpan {
    /// The state in which their place is known.
    pub origin: SpanOrigin,
    /// The lines, with their numbers in that state.
    pub span: Span,
}

/// Where lines are, or why they could not be checked.
pub type FoundAnchor = Result<Anchor, Refusal>;

/// Where pinned lines are now.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanStanding {
    /// In the commit that is checked out.
    pub at_head: FoundAnchor,
    /// On disk; in a bare repository, the same as `at_head`.
    pub here: FoundAnchor,
    /// How the lines changed between that commit and the files on disk.
    pub since_head: FoundAnchor,
}

/// The result of one [`Anchors::standings`].
#[derive(Clone, Debug)]
pub struct SpanStandings {
    /// The commit that is checked out; `None` before the first commit.
    pub head: Option<String>,
    /// Where the spans are, in the order in which they were passed in.
    pub standings: Vec<SpanStanding>,
}

/// Follows pinned lines, and caches what it finds.
#[derive(Default)]
pub struct Anchors {
    /// By the tree that is checked out, the most recent last.
    at_head: VecDeque<(Oid, HashMap<PinnedSpan, FoundAnchor>)>,
    /// The blobs that hold the pinned lines; `None` if there is no such file.
    origins: HashMap<(SpanOrigin, String), Option<Oid>>,
}

impl Anchors {
    /// Returns where each of these spans is now.
    ///
    /// # Errors
    ///
    /// The repository is missing. Lines that cannot be followed carry their own refusal.
    pub fn standings(
        &mut self,
        repo: &Repo,
        shelf: &dyn Shelf,
        pinned: &[PinnedSpan],
    ) -> Result<SpanStandings, Refusal> {
        let head = repo.head().1;
        let Some(head) = head else {
            let kept = KeptFiles::new(repo, shelf, None);
            let standings = follow(repo, &kept, pinned.iter(), &RepoState::Worktree);
            return Ok(SpanStandings {
                head: None,
                standings: standings
                    .into_iter()
                    .map(standing_without_commits)
                    .collect(),
            });
        };
        let standings = self.standings_by(repo, shelf, &head, pinned)?;
        Ok(SpanStandings {
            head: Some(head),
            standings,
        })
    }

    /// Like [`Anchors::standings`], by way of `rev` instead of the commit that is checked
    /// out: `since_head` says how the lines changed since `rev`.
    ///
    /// # Errors
    ///
    /// The revision does not exist.
    pub fn since(
        &mut self,
        repo: &Repo,
        shelf: &dyn Shelf,
        rev: &str,
        pinned: &[PinnedSpan],
    ) -> Result<Vec<SpanStanding>, Refusal> {
        let commit = repo.commit(rev)?.id().to_string();
        self.standings_by(repo, shelf, &commit, pinned)
    }

    fn standings_by(
        &mut self,
        repo: &Repo,
        shelf: &dyn Shelf,
        head: &str,
        pinned: &[PinnedSpan],
    ) -> Result<Vec<SpanStanding>, Refusal> {
        let kept = KeptFiles::new(repo, shelf, Some(head));
        let at_head = self.at_head(repo, &kept, head, pinned)?;
        let standings = match repo.workdir() {
            Some(_) => on_disk(repo, &kept, head, pinned, at_head),
            None => at_head.into_iter().map(standing_without_worktree).collect(),
        };
        let standings = pinned.iter().zip(standings);
        Ok(standings
            .map(|(it, stand)| by_bytes(repo, &kept, head, it, &stand).unwrap_or(stand))
            .collect())
    }

    fn at_head(
        &mut self,
        repo: &Repo,
        kept: &KeptFiles<'_>,
        head: &str,
        pinned: &[PinnedSpan],
    ) -> Result<Vec<FoundAnchor>, Refusal> {
        let tree = repo.commit(head)?.tree_id();
        let mut known = self.take_cached(tree);
        let mut blobs: HashMap<&str, Option<Oid>> = HashMap::new();
        let mut at = |path| {
            *blobs
                .entry(path)
                .or_insert_with(|| blob_at(repo, tree, path))
        };
        let mut same = Vec::with_capacity(pinned.len());
        let mut asked: Vec<&PinnedSpan> = Vec::new();
        for pin in pinned {
            let blob = self.origin(repo, kept, pin);
            let is_same = blob.is_some() && blob == at(&pin.span.path);
            same.push(is_same);
            if !is_same && !known.contains_key(pin) {
                asked.push(pin);
            }
        }
        let side = RepoState::Commit(head.to_owned());
        let found = follow(repo, kept, asked.iter().copied(), &side);
        known.extend(asked.into_iter().cloned().zip(found));
        let answers = pinned.iter().zip(same).map(|(it, same)| {
            if same {
                Ok(unchanged(&it.span))
            } else {
                known.get(it).cloned().unwrap_or_else(|| Err(repo.gone()))
            }
        });
        let answers = answers.collect();
        self.at_head.push_back((tree, known));
        if self.at_head.len() > MAX_COMMITS {
            self.at_head.pop_front();
        }
        Ok(answers)
    }

    /// Earlier results for this tree, without the failures, which are tried again.
    fn take_cached(&mut self, tree: Oid) -> HashMap<PinnedSpan, FoundAnchor> {
        let Some(at) = self.at_head.iter().position(|(id, _)| *id == tree) else {
            return HashMap::new();
        };
        let (_, mut known) = self.at_head.remove(at).unwrap_or((tree, HashMap::new()));
        known.retain(|_, found| found.is_ok());
        known
    }

    fn origin(&mut self, repo: &Repo, kept: &KeptFiles<'_>, pinned: &PinnedSpan) -> Option<Oid> {
        let key = (pinned.origin.clone(), pinned.span.path.clone());
        if let Some(blob) = self.origins.get(&key) {
            return *blob;
        }
        let blob = match &pinned.origin {
            SpanOrigin::Commit(commit) => repo
                .commit(commit)
                .ok()
                .and_then(|it| blob_at(repo, it.tree_id(), &pinned.span.path)),
            SpanOrigin::Kept { digest_hex, .. } => kept.blob_id(&pinned.span.path, digest_hex),
        };
        // A missing blob may still be fetched.
        if blob.is_some() {
            self.origins.insert(key, blob);
        }
        blob
    }
}

/// Compares a binary as a whole, since it has no lines to follow. `None` for a text, and where
/// following worked.
fn by_bytes(
    repo: &Repo,
    kept: &KeptFiles<'_>,
    head: &str,
    pinned: &PinnedSpan,
    stand: &SpanStanding,
) -> Option<SpanStanding> {
    stand.at_head.as_ref().and(stand.here.as_ref()).err()?;
    let commit = kept.commit(pinned).ok()?;
    let blob = tree::blob(repo, &repo.commit(&commit).ok()?, &pinned.span.path).ok()?;
    if Encoding::of_file(blob.content()).is_some() {
        return None;
    }
    let (pin, head) = (
        RepoState::Commit(commit),
        RepoState::Commit(head.to_owned()),
    );
    let at_head = whole(repo, &pin, &head, &pinned.span);
    if repo.workdir().is_none() {
        return Some(standing_without_worktree(at_head));
    }
    let place = at_head.as_ref().ok().and_then(|it| it.place.clone());
    Some(SpanStanding {
        here: whole(repo, &pin, &RepoState::Worktree, &pinned.span),
        since_head: match place {
            Some(place) => whole(repo, &head, &RepoState::Worktree, &place),
            None => Err(gone_before()),
        },
        at_head,
    })
}

fn standing_without_commits(here: FoundAnchor) -> SpanStanding {
    SpanStanding {
        at_head: here.clone(),
        since_head: here.clone(),
        here,
    }
}

fn standing_without_worktree(at_head: FoundAnchor) -> SpanStanding {
    let place = at_head.as_ref().ok().and_then(|it| it.place.as_ref());
    SpanStanding {
        since_head: match place {
            Some(place) => Ok(unchanged(place)),
            None => Err(gone_before()),
        },
        here: at_head.clone(),
        at_head,
    }
}

fn unchanged(span: &Span) -> Anchor {
    Anchor {
        state: SpanState::Unchanged,
        place: Some(span.clone()),
        confidence: 1.0,
    }
}

fn gone_before() -> Refusal {
    refuse::not_found(
        "the evidence was already gone",
        "Review the claim: forget it, or point it at evidence that still exists.",
    )
}

fn blob_at(repo: &Repo, tree: Oid, path: &str) -> Option<Oid> {
    let (id, mode) = trees::find(repo, tree, path).ok()??;
    trees::is_file(mode).then_some(id)
}

/// Follows all spans of one origin in a single pass.
fn follow<'p>(
    repo: &Repo,
    kept: &KeptFiles<'_>,
    pinned: impl Iterator<Item = &'p PinnedSpan>,
    to: &RepoState,
) -> Vec<FoundAnchor> {
    let pinned: Vec<&PinnedSpan> = pinned.collect();
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut found: Vec<Option<FoundAnchor>> = vec![None; pinned.len()];
    for (at, pin) in pinned.iter().enumerate() {
        match kept.commit(pin) {
            Ok(commit) => groups.entry(commit).or_default().push(at),
            Err(refusal) => found[at] = Some(Err(refusal)),
        }
    }
    for (commit, members) in groups {
        let spans: Vec<Span> = members.iter().map(|at| pinned[*at].span.clone()).collect();
        // A commit that is out of reach does not affect the spans of other commits.
        let anchors = track(repo, &RepoState::Commit(commit), to, &spans);
        for (at, anchor) in members.into_iter().zip(anchors) {
            found[at] = Some(anchor);
        }
    }
    let answered = found.into_iter();
    answered
        .map(|it| it.unwrap_or_else(|| Err(repo.gone())))
        .collect()
}

/// Follows lines from the commit that is checked out to the files on disk.
fn on_disk(
    repo: &Repo,
    kept: &KeptFiles<'_>,
    head: &str,
    pinned: &[PinnedSpan],
    at_head: Vec<FoundAnchor>,
) -> Vec<SpanStanding> {
    let places: Vec<Option<Span>> = at_head
        .iter()
        .map(|it| it.as_ref().ok().and_then(|it| it.place.clone()))
        .collect();
    let mut paths: HashSet<&str> = places.iter().flatten().map(|it| it.path.as_str()).collect();
    paths.extend(pinned.iter().map(|it| it.span.path.as_str()));
    let dirty = match dirty(repo, head, &paths) {
        Ok(dirty) => dirty,
        Err(refusal) => {
            tracing::info!(%refusal, "cannot find the changed files; comparing every file");
            paths.iter().map(|it| (*it).to_owned()).collect()
        }
    };
    let side = RepoState::Commit(head.to_owned());
    let moved: Vec<Span> = places
        .iter()
        .flatten()
        .filter(|it| dirty.contains(&it.path))
        .cloned()
        .collect();
    let mut since = track(repo, &side, &RepoState::Worktree, &moved).into_iter();
    let mut standings = Vec::with_capacity(pinned.len());
    for ((pin, at_head), place) in pinned.iter().zip(at_head).zip(places) {
        let stand = match place {
            None => lost(repo, kept, pin, at_head, &dirty),
            Some(place) if !dirty.contains(&place.path) => SpanStanding {
                here: at_head.clone(),
                since_head: Ok(unchanged(&place)),
                at_head,
            },
            Some(_) => {
                let since_head = since.next().unwrap_or_else(|| Err(repo.gone()));
                let here = follow_uncommitted(repo, kept, pin, &at_head)
                    .unwrap_or_else(|| compose_anchors(repo, kept, pin, &at_head, &since_head));
                SpanStanding {
                    here,
                    since_head,
                    at_head,
                }
            }
        };
        standings.push(stand);
    }
    standings
}

/// Follows uncommitted lines directly to the files on disk if the commit has only some of them: by
/// way of the commit, the other lines would be lost. `None` for all other lines.
fn follow_uncommitted(
    repo: &Repo,
    kept: &KeptFiles<'_>,
    pin: &PinnedSpan,
    at_head: &FoundAnchor,
) -> Option<FoundAnchor> {
    let is_kept = matches!(pin.origin, SpanOrigin::Kept { .. });
    let is_edited = matches!(at_head, Ok(anchor) if matches!(anchor.state, SpanState::Edited(_)));
    if !is_kept || !is_edited {
        return None;
    }
    follow(repo, kept, std::iter::once(pin), &RepoState::Worktree).pop()
}

/// Searches the disk for lines that are missing from the commit; they may exist there again.
fn lost(
    repo: &Repo,
    kept: &KeptFiles<'_>,
    pin: &PinnedSpan,
    at_head: FoundAnchor,
    dirty: &HashSet<String>,
) -> SpanStanding {
    let here = if dirty.contains(&pin.span.path) {
        follow(repo, kept, std::iter::once(pin), &RepoState::Worktree).pop()
    } else {
        None
    };
    SpanStanding {
        here: here.unwrap_or_else(|| at_head.clone()),
        at_head,
        since_head: Err(gone_before()),
    }
}

/// Returns the paths whose files on disk differ from the commit.
fn dirty(repo: &Repo, head: &str, paths: &HashSet<&str>) -> Result<HashSet<String>, Refusal> {
    if paths.is_empty() {
        return Ok(HashSet::new());
    }
    let (tree, mut checkout) = (repo.commit(head)?.tree_id(), Checkout::open(repo)?);
    let stop = repo.stop();
    let mut dirty = HashSet::new();
    for path in paths {
        stop.check()?;
        // An unreadable file is checked too, and then reports why.
        let there = checkout.blob(path, MAX_READ).ok();
        if there != Some(blob_at(repo, tree, path)) {
            dirty.insert((*path).to_owned());
        }
    }
    Ok(dirty)
}

/// Combines the two steps; comparing the bytes at both ends decides the state.
fn compose_anchors(
    repo: &Repo,
    kept: &KeptFiles<'_>,
    pinned: &PinnedSpan,
    at_head: &FoundAnchor,
    since: &FoundAnchor,
) -> FoundAnchor {
    let (first, second) = match (at_head, since) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(refusal), _) | (_, Err(refusal)) => return Err(refusal.clone()),
    };
    let confidence = first.confidence * second.confidence;
    let Some(place) = &second.place else {
        return Ok(Anchor {
            confidence,
            ..second.clone()
        });
    };
    let commit = RepoState::Commit(kept.commit(pinned)?);
    let state = between(repo, (&commit, &pinned.span), (&RepoState::Worktree, place))?;
    Ok(Anchor {
        state,
        place: Some(place.clone()),
        confidence,
    })
}

/// Kept files, as commits that exist in memory only.
struct KeptFiles<'a> {
    repo: &'a Repo,
    shelf: &'a dyn Shelf,
    head: Option<&'a str>,
    made: std::cell::RefCell<HashMap<(SpanOrigin, String), String>>,
}

impl<'a> KeptFiles<'a> {
    fn new(repo: &'a Repo, shelf: &'a dyn Shelf, head: Option<&'a str>) -> Self {
        Self {
            repo,
            shelf,
            head,
            made: std::cell::RefCell::default(),
        }
    }

    fn blob_id(&self, path: &str, digest_hex: &str) -> Option<Oid> {
        let bytes = self.shelf.blob(path, digest_hex).ok()??;
        Oid::hash_object(git2::ObjectType::Blob, &bytes).ok()
    }

    /// Returns the commit that holds a span as pinned.
    fn commit(&self, pinned: &PinnedSpan) -> Result<String, Refusal> {
        let (digest_hex, base) = match &pinned.origin {
            SpanOrigin::Commit(commit) => return Ok(commit.clone()),
            SpanOrigin::Kept { digest_hex, base } => (digest_hex, base),
        };
        let key = (pinned.origin.clone(), pinned.span.path.clone());
        if let Some(commit) = self.made.borrow().get(&key) {
            return Ok(commit.clone());
        }
        let bytes = self
            .shelf
            .blob(&pinned.span.path, digest_hex)?
            .ok_or_else(|| {
                refuse::not_found(
                    format!(
                        "this home has no snapshot of {}",
                        refuse::quoted(&pinned.span.path)
                    ),
                    "Only the home in which the claim was stored has it.",
                )
            })?;
        let base = base.as_deref().filter(|it| self.repo.commit(it).is_ok());
        let commit = self
            .repo
            .commit_in_memory(base.or(self.head), &pinned.span.path, &bytes)?;
        self.made.borrow_mut().insert(key, commit.clone());
        Ok(commit)
    }
}
