//! Two independent answers to where lines went: blame, and the hunks of every commit in between.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use anyhow::{Context, Result};

use super::{Span, git};

/// What became of a span, according to one way of following lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// All lines, in order and together.
    Intact(FileSpan),
    /// The span still exists, with lines inserted or removed.
    Edited(FileSpan),
    Deleted,
}

/// Lines counted from 1, inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSpan {
    pub(crate) path: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Fate {
    pub(crate) fn workload(&self) -> Option<&FileSpan> {
        match self {
            Self::Intact(place) | Self::Edited(place) => Some(place),
            Self::Deleted => None,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Intact(_) => "intact",
            Self::Edited(_) => "edited",
            Self::Deleted => "deleted",
        }
    }
}

/// A pair of commits, one of which is the other's ancestor.
pub(crate) struct Range {
    pub(crate) from: String,
    pub(crate) to: String,
    /// Whether `from` is the ancestor.
    pub(crate) forward: bool,
}

impl Range {
    pub(crate) fn new(repo: &Path, from: &str, to: &str) -> Result<Self> {
        let full = |rev: &str| git(repo, &["rev-parse", &format!("{rev}^{{commit}}")]);
        let (from, to) = (full(from)?, full(to)?);
        let forward = git(repo, &["merge-base", &from, &to])? == from;
        Ok(Self { from, to, forward })
    }
}

/// `git blame -C -M` of whole files, backward or forward in time.
pub(crate) struct GitBlame<'a> {
    pub(crate) repo: &'a Path,
    pub(crate) range: &'a Range,
    files: HashMap<String, Vec<Option<(String, usize)>>>,
}

impl<'a> GitBlame<'a> {
    pub(crate) fn new(repo: &'a Path, range: &'a Range) -> Self {
        Self {
            repo,
            range,
            files: HashMap::new(),
        }
    }

    /// Returns the arguments for some lines of a file, or for all.
    pub(crate) fn command(&self, path: &str, lines: Option<&Span>) -> Vec<String> {
        let Range {
            from, to, forward, ..
        } = self.range;
        let mut line: Vec<String> = vec!["blame".into()];
        line.extend(forward.then(|| "--reverse".into()));
        line.extend(["-C".into(), "-M".into(), "--line-porcelain".into()]);
        line.extend(lines.map(|it| format!("-L{},{}", it.start, it.end)));
        line.push(if *forward {
            format!("{from}..{to}")
        } else {
            format!("{to}..{from}")
        });
        line.extend(["--".into(), path.into()]);
        line
    }

    pub(crate) fn fate(&mut self, span: &Span) -> Result<Fate> {
        if !self.files.contains_key(&span.path) {
            let line = self.command(&span.path, None);
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let survivors = survivors(&git(self.repo, &line)?, &self.range.to);
            self.files.insert(span.path.clone(), survivors);
        }
        let lines = self.files[&span.path]
            .get(span.start - 1..span.end)
            .context("blame printed fewer lines")?;
        Ok(hull(lines))
    }
}

/// Returns where each line is at `to`.
fn survivors(porcelain: &str, to: &str) -> Vec<Option<(String, usize)>> {
    let mut found = Vec::new();
    let mut header: Option<(bool, usize)> = None;
    let mut name = String::new();
    for line in porcelain.lines() {
        if line.starts_with('\t') {
            let here = header.take().filter(|it| it.0);
            found.push(here.map(|it| (std::mem::take(&mut name), it.1)));
        } else if header.is_none() {
            let mut words = line.split(' ');
            let commit = words.next().unwrap_or_default();
            let at = words.next().and_then(|it| it.parse().ok()).unwrap_or(0);
            header = Some((commit == to, at));
        } else if let Some(path) = line.strip_prefix("filename ") {
            name = path.to_owned();
        }
    }
    found
}

/// Returns the file with most of the lines, and the range from the first to the last of them.
fn hull(lines: &[Option<(String, usize)>]) -> Fate {
    let mut files: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (path, line) in lines.iter().flatten() {
        files.entry(path).or_default().push(*line);
    }
    let Some((path, there)) = files.iter().max_by_key(|it| it.1.len()) else {
        return Fate::Deleted;
    };
    let place = FileSpan {
        path: (*path).to_owned(),
        start: there.iter().copied().min().unwrap_or(0),
        end: there.iter().copied().max().unwrap_or(0),
    };
    let in_order = there.windows(2).all(|it| it[1] == it[0] + 1);
    if there.len() == lines.len() && in_order {
        Fate::Intact(place)
    } else {
        Fate::Edited(place)
    }
}

/// One hunk of `git diff -U0`: first line and count, before and after.
#[derive(Clone, Copy)]
pub(crate) struct Hunk {
    before: (usize, usize),
    after: (usize, usize),
}

impl Hunk {
    /// The old lines, counted from 0, with an exclusive end.
    pub(crate) fn old_lines(&self) -> (usize, usize) {
        from_zero(self.before)
    }

    pub(crate) fn new_lines(&self) -> (usize, usize) {
        from_zero(self.after)
    }
}

/// A count of 0 means the position after the named line.
fn from_zero((at, count): (usize, usize)) -> (usize, usize) {
    let first = if count == 0 { at } else { at - 1 };
    (first, first + count)
}

/// The changes of one file in one commit.
pub(crate) struct Patch {
    /// The new path; `None` if the file is deleted.
    to: Option<String>,
    pub(crate) hunks: Vec<Hunk>,
}

/// Shifts lines through the hunks of each commit, as `git log -L` does.
pub(crate) struct LineHistory {
    steps: Vec<HashMap<String, Patch>>,
}

