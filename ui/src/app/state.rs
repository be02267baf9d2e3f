//! The state of the window: its parts, and the address of what it shows.

use engram_model::{Ask, Code, Refusal, Request, StatusReply, ask};
use leptos::prelude::*;

use super::{
    batch::Batch,
    dom,
    engine::{
        backend::{Backend, strange_answer},
        connection::JournalConnection,
        stale::Stale,
    },
    frame::Frame,
    reading::ReadingState,
    repositories::{RepositoryState, is_same_folder},
    views::{View, ViewStates, feed::Listing},
    write::Writing,
};
use crate::{
    app::{
        frame::room,
        repositories,
        views::{self, feed},
    },
    route::{Missing, Route},
    tags::Tag,
    words::{Clock, say},
};

/// How far the window has loaded, which decides what it shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Phase {
    /// The first page is being read.
    Loading,
    /// The feed was read.
    Ready,
    /// Nothing can be shown, for this reason.
    Failed(Refusal),
}

/// The state that the whole window shares. Each part resets itself.
#[derive(Clone, Copy)]
pub(crate) struct App {
    backend: StoredValue<Backend>,
    pub(crate) connection: JournalConnection,
    pub(crate) reading: ReadingState,
    pub(crate) write: Writing,
    pub(crate) frame: Frame,
    pub(crate) batch: Batch,
    pub(crate) list: Listing,
    /// What each view keeps.
    pub(crate) views: ViewStates,
    /// The view on the screen.
    pub(crate) view: RwSignal<&'static View>,
    pub(crate) repositories: RepositoryState,
    pub(crate) stale: Stale,
    pub(crate) phase: RwSignal<Phase>,
    pub(crate) clock: RwSignal<Clock>,
    pub(crate) status: RwSignal<Option<StatusReply>>,
}

impl App {
    pub(crate) fn new(backend: Backend) -> Self {
        Self {
            backend: StoredValue::new(backend),
            connection: JournalConnection::new(),
            reading: ReadingState::new(),
            write: Writing::new(),
            frame: Frame::new(),
            batch: Batch::new(),
            list: Listing::new(),
            views: ViewStates::new(),
            view: RwSignal::new(&feed::VIEW),
            repositories: RepositoryState::new(),
            stale: Stale::new(),
            phase: RwSignal::new(Phase::Loading),
            clock: RwSignal::new(dom::clock()),
            status: RwSignal::new(None),
        }
    }

    /// Returns the app in this component's context.
    pub(crate) fn here() -> Self {
        expect_context::<Self>()
    }

    pub(crate) fn backend(self) -> Backend {
        self.backend.get_value()
    }

    /// Sends a request; the answer has the request's own type. Refuses a change while another
    /// repository is being opened, since the change would be made there, and while the past is
    /// shown.
    pub(crate) async fn ask<A: Ask>(self, ask: A) -> Result<A::Answer, Refusal> {
        let request: Request = ask.into();
        let changes = request.changes();
        if changes && self.repositories.is_switching() {
            return Err(Refusal::new(
                Code::RepoUnavailable,
                say::repositories::SWITCHING,
                say::repositories::SWITCHING_HINT,
            ));
        }
        if let Some(refusal) = self.list.refused_in_past().filter(|_| changes) {
            return Err(refusal);
        }
        let backend = self.backend();
        let reply = self.repositories.for_front(async move {
            if changes {
                backend.change(request).await
            } else {
                backend.read(request).await
            }
        });
        A::answer(reply.await?).ok_or_else(|| strange_answer(&"another answer"))
    }

    /// Forgets everything about the repository that was in front.
    pub(super) fn reset(self) {
        self.connection.reset();
        self.reading.reset();
        self.write.reset();
        self.frame.reset();
        self.batch.end();
        self.list.forget();
        self.views.reset();
        self.stale.reset();
        self.phase.set(Phase::Loading);
    }

    pub(super) async fn first_page(self) -> Result<(), Refusal> {
        let route = Route::parse(&dom::query(), self.clock.get_untracked().offset);
        // On a retry, this was announced before.
        if self.phase.get_untracked() == Phase::Loading {
            self.tell_missing(&route);
        }
        let query = route.query(self.clock.get_untracked().offset);
        feed::set_as_addressed(self, &route);
        let status = *self.ask(ask::Status).await?;
        self.repositories.show(status.project.as_ref());
        let is_front = |it: &String| {
            self.repositories
                .root()
                .is_some_and(|root| is_same_folder(&root, it))
        };
        if let Some(path) = route.repository.clone().filter(|it| !is_front(it)) {
            repositories::say_not_here(self, path, query);
        }
        self.status.set(Some(status));
        let filter = feed::page_request(self).filter;
        let first = feed::read_first(self, 0).await?;
        feed::load_first(self, first, filter);
        feed::begin_to_look(self);
        self.phase.set(Phase::Ready);
        self.stale.touch(Tag::Facets);
        self.show_addressed(&route);
        if self.reading.selected.get_untracked().is_none() {
            feed::select_newest(self);
        }
        self.write_address(false);
        Ok(())
    }

    /// Shows what an address names.
    fn show_addressed(self, route: &Route) {
        let names_one = route.open.is_some();
        room::show_as_addressed(self, names_one);
        if names_one {
            self.repositories.stays_outside.set(true);
        }
        (View::with_id(route.view).address.open)(self, route.open.as_deref());
    }

    /// The current place in the window, as an address names it.
    fn route(self) -> Route {
        self.route_of(!room::is_covered(self))
    }

    /// Like [`Self::route`], but names the open item only if it `is_read`.
    pub(super) fn route_of(self, is_read: bool) -> Route {
        let view = self.view.get_untracked();
        Route {
            view: view.id,
            filter: untrack(|| self.list.filter()),
            is_timeline: untrack(|| views::is_timeline(self)),
            open: (view.address.of)(self).filter(|_| is_read),
            ..Route::default()
        }
    }

    /// Reports what an address names that does not exist; the rest of it is shown.
    pub(super) fn tell_missing(self, route: &Route) {
        let text = match &route.missing {
            None => return,
            Some(Missing::View(name)) => say::repositories::no_view(name),
            Some(Missing::Name(text)) => text.clone(),
        };
        self.frame.warn(&text, say::repositories::NEWER_HINT);
    }

    pub(super) fn write_address(self, adds_history: bool) {
        let query = self.route().query(self.clock.get_untracked().offset);
        dom::set_query(&query, adds_history, self.repositories.root().as_deref());
        self.repositories.keep_place(query);
    }

    /// Goes to the page's address: at the start, and on *back* and *forward*.
    pub(crate) fn follow_address(self) {
        let route = Route::parse(&dom::query(), self.clock.get_untracked().offset);
        self.tell_missing(&route);
        let is_another = feed::set_as_addressed(self, &route);
        self.show_addressed(&route);
        self.write_address(false);
        if is_another {
            feed::list_anew(self);
        }
    }

    /// Updates the times once a minute while the page is visible, and when it becomes visible
    /// again.
    pub(crate) fn tick(self) {
        if dom::is_visible() {
            self.clock.set(dom::clock());
            feed::keep_looked(self);
        }
    }
}
