//! Ranking: forty claims about a code base, and a developer's questions.

use engram_model::{AnswerQuality, Caller, Draft, PointerInput, Query, Scope};

use crate::fixture::{Asked, REINDEX, Sandbox, USER, claims_in, draft, query, scoped_draft};

/// A claim, its topic, and a question that it answers.
const KNOWN: [(&str, &str, &str); 42] = [
    (
        "The vendor client retries three times with full jitter; base delay is 200 ms, cap 5 s.",
        "gateway/vendor",
        "how does the gateway retry vendor calls",
    ),
    (
        "MAX_RETRIES in services/gateway/limits.toml is 3 in production and 5 in staging.",
        "gateway/vendor",
        "MAX_RETRIES",
    ),
    (
        "Idempotency keys expire after 24 hours in Redis, so a replay after a day books twice.",
        "payments/ledger",
        "when do idempotency keys expire",
    ),
    (
        "The ledger posts debits before credits; a crash between them leaves a pending row.",
        "payments/ledger",
        "what happens if the ledger crashes between debit and credit",
    ),
    (
        "Webhook signatures are checked with HMAC-SHA256 over the raw body, before JSON parsing.",
        "payments/webhooks",
        "webhook signature verification",
    ),
    (
        "Webhooks are delivered at least once; handlers must dedupe by event_id.",
        "payments/webhooks",
        "do webhooks arrive more than once",
    ),
    (
        "The rate limiter allows 2000 requests per second per IP at the auth endpoint.",
        "auth/limits",
        "auth rate limit per IP",
    ),
    (
        "Session tokens are rotated on each login and stored hashed with argon2id.",
        "auth/session",
        "how are session tokens stored",
    ),
    (
        "refresh_token() must be called with the tenant id first, the user id second.",
        "auth/session",
        "refresh_token argument order",
    ),
    (
        "Password reset links are valid for 15 minutes.",
        "auth/reset",
        "how long is a password reset link valid",
    ),
    (
        "Migrations run at deploy, not at boot; a pod never alters the schema.",
        "db/migrations",
        "when do migrations run",
    ),
    (
        "Migration 0042 adds an index concurrently and cannot run inside a transaction.",
        "db/migrations",
        "migration 0042",
    ),
    (
        "The orders table is partitioned by month on created_at.",
        "db/schema",
        "orders table partition",
    ),
    (
        "Deleting a tenant is soft: tenants.deleted_at is set and a nightly job purges.",
        "db/schema",
        "how is a tenant deleted",
    ),
    (
        "The connection pool has 20 connections per pod; the database allows 400.",
        "db/pool",
        "database connection pool size",
    ),
    (
        "parseHttpUrl in src/net/url.rs accepts IDN hosts but lower-cases only ASCII.",
        "net/url",
        "parseHttpUrl",
    ),
    (
        "The HTTP client follows at most 5 redirects and drops Authorization across hosts.",
        "net/http",
        "are authorization headers sent on redirect",
    ),
    (
        "gRPC deadlines default to 2 seconds; long exports set 60.",
        "net/grpc",
        "default gRPC deadline",
    ),
    (
        "The cache key includes the locale, so changing Accept-Language misses.",
        "cache",
        "why does the cache miss when the language changes",
    ),
    (
        "Cache entries are invalidated by publishing on the topic cache.invalidate.",
        "cache",
        "cache invalidation",
    ),
    (
        "Feature flags are read at start only; a change needs a restart.",
        "config/flags",
        "do feature flags need a restart",
    ),
    (
        "CONFIG_PATH overrides every other source of configuration.",
        "config",
        "CONFIG_PATH",
    ),
    (
        "The scheduler leader is elected through a Postgres advisory lock, id 7001.",
        "scheduler",
        "how is the scheduler leader elected",
    ),
    (
        "Cron jobs are skipped, not queued, while the leader changes.",
        "scheduler",
        "what happens to cron jobs during a leader change",
    ),
    (
        "Metrics named http_request_duration_seconds use the buckets 5 ms to 10 s.",
        "observability",
        "http_request_duration_seconds",
    ),
    (
        "Logs carry trace_id since v2.3; earlier lines cannot be joined.",
        "observability",
        "since which version do logs carry a trace_id",
    ),
    (
        "PII is scrubbed by the log formatter, not at the call site.",
        "observability/privacy",
        "where is PII scrubbed",
    ),
    (
        "The test suite needs Docker only for tests/integration.",
        "testing",
        "which tests need docker",
    ),
    (
        "test_reserve_is_idempotent is flaky under load because of a 50 ms timeout.",
        "testing/flaky",
        "test_reserve_is_idempotent",
    ),
    (
        "Snapshot tests are reviewed with cargo insta; CI fails on pending snapshots.",
        "testing",
        "pending snapshot tests in CI",
    ),
    (
        "The frontend build takes 6 minutes because source maps are made twice.",
        "frontend/build",
        "why is the frontend build slow",
    ),
    (
        "Dates are stored in UTC and shown in the tenant's zone.",
        "frontend/time",
        "time zone of stored dates",
    ),
    (
        "useCart keeps the cart in localStorage under cart_v3.",
        "frontend/cart",
        "where does useCart keep the cart",
    ),
    (
        "Search uses trigram similarity with a threshold of 0.3.",
        "search",
        "trigram threshold",
    ),
    (
        "The search index lags the database by up to 30 seconds.",
        "search",
        "how stale is the search index",
    ),
    (
        "We chose Postgres over DynamoDB for the ledger because of multi-row transactions.",
        "decisions",
        "why postgres and not dynamodb",
    ),
    (
        "Public API errors follow RFC 9457 problem details.",
        "api",
        "format of API errors",
    ),
    (
        "API v1 is frozen; breaking changes go to v2 only.",
        "api",
        "may v1 of the API change",
    ),
    (
        "The mobile app pins the certificate of api.example.org until 2027-03.",
        "mobile",
        "certificate pinning in the mobile app",
    ),
    (
        "Uploads above 25 MB are refused by the proxy with 413, before the service sees them.",
        "uploads",
        "maximum upload size",
    ),
    (
        "Images are resized lazily, at first request, and kept for 90 days.",
        "uploads/images",
        "when are images resized",
    ),
    (
        "The payroll export rounds half up, as the accountants demanded.",
        "export",
        "rounding in the payroll export",
    ),
];

