//! What it costs to check a message beside counting its tokens, and how well code is told from prose.
//!
//! `cargo run --release -p engram-gateway --example cost` prints times; `... --example cost -- FILE...`
//! prints each paragraph of documents (`.md`, `.txt`) that is taken for code, and of other files how many
//! windows of six lines are not. Never part of the product.

use std::{hint::black_box, time::Instant};

use engram_gateway::{code_chars, count_tokens, validate_message};
use engram_model::Limits;
use serde_json::{Value, json};

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    match files.is_empty() {
        true => times(),
        false => corpus(&files),
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
        let is_code = |it: &&str| {
            let it = it.trim();
            !it.is_empty() && !it.starts_with("//") && !it.starts_with('#') && !it.starts_with('*')
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

fn times() {
    let message = message();
    let text = message.to_string();
    let limits = Limits::default();
    println!("{} tokens, {} bytes", count_tokens(&text), text.len());
    let count = time(|| count_tokens(black_box(&text)));
    let check = time(|| validate_message(black_box(&message), &limits).unwrap_or(0));
    let code = time(|| code_chars(black_box(&text)));
    println!(
        "count {count:.1} us, check {check:.1} us, ratio {:.2}; code alone {code:.1} us",
        check / count
    );
}

/// The median of many runs, in microseconds.
fn time(mut run: impl FnMut() -> usize) -> f64 {
    let mut times: Vec<f64> = (0..500)
        .map(|_| {
            let began = Instant::now();
            black_box(run());
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// About 800 tokens, as a child would send them.
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
        "engrams": (0..8).map(engram).collect::<Vec<_>>(),
        "output": {
            "summary": "Top risks identified; need deref grant for ledger code.",
            "next": "Await grant or alternative pointers."
        }
    })
}
