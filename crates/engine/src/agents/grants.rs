//! Grants, and requests for them. A grant allows one agent one thing beyond its budget.

use crate::{
    agents::opening::unknown_agent,
    context::{
        ActiveProject, Context, author,
        caller::{agent_in_project, kin_of, known_to, token_digest},
        plan::{Plan, Planned},
        rates,
        screen::{screen_secret, screen_snapshot, screen_text},
    },
    decide,
    evidence::{
        excerpt::tokens_of_span,
        gather::{self, entries_of_copies},
    },
};
use engram_gateway::{
    AgentNode, GrantTerms, GrantWish, grant_terms, refuse_decision, refuse_revoke,
};
use engram_model::{
    AgentId, Answered, Caller, Code, DenyAnswer, DerefRequest, GrantAnswer, GrantKind, GrantRecord,
    GrantReply, GrantState, GrantTold, GrantWanted, GrantsReply, Operation, Pointer, PointerInput,
    ProjectId, Refusal, RequestState, Secret, Ttl,
    operation::{Denied, NewGrant, Requested, Snapshot},
};
use engram_pointers::resolve;
use engram_store::{ReadRequest, Reader};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// The longest reason, intended use or answer, in characters.
const MAX_REASON: usize = 500;
/// The most grants and requests that are listed.
pub(super) const MAX_LISTED: usize = 200;

/// A pointer that was looked up, for a grant or a request.
pub(crate) struct ResolvedPointer {
    pub(crate) pointer: Pointer,
    tokens: u32,
    /// The file that it addresses, if a copy must be stored.
    pub(crate) copy: Option<Snapshot>,
}

/// A request to read, with its pointer looked up.
pub(crate) struct ResolvedRequest {
    pub(crate) resolved: ResolvedPointer,
    pub(crate) requested: Requested,
}

impl ResolvedPointer {
    /// The entries that store a copy of its file, if it needs one.
    pub(crate) fn copy_entries(
        &self,
        tx: &Reader<'_>,
        project: ProjectId,
    ) -> Result<Vec<Operation>, Refusal> {
        entries_of_copies(tx, project, [&self.pointer], self.copy.as_slice())
    }
}

/// A grant that is about to be issued.
struct GrantDraft<'a> {
    to: &'a AgentId,
    wish: &'a GrantWish,
    ttl: Option<&'a Ttl>,
    by: Option<&'a AgentId>,
    request: Option<String>,
    /// The grant that it replaces.
    replaces: Option<&'a str>,
    /// A copy that is stored with it.
    copy: Option<&'a Snapshot>,
}

/// Gives an agent below the caller a grant: one read of a pointer, or inline code in one message.
pub(crate) fn give_grant(cx: &Context<'_>, ask: GrantWanted) -> Result<GrantReply, Refusal> {
    let active = cx.active_project(true)?;
    let (wish, copy) = match (ask.pointer, ask.code_chars) {
        (Some(pointer), None) => {
            let resolved = resolve_and_pin(cx, pointer, &active)?;
            let pointer = resolved.pointer;
            let cap_tokens = ask.cap_tokens;
            (
                GrantWish::Read {
                    pointer,
                    cap_tokens,
                },
                resolved.copy,
            )
        }
        (None, Some(chars)) if ask.cap_tokens.is_none() => (GrantWish::Code { chars }, None),
        _ => {
            return Err(Refusal::new(
                Code::SchemaInvalid,
                "a grant is either for one pointer, with a cap in tokens, or for inline code, in characters",
                "Give a pointer, or code_chars without a cap.",
            ));
        }
    };
    let now = cx.engine.world.now();
    issue(cx, &active, None, |tx| {
        if let Some(replaced) = &ask.replaces {
            refuse_irrevocable(cx, tx, active.project, replaced, now)?;
        }
        Ok(GrantDraft {
            to: &ask.to,
            wish: &wish,
            ttl: ask.ttl.as_ref(),
            by: ask.by.as_ref(),
            request: None,
            replaces: ask.replaces.as_deref(),
            copy: copy.as_ref(),
        })
    })
}

/// Grants a request.
pub(crate) fn approve_request(cx: &Context<'_>, ask: &GrantAnswer) -> Result<GrantReply, Refusal> {
    let active = cx.active_project(true)?;
    let store = &cx.engine.store;
    let asked = store.read(|tx| find_waiting_request(cx, tx, active.project, &ask.id))?;
    let wish = GrantWish::Read {
        pointer: asked.pointer.parse()?,
        cap_tokens: ask.cap_tokens,
    };
    // The grant gets the id of its request, so that the id finds both.
    issue(cx, &active, Some(ask.id.clone()), |tx| {
        find_waiting_request(cx, tx, active.project, &ask.id)?;
        Ok(GrantDraft {
            to: &asked.agent,
            wish: &wish,
            ttl: ask.ttl.as_ref(),
            by: None,
            request: Some(ask.id.clone()),
            replaces: None,
            copy: None,
        })
    })
}

