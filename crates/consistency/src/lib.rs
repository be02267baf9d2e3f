//! What a claim says, whether it may be stored, and whether it agrees with other claims.
//!
//! The secret screen: a claim, a note or a snapshot that contains a credential is refused before
//! any of it is stored, and secrets in what an agent reads of a file are masked. [`claim`] parses
//! what a claim says; [`tier`] holds the rules by which two claims contradict each other, without a
//! model; [`near`] says how likely two claims are about the same thing.
//!
//! **Never:** no I/O, no model, no exemption on request. A finding of the screen names the rule and
//! the place, never the secret. Two claims not known to be about the same thing are never compared.

pub mod claim;
pub mod near;
mod secret;
pub mod tier;

pub use secret::{
    Masked, SecretMatch, find_secrets, mask, mask_diff, mask_span, screen, screen_bytes,
};
