//! Connects agents to a home and disconnects them: shows the change to a configuration, and to the
//! repository's advice to agents, and writes exactly that. The command and the window share it.
//!
//! Files are edited in place, so that comments, order and spacing survive. The home records each change, so
//! that undo restores the file byte for byte.
//!
//! **Never:** writes what was not shown, asks or prints anything, or knows its caller.

mod agents;
mod claude;
mod codex;
mod edit;
mod file;
mod program;
mod record;
mod shown;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use engram_model::{Client, Code, ConnectReply, Connected, Connection, Refusal};

pub use program::{found, hints, short_name};
pub use record::naming;

use edit::{Addition, FileEdit};
use file::{Configuration, read_only, unreadable};
use program::Server;
use record::EditRecord;

/// The name of our entry in every client.
const NAME: &str = "engram";
/// What Claude Code reads of a repository.
const MCP: &str = ".mcp.json";
/// What many agents read of one.
const AGENTS: &str = "AGENTS.md";

/// Where an agent is connected.
#[derive(Clone, Debug)]
pub struct ConnectTarget {
    /// The home that it will use.
    pub home: PathBuf,
    /// A folder of the repository that it works in, if any.
    pub repo: Option<PathBuf>,
}

/// A change to an agent's configuration, and to the advice of the repository: planned, shown, and written if
/// agreed to.
pub struct ConfigurationChange {
    client: Client,
    edit: FileEdit,
    advice: Advice,
    replaces: bool,
}

/// What becomes of `AGENTS.md`.
enum Advice {
    /// Nothing: no working tree is open.
    None,
    /// It changes, or is as it should be.
    Edit(FileEdit),
    /// It stays as it is, since it cannot be changed safely.
    Left(PathBuf, Refusal),
}

impl ConfigurationChange {
    /// Adds our entry and our advice; `program` is what the agent will run.
    ///
    /// # Errors
    /// There is no file to change, it cannot be read, or the home's path is not UTF-8.
    pub fn connect(client: Client, place: &ConnectTarget, program: &str) -> Result<Self, Refusal> {
        let (named, file) = configuration(client, place)?;
        Ok(Self {
            advice: advice(place, |home, named, file| {
                FileEdit::adding((client, Addition::Advice), home, named, file)
            }),
            ..Self::adding(client, &place.home, named, file, program)?
        })
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
        let replaces = entry(client, text).map_err(|why| unreadable(&file.path, &why))?;
        let replaces = replaces == EntryOwner::Foreign;
        Ok(Self {
            client,
            edit: FileEdit::adding((client, Addition::Entry(&server)), home, named, file)?,
            advice: Advice::None,
            replaces,
        })
    }

    /// Removes our entry, and our advice unless another agent was connected here too: restores the original file if it
    /// is unchanged since, else edits the file, putting back an entry that ours replaced.
    ///
    /// # Errors
    /// As [`ConfigurationChange::connect`].
    pub fn undo(client: Client, place: &ConnectTarget) -> Result<Self, Refusal> {
        let (named, file) = configuration(client, place)?;
        Ok(Self {
            advice: advice(place, |home, named, file| {
                FileEdit::taking_out((client, false), home, named, file)
            }),
            ..Self::taking_out(client, &place.home, named, file)?
        })
    }

    fn taking_out(
        client: Client,
        home: &Path,
        named: PathBuf,
        file: Configuration,
    ) -> Result<Self, Refusal> {
        Ok(Self {
            client,
            edit: FileEdit::taking_out((client, true), home, named, file)?,
            advice: Advice::None,
            replaces: false,
        })
    }

    /// The file by its usual name.
    pub fn named(&self) -> &Path {
        &self.edit.named
    }

    /// The file to write, with links followed.
    pub fn path(&self) -> &Path {
        &self.edit.file.path
    }

    /// The repository's advice to agents, if it is changed; or where it is, and why it stays as it is.
    pub fn advice(&self) -> Option<(&Path, Option<&Refusal>)> {
        match &self.advice {
            Advice::Edit(edit) if edit.is_any() => Some((&edit.file.path, None)),
            Advice::Left(path, why) => Some((path, Some(why))),
            _ => None,
        }
    }

    /// Whether anything is to be written.
    pub fn is_any(&self) -> bool {
        self.edits().any(FileEdit::is_any)
    }

    /// Whether it replaces another server with our name; undo puts that back.
    pub fn replaces(&self) -> bool {
        self.replaces
    }

