//! The frame around the views: what lies over them, and what is said at the lower edge.

use std::time::Duration;

use engram_model::{Refusal, Settings};
use leptos::prelude::*;

use super::{dom, menu, state::App};
use crate::words::{self, say};

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

/// What the frame shows.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) over: RwSignal<Option<Over>>,
    /// Where the menu of the selected engram is open.
    pub(crate) menu: RwSignal<Option<menu::Place>>,
    pub(crate) toast: RwSignal<Option<Toast>>,
    toast_number: StoredValue<u64>,
    pub(crate) announcement: RwSignal<String>,
    unannounced: StoredValue<usize>,
    pub(crate) settings: RwSignal<Settings>,
    pub(crate) list_width: RwSignal<Option<u32>>,
}

impl Frame {
    pub(super) fn new() -> Self {
        Self {
            over: RwSignal::new(None),
            menu: RwSignal::new(None),
            toast: RwSignal::new(None),
            toast_number: StoredValue::new(0),
            announcement: RwSignal::new(String::new()),
            unannounced: StoredValue::new(0),
            settings: RwSignal::new(Settings::default()),
            list_width: RwSignal::new(None),
        }
    }

    /// Closes what is of one engram; what the person chose and what was said last stays.
    pub(super) fn reset(self) {
        self.menu.set(None);
    }
}

impl App {
    pub(crate) fn complain(self, refusal: Refusal) {
        dom::log(&refusal.to_string());
        self.say(&sentence(&refusal.message), &refusal.hint, true);
    }

    pub(crate) fn say(self, text: &str, hint: &str, is_error: bool) {
        let number = self.frame.toast_number.get_value().wrapping_add(1);
        self.frame.toast_number.set_value(number);
        self.frame.toast.set(Some(Toast {
            text: words::visible(text),
            hint: words::visible(hint),
            is_error,
        }));
        let clear = move || {
            if self.frame.toast_number.get_value() == number {
                self.frame.toast.set(None);
            }
        };
        set_timeout(clear, Duration::from_secs(if is_error { 12 } else { 3 }));
    }

    /// One sentence for all that came within a moment.
    pub(super) fn announce(self, new: usize) {
        let pending = self.frame.unannounced.get_value();
        self.frame.unannounced.set_value(pending + new);
        if new > 0 && pending == 0 {
            let speak = move || {
                let count = self.frame.unannounced.get_value() as u64;
                self.frame.unannounced.set_value(0);
                self.frame
                    .announcement
                    .set(words::count(count, say::list::NEW));
            };
            set_timeout(speak, Duration::from_millis(1500));
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

/// A text of ours; what stands between backticks is code.
pub(crate) fn marked(text: &str) -> Vec<AnyView> {
    let parts = text.split('`').map(str::to_owned).enumerate();
    let part = |(at, part): (usize, String)| match at % 2 {
        1 => view! { <code>{part}</code> }.into_any(),
        _ => part.into_any(),
    };
    parts.map(part).collect()
}
