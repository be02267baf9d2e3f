//! What the list holds, and what it is limited to.

use std::{sync::Arc, time::Duration};

use engram_model::{Engram, EngramId, Facets, Filter, Health, Refusal, ask};
use jiff::Timestamp;
use leptos::{prelude::*, task::spawn_local};

use super::{chosen::Choice, filter, look::Look};
use crate::{
    app::{
        components::inbox::stepped,
        dom,
        engine::connection,
        part::part,
        reading,
        state::App,
        views::{
            self, View,
            feed::{look, pages},
        },
    },
    feed::EngramList,
    route::Route,
    tags::Tag,
    timeline,
    words::{self, ending, say},
};

/// The open engram that a filter removed.
#[derive(Clone, Copy, Default)]
struct FilteredEngram {
    /// The one that the person opened.
    opened: Option<EngramId>,
    /// The one shown instead.
    instead: Option<EngramId>,
}

/// Whether the open row stays in view.
type KeepsOpen = bool;

part! {
    /// A list of engrams: a stretch of the journal, filtered.
    pub(crate) struct Listing {
        anew {
            pub(super) feed: RwSignal<EngramList> = EngramList::default(),
            /// Whether a page of older or newer engrams is on its way.
            pub(super) page_is_coming: StoredValue<bool> = false,
            /// The values that a filter can have, with counts; read while they are shown or a
            /// filter is on.
            pub(super) facets: RwSignal<Option<Facets>> = None,
            /// Whether the list is scrolled to its newest end.
            pub(super) at_top: RwSignal<bool> = true,
            /// The row whose whole claim is shown.
            pub(super) expanded: RwSignal<Option<EngramId>> = None,
            /// Why the list or its next page could not be read, until it is, and how to retry.
            pub(super) refused: RwSignal<Option<(Refusal, fn(App))>> = None,
            /// Why the values of the filter could not be read.
            pub(super) facets_refused: RwSignal<Option<Refusal>> = None,
            filtered: StoredValue<FilteredEngram> = FilteredEngram::default(),
        }
        stays {
            pub(super) filter: RwSignal<Filter> = RwSignal::new(Filter::default()),
            pub(super) facets_open: RwSignal<bool> = RwSignal::new(false),
            /// Whether a list that can be shown as a timeline is.
            pub(crate) is_timeline: RwSignal<bool> = RwSignal::new(false),
            /// The number of the current list; answers for an earlier list are dropped.
            pub(super) filter_number: StoredValue<u64> = StoredValue::new(0),
            /// Each change scrolls the list to its newest end, or no further from it than the open
            /// row needs.
            pub(super) scroll_to_top: RwSignal<(u32, KeepsOpen)> = RwSignal::new((0, false)),
            /// The selected rows.
            pub(crate) choice: Choice = Choice::new(),
            pub(super) look: Look = Look::new(),
        }
    }
}

/// The order of topics; engrams without a topic come last.
fn topic_order(engram: &Engram) -> (bool, &str) {
    (engram.topic.is_empty(), &engram.topic)
}

/// When an engram ends, if a list by topic shows it first because it is about to end.
pub(super) fn ends_first(app: App) -> impl Fn(&Engram) -> Option<Timestamp> {
    let is_of_now = !app.list.is_past() && !views::is_timeline(app);
    let now = app.clock.get().now;
    move |engram| ending::ends_soon(engram, now).filter(|_| is_of_now)
}

impl Listing {
    /// Empties the list; keeps the filter and whether its values are shown.
    pub(crate) fn forget(self) {
        self.begin();
        self.reset();
        self.choice.reset();
        self.look.reset();
    }

    /// Begins another list, so that pages of the previous one are dropped; returns its
    /// number.
    pub(super) fn begin(self) -> u64 {
        let number = self.filter_number.get_value().wrapping_add(1);
        self.filter_number.set_value(number);
        self.refused.set(None);
        number
    }

    /// Shows, in place of the list, why it could not be read.
    pub(super) fn refuse(self, refusal: Refusal, again: fn(App)) {
        dom::log(&refusal.to_string());
        self.refused.set(Some((refusal, again)));
    }

    /// Removes the refusals of requests that failed.
    pub(crate) fn clear_refusals(self) {
        self.refused.set(None);
        self.facets_refused.set(None);
    }

    /// Whether the list or its next page could not be read.
    pub(crate) fn is_refused(self) -> bool {
        self.refused.with_untracked(Option::is_some)
    }

