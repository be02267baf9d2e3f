//! Who is connected, and for how long. Who has shown the token keeps its place. Strangers have few
//! places, and when all are taken the oldest makes room for the newest: connections that say nothing,
//! or read nothing, keep nobody out.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    future::poll_fn,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::Router;
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use subtle::ConstantTimeEq;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
    time::{Sleep, sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

/// Longest head of a request, in bytes: a browser sends the cookies of all servers of this machine.
const MAX_HEAD: usize = 64 * 1024;

/// How long to keep reading from a client that still sends after the last answer.
const LINGER: Duration = Duration::from_secs(1);

/// What one server bears.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Connections that have not shown the token.
    pub(super) strangers: usize,
    /// Those that have.
    pub(super) known: usize,
    /// Requests in the engine at once; more wait.
    pub(super) requests: usize,
    /// Streams of events: each holds two threads and a watch of the doorbell.
    pub(super) streams: usize,
    /// Within which the hello of an encrypted connection and the head of a request arrive; a
    /// connection without a request ends after it too.
    pub(super) head: Duration,
    /// Within which the body of a request arrives.
    pub(super) body: Duration,
    /// Within which the client takes something of what is sent.
    pub(super) taken: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            strangers: 128,
            known: 128,
            requests: 8,
            streams: 16,
            head: Duration::from_secs(20),
            body: Duration::from_secs(30),
            taken: Duration::from_secs(30),
        }
    }
}

/// Every connection that is open.
pub(super) struct Places {
    bounds: Bounds,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: u64,
    /// Oldest first, with what ends it.
    strangers: BTreeMap<u64, Option<AbortHandle>>,
    known: BTreeSet<u64>,
}

/// One connection's place, given back when it is dropped.
pub(super) struct Place {
    id: u64,
    places: Arc<Places>,
    /// The digest of the token that proved an agent here last.
    proven: Mutex<Option<[u8; 32]>>,
}

impl Places {
    pub(super) fn new(bounds: Bounds) -> Arc<Self> {
        let open = Mutex::default();
        Arc::new(Self { bounds, open })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a connection in a place of its own, that of the oldest stranger if need be.
    fn admit<F>(self: &Arc<Self>, connection: impl FnOnce(Arc<Place>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (place, oldest) = self.place();
        let id = place.id;
        let task = tokio::spawn(connection(place));
        // It may be over by now, or known.
        if let Some(stranger) = self.open().strangers.get_mut(&id) {
            *stranger = Some(task.abort_handle());
        }
        if let Some(oldest) = oldest {
            oldest.abort();
        }
    }

    fn place(self: &Arc<Self>) -> (Arc<Place>, Option<AbortHandle>) {
        let mut open = self.open();
        let oldest = match open.strangers.len() < self.bounds.strangers {
            true => None,
            false => open.strangers.pop_first().and_then(|it| it.1),
        };
        open.last += 1;
        let (id, places) = (open.last, Arc::clone(self));
        open.strangers.insert(id, None);
        let place = Place {
            id,
            places,
            proven: Mutex::default(),
        };
        (Arc::new(place), oldest)
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        let open = self.open();
        open.strangers.len() + open.known.len()
    }
}

impl Place {
    /// The token was shown here. False when all places that can be kept are.
    pub(super) fn keep(&self) -> bool {
        let mut open = self.places.open();
        if open.known.contains(&self.id) {
            return true;
        }
        let free = open.known.len() < self.places.bounds.known;
        let kept = free && open.strangers.remove(&self.id).is_some();
        if kept {
            open.known.insert(self.id);
        }
        kept
    }

    /// Whether a token of this digest proved an agent here.
    pub(super) fn is_proven(&self, digest: &[u8; 32]) -> bool {
        let proven = self.proven.lock().unwrap_or_else(PoisonError::into_inner);
        proven.is_some_and(|it| it.ct_eq(digest).into())
    }

    pub(super) fn prove(&self, digest: [u8; 32]) {
        *self.proven.lock().unwrap_or_else(PoisonError::into_inner) = Some(digest);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.places.open();
        open.strangers.remove(&self.id);
        open.known.remove(&self.id);
    }
}

/// Answers whoever connects.
pub(super) async fn serve(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    places: Arc<Places>,
) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (acceptor, router) = (acceptor.clone(), router.clone());
                places.admit(|place| connection(stream, acceptor, router, place));
            }
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be taken for a second");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Whether a connection ended before it was taken.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    [ConnectionAborted, ConnectionRefused, ConnectionReset].contains(&error.kind())
}

async fn connection(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    place: Arc<Place>,
) {
    let Bounds { head, taken, .. } = place.places.bounds;
    let stream = Taken {
        stream,
        within: taken,
        late: None,
    };
    let Some(acceptor) = acceptor else {
        return converse(stream, router, place, head).await;
    };
    match timeout(head, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => converse(stream, router, place, head).await,
        Ok(Err(error)) => tracing::debug!(%error, "no encrypted connection"),
        Err(_) => tracing::debug!("no hello"),
    }
}

/// One request after the other, until the client goes or says nothing for too long.
async fn converse<S>(stream: S, router: Router, place: Arc<Place>, head: Duration)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&place));
        Box::pin(router.call(request))
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
    // Closing a connection with unread bytes resets it, and its last answer may be lost.
    let rest = async {
        stream.shutdown().await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    };
    let _ = timeout(LINGER, rest).await;
}

/// A stream that breaks when the client takes nothing of what is written for too long.
struct Taken {
    stream: TcpStream,
    within: Duration,
    /// Set while something waits to be taken.
    late: Option<Pin<Box<Sleep>>>,
}

impl Taken {
    fn in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.late = None;
            return written;
        }
        let within = self.within;
        let late = self.late.get_or_insert_with(|| Box::pin(sleep(within)));
        ready!(late.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Taken {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Taken {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.in_time(cx, written)
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
