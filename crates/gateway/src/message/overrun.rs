//! Reports all exceeded budgets of a message at once, so that one resend is enough.

use engram_model::{Cut, Draft, Limits, Message, Refusal};
use serde_json::Value;

use super::{budget_refusal, budgets, code, resend, wide};
use crate::{
    INLINE_CODE_CHARS, count_tokens,
    prose::{line_count, with_article},
    roles,
};

/// The name of the figure for a message's tokens.
pub(super) const TOKENS: &str = "inline_tokens";
/// The most places that a refusal names.
const CUTS: usize = 12;
/// The longest text whose tokens are counted, in bytes.
const COUNTED: usize = 32_768;

/// A budget that a message exceeds.
pub(super) struct Overrun {
    name: &'static str,
    used: u64,
    limit: u64,
    message: String,
    hint: String,
    cut: Vec<Cut>,
}

/// The tokens of a text, or a quarter of its bytes if it is too long to count.
pub(super) fn cost(text: &str) -> u64 {
    wide(if text.len() > COUNTED {
        text.len() / 4
    } else {
        count_tokens(text)
    })
}

/// Combines all overruns in one refusal, with the message and the hint of the first.
pub(super) fn refuse(found: Vec<Overrun>) -> Result<(), Refusal> {
    let Some(first) = found.first() else {
        return Ok(());
    };
    let mut refusal = budget_refusal(first.message.clone(), first.hint.clone());
    let mut cuts: Vec<(usize, Cut)> = Vec::new();
    for overrun in found {
        if !refusal.has_figure(overrun.name) {
            refusal = refusal.figure(overrun.name, overrun.used, overrun.limit);
        }
        for (place, cut) in overrun.cut.into_iter().enumerate() {
            if cuts.iter().all(|known| known.1.at != cut.at) {
                cuts.push((place, cut));
            }
        }
    }
    // The first cut for every budget comes before any second cut.
    cuts.sort_by_key(|it| it.0);
    cuts.truncate(CUTS);
    Err(refusal.cut(cuts.into_iter().map(|it| it.1)))
}

/// Returns the budgets that a message with `tokens` tokens exceeds, the hard limits first.
pub(super) fn overruns(
    sent: &Value,
    message: &Message,
    tokens: usize,
    limits: &Limits,
) -> Vec<Overrun> {
    let mut found: Vec<Overrun> = Vec::new();
    found.extend(too_long(sent, tokens, limits));
    match message {
        Message::Child(child) => {
            found.extend(too_many(&child.engrams, limits));
        }
        Message::Parent(parent) => {
            found.extend(too_many_lines(&parent.shared_brief_micro, limits));
            found.extend(too_wide(&parent.budgets, limits));
        }
    }
    found.extend(inline_code(sent, message, limits));
    if let Message::Child(child) = message {
        found.extend(long_summary(child));
    }
    found
}

pub(super) fn too_long(sent: &Value, tokens: usize, limits: &Limits) -> Option<Overrun> {
    let allowed = limits.message.inline_tokens;
    (tokens > allowed).then(|| Overrun {
        name: TOKENS,
        used: wide(tokens),
        limit: wide(allowed),
        message: format!("the message has {tokens} tokens; the limit is {allowed}"),
        hint: resend(allowed),
        cut: costliest(sent, wide(tokens - allowed)),
    })
}

/// Returns the most expensive texts, as many as must be cut.
fn costliest(sent: &Value, excess: u64) -> Vec<Cut> {
    let mut texts: Vec<Cut> = Vec::new();
    code::walk(sent, &mut String::new(), &mut |at, text| {
        texts.push(Cut {
            at: at.to_owned(),
            tokens: cost(text),
        });
    });
    texts.sort_by(|one, other| (other.tokens, &one.at).cmp(&(one.tokens, &other.at)));
    let mut saved = 0;
    texts.truncate(CUTS);
    texts.retain(|cut| {
        let wanted = saved < excess;
        saved += cut.tokens;
        wanted
    });
    texts
}

