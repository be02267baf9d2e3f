//! Histories generated from real files, with one kind of change at a time. Each line has a number
//! that it keeps through all changes and moves, so the truth is known.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::{
    Chance, Measurement, Span, fate_of, git,
    published::clear_worktree,
    references::{Fate, FileSpan, GitBlame, Range},
};
use xtask::remove_folder;

/// Commits per history.
const COMMITS: usize = 24;
/// The number of files at the start of a history, and the maximum number of lines in each.
const FILES: usize = 10;
const MAX_LINES: usize = 400;

/// A line with its number.
#[derive(Clone, PartialEq)]
struct NumberedLine {
    number: usize,
    text: String,
}

use Mutation::*;

type FilesByPath = BTreeMap<String, Vec<NumberedLine>>;

/// The kinds of histories, with the changes that may occur in a commit.
#[rustfmt::skip]
const KINDS: &[(&str, &[Mutation])] = &[
    ("insert", &[Insert]),
    ("delete", &[Delete]),
    ("edit", &[Edit]),
    ("insert, delete, edit", &[Insert, Delete, Edit]),
    ("move in a file", &[Move]),
    ("move to another file", &[MoveOut]),
    ("edit and move", &[EditMove]),
    ("rename, edit", &[Rename, Edit]),
    ("split, merge", &[Split, Merge]),
    ("reindent, line endings", &[Reindent, Ending]),
    ("twins", &[Twin, Edit, Delete]),
    ("deleted, restored", &[Hide, Restore, Insert]),
    ("everything", &[
        Insert, Insert, Insert, Delete, Delete, Edit, Edit, Edit, Move, MoveOut, EditMove, Rename, Split, Merge,
        Reindent, Ending, Twin,
    ]),
];

#[derive(Clone, Copy)]
enum Mutation {
    Insert,
    Delete,
    Edit,
    Move,
    MoveOut,
    EditMove,
    Rename,
    Split,
    Merge,
    Reindent,
    Ending,
    Twin,
    Hide,
    Restore,
}

/// Generates a history of each kind, follows spans through it in both directions, and counts what
/// engram and blame got right.
pub(crate) fn measure(bench: &mut Measurement, cache: &Path, sources: &[PathBuf]) -> Result<()> {
    for (kind, changes) in KINDS {
        for (at, source) in sources.iter().enumerate() {
            let seed = bench.seed.wrapping_mul(1000) + at as u64;
            let repo = cache.join(format!("{}-{at}", kind.replace([' ', ','], "-")));
            let mut history = History::begin(&repo, source, seed)?;
            for _ in 0..COMMITS {
                history.commit(changes)?;
            }
            let commits = (history.first.clone(), git(&repo, &["rev-parse", "HEAD"])?);
            let (first, last) = (history.before.clone(), history.files.clone());
            let name = format!("generated: {kind}");
            let ends = [(&*commits.0, &first), (&*commits.1, &last)];
            follow(bench, &repo, &name, ends[0], ends[1])?;
            follow(bench, &repo, &name, ends[1], ends[0])?;
        }
    }
    Ok(())
}

fn follow(
    bench: &mut Measurement,
    repo: &Path,
    name: &str,
    from: (&str, &FilesByPath),
    to: (&str, &FilesByPath),
) -> Result<()> {
    let range = Range::new(repo, from.0, to.0)?;
    let known = lines_by_number(to.1);
    let spans: Vec<(Span, Fate)> = sample(from.1, bench.spans, bench.seed)
        .into_iter()
        .filter_map(|span| {
            let truth = true_fate(&span, from.1, to.1, &known)?;
            Some((span, truth))
        })
        .collect();
    let asked: Vec<Span> = spans.iter().map(|it| it.0.clone()).collect();
    let (answers, _) = bench.track(repo, from.0, to.0, &asked)?;
    let mut blame = GitBlame::new(repo, &range);
    for ((span, truth), answer) in spans.iter().zip(answers) {
        let ours = fate_of(&answer)?;
        bench.check_bytes(repo, &range, span, &ours)?;
        let theirs = correct_by_bytes(blame.fate(span)?, span, from.1, to.1);
        bench.truth.row(name).note(&ours, truth);
        bench
            .truth
            .row(&format!("{name} (blame)"))
            .note(&theirs, truth);
        if bench.show && ours != *truth {
            bench.print_miss(repo, &range, span, truth, &ours, &answer);
        }
    }
    Ok(())
}

