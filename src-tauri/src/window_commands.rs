//! The page's commands about the window itself: settings, the log, repositories, links.

use std::path::{Path, PathBuf};

use engram_engine::{Engine, Options, RepositoryWaiting};
use engram_model::{
    Code, Handed, OpenedReply, Recent, Refusal, Settings, StatusReply, Surroundings,
};
use tauri::{State, WebviewWindow, ipc::Channel};

use crate::{
    editor, folder, links, log, recent,
    repositories::{self, OpenRepository},
    settings,
    shell::Shell,
    window,
};

/// The most repositories that are listed because something waits in them.
const MAX_WAITING: usize = 50;

/// Returns the stored settings.
#[tauri::command]
pub(crate) async fn settings(shell: State<'_, Shell>) -> Result<Settings, Refusal> {
    Ok(settings::read(shell.home()))
}

/// Stores the settings; the zoom and the theme apply even if they cannot be stored.
#[tauri::command]
pub(crate) async fn keep_settings(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    settings: Settings,
) -> Result<(), Refusal> {
    window::set_zoom(&window, settings.zoom);
    window::set_theme(&window, settings.theme);
    settings::keep(shell.home(), &settings)
}

/// Returns the editors of this machine and the path of the log.
#[tauri::command]
pub(crate) async fn surroundings(shell: State<'_, Shell>) -> Result<Surroundings, Refusal> {
    let (editor, overruled_by) = editor::Choice::here(shell.home()).automatic();
    Ok(Surroundings {
        editors: editor::installed(),
        editor,
        overruled_by,
        log: log::newest_log(shell.home()).display().to_string(),
        has_links: links::open_here(),
        picks_folders: folder::CAN_PICK,
        #[cfg(target_os = "linux")]
        notifies: crate::notify::can_notify(),
        #[cfg(not(target_os = "linux"))]
        notifies: false,
    })
}

/// Lets the system open `engram://` links with this window.
#[tauri::command]
pub(crate) async fn bring_links(shell: State<'_, Shell>) -> Result<(), Refusal> {
    links::make_open_here(shell.other_home())
}

/// Opens the newest log in the person's editor; returns the editor's name.
#[tauri::command]
pub(crate) async fn open_log(shell: State<'_, Shell>) -> Result<String, Refusal> {
    let home = shell.home();
    let file = log::newest_log(home);
    if !file.is_file() {
        return Err(Refusal::new(
            Code::NotFound,
            "nothing has been logged yet",
            "The log is written to the logs folder of the home, if that is writable.",
        ));
    }
    let place = editor::EditorLocation::inside(&home.join("logs"), &file, 1)?;
    editor::open(&place, &editor::Choice::here(home))
}

/// Returns the repositories that are or were open, with what is known about each.
#[tauri::command]
pub(crate) async fn repositories(shell: State<'_, Shell>) -> Result<Vec<Recent>, Refusal> {
    let list = |shell: &Shell| {
        let opened = shell.opened();
        let mut all = recent::read(shell.home());
        all.extend(others_of_home(shell, &all));
        let is_known = |open: &&OpenRepository| all.iter().any(|it| it.path == open.root);
        let others: Vec<Recent> = opened
            .iter()
            .filter(|it| !is_known(it))
            .map(recent_of)
            .collect();
        for recent in &mut all {
            *recent = match opened.iter().find(|it| it.root == recent.path) {
                Some(open) => recent_of(open),
                None => with_counts(status_at(shell.home(), &recent.path), recent.clone()),
            };
        }
        all.extend(others);
        Ok(all)
    };
    shell.blocking(list).await
}

/// Returns repositories that agents use and the window never opened: all in which something waits
/// for the person, then the newest.
fn others_of_home(shell: &Shell, recent: &[Recent]) -> Vec<Recent> {
    let waiting = shell.waiting().into_iter().filter_map(|it| it.path);
    let waiting: Vec<PathBuf> = waiting.take(MAX_WAITING).collect();
    let places = shell
        .engine()
        .and_then(|it| it.known_repositories(recent::MAX_RECENT));
    let opened = shell.opened();
    let is_open = |it: &PathBuf| opened.iter().any(|open| Path::new(&open.root) == *it);
    let is_known = |it: &PathBuf| recent.iter().any(|known| Path::new(&known.path) == *it);
    let room = waiting
        .len()
        .max(recent::MAX_RECENT.saturating_sub(recent.len()));
    let mut others: Vec<PathBuf> = Vec::new();
    for path in waiting.into_iter().chain(places.unwrap_or_default()) {
        if !others.contains(&path) && !is_known(&path) && !is_open(&path) && path.exists() {
            others.push(path);
        }
    }
    others
        .iter()
        .take(room)
        .map(|it| recent::recent_at(it))
        .collect()
}

/// Returns the repositories open in the window, once they have changed since `after`.
#[tauri::command]
pub(crate) async fn opened(shell: State<'_, Shell>, after: u64) -> Result<OpenedReply, Refusal> {
    let news = shell.news(after).await;
    let list = move |shell: &Shell| Ok(opened_reply(shell, news));
    shell.blocking(list).await
}

