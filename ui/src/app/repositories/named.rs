//! What a link or an id in a search field names, in whichever repository of the home it is.

use engram_model::{Clues, EngramId, Linkable};
use leptos::prelude::*;

use super::{as_link, ask_where};
use crate::{
    app::{
        state::App,
        views::{View, conflicts, feed, requests},
    },
    route::Route,
};

/// What a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The link that opens it.
    pub(crate) link: String,
    /// What it is; none for a link.
    pub(crate) what: Option<Linkable>,
    /// The name of its repository, if that is not the one in front.
    pub(crate) elsewhere: Option<String>,
}

impl Named {
    /// Whether a search lists it: a claim of the repository in front.
    pub(crate) fn is_listed(&self) -> bool {
        self.elsewhere.is_none() && self.what == Some(Linkable::Claim)
    }
}

/// Whether a text is a link, or looks like the id of something.
pub(crate) fn has_name(text: &str) -> bool {
    as_link(text).is_some() || as_id(text).is_some()
}

fn as_id(text: &str) -> Option<EngramId> {
    text.trim().parse().ok()
}

/// Finds what a text names, if the home knows it.
pub(crate) async fn find_named(app: App, text: &str) -> Option<Named> {
    let (clues, link) = match as_link(text) {
        Some(link) => {
            let route = Route::of_link(link, app.clock.get_untracked().offset)?;
            let clues = Clues {
                id: route.open,
                remote: route.remote,
                commit: None,
            };
            (clues, Some(link.to_owned()))
        }
        None => {
            let clues = Clues {
                id: Some(as_id(text)?.to_string()),
                ..Clues::default()
            };
            (clues, None)
        }
    };
    if clues == Clues::default() {
        return None;
    }
    let id = clues.id.clone();
    let reply = app.repositories.for_front(ask_where(app, clues)).await;
    let found = reply.found?;
    let (link, what) = match link {
        Some(link) => (link, None),
        None => {
            let what = reply.names?;
            (format!("engram://{}/{}", view_of(what).id, id?), Some(what))
        }
    };
    Some(Named {
        link,
        what,
        elsewhere: (!found.is_here).then_some(found.name),
    })
}

fn view_of(what: Linkable) -> &'static View {
    match what {
        Linkable::Claim => &feed::VIEW,
        Linkable::Conflict => &conflicts::VIEW,
        Linkable::Request => &requests::VIEW,
    }
}
