//! The doorbell: a file that every writer touches after its commit, and that others watch.
//! Nothing runs at rest: the kernel wakes the watcher.

use std::{
    fs::File,
    io::{Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use notify::{RecursiveMode, Watcher};

use crate::{Result, StoreError, files::open_private};

/// The bell of one home.
#[derive(Debug, Clone)]
pub struct Doorbell {
    path: PathBuf,
    /// Stays open, and keeps its one byte: to empty a file and fill it again takes as long as half a
    /// commit.
    file: Arc<File>,
}

/// Hears the bell until it is dropped.
pub struct Listener {
    _watcher: Box<dyn Watcher + Send + Sync>,
}

impl Doorbell {
    /// The bell of this home; made when it is not there.
    pub fn open(home: &Path) -> Result<Self> {
        let path = home.join("doorbell");
        let file = open_private(&path).map_err(|e| StoreError::io(&path, e))?;
        Ok(Self {
            path,
            file: Arc::new(file),
        })
    }

    /// Rings. A bell that cannot be rung loses nothing: listeners read the journal, and the next
    /// ring tells them of this one's change too.
    pub fn ring(&self) {
        let mut file = &*self.file;
        if let Err(error) = file.rewind().and_then(|()| file.write_all(b".")) {
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
        let path = self.path.canonicalize().map_err(notify::Error::io)?;
        let home = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut change = on_change(heard);
        // The folder around the home tells when the home goes; what else happens there is not ours.
        let around = home.parent().map(Path::to_owned);
        let of_ours = [path.clone(), home];
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let is_ours = |it: &notify::Event| it.paths.iter().any(|it| of_ours.contains(it));
                if event.as_ref().map_or(true, is_ours) {
                    change(event);
                }
            })?;
        watcher.watch(&path, RecursiveMode::NonRecursive)?;
        if let Some(around) = around
            && let Err(error) = watcher.watch(&around, RecursiveMode::NonRecursive)
        {
            tracing::debug!(%error, "a home that is moved will be noticed by the next request");
        }
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
