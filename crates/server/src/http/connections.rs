//! Connections: their time limits and what is sent on them. The server closes a connection whose
//! client sends nothing or reads nothing. If all places are taken, `connection_places.rs` decides
//! which connection to close early.

use std::{
    convert::Infallible,
    future::poll_fn,
    io,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{Router, body::Bytes};
use hyper::{
    Request,
    body::{Body, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf},
    net::{TcpListener, TcpStream},
    select,
    time::{Sleep, sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use super::connection_places::{ConnectionPlace, ConnectionPlaces, ConnectionSignals, UnderWay};
use crate::permits::WAIT;

/// The longest head of a request, in bytes: a browser sends the cookies of all servers on this
/// machine.
const MAX_HEAD: usize = 64 * 1024;

/// How long to keep reading from a client that still sends after its last answer.
const LINGER: Duration = Duration::from_secs(1);

/// The limits of one server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Connections that have not shown a token.
    pub(super) strangers: usize,
    /// Connections that have shown a token.
    pub(super) known: usize,
    /// Connections that one agent's token may hold, out of `known`.
    pub(super) each: usize,
    /// Connections that an agent and all agents of its tree may hold, out of `known`.
    pub(super) tree: usize,
    /// Connections reserved for the user, out of `known`.
    pub(super) kept: usize,
    /// Requests in the engine at once; more wait.
    pub(super) requests: usize,
    /// Requests of agents at once, out of `requests`.
    pub(super) of_agents: usize,
    /// Requests of the agents of one tree at once, out of `of_agents`.
    pub(super) of_tree: usize,
    /// How long a request of an agent waits for its permit.
    pub(super) permit_wait: Duration,
    /// Event streams. Each holds two threads and a watch on the doorbell.
    pub(super) streams: usize,
    /// Time limit for the TLS handshake and for the head of a request. A connection without a
    /// request is closed after it too.
    pub(super) head: Duration,
    /// Time limit for the body of a request.
    pub(super) body: Duration,
    /// Time limit for the client to take some of what is being sent.
    pub(super) taken: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            strangers: 128,
            known: 128,
            each: 16,
            tree: 64,
            kept: 8,
            requests: 8,
            of_agents: 6,
            of_tree: 4,
            permit_wait: WAIT,
            streams: 16,
            head: Duration::from_secs(20),
            body: Duration::from_secs(30),
            taken: Duration::from_secs(30),
        }
    }
}

/// Answers every client that connects.
pub(super) async fn serve(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    places: Arc<ConnectionPlaces>,
) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (acceptor, router) = (acceptor.clone(), router.clone());
                let place = places.admit();
                let signals = Arc::clone(&place.signals);
                let connection = serve_connection(stream, acceptor, router, place);
                tokio::spawn(async move {
                    select! {
                        () = signals.ended.notified() => {}
                        () = connection => {}
                    }
                });
            }
            Err(error) if is_client_abort(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections; trying again in a second");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Whether the client ended the connection before the server accepted it.
fn is_client_abort(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    [ConnectionAborted, ConnectionRefused, ConnectionReset].contains(&error.kind())
}

async fn serve_connection(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    place: Arc<ConnectionPlace>,
) {
    let Bounds { head, taken, .. } = place.places.bounds;
    let stream = TimedStream {
        stream,
        within: taken,
        late: None,
        signals: Arc::clone(&place.signals),
    };
    let Some(acceptor) = acceptor else {
        return answer_requests(stream, router, place, head).await;
    };
    match timeout(head, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => answer_requests(stream, router, place, head).await,
        Ok(Err(error)) => tracing::debug!(%error, "the TLS handshake failed"),
        Err(_) => tracing::debug!("the TLS handshake took too long"),
    }
}

/// Answers one request after the other until the client leaves or is silent for too long.
async fn answer_requests<S>(stream: S, router: Router, place: Arc<ConnectionPlace>, head: Duration)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        let under_way = UnderWay::start_request(&place);
        request.extensions_mut().insert(Arc::clone(&place));
        let answer = router.call(request);
        Box::pin(async {
            let answer = answer.await?;
            Ok::<_, Infallible>(answer.map(|body| AnswerBody {
                body,
                _under_way: under_way,
            }))
        })
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .max_buf_size(MAX_HEAD)
        .max_header_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = poll_fn(|cx| connection.poll_without_shutdown(cx)).await {
        tracing::debug!(%error, "a connection ended early");
    }
    let mut stream = connection.into_parts().io.into_inner();
    // Closing a connection with unread bytes resets it, which may lose its last answer.
    let rest = async {
        stream.shutdown().await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    };
    let _ = timeout(LINGER, rest).await;
}

/// The body of an answer. Its request counts as under way until the whole body is handed out.
struct AnswerBody {
    body: axum::body::Body,
    _under_way: UnderWay,
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that fails when the client takes none of the written bytes for too long.
struct TimedStream {
    stream: TcpStream,
    within: Duration,
    /// The timer, set while written bytes wait for the client to take them.
    late: Option<Pin<Box<Sleep>>>,
    /// Records that bytes wait.
    signals: Arc<ConnectionSignals>,
}

impl TimedStream {
    fn fail_if_late<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.late.take().is_some() {
                self.signals.is_unsent.store(false, Ordering::Relaxed);
            }
            return written;
        }
        self.signals.is_unsent.store(true, Ordering::Relaxed);
        let within = self.within;
        let late = self.late.get_or_insert_with(|| Box::pin(sleep(within)));
        ready!(late.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.fail_if_late(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.fail_if_late(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
