//! The line below the panes: the connection, the repository, and what an agent spends.

use engram_model::Meter;
use leptos::prelude::*;

use super::Over;
use crate::{
    app::{
        components::icons::Icon,
        engine::connection::Link,
        outside,
        overlay::palette::keycaps,
        state::{App, Phase},
        views::{self, feed},
    },
    words::{self, say},
};

#[component]
pub(crate) fn StatusLine() -> impl IntoView {
    let app = App::here();
    let failed = move || matches!(app.phase.get(), Phase::Failed(_));
    let is_paused = move || app.list.is_paused();
    let held = Memo::new(move |_| feed::waits_for_pointer(app));
    let link = move || match (app.connection.link.get(), held.get()) {
        (Link::Connecting, _) if failed() => ("lost", say::status::NOT_CONNECTED.to_owned()),
        (Link::Connecting, _) => ("connecting", say::status::CONNECTING.to_owned()),
        (Link::Live, _) if is_paused() => ("paused", say::status::PAUSED.to_owned()),
        (Link::Live, Some(new)) => ("paused", say::status::held_count(new)),
        (Link::Live, None) => ("live", say::status::LIVE.to_owned()),
        (Link::Lost, _) => ("lost", say::status::LOST.to_owned()),
    };
    let project = move || app.status.get().and_then(|status| status.project);
    let told = move |what: fn(&engram_model::StatusReply) -> String| {
        move || app.status.get().map(|it| what(&it)).unwrap_or_default()
    };
    // The budget of the working agent that is nearest to a limit.
    let spent = move || {
        let now = app.clock.get().now;
        let spending = app.status.get()?.spending.filter(|it| it.until > now)?;
        let budget = &spending.budget;
        let (what, pointers) = words::fullest_meter(budget);
        // A small window shows only the fuller meter.
        let is_less = budget.tokens.share() < pointers.share();
        let meters = [
            (say::status::TOKENS, budget.tokens, is_less),
            (what, pointers, !is_less),
        ];
        let meter = |(what, it, is_less): (&'static str, Meter, bool)| {
            view! { <span class:more=is_less class:spent=words::is_nearly_spent(it)><i>{what}</i>" "{words::meter(it)}</span> }
        };
        Some(view! {
            <span class="budget" data-testid="budget" title=words::spent(&spending)>
                <b>{words::visible(&spending.agent)}</b>
                {meters.map(meter)}
            </span>
        })
    };
    view! {
        <footer class="status">
            <span class="link" data-testid="link" data-state=move || link().0>{move || link().1}</span>
            <button class="plain where" data-testid="repo" title=say::status::OTHER_REPOSITORY hidden=move || app.status.with(Option::is_none) on:click=move |_| app.frame.over.set(Some(Over::Repositories))>
                {Icon::Repository.draw()}
                {move || match project() {
                    Some(project) if project.unavailable.is_some() => view! {
                        <b>{words::visible(&project.name)}</b>
                        <i class="word bad" data-testid="gone" title=words::visible(project.unavailable.as_deref().unwrap_or_default())>" "{say::status::GONE}</i>
                    }.into_any(),
                    Some(project) => view! {
                        <b>{words::visible(&project.name)}</b>
                        {words::checkout(&project).map(|(how, what)| view! { <i>{how}</i><b data-testid="checkout">{what}</b> })}
                    }.into_any(),
                    None => view! { <span>{say::status::NO_REPOSITORY}</span> }.into_any(),
                }}
            </button>
            <span data-testid="count">{told(|it| words::format_count(it.engrams, say::ENGRAMS))}</span>
            <button class="plain" data-testid="agents" title=say::status::SHOW_AGENTS hidden=move || (views::agents::VIEW.count)(app) == 0
                on:click=move |_| views::show_view(app, &views::agents::VIEW)>
                {move || words::format_count((views::agents::VIEW.count)(app), say::AGENTS)}
            </button>
            {spent}
            {move || app.status.get().and_then(|it| it.watching).map(|why| view! { <span class="unwatched" title=why>{say::status::UNWATCHED}</span> })}
            <span class="space"></span>
            <button class="plain log" data-testid="log-button" title=say::status::OPEN_LOG hidden=!app.backend().opens_editors()
                on:click=move |_| outside::open_log(app)>{say::status::LOG}</button>
            <button class="plain" data-testid="shortcuts-button" on:click=move |_| app.frame.over.set(Some(Over::Sheet))>
                <kbd>"?"</kbd>" "{say::status::SHORTCUTS}
            </button>
            <button class="plain" data-testid="palette-button" title=say::sheet::FIND on:click=move |_| app.frame.over.set(Some(Over::Palette))>
                {keycaps("Mod+k")}" "<span class="find">{say::status::FIND}</span>
            </button>
        </footer>
    }
}
