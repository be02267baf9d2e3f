//! What the messages of a project cost: the tokens that were sent, compared with those of the files
//! behind their pointers. A pinned file never changes, so it is counted once, when somebody first
//! asks, and never while a message is sent.

use std::collections::BTreeSet;

use crate::{
    agents::metrics::share,
    context::{Context, shelf::HomeShelf},
};
use engram_gateway::count_tokens;
use engram_model::{Code, Delivered, Pin, Pointer, ProjectId, Refusal, Target};
use engram_pointers::{Repo, Resolved, resolve};

/// The most files, and about the most characters, that one request counts. The next request
/// continues.
const FILES: usize = 500;
const CHARS: usize = 4 << 20;
/// The most characters of one file that are counted. The rest is estimated from them.
const OF_A_FILE: usize = 1 << 20;

/// The cost of a project's messages. First counts some files that are not counted yet.
pub(crate) fn cost_of_messages(cx: &Context<'_>, project: ProjectId) -> Result<Delivered, Refusal> {
    if let Err(error) = count_files(cx, project) {
        // The answer is given even if the home cannot be written.
        tracing::debug!(%error, "cannot count files behind messages");
    }
    let store = &cx.engine.store;
    let (sums, files) = store.read::<_, Refusal>(|tx| {
        Ok((
            tx.messages().totals(project)?,
            tx.messages().files(project)?,
        ))
    })?;
    let full_tokens = extrapolate_total(files.tokens, files.counted, files.all);
    Ok(Delivered {
        tokens: sums.tokens,
        full_tokens,
        uncounted: files.all - files.counted.min(files.all),
        share: share(sums.tokens, full_tokens),
        resend_rate: share(sums.resends, sums.messages),
    })
}

/// Counts uncounted files, up to the limits of one request.
fn count_files(cx: &Context<'_>, project: ProjectId) -> Result<(), Refusal> {
    let store = &cx.engine.store;
    let files = store.read(|tx| tx.messages().uncounted_files(project, FILES))?;
    if files.is_empty() || !store.is_writable() {
        return Ok(());
    }
    let shelf = HomeShelf {
        urls: false,
        ..cx.shelf(Some(project))?
    };
    let repo = cx.repo().ok().flatten();
    let (mut counted, mut looked) = (Vec::new(), 0);
    for file in files {
        match resolve_file(repo, &shelf, &file) {
            Ok(found) => {
                let (tokens, chars) = estimate_tokens(&found);
                looked += chars;
                counted.push((file, Some(tokens)));
            }
            Err(refusal) if is_lasting_failure(refusal.code) => counted.push((file, None)),
            // The file may be available at the next request.
            Err(_) => {}
        }
        if looked >= CHARS {
            break;
        }
    }
    if counted.is_empty() {
        return Ok(());
    }
    store.write(cx.engine.world.now(), |tx| {
        let mut counted = counted.iter();
        counted.try_for_each(|(file, tokens)| tx.count_file(project, file, *tokens))?;
        Ok(())
    })
}

pub(super) fn resolve_file(
    repo: Option<&Repo>,
    shelf: &HomeShelf<'_>,
    file: &str,
) -> Result<Resolved, Refusal> {
    let pointer: Pointer = file.parse()?;
    resolve(repo, shelf, &pointer)
}

/// Whether a pinned file can never be read.
pub(super) fn is_lasting_failure(code: Code) -> bool {
    matches!(code, Code::PointerNotFound | Code::PointerInvalid)
}

/// The tokens of a file, and how many characters were read.
pub(super) fn estimate_tokens(file: &Resolved) -> (u64, usize) {
    let text = file.text_up_to(OF_A_FILE);
    let (tokens, chars) = (count_tokens(&text) as u64, text.chars().count());
    if chars < OF_A_FILE {
        (tokens, chars)
    } else {
        (
            extrapolate_total(tokens, text.len() as u64, file.bytes.len() as u64),
            chars,
        )
    }
}

/// The total of all files, estimated from those that were counted.
fn extrapolate_total(sum: u64, counted: u64, all: u64) -> u64 {
    let of_all = u128::from(sum) * u128::from(all.max(counted));
    let of_all = of_all.checked_div(u128::from(counted)).unwrap_or_default();
    u64::try_from(of_all).unwrap_or(u64::MAX)
}

/// The addresses of the files behind pointers, at their pins, each once.
pub(crate) fn files_behind<'a>(targets: impl Iterator<Item = &'a Target>) -> Vec<String> {
    let file = |target: &Target| {
        let target = match target.clone() {
            Target::Repo { path, pin, .. } | Target::Test { path, pin, .. } => Target::Repo {
                path,
                lines: None,
                pin,
            },
            Target::Artifact { name, pin, .. } => Target::Artifact {
                name,
                section: None,
                pin,
            },
            Target::Diff { head, path, .. } => Target::Repo {
                path,
                lines: None,
                pin: Pin::Rev(head),
            },
            sam @ Target::Sam { .. } => sam,
            // A web page is not fetched here, so it has no size.
            Target::Url { .. } => return None,
        };
        let whole = Pointer {
            target,
            digest: None,
        };
        Some(whole.to_string())
    };
    targets
        .filter_map(file)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}
