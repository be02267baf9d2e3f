//! A parent's message: delivered to its children, with the grants that it contains.

use crate::{
    agents::{
        grants::{self, ResolvedPointer, expire_overdue, private_entries},
        message_cost::files_behind,
        served::prints_of_shown,
    },
    context::{
        ActiveProject, Context, author,
        caller::{kin_of, known_to, token_digest},
        plan::{Plan, Planned},
        rates,
    },
    decide,
    messages::{
        message::{self, CheckedMessage, sent_form, served_operation},
        pack::{self, Pack},
    },
};
use engram_gateway::{AgentNode, GrantTerms, GrantWish, check_delivery, grant_terms, recipients};
use engram_model::{
    AgentId, Code, Delivery, GrantKind, GrantRecord, GrantState, Operation, Outcome, ParentMessage,
    Refusal, Sending, SentReply,
    operation::{Agent, NewGrant, Sent},
};
use engram_store::{FamilyOf, Reader};
use serde_json::json;

/// The most recipients of a message; one commit stores it for all of them.
const RECIPIENTS: usize = 1_000;

/// Delivers a parent's message to its children.
pub(crate) fn send_to_children(
    cx: &Context<'_>,
    sending: &Sending,
    parsed: &CheckedMessage,
    parent: &ParentMessage,
) -> Result<SentReply, Refusal> {
    let family = reachable_agents(cx, sending.to.as_ref())?;
    let to = addressees(cx, sending, parent, &family)?;
    let pack = pack::resolve_pack(cx, "target_pointer_pack", &parent.target_pointer_pack)?;
    let (active, by) = (cx.active_project(true)?, author::author_of(cx, None)?);
    let id = cx.engine.world.new_id().to_string();
    let mut message = parsed.value.clone();
    message["target_pointer_pack"] = pack.pointers.iter().map(ToString::to_string).collect();
    let offers = resolve_offers(cx, parent, &active, to.len())?;
    for (at, offer) in offers.iter().enumerate() {
        message["grants"][at]["pointer"] = json!(offer.resolved.pointer.to_string());
    }
    let secrets = offers
        .iter()
        .filter_map(OfferedGrant::new_token)
        .map(str::len)
        .sum();
    check_delivery(&message, secrets, cx.limits()?)?;
    let (sent, resend_of) = decide::plan_and_commit(cx, &active, |tx, _| {
        rates::admit_writes(cx, tx, 1)?;
        message::refuse_spent_grant(cx, tx, parsed)?;
        let resend_of = tx.messages().unsent(active.project, cx.caller.agent())?;
        let mut entries = pack.planned_copies(tx, &active, &by)?;
        let sent = Sent {
            id: id.clone(),
            to: to.clone(),
            tokens: parsed.checked.tokens as u64,
            grant: parsed.grant.clone(),
            turn: message::turn_of_message(cx, tx)?,
            resend_of: resend_of.clone(),
            files: files_behind(
                pack.pointers
                    .iter()
                    .chain(offers.iter().map(|it| &it.resolved.pointer))
                    .map(|it| &it.target),
            ),
            budgets: parent.budgets.clone(),
            ..sent_form(&message, &[])
        };
        entries.push(Planned::private(Operation::Sent(Box::new(sent)), &by));
        let mut deliveries = Vec::new();
        let children = family.iter().filter(|it| to.contains(&it.handle));
        for (nth, child) in children.enumerate() {
            let (granted, tokens) = plan_offers(cx, tx, &active, &offers, child, nth)?;
            entries.extend(private_entries(granted, &by));
            let mut message = message.clone();
            for (at, token) in tokens.into_iter().enumerate() {
                message["grants"][at]["budget_token"] = json!(token);
            }
            deliveries.push(Delivery {
                to: child.handle.clone(),
                message,
            });
            entries.push(Planned::private(served_to_child(child, parent, &pack), &by));
        }
        deliveries.sort_by(|one, other| one.to.cmp(&other.to));
        Ok(Plan::of(entries, (deliveries, resend_of)))
    })?
    .answer;
    Ok(SentReply {
        id,
        tokens: parsed.checked.tokens,
        outcome: Outcome::Told { sent },
        resend_of,
        stale: pack.stale,
    })
}

/// The agents that a message may reach: the one that it names, or all children of its sender. A
/// closed agent gets none.
pub(crate) fn reachable_agents(
    cx: &Context<'_>,
    to: Option<&AgentId>,
) -> Result<Vec<Agent>, Refusal> {
    let project = cx.project()?;
    let mut found: Vec<Agent> = cx.engine.store.read::<_, Refusal>(|tx| match to {
        Some(to) => Ok(known_to(cx.caller, tx, project, to)?.into_iter().collect()),
        None => {
            let of = cx
                .caller
                .agent()
                .map_or(FamilyOf::Everybody, FamilyOf::Parent);
            Ok(tx.family(project, of, usize::MAX)?)
        }
    })?;
    found.retain(|it| !it.is_closed);
    Ok(found)
}

