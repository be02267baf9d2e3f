//! Corrections by the user: a new version in the user's words, pointed at the lines that the user
//! saw. A correction that kept the old pin would need review at once, because it says what the
//! pinned lines do not say.

use engram_model::{Code, Draft, Pointer, PutReply, Refusal, Rewording};
use engram_pointers::resolve;

use crate::{
    claims::{
        pointers::repin_pointers,
        put::{self, Occasion},
        read,
    },
    context::Context,
};

/// Stores the new words. Evidence that the user saw edited is pinned as it is now, and with it the
/// evidence that still says the same, so that the claim rests on one state of the repository.
/// Evidence that the user saw deleted or dropped is left out. Without any evidence left, the claim
/// points to the event of making it.
pub(crate) fn reword_claim(cx: &Context<'_>, rewording: Rewording) -> Result<PutReply, Refusal> {
    let engram = read::find_version(cx, rewording.id)?;
    let mut draft = Draft {
        claim: rewording.claim,
        ..engram.draft()
    };
    if rewording.seen.is_empty() && rewording.dropped.is_empty() {
        return put::put_claim(cx, draft, None, Occasion::Said);
    }
    refuse_dropping(&engram.pointers, &rewording.dropped)?;
    let found = repin_pointers(cx, &engram)?;
    let is_repinned = rewording.seen.iter().any(|it| it.digest.is_some());
    let mut pointers = Vec::with_capacity(found.len());
    for ((found, pinned), kept) in found.into_iter().zip(&engram.pointers).zip(draft.pointers) {
        let text = pinned.to_string();
        if rewording.dropped.contains(&text) {
            continue;
        }
        let seen = rewording.seen.iter().find(|it| it.pointer == text);
        match (seen.map(|it| it.digest.as_deref()), found) {
            (None, Ok(now)) if is_repinned && is_same_text(cx, &now, pinned) => {
                let digest = pinned.digest.clone();
                pointers.push(Pointer { digest, ..now }.into());
            }
            (None, _) => pointers.push(kept),
            (Some(None), Err(_)) => {}
            (Some(Some(digest)), Ok(mut now)) => {
                if now.lines().is_some() {
                    refuse_other_lines(cx, &now, digest)?;
                    now.digest = Some(digest.to_owned());
                }
                pointers.push(now.into());
            }
            (Some(_), _) => return Err(refusal_of_change(&pinned.label())),
        }
    }
    draft.pointers = pointers;
    if draft.pointers.is_empty() {
        return put::commit_claim(cx, draft, None, &[]);
    }
    put::put_claim(cx, draft, None, Occasion::Said)
}

/// Refuses to drop all evidence, or evidence that the claim does not have.
fn refuse_dropping(pointers: &[Pointer], dropped: &[String]) -> Result<(), Refusal> {
    let stored: Vec<String> = pointers.iter().map(Pointer::to_string).collect();
    if let Some(other) = dropped.iter().find(|it| !stored.contains(it)) {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("the claim has no source {other}"),
            "Pass its pointers as the claim shows them.",
        ));
    }
    if !stored.is_empty() && stored.iter().all(|it| dropped.contains(it)) {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            "a correction that drops every source has no evidence",
            "Keep one source, or forget the claim and store another.",
        ));
    }
    Ok(())
}

/// Whether evidence says the same at its new address as at the one that it was pinned to.
fn is_same_text(cx: &Context<'_>, now: &Pointer, pinned: &Pointer) -> bool {
    let digest_of = |pointer: &Pointer| {
        let shelf = cx.shelf(cx.known_project()?)?;
        Ok::<_, Refusal>(resolve(cx.repo()?, &shelf, pointer)?.pointer.digest)
    };
    let digest = pinned.digest.as_ref();
    digest.is_some() && digest_of(now).is_ok_and(|it| it.as_ref() == digest)
}

/// Refuses a pointer to lines that are not those that the user saw.
fn refuse_other_lines(cx: &Context<'_>, now: &Pointer, seen: &str) -> Result<(), Refusal> {
    let shelf = cx.shelf(cx.known_project()?)?;
    let resolved = resolve(cx.repo()?, &shelf, now)?;
    if resolved.pointer.digest.as_deref() == Some(seen) {
        Ok(())
    } else {
        Err(refusal_of_change(&now.label()))
    }
}

fn refusal_of_change(label: &str) -> Refusal {
    Refusal::new(
        Code::PointerNotFound,
        format!("{label} changed while you were writing"),
        "Look at the lines again, then save.",
    )
}
