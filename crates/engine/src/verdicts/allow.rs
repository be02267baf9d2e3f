//! Permission for an open conflict to pass the gate.

use engram_model::{
    Allow, Code, Conflict, ConflictId, ConflictStatus, Operation, Refusal, operation::Permit,
};

use crate::{
    conflicts::list,
    context::{
        ActiveProject, Context, author,
        plan::{Plan, Planned},
    },
    decide,
    verdicts::settle::validated_text,
};

/// Lets an open conflict pass the gate for the user, or withdraws that permission.
pub(crate) fn allow_conflict(cx: &Context<'_>, allow: Allow) -> Result<Box<Conflict>, Refusal> {
    let Allow {
        conflict,
        why,
        undo,
    } = allow;
    let why = validated_text(cx, "the reason", Some(why))?;
    let known = list::find_conflict(cx, conflict)?;
    if undo {
        return if known.allowed.is_some() {
            record_permit(cx, known.id, why.unwrap_or_default(), true)
        } else {
            Ok(known)
        };
    }
    let why = why.ok_or_else(|| {
        Refusal::new(
            Code::SchemaInvalid,
            "allowing a conflict needs a reason",
            "Say why.",
        )
    })?;
    if known.status != ConflictStatus::Open {
        return Err(Refusal::new(
            Code::AlreadySettled,
            format!("conflict {conflict} is {}, not open", known.status),
            "Nothing to do: only an open conflict can be allowed, and this one blocks nothing.",
        ));
    }
    if known.allowed.as_ref().is_some_and(|it| it.why == why) {
        return Ok(known);
    }
    record_permit(cx, known.id, why, false)
}

fn record_permit(
    cx: &Context<'_>,
    id: ConflictId,
    why: String,
    undone: bool,
) -> Result<Box<Conflict>, Refusal> {
    let by = author::author_of(cx, None)?;
    let permit = Permit { id, why, undone };
    decide::plan_and_commit(cx, &ActiveProject::of(cx.project()?), |_, _| {
        Ok(Plan::of(
            vec![Planned::new(Operation::Allowed(permit.clone()), &by, true)],
            (),
        ))
    })?;
    list::find_conflict(cx, id)
}
