//! Finds inline code anywhere in a message: in each of its texts, and spread over several of them.

use engram_model::{Message, MessageLimits};
use serde_json::Value;

use crate::{
    code::{count_alike, may_be_spread},
    code_chars,
};

/// Counts the characters of code in a message: in every text, under any key, and spread over texts
/// that are read in sequence (a statement in each claim, or in each line of the brief).
pub(super) fn count_code(sent: &Value, message: &Message) -> usize {
    let mut each = 0;
    walk(sent, &mut String::new(), &mut |_, text| {
        each += code_chars(text)
    });
    let spread: usize = groups(message)
        .into_iter()
        .map(|it| count_spread(&it))
        .sum();
    each.max(spread)
}

/// Counts the characters of code spread over texts that are read in sequence.
fn count_spread(texts: &[&str]) -> usize {
    let lines = texts.iter().filter(|it| may_be_spread(it)).count();
    if lines > 1 {
        return code_chars(&texts.join("\n"));
    }
    // Texts with more words are judged individually.
    let are_few = |text: &&&str| text.split_whitespace().nth(8).is_none();
    let few: Vec<&str> = texts.iter().filter(are_few).copied().collect();
    if few.len() > 1 {
        count_alike(&few.join("\n"))
    } else {
        0
    }
}

/// Returns the JSON pointers of texts that contain code; for spread code, those of all its texts.
pub(super) fn code_places<'a>(sent: &'a Value, limits: &MessageLimits) -> Vec<(String, &'a str)> {
    let mut texts = Vec::new();
    walk(sent, &mut String::new(), &mut |at, text| {
        texts.push((at.to_owned(), text))
    });
    let own = |it: &&(String, &str)| code_chars(it.1) > 0;
    let own: Vec<_> = texts.iter().filter(own).cloned().collect();
    if own.iter().map(|it| code_chars(it.1)).sum::<usize>() > limits.inline_code_chars {
        return own;
    }
    texts.retain(|(at, _)| {
        ["/shared_brief_micro", "/instructions", "/output"]
            .iter()
            .any(|it| at.starts_with(it))
            || ["/claim", "/reason", "/intended_use"]
                .iter()
                .any(|it| at.ends_with(it))
            || at.contains("/tags/")
            || at.contains("/hash_keys/")
    });
    texts
}

/// Returns groups of texts that are read in sequence.
fn groups(message: &Message) -> Vec<Vec<&str>> {
    match message {
        Message::Child(child) => {
            let mut groups: Vec<Vec<&str>> = vec![
                child.engrams.iter().map(|it| it.claim.as_str()).collect(),
                child
                    .deref_requests
                    .iter()
                    .map(|it| it.reason.as_str())
                    .collect(),
                child
                    .deref_requests
                    .iter()
                    .map(|it| it.intended_use.as_str())
                    .collect(),
                vec![
                    &child.task_status,
                    &child.output.summary,
                    &child.output.next,
                ],
            ];
            let lists = child
                .engrams
                .iter()
                .flat_map(|it| [&it.tags, &it.hash_keys]);
            groups.extend(lists.map(|it| it.iter().map(String::as_str).collect()));
            groups
        }
        Message::Parent(parent) => [&parent.shared_brief_micro, &parent.instructions]
            .map(|it| it.iter().map(String::as_str).collect())
            .into(),
    }
}

/// Visits each text of a value with its JSON pointer; the caller has limited the depth.
pub(super) fn walk<'a>(value: &'a Value, at: &mut String, each: &mut impl FnMut(&str, &'a str)) {
    let length = at.len();
    match value {
        Value::String(text) => each(at, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push_str(&format!("/{index}"));
                walk(item, at, each);
                at.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                at.push('/');
                at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                walk(value, at, each);
                at.truncate(length);
            }
        }
        _ => {}
    }
}
