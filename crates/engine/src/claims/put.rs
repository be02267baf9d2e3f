//! Put: gathers the evidence, plans, and commits once.

use std::cell::OnceCell;

use crate::{
    agents::served,
    claims::{
        close,
        lineage::{self, head_of, superseded_finding},
        note::event_of,
        outdated, promote,
    },
    conflicts::{
        findings::{self, CompareOptions, TOLD},
        list,
        near::{self, Nearest},
        risks::refuse_open_report,
    },
    context::{
        ActiveProject, Context, author,
        plan::{Plan, Planned, content_hash},
        rates,
        screen::{screen_claim, screen_text},
        visibility::Visibility,
    },
    decide::{self, FollowUp},
    evidence::gather::{self, GatheredEvidence, entries_of_copies},
};
use engram_model::{
    Caller, Code, Draft, Durability, Engram, EngramId, Finding, JournalTime, LineageId, MemoryOp,
    NewEngram, Note, Noticed, OWN_EVENT, Operation, Pointer, PointerInput, ProjectId, Provenance,
    PutReply, Record, Refusal, Scope, Source,
    operation::{Agent, Event},
};
use engram_store::{Due, Reader, side};
use sha2::{Digest, Sha256};

/// Why a claim is put.
#[derive(Clone, Copy)]
pub(crate) enum Occasion<'a> {
    /// An agent or the user makes it.
    Said,
    /// An agent or the user makes it, and this second author makes the same claim.
    SaidWith(&'a str),
    /// Somebody confirms this version: the claim keeps its author, and its pointers move to where
    /// its evidence is now.
    Confirmed(&'a Engram),
    /// A to-do asks whether this claim still holds.
    Asks(&'a Engram),
}

/// A claim that was parsed and whose evidence was looked up. Its effect is decided by the state of
/// the home.
pub(crate) struct PreparedClaim<'a> {
    occasion: Occasion<'a>,
    new: NewEngram,
    pub(crate) found: GatheredEvidence,
    /// The event of making the claim, if that is its evidence.
    own: Option<Event>,
    agent: Option<&'a Agent>,
    /// Who puts it: the author, except for a confirmation.
    by: String,
    content_hash: String,
    /// The claims that are near it, once the first plan has looked for them. A second plan, made
    /// under the write lock, does not look again.
    nearest: OnceCell<Nearest>,
}

/// Stores a claim, and what the steps say of it. Without a pointer, or with its evidence in words,
/// it points to the event of making it, which is recorded too.
pub(crate) fn commit_claim(
    cx: &Context<'_>,
    mut draft: Draft,
    words: Option<String>,
    steps: &[FollowUp<'_, PutReply>],
) -> Result<PutReply, Refusal> {
    if !draft.says_it() || (words.is_none() && !draft.pointers.is_empty()) {
        return put_claim_then(cx, draft, None, Occasion::Said, steps);
    }
    let event = own_event(cx, &draft, words.as_deref())?;
    draft
        .pointers
        .push(PointerInput::Text(event.pointer.clone()));
    put_claim_then(cx, draft, Some(event), Occasion::Said, steps)
}

/// Stores a claim, or closes or changes nothing if the draft says so. `own` is the event of making
/// the claim, if that is part of its evidence.
pub(crate) fn put_claim(
    cx: &Context<'_>,
    draft: Draft,
    own: Option<Event>,
    occasion: Occasion<'_>,
) -> Result<PutReply, Refusal> {
    put_claim_then(cx, draft, own, occasion, &[])
}

fn put_claim_then(
    cx: &Context<'_>,
    mut draft: Draft,
    own: Option<Event>,
    occasion: Occasion<'_>,
    steps: &[FollowUp<'_, PutReply>],
) -> Result<PutReply, Refusal> {
    match draft.operation {
        Some(MemoryOp::Delete) => return lineage::retire_lineage(cx, draft.retired_lineage()?),
        Some(MemoryOp::None) => return Ok(PutReply::of_no_change(cx.journal_time()?.0)),
        _ => {}
    }
    if draft.scope.is_none() {
        draft.scope = default_scope(cx);
    }
    let claim = prepare_claim(cx, draft.validate(cx.limits()?)?, own, occasion)?;
    let active = cx.active_project(true)?;
    findings::open_index(cx);
    let plan = |tx: &Reader<'_>, now| {
        rates::admit_write(cx, tx)?;
        plan_claim(cx, tx, now, &active, &claim, &[])
    };
    let decided = decide::plan_and_commit_then(cx, &active, plan, steps)?;
    let reply = PutReply {
        seq: decided.seq_or(decided.answer.seq),
        ..decided.answer
    };
    served::note_findings(cx, &reply.findings)?;
    served::note_near(cx, &reply.near)?;
    Ok(reply)
}

/// The default scope, if agents may not write into the project's.
fn default_scope(cx: &Context<'_>) -> Option<Scope> {
    let written = &cx.engine.config.scopes.agents_write;
    match cx.caller {
        Caller::Agent(_) if !written.contains(&Scope::Project) => written.first().copied(),
        _ => None,
    }
}

/// Looks up the evidence of a claim, and makes sure that it can be found again.
pub(crate) fn prepare_claim<'a>(
    cx: &'a Context<'_>,
    new: NewEngram,
    own: Option<Event>,
    occasion: Occasion<'a>,
) -> Result<PreparedClaim<'a>, Refusal> {
    engram_gateway::refuse_scope(cx.caller, new.scope, &cx.engine.config.scopes)?;
    close::refuse_topic(cx, &new.topic)?;
    screen_claim(&new)?;
    let found = gather::gather_evidence(cx, &new.pointers, own.as_ref())?;
    Ok(PreparedClaim {
        occasion,
        by: author::author_of(cx, new.agent.as_deref())?,
        content_hash: content_hash(&new.claim),
        new,
        found,
        own,
        agent: cx.agent()?,
        nearest: OnceCell::new(),
    })
}

