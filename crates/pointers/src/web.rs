//! `url:` pointers: web pages, read only if the user turned them on.

use std::time::Duration;

use engram_model::{Code, Refusal, shorten};
use ureq::Agent;

use crate::{Shelf, refuse, sha256_hex};

const MAX_BYTES: u64 = 2 << 20;
const MAX_REDIRECTS: u32 = 5;
const TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the body at `url`; where digests are expected, the body must match them.
pub(crate) fn read(
    shelf: &dyn Shelf,
    url: &str,
    expected: &[Option<&str>],
) -> Result<Vec<u8>, Refusal> {
    if !shelf.urls_allowed() {
        return Err(Refusal::new(
            Code::DerefDenied,
            "pointers to the web are turned off",
            "The user can turn them on with urls = true in config.toml; otherwise, commit the page and point at the copy.",
        ));
    }
    expect(&agent(Agent::config_builder(), TIMEOUT), url, expected)
}

fn expect(agent: &Agent, url: &str, expected: &[Option<&str>]) -> Result<Vec<u8>, Refusal> {
    let bytes = fetch(agent, url)?;
    let digest = sha256_hex(&bytes);
    if expected.iter().flatten().any(|wanted| **wanted != digest) {
        return Err(refuse::not_found(
            format!("{} has changed since it was pinned", refuse::quoted(url)),
            "Omit the digest to see the current page.",
        ));
    }
    Ok(bytes)
}

type Builder = ureq::config::ConfigBuilder<ureq::typestate::AgentScope>;

