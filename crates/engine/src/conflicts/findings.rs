//! Finds the claims that contradict a new claim and those that say the same in other words. It runs
//! the tiers that need no model on the few claims that may be about the same thing.
//!
//! Every stored version passes here, so the order in which two claims arrive does not matter: the
//! later one is compared with the other. A finding never fails a write.

use std::cmp::Reverse;

use engram_model::{
    ConflictId, Engram, EngramId, Finding, JournalTime, Noticed, Refusal, Severity,
};
use engram_store::{Due, Reader, audience, side};

use crate::{
    conflicts::{
        judging::{Judgments, is_comparable, judge_candidates},
        raising::{conflict_finding, contradiction_in, needs_entry},
        risks,
        sides::sides_to_raise,
    },
    context::{Context, names, names::ENGINE, plan::Planned, visibility::Visibility},
};

/// The most conflicts that one write raises, and the most that one step of a due comparison raises.
const RAISED: usize = 5;
const RAISED_WHEN_DUE: usize = 32;
/// The most conflicts, and the most corroborating claims, that a reply lists.
pub(crate) const TOLD: usize = 5;

/// The findings about a version that is about to be stored.
#[derive(Default)]
pub(crate) struct Findings {
    /// For its author: conflicts, worst first, then claims that say the same.
    pub(crate) findings: Vec<Finding>,
    /// How many conflicts its author may see.
    pub(crate) conflicts: u64,
    /// The entries to record after it.
    pub(crate) entries: Vec<Planned>,
    /// The comparisons that are still due.
    pub(crate) due: Option<Due>,
}

impl Findings {
    /// How many due comparisons its author may see.
    pub(crate) fn told_due(&self) -> u64 {
        self.due.map_or(0, |due| due.told)
    }
}

/// Who stores a version, when, and what else the transaction does.
pub(crate) struct CompareOptions<'a> {
    pub(crate) now: JournalTime,
    pub(crate) by: &'a str,
    /// Versions that end in this transaction.
    pub(crate) ending: &'a [EngramId],
    /// The entries of this transaction before the version's own.
    pub(crate) before: &'a [Planned],
    /// The conflict that this write settles or reopens: it is not raised again.
    pub(crate) of: Option<ConflictId>,
    /// The next step, if the version was stored before and comparisons of it are still due.
    pub(crate) due: Option<Due>,
}

impl<'a> CompareOptions<'a> {
    /// The options for a version that replaces `ending` and is compared with everything.
    pub(crate) fn of(now: JournalTime, by: &'a str, ending: &'a [EngramId]) -> Self {
        Self {
            now,
            by,
            ending,
            before: &[],
            of: None,
            due: None,
        }
    }

    /// The version is compared only with those stored before this place.
    pub(super) fn compared_below(&self) -> u64 {
        self.due.unwrap_or(Due::ALL).below
    }

    /// Whether only conflicts of runs are left to find.
    pub(super) fn is_of_runs(&self) -> bool {
        self.due.is_some_and(|due| due.of_runs)
    }
}

/// Opens the index for [`compare_version`], before any transaction begins.
pub(crate) fn open_index(cx: &Context<'_>) {
    let _ = cx.engine.index();
}

/// Compares a version that is about to be stored with those that hold. A comparison that fails
/// becomes due.
pub(crate) fn compare_version(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    options: &CompareOptions<'_>,
) -> Findings {
    let compared = compare_with_all(cx, tx, engram, options);
    compared.unwrap_or_else(|error| {
        tracing::warn!(%error, id = %engram.id, "cannot compare a claim; will try again");
        Findings {
            due: Some(Due::ALL),
            ..Findings::default()
        }
    })
}

