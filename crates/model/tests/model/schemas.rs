//! The v0.1 schemas keep their contracts (docs/design.md#the-published-forms), the committed files
//! match the generated ones, and an independent validator agrees with our types.

use std::{fs, path::Path};

use boon::{Compiler, SchemaIndex, Schemas};
use engram_model::{Draft, Engram, EngramV01, Limits, schemas};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::values::{any_engram, valid_v01};

/// The contracts, word for word.
const CONTRACTS: [(&str, &str); 4] = [
    (
        "engram.v0.1.json",
        include_str!("contracts/engram.v0.1.json"),
    ),
    (
        "pointer.v0.1.json",
        include_str!("contracts/pointer.v0.1.json"),
    ),
    (
        "less/engram.v0.1.json",
        include_str!("contracts/less/engram.v0.1.json"),
    ),
    (
        "less/pointer.v0.1.json",
        include_str!("contracts/less/pointer.v0.1.json"),
    ),
];

fn schema(name: &str) -> Value {
    let found = schemas().into_iter().find(|(file, _)| *file == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

/// The order of `required` and `enum` does not matter, and 1.0 equals 1.
fn in_one_order(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| match (key.as_str(), in_one_order(value)) {
                ("required" | "enum", Value::Array(mut words)) => {
                    words.sort_by_key(Value::to_string);
                    (key, Value::Array(words))
                }
                (_, value) => (key, value),
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(in_one_order).collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other,
    }
}

#[test]
fn the_v01_schemas_are_the_seeds() {
    for (name, contract) in CONTRACTS {
        let contract: Value = serde_json::from_str(contract).unwrap();
        let (ours, theirs) = (in_one_order(schema(name)), in_one_order(contract));
        assert_eq!(ours, theirs, "{name}: {ours:#} is not {theirs:#}");
    }
}

#[test]
fn the_committed_files_are_the_generated_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let update = std::env::var_os("UPDATE_SCHEMAS").is_some();
    for (name, schema) in schemas() {
        let file = folder.join(name);
        let text = format!("{schema:#}\n");
        if update {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &text).unwrap();
        }
        let committed = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            committed == text,
            "schemas/{name} is stale: run this test with UPDATE_SCHEMAS=1"
        );
    }
}

#[test]
fn every_schema_is_one_and_closed() {
    for (name, schema) in schemas() {
        let _valid = validator(name);
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert_eq!(schema["additionalProperties"], json!(false), "{name}");
        assert!(
            schema["$id"]
                .as_str()
                .unwrap()
                .ends_with(name.rsplit('/').next().unwrap())
        );
        let mut open = vec![&schema];
        while let Some(value) = open.pop() {
            if let Some(fields) = value.as_object() {
                if fields.contains_key("properties") && fields["properties"].is_object() {
                    assert_eq!(
                        value["additionalProperties"],
                        json!(false),
                        "{name}: {value}"
                    );
                }
                open.extend(fields.values());
            }
            open.extend(value.as_array().into_iter().flatten());
        }
    }
}

struct Validator {
    all: Schemas,
    one: SchemaIndex,
}

impl Validator {
    fn validate(&self, value: &Value) -> Result<(), String> {
        let validated = self.all.validate(value, self.one);
        validated.map_err(|error| error.to_string())
    }

    fn is_valid(&self, value: &Value) -> bool {
        self.validate(value).is_ok()
    }
}

/// Compiles a schema; fails if it is invalid.
fn validator(name: &str) -> Validator {
    let id = |schema: &Value| schema["$id"].as_str().unwrap().to_owned();
    let mut compiler = Compiler::new();
    compiler.enable_format_assertions();
    for (_, schema) in schemas() {
        compiler.add_resource(&id(&schema), schema).unwrap();
    }
    let mut all = Schemas::new();
    let one = compiler.compile(&id(&schema(name)), &mut all).unwrap();
    Validator { all, one }
}

fn families() -> [Validator; 2] {
    ["engram.v0.1.json", "less/engram.v0.1.json"].map(validator)
}

/// Whether our types refuse it: it does not parse, or does not pass validation.
fn refused_by_types(value: &Value) -> bool {
    let strict = serde_json::from_value::<EngramV01>(value.clone());
    let draft = serde_json::from_value::<Draft>(value.clone());
    strict.is_err() || draft.map_or(true, |it| it.validate(&Limits::default()).is_err())
}

