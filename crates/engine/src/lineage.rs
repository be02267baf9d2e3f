//! The head of a lineage, and its end.

use engram_model::{
    Code, Draft, Engram, EngramId, Finding, LineageId, MemoryOp, NewEngram, Noticed, ProjectId,
    PutReply, Refusal,
};
use engram_store::Reader;

use crate::{context::Context, eyes::Eyes};

impl Context<'_> {
    /// `operation: delete`: the end of a lineage, without a successor.
    pub(crate) fn retire(&self, draft: &Draft) -> Result<PutReply, Refusal> {
        let lineage: EngramId = match draft.corrects_lineage.as_deref() {
            Some(text) if !text.is_empty() => text.parse()?,
            _ => {
                return Err(Refusal::new(
                    Code::SchemaInvalid,
                    "operation delete names no lineage",
                    "Pass the lineage_id to retire as corrects_lineage.",
                ));
            }
        };
        let (project, eyes) = (self.project()?, self.eyes()?);
        let store = &self.engine.store;
        let head = store.read(|it| head_of(it, project, &eyes, lineage.0))?;
        let closed = self.close_window(&head)?;
        Ok(PutReply {
            id: head.id,
            seq: closed.seq,
            lineage_id: head.lineage_id,
            verified: head.verified,
            findings: vec![Finding {
                what: Noticed::Retired,
                id: head.id,
                note: "Its window is closed; it can still be asked for as of before.".to_owned(),
            }],
        })
    }
}

pub(crate) fn check_operation(new: &NewEngram) -> Result<(), Refusal> {
    match (new.operation, new.corrects) {
        (MemoryOp::Update, None) => Err(Refusal::new(
            Code::SchemaInvalid,
            "operation update names no lineage",
            "Query for the claim that is out of date and pass its id as corrects_lineage.",
        )),
        (MemoryOp::None, _) => Err(Refusal::new(
            Code::SchemaInvalid,
            "operation none stores nothing",
            "Leave the call out, or use add, update or delete.",
        )),
        _ => Ok(()),
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
                format!("no lineage {id} holds here"),
                "Query for the claim and pass its lineage_id.",
            )
        })
}
