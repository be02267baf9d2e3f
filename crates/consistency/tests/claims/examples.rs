//! Single cases beyond the sets: severity, validity, what differs, entities, folding.

use engram_consistency::{
    claim::Claim,
    tier::{self, Severity, Tier},
};
use engram_model::{EntityKind, FactType};
use serde_json::json;

use crate::{compare, compare_in, side_of};

#[test]
fn the_example_of_the_wallet() {
    let a = "the wallet lock is released after 3 minutes";
    let b = "a wallet stays locked for half an hour";
    let finding = compare(a, b).expect("a conflict");
    assert_eq!(
        (finding.tier, finding.severity),
        (Tier::Numeric, Severity::High)
    );
    let shown = |text: &str, spans: &[(usize, usize)]| -> Vec<String> {
        spans
            .iter()
            .map(|it| text.chars().skip(it.0).take(it.1 - it.0).collect())
            .collect()
    };
    assert_eq!(shown(a, &finding.differs_a), ["3 minutes"]);
    assert_eq!(shown(b, &finding.differs_b), ["half an hour"]);
    assert!(finding.why.contains("wallet"), "{}", finding.why);
}

#[test]
fn a_setting_is_named_as_its_claim_writes_it() {
    let finding = compare("max_attempts is 3.", "max_attempts is 5.").expect("a conflict");
    assert!(finding.why.contains("max_attempts"), "{}", finding.why);
}

/// A letter that stands for a power of ten counts in a rate, too.
#[test]
fn a_rate_may_be_counted_in_thousands() {
    for (a, b, is_conflict) in [
        (
            "The API rate limit is 1k/s.",
            "The API rate limit is 2k/s.",
            true,
        ),
        (
            "The API rate limit is 1k/s.",
            "The API rate limit is 500/s.",
            true,
        ),
        (
            "The API rate limit is 1k/s.",
            "The API rate limit is 1000/s.",
            false,
        ),
        (
            "The API rate limit is 1k/s.",
            "The API rate limit is 60K/min.",
            false,
        ),
        ("The ingest accepts 2M/h.", "The ingest accepts 3M/h.", true),
    ] {
        assert_eq!(compare(a, b).is_some(), is_conflict, "{a} {b}");
    }
}

/// A setting has one value in one environment, whatever the sentences around it say.
#[test]
fn a_setting_is_compared_by_its_own_name() {
    let pool = "DB_POOL_SIZE is 5.";
    for (a, b, is_conflict) in [
        (
            "MAX_UPLOAD_MB is 25.",
            "We set MAX_UPLOAD_MB=100 in the chart.",
            true,
        ),
        (
            pool,
            "Each worker opens 20 connections, as DB_POOL_SIZE says.",
            true,
        ),
        (
            "The job exports `LOG_LEVEL` as `debug`.",
            "So that the output stays short, the job sets LOG_LEVEL to warn.",
            true,
        ),
        (
            "Production sets `pool_size` to 20.",
            "In production, the file has a pool_size of five connections.",
            true,
        ),
        // In seconds, the first is the same.
        (
            "CACHE_TTL is 300.",
            "CACHE_TTL keeps menus for 5 minutes.",
            false,
        ),
        (
            "CACHE_TTL is 300.",
            "CACHE_TTL keeps menus for 20 minutes.",
            true,
        ),
        (
            "DB_POOL_SIZE is 5 in staging.",
            "In production, DB_POOL_SIZE is 20.",
            false,
        ),
        (
            pool,
            "The highest value allowed for DB_POOL_SIZE is 100.",
            false,
        ),
        (pool, "DB_POOL_SIZE was 20 until March.", false),
        (pool, "DB_POOL_SIZE should be 20.", false),
        (pool, "READ_POOL_SIZE is 20.", false),
        (
            "DB_POOL_SIZE is 5, DB_POOL_WAIT is 30.",
            "With DB_POOL_SIZE as it is, DB_POOL_WAIT gives 9 of them.",
            false,
        ),
        (
            "`users_table` has 3 indexes.",
            "`users_table` has 12 columns.",
            false,
        ),
    ] {
        assert_eq!(compare(a, b).is_some(), is_conflict, "{a} | {b}");
    }
    let elsewhere = "Uploads stop at MAX_RETRIES, which is 9.";
    assert!(compare_in("MAX_RETRIES is 3.", "auth", elsewhere, "billing").is_none());
    assert!(compare_in("MAX_RETRIES is 3.", "auth", elsewhere, "auth/login").is_some());
}

