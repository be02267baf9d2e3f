//! The rail: the views that have something to show and, if there are several, the open
//! repositories.

use engram_model::Recent;
use leptos::prelude::*;

use crate::{
    app::{
        components::icons::Icon,
        dom,
        frame::Over,
        repositories,
        state::App,
        views::{self, VIEWS, View},
    },
    commands::{self, Act},
    words::{self, say},
};

#[component]
pub(crate) fn Rail() -> impl IntoView {
    let app = App::here();
    let settings =
        move || commands::command_of(Act::Settings).map(|it| commands::tooltip(it, dom::is_mac()));
    view! {
        <nav class="rail" aria-label=say::rail::VIEWS>
            {VIEWS.iter().map(|&view| view_entry(app, view)).collect_view()}
            <Opened />
            <span class="space"></span>
            <button class="view" data-testid="settings-button" aria-label=say::rail::SETTINGS title=settings
                on:click=move |_| app.frame.over.set(Some(Over::Settings))>{Icon::Settings.draw()}<span class="name" aria-hidden="true">{say::rail::SETTINGS}</span></button>
        </nav>
    }
}

/// The open repositories, with the number of new engrams in those in the background.
#[component]
fn Opened() -> impl IntoView {
    let app = App::here();
    let paths = Memo::new(move |_| {
        let paths = |all: &Vec<Recent>| all.iter().map(|it| it.path.clone()).collect::<Vec<_>>();
        app.repositories.opened.with(paths)
    });
    let front = app.repositories.front;
    let others = app.repositories.others;
    let is_any_behind = move || {
        others.get() > 0
            || paths.with(|all| {
                all.iter()
                    .any(|it| front.with(|front| front.as_ref() != Some(it)))
            })
    };
    let others_title = move || say::rail::others(&words::thousands(others.get()));
    view! {
        <Show when=is_any_behind>
            <div class="opened-ones" role="group" aria-label=say::rail::OPEN_REPOSITORIES>
                <For each=move || paths.get() key=Clone::clone let:path><OpenedOne path /></For>
                <Show when=move || { others.get() > 0 }>
                    <button class="opened" data-testid="others" aria-label=others_title title=others_title
                        on:click=move |_| app.frame.over.set(Some(Over::Repositories))>
                        {Icon::Repository.draw()}<i class="count ask" aria-hidden="true">{move || words::brief(others.get())}</i>
                    </button>
                </Show>
            </div>
        </Show>
    }
}

/// The chord that brings an open repository to the front, by its place in the rail.
pub(crate) fn repository_key(at: usize) -> Option<String> {
    (at < 9).then(|| format!("Mod+{}", at + 1))
}

#[component]
fn OpenedOne(path: String) -> impl IntoView {
    let app = App::here();
    let (own, to, shown) = (path.clone(), path.clone(), path.clone());
    let repository = Memo::new(move |_| {
        let known = |all: &Vec<Recent>| all.iter().find(|it| it.path == own).cloned();
        let repository = app.repositories.opened.with(known)?;
        let is_front = app
            .repositories
            .front
            .with(|front| front.as_ref() == Some(&own));
        // More is known about the repository in front.
        let status = is_front.then(|| app.status.get()).flatten();
        let status = status.filter(|it| {
            it.project
                .as_ref()
                .is_some_and(|it| it.root.as_ref() == Some(&own))
        });
        let waiting = status.as_ref().and_then(|it| it.conflicts.zip(it.requests));
        let (conflicts, requests) = waiting.unwrap_or((repository.conflicts, repository.requests));
        let holding = status
            .map(|it| (it.engrams, it.drifted))
            .or(repository.holding);
        let unseen = if is_front { 0 } else { repository.unseen };
        Some(Recent {
            is_front,
            unseen,
            holding,
            conflicts,
            requests,
            ..repository
        })
    });
    let place = Memo::new(move |_| {
        app.repositories.opened.with(|all| {
            let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
            let at = all.iter().position(|it| it.path == shown)?;
            Some((at, words::initials(&names).into_iter().nth(at)?))
        })
    });
    let initials = move || place.with(|it| it.as_ref().map(|it| it.1.clone()));
    let key = move || place.with(|it| repository_key(it.as_ref()?.0));
    let title = move || {
        let title = repository.with(|it| it.as_ref().map(words::repository))?;
        Some(match key() {
            Some(key) => format!(
                "{title} ({})",
                commands::keycaps_of(&key, dom::is_mac()).join(" ")
            ),
            None => title,
        })
    };
    let is_front = move || repository.with(|it| it.as_ref().is_some_and(|it| it.is_front));
    let news = move || {
        let behind = repository.get().filter(|it| !it.is_front)?;
        let (class, count) = words::repository_badge(&behind)?;
        Some(view! { <i class=class aria-hidden="true">{words::brief(count)}</i> })
    };
    view! {
        <button class="opened" class:long=move || initials().is_some_and(|it| it.chars().count() > 3) data-testid="opened" data-path=path aria-label=title title=title
            aria-current=move || is_front().then_some("true") on:click=move |_| repositories::open_repository(app, to.clone())>
            <b aria-hidden="true" data-letters=initials></b>
            {news}
        </button>
    }
}

fn view_entry(app: App, view: &'static View) -> impl IntoView {
    let is_here = Memo::new(move |_| view.is_here(app));
    let count = Memo::new(move |_| (view.count)(app));
    let label = move || {
        let count = words::format_count(count.get(), view.of);
        format!("{}: {count}", view.title)
    };
    // The spoken label begins with the visible one.
    let seen = move || match count.get() {
        0 => view.title.to_owned(),
        count => format!("{} {}", view.title, words::brief(count)),
    };
    let title = move || match view.key() {
        Some(key) => format!("{} ({key})", label()),
        None => label(),
    };
    // A narrow rail cannot show all views: the current one is scrolled into view.
    let id = format!("rail-{}", view.id);
    let own = id.clone();
    Effect::new(move |_| {
        if view.is_on(app) {
            dom::reveal(&own);
        }
    });
    move || {
        is_here.get().then(|| {
            view! {
                <button class="view" id=id.clone() class:asks=view.is_queue data-testid=format!("{}-view", view.id) aria-label=seen title=title aria-keyshortcuts=view.key()
                    aria-current=move || view.is_on(app).then_some("page") on:click=move |_| views::show_view(app, view)>
                    {view.icon.draw()}
                    <span class="name" aria-hidden="true">{view.title}" "</span>
                    {move || (count.get() > 0).then(|| view! { <i class="count" aria-hidden="true">{words::brief(count.get())}</i> })}
                </button>
            }
        })
    }
}
