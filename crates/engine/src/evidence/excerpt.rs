//! Excerpts of evidence that fit the budget and contain no credentials.

use engram_consistency::{Masked, mask_diff, mask_span};
use engram_gateway::fit;
use engram_model::{Dereferenced, Lines, Pointer, Target};
use engram_pointers::{AROUND, Resolved};

/// The most tokens of an excerpt for unmetered readers, since nobody needs a gigabyte.
pub(crate) const UNMETERED: u32 = 200_000;
/// The maximum length of a token, in characters.
const TOKEN_CHARS: usize = 128;

/// The tokens of the full span, as shown to an agent.
pub(crate) fn tokens_of_span(resolved: &Resolved) -> u32 {
    fit_excerpt(resolved, true, None, None).tokens
}

/// The excerpt to show. An agent's excerpt contains no credentials, but the digest is that of the
/// pinned bytes.
pub(crate) fn fit_excerpt(
    resolved: &Resolved,
    is_masked: bool,
    left: Option<u32>,
    max_tokens: Option<u32>,
) -> Dereferenced {
    let most = max_tokens
        .unwrap_or(UNMETERED)
        .min(left.unwrap_or(UNMETERED));
    // One character more than can fit, so that `fit` notices a cut.
    let chars = most as usize * TOKEN_CHARS + 1;
    let shown = if is_masked {
        mask_excerpt(resolved, chars)
    } else {
        Masked {
            text: resolved.text_up_to(chars),
            masked: 0,
        }
    };
    let fitted = fit(&shown.text, most);
    // Masking can remove lines, so they cannot be counted.
    let is_counted = fitted.truncated && shown.masked == 0;
    let rest = if is_counted {
        rest_after(resolved, &fitted.text)
    } else {
        None
    };
    Dereferenced {
        pointer: resolved.pointer.to_string(),
        excerpt: fitted.text,
        content_digest: resolved.pointer.digest.clone().unwrap_or_default(),
        tokens: fitted.tokens,
        truncated: fitted.truncated,
        rest: rest.map(|it| it.to_string()),
        masked: u32::try_from(shown.masked).ok().filter(|it| *it > 0),
        now: None,
        budget: None,
        grant: None,
    }
}

/// The lines of the span that an excerpt leaves out, its last line included if that is cut; `None`
/// if the pointer is neither `repo:` nor `test:`, or if the excerpt holds less than one line.
fn rest_after(resolved: &Resolved, excerpt: &str) -> Option<Pointer> {
    let (Target::Repo { path, pin, .. } | Target::Test { path, pin, .. }) =
        &resolved.pointer.target
    else {
        return None;
    };
    let line_ends = |bytes: &[u8]| bytes.iter().filter(|it| **it == b'\n').count() as u32;
    let whole = || Lines {
        start: 1,
        end: line_ends(&resolved.bytes) + u32::from(resolved.bytes.last() != Some(&b'\n')),
    };
    let lines = resolved.lines.unwrap_or_else(whole);
    let start = lines.start + line_ends(excerpt.as_bytes());
    let has_moved = lines.start < start && start <= lines.end;
    has_moved.then(|| Pointer {
        target: Target::Repo {
            path: path.clone(),
            lines: Some(Lines { start, ..lines }),
            pin: pin.clone(),
        },
        digest: None,
    })
}

/// The beginning of the span, with at least `chars` characters if it has them, without credentials
/// that lie in it or that the cut splits.
fn mask_excerpt(resolved: &Resolved, chars: usize) -> Masked {
    /// The most bytes of a character, in any supported encoding.
    const MAX_CHAR_BYTES: usize = 4;
    let [before, after] = &resolved.around;
    let length = resolved
        .bytes
        .len()
        .min(chars.saturating_mul(MAX_CHAR_BYTES));
    let (shown, rest) = resolved.bytes.split_at(length);
    let rest = &rest[..rest.len().min(AROUND)];
    let file = [before, shown, rest, after].concat();
    let span = before.len()..before.len() + length;
    let shown = mask_span(&file, span, |part| resolved.encoding.decode(part));
    mask_diff(shown, &resolved.compared)
}
