//! Which agents can be connected to a home, whether each one is, and changes to their
//! configuration.

use serde::{Deserialize, Serialize};

use crate::Refusal;

/// An agent whose configuration can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code with GitHub Copilot.
    VsCode,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Zed.
    Zed,
    /// Windsurf.
    Windsurf,
}

/// What people read about a client.
struct ClientWords {
    title: &'static str,
    name: &'static str,
    /// The file that is written.
    file: &'static str,
    /// What the client asks of its user before it starts our server.
    approval: &'static str,
}

impl Client {
    /// Every client.
    pub const ALL: &[Self] = &[
        Self::Claude,
        Self::Codex,
        Self::Cursor,
        Self::VsCode,
        Self::Gemini,
        Self::Opencode,
        Self::Zed,
        Self::Windsurf,
    ];

    /// Its product name.
    pub const fn title(self) -> &'static str {
        self.words().title
    }

    /// Its name as a command-line argument.
    pub const fn name(self) -> &'static str {
        self.words().name
    }

    /// The file in which it is connected, for people.
    pub const fn file(self) -> &'static str {
        self.words().file
    }

    /// What its user must do before it starts our server, as a sentence; empty if nothing.
    pub const fn approval(self) -> &'static str {
        self.words().approval
    }

    /// Their names as command-line arguments, as a list.
    pub fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|it| it.name()).collect();
        names.join(", ")
    }

    const fn words(self) -> ClientWords {
        match self {
            Self::Claude => ClientWords {
                title: "Claude Code",
                name: "claude",
                file: "this repository's .mcp.json",
                approval: "Claude Code asks once whether to use this server. Approve it.",
            },
            Self::Codex => ClientWords {
                title: "Codex",
                name: "codex",
                file: "your ~/.codex/config.toml",
                approval: "",
            },
            Self::Cursor => ClientWords {
                title: "Cursor",
                name: "cursor",
                file: "this repository's .cursor/mcp.json",
                approval: "Cursor asks once whether to use this server. Approve it, or turn it on in Cursor's settings.",
            },
            Self::VsCode => ClientWords {
                title: "VS Code (Copilot)",
                name: "vscode",
                file: "this repository's .vscode/mcp.json",
                approval: "VS Code asks once whether to trust this server. Trust it.",
            },
            Self::Gemini => ClientWords {
                title: "Gemini CLI",
                name: "gemini",
                file: "this repository's .gemini/settings.json",
                approval: "Gemini CLI uses this server only in a folder that you trust. Trust it when it asks.",
            },
            Self::Opencode => ClientWords {
                title: "opencode",
                name: "opencode",
                file: "this repository's opencode.json",
                approval: "",
            },
            Self::Zed => ClientWords {
                title: "Zed",
                name: "zed",
                file: "this repository's .zed/settings.json",
                approval: "Zed uses this server only in a project that you trust. Trust it when it asks.",
            },
            Self::Windsurf => ClientWords {
                title: "Windsurf",
                name: "windsurf",
                file: "your ~/.codeium/windsurf/mcp_config.json, for this repository alone",
                approval: "",
            },
        }
    }
}

/// An agent, and whether it is connected to this home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// The agent.
    pub client: Client,
    /// Whether it is connected.
    pub state: Connected,
}

/// Whether, and to what, an agent is connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connected {
    /// It is connected to this home.
    Here,
    /// It is connected to this home, for all repositories of the user, but this repository lacks our
    /// advice.
    Unadvised,
    /// It is connected to Engram, but to another home or program.
    Elsewhere,
    /// It is not connected, and its configuration has another server under our name.
    Stranger,
    /// It is not connected.
    No,
    /// Its configuration cannot be read or located.
    Refused(Refusal),
}

/// A change that connects or disconnects an agent, shown before it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeShown {
    /// Which agent.
    pub client: Client,
    /// The files that change: its configuration first, then the repository's advice to agents.
    pub files: Vec<FileShown>,
    /// The files of advice that stay unchanged, although they should change.
    pub left: Vec<FileLeft>,
    /// Whether it replaces another server that has our name.
    pub replaces: bool,
    /// Whether there is anything to write.
    pub is_any: bool,
    /// A digest of the old and the new text of each file. The page sends it back to say which
    /// change the person agreed to.
    pub digest: String,
}

/// A file that stays unchanged, since it cannot be changed safely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLeft {
    /// The file.
    pub path: String,
    /// The reason.
    pub why: Refusal,
}

/// What changes in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileShown {
    /// The file that is written.
    pub path: String,
    /// The link through which the agent reads the file, if there is one.
    pub link: Option<String>,
    /// What happens to the file.
    pub kind: FileChange,
    /// The changed lines with some unchanged lines around them.
    pub lines: Vec<ChangedLine>,
    /// How many lines are left out.
    pub more: u64,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// It did not exist.
    Created,
    /// Some of its lines change.
    Edited,
    /// It is deleted.
    Removed,
}

/// A line of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedLine {
    /// What happens to it.
    pub change: LineChange,
    /// Its text, possibly cut.
    pub text: String,
    /// How many characters are left out.
    pub more: u64,
    /// Whether unchanged lines before it are left out.
    pub is_apart: bool,
}

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    /// Unchanged.
    Same,
    /// Added.
    Added,
    /// Removed.
    Removed,
}

/// The outcome of a request for a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectReply {
    /// Nothing was written: this is the change.
    Shown(Box<ChangeShown>),
    /// The change was written as shown.
    Written,
}

/// How to connect an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectHint {
    /// The agent's product name.
    pub agent: String,
    /// The command line.
    pub command: String,
}

impl ConnectHint {
    /// One hint for each agent. `program` is `engram` as a terminal finds it; `home` is given
    /// unless it is the default.
    pub fn all(program: &str, home: Option<&str>) -> Vec<Self> {
        let home = home.map_or_else(String::new, |it| format!(" --home {}", shell_quoted(it)));
        let hint = |it: &Client| Self {
            agent: it.title().to_owned(),
            command: format!("{}{home} connect {}", shell_quoted(program), it.name()),
        };
        Client::ALL.iter().map(hint).collect()
    }
}

/// A path as one word of a shell command.
pub fn shell_quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
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
