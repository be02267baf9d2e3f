//! What the feed returns and counts, compared with checking every version by hand.

use engram_model::{
    AgentId, Change, Engram, EngramId, FactType, Feed, Filter, Kind, LineageId, Operation, Record,
    RunId, Scope,
    operation::{Agent, Opened, Redaction, Topics},
};
use engram_store::{Reader, Result, Store, StoreError};
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{
    PROJECT, UNDO_14, UNDO_SINCE_15, add, assert_sound, damage, engram, now, open, record,
};

/// Authors: a name, a handle, and the handle's role. A name is for display only.
const AUTHORS: [(&str, Option<&str>, Option<&str>); 6] = [
    ("user", None, None),
    ("manager-2", None, None),
    ("programmer-like", Some("h1"), Some("manager")),
    ("programmer-like", Some("h2"), Some("programmer")),
    ("Bö-12", Some("h3"), Some("Manager")),
    ("programmer-3", Some("h4"), None),
];

/// More versions than one page examines if the filter has words.
const MANY: u64 = 10_500;

fn minutes_after_start(minutes: i64) -> Timestamp {
    now() + SignedDuration::from_mins(minutes)
}

/// One version per minute; half of them end, one after the other.
fn version(number: u64) -> Engram {
    let claim = match number {
        3 => "A zebra, 100% \"striped\" and_so on.".to_owned(),
        4 => "Nearly 100 percent.".to_owned(),
        _ => format!("Claim {number} holds."),
    };
    let mut version = Engram::from(engram(u128::from(number) + 1, &claim));
    version.kind = Kind::ALL[number as usize % Kind::ALL.len()];
    version.fact_type = FactType::ALL[number as usize % 2];
    version.scope = Scope::ALL[number as usize / 3 % Scope::ALL.len()];
    version.topic = ["", "ledger", "ledger/locks", "ledgers"][number as usize % 4].to_owned();
    let (name, handle, role) = AUTHORS[number as usize / 5 % 6];
    version.provenance.created_by = name.to_owned();
    version.role = role.map(str::to_owned);
    version.agent = handle.map(|it| AgentId(it.to_owned()));
    version.verified = !number.is_multiple_of(7);
    version.recorded_at = minutes_after_start(number as i64);
    version.valid_from = version.recorded_at;
    version.expires_at = number
        .is_multiple_of(2)
        .then(|| minutes_after_start(number as i64 + 30));
    if number == 5 {
        version.tags = vec!["quick \"tag\"".to_owned()];
        version.pointers = vec!["repo:src/odd\"name.rs#L1@HEAD".parse().unwrap()];
    }
    version
}

fn opened_operation(handle: &str, label: &str, role: Option<&str>) -> Operation {
    Operation::Opened(Box::new(Opened {
        agent: Agent {
            handle: AgentId(handle.to_owned()),
            label: label.to_owned(),
            client: None,
            role: role.map(str::to_owned),
            parent: None,
            run: RunId(Ulid(3)),
            project: PROJECT,
            topics: Topics::default(),
            turn: "t1".to_owned(),
            last_call: now(),
            is_hidden: false,
            is_closed: false,
        },
        token: format!("token of {handle}"),
    }))
}

fn open_agents(store: &Store) {
    store
        .write::<_, StoreError>(now(), |writer| {
            AUTHORS.iter().try_for_each(|(name, handle, role)| {
                let opened = handle.map(|handle| opened_operation(handle, name, *role));
                opened.map_or(Ok(()), |opened| record(writer, opened).map(drop))
            })
        })
        .unwrap();
}

