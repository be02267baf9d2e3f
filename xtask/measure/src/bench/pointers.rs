//! `cargo xtask bench --pointers`: what following pointers costs, against git's closest command
//! in the same run.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{idle, timed};
use crate::sandbox::{NO_RATE, Sandbox, output_for_input};
use xtask::shell::output;

const COMMITS: usize = 1_000;
const SPANS: usize = 1_000;
const MANY_SPANS: usize = 10_000;
const CLAIMS: usize = 10_000;
/// After this long without news, no more is expected.
const QUIET: Duration = Duration::from_secs(5);
/// Anything that takes this long is a hang.
const PATIENCE: Duration = Duration::from_secs(300);

/// Measures the command; blame also follows `blamed` of the spans, in one process each.
pub(crate) fn perform(binary: &Path, blamed: usize) -> Result<()> {
    println!("| measure | figure | baseline | ratio | what the baseline is |");
    println!("|---|---|---|---|---|");
    long_history(binary, blamed)?;
    for (shape, what) in [
        (
            Shape {
                files: 2_000,
                lines: 200,
                changed: 400,
            },
            "10,000 pointers, 400 of 2,000 files differ",
        ),
        (
            Shape {
                files: 100_000,
                lines: 12,
                changed: 20_000,
            },
            "10,000 pointers, 20,000 of 100,000 files differ",
        ),
    ] {
        branch_switch(binary, &shape, what)?;
    }
    Ok(())
}

fn row(what: &str, figure: Duration, baseline: Option<(Duration, &str)>) {
    let figure_ms = figure.as_secs_f64() * 1e3;
    match baseline {
        Some((baseline, which)) => println!(
            "| {what} | {figure_ms:.0} ms | {:.0} ms | {:.2} | {which} |",
            baseline.as_secs_f64() * 1e3,
            figure.as_secs_f64() / baseline.as_secs_f64()
        ),
        None => println!("| {what} | {figure_ms:.0} ms | | | |"),
    }
}

/// Follows spans over a thousand commits: engram in one process for all, blame in one for each.
fn long_history(binary: &Path, blamed: usize) -> Result<()> {
    let place = BenchRepo::new("history")?;
    let shape = Shape {
        files: 50,
        lines: 400,
        changed: 0,
    };
    let mut stream = Stream::default();
    stream.add_first_commit(&shape);
    for n in 0..COMMITS {
        stream.commit(&shape, n);
    }
    place.import(&stream.text)?;
    let (first, last) = (place.rev(&format!("main~{COMMITS}"))?, place.rev("main")?);
    let spans = |count: usize| -> Vec<(usize, usize)> {
        (0..count)
            .map(|i| {
                (
                    i % shape.files,
                    1 + i * 7919 / shape.files % (shape.lines / 2),
                )
            })
            .collect()
    };
    for (from, to, how) in [(&first, &last, "forward"), (&last, &first, "backward")] {
        for count in [SPANS, MANY_SPANS] {
            let took = place.track(binary, from, to, &spans(count))?;
            let blame = (count == SPANS && how == "forward")
                .then(|| place.blame(&first, &last, &spans(SPANS), blamed))
                .transpose()?;
            let which =
                format!("`git blame --reverse -C -M` for each, from the time of {blamed} of them");
            row(
                &format!("{count} spans over {COMMITS} commits, {how}"),
                took,
                blame.map(|it| (it, which.as_str())),
            );
        }
    }
    Ok(())
}

/// Switches between two branches, with claims that point into changed and unchanged files.
fn branch_switch(binary: &Path, shape: &Shape, what: &str) -> Result<()> {
    let place = BenchRepo::new(&format!("{}-files", shape.files))?;
    let mut stream = Stream::default();
    stream.add_first_commit(shape);
    stream.other_branch(shape);
    place.import(&stream.text)?;
    place.git(&["checkout", "--quiet", "main"])?;
    place.put_claims(binary, shape)?;
    let started = Instant::now();
    let mut server = place.follower(binary)?;
    let (mut reader, heard) = place.listen(binary)?;
    // The first check is over once an edit is reported.
    place.edit("dir0/file0.rs")?;
    wait_for_entry(&heard, |it| !evidence_news(it).is_null())?;
    row(
        &format!("start to the first reported change: {what}"),
        started.elapsed(),
        None,
    );
    place.git(&["checkout", "--quiet", "dir0/file0.rs"])?;
    wait_for_entry(&heard, |it| !evidence_news(it).is_null())?;
    let (main, other) = (place.rev("main")?, place.rev("other")?);
    let diffs = [(&main, &other), (&other, &main)]
        .map(|(from, to)| timed(|| place.git(&["diff", "--name-status", "-M", from, to])));
    let [there, back] = diffs;
    let (there, back) = (there?, back?);
    let diff = "`git diff --name-status -M` of the same switch";
    for (branch, baseline, nth) in [
        ("other", there, "first time"),
        ("main", back, "back"),
        ("other", there, "again"),
        ("main", back, "back again"),
    ] {
        place.git(&["checkout", "--quiet", branch])?;
        let switched = Instant::now();
        row(
            &format!("switch to the last news, {nth}: {what}"),
            wait_for_last_news(&heard)?.saturating_duration_since(switched),
            Some((baseline, diff)),
        );
    }
    at_rest(&server, what)?;
    for child in [&mut server, &mut reader] {
        child.kill()?;
        child.wait()?;
    }
    Ok(())
}

