//! What a person writes: a correction, and a claim of their own.

pub const CORRECT: &str = "Correct…";
pub const CORRECT_MEANS: &str = "Saves your wording as a new version";
pub const SUGGEST: &str = "Correct to the new value";
pub const SUGGEST_MEANS: &str = "Replaces the old value in the claim with the one now in the code";
pub const READ_AGAIN: &str = "Read the rest of the claim again, then save";
pub const NO_SUGGESTION: &str = "The changed lines do not suggest a new value";
pub const CORRECTION: &str = "Your correction";
pub const UNSAVED: &str = "You have an unsaved correction.";
pub const CONTINUE: &str = "Continue";
pub const DISCARD: &str = "Discard";
pub const CORRECTED: &str = "Corrected. You are now its author";
pub const MEANWHILE: &str =
    "This claim changed while you were writing. Saving replaces its newest version.";
pub const SAVE: &str = "Save";
pub const SAVING: &str = "Saving…";
pub const CANCEL: &str = "Cancel";
pub const ADD: &str = "Add a claim…";
pub const TITLE: &str = "Add a claim";
pub const ABOUT: &str = "Add a claim about these lines";
pub const ADDED: &str = "Added. Agents can find this claim";
pub const TO_DO_ADDED: &str = "Added. Agents can find this to-do";
pub const EXISTS: &str = "This claim already exists with this evidence";
pub const CLAIM: &str = "Claim";
pub const CLAIM_HINT: &str = "What is true here, in one to three sentences";
pub const EVIDENCE: &str = "Evidence";
pub const EVIDENCE_HINT: &str = "repo:src/main.rs#L10-L20@HEAD";
pub const OFFERED: &str = "Files and tests that match";
pub const KIND: &str = "Kind";
pub const TOPIC: &str = "Topic";
pub const TOPIC_HINT: &str = "Optional, such as payments/webhooks";
pub const MARK: &str = "Drag or Shift-click to mark lines";
pub const MARKED: &str = "Marked lines";
pub const UNMARK: &str = "Unmark lines";

/// The value that the claim gives, and the one that the code has now.
pub fn suggestion(old: &str, new: &str) -> String {
    format!("{old} → {new}")
}

pub fn length(characters: &str, most: &str) -> String {
    format!("{characters} of {most} characters")
}
