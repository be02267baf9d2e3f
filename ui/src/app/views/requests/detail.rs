//! One request: who asks, why and what for, the exact lines, and what became of it.

use engram_model::{EngramId, Pointer, RequestTold};
use leptos::{html, prelude::*};

use super::{answer::Bar, list::reason_of};
use crate::{
    app::{
        components::{icons::Icon, refused::Refused},
        frame::room::{self, ToList},
        source::SourceCard,
        state::App,
        views::requests::{
            request::{OutOfReach, asker_name, out_of_reach, standing_of},
            state,
        },
    },
    words::{self, Clock, say},
};

#[component]
pub(super) fn Detail() -> impl IntoView {
    let app = App::here();
    let current = Memo::new(move |_| state::current_request(app));
    let id = Memo::new(move |_| current.with(|it| it.as_ref().map(|it| it.id.clone())));
    let is_nothing = move || {
        let none = |it: &Option<Vec<RequestTold>>| it.as_ref().is_some_and(Vec::is_empty);
        app.views.requests.known.with(none)
    };
    view! {
        <section class="pane detail" id=room::DETAIL aria-label=say::requests::ONE data-testid="request-detail">
            <ToList />
            {move || match id.get() {
                Some(id) => view! { <Whole id current /> }.into_any(),
                None if is_nothing() => ().into_any(),
                None => view! { <p class="none quiet">{say::requests::NOT_READ}</p> }.into_any(),
            }}
            <Refused refusal=app.views.requests.answer_refused />
            <Bar current />
        </section>
    }
}

/// Rebuilt only for another request; changes to the same one appear in place.
#[component]
fn Whole(id: String, current: Memo<Option<RequestTold>>) -> impl IntoView {
    let app = App::here();
    let node = NodeRef::<html::Div>::new();
    node.on_load(move |it| room::refocus_redrawn(app, &it));
    let head = move || current.get().map(|it| view_head(&it, app.clock.get()));
    let absent = Memo::new(move |_| {
        let (request, now) = (current.get()?, app.clock.get().now);
        let agents = app.views.requests.agents;
        agents.with(|agents| out_of_reach(&request, agents, now))
    });
    let absent = move || {
        let told = absent
            .get()
            .map(|it| absence_in_words(&it, app.clock.get()));
        told.map(|it| view! { <p class="absent" data-testid="out-of-reach">{Icon::Alert.draw()}<span>{it}</span></p> })
    };
    let pointer = current.get_untracked();
    let pointer = pointer.and_then(|it| it.pointer.parse::<Pointer>().ok());
    // Lines that a person marks belong to the request: its id is written like an engram's.
    let card = pointer.zip(id.parse::<EngramId>().ok());
    let card =
        card.map(|(pointer, engram)| view! { <SourceCard engram index=0 pointer opens=true by_address=true /> });
    view! {
        <div class="scroll request" id=room::READ node_ref=node tabindex="-1" data-testid="request-read" data-request=id>
            {head}
            {absent}
            <section class="sources" aria-label=say::requests::LINES>{card}</section>
        </div>
    }
}

fn absence_in_words(absence: &OutOfReach, clock: Clock) -> String {
    match absence {
        OutOfReach::Closed => say::requests::CLOSED.to_owned(),
        OutOfReach::Reconnected => say::requests::RECONNECTED.to_owned(),
        OutOfReach::Quiet(since) => say::requests::is_quiet(&clock.exactly_ago(*since)),
    }
}

fn view_head(request: &RequestTold, clock: Clock) -> impl IntoView + use<> {
    let fact = |what: &'static str, is: Option<String>| {
        is.map(|is| view! { <div><dt>{what}</dt><dd>{is}</dd></div> })
    };
    let standing = standing_of(request, clock.now);
    let (word, class) = standing.word();
    let until = request.grant.as_ref().filter(|_| standing.is_open());
    let until = until.map(|grant| {
        let cap = grant
            .cap_tokens
            .map(|cap| words::format_count(cap.into(), say::requests::TOKENS));
        say::requests::open_until(&clock.moment(grant.expires_at), cap.as_deref())
    });
    let holder = request.grant.as_ref().and_then(|it| it.holder.as_deref());
    let holder = holder.map(|it| say::requests::held_by(&words::visible(it)));
    let told = request.answer.as_ref().map(|answer| {
        let by = say::requests::by_whom(&words::person(&answer.by), &clock.moment(answer.at));
        let why = request.why.as_deref().filter(|it| !it.is_empty());
        let why = why.map(words::visible);
        view! {
            <p class="settled" data-testid="answer">
                <b>{word}</b>" · "{by}{until.map(|it| format!(", {it}"))}{holder.map(|it| format!(", {it}"))}
                {why.map(|it| view! { <q dir="auto">{it}</q> })}
            </p>
        }
    });
    let is_erased = request.reason.is_empty();
    let reason = reason_of(request);
    let intended =
        (!request.intended_use.is_empty()).then(|| words::visible(&request.intended_use));
    let tokens = words::format_count(request.tokens.into(), say::requests::TOKENS);
    view! {
        <div class="chips">
            <span class=class data-testid="state">{word}</span>
            {request.role.as_deref().map(|it| view! { <span class="chip" title=say::requests::ROLE>{words::visible(it)}</span> })}
            {request.parent.as_ref().map(|it| view! { <span class="chip" data-testid="parent">{say::agents::parent(&words::visible(&it.0))}</span> })}
        </div>
        <h2 class="claim" data-testid="asks">{say::requests::asks(&asker_name(request), &words::wanted_source(&request.pointer))}</h2>
        <dl class="said-why">
            <div><dt>{say::requests::REASON}</dt><dd dir="auto" class:quiet=is_erased data-testid="why">{reason}</dd></div>
            {intended.map(|it| view! { <div><dt>{say::requests::USE}</dt><dd dir="auto" data-testid="use">{it}</dd></div> })}
        </dl>
        <dl class="facts">
            {fact(say::requests::ASKED, Some(clock.moment(request.asked_at)))}
            {fact(say::requests::SPAN, Some(tokens))}
        </dl>
        {told}
    }
}
