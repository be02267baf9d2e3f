//! The program that an agent runs.

use std::path::{Path, PathBuf};

use engram_model::{Code, ConnectHint, Refusal};

/// The command of an entry in an agent's configuration.
pub(crate) struct Server {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
}

impl Server {
    /// `repo` is the repository, for a client that may start the program elsewhere.
    pub(crate) fn new(program: &str, home: &Path, repo: Option<&Path>) -> Result<Self, Refusal> {
        let home = home_argument(home)?.map(|it| ["--home".to_owned(), it]);
        let repo = repo.map(utf8_of).transpose()?;
        let repo = repo.map(|it| ["--repo".to_owned(), it]);
        let options = home.into_iter().chain(repo).flatten();
        let args = options.chain(["mcp".to_owned()]);
        Ok(Self {
            command: program.to_owned(),
            args: args.collect(),
        })
    }
}

/// Returns the `engram` that a shell would start.
pub fn find_program() -> Option<PathBuf> {
    which::which("engram").ok()
}

/// Returns the short name of a program if a shell finds it by that name, otherwise its path.
///
/// # Errors
/// The path is not UTF-8: no configuration can name it.
pub fn short_name(own: &Path) -> Result<String, Refusal> {
    let found = find_program().and_then(|it| it.canonicalize().ok());
    if found.is_some() && found == own.canonicalize().ok() {
        Ok("engram".to_owned())
    } else {
        utf8_of(own)
    }
}

/// Returns the command lines that connect an agent to a home; none if its path is not UTF-8.
pub fn hints(program: &str, home: &Path) -> Vec<ConnectHint> {
    match home_argument(home) {
        Ok(home) => ConnectHint::all(program, home.as_deref()),
        Err(_) => Vec::new(),
    }
}

/// Returns the home's path, or none for the default home.
fn home_argument(home: &Path) -> Result<Option<String>, Refusal> {
    if engram_engine::default_home().as_deref() == Some(home) {
        return Ok(None);
    }
    utf8_of(&std::path::absolute(home).unwrap_or(home.to_owned())).map(Some)
}

/// Returns a path as UTF-8, which configurations require.
fn utf8_of(path: &Path) -> Result<String, Refusal> {
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