fn issue<'a>(
    cx: &Context<'_>,
    active: &ActiveProject,
    id: Option<String>,
    wanted: impl Fn(&Reader<'_>) -> Result<GrantDraft<'a>, Refusal>,
) -> Result<GrantReply, Refusal> {
    let id = id.unwrap_or_else(|| cx.engine.world.new_id().to_string());
    let token = cx.engine.world.new_secret();
    let (now, said_by) = (cx.engine.world.now(), author::author_of(cx, None)?);
    let issued = decide::plan_and_commit(cx, active, |tx, _| {
        rates::admit_write(cx, tx)?;
        let wanted = wanted(tx)?;
        let giver = resolve_giver(cx, tx, active.project, wanted.by)?;
        let to = kin_in_project(cx, tx, active.project, wanted.to)?;
        let seconds = wanted
            .ttl
            .map(|ttl| ttl.expires_at(now).duration_since(now).as_secs());
        let limits = &cx.engine.config.limits.grant;
        let GrantTerms { what, expires_at } =
            grant_terms(&giver, &to, wanted.wish, seconds, limits, now)?;
        let grant = GrantRecord {
            id: id.clone(),
            to: to.agent,
            by: match giver {
                Caller::User => None,
                Caller::Agent(agent) => Some(agent),
            },
            what,
            issued_at: now,
            expires_at,
            spent: false,
            revoked: false,
            replaced_by: None,
        };
        let pointer = match wanted.wish {
            GrantWish::Read { pointer, .. } => Some(pointer),
            GrantWish::Code { .. } => None,
        };
        let copy = wanted.copy.map_or(&[][..], std::slice::from_ref);
        let mut entries = entries_of_copies(tx, active.project, pointer, copy)?;
        entries.push(Operation::Granted(Box::new(NewGrant {
            grant: grant.clone(),
            token: token_digest(&token),
            request: wanted.request,
            replaces: wanted.replaces.map(str::to_owned),
        })));
        Ok(Plan::of(private_entries(entries, &said_by), grant))
    })?
    .answer;
    let told = shown_grant(issued, now);
    Ok(GrantReply {
        id: told.id,
        budget_token: Secret(token),
        to: told.to,
        pointer: told.pointer,
        cap_tokens: told.cap_tokens,
        code_chars: told.code_chars,
        expires_at: told.expires_at,
        by: told.by,
    })
}

/// Who issues the grant: the caller, or the agent in whose name the user issues it.
fn resolve_giver(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    by: Option<&AgentId>,
) -> Result<Caller, Refusal> {
    match (cx.caller, by) {
        (Caller::User, Some(by)) => {
            kin_in_project(cx, tx, project, by).map(|it| Caller::Agent(it.agent))
        }
        (Caller::Agent(agent), Some(by)) if agent != by => Err(Refusal::new(
            Code::ScopeDenied,
            "an agent may grant only in its own name",
            "Leave `by` out.",
        )),
        (caller, _) => Ok(caller.clone()),
    }
}

/// Resolves a pointer to something that exists, and pins it fully.
pub(crate) fn resolve_and_pin(
    cx: &Context<'_>,
    pointer: PointerInput,
    active: &ActiveProject,
) -> Result<ResolvedPointer, Refusal> {
    let pointer = Pointer::try_from(pointer)?;
    let (repo, shelf) = (
        gather::repo_for(cx, &pointer)?,
        cx.shelf(Some(active.project))?,
    );
    let resolved = match resolve(repo, &shelf, &pointer) {
        Ok(resolved) => resolved,
        Err(refusal) => return Err(gather::without_hints(cx, &pointer, refusal)?),
    };
    resolved.refuse_binary()?;
    if let Some(snapshot) = &resolved.snapshot {
        screen_snapshot(snapshot)?;
    }
    screen_secret("the pointer", &resolved.pointer.to_string())?;
    let tokens = tokens_of_span(&resolved);
    let (pointer, copy) = gather::keep_commits(cx, resolved.pointer)?;
    Ok(ResolvedPointer {
        tokens,
        pointer,
        copy: resolved.snapshot.or(copy),
    })
}

/// The newest grants that the caller gave, or that it or its children have; for the user, all.
pub(crate) fn list_grants(cx: &Context<'_>) -> Result<GrantsReply, Refusal> {
    let (project, now) = (cx.project()?, cx.engine.world.now());
    cx.engine.store.read::<_, Refusal>(|tx| {
        let mut grants = Vec::new();
        for grant in tx.grants().list(project, cx.caller.agent(), MAX_LISTED)? {
            let replaced_by = grant.replaced_by.clone();
            grants.push(GrantTold {
                // The grants of other agents are no business of an agent.
                replaced_by: replaced_by.filter(|_| cx.caller.agent().is_none()),
                ..shown_grant(expire_overdue(tx, grant, now)?, now)
            });
        }
        Ok(GrantsReply { grants })
    })
}

