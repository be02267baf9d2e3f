//! Every string of the window, as one list to review; titles of commands are in `crate::commands`.
//! Short, active, one term for one thing:
//!
//! - an *engram* is what is stored; its *claim* is what it says, its *evidence* what it rests on
//! - a *pointer* leads to evidence, is *pinned* to a commit, and opens a *source*
//! - evidence is *unchanged*, *moved* (in its file or to another), *reformatted*, *edited* or *gone*
//! - a *conflict* has two *claims*, A and B; A was stored first; a person *settles* it by
//!   a *verdict*, or *allows* it, so that it no longer blocks CI
//! - an agent *asks* for more than its *budget* by a *request*; a person *grants* or *denies* it; a
//!   *grant* is open until it is used, *expires* or is *revoked*
//! - the *brief* has *lines*; a line is *pinned* or *unpinned*
//! - a claim is *confirmed*, *forgotten*, *redacted*, *replaced* or *expired*; what was edited or
//!   is gone is *to review*
//!
//! Backticks mark what a person types or finds elsewhere; it is typeset as code.
#![allow(missing_docs, reason = "each says what it is")]

pub mod agents;
pub mod brief;
pub mod conflicts;
pub mod connect;
pub mod ending;
pub mod knowledge;
pub mod many;
pub mod repositories;
pub mod requests;
pub mod settings;
pub mod source;
pub mod steps;
pub mod today;
pub mod write;

pub use engram_model::Noun;

pub const ENGRAMS: Noun = ("engram", "engrams");
pub const CLAIMS: Noun = ("claim", "claims");
pub const TO_REVIEW: Noun = ("claim to review", "claims to review");
pub const CONFLICTS: Noun = ("conflict", "conflicts");
pub const AGENTS: Noun = ("agent", "agents");
pub const REQUESTS: Noun = ("request", "requests");
pub const OTHER_AGENTS: Noun = ("other agent", "other agents");
pub const LINES: Noun = ("line", "lines");
pub const PARTS: Noun = ("part", "parts");
pub const CHARACTERS: Noun = ("character", "characters");
pub const BYTES: Noun = ("byte", "bytes");

pub const OPEN_EDITOR: &str = "Open in editor";
pub const COPY: &str = "Copy";
pub const CLOSE: &str = "Close";
pub const UNDO: &str = "Undo";
pub const TRY_AGAIN: &str = "Try again";

/// The rail and its views.
pub mod rail {
    pub const VIEWS: &str = "Views";
    pub const OPEN_REPOSITORIES: &str = "Open repositories";
    pub const FEED: &str = "Feed";
    pub const FEED_COUNTS: &str = "Engrams that hold now";
    pub const DRIFT: &str = "Drift";
    pub const DRIFT_COUNTS: &str = "Claims whose evidence was edited or is gone";
    pub const SETTINGS: &str = "Settings";

    /// Conflicts and requests in repositories that are not open.
    pub fn others(count: &str) -> String {
        format!("Conflicts and requests in other repositories: {count}")
    }
}

/// The status line.
pub mod status {
    pub const NOT_CONNECTED: &str = "not connected";
    pub const CONNECTING: &str = "connecting";
    pub const PAUSED: &str = "new claims wait while you read";
    pub const LIVE: &str = "live";
    pub const LOST: &str = "disconnected";
    pub const OTHER_REPOSITORY: &str = "Open another repository";
    pub const ON_BRANCH: &str = " on ";
    pub const AT_COMMIT: &str = " at ";
    pub const NO_REPOSITORY: &str = "no repository";
    pub const GONE: &str = "not found: evidence could not be checked";
    pub const UNWATCHED: &str = "not all files watched";
    pub const SHOW_AGENTS: &str = "Show the agents";
    pub const LOG: &str = "log";
    pub const OPEN_LOG: &str = "Open this window’s log in your editor";
    pub const SHORTCUTS: &str = "shortcuts";
    pub const FIND: &str = "find";
    pub const TOKENS: &str = "tokens";

    /// New rows wait while the person points at one.
    pub fn held_count(new: usize) -> String {
        format!("{new} new, waiting while you read")
    }
}

