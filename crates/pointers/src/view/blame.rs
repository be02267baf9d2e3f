//! Finds the commits that wrote the lines of a span, in the history of the pinned commit.

use std::{
    collections::{BinaryHeap, HashMap, HashSet},
    ops::Range,
};

use engram_model::{Blame, BlamePart, Lines, Pin, Pointer, Refusal, Target, shorten};
use git2::{Commit, Oid};
use imara_diff::InternedInput;
use jiff::Timestamp;

use crate::{Encoding, Repo, Shelf, Stop, git::trees, locate, refuse, track};

/// The most commits through which a history is followed.
const MAX_COMMITS: usize = 3_000;
/// The most lines that are attributed; the rest of a longer span is only counted.
const MAX_LINES: u32 = 2_000;
/// Files with more bytes or lines than this are not followed.
const MAX_BYTES: usize = 2 << 20;
const MAX_HEIGHT: u64 = 200_000;
/// The most bytes that are compared; lines not attributed by then were written earlier.
const MAX_READ: usize = 256 << 20;
/// The most searches for the earlier name of a file.
const MAX_NAMES: usize = 50;
/// The most parents of a merge commit that are followed.
const MAX_PARENTS: usize = 16;
const MAX_SUMMARY: usize = 200;

/// Returns the commits that wrote the span of a pointer to a file of a commit.
pub fn blame(repo: Option<&Repo>, shelf: &dyn Shelf, pointer: &Pointer) -> Result<Blame, Refusal> {
    let (path, pin) = match &pointer.target {
        Target::Repo { path, pin, .. } | Target::Test { path, pin, .. } => (path, pin),
        Target::Artifact { name, pin, .. } => (name, pin),
        Target::Diff { .. } | Target::Sam { .. } | Target::Url { .. } => return Err(no_history()),
    };
    let Pin::Rev(rev) = pin else {
        return Err(no_history());
    };
    let repo = repo.ok_or_else(refuse::no_repository)?;
    let found = locate::locate(Some(repo), shelf, pointer)?;
    if found.is_binary {
        return Err(refuse::binary(path));
    }
    let total = found.encoding.count_lines(found.file.bytes());
    if total == 0 {
        return Ok(Blame::default());
    }
    let height = Encoding::Utf8.count_lines(found.file.bytes());
    if found.file.bytes().len() > MAX_BYTES || height > MAX_HEIGHT {
        return Err(refuse::invalid(
            format!(
                "the history of {} is too large to follow",
                refuse::quoted(path)
            ),
            "Run git blame in a terminal.",
        ));
    }
    let span = found.lines.unwrap_or(Lines {
        start: 1,
        end: u32::try_from(total).unwrap_or(u32::MAX),
    });
    let end = span.end.min(span.start.saturating_add(MAX_LINES - 1));
    let mut search = BlameSearch::new(repo, span.start - 1..end);
    search.from(&repo.commit(rev)?, path);
    search.run();
    let parts: Result<Vec<_>, _> = search
        .parts()
        .into_iter()
        .map(|it| part(repo, it))
        .collect();
    Ok(Blame {
        parts: parts.map_err(|e| refuse::broken("the history", &e))?,
        hidden: span.end - end,
    })
}

/// The commit that wrote a line.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Authorship {
    by: Oid,
    /// Whether the line may be older.
    or_before: bool,
}

/// A run of lines in an earlier version of the file.
#[derive(Clone)]
struct Stretch {
    /// Its lines in the file of that commit, counted from 0.
    at: Range<u32>,
    /// The number of its first line in the file asked about.
    first: u32,
}

/// Follows lines back, visiting the newest commits first.
struct BlameSearch<'r> {
    repo: &'r Repo,
    stop: Stop,
    asked: Range<u32>,
    written: Vec<Option<Authorship>>,
    waiting: BinaryHeap<(i64, Oid)>,
    /// The lines still to attribute at each waiting commit, by the path of the file there.
    lines: HashMap<Oid, HashMap<String, Vec<Stretch>>>,
    read: usize,
    names: usize,
}

