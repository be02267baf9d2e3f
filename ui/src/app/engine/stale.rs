//! Reloads stale data by tag. A reader tracks a tag, a change touches it, and neither knows about
//! the other.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use engram_model::{Entry, StatusReply, ask};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    app::{dom, reading, state::App, views::feed},
    tags::{Tag, tags_of},
};

/// How long changes gather before sums over the home are read again.
const PAUSE: Duration = Duration::from_millis(400);

/// The readers of each tag.
#[derive(Clone, Copy)]
pub(crate) struct Stale {
    readers: StoredValue<HashMap<Tag, ArcTrigger>>,
    /// The sums that were touched within the pause.
    gathered: StoredValue<HashSet<Tag>>,
}

impl Stale {
    pub(crate) fn new() -> Self {
        Self {
            readers: StoredValue::new(HashMap::new()),
            gathered: StoredValue::new(HashSet::new()),
        }
    }

    /// Runs the current effect again when this tag is stale.
    pub(crate) fn track(self, tag: Tag) {
        let reader = self
            .readers
            .try_update_value(|all| all.entry(tag).or_default().clone());
        if let Some(reader) = reader {
            reader.track();
        }
    }

    /// Makes the readers of this tag read again.
    pub(crate) fn touch(self, tag: Tag) {
        if let Some(reader) = self.readers.with_value(|all| all.get(&tag).cloned()) {
            reader.notify();
        }
    }

    /// Forgets the readers of engrams of the repository that was in front.
    pub(crate) fn reset(self) {
        self.readers
            .update_value(|all| all.retain(|tag, _| !matches!(tag, Tag::Engram(_))));
    }

    /// Touches the tags that journal entries make stale; the tags of sums are touched a little
    /// later, once for many entries.
    pub(crate) fn follow(self, entries: &[Entry]) {
        let all: HashSet<Tag> = entries.iter().flat_map(|it| tags_of(&it.change)).collect();
        let (sums, others): (Vec<Tag>, Vec<Tag>) = all.into_iter().partition(|it| it.is_sum());
        others.into_iter().for_each(|it| self.touch(it));
        let is_waiting = self.gathered.with_value(|all| !all.is_empty());
        self.gathered.update_value(|all| all.extend(sums));
        if !is_waiting {
            let touch = move || {
                let all = self.gathered.try_update_value(std::mem::take);
                let all = all.unwrap_or_default();
                all.into_iter().for_each(|it| self.touch(it));
            };
            dom::run_later(touch, PAUSE);
        }
    }
}

/// Reloads what is stale, for as long as the window lives.
pub(crate) fn follow_stale(app: App) {
    read_when(app, Tag::Status, reread_status);
    read_when(app, Tag::Facets, feed::count_facets);
    read_when(app, Tag::Doubts, feed::list_doubts_anew);
    read_when(app, Tag::Found, feed::search_again);
    // The counts of the rail follow what the person did at once, as its view does.
    Effect::new(move |was_busy: Option<bool>| {
        let is_busy = app.batch.progress.with(Option::is_some);
        if was_busy == Some(true) && !is_busy {
            app.stale.touch(Tag::Status);
        }
        is_busy
    });
    // When the repository becomes available or unavailable, its evidence must be read again.
    Effect::new(move |before: Option<bool>| {
        let is_gone = is_unavailable(app);
        if before.is_some_and(|before| before != is_gone) {
            feed::list_in_place(app);
            recheck(app);
        }
        is_gone
    });
    // Entries keep the list itself up to date. An engram that the list leaves out must be read.
    Effect::new(move |_| {
        if let Some(id) = app.reading.selected.get() {
            app.stale.track(Tag::Engram(id));
            reading::visit_engram(app, id);
        }
    });
}

/// Touches everything on the screen that may have changed without notice.
pub(crate) fn recheck(app: App) {
    app.stale.touch(Tag::Sources);
    app.stale.touch(Tag::Conflicts);
    app.stale.touch(Tag::Requests);
    app.stale.touch(Tag::Brief);
    if let Some(id) = app.reading.selected.get_untracked() {
        app.stale.touch(Tag::Engram(id));
    }
}

/// Whether the repository is unavailable.
pub(crate) fn is_unavailable(app: App) -> bool {
    let why = |it: &StatusReply| it.project.as_ref()?.unavailable.clone();
    app.status.with(|it| it.as_ref().and_then(why).is_some())
}

fn read_when(app: App, tag: Tag, read: fn(App)) {
    Effect::new(move |before: Option<()>| {
        app.stale.track(tag);
        if before.is_some() {
            read(app);
        }
    });
}

fn reread_status(app: App) {
    spawn_local(async move {
        match app.ask(ask::Status).await {
            Ok(status) => app.status.set(Some(*status)),
            Err(refusal) => dom::log(&refusal.to_string()),
        }
    });
}
