//! Lines that a person marks in a source, and the pointer to them.

use engram_model::{DiffSide, Lines, Pin, Pointer, SourceReply, Target};

/// Marked lines, from where marking began to where it is now, in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marking {
    /// Where it began.
    pub from: u32,
    /// Where it is now.
    pub to: u32,
}

impl Marking {
    /// Marks one line.
    pub fn at(line: u32) -> Self {
        Self {
            from: line,
            to: line,
        }
    }

    /// Extends or shrinks the marking to this line.
    pub fn reaching(self, to: u32) -> Self {
        Self { to, ..self }
    }

    /// Moves the end of the marking by a line, within the source.
    pub fn stepped(self, is_down: bool, within: Lines) -> Self {
        let to = if is_down {
            self.to.saturating_add(1)
        } else {
            self.to.saturating_sub(1)
        };
        self.reaching(to.clamp(within.start, within.end))
    }

    /// Returns the marked lines.
    pub fn lines(self) -> Lines {
        Lines {
            start: self.from.min(self.to),
            end: self.from.max(self.to),
        }
    }
}

/// Returns the lines of a source that can be marked; none if it does not show lines of one file.
pub fn markable(source: &SourceReply) -> Option<Lines> {
    let numbers = || source.lines.iter().map(|it| it.number).filter(|it| *it > 0);
    let lines = Lines {
        start: numbers().min()?,
        end: numbers().max()?,
    };
    marked_pointer(source, lines).map(|_| lines)
}

/// Returns the pointer to lines of a source, with the source's pin.
pub fn marked_pointer(source: &SourceReply, lines: Lines) -> Option<Pointer> {
    let is_compared = source.lines.iter().any(|it| it.side != DiffSide::Both);
    if is_compared || source.found_in.is_some() {
        return None;
    }
    let (path, pin) = match &source.pointer.target {
        Target::Repo { path, pin, .. } | Target::Test { path, pin, .. } => (path, pin),
        // An artifact pinned by its digest may not be a file of the repository.
        Target::Artifact {
            name,
            pin: pin @ Pin::Rev(_),
            ..
        } => (name, pin),
        Target::Artifact { .. } | Target::Diff { .. } | Target::Sam { .. } | Target::Url { .. } => {
            return None;
        }
    };
    let target = Target::Repo {
        path: path.clone(),
        lines: Some(lines),
        pin: pin.clone(),
    };
    Some(Pointer {
        target,
        digest: None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn source(pointer: &str) -> SourceReply {
        let line = |number: u32| json!({"number": number, "text": "x", "marked": false});
        let lines: Vec<_> = (8..=20).map(line).collect();
        let source = json!({
            "pointer": pointer, "label": "a", "content_digest": "sha256:00", "lines": lines,
            "total_lines": 40, "open_line": 9
        });
        serde_json::from_value(source).unwrap()
    }

    #[test]
    fn marking_goes_either_way_and_stays_on_the_lines() {
        let within = Lines { start: 8, end: 20 };
        let mut marking = Marking::at(9);
        for (is_down, start, end) in [
            (true, 9, 10),
            (false, 9, 9),
            (false, 8, 9),
            (false, 8, 9),
            (true, 9, 9),
        ] {
            marking = marking.stepped(is_down, within);
            assert_eq!(marking.lines(), Lines { start, end });
        }
        assert_eq!(marking.reaching(3).lines(), Lines { start: 3, end: 9 });
        let last = Marking::at(u32::MAX).stepped(true, within);
        assert_eq!(last.to, 20);
    }

    #[test]
    fn a_pointer_is_pinned_as_what_is_shown() {
        let commit = "d873713".repeat(6)[..40].to_owned();
        let kept = "4d7a".repeat(16);
        for (shown, want) in [
            (
                format!("repo:src/a.rs#L9@{commit}"),
                Some(format!("repo:src/a.rs#L9-L12@{commit}")),
            ),
            (
                format!("repo:src/a.rs@{commit}"),
                Some(format!("repo:src/a.rs#L9-L12@{commit}")),
            ),
            (
                format!("repo:src/a.rs#L9@sha256:{kept}"),
                Some(format!("repo:src/a.rs#L9-L12@sha256:{kept}")),
            ),
            (
                format!("test:src/a.rs::works@{commit}"),
                Some(format!("repo:src/a.rs#L9-L12@{commit}")),
            ),
            (
                format!("artifact:docs/a.md#sec=One@{commit}"),
                Some(format!("repo:docs/a.md#L9-L12@{commit}")),
            ),
            (format!("artifact:plan@sha256:{kept}"), None),
            ("sam:note:a@2026-01-08".to_owned(), None),
            ("url:https://example.org/a".to_owned(), None),
        ] {
            let source = source(&shown);
            let lines = Lines { start: 9, end: 12 };
            let led = marked_pointer(&source, lines).map(|it| it.to_string());
            assert_eq!(led, want, "{shown}");
            let can = markable(&source);
            assert_eq!(can, want.map(|_| Lines { start: 8, end: 20 }), "{shown}");
        }
        let mut compared = source(&format!("repo:src/a.rs#L9@{commit}"));
        compared.lines[1].side = DiffSide::Added;
        assert_eq!(markable(&compared), None);
        let mut empty = source(&format!("repo:src/a.rs#L9@{commit}"));
        empty.lines.clear();
        assert_eq!(markable(&empty), None);
    }
}
