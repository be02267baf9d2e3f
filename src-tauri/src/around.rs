//! What the page may call about the window itself: settings, the log, repositories, links.

use std::path::Path;

use engram_engine::{Engine, Options};
use engram_model::{Code, Recent, Refusal, Settings, StatusReply, Surroundings};
use tauri::{State, WebviewWindow, ipc::Channel};

use crate::{
    editor, links, log, recent, settings,
    shell::{self, Shell},
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

/// Lets the system open links of ours with this window.
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
            "nothing was logged yet",
            "The log is written to the folder logs of the home, where that can be written.",
        ));
    }
    let place = editor::Place::inside(&home.join("logs"), &file, 1)?;
    editor::open(&place, &editor::Choice::here(home))
}

/// Repositories that were open before, and what is known of each.
#[tauri::command]
pub(crate) async fn repositories(shell: State<'_, Shell>) -> Result<Vec<Recent>, Refusal> {
    let asked = Shell::clone(&shell);
    shell
        .run(move |_| {
            let open = asked.status()?.project.and_then(|it| it.root);
            let mut all = recent::read(asked.home());
            for it in &mut all {
                it.is_open = Some(&it.path) == open.as_ref();
                match status_of(asked.home(), &it.path) {
                    Ok(status) => it.holding = Some((status.engrams, status.drifted)),
                    Err(refusal) => tracing::info!(path = it.path, %refusal, "not counted"),
                }
            }
            Ok(all)
        })
        .await
}

/// What is known of a repository that is not in the window.
fn status_of(home: &Path, repo: &str) -> Result<StatusReply, Refusal> {
    let engine = Engine::open(Options {
        home: home.to_owned(),
        repo: Some(repo.into()),
        from: home.to_owned(),
    })?;
    shell::status_of(&engine)
}

/// Makes another repository the one that requests are about.
#[tauri::command]
pub(crate) async fn open_repository(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    path: String,
) -> Result<(), Refusal> {
    let asked = Shell::clone(&shell);
    let done = tauri::async_runtime::spawn_blocking(move || {
        let path = Path::new(&path);
        if !path.is_absolute() || !path.exists() {
            return Err(Refusal::new(
                Code::RepoUnavailable,
                format!("there is no folder {}", path.display()),
                "Write the whole path of a repository, from the root.",
            ));
        }
        asked.switch(path)
    });
    done.await.unwrap_or_else(|error| {
        Err(Refusal::new(
            Code::Internal,
            format!("the repository could not be opened: {error}"),
            "This is a defect of ours; the log says more.",
        ))
    })?;
    window::name(&window, &shell);
    Ok(())
}

/// Hands links of other programs to the page, from now on.
#[tauri::command]
pub(crate) async fn follow_links(
    shell: State<'_, Shell>,
    channel: Channel<String>,
) -> Result<(), Refusal> {
    shell.follow_links(channel);
    Ok(())
}
