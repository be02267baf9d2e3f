//! The command's output matches the published schemas, according to an independent validator.

use std::{fs, path::Path};

use engram_model::EngramV01;
use serde_json::{Value, json};

use crate::{
    dashboard::shop::Shop,
    machine::{clean, ok, python, workspace},
};

#[test]
fn printed_records_are_as_the_published_schemas_say() {
    let shop = Shop::empty().noted();
    let engram = shop.engram();
    let bare = json!({"claim": "Bare.", "pointers": ["repo:NOTES.md@HEAD"]});
    let whole = json!({"claim": "A whole one: café, \"quoted\", MAX_RETRIES = 3.", "kind": "decision",
        "confidence": 0.9, "ttl": "P30D", "scope": "run", "topic": "notes/first", "tags": ["one", "two"],
        "agent": "reviewer", "durability": "ephemeral",
        "pointers": ["repo:NOTES.md#L1@HEAD", "repo:NOTES.md@worktree", "artifact:NOTES.md@HEAD"]});
    for draft in [bare, whole] {
        let id = engram.put(&[draft]).remove(0);
        let record = engram.json(&["get", &id]);
        let short = serde_json::to_value(EngramV01::from(&engram.get(&id))).unwrap();
        for (schema, document) in [
            ("engram.record.json", record),
            ("engram.v0.1.json", short.clone()),
            ("less/engram.v0.1.json", short),
        ] {
            let complaints = complaints(&shop.dir, schema, &document);
            assert_eq!(complaints, "", "{schema}: {document}");
            let broken = with(document.clone(), "confidence", json!("high"));
            assert_ne!(
                self::complaints(&shop.dir, schema, &broken),
                "",
                "{schema} refuses a wrong type"
            );
            let nameless = without(document, "claim");
            assert_ne!(
                self::complaints(&shop.dir, schema, &nameless),
                "",
                "{schema} refuses what lacks a claim"
            );
        }
    }
}

/// Returns the errors that an independent validator finds in a document.
fn complaints(dir: &Path, schema: &str, document: &Value) -> String {
    let file = dir.join("document.json");
    fs::write(&file, document.to_string()).unwrap();
    let mut validator = clean(python(), dir);
    validator.arg(workspace().join("tests/clients/validate.py"));
    validator
        .arg(workspace().join("schemas"))
        .arg(schema)
        .arg(file);
    ok(&mut validator).trim().to_owned()
}

fn with(mut document: Value, key: &str, value: Value) -> Value {
    document[key] = value;
    document
}

fn without(mut document: Value, key: &str) -> Value {
    document.as_object_mut().expect("an object").remove(key);
    document
}
