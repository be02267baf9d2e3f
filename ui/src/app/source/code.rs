//! Lines of code as the engine painted them: numbered, marked or compared. Long texts are drawn as
//! they are scrolled.

use std::{ops::Range, sync::Arc};

use engram_model::{Class, DiffSide, Piece, Pointer, SourceLine};
use leptos::{ev, html, prelude::*};

use super::long_line::LongLine;
use crate::{
    app::{dom, write::Marks},
    compare,
    words::{self, say},
};

/// A text of more lines gets a scrolling box in which only the visible ones are drawn.
const LONG: usize = 120;
/// Height of a line in pixels (`5-detail.css` has the same).
const LINE: i32 = 20;
/// Lines are drawn in blocks of this many.
const BLOCK: usize = 20;
/// More marked lines than this get an edge and a faint background.
const BROAD: usize = 10;
/// The longest line that is drawn, in characters, including the names of hidden ones: the engine
/// sends no more.
const MAX_LINE: usize = 1_000;

/// How lines are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One text, with the numbers of the file.
    Source,
    /// Two texts, with the numbers of both and signs.
    Compared,
    /// No numbers: a part of a document, or what is in no file.
    Plain,
}

/// All lines or, of a long text, those that are scrolled to.
#[component]
pub(crate) fn Code(
    #[prop(into)] lines: Signal<Arc<[SourceLine]>>,
    shape: Shape,
    label: String,
    testid: &'static str,
    /// The pointer to the lines, if the rest of a long line can be requested.
    #[prop(optional_no_strip)]
    pointer: Option<Pointer>,
    /// The marking of lines, if they can be marked.
    #[prop(optional_no_strip)]
    marks: Option<Marks>,
) -> impl IntoView {
    let reading = RwSignal::new(None::<u32>);
    let reads_on = pointer.is_some() && shape != Shape::Compared;
    let rest = move || {
        let (number, pointer) = reading.get().zip(pointer.clone())?;
        Some(view! { <LongLine pointer number close=move || reading.set(None) /> })
    };
    let now = lines.get_untracked();
    let changed = StoredValue::new(match shape {
        Shape::Compared => compare::marks_of(&now),
        Shape::Source | Shape::Plain => Vec::new(),
    });
    let draw = move |at: usize, line: &SourceLine| {
        let changed = changed.with_value(|all| all.get(at).cloned().unwrap_or_default());
        view_line(line, shape, reads_on.then_some(reading), marks, &changed)
    };
    let marked = now.iter().filter(|it| it.marked).count();
    let is_broad = shape == Shape::Source && marked > BROAD;
    let class = match shape {
        Shape::Source => "source-lines",
        Shape::Compared => "source-lines compared",
        Shape::Plain => "source-lines plain-lines",
    };
    let press = move |event: ev::MouseEvent| marks.iter().for_each(|it| it.press(&event));
    let drag = move |event: ev::MouseEvent| marks.iter().for_each(|it| it.drag(&event));
    let release = move |event: ev::MouseEvent| marks.iter().for_each(|it| it.release(&event));
    let key = move |event: ev::KeyboardEvent| marks.iter().for_each(|it| it.key(&event));
    let keys = marks.is_some().then_some("Shift+ArrowDown Shift+ArrowUp");
    if now.len() <= LONG {
        return view! {
            <pre class=class class:broad=is_broad tabindex="0" aria-label=label data-testid=testid style:--digits=digits(&now) aria-keyshortcuts=keys
                on:mousedown=press on:mousemove=drag on:mouseup=release on:keydown=key>
                <code>{move || lines.with(|all| all.iter().enumerate().map(|(at, line)| draw(at, line)).collect_view())}</code>
            </pre>
            {rest}
        }
        .into_any();
    }
    let (node, first) = (NodeRef::<html::Pre>::new(), RwSignal::new(0usize));
    view! {
        <pre class=class class:long=true class:broad=is_broad tabindex="0" node_ref=node aria-label=label data-testid=testid
            style:--digits=digits(&now) on:scroll=move |_| follow_scroll(node, first) aria-keyshortcuts=keys
            on:mousedown=press on:mousemove=drag on:mouseup=release on:keydown=key>
            {view_scrolled(lines, node, first, draw)}
        </pre>
        {rest}
    }
    .into_any()
}

/// The number of digits of the highest line number.
fn digits(lines: &[SourceLine]) -> String {
    let numbers = lines.iter().map(|it| it.number.max(it.before));
    let most = numbers.max().unwrap_or(0).to_string();
    most.len().max(2).to_string()
}

/// Tracks the scroll position of the box: the first line of a block.
fn follow_scroll(node: NodeRef<html::Pre>, first: RwSignal<usize>) {
    if let Some(element) = node.get_untracked() {
        let at = (element.scroll_top().max(0) / LINE) as usize / BLOCK * BLOCK;
        if first.get_untracked() != at {
            first.set(at);
        }
    }
}

