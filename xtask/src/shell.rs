//! Runs other programs without standard input; an error shows the command line that failed.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io::BufReader,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use cargo_metadata::Message;

/// Returns a command that reads nothing from the terminal.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}

/// Returns the cargo that runs this task, without the variables it set for this task: build scripts
/// that read such variables would run again whenever cargo is called differently.
pub fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_"]
            .iter()
            .any(|it| text.starts_with(it))
        {
            cargo.env_remove(&name);
        }
    }
    cargo
}

/// Runs to the end and passes the output through.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("{} does not start", command_line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", command_line(command));
    }
    Ok(())
}

/// The feature that embeds the window in the command; `ui::build` must have built it.
pub const DASHBOARD: &str = "--features=engram-cli/dashboard";

/// Runs `cargo build` with these arguments; returns the paths of the built programs, by name.
pub fn build(root: &Path, arguments: &[&str]) -> Result<BTreeMap<String, PathBuf>> {
    let mut build = cargo();
    build.current_dir(root).arg("build").args(arguments);
    let mut child = build
        .arg("--message-format=json-render-diagnostics")
        .stdout(Stdio::piped())
        .spawn()
        .context("cargo does not start")?;
    let messages = child.stdout.take().context("cargo's output is closed")?;
    let mut built = BTreeMap::new();
    for message in Message::parse_stream(BufReader::new(messages)) {
        if let Message::CompilerArtifact(artifact) = message?
            && let Some(program) = artifact.executable
            && !artifact.profile.test
        {
            built.insert(artifact.target.name, program.into());
        }
    }
    if !child.wait()?.success() {
        bail!("`{}` failed", command_line(&build));
    }
    Ok(built)
}

/// Runs `cargo build` with these arguments; returns the path of the program of this name.
pub fn build_program(root: &Path, arguments: &[&str], name: &str) -> Result<PathBuf> {
    let built = build(root, arguments)?.remove(name);
    built.with_context(|| format!("cargo built no {name}"))
}

/// Builds an example of a package for release; returns its path.
pub fn build_example(root: &Path, package: &str, name: &str) -> Result<PathBuf> {
    let (package, example) = (format!("--package={package}"), format!("--example={name}"));
    build_program(root, &["--release", &package, &example], name)
}

/// Runs to the end and returns the output.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{} does not start", command_line(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", command_line(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether the program runs and succeeds; prints nothing.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|it| it.success())
}

/// Runs a command that uses the network, with a second try.
pub fn run_twice(mut command: impl FnMut() -> Command) -> Result<()> {
    match run(&mut command()) {
        Ok(()) => Ok(()),
        Err(first) => {
            eprintln!("{first:#}; once more");
            run(&mut command())
        }
    }
}

/// Returns a command as one would type it.
pub fn command_line(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|it| it.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_its_line() {
        let error = run(command("false").arg("--now")).unwrap_err().to_string();
        assert!(error.contains("`false --now` failed"), "{error}");
        let error = run(&mut command("no-such-program-of-ours"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("does not start"), "{error}");
    }

    #[test]
    fn a_second_try_can_succeed() {
        let mut tries = 0;
        let result = run_twice(|| {
            tries += 1;
            command(if tries == 1 { "false" } else { "true" })
        });
        assert!(result.is_ok() && tries == 2);
    }
}
