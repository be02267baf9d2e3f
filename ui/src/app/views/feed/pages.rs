//! Loads pages of the list, towards either end.

use engram_model::{
    Feed as FeedRequest, FeedPage, Filter, Refusal, Search as SearchRequest, SearchReply, ask,
};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    app::{
        reading,
        state::App,
        views::{self, feed::state},
    },
    feed::{EngramList, MAX_ROWS},
};

/// Entries per page.
pub(crate) const PAGE: usize = 200;
/// The most entries that a page may have.
const MAX_OF_PAGE: usize = 1_000;

/// Loads a page of older engrams, if there are any and no page is on its way.
pub(crate) fn load_older(app: App) {
    let is_full = app
        .list
        .feed
        .with_untracked(|it| it.iter().count() >= MAX_ROWS);
    // A list by topic shows all that is kept at once, and no more.
    if is_full && untrack(|| state::is_by_topic(app)) {
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

/// What the list begins with.
pub(crate) enum FirstPage {
    /// The newest page.
    Newest(FeedPage),
    /// What a search found.
    Best(Box<SearchReply>),
}

/// Reads what the list begins with: the newest page or, for a filter with words, what a search
/// finds; at least `rows` rows if one page may have that many.
pub(crate) async fn read_first(app: App, rows: usize) -> Result<FirstPage, Refusal> {
    let mut request = page_request(app);
    if request.filter.search_words().is_empty() {
        request.limit = Some(rows.clamp(PAGE, MAX_OF_PAGE));
        return Ok(FirstPage::Newest(app.ask(ask::Feed(request)).await?));
    }
    let search = SearchRequest {
        filter: request.filter,
        limit: None,
    };
    Ok(FirstPage::Best(app.ask(ask::Search(search)).await?))
}

fn load_page(app: App, request: FeedRequest) {
    if app.list.page_is_coming.get_value() {
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

/// Lists what the list begins with.
pub(crate) fn load_first(app: App, first: FirstPage, filter: Filter) {
    app.list.feed.update(|feed| match first {
        FirstPage::Newest(page) => feed.load(page, filter),
        FirstPage::Best(reply) => feed.load_ranked(*reply, filter),
    });
}

/// Returns the next page with anything on it, or the last page: each request searches one stretch.
async fn read_stretches(
    app: App,
    mut request: FeedRequest,
    number: u64,
) -> Result<Option<FeedPage>, Refusal> {
    loop {
        let page = app.ask(ask::Feed(request.clone())).await?;
        if app.list.filter_number.get_value() != number {
            return Ok(None);
        }
        let next = page.next.filter(|_| page.entries.is_empty());
        let Some(next) = next else {
            return Ok(Some(page));
        };
        match request.after {
            None => request.before = Some(next),
            Some(_) => request.after = Some(next),
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
