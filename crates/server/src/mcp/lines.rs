//! Newline-delimited JSON-RPC over a pair of streams. What is not a message is answered here, so
//! that no input ends the server: the SDK's own transport is silent on lines that are not JSON, and
//! its handshake ends on a notification that comes too early.

use std::io;

use rmcp::{
    ErrorData, RoleServer,
    model::*,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::mpsc,
    task::JoinHandle,
};

/// Longest line that is read; the rest of a longer one is skipped.
const MAX_LINE: usize = 4 * 1024 * 1024;

/// Messages that wait for a slow reader before the server waits too.
const QUEUE: usize = 64;

/// What waits for the writer; `None` ends it.
type Outgoing = Option<Vec<u8>>;

/// The transport. [`Transport::receive`] is cancelled whenever something else happens, so
/// everything half done is kept here.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// The rest of a line that was too long is being skipped.
    skipping: bool,
    ended: bool,
    /// The client has chosen its era; before that, only requests mean something.
    opened: bool,
    /// An answer of this transport's own that is not yet queued.
    answer: Option<Vec<u8>>,
    out: mpsc::Sender<Outgoing>,
    writer: Option<JoinHandle<()>>,
}

impl<R: AsyncRead + Send + Unpin> Lines<R> {
    /// Starts the writer of `output`.
    pub(super) fn new<W: AsyncWrite + Send + Unpin + 'static>(input: R, output: W) -> Self {
        let (out, queue) = mpsc::channel(QUEUE);
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skipping: false,
            ended: false,
            opened: false,
            answer: None,
            out,
            writer: Some(tokio::spawn(write(output, queue))),
        }
    }

    /// The next line without its end; an empty one too. `None` at the end of the input.
    async fn next(&mut self) -> Option<Result<Vec<u8>, ErrorData>> {
        while !self.ended {
            let buffer = match self.input.fill_buf().await {
                Ok(buffer) => buffer,
                Err(error) => {
                    tracing::warn!(%error, "the input broke");
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
                    format!("the line is longer than {MAX_LINE} bytes; send less at once"),
                    None,
                )));
            } else if complete {
                return Some(Ok(std::mem::take(&mut self.line)));
            }
        }
        None
    }

    /// Whether the handshake can take this message.
    fn admits(&mut self, message: &ClientJsonRpcMessage) -> bool {
        if let ClientJsonRpcMessage::Request(request) = message {
            self.opened |= opens(&request.request);
            return true;
        }
        self.opened
    }
}

/// Whether the SDK leaves its handshake with this request.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28)
                .is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

/// A message, nothing (a blank line, or a notification that nobody knows), or what is wrong.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, JsonRpcError> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
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

/// Methods of the protocol whose parameters this server reads.
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

async fn write<W: AsyncWrite + Unpin>(mut output: W, mut queue: mpsc::Receiver<Outgoing>) {
    while let Some(Some(message)) = queue.recv().await {
        let written = async {
            output.write_all(&message).await?;
            output.flush().await
        };
        if let Err(error) = written.await {
            tracing::warn!(%error, "the client no longer reads");
            return;
        }
    }
}

fn line(message: &TxJsonRpcMessage<RoleServer>) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let out = self.out.clone();
        async move {
            out.send(Some(line(&message)?))
                .await
                .map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.answer.is_some() {
                let place = self.out.reserve().await.ok()?;
                place.send(self.answer.take());
            }
            let parsed = match self.next().await {
                Some(Ok(line)) => parse(&line),
                Some(Err(error)) => Err(JsonRpcError::new(None, error)),
                None => {
                    // The SDK closes what it serves, but drops a transport whose handshake ended.
                    if !self.opened {
                        let _ = self.close().await;
                    }
                    return None;
                }
            };
            match parsed {
                Ok(Some(message)) if self.admits(&message) => return Some(message),
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(message = %error.error.message, "refused a line");
                    self.answer = line(&TxJsonRpcMessage::<RoleServer>::Error(error)).ok();
                }
            }
        }
    }

    /// Waits for the writer, but not for a reader that is gone.
    async fn close(&mut self) -> io::Result<()> {
        const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
        if let Some(writer) = self.writer.take() {
            let _ = tokio::time::timeout(PATIENCE, async {
                let _ = self.out.send(None).await;
                let _ = writer.await;
            })
            .await;
        }
        Ok(())
    }
}
