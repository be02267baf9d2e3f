//! One row of the list.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use engram_model::{Engram, EngramId};
use leptos::{html, prelude::*};

use super::{chosen, heights::clear_if_large, state};
use crate::{
    app::{
        components::{icons::Icon, prose},
        dom,
        state::App,
    },
    words::{self, State, say},
};

/// What a row shows.
#[derive(Clone, PartialEq)]
pub(super) struct RowContent {
    pub(super) engram: Arc<Engram>,
    pub(super) state: State,
    /// How long ago it was recorded.
    pub(super) ago: String,
    /// The index of the row.
    pub(super) index: usize,
    /// How many rows there are; none while there are more to load.
    pub(super) of: Option<usize>,
    /// The topic that begins with this row, in a list by topic.
    pub(super) topic: Option<String>,
    /// When it ends, if that is soon.
    pub(super) ends: Option<String>,
    /// Pixels from the top of the list.
    pub(super) top: u32,
    pub(super) height: u32,
    pub(super) is_short: bool,
    pub(super) is_selected: bool,
    /// Whether the row is selected; none if no row is, and keys act on the open one.
    pub(super) is_chosen: Option<bool>,
    /// Whether its repository is unavailable.
    pub(super) is_unavailable: bool,
    /// What a search found in its claim.
    pub(super) marks: Vec<Range<usize>>,
    /// Whether it arrived since the last look.
    pub(super) is_new: bool,
    /// Whether it is shown whole, with all its evidence.
    pub(super) is_whole: bool,
    /// Whether its slot is free: it is not shown, and waits for another engram.
    pub(super) is_free: bool,
}

/// The slots in the page where rows are drawn. A slot whose engram leaves the screen takes another
/// engram and is never removed: rows come by the thousand, and each new slot leaves something
/// behind in the page and in Leptos.
#[derive(Default)]
pub(super) struct RowSlots(Vec<RowSlot>);

/// A slot's number and what it shows; its row reads nothing else that changes.
pub(super) type RowSlot = (usize, ArcRwSignal<RowContent>);

impl RowSlots {
    /// Sets what each slot shows now; returns the free slots, then the others in the order of the
    /// rows.
    pub(super) fn fill(&mut self, rows: Vec<RowContent>) -> Vec<RowSlot> {
        let id = |(_, content): &RowSlot| content.with_untracked(|it| it.engram.id);
        let slots = self.0.iter().map(|it| (id(it), it.clone()));
        let slots: HashMap<EngramId, RowSlot> = slots.collect();
        let stay = rows.iter().map(|it| slots.get(&it.engram.id).cloned());
        let stay: Vec<Option<RowSlot>> = stay.collect();
        let taken: HashSet<usize> = stay.iter().flatten().map(|it| it.0).collect();
        let free = self.0.iter().filter(|it| !taken.contains(&it.0)).cloned();
        let mut free: Vec<RowSlot> = free.collect();
        let mut filled = Vec::with_capacity(self.0.len());
        for (row, slot) in rows.into_iter().zip(stay) {
            let slot = match slot.or_else(|| free.pop()) {
                Some(slot) => {
                    if slot.1.with_untracked(|it| *it != row) {
                        slot.1.set(row);
                    }
                    slot
                }
                None => {
                    let slot = (self.0.len(), ArcRwSignal::new(row));
                    self.0.push(slot.clone());
                    slot
                }
            };
            filled.push(slot);
        }
        for (_, content) in &free {
            if content.with_untracked(|it| !it.is_free) {
                content.update(|it| it.is_free = true);
            }
        }
        free.extend(filled);
        free
    }
}

/// The most characters of line numbers; what is longer names a test or a section.
const LINES_CHARS: usize = 16;

/// Returns the id of a row's element.
pub(crate) fn engram_row_id(id: EngramId) -> String {
    format!("row-{id}")
}

