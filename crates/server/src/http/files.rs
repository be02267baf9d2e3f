//! The files of the built window, with a policy that lets its page run nothing else.

use std::path::{Component, Path, PathBuf};

use axum::{
    extract::State,
    http::{Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};

const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) async fn serve(
    State(folder): State<Option<PathBuf>>,
    method: Method,
    uri: Uri,
) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let file = folder.and_then(|folder| Some(folder.join(inside(uri.path())?)));
    let Some(file) = file else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = kind(&file);
    match tokio::task::spawn_blocking(move || std::fs::read(file)).await {
        Ok(Ok(bytes)) => {
            let headers = [
                (header::CONTENT_TYPE, kind),
                (header::CONTENT_SECURITY_POLICY, POLICY),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (header::REFERRER_POLICY, "no-referrer"),
                (header::CACHE_CONTROL, "no-cache"),
            ];
            (headers, bytes).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
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
