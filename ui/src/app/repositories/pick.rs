//! Choosing a repository: a known one, one by its path, or one in the system's dialog.

use engram_model::Recent;
use leptos::{ev, html, prelude::*, task::spawn_local};

use crate::{
    app::{
        components::{icons::Icon, prose::prose, refused::Refused},
        dom,
        frame::{Over, rail},
        overlay::{Heading, Modal, palette::keycaps},
        repositories,
        state::App,
    },
    words::{self, say},
};

#[component]
pub(crate) fn Repositories() -> impl IntoView {
    view! {
        <Modal over=Over::Repositories label=say::repositories::TITLE class="repositories">
            <Heading title=say::repositories::TITLE />
            <PickRepository list="repositories-list" />
        </Modal>
    }
}

/// A field for a path, and the known repositories. `list` is the id of the list.
#[component]
pub(crate) fn PickRepository(list: &'static str) -> impl IntoView {
    let app = App::here();
    app.repositories.refused.set(None);
    if !app.backend().switches_repositories() {
        return view! {
            <p class="hint" data-testid="one-repository"><span>{prose(say::repositories::ONE)}</span></p>
        }.into_any();
    }
    let recent = RwSignal::new(Vec::<Recent>::new());
    let field = NodeRef::<html::Input>::new();
    spawn_local(async move {
        match app.backend().repositories().await {
            Ok(all) => recent.set(all),
            Err(refusal) => app.repositories.refused.set(Some(refusal)),
        }
    });
    let picks = RwSignal::new(false);
    spawn_local(async move {
        // Offer only what the backend supports.
        if let Ok(Some(around)) = app.backend().surroundings().await {
            picks.set(around.picks_folders);
        }
    });
    let pick = move |_| {
        spawn_local(async move {
            match app.backend().choose_folder().await {
                Ok(Some(path)) => repositories::open_repository(app, path),
                Ok(None) => {}
                Err(refusal) => app.repositories.refused.set(Some(refusal)),
            }
        });
    };
    field.on_load(|input| {
        // If this is refused, a dialog focuses its first field by itself.
        let _ = input.focus();
    });
    let open = move || {
        let path = field
            .get_untracked()
            .map(|it| it.value())
            .unwrap_or_default();
        if !path.trim().is_empty() {
            repositories::open_repository(app, path.trim().to_owned());
        }
    };
    // The arrow keys move through the list below the field.
    let step = move |event: ev::KeyboardEvent| {
        if dom::step_focus(&event, list) {
            event.prevent_default();
        }
    };
    view! {
        <form class="entry" on:keydown=step on:submit=move |event| { event.prevent_default(); open(); }>
            <input node_ref=field data-testid="repository-path" aria-label=say::repositories::PATH placeholder=say::repositories::PATH_HINT autocomplete="off" spellcheck="false" maxlength="4096" />
            <button class="primary" type="submit" data-testid="repository-open">{say::repositories::OPEN}</button>
            <button type="button" data-testid="repository-pick" hidden=move || !picks.get() on:click=pick>{say::repositories::PICK}</button>
        </form>
        <Refused refusal=app.repositories.refused />
        <ul id=list aria-label=say::repositories::BEFORE on:keydown=step>{move || recent.get().into_iter().map(|repository| view! { <KnownRepository repository /> }).collect_view()}</ul>
    }
    .into_any()
}

/// A known repository: one press opens it, and one in the background can be closed.
#[component]
fn KnownRepository(repository: Recent) -> impl IntoView {
    let app = App::here();
    let (path, own, closed) = (
        repository.path.clone(),
        repository.path.clone(),
        repository.path.clone(),
    );
    let title = say::repositories::close(&words::visible(&repository.name));
    // The row stays when its repository is closed.
    let is_behind = Memo::new(move |_| {
        let known = app.repositories;
        let is_open = known.opened.with(|all| all.iter().any(|it| it.path == own));
        is_open && known.front.with(|front| front.as_ref() != Some(&own))
    });
    let own = repository.path.clone();
    // Only an open repository is in the rail, which gives it its number.
    let key = Memo::new(move |_| {
        let all = app.repositories.opened;
        rail::repository_key(all.with(|all| all.iter().position(|it| it.path == own))?)
    });
    view! {
        <li>
            <button class="repository" data-testid="repository" data-path=repository.path.clone() aria-current=repository.is_front.then_some("true")
                on:click=move |_| repositories::open_repository(app, path.clone())>
                {Icon::Repository.draw()}
                <b>{words::visible(&repository.name)}</b>" "<span class="place">{words::visible(&repository.path)}</span>" "
                {repository.is_front.then(|| view! { <small>{say::repositories::FRONT}</small>" " })}
                {repository.holding.map(|(engrams, drifted)| view! {
                    <span class="counts">
                        {(repository.conflicts > 0).then(|| view! { <span class="word warn">{words::format_count(repository.conflicts, say::CONFLICTS)}</span>" " })}
                        {(repository.requests > 0).then(|| view! { <span class="word warn">{words::format_count(repository.requests, say::REQUESTS)}</span>" " })}
                        {(repository.unseen > 0).then(|| view! { <span class="word">{words::thousands(repository.unseen)}{say::repositories::NEW}</span>" " })}
                        {(drifted > 0).then(|| view! { <span class="word warn">{words::format_count(drifted, say::TO_REVIEW)}</span>" " })}
                        <span>{words::format_count(engrams, say::ENGRAMS)}</span>
                    </span>
                })}
                {move || key.get().map(|key| keycaps(&key))}
            </button>
            {move || is_behind.get().then(|| {
                let (path, title) = (closed.clone(), title.clone());
                view! {
                    <button class="plain aside" data-testid="repository-close" aria-label=title.clone() title=title
                        on:click=move |event| { dom::focus_before(&event); repositories::close_repository(app, path.clone()); }>{Icon::Close.draw()}</button>
                }
            })}
        </li>
    }
}