    fn edits(&self) -> impl Iterator<Item = &FileEdit> {
        let advice = match &self.advice {
            Advice::Edit(edit) => Some(edit),
            _ => None,
        };
        [&self.edit].into_iter().chain(advice)
    }

    /// Writes both files or neither, and each only over what it was planned from.
    ///
    /// # Errors
    /// A file changed meanwhile or cannot be written. What was written before it is put back; where that
    /// fails too, the refusal names the file that stays changed.
    pub fn write(&self) -> Result<(), Refusal> {
        // Nothing is written where one of them is another by now.
        for edit in self.edits() {
            edit.file.refuse_changed()?;
        }
        let mut begun = Vec::new();
        for edit in self.edits() {
            begun.push((edit, edit.record()));
            if let Err(why) = edit.write() {
                return Err(begun.into_iter().rev().fold(why, taken_back));
            }
        }
        Ok(())
    }

    /// Writes it if `digest` is that of the change as it is now; else shows it.
    ///
    /// # Errors
    /// As [`ConfigurationChange::write`].
    pub fn write_as_shown(&self, digest: Option<&str>) -> Result<ConnectReply, Refusal> {
        let shown = self.shown();
        if self.is_any() && digest == Some(&shown.digest) {
            self.write().map(|()| ConnectReply::Written)
        } else {
            Ok(ConnectReply::Shown(Box::new(shown)))
        }
    }
}

/// Takes an edit back after a refusal, and says what became of it.
fn taken_back(mut why: Refusal, (edit, record): (&FileEdit, Option<EditRecord>)) -> Refusal {
    let path = edit.file.path.display();
    match edit.take_back(record) {
        Ok(false) => {}
        Ok(true) => why.message.push_str(&format!("; {path} was put back")),
        Err(error) => {
            let left = format!("; {path} stays changed, since it could not be put back: {error}");
            why.message.push_str(&left);
            why.hint
                .push_str(&format!(" Then review {path}, which stays changed."));
        }
    }
    why
}

/// What is done to `AGENTS.md` at the root of the working tree, if one is open.
fn advice(
    place: &ConnectTarget,
    edit: impl FnOnce(&Path, PathBuf, Configuration) -> Result<FileEdit, Refusal>,
) -> Advice {
    let Ok(root) = project_root(place.repo.as_deref()) else {
        return Advice::None;
    };
    let named = root.join(AGENTS);
    let file = Configuration::of_repository(&root, AGENTS);
    let planned = file.and_then(|file| edit(&place.home, named.clone(), file));
    let writable = planned.and_then(|edit| {
        if edit.is_any() && edit.file.is_read_only() {
            Err(read_only(&edit.file.path))
        } else {
            Ok(edit)
        }
    });
    match writable {
        Ok(edit) => Advice::Edit(edit),
        Err(why) => Advice::Left(named, why),
    }
}

/// Whether an agent is connected; `program` is what it would run, if known.
pub fn connection(client: Client, place: &ConnectTarget, program: Option<&str>) -> Connection {
    let look = || -> Result<Connected, Refusal> {
        let (named, file) = configuration(client, place)?;
        let text = file.text.as_deref().unwrap_or_default();
        let entry = entry(client, text).map_err(|why| unreadable(&file.path, &why))?;
        let running = program.unwrap_or(NAME);
        let change = ConfigurationChange::adding(client, &place.home, named, file, running)?;
        Ok(match entry {
            EntryOwner::None => Connected::No,
            EntryOwner::Foreign => Connected::Stranger,
            EntryOwner::Ours if program.is_some() && change.is_any() => Connected::Elsewhere,
            EntryOwner::Ours => Connected::Here,
        })
    };
    Connection {
        client,
        state: look().unwrap_or_else(Connected::Refused),
    }
}

/// Whose entry is under our name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryOwner {
    None,
    Ours,
    Foreign,
}

impl EntryOwner {
    /// Ours runs a program called `engram`, whose last argument is the verb.
    fn of(command: &str, last: Option<&str>) -> Self {
        let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.strip_suffix(".exe").unwrap_or(name);
        if name == NAME && last == Some("mcp") {
            Self::Ours
        } else {
            Self::Foreign
        }
    }
}

fn configuration(
    client: Client,
    place: &ConnectTarget,
) -> Result<(PathBuf, Configuration), Refusal> {
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

fn entry(client: Client, text: &str) -> Result<EntryOwner, String> {
    match client {
        Client::Claude => claude::entry(text),
        Client::Codex => codex::entry(text),
    }
}
