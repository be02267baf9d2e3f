//! Checks what libgit2 is about to open. libgit2 opens any file with the right name and waits for
//! it: at a pipe, forever. It reads settings into memory, and all the files that they include,
//! recursively. A process that can rename files of the repository between this check and the
//! opening could do worse than make us wait.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use engram_model::Refusal;

use crate::{
    refuse,
    worktree::disk::{self, Miss},
};

use super::named;

const NOT_REGULAR: &str = "is neither a file nor a folder";
/// No real settings file is larger.
const MAX_SETTINGS: u64 = 2 << 20;
/// The most files that settings may be spread over; each counts as often as it is included.
const MAX_INCLUDED: usize = 100;
/// Real lists of object folders are a few lines.
const MAX_ALTERNATES: u64 = 64 << 10;
/// The most folders that a repository may store objects in.
const MAX_STORES: usize = 100;

/// The entries of a repository's folder that are opened, besides refs and objects. Whatever git
/// writes all the time is checked again before each read.
pub(crate) const OWN: [&str; 14] = [
    "HEAD",
    "commondir",
    "gitdir",
    "config",
    "config.worktree",
    "packed-refs",
    "index",
    "shallow",
    "info/grafts",
    "info/attributes",
    "info/exclude",
    "logs/HEAD",
    "objects/info/commit-graph",
    "objects/info/alternates",
];

/// Refuses a repository that cannot be opened without blocking: the one at `from`, or with `search`
/// the nearest one around it.
pub(crate) fn refuse_blocking(from: &Path, search: bool) -> Result<(), Refusal> {
    let from = from.canonicalize().unwrap_or_else(|_| from.to_owned());
    for at in from.ancestors() {
        for git_dir in [linked_git_dir(&at.join(".git"))?, Some(at.to_owned())] {
            let Some(git_dir) = git_dir.filter(|it| it.join("HEAD").symlink_metadata().is_ok())
            else {
                continue;
            };
            return refuse_blocking_at(&git_dir);
        }
        if !search {
            break;
        }
    }
    Ok(())
}

/// Returns the folders where a repository stores objects.
pub(crate) fn object_stores(common_dir: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let mut stores = vec![common_dir.join("objects")];
    let mut next = 0;
    while let Some(store) = stores.get(next) {
        next += 1;
        let named = store.join("info/alternates");
        refuse_special(&named)?;
        let bytes = match disk::read_small(&named, MAX_ALTERNATES) {
            Ok(bytes) => bytes,
            // libgit2 would read this file anyway.
            Err(Miss::Failed(e)) if e.kind() == ErrorKind::FileTooLarge => {
                return Err(blocking_refusal(&named, "lists too many object folders"));
            }
            Err(_) => continue,
        };
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.split(['\r', '\n']);
        let named = lines.filter(|it| !it.is_empty() && !it.starts_with('#'));
        let named: Vec<PathBuf> = named.map(|it| store.join(it)).collect();
        for store in named {
            if !stores.contains(&store) {
                stores.push(store);
            }
        }
        if stores.len() > MAX_STORES {
            return Err(blocking_refusal(
                &common_dir.join("objects/info/alternates"),
                "lists too many object folders",
            ));
        }
    }
    Ok(stores)
}

/// Returns the folder that a `.git` leads to.
fn linked_git_dir(dot_git: &Path) -> Result<Option<PathBuf>, Refusal> {
    let Ok(metadata) = dot_git.metadata() else {
        return Ok(None);
    };
    if metadata.is_dir() {
        return Ok(Some(dot_git.to_owned()));
    }
    Ok(named::gitfile(dot_git))
}

