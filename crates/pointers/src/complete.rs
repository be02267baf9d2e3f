//! Completes a pointer while a person types it: the files of the commit that is checked out, and
//! the names in a file that `test:` resolves.

use engram_model::{Pin, Pointer, PointerType, Refusal, Target};

use crate::{
    Repo,
    git::{tree, trees},
    text::{definition, encoding::text_of},
};

/// The most completions.
const MAX_SUGGESTIONS: usize = 12;
/// The most files that are compared with what was typed.
const MAX_FILES: usize = 100_000;
/// In longer texts, names are not looked for.
const MAX_TEXT: usize = 1 << 20;

/// Returns the pointers that a typed text may become, the likeliest first.
///
/// # Errors
///
/// The commit that is checked out cannot be read, or time is over.
pub fn completions(repo: &Repo, typed: &str) -> Result<Vec<String>, Refusal> {
    let (kind, rest) = split_kind(typed.trim());
    // Once a pointer has lines or a pin, its path is complete.
    if rest.is_empty() || rest.contains(['@', '#']) {
        return Ok(Vec::new());
    }
    let Some(head) = repo.head().1 else {
        return Ok(Vec::new());
    };
    let commit = repo.commit(&head)?;
    match (kind, rest.split_once("::")) {
        (PointerType::Test, Some((path, name))) => {
            let blob = tree::blob(repo, &commit, path)?;
            if blob.size() > MAX_TEXT {
                return Ok(Vec::new());
            }
            let names = definition::names(&text_of(blob.content())?, path);
            let found = likeliest_matches(names.iter().map(String::as_str), name);
            Ok(found.map(|it| pointer_at_head(kind, path, it)).collect())
        }
        (kind, _) => {
            let mut paths = Vec::new();
            trees::each_file(repo, commit.tree_id(), MAX_FILES, |path, _| {
                paths.push(path.to_owned());
                true
            })?;
            let found = likeliest_matches(paths.iter().map(String::as_str), rest);
            let whole = |path: &str| match kind {
                // The name is still to come.
                PointerType::Test => format!("test:{path}::"),
                kind => pointer_at_head(kind, path, ""),
            };
            Ok(found.map(whole).collect())
        }
    }
}

/// Returns the kind of pointer that was begun, and what follows; `repo` if none was named.
fn split_kind(typed: &str) -> (PointerType, &str) {
    let kinds = [PointerType::Repo, PointerType::Test, PointerType::Artifact];
    let named = kinds.into_iter().find_map(|kind| {
        let rest = typed.strip_prefix(kind.as_str())?.strip_prefix(':')?;
        Some((kind, rest))
    });
    named.unwrap_or((PointerType::Repo, typed))
}

fn pointer_at_head(kind: PointerType, path: &str, name: &str) -> String {
    let (path, pin) = (path.to_owned(), Pin::Rev("HEAD".to_owned()));
    let target = match kind {
        PointerType::Test => Target::Test {
            path,
            name: name.to_owned(),
            pin,
        },
        PointerType::Artifact => Target::Artifact {
            name: path,
            section: None,
            pin,
        },
        _ => Target::Repo {
            path,
            lines: None,
            pin,
        },
    };
    let digest = None;
    Pointer { target, digest }.to_string()
}

/// Returns the texts that contain what was typed, ignoring case: first those whose last part begins
/// with it, then the shortest.
fn likeliest_matches<'a>(
    all: impl Iterator<Item = &'a str>,
    typed: &str,
) -> impl Iterator<Item = &'a str> {
    let typed = typed.to_lowercase();
    let mut found: Vec<(bool, usize, &str)> = all
        .filter_map(|text| {
            let lower = text.to_lowercase();
            let at = lower.find(&typed)?;
            let begins = at == 0 || lower[..at].ends_with('/');
            Some((!begins, text.len(), text))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().take(MAX_SUGGESTIONS).map(|it| it.2)
}
