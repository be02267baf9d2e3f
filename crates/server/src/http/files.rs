//! The files of the built window.

use std::{
    fs::File,
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{Method, Uri, header},
    response::{IntoResponse, Response},
};
use engram_model::{Code, Refusal};
use futures_util::stream;
use tokio::sync::Semaphore;

use super::{RefusalResponse, method_not_allowed};

/// The number of reads under way at once, and the bytes that each takes from a file.
static READS: Semaphore = Semaphore::const_new(4);
const PIECE: usize = 256 * 1024;

/// The source of the page's files.
#[derive(Clone, Debug, Default)]
pub enum Pages {
    /// No files: the server offers only the API and a page that says so.
    #[default]
    None,
    /// A folder.
    Folder(PathBuf),
    /// Built into this program: paths with `/`, and their contents.
    Built(&'static [(&'static str, &'static [u8])]),
}

const NO_PAGES: &str = "<!doctype html><meta charset=utf-8><title>Engram</title>\
<p>This build of Engram has no window and serves only the API. \
Build it with <code>--features dashboard</code>, after <code>cargo xtask ui --release</code>.";

pub(super) async fn serve(State(pages): State<Pages>, method: Method, uri: Uri) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return (
            [(header::ALLOW, "GET, HEAD")],
            method_not_allowed("Read pages with GET."),
        )
            .into_response();
    }
    let Some(path) = page_path(uri.path()) else {
        return no_such_page().into_response();
    };
    let kind = [(header::CONTENT_TYPE, content_type(path))];
    match pages {
        Pages::None if path == Path::new("index.html") => (kind, NO_PAGES).into_response(),
        Pages::None => no_such_page().into_response(),
        Pages::Built(files) => match files.iter().find(|it| Path::new(it.0) == path) {
            Some((_, bytes)) => (kind, *bytes).into_response(),
            None => no_such_page().into_response(),
        },
        Pages::Folder(folder) => {
            let path = path.to_owned();
            match read_on_thread(move || open_page_file(&folder, &path)).await {
                Ok(file) => (kind, file.into_streamed_response()).into_response(),
                Err(error) => {
                    tracing::debug!(%error, "no page");
                    no_such_page().into_response()
                }
            }
        }
    }
}

fn no_such_page() -> RefusalResponse {
    RefusalResponse::from(Refusal::new(
        Code::NotFound,
        "there is nothing at this address",
        "GET / is the window; GET /openapi.json lists the other addresses.",
    ))
}

/// Runs a read on a thread other than those that serve connections, and limits how many run at
/// once.
async fn read_on_thread<T: Send + 'static>(
    read: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let permit = READS.acquire().await.map_err(io::Error::other)?;
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        read()
    });
    done.await.map_err(io::Error::other)?
}

/// The unread rest of a file.
struct PageFile {
    file: File,
    left: u64,
}

impl PageFile {
    /// Streams the file, so that a large file is never in memory as a whole.
    fn into_streamed_response(self) -> Response {
        let length = [(header::CONTENT_LENGTH, self.left.to_string())];
        let pieces = stream::try_unfold(self, |mut it| async move {
            match it.left {
                0 => Ok(None),
                _ => read_on_thread(move || it.read_piece().map(|piece| Some((piece, it)))).await,
            }
        });
        (length, Body::from_stream(pieces)).into_response()
    }

    fn read_piece(&mut self) -> io::Result<Bytes> {
        let mut bytes = Vec::new();
        let most = self.left.min(PIECE as u64);
        self.left -= most;
        (&self.file).take(most).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == most {
            Ok(bytes.into())
        } else {
            // The file was truncated meanwhile.
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

/// Opens a regular file inside a folder, through folders alone. It follows no links and does not
/// even open a pipe or a device.
fn open_page_file(folder: &Path, path: &Path) -> io::Result<PageFile> {
    let file = inside::open(folder, path)?;
    let about = file.metadata()?;
    if about.is_file() {
        Ok(PageFile {
            file,
            left: about.len(),
        })
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

#[cfg(unix)]
mod inside {
    use std::{fs::File, io, path::Path};

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};

    /// Opens each part relative to the folder opened before it, so that nobody can swap a folder on
    /// the way.
    pub(super) fn open(folder: &Path, path: &Path) -> io::Result<File> {
        let (to, no_link) = (OFlags::RDONLY | OFlags::CLOEXEC, OFlags::NOFOLLOW);
        let mut at = openat(CWD, folder, to | OFlags::DIRECTORY, Mode::empty())?;
        for part in path.parent().into_iter().flat_map(Path::iter) {
            at = openat(&at, part, to | no_link | OFlags::DIRECTORY, Mode::empty())?;
        }
        let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
        let about = statat(&at, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if !FileType::from_raw_mode(about.st_mode).is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        // The file may have been replaced by now; these flags at least keep a pipe from blocking.
        let to = to | no_link | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(openat(&at, name, to, Mode::empty())?.into())
    }
}

#[cfg(not(unix))]
mod inside {
    use std::{fs::File, io, path::Path};

    /// Checks each step of the path before taking it.
    pub(super) fn open(folder: &Path, path: &Path) -> io::Result<File> {
        let mut at = folder.to_owned();
        for part in path {
            at.push(part);
            if std::fs::symlink_metadata(&at)?.is_symlink() {
                return Err(io::Error::other("a link"));
            }
        }
        File::open(at)
    }
}

/// Returns a relative path of plain names; for the root, the page itself.
fn page_path(path: &str) -> Option<&Path> {
    let path = match path.trim_start_matches('/') {
        "" => Path::new("index.html"),
        path => Path::new(path),
    };
    path.components()
        .all(|part| matches!(part, Component::Normal(_)))
        .then_some(path)
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|it| it.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "map") => "application/json",
        _ => "application/octet-stream",
    }
}
