//! One way to run the command, and one way to build a repository.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// Set for a test that runs again inside its own mounts.
const INSIDE: &str = "ENGRAM_TEST_INSIDE";

/// A person's machine: a home of Engram, a repository, and nothing of the real one.
pub(crate) struct Place {
    root: PathBuf,
    _dir: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    /// Without a repository.
    pub(crate) fn bare() -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["person", "elsewhere"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        Self { root, _dir: dir }
    }

    /// With a repository of two files and one commit.
    pub(crate) fn new() -> Self {
        let place = Self::bare();
        make_repository(&place.repo());
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The command in a folder, over this home and no other.
    pub(crate) fn command_in(&self, folder: &Path) -> Command {
        let mut command = self.plain(env!("CARGO_BIN_EXE_engram"), folder);
        command.arg("--home").arg(self.home());
        command
    }

    /// A program that sees nothing of the machine's own configuration.
    pub(crate) fn plain(&self, program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env("HOME", self.path("person"))
            .env("CODEX_HOME", self.path("codex"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CEILING_DIRECTORIES", &self.root)
            .env("PATH", path_without_engram())
            .env_remove("XDG_DATA_HOME")
            .env_remove("ENGRAM_HOME")
            .env_remove("ENGRAM_LOG")
            .env_remove("GIT_DIR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn command(&self) -> Command {
        let repo = self.repo();
        match repo.exists() {
            true => self.command_in(&repo),
            false => self.command_in(&self.path("elsewhere")),
        }
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ran(self.command().args(args).output().unwrap())
    }

    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> Ran {
        ran(self.command_in(folder).args(args).output().unwrap())
    }

    /// Runs with bytes on standard input.
    pub(crate) fn feed(&self, args: &[&str], input: &[u8]) -> Ran {
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
        ran(output)
    }

    /// What a verb prints with `--json`.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--json"]].concat()).json()
    }

    /// Stores a claim about the repository; its id.
    #[track_caller]
    pub(crate) fn put(&self, claim: &str) -> String {
        let stored = self.json(&["put", "--claim", claim, "--pointer", POINTER]);
        stored["id"].as_str().unwrap().to_owned()
    }
}

/// A pointer that holds in every repository of these tests.
pub(crate) const POINTER: &str = "repo:src/retry.rs#L2-L3@HEAD";

impl Ran {
    /// One JSON object, alone on standard output, with exit 0.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert_eq!(self.err, "", "nothing on standard error");
        let value = serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"));
        assert_eq!(self.out.lines().count(), 1, "one line: {self:?}");
        value
    }

    /// Each line as a JSON object, with exit 0.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// The error object, alone on standard error, with exit 1 and nothing on standard output.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        let value: Value = serde_json::from_str(&self.err).unwrap();
        let error = &value["error"];
        assert_eq!(keys(&value), ["error"]);
        assert_eq!(keys(error), ["code", "hint", "message"]);
        for key in ["message", "hint"] {
            let text = error[key].as_str().unwrap();
            assert!(!text.is_empty() && text.len() < 600, "{error}");
            assert!(!text.contains(char::is_control), "{error}");
        }
        error.clone()
    }

    #[track_caller]
    pub(crate) fn refused(&self, code: &str) {
        let error = self.error();
        assert_eq!(error["code"], code, "{error}");
    }
}

/// The keys of an object, in alphabetical order.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap_or_else(|| panic!("no object: {value}"))
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

pub(crate) fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}

/// A shell of these tests finds no `engram`, also where this machine has one.
fn path_without_engram() -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_none = |it: &PathBuf| !it.join("engram").exists();
    std::env::join_paths(std::env::split_paths(&path).filter(has_none)).unwrap()
}

pub(crate) fn make_repository(at: &Path) {
    fs::create_dir_all(at.join("src")).unwrap();
    let retry = "pub fn delay() -> u32 {\n    // full jitter\n    200\n}\n";
    fs::write(at.join("src/retry.rs"), retry).unwrap();
    fs::write(at.join("README.md"), "# Rules\n\nOne.\n\n# Notes\n\nTwo.\n").unwrap();
    git(at, &["init", "-q"]);
    commit(at, "first");
}

pub(crate) fn commit(at: &Path, message: &str) {
    git(at, &["add", "-A"]);
    git(at, &["commit", "-q", "--allow-empty", "-m", message]);
}

/// The git command, deaf to the configuration of the machine.
pub(crate) fn git(at: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "init.defaultBranch=main", "-c", "core.autocrlf=false"])
        .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
        .args([
            "-c",
            "commit.gpgsign=false",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(args)
        .current_dir(at)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_DATE", "2026-01-08T10:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-01-08T10:00:00Z")
        .env_remove("GIT_DIR")
        .output()
        .expect("the git command");
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Every file below a folder with its bytes.
pub(crate) fn files(below: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![below.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.symlink_metadata().unwrap().is_dir() {
                true => open.push(path),
                false => {
                    let bytes = fs::read(&path).unwrap_or_default();
                    found.insert(path, bytes);
                }
            }
        }
    }
    found
}

/// Runs a test, by its full name, again where it may mount file systems that nobody else sees.
pub(crate) fn with_mounts(test: &str, body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    let works = |way: &&[&str]| {
        let tried = Command::new("unshare").args(*way).arg("true").output();
        tried.is_ok_and(|it| it.status.success())
    };
    let way = ways.into_iter().find(works).expect(
        "this test mounts a small disk and needs `unshare --mount`: run it as root, or allow user namespaces",
    );
    let output = Command::new("unshare")
        .args(way)
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let ran = ran(output);
    assert!(
        ran.code == Some(0) && ran.out.contains("1 passed"),
        "{test}:\n{}\n{}",
        ran.out,
        ran.err
    );
}

#[track_caller]
pub(crate) fn mount(args: &[&str]) {
    let output = Command::new("mount").args(args).output().unwrap();
    assert!(output.status.success(), "mount {args:?}: {output:?}");
}
