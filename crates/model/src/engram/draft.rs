//! The draft: what a client sends to make an engram, and the form that passes validation.

use serde::{Deserialize, Serialize};

use super::{CONFIDENCE, Durability, FactType, Kind, MemoryOp, ProvenanceV01, Scope, Source, Ttl};
use crate::{Code, EngramId, Limits, Pointer, PointerInput, Refusal, text::shorten};

/// What a client sends to make an engram. Nothing in it is trusted.
///
/// Accepts the v0.1 wire form too: the sender's `id`, `hash_keys`, `embedding_ref`, `provenance`
/// are read, but Engram mints its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Draft {
    /// One to three sentences, at most 500 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 500)))]
    pub claim: String,
    /// Where its evidence is; at least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 12)))]
    pub pointers: Vec<PointerInput>,
    /// `fact` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// `observation` when absent; always `decision` for a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact_type: Option<FactType>,
    /// 0 to 1; 0.7 (observed) when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub confidence: Option<f64>,
    /// ISO 8601 duration; no expiry when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Ttl>"))]
    pub ttl: Option<String>,
    /// `project` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Hierarchical path such as `payments/webhooks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Free labels.
    #[cfg_attr(
        feature = "schema",
        schemars(length(max = 12), inner(length(min = 1, max = 40)))
    )]
    pub tags: Vec<String>,
    /// Who is speaking, as a person would name them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `durable` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// What it means for its lineage; `add` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<MemoryOp>,
    /// The lineage (or any version of it) that it corrects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrects_lineage: Option<String>,
    /// The sender's own id: it is returned with an error about this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The sender's recall keys, not used.
    #[serde(skip_serializing)]
    pub hash_keys: Vec<String>,
    /// The sender's embedding, not used.
    #[serde(skip_serializing)]
    pub embedding_ref: Option<String>,
    /// The sender's provenance: its `source`, and its `created_by` where `agent` is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<ProvenanceV01>"))]
    pub provenance: Option<ProvenanceV01>,
}

/// A draft that passed validation: every field is parsed and within its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEngram {
    /// Trimmed, not empty, within its limit.
    pub claim: String,
    /// At least one, parsed but not yet resolved.
    pub pointers: Vec<Pointer>,
    /// What sort of claim it is.
    pub kind: Kind,
    /// How it came to be known.
    pub fact_type: FactType,
    /// From 0 to 1.
    pub confidence: f64,
    /// How long it holds.
    pub ttl: Option<Ttl>,
    /// Who may see it.
    pub scope: Scope,
    /// The normalised path; empty if there is none.
    pub topic: String,
    /// Free labels.
    pub tags: Vec<String>,
    /// Who is speaking.
    pub agent: Option<String>,
    /// What it was made from.
    pub source: Option<Source>,
    /// Whether it stays.
    pub durability: Durability,
    /// What it means for its lineage.
    pub operation: MemoryOp,
    /// The lineage, or a version of it, that it corrects.
    pub corrects: Option<ulid::Ulid>,
}

impl Draft {
    /// Checks everything that needs neither the repository nor the store
    /// (docs/design.md#what-a-draft-must-have).
    pub fn validate(self, limits: &Limits) -> Result<NewEngram, Refusal> {
        let operation = self.operation.unwrap_or(MemoryOp::Add);
        let kind = self.kind.unwrap_or(Kind::Fact);
        let fact_type = match kind {
            Kind::Decision => FactType::Decision,
            _ => self.fact_type.unwrap_or(FactType::Observation),
        };
        let corrects = match operation {
            MemoryOp::Delete => Some(self.retired_lineage()?),
            _ => self.corrected_lineage()?,
        };
        let provenance = self.provenance;
        Ok(NewEngram {
            claim: check_claim(&self.claim, limits)?,
            pointers: validated_pointers(self.pointers, limits)?,
            kind,
            fact_type,
            confidence: validated_confidence(self.confidence)?,
            ttl: self.ttl.map(|ttl| ttl.parse()).transpose()?,
            scope: self.scope.unwrap_or(Scope::Project),
            topic: check_topic(self.topic.as_deref().unwrap_or_default())?,
            tags: validated_tags(self.tags, limits)?,
            agent: validated_name(
                self.agent
                    .or(provenance.as_ref().map(|p| p.created_by.clone())),
            )?,
            source: provenance.map(|p| p.source),
            durability: self.durability.unwrap_or(Durability::Durable),
            operation,
            corrects: corrects.map(|id| id.0),
        })
    }

    fn corrected_lineage(&self) -> Result<Option<EngramId>, Refusal> {
        let text = self.corrects_lineage.as_deref();
        text.filter(|it| !it.is_empty()).map(str::parse).transpose()
    }

    /// Whether it makes a claim, and does not only end one or change nothing.
    pub fn says_it(&self) -> bool {
        !matches!(self.operation, Some(MemoryOp::Delete | MemoryOp::None))
    }

