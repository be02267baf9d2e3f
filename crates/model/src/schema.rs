//! The JSON Schemas published in `schemas/`, generated from the types of this crate.
//!
//! Others own the v0.1 families: these have the rules of our types, but under their own `$id` and
//! with their own descriptions. The other schemas are ours: `engram://schemas/FILE`.

use schemars::{
    JsonSchema, Schema,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};

use crate::{ChildMessage, Draft, Engram, EngramV01, ParentMessage, PointerV01};

/// The file name within `schemas/` and the schema, for each published schema.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("engram.v0.1.json", v01::<EngramV01>(&VERDICT, "engram")),
        ("pointer.v0.1.json", v01::<PointerV01>(&VERDICT, "pointer")),
        ("less/engram.v0.1.json", v01::<EngramV01>(&LESS, "engram")),
        (
            "less/pointer.v0.1.json",
            v01::<PointerV01>(&LESS, "pointer"),
        ),
        (
            "engram.record.json",
            own_schema::<Engram>("engram.record.json", true),
        ),
        ("draft.json", draft_schema("draft.json")),
        ("message.child.json", child_schema("message.child.json")),
        (
            "message.parent.json",
            own_schema::<ParentMessage>("message.parent.json", false),
        ),
    ]
}

/// The differences between the families of the v0.1 form.
struct Family {
    base: &'static str,
    /// Properties of our type that this family lacks.
    without: &'static [&'static str],
    /// The JSON pointer of a property, and the family's description of it.
    says: &'static [(&'static str, &'static str)],
}

/// The first family (docs/design.md#the-published-forms).
const VERDICT: Family = Family {
    base: "verdict://schemas",
    without: &[],
    says: &[
        ("/properties/id", "ULID/UUID"),
        ("/properties/ttl", "ISO-8601 duration, e.g. PT6H, P7D"),
        (
            "/properties/embedding_ref",
            "Optional pointer to embedding storage/id",
        ),
        ("/properties/provenance/properties/created_by", "agent_id"),
        ("/properties/digest", "Optional content hash for integrity"),
        ("/properties/span", "Optional Lx-Ly or section id"),
    ],
};

/// The second family, which has no embeddings (docs/design.md#the-published-forms).
const LESS: Family = Family {
    base: "verdict://skills/less/schemas",
    without: &["embedding_ref"],
    says: &[("/properties/ttl", "ISO-8601 duration (PT6H, P7D, etc.)")],
};

fn v01<T: JsonSchema>(family: &Family, name: &str) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings
        .with_transform(Plain)
        .into_generator()
        .into_root_schema_for::<T>();
    Bare.transform(&mut schema);
    let mut value = with_schema_id(schema, format!("{}/{name}.v0.1.json", family.base));
    if let Some(properties) = object_at(&mut value, "/properties") {
        properties.retain(|key, _| !family.without.contains(&key.as_str()));
    }
    if let Some(pointers) = object_at(&mut value, "/properties/pointers") {
        let pointer = format!("{}/pointer.v0.1.json", family.base);
        pointers.insert("items".to_owned(), json!({ "$ref": pointer }));
    }
    for (place, words) in family.says {
        if let Some(property) = object_at(&mut value, place) {
            property.insert("description".to_owned(), json!(words));
        }
    }
    value
}

/// One of our schemas: with `written`, for what Engram writes, otherwise for what it reads.
fn own_schema<T: JsonSchema>(file: &str, written: bool) -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(Plain);
    let settings = if written {
        settings.for_serialize()
    } else {
        settings.for_deserialize()
    };
    let schema = settings.into_generator().into_root_schema_for::<T>();
    with_schema_id(schema, format!("engram://schemas/{file}"))
}

/// The schema of a draft. Its required fields are listed by hand: in Rust every field has a
/// default, so that validation can report what is missing.
fn draft_schema(file: &str) -> Value {
    let mut value = own_schema::<Draft>(file, false);
    require(&mut value, "", &["claim", "pointers"]);
    value
}

/// The schema of a child's message. Its engrams must state what Engram otherwise assumes
/// (docs/design.md#what-a-draft-must-have).
fn child_schema(file: &str) -> Value {
    let mut value = own_schema::<ChildMessage>(file, false);
    let on_the_bus = ["kind", "claim", "pointers", "confidence", "ttl", "scope"];
    require(&mut value, "/$defs/Draft", &on_the_bus);
    value
}

fn require(value: &mut Value, place: &str, keys: &[&str]) {
    if let Some(object) = object_at(value, place) {
        object.insert("required".to_owned(), json!(keys));
    }
}

fn with_schema_id(schema: Schema, id: String) -> Value {
    let mut value = schema.to_value();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("$id".to_owned(), json!(id));
    }
    value
}

fn object_at<'a>(value: &'a mut Value, place: &str) -> Option<&'a mut Map<String, Value>> {
    value.pointer_mut(place).and_then(Value::as_object_mut)
}

/// Removes what the derive adds for Rust: defaults, number formats, and null for optional values.
/// Enums of words become an `enum`, and objects are closed.
#[derive(Clone, Debug)]
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(fields) = schema.as_object_mut() else {
            return;
        };
        fields.remove("default");
        without_null(fields);
        let number = matches!(
            fields.get("type").and_then(Value::as_str),
            Some("number" | "integer")
        );
        if number {
            fields.remove("format");
        }
        words_as_enum(fields);
        if fields.contains_key("properties") {
            fields.insert("additionalProperties".to_owned(), json!(false));
        }
    }
}

/// Turns `["string", "null"]` and `anyOf: [X, null]` into their non-null part.
fn without_null(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|it| it != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            fields.insert("type".to_owned(), one);
        }
    }
    let Some(Value::Array(either)) = fields.get_mut("anyOf") else {
        return;
    };
    either.retain(|it| *it != json!({ "type": "null" }));
    if let [Value::Object(one)] = either.as_slice() {
        let one = one.clone();
        fields.remove("anyOf");
        for (key, value) in one {
            fields.entry(key).or_insert(value);
        }
    }
}

/// Turns `oneOf: [{const: a}, {const: b}]` into `enum: [a, b]`.
fn words_as_enum(fields: &mut Map<String, Value>) {
    let words = fields
        .get("oneOf")
        .and_then(Value::as_array)
        .and_then(|all| {
            all.iter()
                .map(|one| one.get("const").cloned())
                .collect::<Option<Vec<Value>>>()
        });
    if let Some(words) = words {
        fields.remove("oneOf");
        fields.insert("type".to_owned(), json!("string"));
        fields.insert("enum".to_owned(), Value::Array(words));
    }
}

/// Removes our descriptions.
#[derive(Clone, Debug)]
struct Bare;

impl Transform for Bare {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        schema.remove("title");
        schema.remove("description");
    }
}
