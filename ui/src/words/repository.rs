//! A repository in words: what is checked out, its initials, and a sentence about it.

use engram_model::{ProjectStatus, Recent, format_count, thousands, visible};

use super::say;

/// What is checked out: the branch or, if detached, the commit; with the word before it.
pub fn checkout(project: &ProjectStatus) -> Option<(&'static str, String)> {
    let commit = || project.head.as_ref().map(|it| it.chars().take(8).collect());
    match &project.branch {
        Some(branch) => Some((say::status::ON_BRANCH, visible(branch))),
        None => commit().map(|it: String| (say::status::AT_COMMIT, visible(&it))),
    }
}

/// The most letters in the initials of a repository.
const LETTERS: usize = 4;

/// Returns the initials of repositories: two letters each, or as few more as tell them apart. Equal
/// names are numbered.
pub fn initials(names: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = names.iter().map(|it| letters(it, 2)).collect();
    let is_alike = |all: &[String], at: usize| all.iter().filter(|it| **it == all[at]).count() > 1;
    for long in 3..=LETTERS {
        let before = all.clone();
        for (at, name) in names.iter().enumerate() {
            if is_alike(&before, at) {
                all[at] = letters(name, long);
            }
        }
    }
    let before = all.clone();
    for (at, name) in names.iter().enumerate() {
        if is_alike(&before, at) {
            let earlier = before[..at].iter().filter(|it| **it == before[at]);
            all[at] = format!("{}{}", letters(name, 2), earlier.count() + 1);
        }
    }
    all
}

/// Returns the first letter of each word of a name; if it is a single word, its first letters.
fn letters(name: &str, most: usize) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    let letters: String = match words.as_slice() {
        [] => "·".to_owned(),
        [only] => only.chars().take(most).collect(),
        [first, rest @ ..] => {
            let rest = rest.iter().flat_map(|it| it.chars());
            first.chars().take(1).chain(rest).take(most).collect()
        }
    };
    letters.to_lowercase()
}

/// Returns the class and the number of a background repository's badge: what waits for the person,
/// else what is new, else what is to review.
pub fn repository_badge(behind: &Recent) -> Option<(&'static str, u64)> {
    let (_, drifted) = behind.holding.unwrap_or_default();
    let all = [
        ("count ask", behind.conflicts + behind.requests),
        ("count", behind.unseen),
        ("count doubt", drifted),
    ];
    all.into_iter().find(|it| it.1 > 0)
}

/// Returns a sentence about an open repository.
pub fn repository(repository: &Recent) -> String {
    let (engrams, drifted) = repository.holding.unwrap_or_default();
    let counts = [
        (repository.conflicts > 0).then(|| format_count(repository.conflicts, say::CONFLICTS)),
        (repository.requests > 0).then(|| format_count(repository.requests, say::REQUESTS)),
        (repository.unseen > 0).then(|| format!("{} new", thousands(repository.unseen))),
        (drifted > 0).then(|| format_count(drifted, say::TO_REVIEW)),
        repository
            .holding
            .map(|_| format_count(engrams, say::ENGRAMS)),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let colon = if counts.is_empty() { "" } else { ": " };
    format!(
        "{}{colon}{} ({})",
        visible(&repository.name),
        counts.join(", "),
        visible(&repository.path)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_said_in_two_letters_and_in_a_sentence() {
        for (name, want) in [
            ("engram", "en"),
            ("api-gateway", "ag"),
            (".dotfiles", "do"),
            ("Größe 2", "g2"),
            ("x", "x"),
            ("\u{202E}", "·"),
            ("", "·"),
        ] {
            assert_eq!(initials(&[name]), [want], "{name}");
        }
        for (names, want) in [
            (
                &["engram", "shop", "api-gateway"][..],
                &["en", "sh", "ag"][..],
            ),
            (
                &["payments-api", "payments-app", "pa"],
                &["papi", "papp", "pa"],
            ),
            (&["re1", "re2"], &["re1", "re2"]),
            (&["shop", "shelf", "docs"], &["sho", "she", "do"]),
            (&["shop", "docs", "shop"], &["sh1", "do", "sh2"]),
            (&["", "x", "\u{202E}"], &["·1", "x", "·2"]),
        ] {
            assert_eq!(initials(names), want, "{names:?}");
        }
        let mut recent = Recent {
            name: "shop".to_owned(),
            path: "/code/shop/".to_owned(),
            is_front: false,
            unseen: 1_200,
            holding: Some((9, 1)),
            conflicts: 2,
            requests: 1,
        };
        assert_eq!(
            repository(&recent),
            "shop: 2 conflicts, 1 request, 1,200 new, 1 claim to review, 9 engrams (/code/shop/)"
        );
        (recent.conflicts, recent.requests) = (0, 0);
        (recent.unseen, recent.holding) = (0, None);
        assert_eq!(repository(&recent), "shop (/code/shop/)");
    }

    #[test]
    fn a_repository_behind_shows_first_what_waits_for_the_person() {
        let behind = |conflicts, requests, unseen, drifted| Recent {
            name: "shop".to_owned(),
            path: "/code/shop".to_owned(),
            is_front: false,
            unseen,
            holding: Some((9, drifted)),
            conflicts,
            requests,
        };
        for (recent, want) in [
            (behind(10, 1, 3, 2), Some(("count ask", 11))),
            (behind(0, 0, 3, 2), Some(("count", 3))),
            (behind(0, 0, 0, 2), Some(("count doubt", 2))),
            (behind(0, 0, 0, 0), None),
        ] {
            assert_eq!(repository_badge(&recent), want, "{recent:?}");
        }
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
                remote: None,
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
