//! Reads how git stores a file of the working tree: gitattributes(5).

use std::path::{Path, PathBuf};

use engram_model::Refusal;

use crate::Repo;

use super::{Pattern, Steps, elsewhere, folds, lines, of_tree, of_user};

/// The largest staged attributes file that is read if it is missing on disk; real ones are a few
/// lines.
const MAX_STAGED: usize = 512 << 10;

/// The value of an attribute for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Unspecified,
    Set,
    Unset,
    Is(String),
}

/// The lines about one path, in order of precedence.
pub(crate) struct Attributes(Vec<Vec<(String, Value)>>);

impl Attributes {
    /// Reads the attributes of a path.
    ///
    /// # Errors
    ///
    /// The rules are not in a regular file, or are too many.
    pub(crate) fn of(repo: &Repo, root: &Path, path: &str) -> Result<Self, Refusal> {
        let (steps, folds) = (Steps::new(), folds(repo));
        let mut said = Vec::new();
        let mut hear = |bytes: Option<Vec<u8>>, within: &str| -> Result<(), Refusal> {
            let bytes = bytes.unwrap_or_default();
            for line in lines(&bytes).rev() {
                let Some((pattern, rest)) = split(line) else {
                    continue;
                };
                if Pattern::read(&pattern, folds).fits(within.as_bytes(), false, &steps)? {
                    said.push(values(rest));
                }
            }
            Ok(())
        };
        hear(elsewhere(&repo.common_dir().join("info/attributes"))?, path)?;
        let mut within = path;
        let folders: Vec<usize> = path.match_indices('/').map(|it| it.0).collect();
        for end in folders.iter().rev().map(|it| Some(*it)).chain([None]) {
            let folder = end.map_or("", |end| &path[..end]);
            within = end.map_or(path, |end| &path[end + 1..]);
            let name = PathBuf::from(folder).join(".gitattributes");
            let bytes = match of_tree(&root.join(&name))? {
                Some(bytes) => Some(bytes),
                None => read_staged(repo, &name),
            };
            hear(bytes, within)?;
        }
        if let Some(file) = of_user(repo, "core.attributesfile", "attributes") {
            hear(elsewhere(&file)?, within)?;
        }
        Ok(Self(said))
    }

    /// Returns the value of one attribute.
    pub(crate) fn get(&self, name: &str) -> Value {
        let mut said = self.0.iter().flat_map(|line| line.iter().rev());
        let found = said.find(|it| it.0 == name);
        found.map_or(Value::Unspecified, |it| it.1.clone())
    }
}

/// Returns the staged file, if it is not on disk.
fn read_staged(repo: &Repo, path: &Path) -> Option<Vec<u8>> {
    let entry = repo.index().ok()?.get_path(path, 0)?;
    if repo.size(entry.id).ok()? > MAX_STAGED {
        return None;
    }
    Some(
        repo.blob(entry.id, ".gitattributes")
            .ok()?
            .content()
            .to_vec(),
    )
}

/// Returns the pattern of a line and the attributes after it; `None` for a macro or anything but a
/// rule.
fn split(line: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let line = line.trim_ascii_start();
    if line.starts_with(b"[attr]") || line.starts_with(b"!") || line.starts_with(b"#") {
        return None;
    }
    let Some(quoted) = line.strip_prefix(b"\"") else {
        let end = line.iter().position(u8::is_ascii_whitespace)?;
        return Some((line[..end].to_vec(), &line[end..]));
    };
    let mut pattern = Vec::new();
    let mut bytes = quoted.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some((pattern, &quoted[at + 1..])),
            b'\\' => pattern.push(*bytes.next()?.1),
            byte => pattern.push(*byte),
        }
    }
    None
}

fn values(rest: &[u8]) -> Vec<(String, Value)> {
    let words = rest
        .split(u8::is_ascii_whitespace)
        .filter(|it| !it.is_empty());
    let mut values = Vec::new();
    for word in words {
        let word = String::from_utf8_lossy(word);
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Value::Is(value.to_owned())),
            None => match word.as_bytes().first() {
                Some(b'-') => (&word[1..], Value::Unset),
                Some(b'!') => (&word[1..], Value::Unspecified),
                _ => (&*word, Value::Set),
            },
        };
        // The only macro built into git.
        if name == "binary" && value == Value::Set {
            values.push(("text".to_owned(), Value::Unset));
        }
        values.push((name.to_owned(), value));
    }
    values
}