/// Whether the caller may see an agent's requests and costs: the agent, its parent and the user
/// may.
pub(crate) fn may_see_agent(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    agent: &AgentId,
) -> Result<bool, Refusal> {
    Ok(match cx.caller {
        Caller::User => true,
        Caller::Agent(me) if me == agent => true,
        caller => agent_in_project(tx, project, agent)?
            .is_some_and(|it| refuse_decision(caller, &kin_of(it)).is_ok()),
    })
}

/// Takes back an open grant.
pub(crate) fn revoke(cx: &Context<'_>, id: &str) -> Result<Answered, Refusal> {
    let active = cx.active_project(true)?;
    let (now, by) = (cx.engine.world.now(), author::author_of(cx, None)?);
    decide::plan_and_commit(cx, &active, |tx, _| {
        refuse_irrevocable(cx, tx, active.project, id, now)?;
        let entries = private_entries(vec![Operation::Revoked(id.to_owned())], &by);
        Ok(Plan::of(entries, ()))
    })?;
    Ok(state_reply(id, GrantState::Revoked.as_str()))
}

/// Refuses a grant that the caller may not end, or that has ended.
fn refuse_irrevocable(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    id: &str,
    now: Timestamp,
) -> Result<(), Refusal> {
    let none = || no_such("grant", id);
    let grant = tx.grants().find(project, id)?.ok_or_else(none)?;
    let to = known_to(cx.caller, tx, project, &grant.to)?;
    let to = kin_of(to.ok_or_else(none)?);
    refuse_revoke(cx.caller, &grant, &to)?;
    let state = expire_overdue(tx, grant, now)?.state(now);
    if state == GrantState::Open {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::NotFound,
            format!("the grant is already {state}"),
            "Nothing was changed; it can no longer be used.",
        ))
    }
}

/// Asks for a grant for one read. A request for the same pointer that already waits is kept.
pub(crate) fn request_read(cx: &Context<'_>, ask: DerefRequest) -> Result<Answered, Refusal> {
    let active = cx.active_project(true)?;
    let want = resolve_request(cx, ask, &active)?;
    let by = author::author_of(cx, None)?;
    let id = decide::plan_and_commit(cx, &active, |tx, _| {
        rates::admit_write(cx, tx)?;
        plan_request(cx, tx, &active, &want)
            .map(|plan| Plan::of(private_entries(plan.0, &by), plan.1))
    })?
    .answer;
    Ok(state_reply(&id, RequestState::Waiting.as_str()))
}

/// The last request of the calling agent for this pointer, if it was denied. A pointer that cannot
/// be resolved was never requested: an agent beyond its budget learns nothing more about it.
pub(crate) fn find_denied(
    cx: &Context<'_>,
    pointer: &PointerInput,
) -> Result<Option<ReadRequest>, Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(None);
    };
    let last = cx
        .engine
        .store
        .read(|tx| tx.grants().last_requests_of(&agent.handle, MAX_LISTED))?;
    let is_denied = |it: &ReadRequest| it.state == RequestState::Denied;
    if !last.iter().any(is_denied) {
        return Ok(None);
    }
    let pointer = Pointer::try_from(pointer.clone())?;
    let shelf = cx.shelf(Some(agent.project))?;
    let Ok(resolved) = resolve(gather::repo_for(cx, &pointer)?, &shelf, &pointer) else {
        return Ok(None);
    };
    let address = resolved.pointer.to_string();
    let newest = last.into_iter().find(|it| it.pointer == address);
    Ok(newest.filter(is_denied))
}

/// Resolves an agent's request to read.
pub(crate) fn resolve_request(
    cx: &Context<'_>,
    ask: DerefRequest,
    active: &ActiveProject,
) -> Result<ResolvedRequest, Refusal> {
    let reason = validated_sentence("the reason", &ask.reason)?;
    let intended_use = validated_sentence("the intended use", &ask.intended_use)?;
    if reason.is_empty() {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            "a request needs a reason",
            "Say in one sentence why the claims and your budget are not enough.",
        ));
    }
    let resolved = resolve_and_pin(cx, ask.pointer, active)?;
    let mut requested = Requested {
        id: cx.engine.world.new_id().to_string(),
        pointer: resolved.pointer.to_string(),
        tokens: resolved.tokens,
        reason,
        intended_use,
        digest: String::new(),
    };
    requested.digest = hex::encode(Sha256::digest(requested.stored_text()));
    Ok(ResolvedRequest {
        resolved,
        requested,
    })
}

