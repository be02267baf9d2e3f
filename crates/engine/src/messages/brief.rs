//! The shared brief: gathers its material. The gateway composes it; `pins.rs` pins lines to it.

use crate::{
    agents::{
        grants::expire_overdue,
        opening::{self, unknown_agent},
        served::prints_of_shown,
    },
    conflicts::{list, risks::may_see_version},
    context::{
        Context,
        caller::{self, agent_in_project},
        names::{self, ENGINE, TakenNames},
    },
    evidence::health::stored_health,
    messages::{answers, reached},
};
use engram_gateway::{
    BriefCandidate, BriefLinePin, BriefMaterial, BriefRole, OpenGrant, PinSubject, compose_brief,
};
use engram_model::{
    AgentId, BriefOf, BriefPart, BriefReply, Caller, DerefLimits, Engram, Figure, GrantKind,
    GrantState, Kind, Pointer, ProjectId, Refusal, Scope, ShownBrief, Spend,
    operation::{Agent, Served},
};
use engram_store::{FamilyOf, Reader, StoredPin, Traits};
use jiff::SignedDuration;

/// How many claims are considered: the newest, the newest constraints, policies and risks, and
/// those that agents read most.
const NEWEST: usize = 100;
const LASTING: usize = 40;
const MAX_READ: usize = 60;
const TODOS: usize = 20;
/// The most agents, or children of one, that are considered; and the most whose budgets are shown.
const FAMILY: usize = 200;
const BUDGETS: usize = 8;

/// What an agent has spent of each budget, by the budget's name.
type BudgetFigures = Vec<(String, Figure)>;

/// A brief with its material.
#[derive(Default)]
pub(super) struct ComposedBrief {
    pub(super) reply: BriefReply,
    pub(super) pins: Vec<StoredPin>,
    pub(super) candidates: Vec<BriefCandidate>,
}

/// The caller's brief. Counts as shown to the caller.
pub(crate) fn shared_brief(cx: &Context<'_>) -> Result<BriefReply, Refusal> {
    opening::refuse_unknown_caller(cx)?;
    let project = cx.project()?;
    let store = &cx.engine.store;
    let made = store.read::<_, Refusal>(|tx| {
        let mut made = brief_for(cx, tx, project, None)?;
        if cx.agent()?.is_none() {
            reached::fill_sent(tx, project, &mut made.reply.lines)?;
        }
        Ok(made)
    })?;
    note_brief(cx, &made)?;
    Ok(made.reply)
}

/// An agent's brief as shown to the user. It does not count as shown to the agent, and the agent's
/// turn does not change.
pub(crate) fn brief_for_user(cx: &Context<'_>, of: &BriefOf) -> Result<ShownBrief, Refusal> {
    let (project, limits) = (cx.project()?, &cx.engine.config.limits.message);
    let store = &cx.engine.store;
    let mut brief = match &of.agent {
        None => store.read::<_, Refusal>(|tx| Ok(brief_for(cx, tx, project, None)?.reply))?,
        Some(id) => {
            let found = store.read(|tx| agent_in_project(tx, project, id))?;
            let agent = found.ok_or_else(|| unknown_agent(id))?;
            let caller = Caller::Agent(id.clone());
            let seen = Context::as_seen(cx.engine, &caller, agent);
            store.read::<_, Refusal>(|tx| Ok(brief_for(&seen, tx, project, None)?.reply))?
        }
    };
    store.read::<_, Refusal>(|tx| reached::fill_sent(tx, project, &mut brief.lines))?;
    Ok(ShownBrief {
        brief,
        most_lines: limits.brief_lines as u64,
        most_tokens: limits.inline_tokens as u64,
    })
}

/// The caller's brief; `first` is pinned before everything else.
pub(super) fn brief_for(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    first: Option<StoredPin>,
) -> Result<ComposedBrief, Refusal> {
    let limits = &cx.engine.config.limits;
    let (material, pins) = material_for(cx, tx, project, first)?;
    Ok(ComposedBrief {
        reply: compose_brief(&material, limits, limits.message.inline_tokens),
        candidates: material.candidates,
        pins,
    })
}

