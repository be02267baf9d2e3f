//! Checks by rules alone whether two claims contradict each other, and how near they are. Nothing is
//! stored, and neither a home nor a repository is needed.

use engram_consistency::{
    claim::Claim,
    near::{Gist, NEAR, Sought},
    tier::{self, Said},
};
use engram_model::{FactType, Limits, Refusal, check_claim, check_topic};
use jiff::Timestamp;
use serde::Deserialize;

/// Two claims, each under its topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ClaimPair {
    /// One claim.
    pub a: String,
    /// The other.
    pub b: String,
    /// The topic of the first; absent for the whole project.
    #[serde(default)]
    pub topic_a: Option<String>,
    /// The topic of the second.
    #[serde(default)]
    pub topic_b: Option<String>,
}

/// The result for a pair of claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Whether they cannot both hold now.
    pub conflict: bool,
    /// The tier that found it.
    pub tier: Option<&'static str>,
    /// How much it matters.
    pub severity: Option<&'static str>,
    /// Confidence that they conflict, 0 to 1; 0 if no rule matches.
    pub score: f64,
    /// Why, in a sentence.
    pub why: Option<String>,
    /// Whether they are near enough to be proposed to an author, whatever they say.
    pub near: bool,
    /// How likely they are about the same thing, 0 to 1, in hundredths.
    pub nearness: f64,
}

/// Compares the claims of a pair as if two agents had observed them on one day.
///
/// # Errors
/// A claim or a topic that could not be committed.
pub fn detect(pair: &ClaimPair) -> Result<Detection, Refusal> {
    let limits = Limits::default();
    let claim = |text| Ok::<_, Refusal>(Claim::read(&check_claim(text, &limits)?));
    let topic = |text: &Option<String>| check_topic(text.as_deref().unwrap_or_default());
    let (a, b) = (claim(&pair.a)?, claim(&pair.b)?);
    let (topic_a, topic_b) = (topic(&pair.topic_a)?, topic(&pair.topic_b)?);
    let found = tier::compare(&as_observation(&a, &topic_a), &as_observation(&b, &topic_b));
    let gist = Gist::of(&pair.a);
    let nearness = Sought::without_home(&gist).nearness(&Gist::of(&pair.b));
    Ok(Detection {
        conflict: found.is_some(),
        tier: found.as_ref().map(|it| it.tier.as_str()),
        severity: found.as_ref().map(|it| it.severity.as_str()),
        score: found.as_ref().map_or(0.0, |it| it.score),
        why: found.map(|it| it.why),
        near: nearness >= NEAR,
        nearness: (f64::from(nearness) * 100.0).round() / 100.0,
    })
}

/// A claim with the defaults of an agent's commit.
fn as_observation<'a>(claim: &'a Claim, topic: &'a str) -> Said<'a> {
    Said {
        claim,
        topic,
        fact_type: FactType::Observation,
        confidence: 0.7,
        valid_from: Timestamp::UNIX_EPOCH,
        valid_until: None,
    }
}
