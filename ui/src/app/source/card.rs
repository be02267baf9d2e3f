//! A source card: where a pointer leads and, on request, the exact lines, marked and digested.

use std::{cell::Cell, rc::Rc, sync::Arc};

use engram_model::{
    Blame, BlamePart, DiffSide, Engram, EngramId, Lines, Pointer, PointerInput, PointerType,
    Recorded, Refusal, SourceLine, SourceReply, SourceView, SpanNow, ask,
};
use leptos::{html, prelude::*, task::spawn_local};

use super::{
    code::{Code, Shape},
    document::Document,
    media::{AlsoIs, FoundElsewhere, NoLines, UnreadableSource},
    sides::Sides,
};
use crate::{
    app::{
        components::{icons::Icon, prose::prose},
        dom,
        reading::{self, Panel},
        state::App,
        write::{MarkedLines, Marks},
    },
    compare::fold_unchanged,
    indent::without_indent,
    tags::Tag,
    words::{self, say},
};

/// Parts of a history that are shown before the person asks for more.
const PARTS: usize = 100;
/// Lines of context on each side.
const CONTEXT: u32 = 4;

type SourceAnswer = Result<Arc<SourceReply>, Refusal>;

#[component]
pub(crate) fn SourceCard(
    engram: EngramId,
    /// Its index among all cards that keys reach.
    index: usize,
    pointer: Pointer,
    /// Whether the card is open at first although another one is active.
    #[prop(optional)]
    opens: bool,
    /// Whether only the address is known, not the digest that a claim may have for it.
    #[prop(optional)]
    by_address: bool,
) -> impl IntoView {
    let app = App::here();
    let is_first = opens || index == app.reading.pointer.get_untracked();
    let open = RwSignal::new(is_first);
    let wanted = RwSignal::new(is_first);
    let (asked, known_pointer) = (pointer.clone(), pointer.clone());
    let loaded = LocalResource::new(move || {
        let (wanted, pointer) = (wanted.get(), asked.clone());
        async move {
            if !wanted {
                return None;
            }
            Some(read_source(app, pointer, true).await)
        }
    });
    let toggle = move || {
        let active = app.reading.pointer.get_untracked() == index;
        let is_open = open.get_untracked();
        app.reading.pointer.set(index);
        wanted.set(true);
        // The first press on a card that is open but not the active one only makes it active.
        open.set(!(is_open && active));
    };
    // What this card read in the working tree.
    let seen = RwSignal::new(None::<Arc<SpanNow>>);
    let place_now = follow_place(app, engram, &pointer, seen);
    retry_failed(app, loaded);
    let is_active = move || app.reading.pointer.get() == index;
    let body = move || {
        open.get().then(|| match loaded.get().flatten() {
            None => {
                view! { <p class="wait" aria-busy="true">{say::source::READING}</p> }.into_any()
            }
            Some(Err(refusal)) => {
                let known = untrack(|| reading::current_engram(app)).filter(|it| it.id == engram);
                let known = known.map(|it| (it, known_pointer.clone()));
                view! { <UnreadableSource refusal known retry=move || loaded.refetch() /> }
                    .into_any()
            }
            Some(Ok(source)) => view! { <Shown engram index source seen by_address /> }.into_any(),
        })
    };
    view! {
        <article class="source" class:active=is_active data-testid="pointer-card" data-pointer=pointer.to_string()
            data-open=move || open.get().to_string()>
            <button class="title" id=format!("pointer-{index}") data-testid="pointer-title"
                aria-expanded=move || open.get().to_string()
                on:focus=move |_| app.reading.pointer.set(index)
                on:click=move |_| toggle()>
                <span class="turn" class:open=move || open.get()>{Icon::Chevron.draw()}</span>
                <Title pointer=pointer.clone() />
                {move || place_now.get().map(|it| view! { <span class="now-at" data-testid="now-at"><i>"→"</i>" "{it}</span> })}
                <span class="space"></span>
                <span class="pin" title=words::visible(&pointer.to_string())>{say::source::pinned(&pointer.short_pin())}</span>
            </button>
            {body}
        </article>
    }
}

