//! `engram connect`: shows the change to an agent's configuration, asks, and writes it.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use engram_connect::{ConfigurationChange, ConnectTarget};
use engram_engine::Moved;
use engram_model::{Client, Code, ConnectHint, Connected, Refusal};
use serde_json::json;

use crate::{
    args::{ClientArg, ConnectArgs},
    command,
    out::{self, one_line},
    run::person_is_there,
};

pub(crate) fn connect(
    ask: &ConnectArgs,
    home: PathBuf,
    repo: Option<&Path>,
    as_json: bool,
) -> Result<ExitCode, Refusal> {
    let Some(client) = ask.client.map(ClientArg::client) else {
        return list_clients(home, repo, as_json);
    };
    let repo = match client {
        Client::Claude => Some(search_start(repo)?),
        // Codex's configuration is not in a repository; only the advice is.
        Client::Codex => search_start(repo).ok(),
    };
    let place = ConnectTarget { home, repo };
    let change = if ask.undo {
        ConfigurationChange::undo(client, &place)?
    } else {
        ConfigurationChange::connect(client, &place, &configured_program()?)?
    };
    let (path, changed) = (one_line(change.path().display()), change.is_any());
    let diff = change.diff(|path| one_line(path.display()));
    if !as_json && changed {
        if change.path() != change.usual_path() {
            let named = one_line(change.usual_path().display());
            out::print_line(&format!("{named} links to {path}"));
        }
        if change.replaces() {
            out::print_line(&format!(
                "{path} has another server named engram; this replaces it, and --undo puts it back"
            ));
        }
        out::print_line(diff.trim_end());
    }
    if !as_json && let Some((path, Some(why))) = change.advice() {
        let path = one_line(path.display());
        out::print_line(&format!(
            "{path} stays as it is: {}",
            one_line(&why.message)
        ));
    }
    let write = changed && (ask.yes || ask_to_write(as_json));
    if write {
        change.write()?;
    }
    if as_json {
        out::print_json(&change_json(&change, write, &diff))
    } else {
        let paths = match change.advice() {
            Some((advice, None)) => format!("{path} and {}", one_line(advice.display())),
            _ => path,
        };
        out::print_line(&outcome_text(client, ask.undo, &paths, changed, write))
    };
    Ok(ExitCode::SUCCESS)
}

/// Lists the agents that can be connected, each with its command and its state.
fn list_clients(home: PathBuf, repo: Option<&Path>, as_json: bool) -> Result<ExitCode, Refusal> {
    let (hints, program) = (hints(&home)?, configured_program()?);
    let place = ConnectTarget {
        home,
        repo: search_start(repo).ok(),
    };
    let connection = |it| engram_connect::connection(it, &place, Some(&program)).state;
    let states = Client::ALL.iter().copied().map(connection);
    let line = |(hint, state): (&ConnectHint, Connected)| {
        let state = match state {
            Connected::Here => "connected",
            Connected::Elsewhere => "connected to another home or program",
            Connected::Stranger => "not connected: another server is named engram",
            Connected::No => "not connected",
            Connected::Refused(_) => "cannot be connected here",
        };
        format!(
            "{:<12} {}\n             {state}",
            hint.agent,
            one_line(&hint.command)
        )
    };
    if as_json {
        out::print_json(&json!({ "agents": hints }))
    } else {
        out::print_line(
            &hints
                .iter()
                .zip(states)
                .map(line)
                .collect::<Vec<_>>()
                .join("\n"),
        )
    };
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder to search for the repository from.
fn search_start(repo: Option<&Path>) -> Result<PathBuf, Refusal> {
    match repo {
        Some(repo) => Ok(repo.to_owned()),
        None => std::env::current_dir().map_err(|error| {
            Refusal::new(
                Code::RepoUnavailable,
                format!("cannot determine the current folder: {error}"),
                "Change to your clone, or pass it with --repo.",
            )
        }),
    }
}

/// The command lines that connect an agent to a home.
pub(crate) fn hints(home: &Path) -> Result<Vec<ConnectHint>, Refusal> {
    Ok(engram_connect::hints(&configured_program()?, home))
}

/// Returns this program in the form that a configuration names it.
fn configured_program() -> Result<String, Refusal> {
    engram_connect::short_name(&command::own_path()?)
}

/// Lists the configurations that name the home's old path, each with the command that fixes it.
pub(crate) fn outdated_configurations(
    moved: &Moved,
    repo: Option<&Path>,
) -> Vec<(PathBuf, String)> {
    engram_connect::configurations_naming(
        &moved.from,
        &moved.to,
        search_start(repo).ok().as_deref(),
    )
}

fn ask_to_write(as_json: bool) -> bool {
    !as_json
        && person_is_there()
        && matches!(out::ask("Write this? [y/N]").trim(), "y" | "Y" | "yes")
}

fn change_json(change: &ConfigurationChange, written: bool, diff: &str) -> serde_json::Value {
    let mut answer = json!({
        "path": change.path().display().to_string(),
        "changed": change.is_any(),
        "written": written,
        "diff": diff,
    });
    if change.replaces() {
        answer["replaces"] = true.into();
    }
    if let Some((path, why)) = change.advice() {
        let path = path.display().to_string();
        answer["agents_md"] = match why {
            None => json!({ "path": path, "changed": true }),
            Some(why) => json!({ "path": path, "changed": false, "why": why.message }),
        };
    }
    answer
}

fn outcome_text(client: Client, undo: bool, path: &str, changed: bool, written: bool) -> String {
    match (changed, written, undo) {
        (false, _, false) => format!(
            "{} is connected: {path} has engram already; nothing to change",
            client.title()
        ),
        (false, _, true) => format!("{path} does not have engram; nothing to remove"),
        (true, false, _) => format!("nothing was changed; add --yes to write {path}"),
        (true, true, true) => format!("removed engram from {path}"),
        (true, true, false) => format!(
            "wrote {path}; {0} is connected: start or restart {0} so that it picks up Engram's tools",
            client.title()
        ),
    }
}