/// Questions that no claim here answers.
const UNKNOWN: [&str; 8] = [
    "kubernetes ingress annotations",
    "who designed the logo",
    "quantum entanglement",
    "SHARD_FANOUT",
    "src/billing/invoice.rs",
    "xyzzy",
    "blockchain consensus",
    "日本語のドキュメント",
];

fn fill(sandbox: &Sandbox) -> Asked {
    let engine = sandbox.open();
    for (claim, topic, _) in KNOWN {
        sandbox.clock.turn(60);
        let topic = Some(topic.to_owned());
        engine
            .put(
                &USER,
                Draft {
                    topic,
                    ..draft(claim)
                },
            )
            .unwrap();
    }
    engine
}

#[test]
fn a_developer_finds_what_is_known() {
    let sandbox = Sandbox::new();
    let engine = fill(&sandbox);
    for indexed in [false, true] {
        let (mut first, mut fifth, mut strong) = (0, 0, 0);
        let mut missed = Vec::new();
        for (claim, _, question) in KNOWN {
            let reply = engine.query(&USER, question);
            let place = reply.engrams.iter().position(|it| it.claim == claim);
            first += usize::from(place == Some(0));
            fifth += usize::from(place.is_some_and(|it| it < 5));
            strong += usize::from(reply.verdict == AnswerQuality::Strong);
            if place != Some(0) || reply.verdict != AnswerQuality::Strong {
                missed.push(format!(
                    "{question}: place {place:?}, {:?}, first {:?}",
                    reply.verdict,
                    claims_in(&reply).first()
                ));
            }
        }
        let all = KNOWN.len();
        println!(
            "hit@1 {first}/{all}, hit@5 {fifth}/{all}, strong {strong}/{all}\n{}",
            missed.join("\n")
        );
        assert!(
            first * 100 >= all * 95,
            "hit@1 {first} of {all}: {missed:#?}"
        );
        assert_eq!(fifth, all, "hit@5: {missed:#?}");
        assert!(
            strong * 100 >= all * 80,
            "strong {strong} of {all}: {missed:#?}"
        );
        for question in UNKNOWN {
            let reply = engine.query(&USER, question);
            assert_eq!(
                reply.verdict,
                AnswerQuality::None,
                "{question}: {:?}",
                claims_in(&reply)
            );
            assert!(reply.engrams.is_empty());
        }
        assert!(
            engine.0.doctor(REINDEX).unwrap().ok,
            "indexed before: {indexed}"
        );
    }
}