/// Where the lines are now, if they are no longer where they were pinned: as this card has `seen`
/// them, otherwise as the engram says.
fn follow_place(
    app: App,
    engram: EngramId,
    pointer: &Pointer,
    seen: RwSignal<Option<Arc<SpanNow>>>,
) -> Memo<Option<String>> {
    let path = pointer.name().to_owned();
    let pinned = StoredValue::new(pointer.clone());
    let told = move |it: &Engram| pinned.with_value(|of| words::place_now(it, &of.to_string()));
    let read_at = move |it: &SpanNow| pinned.with_value(|of| words::place_read(of, it));
    let this = move || reading::current_engram(app).filter(|it| it.id == engram);
    // No entry reports that moved lines moved again, so this card has the engram read again.
    Effect::new(move |_| {
        let Some(seen) = seen.get() else { return };
        pinned.with_value(|it| reading::learn_standing(app, it, &seen));
        let has_lines = pinned.with_value(|it| it.lines().is_some());
        let known = untrack(this).filter(|it| has_lines && it.health.is_some());
        if known.is_some_and(|it| told(&it) != read_at(&seen)) {
            reading::reread_health(app, engram);
        }
    });
    Memo::new(move |_| {
        let place = match seen.get() {
            Some(standing) => read_at(&standing)?,
            None => {
                let known = this()?;
                told(&known)?
            }
        };
        // Within the same file, only the lines are new.
        let lines = place
            .strip_prefix(&path)
            .and_then(|it| it.strip_prefix("#L"));
        Some(match lines {
            Some(lines) => say::source::now_at(&lines.replace("-L", "–")),
            None => words::visible(&place),
        })
    })
}

/// Retries what failed, once the engine answers again.
fn retry_failed<T: Clone + 'static>(app: App, read: LocalResource<Option<Result<T, Refusal>>>) {
    Effect::new(move |before: Option<()>| {
        app.stale.track(Tag::Sources);
        let has_failed = untrack(|| matches!(read.get().flatten(), Some(Err(_))));
        if before.is_some() && has_failed {
            read.refetch();
        }
    });
}

/// A flag that is false once the component that asked for it is removed.
fn presence_flag() -> Rc<Cell<bool>> {
    let is_here = Rc::new(Cell::new(true));
    let here = StoredValue::new_local(is_here.clone());
    on_cleanup(move || here.with_value(|it| it.set(false)));
    is_here
}

/// Reads a source. With `soon`, lines that take long to paint may come unpainted.
async fn read_source(app: App, pointer: Pointer, soon: bool) -> SourceAnswer {
    let view = SourceView {
        pointer: PointerInput::from(pointer),
        context: CONTEXT,
        soon,
    };
    app.ask(ask::Source(view)).await.map(Arc::from)
}

/// The path and lines, or whatever else names the source.
#[component]
fn Title(pointer: Pointer) -> impl IntoView {
    let label = pointer.label();
    let name = pointer.name().to_owned();
    let rest = label
        .strip_prefix(&name)
        .map(|it| it.trim_start_matches(['#', ':', ' ']).to_owned());
    let (name, rest) = match (pointer.lines(), rest) {
        (Some(lines), _) => (name, say::source::lines(lines.start, lines.end)),
        (None, Some(rest)) => (name, rest),
        (None, None) => (label, String::new()),
    };
    let name = words::visible(&name);
    let (folder, file) = words::split_path(&name);
    view! {
        <span class="path"><span class="folder">{folder.to_owned()}</span><b class="file">{file.to_owned()}</b></span>
        <span class="lines">{words::visible(&rest)}</span>
        {(pointer.kind() != engram_model::PointerType::Repo).then(|| view! { <span class="sort">{pointer.kind().as_str()}</span> })}
    }
}

