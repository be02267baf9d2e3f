//! What the messages of a project came to: the tokens that were sent, and those of the files behind their
//! pointers. Counted when it is asked.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use engram_gateway::count_tokens;
use engram_model::{Delivered, Pointer, ProjectId, Refusal};
use engram_pointers::{Repo, resolve};

use crate::{HomeShelf, context::Context, metrics::share};

/// Most files that are counted.
const FILES: usize = 2_000;
/// Most characters of a file that are counted.
const CHARS: usize = 16 << 20;

/// Tokens of files at their pins, which never change.
#[derive(Default)]
pub(crate) struct Counted(Mutex<BTreeMap<String, u64>>);

impl Context<'_> {
    pub(crate) fn delivered(&self, project: ProjectId) -> Result<Delivered, Refusal> {
        let store = &self.engine.store;
        let (sums, files) = store.read::<_, Refusal>(|it| {
            Ok((it.delivered(project)?, it.delivered_files(project, FILES)?))
        })?;
        let shelf = HomeShelf {
            urls: false,
            ..self.shelf(Some(project))
        };
        let repo = self.repo().ok().flatten();
        let tokens = |(file, recipients): &(String, u64)| {
            let tokens = self
                .engine
                .counted
                .tokens(file, || read(repo, &shelf, file));
            tokens.saturating_mul(*recipients)
        };
        let full_tokens = files.iter().map(tokens).fold(0, u64::saturating_add);
        Ok(Delivered {
            tokens: sums.tokens,
            full_tokens,
            share: share(sums.tokens, full_tokens),
            resend_rate: share(sums.resends, sums.messages),
        })
    }
}

impl Counted {
    /// The tokens of a file; none are kept of one that cannot be read now.
    fn tokens(&self, file: &str, read: impl FnOnce() -> Option<u64>) -> u64 {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tokens) = kept().get(file) {
            return *tokens;
        }
        let Some(tokens) = read() else { return 0 };
        let mut kept = kept();
        if kept.len() < FILES {
            kept.insert(file.to_owned(), tokens);
        }
        tokens
    }
}

fn read(repo: Option<&Repo>, shelf: &HomeShelf<'_>, file: &str) -> Option<u64> {
    let pointer: Pointer = file.parse().ok()?;
    let resolved = resolve(repo, shelf, &pointer).ok()?;
    u64::try_from(count_tokens(&resolved.text_up_to(CHARS))).ok()
}
