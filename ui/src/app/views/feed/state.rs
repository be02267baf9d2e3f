//! What the list holds, and what it is limited to.

use std::{sync::Arc, time::Duration};

use engram_model::{Engram, EngramId, Facets, Filter, Refusal, ask};
use jiff::Timestamp;
use leptos::{prelude::*, task::spawn_local};

use super::{chosen::Choice, filter, look::Look};
use crate::{
    app::{
        connection, dom,
        inbox::stepped,
        part::part,
        reading,
        state::App,
        views::{
            self, View,
            feed::{look, pages},
        },
    },
    feed::EngramList,
    tags::Tag,
    words::{self, say},
};

/// A search through the journal that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// Of the journal, how much was looked at; in hundredths.
    pub(crate) done: u8,
    /// The person had enough of it.
    pub(crate) is_stopped: bool,
}

/// The open engram that a filter removed.
#[derive(Clone, Copy, Default)]
struct FilteredEngram {
    /// The one that the person opened.
    opened: Option<EngramId>,
    /// The one shown instead.
    instead: Option<EngramId>,
}

part! {
    /// A list of engrams: a stretch of the journal, as a filter leaves it.
    pub(crate) struct Listing {
        anew {
            pub(crate) feed: RwSignal<EngramList> = EngramList::default(),
            /// How far a filter was looked for, while or since its search took more than a moment.
            pub(crate) search: RwSignal<Option<Search>> = None,
            /// A page of older or newer engrams is on its way.
            pub(crate) page_is_coming: StoredValue<bool> = false,
            /// The values that a filter can have, with counts; read while they are looked at.
            pub(crate) facets: RwSignal<Option<Facets>> = None,
            /// Whether the list stands at its newest end.
            pub(crate) at_top: RwSignal<bool> = true,
            /// The row whose whole claim is shown.
            pub(crate) expanded: RwSignal<Option<EngramId>> = None,
            /// Why the list, or its next page, could not be read, until it is; and how to retry.
            pub(crate) refused: RwSignal<Option<(Refusal, fn(App))>> = None,
            /// The same for the values of the filter.
            pub(crate) facets_refused: RwSignal<Option<Refusal>> = None,
            filtered: StoredValue<FilteredEngram> = FilteredEngram::default(),
        }
        stays {
            pub(crate) filter: RwSignal<Filter> = RwSignal::new(Filter::default()),
            pub(crate) facets_open: RwSignal<bool> = RwSignal::new(false),
            /// Changes with each list that is begun: answers for another are dropped.
            pub(super) filter_number: StoredValue<u64> = StoredValue::new(0),
            /// Each change asks the list to go to its newest end.
            pub(crate) scroll_to_top: RwSignal<u32> = RwSignal::new(0),
            /// The selected rows.
            pub(crate) choice: Choice = Choice::new(),
            pub(crate) look: Look = Look::new(),
        }
    }
}

/// Topics in their order; what has none comes last.
fn topic_order(engram: &Engram) -> (bool, &str) {
    (engram.topic.is_empty(), &engram.topic)
}

impl Listing {
    /// Lists nothing; the filter and whether its values are shown stay.
    pub(crate) fn forget(self) {
        self.begin();
        self.reset();
        self.choice.reset();
        self.look.reset();
    }

    /// Another list: pages and searches of the one before are dropped when they come. Its number.
    pub(super) fn begin(self) -> u64 {
        let number = self.filter_number.get_value().wrapping_add(1);
        self.filter_number.set_value(number);
        self.search.set(None);
        self.refused.set(None);
        number
    }

    /// Says in its place why it could not be read.
    pub(super) fn refuse(self, refusal: Refusal, again: fn(App)) {
        dom::log(&refusal.to_string());
        self.refused.set(Some((refusal, again)));
    }

    /// The time of which the list tells what held; none for now.
    pub(crate) fn held_at(self) -> Option<Timestamp> {
        self.filter.with(|it| it.held_at)
    }

    /// Whether nothing can be changed, since what is shown is past.
    pub(crate) fn is_past(self) -> bool {
        self.held_at().is_some()
    }

    /// Why nothing can be changed: the past is read.
    pub(crate) fn refused_in_past(self) -> Option<Refusal> {
        untrack(|| self.is_past()).then(|| {
            Refusal::new(
                engram_model::Code::ScopeDenied,
                say::knowledge::LOCKED,
                say::knowledge::LOCKED_HINT,
            )
        })
    }

