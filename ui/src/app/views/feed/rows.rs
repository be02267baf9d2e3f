//! The rows of the list: where each is, and which are on the screen; only those are drawn.

use std::{ops::Range, sync::Arc};

use engram_model::Engram;
use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*};

use super::{
    empty,
    heights::{self, RowHeights},
    ranked::RankedNote,
    row::{self, Row, RowContent, RowSlots, ShownAt},
    scroll::{Scroller, Viewport},
    topics::{TopicHeading, TopicHeadings},
};
use crate::{
    app::{
        components::inbox::ListBox,
        engine::stale,
        state::App,
        views::feed::{look, pages, state},
    },
    feed::is_own,
    layout::Layout,
    words::{self, ending, say},
};

/// Rows drawn beyond each edge.
const SPARE: usize = 6;
/// How many rows before the end older engrams are requested.
const NEAR_END: usize = 40;

#[component]
pub(super) fn Rows() -> impl IntoView {
    let app = App::here();
    let rows = RowLayout::new(app);
    let slots = StoredValue::new(RowSlots::default());
    let drawn = move || {
        let drawn = rows.drawn();
        let filled = slots.try_update_value(|slots| slots.fill(drawn));
        filled.unwrap_or_default()
    };
    let scroller = Scroller::new(app, rows);
    // A key means that the pointer is not in use.
    let keys = window_event_listener(ev::keydown, move |event| {
        if !matches!(event.key().as_str(), "Shift" | "Control" | "Alt" | "Meta") {
            look::point_off_rows(app);
        }
    });
    on_cleanup(move || {
        keys.remove();
        look::point_off_rows(app);
    });
    rows.load_near_ends();
    let shown_at = ShownAt::new();
    let is_none = Memo::new(move |_| rows.engrams.with(Vec::is_empty));
    let label = move || {
        if app.list.feed.with(|it| it.ranked().is_some()) {
            say::list::RANKED_LABEL
        } else if rows.by_topic.get() {
            say::knowledge::LABEL
        } else {
            say::list::LABEL
        }
    };
    view! {
        <empty::End rows=rows.engrams />
        <RankedNote />
        <ListBox class="rows" label=Signal::derive(label) testid="feed" is_many=true is_none active=Signal::derive(move || rows.active()) node=scroller.node
            on:scroll=move |_| scroller.measure() on:pointermove=move |event| look::point_at_rows(app, &event) on:pointerleave=move |_| look::point_off_rows(app)>
            <div class="sheet" role="presentation" style:height=move || format!("{}px", rows.layout.with(Layout::total))>
                {move || rows.new_since()}
                {move || rows.headings()}
                <For each=drawn key=|(number, _)| *number let((_number, row))>
                    <Row row shown_at />
                </For>
            </div>
        </ListBox>
    }
}

/// The rows, where they are, and which of them are on the screen.
#[derive(Clone, Copy)]
pub(super) struct RowLayout {
    app: App,
    pub(super) viewport: RwSignal<Viewport>,
    pub(super) engrams: Memo<Vec<Arc<Engram>>>,
    pub(super) by_topic: Memo<bool>,
    topics: Memo<TopicHeadings>,
    /// How many rows are new; they come first.
    new: Memo<usize>,
    /// The first row below the line, if some rows are new and some are not.
    first_seen: Memo<Option<usize>>,
    pub(super) layout: Memo<Layout>,
    /// The rows to draw.
    window: Memo<Range<usize>>,
}

impl RowLayout {
    fn new(app: App) -> Self {
        let viewport = RwSignal::new(Viewport::default());
        let engrams = Memo::new_with_compare(move |_| state::listed_rows(app), |_, _| true);
        let new = Memo::new(move |_| {
            let feed = app.list.feed.read();
            if app.view.get().by_topic {
                0
            } else {
                app.list.look.count_new(&feed)
            }
        });
        let by_topic = Memo::new(move |_| state::is_by_topic(app));
        let topics = Memo::new(move |_| {
            if by_topic.get() {
                let ends = state::ends_first(app);
                engrams.with(|all| TopicHeadings::of(all, |it| ends(it).is_some()))
            } else {
                TopicHeadings::default()
            }
        });
        let first_seen = Memo::new(move |_| {
            let new = new.get();
            (new > 0 && engrams.with(|all| new < all.len())).then_some(new)
        });
        let heights = RowHeights::new(app, viewport);
        let layout = Memo::new(move |_| {
            let height = heights.now();
            let (topics, first_seen) = (topics.read(), first_seen.get());
            let rows = engrams.read();
            Layout::new(rows.iter().enumerate().map(|(row, engram)| {
                let (above, below) = heights::room_around(row, &topics, first_seen);
                above + height(engram) + below
            }))
        });
        let window = Memo::new(move |_| {
            let Viewport { scroll, height, .. } = viewport.get();
            layout.with(|layout| layout.window(scroll, height, SPARE))
        });
        Self {
            app,
            viewport,
            engrams,
            by_topic,
            topics,
            new,
            first_seen,
            layout,
            window,
        }
    }

