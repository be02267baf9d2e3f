//! Reads git's own files in a working tree: `.gitignore` says whether a path is ignored,
//! `.gitattributes` how it is stored. They may be a stranger's, so they must be regular files of
//! limited size. Matching takes at most pattern length times path length steps; libgit2
//! and git try every way to stretch the stars of a pattern.

mod attributes;
mod glob;
mod ignored;

pub(crate) use attributes::{Attributes, Value};
pub(crate) use ignored::Ignored;

use std::{
    cell::Cell,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use engram_model::Refusal;

use crate::{
    Repo, refuse,
    worktree::disk::{self, Miss},
};

use glob::Glob;

/// No real rules file is larger.
const MAX_BYTES: u64 = 512 << 10;
/// The most comparisons of pattern bytes with path bytes for one question; they take some tenths of
/// a second.
const MAX_STEPS: usize = 100_000_000;

/// The steps that are left for one question.
struct Steps(Cell<usize>);

impl Steps {
    fn new() -> Self {
        Self(Cell::new(MAX_STEPS))
    }

    fn take(&self, steps: usize) -> Result<(), Refusal> {
        match self.0.get().checked_sub(steps) {
            Some(left) => self.0.set(left),
            None => {
                return Err(too_much(
                    "this repository has too many ignore or attribute rules",
                ));
            }
        }
        Ok(())
    }
}

fn too_much(why: impl Into<String>) -> Refusal {
    refuse::unavailable(
        why,
        "Pin to a commit, for example @HEAD; only files on disk need these rules.",
    )
}

/// The files that a line of rules matches.
struct Pattern {
    glob: Glob,
    /// Whether it matches folders only.
    is_folder: bool,
    /// Whether it matches a name in any folder, not a path.
    is_name: bool,
}

impl Pattern {
    fn read(text: &[u8], folds: bool) -> Self {
        let (text, is_folder) = match text.strip_suffix(b"/") {
            Some(text) => (text, true),
            None => (text, false),
        };
        Self {
            is_folder,
            is_name: !text.contains(&b'/'),
            glob: Glob::read(text.strip_prefix(b"/").unwrap_or(text), folds),
        }
    }

    /// Returns whether it matches this path, which is relative to the folder of the rules.
    fn fits(&self, path: &[u8], is_folder: bool, steps: &Steps) -> Result<bool, Refusal> {
        if self.is_folder && !is_folder {
            return Ok(false);
        }
        let text = if self.is_name {
            path.rsplit(|it| *it == b'/').next().unwrap_or(path)
        } else {
            path
        };
        steps.take(1 + self.glob.cost(text))?;
        Ok(self.glob.fits(text))
    }
}

/// Returns the lines of a rules file.
fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    bytes
        .split(|it| *it == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
}

/// Reads a rules file in the working tree; `None` if it is missing or, as in git, a link.
fn of_tree(path: &Path) -> Result<Option<Vec<u8>>, Refusal> {
    read(path, disk::read_own(path, MAX_BYTES))
}

/// Reads a rules file elsewhere.
fn elsewhere(path: &Path) -> Result<Option<Vec<u8>>, Refusal> {
    read(path, disk::read_small(path, MAX_BYTES))
}

fn read(path: &Path, read: Result<Vec<u8>, Miss>) -> Result<Option<Vec<u8>>, Refusal> {
    let why = match read {
        Ok(bytes) => return Ok(Some(bytes)),
        Err(Miss::Special) => "is not a regular file".to_owned(),
        Err(Miss::Failed(e)) if e.kind() == ErrorKind::FileTooLarge => {
            "is too large for a rules file".to_owned()
        }
        Err(Miss::Failed(e)) => format!("cannot be read: {e}"),
        Err(_) => return Ok(None),
    };
    Err(too_much(format!("{} {why}", path.display())))
}

/// Returns the user's own rules file: the configured one, or else the default.
fn of_user(repo: &Repo, setting: &str, name: &str) -> Option<PathBuf> {
    let config = repo.git.config().ok()?;
    config.get_path(setting).ok().or_else(|| {
        let folder = std::env::var_os("XDG_CONFIG_HOME").filter(|it| !it.is_empty());
        let folder = folder.map(PathBuf::from);
        let folder = folder.or_else(|| Some(std::env::home_dir()?.join(".config")))?;
        Some(folder.join("git").join(name))
    })
}

/// Returns whether git ignores case in names.
fn folds(repo: &Repo) -> bool {
    let config = repo.git.config();
    config
        .and_then(|it| it.get_bool("core.ignorecase"))
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::{io::Write, process::Stdio};

    use engram_kit::{Folder, Repository};
    use proptest::prelude::*;

    use super::*;

    const PATHS: [&str; 12] = [
        "a", "b", "ab", "a.b", "a/b", "a/b/a", "b/a/b", "ab/a.b", "a/ab/b", "A", "a b", "[a]",
    ];

    /// Returns what git says about each path, one line for each.
    fn git(at: &Path, args: &[&str]) -> String {
        let mut git = engram_kit::git_command(at);
        git.args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut git = git.spawn().unwrap();
        let mut stdin = git.stdin.take().unwrap();
        stdin.write_all(PATHS.join("\n").as_bytes()).unwrap();
        drop(stdin);
        String::from_utf8(git.wait_with_output().unwrap().stdout).unwrap()
    }

    fn repository(name: &str, root: &str, nested: &str) -> (Folder, Repository, Repo) {
        let folder = Folder::temporary();
        let repository = Repository::init(folder.path("foo"));
        repository.write(name, root);
        repository.write(&format!("a/{name}"), nested);
        let repo = Repo::open(repository.root()).unwrap();
        (folder, repository, repo)
    }

    fn ignored(root: &str, nested: &str) {
        let (_folder, repository, repo) = repository(".gitignore", root, nested);
        let mut rules = Ignored::new(&repo, repository.root().to_owned()).unwrap();
        let said = git(
            repository.root(),
            &["check-ignore", "--no-index", "--stdin"],
        );
        for path in PATHS {
            // Like git, treats a missing path as a file.
            let is_folder = repository.root().join(path).is_dir();
            let want = said.lines().any(|it| it == path);
            let got = rules.has(path, is_folder).unwrap();
            assert_eq!(got, want, "{path:?} by {root:?} and {nested:?}");
        }
    }

    fn attributes(root: &str, nested: &str) {
        let (_folder, repository, repo) = repository(".gitattributes", root, nested);
        let said = git(
            repository.root(),
            &["check-attr", "--stdin", "text", "eol", "filter"],
        );
        for path in PATHS {
            let rules = Attributes::of(&repo, repository.root(), path).unwrap();
            for name in ["text", "eol", "filter"] {
                let got = match rules.get(name) {
                    Value::Unspecified => "unspecified".to_owned(),
                    Value::Set => "set".to_owned(),
                    Value::Unset => "unset".to_owned(),
                    Value::Is(word) => word,
                };
                let line = format!("{path}: {name}: {got}");
                assert!(
                    said.lines().any(|it| it == line),
                    "{line} by {root:?} and {nested:?}: {said}"
                );
            }
        }
    }

    #[test]
    fn a_path_is_ignored_where_git_says_so() {
        for (root, nested) in [
            ("*\n!a/\n!b\n", ""),
            ("a/\n", "!b\n"),
            ("/a\n", ""),
            ("**/b\n!a/b\n", ""),
            ("a/**\n", "!b"),
            ("a/**/a\n", ""),
            ("**\n", ""),
            ("a b \n", ""),
            ("a\\ b\n", ""),
            ("\\[a]\n[[]a]\n", ""),
            ("[!a]\n", ""),
            ("[a-b]*\n", ""),
            ("[[:upper:]]\n", ""),
            ("[a\n[]a]\n", ""),
            ("#a\n\\#b\n\\!c\n", ""),
            ("a\r\n\r\n", ""),
            ("\u{feff}a\n", ""),
            ("?\n", "*\n!*/\n"),
            ("a***b\nb/***/b\n", ""),
            ("/\n//\na//b\n\\", ""),
        ] {
            ignored(root, nested);
        }
    }

    #[test]
    fn a_file_has_the_attributes_that_git_gives_it() {
        for (root, nested) in [
            ("* text=auto\n*.b -text\n", "b eol=crlf\n"),
            ("a/** text\n/a -text\n", ""),
            ("\"a b\" text\n", ""),
            ("* text\na !text\n", "b filter=lfs -text\n"),
            ("*b binary\n", ""),
            ("a/ text\n", ""),
            ("# a text\n!b text\n", ""),
            ("* text eol=lf -text\n", "* eol=crlf\n"),
        ] {
            attributes(root, nested);
        }
    }

    fn rules() -> impl Strategy<Value = String> {
        let part = proptest::sample::select(
            &[
                "a", "b", "*", "**", "/", "?", "[ab]", "[!a]", "!", ".", "\n", "\n", "\n", " ",
                "\\a",
            ][..],
        );
        proptest::collection::vec(part, 0..12).prop_map(|it| bounded(&it.concat()))
    }

    /// Turns two stars after anything but a slash into one: git's result for those depends on its
    /// memory layout.
    fn bounded(text: &str) -> String {
        let mut out = String::new();
        let mut is_bound = true;
        for letter in text.chars() {
            if letter == '*' && !out.ends_with('*') {
                is_bound = out.is_empty() || out.ends_with(['/', '\n']);
            }
            if letter != '*' || is_bound || !out.ends_with('*') {
                out.push(letter);
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_git_ignores_is_ignored(root in rules(), nested in rules()) {
            ignored(&root, &nested);
        }
    }
}
