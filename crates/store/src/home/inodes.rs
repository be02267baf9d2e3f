//! Which files are open. A home may be deleted, moved or replaced under a running process, whose
//! files then no longer have names.

use std::{
    fs::{self, Metadata},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

/// The database, its log, and the memory shared by its processes.
const NAMES: [&str; 3] = ["engram.db", "engram.db-wal", "engram.db-shm"];

/// The files that a process opened.
pub(super) struct HomeFiles {
    known: Vec<(&'static str, Option<Number>)>,
    /// The size of the database in bytes at the last check. It never shrinks unless it is
    /// overwritten.
    len: AtomicU64,
}

/// What distinguishes files of the same name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Number(u64, u64);

impl HomeFiles {
    /// The files there now; the log and the shared memory only if the home is open for writing.
    pub(super) fn of(home: &Path, is_writable: bool) -> Self {
        let names = if is_writable { &NAMES[..] } else { &NAMES[..1] };
        let len = fs::metadata(home.join(NAMES[0])).map_or(0, |it| it.len());
        Self {
            known: names
                .iter()
                .map(|name| (*name, number(fs::metadata(home.join(name)))))
                .collect(),
            len: AtomicU64::new(len),
        }
    }

    /// Whether the database is the same file as `before`. Its log and shared memory come and go
    /// with the processes that have it open.
    pub(super) fn go_on_from(&self, before: &Self) -> bool {
        match (self.known.first(), before.known.first()) {
            (Some((_, now)), Some((_, before))) => before.is_none() || now == before,
            _ => false,
        }
    }

    /// Whether the files are still there.
    pub(super) fn are_there(&self, home: &Path) -> bool {
        self.known.iter().all(|(name, known)| {
            let now = fs::metadata(home.join(name));
            let len = match &now {
                Ok(file) if *name == NAMES[0] => file.len(),
                _ => u64::MAX,
            };
            let is_whole = len == u64::MAX || self.len.fetch_max(len, Ordering::Relaxed) <= len;
            is_whole && known.is_some() && number(now) == *known
        })
    }
}

#[cfg(unix)]
fn number(file: std::io::Result<Metadata>) -> Option<Number> {
    use std::os::unix::fs::MetadataExt;
    file.ok().map(|it| Number(it.dev(), it.ino()))
}

#[cfg(not(unix))]
fn number(file: std::io::Result<Metadata>) -> Option<Number> {
    file.ok().map(|_| Number(0, 0))
}
