//! Shows a text as a model reads it, without what hides code from a pattern but not from a model:
//! line ends of any kind, zero-width characters, look-alike letters, HTML entities, and escapes
//! that something else will undo.

use std::borrow::Cow;

use engram_model::is_hidden;
use unicode_security::skeleton;

/// The text without its disguises; unchanged if it has none.
pub(super) fn unveiled(text: &str) -> Cow<'_, str> {
    let plain = |it: u8| it.is_ascii() && !matches!(it, b'\r' | 0x0b | 0x0c | b'&' | b'\\' | b'%');
    let breaks = text.contains("<br");
    if !breaks && text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut whole = text.replace("\r\n", "\n");
    if breaks {
        for mark in ["<br>", "<br/>", "<br />"] {
            whole = whole.replace(mark, "\n");
        }
    }
    let shown: String = whole.chars().filter_map(visible_char).collect();
    let shown = latin(&unescaped(&entities(&shown)));
    if shown == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(shown)
    }
}

/// The character that it looks like; `None` if it is invisible.
fn visible_char(c: char) -> Option<char> {
    let code = u32::from(c);
    let from = |base: u32, first: u8| char::from_u32(u32::from(first) + code - base);
    match code {
        0x0d | 0x0b | 0x0c | 0x85 | 0x2028 | 0x2029 => Some('\n'),
        // Symbols for a line end or a space: ↵ ⏎ ␊ ␤ ¶, · ␣
        0x21b5 | 0x23ce | 0x240a | 0x2424 | 0xb6 => Some('\n'),
        0xb7 | 0x2423 => Some(' '),
        // Tag characters represent ASCII characters
        0xe0020..=0xe007e => from(0xe0020, b' '),
        // Joiners, variation selectors, a grapheme joiner, fillers: invisible
        0x200c | 0x200d | 0xfe00..=0xfe0f | 0x034f | 0x115f | 0x1160 | 0x3164 | 0xffa0 => None,
        // Full width
        0xff01..=0xff5e => from(0xff01, b'!'),
        0x37e | 0xfe54 | 0x204f => Some(';'),
        0x2236 | 0xa789 | 0x2d0 | 0xfe55 | 0xfe13 => Some(':'),
        // Arrows to the left are assignments
        0xa78a | 0x2550 | 0xfe66 | 0x30a0 | 0x2190 | 0x2b05 | 0x1f7f0 => Some('='),
        // Brackets from mathematics, ornaments and other scripts
        0x2768 | 0x276a | 0x27ee | 0x2985 | 0xfe59 | 0x207d | 0x208d => Some('('),
        0x2769 | 0x276b | 0x27ef | 0x2986 | 0xfe5a | 0x207e | 0x208e => Some(')'),
        0x2774 | 0x2983 | 0xfe5b => Some('{'),
        0x2775 | 0x2984 | 0xfe5c => Some('}'),
        0x2772 | 0x27e6 | 0x298b | 0x3010 | 0x3014 | 0x3016 | 0xfe5d => Some('['),
        0x2773 | 0x27e7 | 0x298c | 0x3011 | 0x3015 | 0x3017 | 0xfe5e => Some(']'),
        0x2329 | 0x276c | 0x2770 | 0x27e8 | 0x3008 | 0xfe64 | 0x2039 => Some('<'),
        0x232a | 0x276d | 0x2771 | 0x27e9 | 0x3009 | 0xfe65 | 0x203a => Some('>'),
        0xa0 | 0x1680 | 0x2000..=0x200a | 0x202f | 0x205f | 0x3000 => Some(' '),
        // Mathematical letters and digits, in blocks of 52 and of 10
        0x1d400..=0x1d6a3 => {
            let letter = (code - 0x1d400) % 52;
            char::from_u32(if letter < 26 {
                u32::from('A') + letter
            } else {
                u32::from('a') + letter - 26
            })
        }
        0x1d7ce..=0x1d7ff => char::from_u32(u32::from('0') + (code - 0x1d7ce) % 10),
        0x09 | 0x0a | 0x20..=0x7e => Some(c),
        _ if is_hidden(c) => None,
        _ => Some(c),
    }
}

/// Converts words written entirely in Latin look-alikes to Latin letters.
fn latin(text: &str) -> String {
    let alike = |c: char| {
        let looks = skeleton(c.encode_utf8(&mut [0; 4])).collect::<Vec<_>>();
        match looks[..] {
            _ if c.is_ascii() => Some(c),
            [c] if c.is_ascii_alphanumeric() => Some(c),
            _ => None,
        }
    };
    let words = text.split_inclusive(|c: char| !c.is_alphanumeric());
    let read = |word: &str| match word.chars().map(alike).collect::<Option<String>>() {
        Some(read) if !word.is_ascii() => read,
        _ => word.to_owned(),
    };
    words.map(read).collect()
}

/// The longest name or number of an entity, in bytes.
const ENTITY: usize = 10;

fn entities(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(ENTITY + 1).position(|it| it == b';');
        match end.and_then(|end| Some((end, entity(&rest[1..end])?))) {
            Some((end, c)) => {
                out.extend(visible_char(c));
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn entity(name: &str) -> Option<char> {
    let number = name.strip_prefix('#');
    if let Some(number) = number {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        };
        return code.and_then(char::from_u32);
    }
    NAMED.iter().find(|it| it.0 == name).map(|it| it.1)
}

const NAMED: &[(&str, char)] = &[
    ("lt", '<'),
    ("gt", '>'),
    ("amp", '&'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("lbrace", '{'),
    ("lcub", '{'),
    ("rbrace", '}'),
    ("rcub", '}'),
    ("lpar", '('),
    ("rpar", ')'),
    ("lbrack", '['),
    ("lsqb", '['),
    ("rbrack", ']'),
    ("rsqb", ']'),
    ("semi", ';'),
    ("equals", '='),
    ("colon", ':'),
    ("NewLine", '\n'),
    ("Tab", '\t'),
    ("plus", '+'),
    ("ast", '*'),
    ("num", '#'),
    ("grave", '`'),
];

/// Undoes the escapes `\n`, `\t`, `\x7b`, `\u007b` and, if there are several, `%7B`.
fn unescaped(text: &str) -> Cow<'_, str> {
    let percents = text.matches('%').count() >= 3;
    if !percents && !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '%']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match escape(rest, percents) {
            Some((c, bytes)) => {
                out.extend(visible_char(c));
                rest = &rest[bytes..];
            }
            None => {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character of an escape at the start of a text, and the escape's length in bytes.
fn escape(text: &str, percents: bool) -> Option<(char, usize)> {
    let hex = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        Some((char::from_u32(code)?, to))
    };
    if text.starts_with('%') {
        let (c, bytes) = hex(1, 3).filter(|_| percents)?;
        return c.is_ascii().then_some((c, bytes));
    }
    match text.as_bytes().get(1)? {
        b'n' => Some(('\n', 2)),
        b'r' | b't' => Some(('\t', 2)),
        b'"' => Some(('"', 2)),
        b'x' => hex(2, 4),
        b'u' => hex(2, 6),
        _ => None,
    }
}
