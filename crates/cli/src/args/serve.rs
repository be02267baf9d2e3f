//! Arguments of `engram mcp` and `engram serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};
use engram_model::{Code, Refusal, shorten};
use engram_server::Toolset;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolsetArg {
    /// status, query, commit, deref, conflicts, resolve, promote
    Core,
    /// less_put_engram, less_query_engrams, less_request_deref and the other LESS tools, for parent
    /// and child agents
    Less,
}

impl ToolsetArg {
    pub(crate) fn toolset(self) -> Toolset {
        match self {
            Self::Core => Toolset::Core,
            Self::Less => Toolset::Less,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Address and port; port 0 picks a free one. Any address other than loopback needs a
    /// certificate
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0", value_parser = parse_address)]
    pub(crate) listen: SocketAddr,
    /// A host name to answer to; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// The certificate in PEM, with its chain
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Keep the token in this file, so that open pages survive a restart; created if missing
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve the window from this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    pub(crate) ui: Option<PathBuf>,
}

/// Parses an address. A name is refused, since it may resolve to several addresses, or to another
/// one tomorrow: only a number determines who can connect.
fn parse_address(text: &str) -> Result<SocketAddr, Refusal> {
    text.parse().map_err(|_| {
        let port = text.rsplit_once(':').map_or("4000", |(_, port)| port);
        let port = port.parse::<u16>().map_or("4000".to_owned(), |it| it.to_string());
        Refusal::new(
            Code::SchemaInvalid,
            format!("{:?} is not an IP address and a port", shorten(text, 80)),
            format!("For this machine, write 127.0.0.1:{port} or [::1]:{port}; for others, this machine's own IP address."),
        )
    })
}
