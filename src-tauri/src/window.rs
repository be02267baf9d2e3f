//! The one window: hidden until there is something to see. It never navigates elsewhere.

use std::{sync::OnceLock, time::Duration};

use engram_engine::RepositoryWaiting;
use engram_model::{Handed, Zoom, format_count};
use tauri::{Theme, WebviewWindow, WebviewWindowBuilder, utils::config::Color};

use crate::{
    commands, connect, graphics, settings,
    shell::Shell,
    single_instance::{Door, StartRequest},
    window_commands, window_place,
};

/// The longest time that a window stays hidden, whatever its page does.
const HIDDEN: Duration = Duration::from_secs(2);
/// The time after which a silent page counts as broken.
const SILENT: Duration = Duration::from_secs(10);
/// A window whose driver hangs cannot close. After this time the process ends, before its successor
/// gives up waiting.
const CLOSING: Duration = Duration::from_secs(2);
/// The theme of the system when the window was opened.
static SYSTEM_THEME: OnceLock<Theme> = OnceLock::new();
/// The background of a pane in the dark theme: `--pane` of the page.
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
            connect::connect_hint,
            connect::connections,
            connect::connect,
            window_commands::settings,
            window_commands::keep_settings,
            window_commands::surroundings,
            window_commands::open_log,
            window_commands::bring_links,
            window_commands::repositories,
            window_commands::opened,
            window_commands::open_repository,
            window_commands::choose_folder,
            window_commands::close_repository,
            window_commands::follow_handed,
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
            let settings = settings::read(shell.home());
            let of_system = window.theme().unwrap_or(Theme::Light);
            set_theme(&window, settings.theme);
            if theme_of(settings.theme).unwrap_or(of_system) == Theme::Dark {
                window.set_background_color(Some(DARK))?;
            }
            set_zoom(&window, settings.zoom);
            if let Err(error) = window_place::restore(shell.home(), &window) {
                tracing::warn!(%error, "cannot restore the window's place");
            }
            remember_place(&window, &shell);
            if let Some(door) = door {
                let (window, shell, leaving) = (window.clone(), shell.clone(), window.clone());
                let show = move |asked| show_asked(&window, &shell, asked);
                door.listen(show, move || close_for_successor(&leaving));
            }
            #[cfg(target_os = "linux")]
            graphics::follow_web_process(&window, &shell)?;
            prepare_window(window, shell);
            Ok(())
        })
        .run(embedded_context())
}

/// The configuration, the permissions and the page, embedded by the build script.
#[expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "Tauri generates this code"
)]
fn embedded_context() -> tauri::Context {
    tauri::tauri_build_context!()
}

/// Opens the engine while the page loads, names the window, and checks that the page comes up.
fn prepare_window(window: WebviewWindow, shell: Shell) {
    let (named, engine) = (window.clone(), shell.clone());
    std::thread::spawn(move || set_title(&named, &engine));
    std::thread::spawn(move || {
        let tell = || {
            tracing::error!("the page did not come up");
            tell_silent(&window, &shell, true);
        };
        watch_page(&shell, HIDDEN, SILENT, || show_window(&window), tell);
    });
}

/// Shows the window of a slow page, and reports a page that stays silent.
fn watch_page(
    shell: &Shell,
    hidden: Duration,
    silent: Duration,
    show: impl FnOnce(),
    tell: impl FnOnce(),
) {
    if shell.wait_ready(hidden) {
        return;
    }
    tracing::warn!("the page is slow; showing its window as it is");
    show();
    if !shell.wait_ready(silent.saturating_sub(hidden)) {
        tell();
    }
}

/// Reports a blank window at the terminal, and with a message, since a launcher has no terminal.
pub(crate) fn tell_silent(window: &WebviewWindow, shell: &Shell, can_wait: bool) {
    let log = crate::log::newest_log(shell.home());
    let next = if graphics::is_safe() {
        "It already runs without the graphics card: please report this"
    } else {
        "Restart it with --safe-graphics"
    };
    let why = format!(
        "The graphics driver may be unable to draw it. {next}.\nLog: {}",
        log.display()
    );
    let what = "The window is blank";
    eprintln!("{what}. {why}");
    #[cfg(target_os = "linux")]
    crate::message::show(window, what, &why, can_wait);
    #[cfg(not(target_os = "linux"))]
    let _ = (window, can_wait); // Other systems' web views can draw, and have no safe mode.
}

/// Names the window after its repository, with what waits in all repositories; again whenever that
/// changes.
pub(crate) fn set_title(window: &WebviewWindow, shell: &Shell) {
    match shell.status() {
        Ok(status) => {
            let name = status.project.map(|it| it.name);
            if let Err(error) = window.set_title(&title_of(name.as_deref(), &shell.waiting())) {
                tracing::warn!(%error, "cannot set the title of the window");
            }
        }
        Err(refusal) => tracing::error!(%refusal, "cannot open the engine"),
    }
    let own = window.clone();
    shell.follow_waiting(move |shell| set_title(&own, shell));
}

