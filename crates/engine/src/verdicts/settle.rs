//! Verdicts on conflicts: given, repeated, undone. A verdict is an entry
//! that closes windows; undoing it is another entry, and the claims it closed hold again as new versions
//! (docs/design.md#rule-3-nothing-is-undone-by-reopening-a-window).

use crate::{
    claims::{close, lineage, put::answered},
    conflicts::{
        findings::{self, Telling},
        list::{Shown, no_conflict, shown, standing},
        rights::{self, is_persons},
        risks::{ended_report, sources},
    },
    context::{
        Context, Ground,
        plan::{Plan, Planned},
        screen::screen_text,
        visibility::Eyes,
    },
    decide,
    verdicts::dismissals,
};
use engram_model::{
    Caller, Code, ConflictStatus, Durability, Engram, EngramId, How, JournalTime, Operation,
    Provenance, Record, Refusal, Resolve, ResolveReply, Scope, Settle, Source, fold, is_over,
    operation::Ruling,
};
use engram_store::{Pair, Reader, side};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// A verdict that is to be planned.
pub(super) struct Asked {
    pub(super) how: Settle,
    pub(super) why: Option<String>,
    pub(super) by: String,
    pub(super) now: JournalTime,
}

/// What a verdict does.
#[derive(Default)]
struct Done {
    entries: Vec<Planned>,
    closed: Vec<EngramId>,
    stored: Vec<EngramId>,
    /// Comparisons that are left.
    due: u64,
    /// Whether a side of the conflict does not hold afterwards, though the verdict is taken back.
    is_closed: bool,
}

pub(crate) fn settle_conflict(cx: &Context<'_>, asked: Resolve) -> Result<ResolveReply, Refusal> {
    let Resolve { conflict, how, why } = asked;
    let why = words(cx, "the reason", why)?;
    let how = match how {
        Settle::Merge(text) => Settle::Merge(claim_of_merge(cx, text)?),
        other => other,
    };
    let project = cx.project()?;
    let by = decide::speaker(cx, None)?;
    findings::before_comparing(cx);
    let ((mut reply, after), seq) = decide::decide(cx, &Ground::of(project), |tx, now| {
        decide::admit(cx, tx)?;
        let clock = cx.engine.world.now();
        let pair = tx.conflict(conflict)?.filter(|it| it.project == project);
        let eyes = cx.eyes()?;
        let leads_to = |pair| {
            if matches!(how, Settle::Undo) {
                settled_last(tx, pair, &eyes)
            } else {
                standing(tx, pair, &eyes, clock)
            }
        };
        let pair = pair.map(leads_to).transpose()?;
        let found = pair.map_or(Ok(None), |pair| shown(tx, pair, &eyes, clock))?;
        let found = found.ok_or_else(|| no_conflict(conflict))?;
        let asked = Asked {
            how: how.clone(),
            why: why.clone(),
            by: by.clone(),
            now,
        };
        plan_verdict(cx, tx, &found, &asked)
    })?;
    if reply.seq == 0 {
        reply.seq = seq.unwrap_or_default().saturating_sub(after);
    }
    Ok(reply)
}

/// What an undo by this id takes back: the newest verdict on the conflicts of its sides that the caller may know of.
fn settled_last(tx: &Reader<'_>, pair: Pair, eyes: &Eyes) -> Result<Pair, Refusal> {
    let mut all = tx.conflicts_between(pair.project, &pair.sides)?;
    all.retain(|one| eyes.may_know_of(one.run) && one.ruled.is_some());
    Ok(all
        .into_iter()
        .max_by_key(|one| one.verdict)
        .unwrap_or(pair))
}

/// The text that goes with a verdict, checked; none if it is empty.
pub(super) fn words(
    cx: &Context<'_>,
    field: &str,
    text: Option<String>,
) -> Result<Option<String>, Refusal> {
    let Some(text) = text.map(|it| it.trim().to_owned()) else {
        return Ok(None);
    };
    let limit = cx.engine.config.limits.claim_chars;
    let chars = text.chars().count();
    if chars > limit || text.contains('\0') {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("{field} is too long ({chars} characters) or contains a NUL character"),
            format!("Write plain text of at most {limit} characters."),
        ));
    }
    screen_text(field, &text)?;
    Ok(Some(text).filter(|it| !it.is_empty()))
}

