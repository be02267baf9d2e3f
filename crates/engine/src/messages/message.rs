//! Messages between parent and child agents: how they are read, checked and stored.

use crate::{agents::grants::expire_overdue, context::Context};
use engram_gateway::{
    INLINE_CODE_CHARS, ValidMessage, check_message, code_allowance, read_message,
};
use engram_model::{
    Code, EngramId, GrantKind, GrantRecord, Limits, Operation, Refusal,
    operation::{Agent, Sent, Served},
};
use engram_store::Reader;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A valid message.
pub(crate) struct CheckedMessage {
    /// Its fields as sent.
    pub(crate) value: Value,
    pub(crate) checked: ValidMessage,
    /// The grant for its inline code, spent when the message is sent.
    pub(crate) grant: Option<String>,
}

/// Parses and checks a message; a string is a message as written, in either form. Inline code
/// beyond the limits needs a grant of the calling agent.
pub(crate) fn checked_message(
    cx: &Context<'_>,
    message: &Value,
) -> Result<CheckedMessage, Refusal> {
    let limits = cx.limits()?;
    let refusal = match parse_message(message, limits) {
        Ok((value, checked)) => {
            return Ok(CheckedMessage {
                value,
                checked,
                grant: None,
            });
        }
        Err(refusal) => refusal,
    };
    if !refusal.has_figure(INLINE_CODE_CHARS) {
        return Err(refusal);
    }
    let store = &cx.engine.store;
    for grant in store.read(|tx| code_grants(cx, tx))? {
        let mut wider = limits.clone();
        let GrantKind::Code { chars } = grant.what else {
            continue;
        };
        wider.message.inline_code_chars = chars as usize;
        if let Ok((value, checked)) = parse_message(message, &wider) {
            return Ok(CheckedMessage {
                value,
                checked,
                grant: Some(grant.id),
            });
        }
    }
    Err(refusal)
}

/// The calling agent's open grants for inline code, the smallest first.
pub(crate) fn code_grants(cx: &Context<'_>, tx: &Reader<'_>) -> Result<Vec<GrantRecord>, Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(Vec::new());
    };
    let now = cx.engine.world.now();
    let mut open = Vec::new();
    for grant in tx.grants().unspent(&agent.handle)? {
        let grant = expire_overdue(tx, grant, now)?;
        if let Ok(chars) = code_allowance(&agent.handle, Some(&grant), now) {
            open.push((chars, grant));
        }
    }
    open.sort_by(|one, other| (one.0, &one.1.id).cmp(&(other.0, &other.1.id)));
    Ok(open.into_iter().map(|it| it.1).collect())
}

fn parse_message(message: &Value, limits: &Limits) -> Result<(Value, ValidMessage), Refusal> {
    match message {
        Value::String(text) => {
            let sent = read_message(text.as_bytes(), limits)?;
            let checked = sent.check(limits)?;
            Ok((sent.value, checked))
        }
        message => Ok((message.clone(), check_message(message, limits)?)),
    }
}

/// Checks that the grant that the message's inline code needs is still open: one message spends it.
pub(crate) fn refuse_spent_grant(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    parsed: &CheckedMessage,
) -> Result<(), Refusal> {
    let Some(id) = &parsed.grant else {
        return Ok(());
    };
    if code_grants(cx, tx)?.iter().any(|it| it.id == *id) {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::DerefDenied,
            "another message has just spent the grant for inline code",
            "Point at the code, or ask your parent for another grant.",
        ))
    }
}

/// The turn that a message counts against.
pub(crate) fn turn_of_message(
    cx: &Context<'_>,
    tx: &Reader<'_>,
) -> Result<Option<String>, Refusal> {
    cx.calling_agent()?
        .map(|called| called.current_turn(tx))
        .transpose()
}

pub(crate) fn served_operation(to: &Agent, prints: Vec<u64>) -> Operation {
    Operation::Served(Served::of_unasked(to, prints))
}

/// The stored form of a message. Claims are replaced by their ids, so that their words can be
/// erased, and grant tokens are removed.
pub(crate) fn sent_form(value: &Value, stored: &[EngramId]) -> Sent {
    let mut kept = value.clone();
    if !stored.is_empty() {
        kept["engrams"] = stored.iter().map(|id| json!({ "id": id })).collect();
    }
    for grant in kept["grants"].as_array_mut().into_iter().flatten() {
        grant["budget_token"] = json!("");
    }
    let text = kept.to_string();
    Sent {
        digest: hex::encode(Sha256::digest(&text)),
        text,
        ..Sent::default()
    }
}
