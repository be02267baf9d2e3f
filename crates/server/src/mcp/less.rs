//! The toolset for agents whose orchestrator speaks LESS (docs/design.md#the-bus-and-its-tools):
//! the same requests under LESS names, with codes that begin with `LESS_`.

use crate::MAX_ENGRAMS;
use engram_model::{
    AgentId, Answered, Code, DerefRequest, Draft, EngramId, GrantReply, GrantWanted, Kind, Limits,
    PointerInput, Promote, Query, Refusal, Scope, Ttl, ask,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::DerefArguments,
    results::{CommitResult, DerefResult, PromoteResult, QueryResult},
    tools::{OfferedTool, ToolDescription, tool},
};

/// The prefix of its tools and, in upper case, of its codes.
pub(super) const PREFIX: &str = "less_";

pub(super) const INSTRUCTIONS: &str = "\
The less_ tools are for agents that work for a parent: codes of their refusals begin with LESS_. \
less_put_engram stores a micro-claim with pointers, never pasted text; less_query_engrams finds what others learned. \
less_deref_pointer spends your turn's budget; where that is spent, less_request_deref asks your parent, and once it is granted you read the pointer again. \
A parent answers with less_issue_grant for one child and one pointer, and passes the budget_token on.";

pub(super) fn less_tools(limits: &Limits) -> Vec<OfferedTool> {
    let mut tools = tools_for_agents(limits);
    tools.extend(tools_for_parents());
    tools
}

fn tools_for_agents(limits: &Limits) -> Vec<OfferedTool> {
    vec![
        tool(
            ToolDescription {
                name: "less_put_engram",
                title: "Put engram",
                description: format!(
                    "Store one micro-claim of at most {} characters with pointers to its evidence.",
                    limits.claim_chars
                ),
                idempotent: false,
                loaded: true,
            },
            |put: LessPutArguments| Ok((ask::Put(Box::new(put.into())), CommitResult::from)),
        ),
        tool(
            ToolDescription {
                name: "less_query_engrams",
                title: "Query engrams",
                description: format!(
                    "Find what other agents learned, by keys. k: at most {MAX_ENGRAMS}."
                ),
                idempotent: true,
                loaded: true,
            },
            |asked: LessQueryArguments| Ok((ask::Query(asked.try_into()?), QueryResult::from)),
        ),
        tool(
            ToolDescription {
                name: "less_request_deref",
                title: "Request a read",
                description: "Ask your parent to let you read beyond your budget.".to_owned(),
                idempotent: true,
                loaded: true,
            },
            |wanted: LessRequestDerefArguments| {
                Ok((
                    ask::RequestDeref(Box::new(wanted.into())),
                    LessRequestDerefResult::from,
                ))
            },
        ),
        tool(
            ToolDescription {
                name: "less_deref_pointer",
                title: "Read",
                description: "Read the text at a pointer, within your budget or with a grant."
                    .to_owned(),
                idempotent: false,
                loaded: true,
            },
            |read: DerefArguments| Ok((ask::Deref(read.into()), DerefResult::from)),
        ),
    ]
}

fn tools_for_parents() -> Vec<OfferedTool> {
    vec![
        tool(
            ToolDescription {
                name: "less_issue_grant",
                title: "Grant a read",
                description:
                    "Parents only: let one child read one pointer once. Pass budget_token on."
                        .to_owned(),
                idempotent: false,
                loaded: false,
            },
            |grant: LessIssueGrantArguments| {
                Ok((ask::IssueGrant(grant.into()), LessIssueGrantResult::from))
            },
        ),
        tool(
            ToolDescription {
                name: "less_promote",
                title: "Promote",
                description: "Parents only: let a claim reach a wider scope.".to_owned(),
                idempotent: true,
                loaded: false,
            },
            |LessPromoteArguments { id, scope }| {
                let scope = Some(scope);
                Ok((ask::Promote(Promote { id, scope }), PromoteResult::from))
            },
        ),
    ]
}

