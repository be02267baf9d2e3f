//! Builds a message that passes, out of the valid parts of one that does not, so that the
//! reject-and-resend loop (docs/design.md#messages) takes one round. It invents nothing but the
//! words of an empty form.

use std::collections::BTreeMap;

use engram_model::{BUDGETS, Limits, PointerInput, Refusal};
use serde_json::{Map, Value, json};

use super::{CHILD, PARENT, budgets::narrowed_limits, inspect, valid_engram};
use crate::{code_chars, count_tokens, prose, to_text};

/// The most items kept of one list.
const KEPT: usize = 12;
/// The longest text that is kept, in characters, and the most of it that is examined, in bytes.
const TEXT: usize = 240;
const LOOKED: usize = 4096;

/// Adds a skeleton made of `kept` to the refusal of a message, if one passes. The hint says how
/// much of `sent` the skeleton leaves out.
pub fn with_skeleton(refusal: Refusal, sent: &Value, kept: &Value, limits: &Limits) -> Refusal {
    let Some(made) = skeleton(kept, limits) else {
        return refusal;
    };
    let count = |message: &Value, key: &str| message[key].as_array().map_or(0, Vec::len);
    let left_out: Vec<String> = TAKEN
        .iter()
        .filter_map(|key| {
            let (sent, kept) = (count(sent, key), count(&made, key));
            (kept < sent).then(|| format!("{} of {sent} {key}", sent - kept))
        })
        .collect();
    let hint = match left_out.as_slice() {
        [] => refusal.hint.clone(),
        all => format!(
            "{} The skeleton leaves out {}.",
            refusal.hint,
            all.join(", ")
        ),
    };
    Refusal { hint, ..refusal }.skeleton(made)
}

/// Makes a message that passes; `None` if not even an empty one would.
fn skeleton(sent: &Value, limits: &Limits) -> Option<Value> {
    let is_parent = PARENT.iter().any(|key| sent.get(key).is_some())
        && CHILD.iter().all(|key| sent.get(key).is_none());
    let mut made = if is_parent {
        parent_form(sent, limits)
    } else {
        child_form(sent, limits)
    };
    // Each round removes something, so the loop ends.
    loop {
        // The sender may use the text form, which costs more.
        let written = count_tokens(&to_text(&made));
        if inspect(&made, written, limits).is_ok() {
            return Some(made);
        }
        if !shrink(&mut made) {
            return None;
        }
    }
}

/// What to remove, in order: first what the sender can find again, last the sender's own words.
const TAKEN: [&str; 7] = [
    "target_pointer_pack",
    "pointer_pack",
    "deref_requests",
    "grants",
    "shared_brief_micro",
    "instructions",
    "engrams",
];

fn shrink(made: &mut Value) -> bool {
    for key in TAKEN {
        if made[key].as_array().is_some_and(|it| !it.is_empty()) {
            made[key].as_array_mut().and_then(Vec::pop);
            return true;
        }
    }
    for (key, empty) in [
        ("/output/next", ""),
        ("/output/summary", ""),
        ("/task_status", "open"),
        ("/role", "child"),
    ] {
        let place = made.pointer_mut(key).filter(|it| **it != json!(empty));
        if let Some(place) = place {
            *place = json!(empty);
            return true;
        }
    }
    let budgets = made.get_mut("budgets").and_then(Value::as_object_mut);
    budgets.is_some_and(|budgets| {
        let is_shorter = !budgets.is_empty();
        budgets.clear();
        is_shorter
    })
}

fn child_form(sent: &Value, limits: &Limits) -> Value {
    let output = &sent["output"];
    json!({
        "role": short_word(&sent["role"], "child"),
        "task_status": short_word(&sent["task_status"], "open"),
        "engrams": passing_items(&sent["engrams"], limits.message.engrams.min(KEPT), |it| sound_engram(it, limits)),
        "pointer_pack": passing_items(&sent["pointer_pack"], KEPT, |it| sound_pointer(it, limits)),
        "deref_requests": passing_items(&sent["deref_requests"], KEPT, |request| {
            let pointer = sound_pointer(&request["pointer"], limits)?;
            Some(json!({ "pointer": pointer, "reason": first_sentences(&request["reason"], 2) }))
        }),
        "output": { "summary": first_sentences(&output["summary"], 5), "next": first_sentences(&output["next"], 2) },
    })
}

