//! The connection to the journal: follows it, retries when it is lost, and catches up.

use std::time::Duration;

use engram_model::{Feed as FeedRequest, Refusal, ask};
use leptos::{leptos_dom::helpers::TimeoutHandle, prelude::*, task::spawn_local};

use super::backend::{Backend, News, Subscription};
use crate::{
    app::{
        dom,
        engine::stale,
        frame,
        overlay::settings,
        state::{App, Phase},
        views::feed::{self, PAGE},
    },
    feed::MAX_ROWS,
    tags::Tag,
};

/// Longest wait between attempts to reconnect, in seconds.
const PATIENCE: u64 = 4;

/// How long to wait before retrying a failed start.
const AGAIN: Duration = Duration::from_secs(4);

/// The state of the connection to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Not connected yet.
    Connecting,
    /// Entries arrive.
    Live,
    /// Broken, and being retried.
    Lost,
}

/// Why the connection broke, according to the answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LossReason {
    /// The server wants a token other than this page's.
    Token,
    /// Any other refusal.
    Refused(Refusal),
}

/// The connection, and its retries.
#[derive(Clone, Copy)]
pub(crate) struct JournalConnection {
    /// The subscription; dropping it ends it.
    live: StoredValue<Option<Subscription>, LocalStorage>,
    attempts: StoredValue<u64>,
    /// Whether an attempt to reconnect is scheduled.
    is_waiting: StoredValue<bool>,
    /// Whether the first page is being read.
    is_starting: StoredValue<bool>,
    /// The timer that retries a failed start.
    again: StoredValue<Option<TimeoutHandle>>,
    pub(crate) link: RwSignal<Link>,
    /// When the connection broke.
    pub(crate) lost_at: RwSignal<Option<jiff::Timestamp>>,
    pub(crate) lost_why: RwSignal<Option<LossReason>>,
}

