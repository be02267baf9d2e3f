//! `cargo xtask bench`: where the time goes, each figure beside a plain baseline of the same run,
//! since machines differ and are noisy. Drives the release binary as its users do: over MCP.

mod pointers;
mod window;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::{Value, json};

use crate::shell;

#[derive(Args)]
pub(crate) struct Bench {
    /// Engrams to write
    #[arg(long, default_value_t = 10_000)]
    engrams: usize,
    /// Another engram binary than the release build
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Measure instead what it takes to follow pointers
    #[arg(long, conflicts_with = "window")]
    pointers: bool,
    /// Spans that blame follows too, one process each
    #[arg(long, default_value_t = 100)]
    blamed: usize,
    /// Measure the window instead, with 1,000 engrams and with --many
    #[arg(long)]
    window: bool,
    /// Engrams of the larger home that the window is measured on
    #[arg(long, default_value_t = 1_000_000)]
    many: u64,
    /// Instead of the window's speed, what so many minutes of 50 writes a second leave in its memory
    #[arg(long, default_value_t = 0)]
    minutes: u64,
    /// Where the homes of the window are kept
    #[arg(long)]
    place: Option<PathBuf>,
}

/// Lines of each source file that claims point into.
const LINES: usize = 400;
const FILES: usize = 20;
const ASKED: usize = 200;

impl Bench {
    pub(crate) fn perform(self, root: &Path) -> Result<()> {
        if self.window {
            let place = self.place.unwrap_or_else(window::default_place);
            return window::perform(root, &place, self.many, self.minutes);
        }
        let binary = match self.binary {
            Some(binary) => binary,
            None => shell::build(root, &["--release", "--package", "engram-cli"])?
                .remove("engram")
                .context("cargo built no engram")?,
        };
        if self.pointers {
            return pointers::perform(&binary, self.blamed);
        }
        let place = Place::new()?;
        println!("| measure | p50 | p95 | baseline p50 | ratio | what the baseline is |");
        println!("|---|---|---|---|---|---|");
        let start = Instant::now();
        let mut client = Client::start(&binary, &place)?;
        println!(
            "| start to first answer | {} | | | | |",
            ms(start.elapsed())
        );
        let writes = client.write(self.engrams)?;
        row(
            "write (engram_commit)",
            &writes,
            &place.append_and_sync(200)?,
            "append the same bytes to a file and fsync",
        );
        let (queries, hits) = client.query(self.engrams)?;
        row(
            "query (engram_query)",
            &queries,
            &place.scan(self.engrams)?,
            "read all claims from a file and search each",
        );
        println!(
            "| hit@5 of {ASKED} queries | {:.3} | | | | |",
            hits as f64 / ASKED as f64
        );
        let derefs = client.deref()?;
        row(
            "dereference (engram_deref)",
            &derefs,
            &place.git_show()?,
            "git show REV:PATH",
        );
        println!("| tools/list | {} bytes | | | | |", client.tools_size()?);
        println!("| resident memory | {} | | | | |", client.memory()?);
        client.finish()?;
        eight_writers(&binary, &place)?;
        Ok(())
    }
}

/// The claim of the peers' harness, so that figures can be compared with theirs.
fn claim(i: usize) -> String {
    format!(
        "The svc{i:05} retry backoff limit is {} per minute, set by RETRY_BACKOFF_{i} in services/svc{i:05}/x.toml line {}",
        100 + i % 900,
        1 + i % 99
    )
}

struct Place {
    folder: PathBuf,
}

