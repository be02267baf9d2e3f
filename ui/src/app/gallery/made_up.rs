//! What the gallery shows: small, and made up here alone.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use engram_model::{
    Blame, BlamePart, Block, Change, Code, Conflict, Engram, EngramId, Entry, LineReply, LineView,
    Lines, Media, MediaKind, Pointer, PointerType, Reading, Recent, Refusal, Side, SourceLine,
    SourceReply, Standing, Surroundings,
};
use serde_json::json;

use super::{super::backend::strange, KINDS};
use crate::{app::dom, words};

const DIGEST: &str = "sha256:4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a";
/// How evidence stands, by kind: the claim's standing, the pointer's state, its file.
const HOW: &[(&str, &str, &str)] = &[
    ("holds", "unchanged", "src/delay.rs"),
    ("holds", "moved", "src/delay.rs"),
    ("needs_reverification", "edited", EDITED),
    ("evidence_gone", "deleted", GONE),
    ("holds", "renamed", "src/delay.rs"),
    ("unknown", "unchanged", "src/delay.rs"),
    ("holds", "edited", EDITED),
];
const EDITED: &str = "src/retry.rs";
const GONE: &str = "src/gone.rs";

/// One engram of each kind, each with another standing. No two that were made have the same id.
pub(super) fn engrams() -> Vec<Arc<Engram>> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let made = KINDS.iter().enumerate().map(|(index, kind)| {
        let id = format!("{:026}", MADE.fetch_add(1, Ordering::Relaxed));
        let now = dom::clock().now;
        let how = HOW.get(index);
        let file = how.map_or(EDITED, |it| it.2);
        let mut pointers = vec![json!({"type": "repo", "ref": format!("{file}@HEAD"), "span": "L9-L15"})];
        if index == 0 {
            pointers.push(json!({"type": "artifact", "ref": "docs/retries.md#sec=Retries@HEAD"}));
        }
        serde_json::from_value(json!({
            "id": id, "seq": index + 1, "lineage_id": id, "project": id, "kind": kind,
            "claim": format!("A claim of the kind “{}”, as long as claims are: it takes two lines in the list.", words::kind(*kind)),
            "fact_type": "observation", "scope": "project", "topic": "payments/retries",
            "pointers": pointers,
            "confidence": 0.9, "durability": "durable", "tags": ["example"], "hash_keys": [], "entities": [],
            "provenance": {"created_at": now, "created_by": "architect", "source": "agent"},
            "content_hash": format!("sha256:{id}"), "valid_from": now, "recorded_at": now, "memory_op": "add",
            "verified": index != 8,
            "health": how.map(|(standing, state, file)| json!({"standing": standing, "pointers": [{"pointer": format!("repo:{file}#L9-L15@HEAD"), "state": state}]})),
        }))
    });
    let made = made.filter_map(Result::ok);
    made.map(|it: Engram| Arc::new(it)).collect()
}

/// A conflict of each tier and severity, in three topics; two await no verdict.
pub(in crate::app) fn conflicts() -> Vec<Conflict> {
    let now = dom::clock().now;
    let id = |number: usize| format!("{number:026}");
    let side = |number: usize, by: &str, file: &str, confidence: f64, topic: &str, claim: &str| {
        // What stands between the bars differs.
        let bars: Vec<usize> = (claim.chars().enumerate())
            .filter(|it| it.1 == '|')
            .map(|it| it.0)
            .collect();
        let differs: Vec<(usize, usize)> = match bars[..] {
            [from, to] => vec![(from, to - 1)],
            _ => Vec::new(),
        };
        json!({
            "id": id(number), "lineage_id": id(number), "claim": claim.replace('|', ""), "differs": differs,
            "topic": topic, "by": by, "created_at": now, "confidence": confidence, "fact_type": "observation",
            "verified": confidence > 0.5, "valid_until": null,
            "pointers": [{"type": "repo", "ref": format!("{file}@HEAD"), "span": "L9-L15"}]
        })
    };
    let conflict = |number: usize,
                    status: &str,
                    severity: &str,
                    tier: &str,
                    topic: &str,
                    why: &str,
                    a: &str,
                    b: &str| {
        let settled = (status == "resolved").then(
            || json!({"how": "winner", "by": "user", "at": now, "why": "Measured under load."}),
        );
        let allowed = (number == 904).then(
            || json!({"by": "user", "at": now, "why": "Both are in use until the migration."}),
        );
        json!({
            "id": id(number), "status": status, "severity": severity, "tier": tier, "score": null, "why": why, "found_at": now,
            "a": side(number + 10, "programmer-1", EDITED, 0.9, topic, a),
            "b": side(number + 20, "programmer-3", "src/delay.rs", 0.7, topic, b),
            "risk": null, "settled": settled, "allowed": allowed
        })
    };
    let all = json!([
        conflict(
            901,
            "open",
            "high",
            "tier2_numeric",
            "auth",
            "1,000 per second is not 2,000 per second.",
            "The auth service allows |1000 req/s| per IP.",
            "Auth is limited to |2k requests per second| per IP."
        ),
        conflict(
            902,
            "open",
            "medium",
            "tier2_temporal",
            "auth",
            "One says that it is gone, the other that it is there.",
            "Sessions are |still| kept in `redis`.",
            "Sessions are |no longer| kept in `redis`."
        ),
        conflict(
            903,
            "open",
            "medium",
            "tier2b_cross_scope",
            "payments",
            "What holds for all services holds for payments.",
            "All services use |MySQL|.",
            "Payments are stored in |PostgreSQL|, which is set up with two replicas in the same region."
        ),
        conflict(
            904,
            "open",
            "low",
            "tier0_entity",
            "",
            "`true` is not `false`.",
            "הדגל `retry.jitter` הוא |true|",
            "הדגל `retry.jitter` הוא |false|"
        ),
        conflict(
            905,
            "resolved",
            "high",
            "tier3_llm",
            "",
            "A call that waits cannot be refused.",
            "A call waits until the lock is free.",
            "A call is refused while the lock is held."
        ),
        conflict(906, "closed", "low", "tier1_nli", "", "", "", ""),
    ]);
    serde_json::from_value(all).unwrap_or_default()
}

