//! Several selected rows, and the actions on all of them.

use engram_model::{Engram, EngramId, ask};
use leptos::{ev, prelude::*, task::spawn_local};

use crate::{
    app::{
        components::{
            chosen::{ChosenBar, count_in_words},
            inbox::stepped,
        },
        dom,
        frame::Undo,
        outside,
        overlay::palette::keycaps,
        reading,
        state::App,
        views::feed::state,
    },
    commands::Act,
    feed::EngramList,
    selection::{ClaimAction, Selection, short_names},
    words::{self, State, say},
};

/// The selection of a list, and the question about it.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub(super) rows: RwSignal<Selection>,
    /// The action that waits for confirmation.
    pub(super) asking: RwSignal<Option<ClaimAction>>,
}

impl Choice {
    pub(super) fn new() -> Self {
        Self {
            rows: RwSignal::new(Selection::default()),
            asking: RwSignal::new(None),
        }
    }

    /// Clears the selection.
    pub(crate) fn reset(self) {
        self.asking.set(None);
        if untrack(|| self.is_any()) {
            self.rows.update(Selection::clear);
        }
    }

    /// Whether any row is selected; keys then act on the selected rows.
    pub(crate) fn is_any(self) -> bool {
        !self.rows.with(Selection::is_empty)
    }

    /// Whether this row is selected.
    pub(crate) fn has(self, id: EngramId) -> bool {
        self.rows.with(|it| it.has(id))
    }

    /// Whether an action on several claims changed this engram, but the list does not show it yet.
    pub(crate) fn is_settling(self, id: EngramId) -> bool {
        self.rows.with_untracked(|it| it.is_settling(id))
    }

    /// Changes the selection; drops a question about the old one.
    fn change(self, change: impl FnOnce(&mut Selection)) {
        self.asking.set(None);
        self.rows.update(change);
    }
}

impl ClaimAction {
    /// The action of a command on the selected rows.
    fn of(act: Act) -> Option<Self> {
        match act {
            Act::True => Some(Self::Confirm),
            Act::False => Some(Self::Deny),
            Act::Unsure => Some(Self::Ask),
            Act::Renew => Some(Self::Renew),
            Act::Forget => Some(Self::Forget),
            _ => None,
        }
    }

    /// Its verb while it runs, and after.
    fn verbs(self) -> (&'static str, &'static str) {
        match self {
            Self::Confirm => say::many::CONFIRM,
            Self::Ask => say::many::ASK,
            Self::Renew => say::ending::RENEWING,
            Self::Deny | Self::Forget => say::many::FORGET,
        }
    }

    /// The notice after it was done to one claim.
    fn done_to_one(self) -> &'static str {
        match self {
            Self::Confirm => say::review::CONFIRMED,
            Self::Ask => say::review::ASKED,
            Self::Renew => say::ending::RENEWING.1,
            Self::Deny | Self::Forget => say::engram::FORGOTTEN,
        }
    }

    /// Which claims it applies to.
    fn condition(self) -> &'static str {
        match self {
            Self::Confirm => say::many::CONFIRM_FITS,
            Self::Deny => say::many::DENY_FITS,
            Self::Ask => say::many::ASK_FITS,
            Self::Renew => say::ending::RENEW_FITS,
            Self::Forget => "",
        }
    }
}

/// Whether a row can be selected: a claim that no longer holds needs no verdict.
fn can_choose(app: App) -> impl Fn(&Engram) -> bool {
    let now = app.clock.get_untracked().now;
    move |engram| {
        let state = app.list.feed.with_untracked(|feed| feed.state(engram, now));
        state == State::Holds
    }
}

/// Opens the pressed row; if a modifier key is held, also selects it.
pub(crate) fn press_row(app: App, id: EngramId, event: &ev::MouseEvent) {
    if event.shift_key() {
        extend_choice_to(app, id);
    } else if event.ctrl_key() || event.meta_key() {
        toggle_chosen(app, id);
        reading::select_engram(app, id);
    } else {
        app.list.choice.reset();
        reading::go_to_engram(app, id);
    }
}

/// Selects or deselects the open row.
pub(crate) fn toggle_open_row(app: App) {
    if let Some(id) = app.reading.selected.get_untracked() {
        toggle_chosen(app, id);
    }
}

