//! What is new, since when, what is about to end, and which row is open.

use std::sync::Arc;

use engram_model::{
    Change, Engram, Feed as FeedRequest, Filter, Looked, NewsKind, NewsReply, NewsRow, NewsSince,
    ask,
};
use jiff::{SignedDuration, Timestamp};
use leptos::{prelude::*, task::spawn_local};

use super::list::today_row_id;
use crate::{
    app::{
        components::inbox::{Inbox, stepped},
        part::part,
        repositories,
        state::App,
        views::{self, conflicts, drift, feed, requests},
    },
    days::days_ago,
    feed::MAX_ROWS,
    route::Route,
    tags::Tag,
    words::ending::ends_soon,
};

/// The key of the last look at all repositories, beside those of single repositories.
const EVERYWHERE: &str = "everywhere";
/// How many days the longest choice covers.
const WEEK: i64 = 7;
/// A person who returns to the view within this time, for example from where a row led, still sees
/// the same news.
const APART: SignedDuration = SignedDuration::from_mins(10);

/// How far back news is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Since {
    /// Since the person last left the view; since this morning, if they never did.
    #[default]
    Look,
    /// Since this morning.
    Day,
    /// Since a week ago.
    Week,
}

impl Since {
    pub(super) const ALL: [Self; 3] = [Self::Look, Self::Day, Self::Week];
}

/// The most claims on a page.
const PAGE: usize = 1_000;

/// News, by what it counts.
pub(super) type NewsKey = (String, NewsKind, String);

pub(super) fn key_of(row: &NewsRow) -> NewsKey {
    (row.project.to_string(), row.what, row.by.clone())
}

/// Claims of the repository in front that are about to end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ending {
    pub(super) count: u64,
    /// The one that ends first, and when.
    pub(super) first: Arc<Engram>,
    pub(super) end: Timestamp,
}

/// A row of the view.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Row {
    /// Claims that are about to end.
    Ending(Ending),
    /// What is new.
    News(NewsRow),
}

/// The key of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RowKey {
    /// The row about claims that are about to end.
    Ending,
    /// A row of news.
    News(NewsKey),
}

impl Row {
    pub(super) fn key(&self) -> RowKey {
        match self {
            Self::Ending(_) => RowKey::Ending,
            Self::News(row) => RowKey::News(key_of(row)),
        }
    }
}

part! {
    /// What is new.
    pub(crate) struct Today {
        anew {
            pub(super) inbox: Inbox<RowKey> = (),
            /// The claims with a ttl; none until they are read.
            pub(super) with_ttl: RwSignal<Option<Vec<Arc<Engram>>>> = None,
            /// What was read; none until then.
            pub(super) known: RwSignal<Option<NewsReply>> = None,
            pub(super) since: RwSignal<Since> = Since::Look,
        }
        stays {
            /// The last look before this one; it stays while the person goes back and forth between
            /// the view and what its rows lead to.
            pub(super) looked: RwSignal<Option<Looked>> = RwSignal::new(None),
            /// The number of the last reading of the claims with a ttl.
            ttls: StoredValue<u64> = StoredValue::new(0),
            /// This look.
            last: StoredValue<Option<Looked>> = StoredValue::new(None),
        }
    }
}

impl Today {
    pub(super) fn news(self) -> Vec<NewsRow> {
        let rows = |it: &NewsReply| it.rows.clone();
        self.known
            .with(|it| it.as_ref().map(rows).unwrap_or_default())
    }
}

/// The claims that are about to end now, if there are any.
pub(super) fn ending(app: App) -> Option<Ending> {
    let now = app.clock.get().now;
    app.views.today.with_ttl.with(|all| {
        let soon = all
            .iter()
            .flatten()
            .filter_map(|it| Some((ends_soon(it, now)?, it)));
        let count = soon.clone().count() as u64;
        let (end, first) = soon.min_by_key(|it| it.0)?;
        Some(Ending {
            count,
            first: first.clone(),
            end,
        })
    })
}

/// The rows: first what is about to end, then the news.
pub(super) fn rows(app: App) -> Vec<Row> {
    let news = app.views.today.news().into_iter().map(Row::News);
    ending(app)
        .map(Row::Ending)
        .into_iter()
        .chain(news)
        .collect()
}

/// Reads the claims that have a ttl. No request lists only these, so it looks through as many of
/// the newest claims as the list by topic has; what the clock does is then known.
pub(super) fn read_ttls(app: App) {
    let number = app.views.today.ttls.get_value().wrapping_add(1);
    app.views.today.ttls.set_value(number);
    let mut request = FeedRequest {
        limit: Some(PAGE),
        listed: true,
        filter: Filter {
            ended: Some(false),
            ..Filter::default()
        },
        ..FeedRequest::default()
    };
    spawn_local(async move {
        let mut found: Vec<Arc<Engram>> = Vec::new();
        for _ in 0..MAX_ROWS.div_ceil(PAGE) {
            // What is about to end is an addition: without it, the news is still shown.
            let Ok(page) = app.ask(ask::Feed(request.clone())).await else {
                break;
            };
            let stored = page.entries.into_iter().filter_map(|it| match it.change {
                Change::Stored(engram) if engram.ttl.is_some() => Some(Arc::from(engram)),
                _ => None,
            });
            found.extend(stored);
            request.before = page.next;
            if page.next.is_none() {
                break;
            }
        }
        // Another reading may have begun.
        if app.views.today.ttls.get_value() == number {
            app.views.today.with_ttl.set(Some(found));
            open_first(app);
        }
    });
}

