//! The models that a home uses.

use serde::{Deserialize, Serialize};

use crate::words::words;

words!(
    /// What a model is for.
    ModelTask as "task" {
        /// Turns claims and questions into vectors, so that a question finds claims in other words.
        Embed = "embed",
        /// Says of possible conflicts whether their claims contradict each other: a classifier that runs
        /// on this machine.
        Nli = "nli",
        /// Says the same, but is a language model behind an OpenAI-compatible endpoint.
        Llm = "llm",
    }
);

words!(
    /// Whether a model is used.
    ModelState {
        /// `engram serve` and the window use it.
        On = "on",
        /// None was chosen.
        Off = "off",
        /// One was chosen that cannot be used.
        Broken = "broken",
    }
);

/// The model for a task, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedModel {
    /// What it is for.
    pub task: ModelTask,
    /// Its name; null if none was chosen.
    pub name: Option<String>,
    /// Distinguishes two models of the same name; null for an endpoint.
    pub version: Option<String>,
    /// Whether it is used.
    pub state: ModelState,
    /// Why it cannot be used, or what leaves this machine; null if there is nothing to say.
    pub why: Option<String>,
    /// The command that chooses one, or that turns it off.
    pub how: String,
}

/// The models of a home, one row for each task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelsReply {
    /// The rows.
    pub models: Vec<ListedModel>,
}
