//! A change is written as shown, and undo restores the files.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::{collections::BTreeSet, fs, path::PathBuf};

use engram_kit::Sandbox;
use engram_model::{
    AdviceShown, ChangeShown, Client, ConnectReply, Connected, FileChange, LineChange, Refusal,
};

use crate::{
    ConfigurationChange, ConnectTarget, EntryOwner, connection,
    edit::{Addition, FileEdit},
    entry_owner,
    file::Configuration,
};

/// An agent's configuration, in a folder of its own.
struct Desk {
    site: Sandbox,
    client: Client,
}

impl Desk {
    fn all() -> [Self; 2] {
        [Client::Claude, Client::Codex].map(|client| Self {
            site: Sandbox::new(),
            client,
        })
    }

    fn path(&self) -> PathBuf {
        let root = self.site.repo().canonicalize().unwrap();
        root.join(match self.client {
            Client::Claude => ".mcp.json",
            Client::Codex => "config.toml",
        })
    }

    fn read(&self) -> Option<String> {
        fs::read_to_string(self.path()).ok()
    }

    /// Writes a configuration of the user's, with or without another server of our name; returns
    /// it.
    fn write(&self, with_another: bool) -> String {
        let text = match (self.client, with_another) {
            (Client::Claude, false) => {
                "{\n  // mine\n  \"mcpServers\": { \"a\": {\"command\": \"a\"} }\n}\n"
            }
            (Client::Claude, true) => {
                "{\"mcpServers\": {\"engram\": {\"url\": \"http://other\", \"n\": [1, null, true, \"é\\n\"]}, \"b\": {}}}"
            }
            (Client::Codex, false) => "model = \"o\" # mine\n[mcp_servers.a]\ncommand = \"a\"\n",
            (Client::Codex, true) => {
                "[mcp_servers.engram]\nurl = \"http://other\"\n[mcp_servers.engram.env]\nKEY = \"v\"\n\n[mcp_servers.b]\ncommand = \"b\"\n"
            }
        };
        fs::write(self.path(), text).unwrap();
        text.to_owned()
    }

    fn change(&self, undo: bool) -> ConfigurationChange {
        let (client, home, path) = (self.client, self.site.home(), self.path());
        let file = Configuration::of_user(&path).unwrap();
        if undo {
            ConfigurationChange::taking_out(client, &home, path, file).unwrap()
        } else {
            ConfigurationChange::adding(client, &home, path, file, "/bin/engram").unwrap()
        }
    }

    fn answer(&self, undo: bool, digest: Option<&str>) -> Result<ConnectReply, Refusal> {
        self.change(undo).write_as_shown(digest)
    }

    fn shown(&self, undo: bool, digest: Option<&str>) -> ChangeShown {
        match self.answer(undo, digest) {
            Ok(ConnectReply::Shown(shown)) => *shown,
            other => panic!("{:?}: {other:?}", self.client),
        }
    }

    fn entry_owner(&self) -> EntryOwner {
        entry_owner(self.client, &self.read().unwrap_or_default()).unwrap()
    }
}

/// Rebuilds the resulting text from the lines of a change, if all lines are shown.
fn told(shown: &ChangeShown) -> Vec<&str> {
    let stays = shown
        .file
        .lines
        .iter()
        .filter(|it| it.change != LineChange::Removed);
    stays.map(|it| it.text.as_str()).collect()
}

