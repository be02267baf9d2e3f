//! A source card: where a pointer leads, and on request the very lines, marked and digested.

use std::sync::Arc;

use engram_model::{
    EngramId, Pointer, PointerInput, Refusal, Reply, Request, SourceReply, SourceView,
};
use leptos::prelude::*;

use super::{
    backend::strange,
    icons::Icon,
    state::{App, sentence},
};
use crate::{
    syntax::{Class, Language, Painter},
    words,
};

/// Lines of surroundings on each side.
const CONTEXT: u32 = 4;
/// Most lines that are drawn at once.
const MOST: usize = 1_000;

type Loaded = Result<Arc<SourceReply>, Refusal>;

#[component]
pub(crate) fn SourceCard(engram: EngramId, index: usize, pointer: Pointer) -> impl IntoView {
    let app = App::here();
    let open = RwSignal::new(index == 0);
    let wanted = RwSignal::new(index == 0);
    let asked = pointer.clone();
    let loaded = LocalResource::new(move || {
        let (wanted, pointer) = (wanted.get(), asked.clone());
        async move {
            if !wanted {
                return None;
            }
            let loaded = read(app, pointer).await;
            if let Ok(source) = &loaded {
                app.keep_source(engram, index, source.clone());
            }
            Some(loaded)
        }
    });
    let toggle = move || {
        let active = app.pointer.get_untracked() == index;
        let is_open = open.get_untracked();
        app.pointer.set(index);
        wanted.set(true);
        // The first press on a card that is open but not the active one only makes it active.
        open.set(!(is_open && active));
    };
    let is_active = move || app.pointer.get() == index;
    let body = move || {
        open.get().then(|| match loaded.get().flatten() {
            None => view! { <p class="wait" aria-busy="true">"Reading the pinned source…"</p> }
                .into_any(),
            Some(Err(refusal)) => {
                view! { <Refused refusal retry=move || loaded.refetch() /> }.into_any()
            }
            Some(Ok(source)) => view! { <Lines source /> }.into_any(),
        })
    };
    view! {
        <article class="source" class:active=is_active data-testid="pointer-card" data-pointer=pointer.to_string()
            data-open=move || open.get().to_string()>
            <button class="title" id=format!("pointer-{index}") data-testid="pointer-title"
                aria-expanded=move || open.get().to_string()
                on:focus=move |_| app.pointer.set(index)
                on:click=move |_| toggle()>
                <span class="turn" class:open=move || open.get()>{Icon::Chevron.draw()}</span>
                <Title pointer=pointer.clone() />
                <span class="space"></span>
                <span class="pin" title=pointer.to_string()>{format!("pinned {}", pointer.short_pin())}</span>
            </button>
            {body}
        </article>
    }
}

async fn read(app: App, pointer: Pointer) -> Loaded {
    let view = SourceView {
        pointer: PointerInput::from(pointer),
        context: CONTEXT,
    };
    match app.backend().read(Request::Source(view)).await? {
        Reply::Source(source) => Ok(Arc::from(source)),
        _ => Err(strange(&"not a source")),
    }
}

/// Path and lines, or whatever names the source.
#[component]
fn Title(pointer: Pointer) -> impl IntoView {
    let label = pointer.label();
    let name = pointer.name().to_owned();
    let rest = label
        .strip_prefix(&name)
        .map(|it| it.trim_start_matches(['#', ':', ' ']).to_owned());
    let (name, rest) = match (pointer.lines(), rest) {
        (Some(lines), _) if lines.start == lines.end => (name, format!("line {}", lines.start)),
        (Some(lines), _) => (name, format!("lines {}–{}", lines.start, lines.end)),
        (None, Some(rest)) => (name, rest),
        (None, None) => (label, String::new()),
    };
    let (folder, file) = words::split_path(&name);
    view! {
        <span class="path"><span class="folder">{folder.to_owned()}</span><b class="file">{file.to_owned()}</b></span>
        <span class="lines">{rest}</span>
        {(pointer.kind() != engram_model::PointerType::Repo).then(|| view! { <span class="sort">{pointer.kind().as_str()}</span> })}
    }
}

#[component]
fn Lines(source: Arc<SourceReply>) -> impl IntoView {
    let evidence = match source.digest_matches {
        Some(true) => ("evidence unchanged", "word ok"),
        Some(false) => ("evidence differs from what was read", "word bad"),
        None => ("no digest was recorded", "word quiet"),
    };
    let language = Language::of(source.pointer.name());
    let mut painter = Painter::default();
    let hidden = source.lines.len().saturating_sub(MOST);
    let lines: Vec<_> = source
        .lines
        .iter()
        .take(MOST)
        .map(|line| {
            let pieces = match language {
                Some(language) => painter.line(language, &line.text),
                None => vec![(Class::Plain, line.text.as_str())],
            };
            let pieces = pieces.into_iter().map(|(class, text)| piece(class, text.to_owned())).collect_view();
            view! {
                <span class="line" class:marked=line.marked data-testid="source-line" data-line=line.number.to_string()
                    data-marked=line.marked.then_some("true")>
                    <span class="number" aria-hidden="true">{line.number}</span>
                    <span class="text">{pieces}</span>
                </span>
            }
        })
        .collect();
    let width = source
        .lines
        .last()
        .map_or(2, |it| it.number.to_string().len().max(2));
    view! {
        <pre tabindex="0" aria-label=format!("{}, {} lines in all", source.label, source.total_lines) data-testid="source"
            style:--digits=width.to_string()><code>{lines}</code></pre>
        {(hidden > 0).then(|| view! {
            <p class="wait">{format!("{} more in this span: open it in the editor to read on.", words::count(hidden as u64, "line", "lines"))}</p>
        })}
        <p class="proof">
            <span class=evidence.1 data-testid="digest-state">{evidence.0}</span>
            <span class="digest" data-testid="digest" data-digest=source.content_digest.clone() title=source.content_digest.clone()>
                {words::short_digest(&source.content_digest)}
            </span>
            <span class="space"></span>
            <span class="quiet">{format!("{} in the file", words::count(u64::from(source.total_lines), "line", "lines"))}</span>
        </p>
    }
}

fn piece(class: Class, text: String) -> AnyView {
    match class {
        Class::Plain => text.into_any(),
        Class::Keyword => view! { <span class="kw">{text}</span> }.into_any(),
        Class::Text => view! { <span class="str">{text}</span> }.into_any(),
        Class::Comment => view! { <span class="com">{text}</span> }.into_any(),
    }
}

/// Why the source cannot be shown, and what to do.
#[component]
fn Refused(refusal: Refusal, retry: impl Fn() + 'static) -> impl IntoView {
    view! {
        <div class="refused" role="alert" data-testid="source-refused" data-code=refusal.code.as_str()>
            {Icon::Alert.draw()}
            <p><b>{sentence(&refusal.message)}</b>" "<span>{refusal.hint}</span></p>
            <button on:click=move |_| retry()>"Try again"</button>
        </div>
    }
}
