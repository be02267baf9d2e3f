//! Who may settle what: what a verdict of this judge ends, and what it counts for.

use engram_model::{AgentId, Caller, Code, ConflictId, ConflictStatus, Engram, Refusal};
use engram_store::{Pair, Reader, side};
use jiff::Timestamp;

use crate::{
    agents::kin_of,
    conflicts::{Shown, shown},
    context::Context,
    decide::Planned,
    eyes::Eyes,
    findings::ENGINE,
};

impl Context<'_> {
    /// The agent that gave a verdict could have ended each of these: so its dismissal counts for them.
    pub(crate) fn is_dismissed_for_all<'a>(
        &self,
        tx: &Reader<'_>,
        pair: &Pair,
        engrams: impl IntoIterator<Item = &'a Engram>,
    ) -> Result<bool, Refusal> {
        let deed = pair.verdict.map_or(Ok(None), |seq| tx.deed(seq))?;
        let Some(handle) = deed.and_then(|deed| deed.agent) else {
            return Ok(true);
        };
        let Some(judge) = tx.agent(&handle)?.map(kin_of) else {
            return Ok(false);
        };
        let eyes = Eyes::Agent {
            project: pair.project,
            kin: judge.clone(),
        };
        let caller = Caller::Agent(handle);
        let scopes = &self.engine.config.scopes;
        for engram in engrams {
            let owner = owner(tx, engram)?;
            let is_reached = eyes.may_see(engram)
                && engram_gateway::may_close(&caller, engram.scope, owner, scopes).is_ok()
                && engram_gateway::may_write_topic(&judge, &engram.topic).is_ok();
            if !is_reached {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the caller's verdict may end a version.
    pub(crate) fn may_judge(&self, tx: &Reader<'_>, engram: &Engram) -> Result<(), Refusal> {
        let scopes = &self.engine.config.scopes;
        engram_gateway::may_close(self.caller, engram.scope, owner(tx, engram)?, scopes)?;
        self.may_write_topic(&engram.topic)
    }

    /// The user says what an agent said: conflicts with it that agents dismissed are open again.
    pub(crate) fn reopened(
        &self,
        tx: &Reader<'_>,
        same: &Engram,
        now: Timestamp,
    ) -> Result<(Vec<ConflictId>, Vec<Planned>), Refusal> {
        let (mut ids, mut entries) = (Vec::new(), Vec::new());
        let clock = self.engine.world.now();
        for pair in tx.conflicts_of(same.project, &side(&same.topic, &same.claim))? {
            let verdict = pair
                .verdict
                .filter(|_| pair.status == ConflictStatus::Dismissed);
            let deed = verdict.map_or(Ok(None), |seq| tx.deed(seq))?;
            if deed.is_none_or(|deed| deed.agent.is_none()) {
                continue;
            }
            let Some(Shown { pair, voices, .. }) = shown(tx, pair, &Eyes::All, clock)? else {
                continue;
            };
            if let Some(known) = tx.contradiction(pair.last)?
                && voices.iter().all(|voice| voice.holds_now(clock))
            {
                ids.push(pair.id);
                entries.extend(self.found_again(&pair, known, voices, now));
            }
        }
        Ok((ids, entries))
    }

    /// An agent neither replaces nor undoes what a person decided.
    pub(crate) fn may_change(&self, it: &Reader<'_>, seq: u64) -> Result<(), Refusal> {
        match self.agent()?.is_some() && is_persons(it, seq)? {
            true => Err(Refusal::new(
                Code::ScopeDenied,
                "an agent may not change the user's verdict",
                "Commit your finding with its evidence; the user sees it and decides.",
            )),
            false => Ok(()),
        }
    }
}

/// The agent whose a version is; none is the user, who may have repeated what an agent said.
fn owner<'a>(tx: &Reader<'_>, engram: &'a Engram) -> Result<Option<&'a AgentId>, Refusal> {
    let is_users = tx.is_users_too(engram.id)?;
    Ok(engram.agent.as_ref().filter(|_| !is_users))
}

/// Whether an agent's verdict stands for that agent alone: in the same moment, Engram found the conflict again by
/// what the agent could not see.
pub(crate) fn is_left_over(tx: &Reader<'_>, found: &Shown) -> Result<bool, Refusal> {
    let pair = &found.pair;
    let is_again = pair.ruled.is_some() && pair.verdict.is_some_and(|seq| seq < pair.last);
    Ok(is_again && tx.deed(pair.last)?.is_some_and(|deed| deed.by == ENGINE))
}

/// Whether a person made this entry.
pub(crate) fn is_persons(it: &Reader<'_>, seq: u64) -> Result<bool, Refusal> {
    Ok(it.deed(seq)?.is_some_and(|it| it.agent.is_none()))
}
