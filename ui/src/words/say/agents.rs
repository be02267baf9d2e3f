//! The agents.

use engram_model::OperationKind;

pub const TITLE: &str = "Agents";
pub const COUNTS: &str = "Agents that stored or read something here";
pub const LABEL: &str = "Agents, most recent first";
pub const ONE: &str = "Agent";
pub const READING: &str = "Listing agents…";
pub const NONE: &str = "No agent has used this memory yet";
pub const NONE_MEANS: &str = "An agent appears here once it stores a claim or reads a source.";
pub const CONNECT: &str =
    "To connect one, run `engram connect claude` or `engram connect codex` in a terminal.";
pub const ROLE: &str = "role";
pub const PARENT: &str = "started by";
pub const FIRST: &str = "first seen";
pub const LAST: &str = "last call";
pub const STORED: &str = "stored";
pub const TURN: &str = "Spent this turn";
pub const LAST_TURN: &str = "Spent in its last turn";
pub const IDLE: &str = "no open turn";
pub const SAID: &str = "Newest claims under this name";
pub const SHOW: &str = "Show its claims";

pub fn started_by(name: &str) -> String {
    format!("{PARENT} {name}")
}

pub fn more(agents: &str) -> String {
    format!("Not listed: {agents} that called earlier.")
}

/// What an agent did last.
pub fn did(it: OperationKind) -> &'static str {
    match it {
        OperationKind::Stored => "stored a claim",
        OperationKind::Corroborated => "repeated a claim",
        OperationKind::Forgotten => "forgot a claim",
        OperationKind::Promoted => "made a claim durable",
        OperationKind::Dereferenced => "read a source",
        OperationKind::Noted => "recorded an event",
        _ => "",
    }
}
