//! `cargo xtask bench`: where the time goes. Each figure is shown beside a plain baseline of the
//! same run, since machines differ and are noisy. It drives the release binary as users do, over
//! MCP.

mod classes;
pub(crate) mod client;
mod conflicts;
mod embedding;
mod filled;
mod gateway;
mod hostile;
mod idle;
mod meaning;
mod other_build;
mod peer;
mod pointers;
mod sentences;
mod slow_judge;
mod table;
mod window;
mod workload;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use client::{LineClient, Party, call_in_turn};
use table::{Bar, bar_outcome, ms, print_figure, print_plain_row, print_row};
use workload::{
    claim, commit_arguments, common_question, is_full, is_near, query_arguments, question_about,
    write_at_once,
};
use xtask::shell;

#[derive(Args)]
pub(crate) struct Bench {
    /// Engrams to write; with --before, the calls of each tool
    #[arg(long, default_value_t = 10_000)]
    engrams: usize,
    /// Another engram binary than the release build
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Let the fastest peer do the same
    #[arg(long)]
    peer: bool,
    /// Instead, measure what it takes to follow pointers
    #[arg(long, conflicts_with = "window")]
    pointers: bool,
    /// Instead, measure what looking for contradictions costs a commit
    #[arg(long, conflicts_with_all = ["window", "pointers", "hostile", "before"])]
    conflicts: bool,
    /// Instead, measure what the gateway between agents costs; the brief over --many engrams
    /// (100,000)
    #[arg(long, conflicts_with_all = ["window", "pointers", "hostile", "before", "conflicts"])]
    gateway: bool,
    /// Instead, count which pairs of claims are called conflicts; with --peer, by two peers too
    #[arg(long, conflicts_with_all = ["window", "pointers", "hostile", "before", "conflicts"])]
    classes: bool,
    /// Instead, measure what requests cost on clones that are built to be expensive
    #[arg(long, conflicts_with_all = ["window", "pointers"])]
    hostile: bool,
    /// Instead, measure writes, queries and dereferences against another build of engram
    #[arg(long, value_name = "BINARY", conflicts_with_all = ["window", "pointers", "hostile"])]
    before: Option<PathBuf>,
    /// Instead, measure what near claims and meaning cost, against the build of --before, which has
    /// neither; in homes of up to --many engrams (100,000), which are filled once and kept
    #[arg(long, requires = "before")]
    meaning: bool,
    /// With --meaning, also let the embedding model in this folder read the largest home while agents
    /// write; the ONNX Runtime is that of ENGRAM_ONNXRUNTIME
    #[arg(long, value_name = "FOLDER", requires = "meaning")]
    model: Option<PathBuf>,
    /// Spans that blame follows too, one process each
    #[arg(long, default_value_t = 100)]
    blamed: usize,
    /// Measure the window instead, with 1,000 engrams and with --many (a million)
    #[arg(long)]
    window: bool,
    /// Also query a home with this many engrams, which is filled once and kept
    #[arg(long)]
    many: Option<u64>,
    /// Measure not the window's speed but how much memory it holds after this many minutes of 50
    /// writes a second
    #[arg(long, default_value_t = 0)]
    minutes: u64,
    /// The folder of the homes that are kept
    #[arg(long)]
    place: Option<PathBuf>,
}

/// The number of questions to each party.
const ASKED: usize = 400;
const READ: usize = 200;
/// Bars: a commit against a bare transaction, and a query against a bare search.
const COMMIT: Bar = Bar {
    most: 4.0,
    goal: Some(2.5),
};
const QUERY: Bar = Bar::at_most(2.0);
const STORE: &str = "a durable SQLite transaction that keeps the same bytes, over the same pipe";
const SEARCH: &str = "a tantivy search for the ten best of the same records, over the same pipe";