fn claim_of_merge(cx: &Context<'_>, text: String) -> Result<String, Refusal> {
    let words = words(cx, "the merged claim", Some(text))?;
    words.ok_or_else(|| {
        Refusal::new(
            Code::SchemaInvalid,
            "the merged claim is empty",
            "State in one to three sentences what replaces both claims.",
        )
    })
}

fn plan_verdict(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &Shown,
    asked: &Asked,
) -> Result<Plan<(ResolveReply, u64)>, Refusal> {
    let last = match found.pair.verdict {
        Some(seq) => tx.ruling(seq)?.map(|ruling| (seq, ruling)),
        None => None,
    };
    match (&asked.how, found.pair.status) {
        (Settle::Undo, ConflictStatus::Resolved | ConflictStatus::Dismissed) => {
            let (seq, ruling) = last.ok_or_else(|| nothing_to_undo(found))?;
            rights::may_change(cx, tx, seq)?;
            for voice in &found.voices {
                close::may_write_topic(cx, &voice.topic)?;
            }
            let mut done = undone(cx, tx, found, &ruling, asked)?;
            done.entries
                .extend(dismissals::reopened_with(cx, tx, found, &ruling, asked)?);
            Ok(planned(found, asked, done, None))
        }
        // What a verdict ended can be undone though the conflict was found again: by what the judge could not
        // see, or by who said it again.
        (Settle::Undo, ConflictStatus::Open)
            if cx.agent()?.is_none() && found.pair.ruled.is_some() =>
        {
            let (_, ruling) = last.ok_or_else(|| nothing_to_undo(found))?;
            let done = undone(cx, tx, found, &ruling, asked)?;
            Ok(planned(found, asked, done, None))
        }
        (Settle::Undo, _) => match last {
            // What was done last is not an undo that is repeated, but the allowance, or the end of a side.
            Some((seq, ruling))
                if ruling.how.is_none()
                    && found.conflict.status == ConflictStatus::Open
                    && found.pair.allowed.is_none_or(|it| it < seq) =>
            {
                repeated(cx, tx, found, seq, ruling)
            }
            _ => Err(nothing_to_undo(found)),
        },
        (_, ConflictStatus::Resolved | ConflictStatus::Dismissed) => {
            let (seq, ruling) = last.ok_or_else(|| nothing_to_undo(found))?;
            if !is_same(tx, found, &ruling, &asked.how, &cx.eyes()?)? {
                Err(settled_already(cx.caller, found))
            } else if cx.agent()?.is_none() && !is_persons(tx, seq)? {
                confirmed(cx, tx, found, asked, ruling)
            } else {
                repeated(cx, tx, found, seq, ruling)
            }
        }
        _ if found.conflict.status == ConflictStatus::Closed => {
            Err(settled_already(cx.caller, found))
        }
        _ => {
            // What a person decided, even to undo a verdict, stays the person's to change.
            if let Some((seq, _)) = last {
                rights::may_change(cx, tx, seq)?;
            }
            ruled(cx, tx, found, asked)
        }
    }
}

/// A verdict on an open conflict.
fn ruled(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &Shown,
    asked: &Asked,
) -> Result<Plan<(ResolveReply, u64)>, Refusal> {
    let mut done = Done::default();
    let (how, winner, merged) = match &asked.how {
        Settle::Dismiss => {
            dismissals::may_dismiss(cx, tx, &found.pair)?;
            done.entries
                .extend(dismissals::dismissed_with(cx, tx, found, asked)?);
            (How::Dismissed, None, None)
        }
        Settle::Winner(_) | Settle::Newer | Settle::Surer => {
            let winner = winning(tx, found, &asked.how, &cx.eyes()?)?;
            close_side(cx, tx, found, 1 - winner, asked, &mut done)?;
            let side = found.sides.get(winner).cloned();
            (How::Winner, side, None)
        }
        Settle::Merge(text) => {
            let merged = merged(cx, found, text, asked);
            close_side(cx, tx, found, 0, asked, &mut done)?;
            close_side(cx, tx, found, 1, asked, &mut done)?;
            store(cx, tx, found, merged, asked, &mut done);
            (How::Merge, None, None)
        }
        Settle::MergedBy(id) => {
            check_merged(cx, tx, found, *id)?;
            close_side(cx, tx, found, 0, asked, &mut done)?;
            close_side(cx, tx, found, 1, asked, &mut done)?;
            (How::Merge, None, Some(*id))
        }
        Settle::Undo => return Err(nothing_to_undo(found)),
    };
    Ok(planned(found, asked, done, Some((how, winner, merged))))
}

