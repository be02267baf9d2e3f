//! Arguments about claims, their evidence and their history.

use clap::Args;
use engram_model::{Durability, FactType, Kind, MemoryOp, Scope};

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("claims").required(true).args(["claim", "jsonl"]))]
pub(crate) struct PutArgs {
    /// One to three sentences, at most 500 characters
    #[arg(long)]
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
    /// How long it holds, such as 7d, 12h, 30m or P1Y [default: no expiry]
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
    /// The lineage (or a version of it) to update or delete [default for update: the nearest claim
    /// of the same topic, subject and attribute]
    #[arg(long, value_name = "ID")]
    pub(crate) corrects: Option<String>,
    /// Engrams as JSON, one per line; - for standard input. Each line is answered by one JSON object
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct QueryArgs {
    /// What you want to know
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// Maximum number of engrams to return
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) k: Option<u32>,
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
    /// What was known then: yesterday, 2 days ago, 2026-01-08 (00:00) or 2026-01-08T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Include ephemeral engrams
    #[arg(long)]
    pub(crate) include_ephemeral: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DerefArgs {
    /// What to fetch
    pub(crate) pointer: String,
    /// Maximum number of tokens in the excerpt
    #[arg(long)]
    pub(crate) max_tokens: Option<u32>,
    /// Spend this agent's budget; without it, reads are yours and unmetered
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// The name of the turn to spend in; any name will do [default: its current turn]
    #[arg(long, requires = "agent")]
    pub(crate) turn: Option<String>,
    /// The token of a grant to this agent, spent instead of its budget
    #[arg(long, value_name = "TOKEN", requires = "agent")]
    pub(crate) budget_token: Option<String>,
    /// Why the agent needs it: if its budget refuses, this asks its parent or you
    #[arg(long, value_name = "TEXT", requires = "agent")]
    pub(crate) reason: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct NoteArgs {
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
pub(crate) struct FeedArgs {
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
