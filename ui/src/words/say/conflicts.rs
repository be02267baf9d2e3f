//! Conflicts, and the verdicts on them.

use engram_model::{ConflictStatus, How, Listed, PairVerdict, Severity, Tier};

pub const TITLE: &str = "Conflicts";
pub const COUNTS: &str = "Conflicts waiting for a verdict";
pub const LABEL: &str = "Conflicts by topic, worst first";
pub const ONE: &str = "Conflict";
pub const OPEN_ONES: super::Noun = ("open conflict", "open conflicts");
pub const TYPE: &str = "type";
pub const READING: &str = "Loading…";
pub const LISTED: super::Noun = ("conflict listed", "conflicts listed");
pub const DUE: super::Noun = ("comparison", "comparisons");
pub const NONE_OPEN: &str = "No open conflicts";
pub const NONE_OPEN_MEANS: &str =
    "If two claims cannot both hold, they appear here for your verdict.";
pub const NONE: &str = "No conflicts match the filter";
pub const NONE_POSSIBLE: &str = "No possible conflicts";
pub const SHOW_OPEN: &str = "Show open conflicts";
pub const NOT_READ: &str = "Select a conflict to see both claims.";
pub const GONE: &str = "There is no such conflict here";
pub const GONE_HINT: &str = "It may be in another repository or another home.";

pub const STATUS: &str = "Status";
pub const TOPIC: &str = "Topic";
pub const ALL_TOPICS: &str = "All topics";

pub const SIDES: [&str; 2] = ["A", "B"];
pub const CLAIM_OF: [&str; 2] = ["Claim A", "Claim B"];
pub const EVIDENCE_OF: [&str; 2] = ["Evidence for A", "Evidence for B"];
pub const NO_EVIDENCE: &str = "This claim has no evidence left.";
pub const ERASED: &str = "This claim was redacted.";
pub const DIFFERS: &str = "differs";
pub const SHOW: &str = "Show in the feed";
pub const SHOW_MERGED: &str = "Show the merged claim";

pub const FIRST_HOLDS: &str = "A holds";
pub const SECOND_HOLDS: &str = "B holds";
pub const NEWER_HOLDS: &str = "The newer claim holds";
pub const SURER_HOLDS: &str = "The more confident claim holds";
pub const NEWER: &str = "Newer";
pub const SURER: &str = "More confident";
pub const MERGE: &str = "Merge…";
pub const MERGE_MEANS: &str = "One claim that you write replaces both";
pub const DISMISS: &str = "Not a conflict";
pub const NO_CONFLICT: &str = "Dismiss: not a conflict";
pub const DISMISS_MEANS: &str = "Both claims stay, and Engram won’t ask about this pair again";
pub const ASK_MODEL: &str = "Ask the language model";
pub const ASKING_MODEL: &str = "Asking the language model…";
pub const MODEL_ANSWERED: &str =
    "The model has answered already: its answer is beside the conflict";
pub const ASK_MODEL_MEANS: &str = "Sends both claims, and nothing else, to the language model that you chose; its answer decides nothing";

pub const ALLOW: &str = "Allow…";
pub const ALLOW_MEANS: &str = "Allow: it stays open but no longer blocks CI";
pub const WRITE_REASON: &str = "Write a reason";
pub const REOPEN: &str = "Undo this verdict";
pub const TAKE_BACK: &str = "Undo this verdict";
pub const DISALLOW: &str = "No longer allow";
pub const SHOW_FIRST: &str = "Show claim A in the feed";
pub const SHOW_SECOND: &str = "Show claim B in the feed";

pub const VERDICTS: &str = "Verdicts";
pub const REASON: &str = "Reason";
pub const REASON_HINT: &str = "Optional, kept with the verdict";
pub const WHY_ALLOWED: &str = "Why allow it?";
pub const WHY_ALLOWED_HINT: &str = "Required. Enter allows the conflict";
pub const MERGED: &str = "Merged claim";
pub const MERGE_UNSAVED: &str = "You have an unsaved merge.";
pub const SAVE_MERGE: &str = "Merge";

pub const IS_SETTLED: &str = "This conflict is already settled";
pub const IS_SETTLED_HINT: &str = "Undo its verdict first.";
pub const ENDED: &str = "This conflict closed automatically";
pub const ENDED_HINT: &str = "There is no verdict to undo.";
pub const STILL_OPEN: &str = "This conflict is still open";
pub const IS_ALLOWED: &str = "This conflict is already allowed";
pub const BLOCKS_NOTHING: &str = "Nobody confirmed this conflict yet, so it blocks nothing";
pub const EQUALLY_SURE: &str = "Both claims have the same confidence";
pub const PICK_ONE: &str = "Press A or B to pick a claim.";

