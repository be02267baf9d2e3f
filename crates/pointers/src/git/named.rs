//! Checks whether a working tree and its repository name each other.
//!
//! A folder can name any repository: by a `.git` that is a file or a link, by a `commondir` in its
//! own git folder, by `core.worktree`. A stranger who sent the folder wrote these. Layouts made by
//! git lead back, with one exception: `git clone --separate-git-dir` and
//! `git init --separate-git-dir` write a `.git` file but nothing in the repository it leads to.

use std::path::{Path, PathBuf};

use crate::{Repo, worktree::disk};

/// A file that holds one path.
const MAX_BYTES: u64 = 64 << 10;

/// Returns the folder that a `.git` file leads to.
pub(crate) fn gitfile(dot_git: &Path) -> Option<PathBuf> {
    let text = one_path(dot_git)?;
    let path = text.strip_prefix("gitdir:")?.trim_start();
    Some(dot_git.parent()?.join(path))
}

/// Returns the folder that all worktrees share.
pub(crate) fn common_dir(git_dir: &Path) -> PathBuf {
    match one_path(&git_dir.join("commondir")) {
        Some(path) => git_dir.join(path),
        None => git_dir.to_owned(),
    }
}

fn one_path(file: &Path) -> Option<String> {
    let bytes = disk::read_small(file, MAX_BYTES).ok()?;
    Some(String::from_utf8(bytes).ok()?.trim_end().to_owned())
}

impl Repo {
    /// Returns whether the opened path and the repository found there name each other. If not, the
    /// path may lead to a stranger's repository, or to a folder that is not its working tree. By
    /// layout:
    ///
    /// - a clone, a bare repository, a shared or reference clone (for what it borrows, see
    ///   [`Repo::reads_outside`]), wherever it was moved or mounted: yes;
    /// - a linked worktree: if its `.git` and the `gitdir` of its entry name each other, and that
    ///   entry lies in the repository that it shares;
    /// - a submodule, and anything else whose `.git` is a file: if that file and `core.worktree`
    ///   name each other. A repository of `--separate-git-dir` has no `core.worktree`: no, until
    ///   somebody sets it;
    /// - a `.git` that is a symbolic link, or a `commondir` or `core.worktree` that leads
    ///   elsewhere: no.
    pub fn is_named_back(&self) -> bool {
        let git_dir = self.git.path();
        let worktrees = self.common_dir().join("worktrees");
        let is_linked = git_dir.parent().is_some_and(|it| is_same(it, &worktrees));
        if !is_linked && !is_same(git_dir, self.common_dir()) {
            return false;
        }
        let Some(tree) = self.workdir() else {
            return self.was_named_within(&[git_dir]);
        };
        self.was_named_within(&[tree, git_dir, self.common_dir()])
            && self.leads_back(tree, is_linked)
    }

    /// Returns whether the `.git` of the working tree is the git folder, or a file that leads there
    /// and back.
    fn leads_back(&self, tree: &Path, is_linked: bool) -> bool {
        let git_dir = self.git.path();
        let dot_git = tree.join(".git");
        let Ok(metadata) = dot_git.symlink_metadata() else {
            return false;
        };
        if metadata.is_dir() {
            return is_same(&dot_git, git_dir);
        }
        if !metadata.is_file() || !gitfile(&dot_git).is_some_and(|it| is_same(&it, git_dir)) {
            return false;
        }
        if is_linked {
            one_path(&git_dir.join("gitdir")).is_some_and(|it| is_same(&git_dir.join(it), &dot_git))
        } else {
            let config = self.git.config().and_then(|mut it| it.snapshot());
            let named =
                config.and_then(|it| it.get_str("core.worktree").map(|it| git_dir.join(it)));
            named.is_ok_and(|it| is_same(&it, tree))
        }
    }

    /// Returns whether the opened path is in one of these folders.
    fn was_named_within(&self, folders: &[&Path]) -> bool {
        let Ok(named) = self.named.canonicalize() else {
            return false;
        };
        let mut around = named.ancestors();
        around.any(|it| folders.iter().any(|folder| is_same(it, folder)))
    }
}

/// Returns whether two paths lead to one file or folder, even by different mounts.
fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    let id = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        path.metadata().ok().map(|it| (it.dev(), it.ino()))
    };
    #[cfg(not(unix))]
    let id = |it: &Path| it.canonicalize().ok();
    id(a).is_some_and(|it| id(b) == Some(it))
}
