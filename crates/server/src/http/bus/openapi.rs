//! The description of the bus as an OpenAPI document, generated from the types that its calls take and answer.

use engram_model::{Limits, Refusal, Remedy};
use schemars::{
    Schema, SchemaGenerator,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};

use super::Door;

/// What no name has: control characters, and what cannot be seen.
const HIDDEN: &str = r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb";

/// What no words have: invisible characters. Control characters are words like others, but for NUL.
const UNSEEN: &str = r"\x00\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb";

/// The document.
pub(super) fn document(doors: &[Door], limits: &Limits) -> Value {
    let mut taken = schemas(SchemaSettings::draft2020_12().for_deserialize());
    let mut given = schemas(SchemaSettings::draft2020_12().for_serialize());
    let refusal = given.subschema_for::<Refusal>();
    let remedy = given.subschema_for::<Remedy>();
    let mut paths = Map::new();
    for door in doors {
        let path = paths.entry(door.path).or_insert_with(|| json!({}));
        path[door.method] = operation(door, &mut taken, &mut given);
    }
    let mut components = given.take_definitions(true);
    components.extend(taken.take_definitions(true));
    components.insert(
        "Refused".to_owned(),
        json!({
            "type": "object",
            "properties": { "error": { "allOf": [refusal, remedy] } },
            "required": ["error"],
        }),
    );
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Engram",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The bus of orchestrators and agents. 400: a body is not as described here. 403: it was understood, and refused for what it says. The code of a refusal never changes its spelling; its hint says what to do next.",
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": { "token": {
                "type": "http", "scheme": "bearer",
                "description": "The token of an agent that `engram agents open` printed, or the server's, which is the user's.",
            } },
        },
    });
    for (place, said) in says(limits) {
        say(&mut document, place, said);
    }
    document
}

fn schemas(settings: SchemaSettings) -> SchemaGenerator {
    let mut settings = settings.with_transform(Bounded);
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.into_generator()
}

fn operation(door: &Door, taken: &mut SchemaGenerator, given: &mut SchemaGenerator) -> Value {
    let refused = json!({
        "description": "A refusal.",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Refused" } } },
    });
    let in_path = door.path.split('{').skip(1).filter_map(|it| {
        let name = it.split_once('}')?.0;
        Some(
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }),
        )
    });
    let in_query = door.asks.iter().map(|asks| {
        json!({
            "name": asks.name, "in": "query", "required": asks.is_needed,
            "description": asks.says, "schema": (asks.shape)(taken),
        })
    });
    let mut operation = json!({
        "summary": door.says,
        "operationId": format!("{}{}", door.method, door.path.replace(['/', '{', '}'], "_")),
        "parameters": in_path.chain(in_query).collect::<Vec<_>>(),
        "responses": {
            door.answers.0.as_str(): {
                "description": "What was asked for.",
                "content": { door.media: { "schema": (door.answers.1)(given) } },
            },
            "401": refused.clone(),
            "default": refused,
        },
    });
    if let Some(takes) = door.takes {
        operation["requestBody"] = json!({
            "required": door.needs_body,
            "content": { "application/json": { "schema": takes(taken) } },
        });
    }
    operation
}

/// A number that has no more bits than its type.
#[derive(Clone, Debug)]
struct Bounded;

impl Transform for Bounded {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let most = match schema.get("format").and_then(Value::as_str) {
            Some("uint32") => json!(u32::MAX),
            Some("uint64" | "uint") => json!(u64::MAX),
            _ => return,
        };
        schema.insert("maximum".to_owned(), most);
        schema.remove("format");
    }
}

