//! Requests: what agents ask to read beyond their budgets, and the answers.

pub const TITLE: &str = "Requests";
pub const COUNTS: &str = "Requests that wait for your answer";
pub const OF: super::Noun = ("waiting request", "waiting requests");
pub const LABEL: &str = "Requests: those that wait come first";
pub const ONE: &str = "Request";
pub const READING: &str = "Loading…";
pub const NONE: &str = "No requests";
pub const NONE_MEANS: &str =
    "An agent that reached its budget asks here to read more. You grant or deny it.";
pub const NOT_READ: &str = "Open a request to see the lines that it wants.";
pub const WAITING: &str = "Waiting";
pub const ANSWERED: &str = "Answered";
pub const REASON: &str = "Reason";
pub const USE: &str = "Intended use";
pub const ROLE: &str = "role";
pub const ASKED: &str = "asked";
pub const SPAN: &str = "size";
pub const LINES: &str = "What it wants to read";
pub const ERASED: &str = "The words of this request were erased.";
pub const ERASED_SOURCE: &str = "an erased source";
pub const ANSWER: &str = "Your answer";
pub const CAP: &str = "Limit";
pub const CAP_RANGE: &str = "The limit must be a number from 1 to 100,000";
pub const CAP_RANGE_HINT: &str = "Type another number.";
pub const EDIT_CAP: &str = "Edit the limit";
pub const GRANT: &str = "Grant";
pub const GRANT_MEANS: &str = "Grant the request";
pub const DENY: &str = "Deny";
pub const DENY_MEANS: &str = "Deny the request";
pub const REVOKE: &str = "Revoke";
pub const REVOKE_MEANS: &str = "Revoke the grant";
pub const ANSWERING: &str = "Answering";
pub const WHY: &str = "Reason for denying";
pub const WHY_HINT: &str = "Optional, shown to the agent";
pub const WHY_DENIED: &str = "Why deny it?";
pub const WHY_DENIED_HINT: &str = "Optional, shown to the agent. Enter denies the request";
pub const GRANTED: &str = "Granted";
pub const DENIED: &str = "Denied";
pub const REVOKED: &str = "Revoked: the grant can no longer be used";
pub const CANNOT: &str = "This request has already been answered";
pub const CANNOT_HINT: &str = "Only a waiting request can be granted or denied.";
pub const NOTHING_OPEN: &str = "No open grant to revoke";
pub const NOTHING_OPEN_HINT: &str = "A grant can be revoked until it is used or expires.";
pub const GONE: &str = "There is no such request";

/// What a request asks for, as a sentence.
pub fn asks(agent: &str, what: &str) -> String {
    format!("{agent} asks to read {what}")
}

/// What the list leaves out.
pub fn not_listed(requests: &str) -> String {
    format!("Not listed: {requests} from earlier.")
}

/// Lines of a file, in a sentence.
pub fn lines_of(file: &str, start: u32, end: u32) -> String {
    if start == end {
        format!("{file}, line {start}")
    } else {
        format!("{file}, lines {start}–{end}")
    }
}

pub fn granted(agent: &str) -> String {
    format!("{GRANTED}: {agent} may read it once")
}

pub fn by_whom(name: &str, when: &str) -> String {
    format!("answered by {name}, {when}")
}

/// The status of a grant and its limit; follows the name of its giver.
pub fn open_until(time: &str, limit: Option<&str>) -> String {
    let limit = limit.map_or_else(String::new, |it| format!(", for at most {it}"));
    format!("open until {time}{limit}")
}

/// Under the cap, if the span is longer.
pub fn span_is_cut(tokens: &str) -> String {
    format!("tokens (these lines have {tokens}; the rest would be cut off)")
}

/// Under the cap, if all of the span fits.
pub fn span_fits(tokens: &str) -> String {
    format!("tokens (these lines have {tokens})")
}

pub const HAND_ON: &str = "Transfer";
pub const HAND_ON_MEANS: &str = "Transfer the grant";
pub const HAS_NEWER: &str =
    "That connection has ended. Open the request and transfer the grant to the newer one.";
/// On a waiting request, whose agent may not be there to use a grant.
pub const CLOSED: &str = "You closed this agent, so it cannot use a grant.";
pub const RECONNECTED: &str = "This connection has ended: the agent has connected again. Grant the request, then transfer the grant to the newer connection.";
pub const NO_NEWER: &str = "This agent has not connected again";
pub const NO_NEWER_HINT: &str =
    "A grant can be transferred once the same client has a newer connection.";

pub fn is_quiet(ago: &str) -> String {
    format!(
        "This agent last called {ago}. It may have disconnected; a grant can then be transferred once it connects again."
    )
}

pub fn handed_on(agent: &str) -> String {
    format!("Transferred: the newest connection of {agent} may read it once")
}

/// Who has the grant of a request since it was transferred.
pub fn held_by(agent: &str) -> String {
    format!("transferred to {agent}")
}

/// One word for what became of a request.
pub mod state {
    pub const WAITING: &str = "waiting";
    pub const OPEN: &str = "granted";
    pub const READ: &str = "granted and read";
    pub const EXPIRED: &str = "granted, expired unread";
    pub const REVOKED: &str = "revoked";
    pub const TRANSFERRED: &str = "transferred";
    pub const DENIED: &str = "denied";
}

pub const TOKENS: super::Noun = ("token", "tokens");