impl Place {
    fn new() -> Result<Self> {
        let folder = std::env::temp_dir().join("engram-bench");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let place = Self { folder };
        fs::create_dir_all(place.home())?;
        fs::write(
            place.home().join("config.toml"),
            "[limits.rate]\nper_minute = 100000000\nper_hour = 100000000\n\
             [limits.deref]\nrepo_spans = 100000000\ntokens = 1000000000\n",
        )?;
        fs::create_dir_all(place.repo().join("src"))?;
        for file in 0..FILES {
            let text: String = (1..=LINES)
                .map(|line| format!("fn item_{file}_{line}() -> u32 {{ {line} }}\n"))
                .collect();
            fs::write(place.repo().join(format!("src/file{file}.rs")), text)?;
        }
        place.git(&["init", "--quiet"])?;
        place.git(&["add", "."])?;
        place.git(&[
            "-c",
            "user.name=bench",
            "-c",
            "user.email=bench@localhost",
            "commit",
            "--quiet",
            "-m",
            "files",
        ])?;
        Ok(place)
    }

    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn repo(&self) -> PathBuf {
        self.folder.join("repo")
    }

    fn git(&self, args: &[&str]) -> Result<()> {
        let status = Command::new("git")
            .current_dir(self.repo())
            .args(args)
            .stdout(Stdio::null())
            .status()?;
        ensure!(status.success(), "git {args:?} failed");
        Ok(())
    }

    fn append_and_sync(&self, times: usize) -> Result<Vec<Duration>> {
        let mut file = fs::File::create(self.folder.join("baseline.jsonl"))?;
        (0..times)
            .map(|i| {
                let line = format!(
                    "{}\n",
                    json!({ "claim": claim(i), "pointers": ["repo:src/file0.rs#L1-L4@HEAD"] })
                );
                timed(|| {
                    file.write_all(line.as_bytes())?;
                    Ok(file.sync_data()?)
                })
            })
            .collect()
    }

    fn scan(&self, engrams: usize) -> Result<Vec<Duration>> {
        let path = self.folder.join("claims.txt");
        let all: String = (0..engrams).map(|i| claim(i) + "\n").collect();
        fs::write(&path, all)?;
        (0..50)
            .map(|i| {
                let service = format!("svc{:05}", i * engrams / 50);
                timed(|| {
                    let text = fs::read_to_string(&path)?;
                    let found = text
                        .lines()
                        .filter(|line| {
                            [service.as_str(), "retry", "backoff", "limit"]
                                .iter()
                                .all(|it| line.contains(it))
                        })
                        .count();
                    ensure!(found > 0, "the baseline found nothing");
                    Ok(())
                })
            })
            .collect()
    }

    fn git_show(&self) -> Result<Vec<Duration>> {
        (0..50)
            .map(|i| timed(|| self.git(&["show", &format!("HEAD:src/file{}.rs", i % FILES)])))
            .collect()
    }
}

