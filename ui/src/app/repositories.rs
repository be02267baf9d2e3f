//! Which repository is in front, what the page knows about the others, and what other programs hand to the
//! window. Choosing one: `pick.rs`.

use std::{collections::HashMap, time::Duration};

use engram_model::{Handed, ProjectStatus, Recent, Refusal};
use leptos::{prelude::*, task::spawn_local};

use super::{
    dom,
    frame::Over,
    state::{App, Phase},
};
use crate::{
    route::Route,
    words::{self, say},
};

/// While many news come from a repository behind, they are shown this often.
const PAUSE: Duration = Duration::from_millis(500);
/// And so often it is tried again to hear of them.
const LONG_PAUSE: Duration = Duration::from_secs(5);

/// What the page knows of the repositories.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    /// Those that are open in this window.
    pub(crate) opened: RwSignal<Vec<Recent>>,
    /// The root of the one in front; none outside of a repository.
    pub(crate) front: RwSignal<Option<String>>,
    /// How often the page began anew.
    turns: StoredValue<u64>,
    /// The one that is to come in front.
    wanted: StoredValue<Option<Wanted>>,
    is_switching: StoredValue<bool>,
    /// Where a link leads in the one that is on its way.
    link: StoredValue<Option<String>>,
    /// Where the person was in each: the query of the address.
    places: StoredValue<HashMap<String, String>>,
    /// Why the last choice did not open; shown where it was made.
    pub(crate) refused: RwSignal<Option<Refusal>>,
    /// The target of a link to an unknown repository: its path, and the place in it.
    pub(crate) offered: RwSignal<Option<(String, String)>>,
    /// Outside a repository, the person views what is stored there.
    pub(crate) stays_outside: RwSignal<bool>,
}

/// A repository that is to come in front.
#[derive(Clone, Debug)]
struct Wanted {
    path: String,
    within: Within,
}

/// Where the person begins there.
#[derive(Clone, Debug)]
enum Within {
    /// Where they were.
    Left,
    /// Where the address is already.
    Address,
    /// At this query.
    Place(String),
}