/// Checks the verdict and `relaxed`.
#[test]
fn the_verdict_is_honest() {
    let sandbox = Sandbox::new();
    let engine = fill(&sandbox);
    for (question, verdict, relaxed) in [
        ("MAX_RETRIES", AnswerQuality::Strong, false),
        ("MAX_RETRIES production", AnswerQuality::Strong, false),
        ("MAX_RETRIES in the mobile app", AnswerQuality::Strong, true),
        ("orders table", AnswerQuality::Strong, false),
        (
            "orders of magnitude for quantum chromodynamics simulations",
            AnswerQuality::None,
            true,
        ),
        ("xyzzy", AnswerQuality::None, true),
        ("", AnswerQuality::Weak, true),
        ("the of and", AnswerQuality::None, true),
    ] {
        let reply = engine.query(&USER, question);
        println!(
            "{question:?}: {:?} {} {:?}",
            reply.verdict,
            reply.relaxed,
            claims_in(&reply).first()
        );
        assert!(
            reply.verdict == verdict,
            "{question:?}: {:?}, {:?}",
            reply.verdict,
            claims_in(&reply).first()
        );
        assert_eq!(reply.relaxed, relaxed, "{question:?}");
        assert_eq!(
            reply.engrams.is_empty(),
            reply.verdict == AnswerQuality::None,
            "{question:?}"
        );
    }
    let sandbox = Sandbox::new();
    let empty = sandbox.open();
    for question in ["anything", ""] {
        assert_eq!(empty.query(&USER, question).verdict, AnswerQuality::None);
    }
}

/// One person writes two words where another writes one, and a question does not depend on its
/// small words.
#[test]
fn a_question_is_understood_in_other_spellings() {
    let said = |sandbox: &Sandbox, all: &[&str]| {
        let engine = fill(sandbox);
        all.iter().for_each(|it| drop(engine.claim(it)));
        // Many claims share the remaining word.
        for at in 0..30 {
            sandbox.clock.turn(1);
            engine.claim(&format!("Retries of service {at} are counted."));
        }
        engine
    };
    for (claim, question) in [
        (
            "Retries use exponential backoff.",
            "how do retries back off",
        ),
        (
            "The client backs off after a retry.",
            "how do retries back off",
        ),
        (
            "The client backs off after a retry.",
            "what is the backoff of a retry",
        ),
        (
            "Users log out after a day.",
            "what could be the logout of users",
        ),
        (
            "The login page is cached.",
            "who would log in to a cached page",
        ),
    ] {
        let sandbox = Sandbox::new();
        let engine = said(&sandbox, &[claim]);
        for indexed in [false, true] {
            let reply = engine.query(&USER, question);
            assert_eq!(
                (claims_in(&reply).first().map(String::as_str), reply.verdict),
                (Some(claim), AnswerQuality::Strong),
                "{question}, indexed: {indexed}"
            );
            assert!(engine.0.doctor(REINDEX).unwrap().ok);
        }
    }
    // A question without an answer gets none by respelling, and no unrelated claims appear.
    let sandbox = Sandbox::new();
    let engine = said(&sandbox, &["A block of the chain is done elsewhere."]);
    for question in UNKNOWN
        .into_iter()
        .chain(["should we have been there", "not able to be"])
    {
        let reply = engine.query(&USER, question);
        assert_eq!(
            reply.verdict,
            AnswerQuality::None,
            "{question}: {:?}",
            claims_in(&reply)
        );
    }
}

/// A named identifier, number or file ranks before many shared words.
#[test]
fn exact_identifiers_come_first() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let exact = engine.claim("retry_budget is 7.");
    for at in 0..20 {
        sandbox.clock.turn(1);
        engine.claim(&format!(
            "The retry budget of service {at} is how the retries of a request are bounded."
        ));
    }
    for question in [
        "what bounds the retries of a request, retry_budget?",
        "retry_budget of a service",
        "RETRY_BUDGET",
    ] {
        assert_eq!(
            engine.query(&USER, question).engrams[0].id,
            exact.id,
            "{question}"
        );
    }
    let pointed = Draft {
        pointers: vec![PointerInput::Text("repo:README.md#L1@HEAD".into())],
        ..draft("The rules are short.")
    };
    let pointed = engine.put(&USER, pointed).unwrap();
    assert_eq!(engine.query(&USER, "README.md").engrams[0].id, pointed.id);
}

