//! Which repository is in front, what the page knows about the others, and what other programs hand
//! to the window. `pick.rs` is the choice of one.

mod named;
pub(super) mod pick;
pub(super) mod start;
#[cfg(all(test, feature = "gallery"))]
mod tests;

use std::{collections::HashMap, time::Duration};

use engram_model::{
    Clues, Handed, LocateReply, ProjectId, ProjectStatus, Recent, Refusal, Reply, Request,
    StatusReply, Whereabouts,
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    dom,
    frame::Over,
    state::{App, Phase},
};
use crate::{
    app::{engine::connection, views::feed},
    route::Route,
    words::{self, say},
};

pub(crate) use named::{Named, find_named, has_name};

/// How often news from a background repository is shown while a lot arrives.
const PAUSE: Duration = Duration::from_millis(500);
/// How long to wait before asking for news again after a failure.
const LONG_PAUSE: Duration = Duration::from_secs(5);

/// What the page knows about repositories.
#[derive(Clone, Copy)]
pub(crate) struct RepositoryState {
    /// The repositories that are open in this window.
    pub(crate) opened: RwSignal<Vec<Recent>>,
    /// How many conflicts and requests wait in known repositories that are not open.
    pub(crate) others: RwSignal<u64>,
    /// The root of the repository in front; none outside a repository.
    pub(crate) front: RwSignal<Option<String>>,
    /// How many times the page was reset.
    turns: StoredValue<u64>,
    /// The repository to bring to the front next.
    wanted: StoredValue<Option<RepositorySwitch>>,
    is_switching: StoredValue<bool>,
    /// Where a link leads in the repository that is being opened.
    link: StoredValue<Option<String>>,
    /// Where the person was in each repository: the query of the address.
    places: StoredValue<HashMap<String, String>>,
    /// Why the last choice did not open; shown where it was made.
    pub(crate) refused: RwSignal<Option<Refusal>>,
    /// The target of a link to an unknown repository: its path, and the place in it.
    pub(crate) offered: RwSignal<Option<(String, String)>>,
    /// Whether a person whose window was started outside a repository chose to view what is stored
    /// there.
    pub(crate) stays_outside: RwSignal<bool>,
}

/// A switch to a repository.
#[derive(Clone, Debug)]
struct RepositorySwitch {
    path: String,
    within: SwitchPlace,
}

/// Where the person starts in a repository.
#[derive(Clone, Debug)]
enum SwitchPlace {
    /// Where they left it.
    Left,
    /// At the current address.
    Address,
    /// At this query.
    Place(String),
}

impl RepositoryState {
    pub(super) fn new() -> Self {
        Self {
            opened: RwSignal::new(Vec::new()),
            others: RwSignal::new(0),
            front: RwSignal::new(None),
            turns: StoredValue::new(0),
            wanted: StoredValue::new(None),
            is_switching: StoredValue::new(false),
            link: StoredValue::new(None),
            places: StoredValue::new(HashMap::new()),
            refused: RwSignal::new(None),
            offered: RwSignal::new(None),
            stays_outside: RwSignal::new(false),
        }
    }

    /// Returns the root of the repository in front.
    pub(crate) fn root(self) -> Option<String> {
        self.front.get_untracked()
    }

    /// A number that changes when the page is reset.
    pub(super) fn turn(self) -> u64 {
        self.turns.get_value()
    }

    /// Waits for an answer. If the page was reset meanwhile, drops the answer and never returns.
    pub(super) async fn for_front<T>(self, answer: impl Future<Output = T>) -> T {
        let turn = self.turn();
        let answer = answer.await;
        if self.turn() == turn {
            return answer;
        }
        drop(answer);
        std::future::pending().await
    }

    /// Whether another repository is being opened.
    pub(super) fn is_switching(self) -> bool {
        self.is_switching.get_value()
    }

    /// Records which repository is in front.
    pub(super) fn show(self, project: Option<&ProjectStatus>) {
        self.front.set(project.and_then(|it| it.root.clone()));
    }

    /// Records where the person is in the repository in front.
    pub(super) fn keep_place(self, query: String) {
        if let Some(root) = self.front.get_untracked() {
            self.places.update_value(|it| drop(it.insert(root, query)));
        }
    }
}

/// Whether two paths name the same folder.
pub(super) fn is_same_folder(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}

