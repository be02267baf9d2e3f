//! Decides which of two results to believe, and which state the bytes allow.

use engram_model::{PointerEdit, PointerState, Refusal};

use super::{
    cache::{Cache, ReadText},
    likeness::likeness,
    repo_state::FoundState,
    step::{Fate, Spot},
    text::{Text, same_but_for_blanks},
};

/// A less significant span could stand in many places.
const FEW_WORDS: u32 = 20;
/// A span below this is not significant at all.
const NO_WORDS: u32 = 7;
/// The least likeness of a span that the commits lose and the direct comparison finds again.
const RESTORED: f32 = 0.6;
/// The least likeness of such a span if the commits lose its whole file.
const RESTORED_FILE: f32 = 0.35;
/// The share that counts as the whole span, ignoring whitespace; and a difference that clearly is
/// less than the whole.
const WHOLE: f32 = 0.95;
const CLEARLY_LESS: f32 = 0.2;
/// The least likeness of a span that left its file and was edited; and the same where only one of
/// the two results leads there.
const ENOUGH_AWAY: f32 = 0.75;
const ENOUGH_ALONE: f32 = 0.9;
/// The least likeness of an edited span that only the way through the commits finds: in small
/// steps, neighbouring lines can take its place.
const ENOUGH_LEFT: f32 = 0.3;
/// The share of the surrounding lines that must go with a span of few words that left its file.
const ENOUGH_TOGETHER: f32 = 0.5;

/// What became of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanState {
    /// The same path, lines and bytes.
    Unchanged,
    /// The same bytes on other lines.
    Moved,
    /// The same bytes at another path.
    Renamed,
    /// The span still exists with changed bytes.
    Edited(PointerEdit),
    /// The span is gone.
    Deleted,
}

impl SpanState {
    /// The state as every surface writes it, and how the bytes of an edited span differ.
    pub fn written(self) -> (PointerState, Option<PointerEdit>) {
        match self {
            Self::Unchanged => (PointerState::Unchanged, None),
            Self::Moved => (PointerState::Moved, None),
            Self::Renamed => (PointerState::Renamed, None),
            Self::Edited(edit) => (PointerState::Edited, Some(edit)),
            Self::Deleted => (PointerState::Deleted, None),
        }
    }
}

/// Where a span is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// What became of it.
    pub state: SpanState,
    /// The place of the span; `None` if it is deleted.
    pub place: Option<super::Span>,
    /// From 0 to 1. It starts at 1 for equal bytes, and lower for edited ones, by the share of the
    /// span that is left. It falls if the span has few significant words, if another place matched
    /// as well, or if the direct comparison and the way through the commits disagree. It only
    /// orders results by doubt: no state depends on it, and docs/accuracy.md does not measure it.
    pub confidence: f64,
}

/// Returns whether the direct comparison leaves a doubt.
pub(super) fn is_doubtful(text: &Text, spot: &Spot, fate: &Fate) -> bool {
    match fate {
        Fate::At {
            same: true,
            whole_file: true,
            ..
        } => false,
        Fate::At {
            same: true,
            ambiguous: false,
            ..
        } => text.all_telling(spot.lines.clone()) < FEW_WORDS || text.has_twin(spot.lines.clone()),
        _ => true,
    }
}

