//! Histories of published versions: real edits by people, in several languages. Each version that
//! the package client fetches becomes one commit.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use super::git;
use xtask::{remove_folder, shell};

/// The source of the versions.
#[derive(Clone, Copy)]
enum Registry {
    Cargo,
    Npm,
    Pip,
}

/// The registry, the name and the versions, oldest first.
type Package = (Registry, &'static str, &'static str);

#[rustfmt::skip]
const PACKAGES: &[Package] = &[
    (Registry::Cargo, "anyhow", "1.0.20 1.0.32 1.0.40 1.0.55 1.0.66 1.0.75 1.0.86 1.0.95"),
    (Registry::Cargo, "clap", "2.30.0 2.31.0 2.32.0 2.33.0 2.33.3 2.34.0"),
    (Registry::Cargo, "libc", "0.2.100 0.2.103 0.2.108 0.2.112 0.2.117 0.2.121 0.2.126"),
    (Registry::Cargo, "libz-sys", "1.1.0 1.1.2 1.1.3 1.1.5 1.1.8 1.1.9"),
    (Registry::Cargo, "memchr", "2.2.0 2.3.0 2.3.4 2.4.0 2.4.1 2.5.0 2.6.0 2.6.4 2.7.0 2.7.4"),
    (Registry::Cargo, "semver", "1.0.0 1.0.4 1.0.9 1.0.14 1.0.17 1.0.20 1.0.23 1.0.26"),
    (Registry::Cargo, "serde_json", "1.0.40 1.0.48 1.0.57 1.0.64 1.0.72 1.0.85 1.0.96 1.0.108 1.0.120 1.0.133"),
    (Registry::Npm, "commander", "2.20.0 3.0.0 4.0.0 4.1.1 5.0.0 5.1.0 6.0.0 6.2.0 7.0.0 7.2.0 8.0.0 8.3.0 9.0.0 10.0.0"),
    (Registry::Npm, "express", "4.16.0 4.16.4 4.17.1 4.17.3 4.18.1 4.18.2 4.19.2 4.20.0 4.21.2 5.0.0 5.1.0"),
    (Registry::Npm, "marked", "0.7.0 0.8.0 1.0.0 1.1.0 1.2.0 2.0.0"),
    (Registry::Pip, "attrs", "17.4.0 18.1.0 18.2.0 19.1.0 19.3.0 20.1.0 20.3.0 21.1.0 21.4.0"),
    (Registry::Pip, "click", "6.6 6.7 7.0 7.1 8.0.0 8.0.4 8.1.0 8.1.3"),
    (Registry::Pip, "requests", "2.18.0 2.19.0 2.20.0 2.21.0 2.22.0 2.23.0 2.24.0 2.25.0 2.26.0 2.27.0 2.28.0"),
];

/// Returns a repository for each package whose client is installed. It is built once and kept in
/// `cache`.
pub(crate) fn histories(cache: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for (client, name, versions) in PACKAGES {
        let program = match client {
            Registry::Cargo => "cargo",
            Registry::Npm => "npm",
            Registry::Pip => "pip",
        };
        if which::which(program).is_err() {
            eprintln!("{program} is not installed: without the history of {name}");
            continue;
        }
        let repo = cache.join(name);
        // Built under another name, so that an interrupted build is repeated.
        if !repo.join(".git").is_dir() {
            let making = cache.join(format!("{name}.part"));
            remove_folder(&making)?;
            build_version_history(&making, *client, name, versions)
                .with_context(|| format!("the history of {name} cannot be made"))?;
            fs::rename(&making, &repo)?;
        }
        found.push(((*name).to_owned(), repo));
    }
    ensure!(!found.is_empty(), "no package client is installed");
    Ok(found)
}

fn build_version_history(repo: &Path, client: Registry, name: &str, versions: &str) -> Result<()> {
    fs::create_dir_all(repo)?;
    git(repo, &["init", "-q"])?;
    for version in versions.split(' ') {
        let fetched = repo.with_extension("fetched");
        remove_folder(&fetched)?;
        fs::create_dir_all(&fetched)?;
        let source = match client {
            Registry::Cargo => crate_source(&fetched, name, version)?,
            Registry::Npm => npm_source(&fetched, name, version)?,
            Registry::Pip => wheel_source(&fetched, name, version)?,
        };
        clear_worktree(repo)?;
        copy(&source, repo)?;
        git(repo, &["add", "-A", "-f"])?;
        git(repo, &["commit", "-q", "-m", version])?;
        fs::remove_dir_all(&fetched)?;
    }
    Ok(())
}

/// Runs `cargo vendor` on a manifest with that one version.
fn crate_source(at: &Path, name: &str, version: &str) -> Result<PathBuf> {
    fs::create_dir_all(at.join("src"))?;
    fs::write(at.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
         [dependencies.{name}]\nversion = \"={version}\"\ndefault-features = false\n"
    );
    fs::write(at.join("Cargo.toml"), manifest)?;
    let mut vendor = shell::cargo();
    shell::output(vendor.current_dir(at).args(["vendor", "--quiet"]))?;
    Ok(at.join("vendor").join(name))
}

fn npm_source(at: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let mut pack = shell::command("npm");
    shell::output(
        pack.current_dir(at)
            .args(["pack", "--silent", &format!("{name}@{version}")]),
    )?;
    let mut unpack = shell::command("tar");
    shell::output(
        unpack
            .current_dir(at)
            .args(["-xzf", &format!("{name}-{version}.tgz")]),
    )?;
    Ok(at.join("package"))
}

fn wheel_source(at: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let mut install = shell::command("pip");
    let source = at.join("source");
    install
        .args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-compile",
        ])
        .args(["--only-binary", ":all:", "--target"])
        .arg(&source)
        .arg(format!("{name}=={version}"));
    shell::output(&mut install)?;
    for entry in fs::read_dir(&source)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "dist-info") {
            fs::remove_dir_all(path)?;
        }
    }
    Ok(source)
}

/// Removes everything except git's own folder.
pub(super) fn clear_worktree(repo: &Path) -> Result<()> {
    for entry in fs::read_dir(repo)? {
        let path = entry?.path();
        if !path.is_dir() {
            fs::remove_file(path)?;
        } else if path.file_name().is_none_or(|it| it != ".git") {
            fs::remove_dir_all(path)?;
        }
    }
    Ok(())
}

/// Copies the sources, without the files that the packager adds.
fn copy(from: &Path, to: &Path) -> Result<()> {
    const ADDED: &[&str] = &[
        ".cargo-checksum.json",
        ".cargo_vcs_info.json",
        ".cargo-ok",
        "Cargo.toml.orig",
        "Cargo.lock",
        ".git",
    ];
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name();
        if ADDED.iter().any(|it| name == *it) {
            continue;
        }
        let target = to.join(&name);
        if entry.file_type()?.is_dir() {
            fs::create_dir_all(&target)?;
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Returns the pairs of commits to compare: first and last in both directions, the middle with each
/// end, and two neighbours.
pub(crate) fn pairs(repo: &Path) -> Result<Vec<(String, String)>> {
    let list = git(repo, &["rev-list", "--first-parent", "--reverse", "HEAD"])?;
    let commits: Vec<&str> = list.lines().collect();
    let last = commits.len().saturating_sub(1);
    let middle = commits.len() / 2;
    let mut pairs = vec![(0, last), (last, 0)];
    if commits.len() > 4 {
        pairs.extend([(middle, last), (middle, 0), (middle, middle + 1)]);
    }
    let name = |at: usize| commits[at].to_owned();
    Ok(pairs.into_iter().map(|(a, b)| (name(a), name(b))).collect())
}
