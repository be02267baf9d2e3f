//! What the agents work on: a fresh clone of this repository with a home beside it. The claims
//! about it come from its sources: an item's comment, the name of a test, the first sentence of a
//! section in a document.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};

use crate::{accuracy::git, sandbox::NO_RATE};

/// Fewer lines say little, and more are not read at once.
const LINES: std::ops::RangeInclusive<usize> = 4..=40;
/// The longest sentence that a claim quotes, in characters.
const SENTENCE: usize = 220;

/// A clone and a home.
pub(crate) struct CloneAndHome {
    place: crate::sandbox::Sandbox,
    engram: PathBuf,
    pub(crate) commit: String,
}

impl CloneAndHome {
    /// Clones the repository at a commit.
    pub(crate) fn new(root: &Path, commit: &str, engram: PathBuf) -> Result<Self> {
        let place = crate::sandbox::Sandbox::new("trace", NO_RATE)?;
        let commit = git(root, &["rev-parse", &format!("{commit}^{{commit}}")])?;
        let (from, to) = (root.to_string_lossy(), place.repo());
        git(&to, &["clone", "--quiet", "--no-checkout", &from, "."])?;
        git(&to, &["checkout", "--quiet", "--detach", &commit])?;
        Ok(Self {
            place,
            engram,
            commit,
        })
    }

    /// Returns `engram` for this home and this clone.
    pub(crate) fn engram(&self) -> Command {
        let mut engram = self.place.engram(&self.engram);
        engram.arg("--json");
        engram
    }

    /// Returns the files that yield claims, ordered by path.
    pub(crate) fn sources(&self) -> Result<Vec<SourceFile>> {
        let mut sources = Vec::new();
        for path in git(&self.place.repo(), &["ls-files"])?.lines() {
            let read = match path.rsplit_once('.') {
                Some((_, "rs")) => items_of_rust as fn(&str, &str) -> Vec<Item>,
                Some((_, "md")) => items_of_markdown,
                _ => continue,
            };
            let text = fs::read_to_string(self.place.repo().join(path))?;
            let items = read(path, &text);
            if !items.is_empty() {
                let path = path.to_owned();
                sources.push(SourceFile { path, text, items });
            }
        }
        ensure!(sources.len() > 100, "{} files say something", sources.len());
        Ok(sources)
    }
}

/// A file that yields claims.
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) items: Vec<Item>,
}

impl SourceFile {
    /// Returns the pointer to a part of the file, or to all of it, at the checked-out commit.
    pub(crate) fn pointer(&self, part: &str) -> String {
        let kind = if self.path.ends_with(".md") {
            "artifact"
        } else {
            "repo"
        };
        format!("{kind}:{}{part}@HEAD", self.path)
    }

    /// Returns some of its lines of code.
    pub(crate) fn code(&self) -> Vec<&str> {
        let lines = self.text.lines().map(str::trim_end);
        let code = |it: &&str| it.starts_with("    ") && it.ends_with([';', '{']) && it.len() < 90;
        lines.filter(code).take(6).collect()
    }
}

/// A claim and its evidence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) claim: String,
    /// The part in the form of a pointer, with its `#`.
    pub(crate) part: String,
}

/// Returns items with a comment, and tests whose names are sentences.
fn items_of_rust(path: &str, text: &str) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let stem = path.rsplit('/').next().unwrap_or_default();
    let mut items = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = declared(line) else { continue };
        let said = lines[..at].iter().rev();
        let said =
            said.take_while(|it| it.trim().starts_with("///") || it.trim().starts_with("#["));
        let first = at - said.count();
        let body = lines[at..]
            .iter()
            .position(|it| it.trim_end() == closing(line));
        let last = (at + body.unwrap_or(0)).min(first + LINES.end() - 1);
        let is_test = lines[first..at].iter().any(|it| it.trim() == "#[test]");
        let (kind, claim) = match sentence(&lines[first..at]) {
            Some(said) => ("fact", format!("{name} in {stem}: {said}")),
            None if is_test && name.matches('_').count() > 3 => (
                "test",
                format!("A test in {stem} shows that {}.", name.replace('_', " ")),
            ),
            None => continue,
        };
        if LINES.contains(&(last + 1 - first)) {
            items.push(Item {
                name: name.to_owned(),
                kind,
                claim,
                part: format!("#L{}-L{}", first + 1, last + 1),
            });
        }
    }
    items
}

