//! The person's steps, and what became of them.

use engram_model::Did;

pub const TITLE: &str = "What you did";
pub const COMMAND: &str = "What you did: review or undo any step";
pub const ALL: &str = "All steps";
pub const READING: &str = "Loading…";
pub const NONE: &str = "You have not changed anything here yet.";
pub const UNDONE: &str = "undone";

pub const ADDED: &str = "Added";
pub const ASKED: &str = "Asked agents to check";
pub const CONFIRMED: &str = "Confirmed";
pub const RENEWED: &str = "Renewed";
pub const CORRECTED: &str = "Corrected";
pub const FORGOT: &str = "Forgot";
pub const CONTRADICTED: &str = "Confirmed a conflict";
pub const SETTLED: &str = "Settled a conflict";
pub const MERGED: &str = "Merged two claims";
pub const DISMISSED: &str = "Dismissed a conflict";
pub const ALLOWED: &str = "Allowed a conflict";

pub const ENDED: &str = "it has since ended";
pub const REPLACED: &str = "replaced";
pub const ANSWERED: &str = "answered";
pub const FORGOTTEN: &str = "forgotten";
pub const REDACTED: &str = "redacted";
pub const BY_VERDICT: &str = "settled";
pub const SETTLED_AGAIN: &str = "settled again";
pub const ALLOWED_AGAIN: &str = "allowed again";
pub const SAID_AGAIN: &str = "made again";

/// What became of a version with the one that replaced it.
pub fn replaced(did: Option<Did>) -> &'static str {
    match did {
        Some(Did::Answered) => ANSWERED,
        _ => REPLACED,
    }
}

/// After a step that the person did in the name of an agent.
pub fn in_name_of(agent: &str) -> String {
    format!(" as {agent}")
}

/// What overtook a step, and who did it.
pub fn overtaken_by(did: &str, by: &str) -> String {
    format!("since {did} by {by}")
}
