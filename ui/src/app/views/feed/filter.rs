//! The filter of the list: words, chips that can be removed, and the values with their counts.

use engram_model::{Facets, Filter};
use leptos::{ev, prelude::*, task::spawn_local};

use crate::{
    app::{
        components::{icons::Icon, refused::Refused},
        dom, repositories,
        state::App,
        views::{self, feed::state},
    },
    chips::{Chip, chips_of},
    days::{date_of, days_ago, end_of_day, last_day, midnight},
    words::{
        self,
        say::{self, filter::SORTS},
    },
};

/// Changes the filter.
fn refilter(app: App, change: impl FnOnce(&mut Filter), adds_history: bool) {
    let mut filter = app.list.filter.get_untracked();
    change(&mut filter);
    state::set_filter(app, filter, adds_history);
}

/// Clears the filter, but keeps the time.
pub(super) fn clear_filter(app: App) {
    let held_at = app.list.filter.with_untracked(|it| it.held_at);
    let all = Filter {
        held_at,
        ..Filter::default()
    };
    state::set_filter(app, all, true);
}

/// Opens what an id in the search names, unless the list shows it.
fn open_named(app: App, typed: String) {
    spawn_local(async move {
        let named = repositories::find_named(app, &typed).await;
        // Other words may have been typed meanwhile.
        let is_still_typed = app.list.filter.with_untracked(|it| it.text == typed);
        if let Some(named) = named.filter(|it| is_still_typed && !it.is_listed()) {
            refilter(app, |it| it.text.clear(), true);
            repositories::follow_link(app, &named.link);
        }
    });
}

#[component]
pub(crate) fn FilterBar() -> impl IntoView {
    let app = App::here();
    let leave = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Escape" => {
            refilter(app, |it| it.text.clear(), true);
            dom::focus(dom::LIST);
        }
        "Enter" | "ArrowDown" => {
            event.prevent_default();
            dom::focus(dom::LIST);
            let typed = app.list.filter.with_untracked(|it| it.text.clone());
            if let Some(link) = repositories::as_link(&typed) {
                refilter(app, |it| it.text.clear(), true);
                repositories::follow_link(app, link);
            } else if event.key() == "Enter" {
                open_named(app, typed);
            }
        }
        _ => {}
    };
    // All letters of a search are one step in the history.
    let search = move |event: ev::Event| {
        let is_first = app.list.filter.with_untracked(|it| it.text.is_empty());
        refilter(app, |it| it.text = event_target_value(&event), is_first);
    };
    view! {
        <search class="filter">
            <div class="field">
                {Icon::Search.draw()}
                <input id="filter" type="search" data-testid="filter" placeholder=say::filter::PLACEHOLDER
                    aria-label=say::filter::LABEL autocomplete="off" spellcheck="false"
                    prop:value=move || app.list.filter.with(|it| it.text.clone())
                    on:input=search on:keydown=leave />
                <kbd>"/"</kbd>
            </div>
            <button data-testid="facets-button" aria-expanded=move || app.list.facets_open.get().to_string() aria-controls="facets"
                on:click=move |_| state::toggle_facets(app)>{say::filter::BUTTON}" "<kbd>"F"</kbd></button>
        </search>
        <Chips />
        <div class="within-list"><Refused refusal=app.list.facets_refused again=Callback::new(move |()| state::count_facets(app)) /></div>
        {move || app.list.facets_open.get().then(|| view! { <Values /> })}
    }
}

#[component]
fn Chips() -> impl IntoView {
    let app = App::here();
    let clear = move |_| {
        let Filter { text, held_at, .. } = app.list.filter.get_untracked();
        let filter = Filter {
            text,
            held_at,
            ..Filter::default()
        };
        dom::keep_focus(CHIPS, dom::LIST, || state::set_filter(app, filter, true));
    };
    move || {
        let all = chips_of(&app.list.filter.get(), app.clock.get_untracked().offset);
        (!all.is_empty()).then(|| {
            let several = all.len() > 1;
            view! {
                <div class="filter-chips" id=CHIPS role="group" aria-label=say::filter::ON>
                    {all.into_iter().map(|it| view_chip(app, it)).collect_view()}
                    {several.then(|| view! { <button class="plain" on:click=clear>{say::filter::CLEAR}</button> })}
                </div>
            }
        })
    }
}

