//! The folder of a model, as publishers lay it out. Reading it is bounded, whatever it contains.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{ModelError, Task, config::ModelConfig, text::printable};

const MOST_CONFIG: u64 = 1 << 20;
const MOST_TOKENIZER: u64 = 64 << 20;
const MOST_MODEL: u64 = 4 << 30;

/// The two places where publishers put the weights.
pub(crate) const MODEL: &str = "model.onnx";
const NESTED_MODEL: &str = "onnx/model.onnx";

pub(crate) const CONFIG: &str = "config.json";
pub(crate) const TOKENIZER: &str = "tokenizer.json";
pub(crate) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub(crate) const SPECIAL_TOKENS: &str = "special_tokens_map.json";
pub(crate) const POOLING: &str = "1_Pooling/config.json";

/// What is known of a model without loading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// The folder's name or, where a cache made it up, the name in the model's configuration; at
    /// most 80 printable characters, never empty.
    pub name: String,
    /// 12 hexadecimal digits that change with any byte of the model's files, but not with its name.
    pub version: String,
}

/// Describes the model in a folder without loading it: neither ONNX Runtime nor much memory is
/// needed. Every byte is read once for the version, about a second per gigabyte: keep the result.
///
/// A model that passes may still fail to load, since its weights are not understood here.
///
/// # Errors
/// Anything that is wrong with the folder or its configuration: [`ModelError::NoFolder`],
/// [`ModelError::Missing`], [`ModelError::NotRegular`], [`ModelError::TooLarge`],
/// [`ModelError::Unreadable`], [`ModelError::Broken`], [`ModelError::WrongTask`].
pub fn inspect(folder: &Path, task: Task) -> Result<ModelInfo, ModelError> {
    Ok(read(folder, task, Keep::Configuration)?.info)
}

/// The files of a model, in memory.
pub(crate) struct Files {
    pub(crate) info: ModelInfo,
    pub(crate) config: ModelConfig,
    pub(crate) config_bytes: Vec<u8>,
    pub(crate) tokenizer: Vec<u8>,
    pub(crate) tokenizer_config: Option<Vec<u8>>,
    pub(crate) special_tokens: Option<Vec<u8>>,
    pub(crate) pooling: Option<Vec<u8>>,
    pub(crate) model: Vec<u8>,
    /// Where the weights lie in the folder.
    pub(crate) model_file: &'static str,
}

/// Reads all files that the task needs.
pub(crate) fn load(folder: &Path, task: Task) -> Result<Files, ModelError> {
    read(folder, task, Keep::Everything)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Configuration,
    Everything,
}

fn read(folder: &Path, task: Task, keep: Keep) -> Result<Files, ModelError> {
    let mut folder = Folder::open(folder)?;
    let config_bytes = folder.required(CONFIG, MOST_CONFIG, Keep::Everything)?;
    let config = ModelConfig::parse(&config_bytes)?;
    config.admit(task)?;
    let tokenizer = folder.required(TOKENIZER, MOST_TOKENIZER, keep)?;
    let tokenizer_config = folder.optional(TOKENIZER_CONFIG, MOST_CONFIG, keep)?;
    if task == Task::Embedding && tokenizer_config.is_none() {
        return Err(ModelError::Missing(TOKENIZER_CONFIG));
    }
    let special_tokens = folder.optional(SPECIAL_TOKENS, MOST_CONFIG, keep)?;
    let pooling = match task {
        Task::Embedding => folder.optional(POOLING, MOST_CONFIG, keep)?,
        Task::Entailment => None,
    };
    let (model_file, model) = match folder.optional(MODEL, MOST_MODEL, keep)? {
        Some(model) => (MODEL, model),
        None => match folder.optional(NESTED_MODEL, MOST_MODEL, keep)? {
            Some(model) => (NESTED_MODEL, model),
            None => return Err(ModelError::Missing(MODEL)),
        },
    };
    let info = ModelInfo {
        name: name(&folder.path, &config),
        version: hex::encode(folder.digests.finalize())
            .chars()
            .take(12)
            .collect(),
    };
    Ok(Files {
        info,
        config,
        config_bytes,
        tokenizer,
        tokenizer_config,
        special_tokens,
        pooling,
        model,
        model_file,
    })
}