/// The panel below the lines of one card.
#[derive(Clone, Copy)]
struct CardPanel {
    app: App,
    index: usize,
}

impl CardPanel {
    fn is_active(self) -> bool {
        self.app.reading.pointer.get() == self.index
    }

    fn is_open(self, panel: Panel) -> bool {
        self.is_active() && self.app.reading.panel.get() == Some(panel)
    }

    fn toggle(self, panel: Panel) {
        self.app.reading.pointer.set(self.index);
        reading::toggle_panel(self.app, panel);
    }

    /// Opens the changes unasked, since a person who opens a drifted claim wants to see them.
    fn open_changes(self, standing: Memo<Option<Arc<SpanNow>>>) {
        let reading = self.app.reading;
        Effect::new(move |seen: Option<bool>| {
            let has_changes = has_changes(standing);
            if self.is_active() {
                reading.has_changes.set(has_changes);
            }
            if has_changes
                && seen != Some(true)
                && untrack(|| self.is_active())
                && reading.panel.get_untracked().is_none()
            {
                reading.opened_itself.set_value(true);
                reading.panel.set(Some(Panel::Changes));
            }
            has_changes || seen == Some(true)
        });
    }
}

fn has_changes(standing: Memo<Option<Arc<SpanNow>>>) -> bool {
    standing.with(|it| it.as_ref().is_some_and(|it| !it.changes.is_empty()))
}

/// What was read, whether it is unchanged, and what became of it since.
#[component]
fn Shown(
    engram: EngramId,
    index: usize,
    source: Arc<SourceReply>,
    seen: RwSignal<Option<Arc<SpanNow>>>,
    by_address: bool,
) -> impl IntoView {
    let app = App::here();
    let panel = CardPanel { app, index };
    let is_compared = source.lines.iter().any(|it| it.side != DiffSide::Both);
    let shape = match source.pointer.kind() {
        PointerType::Sam => Shape::Plain,
        _ if is_compared => Shape::Compared,
        _ => Shape::Source,
    };
    let kept = StoredValue::new(source.clone());
    let pointer = move || kept.with_value(|it| it.pointer.clone());
    let as_source = RwSignal::new(source.document.is_empty());
    let marks = (shape == Shape::Source)
        .then(|| Marks::of(app, engram, index, &source))
        .flatten();
    let standing = follow_standing(app, pointer(), seen);
    panel.open_changes(standing);
    let shows_changes = move || panel.is_open(Panel::Changes) && has_changes(standing);
    let (hidden, more): (u64, fn(&str) -> String) = (
        u64::from(source.hidden),
        if is_compared {
            say::source::more_of_comparison
        } else {
            say::source::more_of_span
        },
    );
    let remark = source.media.clone().filter(|it| it.kind.has_lines());
    let recorded = source.recorded.as_ref().map(|it| view_recorded(app, it));
    let text = view_text(app, source.clone(), shape, as_source, marks);
    view! {
        {source.found_in.clone().map(|found| view! { <FoundElsewhere found /> })}
        {remark.map(|media| view! { <AlsoIs media /> })}
        {recorded}
        // The comparison shows the pinned text too, so the text itself would repeat it.
        {move || (!shows_changes()).then(&text)}
        {marks.map(|marks| view! { <MarkedLines marks /> })}
        {(hidden > 0).then(|| view! {
            <p class="wait" data-testid="more-lines">{more(&words::format_count(hidden, say::LINES))}</p>
        })}
        {move || shows_changes().then(|| standing.get()).flatten().map(|standing| view! { <Changes pointer=pointer() standing /> })}
        {move || panel.is_open(Panel::Blame).then(|| view! { <Blamed pointer=pointer() /> })}
        <Proof source by_address standing panel as_source />
    }
}

