//! What the tools return. It is kept small, since it is all that a model sees.

use engram_gateway::count_tokens;
use engram_model::{
    AnswerQuality, Budget, CheckedPointer, Conflict, ConflictId, ConflictSide, ConflictStatus,
    ConflictsReply, Dereferenced, Durability, Engram, EngramId, Evidence, FactType, Finding, How,
    Kind, LineageId, MemoryOp, Meter, Noticed, PromoteReply, PutReply, QueryReply, Refusal, Scope,
    Severity, StatusReply, Tier,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::near::{NearClaims, NearPair};
use crate::resolution_type::ResolutionType;

/// The maximum tokens of the engrams, or of the conflicts, in one answer.
const QUERY_TOKENS: usize = 3_900;

/// The field names and punctuation of a summary have at least this many more bytes than tokens.
const SPARED: usize = 70;

/// `engram_commit`
#[derive(Serialize, JsonSchema)]
pub(super) struct CommitResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<EngramId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lineage_id: Option<LineageId>,
    verified: bool,
    duplicate: bool,
    memory_op: MemoryOp,
    #[serde(skip_serializing_if = "Option::is_none")]
    supersedes: Option<EngramId>,
    committed_at: String,
    conflicts: u64,
    #[serde(skip_serializing_if = "is_zero")]
    due: u64,
    findings: Vec<Finding>,
    /// Claims of others that may be about the same thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    near: Option<NearClaims>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl From<PutReply> for CommitResult {
    fn from(reply: PutReply) -> Self {
        let is_duplicate = |finding: &Finding| finding.what == Noticed::Duplicate;
        let is_of_version = reply.is_of_version();
        Self {
            id: is_of_version.then_some(reply.id),
            lineage_id: is_of_version.then_some(reply.lineage_id),
            verified: reply.verified,
            duplicate: reply.findings.iter().any(is_duplicate),
            memory_op: reply.memory_op,
            supersedes: reply.supersedes,
            committed_at: format!("{:.0}", reply.committed_at),
            conflicts: reply.conflicts,
            due: reply.due,
            near: NearClaims::of(&reply.near),
            findings: reply.findings,
        }
    }
}

/// `engram_promote`
#[derive(Serialize, JsonSchema)]
pub(super) struct PromoteResult {
    id: EngramId,
    durability: Durability,
    scope: Scope,
    lineage_id: LineageId,
    #[serde(skip_serializing_if = "is_zero")]
    due: u64,
    findings: Vec<Finding>,
}

impl From<PromoteReply> for PromoteResult {
    fn from(reply: PromoteReply) -> Self {
        Self {
            id: reply.id,
            durability: reply.durability,
            scope: reply.scope,
            lineage_id: reply.lineage_id,
            due: reply.due,
            findings: reply.findings,
        }
    }
}

/// `engram_query`
#[derive(Serialize, JsonSchema)]
pub(super) struct QueryResult {
    verdict: AnswerQuality,
    relaxed: bool,
    engrams: Vec<EngramSummary>,
    /// How many more matched but did not fit, or were not checked because there is no index.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    near: Option<NearPair>,
}

impl From<QueryReply> for QueryResult {
    fn from(reply: QueryReply) -> Self {
        let found = reply.engrams.len();
        let beyond = reply.omitted.unwrap_or(0) + reply.unread.unwrap_or(0);
        let mut engrams: Vec<EngramSummary> =
            reply.engrams.into_iter().map(EngramSummary::from).collect();
        engrams.truncate(count_that_fit(QUERY_TOKENS, &engrams));
        Self {
            verdict: reply.verdict,
            relaxed: reply.relaxed,
            omitted: Some((found - engrams.len()) as u64 + beyond).filter(|count| *count > 0),
            near: reply.near.map(NearPair::from),
            engrams,
        }
    }
}

/// Counts how many items fit, from the first. It counts tokens only if bytes do not settle it: a
/// token is at least one byte, and the frame has [`SPARED`] bytes to spare.
fn count_that_fit<T: Serialize>(tokens: usize, items: &[T]) -> usize {
    let texts: Vec<String> = items
        .iter()
        .map(|item| serde_json::to_string(item).unwrap_or_default())
        .collect();
    let most: usize = texts.iter().map(|it| it.len().saturating_sub(SPARED)).sum();
    if most <= tokens {
        return items.len();
    }
    let mut room = tokens;
    texts
        .iter()
        .take_while(|text| {
            let cost = count_tokens(text) + 1;
            let fits = cost <= room;
            room = room.saturating_sub(cost);
            fits
        })
        .count()
}

