//! The message contract of the bus (docs/design.md#messages): shape, budgets,
//! content, in that order, so that each refusal names the first thing to fix. Size in bytes comes first of all.
//! A refusal also says what was exceeded and by how much, what to cut, and shows a message that passes.

mod budgets;
mod code;
mod overrun;
mod read;
mod skeleton;

use engram_model::{
    ChildMessage, Code, Cut, Draft, Limits, Message, NewEngram, ParentMessage, PointerInput,
    Refusal, shorten, unseen,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{count_tokens, tokens::TOKEN_BYTES};

pub use budgets::narrowed;
pub use read::{Form, UncheckedMessage, read_message};
pub use skeleton::with_skeleton;

/// Most bytes of a message, whatever the limits are set to: whoever reads one need not read further.
pub const MESSAGE_BYTES: usize = 16 << 20;
/// Deeper than any message of the contract; bounds recursion over a value.
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
/// What an engram on the bus must state itself (docs/design.md#what-a-draft-must-have); there are no defaults here.
const ON_THE_BUS: [&str; 4] = ["kind", "confidence", "ttl", "scope"];

/// A message that keeps its contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The message.
    pub message: Message,
    /// Its engrams, validated.
    pub engrams: Vec<NewEngram>,
    /// Tokens (`o200k_base`): of the compact JSON, or of the text as sent if those are more.
    pub tokens: usize,
}

/// The tokens (`o200k_base`, compact JSON) of a message that keeps its contract.
///
/// Whether it comes from a child or a parent follows from its keys.
pub fn validate_message(message: &Value, limits: &Limits) -> Result<usize, Refusal> {
    check_message(message, limits).map(|it| it.tokens)
}

/// Checks a message as JSON against its contract and the limits, which a parent may have narrowed and a
/// grant of code widened. A refusal carries figures, what to cut and a skeleton.
pub fn check_message(message: &Value, limits: &Limits) -> Result<Checked, Refusal> {
    check(message, 0, limits)
}

