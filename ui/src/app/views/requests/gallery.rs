//! Requests in every state, for the gallery and for tests.

use engram_model::{Code, Refusal, RequestTold};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{VIEW, detail::Detail, list::List, request::sort_requests};
use crate::app::{
    dom,
    gallery::{Frame, Part, made_up::refusal, set},
    state::App,
};

#[component]
pub(crate) fn Exhibits() -> impl IntoView {
    view! {
        <Part title="Requests">
            <Frame title="those that wait, and what was answered" set=|app| show(app, 801)><List /></Frame>
            <Frame title="nobody asked" set=none><List /></Frame>
            <Frame title="on their way" set=|app| unread(app, None)><List /></Frame>
            <Frame title="not read" set=|app| unread(app, Some(refusal()))><List /></Frame>
        </Part>
        <Part title="One request">
            <Frame title="it waits" set=|app| show(app, 801) is_wide=true><Detail /></Frame>
            <Frame title="in little room, right to left" set=|app| show(app, 802)><Detail /></Frame>
            <Frame title="a denial waits for its reason" set=denying is_wide=true><Detail /></Frame>
            <Frame title="somebody else was first" set=answered_before is_wide=true><Detail /></Frame>
            <Frame title="granted" set=|app| show(app, 803) is_wide=true><Detail /></Frame>
            <Frame title="denied" set=|app| show(app, 807)><Detail /></Frame>
            <Frame title="erased" set=|app| show(app, 808)><Detail /></Frame>
        </Part>
    }
}

fn request(number: usize, state: &str, more: &Value) -> Value {
    let now = dom::clock().now;
    let mut request = json!({
        "id": format!("{number:026}"), "agent": "programmer-1", "label": "programmer-1", "role": "programmer",
        "parent": "manager", "asked_at": now, "pointer": "repo:src/retry.rs#L9-L15@HEAD",
        "reason": "Need to confirm that the jitter is full before the claim goes out.",
        "intended_use": "The claim on retries rests on it.", "tokens": 820, "state": state,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        request[name] = value.clone();
    }
    request
}

pub(crate) fn all() -> Vec<RequestTold> {
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
    sort_requests(serde_json::from_value(all).unwrap_or_default())
}

/// Lists the requests and opens this one.
fn show(app: App, number: usize) {
    set::status(app, 0);
    app.view.set(&VIEW);
    app.views.requests.known.set(Some(all()));
    app.views
        .requests
        .inbox
        .open
        .set(Some(format!("{number:026}")));
}

/// Shows a denial that waits for its reason.
fn denying(app: App) {
    show(app, 801);
    app.views.requests.wants_reason.set(true);
}

/// Shows a refused answer.
fn answered_before(app: App) {
    show(app, 801);
    app.views.requests.answer_refused.set(Some(Refusal::new(
        Code::NotFound,
        "the request was granted already",
        "Nothing was changed: only a waiting request can be answered.",
    )));
}

/// Shows a list that is empty, on its way, or refused.
fn none(app: App) {
    set::status(app, 0);
    app.view.set(&VIEW);
    app.views.requests.known.set(Some(Vec::new()));
}

fn unread(app: App, refusal: Option<Refusal>) {
    app.view.set(&VIEW);
    app.views.requests.inbox.refused.set(refusal);
}
