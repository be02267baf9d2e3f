//! The connection to the journal: it is followed, lost, tried again, and caught up with.

use std::time::Duration;

use engram_model::{Code, ConflictStatus, Entry, Feed as FeedRequest, Refusal, ask};
use leptos::{leptos_dom::helpers::TimeoutHandle, prelude::*, task::spawn_local};

use super::{
    backend::{Backend, News, Subscription},
    dom,
    state::{App, Phase},
    views::feed::PAGE,
};
use crate::{
    feed::{Feed, MOST},
    tags::Tag,
};

/// Longest wait between attempts to reconnect, in seconds.
const PATIENCE: u64 = 4;

/// How often a failed start is retried.
const AGAIN: Duration = Duration::from_secs(4);

/// The connection to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Not yet.
    Connecting,
    /// Entries arrive.
    Live,
    /// Broken, and tried again.
    Lost,
}

/// What a request was answered when the connection broke.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Why {
    /// The server wants another token than this page has.
    Token,
    /// Anything else that was refused.
    Refused(Refusal),
}

/// The state of the connection.
#[derive(Clone, Copy)]
pub(crate) struct Connection {
    /// The subscription; dropping it ends it.
    live: StoredValue<Option<Subscription>, LocalStorage>,
    attempts: StoredValue<u64>,
    /// A new attempt to connect is due.
    is_waiting: StoredValue<bool>,
    /// The first page is being read.
    is_starting: StoredValue<bool>,
    /// When it is retried after a failure.
    again: StoredValue<Option<TimeoutHandle>>,
    pub(crate) link: RwSignal<Link>,
    /// When the connection broke.
    pub(crate) lost_at: RwSignal<Option<jiff::Timestamp>>,
    pub(crate) lost_why: RwSignal<Option<Why>>,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            live: StoredValue::new_local(None),
            attempts: StoredValue::new(0),
            is_waiting: StoredValue::new(false),
            is_starting: StoredValue::new(false),
            again: StoredValue::new(None),
            link: RwSignal::new(Link::Connecting),
            lost_at: RwSignal::new(None),
            lost_why: RwSignal::new(None),
        }
    }

    /// Ends it, as at the start.
    pub(super) fn reset(self) {
        self.end();
        self.attempts.set_value(0);
        self.is_waiting.set_value(false);
        self.is_starting.set_value(false);
        self.link.set(Link::Connecting);
        self.lost_at.set(None);
        self.lost_why.set(None);
    }

    /// Sets why it is lost; the same reason again notifies nobody.
    fn explain(self, why: Why) {
        let why = Some(why);
        if self.lost_why.get_untracked() != why {
            self.lost_why.set(why);
        }
    }

    /// Ends the subscription.
    pub(super) fn end(self) {
        self.live.set_value(None);
    }
}

impl App {
    /// Reads the first page and follows the journal from there.
    pub(crate) fn start(self) {
        if self.connection.is_starting.get_value() {
            return;
        }
        self.connection.is_starting.set_value(true);
        if let Some(again) = self
            .connection
            .again
            .try_update_value(Option::take)
            .flatten()
        {
            again.clear();
        }
        spawn_local(async move {
            self.for_front(self.read_settings()).await;
            let read = self.first_page().await;
            self.connection.is_starting.set_value(false);
            match read {
                Ok(()) => self.connect(),
                Err(refusal) => self.fail(refusal),
            }
        });
    }

    /// Nothing can be shown: says why, and retries until it can.
    fn fail(self, refusal: Refusal) {
        let failed = Phase::Failed(refusal);
        if self.phase.get_untracked() != failed {
            self.phase.set(failed);
        }
        // A wrong token stays wrong.
        if !self.backend().wants_token() {
            let again = set_timeout_with_handle(move || self.start_again(), AGAIN);
            self.connection.again.set_value(again.ok());
        }
    }

    /// Tries again, if nothing could be shown.
    pub(crate) fn start_again(self) {
        if matches!(self.phase.get_untracked(), Phase::Failed(_)) {
            self.start();
        }
    }

    /// Follows the journal after the last entry that is known.
    pub(super) fn connect(self) {
        spawn_local(async move {
            let after = self.list.feed.with_untracked(Feed::head);
            let backend = self.backend();
            let subscribed = backend.subscribe(after, move |news| self.hear(news));
            match self.for_front(subscribed).await {
                Ok(subscription) => {
                    self.connection.live.set_value(Some(subscription));
                    if let Backend::Tauri = self.backend() {
                        self.hear(News::Connected);
                    }
                }
                Err(refusal) => {
                    dom::log(&refusal.to_string());
                    self.hear(News::Lost);
                    self.connection.explain(Why::Refused(refusal));
                }
            }
        });
    }

    fn hear(self, news: News) {
        match news {
            News::Connected => self.is_back(),
            News::Lost => self.reconnect_later(),
            News::Entries(entries) => {
                self.is_back();
                self.arrive(entries);
            }
        }
    }

