//! What a person writes: a correction in place of the claim, and a claim of their own about marked lines
//! of a source. Nothing typed is lost before it is stored or discarded.

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

/// What the person wrote and has not stored.
#[derive(Clone, Copy)]
pub(crate) struct Writing {
    /// Drafts of corrections, by claim.
    corrections: RwSignal<HashMap<EngramId, Correction>>,
    /// The marked lines of a source.
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

    /// Drops marks and pending answers: none come after a switch. The texts stay.
    pub(super) fn reset(self) {
        self.marked.set(None);
        let stop = |it: &mut Correction| it.is_saving = false;
        self.corrections
            .update(|all| all.values_mut().for_each(stop));
        self.new.update(New::leave_lines);
    }
}