/// Resets the page: forgets all but the places, and drops the answers to earlier requests.
fn begin_anew(app: App) {
    app.repositories.turns.update_value(|it| *it += 1);
    app.reset();
    connection::start(app);
}

/// Handles what the shell passes on.
pub(crate) fn follow_handed(app: App, handed: &Handed) {
    match handed {
        Handed::Link(link) => follow_link(app, link),
        Handed::Repository(path) => open_repository(app, path.clone()),
    }
}

/// Follows *back* or *forward*, into another repository too.
pub(crate) fn follow_history(app: App, root: Option<String>) {
    let is_there = app.repositories.root() == root && !app.repositories.is_switching();
    match root.filter(|_| !is_there && app.backend().switches_repositories()) {
        Some(path) => bring_in_front(
            app,
            RepositorySwitch {
                path,
                within: SwitchPlace::Address,
            },
        ),
        None => app.follow_address(),
    }
}

/// Brings a repository to the front.
pub(crate) fn open_repository(app: App, path: String) {
    let is_front = app
        .repositories
        .root()
        .is_some_and(|root| is_same_folder(&root, &path));
    if is_front && !app.repositories.is_switching() {
        app.frame.over.set(None)
    } else {
        bring_in_front(
            app,
            RepositorySwitch {
                path,
                within: SwitchPlace::Left,
            },
        )
    }
}

/// Brings repositories to the front one after the other, and shows the one that was wanted last.
fn bring_in_front(app: App, wanted: RepositorySwitch) {
    let known = app.repositories;
    known.refused.set(None);
    known.wanted.set_value(Some(wanted));
    if known.is_switching() {
        return;
    }
    known.is_switching.set_value(true);
    feed::look_away(app);
    spawn_local(async move {
        let mut brought = None;
        while let Some(wanted) = known.wanted.try_update_value(Option::take).flatten() {
            match app.backend().open_repository(&wanted.path).await {
                Ok(root) => brought = Some((root, wanted.within)),
                Err(refusal) => refuse_to_open(app, refusal),
            }
        }
        known.is_switching.set_value(false);
        let link = known.link.try_update_value(Option::take).flatten();
        match (brought, link) {
            (Some((root, _)), Some(query)) => begin_in(app, root, SwitchPlace::Place(query)),
            (Some((root, within)), None) => begin_in(app, root, within),
            (None, Some(query)) => go_to_address(app, &query),
            // The address may be that of a repository that did not open.
            (None, None) => app.write_address(false),
        }
    });
}

/// Shows why a repository did not open: where it was chosen, if that is still on the screen.
fn refuse_to_open(app: App, refusal: Refusal) {
    let over = app.frame.over.get_untracked();
    let is_asked = matches!(over, Some(Over::Repositories | Over::Offer));
    if is_asked || untrack(|| is_outside(app)) {
        app.repositories.refused.set(Some(refusal))
    } else {
        app.frame.complain(refusal)
    }
}

/// Whether to ask for a repository first, because the window was started outside one.
pub(crate) fn is_outside(app: App) -> bool {
    let is_nowhere = app
        .status
        .with(|it| it.as_ref().is_some_and(|it| it.project.is_none()));
    let stays = app.repositories.stays_outside.get();
    is_nowhere && !stays && app.backend().switches_repositories()
}

fn begin_in(app: App, root: String, within: SwitchPlace) {
    let left = |all: &HashMap<String, String>| all.get(&root).cloned();
    let query = match within {
        SwitchPlace::Address => None,
        SwitchPlace::Left => Some(app.repositories.places.with_value(left).unwrap_or_default()),
        SwitchPlace::Place(query) => Some(query),
    };
    if let Some(query) = query {
        dom::set_query(&query, true, Some(&root));
    }
    let name = root.trim_end_matches('/').rsplit('/').next();
    let name = words::visible(name.unwrap_or_default());
    app.frame
        .announcement
        .set(say::repositories::is_front(&name));
    app.frame.over.set(None);
    app.repositories.front.set(Some(root));
    begin_anew(app);
}