fn fill(store: &Store) {
    open_agents(store);
    for from in (0..MANY).step_by(500) {
        let numbers = from..MANY.min(from + 500);
        store
            .write::<_, StoreError>(minutes_after_start(from as i64), |it| {
                numbers
                    .into_iter()
                    .try_for_each(|number| add(it, version(number).into()).map(drop))
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
        ("an id", words(&version(9).id.to_string().to_lowercase())),
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
                authors: vec!["programmer-like".to_owned()],
                topic: "ledger/".to_owned(),
                ..Filter::default()
            },
        ),
        ("a role", roles(&["manager"])),
        ("roles in another case", roles(&["MANAGER", "Programmer"])),
        (
            "no role, but a name",
            roles(&["Bö-12", "user", "manager-2"]),
        ),
        ("without a role", roles(&[""])),
        (
            "a role that held then",
            Filter {
                held_at: Some(minutes_after_start(700)),
                ..roles(&["programmer"])
            },
        ),
        (
            "a role and a name",
            Filter {
                authors: vec!["Bö-12".to_owned(), "user".to_owned()],
                ..roles(&["manager"])
            },
        ),
        (
            "a time",
            Filter {
                since: Some(minutes_after_start(700)),
                until: Some(minutes_after_start(705)),
                ..Filter::default()
            },
        ),
        (
            "a time to come",
            Filter {
                since: Some(minutes_after_start(99_999)),
                ..Filter::default()
            },
        ),
        (
            "a time gone by",
            Filter {
                until: Some(minutes_after_start(0)),
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
                since: Some(minutes_after_start(10)),
                ..Filter::default()
            },
        ),
        (
            "what held then",
            Filter {
                held_at: Some(minutes_after_start(700)),
                ..Filter::default()
            },
        ),
        (
            "what held then, of a kind and a time",
            Filter {
                held_at: Some(minutes_after_start(700)),
                kinds: vec![Kind::Fact, Kind::Risk],
                since: Some(minutes_after_start(300)),
                until: Some(minutes_after_start(600)),
                topic: "ledger".to_owned(),
                ..Filter::default()
            },
        ),
        (
            "a word that held then",
            Filter {
                held_at: Some(minutes_after_start(MANY as i64 - 100)),
                ..words("zebra")
            },
        ),
        (
            "what held before anything",
            Filter {
                held_at: Some(minutes_after_start(-1)),
                ..Filter::default()
            },
        ),
        (
            "a word at a time",
            Filter {
                until: Some(minutes_after_start(4)),
                ..words("zebra")
            },
        ),
    ]
}

