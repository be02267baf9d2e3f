//! One line of the brief: its words, the claim that it repeats, and that claim's evidence.

use std::cmp::Reverse;

use engram_model::{BriefLine, EngramId, Pointer, SentTo};
use leptos::{html, prelude::*};

use super::{
    VIEW,
    list::{line_in_words, whole_line},
    pins::{can_edit, can_pin},
};
use crate::{
    app::{
        act,
        components::prose::prose,
        frame::room::{self, ToList},
        overlay::palette::keycaps,
        source::SourceCard,
        state::App,
        views::brief::state,
    },
    commands::Act,
    words::{self, Clock, say},
};

/// The most agents that are named as those that a line was sent to.
const MOST_SENT: usize = 5;

#[component]
pub(super) fn Detail() -> impl IntoView {
    let app = App::here();
    let line = Memo::new(move |_| state::current_line(app));
    let shown = move || line.get().map(|line| view! { <Whole line /> });
    view! {
        <section class="pane detail" id=room::DETAIL aria-label=say::brief::ONE data-testid="line-detail">
            <ToList />
            {shown}
            <Bar line />
        </section>
    }
}

#[component]
fn Whole(line: BriefLine) -> impl IntoView {
    let app = App::here();
    let node = NodeRef::<html::Div>::new();
    node.on_load(move |it| room::refocus_redrawn(app, &it));
    // Lines that a person marks belong to a claim; without one, they belong to no engram.
    let nobody = "00000000000000000000000000".parse::<EngramId>();
    let cards = line.engram.or(nobody.ok()).map(|engram| {
        let pointers = line.pointers.iter();
        let pointers = pointers.filter_map(|it| it.parse::<Pointer>().ok());
        let card =
            |(index, pointer)| view! { <SourceCard engram index pointer opens={index == 0} by_address=true /> };
        pointers.enumerate().map(card).collect_view()
    });
    let is_none = line.pointers.is_empty();
    view! {
        <div class="scroll" id=room::READ node_ref=node tabindex="-1" data-testid="line-read">
            <p class="claim long" dir="auto" title=whole_line(&line) data-testid="line-text">{prose(&line_in_words(&line))}</p>
            <Sent line=line.clone() />
            <section class="sources" aria-label=say::brief::EVIDENCE>
                {is_none.then(|| view! { <p class="quiet">{say::brief::NO_EVIDENCE}</p> })}
                {cards}
            </section>
        </div>
    }
}

/// Who pinned the line, and the agents that it was sent to.
#[component]
fn Sent(line: BriefLine) -> impl IntoView {
    let app = App::here();
    let is_for_agents = line.pinned || line.is_todo;
    let sent = move || {
        let clock = app.clock.get();
        sent_in_words(&line.sent, clock)
    };
    let by = line.pinned_by.as_deref().map(words::visible);
    is_for_agents.then(|| {
        view! {
            {by.map(|name| view! { <p class="quiet" dir="auto">{say::brief::pinned_by(&name)}</p> })}
            <p class="quiet" dir="auto" data-testid="line-sent">{sent}</p>
        }
    })
}

/// The agents that a line was sent to, last; how many others there are.
pub(super) fn sent_in_words(sent: &[SentTo], clock: Clock) -> String {
    let mut last: Vec<&SentTo> = sent.iter().collect();
    last.sort_by_key(|it| Reverse(it.at));
    let more = last.split_off(last.len().min(MOST_SENT)).len();
    let one = |it: &&SentTo| format!("{} ({})", words::visible(&it.name), clock.moment(it.at));
    let last: Vec<String> = last.iter().map(one).collect();
    match (last.is_empty(), more) {
        (true, _) => say::brief::NOT_SENT.to_owned(),
        (false, 0) => format!("{} {}", say::brief::SENT, last.join(", ")),
        (false, more) => {
            let more = say::many::and_more(&words::thousands(more as u64));
            format!("{} {}{more}", say::brief::SENT, last.join(", "))
        }
    }
}

#[component]
fn Bar(line: Memo<Option<BriefLine>>) -> impl IntoView {
    let app = App::here();
    let is = move |of: fn(&BriefLine) -> bool| {
        Memo::new(move |_| line.with(|it| it.as_ref().is_some_and(of)))
    };
    let (pins, edits) = (is(can_pin), is(can_edit));
    let (is_pinned, has_claim) = (is(|it| it.pinned), is(|it| it.engram.is_some()));
    let is_none = move || !pins.get() && !has_claim.get();
    let name = move || {
        if is_pinned.get() {
            say::brief::UNPIN
        } else {
            say::brief::PIN
        }
    };
    view! {
        <div class="bar" hidden=is_none data-testid="line-bar">
            <button class="primary" data-testid="pin" hidden=move || !pins.get() on:click=move |_| act::perform(app, Act::Pin)>{name}" "<kbd>"P"</kbd></button>
            <button data-testid="edit-line" hidden=move || !edits.get() on:click=move |_| VIEW.run(app, "edit-line")>{say::brief::EDIT}" "{keycaps(VIEW.chord("edit-line"))}</button>
            <span class="space"></span>
            <button class="plain" data-testid="line-claim" hidden=move || !has_claim.get() on:click=move |_| state::show_claim_of_line(app)>{say::brief::SHOW}</button>
        </div>
    }
}
