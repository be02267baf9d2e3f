//! Translates a verb to its request and its caller.

use std::{
    fmt::Display,
    io::{self, Read},
};

use engram_engine::{MESSAGE_BYTES, World};
use engram_model::{
    Adoption, AgentChange, AgentEdit, AgentId, Allow, BriefOf, BudgetOf, Caller, Check, Code,
    ConflictFilter, DenyAnswer, Deref, Draft, EngramId, Feed, GateCheck, GrantAnswer, GrantWanted,
    Listed, Note, Opening, PairVerdict, Pinning, PointerInput, Promote, Query, Refusal, Request,
    Resolve, Sending, Settle, Ttl, Unpinning, WhichRequests, parse_past_time,
};
use serde_json::Value;

use crate::args::{
    AgentsVerb, BriefVerb, ConflictsArgs, ConflictsVerb, DerefArgs, FeedArgs, GrantVerb,
    IssueGrantArgs, MessageVerb, NoteArgs, OpenAgentArgs, PointersVerb, ProjectMemory, PutArgs,
    QueryArgs, RequestsVerb, ResolveArgs, Verb,
};

/// Returns the caller in whose name a verb asks.
pub(crate) fn caller_of(verb: &Verb) -> Caller {
    let agent = match verb {
        Verb::Deref(deref) => &deref.agent,
        Verb::Message {
            verb: MessageVerb::Validate { agent, .. } | MessageVerb::Send { agent, .. },
        }
        | Verb::Brief { agent, .. } => agent,
        _ => &None,
    };
    match agent {
        Some(agent) => Caller::Agent(AgentId(agent.clone())),
        None => Caller::User,
    }
}

/// Returns the request of a verb that is exactly one request.
pub(crate) fn request_of(verb: &Verb, world: &World) -> Result<Request, Refusal> {
    Ok(match verb {
        Verb::Put(put) => Request::Put(Box::new(draft_of(put)?)),
        Verb::Get { id } => Request::Get(id.parse()?),
        Verb::Log { id } => Request::Log(id.parse()?),
        Verb::Restore { id } => Request::Restore(id.parse()?),
        Verb::Forget { id } => Request::Forget(id.parse::<EngramId>()?),
        Verb::Redact { id, .. } => Request::Redact(id.parse()?),
        Verb::Promote { id, scope } => Request::Promote(Promote {
            id: id.parse()?,
            scope: *scope,
        }),
        Verb::Sample { remove: false } => Request::LoadSample,
        Verb::Sample { remove: true } => Request::RemoveSample,
        Verb::Query(query) => Request::Query(query_of(query, world)?),
        Verb::Deref(deref) => Request::Deref(deref_of(deref)?),
        Verb::Note(note) => Request::Note(note_of(note)),
        Verb::Feed(feed) => Request::Feed(feed_of(feed)),
        Verb::Status => Request::Status,
        Verb::Agents { verb: None } => Request::Agents,
        Verb::Agents { verb: Some(verb) } => agents_request_of(verb),
        Verb::Budget { agent } => Request::Budget(BudgetOf {
            agent: agent.clone().map(AgentId),
        }),
        Verb::Grant { verb } => grant_request_of(verb)?,
        Verb::Requests { all, verb: None } => Request::Requests(WhichRequests { all: *all }),
        Verb::Requests {
            verb: Some(verb), ..
        } => answer_request_of(verb),
        Verb::Conflicts(conflicts) => conflicts_request_of(conflicts)?,
        Verb::Resolve(resolve) => Request::Resolve(Box::new(resolve_of(resolve)?)),
        Verb::Project { how } => Request::Adopt(match how {
            ProjectMemory::Own => Adoption::Own,
            ProjectMemory::Share => Adoption::Shared,
        }),
        Verb::Brief {
            of: Some(of), verb, ..
        } => match verb {
            None => Request::ShowBrief(BriefOf {
                agent: Some(AgentId(of.clone())),
            }),
            Some(_) => {
                return Err(Refusal::new(
                    Code::SchemaInvalid,
                    "--of only shows a brief",
                    "To pin as an agent, name it with --agent.",
                ));
            }
        },
        Verb::Brief { verb, .. } => brief_request_of(verb.as_ref()),
        Verb::Message { verb } => message_request_of(verb)?,
        Verb::Pointers {
            verb:
                PointersVerb::Check {
                    changed,
                    since,
                    exit_code,
                },
        } => Request::CheckPointers(Check {
            since: since.clone().or(changed.then(|| "HEAD".to_owned())),
            gate: *exit_code,
        }),
        Verb::Pointers {
            verb: PointersVerb::Repin { id },
        } => Request::Repin(id.parse()?),
        Verb::Completions { .. }
        | Verb::Connect(_)
        | Verb::App
        | Verb::Detect { .. }
        | Verb::Mcp { .. }
        | Verb::Serve(_)
        | Verb::Doctor { .. }
        | Verb::Models { .. }
        | Verb::Pointers {
            verb: PointersVerb::Track { .. },
        } => return Err(no_request()),
    })
}