fn line(number: u32, before: u32, text: &str, side: Side) -> SourceLine {
    SourceLine {
        number,
        before,
        text: text.to_owned(),
        marked: !text.is_empty(),
        side,
        ..SourceLine::default()
    }
}

pub(super) fn plain() -> Arc<[SourceLine]> {
    Arc::new([
        line(8, 0, "", Side::Both),
        line(9, 0, "pub fn delay(attempt: u32) -> Duration {", Side::Both),
        line(10, 0, "    ceiling(attempt).mul_f64(jitter())", Side::Both),
        line(11, 0, "}", Side::Both),
    ])
}

pub(super) fn edited() -> Arc<[SourceLine]> {
    let after = "    ceiling(attempt).mul_f64(half_jitter())";
    Arc::new([
        line(9, 9, "pub fn delay(attempt: u32) -> Duration {", Side::Both),
        line(
            0,
            10,
            "    ceiling(attempt).mul_f64(jitter())",
            Side::Removed,
        ),
        line(10, 0, after, Side::Added),
        line(11, 11, "}", Side::Both),
    ])
}

/// A span too long for the highlighter.
pub(super) fn long() -> Arc<[SourceLine]> {
    let text = |n: u32| format!("    steps.push(Duration::from_millis({}));", n * 100);
    (1..=14).map(|n| line(n, 0, &text(n), Side::Both)).collect()
}

/// A change among many unchanged lines.
pub(super) fn far() -> Arc<[SourceLine]> {
    let same = |n: u32| line(n, n, &format!("steps.push({n});"), Side::Both);
    let changed = [
        line(0, 13, "steps.sort();", Side::Removed),
        line(13, 0, "steps.sort_unstable();", Side::Added),
    ];
    (1..=12)
        .map(same)
        .chain(changed)
        .chain((14..=30).map(same))
        .collect()
}

pub(super) fn gone() -> Arc<[SourceLine]> {
    let first = "pub fn delay(attempt: u32) -> Duration {";
    Arc::new([
        line(0, 9, first, Side::Removed),
        line(0, 10, "}", Side::Removed),
    ])
}

/// Every part that a document can have.
pub(super) fn document() -> Vec<Block> {
    let text = |text: &str| json!([{"is": "text", "text": text}]);
    let paragraph = |words: &str| json!({"is": "paragraph", "text": text(words)});
    let blocks = json!([
        {"is": "heading", "level": 1, "text": text("Retries")},
        {"is": "paragraph", "text": [
            {"is": "text", "text": "A call is tried again "}, {"is": "strong", "text": text("three times")},
            {"is": "text", "text": ", "}, {"is": "emphasis", "text": text("never more")},
            {"is": "text", "text": ", "}, {"is": "struck", "text": text("five times")},
            {"is": "text", "text": ": see "}, {"is": "code", "text": "delay"}, {"is": "text", "text": " and "},
            {"is": "link", "text": text("the paper"), "to": "https://example.com/jitter"},
            {"is": "text", "text": "."}, {"is": "break"},
            {"is": "picture", "text": text("how long each waits"), "to": "waits.png"},
        ]},
        {"is": "heading", "level": 2, "text": text("Jitter")},
        {"is": "list", "items": [[paragraph("Full")], [paragraph("Half")]]},
        {"is": "list", "first": 1, "items": [[paragraph("Wait.")], [paragraph("Try again.")]]},
        {"is": "heading", "level": 3, "text": text("In code")},
        {"is": "code", "lines": plain()[1..]},
        {"is": "quote", "blocks": [paragraph("Said by somebody else.")]},
        {"is": "table", "rows": [[text("attempt"), text("at most")], [text("1"), text("100 ms")], [text("2"), text("200 ms")]]},
        {"is": "rule"},
        paragraph("The end."),
    ]);
    serde_json::from_value(blocks).unwrap_or_default()
}