impl<'r> BlameSearch<'r> {
    fn new(repo: &'r Repo, asked: Range<u32>) -> Self {
        Self {
            repo,
            stop: repo.stop(),
            written: vec![None; asked.len()],
            asked,
            waiting: BinaryHeap::new(),
            lines: HashMap::new(),
            read: 0,
            names: 0,
        }
    }

    fn from(&mut self, commit: &Commit<'_>, path: &str) {
        let all = Stretch {
            at: self.asked.clone(),
            first: self.asked.start,
        };
        self.wait(commit, path, vec![all]);
    }

    fn wait(&mut self, commit: &Commit<'_>, path: &str, stretches: Vec<Stretch>) {
        if stretches.is_empty() {
            return;
        }
        let paths = self.lines.entry(commit.id()).or_insert_with(|| {
            self.waiting.push((commit.time().seconds(), commit.id()));
            HashMap::new()
        });
        paths.entry(path.to_owned()).or_default().extend(stretches);
    }

    fn run(&mut self) {
        let mut seen = HashSet::new();
        while let Some((_, id)) = self.waiting.pop() {
            let paths = self.lines.remove(&id).unwrap_or_default();
            // Visits a commit only once, even if it is dated before its parents.
            let is_over = seen.len() >= MAX_COMMITS
                || self.read > MAX_READ
                || !seen.insert(id)
                || self.stop.is_over();
            let commit = self.repo.commit_of_id(id);
            for (path, stretches) in paths {
                let left = match &commit {
                    Ok(commit) if !is_over => self.pass(commit, &path, stretches),
                    _ => Err(stretches),
                };
                let (left, or_before) = match left {
                    Ok(left) => (left, false),
                    Err(left) => (left, true),
                };
                self.wrote(&left, Authorship { by: id, or_before });
            }
        }
    }

    fn wrote(&mut self, stretches: &[Stretch], written: Authorship) {
        for stretch in stretches {
            let from = (stretch.first - self.asked.start) as usize;
            let lines = self.written.iter_mut().skip(from).take(stretch.at.len());
            lines.for_each(|line| *line = Some(written));
        }
    }

    /// Passes lines on to the parents that have them, and returns those that this commit wrote. The
    /// error holds lines that cannot be attributed.
    fn pass(
        &mut self,
        commit: &Commit<'_>,
        path: &str,
        stretches: Vec<Stretch>,
    ) -> Result<Vec<Stretch>, Vec<Stretch>> {
        let Ok(Some((own, _))) = trees::find(self.repo, commit.tree_id(), path) else {
            return Err(stretches);
        };
        let mut left = stretches;
        for id in commit.parent_ids().take(MAX_PARENTS) {
            // A shallow clone lacks this parent.
            let Ok(parent) = self.repo.commit_of_id(id) else {
                return Err(left);
            };
            let Some((there, blob)) = self.before(commit, &parent, path) else {
                continue;
            };
            if blob == own {
                self.wait(&parent, &there, left);
                return Ok(Vec::new());
            }
            let Some(equal) = self.equal(own, blob) else {
                return Err(left);
            };
            let (passed, rest) = split(&left, &equal);
            self.wait(&parent, &there, passed);
            left = rest;
        }
        Ok(left)
    }

    /// Returns the file in a parent, under its current name or an earlier one.
    fn before(
        &mut self,
        commit: &Commit<'_>,
        parent: &Commit<'_>,
        path: &str,
    ) -> Option<(String, Oid)> {
        let find = |path: &str| {
            let found = trees::find(self.repo, parent.tree_id(), path).ok()??;
            trees::is_file(found.1).then_some(found.0)
        };
        if let Some(blob) = find(path) {
            return Some((path.to_owned(), blob));
        }
        self.names += 1;
        if self.names > MAX_NAMES {
            return None;
        }
        let trees = (commit.tree_id(), parent.tree_id());
        let named = track::renamed(self.repo, trees, path).ok()??;
        let blob = find(&named)?;
        Some((named, blob))
    }

