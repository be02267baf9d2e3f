//! Follows files without lines, by their bytes alone.

use engram_model::{PointerEdit, Refusal};

use crate::Repo;

use super::{
    Anchor, RepoState, Span, SpanState, not_a_file,
    repo_state::{self, ChangedFile},
};

/// The most new files that are read to find a renamed one.
const MAX_READ: usize = 200;

/// Returns where a whole file is: the same bytes at its path or at another one, other bytes at its
/// path, or gone.
///
/// # Errors
///
/// A side, or the file at `from`, does not exist.
pub fn whole(
    repo: &Repo,
    from: &RepoState,
    to: &RepoState,
    span: &Span,
) -> Result<Anchor, Refusal> {
    let ((old, _), (new, _)) = (from.find(repo)?, to.find(repo)?);
    let Some(file) = repo_state::find(repo, old, &span.path)? else {
        return Err(not_a_file(repo, from, &span.path));
    };
    let (then, _) = repo_state::read(repo, old, &file)?;
    let at = |state, path: &str| Anchor {
        state,
        place: Some(Span {
            path: path.to_owned(),
            ..span.clone()
        }),
        confidence: 1.0,
    };
    if let Some(file) = repo_state::find(repo, new, &span.path)? {
        let (now, _) = repo_state::read(repo, new, &file)?;
        return Ok(if now == then {
            at(SpanState::Unchanged, &span.path)
        } else {
            at(SpanState::Edited(PointerEdit::Text), &span.path)
        });
    }
    let changes = repo_state::changes(repo, old, new, &|path| path == span.path)?;
    let is_new = |it: &ChangedFile| it.old.as_ref().is_none_or(|old| old.path == span.path);
    let mut there = changes
        .into_iter()
        .filter(is_new)
        .filter_map(|it| it.new)
        .take(MAX_READ);
    let renamed =
        there.find(|it| repo_state::read(repo, new, it).is_ok_and(|(now, _)| now == then));
    Ok(match renamed {
        Some(file) => at(SpanState::Renamed, &file.path),
        None => Anchor {
            state: SpanState::Deleted,
            place: None,
            confidence: 1.0,
        },
    })
}
