//! Pins lines to the shared brief, also in the place of earlier pins, and unpins them.

use engram_gateway::{admit_pin, pin_text};
use engram_model::{
    AgentId, BriefLine, BriefReply, Caller, Code, Engram, Operation, Pinnable, Pinning, ProjectId,
    Refusal, Unpinning, operation::BriefPin,
};
use engram_store::{FamilyOf, Reader, StoredPin};
use sha2::{Digest, Sha256};

use crate::{
    agents::opening,
    claims::lineage::head_of,
    context::{
        Context, author,
        plan::{Plan, Planned},
        rates,
        screen::screen_text,
    },
    decide,
    messages::brief::{ComposedBrief, brief_for, shared_brief},
};

/// Pins a claim or a sentence to the brief, as only a parent or the user may do. Answers with the
/// new brief.
pub(crate) fn pin_line(cx: &Context<'_>, what: &Pinning) -> Result<BriefReply, Refusal> {
    opening::refuse_unknown_caller(cx)?;
    let wanted = Wanted::of(what);
    if let Pinnable::Text(text) = &wanted.what {
        screen_text("the pin", text)?;
    }
    let (active, by) = (cx.active_project(true)?, author::author_of(cx, None)?);
    decide::plan_and_commit(cx, &active, |tx, _| {
        rates::admit_write(cx, tx)?;
        refuse_childless(cx, tx, active.project)?;
        let changes = plan_pin(cx, tx, active.project, &wanted)?.into_iter();
        let planned = changes.map(|it| Planned::private(it, &by));
        Ok(Plan::of(planned.collect(), ()))
    })?;
    shared_brief(cx)
}

/// What is to be pinned, and in the place of which pin.
struct Wanted {
    what: Pinnable,
    instead_of: Option<u64>,
}

impl Wanted {
    fn of(pinning: &Pinning) -> Self {
        let (what, instead_of) = match pinning {
            Pinning::Engram(id) => (Pinnable::Engram(*id), None),
            Pinning::Text(text) => (Pinnable::Text(text.clone()), None),
            Pinning::Instead(instead) => (instead.what.clone(), Some(instead.pin)),
        };
        Self { what, instead_of }
    }
}

/// The changes that pin a line: none if it is already pinned.
fn plan_pin(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    wanted: &Wanted,
) -> Result<Vec<Operation>, Refusal> {
    let limits = &cx.engine.config.limits;
    let made = brief_for(cx, tx, project, None)?;
    let earlier = match wanted.instead_of {
        Some(pin) => Some(EarlierPin::find(cx, tx, project, &made, pin)?),
        None => None,
    };
    let ended = earlier.as_ref().and_then(|it| it.holds);
    let is_earlier = |line: &BriefLine| line.pin.is_some() && line.pin == ended;
    let lines = made.reply.lines.iter().filter(|it| it.pinned);
    let (replaced, kept): (Vec<_>, Vec<_>) = lines.partition(|it| is_earlier(it));
    let kept: Vec<String> = kept.into_iter().map(|it| it.text.clone()).collect();
    let (mut pin, line) = match &wanted.what {
        Pinnable::Text(text) => {
            let line = pin_text(text, &kept, limits)?;
            let pin = BriefPin {
                digest: hex::encode(Sha256::digest(&line)),
                text: Some(line.clone()),
                ..BriefPin::default()
            };
            (pin, line)
        }
        Pinnable::Engram(id) => {
            let head = head_of(tx, project, &cx.visibility_in(project)?, id.0)?;
            let pin = BriefPin {
                lineage: Some(head.lineage_id),
                ..BriefPin::default()
            };
            (pin, line_of_claim(cx, tx, project, &head)?)
        }
    };
    if replaced.iter().any(|it| it.text == line) {
        return Ok(Vec::new());
    }
    let mut changes: Vec<Operation> = ended.map(Operation::Unpinned).into_iter().collect();
    if !kept.contains(&line) {
        admit_pin(&line, &kept, limits)?;
        pin.place = earlier.map(|it| it.place);
        changes.push(Operation::Pinned(pin));
    }
    Ok(changes)
}

/// A pin whose place another one takes.
struct EarlierPin {
    place: u64,
    /// The id of the pin that has the place now.
    holds: Option<u64>,
}

impl EarlierPin {
    /// Finds a pin, which may have been unpinned. An agent takes only the place of a pin of its own.
    fn find(
        cx: &Context<'_>,
        tx: &Reader<'_>,
        project: ProjectId,
        made: &ComposedBrief,
        id: u64,
    ) -> Result<Self, Refusal> {
        let held = made.pins.iter().find(|it| it.seq == id);
        let place = match held {
            Some(pin) => pin.place,
            None => Self::ended_place(cx, tx, project, id)?,
        };
        // The pin may have been replaced by another one there.
        let holds = made.pins.iter().find(|it| it.place == place);
        if let Some(pin) = holds {
            refuse_pin_of_others(cx, pin)?;
        }
        Ok(Self {
            place,
            holds: holds.map(|it| it.seq),
        })
    }

