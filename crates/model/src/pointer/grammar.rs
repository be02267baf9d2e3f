//! The parser of the grammar. It turns valid text into a [`Pointer`] and anything else into a
//! refusal that gives the reason.

use std::str::FromStr;

use jiff::civil::Date;

use super::{Pin, Pointer, Target};
use crate::{Code, Refusal, text::shorten};

/// The longest text that is parsed, in bytes. Longer text is refused unread.
const MAX_BYTES: usize = 4096;

impl FromStr for Pointer {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        if text.len() > MAX_BYTES {
            return Err(invalid(
                text,
                "is too long",
                "A pointer is an address of at most 300 characters; store long text as an artifact and point at that.",
            ));
        }
        if text.chars().any(char::is_control) {
            return Err(invalid(
                text,
                "contains control characters",
                "Write the address in printable characters on one line.",
            ));
        }
        let (kind, rest) = text.split_once(':').unwrap_or(("", text));
        let target = match kind {
            "repo" => parse_repo(text, rest)?,
            "artifact" => parse_artifact(text, rest)?,
            "sam" => parse_sam(text, rest)?,
            "diff" => parse_diff(text, rest)?,
            "test" => parse_test(text, rest)?,
            "url" => parse_url(rest)?,
            _ => {
                return Err(invalid(
                    text,
                    "has no known type",
                    "Start with one of repo: artifact: sam: diff: test: url:, for example repo:src/main.rs#L10-L20@HEAD.",
                ));
            }
        };
        Ok(Self {
            target,
            digest: None,
        })
    }
}

fn parse_repo(text: &str, rest: &str) -> Result<Target, Refusal> {
    let (address, pin) = split_pin(text, rest)?;
    let (path, lines) = match address.rsplit_once('#') {
        Some((path, span)) => (path, Some(span.parse()?)),
        None => (address, None),
    };
    Ok(Target::Repo {
        path: parse_path(text, path)?,
        lines,
        pin: Pin::parse(pin)?,
    })
}

fn parse_artifact(text: &str, rest: &str) -> Result<Target, Refusal> {
    let (address, pin) = split_pin(text, rest)?;
    let (name, section) = match address.rsplit_once('#') {
        Some((name, span)) => match span.strip_prefix("sec=") {
            Some(heading) if !heading.trim().is_empty() => (name, Some(decode(heading))),
            _ => {
                return Err(invalid(
                    text,
                    "has a span that is not a section",
                    "Give the section's heading, as in artifact:docs/SPEC.md#sec=Rules@HEAD; for lines, use repo:.",
                ));
            }
        },
        None => (address, None),
    };
    Ok(Target::Artifact {
        name: parse_path(text, name)?,
        section,
        pin: Pin::parse(pin)?,
    })
}

fn parse_sam(text: &str, rest: &str) -> Result<Target, Refusal> {
    let hint =
        "Write sam:KIND:SLUG@YYYY-MM-DD, for example sam:decision:publish-domain@2026-01-08.";
    let (address, pin) = rest
        .rsplit_once('@')
        .filter(|(_, pin)| !pin.is_empty())
        .ok_or_else(|| {
            Refusal::new(
                Code::PointerUnpinned,
                format!("{:?} has no date", shorten(text, 120)),
                hint,
            )
        })?;
    let word = |part: &str| {
        let ok = part.chars().count() <= 120
            && part.starts_with(|c: char| c.is_alphanumeric())
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || "._-/".contains(c));
        ok.then(|| part.to_owned())
            .ok_or_else(|| invalid(text, "has a kind or slug that is not a plain word", hint))
    };
    let (kind, slug) = address
        .split_once(':')
        .ok_or_else(|| invalid(text, "does not name a kind and a slug", hint))?;
    Ok(Target::Sam {
        kind: word(kind)?,
        slug: word(slug)?,
        date: parse_day(pin).ok_or_else(|| invalid(text, "has a pin that is not a date", hint))?,
    })
}

/// Parses `YYYY-MM-DD` and no other ISO 8601 spelling.
fn parse_day(text: &str) -> Option<Date> {
    let shape = text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
    shape.then(|| text.parse().ok()).flatten()
}

fn parse_diff(text: &str, rest: &str) -> Result<Target, Refusal> {
    let hint = "Write diff:BASE..HEAD#PATH[#Lx-Ly], for example diff:HEAD~1..HEAD#src/main.rs.";
    let (range, address) = rest
        .split_once('#')
        .ok_or_else(|| invalid(text, "does not name a path", hint))?;
    let (base, head) = range.split_once("..").ok_or_else(|| {
        Refusal::new(
            Code::PointerUnpinned,
            format!("{:?} does not name two revisions", shorten(text, 120)),
            hint,
        )
    })?;
    if head.starts_with('.') {
        return Err(invalid(text, "uses three dots", hint));
    }
    let (path, lines) = match address.rsplit_once('#') {
        Some((path, span)) => (path, Some(span.parse()?)),
        None => (address, None),
    };
    Ok(Target::Diff {
        base: parse_rev(base)?,
        head: parse_rev(head)?,
        path: parse_path(text, path)?,
        lines,
    })
}