/// The text of a source: its lines or its document; if it has neither, what it is.
fn view_text(
    app: App,
    source: Arc<SourceReply>,
    shape: Shape,
    as_source: RwSignal<bool>,
    marks: Option<Marks>,
) -> impl Fn() -> AnyView {
    let name = words::visible(&source.label);
    let count = words::format_count(source.total_lines.into(), say::LINES);
    let label = say::source::label(&name, source.language.as_deref(), &count);
    let lines = painted_lines(app, &source);
    let no_lines = source.media.clone().filter(|it| !it.kind.has_lines());
    move || {
        match (no_lines.clone(), as_source.get()) {
        (Some(media), _) => view! { <NoLines media /> }.into_any(),
        (None, true) => {
            let pointer = Some(source.pointer.clone());
            view! { <Code lines shape label=label.clone() testid="source" pointer marks /> }
                .into_any()
        }
        (None, false) => view! {
            <Document blocks=source.document.clone() label=name.clone() />
            {source.document_cut.then(|| view! { <p class="wait" data-testid="document-cut">{say::source::CUT_DOCUMENT}</p> })}
        }
        .into_any(),
    }
    }
}

/// The lines as they came, and painted ones as soon as those arrive.
fn painted_lines(app: App, source: &SourceReply) -> RwSignal<Arc<[SourceLine]>> {
    let lines = RwSignal::new(Arc::<[SourceLine]>::from(&source.lines[..]));
    if source.unpainted {
        let pointer = source.pointer.clone();
        let (count, is_here) = (source.lines.len(), presence_flag());
        spawn_local(async move {
            let painted = read_source(app, pointer, false).await;
            if let Ok(painted) = painted
                && is_here.get()
                && painted.lines.len() == count
            {
                lines.set(painted.lines[..].into());
            }
        });
    }
    lines
}

/// Tracks how the working tree reads where the pointer was pinned, for as long as the card exists.
fn follow_standing(
    app: App,
    pointer: Pointer,
    seen: RwSignal<Option<Arc<SpanNow>>>,
) -> Memo<Option<Arc<SpanNow>>> {
    let standing = LocalResource::new(move || {
        app.stale.track(Tag::Sources);
        let pointer = pointer.clone();
        async move {
            if pointer.is_in_tree() {
                read_standing(app, pointer).await
            } else {
                None
            }
        }
    });
    let standing = Memo::new(move |_| standing.get().flatten());
    Effect::new(move |_| seen.set(standing.get()));
    on_cleanup(move || {
        // The card may have been removed with its engram.
        seen.try_set(None);
    });
    standing
}

/// Who recorded an event, and when.
fn view_recorded(app: App, recorded: &Recorded) -> impl IntoView + use<> {
    let by = match recorded.by.as_str() {
        "user" => say::engram::YOU,
        by => by,
    };
    let by = words::visible(by);
    let at = app.clock.get_untracked().moment(recorded.at);
    view! { <p class="remark" data-testid="recorded"><span>{say::source::RECORDED_BY}<b>{by}</b>", "{at}</span></p> }
}

