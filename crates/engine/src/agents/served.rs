//! Records what agents were shown: counts, and fingerprints that are stored with the next write. A
//! claim that only repeats what its author was shown is an echo (docs/design.md#echoes).

use crate::context::Context;
use engram_gateway::{fingerprints, is_own_evidence, read_print, shown_print};
use engram_model::{
    AgentId, Conflict, ConflictId, Durability, Engram, EngramId, Finding, NearClaim, Pointer,
    Refusal, operation::Served,
};
use engram_store::{Fingerprints, Reader};

/// The most bytes of a text that are fingerprinted.
const MAX_BYTES: usize = 65_536;

/// Records that the calling agent was shown these claims, except its own. Nothing is recorded for
/// the user.
pub(crate) fn note_shown<'s>(
    cx: &Context<'_>,
    engrams: impl IntoIterator<Item = &'s Engram>,
) -> Result<(), Refusal> {
    note_engrams(cx, engrams, &[])
}

/// Like [`note_shown`], for claims that a query found. Each also counts towards becoming durable.
pub(crate) fn note_found(cx: &Context<'_>, engrams: &[Engram]) -> Result<(), Refusal> {
    note_engrams(cx, engrams, engrams)
}

fn note_engrams<'s>(
    cx: &Context<'_>,
    engrams: impl IntoIterator<Item = &'s Engram>,
    found: &[Engram],
) -> Result<(), Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(());
    };
    let others = engrams
        .into_iter()
        .filter(|it| it.agent.as_ref() != Some(&agent.handle));
    let prints = others
        .flat_map(|it| prints_of_shown(&it.claim, it.pointers.iter().map(Pointer::to_string)));
    let counted = found.iter().filter(|it| counts_as_hit(it, &agent.handle));
    cx.engine.caches.served.add(Served {
        to: agent.handle.clone(),
        run: agent.run,
        prints: prints.collect(),
        engrams: counted.map(|it| (it.id, 1)).collect(),
    });
    Ok(())
}

/// Records that the calling agent was shown the claims that its own claim contradicts.
pub(crate) fn note_findings(cx: &Context<'_>, findings: &[Finding]) -> Result<(), Refusal> {
    let claims = findings.iter().filter_map(|it| it.claim.as_deref());
    let prints: Vec<u64> = claims.flat_map(|it| prints_of_shown(it, None)).collect();
    if let Some(agent) = cx.agent()?.filter(|_| !prints.is_empty()) {
        cx.engine
            .caches
            .served
            .add(Served::of_unasked(agent, prints));
    }
    Ok(())
}

/// Records that the calling agent was shown both sides of these conflicts.
pub(crate) fn note_sides(cx: &Context<'_>, conflicts: &[Conflict]) -> Result<(), Refusal> {
    if cx.agent()?.is_none() {
        return Ok(());
    }
    note_ids(cx, conflicts.iter().flat_map(|it| [it.a.id, it.b.id]))
}

/// Records that the calling agent was shown these claims of others.
pub(crate) fn note_near(cx: &Context<'_>, near: &[NearClaim]) -> Result<(), Refusal> {
    if cx.agent()?.is_none() || near.is_empty() {
        return Ok(());
    }
    note_ids(cx, near.iter().map(|it| it.id))
}

/// Records that the calling agent was asked about these two claims.
pub(crate) fn note_asked(
    cx: &Context<'_>,
    pair: ConflictId,
    claims: &[Engram; 2],
) -> Result<(), Refusal> {
    note_shown(cx, claims)?;
    if let Some(agent) = cx.agent()? {
        let prints = vec![asked_print(pair)];
        cx.engine
            .caches
            .served
            .add(Served::of_unasked(agent, prints));
    }
    Ok(())
}

/// Whether the calling agent was asked about this pair.
pub(crate) fn was_asked(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    pair: ConflictId,
) -> Result<bool, Refusal> {
    let memory = memory_of_caller(cx, tx)?;
    Ok(memory.is_some_and(|it| it.contains(asked_print(pair))))
}

/// The fingerprint of a question. No pointer begins like this.
fn asked_print(pair: ConflictId) -> u64 {
    shown_print(&format!("conflict:{pair}"))
}

fn note_ids(cx: &Context<'_>, shown: impl Iterator<Item = EngramId>) -> Result<(), Refusal> {
    let engrams = cx.engine.store.read::<_, Refusal>(|tx| {
        let found = shown.filter_map(|id| tx.engram(id).transpose());
        Ok(found.collect::<Result<Vec<_>, _>>()?)
    })?;
    note_shown(cx, &engrams)
}

/// Refuses a claim of the calling agent that only repeats what it was shown.
pub(crate) fn refuse_echo(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    claim: &str,
    evidence: impl IntoIterator<Item = String>,
) -> Result<(), Refusal> {
    let Some(memory) = memory_of_caller(cx, tx)? else {
        return Ok(());
    };
    let is_served = |print| memory.contains(print);
    let has_own = evidence
        .into_iter()
        .any(|it| is_own_evidence(&it, is_served));
    engram_gateway::refuse_echo(claim, has_own, is_served)
}

/// Whether the calling agent was shown this claim.
pub(crate) fn was_shown(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
) -> Result<bool, Refusal> {
    let memory = memory_of_caller(cx, tx)?;
    let prints = fingerprints(beginning_of(&engram.claim));
    let knows = |it: Memory| !prints.is_empty() && prints.iter().all(|print| it.contains(*print));
    Ok(memory.is_some_and(knows))
}

fn memory_of_caller(cx: &Context<'_>, tx: &Reader<'_>) -> Result<Option<Memory>, Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(None);
    };
    let memory = Memory {
        stored: tx.fingerprints_of(&agent.handle)?,
        waiting: cx.engine.caches.served.prints(&agent.handle),
    };
    Ok((!memory.stored.is_empty() || !memory.waiting.is_empty()).then_some(memory))
}

/// What one agent was shown.
struct Memory {
    stored: Vec<Fingerprints>,
    /// The fingerprints that no write has stored yet, sorted.
    waiting: Vec<u64>,
}

impl Memory {
    fn contains(&self, print: u64) -> bool {
        self.waiting.binary_search(&print).is_ok()
            || self.stored.iter().any(|it| it.contains(print))
    }
}

/// The fingerprints of a shown text and of its evidence.
pub(crate) fn prints_of_shown(words: &str, evidence: impl IntoIterator<Item = String>) -> Vec<u64> {
    let mut prints = fingerprints(beginning_of(words));
    prints.extend(evidence.into_iter().map(|it| shown_print(&it)));
    prints
}

/// The fingerprints of what an agent read at an address.
pub(crate) fn prints_of_read(excerpt: &str, address: &str) -> Vec<u64> {
    let mut prints = fingerprints(beginning_of(excerpt));
    prints.push(read_print(address));
    prints
}

fn beginning_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

/// Whether returning this engram to this agent counts. An ephemeral engram counts only if another
/// agent made it.
pub(crate) fn counts_as_hit(engram: &Engram, asks: &AgentId) -> bool {
    engram.durability == Durability::Durable || engram.agent.as_ref() != Some(asks)
}
