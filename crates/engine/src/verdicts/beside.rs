//! What the author of a claim says, together with it, of claims that it was shown before it wrote.
//! The pairs are recorded as possible conflicts and judged in the transaction that stores the claim:
//! if one cannot be judged, nothing is stored.

use engram_gateway::quoted;
use engram_model::{
    Code, Commit, ConflictId, Engram, EngramId, Finding, PairVerdict, ProjectId, PutReply, Refusal,
};
use engram_store::{NearPairs, Reader, conflict_id, side};

use crate::{
    agents::served,
    claims::put,
    conflicts::{
        findings::TOLD,
        judging::{is_comparable, is_other_author, run_of},
        list,
        near::proposal,
        risks::is_report,
    },
    context::{Context, author, plan::Planned},
    decide::FollowUp,
    verdicts::judge::{AskedJudgment, plan_judgment, unknown_key},
};

/// Stores a claim, with what its author says of others.
pub(crate) fn commit_with_answers(cx: &Context<'_>, commit: Commit) -> Result<PutReply, Refusal> {
    let Commit {
        draft,
        words,
        beside,
    } = commit;
    if !beside.is_empty() && !draft.says_it() {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            "`beside` needs a claim, and this operation makes none",
            "Leave out `beside`, or `operation`.",
        ));
    }
    let by = &author::author_of(cx, draft.agent.as_deref())?;
    let mut steps: Vec<FollowUp<'_, PutReply>> = Vec::new();
    for (key, verdict) in &beside {
        let find = |tx: &Reader<'_>, reply: &PutReply| BesidePair::find(cx, tx, key, by, reply.id);
        steps.push(Box::new(move |tx, _, reply| {
            find(tx, reply)?.proposal(cx, tx)
        }));
        steps.push(Box::new(move |tx, now, reply| {
            let pair = find(tx, reply)?;
            let word = pair.word(*verdict);
            let planned = plan_judgment(cx, tx, now, pair.own.project, by, &word);
            let mut entries = planned.map_err(|it| without(key, it))?.entries;
            // The reply is about the claim.
            entries.iter_mut().for_each(|it| it.is_answer = false);
            Ok(entries)
        }));
    }
    let reply = put::commit_claim(cx, draft, words, &steps)?;
    if beside.is_empty() {
        return Ok(reply);
    }
    told_since(cx, reply)
}

/// The reply, without the near claims that are answered for, and with the conflicts that are raised.
fn told_since(cx: &Context<'_>, mut reply: PutReply) -> Result<PutReply, Refusal> {
    let agent = cx.agent()?.map(|agent| &agent.handle);
    cx.engine.store.read::<_, Refusal>(|tx| {
        let mut near = Vec::new();
        for claim in reply.near {
            let said = NearPairs::of(tx).judgments(claim.conflict)?;
            if !said.iter().any(|it| it.0.agent.as_ref() == agent) {
                near.push(claim);
            }
        }
        reply.near = near;
        if let Some(engram) = tx.engram(reply.id)? {
            let disputes = list::open_conflict_findings(cx, tx, &engram)?;
            reply.conflicts = disputes.len() as u64;
            let is_told = |it: &Finding| {
                reply
                    .findings
                    .iter()
                    .any(|told| told.conflict == it.conflict)
            };
            let new: Vec<Finding> = disputes.into_iter().filter(|it| !is_told(it)).collect();
            reply.findings.extend(new.into_iter().take(TOLD));
        }
        Ok(reply)
    })
}

/// A claim that was just stored, and one that its author was shown before.
struct BesidePair {
    /// The id that a conflict of the two has.
    id: ConflictId,
    own: Engram,
    other: Engram,
}

