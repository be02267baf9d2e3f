//! Verdicts on conflicts: giving, confirming and repeating them. A verdict is an entry that closes
//! windows.

use crate::{
    claims::{close, put::end_todos},
    conflicts::{
        conflict_view::{ShownConflict, conflict_to_show, visible_conflict},
        findings::{self, CompareOptions},
        list::no_conflict,
        rights::{self, is_by_person},
        risks::is_unconfirmed,
    },
    context::{
        ActiveProject, Context, author,
        plan::{Plan, Planned},
        rates,
        screen::screen_text,
        visibility::Visibility,
    },
    decide,
    verdicts::{
        dismissals,
        judge::{AskedJudgment, is_asked, judge_pair},
        merge, undo,
    },
};
use engram_model::{
    Caller, Code, ConflictStatus, Engram, EngramId, How, JournalTime, Operation, PairVerdict,
    Refusal, Resolve, ResolveReply, Scope, Settle, fold, operation::Ruling,
};
use engram_store::{NearPairs, Reader};

/// A verdict to plan.
#[derive(Clone)]
pub(super) struct ProposedVerdict {
    pub(super) how: Settle,
    pub(super) why: Option<String>,
    pub(super) by: String,
    pub(super) now: JournalTime,
}

/// The effects of a verdict.
#[derive(Default)]
pub(super) struct VerdictEffects {
    pub(super) entries: Vec<Planned>,
    pub(super) closed: Vec<EngramId>,
    pub(super) stored: Vec<EngramId>,
    /// How many comparisons are still due.
    due: u64,
    /// Whether one side does not hold even after the verdict was undone.
    pub(super) is_closed: bool,
}

/// Gives a verdict on a conflict, or undoes one.
pub(crate) fn settle_conflict(cx: &Context<'_>, asked: Resolve) -> Result<ResolveReply, Refusal> {
    let Resolve { conflict, how, why } = asked;
    let why = validated_text(cx, "the reason", why)?;
    let how = match how {
        Settle::Judge { verdict, key } => {
            let word = AskedJudgment {
                conflict,
                key,
                verdict,
                why,
            };
            return judge_pair(cx, &word);
        }
        Settle::Merge(text) => Settle::Merge(merge::validated_merge_claim(cx, text)?),
        other => other,
    };
    let project = cx.project()?;
    let by = author::author_of(cx, None)?;
    findings::open_index(cx);
    let decided = decide::plan_and_commit(cx, &ActiveProject::of(project), |tx, now| {
        rates::admit_write(cx, tx)?;
        let clock = cx.engine.world.now();
        let pair = tx.conflict(conflict)?.filter(|it| it.project == project);
        let visibility = cx.visibility()?;
        let leads_to = |pair| {
            if matches!(how, Settle::Undo) {
                undo::last_settled(tx, pair, &visibility)
            } else {
                conflict_to_show(tx, pair, &visibility, clock)
            }
        };
        let pair = pair.map(leads_to).transpose()?;
        let found = pair.map_or(Ok(None), |pair| {
            visible_conflict(tx, pair, &visibility, clock)
        })?;
        let found = found.ok_or_else(|| no_conflict(conflict))?;
        let asked = ProposedVerdict {
            how: how.clone(),
            why: why.clone(),
            by: by.clone(),
            now,
        };
        plan_verdict(cx, tx, &found, &asked)
    })?;
    Ok(ResolveReply {
        seq: decided.seq_or(decided.answer.seq),
        ..decided.answer
    })
}

/// Checks the text of a verdict; `None` if it is empty.
pub(super) fn validated_text(
    cx: &Context<'_>,
    field: &str,
    text: Option<String>,
) -> Result<Option<String>, Refusal> {
    let Some(text) = text.map(|it| it.trim().to_owned()) else {
        return Ok(None);
    };
    let limit = cx.engine.config.limits.claim_chars;
    let chars = text.chars().count();
    if chars > limit || text.contains('\0') {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("{field} is too long ({chars} characters) or contains a NUL character"),
            format!("Write plain text of at most {limit} characters."),
        ));
    }
    screen_text(field, &text)?;
    Ok(Some(text).filter(|it| !it.is_empty()))
}

