//! Line ends of a checkout: a file may lie on disk with CRLF and be stored with LF (gitattributes,
//! `core.autocrlf`). What lies on disk is compared as git would store it.

use std::path::Path;

use git2::{AttrCheckFlags, AttrValue};

use crate::{Encoding, Repo};

/// The bytes that git would store for a file of the working tree.
pub(crate) fn stored(repo: &Repo, path: &str, bytes: Vec<u8>) -> Vec<u8> {
    let has_crlf = |it: &[u8]| memchr::memmem::find(it, b"\r\n").is_some();
    if !has_crlf(&bytes) || Encoding::of_file(&bytes) != Some(Encoding::Utf8) {
        return bytes;
    }
    let converts = match conversion(repo, path) {
        Conversion::Never => false,
        Conversion::Always => true,
        // What was stored with CRLF stays so.
        Conversion::Auto => indexed(repo, path).is_none_or(|it| !has_crlf(&it)),
    };
    match converts {
        true => {
            let mut stored = Vec::with_capacity(bytes.len());
            let mut rest = bytes.as_slice();
            while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
                stored.extend_from_slice(&rest[..at]);
                rest = &rest[at + 1..];
            }
            stored.extend_from_slice(rest);
            stored
        }
        false => bytes,
    }
}

enum Conversion {
    Never,
    Always,
    Auto,
}

/// gitattributes(5): `text` decides, then `eol`, then the configuration.
fn conversion(repo: &Repo, path: &str) -> Conversion {
    let attribute = |name| {
        let flags = AttrCheckFlags::FILE_THEN_INDEX;
        let value = repo.git.get_attr_bytes(Path::new(path), name, flags);
        AttrValue::from_bytes(value.unwrap_or(None))
    };
    match attribute("text") {
        AttrValue::False => return Conversion::Never,
        AttrValue::True => return Conversion::Always,
        AttrValue::String("auto") => return Conversion::Auto,
        _ => {}
    }
    if let AttrValue::String("lf" | "crlf") = attribute("eol") {
        return Conversion::Always;
    }
    let config = repo.git.config().and_then(|mut it| it.snapshot());
    let setting = config.and_then(|it| it.get_str("core.autocrlf").map(str::to_owned));
    match setting.as_deref() {
        Ok("true" | "input" | "yes" | "on" | "1") => Conversion::Auto,
        _ => Conversion::Never,
    }
}

fn indexed(repo: &Repo, path: &str) -> Option<Vec<u8>> {
    let index = repo.git.index().ok()?;
    let entry = index.get_path(Path::new(path), 0)?;
    let blob = repo.git.find_blob(entry.id).ok()?;
    Some(blob.content().to_vec())
}
