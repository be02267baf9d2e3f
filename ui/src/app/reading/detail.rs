//! The detail pane: one claim, what is known about it, and the sources that it rests on.

use std::{ops::Range, sync::Arc};

use engram_model::{Durability, Engram, EngramId};
use leptos::{html, prelude::*};

use super::history::History;
use crate::{
    app::{
        components::{icons::Icon, prose, refused::Refused},
        dom,
        engine::stale,
        frame::room::{self, ToList},
        outside,
        overlay::{menu, palette::keycaps},
        reading::{self, Closing, RenewButton},
        source::SourceCard,
        state::App,
        views::{
            conflicts,
            drift::{Triage, Verdicts},
        },
        write::{Correct, CorrectButton},
    },
    commands::{self, Act},
    feed::EngramList,
    words::{self, State, say},
};

#[component]
pub(crate) fn Detail() -> impl IntoView {
    let app = App::here();
    let current = Memo::new(move |_| reading::current_engram(app));
    // A claim that leaves the list stays open.
    Effect::new(move |_| {
        let listed = app
            .reading
            .selected
            .get()
            .and_then(|id| app.list.engram(id));
        if listed.is_some() {
            app.reading.visited.set(listed);
        }
    });
    let id = Memo::new(move |_| current.get().map(|it| it.id));
    view! {
        <section class="pane detail" id=room::DETAIL aria-label=say::engram::LABEL data-testid="detail">
            <ToList />
            {move || match id.get() {
                None if app.list.with_feed(|it| it.iter().next().is_none()) => ().into_any(),
                None => view! { <p class="none quiet">{say::engram::NONE}</p> }.into_any(),
                Some(id) => view! { <Whole id current /> }.into_any(),
            }}
            <Refused refusal=app.reading.refused />
            <ActionBar current />
        </section>
    }
}

/// Rebuilt only for another engram; changes to the same one appear in place.
#[component]
fn Whole(id: EngramId, current: Memo<Option<Arc<Engram>>>) -> impl IntoView {
    let pointers = current
        .get_untracked()
        .map(|it| it.pointers.clone())
        .unwrap_or_default();
    let cards = pointers.into_iter().enumerate();
    let app = App::here();
    let became = Memo::new(move |_| {
        let engram = current.get()?;
        let now = app.clock.get().now;
        let became = |feed: &EngramList| {
            let marks = feed.marks(engram.id).to_vec();
            (feed.state(&engram, now), feed.newer(engram.id), marks)
        };
        Some((app.list.with_feed(became), stale::is_unavailable(app)))
    });
    let node = NodeRef::<html::Div>::new();
    node.on_load(move |it| room::refocus_redrawn(app, &it));
    view! {
        <div class="scroll" id="engram" node_ref=node tabindex="-1" data-testid="engram" data-id=id.to_string()>
            <Correct id engram=current />
            {move || current.get().zip(became.get()).map(|(engram, ((state, newer, marks), is_unavailable))| view! { <Head engram state newer marks is_unavailable /> })}
            <Triage engram=current />
            {move || app.reading.history.get().then(|| view! { <History id /> })}
            <h2 class="offscreen">{say::engram::EVIDENCE}</h2>
            <div class="sources">
                {cards.map(|(index, pointer)| view! { <SourceCard engram=id index pointer /> }).collect_view()}
            </div>
        </div>
    }
}

/// Length in bytes above which a claim is too long to read at a glance.
const LONG: usize = 220;
/// How many characters of a claim a question about it quotes.
const NAMED: usize = 72;

