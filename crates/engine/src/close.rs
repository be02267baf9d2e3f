//! Forget closes a window; redact erases text for good. Both are entries like any other.

use engram_model::{
    Code, Engram, EngramId, ForgetReply, OWN_EVENT, Operation, Refusal, Scope, Target,
    operation::Redaction,
};
use engram_store::{Index, Reader};

use crate::{
    context::{Context, Ground},
    decide::{Plan, Planned},
};

impl Context<'_> {
    pub(crate) fn forget_claim(&self, id: EngramId) -> Result<ForgetReply, Refusal> {
        let engram = self.find(id)?;
        self.close_window(&engram)
    }

    /// Closes the window of a version that the caller may see.
    pub(crate) fn close_window(&self, engram: &Engram) -> Result<ForgetReply, Refusal> {
        engram_gateway::may_write(self.caller, engram.scope)?;
        let id = engram.id;
        self.record_of(engram, |it| match it.engram(id)? {
            Some(now) if now.valid_until.is_none() => Ok(Operation::Forgotten(id)),
            _ => Err(Refusal::new(
                Code::NotFound,
                format!("engram {id} no longer holds"),
                "Its window is closed already; nothing was changed.",
            )),
        })
    }

    /// Erases the claim's words in every version that carries them, from the database, from the
    /// write-ahead log and, by its follower, from the index.
    pub(crate) fn erase_claim(&self, id: EngramId) -> Result<ForgetReply, Refusal> {
        let engram = self.find(id)?;
        let reply = self.record_of(&engram, |it| {
            Ok(Operation::Redacted(redaction(it, &engram)?))
        })?;
        let engine = self.engine;
        engine.store.checkpoint()?;
        if engine.catch_up_to(reply.seq).is_err() {
            // Words that cannot be taken out of the index go with it; it is built anew without them.
            Index::delete(engine.store.home())?;
        }
        Ok(reply)
    }

    /// Records one operation about a version, in the version's own project.
    fn record_of(
        &self,
        engram: &Engram,
        plan: impl Fn(&Reader<'_>) -> Result<Operation, Refusal>,
    ) -> Result<ForgetReply, Refusal> {
        let ground = Ground {
            project: engram.project,
            located: None,
        };
        let by = self.speaker(None)?;
        let (_, seq) = self.decide(&ground, |it, _| {
            Ok(Plan {
                entries: vec![Planned {
                    operation: plan(it)?,
                    by: by.clone(),
                    shareable: engram.scope != Scope::Run,
                }],
                answer: (),
            })
        })?;
        Ok(ForgetReply {
            id: engram.id,
            seq: seq.unwrap_or_default(),
        })
    }
}

/// Every version that carries these words, and every event that repeats them: one with the same
/// text, or the event of saying so of a claim that came without evidence.
fn redaction(it: &Reader<'_>, engram: &Engram) -> Result<Redaction, Refusal> {
    let versions = it.versions_saying(engram.project, &engram.content_hash)?;
    let hash = &engram.content_hash;
    let digest = hash.strip_prefix("sha256:").unwrap_or(hash);
    let mut events = it.events_saying(engram.project, digest)?;
    for pointer in versions.iter().flat_map(|it| &it.pointers) {
        if let Target::Sam { kind, slug, date } = &pointer.target
            && kind == OWN_EVENT
        {
            events.extend(it.events_at(engram.project, kind, slug, *date)?);
        }
    }
    events.sort_unstable();
    events.dedup();
    Ok(Redaction {
        id: Some(engram.id),
        content_hash: hash.clone(),
        ids: versions.iter().map(|it| it.id).collect(),
        seqs: versions.iter().map(|it| it.seq).collect(),
        events,
    })
}
