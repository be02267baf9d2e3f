//! How often a question finds its claim among the first five, and is rightly called answered: over
//! claims and questions of three authors (`questions.jsonl`), and over pairs of claims by two authors
//! (docs/accuracy.md).

use std::collections::HashMap;

use engram_model::{AnswerQuality, hash_keys};
use serde_json::Value;

use crate::fixture::{Asked, Sandbox, USER, embed_if_asked, lines_of, on_topic};

const FIRST: usize = 5;

/// A question, and the place of its claim.
struct Question {
    text: String,
    answer: Option<usize>,
}

/// A home with these claims, as the batches of one agent.
fn home_of(claims: &[(String, String)]) -> (Sandbox, Asked) {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    for (topic, claim) in claims {
        sandbox.clock.turn(60);
        at.put(&USER, on_topic(topic, claim)).unwrap();
    }
    embed_if_asked(&sandbox, &at);
    (sandbox, at)
}

/// BM25 over the same words, identifiers and stems, as a search engine without meaning would.
struct Words<'c> {
    claims: Vec<Vec<String>>,
    having: HashMap<String, f64>,
    mean: f64,
    all: &'c [(String, String)],
}

impl<'c> Words<'c> {
    fn of(all: &'c [(String, String)]) -> Self {
        let claims: Vec<Vec<String>> = all.iter().map(|it| words_of(&it.1)).collect();
        let mut having = HashMap::new();
        for word in claims.iter().flatten() {
            *having.entry(word.clone()).or_default() += 1.0;
        }
        let mean = claims.iter().map(Vec::len).sum::<usize>() as f64 / claims.len() as f64;
        Self {
            claims,
            having,
            mean,
            all,
        }
    }

    fn first(&self, question: &str) -> Vec<&'c str> {
        let asked = words_of(question);
        let score = |words: &Vec<String>| -> f64 {
            let shared = asked.iter().filter(|it| words.contains(it));
            let length = 0.25 + 0.75 * words.len() as f64 / self.mean;
            let weight = |word: &String| {
                let having = self.having[word];
                let all = self.claims.len() as f64;
                (1.0 + (all - having + 0.5) / (having + 0.5)).ln() * 2.2 / (1.0 + 1.2 * length)
            };
            shared.map(weight).sum()
        };
        let mut scored: Vec<(f64, usize)> = self
            .claims
            .iter()
            .enumerate()
            .map(|(at, words)| (score(words), at))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let first = scored.iter().take(FIRST);
        first.map(|it| self.all[it.1].1.as_str()).collect()
    }
}

fn words_of(text: &str) -> Vec<String> {
    let keys = hash_keys(text, &[], "", &[]);
    keys.exact().chain(&keys.words).cloned().collect()
}

/// Shares of some questions.
struct Shares {
    /// The claim is the first answer.
    best: f64,
    /// It is among the first, by Engram and by words alone.
    engram: f64,
    words: f64,
    /// The question is called strongly answered.
    strong: f64,
}

impl std::fmt::Display for Shares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "first {:.2}, among the first {FIRST} {:.2} (by words alone {:.2}), strong {:.2}",
            self.best, self.engram, self.words, self.strong
        )
    }
}

fn ask_all<'q>(
    at: &Asked,
    claims: &[(String, String)],
    questions: impl Iterator<Item = &'q Question>,
) -> Shares {
    let words = Words::of(claims);
    let (mut count, mut best, mut engram, mut by_words, mut strong) = (0, 0, 0, 0, 0);
    for question in questions {
        count += 1;
        let reply = at.query(&USER, &question.text);
        strong += usize::from(reply.verdict == AnswerQuality::Strong);
        let Some(answer) = question.answer.map(|it| claims[it].1.as_str()) else {
            continue;
        };
        let found = reply.engrams.iter().take(FIRST).map(|it| it.claim.as_str());
        let found: Vec<&str> = found.collect();
        best += usize::from(found.first() == Some(&answer));
        engram += usize::from(found.contains(&answer));
        by_words += usize::from(words.first(&question.text).contains(&answer));
    }
    let share = |of: usize| of as f64 / f64::from(count);
    Shares {
        best: share(best),
        engram: share(engram),
        words: share(by_words),
        strong: share(strong),
    }
}

#[test]
fn a_question_finds_its_claim_whatever_its_words() {
    let lines = lines_of("tests/engine/asking/questions.jsonl");
    let text = |line: &Value, key: &str| line[key].as_str().map(str::to_owned);
    let claims: Vec<(String, String)> = lines
        .iter()
        .filter_map(|it| Some((text(it, "topic")?, text(it, "claim")?)))
        .collect();
    let (_sandbox, at) = home_of(&claims);
    let asked = |key: &str| -> Vec<Question> {
        let of = |(place, line): (usize, &Value)| {
            text(line, key).map(|text| Question {
                text,
                answer: (key != "unanswered").then_some(place),
            })
        };
        lines.iter().enumerate().filter_map(of).collect()
    };
    // Every second question is never read when the ranking is changed; only these totals are known.
    for (half, from) in [("read", 0), ("unread", 1)] {
        for key in ["plain", "other_words", "unanswered"] {
            let questions = asked(key);
            let shares = ask_all(&at, &claims, questions.iter().skip(from).step_by(2));
            println!("{half} {key}: {shares}");
            let is_met = match key {
                "plain" => shares.engram >= 0.98 && shares.strong >= 0.80,
                "other_words" => shares.engram >= 0.95 && shares.engram >= shares.words,
                _ => shares.strong <= 0.05,
            };
            assert!(is_met, "{half} {key}: {shares}");
        }
    }
}

#[test]
fn a_claim_finds_its_partner_in_other_words() {
    let lines = lines_of("../consistency/tests/claims/strangers.jsonl");
    let text = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
    let claims: Vec<(String, String)> = lines
        .iter()
        .map(|it| ("pairs".to_owned(), text(it, "a")))
        .collect();
    let (_sandbox, at) = home_of(&claims);
    let of = |(place, line): (usize, &Value)| Question {
        text: text(line, "b"),
        answer: Some(place),
    };
    let is_pair = |it: &(usize, &Value)| it.1["label"] == "contradiction";
    let questions: Vec<Question> = lines.iter().enumerate().filter(is_pair).map(of).collect();
    let shares = ask_all(&at, &claims, questions.iter());
    println!("partners: {shares}");
    assert!(shares.engram >= 0.92 && shares.engram >= shares.words - 0.005);
}
