//! The repository's advice to agents: `AGENTS.md`, and the files that import it.

use std::{collections::BTreeSet, fs, path::PathBuf};

use engram_kit::Sandbox;
use engram_model::{Client, FileChange, FileShown};

use super::write;
use crate::{
    ConfigurationChange, ConnectTarget,
    edit::{Addition, FileEdit},
    file::Configuration,
};

/// The repository of a test, with or without an `AGENTS.md`.
struct Advised {
    site: Sandbox,
    place: ConnectTarget,
}

impl Advised {
    fn new(before: Option<&[u8]>) -> Self {
        let site = Sandbox::new();
        let place = ConnectTarget {
            home: site.home(),
            repo: Some(site.repo()),
        };
        let advised = Self { site, place };
        if let Some(before) = before {
            fs::write(advised.path(), before).unwrap();
        }
        advised
    }

    fn path(&self) -> PathBuf {
        self.site.repo().join("AGENTS.md")
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        fs::read(self.path()).ok()
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes().unwrap()).unwrap()
    }

    fn connect(&self) -> ConfigurationChange {
        ConfigurationChange::connect(Client::Claude, &self.place, "/bin/engram").unwrap()
    }

    fn undo(&self) -> ConfigurationChange {
        ConfigurationChange::undo(Client::Claude, &self.place).unwrap()
    }
}

const BEGIN: &str = "<!-- engram: begin -->";
const END: &str = "<!-- engram: end -->";

#[test]
fn advice_is_shown_written_and_undone_to_the_byte() {
    for before in [
        None,
        Some(""),
        Some("\n"),
        Some("# Rules"),
        Some("# Rules\n"),
        Some("# Rules\n\n\n"),
        Some("# Rules\r\n\r\nRun the tests.\r\n"),
        Some("# Rules\r\nand no end"),
        Some("\u{feff}# Regeln – für alle\n\u{202e}x\n"),
        // A marker counts only on a line of its own.
        Some("Text that names <!-- engram: begin --> is text.\n"),
    ] {
        let at = Advised::new(before.map(str::as_bytes));
        let shown = at.connect().change_shown();
        let changed = |it: &&FileShown| it.path.ends_with("AGENTS.md");
        let file = shown.files.iter().find(changed).unwrap();
        let is_new = file.kind == FileChange::Created;
        assert_eq!(is_new, before.is_none(), "{before:?}");
        assert_eq!(
            at.bytes().as_deref(),
            before.map(str::as_bytes),
            "shown, not written"
        );
        write(|| at.connect());
        let after = at.text();
        assert!(after.starts_with(before.unwrap_or_default()), "{after}");
        assert_eq!(after.matches("engram_commit").count(), 1, "{after}");
        let is_windows = before.is_some_and(|it| it.contains('\r'));
        let ends = after.matches("\r\n").count();
        assert_eq!(ends == after.matches('\n').count(), is_windows, "{after:?}");
        assert!(!at.connect().is_any(), "{before:?}: once");
        write(|| at.undo());
        assert_eq!(
            at.bytes().as_deref(),
            before.map(str::as_bytes),
            "{before:?}"
        );
        assert!(!at.undo().is_any(), "{before:?}");
    }
}

/// Text that the user wrote since stays: above, below, or in a file that did not exist.
#[test]
fn advice_that_was_edited_around_loses_our_section_alone() {
    for (before, edited, left) in [
        (
            Some("# Rules\n"),
            ("# Rules", "# Our rules"),
            Some("# Our rules\n"),
        ),
        (
            Some("# Rules\n"),
            (END, &*format!("{END}\n\nMore.\n")),
            Some("# Rules\n\nMore.\n\n"),
        ),
        (None, (END, &*format!("{END}\nMine.")), Some("Mine.\n")),
        (None, ("Claims are data", "Claims are only data"), None),
    ] {
        let at = Advised::new(before.map(str::as_bytes));
        write(|| at.connect());
        let text = at.text();
        let now = text.replacen(edited.0, edited.1, 1);
        assert_ne!(now, text);
        fs::write(at.path(), now).unwrap();
        write(|| at.undo());
        let found = at.bytes().map(|it| String::from_utf8(it).unwrap());
        assert_eq!(found.as_deref(), left, "{before:?} {edited:?}");
    }
}

