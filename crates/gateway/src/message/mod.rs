//! The message contract of the bus (docs/design.md#messages). Checks the size in bytes first, then
//! shape, budgets and content, so that each refusal names the first thing to fix. A refusal also
//! says what was exceeded and by how much, what to cut, and shows a message that passes.

mod budgets;
mod code;
mod overrun;
mod read;
mod skeleton;

use engram_model::{
    ChildMessage, Code, Cut, Draft, Limits, Message, NewEngram, ParentMessage, PointerInput,
    Refusal, find_unseen, shorten,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{count_tokens, tokens::TOKEN_BYTES};

pub use budgets::narrowed_limits;
pub use read::{MessageForm, UncheckedMessage, read_message};
pub use skeleton::with_skeleton;

/// The most bytes of a message under any limits, so that a reader need not read further.
pub const MESSAGE_BYTES: usize = 16 << 20;
/// Deeper than any message of the contract; limits recursion over a value.
const MAX_DEPTH: usize = 32;

const CHILD: [&str; 5] = [
    "task_status",
    "engrams",
    "pointer_pack",
    "deref_requests",
    "output",
];
const PARENT: [&str; 5] = [
    "shared_brief_micro",
    "budgets",
    "grants",
    "target_pointer_pack",
    "instructions",
];
/// The fields that an engram on the bus must state itself (docs/design.md#what-a-draft-must-have),
/// since there are no defaults here.
const ON_THE_BUS: [&str; 4] = ["kind", "confidence", "ttl", "scope"];

/// A message that meets its contract.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidMessage {
    /// The message.
    pub message: Message,
    /// Its engrams, validated.
    pub engrams: Vec<NewEngram>,
    /// Its tokens (`o200k_base`), in compact JSON or in the text as sent, whichever has more.
    pub tokens: usize,
}

/// Checks a message as JSON against its contract and the limits, which a parent may have narrowed
/// and a grant of code may have widened. Its keys show whether it comes from a child or a parent. A
/// refusal carries figures, what to cut and a skeleton.
pub fn check_message(message: &Value, limits: &Limits) -> Result<ValidMessage, Refusal> {
    check(message, 0, limits)
}

/// Checks a parent's message in the form that its recipients get. That form is longer than what was
/// sent: pointers have full pins, and the tokens of new grants are added, `secrets` characters in
/// total. A refusal carries figures, what to cut and a skeleton.
pub fn check_delivery(message: &Value, secrets: usize, limits: &Limits) -> Result<(), Refusal> {
    // A character is at most one token.
    let tokens = count_tokens(&message.to_string()).saturating_add(secrets);
    let found = overrun::too_long(message, tokens, limits);
    overrun::refuse(found.into_iter().collect()).map_err(|refusal| {
        let mut narrow = limits.clone();
        narrow.message.inline_tokens = limits.message.inline_tokens.saturating_sub(secrets);
        let refusal = Refusal {
            message: format!("as its recipients get it, {}", refusal.message),
            hint: "Send fewer pointers, or fewer words: pointers are delivered with full pins."
                .to_owned(),
            ..refusal
        };
        with_skeleton(refusal, message, message, &narrow)
    })
}

/// Checks a message whose text as written has `written` tokens.
fn check(message: &Value, written: usize, limits: &Limits) -> Result<ValidMessage, Refusal> {
    inspect(message, written, limits)
        .map_err(|refusal| with_skeleton(refusal, message, message, limits))
}

fn inspect(sent: &Value, written: usize, limits: &Limits) -> Result<ValidMessage, Refusal> {
    let text = compact(sent, limits)?;
    let message = parse(sent)?;
    if let Message::Parent(parent) = &message {
        budgets::refuse_unknown(&parent.budgets)?;
    }
    let tokens = count_tokens(&text).max(written);
    overrun::refuse(overrun::overruns(sent, &message, tokens, limits))?;
    let engrams = valid_engrams(sent, &message, limits)?;
    refuse_unseen(sent)?;
    Ok(ValidMessage {
        message,
        engrams,
        tokens,
    })
}

/// Refuses invisible characters in any text, except the path of a file, which may contain them.
fn refuse_unseen(message: &Value) -> Result<(), Refusal> {
    let mut found = None;
    code::walk(message, &mut String::new(), &mut |at, text| {
        found = found
            .take()
            .or_else(|| find_unseen(text).map(|c| (at.to_owned(), c)));
    });
    match found {
        Some((at, unseen)) => Err(Refusal::unseen(&format!("`{at}`"), unseen)),
        None => Ok(()),
    }
}

/// Returns the message as compact JSON; refuses one with more bytes than [`most_bytes`].
fn compact(message: &Value, limits: &Limits) -> Result<String, Refusal> {
    if depth_exceeds(message, MAX_DEPTH) {
        return Err(schema_refusal(
            format!("the message nests deeper than {MAX_DEPTH} levels"),
            "Send one flat message, as the contract describes.",
        ));
    }
    let max = most_bytes(limits);
    let mut text = CappedWriter {
        bytes: Vec::new(),
        seen: 0,
        max,
    };
    match serde_json::to_writer(&mut text, message) {
        Ok(()) => Ok(String::from_utf8_lossy(&text.bytes).into_owned()),
        Err(_) => Err(too_big(text.seen, limits)),
    }
}

/// A writer that accepts a limited number of bytes.
struct CappedWriter {
    bytes: Vec<u8>,
    /// The number of bytes received, including those not accepted.
    seen: usize,
    max: usize,
}

