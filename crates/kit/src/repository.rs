//! Git repositories for tests, made by the git command.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::folder::write;

/// The author and time of commits.
#[derive(Clone, Copy)]
pub struct Author {
    /// The author's name.
    pub name: &'static str,
    /// The author's address.
    pub email: &'static str,
    /// The time of every commit, so that ids are reproducible.
    pub at: &'static str,
}

impl Author {
    /// The default author.
    const ANYBODY: Self = Self {
        name: "A",
        email: "a@example.org",
        at: "2026-01-08T10:00:00Z",
    };
}

/// A repository with a working tree.
pub struct Repository {
    /// The root of the working tree.
    pub root: PathBuf,
    author: Author,
}

impl Repository {
    /// Makes a repository in a new folder.
    pub fn init(root: impl Into<PathBuf>) -> Self {
        Self::init_by(Author::ANYBODY, root)
    }

    /// Does the same with another author.
    pub fn init_by(author: Author, root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        std::fs::create_dir_all(&root).unwrap();
        let repository = Self { root, author };
        repository.git(&["init", "-q"]);
        repository
    }

    /// Makes a repository with one commit of these files.
    pub fn with(root: impl Into<PathBuf>, files: &[(&str, &[u8])]) -> Self {
        let repository = Self::init(root);
        for (path, bytes) in files {
            repository.write(path, bytes);
        }
        repository.commit("first");
        repository
    }

    /// Returns the root of the working tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs git in the repository; returns its output, without the last line end.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        printed(command(self.author, &self.root).args(args))
            .trim_end()
            .to_owned()
    }

    /// Writes a file of the working tree.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        write(&self.root.join(path), bytes);
    }

    /// Commits everything written; returns the commit's id.
    #[track_caller]
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    /// Replaces a file and commits that; returns the commit's id.
    #[track_caller]
    pub fn change(&self, path: &str, bytes: impl AsRef<[u8]>, message: &str) -> String {
        self.write(path, bytes);
        self.commit(message)
    }

    /// Returns the id of the commit that is checked out.
    #[track_caller]
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Returns a file as of a commit.
    #[track_caller]
    pub fn show(&self, rev: &str, path: &str) -> String {
        printed(command(self.author, &self.root).args(["show", &format!("{rev}:{path}")]))
    }
}

/// Runs git in a folder; returns its output, without the last line end.
#[track_caller]
pub fn git(at: &Path, args: &[&str]) -> String {
    printed(git_command(at).args(args)).trim_end().to_owned()
}

/// Returns a git command in a folder, for tests that let it fail or run on.
pub fn git_command(at: &Path) -> Command {
    command(Author::ANYBODY, at)
}

fn command(author: Author, at: &Path) -> Command {
    let mut git = Command::new("git");
    for setting in [
        "init.defaultBranch=main",
        "core.autocrlf=false",
        "commit.gpgsign=false",
        "protocol.file.allow=always",
    ] {
        git.args(["-c", setting]);
    }
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), author.name)
            .env(format!("GIT_{who}_EMAIL"), author.email)
            .env(format!("GIT_{who}_DATE"), author.at);
    }
    deaf(git.current_dir(at));
    git
}

/// Makes a command, and any git that it runs, ignore the configuration of the machine.
pub fn deaf(command: &mut Command) -> &mut Command {
    for scope in ["GLOBAL", "SYSTEM"] {
        command.env(format!("GIT_CONFIG_{scope}"), "/dev/null");
    }
    for place in ["DIR", "WORK_TREE", "INDEX_FILE"] {
        command.env_remove(format!("GIT_{place}"));
    }
    command
}

#[track_caller]
fn printed(git: &mut Command) -> String {
    let output = git.output().expect("the git command");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{git:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