/// The title of a window on a repository.
fn title_of(name: Option<&str>, waiting: &[RepositoryWaiting]) -> String {
    let sum = |of: fn(&RepositoryWaiting) -> u64| waiting.iter().map(of).sum::<u64>();
    let counts = [
        (sum(|it| it.conflicts), ("conflict", "conflicts")),
        (sum(|it| it.requests), ("request", "requests")),
    ];
    let some = counts.into_iter().filter(|(count, _)| *count > 0);
    let some: Vec<String> = some
        .map(|(count, noun)| format_count(count, noun))
        .collect();
    let title = format!("Engram — {}", name.unwrap_or("no repository"));
    let repositories = waiting.iter().filter(|it| it.conflicts + it.requests > 0);
    let within = match repositories.count() {
        0 | 1 => String::new(),
        several => format!("{several} repositories: "),
    };
    if some.is_empty() {
        title
    } else {
        format!("{title} · {within}{}", some.join(", "))
    }
}

/// Shows in this window what a later start asks for.
fn show_asked(window: &WebviewWindow, shell: &Shell, asked: StartRequest) {
    if let Some(repo) = asked.repo {
        shell.hand(Handed::Repository(repo.display().to_string()));
    }
    if let Some(link) = asked.link {
        shell.hand(Handed::Link(link));
    }
    // A minimized window is restored.
    if let Err(error) = window.unminimize() {
        tracing::debug!(%error, "cannot restore the minimized window");
    }
    show_window(window);
}

/// Closes this window, so that a later start can replace it.
fn close_for_successor(window: &WebviewWindow) {
    tracing::info!("a start without the graphics card replaces this window");
    if let Err(error) = window.close() {
        tracing::error!(%error, "cannot close the window");
    }
    std::thread::park_timeout(CLOSING);
    std::process::exit(0);
}

/// Stores the place of the window when it loses the focus or closes.
fn remember_place(window: &WebviewWindow, shell: &Shell) {
    let (place, home) = (window.clone(), shell.home().to_owned());
    window.on_window_event(move |event| {
        use tauri::WindowEvent::{CloseRequested, Focused};
        if matches!(event, CloseRequested { .. } | Focused(false)) {
            window_place::keep(&home, &place);
        }
    });
}

/// Zooms the window. The web view does it, not the page, so that the page lays itself out for the
/// remaining space.
pub(crate) fn set_zoom(window: &WebviewWindow, zoom: Zoom) {
    if let Err(error) = window.set_zoom(zoom.factor()) {
        tracing::warn!(%error, "cannot zoom the window");
    }
}

/// Gives the system's own controls, such as an open list of choices, the theme of the page.
pub(crate) fn set_theme(window: &WebviewWindow, theme: engram_model::Theme) {
    let chosen = theme_of(theme);
    // A window whose theme was never set follows the system.
    if chosen.is_none() && SYSTEM_THEME.get().is_none() {
        return;
    }
    let before = window.theme().unwrap_or(Theme::Light);
    let of_system = *SYSTEM_THEME.get_or_init(|| before);
    // On Linux, no theme means light.
    let wanted = if cfg!(target_os = "linux") {
        Some(chosen.unwrap_or(of_system))
    } else {
        chosen
    };
    if wanted != Some(before)
        && let Err(error) = window.set_theme(wanted)
    {
        tracing::warn!(%error, "cannot set the theme of the window");
    }
}

/// The theme that a setting names; none if the system decides.
fn theme_of(theme: engram_model::Theme) -> Option<Theme> {
    match theme {
        engram_model::Theme::Light => Some(Theme::Light),
        engram_model::Theme::Dark => Some(Theme::Dark),
        engram_model::Theme::System | engram_model::Theme::Contrast => None,
    }
}

/// Shows the window, and brings it to the front.
pub(crate) fn show_window(window: &WebviewWindow) {
    if let Err(error) = window.show().and_then(|()| window.set_focus()) {
        tracing::error!(%error, "cannot show the window");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::cell::RefCell;

    use engram_engine::Options;

    use super::*;

    #[test]
    fn the_title_counts_what_waits_in_all_repositories() {
        let waiting = |conflicts, requests| RepositoryWaiting {
            project: "00000000000000000000000000".parse().unwrap(),
            path: None,
            conflicts,
            requests,
        };
        for (name, all, want) in [
            (Some("shop"), vec![], "Engram — shop"),
            (None, vec![], "Engram — no repository"),
            (
                Some("shop"),
                vec![waiting(1, 0), waiting(9, 1)],
                "Engram — shop · 2 repositories: 10 conflicts, 1 request",
            ),
            (
                Some("shop"),
                vec![waiting(0, 0), waiting(1, 0)],
                "Engram — shop · 1 conflict",
            ),
        ] {
            assert_eq!(title_of(name, &all), want);
        }
    }

    #[test]
    fn a_slow_page_is_shown_and_a_silent_one_is_told_of() {
        let now = Duration::ZERO;
        let never = Duration::from_secs(3600);
        // Columns: when the page becomes ready (before, once its window is shown), the two time
        // limits, and the expected calls.
        for (before, meanwhile, hidden, silent, want) in [
            (true, false, never, never, ""),
            (false, true, now, never, "show"),
            (false, false, now, now, "show tell"),
        ] {
            let shell = Shell::new(Options {
                home: "/none".into(),
                repo: None,
                from: "/none".into(),
            });
            if before {
                shell.set_ready();
            }
            let done = RefCell::new(Vec::new());
            let show = || {
                done.borrow_mut().push("show");
                if meanwhile {
                    shell.set_ready();
                }
            };
            let tell = || done.borrow_mut().push("tell");
            watch_page(&shell, hidden, silent, show, tell);
            assert_eq!(done.into_inner().join(" "), want);
        }
    }
}
