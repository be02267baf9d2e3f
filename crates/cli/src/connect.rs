//! `engram connect`: puts the MCP entry into a client's configuration, keeps what is there, shows
//! the change first, and takes it out again.

mod claude;
mod codex;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use engram_model::{Code, ConnectHint, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::json;
use similar::TextDiff;

use crate::{
    args::{Client, Connect},
    command, print,
    run::person_is_there,
};

/// The name of our entry in every client.
const NAME: &str = "engram";

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
    let path = match ask.client {
        Client::Claude => project_root(repo)?.join(".mcp.json"),
        Client::Codex => codex::path()?,
    };
    let before = read(&path)?;
    let record = record_path(&home, &path);
    let after = match ask.undo {
        true => undone(ask.client, &path, before.as_deref(), &record)?,
        false => {
            let server = server(&home)?;
            let text = before.as_deref().unwrap_or_default();
            Some(
                match ask.client {
                    Client::Claude => claude::add(text, &server),
                    Client::Codex => codex::add(text, &server),
                }
                .map_err(|why| unreadable(&path, &why))?,
            )
        }
    };
    let changed = before != after;
    let diff = diff(&path, before.as_deref(), after.as_deref());
    if !as_json && changed {
        print::line(diff.trim_end());
    }
    let write = changed && (ask.yes || agreed(as_json)?);
    if write {
        apply(ask, &path, before, after.as_deref(), &record)?;
    }
    say(ask, &path, changed, write, &diff, as_json);
    Ok(ExitCode::SUCCESS)
}

/// Claude Code reads `.mcp.json` at the root of the working tree.
fn project_root(repo: Option<&Path>) -> Result<PathBuf, Refusal> {
    let from = match repo {
        Some(repo) => repo.to_owned(),
        None => std::env::current_dir().unwrap_or_default(),
    };
    engram_engine::working_tree(&from)
}

/// The command lines that connect an agent to a home.
pub(crate) fn hints(home: &Path) -> Result<Vec<ConnectHint>, Refusal> {
    Ok(ConnectHint::all(&program()?, named(home).as_deref()))
}

fn server(home: &Path) -> Result<Server, Refusal> {
    let home = named(home).map(|it| ["--home".to_owned(), it]);
    let args = home.into_iter().flatten().chain(["mcp".to_owned()]);
    Ok(Server {
        command: program()?,
        args: args.collect(),
    })
}

/// A home that has to be named, since it is not the one that is meant without.
fn named(home: &Path) -> Option<String> {
    (engram_engine::default_home().as_deref() != Some(home)).then(|| {
        let home = std::path::absolute(home).unwrap_or(home.to_owned());
        home.display().to_string()
    })
}

/// This program, by its short name where a shell finds it under that name.
fn program() -> Result<String, Refusal> {
    let own = command::own()?;
    Ok(match command::found() {
        Some(found) if found.canonicalize().is_ok_and(|it| it == own) => "engram".to_owned(),
        _ => own.display().to_string(),
    })
}

/// Configurations that name the place where a home was, each with the command that mends it.
pub(crate) fn naming(former: &Path, home: &Path, repo: Option<&Path>) -> Vec<(PathBuf, String)> {
    let records = std::fs::read_dir(home.join("connect"))
        .into_iter()
        .flatten();
    let written = records.filter_map(|it| known(&it.ok()?.path())?.path);
    let here = project_root(repo).map(|it| it.join(".mcp.json"));
    let mut paths: Vec<PathBuf> = written.map(PathBuf::from).collect();
    paths.extend(here.into_iter().chain(codex::path()));
    paths.sort();
    paths.dedup();
    let former = former.display().to_string();
    let mut named = Vec::new();
    for path in paths {
        if std::fs::read_to_string(&path).is_ok_and(|it| it.contains(&former)) {
            let command = match path.ends_with(".mcp.json") {
                true => {
                    let root = path.parent().unwrap_or(&path);
                    format!("engram --repo '{}' connect claude", root.display())
                }
                false => "engram connect codex".to_owned(),
            };
            named.push((path, command));
        }
    }
    named
}

/// The file as it was before, where nobody changed it since; else without our entry.
fn undone(
    client: Client,
    path: &Path,
    now: Option<&str>,
    record: &Path,
) -> Result<Option<String>, Refusal> {
    let Some(now) = now else {
        return Ok(None);
    };
    match known(record) {
        Some(known) if known.after == now => Ok(known.before),
        _ => remove(client, now)
            .map(Some)
            .map_err(|why| unreadable(path, &why)),
    }
}