pub const SELECTED: &str = "Selected conflicts";
pub const ALL_SELECTED: &str = "All open conflicts in this list are selected.";
pub const ONLY_OPEN: &str = "Only open conflicts can be selected";
pub const ONLY_OPEN_HINT: &str = "To change a verdict, undo it first.";
pub const ONE_AT_A_TIME: &str = "Conflicts are merged one at a time";
pub const ONE_AT_A_TIME_HINT: &str = "Clear the selection first.";
pub const NONE_FITS: &str = "This does not apply to the selected conflicts";

/// The words before a count of conflicts: during a run, and after it.
pub const SETTLE: (&str, &str) = ("Settling", "Settled");
pub const CONFIRMING: (&str, &str) = ("Confirming", "Confirmed");
pub const DISMISSING: (&str, &str) = ("Dismissing", "Dismissed");
pub const ALLOWING: (&str, &str) = ("Allowing", "Allowed");

pub const DONE_FIRST: &str = "Settled: A holds";
pub const DONE_SECOND: &str = "Settled: B holds";
pub const DONE_NEWER: &str = "Settled: the newer claim holds";
pub const DONE_SURER: &str = "Settled: the more confident claim holds";
pub const DONE_MERGE: &str = "Merged: one claim replaces both";
pub const DONE_DISMISS: &str = "Dismissed. Engram won’t ask about this pair again";
pub const DONE_ALLOW: &str = "Allowed: it stays open but no longer blocks CI";
pub const REOPENED: &str = "Reopened";
pub const BLOCKS_AGAIN: &str = "No longer allowed: it blocks CI again";

pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
    }
}

pub fn severity_of(level: Severity) -> String {
    format!("{} severity", severity(level))
}

pub const SCORE_MEANS: &str = "How certain it is that both claims are about the same thing, 0 to 1";

/// The score on a row. That of near claims is their nearness; that of a model, how sure it is.
pub fn score(status: ConflictStatus, tier: Tier, score: f64) -> String {
    match (status, tier) {
        (ConflictStatus::Possible, _) | (_, Tier::Agent) => format!("nearness {score:.2}"),
        (_, Tier::Nli | Tier::Llm) => format!("{:.0}% sure", score * 100.0),
        _ => format!("score {score:.2}"),
    }
}

pub const NEAREST: &str = "Nearest first";
pub const CALLED_COMPATIBLE: &str = "Called compatible or the same";

/// Who judged it, and how sure that is: of a rule, that both claims are about the same thing; of a
/// model, that they cannot both hold; of near claims, how near they are. `by` has the names of those
/// who said something of the pair. Ends where the time follows.
pub fn who_judged(status: ConflictStatus, tier: Tier, by: &str, score: Option<f64>) -> String {
    let near = score.map(|it| format!(" (nearness {it:.2})"));
    let near = near.unwrap_or_default();
    let sure = score.map(|it| format!(", {:.0}% sure", it * 100.0));
    let sure = sure.unwrap_or_default();
    let judged = match by {
        "" => judge(tier).to_owned(),
        by => format!("Judged by {by}"),
    };
    match (status, tier, by) {
        (ConflictStatus::Possible, _, "") => {
            format!("Proposed because they are near each other{near}, and not judged yet. Found")
        }
        (ConflictStatus::Possible, _, by) => {
            format!("Proposed because they are near each other{near}, and judged by {by}. Found")
        }
        (_, Tier::Agent, _) => format!("{judged}{near}. Found"),
        (_, Tier::Nli | Tier::Llm, _) => format!("{judged}{sure}. Found"),
        _ if score.is_some() => {
            format!(
                "{}{sure} that both are about the same thing. Found",
                judge(tier)
            )
        }
        _ => format!("{}. Found", judge(tier)),
    }
}

/// How a pair was found, on its row: by a rule; else who judged it. `by` has their names.
pub fn how_found(status: ConflictStatus, tier: Tier, by: &str) -> String {
    match (status, tier, by) {
        (ConflictStatus::Possible, _, "") => NOT_JUDGED.to_owned(),
        (ConflictStatus::Possible, _, by) | (_, Tier::Agent, by) if !by.is_empty() => {
            format!("judged by {by}")
        }
        _ => how_differs(tier).to_owned(),
    }
}