/// The results of all pages, and how many pages there were.
fn pages(
    reader: &Reader<'_>,
    filter: &Filter,
    oldest_first: bool,
) -> Result<(Vec<EngramId>, usize)> {
    let mut feed = Feed {
        after: oldest_first.then_some(0),
        limit: Some(1_000),
        filter: filter.clone(),
        ..Feed::default()
    };
    let (mut ids, mut count) = (Vec::new(), 0);
    loop {
        let (entries, next) = reader.feed(PROJECT, "", &feed, minutes_after_start(800))?;
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

/// A search finds these versions, newest first, and says the same about versions that others found.
fn searches_agree(store: &Store, what: &str, filter: &Filter, wanted: &[EngramId]) {
    let now = minutes_after_start(800);
    let (found, left, total) = store
        .read::<_, StoreError>(|reader| {
            let seqs = reader.versions_containing(PROJECT, "", filter, now, MANY as usize)?;
            let every: Vec<u64> = (1..=reader.head()?).collect();
            let left = reader.admitted_versions(PROJECT, "", filter, now, &every)?;
            let counted = reader.facets_among(PROJECT, "", filter, now, &every)?;
            let found = reader.stored_entries(&seqs)?;
            Ok((found, left.len(), counted.total))
        })
        .unwrap();
    let stored = found.iter().filter_map(|it| it.change.stored());
    let found: Vec<EngramId> = stored.map(|it| it.id).collect();
    assert_eq!(found, wanted, "{what}, in a search");
    assert_eq!((left, total), (wanted.len(), wanted.len() as u64), "{what}");
}

#[test]
fn a_filter_leaves_and_counts_what_it_admits() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    fill(&store);
    let all: Vec<Engram> = (0..MANY).map(version).collect();
    for (what, filter) in filters() {
        let admits = |filter: &Filter| -> Vec<&Engram> {
            all.iter()
                .filter(|it| filter.admits(it, minutes_after_start(800)))
                .collect()
        };
        // Half of the versions lie in the future; those of them that have a ttl count as ended.
        if let Some(ended) = filter.ended {
            let mut admitted = admits(&filter).into_iter();
            assert!(admitted.all(|it| it.holds_now(minutes_after_start(800)) != ended));
        }
        let mut wanted: Vec<EngramId> = admits(&filter).iter().map(|it| it.id).collect();
        let (found, facets) = store
            .read::<_, StoreError>(|reader| {
                let older = pages(reader, &filter, true)?;
                Ok((
                    (older, pages(reader, &filter, false)?),
                    reader.facets(PROJECT, "", &filter, minutes_after_start(800))?,
                ))
            })
            .unwrap();
        let (forth, back) = found;
        assert_eq!(forth.0, wanted, "{what}, oldest first");
        wanted.reverse();
        assert_eq!(back.0, wanted, "{what}, newest first");
        searches_agree(&store, what, &filter, &wanted);
        let is_rare =
            !filter.search_words().is_empty() && filter.until.is_none() && wanted.len() < 5;
        assert_eq!(
            facets.partial,
            !filter.search_words().is_empty() && filter.until.is_none(),
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
        for role in ["manager", "programmer", "Manager", "user", ""] {
            let of_role = Filter {
                roles: vec![role.to_owned()],
                ..filter.clone()
            };
            let is_one = ["manager", "programmer"].contains(&role);
            let want = admits(&of_role).len() as u64;
            let want = (is_one && want > 0).then_some(want);
            let found = facets.roles.iter().find(|it| it.0 == role);
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

/// Counts that are kept with each write, before and after a replay.
#[test]
fn engrams_that_hold_are_counted_as_by_hand() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    fill(&store);
    let closed: Vec<u64> = vec![1, 2, 1_001, 1_002];
    store
        .write::<_, StoreError>(minutes_after_start(MANY as i64), |writer| {
            for number in &closed {
                let id = EngramId(Ulid(u128::from(*number) + 1));
                record(writer, Operation::Forgotten(id))?;
                record(writer, Operation::Forgotten(id))?;
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
                .read::<_, StoreError>(|it| it.count_engrams(PROJECT, minutes_after_start(minutes)))
                .unwrap();
            assert_eq!(
                (count.holding, count.ever),
                (wanted, MANY),
                "after {minutes} minutes"
            );
        }
    };
    look(&store);
    store.rebuild(minutes_after_start(MANY as i64)).unwrap();
    look(&store);
    let all = store
        .read::<_, StoreError>(|it| {
            it.facets(PROJECT, "", &Filter::default(), minutes_after_start(800))
        })
        .unwrap();
    assert_eq!(all.total, MANY);
}

/// The numbers of the engrams that the feed lists for one role, oldest first, and the role shown
/// with each.
fn list_of_role(store: &Store, role: &str) -> Vec<(u128, Option<String>)> {
    let feed = Feed {
        after: Some(0),
        filter: Filter {
            roles: vec![role.to_owned()],
            ..Filter::default()
        },
        ..Feed::default()
    };
    let (entries, _) = store
        .read::<_, StoreError>(|it| it.feed(PROJECT, "", &feed, now()))
        .unwrap();
    let told = entries.into_iter().filter_map(|it| match it.change {
        Change::Stored(engram) => Some((engram.id.0.0, engram.role)),
        _ => None,
    });
    told.collect()
}

fn version_said_by(number: u128, handle: Option<&str>) -> Record {
    let mut version = engram(number, &format!("Claim {number}."));
    version.provenance.created_by = "programmer-like".to_owned();
    version.agent = handle.map(|it| AgentId(it.to_owned()));
    version
}

/// Claims of agents in their roles; one agent was opened again in another role, and one claim is
/// erased.
fn speak(store: &Store) {
    open_agents(store);
    let all = [
        Operation::Stored(Box::new(version_said_by(1, Some("h1")))),
        Operation::Stored(Box::new(version_said_by(2, Some("h2")))),
        Operation::Stored(Box::new(version_said_by(3, None))),
        Operation::Stored(Box::new(version_said_by(4, Some("nobody")))),
        Operation::Stored(Box::new(version_said_by(5, Some("h1")))),
        opened_operation("h2", "programmer-like", Some("Architect")),
        // A correction by the user leaves the claim with its author.
        Operation::Stored(Box::new(Record {
            supersedes: Some(EngramId(Ulid(2))),
            lineage_id: LineageId(Ulid(2)),
            content_hash: "sha256:new".to_owned(),
            ..version_said_by(6, Some("h2"))
        })),
        Operation::Redacted(Redaction {
            id: EngramId(Ulid(5)),
            ids: vec![EngramId(Ulid(5))],
            seqs: vec![9],
            ..Redaction::default()
        }),
    ];
    for operation in all {
        store
            .write::<_, StoreError>(now(), |it| record(it, operation))
            .unwrap();
    }
}

fn check_roles(store: &Store) {
    let one = |number, role: &str| vec![(number, Some(role.to_owned()))];
    assert_eq!(list_of_role(store, "manager"), one(1, "manager"));
    assert_eq!(list_of_role(store, "programmer"), one(2, "programmer"));
    assert_eq!(list_of_role(store, "architect"), one(6, "Architect"));
    assert_eq!(list_of_role(store, ""), [(3, None), (4, None), (5, None)]);
    let facets = store
        .read::<_, StoreError>(|it| it.facets(PROJECT, "", &Filter::default(), now()))
        .unwrap();
    let roles: Vec<_> = facets
        .roles
        .iter()
        .map(|it| (it.0.as_str(), it.1))
        .collect();
    assert_eq!(roles, [("architect", 1), ("manager", 1), ("programmer", 1)]);
    assert_sound(store);
}

/// An agent whose name is a role has the role of its handle, at the time when it said something.
#[test]
fn a_role_is_of_the_handle_and_never_of_the_name() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    speak(&store);
    check_roles(&store);
    store.rebuild(now()).unwrap();
    check_roles(&store);
}

#[test]
fn a_home_of_the_thirteenth_step_knows_the_roles_of_what_was_said() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    speak(&store);
    drop(store);
    damage(
        home.path(),
        &format!(
            "{UNDO_14} {UNDO_SINCE_15}
             PRAGMA user_version = 13"
        ),
    );
    check_roles(&open(home.path()));
}
