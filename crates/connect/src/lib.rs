//! Connects agents to a home and disconnects them. It shows the change to a configuration, and to
//! the repository's advice to agents, and writes exactly that. The command and the window share it.
//!
//! Files are edited in place, so that comments, order and spacing survive. The home records each
//! change, so that undo restores the file byte for byte.
//!
//! **Never:** writes what was not shown, asks or prints anything, or knows its caller.

mod agents;
mod clients;
mod edit;
mod file;
mod json;
mod program;
mod record;
mod shown;
#[cfg(test)]
mod tests;
mod toml;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use engram_model::{Client, Code, ConnectReply, Connected, Connection, Refusal};

pub use program::{find_program, hints, short_name};
pub use record::configurations_naming;

use clients::dialect_of;
use edit::{Addition, FileEdit};
use file::{Configuration, read_only, unreadable};
use program::Server;
use record::EditRecord;

/// The name of our entry in every client.
const NAME: &str = "engram";
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
    advice: Vec<Advice>,
    replaces: bool,
}

/// The plan for a file of advice: `AGENTS.md`, or one that imports it.
enum Advice {
    /// It changes, or already is as it should be.
    Edit(Box<FileEdit>),
    /// It stays unchanged, since it cannot be changed safely.
    Left(PathBuf, Refusal),
}

impl ConfigurationChange {
    /// Plans to add our entry and our advice. `program` is what the agent will run.
    ///
    /// # Errors
    /// There is no file to change, it cannot be read, or the home's path is not UTF-8.
    pub fn connect(client: Client, place: &ConnectTarget, program: &str) -> Result<Self, Refusal> {
        let dialect = dialect_of(client);
        let server = dialect.server(program, place)?;
        let (named, file) = dialect.open(place)?;
        let add =
            |what| move |named, file| FileEdit::adding((client, what), &place.home, named, file);
        let mut advice = plan_advice(place, AGENTS, add(Addition::Advice));
        if let (Some((name, line)), [Advice::Edit(_)]) = (dialect.imports, &*advice) {
            advice.extend(plan_advice(place, name, add(Addition::Import(line))));
        }
        Ok(Self {
            advice: without_links(advice),
            ..Self::adding(client, &server, &place.home, named, file)?
        })
    }

    fn adding(
        client: Client,
        server: &Server,
        home: &Path,
        named: PathBuf,
        file: Configuration,
    ) -> Result<Self, Refusal> {
        let edit = FileEdit::adding((client, Addition::Entry(server)), home, named, file)?;
        Ok(Self {
            client,
            replaces: edit.before().is_some_and(|it| edit.is_foreign(it)),
            edit,
            advice: Vec::new(),
        })
    }

    /// Plans to remove our entry, and our advice unless another agent is connected here too. If the
    /// file is unchanged since, undo restores the original; otherwise it edits the file and puts
    /// back an entry that ours replaced.
    ///
    /// # Errors
    /// As [`ConfigurationChange::connect`].
    pub fn undo(client: Client, place: &ConnectTarget) -> Result<Self, Refusal> {
        let dialect = dialect_of(client);
        let (named, file) = dialect.open(place)?;
        let names = [AGENTS]
            .into_iter()
            .chain(dialect.imports.map(|(name, _)| name));
        let advice = names.flat_map(|name| {
            plan_advice(place, name, |named, file| {
                FileEdit::taking_out((client, false), &place.home, named, file)
            })
        });
        Ok(Self {
            advice: without_links(advice.collect()),
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
            advice: Vec::new(),
            replaces: false,
        })
    }

    /// The file to write, with links resolved.
    pub fn path(&self) -> &Path {
        &self.edit.file.path
    }

    /// Returns the files that change, each by its usual name and with links resolved.
    pub fn changed_files(&self) -> impl Iterator<Item = (&Path, &Path)> {
        let changes = self.edits().filter(|it| it.is_any());
        changes.map(|it| (&*it.named, &*it.file.path))
    }

