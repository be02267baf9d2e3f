//! Conflicts in every state, for the gallery and for tests.

use engram_model::{
    Code, Conflict, ConflictFilter, ConflictStatus, ConflictsReply, Listed, PairAnswer,
    PairVerdict, Refusal, Tier,
};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{
    VIEW, chosen::ChosenConflictsBar, detail::Detail, list::List, merge::begin_merge, queue::Queue,
    state::current_conflict, verdict_kind::ConflictVerdict,
};
use crate::app::{
    dom,
    gallery::{
        Frame, Part,
        made_up::{EDITED, refusal},
        set,
    },
    state::App,
};

#[component]
pub(crate) fn Exhibits() -> impl IntoView {
    view! {
        <Part title="Conflicts">
            <Frame title="by topic, the worst first" set=|app| show(app, 0)><List /></Frame>
            <Frame title="possible ones, the nearest first" set=possible><List /></Frame>
            <Frame title="several are selected" set=several><List /></Frame>
            <Frame title="none is open" set=none><List /></Frame>
            <Frame title="filtered to nothing" set=none_such><List /></Frame>
            <Frame title="on their way" set=|app| unread(app, None)><List /></Frame>
            <Frame title="not read" set=|app| unread(app, Some(refusal()))><List /></Frame>
        </Part>
        <Part title="One conflict">
            <Frame title="numbers differ" set=|app| show(app, 0) is_wide=true><Detail /></Frame>
            <Frame title="a possible one" set=possible is_wide=true><Detail /></Frame>
            <Frame title="in little room, right to left, allowed" set=|app| show(app, 3)><Detail /></Frame>
            <Frame title="one wording for both" set=merging is_wide=true><Detail /></Frame>
            <Frame title="a reason is asked for" set=allowing is_wide=true><Detail /></Frame>
            <Frame title="somebody else was first" set=judged_before is_wide=true><Detail /></Frame>
            <Frame title="settled" set=|app| show(app, 4) is_wide=true><Detail /></Frame>
            <Frame title="closed by itself, and erased" set=|app| show(app, 5) is_wide=true><Detail /></Frame>
            <Frame title="several at once" set=several is_wide=true><ChosenConflictsBar /></Frame>
        </Part>
    }
}

/// Status, severity, tier, topic, reason, and both claims; the part between bars differs.
const MADE_UP: [[&str; 7]; 6] = [
    [
        "open",
        "high",
        "tier2_numeric",
        "auth",
        "1,000 per second is not 2,000 per second.",
        "The auth service allows |1000 req/s| per IP.",
        "Auth is limited to |2k requests per second| per IP.",
    ],
    [
        "open",
        "medium",
        "tier2_temporal",
        "auth",
        "One says that it is gone, the other that it is there.",
        "Sessions are |still| kept in `redis`.",
        "Sessions are |no longer| kept in `redis`.",
    ],
    [
        "open",
        "medium",
        "tier2b_cross_scope",
        "payments",
        "What holds for all services holds for payments.",
        "All services use |MySQL|.",
        "Payments are stored in |PostgreSQL|, which is set up with two replicas in the same region.",
    ],
    [
        "open",
        "low",
        "tier0_entity",
        "",
        "`true` is not `false`.",
        "הדגל `retry.jitter` הוא |true|",
        "הדגל `retry.jitter` הוא |false|",
    ],
    [
        "resolved",
        "high",
        "tier3_llm",
        "",
        "A call that waits cannot be refused.",
        "A call waits until the lock is free.",
        "A call is refused while the lock is held.",
    ],
    ["closed", "low", "tier1_nli", "", "", "", ""],
];

/// A conflict of each tier and severity, in three topics; two of them do not wait for a verdict.
pub(crate) fn all() -> Vec<Conflict> {
    let now = dom::clock().now;
    let all = MADE_UP.iter().zip(901..).map(
        |([status, severity, tier, topic, why, a, b], number)| {
            let settled = (*status == "resolved").then(
                || json!({"how": "winner", "by": "user", "at": now, "why": "Measured under load."}),
            );
            let allowed = (number == 904).then(
                || json!({"by": "user", "at": now, "why": "Both are in use until the migration."}),
            );
            json!({
                "id": id(number), "status": status, "severity": severity, "tier": tier, "score": if tier.ends_with("entity") { None } else { Some(0.92) }, "why": why, "found_at": now,
                "a": side(number + 10, "programmer-1", EDITED, 0.9, topic, a),
                "b": side(number + 20, "programmer-3", "src/delay.rs", 0.7, topic, b),
                "risk": null, "settled": settled, "allowed": allowed
            })
        },
    );
    serde_json::from_value(Value::Array(all.collect())).unwrap_or_default()
}

