//! The models that the user chose, in `models.toml` of the home, and the state of each. A model is
//! loaded by one process at a time (`follow/models.rs`).

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    time::SystemTime,
};

use engram_meaning::{
    ApiKey, FetchError, LanguageModel, ModelError, ModelSource, Task, check_runtime, fetch,
    fetched_runtime, inspect,
};
use engram_model::{Code, ListedModel, ModelState, ModelTask, Refusal};
use engram_store::{Doorbell, StoreError, make_private_folder, read_file, write_in_turn};
use serde::{Deserialize, Serialize};

use crate::home::{
    failures,
    files::{look_at_home, write_home_file},
};

/// Where the choices are kept.
pub(crate) const FILE: &str = "models.toml";
/// Where fetched models are, in the home.
pub(crate) const FETCHED: &str = "models";
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
        /// ONNX Runtime; by default, the one that was fetched.
        runtime: Option<PathBuf>,
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
    pub(crate) embed: Option<FolderModel>,
    pub(crate) nli: Option<FolderModel>,
    pub(crate) llm: Option<EndpointModel>,
}

/// A model in a folder. Paths into the home are relative to it, so that the home can be moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FolderModel {
    pub(crate) folder: PathBuf,
    pub(crate) runtime: PathBuf,
}

impl FolderModel {
    /// The same with absolute paths.
    pub(crate) fn in_home(&self, home: &Path) -> Self {
        Self {
            folder: home.join(&self.folder),
            runtime: home.join(&self.runtime),
        }
    }
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
        if self.lacks_key() {
            return Err(ModelError::Settings(
                "the environment variable with its key is not set",
            ));
        }
        self.described()
    }

    /// The model as far as it can be checked here: without its key, if that is not set.
    fn described(&self) -> Result<LanguageModel, ModelError> {
        let key = self.key_env.as_ref().and_then(|it| std::env::var(it).ok());
        LanguageModel::new(&self.url, &self.model, key.map(ApiKey::new))
    }

    fn lacks_key(&self) -> bool {
        let is_missing = |name: &String| std::env::var_os(name).is_none();
        self.key_env.as_ref().is_some_and(is_missing)
    }

    /// What a reader should know of a model that can be used.
    fn note(&self, model: &LanguageModel) -> String {
        let asks = if model.is_local() {
            format!("asks {}, on this machine", self.url)
        } else {
            format!("sends pairs of near claims to {}", self.url)
        };
        match self.key_env.as_ref().filter(|_| self.lacks_key()) {
            Some(key) => {
                format!("{asks}; {key} is not set here; the window and `engram serve` need it")
            }
            None => asks,
        }
    }
}

impl Models {
    /// When the file was last written. Choosing a model again makes its follower try again.
    pub(crate) fn written(home: &Path) -> Option<SystemTime> {
        let file = std::fs::metadata(home.join(FILE)).ok()?;
        file.modified().ok()
    }

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
    let absolute = |it: &FolderModel| it.in_home(home);
    let (embed, nli) = (models.embed.as_ref(), models.nli.as_ref());
    let embed = in_folder(ModelTask::Embed, Task::Embedding, embed.map(absolute));
    let nli = in_folder(ModelTask::Nli, Task::Entailment, nli.map(absolute));
    let llm = match &models.llm {
        None => none(ModelTask::Llm),
        Some(model) => match model.described() {
            Ok(endpoint) => ListedModel {
                name: Some(model.model.clone()),
                state: ModelState::On,
                why: Some(model.note(&endpoint)),
                ..none(ModelTask::Llm)
            },
            Err(why) => broken(ModelTask::Llm, model.model.clone(), &why.to_string()),
        },
    };
    let told = |mut model: ListedModel| {
        failures::tell(home, &mut model);
        if model.state != ModelState::Off {
            model.how = format!("engram models off {}", model.task.as_str());
        }
        model
    };
    Ok([embed, nli, llm].map(told).into())
}

/// The row of a model in a folder.
fn in_folder(task: ModelTask, made_for: Task, chosen: Option<FolderModel>) -> ListedModel {
    let Some(model) = chosen else {
        return none(task);
    };
    let usable = inspect(&model.folder, made_for)
        .and_then(|info| check_runtime(&model.runtime).map(|()| info));
    match usable {
        Ok(info) => ListedModel {
            name: Some(info.name),
            version: Some(info.version),
            state: ModelState::On,
            ..none(task)
        },
        Err(why) => broken(task, model.folder.display().to_string(), &why.to_string()),
    }
}

