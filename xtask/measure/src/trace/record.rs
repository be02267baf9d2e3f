//! The trace: one line of JSON for the run, for each file behind its pointers, and for each turn.
//! It contains no time and no id from the product, so that a seed gives the same trace for the same
//! commit.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// One line. The run comes first, then the files, then the turns.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum TraceLine {
    Turn(Turn),
    File(File),
    Run(TraceRun),
}

/// The parameters of the run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceRun {
    /// The commit of the repository that the agents worked on.
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

/// A file that a pointer leads into.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// The number by which turns name the file.
    pub(crate) file: usize,
    pub(crate) path: String,
    /// The tokens of the whole file, as the product counts them.
    pub(crate) tokens: u64,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    pub(crate) turn: usize,
    pub(crate) agent: String,
    pub(crate) calls: Vec<CallMade>,
}

/// A pointer: the number of its file with its lines or section, such as `12#L3-L40`.
pub(crate) type At = String;

/// One action of an agent and its outcome. Refused actions were attempted on purpose.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum CallMade {
    /// A query, with the number of claims found.
    Query(usize),
    /// A claim stored by itself, with its pointers.
    Commit(Vec<At>),
    /// A read of the shared brief, with its tokens.
    Brief(u64),
    /// A read that the turn's budget paid for, with its tokens.
    Read(At, u64),
    /// A read that a grant paid for, with its tokens.
    Granted(At, u64),
    /// A refused read, with its code.
    Denied(At, String),
    /// A request to the parent to read what the budget refused.
    Ask(At),
    /// A grant to an agent.
    Grant(GivenGrant),
    /// A denied request of an agent.
    Deny(String, At),
    Sent(Box<SentMessage>),
    Refused(RefusedMessage),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenGrant {
    pub(crate) to: String,
    pub(crate) at: At,
    /// `user`, or none for the agent whose turn it is.
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
    /// The limits that it narrows for its recipients' turns.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) budgets: BTreeMap<String, u64>,
    /// The refusal that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resend_of: Option<usize>,
    /// Its fault, if it was accepted although it should have been refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wrong: Option<String>,
}

/// A message that was refused.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RefusedMessage {
    /// The number by which a resend names it.
    pub(crate) refusal: usize,
    /// What was wrong with it.
    pub(crate) wrong: String,
    pub(crate) code: String,
    /// Its tokens, if they were too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
}

/// A whole run.
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

/// Returns the number of a pointer's file.
pub(crate) fn file_of(at: &At) -> usize {
    let number = at.split('#').next().unwrap_or_default();
    number.parse().unwrap_or(usize::MAX)
}
