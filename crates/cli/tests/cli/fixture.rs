//! Runs the command and creates repositories for the tests.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use engram_kit::{Folder, Repository, deaf};
use serde_json::Value;

pub(crate) use engram_kit::{
    CommandOutput, Pipe, Use, files, git, keys, mount, output_of, with_mounts,
};

/// A person's machine: a home of Engram and a repository, isolated from the real machine.
pub(crate) struct Sandbox(Folder);

impl Sandbox {
    /// A sandbox without a repository.
    pub(crate) fn bare() -> Self {
        let folder = Folder::temporary();
        for name in ["person", "elsewhere"] {
            fs::create_dir(folder.path(name)).unwrap();
        }
        Self(folder)
    }

    /// A sandbox with a repository of two files and one commit.
    pub(crate) fn new() -> Self {
        let sandbox = Self::bare();
        make_repository(&sandbox.repo());
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        engram_kit::write(&path, bytes);
        path
    }

    /// The command in a folder, with this home.
    pub(crate) fn command_in(&self, folder: &Path) -> Command {
        let mut command = self.plain(env!("CARGO_BIN_EXE_engram"), folder);
        command.arg("--home").arg(self.home());
        command
    }

    /// A program that reads none of the machine's own configuration.
    pub(crate) fn plain(&self, program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
        let mut command = Command::new(program);
        deaf(&mut command)
            .current_dir(folder)
            .env("HOME", self.path("person"))
            .env("CODEX_HOME", self.path("codex"))
            .env("GIT_CEILING_DIRECTORIES", self.0.root())
            .env("PATH", path_without_engram())
            .env_remove("XDG_DATA_HOME")
            .env_remove("ENGRAM_HOME")
            .env_remove("ENGRAM_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn command(&self) -> Command {
        let repo = self.repo();
        if repo.exists() {
            self.command_in(&repo)
        } else {
            self.command_in(&self.path("elsewhere"))
        }
    }

    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        output_of(self.command().args(args).output().unwrap())
    }

    /// The command with this home, started by a shell that first runs `first`.
    pub(crate) fn after(&self, first: &str, args: &[&str]) -> Command {
        let mut command = self.plain("sh", &self.repo());
        command
            .args(["-c", &format!("{first}\nexec \"$@\""), "sh"])
            .arg(env!("CARGO_BIN_EXE_engram"))
            .arg("--home")
            .arg(self.home())
            .args(args);
        command
    }

    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> CommandOutput {
        output_of(self.command_in(folder).args(args).output().unwrap())
    }

    /// Runs the command with these bytes on standard input.
    pub(crate) fn feed(&self, args: &[&str], input: &[u8]) -> CommandOutput {
        let mut child = self
            .command()
            .args(args)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // The command may end before it has read everything.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output_of(output)
    }

    /// Returns what a verb prints with `--json`.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--json"]].concat()).json()
    }

    /// Stores a claim about the repository; returns its id.
    #[track_caller]
    pub(crate) fn put(&self, claim: &str) -> String {
        let stored = self.json(&["put", "--claim", claim, "--pointer", POINTER]);
        stored["id"].as_str().unwrap().to_owned()
    }

    /// Opens a parent and its children; returns what was printed about each child.
    pub(crate) fn open_family(&self, children: &[&str]) -> Vec<Value> {
        self.json(&["agents", "open", "lead", "--role", "architect"]);
        let open = ["agents", "open", "--role", "programmer", "--parent", "lead"];
        let open_child = |child: &&str| self.json(&[&open[..], &[*child]].concat());
        children.iter().map(open_child).collect()
    }

    /// Runs the command from elsewhere, for this repository.
    pub(crate) fn in_repo(&self, repo: &Path, args: &[&str]) -> CommandOutput {
        let at = ["--json", "--repo", repo.to_str().unwrap()];
        self.run_in(&self.path("elsewhere"), &[&at, args].concat())
    }

    /// How many claims about retries are found for this repository.
    #[track_caller]
    pub(crate) fn count_found(&self, repo: &Path) -> usize {
        let found = self.in_repo(repo, &["query", "retries jitter"]).json();
        found["engrams"].as_array().unwrap().len()
    }

    /// Stores and finds from within a folder, as a person who works there does.
    #[track_caller]
    pub(crate) fn assert_works(&self, repo: &Path, how: &str) {
        let claim = format!("Retries in {how} use jitter.");
        let stored = self.run_in(
            repo,
            &["--json", "put", "--claim", &claim, "--pointer", POINTER],
        );
        assert_eq!(stored.code, Some(0), "{how}: {stored:?}");
        let found = self.run_in(repo, &["--json", "query", "retries jitter"]);
        assert!(
            found.json().to_string().contains(&claim),
            "{how}: {found:?}"
        );
    }
}

/// A pointer that is valid in every repository of these tests.
pub(crate) const POINTER: &str = "repo:src/retry.rs#L2-L3@HEAD";

/// Returns a PATH without `engram`, even if this machine has one.
fn path_without_engram() -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_none = |it: &PathBuf| !it.join("engram").exists();
    std::env::join_paths(std::env::split_paths(&path).filter(has_none)).unwrap()
}

pub(crate) fn make_repository(at: &Path) {
    let files: [(&str, &[u8]); 2] = [
        (
            "src/retry.rs",
            b"pub fn delay() -> u32 {\n    // full jitter\n    200\n}\n",
        ),
        ("README.md", b"# Rules\n\nOne.\n\n# Notes\n\nTwo.\n"),
    ];
    Repository::with(at, &files);
}
