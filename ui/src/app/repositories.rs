//! Repositories: those that are open in this window, those that were before, and any other by its path;
//! and what other programs hand to the window.

use std::time::Duration;

use engram_model::{Handed, Recent};
use leptos::{ev, html, prelude::*, task::spawn_local};

use super::{
    dom,
    icons::Icon,
    overlay::{Heading, Modal},
    state::{App, Link, Over, Phase},
};
use crate::{feed::Feed, route::Route, words};

/// While many news come from a repository behind, they are shown this often.
const PAUSE: Duration = Duration::from_millis(500);

impl App {
    /// Another repository is in front: of the one before nothing is left but its place.
    fn begin_anew(self) {
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
        self.start();
    }

    /// The root of the repository in front.
    pub(crate) fn root(self) -> Option<String> {
        self.status
            .with_untracked(|it| it.as_ref()?.project.as_ref()?.root.clone())
    }

    /// Goes where the person was in a repository that came in front.
    fn go_back_to(self, root: &str) {
        let place = self.places.with_value(|it| it.get(root).cloned());
        dom::set_query(&place.unwrap_or_default(), true, Some(root));
        self.begin_anew();
    }

    /// What the shell hands on.
    pub(crate) fn follow_handed(self, it: &Handed) {
        match it {
            Handed::Link(link) => self.follow_link(link),
            Handed::Repository(root) => self.go_back_to(root),
        }
    }

    /// Goes back or forward, to another repository too.
    pub(crate) fn follow_history(self, root: Option<String>) {
        let other = root.filter(|it| self.root().as_ref() != Some(it));
        let Some(root) = other.filter(|_| self.backend().switches_repositories()) else {
            return self.follow_address();
        };
        spawn_local(async move {
            match self.backend().open_repository(&root).await {
                Ok(()) => self.begin_anew(),
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// Hears of the repositories that are open in this window, for as long as the page lives.
    pub(crate) fn follow_opened(self, after: u64) {
        if !self.backend().switches_repositories() {
            return;
        }
        spawn_local(async move {
            match self.backend().opened(after).await {
                Ok(it) => {
                    self.opened.set(it.repositories);
                    set_timeout(move || self.follow_opened(it.news), PAUSE);
                }
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// Closes one that is open behind another.
    fn close_repository(self, path: String) {
        spawn_local(async move {
            if let Err(refusal) = self.backend().close_repository(&path).await {
                self.complain(refusal);
            }
        });
    }

    /// Goes where a link leads; one that is not understood is left alone.
    pub(crate) fn follow_link(self, link: &str) {
        match Route::query_of_link(link) {
            Some(query) => {
                self.over.set(None);
                dom::set_query(&query, true, self.root().as_deref());
                self.follow_address();
            }
            None => self.say(
                "This link leads nowhere in Engram",
                "A link is engram://engram/ID, engram://feed or engram://drift, with a filter behind a ?.",
                true,
            ),
        }
    }

    /// Brings another repository in front.
    pub(crate) fn open_repository(self, path: String) {
        if self.root().as_ref() == Some(&path) {
            return self.over.set(None);
        }
        spawn_local(async move {
            match self.backend().open_repository(&path).await {
                Ok(()) => {
                    self.over.set(None);
                    self.go_back_to(&path);
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
        let closes = (!it.is_open
            && app
                .opened
                .with(|all| all.iter().any(|open| open.path == it.path)))
        .then(|| {
            (
                it.path.clone(),
                format!("Close {}", words::visible(&it.name)),
            )
        });
        view! {
            <li>
                <button class="repository" data-testid="repository" data-path=it.path.clone() aria-current=it.is_open.then_some("true")
                    on:click=move |_| app.open_repository(path.clone())>
                    {Icon::Repository.draw()}
                    <b>{words::visible(&it.name)}</b>" "<span class="place">{words::visible(&it.path)}</span>" "
                    {it.is_open.then(|| view! { <small>"in front"</small>" " })}
                    {it.holding.map(|(engrams, drifted)| view! {
                        <span class="counts">
                            {(it.unseen > 0).then(|| view! { <span class="word">{words::thousands(it.unseen)}" new"</span>" " })}
                            {(drifted > 0).then(|| view! { <span class="word warn">{words::count(drifted, "claim in doubt", "claims in doubt")}</span>" " })}
                            <span>{words::count(engrams, "engram", "engrams")}</span>
                        </span>
                    })}
                </button>
                {closes.map(|(path, title)| view! {
                    <button class="plain aside" data-testid="repository-close" aria-label=title.clone() title=title
                        on:click=move |_| app.close_repository(path.clone())>{Icon::Close.draw()}</button>
                })}
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
