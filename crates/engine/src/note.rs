//! Notes: events of the episodic plane that a `sam:` pointer can address.

use engram_consistency::screen;
use engram_model::{Caller, ChangeKind, Code, EventId, Note, NoteReply, Pointer, Refusal, Target};
use engram_store::{Event, NewEntry};
use jiff::tz::TimeZone;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    Engine, project,
    put::{secret_refusal, spoken_by},
};

/// Longest event that is noted, in bytes; longer text belongs into an artifact.
const LONGEST: usize = 100_000;

impl Engine {
    pub(crate) fn note(&self, caller: &Caller, note: Note) -> Result<NoteReply, Refusal> {
        let id = EventId(self.world.id());
        let text = note.text.trim();
        check_text(text)?;
        let slug = match note.slug.trim() {
            "" => id.to_string().to_lowercase(),
            slug => slug.to_owned(),
        };
        let day = self.world.now().to_zoned(TimeZone::UTC).date();
        let pointer: Pointer = format!("sam:{}:{slug}@{day}", note.kind.trim()).parse()?;
        let Target::Sam { kind, slug, .. } = &pointer.target else {
            return Err(Refusal::new(
                Code::SchemaInvalid,
                "the note has no address",
                "Give it a kind such as decision and a slug such as publish-domain.",
            ));
        };
        let digest = hex::encode(Sha256::digest(text));
        let repo = self.repo()?;
        let project = project::find_or_mint(&self.store, &self.world, repo.as_ref(), true)?;
        let idle = self.config.limits.deref.turn_idle_seconds;
        let agent = self
            .agents
            .call(&self.store, &self.world, caller, project, idle)?;
        let by = spoken_by(note.agent.as_deref(), agent.as_ref());
        let seq = self.store.write::<_, Refusal>(self.world.now(), |it| {
            if let Some(agent) = &agent {
                it.keep_agent(agent)?;
            }
            let seq = it.append(&NewEntry {
                project,
                kind: ChangeKind::Noted,
                shareable: true,
                agent: agent.as_ref().map(|agent| &agent.handle),
                by: &by,
                subject: Some(id.to_string()),
                body: json!({ "pointer": pointer.to_string(), "digest": digest }),
            })?;
            it.add_event(&Event {
                seq,
                id,
                project,
                kind,
                slug,
                day,
                digest: &digest,
                text,
            })?;
            Ok(seq)
        })?;
        self.ring();
        Ok(NoteReply {
            id,
            seq,
            pointer: pointer.to_string(),
        })
    }
}

fn check_text(text: &str) -> Result<(), Refusal> {
    if text.is_empty() || text.contains('\0') || text.len() > LONGEST {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("a note has 1 to {LONGEST} bytes of plain text"),
            "Say what happened; keep long text in a file and point at it.",
        ));
    }
    match screen(text) {
        Some(secret) => Err(secret_refusal(&format!(
            "the note holds what looks like {}",
            secret.rule
        ))),
        None => Ok(()),
    }
}
