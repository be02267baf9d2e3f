//! Decides how much an agent may still read and write.

use engram_model::{Budget, Code, DerefLimits, Meter, PointerType, RateLimits, Refusal, Spend};

use crate::{ancestors::TIMES, prose::with_article};

/// The three classes of budgets that reads spend (docs/design.md#budgets).
enum BudgetClass {
    Repo,
    Artifact,
    Sam,
}

impl BudgetClass {
    fn of(kind: PointerType) -> Self {
        match kind {
            PointerType::Repo | PointerType::Diff | PointerType::Test => Self::Repo,
            PointerType::Artifact | PointerType::Url => Self::Artifact,
            PointerType::Sam => Self::Sam,
        }
    }
}

/// Returns how many tokens are left for one more pointer of this kind, or refuses it.
pub fn admit_by_budget(
    limits: &DerefLimits,
    spent: &Spend,
    kind: PointerType,
) -> Result<u32, Refusal> {
    tokens_left(limits, spent, kind).map_err(Full::refusal_of_turn)
}

/// Returns the refusal of a read for which too few tokens are left.
pub(crate) fn refuse_tokens(used: u32, limit: u32) -> Refusal {
    let name = "tokens";
    Full { used, limit, name }.refusal_of_turn()
}

/// A limit that is used up.
pub(crate) struct Full {
    pub(crate) used: u32,
    pub(crate) limit: u32,
    /// The figure's name in `budget`; for a rate, its period.
    name: &'static str,
}

/// Returns how many tokens are left for one more pointer of this kind.
pub(crate) fn tokens_left(
    limits: &DerefLimits,
    spent: &Spend,
    kind: PointerType,
) -> Result<u32, Full> {
    let (used, limit, name) = match BudgetClass::of(kind) {
        BudgetClass::Repo => (spent.repo_spans, limits.repo_spans, "repo_spans"),
        BudgetClass::Artifact => (
            spent.artifact_sections,
            limits.artifact_sections,
            "artifact_sections",
        ),
        BudgetClass::Sam => (spent.sam_items, limits.sam_items, "sam_items"),
    };
    if used >= limit {
        return Err(Full { used, limit, name });
    }
    match limits.tokens.checked_sub(spent.tokens) {
        None | Some(0) => Err(Full {
            used: spent.tokens,
            limit: limits.tokens,
            name: "tokens",
        }),
        Some(left) => Ok(left),
    }
}

impl Full {
    fn refusal_of_turn(self) -> Refusal {
        self.refusal(
            "this turn has used",
            "Query what others already know, or continue without this read. To read more, ask again and give a reason: your parent or the user answers.",
        )
    }

    pub(crate) fn refusal(&self, whose: &str, hint: &str) -> Refusal {
        let Self { used, limit, name } = self;
        let what = match *name {
            "tokens" => "dereferenced tokens".to_owned(),
            name => name.replace('_', " "),
        };
        Refusal::new(
            Code::DerefDenied,
            format!("{whose} {used} of {limit} {what}"),
            hint,
        )
        .figure(*name, (*used).into(), (*limit).into())
    }
}

/// Returns the spend after one pointer of this kind was read for `tokens`.
pub fn charge(spent: Spend, kind: PointerType, tokens: u32) -> Spend {
    let mut after = spent;
    let class = match BudgetClass::of(kind) {
        BudgetClass::Repo => &mut after.repo_spans,
        BudgetClass::Artifact => &mut after.artifact_sections,
        BudgetClass::Sam => &mut after.sam_items,
    };
    *class = class.saturating_add(1);
    after.tokens = after.tokens.saturating_add(tokens);
    after
}

/// Returns the spend as shown to the agent, beside its limits.
pub fn budget_of(limits: &DerefLimits, spent: &Spend, turn: &str) -> Budget {
    let meter = |used, limit| Meter { used, limit };
    Budget {
        turn: turn.to_owned(),
        repo_spans: meter(spent.repo_spans, limits.repo_spans),
        artifact_sections: meter(spent.artifact_sections, limits.artifact_sections),
        sam_items: meter(spent.sam_items, limits.sam_items),
        tokens: meter(spent.tokens, limits.tokens),
    }
}

/// Together, all agents that nobody opened may write this many times one agent's limit.
const STRANGERS: u32 = 4;

/// Checks whether an agent with this many recent writes may write once more.
pub fn admit_write(limits: &RateLimits, last_minute: u32, last_hour: u32) -> Result<(), Refusal> {
    check_rates(1, limits, last_minute, last_hour).map_err(
        |Full {
             used,
             limit,
             name: time,
         }| {
            Refusal::new(
                Code::RateLimited,
                format!("{used} of {limit} writes were used in the last {time}"),
                wait(time),
            )
        },
    )
}

/// Checks whether an agent that nobody opened may write once more, given the recent writes of all
/// such agents.
pub fn admit_stranger_write(
    limits: &RateLimits,
    last_minute: u32,
    last_hour: u32,
) -> Result<(), Refusal> {
    check_rates(STRANGERS, limits, last_minute, last_hour).map_err(|Full { limit, name, .. }| {
        let time = with_article(name);
        Refusal::new(
            Code::RateLimited,
            format!("agents without a token share {limit} writes {time}, and all are used"),
            format!(
                "Wait up to {time}, or ask the user to run `engram agents open NAME`: an agent with a token has its own limits."
            ),
        )
    })
}

