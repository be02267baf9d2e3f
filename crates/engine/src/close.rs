//! Forget closes a window; redact erases text for good. Both are entries like any other.

use engram_model::{Caller, ChangeKind, Code, Engram, EngramId, ForgetReply, Refusal, Scope};
use engram_store::NewEntry;
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
            }
            let seqs: Vec<u64> = erased.iter().map(|(seq, _)| *seq).collect();
            let ids: Vec<&EngramId> = erased.iter().map(|(_, id)| id).collect();
            let body = json!({ "content_hash": engram.content_hash, "ids": ids, "seqs": seqs });
            let seq = self.note_close(it, caller, &engram, ChangeKind::Redacted, body)?;
            Ok(ForgetReply { id, seq })
        })?;
        self.store.checkpoint()?;
        if let Some(index) = self.index() {
            index.catch_up(&self.store)?;
        }
        self.ring();
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