/// `less_put_engram`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LessPutArguments {
    claim: String,
    kind: Kind,
    /// repo:src/a.rs#L10-L42@HEAD
    #[schemars(with = "Vec<String>")]
    pointers: Vec<PointerInput>,
    /// 1 read in code, 0.7 observed, 0.3 inferred
    confidence: f64,
    /// P7D
    #[schemars(with = "String")]
    ttl: Ttl,
    scope: Scope,
    /// payments/webhooks
    topic: Option<String>,
    tags: Option<Vec<String>>,
}

/// `less_query_engrams`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LessQueryArguments {
    #[schemars(with = "Vec<String>")]
    keys: KeysArgument,
    k: Option<usize>,
    scope: Option<Scope>,
    kind: Option<Kind>,
}

/// A list, or words separated by commas.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a list of strings, or a string")]
enum KeysArgument {
    List(Vec<String>),
    Text(String),
}

/// `less_request_deref`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LessRequestDerefArguments {
    #[schemars(with = "String")]
    pointer: PointerInput,
    reason: String,
    intended_use: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct LessRequestDerefResult {
    request_id: String,
    state: String,
}

/// `less_issue_grant`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LessIssueGrantArguments {
    /// Its handle
    child: AgentId,
    #[schemars(with = "String")]
    pointer: PointerInput,
    cap_tokens: Option<u32>,
    /// PT10M
    #[schemars(with = "Option<String>")]
    ttl: Option<Ttl>,
}

#[derive(Serialize, JsonSchema)]
struct LessIssueGrantResult {
    id: String,
    budget_token: String,
    to: AgentId,
    pointer: Option<String>,
    cap_tokens: Option<u32>,
    expires_at: String,
}

impl From<GrantReply> for LessIssueGrantResult {
    fn from(issued: GrantReply) -> Self {
        Self {
            id: issued.id,
            budget_token: issued.budget_token.0,
            to: issued.to,
            pointer: issued.pointer,
            cap_tokens: issued.cap_tokens,
            expires_at: format!("{:.0}", issued.expires_at),
        }
    }
}

/// `less_promote`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LessPromoteArguments {
    #[schemars(with = "String")]
    id: EngramId,
    scope: Scope,
}

impl From<LessRequestDerefArguments> for DerefRequest {
    fn from(wanted: LessRequestDerefArguments) -> Self {
        Self {
            pointer: wanted.pointer,
            reason: wanted.reason,
            intended_use: wanted.intended_use.unwrap_or_default(),
        }
    }
}

impl From<Answered> for LessRequestDerefResult {
    fn from(asked: Answered) -> Self {
        Self {
            request_id: asked.id,
            state: asked.state,
        }
    }
}

impl From<LessIssueGrantArguments> for GrantWanted {
    fn from(grant: LessIssueGrantArguments) -> Self {
        Self {
            to: grant.child,
            pointer: Some(grant.pointer),
            cap_tokens: grant.cap_tokens,
            code_chars: None,
            ttl: grant.ttl,
            by: None,
            replaces: None,
        }
    }
}

impl From<LessPutArguments> for Draft {
    fn from(put: LessPutArguments) -> Self {
        Self {
            claim: put.claim,
            pointers: put.pointers,
            kind: Some(put.kind),
            confidence: Some(put.confidence),
            ttl: Some(put.ttl.to_string()),
            scope: Some(put.scope),
            topic: put.topic,
            tags: put.tags.unwrap_or_default(),
            ..Self::default()
        }
    }
}

impl TryFrom<LessQueryArguments> for Query {
    type Error = Refusal;

    fn try_from(asked: LessQueryArguments) -> Result<Self, Refusal> {
        let k = asked.k.unwrap_or(MAX_ENGRAMS);
        if !(1..=MAX_ENGRAMS).contains(&k) {
            return Err(Refusal::new(
                Code::SchemaInvalid,
                format!("k is {k}, and must be between 1 and {MAX_ENGRAMS}"),
                "Ask for a number in this range, or omit k.",
            ));
        }
        Ok(Self {
            text: match asked.keys {
                KeysArgument::List(keys) => keys.join(" "),
                KeysArgument::Text(keys) => keys.replace(',', " "),
            },
            k: Some(k),
            scope: asked.scope,
            kind: asked.kind,
            ..Self::default()
        })
    }
}
