//! Prints a message in the text form (docs/design.md#messages); parsing it gives the same message
//! back.

use std::fmt::Write;

use serde_json::Value;

/// Keys in the order of the contract; all others come after these, in their own order.
#[rustfmt::skip]
const ORDER: &[&str] = &[
    "role", "task_status", "shared_brief_micro", "budgets", "engrams", "kind", "claim", "confidence", "ttl",
    "scope", "pointers", "pointer_pack", "deref_requests", "budget_token", "type", "ref", "span", "pointer",
    "cap_tokens", "reason", "output", "summary", "grants", "target_pointer_pack",
];

/// Returns the text form of a message; the caller limits its depth.
pub fn to_text(message: &Value) -> String {
    let mut text = String::new();
    for (key, value) in ordered(message) {
        let _ = write!(text, "{}:", key.to_ascii_uppercase());
        print_value(&mut text, value, 2);
    }
    text
}

fn ordered(value: &Value) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = value.as_object().into_iter().flatten().collect();
    let place = |key: &str| ORDER.iter().position(|it| *it == key);
    fields.sort_by_key(|(key, _)| place(key).unwrap_or(ORDER.len()));
    fields
}

/// Prints the value of a key: beside the colon, or deeper on lines of its own.
fn print_value(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            for item in items {
                let _ = write!(text, "{:indent$}- ", "");
                print_item(text, item, indent + 2);
            }
        }
        Value::Object(fields) if !fields.is_empty() && !is_pointer(value) => {
            text.push('\n');
            for (key, value) in ordered(value) {
                let _ = write!(text, "{:indent$}{key}:", "");
                print_value(text, value, indent + 2);
            }
        }
        other => {
            let _ = writeln!(text, " {}", json_of(other));
        }
    }
}

/// Prints an item of a list, with its first field beside the dash.
fn print_item(text: &mut String, item: &Value, indent: usize) {
    if !item.is_object() || is_pointer(item) || item.as_object().is_some_and(|it| it.is_empty()) {
        let _ = writeln!(text, "{}", json_of(item));
        return;
    }
    for (at, (key, value)) in ordered(item).into_iter().enumerate() {
        let column = if at == 0 { 0 } else { indent };
        let _ = write!(text, "{:column$}{key}:", "");
        print_value(text, value, indent + 2);
    }
}

fn is_pointer(value: &Value) -> bool {
    value.get("ref").is_some() && value.get("type").is_some()
}

/// Prints a value as JSON, which is YAML except for some control characters; a pointer is written
/// as an object.
fn json_of(value: &Value) -> String {
    if is_pointer(value) {
        let fields = ordered(value).into_iter();
        let fields: Vec<String> = fields
            .map(|(key, it)| format!("{key}: {}", json_of(it)))
            .collect();
        return format!("{{ {} }}", fields.join(", "));
    }
    let mut text = String::new();
    for c in value.to_string().chars() {
        if c.is_control() {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c)
        }
    }
    text
}
