//! The words with which an agent or an orchestrator settles a conflict, over MCP and over HTTP.

use engram_model::{Code, EngramId, PairVerdict, Refusal, Settle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a conflict is settled, or what is said of a possible one.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "Way")]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResolutionType {
    Winner,
    Merge,
    Dismissed,
    LastWriter,
    HigherConfidence,
    Contradicts,
    Replaces,
    Same,
    Compatible,
}

impl ResolutionType {
    /// Returns the verdict of this type, with the claim that it names and the words that it gives.
    pub(crate) fn into_settle(
        self,
        claim: Option<EngramId>,
        content: Option<String>,
    ) -> Result<Settle, Refusal> {
        let missing = |message: &str, hint: &str| Refusal::new(Code::SchemaInvalid, message, hint);
        match (self, claim, content) {
            (Self::Winner, Some(id), _) => Ok(Settle::Winner(id)),
            (Self::Winner, None, _) => Err(missing(
                "resolution_type winner needs winning_claim_id",
                "Set winning_claim_id to the id of side a or b.",
            )),
            (Self::Merge, _, Some(text)) => Ok(Settle::Merge(text)),
            (Self::Merge, Some(id), None) => Ok(Settle::MergedBy(id)),
            (Self::Merge, None, None) => Err(missing(
                "resolution_type merge needs content",
                "Set content to one claim that replaces both, or winning_claim_id to the id of such a claim that you committed.",
            )),
            (Self::Dismissed, ..) => Ok(Settle::Dismiss),
            (Self::LastWriter, ..) => Ok(Settle::Newer),
            (Self::HigherConfidence, ..) => Ok(Settle::Surer),
            (Self::Contradicts, ..) => Ok(Settle::judge(PairVerdict::Contradicts)),
            (Self::Replaces, ..) => Ok(Settle::judge(PairVerdict::Replaces)),
            (Self::Same, ..) => Ok(Settle::judge(PairVerdict::Same)),
            (Self::Compatible, ..) => Ok(Settle::judge(PairVerdict::Compatible)),
        }
    }
}
