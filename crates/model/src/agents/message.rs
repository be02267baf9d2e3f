//! The two messages of the bus (docs/design.md#messages). Their keys are the headings of the text
//! form, in lower case.

use serde::{Deserialize, Serialize};

use crate::{Draft, PointerInput};

/// Every budget that a parent can give, and the name of its figure in a refusal.
pub const BUDGETS: [(&str, &str); 10] = [
    ("max_inline_tokens", "inline_tokens"),
    ("max_engrams", "engrams"),
    ("max_engram_chars", "engram_chars"),
    ("max_inline_code_chars", "inline_code_chars"),
    ("max_brief_lines", "brief_lines"),
    ("max_repo_spans", "repo_spans"),
    ("max_artifact_sections", "artifact_sections"),
    ("max_sam_items", "sam_items"),
    ("max_tokens", "tokens"),
    // An alias of `max_tokens`.
    ("max_total_deref_tokens", "tokens"),
];

/// One message. Its keys show its direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Message {
    /// A child's report.
    Child(ChildMessage),
    /// A parent's instruction.
    Parent(ParentMessage),
}

/// Child to parent: engrams and pointers instead of text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChildMessage {
    /// Who reports.
    pub role: String,
    /// The state of the task.
    pub task_status: String,
    /// What was learned.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = 12)))]
    pub engrams: Vec<Draft>,
    /// Where to look.
    #[serde(default)]
    pub pointer_pack: Vec<PointerInput>,
    /// What the child wants to read.
    #[serde(default)]
    pub deref_requests: Vec<DerefRequest>,
    /// The minimal response.
    pub output: ChildOutput,
}

/// What a child wants to read, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DerefRequest {
    /// What to read.
    pub pointer: PointerInput,
    /// Why.
    pub reason: String,
    /// What it will be used for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub intended_use: String,
}

/// The minimal response of a child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChildOutput {
    /// What was found, in a sentence or two.
    pub summary: String,
    /// What comes next.
    #[serde(default)]
    pub next: String,
}

/// Parent to child: the brief, the budgets and the grants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ParentMessage {
    /// Who is addressed.
    pub role: String,
    /// What matters now; at most 30 lines.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = 30)))]
    pub shared_brief_micro: Vec<String>,
    /// What the child may spend, by name of the limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "budgets"))]
    pub budgets: std::collections::BTreeMap<String, u64>,
    /// What the child may read beyond that.
    #[serde(default)]
    pub grants: Vec<MessageGrant>,
    /// Where to look first.
    #[serde(default)]
    pub target_pointer_pack: Vec<PointerInput>,
    /// What to do.
    #[serde(default)]
    pub instructions: Vec<String>,
}

/// Permission for one thing beyond the budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Grant")
)]
#[serde(deny_unknown_fields)]
pub struct MessageGrant {
    /// The token that proves it.
    pub budget_token: String,
    /// What may be read.
    pub pointer: PointerInput,
    /// Maximum tokens of the excerpt.
    pub cap_tokens: u32,
}

#[cfg(feature = "schema")]
fn budgets(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let each = BUDGETS.map(|(name, _)| {
        let figure = serde_json::json!({ "type": "integer", "minimum": 0, "format": "uint64" });
        (name.to_owned(), figure)
    });
    schemars::json_schema!({
        "type": "object",
        "properties": serde_json::Map::from_iter(each),
        "additionalProperties": false,
    })
}