    /// Whether new rows wait, because the list is scrolled down.
    pub(crate) fn is_paused(self) -> bool {
        !self.at_top.get()
    }

    pub(crate) fn with_feed<R>(self, read: impl FnOnce(&EngramList) -> R) -> R {
        self.feed.with(read)
    }

    /// Returns an engram of the list.
    pub(crate) fn engram(self, id: EngramId) -> Option<Arc<Engram>> {
        self.feed.with(|it| it.get(id))
    }

    /// Returns the place of the last entry that the list knows.
    pub(crate) fn head(self) -> u64 {
        self.feed.with_untracked(EngramList::head)
    }

    /// Records a newer state of an engram's evidence.
    pub(crate) fn learn_health(self, id: EngramId, health: Option<Health>) {
        self.feed.update(|it| it.learn_health(id, health));
    }

    /// Records which versions followed others.
    pub(crate) fn learn_versions<'a>(self, versions: impl Iterator<Item = &'a Engram>) {
        self.feed.update(|it| it.learn_versions(versions));
    }

    /// What limits the list, as the person chose.
    pub(crate) fn filter(self) -> Filter {
        self.filter.get()
    }

    /// The past time that the list shows; none for now.
    pub(crate) fn held_at(self) -> Option<Timestamp> {
        self.filter.with(|it| it.held_at)
    }

    /// Whether a past time is shown, during which nothing can be changed.
    pub(crate) fn is_past(self) -> bool {
        self.held_at().is_some()
    }

    /// The refusal of changes while a past time is shown.
    pub(crate) fn refused_in_past(self) -> Option<Refusal> {
        untrack(|| self.is_past()).then(|| {
            Refusal::new(
                engram_model::Code::ScopeDenied,
                say::knowledge::LOCKED,
                say::knowledge::LOCKED_HINT,
            )
        })
    }

    /// Scrolls to the newest end.
    fn show_top(self, keeps_open: KeepsOpen) {
        self.at_top.set(true);
        self.scroll_to_top
            .update(|it| *it = (it.0.wrapping_add(1), keeps_open));
    }
}

/// Whether the list is grouped by topic; what a search found is not.
pub(crate) fn is_by_topic(app: App) -> bool {
    app.view.get().by_topic && app.list.feed.with(|it| it.ranked().is_none())
}

/// The rows of the list, in its order.
pub(crate) fn listed_rows(app: App) -> Vec<Arc<Engram>> {
    let mut rows = app.list.feed.with(EngramList::rows);
    if is_by_topic(app) {
        let ends = ends_first(app);
        let order = |it: &Arc<Engram>| ends(it).map_or((true, None), |end| (false, Some(end)));
        rows.sort_by(|a, b| (order(a), topic_order(a)).cmp(&(order(b), topic_order(b))));
    }
    if views::is_timeline(app) {
        rows = timeline::in_lanes(rows);
    }
    rows
}

/// Shows the list as a timeline, or as a list again; *back* returns from it. An ended version is
/// on the timeline alone: in the list, the version that holds is opened instead.
pub(crate) fn show_as_timeline(app: App, is_timeline: bool) {
    let now = app.clock.get_untracked().now;
    let read = untrack(|| reading::current_engram(app));
    let held = read.as_ref().and_then(|read| {
        let rows = app.list.feed.with_untracked(EngramList::rows);
        let mut versions = rows.iter().filter(|it| it.lineage_id == read.lineage_id);
        versions.find(|it| it.holds_now(now)).map(|it| it.id)
    });
    app.list.is_timeline.set(is_timeline);
    if let Some(held) = held.filter(|_| !is_timeline) {
        reading::select_engram(app, held);
    }
    app.write_address(true);
    let is_kept = is_timeline || held.is_some() || untrack(|| app.list.is_past());
    list_and_read(
        app,
        if is_kept {
            Relisting::InPlace
        } else {
            Relisting::Chosen
        },
    );
    app.stale.touch(Tag::Facets);
}

/// Sets the view, its filter and its shape as an address has them; returns whether any changed.
pub(crate) fn set_as_addressed(app: App, route: &Route) -> bool {
    let view = View::with_id(route.view);
    let is_other_shape =
        view.timeline.is_some() && app.list.is_timeline.get_untracked() != route.is_timeline;
    if is_other_shape {
        app.list.is_timeline.set(route.is_timeline);
    }
    set_view_and_filter(app, view, route.filter.clone()) || is_other_shape
}

/// Limits the list; if `adds_history`, *back* returns from it.
pub(crate) fn set_filter(app: App, filter: Filter, adds_history: bool) {
    show_filtered(app, app.view.get_untracked(), filter, adds_history);
}

