//! What a person chose for the window; kept in the home's `window.toml`.

use serde::{Deserialize, Serialize};

/// Everything that can be chosen; what a file leaves out is as the system has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Colours.
    pub theme: Theme,
    /// How much room a row takes.
    pub density: Density,
    /// Whether things move.
    pub motion: Motion,
    /// Width of the list, in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_width: Option<u32>,
    /// The person's editor as a command line, with `{file}` and `{line}` where it has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor: Option<String>,
}

/// Colours of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// The most that light and dark allow.
    Contrast,
}

/// How much room things take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// Two lines of a claim.
    #[default]
    Normal,
    /// One line of a claim.
    Compact,
}

/// Whether things move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Motion {
    /// As the system has it.
    #[default]
    System,
    /// Nothing moves.
    Reduced,
}

/// An editor of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditorFound {
    /// For people.
    pub name: String,
    /// Its program: what [`Settings::editor`] takes.
    pub program: String,
}

/// What surrounds the window on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Editors that are installed.
    pub editors: Vec<EditorFound>,
    /// The editor that opens files as things stand.
    pub editor: Option<String>,
    /// The variable of the environment that overrules the settings.
    pub overruled_by: Option<String>,
    /// The log of the window.
    pub log: String,
    /// Whether the system opens `engram://` links with the window; absent if it cannot be asked to.
    #[serde(default)]
    pub has_links: Option<bool>,
    /// Whether the window can show the system's own dialog to choose a folder.
    #[serde(default)]
    pub picks_folders: bool,
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
        let hint = |(agent, name): (&str, &str)| Self {
            agent: agent.to_owned(),
            command: format!("{}{home} connect {name}", quoted(program)),
        };
        [("Claude Code", "claude"), ("Codex", "codex")]
            .map(hint)
            .into()
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

/// A repository that was opened before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recent {
    /// For people.
    pub name: String,
    /// Its working tree, or its git folder.
    pub path: String,
    /// It is the one in front.
    #[serde(default)]
    pub is_front: bool,
    /// Engrams that came while it was open behind another.
    #[serde(default)]
    pub unseen: u64,
    /// Current engrams, and how many of them need a check; absent if that is unknown.
    #[serde(default)]
    pub holding: Option<(u64, u64)>,
}

/// The repositories that are open in a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedReply {
    /// Changes with each change among them.
    pub news: u64,
    /// In the order in which they were opened.
    pub repositories: Vec<Recent>,
}

/// What the window sends to its page unasked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handed {
    /// A link of another program.
    Link(String),
    /// The path of a repository that is to come in front.
    Repository(String),
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
