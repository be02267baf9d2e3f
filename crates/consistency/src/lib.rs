//! What a claim says, whether it may be kept, and whether it fits what others say.
//!
//! The secret screen: a claim, a note or a snapshot that carries a credential is refused before
//! anything of it is stored, and what an agent is shown of a file is masked. [`claim`] reads what a
//! claim says; [`tier`] holds the rules by which two claims contradict each other, without a model.
//!
//! **Never:** no I/O, no model, no exemption that a caller could ask for; a finding of the screen names
//! the rule and the place, never the secret. Two claims that are not known to speak of the same thing
//! are never compared.

pub mod claim;
mod judge;
mod mask;
mod own;
mod rules;
mod secret;
pub mod tier;
mod views;

pub use mask::{Masked, mask, mask_diff, mask_span};
pub use secret::{Secret, screen, screen_bytes, secrets};