/// Corrects an answer of blame by comparing bytes, since `-w` makes it ignore white space.
fn correct_by_bytes(fate: Fate, span: &Span, from: &FilesByPath, to: &FilesByPath) -> Fate {
    let text = |files: &FilesByPath, path: &str, start: usize, end: usize| {
        let lines = files.get(path)?.get(start - 1..end)?;
        Some(lines.iter().map(|it| it.text.clone()).collect::<Vec<_>>())
    };
    match fate {
        Fate::Intact(place)
            if text(from, &span.path, span.start, span.end)
                != text(to, &place.path, place.start, place.end) =>
        {
            Fate::Edited(place)
        }
        fate => fate,
    }
}

/// Returns the place of each numbered line.
fn lines_by_number(files: &FilesByPath) -> HashMap<usize, (&str, usize)> {
    let mut known = HashMap::new();
    for (path, lines) in files {
        for (at, line) in lines.iter().enumerate() {
            known.insert(line.number, (path.as_str(), at));
        }
    }
    known
}

/// Returns the true fate of a span; `None` if its lines were separated, so that no single span
/// holds them.
fn true_fate(
    span: &Span,
    from: &FilesByPath,
    to: &FilesByPath,
    known: &HashMap<usize, (&str, usize)>,
) -> Option<Fate> {
    let lines = from.get(&span.path)?.get(span.start - 1..span.end)?;
    let places: Vec<_> = lines
        .iter()
        .filter_map(|it| known.get(&it.number))
        .collect();
    let Some((path, first)) = places.first().copied() else {
        return Some(Fate::Deleted);
    };
    let together =
        places.iter().all(|it| it.0 == *path) && places.windows(2).all(|it| it[0].1 < it[1].1);
    let last = places.last()?.1;
    if !together || last - first > lines.len() * 3 / 2 + 6 || places.len() * 2 < lines.len() {
        return None;
    }
    let place = FileSpan {
        path: (*path).to_owned(),
        start: first + 1,
        end: last + 1,
    };
    let now = to.get(*path)?.get(*first..=last)?;
    let same = now.len() == lines.len() && now.iter().zip(lines).all(|(a, b)| a.text == b.text);
    Some(if same {
        Fate::Intact(place)
    } else {
        Fate::Edited(place)
    })
}

fn sample(files: &FilesByPath, count: usize, seed: u64) -> Vec<Span> {
    const LENGTHS: &[usize] = &[1, 1, 2, 3, 4, 5, 8, 12, 20];
    let mut chance = Chance(seed ^ 0x5eed);
    let paths: Vec<&String> = files
        .iter()
        .filter(|it| !it.1.is_empty())
        .map(|it| it.0)
        .collect();
    (0..count)
        .map(|_| {
            let path = paths[chance.below(paths.len())];
            let total = files[path].len();
            let length = LENGTHS[chance.below(LENGTHS.len())].min(total);
            let start = 1 + chance.below(total - length + 1);
            Span {
                path: path.clone(),
                start,
                end: start + length - 1,
            }
        })
        .collect()
}

struct History {
    repo: PathBuf,
    files: FilesByPath,
    before: FilesByPath,
    first: String,
    /// Deleted files, which may come back.
    hidden: FilesByPath,
    /// Lines from other files, to be inserted.
    foreign: Vec<String>,
    next: usize,
    chance: Chance,
}

