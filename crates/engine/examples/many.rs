//! Builds a home with very many engrams, and times the window's requests there.
//!
//! `cargo run --release -p engram-engine --example many -- HOME REPO N` fills a home up to N
//! engrams through the store's own write path (the same N gives the same claims), lets the index
//! read them, and times each request. With a fourth argument, SECONDS, it instead writes N engrams
//! a second for that long. REPO must have a committed `src/file0.rs`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use engram_engine::{Engine, Options, World};
use engram_model::{
    Caller, Draft, EngramId, FactType, Feed, Filter, Kind, LineageId, Operation, PointerInput,
    Query, Record, Refusal, Reply, Request, Scope, Search,
};
use engram_store::{Doorbell, NewEntry, Store, StoreError};
use jiff::{SignedDuration, Timestamp};
use ulid::Ulid;

/// How many engrams one transaction writes.
const BATCH: u64 = 10_000;
/// How often each request is sent.
const ASKED: usize = 15;

fn main() {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (home, repo) = (args.next().unwrap(), args.next().unwrap());
    let wanted: u64 = args.next().unwrap().to_str().unwrap().parse().unwrap();
    if let Some(seconds) = args.next() {
        return flood(
            &home,
            &repo,
            wanted,
            seconds.to_str().unwrap().parse().unwrap(),
        );
    }
    let begun = Timestamp::now() - SignedDuration::from_hours(24 * 90);
    let options = Options {
        home: home.clone(),
        repo: Some(repo.clone()),
        from: repo,
    };
    let store = Store::open(&home, Ulid(7)).unwrap();
    let engine = Engine::open(options.clone()).unwrap();
    let there = match ask(&engine, Request::Status) {
        Reply::Status(status) => status.engrams,
        other => panic!("{other:?}"),
    };
    if there < wanted {
        let then = Engine::open_in(options, World::seeded(1, move || begun)).unwrap();
        let first = first(&then);
        let start = Instant::now();
        for from in (there..wanted).step_by(BATCH as usize) {
            let numbers = from..wanted.min(from + BATCH);
            let now = begun + SignedDuration::from_secs(7 * from as i64);
            write(&store, &first, numbers, now).unwrap();
        }
        println!("written in {:.1?}", start.elapsed());
    }
    let start = Instant::now();
    engine.leave_in_order().unwrap();
    println!("indexed in {:.1?}", start.elapsed());
    measure(&engine);
}

/// Writes at a steady rate in batches of a twentieth of a second, as many agents together would.
fn flood(home: &Path, repo: &Path, rate: u64, seconds: u64) {
    let options = Options {
        home: home.to_owned(),
        repo: Some(repo.to_owned()),
        from: repo.to_owned(),
    };
    let store = Store::open(home, Ulid(7)).unwrap();
    let engine = Engine::open(options).unwrap();
    let bell = Doorbell::open(home).unwrap();
    let first = first(&engine);
    let head = store.read::<_, StoreError>(|it| it.head()).unwrap();
    let from = head << 20; // claims that no earlier run wrote
    let start = Instant::now();
    for step in 0..seconds * 20 {
        let due = start + Duration::from_millis(50 * step);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let numbers = from + step * rate / 20..from + (step + 1) * rate / 20;
        write(&store, &first, numbers, Timestamp::now()).unwrap();
        bell.ring();
    }
    println!("{} in {:.1?}", rate * seconds, start.elapsed());
}

fn ask(engine: &Engine, request: Request) -> Reply {
    engine.handle(&Caller::User, request).unwrap()
}

/// The template for all others, made by the engine, which mints the project and pins the pointer.
fn first(engine: &Engine) -> Record {
    let draft = Draft {
        claim: "The first of many.".to_owned(),
        pointers: vec![PointerInput::Text(
            "repo:src/file0.rs#L1-L4@HEAD".to_owned(),
        )],
        ..Draft::default()
    };
    let Reply::Put(put) = ask(engine, Request::Put(Box::new(draft))) else {
        panic!("no answer to a put")
    };
    match ask(engine, Request::Get(put.id)) {
        Reply::Engram(engram) => Record::from(*engram),
        other => panic!("{other:?}"),
    }
}

fn write(
    store: &Store,
    first: &Record,
    numbers: std::ops::Range<u64>,
    now: Timestamp,
) -> Result<(), StoreError> {
    store.write(now, |tx| {
        for number in numbers {
            let engram = engram(first, number, tx.now.0);
            tx.record(&NewEntry {
                project: engram.project,
                shareable: true,
                agent: None,
                by: &engram.provenance.created_by.clone(),
                operation: &Operation::Stored(Box::new(engram)),
            })?;
        }
        Ok(())
    })
}