fn remove(client: Client, text: &str) -> Result<String, String> {
    match client {
        Client::Claude => claude::remove(text),
        Client::Codex => codex::remove(text),
    }
}

fn known(record: &Path) -> Option<Record> {
    serde_json::from_str(&std::fs::read_to_string(record).ok()?).ok()
}

fn apply(
    ask: &Connect,
    path: &Path,
    before: Option<String>,
    after: Option<&str>,
    record: &Path,
) -> Result<(), Refusal> {
    let failed = |path: &Path, error: std::io::Error| {
        Refusal::new(
            Code::StoreReadOnly,
            format!("{} cannot be written: {error}", path.display()),
            "Change its permissions, or add the entry by hand.",
        )
    };
    if !ask.undo
        && let Some(after) = after
    {
        // Written over what we wrote before, the file to go back to is still the first.
        let before = match known(record) {
            Some(known) if Some(&known.after) == before.as_ref() => known.before,
            // Nor is it one that names engram already: undo takes engram out.
            _ => before.map(|text| remove(ask.client, &text).unwrap_or(text)),
        };
        let text = json!(Record {
            path: path.to_str().map(str::to_owned),
            before,
            after: after.to_owned()
        })
        .to_string();
        write_whole(record, &text).map_err(|error| failed(record, error))?;
    }
    match after {
        Some(after) => write_whole(path, after).map_err(|error| failed(path, error))?,
        None => std::fs::remove_file(linked(path)).map_err(|error| failed(path, error))?,
    }
    if ask.undo {
        let _ = std::fs::remove_file(record);
    }
    Ok(())
}

/// A reader sees the old file or the new one. A link stays a link.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let path = linked(path);
    let folder = path.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder)?;
    let mut draft = tempfile::Builder::new();
    // As any file that is new; a draft would be for its owner alone.
    #[cfg(unix)]
    draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut draft = draft.tempfile_in(folder)?;
    if let Ok(known) = std::fs::metadata(&path) {
        draft.as_file().set_permissions(known.permissions())?;
    }
    draft.write_all(text.as_bytes())?;
    draft.as_file().sync_all()?;
    draft.persist(&path)?;
    Ok(())
}

/// The file that a path means, also where a link points to nothing yet.
fn linked(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(path);
    match (path.canonicalize(), std::fs::read_link(path)) {
        (Ok(path), _) => path,
        (Err(_), Ok(target)) => folder.join(target),
        _ => path.to_owned(),
    }
}

fn record_path(home: &Path, path: &Path) -> PathBuf {
    let name: String = path
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    home.join("connect").join(format!("{name}.json"))
}

fn read(path: &Path) -> Result<Option<String>, Refusal> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error.to_string())),
    }
}

fn unreadable(path: &Path, why: &str) -> Refusal {
    Refusal::new(
        Code::SchemaInvalid,
        format!("{} cannot be read: {why}", path.display()),
        "Correct the file first; nothing was changed.",
    )
}

fn diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = path.display().to_string();
    TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default())
        .unified_diff()
        .header(&name, &name)
        .to_string()
}

fn agreed(as_json: bool) -> Result<bool, Refusal> {
    if as_json || !person_is_there() {
        return Ok(false);
    }
    eprint!("Write this? [y/N] ");
    let mut answer = String::new();
    let _ = std::io::stdin().read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn say(ask: &Connect, path: &Path, changed: bool, written: bool, diff: &str, as_json: bool) {
    if as_json {
        let answer = json!({
            "path": path.display().to_string(),
            "changed": changed,
            "written": written,
            "diff": diff,
        });
        print::line(&answer.to_string());
        return;
    }
    let path = path.display();
    print::line(&match (changed, written, ask.undo) {
        (false, _, false) => format!("{path} has engram already; nothing to change"),
        (false, _, true) => format!("{path} has no engram; nothing to take out"),
        (true, false, _) => format!("{path} was not changed; add --yes to write it"),
        (true, true, true) => format!("took engram out of {path}"),
        (true, true, false) => format!(
            "wrote {path}; start {} there and it will find its tools",
            match ask.client {
                Client::Claude => "Claude Code",
                Client::Codex => "Codex",
            }
        ),
    });
}
