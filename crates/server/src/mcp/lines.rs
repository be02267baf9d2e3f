//! Newline-delimited JSON-RPC. The SDK's own transport is silent on lines that are not JSON; this
//! one answers them, and no input ends the server.

use rmcp::{ErrorData, model::*};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The longest line that is read, in bytes; the rest of a longer one is skipped.
pub(super) const MAX_LINE: usize = 4 * 1024 * 1024;

/// The maximum number of values in one line, at any depth: in memory each takes many times its
/// length.
const MAX_VALUES: usize = 64 * 1024;

/// Splits the input into lines. [`LineReader::next`] may be dropped at any time: this keeps what is
/// half read.
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Whether it is skipping the rest of a line that was too long.
    skipping: bool,
    /// Whether the input has ended.
    pub(super) ended: bool,
}

impl<R: AsyncRead + Send + Unpin> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skipping: false,
            ended: false,
        }
    }

    /// Returns the next line without its end, even an empty one; `None` at the end of the input.
    pub(super) async fn next(&mut self) -> Option<Result<Vec<u8>, ErrorData>> {
        while !self.ended {
            let buffer = match self.input.fill_buf().await {
                Ok(buffer) => buffer,
                Err(error) => {
                    tracing::warn!(%error, "reading the input failed");
                    &[]
                }
            };
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let piece = end.unwrap_or(buffer.len());
            let fits = self.line.len() + piece <= MAX_LINE;
            if fits && !self.skipping {
                self.line.extend_from_slice(&buffer[..piece]);
            }
            self.ended = buffer.is_empty();
            let used = piece + usize::from(end.is_some());
            self.input.consume(used);

            let complete = end.is_some() || self.ended;
            if self.skipping {
                self.skipping = !complete;
            } else if !fits {
                self.line = Vec::new();
                self.skipping = !complete;
                return Some(Err(ErrorData::parse_error(
                    format!("the line is longer than {MAX_LINE} bytes; send less per line"),
                    None,
                )));
            } else if complete {
                return Some(Ok(std::mem::take(&mut self.line)));
            }
        }
        None
    }
}

/// Parses a line: a message, nothing (a blank line or an unknown notification), or an error.
pub(super) fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, JsonRpcError> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    if count_values(line) > MAX_VALUES {
        let message = format!("the line has more than {MAX_VALUES} values; send fewer per line");
        return Err(JsonRpcError::new(
            None,
            ErrorData::parse_error(message, None),
        ));
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let message = format!("not JSON: {error}");
        JsonRpcError::new(None, ErrorData::parse_error(message, None))
    })?;
    let id = value
        .get("id")
        .and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let wants_answer = value.get("id").is_some() || value.get("method").is_none();
    match serde_json::from_value(value) {
        Ok(message) => Ok(Some(message)),
        Err(_) if !wants_answer => Ok(None),
        Err(_) => Err(JsonRpcError::new(
            id,
            ErrorData::invalid_request(
                "not a JSON-RPC 2.0 message: it needs jsonrpc \"2.0\", a method and, for an answer, an id that is a string or an integer",
                None,
            ),
        )),
    }
}

/// Counts the values in a line of JSON: each begins a list or an object, or follows another.
fn count_values(line: &[u8]) -> usize {
    let (mut count, mut quoted, mut escaped) = (0, false, false);
    for byte in line {
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b'[' | b'{' | b',' if !quoted => count += 1,
            _ => {}
        }
        escaped = quoted && *byte == b'\\' && !escaped;
    }
    count
}

/// Whether this is a method of the protocol whose parameters this server reads.
pub(super) fn takes_params(method: &str) -> bool {
    [
        "initialize",
        "server/discover",
        "tools/call",
        "tools/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
    ]
    .contains(&method)
}
