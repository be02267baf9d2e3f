//! The window's search: it answers as a query does, finds pasted text too, and keeps the rest of
//! the filter.

use engram_model::{
    AnswerQuality, Caller, Draft, Engram, Filter, Kind, Query, Search, SearchReply, ask,
};

use crate::fixture::{Asked, Sandbox, USER, draft};

/// Claims, oldest first.
const SAID: [&str; 7] = [
    "Retries use full jitter with a 200 ms base and a backoff cap of 5 s.",
    "The worker uses 8 threads unless THREAD_COUNT says otherwise.",
    "Session tokens are stored hashed with argon2id.",
    "wrapLineNumbers in src/lib.rs counts from one.",
    "The scheduler skips cron jobs while the leader changes.",
    "The cache key includes the locale.",
    "Retrying a webhook keeps its event id.",
];

fn open_filled(sandbox: &Sandbox) -> Asked {
    let asked = sandbox.open();
    for claim in SAID {
        asked.claim(claim);
        sandbox.clock.turn(60);
    }
    asked
}

fn text(text: &str) -> Filter {
    Filter {
        text: text.to_owned(),
        ..Filter::default()
    }
}

fn search(asked: &Asked, filter: Filter) -> SearchReply {
    let search = Search {
        filter,
        limit: None,
    };
    *asked.0.ask(&USER, ask::Search(search)).unwrap()
}

fn found_engrams(reply: &SearchReply) -> Vec<&Engram> {
    let stored = reply.page.entries.iter();
    stored.filter_map(|it| it.change.stored()).collect()
}

fn claims(reply: &SearchReply) -> Vec<&str> {
    let found = found_engrams(reply).into_iter();
    found.map(|it| it.claim.as_str()).collect()
}

/// The claims with what the search marked in brackets.
fn marked_claims(reply: &SearchReply) -> Vec<String> {
    let mark = |engram: &&Engram| {
        let marks = reply.marks.iter().find(|(id, _)| *id == engram.id);
        let (mut shown, mut at) = (String::new(), 0);
        for mark in marks.map(|it| it.1.clone()).unwrap_or_default() {
            shown += &format!(
                "{}[{}]",
                &engram.claim[at..mark.start],
                &engram.claim[mark.clone()]
            );
            at = mark.end;
        }
        shown + &engram.claim[at..]
    };
    found_engrams(reply).iter().map(mark).collect()
}

#[test]
fn a_question_finds_what_a_query_finds_in_its_order() {
    let sandbox = Sandbox::new();
    let asked = open_filled(&sandbox);
    for question in [
        "how do retries back off",
        "how many threads does it use",
        "retrying",
        "where are session tokens stored",
        "THREAD_COUNT",
        "zebra",
    ] {
        let query = Query {
            text: question.to_owned(),
            include_ephemeral: true,
            ..Query::default()
        };
        let answer = asked.0.ask(&USER, ask::Query(query)).unwrap();
        let reply = search(&asked, text(question));
        let want: Vec<&str> = answer.engrams.iter().map(|it| it.claim.as_str()).collect();
        assert_eq!(claims(&reply), want, "{question}");
        assert_eq!(reply.verdict, answer.verdict, "{question}");
        let facets = asked.0.ask(&USER, ask::Facets(text(question))).unwrap();
        assert_eq!(facets.total, want.len() as u64, "{question}");
    }
    let first = |question| marked_claims(&search(&asked, text(question)))[0].clone();
    assert_eq!(
        first("how do retries back off"),
        "[Retries] use full jitter with a 200 ms base and a [backoff] cap of 5 s."
    );
    assert!(first("retry").contains("[Retr"));
}