impl Bench {
    pub(crate) fn perform(self, root: &Path) -> Result<()> {
        let kept = self.place.unwrap_or_else(filled::default_place);
        if self.window {
            return window::perform(root, &kept, self.many.unwrap_or(1_000_000), self.minutes);
        }
        if self.hostile {
            return hostile::perform(root);
        }
        let binary = match self.binary {
            Some(binary) => binary,
            None => {
                shell::build_program(root, &["--release", "--package", "engram-cli"], "engram")?
            }
        };
        if self.pointers {
            return pointers::perform(&binary, self.blamed);
        }
        if self.conflicts {
            return conflicts::perform(root, &binary, self.engrams);
        }
        if self.gateway {
            return gateway::perform(root, &binary, self.many.unwrap_or(100_000));
        }
        if self.classes {
            return classes::perform(root, &binary, self.peer);
        }
        if let Some(before) = self.before {
            if self.meaning {
                let many = self.many.unwrap_or(100_000) as usize;
                let model = self.model.as_deref();
                return meaning::perform(root, &binary, &before, &kept, many, model);
            }
            return other_build::perform(&binary, &before, self.engrams);
        }
        let peer = self.peer.then(peer::find).transpose()?;
        let bare = shell::build_example(root, "engram-store", "bare")?;
        let place = workload::create_sandbox()?;
        table::print_head();
        let run = ServerRun {
            place: &place,
            bare: &bare,
            engrams: self.engrams,
        };
        run.server(&binary, peer.as_deref())?;
        eight_writers(&binary, &place)?;
        idle::ten_servers(&binary, &place)?;
        match self.many {
            Some(many) => filled::perform(root, &binary, &kept, many),
            None => Ok(()),
        }
    }
}

/// One server from start to end, alternating with its baseline.
struct ServerRun<'a> {
    place: &'a Sandbox,
    bare: &'a Path,
    engrams: usize,
}

impl ServerRun<'_> {
    fn server(&self, binary: &Path, peer: Option<&Path>) -> Result<()> {
        let start = Instant::now();
        let mut ours = LineClient::start_mcp(self.place.engram(binary).arg("mcp"))?;
        print_figure("start to first answer", &ms(start.elapsed()), "");
        let mut peer = match peer {
            Some(program) => {
                let folder = self.place.folder.join("peer");
                Some(LineClient::start_mcp(&mut peer::peer_command(
                    program, &folder,
                )?)?)
            }
            None => None,
        };
        self.write(&mut ours, peer.as_mut())?;
        self.ask(&mut ours, peer.as_mut())?;
        self.read(&mut ours)?;
        let tools = ours.ask("tools/list", json!({}))?.result.to_string();
        print_figure("tools/list", &format!("{} bytes", tools.len()), "");
        let memory = |it: &LineClient| Ok::<_, anyhow::Error>(idle::resident_kb(it.id())? / 1024);
        print_figure("resident memory", &format!("{} MB", memory(&ours)?), "");
        if let Some(peer) = peer {
            print_figure(
                "the same of the peer",
                &format!("{} MB", memory(&peer)?),
                "",
            );
            peer.finish()?;
        }
        ours.finish()
    }

    fn write(&self, ours: &mut LineClient, peer: Option<&mut LineClient>) -> Result<()> {
        // The first write shows how long an answer is, and pays for everything that is opened once.
        let bytes = ours.call("engram_commit", commit_arguments(0))?.bytes;
        let mut bare = Command::new(self.bare);
        bare.arg("store")
            .arg(self.place.create_folder("bare-store")?);
        let mut bare = LineClient::start(bare.arg(bytes.to_string()))?;
        bare.call("engram_commit", commit_arguments(0))?;
        let mut parties = vec![
            Party::new(ours, "engram_commit", commit_arguments),
            Party::new(&mut bare, "engram_commit", commit_arguments),
        ];
        if let Some(peer) = peer {
            peer.call(peer::STORE, peer::store_arguments(0))?;
            parties.push(Party::new(peer, peer::STORE, peer::store_arguments));
        }
        call_in_turn(1..self.engrams, &mut parties)?;
        rows("write (engram_commit)", &parties, STORE, Some(COMMIT));
        drop(parties);
        bare.finish()
    }

    fn ask(&self, ours: &mut LineClient, peer: Option<&mut LineClient>) -> Result<()> {
        let engrams = self.engrams;
        // The first question opens the index, and its answer shows what records look like.
        let first = ours
            .call("engram_query", query_arguments(&common_question(0)))?
            .result;
        let mut bare = self.searcher(&first)?;
        let mut asked = Parties {
            ours,
            bare: &mut bare,
            peer,
        };
        let full = asked.rows(
            "query of ten (engram_query)",
            common_question,
            |_, result| is_full(result),
            Some(QUERY),
        )?;
        let hits = asked.rows(
            "query by a name",
            move |n| question_about(workload::asked_claim(n, engrams)),
            move |n, result| {
                let wanted = claim(workload::asked_claim(n, engrams));
                is_near(result, |claim| claim == wanted)
            },
            None,
        )?;
        for (at, whose) in ["", ", bare", ", the peer"].iter().enumerate() {
            let of = |hits: &[usize]| Some(*hits.get(at)? as f64 / ASKED as f64);
            if let (Some(full), Some(hits)) = (of(&full), of(&hits)) {
                let bar = bar_outcome(hits == 1.0, "1.000");
                let bar = if at == 0 { &bar } else { "" };
                print_figure(
                    &format!("hit@5 by a name{whose}"),
                    &format!("{hits:.3}"),
                    bar,
                );
                let what = format!("answers of ten that were full{whose}");
                print_figure(&what, &format!("{full:.3}"), "");
            }
        }
        bare.finish()
    }

    /// Starts a bare index of all records, each as long as those of an answer.
    fn searcher(&self, answer: &Value) -> Result<LineClient> {
        let found = answer["structuredContent"]["engrams"]
            .as_array()
            .context("no engrams in an answer")?;
        let mut record = found.first().context("nothing found")?.clone();
        let records: String = (0..self.engrams)
            .map(|i| {
                record["claim"] = json!(claim(i));
                format!("{record}\n")
            })
            .collect();
        let room = self.place.create_folder("bare-search")?;
        let file = self.place.folder.join("records.jsonl");
        fs::write(&file, records)?;
        let mut bare = Command::new(self.bare);
        LineClient::start(bare.arg("search").args([room, file]))
    }

    fn read(&self, ours: &mut LineClient) -> Result<()> {
        let mut ours = [Party::new(ours, "engram_deref", workload::deref_arguments)];
        call_in_turn(0..READ, &mut ours)?;
        let show: Vec<Duration> = (0..50)
            .map(|i| timed(|| workload::git_show(self.place, i)))
            .collect::<Result<_>>()?;
        print_row(
            "dereference (engram_deref)",
            &ours[0].times,
            ("git show REV:PATH", &show),
            0.5,
            None,
        );
        Ok(())
    }
}

