//! Loads pages of the list, towards either end.

use engram_model::{Feed as FeedRequest, FeedPage, Filter, Refusal, ask};
use leptos::{prelude::*, task::spawn_local};

use super::state::Search;
use crate::{
    app::{reading, state::App, views},
    feed::{EngramList, MOST},
};

/// Entries of one page.
pub(crate) const PAGE: usize = 200;

/// Loads a page of older engrams, if there are any and no page is on its way.
pub(crate) fn load_older(app: App) {
    let is_full = app.list.feed.with_untracked(|it| it.iter().count() >= MOST);
    // A list by topic shows all that is kept at once, and no more.
    if is_full && app.view.get_untracked().by_topic {
        return;
    }
    if let Some(before) = app.list.feed.with_untracked(EngramList::next_page) {
        load_page(
            app,
            FeedRequest {
                before: Some(before),
                ..page_request(app)
            },
        );
    }
}

/// Loads a page of newer engrams, if the list does not reach the newest.
pub(crate) fn load_newer(app: App) {
    if let Some(after) = app.list.feed.with_untracked(EngramList::newer_page) {
        load_page(
            app,
            FeedRequest {
                after: Some(after),
                ..page_request(app)
            },
        );
    }
}

/// What pages of this list have in common.
pub(crate) fn page_request(app: App) -> FeedRequest {
    FeedRequest {
        limit: Some(PAGE),
        listed: true,
        filter: untrack(|| views::asked_filter(app)),
        ..Default::default()
    }
}

/// Stops the search, until the person continues it or chooses another filter.
pub(crate) fn stop_search(app: App) {
    app.list.search.update(|search| {
        if let Some(search) = search {
            search.is_stopped = true;
        }
    });
}

/// Continues the search where it stopped: each change of the feed requests what is missing.
pub(crate) fn continue_search(app: App) {
    app.list.search.update(|search| {
        if let Some(search) = search {
            search.is_stopped = false;
        }
    });
    app.list.feed.update(|_| ());
}

pub(crate) fn is_searching(app: App) -> bool {
    let search = app.list.search.get_untracked();
    search.is_some_and(|it| !it.is_stopped)
}

fn is_search_stopped(app: App) -> bool {
    let search = app.list.search.get_untracked();
    search.is_some_and(|it| it.is_stopped)
}

fn load_page(app: App, request: FeedRequest) {
    if app.list.page_is_coming.get_value() || is_search_stopped(app) {
        return;
    }
    app.list.page_is_coming.set_value(true);
    spawn_local(async move {
        let number = app.list.filter_number.get_value();
        let is_newer = request.after.is_some();
        let read = read_stretches(app, request, number).await;
        app.list.page_is_coming.set_value(false);
        match read {
            Ok(Some(page)) => {
                app.list.refused.set(None);
                app.list.feed.update(|feed| {
                    if is_newer {
                        feed.add_newer(page)
                    } else {
                        feed.add_older(page)
                    }
                });
            }
            // Another list began meanwhile; its own request may have been skipped.
            Ok(None) => app.list.feed.update(|_| ()),
            Err(_) if app.list.filter_number.get_value() != number => {
                app.list.feed.update(|_| ());
            }
            // Each change of the feed requests what is missing.
            Err(refusal) => app.list.refuse(refusal, |app| app.list.feed.update(|_| ())),
        }
    });
}

/// Records the progress of a search that has found nothing yet: `left` of the journal up to `head`
/// remains.
fn record_progress(app: App, left: u64, head: u64, is_stopped: bool) {
    let done = 100 - left.min(head) * 100 / head.max(1);
    app.list.search.set(Some(Search {
        done: done as u8,
        is_stopped,
    }));
}

/// Lists the newest page of a filter; if it is empty, records how much is left to search.
pub(crate) fn load_first(app: App, page: FeedPage, filter: Filter) {
    if let (true, Some(next)) = (page.entries.is_empty(), page.next) {
        record_progress(app, next, page.head, false);
    }
    app.list.feed.update(|feed| feed.load(page, filter));
}

/// Returns the next page with anything on it, or the last page: each request searches one stretch.
async fn read_stretches(
    app: App,
    mut request: FeedRequest,
    number: u64,
) -> Result<Option<FeedPage>, Refusal> {
    loop {
        let page = match app.ask(ask::Feed(request.clone())).await {
            Ok(page) => page,
            Err(refusal) => {
                app.list.search.set(None);
                return Err(refusal);
            }
        };
        if app.list.filter_number.get_value() != number {
            return Ok(None);
        }
        let next = page.next.filter(|_| page.entries.is_empty());
        let Some(next) = next else {
            app.list.search.set(None);
            return Ok(Some(page));
        };
        let left = match request.after {
            None => {
                request.before = Some(next);
                next
            }
            Some(_) => {
                request.after = Some(next);
                page.head.saturating_sub(next)
            }
        };
        let is_stopped = is_search_stopped(app);
        record_progress(app, left, page.head, is_stopped);
        if is_stopped {
            return Ok(Some(page));
        }
    }
}

/// Lists the oldest page and opens the oldest engram, wherever the list is scrolled to.
pub(crate) fn list_oldest(app: App) {
    let number = app.list.begin();
    spawn_local(async move {
        let request = FeedRequest {
            after: Some(0),
            ..page_request(app)
        };
        match read_stretches(app, request, number).await {
            Ok(Some(page)) => {
                app.list.feed.update(|feed| feed.load_oldest(page));
                app.list.at_top.set(false);
                let oldest = app
                    .list
                    .feed
                    .with_untracked(|it| it.iter().last().map(|it| it.id));
                if let Some(id) = oldest {
                    reading::select_engram(app, id);
                }
            }
            Ok(None) => {}
            Err(refusal) => app.list.refuse(refusal, list_oldest),
        }
    });
}
