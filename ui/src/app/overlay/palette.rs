//! The palette: finds every command, view, setting and open repository by a few letters, and claims
//! as the search of the list does.

use std::{ops::Range, sync::Arc, time::Duration};

use engram_model::{
    AnswerQuality, Engram, Filter, Linkable, Recent, Search as SearchRequest, SearchReply, ask,
};
use leptos::{ev, html, prelude::*, task::spawn_local};

use crate::{
    app::{
        act,
        components::{icons::Icon, prose},
        dom,
        frame::{Over, room},
        overlay::{
            Modal,
            settings::{self, SettingValue},
        },
        reading,
        repositories::{self, Named},
        state::App,
        views::{self, VIEWS, View, feed},
    },
    commands::{self, Act, Command},
    fuzzy::{self, Fit},
    words::{self, say},
};

/// The most engrams that are listed, and the most entries of each other kind.
const ENGRAMS: usize = 8;
const ALL: usize = 40;
/// A query of fewer characters is meant for commands.
const FEW: usize = 4;
/// How long to wait for the next letter before claims are searched.
const PAUSE: Duration = Duration::from_millis(120);

/// What can be found.
#[derive(Clone)]
enum PaletteEntry {
    View(&'static View),
    Command(&'static Command),
    Setting(SettingValue),
    Repository(Recent),
    Engram(Arc<Engram>),
    /// A search of all claims for these words.
    Search(String),
    /// An `engram://` link, or an id of something that no search lists, as it was pasted.
    Named(String, Named),
}

/// An entry that was found.
#[derive(Clone)]
struct PaletteMatch {
    entry: PaletteEntry,
    fit: Fit,
    /// What the search found in a claim.
    marks: Vec<Range<usize>>,
}

impl PaletteMatch {
    fn of(entry: PaletteEntry, fit: Fit) -> Self {
        Self {
            entry,
            fit,
            marks: Vec::new(),
        }
    }
}

impl PaletteEntry {
    fn text(&self) -> &str {
        match self {
            Self::View(view) => view.title,
            Self::Command(command) => command.title,
            Self::Setting(value) => &value.text,
            Self::Repository(repository) => &repository.name,
            Self::Engram(engram) => &engram.claim,
            Self::Search(words) => words,
            Self::Named(pasted, _) => pasted,
        }
    }

    fn icon(&self) -> Option<Icon> {
        match self {
            Self::View(view) => Some(view.icon),
            Self::Command(_) | Self::Setting(_) => Some(Icon::Chevron),
            Self::Repository(_) => Some(Icon::Repository),
            Self::Engram(engram) => Some(Icon::Of(engram.kind)),
            Self::Search(_) => Some(Icon::Search),
            Self::Named(..) => Some(Icon::Chevron),
        }
    }

    fn sort(&self) -> &'static str {
        match self {
            Self::View(_) => say::rail::VIEWS,
            Self::Command(_) => say::sheet::COMMANDS,
            Self::Setting(_) => say::rail::SETTINGS,
            Self::Repository(_) => say::rail::OPEN_REPOSITORIES,
            Self::Engram(_) => say::sheet::CLAIMS,
            Self::Search(_) => say::sheet::ALL_CLAIMS,
            Self::Named(_, named) => match named.what {
                None => say::sheet::FOLLOW,
                Some(Linkable::Claim) => say::sheet::OPEN_CLAIM,
                Some(Linkable::Conflict) => say::sheet::OPEN_CONFLICT,
                Some(Linkable::Request) => say::sheet::OPEN_REQUEST,
            },
        }
    }

    fn perform(&self, app: App) {
        match self {
            Self::View(view) => views::show_view(app, view),
            Self::Command(command) => act::run(app, command),
            Self::Setting(value) => settings::choose_value(app, value),
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
                dom::focus(dom::LIST);
            }
            Self::Named(_, named) => repositories::follow_link(app, &named.link),
        }
    }
}