/// A condition, with a button that removes it.
fn view_chip(app: App, chip: Chip) -> impl IntoView {
    let Chip {
        what,
        value,
        without,
    } = chip;
    let value = words::visible(&value);
    view! {
        <button class="chip on" data-testid="filter-chip" title=say::filter::remove(what, &value)
            on:click=move |_| dom::keep_focus(CHIPS, dom::LIST, || state::set_filter(app, without.clone(), true))>
            <span class="offscreen">{say::filter::REMOVE}</span><span>{what}</span>" "<b>{value.clone()}</b>{Icon::Close.draw()}
        </button>
    }
}

/// A value that can be chosen.
#[derive(Clone, PartialEq)]
struct FacetValue {
    word: String,
    count: u64,
    is_on: bool,
    chosen: Filter,
}

/// The values, in the order of [`SORTS`].
type Groups = [Vec<FacetValue>; SORTS.len()];

/// The id of the panel.
pub(crate) const PANEL: &str = "facets";
/// The id of the active conditions.
const CHIPS: &str = "filter-chips";

#[component]
fn Values() -> impl IntoView {
    let app = App::here();
    let all = Memo::new(move |_| {
        let filter = app.list.filter.get();
        let facets = app.list.facets.get().unwrap_or_default();
        facet_groups(app, &facets, &filter)
    });
    let of = move || match app.list.facets.with(|it| it.as_ref().map(|it| it.partial)) {
        None => say::filter::COUNTING,
        Some(true) => say::filter::COUNTS_NEWEST,
        Some(false) if app.view.get().by_topic && !views::is_timeline(app) => {
            say::knowledge::COUNTS
        }
        Some(false) => say::filter::COUNTS_ALL,
    };
    let keys = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            state::toggle_facets(app);
        } else if dom::is_typing(&event) || !dom::step_focus(&event, PANEL) {
            return;
        }
        event.prevent_default();
    };
    view! {
        <div class="facets" id=PANEL data-testid="facets" tabindex="-1" role="group" aria-label=say::filter::LIMIT on:keydown=keys>
            <p class="quiet" aria-busy=move || app.list.facets.with(Option::is_none).to_string()>{of}</p>
            {(0..SORTS.len()).map(|sort| view_group(app, all, sort)).collect_view()}
            <States />
            <Dates />
        </div>
    }
}

/// The values of one sort. They stay while they are counted again, so that the focus stays too.
fn view_group(app: App, all: Memo<Groups>, sort: usize) -> impl IntoView {
    let title = SORTS[sort];
    let values = Memo::new(move |_| all.with(|all| all[sort].clone()));
    let places = move || 0..values.with(Vec::len);
    view! {
        <div class="sort" role="group" aria-label=title hidden=move || values.with(Vec::is_empty)>
            <span class="name" aria-hidden="true">{title}</span>
            <div class="values"><For each=places key=|place| *place let:place>{view_value(app, values, place)}</For></div>
        </div>
    }
}

fn view_value(app: App, values: Memo<Vec<FacetValue>>, place: usize) -> impl IntoView {
    let value = Memo::new(move |_| values.with(|all| all.get(place).cloned()));
    let word = move || value.with(|it| it.as_ref().map(|it| it.word.clone()));
    let is_on = move || value.with(|it| it.as_ref().is_some_and(|it| it.is_on));
    let count = move || value.with(|it| it.as_ref().map(|it| words::thousands(it.count)));
    let choose = move |_| {
        if let Some(value) = value.get_untracked() {
            dom::keep_focus(PANEL, PANEL, || state::set_filter(app, value.chosen, true));
        }
    };
    view! {
        <button class="chip value" aria-pressed=move || is_on().to_string() data-testid="facet" data-value=word on:click=choose>
            <span>{word}</span><i>{count}</i>
        </button>
    }
}

