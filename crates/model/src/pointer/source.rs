//! What the window shows of a pointed source: lines with their classes, never colors; how the
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
    /// Without the pieces of the lines where finding them would take long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub soon: bool,
}

/// What a piece of a line is to who reads code. The window gives it a color.
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
    /// Without its terminator; cut where it is longer than a person reads across.
    pub text: String,
    /// How many characters were cut off its end: [`crate::Request::Line`] has them.
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
    /// Whether the lines have pieces that were not waited for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpainted: bool,
    /// The language of the code, as a person calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What the file is, where it is not read line by line, or not only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
    /// Where the lines were found, where they could not be read as they were pinned: the same bytes,
    /// by their digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_in: Option<FoundIn>,
    /// Lines of the span, or of the comparison, that are not sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u32,
    /// Who recorded the event that is shown, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// The section as a document, where it is one; so is the text of an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub document: Vec<Block>,
    /// Whether the document continues after these parts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub document_cut: bool,
    /// The file in the working tree, where it can be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_path: Option<String>,
    /// The line to open it at.
    pub open_line: u32,
}

/// A file that is not read line by line, or not only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// What it is to a person.
    pub kind: MediaKind,
    /// Its format as a person calls it, such as `PNG`; none where nothing tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// In bytes.
    pub size: u64,
    /// Width and height in pixels, where the file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<(u32, u32)>,
    /// `sha256:HEX` of the file that a stand-in stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// What a file is that is not read line by line, or not only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// Pixels.
    Picture,
    /// A picture that is written as text: its lines are shown.
    Drawing,
    /// The lines that Git LFS commits in the place of a large file: they are shown.
    StandIn,
    /// Any other binary bytes.
    Binary,
}

impl MediaKind {
    /// Whether there are lines to show.
    pub fn has_lines(self) -> bool {
        matches!(self, Self::Drawing | Self::StandIn)
    }
}

/// Who recorded an event, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// As they are called.
    pub by: String,
    /// The moment.
    pub at: Timestamp,
}

/// Where lines were found that could not be read as they were pinned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundIn {
    /// Why they could not be read as they were pinned.
    pub because: String,
    /// A full commit id; none for the files on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A part of one long line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineView {
    /// Of what.
    pub pointer: PointerInput,
    /// Its 1-based number among the lines of what is pinned.
    pub number: u32,
    /// How many of its characters stand before the part.
    pub from: u64,
}

/// To [`LineView`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineReply {
    /// The part.
    pub text: String,
    /// Characters of the whole line.
    pub total: u64,
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

/// The span of a pointer in the current working tree.
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
    /// Lines of the change that are not sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u32,
    /// What the file is now, if it is binary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
}

/// Who wrote the lines of a span.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Blame {
    /// In the order of the lines.
    pub parts: Vec<BlamePart>,
    /// Lines at the end of a long span whose history was not followed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u32,
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
    /// What someone else said.
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
    /// With an address, which is shown but not followed.
    Link {
        /// The words.
        text: Vec<Inline>,
        /// The address, cut at 300 characters.
        to: String,
    },
    /// A picture, which is described but not shown.
    Picture {
        /// What it shows.
        text: Vec<Inline>,
        /// The address, cut at 300 characters.
        to: String,
    },
    /// A new line.
    Break,
}
