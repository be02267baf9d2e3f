//! Forget closes a window; redact erases text for good. Both are entries like any other.

use engram_model::{
    Caller, ChangeKind, Code, Engram, EngramId, ForgetReply, OWN_EVENT, Refusal, Scope, Target,
};
use engram_store::{Index, NewEntry};
use serde_json::json;

use crate::{Engine, not_found, put::spoken_by};

impl Engine {
    pub(crate) fn forget(&self, caller: &Caller, id: EngramId) -> Result<ForgetReply, Refusal> {
        let engram = self.get(caller, id)?;
        engram_gateway::may_write(caller, engram.scope)?;
        if engram.valid_until.is_some() {
            return Err(Refusal::new(
                Code::NotFound,
                format!("engram {id} no longer holds"),
                "Its window is closed already; nothing was changed.",
            ));
        }
        let reply = self.store.write::<_, Refusal>(self.world.now(), |it| {
            if !it.close(id)? {
                return Err(not_found(id));
            }
            let seq = self.note_close(it, caller, &engram, ChangeKind::Forgotten, json!({}))?;
            Ok(ForgetReply { id, seq })
        })?;
        self.ring();
        Ok(reply)
    }

    /// Erases the claim's words in every version that carries them, from the database, from the
    /// write-ahead log and, by its follower, from the index.
    pub(crate) fn redact(&self, caller: &Caller, id: EngramId) -> Result<ForgetReply, Refusal> {
        if *caller != Caller::User {
            return Err(Refusal::new(
                Code::ScopeDenied,
                "only the user may erase text for good",
                "Retire the claim instead: engram_commit with operation delete.",
            ));
        }
        let engram = self.get(caller, id)?;
        let reply = self.store.write::<_, Refusal>(self.world.now(), |it| {
            let erased = it.erase(engram.project, &engram.content_hash)?;
            for (_, version) in &erased {
                it.close(*version)?;
                if let Some(version) = it.engram(*version)? {
                    erase_own_events(it, &version)?;
                }
            }
            let seqs: Vec<u64> = erased.iter().map(|(seq, _)| *seq).collect();
            let ids: Vec<&EngramId> = erased.iter().map(|(_, id)| id).collect();
            let body = json!({ "content_hash": engram.content_hash, "ids": ids, "seqs": seqs });
            let seq = self.note_close(it, caller, &engram, ChangeKind::Redacted, body)?;
            Ok(ForgetReply { id, seq })
        })?;
        self.ring();
        self.store.checkpoint()?;
        if self.catch_up_to(reply.seq).is_err() {
            // Words that cannot be taken out of the index go with it; it is built anew without them.
            Index::delete(self.store.home())?;
        }
        Ok(reply)
    }

    fn note_close(
        &self,
        it: &engram_store::Writer<'_>,
        caller: &Caller,
        engram: &Engram,
        kind: ChangeKind,
        body: serde_json::Value,
    ) -> Result<u64, Refusal> {
        let handle = match caller {
            Caller::User => None,
            Caller::Agent(handle) => Some(handle),
        };
        let agent = match handle {
            Some(handle) => it.agent(handle)?,
            None => None,
        };
        Ok(it.append(&NewEntry {
            project: engram.project,
            kind,
            shareable: engram.scope != Scope::Run,
            agent: handle,
            by: &spoken_by(None, agent.as_ref()),
            subject: Some(engram.id.to_string()),
            body,
        })?)
    }
}

/// A claim that came without evidence points at the event of saying so, which repeats its words.
fn erase_own_events(it: &engram_store::Writer<'_>, engram: &Engram) -> Result<(), Refusal> {
    for pointer in &engram.pointers {
        if let Target::Sam { kind, slug, date } = &pointer.target
            && kind == OWN_EVENT
        {
            it.erase_events(engram.project, kind, slug, *date)?;
        }
    }
    Ok(())
}