/// Equal claims are ordered by scope, then time, then confidence, and finally by id, always in the
/// same way.
#[test]
fn ties_are_broken_the_same_way_each_time() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let ada = engine.agent("ada");
    let put = |who: &Caller, claim: &str, confidence: f64, scope: Scope| {
        let draft = Draft {
            confidence: Some(confidence),
            ..scoped_draft(claim, scope)
        };
        engine.put(who, draft).unwrap().id
    };
    let global = put(&USER, "Parsers are slow, 1.", 1.0, Scope::Global);
    let org = put(&USER, "Parsers are slow, 2.", 1.0, Scope::Org);
    let old = put(&ada, "Parsers are slow, 3.", 1.0, Scope::Project);
    sandbox.clock.turn(1);
    let unsure = put(&ada, "Parsers are slow, 4.", 0.2, Scope::Project);
    let sure = put(&ada, "Parsers are slow, 5.", 0.9, Scope::Project);
    let own = put(&ada, "Parsers are slow, 6.", 0.1, Scope::Run);
    let expected = [own, sure, unsure, old, org, global];
    for _ in 0..3 {
        let found: Vec<_> = engine
            .query(&ada, "slow parsers")
            .engrams
            .iter()
            .map(|it| it.id)
            .collect();
        assert_eq!(found, expected);
        assert!(engine.0.doctor(REINDEX).unwrap().ok);
    }
    for at in 0..30 {
        put(
            &USER,
            &format!("Twins are alike, {at}."),
            0.5,
            Scope::Project,
        );
    }
    let ask = || -> Vec<_> {
        engine
            .query(&USER, "alike twins")
            .engrams
            .iter()
            .map(|it| it.id)
            .collect()
    };
    let first = ask();
    assert_eq!(first.len(), 10);
    assert!(engine.0.doctor(REINDEX).unwrap().ok);
    assert_eq!(ask(), first);
}

/// Thousands of claims differ in one name, and the named one is found. `ENGRAM_CLAIMS` sets how
/// many.
#[test]
fn one_of_thousands_is_found() {
    let count: usize = std::env::var("ENGRAM_CLAIMS")
        .map_or(2_000, |it| it.parse().expect("ENGRAM_CLAIMS is a number"));
    let engine = Sandbox::open_new();
    for at in 0..count {
        let limit = (at * 31) % 977;
        engine.claim(&format!("The svc{at:05} retry backoff limit is {limit} per minute, set by RETRY_BACKOFF_{at} in services/svc{at:05}/x.toml line {}", at + 1));
    }
    assert!(engine.0.doctor(REINDEX).unwrap().ok);
    // A tail that the index has not read is added.
    for at in count..count + 50 {
        engine.claim(&format!("The svc{at:05} retry backoff limit is 1 per minute, set by RETRY_BACKOFF_{at} in services/svc{at:05}/x.toml line 1"));
    }
    for at in (0..count + 50).step_by((count / 50).max(1)) {
        for question in [
            format!("svc{at:05} retry backoff limit"),
            format!("RETRY_BACKOFF_{at}"),
        ] {
            let reply = engine
                .ask(
                    &USER,
                    Query {
                        k: Some(5),
                        ..query(&question)
                    },
                )
                .unwrap();
            assert!(
                reply.engrams[0].claim.contains(&format!("svc{at:05} ")),
                "{question}: {:?}",
                claims_in(&reply)
            );
            assert_eq!(
                (reply.verdict, reply.relaxed),
                (AnswerQuality::Strong, false),
                "{question}"
            );
        }
    }
}

#[test]
fn hostile_questions_are_only_questions() {
    let sandbox = Sandbox::new();
    let engine = fill(&sandbox);
    for question in [
        "' OR 1=1 --",
        "\u{0}",
        "\u{202e}abc",
        "a".repeat(2_000).as_str(),
        &"word ".repeat(400),
        "AND OR NOT ( * ~ \" ^",
        &"x_".repeat(1_000),
        "\u{1f980}",
        "../../etc/passwd",
        "{}[]",
        "%00",
        &"é".repeat(2_000),
    ] {
        let reply = engine.ask(&USER, query(question)).unwrap();
        assert!(reply.engrams.len() <= 10);
    }
    assert!(engine.ask(&USER, query(&"a".repeat(2_001))).is_err());
    for topic in [
        "",
        "/",
        "payments",
        "payments/",
        "payments/ledger",
        "pay",
        "nothing/here",
    ] {
        let asked = Query {
            topic: Some(topic.into()),
            k: Some(50),
            ..query("the ledger webhooks books delivered")
        };
        let found = engine.ask(&USER, asked).unwrap();
        let inside = |path: &str| {
            path == topic.trim_matches('/')
                || path.starts_with(&format!("{}/", topic.trim_matches('/')))
        };
        assert!(
            found
                .engrams
                .iter()
                .all(|it| topic.trim_matches('/').is_empty() || inside(&it.topic)),
            "{topic}"
        );
        assert_eq!(
            found.engrams.is_empty(),
            matches!(topic, "pay" | "nothing/here"),
            "{topic}"
        );
    }
}
