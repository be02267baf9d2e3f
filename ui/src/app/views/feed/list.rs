//! The list pane: the live feed, newest first, of which only the visible rows are drawn.

use std::{collections::HashMap, sync::Arc};

use engram_model::{Density, Engram, EngramId, Filter};
use leptos::{ev, html, leptos_dom::helpers::window_event_listener, prelude::*, task::spawn_local};
use wasm_bindgen::{JsCast, prelude::Closure};

use super::{
    empty, filter,
    row::{self, Places, Row, Shown, ShownAt},
};
use crate::{
    app::{
        connection::Link,
        dom, first_run,
        inbox::ListBox,
        refused::Refused,
        stale,
        state::App,
        states,
        views::feed::{look, pages, state},
    },
    feed::{EngramList, MOST},
    layout::Layout,
    words::{self, say},
};

/// Heights of a row whose claim takes one line, or two (`list.css` has the same).
const ONE_LINE: u32 = 61;
const TWO_LINES: u32 = 80;
/// Height of every row where the person wants many.
const COMPACT: u32 = 50;
/// Room for the line between new and seen rows (`4-list.css` has the same).
const LINE: u32 = 26;
/// Room for the name of a topic above its first row (`5-knowledge.css` has the same).
const TOPIC: u32 = 28;
/// What stands beside the claim: padding, icon, time, gaps.
const BESIDE: f64 = 16.0 + 22.0 + 10.0 + 10.0 + 52.0 + 6.0;
/// Of a claim's letters, on average: no sentence is narrower.
const NARROW: f64 = 4.0;
/// Of a character of code in a claim, in pixels.
const CODE: f64 = 7.2;
/// Rows drawn beyond each edge.
const SPARE: usize = 6;
/// How near the end older engrams are asked for, in rows.
const NEAR_END: usize = 40;

/// Where the list is scrolled to and how large it is.
#[derive(Clone, Copy, PartialEq, Default)]
struct Scrolled {
    scroll: u32,
    height: u32,
    width: u32,
}

#[component]
pub(crate) fn List() -> impl IntoView {
    let app = App::here();
    let waiting = move || app.list.feed.with(EngramList::waiting_new);
    let pill = move || {
        (waiting() > 0).then(|| {
            view! {
                <button class="pill" data-testid="new-pill" on:click=move |_| state::show_new(app)>
                    {move || say::list::new(waiting())} <kbd>"N"</kbd>
                </button>
            }
        })
    };
    let holding = move || {
        let is_known = app.status.with(Option::is_some);
        is_known.then(|| words::thousands((app.view.get().count)(app)))
    };
    let left = move || {
        let facets = app.list.facets.get()?;
        let is_all = !facets.partial;
        // It is still looked for.
        let is_known = is_all || facets.total > 0;
        is_known.then(|| say::list::found(&words::thousands(facets.total), is_all))
    };
    let is_whole = move || app.list.filter.with(Filter::is_empty);
    let count = move || if is_whole() { holding() } else { left() };
    let counted = move || {
        if is_whole() {
            app.view.get().counted
        } else {
            say::list::FOUND
        }
    };
    let title = move || app.view.get().title;
    view! {
        <section class="pane list" aria-label=title>
            <header>
                <h1>{title}</h1>
                <span class="chip" data-testid="list-count" hidden=move || count().is_none() title=counted>{count}</span>
                <span class="space"></span>
                {pill}
            </header>
            <filter::FilterBar />
            <states::Disconnected />
            <ListRefused />
            <first_run::SampleNote />
            <Rows />
            <Beyond />
        </section>
    }
}

/// Why the list could not be read; a lost connection has its own message.
#[component]
fn ListRefused() -> impl IntoView {
    let app = App::here();
    let refusal = Signal::derive(move || {
        let is_lost = app.connection.link.get() == Link::Lost;
        let refused = app.list.refused.get().filter(|_| !is_lost);
        refused.map(|(refusal, _)| refusal)
    });
    let again = move |()| {
        if let Some((_, again)) = app.list.refused.get_untracked() {
            again(app);
        }
    };
    view! { <div class="within-list"><Refused refusal again=Callback::new(again) /></div> }
}

