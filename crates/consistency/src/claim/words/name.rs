//! Treats names that differ only in spelling as one: `fetchUserProfile`, `fetch_user_profile` and
//! "fetch user profile" are the same three words; `MAX_CONN` is "max connections".

use super::{lexicon, technology};

/// The parts of a name, in lower case: split at separators and where capitals start a word.
pub(crate) fn name_parts(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut found: Vec<String> = Vec::new();
    let mut open = String::new();
    for (at, &sign) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| chars.get(it));
        let next = chars.get(at + 1);
        let hump = sign.is_uppercase()
            && before.is_some_and(|it| {
                it.is_lowercase()
                    || (it.is_uppercase() && next.is_some_and(|it| it.is_lowercase() && *it != 's'))
            });
        if (hump || !(sign.is_alphanumeric() || lexical(sign))) && !open.is_empty() {
            found.push(std::mem::take(&mut open));
        }
        if sign.is_alphanumeric() || lexical(sign) {
            open.extend(sign.to_lowercase());
        }
    }
    if !open.is_empty() {
        found.push(open);
    }
    found
}

/// Characters that are part of a word: combining accents, and the plus of C++.
fn lexical(sign: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&sign) || matches!(sign, '+' | '#')
}

/// A name in lower case without separators.
pub(crate) fn folded_name(text: &str) -> String {
    let lower = text.to_lowercase();
    lower
        .chars()
        .filter(|it| it.is_alphanumeric() || lexical(*it))
        .collect()
}

/// The main name of a technology, and its kind.
pub(crate) fn technology_of(text: &str) -> Option<(String, &'static str)> {
    let folded = folded_name(text);
    let name = technology::usual_name(&folded);
    let kind = technology::kind_of(name)?;
    let one = name
        .strip_suffix('s')
        .filter(|it| technology::kind_of(it) == Some(kind) && !technology::is_listed(name));
    Some((one.unwrap_or(name).to_owned(), kind))
}

/// Whether a word looks like a name: `max_retries`, `JWT_SECRET`, `fetchUser`, `a::b`, `--jobs`,
/// `svc00042`. An acronym counts as a word.
pub(crate) fn is_identifier(text: &str) -> bool {
    let chars = || text.chars();
    let separated = text
        .trim_matches(|it| "-./:".contains(it))
        .contains(['_', ':', '.', '$', '@']);
    let digits = chars().any(|it| it.is_ascii_digit()) && chars().any(char::is_alphabetic);
    separated || has_hump(text) || digits || text.starts_with("--")
}

/// Whether a capital follows a lower-case letter, as in `fetchUser`.
pub(crate) fn has_hump(text: &str) -> bool {
    let mut pairs = text.chars().zip(text.chars().skip(1));
    pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// Whether a name is that of a setting: its parts are joined in a way that prose never uses.
pub(crate) fn is_setting(text: &str) -> bool {
    let upper = text.chars().any(char::is_alphabetic) && !text.chars().any(char::is_lowercase);
    let inner = text.trim_start_matches(['-', '.']);
    (upper && inner.contains('_'))
        || (inner.contains(['_', '.', ':']) && !inner.contains('/'))
        || text.starts_with("--")
        || has_hump(inner)
        || (inner.contains('-')
            && inner.chars().all(|it| it.is_ascii_lowercase() || it == '-')
            && inner.len() > 3)
}

/// Whether a word is a file, a folder, an endpoint or an address.
pub(crate) fn is_path(text: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "conf",
        "toml",
        "yaml",
        "yml",
        "json",
        "rs",
        "py",
        "ts",
        "tsx",
        "js",
        "jsx",
        "mjs",
        "go",
        "env",
        "md",
        "ini",
        "xml",
        "lock",
        "sh",
        "sql",
        "txt",
        "cfg",
        "tf",
        "java",
        "kt",
        "rb",
        "php",
        "c",
        "h",
        "cpp",
        "css",
        "html",
        "proto",
        "gradle",
        "properties",
        "csv",
        "log",
        "pem",
        "db",
        "ex",
        "swift",
    ];
    if text.contains("://") || text.starts_with(['/', '~']) || text.starts_with("./") {
        return true;
    }
    let ending = text.rsplit_once('.').map(|it| it.1.to_lowercase());
    let file = ending.is_some_and(|it| ENDINGS.contains(&it.as_str()));
    file && technology_of(text).is_none()
}

/// The key of a word of prose or of a part of a name: the same for all its forms.
pub(crate) fn key_of_word(part: &str) -> String {
    let stem = lexicon::stem(part);
    match lexicon::meaning_of_stem(&stem) {
        Some(lexicon::Meaning::Concept(key)) => key.to_owned(),
        _ => stem,
    }
}

/// The key of a part of an identifier: "TTL" means the same in prose and in names.
pub(crate) fn key_of_part(part: &str) -> String {
    match lexicon::meaning_of(part) {
        Some(lexicon::Meaning::Concept(key)) => key.to_owned(),
        _ => key_of_word(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_name_are_one() {
        let spellings = [
            "fetchUserProfile",
            "fetch_user_profile",
            "FetchUserProfile",
            "fetch-user-profile",
            "FETCH_USER_PROFILE",
            "fetch::user.profile",
        ];
        for text in spellings {
            assert_eq!(name_parts(text), ["fetch", "user", "profile"], "{text}");
        }
        assert_eq!(name_parts("HTTPServer"), ["http", "server"]);
        assert_eq!(name_parts("URLs"), ["urls"]);
        assert_eq!(name_parts("svc00042"), ["svc00042"]);
    }

    #[test]
    fn names_are_told_from_words() {
        for text in [
            "max_retries",
            "a::b",
            "svc00042",
            "fetchUser",
            "--jobs",
            "pool.max",
        ] {
            assert!(is_identifier(text), "{text}");
        }
        for text in ["retries", "API", "well-known", "end."] {
            assert!(!is_identifier(text), "{text}");
        }
        assert!(
            is_path("src/a.rs")
                && is_path("/v1/users")
                && is_path("https://a.b")
                && is_path(".env")
        );
        assert!(!is_path("retention.ms") && !is_path("Node.js") && !is_path("req/s"));
    }

    #[test]
    fn technologies_have_one_name() {
        assert_eq!(
            technology_of("Postgres"),
            Some(("postgresql".to_owned(), "database"))
        );
        assert_eq!(
            technology_of("Node.js"),
            Some(("nodejs".to_owned(), "runtime"))
        );
        assert_eq!(technology_of("ULIDs"), Some(("ulid".to_owned(), "ids")));
        assert_eq!(technology_of("wallet"), None);
    }
}
