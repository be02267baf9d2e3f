//! The configuration that publishers put beside a model.

use serde_json::Value;

use crate::{ModelError, Task, folder::CONFIG, text::printable};

/// The most tokens that a model reads of one text, and of two. A claim has at most 500 characters,
/// and memory grows with the square of the tokens.
const MOST_TOKENS: usize = 256;
const MOST_TOKENS_OF_PAIR: usize = 512;

/// What we need of a `config.json`.
pub(crate) struct ModelConfig {
    pub(crate) name: Option<String>,
    pub(crate) pad_token_id: u32,
    /// The labels of the outputs, in order. Empty if there are none.
    pub(crate) labels: Vec<String>,
    architecture: Option<String>,
    positions: Option<usize>,
}

impl ModelConfig {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ModelError> {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|it| ModelError::broken(CONFIG, it))?;
        if !value.is_object() {
            return Err(ModelError::broken(CONFIG, "it is not a JSON object"));
        }
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        let size = |key: &str| number(key).and_then(|it| usize::try_from(it).ok());
        let pad_token_id = number("pad_token_id").and_then(|it| u32::try_from(it).ok());
        // This family counts positions from the one after the padding token's id.
        let offset = match text("model_type") {
            Some(family) if family.contains("roberta") => 2,
            _ => 0,
        };
        Ok(Self {
            name: text("_name_or_path"),
            pad_token_id: pad_token_id.unwrap_or(0),
            labels: labels(value.get("id2label")),
            architecture: value
                .pointer("/architectures/0")
                .and_then(Value::as_str)
                .map(str::to_owned),
            positions: size("max_position_embeddings").map(|it| it.saturating_sub(offset)),
        })
    }

    /// How many tokens of one input are read; the rest is cut off.
    pub(crate) fn tokens(&self, task: Task) -> usize {
        let most = match task {
            Task::Embedding => MOST_TOKENS,
            Task::Entailment => MOST_TOKENS_OF_PAIR,
        };
        self.positions
            .filter(|it| *it > 0)
            .map_or(most, |it| it.min(most))
    }

    /// Which output has this label, in any case.
    pub(crate) fn label(&self, label: &str) -> Option<usize> {
        self.labels
            .iter()
            .position(|it| it.eq_ignore_ascii_case(label))
    }

    /// Checks that the model was made for the task, as far as the configuration says.
    pub(crate) fn admit(&self, task: Task) -> Result<(), ModelError> {
        let wrong = |why: String| Err(ModelError::wrong_task(task, why));
        if let Some(architecture) = self.architecture.as_ref().filter(|it| !it.is_empty()) {
            let made_for_it = match task {
                Task::Embedding => !has_head(architecture) || architecture.ends_with("ForMaskedLM"),
                Task::Entailment => architecture.ends_with("ForSequenceClassification"),
            };
            if !made_for_it {
                return wrong(format!("its architecture is {architecture}"));
            }
        }
        let has = |label| self.label(label).is_some();
        match task {
            Task::Entailment if !has("entailment") || !has("contradiction") => wrong(format!(
                "its labels are [{}], not contradiction and entailment",
                self.labels.join(", ")
            )),
            _ => Ok(()),
        }
    }
}

/// Whether an architecture's name ends like `ForCausalLM`: the encoder with something on top.
fn has_head(architecture: &str) -> bool {
    architecture.match_indices("For").any(|(at, found)| {
        let rest = architecture.get(at + found.len()..);
        rest.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_uppercase()))
    })
}

/// The labels by their ids, which must be 0, 1, 2 and so on.
fn labels(id2label: Option<&Value>) -> Vec<String> {
    let Some(Value::Object(by_id)) = id2label else {
        return Vec::new();
    };
    (0..by_id.len())
        .map_while(|it| by_id.get(&it.to_string())?.as_str())
        .map(|it| printable(it, 40))
        .collect()
}
