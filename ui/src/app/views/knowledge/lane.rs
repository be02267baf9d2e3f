//! One lane of the timeline: the claim, and below it a bar for each version.

use std::sync::Arc;

use engram_model::Engram;
use leptos::{ev, prelude::*};

use super::timeline::when_in_words;
use crate::{
    app::{
        components::prose,
        dom,
        state::App,
        views::feed::{self, engram_row_id},
    },
    timeline::{Bar, Stretch},
    words::{self, State, ending, say},
};

/// A version of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VersionBar {
    pub(super) engram: Arc<Engram>,
    pub(super) state: State,
    /// Its number and how many versions there are, if there are several.
    pub(super) version: Option<(usize, usize)>,
    /// Its row in the list.
    pub(super) row: usize,
}

/// What a lane shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LaneContent {
    /// The versions, newest first.
    pub(super) bars: Vec<VersionBar>,
    /// The topic that begins with this lane.
    pub(super) topic: Option<String>,
    /// Pixels from the top of the lanes.
    pub(super) top: u32,
    /// How many versions the list has.
    pub(super) of: usize,
}

/// What a lane is drawn for: another version, state or place draws it anew.
type LaneKey = (
    u32,
    usize,
    Option<String>,
    Vec<(engram_model::EngramId, String)>,
);

impl LaneContent {
    /// Returns what a lane is drawn for.
    pub(super) fn key(&self) -> LaneKey {
        let key = |bar: &VersionBar| {
            let ends = (bar.engram.valid_until, bar.engram.expires_at);
            (
                bar.engram.id,
                format!("{:?} {ends:?} {}", bar.state, bar.row),
            )
        };
        (
            self.top,
            self.of,
            self.topic.clone(),
            self.bars.iter().map(key).collect(),
        )
    }
}

#[component]
pub(super) fn Lane(lane: LaneContent, stretch: Memo<Stretch>) -> impl IntoView {
    let app = App::here();
    let LaneContent {
        bars,
        topic,
        top,
        of,
    } = lane;
    let ids: Vec<_> = bars.iter().map(|it| it.engram.id).collect();
    let is_open = Memo::new(move |_| {
        app.reading
            .selected
            .get()
            .is_some_and(|it| ids.contains(&it))
    });
    let newest = bars.first().cloned();
    let id = newest.as_ref().map(|it| it.engram.id);
    let open = move |event: ev::MouseEvent| {
        if let Some(id) = id {
            feed::press_row(app, id, &event);
        }
    };
    let label = newest.as_ref().map(|it| words::claim(&it.engram));
    let label = match topic {
        Some(topic) => format!(
            "{}{}",
            say::knowledge::topic(&topic),
            label.unwrap_or_default()
        ),
        None => label.unwrap_or_default(),
    };
    let whens: Vec<Bar> = bars.iter().map(|it| Bar::of(&it.engram)).collect();
    // Where to look for a claim whose bars are not on the screen.
    let beyond = move || {
        let stretch = stretch.get();
        let is_before = |it: &Bar| it.to.is_some_and(|to| stretch.share(to) < 0.0);
        let is_after = |it: &Bar| stretch.share(it.from) > 1.0;
        match &whens {
            all if all.iter().all(is_before) => Some(("beyond before", "←")),
            all if all.iter().all(is_after) => Some(("beyond after", "→")),
            _ => None,
        }
    };
    let beyond = Memo::new(move |_| beyond());
    let beyond = move || {
        beyond
            .get()
            .map(|(class, sign)| view! { <i class=class aria-hidden="true">{sign}</i> })
    };
    let versions = bars.into_iter().map(|bar| view_bar(app, bar, of, stretch));
    view! {
        <div class="lane" role="group" aria-label=label class:selected=is_open data-testid="lane" style:transform=format!("translateY({top}px)")
            on:mousedown=dom::prevent_text_selection on:click=open>
            {newest.map(|it| view_claim(app, &it))}
            <div class="track" role="presentation">{beyond}{versions.collect_view()}</div>
        </div>
    }
}

/// The newest words of the claim, and what became of it.
fn view_claim(app: App, bar: &VersionBar) -> impl IntoView + use<> {
    let engram = &bar.engram;
    let clock = app.clock.get_untracked();
    let claim = prose::claim(&words::claim(engram), &[]);
    let is_over = !bar.state.holds();
    let ends = ending::ends_soon(engram, clock.now).filter(|_| !app.list.is_past());
    let ends = ends.map(|it| say::state::expires_in(&clock.until(it)));
    view! {
        <div class="said" aria-hidden="true">
            <p class:closed=is_over dir=claim.direction>{claim.text}</p>
            {bar.state.word().map(|it| view! { <span class="word gone">{it}</span> })}
            {ends.map(|it| view! { <span class="word warn" data-testid="ends">{it}</span> })}
        </div>
    }
}

fn view_bar(app: App, bar: VersionBar, of: usize, stretch: Memo<Stretch>) -> impl IntoView {
    let id = bar.engram.id;
    let when = Bar::of(&bar.engram);
    let label = when_in_words(app, &bar);
    let is_open = Memo::new(move |_| app.reading.selected.get() == Some(id));
    let is_chosen = Memo::new(move |_| app.list.choice.has(id));
    let is_any_chosen = move || app.list.choice.is_any();
    let is_selected = move || {
        if is_any_chosen() {
            is_chosen.get()
        } else {
            is_open.get()
        }
    };
    // Beyond the edges, nothing is drawn.
    let ends = Memo::new(move |_| {
        let stretch = stretch.get();
        let to = when.to.map_or(1.0, |it| stretch.share(it));
        let (from, to) = (stretch.share(when.from).max(-0.01), to.min(1.01));
        (from <= 1.0 && to >= 0.0).then(|| (from, to.max(from)))
    });
    let place = move || ends.get().map(|(from, _)| format!("{:.3}%", from * 100.0));
    let width = move || {
        ends.get()
            .map(|(from, to)| format!("{:.3}%", (to - from) * 100.0))
    };
    // What is still to come is drawn lighter.
    let now = move || {
        let (from, to) = ends.get()?;
        let now = stretch.get().share(app.clock.get().now.as_second());
        let share = (now - from) / (to - from).max(f64::EPSILON);
        Some(format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0))
    };
    let soon = ending::ends_soon(&bar.engram, app.clock.get_untracked().now).is_some();
    let press = move |event: ev::MouseEvent| {
        event.stop_propagation();
        feed::press_row(app, id, &event);
    };
    view! {
        <div class="bar-of" id=engram_row_id(id) role="option" aria-label=label.clone() title=label data-testid="bar" data-id=id.to_string()
            class:holds=bar.state.holds() class:endless=when.to.is_none() class:soon=soon class:selected=is_open class:chosen=is_chosen
            hidden=move || ends.get().is_none()
            style:inset-inline-start=place style:width=width style=("--now", now)
            aria-selected=move || is_selected().to_string()
            aria-posinset=(bar.row + 1).to_string() aria-setsize=of.to_string()
            on:click=press></div>
    }
}
