//! `engram feed`: what happened, in the words of the claims that it happened to.

use std::{
    process::ExitCode,
    sync::{Arc, mpsc},
};

use engram_engine::Engine;
use engram_model::{Caller, Change, Code, Entry, Refusal, ask};

use crate::{
    args::FeedArgs,
    entry::{Named, entry_line},
    out,
    request::feed_of,
};

/// Prints a page of entries.
pub(crate) fn print_entries(engine: &Engine, entries: &[Entry]) {
    let named = names_of(engine, entries);
    for entry in entries {
        out::print_line(&entry_line(entry, &named));
    }
}

/// Prints existing and new entries, oldest first, until the reader is gone.
pub(crate) fn follow(
    engine: &Arc<Engine>,
    asked: &FeedArgs,
    json: bool,
) -> Result<ExitCode, Refusal> {
    let page = engine.ask(&Caller::User, ask::Feed(feed_of(asked)))?;
    let (lines, printed) = mpsc::channel();
    for entry in page.entries.into_iter().rev() {
        let _ = lines.send(entry);
    }
    let _subscription = engine.subscribe(page.head, move |entries| {
        for entry in entries {
            let _ = lines.send(entry);
        }
    })?;
    for entry in printed {
        let is_read = if json {
            out::print_json(&entry)
        } else {
            let named = names_of(engine, std::slice::from_ref(&entry));
            out::print_line(&entry_line(&entry, &named))
        };
        if !is_read {
            return Ok(ExitCode::SUCCESS);
        }
    }
    // The feed ends only if its home does.
    engine.ask(&Caller::User, ask::Status)?;
    Err(Refusal::new(
        Code::StoreGone,
        "the home was replaced while it was being followed",
        "Run the command again to follow the new one.",
    ))
}

/// Returns what the entries store or name. An entry that ends, replaces or promotes a claim names it
/// only by id, and so does an entry about a conflict.
fn names_of(engine: &Engine, entries: &[Entry]) -> Named {
    let stored = entries.iter().filter_map(|it| it.change.stored());
    let mut named = Named {
        versions: stored.map(|it| (it.id, it.clone())).collect(),
        ..Named::default()
    };
    for entry in entries {
        let named_by_id = match &entry.change {
            Change::Stored(engram) => engram.supersedes,
            Change::Corroborated(id)
            | Change::Forgotten(id)
            | Change::Redacted(id)
            | Change::Promoted { id, .. } => Some(*id),
            _ => None,
        };
        if let Some(id) = named_by_id
            && !named.versions.contains_key(&id)
            && let Ok(engram) = engine.ask(&Caller::User, ask::Get(id))
        {
            named.versions.insert(id, *engram);
        }
        if let Some(id) = entry.change.conflict()
            && !named.conflicts.contains_key(&id)
            && let Ok(conflict) = engine.ask(&Caller::User, ask::Conflict(id))
        {
            named.conflicts.insert(id, *conflict);
        }
    }
    named
}