impl Known {
    pub(super) fn new() -> Self {
        Self {
            opened: RwSignal::new(Vec::new()),
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

    /// Changes when the page begins anew.
    pub(super) fn turn(self) -> u64 {
        self.turns.get_value()
    }

    /// Whether another one is on its way.
    pub(super) fn is_switching(self) -> bool {
        self.is_switching.get_value()
    }

    /// Keeps what was read of the one in front.
    pub(super) fn show(self, project: Option<&ProjectStatus>) {
        self.front.set(project.and_then(|it| it.root.clone()));
    }

    /// Keeps where the person is in the one in front.
    pub(super) fn keep_place(self, query: String) {
        if let Some(root) = self.front.get_untracked() {
            self.places.update_value(|it| drop(it.insert(root, query)));
        }
    }
}

/// Whether two paths are of the same folder.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}

impl App {
    /// Begins anew: of what was known nothing is left but the places, and no answer comes any more to
    /// what was asked.
    fn begin_anew(self) {
        self.repositories.turns.update_value(|it| *it += 1);
        self.reset();
        self.start();
    }

    /// The root of the repository in front.
    pub(crate) fn root(self) -> Option<String> {
        self.repositories.front.get_untracked()
    }

    /// What the shell hands on.
    pub(crate) fn follow_handed(self, it: &Handed) {
        match it {
            Handed::Link(link) => self.follow_link(link),
            Handed::Repository(path) => self.open_repository(path.clone()),
        }
    }

    /// Goes back or forward, to another repository too.
    pub(crate) fn follow_history(self, root: Option<String>) {
        let is_there = self.root() == root && !self.repositories.is_switching();
        match root.filter(|_| !is_there && self.backend().switches_repositories()) {
            Some(path) => self.bring(Wanted {
                path,
                within: Within::Address,
            }),
            None => self.follow_address(),
        }
    }

    /// Brings a repository in front.
    pub(crate) fn open_repository(self, path: String) {
        let is_front = self.root().is_some_and(|root| is_same(&root, &path));
        if is_front && !self.repositories.is_switching() {
            self.frame.over.set(None)
        } else {
            self.bring(Wanted {
                path,
                within: Within::Left,
            })
        }
    }

    /// Brings repositories in front one after the other, and shows the last one that was wanted.
    fn bring(self, wanted: Wanted) {
        let known = self.repositories;
        known.refused.set(None);
        known.wanted.set_value(Some(wanted));
        if known.is_switching() {
            return;
        }
        known.is_switching.set_value(true);
        self.look_away();
        spawn_local(async move {
            let mut brought = None;
            while let Some(wanted) = known.wanted.try_update_value(Option::take).flatten() {
                match self.backend().open_repository(&wanted.path).await {
                    Ok(root) => brought = Some((root, wanted.within)),
                    Err(refusal) => self.refuse_to_open(refusal),
                }
            }
            known.is_switching.set_value(false);
            let link = known.link.try_update_value(Option::take).flatten();
            match (brought, link) {
                (Some((root, _)), Some(query)) => self.begin_in(root, Within::Place(query)),
                (Some((root, within)), None) => self.begin_in(root, within),
                (None, Some(query)) => self.go_to_address(&query),
                // The address may be that of one that did not come.
                (None, None) => self.write_address(false),
            }
        });
    }

    /// Says why at the choice, while that is on the screen.
    fn refuse_to_open(self, refusal: Refusal) {
        let over = self.frame.over.get_untracked();
        let is_asked = matches!(over, Some(Over::Repositories | Over::Offer));
        if is_asked || untrack(|| self.is_outside()) {
            self.repositories.refused.set(Some(refusal))
        } else {
            self.complain(refusal)
        }
    }

    /// Whether to ask for a repository first: the window was started outside of one.
    pub(crate) fn is_outside(self) -> bool {
        let is_nowhere = self
            .status
            .with(|it| it.as_ref().is_some_and(|it| it.project.is_none()));
        let stays = self.repositories.stays_outside.get();
        is_nowhere && !stays && self.backend().switches_repositories()
    }

    fn begin_in(self, root: String, within: Within) {
        let left = |all: &HashMap<String, String>| all.get(&root).cloned();
        let query = match within {
            Within::Address => None,
            Within::Left => Some(
                self.repositories
                    .places
                    .with_value(left)
                    .unwrap_or_default(),
            ),
            Within::Place(query) => Some(query),
        };
        if let Some(query) = query {
            dom::set_query(&query, true, Some(&root));
        }
        let name = root.trim_end_matches('/').rsplit('/').next();
        let name = words::visible(name.unwrap_or_default());
        self.frame
            .announcement
            .set(say::repositories::is_front(&name));
        self.frame.over.set(None);
        self.repositories.front.set(Some(root));
        self.begin_anew();
    }

    /// Hears of the repositories that are open in this window, for as long as the page lives.
    pub(crate) fn follow_opened(self, after: u64) {
        if !self.backend().switches_repositories() {
            return;
        }
        spawn_local(async move {
            let (after, pause) = match self.backend().opened(after).await {
                Ok(it) => {
                    self.repositories.opened.set(it.repositories);
                    (it.news, PAUSE)
                }
                Err(refusal) => {
                    dom::log(&refusal.to_string());
                    (after, LONG_PAUSE)
                }
            };
            set_timeout(move || self.follow_opened(after), pause);
        });
    }

    /// Closes one that is open behind another.
    pub(super) fn close_repository(self, path: String) {
        spawn_local(async move {
            if let Err(refusal) = self.backend().close_repository(&path).await {
                self.complain(refusal);
            }
        });
    }

    /// Goes where a link leads; one that is not understood is left alone.
    pub(crate) fn follow_link(self, link: &str) {
        let offset = self.clock.get_untracked().offset;
        let Some(route) = Route::of_link(link, offset) else {
            return self.say(
                say::repositories::NOWHERE,
                say::repositories::NOWHERE_HINT,
                true,
            );
        };
        self.frame.over.set(None);
        self.tell_missing(&route);
        let query = route.query(offset);
        let is_switching = self.repositories.is_switching();
        let is_front =
            |it: &String| !is_switching && self.root().is_some_and(|root| is_same(&root, it));
        match route.repository.filter(|it| !is_front(it)) {
            Some(path) => self.follow_to(path, query),
            None if is_switching => self.repositories.link.set_value(Some(query)),
            None => self.go_to_address(&query),
        }
    }

    /// Goes to a place in another repository if that is known: a link alone opens no other.
    fn follow_to(self, path: String, query: String) {
        spawn_local(async move {
            match self.backend().repositories().await {
                Ok(all) => match all.into_iter().find(|it| is_same(&it.path, &path)) {
                    Some(Recent { path, .. }) => self.bring(Wanted {
                        path,
                        within: Within::Place(query),
                    }),
                    None => self.say_not_here(path, query),
                },
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// Says that a repository is unknown, and offers to open it. Its path is not touched before the person
    /// agrees: anybody may have written the link.
    pub(super) fn say_not_here(self, path: String, query: String) {
        if self.backend().switches_repositories() {
            self.repositories.refused.set(None);
            self.repositories.offered.set(Some((path, query)));
            self.frame.over.set(Some(Over::Offer));
        } else {
            self.say(
                say::repositories::NOT_HERE,
                &say::repositories::not_here_hint(&path),
                true,
            )
        }
    }

    /// Opens the offered repository, and goes where the link leads.
    pub(super) fn take_offer(self) {
        if let Some((path, query)) = self.repositories.offered.get_untracked() {
            self.bring(Wanted {
                path,
                within: Within::Place(query),
            });
        }
    }

    fn go_to_address(self, query: &str) {
        dom::set_query(query, true, self.root().as_deref());
        match self.phase.get_untracked() {
            Phase::Ready => self.follow_address(),
            // What is on its way was asked for another address.
            Phase::Loading | Phase::Failed(_) => self.begin_anew(),
        }
    }
}