/// Reads the store alone, so that many open repositories cost little.
fn opened_reply(shell: &Shell, news: u64) -> OpenedReply {
    let mut waiting = shell.waiting();
    let mut repositories = Vec::new();
    for open in shell.opened() {
        let counted = open.engine.count_holding();
        let recent = match counted {
            Ok(Some((project, holding, drifted))) => {
                let own = waiting.iter().position(|it| it.project == project);
                let own = own.map(|at| waiting.swap_remove(at));
                Recent {
                    is_front: open.is_front,
                    unseen: open.unseen,
                    holding: Some((holding, drifted)),
                    conflicts: own.as_ref().map_or(0, |it| it.conflicts),
                    requests: own.as_ref().map_or(0, |it| it.requests),
                    ..recent::recent_at(Path::new(&open.root))
                }
            }
            // Nothing is stored there yet, or the home cannot be read.
            _ => recent_of(&open),
        };
        repositories.push(recent);
    }
    let is_there = |it: &RepositoryWaiting| it.path.as_ref().is_some_and(|it| it.exists());
    let others = waiting.iter().filter(|it| is_there(it));
    OpenedReply {
        news,
        repositories,
        others: others.map(|it| it.conflicts + it.requests).sum(),
    }
}

/// Returns what is known about a repository that is open in the window.
fn recent_of(open: &OpenRepository) -> Recent {
    let recent = Recent {
        is_front: open.is_front,
        unseen: open.unseen,
        ..recent::recent_at(Path::new(&open.root))
    };
    with_counts(repositories::status_of(&open.engine), recent)
}

/// Returns the status of a repository that is not open.
fn status_at(home: &Path, repo: &str) -> Result<StatusReply, Refusal> {
    let engine = Engine::open(Options {
        home: home.to_owned(),
        repo: Some(repo.into()),
        from: home.to_owned(),
    })?;
    repositories::status_of(&engine)
}

fn with_counts(status: Result<StatusReply, Refusal>, mut recent: Recent) -> Recent {
    match status {
        Ok(status) => {
            recent.holding = Some((status.engrams, status.drifted));
            recent.conflicts = status.conflicts.unwrap_or_default();
            recent.requests = status.requests.unwrap_or_default();
        }
        Err(refusal) => {
            tracing::info!(path = recent.path, %refusal, "cannot read the status of a repository")
        }
    }
    recent
}

/// Brings a repository to the front, so that requests are about it. Returns its root.
#[tauri::command]
pub(crate) async fn open_repository(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    path: String,
) -> Result<String, Refusal> {
    let bring = move |shell: &Shell| {
        let root = shell.bring(folder_at(&path)?)?;
        window::set_title(&window, shell);
        Ok(root)
    };
    shell.blocking(bring).await
}

/// Checks that a path, which a person typed or a link named, is a folder.
fn folder_at(path: &str) -> Result<&Path, Refusal> {
    let folder = Path::new(path);
    let (wrong, next) = if !folder.is_absolute() {
        (
            format!("{path} is not an absolute path"),
            "Enter the absolute path of a repository.",
        )
    } else if !folder.exists() {
        (
            format!("the folder {path} does not exist"),
            "Check the path; the repository may have been moved or deleted, or its disk may not be mounted.",
        )
    } else if !folder.is_dir() {
        (
            format!("{path} is a file, not a folder"),
            "Enter the folder of a repository.",
        )
    } else {
        return Ok(folder);
    };
    Err(Refusal::new(Code::RepoUnavailable, wrong, next))
}

/// Lets the person choose a folder; none if they cancel.
#[tauri::command]
pub(crate) async fn choose_folder(window: WebviewWindow) -> Result<Option<String>, Refusal> {
    let Some(chosen) = folder::pick_folder(&window).await? else {
        return Ok(None);
    };
    chosen
        .into_os_string()
        .into_string()
        .map(Some)
        .map_err(|it| {
            Refusal::new(
                Code::RepoUnavailable,
                format!("the path {} is not UTF-8", it.display()),
                "Rename the folder, or start the window in it with `engram app`.",
            )
        })
}

/// Closes a repository behind the one in front.
#[tauri::command]
pub(crate) async fn close_repository(shell: State<'_, Shell>, path: String) -> Result<(), Refusal> {
    let close = move |shell: &Shell| {
        shell.close(&path);
        Ok(())
    };
    shell.blocking(close).await
}

/// From now on, passes the page what other programs send.
#[tauri::command]
pub(crate) async fn follow_handed(
    shell: State<'_, Shell>,
    channel: Channel<Handed>,
) -> Result<(), Refusal> {
    shell.follow_handed(channel);
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;

    #[test]
    fn a_path_that_is_no_folder_is_refused_by_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).display().to_string();
        let odd = at("it's 100% \"odd\"\nindeed");
        fs::create_dir(&odd).unwrap();
        fs::write(at("file"), "x").unwrap();
        assert_eq!(folder_at(&odd).unwrap(), Path::new(&odd));
        for (path, why) in [
            ("shop".to_owned(), "absolute"),
            (String::new(), "absolute"),
            ("~/shop".to_owned(), "absolute"),
            (at("gone"), "does not exist"),
            (format!("'{odd}'"), "absolute"),
            (at("file"), "is a file"),
            (at("nul\0"), "does not exist"),
        ] {
            let refusal = folder_at(&path).unwrap_err();
            assert!(refusal.message.contains(why), "{path:?}: {refusal}");
        }
    }
}