/// What the types do not say, by place; a list adds up.
fn says(limits: &Limits) -> Vec<(&'static str, Value)> {
    let message = &limits.message;
    // Not only spaces
    let printed = format!("^[^{HIDDEN}]*[^\\s{HIDDEN}][^{HIDDEN}]*$");
    let printed_or_nothing = format!("^[^{HIDDEN}]*$");
    let name = json!({ "maxLength": 80, "pattern": printed_or_nothing });
    let words = format!("^[^{UNSEEN}]*[^\\s{UNSEEN}][^{UNSEEN}]*$");
    let words_or_nothing = format!("^[^{UNSEEN}]*$");
    let sentence = json!({ "maxLength": 500, "pattern": words_or_nothing });
    let said = json!({ "pattern": words_or_nothing });
    vec![
        ("/components/schemas/Ttl", json!({ "pattern": durations() })),
        (
            "/components/schemas/Draft",
            json!({
                "required": ["claim", "pointers"],
                "anyOf": [
                    { "properties": { "operation": { "enum": ["add", "update", "none", null] } } },
                    { "properties": { "corrects_lineage": { "type": "string", "minLength": 1 } }, "required": ["corrects_lineage"] },
                ],
            }),
        ),
        (
            "/components/schemas/Draft/properties/claim",
            json!({ "maxLength": limits.claim_chars, "pattern": words }),
        ),
        (
            "/components/schemas/Draft/properties/pointers",
            json!({ "maxItems": limits.pointers }),
        ),
        (
            "/components/schemas/Draft/properties/tags",
            json!({ "maxItems": limits.tags }),
        ),
        (
            "/components/schemas/Draft/properties/tags/items",
            json!({ "maxLength": limits.tag_chars, "pattern": printed }),
        ),
        ("/components/schemas/Draft/properties/agent", name.clone()),
        (
            "/components/schemas/Draft/properties/topic",
            json!({ "maxLength": 200, "pattern": topics() }),
        ),
        (
            "/components/schemas/ProvenanceV01/properties/created_by",
            name.clone(),
        ),
        (
            "/components/schemas/Opening/properties/name",
            json!({ "maxLength": 80, "pattern": printed }),
        ),
        ("/components/schemas/Opening/properties/role", name.clone()),
        (
            "/components/schemas/Opening/properties/read",
            json!({ "maxItems": 12 }),
        ),
        (
            "/components/schemas/Opening/properties/read/items",
            name.clone(),
        ),
        (
            "/components/schemas/Opening/properties/write",
            json!({ "maxItems": 12 }),
        ),
        (
            "/components/schemas/Opening/properties/write/items",
            name.clone(),
        ),
        ("/components/schemas/Turn/properties/turn", name),
        (
            "/components/schemas/DerefRequest/properties/reason",
            json!({ "minLength": 1, "maxLength": 500, "pattern": words }),
        ),
        (
            "/components/schemas/DerefRequest/properties/intended_use",
            sentence.clone(),
        ),
        ("/components/schemas/Verdict/properties/why", sentence),
        (
            "/components/schemas/Verdict/properties/cap_tokens",
            json!({ "minimum": 1 }),
        ),
        (
            "/components/schemas/Wanted",
            json!({ "anyOf": [
                { "required": ["pointer"], "properties": { "pointer": { "not": { "type": "null" } }, "code_chars": { "type": "null" } } },
                { "required": ["code_chars"], "properties": { "code_chars": { "type": "integer" }, "pointer": { "type": "null" }, "cap_tokens": { "type": "null" } } },
            ] }),
        ),
        (
            "/components/schemas/Wanted/properties/cap_tokens",
            json!({ "minimum": 1 }),
        ),
        (
            "/components/schemas/Wanted/properties/code_chars",
            json!({ "minimum": 1 }),
        ),
        (
            "/components/schemas/ChildMessage/properties/role",
            said.clone(),
        ),
        (
            "/components/schemas/ChildMessage/properties/task_status",
            said.clone(),
        ),
        (
            "/components/schemas/ChildOutput/properties/summary",
            said.clone(),
        ),
        (
            "/components/schemas/ChildOutput/properties/next",
            said.clone(),
        ),
        (
            "/components/schemas/ParentMessage/properties/role",
            said.clone(),
        ),
        (
            "/components/schemas/ParentMessage/properties/instructions/items",
            said.clone(),
        ),
        (
            "/components/schemas/ParentMessage/properties/shared_brief_micro/items",
            said,
        ),
        (
            "/components/schemas/ChildMessage/properties/engrams",
            json!({ "maxItems": message.engrams }),
        ),
        (
            "/components/schemas/ChildMessage/properties/engrams/items",
            json!({
                "required": ["kind", "claim", "pointers", "confidence", "ttl", "scope"],
                "properties": {
                    "kind": { "type": "string" }, "confidence": { "type": "number" },
                    "ttl": { "type": "string" }, "scope": { "type": "string" },
                },
            }),
        ),
        (
            "/components/schemas/ParentMessage/properties/shared_brief_micro",
            json!({ "maxItems": message.brief_lines }),
        ),
    ]
}

fn say(document: &mut Value, place: &str, said: Value) {
    let found = document.pointer_mut(place).and_then(Value::as_object_mut);
    if let (Some(found), Value::Object(said)) = (found, said) {
        found.extend(said);
    }
}

/// ISO 8601 durations that are not nothing.
fn durations() -> String {
    let units = |units: &str| {
        let tail = |from: usize| -> String {
            let rest = units.chars().skip(from);
            rest.map(|it| format!("(?:[0-9]{{1,4}}{it})?")).collect()
        };
        let starts = units
            .char_indices()
            .map(|(at, it)| format!("[1-9][0-9]{{0,3}}{it}{}", tail(at + 1)));
        starts.collect::<Vec<_>>().join("|")
    };
    let (days, hours) = (units("YMWD"), units("HMS"));
    format!("^P(?:(?:{days})(?:T(?:{hours}))?|T(?:{hours}))$")
}

/// Paths without empty parts.
fn topics() -> String {
    let part = r"[^/\x00-\x1f\x7f-\x9f]*[^\s/\x00-\x1f\x7f-\x9f][^/\x00-\x1f\x7f-\x9f]*";
    format!("^/*(?:{part}(?:/{part})*)?/*$")
}
