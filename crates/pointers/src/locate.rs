//! Finds the file that a pointer addresses, and the span within it.

use std::ops::Range;

use engram_model::{Code, Lines, Pin, Pointer, Refusal, Target};

use crate::{
    AROUND, Encoding, Repo, Shelf, Snapshot, diff,
    git::tree,
    refuse, sha256_hex,
    text::{definition, section},
    web, worktree,
};

/// Sections and definitions are searched for in files up to these sizes; lines in any file that is
/// read.
const MAX_DOCUMENT: usize = 4 << 20;
const MAX_SOURCE: usize = 16 << 20;

/// The bytes of a file, borrowed from git where possible.
pub(crate) enum Content<'r> {
    Blob(git2::Blob<'r>),
    Bytes(Vec<u8>),
}

impl Content<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Blob(blob) => blob.content(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// A pointed file, and the span in it.
pub(crate) struct PointedFile<'r> {
    /// The pinned pointer, with the digest of the span.
    pub(crate) pointer: Pointer,
    pub(crate) file: Content<'r>,
    pub(crate) encoding: Encoding,
    /// Whether the file is binary and has no lines.
    pub(crate) is_binary: bool,
    /// The position of the span's bytes in the file.
    pub(crate) range: Range<usize>,
    /// The span's lines; `None` for a whole file.
    pub(crate) lines: Option<Lines>,
    pub(crate) snapshot: Option<Snapshot>,
    /// The line of the file in the working tree to show first when a person opens it.
    pub(crate) open_line: u32,
    /// For a diff, the file at both ends.
    pub(crate) compared: Vec<Vec<u8>>,
}

impl PointedFile<'_> {
    /// Returns the bytes around the span in its file.
    pub(crate) fn around(&self) -> [Vec<u8>; 2] {
        let file = self.file.bytes();
        let Range { start, end } = self.range;
        let before = file.get(start.saturating_sub(AROUND)..start);
        let after = file.get(end..end.saturating_add(AROUND).min(file.len()));
        [before, after].map(|it| it.unwrap_or_default().to_vec())
    }

    pub(crate) fn into_parts(self) -> (Pointer, Vec<u8>, Option<Snapshot>) {
        let bytes = match self.file {
            Content::Bytes(bytes) if self.range == (0..bytes.len()) => bytes,
            file => file.bytes()[self.range].to_vec(),
        };
        (self.pointer, bytes, self.snapshot)
    }
}

/// A file as pinned.
struct PinnedFile<'r> {
    content: Content<'r>,
    pin: Pin,
    snapshot: Option<Snapshot>,
    /// `None` for a binary.
    encoding: Option<Encoding>,
}

pub(crate) fn locate<'r>(
    repo: Option<&'r Repo>,
    shelf: &dyn Shelf,
    pointer: &Pointer,
) -> Result<PointedFile<'r>, Refusal> {
    match &pointer.target {
        Target::Repo { path, lines, pin } => {
            let file = read_pinned(repo, shelf, path, pin)?;
            span_of_file(&pointer.target, file, path, *lines)
        }
        Target::Artifact { name, section, pin } => {
            let file = read_pinned(repo, shelf, name, pin)?;
            let lines = match section {
                Some(heading) => Some(section::find(
                    &searchable_text(&file, name, MAX_DOCUMENT)?,
                    heading,
                    name,
                )?),
                None => None,
            };
            span_of_file(&pointer.target, file, name, lines)
        }
        Target::Test { path, name, pin } => {
            let file = read_pinned(repo, shelf, path, pin)?;
            let lines = definition::find(&searchable_text(&file, path, MAX_SOURCE)?, path, name)?;
            span_of_file(&pointer.target, file, path, Some(lines))
        }
        Target::Diff {
            base,
            head,
            path,
            lines,
        } => span_of_diff(repo, base, head, path, *lines),
        Target::Sam { kind, slug, date } => match shelf.event(kind, slug, *date)? {
            Some((text, _)) => {
                let target = pointer.target.clone();
                Ok(whole_content(
                    target,
                    text.into_bytes(),
                    Some(Encoding::Utf8),
                    1,
                ))
            }
            None => Err(refuse::not_found(
                format!("there is no event sam:{kind}:{slug} on {date}"),
                "Check its kind, slug and date; a note that was just stored has today's date (UTC).",
            )),
        },
        Target::Url { url, digest } => {
            let expected = [digest.as_deref(), digest_of(pointer)];
            let bytes = web::read(shelf, url, &expected)?;
            let encoding = Encoding::of_file(&bytes);
            let target = Target::Url {
                url: url.clone(),
                digest: Some(sha256_hex(&bytes)),
            };
            Ok(whole_content(target, bytes, encoding, 1))
        }
    }
}

