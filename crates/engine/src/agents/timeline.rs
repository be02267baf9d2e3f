//! What an agent did, newest first, and what its pointers saved; for the user.

use std::collections::{BTreeMap, BTreeSet};

use engram_model::{
    ActOf, AgentAct, Code, Operation, OperationKind, Pointer, ProjectId, Refusal, Saved, Timeline,
    TimelineOf,
};
use engram_store::{Journalled, Reader};
use parking_lot::Mutex;

use crate::{
    agents::{
        message_cost::{estimate_tokens, files_behind, is_lasting_failure, resolve_file},
        opening::unknown_agent,
    },
    context::{Context, caller::agent_in_project, shelf::HomeShelf},
};

/// The most acts that are listed.
const ACTS: usize = 300;
/// The latest reads of each agent from which the savings are estimated.
const READS: usize = 500;
/// The most characters of files that one request counts. The next request continues.
const CHARS: usize = 2 << 20;
/// The most files whose tokens are kept in memory.
const KEPT: usize = 20_000;

/// What is listed about an agent.
const LISTED_KINDS: &[OperationKind] = &[
    OperationKind::Joined,
    OperationKind::Requested,
    OperationKind::Dereferenced,
    OperationKind::Sent,
    OperationKind::Stored,
    OperationKind::Conflicted,
    OperationKind::Resolved,
    OperationKind::Refused,
];

/// The tokens of whole files at their pins, which never change; 0 if a file can never be read.
#[derive(Default)]
pub(crate) struct FileTokens(Mutex<BTreeMap<String, u64>>);

impl FileTokens {
    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }

    fn keep(&self, file: String, tokens: u64) {
        let mut all = self.0.lock();
        if all.len() >= KEPT {
            all.clear();
        }
        all.insert(file, tokens);
    }
}

/// The timeline of some agents, as if they were one.
pub(crate) fn timeline(cx: &Context<'_>, of: &TimelineOf) -> Result<Timeline, Refusal> {
    if of.agents.len() > TimelineOf::MAX_AGENTS {
        let most = TimelineOf::MAX_AGENTS;
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("a timeline covers at most {most} agents"),
            "Ask for fewer.",
        ));
    }
    let project = cx.project_or_home()?;
    let (acts, reads) = cx.engine.store.read::<_, Refusal>(|tx| {
        let (mut entries, mut reads) = (Vec::new(), Vec::new());
        for id in &of.agents {
            agent_in_project(tx, project, id)?.ok_or_else(|| unknown_agent(id))?;
            entries.extend(tx.acts(id, LISTED_KINDS, ACTS)?);
            reads.extend(tx.acts(id, &[OperationKind::Dereferenced], READS)?);
        }
        entries.sort_by_key(|it| std::cmp::Reverse(it.seq));
        entries.truncate(ACTS);
        Ok((acts_of(tx, entries)?, reads))
    })?;
    let saved = estimate_saved(cx, project, &reads)?;
    Ok(Timeline { acts, saved })
}

/// The acts that these entries record, newest first like the entries. An act without a turn of its
/// own belongs to the turn that was current.
fn acts_of(tx: &Reader<'_>, entries: Vec<Journalled>) -> Result<Vec<AgentAct>, Refusal> {
    let mut acts = Vec::new();
    let mut current = String::new();
    for entry in entries.into_iter().rev() {
        let Some((turn, what)) = entry
            .readable_operation()
            .map(|it| act_of(tx, it))
            .transpose()?
            .flatten()
        else {
            continue;
        };
        let is_same_turn = what == ActOf::Began && turn.as_ref() == Some(&current);
        if is_same_turn {
            continue;
        }
        current = turn.unwrap_or(current);
        acts.push(AgentAct {
            at: entry.at,
            turn: current.clone(),
            what,
        });
    }
    acts.reverse();
    Ok(acts)
}

