//! A client for one line out and one line in, over a pipe: the same for the product, its baselines
//! and its peers. It times only the pipe, not the parsing.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::idle;

/// Calls of one party before the next one's turn, so that other work of the machine affects all of
/// them.
const ROUND: usize = 100;

pub(crate) struct LineClient {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    /// Whether it is a server that continues to work after its answers.
    is_server: bool,
}

/// An answer and the time that it took.
pub(crate) struct TimedAnswer {
    pub(crate) result: Value,
    pub(crate) took: Duration,
    /// The length of the line.
    pub(crate) bytes: usize,
}

impl LineClient {
    /// Starts a program that answers line by line.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| {
                format!("{} cannot be started", xtask::shell::command_line(command))
            })?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            bail!("the server has no standard input or output");
        };
        Ok(Self {
            process,
            input,
            output: BufReader::new(output),
            next: 0,
            is_server: false,
        })
    }

    /// Starts an MCP server and performs the handshake.
    pub(crate) fn start_mcp(command: &mut Command) -> Result<Self> {
        let mut client = Self::start(command)?;
        client.is_server = true;
        client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "bench", "version": "1" },
            }),
        )?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        client.send(&format!("{ready}\n"))?;
        Ok(client)
    }

    fn send(&mut self, line: &str) -> Result<()> {
        self.input.write_all(line.as_bytes())?;
        Ok(self.input.flush()?)
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<TimedAnswer> {
        self.next += 1;
        let id = self.next;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let request = format!("{request}\n");
        let start = Instant::now();
        self.send(&request)?;
        loop {
            let mut line = String::new();
            let bytes = self.output.read_line(&mut line)?;
            let took = start.elapsed();
            ensure!(bytes > 0, "the server closed its output");
            let mut answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == json!(id) {
                ensure!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                let result = answer["result"].take();
                return Ok(TimedAnswer {
                    result,
                    took,
                    bytes,
                });
            }
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<TimedAnswer> {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask("tools/call", params)?;
        let result = &answer.result;
        ensure!(result["isError"] != json!(true), "{tool}: {result}");
        Ok(answer)
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn finish(self) -> Result<()> {
        let Self {
            mut process,
            input,
            output,
            ..
        } = self;
        drop((input, output));
        ensure!(process.wait()?.success(), "the server ended with an error");
        Ok(())
    }
}

type Hit<'a> = Box<dyn Fn(usize, &Value) -> bool + 'a>;

/// One of the parties timed in turn.
pub(super) struct Party<'a> {
    pub(super) client: &'a mut LineClient,
    tool: &'static str,
    arguments: Box<dyn Fn(usize) -> Value + 'a>,
    hit: Hit<'a>,
    pub(super) times: Vec<Duration>,
    pub(super) hits: usize,
    pub(super) answers: Vec<Value>,
}

impl<'a> Party<'a> {
    /// A party whose nth call of `tool` has the arguments `arguments(n)`.
    pub(super) fn new(
        client: &'a mut LineClient,
        tool: &'static str,
        arguments: impl Fn(usize) -> Value + 'a,
    ) -> Self {
        Self {
            client,
            tool,
            arguments: Box::new(arguments),
            hit: Box::new(|_, _| false),
            times: Vec::new(),
            hits: 0,
            answers: Vec::new(),
        }
    }

    /// Also counts the answers that contain what the nth call wanted.
    pub(super) fn wants(mut self, hit: impl Fn(usize, &Value) -> bool + 'a) -> Self {
        self.hit = Box::new(hit);
        self
    }

    fn call(&mut self, n: usize) -> Result<()> {
        let answer = self.client.call(self.tool, (self.arguments)(n))?;
        self.times.push(answer.took);
        self.hits += usize::from((self.hit)(n, &answer.result));
        self.answers.push(answer.result);
        Ok(())
    }
}

/// Lets each party make the calls of `numbers`, one round at a time. A server's remaining work ends
/// before the next party's turn, so that it does not slow that party down.
pub(super) fn call_in_turn(
    numbers: std::ops::Range<usize>,
    parties: &mut [Party<'_>],
) -> Result<()> {
    let end = numbers.end;
    for from in numbers.step_by(ROUND) {
        for party in &mut *parties {
            for n in from..end.min(from + ROUND) {
                party.call(n)?;
            }
            if party.client.is_server {
                idle::wait_until_quiet(&[party.client.id()], idle::LULL)?;
            }
        }
    }
    Ok(())
}
