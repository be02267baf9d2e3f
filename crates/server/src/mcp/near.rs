//! The near claims of others in the results of `engram_commit` and `engram_query`, and the question
//! about them.

use std::collections::BTreeMap;

use engram_engine::{NEAR_QUESTION, claims_that_fit, near_key, near_line};
use engram_model::{AskedPair, ConflictId, NearClaim};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The question about two claims of others.
const ASK_OF_PAIR: &str = "Two claims of others, maybe about the same thing. Can both hold? Call engram_resolve with this conflict_id and resolution_type contradicts, same or compatible.";

/// Near claims, each under the key with which its reader answers for it.
#[derive(Serialize, JsonSchema)]
pub(super) struct NearClaims {
    ask: &'static str,
    /// `KEY: claim (author)`, nearest first.
    #[schemars(with = "BTreeMap<String, String>")]
    claims: Map<String, Value>,
    /// How many more are near but did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<usize>,
}

impl NearClaims {
    /// Those that fit whole; `None` if none does.
    pub(super) fn of(near: &[NearClaim]) -> Option<Self> {
        let fitting = near.iter().zip(claims_that_fit(near)).filter(|it| it.1);
        let claims: Map<String, Value> = fitting
            .map(|(one, _)| (near_key(one), near_line(&one.claim, &one.by).into()))
            .collect();
        let omitted = near.len() - claims.len();
        (!claims.is_empty()).then(|| Self {
            ask: NEAR_QUESTION,
            claims,
            omitted: Some(omitted).filter(|it| *it > 0),
        })
    }
}

/// The two claims that a query asks about. The engine chooses only claims that fit.
#[derive(Serialize, JsonSchema)]
pub(super) struct NearPair {
    ask: &'static str,
    conflict_id: ConflictId,
    /// `claim (author) | claim (author)`
    claims: String,
}

impl From<AskedPair> for NearPair {
    fn from(pair: AskedPair) -> Self {
        let lines = pair.claims.iter().zip(&pair.by);
        let lines: Vec<String> = lines.map(|(claim, by)| near_line(claim, by)).collect();
        Self {
            ask: ASK_OF_PAIR,
            conflict_id: pair.conflict,
            claims: lines.join(" | "),
        }
    }
}