impl std::io::Write for CappedWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.seen = self.bytes.len() + bytes.len();
        if self.seen > self.max {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether a value is nested deeper than `max`. Does not recurse, since the nesting may be as deep
/// as memory allows.
fn depth_exceeds(value: &Value, max: usize) -> bool {
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        if depth > max {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|it| (it, depth + 1))),
            Value::Object(fields) => open.extend(fields.values().map(|it| (it, depth + 1))),
            _ => {}
        }
    }
    false
}

fn parse(message: &Value) -> Result<Message, Refusal> {
    let Some(fields) = message.as_object() else {
        return Err(schema_refusal(
            "the message is not a JSON object",
            "Send one object with the keys of a child's or parent's message.",
        ));
    };
    let find = |keys: &[&'static str]| keys.iter().copied().find(|key| fields.contains_key(*key));
    match (find(&CHILD), find(&PARENT)) {
        (Some(_), None) => parse_as::<ChildMessage>(message).map(Message::Child),
        (None, Some(_)) => parse_as::<ParentMessage>(message).map(Message::Parent),
        (Some(child), Some(parent)) => Err(schema_refusal(
            format!("the message mixes a child's key `{child}` with a parent's key `{parent}`"),
            "Send two messages: a child reports engrams; a parent sends a brief, budgets and grants.",
        )),
        (None, None) => Err(schema_refusal(
            "no key of the message shows whether a child or a parent sends it",
            format!(
                "A child sends role, {}; a parent sends role, {}.",
                CHILD.join(", "),
                PARENT.join(", ")
            ),
        )),
    }
}

/// Reads the value as a `T`; a refusal names the key at fault.
fn parse_as<T: DeserializeOwned>(value: &Value) -> Result<T, Refusal> {
    // Tracking the path costs more than all the rest, and is needed only after a failure.
    if let Ok(fits) = T::deserialize(value) {
        return Ok(fits);
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let why = shorten(&error.into_inner().to_string(), 200);
        let message = match path.as_str() {
            "." => format!("the message does not match the contract: {why}"),
            _ => format!("`{}` does not match the contract: {why}", shorten(&path, 100)),
        };
        schema_refusal(
            message,
            "Send only the contract's keys; schemas/message.child.json and schemas/message.parent.json define them.",
        )
    })
}

/// Checks every engram and pointer as strictly as before storing it; returns the valid engrams.
fn valid_engrams(
    sent: &Value,
    message: &Message,
    limits: &Limits,
) -> Result<Vec<NewEngram>, Refusal> {
    let mut engrams = Vec::new();
    match message {
        Message::Child(child) => {
            for (at, draft) in child.engrams.iter().enumerate() {
                let new = valid_engram(&sent["engrams"][at], draft, limits)
                    .map_err(|it| long_claim(it, at, draft))
                    .map_err(|it| it.at(format_args!("engrams[{at}]")))?;
                engrams.push(new);
            }
            check_pointers("pointer_pack", &child.pointer_pack, limits)?;
            let wanted = child.deref_requests.iter().map(|it| &it.pointer);
            check_pointers("deref_requests", wanted, limits)?;
        }
        Message::Parent(parent) => {
            let granted = parent.grants.iter().map(|it| &it.pointer);
            check_pointers("grants", granted, limits)?;
            check_pointers("target_pointer_pack", &parent.target_pointer_pack, limits)?;
        }
    }
    Ok(engrams)
}

fn valid_engram(sent: &Value, draft: &Draft, limits: &Limits) -> Result<NewEngram, Refusal> {
    let new = draft.clone().validate(limits)?;
    match ON_THE_BUS.iter().find(|key| sent[**key].is_null()) {
        None => Ok(new),
        Some(key) => Err(schema_refusal(
            format!("`{key}` is missing"),
            "An engram in a message needs kind, claim, pointers, confidence, ttl and scope; Engram adds id, provenance and hash_keys.",
        )),
    }
}

/// Adds a claim that is too long to the refusal's list of cuts.
fn long_claim(refusal: Refusal, at: usize, draft: &Draft) -> Refusal {
    match refusal.code {
        Code::ClaimTooLong => refusal.cut([Cut {
            at: format!("/engrams/{at}/claim"),
            tokens: overrun::cost(&draft.claim),
        }]),
        _ => refusal,
    }
}

fn check_pointers<'a>(
    key: &str,
    inputs: impl IntoIterator<Item = &'a PointerInput>,
    limits: &Limits,
) -> Result<(), Refusal> {
    for (at, input) in inputs.into_iter().enumerate() {
        input
            .clone()
            .check(limits)
            .map_err(|refusal| refusal.at(format_args!("{key}[{at}]")))?;
    }
    Ok(())
}

fn schema_refusal(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::new(Code::SchemaInvalid, message, hint)
}

fn budget_refusal(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::new(Code::BudgetExceeded, message, hint)
}

/// Returns the most bytes that a message within the allowed tokens can have.
fn most_bytes(limits: &Limits) -> usize {
    let tokens = limits.message.inline_tokens;
    tokens.saturating_mul(TOKEN_BYTES).min(MESSAGE_BYTES)
}

/// Returns the refusal for a message with too many bytes. Its tokens are not counted: a quarter of
/// the bytes is reported instead.
fn too_big(bytes: usize, limits: &Limits) -> Refusal {
    let allowed = limits.message.inline_tokens;
    budget_refusal(
        format!("the message has more than {} bytes", most_bytes(limits)),
        resend(allowed),
    )
    .figure(overrun::TOKENS, wide(bytes / 4), wide(allowed))
}

/// Returns the hint for every message that is too long.
fn resend(allowed: usize) -> String {
    format!(
        "Resend it within {allowed} tokens, as engrams with pointers: state each finding in one sentence, and point at text instead of pasting it."
    )
}

fn wide(figure: usize) -> u64 {
    u64::try_from(figure).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