/// Opens the first row, if the open one is not listed; once it is known what ends soon, since that
/// comes first.
fn open_first(app: App) {
    if app.views.today.with_ttl.with_untracked(Option::is_none) {
        return;
    }
    let rows = untrack(|| rows(app));
    let open = app.views.today.inbox.open.get_untracked();
    let is_listed = open.is_some_and(|open| rows.iter().any(|it| it.key() == open));
    if !is_listed {
        app.views.today.inbox.open.set(rows.first().map(Row::key));
    }
}

/// Reads the news while the view is on the screen.
pub(super) fn follow(app: App) {
    let today = app.views.today;
    let now = app.clock.get_untracked().now;
    let since = |last: Looked| now.duration_since(last.at);
    let is_again = today.last.get_value().is_some_and(|it| since(it) < APART);
    if !is_again {
        let kept = |it: &engram_model::Settings| it.looked.get(EVERYWHERE).copied();
        today.looked.set(app.frame.settings.with_untracked(kept));
        today.last.set_value(None);
    }
    Effect::new(move |_| {
        app.stale.track(Tag::Facets);
        read_ttls(app);
    });
    Effect::new(move |_| {
        app.stale.track(Tag::Status);
        today.since.track();
        read(app);
    });
    on_cleanup(move || keep_last(app));
}

fn keep_last(app: App) {
    if let Some(last) = app.views.today.last.get_value() {
        feed::keep_look_at(app, EVERYWHERE, last);
    }
}

pub(super) fn read(app: App) {
    let today = app.views.today;
    let clock = app.clock.get_untracked();
    let morning = |days| days_ago(clock.now, days, clock.offset);
    let looked = today.looked.get_untracked();
    let since = match (today.since.get_untracked(), looked) {
        (Since::Look, Some(looked)) => NewsSince {
            seq: looked.seq,
            at: None,
        },
        (Since::Look | Since::Day, _) => NewsSince {
            seq: 0,
            at: morning(0),
        },
        (Since::Week, _) => NewsSince {
            seq: 0,
            at: morning(WEEK),
        },
    };
    today
        .inbox
        .read(app, ask::News(since), move |reply| list(app, *reply));
}

fn list(app: App, reply: NewsReply) {
    let today = app.views.today;
    let now = Looked {
        seq: reply.head,
        at: app.clock.get_untracked().now,
    };
    let is_first = today.last.get_value().is_none();
    today.last.set_value(Some(now));
    // Much may happen while the view is on the screen: the rest is saved when the person leaves.
    if is_first {
        keep_last(app);
    }
    today.known.set(Some(reply));
    open_first(app);
}

/// The open row.
pub(super) fn current_row(app: App) -> Option<Row> {
    let open = app.views.today.inbox.open.get()?;
    rows(app).into_iter().find(|row| row.key() == open)
}

/// Opens a row while moving through the list.
pub(super) fn select_row(app: App, key: RowKey) {
    let row = today_row_id(&key);
    app.views.today.inbox.turn_to(app, key, &row, false);
}

/// Moves through the rows, clamped at the ends.
pub(super) fn step(app: App, by: isize) {
    let rows = untrack(|| rows(app));
    let keys: Vec<RowKey> = rows.iter().map(Row::key).collect();
    let open = app.views.today.inbox.open.get_untracked();
    if let Some(key) = stepped(&keys, open.as_ref(), by) {
        select_row(app, key);
    }
}

/// Goes to what the open row counts, in its repository.
pub(super) fn go_to_current(app: App) {
    if let Some(row) = untrack(|| current_row(app)) {
        go_to(app, &row);
    }
}

/// Goes to what a row counts, in its repository.
pub(super) fn go_to(app: App, row: &Row) {
    let query = route_to(row).query(app.clock.get_untracked().offset);
    let path = match row {
        Row::News(row) => row.path.clone().filter(|_| !row.is_here),
        Row::Ending(_) => None,
    };
    repositories::go_to_place(app, path, query);
}

/// The place of what a row counts, with its newest item open; of several conflicts, their view
/// opens the worst by itself. Of claims that are about to end, the first is open.
pub(super) fn route_to(row: &Row) -> Route {
    match row {
        Row::News(row) => route_to_news(row),
        Row::Ending(ending) => Route {
            view: views::by_topic().id,
            open: Some(ending.first.id.to_string()),
            ..Route::default()
        },
    }
}

fn route_to_news(row: &NewsRow) -> Route {
    let opens_worst = row.what == NewsKind::Contradicted && row.count > 1;
    let open = Some(row.id.clone()).filter(|it| !it.is_empty() && !opens_worst);
    let (view, filter) = match row.what {
        NewsKind::Learned => (
            &feed::VIEW,
            Filter {
                authors: vec![row.by.clone()],
                ..Filter::default()
            },
        ),
        NewsKind::Contradicted | NewsKind::Settled => (&conflicts::VIEW, Filter::default()),
        NewsKind::Asked => (&requests::VIEW, Filter::default()),
        NewsKind::Drifted => (&drift::VIEW, Filter::default()),
    };
    Route {
        view: view.id,
        filter,
        open,
        ..Route::default()
    }
}