fn toggle_chosen(app: App, id: EngramId) {
    let row = app.list.feed.with_untracked(|feed| {
        let mut rows = feed.iter();
        rows.find(|it| it.id == id).cloned()
    });
    let Some(row) = row else { return };
    if let Some(refusal) = app.list.refused_in_past() {
        return app.frame.complain(refusal);
    }
    if !can_choose(app)(&row) {
        return app.frame.warn(say::many::CLOSED, say::many::CLOSED_HINT);
    }
    app.reading.closing.set(None);
    app.list.choice.change(|it| it.toggle(row));
}

/// Extends the selection by this many rows.
pub(crate) fn extend_choice(app: App, by: isize) {
    let at = app.reading.selected.get_untracked();
    let rows = untrack(|| state::listed_rows(app));
    let ids: Vec<EngramId> = rows.iter().map(|it| it.id).collect();
    let to = stepped(&ids, at.as_ref(), by);
    if let Some(to) = to {
        extend_choice_to(app, to);
    }
}

fn extend_choice_to(app: App, to: EngramId) {
    let at = app.reading.selected.get_untracked();
    let (rows, can) = (untrack(|| state::listed_rows(app)), can_choose(app));
    app.reading.closing.set(None);
    app.list.choice.change(|it| it.extend(&rows, at, to, can));
    reading::select_engram(app, to);
}

/// Selects all loaded rows, and says whether there are more.
pub(crate) fn choose_all(app: App) {
    if let Some(refusal) = app.list.refused_in_past() {
        return app.frame.complain(refusal);
    }
    let (rows, can) = (untrack(|| state::listed_rows(app)), can_choose(app));
    if rows.is_empty() {
        return;
    }
    app.reading.closing.set(None);
    app.list.choice.change(|it| it.add(&rows, can));
    let is_all = app
        .list
        .feed
        .with_untracked(|it| it.next_page().is_none() && it.newer_page().is_none());
    let hint = if is_all {
        say::many::ALL
    } else {
        say::many::ALL_LOADED
    };
    let count = app.list.choice.rows.with_untracked(Selection::len);
    app.frame.say(&count_in_words(count), hint);
}

/// Whether a command applies to any selected row; none if the command is not for several, or
/// nothing is selected.
pub(crate) fn holds_for_chosen(app: App, act: Act) -> Option<bool> {
    let choice = app.list.choice;
    if !untrack(|| choice.is_any()) {
        return None;
    }
    match act {
        Act::CopyClaim => Some(true),
        Act::Redact => Some(false),
        // The value is suggested for the open claim, by its lines on the screen.
        Act::Suggest if !is_only_open_chosen(app) => Some(false),
        _ => ClaimAction::of(act).map(|deed| choice.rows.with_untracked(|it| it.count(deed) > 0)),
    }
}

/// Runs a command on all selected rows; returns whether it is for several and any row is selected.
pub(crate) fn act_on_chosen(app: App, act: Act) -> bool {
    if holds_for_chosen(app, act).is_none() {
        return false;
    }
    match ClaimAction::of(act) {
        Some(deed) => do_to_chosen(app, deed),
        None if act == Act::CopyClaim => copy_chosen(app),
        None if act == Act::Suggest => app
            .frame
            .warn(say::many::CORRECT_ONE, say::many::CORRECT_ONE_HINT),
        None => app
            .frame
            .warn(say::many::ONE_AT_A_TIME, say::many::ONE_AT_A_TIME_HINT),
    }
    true
}

/// Whether the open row is the only one that is selected.
fn is_only_open_chosen(app: App) -> bool {
    let open = app.reading.selected.get_untracked();
    let is_only = |it: &Selection| it.len() == 1 && open.is_some_and(|id| it.has(id));
    app.list.choice.rows.with_untracked(is_only)
}

/// Whether a command of the menu acts on the selection, if there is one.
pub(crate) fn is_for_all_chosen(app: App, act: Act) -> bool {
    let choice = app.list.choice;
    act == Act::Choose || !untrack(|| choice.is_any()) || holds_for_chosen(app, act).is_some()
}

