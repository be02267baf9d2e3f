//! The one window: hidden until there is something to see, and it never goes anywhere else.

use std::time::Duration;

use tauri::{Theme, WebviewWindow, WebviewWindowBuilder, utils::config::Color};

use crate::{commands, shell::Shell};

/// The longest that a window stays hidden, whatever its page does.
const HIDDEN: Duration = Duration::from_secs(2);
/// When a page that said nothing counts as broken.
const SILENT: Duration = Duration::from_secs(10);
/// The ground of a pane in the dark: `--pane` of the page.
const DARK: Color = Color(0x18, 0x19, 0x1d, 0xff);

/// Opens the window and returns when it is closed.
pub(crate) fn run(shell: Shell) -> tauri::Result<()> {
    tauri::Builder::default()
        .manage(shell.clone())
        .invoke_handler(tauri::generate_handler![
            commands::read,
            commands::change,
            commands::subscribe,
            commands::open_editor,
            commands::ready,
            commands::connect_hint,
        ])
        .setup(move |app| {
            let config = app
                .config()
                .app
                .windows
                .first()
                .cloned()
                .ok_or("tauri.conf.json has no window")?;
            let window = WebviewWindowBuilder::from_config(app, &config)?
                .on_navigation(|url| {
                    url.scheme() == "tauri" || url.host_str() == Some("tauri.localhost")
                })
                .build()?;
            if window.theme().is_ok_and(|it| it == Theme::Dark) {
                window.set_background_color(Some(DARK))?;
            }
            prepare(window, shell);
            Ok(())
        })
        .run(embedded())
}

/// The configuration, the permissions and the page, as the build script put them into the program.
#[expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "Tauri generates this code"
)]
fn embedded() -> tauri::Context {
    tauri::tauri_build_context!()
}

/// Opens the engine while the page loads, names the window, and watches that it comes to life.
fn prepare(window: WebviewWindow, shell: Shell) {
    let (named, engine) = (window.clone(), shell.clone());
    std::thread::spawn(move || match engine.status() {
        Ok(status) => {
            let name = status
                .project
                .map_or_else(|| "no repository".to_owned(), |it| it.name);
            if let Err(error) = named.set_title(&format!("Engram — {name}")) {
                tracing::warn!(%error, "the window has no title");
            }
        }
        Err(refusal) => tracing::error!(%refusal, "the engine could not be opened"),
    });
    std::thread::spawn(move || {
        if shell.wait_ready(HIDDEN) {
            return;
        }
        tracing::warn!("the page is slow; its window is shown as it is");
        show(&window);
        if !shell.wait_ready(SILENT.saturating_sub(HIDDEN)) {
            tracing::error!("the page did not come to life");
            eprintln!(
                "the window shows nothing; see {}, and on Linux try WEBKIT_DISABLE_DMABUF_RENDERER=1",
                shell.options().home.join("logs").display()
            );
        }
    });
}

/// Shows the window in front.
pub(crate) fn show(window: &WebviewWindow) {
    if let Err(error) = window.show().and_then(|()| window.set_focus()) {
        tracing::error!(%error, "the window cannot be shown");
    }
}
