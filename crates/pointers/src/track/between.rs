//! Compares the bytes at two places, however the second was found.

use engram_model::Refusal;

use crate::Repo;

use super::{RepoState, Span, SpanState, cache::Cache, origin, verdict};

/// Returns the state of a span that is known to be at `to` now.
///
/// # Errors
///
/// A side or a place does not exist.
pub fn between(
    repo: &Repo,
    from: (&RepoState, &Span),
    to: (&RepoState, &Span),
) -> Result<SpanState, Refusal> {
    let mut cache = Cache::new(repo);
    let mut read = |(side, span): (&RepoState, &Span)| {
        let (snapshot, _) = side.find(repo)?;
        origin(&mut cache, side, snapshot, span)
    };
    let (old, new) = (read(from)?, read(to)?);
    let then = old.read.text.span(old.spot.lines.clone());
    let now = new.read.text.span(new.spot.lines.clone());
    Ok(verdict::state(&old.spot, then, &new.spot, now))
}
