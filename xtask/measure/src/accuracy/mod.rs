//! `cargo xtask accuracy`: spans followed by `engram pointers track`, compared with git's own ways
//! of following lines, and with generated histories whose truth is known.

mod generated;
mod hunks;
mod published;
mod references;
mod table;

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::{Value, json};

use crate::sandbox;
use references::{Fate, FileSpan, GitBlame, LineHistory, Range};
use table::Table;
use xtask::shell;

/// Published histories that are also followed in small commits.
const BY_HUNKS: &[&str] = &["clap", "libz-sys", "commander", "marked", "click", "attrs"];

#[derive(Args)]
pub(crate) struct Accuracy {
    /// A repository; without one, histories are made from published versions and by generation
    #[arg(long, requires_all = ["from", "to"])]
    repo: Option<PathBuf>,
    /// The commit whose lines are followed
    #[arg(long)]
    from: Option<String>,
    /// The commit to find them in
    #[arg(long)]
    to: Option<String>,
    /// Spans to follow between each two commits
    #[arg(long, default_value_t = 300)]
    spans: usize,
    /// Chooses the spans and the generated histories
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Another engram binary than the release build
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Print every span whose answer differs from the expected one
    #[arg(long)]
    show: bool,
    /// Where histories are kept between runs
    #[arg(long)]
    cache: Option<PathBuf>,
}

/// Lines counted from 1, inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) path: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Accuracy {
    pub(crate) fn perform(self, root: &Path) -> Result<()> {
        let binary = match &self.binary {
            Some(binary) => binary.clone(),
            None => {
                shell::build_program(root, &["--release", "--package", "engram-cli"], "engram")?
            }
        };
        let mut bench = Measurement {
            binary,
            spans: self.spans,
            seed: self.seed,
            show: self.show,
            table: Table::default(),
            truth: Table::default(),
            speed: Speed::default(),
        };
        if let (Some(repo), Some(from), Some(to)) = (&self.repo, &self.from, &self.to) {
            bench.compare("given", repo, from, to)?;
            bench.compare("given, backward", repo, to, from)?;
        } else {
            let cache = match self.cache {
                Some(cache) => cache,
                None => std::env::temp_dir().join("engram-accuracy"),
            };
            let histories = published::histories(&cache)?;
            for (name, repo) in &histories {
                for (from, to) in published::pairs(repo)? {
                    bench.compare(name, repo, &from, &to)?;
                }
            }
            for name in BY_HUNKS {
                let Some((_, repo)) = histories.iter().find(|it| it.0 == *name) else {
                    continue;
                };
                let small = cache.join("hunks").join(name);
                fs::create_dir_all(cache.join("hunks"))?;
                hunks::build_hunk_history(repo, &small, self.seed)?;
                for (from, to) in published::pairs(&small)? {
                    bench.compare(&format!("{name}, by hunks"), &small, &from, &to)?;
                }
            }
            // One source per language is enough for generating histories.
            let of = ["semver", "commander", "requests"];
            let wanted = histories
                .into_iter()
                .filter(|it| of.contains(&it.0.as_str()));
            let sources: Vec<PathBuf> = wanted.map(|it| it.1).collect();
            generated::measure(&mut bench, &cache.join("generated"), &sources)?;
        }
        bench.table.print("spans where both agree", true);
        bench.truth.print("spans", false);
        bench.speed.print();
        Ok(())
    }
}

/// The settings of a measurement, and its results so far.
pub(crate) struct Measurement {
    binary: PathBuf,
    spans: usize,
    seed: u64,
    show: bool,
    /// The results for spans on which git's two ways agree.
    table: Table,
    /// The results for spans whose truth is known.
    truth: Table,
    speed: Speed,
}