fn none(task: ModelTask) -> ListedModel {
    ListedModel {
        task,
        name: None,
        version: None,
        state: ModelState::Off,
        why: None,
        how: match task {
            ModelTask::Embed => "engram models use embed FOLDER".to_owned(),
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

/// The address to which a choice would send pairs of near claims; `None` if they stay on this machine,
/// or if the choice is refused.
pub fn address_of_claims(choice: &ModelChoice) -> Option<&str> {
    let ModelChoice::Endpoint { url, model, .. } = choice else {
        return None;
    };
    let endpoint = LanguageModel::new(url.trim(), model.trim(), None);
    let is_elsewhere = endpoint.is_ok_and(|it| !it.is_local());
    is_elsewhere.then_some(url.trim())
}

/// Chooses a model, or none, after checking that it is one of this task. A refused choice replaces
/// nothing.
///
/// # Errors
/// `MODEL_INVALID` with the reason; those of writing to a home.
pub fn choose_model(home: &Path, task: ModelTask, choice: ModelChoice) -> Result<(), Refusal> {
    match task {
        ModelTask::Embed => {
            let chosen = folder_model(home, task, Task::Embedding, choice)?;
            change_choices(home, |models| models.embed = chosen)?;
        }
        ModelTask::Nli => {
            let chosen = folder_model(home, task, Task::Entailment, choice)?;
            change_choices(home, |models| models.nli = chosen)?;
        }
        ModelTask::Llm => {
            let chosen = endpoint_model(choice)?;
            change_choices(home, |models| models.llm = chosen)?;
        }
    }
    // The process that judges takes the choice up at once.
    Doorbell::open(home)?.ring();
    Ok(())
}

/// Changes the choices of a home, one process after the other.
fn change_choices(home: &Path, change: impl FnOnce(&mut Models)) -> Result<(), Refusal> {
    look_at_home(home)?;
    let path = home.join(FILE);
    write_in_turn(home, || {
        let mut models = Models::read(home)?;
        change(&mut models);
        let text = toml::to_string(&models).map_err(|it| unreadable(&path, &it.to_string()))?;
        write_home_file(home, FILE, &text)
    })?
}

/// The choice of a model behind an endpoint, checked; `None` for no model.
fn endpoint_model(choice: ModelChoice) -> Result<Option<EndpointModel>, Refusal> {
    let (url, model, key_env) = match choice {
        ModelChoice::Off => return Ok(None),
        ModelChoice::Endpoint {
            url,
            model,
            key_env,
        } => (url, model, key_env),
        ModelChoice::Folder { .. } => {
            return Err(wrong_kind(ModelTask::Llm, "an endpoint, not a folder"));
        }
    };
    let chosen = EndpointModel {
        url: url.trim().to_owned(),
        model: model.trim().to_owned(),
        key_env,
    };
    chosen.described().map_err(|it| invalid(&it))?;
    Ok(Some(chosen))
}

/// The choice of a model in a folder, checked; `None` for no model.
fn folder_model(
    home: &Path,
    task: ModelTask,
    made_for: Task,
    choice: ModelChoice,
) -> Result<Option<FolderModel>, Refusal> {
    let (folder, runtime) = match choice {
        ModelChoice::Off => return Ok(None),
        ModelChoice::Folder { folder, runtime } => (folder, runtime),
        ModelChoice::Endpoint { .. } => {
            return Err(wrong_kind(task, "a folder, not an endpoint"));
        }
    };
    inspect(&folder, made_for).map_err(|it| invalid(&it))?;
    let runtime = runtime.or_else(|| fetched_runtime(&home.join(FETCHED)));
    let runtime = runtime.ok_or_else(|| {
        Refusal::new(
            Code::ModelInvalid,
            "no ONNX Runtime is named, and none was fetched",
            "Name the library with --runtime, or fetch it: engram models fetch onnxruntime",
        )
    })?;
    check_runtime(&runtime).map_err(|it| invalid(&it))?;
    // The home's processes have other current folders.
    let kept = |path: PathBuf| {
        let path = std::path::absolute(&path).unwrap_or(path);
        path.strip_prefix(home).map(Path::to_owned).unwrap_or(path)
    };
    Ok(Some(FolderModel {
        folder: kept(folder),
        runtime: kept(runtime),
    }))
}

/// Brings a model, or ONNX Runtime, into the home, with `python -m pip`. Returns the folder, or the
/// library.
///
/// # Errors
/// `MODEL_INVALID` if it is there already, or cannot be downloaded.
pub fn fetch_model(home: &Path, source: &ModelSource, python: &OsStr) -> Result<PathBuf, Refusal> {
    make_private_folder(home).map_err(|source| StoreError::Io {
        path: home.to_owned(),
        source,
    })?;
    fetch(source, &home.join(FETCHED), python).map_err(|why| {
        let hint = match why {
            FetchError::Exists(_) => "Use what is there: see `engram models --help`.",
            _ => "Nothing was changed. Correct this, and run the command again.",
        };
        Refusal::new(Code::ModelInvalid, why.to_string(), hint)
    })
}

fn wrong_kind(task: ModelTask, takes: &str) -> Refusal {
    let what = format!("{} takes {takes}", task.as_str());
    Refusal::new(Code::ModelInvalid, what, none(task).how)
}

fn invalid(why: &ModelError) -> Refusal {
    Refusal::new(
        Code::ModelInvalid,
        why.to_string(),
        "The earlier choice stays. Correct this, and run the command again.",
    )
}
