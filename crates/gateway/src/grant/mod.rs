//! Grants: permission for one thing beyond the budget (docs/design.md#grants-and-requests). Decides
//! whether one may be issued, and whether it is valid for a read. The engine looks up the token
//! that proves a grant, and passes `None` for a token that it does not find.

use engram_model::{
    AgentId, Caller, Code, DerefLimits, GrantKind, GrantLimits, GrantRecord, GrantState, Pin,
    Pointer, PointerType, Refusal, Spend, Target,
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    Ancestor, INLINE_CODE_CHARS, admit_by_ancestors,
    budget::{admit_by_budget, refuse_tokens},
    tree::AgentNode,
    tree::refuse_decision,
};

/// What someone wants to grant.
#[derive(Clone, Debug, PartialEq)]
pub enum GrantWish {
    /// A read of one pointer, which the engine has resolved: its pin is a commit, a digest or a
    /// date.
    Read {
        /// What may be read.
        pointer: Pointer,
        /// The maximum tokens of the excerpt; `None` means the home's default.
        cap_tokens: Option<u32>,
    },
    /// Characters of inline code in one message.
    Code {
        /// The most characters.
        chars: u32,
    },
}

/// What a grant will allow, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantTerms {
    /// What it allows.
    pub what: GrantKind,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// Returns the terms of the grant that the caller wants to give an agent, or refuses it. The home's
/// limits bind a parent, not the user. `ttl` is in seconds.
pub fn grant_terms(
    caller: &Caller,
    to: &AgentNode,
    wish: &GrantWish,
    ttl: Option<i64>,
    limits: &GrantLimits,
    now: Timestamp,
) -> Result<GrantTerms, Refusal> {
    refuse_decision(caller, to)?;
    let is_user = *caller == Caller::User;
    let what = match wish {
        GrantWish::Read {
            pointer,
            cap_tokens,
        } => {
            refuse_unpinned(pointer)?;
            let most = if is_user {
                u32::MAX
            } else {
                limits.max_cap_tokens
            };
            let cap_tokens = cap_tokens.unwrap_or(limits.cap_tokens.min(most));
            refuse_beyond("cap_tokens", cap_tokens.into(), most.into())?;
            GrantKind::Read {
                pointer: pointer.to_string(),
                cap_tokens,
            }
        }
        GrantWish::Code { chars } => {
            let most = if is_user {
                u32::MAX
            } else {
                limits.max_code_chars
            };
            refuse_beyond(INLINE_CODE_CHARS, (*chars).into(), most.into())?;
            GrantKind::Code { chars: *chars }
        }
    };
    let most = if is_user {
        i64::MAX
    } else {
        limits.max_ttl_seconds
    };
    let ttl = ttl.unwrap_or(limits.ttl_seconds.min(most));
    refuse_beyond(
        "ttl_seconds",
        u64::try_from(ttl).unwrap_or(0),
        u64::try_from(most).unwrap_or(0),
    )?;
    let expires_at = now
        .checked_add(SignedDuration::from_secs(ttl))
        .unwrap_or(Timestamp::MAX);
    Ok(GrantTerms { what, expires_at })
}

/// Checks that a grant's figure is at least 1 and at most `most`.
fn refuse_beyond(name: &str, asked: u64, most: u64) -> Result<(), Refusal> {
    if asked == 0 {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("a grant of {name} 0 allows nothing"),
            "Grant 1 or more.",
        ));
    }
    if asked <= most {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::BudgetExceeded,
            format!("a grant of {asked} {name} exceeds the {most} that a parent may give"),
            "Grant less, or ask the user to grant it.",
        )
        .figure(name, asked, most))
    }
}

/// Refuses a pointer without a fixed pin, since its content could change after the decision.
fn refuse_unpinned(pointer: &Pointer) -> Result<(), Refusal> {
    let is_commit =
        |rev: &str| matches!(rev.len(), 40 | 64) && rev.bytes().all(|it| it.is_ascii_hexdigit());
    let pinned = match &pointer.target {
        Target::Url { digest, .. } => digest.is_some(),
        Target::Repo {
            pin: Pin::Worktree, ..
        }
        | Target::Artifact {
            pin: Pin::Worktree, ..
        }
        | Target::Test {
            pin: Pin::Worktree, ..
        } => false,
        _ => {
            pointer.snapshot_digest().is_some() || pointer.commits().iter().all(|it| is_commit(it))
        }
    };
    if pinned {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::PointerUnpinned,
            format!(
                "{} has no fixed pin",
                engram_model::shorten(&pointer.to_string(), 120)
            ),
            "Grant a pointer pinned to a commit, a digest or a date.",
        ))
    }
}

/// What pays for a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaidBy {
    /// The budget of the turn.
    Budget,
    /// The grant with this id, which the read spends; the budget does not change.
    Grant(String),
}

/// A permitted read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadAllowance {
    /// The most tokens of the excerpt.
    pub tokens: u32,
    /// What pays for it.
    pub paid: PaidBy,
    /// Whether the budgets of the agents above the reader apply, as they do to everything but the
    /// user's grants.
    pub is_bound: bool,
}

