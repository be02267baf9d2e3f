//! `cargo xtask bench --meaning --before BINARY`: what looking for near claims and comparing meaning
//! cost. The other build does neither. Each build has its own homes, filled with the same claims.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{
    client::{LineClient, Party, call_in_turn},
    filled, idle,
    sentences::Sentences,
    slow_judge::SlowJudge,
    table::{self, Bar, bar_outcome, print_figure, print_row},
    workload::{create_sandbox, is_near, mcp_command, query_arguments, write_at_once},
};
use crate::{
    http::RunningServer,
    sandbox::{Sandbox, engram},
};
use xtask::{
    remove_folder,
    shell::{command, run},
};

/// The sizes of the homes, beside `--many`.
const FEW: usize = 600;
const SOME: usize = 5_000;
/// The commits and the questions in each home.
const CALLS: usize = 400;
const STARTS: usize = 40;
/// The authors of the claims in a filled home.
const AUTHORS: usize = 8;
/// Processes that write at once, the lines of each, and the processes that read meanwhile.
const WRITERS: usize = 32;
const LINES: usize = 50;
const READERS: usize = 8;
const ROUNDS: usize = 3;
/// How long a reader rests after an answer.
const RESTS: Duration = Duration::from_millis(100);
/// How long a filled home may compare what is due, and how long it must be quiet to count as done.
const SETTLES: Duration = Duration::from_secs(3_600);
const SETTLED: Duration = Duration::from_secs(5);
/// How long the judge thinks about a pair.
const THINKS: Duration = Duration::from_secs(2);

const COMMIT: Bar = Bar::at_most(1.2);
const QUERY: Bar = Bar::at_most(1.5);
const START: Bar = Bar::at_most(1.2);
const NUMBERED: Bar = Bar::at_most(1.5);
pub(super) const JUDGED: Bar = Bar::at_most(1.2);

pub(super) fn perform(
    root: &Path,
    binary: &Path,
    before: &Path,
    kept: &Path,
    many: usize,
    model: Option<&Path>,
) -> Result<()> {
    let repo = kept.join("repo");
    filled::repository(&repo)?;
    let bench = MeaningBench {
        place: create_sandbox()?,
        sentences: Sentences::read(root)?,
        repo,
        kept,
        with: Build {
            name: "with",
            binary,
        },
        without: Build {
            name: "without",
            binary: before,
        },
    };
    table::print_head();
    for count in [FEW, SOME].into_iter().filter(|it| *it < many) {
        bench.time_calls(count)?;
    }
    bench.time_calls(many)?;
    bench.time_starts()?;
    bench.time_writers()?;
    bench.time_judge()?;
    model.map_or(Ok(()), |folder| bench.time_embedding(folder, many))
}

/// What many writers did at once, and how many answers the readers had meanwhile.
struct Written {
    took: Duration,
    stored: usize,
    answers: usize,
}

pub(super) struct Build<'a> {
    name: &'static str,
    binary: &'a Path,
}

pub(super) struct MeaningBench<'a> {
    place: Sandbox,
    sentences: Sentences,
    repo: PathBuf,
    kept: &'a Path,
    pub(super) with: Build<'a>,
    without: Build<'a>,
}

