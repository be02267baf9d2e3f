//! The arguments of the tools. All parsing happens here; a refusal names what does not fit.
//!
//! A model sees these types (`schema.rs`): a comment on a field is its description.

use std::collections::BTreeMap;

use engram_engine::NEAR_KEY;
use engram_model::{
    Code, ConflictFilter, ConflictId, Deref, Draft, Durability, EngramId, FactType, Kind, Listed,
    MemoryOp, PairVerdict, Pointer, PointerInput, PointerType, Query, Refusal, Resolve, Settle,
    Ttl, parse_time,
};
use jiff::Timestamp;
use rmcp::model::{JsonObject, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::shorten;
use crate::resolution_type::ResolutionType;

/// `engram_status`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusArguments {}

/// `engram_query`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryArguments {
    topic: String,
    /// Topic path
    scope: Option<String>,
    limit: Option<usize>,
    /// ISO 8601
    as_of: Option<String>,
    // engram_commit, in the same list, already shows the words of these two.
    #[schemars(with = "Option<String>")]
    fact_type: Option<FactType>,
    #[schemars(with = "Option<String>")]
    kind: Option<Kind>,
    include_ephemeral: Option<bool>,
}

/// `engram_deref`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DerefArguments {
    /// repo:src/a.rs#L10-L42@HEAD
    #[schemars(with = "String")]
    pointer: PointerInput,
    max_tokens: Option<u32>,
    budget_token: Option<String>,
    reason: Option<String>,
}

/// `engram_conflicts`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConflictsArguments {
    scope: Option<String>,
    // A refusal lists the allowed words.
    #[schemars(with = "Option<String>")]
    status: Option<Listed>,
}

/// `engram_resolve`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResolveArguments {
    // Or the key of a possible conflict.
    conflict_id: String,
    pub(super) resolution_type: ResolutionType,
    // Why, for the record.
    resolution: Option<String>,
    #[schemars(with = "Option<String>")]
    winning_claim_id: Option<EngramId>,
    // For a merge: the one claim.
    content: Option<String>,
}

/// `engram_promote`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PromoteArguments {
    #[schemars(with = "String")]
    pub(super) fact_id: EngramId,
}

/// `engram_commit`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommitArguments {
    content: String,
    /// payments/webhooks
    scope: String,
    /// 1 read in code, 0.7 seen, 0.3 inferred
    confidence: f64,
    kind: Option<Kind>,
    fact_type: Option<FactType>,
    provenance: Option<String>,
    // A model should write a string; the object of the v0.1 schema is accepted too.
    /// repo:src/a.rs#L10-L42@HEAD (@worktree: uncommitted), test:PATH::NAME@HEAD
    #[schemars(with = "Option<Vec<String>>")]
    pointers: Option<Vec<PointerInput>>,
    ttl_days: Option<u32>,
    operation: Option<MemoryOp>,
    /// To update or delete
    corrects_lineage: Option<String>,
    durability: Option<Durability>,
    agent_id: Option<String>,
    // A refusal lists the allowed words.
    /// {id or near key: contradicts, replaces or same}
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    beside: Option<BTreeMap<String, PairVerdict>>,
}

/// Parses the arguments of `tool` into its type. A null argument counts as absent.
pub(super) fn parse<T: DeserializeOwned>(
    tool: &Tool,
    mut arguments: JsonObject,
) -> Result<T, Refusal> {
    arguments.retain(|_, value| !value.is_null());
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        let says = error.into_inner().to_string();
        let what = match unknown_argument_message(&says) {
            Some(unknown) => unknown,
            None if path == "." => reworded_error(&says),
            None => format!("argument {}: {}", shorten(&path, 80), reworded_error(&says)),
        };
        Refusal::new(
            Code::SchemaInvalid,
            shorten(&what, 300),
            format!("{} takes {}.", tool.name, argument_list(tool)),
        )
    })
}

/// The message for an argument that the tool does not take; `None` for other errors.
fn unknown_argument_message(says: &str) -> Option<String> {
    let name = says.strip_prefix("unknown field `")?.split('`').next()?;
    let known = says.split_once(", expected ").map(|it| it.1);
    Some(match known.map(|it| it.trim_start_matches("one of ")) {
        Some(known) => format!("there is no argument `{name}`; there are {known}"),
        None => format!("there is no argument `{name}`"),
    })
}

/// Rewords the parser's message for readers who do not know its types.
fn reworded_error(says: &str) -> String {
    let named = |after: &str| says.strip_prefix(after)?.split('`').next();
    if let Some(name) = named("missing field `") {
        return format!("{name} is missing");
    }
    if let Some(word) = named("unknown variant `") {
        let (_, words) = says.split_once(", expected ").unwrap_or_default();
        let words = words.trim_start_matches("one of ").replace('`', "");
        return format!("{word:?} is not one of: {words}");
    }
    let wrong = ["invalid type: ", "invalid value: "];
    let wrong = wrong.iter().find_map(|it| says.strip_prefix(it));
    match wrong.and_then(|it| it.rsplit_once(", expected ")) {
        Some((found, expected)) => {
            let expected = match expected {
                "f64" => "a number",
                "u32" | "u64" | "usize" => "a whole number from 0 up",
                "bool" | "a boolean" => "true or false",
                "a sequence" => "a list",
                expected if expected.starts_with("struct ") => "an object",
                expected => expected,
            };
            format!("expected {expected}, not {}", found.replace('`', ""))
        }
        None => says.to_owned(),
    }
}

