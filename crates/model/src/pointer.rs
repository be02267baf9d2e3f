//! The pointer grammar of DESIGN section 8: an address with a pin, never content.
//!
//! ```
//! use engram_model::Pointer;
//! let pointer: Pointer = "repo:src/ledger.rs#L41-58@HEAD".parse()?;
//! assert_eq!(pointer.to_string(), "repo:src/ledger.rs#L41-L58@HEAD");
//! # Ok::<(), engram_model::Refusal>(())
//! ```

use std::{fmt, str::FromStr};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::{Code, Limits, Refusal, refusal::shorten};

/// Longest text that is looked at, in bytes; anything longer is refused unread.
const MAX_BYTES: usize = 4096;

/// What the last `@` carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pin {
    /// Any git revision on input; the full commit id once stored.
    Rev(String),
    /// The working tree as it is now; becomes a digest at once when stored.
    Worktree,
    /// Lower-case hex of a sha256: a stored blob.
    Digest(String),
}

impl Pin {
    fn parse(text: &str) -> Result<Self, Refusal> {
        match text.strip_prefix("sha256:") {
            _ if text == "worktree" => Ok(Self::Worktree),
            Some(hex) => parse_digest(hex).map(Self::Digest),
            None => parse_rev(text).map(Self::Rev),
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rev(rev) => f.write_str(rev),
            Self::Worktree => f.write_str("worktree"),
            Self::Digest(hex) => write!(f, "sha256:{hex}"),
        }
    }
}

/// A span of lines, 1-based and inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lines {
    /// First line, at least 1.
    pub start: u32,
    /// Last line, at least `start`.
    pub end: u32,
}

impl FromStr for Lines {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let number = |part: &str| -> Option<u32> {
            let digits = part.strip_prefix('L').unwrap_or(part);
            (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
                .then(|| digits.parse().ok())
                .flatten()
        };
        let lines = text.starts_with('L').then(|| match text.split_once('-') {
            Some((start, end)) => Some((number(start)?, number(end)?)),
            None => number(text).map(|line| (line, line)),
        });
        match lines.flatten() {
            Some((start, end)) if start >= 1 && end >= start => Ok(Self { start, end }),
            _ => Err(Refusal::new(
                Code::PointerInvalid,
                format!("{:?} is not a span of lines", shorten(text, 80)),
                "Write lines as L10 or L10-L20, counted from 1; a # that belongs to a path is written %23.",
            )),
        }
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "L{}", self.start)?;
        if self.end != self.start {
            write!(f, "-L{}", self.end)?;
        }
        Ok(())
    }
}

/// The six kinds of address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PointerType {
    /// Lines of a file at a commit.
    Repo,
    /// A section of a document.
    Artifact,
    /// An event of the episodic plane.
    Sam,
    /// A page on the web.
    Url,
    /// The source that defines a test.
    Test,
    /// What changed between two commits.
    Diff,
}

impl PointerType {
    /// Every kind, in the order of seed 000.
    pub const ALL: &'static [Self] = &[
        Self::Repo,
        Self::Artifact,
        Self::Sam,
        Self::Url,
        Self::Test,
        Self::Diff,
    ];

    /// The word before the first colon.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repo => "repo",
            Self::Artifact => "artifact",
            Self::Sam => "sam",
            Self::Url => "url",
            Self::Test => "test",
            Self::Diff => "diff",
        }
    }
}

