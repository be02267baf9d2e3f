//! Turns claims into vectors.

use std::path::Path;

use fastembed::{
    AutoDevicePolicy, InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles,
    UserDefinedEmbeddingModel,
};
use serde_json::Value;

use crate::{
    ModelError, ModelInfo, Task,
    folder::{self, POOLING},
    guard::{guarded, guarded_run},
    runtime,
};

/// The most texts that are run at once, which bounds the memory.
const BATCH: usize = 32;

/// A model that turns a text into a vector. Near vectors mean texts of like meaning; how near is
/// near depends on the model.
pub struct Embedder {
    model: TextEmbedding,
    dimensions: usize,
    info: ModelInfo,
}

impl Embedder {
    /// Loads a model from a folder with `config.json`, `tokenizer.json`, `tokenizer_config.json`
    /// and `model.onnx` (or `onnx/model.onnx`). `special_tokens_map.json` may be there, and
    /// `1_Pooling/config.json`, which says how tokens become one vector; without it, their mean.
    ///
    /// # Errors
    /// Those of [`crate::inspect`]; [`ModelError::NoRuntime`] before [`crate::load_runtime`]; and
    /// [`ModelError::Failed`] if it cannot embed two texts of different length.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        // Without a library, the files need not be read.
        let environment = runtime::environment()?;
        let files = folder::load(folder, Task::Embedding)?;
        let pooling = pooling(files.pooling.as_deref())?;
        let tokenizer = TokenizerFiles {
            tokenizer_file: files.tokenizer,
            config_file: files.config_bytes,
            special_tokens_map_file: files.special_tokens.unwrap_or_else(|| b"{}".to_vec()),
            tokenizer_config_file: files.tokenizer_config.unwrap_or_default(),
        };
        let model = UserDefinedEmbeddingModel::new(files.model, tokenizer).with_pooling(pooling);
        let (key, value) = runtime::NO_SPINNING;
        let options = InitOptionsUserDefined::new()
            .with_environment(environment)
            .with_max_length(files.config.tokens(Task::Embedding))
            .with_intra_threads(runtime::threads())
            .with_session_config(key, value)
            // Other devices give slightly different numbers.
            .with_auto_device(AutoDevicePolicy::PreferCPU);
        let panicked = |why: &str| ModelError::broken(folder::TOKENIZER, why);
        let model = guarded(panicked, || {
            TextEmbedding::try_new_from_user_defined(model, options)
                .map_err(|it| broken(files.model_file, it))
        })?;
        let mut embedder = Self {
            model,
            dimensions: 0,
            info: files.info,
        };
        embedder.dimensions = embedder.run(&["a"])?.first().map_or(0, Vec::len);
        // Some models take texts of one length only.
        embedder.embed(&["A text of more words than the first."])?;
        Ok(embedder)
    }

    /// Which model this is, as of the files that were loaded.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// The length of each vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// A vector of length 1 for each text, in their order. What exceeds 256 tokens of a text is cut
    /// off.
    ///
    /// # Errors
    /// [`ModelError::Failed`] if the model fails, or gives a vector without a direction.
    pub fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let vectors = self.run(texts)?;
        if vectors.iter().any(|it| it.len() != self.dimensions) {
            return Err(ModelError::failed("its vectors differ in length"));
        }
        Ok(vectors)
    }

    fn run(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let vectors = guarded_run(|| {
            let vectors = self.model.embed(texts, Some(BATCH));
            vectors.map_err(ModelError::failed)
        })?;
        if vectors.len() != texts.len() {
            return Err(ModelError::failed("it did not embed every text"));
        }
        for vector in &vectors {
            // fastembed scales vectors to length 1, except those that have none.
            let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
            if !length.is_finite() || (length - 1.0).abs() > 0.001 {
                return Err(ModelError::failed("a vector is zero or not a number"));
            }
        }
        Ok(vectors)
    }
}

fn broken(model_file: &'static str, error: fastembed::Error) -> ModelError {
    use fastembed::Error;
    match error {
        Error::TokenizerConfig(why) => ModelError::broken(folder::TOKENIZER_CONFIG, why),
        // How fastembed reports a tokenizer's file that it cannot read
        Error::Io(error) => ModelError::broken(folder::TOKENIZER, error),
        other => ModelError::broken(model_file, other),
    }
}

fn pooling(config: Option<&[u8]>) -> Result<Pooling, ModelError> {
    let Some(config) = config else {
        return Ok(Pooling::Mean);
    };
    let config: Value =
        serde_json::from_slice(config).map_err(|it| ModelError::broken(POOLING, it))?;
    let on = |key: &str| config.get(key).and_then(Value::as_bool) == Some(true);
    match (on("pooling_mode_mean_tokens"), on("pooling_mode_cls_token")) {
        (true, false) => Ok(Pooling::Mean),
        (false, true) => Ok(Pooling::Cls),
        _ => Err(ModelError::wrong_task(
            Task::Embedding,
            "it pools tokens neither by their mean nor by the first",
        )),
    }
}