#[component]
pub(super) fn Row(row: ArcRwSignal<RowContent>, shown_at: ShownAt) -> impl IntoView {
    let app = App::here();
    let row = RwSignal::from(row);
    let id = Memo::new(move |_| row.with(|it| it.engram.id));
    let is_free = Memo::new(move |_| row.with(|it| it.is_free));
    // A free slot shows no row.
    let shown = move || (!is_free.get()).then(|| id.get());
    let what = Memo::new(move |_| {
        row.with(|it| {
            (
                it.engram.clone(),
                it.state,
                it.ago.clone(),
                it.marks.clone(),
                it.is_unavailable,
                it.ends.clone(),
            )
        })
    });
    let is_whole = Memo::new(move |_| row.with(|it| it.is_whole));
    let is_new = Memo::new(move |_| row.with(|it| it.is_new));
    let height = move || row.with(|it| it.is_whole.then(|| format!("{}px", it.height)));
    let all = move || {
        is_whole
            .get()
            .then(|| what.with(|(engram, ..)| view_more(engram)))
    };
    let node = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        if let (Some(element), Some(id)) = (node.get(), shown()) {
            shown_at.mark(id, element);
        }
    });
    view! {
        <div class="row" node_ref=node role="option" hidden=is_free
            id=move || shown().map(engram_row_id)
            data-testid=move || shown().map(|_| "feed-row")
            data-id=move || shown().map(|it| it.to_string())
            class:selected=move || row.with(|it| it.is_selected)
            class:chosen=move || row.with(|it| it.is_chosen == Some(true))
            class:short=move || row.with(|it| it.is_short && !it.is_whole)
            class:opened=is_whole
            class:new=is_new
            style:height=height
            style:transform=move || row.with(|it| format!("translateY({}px)", it.top))
            aria-selected=move || row.with(|it| it.is_chosen.unwrap_or(it.is_selected).to_string())
            aria-posinset=move || row.with(|it| (it.index + 1).to_string())
            aria-setsize=move || row.with(|it| it.of.map_or("-1".to_owned(), |of| of.to_string()))
            on:mousedown=dom::prevent_text_selection
            on:click=move |event| chosen::press_row(app, id.get_untracked(), &event)
            on:dblclick=move |event| if !dom::is_choosing(&event) { state::toggle_row(app) }>
            {move || row.with(|it| it.topic.clone()).map(|it| view! { <span class="offscreen">{say::knowledge::topic(&it)}</span> })}
            {move || is_new.get().then(|| view! { <span class="offscreen">{say::list::IS_NEW}</span> })}
            {move || what.with(|(engram, state, ago, marks, is_unavailable, ends)| view_content(engram, *state, ago, marks, *is_unavailable, ends.clone()))}
            {all}
        </div>
    }
}