    /// Goes to the newest end.
    fn show_top(self) {
        self.at_top.set(true);
        self.scroll_to_top.update(|it| *it = it.wrapping_add(1));
    }
}

/// The rows of the list, in its order.
pub(crate) fn rows(app: App) -> Vec<Arc<Engram>> {
    let mut rows = app.list.feed.with(EngramList::rows);
    if app.view.get().by_topic {
        rows.sort_by(|a, b| topic_order(a).cmp(&topic_order(b)));
    }
    rows
}

/// Limits the list; a step can be gone back.
pub(crate) fn set_filter(app: App, filter: Filter, is_step: bool) {
    limit(app, app.view.get_untracked(), filter, is_step);
}

/// Shows a view, limited like this.
pub(crate) fn limit(app: App, view: &'static View, filter: Filter, is_step: bool) {
    if !show(app, view, filter) {
        return;
    }
    app.write_address(is_step);
    let number = app.list.begin();
    // While somebody types, only the last filter is asked for.
    let ask = move || {
        if app.list.filter_number.get_value() == number {
            list_chosen(app);
        }
    };
    dom::later(ask, Duration::from_millis(if is_step { 0 } else { 120 }));
}

/// Sets the view and the filter; says whether that is something else than before.
pub(crate) fn show(app: App, view: &'static View, filter: Filter) -> bool {
    // What is to come is not past.
    let is_past = |at: &Timestamp| view.tells_of_the_past && *at < dom::clock().now;
    let filter = Filter {
        held_at: filter.held_at.filter(is_past),
        ..filter
    };
    let is_same = untrack(|| view.is_on(app)) && app.list.filter.get_untracked() == filter;
    if app.list.filter.with_untracked(|it| it.held_at) != filter.held_at {
        app.list.feed.update(EngramList::clear);
    }
    if !is_same {
        app.view.set(view);
        app.list.filter.set(filter);
        app.list.choice.reset();
    }
    !is_same
}

/// Lists anew what the person chose: keys act on what is seen, so what is read is in the list.
fn list_chosen(app: App) {
    list_and_read(app, true);
}

pub(crate) fn list_anew(app: App) {
    app.stale.touch(Tag::Conflicts);
    list_and_read(app, views::is_queue(app));
}

fn list_and_read(app: App, only_listed: bool) {
    // Under another view, the list is not read; it is when it comes back.
    if !app.view.get_untracked().reads {
        return app.list.at_top.set(true);
    }
    let number = app.list.begin();
    let filter = untrack(|| views::asked(app));
    spawn_local(async move {
        match app.ask(ask::Feed(pages::request(app))).await {
            // Another filter was chosen meanwhile.
            Ok(_) if app.list.filter_number.get_value() != number => return,
            Ok(page) => {
                let followed = app.list.feed.with_untracked(EngramList::head);
                pages::load_first(app, page, filter);
                // A journal that ends earlier is another: it is followed from its own end.
                if app.list.feed.with_untracked(EngramList::head) < followed {
                    connection::reconnect(app);
                }
                app.list.show_top();
                read_listed(app, only_listed);
                let found = app.list.feed.with_untracked(|feed| feed.rows().len()) as u64;
                app.frame
                    .announcement
                    .set(words::count(found, say::list::LISTED));
                // What arrived between the page and the subscription.
                connection::catch_up(app);
            }
            Err(_) if app.list.filter_number.get_value() != number => return,
            Err(refusal) => app.list.refuse(refusal, list_anew),
        }
        app.stale.touch(Tag::Facets);
    });
}

/// Opens the newest if the open engram is not listed; or again the one that the person had open before
/// the list was empty.
fn read_listed(app: App, only_listed: bool) {
    let read = app.reading.selected.get_untracked();
    let is_whole = untrack(|| views::asked(app)).is_empty();
    let FilteredEngram { opened, instead } = app.list.filtered.get_value();
    let opened = read.filter(|_| read != instead).or(opened);
    let may = |id: &EngramId| is_whole || app.list.feed.with_untracked(|it| it.get(*id).is_some());
    match (read, opened.filter(may)) {
        (Some(_), _) if app.reading.returned.get_untracked() == read => {}
        (Some(_), _) if !only_listed || untrack(|| is_listed(app)) => {}
        (None, Some(opened)) => reading::select(app, opened),
        _ => select_newest(app),
    }
    app.list.filtered.set_value(if is_whole {
        FilteredEngram::default()
    } else {
        let selected = app.reading.selected.get_untracked();
        let instead = selected.filter(|it| Some(*it) != opened);
        FilteredEngram { opened, instead }
    });
}

