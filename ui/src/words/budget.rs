//! What an agent has spent of its budget.

use engram_model::{Budget, Meter, Spending, thousands, visible};

/// The share of a limit from which a meter warns.
const NEAR: f64 = 0.8;

/// What is used of a meter, and its limit.
pub fn meter(meter: Meter) -> String {
    format!(
        "{}/{}",
        thousands(meter.used.into()),
        thousands(meter.limit.into())
    )
}

/// Whether little or nothing is left of a meter.
pub fn is_nearly_spent(meter: Meter) -> bool {
    meter.used >= meter.limit || meter.share() >= NEAR
}

/// Returns the fullest of the meters that count pointers, with its name; of equal ones, the first.
pub fn fullest_meter(budget: &Budget) -> (&'static str, Meter) {
    let [_, mut fullest, others @ ..] = budget.meters();
    for meter in others {
        if meter.1.share() > fullest.1.share() {
            fullest = meter;
        }
    }
    fullest
}

/// Returns all that an agent has spent in its turn, as a sentence.
pub fn spent(spending: &Spending) -> String {
    let of = |(what, meter): (_, Meter)| {
        let (used, limit) = (thousands(meter.used.into()), thousands(meter.limit.into()));
        format!("{used} of {limit} {what}")
    };
    let all = spending.budget.meters().map(of).join(", ");
    format!("{} in this turn: {all}", visible(&spending.agent))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_meter_warns_before_its_limit() {
        for (used, limit, want) in [
            (0, 1_200, false),
            (959, 1_200, false),
            (960, 1_200, true),
            (1_199, 1_200, true),
            (1_200, 1_200, true),
            (2_000, 1_200, true),
            (0, 0, true),
            (0, 2, false),
            (1, 2, false),
        ] {
            assert_eq!(
                is_nearly_spent(Meter { used, limit }),
                want,
                "{used}/{limit}"
            );
        }
    }

    #[test]
    fn what_an_agent_spent_is_said_by_its_fullest_meter() {
        let meter = |used, limit| Meter { used, limit };
        for (spans, sections, events, want) in [
            ((0, 3), (0, 2), (0, 2), ("spans", "0/3")),
            ((2, 3), (1, 2), (0, 2), ("spans", "2/3")),
            ((1, 3), (1, 2), (1, 2), ("sections", "1/2")),
            ((2, 3), (0, 2), (2, 2), ("events", "2/2")),
            ((0, 0), (0, 0), (0, 1_000), ("spans", "0/0")),
        ] {
            let budget = Budget {
                turn: String::new(),
                repo_spans: meter(spans.0, spans.1),
                artifact_sections: meter(sections.0, sections.1),
                sam_items: meter(events.0, events.1),
                tokens: meter(96, 1_200),
            };
            let (what, fullest) = fullest_meter(&budget);
            assert_eq!((what, &*super::meter(fullest)), want);
        }
        let spending = Spending {
            agent: "programmer\u{202e}".to_owned(),
            budget: Budget {
                turn: String::new(),
                repo_spans: meter(2, 3),
                artifact_sections: meter(0, 2),
                sam_items: meter(0, 2),
                tokens: meter(96, 1_200),
            },
            until: Timestamp::UNIX_EPOCH,
        };
        let said = spent(&spending);
        assert!(said.ends_with(
            " in this turn: 96 of 1,200 tokens, 2 of 3 spans, 0 of 2 sections, 0 of 2 events"
        ));
        assert!(!said.contains('\u{202e}'), "{said}");
    }
}