/// Finds views, commands, settings, background repositories and claims, each kind best first. The
/// claims are those of the last answer of a search; `named` is what the query names.
fn find_entries(
    app: App,
    query: &str,
    answer: Option<&SearchReply>,
    named: Option<Named>,
) -> Vec<PaletteMatch> {
    let name = |named| {
        let entry = PaletteEntry::Named(query.trim().to_owned(), named);
        PaletteMatch::of(entry, Fit::default())
    };
    if let Some(link) = repositories::as_link(query) {
        let unknown = || Named {
            link: link.to_owned(),
            what: None,
            elsewhere: None,
        };
        return vec![name(named.unwrap_or_else(unknown))];
    }
    let named = named.filter(|it| !it.is_listed()).map(name);
    let fit = |entry: PaletteEntry| {
        let fit = fuzzy::fit(query, entry.text())?;
        Some(PaletteMatch::of(entry, fit))
    };
    let best = |mut found: Vec<PaletteMatch>| {
        found.sort_by_key(|it| -it.fit.score);
        found.truncate(ALL);
        found
    };
    let is_asked = !query.trim().is_empty();
    // A view that is hidden while it is empty can still be asked for.
    let views = VIEWS.iter();
    let views = views.filter(|it| is_asked || untrack(|| it.is_here(app)));
    let views = best(
        views
            .map(|&it| PaletteEntry::View(it))
            .filter_map(fit)
            .collect(),
    );
    let acts = commands::commands_of(app.view.get_untracked());
    let acts = acts.filter(|it| {
        !matches!(it.act(), Some(Act::Palette | Act::View | Act::Repository))
            && act::can_run(app, it)
    });
    let acts = best(acts.map(PaletteEntry::Command).filter_map(fit).collect());
    let values = settings::setting_values().into_iter().filter(|_| is_asked);
    let values = best(values.map(PaletteEntry::Setting).filter_map(fit).collect());
    let others = app.repositories.opened.get_untracked().into_iter();
    let front = app.repositories.root();
    let is_behind = |it: &Recent| front.as_ref() != Some(&it.path);
    let others = others.filter(is_behind).map(PaletteEntry::Repository);
    let others = best(others.filter_map(fit).collect());
    let claims = answer.filter(|_| is_asked);
    let claims = claims.map_or(Vec::new(), |it| claims_of(it, query));
    let mut sorts = [views, acts, values, others, claims];
    // Words that fit claims better than commands are meant for claims.
    let top = |found: &Vec<PaletteMatch>| found.first().map_or(i32::MIN, |it| it.fit.score);
    if is_asked {
        sorts.sort_by_key(|it| -i64::from(top(it)));
    }
    let search = is_asked.then(|| {
        let words = PaletteEntry::Search(query.trim().to_owned());
        PaletteMatch::of(words, Fit::default())
    });
    let found = named.into_iter().chain(sorts.into_iter().flatten());
    found.chain(search).collect()
}

/// The claims of an answer. They rank above letters that are scattered in a title and below words
/// in it, so that what is at the top stays there when the answer comes. A few letters are meant for
/// commands.
fn claims_of(answer: &SearchReply, query: &str) -> Vec<PaletteMatch> {
    let each = match answer.verdict {
        _ if query.trim().chars().count() < FEW => 0,
        AnswerQuality::Strong => 55,
        AnswerQuality::Weak | AnswerQuality::None => 45,
    };
    let score = each * query.split_whitespace().count().min(16) as i32;
    let stored = answer.page.entries.iter();
    let claims = stored.filter_map(|it| it.change.stored());
    let claims = claims.filter(|it| !it.redacted).map(|engram| {
        let marks = answer.marks.iter().find(|(id, _)| *id == engram.id);
        PaletteMatch {
            entry: PaletteEntry::Engram(Arc::new(engram.clone())),
            fit: Fit {
                score,
                at: Vec::new(),
            },
            marks: marks.map(|it| it.1.clone()).unwrap_or_default(),
        }
    });
    claims.collect()
}

/// What the person typed, and the last answer of a search.
#[derive(Clone, Copy)]
struct Asked {
    query: RwSignal<String>,
    answer: RwSignal<Option<SearchReply>>,
    /// What the query names: a link or an id.
    named: RwSignal<Option<Named>>,
    /// The number of the last change, so that late answers are dropped.
    number: StoredValue<u64>,
    is_waiting: RwSignal<bool>,
}