/// An agent's verdict that a person gives too is the person's from now on.
fn confirmed(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &Shown,
    asked: &Asked,
    ruling: Ruling,
) -> Result<Plan<(ResolveReply, u64)>, Refusal> {
    let mut plan = repeated(cx, tx, found, 0, ruling.clone())?;
    let why = asked.why.clone().or_else(|| ruling.why.clone());
    let ruling = Ruling { why, ..ruling };
    plan.entries.push(ruling_on(found, ruling, asked));
    Ok(plan)
}

fn ruling_on(found: &Shown, ruling: Ruling, asked: &Asked) -> Planned {
    let shareable = found.voices.iter().all(|it| it.scope != Scope::Run);
    Planned::new(Operation::Resolved(Box::new(ruling)), &asked.by, shareable)
}

/// The same verdict again changes nothing. It tells of no version that the caller may not see.
fn repeated(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &Shown,
    seq: u64,
    ruling: Ruling,
) -> Result<Plan<(ResolveReply, u64)>, Refusal> {
    let eyes = cx.eyes()?;
    let seen = |ids: Vec<EngramId>| -> Result<Vec<EngramId>, Refusal> {
        let mut seen = Vec::new();
        for id in ids {
            if tx.engram(id)?.is_some_and(|engram| eyes.may_see(&engram)) {
                seen.push(id);
            }
        }
        Ok(seen)
    };
    let reply = ResolveReply {
        conflict: found.pair.id,
        status: ruling.status,
        seq,
        closed: seen(ruling.closed)?,
        stored: seen(ruling.stored)?,
        due: 0,
    };
    Ok(Plan {
        entries: Vec::new(),
        answer: (reply, 0),
    })
}

/// Closes every engram of a side that the caller may see, and the to-dos that ask about them.
fn close_side(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &Shown,
    at: usize,
    asked: &Asked,
    done: &mut Done,
) -> Result<(), Refusal> {
    let Some(side) = found.sides.get(at) else {
        return Ok(());
    };
    let eyes = cx.eyes()?;
    let clock = cx.engine.world.now();
    for engram in tx.holding(found.pair.project, side, clock)? {
        if !eyes.may_see(&engram) {
            continue;
        }
        close::may_close(cx, &engram)?;
        done.entries
            .extend(answered(tx, engram.lineage_id, &asked.by)?);
        done.closed.push(engram.id);
        done.entries.push(Planned::ended(&engram, &asked.by));
    }
    Ok(())
}

/// Stores a version that a verdict creates, and the conflicts that this version has.
fn store(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &Shown,
    engram: Engram,
    asked: &Asked,
    done: &mut Done,
) {
    let compared = findings::compare(
        cx,
        tx,
        &engram,
        &Telling {
            before: &done.entries,
            of: Some(found.pair.id),
            ..Telling::of(asked.now, &asked.by, &done.closed)
        },
    );
    done.stored.push(engram.id);
    done.due += compared.told_due();
    done.entries
        .push(Planned::stored(engram, &asked.by, compared.due));
    done.entries.extend(compared.entries);
}

/// One claim that replaces both, with the evidence of both. It has the newer claim's kind, a scope no wider
/// than either's, and the later end.
fn merged(cx: &Context<'_>, found: &Shown, text: &str, asked: &Asked) -> Engram {
    let [a, b] = &found.voices;
    let agent = cx.agent().ok().flatten();
    let clock = cx.engine.world.now();
    let id = EngramId(cx.engine.world.id());
    let narrow = if a.scope < b.scope { a } else { b };
    // A claim that holds until it is replaced is replaced by one that does.
    let lasting = match (a.expires_at, b.expires_at) {
        (Some(one), Some(two)) if one < two => b,
        (Some(_), Some(_)) | (None, _) => a,
        _ => b,
    };
    let durable = a.durability == Durability::Durable;
    let provenance = Provenance {
        created_at: clock,
        created_by: asked.by.clone(),
        source: match agent {
            Some(_) => Source::Agent,
            None => Source::Tool,
        },
    };
    let hash = format!("sha256:{}", hex::encode(Sha256::digest(text)));
    let record = Record {
        // What is for everybody is of the run of who merges, not of one that was merged.
        run: if narrow.scope == Scope::Run {
            narrow.run
        } else {
            agent.map(|it| it.run)
        },
        kind: b.kind,
        fact_type: b.fact_type,
        scope: narrow.scope,
        topic: b.topic.clone(),
        tags: b.tags.clone(),
        engineer: b.engineer.clone(),
        ttl: lasting.ttl.clone(),
        expires_at: lasting.expires_at,
        durability: if durable { a } else { b }.durability,
        pointers: sources(b, a),
        confidence: match agent {
            // An agent's merge is no surer than either claim.
            Some(_) => a.confidence.min(b.confidence),
            None => a.confidence.max(b.confidence),
        },
        agent: agent.map(|it| it.handle.clone()),
        verified: a.verified && b.verified,
        ..Record::new(id, b.project, text.to_owned(), hash, provenance, asked.now)
    };
    record.into()
}

