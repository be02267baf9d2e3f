//! What an agent or a person says of two near claims: that they contradict each other, that one
//! replaces the other, that they say the same, or that both can hold.
//!
//! An agent answers only for pairs that it was shown. Its word raises a conflict of tier `agent`,
//! without a report and without effect on the gate, until a person, or a root agent that wrote
//! neither side, agrees. A person's word counts at once.

use std::collections::HashMap;

use engram_gateway::quoted;
use engram_model::{
    AgentId, Code, ConflictId, ConflictStatus, Engram, JournalTime, Operation, PairVerdict,
    ProjectId, Refusal, ResolveReply, Scope, Settle,
    operation::{Agent, Contradiction, PairJudgment},
    shorten,
};
use engram_store::{Attribution, NearPairs, Reader};
use jiff::SignedDuration;

use crate::{
    agents::served,
    claims::close,
    conflicts::{
        conflict_view::{ShownConflict, visible_conflict},
        list::no_conflict,
        rights,
        risks::{is_unconfirmed, refound_entries},
    },
    context::{
        ActiveProject, Context, author,
        plan::{Plan, Planned},
        rates,
    },
    decide,
    verdicts::settle::{
        ProposedVerdict, VerdictEffects, plan_ruling, ruling_without_verdict, settled_already,
        verdict_plan,
    },
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
    /// An agent to which the pair was shown: its author, or one that was asked about it.
    Shown,
    /// A root agent with a token of a run in which nobody wrote either side or judged the pair.
    Third,
}

/// Records a word on a pair, with its consequences.
pub(super) fn judge_pair(cx: &Context<'_>, word: &AskedJudgment) -> Result<ResolveReply, Refusal> {
    let active = ActiveProject::of(cx.project()?);
    let by = author::author_of(cx, None)?;
    let decided = decide::plan_and_commit(cx, &active, |tx, now| {
        plan_judgment(cx, tx, now, active.project, &by, word)
    })?;
    Ok(ResolveReply {
        seq: decided.seq_or(decided.answer.seq),
        ..decided.answer
    })
}

/// Plans a word on a pair, with its consequences.
pub(super) fn plan_judgment(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    now: JournalTime,
    project: ProjectId,
    by: &str,
    word: &AskedJudgment,
) -> Result<Plan<ResolveReply>, Refusal> {
    if word.verdict == PairVerdict::Unclear {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            "only a model answers that it cannot tell",
            "Leave the pair without an answer: that says the same.",
        ));
    }
    rates::admit_write(cx, tx)?;
    refuse_rate(cx, tx)?;
    let (found, judge) = shown_pair(cx, tx, project, word)?;
    let asked = ProposedVerdict {
        how: Settle::judge(word.verdict),
        why: word.why.clone(),
        by: by.to_owned(),
        now,
    };
    plan_word(cx, tx, &found, judge, word.verdict, &asked)
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

/// The pair that is meant, and in whose name the caller may judge it. What was not proposed to an
/// agent does not exist for it.
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
    // A word about a run's pair must not land on the wider one that covers it.
    if found.pair.id != id {
        return Err(no_conflict(id));
    }
    let not_asked = || match found.conflict.status {
        ConflictStatus::Possible => no_conflict(id),
        // Agents see it in their list.
        _ => Refusal::new(
            Code::NotFound,
            format!("you were not asked about conflict {id}"),
            "Leave it to those who were shown its claims: only they and the user answer.",
        ),
    };
    if is_third(tx, agent, &found)? {
        return Ok((found, JudgeOf::Third));
    }
    if is_asked(cx, tx, agent, id)? {
        Ok((found, JudgeOf::Shown))
    } else {
        Err(not_asked())
    }
}

/// Whether a pair was put to an agent, as the author of a side or as one that wrote neither.
pub(super) fn is_asked(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    agent: &Agent,
    id: ConflictId,
) -> Result<bool, Refusal> {
    Ok(NearPairs::of(tx).is_proposed_to(&agent.handle, id)? || served::was_asked(cx, tx, id)?)
}

