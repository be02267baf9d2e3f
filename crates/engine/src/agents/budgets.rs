//! What agents have spent of their turns, and the turns themselves.

use crate::{
    agents::{
        delivered,
        grants::{self, aged},
        opened::{unknown, word},
    },
    context::{
        Context,
        caller::{in_project, kin_of, known_to},
        names::TakenNames,
        plan::{Plan, Planned},
        project,
    },
    decide,
};
use engram_gateway::{budget, refuse_decision};
use engram_model::{
    AgentBudget, AgentId, BudgetOf, BudgetsReply, Caller, Code, Cost, CostOf, GrantCount,
    GrantState, Meter, NextTurn, Operation, Refusal, Turned,
    operation::{Agent, Refused},
};
use engram_store::{NewEntry, Reader, StoreError};

/// The most agents that are listed.
const LISTED: usize = 200;
/// The most refusals of one turn that are counted, because counting costs a write.
const COUNTED: u32 = 100;
/// The most costs of an agent that are listed.
const COSTS: usize = 50;

pub(crate) fn budgets(cx: &Context<'_>, of: &BudgetOf) -> Result<BudgetsReply, Refusal> {
    let project = match cx.known_project()? {
        Some(project) => project,
        None => project::of_home(&cx.engine.store),
    };
    let delivered = delivered::delivered(cx, project)?;
    cx.engine.store.read::<_, Refusal>(|tx| {
        let agents = match &of.agent {
            Some(id) => match in_project(tx, project, id)? {
                Some(agent) if grants::may_look_at(cx, tx, project, id)? => vec![agent],
                // The caller must not be able to tell a hidden agent from a missing one.
                _ => return Err(unknown(id)),
            },
            None => {
                let own = cx.caller.agent();
                let mut all = match own {
                    Some(own) => Vec::from_iter(in_project(tx, project, own)?),
                    None => Vec::new(),
                };
                all.extend(tx.family(project, own, LISTED)?);
                all
            }
        };
        let taken = TakenNames::of(tx, project)?;
        let agents = agents
            .into_iter()
            .map(|agent| spent_by(cx, tx, agent, &taken));
        let mut agents = agents.collect::<Result<Vec<_>, Refusal>>()?;
        if of.costs
            && let (Some(_), [one]) = (&of.agent, agents.as_mut_slice())
        {
            one.costs = costs(tx, &one.agent, &one.turn)?;
        }
        Ok(BudgetsReply { agents, delivered })
    })
}

pub(crate) fn spent_by(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    agent: Agent,
    taken: &TakenNames,
) -> Result<AgentBudget, Refusal> {
    let now = cx.engine.world.now();
    let limits = cx.engine.limits_of(tx, &agent.handle)?;
    let spent = tx.spend(&agent.handle, &agent.turn)?;
    let shown = budget(&limits.deref, &spent, &agent.turn);
    let mut open = 0;
    for grant in tx.grants().unspent(&agent.handle)? {
        open += u32::from(aged(tx, grant, now)?.state(now) == GrantState::Open);
    }
    Ok(AgentBudget {
        label: taken.apart(&agent, &agent.label),
        role: agent.role,
        parent: agent.parent,
        inline_tokens: Meter {
            used: u32::try_from(tx.messages().inline_tokens(&agent.handle, &agent.turn)?)
                .unwrap_or(u32::MAX),
            limit: u32::try_from(limits.message.inline_tokens).unwrap_or(u32::MAX),
        },
        repo_spans: shown.repo_spans,
        artifact_sections: shown.artifact_sections,
        sam_items: shown.sam_items,
        tokens: shown.tokens,
        grants: GrantCount {
            open,
            spent: tx.grants().count_spent(&agent.handle)?,
        },
        refusals: tx.refusals(&agent.handle, &agent.turn)?,
        costs: Vec::new(),
        turn: agent.turn,
        agent: agent.handle,
    })
}