impl LineHistory {
    pub(crate) fn new(repo: &Path, range: &Range) -> Result<Self> {
        let (between, order) = if range.forward {
            (format!("{}..{}", range.from, range.to), "--reverse")
        } else {
            // `-R` also reverses the hunks and the prefixes.
            (format!("{}..{}", range.to, range.from), "-R")
        };
        let (old, new) = if range.forward {
            ("--src-prefix=a/", "--dst-prefix=b/")
        } else {
            ("--src-prefix=b/", "--dst-prefix=a/")
        };
        let line = [
            "log",
            "--first-parent",
            "--diff-merges=first-parent",
            "-p",
            "-U0",
            "-M",
            "--no-color",
            "--no-ext-diff",
            old,
            new,
            "--format=%x00",
            order,
            &between,
        ];
        let log = git(repo, &line)?;
        let steps = log.split('\0').map(parse_patches).collect();
        Ok(Self { steps })
    }

    pub(crate) fn fate(&self, span: &Span) -> Fate {
        let mut place = FileSpan {
            path: span.path.clone(),
            start: span.start,
            end: span.end,
        };
        let mut touched = false;
        for step in &self.steps {
            let Some(patch) = step.get(&place.path) else {
                continue;
            };
            let Some(to) = &patch.to else {
                return Fate::Deleted;
            };
            match shift_lines(&patch.hunks, place.start, place.end) {
                Some((start, end, edited)) => {
                    touched |= edited;
                    place = FileSpan {
                        path: to.clone(),
                        start,
                        end,
                    };
                }
                None => return Fate::Deleted,
            }
        }
        if touched {
            Fate::Edited(place)
        } else {
            Fate::Intact(place)
        }
    }
}

/// Returns the lines after the hunks, and whether a hunk touched them.
fn shift_lines(hunks: &[Hunk], start: usize, end: usize) -> Option<(usize, usize, bool)> {
    let mut touched = false;
    let (mut first, mut last) = (start as i64, end as i64);
    for hunk in hunks {
        let ((at, gone), (to, come)) = (hunk.before, hunk.after);
        let delta = come as i64 - gone as i64;
        // An insertion is located after the line that its header names.
        let (from, until) = if gone == 0 {
            (at + 1, at)
        } else {
            (at, at + gone - 1)
        };
        let (new_from, new_until) = match come {
            0 => (to as i64 + 1, to as i64),
            _ => (to as i64, (to + come - 1) as i64),
        };
        if until < start && from <= start {
            first += delta;
        }
        if until < end && from <= end {
            last += delta;
        }
        let inside = match gone {
            0 => from > start && from <= end,
            _ => from <= end && until >= start,
        };
        touched |= inside;
        if gone > 0 && from <= start && start <= until {
            first = new_from;
        }
        if gone > 0 && from <= end && end <= until {
            last = new_until;
        }
    }
    (first <= last && first >= 1).then_some((first as usize, last as usize, touched))
}

pub(crate) fn parse_patches(diff: &str) -> HashMap<String, Patch> {
    let mut found = HashMap::new();
    let mut now: Option<(String, Patch)> = None;
    let mut in_hunks = false;
    for line in diff.lines() {
        if let Some(names) = line.strip_prefix("diff --git a/") {
            found.extend(now.take());
            in_hunks = false;
            // Both names are equal here; a rename has its own lines below.
            let name = names.split(" b/").next().unwrap_or(names).to_owned();
            let to = Some(name.clone());
            now = Some((
                name,
                Patch {
                    to,
                    hunks: Vec::new(),
                },
            ));
        }
        let Some((name, patch)) = &mut now else {
            continue;
        };
        if !in_hunks && line.starts_with("deleted file") {
            patch.to = None;
        } else if !in_hunks && line.starts_with("new file") {
            // The file did not exist before.
            *name = String::new();
        } else if let (false, Some(from)) = (in_hunks, line.strip_prefix("rename from ")) {
            *name = from.to_owned();
        } else if let (false, Some(to)) = (in_hunks, line.strip_prefix("rename to ")) {
            patch.to = Some(to.to_owned());
        } else if let Some(hunk) = line.strip_prefix("@@ -").and_then(parse_hunk) {
            in_hunks = true;
            patch.hunks.push(hunk);
        }
    }
    found.extend(now);
    found
}

/// Parses `1,2 +3,4 @@ ..`; a count of 1 is left out.
fn parse_hunk(text: &str) -> Option<Hunk> {
    let mut words = text.split(' ');
    let pair = |word: &str| -> Option<(usize, usize)> {
        match word.split_once(',') {
            Some((at, count)) => Some((at.parse().ok()?, count.parse().ok()?)),
            None => Some((word.parse().ok()?, 1)),
        }
    };
    let before = pair(words.next()?)?;
    let after = pair(words.next()?.strip_prefix('+')?)?;
    Some(Hunk { before, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_shift_through_hunks() {
        let cases = [
            // hunks, lines, expected
            ("0,0 +1,3 @@", (5, 6), Some((8, 9, false))),
            ("4,0 +5,2 @@", (5, 6), Some((7, 8, false))),
            ("6,0 +7,2 @@", (5, 6), Some((5, 6, false))),
            ("5,0 +6,2 @@", (5, 6), Some((5, 8, true))),
            ("5,2 +4,0 @@", (5, 6), None),
            ("5 +5,3 @@", (5, 6), Some((5, 8, true))),
            ("4,2 +4 @@", (5, 6), Some((4, 5, true))),
            ("9,2 +9 @@", (5, 6), Some((5, 6, false))),
        ];
        for (text, (start, end), expected) in cases {
            let hunk = parse_hunk(text).into_iter().collect::<Vec<_>>();
            assert_eq!(shift_lines(&hunk, start, end), expected, "{text}");
        }
    }
}
