//! Encrypted connections.

use engram_model::Code;
use tokio_rustls::rustls::{
    self,
    pki_types::{CertificateDer, pem::PemObject},
};

use super::*;
use crate::http::Certificate;

/// Writes a certificate for this machine's own names, and its key; returns it with its root.
pub(super) fn certificate(folder: &Path) -> (Certificate, rustls::RootCertStore) {
    let chain = include_bytes!("../../../../../tests/localhost/cert.pem");
    let key = include_bytes!("../../../../../tests/localhost/key.pem");
    let certificate = Certificate {
        chain: folder.join("cert.pem"),
        key: folder.join("key.pem"),
    };
    std::fs::write(&certificate.chain, chain).unwrap();
    std::fs::write(&certificate.key, key).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(chain).unwrap();
    roots.add(root).unwrap();
    (certificate, roots)
}

#[tokio::test]
async fn off_the_loopback_it_is_encrypted_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(engine(folder.path()));
    let (good, _) = certificate(folder.path());
    std::fs::write(folder.path().join("empty.pem"), "").unwrap();
    let with = |chain: &str, key: &str| {
        Some(Certificate {
            chain: folder.path().join(chain),
            key: folder.path().join(key),
        })
    };
    for (listen, certificate, code, hint) in [
        ("0.0.0.0:0", None, Code::ScopeDenied, "--tls-cert"),
        ("[::]:0", None, Code::ScopeDenied, "--tls-cert"),
        ("192.0.2.1:0", None, Code::ScopeDenied, "--tls-cert"),
        ("192.0.2.1:0", Some(good), Code::Internal, "another address"),
        (
            "0.0.0.0:0",
            with("none.pem", "key.pem"),
            Code::SchemaInvalid,
            "PEM",
        ),
        (
            "0.0.0.0:0",
            with("cert.pem", "cert.pem"),
            Code::SchemaInvalid,
            "PEM",
        ),
        (
            "127.0.0.1:0",
            with("empty.pem", "key.pem"),
            Code::SchemaInvalid,
            "PEM",
        ),
    ] {
        let options = HttpOptions {
            listen: listen.parse().unwrap(),
            certificate: certificate.clone(),
            ..HttpOptions::default()
        };
        let Err(refusal) = listen_http(Arc::clone(&engine), options).await else {
            panic!("{listen} with {certificate:?} is served");
        };
        assert_eq!(refusal.code, code, "{refusal}");
        assert!(refusal.hint.contains(hint), "{refusal:?}");
    }
}

#[tokio::test]
async fn an_encrypted_page_is_read_past_strangers_that_say_no_hello() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, roots) = certificate(folder.path());
    let options = HttpOptions {
        listen: "0.0.0.0:0".parse().unwrap(),
        certificate: Some(certificate),
        pages: Pages::Built(BUILT),
        ..HttpOptions::default()
    };
    let server = listen_http(Arc::new(engine(folder.path())), options)
        .await
        .unwrap();
    let (address, _) = server.url.split_once("/#token=").unwrap();
    let host = address.strip_prefix("https://").unwrap().to_owned();
    let port = host.rsplit_once(':').unwrap().1.to_owned();
    tokio::spawn(server.run());
    let own = format!("127.0.0.1:{port}");
    let _silent = TcpStream::connect(&own).await.unwrap();
    let mut plain = TcpStream::connect(&own).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    for (name, status) in [(host.as_str(), "200"), ("evil.example", "403")] {
        let answer = encrypted(&own, name, &roots).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert_eq!(answer.contains(PAGE), status == "200");
    }
}

/// Asks over TLS at an address for the page of this host; returns the answer.
pub(super) async fn encrypted(at: &str, host: &str, roots: &rustls::RootCertStore) -> String {
    let config = rustls::ClientConfig::builder()
        .with_root_certificates(roots.clone())
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(at).await.unwrap();
    let server = "localhost".try_into().unwrap();
    let mut stream = connector.connect(server, stream).await.unwrap();
    let head = format!("GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