/// Clears the selection for the menu of a row that is not selected.
pub(crate) fn leave_choice_of(app: App, id: EngramId) {
    if !app.list.choice.rows.with_untracked(|it| it.has(id)) {
        app.list.choice.reset();
    }
}

/// Leaves the question, else the run, else the selection; returns whether there was one.
pub(crate) fn leave_chosen(app: App) -> bool {
    let choice = app.list.choice;
    if choice.asking.get_untracked().is_some() {
        choice.asking.set(None);
    } else if app.batch.is_long() {
        app.batch.stop();
    } else if untrack(|| choice.is_any()) {
        choice.reset();
    } else {
        return false;
    }
    dom::focus(dom::LIST);
    true
}

fn copy_chosen(app: App) {
    let text = app.list.choice.rows.with_untracked(Selection::text);
    outside::copy_text(app, text, say::many::COPIED);
}

/// Runs an action, or asks for confirmation first.
fn do_to_chosen(app: App, deed: ClaimAction) {
    let fits = app.list.choice.rows.with_untracked(|it| it.count(deed) > 0);
    // While a question is open, Y starts no other action.
    if app.batch.is_busy() || app.list.choice.asking.get_untracked().is_some() {
        return;
    }
    if !fits {
        return app.frame.warn(say::many::NONE_FITS, deed.condition());
    }
    if deed.asks() {
        app.list.choice.asking.set(Some(deed))
    } else {
        carry_out(app, deed)
    }
}

/// Runs an action on all claims that it applies to, once each.
fn carry_out(app: App, deed: ClaimAction) {
    let rows = app.list.choice.rows;
    let fitting = rows.with_untracked(|it| it.fitting(deed));
    let all: Vec<EngramId> = fitting.iter().map(|it| it.id).collect();
    let (doing, done) = deed.verbs();
    app.list.choice.asking.set(None);
    if !app.batch.begin(doing, all.len()) {
        return;
    }
    spawn_local(async move {
        let to_one = async move |id| match deed {
            ClaimAction::Confirm | ClaimAction::Renew => {
                app.ask(ask::Repin(id)).await.map(|_| Undo::restore(id))
            }
            ClaimAction::Ask => {
                let asked = app.ask(ask::Reverify(id)).await;
                asked.map(|it| Undo::withdraw(it.id))
            }
            ClaimAction::Deny | ClaimAction::Forget => {
                let forgotten = app.ask(ask::Forget(id)).await;
                forgotten.map(|_| Undo::restore(id))
            }
        };
        let outcome = app.batch.each(all, to_one).await;
        // Claims that failed, or that the action does not apply to, stay selected.
        rows.update(|it| it.settle(outcome.done.iter().map(|it| it.0)));
        if let (true, [(_, undo)], [one]) = (outcome.is_whole(), &*outcome.done, &*fitting) {
            return app
                .frame
                .say_done(deed.done_to_one(), &words::claim(one), undo.clone());
        }
        let (text, why) = outcome.in_words(done, say::CLAIMS);
        let undo = outcome.done.iter().map(|it| it.1.clone()).collect();
        app.frame
            .say_all_done(&text, &why, !outcome.is_whole(), undo);
    });
}

/// The actions for selected rows, below the panes; the progress of a long run.
#[component]
pub(crate) fn ChosenClaimsBar() -> impl IntoView {
    let app = App::here();
    let choice = app.list.choice;
    // Deselects rows that end or leave the list.
    Effect::new(move |_| {
        let now = app.clock.get().now;
        let follow = |feed: &EngramList| choice.rows.maybe_update(|it| it.follow(feed, now));
        app.list.feed.with(follow);
    });
    let count = Memo::new(move |_| choice.rows.with(Selection::len));
    Effect::new(move |_| {
        if count.get() == 0 {
            choice.asking.set(None);
        }
    });
    let asking = Memo::new(move |_| choice.asking.get());
    let actions = move || match asking.get() {
        Some(deed) => view_question(app, deed).into_any(),
        None => view_actions(app, count).into_any(),
    };
    view! { <ChosenBar count class="bar chosen" label=say::many::LABEL actions /> }
}

