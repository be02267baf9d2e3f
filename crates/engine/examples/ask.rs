//! Answers one request and measures its cost, for `cargo xtask bench --hostile`.
//!
//! `ask HOME REPO user|agent REQUEST`, with the request as JSON, prints one object: the time until
//! the engine was open and until it answered (`opened_ms`, `took_ms`), the peak memory of the
//! answer beyond that of the open engine (`took_kb`), and `code`, which is `ok` unless the request
//! was refused.
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use std::{env, fs, path::PathBuf, time::Instant};

use engram_engine::{Engine, Options};
use engram_model::{Caller, Request};
use serde_json::json;

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let [home, repo, who, request] = &args[..] else {
        panic!("ask HOME REPO user|agent REQUEST");
    };
    let request: Request = serde_json::from_str(request).unwrap();
    let (home, repo) = (PathBuf::from(home), PathBuf::from(repo));
    let options = Options {
        home,
        repo: Some(repo.clone()),
        from: repo,
    };
    let start = Instant::now();
    let engine = Engine::open(options);
    let opened = start.elapsed();
    let (rest, start) = (memory("VmRSS:"), Instant::now());
    // Resets the peak.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let answer = engine.and_then(|engine| {
        let caller = match who.as_str() {
            "agent" => Caller::Agent(engine.register_agent("hostile")?),
            _ => Caller::User,
        };
        engine.handle(&caller, request)
    });
    let took = start.elapsed();
    let peak = memory("VmHWM:").saturating_sub(rest);
    let code = answer.err().map_or("ok", |it| it.code.as_str());
    println!(
        "{}",
        json!({ "opened_ms": opened.as_millis(), "took_ms": took.as_millis(), "took_kb": peak, "code": code })
    );
}

/// Reads a value in KB from the kernel.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix(name)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
