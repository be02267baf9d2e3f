//! How a person's words reach agents: with the brief in the status, and as new pins, to-dos and
//! answers to its requests with the next reply to any request. The journal says which agent was sent
//! which line, and when; this is recorded after the answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Engine,
    agents::grants::expire_overdue,
    context::{
        Context,
        names::TakenNames,
        plan::{Plan, Planned},
    },
    decide,
    messages::brief::{self, ComposedBrief},
};
use engram_gateway::{
    BriefCandidate, BriefMaterial, PinSubject, compose_brief, lines_that_fit, quoted, riding_lines,
    text_line,
};
use engram_model::{
    AgentId, BriefLine, BriefPart, BriefReply, Caller, GrantKind, GrantState, Operation, ProjectId,
    Refusal, RequestState, SentTo,
};
use engram_store::{ReadRequest, Reader, StoredPin};
use jiff::Timestamp;
use parking_lot::Mutex;

/// The most tokens of the brief in a status: composed, and with its authors and ids.
const COMPOSED: usize = 700;
const IN_STATUS: usize = 900;

/// What agents were sent in this process, by agent.
#[derive(Default)]
pub(crate) struct ReachedLines(Mutex<BTreeMap<AgentId, Unrecorded>>);

/// What one agent was sent.
#[derive(Default)]
struct Unrecorded {
    /// The lines that the journal does not list yet.
    lines: BTreeSet<u64>,
    /// The newest entry of the journal when there was no new line; `None` if there was one since.
    looked: Option<u64>,
}

impl ReachedLines {
    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }

    fn add(&self, agent: &AgentId, lines: impl IntoIterator<Item = u64>) {
        let mut all = self.0.lock();
        all.entry(agent.clone()).or_default().lines.extend(lines);
    }

    /// The lines that the journal does not list yet.
    fn unrecorded(&self, agent: &AgentId) -> BTreeSet<u64> {
        let all = self.0.lock();
        all.get(agent)
            .map(|it| it.lines.clone())
            .unwrap_or_default()
    }

    /// The newest entry of the journal when there was nothing to send this agent or to record.
    fn looked(&self, agent: &AgentId) -> Option<u64> {
        let all = self.0.lock();
        all.get(agent).filter(|it| it.lines.is_empty())?.looked
    }

    /// Whether an agent was sent lines that the journal does not list yet.
    pub(crate) fn is_waiting(&self, agent: &AgentId) -> bool {
        let all = self.0.lock();
        all.get(agent).is_some_and(|sent| !sent.lines.is_empty())
    }

    /// The lines of every agent that the journal does not list yet.
    fn all_unrecorded(&self) -> Vec<(AgentId, BTreeSet<u64>)> {
        let all = self.0.lock();
        let waiting = all.iter().filter(|(_, sent)| !sent.lines.is_empty());
        let lines = waiting.map(|(agent, sent)| (agent.clone(), sent.lines.clone()));
        lines.collect()
    }

    fn set_looked(&self, agent: &AgentId, head: u64) {
        let mut all = self.0.lock();
        all.entry(agent.clone()).or_default().looked = Some(head);
    }

    fn set_recorded(&self, agent: &AgentId, lines: &BTreeSet<u64>) {
        if let Some(sent) = self.0.lock().get_mut(agent) {
            sent.lines.retain(|line| !lines.contains(line));
        }
    }
}

/// Returns the pins, to-dos and answers that an agent has not been sent yet, as many as fit into this
/// many tokens, each with its author. Whatever happens, this process sends no line twice.
pub(crate) fn send_new_lines(
    engine: &Engine,
    agent: &AgentId,
    tokens: usize,
) -> Result<Vec<String>, Refusal> {
    let sent = &engine.caches.reached;
    let looked = sent.looked(agent);
    // Most entries add no line, so most answers need no more than this. The request has just made
    // sure that the home is there.
    let (head, has_news) = engine.store.read(|tx| tx.news_for_brief(looked))?;
    if !has_news {
        sent.set_looked(agent, head);
        return Ok(Vec::new());
    }
    let unrecorded = sent.unrecorded(agent);
    let caller = Caller::Agent(agent.clone());
    let cx = Context::new(engine, &caller);
    let Some(project) = cx.known_project()? else {
        return Ok(Vec::new());
    };
    let made = engine
        .store
        .read::<_, Refusal>(|tx| brief_of_new_lines(&cx, tx, project, &unrecorded))?;
    if made.reply.lines.is_empty() && unrecorded.is_empty() {
        sent.set_looked(agent, head);
        return Ok(Vec::new());
    }
    let (texts, lines) = riding_lines(&made.reply.lines, tokens);
    brief::note_brief(&cx, &with_lines(made, lines))?;
    Ok(texts)
}