/// The folder's name, unless it is a bare digest, as caches name their folders.
fn name(folder: &Path, config: &ModelConfig) -> String {
    let own = folder.file_name().map(|it| it.to_string_lossy());
    let own = own.map_or(String::new(), |it| printable(&it, 80));
    let bare = own.is_empty() || own.len() >= 32 && own.bytes().all(|it| it.is_ascii_hexdigit());
    let given = config.name.as_deref().map(|it| printable(it, 80));
    match given.filter(|it| bare && !it.is_empty()) {
        Some(given) => given,
        None if own.is_empty() => "model".to_owned(),
        None => own,
    }
}

struct Folder {
    path: PathBuf,
    /// Of the names and digests of all files that were read.
    digests: Sha256,
}

impl Folder {
    fn open(path: &Path) -> Result<Self, ModelError> {
        let folder = fs::canonicalize(path).ok().filter(|it| it.is_dir());
        Ok(Self {
            path: folder.ok_or_else(|| ModelError::NoFolder(path.to_owned()))?,
            digests: Sha256::new(),
        })
    }

    fn required(
        &mut self,
        file: &'static str,
        limit: u64,
        keep: Keep,
    ) -> Result<Vec<u8>, ModelError> {
        self.optional(file, limit, keep)?
            .ok_or(ModelError::Missing(file))
    }

    /// Reads and digests a file; returns its bytes, or none of them if they are not kept.
    fn optional(
        &mut self,
        file: &'static str,
        limit: u64,
        keep: Keep,
    ) -> Result<Option<Vec<u8>>, ModelError> {
        let Some(mut open) = self.file(file)? else {
            return Ok(None);
        };
        let unreadable = |source| ModelError::Unreadable { file, source };
        let length = open.metadata().map_err(unreadable)?.len();
        if length > limit {
            return Err(ModelError::TooLarge { file, limit });
        }
        let mut kept = Vec::new();
        if keep == Keep::Everything {
            // Growing step by step would need twice the memory.
            kept.reserve_exact(usize::try_from(length).unwrap_or(0));
        }
        let mut digest = Sha256::new();
        let mut chunk = vec![0; 64 << 10];
        let mut left = limit;
        loop {
            let read = match open.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(error)),
            };
            // The file may grow while it is read.
            left = left
                .checked_sub(read as u64)
                .ok_or(ModelError::TooLarge { file, limit })?;
            let bytes = chunk.get(..read).unwrap_or_default();
            digest.update(bytes);
            if keep == Keep::Everything {
                kept.extend_from_slice(bytes);
            }
        }
        self.digests.update(file.as_bytes());
        self.digests.update([0]);
        self.digests.update(digest.finalize());
        Ok(Some(kept))
    }

    /// Opens a regular file that lies inside the folder, without waiting for anything.
    fn file(&self, file: &'static str) -> Result<Option<File>, ModelError> {
        let unreadable = |source| ModelError::Unreadable { file, source };
        let path = match fs::canonicalize(self.path.join(file)) {
            Ok(path) => path,
            Err(error) if absent(&error) => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        if !path.starts_with(&self.path) || !path.is_file() {
            return Err(ModelError::NotRegular(file));
        }
        let mut options = OpenOptions::new();
        options.read(true);
        // A pipe or a link may have taken the file's place in the meantime.
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            use std::os::unix::fs::OpenOptionsExt;
            let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
            options.custom_flags(flags.bits().cast_signed());
        }
        let open = options.open(path).map_err(unreadable)?;
        if !open.metadata().map_err(unreadable)?.is_file() {
            return Err(ModelError::NotRegular(file));
        }
        Ok(Some(open))
    }
}

fn absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
