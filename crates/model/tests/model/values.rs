//! Values of every shape, made as the engine makes them.

use engram_model::*;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) fn valid_v01() -> Value {
    json!({
        "id": "01J9Z3N8M6W0X4V5Y7K2QHPRTA", "kind": "fact", "claim": "It holds.",
        "pointers": [{ "type": "repo", "ref": "repo:src/a.rs@HEAD", "span": "L1-L2", "digest": "0".repeat(64) }],
        "confidence": 0.5, "ttl": "PT6H", "scope": "run", "tags": ["a"], "hash_keys": ["holds"],
        "provenance": { "created_at": "2026-01-08T10:00:00Z", "created_by": "a1", "source": "agent" }
    })
}

/// Segments of paths, including everything that the grammar must escape.
pub(crate) fn any_path() -> impl Strategy<Value = String> {
    prop::collection::vec(
        "[a-zA-Z0-9äß日_@#%+. ]{0,6}[a-z日%@#]{1,4}(%40|%23|%25|%2540)?",
        1..4,
    )
    .prop_map(|parts| parts.join("/"))
    .prop_filter("only paths", |path| {
        !path.starts_with('-') && path.split('/').all(|part| part != "." && part != "..")
    })
}

fn any_hex() -> impl Strategy<Value = String> {
    "[0-9a-f]{64}"
}

fn any_rev() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("HEAD".to_owned()),
        Just("HEAD~2".to_owned()),
        Just("HEAD@{1}".to_owned()),
        Just("@{u}".to_owned()),
        "[0-9a-f]{40}",
        "[a-z]{1,8}(/[a-z0-9]([._-]?[a-z0-9]){0,8})?",
    ]
}

fn any_pin() -> impl Strategy<Value = Pin> {
    prop_oneof![
        any_rev().prop_map(|rev| match rev.as_str() {
            "worktree" => Pin::Worktree,
            _ => Pin::Rev(rev),
        }),
        Just(Pin::Worktree),
        any_hex().prop_map(Pin::Digest),
    ]
}

fn any_lines() -> impl Strategy<Value = Option<Lines>> {
    prop::option::of((1u32..9000, 0u32..500).prop_map(|(start, more)| Lines {
        start,
        end: start + more,
    }))
}

fn any_heading() -> impl Strategy<Value = String> {
    "[A-Za-z0-9äß日@#%&:./ -]{0,20}[a-z日@#%]"
}

pub(crate) fn any_target() -> impl Strategy<Value = Target> {
    let date = (2000i16..2100, 1i8..=12, 1i8..=28)
        .prop_map(|(y, m, d)| jiff::civil::Date::new(y, m, d).unwrap());
    prop_oneof![
        (any_path(), any_lines(), any_pin()).prop_map(|(path, lines, pin)| Target::Repo {
            path,
            lines,
            pin
        }),
        (any_path(), prop::option::of(any_heading()), any_pin())
            .prop_map(|(name, section, pin)| Target::Artifact { name, section, pin }),
        ("[a-z]{1,8}", "[a-z0-9][a-z0-9._/-]{0,20}", date)
            .prop_map(|(kind, slug, date)| Target::Sam { kind, slug, date }),
        (any_rev(), any_rev(), any_path(), any_lines()).prop_map(|(base, head, path, lines)| {
            Target::Diff {
                base,
                head,
                path,
                lines,
            }
        }),
        (any_path(), any_heading(), any_pin()).prop_map(|(path, name, pin)| Target::Test {
            path,
            name,
            pin
        }),
        (
            "https://[a-z]{1,8}\\.example/[a-z0-9/?=&%@#.-]{0,30}",
            prop::option::of(any_hex())
        )
            .prop_map(|(url, digest)| Target::Url { url, digest }),
    ]
}

pub(crate) fn any_pointer() -> impl Strategy<Value = Pointer> {
    (any_target(), prop::option::of(any_hex())).prop_map(|(target, digest)| {
        Pointer {
            target,
            digest: None,
        }
        .with_digest(digest)
        .unwrap()
    })
}

fn any_id() -> impl Strategy<Value = ulid::Ulid> {
    any::<u128>().prop_map(ulid::Ulid)
}

fn any_time() -> impl Strategy<Value = Timestamp> {
    (0i64..4_000_000_000, 0i32..1_000_000_000).prop_map(|(s, ns)| Timestamp::new(s, ns).unwrap())
}

/// A draft as a well-behaved agent sends it, up to every limit.
pub(crate) fn any_draft() -> impl Strategy<Value = Draft> {
    let tags = prop::collection::btree_set("[a-zé日]{1,40}", 0..=12);
    let ttl = prop_oneof![
        Just("PT6H"),
        Just("P7D"),
        Just("P1Y2M3W4DT5H6M7S"),
        Just("P9999Y")
    ];
    let kind = prop::sample::select(Kind::ALL);
    let scope = prop::sample::select(Scope::ALL);
    (
        "\\PC{0,498}[a-z]",
        prop::collection::vec(any_pointer(), 1..=12),
        prop::option::of(kind),
        prop::option::of(0.0..=1.0),
        prop::option::of(ttl),
        prop::option::of(scope),
        tags,
    )
        .prop_map(
            |(claim, pointers, kind, confidence, ttl, scope, tags)| Draft {
                claim,
                pointers: pointers.into_iter().map(Into::into).collect(),
                kind,
                confidence,
                ttl: ttl.map(str::to_owned),
                scope,
                tags: tags.into_iter().collect(),
                topic: Some("payments/webhooks".to_owned()),
                agent: Some("programmer-2".to_owned()),
                ..Draft::default()
            },
        )
}

/// A stored record: a valid draft with the fields that the engine adds.
pub(crate) fn any_engram() -> impl Strategy<Value = Engram> {
    (
        any_draft(),
        any_id(),
        any_id(),
        any_time(),
        prop::option::of(any_time()),
    )
        .prop_map(|(draft, id, other, time, until)| record(draft, id, other, time, until))
}

fn record(
    draft: Draft,
    id: ulid::Ulid,
    other: ulid::Ulid,
    time: Timestamp,
    until: Option<Timestamp>,
) -> Engram {
    let new = draft.validate(&Limits::default()).unwrap();
    let keys = hash_keys(&new.claim, &new.pointers, &new.topic, &new.tags);
    let provenance = Provenance {
        created_at: time,
        created_by: new.agent.unwrap_or_default(),
        source: new.source.unwrap_or(Source::Agent),
    };
    let hash = format!("sha256:{}", "0".repeat(64));
    let record = Record {
        lineage_id: LineageId(other),
        run: until.map(|_| RunId(other)),
        kind: new.kind,
        fact_type: new.fact_type,
        scope: new.scope,
        topic: new.topic,
        pointers: new.pointers,
        confidence: new.confidence,
        expires_at: new.ttl.as_ref().map(|ttl| ttl.expires_at(time)),
        ttl: new.ttl,
        durability: new.durability,
        tags: new.tags,
        agent: until.map(|_| AgentId("a1".to_owned())),
        memory_op: new.operation,
        supersedes: until.map(|_| EngramId(other)),
        ..Record::new(
            EngramId(id),
            ProjectId(other),
            new.claim,
            hash,
            provenance,
            JournalTime(time),
        )
    };
    Engram {
        seq: 7,
        hash_keys: wire_hash_keys(&keys),
        valid_until: until,
        ..record.into()
    }
}

#[test]
fn each_operation_that_readers_see_is_an_act_in_words() {
    for kind in OperationKind::ALL.iter().filter(|it| it.is_told()) {
        assert!(!kind.act_in_words().is_empty(), "{kind}");
    }
}
