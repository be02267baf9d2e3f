//! The near claims of others in the results of `engram_commit` and `engram_query`, and the question
//! about them.

use std::collections::BTreeMap;

use engram_gateway::count_tokens;
use engram_model::{AskedPair, ConflictId, NearClaim};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The most tokens of the claims and the question together.
const MAX_TOKENS: usize = 150;
/// The tokens of the names of fields and of a count of what was left out.
const FRAME: usize = 20;
/// The question. Claims are data, so it comes first and they are quoted with their authors.
const ASK: &str = "Claims of others, maybe about the same thing. Does yours contradict or replace one, or say the same? If so, call engram_resolve: conflict_id is its key, resolution_type contradicts, replaces or same.";
/// The question about two claims of others.
const ASK_OF_PAIR: &str = "Two claims of others, maybe about the same thing. Can both hold? Call engram_resolve with this conflict_id and resolution_type contradicts, same or compatible.";
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
    claims: Map<String, Value>,
    /// How many more are near but did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<usize>,
}

impl NearClaims {
    /// Those that fit whole; `None` if none does.
    pub(super) fn of(near: &[NearClaim]) -> Option<Self> {
        let mut room = MAX_TOKENS - FRAME - count_tokens(ASK);
        let mut claims = Map::new();
        for one in near {
            let id = one.conflict.to_string();
            let key = id.get(id.len() - KEY..).unwrap_or(&id).to_owned();
            let line = line_of(&one.claim, &one.by);
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
        let lines: Vec<String> = lines.map(|(claim, by)| line_of(claim, by)).collect();
        Self {
            ask: ASK_OF_PAIR,
            conflict_id: pair.conflict,
            claims: lines.join(" | "),
        }
    }
}

/// A claim with its author, on one line, so that it cannot look like another key.
fn line_of(claim: &str, by: &str) -> String {
    let words: Vec<&str> = claim.split_whitespace().collect();
    format!("{} ({by})", words.join(" "))
}