impl JournalConnection {
    pub(crate) fn new() -> Self {
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

    /// Ends the connection and resets its state.
    pub(crate) fn reset(self) {
        self.end();
        self.attempts.set_value(0);
        self.is_waiting.set_value(false);
        self.is_starting.set_value(false);
        self.link.set(Link::Connecting);
        self.lost_at.set(None);
        self.lost_why.set(None);
    }

    /// Sets why the connection is lost; the same reason again notifies nobody.
    fn explain(self, why: LossReason) {
        let why = Some(why);
        if self.lost_why.get_untracked() != why {
            self.lost_why.set(why);
        }
    }

    /// Ends the subscription.
    pub(crate) fn end(self) {
        self.live.set_value(None);
    }
}

/// Reads the first page and follows the journal from there.
pub(crate) fn start(app: App) {
    if app.connection.is_starting.get_value() {
        return;
    }
    app.connection.is_starting.set_value(true);
    if let Some(again) = app
        .connection
        .again
        .try_update_value(Option::take)
        .flatten()
    {
        again.clear();
    }
    spawn_local(async move {
        app.repositories
            .for_front(settings::read_settings(app))
            .await;
        let read = app.first_page().await;
        app.connection.is_starting.set_value(false);
        match read {
            Ok(()) => connect(app),
            Err(refusal) => report_failure(app, refusal),
        }
    });
}

/// Reports why nothing can be shown, and schedules a retry.
fn report_failure(app: App, refusal: Refusal) {
    let failed = Phase::Failed(refusal);
    if app.phase.get_untracked() != failed {
        app.phase.set(failed);
    }
    // A retry with a wrong token would fail too.
    if !app.backend().wants_token() {
        let again = set_timeout_with_handle(move || start_again(app), AGAIN);
        app.connection.again.set_value(again.ok());
    }
}

/// Starts again, if nothing could be shown.
pub(crate) fn start_again(app: App) {
    if matches!(app.phase.get_untracked(), Phase::Failed(_)) {
        start(app);
    }
}

/// Follows the journal after the last known entry.
pub(crate) fn connect(app: App) {
    spawn_local(async move {
        let after = app.list.head();
        let backend = app.backend();
        let subscribed = backend.subscribe(after, move |news| take_news(app, news));
        match app.repositories.for_front(subscribed).await {
            Ok(subscription) => {
                app.connection.live.set_value(Some(subscription));
                if let Backend::Tauri = app.backend() {
                    take_news(app, News::Connected);
                }
            }
            Err(refusal) => {
                dom::log(&refusal.to_string());
                take_news(app, News::Lost);
                app.connection.explain(LossReason::Refused(refusal));
            }
        }
    });
}

fn take_news(app: App, news: News) {
    match news {
        News::Connected => mark_live(app),
        News::Lost => reconnect_later(app),
        News::Entries(entries) => {
            mark_live(app);
            feed::take_entries(app, entries);
        }
    }
}

/// Marks the connection as live, and retries the requests that failed meanwhile.
fn mark_live(app: App) {
    app.connection.attempts.set_value(0);
    if app.connection.link.get_untracked() != Link::Live {
        app.connection.link.set(Link::Live);
        app.connection.lost_why.set(None);
    }
    if app.connection.lost_at.get_untracked().is_some() {
        app.connection.lost_at.set(None);
        let was_refused = app.list.is_refused();
        frame::clear_failures(app);
        stale::recheck(app);
        catch_up(app);
        // In the window, a feed ends only with its home; another home may be there now.
        if was_refused || matches!(app.backend(), Backend::Tauri) {
            feed::list_anew(app);
        }
        app.stale.touch(Tag::Facets);
    }
}

/// Reconnects after a wait that grows with each failure.
fn reconnect_later(app: App) {
    if app.connection.is_waiting.get_value() {
        return;
    }
    app.connection.link.set(Link::Lost);
    if app.connection.lost_at.get_untracked().is_none() {
        app.connection.lost_at.set(Some(dom::clock().now));
    }
    app.connection.is_waiting.set_value(true);
    ask_why(app);
    let attempts = app.connection.attempts.get_value();
    app.connection
        .attempts
        .set_value(attempts.saturating_add(1));
    let wait = 2u64.saturating_pow(attempts.min(5) as u32).min(PATIENCE);
    let again = move || {
        if app.connection.is_waiting.get_value() {
            reconnect(app);
        }
    };
    dom::run_later(again, Duration::from_secs(wait));
}

/// Sends a request to learn the reason, because a stream of events does not say why it broke.
fn ask_why(app: App) {
    spawn_local(async move {
        let refused = app.ask(ask::Status).await.err();
        let why = refused.map(|it| {
            if app.backend().wants_token() {
                LossReason::Token
            } else {
                LossReason::Refused(it)
            }
        });
        // If this request succeeds, as in a read-only home, the known reason stays.
        if let Some(why) = why {
            app.connection.explain(why);
        }
    });
}

/// Reconnects now.
pub(crate) fn reconnect(app: App) {
    app.connection.is_waiting.set_value(false);
    app.connection.live.set_value(None);
    connect(app);
}

/// Reads the status and what the subscription may have missed.
pub(crate) fn catch_up(app: App) {
    if app.phase.get_untracked() != Phase::Ready {
        return;
    }
    spawn_local(async move {
        if let Err(refusal) = read_missed(app).await {
            dom::log(&refusal.to_string());
        }
    });
}

async fn read_missed(app: App) -> Result<(), Refusal> {
    let status = *app.ask(ask::Status).await?;
    let newest = status.head;
    app.status.set(Some(status));
    if newest < app.list.head() {
        // Another home, or an older copy of this one, has taken its place.
        feed::list_anew(app);
        return Ok(());
    }
    loop {
        let head = app.list.head();
        if newest <= head {
            return Ok(());
        }
        let after = FeedRequest {
            after: Some(head),
            limit: Some(PAGE),
            all: true,
            ..Default::default()
        };
        let page = app.ask(ask::Feed(after)).await?;
        let is_last = page.entries.len() < PAGE;
        if !is_last && newest - head > MAX_ROWS as u64 {
            // The list does not keep this many; most may belong to other repositories of the home.
            feed::list_anew(app);
            return Ok(());
        }
        if !page.entries.is_empty() {
            feed::take_entries(app, page.entries);
        }
        if is_last {
            return Ok(());
        }
    }
}