/// What a pointer addresses. Paths are relative to the root of the repository, checked, decoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `repo:PATH[#Lx[-Ly]]@REV`
    Repo {
        /// Path within the repository.
        path: String,
        /// The whole file when absent.
        lines: Option<Lines>,
        /// Commit, digest of a snapshot, or the working tree.
        pin: Pin,
    },
    /// `artifact:PATH-or-ID[#sec=HEADING]@REV-or-DIGEST`
    Artifact {
        /// A path in the repository, or any name when pinned by digest.
        name: String,
        /// The whole document when absent.
        section: Option<String>,
        /// Commit or digest.
        pin: Pin,
    },
    /// `sam:KIND:SLUG@DATE`
    Sam {
        /// Kind of the event.
        kind: String,
        /// Slug of the event.
        slug: String,
        /// Day of the event, in UTC.
        date: Date,
    },
    /// `diff:BASE..HEAD#PATH[#Lx-Ly]`; its two revisions are its pin.
    Diff {
        /// Revision before.
        base: String,
        /// Revision after.
        head: String,
        /// Path within the repository.
        path: String,
        /// Lines of `head` that the change touches.
        lines: Option<Lines>,
    },
    /// `test:PATH::NAME@REV`
    Test {
        /// Path within the repository.
        path: String,
        /// Name of the test, as its runner writes it.
        name: String,
        /// Commit, digest of a snapshot, or the working tree.
        pin: Pin,
    },
    /// `url:HTTPS-URL[@DIGEST]`
    Url {
        /// An https address.
        url: String,
        /// Lower-case hex of the sha256 of what it returned.
        digest: Option<String>,
    },
}

/// An address with a pin and, once it was read, the digest of what it addresses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "PointerInput", into = "PointerInput")]
pub struct Pointer {
    /// What it addresses.
    pub target: Target,
    /// `sha256:HEX` of the bytes of the full span, as read.
    pub digest: Option<String>,
}

impl Pointer {
    /// The kind of address.
    pub fn kind(&self) -> PointerType {
        match self.target {
            Target::Repo { .. } => PointerType::Repo,
            Target::Artifact { .. } => PointerType::Artifact,
            Target::Sam { .. } => PointerType::Sam,
            Target::Diff { .. } => PointerType::Diff,
            Target::Test { .. } => PointerType::Test,
            Target::Url { .. } => PointerType::Url,
        }
    }

    /// The path or name that a person would recognise it by.
    pub fn name(&self) -> &str {
        match &self.target {
            Target::Repo { path, .. } | Target::Diff { path, .. } | Target::Test { path, .. } => {
                path
            }
            Target::Artifact { name, .. } => name,
            Target::Sam { slug, .. } => slug,
            Target::Url { url, .. } => url,
        }
    }

    /// The marked lines, where the address names some.
    pub fn lines(&self) -> Option<Lines> {
        match self.target {
            Target::Repo { lines, .. } | Target::Diff { lines, .. } => lines,
            _ => None,
        }
    }

    /// The address in few characters, for a row: path, span or name, without the pin.
    pub fn label(&self) -> String {
        match &self.target {
            Target::Repo { path, lines, .. } | Target::Diff { path, lines, .. } => match lines {
                Some(lines) => format!("{path}#{lines}"),
                None => path.clone(),
            },
            Target::Artifact { name, section, .. } => match section {
                Some(section) => format!("{name} §{section}"),
                None => name.clone(),
            },
            Target::Sam { kind, slug, .. } => format!("{kind}:{slug}"),
            Target::Test { path, name, .. } => format!("{path}::{name}"),
            Target::Url { url, .. } => url.clone(),
        }
    }

    /// The pin in few characters: the commit or digest shortened to 7, a date as it is.
    pub fn short_pin(&self) -> String {
        let short = |text: &str| -> String { text.chars().take(7).collect() };
        match &self.target {
            Target::Repo { pin, .. } | Target::Artifact { pin, .. } | Target::Test { pin, .. } => {
                match pin {
                    Pin::Rev(rev) if rev.len() == 40 => short(rev),
                    Pin::Digest(hex) => format!("snapshot {}", short(hex)),
                    other => other.to_string(),
                }
            }
            Target::Sam { date, .. } => date.to_string(),
            Target::Diff { base, head, .. } => format!("{}..{}", short(base), short(head)),
            Target::Url { digest, .. } => digest.as_deref().map(short).unwrap_or_default(),
        }
    }

