//! Encrypted connections, for clients on other machines.

use std::{path::PathBuf, sync::Arc};

use engram_engine::read_file;
use engram_model::{Code, Refusal};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

/// The largest certificate or key file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The paths of the certificate and its key, in PEM.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The server's certificate, followed by those that vouch for it.
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
                "Pass PEM files: --tls-cert with the server's certificate first, --tls-key with its private key.",
            )
        };
        let text =
            |file: &PathBuf| read_file(file, MAX_FILE).map_err(|it| refused(file, it.to_string()));
        let chain = CertificateDer::pem_slice_iter(text(&self.chain)?.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| refused(&self.chain, error.to_string()))?;
        if chain.is_empty() {
            return Err(refused(
                &self.chain,
                "it contains no certificate".to_owned(),
            ));
        }
        let key = PrivateKeyDer::from_pem_slice(text(&self.key)?.as_bytes())
            .map_err(|error| refused(&self.key, error.to_string()))?;
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| refused(&self.key, error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