impl History {
    /// Begins with some text files of a repository.
    fn begin(repo: &Path, source: &Path, seed: u64) -> Result<Self> {
        remove_folder(repo)?;
        fs::create_dir_all(repo)?;
        git(repo, &["init", "-q"])?;
        let mut chance = Chance(seed);
        let listed = git(source, &["ls-tree", "-r", "--name-only", "HEAD"])?;
        let mut texts = Vec::new();
        for path in listed.lines().filter(|it| !it.starts_with('"')) {
            let bytes = super::read_blob(source, "HEAD", path)?;
            if let Ok(text) = String::from_utf8(bytes)
                && text.ends_with('\n')
                && !text.contains('\0')
                && text.lines().count() > 30
            {
                texts.push((path.to_owned(), text));
            }
        }
        let mut next = 0;
        let mut files = FilesByPath::new();
        let mut foreign = Vec::new();
        while !texts.is_empty() {
            let (path, text) = texts.swap_remove(chance.below(texts.len()));
            let lines = text.split_inclusive('\n').take(MAX_LINES);
            if files.len() == FILES {
                foreign.extend(lines.map(str::to_owned));
                continue;
            }
            let numbered = lines.map(|text| {
                next += 1;
                NumberedLine {
                    number: next,
                    text: text.to_owned(),
                }
            });
            files.insert(path, numbered.collect());
        }
        if foreign.is_empty() {
            foreign.extend((0..500).map(|it| format!("inserted line number {it};\n")));
        }
        let mut history = Self {
            repo: repo.to_owned(),
            before: files.clone(),
            files,
            first: String::new(),
            hidden: FilesByPath::new(),
            foreign,
            next,
            chance,
        };
        history.commit_files()?;
        history.first = git(repo, &["rev-parse", "HEAD"])?;
        Ok(history)
    }

    fn commit(&mut self, changes: &[Mutation]) -> Result<()> {
        for _ in 0..1 + self.chance.below(3) {
            let change = changes[self.chance.below(changes.len())];
            self.apply(change);
        }
        self.commit_files()
    }

