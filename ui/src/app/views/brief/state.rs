//! Whose brief is shown, which line of it is open, and what is written.

use engram_model::{AgentId, AgentStatus, BriefLine, BriefOf, Pointer, Refusal, ShownBrief, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{VIEW, list::WHOSE, pins};
use crate::{
    app::{dom, part::part, reading, room, state::App},
    commands::Act,
    tags::Tag,
};

/// A line that is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Draft {
    /// The pinned line that it takes the place of.
    pub(super) instead_of: Option<BriefLine>,
    pub(super) text: String,
}

part! {
    /// The brief.
    pub(crate) struct Brief {
        anew {
            /// What was read; none until it comes.
            pub(crate) known: RwSignal<Option<ShownBrief>> = None,
            /// Why it could not be read.
            pub(crate) refused: RwSignal<Option<Refusal>> = None,
            /// Whose it is; everybody's where it is none.
            pub(crate) whose: RwSignal<Option<AgentId>> = None,
            pub(super) agents: RwSignal<Vec<AgentStatus>> = Vec::new(),
            /// The open line, by its words: others come and go around it.
            pub(crate) selected: RwSignal<Option<String>> = None,
            /// The line that is written, and why it could not be pinned.
            pub(super) draft: RwSignal<Option<Draft>> = None,
            pub(crate) pin_refused: RwSignal<Option<Refusal>> = None,
        }
        stays {
            /// Changes with each reading: earlier answers are dropped.
            number: StoredValue<u64> = StoredValue::new(0),
        }
    }
}

impl Brief {
    /// Forgets everything about the repository that was in front.
    pub(crate) fn reset(self) {
        self.begin();
        self.clear();
    }

    fn begin(self) -> u64 {
        let number = self.number.get_value().wrapping_add(1);
        self.number.set_value(number);
        number
    }

    pub(super) fn lines(self) -> Vec<BriefLine> {
        let lines = |it: &ShownBrief| it.brief.lines.clone();
        self.known
            .with(|it| it.as_ref().map(lines).unwrap_or_default())
    }
}

/// Reads the brief while the view is on the screen.
pub(super) fn follow_brief(app: App) {
    app.reading.begin(0);
    Effect::new(move |_| {
        app.stale.track(Tag::Brief);
        app.brief.whose.track();
        read_brief(app);
    });
    Effect::new(move |_| {
        app.stale.track(Tag::Status);
        spawn_local(async move {
            if let Ok(reply) = app.ask(ask::Agents).await {
                app.brief.agents.set(reply.agents);
            }
        });
    });
    on_cleanup(move || {
        let read = app.reading.selected.get_untracked();
        let pointer = read.map_or(0, |id| reading::worst_pointer(app, id));
        app.reading.begin(pointer);
    });
}

pub(super) fn read_brief(app: App) {
    let it = app.brief;
    let number = it.begin();
    let of = BriefOf {
        agent: it.whose.get_untracked(),
    };
    spawn_local(async move {
        let read = app.ask(ask::ShowBrief(of)).await;
        if it.number.get_value() != number {
            return;
        }
        match read {
            Ok(shown) => list_brief(app, *shown),
            Err(refusal) => {
                dom::log(&refusal.to_string());
                it.refused.set(Some(refusal));
            }
        }
    });
}

fn list_brief(app: App, shown: ShownBrief) {
    let it = app.brief;
    it.refused.set(None);
    let selected = it.selected.get_untracked();
    let lines = &shown.brief.lines;
    let place = |all: &[BriefLine]| {
        let selected = selected.as_ref()?;
        all.iter().position(|line| line.text == *selected)
    };
    let is_there = place(lines).is_some();
    // Where the open line is gone, the one that took its place opens.
    let before = it
        .known
        .with_untracked(|it| it.as_ref().and_then(|it| place(&it.brief.lines)));
    let at = before.unwrap_or(0).min(lines.len().saturating_sub(1));
    let next = lines.get(at).map(|line| line.text.clone());
    it.known.set(Some(shown));
    if untrack(|| VIEW.is_on(app)) && !is_there {
        match next {
            Some(text) => select_line(app, text),
            None => it.selected.set(None),
        }
    }
}

/// The open line.
pub(crate) fn line(app: App) -> Option<BriefLine> {
    let text = app.brief.selected.get()?;
    let mut lines = app.brief.lines().into_iter();
    lines.find(|it| it.text == text)
}

/// A pointer of the open line.
pub(crate) fn line_pointer(app: App, index: usize) -> Option<Pointer> {
    line(app)?.pointers.get(index)?.parse().ok()
}

/// Opens a line, as each on the way through the list.
pub(super) fn select_line(app: App, text: String) {
    if app.brief.selected.get_untracked().as_ref() == Some(&text) {
        return;
    }
    app.brief.pin_refused.set(None);
    app.reading.begin(0);
    app.brief.selected.set(Some(text));
    request_animation_frame(|| {
        let open = document().query_selector("[data-testid=brief-line].selected");
        if let Some(id) = open.ok().flatten().map(|it| it.id()) {
            dom::reveal(&id);
        }
    });
}

/// Opens one that a person went to.
pub(super) fn go_to_line(app: App, text: String) {
    select_line(app, text);
    room::bring_forward(app);
}

/// Moves through the lines; the ends hold.
pub(super) fn step_brief(app: App, by: isize) {
    let lines = untrack(|| app.brief.lines());
    let selected = app.brief.selected.get_untracked();
    let at = selected.and_then(|text| lines.iter().position(|it| it.text == text));
    let to = at.map_or(0, |at| at.saturating_add_signed(by));
    if let Some(line) = lines.get(to.min(lines.len().saturating_sub(1))) {
        select_line(app, line.text.clone());
    }
}

/// Shows the claim of the open line among all claims.
pub(super) fn show_claim_of_line(app: App) {
    if let Some(id) = untrack(|| line(app)).and_then(|it| it.engram) {
        reading::go_to(app, id);
        request_animation_frame(move || room::focus_pane(app));
    }
}

/// Does what a command means in the brief; returns whether it means anything of its own there.
pub(crate) fn act_on_brief(app: App, act: Act) -> bool {
    if !untrack(|| VIEW.is_on(app)) {
        return false;
    }
    match act {
        Act::Pin => pins::pin_or_unpin(app),
        Act::Line => room::in_list(app, move || pins::write_line(app, None)),
        Act::EditLine => pins::edit_line(app),
        Act::Facets => room::in_list(app, || dom::focus(WHOSE)),
        _ => return false,
    }
    true
}

/// Whether a command has something to work on in the brief; none where it means nothing of its own there.
pub(crate) fn holds_for_brief(app: App, act: Act) -> Option<bool> {
    if !untrack(|| VIEW.is_on(app)) {
        return None;
    }
    let line = untrack(|| line(app));
    let has_pointer = || untrack(|| line_pointer(app, 0)).is_some();
    Some(match act {
        Act::Pin => line.is_some_and(|it| pins::can_pin(&it)),
        Act::EditLine => line.is_some_and(|it| pins::can_edit(&it)),
        Act::Line => true,
        Act::First | Act::Pointer | Act::Copy => has_pointer(),
        Act::Open => has_pointer() && app.backend().opens_editors(),
        Act::Blame => has_pointer(),
        Act::Changes => app.reading.has_changes.get_untracked(),
        _ => return None,
    })
}
