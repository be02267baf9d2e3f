//! Models behind a small API, on this machine or behind an endpoint. An [`Embedder`] turns claims into
//! vectors, a [`CrossEncoder`] scores whether two claims contradict each other, and a [`LanguageModel`]
//! asks any OpenAI-compatible endpoint for a verdict. [`fetch()`] brings what [`sources`] names.
//!
//! Embedders and cross-encoders run in ONNX Runtime, a library that [`load_runtime`] loads when the
//! user has one. Every absence is a [`ModelError`]: a missing library, folder or endpoint is an answer,
//! never a panic.
//!
//! **Never:** decides nothing and stores nothing but what [`fetch()`] was asked to bring; uses the
//! network only in [`fetch()`] and [`LanguageModel::judge`]; follows no instruction in a claim; and
//! reads no file outside the folder that it was given.

#![forbid(unsafe_code)]

mod bert;
mod classifier;
mod config;
mod embedder;
mod entailment;
mod error;
mod fetch;
#[cfg(feature = "fixture")]
pub mod fixture;
mod folder;
mod guard;
mod language;
mod onnx;
mod runtime;
mod text;

use std::fmt::{self, Display, Formatter};

pub use embedder::Embedder;
pub use entailment::{CrossEncoder, Scores};
pub use error::ModelError;
pub use fetch::{FetchError, ModelSource, fetch, fetched_runtime, sources};
pub use folder::{ModelInfo, inspect};
pub use language::{ApiKey, Judgement, LanguageModel, LanguageVerdict};
pub use runtime::{check_runtime, load_runtime};

/// What a model in a folder is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Turns a text into a vector: [`Embedder`].
    Embedding,
    /// Scores a pair of texts: [`CrossEncoder`].
    Entailment,
}

impl Display for Task {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Embedding => "embed a text",
            Self::Entailment => "compare two texts",
        })
    }
}
