//! Repositories.

pub const TITLE: &str = "Repositories";
pub const ONE: &str = "This page shows the repository that `engram serve` was started in. The window (`engram app`) switches between several.";
pub const FRONT: &str = "current";
pub const NEW: &str = " new";
pub const PATH: &str = "Path of a repository";
pub const PATH_HINT: &str = "/path/to/another/repository";
pub const OPEN: &str = "Open";
pub const BEFORE: &str = "Known repositories";
pub const SWITCHING: &str = "another repository is being opened";
pub const SWITCHING_HINT: &str = "Nothing changed; try again once it is open.";
pub const PICK: &str = "Choose a folder…";
pub const CHOOSE: &str = "Choose a repository";
pub const OUTSIDE: &str = "Engram was started outside a repository.";
pub const NOT_HERE: &str = "This link leads to another repository";
pub const OFFER: &str =
    "Engram does not know this repository yet. Open it only if you trust where the link came from.";
pub const OPEN_IT: &str = "Open it";
pub const LEAVE_IT: &str = "Not now";
pub const NOWHERE: &str = "Engram cannot open this link";
pub const NOWHERE_HINT: &str =
    "Links look like `engram://feed/ID` or `engram://drift`; a filter can follow after `?`.";
pub const NEWER_HINT: &str = "The address may come from a newer Engram.";
pub const NO_ENGRAM: &str = "There is no such engram here";
pub const NO_ENGRAM_HINT: &str = "It may be in another repository or another home.";

pub const ELSEWHERE: &str = "This is in another repository";
pub const BY_NUMBER: &str = "Repository by number";

/// The title of a notice about something that belongs to a repository that is not shown.
pub fn belongs_to(name: &str) -> String {
    format!("This belongs to another repository: {name}")
}

pub fn gone_hint(path: &str) -> String {
    format!(
        "The repository is no longer at {path}. If you moved it, open it at its new place (Ctrl O)."
    )
}

/// The hint for a link to a repository that has no clone here.
pub fn no_clone(remote: &str) -> String {
    format!("The link leads to a clone of {remote}. Open yours (Ctrl O), then open the link again.")
}

pub fn close(name: &str) -> String {
    format!("Close {name}")
}

pub fn is_front(name: &str) -> String {
    format!("{name} is the current repository")
}

pub fn not_here_hint(path: &str) -> String {
    format!("Its path is {path}.")
}

pub fn stay_outside(count: &str) -> String {
    format!("Show what is stored outside a repository: {count}")
}

pub fn no_view(name: &str) -> String {
    format!("There is no view called {name}")
}

pub fn no_id(id: &str) -> String {
    format!("{id} is not the id of an engram")
}

pub fn no_conflict(id: &str) -> String {
    format!("{id} is not the id of a conflict")
}