/// What an operation says about its agent, and in which turn, if that is recorded.
fn act_of(
    tx: &Reader<'_>,
    operation: Operation,
) -> Result<Option<(Option<String>, ActOf)>, Refusal> {
    let found = match operation {
        Operation::Joined(agent) => (Some(agent.turn), ActOf::Began),
        Operation::Dereferenced(read) => (
            read.turn,
            ActOf::Read {
                pointer: read.pointer,
                tokens: read.tokens,
                cut: read.cut,
                grant: read.grant,
            },
        ),
        Operation::Sent(sent) => (
            sent.turn,
            ActOf::Message {
                tokens: sent.tokens,
            },
        ),
        Operation::Refused(refused) => (
            Some(refused.turn),
            ActOf::Refused {
                code: refused.code,
                figures: refused.figures,
            },
        ),
        Operation::Requested(asked) => (
            None,
            ActOf::Asked {
                request: asked.id,
                pointer: asked.pointer,
            },
        ),
        Operation::Conflicted(found) => (None, ActOf::Contradicted { conflict: found.id }),
        Operation::Resolved(ruling) => {
            let ended = ruling.closed.iter().map(|id| tx.engram(*id));
            let ended = ended.collect::<Result<Vec<_>, _>>()?;
            let what = ActOf::Settled {
                conflict: ruling.id,
                how: ruling.how,
                ended: ended.into_iter().flatten().map(|it| it.claim).collect(),
            };
            (None, what)
        }
        Operation::Stored(stored) if tx.reported_by(stored.lineage_id)?.is_none() => {
            let Some(kept) = tx.engram(stored.id)? else {
                return Ok(None);
            };
            (
                None,
                ActOf::Stored {
                    id: stored.id,
                    claim: kept.claim,
                },
            )
        }
        _ => return Ok(None),
    };
    Ok(Some(found))
}

/// What the agents would have read without pointers (each whole file once), compared with what was
/// delivered from those files. Only files that were counted are compared.
fn estimate_saved(
    cx: &Context<'_>,
    project: ProjectId,
    reads: &[Journalled],
) -> Result<Saved, Refusal> {
    let mut delivered: BTreeMap<String, u64> = BTreeMap::new();
    for entry in reads {
        if let Some(Operation::Dereferenced(read)) = entry.readable_operation()
            && let Ok(pointer) = read.pointer.parse::<Pointer>()
            && let Some(file) = files_behind([&pointer.target].into_iter()).pop()
        {
            *delivered.entry(file).or_default() += u64::from(read.tokens);
        }
    }
    count_missing(cx, project, delivered.keys().collect())?;
    let known = cx.engine.caches.file_tokens.0.lock();
    let mut saved = Saved::default();
    for (file, tokens) in delivered {
        if let Some(full) = known.get(&file).filter(|full| **full > 0) {
            saved.files += 1;
            saved.full_tokens += full;
            saved.delivered += tokens;
        }
    }
    Ok(saved)
}

/// Counts the tokens of files that are not counted yet, up to the limit of one request.
fn count_missing(
    cx: &Context<'_>,
    project: ProjectId,
    files: BTreeSet<&String>,
) -> Result<(), Refusal> {
    let cache = &cx.engine.caches.file_tokens;
    let missing: Vec<&String> = {
        let known = cache.0.lock();
        let all = files.into_iter();
        all.filter(|file| !known.contains_key(*file)).collect()
    };
    if missing.is_empty() {
        return Ok(());
    }
    let shelf = HomeShelf {
        urls: false,
        ..cx.shelf(Some(project))?
    };
    let repo = cx.repo().ok().flatten();
    let mut looked = 0;
    for file in missing {
        match resolve_file(repo, &shelf, file) {
            Ok(found) => {
                let (tokens, chars) = estimate_tokens(&found);
                looked += chars;
                cache.keep(file.clone(), tokens);
            }
            Err(refusal) if is_lasting_failure(refusal.code) => cache.keep(file.clone(), 0),
            // The file may be available at the next request.
            Err(_) => {}
        }
        if looked >= CHARS {
            break;
        }
    }
    Ok(())
}
