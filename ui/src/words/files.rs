//! Files in words: what they are, their size, and short forms of their paths and digests.

use engram_model::{Media, MediaKind, Pointer, PointerType, format_count, thousands, visible};

use super::say;

/// Whether an editor can open what a pointer addresses.
pub fn is_file(pointer: &Pointer) -> bool {
    !matches!(pointer.kind(), PointerType::Sam | PointerType::Url)
}

/// What a file is: `PNG picture`, `ELF file`, `Binary file`.
pub fn media(media: &Media) -> String {
    let what = match media.kind {
        MediaKind::Picture | MediaKind::Drawing => "picture",
        MediaKind::StandIn => "stand-in",
        MediaKind::Binary => "file",
    };
    match (&media.format, media.kind) {
        (Some(format), _) => format!("{format} {what}"),
        (None, MediaKind::Binary) => "Binary file".to_owned(),
        (None, _) => what.to_owned(),
    }
}

/// The measures of a file: `640 × 480 pixels, 12.4 KB`.
pub fn measures(media: &Media) -> String {
    let size = size(media.size);
    match media.pixels {
        Some((width, height)) => format!(
            "{} × {} pixels, {size}",
            thousands(width.into()),
            thousands(height.into())
        ),
        None => size,
    }
}

/// A size in words: `17 bytes`, `12.4 KB`, `3.0 GB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes < 1_000 {
        return format_count(bytes, say::BYTES);
    }
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1_000;
        unit += 1;
    }
    format!("{}.{} {}", thousands(tenths / 10), tenths % 10, UNITS[unit])
}

/// A shortened digest: `sha256 5976ad02…`.
pub fn short_digest(digest: &str) -> String {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    let head: String = hex.chars().take(8).collect();
    format!("sha256 {head}…")
}

/// The digits of a SHA-256 digest, and how many of them a text shows.
const DIGEST_DIGITS: usize = 64;
const SHOWN_DIGITS: usize = 12;

/// A text with each SHA-256 digest cut to its first digits.
pub fn with_short_digests(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_hex = first.is_ascii_hexdigit();
        let end = rest.find(|it: char| it.is_ascii_hexdigit() != is_hex);
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        if is_hex && part.len() == DIGEST_DIGITS {
            short.push_str(&part[..SHOWN_DIGITS]);
            short.push('…');
        } else {
            short.push_str(part);
        }
        rest = after;
    }
    short
}

/// Splits a path into folder and file name, so that only the folder is cut if there is little room.
pub fn split_path(path: &str) -> (&str, &str) {
    match path.rfind('/') {
        Some(at) => path.split_at(at + 1),
        None => ("", path),
    }
}

/// What a request wants to read, in a few words: the file and its lines.
pub fn wanted_source(pointer: &str) -> String {
    if pointer.is_empty() {
        return say::requests::ERASED_SOURCE.to_owned();
    }
    let Ok(pointer) = pointer.parse::<Pointer>() else {
        return visible(pointer);
    };
    let name = visible(pointer.name());
    match pointer.lines() {
        Some(lines) => {
            let file = name.rsplit('/').next().unwrap_or_default();
            say::requests::lines_of(file, lines.start, lines.end)
        }
        None => visible(&pointer.label()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_file_name() {
        for (path, want) in [
            ("a/b/c.rs", ("a/b/", "c.rs")),
            ("c.rs", ("", "c.rs")),
            ("a/", ("a/", "")),
        ] {
            assert_eq!(split_path(path), want);
        }
        assert_eq!(short_digest("sha256:5976ad02ffff"), "sha256 5976ad02…");
        let digest = "4d7a".repeat(16);
        for (text, want) in [
            (
                format!("artifact:a.pdf@sha256:{digest}, then b"),
                "artifact:a.pdf@sha256:4d7a4d7a4d7a…, then b",
            ),
            (format!("{digest} {digest}"), "4d7a4d7a4d7a… 4d7a4d7a4d7a…"),
            (format!("{digest}4"), &*format!("{digest}4")),
            ("größe added: decade 1".to_owned(), "größe added: decade 1"),
        ] {
            assert_eq!(with_short_digests(&text), want);
        }
    }

    #[test]
    fn sizes_are_said_shortly() {
        for (bytes, want) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 KB"),
            (12_499, "12.4 KB"),
            (999_999, "999.9 KB"),
            (1_000_000, "1.0 MB"),
            (u64::MAX, "18,446.7 PB"),
        ] {
            assert_eq!(size(bytes), want, "{bytes}");
        }
    }

    #[test]
    fn what_is_wanted_is_told_in_words() {
        for (pointer, want) in [
            ("repo:src/ledger/a.rs#L1-L220@HEAD", "a.rs, lines 1–220"),
            ("repo:src/a.rs#L7@HEAD", "a.rs, line 7"),
            ("", "an erased source"),
        ] {
            assert_eq!(wanted_source(pointer), want, "{pointer}");
        }
    }
}
