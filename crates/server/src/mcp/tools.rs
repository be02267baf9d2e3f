//! Each call of a tool as one or two requests to the engine.

use engram_model::{
    Caller, Code, Draft, MemoryOp, Note, NoteReply, OWN_EVENT, PointerInput, PutReply, Refusal,
    Reply, Request,
};
use rmcp::model::{JsonObject, Tool};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    Server,
    arguments::{self, Ask, Commit, Read, Status},
    results::{Committed, Excerpt, Found, Standing},
};

fn defect(what: impl Into<String>) -> Refusal {
    Refusal::new(Code::Internal, what, "Please report this as a defect.")
}

fn unexpected() -> Refusal {
    defect("the engine answered something else")
}

fn value(result: impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(result).map_err(|error| defect(error.to_string()))
}

impl Server {
    /// One call of a known tool.
    pub(super) async fn call(
        &self,
        caller: Caller,
        tool: &Tool,
        arguments: JsonObject,
    ) -> Result<Value, Refusal> {
        match tool.name.as_ref() {
            "engram_status" => {
                let Status {} = arguments::parse(tool, arguments)?;
                match self.ask(caller, Request::Status).await? {
                    Reply::Status(status) => value(Standing::from(*status)),
                    _ => Err(unexpected()),
                }
            }
            "engram_query" => {
                let ask: Ask = arguments::parse(tool, arguments)?;
                match self.ask(caller, Request::Query(ask.try_into()?)).await? {
                    Reply::Query(found) => value(Found::from(found)),
                    _ => Err(unexpected()),
                }
            }
            "engram_deref" => {
                let read: Read = arguments::parse(tool, arguments)?;
                match self.ask(caller, Request::Deref(read.into())).await? {
                    Reply::Deref(excerpt) => value(Excerpt::from(*excerpt)),
                    _ => Err(unexpected()),
                }
            }
            "engram_commit" => {
                let commit: Commit = arguments::parse(tool, arguments)?;
                value(Committed::from(self.commit(caller, commit).await?))
            }
            other => Err(defect(format!("{other} is listed and not built"))),
        }
    }

    /// A claim without a pointer, or with its evidence in words, points at its own recorded event.
    async fn commit(&self, caller: Caller, commit: Commit) -> Result<PutReply, Refusal> {
        let (mut draft, words) = commit.draft()?;
        let retires = draft.operation == Some(MemoryOp::Delete);
        if !retires && (draft.pointers.is_empty() || words.is_some()) {
            self.validate(&draft)?;
            let note = own_event(&draft, words.as_deref());
            let event = self.note(caller.clone(), note).await?;
            draft.pointers.push(PointerInput::Text(event.pointer));
        }
        match self.ask(caller, Request::Put(Box::new(draft))).await? {
            Reply::Put(reply) => Ok(reply),
            _ => Err(unexpected()),
        }
    }

    /// Refuses now what the engine would refuse after the event was noted.
    fn validate(&self, draft: &Draft) -> Result<(), Refusal> {
        let mut draft = draft.clone();
        let own = PointerInput::Text("sam:claim:own@2000-01-01".to_owned());
        draft.pointers.push(own);
        draft.validate(self.engine.limits()).map(|_| ())
    }

    async fn note(&self, caller: Caller, note: Note) -> Result<NoteReply, Refusal> {
        match self.ask(caller, Request::Note(note)).await? {
            Reply::Note(reply) => Ok(reply),
            _ => Err(unexpected()),
        }
    }
}

/// The event of saying so. Its slug is a digest: an address is never erased, so it must not repeat
/// words that may be.
fn own_event(draft: &Draft, words: Option<&str>) -> Note {
    let claim = draft.claim.trim();
    let text = match words {
        Some(words) => format!("{claim}\n\nProvenance: {words}"),
        None => claim.to_owned(),
    };
    Note {
        kind: OWN_EVENT.to_owned(),
        slug: hex::encode(&Sha256::digest(text.as_bytes())[..8]),
        text,
        agent: draft.agent.clone(),
    }
}