fn plan_verdict(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
) -> Result<Plan<ResolveReply>, Refusal> {
    let last = match found.pair.verdict {
        Some(seq) => tx.ruling(seq)?.map(|ruling| (seq, ruling)),
        None => None,
    };
    if matches!(asked.how, Settle::Undo)
        && let Some(said) = undo::word_to_take_back(cx, tx, found)?
    {
        return undo::plan_word_taken_back(tx, found, said, asked);
    }
    match (&asked.how, found.pair.status) {
        (Settle::Undo, ConflictStatus::Resolved | ConflictStatus::Dismissed) => {
            let (seq, ruling) = last.ok_or_else(|| undo::nothing_to_undo(found))?;
            rights::refuse_overruling(cx, tx, seq)?;
            for voice in &found.voices {
                close::refuse_topic(cx, &voice.topic)?;
            }
            let mut done = undo::plan_undo(cx, tx, found, &ruling, asked)?;
            done.entries.extend(dismissals::plan_other_reopenings(
                cx, tx, found, &ruling, asked,
            )?);
            undone_plan(tx, found, asked, done)
        }
        // A verdict can be undone even if the conflict was found again since, by a version that the
        // judge could not see or by somebody who repeated the claim.
        (Settle::Undo, ConflictStatus::Open)
            if cx.agent()?.is_none() && found.pair.ruled.is_some() =>
        {
            let (_, ruling) = last.ok_or_else(|| undo::nothing_to_undo(found))?;
            let done = undo::plan_undo(cx, tx, found, &ruling, asked)?;
            undone_plan(tx, found, asked, done)
        }
        (Settle::Undo, _) => match last {
            // Only a repeated undo gets the earlier reply, not an undo after an allowance or after
            // the end of a side.
            Some((seq, ruling))
                if ruling.how.is_none()
                    && matches!(
                        found.conflict.status,
                        ConflictStatus::Open | ConflictStatus::Possible
                    )
                    && found.pair.allowed.is_none_or(|it| it < seq) =>
            {
                plan_repeated_verdict(cx, tx, found, seq, ruling)
            }
            _ => Err(undo::nothing_to_undo(found)),
        },
        (_, ConflictStatus::Resolved | ConflictStatus::Dismissed) => {
            let (seq, ruling) = last.ok_or_else(|| undo::nothing_to_undo(found))?;
            if !is_same_verdict(tx, found, &ruling, &asked.how, &cx.visibility()?)? {
                Err(settled_already(cx.caller, found))
            } else if cx.agent()?.is_none() && !is_by_person(tx, seq)? {
                plan_confirmation(cx, tx, found, asked, ruling)
            } else {
                plan_repeated_verdict(cx, tx, found, seq, ruling)
            }
        }
        (_, ConflictStatus::Possible) => plan_on_possible(cx, tx, found, asked),
        _ if found.conflict.status == ConflictStatus::Closed => {
            Err(settled_already(cx.caller, found))
        }
        _ => {
            // Only a person may change what a person decided, even the undoing of a verdict.
            if let Some((seq, _)) = last {
                rights::refuse_overruling(cx, tx, seq)?;
            }
            if cx.agent()?.is_some() && is_unconfirmed(tx, &found.pair)? {
                return Err(one_agents_word());
            }
            plan_ruling(cx, tx, found, asked)
        }
    }
}

/// Gives a verdict on a possible conflict: for a person, one claim may replace both, whether they
/// contradict each other or say the same.
fn plan_on_possible(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
) -> Result<Plan<ResolveReply>, Refusal> {
    match (&asked.how, cx.agent()?) {
        (Settle::Merge(_) | Settle::MergedBy(_), None) => plan_ruling(cx, tx, found, asked),
        (_, Some(agent)) if !is_asked(cx, tx, agent, found.pair.id)? => {
            Err(no_conflict(found.pair.id))
        }
        _ => Err(only_possible(found)),
    }
}

/// Gives a verdict on an open conflict.
pub(super) fn plan_ruling(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
) -> Result<Plan<ResolveReply>, Refusal> {
    let mut done = VerdictEffects::default();
    let (how, winner, merged) = match &asked.how {
        Settle::Dismiss => {
            dismissals::refuse_dismissal(cx, tx, &found.pair)?;
            done.entries
                .extend(dismissals::plan_other_dismissals(cx, tx, found, asked)?);
            (How::Dismissed, None, None)
        }
        Settle::Winner(_) | Settle::Newer | Settle::Surer => {
            let winner = winning_side(tx, found, &asked.how, &cx.visibility()?)?;
            close_side(cx, tx, found, 1 - winner, asked, &mut done)?;
            let side = found.sides.get(winner).cloned();
            (How::Winner, side, None)
        }
        Settle::Merge(text) => {
            let merged = merge::merged_version(cx, found, text, asked)?;
            close_side(cx, tx, found, 0, asked, &mut done)?;
            close_side(cx, tx, found, 1, asked, &mut done)?;
            store_version(cx, tx, found, merged, asked, &mut done);
            (How::Merge, None, None)
        }
        Settle::MergedBy(id) => {
            merge::check_merged(cx, tx, found, *id)?;
            close_side(cx, tx, found, 0, asked, &mut done)?;
            close_side(cx, tx, found, 1, asked, &mut done)?;
            (How::Merge, None, Some(*id))
        }
        Settle::Undo | Settle::Judge { .. } => return Err(undo::nothing_to_undo(found)),
    };
    let status = match how {
        How::Dismissed => ConflictStatus::Dismissed,
        _ => ConflictStatus::Resolved,
    };
    let ruling = Ruling {
        how: Some(how),
        winner,
        merged,
        ..ruling_without_verdict(found, status)
    };
    Ok(verdict_plan(found, asked, done, ruling))
}

