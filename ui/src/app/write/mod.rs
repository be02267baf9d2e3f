//! What a person writes: a correction in the place of the claim, and a claim of their own about lines that
//! are marked in a source. Nothing that was typed is lost before it is stored or thrown away.

mod add;
mod correct;
mod field;
mod marks;

use std::collections::HashMap;

use engram_model::EngramId;
use leptos::prelude::*;

pub(crate) use self::{
    add::Adding,
    correct::{Correct, CorrectButton},
    marks::{MarkedLines, Marks},
};
use self::{add::New, correct::Correction, marks::Marked};

/// What the person writes and has not stored.
#[derive(Clone, Copy)]
pub(crate) struct Writing {
    /// Corrections that were begun, by claim.
    corrections: RwSignal<HashMap<EngramId, Correction>>,
    /// Lines that are marked in a source.
    marked: RwSignal<Option<Marked>>,
    /// The claim that is added by hand.
    new: RwSignal<New>,
}

impl Writing {
    pub(super) fn new() -> Self {
        Self {
            corrections: RwSignal::new(HashMap::new()),
            marked: RwSignal::new(None),
            new: RwSignal::new(New::default()),
        }
    }

    /// Marks nothing and waits for no answer: none comes to what was sent before. The texts stay.
    pub(super) fn reset(self) {
        self.marked.set(None);
        let stop = |it: &mut Correction| it.is_saving = false;
        self.corrections
            .update(|all| all.values_mut().for_each(stop));
        self.new.update(New::leave_lines);
    }
}
