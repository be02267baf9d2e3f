//! Dereference: fetches what a pointer addresses, within the budget, and journals the read.

use crate::{
    agents::{
        grants::{self, expire_overdue},
        served,
    },
    context::{
        Context,
        author::{self, USER},
        caller::{CallingAgent, token_digest},
        names::author_of_entry,
        plan::{Plan, Planned},
        purse::{self, Purse},
        screen::screen_snapshot,
    },
    decide,
    evidence::{
        excerpt::fit_excerpt,
        gather::{self, entries_of_copies},
        health,
    },
};
use engram_consistency::mask;
use engram_gateway::{
    PaidBy, PointerRead, ReadAllowance, admit_read, budget_of, charge, charge_ancestors, no_grant,
    quoted,
};
use engram_model::{
    Budget, Code, Deref, DerefRequest, Dereferenced, GrantKind, GrantRecord, GrantState, Operation,
    Pointer, PointerType, Refusal, Remedy, operation::Read,
};
use engram_pointers::{Resolved, resolve};
use engram_store::{ReadRequest, Reader};
use jiff::Timestamp;

/// Fetches what a pointer addresses. If the budget refuses it and the caller says why it needs it,
/// the refusal becomes a request to the parent or the user. If they denied it before, the refusal
/// says so, and only a different reason makes a new request.
pub(crate) fn dereference_or_request(
    cx: &Context<'_>,
    ask: Deref,
) -> Result<Dereferenced, Refusal> {
    let (pointer, reason) = (ask.pointer.clone(), ask.reason.clone());
    let refusal = match dereference(cx, ask) {
        Err(refusal) if is_of_budget(&refusal) => refusal,
        read => return read,
    };
    let reason = reason.filter(|it| !it.trim().is_empty());
    let denied = grants::find_denied(cx, &pointer)?;
    let (hint, request) = match (reason, denied) {
        (reason, Some(denied)) if reason.as_ref().is_none_or(|it| it.trim() == denied.reason) => {
            (denied_hint(&denied), denied.id)
        }
        (Some(reason), _) => {
            let wanted = DerefRequest {
                pointer,
                reason,
                intended_use: String::new(),
            };
            (ASKED.to_owned(), grants::request_read(cx, wanted)?.id)
        }
        (None, _) => return Err(refusal),
    };
    Err(Refusal {
        hint,
        remedy: Some(Box::new(Remedy {
            request: Some(request),
            ..refusal.remedy.map(|it| *it).unwrap_or_default()
        })),
        ..refusal
    })
}

/// What an agent is told to do after its refused read became a request.
const ASKED: &str = "Your parent or the user was asked, and may let you read it. Carry on, and try the read again later.";

/// What an agent is told to do after its request was denied; quotes the reason.
fn denied_hint(denied: &ReadRequest) -> String {
    let by = denied.answer.as_ref().map(author_of_entry);
    let by = match by.as_deref() {
        None | Some("" | USER) => "The user".to_owned(),
        Some(name) => quoted(name),
    };
    let why = denied.why.as_deref().filter(|it| !it.is_empty());
    let why = why.map_or_else(String::new, |why| {
        format!(": {}", quoted(why.trim_end_matches('.')))
    });
    format!(
        "{by} denied your request to read it{why}. Work with the claims, or ask again with another `reason`."
    )
}

/// Whether a read was refused because of a budget, rather than because of an invalid grant.
fn is_of_budget(refusal: &Refusal) -> bool {
    let remedy = refusal.remedy.as_ref();
    refusal.code == Code::DerefDenied && remedy.is_some_and(|it| !it.figures.is_empty())
}

