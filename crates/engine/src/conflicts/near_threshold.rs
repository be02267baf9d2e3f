//! How near two claims must be to be proposed. It begins as the threshold that was measured, and
//! moves with each hundred words of people on pairs that were proposed: up where they call more than
//! a tenth of them compatible, down where fewer. It is computed from the words that stand, and kept
//! until the next one. Claims on topics of high stakes need less nearness.

use engram_consistency::near::NEAR;
use engram_model::is_on_topic;
use engram_store::{NearPairs, Reader, StoreError};
use parking_lot::Mutex;

use crate::context::Context;

/// How many words move it once.
const WORDS: usize = 100;
/// How far it moves if all of them say the same, and the share of dismissals that keeps it.
const STEP: f32 = 0.05;
const EXPECTED: f32 = 0.1;
/// How far it moves at most.
const LOWEST: f32 = 0.45;
const HIGHEST: f32 = 0.6;
/// How much lower the threshold is on a topic of high stakes (decision 30).
const LESS: f32 = 0.05;

/// The last result, and the entry up to which it counts.
#[derive(Default)]
pub(crate) struct KeptThreshold(Mutex<Option<(u64, f32)>>);

impl KeptThreshold {
    /// Clears the cache, because another home has other entries.
    pub(crate) fn forget(&self) {
        *self.0.lock() = None;
    }
}

/// How near two claims must be, on topics of high stakes and elsewhere.
pub(super) struct NearThreshold {
    usual: f32,
    at_high_stakes: f32,
}

impl NearThreshold {
    pub(super) fn of(cx: &Context<'_>, tx: &Reader<'_>) -> Result<Self, StoreError> {
        let usual = usual_threshold(cx, tx)?;
        Ok(Self {
            usual,
            at_high_stakes: (usual - LESS).max(LOWEST),
        })
    }

    /// The least nearness that may be enough.
    pub(super) fn least(&self, cx: &Context<'_>) -> f32 {
        if cx.engine.config.consistency.high_stakes.is_empty() {
            self.usual
        } else {
            self.at_high_stakes
        }
    }

    /// The nearness that is enough for two claims, of which either may be on a topic of high stakes.
    pub(super) fn for_topics(&self, cx: &Context<'_>, topics: [&str; 2]) -> f32 {
        if topics.iter().any(|it| is_of_high_stakes(cx, it)) {
            self.at_high_stakes
        } else {
            self.usual
        }
    }
}

/// Whether the user marked a topic, or one above it, as one of high stakes.
pub(crate) fn is_of_high_stakes(cx: &Context<'_>, topic: &str) -> bool {
    let marked = &cx.engine.config.consistency.high_stakes;
    marked.iter().any(|it| is_on_topic(topic, it))
}

/// The threshold of this home.
fn usual_threshold(cx: &Context<'_>, tx: &Reader<'_>) -> Result<f32, StoreError> {
    let mut kept = cx.engine.caches.near_threshold.0.lock();
    let (head, pairs) = (tx.head()?, NearPairs::of(tx));
    if let Some((seen, threshold)) = &mut *kept
        && *seen <= head
        && !pairs.is_answered_after(*seen)?
    {
        *seen = head;
        return Ok(*threshold);
    }
    let threshold = threshold_after(&pairs.dismissals_by_person()?);
    *kept = Some((head, threshold));
    Ok(threshold)
}

/// The threshold after these words, each of which dismissed a pair or not.
fn threshold_after(dismissed: &[bool]) -> f32 {
    dismissed
        .chunks_exact(WORDS)
        .fold(NEAR, |threshold, words| {
            let share = words.iter().filter(|it| **it).count() as f32 / WORDS as f32;
            (threshold + STEP * (share - EXPECTED)).clamp(LOWEST, HIGHEST)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_alarms_raise_it_a_hundred_words_at_a_time() {
        for (dismissed, other, expected) in [
            (0, 0, 0.5),
            (99, 0, 0.5),
            (100, 0, 0.545),
            (0, 100, 0.495),
            // As many as expected.
            (10, 90, 0.5),
            (50, 50, 0.52),
            (199, 0, 0.545),
            (200, 0, 0.59),
            (100, 100, 0.54),
            (900, 0, HIGHEST),
            (0, 5_000, LOWEST),
        ] {
            let words = [vec![true; dismissed], vec![false; other]].concat();
            let threshold = threshold_after(&words);
            assert!(
                (threshold - expected).abs() < 1e-5,
                "{dismissed} {other}: {threshold}"
            );
        }
    }
}
