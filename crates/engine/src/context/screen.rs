//! The secret screen: no stored text contains a credential or invisible characters.

use engram_consistency::screen;
use engram_model::{Code, NewEngram, Refusal, Target, find_unseen, is_hidden, operation::Snapshot};
use percent_encoding::percent_decode_str;

/// Refuses a claim with a credential in any text field.
pub(crate) fn screen_claim(new: &NewEngram) -> Result<(), Refusal> {
    screen_text("the claim", &new.claim)?;
    screen_text("the topic", &new.topic)?;
    for tag in &new.tags {
        screen_text("a tag", tag)?;
    }
    screen_text("the agent's name", new.agent.as_deref().unwrap_or_default())?;
    for (at, pointer) in new.pointers.iter().enumerate() {
        let (field, text) = (format!("pointer {}", at + 1), pointer.to_string());
        match &pointer.target {
            // A web address is not a file name, so it is screened as text.
            Target::Url { url, .. } => screen_text(&field, url)?,
            _ => screen_secret(&field, &text)?,
        }
        if text.contains('%') {
            screen_secret(&field, &percent_decode_str(&text).decode_utf8_lossy())?;
        }
    }
    Ok(())
}

/// Refuses invisible characters and text that looks like a credential. `field` names the place for
/// a reader.
pub(crate) fn screen_text(field: &str, text: &str) -> Result<(), Refusal> {
    screen_secret(field, text)?;
    match find_unseen(text) {
        Some(unseen) => Err(Refusal::unseen(field, unseen)),
        None => Ok(()),
    }
}

/// Refuses text that looks like a credential. An address may contain invisible characters, because
/// file names may.
pub(crate) fn screen_secret(field: &str, text: &str) -> Result<(), Refusal> {
    // Invisible characters must not hide a credential.
    let unhidden = || text.chars().filter(|c| !is_hidden(*c)).collect::<String>();
    let parted = || text.contains(is_hidden).then(|| screen(&unhidden()))?;
    match screen(text).or_else(parted) {
        Some(secret) => Err(secret_refusal(
            &format!("{field} contains what looks like {}", secret.rule),
            "Give the credential's name or where it is kept, never its value.",
        )),
        None => Ok(()),
    }
}

/// Refuses a file that contains a credential.
pub(crate) fn screen_snapshot(snapshot: &Snapshot) -> Result<(), Refusal> {
    match engram_consistency::screen_bytes(&snapshot.bytes) {
        Some(secret) => Err(secret_refusal(
            &format!("{} contains what looks like {}", snapshot.path, secret.rule),
            "Remove the credential from that file, or pin to a commit, for example @HEAD.",
        )),
        None => Ok(()),
    }
}

fn secret_refusal(message: &str, hint: &str) -> Refusal {
    Refusal::new(Code::SecretDetected, message, hint)
}
