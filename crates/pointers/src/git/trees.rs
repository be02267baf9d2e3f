//! Walks trees within limits: a stranger's tree can contain itself again and again, have a million
//! entries, or be deeper than any path is long.

use std::cmp::Ordering;

use engram_model::Refusal;
use git2::{Oid, Tree};

use crate::{Repo, refuse};

use super::tree::{FOLDER, LINK, SUBMODULE};

/// No system opens a path of more bytes than this.
const MAX_PATH: usize = 4096;
/// The most entries of two trees that are compared.
const MAX_COMPARED: usize = 3_000_000;
/// Above this number of differing files, the trees count as two separate repositories.
const MAX_DIFFERENT: usize = 200_000;

/// A regular file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) path: String,
    pub(crate) blob: Oid,
}

/// Returns whether a mode is that of a regular file.
pub(crate) fn is_file(mode: i32) -> bool {
    !matches!(mode, FOLDER | LINK | SUBMODULE)
}

/// Returns the id and mode of the object at a path of a tree. Does not follow links.
pub(crate) fn find(repo: &Repo, root: Oid, path: &str) -> Result<Option<(Oid, i32)>, git2::Error> {
    let mut at = (root, FOLDER);
    if path.contains('\0') {
        return Ok(None);
    }
    for part in path.split('/') {
        if at.1 != FOLDER {
            return Ok(None);
        }
        let tree = repo.tree(at.0)?;
        let Some(entry) = tree.get_name(part) else {
            return Ok(None);
        };
        at = (entry.id(), entry.filemode());
    }
    Ok(Some(at))
}

/// Calls a function for each file of a tree, up to a maximum or until the function says that it has
/// seen enough. Skips whatever cannot be read.
///
/// # Errors
///
/// The root cannot be read, or time is over.
pub(crate) fn each_file(
    repo: &Repo,
    root: Oid,
    most: usize,
    mut visit: impl FnMut(&str, Oid) -> bool,
) -> Result<(), Refusal> {
    let stop = repo.stop();
    let mut ahead = vec![(String::new(), root)];
    let mut seen = 0;
    while let Some((folder, id)) = ahead.pop() {
        stop.check()?;
        let tree = match repo.tree(id) {
            Ok(tree) => tree,
            Err(e) if folder.is_empty() => {
                return Err(refuse::broken("the tree of the commit", &e));
            }
            Err(_) => continue,
        };
        let mut folders = Vec::new();
        for entry in &tree {
            seen += 1;
            if seen > most {
                return Ok(());
            }
            let Ok(name) = entry.name() else { continue };
            let path = format!("{folder}{name}");
            if path.len() > MAX_PATH {
                continue;
            }
            match entry.filemode() {
                FOLDER => folders.push((path + "/", entry.id())),
                mode if is_file(mode) && !visit(&path, entry.id()) => return Ok(()),
                _ => {}
            }
        }
        ahead.extend(folders.into_iter().rev());
    }
    Ok(())
}

/// A file before and after; `None` on a side that lacks it.
pub(crate) type Difference = (Option<TreeEntry>, Option<TreeEntry>);

/// Returns the files that differ between two trees.
pub(crate) fn differences(repo: &Repo, old: Oid, new: Oid) -> Result<Vec<Difference>, Refusal> {
    let broken = |e: git2::Error| refuse::broken("a tree", &e);
    let stop = repo.stop();
    let mut found = Vec::new();
    let mut compared = 0;
    let mut ahead = vec![(String::new(), Some(old), Some(new))];
    while let Some((folder, old, new)) = ahead.pop() {
        stop.check()?;
        let tree = |id: Option<Oid>| id.map(|it| repo.tree(it)).transpose().map_err(broken);
        let mut folders = Vec::new();
        side_by_side(
            tree(old)?.as_ref(),
            tree(new)?.as_ref(),
            |name, before, after| {
                compared += 1;
                if compared > MAX_COMPARED || found.len() > MAX_DIFFERENT {
                    return Err(too_many());
                }
                let name = std::str::from_utf8(name).unwrap_or_default();
                if before == after || name.is_empty() || folder.len() + name.len() > MAX_PATH {
                    return Ok(());
                }
                let path = format!("{folder}{name}");
                let folder = |it: NamedObject| it.filter(|it| it.1 == FOLDER).map(|it| it.0);
                let (a, b) = (folder(before), folder(after));
                if a.is_some() || b.is_some() {
                    folders.push((format!("{path}/"), a, b));
                }
                let file = |it: NamedObject| {
                    it.filter(|it| is_file(it.1)).map(|it| TreeEntry {
                        path: path.clone(),
                        blob: it.0,
                    })
                };
                let difference = (file(before), file(after));
                // Equal entries may differ only in the executable bit.
                if difference.0 != difference.1 {
                    found.push(difference);
                }
                Ok(())
            },
        )?;
        ahead.extend(folders.into_iter().rev());
    }
    Ok(found)
}

fn too_many() -> Refusal {
    refuse::unavailable(
        "too many files differ between these commits",
        "Compare commits that are closer together.",
    )
}

/// The id and mode of the object at a name of a tree.
type NamedObject = Option<(Oid, i32)>;

/// Calls a function for each name of two trees. A folder and a file of one name count as different
/// names: trees are sorted as if the name of a folder ended in a slash.
fn side_by_side(
    old: Option<&Tree<'_>>,
    new: Option<&Tree<'_>>,
    mut each: impl FnMut(&[u8], NamedObject, NamedObject) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let (mut i, mut j) = (0, 0);
    loop {
        let a = old.and_then(|it| it.get(i));
        let b = new.and_then(|it| it.get(j));
        let order = match (&a, &b) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => {
                let end = |it: &git2::TreeEntry<'_>| (it.filemode() == FOLDER).then_some(&b'/');
                let before = a.name_bytes().iter().chain(end(a));
                before.cmp(b.name_bytes().iter().chain(end(b)))
            }
        };
        let (a, b) = (a.filter(|_| order.is_le()), b.filter(|_| order.is_ge()));
        i += usize::from(a.is_some());
        j += usize::from(b.is_some());
        let stands = |it: &git2::TreeEntry<'_>| (it.id(), it.filemode());
        let Some(named) = a.as_ref().or(b.as_ref()) else {
            return Ok(());
        };
        each(
            named.name_bytes(),
            a.as_ref().map(stands),
            b.as_ref().map(stands),
        )?;
    }
}