/// Two events do not contradict each other.
#[test]
fn what_happened_is_not_compared() {
    for (a, b, is_conflict) in [
        ("Build 1204 passed.", "Build 1205 passed.", false),
        (
            "Migration 41 adds an index.",
            "Migration 42 adds an index.",
            false,
        ),
        ("Item 7 of 9 is done.", "Item 8 of 9 is done.", false),
        ("Bump serde to 1.0.200.", "Bump serde to 1.0.210.", false),
        (
            "net: update hyper to 1.4",
            "net: update hyper to 1.5",
            false,
        ),
        (
            "**changed:** axum's MSRV is 1.66",
            "**changed:** axum's MSRV is 1.63",
            false,
        ),
        (
            "feat(cli)!: the port is 8080",
            "fix(cli): the port is 9090",
            false,
        ),
        (
            "The minimum Rust version was raised to 1.84.",
            "The minimum Rust version was raised to 1.82.",
            false,
        ),
        (
            "The minimum Rust version was raised to 1.84.",
            "The minimum Rust version is 1.82.",
            true,
        ),
        (
            "Update checks run every 5 minutes.",
            "Update checks run every 9 minutes.",
            true,
        ),
    ] {
        assert_eq!(compare(a, b).is_some(), is_conflict, "{a} | {b}");
    }
}

#[test]
fn two_observations_outrank_two_inferences() {
    let (a, b) = (
        Claim::read("The pool size is 5."),
        Claim::read("The pool size is 9."),
    );
    let of = |one: FactType, other: FactType| {
        let mut left = side_of(&a, "db");
        let mut right = side_of(&b, "db");
        (left.fact_type, right.fact_type) = (one, other);
        tier::compare(&left, &right).unwrap().severity
    };
    assert_eq!(
        of(FactType::Observation, FactType::Observation),
        Severity::High
    );
    assert_eq!(
        of(FactType::Observation, FactType::Inference),
        Severity::High
    );
    assert_eq!(
        of(FactType::Inference, FactType::Inference),
        Severity::Medium
    );
}

#[test]
fn what_never_held_together_is_no_conflict() {
    let (a, b) = (
        Claim::read("The pool size is 5."),
        Claim::read("The pool size is 9."),
    );
    let (mut left, mut right) = (side_of(&a, "db"), side_of(&b, "db"));
    let noon = "2026-01-01T12:00:00Z".parse().unwrap();
    left.valid_until = Some(noon);
    right.valid_from = noon;
    assert_eq!(tier::compare(&left, &right), None);
    assert_eq!(tier::compare(&right, &left), None);
}

#[test]
fn nothing_is_known_of_two_claims_without_a_subject() {
    assert_eq!(
        compare_in("The timeout is 5 s.", "", "The timeout is 9 s.", ""),
        None
    );
    assert!(compare_in("The timeout is 5 s.", "db", "The timeout is 9 s.", "db").is_some());
    assert_eq!(
        compare_in("The timeout is 5 s.", "db", "The timeout is 9 s.", "web"),
        None
    );
    assert_eq!(
        compare_in(
            "The timeout is 5 s.",
            "db",
            "The timeout is 9 s.",
            "db/pool"
        ),
        None
    );
}

#[test]
fn what_the_topic_says_need_not_be_repeated() {
    let (a, b) = (
        "The auth service is limited to 1000 requests per second.",
        "The limit is 2000 requests per second.",
    );
    assert!(compare_in(a, "auth", b, "auth").is_some());
    assert_eq!(compare_in(a, "api", b, "api"), None);
}

