//! A home's `config.toml`: every default of DESIGN section 7 may be changed there, and nothing else.

use std::path::Path;

use engram_model::{Code, Limits, Refusal};
use engram_store::read_file;
use serde::Deserialize;

/// Largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// What a person may set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Every limit.
    pub(crate) limits: Limits,
    /// Whether `url:` pointers may be fetched; off unless turned on.
    pub(crate) urls: bool,
}

impl Config {
    /// Reads the file; the defaults where there is none.
    pub(crate) fn read(home: &Path) -> Result<Self, Refusal> {
        let path = home.join("config.toml");
        let text = match read_file(&path, LARGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(refused(&path, &error.to_string())),
        };
        toml::from_str(&text).map_err(|error| refused(&path, error.message()))
    }
}

fn refused(path: &Path, why: &str) -> Refusal {
    Refusal::new(
        Code::SchemaInvalid,
        format!("{} cannot be read: {why}", path.display()),
        "Correct the file, or move it away to go on with the defaults.",
    )
}
