//! Runs a classifier: two texts in, one score for each label out.

use std::{fmt::Display, path::Path};

use ort::{
    session::{Session, SessionInputValue},
    value::Tensor,
};
use serde_json::Value;
use tokenizers::{Encoding, PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

use crate::{
    ModelError, ModelInfo, Task,
    config::ModelConfig,
    folder::{self, TOKENIZER},
    guard::{guarded, guarded_run},
    runtime,
};

/// A model that reads fewer is broken.
const LEAST_TOKENS: usize = 16;

/// One of the inputs that such models have.
#[derive(Clone, Copy)]
enum ModelInput {
    Ids,
    Mask,
    Segments,
}

/// A tokenizer and the model that reads its tokens.
pub(crate) struct Classifier {
    pub(crate) info: ModelInfo,
    pub(crate) config: ModelConfig,
    tokenizer: Tokenizer,
    session: Session,
    inputs: Vec<(String, ModelInput)>,
    output: String,
}

impl Classifier {
    pub(crate) fn load(folder: &Path) -> Result<Self, ModelError> {
        // Without a library, the files need not be read.
        let environment = runtime::environment()?;
        let files = folder::load(folder, Task::Entailment)?;
        let broken = |why: &str| ModelError::broken(TOKENIZER, why);
        let settings = files.tokenizer_config.as_deref();
        let tokenizer = guarded(broken, || {
            tokenizer(&files.tokenizer, settings, &files.config)
                .map_err(|it| broken(&it.to_string()))
        })?;
        let broken = |why: &str| ModelError::broken(files.model_file, why);
        let session = guarded(broken, || {
            runtime::session(&environment, &files.model).map_err(|it| broken(&it))
        })?;
        let mut outputs = session.outputs().iter().map(|it| it.name());
        let first = outputs.clone().next().filter(|it| !it.is_empty());
        let output = outputs.find(|it| *it == "logits").or(first);
        let output = output.ok_or_else(|| wrong_task("it has no output"))?;
        let inputs = session.inputs().iter().map(|input| {
            let kind = match input.name() {
                "input_ids" => ModelInput::Ids,
                "attention_mask" => ModelInput::Mask,
                "token_type_ids" => ModelInput::Segments,
                other => {
                    let why = format!("it wants an input named {other}");
                    return Err(wrong_task(why));
                }
            };
            Ok((input.name().to_owned(), kind))
        });
        Ok(Self {
            inputs: inputs.collect::<Result<_, _>>()?,
            output: output.to_owned(),
            info: files.info,
            config: files.config,
            tokenizer,
            session,
        })
    }

    /// The scores of a batch, before any softmax: for each pair in order, one row of labels. Always
    /// finite.
    pub(crate) fn run(&mut self, batch: &[(&str, &str)]) -> Result<Vec<f32>, ModelError> {
        guarded_run(|| self.run_unguarded(batch))
    }

    fn run_unguarded(&mut self, batch: &[(&str, &str)]) -> Result<Vec<f32>, ModelError> {
        let encodings = self
            .tokenizer
            .encode_batch(batch.to_vec(), true)
            .map_err(ModelError::failed)?;
        let tokens = encodings.first().map_or(0, Encoding::len);
        let shape = [encodings.len(), tokens];
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for (name, input) in &self.inputs {
            let numbers = |encoding: &Encoding| -> Vec<i64> {
                let numbers = match input {
                    ModelInput::Ids => encoding.get_ids(),
                    ModelInput::Mask => encoding.get_attention_mask(),
                    ModelInput::Segments => encoding.get_type_ids(),
                };
                numbers.iter().map(|it| i64::from(*it)).collect()
            };
            let values: Vec<i64> = encodings.iter().flat_map(numbers).collect();
            let tensor = Tensor::from_array((shape, values)).map_err(ModelError::failed)?;
            inputs.push((name.as_str(), SessionInputValue::from(tensor)));
        }
        let outputs = self.session.run(inputs).map_err(ModelError::failed)?;
        let output = outputs
            .get(&self.output)
            .ok_or_else(|| ModelError::failed("an output is missing"))?;
        let (found, values) = output
            .try_extract_tensor::<f32>()
            .map_err(ModelError::failed)?;
        let labels = self.config.labels.len();
        let expected = [encodings.len(), labels];
        let found: Vec<usize> = found
            .iter()
            .map(|it| usize::try_from(*it).unwrap_or(0))
            .collect();
        if found != expected {
            let why = format!("its output has the shape {found:?}, not {expected:?}");
            return Err(wrong_task(why));
        }
        if !values.iter().all(|it| it.is_finite()) {
            return Err(ModelError::failed("its scores are not numbers"));
        }
        Ok(values.to_vec())
    }
}

fn wrong_task(why: impl Display) -> ModelError {
    ModelError::wrong_task(Task::Entailment, why)
}

/// Turns a row of scores into probabilities, which sum to 1.
pub(crate) fn softmax(row: &[f32]) -> Vec<f32> {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = row.iter().map(|it| (it - most).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.iter().map(|it| it / sum).collect()
}

fn tokenizer(
    bytes: &[u8],
    settings: Option<&[u8]>,
    config: &ModelConfig,
) -> tokenizers::Result<Tokenizer> {
    let settings: Value = settings.map_or(Ok(Value::Null), serde_json::from_slice)?;
    let mut tokenizer = Tokenizer::from_bytes(bytes)?;
    // Publishers who set no limit write a huge number.
    let limit = settings.get("model_max_length").and_then(Value::as_u64);
    let limit = limit.and_then(|it| usize::try_from(it).ok());
    let most = config.tokens(Task::Entailment);
    let max_length = limit.map_or(most, |it| it.min(most));
    // Below the number of special tokens, the tokenizer's own arithmetic would overflow.
    if max_length < LEAST_TOKENS {
        return Err(format!("it reads {max_length} tokens, fewer than {LEAST_TOKENS}").into());
    }
    tokenizer.with_truncation(Some(TruncationParams {
        max_length,
        ..TruncationParams::default()
    }))?;
    let padding = tokenizer.get_padding().cloned();
    tokenizer.with_padding(Some(PaddingParams {
        strategy: PaddingStrategy::BatchLongest,
        pad_to_multiple_of: None,
        ..padding.unwrap_or_else(|| PaddingParams {
            pad_id: config.pad_token_id,
            ..PaddingParams::default()
        })
    }));
    Ok(tokenizer)
}
