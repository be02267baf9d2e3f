//! A change is written as shown, and undo restores the files.
#![allow(clippy::unwrap_used, clippy::panic)]

mod advice;
mod files;

use std::{fs, path::PathBuf};

use engram_kit::Sandbox;
use engram_model::{ChangeShown, Client, ConnectReply, Connected, FileChange, LineChange, Refusal};

use crate::{
    ConfigurationChange, ConnectTarget, EntryOwner, clients::dialect_of, connection,
    file::Configuration, program::Server,
};

/// An agent's configuration, in a folder of its own.
struct Desk {
    site: Sandbox,
    client: Client,
}

impl Desk {
    fn of(client: Client) -> Self {
        Self {
            site: Sandbox::new(),
            client,
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        Client::ALL.iter().copied().map(Self::of)
    }

    fn path(&self) -> PathBuf {
        let root = self.site.repo().canonicalize().unwrap();
        root.join("configuration")
    }

    /// The name of the object around the servers; none in TOML.
    fn key(&self) -> Option<&'static str> {
        match self.client {
            Client::Codex => None,
            Client::VsCode => Some("servers"),
            Client::Opencode => Some("mcp"),
            Client::Zed => Some("context_servers"),
            _ => Some("mcpServers"),
        }
    }

    fn read(&self) -> Option<String> {
        fs::read_to_string(self.path()).ok()
    }

    /// Writes a configuration of the user's, with or without another server under our name; returns
    /// it.
    fn write(&self, with_another: bool) -> String {
        let json = |text: &str| text.replace("KEY", self.key().unwrap_or_default());
        let text = match (self.key(), with_another) {
            (Some(_), false) => {
                json("{\n  // mine\n  \"KEY\": { \"a\": {\"command\": \"a\"} }\n}\n")
            }
            (Some(_), true) => json(
                "{\"KEY\": {\"engram\": {\"url\": \"http://other\", \"n\": [1, null, true, \"é\\n\"]}, \"b\": {}}}",
            ),
            (None, false) => "model = \"o\" # mine\n[mcp_servers.a]\ncommand = \"a\"\n".to_owned(),
            (None, true) => {
                "[mcp_servers.engram]\nurl = \"http://other\"\n[mcp_servers.engram.env]\nKEY = \"v\"\n\n[mcp_servers.b]\ncommand = \"b\"\n"
                    .to_owned()
            }
        };
        fs::write(self.path(), &text).unwrap();
        text
    }

    fn change(&self, undo: bool) -> ConfigurationChange {
        let (client, home, path) = (self.client, self.site.home(), self.path());
        let file = Configuration::of_user(&path).unwrap();
        if undo {
            ConfigurationChange::taking_out(client, &home, path, file).unwrap()
        } else {
            ConfigurationChange::adding(client, &server(&self.site), &home, path, file).unwrap()
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
        let text = self.read().unwrap_or_default();
        dialect_of(self.client).entry_owner(&text).unwrap()
    }
}

/// The entry of a home, run from `/bin/engram`.
fn server(site: &Sandbox) -> Server {
    Server::new("/bin/engram", &site.home(), None).unwrap()
}

/// Rebuilds the resulting text from the lines of a change, if all lines are shown.
fn told(shown: &ChangeShown) -> Vec<&str> {
    let stays = shown.files[0]
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
            let file = &shown.files[0];
            assert_eq!(file.path, desk.path().to_str().unwrap());
            assert!(shown.is_any && !shown.replaces && file.link.is_none());
            assert_eq!(
                file.kind,
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
            // A second request has nothing to write.
            assert!(!desk.shown(false, Some(&shown.digest)).is_any);
            assert_eq!(desk.read().unwrap(), after);

            let back = desk.shown(true, None);
            assert_eq!(desk.read().unwrap(), after);
            assert_eq!(back.files[0].kind == FileChange::Removed, !has_file);
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
        for kept in match desk.key() {
            Some(_) => ["null", "true", "\"é\\n\""],
            None => ["KEY = \"v\"", "url", "env"],
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
    let desk = Desk::of(Client::Claude);
    let long = "é".repeat(500);
    fs::write(desk.path(), format!("{{\n  \"a\": \"{long}\"\n}}")).unwrap();
    let shown = desk.shown(false, None);
    let line = shown.files[0].lines.iter().find(|it| it.more > 0).unwrap();
    assert_eq!(line.text.chars().count(), 400);
    // Undo deletes a file that we created and nobody edited, with all its lines.
    let desk = Desk::of(Client::Codex);
    let lines: String = (0..1000).map(|n| format!("a{n} = {n}\n")).collect();
    let record = crate::record::EditRecord::new(&desk.path(), None, &lines);
    record.store(&desk.site.home(), &desk.path()).unwrap();
    fs::write(desk.path(), lines).unwrap();
    let shown = desk.shown(true, None);
    let file = &shown.files[0];
    assert_eq!((file.lines.len(), file.more), (400, 600));
}

/// An agent might read the other entry.
#[test]
fn a_name_that_appears_twice_is_refused() {
    for text in [
        "{\"mcpServers\": {\"engram\": {}, \"engram\": {}}}",
        "{\"mcpServers\": {}, \"mcpServers\": {\"engram\": {}}}",
        "{\"mcpServers\": {\"engram\": {}, \"\\u0065ngram\": {}}}",
        "{\"mcpServers\": {\"engram\": {\"command\": \"engram\", \"args\": [\"mcp\"], \"command\": \"evil\"}}}",
        "{\"mcpServers\": {\"engram\": {\"command\": \"engram\", \"args\": [\"mcp\"], \"c\\u006fmmand\": \"evil\"}}}",
    ] {
        let why = dialect_of(Client::Claude).entry_owner(text).unwrap_err();
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
            let server = server(&site);
            ConfigurationChange::adding(client, &server, &home, path.clone(), file(path)).unwrap()
        });
    }
    for path in &paths {
        write(|| ConfigurationChange::taking_out(client, &home, path.clone(), file(path)).unwrap());
        assert_eq!(fs::read_to_string(path).unwrap(), text(path));
    }
}