/// Returns the same engram for the same number. Agents keep to their topics, as real ones do.
fn engram(first: &Record, number: u64, now: Timestamp) -> Record {
    let chance = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let (agent, area) = (chance % 24, chance / 24 % 12);
    let id = Ulid::from_parts(now.as_millisecond() as u64, (u128::from(number) << 8) | 1);
    let rare = match number % 1000 {
        7 => " A rare zebra crosses here.",
        _ => "",
    };
    let mut record = Record {
        id: EngramId(id),
        lineage_id: LineageId(id),
        claim: format!(
            "The svc{number:07} retry backoff limit is {} per minute, set by RETRY_BACKOFF_{number} in services/svc{number:07}/x.toml.{rare}",
            100 + chance % 900
        ),
        kind: Kind::ALL[(chance / 300 % Kind::ALL.len() as u64) as usize],
        fact_type: FactType::ALL[(chance / 7_000 % 2) as usize],
        scope: if chance.is_multiple_of(17) {
            Scope::Org
        } else {
            Scope::Project
        },
        topic: format!("area{}/part{area}", agent / 3),
        content_hash: format!("sha256:{number:064x}"),
        valid_from: now,
        recorded_at: now,
        expires_at: chance
            .is_multiple_of(5)
            .then(|| now + SignedDuration::from_hours(24 * 120)),
        verified: !chance.is_multiple_of(9),
        ..first.clone()
    };
    record.provenance.created_by = format!("agent-{agent:02}");
    record.provenance.created_at = now;
    record
}

fn measure(engine: &Engine) {
    let page = |before, after, filter: Filter| {
        Request::Feed(Feed {
            before,
            after,
            limit: Some(200),
            listed: true,
            filter,
            ..Feed::default()
        })
    };
    let kind = Filter {
        kinds: vec![Kind::ALL[0]],
        ..Filter::default()
    };
    let Reply::Feed(newest) = ask(engine, page(None, None, Filter::default())) else {
        panic!("no page")
    };
    let last = newest.entries.last().unwrap().seq;
    let some = newest.entries.iter().find_map(|it| match &it.change {
        engram_model::Change::Stored(engram) => Some(engram.id),
        _ => None,
    });
    let id = some.unwrap();
    let cases = [
        ("first page", page(None, None, Filter::default())),
        ("next page", page(Some(last), None, Filter::default())),
        ("oldest page", page(None, Some(0), Filter::default())),
        (
            "page in the middle",
            page(Some(newest.head / 2), None, Filter::default()),
        ),
        ("page of a kind", page(None, None, kind.clone())),
        (
            "page of a word that all have",
            page(None, None, text("backoff")),
        ),
        ("page of a rare word", page(None, None, text("zebra"))),
        (
            "page of a word that none has",
            page(None, None, text("quagga")),
        ),
        ("search for a question", search("how do retries back off")),
        ("search for a rare word", search("zebra")),
        ("search for what nothing has", search("quagg")),
        ("facets", Request::Facets(Filter::default())),
        ("facets of a kind", Request::Facets(kind)),
        ("facets of a rare word", Request::Facets(text("zebra"))),
        ("status", Request::Status),
        ("log", Request::Log(id)),
        (
            "query",
            Request::Query(Query {
                text: "svc0000500 retry backoff limit".to_owned(),
                ..Query::default()
            }),
        ),
    ];
    println!(
        "| request, {} engrams | p50 | p95 |\n|---|---|---|",
        newest.engrams
    );
    for (what, request) in cases {
        let mut times: Vec<Duration> = (0..ASKED)
            .map(|_| {
                let start = Instant::now();
                let answer: Result<Reply, Refusal> = engine.handle(&Caller::User, request.clone());
                answer.unwrap();
                start.elapsed()
            })
            .collect();
        times.sort();
        let at = |q: f64| times[((times.len() - 1) as f64 * q) as usize].as_secs_f64() * 1e3;
        println!("| {what} | {:.1} ms | {:.1} ms |", at(0.5), at(0.95));
    }
}

fn text(text: &str) -> Filter {
    Filter {
        text: text.to_owned(),
        ..Filter::default()
    }
}

fn search(words: &str) -> Request {
    Request::Search(Search {
        filter: text(words),
        limit: None,
    })
}