/// Checks whether an agent may write once more, given the recent writes of its whole tree.
pub fn admit_tree_write(
    limits: &RateLimits,
    last_minute: u32,
    last_hour: u32,
) -> Result<(), Refusal> {
    check_rates(TIMES, limits, last_minute, last_hour).map_err(|Full { limit, name, .. }| {
        let time = with_article(name);
        Refusal::new(
            Code::RateLimited,
            format!("an agent and all below it share {limit} writes {time}, and all are used"),
            wait(name),
        )
    })
}

/// Returns the hint for a rate that is used up.
fn wait(time: &str) -> String {
    format!(
        "Wait up to {}; meanwhile, collect findings and merge those that say the same thing.",
        with_article(time)
    )
}

/// Checks the recent writes against `times` the limits.
fn check_rates(
    times: u32,
    limits: &RateLimits,
    last_minute: u32,
    last_hour: u32,
) -> Result<(), Full> {
    let rates = [
        (last_minute, limits.per_minute, "minute"),
        (last_hour, limits.per_hour, "hour"),
    ];
    let full = rates
        .into_iter()
        .map(|(used, limit, name)| Full {
            used,
            limit: limit.saturating_mul(times),
            name,
        })
        .find(|it| it.used >= it.limit);
    full.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    const KINDS: [PointerType; 6] = [
        PointerType::Repo,
        PointerType::Artifact,
        PointerType::Sam,
        PointerType::Url,
        PointerType::Test,
        PointerType::Diff,
    ];

    /// Reads pointers of these kinds in order at `cost` tokens each; returns how many it read, and
    /// why it stopped.
    fn read(kinds: &[PointerType], cost: u32) -> (usize, Option<Refusal>) {
        let limits = DerefLimits::default();
        let mut spent = Spend::default();
        for (at, kind) in kinds.iter().enumerate() {
            match admit_by_budget(&limits, &spent, *kind) {
                Ok(left) => spent = charge(spent, *kind, cost.min(left)),
                Err(refusal) => return (at, Some(refusal)),
            }
        }
        (kinds.len(), None)
    }

    #[test]
    fn each_class_and_the_tokens_run_out_and_say_so() {
        use PointerType::*;
        for (kinds, cost, read_ok, says) in [
            (vec![Repo; 4], 10, 3, "3 of 3 repo spans"),
            (vec![Repo, Diff, Test, Test], 10, 3, "3 of 3 repo spans"),
            (vec![Artifact, Url, Url], 10, 2, "2 of 2 artifact sections"),
            (vec![Sam; 3], 10, 2, "2 of 2 sam items"),
            (
                vec![Repo, Sam, Url],
                600,
                2,
                "1200 of 1200 dereferenced tokens",
            ),
            (vec![Repo, Repo, Repo, Sam, Sam, Url, Artifact], 1, 7, ""),
        ] {
            let (count, refusal) = read(&kinds, cost);
            assert_eq!(count, read_ok, "{kinds:?}");
            match refusal {
                None => assert!(says.is_empty()),
                Some(refusal) => {
                    assert_eq!(refusal.code, Code::DerefDenied);
                    assert!(refusal.message.contains(says), "{}", refusal.message);
                    assert!(refusal.hint.contains("Query"));
                }
            }
        }
    }

    #[test]
    fn a_budget_shows_spend_and_limit() {
        let spent = charge(Spend::default(), PointerType::Diff, 70);
        let shown = budget_of(&DerefLimits::default(), &spent, "t1");
        assert_eq!(shown.turn, "t1");
        assert_eq!(shown.repo_spans, Meter { used: 1, limit: 3 });
        assert_eq!(shown.sam_items, Meter { used: 0, limit: 2 });
        assert_eq!(
            shown.tokens,
            Meter {
                used: 70,
                limit: 1200
            }
        );
    }

    #[test]
    fn commits_are_limited_by_the_minute_and_the_hour() {
        for (minute, hour, says) in [
            (0, 0, None),
            (19, 49, None),
            (20, 20, Some("last minute")),
            (0, 50, Some("last hour")),
            (u32::MAX, u32::MAX, Some("last minute")),
        ] {
            let refusal = admit_write(&RateLimits::default(), minute, hour).err();
            assert_eq!(refusal.is_some(), says.is_some(), "{minute} {hour}");
            if let (Some(refusal), Some(says)) = (refusal, says) {
                assert_eq!(refusal.code, Code::RateLimited);
                assert!(refusal.message.contains(says) && !refusal.hint.is_empty());
            }
        }
    }

    proptest! {
        #[test]
        fn no_turn_reads_more_than_its_limits(
            reads in prop::collection::vec((0usize..6, 0u32..700), 0..40),
        ) {
            let limits = DerefLimits::default();
            let mut spent = Spend::default();
            for (kind, wanted) in reads {
                if let Ok(left) = admit_by_budget(&limits, &spent, KINDS[kind]) {
                    prop_assert!(left > 0);
                    spent = charge(spent, KINDS[kind], wanted.min(left));
                }
            }
            prop_assert!(spent.repo_spans <= limits.repo_spans);
            prop_assert!(spent.artifact_sections <= limits.artifact_sections);
            prop_assert!(spent.sam_items <= limits.sam_items);
            prop_assert!(spent.tokens <= limits.tokens);
        }

        #[test]
        fn figures_never_overflow(a in any::<u32>(), b in any::<u32>(), kind in 0usize..6) {
            let spent = Spend { repo_spans: a, artifact_sections: a, sam_items: a, tokens: a };
            let after = charge(spent, KINDS[kind], b);
            prop_assert!(after.tokens >= spent.tokens);
            let _ = admit_by_budget(&DerefLimits::default(), &after, KINDS[kind]);
        }
    }
}
