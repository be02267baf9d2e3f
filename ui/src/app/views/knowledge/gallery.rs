//! What is known, now and then, for the gallery.

use std::sync::Arc;

use engram_model::{Engram, Filter};
use jiff::SignedDuration;
use leptos::prelude::*;

use super::{VIEW, When, state};
use crate::app::{
    gallery::{Frame, Part, made_up::engrams},
    reading::detail::Detail,
    state::App,
    views::feed::{
        List,
        gallery::{clear_list, full, load},
    },
};

#[component]
pub(crate) fn Exhibits() -> impl IntoView {
    view! {
        <Part title="Knowledge">
            <Frame title="what holds, by topic" set=known><List /></Frame>
            <Frame title="claims that expire soon" set=ending><List /></Frame>
            <Frame title="when claims held" set=timeline is_wide=true><List /></Frame>
            <Frame title="closer, in a narrow pane" set=closer><List /></Frame>
            <Frame title="when claims held, of a time that is past" set=timeline_then><List /></Frame>
            <Frame title="what held then" set=|app| held(app, &engrams())><List /></Frame>
            <Frame title="nothing held then" set=|app| held(app, &[])><List /></Frame>
            <Frame title="on its way" set=held_unread><List /></Frame>
            <Frame title="of now" set=known is_wide=true><When /></Frame>
            <Frame title="of now, as a timeline" set=timeline is_wide=true><When /></Frame>
            <Frame title="a claim that expires soon" set=ending><Detail /></Frame>
            <Frame title="of a time that is past" set=|app| held(app, &engrams()) is_wide=true><When /></Frame>
            <Frame title="a claim as it was" set=|app| held(app, &engrams())><Detail /></Frame>
        </Part>
    }
}

/// Shows what holds, by topic.
fn known(app: App) {
    app.view.set(&VIEW);
    full(app);
}

/// In hours from now when a claim began and ended, its ttl, its topic, and which of the claims it
/// replaced.
type Spec = (
    i64,
    Option<i64>,
    Option<&'static str>,
    &'static str,
    Option<usize>,
);

/// Claims over a month, oldest first: corrected twice, forgotten, with terms, and long ones.
fn over_a_month(app: App) -> Vec<Arc<Engram>> {
    let now = app.clock.get_untracked().now;
    let hours = |hours: i64| now + SignedDuration::from_hours(hours);
    let mut all = engrams();
    let claims: [Spec; 9] = [
        (-700, Some(-420), None, "payments/retries", None),
        (-640, None, None, "payments/ledger", None),
        (-420, Some(-150), None, "payments/retries", Some(0)),
        (-400, Some(-260), None, "auth/sessions", None),
        (-330, Some(-162), Some("P7D"), "auth/sessions", None),
        (-150, None, None, "payments/retries", Some(2)),
        (-156, None, Some("P7D"), "auth/sessions", None),
        (-40, None, Some("P30D"), "payments/ledger", None),
        (-3, None, None, "", None),
    ];
    for (at, (from, to, ttl, topic, before)) in claims.into_iter().enumerate() {
        let before = before
            .and_then(|it| all.get(it))
            .map(|it| (it.id, it.lineage_id));
        let Some(engram) = all.get_mut(at).map(Arc::make_mut) else {
            continue;
        };
        (engram.valid_from, engram.recorded_at) = (hours(from), hours(from));
        engram.valid_until = to.map(hours).filter(|_| ttl.is_none());
        engram.ttl = ttl.and_then(|it| it.parse().ok());
        engram.expires_at = engram
            .ttl
            .as_ref()
            .map(|it| it.expires_at(engram.valid_from));
        engram.topic = topic.to_owned();
        if let Some((id, lineage)) = before {
            (engram.supersedes, engram.lineage_id) = (Some(id), lineage);
        }
        if to.is_none() && ttl.is_some() {
            engram.health = None;
        }
    }
    all
}

/// Shows when claims held, with the second version of one open.
fn timeline(app: App) {
    app.view.set(&VIEW);
    app.list.is_timeline.set(true);
    let all = over_a_month(app);
    load(app, &all, Filter::default());
    app.reading.selected.set(all.get(2).map(|it| it.id));
}

/// Shows the same at a higher zoom, where some bars are not on the screen.
fn closer(app: App) {
    timeline(app);
    for _ in 0..3 {
        state::zoom(app, state::CLOSER);
    }
}

/// Shows the same with a line for a past time.
fn timeline_then(app: App) {
    timeline(app);
    let filter = Filter {
        held_at: Some(app.clock.get_untracked().now - SignedDuration::from_hours(300)),
        ..Filter::default()
    };
    let all = over_a_month(app);
    let at = filter.held_at.unwrap_or_default();
    let held: Vec<_> = all.into_iter().filter(|it| it.holds_at(at)).collect();
    load(app, &held, filter);
    app.reading.selected.set(held.first().map(|it| it.id));
}

/// Shows what holds, with a claim that expires soon; that one is open.
fn ending(app: App) {
    app.view.set(&VIEW);
    let mut all = over_a_month(app);
    all.retain(|it| it.holds_now(app.clock.get_untracked().now));
    load(app, &all, Filter::default());
    let mut soon = all.iter().filter(|it| it.ttl.is_some());
    app.reading.selected.set(soon.next().map(|it| it.id));
}

/// Shows what held when the last of these was stored.
fn held(app: App, all: &[Arc<Engram>]) {
    app.view.set(&VIEW);
    let filter = Filter {
        held_at: engrams().iter().map(|it| it.valid_from).max(),
        ..Filter::default()
    };
    load(app, all, filter);
    app.reading.selected.set(all.first().map(|it| it.id));
}

/// Shows the same while it is on its way.
fn held_unread(app: App) {
    held(app, &[]);
    clear_list(app);
}