fn id(number: usize) -> String {
    format!("{number:026}")
}

fn side(number: usize, by: &str, file: &str, confidence: f64, topic: &str, claim: &str) -> Value {
    let bars = claim.chars().enumerate().filter(|it| it.1 == '|');
    let bars: Vec<usize> = bars.map(|it| it.0).collect();
    let differs: Vec<(usize, usize)> = match bars[..] {
        [from, to] => vec![(from, to - 1)],
        _ => Vec::new(),
    };
    json!({
        "id": id(number), "lineage_id": id(number), "claim": claim.replace('|', ""), "differs": differs,
        "topic": topic, "by": by, "created_at": dom::clock().now, "confidence": confidence, "fact_type": "observation",
        "verified": confidence > 0.5, "valid_until": null,
        "pointers": [{"type": "repo", "ref": format!("{file}@HEAD"), "span": "L9-L15"}]
    })
}

/// Lists the conflicts and opens the one at this index.
fn show(app: App, at: usize) {
    set::status(app, 0);
    app.view.set(&VIEW);
    let conflicts = all();
    let open = conflicts.get(at).map(|it| it.id);
    app.views.conflicts.inbox.open.set(open);
    app.views
        .conflicts
        .queue
        .set(Some(Queue::of(ConflictsReply {
            open: 4,
            conflicts,
            omitted: None,
            ..ConflictsReply::default()
        })));
}

/// Lists possible conflicts; an agent called the second one compatible.
fn possible(app: App) {
    show(app, 0);
    let mut conflicts = all();
    conflicts.truncate(4);
    for (at, conflict) in conflicts.iter_mut().enumerate() {
        conflict.status = ConflictStatus::Possible;
        conflict.tier = Tier::Agent;
        conflict.score = Some(0.97 - 0.05 * at as f64);
        if at == 1 {
            conflict.judged = vec![PairAnswer {
                by: "reviewer".to_owned(),
                verdict: PairVerdict::Compatible,
                sure: None,
                at: dom::clock().now,
                why: Some("One is about reads, the other about writes.".to_owned()),
            }];
        }
    }
    let open = conflicts.get(1).map(|it| it.id);
    let queue = Queue::of(ConflictsReply {
        possible: 4,
        conflicts,
        ..ConflictsReply::default()
    });
    app.views.conflicts.queue.set(Some(queue));
    app.views.conflicts.inbox.open.set(open);
    let filter = app.views.conflicts.filter;
    filter.update(|it| it.status = Listed::Possible);
}

/// Shows a wording of both claims being written.
fn merging(app: App) {
    show(app, 0);
    if let Some(conflict) = untrack(|| current_conflict(app)) {
        begin_merge(app, &conflict);
    }
}

/// Shows a verdict that waits for its reason.
fn allowing(app: App) {
    show(app, 1);
    app.views.conflicts.wants_reason.set(true);
}

/// Shows a refused verdict.
fn judged_before(app: App) {
    show(app, 0);
    app.views.conflicts.verdict_refused.set(Some(Refusal::new(
        Code::AlreadySettled,
        "this conflict was settled by programmer-2",
        "Read the verdict; undo it to give another.",
    )));
}

/// Shows some selected rows.
fn several(app: App) {
    show(app, 0);
    let rows = app.views.conflicts.queue.with_untracked(|queue| {
        let rows = queue.iter().flat_map(Queue::rows);
        rows.take(3).cloned().collect::<Vec<_>>()
    });
    app.views
        .conflicts
        .chosen
        .update(|it| it.add(&rows, |it| ConflictVerdict::First.fits(it)));
}

/// Shows a list in which nothing waits.
fn none(app: App) {
    set::status(app, 0);
    app.view.set(&VIEW);
    app.views.conflicts.queue.set(Some(Queue::default()));
}

/// Shows a list that the filter leaves empty.
fn none_such(app: App) {
    none(app);
    app.views.conflicts.filter.set(ConflictFilter {
        topic: Some("payments/webhooks".to_owned()),
        status: Listed::Dismissed,
        ..ConflictFilter::default()
    });
}

/// Shows a list that is on its way or was refused.
fn unread(app: App, refusal: Option<Refusal>) {
    app.view.set(&VIEW);
    app.views.conflicts.inbox.refused.set(refusal);
}
