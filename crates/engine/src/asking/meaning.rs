//! How close claims are in meaning to a question: by the vectors of the model that the user chose, if a
//! process of this home holds it, or else by the table of words.

use std::collections::HashMap;

use engram_consistency::near::{ClaimSketch, MEANING, MEANING_BY_MODEL};
use engram_model::ProjectId;
use engram_store::{EmbeddingModel, Reader, Result, SearchMatch, Vectors};

use crate::{
    context::Context,
    home::questions::{self, AskedByMeaning, QuestionMeaning},
};

/// What a question means.
pub(crate) struct AskedMeaning {
    /// By the table.
    sketch: ClaimSketch,
    by_model: Option<QuestionMeaning>,
}

impl AskedMeaning {
    /// By the table alone.
    pub(crate) fn in_words(text: &str) -> Self {
        Self {
            sketch: ClaimSketch::of(text),
            by_model: None,
        }
    }

    /// By the model too, if a process of this home holds one.
    pub(crate) fn of(cx: &Context<'_>, project: ProjectId, text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::in_words(text);
        }
        let asked = AskedByMeaning {
            project,
            text: text.to_owned(),
        };
        Self {
            by_model: questions::ask(cx.engine.store.home(), &asked),
            ..Self::in_words(text)
        }
    }

    /// The model that answered.
    pub(crate) fn model(&self) -> Option<&str> {
        self.by_model.as_ref().map(|it| it.name.as_str())
    }
}

/// Compares claims with what a question means.
pub(crate) struct MeaningCompared<'a> {
    asked: &'a AskedMeaning,
    by_model: Option<ComparedByModel<'a>>,
}

struct ComparedByModel<'a> {
    asked: &'a QuestionMeaning,
    number: EmbeddingModel,
    nearest: HashMap<u64, f32>,
}

impl<'a> MeaningCompared<'a> {
    pub(crate) fn new(tx: &Reader<'_>, asked: &'a AskedMeaning) -> Result<Self> {
        let mut by_model = None;
        if let Some(meaning) = &asked.by_model
            && let Some(number) = Vectors::of(tx).model(&meaning.name, &meaning.version)?
        {
            by_model = Some(ComparedByModel {
                asked: meaning,
                number,
                nearest: meaning.nearest.iter().copied().collect(),
            });
        }
        Ok(Self { asked, by_model })
    }

    /// What meaning adds to the relevance of a claim that means just what was asked.
    pub(crate) fn most(&self) -> f64 {
        if self.by_model.is_some() {
            f64::from(MEANING_BY_MODEL)
        } else if self.asked.sketch.has_meaning() {
            f64::from(MEANING)
        } else {
            0.0
        }
    }

    /// What meaning adds to the relevance of a version. The table stands in for a claim that the model
    /// has not read.
    pub(crate) fn of(&self, tx: &Reader<'_>, found: &SearchMatch) -> Result<f64> {
        if let Some(model) = &self.by_model {
            let known = match model.nearest.get(&found.seq) {
                Some(closeness) => Some(*closeness),
                None => {
                    let vector = Vectors::of(tx).at(model.number, found.seq)?;
                    let vector = vector.filter(|it| !it.is_empty());
                    vector.map(|it| model.asked.closeness(&it))
                }
            };
            if let Some(closeness) = known {
                return Ok(f64::from(MEANING_BY_MODEL * closeness));
            }
        }
        let sketch = ClaimSketch::from_numbers(&found.sketch);
        let closeness = self.asked.sketch.closeness(&sketch);
        Ok(f64::from(MEANING) * f64::from(closeness))
    }

    /// The versions that are nearest in meaning, nearest first.
    pub(crate) fn nearest(&self) -> impl Iterator<Item = u64> {
        let nearest = self.by_model.iter().flat_map(|it| &it.asked.nearest);
        nearest.map(|it| it.0)
    }
}
