//! How agents are connected to a home: which there are, how each stands, and what a change to its
//! configuration would be.

use serde::{Deserialize, Serialize};

use crate::Refusal;

/// An agent whose configuration can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Client {
    /// Claude Code: `.mcp.json` of the repository.
    Claude,
    /// Codex: `config.toml` in its home.
    Codex,
}

impl Client {
    /// Each of them.
    pub const ALL: &[Self] = &[Self::Claude, Self::Codex];

    /// As its maker writes it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    /// As an argument.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// An agent, and whether it is connected to this home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// The agent.
    pub client: Client,
    /// How it stands.
    pub state: Connected,
}

/// Whether an agent is connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connected {
    /// To this home.
    Here,
    /// To Engram, but to another home or program.
    Elsewhere,
    /// No: its configuration has another server of our name.
    Stranger,
    /// No.
    No,
    /// Its configuration cannot be read, or has no place.
    Refused(Refusal),
}

/// A change to an agent's configuration, as it is shown before it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeShown {
    /// Whose configuration.
    pub client: Client,
    /// The file that is written.
    pub path: String,
    /// The link by which the agent reads it, if there is one.
    pub link: Option<String>,
    /// What becomes of the file.
    pub kind: FileChange,
    /// It takes the place of another server of our name.
    pub replaces: bool,
    /// Whether there is anything to write.
    pub is_any: bool,
    /// The lines that change, and some around them.
    pub lines: Vec<ChangedLine>,
    /// Lines that are left out.
    pub more: u64,
    /// Of what is written and over what: sent back, it says what was agreed to.
    pub digest: String,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// There was none.
    Created,
    /// Some of its lines change.
    Edited,
    /// There is none any more.
    Removed,
}

/// A line of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedLine {
    /// What becomes of it.
    pub change: LineChange,
    /// Its text, as far as it is sent.
    pub text: String,
    /// Characters that are left out.
    pub more: u64,
    /// Lines that stay are left out before it.
    pub is_apart: bool,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    /// It stays.
    Same,
    /// It comes.
    Added,
    /// It goes.
    Removed,
}

/// What came of asking for a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectReply {
    /// Nothing was written: this is what would be.
    Shown(Box<ChangeShown>),
    /// What was shown is written.
    Written,
}

/// How an agent of one kind is connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectHint {
    /// The agent, as its maker writes it.
    pub agent: String,
    /// The command line.
    pub command: String,
}

impl ConnectHint {
    /// For each agent that a first run names. `program` is `engram` as a terminal finds it; `home`
    /// where it is not the one that is meant anyway.
    pub fn all(program: &str, home: Option<&str>) -> Vec<Self> {
        let home = home.map_or_else(String::new, |it| format!(" --home {}", quoted(it)));
        let hint = |it: &Client| Self {
            agent: it.title().to_owned(),
            command: format!("{}{home} connect {}", quoted(program), it.name()),
        };
        Client::ALL.iter().map(hint).collect()
    }
}

/// A path as one word of a command line.
pub fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_command_line() {
        for (program, home, want) in [
            ("engram", None, "engram connect claude"),
            (
                "/usr/bin/engram",
                Some("/a b"),
                "/usr/bin/engram --home '/a b' connect claude",
            ),
            ("/it's/$(x)", None, r"'/it'\''s/$(x)' connect claude"),
        ] {
            assert_eq!(ConnectHint::all(program, home)[0].command, want);
        }
    }
}
