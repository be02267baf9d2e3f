//! Connects agents to a home and disconnects them: shows the change to a configuration and writes exactly
//! that. The command and the window share it.
//!
//! Files are edited in place, so that comments, order and spacing survive. The home records each change, so
//! that undo restores the file byte for byte.
//!
//! **Never:** writes what was not shown, asks or prints anything, or knows its caller.

mod claude;
mod codex;
mod file;
mod program;
mod record;
mod shown;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use engram_model::{Client, Code, ConnectReply, Connected, Connection, FileChange, Refusal};

pub use program::{found, hints, short_name};
pub use record::naming;

use file::{Configuration, unreadable};
use program::Server;
use record::Record;

/// The name of our entry in every client.
const NAME: &str = "engram";
/// What Claude Code reads of a repository.
const MCP: &str = ".mcp.json";

/// Where an agent is connected.
#[derive(Clone, Debug)]
pub struct Place {
    /// The home that it will use.
    pub home: PathBuf,
    /// A folder of the repository that it works in, if any.
    pub repo: Option<PathBuf>,
}

/// A change to an agent's configuration: planned, shown, and written if agreed to.
pub struct Change {
    client: Client,
    undoes: bool,
    home: PathBuf,
    /// The file by its usual name, which may be a link.
    named: PathBuf,
    file: Configuration,
    after: Option<String>,
    replaces: bool,
}

impl Change {
    /// Adds our entry; `program` is what the agent will run.
    ///
    /// # Errors
    /// There is no file to change, it cannot be read, or the home's path is not UTF-8.
    pub fn connect(client: Client, place: &Place, program: &str) -> Result<Self, Refusal> {
        let (named, file) = configuration(client, place)?;
        Self::adding(client, &place.home, named, file, program)
    }

    fn adding(
        client: Client,
        home: &Path,
        named: PathBuf,
        file: Configuration,
        program: &str,
    ) -> Result<Self, Refusal> {
        let server = Server::new(program, home)?;
        let text = file.text.as_deref().unwrap_or_default();
        let unreadable = |why: String| unreadable(&file.path, &why);
        let after = add(client, text, &server).map_err(unreadable)?;
        let replaces = entry(client, text).map_err(unreadable)? == Entry::Foreign;
        Ok(Self {
            client,
            undoes: false,
            home: home.to_owned(),
            named,
            after: Some(after),
            replaces,
            file,
        })
    }

    /// Removes our entry: restores the original file if it is unchanged since, else edits the file, putting
    /// back an entry that ours replaced.
    ///
    /// # Errors
    /// As [`Change::connect`].
    pub fn undo(client: Client, place: &Place) -> Result<Self, Refusal> {
        let (named, file) = configuration(client, place)?;
        Self::taking_out(client, &place.home, named, file)
    }

    fn taking_out(
        client: Client,
        home: &Path,
        named: PathBuf,
        file: Configuration,
    ) -> Result<Self, Refusal> {
        let after = match (&file.text, Record::of(home, &named)) {
            (None, _) => None,
            (Some(now), Some(known)) if known.after == *now => known.before,
            // A foreign entry is not ours to remove.
            (Some(now), _) if entry(client, now) == Ok(Entry::Foreign) => Some(now.clone()),
            (Some(now), known) => {
                let before = known.and_then(|it| it.before);
                let left = remove(client, now, before.as_deref());
                Some(left.map_err(|why| unreadable(&file.path, &why))?)
            }
        };
        Ok(Self {
            client,
            undoes: true,
            home: home.to_owned(),
            named,
            file,
            after,
            replaces: false,
        })
    }

    /// The file by its usual name.
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// The file to write, with links followed.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Whether anything is to be written.
    pub fn is_any(&self) -> bool {
        self.before() != self.after()
    }

    /// Whether it replaces another server with our name; undo puts that back.
    pub fn replaces(&self) -> bool {
        self.replaces
    }

    fn before(&self) -> Option<&str> {
        self.file.text.as_deref()
    }

    fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    fn kind(&self) -> FileChange {
        match (self.before(), self.after()) {
            (None, Some(_)) => FileChange::Created,
            (Some(_), None) => FileChange::Removed,
            _ => FileChange::Edited,
        }
    }