#[component]
fn Rows() -> impl IntoView {
    let app = App::here();
    let box_ref = NodeRef::<html::Div>::new();
    let at = RwSignal::new(Scrolled::default());
    let widths = Widths::new();
    // Height of the row that is shown whole, once it is measured.
    let grown = RwSignal::new(None::<u32>);
    Effect::new(move |_| {
        app.list.expanded.track();
        grown.set(None);
    });
    Effect::new(move |_| {
        let width = at.with(|it| it.width);
        if let (Some(id), true) = (app.list.expanded.get(), width > 0) {
            dom::next_frame(move || grown.set(dom::height_within(&row::element_id(id))));
        }
    });
    let rows = Memo::new_with_compare(move |_| state::rows(app), |_, _| true);
    let new = Memo::new(move |_| {
        let feed = app.list.feed.read();
        if app.view.get().by_topic {
            0
        } else {
            app.list.look.count_new(&feed)
        }
    });
    let by_topic = Memo::new(move |_| app.view.get().by_topic);
    // The first row of each topic, and how many it has.
    let topics = Memo::new(move |_| {
        if by_topic.get() {
            rows.with(|rows| Topics::of(rows))
        } else {
            Topics::default()
        }
    });
    // The first row below the line, if some rows are new and some are not.
    let seen = Memo::new(move |_| {
        let new = new.get();
        (new > 0 && rows.with(|rows| new < rows.len())).then_some(new)
    });
    let layout = Memo::new(move |_| {
        let room = f64::from(at.with(|it| it.width)) - BESIDE;
        widths.changed();
        let is_compact = app.frame.settings.with(|it| it.density == Density::Compact);
        let whole = app.list.expanded.get().zip(grown.get());
        let height = |it: &Arc<Engram>| match whole {
            Some((id, height)) if id == it.id => height,
            _ if is_compact => COMPACT,
            _ => widths.height(it, room),
        };
        let last_new = seen.get().map(|it| it - 1);
        let line = |index: usize| if last_new == Some(index) { LINE } else { 0 };
        let topics = topics.read();
        let above = |index: usize| if topics.begins(index) { TOPIC } else { 0 };
        let height = |(index, it): (usize, &Arc<Engram>)| above(index) + height(it) + line(index);
        rows.with(|rows| Layout::new(rows.iter().enumerate().map(height)))
    });
    let window = Memo::new(move |_| {
        let Scrolled { scroll, height, .. } = at.get();
        layout.with(|layout| layout.window(scroll, height, SPARE))
    });
    let shown = move || -> Vec<Shown> {
        let (selected, whole) = (app.reading.selected.get(), app.list.expanded.get());
        let range = window.get();
        let (clock, rows, layout) = (app.clock.get(), rows.read(), layout.read());
        let is_blind = stale::is_blind(app);
        let words: Arc<[String]> = app.list.filter.with(Filter::words).into();
        let feed = app.list.feed.read();
        let chosen = app.list.choice.rows.read();
        let of = feed.next_page().is_none().then(|| layout.len());
        let (new, seen) = (new.get(), seen.get());
        let topics = topics.read();
        let shown = |(index, engram): (usize, &Arc<Engram>)| {
            let topic = topics.begins(index).then(|| topic_name(&engram.topic));
            let above = if topic.is_some() { TOPIC } else { 0 };
            let (top, below) = (layout.top(index) + above, layout.top(index + 1));
            let line = if seen == Some(index + 1) { LINE } else { 0 };
            let height = below.saturating_sub(top).saturating_sub(line);
            Shown {
                engram: engram.clone(),
                state: feed.state(engram, clock.now),
                ago: clock.ago(engram.place.map_or(engram.recorded_at, |it| it.at)),
                index,
                of,
                topic,
                top,
                height,
                is_short: height <= ONE_LINE,
                is_new: index < new,
                is_blind,
                words: words.clone(),
                is_selected: selected == Some(engram.id),
                is_chosen: (!chosen.is_empty()).then(|| chosen.has(engram.id)),
                is_whole: whole == Some(engram.id),
                is_free: false,
            }
        };
        let drawn = rows.get(range.clone()).unwrap_or_default();
        range.zip(drawn).map(shown).collect()
    };
    let places = StoredValue::new(Places::default());
    let drawn = move || {
        let shown = shown();
        places
            .try_update_value(|all| all.tell(shown))
            .unwrap_or_default()
    };

    follow_size(box_ref, at);
    // The first row on the screen, and how far it is above the edge.
    let anchor = StoredValue::new(None::<(EngramId, u32)>);
    let anchored = move |scroll: u32| {
        layout.with_untracked(|layout| {
            let first = layout.window(scroll, 1, 0).start;
            let row = rows.with_untracked(|rows| rows.get(first).map(|it| it.id));
            row.map(|id| (id, scroll.saturating_sub(layout.top(first))))
        })
    };
    let measure = move || {
        let Some(element) = box_ref.get_untracked() else {
            return;
        };
        let scroll = element.scroll_top().max(0) as u32;
        at.update(|it| it.scroll = scroll);
        anchor.set_value(anchored(scroll));
        let is_newest = app.list.feed.with_untracked(|it| it.newer_page().is_none());
        let at_top = scroll < 4 && is_newest;
        if at_top && app.list.feed.with_untracked(EngramList::waiting) > 0 {
            app.list.feed.update(|it| {
                it.release();
            });
        }
        if app.list.at_top.get_untracked() != at_top {
            app.list.at_top.set(at_top);
        }
    };
    let scroll_to = move |top: u32| {
        if let Some(element) = box_ref.get_untracked() {
            element.set_scroll_top(top as i32);
            // Rows that came just now are not laid out yet, and there may be no room to scroll.
            if element.scroll_top() != top as i32 {
                dom::next_frame(move || element.set_scroll_top(top as i32));
            }
            measure();
        }
    };
    // Rows that come or go above the screen do not move what is on it.
    Effect::new(move |before: Option<Option<EngramId>>| {
        let first = rows.with(|rows| rows.first().map(|it| it.id));
        let held = anchor.get_value();
        // By topic, rows come anywhere.
        let is_same = |it: &Option<EngramId>| *it == first && !by_topic.get_untracked();
        let Some(before) = before.filter(|it| !is_same(it)) else {
            // The row at the edge may show another version now.
            anchor.set_value(anchored(at.with_untracked(|it| it.scroll)));
            return first;
        };
        let place = |id| rows.with_untracked(|all| all.iter().position(|it| it.id == id));
        let Scrolled { scroll, height, .. } = at.get_untracked();
        let to = if scroll >= 4 {
            held.and_then(|(id, above)| {
                let top = layout.with_untracked(|it| Some(it.top(place(id)?)));
                top.map(|it| it.saturating_add(above))
            })
        } else if dom::focused_in("feed").is_some() {
            // Keys keep the open row on the screen.
            let (row, first) = (app.reading.selected.get_untracked().and_then(place), before);
            row.zip(first.and_then(place)).and_then(|(row, first)| {
                layout.with_untracked(|it| {
                    let was = it.top(row + 1).saturating_sub(it.top(first));
                    (row >= first && was <= height).then(|| it.reveal(row, scroll, height))?
                })
            })
        } else {
            None
        };
        if let Some(to) = to {
            scroll_to(to);
        }
        first
    });
    // A key means that the pointer is not in use.
    let keys = window_event_listener(ev::keydown, move |event| {
        if !matches!(event.key().as_str(), "Shift" | "Control" | "Alt" | "Meta") {
            look::point_elsewhere(app);
        }
    });
    on_cleanup(move || {
        keys.remove();
        look::point_elsewhere(app);
    });
    Effect::new(move |before: Option<u32>| {
        let asked = app.list.scroll_to_top.get();
        if before.is_some_and(|it| it != asked) {
            scroll_to(0);
        }
        asked
    });
    // A selection that was made by a key is brought into view; live updates never scroll.
    Effect::new(move |_| {
        let Some(id) = app.reading.selected.get() else {
            return;
        };
        let view = at.get_untracked();
        if view.height == 0 {
            return; // not laid out yet: it stands at the top
        }
        let in_place = app.list.look.in_place;
        if in_place.try_update_value(Option::take).flatten() == Some(id) {
            return;
        }
        let index = rows.with_untracked(|rows| rows.iter().position(|it| it.id == id));
        let top = index.and_then(|it| {
            layout.with_untracked(|layout| layout.reveal(it, view.scroll, view.height))
        });
        if let Some(top) = top {
            scroll_to(top);
        }
    });
    // A page may bring no row, and one that is on its way keeps another from being asked for: each
    // change of the feed asks again.
    Effect::new(move |_| {
        app.list.feed.track();
        let near = window.get().end + NEAR_END >= layout.with(Layout::len);
        if near || by_topic.get() {
            pages::load_older(app);
        }
    });
    Effect::new(move |_| {
        app.list.feed.track();
        layout.track();
        if window.get().start <= NEAR_END {
            pages::load_newer(app);
        }
    });

    let active = move || {
        let selected = app.reading.selected.get()?;
        let drawn = rows.read();
        let drawn = drawn.get(window.get()).unwrap_or_default();
        let is_drawn = drawn.iter().any(|it| it.id == selected);
        is_drawn.then(|| row::element_id(selected))
    };
    let shown_at = ShownAt::new();
    // Each row says that it is new.
    let line = move || {
        let (row, last) = (seen.get()?, app.list.look.last.get()?);
        let top = layout.with(|it| it.top(row)).saturating_sub(LINE);
        let text = say::list::new_since(&app.clock.get().lately(last.at));
        Some(view! {
            <p class="new-since" data-testid="new-since" aria-hidden="true" style:transform=format!("translateY({top}px)")>{text}</p>
        })
    };
    let headings = move || {
        let (window, layout) = (window.get(), layout.read());
        let heading = |(first, topic, count): &(usize, String, usize)| {
            let top = format!("translateY({}px)", layout.top(*first));
            view! { <p class="topic" data-testid="topic" aria-hidden="true" style:transform=top><b>{topic.clone()}</b><i>{*count}</i></p> }
        };
        topics.with(|it| it.within(&window).map(heading).collect_view())
    };
    let is_none = Memo::new(move |_| rows.with(Vec::is_empty));
    let label = move || {
        if by_topic.get() {
            say::knowledge::LABEL
        } else {
            say::list::LABEL
        }
    };
    view! {
        <empty::End rows />
        <ListBox class="rows" label=Signal::derive(label) testid="feed" is_many=true is_none active=Signal::derive(active) node=box_ref
            on:scroll=move |_| measure() on:pointermove=move |event| look::point(app, &event) on:pointerleave=move |_| look::point_elsewhere(app)>
            <div class="sheet" role="presentation" style:height=move || format!("{}px", layout.with(Layout::total))>
                {line}
                {headings}
                <For each=drawn key=|(place, _)| *place let((_place, row))>
                    <Row row shown_at />
                </For>
            </div>
        </ListBox>
    }
}

