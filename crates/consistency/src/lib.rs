//! What a claim says, and whether it may be kept. Its first part is the secret screen: a claim, a
//! note or a snapshot that carries a credential is refused before anything of it is stored, and what
//! an agent is shown of a file is masked.
//!
//! **Never:** no I/O, no model, no exemption that a caller could ask for; a finding names the rule
//! and the place, never the secret.

mod judge;
mod mask;
mod own;
mod rules;
mod secret;
mod views;

pub use mask::{Masked, mask, mask_diff, mask_span};
pub use secret::{Secret, screen, screen_bytes, secrets};
