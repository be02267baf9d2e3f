//! Promotion. Ephemeral claims become durable on request, or after agents other than their author
//! got them as answers often enough (docs/design.md#durability-and-promotion). A parent or the user
//! gives claims a wider scope (docs/design.md#scopes-and-runs).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Engine,
    agents::served::counts_as_hit,
    claims::{
        close,
        lineage::{head_of, superseded_finding},
        put::end_todos,
        read,
    },
    conflicts::findings::{self, CompareOptions, Findings},
    context::{
        ActiveProject, Context, author,
        caller::{agent_in_project, kin_of},
        names::ENGINE,
        plan::{DueOf, Plan, Planned},
        rates,
    },
    decide,
};
use engram_gateway::{PromotedClaim, refuse_promotion};
use engram_model::{
    AgentId, Caller, Code, Durability, Engram, EngramId, Operation, ProjectId, Promote,
    PromoteReply, Record, Refusal, Scope, Ttl, is_over, operation::Promotion,
};
use parking_lot::Mutex;

fn expired_refusal(head: &Engram) -> Refusal {
    Refusal::new(
        Code::Expired,
        format!("engram {} has expired", head.id),
        "Nothing was changed. Commit the claim again as durable.",
    )
}

/// Makes the holding version of a claim durable, or stores a version with a wider scope.
pub(crate) fn promote_claim(cx: &Context<'_>, ask: &Promote) -> Result<PromoteReply, Refusal> {
    let found = read::find_version(cx, ask.id)?;
    match ask.scope {
        None => make_durable(cx, &found, &author::author_of(cx, None)?),
        Some(scope) => widen_scope(cx, &found, scope),
    }
}

/// Stores a version of the holding claim with a wider scope; its words, evidence and author stay.
fn widen_scope(cx: &Context<'_>, found: &Engram, to: Scope) -> Result<PromoteReply, Refusal> {
    let (visibility, by) = (
        cx.visibility_in(found.project)?,
        author::author_of(cx, None)?,
    );
    let clock = cx.engine.world.now();
    findings::open_index(cx);
    let decided = decide::plan_and_commit(cx, &ActiveProject::of(found.project), |tx, now| {
        let head = head_of(tx, found.project, &visibility, found.id.0)?;
        let claim = PromotedClaim {
            scope: head.scope,
            confidence: head.confidence,
            author: head.agent.as_ref(),
        };
        let known = |id: &AgentId| {
            let agent = agent_in_project(tx, found.project, id)?;
            Ok(agent.map(kin_of))
        };
        refuse_promotion(cx.caller, &claim, to, &cx.engine.config.scopes, known)?;
        if is_over(head.recorded_at, head.expires_at, clock) {
            return Err(expired_refusal(&head));
        }
        rates::admit_write(cx, tx)?;
        let wider = Engram::from(Record {
            scope: to,
            supersedes: Some(head.id),
            restores: None,
            ..Record::from(head.clone()).next_version(
                EngramId(cx.engine.world.new_id()),
                clock,
                now,
            )
        });
        // In the wider scope it may meet more claims: claims of two runs are never compared.
        let compared =
            findings::compare_version(cx, tx, &wider, &CompareOptions::of(now, &by, &[head.id]));
        let due = compared.told_due();
        let mut findings = vec![superseded_finding(&head)];
        findings.extend(compared.findings);
        let answer = PromoteReply {
            id: wider.id,
            durability: wider.durability,
            scope: to,
            lineage_id: wider.lineage_id,
            seq: 0,
            due,
            findings,
        };
        let mut entries = end_todos(tx, head.lineage_id, &by)?;
        entries.push(Planned::stored(wider, &by, compared.due).for_answer());
        entries.extend(compared.entries);
        Ok(Plan::of(entries, answer))
    })?;
    Ok(PromoteReply {
        seq: decided.seq()?,
        ..decided.answer
    })
}

