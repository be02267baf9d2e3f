//! A change as it is shown.

use engram_model::{ChangeShown, ChangedLine, LineChange};
use serde_json::json;
use sha2::{Digest, Sha256};
use similar::{ChangeTag, TextDiff};

use crate::Change;

/// Unchanged lines that are shown around those that change.
const AROUND: usize = 3;
/// Most lines, and most characters of each, that a page is sent.
const LINES: usize = 400;
const CHARACTERS: usize = 400;

impl Change {
    /// As a unified diff, under this name.
    pub fn diff(&self, name: &str) -> String {
        let before = self.before().unwrap_or_default();
        TextDiff::from_lines(before, self.after().unwrap_or_default())
            .unified_diff()
            .header(name, name)
            .to_string()
    }

    pub(crate) fn shown(&self) -> ChangeShown {
        let (path, named) = (self.path(), self.named());
        let (lines, more) = self.lines();
        ChangeShown {
            client: self.client,
            path: path.display().to_string(),
            link: (path != named).then(|| named.display().to_string()),
            kind: self.kind(),
            replaces: self.replaces,
            is_any: self.is_any(),
            lines,
            more,
            digest: self.digest(),
        }
    }

    /// The changed lines with their surroundings, and how many lines are left out.
    fn lines(&self) -> (Vec<ChangedLine>, u64) {
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

    /// Covers the old and the new text.
    fn digest(&self) -> String {
        let all = json!([self.path().to_string_lossy(), self.before(), self.after()]);
        hex::encode(Sha256::digest(all.to_string()))
    }
}