/// The list, and what is shown in its place.
pub mod list {
    pub const LABEL: &str = "Engrams, newest first";
    pub const FOUND: &str = "Matches, including older versions";
    pub const WIDTH: &str = "Width of the list";
    pub const RESIZE: &str = "Drag, or use the arrow keys; double-click to reset";
    pub const READING: &str = "Loading…";
    pub const RANKED_LABEL: &str = "Engrams, best match first";
    pub const BEST_FIRST: &str = "Best match first.";
    pub const ONLY_RELATED: &str = "No close match: these claims are related, best first.";
    pub const NOT_ALL_SEARCHED: &str = " Older claims are still being indexed.";
    pub const NO_MATCH: &str = "No matches";
    pub const NO_WORDS: &str = "No claim contains these words.";
    pub const NO_FILTER: &str = "No claims match the filter.";
    pub const NO_WORDS_AND_FILTER: &str = "No claim that matches the filter contains these words.";
    pub const WITHOUT_WORDS: &str = "Clear the search";
    pub const CLEAR_FILTER: &str = "Clear the filter";
    pub const NEW: super::Noun = ("new engram", "new engrams");
    pub const LISTED: super::Noun = ("engram listed", "engrams listed");

    pub const IS_NEW: &str = "New. ";

    pub fn new_count(count: usize) -> String {
        format!("{count} new")
    }

    /// Above the rows already seen, with the time of the last look.
    pub fn new_since(time: &str) -> String {
        format!("↑ New since you last looked · {time}")
    }

    /// That a search found more than it lists.
    pub fn only_best(listed: usize, all: &str) -> String {
        format!(" The best {listed} of {all} are listed.")
    }

    /// How many engrams a filter leaves; at least this many, if not all were counted.
    pub fn found_count(count: &str, is_all: bool) -> String {
        if is_all {
            format!("{count} found")
        } else {
            format!("{count} or more found")
        }
    }

    pub fn confidence(confidence: f64) -> String {
        format!("confidence {confidence:.2}")
    }
}

/// Search and filter.
pub mod filter {
    pub const PLACEHOLDER: &str = "Ask, or search claims, paths, agents…";
    pub const LABEL: &str = "Search the feed";
    pub const BUTTON: &str = "Filter";
    pub const ON: &str = "Active filters";
    pub const CLEAR: &str = "Clear";
    pub const REMOVE: &str = "Remove ";
    pub const LIMIT: &str = "Filter the list by";
    pub const COUNTING: &str = "Counting…";
    pub const COUNTS_NEWEST: &str = "Counts cover the newest versions only.";
    pub const COUNTS_ALL: &str = "Counts include older versions.";
    pub const SORTS: [&str; 8] = [
        "Kind",
        "Evidence",
        "When recorded",
        "Role",
        "Agent",
        "Topic",
        "Scope",
        "Type",
    ];
    pub const STATE: &str = "State";
    /// Whether it has ended, and the word.
    pub const STATES: [(bool, &str); 2] = [(false, "holds"), (true, "ended")];
    pub const RECORDED: &str = "Recorded";
    pub const RECENT: [(&str, i64); 3] = [("today", 0), ("7 days", 6), ("30 days", 29)];
    pub const FROM: &str = "from";
    pub const UNTIL: &str = "until";

    /// The labels of the chips.
    pub mod chip {
        pub const KIND: &str = "kind";
        pub const SCOPE: &str = "scope";
        pub const TYPE: &str = "type";
        pub const ROLE: &str = "role";
        pub const BY: &str = "by";
        pub const TOPIC: &str = "topic";
        pub const AS_STORED: &str = "as stored";
        pub const STATE: &str = "state";
        pub const EVIDENCE: &str = "evidence";
        pub const SINCE: &str = "since";
        pub const UNTIL: &str = "until";
    }

    pub fn remove(what: &str, value: &str) -> String {
        format!("{REMOVE}{what} {value}")
    }
}

/// How evidence stands: one word for each state, wherever it is shown.
pub mod state {
    pub const UNCHANGED: &str = "unchanged";
    pub const ALL_UNCHANGED: &str = "evidence unchanged";
    pub const MOVED: &str = "moved";
    pub const MOVED_TO: &str = "moved to";
    pub const REFORMATTED: &str = "reformatted";
    pub const EDITED: &str = "edited: review";
    pub const GONE: &str = "evidence gone";
    pub const UNKNOWN: &str = "could not check";
    pub const ASKED: &str = "asked";
    pub const ANSWERED: &str = "answered: review";
    pub const VERIFIED: &str = "verified";
    pub const UNVERIFIED: &str = "unverified";
    pub const MATCHES: &str = "same as when recorded";
    pub const OWN_WORDS: &str = "stored without evidence";
    pub const DIFFERS: &str = "changed since it was recorded";
    pub const NO_DIGEST: &str = "no digest recorded";
    pub const REPLACED: &str = "replaced";
    pub const EXPIRED: &str = "expired";
    pub const FORGOTTEN: &str = "forgotten";
    pub const UNDONE: &str = "undone";
    pub const LOST: &str = "lost a conflict";
    pub const MERGED: &str = "merged";
    pub const REDACTED: &str = "redacted";
    pub const IN_CONFLICT: &str = "in conflict";