/// Records the lines that agents were sent through this process. What cannot be recorded now stays
/// for the next time.
pub(crate) fn record_reached(engine: &Engine) {
    let sent = &engine.caches.reached;
    for (agent, lines) in sent.all_unrecorded() {
        let caller = Caller::Agent(agent.clone());
        match record_lines(&Context::new(engine, &caller), &agent, &lines) {
            Ok(()) => sent.set_recorded(&agent, &lines),
            Err(error) => tracing::debug!(%error, "cannot record what an agent was sent"),
        }
    }
}

/// Records lines as sent to the calling agent.
fn record_lines(cx: &Context<'_>, agent: &AgentId, lines: &BTreeSet<u64>) -> Result<(), Refusal> {
    let active = cx.active_project(false)?;
    decide::plan_and_commit(cx, &active, |tx, _| {
        let mut new = Vec::new();
        for line in lines {
            if !tx.has_reached(agent, *line)? {
                new.push(*line);
            }
        }
        let entry = (!new.is_empty()).then(|| Planned::private(Operation::Reached(new), ""));
        Ok(Plan::of(entry.into_iter().collect(), ()))
    })?;
    Ok(())
}

/// Remembers that the calling agent was sent the pins, to-dos and answers among these lines.
pub(super) fn note_sent(cx: &Context<'_>, lines: &[BriefLine]) {
    if let Caller::Agent(agent) = cx.caller {
        // Claims that no person put there may come again.
        let is_once = |it: &&BriefLine| it.pinned || it.is_todo || it.engram.is_none();
        let entries = lines.iter().filter(is_once).filter_map(|it| it.entry);
        cx.engine.caches.reached.add(agent, entries);
    }
}

/// The lines of an agent's brief that its status carries, each with its author. Its own budget is
/// in the status already. Also says whether any of them is something to do.
pub(crate) fn lines_of_status(
    cx: &Context<'_>,
    project: ProjectId,
) -> Result<(Vec<String>, bool), Refusal> {
    let made = cx.engine.store.read::<_, Refusal>(|tx| {
        let (mut material, pins) = brief::material_for(cx, tx, project, None)?;
        material.budgets.clear();
        let reply = compose_brief(&material, &cx.engine.config.limits, COMPOSED);
        Ok(ComposedBrief {
            reply,
            candidates: material.candidates,
            pins,
        })
    })?;
    let (texts, lines) = lines_that_fit(&made.reply.lines, IN_STATUS);
    let has_todo = lines.iter().any(|it| it.is_todo);
    brief::note_brief(cx, &with_lines(made, lines))?;
    Ok((texts, has_todo))
}

fn with_lines(made: ComposedBrief, lines: Vec<BriefLine>) -> ComposedBrief {
    ComposedBrief {
        reply: BriefReply {
            lines,
            ..made.reply
        },
        ..made
    }
}

/// Adds to each pin and to-do to whom it was sent; for the user.
pub(super) fn fill_sent(
    tx: &Reader<'_>,
    project: ProjectId,
    lines: &mut [BriefLine],
) -> Result<(), Refusal> {
    let taken = TakenNames::of(tx, project)?;
    for line in lines.iter_mut().filter(|it| it.pinned || it.is_todo) {
        let Some(entry) = line.entry else { continue };
        for (handle, at) in tx.reached_by(entry)? {
            let agent = tx.agent(&handle)?;
            line.sent.push(SentTo {
                name: agent.map_or_else(String::new, |it| taken.distinguish(&it, &it.label)),
                agent: handle,
                at,
            });
        }
    }
    Ok(())
}

