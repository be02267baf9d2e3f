//! The arguments, with help that teaches by example.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use engram_model::{
    Code, Durability, FactType, Kind, Listed, MemoryOp, Refusal, Scope, Severity, Ttl, shorten,
};

/// Below the arguments of a verb: those that all verbs share.
const EVERYWHERE: &str = "Everywhere";

/// Shared memory for coding agents: short claims with pointers to their evidence.
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
    /// Where to keep data [default: engram in your data folder]
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
  engram put --jsonl claims.jsonl           one engram per line; - reads standard input

Pointers:
  repo:PATH[#Lx-Ly]@REV    artifact:PATH[#sec=HEADING]@REV    test:PATH::NAME@REV
  diff:BASE..HEAD#PATH     sam:KIND:SLUG@DATE                 url:HTTPS-URL
  REV is a commit id, a branch, a tag or HEAD~N; @HEAD is the current commit, @worktree the file on disk.")]
    Put(Box<Put>),
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
    Query(Query),
    /// Print what a pointer addresses, with the digest of the full span
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
    /// Show what agents learned, newest first
    #[command(after_help = "Examples:
  engram feed --limit 50
  engram feed --follow     watch what agents learn")]
    Feed(Feed),
    /// Show a summary of this repository's memory
    #[command(after_help = "Examples:
  engram status
  engram --json status     for scripts")]
    Status,
    /// List the agents that were opened here, or stored or read anything, most recent first
    #[command(after_help = "Examples:
  engram agents
  engram agents open programmer-1 --role programmer --parent lead")]
    Agents {
        #[command(subcommand)]
        verb: Option<AgentsVerb>,
    },
    /// Show what agents have spent of their turns
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
    Conflicts(Conflicts),
    /// Settle a conflict, or undo a verdict
    #[command(after_help = "Examples:
  engram resolve ID --winner 01K...         this engram's side holds; the other's claims end
  engram resolve ID --winner newer          the newer side holds (surer: the more confident one)
  engram resolve ID --merge 'The lock lasts 3 minutes, 30 for admins.' --why 'Both are right.'
  engram resolve ID --dismiss --why 'Not the same cache.'
  engram resolve ID --undo")]
    Resolve(Resolve),
    /// Choose which memory a copy of a repository uses
    #[command(after_help = "Examples:
  engram project own       start with an empty memory
  engram project share     keep using the original's memory")]
    Project {
        /// own: an empty memory of its own; share: the original's memory
        how: Whose,
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
  engram connect claude          adds engram to this repository's .mcp.json
  engram connect codex           adds engram to Codex's config.toml
  engram connect claude --undo   removes it again

Also adds a section to the repository's AGENTS.md that tells agents how to use Engram.")]
    Connect(Connect),
    /// Serve the Model Context Protocol on standard input and output
    #[command(after_help = "Examples:
  engram connect claude           makes Claude Code run this command
  engram mcp                      for clients you configure yourself; each connection is a new agent
  ENGRAM_AGENT=TOKEN engram mcp   the agent whose token `engram agents open` printed")]
    Mcp {
        /// Groups of tools to offer
        #[arg(long, value_delimiter = ',', default_value = "core")]
        toolsets: Vec<Toolset>,
    },
    /// Serve the window to a browser, with the HTTP API
    #[command(after_help = "Examples:
  engram serve                                 for a browser on this machine
  engram serve --listen 127.0.0.1:4000 --token-file ~/.engram-token
                                               at the same address after each start
  engram serve --listen 0.0.0.0:8443 --host dev.example --tls-cert c.pem --tls-key k.pem
                                               for other machines")]
    Serve(Serve),
    /// Open the window
    #[command(after_help = "Examples:
  engram app
  engram --repo ~/code/shop app")]
    App,
    /// Show the shared brief: what matters now, in at most 30 lines
    #[command(after_help = "Examples:
  engram brief                                      for you: all agents
  engram brief --agent programmer-1                 as that agent gets it
  engram brief pin 'Ship on Friday; no new dependencies.'
  engram brief pin 01J9Z3N8M6W0X4V5Y7K2QHPRTA --agent lead")]
    Brief {
        #[command(subcommand)]
        verb: Option<BriefVerb>,
        /// The agent whose brief it is, or who pins, by handle [default: you]
        #[arg(long, global = true, value_name = "AGENT")]
        agent: Option<String>,
    },
    /// Check and send messages between parent and child agents
    Message {
        #[command(subcommand)]
        verb: MessageVerb,
    },
    /// Find out which pairs of claims contradict each other; store nothing
    #[command(after_help = "Example:
  echo '{\"id\":1,\"a\":\"A cart expires after 45 minutes.\",\"b\":\"A cart expires after 2 hours.\",\"topic_a\":\"checkout\",\"topic_b\":\"checkout\"}' | engram detect --pairs -

Each line is answered with one object, in order:
  {\"id\",\"conflict\",\"tier\",\"severity\",\"score\",\"why\"}
  tier, severity and why are null where there is no conflict")]
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

#[derive(Subcommand, Debug)]
pub(crate) enum AgentsVerb {
    /// Open an agent and print its token; it is shown only once
    #[command(after_help = "Examples:
  engram agents open lead --role architect
  engram agents open programmer-1 --role programmer --parent lead --write payments
  ENGRAM_AGENT=TOKEN engram mcp             serves that agent

Opening an agent again gives it a new token and invalidates the old one.")]
    Open(OpenAgent),
}

#[derive(Args, Debug)]
pub(crate) struct OpenAgent {
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

The agent does not need the token: when its budget refuses a read, its open grant for that pointer is used.")]
    Issue(IssueGrant),
    /// List grants, without their tokens
    List,
    /// Revoke an open grant
    Revoke {
        /// Its id
        id: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct IssueGrant {
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
    /// How long the grant stays open [default: PT10M]
    #[arg(long)]
    pub(crate) ttl: Option<Ttl>,
    /// The parent that grants it, within its own limits [default: you]
    #[arg(long, value_name = "AGENT")]
    pub(crate) by: Option<String>,
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
        /// How long the grant stays open [default: PT10M]
        #[arg(long)]
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

#[derive(Subcommand, Debug)]
pub(crate) enum BriefVerb {
    /// Pin a claim by its id, or a line of text
    Pin {
        /// The id of an engram, or one line
        what: String,
    },
    /// Unpin a line
    Unpin {
        /// Its number in the brief, counted from 1
        #[arg(required_unless_present = "pin")]
        line: Option<usize>,
        /// Its id instead, which `engram brief --json` shows: never another line's
        #[arg(long, value_name = "ID", conflicts_with = "line")]
        pin: Option<u64>,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum MessageVerb {
    /// Check one message against its contract and budget; store nothing
    #[command(after_help = "Examples:
  engram message validate report.json
  engram message validate - <<'END'
  ROLE: programmer
  TASK_STATUS: done
  ENGRAMS:
    - kind: fact
      claim: \"Retries use full jitter.\"
      confidence: 0.9
      ttl: \"P7D\"
      scope: \"project\"
      pointers:
        - { type: \"repo\", ref: \"repo:src/retry.rs#L12-L30@HEAD\" }
  OUTPUT:
    summary: \"The retry policy is clear.\"
  END")]
    Validate {
        /// A message as JSON or in the text form, or - for standard input
        file: String,
        /// Check it against this agent's budgets
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
    /// Send one message: a child's to its parent, or a parent's to its children
    #[command(after_help = "Examples:
  engram message send report.json --agent programmer-1     a child's, to its parent
  engram message send brief.txt --agent lead               to all children of the role that it names
  engram message send brief.txt --to programmer-1          from you, to one agent")]
    Send {
        /// A message as JSON or in the text form, or - for standard input
        file: String,
        /// Who sends it, by handle [default: you]
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// The child that gets it [default: all children of its role]
        #[arg(long, value_name = "AGENT")]
        to: Option<String>,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum PointersVerb {
    /// Find where lines of one commit are in another, or on disk; store nothing
    #[command(after_help = "Example:
  echo '{\"id\":1,\"path\":\"src/main.rs\",\"start\":10,\"end\":20}' | engram pointers track --from HEAD~9 --to HEAD --spans -

Each line is answered with one object, in order:
  {\"id\",\"state\",\"path\",\"start\",\"end\",\"change\",\"confidence\"}
  state is unchanged, moved, renamed, edited or deleted; change is whitespace or text")]
    Track {
        /// The commit the lines are from, or @index (staged) or @worktree (on disk)
        #[arg(long, value_name = "REV")]
        from: String,
        /// Where to find them: any commit, older or newer, or @index or @worktree
        #[arg(long, value_name = "REV")]
        to: String,
        /// Lines {"id","path","start","end"}, counting from 1; - for standard input
        #[arg(long, value_name = "FILE")]
        spans: String,
    },
    /// Check whether the evidence of current claims has changed
    #[command(after_help = "Examples:
  engram pointers check                     against the files on disk
  engram pointers check --changed           before a commit: which claims does this change affect?
  engram pointers check --since origin/main --exit-code")]
    Check {
        /// Only evidence that differs from the last commit
        #[arg(long, conflicts_with = "since")]
        changed: bool,
        /// Only evidence that differs from this commit
        #[arg(long, value_name = "REV")]
        since: Option<String>,
        /// Exit with 1 if any claim's evidence was edited or is gone, or if there is nothing to check
        #[arg(long)]
        exit_code: bool,
    },
    /// Confirm a claim: point it at its evidence in the working tree, as a new version
    #[command(after_help = "Example:
  engram pointers repin 01JD8X2M5Q7R9T1V3W5Y7Z9A1B")]
    Repin {
        /// Its id
        id: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Toolset {
    /// status, query, commit, deref, conflicts, resolve, promote
    Core,
    /// less_put_engram, less_query_engrams, less_request_deref and the other LESS tools, for parent and child agents
    Less,
}

impl Toolset {
    pub(crate) fn of_server(self) -> engram_server::Toolset {
        match self {
            Self::Core => engram_server::Toolset::Core,
            Self::Less => engram_server::Toolset::Less,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Whose {
    /// An empty memory of its own
    Own,
    /// The original's memory
    Share,
}

#[derive(Args, Debug)]
pub(crate) struct Put {
    /// One to three sentences, at most 500 characters
    #[arg(long, required_unless_present = "jsonl", conflicts_with = "jsonl")]
    pub(crate) claim: Option<String>,
    /// Where its evidence is; may be repeated
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
    /// How long it holds, such as PT6H or P7D [default: no expiry]
    #[arg(long)]
    pub(crate) ttl: Option<String>,
    /// run, project, org or global [default: project]
    #[arg(long)]
    pub(crate) scope: Option<Scope>,
    /// A path such as payments/webhooks
    #[arg(long)]
    pub(crate) topic: Option<String>,
    /// A label; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// The author's name, for display only
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// durable or ephemeral [default: durable]
    #[arg(long)]
    pub(crate) durability: Option<Durability>,
    /// add, update, delete or none, which stores nothing [default: add]
    #[arg(long)]
    pub(crate) operation: Option<MemoryOp>,
    /// The lineage (or a version of it) to update or delete [default for update: the nearest claim of
    /// the same topic, subject and attribute]
    #[arg(long, value_name = "ID")]
    pub(crate) corrects: Option<String>,
    /// Engrams as JSON, one per line; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Query {
    /// What you want to know
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// Maximum number of engrams to return
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
    /// What was known then: 2026-01-08T12:00:00Z, or 2026-01-08 (00:00)
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Include ephemeral engrams
    #[arg(long)]
    pub(crate) include_ephemeral: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Deref {
    /// What to fetch
    pub(crate) pointer: String,
    /// Maximum number of tokens in the excerpt
    #[arg(long)]
    pub(crate) max_tokens: Option<u32>,
    /// Spend this agent's budget; without it, reads are yours and unmetered
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// The turn to spend in, by any name [default: its current turn]
    #[arg(long, requires = "agent")]
    pub(crate) turn: Option<String>,
    /// The token of a grant to this agent, spent instead of its budget
    #[arg(long, value_name = "TOKEN", requires = "agent")]
    pub(crate) budget_token: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Note {
    /// decision, preference, note, ...
    #[arg(long, default_value = "note")]
    pub(crate) kind: String,
    /// A name that a sam: pointer can use [default: the event's id]
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) slug: String,
    /// The author's name, for display only
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
    /// Maximum number of entries to show
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Only entries older than this one
    #[arg(long, value_name = "SEQ")]
    pub(crate) before: Option<u64>,
    /// Include dereferences and notes
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Conflicts {
    #[command(subcommand)]
    pub(crate) verb: Option<ConflictsVerb>,
    #[command(flatten)]
    pub(crate) list: ConflictsList,
    /// Exit with 1 while a severe conflict is open that was not allowed; --severity sets how severe
    #[arg(long, conflicts_with_all = ["topic", "status", "after", "limit"])]
    pub(crate) gate: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ConflictsList {
    /// Only this topic and those below it
    #[arg(long)]
    pub(crate) topic: Option<String>,
    /// open, resolved, dismissed, closed or all [default: open]
    #[arg(long)]
    pub(crate) status: Option<Listed>,
    /// high, medium or low: this or worse [default: all; high with --gate]
    #[arg(long)]
    pub(crate) severity: Option<Severity>,
    /// Continue after `next` of the previous page
    #[arg(long)]
    pub(crate) after: Option<String>,
    /// Page size, up to 200 [default: 50]
    #[arg(long)]
    pub(crate) limit: Option<u32>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ConflictsVerb {
    /// List conflicts by topic, worst first
    List(ConflictsList),
    /// Print one conflict
    Show {
        /// Its id
        id: String,
    },
    /// Let an open conflict pass the gate, or undo that
    Allow {
        /// Its id
        id: String,
        /// The reason, for the record
        #[arg(long, required_unless_present = "undo")]
        why: Option<String>,
        /// Make it block the gate again
        #[arg(long)]
        undo: bool,
    },
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("verdict").required(true).args(["winner", "merge", "dismiss", "undo"]))]
pub(crate) struct Resolve {
    /// The conflict's id
    pub(crate) id: String,
    /// An engram of the side that holds, or newer, or surer
    #[arg(long, value_name = "ENGRAM")]
    pub(crate) winner: Option<String>,
    /// One claim that replaces both
    #[arg(long, value_name = "TEXT")]
    pub(crate) merge: Option<String>,
    /// Not a conflict: both claims hold, and this pair is never raised again
    #[arg(long)]
    pub(crate) dismiss: bool,
    /// Undo the verdict: the claims that it ended hold again
    #[arg(long)]
    pub(crate) undo: bool,
    /// The reason, for the record
    #[arg(long)]
    pub(crate) why: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Connect {
    /// Which agent to connect; without one, lists them
    pub(crate) client: Option<Client>,
    /// Remove engram again
    #[arg(long, requires = "client")]
    pub(crate) undo: bool,
    /// Write without asking
    #[arg(long, short = 'y', requires = "client")]
    pub(crate) yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code: this repository's .mcp.json
    Claude,
    /// Codex: config.toml in its home
    Codex,
}

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Address and port; port 0 picks a free one. Any address other than loopback needs a certificate
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    pub(crate) listen: SocketAddr,
    /// A host name to answer to; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// The certificate in PEM, with its chain
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Keep the token in this file, so that open pages survive a restart; created if missing
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve the window from this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    pub(crate) ui: Option<PathBuf>,
}

/// A name may lead to several addresses, or to another one tomorrow: only a number says who can connect.
fn address(text: &str) -> Result<SocketAddr, Refusal> {
    text.parse().map_err(|_| {
        let port = text.rsplit_once(':').map_or("4000", |(_, port)| port);
        let port = port.parse::<u16>().map_or("4000".to_owned(), |it| it.to_string());
        Refusal::new(
            Code::SchemaInvalid,
            format!("{:?} is not an IP address and a port", shorten(text, 80)),
            format!("For this machine, write 127.0.0.1:{port} or [::1]:{port}; for others, this machine's own IP address."),
        )
    })
}
