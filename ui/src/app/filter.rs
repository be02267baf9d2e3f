//! What the list is limited to: words, chips that can be taken away, and the values with their counts.

use engram_model::{Facets, Filter};
use jiff::{SignedDuration, Timestamp};
use leptos::{ev, prelude::*};

use super::{dom, icons::Icon, state::App};
use crate::{
    route::{author_name, chips, date_of, days_ago, midnight},
    words,
};

#[component]
pub(crate) fn FilterBar() -> impl IntoView {
    let app = App::here();
    let leave = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Escape" => {
            app.set_filter(
                Filter {
                    text: String::new(),
                    ..app.filter.get_untracked()
                },
                false,
            );
            dom::focus("feed");
        }
        "Enter" | "ArrowDown" => {
            event.prevent_default();
            dom::focus("feed");
        }
        _ => {}
    };
    let typed = move |event| {
        let text = event_target_value(&event);
        app.set_filter(
            Filter {
                text,
                ..app.filter.get_untracked()
            },
            false,
        );
    };
    view! {
        <search class="filter">
            <div class="field">
                {Icon::Search.draw()}
                <input id="filter" type="search" data-testid="filter" placeholder="Search claims, paths, agents…"
                    aria-label="Search the feed" autocomplete="off" spellcheck="false"
                    prop:value=move || app.filter.with(|it| it.text.clone())
                    on:input=typed on:keydown=leave />
                <kbd>"/"</kbd>
            </div>
            <button data-testid="facets-button" aria-expanded=move || app.facets_open.get().to_string() aria-controls="facets"
                on:click=move |_| app.toggle_facets()>"Filter" <kbd>"F"</kbd></button>
        </search>
        <Chips />
        {move || app.facets_open.get().then(|| view! { <Values /> })}
    }
}

#[component]
fn Chips() -> impl IntoView {
    let app = App::here();
    let all = move || chips(&app.filter.get(), app.clock.get_untracked().offset);
    move || {
        let all = all();
        (!all.is_empty()).then(|| {
            let several = all.len() > 1;
            let chips = all.into_iter().map(|it| {
                let without = it.without.clone();
                view! {
                    <button class="chip" data-testid="filter-chip" title=format!("Remove {} {}", it.what, it.value)
                        on:click=move |_| app.set_filter(without.clone(), true)>
                        <span class="offscreen">"Remove "</span><span>{it.what}</span>" "<b>{it.value.clone()}</b>{Icon::Close.draw()}
                    </button>
                }
            });
            view! {
                <div class="filter-chips" role="group" aria-label="Filters that are on">
                    {chips.collect_view()}
                    {several.then(|| view! {
                        <button class="plain" on:click=move |_| app.set_filter(Filter { text: app.filter.get_untracked().text, ..Filter::default() }, true)>"Clear"</button>
                    })}
                </div>
            }
        })
    }
}

/// One value that can be chosen.
struct Value {
    word: String,
    count: Option<u64>,
    is_on: bool,
    chosen: Filter,
}

/// Adds a value to a list, or takes it out.
fn toggled<T: PartialEq + Clone>(list: &[T], it: &T) -> Vec<T> {
    match list.contains(it) {
        true => list.iter().filter(|other| *other != it).cloned().collect(),
        false => list.iter().cloned().chain([it.clone()]).collect(),
    }
}

#[component]
fn Values() -> impl IntoView {
    let app = App::here();
    let groups = move || {
        let filter = app.filter.get();
        app.facets.get().map(|facets| groups(app, &facets, &filter))
    };
    let group = move |(title, values): (&'static str, Vec<Value>)| {
        let values = values.into_iter().map(|it| {
            let chosen = it.chosen;
            view! {
                <button class="chip value" aria-pressed=it.is_on.to_string() data-testid="facet" data-value=it.word.clone()
                    on:click=move |_| app.set_filter(chosen.clone(), true)>
                    <span>{it.word.clone()}</span>{it.count.map(|count| view! { <i>{words::thousands(count)}</i> })}
                </button>
            }
        });
        view! { <fieldset><legend>{title}</legend>{values.collect_view()}</fieldset> }
    };
    view! {
        <div class="facets" id="facets" data-testid="facets">
            {move || match groups() {
                None => view! { <p class="quiet" aria-busy="true">"Counting…"</p> }.into_any(),
                Some(all) => all.into_iter().filter(|(_, values)| !values.is_empty()).map(group).collect_view().into_any(),
            }}
            <Dates />
        </div>
    }
}