/// The pins for the caller: all for the user, those of the user and of its ancestors for an agent.
pub(super) fn pins_for(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
) -> Result<Vec<StoredPin>, Refusal> {
    let agent = cx.agent()?;
    let mut pins = tx.pins(project)?;
    let line = caller::agent_and_ancestors(tx, agent)?;
    let is_near = |owner: &AgentId| line.iter().any(|one| one.handle == *owner);
    pins.retain(|pin| agent.is_none() || pin.agent.as_ref().is_none_or(is_near));
    Ok(pins)
}

/// The material of the caller's brief, and its pins.
pub(super) fn material_for(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    first: Option<StoredPin>,
) -> Result<(BriefMaterial, Vec<StoredPin>), Refusal> {
    let agent = cx.agent()?;
    let mut pins = pins_for(cx, tx, project)?;
    pins.splice(0..0, first);
    let (candidates, pinned) = brief_candidates(cx, tx, project, &pins)?;
    let near = agent_and_children(tx, project, agent)?;
    let taken = TakenNames::of(tx, project)?;
    let roles = near.iter().filter_map(|it| {
        Some(BriefRole {
            role: it.role.clone()?,
            reads: it.topics.read.clone(),
        })
    });
    let material = BriefMaterial {
        pins: pinned,
        roles: roles.collect(),
        budgets: budgets_of(cx, tx, &near, &taken)?,
        grants: grants_of(cx, tx, &near, &taken)?,
        run: agent.map(|it| it.run),
        reader: agent.map(|it| it.handle.clone()),
        now: cx.engine.world.now(),
        candidates,
    };
    Ok((material, pins))
}

/// The claims that a brief may show, and the pins. Each query is bounded, however many claims there
/// are.
fn brief_candidates(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    pins: &[StoredPin],
) -> Result<(Vec<BriefCandidate>, Vec<BriefLinePin>), Refusal> {
    let now = cx.engine.world.now();
    let run = cx.agent()?.map(|it| it.run);
    let seen = is_for_brief(cx, project)?;
    let mut found = tx.newest_lasting(project, now, NEWEST, &seen)?;
    found.extend(open_todos(cx, tx, project)?);
    for kind in [Kind::Constraint, Kind::Policy, Kind::Risk] {
        found.extend(tx.newest_of_kind(project, kind, now, LASTING, &seen)?);
    }
    for (id, _) in tx.read_most(project, run, MAX_READ)? {
        let read = tx.engram(id)?;
        found.extend(read.filter(|it| it.valid_until.is_none() && it.holds_now(now)));
    }
    let (pinned, heads) = pinned_claims(cx, tx, pins)?;
    found.extend(heads);
    Ok((candidates_of(cx, tx, project, found)?, pinned))
}

/// The newest to-dos that hold and that the caller's brief may show.
pub(super) fn open_todos(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
) -> Result<Vec<Engram>, Refusal> {
    let seen = is_for_brief(cx, project)?;
    Ok(tx.newest_todos(project, cx.engine.world.now(), TODOS, seen)?)
}

/// Whether a version may be in the caller's brief. Claims of a run appear neither in the user's
/// brief nor in that of another run.
fn is_for_brief(cx: &Context<'_>, project: ProjectId) -> Result<impl Fn(&Traits) -> bool, Refusal> {
    let visibility = cx.visibility_in(project)?;
    let has_run = cx.agent()?.is_some();
    Ok(move |it: &Traits| {
        visibility.may_see_of(it.project, it.scope, it.run, &it.topic)
            && (it.scope != Scope::Run || has_run)
    })
}

