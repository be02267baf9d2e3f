//! `engram models`: which models the home uses, and choosing them.

use std::{path::Path, process::ExitCode};

use engram_engine::{ModelChoice, choose_model, list_models};
use engram_model::{Code, ListedModel, ModelState, ModelTask, Refusal};
use serde_json::json;

use crate::{args::ModelsVerb, out};

pub(crate) fn models(
    verb: Option<&ModelsVerb>,
    home: &Path,
    json: bool,
) -> Result<ExitCode, Refusal> {
    match verb {
        None | Some(ModelsVerb::List) => {}
        Some(ModelsVerb::Off { task }) => choose_model(home, *task, ModelChoice::Off)?,
        Some(ModelsVerb::Use {
            task,
            place,
            model,
            key_env,
            runtime,
        }) => {
            let choice = match (task, model, runtime) {
                (ModelTask::Llm, Some(model), None) => ModelChoice::Endpoint {
                    url: place.clone(),
                    model: model.clone(),
                    key_env: key_env.clone(),
                },
                (ModelTask::Nli, None, Some(runtime)) if key_env.is_none() => ModelChoice::Folder {
                    folder: place.into(),
                    runtime: runtime.clone(),
                },
                (ModelTask::Llm, ..) => {
                    return Err(incomplete(
                        "a language model takes --model and no --runtime",
                    ));
                }
                (ModelTask::Nli, ..) => {
                    return Err(incomplete(
                        "a classifier takes --runtime and neither --model nor --key-env",
                    ));
                }
            };
            choose_model(home, *task, choice)?;
        }
    }
    let models = list_models(home)?;
    if json {
        out::print_json(&json!({ "models": models }));
    } else {
        for model in &models {
            out::print_line(&line_of(model));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn incomplete(why: &str) -> Refusal {
    Refusal::new(
        Code::SchemaInvalid,
        why,
        "See the examples in `engram models --help`.",
    )
}

/// A model in a line: its state, its name, and what to know or do.
fn line_of(model: &ListedModel) -> String {
    let name = model.name.as_deref().map(out::one_line);
    let name = name.unwrap_or_else(|| "no model".to_owned());
    let version = model.version.as_ref().map(|it| format!(" ({it})"));
    let why = model
        .why
        .as_deref()
        .map(|it| format!("; {}", out::one_line(it)));
    let how = match model.state {
        ModelState::Off => format!("; choose one: {}", model.how),
        ModelState::On | ModelState::Broken => format!("; turn off: {}", model.how),
    };
    format!(
        "{:<4} {:<7} {name}{}{}{how}",
        model.task.as_str(),
        model.state.as_str(),
        version.unwrap_or_default(),
        why.unwrap_or_default()
    )
}