impl BesidePair {
    fn find(
        cx: &Context<'_>,
        tx: &Reader<'_>,
        key: &str,
        by: &str,
        own: EngramId,
    ) -> Result<Self, Refusal> {
        let own = tx.engram(own)?;
        let own = own.ok_or_else(|| Refusal::bug("the claim of a commit is not stored"))?;
        let other = shown_claim(cx, tx, own.project, key)?;
        let other = other.filter(|it| is_comparable(it) && is_other_author(&own, it, by));
        let other = match other {
            Some(other) if !is_report(tx, &other)? => other,
            _ => return Err(not_shown(key)),
        };
        let [here, there] = [&own, &other].map(|it| side(&it.topic, &it.claim));
        if !is_comparable(&own) || here == there {
            return Err(Refusal::new(
                Code::SchemaInvalid,
                format!("your claim cannot contradict or replace {}", quoted(key)),
                "Leave it out of `beside`: only durable claims are compared, and these are not to-dos or the same words.",
            ));
        }
        let id = conflict_id(own.project, run_of([&own, &other]), &here, &there);
        Ok(Self { id, own, other })
    }

    /// The entry that lets the caller judge the pair, unless it may already.
    fn proposal(&self, cx: &Context<'_>, tx: &Reader<'_>) -> Result<Vec<Planned>, Refusal> {
        let is_known = match cx.agent()? {
            Some(agent) => NearPairs::of(tx).is_proposed_to(&agent.handle, self.id)?,
            None => tx.conflict(self.id)?.is_some(),
        };
        let [here, there] = [&self.own, &self.other].map(|it| (side(&it.topic, &it.claim), it));
        let pair = [(&here.0, here.1), (&there.0, there.1)];
        let new = (!is_known).then(|| proposal(self.id, pair, None, true));
        Ok(new.into_iter().collect())
    }

    fn word(&self, verdict: PairVerdict) -> AskedJudgment {
        AskedJudgment {
            conflict: self.id,
            key: None,
            verdict,
            why: None,
        }
    }
}

/// The claim that a key or an id names, if it holds and the caller was shown it. The user sees
/// everything.
fn shown_claim(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    key: &str,
) -> Result<Option<Engram>, Refusal> {
    let clock = cx.engine.world.now();
    let visibility = cx.visibility_in(project)?;
    let is_there =
        |it: &Engram| it.project == project && it.holds_now(clock) && visibility.may_see(it);
    let Ok(id) = key.parse::<EngramId>() else {
        let behind = claims_behind(cx, tx, project, key)?;
        return Ok(behind.into_iter().find(is_there));
    };
    let Some(engram) = tx.engram(id)?.filter(is_there) else {
        return Ok(None);
    };
    let is_shown = cx.agent()?.is_none() || served::was_shown(cx, tx, &engram)?;
    Ok(Some(engram).filter(|_| is_shown))
}

/// The versions that hold on the other side of the pair that was proposed to the caller under this
/// key; none if it wrote neither side.
fn claims_behind(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    key: &str,
) -> Result<Vec<Engram>, Refusal> {
    let agent = cx.agent()?.ok_or_else(|| unknown_key(key))?;
    let id = NearPairs::of(tx).proposed_to(&agent.handle, key)?;
    let pair = id.map_or(Ok(None), |id| tx.conflict(id))?;
    let Some(found) = pair.map_or(Ok(None), |it| tx.contradiction(it.first))? else {
        return Err(unknown_key(key));
    };
    let mut others = Vec::new();
    for (side, engram) in found.sides.iter().zip(found.engrams) {
        let is_own = tx
            .engram(engram)?
            .is_none_or(|it| it.agent.as_ref() == Some(&agent.handle));
        if !is_own {
            others.push(side);
        }
    }
    match others.as_slice() {
        [side] => Ok(tx.holding_on_side(project, side, cx.engine.world.now())?),
        _ => Ok(Vec::new()),
    }
}

fn not_shown(key: &str) -> Refusal {
    Refusal::new(
        Code::NotFound,
        format!(
            "you were shown no claim {} of others that holds",
            quoted(key)
        ),
        "In `beside`, name a claim by the id in an answer to your query, or by its key in `near`; or leave it out.",
    )
}

/// The refusal of a judgment, which refuses the commit.
fn without(key: &str, refusal: Refusal) -> Refusal {
    match refusal.code {
        Code::NotFound | Code::AlreadySettled => Refusal {
            hint: format!("Leave {} out of `beside`, and commit again.", quoted(key)),
            ..refusal
        },
        _ => refusal,
    }
}
