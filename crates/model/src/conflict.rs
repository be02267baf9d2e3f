//! Conflicts: two sides that cannot both hold; the requests about them, and the replies.
//!
//! A *side* is a topic with a folded claim, with every engram that makes this claim and holds. A
//! conflict is an unordered pair of sides of one project, for everybody or for one run. Its id is
//! derived from these, so every search finds the same conflict, in any order and any number of times.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{ConflictId, EngramId, FactType, LineageId, Pointer, words::words};

/// The most pointers of a risk engram. They come from the two sides in turn, each side's first
/// ones first.
pub const RISK_POINTERS: usize = 12;

words!(
    /// The status of a conflict.
    ConflictStatus {
        /// Both sides hold, and nobody has settled it.
        Open = "open",
        /// Somebody settled it: one side lost, or a new claim replaced both.
        Resolved = "resolved",
        /// Somebody said it is not one. It is not raised again, unless an agent said so and a side
        /// gains a claim that the agent may not see or close.
        Dismissed = "dismissed",
        /// It ended by itself, with a side.
        Closed = "closed",
        /// Both sides are near each other and hold, and nobody has said that they contradict each
        /// other. It is no conflict yet: it has no report and shuts no gate.
        Possible = "possible",
    }
);

words!(
    /// How much a conflict matters (docs/design.md#tiers-and-severity). Worse is greater.
    Severity {
        /// A hint.
        Low = "low",
        /// Worth a look.
        Medium = "medium",
        /// Almost always a real problem.
        High = "high",
    }
);

words!(
    /// Which tier found a conflict (docs/design.md#tiers-and-severity), in the order in which they
    /// run.
    Tier {
        /// Another value for the same setting, version, flag, technology or statement.
        Entity = "tier0_entity",
        /// A classifier's judgement of two near claims.
        Nli = "tier1_nli",
        /// Another quantity for the same attribute.
        Numeric = "tier2_numeric",
        /// Another date, or one says "gone" and the other "still there".
        Temporal = "tier2_temporal",
        /// Across topics.
        CrossScope = "tier2b_cross_scope",
        /// A language model's judgement of two near claims.
        Llm = "tier3_llm",
        /// Near claims that an agent or a person says contradict each other. Until somebody confirms
        /// an agent's word, the conflict has no report and shuts no gate.
        Agent = "agent",
    }
);

impl Tier {
    /// Whether it is the word of an agent, a person or a model, and not the finding of a rule.
    pub fn is_word(self) -> bool {
        matches!(self, Self::Nli | Self::Llm | Self::Agent)
    }
}

words!(
    /// What somebody says of two claims that are near each other.
    PairVerdict {
        /// They cannot both hold.
        Contradicts = "contradicts",
        /// The newer one replaces the older one.
        Replaces = "replaces",
        /// They say the same.
        Same = "same",
        /// Both can hold.
        Compatible = "compatible",
        /// A model could not tell, or a person took their word back.
        Unclear = "unclear",
    }
);

words!(
    /// How a conflict ended.
    How {
        /// One side was chosen; the other's claims were closed.
        Winner = "winner",
        /// One claim replaced both sides.
        Merge = "merge",
        /// It is not a conflict.
        Dismissed = "dismissed",
        /// A side was replaced by a newer version.
        Superseded = "superseded",
        /// A side's term ended.
        Expired = "expired",
        /// A side was forgotten.
        Forgotten = "forgotten",
        /// A side was erased.
        Redacted = "redacted",
    }
);

words!(
    /// Which conflicts are listed.
    Listed as "conflict status" {
        /// Those that wait for a verdict.
        Open = "open",
        /// Those that were resolved.
        Resolved = "resolved",
        /// Those that were dismissed.
        Dismissed = "dismissed",
        /// Those that ended by themselves.
        Closed = "closed",
        /// Pairs of near claims that nobody said contradict each other: no conflicts yet.
        Possible = "possible",
        /// Every one, except for the possible ones.
        All = "all",
    }
);

