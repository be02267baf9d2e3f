//! Records of changes, kept in the home so that undo restores the file byte for byte.

use std::path::{Path, PathBuf};

use engram_engine::{read_file, write_home_file};
use engram_model::{Client, Refusal, shell_quoted};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{ConnectTarget, clients::dialect_of};

/// The folder of records in a home.
const RECORDS: &str = "connect";
/// The longest name of a record without its ending, in bytes; every file system allows 255 in all.
const MAX_FILE_NAME: usize = 220;
/// The largest record that is read, in bytes: a record holds two configurations, as JSON.
const MAX_RECORD: u64 = 32 << 20;

#[derive(Serialize, Deserialize)]
pub(crate) struct EditRecord {
    /// The file's path; absent in records of earlier builds.
    path: Option<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: String,
    /// The agents that need the change, for a file that several share.
    #[serde(default)]
    pub(crate) clients: Vec<Client>,
    /// Whether the file's folder was created for it.
    #[serde(default)]
    pub(crate) made_folder: bool,
}

impl EditRecord {
    pub(crate) fn new(named: &Path, before: Option<String>, after: &str) -> Self {
        Self {
            path: named.to_str().map(str::to_owned),
            before,
            after: after.to_owned(),
            clients: Vec::new(),
            made_folder: false,
        }
    }

    /// Whether another agent needs the change too.
    pub(crate) fn is_of_others(&self, client: Client) -> bool {
        self.clients.iter().any(|it| *it != client)
    }

    /// Returns the record with this agent added.
    pub(crate) fn with(self, client: Client) -> Self {
        let mut record = self.without(client);
        record.clients.push(client);
        record
    }

    /// Returns the record without this agent.
    pub(crate) fn without(mut self, client: Client) -> Self {
        self.clients.retain(|it| *it != client);
        self
    }

    /// Returns this home's record of a file, if it has one.
    pub(crate) fn of(home: &Path, named: &Path) -> Option<Self> {
        Self::find_with_path(home, named).map(|(_, record)| record)
    }

    /// Returns the record with its path.
    fn find_with_path(home: &Path, named: &Path) -> Option<(PathBuf, Self)> {
        let is_of_it = |it: &String| Path::new(it) == named;
        [record_name(named), former_name(named)]
            .iter()
            .find_map(|name| {
                let place = home.join(name);
                let record = Self::read(&place)?;
                // In earlier builds two files could share a record's name.
                let is_its = record.path.as_ref().is_none_or(is_of_it);
                is_its.then_some((place, record))
            })
    }

    /// Stores the record, which only the user can read, since it may hold the file's secrets.
    pub(crate) fn store(&self, home: &Path, named: &Path) -> Result<(), Refusal> {
        write_home_file(home, &record_name(named), &json!(self).to_string())
    }

    /// Removes the record after undo.
    pub(crate) fn forget(home: &Path, named: &Path) {
        if let Some((place, _)) = Self::find_with_path(home, named) {
            let _ = std::fs::remove_file(place);
        }
    }

    fn read(record: &Path) -> Option<Self> {
        serde_json::from_str(&read_file(record, MAX_RECORD).ok()?).ok()
    }
}

/// Returns the name of a record: as much of the path's end as fits, then a digest of the path.
fn record_name(named: &Path) -> String {
    let digest = Sha256::digest(named.as_os_str().as_encoded_bytes());
    let digest = hex::encode(&digest[..8]);
    format!("{RECORDS}/{}-{digest}.json", readable_name(named))
}

/// Returns the name that earlier builds gave.
fn former_name(named: &Path) -> String {
    format!("{RECORDS}/{}.json", readable_name(named))
}

fn readable_name(named: &Path) -> String {
    let name: String = named
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    let end = name.ceil_char_boundary(name.len().saturating_sub(MAX_FILE_NAME));
    name[end..].to_owned()
}

/// Lists the configurations that name a home's old path, each with the command that fixes it.
pub fn configurations_naming(
    former: &Path,
    home: &Path,
    repo: Option<&Path>,
) -> Vec<(PathBuf, String)> {
    let records = std::fs::read_dir(home.join(RECORDS)).into_iter().flatten();
    let written = records.filter_map(|it| EditRecord::read(&it.ok()?.path())?.path);
    let place = ConnectTarget {
        home: home.to_owned(),
        repo: repo.map(Path::to_owned),
    };
    let here = |client: &Client| dialect_of(*client).open(&place).ok().map(|(path, _)| path);
    let mut paths: Vec<PathBuf> = written.map(PathBuf::from).collect();
    paths.extend(Client::ALL.iter().filter_map(here));
    paths.sort();
    paths.dedup();
    let former = former.display().to_string();
    let names = |it: &PathBuf| read_file(it, MAX_RECORD).is_ok_and(|it| it.contains(&former));
    let named = paths.into_iter().filter(names);
    named
        .filter_map(|path| Some((path.clone(), command_for(&path)?)))
        .collect()
}

/// Returns the command that writes a configuration again, if the file is one.
fn command_for(path: &Path) -> Option<String> {
    Client::ALL.iter().find_map(|client| {
        let dialect = dialect_of(*client);
        let root = dialect.root_of(path);
        let repo = match root {
            Some(root) => format!(" --repo {}", shell_quoted(&root.display().to_string())),
            None if dialect.is_of_user(path) => String::new(),
            None => return None,
        };
        Some(format!("engram{repo} connect {}", client.name()))
    })
}