    /// The lineage, or a version of it, that `operation: delete` ends. Nothing else of such a draft
    /// is read.
    pub fn retired_lineage(&self) -> Result<EngramId, Refusal> {
        self.corrected_lineage()?.ok_or_else(|| {
            schema_refusal(
                "operation delete needs corrects_lineage",
                "Set corrects_lineage to the lineage_id of the claim to retire.",
            )
        })
    }
}

fn schema_refusal(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::new(Code::SchemaInvalid, message, hint)
}

/// Trims the words of a claim and checks them.
///
/// # Errors
/// The claim is empty, too long, or contains a NUL.
pub fn check_claim(text: &str, limits: &Limits) -> Result<String, Refusal> {
    let text = text.trim();
    if text.is_empty() {
        return Err(schema_refusal(
            "the claim is empty",
            "State the finding in one to three sentences.",
        ));
    }
    // Other control characters are allowed: every surface shows them visibly.
    if text.contains('\0') {
        return Err(schema_refusal(
            "the claim contains a NUL character",
            "Send plain text.",
        ));
    }
    let chars = text.chars().count();
    if chars > limits.claim_chars {
        return Err(Refusal::new(
            Code::ClaimTooLong,
            format!(
                "the claim has {chars} characters, {} more than allowed",
                chars - limits.claim_chars
            ),
            format!(
                "Shorten it to {} characters and point at the evidence; commit separate findings as separate engrams.",
                limits.claim_chars
            ),
        ));
    }
    Ok(text.to_owned())
}

fn validated_pointers(inputs: Vec<PointerInput>, limits: &Limits) -> Result<Vec<Pointer>, Refusal> {
    if inputs.is_empty() {
        return Err(Refusal::new(
            Code::Unanchored,
            "the engram has no pointer to its evidence",
            "Add at least one, for example repo:src/main.rs#L10-L20@HEAD.",
        ));
    }
    if inputs.len() > limits.pointers {
        return Err(schema_refusal(
            format!(
                "the engram has {} pointers; the limit is {}",
                inputs.len(),
                limits.pointers
            ),
            "Keep the pointers that prove the claim; point at the widest span instead of its parts.",
        ));
    }
    let mut out: Vec<Pointer> = Vec::with_capacity(inputs.len());
    for input in inputs {
        let pointer = input.check(limits)?;
        if !out.contains(&pointer) {
            out.push(pointer);
        }
    }
    Ok(out)
}

fn validated_confidence(given: Option<f64>) -> Result<f64, Refusal> {
    match given.unwrap_or(CONFIDENCE) {
        value if (0.0..=1.0).contains(&value) => Ok(value),
        value => Err(schema_refusal(
            format!("confidence {value:?} is not between 0 and 1"),
            "Use 1.0 if verified in code, 0.7 if observed, 0.3 if inferred.",
        )),
    }
}

/// Removes the slashes at the ends of a topic; changes nothing else.
///
/// # Errors
/// The topic is not a path.
pub fn check_topic(text: &str) -> Result<String, Refusal> {
    let text = text.trim().trim_matches('/');
    let ok = text.chars().count() <= 200
        && !text.chars().any(char::is_control)
        && (text.is_empty() || text.split('/').all(|part| !part.trim().is_empty()));
    if ok {
        Ok(text.to_owned())
    } else {
        Err(schema_refusal(
            format!("{:?} is not a topic", shorten(text, 80)),
            "A topic is a short path such as payments/webhooks.",
        ))
    }
}

fn validated_tags(tags: Vec<String>, limits: &Limits) -> Result<Vec<String>, Refusal> {
    let mut out: Vec<String> = Vec::new();
    let sent = tags.len();
    for tag in tags {
        let tag = tag.trim().to_owned();
        let chars = tag.chars().count();
        if chars == 0 || chars > limits.tag_chars || tag.chars().any(char::is_control) {
            return Err(schema_refusal(
                format!("{:?} is not a tag", shorten(&tag, 60)),
                format!("A tag is a word of 1 to {} characters.", limits.tag_chars),
            ));
        }
        if out.contains(&tag) {
            continue;
        }
        if out.len() == limits.tags {
            return Err(schema_refusal(
                format!("the engram has {sent} tags; the limit is {}", limits.tags),
                "Keep the tags that someone would search for.",
            ));
        }
        out.push(tag);
    }
    Ok(out)
}

fn validated_name(agent: Option<String>) -> Result<Option<String>, Refusal> {
    match agent.map(|it| it.trim().to_owned()) {
        Some(name) if name.chars().count() > 80 || name.chars().any(char::is_control) => {
            Err(schema_refusal(
                "the agent's name is not valid",
                "Use a short name such as programmer-2.",
            ))
        }
        Some(name) if name.is_empty() => Ok(None),
        name => Ok(name),
    }
}