impl Listed {
    /// Whether conflicts of this status are listed.
    pub fn admits(self, status: ConflictStatus) -> bool {
        match self {
            Self::All => status != ConflictStatus::Possible,
            Self::Possible => status == ConflictStatus::Possible,
            Self::Open => status == ConflictStatus::Open,
            Self::Resolved => status == ConflictStatus::Resolved,
            Self::Dismissed => status == ConflictStatus::Dismissed,
            Self::Closed => status == ConflictStatus::Closed,
        }
    }
}

/// Two sides that cannot both hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conflict {
    /// A function of the pair of sides, their project and, if only one run may see it, that run.
    pub id: ConflictId,
    /// Its status.
    pub status: ConflictStatus,
    /// How much it matters.
    pub severity: Severity,
    /// Which tier found it.
    pub tier: Tier,
    /// Confidence that both are about the same thing, 0 to 1; null where the tier gives none.
    pub score: Option<f64>,
    /// Why both cannot hold, in a sentence; empty once erased.
    pub why: String,
    /// When it was found first.
    pub found_at: Timestamp,
    /// The side that was stated first.
    pub a: ConflictSide,
    /// The side that was stated last: the newer one.
    pub b: ConflictSide,
    /// The risk engram that reports it; null if none was stored.
    pub risk: Option<EngramId>,
    /// How it ended; null while it is open.
    pub settled: Option<Settled>,
    /// Who let it pass the gate; null if nobody did.
    pub allowed: Option<Allowed>,
    /// What agents and people said of the pair, oldest first; absent if nobody did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<PairAnswer>,
}

impl Conflict {
    /// Whether only an agent or a model says so: such a conflict has no report and blocks nothing.
    pub fn is_unconfirmed(&self) -> bool {
        self.status == ConflictStatus::Open && self.tier.is_word() && self.risk.is_none()
    }

    /// The side that a verdict chose: both sides held until the verdict, and the other one ended
    /// first. `None` if no side was chosen, or if both have since ended at the same time.
    pub fn winner(&self) -> Option<&ConflictSide> {
        let is_chosen = self
            .settled
            .as_ref()
            .is_some_and(|it| it.how == How::Winner);
        let (a, b) = (self.a.valid_until, self.b.valid_until);
        match (a, b) {
            _ if !is_chosen || a == b => None,
            (None, _) => Some(&self.a),
            (_, None) => Some(&self.b),
            _ if a > b => Some(&self.a),
            _ => Some(&self.b),
        }
    }
}

/// One side of a conflict, represented by the newest engram that states it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConflictSide {
    /// That engram.
    pub id: EngramId,
    /// Its lineage.
    pub lineage_id: LineageId,
    /// Its words; empty once erased.
    pub claim: String,
    /// What differs from the other side: `[from, to)`, in characters of the claim.
    pub differs: Vec<(usize, usize)>,
    /// Its topic.
    pub topic: String,
    /// Who said it, as a person would name them.
    pub by: String,
    /// When it was said.
    pub created_at: Timestamp,
    /// 0 to 1.
    pub confidence: f64,
    /// How it came to be known.
    pub fact_type: FactType,
    /// Whether a repo, artifact, test or diff pointer resolved.
    pub verified: bool,
    /// When it stopped holding, or will by its ttl; null if no end is known.
    pub valid_until: Option<Timestamp>,
    /// Where its evidence is.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::PointerV01>"))]
    pub pointers: Vec<Pointer>,
}

/// How a conflict ended, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settled {
    /// How.
    pub how: How,
    /// Who did it, as a person would name them; empty where nobody did.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The reason that was given; null where none was, or once it was erased.
    pub why: Option<String>,
    /// Of a merge: the claim that replaced both sides, as far as the reader may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<EngramId>,
}

/// What somebody said of a pair of near claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairAnswer {
    /// Who, as a person would name them.
    pub by: String,
    /// What.
    pub verdict: PairVerdict,
    /// How sure a model is, from 0 to 1; absent for agents and people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sure: Option<f64>,
    /// When.
    pub at: Timestamp,
    /// The reason that was given; null where none was, or once it was erased.
    pub why: Option<String>,
}