/// The choice between claims that hold and claims that ended. It has no counts, because what holds
/// depends on the clock.
#[component]
fn States() -> impl IntoView {
    let app = App::here();
    let ended = move || app.list.filter.with(|it| it.ended);
    // If all that is listed holds, neither value narrows the list.
    let is_split = Memo::new(move |_| {
        let total = app.list.facets.with(|it| it.as_ref().map(|it| it.total));
        let holding = app.status.with(|it| it.as_ref().map(|it| it.engrams));
        let is_split = !app.list.filter.with(Filter::is_empty) || total != holding;
        // A view that is already limited to one state cannot be narrowed by it.
        is_split
            && views::asked_filter(app).ended == app.list.filter.with(|it| it.ended)
            && !app.list.is_past()
    });
    let state = move |(is_ended, word)| {
        let is_on = move || ended() == Some(is_ended);
        let choose = move |_| {
            let ended = (!untrack(is_on)).then_some(is_ended);
            refilter(app, |it| it.ended = ended, true);
        };
        view! {
            <button class="chip value" aria-pressed=move || is_on().to_string() data-testid="facet" data-value=word on:click=choose>
                <span>{word}</span>
            </button>
        }
    };
    move || {
        is_split.get().then(|| {
            view! {
                <div class="sort" role="group" aria-label=say::filter::STATE>
                    <span class="name" aria-hidden="true">{say::filter::STATE}</span>
                    <div class="values">{say::filter::STATES.map(state)}</div>
                </div>
            }
        })
    }
}

/// The first and the last day, each optional.
#[component]
fn Dates() -> impl IntoView {
    let app = App::here();
    let offset = move || app.clock.get_untracked().offset;
    let first = move || {
        let at = app.list.filter.with(|it| it.since);
        at.map(|it| date_of(it, offset())).unwrap_or_default()
    };
    let last = move || {
        let at = app.list.filter.with(|it| it.until);
        at.map(|it| last_day(it, offset())).unwrap_or_default()
    };
    // While a day is being typed, its field may be empty for a moment; only a field that is left
    // empty means none.
    let since = move |day: String, is_left: bool| {
        let since = midnight(&day, offset());
        if since.is_some() || is_left && day.is_empty() {
            refilter(app, |it| it.since = since, true);
        }
    };
    let until = move |day: String, is_left: bool| {
        let until = end_of_day(&day, offset());
        if until.is_some() || is_left && day.is_empty() {
            refilter(app, |it| it.until = until, true);
        }
    };
    let recent = |(word, days)| {
        let first = move || {
            let clock = app.clock.get_untracked();
            days_ago(clock.now, days, clock.offset)
        };
        let is_on = move || {
            let (since, until) = app.list.filter.with(|it| (it.since, it.until));
            since.is_some() && since == first() && until.is_none()
        };
        let choose = move |_| {
            let since = if untrack(is_on) { None } else { first() };
            refilter(app, |it| (it.since, it.until) = (since, None), true);
        };
        view! {
            <button class="chip value" aria-pressed=move || is_on().to_string() data-testid="facet" data-value=word on:click=choose>
                <span>{word}</span>
            </button>
        }
    };
    let recent = say::filter::RECENT.map(recent);
    view! {
        <div class="sort" role="group" aria-label=say::filter::RECORDED>
            <span class="name" aria-hidden="true">{say::filter::RECORDED}</span>
            <div class="values">
                {recent}
                <span class="days">
                    <label>{say::filter::FROM}<input type="date" data-testid="since" class:empty=move || first().is_empty() max=last prop:value=first
                        on:change=move |event| since(event_target_value(&event), false) on:blur=move |event| since(event_target_value(&event), true) /></label>
                    <label>{say::filter::UNTIL}<input type="date" data-testid="until" class:empty=move || last().is_empty() min=first prop:value=last
                        on:change=move |event| until(event_target_value(&event), false) on:blur=move |event| until(event_target_value(&event), true) /></label>
                </span>
            </div>
        </div>
    }
}

