//! What the feed leaves and counts, held against looking at every version by hand.

use std::collections::BTreeSet;

use engram_model::{
    Change, Engram, EngramId, FactType, Feed, Filter, Kind, Operation, Scope, role_of,
};
use engram_store::{Reader, Result, Store, StoreError};
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{PROJECT, add, engram, now, open, record};

/// More than one page looks at, where words are looked for.
const MANY: u64 = 10_500;

fn at(minutes: i64) -> Timestamp {
    now() + SignedDuration::from_mins(minutes)
}

/// One a minute; half of them end, one after the other.
fn version(number: u64) -> Engram {
    let claim = match number {
        3 => "A zebra, 100% \"striped\" and_so on.".to_owned(),
        4 => "Nearly 100 percent.".to_owned(),
        _ => format!("Claim {number} holds."),
    };
    let mut it = engram(u128::from(number) + 1, &claim);
    it.kind = Kind::ALL[number as usize % Kind::ALL.len()];
    it.fact_type = FactType::ALL[number as usize % 2];
    it.scope = Scope::ALL[number as usize / 3 % Scope::ALL.len()];
    it.topic = ["", "ledger", "ledger/locks", "ledgers"][number as usize % 4].to_owned();
    it.provenance.created_by =
        ["Ann", "Bo", "Bo-2", "Bö-12", "Bo-b-3", "-4"][number as usize / 5 % 6].to_owned();
    it.verified = !number.is_multiple_of(7);
    it.recorded_at = at(number as i64);
    it.valid_from = it.recorded_at;
    it.expires_at = number.is_multiple_of(2).then(|| at(number as i64 + 30));
    if number == 5 {
        it.tags = vec!["quick \"tag\"".to_owned()];
        it.pointers = vec!["repo:src/odd\"name.rs#L1@HEAD".parse().unwrap()];
    }
    it
}

fn fill(store: &Store) {
    for from in (0..MANY).step_by(500) {
        let numbers = from..MANY.min(from + 500);
        store
            .write::<_, StoreError>(at(from as i64), |it| {
                numbers
                    .into_iter()
                    .try_for_each(|number| add(it, version(number)).map(drop))
            })
            .unwrap();
    }
}

fn filters() -> Vec<(&'static str, Filter)> {
    let words = |text: &str| Filter {
        text: text.to_owned(),
        ..Filter::default()
    };
    let roles = |roles: &[&str]| Filter {
        roles: roles.iter().map(|it| (*it).to_owned()).collect(),
        ..Filter::default()
    };
    vec![
        ("a rare word", words("ZEBRA")),
        ("a sign of SQL", words("100%")),
        ("another", words("and_so")),
        ("a quote", words("\"striped\"")),
        ("a tag with a quote", words("\"tag\"")),
        ("a pointer with a quote", words("odd\"name")),
        ("a pointer", words("src/odd")),
        ("a word of the table", words("observation holds")),
        ("none", words("quagga")),
        (
            "a kind",
            Filter {
                kinds: vec![Kind::Fact],
                ..Filter::default()
            },
        ),
        (
            "lists together",
            Filter {
                kinds: vec![Kind::Fact, Kind::Risk],
                scopes: vec![Scope::Project],
                fact_types: vec![FactType::Observation],
                verified: Some(true),
                authors: vec!["Bo".to_owned()],
                topic: "ledger/".to_owned(),
                ..Filter::default()
            },
        ),
        ("a role", roles(&["Bo"])),
        ("roles beyond ASCII", roles(&["Bö", "Ann", "Bo-b"])),
        ("no role, but a name", roles(&["Bo-2", "Bo-", ""])),
        (
            "a role and a name",
            Filter {
                authors: vec!["Bo-2".to_owned(), "Ann".to_owned()],
                ..roles(&["Bo"])
            },
        ),
        (
            "a time",
            Filter {
                since: Some(at(700)),
                until: Some(at(705)),
                ..Filter::default()
            },
        ),
        (
            "a time to come",
            Filter {
                since: Some(at(99_999)),
                ..Filter::default()
            },
        ),
        (
            "a time gone by",
            Filter {
                until: Some(at(0)),
                ..Filter::default()
            },
        ),
        (
            "what holds",
            Filter {
                ended: Some(false),
                kinds: vec![Kind::Fact],
                ..Filter::default()
            },
        ),
        (
            "what has ended",
            Filter {
                ended: Some(true),
                since: Some(at(10)),
                ..Filter::default()
            },
        ),
        (
            "what held then",
            Filter {
                held_at: Some(at(700)),
                ..Filter::default()
            },
        ),
        (
            "what held then, of a kind and a time",
            Filter {
                held_at: Some(at(700)),
                kinds: vec![Kind::Fact, Kind::Risk],
                since: Some(at(300)),
                until: Some(at(600)),
                topic: "ledger".to_owned(),
                ..Filter::default()
            },
        ),
        (
            "a word that held then",
            Filter {
                held_at: Some(at(MANY as i64 - 100)),
                ..words("zebra")
            },
        ),
        (
            "what held before anything",
            Filter {
                held_at: Some(at(-1)),
                ..Filter::default()
            },
        ),
        (
            "a word at a time",
            Filter {
                until: Some(at(4)),
                ..words("zebra")
            },
        ),
    ]
}

