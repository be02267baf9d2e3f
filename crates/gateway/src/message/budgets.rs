//! The budgets that a parent gives to a child. They use the home's names and can only narrow the
//! limits (docs/design.md#messages).

use std::collections::BTreeMap;

use engram_model::{BUDGETS, Limits, Refusal, shorten};

use super::schema_refusal;
use crate::INLINE_CODE_CHARS;

/// Refuses an unknown budget, since its sender would wrongly believe that it is set.
pub(super) fn refuse_unknown(budgets: &BTreeMap<String, u64>) -> Result<(), Refusal> {
    let unknown = |name: &&String| BUDGETS.iter().all(|it| it.0 != name.as_str());
    match budgets.keys().find(unknown) {
        None => Ok(()),
        Some(name) => Err(schema_refusal(
            format!("`budgets` has an unknown key {:?}", shorten(name, 40)),
            format!("Use one of: {}.", BUDGETS.map(|it| it.0).join(", ")),
        )),
    }
}

/// Returns the budgets above the limits: the figure's name, the value given, the value allowed.
pub(super) fn wider(
    budgets: &BTreeMap<String, u64>,
    limits: &Limits,
) -> Vec<(&'static str, u64, u64)> {
    let mut limits = limits.clone();
    let found = budgets.iter().filter_map(|(name, asked)| {
        let figure = BUDGETS.iter().find(|it| it.0 == name)?.1;
        let allowed = limit(&mut limits, figure)?.get();
        (*asked > allowed).then_some((figure, *asked, allowed))
    });
    found.collect()
}

/// Returns the limits of a child after its parent gave it these budgets; no limit ever widens.
/// Ignores unknown names: a message with one is refused earlier.
pub fn narrowed_limits(limits: &Limits, budgets: &BTreeMap<String, u64>) -> Limits {
    let mut narrow = limits.clone();
    for (name, figure) in BUDGETS {
        if let (Some(most), Some(limit)) = (budgets.get(name), limit(&mut narrow, figure)) {
            limit.lower_to(*most);
        }
    }
    narrow
}

/// A reference to one limit, whatever its integer type.
enum LimitMut<'a> {
    Size(&'a mut usize),
    Count(&'a mut u32),
}

impl LimitMut<'_> {
    fn get(&self) -> u64 {
        match self {
            Self::Size(limit) => super::wide(**limit),
            Self::Count(limit) => u64::from(**limit),
        }
    }

    fn lower_to(self, most: u64) {
        match self {
            Self::Size(limit) => *limit = (*limit).min(usize::try_from(most).unwrap_or(usize::MAX)),
            Self::Count(limit) => *limit = (*limit).min(u32::try_from(most).unwrap_or(u32::MAX)),
        }
    }
}

fn limit<'a>(limits: &'a mut Limits, figure: &str) -> Option<LimitMut<'a>> {
    let (message, deref) = (&mut limits.message, &mut limits.deref);
    Some(match figure {
        "inline_tokens" => LimitMut::Size(&mut message.inline_tokens),
        "engrams" => LimitMut::Size(&mut message.engrams),
        "engram_chars" => LimitMut::Size(&mut limits.claim_chars),
        INLINE_CODE_CHARS => LimitMut::Size(&mut message.inline_code_chars),
        "brief_lines" => LimitMut::Size(&mut message.brief_lines),
        "repo_spans" => LimitMut::Count(&mut deref.repo_spans),
        "artifact_sections" => LimitMut::Count(&mut deref.artifact_sections),
        "sam_items" => LimitMut::Count(&mut deref.sam_items),
        "tokens" => LimitMut::Count(&mut deref.tokens),
        _ => return None,
    })
}
