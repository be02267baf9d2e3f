//! Does what the table of commands says, from a key or by name.

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*};

use super::{
    dom,
    frame::Over,
    reading::{Closing, Panel},
    room,
    state::{App, Phase},
    views::{VIEWS, drift::Verdict, feed},
};
use crate::{
    commands::{self, Act, Command, Holds, Press},
    words::{self, say},
};

impl App {
    /// Whether a command has something to work on now.
    pub(crate) fn holds(self, command: &Command) -> bool {
        if !command.is_for(self.view.get_untracked().lists()) {
            return false;
        }
        if command.act.writes() && untrack(|| self.is_past()) {
            return false;
        }
        if let Some(holds) = self.holds_for_conflicts(command.act) {
            return holds;
        }
        if let Some(holds) = self.holds_for_requests(command.act) {
            return holds;
        }
        if let Some(holds) = self.holds_for_brief(command.act) {
            return holds;
        }
        if let Some(holds) = self.holds_for_chosen(command.act) {
            return holds;
        }
        let engram = || untrack(|| self.current());
        let can_close = |closing: Closing| engram().is_some_and(|it| closing.is_for(&it));
        match (command.act, command.holds) {
            (Act::Open, _) => engram().is_some() && self.backend().opens_editors(),
            (Act::Dispute, _) => engram().is_some_and(|it| !it.conflicts.is_empty()),
            (Act::Now, _) => untrack(|| self.is_past()),
            (Act::Log, _) => self.backend().opens_editors(),
            (Act::Expand, _) => engram().is_some() && !untrack(|| self.covers_list()),
            (Act::Zoom(_), _) => self.backend().zooms(),
            (Act::Changes, _) => engram().is_some() && self.reading.has_changes.get_untracked(),
            (Act::True, _) => engram().is_some_and(|it| words::can_repin(&it)),
            (Act::Forget | Act::Correct, _) => can_close(Closing::Forget),
            (Act::Redact, _) => can_close(Closing::Redact),
            (Act::CopyClaim, _) => engram().is_some_and(|it| !it.redacted),
            (_, Holds::Always) => true,
            (_, Holds::List) => self.phase.get_untracked() == Phase::Ready,
            (_, Holds::Engram) => engram().is_some(),
            (_, Holds::Drifted) => engram().is_some_and(|it| words::is_drifted(&it)),
            // Where these are listed it was told above.
            (_, Holds::Conflict | Holds::Request | Holds::Brief) => false,
        }
    }

    /// Does what a command stands for.
    pub(crate) fn act(self, act: Act) {
        if act != Act::Back {
            self.close_menu();
        }
        if let Some(refusal) = self.refused_in_past().filter(|_| act.writes()) {
            return self.complain(refusal);
        }
        if self.act_on_chosen(act) {
            return;
        }
        let is_for_many = untrack(|| self.conflicts.is_any_chosen());
        if is_of_detail(act) && !is_for_many && self.bring_forward() && !shows(act) {
            return;
        }
        if self.act_on_conflicts(act) || self.act_on_requests(act) || self.act_on_brief(act) {
            return;
        }
        match act {
            Act::Palette => self.frame.over.set(Some(Over::Palette)),
            Act::Sheet => self.frame.over.set(Some(Over::Sheet)),
            Act::Settings => self.frame.over.set(Some(Over::Settings)),
            Act::Repositories => self.frame.over.set(Some(Over::Repositories)),
            Act::Connect => self.frame.over.set(Some(Over::Connect)),
            Act::Log => self.open_log(),
            Act::Zoom(to) => self.zoom(to),
            Act::Step(by) => (self.view.get_untracked().step)(self, by),
            Act::Choose => self.toggle_read(),
            Act::Extend(by) => self.extend(by),
            Act::ChooseAll => self.choose_all(),
            Act::New => self.in_list(move || self.show_new()),
            Act::Search => self.in_list(|| dom::select("filter")),
            Act::Facets => self.in_list(move || {
                self.toggle_facets();
                // By keys one goes on in it.
                request_animation_frame(|| dom::focus(feed::PANEL));
            }),
            Act::Dispute => self.show_its_conflict(),
            Act::Then => self.choose_time(),
            Act::Now => self.show_now(),
            Act::Menu => self.open_menu(),
            // In front of the list, the claim is shown whole.
            Act::Expand if untrack(|| self.covers_list()) => {}
            Act::Expand => self.toggle_row(),
            Act::Back => self.back(),
            Act::Go(steps) => dom::go(steps),
            Act::First | Act::Pointer => dom::focus("pointer-0"),
            Act::View => self.show_view(&feed::VIEW),
            Act::Open => self.open_editor(),
            Act::Copy => self.copy_pointer(),
            Act::CopyClaim => self.copy_claim(),
            Act::Link => self.copy_link(),
            Act::Blame => self.toggle_panel(Panel::Blame),
            Act::Changes => {
                if self.reading.has_changes.get_untracked() {
                    self.toggle_panel(Panel::Changes)
                } else {
                    self.say(say::notice::NO_CHANGES, "", false)
                }
            }
            Act::History => self.reading.history.update(|it| *it = !*it),
            Act::Undo => self.undo(),
            Act::True => self.judge(Verdict::True),
            Act::False => self.judge(Verdict::False),
            Act::Unsure => self.judge(Verdict::Unsure),
            Act::Correct => self.correct(),
            Act::Add => self.add_claim(),
            Act::Forget => self.ask_to_close(Closing::Forget),
            Act::Redact => self.ask_to_close(Closing::Redact),
            // Elsewhere they mean nothing.
            Act::Judge(_)
            | Act::Reason
            | Act::Reopen
            | Act::Claim(_)
            | Act::Answer(_)
            | Act::Cap
            | Act::Why
            | Act::Pin
            | Act::Line
            | Act::EditLine => {}
        }
    }

