//! What a pointer addresses: resolved, pinned, digested and read, through git2.
//!
//! A pinned pointer is answered from commits and stored snapshots alone; the working tree is read
//! only for `@worktree`, and then snapshotted at once. The digest is the sha256 of the bytes of
//! the full span as stored, whatever a reader is shown of them.
//!
//! A repository may be a stranger's: what is asked of it is bounded in memory, waits for nobody and
//! ends when [`Stop`] says so.
//!
//! **Never:** no SQL, no writes to a repository but the refs that keep pinned commits, no hooks, no
//! git command, no clock. The network only for `url:` and only where the user turned it on.

mod anchors;
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

pub use anchors::{Anchors, Found, Origin, Pinned, Stand, Stands};
pub use engram_model::operation::Snapshot;
pub use git::{keep::copied, repo::Repo};
pub use stop::Stop;
pub use text::{
    encoding::{Encoding, text_of},
    landmarks::Large,
};
pub use view::{View, blame::blame, line, source, standing::standing};
pub use worktree::watch::{Coverage, Stir, Watch};

/// What is not in git, handed in by the caller.
pub trait Shelf {
    /// What was stored of this path or under this name, by the lower-case hex of its sha256.
    fn blob(&self, path: &str, digest_hex: &str) -> Result<Option<Vec<u8>>, Refusal>;
    /// The event of that kind and slug on that day: its text, who recorded it, and when.
    fn event(
        &self,
        kind: &str,
        slug: &str,
        date: Date,
    ) -> Result<Option<(String, Recorded)>, Refusal>;
    /// Whether the user turned `url:` on.
    fn urls_allowed(&self) -> bool;
    /// The commit that was checked out when a file of the working tree was kept, where known.
    fn base(&self, _path: &str, _digest_hex: &str) -> Option<String> {
        None
    }
}

/// Bytes of a file that are kept on either side of a span; even, since some encodings take two a letter.
pub const AROUND: usize = 16 << 10;

/// What a pointer addresses.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Pinned: full commit ids, `@worktree` become a digest; carries the digest of the span.
    pub pointer: Pointer,
    /// The bytes of the full span: its lines with their terminators, as stored.
    pub bytes: Vec<u8>,
    /// What the file holds before and after the span, up to [`AROUND`] bytes each: what begins or ends
    /// there is known for what it is.
    pub around: [Vec<u8>; 2],
    /// Of a diff, the file at both ends: what a line of it is part of.
    pub compared: Vec<Vec<u8>>,
    /// How `bytes` encode text; a span of UTF-16 does not begin with the mark that says so.
    pub encoding: Encoding,
    /// Whether the file is no text: a whole artifact can be, and has nothing to read.
    pub is_binary: bool,
    /// Where the span is in the file, for sections and tests too; absent for a whole file.
    pub lines: Option<Lines>,
    /// To be stored by the caller when the pin was `@worktree`.
    pub snapshot: Option<Snapshot>,
}

impl Resolved {
    /// Refuses to be read if it is binary.
    pub fn refuse_binary(&self) -> Result<(), Refusal> {
        if self.is_binary {
            Err(refuse::binary(self.pointer.name()))
        } else {
            Ok(())
        }
    }

    /// The span for a reader.
    pub fn text(&self) -> String {
        self.encoding.decode(&self.bytes)
    }

    /// The beginning of the span for a reader who cannot use more than `max_chars` characters;
    /// costs as much as is shown, however long the span.
    pub fn text_up_to(&self, max_chars: usize) -> String {
        self.encoding.decode_up_to(&self.bytes, max_chars)
    }
}

/// Resolves a pointer, pins it and reads its span. What is no text can be an artifact, as a whole, and
/// nothing else.
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

/// Lower-case hex of a sha256.
fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
