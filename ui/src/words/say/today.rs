//! What is new in all repositories.

pub const TITLE: &str = "Today";
pub const ONE: &str = "News";
pub const NEWS: super::Noun = ("update", "updates");
pub const COUNTS: &str = "What is new in all repositories";
pub const LABEL: &str = "News by repository";
pub const READING: &str = "Loading…";
pub const NONE: &str = "Nothing new";
pub const NONE_MEANS: &str = "What agents learn, contradict or ask for in any of your repositories appears here. Press F to look further back.";
pub const CUT: &str = "Only the newest updates are shown.";
pub const SINCE: &str = "Since when";
pub const SINCE_LOOK: &str = "Since you last looked";
pub const SINCE_DAY: &str = "Today";
pub const SINCE_WEEK: &str = "The last 7 days";
pub const OUTSIDE: &str = "Outside any repository";
pub const GO: &str = "Open in its repository";
pub const HERE: &str = "This repository";
pub const GO_ENDING: &str = "Show them";
pub const EXPIRES_FIRST: &str = "The first to expire:";
pub const EXPIRING_MEANS: &str = "A claim that expired is no longer shown to agents. Open it to renew it (⇧ L), or let it expire.";
pub const NEWEST: &str = "The newest:";
pub const LEARNED: &str = "stored";
pub const CONTRADICTED: &str = "raised";
pub const SETTLED: &str = "settled";
pub const ASKED: &str = "made";
pub const DRIFTED: &str = "Evidence changed for";

/// Instead of [`NONE_MEANS`], while earlier conflicts or requests wait.
pub fn still_waiting(count: u64) -> String {
    let (waiting, wait) = if count == 1 {
        ("1 earlier conflict or request".to_owned(), "waits")
    } else {
        let count = crate::words::thousands(count);
        (format!("{count} earlier conflicts and requests"), "wait")
    };
    format!("{waiting} still {wait}. Press F to look further back.")
}

/// The choice of what is new since the last look, with its time.
pub fn since(time: &str) -> String {
    format!("{SINCE_LOOK} ({time})")
}