/// Our section replaces one with an earlier wording, and undo removes ours, whatever its wording
/// was.
#[test]
fn advice_of_another_build_is_replaced() {
    let before = format!("# Rules\n\n{BEGIN}\nAsk Engram.\n{END}\n\n# More\n");
    let at = Advised::new(Some(before.as_bytes()));
    write(|| at.connect());
    let text = at.text();
    assert!(
        !text.contains("Ask Engram.") && text.contains("engram_query"),
        "{text}"
    );
    assert!(
        text.starts_with("# Rules\n\n") && text.ends_with("\n\n# More\n"),
        "{text}"
    );
    write(|| at.undo());
    assert_eq!(at.text(), "# Rules\n\n# More\n");
}

/// Whatever a repository has in that place, the agent is connected and the file stays as it is.
#[test]
fn advice_that_cannot_be_changed_safely_is_left() {
    let half = |text: &str| Some(text.as_bytes().to_vec());
    let big = vec![b'x'; 10 << 20];
    for (what, bytes) in [
        ("half a marker", half(&format!("{BEGIN}\nText.\n"))),
        ("the other half", half(&format!("Text.\n{END}\n"))),
        ("twice", half(&format!("{BEGIN}\n{END}\n{BEGIN}\n{END}\n"))),
        ("reversed", half(&format!("{END}\n{BEGIN}\n"))),
        ("no text", Some(vec![0xff, 0xfe, 0x00])),
        ("10 MB", Some(big)),
        ("a folder", None),
    ] {
        let at = Advised::new(bytes.as_deref());
        if bytes.is_none() {
            fs::create_dir(at.path()).unwrap();
        }
        let shown = at.connect().change_shown();
        let [left] = &shown.left[..] else {
            panic!("{what}: {:?}", shown.left);
        };
        let why = &left.why;
        assert!(!why.message.is_empty() && !why.hint.is_empty(), "{what}");
        write(|| at.connect());
        assert_eq!(at.bytes(), bytes, "{what}");
        let config = at.site.repo().join(".mcp.json");
        assert!(fs::read_to_string(&config).unwrap().contains("engram"));
        write(|| at.undo());
        assert_eq!((at.bytes(), config.exists()), (bytes, false), "{what}");
    }
}

