//! The selection, and actions on it.

pub const LABEL: &str = "Selected claims";
pub const CHOOSE: &str = "Select or deselect";
pub const CHOOSE_NEXT: &str = "Extend the selection down";
pub const CHOOSE_PREVIOUS: &str = "Extend the selection up";
pub const CHOOSE_ALL: &str = "Select all loaded engrams";
pub const CLEAR: &str = "Clear the selection";
pub const COPY: &str = "Copy claims";
pub const COPIED: &str = "Claims copied, one per line";
pub const ALL: &str = "All engrams in this list that hold are selected.";
pub const ALL_LOADED: &str =
    "Older engrams are not loaded yet: scroll down, then select all again.";
pub const CLOSED: &str = "This engram no longer holds";
pub const CLOSED_HINT: &str = "Only engrams that hold can be selected.";
pub const ONE_AT_A_TIME: &str = "Claims are redacted one at a time";
pub const ONE_AT_A_TIME_HINT: &str = "Clear the selection first; redacting cannot be undone.";
pub const CORRECT_ONE: &str = "Claims are corrected one at a time";
pub const CORRECT_ONE_HINT: &str = "Clear the selection first.";
pub const FORGET_ALL: &str = "Agents will no longer see them. Their history is kept.";
pub const PROGRESS: &str = "Progress";
pub const STOP: &str = "Stop";
pub const UNDOING: &str = "Undoing";
pub const UNDONE: &str = "Undone:";

pub fn selected_count(count: &str) -> String {
    format!("{count} selected")
}

/// A verdict, with how many of the selected claims it applies to.
pub fn verdict_for(verdict: &str, count: &str) -> String {
    format!("{verdict} ({count})")
}

pub fn forget_ask(claims: &str) -> String {
    format!("Forget {claims}?")
}

pub fn and_more(count: &str) -> String {
    format!(" and {count} more.")
}

pub const NONE_FITS: &str = "This does not apply to the selected claims";
pub const CONFIRM_FITS: &str = "“Still true” is for claims whose evidence was edited.";
pub const DENY_FITS: &str = "“No longer true” is only for claims whose evidence was edited or is gone. Del forgets the others.";
pub const ASK_FITS: &str =
    "You can ask agents about a claim only once, and only if its evidence was edited or is gone.";

/// During a run: the verb, how many are done, of how many.
pub fn progress(verb: &str, done: &str, of: &str) -> String {
    format!("{verb} {done} of {of}")
}

/// After a run that did not do all.
pub fn done_of(done: &str, count: &str, of: &str) -> String {
    format!("{done} {count} of {of}")
}

/// How many had ended before.
pub fn over(count: &str) -> String {
    format!("{count} had already closed.")
}

pub fn refused_why(count: &str, reason: &str) -> String {
    match count {
        "1" => format!("1 was refused: {reason}"),
        count => format!("{count} were refused; the first: {reason}"),
    }
}

/// How many were not done, and why; without a reason, the person stopped it.
pub fn not_done(count: &str, because: Option<&str>) -> String {
    match because {
        Some(because) => format!("Not done: {count}. {because}"),
        None => format!("Stopped: {count} not done."),
    }
}

/// During a run, and after it.
pub const CONFIRM: (&str, &str) = ("Confirming", "Confirmed");
pub const ASK: (&str, &str) = ("Asking about", "Asked agents about");
pub const FORGET: (&str, &str) = ("Forgetting", "Forgot");
