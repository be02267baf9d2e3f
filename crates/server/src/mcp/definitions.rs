//! What a client is told about each tool. The words are for a model, which pays for them in every
//! session: when to call, with what, and what in an answer does not explain itself. What all tools
//! share is in [`super::INSTRUCTIONS`]; not every client shows those, so a call must be possible
//! from the words here.

use engram_model::Limits;
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::json;

use super::{
    arguments::{Ask, Commit, Disputes, Promote, Read, Settle, Status},
    results::{Committed, Disputed, Excerpt, Found, Overview, Promoted, Settled},
    schema,
};

/// What `tools/list` returns, in its order: an entry for each tool, with the type that it takes and
/// the type that it returns.
pub(super) fn all(limits: &Limits) -> Vec<Tool> {
    let Limits {
        claim_chars,
        query_limit,
        query_max,
        ..
    } = limits;
    vec![
        tool::<Status, Overview>(Told {
            name: "engram_status",
            title: "Status",
            description: "Call once at the start; follow next_prompt, or tell the user."
                .to_owned(),
            reads_only: true,
            idempotent: true,
            loaded: false,
        }),
        tool::<Ask, Found>(Told {
            name: "engram_query",
            title: "Ask",
            description: format!(
                "Find what agents here know. Call BEFORE you start on an area: one specific question, at most 3 per task. \
BAD: \"auth\". GOOD: \"how does auth refresh JWTs?\"\n\
limit: {query_limit}, at most {query_max}. \
verdict none: find out and commit. Check first: verified false, has_open_conflict, evidence not holds. omitted: narrow scope."
            ),
            reads_only: true,
            idempotent: true,
            loaded: true,
        }),
        tool::<Commit, Committed>(Told {
            name: "engram_commit",
            title: "Share",
            description: format!(
                "Share one verified finding: constraint, side effect, decision, failed approach, number. \
At most {claim_chars} characters; 5 per task. Point at evidence, never paste it. \
BAD: \"auth is broken\". GOOD: \"auth allows 1000 req/s per IP (AUTH_RATE_LIMIT)\"\n\
duplicate: known; go on. On error, follow the hint."
            ),
            reads_only: false,
            idempotent: false,
            loaded: true,
        }),
        tool::<Read, Excerpt>(Told {
            name: "engram_deref",
            title: "Read",
            description: "Read the text at a pointer. Spends your turn's budget: only if the claim is not enough, few lines. \
truncated: ask for less. DEREF_DENIED: go on without."
                .to_owned(),
            reads_only: true,
            idempotent: false,
            loaded: true,
        }),
        tool::<Disputes, Disputed>(Told {
            name: "engram_conflicts",
            title: "Conflicts",
            description: "Claims that contradict each other, worst first. Call before you decide."
                .to_owned(),
            reads_only: true,
            idempotent: true,
            loaded: false,
        }),
        tool::<Settle, Settled>(Told {
            name: "engram_resolve",
            title: "Settle",
            description: "Settle a conflict after checking its sources."
                .to_owned(),
            reads_only: false,
            idempotent: true,
            loaded: false,
        }),
        tool::<Promote, Promoted>(Told {
            name: "engram_promote",
            title: "Keep",
            description: "Make an ephemeral claim durable once proven useful.".to_owned(),
            reads_only: false,
            idempotent: true,
            loaded: false,
        }),
    ]
}

/// A tool apart from its types.
pub(super) struct Told {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: String,
    pub(super) reads_only: bool,
    /// The same call again changes nothing more.
    pub(super) idempotent: bool,
    /// In a model's context from the start, where the client would else let it search for tools.
    pub(super) loaded: bool,
}

/// No tool destroys anything: a claim's window closes, and its history is kept. None reaches beyond
/// this machine, unless the user turned `url:` on.
pub(super) fn tool<Takes: JsonSchema, Returns: JsonSchema>(told: Told) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(told.reads_only)
        .destructive(false)
        .idempotent(told.idempotent)
        .open_world(false);
    let tool = Tool::new(told.name, told.description, schema::taken::<Takes>())
        .with_title(told.title)
        .with_raw_output_schema(schema::returned::<Returns>().into())
        .with_annotations(annotations);
    if told.loaded {
        let mut meta = MetaObject::new();
        meta.0
            .insert("anthropic/alwaysLoad".to_owned(), json!(true));
        tool.with_meta(meta)
    } else {
        tool
    }
}