#[cfg(unix)]
#[test]
fn advice_behind_a_link_or_a_lock() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    // A link to another file of the repository: that file changes.
    let at = Advised::new(None);
    let real = at.site.repo().join("CLAUDE.md");
    fs::write(&real, "# Rules\n").unwrap();
    symlink("CLAUDE.md", at.path()).unwrap();
    write(|| at.connect());
    assert!(fs::read_to_string(&real).unwrap().contains("engram_query"));
    assert!(at.path().is_symlink());
    write(|| at.undo());
    assert_eq!(fs::read_to_string(&real).unwrap(), "# Rules\n");
    // A link out of the repository, to nothing, or into git's own files: nothing changes.
    let outside = at.site.home().join("outside.md");
    fs::create_dir_all(at.site.home()).unwrap();
    fs::write(&outside, "mine").unwrap();
    for target in [
        outside.clone(),
        PathBuf::from("nowhere.md"),
        PathBuf::from(".git/config"),
    ] {
        let at = Advised::new(None);
        symlink(&target, at.path()).unwrap();
        let before = fs::read(at.path()).ok();
        assert_eq!(at.connect().change_shown().left.len(), 1, "{target:?}");
        write(|| at.connect());
        assert_eq!(fs::read(at.path()).ok(), before, "{target:?}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    // A read-only file stays as it is.
    let at = Advised::new(Some(b"# Rules\n"));
    fs::set_permissions(at.path(), fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(at.connect().change_shown().left.len(), 1);
    write(|| at.connect());
    assert_eq!(at.text(), "# Rules\n");
}

/// Advice that two agents need is removed with the second one.
#[test]
fn advice_stays_while_an_agent_needs_it() {
    let at = Advised::new(Some(b"# Rules\n"));
    let plan = |client, undo| {
        let named = at.path().canonicalize().unwrap();
        let file = Configuration::of_user(&named).unwrap();
        if undo {
            FileEdit::taking_out((client, false), &at.place.home, named, file)
        } else {
            FileEdit::adding((client, Addition::Advice), &at.place.home, named, file)
        }
        .unwrap()
    };
    for client in [Client::Claude, Client::Codex] {
        plan(client, false).write().unwrap();
    }
    let first = plan(Client::Claude, true);
    assert!(!first.is_any());
    first.write().unwrap();
    assert!(at.text().contains("engram_query"));
    plan(Client::Codex, true).write().unwrap();
    assert_eq!(at.text(), "# Rules\n");
}

/// If the home cannot keep the second record, the first file is restored, and the refusal says so.
#[test]
fn both_files_are_written_or_neither() {
    let config = "{\"mcpServers\": {\"a\": {}}}";
    for has_config in [false, true] {
        let at = Advised::new(Some(b"# Rules\n"));
        let mcp = at.site.repo().join(".mcp.json");
        let read = || fs::read_to_string(&mcp).ok();
        if has_config {
            fs::write(&mcp, config).unwrap();
        }
        let before = read();
        let records = at.site.home().join("connect");
        let names = || -> BTreeSet<PathBuf> {
            let all = fs::read_dir(&records).unwrap();
            all.map(|it| it.unwrap().path()).collect()
        };
        write(|| at.connect());
        let advice = names()
            .into_iter()
            .find(|it| it.to_string_lossy().contains("AGENTS_md"))
            .unwrap();
        write(|| at.undo());
        let kept = names();
        // A folder blocks the record's path.
        fs::create_dir_all(advice.join("taken")).unwrap();
        let refusal = at.connect().write().unwrap_err();
        assert!(
            refusal.message.ends_with(".mcp.json was put back"),
            "{refusal}"
        );
        assert_eq!(read(), before, "{has_config}");
        assert_eq!(at.text(), "# Rules\n");
        fs::remove_dir_all(&advice).unwrap();
        assert_eq!(names(), kept, "the home's records");
        write(|| at.connect());
        write(|| at.undo());
        assert_eq!((read(), at.text().as_str()), (before, "# Rules\n"));
    }
}

/// Claude Code and Gemini CLI read a file of their own: it imports `AGENTS.md`, unless it does so
/// already or is the same file.
#[test]
fn what_an_agent_reads_imports_the_advice_and_is_undone_to_the_byte() {
    for (client, name, line) in [
        (Client::Claude, "CLAUDE.md", "@AGENTS.md"),
        (Client::Gemini, "GEMINI.md", "@./AGENTS.md"),
    ] {
        for (before, is_right) in [
            (None, false),
            (Some("# Rules\n\nRun the tests."), false),
            (Some("# Rules\r\n"), false),
            (Some("Read `@AGENTS.md` first.\n"), false),
            (Some("```\n@AGENTS.md\n```\n"), false),
            (Some("See @AGENTS.md.old\n"), false),
            (Some("@AGENTS.md\n"), true),
            (Some("# Rules\n\nSee @./AGENTS.md for more.\n"), true),
        ] {
            let at = Advised::new(None);
            let path = at.site.repo().join(name);
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
            let read = || fs::read_to_string(&path).ok();
            let connect =
                || ConfigurationChange::connect(client, &at.place, "/bin/engram").unwrap();
            let shown = connect().change_shown();
            let is_shown = shown.files.iter().any(|it| it.path.ends_with(name));
            assert_eq!(
                (is_shown, shown.files.len()),
                (!is_right, 3 - usize::from(is_right))
            );
            assert_eq!(read().as_deref(), before, "shown, not written");
            write(connect);
            let after = read().unwrap();
            assert!(after.starts_with(before.unwrap_or_default()), "{after}");
            assert!(after.lines().any(|it| it == line || is_right), "{after}");
            assert!(!connect().is_any(), "{before:?}: once");
            write(|| ConfigurationChange::undo(client, &at.place).unwrap());
            assert_eq!(read().as_deref(), before, "{name}: to the byte");
            assert_eq!(at.bytes(), None);
        }
    }
}

/// The other agent still needs `AGENTS.md`; nobody needs the import any more.
#[test]
fn an_import_goes_with_its_agent() {
    let at = Advised::new(None);
    let claude = at.site.repo().join("CLAUDE.md");
    let connect = |client| ConfigurationChange::connect(client, &at.place, "/bin/engram").unwrap();
    write(|| connect(Client::Claude));
    write(|| connect(Client::Zed));
    assert!(claude.exists());
    let kept = at.undo();
    let left: Vec<_> = kept.left_files().collect();
    let [(path, why)] = left[..] else {
        panic!("{left:?}")
    };
    assert_eq!(path, at.path());
    assert_eq!(why.message, "another connected agent reads it");
    write(|| at.undo());
    assert_eq!((claude.exists(), at.path().exists()), (false, true));
    write(|| ConfigurationChange::undo(Client::Zed, &at.place).unwrap());
    assert!(!at.path().exists());
}

/// If `AGENTS.md` cannot get our section, nothing needs to import it.
#[test]
fn advice_that_is_left_is_not_imported() {
    let at = Advised::new(Some(b"\xff\xfe"));
    write(|| at.connect());
    assert!(!at.site.repo().join("CLAUDE.md").exists());
}
