//! What the gallery shows of agents that work together: requests in every state, and a brief.

use engram_model::{Refusal, RequestTold, ShownBrief};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::set::status;
use crate::app::{
    dom,
    state::App,
    views::{
        brief,
        requests::{self, asked::in_order},
    },
};

fn request(number: usize, state: &str, more: &Value) -> Value {
    let now = dom::clock().now;
    let mut it = json!({
        "id": format!("{number:026}"), "agent": "programmer-1", "label": "programmer-1", "role": "programmer",
        "parent": "manager", "asked_at": now, "pointer": "repo:src/retry.rs#L9-L15@HEAD",
        "reason": "Need to confirm that the jitter is full before the claim goes out.",
        "intended_use": "The claim on retries rests on it.", "tokens": 820, "state": state,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        it[name] = value.clone();
    }
    it
}

pub(in crate::app) fn all() -> Vec<RequestTold> {
    let now = dom::clock().now;
    let answer = json!({"by": "user", "at": now});
    let granted = |number: usize, state: &str| {
        let until = if state == "open" {
            "2100-01-01T00:00:00Z"
        } else {
            "2026-01-01T00:00:00Z"
        };
        let grant = json!({
            "id": "1", "to": "programmer-1", "pointer": "repo:src/retry.rs@HEAD", "cap_tokens": 500,
            "expires_at": until, "by": null, "state": state,
        });
        request(
            number,
            "granted",
            &json!({"answer": answer, "grant": grant}),
        )
    };
    let hebrew = json!({
        "label": "מתכנת-2", "reason": "צריך לאשר שה-`delay(attempt)` מלא.", "role": null, "parent": null,
        "intended_use": "", "tokens": 90,
    });
    let denied = json!({"answer": answer, "why": "The claims on retries say it."});
    let erased = json!({"answer": answer, "pointer": "", "reason": "", "intended_use": ""});
    let all = json!([
        request(801, "waiting", &json!({})),
        request(802, "waiting", &hebrew),
        granted(803, "open"),
        granted(804, "spent"),
        granted(805, "expired"),
        granted(806, "revoked"),
        request(807, "denied", &denied),
        request(808, "denied", &erased),
    ]);
    in_order(serde_json::from_value(all).unwrap_or_default())
}

/// The requests, this one open.
pub(super) fn requests(app: App, number: usize) {
    status(app, 0);
    app.view.set(&requests::VIEW);
    app.views.requests.known.set(Some(all()));
    app.views
        .requests
        .inbox
        .open
        .set(Some(format!("{number:026}")));
}

/// A denial waits for its reason.
pub(super) fn denying(app: App) {
    requests(app, 801);
    app.views.requests.wants_reason.set(true);
}

/// An answer was refused.
pub(super) fn answered_before(app: App) {
    requests(app, 801);
    app.views.requests.answer_refused.set(Some(Refusal::new(
        engram_model::Code::NotFound,
        "the request was granted already",
        "Nothing was changed: only a waiting request can be answered.",
    )));
}

/// Nobody asked for anything, or the list is on its way, or was refused.
pub(super) fn no_requests(app: App) {
    status(app, 0);
    app.view.set(&requests::VIEW);
    app.views.requests.known.set(Some(Vec::new()));
}

pub(super) fn unread_requests(app: App, refusal: Option<Refusal>) {
    app.view.set(&requests::VIEW);
    app.views.requests.inbox.refused.set(refusal);
}

/// A brief with a line of each part, the one with these words open.
pub(super) fn brief(app: App, open: &str) {
    status(app, 0);
    app.view.set(&brief::VIEW);
    let line = |part: &str, text: &str, engram: bool, pinned: bool| {
        let pointers = if engram {
            json!(["repo:src/retry.rs#L9-L15@HEAD"])
        } else {
            json!([])
        };
        let mut it = json!({"text": text, "part": part, "pointers": pointers, "pinned": pinned});
        if pinned {
            it["pin"] = json!(7);
        }
        if engram {
            it["engram"] = json!(format!("{:026}", 7));
        }
        it
    };
    let shown = json!({"most_lines": 30, "most_tokens": 800, "tokens": 284, "lines": [
        line("pin", "Ship on Friday.", false, true),
        line("pin", "constraint by architect: \"The ledger's lock is never held across a call.\"", true, true),
        line("matter", "decision by programmer-1: \"Retries use full jitter, 20 s at most; whoever waits longer gives up and leaves the payment to a person.\"", true, false),
        line("constraint", "constraint by architect: \"No network.\"", true, false),
        line("risk", "risk by reviewer: \"settle() trusts the amount that the gateway sends back.\"", true, false),
        line("risk", "risk by מתכנת-2: \"הקובץ retry.rs קורא ל-delay פעמיים.\"", true, false),
        line("pointer", "programmer: repo:src/retry.rs#L9-L15", true, false),
        line("budget", "programmer-1: repo_spans 2/3, tokens 412/1200", false, false),
        line("grant", "programmer-1 may read repo:src/ledger.rs, at most 500 tokens", false, false),
    ]});
    let shown: Option<ShownBrief> = serde_json::from_value(shown).ok();
    let first = shown.as_ref().and_then(|it| {
        let found = it.brief.lines.iter().find(|it| it.text.contains(open));
        found.map(|it| it.text.clone())
    });
    app.views.brief.known.set(shown);
    app.views.brief.inbox.open.set(first);
}

/// A line is written.
pub(super) fn writing(app: App) {
    brief(app, "Ship");
    brief::write_line(app, untrack(|| brief::line(app)));
}

/// It could not be pinned.
pub(super) fn unpinned(app: App) {
    writing(app);
    app.views.brief.pin_refused.set(Some(Refusal::new(
        engram_model::Code::BudgetExceeded,
        "the pins take half of the brief's lines already",
        "Unpin a line first.",
    )));
}

/// Nothing is in it, or it is on its way, or was refused.
pub(super) fn no_brief(app: App) {
    status(app, 0);
    app.view.set(&brief::VIEW);
    app.views.brief.known.set(Some(ShownBrief {
        most_lines: 30,
        most_tokens: 800,
        ..ShownBrief::default()
    }));
}

pub(super) fn unread_brief(app: App, refusal: Option<Refusal>) {
    app.view.set(&brief::VIEW);
    app.views.brief.inbox.refused.set(refusal);
}
