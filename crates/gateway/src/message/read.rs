//! Reads a message from bytes: JSON, or the text form (docs/design.md#messages). Its size is
//! checked first.

use engram_model::{Code, Limits, Refusal};
use serde_json::Value;

use super::{ValidMessage, check, most_bytes, schema_refusal, skeleton, too_big};
use crate::{count_tokens, text_form};

/// How a message was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageForm {
    /// One JSON object.
    Json,
    /// Headings at column 0, YAML below them.
    Text,
}

/// A message that could be parsed; [`UncheckedMessage::check`] checks the contract.
#[derive(Clone, Debug, PartialEq)]
pub struct UncheckedMessage {
    /// Its fields, with the headings of the text form in lower case as keys.
    pub value: Value,
    /// How it was written.
    pub form: MessageForm,
    /// The tokens (`o200k_base`) of the text form as written; 0 for JSON, whose white space costs
    /// nothing.
    pub written: usize,
}

impl UncheckedMessage {
    /// Checks the message against its contract; the higher token count of its two forms applies.
    pub fn check(&self, limits: &Limits) -> Result<ValidMessage, Refusal> {
        check(&self.value, self.written, limits)
    }
}

/// Reads a message in either form. Refuses a message with more bytes than its allowed tokens could
/// ever have, without examining it.
pub fn read_message(bytes: &[u8], limits: &Limits) -> Result<UncheckedMessage, Refusal> {
    read(bytes, limits)
        .map_err(|refusal| skeleton::with_skeleton(refusal, &Value::Null, &Value::Null, limits))
}

fn read(bytes: &[u8], limits: &Limits) -> Result<UncheckedMessage, Refusal> {
    if bytes.len() > most_bytes(limits) {
        return Err(too_big(bytes.len(), limits));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| {
        schema_refusal(
            "the message is not UTF-8",
            "Send JSON or the text form in UTF-8.",
        )
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with(['{', '[', '"']) {
        let value = serde_json::from_str::<UniqueKeys>(text).map_err(|error| {
            Refusal::new(
                Code::SchemaInvalid,
                format!("the message is not JSON: {error}"),
                "Send one JSON object, or the text form with headings such as ROLE: at column 0.",
            )
        })?;
        return Ok(UncheckedMessage {
            value: value.0,
            form: MessageForm::Json,
            written: 0,
        });
    }
    Ok(UncheckedMessage {
        value: text_form::from_text(text)?,
        form: MessageForm::Text,
        written: count_tokens(text),
    })
}

/// A JSON value without duplicate keys, since some readers take the first of two and others the
/// last.
struct UniqueKeys(Value);

impl<'de> serde::Deserialize<'de> for UniqueKeys {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(UniqueKeysVisitor).map(UniqueKeys)
    }
}

struct UniqueKeysVisitor;

impl<'de> serde::de::Visitor<'de> for UniqueKeysVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(UniqueKeys(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = serde_json::Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if fields.contains_key(&key) {
                let key = engram_model::shorten(&key, 40);
                return Err(serde::de::Error::custom(format!("`{key}` appears twice")));
            }
            let UniqueKeys(value) = map.next_value()?;
            fields.insert(key, value);
        }
        Ok(Value::Object(fields))
    }
}
