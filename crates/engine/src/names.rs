//! What agents are called where people and agents read it. A name is compared as it looks: nobody is called what
//! Engram calls itself or the user, and none passes for an agent that somebody opened.

use engram_model::{AgentId, Code, Engram, Refusal, is_hidden, operation::Agent};
use engram_store::Reader;
use icu_normalizer::DecomposingNormalizerBorrowed;

/// What Engram calls itself and the user, folded.
const OURS: [&str; 8] = [
    "",
    "user",
    "theuser",
    "you",
    "yourself",
    "enqram",
    "theenqram",
    "owner",
];
/// Longest handle that is told whole where a part of it will do.
const SHORT: usize = 16;

/// A name as it looks: without case, accents, spaces, punctuation and what cannot be seen, letters of other
/// scripts as the Latin ones that they look like.
fn folded(name: &str) -> String {
    let seen: String = name.chars().filter(|c| !is_hidden(*c)).collect();
    let plain = DecomposingNormalizerBorrowed::new_nfkd().normalize(&seen);
    let folded: String = plain
        .chars()
        .flat_map(char::to_lowercase)
        .map(alike)
        .filter(|c| c.is_alphanumeric())
        .collect();
    // Two letters that look like one.
    folded
        .replace("rn", "m")
        .replace("vv", "w")
        .replace('g', "q")
}

/// The Latin letter that a small letter of another script, or a digit, looks like. Of the letters that the
/// names in [`OURS`] have.
fn alike(c: char) -> char {
    match c {
        'а' | 'α' | 'ᴀ' | 'ɑ' => 'a',
        'е' | 'є' | 'ε' | 'ᴇ' | '3' | 'ҽ' => 'e',
        'ɡ' | 'ɢ' | 'ց' | 'գ' => 'g',
        'һ' | 'ʜ' | 'հ' | 'н' => 'h',
        'м' | 'ᴍ' | 'μ' => 'm',
        'п' | 'ո' | 'η' | 'ɴ' | 'ռ' | 'и' => 'n',
        'о' | 'ο' | 'օ' | 'ᴏ' | 'σ' | '0' => 'o',
        'г' | 'ʀ' | 'ɾ' | 'ᴦ' | 'я' => 'r',
        'ѕ' | 'ꜱ' | 'ʂ' | '5' | 'ƽ' => 's',
        'т' | 'τ' | 'ᴛ' => 't',
        'υ' | 'ս' | 'ᴜ' | 'ʋ' | 'ц' => 'u',
        'ѡ' | 'ω' | 'ᴡ' => 'w',
        'у' | 'ү' | 'γ' | 'ʏ' | 'ყ' => 'y',
        other => other,
    }
}

/// Whether a name could be mistaken for Engram or the user.
pub(crate) fn is_ours(name: &str) -> bool {
    OURS.contains(&folded(name).as_str())
}

/// Refuses a name that could be mistaken for Engram or the user.
pub(crate) fn refuse_ours(what: &str, name: &str) -> Result<(), Refusal> {
    if !is_ours(name) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::SchemaInvalid,
        format!("{what} could be mistaken for Engram or the user"),
        "Use a name that says what the agent does, such as programmer-1.",
    ))
}

/// What an agent is called in records.
pub(crate) fn named(name: &str) -> String {
    // Invisible characters do not make it a different name.
    let name: String = name.chars().filter(|c| !is_hidden(*c)).collect();
    if is_ours(&name) {
        return format!("{} (agent)", name.trim()).trim().to_owned();
    }
    name
}

/// Who said a claim, as it is shown: builds before this one stored what an agent called itself.
pub(crate) fn author(engram: &Engram) -> String {
    let by = &engram.provenance.created_by;
    if engram.agent.is_some() {
        named(by)
    } else {
        by.clone()
    }
}

/// [`named`], where the name does not look like that of another agent that somebody opened here: then a part of
/// the handle tells them apart.
pub(crate) fn apart(tx: &Reader<'_>, agent: &Agent, name: &str) -> Result<String, Refusal> {
    let name = named(name);
    let looks = folded(&name);
    for holder in tx.opened(agent.project)? {
        if holder.handle != agent.handle
            && (folded(&holder.label) == looks || folded(&holder.handle.0) == looks)
        {
            return Ok(format!("{name} ({})", short(&agent.handle)));
        }
    }
    Ok(name)
}

/// Enough of a handle to tell agents of one name apart: chance is at the end of those that the engine made up.
fn short(handle: &AgentId) -> &str {
    let from = handle.0.char_indices().rev().nth(5).map_or(0, |it| it.0);
    if handle.0.chars().count() > SHORT {
        handle.0.get(from..).unwrap_or_default()
    } else {
        &handle.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_ours_however_it_is_written() {
        for name in [
            "user",
            "the user",
            "The User",
            "USER",
            "ｕｓｅｒ",
            "ｔｈｅ　ｕｓｅｒ",
            "usеr",
            "uѕer",
            "υser",
            "you.",
            "You",
            "yоu",
            "engram",
            "Engram",
            "еngrаm",
            "engrarn",
            "en-gram",
            "u.s.e.r",
            "𝐮𝐬𝐞𝐫",
            "usér",
            "the\u{200b} user",
            "u\u{e0073}ser",
            "(user)",
            "\"user\"",
            "  ",
            "us3r",
            "ᴜꜱᴇʀ",
        ] {
            assert!(is_ours(name), "{name}");
        }
        for name in [
            "programmer-1",
            "user-tests",
            "the user's agent",
            "reviewer",
            "users",
            "Юрий",
            "engram-dev",
            "Zoë",
            "小林",
            "claude-code",
            "yours",
        ] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
