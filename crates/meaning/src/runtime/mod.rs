//! ONNX Runtime: a library that the user brings, loaded once in a process.

use std::{
    fs::{self, File},
    io::{self, Read},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use memchr::memmem;
use ort::{
    LoadDynamicError,
    environment::Environment,
    logging::LogLevel,
    session::{
        Session,
        builder::{AutoDevicePolicy, GraphOptimizationLevel},
    },
};

use crate::{ModelError, text::printable};

mod elf;

enum State {
    Absent,
    Loaded {
        path: PathBuf,
        environment: Environment,
    },
    /// Loading failed half way. Another call might wait forever.
    Lost,
}

/// The environment stays until the process ends: the library does not survive being unloaded.
static STATE: Mutex<State> = Mutex::new(State::Absent);

/// Leaves cores to the user's own work.
const MOST_THREADS: usize = 4;

/// Threads that spin wait faster, but use a core even when there is nothing to do.
pub(crate) const NO_SPINNING: (&str, &str) = ("session.intra_op.allow_spinning", "0");

/// Loads ONNX Runtime from a library file: 1.24 or later, for this system. A process loads it once;
/// the same file again is fine.
///
/// The library's code runs in this process: pass only a path that the user chose.
///
/// # Errors
/// [`ModelError::NoRuntime`] if the file is missing, is not a library, or is another library;
/// [`ModelError::OtherRuntime`] if a different file is loaded already.
pub fn load_runtime(path: &Path) -> Result<(), ModelError> {
    let library = library(path)?;
    let mut state = lock();
    match &*state {
        State::Loaded { path, .. } if *path == library => return Ok(()),
        State::Loaded { path, .. } => return Err(ModelError::OtherRuntime(path.clone())),
        State::Lost => return Err(lost()),
        State::Absent => {}
    }
    // ort returns an error for most libraries, but panics for one with an unknown interface.
    match panic::catch_unwind(AssertUnwindSafe(|| start(&library))) {
        Ok(Ok(environment)) => {
            *state = State::Loaded {
                path: library,
                environment,
            };
            Ok(())
        }
        Ok(Err(why)) => Err(ModelError::NoRuntime(printable(&why, 300))),
        Err(_) => {
            *state = State::Lost;
            Err(lost())
        }
    }
}

/// Checks that a file may be ONNX Runtime, as far as can be said without loading it.
///
/// # Errors
/// [`ModelError::NoRuntime`] if the file is missing, is not a library, or is another library.
pub fn check_runtime(path: &Path) -> Result<(), ModelError> {
    library(path).map(drop)
}

fn lost() -> ModelError {
    ModelError::NoRuntime("the library failed while loading; restart with another one".to_owned())
}

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The library's own path, if it is a whole file: the system's loader waits for pipes, and crashes
/// on a file that was cut short.
fn library(path: &Path) -> Result<PathBuf, ModelError> {
    let missing = |why: &str| ModelError::NoRuntime(format!("{path:?} {why}"));
    let library = fs::canonicalize(path).map_err(|_| missing("does not exist"))?;
    if !library.is_file() {
        return Err(missing("is not a file"));
    }
    if cfg!(target_os = "linux") && !elf::is_whole(&library) {
        return Err(missing("is not a whole library"));
    }
    if !names_entry(&library).is_ok_and(|it| it) {
        return Err(missing("is another library"));
    }
    Ok(library)
}

/// Whether the file contains the name of the function through which the library is used.
fn names_entry(library: &Path) -> io::Result<bool> {
    const ENTRY: &[u8] = b"OrtGetApiBase";
    const CHUNK: u64 = 1 << 20;
    let file = File::open(library)?;
    let mut bytes = Vec::new();
    loop {
        let read = (&file).take(CHUNK).read_to_end(&mut bytes)?;
        if memmem::find(&bytes, ENTRY).is_some() {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        // The name may continue in the next chunk.
        bytes.drain(..bytes.len().saturating_sub(ENTRY.len()));
    }
}

fn start(library: &Path) -> Result<Environment, String> {
    let environment = ort::init_from(library)
        .map_err(|it| match it {
            LoadDynamicError::BadVersion { version_str, .. } => {
                format!("{library:?} has version {version_str}")
            }
            LoadDynamicError::MissingApi { .. } => format!("{library:?} is another library"),
            LoadDynamicError::Dlopen { error, .. } => error.to_string(),
            LoadDynamicError::InvalidVersionString => format!("{library:?} has no version"),
        })?
        .with_name("engram")
        .with_telemetry(false)
        // Without a logger, the library writes to standard error. Its errors are returned as well.
        .with_logger(Arc::new(|_, _, _, _, _| {}))
        .build()
        .map_err(|it| it.to_string())?;
    environment.set_log_level(LogLevel::Fatal);
    Ok(environment)
}

/// The environment of the loaded library.
pub(crate) fn environment() -> Result<Environment, ModelError> {
    match &*lock() {
        State::Loaded { environment, .. } => Ok(environment.clone()),
        State::Lost => Err(lost()),
        State::Absent => Err(ModelError::NoRuntime("no library is loaded".to_owned())),
    }
}

/// How many threads one model uses: at most half of the cores.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, |it| (it.get() / 2).clamp(1, MOST_THREADS))
}

/// A session for the bytes of an ONNX model.
pub(crate) fn session(environment: &Environment, model: &[u8]) -> Result<Session, String> {
    let text = |it: ort::Error<_>| it.to_string();
    let (key, value) = NO_SPINNING;
    Session::builder(environment)
        .map_err(|it| it.to_string())?
        .with_optimization_level(GraphOptimizationLevel::Level3)
        .map_err(text)?
        .with_intra_threads(threads())
        .map_err(text)?
        .with_config_entry(key, value)
        .map_err(text)?
        // Other devices give slightly different numbers.
        .with_auto_device(AutoDevicePolicy::PreferCPU)
        .map_err(text)?
        .commit_from_memory(model)
        .map_err(|it| it.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path) -> String {
        let error = load_runtime(path).unwrap_err();
        assert!(matches!(error, ModelError::NoRuntime(_)), "{error}");
        error.to_string()
    }

    #[test]
    fn what_is_no_library_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("text"), "not a library").unwrap();
        fs::write(at("empty"), "").unwrap();
        for (path, says) in [
            (at("absent"), "does not exist"),
            (folder.path().to_owned(), "is not a file"),
            (at("text"), ""),
            (at("empty"), ""),
        ] {
            let said = refusal(&path);
            assert!(said.contains(says), "{said}");
            assert!(said.contains("1.24 or later"), "{said}");
        }
        assert!(matches!(environment(), Err(ModelError::NoRuntime(_))));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_a_cut_library_and_a_different_one_are_refused() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(refusal(&pipe).contains("is not a file"));

        // A library that this process uses already: the C library.
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let other = maps
            .lines()
            .filter_map(|line| line.find('/').map(|at| &line[at..]))
            .find(|path| path.contains(".so"))
            .unwrap();
        let whole = fs::read(other).unwrap();
        let cut = folder.path().join("cut.so");
        for part in [10, 100, 2000, whole.len() / 2, whole.len() * 9 / 10] {
            fs::write(&cut, &whole[..part]).unwrap();
            assert!(refusal(&cut).contains("whole library"), "{part}");
        }
        assert!(refusal(Path::new(other)).contains("another library"));
        let unloaded = check_runtime(Path::new(other)).unwrap_err().to_string();
        assert!(unloaded.contains("another library"), "{unloaded}");
    }
}
