//! The clients that can be connected: where each reads its servers, and in which form, as its
//! documentation says.

use std::{
    env,
    path::{Path, PathBuf, absolute},
};

use engram_model::{Client, Code, Refusal};

use crate::{
    ConnectTarget, EntryOwner, Server,
    edit::EditError,
    file::Configuration,
    json::{self, EntryForm, JsonServers},
    project_root, toml,
};

/// What is particular to a client.
pub(crate) struct Dialect {
    file: FileLocation,
    format: Format,
    repo: RepoArgument,
    /// The file that it reads instead of `AGENTS.md`, and the line that imports `AGENTS.md` there.
    pub(crate) imports: Option<(&'static str, &'static str)>,
}

/// Where a client reads its servers.
enum FileLocation {
    /// In the repository: the usual file, then others that it reads too.
    Repository(&'static str, &'static [&'static str]),
    /// In a file of the user's.
    User(UserFile),
}

/// A file in a folder of the user's home, unless an environment variable names another folder.
struct UserFile {
    variable: Option<&'static str>,
    folder: &'static str,
    file: &'static str,
}

/// The language of a configuration.
enum Format {
    Json(JsonServers),
    Toml,
}

/// How an entry names the repository.
enum RepoArgument {
    /// Not at all: the client starts our program there.
    None,
    /// By a variable that the client replaces, since it may start our program elsewhere.
    Variable(&'static str),
    /// By its path, since the file is the user's and the client starts our program elsewhere: such
    /// an entry serves one repository.
    Path,
}

const CLAUDE: Dialect = Dialect {
    // It reads AGENTS.md only where there is no CLAUDE.md; before version 2.1.277, never.
    imports: Some(("CLAUDE.md", "@AGENTS.md")),
    ..in_repository(".mcp.json", &["mcpServers"], EntryForm::Typed)
};
const CODEX: Dialect = Dialect {
    file: FileLocation::User(UserFile {
        variable: Some("CODEX_HOME"),
        folder: ".codex",
        file: "config.toml",
    }),
    format: Format::Toml,
    repo: RepoArgument::None,
    imports: None,
};
const CURSOR: Dialect = Dialect {
    repo: RepoArgument::Variable("${workspaceFolder}"),
    ..in_repository(".cursor/mcp.json", &["mcpServers"], EntryForm::Typed)
};
const VS_CODE: Dialect = Dialect {
    repo: RepoArgument::Variable("${workspaceFolder}"),
    ..in_repository(".vscode/mcp.json", &["servers"], EntryForm::Typed)
};
const GEMINI: Dialect = Dialect {
    imports: Some(("GEMINI.md", "@./AGENTS.md")),
    ..in_repository(".gemini/settings.json", &["mcpServers"], EntryForm::Plain)
};
const OPENCODE: Dialect = Dialect {
    file: FileLocation::Repository(
        "opencode.json",
        &[
            "opencode.jsonc",
            ".opencode/opencode.json",
            ".opencode/opencode.jsonc",
        ],
    ),
    format: Format::Json(JsonServers {
        keys: &["mcp"],
        // Version 2 reads the form of version 1 as well.
        newer_keys: Some(&["mcp", "servers"]),
        form: EntryForm::Joined,
    }),
    ..in_repository("opencode.json", &["mcp"], EntryForm::Joined)
};
const ZED: Dialect = in_repository(".zed/settings.json", &["context_servers"], EntryForm::Plain);
const WINDSURF: Dialect = Dialect {
    file: FileLocation::User(UserFile {
        variable: None,
        folder: ".codeium/windsurf",
        file: "mcp_config.json",
    }),
    repo: RepoArgument::Path,
    ..in_repository("", &["mcpServers"], EntryForm::Plain)
};

const fn in_repository(
    file: &'static str,
    keys: &'static [&'static str],
    form: EntryForm,
) -> Dialect {
    Dialect {
        file: FileLocation::Repository(file, &[]),
        format: Format::Json(JsonServers {
            keys,
            newer_keys: None,
            form,
        }),
        repo: RepoArgument::None,
        imports: None,
    }
}

/// Returns what is particular to a client.
pub(crate) fn dialect_of(client: Client) -> &'static Dialect {
    match client {
        Client::Claude => &CLAUDE,
        Client::Codex => &CODEX,
        Client::Cursor => &CURSOR,
        Client::VsCode => &VS_CODE,
        Client::Gemini => &GEMINI,
        Client::Opencode => &OPENCODE,
        Client::Zed => &ZED,
        Client::Windsurf => &WINDSURF,
    }
}

impl Dialect {
    /// Whether one configuration serves all repositories of the user.
    pub(crate) fn serves_all_repositories(&self) -> bool {
        matches!(self.file, FileLocation::User(_))
    }

