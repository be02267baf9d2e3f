//! Suggests what a newcomer could point at: the longest source files of a repository.

use engram_model::{Pin, Pointer, Refusal, Target, is_hidden};

use crate::{Encoding, Repo, git::trees};

/// The most files that are considered.
const MAX_FILES: usize = 20_000;
/// A longer file is data, not source.
const MAX_BYTES: usize = 1 << 20;
/// A longer path does not fit a sentence.
const MAX_PATH: usize = 160;

/// A source file of the commit that is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeFile {
    /// The path of the file.
    pub path: String,
    /// Its number of lines.
    pub lines: u64,
}

impl Repo {
    /// Returns the longest source files of the commit that is checked out, longest first.
    pub fn largest_files(&self, most: usize) -> Result<Vec<LargeFile>, Refusal> {
        let Some(head) = self.head().1 else {
            return Ok(Vec::new());
        };
        let tree = self.commit(&head)?.tree_id();
        let mut sizes: Vec<(usize, String, git2::Oid)> = Vec::new();
        trees::each_file(self, tree, MAX_FILES, |path, id| {
            if is_source(path)
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
                files.push(LargeFile { path, lines });
            }
        }
        files.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.path.cmp(&b.path)));
        files.truncate(most);
        Ok(files)
    }
}

/// Returns whether a path has the ending of a file that people write, and fits a sentence.
pub(crate) fn is_source(path: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "c", "cc", "cpp", "cs", "css", "dart", "ex", "go", "h", "hpp", "hs", "java", "jl", "js",
        "jsx", "kt", "lua", "md", "ml", "php", "pl", "py", "r", "rb", "rs", "scala", "sh", "sql",
        "swift", "ts", "tsx", "vue", "zig",
    ];
    let is_plain = |c: char| !c.is_control() && !is_hidden(c) && c != '`';
    if path.chars().count() > MAX_PATH || !path.chars().all(is_plain) {
        return false;
    }
    let name = path.rsplit_once('/').map_or(path, |it| it.1);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|it| ENDINGS.contains(&it))
        && !name.contains(".min.")
        && can_be_pointed_at(path)
}

/// Returns whether a pointer can name a path; git allows paths that none can.
fn can_be_pointed_at(path: &str) -> bool {
    let target = Target::Repo {
        path: path.to_owned(),
        lines: None,
        pin: Pin::Rev("HEAD".to_owned()),
    };
    let pointer = Pointer {
        target,
        digest: None,
    };
    pointer.to_string().parse::<Pointer>().is_ok()
}
