//! `cargo xtask bench --classes`: the thirteen classes of pairs used to compare peers, with twenty
//! pairs each. Two agents store each pair over MCP in Engram and, with `--peer`, in both peers,
//! using only their rules. It counts how many pairs of a class each one calls a conflict.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    client::LineClient,
    idle, peer,
    workload::{create_sandbox, mcp_command},
};
use xtask::tools;

/// The names of the classes in `crates/consistency/tests/claims/developed.txt`, and whether their
/// pairs are conflicts.
const CLASSES: &[(&str, bool)] = &[
    ("numeric", true),
    ("version", true),
    ("config_key", true),
    ("boolean", true),
    ("entity_value", true),
    ("negation", true),
    ("paraphrase", true),
    ("other_entity", false),
    ("environment", false),
    ("equal_units", false),
    ("other_attribute", false),
    ("reworded", false),
    ("unrelated", false),
];
const EACH: usize = 20;
const TEAM: &str = "engram-team";
/// After this many checks without anything new, a queue counts as empty.
const QUIET: usize = 4;

/// Two claims about a topic.
struct Pair {
    topic: String,
    a: String,
    b: String,
}

pub(super) fn perform(root: &Path, binary: &Path, peers: bool) -> Result<()> {
    let place = create_sandbox()?;
    let peers = if peers {
        Some((peer::find()?, team()?))
    } else {
        None
    };
    let mut titles = vec!["Engram".to_owned()];
    if peers.is_some() {
        titles.push(format!(
            "{} (keywords)",
            peer::title().split(',').next().unwrap_or_default()
        ));
        titles.push(format!("{TEAM} 0.1.0 (rules)"));
    }
    println!("| class | conflict | {} |", titles.join(" | "));
    println!("|---|---|{}", "---|".repeat(titles.len()));
    let mut tallies = vec![ClassTally::default(); titles.len()];
    for (class, wanted) in CLASSES {
        let pairs = pairs(root, class)?;
        let room = |who: &str| place.create_folder(&format!("{class}-{who}"));
        let home = place.another_home(&format!("{class}-engram"))?;
        let mut flagged = vec![ours(binary, &home, &place.repo(), &pairs)?];
        if let Some((keywords, team)) = &peers {
            flagged.push(by_keywords(keywords, &room("keywords")?, &pairs)?);
            flagged.push(by_team(team, &room("team")?, &pairs)?);
        }
        for (tally, flagged) in tallies.iter_mut().zip(&flagged) {
            tally.add(*wanted, *flagged);
        }
        let cells: Vec<String> = flagged.iter().map(ToString::to_string).collect();
        let wanted = if *wanted { "yes" } else { "no" };
        println!("| {class} | {wanted} | {} |", cells.join(" | "));
    }
    let all: Vec<String> = tallies.iter().map(ClassTally::line).collect();
    println!("| recall, precision, false flags | | {} |", all.join(" | "));
    Ok(())
}

/// How many conflicts, and how many other pairs, were called conflicts.
#[derive(Clone, Default)]
struct ClassTally {
    right: usize,
    conflicts: usize,
    wrong: usize,
    harmless: usize,
}

impl ClassTally {
    fn add(&mut self, wanted: bool, flagged: usize) {
        let (found, all) = if wanted {
            (&mut self.right, &mut self.conflicts)
        } else {
            (&mut self.wrong, &mut self.harmless)
        };
        *found += flagged;
        *all += EACH;
    }

    fn line(&self) -> String {
        let share = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
        format!(
            "{:.0} %, {:.0} %, {:.0} %",
            share(self.right, self.conflicts),
            share(self.right, self.right + self.wrong),
            share(self.wrong, self.harmless),
        )
    }
}

/// Returns the pairs of a class, each in a topic of its own.
fn pairs(root: &Path, class: &str) -> Result<Vec<Pair>> {
    let text = fs::read_to_string(root.join("crates/consistency/tests/claims/developed.txt"))?;
    let heading = format!("== {class} ");
    let lines = text
        .lines()
        .skip_while(|it| !it.starts_with(&heading))
        .skip(1);
    let lines = lines.take_while(|it| !it.starts_with("== "));
    let lines = lines.filter(|it| !it.is_empty() && !it.starts_with('#'));
    let pair = |(at, line): (usize, &str)| {
        let (topic, claims) = line.split_once(": ")?;
        let (a, b) = claims.split_once(" | ")?;
        Some(Pair {
            topic: format!("{}/{at}", topic.split(' ').next()?),
            a: a.trim().to_owned(),
            b: b.trim().to_owned(),
        })
    };
    let found: Option<Vec<Pair>> = lines.enumerate().map(pair).collect();
    let found = found.with_context(|| format!("a line of {class} is no pair"))?;
    ensure!(found.len() == EACH, "{class} has {} pairs", found.len());
    Ok(found)
}

