//! Who wrote the lines of a span, as the history of the pinned commit tells.

use std::path::Path;

use engram_model::{Blame, BlamePart, Lines, Pin, Pointer, Refusal, Target, shorten};
use git2::{BlameOptions, Oid, Sort};
use jiff::Timestamp;

use crate::{Repo, Shelf, locate, refuse};

/// How many commits back a history is followed.
const MAX_COMMITS: usize = 3_000;
/// Most lines that are asked about; the rest of a longer span is counted.
const MAX_LINES: u32 = 2_000;
/// Larger files are not followed.
const MAX_BYTES: usize = 2 << 20;
const MAX_SUMMARY: usize = 200;

/// The commits that wrote the span of a pointer to a file of a commit.
pub fn blame(repo: Option<&Repo>, shelf: &dyn Shelf, pointer: &Pointer) -> Result<Blame, Refusal> {
    let (path, pin) = match &pointer.target {
        Target::Repo { path, pin, .. } | Target::Test { path, pin, .. } => (path, pin),
        Target::Artifact { name, pin, .. } => (name, pin),
        Target::Diff { .. } | Target::Sam { .. } | Target::Url { .. } => return Err(no_history()),
    };
    let Pin::Rev(rev) = pin else {
        return Err(no_history());
    };
    let repo = repo.ok_or_else(refuse::no_repository)?;
    let found = locate::locate(Some(repo), shelf, pointer)?;
    if found.is_binary {
        return Err(refuse::binary(path));
    }
    let total = u32::try_from(found.encoding.count_lines(found.file.bytes())).unwrap_or(u32::MAX);
    if total == 0 {
        return Ok(Blame::default());
    }
    if found.file.bytes().len() > MAX_BYTES {
        return Err(refuse::invalid(
            format!(
                "{} is too large to follow its history",
                refuse::quoted(path)
            ),
            "Run git blame in a terminal.",
        ));
    }
    let span = found.lines.unwrap_or(Lines {
        start: 1,
        end: total,
    });
    let end = span.end.min(span.start.saturating_add(MAX_LINES - 1));
    let broken = |e: git2::Error| refuse::broken("the history", &e);
    let newest = repo.commit(rev)?.id();
    let oldest = oldest(repo, newest).map_err(broken)?;
    let mut options = BlameOptions::new();
    options
        .newest_commit(newest)
        .min_line(span.start as usize)
        .max_line(end as usize);
    if let Some(oldest) = oldest {
        options.oldest_commit(oldest);
    }
    let blame = repo
        .git
        .blame_file(Path::new(path), Some(&mut options))
        .map_err(broken)?;
    let parts = blame.iter().map(|hunk| {
        let start = u32::try_from(hunk.final_start_line()).unwrap_or(u32::MAX);
        let last = u32::try_from(hunk.lines_in_hunk().max(1) - 1).unwrap_or(0);
        part(
            repo,
            hunk.final_commit_id(),
            start.max(span.start),
            start.saturating_add(last).min(end),
            oldest,
        )
    });
    let parts: Result<Vec<_>, _> = parts.collect();
    Ok(Blame {
        parts: parts.map_err(broken)?,
        hidden: span.end - end,
    })
}

fn part(
    repo: &Repo,
    id: Oid,
    start: u32,
    end: u32,
    oldest: Option<Oid>,
) -> Result<BlamePart, git2::Error> {
    let commit = repo.git.find_commit(id)?;
    let author = commit.author();
    let text = |bytes: &[u8]| shorten(&String::from_utf8_lossy(bytes), MAX_SUMMARY);
    Ok(BlamePart {
        lines: Lines { start, end },
        commit: id.to_string(),
        author: text(author.name_bytes()),
        at: Timestamp::from_second(author.when().seconds()).unwrap_or(Timestamp::UNIX_EPOCH),
        summary: text(commit.summary_bytes().unwrap_or_default()),
        or_before: oldest == Some(id),
    })
}

/// The commit at which to stop; none where the history is short.
fn oldest(repo: &Repo, newest: Oid) -> Result<Option<Oid>, git2::Error> {
    let mut walk = repo.git.revwalk()?;
    walk.set_sorting(Sort::TIME)?;
    walk.simplify_first_parent()?;
    walk.push(newest)?;
    walk.nth(MAX_COMMITS).transpose()
}

fn no_history() -> Refusal {
    refuse::invalid(
        "only a file of a commit has a history",
        "Point at it with @HEAD once it is committed.",
    )
}
