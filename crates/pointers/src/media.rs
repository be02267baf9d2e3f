//! Files that are no text, or not only: what they are, by the bytes that they begin with.

use engram_model::{Media, MediaKind};

use crate::Encoding;

/// Formats by what they begin with: bytes at an offset, and what a person calls it.
const FORMATS: &[(usize, &[u8], &str)] = &[
    (0, b"%PDF-", "PDF"),
    (0, b"PK\x03\x04", "ZIP"),
    (0, b"\x1f\x8b", "gzip"),
    (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ\0", "xz"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (257, b"ustar", "tar"),
    (0, b"\x7fELF", "ELF"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O"),
    (0, b"\xca\xfe\xba\xbe", "Java class"),
    (0, b"MZ", "Windows program"),
    (0, b"\0asm", "WebAssembly"),
    (0, b"SQLite format 3\0", "SQLite"),
    (0, b"PAR1", "Parquet"),
    (0, b"wOFF", "WOFF"),
    (0, b"wOF2", "WOFF2"),
    (0, b"\0\x01\0\0", "TrueType"),
    (0, b"OTTO", "OpenType"),
    (0, b"OggS", "Ogg"),
    (0, b"fLaC", "FLAC"),
    (0, b"ID3", "MP3"),
    (8, b"WAVE", "WAV"),
    (4, b"ftyp", "MPEG-4"),
];
/// How far a picture is read for its size.
const HEAD: usize = 64 << 10;
/// The first line of what Git LFS commits in the place of a file.
const STAND_IN: &str = "version https://git-lfs.github.com/spec/";
/// A stand-in is a few short lines.
const MAX_STAND_IN: usize = 1024;

/// What a file is; none where it is lines and nothing else.
pub(crate) fn of(name: &str, bytes: &[u8]) -> Option<Media> {
    match Encoding::of_file(bytes) {
        None => Some(binary(bytes)),
        Some(encoding) => stand_in(bytes).or_else(|| drawing(name, bytes, encoding)),
    }
}

/// What bytes are that are no text.
fn binary(bytes: &[u8]) -> Media {
    let head = &bytes[..bytes.len().min(HEAD)];
    if let Some((format, pixels)) = picture(head) {
        return media(MediaKind::Picture, Some(format), bytes.len(), pixels);
    }
    let begins = |(at, magic, _): &&(usize, &[u8], &str)| {
        head.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    let format = FORMATS.iter().find(begins).map(|it| it.2);
    media(MediaKind::Binary, format, bytes.len(), None)
}

fn media(kind: MediaKind, format: Option<&str>, size: usize, pixels: Option<(u32, u32)>) -> Media {
    Media {
        kind,
        format: format.map(str::to_owned),
        size: size as u64,
        pixels,
        digest: None,
    }
}

type Picture = (&'static str, Option<(u32, u32)>);

fn picture(head: &[u8]) -> Option<Picture> {
    let found = match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => {
            ("PNG", four(head, 16).zip(four(head, 20)))
        }
        [b'G', b'I', b'F', b'8', ..] => ("GIF", two_low(head, 6).zip(two_low(head, 8))),
        [0xff, 0xd8, 0xff, ..] => ("JPEG", jpeg(head)),
        [b'R', b'I', b'F', b'F', ..] if head.get(8..12) == Some(b"WEBP") => ("WebP", webp(head)),
        [b'B', b'M', ..] => ("BMP", None),
        [0, 0, 1, 0, ..] => ("icon", None),
        [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => ("TIFF", None),
        _ => match head.get(4..12)? {
            b"ftypavif" => ("AVIF", None),
            b"ftypheic" | b"ftypheix" | b"ftypmif1" => ("HEIC", None),
            _ => return None,
        },
    };
    Some(found)
}

/// The frame header among the segments.
fn jpeg(head: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let (0xff, marker) = (*head.get(at)?, *head.get(at + 1)?) else {
            return None;
        };
        let is_frame = (0xc0..=0xcf).contains(&marker) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        match marker {
            0xff => at += 1,
            _ if is_frame => return two(head, at + 7).zip(two(head, at + 5)),
            _ => at += 2 + two(head, at + 2)?.max(2) as usize,
        }
    }
}

fn webp(head: &[u8]) -> Option<(u32, u32)> {
    let byte = |at: usize| head.get(at).map(|it| u32::from(*it));
    let three = |at| Some(byte(at)? | byte(at + 1)? << 8 | byte(at + 2)? << 16);
    match head.get(12..16)? {
        b"VP8X" => three(24).zip(three(27)).map(|(w, h)| (w + 1, h + 1)),
        b"VP8L" => {
            let bits = three(21)? | byte(24)? << 24;
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        _ => two_low(head, 26)
            .zip(two_low(head, 28))
            .map(|(w, h)| (w & 0x3fff, h & 0x3fff)),
    }
}

fn four(head: &[u8], at: usize) -> Option<u32> {
    let bytes = head.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}

fn two(head: &[u8], at: usize) -> Option<u32> {
    let bytes = head.get(at..at + 2)?.try_into().ok()?;
    Some(u32::from(u16::from_be_bytes(bytes)))
}

fn two_low(head: &[u8], at: usize) -> Option<u32> {
    let bytes = head.get(at..at + 2)?.try_into().ok()?;
    Some(u32::from(u16::from_le_bytes(bytes)))
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
            None,
        )
    })
}

fn drawing(name: &str, bytes: &[u8], encoding: Encoding) -> Option<Media> {
    let is_named = name.to_ascii_lowercase().ends_with(".svg");
    (is_named && encoding.decode_up_to(bytes, 4096).contains("<svg"))
        .then(|| media(MediaKind::Drawing, Some("SVG"), bytes.len(), None))
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
        let tar = [&[0; 257][..], b"ustar"].concat();
        let size = Some((640, 480));
        type Case<'a> = (&'a str, &'a [u8], &'a str, Option<(u32, u32)>);
        let cases: &[Case<'_>] = &[
            ("a.png", png, "Picture PNG", size),
            ("a.png", &[&png[..4], &[0]].concat(), "Binary -", None),
            ("a.png", &[&png[..8], &[0]].concat(), "Picture PNG", None),
            ("a.gif", b"GIF89a\x80\x02\xe0\x01\0", "Picture GIF", size),
            ("a.jpg", jpeg, "Picture JPEG", size),
            ("a.jpg", b"\xff\xd8\xff\xe0\0\0\xff", "Picture JPEG", None),
            ("a.webp", webp, "Picture WebP", size),
            ("a.webp", lossless, "Picture WebP", size),
            ("a.webp", lossy, "Picture WebP", size),
            ("a", b"\x7fELF\x02\x01\x01\0", "Binary ELF", None),
            ("a.zip", b"PK\x03\x04\x14\0", "Binary ZIP", None),
            ("a.tar", &tar, "Binary tar", None),
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
