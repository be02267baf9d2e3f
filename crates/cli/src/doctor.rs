//! `engram doctor`: the checkup, moving a home, recovering a database.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use engram_engine::{Engine, Moved, Treatment};
use engram_model::{Code, Refusal, count};
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
    let command = command::look()?;
    health.ok &= command.ok;
    health.findings.push(command);
    if as_json {
        out::json(&health);
    } else {
        for it in &health.findings {
            let mark = if it.ok { "ok " } else { "BAD" };
            out::line(&format!("{mark} {:<11} {}", it.what, one_line(&it.found)));
        }
    }
    Ok(if health.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// `doctor` creates no home: otherwise a home that was moved away would look empty.
pub(crate) fn look_for(home: &Path) -> Result<(), Refusal> {
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

/// Before anything is opened: what is damaged may not open.
pub(crate) fn recover(home: &Path, as_json: bool) -> Result<ExitCode, Refusal> {
    let it = engram_engine::recover(home)?;
    let aside = it.aside.display().to_string();
    if as_json {
        out::json(&json!({ "aside": aside, "saved": it.saved, "lost": it.lost, "words": it.words }))
    } else {
        out::line(&format!(
            "saved {}; {} unreadable, and {} lost their text; the damaged database is now {}",
            count(it.saved, ("journal entry", "journal entries")),
            count(it.lost, ("was", "were")),
            count(it.words, ("saved entry", "saved entries")),
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
    let naming = connect::naming(&moved, cli.repo.as_deref());
    if cli.json {
        out::json(&object(&moved, &naming))
    } else {
        out::line(&words(&moved, &naming))
    };
    Ok(ExitCode::SUCCESS)
}

fn object(it: &Moved, naming: &[(PathBuf, String)]) -> Value {
    let text = |it: &PathBuf| it.display().to_string();
    let all = |of: &[PathBuf]| of.iter().map(text).collect::<Vec<_>>();
    let reconnect = naming
        .iter()
        .map(|(path, command)| json!({ "path": text(path), "command": command }));
    json!({
        "from": text(&it.from),
        "to": text(&it.to),
        "moved": all(&it.moved),
        "stayed": all(&it.stayed),
        "reconnect": reconnect.collect::<Vec<_>>(),
    })
}

fn words(it: &Moved, naming: &[(PathBuf, String)]) -> String {
    let list = |of: &[PathBuf]| {
        let names = of.iter().map(|it| one_line(it.display()));
        names.collect::<Vec<_>>().join(", ")
    };
    let (from, to) = (one_line(it.from.display()), one_line(it.to.display()));
    let mut out = format!("moved from {from} to {to}: {}", list(&it.moved));
    if !it.stayed.is_empty() {
        let _ = write!(out, "\nnot Engram's, left in {from}: {}", list(&it.stayed));
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