    /// That a claim is about to expire.
    pub fn expires_in(time: &str) -> String {
        format!("expires in {time}")
    }
}

/// An engram: its head, its history, and the actions on it.
pub mod engram {
    pub const EPHEMERAL: &str = "ephemeral";
    pub const EPHEMERAL_MEANS: &str =
        "Kept for a short time; it becomes durable once agents have found it often enough";
    pub const IS_OVER: &str = "This claim no longer holds";
    pub const IS_OVER_HINT: &str = "Press H for its history; there you can restore it.";
    pub const IS_ERASED: &str = "This claim was erased";
    pub const LABEL: &str = "Engram";
    pub const NONE: &str = "Open an engram to see its evidence.";
    pub const EVIDENCE: &str = "Evidence";
    pub const TOPIC: &str = "Topic";
    pub const SCOPE: &str = "Who can see it";
    pub const TAGS: &str = "Tags";
    pub const BY: &str = "by";
    pub const YOU: &str = "you";
    pub const CONFIDENCE: &str = "confidence";
    pub const RECORDED: &str = "recorded";
    pub const ALSO_SAID: &str = "also claimed by";
    pub const NEWER: &str = "Show the newer version";
    pub const IN_CONFLICT: &str = "Another claim contradicts this one.";
    pub const SHOW_CONFLICT: &str = "Show the conflict";
    pub const REDACTED: &str = "This claim was redacted.";
    pub const NO_AUTHOR: &str = "redacted";
    pub const COPY_CLAIM: &str = "Copy claim";
    pub const COPY_POINTER: &str = "Copy pointer";
    pub const HISTORY: &str = "History";
    pub const MENU: &str = "Engram menu";
    pub const FORGET: &str = "Forget…";
    pub const FORGET_MEANS: &str = "Agents will no longer see it; its history is kept";
    pub const FORGET_ASK: &str = "Forget this claim?";
    pub const FORGET_ALL: &str = " Agents will no longer see it. Its history is kept.";
    pub const FORGET_YES: &str = "Forget";
    pub const FORGOTTEN: &str = "Forgotten. Agents no longer see this claim";
    pub const REDACT: &str = "Redact…";
    pub const REDACT_MEANS: &str = "Erases its text for good";
    pub const REDACT_ASK: &str = "Redact this claim for good?";
    pub const REDACT_ALL: &str = " This erases its text, topic, author and evidence, including in other claims in which its author said the same. You cannot undo this.";
    pub const REDACT_YES: &str = "Redact";
    pub const REDACT_DONE: &str = "Redacted for good";
    pub const REDACT_PENDING: &str = "Redacted, but not everywhere yet";
    pub const KEEP: &str = "Keep";
    pub const DELETE_KEY: &str = "Delete";
    pub const READING_HISTORY: &str = "Loading its history…";
    pub const ONE_VERSION: &str = "One version, never corrected";

    pub fn back_to(list: &str) -> String {
        format!("Back to {list}")
    }

    pub fn versions(count: usize) -> String {
        match count {
            1 => ONE_VERSION.to_owned(),
            count => format!("{count} versions"),
        }
    }
}

/// What was done to a claim; follows the name of who did it.
pub mod acts {
    pub const STORED: &str = "stored it";
    pub const CONFIRMED: &str = "confirmed it";
    pub const CORRECTED: &str = "corrected it";
    pub const WAS: &str = "before: ";
    pub const RESTORED: &str = "restored it";
    pub const FORGOT: &str = "forgot it";
    pub const LOST: &str = "chose the other claim in a conflict";
    pub const MERGED: &str = "merged it with another claim in a conflict";
    pub const MERGED_INTO: &str = "merged two claims into it";
    pub const SHOW_CONFLICT: &str = "Show conflict";
    pub const REDACTED: &str = "redacted it";
    pub const PROMOTED: &str = "made it durable";
    pub const WIDENED: &str = "gave it a wider scope";
    pub const SAID: &str = "said the same";
    pub const ASKED: &str = "asked agents to check it";
    pub const ANSWERED: &str = "ended the to-do about it";
    pub const RESTORE: &str = "Restore";
    pub const RESTORED_NOW: &str = "Restored as a new version";
}

