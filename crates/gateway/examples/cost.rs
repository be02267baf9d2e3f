//! Measures what checking a message costs compared with counting its tokens, and how well code is
//! distinguished from prose.
//!
//! `cargo run --release -p engram-gateway --example cost` prints times, or with `--json` all of
//! them, in nanoseconds. `... --example cost -- FILE...` prints each paragraph of documents (`.md`,
//! `.txt`) that is taken for code, and for other files the number of six-line windows that are
//! not. Never part of the product.

use std::{hint::black_box, time::Instant};

use engram_gateway::{code_chars, count_tokens, read_message};
use engram_model::Limits;
use serde_json::{Value, json};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        None => times(false),
        Some("--json") => times(true),
        Some(_) => corpus(&args),
    }
}

fn corpus(files: &[String]) {
    let (mut paragraphs, mut taken, mut windows, mut missed) = (0, 0, 0, 0);
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if file.ends_with(".md") || file.ends_with(".txt") {
            let mut fenced = false;
            for part in text.split("\n\n") {
                let is_prose = !fenced && !part.contains("```");
                fenced ^= part.matches("```").count() % 2 == 1;
                if is_prose {
                    paragraphs += 1;
                    if code_chars(part) > 0 {
                        taken += 1;
                        println!("PROSE {file}: {part:.300}\n");
                    }
                }
            }
            continue;
        }
        let is_code = |line: &&str| {
            let line = line.trim();
            !line.is_empty() && !["//", "#", "*"].iter().any(|mark| line.starts_with(mark))
        };
        let lines: Vec<&str> = text.lines().filter(is_code).collect();
        for window in lines.chunks_exact(6) {
            windows += 1;
            if code_chars(&window.join("\n")) == 0 {
                missed += 1;
                if missed % 40 == 1 {
                    println!("CODE {file}:\n{}\n", window.join("\n"));
                }
            }
        }
    }
    println!(
        "{taken} of {paragraphs} paragraphs are taken for code, {missed} of {windows} windows are not"
    );
}

fn times(is_json: bool) {
    let message = message();
    let text = message.to_string();
    let limits = Limits::default();
    let validate = |text: &str| {
        let sent = read_message(text.as_bytes(), &limits);
        let checked = sent.and_then(|it| it.check(&limits));
        checked.map_or(0, |it| it.tokens)
    };
    let tokens = validate(&text);
    let (mut count, mut check, mut code) = (Vec::new(), Vec::new(), Vec::new());
    // Measured alternately, so that other load on the machine affects all of them.
    for _ in 0..500 {
        count.push(time(|| count_tokens(black_box(&text))));
        check.push(time(|| validate(black_box(&text))));
        code.push(time(|| code_chars(black_box(&text))));
    }
    if is_json {
        println!(
            "{}",
            json!({ "tokens": tokens, "count": count, "check": check })
        );
        return;
    }
    println!("{tokens} tokens, {} bytes", text.len());
    let [count, check, code] = [count, check, code].map(median);
    println!(
        "count {count:.1} us, check {check:.1} us, ratio {:.2}; code alone {code:.1} us",
        check / count
    );
}

/// Returns the time in nanoseconds.
fn time(run: impl FnOnce() -> usize) -> u64 {
    let began = Instant::now();
    black_box(run());
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the median in microseconds.
fn median(mut times: Vec<u64>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2] as f64 / 1e3
}

/// A message of about 800 tokens, as a child would send it.
fn message() -> Value {
    let engram = |at: usize| {
        json!({
            "kind": "risk",
            "claim": format!("The reservation flow of service {at} takes the row lock (see `reserve()`) before it reads the balance, so two callers cannot both pass; retries = 3."),
            "confidence": 0.72, "ttl": "P7D", "scope": "project",
            "pointers": [format!("repo:services/gateway/vendor_client_{at}.py#L280-L360@HEAD")]
        })
    };
    json!({
        "role": "programmer", "task_status": "blocked",
        "engrams": (0..9).map(engram).collect::<Vec<_>>(),
        "output": {
            "summary": "Top risks identified; need deref grant for ledger code. Both paths take the lock late; the third does not take it.",
            "next": "Await grant or alternative pointers; then write the test that lets two callers reserve at once."
        }
    })
}
