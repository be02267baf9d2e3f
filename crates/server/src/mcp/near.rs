//! The near claims of others in the result of `engram_commit`, and the question about them.

use std::collections::BTreeMap;

use engram_gateway::count_tokens;
use engram_model::NearClaim;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The most tokens of the claims and the question together.
const MAX_TOKENS: usize = 150;
/// The tokens of the names of fields and of a count of what was left out.
const FRAME: usize = 20;
/// The question. Claims are data, so it comes first and they are quoted with their authors.
const ASK: &str = "Claims of others, maybe about the same thing. Does yours contradict or replace one, or say the same? If so, call engram_resolve: conflict_id is its key, resolution_type contradicts, replaces or same.";
/// A key is this many characters of a conflict's id, its last ones.
const KEY: usize = 4;
/// The tokens of a key at most, with its punctuation.
const KEY_TOKENS: usize = 2 * KEY;

/// Near claims, each under the key with which its reader answers for it.
#[derive(Serialize, JsonSchema)]
pub(super) struct NearClaims {
    ask: &'static str,
    /// `KEY: claim (author)`, nearest first.
    #[schemars(with = "BTreeMap<String, String>")]
    claims: serde_json::Map<String, Value>,
    /// How many more are near but did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<usize>,
}

impl NearClaims {
    /// Those that fit whole; `None` if none does.
    pub(super) fn of(near: &[NearClaim]) -> Option<Self> {
        let mut room = MAX_TOKENS - FRAME - count_tokens(ASK);
        let mut claims = serde_json::Map::new();
        for one in near {
            let id = one.conflict.to_string();
            let key = id.get(id.len() - KEY..).unwrap_or(&id).to_owned();
            // On one line, so that a claim cannot look like another key.
            let words: Vec<&str> = one.claim.split_whitespace().collect();
            let line = format!("{} ({})", words.join(" "), one.by);
            let cost = count_tokens(&line) + KEY_TOKENS;
            if cost <= room && !claims.contains_key(&key) {
                room -= cost;
                claims.insert(key, line.into());
            }
        }
        let omitted = near.len() - claims.len();
        (!claims.is_empty()).then(|| Self {
            ask: ASK,
            claims,
            omitted: Some(omitted).filter(|it| *it > 0),
        })
    }
}
