//! The pointer (docs/design.md#pointers): an address with a pin, never content. The submodules hold
//! its grammar, the health of evidence (`health.rs`), and how a pointed source is shown.
//!
//! ```
//! use engram_model::Pointer;
//! let pointer: Pointer = "repo:src/ledger.rs#L41-58@HEAD".parse()?;
//! assert_eq!(pointer.to_string(), "repo:src/ledger.rs#L41-L58@HEAD");
//! # Ok::<(), engram_model::Refusal>(())
//! ```

mod grammar;
mod health;
mod input;
mod source;

use std::{fmt, str::FromStr};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::{Code, OWN_EVENT, Refusal, text::shorten, words::words};

use grammar::{encode, parse_digest, parse_rev};

pub use health::*;
pub use input::PointerInput;
pub use source::*;

/// The pin: the part after the last `@`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pin {
    /// Any git revision on input; the full commit id once stored.
    Rev(String),
    /// The current working tree; becomes a digest as soon as it is stored.
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
                format!("{:?} is not a line span", shorten(text, 80)),
                "Write lines as L10 or L10-L20, counting from 1; write a # in a path as %23.",
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

words!(
    /// The six kinds of address.
    PointerType {
        /// Lines of a file at a commit.
        Repo = "repo",
        /// A section of a document.
        Artifact = "artifact",
        /// An event.
        Sam = "sam",
        /// A page on the web.
        Url = "url",
        /// The source that defines a test.
        Test = "test",
        /// What changed between two commits.
        Diff = "diff",
    }
);

/// What a pointer addresses. Paths are relative to the root of the repository, checked and decoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `repo:PATH[#Lx[-Ly]]@REV`
    Repo {
        /// Path within the repository.
        path: String,
        /// The lines; the whole file if absent.
        lines: Option<Lines>,
        /// Commit, digest of a snapshot, or the working tree.
        pin: Pin,
    },
    /// `artifact:PATH-or-ID[#sec=HEADING]@REV-or-DIGEST`
    Artifact {
        /// A path in the repository, or any name when pinned by digest.
        name: String,
        /// The heading of a section; the whole document if absent.
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

/// An address with a pin and, once it was read, the digest of the content.
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

    /// The path or name by which a person recognises it.
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

    /// Whether a working tree can contain what it addresses.
    pub fn is_in_tree(&self) -> bool {
        matches!(
            self.kind(),
            PointerType::Repo | PointerType::Test | PointerType::Artifact
        )
    }

    /// Whether it is pinned to a commit.
    pub fn is_of_commit(&self) -> bool {
        match &self.target {
            Target::Repo { pin, .. } | Target::Test { pin, .. } | Target::Artifact { pin, .. } => {
                matches!(pin, Pin::Rev(_))
            }
            Target::Diff { .. } | Target::Sam { .. } | Target::Url { .. } => false,
        }
    }

    /// Whether it addresses the claim that it belongs to, which was stored without evidence.
    pub fn is_of_own_words(&self) -> bool {
        matches!(&self.target, Target::Sam { kind, .. } if kind == OWN_EVENT)
    }

    /// The marked lines, if the address names any.
    pub fn lines(&self) -> Option<Lines> {
        match self.target {
            Target::Repo { lines, .. } | Target::Diff { lines, .. } => lines,
            _ => None,
        }
    }

    /// The commits that it is pinned to.
    pub fn commits(&self) -> Vec<&str> {
        match &self.target {
            Target::Repo { pin, .. } | Target::Artifact { pin, .. } | Target::Test { pin, .. } => {
                match pin {
                    Pin::Rev(commit) => vec![commit],
                    Pin::Worktree | Pin::Digest(_) => Vec::new(),
                }
            }
            Target::Diff { base, head, .. } => vec![base, head],
            Target::Sam { .. } | Target::Url { .. } => Vec::new(),
        }
    }

    /// The address without span and pin: a path, a web address, or kind and slug of an event.
    pub fn address(&self) -> String {
        match &self.target {
            Target::Repo { path, .. } | Target::Test { path, .. } | Target::Diff { path, .. } => {
                path.clone()
            }
            Target::Artifact { name, .. } => name.clone(),
            Target::Sam { kind, slug, .. } => format!("{kind}:{slug}"),
            Target::Url { url, .. } => url.clone(),
        }
    }

    /// The digest (lower-case hex) of the stored file to which it is pinned.
    pub fn snapshot_digest(&self) -> Option<&str> {
        match &self.target {
            Target::Repo { pin, .. } | Target::Artifact { pin, .. } | Target::Test { pin, .. } => {
                match pin {
                    Pin::Digest(digest) => Some(digest),
                    Pin::Rev(_) | Pin::Worktree => None,
                }
            }
            Target::Diff { .. } | Target::Sam { .. } | Target::Url { .. } => None,
        }
    }

    /// A short address for a row: path, span or name, without the pin.
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

    /// A short pin: the commit or digest cut to 7 characters, a date in full.
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

    /// The length in characters of the canonical address after pinning, when each revision is a
    /// full commit id and the working tree is the digest of a snapshot.
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

    /// Returns the same pointer with this digest, after checking that it is a valid `sha256:HEX`.
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

impl fmt::Display for Pointer {
    /// Writes the canonical address, which does not include the digest.
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
