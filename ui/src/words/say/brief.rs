//! The shared brief.

pub const TITLE: &str = "Brief";
pub const COUNTS: &str = "Lines of the shared brief";
pub const LINES: super::Noun = ("line", "lines");
pub const LABEL: &str = "Lines of the shared brief, pinned ones first";
pub const READING: &str = "Loading…";
pub const NONE: &str = "The brief is empty";
pub const NONE_MEANS: &str = "It fills as agents store claims. Pin a line, and each agent that uses MCP gets it with its next call.";
pub const WHOSE: &str = "Whose brief";
pub const ALL: &str = "Everyone’s";
pub const ONE: &str = "Line";
pub const PIN: &str = "Pin";
pub const UNPIN: &str = "Unpin";
pub const PIN_OR_UNPIN: &str = "Pin to the brief, or unpin";
pub const PINNED_NOW: &str = "Pinned. Agents that use MCP get this line with their next call";
pub const UNPINNED_NOW: &str = "Unpinned";
pub const ADD: &str = "Pin a line of your own…";
pub const ADD_SHORT: &str = "Pin a line…";
pub const ADD_HINT: &str = "What agents should know, in one line";
pub const EDIT: &str = "Edit…";
pub const EDIT_MEANS: &str = "Edit a pinned line";
pub const EDITED: &str = "Edited. Agents that use MCP get the new words with their next call";
pub const YOUR_LINE: &str = "Your line";
pub const SAVE: &str = "Save";
pub const CANCEL: &str = "Cancel";
pub const SHOW: &str = "Show the claim";
pub const EVIDENCE: &str = "Evidence";
pub const NO_EVIDENCE: &str = "This line has no evidence of its own.";
pub const NOT_A_CLAIM: &str = "Only a claim or a line of your own can be pinned";
pub const NOT_A_CLAIM_HINT: &str = "Press ⇧ P to pin a line of your own.";
pub const NOT_YOURS: &str = "Only a pinned line of text can be edited";
pub const NOT_YOURS_HINT: &str = "Correct the claim in the feed: the line follows it.";

/// The parts of a brief, as headings.
pub mod part {
    pub const PIN: &str = "Pinned";
    pub const TODOS: &str = "To-dos and answers";
    pub const MATTER: &str = "What matters now";
    pub const CONSTRAINT: &str = "Constraints";
    pub const RISK: &str = "Risks";
    pub const POINTER: &str = "Where to look first";
    pub const BUDGET: &str = "Budgets";
    pub const GRANT: &str = "Open grants";
}

pub const SENT: &str = "Sent to";
pub const NOT_SENT: &str = "Not sent to any agent yet.";

/// The agent that pinned a line.
pub fn pinned_by(name: &str) -> String {
    format!("Pinned by {name}")
}

/// How much of its limit a brief uses.
pub fn used(used: &str, most: &str, what: &str) -> String {
    format!("{used} of {most} {what}")
}