/// The event of making a claim. Its slug is a digest: an address is never erased, so it must not
/// repeat erasable words.
fn own_event(cx: &Context<'_>, draft: &Draft, words: Option<&str>) -> Result<Event, Refusal> {
    let claim = draft.claim.trim();
    screen_text("the claim", claim)?;
    screen_text("provenance", words.unwrap_or_default())?;
    let text = match words {
        Some(words) => format!("{claim}\n\nProvenance: {words}"),
        None => claim.to_owned(),
    };
    let id = engram_model::EventId(cx.engine.world.new_id());
    event_of(
        id,
        cx.journal_time()?,
        &Note {
            kind: OWN_EVENT.to_owned(),
            slug: hex::encode(&Sha256::digest(text.as_bytes())[..8]),
            text,
            agent: None,
        },
    )
}

/// Plans a claim. The answer is about the claim's own entry, or about a claim that is already
/// stored.
pub(crate) fn plan_claim(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    now: JournalTime,
    active: &ActiveProject,
    claim: &PreparedClaim<'_>,
    before: &[Planned],
) -> Result<Plan<PutReply>, Refusal> {
    let visibility = cx.visibility_in(active.project)?;
    refuse_ended(tx, claim.occasion)?;
    refuse_claim_echo(cx, tx, claim)?;
    let mut findings = Vec::new();
    let head = match claim.new.corrects {
        Some(id) => {
            let head = head_of(tx, active.project, &visibility, id)?;
            close::refuse_replace(cx, tx, &head, &claim.new)?;
            refuse_open_report(tx, &head, cx.engine.world.now())?;
            Some(head)
        }
        None => {
            let held = find_same_claims(cx, tx, active.project, &visibility, claim)?;
            // When the user repeats an agent's claim, it does not become the user's. The user gets
            // a separate claim, which no agent may end.
            let is_of_equals = |it: &&Engram| claim.agent.is_some() || it.agent.is_none();
            let mut same = held.iter().filter(is_of_equals);
            if let Some(same) = same.find(|it| already_says(it, &claim.new, &claim.found)) {
                return plan_repeated_claim(cx, tx, claim, same);
            }
            findings.extend(held.iter().map(|same| {
                let note = if already_says(same, &claim.new, &claim.found) {
                    "An agent made the same claim with this evidence."
                } else {
                    "The same claim exists with other evidence."
                };
                Finding::new(Noticed::SameClaim, same.id, note)
            }));
            match claim.new.operation {
                MemoryOp::Update => {
                    outdated::find_outdated(cx, tx, active.project, &visibility, &claim.new)?
                }
                _ => None,
            }
        }
    };
    // A separate finding reports the replaced version.
    findings.retain(|same| head.as_ref().is_none_or(|it| it.id != same.id));
    let engram = new_version(cx, now, active, claim, head.as_ref());
    findings.extend(claim.found.phantoms.iter().map(|label| {
        let note = format!("{label} does not match its digest: dereference it again.");
        Finding::new(Noticed::PhantomRead, engram.id, note)
    }));
    findings.extend(head.as_ref().map(superseded_finding));
    let ending: Vec<EngramId> = head.iter().map(|it| it.id).collect();
    let options = CompareOptions {
        before,
        ..CompareOptions::of(now, &claim.by, &ending)
    };
    let compared = findings::compare_version(cx, tx, &engram, &options);
    let nearest = claim
        .nearest
        .get_or_init(|| near::find_nearest(cx, tx, &engram));
    let known = findings.iter().chain(&compared.findings);
    let known = known.map(|it| it.id).collect();
    let (proposed, near) = near::propose(cx, tx, &engram, nearest, &known)?;
    let answer = PutReply {
        conflicts: compared.conflicts,
        due: compared.told_due(),
        near,
        ..PutReply::of(&engram, [findings, compared.findings].concat())
    };
    let mut all = match &head {
        Some(head) => end_todos(tx, head.lineage_id, &claim.by)?,
        None => Vec::new(),
    };
    all.extend(claim_entries(tx, claim, engram, compared.due)?);
    all.extend(compared.entries);
    all.extend(proposed);
    Ok(Plan::of(all, answer))
}

