//! The text form of a message (docs/design.md#messages): headings at column 0, YAML below them.
//!
//! It is parsed here rather than by a YAML crate: messages use a small subset, and must not contain
//! the rest of YAML (aliases that expand, tags, comments that hide text, merged keys, several
//! documents). Supported are block mappings and lists, flow mappings and lists, scalars that are
//! plain, quoted with `"` or `'`, or blocks after `|` or `>`. Everything else is refused by name,
//! so that no text has two meanings. A value is never larger than its text, so there are no
//! expansion bombs.

mod block;
mod flow;
mod print;
#[cfg(test)]
mod tests;

use engram_model::{Code, Refusal};
use serde_json::{Map, Value};

pub use print::to_text;

/// The most levels of nested lists and mappings; a message of the contract has five.
const MAX_DEPTH: usize = 16;

/// Headings of a list or a mapping, which is empty if nothing is below the heading.
const LISTS: [&str; 7] = [
    "engrams",
    "pointer_pack",
    "deref_requests",
    "shared_brief_micro",
    "grants",
    "target_pointer_pack",
    "instructions",
];

/// Parses a message to a JSON value, with its headings in lower case, without checking the
/// contract. The caller limits the text's length.
pub(crate) fn from_text(text: &str) -> Result<Value, Refusal> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fields = block::document(text).map_err(Flaw::refusal)?;
    let mut message = Map::new();
    for (heading, value) in fields {
        let key = heading.to_ascii_lowercase();
        let value = match value {
            Value::Null if LISTS.contains(&key.as_str()) => Value::Array(Vec::new()),
            Value::Null if key == "budgets" => Value::Object(Map::new()),
            other => other,
        };
        if message.insert(key, value).is_some() {
            return Err(Flaw::new(0, format!("{heading} appears twice")).refusal());
        }
    }
    Ok(Value::Object(message))
}

/// What makes a text invalid, and where.
#[derive(Debug)]
struct Flaw {
    /// The line, counted from 1; 0 for the whole text.
    line: usize,
    what: String,
    /// Whether more text could fix it: a quote or bracket is still open.
    is_open: bool,
}

impl Flaw {
    fn new(line: usize, what: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
            is_open: false,
        }
    }

    fn open(line: usize, what: impl Into<String>) -> Self {
        Self {
            is_open: true,
            ..Self::new(line, what)
        }
    }

    fn refusal(self) -> Refusal {
        let message = match self.line {
            0 => format!("cannot parse the message: {}", self.what),
            line => format!("cannot parse line {line} of the message: {}", self.what),
        };
        Refusal::new(
            Code::SchemaInvalid,
            message,
            "Write headings such as ROLE: at column 0, values in double quotes, lists with \"- \" below them; no comments, anchors or tags. JSON works too.",
        )
    }
}
