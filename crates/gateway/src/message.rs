//! The message contract of the bus (seed 000, sections 3.1 and 7): shape, envelope, content, in
//! that order, so that each refusal names the first thing to mend. Bytes come before all.

use engram_model::{
    ChildMessage, Code, Draft, Limits, Message, ParentMessage, PointerInput, Refusal, shorten,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{code_chars, count_tokens, tokens::TOKEN_BYTES};

/// Deeper than any message of the contract; a bound for what recurses over a value.
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
/// What an engram on the bus must say itself (seed 001, 5.2); Engram assumes nothing here.
const ON_THE_BUS: [&str; 4] = ["kind", "confidence", "ttl", "scope"];

/// The tokens (`o200k_base`, compact JSON) of a message that keeps its contract.
///
/// Whether it comes from a child or a parent follows from its keys.
pub fn validate_message(message: &Value, limits: &Limits) -> Result<usize, Refusal> {
    let text = compact(message, limits)?;
    let parsed = parse(message)?;
    envelope(&text, &parsed, limits).and_then(|tokens| {
        no_code(&parsed, limits)?;
        content(message, parsed, limits)?;
        Ok(tokens)
    })
}

/// The message as compact JSON, unless it has more bytes than its tokens could ever hold.
fn compact(message: &Value, limits: &Limits) -> Result<String, Refusal> {
    if depth_exceeds(message, MAX_DEPTH) {
        return Err(schema(
            format!("the message nests deeper than {MAX_DEPTH} levels"),
            "Send one flat message as the contract describes it.",
        ));
    }
    let max = limits.message.inline_tokens.saturating_mul(TOKEN_BYTES);
    let mut text = Capped {
        bytes: Vec::new(),
        max,
    };
    match serde_json::to_writer(&mut text, message) {
        Ok(()) => Ok(String::from_utf8_lossy(&text.bytes).into_owned()),
        Err(_) => Err(too_big(
            format!("the message has more than {max} bytes"),
            limits,
        )),
    }
}

/// Takes so many bytes and no more.
struct Capped {
    bytes: Vec<u8>,
    max: usize,
}

impl std::io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.max {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Without recursion: the value may be as deep as memory.
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
            "Send one object with the keys of a child's or a parent's message.",
        ));
    };
    let find = |keys: &[&'static str]| keys.iter().copied().find(|key| fields.contains_key(*key));
    match (find(&CHILD), find(&PARENT)) {
        (Some(_), None) => shape::<ChildMessage>(message).map(Message::Child),
        (None, Some(_)) => shape::<ParentMessage>(message).map(Message::Parent),
        (Some(child), Some(parent)) => Err(schema(
            format!("the message has `{child}` of a child and `{parent}` of a parent"),
            "Send two messages: a child reports engrams, a parent sends brief, budgets and grants.",
        )),
        (None, None) => Err(schema(
            "the message has no key that tells whether a child or a parent sends it",
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
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let why = shorten(&error.into_inner().to_string(), 200);
        let message = match path.as_str() {
            "." => format!("the message does not fit: {why}"),
            _ => format!("`{}` does not fit: {why}", shorten(&path, 100)),
        };
        schema(
            message,
            "Send exactly the keys of the contract; schemas/message.child.json and schemas/message.parent.json define them.",
        )
    })
}

/// The hard envelope: tokens, engrams, lines of the brief.
fn envelope(text: &str, message: &Message, limits: &Limits) -> Result<usize, Refusal> {
    let (tokens, allowed) = (count_tokens(text), limits.message.inline_tokens);
    if tokens > allowed {
        return Err(too_big(
            format!("the message has {tokens} tokens, {allowed} are allowed"),
            limits,
        ));
    }
    match message {
        Message::Child(child) if child.engrams.len() > limits.message.engrams => Err(over(
            format!(
                "the message has {} engrams, {} are allowed",
                child.engrams.len(),
                limits.message.engrams
            ),
            "Send the most telling engrams; commit the others and let your parent query them.",
        )),
        Message::Parent(parent) => {
            let lines: usize = parent.shared_brief_micro.iter().map(|it| lines(it)).sum();
            match lines <= limits.message.brief_lines {
                true => Ok(tokens),
                false => Err(over(
                    format!(
                        "the shared brief has {lines} lines, {} are allowed",
                        limits.message.brief_lines
                    ),
                    "Keep what matters now; commit the rest as engrams and point at them.",
                )),
            }
        }
        Message::Child(_) => Ok(tokens),
    }
}

/// Lines of one entry of the brief; an empty entry is one too.
fn lines(entry: &str) -> usize {
    entry.lines().count().max(1)
}

fn no_code(message: &Message, limits: &Limits) -> Result<(), Refusal> {
    let chars = match message {
        Message::Child(child) => {
            let claims = child.engrams.iter().map(|it| it.claim.as_str());
            let reasons = child.deref_requests.iter().map(|it| it.reason.as_str());
            let output = [child.output.summary.as_str(), child.output.next.as_str()];
            let own = [child.role.as_str(), child.task_status.as_str()];
            let texts = own.into_iter().chain(claims).chain(reasons).chain(output);
            texts.map(code_chars).sum()
        }
        Message::Parent(parent) => {
            code_chars(&parent.role)
                + code_of_list(&parent.shared_brief_micro)
                + code_of_list(&parent.instructions)
        }
    };
    let allowed = limits.message.inline_code_chars;
    match chars <= allowed {
        true => Ok(()),
        false => Err(over(
            format!("the message has {chars} characters of inline code, {allowed} are allowed"),
            "Point at the code, as in repo:src/main.rs#L10-L20@HEAD, and request a dereference, or ask your parent for a grant.",
        )),
    }
}

/// Code in one entry, or code spread over the entries line by line.
fn code_of_list(entries: &[String]) -> usize {
    let each = entries.iter().map(|entry| code_chars(entry)).sum();
    code_chars(&entries.join("\n")).max(each)
}

/// Every engram and every pointer, as strictly as if it were to be stored.
fn content(sent: &Value, message: Message, limits: &Limits) -> Result<(), Refusal> {
    match message {
        Message::Child(child) => {
            for (at, draft) in child.engrams.into_iter().enumerate() {
                let place = format!("engrams[{at}]");
                engram(&sent["engrams"][at], draft, limits).map_err(|it| at_place(it, &place))?;
            }
            pointers("pointer_pack", child.pointer_pack, limits)?;
            let wanted = child.deref_requests.into_iter().map(|it| it.pointer);
            pointers("deref_requests", wanted, limits)
        }
        Message::Parent(parent) => {
            pointers(
                "grants",
                parent.grants.into_iter().map(|it| it.pointer),
                limits,
            )?;
            pointers("target_pointer_pack", parent.target_pointer_pack, limits)
        }
    }
}

fn engram(sent: &Value, draft: Draft, limits: &Limits) -> Result<(), Refusal> {
    draft.validate(limits)?;
    match ON_THE_BUS.iter().find(|key| sent[**key].is_null()) {
        None => Ok(()),
        Some(key) => Err(schema(
            format!("`{key}` is missing"),
            "On the bus an engram names kind, claim, pointers, confidence, ttl and scope; Engram mints id, provenance and hash_keys.",
        )),
    }
}

fn pointers(
    key: &str,
    inputs: impl IntoIterator<Item = PointerInput>,
    limits: &Limits,
) -> Result<(), Refusal> {
    for (at, input) in inputs.into_iter().enumerate() {
        input
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

fn too_big(message: String, limits: &Limits) -> Refusal {
    over(
        message,
        format!(
            "Resend it within {} tokens as engrams with pointers: say what holds in a sentence each, and point at the text instead of pasting it.",
            limits.message.inline_tokens
        ),
    )
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