/// Shows a view with this filter.
pub(crate) fn show_filtered(app: App, view: &'static View, filter: Filter, adds_history: bool) {
    // A refusal is about what the person leaves.
    if !untrack(|| view.is_on(app)) {
        app.frame.drop_warning();
    }
    if !set_view_and_filter(app, view, filter) {
        return;
    }
    app.write_address(adds_history);
    let number = app.list.begin();
    // While the person types, only the last filter is requested.
    let ask = move || {
        if app.list.filter_number.get_value() == number {
            list_chosen(app);
        }
    };
    dom::run_later(
        ask,
        Duration::from_millis(if adds_history { 0 } else { 120 }),
    );
}

/// Sets the view and the filter; returns whether either changed.
pub(crate) fn set_view_and_filter(app: App, view: &'static View, filter: Filter) -> bool {
    // A time that is not past means now.
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

/// Lists again what the person chose. Keys act on what is visible, so the open engram must be
/// listed; the answer of a search opens with its first match.
pub(super) fn list_chosen(app: App) {
    list_and_read(app, Relisting::Chosen);
}

pub(crate) fn list_anew(app: App) {
    app.stale.touch(Tag::Conflicts);
    list_and_read(app, Relisting::Anew);
}

/// Lists again what is shown, and scrolls nowhere.
pub(crate) fn list_in_place(app: App) {
    list_and_read(app, Relisting::InPlace);
}

/// Searches again, if the list is the answer of a search: an entry does not say whether its claim
/// answers.
pub(crate) fn search_again(app: App) {
    if app.list.feed.with_untracked(|it| it.ranked().is_some()) {
        look::list_again_later(app);
    }
}

/// Why the list is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relisting {
    /// The person chose another filter or view.
    Chosen,
    /// The list begins again.
    Anew,
    /// What is listed may have changed.
    InPlace,
}

fn list_and_read(app: App, why: Relisting) {
    // A view without engrams does not need the list; it is read when such a view returns.
    if !app.view.get_untracked().lists_engrams {
        return app.list.at_top.set(true);
    }
    let number = app.list.begin();
    let filter = untrack(|| views::asked_filter(app));
    let (rows, was_answer) = app
        .list
        .feed
        .with_untracked(|feed| (feed.iter().count(), feed.ranked().is_some()));
    let most = if why == Relisting::InPlace { rows } else { 0 };
    spawn_local(async move {
        match pages::read_first(app, most).await {
            // Another filter was chosen meanwhile.
            Ok(_) if app.list.filter_number.get_value() != number => return,
            Ok(first) => {
                let followed = app.list.head();
                pages::load_first(app, first, filter);
                // A journal that ends earlier is a different one: follow it from its own end.
                if app.list.head() < followed {
                    connection::reconnect(app);
                }
                if why != Relisting::InPlace {
                    // A list by topic has no newest end to follow, and after a search, what the
                    // person found stays in view.
                    let keeps_open = was_answer || untrack(|| is_by_topic(app));
                    app.list.show_top(keeps_open && why == Relisting::Chosen);
                }
                read_listed(app, why);
                let found = app.list.feed.with_untracked(|feed| feed.rows().len()) as u64;
                if why != Relisting::InPlace {
                    let told = words::format_count(found, say::list::LISTED);
                    app.frame.announcement.set(told);
                }
                // Reads what arrived between the page and the subscription.
                connection::catch_up(app);
            }
            Err(_) if app.list.filter_number.get_value() != number => return,
            Err(refusal) => app.list.refuse(refusal, list_anew),
        }
        if why != Relisting::InPlace {
            app.stale.touch(Tag::Facets);
        }
    });
}

