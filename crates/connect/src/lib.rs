//! Connects agents to a home and disconnects them. It shows the change to a configuration, and to
//! the repository's advice to agents, and writes exactly that. The command and the window share it.
//!
//! Files are edited in place, so that comments, order and spacing survive. The home records each
//! change, so that undo restores the file byte for byte.
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

pub use program::{find_program, hints, short_name};
pub use record::configurations_naming;

use edit::{Addition, EditError, FileEdit};
use file::{Configuration, read_only, unreadable};
use program::Server;
use record::EditRecord;

/// The name of our entry in every client.
const NAME: &str = "engram";
/// The file that Claude Code reads in a repository.
const MCP: &str = ".mcp.json";
/// The file that many agents read in a repository.
const AGENTS: &str = "AGENTS.md";

/// What to connect an agent to.
#[derive(Clone, Debug)]
pub struct ConnectTarget {
    /// The home that the agent will use.
    pub home: PathBuf,
    /// A folder of the repository that the agent works in, if any.
    pub repo: Option<PathBuf>,
}

/// A planned change to an agent's configuration, and to the advice of the repository. It is shown,
/// and written if the user agrees.
pub struct ConfigurationChange {
    client: Client,
    edit: FileEdit,
    advice: Advice,
    replaces: bool,
}

/// The plan for `AGENTS.md`.
enum Advice {
    /// No plan: no working tree is open.
    None,
    /// It changes, or already is as it should be.
    Edit(FileEdit),
    /// It stays unchanged, since it cannot be changed safely.
    Left(PathBuf, Refusal),
}

impl ConfigurationChange {
    /// Plans to add our entry and our advice. `program` is what the agent will run.
    ///
    /// # Errors
    /// There is no file to change, it cannot be read, or the home's path is not UTF-8.
    pub fn connect(client: Client, place: &ConnectTarget, program: &str) -> Result<Self, Refusal> {
        let (named, file) = open_configuration(client, place)?;
        Ok(Self {
            advice: plan_advice(place, |home, named, file| {
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
        let replaces = entry_owner(client, text).map_err(|why| unreadable(&file.path, &why))?;
        let replaces = replaces == EntryOwner::Foreign;
        Ok(Self {
            client,
            edit: FileEdit::adding((client, Addition::Entry(&server)), home, named, file)?,
            advice: Advice::None,
            replaces,
        })
    }

    /// Plans to remove our entry, and our advice unless another agent is connected here too. If the
    /// file is unchanged since, undo restores the original; otherwise it edits the file and puts
    /// back an entry that ours replaced.
    ///
    /// # Errors
    /// As [`ConfigurationChange::connect`].
    pub fn undo(client: Client, place: &ConnectTarget) -> Result<Self, Refusal> {
        let (named, file) = open_configuration(client, place)?;
        Ok(Self {
            advice: plan_advice(place, |home, named, file| {
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
    pub fn usual_path(&self) -> &Path {
        &self.edit.named
    }

    /// The file to write, with links resolved.
    pub fn path(&self) -> &Path {
        &self.edit.file.path
    }

    /// Returns the path of the repository's advice to agents if it changes, or that path with the
    /// reason why it stays unchanged.
    pub fn advice(&self) -> Option<(&Path, Option<&Refusal>)> {
        match &self.advice {
            Advice::Edit(edit) if edit.is_any() => Some((&edit.file.path, None)),
            Advice::Left(path, why) => Some((path, Some(why))),
            _ => None,
        }
    }

    /// Whether there is anything to write.
    pub fn is_any(&self) -> bool {
        self.edits().any(FileEdit::is_any)
    }

    /// Whether it replaces another server of our name, which undo puts back.
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

    /// Writes both files or neither, each only if it still holds what the plan started from.
    ///
    /// # Errors
    /// A file has changed or cannot be written. Files written before it are restored; if that fails
    /// too, the refusal names the file that stays changed.
    pub fn write(&self) -> Result<(), Refusal> {
        // Write nothing if one of the files has changed.
        for edit in self.edits() {
            edit.file.refuse_changed()?;
        }
        let mut begun = Vec::new();
        for edit in self.edits() {
            begun.push((edit, edit.record()));
            if let Err(why) = edit.write() {
                return Err(begun.into_iter().rev().fold(why, after_taking_back));
            }
        }
        Ok(())
    }

    /// Writes the change if `digest` matches it as it is now; otherwise returns it to be shown.
    ///
    /// # Errors
    /// As [`ConfigurationChange::write`].
    pub fn write_as_shown(&self, digest: Option<&str>) -> Result<ConnectReply, Refusal> {
        let shown = self.change_shown();
        if self.is_any() && digest == Some(&shown.digest) {
            self.write().map(|()| ConnectReply::Written)
        } else {
            Ok(ConnectReply::Shown(Box::new(shown)))
        }
    }
}

/// Takes an edit back after a refusal and adds the outcome to the refusal.
fn after_taking_back(mut why: Refusal, (edit, record): (&FileEdit, Option<EditRecord>)) -> Refusal {
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

/// Plans the edit of `AGENTS.md` at the root of the working tree, if one is open.
fn plan_advice(
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

/// Returns whether an agent is connected. `program` is what it would run, if known.
pub fn connection(client: Client, place: &ConnectTarget, program: Option<&str>) -> Connection {
    let state = || -> Result<Connected, Refusal> {
        let (named, file) = open_configuration(client, place)?;
        let text = file.text.as_deref().unwrap_or_default();
        let entry = entry_owner(client, text).map_err(|why| unreadable(&file.path, &why))?;
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
        state: state().unwrap_or_else(Connected::Refused),
    }
}

/// The owner of the entry under our name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryOwner {
    None,
    Ours,
    Foreign,
}

impl EntryOwner {
    /// An entry is ours if it runs a program called `engram` with `mcp` as its last argument.
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

fn open_configuration(
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

/// Returns the root of the working tree, where Claude Code reads `.mcp.json`.
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

fn entry_owner(client: Client, text: &str) -> Result<EntryOwner, EditError> {
    match client {
        Client::Claude => claude::entry_owner(text),
        Client::Codex => codex::entry_owner(text),
    }
}