/// An engram as an answer shows it.
#[derive(Serialize, JsonSchema)]
pub(super) struct EngramSummary {
    id: EngramId,
    claim: String,
    kind: Kind,
    fact_type: FactType,
    topic: String,
    confidence: f64,
    by: String,
    created_at: String,
    verified: bool,
    pointers: Vec<String>,
    /// How its evidence stands in the agent's working tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
    /// How well it answers, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// The current state of the pointers that no longer read as they were pinned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    now: Vec<String>,
    has_open_conflict: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<ConflictId>,
}

impl From<Engram> for EngramSummary {
    fn from(engram: Engram) -> Self {
        let health = engram.health.as_ref();
        let changed = health.map_or(&[][..], |it| &it.pointers).iter();
        Self {
            evidence: health.map(|it| it.standing),
            score: engram.score,
            now: changed
                .filter(|it| !it.is_unchanged())
                .map(CheckedPointer::in_words)
                .collect(),
            id: engram.id,
            claim: engram.claim,
            kind: engram.kind,
            fact_type: engram.fact_type,
            topic: engram.topic,
            confidence: engram.confidence,
            by: engram.provenance.created_by,
            created_at: format!("{:.0}", engram.provenance.created_at),
            verified: engram.verified,
            pointers: engram.pointers.iter().map(ToString::to_string).collect(),
            has_open_conflict: !engram.conflicts.is_empty(),
            conflicts: engram.conflicts,
        }
    }
}

/// `engram_conflicts`
#[derive(Serialize, JsonSchema)]
pub(super) struct ConflictsResult {
    open: u64,
    due: u64,
    conflicts: Vec<Dispute>,
    /// How many more there are that did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<u64>,
}

impl From<ConflictsReply> for ConflictsResult {
    fn from(reply: ConflictsReply) -> Self {
        let all = reply.conflicts.len() as u64 + reply.omitted.unwrap_or_default();
        let mut conflicts: Vec<Dispute> = reply.conflicts.into_iter().map(Dispute::from).collect();
        conflicts.truncate(count_that_fit(QUERY_TOKENS, &conflicts));
        Self {
            open: reply.open,
            due: reply.due,
            omitted: Some(all - conflicts.len() as u64).filter(|count| *count > 0),
            conflicts,
        }
    }
}

/// A conflict in an answer. Fields that are null elsewhere are absent here.
#[derive(Serialize, JsonSchema)]
struct Dispute {
    id: ConflictId,
    status: ConflictStatus,
    severity: Severity,
    tier: Tier,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    why: String,
    found_at: String,
    a: DisputeSide,
    b: DisputeSide,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<EngramId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settled: Option<Settlement>,
}

/// One side, without the fields that only a screen needs.
#[derive(Serialize, JsonSchema)]
struct DisputeSide {
    id: EngramId,
    claim: String,
    topic: String,
    by: String,
    created_at: String,
    confidence: f64,
    fact_type: FactType,
    verified: bool,
    pointers: Vec<String>,
}

/// Who settled it.
#[derive(Serialize, JsonSchema)]
struct Settlement {
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    how: How,
    by: String,
    at: String,
}

impl From<Conflict> for Dispute {
    fn from(conflict: Conflict) -> Self {
        let shown = |side: ConflictSide| DisputeSide {
            id: side.id,
            claim: side.claim,
            topic: side.topic,
            by: side.by,
            created_at: format!("{:.0}", side.created_at),
            confidence: side.confidence,
            fact_type: side.fact_type,
            verified: side.verified,
            pointers: side.pointers.iter().map(ToString::to_string).collect(),
        };
        Self {
            id: conflict.id,
            status: conflict.status,
            severity: conflict.severity,
            tier: conflict.tier,
            score: conflict.score,
            why: conflict.why,
            found_at: format!("{:.0}", conflict.found_at),
            a: shown(conflict.a),
            b: shown(conflict.b),
            risk: conflict.risk,
            settled: conflict.settled.map(|it| Settlement {
                how: it.how,
                by: it.by,
                at: format!("{:.0}", it.at),
                why: it.why,
            }),
        }
    }
}