/// Reads what a pointer addresses. An agent pays from its budget or with a grant, and is refused
/// before any lookup if it cannot.
pub(crate) fn dereference(cx: &Context<'_>, ask: Deref) -> Result<Dereferenced, Refusal> {
    let pointer = Pointer::try_from(ask.pointer)?;
    let repo = gather::repo_for(cx, &pointer)?;
    cx.move_to_turn(ask.turn)?;
    let payer = find_payer(cx, pointer.kind(), ask.budget_token.as_deref())?;
    // Before any lookup: an agent with neither budget nor grant learns nothing.
    let mut paying = None;
    if let Some(payer) = payer {
        let funds = cx.engine.store.read(|tx| load_funds(cx, tx, &payer))?;
        paying = Some((payer, funds));
    }
    let refusal = match &paying {
        Some((payer, funds)) => refuse_unpayable(payer, funds)?,
        None => None,
    };
    let active = cx.active_project(false)?;
    let shelf = cx.shelf(Some(active.project))?;
    let resolved = resolve(repo, &shelf, &pointer)
        .and_then(|it| it.refuse_binary().map(|()| it))
        .map_err(|it| refusal.unwrap_or(it))?;
    if let Some(snapshot) = &resolved.snapshot {
        screen_snapshot(snapshot)?;
    }
    let fitted = match &mut paying {
        Some((payer, funds)) => fit_to_funds(cx, payer, funds, &resolved, ask.max_tokens)?,
        None => fit_excerpt(&resolved, false, None, ask.max_tokens),
    };
    let now = repo.and_then(|repo| health::change_of_pointer(repo, &shelf, &pointer, &resolved));
    let reply = Dereferenced { now, ..fitted };
    let prints = match paying {
        Some(_) => served::prints_of_read(&reply.excerpt, &reply.pointer),
        None => Vec::new(),
    };
    let (budget, grant) = decide::plan_and_commit(cx, &active, |tx, _| {
        let (read, budget) = charge_read(cx, tx, paying.as_ref(), &reply)?;
        let by = author::author_in(cx, tx, None)?;
        let grant = read.grant.clone();
        // A working tree's file is stored together with the read.
        let mut entries = entries_of_copies(tx, active.project, [], resolved.snapshot.as_slice())?;
        entries.push(Operation::Dereferenced(Read {
            prints: prints.clone(),
            ..read
        }));
        let planned = entries
            .into_iter()
            .map(|operation| Planned::private(operation, &by));
        Ok(Plan::of(planned.collect(), (budget, grant)))
    })?
    .answer;
    Ok(Dereferenced {
        budget,
        grant,
        ..reply
    })
}

/// Returns the excerpt that a read can pay for. If the turn's tokens would cut it, a grant for the
/// pointer may pay instead.
fn fit_to_funds(
    cx: &Context<'_>,
    payer: &mut Payer<'_>,
    funds: &mut Funds,
    resolved: &Resolved,
    max_tokens: Option<u32>,
) -> Result<Dereferenced, Refusal> {
    let address = resolved.pointer.to_string();
    let fit = |tokens| fit_excerpt(resolved, true, Some(tokens), max_tokens);
    let left = allowance_for(payer, funds, Some(&address))?;
    let fitted = fit(left.tokens);
    let is_whole = !fitted.truncated || max_tokens.is_some_and(|most| most <= left.tokens);
    if is_whole || left.paid != PaidBy::Budget {
        return Ok(fitted);
    }
    payer.is_cut = true;
    *funds = cx.engine.store.read(|tx| load_funds(cx, tx, payer))?;
    let allowed = allowance_for(payer, funds, Some(&address))?;
    Ok(fit(allowed.tokens))
}

/// Who pays; `None` for the user, who is not metered.
fn find_payer<'c>(
    cx: &'c Context<'_>,
    kind: PointerType,
    token: Option<&str>,
) -> Result<Option<Payer<'c>>, Refusal> {
    match cx.calling_agent()? {
        Some(called) => Ok(Some(Payer {
            called,
            kind,
            token: token.map(token_digest),
            is_cut: false,
        })),
        None if token.is_some() => Err(Refusal::new(
            Code::DerefDenied,
            "a grant is for an agent; you are the user",
            "Read without the budget token, or as the agent: with --agent, or over HTTP with its token.",
        )),
        None => Ok(None),
    }
}

/// Refuses if neither the budget nor a grant can pay for any read. If only a grant may pay, returns
/// the refusal to give for a pointer that does not resolve.
fn refuse_unpayable(payer: &Payer<'_>, funds: &Funds) -> Result<Option<Refusal>, Refusal> {
    let Err(refusal) = allowance_for(payer, funds, None) else {
        return Ok(None);
    };
    let serves = |it: &GrantRecord| {
        it.to == payer.called.agent.handle
            && it.state(funds.now) == GrantState::Open
            && matches!(it.what, GrantKind::Read { .. })
    };
    let may_serve = match &funds.named {
        None => funds.open.iter().any(serves),
        Some(named) => serves(named),
    };
    if may_serve {
        Ok(Some(refusal))
    } else {
        Err(refusal)
    }
}

