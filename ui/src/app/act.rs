//! Runs the commands of the table, by key or by name.

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*};

use super::{
    dom,
    frame::{Over, room},
    reading::{Closing, Panel},
    state::{App, Phase},
    views::{VIEWS, feed},
};
use crate::{
    app::{
        frame, outside,
        overlay::{menu, settings},
        reading, repositories,
        views::{self, brief, conflicts, drift, knowledge},
        write,
    },
    commands::{self, Act, Command, CommandKind, Holds, Press},
    selection::ClaimAction,
    words::{self, ending, say},
};

/// Whether a command has something to work on now.
pub(crate) fn can_run(app: App, command: &Command) -> bool {
    let view = app.view.get_untracked();
    if !command.is_for(view) {
        return false;
    }
    let act = match command.does {
        CommandKind::Own(own) => return (own.may)(app),
        CommandKind::Shared(act) => act,
    };
    if act.writes() && untrack(|| app.list.is_past()) {
        return false;
    }
    if let Some(may) = (view.may)(app, act).or_else(|| feed::holds_for_chosen(app, act)) {
        return may;
    }
    let engram = || untrack(|| reading::current_engram(app));
    let can_close = |closing: Closing| engram().is_some_and(|it| closing.is_for(&it));
    match (act, command.holds) {
        (Act::Open, _) => engram().is_some() && app.backend().opens_editors(),
        (Act::Dispute, _) => engram()
            .is_some_and(|it| !it.conflicts.is_empty() || words::reported_conflict(&it).is_some()),
        (Act::Now, _) => untrack(|| app.list.is_past()),
        (Act::Log, _) => app.backend().opens_editors(),
        (Act::Expand, _) => engram().is_some() && !untrack(|| room::covers_list(app)),
        (Act::Zoom(_), _) => app.backend().zooms(),
        (Act::Changes, _) => engram().is_some() && app.reading.has_changes.get_untracked(),
        (Act::True, _) => engram().is_some_and(|it| words::can_repin(&it)),
        (Act::Renew, _) => {
            engram().is_some_and(|it| ending::can_renew(&it, app.clock.get_untracked().now))
        }
        (Act::Forget | Act::Correct | Act::Pin, _) => can_close(Closing::Forget),
        (Act::Suggest, _) => engram().is_some_and(|it| write::open_suggestion(app, &it).is_some()),
        (Act::Redact, _) => can_close(Closing::Redact),
        (Act::CopyClaim, _) => engram().is_some_and(|it| !it.redacted),
        (_, Holds::Always) => true,
        (_, Holds::List) => app.phase.get_untracked() == Phase::Ready,
        (_, Holds::Engram) => engram().is_some(),
        (_, Holds::Drifted) => engram().is_some_and(|it| words::is_drifted(&it)),
    }
}

/// Runs a command.
pub(crate) fn run(app: App, command: &Command) {
    match command.does {
        CommandKind::Shared(act) => perform(app, act),
        CommandKind::Own(own) => {
            menu::close_menu(app);
            if !own.judges || !must_come_forward(app, false) {
                (own.does)(app);
            }
        }
    }
}

/// Runs a shared command.
pub(crate) fn perform(app: App, act: Act) {
    if act != Act::Back {
        menu::close_menu(app);
    }
    if let Some(refusal) = app.list.refused_in_past().filter(|_| act.writes()) {
        return app.frame.complain(refusal);
    }
    if feed::act_on_chosen(app, act) {
        return;
    }
    if is_of_detail(act) && must_come_forward(app, only_shows(act)) {
        return;
    }
    if (app.view.get_untracked().act)(app, act) {
        return;
    }
    match act {
        Act::Palette => app.frame.over.set(Some(Over::Palette)),
        Act::Sheet => app.frame.over.set(Some(Over::Sheet)),
        Act::Settings => app.frame.over.set(Some(Over::Settings)),
        Act::Repositories => app.frame.over.set(Some(Over::Repositories)),
        Act::Repository => {}
        Act::Connect => app.frame.over.set(Some(Over::Connect)),
        Act::Log => outside::open_log(app),
        Act::Zoom(to) => settings::zoom_to(app, to),
        Act::Step(by) => (app.view.get_untracked().step)(app, by),
        Act::Choose => feed::toggle_open_row(app),
        Act::Extend(by) => feed::extend_choice(app, by),
        Act::ChooseAll => feed::choose_all(app),
        Act::New => room::act_in_list(app, move || feed::show_new(app)),
        Act::Search => room::act_in_list(app, || dom::select_text("filter")),
        Act::Facets => room::act_in_list(app, move || {
            feed::toggle_facets(app);
            // Keyboard users continue in the panel.
            dom::next_frame(|| dom::focus(feed::PANEL));
        }),
        Act::Dispute => conflicts::show_its_conflict(app),
        Act::Then => knowledge::choose_time(app),
        Act::Now => knowledge::show_now(app),
        Act::Menu => menu::open_menu(app),
        // A claim that covers the list is shown whole already.
        Act::Expand if untrack(|| room::covers_list(app)) => {}
        Act::Expand => feed::toggle_row(app),
        Act::Back => go_back(app),
        Act::Go(steps) => dom::go_in_history(steps),
        Act::First | Act::Pointer => dom::focus("pointer-0"),
        Act::View => views::show_view(app, &feed::VIEW),
        Act::Open => outside::open_editor(app),
        Act::Copy => outside::copy_pointer(app),
        Act::CopyClaim => outside::copy_claim(app),
        Act::Link => outside::copy_link(app),
        Act::Blame => reading::toggle_panel(app, Panel::Blame),
        Act::Changes => {
            if app.reading.has_changes.get_untracked() {
                reading::toggle_panel(app, Panel::Changes)
            } else {
                app.frame.say(say::notice::NO_CHANGES, "")
            }
        }
        Act::History => app.reading.history.update(|it| *it = !*it),
        Act::Undo => frame::undo_last(app),
        Act::Steps => app.frame.over.set(Some(Over::Steps)),
        Act::True => drift::judge(app, ClaimAction::Confirm),
        Act::False => drift::judge(app, ClaimAction::Deny),
        Act::Unsure => drift::judge(app, ClaimAction::Ask),
        Act::Renew => reading::renew(app),
        Act::Correct => write::correct(app),
        Act::Suggest => write::apply_suggestion(app),
        Act::Pin => brief::pin_or_unpin_claim(app),
        Act::Add => write::add_claim(app),
        Act::Forget => reading::ask_to_close(app, Closing::Forget),
        Act::Redact => reading::ask_to_close(app, Closing::Redact),
    }
}