/// The lines around the `first` visible one, in a box as high as all lines.
fn view_scrolled(
    lines: Signal<Arc<[SourceLine]>>,
    node: NodeRef<html::Pre>,
    first: RwSignal<usize>,
    draw: impl Fn(usize, &SourceLine) -> AnyView + Copy + Send + 'static,
) -> impl IntoView {
    let now = lines.get_untracked();
    let total = now.len();
    // The first marked line is in the upper part of the box.
    let marked = now.iter().position(|it| it.marked);
    let start = marked.unwrap_or(0).saturating_sub(4);
    node.on_load(move |element| {
        let element = element.clone();
        dom::next_frame(move || {
            element.set_scroll_top(start as i32 * LINE);
            first.set(start / BLOCK * BLOCK);
        });
    });
    let window = move |first: usize| -> Range<usize> {
        first.saturating_sub(BLOCK)..(first + 3 * BLOCK).min(total)
    };
    // A line that stays visible is not drawn again, so that its focus stays.
    let seen = move || {
        let version = lines.with(|it| it.as_ptr() as usize);
        window(first.get()).map(move |at| (version, at))
    };
    let drawn = move |(_, at)| lines.with_untracked(|all| all.get(at).map(|it| draw(at, it)));
    let top = move || format!("{}px", window(first.get()).start as i32 * LINE);
    view! {
        <code style:height=format!("{}px", total as i32 * LINE) style:padding-top=top>
            <For each=seen key=|it| *it children=drawn />
        </code>
    }
}

fn view_line(
    line: &SourceLine,
    shape: Shape,
    reading: Option<RwSignal<Option<u32>>>,
    marks: Option<Marks>,
    changed: &[Range<usize>],
) -> AnyView {
    let (side, sign, said) = match line.side {
        DiffSide::Both => ("", " ", ""),
        DiffSide::Added => ("added", "+", say::source::ADDED),
        DiffSide::Removed => ("removed", "−", say::source::REMOVED),
        DiffSide::Hunk => {
            let text = if line.text.is_empty() {
                "⋯".to_owned()
            } else {
                line.text.clone()
            };
            return view! { <span class="line hunk"><span class="text">{text}</span></span> }
                .into_any();
        }
    };
    let number = |number: u32| (number > 0).then(|| number.to_string());
    let numbers = match shape {
        Shape::Source => {
            let title = marks.map(|_| say::write::MARK);
            view! { <span class="number" aria-hidden="true" title=title>{number(line.number)}</span> }
                .into_any()
        }
        Shape::Compared => view! {
            <span class="number then" aria-hidden="true">{number(line.before)}</span>
            <span class="number" aria-hidden="true">{number(line.number)}</span>
            <span class="sign" aria-hidden="true">{sign}</span>
            <span class="offscreen">{said}</span>
        }
        .into_any(),
        Shape::Plain => ().into_any(),
    };
    let number = line.number;
    let drawn = words::beginning(&line.text, MAX_LINE);
    let rest = line.text[drawn.len()..].chars().count() as u64 + u64::from(line.cut);
    let cut = (rest > 0).then(|| {
        let more = words::format_count(rest, say::CHARACTERS);
        let more = say::source::more_characters(&more);
        let said = say::source::read_on(number, &more);
        match reading {
            Some(reading) => view! {
                <button class="cut" data-testid="read-on" aria-label=said
                    on:click=move |_| reading.set(Some(number))>{more}</button>
            }
            .into_any(),
            None => view! { <span class="cut">{more}</span> }.into_any(),
        }
    });
    let text = view_pieces(drawn, &line.pieces, changed);
    view! {
        <span class=format!("line {side}") class:marked=line.marked class:chosen=move || marks.is_some_and(|it| it.has(number)) data-testid="source-line" data-line=line.number.to_string()
            data-marked=line.marked.then_some("true")>
            {numbers}
            <span class="text">{text}</span>
            {cut}
        </span>
    }
    .into_any()
}

/// Renders a text in its pieces, the rest plain; byte ranges can be marked.
pub(crate) fn view_pieces(whole: &str, pieces: &[Piece], marks: &[Range<usize>]) -> Vec<AnyView> {
    let mut views = Vec::with_capacity(pieces.len());
    let mut at = 0usize;
    let lengths = pieces.iter().map(|piece| (piece.0, piece.1 as usize));
    let rest = std::iter::once((Class::Plain, usize::MAX));
    for (kind, length) in lengths.chain(rest) {
        let end = at.saturating_add(length).min(whole.len());
        // A piece is cut where a mark begins or ends; marks are in order.
        let edges = marks.iter().flat_map(|it| [it.start, it.end]);
        let edges = edges.filter(|it| (at..end).contains(it));
        let cuts: Vec<usize> = std::iter::once(at).chain(edges).chain([end]).collect();
        for (from, to) in cuts.iter().copied().zip(cuts.iter().copied().skip(1)) {
            let Some(text) = whole.get(from..to).filter(|text| !text.is_empty()) else {
                continue;
            };
            views.push(view_piece(
                words::visible(text),
                class_of(kind),
                marks.iter().any(|it| it.contains(&from)),
            ));
        }
        at = end;
    }
    views
}

fn view_piece(text: String, class: &'static str, is_marked: bool) -> AnyView {
    match (class, is_marked) {
        ("", false) => text.into_any(),
        (class, false) => view! { <span class=class>{text}</span> }.into_any(),
        (class, true) => view! { <mark class=class>{text}</mark> }.into_any(),
    }
}

fn class_of(class: Class) -> &'static str {
    match class {
        Class::Plain => "",
        Class::Keyword => "kw",
        Class::Text => "str",
        Class::Value => "val",
        Class::Comment => "com",
        Class::Function => "fun",
        Class::Type => "typ",
        Class::Name => "nam",
        Class::Heading => "hed",
    }
}
