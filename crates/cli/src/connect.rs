//! `engram connect`: puts the MCP entry into a client's configuration, keeps what is there, shows
//! the change first, and takes it out again.

mod claude;
mod codex;
mod file;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use engram_engine::{keep_file, read_file};
use engram_model::{Code, ConnectHint, Refusal, quoted};
use serde::{Deserialize, Serialize};
use serde_json::json;
use similar::TextDiff;

use crate::{
    args::{Client, Connect},
    command,
    out::{self, one_line},
    run::person_is_there,
};
use file::{Configuration, unreadable};

/// The name of our entry in every client.
const NAME: &str = "engram";
/// What Claude Code reads of a repository.
const MCP: &str = ".mcp.json";
/// Where a home keeps what was done.
const RECORDS: &str = "connect";
/// Longest name of a record without its ending, in bytes; no file system has less than 255 in all.
const LONGEST: usize = 240;
/// Largest file that is read here, in bytes: a record holds two configurations, as JSON.
const LARGEST: u64 = 32 << 20;

/// What a client is to run.
struct Server {
    command: String,
    args: Vec<String>,
}

/// What was done, so that it can be undone to the byte.
#[derive(Serialize, Deserialize)]
struct Record {
    /// The configuration; records of earlier builds do not say.
    path: Option<String>,
    before: Option<String>,
    after: String,
}

pub(crate) fn connect(
    ask: &Connect,
    home: PathBuf,
    repo: Option<&Path>,
    as_json: bool,
) -> Result<ExitCode, Refusal> {
    let (named, file) = match ask.client {
        Client::Claude => {
            let root = project_root(repo)?;
            let file = Configuration::of_repository(&root, MCP)?;
            (root.join(MCP), file)
        }
        Client::Codex => {
            let named = codex::path()?;
            let file = Configuration::of_user(&named)?;
            (named, file)
        }
    };
    let before = file.text.as_deref();
    let after = match ask.undo {
        true => undone(ask.client, &named, &file, &home)?,
        false => Some(added(ask.client, &file, &home)?),
    };
    let after = after.as_deref();
    let changed = before != after;
    let diff = diff(&file.path, before, after);
    if !as_json && changed {
        if file.path != named {
            let (named, path) = (one_line(named.display()), one_line(file.path.display()));
            out::line(&format!("{named} links to {path}"));
        }
        out::line(diff.trim_end());
    }
    let write = changed && (ask.yes || agreed(as_json));
    if write {
        apply(ask, &home, &named, &file, after)?;
    }
    say(ask, &file.path, changed, write, &diff, as_json);
    Ok(ExitCode::SUCCESS)
}

/// With our entry.
fn added(client: Client, file: &Configuration, home: &Path) -> Result<String, Refusal> {
    let server = server(home)?;
    let text = file.text.as_deref().unwrap_or_default();
    match client {
        Client::Claude => claude::add(text, &server),
        Client::Codex => codex::add(text, &server),
    }
    .map_err(|why| unreadable(&file.path, &why))
}

/// Claude Code reads `.mcp.json` at the root of the working tree.
fn project_root(repo: Option<&Path>) -> Result<PathBuf, Refusal> {
    let from = match repo {
        Some(repo) => repo.to_owned(),
        None => std::env::current_dir().map_err(|error| {
            Refusal::new(
                Code::RepoUnavailable,
                format!("cannot determine the current folder: {error}"),
                "Change to your clone, or pass it with --repo.",
            )
        })?,
    };
    engram_engine::working_tree(&from)
}

/// The command lines that connect an agent to a home.
pub(crate) fn hints(home: &Path) -> Result<Vec<ConnectHint>, Refusal> {
    Ok(match named(home) {
        Ok(home) => ConnectHint::all(&program()?, home.as_deref()),
        Err(_) => Vec::new(),
    })
}

fn server(home: &Path) -> Result<Server, Refusal> {
    let home = named(home)?.map(|it| ["--home".to_owned(), it]);
    let args = home.into_iter().flatten().chain(["mcp".to_owned()]);
    Ok(Server {
        command: program()?,
        args: args.collect(),
    })
}

/// A home that has to be named, since it is not the one that is meant without.
fn named(home: &Path) -> Result<Option<String>, Refusal> {
    if engram_engine::default_home().as_deref() == Some(home) {
        return Ok(None);
    }
    text(&std::path::absolute(home).unwrap_or(home.to_owned())).map(Some)
}

/// A path as configurations can name it.
fn text(path: &Path) -> Result<String, Refusal> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Refusal::new(
            Code::SchemaInvalid,
            format!(
                "{} is not UTF-8, so no configuration can name it",
                path.display()
            ),
            "Nothing was changed. Use a home and an install folder for engram whose paths are UTF-8.",
        )
    })
}

/// This program, by its short name where a shell finds it under that name.
fn program() -> Result<String, Refusal> {
    let own = command::own()?;
    Ok(match command::found() {
        Some(found) if found.canonicalize().is_ok_and(|it| it == own) => "engram".to_owned(),
        _ => text(&own)?,
    })
}