/// Measures the processor time of an idle process over half a minute, and its memory.
fn at_rest(server: &Child, what: &str) -> Result<()> {
    let id = server.id();
    idle::wait_until_quiet(&[id], idle::LULL)?;
    let before = idle::ticks(id)?;
    idle::pause(Duration::from_secs(30));
    let used = idle::ticks(id)? - before;
    let memory = idle::resident_kb(id)?;
    println!("| 30 s at rest: {what} | {used} clock ticks, {memory} KB resident | | | |");
    Ok(())
}

struct Shape {
    files: usize,
    lines: usize,
    /// The number of files that differ on the other branch.
    changed: usize,
}

impl Shape {
    fn path(file: usize) -> String {
        format!("dir{}/file{file}.rs", file / 20)
    }

    fn text(&self, file: usize, version: usize) -> String {
        (0..self.lines)
            .map(|line| match (file * 31 + line * 7) % 97 {
                0 if version > 0 => format!("fn item_{file}_{line}() -> u32 {{ {version} }}\n"),
                _ => format!("fn item_{file}_{line}() -> u32 {{ {line} }}\n"),
            })
            .collect()
    }
}

/// The input of `git fast-import`.
#[derive(Default)]
struct Stream {
    text: String,
    /// The current lines of each file that a commit changed.
    files: Vec<Vec<String>>,
}

impl Stream {
    fn begin_commit(&mut self, branch: &str, n: usize, from: Option<&str>) {
        let message = format!("change {n}");
        self.text += &format!(
            "commit refs/heads/{branch}\ncommitter Bench <bench@localhost> {} +0000\ndata {}\n{message}\n",
            1_700_000_000 + n,
            message.len()
        );
        self.text += &from.map(|it| format!("from {it}\n")).unwrap_or_default();
    }

    fn file(&mut self, path: &str, text: &str) {
        self.text += &format!("M 100644 inline {path}\ndata {}\n{text}\n", text.len());
    }

    fn add_first_commit(&mut self, shape: &Shape) {
        self.begin_commit("main", 0, None);
        for file in 0..shape.files {
            let text = shape.text(file, 0);
            self.file(&Shape::path(file), &text);
            self.files
                .push(text.split_inclusive('\n').map(str::to_owned).collect());
        }
    }

    /// Adds one of many commits: it inserts, deletes and changes lines in one file, and sometimes
    /// moves a block.
    fn commit(&mut self, shape: &Shape, n: usize) {
        self.begin_commit("main", n + 1, None);
        let file = n * 17 % shape.files;
        let Some(lines) = self.files.get_mut(file) else {
            return;
        };
        let at = n * 7919 % lines.len().saturating_sub(20).max(1);
        match n % 4 {
            0 => lines.insert(at, format!("// a remark of change {n}\n")),
            1 if lines.len() > shape.lines / 2 => drop(lines.remove(at)),
            2 => {
                let block: Vec<String> = lines.drain(at..at + 8).collect();
                let to = n * 31 % lines.len();
                lines.splice(to..to, block);
            }
            _ => lines[at] = format!("fn change_{n}() -> u32 {{ {n} }}\n"),
        }
        let text = lines.concat();
        self.file(&Shape::path(file), &text);
    }

    /// Adds a branch on which some files are edited, some moved and edited, and some deleted.
    fn other_branch(&mut self, shape: &Shape) {
        self.begin_commit("other", 1, Some("refs/heads/main"));
        let step = shape.files / shape.changed.max(1);
        for n in 0..shape.changed {
            let file = n * step;
            let path = Shape::path(file);
            match n % 20 {
                0 => {
                    self.text += &format!("D {path}\n");
                    let text = format!("// moved\n{}", shape.text(file, 1));
                    self.file(&format!("moved/file{file}.rs"), &text);
                }
                1 => self.text += &format!("D {path}\n"),
                _ => {
                    let text = format!("// other\n{}", shape.text(file, 1));
                    self.file(&path, &text);
                }
            }
        }
    }
}

struct BenchRepo(Sandbox);

impl BenchRepo {
    fn new(name: &str) -> Result<Self> {
        let place = Self(Sandbox::new(&format!("bench-{name}"), NO_RATE)?);
        place.git(&["init", "--quiet", "--initial-branch=main"])?;
        Ok(place)
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        output(self.0.git().args(args))
    }

    fn rev(&self, name: &str) -> Result<String> {
        self.git(&["rev-parse", name])
    }

    fn import(&self, stream: &str) -> Result<()> {
        let mut import = self.0.git();
        output_for_input(import.args(["fast-import", "--quiet"]), stream.as_bytes()).map(drop)
    }