/// The handles of a message's recipients.
fn addressees(
    cx: &Context<'_>,
    sending: &Sending,
    parent: &ParentMessage,
    family: &[Agent],
) -> Result<Vec<AgentId>, Refusal> {
    let known: Vec<AgentNode> = family.iter().cloned().map(kin_of).collect();
    let to = recipients(cx.caller, &parent.role, sending.to.as_ref(), &known)?;
    if to.len() > RECIPIENTS {
        return Err(Refusal::new(
            Code::BudgetExceeded,
            format!(
                "{} agents have that role; a message goes to at most {RECIPIENTS}",
                to.len()
            ),
            "Name the child that you mean.",
        ));
    }
    Ok(to)
}

/// Resolves the grants of a message.
fn resolve_offers(
    cx: &Context<'_>,
    parent: &ParentMessage,
    active: &ActiveProject,
    recipients: usize,
) -> Result<Vec<OfferedGrant>, Refusal> {
    let world = &cx.engine.world;
    let offers = parent.grants.iter().enumerate().map(|(at, grant)| {
        let resolved = grants::resolve_and_pin(cx, grant.pointer.clone(), active)
            .map_err(|refusal| refusal.at(format_args!("grants[{at}]")))?;
        Ok(OfferedGrant {
            resolved,
            cap_tokens: grant.cap_tokens,
            token: grant.budget_token.trim().to_owned(),
            fresh: (0..recipients)
                .map(|_| (world.new_id().to_string(), world.new_secret()))
                .collect(),
        })
    });
    offers.collect()
}

/// The grants of a message for one recipient: a new grant for each that has no token.
fn plan_offers(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    active: &ActiveProject,
    offers: &[OfferedGrant],
    child: &Agent,
    nth: usize,
) -> Result<(Vec<Operation>, Vec<String>), Refusal> {
    let (mut entries, mut tokens) = (Vec::new(), Vec::new());
    for (at, offer) in offers.iter().enumerate() {
        let place = |refusal: Refusal| refusal.at(format_args!("grants[{at}]"));
        if !offer.token.is_empty() {
            refuse_unusable_token(cx, tx, offer, child).map_err(place)?;
            tokens.push(offer.token.clone());
            continue;
        }
        let Some((id, token)) = offer.fresh.get(nth) else {
            continue;
        };
        let grant = new_grant(cx, offer, child, id).map_err(place)?;
        entries.extend(offer.resolved.copy_entries(tx, active.project)?);
        entries.push(Operation::Granted(Box::new(NewGrant {
            grant,
            token: token_digest(token),
            request: None,
            replaces: None,
        })));
        tokens.push(token.clone());
    }
    Ok((entries, tokens))
}

fn new_grant(
    cx: &Context<'_>,
    offer: &OfferedGrant,
    child: &Agent,
    id: &str,
) -> Result<GrantRecord, Refusal> {
    let now = cx.engine.world.now();
    let wish = GrantWish::Read {
        pointer: offer.resolved.pointer.clone(),
        cap_tokens: Some(offer.cap_tokens),
    };
    let limits = &cx.engine.config.limits.grant;
    let to = kin_of(child.clone());
    let GrantTerms { what, expires_at } = grant_terms(cx.caller, &to, &wish, None, limits, now)?;
    Ok(GrantRecord {
        id: id.to_owned(),
        to: to.agent,
        by: cx.caller.agent().cloned(),
        what,
        issued_at: now,
        expires_at,
        spent: false,
        revoked: false,
        replaced_by: None,
    })
}

/// Checks that the recipient can use a token of the message for this pointer.
fn refuse_unusable_token(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    offer: &OfferedGrant,
    child: &Agent,
) -> Result<(), Refusal> {
    let now = cx.engine.world.now();
    let found = tx.grants().of_token(&token_digest(&offer.token))?;
    let address = offer.resolved.pointer.to_string();
    let is_open = match found
        .map(|grant| expire_overdue(tx, grant, now))
        .transpose()?
    {
        Some(grant) => {
            grant.to == child.handle
                && grant.state(now) == GrantState::Open
                && matches!(&grant.what, GrantKind::Read { pointer, .. } if *pointer == address)
        }
        None => false,
    };
    if is_open {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::DerefDenied,
            "budget_token is not an open grant of the recipient for this pointer",
            "Leave budget_token empty; Engram then issues a grant to each recipient.",
        ))
    }
}

/// A grant of a message.
struct OfferedGrant {
    resolved: ResolvedPointer,
    cap_tokens: u32,
    /// The token given in the message; empty for a new grant.
    token: String,
    /// The id and the token of the new grant, for each recipient.
    fresh: Vec<(String, String)>,
}

impl OfferedGrant {
    /// The first recipient's token for a new grant; the others' tokens are as long.
    fn new_token(&self) -> Option<&str> {
        let fresh = self.fresh.first().filter(|_| self.token.is_empty());
        fresh.map(|it| it.1.as_str())
    }
}

/// Records what a parent's message tells a child, so that a repetition is an echo.
fn served_to_child(child: &Agent, parent: &ParentMessage, pack: &Pack) -> Operation {
    let lines = parent.shared_brief_micro.iter().chain(&parent.instructions);
    let mut prints: Vec<u64> = lines.flat_map(|it| prints_of_shown(it, None)).collect();
    prints.extend(prints_of_shown(
        "",
        pack.pointers.iter().map(ToString::to_string),
    ));
    served_operation(child, prints)
}
