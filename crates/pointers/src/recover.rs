//! Recovers evidence whose commit is out of reach: git collected it, or a shallow clone lacks it.
//! The pointer has a digest of what was read, so the same bytes are recognised elsewhere.

use engram_model::{FoundIn, Lines, Pin, Pointer, Refusal, Target};

use crate::{
    Encoding, Repo, Shelf,
    git::tree,
    locate::{self, Content, PointedFile},
    sha256_hex,
    text::{definition, section},
    worktree,
};

/// The most bytes that are digested to find lines that moved.
const MAX_DIGESTED: usize = 32 << 20;
/// Larger files are compared only as a whole and at the same lines.
const MAX_SEARCHED: usize = 4 << 20;

/// Returns what a pointer addresses at its pin, or else the same bytes elsewhere and where they
/// were found.
pub(crate) fn locate<'r>(
    repo: Option<&'r Repo>,
    shelf: &dyn Shelf,
    pointer: &Pointer,
) -> Result<(PointedFile<'r>, Option<FoundIn>), Refusal> {
    let refusal = match locate::locate(repo, shelf, pointer) {
        Ok(found) => return Ok((found, None)),
        Err(refusal) => refusal,
    };
    let Some((found, commit)) = repo.and_then(|it| by_digest(it, pointer)) else {
        return Err(refusal);
    };
    let because = refusal.message;
    Ok((found, Some(FoundIn { because, commit })))
}

/// Returns the same bytes from disk, or else from the commit that is checked out.
fn by_digest<'r>(repo: &'r Repo, pointer: &Pointer) -> Option<(PointedFile<'r>, Option<String>)> {
    let digest = pointer.digest.as_deref()?.strip_prefix("sha256:")?;
    let (Target::Repo { path, pin, .. }
    | Target::Test { path, pin, .. }
    | Target::Artifact {
        name: path, pin, ..
    }) = &pointer.target
    else {
        return None;
    };
    if !matches!(pin, Pin::Rev(_)) {
        return None;
    }
    if let Ok(Some(bytes)) = worktree::read_now(repo, path)
        && let Some(found) = match_digest(pointer, Content::Bytes(bytes), digest)
    {
        return Some((found, None));
    }
    let commit = repo.commit("HEAD").ok()?;
    let blob = tree::blob(repo, &commit, path).ok()?;
    let found = match_digest(pointer, Content::Blob(blob), digest)?;
    Some((found, Some(commit.id().to_string())))
}

/// Returns the span in this file if its bytes have the digest.
fn match_digest<'r>(pointer: &Pointer, file: Content<'r>, digest: &str) -> Option<PointedFile<'r>> {
    let bytes = file.bytes();
    let encoding = Encoding::of_file(bytes);
    let text = || encoding.filter(|_| bytes.len() <= MAX_SEARCHED);
    let lines = match &pointer.target {
        Target::Repo {
            lines: Some(lines), ..
        } => Some(same_lines(encoding?, bytes, *lines, digest)?),
        Target::Artifact {
            name,
            section: Some(heading),
            ..
        } => Some(section::find(&text()?.decode(bytes), heading, name).ok()?),
        Target::Test { path, name, .. } => {
            Some(definition::find(&text()?.decode(bytes), path, name).ok()?)
        }
        _ => None,
    };
    let range = match lines {
        Some(lines) => encoding?.span(bytes, lines).ok()?,
        None => 0..bytes.len(),
    };
    (sha256_hex(&bytes[range.clone()]) == digest).then(|| PointedFile {
        compared: Vec::new(),
        pointer: pointer.clone(),
        encoding: encoding.unwrap_or(Encoding::Utf8),
        is_binary: encoding.is_none(),
        range,
        lines,
        snapshot: None,
        open_line: lines.map_or(1, |it| it.start),
        file,
    })
}

/// Returns the same number of lines with this digest: at the same line numbers, or else the first
/// match.
fn same_lines(encoding: Encoding, bytes: &[u8], lines: Lines, digest: &str) -> Option<Lines> {
    let has = |range: std::ops::Range<usize>| sha256_hex(&bytes[range]) == digest;
    if encoding.span(bytes, lines).is_ok_and(&has) {
        return Some(lines);
    }
    if bytes.len() > MAX_SEARCHED {
        return None;
    }
    let mut ends = vec![0];
    for line in encoding.lines(bytes) {
        ends.push(ends.last().copied().unwrap_or(0) + line.len());
    }
    let height = (lines.end - lines.start + 1) as usize;
    let mut digested = 0;
    for (at, range) in ends.windows(height + 1).enumerate() {
        let range = range[0]..range[height];
        digested += range.len();
        if digested > MAX_DIGESTED {
            return None;
        }
        if has(range) {
            let start = u32::try_from(at + 1).ok()?;
            let end = start + (lines.end - lines.start);
            return Some(Lines { start, end });
        }
    }
    None
}
