//! The head of a lineage, and its end.

use crate::{
    claims::{close, read},
    conflicts::{
        findings::{self, CompareOptions},
        risks::may_see_version,
    },
    context::{
        ActiveProject, Context, author,
        plan::{Plan, Planned},
        visibility::Visibility,
    },
    decide,
};
use engram_model::{
    Code, Engram, EngramId, Finding, JournalTime, LineageId, MemoryOp, Noticed, ProjectId,
    PutReply, Record, Refusal,
};
use engram_store::Reader;
use jiff::Timestamp;

/// `operation: delete`: the end of a lineage, without a successor.
pub(crate) fn retire_lineage(cx: &Context<'_>, lineage: EngramId) -> Result<PutReply, Refusal> {
    let (project, visibility) = (cx.project()?, cx.visibility()?);
    let store = &cx.engine.store;
    let head = store.read(|tx| head_of(tx, project, &visibility, lineage.0))?;
    let closed = close::close_window(cx, &head)?;
    let retired = Finding::new(
        Noticed::Retired,
        head.id,
        "It is closed; a query as of an earlier time still finds it.",
    );
    Ok(PutReply {
        seq: closed.seq,
        memory_op: MemoryOp::Delete,
        supersedes: None,
        committed_at: cx.engine.world.now(),
        ..PutReply::of(&head, vec![retired])
    })
}

/// Makes an ended version hold again, as a new version of its lineage, with its words, evidence and
/// author. Windows never reopen
/// (docs/design.md#rule-3-nothing-is-undone-by-reopening-a-window).
pub(crate) fn restore_version(cx: &Context<'_>, id: EngramId) -> Result<PutReply, Refusal> {
    let active = ActiveProject::of(read::find_version(cx, id)?.project);
    let by = author::author_of(cx, None)?;
    findings::open_index(cx);
    let decided = decide::plan_and_commit(cx, &active, |tx, now| {
        let old = find_restorable(tx, id, cx.engine.world.now())?;
        let versions = tx.lineage(old.lineage_id)?;
        let head = versions.into_iter().find(|it| it.valid_until.is_none());
        refuse_restored(id, head.as_ref())?;
        let engram = restored_version(cx, old, now, head.as_ref());
        let ending: Vec<EngramId> = head.iter().map(|it| it.id).collect();
        let compared =
            findings::compare_version(cx, tx, &engram, &CompareOptions::of(now, &by, &ending));
        let superseded = head.as_ref().map(superseded_finding).into_iter();
        let answer = PutReply {
            conflicts: compared.conflicts,
            due: compared.told_due(),
            ..PutReply::of(&engram, superseded.chain(compared.findings).collect())
        };
        let mut entries = vec![Planned::stored(engram, &by, compared.due).for_answer()];
        entries.extend(compared.entries);
        Ok(Plan::of(entries, answer))
    })?;
    Ok(PutReply {
        seq: decided.seq()?,
        ..decided.answer
    })
}

/// Turns an ended version into a new version of its lineage, in place of the version that holds.
pub(crate) fn restored_version(
    cx: &Context<'_>,
    old: Engram,
    now: JournalTime,
    head: Option<&Engram>,
) -> Engram {
    let world = &cx.engine.world;
    let record = Record {
        supersedes: head.map(|it| it.id),
        restores: Some(old.id),
        ..Record::from(old).next_version(EngramId(world.new_id()), world.now(), now)
    };
    record.into()
}

/// Refuses a version that holds again already.
fn refuse_restored(id: EngramId, head: Option<&Engram>) -> Result<(), Refusal> {
    match head.filter(|it| it.restores == Some(id)) {
        None => Ok(()),
        Some(head) => Err(Refusal::new(
            Code::NotFound,
            format!("engram {id} already holds again, as {}", head.id),
            "There is nothing to restore.",
        )),
    }
}

/// Returns a version that may be made to hold again.
fn find_restorable(tx: &Reader<'_>, id: EngramId, clock: Timestamp) -> Result<Engram, Refusal> {
    let not = |why: &str, hint: &str| {
        Err(Refusal::new(
            Code::NotFound,
            format!("engram {id} {why}"),
            hint,
        ))
    };
    match tx.engram(id)? {
        None => not(
            "does not exist",
            "Take the id of a version from the claim's history.",
        ),
        Some(version) if version.redacted => not(
            "was redacted",
            "Its text was erased: commit the claim again.",
        ),
        Some(version) if version.valid_until.is_none() => {
            not("still holds", "There is nothing to restore.")
        }
        Some(version) if engram_model::is_over(version.recorded_at, version.expires_at, clock) => {
            not("has expired", "Commit the claim again, with a longer ttl.")
        }
        Some(version) => Ok(version),
    }
}

/// The finding about the version that a new version replaced.
pub(crate) fn superseded_finding(head: &Engram) -> Finding {
    Finding::new(Noticed::Superseded, head.id, "This version replaces it.")
}

/// The version of a lineage that holds and that the caller may see, by the id of the lineage or of
/// any version.
pub(crate) fn head_of(
    tx: &Reader<'_>,
    project: ProjectId,
    visibility: &Visibility,
    id: ulid::Ulid,
) -> Result<Engram, Refusal> {
    let lineage = match tx.engram(EngramId(id))? {
        Some(version) => version.lineage_id,
        None => LineageId(id),
    };
    let mut versions = tx.lineage(lineage)?.into_iter();
    let head = versions.find(|version| {
        version.project == project && version.valid_until.is_none() && visibility.may_see(version)
    });
    match head {
        Some(head) if may_see_version(tx, visibility, &head)? => Ok(head),
        _ => Err(Refusal::new(
            Code::NotFound,
            format!("no current claim has the lineage {id}"),
            "Query for the claim and pass its lineage_id.",
        )),
    }
}