/// Whether an agent may confirm another agent's word: a root with a token, of a run in which nobody
/// wrote either side or judged the pair.
fn is_third(tx: &Reader<'_>, agent: &Agent, found: &ShownConflict) -> Result<bool, Refusal> {
    let pair = &found.pair;
    if agent.parent.is_some() || !tx.is_opened(&agent.handle)? || !is_unconfirmed(tx, pair)? {
        return Ok(false);
    }
    if !rights::is_neutral(tx, agent, pair)? {
        return Ok(false);
    }
    let said = NearPairs::of(tx).judgments(pair.id)?;
    for (by, _) in &said {
        let judge = by.agent.as_ref().map_or(Ok(None), |it| tx.agent(it))?;
        if judge.is_some_and(|it| it.run == agent.run) {
            return Ok(false);
        }
    }
    Ok(last_words(&said).values().any(|it| is_against(*it)))
}

/// What was said of a pair.
type PairWords = [(Attribution, PairJudgment)];

/// The last word on a pair, by agent and model; the person is neither.
fn last_words(said: &PairWords) -> HashMap<(Option<&AgentId>, Option<&String>), PairVerdict> {
    let words = said.iter();
    words
        .map(|(by, word)| ((by.agent.as_ref(), word.model.as_ref()), word.verdict))
        .collect()
}

pub(super) fn is_against(verdict: PairVerdict) -> bool {
    matches!(verdict, PairVerdict::Contradicts | PairVerdict::Replaces)
}

pub(super) fn unknown_key(key: &str) -> Refusal {
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
    let words = last_words(&said);
    let last = words.get(&(own, None)).copied();
    // Such an answer of a person settled the pair: as it is not settled, that was undone.
    let settles = matches!(verdict, PairVerdict::Compatible | PairVerdict::Replaces);
    let was_undone = judge == JudgeOf::Person && settles;
    if !was_undone && last == Some(verdict) {
        return Ok(Plan::of(Vec::new(), reply(found, status)));
    }
    let mut entries = vec![judged(found, verdict, asked)];
    match verdict {
        PairVerdict::Compatible if judge == JudgeOf::Person => {
            ruled(cx, tx, found, Settle::Dismiss, entries, asked)
        }
        PairVerdict::Same | PairVerdict::Compatible | PairVerdict::Unclear => {
            if verdict == PairVerdict::Same {
                entries.extend(corroboration(cx, tx, found, asked)?);
            }
            let mut others = words.iter().filter(|it| *it.0 != (own, None));
            let is_alone = last.is_some_and(is_against) && !others.any(|it| is_against(*it.1));
            if judge != JudgeOf::Person && is_alone && is_unconfirmed(tx, &found.pair)? {
                // The conflict rests on nothing else.
                let ruling = ruling_without_verdict(found, ConflictStatus::Possible);
                let plan = verdict_plan(found, asked, VerdictEffects::default(), ruling);
                return Ok(followed_by(entries, plan));
            }
            Ok(Plan::of(entries, reply(found, status)))
        }
        // An agent does not overrule what a person decided or undid: its word is only noted.
        _ if is_overruling(cx, tx, found)? => Ok(Plan::of(entries, reply(found, status))),
        PairVerdict::Contradicts | PairVerdict::Replaces => {
            let wins = replacing_side(cx, found)?;
            if let Some(wins) = wins.filter(|_| verdict == PairVerdict::Replaces)
                && may_end(cx, tx, found, 1 - wins)?
            {
                // It is settled at once, so it needs no report.
                entries.extend(raised(cx, tx, found, false, asked)?);
                let winner = Settle::Winner(found.voices[wins].id);
                return ruled(cx, tx, found, winner, entries, asked);
            }
            let is_confirmed = judge != JudgeOf::Shown;
            entries.extend(raised(cx, tx, found, is_confirmed, asked)?);
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
        repeated: false,
    }
}

pub(super) fn judged(
    found: &ShownConflict,
    verdict: PairVerdict,
    asked: &ProposedVerdict,
) -> Planned {
    let judgment = PairJudgment {
        id: found.pair.id,
        verdict,
        model: None,
        sure: None,
        why: asked.why.clone(),
    };
    Planned::private(Operation::Judged(judgment), &asked.by).for_answer()
}

fn is_overruling(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
) -> Result<bool, Refusal> {
    match found.pair.verdict {
        Some(seq) => is_denied(rights::refuse_overruling(cx, tx, seq)),
        None => Ok(false),
    }
}

/// Whether a check refused the caller; other errors stay errors.
fn is_denied(checked: Result<(), Refusal>) -> Result<bool, Refusal> {
    match checked {
        Ok(()) => Ok(false),
        Err(refusal) if refusal.code == Code::ScopeDenied => Ok(true),
        Err(refusal) => Err(refusal),
    }
}

/// The side that an answer speaks for: for a person the newer one, for an agent the one that it
/// wrote; `None` if it wrote neither or both.
fn replacing_side(cx: &Context<'_>, found: &ShownConflict) -> Result<Option<usize>, Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(Some(1));
    };
    let wrote = found
        .voices
        .each_ref()
        .map(|it| it.agent.as_ref() == Some(&agent.handle));
    Ok(match wrote {
        [true, false] => Some(0),
        [false, true] => Some(1),
        _ => None,
    })
}

