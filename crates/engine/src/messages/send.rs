//! Sends messages: each is checked and then stored, completely or not at all, in one commit. A
//! refused message is recorded, so that its sender's next message is linked to it.

use std::collections::BTreeSet;

use crate::{
    agents::{
        grants::{self, ResolvedRequest, private_entries},
        message_cost::files_behind,
        opening,
        served::{self, prints_of_shown},
    },
    claims::put::{self, Occasion, PreparedClaim},
    conflicts::findings,
    context::{
        ActiveProject, Context, author,
        caller::kin_of,
        plan::{Plan, Planned},
        rates,
        screen::screen_secret,
    },
    decide,
    messages::{
        message::{self, CheckedMessage, sent_form},
        pack::{self, Pack},
        parent_message,
    },
};
use engram_gateway::{refuse_role, with_skeleton};
use engram_model::{
    ChildMessage, Code, EngramId, Finding, JournalTime, MemoryOp, Message, Noticed, Operation,
    Outcome, PutReply, Refusal, Sending, SentReply,
    operation::{Agent, Sent, Unsent},
};
use engram_store::Reader;
use serde_json::{Value, json};

/// Checks a message and sends it to the parent or to the children. An invalid message is
/// remembered, so that the next one can refer to its refusal.
pub(crate) fn send_message(cx: &Context<'_>, sending: &Sending) -> Result<SentReply, Refusal> {
    opening::refuse_unknown_caller(cx)?;
    let sent = message::checked_message(cx, &sending.message).and_then(|parsed| {
        screen_message(&parsed.value)?;
        match &parsed.checked.message {
            Message::Child(child) => send_to_parent(cx, sending, &parsed, child),
            Message::Parent(parent) => {
                parent_message::send_to_children(cx, sending, &parsed, parent)
            }
        }
    });
    sent.or_else(|refusal| record_unsent(cx, refusal))
}

/// Gives a refusal an id, to which the sender's next message refers, if the message itself was
/// invalid. A refusal for another reason, such as a missing permission, does not count as a
/// message.
fn record_unsent<T>(cx: &Context<'_>, refusal: Refusal) -> Result<T, Refusal> {
    let is_of_message = matches!(
        refusal.code,
        Code::BudgetExceeded
            | Code::Unanchored
            | Code::PointerInvalid
            | Code::PointerUnpinned
            | Code::PointerNotFound
            | Code::ClaimTooLong
            | Code::SchemaInvalid
            | Code::SecretDetected
            | Code::Echo
    );
    if !is_of_message {
        return Err(refusal);
    }
    let (active, by) = (cx.active_project(true)?, author::author_of(cx, None)?);
    let id = cx.engine.world.new_id().to_string();
    let remedy = refusal.remedy.as_deref().cloned().unwrap_or_default();
    let unsent = Unsent {
        id: id.clone(),
        code: refusal.code,
        figures: remedy.figures,
    };
    let remembered = decide::plan_and_commit(cx, &active, |tx, _| {
        rates::admit_write(cx, tx)?;
        Ok(Plan::of(
            vec![Planned::private(Operation::Unsent(unsent.clone()), &by)],
            (),
        ))
    });
    match remembered {
        Ok(_) => {}
        // Refused messages count against the rates too.
        Err(limited) if limited.code == Code::RateLimited => return Err(limited),
        // The reason for the refusal matters more than its id.
        Err(_) => return Err(refusal),
    }
    let mut refusal = refusal;
    refusal.remedy.get_or_insert_default().refusal = Some(id);
    Err(refusal)
}

