//! Takes files out of a zip archive whose digest has been checked: without encryption, and smaller
//! than 4 GB.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};

use flate2::read::DeflateDecoder;

const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const FILE: &[u8] = b"PK\x03\x04";

/// The archive's list of files is at most this large.
const MOST_LIST: u64 = 4 << 20;

/// Writes the file with this name in the archive.
pub(super) fn unpack(
    archive: &mut (impl Read + Seek),
    name: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let entry = find(&list(archive)?, name)?;
    archive.seek(SeekFrom::Start(entry.at))?;
    let mut head = [0; 30];
    archive.read_exact(&mut head)?;
    if !head.starts_with(FILE) {
        return Err(broken("an entry does not lead to a file"));
    }
    let skip = number::<2>(&head, 26) + number::<2>(&head, 28);
    archive.seek_relative(skip.cast_signed())?;
    let packed = archive.take(entry.packed);
    let written = match entry.method {
        0 => io::copy(&mut packed.take(entry.size), out)?,
        8 => io::copy(&mut DeflateDecoder::new(packed).take(entry.size), out)?,
        _ => return Err(broken("a file is packed in an unknown way")),
    };
    if written != entry.size {
        return Err(broken("a file is cut short"));
    }
    Ok(())
}

struct Entry {
    method: u64,
    packed: u64,
    size: u64,
    at: u64,
}

/// The archive's list of files, which lies before its end.
fn list(archive: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let length = archive.seek(SeekFrom::End(0))?;
    // The end has 22 bytes, and a comment of at most 64 KB.
    archive.seek(SeekFrom::Start(length.saturating_sub(22 + 0xffff)))?;
    let mut tail = Vec::new();
    archive.read_to_end(&mut tail)?;
    let end = tail.windows(END.len()).rposition(|it| it == END);
    let end = tail.get(end.unwrap_or(tail.len())..).unwrap_or_default();
    if end.len() < 22 {
        return Err(broken("it is not a zip archive"));
    }
    let (size, at) = (number::<4>(end, 12), number::<4>(end, 16));
    if size > MOST_LIST {
        return Err(broken("it has too many files"));
    }
    archive.seek(SeekFrom::Start(at))?;
    let mut list = Vec::new();
    archive.take(size).read_to_end(&mut list)?;
    Ok(list)
}

fn find(mut list: &[u8], name: &str) -> io::Result<Entry> {
    while list.starts_with(ENTRY) {
        let length = |at| number::<2>(list, at) as usize;
        let named = list.get(46..46 + length(28));
        if named == Some(name.as_bytes()) {
            return Ok(Entry {
                method: number::<2>(list, 10),
                packed: number::<4>(list, 20),
                size: number::<4>(list, 24),
                at: number::<4>(list, 42),
            });
        }
        let next = 46 + length(28) + length(30) + length(32);
        list = list.get(next..).unwrap_or_default();
    }
    Err(broken("a file is missing in it"))
}

fn number<const SIZE: usize>(bytes: &[u8], at: usize) -> u64 {
    let digits = bytes.iter().skip(at).take(SIZE).rev();
    digits.fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn broken(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}
