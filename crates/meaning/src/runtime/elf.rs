//! Whether a Linux library is complete. The system's loader maps the parts that the header names;
//! touching a part beyond the file's end kills the process.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

/// The size of a header, and of one entry in the table of parts, of a 64-bit library.
const HEADER: usize = 64;
const PART: usize = 56;

pub(super) fn is_whole(path: &Path) -> bool {
    check(path).unwrap_or(false)
}

fn check(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut header = [0; HEADER];
    file.read_exact(&mut header)?;
    // 64 bits, least byte first: every system that the library exists for.
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return Ok(false);
    }
    let (table, count) = (number::<8>(&header, 32), number::<2>(&header, 56));
    if number::<2>(&header, 54) != PART as u64 {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(table))?;
    for _ in 0..count {
        let mut part = [0; PART];
        file.read_exact(&mut part)?;
        let end = number::<8>(&part, 8).checked_add(number::<8>(&part, 32));
        if end.is_none_or(|it| it > length) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn number<const SIZE: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes
        .iter()
        .skip(at)
        .take(SIZE)
        .rev()
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