    /// Returns the equal stretches of two files: the lines in the first, and where each begins in
    /// the second.
    fn equal(&mut self, own: Oid, other: Oid) -> Option<Vec<(Range<u32>, u32)>> {
        let read = |id: Oid| {
            let small = self.repo.size(id).is_ok_and(|it| it <= MAX_BYTES);
            let blob = small.then(|| self.repo.blob(id, "a file").ok()).flatten()?;
            (Encoding::Utf8.count_lines(blob.content()) <= MAX_HEIGHT).then_some(blob)
        };
        let (own, other) = (read(own)?, read(other)?);
        self.read += own.content().len() + other.content().len();
        let mut input = InternedInput::default();
        input.update_before(Encoding::Utf8.lines(own.content()));
        input.update_after(Encoding::Utf8.lines(other.content()));
        let mut diff = track::compared(&input);
        diff.postprocess_lines(&input);
        let mut equal = Vec::new();
        let (mut i, mut j) = (0, 0);
        for hunk in diff.hunks() {
            equal.push((i..hunk.before.start, j));
            (i, j) = (hunk.before.end, hunk.after.end);
        }
        equal.push((i..u32::try_from(input.before.len()).ok()?, j));
        Some(equal)
    }

    /// Returns runs of lines by the same commit.
    fn parts(&self) -> Vec<(Lines, Authorship)> {
        let mut parts: Vec<(Lines, Authorship)> = Vec::new();
        for (number, written) in (self.asked.start + 1..).zip(&self.written) {
            let Some(written) = *written else { continue };
            match parts.last_mut() {
                Some((lines, last)) if *last == written && lines.end + 1 == number => {
                    lines.end = number;
                }
                _ => parts.push((
                    Lines {
                        start: number,
                        end: number,
                    },
                    written,
                )),
            }
        }
        parts
    }
}

/// Splits stretches by equal lines: the equal parts, at their place in the parent, and the rest.
fn split(stretches: &[Stretch], equal: &[(Range<u32>, u32)]) -> (Vec<Stretch>, Vec<Stretch>) {
    let (mut passed, mut left) = (Vec::new(), Vec::new());
    for stretch in stretches {
        let mut at = stretch.at.start;
        let near = equal.partition_point(|(lines, _)| lines.end <= stretch.at.start);
        for (lines, there) in &equal[near..] {
            let both = lines.start.max(at)..lines.end.min(stretch.at.end);
            if lines.start >= stretch.at.end {
                break;
            }
            if both.is_empty() {
                continue;
            }
            left.extend(stretch.part(at..both.start));
            let there = there + (both.start - lines.start);
            passed.push(Stretch {
                at: there..there + both.len() as u32,
                first: stretch.first + (both.start - stretch.at.start),
            });
            at = both.end;
        }
        left.extend(stretch.part(at..stretch.at.end));
    }
    (passed, left)
}

impl Stretch {
    fn part(&self, at: Range<u32>) -> Option<Self> {
        let first = self.first + (at.start - self.at.start);
        (!at.is_empty()).then_some(Self { at, first })
    }
}

fn part(repo: &Repo, (lines, written): (Lines, Authorship)) -> Result<BlamePart, git2::Error> {
    let commit = repo.commit_of_id(written.by)?;
    let author = commit.author();
    let text = |bytes: &[u8]| shorten(&String::from_utf8_lossy(bytes), MAX_SUMMARY);
    Ok(BlamePart {
        lines,
        commit: written.by.to_string(),
        author: text(author.name_bytes()),
        at: Timestamp::from_second(author.when().seconds()).unwrap_or(Timestamp::UNIX_EPOCH),
        summary: text(commit.summary_bytes().unwrap_or_default()),
        or_before: written.or_before,
    })
}

fn no_history() -> Refusal {
    refuse::invalid(
        "only a committed file has a history",
        "Point at it with @HEAD once it is committed.",
    )
}
