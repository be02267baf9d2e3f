//! The list as a timeline: a lane for each claim, with a bar for each of its versions. Only the
//! lanes on the screen are drawn.

use std::{ops::Range, sync::Arc};

use engram_model::Engram;
use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::{
    VIEW,
    lane::{Lane, LaneContent, VersionBar},
    state::{self, CLOSER, FARTHER},
};
use crate::{
    app::{
        components::inbox::ListBox,
        dom,
        overlay::palette::keycaps,
        state::App,
        views::feed::{self, TOPIC, TopicHeadings, Viewport, engram_row_id, follow_size},
    },
    commands,
    layout::Layout,
    timeline::{Stretch, Tick, lanes},
    words::{self, say},
};

/// Height of a lane (`5-timeline.css` has the same).
const LANE: u32 = 48;
/// Height of the axis, which stays above the lanes (`5-timeline.css` has the same).
const AXIS: u32 = 28;
/// Room beside the axis on each side (`5-timeline.css` has the same).
const BESIDE: u32 = 16;
/// The least room for a label of the axis, in pixels.
const LABEL: u32 = 84;
/// Room for a letter of a label, with its share of the gap before it.
const LETTER: f64 = 9.0;
/// Lanes drawn beyond each edge.
const SPARE: usize = 4;

/// The lanes, where they are, and which of them are on the screen.
#[derive(Clone, Copy)]
struct Lanes {
    app: App,
    viewport: RwSignal<Viewport>,
    node: NodeRef<html::Div>,
    rows: Memo<Vec<Arc<Engram>>>,
    /// The rows of each lane.
    all: Memo<Vec<Range<usize>>>,
    topics: Memo<TopicHeadings>,
    layout: Memo<Layout>,
    window: Memo<Range<usize>>,
    stretch: Memo<Stretch>,
}

impl Lanes {
    fn new(app: App) -> Self {
        let viewport = RwSignal::new(Viewport::default());
        let rows = Memo::new_with_compare(move |_| feed::listed_rows(app), |_, _| true);
        let all = Memo::new(move |_| rows.with(|it| lanes(it)));
        let topics = Memo::new(move |_| {
            if !feed::is_by_topic(app) {
                return TopicHeadings::default();
            }
            let (rows, all) = (rows.read(), all.read());
            let first = |it: &Range<usize>| rows.get(it.start).cloned();
            let firsts: Vec<Arc<Engram>> = all.iter().filter_map(first).collect();
            TopicHeadings::of(&firsts, |_| false)
        });
        let layout = Memo::new(move |_| {
            let topics = topics.read();
            let height = |lane| LANE + topics.above(lane).map_or(0, |_| TOPIC);
            Layout::new((0..all.with(Vec::len)).map(height))
        });
        let window = Memo::new(move |_| {
            let Viewport { scroll, height, .. } = viewport.get();
            layout.with(|it| it.window(scroll, height, SPARE))
        });
        let stretch = Memo::new(move |_| rows.with(|it| state::stretch_of(app, it)));
        let lanes = Self {
            app,
            viewport,
            node: NodeRef::new(),
            rows,
            all,
            topics,
            layout,
            window,
            stretch,
        };
        follow_size(lanes.node, viewport);
        lanes.follow_selection();
        lanes
    }

    /// What the drawn lanes show.
    fn drawn(self) -> Vec<LaneContent> {
        let app = self.app;
        let (rows, all, layout) = (self.rows.read(), self.all.read(), self.layout.read());
        let (topics, now) = (self.topics.read(), app.clock.get().now);
        let window = self.window.get();
        let lane = |(lane, range): (usize, &Range<usize>)| {
            let versions = rows.get(range.clone())?;
            let heading = topics.above(lane);
            let of = versions.len();
            let bars = versions.iter().enumerate().map(|(at, engram)| VersionBar {
                engram: engram.clone(),
                state: app.list.with_feed(|it| it.state(engram, now)),
                version: (of > 1).then_some((of - at, of)),
                row: range.start + at,
            });
            Some(LaneContent {
                bars: bars.collect(),
                topic: heading.map(|it| it.name.clone()),
                top: layout.top(lane) + heading.map_or(0, |_| TOPIC),
                of: rows.len(),
            })
        };
        let drawn = all.get(window.clone()).unwrap_or_default();
        window.zip(drawn).filter_map(lane).collect()
    }

