//! What the page may call about the window itself: settings, the log, repositories, links.

use std::path::Path;

use engram_engine::{Engine, Options};
use engram_model::{
    Code, Handed, OpenedReply, Recent, Refusal, Settings, StatusReply, Surroundings,
};
use tauri::{State, WebviewWindow, ipc::Channel};

use crate::{
    editor, links, log,
    opened::{self, Seen},
    recent, settings,
    shell::Shell,
    window,
};

/// What the person chose before.
#[tauri::command]
pub(crate) async fn settings(shell: State<'_, Shell>) -> Result<Settings, Refusal> {
    Ok(settings::read(shell.home()))
}

/// Keeps what the person chose.
#[tauri::command]
pub(crate) async fn keep_settings(
    shell: State<'_, Shell>,
    settings: Settings,
) -> Result<(), Refusal> {
    settings::keep(shell.home(), &settings)
}

/// Editors of this machine, and where the log is.
#[tauri::command]
pub(crate) async fn surroundings(shell: State<'_, Shell>) -> Result<Surroundings, Refusal> {
    let (editor, overruled_by) = editor::Choice::here(shell.home()).told();
    Ok(Surroundings {
        editors: editor::installed(),
        editor,
        overruled_by,
        log: log::newest(shell.home()).display().to_string(),
        has_links: links::come_here(),
    })
}

/// Lets the system open `engram://` links with this window.
#[tauri::command]
pub(crate) async fn bring_links(shell: State<'_, Shell>) -> Result<(), Refusal> {
    links::bring_here(shell.other_home())
}

/// Opens the newest log in the person's editor; returns the editor's name.
#[tauri::command]
pub(crate) async fn open_log(shell: State<'_, Shell>) -> Result<String, Refusal> {
    let home = shell.home();
    let file = log::newest(home);
    if !file.is_file() {
        return Err(Refusal::new(
            Code::Internal,
            "nothing has been logged yet",
            "The log is written to the logs folder of the home, if that is writable.",
        ));
    }
    let place = editor::Place::inside(&home.join("logs"), &file, 1)?;
    editor::open(&place, &editor::Choice::here(home))
}

/// Repositories that are open or were before, with what is known about each.
#[tauri::command]
pub(crate) async fn repositories(shell: State<'_, Shell>) -> Result<Vec<Recent>, Refusal> {
    let list = |shell: &Shell| {
        let opened = shell.opened();
        let mut all = recent::read(shell.home());
        let is_known = |seen: &&Seen| all.iter().any(|it| it.path == seen.root);
        let others: Vec<Recent> = opened
            .iter()
            .filter(|it| !is_known(it))
            .map(about)
            .collect();
        for it in &mut all {
            *it = match opened.iter().find(|seen| seen.root == it.path) {
                Some(seen) => about(seen),
                None => counted(status_of(shell.home(), &it.path), it.clone()),
            };
        }
        all.extend(others);
        Ok(all)
    };
    shell.blocking(list).await
}

/// The repositories open in the window, once something has changed since these.
#[tauri::command]
pub(crate) async fn opened(shell: State<'_, Shell>, after: u64) -> Result<OpenedReply, Refusal> {
    let news = shell.news(after).await;
    let list = move |shell: &Shell| {
        Ok(OpenedReply {
            news,
            repositories: shell.opened().iter().map(about).collect(),
        })
    };
    shell.blocking(list).await
}

/// What is known about a repository that is open in the window.
fn about(seen: &Seen) -> Recent {
    let it = Recent {
        is_front: seen.is_front,
        unseen: seen.unseen,
        ..recent::about(Path::new(&seen.root))
    };
    counted(opened::status_of(&seen.engine), it)
}

/// What is known about one that is not.
fn status_of(home: &Path, repo: &str) -> Result<StatusReply, Refusal> {
    let engine = Engine::open(Options {
        home: home.to_owned(),
        repo: Some(repo.into()),
        from: home.to_owned(),
    })?;
    opened::status_of(&engine)
}

fn counted(status: Result<StatusReply, Refusal>, mut it: Recent) -> Recent {
    match status {
        Ok(status) => it.holding = Some((status.engrams, status.drifted)),
        Err(refusal) => tracing::info!(path = it.path, %refusal, "not counted"),
    }
    it
}

/// Brings a repository in front: requests are about that one then. Returns its root.
#[tauri::command]
pub(crate) async fn open_repository(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    path: String,
) -> Result<String, Refusal> {
    let bring = move |shell: &Shell| {
        let path = Path::new(&path);
        if !path.is_absolute() || !path.exists() {
            return Err(Refusal::new(
                Code::RepoUnavailable,
                format!("the folder {} does not exist", path.display()),
                "Enter the absolute path of a repository.",
            ));
        }
        let root = shell.bring(path)?;
        window::name(&window, shell);
        Ok(root)
    };
    shell.blocking(bring).await
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

/// Passes what other programs send to the page, from now on.
#[tauri::command]
pub(crate) async fn follow_handed(
    shell: State<'_, Shell>,
    channel: Channel<Handed>,
) -> Result<(), Refusal> {
    shell.follow_handed(channel);
    Ok(())
}