/// An agent that requires HTTPS at every step, and limits redirects and time.
fn agent(builder: Builder, timeout: Duration) -> Agent {
    builder
        .https_only(true)
        .max_redirects(MAX_REDIRECTS)
        .timeout_global(Some(timeout))
        .user_agent(concat!("engram/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

fn fetch(agent: &Agent, url: &str) -> Result<Vec<u8>, Refusal> {
    let mut response = agent.get(url).call().map_err(|e| failed(url, e))?;
    response
        .body_mut()
        .with_config()
        // One byte above the limit, so that a page of exactly the limit passes.
        .limit(MAX_BYTES + 1)
        .read_to_vec()
        .map_err(|e| failed(url, e))
}

fn failed(url: &str, error: ureq::Error) -> Refusal {
    use ureq::Error;
    let url = refuse::quoted(url);
    match error {
        Error::StatusCode(status) => refuse::not_found(
            format!("{url} returned status {status}"),
            "Check the address in a browser.",
        ),
        Error::RequireHttpsOnly(_) => refuse::invalid(
            format!("{url} redirects to an address that is not https"),
            "Point at the page's own https address.",
        ),
        Error::TooManyRedirects => refuse::not_found(
            format!("{url} redirects more than {MAX_REDIRECTS} times"),
            "Point at the final address.",
        ),
        Error::BodyExceedsLimit(_) => refuse::invalid(
            format!("{url} is larger than 2 MB"),
            "Point at a smaller page, or commit the part that matters.",
        ),
        Error::BadUri(_) | Error::Http(_) => refuse::invalid(
            format!("{url} is not an https address"),
            "Write url:https://host/path.",
        ),
        other => refuse::not_found(
            format!("cannot read {url}: {}", shorten(&other.to_string(), 160)),
            "Check the network and the address, then try again.",
        )
        .because(&other),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
        sync::Arc,
        thread,
    };

    use rustls::{
        ServerConfig, ServerConnection, StreamOwned,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    };
    use ureq::tls::{Certificate, RootCerts, TlsConfig};

    use super::*;

    /// A server with TLS on this machine, and an agent that trusts its certificate.
    struct Site {
        port: u16,
        certificate: Vec<u8>,
    }

    impl Site {
        fn start() -> Self {
            let certificate = include_bytes!("../../../tests/localhost/cert.pem");
            let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
            let key = include_bytes!("../../../tests/localhost/key.pem");
            let key = PrivateKeyDer::from_pem_slice(key).unwrap();
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config = ServerConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![certificate.clone()], key)
                .unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let config = Arc::new(config);
            thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let config = config.clone();
                    // Some tests have a client that disconnects.
                    thread::spawn(move || serve(stream, config, port));
                }
            });
            Self {
                port,
                certificate: certificate.to_vec(),
            }
        }

        fn agent(&self, timeout: Duration) -> Agent {
            let certificate = Certificate::from_der(&self.certificate).to_owned();
            let tls = TlsConfig::builder()
                .root_certs(RootCerts::new_with_certs(&[certificate]))
                .build();
            let builder = Agent::config_builder().proxy(None).tls_config(tls);
            super::agent(builder, timeout)
        }

        fn url(&self, path: &str) -> String {
            format!("https://localhost:{}{path}", self.port)
        }
    }

    fn serve(stream: TcpStream, config: Arc<ServerConfig>, port: u16) -> Option<()> {
        // Each connection closes after its response and says so; otherwise the client might reuse a
        // closed one.
        let mut stream = StreamOwned::new(ServerConnection::new(config).ok()?, stream);
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).ok()?;
            request.push(byte[0]);
        }
        let request = String::from_utf8(request).ok()?;
        let path = request.split(' ').nth(1)?;
        let redirect = |to: String| {
            format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                .into_bytes()
        };
        let body = |body: &[u8]| {
            let head = format!(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            [head.as_bytes(), body].concat()
        };
        let answer = match path.split_at_checked(3)? {
            ("/to", rest) => match rest.parse::<u32>().ok()? {
                0 => body(b"arrived\n"),
                n => redirect(format!("https://localhost:{port}/to{}", n - 1)),
            },
            ("/pl", _) => redirect("http://localhost:1/".to_owned()),
            ("/fi", _) => redirect("file:///etc/passwd".to_owned()),
            ("/mb", size) => body(&vec![b'x'; size.parse().ok()?]),
            ("/go", _) => {
                b"HTTP/1.1 410 Gone\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec()
            }
            ("/no", _) => b"not http at all\r\n\r\n".to_vec(),
            ("/ha", _) => {
                // Waits for the client to give up.
                let _ = stream.read(&mut byte);
                return None;
            }
            _ => body(path.as_bytes()),
        };
        stream.write_all(&answer).ok()?;
        stream.conn.send_close_notify();
        stream.flush().ok()
    }

    #[test]
    fn pages_are_read_over_tls_within_their_bounds() {
        let site = Site::start();
        let agent = site.agent(TIMEOUT);
        let limit = MAX_BYTES as usize;
        for (path, expected) in [
            ("/page".to_owned(), Ok(b"/page".to_vec())),
            ("/to0".to_owned(), Ok(b"arrived\n".to_vec())),
            ("/to5".to_owned(), Ok(b"arrived\n".to_vec())),
            ("/to6".to_owned(), Err((Code::PointerNotFound, "redirects"))),
            (
                "/plain".to_owned(),
                Err((Code::PointerInvalid, "not https")),
            ),
            // A URL without a host is read as a path of the same site, which does not exist.
            (
                "/file".to_owned(),
                Err((Code::PointerNotFound, "redirects")),
            ),
            (format!("/mb{limit}"), Ok(vec![b'x'; limit])),
            (
                format!("/mb{}", limit + 1),
                Err((Code::PointerInvalid, "larger than 2 MB")),
            ),
            (
                "/gone".to_owned(),
                Err((Code::PointerNotFound, "status 410")),
            ),
            (
                "/nonsense".to_owned(),
                Err((Code::PointerNotFound, "cannot read")),
            ),
        ] {
            let found = expect(&agent, &site.url(&path), &[None]);
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert!(found == expected, "{path}"),
                (Err(refusal), Err((code, says))) => {
                    assert_eq!(refusal.code, code, "{path}: {refusal}");
                    assert!(refusal.message.contains(says), "{path}: {refusal}");
                }
                (found, _) => panic!("{path}: {:?}", found.map(|bytes| bytes.len())),
            }
        }
    }

    #[test]
    fn a_page_that_changed_is_not_found() {
        let site = Site::start();
        let agent = site.agent(TIMEOUT);
        let url = site.url("/page");
        let (same, other) = (sha256_hex(b"/page"), sha256_hex(b"before"));
        assert!(expect(&agent, &url, &[Some(&same), None]).is_ok());
        assert!(expect(&agent, &url, &[Some(&same), Some(&same)]).is_ok());
        for expected in [[Some(other.as_str()), None], [Some(&same), Some(&other)]] {
            let refusal = expect(&agent, &url, &expected).unwrap_err();
            assert_eq!(refusal.code, Code::PointerNotFound);
            assert!(refusal.message.contains("changed"), "{refusal}");
        }
    }

    #[test]
    fn strangers_and_silence_are_refused() {
        let site = Site::start();
        // Failures: an untrusted certificate, no response, no server, no TLS.
        let plain = TcpListener::bind("127.0.0.1:0").unwrap();
        let untrusting = super::agent(Agent::config_builder().proxy(None), TIMEOUT);
        let hasty = site.agent(Duration::from_millis(300));
        let closed = format!(
            "https://localhost:{}/",
            TcpListener::bind("127.0.0.1:0")
                .unwrap()
                .local_addr()
                .unwrap()
                .port()
        );
        let silent = format!("https://localhost:{}/", plain.local_addr().unwrap().port());
        for (agent, url) in [
            (&untrusting, site.url("/page")),
            (&hasty, site.url("/hang")),
            (&hasty, closed),
            (&hasty, silent),
            (&hasty, "https://".to_owned()),
            (&hasty, "http://localhost/".to_owned()),
            (&hasty, "https://\u{7f}\0[".to_owned()),
        ] {
            let refusal = fetch(agent, &url).unwrap_err();
            assert!(
                matches!(refusal.code, Code::PointerNotFound | Code::PointerInvalid),
                "{url}: {refusal}"
            );
            assert!(!refusal.hint.is_empty());
        }
    }
}