/// Ends an agent's turn, for its parent or the user. The new turn starts at the agent's next call,
/// in every process.
pub(crate) fn begin_turn(cx: &Context<'_>, ask: &NextTurn) -> Result<Turned, Refusal> {
    let ground = cx.ground(true)?;
    let turn = match &ask.turn {
        Some(turn) => word("the turn", turn)?,
        None => cx.engine.world.id().to_string(),
    };
    let (now, by) = (cx.engine.world.now(), decide::speaker(cx, None)?);
    decide::decide(cx, &ground, |tx, _| {
        decide::admit(cx, tx)?;
        let found = known_to(cx.caller, tx, ground.project, &ask.agent)?;
        let agent = found.ok_or_else(|| unknown(&ask.agent))?;
        refuse_decision(cx.caller, &kin_of(agent.clone()))?;
        let next = Agent {
            turn: turn.clone(),
            last_call: now,
            ..agent
        };
        Ok(Plan::of(
            vec![Planned::private(Operation::Joined(Box::new(next)), &by)],
            (),
        ))
    })?;
    Ok(Turned {
        agent: ask.agent.clone(),
        turn,
    })
}

/// Counts a refusal because of a budget, so that a person sees who hits which limit. A failure to
/// count changes no answer.
pub(crate) fn count_refusal(cx: &Context<'_>, refusal: &Refusal) {
    let Caller::Agent(handle) = cx.caller else {
        return;
    };
    if matches!(refusal.code, Code::BudgetExceeded | Code::DerefDenied)
        && let Err(error) = record_refusal(cx, handle, refusal)
    {
        tracing::debug!(%error, "cannot count a refusal");
    }
}

fn record_refusal(cx: &Context<'_>, handle: &AgentId, refusal: &Refusal) -> Result<(), Refusal> {
    let Some(called) = cx.called()? else {
        return Ok(());
    };
    let engine = cx.engine;
    let now = engine.world.now();
    let remedy = refusal.remedy.as_ref();
    let figures = remedy.map(|it| it.figures.clone()).unwrap_or_default();
    let told = |tx: &Reader<'_>| -> Result<Option<(Agent, String)>, Refusal> {
        let turn = called.turn(tx)?;
        let agent = tx.agent(handle)?;
        let is_counted = tx.refusals(handle, &turn)? >= COUNTED;
        Ok(agent.filter(|_| !is_counted).map(|agent| (agent, turn)))
    };
    if engine.store.read(told)?.is_none() {
        return Ok(());
    }
    engine.store.write::<_, Refusal>(now, |tx| {
        let Some((agent, turn)) = told(tx)? else {
            return Ok(());
        };
        tx.record(&NewEntry {
            project: agent.project,
            shareable: false,
            agent: Some(handle),
            by: "",
            operation: &Operation::Refused(Refused {
                turn,
                code: refusal.code,
                figures: figures.clone(),
            }),
        })
        .map(drop)
        .map_err(|it: StoreError| it.into())
    })?;
    engine.ring();
    Ok(())
}

/// An agent's costs and refusals in a turn, newest first.
fn costs(tx: &Reader<'_>, agent: &AgentId, turn: &str) -> Result<Vec<Cost>, Refusal> {
    let mut costs = Vec::new();
    for entry in tx.costs(agent, COSTS)? {
        let (of, what) = match entry.known() {
            Some(Operation::Dereferenced(read)) => (
                read.turn,
                CostOf::Read {
                    pointer: read.pointer,
                    tokens: read.tokens,
                    grant: read.grant,
                },
            ),
            Some(Operation::Sent(sent)) => (
                sent.turn,
                CostOf::Message {
                    tokens: sent.tokens,
                },
            ),
            Some(Operation::Refused(refused)) => (
                Some(refused.turn),
                CostOf::Refused {
                    code: refused.code,
                    figures: refused.figures,
                },
            ),
            _ => continue,
        };
        if of.as_deref() == Some(turn) {
            costs.push(Cost { at: entry.at, what });
        }
    }
    Ok(costs)
}
