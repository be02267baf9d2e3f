//! Whose brief is shown, which line of it is open, and the line being written.

use engram_model::{
    AgentId, AgentStatus, BriefLine, BriefOf, Pointer, Refusal, ShownBrief, ask, newest_of_rows,
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    VIEW,
    list::{WHOSE, line_row_id},
    pins,
};
use crate::{
    app::{
        components::inbox::{Inbox, read_own_sources, stepped},
        dom,
        frame::room,
        part::part,
        reading,
        state::App,
    },
    commands::Act,
    tags::Tag,
};

/// A line that is being written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LineDraft {
    /// The pinned line that it replaces.
    pub(super) instead_of: Option<BriefLine>,
    pub(super) text: String,
}

part! {
    /// The brief.
    pub(crate) struct Brief {
        anew {
            /// The open line, by its words: other lines come and go around it.
            pub(super) inbox: Inbox<String> = (),
            /// What was read; none until then.
            pub(super) known: RwSignal<Option<ShownBrief>> = None,
            /// The agent whose brief is shown; none for everybody's.
            pub(super) whose: RwSignal<Option<AgentId>> = None,
            pub(super) agents: RwSignal<Vec<AgentStatus>> = Vec::new(),
            /// The line being written, and why it could not be pinned.
            pub(super) draft: RwSignal<Option<LineDraft>> = None,
            pub(super) pin_refused: RwSignal<Option<Refusal>> = None,
        }
        stays {}
    }
}

impl Brief {
    pub(super) fn lines(self) -> Vec<BriefLine> {
        let lines = |it: &ShownBrief| it.brief.lines.clone();
        self.known
            .with(|it| it.as_ref().map(lines).unwrap_or_default())
    }
}

/// Reads the brief while the view is on the screen.
pub(super) fn follow(app: App) {
    read_own_sources(app);
    Effect::new(move |_| {
        app.stale.track(Tag::Brief);
        app.views.brief.whose.track();
        read(app);
    });
    Effect::new(move |_| {
        app.stale.track(Tag::Status);
        spawn_local(async move {
            if let Ok(reply) = app.ask(ask::Agents).await {
                let mut agents = newest_of_rows(reply.agents);
                agents.retain(|it| !it.is_hidden && !it.is_closed);
                app.views.brief.agents.set(agents);
            }
        });
    });
}

pub(super) fn read(app: App) {
    let brief = app.views.brief;
    let of = BriefOf {
        agent: brief.whose.get_untracked(),
    };
    brief
        .inbox
        .read(app, ask::ShowBrief(of), move |shown| list(app, *shown));
}

fn list(app: App, shown: ShownBrief) {
    let brief = app.views.brief;
    let selected = brief.inbox.open.get_untracked();
    let lines = &shown.brief.lines;
    let place = |all: &[BriefLine]| {
        let selected = selected.as_ref()?;
        all.iter().position(|line| line.text == *selected)
    };
    let is_there = place(lines).is_some();
    // If the open line is gone, the line in its place opens.
    let before = brief
        .known
        .with_untracked(|it| it.as_ref().and_then(|it| place(&it.brief.lines)));
    let at = before.unwrap_or(0).min(lines.len().saturating_sub(1));
    let next = lines.get(at).map(|line| line.text.clone());
    brief.known.set(Some(shown));
    if untrack(|| VIEW.is_on(app)) && !is_there {
        match next {
            Some(text) => select_line(app, text),
            None => brief.inbox.open.set(None),
        }
    }
}

/// The open line.
pub(super) fn current_line(app: App) -> Option<BriefLine> {
    let text = app.views.brief.inbox.open.get()?;
    let mut lines = app.views.brief.lines().into_iter();
    lines.find(|it| it.text == text)
}

/// A pointer of the open line.
pub(crate) fn line_pointer(app: App, index: usize) -> Option<Pointer> {
    current_line(app)?.pointers.get(index)?.parse().ok()
}

/// Opens a line while moving through the list.
pub(super) fn select_line(app: App, text: String) {
    let all = app.views.brief;
    let lines = untrack(|| all.lines());
    let at = lines.iter().position(|line| line.text == text);
    let row = line_row_id(at.unwrap_or(0));
    if all.inbox.turn_to(app, text, &row, false) {
        all.pin_refused.set(None);
    }
}

/// Opens a line that the person chose.
pub(super) fn go_to_line(app: App, text: String) {
    select_line(app, text);
    room::bring_forward(app);
}

/// Moves through the lines, clamped at the ends.
pub(super) fn step(app: App, by: isize) {
    let lines = untrack(|| app.views.brief.lines()).into_iter();
    let texts: Vec<String> = lines.map(|line| line.text).collect();
    let open = app.views.brief.inbox.open.get_untracked();
    if let Some(text) = stepped(&texts, open.as_ref(), by) {
        select_line(app, text);
    }
}

/// Shows the claim of the open line among all claims.
pub(super) fn show_claim_of_line(app: App) {
    if let Some(id) = untrack(|| current_line(app)).and_then(|it| it.engram) {
        reading::go_to_engram(app, id);
        dom::next_frame(move || room::focus_pane(app));
    }
}

/// Runs a shared command that the brief handles in its own way; returns whether it does.
pub(super) fn act(app: App, act: Act) -> bool {
    match act {
        Act::Facets => room::act_in_list(app, || dom::focus(WHOSE)),
        Act::Pin => pins::pin_or_unpin(app),
        _ => return false,
    }
    true
}

/// Whether a shared command has something to work on in the brief.
pub(super) fn may(app: App, act: Act) -> Option<bool> {
    let has_pointer = || untrack(|| line_pointer(app, 0)).is_some();
    Some(match act {
        Act::Pin => untrack(|| current_line(app)).is_some_and(|it| pins::can_pin(&it)),
        Act::First | Act::Pointer | Act::Copy | Act::Blame => has_pointer(),
        Act::Open => has_pointer() && app.backend().opens_editors(),
        Act::Changes => app.reading.has_changes.get_untracked(),
        _ => return None,
    })
}
