//! The list pane: the live feed, newest first, of which only the visible rows are drawn.

use std::{collections::HashMap, sync::Arc};

use engram_model::{Density, Engram, EngramId, Filter};
use leptos::{html, prelude::*, task::spawn_local};
use wasm_bindgen::{JsCast, prelude::Closure};

use super::{dom, drift::drifted, filter, first_run, icons::Icon, state::App, states};
use crate::{
    feed::{Feed, MOST},
    layout::Layout,
    words::{self, State},
};

/// Heights of a row whose claim takes one line, or two (`list.css` has the same).
const ONE_LINE: u32 = 61;
const TWO_LINES: u32 = 80;
/// Height of every row where the person wants many.
const COMPACT: u32 = 50;
/// What stands beside the claim: padding, icon, time, gaps.
const BESIDE: f64 = 16.0 + 22.0 + 10.0 + 10.0 + 52.0 + 16.0;
/// Rows drawn beyond each edge.
const SPARE: usize = 6;
/// How near the end older engrams are asked for, in rows.
const NEAR_END: usize = 40;

/// Where the list is scrolled to and how large it is.
#[derive(Clone, Copy, PartialEq, Default)]
struct View {
    scroll: u32,
    height: u32,
    width: u32,
}

#[component]
pub(crate) fn List() -> impl IntoView {
    let app = App::here();
    let waiting = move || app.feed.with(Feed::waiting);
    let pill = move || {
        (waiting() > 0).then(|| {
            view! {
                <button class="pill" data-testid="new-pill" on:click=move |_| app.show_new()>
                    {move || format!("{} new", waiting())} <kbd>"N"</kbd>
                </button>
            }
        })
    };
    let holding = move || app.status.get().map(|it| words::thousands(it.engrams));
    let is_plain = move || app.filter.with(|it| it.is_empty() || *it == drifted());
    let left = move || {
        let is_on = !app.filter.with(Filter::is_empty);
        let facets = is_on.then(|| app.facets.get()).flatten();
        facets.map(|it| {
            let more = if it.partial { " or more" } else { "" };
            let found = if is_plain() { "" } else { " found" };
            format!("{}{more}{found}", words::thousands(it.total))
        })
    };
    let count = move || left().or_else(holding);
    let counted = move || match is_plain() {
        true if app.is_drift() => "Claims in doubt",
        true => "Engrams that hold now",
        false => "Versions of claims that the filter leaves, past ones too",
    };
    view! {
        <section class="pane list" aria-label=move || if app.is_drift() { "Drift" } else { "Feed" }>
            <header>
                <h1>{move || if app.is_drift() { "Drift" } else { "Feed" }}</h1>
                <span class="chip" data-testid="list-count" hidden=move || count().is_none() title=counted>{count}</span>
                <span class="space"></span>
                {pill}
            </header>
            <filter::FilterBar />
            <states::Disconnected />
            <first_run::SampleNote />
            <Rows />
        </section>
    }
}

