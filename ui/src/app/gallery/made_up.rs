//! Sample data for the gallery: small, and used here only.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use engram_model::{
    Blame, BlamePart, Block, Change, Code, DiffSide, Engram, EngramId, Entry, Kind, LineReply,
    LineView, Lines, Media, MediaKind, Pointer, PointerType, Reading, Recent, Refusal, SourceLine,
    SourceReply, SpanNow, Surroundings,
};
use serde_json::json;

use crate::{
    app::{dom, engine::backend::strange_answer},
    words,
};

const DIGEST: &str = "sha256:4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a4d7a";
/// The state of evidence for each kind: the claim's standing, the pointer's state, its file.
const HOW: &[(&str, &str, &str)] = &[
    ("holds", "unchanged", "src/delay.rs"),
    ("holds", "moved", "src/delay.rs"),
    ("needs_reverification", "edited", EDITED),
    ("evidence_gone", "deleted", GONE),
    ("holds", "renamed", "src/delay.rs"),
    ("unknown", "unchanged", "src/delay.rs"),
    ("holds", "edited", EDITED),
];
pub(crate) const EDITED: &str = "src/retry.rs";
const GONE: &str = "src/gone.rs";

/// Makes one engram of each kind, each with a different standing. No two have the same id.
pub(crate) fn engrams() -> Vec<Arc<Engram>> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let made = Kind::ALL.iter().enumerate().map(|(index, kind)| {
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

fn line(number: u32, before: u32, text: &str, side: DiffSide) -> SourceLine {
    SourceLine {
        number,
        before,
        text: text.to_owned(),
        marked: !text.is_empty(),
        side,
        ..SourceLine::default()
    }
}

pub(crate) fn plain() -> Arc<[SourceLine]> {
    Arc::new([
        line(8, 0, "", DiffSide::Both),
        line(
            9,
            0,
            "pub fn delay(attempt: u32) -> Duration {",
            DiffSide::Both,
        ),
        line(
            10,
            0,
            "    ceiling(attempt).mul_f64(jitter())",
            DiffSide::Both,
        ),
        line(11, 0, "}", DiffSide::Both),
    ])
}

pub(crate) fn edited() -> Arc<[SourceLine]> {
    let after = "    ceiling(attempt).mul_f64(half_jitter())";
    Arc::new([
        line(
            9,
            9,
            "pub fn delay(attempt: u32) -> Duration {",
            DiffSide::Both,
        ),
        line(
            0,
            10,
            "    ceiling(attempt).mul_f64(jitter())",
            DiffSide::Removed,
        ),
        line(10, 0, after, DiffSide::Added),
        line(11, 11, "}", DiffSide::Both),
    ])
}

/// A span that is too long to highlight.
pub(crate) fn long() -> Arc<[SourceLine]> {
    let text = |n: u32| format!("    steps.push(Duration::from_millis({}));", n * 100);
    (1..=14)
        .map(|n| line(n, 0, &text(n), DiffSide::Both))
        .collect()
}

/// A change among many unchanged lines.
pub(crate) fn far() -> Arc<[SourceLine]> {
    let same = |n: u32| line(n, n, &format!("steps.push({n});"), DiffSide::Both);
    let changed = [
        line(0, 13, "steps.sort();", DiffSide::Removed),
        line(13, 0, "steps.sort_unstable();", DiffSide::Added),
    ];
    (1..=12)
        .map(same)
        .chain(changed)
        .chain((14..=30).map(same))
        .collect()
}

pub(crate) fn gone() -> Arc<[SourceLine]> {
    let first = "pub fn delay(attempt: u32) -> Duration {";
    Arc::new([
        line(0, 9, first, DiffSide::Removed),
        line(0, 10, "}", DiffSide::Removed),
    ])
}

/// A document with every kind of part.
pub(crate) fn document() -> Vec<Block> {
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

pub(crate) fn media(kind: MediaKind, format: Option<&str>) -> Media {
    Media {
        kind,
        format: format.map(str::to_owned),
        size: 12_345,
        pixels: (kind == MediaKind::Picture).then_some((640, 480)),
        digest: (kind == MediaKind::StandIn).then(|| DIGEST.to_owned()),
    }
}

pub(crate) fn source(pointer: &Pointer) -> Result<SourceReply, Refusal> {
    let is_document = pointer.kind() == PointerType::Artifact;
    let document = if is_document { document() } else { Vec::new() };
    let reply = json!({
        "pointer": pointer, "label": pointer.label(), "content_digest": DIGEST, "digest_matches": true,
        "lines": plain(), "total_lines": 40, "language": "Rust", "document": document,
        "open_path": pointer.name(), "open_line": 9,
    });
    serde_json::from_value(reply).map_err(|error| strange_answer(&error))
}

pub(crate) fn standing(pointer: &Pointer) -> SpanNow {
    let (reading, changes) = match pointer.name() {
        EDITED => (Reading::Edited, edited().to_vec()),
        GONE => (Reading::Gone, gone().to_vec()),
        _ => (Reading::Same, Vec::new()),
    };
    SpanNow {
        reading,
        path: None,
        lines: None,
        digest: None,
        changes,
        hidden: 0,
        media: None,
    }
}

pub(crate) fn blame() -> Blame {
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

/// The log of a claim with two versions, of which this is the newer.
pub(crate) fn log(id: EngramId) -> Vec<Entry> {
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
pub(crate) fn long_line(view: &LineView) -> LineReply {
    let total = 24_000;
    let numbers = (0..).map(|it| format!("{it:05}"));
    let from = view.from / 10_000 * 1_250;
    let text: Vec<String> = numbers.skip(from as usize).take(1_250).collect();
    LineReply {
        text: text.join(" + "),
        total,
    }
}

pub(crate) fn surroundings() -> Surroundings {
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

pub(crate) fn repositories() -> Vec<Recent> {
    let recent = |name: &str, is_front, unseen, drifted| Recent {
        name: name.to_owned(),
        path: format!("~/code/{name}"),
        is_front,
        unseen,
        holding: Some((1_284, drifted)),
        conflicts: if name == "api-gateway" { 10 } else { 0 },
        requests: 0,
    };
    vec![
        recent("shop", true, 0, 3),
        recent("payments", false, 12, 1),
        recent("api-gateway", false, 0, 2),
        recent("docs", false, 0, 0),
    ]
}

pub(crate) fn refusal() -> Refusal {
    Refusal::new(
        Code::StoreNewer,
        "this home was written by a newer Engram",
        "Update Engram, or name another home with --home.",
    )
}
