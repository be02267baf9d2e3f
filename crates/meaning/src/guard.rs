//! Guards against foreign panics: the libraries that read a model's files trust them, and panic on some.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::ModelError;

/// Runs foreign code, and turns a panic into what `error` makes of its message. The message may quote
/// what the code was reading.
pub(crate) fn guarded<T>(
    error: impl FnOnce(&str) -> ModelError,
    work: impl FnOnce() -> Result<T, ModelError>,
) -> Result<T, ModelError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(error(text.unwrap_or("a library panicked")))
    })
}

/// Runs a model on texts, which no error quotes.
pub(crate) fn guarded_run<T>(
    work: impl FnOnce() -> Result<T, ModelError>,
) -> Result<T, ModelError> {
    guarded(
        |_| ModelError::failed("its tokenizer or its runtime panicked"),
        work,
    )
}