#[test]
fn what_is_shown_is_written_and_undone_to_the_byte() {
    for desk in Desk::all() {
        for has_file in [false, true] {
            let before = has_file.then(|| desk.write(false));
            let shown = desk.shown(false, None);
            assert_eq!(desk.read(), before, "shown, not written");
            assert_eq!(shown.file.path, desk.path().to_str().unwrap());
            assert!(shown.is_any && !shown.replaces && shown.file.link.is_none());
            assert_eq!(
                shown.file.kind,
                if has_file {
                    FileChange::Edited
                } else {
                    FileChange::Created
                }
            );
            let written = desk.answer(false, Some(&shown.digest));
            assert_eq!(written, Ok(ConnectReply::Written));
            let after = desk.read().unwrap();
            assert_eq!(told(&shown), after.lines().collect::<Vec<_>>());
            assert_eq!(desk.entry_owner(), EntryOwner::Ours);
            // Asked for a second time, nothing changes.
            assert!(!desk.shown(false, Some(&shown.digest)).is_any);
            assert_eq!(desk.read().unwrap(), after);

            let back = desk.shown(true, None);
            assert_eq!(desk.read().unwrap(), after);
            assert_eq!(back.file.kind == FileChange::Removed, !has_file);
            let undone = desk.answer(true, Some(&back.digest));
            assert_eq!(undone, Ok(ConnectReply::Written));
            assert_eq!(desk.read(), before);
            assert!(!desk.shown(true, Some(&back.digest)).is_any);
        }
    }
}

#[test]
fn what_changed_since_it_was_shown_is_shown_again() {
    for desk in Desk::all() {
        let shown = desk.shown(false, None);
        let text = desk.write(false);
        let again = desk.shown(false, Some(&shown.digest));
        assert_ne!(again.digest, shown.digest);
        assert_eq!(desk.read().unwrap(), text);
        // The file may also change between the check and the write.
        let change = desk.change(false);
        let other = desk.write(true);
        let refused = change.write_as_shown(Some(&again.digest)).unwrap_err();
        assert!(refused.message.contains("just been changed"), "{refused}");
        assert_eq!(desk.read().unwrap(), other);
        // A foreign entry is not ours to remove.
        assert!(!desk.shown(true, Some(&again.digest)).is_any);
    }
}

#[test]
fn another_server_of_our_name_is_told_and_put_back() {
    for desk in Desk::all() {
        let before = desk.write(true);
        assert_eq!(desk.entry_owner(), EntryOwner::Foreign);
        let shown = desk.shown(false, None);
        assert!(shown.replaces);
        desk.answer(false, Some(&shown.digest)).unwrap();
        let after = desk.read().unwrap();
        assert!(
            !after.contains("http://other") && !after.contains("KEY"),
            "{after}"
        );
        assert_eq!(desk.entry_owner(), EntryOwner::Ours);
        let back = desk.shown(true, None);
        desk.answer(true, Some(&back.digest)).unwrap();
        assert_eq!(desk.read().unwrap(), before);

        // After an edit by the user, undo puts back only the entry.
        let shown = desk.shown(false, None);
        desk.answer(false, Some(&shown.digest)).unwrap();
        let edited = desk.read().unwrap().replace("\"b\"", "\"edited\"");
        assert_ne!(edited, desk.read().unwrap());
        fs::write(desk.path(), edited).unwrap();
        let back = desk.shown(true, None);
        desk.answer(true, Some(&back.digest)).unwrap();
        let left = desk.read().unwrap();
        assert!(
            left.contains("http://other") && left.contains("edited"),
            "{left}"
        );
        assert_eq!(desk.entry_owner(), EntryOwner::Foreign);
        for kept in match desk.client {
            Client::Claude => ["null", "true", "\"é\\n\""],
            Client::Codex => ["KEY = \"v\"", "url", "env"],
        } {
            assert!(left.contains(kept), "{kept}: {left}");
        }
    }
}

#[test]
fn each_state_is_told() {
    let site = Sandbox::new();
    let path = site.repo().join(".mcp.json");
    let place = ConnectTarget {
        home: site.home(),
        repo: Some(site.repo()),
    };
    let state = |program: &str| connection(Client::Claude, &place, Some(program)).state;
    assert_eq!(state("/bin/engram"), Connected::No);
    let change = ConfigurationChange::connect(Client::Claude, &place, "/bin/engram").unwrap();
    change.write().unwrap();
    assert_eq!(state("/bin/engram"), Connected::Here);
    assert_eq!(state("/other/engram"), Connected::Elsewhere);
    assert_eq!(
        connection(Client::Claude, &place, None).state,
        Connected::Here
    );
    fs::write(&path, "{\"mcpServers\": {\"engram\": 3}}").unwrap();
    assert_eq!(state("engram"), Connected::Stranger);
    for malformed in ["{", "[]", "{\"mcpServers\": []}"] {
        fs::write(&path, malformed).unwrap();
        let Connected::Refused(why) = state("engram") else {
            panic!("{malformed}")
        };
        assert!(why.hint.contains("Nothing was changed"), "{why}");
    }
    let nowhere = ConnectTarget {
        home: site.home(),
        repo: None,
    };
    let state = connection(Client::Claude, &nowhere, Some("engram")).state;
    assert!(matches!(state, Connected::Refused(_)), "{state:?}");
}