/// Whether a claim that was stored before can take the place of both sides.
fn check_merged(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &Shown,
    id: EngramId,
) -> Result<(), Refusal> {
    let not = |why: &str, hint: &str| {
        Err(Refusal::new(
            Code::SchemaInvalid,
            format!("engram {id} {why}"),
            hint,
        ))
    };
    let (eyes, clock) = (cx.eyes()?, cx.engine.world.now());
    let engram = tx.engram(id)?.filter(|it| eyes.may_see(it));
    let Some(engram) = engram.filter(|it| it.project == found.pair.project) else {
        return Err(crate::not_found(id));
    };
    if !engram.holds_now(clock) {
        return not("no longer holds", "Commit the merged claim first.");
    }
    if !found.pair.is_about(&engram) {
        return not(
            "is hidden from somebody who sees the conflict",
            "Name a claim that everybody who sees the conflict may see.",
        );
    }
    if found.sides.contains(&side(&engram.topic, &engram.claim)) {
        not(
            "is one of the two sides",
            "Choose it as the winner, or name a claim that replaces both.",
        )
    } else {
        Ok(())
    }
}

/// Makes what a verdict closed hold again, and closes what it stored.
fn undone(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &Shown,
    ruling: &Ruling,
    asked: &Asked,
) -> Result<Done, Refusal> {
    let (eyes, clock) = (cx.eyes()?, cx.engine.world.now());
    let mut done = Done::default();
    for id in &ruling.stored {
        let Some(first) = tx.engram(*id)? else {
            continue;
        };
        let versions = tx.lineage(first.lineage_id)?;
        let head = versions.into_iter().find(|it| it.holds_now(clock));
        if let Some(head) = head.filter(|head| eyes.may_see(head)) {
            close::may_close(cx, &head)?;
            done.closed.push(head.id);
            done.entries.push(Planned::ended(&head, &asked.by));
        }
    }
    for id in &ruling.closed {
        // What the caller may not see stays as it is.
        let Some(old) = tx.engram(*id)?.filter(|old| eyes.may_see(old)) else {
            continue;
        };
        let newest = tx.lineage(old.lineage_id)?.into_iter().next();
        // What ended since ended otherwise.
        let is_newest = newest.is_some_and(|it| it.id == old.id && it.valid_until.is_some());
        let is_gone = old.redacted || is_over(old.recorded_at, old.expires_at, clock);
        if is_newest && !is_gone {
            close::may_close(cx, &old)?;
            let engram = lineage::again(cx, old, asked.now, None);
            store(cx, tx, found, engram, asked, &mut done);
        }
    }
    done.is_closed = !holds_again(tx, found, &done, clock)?;
    if !done.is_closed
        && let Some(old) = ended_report(tx, &found.pair)?
    {
        let risk = lineage::again(cx, old, asked.now, None);
        done.entries.push(Planned::stored(risk, &asked.by, None));
    }
    Ok(done)
}

