//! Finds recent changes to lines: the newest of each kind that still holds at the checked-out
//! commit. A young or shallow history has fewer, or none.

use std::ops::Range;

use engram_model::{Lines, PointerEdit};
use git2::{Commit, Oid};
use imara_diff::InternedInput;

use crate::{
    Encoding, Repo,
    git::trees::{self, Difference, TreeEntry},
    text::landmarks,
};

use super::{
    RepoState, Span, compared, renames,
    repo_state::{ChangedFile, FoundState},
    track,
    verdict::SpanState,
};

/// The limits on how far back to go: commits, and entries of root folders, since a wide root is
/// slow to compare.
const MAX_COMMITS: usize = 100;
const MAX_ENTRIES: usize = 500_000;
/// Commits that changed more files are skipped.
const MAX_FILES: usize = 200;
/// The largest file, and the most bytes in all, that are compared.
const MAX_BYTES: usize = 256 << 10;
const MAX_READ: usize = 32 << 20;
/// The limits on searching for renames, in commits and in bytes of files: every added file is
/// compared with every deleted one.
const MAX_RENAMES: usize = 10;
const MAX_RENAMED: usize = 8 << 20;
/// The most changes of one kind that are followed to the checked-out commit.
const MAX_TRIED: usize = 12;
/// The most lines of a span, and the fewest letters that make it distinct.
const LINES: usize = 12;
const FEW_LETTERS: usize = 20;

/// A change of a commit to lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The commit.
    pub commit: String,
    /// Its parent, which has the lines.
    pub parent: String,
    /// The path of the file in the parent.
    pub path: String,
    /// The lines in the parent.
    pub lines: Lines,
    /// What happened to them.
    pub became: Became,
}

/// What happened to lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Became {
    /// They are at these lines of the same file, unchanged.
    Moved(Lines),
    /// Their file now has this path; they are unchanged.
    Renamed(String),
    /// They were edited.
    Edited,
    /// At the checked-out commit, the file ends at this line.
    Ends(u32),
}

impl Became {
    fn kind(&self) -> usize {
        match self {
            Self::Moved(_) => 0,
            Self::Renamed(_) => 1,
            Self::Edited => 2,
            Self::Ends(_) => 3,
        }
    }
}

/// Returns at most the newest change of each kind; on a timeout, those found so far.
pub fn lately(repo: &Repo) -> Vec<Trace> {
    let Some(head) = repo.head().1 else {
        return Vec::new();
    };
    let mut search = TraceSearch {
        repo,
        head: &head,
        found: Vec::new(),
        tried: [0; 4],
        read: 0,
        renames: 0,
    };
    search.walk();
    search.found
}

struct TraceSearch<'r> {
    repo: &'r Repo,
    head: &'r str,
    found: Vec<Trace>,
    /// The number of changes of each kind that were followed.
    tried: [usize; 4],
    /// The number of bytes compared.
    read: usize,
    /// The number of commits in which renames were searched for.
    renames: usize,
}

/// A commit and its only parent.
struct CommitStep<'c> {
    commit: &'c Commit<'c>,
    parent: &'c Commit<'c>,
}

impl CommitStep<'_> {
    fn trace(&self, path: &str, lines: Lines, became: Became) -> Trace {
        Trace {
            commit: self.commit.id().to_string(),
            parent: self.parent.id().to_string(),
            path: path.to_owned(),
            lines,
            became,
        }
    }
}

impl<'r> TraceSearch<'r> {
    /// Walks back along first parents, to the end of the history or of the limits.
    fn walk(&mut self) -> Option<()> {
        let mut commit = self.repo.commit(self.head).ok()?;
        let mut entries = 0;
        for _ in 0..MAX_COMMITS {
            if self.tried.iter().all(|it| *it >= MAX_TRIED) || self.repo.stop().is_over() {
                return None;
            }
            // A shallow clone's history ends where it was cut.
            let parent = commit.parent_id(0).ok()?;
            let parent = self.repo.commit_of_id(parent).ok()?;
            entries += self.repo.tree(parent.tree_id()).ok()?.len();
            if entries > MAX_ENTRIES {
                return None;
            }
            if commit.parent_count() == 1 {
                let step = CommitStep {
                    commit: &commit,
                    parent: &parent,
                };
                self.search_commit(&step);
            }
            commit = parent;
        }
        None
    }

