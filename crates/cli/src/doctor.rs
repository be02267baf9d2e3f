//! `engram doctor`: checks a home, moves it, and recovers its database.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use engram_engine::{Engine, Moved, Treatment};
use engram_model::{Code, Refusal, format_count};
use serde_json::{Value, json};

use crate::{
    args::Cli,
    command, connect,
    out::{self, one_line},
};

pub(crate) fn doctor(
    engine: &Engine,
    treatment: Treatment,
    as_json: bool,
) -> Result<ExitCode, Refusal> {
    let mut health = engine.doctor(treatment)?;
    let command = command::diagnose_command()?;
    health.ok &= command.ok;
    health.findings.push(command);
    if as_json {
        out::print_json(&health);
    } else {
        for finding in &health.findings {
            let mark = if finding.ok { "ok " } else { "BAD" };
            let (what, found) = (&finding.what, one_line(&finding.found));
            out::print_line(&format!("{mark} {what:<11} {found}"));
        }
    }
    Ok(if health.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Refuses if the home does not exist. `doctor` creates none, since a home that was moved away
/// would then look empty.
pub(crate) fn require_home(home: &Path) -> Result<(), Refusal> {
    if engram_engine::is_home_there(home) {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::NotFound,
            format!("there is no Engram home in {}", home.display()),
            "If it was moved or its disk is not mounted, put it back. If Engram is new here, the first claim creates it. Check --home and ENGRAM_HOME.",
        ))
    }
}

/// Recovers the database before anything opens it, since a damaged one may not open.
pub(crate) fn recover(home: &Path, as_json: bool) -> Result<ExitCode, Refusal> {
    let recovered = engram_engine::recover(home)?;
    let aside = recovered.aside.display().to_string();
    if as_json {
        out::print_json(&json!({
            "aside": aside,
            "saved": recovered.saved,
            "lost": recovered.lost,
            "words": recovered.words,
        }))
    } else {
        out::print_line(&format!(
            "saved {}; {} unreadable; the text of {} could not be read; the damaged database is now {}",
            format_count(recovered.saved, ("journal entry", "journal entries")),
            format_count(recovered.lost, ("was", "were")),
            format_count(recovered.words, ("saved entry", "saved entries")),
            one_line(&aside)
        ))
    };
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn move_home(cli: &Cli) -> Result<ExitCode, Refusal> {
    if let Some(home) = &cli.home {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("--home or ENGRAM_HOME is set to {}", home.display()),
            "Only the default home can be moved: drop --home and unset ENGRAM_HOME.",
        ));
    }
    let moved = engram_engine::move_home()?;
    let naming = connect::outdated_configurations(&moved, cli.repo.as_deref());
    if cli.json {
        out::print_json(&moved_json(&moved, &naming))
    } else {
        out::print_line(&moved_text(&moved, &naming))
    };
    Ok(ExitCode::SUCCESS)
}

fn moved_json(moved: &Moved, naming: &[(PathBuf, String)]) -> Value {
    let text = |it: &PathBuf| it.display().to_string();
    let all = |of: &[PathBuf]| of.iter().map(text).collect::<Vec<_>>();
    let reconnect = naming
        .iter()
        .map(|(path, command)| json!({ "path": text(path), "command": command }));
    json!({
        "from": text(&moved.from),
        "to": text(&moved.to),
        "moved": all(&moved.moved),
        "stayed": all(&moved.stayed),
        "reconnect": reconnect.collect::<Vec<_>>(),
    })
}

fn moved_text(moved: &Moved, naming: &[(PathBuf, String)]) -> String {
    let list = |of: &[PathBuf]| {
        let names = of.iter().map(|it| one_line(it.display()));
        names.collect::<Vec<_>>().join(", ")
    };
    let (from, to) = (one_line(moved.from.display()), one_line(moved.to.display()));
    let mut out = format!("moved from {from} to {to}: {}", list(&moved.moved));
    if !moved.stayed.is_empty() {
        let _ = write!(
            out,
            "\nnot Engram's, left in {from}: {}",
            list(&moved.stayed)
        );
    }
    for (path, command) in naming {
        let _ = write!(
            out,
            "\n{} still uses {from}: run `{command}`",
            one_line(path.display())
        );
    }
    out
}