    /// Returns the command of our entry.
    pub(crate) fn server(&self, program: &str, place: &ConnectTarget) -> Result<Server, Refusal> {
        let root = match self.repo {
            RepoArgument::None => None,
            RepoArgument::Variable(name) => Some(PathBuf::from(name)),
            // Without the slash that git writes at its end.
            RepoArgument::Path => {
                let root = project_root(place.repo.as_deref())?;
                Some(root.components().collect())
            }
        };
        Server::new(program, &place.home, root.as_deref())
    }

    /// Opens the configuration; returns its usual path too. Of several files, opens the one that
    /// has our entry, otherwise the first that exists.
    pub(crate) fn open(&self, place: &ConnectTarget) -> Result<(PathBuf, Configuration), Refusal> {
        let (usual, others) = match &self.file {
            FileLocation::Repository(usual, others) => (usual, others),
            FileLocation::User(file) => {
                let named = file.path()?;
                let file = Configuration::of_user(&named)?;
                return Ok((named, file));
            }
        };
        let root = project_root(place.repo.as_deref())?;
        let open = |name: &str| -> Result<(PathBuf, Configuration), Refusal> {
            Ok((root.join(name), Configuration::of_repository(&root, name)?))
        };
        let mut chosen = open(usual)?;
        for other in *others {
            if self.has_entry(&chosen.1) {
                break;
            }
            let other = open(other)?;
            if self.has_entry(&other.1) || (chosen.1.text.is_none() && other.1.text.is_some()) {
                chosen = other;
            }
        }
        Ok(chosen)
    }

    fn has_entry(&self, file: &Configuration) -> bool {
        let text = file.text.as_deref().unwrap_or_default();
        self.entry_owner(text) != Ok(EntryOwner::None)
    }

    /// Returns the root of the repository whose configuration has this path, if it is one.
    pub(crate) fn root_of<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let FileLocation::Repository(usual, others) = self.file else {
            return None;
        };
        let names = [usual].into_iter().chain(others.iter().copied());
        let name = names.map(Path::new).find(|it| path.ends_with(it))?;
        path.ancestors().nth(name.components().count())
    }

    /// Whether this is the path of the user's configuration.
    pub(crate) fn is_of_user(&self, path: &Path) -> bool {
        match &self.file {
            FileLocation::Repository(..) => false,
            FileLocation::User(file) => path.ends_with(file.file),
        }
    }

    /// Adds our entry. An entry of another server under our name is replaced completely.
    pub(crate) fn add(
        &self,
        text: &str,
        server: &Server,
        replaces: bool,
    ) -> Result<String, EditError> {
        match &self.format {
            Format::Json(servers) => json::add(text, servers, server, replaces),
            Format::Toml => toml::add(text, server, replaces),
        }
    }

    /// Removes the entry under our name and puts back that of `before`, if given.
    pub(crate) fn remove(&self, text: &str, before: Option<&str>) -> Result<String, EditError> {
        match &self.format {
            Format::Json(servers) => json::remove(text, servers, before),
            Format::Toml => toml::remove(text, before),
        }
    }

    /// Returns the owner of the entry under our name.
    pub(crate) fn entry_owner(&self, text: &str) -> Result<EntryOwner, EditError> {
        match &self.format {
            Format::Json(servers) => json::entry_owner(text, servers),
            Format::Toml => toml::entry_owner(text),
        }
    }

    /// Whether a configuration holds nothing but empty lists of servers.
    pub(crate) fn is_bare(&self, text: &str) -> bool {
        match &self.format {
            Format::Json(servers) => json::is_bare(text, servers),
            Format::Toml => text.trim().is_empty(),
        }
    }
}

impl UserFile {
    fn path(&self) -> Result<PathBuf, Refusal> {
        let variable = self.variable.and_then(env::var_os);
        let folder = match variable.filter(|it| !it.is_empty()) {
            Some(folder) => absolute(Path::new(&folder)).ok(),
            None => env::home_dir()
                .filter(|it| it.is_absolute())
                .map(|it| it.join(self.folder)),
        };
        folder.map(|it| it.join(self.file)).ok_or_else(|| {
            Refusal::new(
                Code::NotFound,
                "this account has no home folder, or HOME is not an absolute path",
                format!(
                    "Set {} to an absolute path.",
                    self.variable.unwrap_or("HOME")
                ),
            )
        })
    }
}