fn view_content(
    engram: &Engram,
    state: State,
    ago: &str,
    marks: &[Range<usize>],
    is_unavailable: bool,
    ends: Option<String>,
) -> impl IntoView + use<> {
    let icon = if engram.redacted {
        Icon::Erased
    } else {
        Icon::Of(engram.kind)
    };
    let others = engram.pointers.len().saturating_sub(1);
    // What was stored without evidence has only itself to show.
    let first = engram.pointers.first().filter(|it| !it.is_of_own_words());
    // Shows where the evidence is now; the word beside it says that it moved.
    let pointer = first
        .and_then(|pointer| words::place_now(engram, &pointer.to_string()))
        .or_else(|| first.map(|pointer| pointer.label()))
        .unwrap_or_default();
    let pointer = words::visible(&pointer);
    let (word, class) = match (state.word(), state) {
        (Some(word), _) => (word, "word gone"),
        (None, State::Held) => words::as_stored(engram),
        (None, _) => words::evidence(engram, is_unavailable),
    };
    let at = words::recorded(engram);
    let (folder, file, lines) = split_pointer(&pointer);
    let has_name = lines.chars().count() > LINES_CHARS;
    let claim = view_claim(engram, marks);
    view! {
        <span class="kind" title=words::kind(engram.kind)>{icon.draw()}<span class="offscreen">{words::kind(engram.kind)}</span></span>
        <div class="said">
            <p class:closed={!state.holds() && !engram.redacted} class:erased=engram.redacted dir=claim.direction>{claim.text}</p>
            <time datetime=at.to_string() title=dom::clock().moment(at)>{ago.to_owned()}</time>
        </div>
        <div class="meta">
            <span class="from">
                <span class="by">{words::author(engram)}</span>
                <span class="pointer" title=pointer.clone()><span class="file"><span>{file}</span><span class="at" class:name=has_name>{lines}</span></span><span class="folder">{folder}</span></span>
                {(others > 0).then(|| view! { <span class="more">{format!("+{others}")}</span> })}
            </span>
            {ends.map(|it| view! { <span class="word warn" data-testid="ends">{it}</span> })}
            {(!engram.conflicts.is_empty()).then(|| view! { <span class="word bad" data-testid="in-conflict">{say::state::IN_CONFLICT}</span> })}
            <span class=class data-testid="evidence">
                {match class {
                    // All is well: a mark for the eye, a word for screen readers.
                    "word well" => view! { {Icon::Check.draw()}<span class="offscreen">{word}</span> }.into_any(),
                    _ => word.into_any(),
                }}
            </span>
        </div>
    }
}

/// The claim, with what a search found in it marked.
fn view_claim(engram: &Engram, marks: &[Range<usize>]) -> prose::Claim {
    if engram.redacted {
        prose::claim(&words::claim(engram), &[])
    } else {
        prose::claim(&engram.claim, marks)
    }
}

/// What a row that is shown whole adds: every pointer, and what the claim is.
fn view_more(engram: &Engram) -> impl IntoView + use<> {
    let pointers = engram.pointers.iter().map(|pointer| {
        let place =
            words::place_now(engram, &pointer.to_string()).unwrap_or_else(|| pointer.label());
        view! { <li class="pointer">{words::visible(&place)}</li> }
    });
    let said = [
        words::kind(engram.kind).to_owned(),
        words::visible(&engram.topic),
        say::list::confidence(engram.confidence),
    ];
    let said: Vec<String> = said.into_iter().filter(|it| !it.is_empty()).collect();
    view! {
        <div class="about-it" data-testid="row-more">
            <p>{said.join(" · ")}</p>
            <ul>{pointers.collect_view()}</ul>
        </div>
    }
}

/// Splits a pointer into folder, file and lines. The file matters most: a row has little room, and
/// the folder can be cut.
fn split_pointer(pointer: &str) -> (String, String, String) {
    let (folder, file) = words::split_path(pointer);
    let (file, lines) = file.split_at(file.rfind("#L").unwrap_or(file.len()));
    let folder = folder.trim_end_matches('/');
    (folder.to_owned(), file.to_owned(), lines.to_owned())
}

/// When each row was first on the screen, also written to the row as `data-shown-at` for
/// measurements from outside.
#[derive(Clone, Copy)]
pub(super) struct ShownAt(StoredValue<HashMap<EngramId, f64>>);

impl ShownAt {
    pub(super) fn new() -> Self {
        Self(StoredValue::default())
    }

    fn mark(self, id: EngramId, element: web_sys::HtmlDivElement) {
        // The previous engram in this slot was shown at another time.
        let _ = element.remove_attribute("data-shown-at");
        dom::next_frame(move || {
            let now = js_sys::Date::now();
            let first = self.0.try_update_value(|all| {
                clear_if_large(all);
                *all.entry(id).or_insert(now)
            });
            // If the attribute cannot be set, only measurements miss it.
            let at = first.unwrap_or(now);
            let _ = element.set_attribute("data-shown-at", &format!("{at:.0}"));
        });
    }
}