/// The pins that still lead to something, and the claims among them.
pub(super) fn pinned_claims(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    pins: &[StoredPin],
) -> Result<(Vec<BriefLinePin>, Vec<Engram>), Refusal> {
    let now = cx.engine.world.now();
    let (mut pinned, mut heads) = (Vec::new(), Vec::new());
    for pin in pins {
        let what = match (pin.lineage, &pin.text) {
            (Some(lineage), _) => {
                let versions = tx.lineage(lineage)?;
                let head = versions.first();
                let head = head.filter(|it| it.valid_until.is_none() && it.holds_now(now));
                let Some(head) = head.filter(|it| is_as_pinned(pin, it, &versions)) else {
                    continue;
                };
                let head = head.clone();
                let id = head.id;
                heads.push(head);
                PinSubject::Claim(id)
            }
            (None, Some(text)) => PinSubject::Text(text.clone()),
            // Its words were erased.
            (None, None) => continue,
        };
        let by = match &pin.agent {
            Some(handle) => tx.agent(handle)?.map(|it| names::recorded_name(&it.label)),
            None => None,
        };
        pinned.push(BriefLinePin {
            id: pin.seq,
            order: pin.place,
            what,
            by,
        });
    }
    Ok((pinned, heads))
}

/// Whether a claim's newest version may stand for what was pinned: its author is that of the pinned
/// version, the user, or whoever pinned it. Another agent cannot change what a pin says.
fn is_as_pinned(pin: &StoredPin, head: &Engram, versions: &[Engram]) -> bool {
    let pinned = versions.iter().find(|it| it.seq < pin.seq).unwrap_or(head);
    head.agent.is_none() || head.agent == pinned.agent || head.agent == pin.agent
}

/// Claims as the caller's brief may show them, with the state of their evidence.
pub(super) fn candidates_of(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    mut found: Vec<Engram>,
) -> Result<Vec<BriefCandidate>, Refusal> {
    let (visibility, run) = (cx.visibility_in(project)?, cx.agent()?.map(|it| it.run));
    found.retain(|it| !it.redacted && it.project == project);
    let mut seen = Vec::with_capacity(found.len());
    for engram in found {
        if may_see_version(tx, &visibility, &engram)? {
            seen.push(engram);
        }
    }
    let mut found = seen;
    found.sort_by_key(|it| it.seq);
    found.dedup_by_key(|it| it.seq);
    list::tell_conflicts(cx, tx, &mut found)?;
    let worktree = cx.worktree()?;
    let is_looked_at = tx.worktree_state(project, &worktree)?.is_some();
    let candidate = |engram: Engram| {
        let health = stored_health(tx, &engram, &worktree, is_looked_at)?;
        // Only the user is shown answers as such: for agents, they are claims like any other.
        let answers = if run.is_none() {
            answers::answered_todo(tx, &engram, cx.engine.world.now())?
        } else {
            None
        };
        Ok::<_, Refusal>(BriefCandidate {
            answers,
            reads: tx.reads_of(project, run, engram.id)?,
            evidence: health.map(|it| it.standing),
            ..candidate_of(engram)
        })
    };
    found.into_iter().map(candidate).collect()
}

/// What each agent with an open turn has spent, and its limits; for the user, only of those that have
/// spent something.
fn budgets_of(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    near: &[Agent],
    taken: &TakenNames,
) -> Result<Vec<(String, BudgetFigures)>, Refusal> {
    let idle = SignedDuration::from_secs(cx.engine.config.limits.deref.turn_idle_seconds);
    let now = cx.engine.world.now();
    let called = near
        .iter()
        .filter(|it| now.duration_since(it.last_call).abs() <= idle);
    let figures = |spend: Spend, limits: &DerefLimits| {
        [
            ("repo_spans", spend.repo_spans, limits.repo_spans),
            (
                "artifact_sections",
                spend.artifact_sections,
                limits.artifact_sections,
            ),
            ("sam_items", spend.sam_items, limits.sam_items),
            ("tokens", spend.tokens, limits.tokens),
        ]
        .map(|(name, used, limit)| {
            let (used, limit) = (u64::from(used), u64::from(limit));
            (name.to_owned(), Figure { used, limit })
        })
        .to_vec()
    };
    let is_for_user = cx.caller == &Caller::User;
    let mut budgets: Vec<(String, BudgetFigures)> = Vec::new();
    for agent in called {
        if budgets.len() == BUDGETS {
            break;
        }
        let spent = tx.spend(&agent.handle, &agent.turn)?;
        let name = taken.distinguish(agent, &agent.label);
        // Of the connections of one client, the user is told about the newest.
        let is_known = budgets.iter().any(|it| it.0 == name);
        if is_for_user && (is_known || spent == Spend::default()) {
            continue;
        }
        let limits = cx.engine.limits_of(tx, &agent.handle)?;
        budgets.push((name, figures(spent, &limits.deref)));
    }
    Ok(budgets)
}

