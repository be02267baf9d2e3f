//! Converts a file of the working tree to what git would store, as `git add` would: line ends
//! (gitattributes, `core.autocrlf`) and files that Git LFS keeps.

use std::path::Path;

use engram_model::Refusal;

use crate::{Encoding, Repo, refuse, sha256_hex, worktree};

use super::rules::{Attributes, Value};

/// The beginning of the stand-in for a file that Git LFS keeps.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Returns the bytes that git would store for a file of the working tree.
///
/// # Errors
///
/// The file has a clean filter that only the machine's git can run.
pub(crate) fn cleaned(repo: &Repo, path: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Refusal> {
    let attributes = Attributes::of(repo, &worktree::root(repo)?, path)?;
    match attributes.get("filter") {
        Value::Is(filter) if filter == "lfs" => {
            return Ok(if bytes.starts_with(LFS) {
                bytes
            } else {
                lfs_pointer(&bytes)
            });
        }
        Value::Is(filter) => {
            return Err(refuse::unavailable(
                format!(
                    "{} is stored through the filter {filter}, which Engram does not run",
                    refuse::quoted(path)
                ),
                "Commit it; committed files are compared as stored.",
            ));
        }
        _ => {}
    }
    let has_crlf = |it: &[u8]| memchr::memmem::find(it, b"\r\n").is_some();
    if !has_crlf(&bytes) || Encoding::of_file(&bytes) != Some(Encoding::Utf8) {
        return Ok(bytes);
    }
    let converts = match conversion(repo, &attributes) {
        Conversion::Never => false,
        Conversion::Always => true,
        // A file that was stored with CRLF keeps it.
        Conversion::Auto => read_from_index(repo, path).is_none_or(|it| !has_crlf(&it)),
    };
    Ok(if converts { with_lf(&bytes) } else { bytes })
}

/// Returns the stand-in, as defined in git-lfs-pointers(5).
fn lfs_pointer(bytes: &[u8]) -> Vec<u8> {
    format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n",
        sha256_hex(bytes),
        bytes.len()
    )
    .into_bytes()
}

fn with_lf(bytes: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        stored.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    stored.extend_from_slice(rest);
    stored
}

enum Conversion {
    Never,
    Always,
    Auto,
}

/// Applies gitattributes(5): `text` decides, then `eol`, then the configuration.
fn conversion(repo: &Repo, attributes: &Attributes) -> Conversion {
    match attributes.get("text") {
        Value::Unset => return Conversion::Never,
        Value::Set => return Conversion::Always,
        Value::Is(word) if word == "auto" => return Conversion::Auto,
        _ => {}
    }
    if matches!(attributes.get("eol"), Value::Is(word) if word == "lf" || word == "crlf") {
        return Conversion::Always;
    }
    let config = repo.git.config().and_then(|mut it| it.snapshot());
    let setting = config.and_then(|it| it.get_str("core.autocrlf").map(str::to_owned));
    match setting.as_deref() {
        Ok("true" | "input" | "yes" | "on" | "1") => Conversion::Auto,
        _ => Conversion::Never,
    }
}

fn read_from_index(repo: &Repo, path: &str) -> Option<Vec<u8>> {
    let entry = repo.index().ok()?.get_path(Path::new(path), 0)?;
    let blob = repo.blob(entry.id, path).ok()?;
    Some(blob.content().to_vec())
}
