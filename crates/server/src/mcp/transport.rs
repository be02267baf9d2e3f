//! The transport between the client's lines and the SDK, whose own transport reads and begins every
//! request. This one limits the requests under way, reads a number of lines ahead, and then stops
//! reading until the client has taken an answer.

use std::{
    collections::{HashMap, VecDeque},
    future::{pending, ready},
    io,
    sync::Arc,
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer,
    model::*,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::Serialize;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    select,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::{JoinHandle, spawn_blocking, yield_now},
    time::timeout,
};

use super::lines::{LineReader, MAX_LINE, parse};

/// The number of permits. A request holds its permits from when it begins until the client has
/// taken its answer.
const PERMITS: u32 = 32;

/// The length of request that one permit covers, in bytes: a longer request takes several permits,
/// the longest takes all.
const SHARE: usize = MAX_LINE / PERMITS as usize;

/// How far to read ahead, in lines and in bytes. This lets a cancelled request be dropped before it
/// begins, and the end of the input be noticed.
const AHEAD: usize = 1024;
const AHEAD_BYTES: usize = MAX_LINE;

/// How long a client that sends no more requests may leave its answers unread.
const PATIENCE: Duration = Duration::from_secs(5);

/// A line for the client, with the permit to release once the client has taken it; `None` ends the
/// writer. At most [`PERMITS`] answers wait here.
type Outgoing = Option<(Vec<u8>, Option<OwnedSemaphorePermit>)>;

/// A line that was read and has no permit yet.
enum QueuedLine {
    /// Kept unparsed: parsed, it would take many times the memory.
    Request(RequestId, Vec<u8>),
    /// An answer from the transport itself.
    Answer(Vec<u8>),
}

impl QueuedLine {
    fn line(&self) -> &[u8] {
        match self {
            Self::Request(_, line) | Self::Answer(line) => line,
        }
    }

    fn is_request(&self, id: &RequestId) -> bool {
        matches!(self, Self::Request(own, _) if own == id)
    }
}

/// The transport. The SDK cancels [`Transport::receive`] whenever something else happens, so
/// unfinished work is kept here.
pub(super) struct Pipe<R> {
    lines: LineReader<R>,
    /// Whether the client has chosen its protocol version. Until then, only requests are read.
    opened: bool,
    permits: Arc<Semaphore>,
    begun: HashMap<RequestId, OwnedSemaphorePermit>,
    waiting: VecDeque<QueuedLine>,
    waiting_bytes: usize,
    /// Notifications passed to the SDK since this last yielded to other tasks.
    notified: u32,
    /// Returns once nobody can write to the input; called only if reading has stopped before the
    /// end.
    hung_up: Option<fn()>,
    watch: Option<JoinHandle<()>>,
    /// Whether nobody can write any more, although part of the input is unread.
    left: bool,
    out: mpsc::UnboundedSender<Outgoing>,
    writer: Option<JoinHandle<()>>,
}

impl<R: AsyncRead + Send + Unpin> Pipe<R> {
    /// Starts the writer for `output`.
    pub(super) fn new<W>(input: R, output: W, hung_up: Option<fn()>) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (out, queue) = mpsc::unbounded_channel();
        Self {
            lines: LineReader::new(input),
            opened: false,
            permits: Arc::new(Semaphore::new(PERMITS as usize)),
            begun: HashMap::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            notified: 0,
            hung_up,
            watch: None,
            left: false,
            out,
            writer: Some(tokio::spawn(write_lines(output, queue))),
        }
    }

    /// Handles a line. Returns the message that the SDK gets at once, if any.
    fn accept_line(&mut self, line: Vec<u8>) -> Option<ClientJsonRpcMessage> {
        match parse(&line) {
            Ok(Some(ClientJsonRpcMessage::Request(request))) => self.accept_request(request, line),
            Ok(Some(message)) if self.opened => {
                if let Some(id) = cancelled_id(&message) {
                    if self.drop_waiting(id) {
                        return None;
                    }
                    // The SDK drops the answer of a cancelled request, so release its permit here.
                    self.begun.remove(id);
                }
                self.notified += 1;
                Some(message)
            }
            Ok(_) => None,
            Err(error) => self.refuse(error),
        }
    }

    fn accept_request(
        &mut self,
        request: JsonRpcRequest<ClientRequest>,
        line: Vec<u8>,
    ) -> Option<ClientJsonRpcMessage> {
        let id = &request.id;
        if self.begun.contains_key(id) || self.waiting.iter().any(|it| it.is_request(id)) {
            return self.refuse(JsonRpcError::new(
                Some(request.id),
                ErrorData::invalid_request(
                    "an earlier request with this id is still pending; use a new id for each",
                    None,
                ),
            ));
        }
        match self.try_permit(&line) {
            Some(permit) => Some(self.begin_request(request, permit)),
            None => self.enqueue(QueuedLine::Request(request.id, line)),
        }
    }

    /// Answers a line that is not a valid request.
    fn refuse(&mut self, error: JsonRpcError) -> Option<ClientJsonRpcMessage> {
        tracing::debug!(message = %error.error.message, "refused a line");
        let answer = encode_line(&TxJsonRpcMessage::<RoleServer>::Error(error)).ok()?;
        match self.try_permit(&answer) {
            Some(permit) => self.send_answer(answer, permit),
            None => self.enqueue(QueuedLine::Answer(answer)),
        }
    }

    /// Returns a permit for a line, if one is free and no earlier line waits.
    fn try_permit(&self, line: &[u8]) -> Option<OwnedSemaphorePermit> {
        let permits = Arc::clone(&self.permits);
        let permit = self.waiting.is_empty().then_some(permits)?;
        permit.try_acquire_many_owned(permits_for(line)).ok()
    }

    fn enqueue(&mut self, waiting: QueuedLine) -> Option<ClientJsonRpcMessage> {
        self.waiting_bytes += waiting.line().len();
        self.waiting.push_back(waiting);
        None
    }

    /// Gives the first waiting line its permit.
    fn start_first_waiting(
        &mut self,
        permit: OwnedSemaphorePermit,
    ) -> Option<ClientJsonRpcMessage> {
        let first = self.waiting.pop_front()?;
        self.waiting_bytes -= first.line().len();
        match first {
            QueuedLine::Answer(answer) => self.send_answer(answer, permit),
            QueuedLine::Request(_, line) => match parse(&line) {
                Ok(Some(ClientJsonRpcMessage::Request(request))) => {
                    Some(self.begin_request(request, permit))
                }
                _ => None,
            },
        }
    }

    fn begin_request(
        &mut self,
        request: JsonRpcRequest<ClientRequest>,
        permit: OwnedSemaphorePermit,
    ) -> ClientJsonRpcMessage {
        self.opened |= ends_handshake(&request.request);
        self.begun.insert(request.id.clone(), permit);
        ClientJsonRpcMessage::Request(request)
    }

    /// Drops a waiting request; returns false if there is none.
    fn drop_waiting(&mut self, id: &RequestId) -> bool {
        let Some(at) = self.waiting.iter().position(|it| it.is_request(id)) else {
            return false;
        };
        let gone = self.waiting.remove(at);
        self.waiting_bytes -= gone.map_or(0, |it| it.line().len());
        true
    }

    /// Sends an answer from the transport itself.
    fn send_answer(
        &self,
        answer: Vec<u8>,
        permit: OwnedSemaphorePermit,
    ) -> Option<ClientJsonRpcMessage> {
        // The writer outlives every message.
        let _ = self.out.send(Some((answer, Some(permit))));
        None
    }
}

