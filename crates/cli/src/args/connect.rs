//! Arguments of `engram connect`.

use clap::{Args, ValueEnum};
use engram_model::Client;

#[derive(Args, Debug)]
pub(crate) struct ConnectArgs {
    /// Which agent to connect; without one, lists them
    pub(crate) client: Option<ClientArg>,
    /// Remove engram again
    #[arg(long, requires = "client")]
    pub(crate) undo: bool,
    /// Write without asking
    #[arg(long, short = 'y', requires = "client")]
    pub(crate) yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientArg {
    /// Claude Code: this repository's .mcp.json
    Claude,
    /// Codex: config.toml in its home
    Codex,
}

impl ClientArg {
    pub(crate) fn client(self) -> Client {
        match self {
            Self::Claude => Client::Claude,
            Self::Codex => Client::Codex,
        }
    }
}