impl Asked {
    fn new() -> Self {
        Self {
            query: RwSignal::new(String::new()),
            answer: RwSignal::new(None),
            named: RwSignal::new(None),
            number: StoredValue::new(0),
            is_waiting: RwSignal::new(false),
        }
    }

    /// Takes what was typed, and searches for it once the person pauses.
    fn ask(self, app: App, query: String) {
        let filter = Filter {
            text: query.clone(),
            ..Filter::default()
        };
        self.query.set(query);
        let number = self.number.get_value().wrapping_add(1);
        self.number.set_value(number);
        self.named.set(None);
        let has_words =
            !filter.search_words().is_empty() && repositories::as_link(&filter.text).is_none();
        self.is_waiting.set(has_words);
        if !has_words {
            self.answer.set(None);
        }
        if !has_words && !repositories::has_name(&filter.text) {
            return;
        }
        let search = move || {
            if self.is_last(number) {
                spawn_local(self.search(app, filter, number));
            }
        };
        dom::run_later(search, PAUSE);
    }

    /// Whether nothing was typed since this change.
    fn is_last(self, number: u64) -> bool {
        self.number.try_get_value() == Some(number)
    }

    async fn search(self, app: App, filter: Filter, number: u64) {
        let named = repositories::find_named(app, &filter.text).await;
        if !self.is_last(number) {
            return;
        }
        self.named.set(named);
        if !self.is_waiting.get_untracked() {
            return;
        }
        let search = SearchRequest {
            filter,
            limit: Some(ENGRAMS),
        };
        let reply = app.ask(ask::Search(search)).await;
        if !self.is_last(number) {
            return;
        }
        if let Err(refusal) = &reply {
            dom::log(&refusal.to_string());
        }
        self.answer.set(reply.ok().map(|it| *it));
        self.is_waiting.set(false);
    }
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
    let (asked, at) = (Asked::new(), RwSignal::new(0usize));
    let entries = move |_: Option<&Vec<PaletteMatch>>| {
        let answer = asked.answer.read();
        find_entries(app, &asked.query.get(), answer.as_ref(), asked.named.get())
    };
    let found = Memo::new_with_compare(entries, |_, _| true);
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
        asked.ask(app, event_target_value(&event));
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
                {view_option(app, matched, index, at, perform)}
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
        {move || (!asked.is_waiting.get() && found.with(|all| all.iter().all(|it| matches!(it.entry, PaletteEntry::Search(_))))).then(|| view! {
            <p class="nothing" role="status">{say::sheet::NOTHING}</p>
        })}
    }
}

fn option_id(index: usize) -> String {
    format!("found-{index}")
}

