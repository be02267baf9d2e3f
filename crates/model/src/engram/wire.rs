//! The v0.1 wire forms: the strict subset that outside programs understand
//! (docs/design.md#the-published-forms). They allow no additional properties. The full record has
//! the fields that they lack.

use serde::{Deserialize, Serialize};

use crate::{
    Code, Engram, Kind, Pointer, PointerType, Refusal, Scope, Source, Target, Ttl, text::shorten,
};

/// An engram in its v0.1 form (docs/design.md#the-published-forms).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EngramV01 {
    /// ULID or UUID.
    pub id: String,
    /// What sort of claim it is.
    pub kind: Kind,
    /// One to three sentences.
    #[cfg_attr(feature = "schema", schemars(length(max = 500)))]
    pub claim: String,
    /// Where its evidence is.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 12)))]
    pub pointers: Vec<PointerV01>,
    /// 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub confidence: f64,
    /// How long it holds.
    pub ttl: Ttl,
    /// Who may see it.
    pub scope: Scope,
    /// Free labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "schema",
        schemars(length(max = 12), inner(length(max = 40)))
    )]
    pub tags: Vec<String>,
    /// Recall keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "schema",
        schemars(length(max = 32), inner(length(max = 80)))
    )]
    pub hash_keys: Vec<String>,
    /// Pointer to an embedding, as `MODEL@VERSION/ID`; the first family only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_ref: Option<String>,
    /// Who made it, when, from what.
    pub provenance: ProvenanceV01,
}

/// Who made an engram, when, from what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProvenanceV01 {
    /// When it was made.
    pub created_at: jiff::Timestamp,
    /// The agent that made it.
    pub created_by: String,
    /// What it was made from.
    pub source: Source,
}

/// A pointer in its v0.1 object form (docs/design.md#the-published-forms).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PointerV01 {
    /// The kind of address.
    #[serde(rename = "type")]
    pub kind: PointerType,
    /// The address; the leading `TYPE:` may be left out.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "schema", schemars(length(max = 300)))]
    pub reference: String,
    /// Lines such as `L10-L20`, or a section, where `ref` names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = 80)))]
    pub span: Option<String>,
    /// Hash of what the pointer addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl From<Pointer> for PointerV01 {
    fn from(pointer: Pointer) -> Self {
        Self {
            kind: pointer.kind(),
            reference: pointer.to_string(),
            span: None,
            digest: pointer.digest,
        }
    }
}

impl TryFrom<PointerV01> for Pointer {
    type Error = Refusal;

    fn try_from(wire: PointerV01) -> Result<Self, Refusal> {
        let kind = wire.kind.as_str();
        let address = match wire.reference.split_once(':') {
            Some((prefix, _)) if prefix == kind => wire.reference,
            // The kind of an event may be any word, even `test`.
            Some((prefix, _)) if wire.kind != PointerType::Sam && is_type(prefix) => {
                return Err(Refusal::new(
                    Code::PointerInvalid,
                    format!("type {kind:?} contradicts a ref that begins with \"{prefix}:\""),
                    "Give the type once, in `type` or in `ref`, or make both the same.",
                ));
            }
            _ => format!("{kind}:{}", wire.reference),
        };
        let mut pointer: Pointer = address.parse()?;
        if let Some(span) = wire.span {
            apply_span(&mut pointer.target, &span)?;
        }
        pointer.with_digest(wire.digest)
    }
}

fn is_type(word: &str) -> bool {
    PointerType::ALL.iter().any(|it| it.as_str() == word)
}

/// Moves the separate `span` of the object form into the address.
fn apply_span(target: &mut Target, span: &str) -> Result<(), Refusal> {
    let clash = |what: &str| {
        Err(Refusal::new(
            Code::PointerInvalid,
            format!("span {:?} {what}", shorten(span, 80)),
            "Give the span once: in the address after #, or in `span`.",
        ))
    };
    match target {
        Target::Repo { lines, .. } | Target::Diff { lines, .. } => {
            let given = span.parse()?;
            match lines.replace(given) {
                Some(before) if before != given => clash("differs from the span in `ref`"),
                _ => Ok(()),
            }
        }
        Target::Artifact { section, .. } => {
            let given = span.strip_prefix("sec=").unwrap_or(span).to_owned();
            if given.trim().is_empty() || given.contains(char::is_control) {
                return clash("is not the heading of a section");
            }
            match section.replace(given.clone()) {
                Some(before) if before != given => clash("differs from the section in `ref`"),
                _ => Ok(()),
            }
        }
        _ => clash("does not apply to this type of pointer"),
    }
}

impl From<&Engram> for EngramV01 {
    fn from(engram: &Engram) -> Self {
        Self {
            id: engram.id.to_string(),
            kind: engram.kind,
            claim: engram.claim.clone(),
            pointers: engram.pointers.iter().cloned().map(Into::into).collect(),
            confidence: engram.confidence,
            ttl: engram.ttl.clone().unwrap_or_else(Ttl::forever),
            scope: engram.scope,
            tags: engram.tags.clone(),
            hash_keys: engram.hash_keys.clone(),
            embedding_ref: engram.embedding_ref.clone(),
            provenance: ProvenanceV01 {
                created_at: engram.provenance.created_at,
                created_by: engram.provenance.created_by.clone(),
                source: engram.provenance.source,
            },
        }
    }
}