    fn headings(self) -> impl IntoView + use<> {
        let (window, layout, topics) = (self.window.get(), self.layout.read(), self.topics.read());
        let headings = topics.within(&window);
        let heading = |it: &_| feed::view_heading(it, layout.top(it.first_row));
        headings.map(heading).collect_view()
    }

    /// The element of the open version, if it is drawn.
    fn active(self) -> Option<String> {
        let selected = self.app.reading.selected.get()?;
        let (rows, all) = (self.rows.read(), self.all.read());
        let drawn = all.get(self.window.get()).unwrap_or_default();
        let from = drawn.first()?.start;
        let mut drawn = rows.get(from..drawn.last()?.end)?.iter();
        let is_drawn = drawn.any(|it| it.id == selected);
        is_drawn.then(|| engram_row_id(selected))
    }

    fn measure(self) {
        if let Some(element) = self.node.get_untracked() {
            let scroll = element.scroll_top().max(0) as u32;
            self.viewport.update(|it| it.scroll = scroll);
        }
    }

    /// Brings the open version onto the screen: its lane by scrolling, its bar by moving the time.
    fn follow_selection(self) {
        let app = self.app;
        let is_laid_out = Memo::new(move |_| self.viewport.with(|it| it.height > 0));
        Effect::new(move |_| {
            let (Some(id), true) = (app.reading.selected.get(), is_laid_out.get()) else {
                return;
            };
            let (rows, all) = (self.rows.read_untracked(), self.all.read_untracked());
            let Some(row) = rows.iter().position(|it| it.id == id) else {
                return;
            };
            if let Some(engram) = rows.get(row) {
                state::reveal(app, engram);
            }
            let Viewport { scroll, height, .. } = self.viewport.get_untracked();
            let lane = all.partition_point(|it| it.end <= row);
            let to = self
                .layout
                .with_untracked(|it| it.reveal(lane, scroll, height.saturating_sub(AXIS)));
            if let (Some(to), Some(element)) = (to, self.node.get_untracked()) {
                element.set_scroll_top(to as i32);
                self.measure();
            }
        });
    }

    /// Zooms by the wheel with Ctrl, and moves by the wheel with Shift or to the side.
    fn turn(self, event: &ev::WheelEvent) {
        let app = self.app;
        let width = f64::from(self.viewport.with_untracked(|it| it.width).max(1));
        let beside = f64::from(BESIDE);
        let across = match event.delta_x() {
            0.0 if event.shift_key() => event.delta_y(),
            across => across,
        };
        if event.ctrl_key() || event.meta_key() {
            let within = event.current_target();
            let within = within.and_then(|it| it.dyn_into::<HtmlElement>().ok());
            let left = within.map_or(0.0, |it| it.get_bounding_client_rect().left());
            let at = f64::from(event.client_x()) - left - beside;
            let factor = if event.delta_y() < 0.0 {
                CLOSER
            } else {
                FARTHER
            };
            state::zoom_at(app, factor.sqrt(), at / (width - 2.0 * beside).max(1.0));
        } else if across.abs() > event.delta_y().abs() || event.shift_key() {
            state::pan(app, across.signum() * (across.abs() / width).min(0.5));
        } else {
            return;
        }
        event.prevent_default();
    }
}

#[component]
pub(super) fn Timeline() -> impl IntoView {
    let app = App::here();
    let lanes = Lanes::new(app);
    // All that is kept is shown, as in the list.
    Effect::new(move |_| {
        app.list.with_feed(|_| ());
        feed::load_older(app);
    });
    let is_none = Memo::new(move |_| lanes.rows.with(Vec::is_empty));
    let height = move || format!("{}px", lanes.layout.with(Layout::total));
    let label = Signal::derive(|| say::knowledge::TIMELINE_LABEL);
    let drawn = move || lanes.drawn();
    let place = move |at: i64| {
        let stretch = lanes.stretch.get();
        stretch.has(at).then(|| percent(stretch.share(at)))
    };
    let now = move || place(app.clock.get().now.as_second());
    let then = move || place(app.list.held_at()?.as_second());
    view! {
        <feed::End rows=lanes.rows />
        <feed::RankedNote />
        <Stretching stretch=lanes.stretch hidden=is_none />
        <ListBox class="rows timeline" label testid="timeline" is_many=true is_none active=Signal::derive(move || lanes.active()) node=lanes.node
            on:scroll=move |_| lanes.measure() on:wheel=move |event| lanes.turn(&event)>
            <Axis stretch=lanes.stretch viewport=lanes.viewport />
            <div class="sheet" role="presentation" style:height=height style=("--now-at", now) style=("--then-at", then)>
                {move || lanes.headings()}
                <For each=drawn key=LaneContent::key let:lane>
                    <Lane lane stretch=lanes.stretch />
                </For>
            </div>
        </ListBox>
    }
}

