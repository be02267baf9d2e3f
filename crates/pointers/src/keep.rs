//! What is kept in a repository for the claims that rest on it: refs to the commits that they are
//! pinned to. The one place that writes to a repository; everything else here only reads.

use engram_model::Refusal;
use git2::{ErrorClass, ErrorCode, Oid};

use crate::{Repo, refuse, tree::FOLDER};

/// Larger folders are not rebuilt in memory, which happens once for each file that is kept.
const MOST_FOLDER: usize = 4 << 20;

impl Repo {
    /// Keeps a commit from being collected once no branch reaches it: the one thing that is written
    /// to a repository.
    pub fn keep(&self, commit: &str) -> Result<(), Refusal> {
        let id = Oid::from_str(commit).map_err(|e| self.rev_refused(commit, &e))?;
        let name = format!("refs/engram/keep/{id}");
        if self.find_ref(&name).is_ok() {
            return Ok(());
        }
        match self.git.reference(&name, id, false, "") {
            // Another process was first.
            Err(e) if e.code() == ErrorCode::Exists => Ok(()),
            kept => kept
                .map(|_| ())
                .map_err(|e| refuse::broken(&format!("commit {}", refuse::quoted(commit)), &e)),
        }
    }

    /// A commit with one file as given and all others as in `base`, in memory alone: it is gone with
    /// this handle, and nothing is written.
    pub(crate) fn commit_in_memory(
        &self,
        base: Option<&str>,
        path: &str,
        bytes: &[u8],
    ) -> Result<String, Refusal> {
        let parent = base.map(|it| self.commit(it)).transpose()?;
        self.make_commit(parent, path, bytes)
            .map(|id| id.to_string())
            .map_err(|e| refuse::broken(&refuse::quoted(path), &e))
    }

    fn make_commit(
        &self,
        parent: Option<git2::Commit<'_>>,
        path: &str,
        bytes: &[u8],
    ) -> Result<Oid, git2::Error> {
        // Ahead of every store on disk, so that it takes all that is written.
        const FIRST: i32 = 1000;
        if !self.writes_to_memory.replace(true) {
            self.git.odb()?.add_new_mempack_backend(FIRST)?;
        }
        let tree = match &parent {
            Some(parent) => self.base_of(parent.tree_id(), path)?,
            None => self.git.find_tree(self.git.treebuilder(None)?.write()?)?,
        };
        let blob = self.git.blob(bytes)?;
        let tree = git2::build::TreeUpdateBuilder::new()
            .upsert(path, blob, git2::FileMode::Blob)
            .create_updated(&self.git, &tree)?;
        let nobody = git2::Signature::new("engram", "engram", &git2::Time::new(0, 0))?;
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        let tree = self.git.find_tree(tree)?;
        self.git
            .commit(None, &nobody, &nobody, "kept", &tree, &parents)
    }
    /// A tree in which a file is to be changed.
    fn base_of(&self, root: Oid, path: &str) -> Result<git2::Tree<'_>, git2::Error> {
        let mut at = root;
        for name in path.split('/') {
            if self.size(at)? > MOST_FOLDER {
                return Err(git2::Error::new(
                    ErrorCode::GenericError,
                    ErrorClass::Tree,
                    "its folder holds too many files",
                ));
            }
            let entry = self
                .tree(at)?
                .get_name(name)
                .map(|it| (it.id(), it.filemode()));
            match entry {
                Some((id, FOLDER)) => at = id,
                _ => break,
            }
        }
        self.tree(root)
    }
}
