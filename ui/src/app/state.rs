//! What the window knows and what it can do: signals, and the actions that change them.

use std::{sync::Arc, time::Duration};

use engram_model::{
    Engram, EngramId, Facets, Feed as FeedRequest, Filter, Refusal, Settings, SourceReply,
    StatusReply, ask,
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    backend::{Backend, News, Subscription},
    dom, filter, menu,
    repositories::Known,
};
use crate::{
    feed::{Feed, MOST},
    route::Route,
    words::{self, Clock},
};

/// Entries of one page.
pub(super) const PAGE: usize = 200;
/// Longest wait between attempts to reconnect, in seconds.
const PATIENCE: u64 = 4;

/// Which of the window's designs is on the screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Phase {
    /// The first page is on its way.
    Loading,
    /// There is a feed.
    Ready,
    /// Nothing can be shown, and why.
    Failed(Refusal),
}

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

/// A search through the journal that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// Of the journal, how much was looked at; in hundredths.
    pub(crate) done: u8,
    /// The person had enough of it.
    pub(crate) is_stopped: bool,
}

/// What a source card shows below its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Panel {
    /// The commits that wrote the lines.
    Blame,
    /// What became of them since.
    Changes,
}

/// How a claim is taken out of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// Its window is closed; history keeps it.
    Forget,
    /// Its text is erased.
    Redact,
}

impl Closing {
    /// Whether there is anything left to do it to.
    pub(crate) fn is_for(self, engram: &Engram) -> bool {
        match self {
            Self::Forget => engram.valid_until.is_none() && !engram.redacted,
            Self::Redact => !engram.redacted,
        }
    }
}

/// What can lie over the window, one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// Everything that can be done or read, by a few letters.
    Palette,
    /// The keys.
    Sheet,
    /// What the person chose.
    Settings,
    /// Other repositories.
    Repositories,
}

/// A sentence at the lower edge that goes away.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Toast {
    pub(crate) text: String,
    pub(crate) hint: String,
    pub(crate) is_error: bool,
}

/// Everything that the views share.
#[derive(Clone, Copy)]
pub(crate) struct App {
    backend: StoredValue<Backend>,
    pub(super) live: StoredValue<Option<Subscription>, LocalStorage>,
    attempts: StoredValue<u64>,
    /// A new attempt to connect is due.
    is_waiting: StoredValue<bool>,
    /// A page of older or newer engrams is on its way.
    pub(super) page_is_coming: StoredValue<bool>,
    /// How far a filter was looked for, while or since its search took more than a moment.
    pub(crate) search: RwSignal<Option<Search>>,
    status_due: StoredValue<bool>,
    unannounced: StoredValue<usize>,
    toast_number: StoredValue<u64>,
    pub(super) filter_number: StoredValue<u64>,
    pub(crate) feed: RwSignal<Feed>,
    pub(crate) status: RwSignal<Option<StatusReply>>,
    pub(crate) phase: RwSignal<Phase>,
    pub(crate) link: RwSignal<Link>,
    pub(crate) clock: RwSignal<Clock>,
    pub(crate) filter: RwSignal<Filter>,
    /// The values that a filter can have, with counts; read while they are looked at.
    pub(crate) facets: RwSignal<Option<Facets>>,
    pub(crate) facets_open: RwSignal<bool>,
    /// The engram that was read last, which the list may leave out.
    pub(crate) visited: RwSignal<Option<Arc<Engram>>>,
    pub(crate) history: RwSignal<bool>,
    pub(crate) selected: RwSignal<Option<EngramId>>,
    /// Whether the list stands at its newest end.
    pub(crate) at_top: RwSignal<bool>,
    /// The pointer that keys act on, and its source once it was read.
    pub(crate) pointer: RwSignal<usize>,
    pub(crate) sources: RwSignal<Vec<Option<Arc<SourceReply>>>>,
    /// What the card of that pointer shows below its lines.
    pub(crate) panel: RwSignal<Option<Panel>>,
    /// Whether its lines read otherwise now.
    pub(crate) has_changes: RwSignal<bool>,
    /// Changes when the person comes back to the window: the working tree may read otherwise then.
    pub(crate) returned: RwSignal<u32>,
    /// What a request was answered when the connection broke.
    pub(crate) lost_why: RwSignal<Option<Refusal>>,
    /// When the connection broke.
    pub(crate) lost_at: RwSignal<Option<jiff::Timestamp>>,
    /// What lies over the window.
    pub(crate) over: RwSignal<Option<Over>>,
    /// Where the menu of the selected engram is open.
    pub(crate) menu: RwSignal<Option<menu::Place>>,
    pub(crate) repositories: Known,
    pub(crate) settings: RwSignal<Settings>,
    pub(crate) list_width: RwSignal<Option<u32>>,
    /// The row whose whole claim is shown.
    pub(crate) expanded: RwSignal<Option<EngramId>>,
    /// What is about to be done to an engram.
    pub(crate) closing: RwSignal<Option<(EngramId, Closing)>>,
    pub(crate) toast: RwSignal<Option<Toast>>,
    pub(crate) announcement: RwSignal<String>,
    /// Each change asks the list to go to its newest end.
    pub(crate) scroll_to_top: RwSignal<u32>,
}

