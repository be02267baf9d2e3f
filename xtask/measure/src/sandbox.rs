//! What the measurements run on: a home and a repository in a folder of their own, removed at the
//! end.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use xtask::{
    remove_folder,
    shell::{command, run},
};

/// Lifts the limits per minute and per hour, since a thousand turns pass in minutes.
pub(crate) const NO_RATE: &str = "[limits.rate]\nper_minute = 100000000\nper_hour = 100000000\n";

pub(crate) struct Sandbox {
    pub(crate) folder: PathBuf,
}

impl Sandbox {
    /// Creates an empty home with these limits, and an empty folder for a repository.
    pub(crate) fn new(name: &str, limits: &str) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("engram-{name}"));
        remove_folder(&folder)?;
        let sandbox = Self { folder };
        fs::create_dir_all(sandbox.repo())?;
        fs::create_dir_all(sandbox.home())?;
        fs::write(sandbox.home().join("config.toml"), limits)?;
        Ok(sandbox)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.folder.join("repo")
    }

    /// Creates an empty home beside the first, with the same limits.
    pub(crate) fn another_home(&self, name: &str) -> Result<PathBuf> {
        let home = self.create_folder(name)?;
        fs::copy(self.home().join("config.toml"), home.join("config.toml"))?;
        Ok(home)
    }

    /// Creates an empty folder for another program's data.
    pub(crate) fn create_folder(&self, name: &str) -> Result<PathBuf> {
        let room = self.folder.join(name);
        fs::create_dir_all(&room)?;
        Ok(room)
    }

    pub(crate) fn engram(&self, binary: &Path) -> Command {
        engram(binary, &self.home(), &self.repo())
    }

    pub(crate) fn git(&self) -> Command {
        git(&self.repo())
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns `engram` for a home and a repository.
pub(crate) fn engram(binary: &Path, home: &Path, repo: &Path) -> Command {
    let mut engram = command(binary);
    engram.arg("--home").arg(home).arg("--repo").arg(repo);
    engram
}

/// Returns `git` for a repository, without the machine's configuration.
pub(crate) fn git(repo: &Path) -> Command {
    let mut git = command("git");
    git.args(["-c", "gc.auto=0"])
        .current_dir(repo)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "A")
            .env(format!("GIT_{who}_EMAIL"), "a@example.org");
    }
    git
}

/// Commits everything in a repository's folder.
pub(crate) fn commit_all(repo: &Path) -> Result<()> {
    run(git(repo).args(["add", "--force", "."]))?;
    run(git(repo).args(["commit", "--quiet", "--message=files"]))
}

/// Returns what a program prints for this input.
pub(crate) fn output_for_input(command: &mut Command, input: &[u8]) -> Result<String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    child.stdin.take().context("no pipe")?.write_all(input)?;
    let output = child.wait_with_output()?;
    ensure!(
        output.status.success(),
        "`{}` failed",
        xtask::shell::command_line(command)
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