/// Counts the author of a claim that repeats another on the same evidence, and stores no second
/// claim. The reply reports the conflicts of the stored claim.
fn plan_repeated_claim(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    claim: &PreparedClaim<'_>,
    same: &Engram,
) -> Result<Plan<PutReply>, Refusal> {
    let handle = claim.agent.map(|agent| &agent.handle);
    let mut entries = Vec::new();
    if !tx.has_said(handle, &claim.by, same.id)? {
        entries.push(Planned::corroborated(same, &claim.by));
    }
    let note = "This claim already exists with this evidence.";
    let mut findings = vec![Finding::new(Noticed::Duplicate, same.id, note)];
    let disputes = list::open_conflict_findings(cx, tx, same)?;
    let conflicts = disputes.len() as u64;
    findings.extend(disputes.into_iter().take(TOLD));
    let answer = PutReply {
        memory_op: MemoryOp::None,
        supersedes: None,
        conflicts,
        ..PutReply::of(same, findings)
    };
    Ok(Plan::of(entries, answer))
}

/// The claims that hold and say the same (docs/design.md#repeats-and-corroboration): on this topic,
/// ignoring case and white space; on other topics, in exactly the same words.
fn find_same_claims(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    visibility: &Visibility,
    claim: &PreparedClaim<'_>,
) -> Result<Vec<Engram>, Refusal> {
    let clock = cx.engine.world.now();
    let own = side(&claim.new.topic, &claim.new.claim);
    let mut held = tx.holding_on_side(project, &own, clock)?;
    let elsewhere = tx.same_content(project, &claim.content_hash, clock)?;
    let said: Vec<EngramId> = held.iter().map(|it| it.id).collect();
    held.extend(elsewhere.into_iter().filter(|it| !said.contains(&it.id)));
    held.retain(|it| visibility.may_see(it));
    held.sort_by_key(|it| it.seq);
    Ok(held)
}

/// Refuses a claim that only repeats what its author was shown. The event of making the claim does
/// not count as evidence.
fn refuse_claim_echo(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    claim: &PreparedClaim<'_>,
) -> Result<(), Refusal> {
    if !matches!(claim.occasion, Occasion::Said) {
        return Ok(());
    }
    let pointers = claim.found.pointers.iter().map(Pointer::to_string);
    let own = claim.own.as_ref().map(|it| it.pointer.as_str());
    let evidence = pointers.filter(|it| Some(it.as_str()) != own);
    served::refuse_echo(cx, tx, &claim.new.claim, evidence)
}

/// The entries of the claim, preceded by its evidence: stored files, and the event of making it.
/// The claim comes right after its event, where [`claim_of_event`] looks for it to decide who may
/// see the event.
///
/// [`claim_of_event`]: crate::context::shelf::claim_of_event
fn claim_entries(
    tx: &Reader<'_>,
    claim: &PreparedClaim<'_>,
    engram: Engram,
    due: Option<Due>,
) -> Result<Vec<Planned>, Refusal> {
    let shareable = engram.scope != Scope::Run;
    let planned = |operation| Planned::new(operation, &claim.by, shareable);
    let GatheredEvidence {
        pointers,
        snapshots,
        ..
    } = &claim.found;
    let copies = entries_of_copies(tx, engram.project, pointers, snapshots)?;
    let noted = claim.own.clone().map(Operation::Noted);
    let mut entries: Vec<Planned> = copies.into_iter().chain(noted).map(planned).collect();
    let said_with = match claim.occasion {
        Occasion::SaidWith(voice) => Some(Planned::corroborated(&engram, voice)),
        _ => None,
    };
    entries.push(Planned::stored(engram, &claim.by, due).for_answer());
    entries.extend(said_with);
    Ok(entries)
}

