//! Dereference: fetch what a pointer addresses, inside the budget, and journal that it was read.

use engram_consistency::{Masked, mask, mask_diff, mask_span};
use engram_gateway::{admit, budget, charge, fit};
use engram_model::{
    Budget, Code, Deref, Dereferenced, Operation, Pointer, PointerType, ProjectId, Refusal,
    operation::{Agent, Read, Snapshot},
};
use engram_pointers::{AROUND, Resolved, resolve};
use engram_store::Reader;

use crate::{
    context::Context,
    decide::{Plan, Planned},
    evidence::screen_snapshot,
};

/// Most tokens of an excerpt for unmetered readers; a gigabyte is not an excerpt.
const UNMETERED: u32 = 200_000;
/// No token is longer, in characters.
const TOKEN_CHARS: usize = 128;

impl Context<'_> {
    pub(crate) fn fetch(&self, ask: Deref) -> Result<Dereferenced, Refusal> {
        if ask.budget_token.is_some() {
            return Err(Refusal::new(
                Code::DerefDenied,
                "this home issued no such grant",
                "Omit budget_token to read within this turn's budget.",
            ));
        }
        let pointer = Pointer::try_from(ask.pointer)?;
        let repo = self.repo_for(&pointer)?;
        self.in_turn(ask.turn)?;
        let payer = self.agent()?;
        let left = self.admit_deref(payer, pointer.kind())?;
        let ground = self.ground(false)?;
        let shelf = self.shelf(Some(ground.project));
        let resolved = resolve(repo, &shelf, &pointer)?;
        resolved.refuse_binary()?;
        if let Some(snapshot) = &resolved.snapshot {
            screen_snapshot(snapshot)?;
        }
        let now = repo.and_then(|repo| self.became(repo, &shelf, &pointer, &resolved));
        let reply = Dereferenced {
            now,
            ..excerpt(&resolved, payer.is_some(), left, ask.max_tokens)
        };
        let by = self.speaker(None)?;
        let (budget, _) = self.decide(&ground, |it, _| {
            let (read, budget) = self.spend(it, payer, pointer.kind(), &reply)?;
            let mut entries = kept(it, ground.project, resolved.snapshot.as_ref())?;
            entries.push(Operation::Dereferenced(read));
            let planned = entries.into_iter().map(|operation| Planned {
                operation,
                by: by.clone(),
                shareable: false,
            });
            Ok(Plan {
                entries: planned.collect(),
                answer: budget,
            })
        })?;
        Ok(Dereferenced { budget, ..reply })
    }

    /// Tokens left for this dereference; none for the user, who is not metered.
    fn admit_deref(
        &self,
        payer: Option<&Agent>,
        kind: PointerType,
    ) -> Result<Option<u32>, Refusal> {
        let Some(agent) = payer else {
            return Ok(None);
        };
        let store = &self.engine.store;
        let spent = store.read::<_, Refusal>(|it| Ok(it.spend(&agent.handle, &agent.turn)?))?;
        admit(&self.engine.config.limits.deref, &spent, kind).map(Some)
    }

    /// Decides on what the store says, since others of the same agent may have spent meanwhile.
    fn spend(
        &self,
        it: &Reader<'_>,
        payer: Option<&Agent>,
        kind: PointerType,
        reply: &Dereferenced,
    ) -> Result<(Read, Option<Budget>), Refusal> {
        let read = Read {
            // A path can be a credential, too.
            pointer: mask(&reply.pointer).text,
            digest: reply.content_digest.clone(),
            tokens: reply.tokens,
            turn: None,
            spent: None,
        };
        let Some(agent) = payer else {
            return Ok((read, None));
        };
        let limits = &self.engine.config.limits.deref;
        let spent = it.spend(&agent.handle, &agent.turn)?;
        if admit(limits, &spent, kind)? < reply.tokens {
            return Err(Refusal::new(
                Code::DerefDenied,
                "another call has just spent this turn's tokens",
                "Try again with a smaller max_tokens, or in the next turn.",
            ));
        }
        let after = charge(spent, kind, reply.tokens);
        let read = Read {
            turn: Some(agent.turn.clone()),
            spent: Some(after),
            ..read
        };
        Ok((read, Some(budget(limits, &after, &agent.turn))))
    }
}

/// What was read of a working tree is kept with the reading.
fn kept(
    it: &Reader<'_>,
    project: ProjectId,
    snapshot: Option<&Snapshot>,
) -> Result<Vec<Operation>, Refusal> {
    Ok(match snapshot {
        Some(it_was) if !it.has_snapshot(project, &it_was.digest_hex, &it_was.path)? => {
            vec![Operation::Kept(it_was.clone())]
        }
        _ => Vec::new(),
    })
}

/// What is shown. An agent is shown no credential: the digest stays that of the bytes that were pinned.
fn excerpt(
    resolved: &Resolved,
    is_masked: bool,
    left: Option<u32>,
    max_tokens: Option<u32>,
) -> Dereferenced {
    let most = max_tokens
        .unwrap_or(UNMETERED)
        .min(left.unwrap_or(UNMETERED));
    // One character more than can fit, so that `fit` sees whether something was left out.
    let chars = most as usize * TOKEN_CHARS + 1;
    let shown = match is_masked {
        true => without_secrets(resolved, chars),
        false => Masked {
            text: resolved.text_up_to(chars),
            masked: 0,
        },
    };
    let fitted = fit(&shown.text, most);
    Dereferenced {
        pointer: resolved.pointer.to_string(),
        excerpt: fitted.text,
        content_digest: resolved.pointer.digest.clone().unwrap_or_default(),
        tokens: fitted.tokens,
        truncated: fitted.truncated,
        masked: u32::try_from(shown.masked).ok().filter(|it| *it > 0),
        now: None,
        budget: None,
    }
}

/// The beginning of the span, of at least so many characters where it has them, without the credentials
/// that lie in it or that it cuts.
fn without_secrets(resolved: &Resolved, chars: usize) -> Masked {
    /// Bytes of a character, in any encoding that is read.
    const LONGEST: usize = 4;
    let [before, after] = &resolved.around;
    let length = resolved.bytes.len().min(chars.saturating_mul(LONGEST));
    let (shown, rest) = resolved.bytes.split_at(length);
    let rest = &rest[..rest.len().min(AROUND)];
    let file = [before, shown, rest, after].concat();
    let span = before.len()..before.len() + length;
    let shown = mask_span(&file, span, |part| resolved.encoding.decode(part));
    mask_diff(shown, &resolved.compared)
}
