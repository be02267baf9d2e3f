//! What keys do among claims whose evidence changed.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use engram_model::{
    Code, DiffSide, Engram, Filter, Reading, Refusal, Request, SourceLine, SpanNow,
};
use leptos::prelude::*;

use super::VIEW;
use crate::{
    app::{
        act,
        gallery::made_up::engrams,
        reading,
        views::{feed::gallery::load, stage::Stage},
    },
    commands::Act,
};

const DIGEST: &str = "sha256:4d7a";

/// A window on one drifted claim, which is open.
fn open(standing: &str, claim: &str) -> (Stage, Arc<Engram>) {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Reword(_) => Err(Refusal::new(Code::PointerNotFound, "changed again", "")),
        other => panic!("{other:?}"),
    });
    let mut all = engrams().into_iter();
    let found = all.find(|engram| {
        let health = engram.health.as_ref();
        health.is_some_and(|it| it.standing.as_str() == standing)
    });
    let mut engram = Engram::clone(&found.unwrap());
    engram.claim = claim.to_owned();
    let engram = Arc::new(engram);
    load(stage.app, std::slice::from_ref(&engram), Filter::default());
    stage.app.reading.selected.set(Some(engram.id));
    stage.settle();
    stage.asked();
    (stage, engram)
}

fn line(side: DiffSide, text: &str) -> SourceLine {
    SourceLine {
        side,
        text: text.to_owned(),
        marked: side == DiffSide::Removed,
        ..SourceLine::default()
    }
}

/// Shows the person that the evidence of the claim was edited.
fn show_edited(stage: &Stage, engram: &Engram) {
    let standing = SpanNow {
        reading: Reading::Edited,
        path: None,
        lines: None,
        digest: Some(DIGEST.to_owned()),
        changes: vec![
            line(DiffSide::Removed, "MAX = 4093"),
            line(DiffSide::Added, "MAX = 4096"),
        ],
        hidden: 0,
        media: None,
    };
    reading::learn_standing(stage.app, &engram.pointers[0], &Arc::new(standing));
}

#[test]
fn one_key_corrects_a_claim_to_the_value_that_the_line_has_now() {
    let (stage, engram) = open("needs_reverification", "A cookie has at most 4093 bytes.");
    assert!(!stage.press_shift("R"), "no lines were shown");
    show_edited(&stage, &engram);
    assert!(stage.press_shift("R"));
    let asked = stage.asked();
    let Some(Request::Reword(rewording)) = asked.first() else {
        panic!("{asked:?}");
    };
    assert_eq!(rewording.id, engram.id);
    assert_eq!(rewording.claim, "A cookie has at most 4096 bytes.");
    let seen: Vec<_> = rewording.seen.iter().collect();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].pointer, engram.pointers[0].to_string());
    assert_eq!(seen[0].digest.as_deref(), Some(DIGEST));
    // The correction was refused: its words are in the field, and a second press does not replace
    // them.
    assert!(!stage.press_shift("R"));
    assert_eq!(stage.asked(), []);
}

#[test]
fn a_claim_that_says_more_than_the_value_is_read_again_in_the_field() {
    let claim = "A cookie has at most 4093 bytes; a second one is refused.";
    let (stage, engram) = open("needs_reverification", claim);
    show_edited(&stage, &engram);
    assert!(stage.press_shift("R"));
    assert_eq!(stage.asked(), []);
    let told = stage.app.frame.toast.get_untracked().unwrap();
    assert_eq!(told.text, "Read the rest of the claim again, then save");
    assert!(!stage.press_shift("R"), "its words are in the field");
}

#[test]
fn a_value_is_suggested_for_one_claim_only() {
    let (stage, engram) = open("needs_reverification", "A cookie has at most 4093 bytes.");
    let mut other = Engram::clone(&engram);
    other.id = "01K0000000000000000000000B".parse().unwrap();
    other.lineage_id = "01K0000000000000000000000B".parse().unwrap();
    load(
        stage.app,
        &[Arc::clone(&engram), Arc::new(other)],
        Filter::default(),
    );
    show_edited(&stage, &engram);
    act::perform(stage.app, Act::ChooseAll);
    stage.app.reading.selected.set(Some(engram.id));
    show_edited(&stage, &engram);
    stage.asked();
    act::perform(stage.app, Act::Suggest);
    stage.settle();
    assert_eq!(stage.asked(), []);
    let told = stage.app.frame.toast.get_untracked().unwrap();
    assert_eq!(told.text, "Claims are corrected one at a time");
    stage.app.list.choice.reset();
    assert!(stage.press_shift("R"));
    assert_eq!(stage.asked().len(), 1);
}

#[test]
fn what_cannot_be_confirmed_says_which_key_to_press() {
    let (stage, _) = open("evidence_gone", "A cookie has at most 4093 bytes.");
    super::judge(stage.app, crate::selection::ClaimAction::Confirm);
    stage.settle();
    assert_eq!(stage.asked(), []);
    let told = stage.app.frame.toast.get_untracked().unwrap();
    assert_eq!(told.text, "Lines 9–15 of src/gone.rs were deleted");
    assert_eq!(
        told.hint,
        "Press X if the claim is no longer true, or R to correct it."
    );
}