/// Shows what the list can be limited to, or hides it.
pub(crate) fn toggle_facets(app: App) {
    let is_open = !app.list.facets_open.get_untracked();
    // Who is in it comes back to the list.
    if !is_open && dom::focused_in(filter::PANEL).is_some() {
        dom::focus("feed");
    }
    app.list.facets_open.set(is_open);
    app.stale.touch(Tag::Facets);
}

/// Counts the values of the filter, while somebody looks at them or a filter is on.
pub(crate) fn count_facets(app: App) {
    let is_limited = !app.list.filter.with_untracked(Filter::is_empty);
    if !app.list.facets_open.get_untracked() && !is_limited {
        app.list.facets_refused.set(None);
        return app.list.facets.set(None);
    }
    let filter = untrack(|| views::asked(app));
    spawn_local(async move {
        match app.ask(ask::Facets(filter.clone())).await {
            Ok(facets) if untrack(|| views::asked(app)) == filter => {
                app.list.facets_refused.set(None);
                let set = || app.list.facets.set(Some(*facets));
                dom::keep_focus(filter::PANEL, filter::PANEL, set);
            }
            Ok(_) => {}
            Err(refusal) => {
                dom::log(&refusal.to_string());
                app.list.facets_refused.set(Some(refusal));
            }
        }
    });
}

pub(crate) fn select_newest(app: App) {
    let first = untrack(|| rows(app)).first().map(|it| it.id);
    match first {
        Some(id) => reading::select(app, id),
        None => reading::read_nothing(app),
    }
}

/// Moves the selection by rows; with none, to the first.
pub(crate) fn step(app: App, by: isize) {
    let (older, newer) = app
        .list
        .feed
        .with_untracked(|it| (it.next_page().is_some(), it.newer_page().is_some()));
    match by {
        isize::MAX if older && !app.view.get_untracked().by_topic => {
            return pages::list_oldest(app);
        }
        isize::MIN if newer => {
            app.reading.selected.set(None);
            return list_anew(app);
        }
        _ => {}
    }
    let rows = untrack(|| rows(app));
    let selected = app.reading.selected.get_untracked();
    let ids: Vec<EngramId> = rows.iter().map(|it| it.id).collect();
    if let Some(id) = stepped(&ids, selected.as_ref(), by) {
        reading::select(app, id);
    }
}

/// Shows what arrived meanwhile, at the newest end.
pub(crate) fn show_new(app: App) {
    let is_shown = app.list.feed.try_update(EngramList::release);
    if is_shown == Some(false) {
        return list_anew(app);
    }
    app.list.show_top();
}

/// Shows the whole claim that is selected in its row, or puts it away.
pub(crate) fn toggle_row(app: App) {
    let selected = app.reading.selected.get_untracked();
    let now = app.list.expanded.get_untracked();
    app.list
        .expanded
        .set(if now == selected { None } else { selected });
}

/// Whether the claim that is read is in the list.
pub(crate) fn is_listed(app: App) -> bool {
    let selected = app.reading.selected.get();
    app.list
        .feed
        .with(|feed| feed.rows().iter().any(|it| Some(it.id) == selected))
}

/// Lists anew what a filter by evidence or by state leaves, which an entry cannot say by itself.
pub(crate) fn list_doubts_anew(app: App) {
    let asked = untrack(|| views::asked(app));
    // By topic, what ends leaves the list by itself.
    let is_by_state = asked.ended.is_some() && !app.view.get_untracked().by_topic;
    if !asked.health.is_empty() || is_by_state {
        look::list_anew_later(app);
    }
}

/// The claim after this one in the list, or the one before.
pub(crate) fn neighbour(app: App, id: EngramId) -> Option<EngramId> {
    let rows = rows(app);
    let at = rows.iter().position(|it| it.id == id)?;
    let next = rows.get(at + 1).or_else(|| rows.get(at.checked_sub(1)?));
    next.map(|it| it.id)
}
