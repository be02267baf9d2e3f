//! Arguments of `engram connect`.

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use engram_model::Client;

#[derive(Args, Debug)]
pub(crate) struct ConnectArgs {
    /// Which agent to connect; without one, lists them
    #[arg(value_parser = client_parser())]
    pub(crate) client: Option<Client>,
    /// Remove engram from the agent's configuration
    #[arg(long, requires = "client")]
    pub(crate) undo: bool,
    /// Write without asking
    #[arg(long, short = 'y', requires = "client")]
    pub(crate) yes: bool,
}

/// Returns a parser that knows every client by its name.
fn client_parser() -> impl TypedValueParser<Value = Client> {
    let value =
        |it: &Client| PossibleValue::new(it.name()).help(format!("{}: {}", it.title(), it.file()));
    PossibleValuesParser::new(Client::ALL.iter().map(value)).try_map(|name| {
        let named = Client::ALL.iter().find(|it| it.name() == name);
        named.copied().ok_or("no such client")
    })
}