#[test]
fn pasted_text_is_found_as_it_is() {
    let sandbox = Sandbox::new();
    let asked = open_filled(&sandbox);
    let agent = asked.agent("codex");
    let by_codex = asked.put(&agent, draft("Logs carry a trace id.")).unwrap();
    let id = by_codex.id.to_string();
    for (pasted, claim) in [
        (
            "apLineNum",
            "wr[apLineNum]bers in src/lib.rs counts from one.",
        ),
        ("retr", "["),
        ("THREAD_CO", "unless [THREAD_CO]UNT says otherwise."),
        (&id, "Logs carry a trace id."),
        (&id[..12].to_lowercase(), "Logs carry a trace id."),
        ("codex", "Logs carry a trace id."),
        ("src/lib.rs#L2", "[src]/[lib].[rs] counts from one."),
        (
            "8 threads unless",
            "The worker uses [8] [threads] [unless] [THREAD]_COUNT says otherwise.",
        ),
    ] {
        let reply = search(&asked, text(pasted));
        assert_eq!(reply.verdict, AnswerQuality::Strong, "{pasted}");
        let first = marked_claims(&reply)[0].clone();
        assert!(first.contains(claim), "{pasted}: {first}");
    }
    let reply = search(&asked, text("100%_"));
    assert_eq!(reply.verdict, AnswerQuality::None);
    assert!(reply.page.entries.is_empty());
}

#[test]
fn the_rest_of_the_filter_holds_for_what_is_found() {
    let sandbox = Sandbox::new();
    let asked = open_filled(&sandbox);
    let then = sandbox.clock.now();
    sandbox.clock.turn(60);
    let risk = Draft {
        kind: Some(Kind::Risk),
        topic: Some("net/hooks".to_owned()),
        ..draft("Retries may flood a slow webhook.")
    };
    let risk = asked.put(&USER, risk).unwrap();
    let retried = |filter: Filter| claims_of(&asked, filter);
    assert_eq!(retried(text("retries")).len(), 3);
    let of_kind = Filter {
        kinds: vec![Kind::Risk],
        ..text("what about retrying")
    };
    assert_eq!(
        retried(of_kind.clone()),
        ["Retries may flood a slow webhook."]
    );
    let facets = asked.0.ask(&USER, ask::Facets(of_kind)).unwrap();
    assert_eq!(facets.total, 1);
    assert_eq!(facets.kinds, [(Kind::Fact, 2), (Kind::Risk, 1)]);
    let of_topic = Filter {
        topic: "net".to_owned(),
        ..text("retry")
    };
    assert_eq!(retried(of_topic).len(), 1);
    // What has ended comes last, or alone, or not at all.
    asked.0.ask(&USER, ask::Forget(risk.id)).unwrap();
    let all = retried(text("retries flood webhook"));
    assert_eq!(all.last().unwrap(), "Retries may flood a slow webhook.");
    for (ended, count) in [(Some(true), 1), (Some(false), 2)] {
        let filter = Filter {
            ended,
            ..text("retries")
        };
        assert_eq!(retried(filter).len(), count, "{ended:?}");
    }
    // A past time is searched as it was.
    sandbox.clock.turn(60);
    let past = Filter {
        held_at: Some(then),
        ..text("do retries flood")
    };
    assert_eq!(retried(past).len(), 2);
}

fn claims_of(asked: &Asked, filter: Filter) -> Vec<String> {
    let reply = search(asked, filter);
    claims(&reply).into_iter().map(str::to_owned).collect()
}

#[test]
fn a_search_without_words_and_one_by_an_agent_are_refused() {
    let asked = Sandbox::open_new();
    let refused = |who: &Caller, filter: Filter, limit| {
        let search = Search { filter, limit };
        asked.0.ask(who, ask::Search(search)).unwrap_err()
    };
    refused(&USER, text(" "), None);
    refused(&USER, text("x"), Some(0));
    refused(&USER, text("x"), Some(201));
    refused(&USER, text(&"x ".repeat(2_000)), None);
    refused(&asked.agent("codex"), text("x"), None);
    assert_eq!(search(&asked, text("!!!")).verdict, AnswerQuality::None);
}

/// Words that no claim has do not hide the claims with the one that matters, however many there are.
#[test]
fn a_question_in_half_other_words_finds_its_claims() {
    let at = Sandbox::open_new();
    for n in 0..18 {
        at.claim(&format!(
            "Job {n} of the importer retries with full jitter."
        ));
    }
    at.claim("The lexer is fast.");
    let asked = at.query(&USER, "how do retries back off?");
    assert!(!asked.engrams.is_empty());
    let asked = at.query(
        &USER,
        "retries of quantum chromodynamics simulations elsewhere",
    );
    assert_eq!(asked.verdict, AnswerQuality::None);
}