/// The stretch in words, and buttons that change it.
#[component]
fn Stretching(stretch: Memo<Stretch>, hidden: Memo<bool>) -> impl IntoView {
    let app = App::here();
    let told = move || state::told(app, stretch.get());
    let button = move |id: &'static str, name: &'static str| {
        let command = VIEW.command(id);
        let title = command.map(|it| commands::tooltip(it, dom::is_mac()));
        let label = command.map(|it| it.title);
        view! { <button class="plain" title=title aria-label=label data-testid=id on:click=move |_| VIEW.run(app, id)>{name}</button> }
    };
    view! {
        <div class="stretch" role="group" aria-label=say::knowledge::WHEN hidden=hidden>
            <span data-testid="stretch">{told}</span>
            <span class="space"></span>
            {button("earlier-times", "←")}
            {button("later-times", "→")}
            {button("farther", "−")}
            {button("closer", "+")}
            <button class="plain" data-testid="all-times" on:click=move |_| VIEW.run(app, "all-times")>{say::knowledge::ALL}" "{keycaps(VIEW.chord("all-times"))}</button>
        </div>
    }
}

/// A place as styles have it.
fn percent(share: f64) -> String {
    format!("{:.3}%", share * 100.0)
}

/// The times above the lanes, with a mark for now and one for the past time that is shown. Each bar
/// says when it held, so screen readers skip this.
#[component]
fn Axis(stretch: Memo<Stretch>, viewport: RwSignal<Viewport>) -> impl IntoView {
    let app = App::here();
    let width = Memo::new(move |_| viewport.with(|it| it.width).saturating_sub(2 * BESIDE));
    let ticks = move || {
        let (stretch, clock, width) = (stretch.get(), app.clock.get(), width.get());
        let tick = |Tick { at, label }| {
            let share = stretch.share(at);
            // Near the end, a line may have no room for its label.
            let room = f64::from(width) * (1.0 - share) + f64::from(BESIDE);
            let label = (room > LETTER * label.len() as f64).then_some(label);
            view! { <i class="tick" style:inset-inline-start=percent(share)><span>{label}</span></i> }
        };
        let ticks = stretch.ticks((width / LABEL).max(1) as usize, clock);
        ticks.into_iter().map(tick).collect_view()
    };
    let mark = move |class: &'static str, at: i64| {
        let stretch = stretch.get();
        let share = stretch.share(at);
        stretch
            .has(at)
            .then(|| view! { <i class=class data-testid=class style:inset-inline-start=percent(share)></i> })
    };
    view! {
        <div class="axis" aria-hidden="true">
            <div class="times">
                {ticks}
                {move || mark("now", app.clock.get().now.as_second())}
                {move || app.list.held_at().and_then(|at| mark("then", at.as_second()))}
            </div>
        </div>
    }
}

/// When a version held, in words.
pub(super) fn when_in_words(app: App, bar: &VersionBar) -> String {
    let clock = app.clock.get_untracked();
    let engram = &bar.engram;
    let at = engram.list_time();
    let from = clock.moment(at);
    let ends = engram.valid_until.into_iter().chain(engram.expires_at);
    let when = match ends.min() {
        Some(end) => say::knowledge::from_to(&from, &clock.moment(end.max(at))),
        None => say::knowledge::since(&from),
    };
    let claim = words::claim(engram);
    say::knowledge::bar(&claim, &when, bar.version, bar.state.word())
}