/// The verdict that ended a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost {
    /// On which conflict.
    pub conflict: ConflictId,
    /// Whether the other side won, or one claim replaced both.
    pub how: How,
}

/// Who let an open conflict pass the gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Allowed {
    /// Who, as a person would name them.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The reason that was given; empty once erased.
    pub why: String,
}

/// The default number of conflicts on a page. The help of `engram conflicts` and the bus's
/// description of `limit` repeat it.
pub const CONFLICTS_ON_PAGE: u32 = 50;

/// The most conflicts on a page. The help of `engram conflicts` repeats it.
pub const MAX_CONFLICTS_ON_PAGE: u32 = 200;

/// Which conflicts to list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConflictFilter {
    /// Only conflicts with a side in this topic or below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only conflicts of this status.
    pub status: Listed,
    /// Only this severity or worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Continues after the `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The page size; [`CONFLICTS_ON_PAGE`] if absent, at most [`MAX_CONFLICTS_ON_PAGE`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl Default for ConflictFilter {
    fn default() -> Self {
        Self {
            topic: None,
            status: Listed::Open,
            severity: None,
            after: None,
            limit: None,
        }
    }
}

/// The conflicts of a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConflictsReply {
    /// How many are open in the whole project, whatever was asked for.
    pub open: u64,
    /// How many pairs of near claims wait for an answer, for the user; absent if none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub possible: u64,
    /// How many comparisons are still due; the gate is shut until they are done. An agent sees only
    /// those of its own claims.
    #[serde(default)]
    pub due: u64,
    /// Grouped by the topic of the newer side, the group with the worst conflict first. In a group,
    /// the worst come first, then the newest. Possible ones: the nearest first, those that somebody
    /// called compatible last.
    pub conflicts: Vec<Conflict>,
    /// How many more follow this page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<u64>,
    /// Where the next page starts: `after` of the next request; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Asks whether anything blocks a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GateCheck {
    /// Conflicts of this severity or worse block it.
    pub severity: Severity,
}

impl Default for GateCheck {
    fn default() -> Self {
        Self {
            severity: Severity::High,
        }
    }
}

words!(
    /// Whether a job may go on.
    Gate {
        /// Nothing blocks the job.
        Open = "open",
        /// Something blocks the job.
        Shut = "shut",
    }
);

/// The answer to a gate check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReply {
    /// Whether it is open.
    pub gate: Gate,
    /// The open conflicts that nobody allowed, worst first.
    pub blocking: Vec<ConflictId>,
    /// How many comparisons are still due: their results are not known yet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub due: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A verdict on a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolve {
    /// The conflict.
    pub conflict: ConflictId,
    /// How it is settled.
    pub how: Settle,
    /// The reason, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// How a conflict is settled, or its verdict undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settle {
    /// This engram's side holds; all engrams of the other side are closed.
    Winner(EngramId),
    /// The side that was stated last holds.
    Newer,
    /// The side with the higher confidence holds; refused if both have the same.
    Surer,
    /// These words replace both sides, with the evidence of both.
    Merge(String),
    /// An engram that was stored before replaces both sides.
    MergedBy(EngramId),
    /// It is not a conflict.
    Dismiss,
    /// What the caller says of a pair of near claims.
    Judge {
        /// What the caller says.
        verdict: PairVerdict,
        /// The pair, by the key with which the reply to the caller's commit showed it; absent if
        /// the conflict's id names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// The verdict is undone: the claims that it closed hold again, as new versions.
    Undo,
}

impl Settle {
    /// An answer for the pair that the conflict's id names.
    pub fn judge(verdict: PairVerdict) -> Self {
        Self::Judge { verdict, key: None }
    }
}