    /// What the drawn rows show.
    fn drawn(self) -> Vec<RowContent> {
        let app = self.app;
        let (selected, whole) = (app.reading.selected.get(), app.list.expanded.get());
        let range = self.window.get();
        let (clock, engrams, layout) = (app.clock.get(), self.engrams.read(), self.layout.read());
        let is_unavailable = stale::is_unavailable(app);
        let feed = app.list.feed.read();
        let chosen = app.list.choice.rows.read();
        let of = feed.next_page().is_none().then(|| layout.len());
        let (new, first_seen) = (self.new.get(), self.first_seen.get());
        let topics = self.topics.read();
        let is_of_now = !app.list.is_past();
        let content = |(index, engram): (usize, &Arc<Engram>)| {
            let (above, below) = heights::room_around(index, &topics, first_seen);
            let (top, end) = (layout.top(index) + above, layout.top(index + 1));
            let height = end.saturating_sub(top).saturating_sub(below);
            RowContent {
                engram: engram.clone(),
                state: feed.state(engram, clock.now),
                ago: clock.ago(words::recorded(engram)),
                index,
                of,
                topic: topics.above(index).map(|it| it.name.clone()),
                ends: ending::ends_soon(engram, clock.now)
                    .filter(|_| is_of_now)
                    .map(|end| say::state::expires_in(&clock.until(end))),
                top,
                height,
                is_short: height <= heights::ONE_LINE,
                is_new: index < new && !is_own(engram),
                is_unavailable,
                marks: feed.marks(engram.id).to_vec(),
                is_selected: selected == Some(engram.id),
                is_chosen: (!chosen.is_empty()).then(|| chosen.has(engram.id)),
                is_whole: whole == Some(engram.id),
                is_free: false,
            }
        };
        let drawn = engrams.get(range.clone()).unwrap_or_default();
        range.zip(drawn).map(content).collect()
    }

    /// The element of the open row, if that is drawn.
    fn active(self) -> Option<String> {
        let selected = self.app.reading.selected.get()?;
        let engrams = self.engrams.read();
        let drawn = engrams.get(self.window.get()).unwrap_or_default();
        let is_drawn = drawn.iter().any(|it| it.id == selected);
        is_drawn.then(|| row::engram_row_id(selected))
    }

    /// The line below the new rows, hidden from screen readers: each row itself says that it is
    /// new.
    fn new_since(self) -> Option<impl IntoView + use<>> {
        let app = self.app;
        let (row, last) = (self.first_seen.get()?, app.list.look.last.get()?);
        let top = self
            .layout
            .with(|it| it.top(row))
            .saturating_sub(heights::LINE);
        let text = say::list::new_since(&app.clock.get().lately(last.at));
        Some(view! {
            <p class="new-since" data-testid="new-since" aria-hidden="true" style:transform=format!("translateY({top}px)")>{text}</p>
        })
    }

    /// The names of the topics that begin on the screen.
    fn headings(self) -> impl IntoView + use<> {
        let (window, layout) = (self.window.get(), self.layout.read());
        let topics = self.topics.read();
        let heading = |it: &TopicHeading| view_heading(it, layout.top(it.first_row));
        topics.within(&window).map(heading).collect_view()
    }

    /// Requests older and newer engrams when an end is near. A page may bring no row, and only one
    /// page is requested at a time, so each change of the feed requests again.
    fn load_near_ends(self) {
        let app = self.app;
        Effect::new(move |_| {
            app.list.feed.track();
            let near = self.window.get().end + NEAR_END >= self.layout.with(Layout::len);
            if near || self.by_topic.get() {
                pages::load_older(app);
            }
        });
        Effect::new(move |_| {
            app.list.feed.track();
            self.layout.track();
            if self.window.get().start <= NEAR_END {
                pages::load_newer(app);
            }
        });
    }
}

/// The name of a topic, hidden from screen readers: its first row itself says it.
pub(crate) fn view_heading(heading: &TopicHeading, top: u32) -> impl IntoView + use<> {
    let TopicHeading { name, count, .. } = heading.clone();
    let top = format!("translateY({top}px)");
    view! { <p class="topic" data-testid="topic" aria-hidden="true" style:transform=top><b>{name}</b><i>{count}</i></p> }
}
