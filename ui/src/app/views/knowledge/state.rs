//! The stretch of time that the timeline shows, and what moves it.

use std::sync::Arc;

use engram_model::Engram;
use leptos::prelude::*;

use crate::{
    app::{part::part, reading, state::App, views::feed},
    timeline::{Bar, Stretch},
    words::say,
};

/// How much a key or the wheel changes the length of the stretch.
pub(super) const CLOSER: f64 = 0.5;
pub(super) const FARTHER: f64 = 2.0;
/// How far a key moves the stretch, in its own lengths.
pub(super) const PAN: f64 = 0.25;

part! {
    /// The timeline.
    pub(crate) struct Knowledge {
        anew {
            /// The stretch on the screen; none for all claims.
            stretch: RwSignal<Option<Stretch>> = None,
        }
        stays {}
    }
}

/// Returns the stretch on the screen.
pub(super) fn stretch_of(app: App, rows: &[Arc<Engram>]) -> Stretch {
    let chosen = app.views.knowledge.stretch.get();
    chosen.unwrap_or_else(|| Stretch::of_all(rows, app.clock.get().now))
}

fn stretch_now(app: App) -> Stretch {
    untrack(|| stretch_of(app, &feed::listed_rows(app)))
}

fn show(app: App, stretch: Stretch) {
    if stretch != stretch_now(app) {
        app.views.knowledge.stretch.set(Some(stretch));
    }
    app.frame.announcement.set(told(app, stretch));
}

/// The stretch in words.
pub(super) fn told(app: App, stretch: Stretch) -> String {
    let clock = app.clock.get_untracked();
    let (from, to) = (stretch.from(), stretch.to());
    let end = if clock.day(from) == clock.day(to) {
        clock.time_or_day(to)
    } else {
        clock.moment(to)
    };
    say::knowledge::stretch(&clock.moment(from), &end)
}

/// Zooms, where what the person looks at keeps its place: now, if the open claim holds or none is
/// open; else the open claim, else the middle.
pub(super) fn zoom(app: App, factor: f64) {
    let stretch = stretch_now(app);
    let now = app.clock.get_untracked().now.as_second();
    let open = untrack(|| reading::current_engram(app)).map(|it| Bar::of(&it));
    let holds = |bar: &Bar| bar.from <= now && bar.to.is_none_or(|to| to > now);
    let is_now_open = stretch.has(now) && open.as_ref().is_some_and(holds);
    let open = open.filter(|_| !is_now_open).and_then(|bar| {
        let (from, to) = (bar.from, bar.to.unwrap_or(now));
        let [from, to] = [from, to].map(|it| it.clamp(stretch.at(0.0), stretch.at(1.0)));
        let middle = from + (to - from) / 2;
        (stretch.showing(bar) == stretch).then_some(middle)
    });
    let now = Some(now).filter(|it| stretch.has(*it));
    let around = open.or(now).unwrap_or_else(|| stretch.at(0.5));
    show(app, stretch.zoomed(factor, around));
}

/// Zooms around a place of the screen: 0 is its beginning, 1 its end.
pub(super) fn zoom_at(app: App, factor: f64, share: f64) {
    let stretch = stretch_now(app);
    show(app, stretch.zoomed(factor, stretch.at(share)));
}

/// Moves the stretch by this many of its lengths.
pub(super) fn pan(app: App, lengths: f64) {
    show(app, stretch_now(app).panned(lengths));
}

/// Shows all claims.
pub(super) fn show_all(app: App) {
    app.views.knowledge.stretch.set(None);
    app.frame.announcement.set(told(app, stretch_now(app)));
}

/// Moves the stretch so that a claim is on the screen.
pub(super) fn reveal(app: App, engram: &Engram) {
    let stretch = stretch_now(app);
    let moved = stretch.showing(Bar::of(engram));
    if moved != stretch {
        app.views.knowledge.stretch.set(Some(moved));
    }
}