/// By topic, the newest that hold are listed; that there are more.
#[component]
fn Beyond() -> impl IntoView {
    let app = App::here();
    let is_more = Memo::new(move |_| {
        let is_full = |it: &EngramList| it.iter().count() >= MOST && it.next_page().is_some();
        app.view.get().by_topic && app.list.feed.with(is_full)
    });
    let told = say::knowledge::newest(&words::thousands(MOST as u64));
    move || {
        is_more
            .get()
            .then(|| view! { <p class="quiet more" data-testid="beyond">{told.clone()}</p> })
    }
}

/// Where topics begin in a list by topic: the first row, the name, and how many rows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Topics(Vec<(usize, String, usize)>);

impl Topics {
    fn of(rows: &[Arc<Engram>]) -> Self {
        let mut all: Vec<(usize, String, usize)> = Vec::new();
        for group in rows.chunk_by(|a, b| a.topic == b.topic) {
            let first = all.last().map_or(0, |(first, _, count)| first + count);
            let topic = group.first().map_or("", |it| it.topic.as_str());
            all.push((first, topic_name(topic), group.len()));
        }
        Self(all)
    }

    /// Whether a topic begins with this row.
    fn begins(&self, row: usize) -> bool {
        self.0.binary_search_by_key(&row, |it| it.0).is_ok()
    }