/// How many conflicts and requests wait in all repositories that the window knows.
pub(crate) fn count_waiting(app: App) -> u64 {
    let front = app.repositories.front.get();
    let behind = app.repositories.opened.with(|all| {
        let behind = all.iter().filter(|it| Some(&it.path) != front.as_ref());
        behind.map(|it| it.conflicts + it.requests).sum::<u64>()
    });
    let counts = |it: &StatusReply| it.conflicts.unwrap_or(0) + it.requests.unwrap_or(0);
    let here = app.status.with(|it| it.as_ref().map(counts));
    here.unwrap_or(0) + behind + app.repositories.others.get()
}

/// Tracks the repositories that are open in this window, for as long as the page lives.
pub(crate) fn follow_opened(app: App, after: u64) {
    if !app.backend().switches_repositories() {
        return;
    }
    spawn_local(async move {
        let (after, pause) = match app.backend().opened(after).await {
            Ok(reply) => {
                app.repositories.opened.set(reply.repositories);
                if app.repositories.others.get_untracked() != reply.others {
                    app.repositories.others.set(reply.others);
                }
                (reply.news, PAUSE)
            }
            Err(refusal) => {
                dom::log(&refusal.to_string());
                (after, LONG_PAUSE)
            }
        };
        dom::run_later(move || follow_opened(app, after), pause);
    });
}

/// Closes a repository that is open in the background.
pub(super) fn close_repository(app: App, path: String) {
    spawn_local(async move {
        if let Err(refusal) = app.backend().close_repository(&path).await {
            app.frame.complain(refusal);
        }
    });
}

/// Returns the link in a search field that contains nothing else.
pub(crate) fn as_link(text: &str) -> Option<&str> {
    let text = text.trim();
    text.starts_with("engram://").then_some(text)
}

/// Goes where a link leads; ignores a link that it does not understand.
pub(crate) fn follow_link(app: App, link: &str) {
    app.frame.drop_warning();
    let offset = app.clock.get_untracked().offset;
    let Some(route) = Route::of_link(link, offset) else {
        return app
            .frame
            .warn(say::repositories::NOWHERE, say::repositories::NOWHERE_HINT);
    };
    app.frame.over.set(None);
    app.tell_missing(&route);
    let query = route.query(offset);
    let clues = Clues {
        id: route.open.clone(),
        remote: route.remote.clone(),
        commit: None,
    };
    if clues == Clues::default() {
        return follow_to(app, route.repository, query);
    }
    spawn_local(async move {
        // The open item or the remote decides where a link leads: the path of its repository may be
        // written differently, or the repository may have moved.
        match locate(app, clues).await {
            Some(found) => follow_found(app, &found, query),
            None if route.repository.is_none() && route.remote.is_some() => app.frame.warn(
                say::repositories::NOT_HERE,
                &say::repositories::no_clone(&route.remote.unwrap_or_default()),
            ),
            None => follow_to(app, route.repository, query),
        }
    });
}

/// Finds a repository of this home, whichever is in front.
async fn locate(app: App, clues: Clues) -> Option<Whereabouts> {
    ask_where(app, clues).await.found
}

async fn ask_where(app: App, clues: Clues) -> LocateReply {
    match app.backend().read(Request::Locate(clues)).await {
        Ok(Reply::Located(reply)) => reply,
        Ok(_) => LocateReply::default(),
        Err(refusal) => {
            dom::log(&refusal.to_string());
            LocateReply::default()
        }
    }
}

/// Whether a path is that of the repository in front, and no other is being opened.
fn is_front(app: App, path: &str) -> bool {
    let root = app.repositories.root();
    !app.repositories.is_switching() && root.is_some_and(|root| is_same_folder(&root, path))
}

/// Goes to a place in a repository that the home knows, or says where it is.
fn follow_found(app: App, found: &Whereabouts, query: String) {
    let is_switching = app.repositories.is_switching();
    let is_elsewhere = is_switching || !found.is_here;
    match found
        .path
        .clone()
        .filter(|it| is_elsewhere && !is_front(app, it))
    {
        None => follow_to(app, None, query),
        Some(_) if found.is_gone || !app.backend().switches_repositories() => {
            say_where(app, found);
        }
        Some(path) => bring_in_front(
            app,
            RepositorySwitch {
                path,
                within: SwitchPlace::Place(query),
            },
        ),
    }
}

/// Says in which repository something is that cannot be shown here.
fn say_where(app: App, found: &Whereabouts) {
    let path = words::visible(found.path.as_deref().unwrap_or_default());
    let hint = if found.is_gone {
        say::repositories::gone_hint(&path)
    } else {
        say::repositories::not_here_hint(&path)
    };
    let name = words::visible(&found.name);
    app.frame.warn(&say::repositories::belongs_to(&name), &hint);
}