#[component]
fn Head(
    engram: Arc<Engram>,
    state: State,
    newer: Option<EngramId>,
    /// What a search found in its claim.
    marks: Vec<Range<usize>>,
    is_unavailable: bool,
) -> impl IntoView {
    let app = App::here();
    let clock = app.clock.get_untracked();
    let (window, until) = clock.window(&engram, state);
    let evidence = match state {
        State::Holds => match words::evidence(&engram, is_unavailable) {
            (_, class @ "word well") => (say::state::ALL_UNCHANGED, class),
            evidence => evidence,
        },
        _ => words::as_stored(&engram),
    };
    let others = engram.figures.corroborations;
    let claim = if engram.redacted {
        view! { <p class="claim erased">{say::engram::REDACTED}</p> }.into_any()
    } else {
        let claim = prose::claim(&engram.claim, &marks);
        view! { <p class="claim" data-testid="claim" class:closed={!state.holds()} class:long={engram.claim.len() > LONG} dir=claim.direction>{claim.text}</p> }.into_any()
    };
    view! {
        <div class="chips">
            <span class="chip">{Icon::Of(engram.kind).draw()}{words::kind(engram.kind)}</span>
            {(!engram.topic.is_empty()).then(|| view! { <span class="chip" title=say::engram::TOPIC>{words::visible(&engram.topic)}</span> })}
            <span class="chip" title=say::engram::SCOPE>{engram.scope.as_str()}</span>
            {(engram.durability == Durability::Ephemeral).then(|| view! { <span class="chip" title=say::engram::EPHEMERAL_MEANS data-testid="ephemeral">{say::engram::EPHEMERAL}</span> })}
            {state.word().map(|word| view! { <span class="chip gone" data-testid="state">{word}</span> })}
            <span class=evidence.1 data-testid="verified">{evidence.0}</span>
        </div>
        {claim}
        <dl class="facts">
            <div><dt>{say::engram::BY}</dt><dd>{words::author(&engram)}</dd></div>
            <div><dt>{say::engram::CONFIDENCE}</dt><dd>{format!("{:.2}", engram.confidence)}</dd></div>
            <div><dt>{window}</dt><dd>{until}</dd></div>
            <div><dt>{say::engram::RECORDED}</dt><dd>{clock.moment(words::recorded(&engram))}</dd></div>
            {(others > 0).then(|| view! {
                <div><dt>{say::engram::ALSO_SAID}</dt><dd>{words::format_count(others, say::OTHER_AGENTS)}</dd></div>
            })}
        </dl>
        {words::dispute(&engram).map(|told| view! {
            <p class="disputed" data-testid="in-conflict">{Icon::Alert.draw()}<span>{told}</span>
                <button class="plain" data-testid="show-conflict" on:click=move |_| conflicts::show_its_conflict(app)>{say::engram::SHOW_CONFLICT}" "<kbd>"G"</kbd></button></p>
        })}
        {newer.map(|id| view! {
            <p class="newer"><button class="plain" data-testid="newer" on:click=move |_| reading::go_to_engram(app, id)>{say::engram::NEWER}</button></p>
        })}
        {(!engram.tags.is_empty()).then(|| view! {
            <div class="chips tags" aria-label=say::engram::TAGS>
                {engram.tags.iter().map(|tag| view! { <span class="tag">{words::visible(&format!("#{tag}"))}</span> }).collect_view()}
            </div>
        })}
    }
}

