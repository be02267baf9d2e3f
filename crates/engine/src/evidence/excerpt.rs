//! What is shown of evidence: an excerpt that fits, without credentials.

use engram_consistency::{Masked, mask_diff, mask_span};
use engram_gateway::fit;
use engram_model::Dereferenced;
use engram_pointers::{AROUND, Resolved};

/// Most tokens of an excerpt for unmetered readers; a gigabyte is not an excerpt.
pub(crate) const UNMETERED: u32 = 200_000;
/// No token is longer, in characters.
const TOKEN_CHARS: usize = 128;

/// Tokens of the full span, as an agent would be shown it.
pub(crate) fn tokens_of(resolved: &Resolved) -> u32 {
    excerpt(resolved, true, None, None).tokens
}

/// What is shown. An agent is shown no credential: the digest stays that of the bytes that were pinned.
pub(crate) fn excerpt(
    resolved: &Resolved,
    is_masked: bool,
    left: Option<u32>,
    max_tokens: Option<u32>,
) -> Dereferenced {
    let most = max_tokens
        .unwrap_or(UNMETERED)
        .min(left.unwrap_or(UNMETERED));
    // One character more than can fit, so that `fit` sees whether something was left out.
    let chars = most as usize * TOKEN_CHARS + 1;
    let shown = if is_masked {
        without_secrets(resolved, chars)
    } else {
        Masked {
            text: resolved.text_up_to(chars),
            masked: 0,
        }
    };
    let fitted = fit(&shown.text, most);
    Dereferenced {
        pointer: resolved.pointer.to_string(),
        excerpt: fitted.text,
        content_digest: resolved.pointer.digest.clone().unwrap_or_default(),
        tokens: fitted.tokens,
        truncated: fitted.truncated,
        masked: u32::try_from(shown.masked).ok().filter(|it| *it > 0),
        now: None,
        budget: None,
        grant: None,
    }
}

/// The beginning of the span, of at least so many characters where it has them, without the credentials
/// that lie in it or that it cuts.
fn without_secrets(resolved: &Resolved, chars: usize) -> Masked {
    /// Bytes of a character, in any encoding that is read.
    const LONGEST: usize = 4;
    let [before, after] = &resolved.around;
    let length = resolved.bytes.len().min(chars.saturating_mul(LONGEST));
    let (shown, rest) = resolved.bytes.split_at(length);
    let rest = &rest[..rest.len().min(AROUND)];
    let file = [before, shown, rest, after].concat();
    let span = before.len()..before.len() + length;
    let shown = mask_span(&file, span, |part| resolved.encoding.decode(part));
    mask_diff(shown, &resolved.compared)
}