/// A claim to review.
pub mod review {
    pub const NOT_DRIFTED: &str = "This claim does not need review";
    pub const QUESTION: &str = "Is the claim still true?";
    pub const EDITED: &str = "Its evidence was edited.";
    pub const GONE: &str = "Its evidence is gone";
    pub const GONE_HINT: &str = "Press X if the claim is no longer true, or R to correct it.";
    pub const IN_CONFLICT: &str = "Another claim contradicts this one. Settle the conflict first: a verdict may end this claim.";
    pub const IS_CONFLICT: &str = "This is a conflict";
    pub const IS_CONFLICT_HINT: &str = "Press G to settle it.";
    pub const YES: &str = "Still true";
    pub const YES_IT_IS: &str = "Confirm: still true";
    pub const NO_IT_IS_NOT: &str = "Forget: no longer true…";
    pub const NO: &str = "No longer true";
    pub const NO_ASKS: &str = "No longer true…";
    pub const ASK: &str = "Ask an agent";
    pub const CONFIRMED: &str = "Confirmed against the current lines";
    pub const ASKED: &str = "Added a to-do for agents";
    pub const IS_ASKED: &str = "Agents were asked.";
    pub const SHOW_ASKED: &str = "Show the to-do";
    pub const SHOW_ANSWER: &str = "Show the answer";

    /// What an agent answered to the to-do about a claim.
    pub fn answered(name: &str, words: &str) -> String {
        format!("{name} answered: “{words}”")
    }

    pub const NOTHING: &str = "Nothing to review";
    pub const NOTHING_MEANS: &str = "All evidence is unchanged, or only moved.";
    pub const BACK: &str = "Back to the feed";

    /// Evidence that is gone, by its file and its lines; without its full stop.
    pub fn was_deleted(file: &str, lines: Option<(u32, u32)>) -> String {
        match lines {
            Some((start, end)) if start == end => format!("Line {start} of {file} was deleted"),
            Some((start, end)) => format!("Lines {start}–{end} of {file} were deleted"),
            None => format!("{file} was deleted"),
        }
    }
}

/// Sheets over the window.
pub mod sheet {
    pub const SHORTCUTS: &str = "Shortcuts";
    pub const WINDOW: &str = "Window";
    pub const LIST: &str = "List";
    pub const DISMISS: &str = "Dismiss";
    pub const OPEN_LOG: &str = "Open the log";
    pub const REMEDY: &str = "In a terminal";
    pub const COPY_REMEDY: &str = "Copy the command";
    pub const FIND: &str = "Find a command or an engram";
    pub const FIND_FIELD: &str = "Find";
    pub const FIND_HINT: &str = "A command, a view, words of a claim…";
    pub const FOUND: &str = "Found";
    pub const COMMANDS: &str = "Commands";
    pub const CLAIMS: &str = "Claims";
    pub const ALL_CLAIMS: &str = "Search all claims for";
    pub const FOLLOW: &str = "Open the link";
    pub const OPEN_CLAIM: &str = "Open the claim";
    pub const OPEN_CONFLICT: &str = "Open the conflict";
    pub const OPEN_REQUEST: &str = "Open the request";
    pub const NOTHING: &str = "No results";
    pub const FIND_SHORTCUT: &str = "Find a shortcut…";
}

/// The first run, and the sample.
pub mod first {
    pub const NO_REPOSITORY: &str = "No repository is open.";
    pub const LEAD: &str = "Engram is the memory that your coding agents share. Each claim they store points at its evidence, and you read both here.";
    pub const OPEN: &str = "Open a repository";
    pub const OUTSIDE: &str =
        "Engram was started outside a repository; what agents store without one appears here.";
    pub const SAMPLE: &str = "Try it with a sample";
    pub const SAMPLE_MEANS: &str = "Made from this repository’s history; one click removes it.";
    pub const SAMPLE_BUSY: &str = "Reading the history…";
    pub const SAMPLE_HERE: &str = "This is a sample, made from this repository’s history.";
    pub const SAMPLE_REMOVE: &str = "Remove it";
    pub const SAMPLE_GONE: &str = "Sample removed";
    pub const START: &str = "Start it and give it work";
    pub const START_MEANS: &str = "Most agents, Claude Code among them, ask once whether to use Engram: approve it. If nothing appears, ask the agent to save what it learns with Engram.";
    pub const WATCH: &str = "Watch";
    pub const WATCH_MEANS: &str =
        "What it learns appears here as it is written, with the lines behind it.";
    pub const WAITING: &str = "Waiting for the first engram";
    pub const CONNECTING: &str = "Connecting…";
    pub const LOST: &str = "Disconnected: Engram is not running here any more";
    pub const COMMAND_COPIED: &str = "Command copied";

