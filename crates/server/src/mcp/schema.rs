//! JSON Schemas of what the tools take and return, generated from the types and then shortened,
//! since a model pays for `tools/list` in every session.

use rmcp::model::JsonObject;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

/// Returns the schema of a tool's arguments, which a model sees: closed, with the words of each
/// enum, and each field's documentation as its description.
pub(super) fn arguments_schema<T: JsonSchema>() -> JsonObject {
    Simplifier::simplified_schema::<T>(Direction::Taken)
}

/// Returns the schema of a tool's result. Clients validate with it but show it to no model. So
/// words are plain strings, and fields of one type share an entry, as `"^(id|claim)$": {"type":
/// "string"}`, or `""` if no field inside a result has another type. Nothing is closed or required:
/// a refusal has only its `error`.
pub(super) fn result_schema<T: JsonSchema>() -> JsonObject {
    Simplifier::simplified_schema::<T>(Direction::Returned)
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Taken,
    Returned,
}

/// Reduces a generated schema to what a reader needs. It inlines references, so no type may contain
/// itself.
struct Simplifier {
    defs: Value,
    direction: Direction,
}

impl Simplifier {
    fn simplified_schema<T: JsonSchema>(direction: Direction) -> JsonObject {
        let settings = SchemaSettings::draft2020_12();
        let settings = match direction {
            Direction::Taken => settings.for_deserialize(),
            Direction::Returned => settings.for_serialize(),
        };
        let root = settings.into_generator().into_root_schema_for::<T>();
        let root = root.to_value();
        let defs = root.get("$defs").cloned().unwrap_or_default();
        Self { defs, direction }.simplify(&root, false)
    }

    /// With `always` the value is always present, so the schema must allow null where it may be
    /// null.
    fn simplify(&self, schema: &Value, always: bool) -> JsonObject {
        let (schema, or_null) = self.follow_references(schema);
        let mut node = JsonObject::new();
        let kind = json_type(schema);
        if let Some(kind) = kind {
            let kind = if always && or_null {
                json!([kind, "null"])
            } else {
                json!(kind)
            };
            node.insert("type".to_owned(), kind);
        }
        match (kind, self.direction) {
            (Some("array"), _) => {
                let items = self.simplify(&schema["items"], true);
                node.insert("items".to_owned(), items.into());
            }
            (Some("object"), Direction::Taken) => self.insert_closed(schema, &mut node),
            (Some("object"), Direction::Returned) => self.insert_grouped(schema, &mut node),
            (_, Direction::Taken) => {
                if let Some(words) = enum_words(schema) {
                    node.insert("enum".to_owned(), words);
                }
            }
            (_, Direction::Returned) => {}
        }
        node
    }

    /// Follows references and `anyOf: [X, null]`. Returns the schema behind them and whether null
    /// is allowed too.
    fn follow_references<'a>(&'a self, mut schema: &'a Value) -> (&'a Value, bool) {
        let mut or_null = false;
        loop {
            let named = schema["$ref"].as_str();
            let behind = named.and_then(|it| self.defs.get(it.strip_prefix("#/$defs/")?));
            let either = schema["anyOf"].as_array().map(Vec::as_slice);
            schema = match (behind, either) {
                (Some(behind), _) => behind,
                (None, Some([one, null])) if null["type"] == "null" => {
                    or_null = true;
                    one
                }
                _ => break,
            };
        }
        let types = schema["type"].as_array();
        or_null |= types.is_some_and(|all| all.iter().any(|it| it == "null"));
        (schema, or_null)
    }

    fn insert_closed(&self, schema: &Value, node: &mut JsonObject) {
        // The names of a map are not known.
        if schema["additionalProperties"].is_object() {
            let told = self.simplify(&schema["additionalProperties"], false);
            node.insert("additionalProperties".to_owned(), told.into());
            return;
        }
        let fields = fields(schema).map(|(name, field)| {
            let mut told = self.simplify(field, false);
            if let Some(words) = field.get("description") {
                told.insert("description".to_owned(), words.clone());
            }
            (name.clone(), Value::from(told))
        });
        node.insert(
            "properties".to_owned(),
            fields.collect::<JsonObject>().into(),
        );
        if let Some(required) = schema.get("required") {
            node.insert("required".to_owned(), required.clone());
        }
        node.insert("additionalProperties".to_owned(), json!(false));
    }

    fn insert_grouped(&self, schema: &Value, node: &mut JsonObject) {
        let always = |name: &str| {
            let required = schema["required"].as_array();
            required.is_some_and(|all| all.iter().any(|it| it == name))
        };
        let mut types: Vec<(JsonObject, Vec<&str>)> = Vec::new();
        for (name, field) in fields(schema) {
            let told = self.simplify(field, always(name));
            match types.iter_mut().find(|it| it.0 == told) {
                Some((_, names)) => names.push(name),
                None => types.push((told, vec![name])),
            }
        }
        // The names of a map are not known.
        if schema["additionalProperties"].is_object() {
            let told = self.simplify(&schema["additionalProperties"], true);
            node.insert("patternProperties".to_owned(), json!({ "": told }));
        }
        // A whole result may also be a refusal, whose `error` is of another type.
        let is_uniform = types.len() == 1 && schema.get("$schema").is_none();
        for (told, names) in types {
            let (keyword, name) = match names.as_slice() {
                [one] => ("properties", (*one).to_owned()),
                _ if is_uniform => ("patternProperties", String::new()),
                // Field names contain no special characters of a pattern.
                all => ("patternProperties", format!("^({})$", all.join("|"))),
            };
            let of_keyword = node.entry(keyword).or_insert_with(|| json!({}));
            if let Some(all) = of_keyword.as_object_mut() {
                all.insert(name, told.into());
            }
        }
    }
}

fn fields(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// Returns the type, ignoring null; none if any type is allowed.
fn json_type(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::String(one) => Some(one),
        Value::Array(all) => all
            .iter()
            .filter_map(Value::as_str)
            .find(|it| *it != "null"),
        _ => enum_words(schema).map(|_| "string"),
    }
}

/// Returns the words of an enum: `enum: [a, b]`, or `oneOf: [{const: a}, {const: b}]` when each has
/// its documentation.
fn enum_words(schema: &Value) -> Option<Value> {
    let documented = || {
        let all = schema["oneOf"].as_array()?;
        let each = all.iter().map(|it| it.get("const").cloned());
        each.collect::<Option<Vec<Value>>>().map(Value::from)
    };
    schema.get("enum").cloned().or_else(documented)
}
