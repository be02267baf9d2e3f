//! What the window knows and what it can do: signals, and the actions that change them.

use std::{sync::Arc, time::Duration};

use engram_model::{
    Engram, EngramId, Feed as FeedRequest, FeedPage, Refusal, Reply, Request, SourceReply,
    StatusReply,
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    backend::{Backend, News, Subscription, strange},
    dom,
};
use crate::{
    feed::Feed,
    words::{self, Clock},
};

/// Entries of one page.
const PAGE: usize = 200;
/// Longest wait between attempts to reconnect, in seconds.
const PATIENCE: u64 = 15;

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

/// What a source card shows below its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Panel {
    /// The commits that wrote the lines.
    Blame,
    /// What became of them since.
    Changes,
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
    live: StoredValue<Option<Subscription>, LocalStorage>,
    attempts: StoredValue<u64>,
    /// A new attempt to connect is due.
    is_waiting: StoredValue<bool>,
    older_is_coming: StoredValue<bool>,
    status_due: StoredValue<bool>,
    unannounced: StoredValue<usize>,
    toast_number: StoredValue<u64>,
    pub(crate) feed: RwSignal<Feed>,
    pub(crate) status: RwSignal<Option<StatusReply>>,
    pub(crate) phase: RwSignal<Phase>,
    pub(crate) link: RwSignal<Link>,
    pub(crate) clock: RwSignal<Clock>,
    pub(crate) filter: RwSignal<String>,
    pub(crate) selected: RwSignal<Option<EngramId>>,
    /// Whether the list stands at its newest end.
    pub(crate) at_top: RwSignal<bool>,
    /// The pointer that keys act on, and its source once it was read.
    pub(crate) pointer: RwSignal<usize>,
    pub(crate) sources: RwSignal<Vec<Option<Arc<SourceReply>>>>,
    /// What the card of that pointer shows below its lines.
    pub(crate) panel: RwSignal<Option<Panel>>,
    /// Changes when the person comes back to the window: the working tree may read otherwise then.
    pub(crate) returned: RwSignal<u32>,
    pub(crate) shortcuts: RwSignal<bool>,
    /// The engram that is about to be forgotten.
    pub(crate) forgetting: RwSignal<Option<EngramId>>,
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
            older_is_coming: StoredValue::new(false),
            status_due: StoredValue::new(false),
            unannounced: StoredValue::new(0),
            toast_number: StoredValue::new(0),
            feed: RwSignal::new(Feed::default()),
            status: RwSignal::new(None),
            phase: RwSignal::new(Phase::Loading),
            link: RwSignal::new(Link::Connecting),
            clock: RwSignal::new(dom::clock()),
            filter: RwSignal::new(String::new()),
            selected: RwSignal::new(None),
            at_top: RwSignal::new(true),
            pointer: RwSignal::new(0),
            sources: RwSignal::new(Vec::new()),
            panel: RwSignal::new(None),
            returned: RwSignal::new(0),
            shortcuts: RwSignal::new(false),
            forgetting: RwSignal::new(None),
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
            match self.first_page().await {
                Ok(()) => self.connect(),
                Err(refusal) => self.phase.set(Phase::Failed(refusal)),
            }
        });
    }

    async fn first_page(self) -> Result<(), Refusal> {
        let status = self.read_status().await?;
        self.status.set(Some(status));
        let page = self
            .read_feed(FeedRequest {
                limit: Some(PAGE),
                ..Default::default()
            })
            .await?;
        self.feed.update(|feed| feed.load(page, PAGE));
        self.phase.set(Phase::Ready);
        if self.selected.get_untracked().is_none() {
            self.select_newest();
        }
        Ok(())
    }

    async fn read_status(self) -> Result<StatusReply, Refusal> {
        match self.backend().read(Request::Status).await? {
            Reply::Status(status) => Ok(*status),
            _ => Err(strange(&"not a status")),
        }
    }

    async fn read_feed(self, feed: FeedRequest) -> Result<FeedPage, Refusal> {
        match self.backend().read(Request::Feed(feed)).await? {
            Reply::Feed(page) => Ok(page),
            _ => Err(strange(&"not a page of the feed")),
        }
    }

    /// Follows the journal after the last entry that is known.
    fn connect(self) {
        spawn_local(async move {
            let after = self.feed.with_untracked(Feed::head);
            match self
                .backend()
                .subscribe(after, move |news| self.hear(news))
                .await
            {
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
            }
            News::Lost => self.reconnect_later(),
            News::Entries(entries) => {
                self.attempts.set_value(0);
                if self.link.get_untracked() != Link::Live {
                    self.link.set(Link::Live);
                }
                self.arrive(entries);
            }
        }
    }

    fn arrive(self, entries: Vec<engram_model::Entry>) {
        self.clock.set(dom::clock());
        let hold = !self.at_top.get_untracked();
        let was_empty = self.feed.with_untracked(Feed::is_empty);
        let new = self
            .feed
            .try_update(|feed| feed.live(entries, hold))
            .unwrap_or(0);
        if was_empty && new > 0 {
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
        self.is_waiting.set_value(true);
        let attempts = self.attempts.get_value();
        self.attempts.set_value(attempts.saturating_add(1));
        let wait = 2u64.saturating_pow(attempts.min(5) as u32).min(PATIENCE);
        let again = move || {
            self.is_waiting.set_value(false);
            self.live.set_value(None);
            self.connect();
        };
        set_timeout(again, Duration::from_secs(wait));
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
            if !page.entries.is_empty() {
                self.arrive(page.entries);
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// A page of older engrams, when there are any and none is on its way.
    pub(crate) fn load_older(self) {
        let Some(before) = self.feed.with_untracked(Feed::next_page) else {
            return;
        };
        if self.older_is_coming.get_value() {
            return;
        }
        self.older_is_coming.set_value(true);
        spawn_local(async move {
            let request = FeedRequest {
                before: Some(before),
                limit: Some(PAGE),
                ..Default::default()
            };
            match self.read_feed(request).await {
                Ok(page) => self.feed.update(|feed| feed.older(page, PAGE)),
                Err(refusal) => self.complain(refusal),
            }
            self.older_is_coming.set_value(false);
        });
    }

    /// The rows that the filter leaves.
    pub(crate) fn rows(self) -> Vec<Arc<Engram>> {
        let filter = self.filter.get();
        self.feed.with(|feed| feed.rows(&filter))
    }

    pub(crate) fn select(self, id: EngramId) {
        if self.selected.get_untracked() == Some(id) {
            return;
        }
        self.forgetting.set(None);
        self.pointer.set(0);
        self.panel.set(None);
        self.sources.set(Vec::new());
        self.selected.set(Some(id));
    }

    fn select_newest(self) {
        let newest = self
            .feed
            .with_untracked(|feed| feed.rows("").first().map(|it| it.id));
        if let Some(id) = newest {
            self.select(id);
        }
    }

    /// Moves the selection by rows; with none, to the first.
    pub(crate) fn step(self, by: isize) {
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
        self.feed.update(Feed::release);
        self.at_top.set(true);
        self.scroll_to_top.update(|it| *it = it.wrapping_add(1));
    }

    /// The selected engram, as it is now.
    pub(crate) fn current(self) -> Option<Arc<Engram>> {
        let id = self.selected.get()?;
        self.feed.with(|feed| feed.get(id))
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

    /// Opens the source in the person's editor.
    pub(crate) fn open_editor(self) {
        let source = untrack(|| self.source());
        let Some((path, line)) = source.and_then(|it| Some((it.open_path.clone()?, it.open_line)))
        else {
            return self.say(
                "There is no such file in the working tree",
                "Copy the pointer instead: C.",
                true,
            );
        };
        spawn_local(async move {
            match self.backend().open_editor(&path, line).await {
                Ok(editor) => self.say(&format!("Opened in {editor}"), "", false),
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// Copies the exact pointer.
    pub(crate) fn copy_pointer(self) {
        let index = self.pointer.get_untracked();
        let pointer = untrack(|| self.current())
            .and_then(|it| it.pointers.get(index).map(ToString::to_string));
        if let Some(pointer) = pointer {
            self.copy(pointer, "Pointer copied");
        }
    }

    pub(crate) fn copy(self, text: String, done: &'static str) {
        spawn_local(async move {
            match dom::copy(&text).await {
                true => self.say(done, "", false),
                false => self.say(
                    "The clipboard could not be written",
                    "Select the text and copy it.",
                    true,
                ),
            }
        });
    }

    /// Asks before anything is forgotten.
    pub(crate) fn ask_to_forget(self) {
        let Some(engram) = untrack(|| self.current()) else {
            return;
        };
        if engram.valid_until.is_none() && !engram.redacted {
            self.forgetting.set(Some(engram.id));
        }
    }

    /// Closes the window of the engram that was asked about.
    pub(crate) fn forget(self) {
        let Some(id) = self.forgetting.get_untracked() else {
            return;
        };
        self.forgetting.set(None);
        spawn_local(async move {
            match self.backend().change(Request::Forget(id)).await {
                Ok(_) => self.say("Forgotten: agents no longer get this claim", "", false),
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    pub(crate) fn complain(self, refusal: Refusal) {
        dom::log(&refusal.to_string());
        self.say(&sentence(&refusal.message), &refusal.hint, true);
    }

    fn say(self, text: &str, hint: &str, is_error: bool) {
        let number = self.toast_number.get_value().wrapping_add(1);
        self.toast_number.set_value(number);
        self.toast.set(Some(Toast {
            text: text.to_owned(),
            hint: hint.to_owned(),
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
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
