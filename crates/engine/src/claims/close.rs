//! Forget closes a window; redact erases text for good. Each writes a journal entry.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    Engine,
    claims::{
        put::end_todos,
        quotations::{Quotations, words_in_json},
        read,
    },
    conflicts::{lifecycle::goes_on_without, risks::refuse_open_report},
    context::{
        ActiveProject, Context, author,
        caller::kin_of,
        names,
        plan::{Plan, Planned},
        rates,
    },
    decide,
};
use engram_gateway::{ReplacedVersion, quoted};
use engram_model::{
    Caller, Code, Engram, EngramId, EventId, ForgetReply, Kind, LineageId, NewEngram, OWN_EVENT,
    Operation, OperationKind, Pointer, ProjectId, Refusal, Scope, Target, operation::Redaction,
};
use engram_store::{Index, Reader};
use jiff::Timestamp;

/// Closes the window of a claim. Its words stay.
pub(crate) fn forget_claim(cx: &Context<'_>, id: EngramId) -> Result<ForgetReply, Refusal> {
    let engram = read::find_version(cx, id)?;
    close_window(cx, &engram)
}

/// Refuses to end a version by hand, which only its author, the author's parent and the user may.
pub(crate) fn refuse_retire(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
) -> Result<(), Refusal> {
    refuse_close(cx, engram)?;
    let author = engram.agent.as_ref();
    let known = author.map_or(Ok(None), |author| tx.agent(author))?;
    let parent = known.and_then(|author| author.parent);
    engram_gateway::refuse_retire(cx.caller, author, parent.as_ref())
}

/// Closes the window of a version that the caller may see.
pub(crate) fn close_window(cx: &Context<'_>, engram: &Engram) -> Result<ForgetReply, Refusal> {
    cx.engine.store.read(|tx| refuse_retire(cx, tx, engram))?;
    let id = engram.id;
    let shareable = engram.scope != Scope::Run;
    record_in_project(cx, id, engram.project, shareable, |tx| {
        rates::admit_write(cx, tx)?;
        refuse_open_report(tx, engram, cx.engine.world.now())?;
        refuse_withdrawn_answer(cx, tx, engram)?;
        match tx.engram(id)? {
            Some(now) if now.valid_until.is_none() => Ok((
                Operation::Forgotten(id),
                end_todos(tx, engram.lineage_id, &author::author_of(cx, None)?)?,
            )),
            _ => {
                let clock = cx.engine.world.now();
                let newer = tx.lineage(engram.lineage_id)?;
                let newer = newer.iter().find(|it| it.holds_now(clock));
                Err(Refusal::new(
                    Code::NotFound,
                    format!("engram {id} is already closed"),
                    match newer {
                        Some(newer) => {
                            format!(
                                "Nothing was changed; its newer version holds: {}.",
                                newer.id
                            )
                        }
                        None => "Nothing was changed; it no longer holds.".to_owned(),
                    },
                ))
            }
        }
    })
}

/// Refuses a caller who may not end or replace a version. Only the user ends what the user said.
pub(crate) fn refuse_close(cx: &Context<'_>, engram: &Engram) -> Result<(), Refusal> {
    let scopes = &cx.engine.config.scopes;
    engram_gateway::refuse_close(cx.caller, engram.scope, engram.agent.as_ref(), scopes)?;
    refuse_topic(cx, &engram.topic)
}

/// Refuses a caller who may not replace a version with this claim. An agent replaces a to-do of the
/// user by answering it, for good.
pub(crate) fn refuse_replace(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    by: &NewEngram,
) -> Result<(), Refusal> {
    let is_answer = matches!(cx.caller, Caller::Agent(_)) && answers_the_user(tx, engram)?;
    if is_answer {
        refuse_second_answer(cx, engram, by)?;
    }
    let old = ReplacedVersion {
        kind: engram.kind,
        scope: engram.scope,
        author: engram.agent.as_ref(),
        is_answer,
    };
    engram_gateway::refuse_replace(cx.caller, old, by, &cx.engine.config.scopes)?;
    refuse_topic(cx, &engram.topic)
}

