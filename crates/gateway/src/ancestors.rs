//! Limits what all agents below an agent together may read in its turn. Otherwise, an agent with
//! narrowed budgets could read through a child, by starting a new turn of the child each time.

use engram_model::{DerefLimits, PointerType, Refusal, operation::ReadBelow};

use crate::{budget::tokens_left, charge};

/// In an agent's turn, all agents below it together may read this many times its own limits. Its
/// tree may write this many times its write limits.
pub(crate) const TIMES: u32 = 10;

/// An agent above the reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Ancestor {
    /// What it may read itself in one turn.
    pub limits: DerefLimits,
    /// What all agents below it have read in its turn.
    pub below: ReadBelow,
}

/// Checks whether the agents above the reader, its parent first, allow one more pointer of this
/// kind; returns how many tokens are left for it.
pub fn admit_by_ancestors(ancestors: &[Ancestor], kind: PointerType) -> Result<u32, Refusal> {
    let mut least = u32::MAX;
    for (at, ancestor) in ancestors.iter().enumerate() {
        let whose = match at {
            0 => "in your parent's turn, the agents below it have read",
            _ => "in the turn of an agent above your parent, the agents below it have read",
        };
        let left = tokens_left(&times(&ancestor.limits), &ancestor.below.spent, kind).map_err(|mut full| {
            // The reader must not learn what the others read before the limit was narrowed.
            full.used = full.limit;
            full.refusal(
                whose,
                "Query what others already know, wait for that agent's next turn, or ask the user to grant the read; an agent's grant does not help.",
            )
        })?;
        least = least.min(left);
    }
    Ok(least)
}

fn times(limits: &DerefLimits) -> DerefLimits {
    DerefLimits {
        repo_spans: limits.repo_spans.saturating_mul(TIMES),
        artifact_sections: limits.artifact_sections.saturating_mul(TIMES),
        sam_items: limits.sam_items.saturating_mul(TIMES),
        tokens: limits.tokens.saturating_mul(TIMES),
        ..limits.clone()
    }
}

/// Returns what the agents below each ancestor have read, after one pointer of this kind was read
/// for `tokens`.
pub fn charge_ancestors(ancestors: &[Ancestor], kind: PointerType, tokens: u32) -> Vec<ReadBelow> {
    let after = |ancestor: &Ancestor| ReadBelow {
        spent: charge(ancestor.below.spent, kind, tokens),
        ..ancestor.below.clone()
    };
    ancestors.iter().map(after).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use engram_model::{AgentId, Code, Spend};

    use super::*;

    fn ancestor(limits: DerefLimits, spent: Spend) -> Ancestor {
        Ancestor {
            limits,
            below: ReadBelow {
                agent: AgentId("lead".to_owned()),
                turn: "t".to_owned(),
                spent,
            },
        }
    }

    fn spans(most: u32, read: u32) -> Ancestor {
        let limits = DerefLimits {
            repo_spans: most,
            ..DerefLimits::default()
        };
        let spent = Spend {
            repo_spans: read,
            tokens: read,
            ..Spend::default()
        };
        ancestor(limits, spent)
    }

    #[test]
    fn each_one_above_bounds_what_those_below_it_read() {
        let spent = |tokens| Spend {
            tokens,
            ..Spend::default()
        };
        for (ancestors, left, says) in [
            (vec![], Some(u32::MAX), ""),
            (vec![spans(3, 29)], Some(11_971), ""),
            (vec![spans(3, 30)], None, "your parent's turn"),
            (
                vec![spans(1, 10), spans(3, 30)],
                None,
                "read 10 of 10 repo spans",
            ),
            (vec![spans(3, 0), spans(1, 10)], None, "above your parent"),
            // The limits were narrowed during its turn.
            (vec![spans(0, 7)], None, "read 0 of 0 repo spans"),
            (
                vec![spans(3, 5), ancestor(DerefLimits::default(), spent(11_990))],
                Some(10),
                "",
            ),
            (
                vec![ancestor(DerefLimits::default(), spent(12_000))],
                None,
                "12000 of 12000 dereferenced tokens",
            ),
            (vec![spans(u32::MAX, u32::MAX - 1)], None, "tokens"),
        ] {
            let admitted = admit_by_ancestors(&ancestors, PointerType::Repo);
            assert_eq!(admitted.as_ref().ok().copied(), left, "{ancestors:?}");
            if let Err(refusal) = admitted {
                assert_eq!(refusal.code, Code::DerefDenied);
                assert!(refusal.message.contains(says), "{refusal}");
                assert!(refusal.hint.contains("the user"), "{refusal}");
            }
        }
        let after = charge_ancestors(&[spans(1, 9), spans(3, 20)], PointerType::Test, 40);
        let after: Vec<_> = after.iter().map(|it| it.spent).collect();
        assert_eq!(
            after
                .iter()
                .map(|it| (it.repo_spans, it.tokens))
                .collect::<Vec<_>>(),
            [(10, 49), (21, 60)]
        );
    }
}