    /// Characters of the canonical address once each revision in it is a full commit id, and the
    /// working tree the digest of a snapshot.
    fn pinned_chars(&self) -> usize {
        const COMMIT: usize = 40;
        let rev = |rev: &str| COMMIT.saturating_sub(rev.chars().count());
        let grows = match &self.target {
            Target::Repo { pin, .. } | Target::Artifact { pin, .. } | Target::Test { pin, .. } => {
                match pin {
                    Pin::Rev(name) => rev(name),
                    Pin::Worktree => "sha256:".len() + 64 - "worktree".len(),
                    Pin::Digest(_) => 0,
                }
            }
            Target::Diff { base, head, .. } => rev(base) + rev(head),
            Target::Sam { .. } | Target::Url { .. } => 0,
        };
        self.to_string().chars().count() + grows
    }

    /// The same pointer with a checked `sha256:HEX` digest.
    pub fn with_digest(self, digest: Option<String>) -> Result<Self, Refusal> {
        let digest = match digest {
            None => None,
            Some(text) => {
                let hex = text.strip_prefix("sha256:").unwrap_or(&text);
                Some(format!("sha256:{}", parse_digest(hex)?))
            }
        };
        Ok(Self { digest, ..self })
    }
}

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
                "holds control characters",
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
            "url" => parse_url(text, rest)?,
            _ => {
                return Err(invalid(
                    text,
                    "has no known kind",
                    "Begin with one of repo: artifact: sam: diff: test: url:, for example repo:src/main.rs#L10-L20@HEAD.",
                ));
            }
        };
        Ok(Self {
            target,
            digest: None,
        })
    }
}

impl fmt::Display for Pointer {
    /// The canonical address; the digest is not part of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Repo { path, lines, pin } => {
                write!(f, "repo:{}", encode(path))?;
                if let Some(lines) = lines {
                    write!(f, "#{lines}")?;
                }
                write!(f, "@{pin}")
            }
            Target::Artifact { name, section, pin } => {
                write!(f, "artifact:{}", encode(name))?;
                if let Some(section) = section {
                    write!(f, "#sec={}", encode(section))?;
                }
                write!(f, "@{pin}")
            }
            Target::Sam { kind, slug, date } => write!(f, "sam:{kind}:{slug}@{date}"),
            Target::Diff {
                base,
                head,
                path,
                lines,
            } => {
                write!(f, "diff:{base}..{head}#{}", encode(path))?;
                match lines {
                    Some(lines) => write!(f, "#{lines}"),
                    None => Ok(()),
                }
            }
            Target::Test { path, name, pin } => {
                write!(f, "test:{}::{}@{pin}", encode(path), encode(name))
            }
            Target::Url { url, digest } => {
                write!(f, "url:{url}")?;
                match digest {
                    Some(hex) => write!(f, "@sha256:{hex}"),
                    None => Ok(()),
                }
            }
        }
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
                    "Name the section by its heading, as in artifact:docs/SPEC.md#sec=Rules@HEAD; for lines use repo:.",
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
        date: day(pin).ok_or_else(|| invalid(text, "has a pin that is not a date", hint))?,
    })
}

/// `YYYY-MM-DD`, and none of the other spellings that ISO 8601 has.
fn day(text: &str) -> Option<Date> {
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

fn parse_url(text: &str, rest: &str) -> Result<Target, Refusal> {
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
        return Err(invalid(
            text,
            "is not an https address",
            "Write url:https://host/path, without a user name and without spaces.",
        ));
    }
    Ok(Target::Url {
        url: url.to_owned(),
        digest,
    })
}

/// Splits at the last `@`; `HEAD@{1}` and `@{u}` keep the `@` that belongs to them.
fn split_pin<'a>(text: &str, rest: &'a str) -> Result<(&'a str, &'a str), Refusal> {
    let unpinned = || {
        Refusal::new(
            Code::PointerUnpinned,
            format!("{:?} has no pin", shorten(text, 120)),
            "Add @HEAD for the current commit, @worktree for uncommitted work, or a commit id.",
        )
    };
    let at = rest.rfind('@').ok_or_else(unpinned)?;
    let at = match rest[at + 1..].starts_with('{') {
        true => rest[..at].rfind('@').ok_or_else(unpinned)?,
        false => at,
    };
    match &rest[at + 1..] {
        "" => Err(unpinned()),
        pin => Ok((&rest[..at], pin)),
    }
}

