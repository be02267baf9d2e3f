//! Recognises binary and special files by their first bytes.

use engram_model::{Media, MediaKind};
use infer::MatcherType;

use crate::Encoding;

/// The bytes that are read to find a file's format and a picture's size.
const HEAD: usize = 64 << 10;
/// The first line of the stand-in that Git LFS commits for a file.
const STAND_IN: &str = "version https://git-lfs.github.com/spec/";
/// A stand-in is a few short lines.
const MAX_STAND_IN: usize = 1024;

/// Returns the kind of a file; `None` for plain text.
pub(crate) fn of(name: &str, bytes: &[u8]) -> Option<Media> {
    match Encoding::of_file(bytes) {
        None => Some(binary(bytes)),
        Some(encoding) => stand_in(bytes).or_else(|| drawing(name, bytes, encoding)),
    }
}

/// Returns the kind of a binary.
fn binary(bytes: &[u8]) -> Media {
    let head = &bytes[..bytes.len().min(HEAD)];
    let found = infer::get(head);
    let format = found.map(|it| format(it.extension()));
    match found.map(|it| it.matcher_type()) {
        Some(MatcherType::Image) => Media {
            pixels: pixels(head),
            ..media(MediaKind::Picture, format, bytes.len())
        },
        _ => media(MediaKind::Binary, format, bytes.len()),
    }
}

/// Returns what a person calls files with this extension.
fn format(extension: &str) -> String {
    let known = match extension {
        "class" => "Java class",
        "dll" | "exe" => "Windows program",
        "gz" => "gzip",
        "heif" => "HEIC",
        "ico" => "icon",
        "jpg" => "JPEG",
        "mach" => "Mach-O",
        "otf" => "OpenType",
        "sqlite" => "SQLite",
        "tar" => "tar",
        "tif" => "TIFF",
        "ttf" => "TrueType",
        "wasm" => "WebAssembly",
        "webp" => "WebP",
        "zst" => "Zstandard",
        other => return other.to_ascii_uppercase(),
    };
    known.to_owned()
}

fn pixels(head: &[u8]) -> Option<(u32, u32)> {
    let size = imagesize::blob_size(head).ok()?;
    Some((size.width.try_into().ok()?, size.height.try_into().ok()?))
}

fn media(kind: MediaKind, format: Option<String>, size: usize) -> Media {
    Media {
        kind,
        format,
        size: size as u64,
        pixels: None,
        digest: None,
    }
}

fn stand_in(bytes: &[u8]) -> Option<Media> {
    let text = std::str::from_utf8(bytes.get(..bytes.len().min(MAX_STAND_IN))?).ok()?;
    if bytes.len() > MAX_STAND_IN || !text.starts_with(STAND_IN) {
        return None;
    }
    let field = |name: &str| text.lines().find_map(|it| it.strip_prefix(name));
    let hex = field("oid sha256:")?.trim();
    let is_digest = hex.len() == 64 && hex.bytes().all(|it| it.is_ascii_hexdigit());
    Some(Media {
        digest: is_digest.then(|| format!("sha256:{hex}")),
        ..media(
            MediaKind::StandIn,
            None,
            field("size ")?.trim().parse().ok()?,
        )
    })
}

fn drawing(name: &str, bytes: &[u8], encoding: Encoding) -> Option<Media> {
    let is_named = name.to_ascii_lowercase().ends_with(".svg");
    (is_named && encoding.decode_up_to(bytes, 4096).contains("<svg"))
        .then(|| media(MediaKind::Drawing, Some("SVG".to_owned()), bytes.len()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn files_are_told_by_what_they_begin_with() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04\0\0\xff\xc0\0\x11\x08\x01\xe0\x02\x80\x03\0";
        let webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\0";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01";
        let elf = [&b"\x7fELF\x02\x01\x01\0"[..], &[0; 56]].concat();
        let tar = [&[0; 257][..], b"ustar"].concat();
        let size = Some((640, 480));
        type Case<'a> = (&'a str, &'a [u8], &'a str, Option<(u32, u32)>);
        let cases: &[Case<'_>] = &[
            ("a.png", png, "Picture PNG", size),
            ("a.png", &[&png[..3], &[0]].concat(), "Binary -", None),
            ("a.png", &[&png[..8], &[0]].concat(), "Picture PNG", None),
            ("a.gif", b"GIF89a\x80\x02\xe0\x01\0\0", "Picture GIF", size),
            ("a.jpg", jpeg, "Picture JPEG", size),
            ("a.jpg", b"\xff\xd8\xff\xe0\0\0\xff", "Picture JPEG", None),
            ("a.webp", webp, "Picture WebP", size),
            ("a.webp", lossless, "Picture WebP", size),
            ("a.webp", lossy, "Picture WebP", size),
            ("a", &elf, "Binary ELF", None),
            ("a.zip", b"PK\x03\x04\x14\0", "Binary ZIP", None),
            ("a.tar", &tar, "Binary tar", None),
            ("a.7z", b"7z\xbc\xaf\x27\x1c\0", "Binary 7Z", None),
            ("a", b"a\0b", "Binary -", None),
            ("a", b"\0", "Binary -", None),
            ("a.svg", b"<?xml?>\n<svg/>", "Drawing SVG", None),
            ("a.rs", b"<svg/>", "", None),
            ("a.txt", b"\xff\xfea\0\0\0", "", None),
            ("a.txt", b"", "", None),
        ];
        for (name, bytes, want, pixels) in cases {
            let found = of(name, bytes);
            let said = found.as_ref().map_or_else(String::new, |it| {
                format!("{:?} {}", it.kind, it.format.as_deref().unwrap_or("-"))
            });
            assert_eq!(said, *want, "{name} {bytes:?}");
            assert_eq!(found.and_then(|it| it.pixels), *pixels, "{name} {bytes:?}");
        }
    }

    #[test]
    fn a_stand_in_tells_of_the_file_that_it_stands_for() {
        let hex = "4d7a".repeat(16);
        let text =
            format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hex}\nsize 12345\n");
        let found = of("model.bin", text.as_bytes()).unwrap();
        assert_eq!(found.kind, MediaKind::StandIn);
        assert_eq!(
            (found.size, found.digest),
            (12_345, Some(format!("sha256:{hex}")))
        );
        for text in [
            "version https://git-lfs.github.com/spec/v1\n",
            "version https://git-lfs.github.com/spec/v1\noid sha256:x\nsize -1\n",
        ] {
            assert_eq!(of("model.bin", text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn no_beginning_is_too_short() {
        let whole = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\0";
        for start in [
            &whole[..],
            b"\xff\xd8\xff\xc0\0\x11\x08\x01",
            b"GIF8\0",
            b"\x89PNG\r\n\x1a\n\0",
        ] {
            for length in 0..=start.len() {
                of("a", &[&start[..length], &[0]].concat());
            }
        }
    }
}
