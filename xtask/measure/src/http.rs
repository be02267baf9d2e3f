//! `engram serve` as an orchestrator and its agents call it: HTTP, each by a token.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The server ends a connection that says nothing for longer than this, and a bit.
const FRESH: Duration = Duration::from_secs(10);

/// A server that ends with this.
pub(crate) struct Served {
    server: Child,
    pub(crate) address: String,
    /// The user's.
    pub(crate) token: String,
}

impl Served {
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

    /// A connection by this token.
    pub(crate) fn by(&self, token: &str) -> Connection {
        let host = self.address.split("://").last().unwrap_or_default();
        Connection {
            host: host.to_owned(),
            token: token.to_owned(),
            open: None,
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Calls one after the other, over one connection.
pub(crate) struct Connection {
    host: String,
    token: String,
    open: Option<(BufReader<TcpStream>, Instant)>,
}

/// What came back, and how long it took.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) took: Duration,
}

impl Answer {
    /// What was asked for; a refusal is an error.
    pub(crate) fn good(self) -> Result<Value> {
        ensure!(
            (200..300).contains(&self.status),
            "{}: {}",
            self.status,
            self.body
        );
        Ok(self.body)
    }
}

impl Connection {
    pub(crate) fn get(&mut self, path: &str) -> Result<Answer> {
        self.call("GET", path, "")
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> Result<Answer> {
        self.call("POST", path, body)
    }

    fn call(&mut self, method: &str, path: &str, body: &str) -> Result<Answer> {
        let (host, token) = (&self.host, &self.token);
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let open = self.open.take().filter(|it| it.1.elapsed() < FRESH);
        let mut stream = match open {
            Some((stream, _)) => stream,
            None => {
                let stream = TcpStream::connect(&self.host)?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        let start = Instant::now();
        stream.get_mut().write_all(request.as_bytes())?;
        let (status, body) = answer(&mut stream).with_context(|| format!("{method} {path}"))?;
        let took = start.elapsed();
        self.open = Some((stream, Instant::now()));
        let body = if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&body)?
        };
        Ok(Answer { status, body, took })
    }
}

/// The status and the body.
fn answer(stream: &mut impl BufRead) -> Result<(u16, Vec<u8>)> {
    let mut line = |into: &mut String| -> Result<()> {
        into.clear();
        ensure!(stream.read_line(into)? > 0, "the server went away");
        Ok(())
    };
    let (mut head, mut length) = (String::new(), 0);
    line(&mut head)?;
    let status = head.split(' ').nth(1).unwrap_or_default().parse()?;
    loop {
        line(&mut head)?;
        let Some((name, value)) = head.trim_end().split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((status, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_status_and_its_body() {
        let said = "HTTP/1.1 201 Created\r\nContent-Type: x\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1";
        let (status, body) = answer(&mut said.as_bytes()).unwrap();
        assert_eq!((status, body.as_slice()), (201, b"{}".as_slice()));
        for cut in ["", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}"] {
            assert!(answer(&mut cut.as_bytes()).is_err(), "{cut}");
        }
    }
}
