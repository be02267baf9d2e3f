//! Reads and checks messages between parent and child agents.

use crate::{agents::grants::aged, context::Context};
use engram_gateway::{Checked, INLINE_CODE_CHARS, check_message, code_allowance, read_message};
use engram_model::{Granted, IssuedGrant, Limits, Refusal};
use engram_store::Reader;
use serde_json::Value;

/// A valid message.
pub(crate) struct CheckedMessage {
    /// Its fields as sent.
    pub(crate) value: Value,
    pub(crate) checked: Checked,
    /// The grant for its inline code, spent when the message is sent.
    pub(crate) grant: Option<String>,
}

/// Parses and checks a message; a string is a message as written, in either form. Inline code
/// beyond the limits needs a grant of the calling agent.
pub(crate) fn parsed(cx: &Context<'_>, message: &Value) -> Result<CheckedMessage, Refusal> {
    let limits = cx.limits()?;
    let refusal = match parse(message, limits) {
        Ok((value, checked)) => {
            return Ok(CheckedMessage {
                value,
                checked,
                grant: None,
            });
        }
        Err(refusal) => refusal,
    };
    if !refusal.exceeds(INLINE_CODE_CHARS) {
        return Err(refusal);
    }
    let store = &cx.engine.store;
    for grant in store.read(|tx| code_grants(cx, tx))? {
        let mut wider = limits.clone();
        let Granted::Code { chars } = grant.what else {
            continue;
        };
        wider.message.inline_code_chars = chars as usize;
        if let Ok((value, checked)) = parse(message, &wider) {
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
pub(crate) fn code_grants(cx: &Context<'_>, tx: &Reader<'_>) -> Result<Vec<IssuedGrant>, Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(Vec::new());
    };
    let now = cx.engine.world.now();
    let mut open = Vec::new();
    for grant in tx.grants().unspent(&agent.handle)? {
        let grant = aged(tx, grant, now)?;
        if let Ok(chars) = code_allowance(&agent.handle, Some(&grant), now) {
            open.push((chars, grant));
        }
    }
    open.sort_by(|one, other| (one.0, &one.1.id).cmp(&(other.0, &other.1.id)));
    Ok(open.into_iter().map(|it| it.1).collect())
}

fn parse(message: &Value, limits: &Limits) -> Result<(Value, Checked), Refusal> {
    match message {
        Value::String(text) => {
            let sent = read_message(text.as_bytes(), limits)?;
            let checked = sent.check(limits)?;
            Ok((sent.value, checked))
        }
        message => Ok((message.clone(), check_message(message, limits)?)),
    }
}