/// Stores a child's message.
fn send_to_parent(
    cx: &Context<'_>,
    sending: &Sending,
    parsed: &CheckedMessage,
    child: &ChildMessage,
) -> Result<SentReply, Refusal> {
    let agent = sending_agent(cx, sending, child)?;
    let claims = prepare_claims(cx, parsed)?;
    let pack = pack::resolve_pack(cx, "pointer_pack", &child.pointer_pack)?;
    let (active, by) = (cx.active_project(true)?, author::author_of(cx, None)?);
    let wanted = resolve_requests(cx, child, &active)?;
    let pinned = with_pinned_pointers(&parsed.value, &pack, &wanted);
    let id = cx.engine.world.new_id().to_string();
    findings::open_index(cx);
    let decided = decide::plan_and_commit(cx, &active, |tx, now| {
        rates::admit_writes(cx, tx, claims.len())?;
        message::refuse_spent_grant(cx, tx, parsed)?;
        refuse_summary_echo(cx, tx, child, &pack, &wanted)?;
        let (mut entries, replies) = plan_claims(cx, tx, now, &active, &claims)?;
        let stored: Vec<EngramId> = replies.iter().map(|it| it.put.id).collect();
        entries.extend(pack.planned_copies(tx, &active, &by)?);
        let (asked, requests) = plan_requests(cx, tx, &active, &wanted)?;
        entries.extend(private_entries(asked, &by));
        let resend_of = tx.messages().unsent(active.project, Some(&agent.handle))?;
        let pointers = claims.iter().flat_map(|it| &it.found.pointers);
        let pointers = pointers.chain(&pack.pointers);
        let pointers = pointers.chain(wanted.iter().map(|it| &it.resolved.pointer));
        let sent = Sent {
            id: id.clone(),
            to: agent.parent.iter().cloned().collect(),
            tokens: parsed.checked.tokens as u64,
            grant: parsed.grant.clone(),
            turn: message::turn_of_message(cx, tx)?,
            resend_of: resend_of.clone(),
            files: files_behind(pointers.map(|it| &it.target)),
            ..sent_form(&pinned, &stored)
        };
        entries.push(Planned::private(Operation::Sent(Box::new(sent)), &by));
        if let Some(parent) = parent_of(tx, agent)? {
            entries.push(Planned::private(
                served_to_parent(&parent, child, &claims),
                &by,
            ));
        }
        Ok(Plan::of(entries, (replies, requests, resend_of)))
    })?;
    let (mut replies, requests, resend_of) = decided.answer;
    fill_places(&mut replies, &decided.seqs);
    for reply in &replies {
        served::note_findings(cx, &reply.put.findings)?;
        served::note_near(cx, &reply.put.near)?;
    }
    Ok(SentReply {
        id,
        tokens: parsed.checked.tokens,
        outcome: Outcome::Reported {
            engrams: replies.into_iter().map(|it| it.put).collect(),
            requests,
        },
        resend_of,
        stale: pack.stale,
    })
}

/// The agent that sends a child's message.
fn sending_agent<'a>(
    cx: &'a Context<'_>,
    sending: &Sending,
    child: &ChildMessage,
) -> Result<&'a Agent, Refusal> {
    let Some(agent) = cx.agent()? else {
        return Err(Refusal::new(
            Code::ScopeDenied,
            "a child's message needs a sender",
            "Name it with --agent, or over HTTP send it with the agent's token; `engram agents` lists the handles.",
        ));
    };
    if sending.to.is_some() {
        return Err(Refusal::new(
            Code::ScopeDenied,
            "a child reports only to its own parent",
            "Omit the recipient.",
        ));
    }
    refuse_role(&kin_of(agent.clone()), &child.role)?;
    Ok(agent)
}

/// Fills in where each claim was stored.
fn fill_places(replies: &mut [ClaimReply], seqs: &[u64]) {
    for reply in replies {
        if let Some(seq) = reply.version.and_then(|at| seqs.get(at)) {
            reply.put.seq = *seq;
        }
    }
}