fn too_many(engrams: &[Draft], limits: &Limits) -> Option<Overrun> {
    let (count, allowed) = (engrams.len(), limits.message.engrams);
    if count <= allowed {
        return None;
    }
    // The least confident engrams first; among equals, the later ones.
    let mut order: Vec<usize> = (0..count).collect();
    let confidence = |at: &usize| engrams[*at].confidence.unwrap_or(0.0);
    order.sort_by(|one, other| {
        confidence(one)
            .total_cmp(&confidence(other))
            .then(other.cmp(one))
    });
    let cut = order.into_iter().take(count - allowed).map(|at| Cut {
        at: format!("/engrams/{at}"),
        tokens: cost(&engrams[at].claim),
    });
    Some(Overrun {
        name: "engrams",
        used: wide(count),
        limit: wide(allowed),
        message: format!("the message has {count} engrams; the limit is {allowed}"),
        hint: "Send the most useful engrams; commit the others for your parent to query."
            .to_owned(),
        cut: cut.take(CUTS).collect(),
    })
}

fn too_many_lines(brief: &[String], limits: &Limits) -> Option<Overrun> {
    let allowed = limits.message.brief_lines;
    let mut lines = 0;
    let mut cut = Vec::new();
    for (at, entry) in brief.iter().enumerate() {
        lines += line_count(entry);
        if lines > allowed && cut.len() < CUTS {
            cut.push(Cut {
                at: format!("/shared_brief_micro/{at}"),
                tokens: cost(entry),
            });
        }
    }
    (lines > allowed).then(|| Overrun {
        name: "brief_lines",
        used: wide(lines),
        limit: wide(allowed),
        message: format!("the shared brief has {lines} lines; the limit is {allowed}"),
        hint: "Keep what matters now; commit the rest as engrams and point at them.".to_owned(),
        cut,
    })
}

fn too_wide(
    given: &std::collections::BTreeMap<String, u64>,
    limits: &Limits,
) -> impl Iterator<Item = Overrun> + use<> {
    budgets::wider(given, limits)
        .into_iter()
        .map(|(name, asked, allowed)| Overrun {
            name,
            used: asked,
            limit: allowed,
            message: format!("`budgets` gives {asked} {name}; you may give at most {allowed}"),
            hint: "A parent cannot widen a budget: give what you have, or less.".to_owned(),
            cut: Vec::new(),
        })
}

fn inline_code(sent: &Value, message: &Message, limits: &Limits) -> Option<Overrun> {
    let (chars, allowed) = (
        code::count_code(sent, message),
        limits.message.inline_code_chars,
    );
    if chars <= allowed {
        return None;
    }
    let places = code::code_places(sent, &limits.message);
    let mut cut: Vec<Cut> = places
        .into_iter()
        .map(|(at, text)| Cut {
            at,
            tokens: cost(text),
        })
        .collect();
    cut.sort_by(|one, other| (other.tokens, &one.at).cmp(&(one.tokens, &other.at)));
    Some(Overrun {
        name: INLINE_CODE_CHARS,
        used: wide(chars),
        limit: wide(allowed),
        message: format!("the message has {chars} characters of inline code; the limit is {allowed}"),
        hint: "Point at the code, as in repo:src/main.rs#L10-L20@HEAD, and request a dereference, or ask your parent or the user for a grant.".to_owned(),
        cut,
    })
}

fn long_summary(child: &engram_model::ChildMessage) -> Option<Overrun> {
    let (sentences, allowed) = roles::too_many_sentences(child)?;
    Some(Overrun {
        name: "summary_sentences",
        used: wide(sentences),
        limit: wide(allowed),
        message: format!(
            "the summary has {sentences} sentences; the limit for {} is {allowed}",
            with_article(&child.role.trim().to_lowercase())
        ),
        hint: "Summarize only what your parent must decide; put findings in engrams.".to_owned(),
        cut: vec![Cut {
            at: "/output/summary".to_owned(),
            tokens: cost(&child.output.summary),
        }],
    })
}
