//! What a claim says, and whether it may be kept. Its first room is the secret screen: a claim, a
//! note or a snapshot that carries a credential is refused before anything of it is stored.
//!
//! **Never:** no I/O, no model, no exemption that a caller could ask for; a finding names the rule
//! and the place, never the secret.

mod secret;

pub use secret::{Secret, screen, screen_bytes};
