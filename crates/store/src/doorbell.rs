//! The doorbell: a file that every writer touches after its commit, and that others watch.
//! Nothing runs at rest: the kernel wakes the watcher.

use std::path::{Path, PathBuf};

use notify::{RecursiveMode, Watcher};

use crate::{Result, StoreError};

/// The bell of one home.
#[derive(Debug, Clone)]
pub struct Doorbell {
    path: PathBuf,
}

/// Hears the bell until it is dropped.
pub struct Listener {
    _watcher: Box<dyn Watcher + Send + Sync>,
}

impl Doorbell {
    /// The bell of this home; made when it is not there.
    pub fn open(home: &Path) -> Result<Self> {
        let path = home.join("doorbell");
        if !path.exists() {
            std::fs::write(&path, b"").map_err(|e| StoreError::io(&path, e))?;
        }
        Ok(Self { path })
    }

    /// Rings. A bell that cannot be rung loses nothing: listeners read the journal, and the next
    /// ring tells them of this one's change too.
    pub fn ring(&self) {
        if let Err(error) = std::fs::write(&self.path, b".") {
            tracing::warn!(%error, "the doorbell cannot be rung");
        }
    }

    /// Calls `heard` after each ring of any process, perhaps once for several.
    pub fn listen(&self, heard: impl Fn() + Send + Clone + 'static) -> Result<Listener> {
        match self.watch(heard.clone()) {
            Ok(listener) => Ok(listener),
            // Out of inotify watches: look twice a second instead, and say so.
            Err(error) => {
                tracing::warn!(%error, "no file watch to be had; looking for changes twice a second");
                self.poll(heard)
            }
        }
    }

    fn watch(&self, heard: impl Fn() + Send + 'static) -> Result<Listener, notify::Error> {
        let mut watcher = notify::recommended_watcher(on_change(heard))?;
        watcher.watch(&self.path, RecursiveMode::NonRecursive)?;
        Ok(Listener {
            _watcher: Box::new(watcher),
        })
    }

    fn poll(&self, heard: impl Fn() + Send + 'static) -> Result<Listener> {
        let config =
            notify::Config::default().with_poll_interval(std::time::Duration::from_millis(500));
        let failed = |e: notify::Error| StoreError::io(&self.path, std::io::Error::other(e));
        let mut watcher = notify::PollWatcher::new(on_change(heard), config).map_err(failed)?;
        watcher
            .watch(&self.path, RecursiveMode::NonRecursive)
            .map_err(failed)?;
        Ok(Listener {
            _watcher: Box::new(watcher),
        })
    }
}

fn on_change(heard: impl Fn()) -> impl FnMut(notify::Result<notify::Event>) {
    move |event| match event {
        Ok(event) if event.kind.is_access() => {}
        _ => heard(),
    }
}
