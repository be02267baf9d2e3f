//! Opens a file of the working tree in the person's editor: an argument vector, never a shell.

mod choice;
mod known_editors;
mod programs;

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use engram_model::{Code, Refusal};

pub(crate) use choice::Choice;
use choice::{CHOOSE, none_found};
pub(crate) use known_editors::installed;
use known_editors::terminal_of;
use programs::{found_in, program_of, search_path};

/// A file in the working tree, and a line in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditorLocation {
    root: PathBuf,
    file: PathBuf,
    line: u32,
}

impl EditorLocation {
    /// Follows every link, and refuses a target that is not a file inside the tree.
    pub(crate) fn inside(root: &Path, path: &Path, line: u32) -> Result<Self, Refusal> {
        let refuse =
            |message: String, hint: &str| Refusal::new(Code::PointerNotFound, message, hint);
        let root = root.canonicalize().map_err(|error| {
            Refusal::new(
                Code::RepoUnavailable,
                format!("cannot read the working tree: {error}"),
                "Open a clone that has a working tree.",
            )
        })?;
        let file = root.join(path).canonicalize().map_err(|_| {
            refuse(
                format!("{} is not in the working tree", path.display()),
                "It may have moved since; the pinned source is shown instead.",
            )
        })?;
        if !file.starts_with(&root) || !file.is_file() {
            return Err(refuse(
                format!("{} is not a file of this working tree", path.display()),
                "Engram opens only files inside the repository.",
            ));
        }
        Ok(Self {
            root,
            file,
            line: line.max(1),
        })
    }

    fn file(&self) -> String {
        self.file.display().to_string()
    }

    fn at(&self) -> String {
        format!("{}:{}", self.file(), self.line)
    }
}

/// Prepares a command line to run in a tree.
fn in_tree(words: &[String], folders: &OsStr, root: &Path) -> Result<Command, Refusal> {
    let (program, arguments) = words.split_first().ok_or_else(none_found)?;
    let mut command = Command::new(program_of(program, folders, root)?);
    command
        .args(arguments)
        .current_dir(root)
        // For the programs that it starts: a terminal's editor, a script's interpreter.
        .env("PATH", folders)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(command)
}

/// An editor that fails within this time did not open.
const AT_ONCE: Duration = Duration::from_millis(400);

/// Starts the editor, and waits only to see that it does not fail at once; returns its name.
pub(crate) fn open(location: &EditorLocation, choice: &Choice) -> Result<String, Refusal> {
    let named = env::var("TERMINAL").ok();
    let folders = search_path(
        &env::var_os("PATH").unwrap_or_default(),
        Some(&location.root),
    );
    let terminal = terminal_of(named.as_deref(), |it| found_in(it, &folders).is_some());
    let (words, name) = choice.command(location, terminal)?;
    // A terminal would start the editor in the tree, so check the editor itself.
    for editor in choice.command_line()?.iter().take(1) {
        program_of(editor, &folders, &location.root)?;
    }
    let started = in_tree(&words, &folders, &location.root)?.spawn();
    let mut child = started.map_err(|error| {
        Refusal::new(
            Code::Internal,
            format!("cannot start {name}: {error}"),
            "Check the editor: ENGRAM_EDITOR comes first, then the settings, VISUAL and EDITOR.",
        )
    })?;
    let (tell, told) = mpsc::channel();
    let who = name.clone();
    std::thread::spawn(move || match child.wait() {
        Ok(status) => {
            if !status.success() {
                tracing::warn!(editor = who, %status, "the editor failed");
            }
            let _ = tell.send(status);
        }
        Err(error) => tracing::warn!(editor = who, %error, "cannot wait for the editor"),
    });
    match told.recv_timeout(AT_ONCE) {
        Ok(status) if !status.success() => Err(Refusal::new(
            Code::Internal,
            format!("{name} did not open: it exited immediately ({status})"),
            format!("Run it once in a terminal to see why. {CHOOSE}"),
        )),
        _ => {
            tracing::info!(editor = name, file = %location.file.display(), line = location.line, "opened");
            Ok(name)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;

    /// `PATH=node_modules/.bin:$PATH`, as developers may set it.
    #[cfg(unix)]
    #[test]
    fn no_program_of_the_repository_is_started() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        let (root, ran) = (at("tree"), at("ran"));
        let (its, ours) = (root.join("node_modules/.bin"), at("bin"));
        let shows = ours.join("engram-ed");
        for (dir, says) in [(&its, "its own"), (&ours, "ours")] {
            fs::create_dir_all(dir).unwrap();
            let program = dir.join("engram-ed");
            let script = format!("#!/bin/sh\necho {says} $PATH > {}\n", ran.display());
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        symlink(&its, at("link")).unwrap();
        symlink(its.join("engram-ed"), ours.join("engram-linked")).unwrap();
        let (its_bin, link) = (its.display(), at("link"));
        let path = format!(
            "node_modules/.bin::.:{its_bin}:{}:{}",
            link.display(),
            ours.display()
        );
        let folders = search_path(OsStr::new(&path), Some(&root));
        assert_eq!(folders, ours.as_os_str());
        for (named, want) in [
            ("engram-ed", Ok(&shows)),
            (shows.to_str().unwrap(), Ok(&shows)),
            ("node_modules/.bin/engram-ed", Err(Code::NotFound)),
            ("./engram-ed", Err(Code::NotFound)),
            ("engram-none", Err(Code::NotFound)),
            ("..", Err(Code::NotFound)),
            ("", Err(Code::NotFound)),
            ("engram-linked", Err(Code::ScopeDenied)),
            (
                its.join("engram-ed").to_str().unwrap(),
                Err(Code::ScopeDenied),
            ),
            (
                at("link/engram-ed").to_str().unwrap(),
                Err(Code::ScopeDenied),
            ),
        ] {
            let found = program_of(named, &folders, &root);
            assert_eq!(found.as_ref().map_err(|it| it.code), want, "{named}");
        }
        let words = ["engram-ed".to_owned()];
        let mut command = in_tree(&words, &folders, &root).unwrap();
        assert!(command.status().unwrap().success());
        let said = fs::read_to_string(ran).unwrap();
        assert_eq!(said, format!("ours {}\n", ours.display()));
    }

    #[cfg(unix)]
    #[test]
    fn only_files_inside_the_tree_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("tree"), folder.path().join("secret"));
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/a.rs"), "x").unwrap();
        fs::write(&outside, "x").unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        std::os::unix::fs::symlink("src/a.rs", root.join("inner")).unwrap();
        let absolute = outside.display().to_string();
        for (path, opens) in [
            ("src/a.rs", true),
            ("inner", true),
            ("src/../src/a.rs", true),
            ("src", false),
            ("link", false),
            ("../secret", false),
            ("gone.rs", false),
            ("", false),
            ("a\0b", false),
            (&absolute, false),
        ] {
            assert_eq!(
                EditorLocation::inside(&root, Path::new(path), 0).is_ok(),
                opens,
                "{path:?}"
            );
        }
        assert_eq!(
            EditorLocation::inside(&root, Path::new("inner"), 0)
                .unwrap()
                .line,
            1
        );
    }
}