/// A read that an agent requests.
#[derive(Clone, Copy, Debug)]
pub struct PointerRead<'a> {
    /// The reader.
    pub agent: &'a AgentId,
    /// The canonical address, with a full pin; `None` until it is looked up. Until then, no grant
    /// fits.
    pub pointer: Option<&'a str>,
    /// Its kind, which decides the budget it spends.
    pub kind: PointerType,
    /// Whether the tokens left in the turn cut the excerpt.
    pub is_cut: bool,
    /// The agents above it, its parent first.
    pub ancestors: &'a [Ancestor],
    /// The current time.
    pub now: Timestamp,
}

/// With fewer tokens left, a turn reads nothing that they would cut: so little text says nothing,
/// and would count as a whole read.
const MIN_CUT_TOKENS: u32 = 32;

/// Decides whether a read is permitted. A named grant must be valid. Without one, the budget pays
/// for what it can pay whole. What it refuses or would cut, the reader's grant for this pointer pays
/// if it allows more (of several in `open`, the one that expires first). The agents above the reader
/// limit what budgets and agents' grants pay for, but not what the user granted.
pub fn admit_read(
    reading: PointerRead<'_>,
    limits: &DerefLimits,
    spent: &Spend,
    named: Option<&GrantRecord>,
    open: &[GrantRecord],
) -> Result<ReadAllowance, Refusal> {
    if let Some(named) = named {
        return allowance_of(named, reading);
    }
    let budget = admit_by_budget(limits, spent, reading.kind);
    let is_remnant = spent.tokens > 0 && budget.as_ref().is_ok_and(|it| *it < MIN_CUT_TOKENS);
    let own = budget.and_then(|own| bound_by_ancestors(own, PaidBy::Budget, reading));
    let left = own.as_ref().map_or(0, |it| it.tokens);
    if own.is_ok() && !reading.is_cut {
        return own;
    }
    let serving = open.iter().filter_map(|grant| {
        let allowance = allowance_of(grant, reading).ok()?;
        (allowance.tokens > left).then_some((grant, allowance))
    });
    match serving.min_by_key(|(it, _)| (it.expires_at, it.id.clone())) {
        Some((_, allowance)) => Ok(allowance),
        None if own.is_ok() && is_remnant => Err(refuse_tokens(spent.tokens, limits.tokens)),
        None => own,
    }
}

/// Returns what a grant allows for a read. Refuses another agent's grant as if it did not exist.
fn allowance_of(grant: &GrantRecord, reading: PointerRead<'_>) -> Result<ReadAllowance, Refusal> {
    if grant.to != *reading.agent {
        return Err(no_grant());
    }
    let GrantKind::Read {
        pointer,
        cap_tokens,
    } = &grant.what
    else {
        return Err(denial("the grant is for inline code, not for reading"));
    };
    match grant.state(reading.now) {
        GrantState::Open => {}
        GrantState::Spent => return Err(denial("the grant has been spent")),
        GrantState::Revoked => return Err(denial("the grant has been revoked")),
        GrantState::Expired => return Err(expired(grant)),
    }
    if Some(pointer.as_str()) != reading.pointer {
        return Err(denial("the grant is for another pointer"));
    }
    let paid = PaidBy::Grant(grant.id.clone());
    match grant.by {
        Some(_) => bound_by_ancestors(*cap_tokens, paid, reading),
        None => Ok(ReadAllowance {
            tokens: *cap_tokens,
            paid,
            is_bound: false,
        }),
    }
}

/// Lowers these tokens to what the agents above the reader have left.
fn bound_by_ancestors(
    tokens: u32,
    paid: PaidBy,
    reading: PointerRead<'_>,
) -> Result<ReadAllowance, Refusal> {
    Ok(ReadAllowance {
        tokens: tokens.min(admit_by_ancestors(reading.ancestors, reading.kind)?),
        paid,
        is_bound: true,
    })
}

/// Returns how many characters of inline code an agent may send in one message; 0 without a grant.
pub fn code_allowance(
    agent: &AgentId,
    grant: Option<&GrantRecord>,
    now: Timestamp,
) -> Result<u32, Refusal> {
    let Some(grant) = grant else { return Ok(0) };
    if grant.to != *agent {
        return Err(no_grant());
    }
    match (&grant.what, grant.state(now)) {
        (GrantKind::Code { chars }, GrantState::Open) => Ok(*chars),
        (GrantKind::Code { .. }, GrantState::Expired) => Err(expired(grant)),
        (GrantKind::Code { .. }, _) => Err(denial("the grant has been spent or revoked")),
        (GrantKind::Read { .. }, _) => Err(denial("the grant is for reading, not for inline code")),
    }
}

/// Refuses a caller who may not revoke a grant. Its issuer, its holder's parent and the user may.
pub fn refuse_revoke(caller: &Caller, grant: &GrantRecord, to: &AgentNode) -> Result<(), Refusal> {
    match caller {
        Caller::Agent(agent) if grant.by.as_ref() == Some(agent) => Ok(()),
        _ => refuse_decision(caller, to),
    }
}

/// Returns the refusal for a grant that does not exist or belongs to another agent.
pub fn no_grant() -> Refusal {
    denial("this agent has no such grant")
}

fn denial(message: &str) -> Refusal {
    Refusal::new(
        Code::DerefDenied,
        message,
        "Omit budget_token to read within this turn's budget, or ask your parent or the user for a grant.",
    )
}

fn expired(grant: &GrantRecord) -> Refusal {
    Refusal::new(
        Code::Expired,
        format!("the grant expired at {}", grant.expires_at),
        "Request it again; the request may say how long you need it.",
    )
}

#[cfg(test)]
mod tests;