#[test]
fn schema_and_types_refuse_the_same() {
    let valid = valid_v01();
    for family in families() {
        family.validate(&valid).unwrap();
        assert!(!refused_by_types(&valid));
        for (place, value) in [
            ("/id", json!(7)),
            ("/id", Value::Null),
            ("/kind", json!("rumour")),
            ("/kind", Value::Null),
            ("/claim", json!("x".repeat(501))),
            ("/claim", Value::Null),
            ("/pointers", json!([])),
            ("/pointers", Value::Null),
            (
                "/pointers",
                json!(vec![json!({"type": "repo", "ref": "repo:a@HEAD"}); 13]),
            ),
            ("/pointers/0", json!("repo:a@HEAD")),
            ("/pointers/0/type", json!("file")),
            ("/pointers/0/ref", Value::Null),
            (
                "/pointers/0/ref",
                json!(format!("repo:{}@HEAD", "x".repeat(300))),
            ),
            ("/pointers/0/span", json!("x".repeat(81))),
            ("/pointers/0/line", json!(3)),
            ("/confidence", json!(1.01)),
            ("/confidence", json!(-0.01)),
            ("/confidence", json!("high")),
            ("/ttl", Value::Null),
            ("/ttl", json!(7)),
            ("/scope", json!("world")),
            (
                "/tags",
                json!((0..13).map(|n| n.to_string()).collect::<Vec<_>>()),
            ),
            ("/tags", json!(["x".repeat(41)])),
            ("/provenance", Value::Null),
            ("/provenance/created_at", json!("yesterday")),
            ("/provenance/source", json!("rumour")),
            ("/provenance/more", json!(1)),
            ("/extra", json!(1)),
        ] {
            let mut invalid = valid.clone();
            let (within, key) = place.rsplit_once('/').unwrap();
            match invalid.pointer_mut(within).unwrap() {
                Value::Object(fields) if value.is_null() => drop(fields.remove(key)),
                Value::Object(fields) => drop(fields.insert(key.to_owned(), value.clone())),
                Value::Array(items) => items[key.parse::<usize>().unwrap()] = value.clone(),
                _ => unreachable!(),
            }
            assert!(
                !family.is_valid(&invalid),
                "the schema takes {place} = {value:.80}"
            );
            assert!(
                refused_by_types(&invalid),
                "the types take {place} = {value:.80}"
            );
        }
    }
}

#[test]
fn messages_of_the_contract_fit_their_schemas() {
    let engram = json!({
        "kind": "risk", "claim": "It may fail.", "confidence": 0.72, "ttl": "P7D",
        "scope": "project", "pointers": ["repo:a.rs@HEAD", { "type": "repo", "ref": "b.rs@HEAD" }]
    });
    let child = json!({
        "role": "r", "task_status": "blocked", "engrams": [engram],
        "deref_requests": [{ "pointer": "repo:a.rs@HEAD", "reason": "why" }],
        "output": { "summary": "s", "next": "n" }
    });
    let parent = json!({
        "role": "r", "shared_brief_micro": ["b"], "budgets": { "max_engrams": 10 },
        "grants": [{ "budget_token": "g", "pointer": "repo:a.rs@HEAD", "cap_tokens": 500 }],
        "target_pointer_pack": ["repo:a.rs@HEAD"], "instructions": ["i"]
    });
    validator("message.child.json").validate(&child).unwrap();
    validator("message.parent.json").validate(&parent).unwrap();
    assert!(!validator("message.child.json").is_valid(&parent));
    assert!(!validator("message.parent.json").is_valid(&child));
    for key in ["kind", "claim", "pointers", "confidence", "ttl", "scope"] {
        let mut without = child.clone();
        without["engrams"][0].as_object_mut().unwrap().remove(key);
        assert!(!validator("message.child.json").is_valid(&without), "{key}");
        let fits = validator("draft.json").is_valid(&without["engrams"][0]);
        assert_eq!(fits, !["claim", "pointers"].contains(&key), "{key}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_valid_record_fits_all_its_schemas(engram in any_engram()) {
        thread_local! {
            static ALL: ([Validator; 2], Validator) = (families(), validator("engram.record.json"));
        }
        let record = serde_json::to_value(&engram).unwrap();
        let mut wire = EngramV01::from(&engram);
        let wire_json = serde_json::to_value(&wire).unwrap();
        ALL.with(|(families, records)| {
            for family in families {
                family.validate(&wire_json).unwrap();
            }
            records.validate(&record).unwrap();
        });
        let again: Engram = serde_json::from_value(record).unwrap();
        prop_assert_eq!(&again, &engram);
        let wire_again: EngramV01 = serde_json::from_value(wire_json).unwrap();
        prop_assert_eq!(&wire_again, &wire);
        wire.embedding_ref = Some("e1".to_owned());
        let with_embedding = serde_json::to_value(&wire).unwrap();
        ALL.with(|(families, _)| {
            assert!(families[0].is_valid(&with_embedding) && !families[1].is_valid(&with_embedding));
        });
    }
}
