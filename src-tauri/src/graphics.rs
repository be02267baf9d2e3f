//! Drawing without the graphics card. The web view reads this from the environment of its process, and
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