    pub fn nothing_known(repository: Option<&str>) -> String {
        match repository {
            Some(name) => format!("No claims about {name} yet."),
            None => "No claims yet.".to_owned(),
        }
    }

    pub fn copy_command(agent: &str) -> String {
        format!("Copy the command for {agent}")
    }

    /// The first sign of life of an agent that stored nothing yet.
    pub fn agent_called(agent: &str, ago: &str, questions: u64) -> String {
        match questions {
            0 => format!("{agent} called {ago}."),
            1 => format!("{agent} called {ago} and asked 1 question."),
            more => format!("{agent} called {ago} and asked {more} questions."),
        }
    }
}

/// The connection, once it is lost.
pub mod lost {
    pub const TOKEN: &str = "This page’s token is no longer valid";
    pub const HOME: &str = "Engram’s home folder is gone";
    pub const SILENT: &str = "Engram is not responding";
    pub const NOW: &str = "Try now";

    pub fn token(since: &str) -> String {
        format!(
            "Engram was restarted. Open the address that `engram serve` printed. Last updated: {since}."
        )
    }

    pub fn home(why: &str, since: &str) -> String {
        format!(
            "{why}. Put it back and the window continues; to start with an empty home, restart Engram. Last updated: {since}."
        )
    }

    pub fn refused(hint: &str, since: &str) -> String {
        format!("{hint} Last updated: {since}.")
    }

    pub fn silent(since: &str) -> String {
        format!("The window keeps trying. Last updated: {since}.")
    }
}

/// Notices at the lower edge, and refusals by the page itself.
pub mod notice {
    pub const UNDONE: &str = "Undone";
    pub const NO_UNDO: &str = "Nothing to undo";
    pub const NOT_UNDONE: &str = "The last change cannot be undone here";
    pub const NOT_UNDONE_HINT: &str =
        "Press Z again to undo the step before it; ⇧ Z lists all steps.";
    pub const LINK_COPIED: &str = "Link copied";
    pub const POINTER_COPIED: &str = "Pointer copied";
    pub const CLAIM_COPIED: &str = "Claim copied";
    pub const PATH_COPIED: &str = "Path copied";
    pub const NO_CLIPBOARD: &str = "Cannot write to the clipboard";
    pub const NO_CLIPBOARD_HINT: &str = "Select the text and copy it.";
    pub const NO_CHANGES: &str = "These lines are unchanged";
    pub const NO_FILE: &str = "This evidence is not a file";
    pub const NO_FILE_HINT: &str = "Press C to copy the pointer instead.";
    pub const NO_EDITOR: &str = "a page in a browser cannot open your editor";
    pub const NO_EDITOR_HINT: &str = "Copy the pointer, or open the window with `engram app`.";
    pub const NOT_KEPT: &str = "the browser does not store settings for this page";
    pub const NOT_KEPT_HINT: &str = "Your choice lasts until you reload the page.";
    pub const WINDOW_ONLY: &str = "a page in a browser cannot do that";
    pub const WINDOW_ONLY_HINT: &str = "Open the window with `engram app`.";
    pub const STRANGE_HINT: &str = "The window and Engram may be different versions: restart both.";
    pub const NO_SERVER: &str = "Engram’s server is not responding";
    pub const NO_SERVER_HINT: &str =
        "Run `engram serve` again and open the address that it prints.";
    pub const NO_SHELL: &str = "the window did not respond";
    pub const NO_SHELL_HINT: &str =
        "Restart the window; its log is in the `logs` folder of Engram’s home.";

    /// The claim that it was done to, quoted.
    pub fn quoted(claim: &str) -> String {
        format!("“{claim}”")
    }

    pub fn opened_in(editor: &str) -> String {
        format!("Opened in {editor}")
    }

    pub fn strange(what: &dyn std::fmt::Display) -> String {
        format!("the answer could not be read: {what}")
    }
}
