//! The files of the built window, with a policy that lets its page run nothing else.

use std::{
    borrow::Cow,
    path::{Component, Path, PathBuf},
};

use axum::{
    extract::State,
    http::{HeaderName, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};

/// Where the files of the page come from.
#[derive(Clone, Debug, Default)]
pub enum Pages {
    /// Nowhere: only the API is served, and a page that says so.
    #[default]
    None,
    /// A folder.
    Folder(PathBuf),
    /// This program: paths with `/`, and what is there.
    Built(&'static [(&'static str, &'static [u8])]),
}

const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 8] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-cache"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=()",
    ),
];

const NO_PAGES: &str = "<!doctype html><meta charset=utf-8><title>Engram</title>\
<p>This engram was built without its window, and serves only the API. \
Build it with <code>--features dashboard</code>, after <code>cargo xtask ui --release</code>.";

pub(super) async fn serve(State(pages): State<Pages>, method: Method, uri: Uri) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return (
            StatusCode::METHOD_NOT_ALLOWED,
            [(header::ALLOW, "GET, HEAD")],
        )
            .into_response();
    }
    let Some(path) = inside(uri.path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = kind(path);
    let bytes = match pages {
        Pages::None if path == Path::new("index.html") => Some(Cow::Borrowed(NO_PAGES.as_bytes())),
        Pages::None => None,
        Pages::Built(files) => files
            .iter()
            .find(|(name, _)| Path::new(name) == path)
            .map(|(_, bytes)| Cow::Borrowed(*bytes)),
        Pages::Folder(folder) => {
            let file = folder.join(path);
            let read = tokio::task::spawn_blocking(move || std::fs::read(file)).await;
            read.ok().and_then(Result::ok).map(Cow::Owned)
        }
    };
    match bytes {
        Some(bytes) => (HEADERS, [(header::CONTENT_TYPE, kind)], bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A relative path of plain names; the page itself for the root.
fn inside(path: &str) -> Option<&Path> {
    let path = match path.trim_start_matches('/') {
        "" => Path::new("index.html"),
        path => Path::new(path),
    };
    path.components()
        .all(|part| matches!(part, Component::Normal(_)))
        .then_some(path)
}

fn kind(file: &Path) -> &'static str {
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
