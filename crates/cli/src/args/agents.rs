//! Arguments about agents, their grants and their requests.

use clap::{Args, Subcommand};
use engram_model::Ttl;

use crate::request::parse_ttl;

#[derive(Subcommand, Debug)]
pub(crate) enum AgentsVerb {
    /// Open an agent and print its token; it is shown only once
    #[command(after_help = "Examples:
  engram agents open lead --role architect
  engram agents open programmer-1 --role programmer --parent lead --write payments
  ENGRAM_AGENT=TOKEN engram mcp             serves that agent

Opening an agent again gives it a new token and invalidates the old one.")]
    Open(OpenAgentArgs),
    /// Rename an agent; claims that it already stored keep the old name
    #[command(after_help = "Examples:
  engram agents rename codex 'Codex on the refund branch'
  engram agents rename 'Codex on the refund branch' codex

The name is also that of the client's next connections, until you close the agent.")]
    Rename {
        /// Its name or handle, as `engram agents` lists it
        agent: String,
        /// Its new name
        name: String,
    },
    /// Leave an agent out of the window's list and the brief
    Hide {
        /// Its name or handle
        agent: String,
    },
    /// Show a hidden agent in the window's list and the brief again
    Show {
        /// Its name or handle
        agent: String,
    },
    /// Close an agent: its token, open grants and requests end, and you become the parent of its
    /// children
    Close {
        /// Its name or handle
        agent: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct OpenAgentArgs {
    /// Its name; also its handle, unless an agent of another project has that handle
    pub(crate) name: String,
    /// Its role: architect, director, manager, programmer or another word
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// Its parent agent [default: none, with a run of its own]
    #[arg(long, value_name = "AGENT")]
    pub(crate) parent: Option<String>,
    /// Topics it may read, and those below them [default: its parent's, or all]
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    pub(crate) read: Vec<String>,
    /// Topics it may write, and those below them [default: its parent's, or all]
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    pub(crate) write: Vec<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum GrantVerb {
    /// Grant one read of a pointer, or inline code in one message, and print the token once
    #[command(after_help = "Examples:
  engram grant issue --to programmer-1 --pointer 'repo:src/ledger.rs#L1-L220@HEAD' --cap 800
  engram grant issue --to programmer-1 --code 400 --ttl PT1H
  engram deref 'repo:src/ledger.rs#L1-L220@HEAD' --agent programmer-1 --budget-token TOKEN

The agent does not need the token: when its budget refuses a read, its open grant for that pointer
is used.")]
    Issue(IssueGrantArgs),
    /// List grants, without their tokens
    List,
    /// Revoke an open grant
    Revoke {
        /// Its id
        id: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct IssueGrantArgs {
    /// Who may use it
    #[arg(long, value_name = "AGENT")]
    pub(crate) to: String,
    /// What may be read, once
    #[arg(long, required_unless_present = "code", conflicts_with = "code")]
    pub(crate) pointer: Option<String>,
    /// Maximum number of tokens in the excerpt [default: 500]
    #[arg(long, value_name = "TOKENS", conflicts_with = "code")]
    pub(crate) cap: Option<u32>,
    /// Maximum number of characters of inline code in one message
    #[arg(long, value_name = "CHARS")]
    pub(crate) code: Option<u32>,
    /// How long the grant stays open, such as 30m [default: PT10M]
    #[arg(long, value_parser = parse_ttl)]
    pub(crate) ttl: Option<Ttl>,
    /// The parent that grants it, within its own limits [default: you]
    #[arg(long, value_name = "AGENT")]
    pub(crate) by: Option<String>,
    /// An open grant that ends in its favor: transfers that grant
    #[arg(long, value_name = "ID")]
    pub(crate) replaces: Option<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum RequestsVerb {
    /// Grant a request
    Grant {
        /// Its id
        id: String,
        /// Maximum number of tokens in the excerpt [default: 500]
        #[arg(long, value_name = "TOKENS")]
        cap: Option<u32>,
        /// How long the grant stays open, such as 30m [default: PT10M]
        #[arg(long, value_parser = parse_ttl)]
        ttl: Option<Ttl>,
    },
    /// Deny a request
    Deny {
        /// Its id
        id: String,
        /// Why
        #[arg(long)]
        why: Option<String>,
    },
}
