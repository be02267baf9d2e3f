//! The conditions of a filter as chips, each of which can be removed.

use engram_model::Filter;
use jiff::tz::Offset;

use crate::{
    days::{date_of, last_day},
    words::{
        self,
        say::{
            filter::{STATES, chip},
            state,
        },
    },
};

/// One condition of a filter, as a chip that can be removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Chip {
    /// What it is about.
    pub what: &'static str,
    /// The value that it asks for.
    pub value: String,
    /// The filter without it.
    pub without: Filter,
}

/// Returns the conditions of a filter, except its text, which has a field of its own.
pub fn chips_of(filter: &Filter, offset: Offset) -> Vec<Chip> {
    let mut chips = Vec::new();
    let mut add = |what, value: String, take: &dyn Fn(&mut Filter)| {
        let mut without = filter.clone();
        take(&mut without);
        chips.push(Chip {
            what,
            value,
            without,
        });
    };
    for kind in &filter.kinds {
        let word = words::kind(*kind).to_owned();
        add(chip::KIND, word, &|it| {
            it.kinds.retain(|other| other != kind)
        });
    }
    for scope in &filter.scopes {
        add(chip::SCOPE, scope.to_string(), &|it| {
            it.scopes.retain(|other| other != scope)
        });
    }
    for fact_type in &filter.fact_types {
        add(chip::TYPE, fact_type.to_string(), &|it| {
            it.fact_types.retain(|other| other != fact_type)
        });
    }
    for role in &filter.roles {
        add(chip::ROLE, role.clone(), &|it| {
            it.roles.retain(|other| other != role)
        });
    }
    for author in &filter.authors {
        let name = words::author_name(author).to_owned();
        add(chip::BY, name, &|it| {
            it.authors.retain(|other| other != author)
        });
    }
    if !filter.topic.is_empty() {
        add(chip::TOPIC, filter.topic.clone(), &|it| it.topic.clear());
    }
    if let Some(verified) = filter.verified {
        let word = if verified {
            state::VERIFIED
        } else {
            state::UNVERIFIED
        };
        add(chip::AS_STORED, word.to_owned(), &|it| it.verified = None);
    }
    if let Some(ended) = filter.ended {
        let (_, word) = STATES[usize::from(ended)];
        add(chip::STATE, word.to_owned(), &|it| it.ended = None);
    }
    for standing in &filter.health {
        let word = words::standing(*standing).to_owned();
        // The word is “evidence gone” where no label comes before it; here one does.
        let word = word.trim_start_matches("evidence ").to_owned();
        add(chip::EVIDENCE, word, &|it| {
            it.health.retain(|other| other != standing)
        });
    }
    if let Some(at) = filter.since {
        add(chip::SINCE, date_of(at, offset), &|it| it.since = None);
    }
    if let Some(at) = filter.until {
        add(chip::UNTIL, last_day(at, offset), &|it| it.until = None);
    }
    chips
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Route;

    const HERE: Offset = Offset::constant(2);

    #[test]
    fn each_chip_takes_its_condition_away() {
        let query = "?kind=risk&kind=fact&agent=user&ended=yes&health=evidence_gone&since=2026-11-20&until=2026-11-21";
        let filter = Route::parse(query, HERE).filter;
        let chips = chips_of(&filter, HERE);
        let told: Vec<_> = chips
            .iter()
            .map(|it| format!("{} {}", it.what, it.value))
            .collect();
        assert_eq!(
            told,
            [
                "kind risk",
                "kind fact",
                "by you",
                "state ended",
                "evidence gone",
                "since 2026-11-20",
                "until 2026-11-21"
            ]
        );
        assert_eq!(chips[0].without.kinds.len(), 1);
        assert_eq!(chips[3].without.ended, None);
        assert_eq!(chips[4].without.health, []);
        assert_eq!(chips[5].without.since, None);
        assert_eq!(chips[6].without.until, None);
    }
}
