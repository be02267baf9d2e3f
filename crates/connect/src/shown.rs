//! How a change is shown.

use engram_model::{ChangeShown, ChangedLine, FileLeft, FileShown, LineChange};
use serde_json::json;
use sha2::{Digest, Sha256};
use similar::{ChangeTag, TextDiff};

use crate::{ConfigurationChange, edit::FileEdit};

/// The number of unchanged lines shown around changed ones.
const AROUND: usize = 3;
/// The maximum number of lines, and of characters per line, that a page gets.
const LINES: usize = 400;
const CHARACTERS: usize = 400;

impl ConfigurationChange {
    /// Returns a unified diff of each file, under its path as `name` prints it.
    pub fn diff(&self, name: impl Fn(&std::path::Path) -> String) -> String {
        let diffs = self.edits().filter(|it| it.is_any());
        diffs.map(|it| it.diff(&name(&it.file.path))).collect()
    }

    pub(crate) fn change_shown(&self) -> ChangeShown {
        ChangeShown {
            client: self.client,
            files: self
                .edits()
                .filter(|it| it.is_any())
                .map(FileEdit::file_shown)
                .collect(),
            left: self
                .left_files()
                .map(|(path, why)| FileLeft {
                    path: path.display().to_string(),
                    why: why.clone(),
                })
                .collect(),
            replaces: self.replaces,
            is_any: self.is_any(),
            digest: self.digest(),
        }
    }

    /// Returns a digest of the old and the new text.
    fn digest(&self) -> String {
        let each = |it: &FileEdit| json!([it.file.path.to_string_lossy(), it.before(), it.after()]);
        let all: Vec<_> = self.edits().map(each).collect();
        hex::encode(Sha256::digest(json!(all).to_string()))
    }
}

impl FileEdit {
    fn diff(&self, name: &str) -> String {
        let before = self.before().unwrap_or_default();
        TextDiff::from_lines(before, self.after().unwrap_or_default())
            .unified_diff()
            .header(name, name)
            .to_string()
    }

    fn file_shown(&self) -> FileShown {
        let (path, named) = (&self.file.path, &self.named);
        let (lines, more) = self.changed_lines();
        FileShown {
            path: path.display().to_string(),
            link: (path != named).then(|| named.display().to_string()),
            kind: self.kind(),
            lines,
            more,
        }
    }

    /// Returns the changed lines with those around them, and how many lines are left out.
    fn changed_lines(&self) -> (Vec<ChangedLine>, u64) {
        let (before, after) = (self.before(), self.after());
        let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
        let mut lines = Vec::new();
        let mut more = 0;
        for (at, hunk) in diff.grouped_ops(AROUND).iter().enumerate() {
            let changes = hunk.iter().flat_map(|op| diff.iter_changes(op));
            for (nth, change) in changes.enumerate() {
                if lines.len() == LINES {
                    more += 1;
                    continue;
                }
                let text = change.value().trim_end_matches(['\r', '\n']);
                lines.push(ChangedLine {
                    change: match change.tag() {
                        ChangeTag::Equal => LineChange::Same,
                        ChangeTag::Delete => LineChange::Removed,
                        ChangeTag::Insert => LineChange::Added,
                    },
                    text: text.chars().take(CHARACTERS).collect(),
                    more: text.chars().skip(CHARACTERS).count() as u64,
                    is_apart: nth == 0 && at > 0,
                });
            }
        }
        (lines, more)
    }
}
