//! The JSON Schemas that are published in `schemas/`, generated from the types of this crate.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// File name and schema, for each schema that is published.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("engram.record.json", of::<crate::Engram>()),
        ("draft.json", of::<crate::Draft>()),
    ]
}

fn of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}
