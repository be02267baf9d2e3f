//! Finds text encoded to hide its content: base64 and hexadecimal. What decodes to code is code,
//! and so is a long blob that decodes to nothing readable, since there is no reason to send either
//! inline. Digests and ids are short and pass.

/// The shortest run that is decoded, in characters.
const SHORTEST: usize = 24;
/// A blob of this length or more is refused, whatever it contains.
const BLOB: usize = 160;
/// A listing of bytes with more hex digits than this is refused, whatever it contains: a digest has
/// fewer.
const LISTING: usize = 66;
/// The deepest nesting of encodings.
const DEEPEST: usize = 2;

/// Counts the characters of encoded code in a text.
pub(super) fn encoded_chars(text: &str, depth: usize) -> usize {
    if depth >= DEEPEST {
        return 0;
    }
    let whole = if has_long_piece(text) {
        runs(text).map(|run| count_hidden(&run, depth)).sum()
    } else {
        0
    };
    let apart =
        |run: &String| run.len() > LISTING && hex(run).is_some() || count_hidden(run, depth) > 0;
    whole.max(groups(text).filter(apart).map(|it| it.len()).sum())
}

/// The fewest pieces of one length that may form one run.
const GROUPS: usize = 4;

/// Runs split into pieces of one length: `4889e5 4883ec`, `ZGVmIG1haW4 oYXJndik6CiA`.
fn groups(text: &str) -> impl Iterator<Item = String> {
    let pieces: Vec<&str> = text.split_whitespace().collect();
    let alike = |a: &&str, b: &&str| a.len() == b.len() && b.bytes().all(of_alphabet);
    let mut rest = pieces.as_slice();
    let mut found = Vec::new();
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|it| alike(first, it)).count();
        let after = rest.get(same..).unwrap_or_default();
        if same >= GROUPS && first.len() > 1 {
            // The last piece may be shorter.
            let last = after
                .first()
                .filter(|it| it.len() < first.len() && it.bytes().all(of_alphabet));
            let run = rest[..same].concat();
            found.extend(last.map(|it| format!("{run}{it}")));
            found.push(run);
        }
        rest = rest.get(same.max(1)..).unwrap_or_default();
    }
    found.into_iter().filter(|it| it.len() >= SHORTEST)
}

/// Counts the characters of a run that hides code; 0 if it hides none.
fn count_hidden(run: &str, depth: usize) -> usize {
    let chars = run.len();
    let decodings = [hex(run), base64(run)];
    let found = decodings
        .iter()
        .flatten()
        .any(|bytes| readable(bytes).is_some_and(|text| super::code_within(&text, depth + 1) > 0));
    if found || is_blob(run) { chars } else { 0 }
}

/// The shortest piece, in bytes, of a run broken into lines; words of prose are shorter.
const PIECE: usize = 20;

/// Whether any piece could be encoded; most texts have none.
fn has_long_piece(text: &str) -> bool {
    let mut length = 0;
    text.bytes().any(|byte| {
        length = if of_alphabet(byte) { length + 1 } else { 0 };
        length >= PIECE
    })
}

/// Runs of encoded text, joined across the spaces and line ends between their pieces.
fn runs(text: &str) -> impl Iterator<Item = String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = String::new();
    for piece in text.split(char::is_whitespace).filter(|it| !it.is_empty()) {
        let piece = piece.trim_matches(|it: char| {
            matches!(it, '"' | '\'' | '`' | ',' | '.' | '(' | ')' | '>' | '|')
        });
        let of_run = !piece.is_empty() && piece.bytes().all(of_alphabet);
        let goes_on =
            of_run && (piece.len() >= PIECE || (!open.is_empty() && piece.ends_with('=')));
        if goes_on {
            open.push_str(piece);
            continue;
        }
        if !open.is_empty() {
            // The last line of a broken run is shorter than the others.
            if of_run
                && piece
                    .bytes()
                    .any(|it| it.is_ascii_digit() || it.is_ascii_uppercase())
            {
                open.push_str(piece);
            }
            found.push(std::mem::take(&mut open));
        }
        // A run may be surrounded by other characters: `data:text/plain;base64,AAAA`
        if !of_run && piece.len() >= SHORTEST {
            let parts = piece.split(|it: char| !it.is_ascii() || !of_alphabet(it as u8));
            found.extend(parts.filter(|it| it.len() >= SHORTEST).map(str::to_owned));
        }
    }
    found.push(open);
    found.into_iter().filter(|it| it.len() >= SHORTEST)
}

fn of_alphabet(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// Whether a run is a blob: no digest (at most 128 digits), path or name looks like that.
fn is_blob(run: &str) -> bool {
    let count = |of: fn(&u8) -> bool| run.bytes().filter(of).count();
    let [lower, upper, digits] = [
        count(|it| it.is_ascii_lowercase()),
        count(|it| it.is_ascii_uppercase()),
        count(|it| it.is_ascii_digit()),
    ];
    let marks = run.len() - lower - upper - digits;
    let is_mixed = lower * 8 > run.len() && upper * 8 > run.len() && digits > 2;
    // Several digests in a row are not a blob.
    let is_hex = run.bytes().all(|it| it.is_ascii_hexdigit())
        && digits * 8 > run.len()
        && run.len() >= 2 * BLOB;
    run.len() >= BLOB && (is_mixed || is_hex) && marks * 12 < run.len()
}

fn readable(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let odd = text
        .chars()
        .filter(|it| it.is_control() && !it.is_whitespace())
        .count();
    (odd == 0).then(|| text.to_owned())
}

fn hex(run: &str) -> Option<Vec<u8>> {
    let digit = |it: u8| char::from(it).to_digit(16);
    let mut bytes = Vec::with_capacity(run.len() / 2);
    let run = run.strip_prefix("0x").unwrap_or(run).as_bytes();
    for pair in run.chunks(2) {
        let [high, low] = pair else { return None };
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
    }
    Some(bytes)
}

/// Decodes either alphabet, padded or not.
fn base64(run: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(run.len());
    let (mut bits, mut filled) = (0u32, 0u32);
    for digit in run.trim_end_matches('=').bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            bytes.push((bits >> filled) as u8);
            bits &= (1 << filled) - 1;
        }
    }
    Some(bytes)
}