/// What a verdict did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolveReply {
    /// Which conflict.
    pub conflict: ConflictId,
    /// Its status now.
    pub status: ConflictStatus,
    /// The journal entry of the verdict.
    pub seq: u64,
    /// The engrams that it closed.
    pub closed: Vec<EngramId>,
    /// The engrams that it stored.
    pub stored: Vec<EngramId>,
    /// How many comparisons of those are still due; absent if none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub due: u64,
    /// Whether the same verdict was given before: nothing changed now. Only the command says so: the
    /// same verdict has the same reply.
    #[serde(skip)]
    pub repeated: bool,
}

/// Lets an open conflict pass the gate, or withdraws that permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allow {
    /// The conflict.
    pub conflict: ConflictId,
    /// The reason, in words; not needed to withdraw the permission.
    #[serde(default)]
    pub why: String,
    /// Withdraws the permission: the conflict blocks the gate again.
    #[serde(default)]
    pub undo: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(last: char) -> String {
        format!("01K0000000000000000000000{last}")
    }

    fn side(last: char, until: serde_json::Value) -> serde_json::Value {
        json!({
            "id": id(last), "lineage_id": id(last), "claim": "The lock lasts 3 minutes.",
            "differs": [[15, 24]], "topic": "wallet", "by": "programmer-1",
            "created_at": "2026-01-01T00:00:00Z", "confidence": 0.7, "fact_type": "observation",
            "verified": true, "valid_until": until, "pointers": []
        })
    }

    #[test]
    fn a_conflict_is_on_the_wire_as_the_contract_has_it() {
        let open = json!({
            "id": id('C'), "status": "open", "severity": "high", "tier": "tier2_numeric",
            "score": 0.9, "why": "3 minutes is not half an hour.",
            "found_at": "2026-01-01T00:00:00Z",
            "a": side('A', json!(null)), "b": side('B', json!("2026-01-02T00:00:00Z")),
            "risk": null, "settled": null, "allowed": null
        });
        let mut settled = open.clone();
        settled["status"] = json!("resolved");
        settled["score"] = json!(null);
        settled["risk"] = json!(id('R'));
        settled["settled"] = json!({
            "how": "winner", "by": "user", "at": "2026-01-03T00:00:00Z", "why": null
        });
        settled["allowed"] = json!({
            "by": "user", "at": "2026-01-02T00:00:00Z", "why": "Known."
        });
        for wire in [open, settled] {
            let read: Conflict = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), wire);
        }
    }

    #[test]
    fn requests_about_conflicts_are_read_as_they_are_sent() {
        let requests = [
            (json!("newer"), Settle::Newer),
            (json!("surer"), Settle::Surer),
            (json!("dismiss"), Settle::Dismiss),
            (json!("undo"), Settle::Undo),
            (json!({ "merge": "Both." }), Settle::Merge("Both.".into())),
            (
                json!({ "winner": id('A') }),
                Settle::Winner(id('A').parse().unwrap()),
            ),
            (
                json!({ "merged_by": id('A') }),
                Settle::MergedBy(id('A').parse().unwrap()),
            ),
        ];
        for (how, settle) in requests {
            let wire = json!({ "conflict": id('C'), "how": how });
            let read: Resolve = serde_json::from_value(wire.clone()).unwrap();
            assert_eq!(read.how, settle);
            assert_eq!(serde_json::to_value(&read).unwrap(), wire);
        }
        let filter: ConflictFilter = serde_json::from_value(json!({})).unwrap();
        assert_eq!(filter.status, Listed::Open);
        let gate: GateCheck = serde_json::from_value(json!({})).unwrap();
        assert_eq!(gate.severity, Severity::High);
        assert!(Severity::High > Severity::Medium && Severity::Medium > Severity::Low);
    }

    #[test]
    fn a_list_admits_what_it_names() {
        for status in ConflictStatus::ALL {
            for listed in Listed::ALL {
                let is_possible = *status == ConflictStatus::Possible;
                let is_of_all = *listed == Listed::All && !is_possible;
                let named = is_of_all || listed.as_str() == status.as_str();
                assert_eq!(listed.admits(*status), named, "{listed} {status}");
            }
        }
    }
}