fn no_request() -> Refusal {
    Refusal::bug("this command is not a single request")
}

fn draft_of(put: &PutArgs) -> Result<Draft, Refusal> {
    let pointers = put.pointers.iter().map(|it| parse_pointer(it));
    Ok(Draft {
        claim: put.claim.clone().unwrap_or_default(),
        pointers: pointers.collect::<Result<_, _>>()?,
        kind: put.kind,
        fact_type: put.fact_type,
        confidence: put.confidence,
        ttl: put.ttl.as_deref().map(iso_duration),
        scope: put.scope,
        topic: put.topic.clone(),
        tags: put.tags.clone(),
        agent: put.agent.clone(),
        durability: put.durability,
        operation: put.operation,
        corrects_lineage: put.corrects.clone(),
        ..Draft::default()
    })
}

/// Returns a duration as the engine reads it: `7d`, `12h` and `30m` become `P7D`, `PT12H` and
/// `PT30M`. Anything else stays as it is.
fn iso_duration(text: &str) -> String {
    let number = text.trim_end_matches(['d', 'h', 'm']);
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    match text.strip_prefix(number) {
        Some("d") if is_number => format!("P{number}D"),
        Some("h") if is_number => format!("PT{number}H"),
        Some("m") if is_number => format!("PT{number}M"),
        _ => text.to_owned(),
    }
}

/// Reads how long a grant stays open.
pub(crate) fn parse_ttl(text: &str) -> Result<Ttl, Refusal> {
    iso_duration(text).parse()
}

/// Parses a pointer: a string, or the object form (docs/design.md#the-published-forms).
fn parse_pointer(text: &str) -> Result<PointerInput, Refusal> {
    if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| {
            Refusal::new(
                Code::PointerInvalid,
                format!("cannot parse the pointer object: {error}"),
                "Use {\"type\":\"repo\",\"ref\":\"src/main.rs@HEAD\",\"span\":\"L1-L9\"}, or the address as a string.",
            )
        })
    } else {
        Ok(PointerInput::Text(text.to_owned()))
    }
}

fn query_of(query: &QueryArgs, world: &World) -> Result<Query, Refusal> {
    let as_of = query
        .as_of
        .as_deref()
        .map(|it| parse_past_time(it, world.now()));
    Ok(Query {
        text: query.text.join(" "),
        k: query.k.map(|it| it as usize),
        scope: query.scope,
        topic: query.topic.clone(),
        kind: query.kind,
        fact_type: query.fact_type,
        as_of: as_of.transpose()?,
        include_ephemeral: query.include_ephemeral,
        embedding_ref: None,
    })
}

fn deref_of(deref: &DerefArgs) -> Result<Deref, Refusal> {
    Ok(Deref {
        pointer: parse_pointer(&deref.pointer)?,
        max_tokens: deref.max_tokens,
        turn: deref.turn.clone(),
        budget_token: deref.budget_token.clone(),
        reason: deref.reason.clone(),
    })
}

fn note_of(note: &NoteArgs) -> Note {
    Note {
        kind: note.kind.clone(),
        slug: note.slug.clone(),
        text: note.text.clone(),
        agent: note.agent.clone(),
    }
}

pub(crate) fn feed_of(feed: &FeedArgs) -> Feed {
    Feed {
        before: feed.before,
        limit: Some(feed.limit),
        all: feed.all,
        ..Feed::default()
    }
}

fn agents_request_of(verb: &AgentsVerb) -> Request {
    let (agent, what) = match verb {
        AgentsVerb::Open(open) => return Request::OpenAgent(opening_of(open)),
        AgentsVerb::Rename { agent, name } => (agent, AgentEdit::Rename(name.clone())),
        AgentsVerb::Hide { agent } => (agent, AgentEdit::Hide),
        AgentsVerb::Show { agent } => (agent, AgentEdit::Show),
        AgentsVerb::Close { agent } => (agent, AgentEdit::Close),
    };
    Request::ChangeAgent(AgentChange {
        agent: AgentId(agent.clone()),
        what,
    })
}

fn opening_of(open: &OpenAgentArgs) -> Opening {
    Opening {
        name: open.name.clone(),
        role: open.role.clone(),
        parent: open.parent.clone().map(AgentId),
        read: open.read.clone(),
        write: open.write.clone(),
    }
}

fn grant_request_of(verb: &GrantVerb) -> Result<Request, Refusal> {
    Ok(match verb {
        GrantVerb::Issue(issue) => Request::IssueGrant(grant_wanted_of(issue)?),
        GrantVerb::List => Request::Grants,
        GrantVerb::Revoke { id } => Request::RevokeGrant(id.clone()),
    })
}