/// What a rule found, or what kind of judge said so.
fn how_differs(tier: Tier) -> &'static str {
    match tier {
        Tier::Entity => "values differ",
        Tier::Nli => "sentences contradict",
        Tier::Numeric => "quantities differ",
        Tier::Temporal => "times differ",
        Tier::CrossScope => "across topics",
        Tier::Llm => "judged by a model",
        Tier::Agent => "judged by an agent or you",
    }
}

/// Which rule or model judged that two claims contradict each other.
fn judge(tier: Tier) -> &'static str {
    match tier {
        Tier::Entity => "Judged by a rule that compares values",
        Tier::Nli => "Judged by a classifier",
        Tier::Numeric => "Judged by a rule that compares quantities",
        Tier::Temporal => "Judged by a rule that compares times",
        Tier::CrossScope => "Judged by a rule that compares claims across topics",
        Tier::Llm => "Judged by a large language model",
        Tier::Agent => "Judged by an agent or by you",
    }
}

pub fn status(status: ConflictStatus) -> &'static str {
    match status {
        ConflictStatus::Open => "open",
        ConflictStatus::Resolved => "resolved",
        ConflictStatus::Dismissed => "dismissed",
        ConflictStatus::Closed => "closed",
        ConflictStatus::Possible => "possible",
    }
}

pub fn listed(listed: Listed) -> &'static str {
    match listed {
        Listed::Open => "Open",
        Listed::Resolved => "Resolved",
        Listed::Dismissed => "Dismissed",
        Listed::Closed => "Closed automatically",
        Listed::Possible => "Possible",
        Listed::All => "All",
    }
}

pub fn how_settled(how: How) -> &'static str {
    match how {
        How::Winner => "One claim was chosen",
        How::Merge => "Merged into one claim",
        How::Dismissed => "Dismissed: not a conflict",
        How::Superseded => "Closed automatically: a claim was replaced",
        How::Expired => "Closed automatically: a claim expired",
        How::Forgotten => "Closed automatically: a claim was forgotten",
        How::Redacted => "Closed automatically: a claim was redacted",
    }
}

pub const WAS_MERGED: &str = "merged";

/// Which claim was chosen, by its letter.
pub const CHOSEN: [&str; 2] = ["A was chosen", "B was chosen"];

pub const ALLOWED: &str = "allowed";
pub const IS_ALLOWED_BY: &str = "Allowed";

/// Who did it, and when.
pub fn by_whom(by: &str, at: &str) -> String {
    match by {
        "" => at.to_owned(),
        by => format!("by {by}, {at}"),
    }
}

pub fn open_count(count: &str) -> String {
    format!("{count} open")
}

pub fn place_of(place: &str, count: &str) -> String {
    format!("{place} of {count}")
}

pub fn group(topic: &str, conflicts: &str) -> String {
    format!("{topic}: {conflicts}")
}

pub fn not_listed(conflicts: &str) -> String {
    format!("Not listed: {conflicts}. Filter by topic to see the rest.")
}

pub fn still_due(comparisons: &str) -> String {
    format!("Still due: {comparisons}. `engram conflicts --gate` fails until they are done.")
}

pub fn new_count(count: usize) -> String {
    format!("{count} new")
}

pub const ONLY_POSSIBLE: &str = "This is only a possible conflict";
pub const JUDGE_FIRST: &str = "Say first whether the claims contradict each other.";

pub const CONTRADICT: &str = "A conflict";
pub const CONTRADICT_MEANS: &str = "It is a conflict: they contradict each other";
pub const DONE_CONTRADICT: &str = "Confirmed: the conflict waits for your verdict";
pub const OPEN_IT: &str = "Open";
pub const IS_CONFLICT: &str = "This is already a conflict";

/// What somebody said of a pair, as a line of its history, and how sure a model is.
pub fn judged(verdict: PairVerdict, sure: Option<f64>) -> String {
    let said = match verdict {
        PairVerdict::Contradicts => "they contradict each other",
        PairVerdict::Replaces => "B replaces A",
        PairVerdict::Same => "both say the same",
        PairVerdict::Compatible => "both can hold",
        PairVerdict::Unclear => "could not tell",
    };
    match sure {
        Some(sure) => format!("{said} (sure: {sure:.2})"),
        None => said.to_owned(),
    }
}

pub const POSSIBLE_MEANS: &str =
    "These claims may be about the same thing. Do they contradict each other?";
pub const UNCONFIRMED: &str =
    "Only an agent or a model says so. It does not block CI until somebody confirms it.";

const NOT_JUDGED: &str = "not judged yet";
pub const POSSIBLE_ONES: super::Noun = ("possible conflict", "possible conflicts");
pub const SHOW_OTHERS: &str = "Show";
