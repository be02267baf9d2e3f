//! The description of the bus as an OpenAPI document, generated from the argument and answer types
//! of its calls.

use engram_model::{Limits, Refusal, Remedy};
use schemars::{
    Schema, SchemaGenerator,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};

use super::BusRoute;

/// Characters that no name contains: control characters and invisible characters.
const HIDDEN: &str = r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb";

/// Characters that no text contains: invisible characters and NUL. Other control characters are
/// allowed.
const UNSEEN: &str = r"\x00\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb";

/// Returns the document.
pub(super) fn document(bus_routes: &[BusRoute], limits: &Limits) -> Value {
    let mut taken = schema_generator(SchemaSettings::draft2020_12().for_deserialize());
    let mut given = schema_generator(SchemaSettings::draft2020_12().for_serialize());
    let refusal = given.subschema_for::<Refusal>();
    let remedy = given.subschema_for::<Remedy>();
    let mut paths = Map::new();
    for route in bus_routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation(route, &mut taken, &mut given);
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
            "description": "The API for orchestrators and agents. 400: the body does not match its schema. 403: the body matches, but the request is refused. Each refusal has a code, which is stable, and a hint that says what to do next.",
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
    merge_schema(
        &mut document["components"]["schemas"],
        added_constraints(limits),
    );
    document
}

fn schema_generator(settings: SchemaSettings) -> SchemaGenerator {
    let mut settings = settings.with_transform(Bounded);
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.into_generator()
}

fn operation(route: &BusRoute, taken: &mut SchemaGenerator, given: &mut SchemaGenerator) -> Value {
    let refused = json!({
        "description": "A refusal.",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Refused" } } },
    });
    let in_path = route.path.split('{').skip(1).filter_map(|part| {
        let name = part.split_once('}')?.0;
        Some(
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }),
        )
    });
    let in_query = route.query.iter().map(|parameter| {
        json!({
            "name": parameter.name, "in": "query", "required": parameter.is_needed,
            "description": parameter.says, "schema": (parameter.shape)(taken),
        })
    });
    let mut operation = json!({
        "summary": route.summary,
        "operationId": format!("{}{}", route.method, route.path.replace(['/', '{', '}'], "_")),
        "parameters": in_path.chain(in_query).collect::<Vec<_>>(),
        "responses": {
            route.answers.0.as_str(): {
                "description": "What was asked for.",
                "content": { route.media: { "schema": (route.answers.1)(given) } },
            },
            "401": refused.clone(),
            "default": refused,
        },
    });
    if let Some(body) = route.body {
        operation["requestBody"] = json!({
            "required": route.needs_body,
            "content": { "application/json": { "schema": body(taken) } },
        });
    }
    operation
}

/// Replaces the integer formats with a maximum that OpenAPI validators check.
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

/// The constraints that the types do not express.
#[rustfmt::skip]
fn added_constraints(limits: &Limits) -> Value {
    let message = &limits.message;
    // At least one character is not white space.
    let printed = format!("^[^{HIDDEN}]*[^\\s{HIDDEN}][^{HIDDEN}]*$");
    let words = format!("^[^{UNSEEN}]*[^\\s{UNSEEN}][^{UNSEEN}]*$");
    let name = json!({ "maxLength": 80, "pattern": format!("^[^{HIDDEN}]*$") });
    let said = json!({ "pattern": format!("^[^{UNSEEN}]*$") });
    let sentence = json!({ "maxLength": 500, "pattern": said["pattern"] });
    let some = json!({ "minimum": 1 });
    json!({
        "Ttl": { "pattern": duration_pattern() },
        "Draft": {
            "required": ["claim", "pointers"],
            "anyOf": [
                { "properties": { "operation": { "enum": ["add", "update", "none", null] } } },
                { "properties": { "corrects_lineage": { "type": "string", "minLength": 1 } }, "required": ["corrects_lineage"] },
            ],
            "properties": {
                "claim": { "maxLength": limits.claim_chars, "pattern": words },
                "pointers": { "maxItems": limits.pointers },
                "tags": { "maxItems": limits.tags, "items": { "maxLength": limits.tag_chars, "pattern": printed } },
                "agent": name,
                "topic": { "maxLength": 200, "pattern": topic_pattern() },
            },
        },
        "ProvenanceV01": { "properties": { "created_by": name } },
        "Opening": { "properties": {
            "name": { "maxLength": 80, "pattern": printed },
            "role": name,
            "read": { "maxItems": 12, "items": name },
            "write": { "maxItems": 12, "items": name },
        } },
        "Turn": { "properties": { "turn": name } },
        "DerefRequest": { "properties": {
            "reason": { "minLength": 1, "maxLength": 500, "pattern": words },
            "intended_use": sentence,
        } },
        "Verdict": { "properties": { "why": sentence, "cap_tokens": some } },
        "Wanted": {
            "anyOf": [
                { "required": ["pointer"], "properties": { "pointer": { "not": { "type": "null" } }, "code_chars": { "type": "null" } } },
                { "required": ["code_chars"], "properties": { "code_chars": { "type": "integer" }, "pointer": { "type": "null" }, "cap_tokens": { "type": "null" } } },
            ],
            "properties": { "cap_tokens": some, "code_chars": some },
        },
        "ChildMessage": { "properties": {
            "role": said,
            "task_status": said,
            "engrams": { "maxItems": message.engrams, "items": {
                "required": ["kind", "claim", "pointers", "confidence", "ttl", "scope"],
                "properties": {
                    "kind": { "type": "string" }, "confidence": { "type": "number" },
                    "ttl": { "type": "string" }, "scope": { "type": "string" },
                },
            } },
        } },
        "ChildOutput": { "properties": { "summary": said, "next": said } },
        "ParentMessage": { "properties": {
            "role": said,
            "instructions": { "items": said },
            "shared_brief_micro": { "maxItems": message.brief_lines, "items": said },
        } },
    })
}

/// Merges `said` into the schema at `place`.
fn merge_schema(place: &mut Value, said: Value) {
    match (place, said) {
        (Value::Object(place), Value::Object(said)) => {
            for (key, said) in said {
                merge_schema(place.entry(key).or_insert(Value::Null), said);
            }
        }
        (place, said) => *place = said,
    }
}

/// The pattern of ISO 8601 durations greater than zero.
fn duration_pattern() -> String {
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

/// The pattern of paths without empty parts.
fn topic_pattern() -> String {
    let part = r"[^/\x00-\x1f\x7f-\x9f]*[^\s/\x00-\x1f\x7f-\x9f][^/\x00-\x1f\x7f-\x9f]*";
    format!("^/*(?:{part}(?:/{part})*)?/*$")
}