fn new_version(
    cx: &Context<'_>,
    now: JournalTime,
    active: &ActiveProject,
    claim: &PreparedClaim<'_>,
    head: Option<&Engram>,
) -> Engram {
    let PreparedClaim {
        new, found, agent, ..
    } = claim;
    let engine = cx.engine;
    let clock = engine.world.now();
    let id = EngramId(engine.world.new_id());
    let ephemeral = new.durability == Durability::Ephemeral;
    // A user's correction in the author's name leaves the claim with the author.
    let same = head.filter(|it| agent.is_none() && it.provenance.created_by == claim.by);
    let said = Provenance {
        created_at: clock,
        created_by: claim.by.clone(),
        // An agent may not claim that the user's tools said something.
        source: match (agent, new.source) {
            (Some(_), None | Some(Source::Tool)) => Source::Agent,
            (_, given) => given.unwrap_or(Source::Tool),
        },
    };
    let said_by = match agent {
        Some(agent) => Some(agent.handle.clone()),
        None => same.and_then(|it| it.agent.clone()),
    };
    // A user's correction keeps the claim's run.
    let of = head.filter(|_| agent.is_none());
    let said_in = agent.map_or_else(|| of.and_then(|it| it.run), |agent| Some(agent.run));
    let (provenance, whose, run, asks) = match claim.occasion {
        Occasion::Confirmed(of) => (of.provenance.clone(), of.agent.clone(), of.run, of.asks),
        Occasion::Asks(of) => (said, said_by, of.run, Some(of.lineage_id)),
        Occasion::Said | Occasion::SaidWith(_) => {
            // What corrects a to-do or an answer is about the same claim, whoever says it.
            (said, said_by, said_in, head.and_then(|it| it.asks))
        }
    };
    let ttl = match (&new.ttl, ephemeral) {
        (None, true) => promote::default_ttl(cx),
        (ttl, _) => ttl.clone(),
    };
    let record = Record {
        lineage_id: head.map_or(LineageId(id.0), |it| it.lineage_id),
        run,
        kind: new.kind,
        fact_type: new.fact_type,
        scope: new.scope,
        topic: new.topic.clone(),
        pointers: found.pointers.clone(),
        confidence: new.confidence,
        expires_at: ttl.as_ref().map(|ttl| ttl.expires_at(clock)),
        ttl,
        durability: new.durability,
        tags: new.tags.clone(),
        agent: whose,
        recorded_at: clock,
        memory_op: match head {
            Some(_) => MemoryOp::Update,
            None => MemoryOp::Add,
        },
        supersedes: head.map(|it| it.id),
        asks,
        verified: found.verified,
        ..Record::new(
            id,
            active.project,
            new.claim.clone(),
            claim.content_hash.clone(),
            provenance,
            now,
        )
    };
    record.into()
}

/// Checks that the version that is confirmed or asked about still holds: confirming it must not
/// undo a correction.
fn refuse_ended(tx: &Reader<'_>, occasion: Occasion<'_>) -> Result<(), Refusal> {
    let (Occasion::Confirmed(of) | Occasion::Asks(of)) = occasion else {
        return Ok(());
    };
    match tx.engram(of.id)? {
        Some(now) if now.valid_until.is_none() => Ok(()),
        _ => Err(Refusal::new(
            Code::NotFound,
            format!("engram {} no longer holds", of.id),
            "Nothing was changed. Read the newest version of the claim.",
        )),
    }
}

/// Ends the to-dos that ask about a claim, when a new version or the claim's end answers them.
pub(crate) fn end_todos(
    tx: &Reader<'_>,
    lineage: LineageId,
    by: &str,
) -> Result<Vec<Planned>, Refusal> {
    let mut open = tx.todos_about(lineage)?;
    open.retain(|it| it.valid_until.is_none());
    Ok(open.iter().map(|it| Planned::ended(it, by)).collect())
}

impl PreparedClaim<'_> {
    /// Whether another claim of the same message already says this, on this evidence, for at least
    /// as long.
    pub(crate) fn repeats(&self, other: &PreparedClaim<'_>) -> bool {
        let said = |it: &PreparedClaim<'_>| side(&it.new.topic, &it.new.claim);
        said(self) == said(other)
            && lasts_as_long(other.new.durability, self.new.durability)
            && self.new.scope == other.new.scope
            && self.new.topic == other.new.topic
            && self.new.kind == other.new.kind
            && self.new.corrects == other.new.corrects
            && (self.found.pointers.iter()).all(|it| other.found.pointers.contains(it))
    }
}

/// Whether the held claim lasts as long as the new one.
fn lasts_as_long(held: Durability, new: Durability) -> bool {
    held == Durability::Durable || new == Durability::Ephemeral
}

/// Whether `same` already says this, with this scope and topic, on this evidence, for as long.
fn already_says(same: &Engram, new: &NewEngram, found: &GatheredEvidence) -> bool {
    lasts_as_long(same.durability, new.durability)
        && same.scope == new.scope
        && same.topic == new.topic
        && same.kind == new.kind
        && found
            .pointers
            .iter()
            .all(|pointer| same.pointers.contains(pointer))
}