/// Refuses an agent that answers a to-do of the user which another agent has answered: it may not
/// know of that answer. One that names the answer itself corrects it.
fn refuse_second_answer(cx: &Context<'_>, answer: &Engram, by: &NewEngram) -> Result<(), Refusal> {
    let Some(author) = &answer.agent else {
        return Ok(());
    };
    let is_own = cx.agent()?.is_some_and(|it| it.handle == *author);
    if is_own || by.corrects == Some(answer.id.0) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::AlreadySettled,
        format!(
            "{} has answered this to-do: {}",
            quoted(&names::author_of(answer)),
            quoted(&answer.claim)
        ),
        format!(
            "If that answer is wrong, commit the right one with corrects_lineage {}. If both are true, commit yours without corrects_lineage.",
            answer.id
        ),
    ))
}

/// Whether a version belongs to the lineage of a to-do of the user.
fn answers_the_user(tx: &Reader<'_>, engram: &Engram) -> Result<bool, Refusal> {
    let is_todo = |it: &Engram| it.agent.is_none() && it.kind == Kind::Todo;
    Ok(tx.lineage(engram.lineage_id)?.iter().any(is_todo))
}

/// Refuses an agent that would end an answer to a to-do of the user without another answer: nobody
/// would see that the to-do was ever asked.
pub(crate) fn refuse_withdrawn_answer(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
) -> Result<(), Refusal> {
    if matches!(cx.caller, Caller::Agent(_)) && answers_the_user(tx, engram)? {
        return Err(Refusal::new(
            Code::ScopeDenied,
            "an agent may not withdraw an answer to one of the user's to-dos",
            "If it is wrong, correct it: commit what holds, with corrects_lineage.",
        ));
    }
    Ok(())
}

/// Refuses a caller who may not write to a topic.
pub(crate) fn refuse_topic(cx: &Context<'_>, topic: &str) -> Result<(), Refusal> {
    match cx.agent()? {
        None => Ok(()),
        Some(agent) => engram_gateway::refuse_topic(&kin_of(agent.clone()), topic),
    }
}

/// Erases a claim wherever its author made it, a note, or the text of a message. This covers words,
/// topic, author, addresses, and stored files that nothing else needs, in the database, the
/// write-ahead log and, through its follower, the index. Texts that only judge or cite the claim
/// are erased if they quote it; other quotations are listed.
pub(crate) fn erase(cx: &Context<'_>, id: EngramId) -> Result<ForgetReply, Refusal> {
    let store = &cx.engine.store;
    let (event, message) = store.read::<_, Refusal>(|tx| {
        let message = tx.messages().find(&id.to_string())?;
        Ok((tx.events().find(EventId(id.0))?, message))
    })?;
    let (reply, quotations) = match (event, message) {
        (None, Some((project, seq, text))) => {
            let said = Redaction {
                id,
                reasons: vec![seq],
                ..Redaction::default()
            };
            record_erasure(cx, id, project, false, &words_in_json(&text), |_, _| {
                Ok(said.clone())
            })?
        }
        (Some((project, seq, address, digest)), _) => {
            let said = Redaction {
                id,
                content_hash: format!("sha256:{digest}"),
                events: vec![seq],
                ..Redaction::default()
            };
            let addresses = [address];
            let event = store.read::<_, Refusal>(|tx| Ok(tx.events().text_at(seq)?))?;
            let text = event.map(|(text, _)| text).unwrap_or_default();
            record_erasure(cx, id, project, false, &text, |tx, _| {
                complete_redaction(tx, project, said.clone(), &addresses)
            })?
        }
        (None, None) => {
            let engram = read::find_version(cx, id)?;
            let clock = cx.engine.world.now();
            store
                .read(|tx| refuse_open_report(tx, &engram, clock))
                .map_err(|open| Refusal {
                    hint: "Redact either claim of the conflict: this engram is erased with it."
                        .to_owned(),
                    ..open
                })?;
            let shareable = engram.scope != Scope::Run;
            record_erasure(
                cx,
                id,
                engram.project,
                shareable,
                &engram.claim,
                |tx, known| plan_redaction(tx, &engram, clock, &mut known.repeated),
            )?
        }
    };
    let mut pending = finish_erasing(cx.engine, reply.seq)?;
    pending.extend(store.read(|tx| quotations.describe_staying(tx))?);
    let also = quotations.describe_erased();
    Ok(ForgetReply {
        pending,
        also,
        ..reply
    })
}

