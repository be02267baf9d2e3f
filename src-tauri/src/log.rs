//! The window's log: one file per day in the home's `logs`, for a week.

use std::path::{Path, PathBuf};

use tracing_appender::{
    non_blocking::WorkerGuard,
    rolling::{RollingFileAppender, Rotation},
};
use tracing_subscriber::EnvFilter;

/// Returns the newest log file, or the folder if there is none.
pub(crate) fn newest_log(home: &Path) -> PathBuf {
    let folder = home.join("logs");
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let ours = files.map(|it| it.path()).filter(|path| {
        let name = path.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.starts_with("window.") && it.ends_with(".log"))
    });
    // The file names contain the day.
    ours.max().unwrap_or(folder)
}

/// Starts logging; the returned guard flushes when dropped.
pub(crate) fn start_log(home: &Path) -> Option<WorkerGuard> {
    let filter = EnvFilter::try_from_env("ENGRAM_LOG")
        .unwrap_or_else(|_| EnvFilter::new("info,tantivy=warn"));
    let folder = home.join("logs");
    // Without the folder there is no file, and the log goes to standard error.
    let is_refused = engram_engine::look_at_home(home).is_err();
    let _ = is_refused || engram_engine::make_private_folder(&folder).is_ok();
    let files = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("window")
        .filename_suffix("log")
        .max_log_files(7);
    let guard = match (!is_refused).then(|| files.build(folder)) {
        Some(Ok(files)) => {
            let (writer, guard) = tracing_appender::non_blocking(files);
            tracing_subscriber::fmt()
                .with_env_filter(filter)
                .with_ansi(false)
                .with_writer(writer)
                .init();
            Some(guard)
        }
        // A home that is refused or cannot be written has no log; the page says why.
        _ => {
            tracing_subscriber::fmt()
                .with_env_filter(filter)
                .with_writer(std::io::stderr)
                .init();
            None
        }
    };
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tracing::error!(%panic, "a thread panicked");
        before(panic);
    }));
    guard
}