/// The entries and the id of a request. If a request for the same pointer already waits, returns
/// its id.
pub(crate) fn plan_request(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    active: &ActiveProject,
    want: &ResolvedRequest,
) -> Result<(Vec<Operation>, String), Refusal> {
    let ResolvedRequest {
        resolved,
        requested,
    } = want;
    if let Some(agent) = cx.agent()?
        && let Some(same) = tx.grants().waiting(&agent.handle, &requested.pointer)?
    {
        return Ok((Vec::new(), same));
    }
    let mut entries = resolved.copy_entries(tx, active.project)?;
    entries.push(Operation::Requested(Box::new(requested.clone())));
    Ok((entries, requested.id.clone()))
}

/// Denies a waiting request, with a reason.
pub(crate) fn deny(cx: &Context<'_>, ask: &DenyAnswer) -> Result<Answered, Refusal> {
    let active = cx.active_project(true)?;
    let why = validated_sentence("the answer", ask.why.as_deref().unwrap_or_default())?;
    let denied = Denied {
        id: ask.id.clone(),
        digest: if why.is_empty() {
            String::new()
        } else {
            hex::encode(Sha256::digest(&why))
        },
        why,
    };
    let by = author::author_of(cx, None)?;
    decide::plan_and_commit(cx, &active, |tx, _| {
        rates::admit_write(cx, tx)?;
        find_waiting_request(cx, tx, active.project, &ask.id)?;
        Ok(Plan::of(
            private_entries(vec![Operation::Denied(denied.clone())], &by),
            (),
        ))
    })?;
    Ok(state_reply(&ask.id, RequestState::Denied.as_str()))
}

/// Marks the grant expired if more time than its ttl has passed in the journal, whatever the clock
/// shows now.
pub(crate) fn expire_overdue(
    tx: &Reader<'_>,
    grant: GrantRecord,
    clock: Timestamp,
) -> Result<GrantRecord, Refusal> {
    let term = grant.expires_at.duration_since(grant.issued_at);
    if grant.state(clock) != GrantState::Open || tx.grants().age(&grant.id, clock)? < term {
        return Ok(grant);
    }
    Ok(GrantRecord {
        expires_at: clock,
        ..grant
    })
}

pub(super) fn shown_grant(grant: GrantRecord, now: Timestamp) -> GrantTold {
    let state = grant.state(now);
    let (pointer, cap_tokens, code_chars) = match grant.what {
        GrantKind::Read {
            pointer,
            cap_tokens,
        } => (Some(pointer), Some(cap_tokens), None),
        GrantKind::Code { chars } => (None, None, Some(chars)),
    };
    GrantTold {
        id: grant.id,
        to: grant.to,
        pointer,
        cap_tokens,
        code_chars,
        expires_at: grant.expires_at,
        by: grant.by,
        state,
        replaced_by: None,
        holder: None,
    }
}

/// Returns a request that the caller may answer and nobody has answered. Only a caller who may
/// answer it learns its state.
fn find_waiting_request(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    id: &str,
) -> Result<engram_store::ReadRequest, Refusal> {
    let none = || no_such("request", id);
    let asked = tx.grants().request(project, id)?.ok_or_else(none)?;
    let agent = known_to(cx.caller, tx, project, &asked.agent)?;
    refuse_decision(cx.caller, &kin_of(agent.ok_or_else(none)?))?;
    match asked.state {
        RequestState::Waiting => Ok(asked),
        state => Err(Refusal::new(
            Code::NotFound,
            format!("the request was already {state}"),
            "Nothing was changed; only a waiting request can be answered.",
        )),
    }
}

/// Returns an agent that the caller may know of, as a node of the agents' tree.
fn kin_in_project(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
    id: &AgentId,
) -> Result<AgentNode, Refusal> {
    let found = known_to(cx.caller, tx, project, id)?;
    found.map(kin_of).ok_or_else(|| unknown_agent(id))
}

fn no_such(what: &str, id: &str) -> Refusal {
    Refusal::new(
        Code::NotFound,
        format!("there is no {what} {:?}", engram_model::shorten(id, 40)),
        format!("Take its id from the list of {what}s."),
    )
}

pub(crate) fn private_entries(entries: Vec<Operation>, by: &str) -> Vec<Planned> {
    let planned = entries.into_iter();
    planned.map(|it| Planned::private(it, by)).collect()
}

fn state_reply(id: &str, state: &str) -> Answered {
    Answered {
        id: id.to_owned(),
        state: state.to_owned(),
    }
}

/// Checks a reason, intended use or answer: plain text without a credential.
fn validated_sentence(what: &str, text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    if text.chars().count() > MAX_REASON || text.contains('\0') {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("{what} must be plain text of at most {MAX_REASON} characters"),
            "Say it in a sentence or two.",
        ));
    }
    screen_text(what, text)?;
    Ok(text.to_owned())
}