/// Prepares the engrams of a message. The skeleton in a refusal leaves out those that cannot be
/// stored.
fn prepare_claims<'a>(
    cx: &'a Context<'_>,
    parsed: &CheckedMessage,
) -> Result<Vec<PreparedClaim<'a>>, Refusal> {
    let mut claims: Vec<PreparedClaim<'a>> = Vec::new();
    let mut refused: Option<Refusal> = None;
    let mut kept = parsed.value.clone();
    for (at, new) in parsed.checked.engrams.iter().enumerate() {
        let looked_up = match new.operation {
            MemoryOp::Delete => Err(Refusal::new(
                Code::SchemaInvalid,
                "an engram in a message cannot retire a claim",
                "Retire a claim with a commit of its own and operation delete.",
            )),
            MemoryOp::None => Err(Refusal::new(
                Code::SchemaInvalid,
                "an engram in a message must state a claim; operation none stores nothing",
                "Leave the engram out.",
            )),
            _ => put::prepare_claim(cx, new.clone(), None, Occasion::Said),
        };
        match looked_up {
            Ok(claim) => claims.push(claim),
            Err(refusal) => {
                blank_engram(&mut kept, at);
                refused.get_or_insert(refusal.at(format_args!("engrams[{at}]")));
            }
        }
    }
    match refused {
        None => Ok(claims),
        Some(refusal) => {
            kept["engrams"] = kept["engrams"]
                .as_array()
                .map(|it| it.iter().filter(|it| !it.is_null()).cloned().collect())
                .unwrap_or_default();
            Err(with_skeleton(refusal, &parsed.value, &kept, cx.limits()?))
        }
    }
}

/// Resolves a message's requests to read.
fn resolve_requests(
    cx: &Context<'_>,
    child: &ChildMessage,
    active: &ActiveProject,
) -> Result<Vec<ResolvedRequest>, Refusal> {
    let wanted = child.deref_requests.iter().enumerate().map(|(at, ask)| {
        grants::resolve_request(cx, ask.clone(), active)
            .map_err(|refusal| refusal.at(format_args!("deref_requests[{at}]")))
    });
    wanted.collect()
}

/// The entries and ids of a message's requests. The same pointer twice is one request.
fn plan_requests(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    active: &ActiveProject,
    wanted: &[ResolvedRequest],
) -> Result<(Vec<Operation>, Vec<String>), Refusal> {
    let (mut entries, mut ids) = (Vec::new(), Vec::<String>::new());
    for (at, want) in wanted.iter().enumerate() {
        let same = wanted[..at]
            .iter()
            .position(|it| it.resolved.pointer == want.resolved.pointer);
        if let Some(id) = same.and_then(|it| ids.get(it)).cloned() {
            ids.push(id);
            continue;
        }
        let (asked, id) = grants::plan_request(cx, tx, active, want)?;
        entries.extend(asked);
        ids.push(id);
    }
    Ok((entries, ids))
}

