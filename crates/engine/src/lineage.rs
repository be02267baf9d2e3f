//! The head of a lineage, and its end.

use engram_model::{
    Code, Draft, Engram, EngramId, Figures, Finding, LineageId, MemoryOp, Noticed, Operation,
    ProjectId, PutReply, Refusal, Scope,
};
use engram_store::Reader;
use jiff::Timestamp;

use crate::{
    context::{Context, Ground},
    decide::{Plan, Planned},
    eyes::Eyes,
};

impl Context<'_> {
    /// `operation: delete`: the end of a lineage, without a successor.
    pub(crate) fn retire(&self, draft: &Draft) -> Result<PutReply, Refusal> {
        let lineage: EngramId = match draft.corrects_lineage.as_deref() {
            Some(text) if !text.is_empty() => text.parse()?,
            _ => {
                return Err(Refusal::new(
                    Code::SchemaInvalid,
                    "operation delete needs corrects_lineage",
                    "Set corrects_lineage to the lineage_id of the claim to retire.",
                ));
            }
        };
        let (project, eyes) = (self.project()?, self.eyes()?);
        let store = &self.engine.store;
        let head = store.read(|it| head_of(it, project, &eyes, lineage.0))?;
        let closed = self.close_window(&head)?;
        let retired = Finding {
            what: Noticed::Retired,
            id: head.id,
            note: "It is closed; a query as of an earlier time still finds it.".to_owned(),
        };
        Ok(PutReply {
            seq: closed.seq,
            memory_op: MemoryOp::Delete,
            supersedes: None,
            committed_at: self.engine.world.now(),
            ..PutReply::of(&head, vec![retired])
        })
    }
}

impl Context<'_> {
    /// A version that no longer holds, again: as a new one of its lineage, with its words, its evidence
    /// and its author. Windows never reopen (DESIGN, rule 3).
    pub(crate) fn restore_version(&self, id: EngramId) -> Result<PutReply, Refusal> {
        let ground = Ground::of(self.find(id)?.project);
        let by = self.speaker(None)?;
        let (mut reply, seq) = self.decide(&ground, |it, now| {
            let clock = self.engine.world.now();
            let old = restorable(it, id, clock)?;
            let versions = it.lineage(old.lineage_id)?;
            let head = versions.into_iter().find(|it| it.valid_until.is_none());
            let engram = Engram {
                id: EngramId(self.engine.world.id()),
                seq: 0,
                valid_from: now,
                valid_until: None,
                recorded_at: clock,
                memory_op: MemoryOp::Update,
                supersedes: head.as_ref().map(|it| it.id),
                restores: Some(id),
                figures: Figures::default(),
                ..old
            };
            let replaced = head.as_ref().map(superseded).into_iter().collect();
            let answer = PutReply::of(&engram, replaced);
            let stored = Planned {
                shareable: engram.scope != Scope::Run,
                operation: Operation::Stored(Box::new(engram)),
                by: by.clone(),
            };
            Ok(Plan {
                entries: vec![stored],
                answer,
            })
        })?;
        reply.seq = seq.unwrap_or_default();
        Ok(reply)
    }
}

/// A version that can be made to hold again.
fn restorable(it: &Reader<'_>, id: EngramId, clock: Timestamp) -> Result<Engram, Refusal> {
    let not = |why: &str, hint: &str| {
        Err(Refusal::new(
            Code::NotFound,
            format!("engram {id} {why}"),
            hint,
        ))
    };
    match it.engram(id)? {
        None => not("does not exist", "Name a version that `engram log` lists."),
        Some(it) if it.redacted => not(
            "was redacted",
            "Nothing of its words is left: say it again.",
        ),
        Some(it) if it.valid_until.is_none() => not("still holds", "There is nothing to restore."),
        Some(it) if engram_model::is_over(it.recorded_at, it.expires_at, clock) => not(
            "has outlived its ttl",
            "Say it again, with the ttl that it needs.",
        ),
        Some(it) => Ok(it),
    }
}

/// What a new version tells of the one that it took the place of.
pub(crate) fn superseded(head: &Engram) -> Finding {
    Finding {
        what: Noticed::Superseded,
        id: head.id,
        note: "This version replaces it.".to_owned(),
    }
}

/// The version of a lineage that holds and that the caller may see, by the id of the lineage or of any of its versions.
pub(crate) fn head_of(
    it: &Reader<'_>,
    project: ProjectId,
    eyes: &Eyes,
    id: ulid::Ulid,
) -> Result<Engram, Refusal> {
    let lineage = match it.engram(EngramId(id))? {
        Some(version) => version.lineage_id,
        None => LineageId(id),
    };
    it.lineage(lineage)?
        .into_iter()
        .find(|version| {
            version.project == project && version.valid_until.is_none() && eyes.may_see(version)
        })
        .ok_or_else(|| {
            Refusal::new(
                Code::NotFound,
                format!("no current claim has the lineage {id}"),
                "Query for the claim and pass its lineage_id.",
            )
        })
}
