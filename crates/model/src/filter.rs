//! The feed's filter. The store applies it in SQL to all engrams, the window to each engram that
//! arrives; both must agree.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Engram, Evidence, FactType, Kind, Scope};

/// How many characters and words of a search text count; the rest is ignored.
const MAX_TEXT: usize = 200;
const MAX_WORDS: usize = 12;
/// Shorter words are not compared with ids.
pub const LEAST_ID: usize = 8;

/// Conditions on an engram; empty ones are ignored. Values of one list are alternatives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Words that must all appear in the claim, topic, author, kind, tags or pointers, or begin the
    /// id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Of one of these kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// Of one of these scopes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Scope>,
    /// Of one of these fact types.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fact_types: Vec<FactType>,
    /// By an agent in one of these roles, ignoring case; see [`Engram::role`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// By one of these authors, as [`Engram::provenance`] names them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// On this topic or below it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub topic: String,
    /// Whether its evidence resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// With evidence in one of these states; only current claims have one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub health: Vec<Evidence>,
    /// Whether it has ended: it was replaced, forgotten or redacted, or its ttl is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,
    /// Whether it held at this time in the past. The search then covers every version, not only the
    /// last at its place in the list, and the list is in the order of versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_at: Option<Timestamp>,
    /// First recorded at this time or later; a confirmation does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// First recorded before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl Filter {
    /// Whether it has no conditions.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
            || (self.search_words().is_empty() && self.without_text() == Self::default())
    }

    /// This filter without its past time.
    pub fn of_now(&self) -> Self {
        Self {
            held_at: None,
            ..self.clone()
        }
    }

    /// This filter without its words.
    pub fn without_text(&self) -> Self {
        Self {
            text: String::new(),
            ..self.clone()
        }
    }

    /// The words to search for. Non-ASCII letters must match in case, as in SQL.
    pub fn search_words(&self) -> Vec<String> {
        let text: String = self.text.chars().take(MAX_TEXT).collect();
        let words = text.split_whitespace().take(MAX_WORDS);
        words.map(str::to_ascii_lowercase).collect()
    }

    /// The topic without surrounding slashes.
    pub fn topic(&self) -> &str {
        trim_slashes(&self.topic)
    }

    /// Whether an engram matches at this time.
    pub fn admits(&self, engram: &Engram, now: Timestamp) -> bool {
        fn any<T: PartialEq>(wanted: &[T], value: &T) -> bool {
            wanted.is_empty() || wanted.contains(value)
        }
        any(&self.kinds, &engram.kind)
            && any(&self.scopes, &engram.scope)
            && any(&self.fact_types, &engram.fact_type)
            && self.has_role(engram.role.as_deref().unwrap_or_default())
            && any(&self.authors, &engram.provenance.created_by)
            && self.verified.is_none_or(|wanted| wanted == engram.verified)
            && self.has_health(engram)
            && self
                .ended
                .is_none_or(|wanted| wanted != engram.holds_now(now))
            && self.held_at.is_none_or(|at| engram.holds_at(at))
            && self.since.is_none_or(|since| engram.list_time() >= since)
            && self.until.is_none_or(|until| engram.list_time() < until)
            && is_on_topic(&engram.topic, &self.topic)
            && self.has_words(engram)
    }

    /// Whether a role is one of the wanted roles; `role` is empty for an engram without one.
    /// Non-ASCII letters must match in case, as in SQL.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.is_empty() || self.roles.iter().any(|it| it.eq_ignore_ascii_case(role))
    }

    fn has_health(&self, engram: &Engram) -> bool {
        let standing = engram.health.as_ref().map(|it| it.standing);
        self.health.is_empty() || standing.is_some_and(|it| self.health.contains(&it))
    }

    fn has_words(&self, engram: &Engram) -> bool {
        let words = self.search_words();
        if words.is_empty() {
            return true;
        }
        let mut text = [
            &engram.claim,
            &engram.topic,
            &engram.provenance.created_by,
            engram.kind.as_str(),
        ]
        .join("\n");
        for tag in &engram.tags {
            text.push('\n');
            text.push_str(tag);
        }
        for pointer in &engram.pointers {
            text.push('\n');
            text.push_str(&pointer.to_string());
        }
        text.make_ascii_lowercase();
        let id = engram.id.to_string().to_ascii_lowercase();
        let is_id = |word: &str| word.len() >= LEAST_ID && id.starts_with(word);
        words
            .iter()
            .all(|word| text.contains(word.as_str()) || is_id(word))
    }
}

/// Whether a topic is the wanted topic or below it. An empty `wanted` matches every topic.
pub fn is_on_topic(topic: &str, wanted: &str) -> bool {
    let wanted = trim_slashes(wanted);
    wanted.is_empty()
        || topic
            .strip_prefix(wanted)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn trim_slashes(topic: &str) -> &str {
    topic.trim().trim_matches('/')
}

/// How many engrams each value of a list would leave, with the other lists unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facets {
    /// Engrams that the whole filter leaves.
    pub total: u64,
    /// By kind, the largest count first.
    pub kinds: Vec<(Kind, u64)>,
    /// By scope.
    pub scopes: Vec<(Scope, u64)>,
    /// By fact type.
    pub fact_types: Vec<(FactType, u64)>,
    /// By role, in lower case, among engrams of agents that have one; the 40 largest.
    pub roles: Vec<(String, u64)>,
    /// By author; the 40 largest.
    pub authors: Vec<(String, u64)>,
    /// By topic; the 40 largest.
    pub topics: Vec<(String, u64)>,
    /// By whether their evidence resolved.
    pub verified: Vec<(bool, u64)>,
    /// By the state of their evidence, among current claims that were checked.
    pub health: Vec<(Evidence, u64)>,
    /// Whether only the newest versions were counted, because no counts are stored for this filter
    /// and there are too many versions to examine each one.
    pub partial: bool,
}
