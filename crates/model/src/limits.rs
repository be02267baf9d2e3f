//! Every limit with its default, in one typed place (docs/design.md#limits-and-defaults).
//! A home's `config.toml` may change them.

use serde::{Deserialize, Serialize};

use crate::Scope;

/// All limits of one home.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Longest claim, in characters (Unicode scalar values).
    pub claim_chars: usize,
    /// Most pointers of one engram. The minimum is 1 and cannot be configured.
    pub pointers: usize,
    /// Most tags of one engram.
    pub tags: usize,
    /// Longest tag, in characters.
    pub tag_chars: usize,
    /// Longest `ref` of a pointer, in characters.
    pub ref_chars: usize,
    /// Longest span of a pointer, in characters.
    pub span_chars: usize,
    /// Engrams that a query without a limit returns.
    pub query_limit: usize,
    /// Most engrams a query may return.
    pub query_max: usize,
    /// Candidates that recall hands to ranking.
    pub recall_candidates: usize,
    /// Life of an ephemeral engram, in seconds.
    pub ephemeral_ttl_seconds: i64,
    /// How often other agents must receive an ephemeral engram as an answer before it becomes
    /// durable; 0 for never.
    pub ephemeral_hits: u64,
    /// Most folders of a working tree that are watched. Beyond this, only folders with evidence are
    /// watched.
    pub watched_folders: usize,
    /// What a message may hold.
    pub message: MessageLimits,
    /// What a turn may dereference.
    pub deref: DerefLimits,
    /// How fast an agent may write.
    pub rate: RateLimits,
    /// What a grant may allow beyond the budget.
    pub grant: GrantLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            claim_chars: 500,
            pointers: 12,
            tags: 12,
            tag_chars: 40,
            ref_chars: 300,
            span_chars: 80,
            query_limit: 10,
            query_max: 50,
            recall_candidates: 100,
            ephemeral_ttl_seconds: 86_400,
            ephemeral_hits: 2,
            watched_folders: 30_000,
            message: MessageLimits::default(),
            deref: DerefLimits::default(),
            rate: RateLimits::default(),
            grant: GrantLimits::default(),
        }
    }
}

/// The hard envelope of one message (docs/design.md#messages).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MessageLimits {
    /// Tokens (o200k_base) of the compact JSON.
    pub inline_tokens: usize,
    /// Engrams in one message.
    pub engrams: usize,
    /// Characters of inline code without a grant.
    pub inline_code_chars: usize,
    /// Lines of a shared brief.
    pub brief_lines: usize,
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self {
            inline_tokens: 800,
            engrams: 12,
            inline_code_chars: 0,
            brief_lines: 30,
        }
    }
}

/// What one agent may dereference in one turn (docs/design.md#budgets).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DerefLimits {
    /// `repo`, `diff` and `test` pointers.
    pub repo_spans: u32,
    /// `artifact` and `url` pointers.
    pub artifact_sections: u32,
    /// `sam` pointers.
    pub sam_items: u32,
    /// Tokens of all excerpts together.
    pub tokens: u32,
    /// A turn ends after this many seconds without a call from its agent.
    pub turn_idle_seconds: i64,
}

impl Default for DerefLimits {
    fn default() -> Self {
        Self {
            repo_spans: 3,
            artifact_sections: 2,
            sam_items: 2,
            tokens: 1200,
            turn_idle_seconds: 600,
        }
    }
}

/// Limits on the writes of one agent: the operations that are marked `Rated`. The user, imports and
/// benchmarks are not limited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    /// Writes within 60 seconds.
    pub per_minute: u32,
    /// Writes within 3,600 seconds.
    pub per_hour: u32,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            per_minute: 20,
            per_hour: 50,
        }
    }
}

/// What a grant allows (docs/design.md#grants-and-requests). None of the maximums binds the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrantLimits {
    /// Tokens of a grant that names no cap.
    pub cap_tokens: u32,
    /// Highest cap in tokens that a parent may grant.
    pub max_cap_tokens: u32,
    /// Most characters of inline code that a parent may grant.
    pub max_code_chars: u32,
    /// Life of a grant that names no ttl, in seconds.
    pub ttl_seconds: i64,
    /// Longest life that a parent may grant, in seconds.
    pub max_ttl_seconds: i64,
}

impl Default for GrantLimits {
    fn default() -> Self {
        Self {
            cap_tokens: 500,
            max_cap_tokens: 1200,
            max_code_chars: 2000,
            ttl_seconds: 600,
            max_ttl_seconds: 86_400,
        }
    }
}

/// `[scopes]` of `config.toml`: how far agents' claims may reach (docs/design.md#scopes-and-runs).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scopes {
    /// Scopes into which an agent may write by itself.
    pub agents_write: Vec<Scope>,
    /// Whether the user enabled the scope `org` for agents.
    pub org: bool,
    /// Whether the user enabled the scope `global` for agents.
    pub global: bool,
    /// The lowest confidence, 0 to 1, of a claim that a parent may promote.
    pub promote_confidence: f64,
}

impl Scopes {
    /// Whether agents' claims may reach this scope.
    pub fn is_open(&self, scope: Scope) -> bool {
        match scope {
            Scope::Run | Scope::Project => true,
            Scope::Org => self.org,
            Scope::Global => self.global,
        }
    }
}

impl Default for Scopes {
    fn default() -> Self {
        Self {
            agents_write: vec![Scope::Run, Scope::Project],
            org: false,
            global: false,
            promote_confidence: 0.7,
        }
    }
}
