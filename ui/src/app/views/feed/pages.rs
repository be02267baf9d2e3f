//! Pages of the list, towards either end.

use engram_model::{Feed as FeedRequest, FeedPage, Filter, Refusal};
use leptos::{prelude::*, task::spawn_local};

use super::Search;
use crate::{
    app::state::App,
    feed::{Feed, MOST},
};

/// Entries of one page.
pub(crate) const PAGE: usize = 200;

impl App {
    /// A page of older engrams, when there are any and none is on its way.
    pub(crate) fn load_older(self) {
        let is_full = self
            .list
            .feed
            .with_untracked(|it| it.iter().count() >= MOST);
        // By topic, all that is kept is listed at once, and no more.
        if is_full && self.view.get_untracked().by_topic {
            return;
        }
        if let Some(before) = self.list.feed.with_untracked(Feed::next_page) {
            self.load_page(FeedRequest {
                before: Some(before),
                ..self.request()
            });
        }
    }

    /// A page of newer engrams, where the list does not reach the newest.
    pub(crate) fn load_newer(self) {
        if let Some(after) = self.list.feed.with_untracked(Feed::newer_page) {
            self.load_page(FeedRequest {
                after: Some(after),
                ..self.request()
            });
        }
    }

    /// What pages of this list have in common.
    pub(crate) fn request(self) -> FeedRequest {
        FeedRequest {
            limit: Some(PAGE),
            listed: true,
            filter: untrack(|| self.asked()),
            ..Default::default()
        }
    }

    /// Looks no further, until the person wants to or another filter is chosen.
    pub(crate) fn stop_search(self) {
        self.list.search.update(|it| {
            if let Some(search) = it {
                search.is_stopped = true;
            }
        });
    }

    /// Looks on where it stopped: each change of the feed asks for what is missing.
    pub(crate) fn go_on(self) {
        self.list.search.update(|it| {
            if let Some(search) = it {
                search.is_stopped = false;
            }
        });
        self.list.feed.update(|_| ());
    }

    pub(crate) fn is_searching(self) -> bool {
        let search = self.list.search.get_untracked();
        search.is_some_and(|it| !it.is_stopped)
    }

    fn is_stopped(self) -> bool {
        let search = self.list.search.get_untracked();
        search.is_some_and(|it| it.is_stopped)
    }

    fn load_page(self, request: FeedRequest) {
        if self.list.page_is_coming.get_value() || self.is_stopped() {
            return;
        }
        self.list.page_is_coming.set_value(true);
        spawn_local(async move {
            let number = self.list.filter_number.get_value();
            let is_newer = request.after.is_some();
            let read = self.read_stretches(request, number).await;
            self.list.page_is_coming.set_value(false);
            match read {
                Ok(Some(page)) => {
                    self.list.refused.set(None);
                    self.list.feed.update(|feed| {
                        if is_newer {
                            feed.add_newer(page)
                        } else {
                            feed.add_older(page)
                        }
                    });
                }
                // Another list began meanwhile, and may have asked in vain.
                Ok(None) => self.list.feed.update(|_| ()),
                Err(_) if self.list.filter_number.get_value() != number => {
                    self.list.feed.update(|_| ());
                }
                // Each change of the feed asks for what is missing.
                Err(refusal) => self
                    .list
                    .refuse(refusal, |app| app.list.feed.update(|_| ())),
            }
        });
    }

    /// Says how far a search is that found nothing yet: `left` of the journal up to `head`.
    fn looked(self, left: u64, head: u64, is_stopped: bool) {
        let done = 100 - left.min(head) * 100 / head.max(1);
        self.list.search.set(Some(Search {
            done: done as u8,
            is_stopped,
        }));
    }

    /// Lists the newest page of a filter, with what more there is to look through.
    pub(crate) fn load_first(self, page: FeedPage, filter: Filter) {
        if let (true, Some(next)) = (page.entries.is_empty(), page.next) {
            self.looked(next, page.head, false);
        }
        self.list.feed.update(|feed| feed.load(page, filter));
    }

    /// The next page with anything on it, or the last: a filter is looked for a stretch at a time.
    async fn read_stretches(
        self,
        mut request: FeedRequest,
        number: u64,
    ) -> Result<Option<FeedPage>, Refusal> {
        loop {
            let page = match self.read_feed(request.clone()).await {
                Ok(page) => page,
                Err(refusal) => {
                    self.list.search.set(None);
                    return Err(refusal);
                }
            };
            if self.list.filter_number.get_value() != number {
                return Ok(None);
            }
            let next = page.next.filter(|_| page.entries.is_empty());
            let Some(next) = next else {
                self.list.search.set(None);
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
            let is_stopped = self.is_stopped();
            self.looked(left, page.head, is_stopped);
            if is_stopped {
                return Ok(Some(page));
            }
        }
    }

    /// Goes to the oldest engram, wherever the list stands.
    pub(crate) fn list_oldest(self) {
        let number = self.list.begin();
        spawn_local(async move {
            let request = FeedRequest {
                after: Some(0),
                ..self.request()
            };
            match self.read_stretches(request, number).await {
                Ok(Some(page)) => {
                    self.list.feed.update(|feed| feed.load_oldest(page));
                    self.list.at_top.set(false);
                    let oldest = self
                        .list
                        .feed
                        .with_untracked(|it| it.iter().last().map(|it| it.id));
                    if let Some(id) = oldest {
                        self.select(id);
                    }
                }
                Ok(None) => {}
                Err(refusal) => self.list.refuse(refusal, Self::list_oldest),
            }
        });
    }
}
