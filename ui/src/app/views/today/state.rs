//! What is new, since when, and which row is open.

use engram_model::{Filter, Looked, NewsKind, NewsReply, NewsRow, NewsSince, ask};
use jiff::SignedDuration;
use leptos::prelude::*;

use super::list::news_row_id;
use crate::{
    app::{
        components::inbox::{Inbox, stepped},
        part::part,
        repositories,
        state::App,
        views::{conflicts, drift, feed, requests},
    },
    days::days_ago,
    route::Route,
    tags::Tag,
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

/// A row, by what it counts.
pub(super) type NewsKey = (String, NewsKind, String);

pub(super) fn key_of(row: &NewsRow) -> NewsKey {
    (row.project.to_string(), row.what, row.by.clone())
}

part! {
    /// What is new.
    pub(crate) struct Today {
        anew {
            pub(super) inbox: Inbox<NewsKey> = (),
            /// What was read; none until then.
            pub(super) known: RwSignal<Option<NewsReply>> = None,
            pub(super) since: RwSignal<Since> = Since::Look,
        }
        stays {
            /// The last look before this one; it stays while the person goes back and forth between
            /// the view and what its rows lead to.
            pub(super) looked: RwSignal<Option<Looked>> = RwSignal::new(None),
            /// This look.
            last: StoredValue<Option<Looked>> = StoredValue::new(None),
        }
    }
}

impl Today {
    pub(super) fn rows(self) -> Vec<NewsRow> {
        let rows = |it: &NewsReply| it.rows.clone();
        self.known
            .with(|it| it.as_ref().map(rows).unwrap_or_default())
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
    let open = today.inbox.open.get_untracked();
    let is_listed = open.is_some_and(|open| reply.rows.iter().any(|row| key_of(row) == open));
    if !is_listed {
        today.inbox.open.set(reply.rows.first().map(key_of));
    }
    today.known.set(Some(reply));
}

/// The open row.
pub(super) fn current_row(app: App) -> Option<NewsRow> {
    let open = app.views.today.inbox.open.get()?;
    let mut rows = app.views.today.rows().into_iter();
    rows.find(|row| key_of(row) == open)
}

/// Opens a row while moving through the list.
pub(super) fn select_row(app: App, key: NewsKey) {
    let row = news_row_id(&key);
    app.views.today.inbox.turn_to(app, key, &row, false);
}

/// Moves through the rows, clamped at the ends.
pub(super) fn step(app: App, by: isize) {
    let rows = untrack(|| app.views.today.rows());
    let keys: Vec<NewsKey> = rows.iter().map(key_of).collect();
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
pub(super) fn go_to(app: App, row: &NewsRow) {
    let query = route_to(row).query(app.clock.get_untracked().offset);
    repositories::go_to_place(app, row.path.clone().filter(|_| !row.is_here), query);
}

/// The place of what a row counts, with its newest item open; of several conflicts, their view
/// opens the worst by itself.
pub(super) fn route_to(row: &NewsRow) -> Route {
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
        NewsKind::Contradicted => (&conflicts::VIEW, Filter::default()),
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
