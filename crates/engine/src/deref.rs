//! Dereference: fetch what a pointer addresses, inside the budget, and journal that it was read.

use engram_gateway::{admit, budget, charge, fit};
use engram_model::{
    Caller, ChangeKind, Code, Deref, Dereferenced, Pointer, PointerType, Refusal, Target,
};
use engram_pointers::{Resolved, resolve};
use engram_store::{Agent, NewEntry, Writer};
use serde_json::json;

use crate::{
    Engine, HomeShelf,
    agents::{row_of, spend_of},
    project,
    put::{keep_snapshot, screen_snapshot, spoken_by},
};

/// Most tokens of an excerpt for who is not metered; a file of a gigabyte is no excerpt.
const UNMETERED: u32 = 200_000;
/// No token is longer, in characters.
const TOKEN_CHARS: usize = 128;

impl Engine {
    pub(crate) fn deref(&self, caller: &Caller, ask: Deref) -> Result<Dereferenced, Refusal> {
        if ask.budget_token.is_some() {
            return Err(Refusal::new(
                Code::DerefDenied,
                "no such grant was issued in this home",
                "Leave budget_token out to read within the budget of this turn.",
            ));
        }
        let pointer = Pointer::try_from(ask.pointer)?;
        let repo = self.repo_for(&pointer)?;
        let project = project::find_or_mint(&self.store, &self.world, repo.as_ref(), false)?;
        let idle = self.config.limits.deref.turn_idle_seconds;
        let mut agent = self
            .agents
            .call(&self.store, &self.world, caller, project, idle)?;
        if let (Some(agent), Some(turn)) = (&mut agent, ask.turn) {
            agent.turn = turn;
        }
        let left = self.admit_deref(agent.as_ref(), pointer.kind())?;
        let shelf = HomeShelf {
            store: &self.store,
            project: Some(project),
            urls: self.config.urls,
        };
        let resolved = resolve(repo.as_ref(), &shelf, &pointer)?;
        resolved.refuse_binary()?;
        if let Some(snapshot) = &resolved.snapshot {
            screen_snapshot(snapshot)?;
        }
        let now = repo
            .as_ref()
            .and_then(|repo| self.became(repo, &shelf, &pointer, &resolved));
        let reply = Dereferenced {
            now,
            ..excerpt(&resolved, left, ask.max_tokens)
        };
        let budget = self.store.write::<_, Refusal>(self.world.now(), |it| {
            if let Some(snapshot) = &resolved.snapshot {
                keep_snapshot(it, snapshot)?;
            }
            self.flush_hits(it)?;
            it.append(&NewEntry {
                project,
                kind: ChangeKind::Dereferenced,
                shareable: false,
                agent: agent.as_ref().map(|agent| &agent.handle),
                by: &spoken_by(None, agent.as_ref()),
                subject: None,
                body: json!({
                    "pointer": reply.pointer,
                    "digest": reply.content_digest,
                    "tokens": reply.tokens,
                    "turn": agent.as_ref().map(|agent| &agent.turn),
                }),
            })?;
            self.spend(it, agent.as_ref(), pointer.kind(), &reply)
        })?;
        self.ring();
        Ok(Dereferenced { budget, ..reply })
    }

    /// Events and stored artifacts can be read where there is no repository, or it is gone.
    fn repo_for(&self, pointer: &Pointer) -> Result<Option<engram_pointers::Repo>, Refusal> {
        let needs = !matches!(pointer.target, Target::Sam { .. } | Target::Url { .. });
        match self.repo() {
            Err(error) if needs => Err(error),
            Err(_) => Ok(None),
            found => found,
        }
    }

    /// Tokens left for this dereference; none for the user, who is not metered.
    fn admit_deref(
        &self,
        agent: Option<&Agent>,
        kind: PointerType,
    ) -> Result<Option<u32>, Refusal> {
        let Some(agent) = agent else {
            return Ok(None);
        };
        let spent = self
            .store
            .read::<_, Refusal>(|it| Ok(it.spend(&agent.handle, &agent.turn)?))?;
        admit(&self.config.limits.deref, &spend_of(spent), kind).map(Some)
    }

    /// Decides again on what the store says now, since others of the same agent may have spent.
    fn spend(
        &self,
        it: &Writer<'_>,
        agent: Option<&Agent>,
        kind: PointerType,
        reply: &Dereferenced,
    ) -> Result<Option<engram_model::Budget>, Refusal> {
        let Some(agent) = agent else {
            return Ok(None);
        };
        let limits = &self.config.limits.deref;
        let spent = spend_of(it.spend(&agent.handle, &agent.turn)?);
        if admit(limits, &spent, kind)? < reply.tokens {
            return Err(Refusal::new(
                Code::DerefDenied,
                "another call spent this turn's tokens meanwhile",
                "Ask again with a smaller max_tokens, or in the next turn.",
            ));
        }
        let after = charge(spent, kind, reply.tokens);
        it.keep_agent(agent)?;
        it.keep_spend(&agent.handle, &agent.turn, &row_of(after))?;
        Ok(Some(budget(limits, &after, &agent.turn)))
    }
}

fn excerpt(resolved: &Resolved, left: Option<u32>, max_tokens: Option<u32>) -> Dereferenced {
    let most = max_tokens
        .unwrap_or(UNMETERED)
        .min(left.unwrap_or(UNMETERED));
    // One character more than can fit, so that `fit` sees whether something was left out.
    let text = resolved.text_up_to(most as usize * TOKEN_CHARS + 1);
    let fitted = fit(&text, most);
    Dereferenced {
        pointer: resolved.pointer.to_string(),
        excerpt: fitted.text,
        content_digest: resolved.pointer.digest.clone().unwrap_or_default(),
        tokens: fitted.tokens,
        truncated: fitted.truncated,
        now: None,
        budget: None,
    }
}