/// Makes an agent's verdict the person's, if a person gives the same one.
fn plan_confirmation(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
    ruling: Ruling,
) -> Result<Plan<ResolveReply>, Refusal> {
    let mut plan = plan_repeated_verdict(cx, tx, found, 0, ruling.clone())?;
    let why = asked.why.clone().or_else(|| ruling.why.clone());
    let ruling = Ruling { why, ..ruling };
    plan.answer.repeated = false;
    plan.entries.push(ruling_on(found, ruling, asked));
    Ok(plan)
}

fn ruling_on(found: &ShownConflict, ruling: Ruling, asked: &ProposedVerdict) -> Planned {
    let shareable = found.voices.iter().all(|it| it.scope != Scope::Run);
    Planned::new(Operation::Resolved(Box::new(ruling)), &asked.by, shareable).for_answer()
}

/// Replies to a repeated verdict, which changes nothing. Lists only versions that the caller may
/// see.
fn plan_repeated_verdict(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    seq: u64,
    ruling: Ruling,
) -> Result<Plan<ResolveReply>, Refusal> {
    let visibility = cx.visibility()?;
    let seen = |ids: Vec<EngramId>| -> Result<Vec<EngramId>, Refusal> {
        let mut seen = Vec::new();
        for id in ids {
            if tx
                .engram(id)?
                .is_some_and(|engram| visibility.may_see(&engram))
            {
                seen.push(id);
            }
        }
        Ok(seen)
    };
    let reply = ResolveReply {
        conflict: found.pair.id,
        status: ruling.status,
        seq,
        closed: seen(ruling.closed)?,
        stored: seen(ruling.stored)?,
        due: 0,
        repeated: true,
    };
    Ok(Plan::of(Vec::new(), reply))
}

/// Closes every engram of a side that the caller may see, and the to-dos that ask about them.
fn close_side(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    at: usize,
    asked: &ProposedVerdict,
    done: &mut VerdictEffects,
) -> Result<(), Refusal> {
    let Some(side) = found.sides.get(at) else {
        return Ok(());
    };
    let visibility = cx.visibility()?;
    let clock = cx.engine.world.now();
    for engram in tx.holding_on_side(found.pair.project, side, clock)? {
        if !visibility.may_see(&engram) {
            continue;
        }
        close::refuse_close(cx, &engram)?;
        close::refuse_withdrawn_answer(cx, tx, &engram)?;
        done.entries
            .extend(end_todos(tx, engram.lineage_id, &asked.by)?);
        done.closed.push(engram.id);
        done.entries.push(Planned::ended(&engram, &asked.by));
    }
    Ok(())
}

/// Stores a version that a verdict creates, and the conflicts of that version.
pub(super) fn store_version(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    engram: Engram,
    asked: &ProposedVerdict,
    done: &mut VerdictEffects,
) {
    let compared = findings::compare_version(
        cx,
        tx,
        &engram,
        &CompareOptions {
            before: &done.entries,
            of: Some(found.pair.id),
            ..CompareOptions::of(asked.now, &asked.by, &done.closed)
        },
    );
    done.stored.push(engram.id);
    done.due += compared.told_due();
    done.entries
        .push(Planned::stored(engram, &asked.by, compared.due));
    done.entries.extend(compared.entries);
}

/// The plan of an undone verdict. A pair that was only near before is possible again.
fn undone_plan(
    tx: &Reader<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
    mut done: VerdictEffects,
) -> Result<Plan<ResolveReply>, Refusal> {
    let pairs = NearPairs::of(tx);
    let status = if pairs.is_raised(found.pair.id)? {
        ConflictStatus::Open
    } else {
        // The word that dismissed it is taken back too.
        let said = pairs.words_of_person(found.pair.id)?.pop();
        if said.is_some_and(|it| it.1 == PairVerdict::Compatible) {
            done.entries.push(undo::word_taken_back(found, asked));
        }
        ConflictStatus::Possible
    };
    Ok(verdict_plan(
        found,
        asked,
        done,
        ruling_without_verdict(found, status),
    ))
}

/// A ruling without a verdict.
pub(super) fn ruling_without_verdict(found: &ShownConflict, status: ConflictStatus) -> Ruling {
    Ruling {
        id: found.pair.id,
        status,
        how: None,
        winner: None,
        merged: None,
        closed: Vec::new(),
        stored: Vec::new(),
        why: None,
    }
}