/// Below a source: whether it is what was pinned, how the working tree reads, and buttons that show
/// more.
#[component]
fn Proof(
    source: Arc<SourceReply>,
    by_address: bool,
    standing: Memo<Option<Arc<SpanNow>>>,
    panel: CardPanel,
    as_source: RwSignal<bool>,
) -> impl IntoView {
    let (evidence, class) = match source.digest_matches {
        Some(true) if source.pointer.is_of_own_words() => (say::state::OWN_WORDS, "word quiet"),
        Some(true) => (say::state::MATCHES, "word quiet"),
        Some(false) => (say::state::DIFFERS, "word bad"),
        None if by_address => ("", "word quiet"),
        None => (say::state::NO_DIGEST, "word quiet"),
    };
    let has_document = !source.document.is_empty();
    let has_lines = source.media.as_ref().is_none_or(|it| it.kind.has_lines());
    let has_history = source.pointer.is_of_commit() && has_lines && source.found_in.is_none();
    let lines = source.pointer.lines();
    view! {
        <div class="proof">
            <span class=class data-testid="digest-state">{evidence}</span>
            <span class="digest" data-testid="digest" data-digest=source.content_digest.clone() title=source.content_digest.clone()>
                {words::short_digest(&source.content_digest)}
            </span>
            {move || standing.get().map(|standing| view_standing(&standing, lines, panel))}
            <span class="ends">
            {has_document.then(|| view! {
                <button class="plain" data-testid="as-source" on:click=move |_| as_source.update(|it| *it = !*it)>
                    {move || if as_source.get() { say::source::AS_DOCUMENT } else { say::source::AS_SOURCE }}
                </button>
            })}
            {has_history.then(|| view! {
                <button class="plain" data-testid="blame-button" aria-expanded=move || panel.is_open(Panel::Blame).to_string()
                    on:click=move |_| panel.toggle(Panel::Blame)>{say::source::WHO_WROTE}" "<kbd>"⇧ D"</kbd></button>
            })}
            </span>
        </div>
    }
}

/// How the working tree reads, with a button that shows what changed.
fn view_standing(
    standing: &SpanNow,
    then: Option<Lines>,
    panel: CardPanel,
) -> impl IntoView + use<> {
    let (word, class) = words::reading(standing, then);
    let can_compare = !standing.changes.is_empty();
    let media = standing.media.as_ref().map(|it| view! {
        <span class="now" data-testid="media-now"><i>{say::source::IS_NOW}</i>{words::media(it)}<i>", "{words::measures(it)}</i></span>
    });
    view! {
        <span class="now"><i>{say::source::WORKING_TREE}</i><span class=class data-testid="standing" data-reading=format!("{:?}", standing.reading).to_lowercase()>{word}</span></span>
        {media}
        {can_compare.then(|| view! {
            <button class="plain" data-testid="changes-button" aria-expanded=move || panel.is_open(Panel::Changes).to_string()
                on:click=move |_| panel.toggle(Panel::Changes)>{say::source::WHAT_CHANGED}" "<kbd>"D"</kbd></button>
        })}
    }
}

/// Reads how the working tree differs; none if there is no tree to compare with.
async fn read_standing(app: App, pointer: Pointer) -> Option<Arc<SpanNow>> {
    match app.ask(ask::Standing(PointerInput::from(pointer))).await {
        Ok(standing) => Some(Arc::from(standing)),
        Err(refusal) => {
            dom::log(&refusal.to_string());
            None
        }
    }
}

/// A panel that the person opened scrolls into view; one that opened by itself moves nothing.
pub(crate) fn panel_node() -> NodeRef<html::Div> {
    let node = NodeRef::<html::Div>::new();
    let opened_itself = App::here().reading.opened_itself;
    node.on_load(move |element| {
        if opened_itself.try_update_value(std::mem::take) == Some(true) {
            return;
        }
        dom::next_frame(move || {
            let how = web_sys::ScrollIntoViewOptions::new();
            how.set_block(web_sys::ScrollLogicalPosition::Nearest);
            element.scroll_into_view_with_scroll_into_view_options(&how);
        });
    });
    node
}

/// What the span was and what it is now.
#[component]
fn Changes(pointer: Pointer, standing: Arc<SpanNow>) -> impl IntoView {
    let lines: Arc<[SourceLine]> = without_indent(&standing.changes).into();
    let hidden = u64::from(standing.hidden);
    let then = say::source::side(say::source::PINNED, &words::visible(&pointer.short_pin()));
    let elsewhere = words::visible(standing.path.as_deref().unwrap_or_default());
    let now = say::source::side(say::source::NOW, &elsewhere);
    view! {
        <div class="panel" data-testid="changes" node_ref=panel_node()>
            <div class="narrow">
                <h3 class="both"><span>{then.clone()}</span><span>{now.clone()}</span></h3>
                <Below lines=lines.clone() />
            </div>
            <div class="wide"><Sides lines then now /></div>
            {(hidden > 0).then(|| view! {
                <p class="wait" data-testid="more-changes">{say::source::more_of_comparison(&words::format_count(hidden, say::LINES))}</p>
            })}
        </div>
    }
}