/// The first and the last day, whichever is wanted.
#[component]
fn Dates() -> impl IntoView {
    let app = App::here();
    let day = move |at: Option<Timestamp>| {
        let offset = app.clock.get_untracked().offset;
        at.map(|it| date_of(it, offset)).unwrap_or_default()
    };
    // Until means to the end of that day: before the midnight that begins the next.
    let last = move || app.filter.with(|it| it.until).map(|it| it - HOUR);
    let chosen = move |event| {
        let offset = app.clock.get_untracked().offset;
        midnight(&event_target_value(&event), offset)
    };
    let since = move |event| {
        let since = chosen(event);
        app.set_filter(
            Filter {
                since,
                ..app.filter.get_untracked()
            },
            true,
        );
    };
    let until = move |event| {
        let until = chosen(event).and_then(|it| it.checked_add(HOUR * 24).ok());
        app.set_filter(
            Filter {
                until,
                ..app.filter.get_untracked()
            },
            true,
        );
    };
    view! {
        <fieldset class="dates">
            <legend>"Between"</legend>
            <label>"from"<input type="date" data-testid="since" prop:value=move || day(app.filter.with(|it| it.since)) on:change=since /></label>
            <label>"until the end of"<input type="date" data-testid="until" prop:value=move || day(last()) on:change=until /></label>
        </fieldset>
    }
}

const HOUR: SignedDuration = SignedDuration::from_hours(1);

fn groups(app: App, facets: &Facets, filter: &Filter) -> Vec<(&'static str, Vec<Value>)> {
    let value = |word: String, count: u64, is_on: bool, chosen: Filter| Value {
        word,
        count: Some(count),
        is_on,
        chosen,
    };
    let kinds = facets.kinds.iter().map(|(it, n)| {
        let kinds = toggled(&filter.kinds, it);
        let chosen = Filter {
            kinds,
            ..filter.clone()
        };
        value(
            words::kind(*it).to_owned(),
            *n,
            filter.kinds.contains(it),
            chosen,
        )
    });
    let verified = facets.verified.iter().map(|(it, n)| {
        let is_on = filter.verified == Some(*it);
        let chosen = Filter {
            verified: (!is_on).then_some(*it),
            ..filter.clone()
        };
        value(
            if *it { "verified" } else { "unverified" }.to_owned(),
            *n,
            is_on,
            chosen,
        )
    });
    let health = facets.health.iter().map(|(it, n)| {
        let health = toggled(&filter.health, it);
        let chosen = Filter {
            health,
            ..filter.clone()
        };
        value(
            it.words().to_owned(),
            *n,
            filter.health.contains(it),
            chosen,
        )
    });
    let authors = facets.authors.iter().map(|(it, n)| {
        let authors = toggled(&filter.authors, it);
        let chosen = Filter {
            authors,
            ..filter.clone()
        };
        value(
            author_name(it).to_owned(),
            *n,
            filter.authors.contains(it),
            chosen,
        )
    });
    let topics = facets.topics.iter().map(|(it, n)| {
        let is_on = filter.topic == *it;
        let topic = if is_on { String::new() } else { it.clone() };
        let chosen = Filter {
            topic,
            ..filter.clone()
        };
        value(it.clone(), *n, is_on, chosen)
    });
    let scopes = facets.scopes.iter().map(|(it, n)| {
        let scopes = toggled(&filter.scopes, it);
        let chosen = Filter {
            scopes,
            ..filter.clone()
        };
        value(it.to_string(), *n, filter.scopes.contains(it), chosen)
    });
    let types = facets.fact_types.iter().map(|(it, n)| {
        let fact_types = toggled(&filter.fact_types, it);
        let chosen = Filter {
            fact_types,
            ..filter.clone()
        };
        value(it.to_string(), *n, filter.fact_types.contains(it), chosen)
    });
    let clock = app.clock.get_untracked();
    let days = [("today", 0), ("7 days", 6), ("30 days", 29)]
        .into_iter()
        .filter_map(|(word, days)| {
            let since = days_ago(clock.now, days, clock.offset)?;
            let is_on = filter.since == Some(since);
            let chosen = Filter {
                since: (!is_on).then_some(since),
                ..filter.clone()
            };
            Some(Value {
                word: word.to_owned(),
                count: None,
                is_on,
                chosen,
            })
        });
    vec![
        ("Kind", kinds.collect()),
        ("Evidence", verified.chain(health).collect()),
        ("Agent", authors.collect()),
        ("Topic", topics.collect()),
        ("Scope", scopes.collect()),
        ("Type", types.collect()),
        ("Since", days.collect()),
    ]
}
