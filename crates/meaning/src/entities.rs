//! Finds names in a claim with a model that labels each token.

use std::{mem, ops::Range, path::Path};

use tokenizers::Encoding;

use crate::{
    ModelError, ModelInfo, Task,
    classifier::{BATCH, Classifier, softmax},
};

/// A name in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    /// The model's label, without `B-` or `I-`: `PER`, `ORG` and so on.
    pub label: String,
    /// Where the name lies in the text, in bytes; always on the borders of characters.
    pub range: Range<usize>,
    /// The mean score of the name's words, between 0 and 1.
    pub score: f32,
}

/// A model that labels each token of a text.
pub struct TokenClassifier {
    classifier: Classifier,
}

impl TokenClassifier {
    /// Loads a model from a folder with `config.json`, `tokenizer.json` and `model.onnx` (or
    /// `onnx/model.onnx`).
    ///
    /// # Errors
    /// Those of [`crate::inspect`]; [`ModelError::NoRuntime`] before [`crate::load_runtime`]; and
    /// [`ModelError::Failed`] if it cannot read a first text.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        let mut model = Self {
            classifier: Classifier::load(folder, Task::Entities)?,
        };
        model.entities(&["a"])?;
        Ok(model)
    }

    /// Which model this is, as of the files that were loaded.
    pub fn info(&self) -> &ModelInfo {
        &self.classifier.info
    }

    /// The names in each text, in their order. A word has the label of its first token; neighbours
    /// with `B-` and `I-` of one label, or with one label that has neither, are one name. What
    /// exceeds 256 tokens of a text is not read.
    ///
    /// # Errors
    /// [`ModelError::Failed`] if the model fails, or gives scores that are not numbers.
    pub fn entities(&mut self, texts: &[&str]) -> Result<Vec<Vec<Entity>>, ModelError> {
        let labels = self.classifier.config.labels.len();
        let mut found = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let logits = self.classifier.run(batch.to_vec())?;
            let mut rows = logits.values.chunks(labels);
            for (text, encoding) in batch.iter().zip(&logits.encodings) {
                let rows: Vec<&[f32]> = rows.by_ref().take(encoding.len()).collect();
                let words = words(encoding, &rows);
                found.push(names(text, words, &self.classifier.config.labels));
            }
        }
        Ok(found)
    }
}

/// A word with the number and the share of its label.
struct Word {
    range: Range<usize>,
    label: usize,
    score: f32,
}

fn words(encoding: &Encoding, rows: &[&[f32]]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut last = None;
    let tokens = encoding.get_word_ids().iter().zip(encoding.get_offsets());
    for ((word, (start, end)), row) in tokens.zip(rows) {
        // The tokens that begin, end and pad a text belong to no word.
        let Some(id) = word else {
            last = None;
            continue;
        };
        match words.last_mut().filter(|_| last == Some(id)) {
            Some(word) => word.range.end = (*end).max(word.range.end),
            None => {
                let shares = softmax(row);
                let best = shares.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
                let (label, score) = best.map_or((0, 0.0), |(label, score)| (label, *score));
                words.push(Word {
                    range: *start..*end,
                    label,
                    score,
                });
            }
        }
        last = Some(id);
    }
    words
}

/// Joins words to names.
fn names(text: &str, words: Vec<Word>, labels: &[String]) -> Vec<Entity> {
    let mut names = Vec::new();
    let mut open: Option<(&str, Range<usize>, Vec<f32>)> = None;
    for word in words {
        let tag = labels.get(word.label).map_or("O", String::as_str);
        let (begins, label) = match tag.split_at_checked(2) {
            Some(("B-", label)) => (true, label),
            Some(("I-", label)) => (false, label),
            _ => (false, tag),
        };
        if let Some((_, range, scores)) = open
            .as_mut()
            .filter(|(current, ..)| *current == label && !begins)
        {
            range.end = word.range.end;
            scores.push(word.score);
            continue;
        }
        names.extend(mem::take(&mut open).and_then(|it| name(text, it)));
        open = (label != "O").then(|| (label, word.range, vec![word.score]));
    }
    names.extend(open.and_then(|it| name(text, it)));
    names
}

fn name(text: &str, (label, range, scores): (&str, Range<usize>, Vec<f32>)) -> Option<Entity> {
    // Some tokenizers count the space before a word as part of it.
    let words = text.get(range.clone())?;
    let start = range.start + (words.len() - words.trim_start().len());
    let end = start + words.trim().len();
    (start < end).then(|| Entity {
        label: label.to_owned(),
        range: start..end,
        score: scores.iter().sum::<f32>() / scores.len() as f32,
    })
}