/// The pins, the to-dos of the user, and the answers to its requests, that the calling agent was not
/// sent yet. Looks at a bounded number of them, and composes nothing if none is new.
fn brief_of_new_lines(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    sent: &BTreeSet<u64>,
) -> Result<ComposedBrief, Refusal> {
    let mut made = ComposedBrief::default();
    let Some(agent) = cx.agent()? else {
        return Ok(made);
    };
    let is_new = |entry: u64| {
        let is_sent = sent.contains(&entry) || tx.has_reached(&agent.handle, entry)?;
        Ok::<_, Refusal>(!is_sent)
    };
    // A parent need not be told what it pinned itself.
    let mut pins: Vec<StoredPin> = brief::pins_for(cx, tx, project)?;
    pins.retain(|it| it.agent.as_ref() != Some(&agent.handle));
    let (pinned, mut found) = brief::pinned_claims(cx, tx, &pins)?;
    let mut new = Vec::new();
    for pin in pinned {
        let of_claim = match &pin.what {
            PinSubject::Claim(id) => found.iter().find(|it| it.id == *id).map(|it| it.seq),
            PinSubject::Text(_) => None,
        };
        if is_new(of_claim.unwrap_or_default().max(pin.id))? {
            new.push(pin);
        }
    }
    let mut has_todo = false;
    for todo in brief::open_todos(cx, tx, project)? {
        if todo.agent.is_none() && is_new(todo.seq)? {
            has_todo = true;
            found.push(todo);
        }
    }
    let answers = answers_to(tx, &agent.handle, cx.engine.world.now())?;
    let mut told = Vec::new();
    for line in answers {
        if is_new(line.entry.unwrap_or_default())? {
            told.push(line);
        }
    }
    if new.is_empty() && !has_todo {
        made.reply.lines = told;
        return Ok(made);
    }
    let candidates = brief::candidates_of(cx, tx, project, found)?;
    let is_steering = |it: &BriefCandidate| {
        it.is_users || new.iter().any(|pin| pin.what == PinSubject::Claim(it.id))
    };
    let material = BriefMaterial {
        candidates: candidates.into_iter().filter(is_steering).collect(),
        pins: new,
        roles: Vec::new(),
        budgets: Vec::new(),
        grants: Vec::new(),
        run: Some(agent.run),
        reader: Some(agent.handle.clone()),
        now: cx.engine.world.now(),
    };
    let limits = &cx.engine.config.limits;
    made.reply = compose_brief(&material, limits, limits.message.inline_tokens);
    made.reply
        .lines
        .retain(|it| it.pinned || it.part == BriefPart::Todo);
    // What an agent waits for comes first.
    made.reply.lines.splice(0..0, told);
    made.candidates = material.candidates;
    Ok(made)
}

/// The most requests of an agent whose answers it is told of.
const MAX_ANSWERS: usize = 5;

/// A line for each of the last requests of an agent that was granted and not read yet, or denied.
fn answers_to(tx: &Reader<'_>, agent: &AgentId, now: Timestamp) -> Result<Vec<BriefLine>, Refusal> {
    let last = tx.grants().last_requests_of(agent, MAX_ANSWERS)?;
    let mut open = Vec::new();
    for grant in tx.grants().unspent(agent)? {
        let grant = expire_overdue(tx, grant, now)?;
        if grant.state(now) == GrantState::Open {
            open.push(grant);
        }
    }
    let is_unread = |request: &ReadRequest| {
        open.iter().any(|it| match &it.what {
            GrantKind::Read { pointer, .. } => *pointer == request.pointer,
            _ => false,
        })
    };
    let line = |request: &ReadRequest| {
        let pointer = quoted(&request.pointer);
        let text = match request.state {
            RequestState::Granted if is_unread(request) => {
                format!("Your request to read {pointer} was granted: read it with engram_deref.")
            }
            RequestState::Denied => {
                let why = request.why.as_deref().unwrap_or_default();
                let why = match why.trim_end_matches('.') {
                    "" => String::new(),
                    why => format!(": {}", quoted(why)),
                };
                format!("Your request to read {pointer} was denied{why}.")
            }
            _ => return None,
        };
        Some(BriefLine {
            entry: request.answered,
            ..text_line(text, BriefPart::Grant)
        })
    };
    Ok(last.iter().filter_map(line).collect())
}