#[component]
fn ActionBar(current: Memo<Option<Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    let can_open = move || reading::current_pointer(app).is_some_and(|it| words::is_file(&it));
    let can = move |closing: Closing| {
        !app.list.is_past() && current.get().is_some_and(|it| closing.is_for(&it))
    };
    let means = move |means| {
        if app.list.is_past() {
            say::knowledge::LOCKED
        } else {
            means
        }
    };
    let is_drifted =
        Memo::new(move |_| current.with(|it| it.as_ref().is_some_and(|it| words::is_drifted(it))));
    // The renewal takes the place of a rarer action, which its key and the menu still have.
    let term = Memo::new(move |_| current.get().and_then(|it| reading::offered_ttl(app, &it)));
    let menu = commands::command_of(Act::Menu).map(|it| commands::tooltip(it, dom::is_mac()));
    let menu = StoredValue::new(menu);
    let actions = move || {
        let menu = menu.get_value();
        view! {
            {move || is_drifted.get().then(|| view! { <Verdicts engram=current /> })}
            <button class:primary=move || !is_drifted.get() class:folds=is_drifted data-testid="open-editor" hidden=!app.backend().opens_editors() disabled=move || !can_open() on:click=move |_| outside::open_editor(app)>
                {say::OPEN_EDITOR}" "<kbd>"O"</kbd>
            </button>
            <RenewButton term />
            <button data-testid="copy-pointer" hidden=move || is_drifted.get() || term.with(Option::is_some) on:click=move |_| outside::copy_pointer(app)>{say::engram::COPY_POINTER}" "<kbd>"C"</kbd></button>
            <button class="folds-first" class:folds=is_drifted data-testid="history-button" aria-pressed=move || app.reading.history.get().to_string()
                on:click=move |_| app.reading.history.update(|it| *it = !*it)>{say::engram::HISTORY}" "<kbd>"H"</kbd></button>
            <span class="space"></span>
            {move || (!is_drifted.get()).then(|| view! { <CorrectButton engram=current /> })}
            <button class="folds" data-testid="forget" hidden=is_drifted disabled=move || !can(Closing::Forget) title=move || means(say::engram::FORGET_MEANS)
                on:click=move |_| reading::ask_to_close(app, Closing::Forget)>
                {say::engram::FORGET}" "<kbd aria-label=say::engram::DELETE_KEY>"Del"</kbd>
            </button>
            <button class="folds-rare" data-testid="redact" disabled=move || !can(Closing::Redact) title=move || means(say::engram::REDACT_MEANS)
                on:click=move |_| reading::ask_to_close(app, Closing::Redact)>
                {say::engram::REDACT}" "{keycaps("Shift+Delete")}
            </button>
            // If there is little room, the menu holds the actions that do not fit.
            <button class="folded" data-testid="more-actions" aria-label=say::engram::MENU aria-haspopup="menu" title=menu
                on:click=move |event| menu::open_menu_at(app, &event)>"⋯"</button>
        }
    };
    view! {
        // While rows are selected, keys and buttons act on them, from their own bar.
        <div class="bar" hidden=move || current.with(Option::is_none) || app.list.choice.is_any()>
            {move || match app.reading.closing.get() {
                Some((_, closing)) => view! { <Confirm closing claim=short_claim(app) /> }.into_any(),
                None => actions().into_any(),
            }}
        </div>
    }
}

/// The beginning of the claim, for a question about it.
fn short_claim(app: App) -> String {
    let claim = untrack(|| reading::current_engram(app)).map(|it| words::claim(&it));
    engram_model::shorten(&claim.unwrap_or_default(), NAMED)
}

/// Asks for confirmation in place of the action, and names the claim.
#[component]
fn Confirm(closing: Closing, claim: String) -> impl IntoView {
    let app = App::here();
    let (question, means, verb) = match closing {
        Closing::Forget => (
            say::engram::FORGET_ASK,
            say::engram::FORGET_ALL,
            say::engram::FORGET_YES,
        ),
        Closing::Redact => (
            say::engram::REDACT_ASK,
            say::engram::REDACT_ALL,
            say::engram::REDACT_YES,
        ),
    };
    // Enter must not do what cannot be undone.
    let first = match closing {
        Closing::Forget => "forget-yes",
        Closing::Redact => "forget-no",
    };
    dom::next_frame(move || dom::focus(first));
    let claim = prose::claim(&claim, &[]);
    let keep = move || {
        app.reading.closing.set(None);
        room::focus_pane(app);
    };
    let close = move || {
        reading::close_confirmed(app);
        room::focus_pane(app);
    };
    view! {
        <div class="ask" role="alertdialog" aria-label=question aria-describedby="ask-why" data-testid="confirm">
            <p id="ask-why"><b>{question}</b>" "<q data-testid="named" dir=claim.direction>{claim.text}</q>{means}</p>
            <span class="space"></span>
            <button id="forget-yes" class="danger" data-testid="forget-yes" on:click=move |_| close()>{verb}</button>
            <button id="forget-no" data-testid="forget-no" on:click=move |_| keep()>{say::engram::KEEP}" "<kbd>"Esc"</kbd></button>
        </div>
    }
}
