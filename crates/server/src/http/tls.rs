//! Encrypted connections, for whoever is not on this machine.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::serve::Listener;
use engram_model::{Code, Refusal};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc},
    time::timeout,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
    server::TlsStream,
};

/// How long somebody may take to say hello, and how many may do so at once.
const HELLO: Duration = Duration::from_secs(10);
const AT_ONCE: usize = 64;

/// Where the certificate and its key are, in PEM.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The certificate, and those that vouch for it.
    pub chain: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl Certificate {
    pub(super) fn read(&self) -> Result<TlsAcceptor, Refusal> {
        let refused = |file: &PathBuf, why: String| {
            Refusal::new(
                Code::SchemaInvalid,
                format!("{} cannot be used: {why}", file.display()),
                "Give PEM files: --tls-cert with the certificate first, --tls-key with its private key.",
            )
        };
        let chain = CertificateDer::pem_file_iter(&self.chain)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| refused(&self.chain, error.to_string()))?;
        if chain.is_empty() {
            return Err(refused(&self.chain, "it has no certificate".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| refused(&self.key, error.to_string()))?;
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| refused(&self.key, error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// Hands out connections that are encrypted already, so that a slow hello holds up nobody else.
pub(super) struct Encrypted {
    done: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    at: SocketAddr,
}

impl Encrypted {
    pub(super) fn new(mut listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<Self> {
        let at = listener.local_addr()?;
        let (sender, done) = mpsc::channel(1);
        let slots = Arc::new(Semaphore::new(AT_ONCE));
        tokio::spawn(async move {
            while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
                let (stream, from) = Listener::accept(&mut listener).await;
                let (acceptor, sender) = (acceptor.clone(), sender.clone());
                tokio::spawn(async move {
                    let hello = timeout(HELLO, acceptor.accept(stream)).await;
                    drop(slot);
                    match hello {
                        // Nobody takes it once the server stops.
                        Ok(Ok(stream)) => drop(sender.send((stream, from)).await),
                        Ok(Err(error)) => tracing::debug!(%from, %error, "no encrypted connection"),
                        Err(_) => tracing::debug!(%from, "no hello"),
                    }
                });
            }
        });
        Ok(Self { done, at })
    }
}

impl Listener for Encrypted {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.done.recv().await {
            Some(connection) => connection,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.at)
    }
}
