//! Which `engram` a shell starts, and whether that is this program.

use std::{env, path::PathBuf};

use engram_engine::Diagnosis;
use engram_model::{Code, Refusal};

/// Returns the path of this program.
pub(crate) fn own_path() -> Result<PathBuf, Refusal> {
    env::current_exe()
        .and_then(|it| it.canonicalize())
        .map_err(|error| {
            Refusal::new(
                Code::Internal,
                format!("cannot find this program's own path: {error}"),
                "Call engram by its full path.",
            )
        })
}

/// Checks for `engram doctor` which `engram` the shell runs. Another program of this name is a
/// fault.
pub(crate) fn diagnose_command() -> Result<Diagnosis, Refusal> {
    let own = own_path()?;
    let found = engram_connect::find_program();
    let is_own = found
        .as_ref()
        .map(|it| it.canonicalize().is_ok_and(|it| it == own));
    let path = found.unwrap_or_default();
    let (path, own) = (path.display(), own.display());
    Ok(Diagnosis {
        what: "command".to_owned(),
        ok: is_own != Some(false),
        found: match is_own {
            Some(true) => format!("your shell runs this engram, {path}"),
            Some(false) => format!(
                "your shell runs another engram, {path}, not this one, {own}: put this one's folder first in PATH, or call it by its full path"
            ),
            None => format!("engram is not on PATH: call it by its full path, {own}"),
        },
    })
}
