//! What a person wrote and has not stored, as it is kept over a reload of the page.

use std::collections::BTreeMap;

use engram_model::{Code, EngramId, Kind, Refusal};
use serde::{Deserialize, Serialize};

/// The most bytes that are kept.
const MAX_BYTES: usize = 200_000;

/// Drafts, each as it was last typed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drafts {
    /// Corrections, by the claim that they correct.
    pub corrections: BTreeMap<EngramId, String>,
    /// A new claim.
    pub claim: String,
    /// The evidence of the new claim.
    pub pointer: String,
    /// The kind of the new claim, once chosen.
    pub kind: Option<Kind>,
    /// The topic of the new claim.
    pub topic: String,
}

impl Drafts {
    /// Reads drafts that were kept; returns empty ones if they cannot be read.
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Returns the drafts as they are kept; none if they are empty or far too long.
    pub fn text(&self) -> Option<String> {
        let text = serde_json::to_string(self).ok();
        text.filter(|it| *self != Self::default() && it.len() <= MAX_BYTES)
    }
}

/// Whether a draft was refused for a secret. It is then kept nowhere until it is stored or discarded,
/// however it is edited: a few more letters do not take the secret out.
pub fn is_of_secret(refusal: &Refusal) -> bool {
    refusal.code == Code::SecretDetected
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn drafts_are_read_as_they_were_kept() {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let written = Drafts {
            corrections: BTreeMap::from([(id, "It is “quoted”.\n".to_owned())]),
            claim: "Half a".to_owned(),
            kind: Some(Kind::Risk),
            ..Drafts::default()
        };
        assert_eq!(Drafts::read(&written.text().unwrap()), written);
        for nothing in ["", "null", "[]", "{\"corrections\":{\"x\":1}}", "{"] {
            assert_eq!(Drafts::read(nothing), Drafts::default(), "{nothing}");
        }
        let long = Drafts {
            claim: "x".repeat(MAX_BYTES),
            ..Drafts::default()
        };
        assert_eq!((Drafts::default().text(), long.text()), (None, None));
    }

    #[test]
    fn what_was_refused_for_a_secret_is_not_kept() {
        for (code, want) in [(Code::SecretDetected, false), (Code::ClaimTooLong, true)] {
            let refusal = Refusal::new(code, "refused", "Try again.");
            assert_eq!(!is_of_secret(&refusal), want, "{code:?}");
        }
    }
}
