//! What the window shows of a pointed source: lines with their classes, never colours; how the
//! working tree reads now; who wrote it; and a document as parts that hold no markup.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Lines, Pointer, PointerInput};

/// The window's view of a pointed source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceView {
    /// What to show.
    pub pointer: PointerInput,
    /// Lines of surroundings on each side.
    pub context: u32,
}

/// What a piece of a line is to who reads code. The window gives it a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Anything else.
    Plain,
    /// A word of the language.
    Keyword,
    /// A literal text.
    Text,
    /// A number, `true`, `null`.
    Value,
    /// A comment.
    Comment,
    /// What is called or defined to be called.
    Function,
    /// A type, a tag.
    Type,
    /// An attribute, a key, a decorator.
    Name,
    /// A heading of a document.
    Heading,
}

/// Consecutive bytes of a line that are of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece(
    /// What they are.
    pub Class,
    /// How many bytes of the text, in UTF-8.
    pub u32,
);

/// What became of a line between two texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// It is in both, or there is only one text.
    #[default]
    Both,
    /// Only in the later one.
    Added,
    /// Only in the earlier one.
    Removed,
    /// Of neither: where a part of the change begins.
    Hunk,
}

/// One line of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLine {
    /// 1-based number in the file; 0 where it is in no file now.
    pub number: u32,
    /// In a comparison: its number in the earlier text; 0 where it is not in that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before: u32,
    /// Without its terminator; cut at 2,000 characters.
    pub text: String,
    /// How many bytes were cut off its end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: u32,
    /// Whether the pointer marks it.
    pub marked: bool,
    /// What became of it.
    #[serde(default, skip_serializing_if = "is_both")]
    pub side: Side,
    /// What its text is made of, from its beginning; none where the language is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_both(side: &Side) -> bool {
    *side == Side::Both
}

/// A pointed source with its surroundings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceReply {
    /// The exact pointer, pinned.
    pub pointer: Pointer,
    /// Path, section or name.
    pub label: String,
    /// `sha256:HEX` of the bytes of the full span.
    pub content_digest: String,
    /// Whether that is what was read when the engram was made; unknown when it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_matches: Option<bool>,
    /// The lines to show.
    pub lines: Vec<SourceLine>,
    /// Lines of the whole file.
    pub total_lines: u32,
    /// The language of the code, as a person calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The section as a document, where it is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub document: Vec<Block>,
    /// The file in the working tree, where it can be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_path: Option<String>,
    /// The line to open it at.
    pub open_line: u32,
}

/// How the working tree reads where a pointer was pinned, by bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The same bytes at the same lines.
    Same,
    /// The same bytes at other lines.
    Moved,
    /// The same bytes in another file.
    Renamed,
    /// Other bytes.
    Edited,
    /// The lines, or the file, are not there.
    Gone,
}

/// The span of a pointer in the working tree as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// In one word.
    pub reading: Reading,
    /// The file that it is in now, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where the span is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Lines>,
    /// What changed in it, the pinned text first; only where it was edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<SourceLine>,
}

/// Who wrote the lines of a span.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Blame {
    /// In the order of the lines.
    pub parts: Vec<BlamePart>,
}

/// Consecutive lines that one commit wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlamePart {
    /// In the pinned file.
    pub lines: Lines,
    /// The full id.
    pub commit: String,
    /// The author's name.
    pub author: String,
    /// When it was written.
    pub at: Timestamp,
    /// The first line of the message.
    pub summary: String,
    /// The history was not followed further than this commit: it wrote the lines, or an older one did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_before: bool,
}

/// A part of a document. Holds text only: no markup, nothing that is fetched or run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Block {
    /// A title.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Its words.
        text: Vec<Inline>,
    },
    /// Running text.
    Paragraph {
        /// Its words.
        text: Vec<Inline>,
    },
    /// Text as it stands: code, or markup that is not rendered.
    Code {
        /// Its lines.
        lines: Vec<SourceLine>,
    },
    /// Items.
    List {
        /// The number of the first one, where they are numbered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<u64>,
        /// Each a document of its own.
        items: Vec<Vec<Block>>,
    },
    /// What somebody else said.
    Quote {
        /// Its parts.
        blocks: Vec<Block>,
    },
    /// Rows of cells, the first row their titles.
    Table {
        /// Every row.
        rows: Vec<Vec<Vec<Inline>>>,
    },
    /// A line across.
    Rule,
}

/// Words of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Inline {
    /// As they are.
    Text {
        /// The words.
        text: String,
    },
    /// Of code, or markup that is not rendered.
    Code {
        /// The words.
        text: String,
    },
    /// With weight.
    Strong {
        /// The words.
        text: Vec<Inline>,
    },
    /// With stress.
    Emphasis {
        /// The words.
        text: Vec<Inline>,
    },
    /// Taken back.
    Struck {
        /// The words.
        text: Vec<Inline>,
    },
    /// With an address, which is told and not followed.
    Link {
        /// The words.
        text: Vec<Inline>,
        /// The address, cut at 300 characters.
        to: String,
    },
    /// A picture, which is told of and not shown.
    Picture {
        /// What it shows.
        text: Vec<Inline>,
        /// The address, cut at 300 characters.
        to: String,
    },
    /// A new line.
    Break,
}
