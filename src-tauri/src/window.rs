//! The one window: hidden until there is something to see, and it never goes anywhere else.

use std::time::Duration;

use tauri::{Theme, WebviewWindow, WebviewWindowBuilder, utils::config::Color};

use crate::{
    around, commands, graphics, place,
    shell::Shell,
    single::{Asked, Door},
};

/// The longest that a window stays hidden, whatever its page does.
const HIDDEN: Duration = Duration::from_secs(2);
/// When a page that said nothing counts as broken.
const SILENT: Duration = Duration::from_secs(10);
/// The ground of a pane in the dark: `--pane` of the page.
const DARK: Color = Color(0x18, 0x19, 0x1d, 0xff);

/// Opens the window and returns when it is closed.
pub(crate) fn run(shell: Shell, door: Option<Door>) -> tauri::Result<()> {
    tauri::Builder::default()
        .manage(shell.clone())
        .invoke_handler(tauri::generate_handler![
            commands::read,
            commands::change,
            commands::subscribe,
            commands::entries,
            commands::open_editor,
            commands::ready,
            commands::connect_hint,
            around::settings,
            around::keep_settings,
            around::surroundings,
            around::open_log,
            around::repositories,
            around::open_repository,
            around::follow_links,
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
                .on_page_load(|_, load| tracing::info!(page = ?load.event(), "the page"))
                .build()?;
            if window.theme().is_ok_and(|it| it == Theme::Dark) {
                window.set_background_color(Some(DARK))?;
            }
            if let Err(error) = place::restore(shell.home(), &window) {
                tracing::warn!(%error, "the window is not put where it stood");
            }
            remember_place(&window, &shell);
            if let Some(door) = door {
                let (window, shell) = (window.clone(), shell.clone());
                door.listen(move |asked| take(&window, &shell, asked));
            }
            #[cfg(target_os = "linux")]
            graphics::follow_web_process(&window, &shell)?;
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
    std::thread::spawn(move || name(&named, &engine));
    std::thread::spawn(move || {
        if shell.wait_ready(HIDDEN) {
            return;
        }
        tracing::warn!("the page is slow; its window is shown as it is");
        show(&window);
        if !shell.wait_ready(SILENT.saturating_sub(HIDDEN)) {
            tracing::error!("the page did not come to life");
            eprintln!("{}", silent(&shell));
        }
    });
}

/// What a person at a terminal is told of a window that shows nothing.
pub(crate) fn silent(shell: &Shell) -> String {
    format!(
        "the window shows nothing: the graphics driver may not be able to draw it.\n\
         Start it with --safe-graphics; its log is {}",
        crate::log::newest(shell.home()).display()
    )
}

/// Names the window after its repository.
pub(crate) fn name(window: &WebviewWindow, shell: &Shell) {
    match shell.status() {
        Ok(status) => {
            let name = status
                .project
                .map_or_else(|| "no repository".to_owned(), |it| it.name);
            if let Err(error) = window.set_title(&format!("Engram — {name}")) {
                tracing::warn!(%error, "the window has no title");
            }
        }
        Err(refusal) => tracing::error!(%refusal, "the engine could not be opened"),
    }
}

/// Does what a later start was asked for, in this window.
fn take(window: &WebviewWindow, shell: &Shell, asked: Asked) {
    if let Some(repo) = asked.repo {
        match shell.switch(&repo) {
            Ok(()) => {
                name(window, shell);
                shell.hand(String::new());
            }
            Err(refusal) => tracing::warn!(%refusal, "the repository of a later start"),
        }
    }
    if let Some(link) = asked.link {
        shell.hand(link);
    }
    // A window that was put away comes back.
    if let Err(error) = window.unminimize() {
        tracing::debug!(%error, "the window stays put away");
    }
    show(window);
}

/// Keeps the place of the window when it is left or closed.
fn remember_place(window: &WebviewWindow, shell: &Shell) {
    let (place, home) = (window.clone(), shell.home().to_owned());
    window.on_window_event(move |event| {
        use tauri::WindowEvent::{CloseRequested, Focused};
        if matches!(event, CloseRequested { .. } | Focused(false)) {
            place::keep(&home, &place);
        }
    });
}

/// Shows the window in front.
pub(crate) fn show(window: &WebviewWindow) {
    if let Err(error) = window.show().and_then(|()| window.set_focus()) {
        tracing::error!(%error, "the window cannot be shown");
    }
}