    /// Closes the topmost thing that is open; with none, back to the list.
    fn back(self) {
        if self.frame.menu.get_untracked().is_some() {
            self.close_menu();
        } else if self.reading.closing.get_untracked().is_some() {
            self.reading.closing.set(None);
        } else if !self.leave_chosen() {
            self.back_to_list();
        }
    }

    fn back_to_list(self) {
        if self.frame.toast.get_untracked().is_some() {
            self.frame.toast.set(None);
        } else if !self.view.get_untracked().reads {
            self.to_list();
        } else if self.list.facets_open.get_untracked() {
            self.toggle_facets();
        } else if self.is_searching() {
            self.stop_search();
        } else {
            self.to_list();
        }
    }
}

/// Whether a command acts on the open engram, so that a person must see it.
fn is_of_detail(act: Act) -> bool {
    shows(act)
        || matches!(
            act,
            Act::First
                | Act::True
                | Act::False
                | Act::Unsure
                | Act::Judge(_)
                | Act::Reopen
                | Act::Answer(_)
        )
}

/// Whether it only shows something or asks: then it runs as soon as the engram is in front. A verdict waits
/// until the person has seen the claim.
fn shows(act: Act) -> bool {
    matches!(
        act,
        Act::Blame | Act::Changes | Act::History | Act::Forget | Act::Redact
    )
}

/// The keys of the window.
pub(crate) fn follow_keys(app: App) {
    let keys = window_event_listener(ev::keydown, move |event| {
        if !event.alt_key() && !event.default_prevented() && press(app, &event) {
            event.prevent_default();
        }
    });
    on_cleanup(move || keys.remove());
}

/// Does what a key stands for; says whether it stands for anything here.
fn press(app: App, event: &web_sys::KeyboardEvent) -> bool {
    let (key, code) = (event.key(), event.code());
    let is_mod = event.ctrl_key() || event.meta_key();
    let press = Press {
        key: &key,
        code: &code,
        is_mod,
        shift: event.shift_key(),
    };
    let lists = app.view.get_untracked().lists();
    let Some(command) = commands::pressed(press, lists) else {
        return false;
    };
    // It works everywhere; a browser keeps its own zoom.
    if let Act::Zoom(to) = command.act {
        let is_ours = app.backend().zooms();
        if is_ours {
            app.zoom(to);
        }
        return is_ours;
    }
    // What lies over the window is a modal dialog and has its own keys.
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
    if room::scrolls(app, &key) {
        return false;
    }
    let number = press.digit().unwrap_or(1);
    match command.act {
        Act::Pointer => {
            app.close_menu();
            app.in_detail(move || dom::focus(&format!("pointer-{}", number - 1)));
        }
        Act::View => {
            app.close_menu();
            VIEWS
                .get(number - 1)
                .into_iter()
                .for_each(|it| app.show_view(it));
        }
        act => app.act(act),
    }
    true
}
