//! Shows unified diffs as lines of two texts, including diffs that Engram did not make.

use engram_model::{DiffSide, Pointer, SourceLine, Target};

use crate::view::paint_one;

use super::paint::Grammar;

/// Returns whether a pointer addresses a diff.
pub(crate) fn is_one(pointer: &Pointer) -> bool {
    match &pointer.target {
        Target::Diff { .. } => true,
        Target::Artifact { name, .. } => {
            let name = name.to_ascii_lowercase();
            name.ends_with(".diff") || name.ends_with(".patch")
        }
        _ => false,
    }
}

/// Turns a unified diff into lines of two texts: the signs become sides, the headers of hunks
/// become line numbers. The lengths in those headers tell the hunks from the text around them.
pub(crate) fn sides(lines: &mut Vec<SourceLine>, language: Option<&Grammar>, is_of_one_file: bool) {
    let mut hunk = Hunk::default();
    let mut painter = None;
    let mut named: Option<Grammar> = None;
    for line in lines.iter_mut() {
        line.marked = false;
        (line.number, line.before) = (0, 0);
        let sign = line.text.chars().next();
        let Some(side) = hunk.side(sign) else {
            line.side = DiffSide::Hunk;
            if let Some(next) = Hunk::read(&line.text) {
                hunk = next;
                painter = named.as_ref().or(language).map(Grammar::painter);
            } else if let Some(path) = line.text.strip_prefix("+++ ")
                && !is_of_one_file
            {
                named = Grammar::of(path.strip_prefix("b/").unwrap_or(path).trim_end(), "");
            }
            // An empty line would be shown as a gap.
            if line.text.is_empty() {
                line.text.push(' ');
            }
            continue;
        };
        line.side = side;
        if sign.is_some() {
            line.text.remove(0);
        }
        (line.before, line.number) = hunk.advance(side);
        paint_one(painter.as_mut(), line);
    }
    if is_of_one_file {
        // The title already shows the file and its commits.
        let head = ["diff --git ", "--- ", "+++ ", "index "];
        lines.retain(|line| {
            line.side != DiffSide::Hunk || !head.iter().any(|it| line.text.starts_with(it))
        });
    }
}

/// The position in a hunk: the next line numbers of both texts, and how many lines are left.
#[derive(Default)]
struct Hunk {
    before: u32,
    now: u32,
    left_before: u32,
    left_now: u32,
}

impl Hunk {
    /// Reads `@@ -12,3 +14,4 @@`.
    fn read(text: &str) -> Option<Self> {
        let (old, rest) = text.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let part = |part: &str| -> Option<(u32, u32)> {
            let (first, count) = part.split_once(',').unwrap_or((part, "1"));
            Some((first.parse().ok()?, count.parse().ok()?))
        };
        let ((before, left_before), (now, left_now)) = (part(old)?, part(new)?);
        Some(Self {
            before,
            now,
            left_before,
            left_now,
        })
    }

    /// Returns the side of a line with this sign; `None` if it is not a line of the hunk.
    fn side(&self, sign: Option<char>) -> Option<DiffSide> {
        match sign {
            Some('+') if self.left_now > 0 => Some(DiffSide::Added),
            Some('-') if self.left_before > 0 => Some(DiffSide::Removed),
            // Mail and editors strip the space from an empty line.
            Some(' ') | None if self.left_now > 0 && self.left_before > 0 => Some(DiffSide::Both),
            _ => None,
        }
    }

    /// Advances past a line of this side, and returns its numbers in the earlier and the later
    /// text.
    fn advance(&mut self, side: DiffSide) -> (u32, u32) {
        let step = |next: &mut u32, left: &mut u32, is_there: bool| {
            if is_there {
                *left = left.saturating_sub(1);
                std::mem::replace(next, next.saturating_add(1))
            } else {
                0
            }
        };
        (
            step(
                &mut self.before,
                &mut self.left_before,
                side != DiffSide::Added,
            ),
            step(&mut self.now, &mut self.left_now, side != DiffSide::Removed),
        )
    }
}