/// `engram_resolve`
#[derive(Serialize, JsonSchema)]
pub(super) struct ResolveResult {
    pub(super) resolved: bool,
    // What is kept of an answer that settles nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded: Option<&'static str>,
    pub(super) conflict_id: ConflictId,
    pub(super) resolution_type: ResolutionType,
    pub(super) closed: Vec<EngramId>,
    pub(super) stored: Vec<EngramId>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) due: u64,
}

/// `engram_deref`
#[derive(Serialize, JsonSchema)]
pub(super) struct DerefResult {
    pointer: String,
    excerpt: String,
    content_digest: String,
    tokens: u32,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    rest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    masked: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetLeft>,
}

impl From<Box<Dereferenced>> for DerefResult {
    fn from(read: Box<Dereferenced>) -> Self {
        Self {
            pointer: read.pointer,
            excerpt: read.excerpt,
            content_digest: read.content_digest,
            tokens: read.tokens,
            truncated: read.truncated,
            rest: read.rest,
            masked: read.masked,
            now: read.now.map(|it| it.in_words()),
            budget: read.budget.map(BudgetLeft::from),
        }
    }
}

/// `engram_status`
#[derive(Serialize, JsonSchema)]
pub(super) struct StatusResult {
    status: String,
    next_prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    engrams: u64,
    agents: u64,
    #[serde(skip_serializing_if = "is_zero")]
    due: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    brief: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetLeft>,
}

impl From<Box<StatusReply>> for StatusResult {
    fn from(reply: Box<StatusReply>) -> Self {
        let (project, branch) = reply
            .project
            .map_or((None, None), |it| (Some(it.name), it.branch));
        Self {
            status: reply.status,
            next_prompt: reply.next,
            project,
            branch,
            engrams: reply.engrams,
            agents: reply.agents,
            due: reply.due,
            brief: reply.brief,
            budget: reply.budget.map(BudgetLeft::from),
        }
    }
}

/// What an agent may still fetch in this turn.
#[derive(Serialize, JsonSchema)]
pub(super) struct BudgetLeft {
    repo_spans: u32,
    artifact_sections: u32,
    sam_items: u32,
    tokens: u32,
}

impl From<Budget> for BudgetLeft {
    fn from(budget: Budget) -> Self {
        let left = |meter: Meter| meter.limit.saturating_sub(meter.used);
        Self {
            repo_spans: left(budget.repo_spans),
            artifact_sections: left(budget.artifact_sections),
            sam_items: left(budget.sam_items),
            tokens: left(budget.tokens),
        }
    }
}

/// Returns a refusal in the form of every surface. A toolset may prefix its codes.
pub(super) fn refusal_value(refusal: &Refusal, prefix: &str) -> Value {
    let mut error = json!({ "error": refusal });
    if !prefix.is_empty() {
        error["error"]["code"] = json!(format!("{prefix}{}", refusal.code));
    }
    error
}

#[cfg(test)]
mod tests {
    use engram_gateway::count_tokens;
    use proptest::prelude::*;

    use super::*;

    fn summary(claim: String, topic: String, pointers: Vec<String>) -> EngramSummary {
        EngramSummary {
            id: "01J0000000000000000000000A".parse().unwrap(),
            claim,
            kind: Kind::Fact,
            fact_type: FactType::Observation,
            topic,
            confidence: 0.5,
            by: String::new(),
            created_at: String::new(),
            verified: true,
            pointers,
            score: None,
            evidence: None,
            now: Vec::new(),
            has_open_conflict: false,
            conflicts: Vec::new(),
        }
    }

    proptest! {
        /// Whatever the values are, the byte count never promises room that the tokens exceed.
        #[test]
        fn bytes_settle_it_on_the_safe_side(
            claim in "\\PC{0,80}", topic in "[\\PC]{0,9}", pointers in prop::collection::vec("\\PC{0,30}", 0..3)
        ) {
            let text = serde_json::to_string(&summary(claim, topic, pointers)).unwrap();
            prop_assert!(count_tokens(&text) <= text.len() - SPARED, "{text}");
        }
    }
}