fn make_durable(cx: &Context<'_>, found: &Engram, by: &str) -> Result<PromoteReply, Refusal> {
    let visibility = cx.visibility_in(found.project)?;
    findings::open_index(cx);
    let decided = decide::plan_and_commit(cx, &ActiveProject::of(found.project), |tx, now| {
        let head = head_of(tx, found.project, &visibility, found.id.0)?;
        engram_gateway::refuse_scope(cx.caller, head.scope, &cx.engine.config.scopes)?;
        close::refuse_topic(cx, &head.topic)?;
        if is_over(head.recorded_at, head.expires_at, cx.engine.world.now()) {
            return Err(expired_refusal(&head));
        }
        let mut entries = Vec::new();
        let mut compared = Findings::default();
        if head.durability == Durability::Ephemeral {
            rates::admit_write(cx, tx)?;
            let lasting = Engram {
                durability: Durability::Durable,
                ..head.clone()
            };
            compared =
                findings::compare_version(cx, tx, &lasting, &CompareOptions::of(now, by, &[]));
            // The engine does not count as another author.
            let is_repetition =
                |it: &Planned| matches!(it.operation, Operation::Corroborated(_)) && by == ENGINE;
            compared.entries.retain(|it| !is_repetition(it));
            let promoted = Operation::Promoted(Promotion {
                id: head.id,
                ends_term: head.ttl == default_ttl(cx),
            });
            entries.push(Planned {
                due: compared.due.map(|due| DueOf::At(head.seq, due)),
                is_answer: true,
                ..Planned::new(promoted, by, head.scope != Scope::Run)
            });
        }
        let answer = PromoteReply {
            id: head.id,
            durability: Durability::Durable,
            scope: head.scope,
            lineage_id: head.lineage_id,
            seq: head.seq,
            due: compared.told_due(),
            findings: compared.findings,
        };
        entries.extend(compared.entries);
        Ok(Plan::of(entries, answer))
    })?;
    Ok(PromoteReply {
        seq: decided.seq_or(decided.answer.seq),
        ..decided.answer
    })
}

/// The default ttl of an ephemeral claim; `None` if such claims do not expire.
pub(crate) fn default_ttl(cx: &Context<'_>) -> Option<Ttl> {
    Ttl::seconds(cx.engine.config.limits.ephemeral_ttl_seconds).ok()
}

/// Remembers ephemeral claims that were returned to agents other than their authors, and that may
/// become durable. They are counted and promoted in the background, so that the answer does not
/// wait for a write. Returns whether there were any.
pub(crate) fn note_answered(cx: &Context<'_>, engrams: &[Engram]) -> bool {
    let Caller::Agent(asks) = cx.caller else {
        return false;
    };
    let is_asked = |it: &&Engram| it.durability == Durability::Ephemeral && counts_as_hit(it, asks);
    let mut asked = engrams.iter().filter(is_asked).peekable();
    let is_any = asked.peek().is_some();
    cx.engine.caches.answered.add(asked);
    is_any
}

/// The most claims of a project that wait to be counted; more are dropped.
const WAITING: usize = 10_000;

/// Ephemeral claims that were returned to agents and not counted yet, by project.
#[derive(Default)]
pub(crate) struct AnsweredClaims(Mutex<BTreeMap<ProjectId, BTreeSet<EngramId>>>);

impl AnsweredClaims {
    fn add<'a>(&self, engrams: impl Iterator<Item = &'a Engram>) {
        let mut all = self.0.lock();
        for engram in engrams {
            let waiting = all.entry(engram.project).or_default();
            if waiting.len() < WAITING {
                waiting.insert(engram.id);
            }
        }
    }

    /// Takes all waiting claims.
    pub(crate) fn take(&self) -> BTreeMap<ProjectId, BTreeSet<EngramId>> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// Promotes the claims that were returned often enough. The counts are written at once: agents
/// query from separate processes, each of which knows only its own answers. A failure is not
/// retried, because the next answer counts as well.
pub(crate) fn promote_answered(engine: &Engine) {
    for (project, asked) in engine.caches.answered.take() {
        if let Err(refusal) = promote_ripe(engine, project, asked) {
            tracing::info!(%refusal, "cannot promote an ephemeral claim yet");
        }
    }
}

fn promote_ripe(
    engine: &Engine,
    project: ProjectId,
    asked: BTreeSet<EngramId>,
) -> Result<(), Refusal> {
    engine.store_all_served(project)?;
    let wanted = engine.config.limits.ephemeral_hits;
    let own = Context::for_engine(engine);
    for id in asked {
        let now = engine.store.read::<_, Refusal>(|tx| Ok(tx.engram(id)?))?;
        let is_ripe = |it: &Engram| {
            (1..=it.figures.query_hits).contains(&wanted) && it.holds_now(engine.world.now())
        };
        if let Some(engram) = now.filter(is_ripe) {
            make_durable(&own, &engram, ENGINE)?;
        }
    }
    Ok(())
}