#[test]
fn entities_have_name_type_value_and_unit() {
    for (text, wanted) in [
        (
            "The auth service allows 1000 req/s.",
            json!({ "name": "auth_service", "type": EntityKind::Service }),
        ),
        (
            "JWT_SECRET is read at start.",
            json!({ "name": "jwt_secret", "type": "config_key" }),
        ),
        (
            "PORT_RANGE_START=8000",
            json!({ "name": "port_range_start", "type": "config_key", "value": 8000 }),
        ),
        (
            "ENABLE_NEW_NAV=false",
            json!({ "name": "enable_new_nav", "type": "boolean", "value": false }),
        ),
        (
            "The lease lasts 2.5 min.",
            json!({ "name": "lease", "type": "numeric", "value": 150, "unit": "s" }),
        ),
        (
            "The lease lasts 5 to 10 seconds.",
            json!({ "name": "lease", "type": "numeric", "value": "5..10", "unit": "s" }),
        ),
        (
            "The server listens on port 8080.",
            json!({ "name": "server_port", "type": "port", "value": 8080 }),
        ),
        (
            "The shop runs on Node 18.2.",
            json!({ "name": "shop_nodejs", "type": "version", "value": "18.2" }),
        ),
        (
            "Sessions are kept in Redis.",
            json!({ "name": "redis", "type": "technology" }),
        ),
    ] {
        let found = serde_json::to_value(Claim::read(text).entities()).unwrap();
        assert!(
            found.as_array().unwrap().contains(&wanted),
            "{text}: {found}"
        );
    }
}

#[test]
fn duplicates_ignore_case_and_white_space() {
    let folded = |text: &str| Claim::read(text).folded;
    assert_eq!(
        folded("The  Pool\n has 5\tslots. "),
        folded("the pool has 5 slots.")
    );
    assert_ne!(
        folded("the pool has 5 slots."),
        folded("the pool has 6 slots.")
    );
}

#[test]
fn an_update_finds_what_it_replaces() {
    let matter = |a: &str, b: &str| {
        let (a, b) = (Claim::read(a), Claim::read(b));
        tier::same_matter(&side_of(&a, "db"), &side_of(&b, "db"))
    };
    assert!(
        matter(
            "The pool has 10 connections.",
            "The pool has 20 connections."
        )
        .is_some()
    );
    assert!(
        matter(
            "The pool has 10 connections.",
            "The pool has 10 connections."
        ) == Some(1.0)
    );
    assert_eq!(
        matter("The pool has 10 connections.", "The cache has 20 entries."),
        None
    );
}

#[test]
fn one_claim_may_say_several_things() {
    let long = "The gateway has 3 nodes and listens on port 8080. It is written in Rust, but the admin panel is not public.";
    assert!(compare(long, "The gateway has 5 nodes.").is_some());
    assert!(compare(long, "The admin panel is public.").is_some());
    assert_eq!(compare(long, "The gateway has 3 nodes."), None);
}
/// The sentence and what is marked, in the words of the claims.
/// An answer to a question says the same as the sentence alone.
#[test]
fn the_word_that_answers_a_question_is_no_part_of_the_claim() {
    let claim = "The shop server listens on port 8443.";
    for answer in [
        "No: the shop server listens on port 8443.",
        "no, the shop server listens on port 8443.",
        "Yes, the shop server listens on port 8443.",
    ] {
        assert!(compare(answer, claim).is_none(), "{answer}");
        let other = answer.replace("8443", "8080");
        assert!(compare(&other, claim).is_some(), "{other}");
    }
    let sessions = ("No sessions are kept.", "Sessions are kept.");
    assert!(compare(sessions.0, sessions.1).is_some());
}

/// The words at these places of a claim.
fn cut(claim: &str, spans: &[(usize, usize)]) -> Vec<String> {
    let word = |it: &(usize, usize)| claim.chars().skip(it.0).take(it.1 - it.0).collect();
    spans.iter().map(word).collect()
}

#[test]
fn the_marked_words_are_those_that_differ() {
    for (a, b, marked) in [
        (
            "Results are always sorted.",
            "Results are never sorted.",
            ["always", "never"],
        ),
        (
            "The flask server binds to 127.0.0.1:5000.",
            "The flask server binds to 127.0.0.1:5001.",
            ["127.0.0.1:5000", "127.0.0.1:5001"],
        ),
        (
            "Passwords are hashed with argon2.",
            "Passwords are hashed with bcrypt.",
            ["argon2", "bcrypt"],
        ),
        (
            "The benchmark server listens on port 8080.",
            "The benchmark server listens on port 9090.",
            ["8080", "9090"],
        ),
        (
            "The session cookie is HttpOnly.",
            "The session cookie is not HttpOnly.",
            ["HttpOnly", "not HttpOnly"],
        ),
    ] {
        let finding = compare(a, b).unwrap();
        let [left, right] = marked;
        assert_eq!(cut(a, &finding.differs_a), [left], "{a}");
        assert_eq!(cut(b, &finding.differs_b), [right], "{b}");
    }
}