fn parent_form(sent: &Value, limits: &Limits) -> Value {
    let line = |it: &Value| {
        Some(first_sentences(it, 2))
            .filter(|it| !it.is_empty())
            .map(Value::from)
    };
    let lines = limits.message.brief_lines.min(30);
    json!({
        "role": short_word(&sent["role"], "child"),
        "shared_brief_micro": passing_items(&sent["shared_brief_micro"], lines, line),
        "budgets": budgets(&sent["budgets"], limits),
        "grants": passing_items(&sent["grants"], KEPT, |grant| {
            sound_pointer(&grant["pointer"], limits)?;
            let is_whole = grant["budget_token"].is_string() && grant["cap_tokens"].is_u64();
            is_whole.then(|| grant.clone())
        }),
        "target_pointer_pack": passing_items(&sent["target_pointer_pack"], KEPT, |it| sound_pointer(it, limits)),
        "instructions": passing_items(&sent["instructions"], KEPT, line),
    })
}

/// Returns the items that pass, from the beginning of a list; later ones are not examined.
fn passing_items(list: &Value, most: usize, keep: impl Fn(&Value) -> Option<Value>) -> Value {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .take(4 * KEPT)
        .filter_map(keep)
        .take(most)
        .collect()
}

/// Returns an engram that could be stored unchanged.
fn sound_engram(sent: &Value, limits: &Limits) -> Option<Value> {
    let text = sent["claim"].as_str()?;
    let draft = serde_json::from_value(sent.clone()).ok()?;
    let is_sound = valid_engram(sent, &draft, limits).is_ok() && code_chars(text) == 0;
    is_sound.then(|| sent.clone())
}

fn sound_pointer(sent: &Value, limits: &Limits) -> Option<Value> {
    let input: PointerInput = serde_json::from_value(sent.clone()).ok()?;
    input.check(limits).ok()?;
    Some(sent.clone())
}

/// Returns the known budgets within the limits.
fn budgets(sent: &Value, limits: &Limits) -> Value {
    let given: BTreeMap<String, u64> = BUDGETS
        .iter()
        .filter_map(|it| Some((it.0.to_owned(), sent.get(it.0)?.as_u64()?)))
        .collect();
    let is_narrow = |name: &String, most: &u64| {
        let one = BTreeMap::from([(name.clone(), *most)]);
        // Drops a budget that changes nothing, since it is at the limit or above it.
        (narrowed_limits(limits, &one) != *limits).then(|| (name.clone(), json!(most)))
    };
    let kept: Map<String, Value> = given
        .iter()
        .filter_map(|(name, most)| is_narrow(name, most))
        .collect();
    Value::Object(kept)
}

/// Returns a short word on one line, without code, or else `otherwise`.
fn short_word(sent: &Value, otherwise: &str) -> String {
    let text = sent.as_str().map(str::trim).unwrap_or_default();
    let is_word = (1..=40).contains(&text.chars().count())
        && !text.chars().any(char::is_control)
        && code_chars(text) == 0;
    if is_word { text } else { otherwise }.to_owned()
}

/// Returns the first sentences of a text without code, on one line.
fn first_sentences(sent: &Value, most: usize) -> String {
    let text = sent.as_str().unwrap_or_default();
    let text = &text[..text.floor_char_boundary(LOOKED)];
    if code_chars(text) > 0 {
        // Half of a statement would still be code.
        return String::new();
    }
    let mut kept = String::new();
    for sentence in prose::sentences(text).take(most) {
        if kept.chars().count() + sentence.chars().count() >= TEXT {
            break;
        }
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.push_str(sentence);
    }
    kept
}
