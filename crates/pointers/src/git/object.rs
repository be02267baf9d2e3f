//! Reads objects by id. Their size is limited, and reading never blocks.

use std::path::PathBuf;

use engram_model::Refusal;
use git2::{Blob, Commit, ErrorClass, ErrorCode, Object, Oid, Tree};

use crate::{Repo, refuse};

use super::libgit2::{self, MAX_OBJECT};

/// Chains of tags longer than this are not followed.
const MAX_TAGS: usize = 100;
/// The number of objects that are remembered as safe to open.
const MAX_REMEMBERED: usize = 100_000;

impl Repo {
    /// Returns a file by its id; `name` is what a reader calls it.
    pub(crate) fn blob(&self, id: Oid, name: &str) -> Result<Blob<'_>, Refusal> {
        self.bounded(id, || self.git.find_blob(id))
            .map_err(|e| self.unread(id, name, &e))
    }

    pub(crate) fn tree(&self, id: Oid) -> Result<Tree<'_>, git2::Error> {
        self.bounded(id, || self.git.find_tree(id))
    }

    pub(crate) fn commit_of_id(&self, id: Oid) -> Result<Commit<'_>, git2::Error> {
        self.bounded(id, || self.git.find_commit(id))
    }

    pub(crate) fn object(&self, id: Oid) -> Result<Object<'_>, git2::Error> {
        self.bounded(id, || self.git.find_object(id, None))
    }

    /// Returns the size that an object claims.
    pub(crate) fn size(&self, id: Oid) -> Result<usize, git2::Error> {
        self.bounded(id, || Ok(self.git.odb()?.read_header(id)?.0))
    }

    /// Returns the object a tag leads to, following other tags.
    pub(crate) fn behind_tags<'r>(&'r self, object: Object<'r>) -> Result<Object<'r>, git2::Error> {
        let mut object = object;
        for _ in 0..MAX_TAGS {
            let Some(next) = object.as_tag().map(git2::Tag::target_id) else {
                return Ok(object);
            };
            object = self.object(next)?;
        }
        Err(git2::Error::new(
            ErrorCode::GenericError,
            ErrorClass::Invalid,
            format!("more than {MAX_TAGS} tags point at one another"),
        ))
    }

    fn bounded<T>(
        &self,
        id: Oid,
        read: impl FnOnce() -> Result<T, git2::Error>,
    ) -> Result<T, git2::Error> {
        if self.is_special(id) {
            return Err(git2::Error::new(
                ErrorCode::GenericError,
                ErrorClass::Odb,
                "it is not a regular file",
            ));
        }
        libgit2::object(read)
    }

    /// Returns whether the entry in an object's place could block a reader, or leads elsewhere.
    /// Each is checked once, since git never replaces an object.
    fn is_special(&self, id: Oid) -> bool {
        let mut regular = self.regular.borrow_mut();
        if regular.contains(&id) {
            return false;
        }
        let hex = id.to_string();
        let (folder, name) = hex.split_at(2);
        let is_special = |store: &PathBuf| {
            // Git never makes an object a link.
            let found = store.join(folder).join(name).symlink_metadata();
            found.is_ok_and(|it| !it.is_file() && !it.is_dir())
        };
        if self.stores.iter().any(is_special) {
            return true;
        }
        if regular.len() > MAX_REMEMBERED {
            regular.clear();
        }
        regular.insert(id);
        false
    }

    /// Explains why a file cannot be read.
    fn unread(&self, id: Oid, name: &str, e: &git2::Error) -> Refusal {
        if !self.is_there() {
            self.gone().because(e)
        } else if e.class() == ErrorClass::NoMemory {
            too_large(name, self.size(id).ok())
        } else {
            refuse::broken(&refuse::quoted(name), e)
        }
    }
}

fn too_large(name: &str, size: Option<usize>) -> Refusal {
    let name = refuse::quoted(name);
    refuse::invalid(
        match size {
            Some(size) if size > MAX_OBJECT => format!("{name} is too large: {} MB", size >> 20),
            _ => format!("{name} is packed in a way that takes too much memory to read"),
        },
        format!(
            "Engram reads files of up to {} MB; point at the source it is made from.",
            MAX_OBJECT >> 20
        ),
    )
}
