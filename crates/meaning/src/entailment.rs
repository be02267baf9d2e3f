//! Scores pairs of claims with a model of natural language inference.

use std::path::Path;

use crate::{
    ModelError, ModelInfo,
    classifier::{Classifier, softmax},
};

/// The most pairs that are run at once, which bounds the memory.
const BATCH: usize = 16;

/// How the second text relates to the first. Each score is between 0 and 1; together they are 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// The texts cannot both hold.
    pub contradiction: f32,
    /// If the first text holds, the second does.
    pub entailment: f32,
    /// Neither.
    pub neutral: f32,
}

/// A model that reads two texts together.
pub struct CrossEncoder {
    classifier: Classifier,
    entailment: usize,
    contradiction: usize,
}

impl CrossEncoder {
    /// Loads a model from a folder with `config.json`, `tokenizer.json` and `model.onnx` (or
    /// `onnx/model.onnx`). Its labels must be entailment and contradiction, in any order and
    /// case, and may be others besides.
    ///
    /// # Errors
    /// Those of [`crate::inspect`]; [`ModelError::NoRuntime`] before [`crate::load_runtime`]; and
    /// [`ModelError::Failed`] if it cannot compare a first pair.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        let classifier = Classifier::load(folder)?;
        let config = &classifier.config;
        let mut model = Self {
            entailment: config.label("entailment").unwrap_or_default(),
            contradiction: config.label("contradiction").unwrap_or_default(),
            classifier,
        };
        model.judge(&[("a", "b")])?;
        Ok(model)
    }

    /// Which model this is, as of the files that were loaded.
    pub fn info(&self) -> &ModelInfo {
        &self.classifier.info
    }

    /// Scores pairs of texts, in their order. What exceeds 512 tokens of a pair is cut off. The
    /// direction matters: swap a pair to see the other one.
    ///
    /// # Errors
    /// [`ModelError::Failed`] if the model fails, or gives scores that are not numbers.
    pub fn judge(&mut self, pairs: &[(&str, &str)]) -> Result<Vec<Scores>, ModelError> {
        let labels = self.classifier.config.labels.len();
        let mut scores = Vec::with_capacity(pairs.len());
        for batch in pairs.chunks(BATCH) {
            let logits = self.classifier.run(batch)?;
            scores.extend(logits.chunks(labels).map(|it| self.scores(it)));
        }
        Ok(scores)
    }

    fn scores(&self, row: &[f32]) -> Scores {
        let shares = softmax(row);
        let share = |label: usize| shares.get(label).copied().unwrap_or(0.0);
        let contradiction = share(self.contradiction);
        let entailment = share(self.entailment);
        Scores {
            contradiction,
            entailment,
            neutral: (1.0 - contradiction - entailment).max(0.0),
        }
    }
}