#[test]
fn a_page_is_sent_so_much_and_no_more() {
    let [desk, _] = Desk::all();
    let long = "é".repeat(500);
    fs::write(desk.path(), format!("{{\n  \"a\": \"{long}\"\n}}")).unwrap();
    let shown = desk.shown(false, None);
    let line = shown.file.lines.iter().find(|it| it.more > 0).unwrap();
    assert_eq!(line.text.chars().count(), 400);
    // Undo deletes a file that we created and nobody edited, with all its lines.
    let [_, desk] = Desk::all();
    let lines: String = (0..1000).map(|n| format!("a{n} = {n}\n")).collect();
    let record = crate::record::EditRecord::new(&desk.path(), None, &lines);
    record.store(&desk.site.home(), &desk.path()).unwrap();
    fs::write(desk.path(), lines).unwrap();
    let shown = desk.shown(true, None);
    assert_eq!((shown.file.lines.len(), shown.file.more), (400, 600));
}

/// An agent might read the other entry.
#[test]
fn a_name_that_appears_twice_is_refused() {
    for text in [
        "{\"mcpServers\": {\"engram\": {}, \"engram\": {}}}",
        "{\"mcpServers\": {}, \"mcpServers\": {\"engram\": {}}}",
        "{\"mcpServers\": {\"engram\": {}, \"\\u0065ngram\": {}}}",
    ] {
        let why = entry_owner(Client::Claude, text).unwrap_err();
        assert!(why.to_string().contains("appears twice"), "{text}: {why}");
    }
}

/// Writes a change after it was shown.
fn write(change: impl Fn() -> ConfigurationChange) {
    let digest = match change().write_as_shown(None) {
        Ok(ConnectReply::Shown(shown)) => shown.digest,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        change().write_as_shown(Some(&digest)),
        Ok(ConnectReply::Written)
    );
}

/// The records of two files get different names, although the letters and digits of the paths are
/// equal.
#[test]
fn two_files_have_a_record_each() {
    let (site, client) = (Sandbox::new(), Client::Claude);
    let root = site.repo().canonicalize().unwrap();
    let paths = ["q-r", "q_r"].map(|it| root.join(it).join(".mcp.json"));
    let text =
        |path: &PathBuf| format!("{{\"mcpServers\": {{\"engram\": {{\"url\": {path:?}}}}}}}");
    let file = |path: &PathBuf| Configuration::of_user(path).unwrap();
    let home = site.home();
    for path in &paths {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text(path)).unwrap();
        write(|| {
            ConfigurationChange::adding(client, &home, path.clone(), file(path), "/bin/engram")
                .unwrap()
        });
    }
    for path in &paths {
        write(|| ConfigurationChange::taking_out(client, &home, path.clone(), file(path)).unwrap());
        assert_eq!(fs::read_to_string(path).unwrap(), text(path));
    }
}

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
        let Some(AdviceShown::Changed(file)) = shown.advice else {
            panic!("{before:?}: {:?}", shown.advice);
        };
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
        let Some(AdviceShown::Left(why)) = shown.advice else {
            panic!("{what}: {:?}", shown.advice);
        };
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
        assert!(
            matches!(
                at.connect().change_shown().advice,
                Some(AdviceShown::Left(_))
            ),
            "{target:?}"
        );
        write(|| at.connect());
        assert_eq!(fs::read(at.path()).ok(), before, "{target:?}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    // A read-only file stays as it is.
    let at = Advised::new(Some(b"# Rules\n"));
    fs::set_permissions(at.path(), fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(
        at.connect().change_shown().advice,
        Some(AdviceShown::Left(_))
    ));
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
