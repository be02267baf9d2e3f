//! What the web view reads from the environment of its process, and a page whose process died.

/// What tells the web view of Linux not to ask the driver for anything.
#[cfg(target_os = "linux")]
const SAFE: &[(&str, &str)] = &[
    ("WEBKIT_DISABLE_DMABUF_RENDERER", "1"),
    ("WEBKIT_DISABLE_COMPOSITING_MODE", "1"),
    ("LIBGL_ALWAYS_SOFTWARE", "1"),
];

/// What keeps it from reading the map of its memory twice a minute, which is all that it would do at
/// rest (docs/benchmarks.md): what the page keeps is bounded.
#[cfg(target_os = "linux")]
const QUIET: (&str, &str) = ("WEBKIT_DISABLE_MEMORY_PRESSURE_MONITOR", "1");

/// Tells the web view of Linux how to work here; `safely` is without the graphics card. Elsewhere the
/// web view of the system knows by itself.
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
            // SAFETY: nobody else reads or writes the environment, as the caller promises.
            unsafe { std::env::set_var(name, value) };
        }
    }
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
