//! A git repository in a test, made by the git command.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::folder::write;

/// Who commits, and when.
#[derive(Clone, Copy)]
pub struct Author {
    /// Their name.
    pub name: &'static str,
    /// Their address.
    pub email: &'static str,
    /// The time of every commit, so that ids repeat.
    pub at: &'static str,
}

impl Author {
    /// Who commits where nothing else is said.
    const ANYBODY: Self = Self {
        name: "A",
        email: "a@example.org",
        at: "2026-01-08T10:00:00Z",
    };
}

/// A repository with a working tree.
pub struct Repository {
    /// Its working tree.
    pub root: PathBuf,
    author: Author,
}

impl Repository {
    /// Begins one in a folder, which is made.
    pub fn init(root: impl Into<PathBuf>) -> Self {
        Self::init_by(Author::ANYBODY, root)
    }

    /// The same, by another author.
    pub fn init_by(author: Author, root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        std::fs::create_dir_all(&root).unwrap();
        let repository = Self { root, author };
        repository.git(&["init", "-q"]);
        repository
    }

    /// Begins one with a commit of these files.
    pub fn with(root: impl Into<PathBuf>, files: &[(&str, &[u8])]) -> Self {
        let repository = Self::init(root);
        for (path, bytes) in files {
            repository.write(path, bytes);
        }
        repository.commit("first");
        repository
    }

    /// Its working tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs git there; what it printed, without the end of the last line.
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

    /// Commits all that was written; the commit's id.
    #[track_caller]
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    /// Replaces a file and commits that; the commit's id.
    #[track_caller]
    pub fn change(&self, path: &str, bytes: impl AsRef<[u8]>, message: &str) -> String {
        self.write(path, bytes);
        self.commit(message)
    }

    /// The id of the commit that is checked out.
    #[track_caller]
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// A file as it was at a commit.
    #[track_caller]
    pub fn show(&self, rev: &str, path: &str) -> String {
        printed(command(self.author, &self.root).args(["show", &format!("{rev}:{path}")]))
    }
}

/// Runs git in a folder; what it printed, without the end of the last line.
#[track_caller]
pub fn git(at: &Path, args: &[&str]) -> String {
    printed(git_command(at).args(args)).trim_end().to_owned()
}

/// Git in a folder, to be run otherwise than to its end and with success.
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

/// Makes a command, and the git that it may use, deaf to the configuration of the machine.
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