impl Measurement {
    /// Follows spans from `from` to `to`, and records a result where git's two ways agree.
    fn compare(&mut self, name: &str, repo: &Path, from: &str, to: &str) -> Result<()> {
        let range = Range::new(repo, from, to)?;
        let spans = sample(repo, &range.from, self.spans, self.seed)?;
        let (answers, took) = self.track(repo, &range.from, &range.to, &spans)?;
        let history = LineHistory::new(repo, &range)?;
        let mut blame = GitBlame::new(repo, &range);
        let mut files = SameFiles::new(repo, &range);
        self.speed.note(spans.len(), took, &blame, &spans)?;
        for (span, answer) in spans.iter().zip(answers) {
            let ours = fate_of(&answer)?;
            self.check_bytes(repo, &range, span, &ours)?;
            let (mut a, mut b) = (blame.fate(span)?, history.fate(span));
            // The lines may have disappeared on the way and come back: if the file is the same at
            // both ends, so is the span.
            if files.is_same(span)? {
                let unchanged = Fate::Intact(FileSpan {
                    path: span.path.clone(),
                    start: span.start,
                    end: span.end,
                });
                (a, b) = (unchanged.clone(), unchanged);
            }
            let both = format!(
                "{name} {}",
                if range.forward { "forward" } else { "backward" }
            );
            if a != b {
                self.table.disagree(&both, &ours, &a, &b);
                continue;
            }
            let row = self.table.row(&both);
            row.note(&ours, &a);
            if self.show && ours != a {
                self.print_miss(repo, &range, span, &a, &ours, &answer);
            }
        }
        Ok(())
    }

    fn print_miss(
        &self,
        repo: &Path,
        range: &Range,
        span: &Span,
        expected: &Fate,
        ours: &Fate,
        answer: &Value,
    ) {
        println!(
            "{} {}..{}: {span:?}\n   expected {expected:?}\n   got      {ours:?} {}",
            repo.display(),
            &range.from[..8],
            &range.to[..8],
            answer["confidence"]
        );
    }

    /// Checks the most important rule: an intact span is byte for byte the same.
    fn check_bytes(&mut self, repo: &Path, range: &Range, span: &Span, ours: &Fate) -> Result<()> {
        let Fate::Intact(place) = ours else {
            return Ok(());
        };
        let before = lines_of(
            &read_blob(repo, &range.from, &span.path)?,
            span.start,
            span.end,
        );
        let after = lines_of(
            &read_blob(repo, &range.to, &place.path)?,
            place.start,
            place.end,
        );
        ensure!(
            before == after,
            "{span:?} was called intact at {place:?} and has other bytes there"
        );
        Ok(())
    }

    /// Runs the command as an outside tool would.
    pub(crate) fn track(
        &self,
        repo: &Path,
        from: &str,
        to: &str,
        spans: &[Span],
    ) -> Result<(Vec<Value>, Duration)> {
        let mut track = shell::command(&self.binary);
        track.arg("--json").arg("--repo").arg(repo);
        track.args(["pointers", "track", "--from", from, "--to", to]);
        let span = |(id, at): (usize, &Span)| {
            let span = json!({ "id": id, "path": at.path, "start": at.start, "end": at.end });
            format!("{span}\n")
        };
        let spans_text: String = spans.iter().enumerate().map(span).collect();
        let start = Instant::now();
        let output =
            sandbox::output_for_input(track.args(["--spans", "-"]), spans_text.as_bytes())?;
        let took = start.elapsed();
        let answers = output
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<Vec<Value>, _>>()?;
        ensure!(answers.len() == spans.len(), "not every span was answered");
        Ok((answers, took))
    }
}

/// Finds and remembers which files are the same at both ends.
struct SameFiles<'a> {
    repo: &'a Path,
    range: &'a Range,
    same: HashMap<String, bool>,
}

impl<'a> SameFiles<'a> {
    fn new(repo: &'a Path, range: &'a Range) -> Self {
        Self {
            repo,
            range,
            same: HashMap::new(),
        }
    }

    fn is_same(&mut self, span: &Span) -> Result<bool> {
        if let Some(same) = self.same.get(&span.path) {
            return Ok(*same);
        }
        let Range { from, to, .. } = self.range;
        let at = |commit: &str| git(self.repo, &["ls-tree", commit, "--", &span.path]);
        let same = at(from)? == at(to)?;
        self.same.insert(span.path.clone(), same);
        Ok(same)
    }
}

/// Converts our answer to the form of the references.
pub(crate) fn fate_of(answer: &Value) -> Result<Fate> {
    let place = || -> Option<FileSpan> {
        Some(FileSpan {
            path: answer["path"].as_str()?.to_owned(),
            start: usize::try_from(answer["start"].as_u64()?).ok()?,
            end: usize::try_from(answer["end"].as_u64()?).ok()?,
        })
    };
    Ok(match answer["state"].as_str() {
        Some("deleted") => Fate::Deleted,
        Some("edited") => Fate::Edited(place().context("no place")?),
        Some(_) => Fate::Intact(place().context("no place")?),
        None => bail!("no state: {answer}"),
    })
}

