//! Connects agents from the window, as `engram connect` does: a change is written only as shown.

use std::path::PathBuf;

use engram_connect::{
    ConfigurationChange, ConnectTarget, connection, find_program, hints, short_name,
};
use engram_model::{Client, Code, ConnectHint, ConnectReply, Connection, Refusal};
use parking_lot::Mutex;
use tauri::State;

use crate::shell::Shell;

/// The command lines that connect an agent on this machine.
#[tauri::command]
pub(crate) async fn connect_hint(shell: State<'_, Shell>) -> Result<Vec<ConnectHint>, Refusal> {
    let program = program_path().unwrap_or_else(|_| "engram".to_owned());
    Ok(hints(&program, shell.home()))
}

/// Which agents are connected, by the repository in front and the user's configuration.
#[tauri::command]
pub(crate) async fn connections(shell: State<'_, Shell>) -> Result<Vec<Connection>, Refusal> {
    let look = |shell: &Shell| {
        let (place, program) = (target_of(shell)?, program_path().ok());
        let one = |it: &Client| connection(*it, &place, program.as_deref());
        Ok(Client::ALL.iter().map(one).collect())
    };
    shell.blocking(look).await
}

/// Shows a change to an agent's configuration; writes it if `shown` is its digest.
#[tauri::command]
pub(crate) async fn connect(
    shell: State<'_, Shell>,
    client: Client,
    undo: bool,
    shown: Option<String>,
) -> Result<ConnectReply, Refusal> {
    /// Two calls at once must see each other's changes.
    static ONE: Mutex<()> = Mutex::new(());
    let take = move |shell: &Shell| {
        let place = target_of(shell)?;
        let _one = ONE.lock();
        let change = if undo {
            ConfigurationChange::undo(client, &place)?
        } else {
            ConfigurationChange::connect(client, &place, &program_path()?)?
        };
        change.write_as_shown(shown.as_deref())
    };
    shell.blocking(take).await
}

/// Returns this window's home and the repository in front.
fn target_of(shell: &Shell) -> Result<ConnectTarget, Refusal> {
    let project = shell.status()?.project;
    Ok(ConnectTarget {
        home: shell.home().to_owned(),
        repo: project.and_then(|it| it.root).map(PathBuf::from),
    })
}

/// Returns the `engram` installed with this window, otherwise the one that a shell would start.
fn program_path() -> Result<String, Refusal> {
    let own = std::env::current_exe().and_then(|it| it.canonicalize());
    let beside = own.map(|it| it.with_file_name(NAME)).ok();
    match beside.filter(|it| it.is_file()).or_else(find_program) {
        Some(path) => short_name(&path),
        None => Err(Refusal::new(
            Code::NotFound,
            "the command `engram` was not found",
            "Install it beside the window's program or in a folder on your PATH.",
        )),
    }
}

const NAME: &str = if cfg!(windows) {
    "engram.exe"
} else {
    "engram"
};