pub(super) fn media(kind: MediaKind, format: Option<&str>) -> Media {
    Media {
        kind,
        format: format.map(str::to_owned),
        size: 12_345,
        pixels: (kind == MediaKind::Picture).then_some((640, 480)),
        digest: (kind == MediaKind::StandIn).then(|| DIGEST.to_owned()),
    }
}

pub(super) fn source(pointer: &Pointer) -> Result<SourceReply, Refusal> {
    let is_document = pointer.kind() == PointerType::Artifact;
    let document = if is_document { document() } else { Vec::new() };
    let reply = json!({
        "pointer": pointer, "label": pointer.label(), "content_digest": DIGEST, "digest_matches": true,
        "lines": plain(), "total_lines": 40, "language": "Rust", "document": document,
        "open_path": pointer.name(), "open_line": 9,
    });
    serde_json::from_value(reply).map_err(|error| strange(&error))
}

pub(super) fn standing(pointer: &Pointer) -> Standing {
    let (reading, changes) = match pointer.name() {
        EDITED => (Reading::Edited, edited().to_vec()),
        GONE => (Reading::Gone, gone().to_vec()),
        _ => (Reading::Same, Vec::new()),
    };
    Standing {
        reading,
        path: None,
        lines: None,
        changes,
        hidden: 0,
        media: None,
    }
}

pub(super) fn blame() -> Blame {
    let part = |start, end, by: &str, summary: &str| BlamePart {
        lines: Lines { start, end },
        commit: "d873713a".repeat(5),
        author: by.to_owned(),
        at: dom::clock().now,
        summary: summary.to_owned(),
        or_before: start == 11,
    };
    Blame {
        parts: vec![
            part(9, 9, "Ada", "Calls are tried again"),
            part(
                10,
                10,
                "Grace",
                "Full jitter: retries no longer come together",
            ),
            part(11, 15, "Ada", "First commit"),
        ],
        hidden: 12,
    }
}

/// What was done to a claim of two versions, of which this is the newer.
pub(super) fn log(id: EngramId) -> Vec<Entry> {
    let mut versions = engrams().into_iter().take(2).map(|it| Engram::clone(&it));
    let (Some(mut newer), Some(mut older)) = (versions.next(), versions.next()) else {
        return Vec::new();
    };
    older.valid_until = Some(older.valid_from);
    newer.id = id;
    newer.supersedes = Some(older.id);
    let entry = |by: &str, change| Entry {
        seq: 0,
        at: dom::clock().now,
        agent: None,
        by: by.to_owned(),
        change,
    };
    vec![
        entry("", Change::Corroborated(id)),
        entry("programmer-2", Change::Corroborated(id)),
        entry("user", Change::Stored(Box::new(newer))),
        entry("programmer-1", Change::Stored(Box::new(older))),
    ]
}

/// A part of a line of 24,000 characters.
pub(super) fn long_line(view: &LineView) -> LineReply {
    let total = 24_000;
    let numbers = (0..).map(|it| format!("{it:05}"));
    let from = view.from / 10_000 * 1_250;
    let text: Vec<String> = numbers.skip(from as usize).take(1_250).collect();
    LineReply {
        text: text.join(" + "),
        total,
    }
}

pub(super) fn surroundings() -> Surroundings {
    Surroundings {
        editors: Vec::new(),
        editor: Some("vi".to_owned()),
        overruled_by: Some("VISUAL".to_owned()),
        log: "~/.engram/logs/window.log".to_owned(),
        has_links: Some(false),
        picks_folders: true,
        notifies: true,
    }
}

pub(super) fn repositories() -> Vec<Recent> {
    let recent = |name: &str, is_front, unseen, drifted| Recent {
        name: name.to_owned(),
        path: format!("~/code/{name}"),
        is_front,
        unseen,
        holding: Some((1_284, drifted)),
    };
    vec![
        recent("shop", true, 0, 3),
        recent("payments", false, 12, 1),
        recent("api-gateway", false, 0, 2),
        recent("docs", false, 0, 0),
    ]
}

pub(super) fn refusal() -> Refusal {
    Refusal::new(
        Code::StoreNewer,
        "this home was written by a newer Engram",
        "Update Engram, or name another home with --home.",
    )
}
