//! Resolves, pins, digests and reads what a pointer addresses, through git2.
//!
//! Pinned pointers are read from commits and stored snapshots alone. The working tree is read only
//! for `@worktree`, and a snapshot is taken at once. The digest is the sha256 of the stored bytes
//! of the full span, even if a reader is shown less.
//!
//! A repository may be a stranger's, so each read of it has a memory limit, never blocks, and ends
//! when [`Stop`] says so.
//!
//! **Never:** no SQL, no writes to a repository but the refs that keep pinned commits, no hooks, no
//! git command, no clock. The network only for `url:` and only where the user turned it on.

mod anchors;
mod complete;
mod diff;
mod git;
mod locate;
mod recover;
mod refuse;
mod stop;
mod text;
pub mod track;
mod view;
mod web;
mod worktree;

use engram_model::{Lines, Pointer, Recorded, Refusal, Target};
use jiff::civil::Date;
use sha2::{Digest, Sha256};

pub use anchors::{Anchors, FoundAnchor, PinnedSpan, SpanOrigin, SpanStanding, SpanStandings};
pub use complete::completions;
pub use engram_model::operation::Snapshot;
pub use git::{keep::pinned_to_copy, repo::Repo};
pub use stop::Stop;
pub use text::{
    encoding::{Encoding, text_of},
    landmarks::LargeFile,
};
pub use view::{View, blame::blame, line, source, standing::standing_of};
pub use worktree::watch::{Coverage, TreeEvent, Watch};

/// Supplies content that is not in git; the caller implements it.
pub trait Shelf {
    /// Returns what was stored for this path or name, by the lower-case hex of its sha256.
    fn blob(&self, path: &str, digest_hex: &str) -> Result<Option<Vec<u8>>, Refusal>;
    /// Returns the event of that kind and slug on that day: its text, who recorded it, and when.
    fn event(
        &self,
        kind: &str,
        slug: &str,
        date: Date,
    ) -> Result<Option<(String, Recorded)>, Refusal>;
    /// Returns whether the user turned `url:` on.
    fn urls_allowed(&self) -> bool;
    /// Returns the commit that was checked out when a file of the working tree was kept, if known.
    fn base(&self, _path: &str, _digest_hex: &str) -> Option<String> {
        None
    }
}

/// The bytes of a file that are kept on either side of a span; even, since some encodings use two
/// bytes for a letter.
pub const AROUND: usize = 16 << 10;

/// What a pointer addresses.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The pointer as pinned: full commit ids, a digest in place of `@worktree`, and the digest of
    /// the span.
    pub pointer: Pointer,
    /// The bytes of the full span: its lines with their terminators, as stored.
    pub bytes: Vec<u8>,
    /// The bytes of the file before and after the span, up to [`AROUND`] each, to recognise what
    /// begins or ends there.
    pub around: [Vec<u8>; 2],
    /// For a diff, the file at both ends, to show what each line is part of.
    pub compared: Vec<Vec<u8>>,
    /// The text encoding of `bytes`; a span of UTF-16 does not begin with a byte order mark.
    pub encoding: Encoding,
    /// Whether the file is binary: it can be a whole artifact, and has no text to read.
    pub is_binary: bool,
    /// The lines of the span in the file, for sections and tests too; `None` for a whole file.
    pub lines: Option<Lines>,
    /// The snapshot that the caller must store if the pin was `@worktree`.
    pub snapshot: Option<Snapshot>,
}

impl Resolved {
    /// Refuses if the file is binary, and so cannot be read.
    pub fn refuse_binary(&self) -> Result<(), Refusal> {
        if self.is_binary {
            Err(refuse::binary(self.pointer.name()))
        } else {
            Ok(())
        }
    }

    /// Returns the decoded text of the span.
    pub fn text(&self) -> String {
        self.encoding.decode(&self.bytes)
    }

    /// Returns the beginning of the span, at most `max_chars` characters. The cost depends on the
    /// characters returned, not on the length of the span.
    pub fn text_up_to(&self, max_chars: usize) -> String {
        self.encoding.decode_up_to(&self.bytes, max_chars)
    }
}

/// Resolves a pointer, pins it and reads its span. A binary file resolves only as a whole artifact.
pub fn resolve(
    repo: Option<&Repo>,
    shelf: &dyn Shelf,
    pointer: &Pointer,
) -> Result<Resolved, Refusal> {
    let mut found = locate::locate(repo, shelf, pointer)?;
    let is_binary = found.is_binary;
    if is_binary && !matches!(pointer.target, Target::Artifact { .. }) {
        return Err(refuse::binary_source(pointer));
    }
    let encoding = found.encoding;
    let lines = found.lines;
    let around = found.around();
    let compared = std::mem::take(&mut found.compared);
    let (pointer, bytes, snapshot) = found.into_parts();
    Ok(Resolved {
        pointer,
        bytes,
        around,
        compared,
        encoding,
        is_binary,
        lines,
        snapshot,
    })
}

/// Returns the sha256 in lower-case hex.
fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