/// The open grants of these agents.
fn grants_of(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    near: &[Agent],
    taken: &TakenNames,
) -> Result<Vec<OpenGrant>, Refusal> {
    let now = cx.engine.world.now();
    let mut open = Vec::new();
    for agent in near {
        for grant in tx.grants().unspent(&agent.handle)? {
            let grant = expire_overdue(tx, grant, now)?;
            if grant.state(now) != GrantState::Open {
                continue;
            }
            let (pointer, cap) = match grant.what {
                GrantKind::Read {
                    pointer,
                    cap_tokens,
                } => (Some(pointer), cap_tokens),
                GrantKind::Code { chars } => (None, chars),
            };
            open.push(OpenGrant {
                to: taken.distinguish(agent, &agent.label),
                pointer,
                cap,
                expires_at: grant.expires_at,
            });
        }
    }
    Ok(open)
}

/// Records the quotations in a brief as shown to its reader.
pub(super) fn note_brief(cx: &Context<'_>, made: &ComposedBrief) -> Result<(), Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(());
    };
    // The parts with words of others come first.
    let lines = made.reply.lines.iter();
    let lines = lines.filter(|it| it.part <= BriefPart::Risk);
    let prints = lines.flat_map(|line| {
        let said = made.candidates.iter().find(|it| Some(it.id) == line.engram);
        match said {
            Some(mine) if mine.agent.as_ref() == Some(&agent.handle) => Vec::new(),
            Some(claim) => prints_of_shown(&claim.claim, line.pointers.iter().cloned()),
            None => prints_of_shown(&line.text, None),
        }
    });
    let served = Served::of_unasked(agent, prints.collect());
    cx.engine.caches.served.add(served);
    reached::note_sent(cx, &made.reply.lines);
    Ok(())
}

fn candidate_of(engram: Engram) -> BriefCandidate {
    BriefCandidate {
        author: names::author_of(&engram),
        id: engram.id,
        entry: engram.seq,
        kind: engram.kind,
        topic: engram.topic,
        claim: engram.claim,
        is_users: engram.agent.is_none() && engram.provenance.created_by != ENGINE,
        agent: engram.agent,
        scope: engram.scope,
        run: engram.run,
        verified: engram.verified,
        confidence: engram.confidence,
        recorded_at: engram.recorded_at,
        reads: 0,
        evidence: None,
        is_disputed: !engram.conflicts.is_empty(),
        pointers: engram.pointers.iter().map(Pointer::to_string).collect(),
        answers: None,
    }
}

/// An agent and its children, or for the user all agents that did something; most recent call
/// first. Leaves out those that the user hid or closed.
fn agent_and_children(
    tx: &Reader<'_>,
    project: ProjectId,
    agent: Option<&Agent>,
) -> Result<Vec<Agent>, Refusal> {
    let of = agent.map_or(FamilyOf::Active, |it| FamilyOf::Parent(&it.handle));
    let mut near = tx.family(project, of, FAMILY)?;
    near.retain(|it| !it.is_hidden && !it.is_closed);
    if let Some(agent) = agent {
        near.extend(agent_in_project(tx, project, &agent.handle)?);
        near.sort_by(|one, two| (two.last_call, &one.handle).cmp(&(one.last_call, &two.handle)));
    }
    Ok(near)
}