impl App {
    pub(crate) fn new(backend: Backend) -> Self {
        Self {
            backend: StoredValue::new(backend),
            live: StoredValue::new_local(None),
            attempts: StoredValue::new(0),
            is_waiting: StoredValue::new(false),
            page_is_coming: StoredValue::new(false),
            search: RwSignal::new(None),
            status_due: StoredValue::new(false),
            unannounced: StoredValue::new(0),
            toast_number: StoredValue::new(0),
            filter_number: StoredValue::new(0),
            feed: RwSignal::new(Feed::default()),
            status: RwSignal::new(None),
            phase: RwSignal::new(Phase::Loading),
            link: RwSignal::new(Link::Connecting),
            clock: RwSignal::new(dom::clock()),
            filter: RwSignal::new(Filter::default()),
            facets: RwSignal::new(None),
            facets_open: RwSignal::new(false),
            visited: RwSignal::new(None),
            history: RwSignal::new(false),
            selected: RwSignal::new(None),
            at_top: RwSignal::new(true),
            pointer: RwSignal::new(0),
            sources: RwSignal::new(Vec::new()),
            panel: RwSignal::new(None),
            has_changes: RwSignal::new(false),
            returned: RwSignal::new(0),
            lost_why: RwSignal::new(None),
            lost_at: RwSignal::new(None),
            over: RwSignal::new(None),
            menu: RwSignal::new(None),
            repositories: Known::new(),
            settings: RwSignal::new(Settings::default()),
            list_width: RwSignal::new(None),
            expanded: RwSignal::new(None),
            closing: RwSignal::new(None),
            toast: RwSignal::new(None),
            announcement: RwSignal::new(String::new()),
            scroll_to_top: RwSignal::new(0),
        }
    }

    /// The one in this component's context.
    pub(crate) fn here() -> Self {
        expect_context::<Self>()
    }

    pub(crate) fn backend(self) -> Backend {
        self.backend.get_value()
    }

    /// Reads the first page and follows the journal from there.
    pub(crate) fn start(self) {
        spawn_local(async move {
            self.for_front(self.read_settings()).await;
            match self.first_page().await {
                Ok(()) => self.connect(),
                Err(refusal) => self.phase.set(Phase::Failed(refusal)),
            }
        });
    }