fn view_actions(app: App, count: Memo<usize>) -> impl IntoView {
    let choice = app.list.choice;
    let fits = Memo::new(move |_| {
        let all = [
            ClaimAction::Confirm,
            ClaimAction::Deny,
            ClaimAction::Ask,
            ClaimAction::Renew,
        ];
        choice.rows.with(|rows| all.map(|it| rows.count(it)))
    });
    // The button says how many claims it applies to, if not all.
    let called = move |verdict: &'static str, at: usize| {
        move || match fits.get()[at] {
            some if some == count.get() => verdict.to_owned(),
            some => say::many::verdict_for(verdict, &words::thousands(some as u64)),
        }
    };
    let is_busy = move || app.batch.progress.with(Option::is_some);
    let is_for = move |at: usize| move || fits.get()[at] == 0;
    let none_drifted = is_for(1);
    let all_drifted = move || fits.get()[1] == count.get();
    let press = move |deed| move |_| do_to_chosen(app, deed);
    let clear = move |_| {
        choice.reset();
        dom::focus(dom::LIST);
    };
    view! {
        <b data-testid="chosen-count">{move || count_in_words(count.get())}</b>
        <button class="primary" data-testid="chosen-true" hidden=is_for(0) disabled=is_busy on:click=press(ClaimAction::Confirm)>{called(say::review::YES, 0)}" "<kbd>"Y"</kbd></button>
        <button data-testid="chosen-false" hidden=none_drifted disabled=is_busy on:click=press(ClaimAction::Deny)>{called(say::review::NO_ASKS, 1)}" "<kbd>"X"</kbd></button>
        <button data-testid="chosen-ask" hidden=is_for(2) disabled=is_busy on:click=press(ClaimAction::Ask)>{called(say::review::ASK, 2)}" "<kbd>"Q"</kbd></button>
        <button data-testid="chosen-renew" hidden=is_for(3) disabled=is_busy title=say::ending::RENEW_MEANS on:click=press(ClaimAction::Renew)>{called(say::ending::RENEW_ALL, 3)}" "{keycaps("Shift+l")}</button>
        <button data-testid="chosen-copy" on:click=move |_| copy_chosen(app)>{say::many::COPY}" "{keycaps("Shift+c")}</button>
        <span class="space"></span>
        <button data-testid="chosen-forget" hidden=all_drifted disabled=is_busy title=say::engram::FORGET_MEANS on:click=press(ClaimAction::Forget)>
            {say::engram::FORGET}" "<kbd aria-label=say::engram::DELETE_KEY>"Del"</kbd></button>
        <button class="plain" data-testid="chosen-clear" on:click=clear>{say::many::CLEAR}" "<kbd>"Esc"</kbd></button>
    }
}

/// Asks for confirmation in place of the actions, and names the first claims.
fn view_question(app: App, deed: ClaimAction) -> impl IntoView {
    let choice = app.list.choice;
    let fitting = move || choice.rows.with(|it| it.fitting(deed));
    let asked = Memo::new(move |_| {
        let rows = fitting();
        (rows.len(), short_names(&rows))
    });
    let ask = move || {
        let claims = words::format_count(asked.with(|it| it.0) as u64, say::CLAIMS);
        say::many::forget_ask(&claims)
    };
    let names = move || {
        let (names, more) = asked.with(|it| it.1.clone());
        let more = (more > 0).then(|| say::many::and_more(&words::thousands(more as u64)));
        view! { {names.into_iter().map(|it| view! { <q>{it}</q>" " }).collect_view()}{more} }
    };
    dom::next_frame(|| dom::focus("chosen-yes"));
    let keep = move |_| {
        choice.asking.set(None);
        dom::focus(dom::LIST);
    };
    let forget = move |_| {
        carry_out(app, deed);
        dom::focus(dom::LIST);
    };
    view! {
        <div class="ask" role="alertdialog" aria-label=ask aria-describedby="chosen-why" data-testid="chosen-confirm">
            <p id="chosen-why"><b>{ask}</b>" "<span data-testid="chosen-named">{names}</span>" "{say::many::FORGET_ALL}</p>
            <span class="space"></span>
            <button id="chosen-yes" class="danger" data-testid="chosen-yes" on:click=forget>{say::engram::FORGET_YES}</button>
            <button data-testid="chosen-no" on:click=keep>{say::engram::KEEP}" "<kbd>"Esc"</kbd></button>
        </div>
    }
}