    fn commit_files(&self) -> Result<()> {
        clear_worktree(&self.repo)?;
        for (path, lines) in self.files.iter().filter(|it| !it.1.is_empty()) {
            let path = self.repo.join(path);
            fs::create_dir_all(path.parent().context("no folder")?)?;
            fs::write(
                path,
                lines.iter().map(|it| it.text.as_str()).collect::<String>(),
            )?;
        }
        git(&self.repo, &["add", "-A", "-f"])?;
        git(
            &self.repo,
            &["commit", "-q", "--allow-empty", "-m", "change"],
        )
        .map(drop)
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn any_path(&mut self) -> Option<String> {
        let paths: Vec<&String> = self
            .files
            .iter()
            .filter(|it| it.1.len() > 20)
            .map(|it| it.0)
            .collect();
        let at = self.chance.below(paths.len());
        paths.get(at).map(|it| (*it).clone())
    }

    fn apply(&mut self, change: Mutation) -> Option<()> {
        let path = self.any_path()?;
        match change {
            Insert => self.insert(&path),
            Delete => {
                let block = self.block(&path, 6);
                self.files.get_mut(&path)?.drain(block);
            }
            Edit => self.edit(&path, 4),
            Move => {
                let block = self.block(&path, 14);
                self.move_block(&path, block, &path.clone());
            }
            MoveOut => {
                let block = self.block(&path, 14);
                let to = self.any_path()?;
                self.move_block(&path, block, &to);
            }
            EditMove => self.edit_and_move(&path)?,
            Rename => {
                let lines = self.files.remove(&path)?;
                let name = format!("renamed{}/{path}", self.number());
                self.files.insert(name, lines);
            }
            Split => {
                let lines = self.files.get_mut(&path)?;
                let half = lines.split_off(lines.len() / 2);
                let name = format!("{path}.part{}", self.number());
                self.files.insert(name, half);
            }
            Merge => {
                let other = self.any_path().filter(|it| *it != path)?;
                let lines = self.files.remove(&other)?;
                self.files.get_mut(&path)?.extend(lines);
            }
            Reindent => self.reindent(&path),
            Ending => {
                for line in self.files.get_mut(&path)? {
                    line.text = match line.text.strip_suffix("\r\n") {
                        Some(rest) => format!("{rest}\n"),
                        None => format!("{}\r\n", line.text.trim_end_matches('\n')),
                    };
                }
            }
            Twin => {
                let block = self.block(&path, 8);
                let copy: Vec<String> = self.files[&path][block]
                    .iter()
                    .map(|it| it.text.clone())
                    .collect();
                let at = self.chance.below(self.files[&path].len());
                self.put(&path, at, copy);
            }
            // Keep some files to follow.
            Hide if self.files.len() < 4 => {}
            Hide => {
                let lines = self.files.remove(&path)?;
                self.hidden.insert(path, lines);
            }
            Restore => {
                let (path, lines) = self.hidden.pop_first()?;
                self.files.insert(path, lines);
            }
        }
        Some(())
    }

    fn insert(&mut self, path: &str) {
        let count = 1 + self.chance.below(8);
        let from = self.chance.below(self.foreign.len().saturating_sub(count));
        let texts: Vec<String> = self
            .foreign
            .iter()
            .skip(from)
            .take(count)
            .cloned()
            .collect();
        let at = self.chance.below(self.files[path].len());
        self.put(path, at, texts);
    }

    /// Inserts lines that occur nowhere else.
    fn put(&mut self, path: &str, at: usize, texts: Vec<String>) {
        let lines: Vec<NumberedLine> = texts
            .into_iter()
            .map(|text| NumberedLine {
                number: self.number(),
                text,
            })
            .collect();
        if let Some(file) = self.files.get_mut(path) {
            file.splice(at..at, lines);
        }
    }

    fn block(&mut self, path: &str, most: usize) -> std::ops::Range<usize> {
        let total = self.files[path].len();
        let count = (1 + self.chance.below(most)).min(total);
        let at = self.chance.below(total - count + 1);
        at..at + count
    }

    fn move_block(&mut self, path: &str, block: std::ops::Range<usize>, to: &str) {
        let Some(file) = self.files.get_mut(path) else {
            return;
        };
        let lines: Vec<NumberedLine> = file.drain(block).collect();
        let limit = self.files.get(to).map_or(0, Vec::len);
        let at = self.chance.below(limit);
        if let Some(file) = self.files.get_mut(to) {
            file.splice(at..at, lines);
        }
    }

    /// Changes one word or number in each of some lines.
    fn edit(&mut self, path: &str, most: usize) {
        for at in self.block(path, most) {
            let word = self.number();
            if let Some(line) = self.files.get_mut(path).and_then(|it| it.get_mut(at)) {
                line.text = replace_longest_word(&line.text, word);
            }
        }
    }

    fn edit_and_move(&mut self, path: &str) -> Option<()> {
        let total = self.files[path].len();
        let count = 12.min(total);
        let at = self.chance.below(total - count + 1);
        for _ in 0..2 {
            let inside = at + self.chance.below(count);
            let word = self.number();
            let line = self.files.get_mut(path)?.get_mut(inside)?;
            line.text = replace_longest_word(&line.text, word);
        }
        let to = match self.chance.below(2) {
            0 => path.to_owned(),
            _ => self.any_path()?,
        };
        self.move_block(path, at..at + count, &to);
        Some(())
    }

    fn reindent(&mut self, path: &str) {
        let deeper = self.chance.below(2) == 0;
        for line in self.files.get_mut(path).into_iter().flatten() {
            line.text = match line.text.strip_prefix("  ") {
                Some(rest) if !deeper => rest.to_owned(),
                _ if line.text.trim().is_empty() => line.text.clone(),
                _ => format!("  {}", line.text),
            };
        }
    }
}

/// Replaces the longest word of a line.
fn replace_longest_word(text: &str, word: usize) -> String {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let longest = text.split(|it| !is_word(it)).max_by_key(|it| it.len());
    match longest.filter(|it| !it.is_empty()) {
        Some(longest) => text.replacen(longest, &format!("changed{word}"), 1),
        None => text.replacen('\n', &format!(" changed{word}\n"), 1),
    }
}
