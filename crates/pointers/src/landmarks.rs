//! What a newcomer would point at: the latest changes of a repository, and its largest source files.

use engram_model::Refusal;
use git2::{Delta, ObjectType, TreeWalkMode, TreeWalkResult};

use crate::{Encoding, Repo, refuse};

/// How far back changes are looked for, and how many files are weighed.
const MAX_COMMITS: usize = 200;
const MAX_FILES: usize = 20_000;
/// A longer file is data, not source.
const MAX_BYTES: usize = 1 << 20;
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
            if changes.len() >= most {
                break;
            }
            if commit.parent_count() == 1 {
                // What a shallow clone left out ends the history.
                let Ok(Some(change)) = self.change(&commit) else {
                    break;
                };
                changes.extend(change);
            }
            let Ok(parent) = commit.parent(0) else { break };
            commit = parent;
        }
        Ok(changes)
    }

    /// Nothing in the list where no file was left; nothing at all where the parent is not here.
    fn change(&self, commit: &git2::Commit) -> Result<Option<Option<Change>>, git2::Error> {
        let parent = commit.parent(0)?;
        let diff =
            self.git
                .diff_tree_to_tree(Some(&parent.tree()?), Some(&commit.tree()?), None)?;
        let left = diff.deltas().find(|it| {
            it.status() != Delta::Deleted && !it.flags().is_binary() && it.new_file().size() > 0
                || it.status() == Delta::Modified
        });
        let path = left.and_then(|it| Some(it.new_file().path()?.to_str()?.to_owned()));
        let Some(path) = path else {
            return Ok(Some(None));
        };
        let stats = diff.stats()?;
        let summary = String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default());
        Ok(Some(Some(Change {
            commit: commit.id().to_string(),
            parent: parent.id().to_string(),
            summary: summary.chars().take(MAX_SUMMARY).collect(),
            path,
            files: stats.files_changed(),
            added: stats.insertions(),
            removed: stats.deletions(),
        })))
    }

    /// The longest source files of the commit that is checked out, longest first.
    pub fn largest_files(&self, most: usize) -> Result<Vec<Large>, Refusal> {
        let Some(head) = self.head().1 else {
            return Ok(Vec::new());
        };
        let broken = |error: git2::Error| refuse::broken("the tree that is checked out", &error);
        let tree = self.commit(&head)?.tree().map_err(broken)?;
        let odb = self.git.odb().map_err(broken)?;
        let mut sizes: Vec<(usize, String, git2::Oid)> = Vec::new();
        let mut seen = 0usize;
        let walked = tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
            seen += 1;
            if seen > MAX_FILES {
                return TreeWalkResult::Abort;
            }
            let (Ok(name), Some(ObjectType::Blob)) = (entry.name(), entry.kind()) else {
                return TreeWalkResult::Ok;
            };
            if is_source(name)
                && let Ok((size, _)) = odb.read_header(entry.id())
                && size <= MAX_BYTES
            {
                sizes.push((size, format!("{folder}{name}"), entry.id()));
            }
            TreeWalkResult::Ok
        });
        if let Err(error) = walked
            && seen <= MAX_FILES
        {
            return Err(broken(error));
        }
        sizes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let mut files = Vec::new();
        for (_, path, id) in sizes.into_iter().take(most * 4) {
            let blob = self.git.find_blob(id).map_err(broken)?;
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