/// Counts the conflicts that Engram reports in its replies to two agents on two connections.
fn ours(binary: &Path, home: &Path, repo: &Path, pairs: &[Pair]) -> Result<usize> {
    let mut one = LineClient::start_mcp(&mut mcp_command(binary, home, repo))?;
    let mut two = LineClient::start_mcp(&mut mcp_command(binary, home, repo))?;
    let mut flagged = 0;
    for pair in pairs {
        let said = |claim: &str| json!({"content": claim, "scope": pair.topic, "confidence": 0.9});
        one.call("engram_commit", said(&pair.a))?;
        let reply = two.call("engram_commit", said(&pair.b))?.result;
        let findings = reply["structuredContent"]["findings"].as_array();
        let told = findings
            .into_iter()
            .flatten()
            .any(|it| it["what"] == "conflict");
        flagged += usize::from(told);
    }
    one.finish()?;
    two.finish()?;
    Ok(flagged)
}

fn by_keywords(program: &Path, room: &Path, pairs: &[Pair]) -> Result<usize> {
    let mut client = LineClient::start_mcp(&mut peer::peer_command(program, room)?)?;
    let mut flagged = 0;
    for (at, pair) in pairs.iter().enumerate() {
        let said = |claim: &str, who: &str| {
            json!({"title": format!("{who} {at}"), "content": claim, "agent_id": who,
                "namespace": pair.topic.replace('/', "-")})
        };
        client.call(peer::STORE, said(&pair.a, "one"))?;
        let reply = client.call(peer::STORE, said(&pair.b, "two"))?.result;
        let text = reply["content"][0]["text"].as_str().unwrap_or_default();
        let said: Value = serde_json::from_str(text)?;
        let found = said["potential_contradictions"].as_array();
        flagged += usize::from(found.is_some_and(|it| !it.is_empty()));
    }
    client.finish()?;
    Ok(flagged)
}

/// Counts the conflicts found by a peer that compares after it has answered, and stores the results
/// by topic.
fn by_team(folder: &Path, room: &Path, pairs: &[Pair]) -> Result<usize> {
    let mut command = Command::new(folder.join("bin/python"));
    command
        .args(["-m", "engram.cli", "serve"])
        .current_dir(room)
        .env("HOME", room)
        .env("PYTHONPATH", folder.join("stub"))
        .stderr(fs::File::create(room.join("stderr"))?);
    let mut client = LineClient::start_mcp(&mut command)?;
    for pair in pairs {
        for (claim, who) in [(&pair.a, "one"), (&pair.b, "two")] {
            let said =
                json!({"content": claim, "scope": pair.topic, "confidence": 0.9, "agent_id": who});
            client.call("engram_commit", said)?;
        }
    }
    let mut flagged = 0;
    let mut quiet = 0;
    while quiet < QUIET {
        // It does not signal that it has finished comparing.
        idle::pause(Duration::from_secs(1));
        let mut now = 0;
        for pair in pairs {
            let listed = client
                .call("engram_conflicts", json!({"scope": pair.topic}))?
                .result;
            let list = listed["structuredContent"]["result"].as_array();
            now += usize::from(list.is_some_and(|it| !it.is_empty()));
        }
        quiet = if now == flagged { quiet + 1 } else { 0 };
        flagged = now;
    }
    client.finish()?;
    Ok(flagged)
}

/// Returns the folder of the second peer. A stub that hashes words embeds sentences for it; the
/// peer's rules ignore embeddings.
fn team() -> Result<PathBuf> {
    let folder = tools::folder().join(TEAM);
    ensure!(
        folder.join("bin/python").is_file(),
        "{TEAM} is not installed: python3.11 -m venv {0}; {0}/bin/pip install 'mcp<2' aiosqlite numpy pydantic \
         click rich questionary uvicorn starlette aiohttp; {0}/bin/pip install --no-deps {TEAM}==0.1.0",
        folder.display()
    );
    let stub = folder.join("stub/sentence_transformers");
    fs::create_dir_all(&stub)?;
    fs::write(stub.join("__init__.py"), STUB)?;
    Ok(folder)
}

const STUB: &str = r#"import hashlib
import numpy as np

__version__ = "0"

class SentenceTransformer:
    def __init__(self, *_args, **_kwargs):
        pass

    def encode(self, text, **_kwargs):
        vector = np.zeros(384, dtype=np.float32)
        for word in text.lower().split():
            vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % 384] += 1
        return vector / (np.linalg.norm(vector) or 1)

class CrossEncoder:
    def __init__(self, *_args, **_kwargs):
        raise RuntimeError("rules alone")
"#;
