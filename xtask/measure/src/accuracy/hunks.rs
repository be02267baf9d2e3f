//! Turns a history of versions into one of many small commits. The differences between versions are
//! committed file by file and hunk by hunk, in random order. Every commit holds real edits.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use super::{
    Chance, command, git, read_blob,
    references::{Hunk, parse_patches},
};
use xtask::remove_folder;

/// The approximate number of commits for a whole history.
const COMMITS: usize = 600;

/// A file that changes hunk by hunk.
struct HunkedFile {
    old: Vec<u8>,
    new: Vec<u8>,
    hunks: Vec<Hunk>,
    done: Vec<bool>,
}

/// One part of a commit.
enum CommitPart {
    Add(String),
    Remove(String),
    Rename(String, String),
    /// One hunk of the file at this path.
    Hunk(String, usize),
}

/// Builds `to` from the versions in `repo`.
pub(crate) fn build_hunk_history(repo: &Path, to: &Path, seed: u64) -> Result<()> {
    if to.join(".git").is_dir() {
        return Ok(());
    }
    let making = to.with_extension("part");
    remove_folder(&making)?;
    let (from, into) = (repo.to_string_lossy(), making.to_string_lossy());
    git(repo, &["clone", "-q", "--no-checkout", &from, &into])?;
    let list = git(repo, &["rev-list", "--first-parent", "--reverse", "HEAD"])?;
    let versions: Vec<&str> = list.lines().collect();
    let mut import = Import::begin(&making)?;
    import.commit()?;
    import.whole_tree(repo, versions.first().context("no versions")?)?;
    let mut chance = Chance(seed);
    let steps = versions.len().saturating_sub(1).max(1);
    for pair in versions.windows(2) {
        let [old, new] = *pair else { continue };
        import_changes(repo, old, new, COMMITS / steps, &mut import, &mut chance)?;
        import.commit()?;
        import.whole_tree(repo, new)?;
    }
    import.end()?;
    git(&making, &["checkout", "-q", "-f", "pieces"])?;
    fs::rename(&making, to)?;
    Ok(())
}

fn import_changes(
    repo: &Path,
    old: &str,
    new: &str,
    commits: usize,
    import: &mut Import,
    chance: &mut Chance,
) -> Result<()> {
    let mut pieces = Vec::new();
    let mut files = BTreeMap::new();
    let names = git(
        repo,
        &["diff", "--name-status", "-M", "--no-ext-diff", old, new],
    )?;
    let diff = git(
        repo,
        &["diff", "-U0", "-M", "--no-color", "--no-ext-diff", old, new],
    )?;
    let mut patches = parse_patches(&diff);
    for line in names.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let (was, is) = match words.as_slice() {
            ["A", path] => {
                pieces.push(CommitPart::Add((*path).to_owned()));
                continue;
            }
            ["D", path] => {
                pieces.push(CommitPart::Remove((*path).to_owned()));
                continue;
            }
            [_, path] => (*path, *path),
            [_, was, is] => {
                pieces.push(CommitPart::Rename((*was).to_owned(), (*is).to_owned()));
                (*was, *is)
            }
            _ => continue,
        };
        let hunks = patches.remove(was).map(|it| it.hunks).unwrap_or_default();
        // The order is random, so a hunk of a renamed file could name a path that does not exist
        // yet.
        if was == is {
            pieces.extend((0..hunks.len()).map(|it| CommitPart::Hunk(is.to_owned(), it)));
        }
        let changing = HunkedFile {
            old: read_blob(repo, old, was)?,
            new: read_blob(repo, new, is)?,
            done: vec![false; hunks.len()],
            hunks,
        };
        files.insert(is.to_owned(), changing);
    }
    for at in (1..pieces.len()).rev() {
        pieces.swap(at, chance.below(at + 1));
    }
    let together = pieces.len().div_ceil(commits.max(1)).max(1);
    for some in pieces.chunks(together) {
        import.commit()?;
        for piece in some {
            match piece {
                CommitPart::Add(path) => import.file(path, &read_blob(repo, new, path)?)?,
                CommitPart::Remove(path) => import.line(&format!("D {path}"))?,
                CommitPart::Rename(was, is) => import.line(&format!("R {was} {is}"))?,
                CommitPart::Hunk(path, at) => {
                    let file = files.get_mut(path).context("no such file")?;
                    file.done[*at] = true;
                    import.file(path, &file.text())?;
                }
            }
        }
    }
    Ok(())
}

impl HunkedFile {
    /// Returns the text with the hunks applied so far.
    fn text(&self) -> Vec<u8> {
        let old: Vec<&[u8]> = self.old.split_inclusive(|it| *it == b'\n').collect();
        let new: Vec<&[u8]> = self.new.split_inclusive(|it| *it == b'\n').collect();
        let mut text = Vec::new();
        let mut at = 0;
        for (hunk, done) in self.hunks.iter().zip(&self.done) {
            let (from, until) = hunk.old_lines();
            let lines = if *done {
                new.get(hunk.new_lines().0..hunk.new_lines().1)
            } else {
                old.get(from..until)
            };
            text.extend(old.get(at..from).unwrap_or_default().concat());
            text.extend(lines.unwrap_or_default().concat());
            at = until;
        }
        text.extend(old.get(at..).unwrap_or_default().concat());
        text
    }
}

/// A running `git fast-import`.
struct Import {
    child: std::process::Child,
    input: std::io::BufWriter<std::process::ChildStdin>,
    count: usize,
}

impl Import {
    fn begin(repo: &Path) -> Result<Self> {
        let mut import: Command = command(repo);
        let mut child = import
            .args(["fast-import", "--quiet", "--date-format=raw"])
            .stdin(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().context("git reads nothing")?;
        Ok(Self {
            child,
            input: std::io::BufWriter::new(input),
            count: 0,
        })
    }

    fn commit(&mut self) -> Result<()> {
        let time = 1_600_000_000 + self.count;
        self.count += 1;
        write!(
            self.input,
            "commit refs/heads/pieces\ncommitter A <a@example.org> {time} +0000\ndata 5\npiece\n"
        )?;
        Ok(())
    }

    fn whole_tree(&mut self, repo: &Path, commit: &str) -> Result<()> {
        let tree = git(repo, &["rev-parse", &format!("{commit}^{{tree}}")])?;
        self.line(&format!("M 040000 {tree} "))
    }

    fn file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        write!(self.input, "M 100644 inline {path}\ndata {}\n", bytes.len())?;
        self.input.write_all(bytes)?;
        self.line("")
    }

    fn line(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.input, "{line}")?)
    }

    fn end(mut self) -> Result<()> {
        self.input.flush()?;
        drop(self.input);
        ensure!(self.child.wait()?.success(), "git fast-import failed");
        Ok(())
    }
}