/// Waits, on another thread, until nobody can write to the input any more.
async fn wait_for_hang_up(watch: &mut Option<JoinHandle<()>>, hung_up: Option<fn()>) {
    let Some(hung_up) = hung_up else {
        return pending().await;
    };
    let watch = watch.get_or_insert_with(|| spawn_blocking(hung_up));
    let _ = watch.await;
}

/// How many permits a line takes.
fn permits_for(line: &[u8]) -> u32 {
    u32::try_from(line.len() / SHARE + 1).map_or(PERMITS, |it| it.min(PERMITS))
}

/// Returns the request that a notification cancels.
fn cancelled_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Notification(JsonRpcNotification {
            notification: ClientNotification::CancelledNotification(cancelled),
            ..
        }) => cancelled.params.request_id.as_ref(),
        _ => None,
    }
}

/// Returns the request that a message answers.
fn answered_id(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(answer) => Some(&answer.id),
        ServerJsonRpcMessage::Error(answer) => answer.id.as_ref(),
        _ => None,
    }
}

/// Whether this request ends the SDK's handshake.
fn ends_handshake(request: &ClientRequest) -> bool {
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

fn encode_line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes lines until a `None` arrives. Once the client is gone, it drops the lines instead, which
/// releases their permits.
async fn write_lines<W: AsyncWrite + Unpin>(
    mut output: W,
    mut queue: mpsc::UnboundedReceiver<Outgoing>,
) {
    let mut gone = false;
    while let Some(Some((line, _permit))) = queue.recv().await {
        if gone {
            continue;
        }
        let written = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        if let Err(error) = written.await {
            tracing::info!(%error, "the client no longer reads");
            gone = true;
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Pipe<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let permit = answered_id(&message).and_then(|id| self.begun.remove(id));
        let sent = encode_line(&message).and_then(|line| {
            let sent = self.out.send(Some((line, permit)));
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        });
        ready(sent)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // The SDK starts a task for each notification, and no permit limits them: let them run.
            if self.notified == PERMITS {
                self.notified = 0;
                yield_now().await;
            }
            let ended = self.lines.ended;
            let first = self.waiting.front().map(|it| permits_for(it.line()));
            if ended && first.is_none() {
                // The SDK closes a connection that it serves, but drops a transport whose handshake
                // failed.
                if !self.opened {
                    let _ = self.close().await;
                }
                return None;
            }
            let permit = Arc::clone(&self.permits).acquire_many_owned(first.unwrap_or_default());
            let last = ended || self.left;
            let permit = async {
                if last {
                    timeout(PATIENCE, permit).await.ok()?.ok()
                } else {
                    permit.await.ok()
                }
            };
            let more = self.waiting.len() < AHEAD && self.waiting_bytes < AHEAD_BYTES;
            let message = select! {
                biased;
                permit = permit, if first.is_some() => self.start_first_waiting(permit?),
                line = self.lines.next(), if more && !ended => match line {
                    Some(Ok(line)) => self.accept_line(line),
                    Some(Err(error)) => self.refuse(JsonRpcError::new(None, error)),
                    None => None,
                },
                () = wait_for_hang_up(&mut self.watch, self.hung_up), if !more && !last => {
                    self.left = true;
                    None
                }
            };
            if message.is_some() {
                return message;
            }
        }
    }

    /// Waits for the writer, but only for a limited time if the client no longer reads.
    async fn close(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            let _ = self.out.send(None);
            let _ = timeout(PATIENCE, writer).await;
        }
        Ok(())
    }
}