fn parse_test(text: &str, rest: &str) -> Result<Target, Refusal> {
    let (address, pin) = split_pin(text, rest)?;
    match address.split_once("::") {
        Some((path, name)) if !name.trim().is_empty() => Ok(Target::Test {
            path: parse_path(text, path)?,
            name: decode(name),
            pin: Pin::parse(pin)?,
        }),
        _ => Err(invalid(
            text,
            "does not name a test",
            "Write test:PATH::NAME@REV, for example test:tests/ledger.rs::reserve_is_idempotent@HEAD.",
        )),
    }
}

fn parse_url(rest: &str) -> Result<Target, Refusal> {
    let (url, digest) = match rest.rsplit_once("@sha256:") {
        Some((url, hex)) => (url, Some(parse_digest(hex)?)),
        None => (rest, None),
    };
    let host = url
        .strip_prefix("https://")
        .map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default())
        .unwrap_or_default();
    let plain = |c: char| c.is_alphanumeric() || ".-_:[]".contains(c);
    if host.is_empty() || !host.chars().all(plain) || url.contains(char::is_whitespace) {
        // The message does not repeat the address: the part before an @ may hold a password.
        return Err(invalid(
            "url:...",
            "is not an https address",
            "Write url:https://host/path, without a user name and without spaces.",
        ));
    }
    Ok(Target::Url {
        url: url.to_owned(),
        digest,
    })
}

/// Splits at the last `@`, except that `HEAD@{1}` and `@{u}` keep their `@`.
fn split_pin<'a>(text: &str, rest: &'a str) -> Result<(&'a str, &'a str), Refusal> {
    let unpinned = || {
        Refusal::new(
            Code::PointerUnpinned,
            format!("{:?} has no pin", shorten(text, 120)),
            "Add @HEAD for the current commit, @worktree for uncommitted work, or a commit id.",
        )
    };
    let at = rest.rfind('@').ok_or_else(unpinned)?;
    let at = if rest[at + 1..].starts_with('{') {
        rest[..at].rfind('@').ok_or_else(unpinned)?
    } else {
        at
    };
    match &rest[at + 1..] {
        "" => Err(unpinned()),
        pin => Ok((&rest[..at], pin)),
    }
}

pub(super) fn parse_rev(rev: &str) -> Result<String, Refusal> {
    let refused = rev.is_empty()
        || rev.len() > 200
        || rev.starts_with(['-', '{'])
        || rev.contains("..")
        || rev.contains(|c: char| c.is_whitespace() || "#:?*[\\".contains(c));
    if refused {
        return Err(Refusal::new(
            Code::PointerInvalid,
            format!("{:?} is not a git revision", shorten(rev, 80)),
            "Pin to HEAD, a branch, a tag or a commit id.",
        ));
    }
    Ok(rev.to_owned())
}

pub(super) fn parse_digest(hex: &str) -> Result<String, Refusal> {
    if hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(hex.to_ascii_lowercase());
    }
    Err(Refusal::new(
        Code::PointerInvalid,
        format!("{:?} is not a sha256 digest", shorten(hex, 80)),
        "Write a digest as sha256: and 64 hexadecimal digits.",
    ))
}

/// Parses a path that stays inside the repository: relative, `/`-separated, no `..`, nothing of
/// git's own.
fn parse_path(text: &str, encoded: &str) -> Result<String, Refusal> {
    let path = decode(encoded);
    let why = if path.is_empty() {
        Some("has no path")
    } else if path.starts_with('/')
        || path.starts_with('\\')
        || path.as_bytes().get(1) == Some(&b':')
    {
        Some("has an absolute path")
    } else if path.starts_with('-') {
        Some("has a path that looks like an option")
    } else {
        path.split(['/', '\\']).find_map(|part| match part {
            "" | "." => Some("has an empty path component"),
            ".." => Some("leaves the repository"),
            _ if part.eq_ignore_ascii_case(".git") => Some("points into the .git folder"),
            _ => None,
        })
    };
    match why {
        None => Ok(path),
        Some(why) => Err(invalid(
            text,
            why,
            "Write the path relative to the repository root, with / as the separator, for example src/main.rs.",
        )),
    }
}

pub(super) fn invalid(text: &str, why: &str, hint: &str) -> Refusal {
    Refusal::new(
        Code::PointerInvalid,
        format!("pointer {:?} {why}", shorten(text, 120)),
        hint,
    )
}

/// `%40`, `%23` and `%25` stand for `@`, `#` and `%`; any other `%` is itself.
const ESCAPES: [(&str, char); 3] = [("%40", '@'), ("%23", '#'), ("%25", '%')];

fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match ESCAPES.iter().find(|(escape, _)| rest.starts_with(escape)) {
            Some((escape, plain)) => {
                out.push(*plain);
                rest = &rest[escape.len()..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// Escapes the characters that the grammar gives a meaning; a `%` only where it would be decoded.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '@' => out.push_str("%40"),
            '#' => out.push_str("%23"),
            '%' if ESCAPES.iter().any(|(e, _)| text[at..].starts_with(e)) => out.push_str("%25"),
            _ => out.push(c),
        }
    }
    out
}