/// All that pages lead to, and how many there were.
fn pages(it: &Reader<'_>, filter: &Filter, oldest_first: bool) -> Result<(Vec<EngramId>, usize)> {
    let mut feed = Feed {
        after: oldest_first.then_some(0),
        limit: Some(1_000),
        filter: filter.clone(),
        ..Feed::default()
    };
    let (mut ids, mut count) = (Vec::new(), 0);
    loop {
        let (entries, next) = it.feed(PROJECT, "", &feed, at(800))?;
        count += 1;
        ids.extend(entries.iter().filter_map(|it| match &it.change {
            Change::Stored(engram) => Some(engram.id),
            _ => None,
        }));
        match (next, oldest_first) {
            (None, _) => return Ok((ids, count)),
            (next, true) => feed.after = next,
            (next, false) => feed.before = next,
        }
    }
}

#[test]
fn a_filter_leaves_and_counts_what_it_admits() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    fill(&store);
    let all: Vec<Engram> = (0..MANY).map(version).collect();
    for (what, filter) in filters() {
        let admits = |filter: &Filter| -> Vec<&Engram> {
            all.iter().filter(|it| filter.admits(it, at(800))).collect()
        };
        let mut wanted: Vec<EngramId> = admits(&filter).iter().map(|it| it.id).collect();
        let (found, facets) = store
            .read::<_, StoreError>(|it| {
                let older = pages(it, &filter, true)?;
                Ok((
                    (older, pages(it, &filter, false)?),
                    it.facets(PROJECT, "", &filter, at(800))?,
                ))
            })
            .unwrap();
        let (forth, back) = found;
        assert_eq!(forth.0, wanted, "{what}, oldest first");
        wanted.reverse();
        assert_eq!(back.0, wanted, "{what}, newest first");
        let is_rare = !filter.words().is_empty() && filter.until.is_none() && wanted.len() < 5;
        assert_eq!(
            facets.partial,
            !filter.words().is_empty() && filter.until.is_none(),
            "{what}"
        );
        assert!(
            !is_rare || back.1 > 1,
            "{what} is looked for a stretch at a time"
        );
        if facets.partial {
            continue;
        }
        assert_eq!(facets.total, wanted.len() as u64, "{what}");
        for kind in Kind::ALL {
            let one = Filter {
                kinds: vec![*kind],
                ..filter.clone()
            };
            let found = facets.kinds.iter().find(|it| it.0 == *kind);
            assert_eq!(
                found.map_or(0, |it| it.1),
                admits(&one).len() as u64,
                "{what}, {kind:?}"
            );
        }
        for role in ["Bo", "Bö", "Bo-b", "Ann", "-4"] {
            let bare = Filter {
                roles: Vec::new(),
                ..filter.clone()
            };
            let names: BTreeSet<&str> = admits(&bare)
                .iter()
                .map(|it| it.provenance.created_by.as_str())
                .filter(|it| role_of(it) == role)
                .collect();
            let of_role = Filter {
                roles: vec![role.to_owned()],
                ..filter.clone()
            };
            // Who is alone in a role of the same name is listed as an agent only.
            let is_listed = names.iter().any(|it| *it != role);
            let found = facets.roles.iter().find(|it| it.0 == role);
            let want = is_listed.then(|| admits(&of_role).len() as u64);
            assert_eq!(found.map(|it| it.1), want, "{what}, {role}");
        }
        for topic in ["ledger", "ledger/locks", "ledgers"] {
            let bare = Filter {
                topic: String::new(),
                ..filter.clone()
            };
            let of_topic = admits(&bare).iter().filter(|it| it.topic == topic).count() as u64;
            let found = facets.topics.iter().find(|it| it.0 == topic);
            assert_eq!(found.map_or(0, |it| it.1), of_topic, "{what}, {topic}");
        }
    }
}

/// What is counted as it is written, before and after it is all done again.
#[test]
fn engrams_that_hold_are_counted_as_by_hand() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    fill(&store);
    let closed: Vec<u64> = vec![1, 2, 1_001, 1_002];
    store
        .write::<_, StoreError>(at(MANY as i64), |it| {
            for number in &closed {
                let id = EngramId(Ulid(u128::from(*number) + 1));
                record(it, Operation::Forgotten(id))?;
                record(it, Operation::Forgotten(id))?;
            }
            Ok(())
        })
        .unwrap();
    let look = |store: &Store| {
        for minutes in [-5, 0, 29, 30, 31, 60, 1_032, 1_033, 20_000] {
            let open = |it: &&u64| !closed.contains(it);
            let holds = |it: &&u64| **it % 2 == 1 || **it as i64 + 30 > minutes;
            let numbers: Vec<u64> = (0..MANY).collect();
            let wanted = numbers.iter().filter(open).filter(holds).count() as u64;
            let count = store
                .read::<_, StoreError>(|it| it.count_engrams(PROJECT, at(minutes)))
                .unwrap();
            assert_eq!(
                (count.holding, count.ever),
                (wanted, MANY),
                "after {minutes} minutes"
            );
        }
    };
    look(&store);
    store.rebuild(at(MANY as i64)).unwrap();
    look(&store);
    let all = store
        .read::<_, StoreError>(|it| it.facets(PROJECT, "", &Filter::default(), at(800)))
        .unwrap();
    assert_eq!(all.total, MANY);
}