    fn engram(&self, binary: &Path, args: &[&str]) -> Command {
        let mut engram = self.0.engram(binary);
        engram.args(args);
        engram
    }

    fn track(
        &self,
        binary: &Path,
        from: &str,
        to: &str,
        spans: &[(usize, usize)],
    ) -> Result<Duration> {
        let lines: String = spans
            .iter()
            .map(|(file, line)| {
                let span = json!({ "path": Shape::path(*file), "start": line, "end": line + 7 });
                format!("{span}\n")
            })
            .collect();
        let file = self.0.folder.join("spans.jsonl");
        fs::write(&file, lines)?;
        let args = ["pointers", "track", "--from", from, "--to", to, "--spans"];
        let mut answers = 0;
        let took = timed(|| {
            let output = self.engram(binary, &args).arg(&file).output()?;
            ensure!(output.status.success(), "{output:?}");
            let text = String::from_utf8_lossy(&output.stdout);
            answers = text.lines().filter(|it| it.contains("\"state\"")).count();
            Ok(())
        })?;
        ensure!(answers == spans.len(), "{answers} of {}", spans.len());
        Ok(took)
    }

    /// Estimates the time for all spans from that for some of them.
    fn blame(
        &self,
        from: &str,
        to: &str,
        spans: &[(usize, usize)],
        blamed: usize,
    ) -> Result<Duration> {
        let range = format!("{from}..{to}");
        let step = (spans.len() / blamed.max(1)).max(1);
        let some: Vec<_> = spans.iter().step_by(step).collect();
        let took = timed(|| {
            for (file, line) in &some {
                let lines = format!("{line},{}", line + 7);
                let args = [
                    "blame",
                    "--reverse",
                    "-C",
                    "-M",
                    "--porcelain",
                    "-L",
                    &lines,
                ];
                let path = Shape::path(*file);
                self.git(&[&args[..], &[&range, "--", &path]].concat())?;
            }
            Ok(())
        })?;
        Ok(took.mul_f64(spans.len() as f64 / some.len() as f64))
    }

    fn put_claims(&self, binary: &Path, shape: &Shape) -> Result<()> {
        let lines: String = (0..CLAIMS)
            .map(|i| {
                let file = i * shape.files / CLAIMS.min(shape.files) % shape.files;
                let line = 1 + i * 7 % (shape.lines - 4);
                let path = Shape::path(file);
                let pointer = format!("repo:{path}#L{line}-L{}@main", line + 3);
                let claim = format!("Claim {i} holds on to {path}.");
                // Ephemeral claims are not compared with each other, which would take minutes.
                let said = json!({
                    "claim": claim, "pointers": [pointer], "durability": "ephemeral",
                });
                format!("{said}\n")
            })
            .collect();
        let file = self.0.folder.join("claims.jsonl");
        fs::write(&file, lines)?;
        let output = self
            .engram(binary, &["put", "--jsonl"])
            .arg(&file)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let stored = text.lines().filter(|it| it.contains("\"seq\"")).count();
        ensure!(stored == CLAIMS, "{stored} of {CLAIMS} claims were stored");
        Ok(())
    }

    /// Starts a process that stays and follows the working tree.
    fn follower(&self, binary: &Path) -> Result<Child> {
        let mut command = self.engram(binary, &["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(command.spawn()?)
    }

    /// Starts a reader of the journal as it grows.
    fn listen(&self, binary: &Path) -> Result<(Child, Receiver<Value>)> {
        let mut command = self.engram(binary, &["--json", "feed", "--follow"]);
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("no standard output")?;
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Ok(entry) = serde_json::from_str(&line)
                    && tell.send(entry).is_err()
                {
                    return;
                }
            }
        });
        Ok((child, heard))
    }

    fn edit(&self, path: &str) -> Result<()> {
        let path = self.0.repo().join(path);
        let text = fs::read_to_string(&path)?;
        Ok(fs::write(&path, text.replace("u32", "u64"))?)
    }
}

/// Returns what an entry reports about evidence; null for other entries.
fn evidence_news(entry: &Value) -> &Value {
    if entry["change"]["kind"] == "anchored" {
        &entry["change"]["with"]
    } else {
        &Value::Null
    }
}

/// Waits for the last news, and returns when it came.
fn wait_for_last_news(heard: &Receiver<Value>) -> Result<Instant> {
    wait_for_entry(heard, |it| !evidence_news(it).is_null())?;
    let mut last = Instant::now();
    while let Ok(entry) = heard.recv_timeout(QUIET) {
        if !evidence_news(&entry).is_null() {
            last = Instant::now();
        }
    }
    Ok(last)
}

fn wait_for_entry(heard: &Receiver<Value>, mut is: impl FnMut(&Value) -> bool) -> Result<()> {
    loop {
        match heard.recv_timeout(PATIENCE) {
            Ok(entry) if is(&entry) => return Ok(()),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => bail!("no news for {} s", PATIENCE.as_secs()),
            Err(RecvTimeoutError::Disconnected) => bail!("the reader of the journal went away"),
        }
    }
}