impl MeaningBench<'_> {
    /// Returns a line of `engram put --jsonl`.
    fn line(&self, claim: &str, author: usize) -> String {
        let line = json!({
            "claim": claim,
            "topic": "bench",
            "agent": format!("writer-{author}"),
            "confidence": 0.9,
            "pointers": [pointer(author)],
        });
        format!("{line}\n")
    }

    pub(super) fn engram(&self, build: &Build<'_>, home: &Path) -> Command {
        engram(build.binary, home, &self.repo)
    }

    /// Returns a copy of a home with the first `count` claims. The home itself is kept for the next
    /// run.
    pub(super) fn filled_home(
        &self,
        build: &Build<'_>,
        count: usize,
        name: &str,
    ) -> Result<PathBuf> {
        let full = self.kept.join(format!("meaning-{}-{count}", build.name));
        if !full.exists() {
            let part = self.kept.join("meaning-part");
            remove_folder(&part)?;
            fs::create_dir_all(&part)?;
            fs::copy(
                self.place.home().join("config.toml"),
                part.join("config.toml"),
            )?;
            let lines = (0..count).map(|n| self.line(&self.sentences.claim(n), n % AUTHORS));
            let stored = write_at_once(
                || self.engram(build, &part),
                &self.place,
                &[lines.collect()],
            )?;
            ensure!(stored == count, "{stored} of {count} claims were stored");
            // Compares what is still due, so that no copy of the home has to.
            let mut command = mcp_command(build.binary, &part, &self.repo);
            let client = LineClient::start_mcp(&mut command)?;
            idle::wait_until_quiet_for(&[client.id()], SETTLED, SETTLES)?;
            client.finish()?;
            fs::rename(&part, &full)?;
        }
        let home = self.place.folder.join(name);
        remove_folder(&home)?;
        run(command("cp").arg("-r").args([&full, &home]))?;
        Ok(home)
    }

    /// Starts a server on a home and lets it open what it opens once.
    pub(super) fn client(&self, build: &Build<'_>, home: &Path) -> Result<LineClient> {
        let mut client = LineClient::start_mcp(&mut mcp_command(build.binary, home, &self.repo))?;
        client.call("engram_query", query_arguments(&self.sentences.question(0)))?;
        idle::wait_until_quiet(&[client.id()], idle::LULL)?;
        Ok(client)
    }

    pub(super) fn commit_arguments(&self, n: usize, count: usize) -> Value {
        json!({
            "content": self.sentences.new_claim(n, count),
            "scope": "bench",
            "confidence": 0.9,
            "pointers": [pointer(n)],
        })
    }

    /// Commits new claims and asks about old ones, in homes of this size.
    fn time_calls(&self, count: usize) -> Result<()> {
        let start = |build| self.client(build, &self.filled_home(build, count, build.name)?);
        let (mut with, mut without) = (start(&self.with)?, start(&self.without)?);
        let near = self.time_commits(
            &format!("commit in a home of {count}"),
            ("the same without nearness", count),
            [&mut with, &mut without],
            COMMIT,
        )?;
        print_figure(
            "commits that were told of near claims",
            &near.to_string(),
            "",
        );
        let mut parties = [&mut with, &mut without].map(|client| {
            let question =
                |n| query_arguments(&self.sentences.question(self.sentences.about(n, count)));
            Party::new(client, "engram_query", question).wants(|n, answer| {
                let wanted = self.sentences.claim(self.sentences.about(n, count));
                is_near(answer, |claim| claim == wanted)
            })
        });
        call_in_turn(0..CALLS, &mut parties)?;
        let [ours, others] = &parties;
        let what = format!("query in a home of {count}");
        let words = ("the same by words alone", others.times.as_slice());
        print_row(&what, &ours.times, words, 0.5, None);
        print_row(&what, &ours.times, words, 0.95, Some(QUERY));
        let hits = |party: &Party<'_>| format!("{:.3}", party.hits as f64 / CALLS as f64);
        print_figure(
            "hit@5, half in other words; by words alone",
            &format!("{}; {}", hits(ours), hits(others)),
            "",
        );
        drop(parties);
        with.finish()?;
        without.finish()
    }

    /// Commits the same new claims to two servers on homes of `count` claims, in turn; returns how many
    /// of the first one's answers named near claims.
    pub(super) fn time_commits(
        &self,
        what: &str,
        (baseline, count): (&str, usize),
        clients: [&mut LineClient; 2],
        bar: Bar,
    ) -> Result<usize> {
        let mut parties = clients.map(|client| {
            Party::new(client, "engram_commit", |n| self.commit_arguments(n, count))
                .wants(|_, answer| tells_near(answer))
        });
        call_in_turn(0..CALLS, &mut parties)?;
        let [ours, others] = parties;
        ensure!(ours.hits > 0, "no commit was told of a near claim");
        let without_near = |times: &[Duration]| -> Vec<Duration> {
            let told = times.iter().zip(&ours.answers);
            told.filter(|it| !tells_near(it.1))
                .map(|it| *it.0)
                .collect()
        };
        let silent = [&ours.times, &others.times].map(|it| without_near(it));
        for (what, times, others, bar) in [
            (what, &ours.times, &others.times, Some(bar)),
            (
                "of these, commits without a near claim",
                &silent[0],
                &silent[1],
                None,
            ),
        ] {
            print_row(what, times, (baseline, others), 0.5, None);
            print_row(what, times, (baseline, others), 0.95, bar);
        }
        self.print_found(count, &ours.answers);
        Ok(ours.hits)
    }

    /// Prints how many of the contradicted claims the replies name: as near, or in a conflict.
    fn print_found(&self, count: usize, answers: &[Value]) {
        let (mut of, mut shown, mut found) = (0, 0, 0);
        for (n, answer) in answers.iter().enumerate() {
            if self.sentences.contradicts(n, count) {
                let claim = self.sentences.claim(self.sentences.about(n, count));
                of += 1;
                shown += usize::from(shows(answer, &claim));
                found += usize::from(finds(answer, &claim));
            }
        }
        print_figure(
            "contradicted claims that are shown; found by the rules",
            &format!("{shown}; {found} of {of}"),
            "",
        );
    }

    /// Starts servers of both builds in turn, and asks each a question.
    fn time_starts(&self) -> Result<()> {
        let home = |build: &Build<'_>| self.filled_home(build, FEW, build.name);
        let parties = [
            (&self.with, home(&self.with)?),
            (&self.without, home(&self.without)?),
        ];
        let (mut first, mut asked) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for n in 0..STARTS {
            for (at, (build, home)) in parties.iter().enumerate() {
                let begun = Instant::now();
                let mut client =
                    LineClient::start_mcp(&mut mcp_command(build.binary, home, &self.repo))?;
                first[at].push(begun.elapsed());
                client.call("engram_query", query_arguments(&self.sentences.question(n)))?;
                asked[at].push(begun.elapsed());
                client.finish()?;
            }
        }
        let beside = "the build without meaning";
        let row = |what: &str, [ours, others]: &[Vec<Duration>; 2], bar| {
            print_row(what, ours, (beside, others), 0.5, bar);
        };
        row("start to first answer", &first, Some(START));
        row("start to the answer to a first question", &asked, None);
        Ok(())
    }

    /// Lets many processes write numbered lines, and as many prose, while others read.
    fn time_writers(&self) -> Result<()> {
        let (mut numbered, mut prose) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let line = |n| format!("Build {n} passed.");
            numbered.push(self.write_beside_readers(line, "Which builds passed?")?);
            let line = |n| self.sentences.sentence(FEW + n, 1);
            prose.push(self.write_beside_readers(line, &self.sentences.question(1))?);
        }
        let times = |of: &[Written]| of.iter().map(|it| it.took).collect::<Vec<_>>();
        print_row(
            &format!("{WRITERS} writers of numbered lines beside {READERS} readers"),
            &times(&numbered),
            ("the same of prose", &times(&prose)),
            0.5,
            Some(NUMBERED),
        );
        for (name, all) in [("numbered lines", numbered), ("prose", prose)] {
            let stored: usize = all.iter().map(|it| it.stored).sum();
            let answers: usize = all.iter().map(|it| it.answers).sum();
            let of = ROUNDS * WRITERS * LINES;
            print_figure(
                &format!("stored of {name}, and answers to the readers"),
                &format!("{stored} of {of}; {answers}"),
                &bar_outcome(stored == of, "all"),
            );
        }
        Ok(())
    }

    /// Lets the writers store their lines while the readers ask again and again.
    fn write_beside_readers(
        &self,
        said: impl Fn(usize) -> String,
        question: &str,
    ) -> Result<Written> {
        let home = self.filled_home(&self.with, FEW, "written")?;
        let batch = |writer: usize| -> String {
            let numbers = writer * LINES..(writer + 1) * LINES;
            numbers.map(|n| self.line(&said(n), writer)).collect()
        };
        let batches: Vec<String> = (0..WRITERS).map(batch).collect();
        let readers: Vec<LineClient> = (0..READERS)
            .map(|_| self.client(&self.with, &home))
            .collect::<Result<_>>()?;
        let is_done = AtomicBool::new(false);
        let read = |mut client: LineClient| -> Result<usize> {
            let mut answers = 0;
            while !is_done.load(Relaxed) {
                client.call("engram_query", query_arguments(question))?;
                answers += 1;
                idle::pause(RESTS);
            }
            client.finish()?;
            Ok(answers)
        };
        thread::scope(|scope| {
            let reads = |client| scope.spawn(|| read(client));
            let readers: Vec<_> = readers.into_iter().map(reads).collect();
            let begun = Instant::now();
            let stored = write_at_once(|| self.engram(&self.with, &home), &self.place, &batches);
            let took = begun.elapsed();
            is_done.store(true, Relaxed);
            let mut answers = 0;
            for reader in readers {
                answers += reader.join().expect("a reader does not panic")?;
            }
            Ok(Written {
                took,
                stored: stored?,
                answers,
            })
        })
    }

    /// Commits to two homes that are served, of which one has a judge that thinks for long.
    fn time_judge(&self) -> Result<()> {
        let judge = SlowJudge::start(THINKS)?;
        let judged = self.filled_home(&self.with, FEW, "judged")?;
        fs::write(judged.join("models.toml"), judge.as_chosen())?;
        let alone = self.filled_home(&self.with, FEW, "alone")?;
        // The process that serves is the one that asks the judge.
        let serve = |home: &Path| {
            RunningServer::start(self.engram(&self.with, home).args(["--json", "serve"]))
        };
        let _served = [serve(&judged)?, serve(&alone)?];
        let mut clients = (
            self.client(&self.with, &judged)?,
            self.client(&self.with, &alone)?,
        );
        self.time_commits(
            &format!(
                "commit in a home of {FEW} while a judge takes {} s a pair",
                THINKS.as_secs()
            ),
            ("the same without the judge", FEW),
            [&mut clients.0, &mut clients.1],
            JUDGED,
        )?;
        let asked = judge.asked();
        ensure!(asked > 0, "the judge was not asked");
        print_figure("pairs that it was asked about", &asked.to_string(), "");
        clients.0.finish()?;
        clients.1.finish()
    }
}

fn pointer(n: usize) -> String {
    let line = 1 + n % 46;
    format!("repo:src/file0.rs#L{line}-L{}@HEAD", line + 3)
}

fn tells_near(answer: &Value) -> bool {
    answer["structuredContent"]["near"].is_object()
}

/// Whether the reply to a commit shows a claim as near.
fn shows(answer: &Value, claim: &str) -> bool {
    let near = answer["structuredContent"]["near"]["claims"].as_object();
    let mut lines = near.into_iter().flatten();
    lines.any(|it| it.1.as_str().is_some_and(|it| it.starts_with(claim)))
}

/// Whether the reply to a commit names a claim in a conflict.
fn finds(answer: &Value, claim: &str) -> bool {
    let findings = answer["structuredContent"]["findings"].as_array();
    let mut findings = findings.into_iter().flatten();
    findings.any(|it| it["what"] == "conflict" && it["claim"] == claim)
}
