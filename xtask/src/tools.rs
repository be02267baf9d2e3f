//! The clients by other authors that the tests drive Engram with: the Python MCP client, the MCP
//! Inspector and four coding agents; the accessibility rules of axe; and ONNX Runtime. They are in
//! `$ENGRAM_TOOLS`, never in the repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use which::which;

use crate::{
    remove_folder,
    shell::{command, run, run_twice},
};

const PYTHON: &[&str] = &["mcp==2.3.0", "jsonschema==4.26.0"];
/// The library in which models run. Nothing else of the package is used.
const RUNTIME: &[&str] = &["--no-deps", "onnxruntime==1.32.0"];
/// Only for `cargo xtask fuzz`.
const FUZZ: &[&str] = &["schemathesis==4.32.5"];
const NPM: &[&str] = &[
    "node@24",
    "@modelcontextprotocol/inspector@2.12.0",
    "@anthropic-ai/claude-code@2.1.329",
    "@openai/codex@0.169.0",
    "@google/gemini-cli@0.61.0",
    "opencode-ai@1.18.33",
];
/// In a separate folder, so that updating it does not remove the agents that another checkout's
/// tests use.
const AXE: &[&str] = &["axe-core@4.14.1"];

/// Returns `$ENGRAM_TOOLS`, or a folder in the user's cache.
pub fn folder() -> PathBuf {
    let cache = || {
        std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(std::env::home_dir()?.join(".cache")))
            .unwrap_or_else(std::env::temp_dir)
    };
    std::env::var_os("ENGRAM_TOOLS")
        .map(PathBuf::from)
        .unwrap_or_else(|| cache().join("engram/tools"))
}

/// Locks the folder, since two checkouts tested at once share it: one installs while the other
/// waits.
fn lock_folder() -> Result<(PathBuf, fs::File)> {
    let folder = folder();
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let lock = fs::File::create(folder.join("lock"))?;
    lock.lock()?;
    Ok((folder, lock))
}

/// Installs each set whose stamp does not match the wanted versions.
pub fn ensure() -> Result<()> {
    let (folder, _lock) = lock_folder()?;
    install_once(&folder.join("venv"), PYTHON, |it| {
        install_python(it, PYTHON)
    })?;
    install_once(&folder.join("npm"), NPM, |it| install_npm(it, NPM))?;
    install_once(&folder.join("axe"), AXE, |it| install_npm(it, AXE))?;
    install_once(&folder.join("runtime"), RUNTIME, |it| {
        install_python(it, RUNTIME)
    })?;
    println!("test tools: all installed ({})", folder.display());
    Ok(())
}

/// Returns the path of schemathesis, and installs it at its first use.
pub fn schemathesis() -> Result<PathBuf> {
    let (folder, _lock) = lock_folder()?;
    let venv = folder.join("schemathesis");
    install_once(&venv, FUZZ, |it| install_python(it, FUZZ))?;
    Ok(venv.join("bin/schemathesis"))
}

/// Runs `install` in an empty folder, unless the existing one is for these versions.
fn install_once(folder: &Path, versions: &[&str], install: fn(&Path) -> Result<()>) -> Result<()> {
    let stamp = folder.join("engram-stamp");
    let wanted = versions.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|it| it == wanted) {
        return Ok(());
    }
    println!("test tools: installing {}", versions.join(" "));
    remove_folder(folder)?;
    fs::create_dir_all(folder)?;
    install(folder).with_context(|| {
        format!(
            "the test tools could not be installed into {}; is there a network?",
            folder.display()
        )
    })?;
    Ok(fs::write(stamp, wanted)?)
}

fn install_python(folder: &Path, packages: &[&str]) -> Result<()> {
    // The system's own interpreter outlives version managers that a shell switches.
    let system = Path::new("/usr/bin/python3");
    let python = if system.exists() {
        system.to_owned()
    } else {
        which("python3").context("python3 is missing: install it, then run this again")?
    };
    run(command(python).args(["-m", "venv"]).arg(folder))?;
    run_twice(|| {
        let mut pip = command(folder.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"])
            .args(packages);
        pip
    })
}

/// The path of the ONNX Runtime library that [`ensure`] installed.
pub fn runtime() -> Result<PathBuf> {
    let within = |folder: &Path| -> Result<Vec<PathBuf>> {
        let entries =
            fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        Ok(entries.flatten().map(|it| it.path()).collect())
    };
    // In a folder named after the version of Python.
    for python in within(&folder().join("runtime/lib"))? {
        let libraries = python.join("site-packages/onnxruntime/capi");
        let is_library = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("libonnxruntime.")
        };
        if let Some(library) = within(&libraries)?.into_iter().find(is_library) {
            return Ok(library);
        }
    }
    anyhow::bail!("the test tools have no ONNX Runtime")
}

fn install_npm(folder: &Path, packages: &[&str]) -> Result<()> {
    let npm = which("npm").context("npm is missing: install Node.js, then run this again")?;
    fs::write(folder.join("package.json"), "{\"private\":true}\n")?;
    run_twice(|| {
        let mut install = command(&npm);
        install
            .current_dir(folder)
            .args(["install", "--no-fund", "--no-audit", "--loglevel=error"])
            .args(packages);
        install
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_makes_the_second_run_instant_and_a_failure_leaves_none() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("set");
        let ok = |folder: &Path| Ok(fs::write(folder.join("made"), "")?);
        let fails = |_: &Path| anyhow::bail!("no network");

        assert!(install_once(&folder, &["a==1"], fails).is_err());
        assert!(
            !folder.join("engram-stamp").exists(),
            "a failed set must be tried again"
        );
        install_once(&folder, &["a==1"], ok).unwrap();
        install_once(&folder, &["a==1"], fails).unwrap();
        assert!(
            install_once(&folder, &["a==2"], fails).is_err(),
            "other versions are another set"
        );
        assert!(
            !folder.join("made").exists(),
            "and begin with an empty folder"
        );
    }
}
