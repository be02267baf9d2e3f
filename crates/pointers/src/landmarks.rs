//! What a newcomer would point at: the latest changes of a repository, and its largest source files.

use engram_model::Refusal;
use git2::Patch;

use crate::{
    Encoding, Repo, refuse,
    trees::{self, Entry},
};

/// How far back changes are looked for, and how many files are weighed.
const MAX_COMMITS: usize = 200;
const MAX_FILES: usize = 20_000;
/// A longer file is data, not source.
const MAX_BYTES: usize = 1 << 20;
/// Of one change so much is counted, in files of up to this size.
const MAX_READ: usize = 2 << 20;
const MAX_CHANGED: usize = 256 << 10;
const MAX_SUMMARY: usize = 120;

/// A commit with one parent, and what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its id, and that of its parent.
    pub commit: String,
    /// See above.
    pub parent: String,
    /// The first line of its message.
    pub summary: String,
    /// The file that it changed, or the first of them in the order of the tree.
    pub path: String,
    /// How many it changed.
    pub files: usize,
    /// Lines that came, and lines that went.
    pub added: usize,
    /// See above.
    pub removed: usize,
}

/// A source file of the commit that is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// Where it is.
    pub path: String,
    /// How many lines it has.
    pub lines: u64,
}

impl Repo {
    /// The newest changes that left a file to look at, newest first.
    pub fn newest_changes(&self, most: usize) -> Result<Vec<Change>, Refusal> {
        let Some(head) = self.head().1 else {
            return Ok(Vec::new());
        };
        let mut changes = Vec::new();
        let mut commit = self.commit(&head)?;
        for _ in 0..MAX_COMMITS {
            if changes.len() >= most || self.stop().is_due() {
                break;
            }
            if commit.parent_count() == 1 {
                // What a shallow clone left out ends the history.
                let Ok(change) = self.change(&commit) else {
                    break;
                };
                changes.extend(change);
            }
            let parent = commit.parent_id(0).and_then(|it| self.commit_of_id(it));
            let Ok(parent) = parent else { break };
            commit = parent;
        }
        Ok(changes)
    }

    /// Nothing in the list where no file was left, or too much changed to be told at a glance;
    /// nothing at all where the parent is not here.
    fn change(&self, commit: &git2::Commit) -> Result<Option<Change>, Refusal> {
        let broken = |e: git2::Error| refuse::broken("a commit", &e);
        let parent = commit.parent_id(0).map_err(broken)?;
        let tree = self.commit_of_id(parent).map_err(broken)?.tree_id();
        let differences = trees::differences(self, tree, commit.tree_id())?;
        let (mut path, mut added, mut removed, mut read) = (None, 0, 0, 0);
        for (before, after) in &differences {
            let (old, new) = (self.side(before.as_ref())?, self.side(after.as_ref())?);
            read += old.len() + new.len();
            if read > MAX_READ {
                return Ok(None);
            }
            let is_left = after.is_some() && !new.is_empty() && !is_binary(&new);
            if is_left || (before.is_some() && after.is_some()) {
                path = path.or_else(|| after.as_ref().map(|it| it.path.clone()));
            }
            if !is_binary(&old) && !is_binary(&new) {
                let patch = Patch::from_buffers(&old, None, &new, None, None).map_err(broken)?;
                let (_, came, went) = patch.line_stats().map_err(broken)?;
                (added, removed) = (added + came, removed + went);
            }
        }
        let summary = String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default());
        Ok(path.map(|path| Change {
            commit: commit.id().to_string(),
            parent: parent.to_string(),
            summary: summary.chars().take(MAX_SUMMARY).collect(),
            path,
            files: differences.len(),
            added,
            removed,
        }))
    }

    /// A file at one end of a change. One that is too large has nothing to show.
    fn side(&self, file: Option<&Entry>) -> Result<Vec<u8>, Refusal> {
        let Some(file) = file else {
            return Ok(Vec::new());
        };
        match self.size(file.blob) {
            Ok(size) if size <= MAX_CHANGED => {
                Ok(self.blob(file.blob, &file.path)?.content().to_vec())
            }
            Ok(_) => Ok(Vec::new()),
            Err(e) => Err(refuse::broken(&refuse::quoted(&file.path), &e)),
        }
    }

    /// The longest source files of the commit that is checked out, longest first.
    pub fn largest_files(&self, most: usize) -> Result<Vec<Large>, Refusal> {
        let Some(head) = self.head().1 else {
            return Ok(Vec::new());
        };
        let tree = self.commit(&head)?.tree_id();
        let mut sizes: Vec<(usize, String, git2::Oid)> = Vec::new();
        trees::each_file(self, tree, MAX_FILES, |path, id| {
            let name = path.rsplit_once('/').map_or(path, |it| it.1);
            if is_source(name)
                && let Ok(size) = self.size(id)
                && size <= MAX_BYTES
            {
                sizes.push((size, path.to_owned(), id));
            }
            true
        })?;
        sizes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let mut files = Vec::new();
        for (_, path, id) in sizes.into_iter().take(most * 4) {
            let blob = self.blob(id, &path)?;
            if !blob.is_binary() {
                let lines = Encoding::Utf8.count_lines(blob.content());
                files.push(Large { path, lines });
            }
        }
        files.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.path.cmp(&b.path)));
        files.truncate(most);
        Ok(files)
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    Encoding::of_file(bytes).is_none()
}

/// By its ending: what people write, not what tools do.
fn is_source(name: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "c", "cc", "cpp", "cs", "css", "dart", "ex", "go", "h", "hpp", "hs", "java", "jl", "js",
        "jsx", "kt", "lua", "md", "ml", "php", "pl", "py", "r", "rb", "rs", "scala", "sh", "sql",
        "swift", "ts", "tsx", "vue", "zig",
    ];
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|it| ENDINGS.contains(&it)) && !name.contains(".min.")
}
