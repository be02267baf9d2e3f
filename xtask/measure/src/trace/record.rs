//! The trace: one line of JSON for what was run, for each file behind its pointers, and for each turn. It names no
//! time and no id of the product, so that a seed gives the same trace of the same commit.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// One line. The first is the run; the files follow, then the turns.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum TraceLine {
    Turn(Turn),
    File(File),
    Run(TraceRun),
}

/// What was run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceRun {
    /// Of the repository that they worked on.
    pub(crate) commit: String,
    pub(crate) seed: u64,
    pub(crate) agents: Vec<Member>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Member {
    pub(crate) agent: String,
    pub(crate) role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
}

/// A file that a pointer led into.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// By which the turns name it.
    pub(crate) file: usize,
    pub(crate) path: String,
    /// Of all of it, as the product counts them.
    pub(crate) tokens: u64,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    pub(crate) turn: usize,
    pub(crate) agent: String,
    pub(crate) calls: Vec<CallMade>,
}

/// A pointer: the number of its file, and its lines or its section; as in `12#L3-L40`.
pub(crate) type At = String;

/// What an agent did, and what came of it. What was refused was tried on purpose.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum CallMade {
    /// Claims that a query found.
    Query(usize),
    /// A claim that was stored by itself, by its pointers.
    Commit(Vec<At>),
    /// Tokens of the shared brief.
    Brief(u64),
    /// A read that the turn's budget paid.
    Read(At, u64),
    /// A read that a grant paid.
    Granted(At, u64),
    /// A read that was refused, by its code.
    Denied(At, String),
    /// Asked its parent to read what its budget refused.
    Ask(At),
    /// A grant to an agent.
    Grant(GivenGrant),
    /// A request of an agent that was denied.
    Deny(String, At),
    Sent(Box<SentMessage>),
    Refused(RefusedMessage),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenGrant {
    pub(crate) to: String,
    pub(crate) at: At,
    /// `user`, or nobody for the agent whose turn it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
}

/// A message that was accepted.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentMessage {
    pub(crate) tokens: u64,
    pub(crate) to: Vec<String>,
    /// The pointers of each of its claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) claims: Vec<Vec<At>>,
    /// Its other pointers: packs, grants and what it asks to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) pack: Vec<At>,
    /// What it narrows of its recipients' turns.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) budgets: BTreeMap<String, u64>,
    /// The refusal that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resend_of: Option<usize>,
    /// What is wrong with it: it should have been refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wrong: Option<String>,
}

/// A message that was refused.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RefusedMessage {
    /// By which a resend names it.
    pub(crate) refusal: usize,
    /// What was wrong with it.
    pub(crate) wrong: String,
    pub(crate) code: String,
    /// Where it had too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
}

/// All of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceRecord {
    pub(crate) run: TraceRun,
    pub(crate) files: Vec<File>,
    pub(crate) turns: Vec<Turn>,
}

impl TraceRecord {
    pub(crate) fn read(text: &str) -> Result<Self> {
        let mut record = Self::default();
        for (at, line) in text.lines().enumerate() {
            let line = serde_json::from_str(line).with_context(|| format!("line {}", at + 1))?;
            match line {
                TraceLine::Run(run) => record.run = run,
                TraceLine::File(file) => record.files.push(file),
                TraceLine::Turn(turn) => record.turns.push(turn),
            }
        }
        Ok(record)
    }

    pub(crate) fn text(&self) -> Result<String> {
        let run = std::iter::once(TraceLine::Run(self.run.clone()));
        let files = self.files.iter().cloned().map(TraceLine::File);
        let turns = self.turns.iter().cloned().map(TraceLine::Turn);
        let mut text = String::new();
        for line in run.chain(files).chain(turns) {
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
        }
        Ok(text)
    }
}

/// The number of the file.
pub(crate) fn file_of(at: &At) -> usize {
    let number = at.split('#').next().unwrap_or_default();
    number.parse().unwrap_or(usize::MAX)
}