/// The entries of a verdict, its own entry last.
pub(super) fn verdict_plan(
    found: &ShownConflict,
    asked: &ProposedVerdict,
    done: VerdictEffects,
    ruling: Ruling,
) -> Plan<ResolveReply> {
    let answer = ResolveReply {
        conflict: found.pair.id,
        status: if done.is_closed {
            ConflictStatus::Closed
        } else {
            ruling.status
        },
        seq: 0,
        closed: done.closed.clone(),
        stored: done.stored.clone(),
        due: done.due,
        repeated: false,
    };
    let ruling = Ruling {
        closed: done.closed,
        stored: done.stored,
        why: asked.why.clone(),
        ..ruling
    };
    let mut entries = done.entries;
    entries.push(ruling_on(found, ruling, asked));
    Plan::of(entries, answer)
}

/// The side that wins: 0 is `a`, 1 is `b`, which was stated last.
fn winning_side(
    tx: &Reader<'_>,
    found: &ShownConflict,
    how: &Settle,
    visibility: &Visibility,
) -> Result<usize, Refusal> {
    match how {
        Settle::Winner(id) => {
            let side = match tx.engram(*id)? {
                Some(engram) if visibility.may_see(&engram) => tx.side_of(*id)?,
                _ => None,
            };
            let at = found.sides.iter().position(|it| Some(it) == side.as_ref());
            at.ok_or_else(|| {
                Refusal::new(
                    Code::SchemaInvalid,
                    format!("engram {id} is on neither side of the conflict"),
                    "Name an engram of side a or b.",
                )
            })
        }
        Settle::Surer => {
            let [a, b] = found.voices.each_ref().map(|it| it.confidence);
            match a.total_cmp(&b) {
                std::cmp::Ordering::Greater => Ok(0),
                std::cmp::Ordering::Less => Ok(1),
                std::cmp::Ordering::Equal => Err(Refusal::new(
                    Code::SchemaInvalid,
                    "both sides have the same confidence",
                    "Name the winner, or choose newer.",
                )),
            }
        }
        Settle::Newer => Ok(1),
        Settle::Merge(_)
        | Settle::MergedBy(_)
        | Settle::Dismiss
        | Settle::Undo
        | Settle::Judge { .. } => Err(Refusal::bug("a verdict without a winner has none")),
    }
}

/// Whether a verdict is the same as the previous one.
fn is_same_verdict(
    tx: &Reader<'_>,
    found: &ShownConflict,
    ruling: &Ruling,
    how: &Settle,
    visibility: &Visibility,
) -> Result<bool, Refusal> {
    Ok(match (how, ruling.how) {
        (Settle::Winner(_) | Settle::Newer | Settle::Surer, Some(How::Winner)) => {
            let side = found.sides.get(winning_side(tx, found, how, visibility)?);
            side == ruling.winner.as_ref()
        }
        (Settle::Merge(text), Some(How::Merge)) => match ruling.stored.first() {
            Some(id) => tx
                .engram(*id)?
                .is_some_and(|it| fold(&it.claim) == fold(text)),
            None => false,
        },
        (Settle::MergedBy(id), Some(How::Merge)) => ruling.merged == Some(*id),
        (Settle::Dismiss, Some(How::Dismissed)) => true,
        _ => false,
    })
}

/// Refuses an agent's verdict on a conflict that it, or another agent, may just have raised itself.
fn one_agents_word() -> Refusal {
    Refusal::new(
        Code::ScopeDenied,
        "only an agent or a model says that this is a conflict, so no agent settles it",
        "Leave it open: the user sees it and decides.",
    )
}

fn only_possible(found: &ShownConflict) -> Refusal {
    Refusal::new(
        Code::NotFound,
        format!(
            "{} is only a possible conflict, which has no verdict",
            found.pair.id
        ),
        "Say `compatible` if both claims can hold, or `contradicts` first if they cannot.",
    )
}

pub(super) fn settled_already(caller: &Caller, found: &ShownConflict) -> Refusal {
    let how = found.conflict.settled.as_ref();
    let how = how.map_or_else(String::new, |it| format!(" ({})", it.how));
    Refusal::new(
        Code::AlreadySettled,
        format!(
            "conflict {} is {}{how}",
            found.pair.id, found.conflict.status
        ),
        match (found.pair.status, caller) {
            (ConflictStatus::Open, _) => {
                "One of its sides no longer holds: there is nothing to settle.".to_owned()
            }
            (_, Caller::User) => {
                format!("Undo the verdict first: engram resolve {} --undo", found.pair.id)
            }
            _ => "If the verdict is wrong, commit the claim that is right, with its evidence; the user can undo a verdict.".to_owned(),
        },
    )
}