/// Another author for the other claim, unless the judge counts already.
fn corroboration(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
) -> Result<Option<Planned>, Refusal> {
    let Some(own) = replacing_side(cx, found)? else {
        return Ok(None);
    };
    let other = &found.voices[1 - own];
    let handle = cx.agent()?.map(|agent| &agent.handle);
    let counts = found.pair.run.is_none() && !tx.has_said(handle, &asked.by, other.id)?;
    Ok(counts.then(|| Planned::corroborated(other, &asked.by)))
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
    let is_agreed = is_confirmed && is_unconfirmed(tx, &found.pair)?;
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
        let mut entries = refound_entries(cx, &found.pair, known, [one, two], asked.now);
        if let Some(raised) = entries.first_mut() {
            raised.by = asked.by.clone();
        }
        return Ok(entries);
    }
    Ok(vec![raised_on_a_word(known, [&one, &two], &asked.by)])
}

/// The entry that makes a pair a conflict on somebody's word alone.
pub(super) fn raised_on_a_word(known: Contradiction, voices: [&Engram; 2], by: &str) -> Planned {
    let shareable = voices.iter().all(|it| it.scope != Scope::Run);
    Planned::new(Operation::Conflicted(Box::new(known)), by, shareable)
}

/// Why two claims cannot both hold, where nobody but the judge says so.
pub(super) fn sentence_of(found: &ShownConflict, by: &str) -> String {
    let voices = found.voices.each_ref();
    let [a, b] = voices.map(|it| quoted(&shorten(it.claim.trim_end_matches('.'), MAX_QUOTED)));
    format!("{a} and {b} cannot both hold, says {by}.")
}

/// Why two claims cannot both hold, where nobody but the judge says so: which they are, and who
/// says it. The judge's reason stays with its answer, so that it is erased with that.
fn sentence(
    cx: &Context<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
) -> Result<String, Refusal> {
    let by = match cx.agent()? {
        Some(_) => quoted(&asked.by),
        None => "the user".to_owned(),
    };
    Ok(sentence_of(found, &by))
}

/// The representatives of the sides, in the order of the pair's digests.
pub(super) fn voices_by_side(found: &ShownConflict) -> [Engram; 2] {
    let [a, b] = found.voices.clone();
    if found.sides[0] == found.pair.sides[0] {
        [a, b]
    } else {
        [b, a]
    }
}

/// Whether the caller may end every version of a side of the shown pair.
fn may_end(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    shown: usize,
) -> Result<bool, Refusal> {
    let clock = cx.engine.world.now();
    for version in tx.holding_on_side(found.pair.project, &found.sides[shown], clock)? {
        if is_denied(close::refuse_retire(cx, tx, &version))? {
            return Ok(false);
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
    entries: Vec<Planned>,
    asked: &ProposedVerdict,
) -> Result<Plan<ResolveReply>, Refusal> {
    let asked = ProposedVerdict {
        how,
        ..asked.clone()
    };
    Ok(followed_by(entries, plan_ruling(cx, tx, found, &asked)?))
}

/// The entries of a word, and then those of what follows from it, about which the answer is.
fn followed_by(mut entries: Vec<Planned>, mut plan: Plan<ResolveReply>) -> Plan<ResolveReply> {
    entries.iter_mut().for_each(|it| it.is_answer = false);
    entries.append(&mut plan.entries);
    Plan::of(entries, plan.answer)
}