/// Lists the known arguments: the required ones, then the optional ones with a question mark.
fn argument_list(tool: &Tool) -> String {
    let schema = &tool.input_schema;
    let required = schema.get("required").and_then(Value::as_array);
    let mut names: Vec<String> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let all = schema.get("properties").and_then(Value::as_object);
    for name in all.into_iter().flat_map(|all| all.keys()) {
        if !names.contains(name) {
            names.push(format!("{name}?"));
        }
    }
    if names.is_empty() {
        "no arguments".to_owned()
    } else {
        names.join(", ")
    }
}

impl TryFrom<QueryArguments> for Query {
    type Error = Refusal;

    fn try_from(ask: QueryArguments) -> Result<Self, Refusal> {
        Ok(Self {
            text: ask.topic,
            k: ask.limit,
            scope: None,
            topic: ask.scope.filter(|it| !it.is_empty()),
            kind: ask.kind,
            fact_type: ask.fact_type,
            as_of: ask.as_of.as_deref().map(parse_as_of).transpose()?,
            include_ephemeral: ask.include_ephemeral.unwrap_or_default(),
            embedding_ref: None,
        })
    }
}

fn parse_as_of(text: &str) -> Result<Timestamp, Refusal> {
    parse_time(text).map_err(|refusal| Refusal {
        message: format!("argument as_of: {}", refusal.message),
        ..refusal
    })
}

impl From<ConflictsArguments> for ConflictFilter {
    fn from(asked: ConflictsArguments) -> Self {
        Self {
            topic: asked.scope.filter(|it| !it.is_empty()),
            status: asked.status.unwrap_or(Listed::Open),
            ..Self::default()
        }
    }
}

impl TryFrom<ResolveArguments> for Resolve {
    type Error = Refusal;

    fn try_from(settle: ResolveArguments) -> Result<Self, Refusal> {
        let way = settle.resolution_type;
        let how = way.into_settle(settle.winning_claim_id, settle.content)?;
        let id = settle.conflict_id.parse::<ConflictId>();
        let (conflict, how) = match (id, how) {
            (Err(_), Settle::Judge { verdict, .. }) => {
                let key = Some(settle.conflict_id);
                (ConflictId::default(), Settle::Judge { verdict, key })
            }
            (Err(_), _) if settle.conflict_id.len() == NEAR_KEY => {
                return Err(Refusal::new(
                    Code::NotFound,
                    "a key from `near` names no conflict to settle",
                    "Set resolution_type to contradicts, replaces, same or compatible; or give the id of an open conflict.",
                ));
            }
            (id, how) => (id?, how),
        };
        Ok(Self {
            conflict,
            how,
            why: settle.resolution,
        })
    }
}

impl From<DerefArguments> for Deref {
    fn from(read: DerefArguments) -> Self {
        Self {
            pointer: read.pointer,
            max_tokens: read.max_tokens,
            turn: None,
            budget_token: read.budget_token,
            reason: read.reason,
        }
    }
}

impl TryFrom<CommitArguments> for engram_model::Commit {
    type Error = Refusal;

    /// A `provenance` that is not a pointer becomes the evidence in words.
    fn try_from(commit: CommitArguments) -> Result<Self, Refusal> {
        let mut pointers = commit.pointers.unwrap_or_default();
        let provenance = commit.provenance.filter(|it| !it.trim().is_empty());
        let words = match provenance {
            Some(text) if is_pointer(text.trim())? => {
                pointers.push(PointerInput::Text(text.trim().to_owned()));
                None
            }
            other => other,
        };
        let draft = Draft {
            claim: commit.content,
            pointers,
            kind: commit.kind,
            fact_type: commit.fact_type,
            confidence: Some(commit.confidence),
            ttl: commit
                .ttl_days
                .map(|days| Ttl::days(days).map(String::from))
                .transpose()?,
            topic: Some(commit.scope),
            agent: commit.agent_id,
            durability: commit.durability,
            operation: commit.operation,
            corrects_lineage: commit.corrects_lineage,
            ..Draft::default()
        };
        Ok(Self {
            draft,
            words,
            beside: commit.beside.unwrap_or_default(),
        })
    }
}

/// Whether a provenance is a pointer. A broken pointer is refused, so that it is not stored as
/// prose.
fn is_pointer(text: &str) -> Result<bool, Refusal> {
    let word = text.split_once(':').map(|it| it.0.parse::<PointerType>());
    let looks = word.is_some_and(|it| it.is_ok());
    match text.parse::<Pointer>() {
        Ok(_) => Ok(true),
        Err(refusal) if looks && !text.contains(char::is_whitespace) => Err(refusal),
        Err(_) => Ok(false),
    }
}
