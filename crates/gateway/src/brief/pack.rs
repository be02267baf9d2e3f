//! A pack of pointers for each role: what to read first, according to its template.

use engram_model::{BriefLine, BriefPart, Evidence, Pointer, Scope, is_on_topic};

use super::{BriefCandidate, BriefRole, quote, text_line};
use crate::{same_role, template};

/// The most pointers of one pack, and the most packs of one brief.
const POINTERS: usize = 3;
const PACKS: usize = 8;
/// The longest address in a line, in characters.
const ADDRESS: usize = 300;
/// The digits shown of a commit id; git accepts an abbreviated id.
const COMMIT: usize = 12;

/// Returns one line for each role, in alphabetical order; the claims come best first.
pub(super) fn pack_lines(claims: &[&BriefCandidate], roles: &[BriefRole]) -> Vec<BriefLine> {
    let mut roles: Vec<&BriefRole> = roles.iter().collect();
    roles.sort_by_cached_key(|it| {
        (
            it.role.trim().to_lowercase(),
            it.reads.clone(),
            it.role.clone(),
        )
    });
    roles.dedup_by(|one, other| same_role(&one.role, &other.role) && one.reads == other.reads);
    let lines = roles.into_iter().filter_map(|role| pack_line(claims, role));
    lines.take(PACKS).collect()
}

fn pack_line(claims: &[&BriefCandidate], role: &BriefRole) -> Option<BriefLine> {
    let kinds = template(&role.role).map(|it| it.reads).unwrap_or_default();
    let place = |it: &&BriefCandidate| {
        kinds
            .iter()
            .position(|kind| *kind == it.kind)
            .unwrap_or(kinds.len())
    };
    let mut readable: Vec<&BriefCandidate> = claims
        .iter()
        .copied()
        .filter(|it| it.verified && it.scope <= Scope::Project)
        .filter(|it| it.evidence != Some(Evidence::EvidenceGone))
        .filter(|it| {
            it.topic.is_empty()
                || role.reads.is_empty()
                || role.reads.iter().any(|topic| is_on_topic(&it.topic, topic))
        })
        .collect();
    // The sort is stable: within a kind, the best stay first.
    readable.sort_by_key(place);
    let mut pointers: Vec<String> = Vec::new();
    for pointer in readable.iter().filter_map(|it| it.pointers.first()) {
        if pointers.len() < POINTERS && !pointers.contains(pointer) {
            pointers.push(pointer.clone());
        }
    }
    let shown: Vec<String> = pointers.iter().map(|it| short_address(it)).collect();
    let text = format!(
        "pointers for {}: {}",
        quote::quoted_name(&role.role),
        shown.join(" ")
    );
    (!pointers.is_empty()).then(|| BriefLine {
        pointers,
        role: Some(role.role.clone()),
        ..text_line(text, BriefPart::Pointer)
    })
}

/// Abbreviates the commit id of an address, so that it stays readable.
pub(super) fn short_address(pointer: &str) -> String {
    let mut text = quote::one_line(pointer, ADDRESS).replace(' ', "%20");
    if let Ok(parsed) = pointer.parse::<Pointer>() {
        for commit in parsed.commits() {
            let is_full = commit.len() >= 40 && commit.bytes().all(|it| it.is_ascii_hexdigit());
            if let Some(digits) = commit.get(..COMMIT).filter(|_| is_full) {
                text = text.replace(commit, digits);
            }
        }
    }
    text
}
