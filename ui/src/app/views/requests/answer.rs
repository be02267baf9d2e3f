//! The answer that a person gives by a key or a button, and what follows.

use engram_model::{DenyAnswer, GrantAnswer, Refusal, RequestTold, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{HAND_ON, VIEW};
use crate::{
    app::{
        components::field::{REASON, ReasonField, keys_of_line},
        dom,
        frame::{Undo, room},
        overlay::palette::keycaps,
        state::App,
        views::requests::{
            hand_on::{can_hand_on, has_newer_connection},
            request::{Answer, DEFAULT_CAP, asker_name, next_waiting, parse_cap},
            state,
        },
    },
    tags::Tag,
    words::{self, say},
};

/// The id of the field for the cap.
pub(super) const CAP: &str = "cap";

/// Answers the open request, or takes an answer back.
pub(super) fn give_answer(app: App, answer: Answer) {
    let Some(request) = untrack(|| state::current_request(app)) else {
        return;
    };
    if !answer.fits(&request, app.clock.get_untracked().now) {
        let (text, hint) = match answer {
            Answer::Grant | Answer::Deny => (say::requests::CANNOT, say::requests::CANNOT_HINT),
            Answer::Revoke => (
                say::requests::NOTHING_OPEN,
                say::requests::NOTHING_OPEN_HINT,
            ),
        };
        return app.frame.warn(text, hint);
    }
    let draft = untrack(|| app.views.requests.draft_of(&request.id));
    match answer {
        Answer::Grant => {
            let typed = draft.cap.unwrap_or_else(|| DEFAULT_CAP.to_string());
            match parse_cap(&typed) {
                Some(cap_tokens) => send_answer(app, request, Answer::Grant, cap_tokens, None),
                None => app
                    .frame
                    .warn(say::requests::CAP_RANGE, say::requests::CAP_RANGE_HINT),
            }
        }
        Answer::Deny => {
            let why = draft.reason.trim().to_owned();
            let is_asked = app.views.requests.wants_reason.get_untracked();
            if why.is_empty() && !is_asked {
                ask_for_reason(app)
            } else {
                let why = Some(why).filter(|it| !it.is_empty());
                send_answer(app, request, Answer::Deny, 0, why)
            }
        }
        Answer::Revoke => send_answer(app, request, Answer::Revoke, 0, None),
    }
}

/// Asks for the reason for a denial, which the agent reads. A second press denies without one.
fn ask_for_reason(app: App) {
    app.views.requests.wants_reason.set(true);
    room::act_in_detail(app, || dom::focus(REASON));
}

fn send_answer(
    app: App,
    request: RequestTold,
    answer: Answer,
    cap_tokens: u32,
    why: Option<String>,
) {
    // A second press sends nothing.
    if !app.batch.begin(say::requests::ANSWERING, 1) {
        return;
    }
    app.views.requests.answer_refused.set(None);
    spawn_local(async move {
        let id = request.id.clone();
        let mut has_newer = false;
        let said = match answer {
            Answer::Grant => {
                let answer = GrantAnswer {
                    id,
                    cap_tokens: Some(cap_tokens),
                    ttl: None,
                };
                let granted = app.ask(ask::GrantRequest(answer)).await;
                has_newer = granted.is_ok() && has_newer_connection(app, &request.agent).await;
                granted.map(|_| ())
            }
            Answer::Deny => {
                let answer = DenyAnswer { id, why };
                app.ask(ask::DenyRequest(answer)).await.map(|_| ())
            }
            Answer::Revoke => {
                let grant = request.grant.as_ref().map(|it| it.id.clone());
                revoke(app, grant.unwrap_or(id)).await
            }
        };
        app.batch.end();
        app.stale.touch(Tag::Requests);
        match said {
            Ok(()) => finish_answer(app, &request, answer, has_newer),
            Err(refusal) => refuse_answer(app, &request.id, refusal),
        }
    });
}

/// Revokes a grant.
pub(super) async fn revoke(app: App, id: String) -> Result<(), Refusal> {
    let revoked = app.ask(ask::RevokeGrant(id)).await;
    app.stale.touch(Tag::Requests);
    revoked.map(|_| ())
}

/// The undo of this grant.
pub(super) fn undo_of(id: String) -> Undo {
    let taken_back = move |app| {
        let revoked = revoke(app, id.clone());
        async move { revoked.await.map(|()| None) }
    };
    let then = |app: App, _: &str| app.frame.say(say::requests::REVOKED, "");
    Undo::new(say::CLAIMS, taken_back, then).unlisted()
}

/// Reports what was answered, and opens the next request that waits.
fn finish_answer(app: App, request: &RequestTold, answer: Answer, has_newer: bool) {
    let all = app.views.requests;
    all.wants_reason.set(false);
    // The field of the reason may have the focus: keys act on the next request.
    if answer == Answer::Deny {
        room::focus_pane(app);
    }
    all.forget_draft(&request.id);
    let name = asker_name(request);
    match answer {
        Answer::Grant => app.frame.say_all_done(
            &say::requests::granted(&name),
            if has_newer {
                say::requests::HAS_NEWER
            } else {
                ""
            },
            false,
            vec![undo_of(request.id.clone())],
        ),
        Answer::Deny => app.frame.say_final(say::requests::DENIED),
        Answer::Revoke => app.frame.say_final(say::requests::REVOKED),
    }
    let is_open = all.inbox.open.get_untracked().as_ref() == Some(&request.id);
    let next = all
        .known
        .with_untracked(|known| next_waiting(known.as_deref()?, &request.id));
    if let Some(next) = next.filter(|_| is_open && answer != Answer::Revoke) {
        state::select_request(app, next);
    }
    // A field keeps the focus until the person leaves it: what they type next must not run as
    // commands. If it is gone, keys continue in the list.
    dom::next_frame(move || {
        if dom::is_nowhere() {
            room::focus_pane(app);
        }
    });
}

/// Shows why an answer failed: beside its request or, if another is open by now, at the lower edge.
fn refuse_answer(app: App, id: &str, refusal: Refusal) {
    let all = app.views.requests;
    if all.inbox.open.get_untracked().as_deref() == Some(id) {
        dom::log(&refusal.to_string());
        all.answer_refused.set(Some(refusal));
    } else {
        app.frame.complain(refusal)
    }
}

/// A button for a command of this view, with its key.
fn view_button(
    app: App,
    id: &'static str,
    name: &'static str,
    is_primary: bool,
) -> impl IntoView + use<> {
    let command = VIEW.command(id);
    let key = command.and_then(|it| it.keys.first().copied()).map(keycaps);
    let is_busy = move || app.batch.progress.with(Option::is_some);
    view! {
        <button class:primary=is_primary data-testid=command.map(|it| it.id) disabled=is_busy on:click=move |_| VIEW.run(app, id)>{name}" "{key}</button>
    }
}

/// The answers that fit, with the fields for the cap and the reason.
#[component]
pub(super) fn Bar(current: Memo<Option<RequestTold>>) -> impl IntoView {
    let app = App::here();
    let fits = move |answer: Answer| {
        Memo::new(move |_| {
            let now = app.clock.get().now;
            current.with(|it| it.as_ref().is_some_and(|it| answer.fits(it, now)))
        })
    };
    let (waits, is_open) = (fits(Answer::Grant), fits(Answer::Revoke));
    let can_hand_on = Memo::new(move |_| can_hand_on(app));
    let is_none = move || !waits.get() && !is_open.get();
    view! {
        <div class="bar verdicts answers" role="group" aria-label=say::requests::ANSWER hidden=is_none data-testid="answers">
            {move || waits.get().then(|| view! {
                <Reason current />
                <Cap current />
                {view_button(app, Answer::Grant.id(), say::requests::GRANT, true)}
                {view_button(app, Answer::Deny.id(), say::requests::DENY, false)}
            })}
            {move || is_open.get().then(|| view_button(app, Answer::Revoke.id(), say::requests::REVOKE, true))}
            {move || can_hand_on.get().then(|| view_button(app, HAND_ON, say::requests::HAND_ON, false))}
        </div>
    }
}

/// The field for the most tokens that a grant lets the agent read.
#[component]
fn Cap(current: Memo<Option<RequestTold>>) -> impl IntoView {
    let app = App::here();
    let all = app.views.requests;
    let typed = Memo::new(move |_| {
        let id = current.with(|it| it.as_ref().map(|it| it.id.clone()));
        let written = id.and_then(|id| all.draft_of(&id).cap);
        written.unwrap_or_else(|| DEFAULT_CAP.to_string())
    });
    let set = move |text: String| {
        if let Some(request) = current.get_untracked() {
            all.write(&request.id, |it| it.cap = Some(text));
        }
    };
    let note = move || {
        let tokens = current.with(|it| it.as_ref().map(|it| it.tokens))?;
        let all = words::thousands(tokens.into());
        Some(match parse_cap(&typed.get()) {
            Some(cap) if cap < tokens => say::requests::span_is_cut(&all),
            Some(_) => say::requests::span_fits(&all),
            None => say::requests::CAP_RANGE.to_owned(),
        })
    };
    let leave = move || {
        all.wants_reason.set(false);
        room::focus_pane(app);
    };
    // The cap is kept as typed; granting has a key of its own.
    let keys = keys_of_line(|| {}, leave);
    let is_wrong = move || parse_cap(&typed.get()).is_none();
    view! {
        <div class="why-field cap-field">
            <label for=CAP>{say::requests::CAP}" "<kbd class="enters" aria-hidden="true">"⇧ E"</kbd><kbd class="leaves" aria-hidden="true">"Esc"</kbd></label>
            <input id=CAP data-testid="cap" inputmode="numeric" autocomplete="off" maxlength="9" aria-describedby="cap-note" aria-invalid=move || is_wrong().to_string()
                prop:value=typed on:input=move |event| set(event_target_value(&event)) on:keydown=keys />
            <span id="cap-note" class="quiet" class:bad=is_wrong data-testid="cap-note">{note}</span>
        </div>
    }
}

/// The field for the reason for a denial, which the agent reads.
#[component]
fn Reason(current: Memo<Option<RequestTold>>) -> impl IntoView {
    let app = App::here();
    let all = app.views.requests;
    let wants = all.wants_reason;
    let reason = move || {
        let id = current.with(|it| it.as_ref().map(|it| it.id.clone()));
        id.map(|id| all.draft_of(&id).reason).unwrap_or_default()
    };
    let set = move |text: String| {
        if let Some(request) = current.get_untracked() {
            all.write(&request.id, |it| it.reason = text);
        }
    };
    let usual = (say::requests::WHY, say::requests::WHY_HINT);
    let wanted = (say::requests::WHY_DENIED, say::requests::WHY_DENIED_HINT);
    let enter = move || {
        if wants.get_untracked() {
            VIEW.run(app, Answer::Deny.id());
        }
    };
    view! { <ReasonField reason=Signal::derive(reason) set wants usual wanted enter maxlength="500" /> }
}