/// Brings the open item to the front. Returns true if the command must stop there, because a person
/// must see what they judge.
fn must_come_forward(app: App, only_shows: bool) -> bool {
    let view = app.view.get_untracked();
    !untrack(|| (view.is_any_chosen)(app)) && room::bring_forward(app) && !only_shows
}

/// Closes the topmost open thing; if nothing is open, returns to the list.
fn go_back(app: App) {
    if app.frame.menu.get_untracked().is_some() {
        menu::close_menu(app);
    } else if app.reading.closing.get_untracked().is_some() {
        app.reading.closing.set(None);
    } else if !feed::leave_chosen(app) {
        back_to_list(app);
    }
}

fn back_to_list(app: App) {
    if app.frame.toast.get_untracked().is_some() {
        app.frame.toast.set(None);
    } else if !app.view.get_untracked().lists_engrams || !feed::leave_filter(app) {
        room::go_to_list(app);
    }
}

/// Whether a command acts on the open engram, which a person must therefore see.
fn is_of_detail(act: Act) -> bool {
    only_shows(act)
        || matches!(
            act,
            Act::First | Act::True | Act::False | Act::Unsure | Act::Renew | Act::Suggest
        )
}

/// Whether the command only shows something or asks a question; if so, it runs as soon as the
/// engram is in front. A verdict waits until the person has seen the claim.
fn only_shows(act: Act) -> bool {
    matches!(
        act,
        Act::Blame | Act::Changes | Act::History | Act::Forget | Act::Redact
    )
}

/// Listens for the keys of the window.
pub(crate) fn follow_keys(app: App) {
    let keys = window_event_listener(ev::keydown, move |event| {
        let is_free = !event.alt_key() && !event.default_prevented();
        if is_free && (press_key(app, &event) || selects_page(&event)) {
            event.prevent_default();
        }
    });
    on_cleanup(move || keys.remove());
}

/// Whether the browser would select all the text of the page. Only a field has text of its own.
fn selects_page(event: &web_sys::KeyboardEvent) -> bool {
    let is_mod = event.ctrl_key() || event.meta_key();
    is_mod && event.key().eq_ignore_ascii_case("a") && !dom::is_writing(event)
}

/// Runs the command of a key; returns whether the key has one here.
fn press_key(app: App, event: &web_sys::KeyboardEvent) -> bool {
    let (key, code) = (event.key(), event.code());
    let is_mod = event.ctrl_key() || event.meta_key();
    let press = Press {
        key: &key,
        code: &code,
        is_mod,
        shift: event.shift_key(),
    };
    let Some(command) = commands::command_pressed(press, app.view.get_untracked()) else {
        return false;
    };
    // The zoom keys work everywhere. A browser has its own zoom.
    if let Some(Act::Zoom(to)) = command.act() {
        let is_ours = app.backend().zooms();
        if is_ours {
            settings::zoom_to(app, to);
        }
        return is_ours;
    }
    // The keys of the open repositories, as the rail numbers them, work everywhere too.
    if command.act() == Some(Act::Repository) {
        let is_ours = app.backend().switches_repositories();
        if let Some(number) = press.digit().filter(|_| is_ours) {
            menu::close_menu(app);
            repositories::open_by_number(app, number);
        }
        return is_ours;
    }
    // A dialog over the window is modal and has its own keys.
    if app.frame.over.get_untracked().is_some() {
        return is_mod && command.holds == Holds::Always;
    }
    let is_list = app.phase.get_untracked() == Phase::Ready;
    let is_everywhere = is_mod && command.holds == Holds::Always;
    if !is_everywhere && (dom::is_typing(event) || dom::is_separator(event) || !is_list) {
        return false;
    }
    if matches!(key.as_str(), "Enter" | " ") && dom::is_control(event) {
        return false;
    }
    if room::scrolls_open_item(app, &key) {
        return false;
    }
    let number = press.digit().unwrap_or(1);
    match command.act() {
        Some(Act::Pointer) => {
            menu::close_menu(app);
            room::act_in_detail(app, move || dom::focus(&format!("pointer-{}", number - 1)));
        }
        Some(Act::View) => {
            menu::close_menu(app);
            VIEWS
                .get(number - 1)
                .into_iter()
                .for_each(|it| views::show_view(app, it));
        }
        _ => run(app, command),
    }
    true
}
