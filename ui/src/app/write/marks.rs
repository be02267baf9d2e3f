//! Marked lines of a source: by dragging over text or numbers, by Shift-click, by Shift and the
//! arrow keys.

use super::add;
use std::sync::Arc;

use engram_model::{EngramId, Lines, Pointer, SourceLine, SourceReply};
use leptos::{ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::{Element, Node, Selection};

use crate::{
    app::{components::icons::Icon, dom, state::App},
    marking::{Marking, markable, marked_pointer},
    words::{self, say},
};

/// Lines of one source of one engram.
#[derive(Clone, Debug)]
pub(super) struct MarkedSpan {
    pub(super) engram: EngramId,
    index: usize,
    marking: Marking,
    source: Arc<SourceReply>,
}

impl MarkedSpan {
    /// Returns the pointer to these lines.
    pub(super) fn pointer(&self) -> Option<Pointer> {
        marked_pointer(&self.source, self.marking.lines())
    }

    /// The lines themselves, without the marks of the evidence that they were found beside.
    pub(super) fn lines(&self) -> Arc<[SourceLine]> {
        let Lines { start, end } = self.marking.lines();
        let all = self.source.lines.iter();
        let own = all.filter(|it| (start..=end).contains(&it.number));
        own.map(|it| SourceLine {
            marked: false,
            ..it.clone()
        })
        .collect()
    }
}

/// The marking of lines in one source.
#[derive(Clone, Copy)]
pub(crate) struct Marks {
    app: App,
    engram: EngramId,
    index: usize,
    source: StoredValue<Arc<SourceReply>>,
    within: Lines,
    marking: Memo<Option<Marking>>,
    is_dragging: StoredValue<bool>,
}

impl Marks {
    /// Returns none if no pointer could lead to the lines.
    pub(crate) fn of(
        app: App,
        engram: EngramId,
        index: usize,
        source: &Arc<SourceReply>,
    ) -> Option<Self> {
        let within = markable(source)?;
        let of_this = move |marked: &Option<MarkedSpan>| {
            let marked = marked.as_ref()?;
            (marked.engram == engram && marked.index == index).then_some(marked.marking)
        };
        Some(Self {
            app,
            engram,
            index,
            source: StoredValue::new(source.clone()),
            within,
            marking: Memo::new(move |_| app.write.marked.with(of_this)),
            is_dragging: StoredValue::new(false),
        })
    }

    /// Whether a line is marked.
    pub(crate) fn has(self, number: u32) -> bool {
        let lines = self.marking.get().map(Marking::lines);
        lines.is_some_and(|it| (it.start..=it.end).contains(&number))
    }

    fn set(self, marking: Option<Marking>) {
        self.app.reading.pointer.set(self.index);
        let marked = marking.map(|marking| MarkedSpan {
            engram: self.engram,
            index: self.index,
            marking,
            source: self.source.get_value(),
        });
        self.app.write.marked.set(marked);
    }

    /// Marks a line or, with Shift, the lines up to it; unmarks a line that is marked alone.
    pub(crate) fn press(self, event: &ev::MouseEvent) {
        self.is_dragging.set_value(false);
        let target = dom::target::<Element>(event);
        let on_number = target.and_then(|it| it.closest(".number").ok()?);
        let Some(line) = on_number.as_ref().and_then(line_of) else {
            return;
        };
        if event.button() != 0 {
            return;
        }
        // Keeps text from being selected; keys continue from here.
        event.prevent_default();
        dom::focus_on(on_number.and_then(|it| it.closest("pre").ok()?));
        let now = self.marking.get_untracked();
        self.is_dragging.set_value(true);
        self.set(match now {
            Some(now) if event.shift_key() => Some(now.reaching(line)),
            Some(now) if now == Marking::at(line) => None,
            _ => Some(Marking::at(line)),
        });
    }

    pub(crate) fn drag(self, event: &ev::MouseEvent) {
        if !self.is_dragging.get_value() {
            return;
        }
        if event.buttons() & 1 == 0 {
            return self.is_dragging.set_value(false);
        }
        let line = dom::target::<Element>(event).as_ref().and_then(line_of);
        if let (Some(line), Some(now)) = (line, self.marking.get_untracked())
            && now.to != line
        {
            self.set(Some(now.reaching(line)));
        }
    }

    /// Marks the lines of the selected text, unless it was selected earlier.
    pub(crate) fn release(self, event: &ev::MouseEvent) {
        if self.is_dragging.get_value() {
            return self.is_dragging.set_value(false);
        }
        let within = event.current_target();
        let within = within.and_then(|it| it.dyn_into::<Element>().ok());
        if let Some(marking) = within.and_then(|it| selected_lines(&it)) {
            self.set(Some(marking));
        }
    }

    /// Shift and an arrow key mark line by line, from the first line of the evidence; Esc unmarks.
    pub(crate) fn key(self, event: &ev::KeyboardEvent) {
        let now = self.marking.get_untracked();
        let marking = match (event.key().as_str(), event.shift_key(), now) {
            ("Escape", _, Some(_)) => None,
            ("ArrowDown" | "ArrowUp", true, None) => Some(Marking::at(self.first())),
            (key @ ("ArrowDown" | "ArrowUp"), true, Some(now)) => {
                Some(now.stepped(key == "ArrowDown", self.within))
            }
            _ => return,
        };
        event.prevent_default();
        self.set(marking);
        if let Some(marking) = marking {
            reveal_line(event, marking.to);
        }
    }

    fn first(self) -> u32 {
        let marked =
            |it: &Arc<SourceReply>| it.lines.iter().find(|it| it.marked).map(|it| it.number);
        self.source.with_value(marked).unwrap_or(self.within.start)
    }
}

/// The number of the line that an element is in.
fn line_of(element: &Element) -> Option<u32> {
    let line = element.closest("[data-line]").ok()??;
    let number = line.get_attribute("data-line")?.parse().ok();
    number.filter(|it| *it > 0)
}

/// The lines of the selected text within an element.
fn selected_lines(within: &Element) -> Option<Marking> {
    let selection = window().get_selection().ok()??;
    if selection.is_collapsed() {
        return None;
    }
    let line = |node: Option<Node>| {
        let node = node.filter(|it| within.contains(Some(it)))?;
        let element = match node.dyn_into::<Element>() {
            Ok(element) => element,
            Err(node) => node.parent_element()?,
        };
        line_of(&element)
    };
    let ends = |it: &Selection| Some((line(it.anchor_node())?, line(it.focus_node())?));
    let (from, to) = ends(&selection)?;
    // A selection that ends before a line's first letter does not include the line.
    Some(match from.cmp(&to) {
        std::cmp::Ordering::Less if selection.focus_offset() == 0 => Marking { from, to: to - 1 },
        std::cmp::Ordering::Greater if selection.anchor_offset() == 0 => {
            Marking { from: from - 1, to }
        }
        _ => Marking { from, to },
    })
}

/// Scrolls a line of the focused source into view.
fn reveal_line(event: &ev::KeyboardEvent, line: u32) {
    let source = dom::target::<Element>(event).and_then(|it| it.closest("pre").ok()?);
    let line = source.and_then(|it| it.query_selector(&format!("[data-line=\"{line}\"]")).ok()?);
    if let Some(line) = line {
        let how = web_sys::ScrollIntoViewOptions::new();
        how.set_block(web_sys::ScrollLogicalPosition::Nearest);
        line.scroll_into_view_with_scroll_into_view_options(&how);
    }
}

/// The marked lines, and their actions; in view as long as the source is.
#[component]
pub(crate) fn MarkedLines(marks: Marks) -> impl IntoView {
    let app = App::here();
    let has = Memo::new(move |_| marks.marking.get().is_some());
    let lines = move || {
        let lines = marks.marking.get().map(Marking::lines);
        lines.map(|it| say::source::lines(it.start, it.end))
    };
    let name = marks.source.with_value(|it| words::visible(&it.label));
    move || {
        has.get().then(|| view! {
            <div class="marked-lines" role="group" aria-label=say::write::MARKED data-testid="marked-lines">
                <span role="status" title=name.clone()>{lines}</span>
                <button data-testid="add-claim" on:click=move |_| add::add_claim(app)>{say::write::ABOUT}" "<kbd>"W"</kbd></button>
                <span class="space"></span>
                <button class="plain" aria-label=say::write::UNMARK data-testid="unmark" on:click=move |_| marks.set(None)>{Icon::Close.draw()}</button>
            </div>
        })
    }
}