fn parse_rev(rev: &str) -> Result<String, Refusal> {
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

fn parse_digest(hex: &str) -> Result<String, Refusal> {
    if hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(hex.to_ascii_lowercase());
    }
    Err(Refusal::new(
        Code::PointerInvalid,
        format!("{:?} is not a sha256", shorten(hex, 80)),
        "A digest is sha256: and 64 hexadecimal digits.",
    ))
}

/// A path that stays inside the repository: relative, `/`-separated, no `..`, nothing of git's own.
fn parse_path(text: &str, encoded: &str) -> Result<String, Refusal> {
    let path = decode(encoded);
    let why = if path.is_empty() {
        Some("names no path")
    } else if path.starts_with('/')
        || path.starts_with('\\')
        || path.as_bytes().get(1) == Some(&b':')
    {
        Some("has an absolute path")
    } else if path.starts_with('-') {
        Some("has a path that reads as an option")
    } else {
        path.split(['/', '\\']).find_map(|part| match part {
            "" | "." => Some("has an empty path component"),
            ".." => Some("climbs out of the repository"),
            _ if part.eq_ignore_ascii_case(".git") => Some("points into git's own folder"),
            _ => None,
        })
    };
    match why {
        None => Ok(path),
        Some(why) => Err(invalid(
            text,
            why,
            "Write the path relative to the repository's root, with / between its parts, for example src/main.rs.",
        )),
    }
}

fn invalid(text: &str, why: &str, hint: &str) -> Refusal {
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

/// Escapes what the grammar would read otherwise; a `%` only where it would be decoded.
fn encode(text: &str) -> String {
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

/// A pointer as it is sent: a string everywhere, or the object of the v0.1 schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PointerInput {
    /// `repo:src/main.rs#L10-L20@HEAD`
    Text(String),
    /// `{ "type": "repo", "ref": "repo:src/main.rs@HEAD", "span": "L10-L20" }`
    Object(crate::PointerV01),
}

/// By hand, because an untagged enum would not say which key of the object is wrong.
impl<'de> Deserialize<'de> for PointerInput {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> serde::de::Visitor<'de> for Either {
            type Value = PointerInput;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a pointer: a string, or an object with type and ref")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(PointerInput::Text(text.to_owned()))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> Result<Self::Value, A::Error> {
                let object = serde::de::value::MapAccessDeserializer::new(map);
                crate::PointerV01::deserialize(object).map(PointerInput::Object)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl PointerInput {
    /// Parses it and holds it to the limits of the wire form, now and once it is pinned.
    pub fn check(self, limits: &Limits) -> Result<Pointer, Refusal> {
        let span = match &self {
            Self::Text(_) => 0,
            Self::Object(object) => object
                .span
                .as_deref()
                .map_or(0, |span| span.chars().count()),
        };
        if span > limits.span_chars {
            return Err(Refusal::new(
                Code::PointerInvalid,
                format!(
                    "the span of a pointer has {span} characters, {} are allowed",
                    limits.span_chars
                ),
                "Cut a section's heading to its first words.",
            ));
        }
        let written = match &self {
            Self::Text(text) => text.chars().count(),
            Self::Object(object) => object.reference.chars().count(),
        };
        let pointer = Pointer::try_from(self)?;
        let chars = written.max(pointer.pinned_chars());
        if chars > limits.ref_chars {
            return Err(invalid(
                &pointer.to_string(),
                &format!(
                    "takes {chars} characters with a full pin, {} are allowed",
                    limits.ref_chars
                ),
                "Shorten the address: a section's heading may be cut to its first words, a file may stand for its span.",
            ));
        }
        Ok(pointer)
    }
}

impl TryFrom<PointerInput> for Pointer {
    type Error = Refusal;

    fn try_from(input: PointerInput) -> Result<Self, Refusal> {
        match input {
            PointerInput::Text(text) => text.parse(),
            PointerInput::Object(object) => object.try_into(),
        }
    }
}

impl From<Pointer> for PointerInput {
    fn from(pointer: Pointer) -> Self {
        PointerInput::Object(pointer.into())
    }
}
