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
    args::ConnectArgs,
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
    let Some(client) = ask.client else {
        return list_clients(home, repo, as_json);
    };
    let place = ConnectTarget {
        home,
        repo: search_start(repo).ok(),
    };
    let change = if ask.undo {
        ConfigurationChange::undo(client, &place)?
    } else {
        ConfigurationChange::connect(client, &place, &configured_program()?)?
    };
    let diff = change.diff(|path| one_line(path.display()));
    if !as_json {
        print_change(&change, &diff);
    }
    let write = change.is_any() && (ask.yes || ask_to_write(as_json));
    if write {
        change.write()?;
    }
    if as_json {
        out::print_json(&change_json(&change, write, &diff))
    } else {
        out::print_line(&outcome_text(client, ask.undo, &change, write))
    };
    Ok(ExitCode::SUCCESS)
}

fn print_change(change: &ConfigurationChange, diff: &str) {
    for (named, path) in change.changed_files() {
        if named != path {
            let [named, path] = [named, path].map(|it| one_line(it.display()));
            out::print_line(&format!("{named} links to {path}"));
        }
    }
    if change.replaces() && change.is_any() {
        out::print_line(&format!(
            "{} has another server named engram; this replaces it, and --undo puts it back",
            one_line(change.path().display())
        ));
    }
    if change.is_any() {
        out::print_line(diff.trim_end());
    }
    for (path, why) in change.left_files() {
        let (path, why) = (one_line(path.display()), one_line(&why.message));
        out::print_line(&format!("{path} stays as it is: {why}"));
    }
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
            Connected::Unadvised => {
                "connected; this repository's AGENTS.md does not tell it to use Engram"
            }
            Connected::Elsewhere => "connected to another home or program",
            Connected::Stranger => "not connected: another server is named engram",
            Connected::No => "not connected",
            Connected::Refused(_) => "cannot be connected here",
        };
        format!(
            "{:<18} {}\n{:<18} {state}",
            hint.agent,
            one_line(&hint.command),
            ""
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

/// Returns the folder from which to search for the repository.
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
    let changed = change.changed_files().map(|(named, path)| {
        (
            named,
            json!({ "path": path.display().to_string(), "changed": true }),
        )
    });
    let left = change.left_files().map(|(path, why)| {
        let shown = path.display().to_string();
        (
            path,
            json!({ "path": shown, "changed": false, "why": why.message }),
        )
    });
    let files: Vec<_> = changed.chain(left).collect();
    if let Some((_, agents)) = files.iter().find(|(named, _)| named.ends_with("AGENTS.md")) {
        answer["agents_md"] = agents.clone();
    }
    answer["files"] = files.into_iter().map(|(_, it)| it).collect();
    answer
}

fn outcome_text(client: Client, undo: bool, change: &ConfigurationChange, written: bool) -> String {
    let title = client.title();
    let file = one_line(change.path().display());
    let changed = change.changed_files();
    let paths: Vec<_> = changed.map(|(_, it)| one_line(it.display())).collect();
    let paths = paths.join(", ");
    match (change.is_any(), written, undo) {
        (false, _, false) => {
            format!("{title} is connected: {file} already has engram. Nothing to change.")
        }
        (false, _, true) => format!("{file} does not have engram. Nothing to remove."),
        (true, false, _) => format!("Nothing written. Run again with --yes to write {paths}."),
        (true, true, true) => format!("Removed engram from {paths}."),
        (true, true, false) => {
            let said = format!(
                "Wrote {paths}.\n{title} is connected. Start or restart it. {}",
                client.approval()
            );
            said.trim_end().to_owned()
        }
    }
}