    /// Knows nothing any more of the repository that was in front.
    pub(super) fn forget(self) {
        self.live.set_value(None);
        self.attempts.set_value(0);
        self.is_waiting.set_value(false);
        self.page_is_coming.set_value(false);
        self.begin_list();
        self.search.set(None);
        self.phase.set(Phase::Loading);
        self.link.set(Link::Connecting);
        self.lost_at.set(None);
        self.feed.set(Feed::default());
        self.at_top.set(true);
        self.facets.set(None);
        self.selected.set(None);
        self.visited.set(None);
        self.sources.set(Vec::new());
        self.pointer.set(0);
        self.panel.set(None);
        self.has_changes.set(false);
        self.history.set(false);
        self.expanded.set(None);
        self.closing.set(None);
        self.menu.set(None);
    }

    /// Shows the whole claim that is selected in its row, or puts it away.
    pub(crate) fn toggle_row(self) {
        let selected = self.selected.get_untracked();
        let now = self.expanded.get_untracked();
        self.expanded
            .set(if now == selected { None } else { selected });
    }

    async fn first_page(self) -> Result<(), Refusal> {
        let route = Route::parse(&dom::query(), self.clock.get_untracked().offset);
        self.filter.set(route.filter.clone());
        let status = self.read_status().await?;
        self.repositories.show(status.project.as_ref());
        self.status.set(Some(status));
        let page = self
            .read_feed(FeedRequest {
                limit: Some(PAGE),
                filter: route.filter.clone(),
                ..Default::default()
            })
            .await?;
        self.load_first(page, route.filter);
        self.phase.set(Phase::Ready);
        self.count_facets();
        if let Some(id) = route.engram {
            self.select(id);
        }
        if self.selected.get_untracked().is_none() {
            self.select_newest();
        }
        self.write_address(false);
        Ok(())
    }

    /// Follows the journal after the last entry that is known.
    fn connect(self) {
        spawn_local(async move {
            let after = self.feed.with_untracked(Feed::head);
            let backend = self.backend();
            let subscribed = backend.subscribe(after, move |news| self.hear(news));
            match self.for_front(subscribed).await {
                Ok(subscription) => {
                    self.live.set_value(Some(subscription));
                    if let Backend::Tauri = self.backend() {
                        self.hear(News::Connected);
                    }
                }
                Err(refusal) => {
                    if self.attempts.get_value() == 0 {
                        self.complain(refusal);
                    }
                    self.hear(News::Lost);
                }
            }
        });
    }

    fn hear(self, news: News) {
        match news {
            News::Connected => {
                self.attempts.set_value(0);
                self.link.set(Link::Live);
                self.lost_why.set(None);
                if self.lost_at.get_untracked().is_some() {
                    self.lost_at.set(None);
                    // Sources that could not be read meanwhile are read again.
                    self.returned.update(|it| *it = it.wrapping_add(1));
                    self.catch_up();
                    // In the window a feed ends only with its home: what came back may be another.
                    if let Backend::Tauri = self.backend() {
                        self.list_anew();
                    }
                }
            }
            News::Lost => self.reconnect_later(),
            News::Entries(entries) => {
                self.attempts.set_value(0);
                if self.link.get_untracked() != Link::Live {
                    self.link.set(Link::Live);
                    self.lost_at.set(None);
                }
                self.arrive(entries);
            }
        }
    }

    fn arrive(self, entries: Vec<engram_model::Entry>) {
        self.clock.set(dom::clock());
        let hold = !self.at_top.get_untracked();
        let was_empty = self.feed.with_untracked(Feed::is_empty);
        self.follow_evidence(&entries);
        let new = self
            .feed
            .try_update(|feed| feed.live(entries, hold))
            .unwrap_or(0);
        if was_empty && new > 0 && self.selected.with_untracked(Option::is_none) {
            self.select_newest();
        }
        self.announce(new);
        self.refresh_status_soon();
    }