    /// The place of a pin that is no longer in the brief.
    fn ended_place(
        cx: &Context<'_>,
        tx: &Reader<'_>,
        project: ProjectId,
        id: u64,
    ) -> Result<u64, Refusal> {
        let entries = tx.journal_after(id.saturating_sub(1), 1)?;
        let entry = entries.first().filter(|it| it.seq == id);
        let is_own = |by: &Option<AgentId>| match cx.caller {
            Caller::Agent(agent) => by.as_ref() == Some(agent),
            Caller::User => true,
        };
        let entry = entry.filter(|it| is_own(&it.agent) && it.project == project);
        match entry.map(|it| it.operation()).transpose()?.flatten() {
            Some(Operation::Pinned(pin)) => Ok(pin.place.unwrap_or(id)),
            _ => Err(no_such_pin(format!("pin {id} is not in the brief"))),
        }
    }
}

/// The line for a claim in the brief.
fn line_of_claim(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    head: &Engram,
) -> Result<String, Refusal> {
    let first = StoredPin {
        seq: 0,
        place: 0,
        agent: None,
        lineage: Some(head.lineage_id),
        text: None,
    };
    let lines = brief_for(cx, tx, project, Some(first))?.reply.lines;
    let line = lines
        .into_iter()
        .find(|it| it.pinned && it.engram == Some(head.id));
    line.map(|it| it.text).ok_or_else(|| {
        Refusal::new(
            Code::BudgetExceeded,
            "the claim contains inline code, which a brief may not contain",
            "Pin a sentence about it instead.",
        )
    })
}

/// Unpins a line of the brief. An agent unpins only its own. Answers with the new brief.
pub(crate) fn unpin_line(cx: &Context<'_>, what: Unpinning) -> Result<BriefReply, Refusal> {
    opening::refuse_unknown_caller(cx)?;
    let (active, by) = (cx.active_project(true)?, author::author_of(cx, None)?);
    decide::plan_and_commit(cx, &active, |tx, _| {
        rates::admit_write(cx, tx)?;
        let made = brief_for(cx, tx, active.project, None)?;
        let pin = find_pin(&made, what)?;
        refuse_pin_of_others(cx, pin)?;
        Ok(Plan::of(
            vec![Planned::private(Operation::Unpinned(pin.seq), &by)],
            (),
        ))
    })?;
    shared_brief(cx)
}

/// Refuses an agent's change to a line that somebody else pinned.
fn refuse_pin_of_others(cx: &Context<'_>, pin: &StoredPin) -> Result<(), Refusal> {
    match cx.caller {
        Caller::Agent(agent) if pin.agent.as_ref() != Some(agent) => Err(Refusal::new(
            Code::ScopeDenied,
            "that line was pinned by somebody else",
            "Ask whoever pinned it, or the user, to unpin it.",
        )),
        _ => Ok(()),
    }
}

/// Refuses agents without children: only a parent or the user may pin.
fn refuse_childless(cx: &Context<'_>, tx: &Reader<'_>, project: ProjectId) -> Result<(), Refusal> {
    let Caller::Agent(agent) = cx.caller else {
        return Ok(());
    };
    if tx.family(project, FamilyOf::Parent(agent), 1)?.is_empty() {
        Err(Refusal::new(
            Code::ScopeDenied,
            "only a parent or the user may pin to the brief",
            "Report it to your parent in a message, or commit it as an engram.",
        ))
    } else {
        Ok(())
    }
}

/// The pin to remove: either named by its id, or found by a line of the brief.
fn find_pin(made: &ComposedBrief, what: Unpinning) -> Result<&StoredPin, Refusal> {
    let (id, said) = match what {
        Unpinning::Pin { pin } => (Some(pin), format!("pin {pin} is not in the brief")),
        Unpinning::Line(line) => {
            let found = line.checked_sub(1).and_then(|at| made.reply.lines.get(at));
            let said = format!("line {line} of the brief is not pinned");
            (found.and_then(|it| it.pin), said)
        }
    };
    let pin = made.pins.iter().find(|pin| Some(pin.seq) == id);
    pin.ok_or_else(|| no_such_pin(said))
}

fn no_such_pin(said: String) -> Refusal {
    Refusal::new(
        Code::NotFound,
        said,
        "Take the number of the line, or its id, from the brief; pinned lines come first.",
    )
}
