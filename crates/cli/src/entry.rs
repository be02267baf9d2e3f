//! An entry of the journal on one line.

use std::collections::HashMap;

use engram_model::{
    Change, Conflict, ConflictId, ConflictSide, Did, Engram, EngramId, Entry, Evidence, How,
    OperationKind, format_count, shorten,
};

use crate::{
    out::{one_line, time_text},
    print::{SAMPLES, TOKENS},
};

/// The most characters of a claim that is one side of a conflict.
const MAX_CLAIM: usize = 60;

/// What entries name only by id, as far as it is at hand.
#[derive(Default)]
pub(crate) struct Named {
    pub(crate) versions: HashMap<EngramId, Engram>,
    pub(crate) conflicts: HashMap<ConflictId, Conflict>,
}

/// Renders one entry on one line.
pub(crate) fn entry_line(entry: &Entry, named: &Named) -> String {
    let find = |id: EngramId| named.versions.get(&id);
    let conflict = |id: &ConflictId, what: &str| {
        let claim = |side: &ConflictSide| shorten(&one_line(&side.claim), MAX_CLAIM);
        let sides = named.conflicts.get(id);
        let sides = sides.map(|it| format!(": {} / {}", claim(&it.a), claim(&it.b)));
        let sides = sides.unwrap_or_default();
        format!("{id}  {what}{sides}")
    };
    let time = time_text(entry.at);
    let did = Did::of(&entry.change, find);
    let what = match &entry.change {
        Change::Stored(engram) => version_text(engram),
        Change::Corroborated(id)
        | Change::Forgotten(id)
        | Change::Redacted(id)
        | Change::Promoted { id, .. } => find(*id).map_or_else(|| id.to_string(), version_text),
        Change::Dereferenced {
            pointer, tokens, ..
        } => {
            let tokens = format_count((*tokens).into(), TOKENS);
            format!("{:<10} {}, {tokens}", "read", one_line(pointer))
        }
        Change::Noted { pointer, .. } => format!("{:<10} {}", "noted", one_line(pointer)),
        Change::Anchored { engrams, .. } => {
            let counts = Evidence::ALL.iter().filter_map(|standing| {
                let count = engrams
                    .iter()
                    .filter(|it| it.health.standing == *standing)
                    .count();
                (count > 0).then(|| format!("{count} {}", standing.in_words()))
            });
            format!(
                "{:<10} {}",
                "evidence",
                counts.collect::<Vec<_>>().join(", ")
            )
        }
        Change::Conflict { id, severity, .. } => {
            format!("{:<10} {}", "conflict", conflict(id, severity.as_str()))
        }
        Change::Resolved { id, how, .. } => {
            let how = how.map_or("undone", How::as_str);
            format!("{:<10} {}", "resolved", conflict(id, how))
        }
        Change::Allowed(id) => format!("{:<10} {}", "allowed", conflict(id, "passes the gate")),
        Change::Unlisted(all) => format!(
            "{:<10} {}",
            "unlisted",
            format_count(all.len() as u64, SAMPLES)
        ),
        Change::Disallowed(id) => format!("{:<10} {}", "allowed", conflict(id, "blocks again")),
        Change::Between { what, about } => {
            let about: Vec<String> = about.iter().map(one_line).collect();
            let to = match what {
                OperationKind::Sent | OperationKind::Granted if !about.is_empty() => "to ",
                _ => "",
            };
            format!("{:<10} {to}{}", what.as_str(), about.join(", "))
                .trim_end()
                .to_owned()
        }
    };
    let what = match did {
        None => what,
        Some(did @ Did::Lost(loss)) => {
            format!("{:<10} {what}  (conflict {})", did.verb(), loss.conflict)
        }
        Some(did) => format!("{:<10} {what}", did.verb()),
    };
    format!("{time}  {:<14} {what}", one_line(entry_author(entry)))
}

/// Returns who made a change, as the window names them: without an agent, it was the person at the
/// terminal.
fn entry_author(entry: &Entry) -> &str {
    match (entry.by.as_str(), &entry.agent) {
        ("" | "user", None) => "you",
        ("", Some(agent)) => &agent.0,
        (by, _) => by,
    }
}

/// Renders a version: its id, kind, claim and first evidence.
fn version_text(engram: &Engram) -> String {
    if engram.redacted {
        return format!("{}  (redacted)", engram.id);
    }
    let first = engram.pointers.first();
    let evidence = first.map(|it| {
        if it.is_of_own_words() {
            "stored without evidence".to_owned()
        } else {
            one_line(it.label())
        }
    });
    format!(
        "{}  {}  {}  [{}]",
        engram.id,
        engram.kind,
        one_line(&engram.claim),
        evidence.unwrap_or_default()
    )
}

/// Renders entries, one per line.
pub(crate) fn entry_lines(all: &[Entry]) -> String {
    let stored = all.iter().filter_map(|it| it.change.stored());
    let named = Named {
        versions: stored.map(|it| (it.id, it.clone())).collect(),
        ..Named::default()
    };
    let line = |it: &Entry| entry_line(it, &named);
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}
