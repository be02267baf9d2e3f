//! The edit of one file: adds or removes a part of ours; undo restores what was there.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use engram_model::{Client, Code, FileChange, Refusal};

use crate::{
    EntryOwner, agents,
    clients::{Dialect, dialect_of},
    file::{Configuration, unreadable},
    program::Server,
    record::EditRecord,
};

/// Why a text cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EditError {
    /// The parser's message, on one line.
    Syntax(String),
    /// Something else is where our entry belongs.
    Shape(&'static str),
    /// The value of this name is not an object.
    NoObject(&'static str),
    /// A name that may appear once.
    Repeated(&'static str),
    /// The marker lines around our section are not one pair.
    Markers,
}

impl EditError {
    pub(crate) fn syntax(message: &str) -> Self {
        Self::Syntax(message.replace('\n', " "))
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) => f.write_str(message),
            Self::Shape(what) => f.write_str(what),
            Self::NoObject(name) => write!(f, "{name} is not an object"),
            Self::Repeated(name) => write!(f, "{name} appears twice"),
            Self::Markers => write!(
                f,
                "the lines {} and {} must each appear exactly once, in this order",
                agents::BEGIN,
                agents::END
            ),
        }
    }
}

impl std::error::Error for EditError {}

/// The part of ours that is added to a file.
pub(crate) enum Addition<'a> {
    /// An entry of an agent's configuration.
    Entry(&'a Server),
    /// The section of `AGENTS.md`.
    Advice,
    /// This line, which imports `AGENTS.md` into the file that the agent reads instead.
    Import(&'static str),
}

/// A change to one file.
pub(crate) struct FileEdit {
    client: Client,
    /// Whether the file is the agent's configuration; otherwise it is advice, which several agents
    /// may share.
    is_entry: bool,
    undoes: bool,
    home: PathBuf,
    /// The file by its usual name, which may be a link.
    pub(crate) named: PathBuf,
    pub(crate) file: Configuration,
    after: Option<String>,
    /// Why undo leaves our part in the file.
    pub(crate) kept: Option<Refusal>,
}

/// Why undo leaves advice that another connected agent reads.
fn read_by_others() -> Refusal {
    Refusal::new(
        Code::ScopeDenied,
        "another connected agent reads it",
        "It is removed when you undo the last connection that uses it.",
    )
}

impl FileEdit {
    pub(crate) fn adding(
        (client, what): (Client, Addition<'_>),
        home: &Path,
        named: PathBuf,
        file: Configuration,
    ) -> Result<Self, Refusal> {
        let mut edit = Self {
            client,
            is_entry: matches!(what, Addition::Entry(_)),
            undoes: false,
            home: home.to_owned(),
            named,
            after: None,
            file,
            kept: None,
        };
        let text = edit.before().unwrap_or_default();
        let after = match &what {
            Addition::Entry(server) => {
                let replaces = edit.is_foreign(text);
                edit.dialect().add(text, server, replaces)
            }
            Addition::Advice => agents::add(text, agents::ADVICE),
            Addition::Import(line) => agents::import(text, line),
        };
        edit.after = Some(after.map_err(|why| unreadable(&edit.file.path, &why))?);
        Ok(edit)
    }

    pub(crate) fn taking_out(
        (client, is_entry): (Client, bool),
        home: &Path,
        named: PathBuf,
        file: Configuration,
    ) -> Result<Self, Refusal> {
        let mut edit = Self {
            client,
            is_entry,
            undoes: true,
            home: home.to_owned(),
            named,
            file,
            after: None,
            kept: None,
        };
        let record = edit.record();
        let is_kept = record.as_ref().is_some_and(|it| it.is_of_others(client));
        edit.kept = (is_kept && edit.before().is_some()).then(read_by_others);
        edit.after = match (edit.before(), record) {
            (None, _) => None,
            (Some(now), Some(known)) if known.is_of_others(client) => Some(now.to_owned()),
            (Some(now), Some(known)) if known.after == now => known.before,
            // A foreign entry is not ours to remove.
            (Some(now), _) if edit.is_foreign(now) => Some(now.to_owned()),
            (Some(now), known) => {
                let before = known.and_then(|it| it.before);
                let left = edit.without(now, before.as_deref());
                let left = left.map_err(|why| unreadable(&edit.file.path, &why))?;
                // A file that held nothing else was ours alone.
                let is_bare = left != now && edit.is_bare(&left);
                Some(left).filter(|_| !is_bare || before.is_some())
            }
        };
        Ok(edit)
    }

    /// Returns a text without our part, and with the foreign entry of `before`, if there is one.
    fn without(&self, text: &str, before: Option<&str>) -> Result<String, EditError> {
        let before = before.filter(|it| self.is_foreign(it));
        if self.is_entry {
            self.dialect().remove(text, before)
        } else {
            agents::remove(text)
        }
    }

    /// Whether the entry under our name in this text is somebody else's.
    pub(crate) fn is_foreign(&self, text: &str) -> bool {
        // A file of a repository may have changed since this home wrote it, as by a pull.
        let is_known =
            || self.file.is_of_user() || self.record().is_some_and(|it| it.after == text);
        self.is_entry
            && match self.dialect().entry_owner(text) {
                Ok(EntryOwner::Foreign) => true,
                Ok(EntryOwner::Extended) => !is_known(),
                _ => false,
            }
    }

    /// Whether a text says nothing without our part.
    fn is_bare(&self, text: &str) -> bool {
        if self.is_entry {
            self.dialect().is_bare(text)
        } else {
            text.trim().is_empty()
        }
    }

    fn dialect(&self) -> &'static Dialect {
        dialect_of(self.client)
    }

    /// Returns the home's record of the file.
    pub(crate) fn record(&self) -> Option<EditRecord> {
        EditRecord::of(&self.home, &self.named)
    }

    pub(crate) fn is_any(&self) -> bool {
        self.before() != self.after()
    }

    pub(crate) fn before(&self) -> Option<&str> {
        self.file.text.as_deref()
    }

    pub(crate) fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    pub(crate) fn kind(&self) -> FileChange {
        match (self.before(), self.after()) {
            (None, Some(_)) => FileChange::Created,
            (Some(_), None) => FileChange::Removed,
            _ => FileChange::Edited,
        }
    }

    /// Writes all or nothing, and only if the file still holds the text that the edit started from.
    pub(crate) fn write(&self) -> Result<(), Refusal> {
        let known = self.record();
        if self.undoes {
            if self.is_any() {
                self.file.write(self.after())?;
            }
            if self.after.is_none() && known.as_ref().is_some_and(|it| it.made_folder) {
                self.file.remove_empty_folder();
            }
            return match known.filter(|it| it.is_of_others(self.client)) {
                Some(known) => known.without(self.client).store(&self.home, &self.named),
                None => {
                    EditRecord::forget(&self.home, &self.named);
                    Ok(())
                }
            };
        }
        let clients = known.as_ref().map(|it| it.clients.clone());
        let made_before = known.as_ref().is_some_and(|it| it.made_folder);
        if let (Some(after), true) = (self.after(), self.is_any()) {
            let mut record = EditRecord::new(&self.named, self.text_to_restore(known), after);
            record.clients = clients.unwrap_or_default();
            record.made_folder = made_before || !self.file.has_folder();
            record.with(self.client).store(&self.home, &self.named)?;
            return self.file.write(self.after());
        }
        // Another agent is connected here, so the text that it needs is in the file.
        match known {
            Some(known) => known.with(self.client).store(&self.home, &self.named),
            None => Ok(()),
        }
    }

    /// Restores the file and the home's record of it, whether [`FileEdit::write`] finished or not.
    /// Returns whether the file had been written.
    pub(crate) fn take_back(&self, known: Option<EditRecord>) -> Result<bool, Refusal> {
        let is_written = self.file.put_back(self.after())?;
        let made_folder = self.record().is_some_and(|it| it.made_folder);
        if made_folder && self.before().is_none() {
            self.file.remove_empty_folder();
        }
        match known {
            Some(known) => known.store(&self.home, &self.named)?,
            None => EditRecord::forget(&self.home, &self.named),
        }
        Ok(is_written)
    }

    /// Returns the text that undo restores.
    fn text_to_restore(&self, known: Option<EditRecord>) -> Option<String> {
        let before = self.before()?;
        match known {
            // We wrote this file before: keep the original that was recorded then.
            Some(known) if known.after == before => known.before,
            // Undo puts back a server that ours replaces.
            _ if self.is_foreign(before) => Some(before.to_owned()),
            // A file that already has our part is not the original: undo removes that part, and
            // with it the file, if it says nothing else.
            _ => {
                let left = self.without(before, None).unwrap_or(before.to_owned());
                let is_bare = left != before && self.is_bare(&left);
                Some(left).filter(|_| !is_bare)
            }
        }
    }
}
