//! What agents have spent of their turns, and the turns themselves.

use crate::{
    agents::{
        grants::{self, expire_overdue},
        message_cost,
        opening::{unknown_agent, validated_line},
    },
    context::{
        Context, author,
        caller::{agent_in_project, kin_of, known_to},
        names::TakenNames,
        plan::{Plan, Planned},
        rates,
    },
    decide,
};
use engram_gateway::{budget_of, refuse_decision};
use engram_model::{
    AgentBudget, AgentId, BudgetOf, BudgetsReply, Caller, Code, GrantCount, GrantState, Meter,
    NextTurn, Operation, Refusal, Turned,
    operation::{Agent, Refused},
};
use engram_store::{FamilyOf, Reader};
use jiff::{SignedDuration, Timestamp};

/// The most agents that are listed.
const MAX_LISTED: usize = 200;
/// The most refusals of one turn that are counted, because counting costs a write.
const COUNTED: u32 = 100;

/// The budgets of one agent, or of the caller and its children (for the user: of all agents), and
/// what the project's messages cost.
pub(crate) fn list_budgets(cx: &Context<'_>, of: &BudgetOf) -> Result<BudgetsReply, Refusal> {
    let project = cx.project_or_home()?;
    let delivered = message_cost::cost_of_messages(cx, project)?;
    cx.engine.store.read::<_, Refusal>(|tx| {
        let agents = match &of.agent {
            Some(id) => match agent_in_project(tx, project, id)? {
                Some(agent) if grants::may_see_agent(cx, tx, project, id)? => vec![agent],
                // The caller must not be able to tell a hidden agent from a missing one.
                _ => return Err(unknown_agent(id)),
            },
            None => {
                let own = cx.caller.agent();
                let mut all = match own {
                    Some(own) => Vec::from_iter(agent_in_project(tx, project, own)?),
                    None => Vec::new(),
                };
                all.extend(tx.family(
                    project,
                    own.map_or(FamilyOf::Everybody, FamilyOf::Parent),
                    MAX_LISTED,
                )?);
                all
            }
        };
        let taken = TakenNames::of(tx, project)?;
        let agents = agents
            .into_iter()
            .map(|agent| agent_budget(cx, tx, agent, &taken));
        let agents = agents.collect::<Result<Vec<_>, Refusal>>()?;
        Ok(BudgetsReply { agents, delivered })
    })
}

/// What an agent has used of its budget in its turn, and its limits.
pub(crate) fn agent_budget(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    agent: Agent,
    taken: &TakenNames,
) -> Result<AgentBudget, Refusal> {
    let now = cx.engine.world.now();
    let limits = cx.engine.limits_of(tx, &agent.handle)?;
    let idle = SignedDuration::from_secs(limits.deref.turn_idle_seconds);
    let spent = tx.spend(&agent.handle, &agent.turn)?;
    let shown = budget_of(&limits.deref, &spent, &agent.turn);
    let mut open = 0;
    for grant in tx.grants().unspent(&agent.handle)? {
        open += u32::from(expire_overdue(tx, grant, now)?.state(now) == GrantState::Open);
    }
    Ok(AgentBudget {
        label: taken.distinguish(&agent, &agent.label),
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
        // A turn may be configured never to end.
        until: agent.last_call.checked_add(idle).unwrap_or(Timestamp::MAX),
        turn: agent.turn,
        agent: agent.handle,
    })
}

/// Ends an agent's turn, for its parent or the user. The new turn starts at the agent's next call,
/// in every process.
pub(crate) fn begin_turn(cx: &Context<'_>, ask: &NextTurn) -> Result<Turned, Refusal> {
    let active = cx.active_project(true)?;
    let turn = match &ask.turn {
        Some(turn) => validated_line("the turn", turn)?,
        None => cx.engine.world.new_id().to_string(),
    };
    let (now, by) = (cx.engine.world.now(), author::author_of(cx, None)?);
    decide::plan_and_commit(cx, &active, |tx, _| {
        rates::admit_write(cx, tx)?;
        let found = known_to(cx.caller, tx, active.project, &ask.agent)?;
        let agent = found.ok_or_else(|| unknown_agent(&ask.agent))?;
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

/// Counts a refusal that a budget caused, so that a person sees who hits which limit. A failure to
/// count does not change the answer.
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
    let Some(called) = cx.calling_agent()? else {
        return Ok(());
    };
    let engine = cx.engine;
    let remedy = refusal.remedy.as_ref();
    let figures = remedy.map(|it| it.figures.clone()).unwrap_or_default();
    let uncounted = |tx: &Reader<'_>| -> Result<Option<(Agent, String)>, Refusal> {
        let turn = called.current_turn(tx)?;
        let agent = tx.agent(handle)?;
        let is_counted = tx.refusals(handle, &turn)? >= COUNTED;
        Ok(agent.filter(|_| !is_counted).map(|agent| (agent, turn)))
    };
    let Some((agent, _)) = engine.store.read(uncounted)? else {
        return Ok(());
    };
    decide::record_unplanned(engine, agent.project, Some(handle), |tx| {
        let refused = |turn| {
            Operation::Refused(Refused {
                turn,
                code: refusal.code,
                figures,
            })
        };
        Ok(uncounted(tx)?.map(|it| refused(it.1)).into_iter().collect())
    })
}