fn view_option(
    app: App,
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
        PaletteEntry::Engram(engram) => prose::claim(&engram.claim, &matched.marks),
        _ => prose::Claim {
            direction: None,
            text: pieces.iter().map(piece).collect(),
        },
    };
    let is_over = match &matched.entry {
        PaletteEntry::Engram(engram) => !engram.holds_now(app.clock.get_untracked().now),
        _ => false,
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
        PaletteEntry::Setting(value) => value
            .is_chosen(app)
            .then(|| view! { <small>{say::settings::CHOSEN}</small> }.into_any()),
        PaletteEntry::Named(_, named) => named.elsewhere.as_deref().map(|name| {
            view! { <small data-testid="palette-elsewhere">{words::visible(name)}</small> }
                .into_any()
        }),
        PaletteEntry::Search(_) => None,
    };
    view! {
        <div class="option" id=option_id(index) role="option" data-testid="palette-option" aria-selected=move || (at.get() == index).to_string()
            on:mousemove=move |_| if at.get_untracked() != index { at.set(index) } on:click=move |_| perform(index)>
            <span class="sign">{matched.entry.icon().map(Icon::draw)}</span>
            <span class="text" class:closed=is_over dir=text.direction>{text.text}</span>
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

#[cfg(all(test, feature = "gallery"))]
mod tests {
    #![allow(clippy::panic, clippy::single_range_in_vec_init)]

    use engram_model::{Change, Entry, FeedPage, Request};
    use serde_json::json;

    use super::*;
    use crate::app::{gallery::made_up::engrams, views::stage::Stage};

    fn answer(verdict: AnswerQuality) -> SearchReply {
        let engram = &engrams()[0];
        SearchReply {
            verdict,
            omitted: None,
            unread: None,
            page: FeedPage {
                entries: vec![Entry {
                    seq: engram.seq,
                    at: engram.recorded_at,
                    agent: None,
                    by: String::new(),
                    change: Change::Stored(Box::new(Engram::clone(engram))),
                }],
                ..FeedPage::default()
            },
            marks: vec![(engram.id, vec![0..3])],
        }
    }

    #[test]
    fn settings_empty_views_and_the_answer_of_a_search_are_found() {
        let stage = Stage::open(&feed::VIEW, |other| panic!("{other:?}"));
        let found = |query: &str, answer: Option<&SearchReply>| -> Vec<String> {
            let found = find_entries(stage.app, query, answer, None);
            found.iter().map(|it| it.entry.text().to_owned()).collect()
        };
        for (query, want) in [
            ("dark", "Theme: Dark"),
            ("theme", "Theme: Light"),
            ("compact", "Density: Compact"),
            ("requests", "Requests"),
        ] {
            let all = found(query, None);
            assert!(all.iter().any(|it| it == want), "{query}: {all:?}");
            assert_eq!(all.last().map(String::as_str), Some(query));
        }
        assert!(!found("", None).iter().any(|it| it == "Theme: Dark"));
        // A claim that answers ranks above scattered letters and below words of a title.
        let strong = answer(AnswerQuality::Strong);
        let claim = engrams()[0].claim.clone();
        assert_eq!(found("how do retries back off", Some(&strong))[0], claim);
        let settings = found("settings", Some(&strong));
        assert!(settings[0].starts_with("Settings") && settings.contains(&claim));
        assert_ne!(found("oe", Some(&strong))[0], claim);
        let marks = find_entries(stage.app, "how do retries back off", Some(&strong), None);
        assert_eq!(marks[0].marks, vec![0..3]);
        // A pasted link is opened, not searched for.
        let link = "engram://drift?remote=example.com/team/flask";
        assert_eq!(found(&format!(" {link} "), Some(&strong)), [link]);
    }

    const ELSEWHERE: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    #[test]
    fn an_id_of_another_repository_is_offered_with_its_name_and_leads_there() {
        let stage = Stage::open_window(&feed::VIEW, |request| match request {
            Request::Locate(clues) => {
                let is_known = clues.id.as_deref() == Some(ELSEWHERE);
                let found = json!({"name": "flask", "path": "/code/flask", "is_here": false});
                let located = json!({"found": found, "names": "conflict"});
                let located = if is_known { located } else { json!({}) };
                Ok(json!({"is": "located", "with": located}))
            }
            Request::Search(_) => Err(engram_model::Refusal::new(
                engram_model::Code::NotFound,
                "nothing",
                "",
            )),
            other => panic!("{other:?}"),
        });
        let asked = Asked::new();
        let found = |query: &str| {
            asked.ask(stage.app, query.to_owned());
            let filter = Filter {
                text: query.to_owned(),
                ..Filter::default()
            };
            let number = asked.number.get_value();
            spawn_local(asked.search(stage.app, filter, number));
            stage.settle();
            find_entries(stage.app, query, None, asked.named.get_untracked())
        };
        let link = format!("engram://conflicts/{ELSEWHERE}");
        let lower = ELSEWHERE.to_lowercase();
        for query in [ELSEWHERE, &lower, &link] {
            let first = found(query).remove(0).entry;
            let PaletteEntry::Named(_, named) = &first else {
                panic!("{query}");
            };
            assert_eq!(named.elsewhere.as_deref(), Some("flask"), "{query}");
            assert_eq!(named.link, link, "{query}");
        }
        assert!(matches!(
            found("01ARZ3NDEKTSV4RRFFQ69G5FAW")[..],
            [PaletteMatch {
                entry: PaletteEntry::Search(_),
                ..
            }]
        ));
    }
}
