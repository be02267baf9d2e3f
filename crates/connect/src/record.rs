//! What was done, kept in the home so that it can be undone to the byte.

use std::path::{Path, PathBuf};

use engram_engine::{keep_file, read_file};
use engram_model::{Client, Refusal, quoted};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{MCP, codex, project_root};

/// Where a home keeps what was done.
const RECORDS: &str = "connect";
/// Longest name of a record without its ending, in bytes; no file system has less than 255 in all.
const LONGEST: usize = 240;
/// Largest file that is read here, in bytes: a record holds two configurations, as JSON.
const LARGEST: u64 = 32 << 20;

#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    /// The configuration; records of earlier builds do not say.
    path: Option<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

impl Record {
    pub(crate) fn new(named: &Path, before: Option<String>, after: &str) -> Self {
        Self {
            path: named.to_str().map(str::to_owned),
            before,
            after: after.to_owned(),
        }
    }

    /// What was done to this file, as far as this home knows.
    pub(crate) fn of(home: &Path, named: &Path) -> Option<Self> {
        let record = Self::read(&home.join(name(named)))?;
        // Names of two files may come to the same.
        let is_of_it = |it: &String| Path::new(it) == named;
        record.path.as_ref().is_none_or(is_of_it).then_some(record)
    }

    /// With whatever secrets stand in the file: for the user alone.
    pub(crate) fn keep(&self, home: &Path, named: &Path) -> Result<(), Refusal> {
        keep_file(home, &name(named), &json!(self).to_string())
    }

    /// Undone, there is nothing to go back to.
    pub(crate) fn forget(home: &Path, named: &Path) {
        if Self::of(home, named).is_some() {
            let _ = std::fs::remove_file(home.join(name(named)));
        }
    }

    fn read(record: &Path) -> Option<Self> {
        serde_json::from_str(&read_file(record, LARGEST).ok()?).ok()
    }
}

/// The place of a record in a home: the path, or of a long one as much of its end as a name can be.
fn name(named: &Path) -> String {
    let name: String = named
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    let end = name.ceil_char_boundary(name.len().saturating_sub(LONGEST));
    format!("{RECORDS}/{}.json", &name[end..])
}

/// Configurations that name the place where a home was, each with the command that mends it.
pub fn naming(former: &Path, home: &Path, repo: Option<&Path>) -> Vec<(PathBuf, String)> {
    let records = std::fs::read_dir(home.join(RECORDS)).into_iter().flatten();
    let written = records.filter_map(|it| Record::read(&it.ok()?.path())?.path);
    let here = project_root(repo).map(|it| it.join(MCP));
    let mut paths: Vec<PathBuf> = written.map(PathBuf::from).collect();
    paths.extend(here.into_iter().chain(codex::path()));
    paths.sort();
    paths.dedup();
    let former = former.display().to_string();
    let mut named = Vec::new();
    for path in paths {
        if read_file(&path, LARGEST).is_ok_and(|it| it.contains(&former)) {
            let command = match path.ends_with(MCP) {
                true => {
                    let root = path.parent().unwrap_or(&path).display().to_string();
                    let agent = Client::Claude.name();
                    format!("engram --repo {} connect {agent}", quoted(&root))
                }
                false => format!("engram connect {}", Client::Codex.name()),
            };
            named.push((path, command));
        }
    }
    named
}