fn compare_with_all(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    options: &CompareOptions<'_>,
) -> Result<Findings, Refusal> {
    let mut compared = Findings::default();
    if !is_comparable(engram) {
        return Ok(compared);
    }
    let here = side(&engram.topic, &engram.claim);
    let visibility = cx.visibility_in(engram.project)?;
    let mut judgments = judge_candidates(cx, tx, engram, &here, &visibility, options)?;
    judgments
        .against
        .retain(|(run, _), _| run.is_some() || !options.is_of_runs());
    let mut unraised = Due {
        below: options.compared_below(),
        of_runs: true,
        ..Due::NONE
    };
    let mut told: Vec<(Reverse<Severity>, Reverse<u64>, Finding)> = Vec::new();
    let most = if options.due.is_some() {
        RAISED_WHEN_DUE
    } else {
        RAISED
    };
    // The limit is for the whole write, whatever it records.
    let mut raised = options.before.iter().filter_map(contradiction_in).count();
    let (sides, is_cut) = sides_to_raise(
        cx,
        tx,
        engram,
        &here,
        std::mem::take(&mut judgments.against),
        options,
    )?;
    for one in sides {
        let Some(voice) = one.voices.first() else {
            continue;
        };
        if needs_entry(cx, tx, &one, [engram, &voice.engram], voice, options)? {
            if raised >= most {
                unraised.of_runs &= one.pair.run.is_some();
                unraised.pairs += 1;
                unraised.told += u64::from(one.covered_by.is_none());
                continue;
            }
            raised += 1;
            let entries = risks::conflict_entries(cx, tx, engram, &one, voice, options)?;
            compared.entries.extend(entries);
        }
        if one.covered_by.is_none() {
            let finding = conflict_finding(tx, one.pair.id, voice, one.known_pair())?;
            told.push((
                Reverse(voice.found.severity),
                Reverse(voice.engram.seq),
                finding,
            ));
        }
    }
    compared.due = remaining_due(&judgments, unraised, is_cut, &visibility, options);
    told.sort_by_key(|it| (it.0, it.1));
    compared.conflicts = told.len() as u64;
    let worst = told.into_iter().take(TOLD).map(|it| it.2);
    compared.findings.extend(worst);
    add_corroborations(
        cx,
        tx,
        &visibility,
        engram,
        judgments.same,
        options,
        &mut compared,
    )?;
    Ok(compared)
}

/// Returns the comparisons that are still due: sides that were not raised or, if there are none,
/// versions that were not examined. Adds versions that the author may not see.
fn remaining_due(
    judgments: &Judgments,
    unraised: Due,
    is_cut: bool,
    visibility: &Visibility,
    options: &CompareOptions<'_>,
) -> Option<Due> {
    let mut due = if unraised.pairs > 0 {
        Some(due_of_unraised(unraised, judgments, options))
    } else {
        due_of_unexamined(judgments, visibility, options)
    };
    if judgments.has_hidden {
        // Versions that the author may not see are compared in the background.
        let known = due.unwrap_or(Due {
            told: 0,
            of_runs: true,
            ..Due::ALL
        });
        due = Some(Due {
            below: options.compared_below(),
            of_runs: known.of_runs && !judgments.hides_shared,
            ..known
        });
    }
    if is_cut {
        due = Some(Due {
            is_cut,
            ..due.unwrap_or(Due::NONE)
        });
    }
    due
}

/// The sides that a later step raises.
fn due_of_unraised(unraised: Due, judgments: &Judgments, options: &CompareOptions<'_>) -> Due {
    // Versions that were not examined may be for everybody.
    let is_whole = judgments.floor == 0 && !judgments.has_failed;
    Due {
        told: if options.by == ENGINE {
            0
        } else {
            unraised.told
        },
        of_runs: options.is_of_runs() || (unraised.of_runs && is_whole),
        ..unraised
    }
}

/// The comparisons with versions that were not examined: with everything again if a version could
/// not be read, otherwise with what was stored below the floor.
fn due_of_unexamined(
    judgments: &Judgments,
    visibility: &Visibility,
    options: &CompareOptions<'_>,
) -> Option<Due> {
    let all = Due {
        below: options.compared_below(),
        of_runs: options.is_of_runs(),
        ..Due::ALL
    };
    if judgments.has_failed {
        return Some(all);
    }
    // An agent gets no count, because it would reveal how many versions the agent may not see. For
    // the same reason, what the engine finds by itself is not counted.
    let is_told = matches!(visibility, Visibility::All) && options.by != ENGINE;
    (judgments.floor > 0).then_some(Due {
        below: judgments.floor,
        told: u64::from(is_told),
        ..all
    })
}

/// Counts a corroboration for each claim that says the same in other words, and adds a finding for
/// the author.
fn add_corroborations(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    visibility: &Visibility,
    engram: &Engram,
    same: Vec<Engram>,
    options: &CompareOptions<'_>,
    compared: &mut Findings,
) -> Result<(), Refusal> {
    let handle = cx.agent()?.map(|agent| &agent.handle);
    for other in same
        .into_iter()
        .filter(|it| visibility.may_see(it))
        .take(TOLD)
    {
        // Claims of a run count only for that run.
        let counts = audience(engram).is_none() || audience(engram) == audience(&other);
        if counts && !tx.has_said(handle, options.by, other.id)? {
            compared
                .entries
                .push(Planned::corroborated(&other, options.by));
        }
        let note = format!("{} says the same in other words.", author_in_words(&other));
        compared
            .findings
            .push(Finding::new(Noticed::Corroborates, other.id, note));
    }
    Ok(())
}

/// The author of a claim as a sentence names it.
pub(crate) fn author_in_words(engram: &Engram) -> String {
    name_in_words(&names::author_of(engram)).to_owned()
}

pub(crate) fn name_in_words(by: &str) -> &str {
    if by.is_empty() { "the user" } else { by }
}
