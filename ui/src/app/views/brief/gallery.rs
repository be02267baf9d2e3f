//! The brief in every state, for the gallery.

use engram_model::{Code, Refusal, ShownBrief};
use leptos::prelude::*;
use serde_json::json;

use super::{VIEW, detail::Detail, list::List, pins::write_line, state::current_line};
use crate::app::{
    gallery::{Frame, Part, made_up::refusal, set},
    state::App,
};

#[component]
pub(crate) fn Exhibits() -> impl IntoView {
    view! {
        <Part title="Brief">
            <Frame title="each part" set=|app| show(app, "jitter")><List /></Frame>
            <Frame title="a line is written" set=writing><List /></Frame>
            <Frame title="it could not be pinned" set=unpinned><List /></Frame>
            <Frame title="empty" set=none><List /></Frame>
            <Frame title="on its way" set=|app| unread(app, None)><List /></Frame>
            <Frame title="not read" set=|app| unread(app, Some(refusal()))><List /></Frame>
            <Frame title="a claim" set=|app| show(app, "jitter") is_wide=true><Detail /></Frame>
            <Frame title="a pinned line" set=|app| show(app, "Ship")><Detail /></Frame>
        </Part>
    }
}

/// Shows a brief with a line of each part, and opens the line with these words.
fn show(app: App, open: &str) {
    set::status(app, 0);
    app.view.set(&VIEW);
    let line = |part: &str, text: &str, engram: bool, pinned: bool| {
        let pointers = if engram {
            json!(["repo:src/retry.rs#L9-L15@HEAD"])
        } else {
            json!([])
        };
        let mut line = json!({"text": text, "part": part, "pointers": pointers, "pinned": pinned});
        if pinned {
            line["pin"] = json!(7);
            line["sent"] =
                json!([{"name": "programmer-1", "agent": "p1", "at": "2026-11-22T11:58:00Z"}]);
        }
        if part == "todo" {
            line["is_todo"] = json!(true);
        }
        if engram {
            line["engram"] = json!(format!("{:026}", 7));
        }
        line
    };
    let shown = json!({"most_lines": 30, "most_tokens": 800, "tokens": 284, "lines": [
        line("pin", "Ship on Friday.", false, true),
        line("pin", "constraint by architect: \"The ledger's lock is never held across a call.\"", true, true),
        line("todo", "todo by user: \"Find out who calls settle().\"", true, false),
        line("matter", "decision by programmer-1: \"Retries use full jitter, 20 s at most; whoever waits longer gives up and leaves the payment to a person.\"", true, false),
        line("constraint", "constraint by architect: \"No network.\"", true, false),
        line("risk", "risk by reviewer: \"settle() trusts the amount that the gateway sends back.\"", true, false),
        line("risk", "risk by מתכנת-2: \"הקובץ retry.rs קורא ל-delay פעמיים.\"", true, false),
        line("pointer", "programmer: repo:src/retry.rs#L9-L15", true, false),
        line("budget", "programmer-1: repo_spans 2/3, tokens 412/1200", false, false),
        line("grant", "programmer-1 may read repo:src/ledger.rs, at most 500 tokens", false, false),
    ]});
    let shown: Option<ShownBrief> = serde_json::from_value(shown).ok();
    let mut lines = shown.iter().flat_map(|it| &it.brief.lines);
    let open = lines.find(|it| it.text.contains(open));
    let open = open.map(|it| it.text.clone());
    app.views.brief.known.set(shown);
    app.views.brief.inbox.open.set(open);
}

/// Shows a line being written.
fn writing(app: App) {
    show(app, "Ship");
    write_line(app, untrack(|| current_line(app)));
}

/// Shows a line that could not be pinned.
fn unpinned(app: App) {
    writing(app);
    app.views.brief.pin_refused.set(Some(Refusal::new(
        Code::BudgetExceeded,
        "the pins take half of the brief's lines already",
        "Unpin a line first.",
    )));
}

/// Shows a brief that is empty, on its way, or refused.
fn none(app: App) {
    set::status(app, 0);
    app.view.set(&VIEW);
    app.views.brief.known.set(Some(ShownBrief {
        most_lines: 30,
        most_tokens: 800,
        ..ShownBrief::default()
    }));
}

fn unread(app: App, refusal: Option<Refusal>) {
    app.view.set(&VIEW);
    app.views.brief.inbox.refused.set(refusal);
}
