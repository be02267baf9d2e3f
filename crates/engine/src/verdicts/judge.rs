//! What an agent or a person says of two near claims: that they contradict each other, that one
//! replaces the other, that they say the same, or that both can hold.
//!
//! An agent answers only for pairs that it was shown. Its word raises a conflict of tier `agent`,
//! without a report and without effect on the gate, until a person, or a root agent that wrote
//! neither side, agrees. A person's word counts at once.

use engram_gateway::quoted;
use engram_model::{
    Code, ConflictId, ConflictStatus, Engram, Operation, PairVerdict, ProjectId, Refusal,
    ResolveReply, Scope, Settle, operation::PairJudgment, shorten,
};
use engram_store::{NearPairs, Reader};
use jiff::SignedDuration;

use crate::{
    claims::close,
    conflicts::{
        conflict_view::{ShownConflict, visible_conflict},
        lifecycle::holding_sides,
        list::no_conflict,
        risks::{is_unconfirmed, refound_entries},
    },
    context::{
        ActiveProject, Context, author,
        plan::{Plan, Planned},
        rates,
    },
    decide,
    verdicts::settle::{ProposedVerdict, plan_ruling, settled_already},
};

/// The most characters of a claim that the reason of a conflict quotes.
const MAX_QUOTED: usize = 120;
/// How many pairs an agent may judge in an hour.
const MAX_JUDGED: u32 = 60;

/// A word on a pair, and the pair: by the key with which a reply showed it, or by its id.
pub(super) struct AskedJudgment {
    pub(super) conflict: ConflictId,
    pub(super) key: Option<String>,
    pub(super) verdict: PairVerdict,
    pub(super) why: Option<String>,
}

/// In whose name a pair is judged.
#[derive(Clone, Copy, PartialEq)]
enum JudgeOf {
    Person,
    /// The agent to which the pair was shown.
    Author,
    /// A root agent with a token that wrote neither side.
    Third,
}

/// Records a word on a pair, with its consequences.
pub(super) fn judge_pair(cx: &Context<'_>, word: &AskedJudgment) -> Result<ResolveReply, Refusal> {
    let project = cx.project()?;
    let by = author::author_of(cx, None)?;
    let decided = decide::plan_and_commit(cx, &ActiveProject::of(project), |tx, now| {
        rates::admit_write(cx, tx)?;
        refuse_rate(cx, tx)?;
        let (found, judge) = shown_pair(cx, tx, project, word)?;
        let asked = ProposedVerdict {
            how: Settle::Newer,
            why: word.why.clone(),
            by: by.clone(),
            now,
        };
        plan_word(cx, tx, &found, judge, word.verdict, &asked)
    })?;
    Ok(ResolveReply {
        seq: decided.seq_or(decided.answer.seq),
        ..decided.answer
    })
}

fn refuse_rate(cx: &Context<'_>, tx: &Reader<'_>) -> Result<(), Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(());
    };
    let now = cx.engine.world.now();
    let since = now
        .checked_sub(SignedDuration::from_hours(1))
        .unwrap_or(now);
    let judged = NearPairs::of(tx).count_judged(&agent.handle, since, now)?;
    if judged < MAX_JUDGED {
        return Ok(());
    }
    Err(Refusal::new(
        Code::RateLimited,
        format!("{judged} of {MAX_JUDGED} pairs were judged in the last hour"),
        "Leave this pair: a person sees it.",
    ))
}

/// The pair that is meant, and in whose name the caller may judge it. What an agent was not shown
/// does not exist for it.
fn shown_pair(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    word: &AskedJudgment,
) -> Result<(ShownConflict, JudgeOf), Refusal> {
    let agent = cx.agent()?;
    let id = match (&word.key, agent) {
        (None, _) => word.conflict,
        (Some(key), Some(agent)) => NearPairs::of(tx)
            .proposed_to(&agent.handle, key)?
            .ok_or_else(|| unknown_key(key))?,
        (Some(key), None) => return Err(unknown_key(key)),
    };
    let (visibility, clock) = (cx.visibility()?, cx.engine.world.now());
    let pair = tx.conflict(id)?.filter(|it| it.project == project);
    let found = pair.map_or(Ok(None), |pair| {
        visible_conflict(tx, pair, &visibility, clock)
    })?;
    let found = found.ok_or_else(|| no_conflict(id))?;
    let Some(agent) = agent else {
        return Ok((found, JudgeOf::Person));
    };
    if NearPairs::of(tx).is_proposed_to(&agent.handle, id)? {
        return Ok((found, JudgeOf::Author));
    }
    let wrote = |voice: &Engram| voice.agent.as_ref() == Some(&agent.handle);
    let is_third = agent.parent.is_none()
        && tx.is_opened(&agent.handle)?
        && !found.voices.iter().any(wrote)
        && is_unconfirmed(tx, id)?;
    if is_third {
        Ok((found, JudgeOf::Third))
    } else {
        Err(no_conflict(id))
    }
}

fn unknown_key(key: &str) -> Refusal {
    Refusal::new(
        Code::NotFound,
        format!("no reply showed you a pair {}", quoted(key)),
        "Take the key from `near` in the reply to your commit, or use the conflict's id.",
    )
}