    /// Those that begin within these rows.
    fn within(
        &self,
        rows: &std::ops::Range<usize>,
    ) -> impl Iterator<Item = &(usize, String, usize)> {
        self.0.iter().filter(|it| rows.contains(&it.0))
    }
}

/// A topic for people; what has none is under a name of ours.
fn topic_name(topic: &str) -> String {
    match topic {
        "" => say::knowledge::NO_TOPIC.to_owned(),
        topic => words::visible(topic),
    }
}

/// Keeps the size of the list known.
fn follow_size(node: NodeRef<html::Div>, at: RwSignal<Scrolled>) {
    node.on_load(move |element| {
        let measured = element.clone();
        let measure = Closure::<dyn FnMut()>::new(move || {
            let (width, height) = (
                measured.client_width().max(0) as u32,
                measured.client_height().max(0) as u32,
            );
            at.update(|it| (it.width, it.height) = (width, height));
        });
        if let Ok(observer) = web_sys::ResizeObserver::new(measure.as_ref().unchecked_ref()) {
            observer.observe(&element);
            let kept = StoredValue::new_local((observer, measure));
            on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
        }
    });
}

/// Widths of claims in one line, measured once each.
#[derive(Clone, Copy)]
struct Widths {
    canvas: StoredValue<Option<web_sys::CanvasRenderingContext2d>, LocalStorage>,
    known: StoredValue<HashMap<EngramId, f64>>,
    fonts: RwSignal<bool>,
}