/// The times that engram and blame take.
#[derive(Default)]
struct Speed {
    spans: usize,
    ours: Duration,
    blames: usize,
    blame: Duration,
}

impl Speed {
    /// Records our time, and blames a few of the spans one by one.
    fn note(
        &mut self,
        spans: usize,
        ours: Duration,
        blame: &GitBlame<'_>,
        sample: &[Span],
    ) -> Result<()> {
        const BLAMED: usize = 8;
        self.spans += spans;
        self.ours += ours;
        for span in sample.iter().step_by(sample.len().div_ceil(BLAMED).max(1)) {
            let line = blame.command(&span.path, Some(span));
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let start = Instant::now();
            git(blame.repo, &line)?;
            self.blame += start.elapsed();
            self.blames += 1;
        }
        Ok(())
    }

    fn print(&self) {
        if self.spans == 0 || self.blames == 0 {
            return;
        }
        let ours = self.ours.as_secs_f64() / self.spans as f64;
        let blame = self.blame.as_secs_f64() / self.blames as f64;
        println!(
            "\n{} spans: {:.3} ms each; `git blame -C -M` of {} of them: {:.1} ms each; {:.0} times as long",
            self.spans,
            ours * 1e3,
            self.blames,
            blame * 1e3,
            blame / ours
        );
    }
}

/// Returns random spans of the text files of a commit: most are short, some long.
fn sample(repo: &Path, commit: &str, count: usize, seed: u64) -> Result<Vec<Span>> {
    const LENGTHS: &[usize] = &[1, 1, 2, 3, 4, 5, 8, 12, 20, 40];
    const MAX_BYTES: usize = 400_000;
    let mut chance = Chance(seed);
    let listed = git(repo, &["ls-tree", "-r", "--name-only", commit])?;
    let mut files: Vec<(String, usize)> = Vec::new();
    for path in listed.lines().filter(|it| !it.starts_with('"')) {
        let bytes = read_blob(repo, commit, path)?;
        if !bytes.contains(&0) && !bytes.is_empty() && bytes.len() < MAX_BYTES {
            let lines = lines_of(&bytes, 1, usize::MAX)
                .iter()
                .filter(|it| **it == b'\n')
                .count();
            files.push((path.to_owned(), lines.max(1)));
        }
    }
    ensure!(!files.is_empty(), "{commit} has no text files");
    Ok((0..count)
        .map(|_| {
            let (path, lines) = &files[chance.below(files.len())];
            let length = LENGTHS[chance.below(LENGTHS.len())].min(*lines);
            let start = 1 + chance.below(lines - length + 1);
            Span {
                path: path.clone(),
                start,
                end: start + length - 1,
            }
        })
        .collect())
}

/// The random number generator SplitMix64.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`, or 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Returns the bytes of some lines with their terminators.
fn lines_of(bytes: &[u8], start: usize, end: usize) -> Vec<u8> {
    let lines = bytes.split_inclusive(|it| *it == b'\n');
    let count = end.saturating_sub(start).saturating_add(1);
    lines
        .skip(start - 1)
        .take(count)
        .flatten()
        .copied()
        .collect()
}

fn read_blob(repo: &Path, commit: &str, path: &str) -> Result<Vec<u8>> {
    let output = command(repo)
        .args(["cat-file", "blob", &format!("{commit}:{path}")])
        .output()?;
    Ok(output.stdout)
}

/// Git with unquoted names, and with rename detection for a history of any size.
pub(crate) fn command(repo: &Path) -> Command {
    let mut command = sandbox::git(repo);
    command
        .args(["-c", "core.quotepath=off", "-c", "core.autocrlf=false"])
        .args(["-c", "diff.renameLimit=2000"]);
    command
}

pub(crate) fn git(repo: &Path, args: &[&str]) -> Result<String> {
    let output = command(repo).args(args).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "git {} failed", args.join(" "));
    Ok(String::from_utf8_lossy(&output.stdout)
        .trim_end_matches('\n')
        .to_owned())
}