/// Checks a parent's message as its recipients get it, which is longer than it was sent: pointers have full pins,
/// and the tokens of new grants have this many characters together. A refusal carries the same as others.
pub fn check_delivery(message: &Value, secrets: usize, limits: &Limits) -> Result<(), Refusal> {
    // No character is more than a token.
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

/// The same for a message that costs this many tokens as written.
fn check(message: &Value, written: usize, limits: &Limits) -> Result<Checked, Refusal> {
    inspect(message, written, limits)
        .map_err(|refusal| with_skeleton(refusal, message, message, limits))
}

fn inspect(sent: &Value, written: usize, limits: &Limits) -> Result<Checked, Refusal> {
    let text = compact(sent, limits)?;
    let message = parse(sent)?;
    if let Message::Parent(parent) = &message {
        budgets::refuse_unknown(&parent.budgets)?;
    }
    let tokens = count_tokens(&text).max(written);
    overrun::refuse(overrun::overruns(sent, &message, tokens, limits))?;
    let engrams = content(sent, &message, limits)?;
    refuse_unseen(sent)?;
    Ok(Checked {
        message,
        engrams,
        tokens,
    })
}

/// Refuses invisible characters, in any text but the address of a file, which may have such a name.
fn refuse_unseen(message: &Value) -> Result<(), Refusal> {
    let mut found = None;
    code::walk(message, &mut String::new(), &mut |at, text| {
        found = found
            .take()
            .or_else(|| unseen(text).map(|c| (at.to_owned(), c)));
    });
    match found {
        Some((at, unseen)) => Err(Refusal::unseen(&format!("`{at}`"), unseen)),
        None => Ok(()),
    }
}

/// The message as compact JSON, unless it has more bytes than its tokens could ever have.
fn compact(message: &Value, limits: &Limits) -> Result<String, Refusal> {
    if depth_exceeds(message, MAX_DEPTH) {
        return Err(schema(
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

/// A writer that accepts so many bytes and no more.
struct CappedWriter {
    bytes: Vec<u8>,
    /// Bytes received, including those not accepted.
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

/// Without recursion: the value may be nested as deep as memory allows.
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
        return Err(schema(
            "the message is not a JSON object",
            "Send one object with the keys of a child's or parent's message.",
        ));
    };
    let find = |keys: &[&'static str]| keys.iter().copied().find(|key| fields.contains_key(*key));
    match (find(&CHILD), find(&PARENT)) {
        (Some(_), None) => shape::<ChildMessage>(message).map(Message::Child),
        (None, Some(_)) => shape::<ParentMessage>(message).map(Message::Parent),
        (Some(child), Some(parent)) => Err(schema(
            format!("the message mixes a child's key `{child}` with a parent's key `{parent}`"),
            "Send two messages: a child reports engrams; a parent sends a brief, budgets and grants.",
        )),
        (None, None) => Err(schema(
            "no key of the message shows whether a child or a parent sends it",
            format!(
                "A child sends role, {}; a parent sends role, {}.",
                CHILD.join(", "),
                PARENT.join(", ")
            ),
        )),
    }
}

/// The value as a `T`, or a refusal that names the key.
fn shape<T: DeserializeOwned>(value: &Value) -> Result<T, Refusal> {
    // Tracking the path costs more than everything else, and is needed only after a failure.
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
        schema(
            message,
            "Send only the contract's keys; schemas/message.child.json and schemas/message.parent.json define them.",
        )
    })
}

/// Checks every engram and pointer as strictly as if they were to be stored; the engrams, validated.
fn content(sent: &Value, message: &Message, limits: &Limits) -> Result<Vec<NewEngram>, Refusal> {
    let mut engrams = Vec::new();
    match message {
        Message::Child(child) => {
            for (at, draft) in child.engrams.iter().enumerate() {
                let place = format!("engrams[{at}]");
                let new = engram(&sent["engrams"][at], draft, limits)
                    .map_err(|it| long_claim(it, at, draft))
                    .map_err(|it| at_place(it, &place))?;
                engrams.push(new);
            }
            pointers("pointer_pack", &child.pointer_pack, limits)?;
            let wanted = child.deref_requests.iter().map(|it| &it.pointer);
            pointers("deref_requests", wanted, limits)?;
        }
        Message::Parent(parent) => {
            let granted = parent.grants.iter().map(|it| &it.pointer);
            pointers("grants", granted, limits)?;
            pointers("target_pointer_pack", &parent.target_pointer_pack, limits)?;
        }
    }
    Ok(engrams)
}

fn engram(sent: &Value, draft: &Draft, limits: &Limits) -> Result<NewEngram, Refusal> {
    let new = draft.clone().validate(limits)?;
    match ON_THE_BUS.iter().find(|key| sent[**key].is_null()) {
        None => Ok(new),
        Some(key) => Err(schema(
            format!("`{key}` is missing"),
            "An engram in a message needs kind, claim, pointers, confidence, ttl and scope; Engram adds id, provenance and hash_keys.",
        )),
    }
}

/// Adds a too long claim as what to cut.
fn long_claim(refusal: Refusal, at: usize, draft: &Draft) -> Refusal {
    match refusal.code {
        Code::ClaimTooLong => refusal.cut([Cut {
            at: format!("/engrams/{at}/claim"),
            tokens: overrun::cost(&draft.claim),
        }]),
        _ => refusal,
    }
}

fn pointers<'a>(
    key: &str,
    inputs: impl IntoIterator<Item = &'a PointerInput>,
    limits: &Limits,
) -> Result<(), Refusal> {
    for (at, input) in inputs.into_iter().enumerate() {
        input
            .clone()
            .check(limits)
            .map_err(|refusal| at_place(refusal, &format!("{key}[{at}]")))?;
    }
    Ok(())
}

fn at_place(refusal: Refusal, place: &str) -> Refusal {
    let message = format!("`{place}`: {}", refusal.message);
    Refusal { message, ..refusal }
}

fn schema(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::new(Code::SchemaInvalid, message, hint)
}

fn over(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::new(Code::BudgetExceeded, message, hint)
}

/// More bytes than the tokens of a message could ever have.
fn most_bytes(limits: &Limits) -> usize {
    let tokens = limits.message.inline_tokens;
    tokens.saturating_mul(TOKEN_BYTES).min(MESSAGE_BYTES)
}

/// Refused by its bytes alone, without counting tokens; a quarter of the bytes stands in for them.
fn too_big(bytes: usize, limits: &Limits) -> Refusal {
    let allowed = limits.message.inline_tokens;
    over(
        format!("the message has more than {} bytes", most_bytes(limits)),
        resend(allowed),
    )
    .figure(overrun::TOKENS, wide(bytes / 4), wide(allowed))
}

/// The hint for every message that is too long.
fn resend(allowed: usize) -> String {
    format!(
        "Resend it within {allowed} tokens, as engrams with pointers: state each finding in one sentence, and point at text instead of pasting it."
    )
}

fn wide(figure: usize) -> u64 {
    u64::try_from(figure).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod criteria_tests;
#[cfg(test)]
mod refusal_tests;
#[cfg(test)]
mod tests;