/// Whether both sides hold once this is done: what was said since may have other words.
fn holds_again(
    tx: &Reader<'_>,
    found: &Shown,
    done: &Done,
    clock: Timestamp,
) -> Result<bool, Refusal> {
    for digest in &found.pair.sides {
        let is_stored = |entry: &Planned| {
            entry
                .version()
                .is_some_and(|it| found.pair.is_about(&it) && side(&it.topic, &it.claim) == *digest)
        };
        let holds = tx.holding(found.pair.project, digest, clock)?;
        let is_left = |it: &Engram| found.pair.is_about(it) && !done.closed.contains(&it.id);
        let holds = holds.iter().any(is_left);
        if !holds && !done.entries.iter().any(is_stored) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The entries of a verdict, its own last; without `how`, it reopens the conflict.
fn planned(
    found: &Shown,
    asked: &Asked,
    done: Done,
    how: Option<(How, Option<String>, Option<EngramId>)>,
) -> Plan<(ResolveReply, u64)> {
    let status = match how.as_ref().map(|it| it.0) {
        None => ConflictStatus::Open,
        Some(How::Dismissed) => ConflictStatus::Dismissed,
        Some(_) => ConflictStatus::Resolved,
    };
    let (how, winner, merged) = match how {
        Some((how, winner, merged)) => (Some(how), winner, merged),
        None => (None, None, None),
    };
    let answer = ResolveReply {
        conflict: found.pair.id,
        status: if done.is_closed {
            ConflictStatus::Closed
        } else {
            status
        },
        seq: 0,
        closed: done.closed.clone(),
        stored: done.stored.clone(),
        due: done.due,
    };
    let ruling = Ruling {
        id: found.pair.id,
        status,
        how,
        winner,
        merged,
        closed: done.closed,
        stored: done.stored,
        why: asked.why.clone(),
    };
    let mut entries = done.entries;
    entries.push(ruling_on(found, ruling, asked));
    Plan {
        entries,
        answer: (answer, 0),
    }
}

/// Which side wins: 0 is `a`.
fn winning(tx: &Reader<'_>, found: &Shown, how: &Settle, eyes: &Eyes) -> Result<usize, Refusal> {
    match how {
        Settle::Winner(id) => {
            let side = match tx.engram(*id)? {
                Some(engram) if eyes.may_see(&engram) => tx.side_of(*id)?,
                _ => None,
            };
            let at = found.sides.iter().position(|it| Some(it) == side.as_ref());
            at.ok_or_else(|| {
                Refusal::new(
                    Code::SchemaInvalid,
                    format!("engram {id} is on neither side of the conflict"),
                    "Name an engram of side a or b; `engram conflicts show ID` prints both.",
                )
            })
        }
        Settle::Surer => {
            let [a, b] = found.voices.each_ref().map(|it| it.confidence);
            match a.total_cmp(&b) {
                std::cmp::Ordering::Greater => Ok(0),
                std::cmp::Ordering::Less => Ok(1),
                std::cmp::Ordering::Equal => Err(Refusal::new(
                    Code::SchemaInvalid,
                    "both sides have the same confidence",
                    "Name the winner, or choose newer.",
                )),
            }
        }
        _ => Ok(1),
    }
}

/// Whether a verdict is the same as the one given before.
fn is_same(
    tx: &Reader<'_>,
    found: &Shown,
    ruling: &Ruling,
    how: &Settle,
    eyes: &Eyes,
) -> Result<bool, Refusal> {
    Ok(match (how, ruling.how) {
        (Settle::Winner(_) | Settle::Newer | Settle::Surer, Some(How::Winner)) => {
            let side = found.sides.get(winning(tx, found, how, eyes)?);
            side == ruling.winner.as_ref()
        }
        (Settle::Merge(text), Some(How::Merge)) => match ruling.stored.first() {
            Some(id) => tx
                .engram(*id)?
                .is_some_and(|it| fold(&it.claim) == fold(text)),
            None => false,
        },
        (Settle::MergedBy(id), Some(How::Merge)) => ruling.merged == Some(*id),
        (Settle::Dismiss, Some(How::Dismissed)) => true,
        _ => false,
    })
}

fn nothing_to_undo(found: &Shown) -> Refusal {
    let id = found.pair.id;
    match found.pair.allowed {
        Some(_) => Refusal::new(
            Code::NotFound,
            format!("conflict {id} is allowed, and has no verdict"),
            format!("To make it block the gate again, run `engram conflicts allow {id} --undo`."),
        ),
        None => Refusal::new(
            Code::NotFound,
            format!("conflict {id} has no verdict"),
            "Only a verdict can be undone. If a claim ended, restore it with `engram restore`.",
        ),
    }
}

fn settled_already(caller: &Caller, found: &Shown) -> Refusal {
    let how = found.conflict.settled.as_ref();
    let how = how.map_or_else(String::new, |it| format!(" ({})", it.how));
    Refusal::new(
        Code::AlreadySettled,
        format!(
            "conflict {} is {}{how}",
            found.pair.id, found.conflict.status
        ),
        match (found.pair.status, caller) {
            (ConflictStatus::Open, _) => {
                "One of its sides no longer holds: there is nothing to settle.".to_owned()
            }
            (_, Caller::User) => {
                format!("Run `engram resolve {} --undo` first.", found.pair.id)
            }
            _ => "If the verdict is wrong, commit the claim that is right, with its evidence; the user can undo a verdict.".to_owned(),
        },
    )
}