/// Returns the lines that a diff changes in one file.
fn span_of_diff<'r>(
    repo: Option<&'r Repo>,
    base: &str,
    head: &str,
    path: &str,
    lines: Option<Lines>,
) -> Result<PointedFile<'r>, Refusal> {
    let repo = repo.ok_or_else(refuse::no_repository)?;
    let change = diff::between(repo, base, head, path, lines)?;
    let target = Target::Diff {
        base: change.base,
        head: change.head,
        path: path.to_owned(),
        lines,
    };
    let found = whole_content(target, change.text, Some(Encoding::Utf8), change.first_line);
    Ok(PointedFile {
        compared: change.files.into(),
        ..found
    })
}

/// Returns the hex digest that the pointer carries.
fn digest_of(pointer: &Pointer) -> Option<&str> {
    let digest = pointer.digest.as_deref()?;
    Some(digest.strip_prefix("sha256:").unwrap_or(digest))
}

/// Returns the span in a file; the target takes the pin of the file.
fn span_of_file<'r>(
    target: &Target,
    file: PinnedFile<'r>,
    name: &str,
    lines: Option<Lines>,
) -> Result<PointedFile<'r>, Refusal> {
    let bytes = file.content.bytes();
    let range = match lines {
        None => 0..bytes.len(),
        Some(lines) => file
            .encoding
            .ok_or_else(|| refuse::binary(name))?
            .span(bytes, lines)
            .map_err(|total| refuse::past_end(name, lines.end, total))?,
    };
    let mut target = target.clone();
    if let Target::Repo { pin, .. } | Target::Artifact { pin, .. } | Target::Test { pin, .. } =
        &mut target
    {
        *pin = file.pin;
    }
    Ok(PointedFile {
        pointer: with_digest(target, &bytes[range.clone()]),
        range,
        lines,
        open_line: lines.map_or(1, |lines| lines.start),
        encoding: file.encoding.unwrap_or(Encoding::Utf8),
        is_binary: file.encoding.is_none(),
        snapshot: file.snapshot,
        file: file.content,
        compared: Vec::new(),
    })
}

/// Returns content that is not part of a file.
fn whole_content<'r>(
    target: Target,
    bytes: Vec<u8>,
    encoding: Option<Encoding>,
    open_line: u32,
) -> PointedFile<'r> {
    PointedFile {
        pointer: with_digest(target, &bytes),
        range: 0..bytes.len(),
        lines: None,
        open_line,
        encoding: encoding.unwrap_or(Encoding::Utf8),
        is_binary: encoding.is_none(),
        snapshot: None,
        file: Content::Bytes(bytes),
        compared: Vec::new(),
    }
}

fn with_digest(target: Target, span: &[u8]) -> Pointer {
    Pointer {
        target,
        digest: Some(format!("sha256:{}", sha256_hex(span))),
    }
}

/// Reads a file by its pin. Only `@worktree` reads the working tree.
fn read_pinned<'r>(
    repo: Option<&'r Repo>,
    shelf: &dyn Shelf,
    path: &str,
    pin: &Pin,
) -> Result<PinnedFile<'r>, Refusal> {
    let (content, pin, snapshot) = match pin {
        Pin::Digest(hex) => (
            Content::Bytes(read_stored(shelf, path, hex)?),
            pin.clone(),
            None,
        ),
        Pin::Rev(rev) => {
            let repo = repo.ok_or_else(refuse::no_repository)?;
            let commit = repo.commit_on_disk(rev)?;
            let blob = tree::blob(repo, &commit, path)?;
            (Content::Blob(blob), Pin::Rev(commit.id().to_string()), None)
        }
        Pin::Worktree => {
            let repo = repo.ok_or_else(refuse::no_repository)?;
            let snapshot = worktree::snapshot(repo, path)?;
            let pin = Pin::Digest(snapshot.digest_hex.clone());
            (Content::Bytes(snapshot.bytes.clone()), pin, Some(snapshot))
        }
    };
    Ok(PinnedFile {
        encoding: Encoding::of_file(content.bytes()),
        content,
        pin,
        snapshot,
    })
}

fn read_stored(shelf: &dyn Shelf, name: &str, hex: &str) -> Result<Vec<u8>, Refusal> {
    let short: String = hex.chars().take(7).collect();
    let bytes = shelf.blob(name, hex)?.ok_or_else(|| {
        refuse::not_found(
            format!("no artifact {short} is stored for {}", refuse::quoted(name)),
            "It was redacted or never stored here: pin to a commit, or to @worktree to store it now.",
        )
    })?;
    if sha256_hex(&bytes) != hex {
        return Err(Refusal::new(
            Code::StoreCorrupt,
            format!("the stored artifact {short} is damaged: its digest does not match"),
            "Run engram doctor, then restore the home from a backup.",
        ));
    }
    Ok(bytes)
}

fn searchable_text(file: &PinnedFile<'_>, name: &str, most: usize) -> Result<String, Refusal> {
    let bytes = file.content.bytes();
    if bytes.len() > most {
        return Err(refuse::invalid(
            format!(
                "{} is too large to search for a name: {} MB",
                refuse::quoted(name),
                bytes.len() >> 20
            ),
            "Point at its lines, as in repo:PATH#L10-L20@HEAD.",
        ));
    }
    let encoding = file.encoding.ok_or_else(|| refuse::binary(name))?;
    Ok(encoding.decode(bytes))
}
