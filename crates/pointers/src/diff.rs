//! What changed in one file between two commits, as a unified diff.

use engram_model::{Lines, Refusal, shorten};
use git2::{Commit, DiffOptions, Oid, Patch};

use crate::{
    Encoding, Repo,
    git::{tree, trees},
    refuse, track,
};

/// Both sides are held in memory and compared; the record of a line takes more memory than a short
/// line itself.
const MAX_BYTES: usize = 16 << 20;
const MAX_LINES: u64 = 400_000;
const CONTEXT: u32 = 3;

/// A change, with both ends pinned.
pub(crate) struct PinnedChange {
    pub(crate) base: String,
    pub(crate) head: String,
    pub(crate) text: Vec<u8>,
    /// Where the change begins in the file at `head`.
    pub(crate) first_line: u32,
    /// The file at both ends; empty where the file does not exist.
    pub(crate) files: [Vec<u8>; 2],
}

/// A file at one end.
struct DiffEnd {
    path: String,
    mode: i32,
    id: Oid,
    bytes: Vec<u8>,
}

/// The diff of `path`, following a rename; with `lines` of `head`, only the hunks that touch them.
pub(crate) fn between(
    repo: &Repo,
    base: &str,
    head: &str,
    path: &str,
    lines: Option<Lines>,
) -> Result<PinnedChange, Refusal> {
    let (base, head) = (repo.commit_on_disk(base)?, repo.commit_on_disk(head)?);
    let (old, new) = sides(repo, &base, &head, path)?;
    let same = |old: &DiffEnd, new: &DiffEnd| {
        (old.id, old.mode, &old.path) == (new.id, new.mode, &new.path)
    };
    if matches!((&old, &new), (Some(old), Some(new)) if same(old, new)) {
        return Err(unchanged(path));
    }
    if let Some(lines) = lines {
        check_lines(new.as_ref(), path, lines)?;
    }
    let side_bytes =
        |side: &Option<DiffEnd>| side.as_ref().map_or_else(Vec::new, |s| s.bytes.clone());
    let (old_text, new_text) = (side_bytes(&old), side_bytes(&new));
    let patch = patch(&old_text, &new_text).map_err(|e| refuse::broken("the diff", &e))?;
    let mut text = header(old.as_ref(), new.as_ref());
    let (hunks, first_line) = hunks(&patch, lines).map_err(|e| refuse::broken("the diff", &e))?;
    if hunks.is_empty() && lines.is_some() {
        return Err(refuse::not_found(
            format!("nothing changed in those lines of {}", refuse::quoted(path)),
            "Omit the lines to see the whole change; line numbers refer to the file after it.",
        ));
    }
    if hunks.is_empty() {
        strip_file_lines(&mut text);
    }
    text.extend(hunks);
    drop(patch);
    Ok(PinnedChange {
        base: base.id().to_string(),
        head: head.id().to_string(),
        text,
        first_line,
        files: [old_text, new_text],
    })
}

fn unchanged(path: &str) -> Refusal {
    refuse::not_found(
        format!("{} is the same at both commits", refuse::quoted(path)),
        "Choose two commits between which it changed: git log -- PATH lists them.",
    )
}

fn check_lines(new: Option<&DiffEnd>, path: &str, lines: Lines) -> Result<(), Refusal> {
    let Some(new) = new else {
        return Err(refuse::not_found(
            format!("{} was deleted and has no lines", refuse::quoted(path)),
            "Omit the lines to see what was deleted.",
        ));
    };
    let total = Encoding::Utf8.count_lines(&new.bytes);
    if u64::from(lines.end) <= total {
        Ok(())
    } else {
        Err(refuse::past_end(path, lines.end, total))
    }
}

fn sides(
    repo: &Repo,
    base: &Commit<'_>,
    head: &Commit<'_>,
    path: &str,
) -> Result<(Option<DiffEnd>, Option<DiffEnd>), Refusal> {
    let (old_tree, new_tree) = (base.tree_id(), head.tree_id());
    let old = side(repo, old_tree, path)?;
    let new = side(repo, new_tree, path)?;
    match (old, new) {
        (None, None) => Err(tree::missing_refusal(repo, head, path, false)),
        (None, new) => {
            // Searches the removed files for the origin of an added one.
            let from = track::renamed(repo, (new_tree, old_tree), path)?;
            let old = from.map(|from| side(repo, old_tree, &from)).transpose()?;
            Ok((old.flatten(), new))
        }
        (old, None) => {
            let to = track::renamed(repo, (old_tree, new_tree), path)?;
            let new = to.map(|to| side(repo, new_tree, &to)).transpose()?;
            Ok((old, new.flatten()))
        }
        both => Ok(both),
    }
}