/// Goes to what the address names, if that belongs to another repository, or says where it is.
/// Returns whether it belongs to another one.
pub(crate) async fn leave_for(app: App, id: String) -> bool {
    let clues = Clues {
        id: Some(id),
        ..Clues::default()
    };
    let query = app.route_of(true).query(app.clock.get_untracked().offset);
    let found = app.repositories.for_front(locate(app, clues)).await;
    let is_other = |place: &Whereabouts| {
        let path = place.path.as_deref();
        !place.is_here && path.is_some_and(|path| !is_front(app, path))
    };
    let other = found.filter(is_other);
    if let Some(found) = &other {
        follow_found(app, found, query);
    }
    other.is_some()
}

/// Whether this project is not the one in front.
pub(crate) fn is_of_another(app: App, project: ProjectId) -> bool {
    app.status.with_untracked(|status| {
        let here = |it: &StatusReply| it.project.as_ref().and_then(|it| it.id);
        status.as_ref().is_some_and(|it| here(it) != Some(project))
    })
}

/// Goes to a place in the repository at this path; without a path, in the one in front.
pub(crate) fn go_to_place(app: App, path: Option<String>, query: String) {
    match path.filter(|it| !is_front(app, it)) {
        Some(path) if app.backend().switches_repositories() => bring_in_front(
            app,
            RepositorySwitch {
                path,
                within: SwitchPlace::Place(query),
            },
        ),
        Some(path) => app.frame.warn(
            say::repositories::ELSEWHERE,
            &say::repositories::not_here_hint(&path),
        ),
        None => go_to_address(app, &query),
    }
}

/// Brings the open repository with this number to the front, counted from 1 in the order of the
/// rail.
pub(crate) fn open_by_number(app: App, number: usize) {
    let opened = app.repositories.opened;
    let path = opened.with_untracked(|all| Some(all.get(number.checked_sub(1)?)?.path.clone()));
    if let Some(path) = path {
        open_repository(app, path);
    }
}

/// Goes to a place in the repository at this path, or in the one that is in front or being opened.
fn follow_to(app: App, path: Option<String>, query: String) {
    match path.filter(|it| !is_front(app, it)) {
        Some(path) => follow_to_path(app, path, query),
        None if app.repositories.is_switching() => app.repositories.link.set_value(Some(query)),
        None => go_to_address(app, &query),
    }
}

/// Goes to a place in another repository, if that is known: a link alone never opens an unknown
/// one.
fn follow_to_path(app: App, path: String, query: String) {
    spawn_local(async move {
        match app.backend().repositories().await {
            Ok(all) => match all.into_iter().find(|it| is_same_folder(&it.path, &path)) {
                Some(Recent { path, .. }) => bring_in_front(
                    app,
                    RepositorySwitch {
                        path,
                        within: SwitchPlace::Place(query),
                    },
                ),
                None => say_not_here(app, path, query),
            },
            Err(refusal) => app.frame.complain(refusal),
        }
    });
}

/// Says that a repository is unknown, and offers to open it. Its path is not touched before the
/// person agrees: anybody may have written the link.
pub(super) fn say_not_here(app: App, path: String, query: String) {
    if app.backend().switches_repositories() {
        app.repositories.refused.set(None);
        app.repositories.offered.set(Some((path, query)));
        app.frame.over.set(Some(Over::Offer));
    } else {
        app.frame.warn(
            say::repositories::NOT_HERE,
            &say::repositories::not_here_hint(&path),
        )
    }
}

/// Opens the offered repository, and goes where the link leads.
pub(super) fn take_offer(app: App) {
    if let Some((path, query)) = app.repositories.offered.get_untracked() {
        bring_in_front(
            app,
            RepositorySwitch {
                path,
                within: SwitchPlace::Place(query),
            },
        );
    }
}

fn go_to_address(app: App, query: &str) {
    dom::set_query(query, true, app.repositories.root().as_deref());
    match app.phase.get_untracked() {
        Phase::Ready => app.follow_address(),
        // The request in flight is for another address.
        Phase::Loading | Phase::Failed(_) => begin_anew(app),
    }
}