/// Configurations that name the place where a home was, each with the command that mends it.
pub(crate) fn naming(former: &Path, home: &Path, repo: Option<&Path>) -> Vec<(PathBuf, String)> {
    let records = std::fs::read_dir(home.join(RECORDS)).into_iter().flatten();
    let written = records.filter_map(|it| known(&it.ok()?.path())?.path);
    let here = project_root(repo).map(|it| it.join(MCP));
    let mut paths: Vec<PathBuf> = written.map(PathBuf::from).collect();
    paths.extend(here.into_iter().chain(codex::path()));
    paths.sort();
    paths.dedup();
    let former = former.display().to_string();
    let mut named = Vec::new();
    for path in paths {
        if read_file(&path, LARGEST).is_ok_and(|it| it.contains(&former)) {
            let command = match path.ends_with(MCP) {
                true => {
                    let root = path.parent().unwrap_or(&path).display().to_string();
                    format!("engram --repo {} connect claude", quoted(&root))
                }
                false => "engram connect codex".to_owned(),
            };
            named.push((path, command));
        }
    }
    named
}

/// The original file if nobody has changed it since, else the file without our entry.
fn undone(
    client: Client,
    named: &Path,
    file: &Configuration,
    home: &Path,
) -> Result<Option<String>, Refusal> {
    let Some(now) = &file.text else {
        return Ok(None);
    };
    match record_of(home, named) {
        Some(known) if known.after == *now => Ok(known.before),
        _ => remove(client, now)
            .map(Some)
            .map_err(|why| unreadable(&file.path, &why)),
    }
}

fn remove(client: Client, text: &str) -> Result<String, String> {
    match client {
        Client::Claude => claude::remove(text),
        Client::Codex => codex::remove(text),
    }
}

/// What was done to this file, as far as this home knows.
fn record_of(home: &Path, named: &Path) -> Option<Record> {
    let record = known(&home.join(record_name(named)))?;
    // Names of two files may come to the same.
    let is_of_it = |it: &String| Path::new(it) == named;
    record.path.as_ref().is_none_or(is_of_it).then_some(record)
}

fn known(record: &Path) -> Option<Record> {
    serde_json::from_str(&read_file(record, LARGEST).ok()?).ok()
}

fn apply(
    ask: &Connect,
    home: &Path,
    named: &Path,
    file: &Configuration,
    after: Option<&str>,
) -> Result<(), Refusal> {
    let name = record_name(named);
    if !ask.undo
        && let Some(after) = after
    {
        // Nothing is recorded that will not happen.
        file.refuse_changed()?;
        // Written over what we wrote before, the file to go back to is still the first.
        let before = match record_of(home, named) {
            Some(known) if Some(&known.after) == file.text.as_ref() => known.before,
            // Nor is it one that names engram already: undo takes engram out.
            _ => {
                let before = file.text.clone();
                before.map(|text| remove(ask.client, &text).unwrap_or(text))
            }
        };
        let record = Record {
            path: named.to_str().map(str::to_owned),
            before,
            after: after.to_owned(),
        };
        // With whatever secrets stand in the file: for the user alone.
        keep_file(home, &name, &json!(record).to_string())?;
    }
    file.write(after)?;
    if ask.undo && record_of(home, named).is_some() {
        let _ = std::fs::remove_file(home.join(name));
    }
    Ok(())
}

/// The place of its record in a home: the path, or of a long one as much of its end as a name can be.
fn record_name(named: &Path) -> String {
    let name: String = named
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    let end = name.ceil_char_boundary(name.len().saturating_sub(LONGEST));
    format!("{RECORDS}/{}.json", &name[end..])
}

fn diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = one_line(path.display());
    TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default())
        .unified_diff()
        .header(&name, &name)
        .to_string()
}

fn agreed(as_json: bool) -> bool {
    !as_json
        && person_is_there()
        && matches!(out::ask("Write this? [y/N]").trim(), "y" | "Y" | "yes")
}

fn say(ask: &Connect, path: &Path, changed: bool, written: bool, diff: &str, as_json: bool) {
    if as_json {
        let answer = json!({
            "path": path.display().to_string(),
            "changed": changed,
            "written": written,
            "diff": diff,
        });
        out::json(&answer);
        return;
    }
    let path = one_line(path.display());
    out::line(&match (changed, written, ask.undo) {
        (false, _, false) => format!("{path} already has engram; nothing to change"),
        (false, _, true) => format!("{path} does not have engram; nothing to remove"),
        (true, false, _) => format!("{path} was not changed; add --yes to write it"),
        (true, true, true) => format!("removed engram from {path}"),
        (true, true, false) => format!(
            "wrote {path}; start {} there and it picks up Engram's tools",
            match ask.client {
                Client::Claude => "Claude Code",
                Client::Codex => "Codex",
            }
        ),
    });
}
