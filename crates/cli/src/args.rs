//! The arguments, with help that teaches by example.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use engram_model::{Durability, FactType, Kind, MemoryOp, Scope};

/// Below the arguments of a verb: those that all verbs share.
const EVERYWHERE: &str = "Everywhere";

/// Shared memory of coding agents: tiny claims with pointers to their evidence.
#[derive(Parser, Debug)]
#[command(
    name = "engram",
    version,
    after_help = "Examples:
  engram connect claude                     let Claude Code use this memory
  engram put --claim 'Retries use full jitter, 200 ms base.' --pointer 'repo:src/retry.rs#L12-L30@HEAD'
  engram query 'how does the client retry'
  engram deref 'repo:src/retry.rs#L12-L30@HEAD'
  engram feed --follow                      watch what agents learn
  engram app                                open the window"
)]
pub(crate) struct Cli {
    /// Where data lives [default: engram in your data folder]
    #[arg(long, global = true, env = "ENGRAM_HOME", value_name = "DIR", help_heading = EVERYWHERE)]
    pub(crate) home: Option<PathBuf>,
    /// A working tree, a bare repository or a .git folder [default: found from the current folder]
    #[arg(long, global = true, value_name = "DIR", help_heading = EVERYWHERE)]
    pub(crate) repo: Option<PathBuf>,
    /// Print one JSON object; errors as JSON on standard error
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Store a claim with pointers to its evidence
    #[command(after_help = "Examples:
  engram put --claim 'Auth allows 2k requests a second per IP.' --pointer 'repo:auth/limits.toml#L9@HEAD' --kind fact --topic auth/limits
  engram put --claim 'We publish under example.org.' --kind decision --pointer 'sam:decision:publish-domain@2026-01-08'
  engram put --jsonl claims.jsonl           one engram a line, answered in order; - reads standard input

Pointers:
  repo:PATH[#Lx-Ly]@REV    artifact:PATH[#sec=HEADING]@REV    test:PATH::NAME@REV
  diff:BASE..HEAD#PATH     sam:KIND:SLUG@DATE                 url:HTTPS-URL
  REV is a commit id, a branch, a tag or HEAD~N; @HEAD is the current commit, @worktree the file as it is on disk.")]
    Put(Box<Put>),
    /// Print one engram
    Get {
        /// Its id
        id: String,
    },
    /// Print what was done to a claim, newest first
    Log {
        /// Its id, or that of any of its versions
        id: String,
    },
    /// Close a claim's window: it no longer holds, and stays in history
    Forget {
        /// Its id
        id: String,
    },
    /// Make a version that no longer holds hold again, as a new version
    Restore {
        /// The id of that version
        id: String,
    },
    /// Erase the words of a claim or a note for good, wherever the same were stored
    Redact {
        /// Its id
        id: String,
    },
    /// Store a few claims made of the repository's own history, to look around in
    Sample {
        /// Forget them again
        #[arg(long)]
        remove: bool,
    },
    /// Find what is known
    #[command(after_help = "Examples:
  engram query 'how does the gateway retry vendor calls'
  engram query MAX_RETRIES --topic gateway --k 3
  engram query 'publish domain' --kind decision --as-of 2026-01-08T12:00:00Z")]
    Query(Query),
    /// Fetch what a pointer addresses, with the digest of the full span
    #[command(after_help = "Examples:
  engram deref 'repo:src/main.rs#L10-L20@HEAD'
  engram deref 'artifact:docs/SPEC.md#sec=Rules@v1.2' --max-tokens 200
  engram deref 'test:tests/ledger.rs::reserve_is_idempotent@HEAD'
  engram deref 'diff:HEAD~1..HEAD#src/main.rs' --agent programmer-2 --turn 7")]
    Deref(Deref),
    /// Record an event that a sam: pointer can address
    #[command(after_help = "Example:
  engram note --kind decision --slug publish-domain 'We publish under example.org.'")]
    Note(Note),
    /// Show what was learned, newest first
    Feed(Feed),
    /// Show where things stand
    Status,
    /// Say whose memory a copy of a repository uses
    Project {
        /// own: an empty one of its own; share: that of the repository it is a copy of
        how: Whose,
    },
    /// Look at the home's health, and at which engram a shell would start
    Doctor {
        /// Build the index anew from the journal
        #[arg(long)]
        reindex: bool,
        /// Replay the journal and compare each table with what it makes
        #[arg(long, conflicts_with = "rebuild")]
        replay: bool,
        /// Fill the tables anew from the journal
        #[arg(long)]
        rebuild: bool,
        /// Set a damaged database aside, and save what can still be read of it into a new one
        #[arg(long, conflicts_with_all = ["reindex", "replay", "rebuild", "move_home"])]
        recover: bool,
        /// Move Engram's home from ~/.engram to your data folder; other files stay
        #[arg(long, conflicts_with_all = ["reindex", "replay", "rebuild"])]
        move_home: bool,
    },
    /// Let a coding agent use this memory: shows the change, asks, writes it
    #[command(after_help = "Examples:
  engram connect claude          adds engram to .mcp.json of this repository
  engram connect codex           adds engram to Codex's config.toml
  engram connect claude --undo   takes it out again")]
    Connect(Connect),
    /// Serve the Model Context Protocol on standard input and output
    Mcp {
        /// Groups of tools to offer
        #[arg(long, value_delimiter = ',', default_value = "core")]
        toolsets: Vec<Toolset>,
    },
    /// Serve the window to a browser, and the HTTP API
    #[command(after_help = "Examples:
  engram serve                                 for a browser on this machine
  engram serve --listen 127.0.0.1:4000 --token-file ~/.engram-token
                                               with the same address after each start
  engram serve --listen 0.0.0.0:8443 --host dev.example --tls-cert c.pem --tls-key k.pem
                                               for other machines")]
    Serve(Serve),
    /// Open the window
    App,
    /// Check messages between parent and child agents
    Message {
        #[command(subcommand)]
        verb: MessageVerb,
    },
    /// Follow pointed lines as the code moves
    Pointers {
        #[command(subcommand)]
        verb: PointersVerb,
    },
    /// Print completions for a shell
    #[command(after_help = "Example:
  engram completions bash > ~/.local/share/bash-completion/completions/engram")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum MessageVerb {
    /// Check one message against its contract and budget; stores nothing
    Validate {
        /// A JSON file, or - for standard input
        file: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum PointersVerb {
    /// Where lines of one commit are in another, or on disk; asks git alone, stores nothing
    #[command(after_help = "Example:
  echo '{\"id\":1,\"path\":\"src/main.rs\",\"start\":10,\"end\":20}' | engram pointers track --from HEAD~9 --to HEAD --spans -

Each line is answered, in order, by one object:
  {\"id\",\"state\",\"path\",\"start\",\"end\",\"change\",\"confidence\"}
  state is unchanged, moved, renamed, edited or deleted; change is whitespace or text")]
    Track {
        /// The commit where the lines were seen; @index for what is staged, @worktree for the disk
        #[arg(long, value_name = "REV")]
        from: String,
        /// The commit to find them in, before or after, related or not; @index or @worktree
        #[arg(long, value_name = "REV")]
        to: String,
        /// Lines {"id","path","start","end"}, counted from 1; - for standard input
        #[arg(long, value_name = "FILE")]
        spans: String,
    },
    /// Whether the evidence of the claims that hold still reads as it did
    #[command(after_help = "Examples:
  engram pointers check                     against the files on disk
  engram pointers check --changed           before a commit: what does this work touch?
  engram pointers check --since origin/main --exit-code")]
    Check {
        /// Only what differs from the last commit
        #[arg(long, conflicts_with = "since")]
        changed: bool,
        /// Only what differs from this commit
        #[arg(long, value_name = "REV")]
        since: Option<String>,
        /// Exit with 1 where the evidence of a claim was edited or is gone
        #[arg(long)]
        exit_code: bool,
    },
    /// Point a claim at where its evidence is at the current commit: a new version in its lineage
    Repin {
        /// Its id
        id: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Toolset {
    /// status, query, commit, deref
    Core,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Whose {
    /// An empty one of its own
    Own,
    /// That of the repository it is a copy of
    Share,
}

#[derive(Args, Debug)]
pub(crate) struct Put {
    /// One to three sentences, at most 500 characters
    #[arg(long, required_unless_present = "jsonl", conflicts_with = "jsonl")]
    pub(crate) claim: Option<String>,
    /// Where its evidence is; again for more
    #[arg(long = "pointer", value_name = "POINTER")]
    pub(crate) pointers: Vec<String>,
    /// fact, decision, risk, todo, constraint, diff, test, perf or policy [default: fact]
    #[arg(long)]
    pub(crate) kind: Option<Kind>,
    /// observation, inference or decision [default: observation]
    #[arg(long)]
    pub(crate) fact_type: Option<FactType>,
    /// 0 to 1 [default: 0.7]
    #[arg(long)]
    pub(crate) confidence: Option<f64>,
    /// How long it holds, as PT6H or P7D [default: no expiry]
    #[arg(long)]
    pub(crate) ttl: Option<String>,
    /// run, project, org or global [default: project]
    #[arg(long)]
    pub(crate) scope: Option<Scope>,
    /// A path such as payments/webhooks
    #[arg(long)]
    pub(crate) topic: Option<String>,
    /// A label; again for more
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Who is speaking
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// durable or ephemeral [default: durable]
    #[arg(long)]
    pub(crate) durability: Option<Durability>,
    /// add, update or delete [default: add]
    #[arg(long)]
    pub(crate) operation: Option<MemoryOp>,
    /// The lineage (or a version of it) that this corrects
    #[arg(long, value_name = "ID")]
    pub(crate) corrects: Option<String>,
    /// Engrams as JSON, one a line; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Query {
    /// What you want to know
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// Most engrams to return
    #[arg(long)]
    pub(crate) k: Option<usize>,
    /// Only this scope: run, project, org or global
    #[arg(long)]
    pub(crate) scope: Option<Scope>,
    /// Only this topic and those below it
    #[arg(long)]
    pub(crate) topic: Option<String>,
    /// Only this kind
    #[arg(long)]
    pub(crate) kind: Option<Kind>,
    /// Only this fact type
    #[arg(long)]
    pub(crate) fact_type: Option<FactType>,
    /// What was known at this time: 2026-01-08 or 2026-01-08T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Ephemeral engrams too
    #[arg(long)]
    pub(crate) include_ephemeral: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Deref {
    /// What to fetch
    pub(crate) pointer: String,
    /// Most tokens of excerpt
    #[arg(long)]
    pub(crate) max_tokens: Option<u32>,
    /// Spend as this agent; without it, as yourself, unmetered
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// The agent's turn
    #[arg(long, requires = "agent")]
    pub(crate) turn: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Note {
    /// decision, preference, note, ...
    #[arg(long, default_value = "note")]
    pub(crate) kind: String,
    /// A name that a sam: pointer can use [default: the event's id]
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) slug: String,
    /// Who is speaking
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// What happened
    pub(crate) text: String,
}

#[derive(Args, Debug)]
pub(crate) struct Feed {
    /// Keep watching
    #[arg(long, conflicts_with = "before")]
    pub(crate) follow: bool,
    /// Most entries to show
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only entries before this place (older)
    #[arg(long, value_name = "SEQ")]
    pub(crate) before: Option<u64>,
    /// Dereferences and notes too
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Connect {
    /// Which agent
    pub(crate) client: Client,
    /// Take engram out again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Write without asking
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code: .mcp.json of this repository
    Claude,
    /// Codex: config.toml of its home
    Codex,
}

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Address and port; port 0 is any free one. Anywhere but on the loopback, a certificate is demanded
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// A name by which others reach it; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// The certificate, in PEM, with those that vouch for it
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Keep the token there, so that open pages outlive a restart; made when it is missing
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve the window from this folder instead of the one in this program
    #[arg(long, value_name = "DIR")]
    pub(crate) ui: Option<PathBuf>,
}
