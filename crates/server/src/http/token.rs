//! The secret that a caller must hold.

use std::{fs, io::Write, path::Path};

use engram_model::{Code, Refusal};

/// A fresh one; with a file, the one that is kept there, so that a page outlives a restart.
pub(super) fn token(file: Option<&Path>) -> Result<String, Refusal> {
    let Some(file) = file else {
        return Ok(fresh());
    };
    match fs::read_to_string(file) {
        Ok(text) => kept(file, text.trim()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let token = fresh();
            let mut options = fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options
                .open(file)
                .and_then(|mut it| writeln!(it, "{token}"))
                .map_err(|error| refused(file, &error.to_string()))?;
            Ok(token)
        }
        Err(error) => Err(refused(file, &error.to_string())),
    }
}

fn kept(file: &Path, token: &str) -> Result<String, Refusal> {
    #[cfg(unix)]
    if let Ok(about) = fs::metadata(file)
        && std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 != 0
    {
        return Err(refused(file, "others may read it"));
    }
    match token.len() == 64 && token.bytes().all(|it| it.is_ascii_hexdigit()) {
        true => Ok(token.to_owned()),
        false => Err(refused(file, "it holds no token of ours")),
    }
}

fn refused(file: &Path, why: &str) -> Refusal {
    Refusal::new(
        Code::SchemaInvalid,
        format!("{} cannot keep the token: {why}", file.display()),
        "Name a file that is not there yet, in a folder of yours; it is made for you alone (mode 600).",
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "a secret must not follow from a seed"
)]
fn fresh() -> String {
    hex::encode(rand::random::<[u8; 32]>())
}
