//! Decides what a budget, a message contract, a rate or a permission allows. The same input always
//! gives the same decision, and each refusal says how to pass next time.
//!
//! **Never:** no I/O, no clock, no state. The engine keeps the state, and passes in an agent's
//! spending as a [`engram_model::Spend`], what it was served as fingerprints, and the tree of
//! agents as a function.

mod ancestors;
mod brief;
mod budget;
mod closing;
mod code;
mod echo;
mod grant;
mod message;
mod prose;
mod quote;
mod roles;
mod scopes;
mod text_form;
mod tokens;
mod tree;

pub use ancestors::{Ancestor, admit_by_ancestors, charge_ancestors};
pub use brief::{
    BriefCandidate, BriefLinePin, BriefMaterial, BriefRole, OpenGrant, PinSubject, admit_pin,
    compose_brief, lines_that_fit, pin_text, quoted, riding_lines, text_line,
};
pub use budget::{
    admit_by_budget, admit_stranger_write, admit_tree_write, admit_write, budget_of, charge,
};
pub use closing::{ReplacedVersion, refuse_close, refuse_replace, refuse_retire};
pub use code::{INLINE_CODE_CHARS, code_chars, code_features};
pub use echo::{echoes, fingerprints, is_own_evidence, read_print, refuse_echo, shown_print};
pub use grant::{
    GrantTerms, GrantWish, PaidBy, PointerRead, ReadAllowance, admit_read, code_allowance,
    grant_terms, no_grant, refuse_revoke,
};
pub use message::{
    MESSAGE_BYTES, MessageForm, UncheckedMessage, ValidMessage, check_delivery, check_message,
    narrowed_limits, read_message, with_skeleton,
};
pub use prose::{line_count, sentence_count};
pub use quote::Quotable;
pub use roles::{RoleTemplate, same_role, template};
pub use scopes::{PromotedClaim, may_read_topic, refuse_promotion, refuse_scope, refuse_topic};
pub use text_form::to_text;
pub use tokens::{Excerpt, count_tokens, fit};
pub use tree::{
    AgentNode, GENERATIONS, recipients, refuse_decision, refuse_opening, refuse_role, unknown_agent,
};