/// Weighs the direct result and the one through the commits, then compares the bytes.
pub(super) fn of(
    cache: &mut Cache<'_>,
    side: FoundState,
    origin: &ReadText,
    spot: &Spot,
    direct: Fate,
    stepwise: Option<Fate>,
) -> Result<Anchor, Refusal> {
    let agree = stepwise.as_ref().map(|it| same_place(&direct, it));
    let words = origin.text.all_telling(spot.lines.clone());
    let bytes = origin.text.span(spot.lines.clone());
    let back = match &stepwise {
        Some(Fate::At { spot, .. }) => cache
            .read(side, &spot.file)
            .is_ok_and(|read| read.text.span(spot.lines.clone()) == bytes),
        _ => false,
    };
    let gone_at_once = matches!(direct, Fate::Gone { .. });
    let fate = choose(direct, stepwise, words, back);
    let (found, kept, ambiguous, away) = match fate {
        Fate::Unknown(refusal) => return Err(refusal),
        Fate::Gone { .. } => return Ok(deleted_anchor(agree)),
        Fate::At {
            spot,
            kept,
            ambiguous,
            away,
            ..
        } => (spot, kept, ambiguous, away),
    };
    let read = cache.read(side, &found.file)?;
    let now = read.text.span(found.lines.clone());
    let state = state(spot, bytes, &found, now);
    let enough = match (state, agree) {
        (SpanState::Edited(PointerEdit::Text), Some(false)) => ENOUGH_ALONE,
        (SpanState::Edited(PointerEdit::Text), _) => ENOUGH_AWAY,
        _ if words < FEW_WORDS => ENOUGH_TOGETHER,
        _ => 0.0,
    };
    if away.is_some_and(|it| it < enough) {
        return Ok(deleted_anchor(Some(false)));
    }
    let alike = match state {
        SpanState::Edited(PointerEdit::Text) => kept.max(likeness(bytes, now)).min(0.99),
        SpanState::Edited(PointerEdit::Whitespace) => 0.99,
        _ => 1.0,
    };
    if gone_at_once && state == SpanState::Edited(PointerEdit::Text) && alike < ENOUGH_LEFT {
        return Ok(deleted_anchor(agree));
    }
    let telling = match (state, words) {
        (SpanState::Unchanged, _) => 1.0,
        (_, few) if few < NO_WORDS => 0.6,
        (_, few) if few < FEW_WORDS => 0.85,
        _ => 1.0,
    };
    let roads = match agree {
        Some(false) => 0.7,
        _ => 1.0,
    };
    let twins = state != SpanState::Unchanged && read.text.has_twin(found.lines.clone());
    let rivals = match (ambiguous, twins) {
        (true, _) => 0.6,
        // Twins differ only in the lines around them.
        (_, true) => 0.85,
        _ => 1.0,
    };
    let confidence = (0.3 + 0.7 * f64::from(alike)) * telling * roads * rivals;
    Ok(Anchor {
        state,
        place: Some(super::Span {
            path: found.file.path,
            start: line_number(found.lines.start + 1),
            end: line_number(found.lines.end),
        }),
        confidence: (confidence * 1000.0).round() / 1000.0,
    })
}

fn deleted_anchor(agree: Option<bool>) -> Anchor {
    Anchor {
        state: SpanState::Deleted,
        place: None,
        confidence: match agree {
            Some(true) => 0.95,
            Some(false) => 0.6,
            None => 0.85,
        },
    }
}

fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Returns the state by the bytes alone.
pub(super) fn state(old: &Spot, bytes: &[u8], new: &Spot, now: &[u8]) -> SpanState {
    if bytes != now {
        let blanks_alone = same_but_for_blanks(bytes, now);
        SpanState::Edited(if blanks_alone {
            PointerEdit::Whitespace
        } else {
            PointerEdit::Text
        })
    } else if old.file.path != new.file.path {
        SpanState::Renamed
    } else if old.lines != new.lines {
        SpanState::Moved
    } else {
        SpanState::Unchanged
    }
}

fn same_place(a: &Fate, b: &Fate) -> bool {
    match (a, b) {
        (Fate::At { spot: a, .. }, Fate::At { spot: b, .. }) => {
            a.file.path == b.file.path && a.lines == b.lines
        }
        (Fate::Gone { .. }, Fate::Gone { .. }) => true,
        _ => false,
    }
}

/// Chooses between the two results: prefers equal bytes, then small steps to one large step. `back`
/// means that the way through the commits ended at equal bytes.
fn choose(direct: Fate, stepwise: Option<Fate>, words: u32, back: bool) -> Fate {
    let Some(stepwise) = stepwise else {
        return direct;
    };
    match (direct, stepwise) {
        (_, stepwise @ Fate::At { .. }) if back => stepwise,
        (direct @ Fate::At { same: true, .. }, _) if words >= NO_WORDS => direct,
        (
            direct @ Fate::At {
                same: true,
                anchored: true,
                ..
            },
            Fate::Gone { .. },
        ) => direct,
        (Fate::At { same: true, .. }, stepwise @ (Fate::At { .. } | Fate::Gone { .. })) => stepwise,
        // The span was split on the way, and joined again later.
        (direct @ Fate::At { kept: all, .. }, Fate::At { kept: part, .. })
            if all >= WHOLE && part + CLEARLY_LESS <= all =>
        {
            direct
        }
        (_, stepwise @ Fate::At { .. }) => stepwise,
        (direct @ Fate::At { .. }, gone @ Fate::Gone { with_file }) => {
            let enough = if with_file { RESTORED_FILE } else { RESTORED };
            match direct {
                Fate::At { kept, .. } if kept >= enough => direct,
                _ => gone,
            }
        }
        (direct, _) => direct,
    }
}