/// A plain MCP client: one line out, one line in.
struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(binary: &Path, place: &Place) -> Result<Self> {
        let mut process = Command::new(binary)
            .args([
                "--home".as_ref(),
                place.home().as_os_str(),
                "--repo".as_ref(),
                place.repo().as_os_str(),
                "mcp".as_ref(),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started", binary.display()))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            bail!("the server has no standard input or output");
        };
        let mut client = Self {
            process,
            input,
            output: BufReader::new(output),
            next: 0,
        };
        client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "bench", "version": "1" },
            }),
        )?;
        client.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    fn send(&mut self, message: Value) -> Result<()> {
        writeln!(self.input, "{message}")?;
        Ok(self.input.flush()?)
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            ensure!(
                self.output.read_line(&mut line)? > 0,
                "the server went away"
            );
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == json!(id) {
                return Ok(answer["result"].clone());
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let result = self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )?;
        ensure!(result["isError"] != json!(true), "{tool}: {result}");
        Ok(result["structuredContent"].clone())
    }

    fn write(&mut self, engrams: usize) -> Result<Vec<Duration>> {
        (0..engrams)
            .map(|i| {
                let line = 1 + i % (LINES - 4);
                let arguments = json!({
                    "content": claim(i),
                    "scope": "bench",
                    "confidence": 0.9,
                    "pointers": [format!("repo:src/file{}.rs#L{line}-L{}@HEAD", i % FILES, line + 3)],
                });
                timed(|| self.call("engram_commit", arguments).map(|_| ()))
            })
            .collect()
    }

    fn query(&mut self, engrams: usize) -> Result<(Vec<Duration>, usize)> {
        let mut hits = 0;
        let times = (0..ASKED)
            .map(|i| {
                let which = (i * 7919) % engrams;
                let topic = format!("svc{which:05} retry backoff limit");
                let mut found = Value::Null;
                let time = timed(|| {
                    found = self.call("engram_query", json!({ "topic": topic, "limit": 5 }))?;
                    Ok(())
                })?;
                let wanted = claim(which);
                let engrams = found["engrams"]
                    .as_array()
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                hits += usize::from(engrams.iter().any(|it| it["claim"] == json!(wanted)));
                Ok(time)
            })
            .collect::<Result<_>>()?;
        Ok((times, hits))
    }

    fn deref(&mut self) -> Result<Vec<Duration>> {
        (0..ASKED)
            .map(|i| {
                let pointer = format!("repo:src/file{}.rs#L{}-L{}@HEAD", i % FILES, 1 + i, 5 + i);
                timed(|| {
                    self.call("engram_deref", json!({ "pointer": pointer }))
                        .map(|_| ())
                })
            })
            .collect()
    }

    fn tools_size(&mut self) -> Result<usize> {
        Ok(self.ask("tools/list", json!({}))?.to_string().len())
    }

    fn memory(&self) -> Result<String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find(|it| it.starts_with("VmRSS:"));
        Ok(line
            .unwrap_or_default()
            .trim_start_matches("VmRSS:")
            .trim()
            .to_owned())
    }

    fn finish(self) -> Result<()> {
        let Self {
            mut process,
            input,
            output,
            ..
        } = self;
        drop((input, output));
        ensure!(process.wait()?.success(), "the server did not end well");
        Ok(())
    }
}

/// Eight processes write into one home at once.
fn eight_writers(binary: &Path, place: &Place) -> Result<()> {
    const EACH: usize = 250;
    let begun = Instant::now();
    let writers: Vec<Child> = (0..8)
        .map(|writer| {
            let file = place.folder.join(format!("writer{writer}.jsonl"));
            let lines: String = (0..EACH)
                .map(|i| {
                    let line = json!({ "claim": format!("Writer {writer} says {i}."), "pointers": ["repo:src/file0.rs#L1@HEAD"] });
                    format!("{line}\n")
                })
                .collect();
            fs::write(&file, lines)?;
            Ok(Command::new(binary)
                .args(["--home".as_ref(), place.home().as_os_str(), "--repo".as_ref(), place.repo().as_os_str(), "put".as_ref(), "--jsonl".as_ref(), file.as_os_str()])
                .stdout(Stdio::piped())
                .spawn()?)
        })
        .collect::<Result<_>>()?;
    let mut stored = 0;
    for writer in writers {
        let output = writer.wait_with_output()?;
        stored += String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|it| it.contains("\"seq\""))
            .count();
    }
    let rate = stored as f64 / begun.elapsed().as_secs_f64();
    println!(
        "| 8 processes at once | {rate:.0} writes/s | | | | {stored} of {} stored |",
        8 * EACH
    );
    ensure!(stored == 8 * EACH, "{} writes were lost", 8 * EACH - stored);
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn row(what: &str, times: &[Duration], baseline: &[Duration], which: &str) {
    let ratio = quantile(times, 0.5).as_secs_f64() / quantile(baseline, 0.5).as_secs_f64();
    println!(
        "| {what} | {} | {} | {} | {ratio:.2} | {which} |",
        ms(quantile(times, 0.5)),
        ms(quantile(times, 0.95)),
        ms(quantile(baseline, 0.5)),
    );
}

fn quantile(times: &[Duration], q: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[((sorted.len() - 1) as f64 * q).round() as usize]
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