    /// Returns the files of advice that the plan leaves as they are, each with the reason.
    pub fn left_files(&self) -> impl Iterator<Item = (&Path, &Refusal)> {
        self.advice.iter().filter_map(|it| match it {
            Advice::Edit(edit) => edit.kept.as_ref().map(|why| (&*edit.named, why)),
            Advice::Left(path, why) => Some((&**path, why)),
        })
    }

    /// Whether there is anything to write.
    pub fn is_any(&self) -> bool {
        self.edits().any(FileEdit::is_any)
    }

    /// Whether it replaces another server with our name, which undo puts back.
    pub fn replaces(&self) -> bool {
        self.replaces
    }

    fn edits(&self) -> impl Iterator<Item = &FileEdit> {
        let advice = self.advice.iter().filter_map(|it| match it {
            Advice::Edit(edit) => Some(&**edit),
            Advice::Left(..) => None,
        });
        [&self.edit].into_iter().chain(advice)
    }

    /// Writes all files or none, each only if it still holds what the plan started from.
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

/// Plans the edit of a file of advice at the root of the working tree, if one is open.
fn plan_advice(
    place: &ConnectTarget,
    name: &str,
    edit: impl FnOnce(PathBuf, Configuration) -> Result<FileEdit, Refusal>,
) -> Vec<Advice> {
    let Ok(root) = project_root(place.repo.as_deref()) else {
        return Vec::new();
    };
    let named = root.join(name);
    let file = Configuration::of_repository(&root, name);
    let planned = file.and_then(|file| edit(named.clone(), file));
    let writable = planned.and_then(|edit| {
        if edit.is_any() && edit.file.is_read_only() {
            Err(read_only(&edit.file.path))
        } else {
            Ok(edit)
        }
    });
    vec![match writable {
        Ok(edit) => Advice::Edit(Box::new(edit)),
        Err(why) => Advice::Left(named, why),
    }]
}

/// Drops each file that is a link to one before it: `CLAUDE.md` may be a link to `AGENTS.md`, or
/// vice versa.
fn without_links(mut advice: Vec<Advice>) -> Vec<Advice> {
    let mut paths = BTreeSet::new();
    advice.retain(|it| match it {
        Advice::Edit(edit) => paths.insert(edit.file.path.clone()),
        Advice::Left(..) => true,
    });
    advice
}

/// Returns whether an agent is connected. `program` is what it would run, if known.
pub fn connection(client: Client, place: &ConnectTarget, program: Option<&str>) -> Connection {
    let state = || -> Result<Connected, Refusal> {
        let dialect = dialect_of(client);
        let (named, file) = dialect.open(place)?;
        let text = file.text.as_deref().unwrap_or_default();
        let entry = dialect.entry_owner(text);
        let entry = entry.map_err(|why| unreadable(&file.path, &why))?;
        let server = dialect.server(program.unwrap_or(NAME), place)?;
        let change = ConfigurationChange::adding(client, &server, &place.home, named, file)?;
        Ok(match entry {
            EntryOwner::None => Connected::No,
            _ if change.replaces => Connected::Stranger,
            _ if program.is_some() && change.is_any() => Connected::Elsewhere,
            _ if dialect.serves_all_repositories() && lacks_advice(client, place) => {
                Connected::Unadvised
            }
            _ => Connected::Here,
        })
    };
    Connection {
        client,
        state: state().unwrap_or_else(Connected::Refused),
    }
}

/// Whether connecting would add our advice to this repository. Where the configuration is the
/// repository's own, the advice was offered with it.
fn lacks_advice(client: Client, place: &ConnectTarget) -> bool {
    let advice = plan_advice(place, AGENTS, |named, file| {
        FileEdit::adding((client, Addition::Advice), &place.home, named, file)
    });
    advice
        .iter()
        .any(|it| matches!(it, Advice::Edit(edit) if edit.is_any()))
}

/// The owner of the entry under our name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryOwner {
    None,
    Ours,
    /// It runs our program with settings that we do not write, such as an environment. If this home
    /// did not write the file, the repository's author chose those settings.
    Extended,
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

/// Returns the root of the working tree, where agents read their configuration.
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
