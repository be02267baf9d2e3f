//! Models behind a small API, on this machine or behind an endpoint. A [`CrossEncoder`] scores whether
//! two claims contradict each other, and a [`LanguageModel`] asks any OpenAI-compatible endpoint for a
//! verdict.
//!
//! A cross-encoder runs in ONNX Runtime, a library that [`load_runtime`] loads when the user has one.
//! Every absence is a [`ModelError`]: a missing library, folder or endpoint is an answer, never a panic.
//!
//! **Never:** decides nothing and stores nothing; uses the network only in [`LanguageModel::judge`];
//! follows no instruction in a claim; and reads no file outside the folder that it was given.

#![forbid(unsafe_code)]

mod classifier;
mod config;
mod entailment;
mod error;
#[cfg(feature = "fixture")]
pub mod fixture;
mod folder;
mod language;
#[cfg(feature = "fixture")]
mod onnx;
mod runtime;
mod text;

pub use entailment::{CrossEncoder, Scores};
pub use error::ModelError;
pub use folder::{ModelInfo, inspect};
pub use language::{ApiKey, Judgement, LanguageModel, LanguageVerdict};
pub use runtime::{check_runtime, load_runtime};