fn plan_word(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    judge: JudgeOf,
    verdict: PairVerdict,
    asked: &ProposedVerdict,
) -> Result<Plan<ResolveReply>, Refusal> {
    let status = found.conflict.status;
    if !matches!(status, ConflictStatus::Possible | ConflictStatus::Open) {
        return Err(settled_already(cx.caller, found));
    }
    let said = NearPairs::of(tx).judgments(found.pair.id)?;
    let own = cx.agent()?.map(|agent| &agent.handle);
    let last = said.iter().rev().find(|it| it.0.agent.as_ref() == own);
    // A person's answer settles a possible pair, so that an earlier one was undone.
    let is_undone = judge == JudgeOf::Person && status == ConflictStatus::Possible;
    if !is_undone && last.is_some_and(|it| it.1.verdict == verdict) {
        return Ok(Plan::of(Vec::new(), reply(found, status)));
    }
    let mut entries = vec![judged(found, verdict, asked)];
    match verdict {
        PairVerdict::Same => {
            entries.extend(corroboration(cx, tx, found, asked)?);
            Ok(Plan::of(entries, reply(found, status)))
        }
        PairVerdict::Compatible if judge == JudgeOf::Person => {
            ruled(cx, tx, found, Settle::Dismiss, entries, asked)
        }
        PairVerdict::Compatible => Ok(Plan::of(entries, reply(found, status))),
        PairVerdict::Contradicts | PairVerdict::Replaces => {
            let is_confirmed = judge != JudgeOf::Author;
            entries.extend(raised(cx, tx, found, is_confirmed, asked)?);
            if verdict == PairVerdict::Replaces && may_replace(cx, tx, found)? {
                return ruled(cx, tx, found, Settle::Newer, entries, asked);
            }
            Ok(Plan::of(entries, reply(found, ConflictStatus::Open)))
        }
    }
}

fn reply(found: &ShownConflict, status: ConflictStatus) -> ResolveReply {
    ResolveReply {
        conflict: found.pair.id,
        status,
        seq: found.pair.last,
        closed: Vec::new(),
        stored: Vec::new(),
        due: 0,
    }
}

fn judged(found: &ShownConflict, verdict: PairVerdict, asked: &ProposedVerdict) -> Planned {
    let judgment = PairJudgment {
        id: found.pair.id,
        verdict,
        why: asked.why.clone(),
    };
    Planned::private(Operation::Judged(judgment), &asked.by).for_answer()
}

/// Another author for the older claim, unless the newer one's author counts already.
fn corroboration(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
) -> Result<Option<Planned>, Refusal> {
    let [older, _] = &found.voices;
    let handle = cx.agent()?.map(|agent| &agent.handle);
    let counts = found.pair.run.is_none() && !tx.has_said(handle, &asked.by, older.id)?;
    Ok(counts.then(|| Planned::corroborated(older, &asked.by)))
}

/// The entries that make a pair a conflict, or that add the report to one that an agent raised.
/// None if it has its report, or rules found it.
fn raised(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    is_confirmed: bool,
    asked: &ProposedVerdict,
) -> Result<Vec<Planned>, Refusal> {
    let Some(mut known) = tx.contradiction(found.pair.last)? else {
        return Ok(Vec::new());
    };
    let is_new = found.pair.status == ConflictStatus::Possible;
    let is_agreed = is_confirmed && is_unconfirmed(tx, found.pair.id)?;
    if !is_new && !is_agreed {
        return Ok(Vec::new());
    }
    if is_new {
        known.why = sentence(cx, found, asked)?;
    }
    let [one, two] = voices_by_side(found);
    known.engrams = [one.id, two.id];
    known.id = found.pair.id;
    if is_confirmed {
        return Ok(refound_entries(
            cx,
            &found.pair,
            known,
            [one, two],
            asked.now,
        ));
    }
    let shareable = [&one, &two].iter().all(|it| it.scope != Scope::Run);
    let raised = Operation::Conflicted(Box::new(known));
    Ok(vec![Planned::new(raised, &asked.by, shareable)])
}

/// Why two claims cannot both hold, where nobody but the judge says so: which they are, and who
/// says it.
fn sentence(
    cx: &Context<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
) -> Result<String, Refusal> {
    let [a, b] = found
        .voices
        .each_ref()
        .map(|it| quoted(&shorten(it.claim.trim_end_matches('.'), MAX_QUOTED)));
    let by = match cx.agent()? {
        Some(_) => quoted(&asked.by),
        None => "the user".to_owned(),
    };
    let why = asked.why.as_deref().map(|why| why.trim_end_matches('.'));
    let why = why.map_or_else(String::new, |why| format!(": {}", quoted(why)));
    Ok(format!("{a} and {b} cannot both hold, says {by}{why}."))
}

/// The representatives of the sides, in the order of the pair's digests.
fn voices_by_side(found: &ShownConflict) -> [Engram; 2] {
    let [a, b] = found.voices.clone();
    if found.sides[0] == found.pair.sides[0] {
        [a, b]
    } else {
        [b, a]
    }
}

/// Whether the caller may end every version of the older side.
fn may_replace(cx: &Context<'_>, tx: &Reader<'_>, found: &ShownConflict) -> Result<bool, Refusal> {
    let clock = cx.engine.world.now();
    let sides = holding_sides(tx, &found.pair, clock, &[], &[])?;
    let at = usize::from(found.sides[0] != found.pair.sides[0]);
    for version in &sides[at] {
        match close::refuse_retire(cx, tx, version) {
            Ok(()) => {}
            Err(refusal) if refusal.code == Code::ScopeDenied => return Ok(false),
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(true)
}

/// The plan of a word that settles the pair at once.
fn ruled(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    how: Settle,
    mut entries: Vec<Planned>,
    asked: &ProposedVerdict,
) -> Result<Plan<ResolveReply>, Refusal> {
    let asked = ProposedVerdict {
        how,
        why: asked.why.clone(),
        by: asked.by.clone(),
        now: asked.now,
    };
    let mut plan = plan_ruling(cx, tx, found, &asked)?;
    entries.append(&mut plan.entries);
    Ok(Plan::of(entries, plan.answer))
}
