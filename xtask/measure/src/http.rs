//! `engram serve`, called as an orchestrator and its agents call it: over HTTP, each with a token.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use ureq::{Agent, Body, http::Response};

/// Connections idle for longer are not reused: the server closes them some time later.
const FRESH: Duration = Duration::from_secs(10);

/// A server that ends when this is dropped.
pub(crate) struct RunningServer {
    server: Child,
    pub(crate) address: String,
    /// The user's token.
    pub(crate) token: String,
}

impl RunningServer {
    /// Starts `engram .. serve`.
    pub(crate) fn start(serve: &mut Command) -> Result<Self> {
        let mut server = serve.stdout(Stdio::piped()).spawn()?;
        let said = server.stdout.take().context("the server says nothing")?;
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line)?;
        let url = said["url"].as_str().unwrap_or_default();
        let found = url.split_once("/#token=");
        ensure!(found.is_some(), "the server says {line}");
        let (address, token) = found.unwrap_or_default();
        Ok(Self {
            server,
            address: address.to_owned(),
            token: token.to_owned(),
        })
    }

    pub(crate) fn id(&self) -> u32 {
        self.server.id()
    }

    /// Returns a connection that uses this token.
    pub(crate) fn connection_with(&self, token: &str) -> HttpConnection {
        HttpConnection::to(&self.address, token)
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Makes calls one after the other, over one connection.
pub(crate) struct HttpConnection {
    agent: Agent,
    address: String,
    /// The header with the token.
    by: String,
}

/// An answer and the time that it took.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) took: Duration,
}

impl Answer {
    /// Returns the body of a successful answer; a refusal is an error.
    pub(crate) fn success_body(self) -> Result<Value> {
        ensure!(
            (200..300).contains(&self.status),
            "{}: {}",
            self.status,
            self.body
        );
        Ok(self.body)
    }
}

impl HttpConnection {
    fn to(address: &str, token: &str) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_idle_age(FRESH)
            .proxy(None)
            .build();
        Self {
            agent: agent.into(),
            address: address.to_owned(),
            by: format!("Bearer {token}"),
        }
    }

    pub(crate) fn get(&mut self, path: &str) -> Result<Answer> {
        let asked = self.agent.get(format!("{}{path}", self.address));
        let asked = asked.header("authorization", &self.by);
        timed(|| asked.call()).with_context(|| format!("GET {path}"))
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> Result<Answer> {
        let asked = self.agent.post(format!("{}{path}", self.address));
        let asked = asked.header("authorization", &self.by);
        let asked = asked.content_type("application/json");
        timed(|| asked.send(body)).with_context(|| format!("POST {path}"))
    }
}

fn timed(ask: impl FnOnce() -> Result<Response<Body>, ureq::Error>) -> Result<Answer> {
    let start = Instant::now();
    let mut answer = ask()?;
    let said = answer.body_mut().read_to_string()?;
    let took = start.elapsed();
    let status = answer.status().as_u16();
    let body = match said.as_str() {
        "" => Value::Null,
        said => serde_json::from_str(said)?,
    };
    Ok(Answer { status, body, took })
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };

    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_its_status_and_its_body() {
        let answer = |said: &'static str| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = format!("http://{}", listener.local_addr().unwrap());
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
                stream.write_all(said.as_bytes()).unwrap();
            });
            let answer = HttpConnection::to(&address, "token").get("/");
            server.join().unwrap();
            answer
        };
        let said = "HTTP/1.1 201 Created\r\nContent-Type: x\r\ncontent-length: 2\r\n\r\n{}";
        let said = answer(said).unwrap();
        assert_eq!((said.status, said.body), (201, json!({})));
        for cut in ["", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}"] {
            assert!(answer(cut).is_err(), "{cut}");
        }
    }
}