    /// Searches one commit; finds nothing if it cannot be read.
    fn search_commit(&mut self, step: &CommitStep<'_>) -> Option<()> {
        let trees = (step.parent.tree_id(), step.commit.tree_id());
        let changed = trees::differences(self.repo, trees.0, trees.1).ok()?;
        if changed.len() > MAX_FILES {
            return None;
        }
        self.look_for_renames(step, trees, &changed);
        for (before, after) in &changed {
            if self.repo.stop().is_over() {
                return None;
            }
            if let (Some(before), Some(after)) = (before, after) {
                self.compare(step, before, after);
            }
        }
        Some(())
    }

    fn look_for_renames(
        &mut self,
        step: &CommitStep<'_>,
        (old, new): (Oid, Oid),
        changed: &[Difference],
    ) -> Option<()> {
        let lone = changed
            .iter()
            .filter(|(before, after)| before.is_some() != after.is_some());
        let (went, came): (Vec<_>, Vec<_>) = lone.partition(|(before, _)| before.is_some());
        let is_wanted = self.renames < MAX_RENAMES && self.is_open(&Became::Renamed(String::new()));
        if went.is_empty() || came.is_empty() || !is_wanted {
            return None;
        }
        self.renames += 1;
        let files = went
            .iter()
            .chain(&came)
            .filter_map(|(before, after)| before.as_ref().or(after.as_ref()));
        let size = files.map(|it| self.repo.size(it.blob).unwrap_or(MAX_RENAMED));
        if size.fold(0, usize::saturating_add) > MAX_RENAMED {
            return None;
        }
        let changes = changed.iter().cloned();
        let changes = changes.map(|(old, new)| ChangedFile { old, new }).collect();
        let sides = (FoundState::Tree(old), FoundState::Tree(new));
        let changes = renames::join_renames(self.repo, sides, changes, &|_| true).ok()?;
        for change in changes {
            if self.repo.stop().is_over() {
                return None;
            }
            let (Some(before), Some(after)) = (change.old, change.new) else {
                continue;
            };
            let are_shown = [&before, &after].map(|it| landmarks::is_source(&it.path));
            if before.path == after.path || are_shown != [true, true] {
                continue;
            }
            let Some(bytes) = self.bytes(&before) else {
                continue;
            };
            let lines: Vec<&[u8]> = Encoding::Utf8.lines(&bytes).collect();
            // The top of a file, with its imports, is edited most often, so it comes last.
            for part in [2, 1, 3, 0] {
                let span = beginning(&lines, lines.len() * part / 4..lines.len());
                if let Some(lines) = span.and_then(numbers) {
                    let became = Became::Renamed(after.path.clone());
                    self.offer(step.trace(&before.path, lines, became));
                }
            }
        }
        Some(())
    }

    /// Offers what was edited in a file, and what moved because of that.
    fn compare(
        &mut self,
        step: &CommitStep<'_>,
        before: &TreeEntry,
        after: &TreeEntry,
    ) -> Option<()> {
        let others = [
            Became::Edited,
            Became::Ends(0),
            Became::Moved(Lines { start: 1, end: 1 }),
        ];
        if !others.iter().any(|it| self.is_open(it)) || !landmarks::is_source(&before.path) {
            return None;
        }
        let (old, new) = (self.bytes(before)?, self.bytes(after)?);
        let mut input = InternedInput::default();
        input.update_before(Encoding::Utf8.lines(&old));
        input.update_after(Encoding::Utf8.lines(&new));
        let mut diff = compared(&input);
        diff.postprocess_lines(&input);
        let lines: Vec<&[u8]> = Encoding::Utf8.lines(&old).collect();
        let (mut at, mut there) = (0, 0);
        for hunk in diff.hunks() {
            let edited = hunk.before.start as usize..hunk.before.end as usize;
            self.offer_moved(step, before, &lines, (at..edited.start, there));
            let is_short = (1..=LINES).contains(&edited.len()) && !hunk.after.is_empty();
            let span = if is_short {
                telling(&lines, edited)
            } else {
                None
            };
            if let Some(span) = span.and_then(numbers) {
                self.offer(step.trace(&before.path, span, Became::Edited));
            }
            (at, there) = (hunk.before.end as usize, hunk.after.end as usize);
        }
        self.offer_moved(step, before, &lines, (at..lines.len(), there));
        self.offer_end(step, before, lines.len())
    }

