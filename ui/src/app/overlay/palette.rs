//! The palette: finds every command, view, open repository and loaded engram by a few letters, and
//! can search all claims.

use std::sync::Arc;

use engram_model::{Engram, Filter, Recent};
use leptos::{ev, html, prelude::*};

use crate::{
    app::{
        act,
        components::{icons::Icon, prose},
        dom,
        frame::{Over, room},
        overlay::Modal,
        reading, repositories,
        state::App,
        views::{self, VIEWS, View, feed},
    },
    commands::{self, Act, Command},
    fuzzy::{self, Fit},
    words::{self, say},
};

/// Most engrams that are listed, and most entries of every other sort.
const ENGRAMS: usize = 8;
const ALL: usize = 40;

/// What can be found.
#[derive(Clone)]
enum PaletteEntry {
    View(&'static View),
    Command(&'static Command),
    Repository(Recent),
    Engram(Arc<Engram>),
    /// A search of all claims for these words, loaded or not.
    Search(String),
}

/// An entry that was found.
#[derive(Clone)]
struct PaletteMatch {
    entry: PaletteEntry,
    fit: Fit,
}

impl PaletteEntry {
    fn text(&self) -> &str {
        match self {
            Self::View(view) => view.title,
            Self::Command(command) => command.title,
            Self::Repository(repository) => &repository.name,
            Self::Engram(engram) => &engram.claim,
            Self::Search(words) => words,
        }
    }

    fn icon(&self) -> Option<Icon> {
        match self {
            Self::View(view) => Some(view.icon),
            Self::Command(_) => Some(Icon::Chevron),
            Self::Repository(_) => Some(Icon::Repository),
            Self::Engram(engram) => Some(Icon::Of(engram.kind)),
            Self::Search(_) => Some(Icon::Search),
        }
    }

    fn sort(&self) -> &'static str {
        match self {
            Self::View(_) => say::rail::VIEWS,
            Self::Command(_) => say::sheet::COMMANDS,
            Self::Repository(_) => say::rail::OPEN_REPOSITORIES,
            Self::Engram(_) => say::sheet::ENGRAMS,
            Self::Search(_) => say::sheet::ALL_CLAIMS,
        }
    }

    fn perform(&self, app: App) {
        match self {
            Self::View(view) => views::show_view(app, view),
            Self::Command(command) => act::run(app, command),
            Self::Repository(repository) => {
                repositories::open_repository(app, repository.path.clone())
            }
            Self::Engram(engram) => {
                reading::go_to_engram(app, engram.id);
                room::focus_pane(app);
            }
            Self::Search(words) => {
                let filter = Filter {
                    text: words.clone(),
                    ..Filter::default()
                };
                feed::show_filtered(app, &feed::VIEW, filter, true);
                dom::focus("feed");
            }
        }
    }
}

/// Finds views, commands, background repositories and engrams, each sort best first. It finds only
/// loaded engrams of the list; the last entry searches the others.
fn find_entries(app: App, query: &str) -> Vec<PaletteMatch> {
    let fit = |entry: PaletteEntry| {
        let fit = fuzzy::fit(query, entry.text())?;
        Some(PaletteMatch { entry, fit })
    };
    let best = |mut found: Vec<PaletteMatch>, most: usize| {
        found.sort_by_key(|it| -it.fit.score);
        found.truncate(most);
        found
    };
    let views = VIEWS
        .iter()
        .filter(|it| untrack(|| it.is_here(app)))
        .map(|&it| PaletteEntry::View(it));
    let views = best(views.filter_map(fit).collect(), ALL);
    let acts = commands::commands_of(app.view.get_untracked());
    let acts = acts.filter(|it| {
        !matches!(it.act(), Some(Act::Palette | Act::View | Act::Repository))
            && act::can_run(app, it)
    });
    let acts = acts.map(PaletteEntry::Command);
    let acts = best(acts.filter_map(fit).collect(), ALL);
    let others = app.repositories.opened.get_untracked().into_iter();
    let front = app.repositories.root();
    let is_behind = |it: &Recent| front.as_ref() != Some(&it.path);
    let others = others.filter(is_behind).map(PaletteEntry::Repository);
    let others = best(others.filter_map(fit).collect(), ALL);
    let rows = if query.trim().is_empty() {
        Vec::new()
    } else {
        untrack(|| feed::listed_rows(app))
    };
    let rows = rows
        .into_iter()
        .filter(|it| !it.redacted)
        .map(PaletteEntry::Engram);
    let rows = best(rows.filter_map(fit).collect(), ENGRAMS);
    let mut sorts = [views, acts, others, rows];
    // Words that fit claims better than commands are meant for claims.
    let top = |found: &Vec<PaletteMatch>| found.first().map_or(i32::MIN, |it| it.fit.score);
    if !query.trim().is_empty() {
        sorts.sort_by_key(|it| -i64::from(top(it)));
    }
    let words = query.trim();
    let search = (!words.is_empty()).then(|| PaletteMatch {
        entry: PaletteEntry::Search(words.to_owned()),
        fit: Fit::default(),
    });
    sorts.into_iter().flatten().chain(search).collect()
}

#[component]
pub(crate) fn Palette() -> impl IntoView {
    let app = App::here();
    view! {
        <Modal over=Over::Palette label=say::sheet::FIND class="palette">
            <Search app />
        </Modal>
    }
}

#[component]
fn Search(app: App) -> impl IntoView {
    let (query, at) = (RwSignal::new(String::new()), RwSignal::new(0usize));
    let found = Memo::new_with_compare(move |_| find_entries(app, &query.get()), |_, _| true);
    let field = NodeRef::<html::Input>::new();
    field.on_load(|input| {
        // If this is refused, the dialog focuses its first field by itself.
        let _ = input.focus();
    });
    let perform = move |index: usize| {
        if let Some(matched) = found.with_untracked(|all| all.get(index).cloned()) {
            app.frame.over.set(None);
            // The dialog returns the focus first; the action may then take it.
            dom::next_frame(move || matched.entry.perform(app));
        }
    };
    let keys = move |event: ev::KeyboardEvent| {
        let last = found.with_untracked(Vec::len).saturating_sub(1);
        let now = at.get_untracked();
        match event.key().as_str() {
            "ArrowDown" => at.set(if now >= last { 0 } else { now + 1 }),
            "ArrowUp" => at.set(if now == 0 { last } else { now - 1 }),
            "PageDown" => at.set((now + 8).min(last)),
            "PageUp" => at.set(now.saturating_sub(8)),
            "Enter" => perform(now),
            _ => return,
        }
        event.prevent_default();
        dom::reveal(&option_id(at.get_untracked()));
    };
    let typed = move |event| {
        query.set(event_target_value(&event));
        at.set(0);
        dom::reveal(&option_id(0));
    };
    let listed = move || {
        let mut sort = "";
        let all = found.get().into_iter().enumerate();
        all.map(|(index, matched)| {
            let head = (matched.entry.sort() != sort).then(|| matched.entry.sort());
            sort = matched.entry.sort();
            view! {
                {head.map(|it| view! { <div class="sort" role="presentation">{it}</div> })}
                {view_option(matched, index, at, perform)}
            }
        })
        .collect_view()
    };
    view! {
        <div class="ask">
            {Icon::Search.draw()}
            <input node_ref=field type="text" data-testid="palette-input" placeholder=say::sheet::FIND_HINT aria-label=say::sheet::FIND_FIELD
                role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list" autocomplete="off" spellcheck="false"
                aria-activedescendant=move || found.with(|it| !it.is_empty()).then(|| option_id(at.get()))
                on:input=typed on:keydown=keys />
            <kbd>"Esc"</kbd>
        </div>
        <div class="found" id="palette-list" role="listbox" aria-label=say::sheet::FOUND>{listed}</div>
        {move || found.with(|all| all.iter().all(|it| matches!(it.entry, PaletteEntry::Search(_)))).then(|| view! {
            <p class="nothing" role="status">{say::sheet::NOTHING}</p>
        })}
    }
}

fn option_id(index: usize) -> String {
    format!("found-{index}")
}

fn view_option(
    matched: PaletteMatch,
    index: usize,
    at: RwSignal<usize>,
    perform: impl Fn(usize) + Copy + 'static,
) -> impl IntoView {
    let pieces = fuzzy::matched_pieces(matched.entry.text(), &matched.fit.at);
    let piece = |(is_meant, text): &(bool, String)| {
        if *is_meant {
            view! { <mark>{words::visible(text)}</mark> }.into_any()
        } else {
            words::visible(text).into_any()
        }
    };
    let text = match &matched.entry {
        PaletteEntry::Engram(_) => {
            let marked = pieces
                .iter()
                .flat_map(|(is_meant, text)| vec![*is_meant; text.len()]);
            prose::marked_claim(matched.entry.text(), &marked.collect::<Vec<bool>>())
        }
        _ => prose::Claim {
            direction: None,
            text: pieces.iter().map(piece).collect(),
        },
    };
    let aside = match &matched.entry {
        PaletteEntry::Command(command) => {
            command.keys.first().map(|chord| keycaps(chord).into_any())
        }
        PaletteEntry::Engram(engram) => {
            Some(view! { <small>{words::author(engram)}</small> }.into_any())
        }
        PaletteEntry::Repository(repository) => Some(
            view! { <small class="place">{words::visible(&repository.path)}</small> }.into_any(),
        ),
        PaletteEntry::View(view) => view.key().map(|key| keycaps(&key).into_any()),
        PaletteEntry::Search(_) => None,
    };
    view! {
        <div class="option" id=option_id(index) role="option" data-testid="palette-option" aria-selected=move || (at.get() == index).to_string()
            on:mousemove=move |_| if at.get_untracked() != index { at.set(index) } on:click=move |_| perform(index)>
            <span class="sign">{matched.entry.icon().map(Icon::draw)}</span>
            <span class="text" dir=text.direction>{text.text}</span>
            {aside}
        </div>
    }
}

/// A chord as it is printed on the keys.
pub(crate) fn keycaps(chord: &str) -> impl IntoView + use<> {
    let caps = commands::keycaps_of(chord, dom::is_mac()).into_iter();
    let caps = caps.map(|it| view! { <kbd>{it}</kbd> });
    view! { <span class="chord">{caps.collect_view()}</span> }
}