/// Records the erasure of a text, and of texts that go with it because they quote it.
fn record_erasure(
    cx: &Context<'_>,
    id: EngramId,
    project: ProjectId,
    shareable: bool,
    text: &str,
    plan: impl Fn(&Reader<'_>, &mut Quotations) -> Result<Redaction, Refusal>,
) -> Result<(ForgetReply, Quotations), Refusal> {
    // Kept across repeated plans, so that each plan reads only new entries.
    let quotations = RefCell::new(Quotations::of(text));
    let reply = record_in_project(cx, id, project, shareable, |tx| {
        let mut quotations = quotations.borrow_mut();
        let mut erased = plan(tx, &mut quotations)?;
        erased
            .reasons
            .extend(quotations.read_new_entries(tx, project)?);
        erased.reasons.sort_unstable();
        erased.reasons.dedup();
        Ok((Operation::Redacted(erased), Vec::new()))
    })?;
    Ok((reply, quotations.into_inner()))
}

/// Records one operation about a version or an event in its own project, with its consequences.
fn record_in_project(
    cx: &Context<'_>,
    id: EngramId,
    project: ProjectId,
    shareable: bool,
    plan: impl Fn(&Reader<'_>) -> Result<(Operation, Vec<Planned>), Refusal>,
) -> Result<ForgetReply, Refusal> {
    let active = ActiveProject::of(project);
    let by = author::author_of(cx, None)?;
    let decided = decide::plan_and_commit(cx, &active, |tx, _| {
        let (operation, mut entries) = plan(tx)?;
        entries.push(Planned::new(operation, &by, shareable).for_answer());
        Ok(Plan::of(entries, ()))
    })?;
    Ok(ForgetReply {
        id,
        seq: decided.seq()?,
        pending: Vec::new(),
        also: Vec::new(),
    })
}

/// Removes erased text from files that still hold it; returns the places where some of it remains.
fn finish_erasing(engine: &Engine, seq: u64) -> Result<Vec<String>, Refusal> {
    let mut pending = Vec::new();
    if !engine.store.empty_log()? {
        pending.push("the write-ahead log, which another process is reading; run this command again when it has finished".to_owned());
    }
    for name in crate::home::files::left_by_recovery(engine.store.home()) {
        pending.push(format!(
            "{name}, left by a recovery; delete it when you no longer need it"
        ));
    }
    if engine.update_index_to(seq).is_err() {
        // If text cannot be removed from the index, the index is deleted and rebuilt without
        // it.
        if let Err(error) = Index::delete(engine.store.home()) {
            pending.push(format!("the index, which cannot be deleted: {error}"));
        }
    }
    Ok(pending)
}

/// Plans the erasure of what the author of a claim said in these words: every version of the claim,
/// the events of making it, the to-dos that ask about it, and the author's other claims and notes,
/// which it lists as `repeated`. What others said in the same words stays, as any quotation does.
fn plan_redaction(
    tx: &Reader<'_>,
    engram: &Engram,
    clock: Timestamp,
    repeated: &mut Vec<(OperationKind, u64)>,
) -> Result<Redaction, Refusal> {
    let hash = &engram.content_hash;
    let mut versions = tx.versions_saying(engram.project, hash)?;
    versions.retain(|it| it.lineage_id == engram.lineage_id || it.agent == engram.agent);
    let is_other = |it: &&Engram| it.lineage_id != engram.lineage_id;
    let others = versions.iter().filter(is_other).map(|it| it.seq);
    *repeated = others.map(|seq| (OperationKind::Stored, seq)).collect();
    for lineage in versions
        .iter()
        .map(|it| it.lineage_id)
        .collect::<BTreeSet<_>>()
    {
        versions.extend(
            tx.todos_about(lineage)?
                .into_iter()
                .filter(|it| !it.redacted),
        );
    }
    let mut events = made_by(tx, &versions)?;
    let digest = hash.strip_prefix("sha256:").unwrap_or(hash);
    for seq in tx.events().with_digest(engram.project, digest)? {
        if is_of(tx, seq, engram)? && !events.contains(&seq) {
            repeated.push((OperationKind::Noted, seq));
            events.push(seq);
        }
    }
    events.sort_unstable();
    let pointers = versions.iter().flat_map(|it| &it.pointers);
    let mut addresses: Vec<String> = pointers.map(Pointer::address).collect();
    addresses.sort_unstable();
    addresses.dedup();
    // The report of a conflict also shows the other side's evidence, which stays.
    let reasons = collect_reasons(tx, &mut versions, clock)?;
    let said = Redaction {
        id: engram.id,
        content_hash: hash.clone(),
        ids: versions.iter().map(|it| it.id).collect(),
        seqs: versions.iter().map(|it| it.seq).collect(),
        events,
        reasons,
        ..Redaction::default()
    };
    complete_redaction(tx, engram.project, said, &addresses)
}

/// The places of the events of making these versions. Two authors who say the same without evidence
/// share an address, but each has an event.
fn made_by(tx: &Reader<'_>, versions: &[Engram]) -> Result<Vec<u64>, Refusal> {
    let mut events = Vec::new();
    for version in versions {
        for pointer in &version.pointers {
            if let Target::Sam { kind, slug, date } = &pointer.target
                && kind == OWN_EVENT
            {
                for seq in tx.events().at_address(version.project, kind, slug, *date)? {
                    if is_of(tx, seq, version)? && !events.contains(&seq) {
                        events.push(seq);
                    }
                }
            }
        }
    }
    Ok(events)
}

/// Whether an event still has its text, and is by the author of this version.
fn is_of(tx: &Reader<'_>, event: u64, version: &Engram) -> Result<bool, Refusal> {
    let said = tx.events().text_at(event)?;
    Ok(said.is_some_and(|(_, by)| by.agent == version.agent))
}

/// The places of entries about conflicts of these versions; their words are erased with the
/// versions' words. Adds the risk engrams that repeat the words to the versions. A conflict that
/// goes on, because others say the same, keeps its words.
fn collect_reasons(
    tx: &Reader<'_>,
    versions: &mut Vec<Engram>,
    clock: Timestamp,
) -> Result<Vec<u64>, Refusal> {
    let ending: Vec<EngramId> = versions.iter().map(|it| it.id).collect();
    let mut pairs = BTreeMap::new();
    for engram in versions.iter() {
        if let Some(side) = tx.side_of(engram.id)? {
            let found = tx.conflicts_of(engram.project, &side)?;
            pairs.extend(found.into_iter().map(|it| (it.id, it)));
        }
    }
    let mut places = Vec::new();
    for pair in pairs.values() {
        if goes_on_without(tx, pair, clock, &ending)? {
            continue;
        }
        for place in tx.entries_about(pair.id)? {
            places.push(place);
            let found = tx.contradiction(place)?;
            if let Some(risk) = found.and_then(|it| it.risk) {
                versions.extend(tx.lineage(LineageId(risk.0))?);
            }
        }
    }
    versions.retain(|it| !it.redacted);
    versions.sort_by_key(|it| it.seq);
    versions.dedup_by_key(|it| it.seq);
    Ok(places)
}

/// Adds what is erased with the words: stored files that nothing else refers to, and the entries
/// that name what is erased.
fn complete_redaction(
    tx: &Reader<'_>,
    project: ProjectId,
    said: Redaction,
    addresses: &[String],
) -> Result<Redaction, Refusal> {
    let digests = tx.snapshots().only_for(&said.ids)?;
    let entries = tx.naming(project, &said.ids, addresses, &digests)?;
    Ok(Redaction {
        digests,
        entries,
        ..said
    })
}
