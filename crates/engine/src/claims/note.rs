//! Notes: events that a `sam:` pointer can address.

use crate::{
    context::{
        Context, author,
        plan::{Plan, Planned},
        rates,
        screen::screen_text,
    },
    decide,
};
use engram_model::{
    Code, EventId, JournalTime, Note, NoteReply, OWN_EVENT, Operation, Pointer, Refusal, fold,
    operation::Event,
};
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

/// The longest event, in bytes. Longer text belongs in an artifact.
const MAX_TEXT: usize = 100_000;

/// Records an event that a `sam:` pointer can address.
pub(crate) fn note_event(cx: &Context<'_>, note: &Note) -> Result<NoteReply, Refusal> {
    refuse_own_kind(&note.kind)?;
    let event = event_of(EventId(cx.engine.world.new_id()), cx.journal_time()?, note)?;
    let active = cx.active_project(true)?;
    let by = author::author_of(cx, note.agent.as_deref())?;
    let decided = decide::plan_and_commit(cx, &active, |tx, _| {
        rates::admit_write(cx, tx)?;
        let noted = Planned::new(Operation::Noted(event.clone()), &by, true);
        Ok(Plan::of(vec![noted.for_answer()], ()))
    })?;
    Ok(NoteReply {
        id: event.id,
        seq: decided.seq()?,
        pointer: event.pointer,
    })
}

/// The event for a note, with its address on the day of `now`.
pub(crate) fn event_of(id: EventId, now: JournalTime, note: &Note) -> Result<Event, Refusal> {
    let text = note.text.trim();
    check_text(text)?;
    screen_text("the note", text)?;
    screen_text("the note's kind", &note.kind)?;
    screen_text("the note's slug", &note.slug)?;
    screen_text(
        "the agent's name",
        note.agent.as_deref().unwrap_or_default(),
    )?;
    let slug = match note.slug.trim() {
        "" => id.to_string().to_lowercase(),
        slug => slug.to_owned(),
    };
    let day = now.0.to_zoned(TimeZone::UTC).date();
    let pointer: Pointer = format!("sam:{}:{slug}@{day}", note.kind.trim()).parse()?;
    Ok(Event {
        id,
        pointer: pointer.to_string(),
        digest: hex::encode(Sha256::digest(text)),
        text: text.to_owned(),
    })
}

/// The event of a claim has the rights and the rate of its claim, so nobody may make one alone.
fn refuse_own_kind(kind: &str) -> Result<(), Refusal> {
    if fold(kind.trim()) != OWN_EVENT {
        return Ok(());
    }
    Err(Refusal::new(
        Code::SchemaInvalid,
        format!("notes of the kind `{OWN_EVENT}` are written by Engram alone"),
        "Use another kind, such as `decision`, or commit a claim.",
    ))
}

fn check_text(text: &str) -> Result<(), Refusal> {
    if text.is_empty() || text.contains('\0') || text.len() > MAX_TEXT {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("a note must be 1 to {MAX_TEXT} bytes of plain text"),
            "Describe what happened; keep long text in a file and point at it.",
        ));
    }
    Ok(())
}
