//! The list: first the waiting requests, longest wait first; then the answered ones, last answer
//! first.

use engram_model::{RequestState, RequestTold};
use leptos::prelude::*;

use super::{VIEW, state};
use crate::{
    app::{
        components::{
            icons::Icon,
            inbox::{Instead, ListBox, ListPane},
        },
        dom,
        state::App,
        views::requests::request::{RequestStanding, asker_name, standing_of},
    },
    words::{self, Clock, say},
};

pub(super) fn request_row_id(id: &str) -> String {
    format!("request-{id}")
}

#[component]
pub(super) fn List() -> impl IntoView {
    let app = App::here();
    let count = move || words::thousands((VIEW.count)(app));
    let beside = move || {
        view! {
            <span class="chip" data-testid="list-count" title=VIEW.counted hidden=move || app.status.with(Option::is_none)>{count}</span>
        }
    };
    view! {
        <ListPane view=&VIEW beside refused=app.views.requests.inbox.refused again=state::read><Rows /></ListPane>
    }
}

#[component]
fn Rows() -> impl IntoView {
    let app = App::here();
    let requests = app.views.requests;
    let ids = move |waits: bool| {
        Memo::new(move |_| {
            requests.known.with(|known| {
                let all = known.iter().flatten();
                let all = all.filter(|it| (it.state == RequestState::Waiting) == waits);
                all.map(|it| it.id.clone()).collect::<Vec<_>>()
            })
        })
    };
    let (waiting, answered) = (ids(true), ids(false));
    let is_none = move || waiting.with(Vec::is_empty) && answered.with(Vec::is_empty);
    let is_none = Memo::new(move |_| is_none());
    let active = Signal::derive(move || {
        let open = requests.inbox.open.get().map(|id| request_row_id(&id));
        open.filter(|_| !is_none.get())
    });
    let omitted = move || {
        let omitted = requests
            .omitted
            .get()
            .map(|it| words::format_count(it, say::REQUESTS));
        omitted.map(|it| view! { <p class="quiet more" data-testid="requests-omitted">{say::requests::not_listed(&it)}</p> })
    };
    view! {
        <Instead is_none is_read=Signal::derive(move || requests.known.with(Option::is_some)) refused=requests.inbox.refused
            reading=say::requests::READING nothing />
        <ListBox class="conflicts requests" label=say::requests::LABEL testid="requests-list" is_none active>
            <Group name=say::requests::WAITING ids=waiting />
            <Group name=say::requests::ANSWERED ids=answered />
        </ListBox>
        {omitted}
    }
}

fn nothing() -> impl IntoView {
    view! {
        <div class="none" data-testid="no-requests">
            <span class="sign">{Icon::Check.draw()}</span>
            <h2>{say::requests::NONE}</h2>
            <p>{say::requests::NONE_MEANS}</p>
        </div>
    }
}

#[component]
fn Group(name: &'static str, ids: Memo<Vec<String>>) -> impl IntoView {
    let count = move || words::thousands(ids.with(Vec::len) as u64);
    let label = move || format!("{name}: {}", count());
    let is_none = Memo::new(move |_| ids.with(Vec::is_empty));
    move || {
        (!is_none.get()).then(|| {
            view! {
                <div class="topic" role="group" aria-label=label data-testid="requests-group">
                    <div class="topic-name" aria-hidden="true"><b>{name}</b><span>{count}</span></div>
                    <For each=move || ids.get() key=Clone::clone let:id><Row id /></For>
                </div>
            }
        })
    }
}

#[component]
fn Row(id: String) -> impl IntoView {
    let app = App::here();
    let all = app.views.requests;
    let id = StoredValue::new(id);
    let request = Memo::new(move |_| id.with_value(|id| all.of(id)));
    let is_open =
        Memo::new(move |_| id.with_value(|id| all.inbox.open.with(|it| it.as_ref() == Some(id))));
    let content = move || request.get().map(|it| view_content(&it, app.clock.get()));
    let state = move || request.with(|it| it.as_ref().map(|it| it.state.as_str()));
    view! {
        <div class="request-row" class:selected=is_open id=id.with_value(|id| request_row_id(id)) role="option" aria-selected=move || is_open.get().to_string()
            data-testid="request" data-id=id.get_value() data-state=state
            on:mousedown=dom::prevent_text_selection on:click=move |_| state::go_to_request(app, id.get_value())>
            {content}
        </div>
    }
}

/// The reason, or a note that it was erased.
pub(super) fn reason_of(request: &RequestTold) -> String {
    if request.reason.is_empty() {
        say::requests::ERASED.to_owned()
    } else {
        words::visible(&request.reason)
    }
}

fn view_content(request: &RequestTold, clock: Clock) -> impl IntoView + use<> {
    let at = match &request.answer {
        Some(answer) => answer.at,
        None => request.asked_at,
    };
    let standing = standing_of(request, clock.now);
    let (word, class) = standing.word();
    let is_answered = standing != RequestStanding::Waiting;
    let role = request.role.as_deref().map(words::visible);
    view! {
        <span class="who">
            <b>{asker_name(request)}</b>
            {role.map(|role| view! { <span>{role}</span> })}
            <span class="space"></span>
            <time datetime=at.to_string() title=clock.moment(at)>{clock.ago(at)}</time>
        </span>
        <p class="wants">{words::wanted_source(&request.pointer)}</p>
        <p class="reason" dir="auto">{reason_of(request)}</p>
        {is_answered.then(|| view! { <span class="meta"><span class=class data-testid="request-state">{word}</span></span> })}
    }
}
