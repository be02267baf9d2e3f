//! A pointer as sent.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Pointer, grammar::invalid};
use crate::{Code, Limits, Refusal};

/// A pointer as sent: a string everywhere, or the object of the v0.1 schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PointerInput {
    /// `repo:src/main.rs#L10-L20@HEAD`
    Text(String),
    /// `{ "type": "repo", "ref": "repo:src/main.rs@HEAD", "span": "L10-L20" }`
    Object(crate::PointerV01),
}

/// Implemented by hand, because the error of an untagged enum does not say which key of the object
/// is wrong.
impl<'de> Deserialize<'de> for PointerInput {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> serde::de::Visitor<'de> for Either {
            type Value = PointerInput;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a pointer: a string, or an object with type and ref")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(PointerInput::Text(text.to_owned()))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> Result<Self::Value, A::Error> {
                let object = serde::de::value::MapAccessDeserializer::new(map);
                crate::PointerV01::deserialize(object).map(PointerInput::Object)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl PointerInput {
    /// Parses it and checks it against the limits of the wire form, both as sent and once pinned.
    pub fn check(self, limits: &Limits) -> Result<Pointer, Refusal> {
        let span = match &self {
            Self::Text(_) => 0,
            Self::Object(object) => object
                .span
                .as_deref()
                .map_or(0, |span| span.chars().count()),
        };
        if span > limits.span_chars {
            return Err(Refusal::new(
                Code::PointerInvalid,
                format!(
                    "a pointer's span has {span} characters; the limit is {}",
                    limits.span_chars
                ),
                "Shorten the section heading to its first words.",
            ));
        }
        let written = match &self {
            Self::Text(text) => text.chars().count(),
            Self::Object(object) => object.reference.chars().count(),
        };
        let pointer = Pointer::try_from(self)?;
        let chars = written.max(pointer.pinned_chars());
        if chars > limits.ref_chars {
            return Err(invalid(
                &pointer.to_string(),
                &format!(
                    "has {chars} characters with its full pin; the limit is {}",
                    limits.ref_chars
                ),
                "Shorten the address: cut a section heading to its first words, or point at the whole file instead of a span.",
            ));
        }
        Ok(pointer)
    }
}

impl TryFrom<PointerInput> for Pointer {
    type Error = Refusal;

    fn try_from(input: PointerInput) -> Result<Self, Refusal> {
        match input {
            PointerInput::Text(text) => text.parse(),
            PointerInput::Object(object) => object.try_into(),
        }
    }
}

impl From<Pointer> for PointerInput {
    fn from(pointer: Pointer) -> Self {
        PointerInput::Object(pointer.into())
    }
}