fn side(repo: &Repo, tree: Oid, path: &str) -> Result<Option<DiffEnd>, Refusal> {
    let broken = |e: git2::Error| {
        if repo.is_there() {
            refuse::broken("the tree of a commit", &e)
        } else {
            repo.gone()
        }
    };
    let Some((id, mode)) = trees::find(repo, tree, path).map_err(broken)? else {
        return Ok(None);
    };
    match mode {
        tree::SUBMODULE => return Err(tree::submodule_refusal(path)),
        tree::FOLDER => return Err(tree::folder_refusal(path, repo.tree(id).ok().as_ref())),
        _ => {}
    }
    let size = repo
        .size(id)
        .map_err(|e| refuse::broken(&refuse::quoted(path), &e))?;
    if size > MAX_BYTES {
        return Err(too_large(path, format!("{} MB", size >> 20)));
    }
    let blob = repo.blob(id, path)?;
    let bytes = match Encoding::of_file(blob.content()) {
        None => return Err(refuse::binary(path)),
        Some(Encoding::Utf8) => blob.content().to_vec(),
        Some(other) => other.decode(blob.content()).into_bytes(),
    };
    let lines = Encoding::Utf8.count_lines(&bytes);
    if lines > MAX_LINES {
        return Err(too_large(path, format!("{lines} lines")));
    }
    Ok(Some(DiffEnd {
        path: path.to_owned(),
        mode,
        id,
        bytes,
    }))
}

fn too_large(path: &str, size: String) -> Refusal {
    refuse::invalid(
        format!("{} is too large to compare: {size}", refuse::quoted(path)),
        "Point at its lines at one commit, as in repo:PATH#L10-L20@HEAD.",
    )
}

/// Compares the bytes alone, ignoring the attributes of the working tree.
fn patch<'b>(old: &'b [u8], new: &'b [u8]) -> Result<Patch<'b>, git2::Error> {
    let mut options = DiffOptions::new();
    options
        .context_lines(CONTEXT)
        .indent_heuristic(true)
        .max_size(2 * MAX_BYTES as i64)
        .force_text(true);
    Patch::from_buffers(old, None, new, None, Some(&mut options))
}

fn header(old: Option<&DiffEnd>, new: Option<&DiffEnd>) -> Vec<u8> {
    let name = |side: Option<&DiffEnd>, other: Option<&DiffEnd>| {
        let path = side.or(other).map_or("", |side| side.path.as_str());
        shorten(path, 4096)
    };
    let (from, to) = (name(old, new), name(new, old));
    let mut text = format!("diff --git a/{from} b/{to}\n");
    match (old, new) {
        (None, Some(new)) => text += &format!("new file mode {:06o}\n", new.mode),
        (Some(old), None) => text += &format!("deleted file mode {:06o}\n", old.mode),
        (Some(old), Some(new)) if old.mode != new.mode => {
            text += &format!("old mode {:06o}\nnew mode {:06o}\n", old.mode, new.mode);
        }
        _ => {}
    }
    if from != to {
        text += &format!("rename from {from}\nrename to {to}\n");
    }
    let side = |there: bool, prefix: &str, name: &str| {
        if there {
            format!("{prefix}/{name}")
        } else {
            "/dev/null".to_owned()
        }
    };
    text += &format!("--- {}\n", side(old.is_some(), "a", &from));
    text += &format!("+++ {}\n", side(new.is_some(), "b", &to));
    text.into_bytes()
}

/// A change without hunks (a mode, a rename, an empty file) has no `---` and `+++`.
fn strip_file_lines(text: &mut Vec<u8>) {
    let find = memchr::memmem::find(text, b"\n--- ");
    if let Some(at) = find {
        text.truncate(at + 1);
    }
}

fn hunks(patch: &Patch<'_>, wanted: Option<Lines>) -> Result<(Vec<u8>, u32), git2::Error> {
    let mut text = Vec::new();
    let mut first_line = None;
    for hunk in 0..patch.num_hunks() {
        let (head, count) = patch.hunk(hunk)?;
        let mut body = head.header().to_vec();
        let mut touched = wanted.is_none();
        // The next line of the new file; a deletion is just before it.
        let mut next = head.new_start();
        let mut first = None;
        for at in 0..count {
            let line = patch.line_in_hunk(hunk, at)?;
            let origin = line.origin();
            if let ' ' | '+' | '-' = origin {
                body.push(origin as u8);
            }
            body.extend_from_slice(line.content());
            if let '+' | '-' = origin {
                first = first.or(Some(next.max(1)));
                touched |= wanted.is_some_and(|w| touches(w, next, origin == '-'));
            }
            if let ' ' | '+' = origin {
                next = line.new_lineno().unwrap_or(next) + 1;
            }
        }
        if touched {
            first_line = first_line.or(first);
            text.extend(body);
        }
    }
    let first_line = wanted.map(|w| w.start).or(first_line);
    Ok((text, first_line.unwrap_or(1)))
}

/// A deletion touches the lines on both sides of it.
fn touches(wanted: Lines, next: u32, deletion: bool) -> bool {
    let reach = wanted.end.saturating_add(u32::from(deletion));
    (wanted.start..=reach).contains(&next)
}
