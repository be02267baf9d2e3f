//! The crate from outside, with a real ONNX Runtime: `ENGRAM_ONNXRUNTIME` is the path of the
//! library. Tests that need it fail without it; the others run anyway. No test leaves this machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod endpoint;
#[cfg(unix)]
mod fetching;
mod folders;
mod models;

use std::{env, path::PathBuf};

/// The library, loaded.
fn runtime() -> PathBuf {
    let path = env::var_os("ENGRAM_ONNXRUNTIME").expect(
        "set ENGRAM_ONNXRUNTIME to the path of an ONNX Runtime library, 1.24 or later; the PyPI \
         package onnxruntime has one in onnxruntime/capi",
    );
    let path = PathBuf::from(path);
    engram_meaning::load_runtime(&path).unwrap();
    path
}
