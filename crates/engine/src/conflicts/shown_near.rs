//! What a reply has room for of the near claims of others, so that who was not shown a claim is not
//! taken for one that left it unanswered.

use engram_gateway::count_tokens;
use engram_model::NearClaim;

/// The question. Claims are data, so it comes first and they are quoted with their authors.
pub const NEAR_QUESTION: &str = "Claims of others, maybe about the same thing. Does yours contradict or replace one, or say the same? If so, call engram_resolve: conflict_id is its key, resolution_type contradicts, replaces or same.";
/// The characters of a claim's key: the last ones of the conflict's id.
pub const NEAR_KEY: usize = 4;
/// The most tokens of the claims and the question together.
const MAX_TOKENS: usize = 150;
/// The tokens of the names of fields and of a count of what was left out.
const FRAME: usize = 20;
/// The tokens of a key at most, with its punctuation.
const KEY_TOKENS: usize = 2 * NEAR_KEY;

/// The key under which a reply shows a near claim.
pub fn near_key(near: &NearClaim) -> String {
    let id = near.conflict.to_string();
    id.get(id.len() - NEAR_KEY..).unwrap_or(&id).to_owned()
}

/// A claim with its author, on one line, so that it cannot look like another key.
pub fn near_line(claim: &str, by: &str) -> String {
    let words: Vec<&str> = claim.split_whitespace().collect();
    format!("{} ({by})", words.join(" "))
}

/// Which of these claims are shown whole.
pub fn claims_that_fit(near: &[NearClaim]) -> Vec<bool> {
    let mut room = MAX_TOKENS - FRAME - count_tokens(NEAR_QUESTION);
    let mut keys: Vec<String> = Vec::new();
    let mut fits = |one: &NearClaim| {
        let (key, line) = (near_key(one), near_line(&one.claim, &one.by));
        let cost = count_tokens(&line) + KEY_TOKENS;
        let fits = cost <= room && !keys.contains(&key);
        if fits {
            room -= cost;
            keys.push(key);
        }
        fits
    };
    near.iter().map(&mut fits).collect()
}