    /// Writes it, all or nothing, and only over what it was planned from.
    ///
    /// # Errors
    /// The file changed meanwhile or cannot be written; it stays as it is.
    pub fn write(&self) -> Result<(), Refusal> {
        if !self.undoes
            && let Some(after) = self.after()
        {
            // Record nothing that will not happen.
            self.file.refuse_changed()?;
            let record = Record::new(&self.named, self.first(), after);
            record.keep(&self.home, &self.named)?;
        }
        self.file.write(self.after())?;
        if self.undoes {
            Record::forget(&self.home, &self.named);
        }
        Ok(())
    }

    /// What undo restores.
    fn first(&self) -> Option<String> {
        let before = self.before()?;
        match Record::of(&self.home, &self.named) {
            // We wrote this file before: keep the original.
            Some(known) if known.after == before => known.before,
            // A replaced server comes back.
            _ if self.replaces => Some(before.to_owned()),
            // A file that already has our entry is no original: undo removes the entry.
            _ => Some(remove(self.client, before, None).unwrap_or(before.to_owned())),
        }
    }

    /// Writes it if `digest` is that of the change as it is now; else shows it.
    ///
    /// # Errors
    /// As [`Change::write`].
    pub fn write_as_shown(&self, digest: Option<&str>) -> Result<ConnectReply, Refusal> {
        let shown = self.shown();
        match self.is_any() && digest == Some(&shown.digest) {
            true => self.write().map(|()| ConnectReply::Written),
            false => Ok(ConnectReply::Shown(Box::new(shown))),
        }
    }
}

/// Whether an agent is connected; `program` is what it would run, if known.
pub fn connection(client: Client, place: &Place, program: Option<&str>) -> Connection {
    let look = || -> Result<Connected, Refusal> {
        let (named, file) = configuration(client, place)?;
        let text = file.text.as_deref().unwrap_or_default();
        let entry = entry(client, text).map_err(|why| unreadable(&file.path, &why))?;
        let running = program.unwrap_or(NAME);
        let change = Change::adding(client, &place.home, named, file, running)?;
        Ok(match entry {
            Entry::None => Connected::No,
            Entry::Foreign => Connected::Stranger,
            Entry::Ours if program.is_some() && change.is_any() => Connected::Elsewhere,
            Entry::Ours => Connected::Here,
        })
    };
    Connection {
        client,
        state: look().unwrap_or_else(Connected::Refused),
    }
}

/// Whose entry is under our name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    None,
    Ours,
    Foreign,
}

impl Entry {
    /// Ours runs a program called `engram`, whose last argument is the verb.
    fn of(command: &str, last: Option<&str>) -> Self {
        let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.strip_suffix(".exe").unwrap_or(name);
        match name == NAME && last == Some("mcp") {
            true => Self::Ours,
            false => Self::Foreign,
        }
    }
}

fn configuration(client: Client, place: &Place) -> Result<(PathBuf, Configuration), Refusal> {
    match client {
        Client::Claude => {
            let root = project_root(place.repo.as_deref())?;
            let file = Configuration::of_repository(&root, MCP)?;
            Ok((root.join(MCP), file))
        }
        Client::Codex => {
            let named = codex::path()?;
            let file = Configuration::of_user(&named)?;
            Ok((named, file))
        }
    }
}

/// Claude Code reads `.mcp.json` at the root of the working tree.
fn project_root(repo: Option<&Path>) -> Result<PathBuf, Refusal> {
    let repo = repo.ok_or_else(|| {
        Refusal::new(
            Code::RepoUnavailable,
            "this agent is configured in a repository, and none is open",
            "Open the repository first.",
        )
    })?;
    engram_engine::working_tree(repo)
}

fn add(client: Client, text: &str, server: &Server) -> Result<String, String> {
    match client {
        Client::Claude => claude::add(text, server),
        Client::Codex => codex::add(text, server),
    }
}

/// Removes our entry; puts back the foreign one of `before`, if there is one.
fn remove(client: Client, text: &str, before: Option<&str>) -> Result<String, String> {
    let is_foreign = |it: &&str| entry(client, it) == Ok(Entry::Foreign);
    let before = before.filter(is_foreign);
    match client {
        Client::Claude => claude::remove(text, before),
        Client::Codex => codex::remove(text, before),
    }
}

fn entry(client: Client, text: &str) -> Result<Entry, String> {
    match client {
        Client::Claude => claude::entry(text),
        Client::Codex => codex::entry(text),
    }
}