fn load_funds(cx: &Context<'_>, tx: &Reader<'_>, payer: &Payer<'_>) -> Result<Funds, Refusal> {
    let now = cx.engine.world.now();
    let agent = &payer.called.agent.handle;
    let as_of_now = |grant| expire_overdue(tx, grant, now);
    let named = match &payer.token {
        None => None,
        Some(digest) => {
            let named = tx.grants().of_token(digest)?;
            Some(as_of_now(named.ok_or_else(no_grant)?)?)
        }
    };
    let mut funds = Funds {
        head: tx.head()?,
        purse: purse::purse_of(cx, tx, payer.called)?,
        open: Vec::new(),
        named,
        now,
    };
    // Other grants are looked up only without a token and beyond the budget.
    let is_beyond = payer.is_cut || allowance_for(payer, &funds, None).is_err();
    if payer.token.is_none() && is_beyond {
        let open = tx.grants().unspent(agent)?.into_iter().map(as_of_now);
        funds.open = open.collect::<Result<_, _>>()?;
    }
    Ok(funds)
}

/// What pays for a read of this address, and for how many tokens; without an address, for any read.
fn allowance_for(
    payer: &Payer<'_>,
    funds: &Funds,
    pointer: Option<&str>,
) -> Result<ReadAllowance, Refusal> {
    let reading = PointerRead {
        agent: &payer.called.agent.handle,
        pointer,
        kind: payer.kind,
        is_cut: payer.is_cut,
        ancestors: &funds.purse.ancestors,
        now: funds.now,
    };
    let Purse { limits, spent, .. } = &funds.purse;
    admit_read(reading, limits, spent, funds.named.as_ref(), &funds.open)
}

/// Decides by the state in the store, since other processes of the same agent may have spent some
/// of the budget meanwhile.
fn charge_read(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    paying: Option<&(Payer<'_>, Funds)>,
    reply: &Dereferenced,
) -> Result<(Read, Option<Budget>), Refusal> {
    let read = Read {
        // A path can contain a credential, too.
        pointer: mask(&reply.pointer).text,
        digest: reply.content_digest.clone(),
        tokens: reply.tokens,
        cut: reply.truncated,
        ..Read::default()
    };
    let Some((payer, seen)) = paying else {
        return Ok((read, None));
    };
    let funds = if seen.is_current(tx.head()?) {
        seen
    } else {
        &load_funds(cx, tx, payer)?
    };
    let allowed = allowance_for(payer, funds, Some(&reply.pointer))?;
    let Purse {
        turn,
        limits,
        spent,
        ancestors,
    } = &funds.purse;
    if allowed.tokens < reply.tokens {
        return Err(Refusal::new(
            Code::DerefDenied,
            "another call has just spent these tokens",
            "Try again with a smaller max_tokens, or in the next turn.",
        )
        .figure("tokens", spent.tokens.into(), limits.tokens.into()));
    }
    let (after, grant) = match allowed.paid {
        PaidBy::Budget => (charge(*spent, payer.kind, reply.tokens), None),
        PaidBy::Grant(id) => (*spent, Some(id)),
    };
    let above = if allowed.is_bound {
        charge_ancestors(ancestors, payer.kind, reply.tokens)
    } else {
        Vec::new()
    };
    let shown = budget_of(limits, &after, turn);
    let read = Read {
        turn: Some(turn.clone()),
        above,
        spent: grant.is_none().then_some(after),
        grant,
        ..read
    };
    Ok((read, Some(shown)))
}

/// Who pays for a read.
struct Payer<'a> {
    called: &'a CallingAgent,
    kind: PointerType,
    /// The digest of the grant's token, if one is named.
    token: Option<String>,
    /// Whether the tokens left in the turn cut the excerpt.
    is_cut: bool,
}

/// An agent's means of payment.
struct Funds {
    /// The newest entry of the journal when these were read.
    head: u64,
    purse: Purse,
    /// The grant of the named token.
    named: Option<GrantRecord>,
    /// The agent's unspent grants, if one of them has to pay.
    open: Vec<GrantRecord>,
    now: Timestamp,
}

impl Funds {
    /// Whether they are still valid at this entry. Budgets change only with an entry; only grants
    /// end by themselves.
    fn is_current(&self, head: u64) -> bool {
        self.head == head && self.open.is_empty() && self.named.is_none()
    }
}
