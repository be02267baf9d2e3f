//! The heights of the rows, whose claims take one line or two, and of what is between rows.

use std::collections::HashMap;

use engram_model::{Density, Engram, EngramId, is_over};
use leptos::{prelude::*, task::spawn_local};

use super::{row, scroll::Viewport, topics::TopicHeadings};
use crate::{
    app::{dom, state::App},
    feed::MAX_ROWS,
};

/// Heights of a row whose claim takes one line, or two (`4-list.css` has the same).
pub(super) const ONE_LINE: u32 = 61;
const TWO_LINES: u32 = 80;
/// Height of every row in the compact list.
const COMPACT: u32 = 50;
/// Room for the line between new and seen rows (`4-list.css` has the same).
pub(super) const LINE: u32 = 26;
/// Room for the name of a topic above its first row (`5-knowledge.css` has the same).
pub(crate) const TOPIC: u32 = 28;
/// Width of what is beside the claim, in pixels: padding, icon, time, gaps.
const BESIDE: f64 = 16.0 + 22.0 + 10.0 + 10.0 + 52.0 + 6.0;
/// Average width of a claim's letters, in pixels: no sentence is narrower.
const NARROW: f64 = 4.0;
/// The letters of a claim, and of one that no longer holds (`4-list.css` has the same).
const USUAL: &str = "500 13px Inter, system-ui, sans-serif";
const THIN: &str = "400 13px Inter, system-ui, sans-serif";
/// Width of a character of code in a claim, in pixels.
const CODE: f64 = 7.2;

/// Room above a row for a topic that begins with it, and below it for the line between new and seen
/// rows.
pub(super) fn room_around(
    row: usize,
    topics: &TopicHeadings,
    first_seen: Option<usize>,
) -> (u32, u32) {
    let above = if topics.above(row).is_some() {
        TOPIC
    } else {
        0
    };
    let below = if first_seen == Some(row + 1) { LINE } else { 0 };
    (above, below)
}

/// What the height of a row depends on.
#[derive(Clone, Copy)]
pub(super) struct RowHeights {
    app: App,
    viewport: RwSignal<Viewport>,
    widths: ClaimWidths,
    /// The height of the row that is shown whole, once it is measured.
    whole: RwSignal<Option<u32>>,
}

impl RowHeights {
    pub(super) fn new(app: App, viewport: RwSignal<Viewport>) -> Self {
        let whole = RwSignal::new(None);
        Effect::new(move |_| {
            app.list.expanded.track();
            whole.set(None);
        });
        Effect::new(move |_| {
            let width = viewport.with(|it| it.width);
            if let (Some(id), true) = (app.list.expanded.get(), width > 0) {
                dom::next_frame(move || whole.set(dom::height_within(&row::engram_row_id(id))));
            }
        });
        Self {
            app,
            viewport,
            widths: ClaimWidths::new(),
            whole,
        }
    }

    /// Returns a function for the height of each row, and tracks what it depends on.
    pub(super) fn now(self) -> impl Fn(&Engram) -> u32 {
        let Self { app, widths, .. } = self;
        let room = f64::from(self.viewport.with(|it| it.width)) - BESIDE;
        widths.changed();
        let is_compact = app.frame.settings.with(|it| it.density == Density::Compact);
        let whole = app.list.expanded.get().zip(self.whole.get());
        let (is_past, now) = (app.list.is_past(), app.clock.get().now);
        move |engram| match whole {
            Some((id, height)) if id == engram.id => height,
            _ if is_compact => COMPACT,
            _ => {
                // A claim that no longer holds is drawn in thinner letters.
                let is_over = is_over(engram.recorded_at, engram.expires_at, now);
                let is_thin = !is_past && (engram.valid_until.is_some() || is_over);
                widths.height(engram, room, is_thin)
            }
        }
    }
}

/// The widths of claims in one line, each measured once.
#[derive(Clone, Copy)]
struct ClaimWidths {
    canvas: StoredValue<Option<web_sys::CanvasRenderingContext2d>, LocalStorage>,
    /// By engram, and by whether its letters are thin.
    known: StoredValue<HashMap<(EngramId, bool), f64>>,
    fonts: RwSignal<bool>,
}

impl ClaimWidths {
    fn new() -> Self {
        let widths = Self {
            canvas: StoredValue::new_local(dom::measuring_canvas()),
            known: StoredValue::new(HashMap::new()),
            fonts: RwSignal::new(false),
        };
        spawn_local(async move {
            dom::fonts_ready().await;
            widths.known.update_value(HashMap::clear);
            widths.fonts.set(true);
        });
        widths
    }

    /// Makes the caller run again once the fonts are loaded.
    fn changed(self) {
        self.fonts.track();
    }

    /// The height of an engram's row, if its claim has this much room.
    fn height(self, engram: &Engram, room: f64, is_thin: bool) -> u32 {
        if engram.redacted {
            return ONE_LINE;
        }
        // Most claims are certainly longer and need not be measured.
        if engram.claim.len() as f64 * NARROW > room && engram.claim.is_ascii() {
            return TWO_LINES;
        }
        let key = (engram.id, is_thin);
        let known = self.known.with_value(|all| all.get(&key).copied());
        let width = known.unwrap_or_else(|| self.measure(engram, is_thin));
        if width <= room && !engram.claim.contains('\n') {
            ONE_LINE
        } else {
            TWO_LINES
        }
    }

    fn measure(self, engram: &Engram, is_thin: bool) -> f64 {
        let (text, code) = without_code(&engram.claim);
        let width = self.canvas.with_value(|canvas| {
            if let Some(canvas) = canvas {
                canvas.set_font(if is_thin { THIN } else { USUAL });
            }
            let measured = canvas.as_ref().and_then(|it| it.measure_text(&text).ok());
            measured.map_or(f64::MAX, |it| it.width() + code)
        });
        self.known.update_value(|known| {
            clear_if_large(known);
            known.insert((engram.id, is_thin), width);
        });
        width
    }
}

/// Returns a claim without its code, and the width of the code in pixels.
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

/// Clears the cache if it holds far more rows than are listed.
pub(super) fn clear_if_large<K, T>(all: &mut HashMap<K, T>) {
    if all.len() > 4 * MAX_ROWS {
        all.clear();
    }
}
