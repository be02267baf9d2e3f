//! The web view's environment variables, and what to do when the page's process dies.

#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

/// Variables that keep the Linux web view from using the graphics driver.
#[cfg(target_os = "linux")]
const SAFE: &[(&str, &str)] = &[
    ("WEBKIT_DISABLE_DMABUF_RENDERER", "1"),
    ("WEBKIT_DISABLE_COMPOSITING_MODE", "1"),
    ("LIBGL_ALWAYS_SOFTWARE", "1"),
];

/// Stops WebKit's memory monitor, which reads its memory map twice a minute and is the only work of
/// an idle window (docs/benchmarks.md). The page's memory is bounded anyway.
#[cfg(target_os = "linux")]
const QUIET: (&str, &str) = ("WEBKIT_DISABLE_MEMORY_PRESSURE_MONITOR", "1");

/// Sets up the Linux web view; `safely` means without the graphics card. Web views of other systems
/// need no setup.
///
/// # Safety
/// Only while this process has one thread.
#[cfg_attr(
    not(target_os = "linux"),
    expect(unused_variables, reason = "see above")
)]
#[allow(unsafe_code)]
pub(crate) unsafe fn prepare(safely: bool) {
    #[cfg(target_os = "linux")]
    {
        let safe = SAFE.iter().filter(|_| safely);
        let quiet = std::iter::once(&QUIET).filter(|it| std::env::var_os(it.0).is_none());
        for (name, value) in safe.chain(quiet) {
            // SAFETY: the caller guarantees that no other thread reads or writes the environment.
            unsafe { std::env::set_var(name, value) };
        }
    }
}

/// Whether the window draws without the graphics card.
pub(crate) fn is_safe() -> bool {
    #[cfg(target_os = "linux")]
    return SAFE
        .iter()
        .all(|(name, value)| std::env::var_os(name).is_some_and(|it| it == *value));
    #[cfg(not(target_os = "linux"))]
    false
}

/// Starts this program again with the same arguments but without the graphics card; the new
/// process replaces this one.
#[cfg(target_os = "linux")]
pub(crate) fn start_safely() -> std::io::Result<()> {
    let itself = std::env::current_exe()?;
    std::process::Command::new(itself)
        .arg("--safe-graphics")
        .args(std::env::args_os().skip(1))
        .spawn()
        .map(|_| ())
}

/// The number of deaths within a minute after which reloading no longer helps.
#[cfg(target_os = "linux")]
const DEATHS: usize = 3;
#[cfg(target_os = "linux")]
const MINUTE: Duration = Duration::from_secs(60);

/// The times of recent deaths of the page.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Deaths(Vec<Instant>);

#[cfg(target_os = "linux")]
impl Deaths {
    /// Counts a death; returns true if it was one too many.
    fn are_too_many(&mut self, now: Instant) -> bool {
        self.0.retain(|it| now.duration_since(*it) < MINUTE);
        self.0.push(now);
        self.0.len() >= DEATHS
    }
}

/// Reloads a page whose process died after the page had come up. If the page never came up, or
/// keeps dying, tells the user what to try instead.
#[cfg(target_os = "linux")]
pub(crate) fn follow_web_process(
    window: &tauri::WebviewWindow,
    shell: &crate::shell::Shell,
) -> tauri::Result<()> {
    use webkit2gtk::WebViewExt;
    let (told, shell) = (window.clone(), shell.clone());
    let deaths = std::cell::RefCell::new(Deaths::default());
    window.with_webview(move |view| {
        view.inner()
            .connect_web_process_terminated(move |view, why| {
                tracing::error!(?why, "the process of the page ended");
                let was_there = shell.wait_ready(Duration::ZERO);
                if was_there && !deaths.borrow_mut().are_too_many(Instant::now()) {
                    view.reload();
                } else {
                    crate::window::tell_silent(&told, &shell, false);
                }
            });
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_keeps_dying_is_given_up_and_one_that_dies_rarely_is_not() {
        for (seconds, want) in [
            (&[0, 1, 2][..], &[false, false, true][..]),
            (&[0, 59, 61, 62], &[false, false, false, true]),
            (
                &[0, 31, 62, 93, 124, 200],
                &[false, false, false, false, false, false],
            ),
        ] {
            let (mut deaths, begun) = (Deaths::default(), Instant::now());
            let told = seconds
                .iter()
                .map(|it| deaths.are_too_many(begun + Duration::from_secs(*it)));
            assert_eq!(told.collect::<Vec<_>>(), want, "{seconds:?}");
        }
    }
}