/// Returns the name that a line declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = ["pub(crate) ", "pub(super) ", "pub "]
        .iter()
        .find_map(|it| line.strip_prefix(it))
        .unwrap_or(line);
    let line = ["fn ", "struct ", "enum ", "trait "]
        .iter()
        .find_map(|it| line.strip_prefix(it))?;
    let end = line.find(|it: char| !it.is_alphanumeric() && it != '_')?;
    Some(&line[..end]).filter(|it| it.len() > 3)
}

/// Returns the last line of an item that begins with this line.
fn closing(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    format!("{}}}", " ".repeat(indent))
}

/// Returns the first sentence of a comment, if it consists only of words.
fn sentence(lines: &[&str]) -> Option<String> {
    let said: Vec<&str> = lines
        .iter()
        .filter_map(|it| it.trim().strip_prefix("///"))
        .map(str::trim)
        .collect();
    first_sentence(&said.join(" "))
}

fn first_sentence(text: &str) -> Option<String> {
    let end = text.find(". ").map_or(text.len(), |it| it + 1);
    let said = text[..end].trim();
    let is_prose = said.len() > 20
        && said.chars().count() < SENTENCE
        && said.ends_with('.')
        && !said.contains(['`', '[', '{', '<', '|', '=', ';', '*', '#']);
    is_prose.then(|| said.to_owned())
}

/// Returns sections that begin with a plain sentence.
fn items_of_markdown(path: &str, text: &str) -> Vec<Item> {
    let stem = path.rsplit('/').next().unwrap_or_default();
    let mut items: Vec<Item> = Vec::new();
    let mut seen = BTreeMap::new();
    for part in text.split("\n## ").skip(1) {
        let (title, body) = part.split_once('\n').unwrap_or((part, ""));
        let body = body.trim_start().lines().next().unwrap_or_default();
        let is_word = title.chars().all(|it| it.is_alphanumeric() || it == ' ');
        let is_first = seen.insert(title.to_lowercase(), ()).is_none();
        if let (true, true, Some(said)) = (is_word, is_first, first_sentence(body)) {
            items.push(Item {
                name: title.to_owned(),
                kind: "policy",
                claim: format!("{stem} on {}: {said}", title.to_lowercase()),
                part: format!("#sec={title}"),
            });
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_source_says_becomes_claims_with_their_lines() {
        let text = "\
/// Turns are counted here. More follows.
pub(crate) struct Count {
    /// Nothing.
    of: u32,
}

#[test]
fn two_agents_with_one_name_have_two_rows() {
    let two = 2;
    assert_eq!(two, 2);
}

/// Takes `code`.
fn small() {
    1;
    2;
}
";
        let item = |name: &str, kind, claim: &str, part: &str| Item {
            name: name.to_owned(),
            kind,
            claim: claim.to_owned(),
            part: part.to_owned(),
        };
        let expected = [
            item(
                "Count",
                "fact",
                "Count in a.rs: Turns are counted here.",
                "#L1-L5",
            ),
            item(
                "two_agents_with_one_name_have_two_rows",
                "test",
                "A test in a.rs shows that two agents with one name have two rows.",
                "#L7-L11",
            ),
        ];
        assert_eq!(items_of_rust("src/a.rs", text), expected);
        let text = "# Title\n\n## What it costs\n\nEvery read counts against a turn. Always.\n\n## A `b`\n\nNo claim is made of this.\n";
        let expected = item(
            "What it costs",
            "policy",
            "a.md on what it costs: Every read counts against a turn.",
            "#sec=What it costs",
        );
        assert_eq!(items_of_markdown("docs/a.md", text), [expected]);
    }
}
