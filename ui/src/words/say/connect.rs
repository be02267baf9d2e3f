//! Agents, and the change to the configuration of one.

pub const TITLE: &str = "Connect an agent";
pub const OPEN: &str = "Connect an agent…";
pub const MEANS: &str = "You see each change before it is written, and can undo it.";
pub const MEANS_COMMANDS: &str =
    "Run one of these in a terminal, in your repository. It shows the change before making it.";
pub const SHOWS_COMMANDS: &str = "Lists the commands that connect an agent.";
pub const IN_TERMINAL: &str = "Or in a terminal";
pub const HERE: &str = "connected";
pub const UNADVISED: &str = "connected, but AGENTS.md here does not mention Engram";
pub const ELSEWHERE: &str = "connected to another Engram";
pub const STRANGER: &str = "not connected: another server is named engram";
pub const NO: &str = "not connected";
pub const REFUSED: &str = "cannot be connected";
pub const CONNECT: &str = "Connect…";
pub const UNDO: &str = "Undo…";
pub const CREATES: &str = "Creates ";
pub const EDITS: &str = "Changes ";
pub const REMOVES: &str = "Deletes ";
pub const LINKED: &str = "Reached through the link ";
pub const REPLACES: &str = "Replaces another server named `engram`. Undo puts it back.";
pub const OTHER: &str =
    "The file changed in the meantime. Nothing was written; review the new change.";
pub const WRITE: &str = "Write it";
pub const REMOVE: &str = "Undo it";
pub const CANCEL: &str = "Cancel";

pub fn connect(agent: &str) -> String {
    format!("Connect {agent}…")
}

pub fn undo(agent: &str) -> String {
    format!("Undo connecting {agent}…")
}

pub fn next(agent: &str, approval: &str) -> String {
    let said = format!("Connected. Start or restart {agent}. {approval}");
    said.trim_end().replace('\'', "’")
}

pub fn undone(agent: &str) -> String {
    format!("Undone. {agent} stops using Engram when it restarts.")
}

pub fn file_left(path: &str, why: &str) -> String {
    format!("{path} stays as it is: {why}.")
}

pub fn not_shown(lines: &str) -> String {
    format!("Not shown: {lines} of this change.")
}
