//! Decides what a budget, a message contract, a rate or a permission allows. The same input always
//! gives the same decision, and each refusal says how to pass next time.
//!
//! **Never:** no I/O, no clock, no state. The engine keeps the state, and passes in an agent's
//! spending as a [`engram_model::Spend`], what it was served as fingerprints, and the tree of
//! agents as a function.

mod below;
mod brief;
mod budget;
mod code;
mod echo;
mod grant;
mod kin;
mod message;
mod prose;
mod quote;
mod roles;
mod scopes;
mod text_form;
mod tokens;

pub use below::{Elder, admit_below, charge_below};
pub use brief::{
    Candidate, ForRole, Material, OpenGrant, Pinned, PinnedWhat, admit_pin, compose, pin_text,
    quoted,
};
pub use budget::{
    admit, admit_strangers, admit_tree, admit_write, budget, charge, refuse_close, refuse_retire,
};
pub use code::{INLINE_CODE_CHARS, code_chars, code_features};
pub use echo::{admit_claim, echoes, fingerprints, is_own, probes, read_print, told_print};
pub use grant::{
    Allowance, GrantTerms, PaidBy, PointerRead, Wish, admit_read, code_allowance, grant_terms,
    no_grant, refuse_revoke,
};
pub use kin::{
    GENERATIONS, Kin, recipients, refuse_decision, refuse_opening, refuse_report, unknown,
};
pub use message::{
    Checked, Form, MESSAGE_BYTES, UncheckedMessage, check_delivery, check_message, narrowed,
    read_message, validate_message, with_skeleton,
};
pub use prose::{line_count, sentence_count};
pub use quote::Quotable;
pub use roles::{Template, same_role, template};
pub use scopes::{Promoted, may_read_topic, refuse_promotion, refuse_scope, refuse_topic};
pub use text_form::to_text;
pub use tokens::{Excerpt, count_tokens, fit};
