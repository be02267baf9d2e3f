//! Builds repositories, and resolves pointers in them.

use std::{collections::HashMap, ops::Deref, path::PathBuf};

use engram_kit::{Folder, Repository};
use engram_model::{Code, Pointer, Recorded, Refusal, Target};
use engram_pointers::{Repo, Resolved, Shelf, View, resolve};
use sha2::{Digest, Sha256};

pub(crate) use engram_kit::git;

/// A repository in a temporary folder, with ways to resolve pointers in it.
pub(crate) struct Fixture {
    folder: Folder,
    repository: Repository,
}

/// Content that is not in git.
#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) blobs: HashMap<String, Vec<u8>>,
    pub(crate) events: HashMap<(String, String, String), String>,
    pub(crate) urls: bool,
}

impl Shelf for Stored {
    fn blob(&self, _: &str, digest_hex: &str) -> Result<Option<Vec<u8>>, Refusal> {
        Ok(self.blobs.get(digest_hex).cloned())
    }

    fn event(
        &self,
        kind: &str,
        slug: &str,
        date: jiff::civil::Date,
    ) -> Result<Option<(String, Recorded)>, Refusal> {
        let key = (kind.to_owned(), slug.to_owned(), date.to_string());
        let recorded = Recorded {
            by: "architect".to_owned(),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        Ok(self.events.get(&key).cloned().map(|it| (it, recorded)))
    }

    fn urls_allowed(&self) -> bool {
        self.urls
    }
}

impl Stored {
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> String {
        let hex = sha256(bytes);
        self.blobs.insert(hex.clone(), bytes.to_vec());
        hex
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// A view with the same number of lines on each side.
pub(crate) fn view_around(context: u32) -> View {
    View {
        context,
        soon: false,
    }
}

impl Deref for Fixture {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        &self.repository
    }
}

impl Fixture {
    /// Makes an empty repository.
    pub(crate) fn new() -> Self {
        let folder = Folder::temporary();
        let repository = Repository::init(folder.path("foo"));
        Self { folder, repository }
    }

    /// Makes a repository with one commit of these files.
    pub(crate) fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = Folder::temporary();
        let repository = Repository::with(folder.path("foo"), files);
        Self { folder, repository }
    }

    /// Returns a path beside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// Makes a clone with only the newest commits.
    pub(crate) fn shallow(&self, depth: u32) -> Repo {
        let clone = self.beside("shallow");
        let (depth, from) = (
            format!("--depth={depth}"),
            format!("file://{}", self.root.display()),
        );
        self.git(&["clone", "-q", &depth, &from, clone.to_str().unwrap()]);
        Repo::open(&clone).unwrap()
    }

    pub(crate) fn repo(&self) -> Repo {
        Repo::open(&self.root).unwrap()
    }

    pub(crate) fn resolve(&self, pointer: &str) -> Result<Resolved, Refusal> {
        let pointer: Pointer = pointer.parse()?;
        resolve(Some(&self.repo()), &Stored::default(), &pointer)
    }

    /// Returns the text that a pointer addresses.
    #[track_caller]
    pub(crate) fn text(&self, pointer: &str) -> String {
        match self.resolve(pointer) {
            Ok(resolved) => resolved.text(),
            Err(refusal) => panic!("{pointer}: {refusal} ({})", refusal.hint),
        }
    }

    /// Asserts that a pointer is refused with this code and these words.
    #[track_caller]
    pub(crate) fn refused(&self, pointer: &str, code: Code, says: &str) {
        refused(self.resolve(pointer), pointer, code, says);
    }
}

#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(
    result: Result<T, Refusal>,
    what: &str,
    code: Code,
    says: &str,
) {
    let refusal = result.expect_err(what);
    assert_eq!(refusal.code, code, "{what}: {refusal}");
    let whole = format!("{} | {}", refusal.message, refusal.hint);
    assert!(
        whole.contains(says),
        "{what}: {whole:?} does not say {says:?}"
    );
    assert!(!refusal.hint.is_empty(), "{what}: no hint");
    assert!(
        whole.len() < 1500,
        "{what}: a refusal of {} bytes",
        whole.len()
    );
    assert!(!whole.contains(char::is_control), "{what}: {whole:?}");
}

/// Returns the pinned commit of a resolved pointer.
pub(crate) fn commit_of(resolved: &Resolved) -> String {
    match &resolved.pointer.target {
        Target::Repo { pin, .. } | Target::Artifact { pin, .. } | Target::Test { pin, .. } => {
            pin.to_string()
        }
        other => panic!("no commit in {other:?}"),
    }
}
