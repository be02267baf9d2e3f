//! Why models failed last, kept in the home for the lists of all its processes: a file a task, written
//! by the process that runs the model. The next success removes the file, and a later choice in
//! `models.toml` makes it void.

use std::{fmt::Display, fs, io::ErrorKind, path::Path};

use engram_model::{ListedModel, ModelState, ModelTask};
use engram_store::read_file;

use crate::home::{files::write_home_file, models::Models};

/// The files.
pub(crate) const FILES: [&str; 3] = ["failed-embed", "failed-nli", "failed-llm"];
/// The longest reason that is read, in bytes.
const MAX_REASON: u64 = 4 << 10;

/// Keeps why a model failed.
pub(crate) fn keep(home: &Path, task: ModelTask, why: &impl Display) {
    tracing::warn!(task = task.as_str(), %why, "a model failed");
    if let Err(refusal) = write_home_file(home, file_of(task), &why.to_string()) {
        tracing::warn!(%refusal, "cannot keep why a model failed");
    }
}

/// Forgets the failure of a model that works.
pub(crate) fn forget(home: &Path, task: ModelTask) {
    match fs::remove_file(home.join(file_of(task))) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            tracing::warn!(%error, "cannot forget why a model failed");
        }
        _ => {}
    }
}

/// Adds the failure to the row of a model.
pub(crate) fn tell(home: &Path, model: &mut ListedModel) {
    let path = home.join(file_of(model.task));
    let kept = fs::metadata(&path).and_then(|it| it.modified()).ok();
    if model.state == ModelState::On
        && kept.is_some_and(|it| Models::written(home).is_none_or(|chosen| chosen <= it))
        && let Ok(why) = read_file(&path, MAX_REASON)
    {
        model.state = ModelState::Broken;
        // Where its claims go stays said.
        model.why = Some(match model.why.take() {
            Some(note) => format!("{why}; {note}"),
            None => why,
        });
    }
}

fn file_of(task: ModelTask) -> &'static str {
    let [embed, nli, llm] = FILES;
    match task {
        ModelTask::Embed => embed,
        ModelTask::Nli => nli,
        ModelTask::Llm => llm,
    }
}