    /// Offers lines that are the same before and after, in other places.
    fn offer_moved(
        &mut self,
        step: &CommitStep<'_>,
        file: &TreeEntry,
        lines: &[&[u8]],
        (equal, there): (Range<usize>, usize),
    ) -> Option<()> {
        if equal.start == there {
            return None;
        }
        let span = beginning(lines, equal.clone())?;
        let now = there + (span.start - equal.start);
        let now = numbers(now..now + span.len())?;
        self.offer(step.trace(&file.path, numbers(span)?, Became::Moved(now)))
    }

    fn offer_end(&mut self, step: &CommitStep<'_>, file: &TreeEntry, lines: usize) -> Option<()> {
        let tree = self.repo.commit(self.head).ok()?.tree_id();
        let (blob, mode) = trees::find(self.repo, tree, &file.path).ok()??;
        if !trees::is_file(mode) {
            return None;
        }
        let now = self.bytes(&TreeEntry {
            path: file.path.clone(),
            blob,
        })?;
        let now = u32::try_from(Encoding::Utf8.count_lines(&now)).ok()?;
        let last = numbers(lines.checked_sub(1)?..lines)?;
        if now == 0 || now == last.end {
            return None;
        }
        self.offer(step.trace(&file.path, last, Became::Ends(now)))
    }

    /// Returns whether a change of this kind is still wanted.
    fn is_open(&self, became: &Became) -> bool {
        self.tried
            .get(became.kind())
            .is_some_and(|it| *it < MAX_TRIED)
    }

    /// Keeps a change that still holds at the checked-out commit, and stops the search for its
    /// kind.
    fn offer(&mut self, trace: Trace) -> Option<()> {
        if !self.is_open(&trace.became) {
            return None;
        }
        let tried = self.tried.get_mut(trace.became.kind())?;
        *tried += 1;
        if self.is_borne_out(&trace)? {
            *self.tried.get_mut(trace.became.kind())? = MAX_TRIED;
            self.found.push(trace);
        }
        Some(())
    }

    fn is_borne_out(&self, trace: &Trace) -> Option<bool> {
        if matches!(trace.became, Became::Ends(_)) {
            return Some(true);
        }
        let span = Span {
            path: trace.path.clone(),
            start: trace.lines.start,
            end: trace.lines.end,
        };
        let (from, to) = (
            RepoState::Commit(trace.parent.clone()),
            RepoState::Commit(self.head.to_owned()),
        );
        let found = track(self.repo, &from, &to, &[span]).pop()?.ok()?;
        Some(match trace.became {
            Became::Moved(_) => found.state == SpanState::Moved,
            Became::Renamed(_) => found.state == SpanState::Renamed,
            Became::Edited => found.state == SpanState::Edited(PointerEdit::Text),
            Became::Ends(_) => true,
        })
    }

    /// Returns a text within the limits; `None` if it cannot be read or the limits are used up.
    fn bytes(&mut self, file: &TreeEntry) -> Option<Vec<u8>> {
        let size = self.repo.size(file.blob).ok()?;
        if size > MAX_BYTES || self.read + size > MAX_READ {
            return None;
        }
        self.read += size;
        let blob = self.repo.blob(file.blob, &file.path).ok()?;
        let bytes = blob.content();
        (Encoding::of_file(bytes) == Some(Encoding::Utf8)).then(|| bytes.to_vec())
    }
}

/// Returns a span from the first line here that begins like a definition: with a letter, without
/// indent.
fn beginning(lines: &[&[u8]], within: Range<usize>) -> Option<Range<usize>> {
    let begins = |line: &&[u8]| line.first().is_some_and(u8::is_ascii_alphabetic);
    let start = within.start + lines.get(within.clone())?.iter().position(begins)?;
    telling(lines, start..within.end.min(start + LINES))
}

/// Returns a span without its trailing blank lines, if it has enough letters.
fn telling(lines: &[&[u8]], span: Range<usize>) -> Option<Range<usize>> {
    let is_blank = |line: &[u8]| line.iter().all(u8::is_ascii_whitespace);
    let within = lines.get(span.clone())?;
    let last = within.iter().rposition(|line| !is_blank(line))?;
    let letters = within.iter().flat_map(|it| it.iter());
    let letters = letters.filter(|it| it.is_ascii_alphanumeric()).count();
    (letters >= FEW_LETTERS).then(|| span.start..span.start + last + 1)
}

/// Returns line numbers, counted from 1.
fn numbers(span: Range<usize>) -> Option<Lines> {
    Some(Lines {
        start: u32::try_from(span.start + 1).ok()?,
        end: u32::try_from(span.end).ok()?,
    })
}
