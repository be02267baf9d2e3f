//! Where the list is scrolled to, and what moves it: rows that come above the screen, keys, and
//! requests for the newest end.

use engram_model::EngramId;
use leptos::{html, prelude::*};
use wasm_bindgen::{JsCast, prelude::Closure};

use super::rows::RowLayout;
use crate::{
    app::{dom, state::App},
    feed::EngramList,
};

/// Where the list is scrolled to and how large it is.
#[derive(Clone, Copy, PartialEq, Default)]
pub(crate) struct Viewport {
    pub(crate) scroll: u32,
    pub(crate) height: u32,
    pub(crate) width: u32,
}

impl Viewport {
    /// Whether this is the newest end, within the few pixels that a touch moves.
    fn is_at_top(self) -> bool {
        self.scroll < 4
    }
}

/// The box that scrolls the rows.
#[derive(Clone, Copy)]
pub(super) struct Scroller {
    app: App,
    rows: RowLayout,
    pub(super) node: NodeRef<html::Div>,
    /// The first row on the screen, and how far it is above the edge.
    anchor: StoredValue<Option<(EngramId, u32)>>,
}

impl Scroller {
    pub(super) fn new(app: App, rows: RowLayout) -> Self {
        let scroller = Self {
            app,
            rows,
            node: NodeRef::new(),
            anchor: StoredValue::new(None),
        };
        follow_size(scroller.node, rows.viewport);
        scroller.stay_in_place();
        scroller.follow_newest();
        scroller.follow_selection();
        scroller
    }

    /// Records where the list is scrolled to.
    pub(super) fn measure(self) {
        let Some(element) = self.node.get_untracked() else {
            return;
        };
        let list = self.app.list;
        let scroll = element.scroll_top().max(0) as u32;
        self.rows.viewport.update(|it| it.scroll = scroll);
        self.anchor.set_value(self.anchored());
        let is_newest = list.feed.with_untracked(|it| it.newer_page().is_none());
        let at_top = is_newest && self.rows.viewport.get_untracked().is_at_top();
        if at_top && list.feed.with_untracked(EngramList::waiting) > 0 {
            list.feed.update(|feed| {
                feed.release();
            });
        }
        if list.at_top.get_untracked() != at_top {
            list.at_top.set(at_top);
        }
    }

    fn anchored(self) -> Option<(EngramId, u32)> {
        let scroll = self.rows.viewport.with_untracked(|it| it.scroll);
        self.rows.layout.with_untracked(|layout| {
            let first = layout.window(scroll, 1, 0).start;
            let engrams = self.rows.engrams;
            let row = engrams.with_untracked(|all| all.get(first).map(|it| it.id));
            row.map(|id| (id, scroll.saturating_sub(layout.top(first))))
        })
    }

    fn scroll_to(self, top: u32) {
        if let Some(element) = self.node.get_untracked() {
            element.set_scroll_top(top as i32);
            // Rows that just came are not laid out yet, so there may be no room to scroll.
            if element.scroll_top() != top as i32 {
                dom::next_frame(move || element.set_scroll_top(top as i32));
            }
            self.measure();
        }
    }

    /// Keeps the rows on the screen in place when rows above them come or go.
    fn stay_in_place(self) {
        let rows = self.rows;
        Effect::new(move |before: Option<Option<EngramId>>| {
            let first = rows.engrams.with(|all| all.first().map(|it| it.id));
            // The next list is of another time, where this list's anchor means nothing.
            if first.is_none() {
                self.anchor.set_value(None);
                return first;
            }
            // In a list by topic, new rows may appear anywhere.
            let is_same = |it: &Option<EngramId>| *it == first && !rows.by_topic.get_untracked();
            match before.filter(|it| !is_same(it)) {
                Some(before) => {
                    if let Some(top) = self.top_after(before) {
                        self.scroll_to(top);
                    }
                }
                // The row at the edge may show another version now.
                None => self.anchor.set_value(self.anchored()),
            }
            first
        });
    }

    /// Returns where to scroll so that the screen stays as it was while `first` was the first row.
    fn top_after(self, first: Option<EngramId>) -> Option<u32> {
        let Self { app, rows, .. } = self;
        let place = |id| {
            let engrams = rows.engrams;
            engrams.with_untracked(|all| all.iter().position(|it| it.id == id))
        };
        let viewport = rows.viewport.get_untracked();
        if !viewport.is_at_top() {
            let (id, above) = self.anchor.get_value()?;
            let row = place(id)?;
            let top = rows.layout.with_untracked(|it| it.top(row));
            return Some(top.saturating_add(above));
        }
        // Keys keep the open row on the screen.
        dom::focused_in(dom::LIST)?;
        let row = place(app.reading.selected.get_untracked()?)?;
        let first = place(first?)?;
        let Viewport { scroll, height, .. } = viewport;
        rows.layout.with_untracked(|layout| {
            let was = layout.top(row + 1).saturating_sub(layout.top(first));
            (row >= first && was <= height).then(|| layout.reveal(row, scroll, height))?
        })
    }

    /// Scrolls to the newest end on request.
    fn follow_newest(self) {
        let scroll_to_top = self.app.list.scroll_to_top;
        Effect::new(move |before: Option<u32>| {
            let (asked, keeps_open) = scroll_to_top.get();
            if before.is_some_and(|it| it != asked) {
                self.scroll_to(0);
                if keeps_open {
                    // An empty list has no height; it gets one with the rows that came.
                    dom::next_frame(move || self.reveal_open());
                }
            }
            asked
        });
    }

    /// Scrolls a selected row into view; live updates never scroll.
    fn follow_selection(self) {
        let Self { app, .. } = self;
        Effect::new(move |_| {
            let Some(id) = app.reading.selected.get() else {
                return;
            };
            let in_place = app.list.look.in_place;
            if in_place.try_update_value(Option::take).flatten() != Some(id) {
                self.reveal(id);
            }
        });
    }

    /// Scrolls the open row into view, if the list is still on the screen.
    fn reveal_open(self) {
        let is_shown = self.node.try_get_untracked().flatten().is_some();
        let open = self.app.reading.selected.get_untracked();
        if let Some(id) = open.filter(|_| is_shown) {
            self.reveal(id);
        }
    }

    /// Scrolls a row into view, if it is listed.
    fn reveal(self, id: EngramId) {
        let rows = self.rows;
        let Viewport { scroll, height, .. } = rows.viewport.get_untracked();
        if height == 0 {
            return; // not laid out yet: it stands at the top
        }
        // An empty list that has just been filled is measured a moment later.
        let now = self.node.get_untracked();
        let height = now.map_or(height, |it| it.client_height().max(0) as u32);
        let row = rows
            .engrams
            .with_untracked(|all| all.iter().position(|it| it.id == id));
        let reveal = |row| {
            rows.layout
                .with_untracked(|it| it.reveal(row, scroll, height))
        };
        if let Some(top) = row.and_then(reveal) {
            self.scroll_to(top);
        }
    }
}

/// Tracks the size of the list.
pub(crate) fn follow_size(node: NodeRef<html::Div>, viewport: RwSignal<Viewport>) {
    node.on_load(move |element| {
        let measured = element.clone();
        let measure = Closure::<dyn FnMut()>::new(move || {
            let (width, height) = (
                measured.client_width().max(0) as u32,
                measured.client_height().max(0) as u32,
            );
            viewport.update(|it| (it.width, it.height) = (width, height));
        });
        if let Ok(observer) = web_sys::ResizeObserver::new(measure.as_ref().unchecked_ref()) {
            observer.observe(&element);
            let kept = StoredValue::new_local((observer, measure));
            on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
        }
    });
}