/// The entries and replies of a message's claims. The same claim twice is stored once.
fn plan_claims(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    now: JournalTime,
    active: &ActiveProject,
    claims: &[PreparedClaim<'_>],
) -> Result<(Vec<Planned>, Vec<ClaimReply>), Refusal> {
    let (mut entries, mut replies) = (Vec::new(), Vec::<ClaimReply>::new());
    let (mut corrected, mut stored) = (BTreeSet::new(), 0);
    for (at, claim) in claims.iter().enumerate() {
        let before = claims[..at].iter().position(|other| claim.repeats(other));
        if let Some(same) = before.and_then(|it| replies.get(it)) {
            replies.push(same.reply_to_repeat());
            continue;
        }
        let plan = put::plan_claim(cx, tx, now, active, claim, &entries)
            .map_err(|refusal| refusal.at(format_args!("engrams[{at}]")))?;
        let put = plan.answer;
        if put.supersedes.is_some() && !corrected.insert(put.lineage_id) {
            let twice = Refusal::new(
                Code::SchemaInvalid,
                "two engrams in the message correct the same claim",
                "Send the correction once.",
            );
            return Err(twice.at(format_args!("engrams[{at}]")));
        }
        let is_stored = plan.entries.iter().any(|it| it.is_answer);
        let version = is_stored.then_some(stored);
        stored += usize::from(is_stored);
        entries.extend(plan.entries);
        replies.push(ClaimReply { put, version });
    }
    Ok((entries, replies))
}

/// Refuses a summary that only repeats what its sender was shown and has no new evidence. Engrams
/// are checked individually elsewhere.
fn refuse_summary_echo(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    child: &ChildMessage,
    pack: &Pack,
    wanted: &[ResolvedRequest],
) -> Result<(), Refusal> {
    let said = &child.output.summary;
    // A summary of fewer than four words, such as "Done.", is never an echo.
    if !child.engrams.is_empty() || said.split_whitespace().count() < 4 {
        return Ok(());
    }
    let evidence = pack
        .pointers
        .iter()
        .chain(wanted.iter().map(|it| &it.resolved.pointer));
    served::refuse_echo(cx, tx, said, evidence.map(ToString::to_string))
        .map_err(|refusal| refusal.at("output.summary"))
}

/// The answer to one engram of a message.
pub(crate) struct ClaimReply {
    put: PutReply,
    /// Its place among the versions that the message stores; `None` if it stores none.
    version: Option<usize>,
}

impl ClaimReply {
    /// The reply to the same engram when it is repeated.
    fn reply_to_repeat(&self) -> Self {
        Self {
            put: PutReply {
                memory_op: MemoryOp::None,
                supersedes: None,
                findings: vec![Finding::new(
                    Noticed::Duplicate,
                    self.put.id,
                    "This message contains the claim twice.",
                )],
                ..self.put.clone()
            },
            version: self.version,
        }
    }
}

fn parent_of(tx: &Reader<'_>, agent: &Agent) -> Result<Option<Agent>, Refusal> {
    Ok(match &agent.parent {
        Some(parent) => tx.agent(parent)?,
        None => None,
    })
}

/// Records what a child's message shows to its parent.
fn served_to_parent(
    parent: &Agent,
    child: &ChildMessage,
    claims: &[PreparedClaim<'_>],
) -> Operation {
    let mut prints = prints_of_shown(&child.output.summary, None);
    prints.extend(prints_of_shown(&child.output.next, None));
    for (draft, claim) in child.engrams.iter().zip(claims) {
        let pointers = claim.found.pointers.iter().map(ToString::to_string);
        prints.extend(prints_of_shown(&draft.claim, pointers));
    }
    message::served_operation(parent, prints)
}

/// Refuses a message with a credential in any text field.
fn screen_message(value: &Value) -> Result<(), Refusal> {
    match value {
        Value::String(text) => screen_secret("the message", text),
        Value::Array(items) => items.iter().try_for_each(screen_message),
        // A grant's token is meant for its recipient.
        Value::Object(fields) => fields
            .iter()
            .filter(|it| it.0 != "budget_token")
            .try_for_each(|it| screen_message(it.1)),
        _ => Ok(()),
    }
}

fn blank_engram(value: &mut Value, at: usize) {
    if let Some(engram) = value.pointer_mut(&format!("/engrams/{at}")) {
        *engram = Value::Null;
    }
}

/// A child's message with fully pinned pointers, so that it stays readable.
fn with_pinned_pointers(value: &Value, pack: &Pack, wanted: &[ResolvedRequest]) -> Value {
    let mut pinned = value.clone();
    if let Some(sent) = pinned.get_mut("pointer_pack") {
        *sent = pack.pointers.iter().map(ToString::to_string).collect();
    }
    for (at, want) in wanted.iter().enumerate() {
        if let Some(sent) = pinned.pointer_mut(&format!("/deref_requests/{at}/pointer")) {
            *sent = json!(want.requested.pointer);
        }
    }
    pinned
}
