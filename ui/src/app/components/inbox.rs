//! The list of a view: which item is open, why the list could not be read, and its components.

use engram_model::{Ask, Refusal};
use leptos::{html, prelude::*, task::spawn_local};

use super::refused::Refused;
use crate::app::{
    dom, engine::connection::Link, frame::states, part::Slot, reading, state::App, views::View,
};

/// The state of a list whose items are identified by a key.
pub(crate) struct Inbox<K: Send + Sync + 'static> {
    /// The key of the open item.
    pub(crate) open: RwSignal<Option<K>>,
    /// Why the list could not be read.
    pub(crate) refused: RwSignal<Option<Refusal>>,
    /// The number of the last reading; answers to earlier ones are dropped.
    number: StoredValue<u64>,
}

impl<K: Send + Sync + 'static> Clone for Inbox<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Send + Sync + 'static> Copy for Inbox<K> {}

/// Starts with nothing open and nothing read.
impl<K: Send + Sync + 'static> Slot<()> for Inbox<K> {
    fn of((): ()) -> Self {
        Self {
            open: RwSignal::new(None),
            refused: RwSignal::new(None),
            number: StoredValue::new(0),
        }
    }

    fn put(self, (): ()) {
        self.begin();
        self.open.set(None);
        self.refused.set(None);
    }
}

impl<K: Clone + PartialEq + Send + Sync + 'static> Inbox<K> {
    /// Opens an item; returns false if it was open already. If `adds_history`, *back* returns from it.
    pub(crate) fn turn_to(self, app: App, key: K, row: &str, adds_history: bool) -> bool {
        if self.open.with_untracked(|open| open.as_ref() == Some(&key)) {
            return false;
        }
        app.reading.begin(0);
        self.open.set(Some(key));
        app.write_address(adds_history);
        dom::reveal(row);
        true
    }
}

impl<K: Send + Sync + 'static> Inbox<K> {
    /// Begins a new reading, so that the answer to the previous one is dropped; returns its number.
    pub(crate) fn begin(self) -> u64 {
        let number = self.number.get_value().wrapping_add(1);
        self.number.set_value(number);
        number
    }

    /// Whether no other reading has begun since this one.
    pub(crate) fn is_last(self, number: u64) -> bool {
        self.number.get_value() == number
    }

    /// Sends a request and passes its answer to `list`, unless another reading has begun.
    pub(crate) fn read<A: Ask + 'static>(
        self,
        app: App,
        ask: A,
        list: impl FnOnce(A::Answer) + 'static,
    ) {
        let number = self.begin();
        spawn_local(async move {
            let read = app.ask(ask).await;
            if !self.is_last(number) {
                return;
            }
            match read {
                Ok(reply) => {
                    self.refused.set(None);
                    list(reply);
                }
                Err(refusal) => {
                    dom::log(&refusal.to_string());
                    self.refused.set(Some(refusal));
                }
            }
        });
    }
}

/// Returns the row that is `by` rows further, clamped at the ends. If `from` is none or not listed,
/// returns the first row.
pub(crate) fn stepped<K: Clone + PartialEq>(rows: &[K], from: Option<&K>, by: isize) -> Option<K> {
    let at = from.and_then(|from| rows.iter().position(|row| row == from));
    let last = rows.len().checked_sub(1)?;
    let to = at.map_or(0, |at| at.saturating_add_signed(by).min(last));
    rows.get(to).cloned()
}

/// Makes keys act on the view's own sources, beginning with the first, while a view without engrams
/// is on the screen. Afterwards, keys act on the sources of the open engram again.
pub(crate) fn read_own_sources(app: App) {
    app.reading.begin(0);
    on_cleanup(move || {
        let read = app.reading.selected.get_untracked();
        let pointer = read.map_or(0, |id| reading::worst_pointer(app, id));
        app.reading.begin(pointer);
    });
}

/// The pane of a list: its name and what is beside it, its filters, why it could not be read, and
/// its rows.
#[component]
pub(crate) fn ListPane(
    view: &'static View,
    /// What is shown beside the name.
    #[prop(into)]
    beside: ViewFn,
    /// The filters, shown below the name.
    #[prop(optional, into)]
    limits: ViewFn,
    refused: RwSignal<Option<Refusal>>,
    again: fn(App),
    children: Children,
) -> impl IntoView {
    let app = App::here();
    // A lost connection has its own message.
    let refused = Signal::derive(move || {
        let is_lost = app.connection.link.get() == Link::Lost;
        refused.get().filter(|_| !is_lost)
    });
    view! {
        <section class="pane list" aria-label=view.title>
            <header>
                <h1>{view.title}</h1>
                {beside.run()}
            </header>
            {limits.run()}
            <states::Disconnected />
            <div class="within-list"><Refused refusal=refused again=Callback::new(move |()| again(app)) /></div>
            {children()}
        </section>
    }
}

/// The rows of a list, for keys and screen readers.
#[component]
pub(crate) fn ListBox(
    class: &'static str,
    #[prop(into)] label: Signal<&'static str>,
    testid: &'static str,
    /// Whether several rows can be selected.
    #[prop(optional)]
    is_many: bool,
    is_none: Memo<bool>,
    /// The id of the open row's element, if the row is drawn.
    #[prop(into)]
    active: Signal<Option<String>>,
    #[prop(optional)] node: NodeRef<html::Div>,
    children: Children,
) -> impl IntoView {
    view! {
        <div class=class class:bare=is_none id=dom::LIST node_ref=node tabindex="0" role="listbox" aria-multiselectable=is_many.then_some("true")
            aria-label=label aria-activedescendant=active data-testid=testid>
            {children()}
        </div>
    }
}

/// What is shown while there are no rows: that they are being read, or what an empty list means.
#[component]
pub(crate) fn Instead(
    is_none: Memo<bool>,
    #[prop(into)] is_read: Signal<bool>,
    refused: RwSignal<Option<Refusal>>,
    reading: &'static str,
    #[prop(into)] nothing: ViewFn,
) -> impl IntoView {
    let is_read = Memo::new(move |_| is_read.get());
    let is_refused = Memo::new(move |_| refused.with(Option::is_some));
    move || match (is_none.get(), is_read.get()) {
        (false, _) => ().into_any(),
        (true, false) if is_refused.get() => ().into_any(),
        (true, false) => view! { <p class="none quiet" aria-busy="true">{reading}</p> }.into_any(),
        (true, true) => nothing.run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_at_the_ends_and_begin_at_the_first() {
        for (from, by, want) in [
            (Some('b'), 1, Some('c')),
            (Some('b'), -1, Some('a')),
            (Some('c'), 1, Some('c')),
            (Some('a'), isize::MIN, Some('a')),
            (Some('a'), isize::MAX, Some('c')),
            (Some('x'), 5, Some('a')),
            (None, -1, Some('a')),
        ] {
            assert_eq!(
                stepped(&['a', 'b', 'c'], from.as_ref(), by),
                want,
                "{from:?} {by}"
            );
        }
        assert_eq!(stepped::<char>(&[], None, 1), None);
    }
}
