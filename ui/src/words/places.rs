//! Words for a repository's checkout, and the commands that a text names.

use engram_model::ProjectStatus;

use super::{say, visible};

/// What is checked out: the branch, or the commit if detached; and the word before it.
pub fn checkout(project: &ProjectStatus) -> Option<(&'static str, String)> {
    let commit = || project.head.as_ref().map(|it| it.chars().take(8).collect());
    match &project.branch {
        Some(branch) => Some((say::status::ON_BRANCH, visible(branch))),
        None => commit().map(|it: String| (say::status::AT_COMMIT, visible(&it))),
    }
}

/// The `doctor` commands that a text names in backticks.
pub fn commands(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_doctor = |it: &&str| it.starts_with("engram ") && it.split(' ').any(|it| it == "doctor");
    let ours = quoted.filter(is_doctor);
    ours.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_a_hint() {
        let hint =
            "Restore a backup, or run `engram --home '/a b' doctor --recover`; `ENGRAM_HOME` too.";
        assert_eq!(commands(hint), ["engram --home '/a b' doctor --recover"]);
        assert_eq!(commands("Run `engram doctor`; then"), ["engram doctor"]);
        assert!(commands("Open what `engram serve` printed. `").is_empty());
    }

    #[test]
    fn what_is_checked_out_is_a_branch_or_a_commit() {
        let at = |branch: Option<&str>, head: Option<&str>| {
            checkout(&ProjectStatus {
                id: None,
                name: "shop".to_owned(),
                branch: branch.map(str::to_owned),
                head: head.map(str::to_owned),
                root: None,
                unavailable: None,
            })
        };
        let head = Some("0123456789abcdef");
        assert_eq!(
            at(Some("a\u{202e}b"), head),
            Some((" on ", "a⟨U+202E⟩b".to_owned()))
        );
        assert_eq!(at(None, head), Some((" at ", "01234567".to_owned())));
        assert_eq!(at(None, None), None);
    }
}
