//! What a person writes: a correction in place of the claim, and a claim of their own about marked
//! lines of a source. Nothing typed is lost before it is stored or discarded.

mod add;
mod correct;
mod field;
mod marks;

pub(crate) use self::add::add_claim;
#[cfg(feature = "gallery")]
pub(crate) use self::correct::begin_correction;
pub(crate) use self::correct::{apply_suggestion, correct, open_suggestion};
use std::collections::HashMap;

use engram_model::EngramId;
use leptos::prelude::*;

pub(crate) use self::{
    add::Adding,
    correct::{Correct, CorrectButton, SuggestionButton},
    field::{ClaimField, WriteRefused, handle_keys},
    marks::{MarkedLines, Marks},
};
use self::{add::NewClaim, correct::Correction, marks::MarkedSpan};
use super::dom;
use crate::drafts::Drafts;

/// What the person wrote and has not stored.
#[derive(Clone, Copy)]
pub(crate) struct Writing {
    /// Drafts of corrections, by claim.
    corrections: RwSignal<HashMap<EngramId, Correction>>,
    /// The marked lines of a source.
    marked: RwSignal<Option<MarkedSpan>>,
    /// The claim that is being added by hand.
    new: RwSignal<NewClaim>,
}

/// The name under which the tab keeps drafts.
const DRAFTS: &str = "engram-drafts";

impl Writing {
    /// Restores the drafts from before the page was reloaded.
    pub(super) fn new() -> Self {
        let kept = dom::read_session(DRAFTS);
        let mut kept = kept.map(|it| Drafts::read(&it)).unwrap_or_default();
        let corrections = std::mem::take(&mut kept.corrections).into_iter();
        let corrections = corrections.map(|(id, text)| (id, Correction::restored(text)));
        Self {
            corrections: RwSignal::new(corrections.collect()),
            marked: RwSignal::new(None),
            new: RwSignal::new(NewClaim::restored(kept)),
        }
    }

    /// Keeps drafts until they are stored or discarded, or the window is closed.
    pub(super) fn follow(self) {
        Effect::new(move |_| {
            let mut drafts = self.new.with(NewClaim::draft_to_keep);
            self.corrections.with(|all| {
                let kept = all
                    .iter()
                    .filter_map(|(id, it)| Some((*id, it.draft_to_keep()?)));
                drafts.corrections.extend(kept);
            });
            dom::write_session(DRAFTS, drafts.text().as_deref());
        });
    }

    /// Drops marks and pending answers, since no answer comes after a switch. The texts stay.
    pub(super) fn reset(self) {
        self.marked.set(None);
        let stop = |it: &mut Correction| it.is_saving = false;
        self.corrections
            .update(|all| all.values_mut().for_each(stop));
        self.new.update(NewClaim::leave_lines);
    }
}