#[component]
fn Rows() -> impl IntoView {
    let app = App::here();
    let box_ref = NodeRef::<html::Div>::new();
    let at = RwSignal::new(View::default());
    let widths = Widths::new();
    // Height of the row that is shown whole, once it is measured.
    let grown = RwSignal::new(None::<u32>);
    Effect::new(move |_| {
        app.expanded.track();
        grown.set(None);
    });
    Effect::new(move |_| {
        let width = at.with(|it| it.width);
        if let (Some(id), true) = (app.expanded.get(), width > 0) {
            request_animation_frame(move || grown.set(dom::height_within(&row_id(id))));
        }
    });
    let rows = Memo::new_with_compare(move |_| app.rows(), |_, _| true);
    let layout = Memo::new(move |_| {
        let room = f64::from(at.with(|it| it.width)) - BESIDE;
        widths.changed();
        let is_compact = app.settings.with(|it| it.density == Density::Compact);
        let whole = app.expanded.get().zip(grown.get());
        let height = |it: &Arc<Engram>| match whole {
            Some((id, height)) if id == it.id => height,
            _ if is_compact => COMPACT,
            _ => widths.height(it, room),
        };
        rows.with(|rows| Layout::new(rows.iter().map(height)))
    });
    let window = Memo::new(move |_| {
        let View { scroll, height, .. } = at.get();
        layout.with(|layout| layout.window(scroll, height, SPARE))
    });
    let drawn = move || -> Vec<EngramId> {
        let range = window.get();
        rows.with(|rows| {
            rows.get(range)
                .unwrap_or_default()
                .iter()
                .map(|it| it.id)
                .collect()
        })
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
        let is_newest = app.feed.with_untracked(|it| it.newer_page().is_none());
        let at_top = scroll < 4 && is_newest;
        if at_top && app.feed.with_untracked(Feed::waiting) > 0 {
            app.feed.update(|it| {
                it.release();
            });
        }
        if app.at_top.get_untracked() != at_top {
            app.at_top.set(at_top);
        }
    };
    let scroll_to = move |top: u32| {
        if let Some(element) = box_ref.get_untracked() {
            element.set_scroll_top(top as i32);
            // Rows that came just now are not laid out yet, and there may be no room to scroll.
            if element.scroll_top() != top as i32 {
                request_animation_frame(move || element.set_scroll_top(top as i32));
            }
            measure();
        }
    };
    // Rows that come or go above the screen do not move what is on it.
    Effect::new(move |before: Option<Option<EngramId>>| {
        let first = rows.with(|rows| rows.first().map(|it| it.id));
        let held = anchor.get_value();
        if let (Some(before), Some((id, above))) = (before, held)
            && before != first
            && at.with_untracked(|it| it.scroll) >= 4
            && let Some(index) = rows.with_untracked(|all| all.iter().position(|it| it.id == id))
        {
            scroll_to(
                layout
                    .with_untracked(|it| it.top(index))
                    .saturating_add(above),
            );
        }
        first
    });
    Effect::new(move |before: Option<u32>| {
        let asked = app.scroll_to_top.get();
        if before.is_some_and(|it| it != asked) {
            scroll_to(0);
        }
        asked
    });
    // A selection that was made by a key is brought into view; live updates never scroll.
    Effect::new(move |_| {
        let Some(id) = app.selected.get() else { return };
        let view = at.get_untracked();
        if view.height == 0 {
            return; // not laid out yet: it stands at the top
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
        app.feed.track();
        let near = window.get().end + NEAR_END >= layout.with(Layout::len);
        if near {
            app.load_older();
        }
    });
    Effect::new(move |_| {
        app.feed.track();
        layout.track();
        if window.get().start <= NEAR_END {
            app.load_newer();
        }
    });

    let active = move || {
        let selected = app.selected.get()?;
        drawn().contains(&selected).then(|| row_id(selected))
    };
    let shown = ShownAt::default();
    let is_none = Memo::new(move |_| rows.with(Vec::is_empty));
    view! {
        <states::End rows />
        <div class="rows" class:bare=is_none id="feed" node_ref=box_ref tabindex="0" role="listbox" aria-label="Engrams, newest first"
            aria-activedescendant=active data-testid="feed" on:scroll=move |_| measure()>
            <div class="sheet" role="presentation" style:height=move || format!("{}px", layout.with(Layout::total))>
                <For each=drawn key=|id| *id let:id>
                    <Row id rows layout shown=shown.clone() />
                </For>
            </div>
        </div>
    }
}

fn row_id(id: EngramId) -> String {
    format!("row-{id}")
}

#[component]
fn Row(
    id: EngramId,
    rows: Memo<Vec<Arc<Engram>>>,
    layout: Memo<Layout>,
    shown: ShownAt,
) -> impl IntoView {
    let app = App::here();
    let place = Memo::new(move |_| {
        let index = rows.with(|rows| rows.iter().position(|it| it.id == id));
        index.map(|it| {
            (
                it,
                layout.with(|layout| (layout.top(it), layout.top(it + 1))),
            )
        })
    });
    let top = move || place.get().map_or(0, |(_, (top, _))| top);
    let is_short = move || {
        place
            .get()
            .is_some_and(|(_, (top, bottom))| bottom - top <= ONE_LINE)
    };
    let is_whole = Memo::new(move |_| app.expanded.get() == Some(id));
    let height = move || {
        let (_, (top, bottom)) = place.get().filter(|_| is_whole.get())?;
        Some(format!("{}px", bottom - top))
    };
    let is_selected = Memo::new(move |_| app.selected.get() == Some(id));
    let engram = Memo::new(move |_| app.feed.with(|feed| feed.get(id)));
    let state = Memo::new(move |_| {
        let engram = engram.get()?;
        Some(
            app.feed
                .with(|feed| feed.state(&engram, app.clock.get().now)),
        )
    });

    let node = NodeRef::<html::Div>::new();
    node.on_load(move |element| shown.mark(id, element));
    view! {
        <div class="row" node_ref=node id=row_id(id) role="option" data-testid="feed-row" data-id=id.to_string()
            class:selected=move || is_selected.get() class:short=move || is_short() && !is_whole.get() class:opened=is_whole style:height=height
            aria-selected=move || is_selected.get().to_string()
            aria-posinset=move || place.get().map(|(index, _)| (index + 1).to_string())
            aria-setsize=move || match app.feed.with(Feed::next_page) {
                Some(_) => "-1".to_owned(),
                None => layout.with(Layout::len).to_string(),
            }
            style:transform=move || format!("translateY({}px)", top())
            on:click=move |_| app.select(id)
            on:dblclick=move |_| app.toggle_row()>
            {move || engram.get().zip(state.get()).map(|(it, state)| row_content(app, &it, state))}
            {move || engram.get().filter(|_| is_whole.get()).map(|it| row_more(&it))}
        </div>
    }
}

fn row_content(app: App, it: &Engram, state: State) -> impl IntoView + use<> {
    let icon = if it.redacted {
        Icon::Erased
    } else {
        Icon::Of(it.kind)
    };
    let claim = if it.redacted {
        "Its text was erased.".to_owned()
    } else {
        words::visible(&it.claim)
    };
    let more = it.pointers.len().saturating_sub(1);
    let first = it.pointers.first();
    // Where the evidence is now; that it moved stands beside it.
    let pointer = first
        .and_then(|pointer| words::place_now(it, &pointer.to_string()))
        .or_else(|| first.map(|pointer| pointer.label()))
        .unwrap_or_default();
    let (word, class) = match state.word() {
        Some(word) => (word, "word gone"),
        None => words::evidence(it),
    };
    let at = it.recorded_at;
    let author = words::author(it).to_owned();
    let (folder, file) = split(&pointer);
    view! {
        <span class="kind" title=words::kind(it.kind)>{icon.draw()}<span class="offscreen">{words::kind(it.kind)}</span></span>
        <div class="said">
            <p class:closed={state != State::Holds && !it.redacted} class:erased=it.redacted>{claim}</p>
            <time datetime=at.to_string() title=dom::clock().moment(at)>{move || app.clock.get().ago(at)}</time>
        </div>
        <div class="meta">
            <span class="from">
                <span class="by">{author}</span>
                <span class="pointer" title=pointer.clone()><span class="file">{file}</span><span class="folder">{folder}</span></span>
                {(more > 0).then(|| view! { <span class="more">{format!("+{more}")}</span> })}
            </span>
            <span class=class data-testid="evidence">{word}</span>
        </div>
    }
}

/// What a row that is shown whole says besides: every pointer, and what the claim is.
fn row_more(it: &Engram) -> impl IntoView + use<> {
    let pointers = it.pointers.iter().map(|pointer| {
        let place = words::place_now(it, &pointer.to_string()).unwrap_or_else(|| pointer.label());
        view! { <li class="pointer">{place}</li> }
    });
    let said = [
        words::kind(it.kind).to_owned(),
        it.topic.clone(),
        format!("confidence {:.2}", it.confidence),
    ];
    let said: Vec<String> = said.into_iter().filter(|it| !it.is_empty()).collect();
    view! {
        <div class="about-it" data-testid="row-more">
            <p>{said.join(" · ")}</p>
            <ul>{pointers.collect_view()}</ul>
        </div>
    }
}

/// The file first: a row has no room for all, and the folder can be cut.
fn split(pointer: &str) -> (String, String) {
    let (folder, file) = words::split_path(pointer);
    (folder.trim_end_matches('/').to_owned(), file.to_owned())
}

/// Keeps the size of the list known.
fn follow_size(node: NodeRef<html::Div>, at: RwSignal<View>) {
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
        let known = self.known.with_value(|all| all.get(&engram.id).copied());
        let width = known.unwrap_or_else(|| {
            self.known.update_value(forget_many);
            let width = self.canvas.with_value(|canvas| {
                canvas
                    .as_ref()
                    .and_then(|it| it.measure_text(&engram.claim).ok())
                    .map_or(f64::MAX, |it| it.width())
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

/// Begins again where far more rows were seen than are listed.
fn forget_many<T>(all: &mut HashMap<EngramId, T>) {
    if all.len() > 4 * MOST {
        all.clear();
    }
}

/// When each row was first on the screen: on the row as `data-shown-at`, so that it can be measured from outside.
#[derive(Clone, Default)]
struct ShownAt(Arc<std::sync::Mutex<HashMap<EngramId, f64>>>);

impl ShownAt {
    fn mark(&self, id: EngramId, element: web_sys::HtmlDivElement) {
        let all = self.0.clone();
        request_animation_frame(move || {
            let now = js_sys::Date::now();
            let at = all.lock().map_or(now, |mut all| {
                forget_many(&mut all);
                *all.entry(id).or_insert(now)
            });
            // An attribute that cannot be set is only missed by who measures.
            let _ = element.set_attribute("data-shown-at", &format!("{at:.0}"));
        });
    }
}
