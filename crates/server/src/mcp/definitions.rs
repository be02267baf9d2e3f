//! The descriptions of the tools. They are for a model, which pays for them in every session: when
//! to call, with what, and whatever in an answer does not explain itself. [`super::INSTRUCTIONS`]
//! holds what all tools share. Not every client shows those, so a model must be able to call a tool
//! from its description alone.

use engram_model::{ConflictStatus, Limits, Promote, Refusal, ResolveReply, ask};

use crate::resolution_type::ResolutionType;

use super::{
    arguments::{
        CommitArguments, ConflictsArguments, DerefArguments, PromoteArguments, QueryArguments,
        ResolveArguments, StatusArguments,
    },
    results::{
        CommitResult, ConflictsResult, DerefResult, PromoteResult, QueryResult, ResolveResult,
        StatusResult,
    },
    tools::{OfferedTool, ToolDescription, tool},
};

/// Returns an entry for each tool, in the order of `tools/list`, with the function from arguments
/// to request and the one from answer to result.
pub(super) fn core_tools(limits: &Limits) -> Vec<OfferedTool> {
    let Limits {
        claim_chars,
        query_limit,
        query_max,
        ..
    } = limits;
    let mut tools = vec![
        tool(
            ToolDescription {
                name: "engram_status",
                title: "Status",
                description: "Call once at the start; follow next_prompt.".to_owned(),
                idempotent: true,
                loaded: false,
            },
            |StatusArguments {}| Ok((ask::Status, StatusResult::from)),
        ),
        tool(
            ToolDescription {
                name: "engram_query",
                title: "Ask",
                description: format!(
                    "Ask what agents know BEFORE you start: one specific question, max 3 per task. \
BAD: \"auth\". GOOD: \"how does auth renew JWTs?\"\n\
limit: {query_limit}, at most {query_max}. \
verdict none: find out, commit. Check: verified false, has_open_conflict, evidence not 'holds'. omitted: narrow it."
                ),
                idempotent: true,
                loaded: true,
            },
            |asked: QueryArguments| Ok((ask::Query(asked.try_into()?), QueryResult::from)),
        ),
        tool(
            ToolDescription {
                name: "engram_commit",
                title: "Share",
                description: format!(
                    "Share verified findings: constraint, side effect, decision, failed approach. \
Max {claim_chars} characters; 5 per task. Point at evidence, never paste. \
BAD: \"auth is broken\". GOOD: \"auth allows 50 req/s\"\n\
duplicate: known. Error: see hint."
                ),
                idempotent: false,
                loaded: true,
            },
            |commit: CommitArguments| {
                Ok((
                    ask::Commit(Box::new(commit.try_into()?)),
                    CommitResult::from,
                ))
            },
        ),
        tool(
            ToolDescription {
                name: "engram_deref",
                title: "Read",
                description: "Read a pointer's text if needed. Spends budget: read few lines. \
rest: more. DEREF_DENIED: go on or retry with reason."
                    .to_owned(),
                idempotent: false,
                loaded: true,
            },
            |read: DerefArguments| Ok((ask::Deref(read.into()), DerefResult::from)),
        ),
    ];
    tools.extend(conflict_tools());
    tools
}

/// The tools about conflicts and durability.
fn conflict_tools() -> [OfferedTool; 3] {
    [
        tool(
            ToolDescription {
                name: "engram_conflicts",
                title: "Conflicts",
                description: "Open contradictions, worst first. Call before deciding.".to_owned(),
                idempotent: true,
                loaded: false,
            },
            |asked: ConflictsArguments| Ok((ask::Conflicts(asked.into()), ConflictsResult::from)),
        ),
        tool(
            ToolDescription {
                name: "engram_resolve",
                title: "Settle",
                description: "Settle a conflict after checking its sources; answer near."
                    .to_owned(),
                idempotent: true,
                loaded: true,
            },
            resolve_request,
        ),
        tool(
            ToolDescription {
                name: "engram_promote",
                title: "Keep",
                description: "Make an ephemeral claim durable.".to_owned(),
                idempotent: true,
                loaded: false,
            },
            |PromoteArguments { fact_id: id }| {
                Ok((
                    ask::Promote(Promote { id, scope: None }),
                    PromoteResult::from,
                ))
            },
        ),
    ]
}

/// Builds the request for a verdict and the function that adds its type to the result.
fn resolve_request(
    settle: ResolveArguments,
) -> Result<(ask::Resolve, impl FnOnce(ResolveReply) -> ResolveResult), Refusal> {
    let resolution_type = settle.resolution_type;
    let recorded = move |settled: &ResolveReply| match (resolution_type, settled.status) {
        (_, ConflictStatus::Resolved) => None,
        (ResolutionType::Contradicts, _) => Some("You contradict it. The user decides."),
        (ResolutionType::Replaces, _) => {
            Some("You contradict it. Its claim is not yours to end: the user decides.")
        }
        (ResolutionType::Same, _) => Some("Both say the same."),
        (ResolutionType::Compatible, _) => Some("Both can hold."),
        _ => None,
    };
    let settled = move |settled: ResolveReply| ResolveResult {
        // A word on a possible conflict settles nothing by itself.
        resolved: !matches!(
            settled.status,
            ConflictStatus::Open | ConflictStatus::Possible
        ),
        conflict_id: settled.conflict,
        recorded: recorded(&settled),
        resolution_type,
        closed: settled.closed,
        stored: settled.stored,
        due: settled.due,
    };
    Ok((ask::Resolve(Box::new(settle.try_into()?)), settled))
}
