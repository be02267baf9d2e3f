//! What a budget, a message contract, a rate or a permission allows: the same input always gives
//! the same decision, and each refusal says how to pass next time.
//!
//! **Never:** no I/O, no clock, no state. What an agent has spent comes in as a
//! [`engram_model::Spend`]; the
//! engine keeps it.

mod budget;
mod code;
mod message;
mod tokens;

pub use budget::{admit, admit_write, budget, charge, may_close, may_write};
pub use code::code_chars;
pub use message::validate_message;
pub use tokens::{Excerpt, count_tokens, fit};