/// Opens the first engram if the open one is not listed, or reopens the one that was open before
/// the list was empty.
fn read_listed(app: App, why: Relisting) {
    let is_answer = app.list.feed.with_untracked(|it| it.ranked().is_some());
    let only_listed = why == Relisting::Chosen || is_answer || views::is_queue(app);
    let read = app.reading.selected.get_untracked();
    let is_whole = untrack(|| views::asked_filter(app)).is_empty();
    let FilteredEngram { opened, instead } = app.list.filtered.get_value();
    let opened = read.filter(|_| read != instead).or(opened);
    let may = |id: &EngramId| is_whole || app.list.feed.with_untracked(|it| it.get(*id).is_some());
    match (read, opened.filter(may)) {
        _ if is_answer && why == Relisting::Chosen => select_newest(app),
        (Some(_), _) if app.reading.returned.get_untracked() == read => {}
        (Some(_), _) if !only_listed || untrack(|| is_listed(app)) => {}
        (None, Some(opened)) => reading::select_engram(app, opened),
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

/// Shows or hides the values of the filter.
pub(crate) fn toggle_facets(app: App) {
    let is_open = !app.list.facets_open.get_untracked();
    // If the focus is on them, it returns to the list.
    if !is_open && dom::focused_in(filter::PANEL).is_some() {
        dom::focus(dom::LIST);
    }
    app.list.facets_open.set(is_open);
    app.stale.touch(Tag::Facets);
}

/// Hides the values of the filter, else clears a search that found nothing; returns whether there
/// was one.
pub(crate) fn leave_filter(app: App) -> bool {
    let has_words = app.list.filter.with_untracked(|it| !it.text.is_empty());
    let is_empty = app
        .list
        .feed
        .with_untracked(|it| it.iter().next().is_none());
    if app.list.facets_open.get_untracked() {
        toggle_facets(app);
    } else if has_words && is_empty {
        let filter = app.list.filter.get_untracked().without_text();
        set_filter(app, filter, true);
    } else {
        return false;
    }
    true
}

/// Counts the values of the filter, while they are shown or a filter is on.
pub(crate) fn count_facets(app: App) {
    let is_limited = !app.list.filter.with_untracked(Filter::is_empty);
    if !app.list.facets_open.get_untracked() && !is_limited {
        app.list.facets_refused.set(None);
        return app.list.facets.set(None);
    }
    let filter = untrack(|| views::asked_filter(app));
    spawn_local(async move {
        match app.ask(ask::Facets(filter.clone())).await {
            Ok(facets) if untrack(|| views::asked_filter(app)) == filter => {
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
    let first = untrack(|| listed_rows(app)).first().map(|it| it.id);
    match first {
        Some(id) => reading::select_engram(app, id),
        None => reading::read_nothing(app),
    }
}

/// Moves the selection by rows; without a selection, to the first row.
pub(crate) fn step(app: App, by: isize) {
    let (older, newer) = app
        .list
        .feed
        .with_untracked(|it| (it.next_page().is_some(), it.newer_page().is_some()));
    match by {
        isize::MAX if older && !untrack(|| is_by_topic(app)) => {
            return pages::list_oldest(app);
        }
        isize::MIN if newer => {
            app.reading.selected.set(None);
            return list_anew(app);
        }
        _ => {}
    }
    let rows = untrack(|| listed_rows(app));
    let selected = app.reading.selected.get_untracked();
    let ids: Vec<EngramId> = rows.iter().map(|it| it.id).collect();
    if let Some(id) = stepped(&ids, selected.as_ref(), by) {
        reading::select_engram(app, id);
    }
}

/// Shows what arrived meanwhile, at the newest end.
pub(crate) fn show_new(app: App) {
    let is_shown = app.list.feed.try_update(EngramList::release);
    if is_shown == Some(false) {
        return list_anew(app);
    }
    app.list.show_top(false);
}

/// Shows the selected claim whole in its row, or cuts it again.
pub(crate) fn toggle_row(app: App) {
    let selected = app.reading.selected.get_untracked();
    let now = app.list.expanded.get_untracked();
    app.list
        .expanded
        .set(if now == selected { None } else { selected });
}

/// Whether the open claim is in the list.
pub(crate) fn is_listed(app: App) -> bool {
    let selected = app.reading.selected.get();
    app.list
        .feed
        .with(|feed| feed.rows().iter().any(|it| Some(it.id) == selected))
}

/// Reloads a list that is filtered by evidence or by state, which no entry reports by itself.
pub(crate) fn list_doubts_anew(app: App) {
    let asked = untrack(|| views::asked_filter(app));
    // In a list by topic, claims that end leave by themselves.
    let is_by_state = asked.ended.is_some() && !app.view.get_untracked().by_topic;
    let is_answer = app.list.feed.with_untracked(|it| it.ranked().is_some());
    if !is_answer && (!asked.health.is_empty() || is_by_state) {
        look::list_again_later(app);
    }
}

/// Returns the next claim in the list; for the last, the previous one.
pub(crate) fn neighbour(app: App, id: EngramId) -> Option<EngramId> {
    let rows = listed_rows(app);
    let at = rows.iter().position(|it| it.id == id)?;
    let next = rows.get(at + 1).or_else(|| rows.get(at.checked_sub(1)?));
    next.map(|it| it.id)
}
