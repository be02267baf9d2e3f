//! When the page cannot be drawn: drawing without the graphics card, and a page whose process died.
//!
//! The web view reads this from the environment of its process, and
//! an environment is changed safely only before the process begins: so it begins again.

use std::process::ExitCode;

/// What tells the web view of Linux not to ask the driver for anything.
#[cfg(unix)]
const SAFE: &[(&str, &str)] = &[
    ("WEBKIT_DISABLE_DMABUF_RENDERER", "1"),
    ("WEBKIT_DISABLE_COMPOSITING_MODE", "1"),
    ("LIBGL_ALWAYS_SOFTWARE", "1"),
];

/// Begins this program again with all of it; returns only where it is so already, or with a failure.
#[cfg(unix)]
pub(crate) fn safely() -> Option<ExitCode> {
    use std::os::unix::process::CommandExt;
    let is_set = |(name, value): &(&str, &str)| std::env::var(name).is_ok_and(|it| it == *value);
    if SAFE.iter().all(is_set) {
        return None;
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            eprintln!("error: this program does not find itself: {error}");
            return Some(ExitCode::FAILURE);
        }
    };
    let mut again = std::process::Command::new(program);
    again
        .args(std::env::args_os().skip(1))
        .envs(SAFE.iter().copied());
    eprintln!(
        "error: the window could not be started anew: {}",
        again.exec()
    );
    Some(ExitCode::FAILURE)
}

/// Elsewhere the web view of the system knows by itself.
#[cfg(not(unix))]
pub(crate) fn safely() -> Option<ExitCode> {
    None
}

/// A page whose process died comes back once it was there; one that never was is the end, with a word
/// on what to try.
#[cfg(target_os = "linux")]
pub(crate) fn follow_web_process(
    window: &tauri::WebviewWindow,
    shell: &crate::shell::Shell,
) -> tauri::Result<()> {
    use tauri::Manager;
    use webkit2gtk::WebViewExt;
    let (app, shell) = (window.app_handle().clone(), shell.clone());
    window.with_webview(move |view| {
        view.inner()
            .connect_web_process_terminated(move |view, why| {
                tracing::error!(?why, "the process of the page ended");
                if shell.wait_ready(std::time::Duration::ZERO) {
                    view.reload();
                } else {
                    eprintln!("{}", crate::window::silent(&shell));
                    app.exit(1);
                }
            });
    })
}
