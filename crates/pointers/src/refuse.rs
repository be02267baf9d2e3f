//! Refusals of this crate, each with a sentence and a hint.

use engram_model::{Code, Pin, Pointer, Refusal, Target, shorten};

pub(crate) fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::new(Code::PointerNotFound, message, hint)
}

pub(crate) fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::new(Code::PointerInvalid, message, hint)
}

pub(crate) fn unavailable(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::new(Code::RepoUnavailable, message, hint)
}

/// Refuses a pointer that needs git where there is no repository.
pub(crate) fn no_repository() -> Refusal {
    unavailable(
        "there is no git repository here",
        "Use a pointer that needs no repository, or start Engram in a git repository.",
    )
}

/// Refuses because the repository cannot supply an object that it should have.
pub(crate) fn broken(what: &str, error: &git2::Error) -> Refusal {
    unavailable(
        format!(
            "cannot read {what} from the repository: {}",
            git_message(error)
        ),
        "Run git fsck; in a partial clone, fetch the missing objects with git fetch --refetch.",
    )
    .because(error)
}

pub(crate) fn binary(name: &str) -> Refusal {
    invalid(
        format!("{} is binary", quoted(name)),
        "Point at the text that explains it, or at the source it is made from.",
    )
}

/// Like [`binary`], for a pointer to source; the hint suggests the whole file as an artifact.
pub(crate) fn binary_source(pointer: &Pointer) -> Refusal {
    let refusal = binary(pointer.name());
    match &pointer.target {
        Target::Repo { path, pin, .. } => Refusal {
            hint: format!(
                "{} If the whole file is the evidence, point at it as an artifact: artifact:{}@{}.",
                refusal.hint,
                shorten(path, 120),
                match pin {
                    Pin::Worktree => "worktree",
                    Pin::Rev(_) | Pin::Digest(_) => "HEAD",
                }
            ),
            ..refusal
        },
        _ => refusal,
    }
}

/// Refuses a span that ends after the file does.
pub(crate) fn past_end(name: &str, last: u32, total: u64) -> Refusal {
    let lines = if total == 1 { "line" } else { "lines" };
    not_found(
        format!("{} has no line {last}", quoted(name)),
        format!("The pinned file has {total} {lines}; choose lines within it."),
    )
}

/// Returns libgit2's message as part of a sentence.
pub(crate) fn git_message(error: &git2::Error) -> String {
    shorten(error.message().trim_end_matches('.'), 160)
}

/// Prepares hostile text for a message: quoted, printable and short.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", shorten(text, 120))
}