/// The values of a condition that takes several, each with the filter that adds or removes it.
fn values_of_many<T: PartialEq + Clone>(
    filter: &Filter,
    counts: &[(T, u64)],
    list: fn(&mut Filter) -> &mut Vec<T>,
    word: fn(&T) -> &str,
) -> Vec<FacetValue> {
    let value = |(listed, count): &(T, u64)| {
        let mut chosen = filter.clone();
        let values = list(&mut chosen);
        let is_on = values.contains(listed);
        if is_on {
            values.retain(|other| other != listed)
        } else {
            values.push(listed.clone())
        }
        FacetValue {
            word: words::visible(word(listed)),
            count: *count,
            is_on,
            chosen,
        }
    };
    counts.iter().map(value).collect()
}

/// The values of a condition that takes only one.
fn values_of_one<T: PartialEq + Clone>(
    filter: &Filter,
    counts: &[(T, u64)],
    word: fn(&T) -> &str,
    is_on: impl Fn(&T) -> bool,
    set: impl Fn(&mut Filter, Option<&T>),
) -> Vec<FacetValue> {
    let value = |(single, count): &(T, u64)| {
        let mut chosen = filter.clone();
        let is_on = is_on(single);
        set(&mut chosen, (!is_on).then_some(single));
        FacetValue {
            word: words::visible(word(single)),
            count: *count,
            is_on,
            chosen,
        }
    };
    counts.iter().map(value).collect()
}

/// Returns no values if the only one applies to all rows, because it would leave the list as it is.
fn narrowing_values(values: Vec<FacetValue>, total: u64) -> Vec<FacetValue> {
    match values.as_slice() {
        [only] if !only.is_on && only.count >= total => Vec::new(),
        _ => values,
    }
}

fn facet_groups(app: App, facets: &Facets, filter: &Filter) -> Groups {
    let verified = values_of_one(
        filter,
        &facets.verified,
        |it| {
            if *it {
                say::state::VERIFIED
            } else {
                say::state::UNVERIFIED
            }
        },
        |it| filter.verified == Some(*it),
        |it, to| it.verified = to.copied(),
    );
    // A condition that the view itself sets is not offered.
    let is_chosen = (app.view.get().within)(Filter::default()).health.is_empty();
    let health = if is_chosen {
        values_of_many(
            filter,
            &facets.health,
            |it| &mut it.health,
            |it| words::standing(*it),
        )
    } else {
        Vec::new()
    };
    let topics = values_of_one(
        filter,
        &facets.topics,
        |it| it,
        |it| filter.topic == *it,
        |it, to| it.topic = to.cloned().unwrap_or_default(),
    );
    // A claim whose text was erased has no author.
    let mut authors = facets.authors.clone();
    authors.retain(|it| !it.0.is_empty());
    let all = [
        values_of_many(
            filter,
            &facets.kinds,
            |it| &mut it.kinds,
            |it| words::kind(*it),
        ),
        health,
        verified,
        values_of_many(filter, &facets.roles, |it| &mut it.roles, |it| it),
        values_of_many(
            filter,
            &authors,
            |it| &mut it.authors,
            |it| words::author_name(it),
        ),
        topics,
        values_of_many(
            filter,
            &facets.scopes,
            |it| &mut it.scopes,
            |it| it.as_str(),
        ),
        values_of_many(
            filter,
            &facets.fact_types,
            |it| &mut it.fact_types,
            |it| it.as_str(),
        ),
    ];
    all.map(|it| narrowing_values(it, facets.total))
}