#[test]
fn a_sentence_names_what_differs_in_the_words_of_the_claims() {
    let cases = [
        (
            "The benchmark server listens on port 8080.",
            "The benchmark server listens on port 9090.",
            "They disagree about the benchmark server's port: 8080 or 9090.",
        ),
        (
            "The config file is read before the command line.",
            "The config file is read after the command line.",
            "One says the opposite of the other: before / after.",
        ),
        (
            "Passwords are hashed with argon2.",
            "Passwords are hashed with bcrypt.",
            "They name different password hashes: argon2 and bcrypt.",
        ),
        (
            "MAX_COOKIE_SIZE is 4093.",
            "MAX_COOKIE_SIZE is 4096.",
            "They disagree about `MAX_COOKIE_SIZE`: 4093 or 4096.",
        ),
        (
            "The flask server binds to 127.0.0.1:5000.",
            "The flask server binds to 127.0.0.1:5001.",
            "They disagree about the flask server: 127.0.0.1:5000 or 127.0.0.1:5001.",
        ),
        (
            "Results are always sorted.",
            "Results are never sorted.",
            "One says the opposite of the other: always / never.",
        ),
        (
            "The session cookie is HttpOnly.",
            "The session cookie is not HttpOnly.",
            "One says the opposite of the other: HttpOnly / not HttpOnly.",
        ),
        (
            "Printing of results is synchronous.",
            "Printing of results is asynchronous.",
            "One says the opposite of the other: synchronous / asynchronous.",
        ),
        (
            "ripgrep requires Rust 1.72.",
            "ripgrep requires Rust 1.85.",
            "They disagree about ripgrep: Rust 1.72 or 1.85.",
        ),
        (
            "Cookies are limited to 4093 bytes.",
            "Cookies are limited to 4096 bytes.",
            "They disagree about cookies: 4093 bytes or 4096 bytes.",
        ),
        (
            "The auth service allows 1000 requests per second.",
            "The auth service allows 2000 requests per second.",
            "They disagree about the auth service: 1000 or 2000 requests.",
        ),
        (
            "The legacy endpoint still exists.",
            "The legacy endpoint was removed.",
            "One says that it is still there, the other that it is gone.",
        ),
        (
            "The primary database is PostgreSQL.",
            "The primary database is MySQL.",
            "They name different databases: PostgreSQL and MySQL.",
        ),
        (
            "Sessions expire after 30 minutes.",
            "Sessions never expire.",
            "One says the opposite of the other: 30 minutes / never expire.",
        ),
        (
            "The port number of the relay is 8080.",
            "The port number of the relay is 9090.",
            "They disagree about the port number: 8080 or 9090.",
        ),
        (
            "Health checks run every 10 seconds with a timeout of 2 seconds.",
            "Health checks run every 30 seconds with a timeout of 2 seconds.",
            "They disagree about health checks: 10 seconds or 30 seconds.",
        ),
        (
            "The scraper is limited to 5 requests per second.",
            "The scraper is limited to 5 requests per minute.",
            "They disagree about the scraper: 5 requests per second or 5 requests per minute.",
        ),
        (
            "TTL: 300",
            "TTL: 600",
            "They disagree about the TTL: 300 or 600.",
        ),
        (
            "POST /v1/orders answers 200.",
            "POST /v1/orders answers 202.",
            "They disagree about POST /v1/orders: 200 or 202.",
        ),
        (
            "The lockout threshold is 5 failed attempts.",
            "The lockout threshold is 8 failed attempts.",
            "They disagree about the lockout threshold: 5 or 8 failed attempts.",
        ),
        (
            "The retry helper makes 3 attempts.",
            "The retry helper makes 5 attempts.",
            "They disagree about the retry helper: 3 or 5 attempts.",
        ),
        (
            "Webhooks are retried for 12 hours.",
            "No: webhooks are retried for 36 hours.",
            "They disagree about webhooks: 12 hours or 36 hours.",
        ),
        (
            "Hotfixes branch off `main`.",
            "Hotfixes branch off `release`.",
            "They disagree about hotfixes: main or release.",
        ),
    ];
    let mut wrong = Vec::new();
    for (a, b, why) in cases {
        let Some(finding) = compare(a, b) else {
            wrong.push(format!("none: {a}"));
            continue;
        };
        if finding.why != why {
            let (left, right) = (cut(a, &finding.differs_a), cut(b, &finding.differs_b));
            wrong.push(format!(
                "{}\n  instead of {why}\n  {left:?} {right:?}",
                finding.why
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
