//! The doorbell: a file that every writer touches after its commit, and that others watch. No
//! thread runs while nothing happens: the kernel wakes the watcher. If the system has no file watch
//! left, the file is polled twice a second until one is available.

use std::{
    fs::File,
    io::{Seek, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use notify::{PollWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;

use crate::{Result, StoreError, files::open_private};

/// How often the file is polled without a watch.
const EVERY: Duration = Duration::from_millis(500);
/// How often a listener without a watch asks for one.
const AGAIN: Duration = Duration::from_secs(5);

/// The bell of one home.
#[derive(Debug, Clone)]
pub struct Doorbell {
    path: PathBuf,
    /// Stays open and keeps its one byte: emptying and refilling a file takes half as long as a
    /// commit.
    file: Arc<File>,
}

/// Watches the bell until it is dropped.
pub struct Listener {
    hears: Arc<Mutex<BellWatch>>,
    /// Ends the thread that asks for a watch.
    _asks: Option<Sender<()>>,
}

struct BellWatch {
    _by: Box<dyn Watcher + Send>,
    /// Why the file is polled instead of watched.
    unwatched: Option<String>,
}

impl Listener {
    /// Why rings are polled twice a second instead of watched; `None` if they are watched.
    pub fn unwatched(&self) -> Option<String> {
        let hears = self.hears.lock();
        hears.unwatched.clone()
    }
}

impl Doorbell {
    /// Opens the bell of this home; creates it if it is missing.
    pub fn open(home: &Path) -> Result<Self> {
        let path = home.join("doorbell");
        let file = open_private(&path).map_err(|e| StoreError::io(&path, e))?;
        Ok(Self {
            path,
            file: Arc::new(file),
        })
    }

    /// Rings. A failed ring loses nothing: listeners read the journal, and the next ring announces
    /// this change too.
    pub fn ring(&self) {
        let mut file = &*self.file;
        if let Err(error) = file.rewind().and_then(|()| file.write_all(b".")) {
            tracing::warn!(%error, "the doorbell cannot be rung");
        }
    }

    /// Calls `heard` after rings of any process; several rings may cause only one call.
    pub fn listen(&self, heard: impl Fn() + Send + Clone + 'static) -> Result<Listener> {
        let hears = |by, unwatched| {
            let _by = by;
            Arc::new(Mutex::new(BellWatch { _by, unwatched }))
        };
        let error = match self.watch(heard.clone()) {
            Ok(watcher) => {
                return Ok(Listener {
                    hears: hears(watcher, None),
                    _asks: None,
                });
            }
            Err(error) => error,
        };
        tracing::warn!(%error, "no file watch is left: polling twice a second");
        let hears = hears(self.poll(heard.clone())?, Some(error.to_string()));
        let asks = self.ask_again(&hears, heard)?;
        Ok(Listener {
            hears,
            _asks: Some(asks),
        })
    }

    /// Checks whether this process gets a watch now; the error says why not.
    pub fn try_watch(&self) -> Result<(), notify::Error> {
        self.watch(|| ()).map(drop)
    }

    /// Asks for a watch until it gets one, or until the returned sender is dropped.
    fn ask_again(
        &self,
        hears: &Arc<Mutex<BellWatch>>,
        heard: impl Fn() + Send + Clone + 'static,
    ) -> Result<Sender<()>> {
        let (asks, ended) = channel();
        let (bell, hears) = (self.clone(), Arc::clone(hears));
        let ask = move || {
            while ended.recv_timeout(AGAIN) == Err(RecvTimeoutError::Timeout) {
                if let Ok(watcher) = bell.watch(heard.clone()) {
                    let told = BellWatch {
                        _by: watcher,
                        unwatched: None,
                    };
                    *hears.lock() = told;
                    tracing::info!("changes are watched again");
                    // Handles rings between the last poll and now.
                    return heard();
                }
            }
        };
        let thread = std::thread::Builder::new().name("doorbell".to_owned());
        let failed = |error| StoreError::io(&self.path, error);
        thread.spawn(ask).map_err(failed)?;
        Ok(asks)
    }

    fn watch(
        &self,
        heard: impl Fn() + Send + 'static,
    ) -> Result<Box<dyn Watcher + Send>, notify::Error> {
        let path = self.path.canonicalize().map_err(notify::Error::io)?;
        let home = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut change = on_change(heard);
        // The folder around the home shows when the home is removed. Other events there do not
        // concern us.
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
        Ok(Box::new(watcher))
    }

    fn poll(&self, heard: impl Fn() + Send + 'static) -> Result<Box<dyn Watcher + Send>> {
        let config = notify::Config::default().with_poll_interval(EVERY);
        let failed = |e: notify::Error| StoreError::io(&self.path, std::io::Error::other(e));
        let mut watcher = PollWatcher::new(on_change(heard), config).map_err(failed)?;
        watcher
            .watch(&self.path, RecursiveMode::NonRecursive)
            .map_err(failed)?;
        Ok(Box::new(watcher))
    }
}

fn on_change(heard: impl Fn()) -> impl FnMut(notify::Result<notify::Event>) {
    move |event| match event {
        Ok(event) if event.kind.is_access() => {}
        _ => heard(),
    }
}