impl Widths {
    fn new() -> Self {
        let it = Self {
            canvas: StoredValue::new_local(dom::measure()),
            known: StoredValue::new(HashMap::new()),
            fonts: RwSignal::new(false),
        };
        spawn_local(async move {
            dom::fonts_ready().await;
            it.known.update_value(HashMap::clear);
            it.fonts.set(true);
        });
        it
    }

    /// Makes the caller run again when the fonts have come.
    fn changed(self) {
        self.fonts.track();
    }

    fn height(self, engram: &Engram, room: f64) -> u32 {
        if engram.redacted {
            return ONE_LINE;
        }
        // Nothing to measure, as for most.
        if engram.claim.len() as f64 * NARROW > room && engram.claim.is_ascii() {
            return TWO_LINES;
        }
        let known = self.known.with_value(|all| all.get(&engram.id).copied());
        let width = known.unwrap_or_else(|| {
            self.known.update_value(forget_many);
            let (text, code) = without_code(&engram.claim);
            let width = self.canvas.with_value(|canvas| {
                canvas
                    .as_ref()
                    .and_then(|it| it.measure_text(&text).ok())
                    .map_or(f64::MAX, |it| it.width() + code)
            });
            self.known.update_value(|all| {
                all.insert(engram.id, width);
            });
            width
        });
        if width <= room && !engram.claim.contains('\n') {
            ONE_LINE
        } else {
            TWO_LINES
        }
    }
}

/// A claim without its code, and how wide the code is.
fn without_code(claim: &str) -> (String, f64) {
    let (mut text, mut code) = (String::new(), 0);
    let parts: Vec<&str> = claim.split('`').collect();
    for (at, part) in parts.iter().enumerate() {
        if at % 2 == 1 && at + 1 < parts.len() {
            code += part.chars().count()
        } else {
            text.push_str(part)
        }
    }
    (text, code as f64 * CODE)
}

/// Begins again where far more rows were seen than are listed.
pub(super) fn forget_many<T>(all: &mut HashMap<EngramId, T>) {
    if all.len() > 4 * MOST {
        all.clear();
    }
}
