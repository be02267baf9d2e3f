//! A real repository with history for the agents to work in: a clone of this very project.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::machine::{clean, ok, system, workspace};

/// A clone that the test may change.
pub struct Repository {
    /// Its working tree.
    pub root: PathBuf,
    home: PathBuf,
}

impl Repository {
    /// Clones this workspace into `dir`, or begins a history with its files where it has none.
    pub fn of_this_project(dir: &Path) -> Self {
        let repo = Self {
            root: dir.join("engram"),
            home: dir.join("git-home"),
        };
        fs::create_dir_all(&repo.root).unwrap();
        fs::create_dir_all(&repo.home).unwrap();
        // This checkout may belong to somebody else, as in a container.
        fs::write(repo.home.join(".gitconfig"), "[safe]\n\tdirectory = *\n").unwrap();
        match workspace().join(".git").exists() {
            true => {
                let from = workspace().to_str().expect("a path in UTF-8");
                repo.git(&["clone", "--quiet", from, "."]);
            }
            false => {
                repo.git(&["init", "--quiet"]);
                copy(&workspace().join("crates"), &repo.root.join("crates"));
                repo.commit("Begin");
            }
        }
        // Pictures tell not on which branch they were taken.
        repo.git(&["checkout", "--quiet", "-B", "main"]);
        repo.change("NOTES.md", "A note.\n", "Add a note"); // a second commit, in a shallow clone too
        repo
    }

    /// Runs git here, without anybody's settings, and returns what it printed.
    pub fn git(&self, args: &[&str]) -> String {
        let mut git = clean(system("git"), &self.home);
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "Test")
                .env(format!("GIT_{who}_EMAIL"), "test@localhost");
        }
        ok(git.args(args).current_dir(&self.root))
    }

    /// Replaces a file and commits that.
    pub fn change(&self, path: &str, text: &str, message: &str) {
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().expect("a folder")).unwrap();
        fs::write(file, text).unwrap();
        self.commit(message);
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// The full id of the commit that is checked out.
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// A file as it was at a commit.
    pub fn show(&self, rev: &str, path: &str) -> String {
        self.git(&["show", &format!("{rev}:{path}")])
    }

    /// The lines of a file, counted from 1, from the first that has `begin` to the next that is `end`.
    pub fn span(&self, path: &str, begin: &str, end: &str) -> (usize, usize) {
        let text = self.show("HEAD", path);
        let first = text
            .lines()
            .position(|it| it.contains(begin))
            .expect("the first line");
        let length = text
            .lines()
            .skip(first)
            .position(|it| it == end)
            .expect("the last line");
        (first + 1, first + length + 1)
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}
