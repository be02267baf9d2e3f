//! A pipe that takes the place of a file.

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use tempfile::TempDir;

const END: &str = "end";

/// What the program under test does with the file that the pipe replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Reads it.
    Read,
    /// Writes to it.
    Write,
}

/// A pipe that never blocks a program forever. A thread opens the other end and closes it again: a
/// program that reads finds an empty file, and one that writes loses its reader. So a test fails on
/// what the program reports, and does not hang.
pub struct Pipe {
    path: PathBuf,
    /// A second link to the pipe, in case the program removes the first.
    kept: TempDir,
    is_over: Arc<AtomicBool>,
    other_end: Option<JoinHandle<()>>,
}

impl Pipe {
    /// Makes the pipe; the path must not exist yet.
    pub fn at(path: &Path, used: Use) -> Self {
        let made = Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success(), "mkfifo {}", path.display());
        let kept = TempDir::new().unwrap();
        let at = kept.path().join(END);
        std::fs::hard_link(path, &at).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let other_end = std::thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                let _ = end(&at, used != Use::Read, used == Use::Read);
            }
        });
        Self {
            path: path.to_owned(),
            kept,
            is_over,
            other_end: Some(other_end),
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Opening both ends never blocks, and releases the other thread.
        let both = end(&self.kept.path().join(END), true, true);
        if let Some(other_end) = self.other_end.take() {
            let _ = other_end.join();
        }
        drop(both);
        let _ = std::fs::remove_file(&self.path);
    }
}

fn end(path: &Path, read: bool, write: bool) -> io::Result<File> {
    OpenOptions::new().read(read).write(write).open(path)
}