/// All parties that answer the same questions.
struct Parties<'a> {
    ours: &'a mut LineClient,
    bare: &'a mut LineClient,
    peer: Option<&'a mut LineClient>,
}

impl Parties<'_> {
    /// Prints the rows of one kind of question, and how often each party gave the wanted answer.
    fn rows(
        &mut self,
        what: &str,
        question: impl Fn(usize) -> String + Copy,
        wants: impl Fn(usize, &Value) -> bool + Copy,
        bar: Option<Bar>,
    ) -> Result<Vec<usize>> {
        let arguments = move |n| query_arguments(&question(n));
        let mut parties = vec![
            Party::new(self.ours, "engram_query", arguments).wants(wants),
            Party::new(self.bare, "engram_query", arguments).wants(wants),
        ];
        if let Some(peer) = self.peer.as_deref_mut() {
            let recall = move |n| peer::recall_arguments(&question(n));
            let party = Party::new(peer, peer::RECALL, recall);
            parties.push(party.wants(move |n, result| wants(n, &peer::converted_answer(result))));
        }
        call_in_turn(0..ASKED, &mut parties)?;
        rows(what, &parties, SEARCH, bar);
        Ok(parties.iter().map(|it| it.hits).collect())
    }
}

/// Prints engram's row beside the baseline, and the peer's row below, if there is one.
fn rows(what: &str, parties: &[Party<'_>], baseline: &str, bar: Option<Bar>) {
    if let [ours, bare, others @ ..] = parties {
        print_row(what, &ours.times, (baseline, &bare.times), 0.5, bar);
        for peer in others {
            print_plain_row("the same by a peer", &peer.times, &peer::title());
        }
    }
}

/// Lets eight processes write into one home at once.
fn eight_writers(binary: &Path, place: &Sandbox) -> Result<()> {
    const EACH: usize = 250;
    let batch = |writer: usize| -> String {
        let line = |i: usize| {
            let line = json!({ "claim": format!("Writer {writer} says {i}."), "pointers": ["repo:src/file0.rs#L1@HEAD"] });
            format!("{line}\n")
        };
        (0..EACH).map(line).collect()
    };
    let batches: Vec<String> = (0..8).map(batch).collect();
    let begun = Instant::now();
    let stored = write_at_once(|| place.engram(binary), place, &batches)?;
    let rate = stored as f64 / begun.elapsed().as_secs_f64();
    let all = 8 * EACH;
    print_figure(
        "8 processes at once",
        &format!("{rate:.0} writes/s, {stored} of {all} stored"),
        "",
    );
    ensure!(stored == all, "{} writes were lost", all - stored);
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}
