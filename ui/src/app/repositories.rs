//! Other repositories: those that were open before, and any other by its path; and the links that
//! other programs hand to the window.

use engram_model::Recent;
use leptos::{ev, html, prelude::*, task::spawn_local};

use super::{
    dom,
    icons::Icon,
    overlay::{Heading, Modal},
    state::{App, Link, Over, Phase},
};
use crate::{feed::Feed, route::Route, words};

impl App {
    /// Another repository is in the window: nothing of the one before is left.
    pub(crate) fn begin_anew(self) {
        self.live.set_value(None);
        self.begin_list();
        self.phase.set(Phase::Loading);
        self.link.set(Link::Connecting);
        self.feed.set(Feed::default());
        self.selected.set(None);
        self.visited.set(None);
        self.expanded.set(None);
        self.closing.set(None);
        self.facets.set(None);
        self.at_top.set(true);
        dom::set_query("", true);
        self.start();
    }

    /// What the shell hands on: a link, or nothing where the repository became another.
    pub(crate) fn follow_handed(self, link: &str) {
        match link {
            "" => self.begin_anew(),
            link => self.follow_link(link),
        }
    }

    /// Goes where a link leads; one that is not understood is left alone.
    pub(crate) fn follow_link(self, link: &str) {
        match Route::query_of_link(link) {
            Some(query) => {
                self.over.set(None);
                dom::set_query(&query, true);
                self.follow_address();
            }
            None => self.say(
                "This link leads nowhere in Engram",
                "A link is engram://engram/ID, engram://feed or engram://drift, with a filter behind a ?.",
                true,
            ),
        }
    }

    /// Shows another repository in this window.
    pub(crate) fn open_repository(self, path: String) {
        spawn_local(async move {
            match self.backend().open_repository(&path).await {
                Ok(()) => {
                    self.over.set(None);
                    self.begin_anew();
                }
                Err(refusal) => self.complain(refusal),
            }
        });
    }
}

#[component]
pub(crate) fn Repositories() -> impl IntoView {
    view! {
        <Modal over=Over::Repositories label="Repositories" class="repositories">
            <Heading title="Repositories" />
            <Choice />
        </Modal>
    }
}

#[component]
fn Choice() -> impl IntoView {
    let app = App::here();
    if !app.backend().switches_repositories() {
        return view! {
            <p class="hint" data-testid="one-repository"><span>"This page shows the repository that "<code>"engram serve"</code>" was started in. The window ("<code>"engram app"</code>") switches between several."</span></p>
        }.into_any();
    }
    let recent = RwSignal::new(Vec::<Recent>::new());
    let field = NodeRef::<html::Input>::new();
    spawn_local(async move {
        match app.backend().repositories().await {
            Ok(all) => recent.set(all),
            Err(refusal) => app.complain(refusal),
        }
    });
    field.on_load(|it| {
        // A dialog focuses its first field by itself where this is refused.
        let _ = it.focus();
    });
    let open = move || {
        let path = field
            .get_untracked()
            .map(|it| it.value())
            .unwrap_or_default();
        if !path.trim().is_empty() {
            app.open_repository(path.trim().to_owned());
        }
    };
    // The arrows lead through the list, which follows the field.
    let step = move |event: ev::KeyboardEvent| {
        if dom::step_focus(&event, "repositories-list") {
            event.prevent_default();
        }
    };
    let row = move |it: Recent| {
        let path = it.path.clone();
        view! {
            <li>
                <button class="repository" data-testid="repository" data-path=it.path.clone() aria-current=it.is_open.then_some("true")
                    on:click=move |_| app.open_repository(path.clone())>
                    {Icon::Repository.draw()}
                    <b>{words::visible(&it.name)}</b>" "<span class="place">{words::visible(&it.path)}</span>" "
                    {it.is_open.then(|| view! { <small>"open"</small>" " })}
                    {it.holding.map(|(engrams, drifted)| view! {
                        <span class="counts">
                            {(drifted > 0).then(|| view! { <span class="word warn">{words::count(drifted, "claim in doubt", "claims in doubt")}</span>" " })}
                            <span>{words::count(engrams, "engram", "engrams")}</span>
                        </span>
                    })}
                </button>
            </li>
        }
    };
    view! {
        <form class="entry" on:keydown=step on:submit=move |event| { event.prevent_default(); open(); }>
            <input node_ref=field data-testid="repository-path" aria-label="Path of a repository" placeholder="/path/to/another/repository" autocomplete="off" spellcheck="false" maxlength="4096" />
            <button class="primary" type="submit" data-testid="repository-open">"Open"</button>
        </form>
        <ul id="repositories-list" aria-label="Opened before" on:keydown=step>{move || recent.get().into_iter().map(row).collect_view()}</ul>
    }
    .into_any()
}
