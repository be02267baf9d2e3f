//! The models that the user chose, in `models.toml` of the home, and the state of each. A model is
//! loaded by one process at a time (`follow/models.rs`).

use std::path::{Path, PathBuf};

use engram_meaning::{ApiKey, LanguageModel, ModelError, Task, inspect};
use engram_model::{Code, ListedModel, ModelState, ModelTask, Refusal};
use engram_store::{Doorbell, read_file};
use serde::{Deserialize, Serialize};

use crate::home::files::write_home_file;

/// Where the choices are kept.
pub(crate) const FILE: &str = "models.toml";
/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// The choice of a model for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// No model.
    Off,
    /// A folder as publishers lay it out, and the library that runs it.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// ONNX Runtime.
        runtime: PathBuf,
    },
    /// An endpoint.
    Endpoint {
        /// The address before `/chat/completions`.
        url: String,
        /// The model's name at the endpoint.
        model: String,
        /// The environment variable with the key, if it needs one. The key is never stored.
        key_env: Option<String>,
    },
}

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Models {
    pub(crate) nli: Option<FolderModel>,
    pub(crate) llm: Option<EndpointModel>,
}

/// A model in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FolderModel {
    pub(crate) folder: PathBuf,
    pub(crate) runtime: PathBuf,
}

/// A model behind an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndpointModel {
    pub(crate) url: String,
    pub(crate) model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key_env: Option<String>,
}

impl EndpointModel {
    /// The model, with its key from the environment.
    pub(crate) fn connect(&self) -> Result<LanguageModel, ModelError> {
        let key = match &self.key_env {
            None => None,
            Some(name) => Some(ApiKey::new(std::env::var(name).map_err(|_| {
                ModelError::Settings("the environment variable with its key is not set")
            })?)),
        };
        LanguageModel::new(&self.url, &self.model, key)
    }
}

impl Models {
    /// Reads the file; nothing is chosen if there is none.
    pub(crate) fn read(home: &Path) -> Result<Self, Refusal> {
        let path = home.join(FILE);
        let text = match read_file(&path, MAX_FILE) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(unreadable(&path, &error.to_string())),
        };
        toml::from_str(&text).map_err(|error| unreadable(&path, error.message()))
    }
}

fn unreadable(path: &Path, why: &str) -> Refusal {
    Refusal::new(
        Code::ModelInvalid,
        format!("cannot read {}: {why}", path.display()),
        "Correct the file, or delete it and choose the models again with `engram models use`.",
    )
}

/// The models of a home, one for each task.
///
/// # Errors
/// `MODEL_INVALID` if the file of choices cannot be read.
pub fn list_models(home: &Path) -> Result<Vec<ListedModel>, Refusal> {
    let models = Models::read(home)?;
    let nli = match &models.nli {
        None => none(ModelTask::Nli),
        Some(model) => match inspect(&model.folder, Task::Entailment) {
            Ok(info) if model.runtime.is_file() => ListedModel {
                name: Some(info.name),
                version: Some(info.version),
                state: ModelState::On,
                ..none(ModelTask::Nli)
            },
            Ok(info) => {
                let why = format!("{} is missing", model.runtime.display());
                broken(ModelTask::Nli, info.name, &why)
            }
            Err(why) => broken(
                ModelTask::Nli,
                model.folder.display().to_string(),
                &why.to_string(),
            ),
        },
    };
    let llm = match &models.llm {
        None => none(ModelTask::Llm),
        Some(model) => match model.connect() {
            Ok(endpoint) => ListedModel {
                name: Some(model.model.clone()),
                state: ModelState::On,
                why: (!endpoint.is_local())
                    .then(|| format!("sends pairs of near claims to {}", model.url)),
                ..none(ModelTask::Llm)
            },
            Err(why) => broken(ModelTask::Llm, model.model.clone(), &why.to_string()),
        },
    };
    let off = |it: ListedModel| match it.state {
        ModelState::Off => it,
        _ => ListedModel {
            how: format!("engram models off {}", it.task.as_str()),
            ..it
        },
    };
    Ok([nli, llm].map(off).into())
}

fn none(task: ModelTask) -> ListedModel {
    ListedModel {
        task,
        name: None,
        version: None,
        state: ModelState::Off,
        why: None,
        how: match task {
            ModelTask::Nli => "engram models use nli FOLDER --runtime LIBRARY".to_owned(),
            ModelTask::Llm => "engram models use llm URL --model NAME".to_owned(),
        },
    }
}

fn broken(task: ModelTask, name: String, why: &str) -> ListedModel {
    ListedModel {
        name: Some(name),
        state: ModelState::Broken,
        why: Some(why.to_owned()),
        ..none(task)
    }
}

/// Chooses a model, or none, after checking that it is one of this task. A refused choice replaces
/// nothing.
///
/// # Errors
/// `MODEL_INVALID` with the reason; those of writing to a home.
pub fn choose_model(home: &Path, task: ModelTask, choice: ModelChoice) -> Result<(), Refusal> {
    let mut models = Models::read(home)?;
    match (task, choice) {
        (ModelTask::Nli, ModelChoice::Off) => models.nli = None,
        (ModelTask::Llm, ModelChoice::Off) => models.llm = None,
        (ModelTask::Nli, ModelChoice::Folder { folder, runtime }) => {
            inspect(&folder, Task::Entailment).map_err(|it| invalid(&it))?;
            if !runtime.is_file() {
                return Err(invalid(&ModelError::NoRuntime(format!(
                    "{} is not a file",
                    runtime.display()
                ))));
            }
            // The home's processes have other current folders.
            let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
            let (folder, runtime) = (absolute(folder), absolute(runtime));
            models.nli = Some(FolderModel { folder, runtime });
        }
        (
            ModelTask::Llm,
            ModelChoice::Endpoint {
                url,
                model,
                key_env,
            },
        ) => {
            let chosen = EndpointModel {
                url: url.trim().to_owned(),
                model: model.trim().to_owned(),
                key_env,
            };
            chosen.connect().map_err(|it| invalid(&it))?;
            models.llm = Some(chosen);
        }
        (ModelTask::Nli, ModelChoice::Endpoint { .. })
        | (ModelTask::Llm, ModelChoice::Folder { .. }) => {
            let wrong = match task {
                ModelTask::Nli => "nli takes a folder, not an endpoint",
                ModelTask::Llm => "llm takes an endpoint, not a folder",
            };
            return Err(Refusal::new(Code::ModelInvalid, wrong, none(task).how));
        }
    }
    let text =
        toml::to_string(&models).map_err(|it| unreadable(&home.join(FILE), &it.to_string()))?;
    write_home_file(home, FILE, &text)?;
    // The process that judges takes the choice up at once.
    Doorbell::open(home)?.ring();
    Ok(())
}

fn invalid(why: &ModelError) -> Refusal {
    Refusal::new(
        Code::ModelInvalid,
        why.to_string(),
        "The earlier choice stays. Correct this, and run the command again.",
    )
}