    /// Waits longer after each failure, and asks again for what was missed.
    fn reconnect_later(self) {
        if self.is_waiting.get_value() {
            return;
        }
        self.link.set(Link::Lost);
        if self.lost_at.get_untracked().is_none() {
            self.lost_at.set(Some(dom::clock().now));
        }
        self.is_waiting.set_value(true);
        self.ask_why();
        let attempts = self.attempts.get_value();
        self.attempts.set_value(attempts.saturating_add(1));
        let wait = 2u64.saturating_pow(attempts.min(5) as u32).min(PATIENCE);
        let again = move || {
            if self.is_waiting.get_value() {
                self.reconnect();
            }
        };
        set_timeout(again, Duration::from_secs(wait));
    }

    /// A stream of events says not why it broke; a request does.
    fn ask_why(self) {
        spawn_local(async move {
            self.lost_why.set(self.read_status().await.err());
        });
    }

    /// Tries again now.
    pub(crate) fn reconnect(self) {
        self.is_waiting.set_value(false);
        self.live.set_value(None);
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
        if newest < self.feed.with_untracked(Feed::head) {
            // Another home, or an older copy, took the place of the one that was shown.
            self.list_anew();
            return Ok(());
        }
        loop {
            let head = self.feed.with_untracked(Feed::head);
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

    /// The rows of the list.
    pub(crate) fn rows(self) -> Vec<Arc<Engram>> {
        self.feed.with(Feed::rows)
    }

    /// Where the window is, as an address says it.
    fn route(self) -> Route {
        Route {
            filter: self.filter.get_untracked(),
            engram: self.selected.get_untracked(),
        }
    }

    pub(super) fn write_address(self, is_step: bool) {
        let query = self.route().query(self.clock.get_untracked().offset);
        dom::set_query(&query, is_step, self.root().as_deref());
        self.repositories.keep_place(query);
    }

    /// Goes where the address leads: at the start, and back and forward.
    pub(crate) fn follow_address(self) {
        let route = Route::parse(&dom::query(), self.clock.get_untracked().offset);
        let is_another = self.filter.get_untracked() != route.filter;
        self.filter.set(route.filter);
        if let Some(id) = route.engram {
            self.select(id);
        }
        self.write_address(false);
        if is_another {
            self.list_anew();
        }
    }

    /// Limits the list; a step can be gone back.
    pub(crate) fn set_filter(self, filter: Filter, is_step: bool) {
        if self.filter.get_untracked() == filter {
            return;
        }
        self.filter.set(filter);
        self.write_address(is_step);
        let number = self.begin_list();
        // While somebody types, only the last filter is asked for.
        let ask = move || {
            if self.filter_number.get_value() == number {
                self.list_anew();
            }
        };
        set_timeout(ask, Duration::from_millis(if is_step { 0 } else { 120 }));
    }

    pub(crate) fn list_anew(self) {
        let number = self.begin_list();
        let filter = self.filter.get_untracked();
        spawn_local(async move {
            match self.read_feed(self.request()).await {
                // Another filter was chosen meanwhile.
                Ok(_) if self.filter_number.get_value() != number => return,
                Ok(page) => {
                    let followed = self.feed.with_untracked(Feed::head);
                    self.load_first(page, filter);
                    // A journal that ends earlier is another: it is followed from its own end.
                    if self.feed.with_untracked(Feed::head) < followed {
                        self.reconnect();
                    }
                    self.at_top.set(true);
                    self.scroll_to_top.update(|it| *it = it.wrapping_add(1));
                    let is_none = self.selected.get_untracked().is_none();
                    if is_none || untrack(|| self.is_drift() && !self.is_listed()) {
                        self.select_newest();
                    }
                    let found = self.feed.with_untracked(|feed| feed.rows().len()) as u64;
                    self.announcement
                        .set(words::count(found, "engram listed", "engrams listed"));
                    // What arrived between the page and the subscription.
                    self.catch_up();
                }
                Err(refusal) => self.complain(refusal),
            }
            self.count_facets();
        });
    }

    /// Shows what the list can be limited to, or hides it.
    pub(crate) fn toggle_facets(self) {
        let is_open = !self.facets_open.get_untracked();
        // Who is in it comes back to the list.
        if !is_open && dom::focused_in(filter::PANEL).is_some() {
            dom::focus("feed");
        }
        self.facets_open.set(is_open);
        self.count_facets();
    }

    /// Counts the values of the filter, while somebody looks at them or a filter is on.
    pub(crate) fn count_facets(self) {
        let filter = self.filter.get_untracked();
        if !self.facets_open.get_untracked() && filter.is_empty() {
            return self.facets.set(None);
        }
        spawn_local(async move {
            match self.ask(ask::Facets(filter.clone())).await {
                Ok(facets) if self.filter.get_untracked() == filter => {
                    self.facets.set(Some(*facets));
                }
                Ok(_) => {}
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// Reads an engram that a person went to, which can be gone back from.
    pub(crate) fn go_to(self, id: EngramId) {
        self.select_by(id, true);
    }

    /// Reads an engram, as each on the way through the list.
    pub(crate) fn select(self, id: EngramId) {
        self.select_by(id, false);
    }

    fn select_by(self, id: EngramId, is_step: bool) {
        if self.selected.get_untracked() == Some(id) {
            return;
        }
        self.closing.set(None);
        self.history.set(false);
        self.pointer.set(self.worst_pointer(id));
        self.panel.set(None);
        self.has_changes.set(false);
        self.sources.set(Vec::new());
        self.selected.set(Some(id));
        self.visit(id);
        self.write_address(is_step);
    }

    /// Reads an engram that is not in the list, as a link or a history leads to.
    fn visit(self, id: EngramId) {
        if self.feed.with_untracked(|feed| feed.get(id).is_some()) {
            return;
        }
        spawn_local(async move {
            match self.ask(ask::Get(id)).await {
                Ok(engram) => {
                    self.tell_successor(&engram).await;
                    self.visited.set(Some(Arc::from(engram)));
                }
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// A version that was replaced is told from one that was forgotten by what came after it.
    async fn tell_successor(self, engram: &Engram) {
        if engram.valid_until.is_some()
            && let Ok(versions) = self.ask(ask::History(engram.id)).await
        {
            self.feed.update(|it| it.learn_versions(&versions));
        }
    }

    fn select_newest(self) {
        let newest = self
            .feed
            .with_untracked(|feed| feed.rows().first().map(|it| it.id));
        if let Some(id) = newest {
            self.select(id);
        }
    }

    /// Moves the selection by rows; with none, to the first.
    pub(crate) fn step(self, by: isize) {
        let (older, newer) = self
            .feed
            .with_untracked(|it| (it.next_page().is_some(), it.newer_page().is_some()));
        match by {
            isize::MAX if older => return self.list_oldest(),
            isize::MIN if newer => {
                self.selected.set(None);
                return self.list_anew();
            }
            _ => {}
        }
        let rows = untrack(|| self.rows());
        let selected = self.selected.get_untracked();
        let at = rows.iter().position(|it| Some(it.id) == selected);
        let to = match at {
            Some(at) => at
                .saturating_add_signed(by)
                .min(rows.len().saturating_sub(1)),
            None => 0,
        };
        if let Some(row) = rows.get(to) {
            self.select(row.id);
        }
    }

    /// Shows what arrived meanwhile, at the newest end.
    pub(crate) fn show_new(self) {
        let is_shown = self.feed.try_update(Feed::release);
        if is_shown == Some(false) {
            return self.list_anew();
        }
        self.at_top.set(true);
        self.scroll_to_top.update(|it| *it = it.wrapping_add(1));
    }

    /// The selected engram, as it is now.
    pub(crate) fn current(self) -> Option<Arc<Engram>> {
        let id = self.selected.get()?;
        let visited = || self.visited.get().filter(|it| it.id == id);
        self.feed.with(|feed| feed.get(id)).or_else(visited)
    }

    /// Opens a panel of the active card, or closes it.
    pub(crate) fn toggle_panel(self, panel: Panel) {
        self.panel
            .update(|it| *it = (*it != Some(panel)).then_some(panel));
    }

    /// Remembers a source that was read, for the keys that act on it.
    pub(crate) fn keep_source(self, id: EngramId, index: usize, source: Arc<SourceReply>) {
        if self.selected.get_untracked() == Some(id) {
            self.sources.update(|all| {
                if all.len() <= index {
                    all.resize(index + 1, None);
                }
                all[index] = Some(source);
            });
        }
    }

    /// The source that keys act on.
    pub(crate) fn source(self) -> Option<Arc<SourceReply>> {
        let index = self.pointer.get();
        self.sources.with(|all| all.get(index).cloned().flatten())
    }

    /// Asks before anything is forgotten or erased.
    pub(crate) fn ask_to_close(self, closing: Closing) {
        let Some(engram) = untrack(|| self.current()) else {
            return;
        };
        if closing.is_for(&engram) {
            self.closing.set(Some((engram.id, closing)));
        }
    }

    /// Does what was asked about.
    pub(crate) fn close(self) {
        let Some((id, closing)) = self.closing.get_untracked() else {
            return;
        };
        self.closing.set(None);
        let done = match closing {
            Closing::Forget => "Forgotten: agents no longer get this claim",
            Closing::Redact => "Erased for good",
        };
        let next = untrack(|| self.is_drift().then(|| self.neighbour(id)).flatten());
        spawn_local(async move {
            let closed = match closing {
                Closing::Forget => self.ask(ask::Forget(id)).await,
                Closing::Redact => self.ask(ask::Redact(id)).await,
            };
            match closed {
                Ok(it) => {
                    match it.pending.first() {
                        None => self.say(done, "", false),
                        Some(place) => self.say("Erased, but not everywhere yet", place, true),
                    }
                    if let Some(next) = next {
                        self.select(next);
                    }
                }
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    pub(crate) fn complain(self, refusal: Refusal) {
        dom::log(&refusal.to_string());
        self.say(&sentence(&refusal.message), &refusal.hint, true);
    }

    pub(crate) fn say(self, text: &str, hint: &str, is_error: bool) {
        let number = self.toast_number.get_value().wrapping_add(1);
        self.toast_number.set_value(number);
        self.toast.set(Some(Toast {
            text: words::visible(text),
            hint: words::visible(hint),
            is_error,
        }));
        let clear = move || {
            if self.toast_number.get_value() == number {
                self.toast.set(None);
            }
        };
        set_timeout(clear, Duration::from_secs(if is_error { 12 } else { 3 }));
    }

    /// One sentence for all that came within a moment.
    fn announce(self, new: usize) {
        let pending = self.unannounced.get_value();
        self.unannounced.set_value(pending + new);
        if new > 0 && pending == 0 {
            let speak = move || {
                let count = self.unannounced.get_value() as u64;
                self.unannounced.set_value(0);
                self.announcement
                    .set(words::count(count, "new engram", "new engrams"));
            };
            set_timeout(speak, Duration::from_millis(1500));
        }
    }

    /// Reads the status once for all changes of a moment.
    pub(crate) fn refresh_status_soon(self) {
        if self.status_due.get_value() {
            return;
        }
        self.status_due.set_value(true);
        let refresh = move || {
            self.status_due.set_value(false);
            spawn_local(async move {
                match self.read_status().await {
                    Ok(status) => self.status.set(Some(status)),
                    Err(refusal) => dom::log(&refusal.to_string()),
                }
            });
        };
        set_timeout(refresh, Duration::from_millis(400));
    }

    /// Once a minute while the page is seen, and when it comes back: times and branch are told anew.
    pub(crate) fn tick(self) {
        if dom::is_visible() {
            self.clock.set(dom::clock());
        }
    }
}

/// A message of a refusal as a sentence of the page.
pub(crate) fn sentence(message: &str) -> String {
    let message = words::visible(message);
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
