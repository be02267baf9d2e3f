//! A language model that takes its time: an endpoint on this machine that says the same of every pair.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use serde_json::json;

use super::idle::pause;

/// Answers one request after the other until the process ends.
pub(super) struct SlowJudge {
    address: String,
    asked: Arc<AtomicUsize>,
}

impl SlowJudge {
    /// Starts a judge that thinks about each pair for this long.
    pub(super) fn start(thinks: Duration) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let judge = Self {
            address: format!("http://{}", listener.local_addr()?),
            asked: Arc::default(),
        };
        let asked = judge.asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                asked.fetch_add(1, Relaxed);
                if let Err(error) = answer(stream, thinks) {
                    eprintln!("the judge: {error:#}");
                }
            }
        });
        Ok(judge)
    }

    /// The `models.toml` that chooses it.
    pub(super) fn as_chosen(&self) -> String {
        format!("[llm]\nurl = \"{}/v1\"\nmodel = \"slow\"\n", self.address)
    }

    /// How often it was asked.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Relaxed)
    }
}

/// Reads a whole request, thinks, and answers.
fn answer(stream: TcpStream, thinks: Duration) -> Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_lowercase();
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().context("no length")?;
        }
        if line.is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    pause(thinks);
    let verdict = json!({ "verdict": "contradiction", "sure": 0.8, "why": "Both cannot hold." });
    let message = json!({ "role": "assistant", "content": verdict.to_string() });
    let body = json!({ "choices": [{ "message": message }] }).to_string();
    let length = body.len();
    let mut stream = reader.into_inner();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    Ok(())
}