/// The two texts one below the other, if there is no room for them side by side.
#[component]
fn Below(lines: Arc<[SourceLine]>) -> impl IntoView {
    let count = |it: u32| words::format_count(it.into(), say::source::UNCHANGED_LINES);
    let short: Arc<[SourceLine]> = fold_unchanged(&lines, count).into();
    let is_folded = RwSignal::new(short.len() < lines.len());
    let shown = move || {
        let lines = if is_folded.get() { &short } else { &lines };
        view! { <Code lines=lines.clone() shape=Shape::Compared label=say::source::WHAT_CHANGED.to_owned() testid="changes-lines" /> }
    };
    view! {
        {shown}
        {move || is_folded.get().then(|| view! {
            <button class="plain more-rows" data-testid="unfold-all" on:click=move |_| is_folded.set(false)>{say::source::UNFOLD}</button>
        })}
    }
}

/// The commits that wrote the lines.
#[component]
fn Blamed(pointer: Pointer) -> impl IntoView {
    let app = App::here();
    let asked = StoredValue::new(pointer);
    let blame = LocalResource::new(move || {
        let request = ask::Blame(PointerInput::from(asked.get_value()));
        async move { Some(app.ask(request).await) }
    });
    retry_failed(app, blame);
    let most = RwSignal::new(PARTS);
    let rows = move |blame: Blame| {
        let (hidden, total) = (u64::from(blame.hidden), blame.parts.len());
        let parts = StoredValue::new(blame.parts);
        let clock = app.clock.get_untracked();
        let row = move |part: BlamePart| {
            let lines = if part.lines.start == part.lines.end {
                part.lines.start.to_string()
            } else {
                format!("{}–{}", part.lines.start, part.lines.end)
            };
            let short: String = part.commit.chars().take(7).collect();
            let when = if part.or_before {
                say::source::or_before(&clock.day(part.at))
            } else {
                clock.day(part.at)
            };
            view! {
                <tr data-testid="blame-row" data-commit=part.commit.clone()>
                    <td class="at">{lines}</td><td class="what">{words::visible(&part.summary)}</td>
                    <td class="who">{words::visible(&part.author)}</td><td class="day">{when}</td>
                    <td class="commit" title=part.commit.clone()>{short}</td>
                </tr>
            }
        };
        let shown = move || {
            parts.with_value(|all| all.iter().take(most.get()).cloned().map(row).collect_view())
        };
        let more = move || {
            let left = total.saturating_sub(most.get());
            (left > 0).then(|| view! {
                <button class="plain more-rows" data-testid="more-parts" on:click=move |_| most.update(|it| *it += PARTS)>
                    {say::source::show_more(left.min(PARTS), &words::format_count(left as u64, say::PARTS))}
                </button>
            })
        };
        view! {
            <table class="blame"><tbody>{shown}</tbody></table>
            {more}
            {(hidden > 0).then(|| view! {
                <p class="wait" data-testid="more-blame">{prose(&say::source::more_of_blame(&words::format_count(hidden, say::LINES)))}</p>
            })}
        }
    };
    view! {
        <div class="panel" data-testid="blame" node_ref=panel_node()>
            <h3>{say::source::WHO_WROTE_LINES}</h3>
            {move || match blame.get().flatten() {
                None => view! { <p class="wait" aria-busy="true">{say::source::FOLLOWING}</p> }.into_any(),
                Some(Ok(blame)) => rows(blame).into_any(),
                Some(Err(refusal)) => view! { <UnreadableSource refusal retry=move || blame.refetch() /> }.into_any(),
            }}
        </div>
    }
}
