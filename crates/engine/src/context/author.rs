//! Who is recorded as the author of an entry.

use crate::context::{
    Context,
    names::{distinct_name, refuse_reserved_name},
};
use engram_model::Refusal;
use engram_store::Reader;

/// The name of the user in records.
pub(crate) const USER: &str = "user";

/// Who is recorded as the author: the `given` name, otherwise the agent's label, otherwise the
/// user.
pub(crate) fn author_of(cx: &Context<'_>, given: Option<&str>) -> Result<String, Refusal> {
    match cx.agent()? {
        None => author_by_user(given),
        Some(_) => cx.engine.store.read(|tx| author_in(cx, tx, given)),
    }
}

/// Like [`author_of`], within a read.
pub(crate) fn author_in(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    given: Option<&str>,
) -> Result<String, Refusal> {
    match cx.agent()? {
        None => author_by_user(given),
        Some(agent) => distinct_name(tx, agent, given.unwrap_or(&agent.label)),
    }
}

/// The author that the user names: an agent on whose behalf they write, otherwise themselves.
fn author_by_user(given: Option<&str>) -> Result<String, Refusal> {
    let name = given.filter(|it| !it.is_empty()).unwrap_or(USER);
    if name != USER {
        refuse_reserved_name("the author's name", name)?;
    }
    Ok(name.to_owned())
}