    /// The engine answers again: retries the requests that failed meanwhile.
    fn is_back(self) {
        self.connection.attempts.set_value(0);
        if self.connection.link.get_untracked() != Link::Live {
            self.connection.link.set(Link::Live);
            self.connection.lost_why.set(None);
        }
        if self.connection.lost_at.get_untracked().is_some() {
            self.connection.lost_at.set(None);
            let was_refused = self.list.refused.with_untracked(Option::is_some);
            self.forgive();
            self.recheck();
            self.catch_up();
            // In the window, a feed ends only with its home, which may be another now.
            if was_refused || matches!(self.backend(), Backend::Tauri) {
                self.list_anew();
            }
            self.stale.touch(Tag::Facets);
        }
    }

    fn arrive(self, entries: Vec<Entry>) {
        self.clock.set(dom::clock());
        let hold = self.holds_back();
        let was_empty = self.list.feed.with_untracked(Feed::is_empty);
        let was_nothing_new = self.is_nothing_new();
        let read = self.read_in_list();
        self.stale.follow(&entries);
        let new = self
            .list
            .feed
            .try_update(|feed| feed.live(entries, hold))
            .unwrap_or(0);
        self.ask_about_conflicts();
        if was_empty && new > 0 && self.reading.selected.with_untracked(Option::is_none) {
            self.select_newest();
        }
        self.look_on(was_nothing_new);
        self.read_on(read);
        self.announce(new);
    }

    /// Whether conflicts that were settled, opened again or lost a side are open.
    fn ask_about_conflicts(self) {
        let doubtful = self.list.feed.try_update_untracked(Feed::take_doubtful);
        for id in doubtful.unwrap_or_default() {
            spawn_local(async move {
                let between = match self.ask(ask::Conflict(id)).await {
                    Ok(it) if it.status == ConflictStatus::Open => vec![it.a.id, it.b.id],
                    Ok(_) => Vec::new(),
                    Err(refusal) if refusal.code == Code::NotFound => Vec::new(),
                    Err(refusal) => return dom::log(&refusal.to_string()),
                };
                self.list.feed.update(|it| it.learn_conflict(id, &between));
            });
        }
    }

    /// Waits longer after each failure, and asks again for what was missed.
    fn reconnect_later(self) {
        if self.connection.is_waiting.get_value() {
            return;
        }
        self.connection.link.set(Link::Lost);
        if self.connection.lost_at.get_untracked().is_none() {
            self.connection.lost_at.set(Some(dom::clock().now));
        }
        self.connection.is_waiting.set_value(true);
        self.ask_why();
        let attempts = self.connection.attempts.get_value();
        self.connection
            .attempts
            .set_value(attempts.saturating_add(1));
        let wait = 2u64.saturating_pow(attempts.min(5) as u32).min(PATIENCE);
        let again = move || {
            if self.connection.is_waiting.get_value() {
                self.reconnect();
            }
        };
        set_timeout(again, Duration::from_secs(wait));
    }

    /// A stream of events says not why it broke; a request does.
    fn ask_why(self) {
        spawn_local(async move {
            let refused = self.read_status().await.err();
            let why = refused.map(|it| {
                if self.backend().wants_token() {
                    Why::Token
                } else {
                    Why::Refused(it)
                }
            });
            // A read-only home refuses this, and has already said why.
            if let Some(why) = why {
                self.connection.explain(why);
            }
        });
    }

    /// Tries again now.
    pub(crate) fn reconnect(self) {
        self.connection.is_waiting.set_value(false);
        self.connection.live.set_value(None);
        self.connect();
    }

    /// When the person comes back: where things stand, and what the subscription may have missed.
    pub(crate) fn catch_up(self) {
        if self.phase.get_untracked() != Phase::Ready {
            return;
        }
        spawn_local(async move {
            if let Err(refusal) = self.read_missed().await {
                dom::log(&refusal.to_string());
            }
        });
    }

    async fn read_missed(self) -> Result<(), Refusal> {
        let status = self.read_status().await?;
        let newest = status.head;
        self.status.set(Some(status));
        if newest < self.list.feed.with_untracked(Feed::head) {
            // Another home, or an older copy, took the place of the one that was shown.
            self.list_anew();
            return Ok(());
        }
        loop {
            let head = self.list.feed.with_untracked(Feed::head);
            if newest <= head {
                return Ok(());
            }
            let after = FeedRequest {
                after: Some(head),
                limit: Some(PAGE),
                all: true,
                ..Default::default()
            };
            let page = self.read_feed(after).await?;
            let is_last = page.entries.len() < PAGE;
            if !is_last && newest - head > MOST as u64 {
                // More than the list keeps; other repositories of the home may have the most of it.
                self.list_anew();
                return Ok(());
            }
            if !page.entries.is_empty() {
                self.arrive(page.entries);
            }
            if is_last {
                return Ok(());
            }
        }
    }
}