fn refuse_blocking_at(git_dir: &Path) -> Result<(), Refusal> {
    let common_dir = named::common_dir(git_dir);
    let mut folders = vec![git_dir];
    if common_dir != git_dir {
        folders.push(&common_dir);
    }
    for at in &folders {
        for name in OWN {
            refuse_special(&at.join(name))?;
        }
    }
    for store in object_stores(&common_dir)? {
        for folder in ["pack", "info/commit-graphs"] {
            let entries = store.join(folder).read_dir();
            for entry in entries.into_iter().flatten().flatten() {
                // Most entries are files, as the folder listing itself says.
                if !entry.file_type().is_ok_and(|it| it.is_file()) {
                    refuse_special(&entry.path())?;
                }
            }
        }
    }
    let users = [
        git2::Config::find_system,
        git2::Config::find_xdg,
        git2::Config::find_global,
    ];
    let own = folders
        .iter()
        .flat_map(|at| ["config", "config.worktree"].map(|it| at.join(it)));
    let mut left = MAX_INCLUDED;
    for file in own.chain(users.iter().filter_map(|find| find().ok())) {
        check_settings(&file, &mut left)?;
    }
    Ok(())
}

/// Checks a settings file and the files it includes, even those whose condition does not hold.
fn check_settings(file: &Path, left: &mut usize) -> Result<(), Refusal> {
    let bytes = match disk::read_small(file, MAX_SETTINGS) {
        Ok(bytes) => bytes,
        Err(Miss::Special) => return Err(blocking_refusal(file, NOT_REGULAR)),
        Err(Miss::Failed(e)) if e.kind() == ErrorKind::FileTooLarge => {
            return Err(blocking_refusal(file, "is too large for a settings file"));
        }
        Err(_) => return Ok(()),
    };
    for path in included_files(&String::from_utf8_lossy(&bytes)) {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return Err(blocking_refusal(file, "includes too many files"));
        }
        let path =
            path.map_err(|()| blocking_refusal(file, "includes a file by a path with escapes"))?;
        let included = match (path.strip_prefix("~/"), file.parent()) {
            (Some(below), _) => std::env::home_dir().unwrap_or_default().join(below),
            (None, Some(folder)) => folder.join(&path),
            (None, None) => path.into(),
        };
        check_settings(&included, left)?;
    }
    Ok(())
}

/// Returns the paths that settings include: those of every key `path`, if there is a section that
/// could include anything. Git's own rules for values are not followed; a value that needs them is
/// an error.
fn included_files(text: &str) -> Vec<Result<String, ()>> {
    let lower = text.to_ascii_lowercase();
    let includes = lower
        .match_indices('[')
        .any(|(at, _)| lower[at + 1..].trim_start().starts_with("include"));
    if !includes {
        return Vec::new();
    }
    let keys = lower.match_indices("path");
    let values = keys.filter_map(|(at, key)| {
        let rest = text.get(at + key.len()..)?.trim_start_matches([' ', '\t']);
        let line = rest
            .strip_prefix('=')?
            .lines()
            .next()
            .unwrap_or_default()
            .trim();
        Some(
            match line.strip_prefix('"').and_then(|it| it.split_once('"')) {
                Some((quoted, _)) => quoted,
                None => line.split(['#', ';']).next().unwrap_or_default().trim_end(),
            },
        )
        .map(|value| {
            if value.contains(['"', '\\']) {
                Err(())
            } else {
                Ok(value.to_owned())
            }
        })
    });
    values
        .filter(|it| it.as_ref().map_or(true, |it| !it.is_empty()))
        .collect()
}

fn refuse_special(path: &Path) -> Result<(), Refusal> {
    if disk::is_special(path) {
        Err(blocking_refusal(path, NOT_REGULAR))
    } else {
        Ok(())
    }
}

fn blocking_refusal(path: &Path, why: &str) -> Refusal {
    refuse::unavailable(
        format!("cannot open the git repository: {} {why}", path.display()),
        "Git never creates this: move it away, or clone the repository again.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_what_they_include() {
        let one = |path: &str| vec![Ok(path.to_owned())];
        for (text, want) in [
            ("[core]\n\tbare = false\n\tpath = x\n", vec![]),
            ("[include]\n\tpath = ~/more\n", one("~/more")),
            ("[ INCLUDE ]\nPath=more", one("more")),
            (
                "[includeIf \"gitdir:~/w/\"]\npath = \"a b\" # c\n",
                one("a b"),
            ),
            ("[include] path = x ; y\n", one("x")),
            ("[include]\npath = a\\\nb\n", vec![Err(())]),
            ("[include]\npath = a\"b\"\n", vec![Err(())]),
        ] {
            assert_eq!(included_files(text), want, "{text}");
        }
    }
}
