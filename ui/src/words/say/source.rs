//! A source: what a pointer leads to.

pub const READING: &str = "Loading the source…";
pub const CUT_DOCUMENT: &str = "The document continues: read the rest as source.";
pub const RECORDED_BY: &str = "Recorded by ";
pub const WORKING_TREE: &str = "working tree ";
pub const IS_NOW: &str = "now a ";
pub const WHAT_CHANGED: &str = "What changed";
pub const AS_DOCUMENT: &str = "As a document";
pub const AS_SOURCE: &str = "As source";
pub const WHO_WROTE: &str = "Who wrote it";
pub const WHO_WROTE_LINES: &str = "Who wrote these lines";
pub const FOLLOWING: &str = "Following the history…";
pub const PINNED: &str = "Pinned";
pub const NOW: &str = "Working tree";
pub const SIDES: &str = "Pinned and working tree, side by side";
pub const UNCHANGED_LINES: super::Noun = ("unchanged line", "unchanged lines");
pub const UNFOLD: &str = "Show unchanged lines";
pub const NOTHING_LEFT: &str = "All of it was deleted";
pub const ADDED: &str = "added: ";
pub const REMOVED: &str = "removed: ";
pub const CODE: &str = "Code";
pub const TABLE: &str = "Table";
pub const PICTURE: &str = "picture: ";
pub const READING_LINE: &str = "Loading the line…";
pub const LONG_LINE: &str = "A long line";
pub const LINE_PART: &str = "Part of the line";
pub const EARLIER: &str = "Earlier";
pub const LATER: &str = "Later";
pub const CLOSE_LINE: &str = "Close the line";
pub const WHOLE_PICTURE: &str = "A picture has no lines: it is pinned and compared as a whole.";
pub const WHOLE_FILE: &str = "A binary file has no lines: it is pinned and compared as a whole.";
pub const ON_DISK: &str = "in the files on disk";
pub const KNOWN: &str = "Details";
pub const KNOWN_PIN: &str = "pinned";
pub const KNOWN_DIGEST: &str = "digest";
pub const KNOWN_STATE: &str = "last checked";

pub fn pinned(pin: &str) -> String {
    format!("pinned {pin}")
}

/// The heading of one side of a comparison, with its commit or file.
pub fn side(side: &str, of: &str) -> String {
    if of.is_empty() {
        side.to_owned()
    } else {
        format!("{side} · {of}")
    }
}

pub fn now_at(lines: &str) -> String {
    format!("now {lines}")
}

pub fn lines(start: u32, end: u32) -> String {
    if start == end {
        format!("line {start}")
    } else {
        format!("lines {start}–{end}")
    }
}

pub fn label(name: &str, language: Option<&str>, lines: &str) -> String {
    match language {
        Some(language) => format!("{name}, {language}, {lines} in all"),
        None => format!("{name}, {lines} in all"),
    }
}

pub fn more_of_span(lines: &str) -> String {
    format!("Not shown: {lines} of this span. Open the file in your editor to read the rest.")
}

pub fn more_of_comparison(lines: &str) -> String {
    format!("Not shown: {lines} of this comparison. Open the file in your editor to read the rest.")
}

pub fn more_of_blame(lines: &str) -> String {
    format!("Not shown: {lines} of this span. Run `git blame` to see who wrote them.")
}

pub fn show_more(next: usize, left: &str) -> String {
    format!("Show {next} of {left} more")
}

pub fn or_before(day: &str) -> String {
    format!("{day} or earlier")
}

pub fn more_characters(characters: &str) -> String {
    format!("… {characters} more")
}

pub fn read_on(line: u32, more: &str) -> String {
    format!("Continue line {line}: {more}")
}

pub fn line_part(line: &str, from: &str, to: &str, of: &str) -> String {
    format!("Line {line}, characters {from} to {to} of {of}")
}

pub fn stand_in(file: &str) -> String {
    format!("Git LFS keeps the file itself ({file}); these lines are committed in its place.")
}

pub fn as_text(media: &str) -> String {
    format!("{media}, shown as its source text.")
}

pub fn in_head(commit: &str) -> String {
    format!("in the checked-out commit, {commit}")
}

pub fn found_elsewhere(because: &str, place: &str) -> String {
    format!("{because}. The same bytes were found {place}, by their digest.")
}