fn grant_wanted_of(issue: &IssueGrantArgs) -> Result<GrantWanted, Refusal> {
    Ok(GrantWanted {
        to: AgentId(issue.to.clone()),
        pointer: issue.pointer.as_deref().map(parse_pointer).transpose()?,
        cap_tokens: issue.cap,
        code_chars: issue.code,
        ttl: issue.ttl.clone(),
        by: issue.by.clone().map(AgentId),
        replaces: issue.replaces.clone(),
    })
}

fn answer_request_of(verb: &RequestsVerb) -> Request {
    match verb {
        RequestsVerb::Grant { id, cap, ttl } => Request::GrantRequest(GrantAnswer {
            id: id.clone(),
            cap_tokens: *cap,
            ttl: ttl.clone(),
        }),
        RequestsVerb::Deny { id, why } => Request::DenyRequest(DenyAnswer {
            id: id.clone(),
            why: why.clone(),
        }),
    }
}

fn conflicts_request_of(conflicts: &ConflictsArgs) -> Result<Request, Refusal> {
    Ok(match &conflicts.verb {
        Some(ConflictsVerb::List(_)) => Request::Conflicts(filter_of(conflicts)),
        Some(ConflictsVerb::Show { id }) => Request::Conflict(id.parse()?),
        Some(ConflictsVerb::Explain { id }) => Request::Explain(id.parse()?),
        Some(ConflictsVerb::Allow { id, why, undo }) => Request::Allow(Allow {
            conflict: id.parse()?,
            why: why.clone().unwrap_or_default(),
            undo: *undo,
        }),
        None if conflicts.gate => Request::Gate(match conflicts.list.severity {
            Some(severity) => GateCheck { severity },
            None => GateCheck::default(),
        }),
        None => Request::Conflicts(filter_of(conflicts)),
    })
}

/// Returns which conflicts to list.
pub(crate) fn filter_of(conflicts: &ConflictsArgs) -> ConflictFilter {
    let list = match &conflicts.verb {
        Some(ConflictsVerb::List(list)) => list,
        _ => &conflicts.list,
    };
    ConflictFilter {
        topic: list.topic.clone(),
        status: list.status.unwrap_or(Listed::Open),
        severity: list.severity,
        after: list.after.clone(),
        limit: list.limit,
    }
}

fn resolve_of(resolve: &ResolveArgs) -> Result<Resolve, Refusal> {
    let how = match (&resolve.winner, &resolve.merge) {
        (Some(winner), _) => match winner.as_str() {
            "newer" => Settle::Newer,
            "surer" | "higher_confidence" => Settle::Surer,
            id => Settle::Winner(id.parse()?),
        },
        (_, Some(text)) => Settle::Merge(text.clone()),
        _ if resolve.dismiss => Settle::Dismiss,
        _ if resolve.contradicts => Settle::judge(PairVerdict::Contradicts),
        _ if resolve.compatible => Settle::judge(PairVerdict::Compatible),
        _ => Settle::Undo,
    };
    Ok(Resolve {
        conflict: resolve.id.parse()?,
        how,
        why: resolve.why.clone(),
    })
}

fn brief_request_of(verb: Option<&BriefVerb>) -> Request {
    match verb {
        None => Request::Brief,
        Some(BriefVerb::Pin { what }) => Request::Pin(match what.trim().parse() {
            Ok(id) => Pinning::Engram(id),
            Err(_) => Pinning::Text(what.clone()),
        }),
        Some(BriefVerb::Unpin { line, pin }) => Request::Unpin(match pin {
            Some(pin) => Unpinning::Pin { pin: *pin },
            None => Unpinning::Line(line.unwrap_or_default()),
        }),
    }
}

fn message_request_of(verb: &MessageVerb) -> Result<Request, Refusal> {
    Ok(match verb {
        MessageVerb::Validate { file, .. } => {
            Request::ValidateMessage(Value::String(read_message(file)?))
        }
        MessageVerb::Send { file, to, .. } => Request::Send(Sending {
            message: Value::String(read_message(file)?),
            to: to.clone().map(AgentId),
        }),
    })
}

/// Returns a message as it was written, from a file or standard input for `-`. Of a message over
/// the maximum length, it reads only enough to refuse it.
fn read_message(file: &str) -> Result<String, Refusal> {
    let most = MESSAGE_BYTES as u64 + 1;
    let read = match file {
        "-" => read_at_most(io::stdin(), most),
        // The named file may be a pipe: wait for it.
        path => std::fs::File::open(path).and_then(|it| read_at_most(it, most)),
    };
    let refused = |why: &dyn Display| {
        Refusal::new(
            Code::SchemaInvalid,
            format!("cannot read {file}: {why}"),
            "Pass a UTF-8 text file, or - for standard input.",
        )
    };
    let bytes = read.map_err(|error| refused(&error))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.as_bytes().len() as u64 == most => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(_) => Err(refused(&"it is not UTF-8 text")),
    }
}

fn read_at_most(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
