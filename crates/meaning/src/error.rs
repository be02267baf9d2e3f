//! What can go wrong with a model, and what to do about it.

use std::{fmt::Display, io, path::PathBuf};

use thiserror::Error;

use crate::{Task, text::printable};

/// Why a model gave no answer. The message says what to do next, and never contains a claim or a
/// key.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The path does not lead to a folder.
    #[error("{0:?} is not a folder; name the folder with the model's files")]
    NoFolder(PathBuf),
    /// The folder lacks a file that the task needs.
    #[error("the model's folder has no {0}; copy the file there, or download the model again")]
    Missing(&'static str),
    /// The file is a pipe, a device or a folder, or a link that leads out of the model's folder.
    #[error("{0} is not a regular file inside the model's folder; put a copy of the file there")]
    NotRegular(&'static str),
    /// The file is larger than any model that this crate loads.
    #[error("{file} is larger than {limit} bytes; use a smaller model")]
    TooLarge {
        /// The file's name in the folder.
        file: &'static str,
        /// The most that this crate reads, in bytes.
        limit: u64,
    },
    /// The system did not let us read the file.
    #[error("cannot read {file}: {source}; check the file's permissions")]
    Unreadable {
        /// The file's name in the folder.
        file: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The file is there, but its content is of no use.
    #[error("{file} is broken: {why}; download the model again")]
    Broken {
        /// The file's name in the folder.
        file: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The files are a model, but one for something else.
    #[error("this model cannot {task}: {why}; choose a model made for it")]
    WrongTask {
        /// What the caller wanted of the model.
        task: Task,
        /// What shows that it cannot.
        why: String,
    },
    /// No ONNX Runtime is loaded, or the library does not load.
    #[error(
        "ONNX Runtime is missing: {0}; install version 1.24 or later, and pass its path with --runtime"
    )]
    NoRuntime(String),
    /// This process has loaded another library already, and cannot unload it.
    #[error("ONNX Runtime is already loaded from {0:?}; restart to use another library")]
    OtherRuntime(PathBuf),
    /// The model was loaded, but did not give a usable answer.
    #[error("the model failed: {0}; try again, or choose another model")]
    Failed(String),
    /// The endpoint's address or the name of its model cannot be used.
    #[error("the language model's settings cannot be used: {0}")]
    Settings(&'static str),
    /// The endpoint did not answer in time.
    #[error("the language model did not answer in time; try again, or choose a faster model")]
    TimedOut,
    /// There is no way to the endpoint.
    #[error("cannot reach the language model: {0}; check its address and the network")]
    Unreachable(String),
    /// The endpoint refused, or sent us elsewhere.
    #[error("the language model answered with status {0}; {advice}", advice = advice(*.0))]
    Status(u16),
    /// The endpoint answered something other than a verdict.
    #[error("the language model's answer is not a verdict: {0}; try again, or use another model")]
    Rubbish(&'static str),
}

impl ModelError {
    pub(crate) fn failed(error: impl Display) -> Self {
        Self::Failed(printable(&error.to_string(), 300))
    }

    pub(crate) fn broken(file: &'static str, error: impl Display) -> Self {
        Self::Broken {
            file,
            why: printable(&error.to_string(), 300),
        }
    }

    pub(crate) fn wrong_task(task: Task, why: impl Display) -> Self {
        Self::WrongTask {
            task,
            why: printable(&why.to_string(), 300),
        }
    }
}

fn advice(status: u16) -> &'static str {
    match status {
        300..=399 => "set the address that it redirects to",
        401 | 403 => "check the key",
        404 => "check the address and the model's name",
        429 => "wait, then try again",
        _ => "try again later",
    }
}
